"""The ids of records under a tree against an oracle that looks every value up."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.tree_mixture import tree_ids
from support.strategies import VALUE_TYPES, data, for_all_jobs
from support.tree_mixtures import random_parents
from tacit import _core

JOBS = (1, 2, 5)


def id_arrays(rng, arities, parents):
    """Return offsets, extras, first_extra and first_pair of columns, extras drawn at random."""
    widths = np.array(arities) - 1
    offsets = np.concatenate(([0], np.cumsum(widths)))
    extras = rng.integers(0, 3, len(widths))
    sizes = extras * widths
    first_extra = offsets[-1] + np.cumsum(sizes) - sizes
    pairs = np.where(parents < 0, 0, widths[parents]) * widths
    first_pair = offsets[-1] + sizes.sum() + np.cumsum(pairs) - pairs
    n_ids = int(offsets[-1] + sizes.sum() + pairs.sum())
    return (offsets, parents, extras, first_extra, first_pair), n_ids


def ids_of(records, arrays, out_type):
    """Return indptr and ids, for several thread counts, which must agree to the bit."""
    lengths = for_all_jobs(lambda jobs: _core.tree_lengths(records, *arrays, jobs), JOBS)
    indptr = np.concatenate(([0], np.cumsum(lengths)))

    def kernel(jobs):
        out = np.empty(int(indptr[-1]), out_type)
        _core.tree_values(records, *arrays, indptr, out, jobs)
        return out

    return indptr, for_all_jobs(kernel, JOBS)


@pytest.mark.parametrize("out_type", VALUE_TYPES)
@pytest.mark.parametrize("dtype", VALUE_TYPES)
@given(d=data(weights=None), seed=st.integers(0, 2**32 - 1))
@settings(max_examples=60)
def test_ids_equal_the_oracle(dtype, out_type, d, seed):
    rng = np.random.default_rng(seed)
    parents = random_parents(rng, len(d.arities))
    arrays, n_ids = id_arrays(rng, d.arities, parents)
    records = _core.Records(*d.csr(dtype), d.n_values, d.chosen)
    indptr, ids = ids_of(records, arrays, out_type)
    rows = range(len(d.rows)) if d.chosen is None else d.chosen.tolist()
    expected = [tree_ids(d.lists[r], *arrays) for r in rows]
    assert np.diff(indptr).tolist() == [len(found) for found in expected]
    for k, found in enumerate(expected):
        mine = ids[indptr[k] : indptr[k + 1]].tolist()
        assert mine == found
        assert sorted(set(mine)) == sorted(mine)
    assert not len(ids) or ids.max() < n_ids


def test_many_blocks_of_records():
    """More records than a block holds; what one holds says nothing of the next."""
    rng = np.random.default_rng(0)
    n, arities = 10_000, [2, 4, 3, 2, 2, 5]
    codes = rng.integers(0, arities, (n, len(arities)))
    codes[rng.random(codes.shape) < 0.5] = 0
    parents = random_parents(rng, len(arities), rooted=0.0)
    arrays, _ = id_arrays(rng, arities, parents)
    offsets = arrays[0]
    stored = codes > 0
    indptr = np.concatenate(([0], np.cumsum(stored.sum(axis=1))))
    values = (codes - 1 + offsets[:-1])[stored].astype(np.uint16)
    out_indptr, ids = ids_of(_core.Records(indptr, values, int(offsets[-1])), arrays, np.uint32)
    for r in (0, 1, 4095, 4096, 4097, 8192, n - 1):
        expected = tree_ids(values[indptr[r] : indptr[r + 1]].tolist(), *arrays)
        assert ids[out_indptr[r] : out_indptr[r + 1]].tolist() == expected
    n_joined = sum((stored[:, c] & stored[:, p]).sum() for c, p in enumerate(parents) if p >= 0)
    assert len(ids) == stored.sum() + (stored * arrays[2]).sum() + n_joined


def test_arrays_that_are_at_odds_are_refused():
    records = _core.Records(np.array([0, 1]), np.array([0], np.uint16), 1)
    two = np.zeros(2, np.int64)
    with pytest.raises(ValueError, match="at odds"):
        _core.tree_lengths(records, np.array([0, 1]), two, two, two, two, 1)
