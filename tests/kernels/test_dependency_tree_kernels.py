"""The kernels of dependency trees against NumPy and against plain Python."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from oracles.structure import kruskal, tree_path
from support.strategies import VALUE_TYPES, data, for_all_jobs
from tacit import _core


@st.composite
def square_weights(draw, most=9):
    """Symmetric weights with many ties, some of them infinite."""
    n = draw(st.integers(1, most))
    levels = st.sampled_from([-1.0, 0.0, 0.25, 1.0, 2.0, np.inf])
    upper = np.triu(draw(hnp.arrays(np.float64, (n, n), elements=levels)), 1)
    upper[np.tril_indices(n)] = 0.0
    return upper + upper.T


@given(square_weights())
def test_the_spanning_tree_is_kruskals(weights):
    links = _core.rooted_tree(weights)
    edges = np.sort(links, axis=1)
    order = np.lexsort((edges[:, 1], edges[:, 0]))
    assert edges[order].tolist() == kruskal(weights).tolist()
    inside = {0}
    for parent, child in links.tolist():
        assert parent in inside
        assert child not in inside
        inside.add(child)


@given(square_weights(), st.data())
def test_path_minima_are_the_least_weights_on_paths(weights, draw):
    links = _core.rooted_tree(weights)
    n = len(weights)
    own = np.array(draw.draw(st.lists(st.floats(-9, 9), min_size=n - 1, max_size=n - 1)), float)
    minima = _core.path_minima(links, own)
    for a, b in itertools.product(range(n), repeat=2):
        expected = min((own[k] for k in tree_path(links.tolist(), a, b)), default=np.inf)
        assert minima[a, b] == expected


@given(square_weights(), st.data())
def test_covered_links_are_those_on_paths(weights, draw):
    links = _core.rooted_tree(weights)
    n = len(weights)
    node = st.integers(0, n - 1)
    pairs = draw.draw(st.lists(st.tuples(node, node), max_size=6))
    covered = _core.covered_links(links, np.array(pairs, np.int64).reshape(-1, 2))
    expected = {k for a, b in pairs for k in tree_path(links.tolist(), a, b)}
    assert set(np.flatnonzero(covered).tolist()) == expected
    assert set(covered.tolist()) <= {0, 1}


@pytest.mark.parametrize("n_rows", [0, 1, 7, 8, 9, 1023, 1024, 1025, 3000])
def test_pair_products_are_sums_of_products(n_rows):
    rng = np.random.default_rng(n_rows)
    block = rng.normal(size=(5, n_rows))
    pairs = np.array([*itertools.combinations(range(5), 2), (3, 3), (4, 0)])
    start = rng.normal(size=(len(pairs), 4))

    def add(n_jobs):
        sums = start.copy()
        _core.pair_products(block, pairs, sums, n_jobs)
        return sums

    sums = for_all_jobs(add, (1, 2, 3))
    x, y = block[pairs[:, 0]], block[pairs[:, 1]]
    expected = [x * y, x**2 * y**2, x**3 * y, x * y**3]
    np.testing.assert_allclose(
        sums - start, np.stack([part.sum(axis=1) for part in expected], axis=1), atol=1e-9
    )


def test_many_pairs_are_shared_out_over_threads():
    rng = np.random.default_rng(0)
    block = rng.normal(size=(40, 200))
    pairs = np.array(list(itertools.combinations(range(40), 2)))

    def add(n_jobs):
        sums = np.zeros((len(pairs), 4))
        _core.pair_products(block, pairs, sums, n_jobs)
        return sums

    sums = for_all_jobs(add)
    np.testing.assert_allclose(sums[:, 0], (block @ block.T)[pairs[:, 0], pairs[:, 1]], atol=1e-9)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F", "strided", "reversed"])
def test_columns_are_gathered_from_any_array(kind, order):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(700, 12)).astype(kind)
    if order == "F":
        x = np.asfortranarray(x)
    elif order == "strided":
        x = x[::2, 1::3]
    elif order == "reversed":
        x = x[::-1, ::-1]
    x.flags.writeable = False
    rows = np.sort(rng.choice(len(x), 300, replace=False))
    columns = np.array([3, 0, 2])
    found = for_all_jobs(lambda jobs: _core.gather_columns(x, rows, columns, jobs), (1, 2, 3))
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, x[np.ix_(rows, columns)].T)


@given(data(weights=None), st.sampled_from(VALUE_TYPES), st.data())
def test_pair_cells_count_records_with_both_values(table, kind, draw):
    lists = table.lists
    indptr, values = table.csr(kind)
    n = table.n_values
    chosen = np.arange(len(lists)) if table.chosen is None else table.chosen
    slots = np.array(draw.draw(st.permutations(range(-2, n - 2)))[:n], np.int32)
    n_slots = max(n - 2, 1)
    slot = st.integers(0, n_slots - 1)
    pairs = draw.draw(st.lists(st.tuples(slot, slot), max_size=8))
    pairs = np.array(pairs, np.int64).reshape(-1, 2)
    counts = for_all_jobs(
        lambda jobs: _core.pair_cells(
            _core.Records(indptr, values, len(slots), chosen), slots, n_slots, pairs, jobs
        ),
        (1, 2),
    )
    held = [{int(slots[v]) for v in lists[r]} for r in chosen]
    assert counts.tolist() == [sum({a, b} <= own for own in held) for a, b in pairs.tolist()]


def test_pair_cells_of_more_records_than_one_stretch_of_words():
    rng = np.random.default_rng(2)
    held = rng.random((70_001, 3)) < 0.3
    indptr = np.concatenate(([0], np.cumsum(held.sum(axis=1)))).astype(np.int64)
    values = np.nonzero(held)[1].astype(np.uint16)
    chosen = np.sort(rng.choice(len(held), 65_000, replace=False))
    pairs = np.array([[0, 1], [1, 2], [2, 2]])
    slots = np.arange(3, dtype=np.int32)
    counts = for_all_jobs(
        lambda jobs: _core.pair_cells(
            _core.Records(indptr, values, len(slots), chosen), slots, 3, pairs, jobs
        ),
        (1, 2, 5),
    )
    part = held[chosen]
    assert counts.tolist() == [int((part[:, a] & part[:, b]).sum()) for a, b in pairs.tolist()]


def test_kernels_refuse_what_does_not_fit():
    tree = np.array([[0, 1], [1, 2]])
    block = np.zeros((2, 3))
    with pytest.raises(ValueError, match="square"):
        _core.rooted_tree(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="tree"):
        _core.path_minima(tree[::-1].copy(), np.zeros(2))
    with pytest.raises(ValueError, match="as many as links"):
        _core.path_minima(tree, np.zeros(3))
    with pytest.raises(ValueError, match="two nodes"):
        _core.covered_links(tree, np.array([[0, 3]]))
    with pytest.raises(ValueError, match="two columns"):
        _core.pair_products(block, np.array([[0, 2]]), np.zeros((1, 4)), 1)
    with pytest.raises(ValueError, match="four"):
        _core.pair_products(block, np.array([[0, 1]]), np.zeros((1, 3)), 1)
    with pytest.raises(ValueError, match="rows"):
        _core.gather_columns(block, np.array([2]), np.array([0]), 1)
    with pytest.raises(ValueError, match="columns"):
        _core.gather_columns(block, np.array([0]), np.array([-1]), 1)
    with pytest.raises(TypeError, match="float32 or float64"):
        _core.gather_columns(np.zeros((2, 2), int), np.array([0]), np.array([0]), 1)


def log_likelihood(p, counts, a, b):
    cells = np.array([p, a - p, b - p, 1 - a - b + p])
    return sum(c * np.log(max(q, 1e-320)) for c, q in zip(counts, cells, strict=True) if c > 0)


@given(
    st.lists(st.integers(0, 40), min_size=4, max_size=4).filter(any),
    st.floats(0.01, 0.99),
    st.floats(0.01, 0.99),
    st.floats(0.01, 30),
)
def test_likelihood_ends_are_where_the_likelihood_has_dropped(counts, a, b, drop):
    counts = np.array(counts, float)
    low, high = (
        float(end[0])
        for end in _core.likelihood_ends(
            counts[None], np.array([a]), np.array([b]), np.array([drop]), 1
        )
    )
    least, most = max(a + b - 1, 0.0), min(a, b)
    assert least <= low <= high <= most
    grid = np.linspace(least, most, 2001)
    values = np.array([log_likelihood(p, counts, a, b) for p in grid])
    likely = grid[values >= values.max() - drop]
    step = 1.01 * (most - least) / 2000  # what the grid cannot tell apart
    assert likely[0] - step <= low <= likely[0] + step
    assert likely[-1] - step <= high <= likely[-1] + step


def test_likelihood_ends_of_many_tables():
    rng = np.random.default_rng(4)
    counts = rng.integers(0, 30, (3000, 4)).astype(float)
    a, b = rng.uniform(0.1, 0.9, (2, 3000))
    drop = rng.uniform(0.1, 20, 3000)
    low, high = for_all_jobs(lambda jobs: _core.likelihood_ends(counts, a, b, drop, jobs), (1, 3))
    wider = _core.likelihood_ends(counts, a, b, 2 * drop, 1)
    assert (wider[0] <= low + 1e-12).all()
    assert (wider[1] >= high - 1e-12).all()
    none = np.array([0.0])
    ends = _core.likelihood_ends(np.zeros((1, 4)), none, none + 0.5, none, 1)
    assert [float(end[0]) for end in ends] == [0, 0]
    with pytest.raises(ValueError, match="four counts"):
        _core.likelihood_ends(counts, a[1:], b, drop, 1)
