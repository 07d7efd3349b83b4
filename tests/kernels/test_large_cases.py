"""The counting kernels where their blocks, slabs, tiles and groups matter.

The oracle is SciPy's sparse matrix product. Each case says which threshold of which kernel it is
there to cross, and checks that it does.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
from scipy import sparse

from support.strategies import VALUE_TYPES, for_all_jobs
from tacit import _core

SLAB = 16_384  # records whose bitmaps are compared at a time
BUCKET_BYTES = 8 << 20  # of a group of the sparse kernel
TILE_BYTES = 4 << 20  # of cells that the outer kernel fills in one pass
MOST_POPULAR = 1024
JOBS = (1, 3)


@dataclass(frozen=True, eq=False)
class Case:
    """Records as a matrix of zeros and ones."""

    matrix: sparse.csr_array

    @property
    def n(self):
        return self.matrix.shape[1]

    @property
    def lengths(self):
        return np.diff(self.matrix.indptr)

    def arrays(self, dtype):
        return self.matrix.indptr.astype(np.int64), self.matrix.indices.astype(dtype)

    def weights(self, seed=5):
        # Eighths: their sums are exact in any order.
        return np.random.default_rng(seed).integers(0, 64, self.matrix.shape[0]) / 8

    def chosen(self, seed=6):
        mask = np.random.default_rng(seed).random(self.matrix.shape[0]) < 0.7
        return np.flatnonzero(mask).astype(np.int64)

    def weighted(self, chosen=None, weights=None):
        """Return the chosen rows, and the same with each multiplied by its weight."""
        rows = self.matrix if chosen is None else self.matrix[chosen]
        if weights is None:
            return rows, rows
        own = weights if chosen is None else weights[chosen]
        return rows, sparse.csr_array(sparse.diags_array(own) @ rows.astype(float))

    def expected(self, chosen=None, weights=None):
        """Return the pair counts as a sparse matrix with sorted indices."""
        rows, weighted = self.weighted(chosen, weights)
        product = sparse.csr_array(rows.T @ weighted)
        product.sort_indices()
        return product

    @cache  # noqa: B019 - the cases live as long as the tests
    def expected_square(self, with_chosen, with_weights):
        return self.expected(*pick(self, with_chosen, with_weights)).toarray()

    def popular(self):
        """Return which values the sparse kernel treats as popular, before it takes the top ones."""
        held = self.matrix.sum(axis=0)
        return held >= max(4 * held.sum() // self.n, 64)

    def bucket_entries(self):
        """Return how many values the buckets of the rare values hold together."""
        return int((self.matrix @ ~self.popular() * self.lengths).sum())


def make_case(rows, n):
    lengths = [len(row) for row in rows]
    indptr = np.concatenate(([0], np.cumsum(lengths)))
    indices = np.concatenate(rows)
    ones = np.ones(len(indices), np.int64)
    return Case(sparse.csr_array((ones, indices, indptr), shape=(len(rows), n)))


def draw_rows(seed, n_rows, n, length, exponent=0.0):
    """Records of about `length` distinct values, value k with probability ~ (k + 1)^-exponent."""
    rng = np.random.default_rng(seed)
    shares = np.arange(1, n + 1) ** -float(exponent)
    order = rng.permutation(n)
    edges = np.cumsum(shares / shares.sum())
    sizes = rng.poisson(length, n_rows)
    drawn = np.minimum(np.searchsorted(edges, rng.random(sizes.sum())), n - 1)
    ends = np.cumsum(sizes)
    return [np.unique(order[drawn[e - s : e]]) for s, e in zip(sizes, ends, strict=True)]


@cache
def many_short():
    """40,000 records × 300 values."""
    return make_case(draw_rows(1, 40_000, 300, 12, 0.8), 300)


@cache
def zipf():
    """20,000 records × 3,000 values, a few of them in most records; some records are long."""
    rows = draw_rows(2, 20_000, 3_000, 32, 0.75)
    long = draw_rows(3, 40, 3_000, 700)
    for place, row in zip(range(7, 20_000, 500), long, strict=True):
        rows[place] = row
    rows[-1] = long[0]  # the last record: no room to read past its end
    return make_case(rows, 3_000)


@cache
def many_popular():
    """More popular values than the sparse kernel keeps, and ties at the border."""
    rng = np.random.default_rng(4)
    rows = [
        np.unique(np.append(rng.integers(0, 1_300, 18) * 8, rng.integers(0, 10_400, 2)))
        for _ in range(12_000)
    ]
    return make_case(rows, 10_400)


@cache
def wide():
    """Value ids beyond 16 bits."""
    return make_case(draw_rows(7, 3_000, 70_000, 30, 0.9), 70_000)


cases = pytest.mark.parametrize("case", [many_short, zipf], ids=lambda f: f.__name__)
value_types = pytest.mark.parametrize("dtype", VALUE_TYPES)
options = pytest.mark.parametrize(
    ("with_chosen", "with_weights"), [(False, False), (True, False), (False, True), (True, True)]
)


def pick(case, with_chosen, with_weights):
    return case.chosen() if with_chosen else None, case.weights() if with_weights else None


def assert_sparse_equal(triple, expected):
    indptr, indices, counts = triple
    np.testing.assert_array_equal(indptr, expected.indptr)
    np.testing.assert_array_equal(indices, expected.indices)
    np.testing.assert_array_equal(counts, expected.data)


def test_the_cases_cross_the_thresholds_they_are_there_for():
    assert zipf().matrix.nnz > 2 * 2**18  # several blocks of one_way
    assert zipf().n ** 2 / 2 * 4 > 3 * TILE_BYTES
    assert zipf().lengths.max() > 32
    assert 10 < zipf().popular().sum() < MOST_POPULAR
    assert 2 * zipf().bucket_entries() > 2 * BUCKET_BYTES
    assert many_popular().popular().sum() > MOST_POPULAR
    assert wide().n > 2**16


@cases
@value_types
@options
def test_one_way_of_large_tables(case, dtype, with_chosen, with_weights):
    own = case()
    chosen, weights = pick(own, with_chosen, with_weights)
    indptr, values = own.arrays(dtype)
    counts = for_all_jobs(
        lambda jobs: _core.one_way(_core.Records(indptr, values, own.n, chosen, weights), jobs),
        (1, 2, 3, 7),
    )
    np.testing.assert_array_equal(counts, own.weighted(chosen, weights)[1].sum(axis=0))


@cases
@value_types
@options
def test_two_way_of_large_tables(case, dtype, with_chosen, with_weights):
    own = case()
    chosen, weights = pick(own, with_chosen, with_weights)
    # A target with four states: only the first of those a record holds may stay.
    first = int(np.argmax(own.matrix.sum(axis=0)[: own.n - 4]))
    block = own.matrix[:, first : first + 4].toarray()
    block[np.cumsum(block, axis=1) > 1] = 0
    left, right = own.matrix[:, :first], own.matrix[:, first + 4 :]
    own = Case(sparse.csr_array(sparse.hstack([left, sparse.csr_array(block), right])))
    indptr, values = own.arrays(dtype)
    counts = for_all_jobs(
        lambda jobs: _core.two_way(
            _core.Records(indptr, values, own.n, chosen, weights), first, 4, jobs
        ),
        (1, 2, 3, 7),
    )
    rows, weighted = own.weighted(chosen, weights)
    np.testing.assert_array_equal(counts, (rows[:, first : first + 4].T @ weighted).toarray())


@cases
@options
def test_outer_pair_counts_of_large_tables(case, with_chosen, with_weights):
    own = case()
    chosen, weights = pick(own, with_chosen, with_weights)
    indptr, values = own.arrays(np.uint16)
    square = for_all_jobs(
        lambda jobs: _core.pair_counts_outer(
            _core.Records(indptr, values, own.n, chosen, weights), jobs
        ),
        JOBS,
    )
    np.testing.assert_array_equal(square, own.expected_square(with_chosen, with_weights))


@cases
@value_types
@options
def test_sparse_pair_counts_of_large_tables(case, dtype, with_chosen, with_weights):
    own = case()
    chosen, weights = pick(own, with_chosen, with_weights)
    indptr, values = own.arrays(dtype)
    triple = for_all_jobs(
        lambda jobs: _core.pair_counts_sparse(
            _core.Records(indptr, values, own.n, chosen, weights), jobs
        ),
        JOBS,
    )
    dense = own.expected_square(with_chosen, with_weights)
    square = sparse.csr_array((triple[2], triple[1], triple[0]), shape=dense.shape)
    assert square.has_canonical_format
    np.testing.assert_array_equal(square.toarray(), dense)


@value_types
def test_sparse_pair_counts_with_more_popular_values_than_it_keeps(dtype):
    own = many_popular()
    indptr, values = own.arrays(dtype)
    triple = for_all_jobs(
        lambda jobs: _core.pair_counts_sparse(_core.Records(indptr, values, own.n), jobs),
        (1, 2, 7),
    )
    assert_sparse_equal(triple, own.expected())


def test_value_ids_beyond_sixteen_bits():
    own = wide()
    indptr, values = own.arrays(np.uint32)
    triple = for_all_jobs(
        lambda jobs: _core.pair_counts_sparse(_core.Records(indptr, values, own.n), jobs),
        JOBS,
    )
    expected = own.expected()
    assert_sparse_equal(triple, expected)
    np.testing.assert_array_equal(
        _core.one_way(_core.Records(indptr, values, own.n), 2), expected.diagonal()
    )
    last = int(values.max())
    counts = _core.two_way(_core.Records(indptr, values, own.n), last, 1, 2)
    np.testing.assert_array_equal(counts, expected[[last]].toarray())


@pytest.mark.parametrize("n_rows", [SLAB - 1, SLAB, SLAB + 1, 40_000])
@pytest.mark.parametrize("n", [1, 19, 64])
def test_bitmap_pair_counts_around_a_slab(n_rows, n):
    own = make_case(draw_rows(n_rows + n, n_rows, n, n / 3), n)
    indptr, values = own.arrays(np.uint16)
    for chosen in (None, own.chosen()):
        square = for_all_jobs(
            lambda jobs, chosen=chosen: _core.pair_counts_bitmap(
                _core.Records(indptr, values, n, chosen), jobs
            )
        )
        np.testing.assert_array_equal(square, own.expected(chosen).toarray())


@value_types
def test_bitmap_pair_counts_of_many_values(dtype):
    own = many_short()
    indptr, values = own.arrays(dtype)
    chosen = own.chosen()[: SLAB + 1]
    square = for_all_jobs(
        lambda jobs: _core.pair_counts_bitmap(_core.Records(indptr, values, own.n, chosen), jobs),
        JOBS,
    )
    np.testing.assert_array_equal(square, own.expected(chosen).toarray())


@pytest.mark.parametrize("length", [31, 32, 33, 34, 300])
def test_outer_pair_counts_of_records_around_the_length_that_is_searched_differently(length):
    # With several threads, a tile begins in the middle of such a record.
    rows = [np.arange(start, start + length) for start in range(302 - length)] * 3
    own = make_case(rows, 301)
    indptr, values = own.arrays(np.uint16)
    square = for_all_jobs(
        lambda jobs: _core.pair_counts_outer(_core.Records(indptr, values, own.n), jobs)
    )
    np.testing.assert_array_equal(square, own.expected().toarray())


def test_rounded_weights_add_up_to_the_same_bits_for_any_number_of_threads():
    own = zipf()
    indptr, values = own.arrays(np.uint16)
    weights = np.random.default_rng(9).random(len(indptr) - 1) * 1e3
    records = _core.Records(indptr, values, own.n, None, weights)
    singles = for_all_jobs(lambda jobs: _core.one_way(records, jobs), (1, 2, 3, 7))
    square = for_all_jobs(lambda jobs: _core.pair_counts_outer(records, jobs), JOBS)
    indptr, indices, counts = for_all_jobs(
        lambda jobs: _core.pair_counts_sparse(records, jobs), JOBS
    )
    np.testing.assert_array_equal(
        sparse.csr_array((counts, indices, indptr), shape=square.shape).toarray(), square
    )
    np.testing.assert_allclose(singles, np.diag(square), rtol=1e-12)


@value_types
@pytest.mark.parametrize("n_rows", [2**16 - 1, 2**16, 2**16 + 1, 70_000])
def test_counts_around_sixteen_bits(dtype, n_rows):
    # Three values in every record: none stands out, so the sparse kernel takes all for rare.
    indptr, values = np.arange(n_rows + 1, dtype=np.int64) * 3, np.tile(np.arange(3), n_rows)
    records = _core.Records(indptr, values.astype(dtype), 3)
    square = np.full((3, 3), n_rows)
    for jobs in JOBS:
        np.testing.assert_array_equal(_core.pair_counts_outer(records, jobs), square)
        np.testing.assert_array_equal(_core.pair_counts_bitmap(records, jobs), square)
        triple = _core.pair_counts_sparse(records, jobs)
        np.testing.assert_array_equal(triple[2].reshape(3, 3), square)
