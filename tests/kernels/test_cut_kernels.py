"""The kernels of minimum cuts against a look at every set of nodes, for every number of threads."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from oracles.cuts import between, networkx_cut, smallest_cut
from support.scripts import run
from support.strategies import for_all_jobs
from tacit import _core

examples = settings(max_examples=80)
# Quarters: sums of a few of them are exact, so that ties are ties.
quarters = st.integers(0, 12).map(lambda n: n / 4)
signed = st.integers(-16, 16).map(lambda n: n / 4)


def arrays(weights):
    graph = sparse.csr_array(weights)
    return graph.indptr.astype(np.int64), graph.indices.astype(np.int32), graph.data.astype(float)


def path(weights, base, rate, lambdas, jobs=1):
    return _core.cut_path(*arrays(weights), base, rate, np.asarray(lambdas, float), jobs)


@st.composite
def cases(draw, most=7):
    n = draw(st.integers(0, most))
    upper = np.triu(draw(hnp.arrays(np.float64, (n, n), elements=quarters, fill=st.just(0.0))), 1)
    base = draw(hnp.arrays(np.float64, n, elements=signed))
    rate = draw(hnp.arrays(np.float64, n, elements=quarters))
    return upper + upper.T, base, rate


def random_case(n, seed, degree=6):
    """Many nodes, few edges, of very different weights, and terms that leave much open."""
    rng = np.random.default_rng(seed)
    i, j = rng.integers(0, n, (2, n * degree // 2))
    values = np.exp(-rng.uniform(0, 12, len(i)))
    upper = sparse.coo_array((values, (np.minimum(i, j), np.maximum(i, j))), shape=(n, n)).tocsr()
    upper = sparse.triu(upper, 1)
    graph = (upper + upper.T).tocsr()
    graph.sort_indices()
    degrees = graph.sum(axis=1)
    return graph, rng.normal(size=n) * degrees, rng.random(n) * degrees


@examples
@given(cases())
def test_one_cut_is_the_smallest_set_of_least_value(case):
    weights, base, rate = case
    found = path(weights, base, rate, [0.5]) == 0
    wanted, value = smallest_cut(weights, base, rate, 0.5)
    assert found.tolist() == wanted.tolist()
    assert between(weights, found) + (base - 0.5 * rate)[found].sum() == value


@examples
@given(cases(), st.lists(st.integers(0, 12).map(lambda n: n / 4), min_size=1, max_size=6))
def test_a_path_is_all_its_cuts(case, lambdas):
    weights, base, rate = case
    lambdas = sorted(lambdas)
    first = path(weights, base, rate, lambdas)
    for k, chosen in enumerate(lambdas):
        assert (first <= k).tolist() == smallest_cut(weights, base, rate, chosen)[0].tolist()
    assert ((first >= 0) & (first <= len(lambdas))).all()


@examples
@given(cases())
def test_breakpoints_tell_the_cut_at_every_balance(case):
    weights, base, rate = case
    enters = _core.cut_breakpoints(*arrays(weights), base, rate, 0.0, 8.0, 1)
    points = np.unique(np.clip(enters, 0, 8))
    tried = np.concatenate(([0.0, 8.0], (points[1:] + points[:-1]) / 2))
    for chosen in tried:
        assert (enters < chosen).tolist() == smallest_cut(weights, base, rate, chosen)[0].tolist()


@examples
@given(cases(), st.data())
def test_capacities_of_nested_sets(case, data):
    weights, base, _ = case
    first = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(base), max_size=len(base))))
    found = _core.cut_capacities(*arrays(weights), first.astype(np.int32), 3)
    assert found.tolist() == [between(weights, first <= k) for k in range(3)]


@pytest.mark.parametrize("seed", range(4))
def test_the_value_is_that_of_another_library(seed):
    graph, base, _ = random_case(60, seed)
    weights, source, sink = graph.toarray(), np.maximum(-base, 0), np.maximum(base, 0)
    found = path(graph, base, np.zeros(60), [0.0]) == 0
    _, value = networkx_cut(weights, source, sink)
    assert 0 < found.sum() < 60
    own = between(weights, found) + source[~found].sum() + sink[found].sum()
    assert own == pytest.approx(value, rel=1e-12)


def test_whole_capacities_have_the_smallest_set_of_another_library():
    rng = np.random.default_rng(3)
    for _ in range(20):
        upper = np.triu(rng.integers(0, 4, (25, 25)) * (rng.random((25, 25)) < 0.2), 1)
        weights = (upper + upper.T).astype(float)
        source, sink = rng.integers(0, 6, (2, 25)).astype(float)
        found = path(weights, sink - source, np.zeros(25), [0.0]) == 0
        assert found.tolist() == networkx_cut(weights, source, sink)[0].tolist()


def test_threads_do_not_matter():
    graph, base, rate = random_case(3000, 1)
    lambdas = np.linspace(0, 3, 11)
    given_ = *arrays(graph), base, rate
    for_all_jobs(lambda jobs: _core.cut_path(*given_, lambdas, jobs))
    for_all_jobs(lambda jobs: _core.cut_breakpoints(*given_, 0.0, 3.0, jobs))


def test_breakpoints_and_paths_agree_on_many_nodes():
    graph, base, rate = random_case(2000, 2)
    lambdas = np.sort(np.random.default_rng(0).uniform(0, 3, 25))
    first = path(graph, base, rate, lambdas)
    enters = _core.cut_breakpoints(*arrays(graph), base, rate, 0.0, 3.0, 1)
    alone = [path(graph, base, rate, [chosen]) == 0 for chosen in lambdas]
    for k, chosen in enumerate(lambdas):
        assert (first <= k).tolist() == (enters < chosen).tolist() == alone[k].tolist()
    assert len(np.unique(first)) > 10


def test_a_chain_is_cut_at_its_weakest_link():
    n = 20_000
    links = np.full(n - 1, 2.0)
    links[1234] = 1.0
    chain = sparse.diags_array([links, links], offsets=(1, -1)).tocsr()
    base = np.zeros(n)
    base[0], base[-1] = -5, 5
    found = path(chain, base, np.zeros(n), [0.0]) == 0
    assert np.flatnonzero(found).tolist() == list(range(1235))


def test_a_tie_goes_to_the_fewest_members():
    n = 50
    links = np.ones(n - 1)
    chain = sparse.diags_array([links, links], offsets=(1, -1)).tocsr()
    base = np.zeros(n)
    base[0], base[-1] = -5, 5
    assert (path(chain, base, np.zeros(n), [0.0]) == 0).sum() == 1


def test_supply_that_must_go_a_long_way_round():
    # A grid of unit capacities: every row of nodes carries one unit from left to right.
    side = 30
    numbers = np.arange(side * side).reshape(side, side)
    pairs = [(numbers[:, :-1], numbers[:, 1:]), (numbers[:-1], numbers[1:])]
    i, j = (np.concatenate([p[k].ravel() for p in pairs]) for k in (0, 1))
    upper = sparse.coo_array((np.ones(len(i)), (i, j)), shape=(side * side,) * 2)
    grid = (upper + upper.T).tocsr()
    base = np.zeros(side * side)
    base[numbers[:, 0]], base[numbers[:, -1]] = -10, 10
    found = path(grid, base, np.zeros(side * side), [0.0]) == 0
    assert np.flatnonzero(found).tolist() == numbers[:, 0].tolist()


def test_nothing_to_cut():
    empty = sparse.csr_array((0, 0))
    none = np.zeros(0)
    assert len(path(empty, none, none, [0.0])) == 0
    assert path(sparse.csr_array((2, 2)), np.array([-1.0, 1.0]), np.zeros(2), []).tolist() == [0, 0]
    assert len(_core.cut_breakpoints(*arrays(empty), none, none, 0.0, 1.0, 2)) == 0


def test_arguments_that_do_not_fit():
    graph = arrays(np.ones((2, 2)) - np.eye(2))
    one, two = np.zeros(1), np.zeros(2)
    with pytest.raises(ValueError, match="as many as nodes"):
        _core.cut_path(*graph, one, two, one, 1)
    with pytest.raises(ValueError, match="one CSR array"):
        _core.cut_path(graph[0], graph[1][:1], graph[2], two, two, one, 1)
    with pytest.raises(ValueError, match="between 0 and n_sets"):
        _core.cut_capacities(*graph, np.array([0, 4], np.int32), 3)
    with pytest.raises(ValueError, match="at least 1"):
        _core.strongest_links(*graph, 0, 1)


@examples
@given(hnp.arrays(np.float64, st.tuples(st.integers(0, 6), st.integers(1, 8)), elements=quarters),
       st.integers(1, 5))  # fmt: skip
def test_strongest_links(values, k):
    stored = sparse.csr_array(values)
    found = for_all_jobs(lambda jobs: _core.strongest_links(*arrays(stored), k, jobs))
    for row, columns in zip(values, found, strict=True):
        there = np.flatnonzero(row)
        wanted = there[np.argsort(-row[there], kind="stable")][:k].tolist()
        assert columns.tolist() == wanted + [-1] * (k - len(wanted))


INTERRUPT = """
    import os, signal, threading, time
    import numpy as np
    from scipy import sparse
    from tacit import _core

    side = 700
    numbers, rng = np.arange(side * side).reshape(side, side), np.random.default_rng(0)
    i = np.concatenate((numbers[:, :-1].ravel(), numbers[:-1].ravel()))
    j = np.concatenate((numbers[:, 1:].ravel(), numbers[1:].ravel()))
    upper = sparse.coo_array((rng.random(len(i)) * 9, (i, j)), shape=(side * side,) * 2)
    graph = (upper + upper.T).tocsr()
    arrays = graph.indptr.astype(np.int64), graph.indices.astype(np.int32), graph.data
    base, rate = rng.normal(size=side * side), rng.random(side * side)
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    start = time.monotonic()
    try:
        _core.cut_breakpoints(*arrays, base, rate, -9.0, 9.0, {jobs})
    except KeyboardInterrupt:
        print("interrupted", time.monotonic() - start)
    else:
        print("finished", time.monotonic() - start)
"""


@pytest.mark.parametrize("jobs", [1, 2])
def test_ctrl_c_ends_a_long_cut_early(jobs):
    outcome, _ = run(INTERRUPT.format(jobs=jobs))
    assert outcome == "interrupted"
