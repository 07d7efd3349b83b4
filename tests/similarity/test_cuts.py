"""Cuts of graphs with seeds, against a look at every set of nodes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from matplotlib import pyplot as plt
from scipy import sparse

import tacit
from oracles.cuts import all_sets as every_set
from oracles.cuts import (
    between,
    least_ratio,
    networkx_cut,
    smallest_normalized_cut,
    smallest_set,
    within,
)

examples = settings(max_examples=60)
quarters = st.integers(0, 12).map(lambda n: n / 4)
balances = st.sampled_from([0.0, 0.1, 0.25, 2 / 3, 1.0, 2.0, 6.0, 30.0])


@st.composite
def graphs(draw, least=1):
    n = draw(st.integers(least, 7))
    upper = np.triu(draw(hnp.arrays(np.float64, (n, n), elements=quarters, fill=st.just(0.0))), 1)
    return upper + upper.T


@st.composite
def seeded(draw):
    weights = draw(graphs(2))
    seeds = draw(hnp.arrays(np.int8, len(weights), elements=st.sampled_from([-1, -1, -1, 0, 1])))
    seeds[0], seeds[-1] = 1, 0
    node_weights = draw(st.none() | hnp.arrays(np.float64, len(weights), elements=quarters))
    return weights, seeds, node_weights


def worth(weights, members, node_weights):
    return within(weights, members) if node_weights is None else node_weights[members].sum()


def by(node_weights):
    return "degree" if node_weights is None else node_weights


@examples
@given(graphs(), st.data())
def test_minimum_cut(weights, data):
    capacities = hnp.arrays(np.float64, len(weights), elements=quarters)
    source, sink = data.draw(capacities), data.draw(capacities)
    solution = tacit.minimum_cut(sparse.csr_array(weights), source, sink)

    def capacity(members):
        return between(weights, members) + source[~members].sum() + sink[members].sum()

    wanted, value = smallest_set(capacity, every_set(len(weights)))
    assert solution.members.tolist() == wanted.tolist()
    assert solution.value == value
    others, flow = networkx_cut(weights, source, sink)
    assert solution.members.tolist() == others.tolist()
    assert solution.value == flow


@examples
@given(seeded(), balances)
def test_normalized_cut(case, balance):
    weights, seeds, node_weights = case
    solution = tacit.normalized_cut(
        sparse.csr_array(weights), seeds, balance, node_weights=by(node_weights)
    )
    _, value = smallest_normalized_cut(weights, seeds, balance, node_weights)
    assert solution.members[seeds == 1].all()
    assert not solution.members[seeds == 0].any()
    assert solution.between == pytest.approx(between(weights, solution.members))
    assert solution.within == pytest.approx(worth(weights, solution.members, node_weights))
    assert solution.value == pytest.approx(value, abs=1e-9)


@examples
@given(seeded(), st.sampled_from([0.0, 2.0, 6.0]))
def test_of_several_optimal_sets_it_is_the_smallest(case, balance):
    # λ / (2 + λ) of these balances is exact, and so are all sums.
    weights, seeds, node_weights = case
    graph = sparse.csr_array(weights)
    solution = tacit.normalized_cut(graph, seeds, balance, node_weights=by(node_weights))
    wanted, _ = smallest_normalized_cut(weights, seeds, balance, node_weights)
    assert solution.members.tolist() == wanted.tolist()


@examples
@given(seeded())
def test_the_path_has_every_cut(case):
    weights, seeds, node_weights = case
    graph = sparse.csr_array(weights)
    path = tacit.normalized_cut_path(graph, seeds, node_weights=by(node_weights))
    points = np.concatenate(([0.0], path.breakpoints))
    middles = [*((points[1:] + points[:-1]) / 2), points[-1] + 1]
    for balance in middles:
        if np.isclose(points, balance, rtol=1e-9, atol=1e-12).any():
            continue
        members = path.members(balance)
        _, value = smallest_normalized_cut(weights, seeds, balance, node_weights)
        objective = between(weights, members) - balance * worth(weights, members, node_weights)
        assert objective == pytest.approx(value, abs=1e-9)
    assert (path.enters[seeds == 1] == -np.inf).all()
    assert (path.enters[seeds == 0] == np.inf).all()


@examples
@given(seeded())
def test_the_objective_bends_at_every_breakpoint(case):
    weights, seeds, node_weights = case
    path = tacit.normalized_cut_path(
        sparse.csr_array(weights), seeds, node_weights=by(node_weights)
    )
    slopes = [
        -worth(weights, path.enters <= point, node_weights)
        for point in [-np.inf, *path.breakpoints]
    ]
    assert (np.diff(slopes) < 0).all()


@examples
@given(seeded())
def test_the_best_ratio(case):
    weights, seeds, node_weights = case
    graph = sparse.csr_array(weights)
    weigh = weights.sum(axis=1) if node_weights is None else node_weights
    if not weigh[seeds != 0].sum() > 0:
        with pytest.raises(tacit.InputError, match="weigh nothing"):
            tacit.normalized_cut(graph, seeds, node_weights=by(node_weights), ratio=True)
        return
    solution = tacit.normalized_cut(graph, seeds, node_weights=by(node_weights), ratio=True)
    wanted = least_ratio(weights, seeds, node_weights)
    assert solution.ratio == pytest.approx(wanted)
    assert solution.balance == pytest.approx(wanted)


def test_a_path_within_a_range():
    rng = np.random.default_rng(0)
    upper = np.triu(rng.random((30, 30)) ** 4 * (rng.random((30, 30)) < 0.1), 1)
    graph = sparse.csr_array(upper + upper.T)
    seeds = np.full(30, -1)
    seeds[:3], seeds[-3:] = 1, 0
    whole = tacit.normalized_cut_path(graph, seeds)
    part = tacit.normalized_cut_path(graph, seeds, low=0.025, high=1.0)
    assert len(whole.breakpoints) == 3
    inside = (whole.enters >= 0.025) & (whole.enters < 1.0)
    assert np.allclose(part.enters[inside], whole.enters[inside])
    assert (part.enters[whole.enters < 0.025] == -np.inf).all()
    assert (part.enters[whole.enters >= 1.0] == np.inf).all()


def test_the_diagonal_and_explicit_zeros_have_no_bearing():
    graph = sparse.csr_array(np.array([[5.0, 1.0, 0.0], [1.0, 7.0, 2.0], [0.0, 2.0, 1.0]]))
    cleared = graph.copy()
    cleared.setdiag(0)
    stored = sparse.csr_array(
        ([1.0, 0.0, 1.0, 2.0, 0.0, 2.0], ([0, 0, 1, 1, 2, 2], [1, 2, 0, 2, 0, 1])), shape=(3, 3)
    )
    cuts = [tacit.normalized_cut(g, [1, -1, 0], 0.5) for g in (graph, cleared, stored)]
    assert {(cut.members.tobytes(), cut.between, cut.within) for cut in cuts} == {
        (np.array([True, False, False]).tobytes(), 1.0, 0.0)
    }


@pytest.mark.parametrize(
    "form",
    [
        np.asarray,
        sparse.coo_array,
        sparse.csc_array,
        sparse.csr_matrix,
        lambda a: sparse.csr_array(a.astype(np.float32)),
        lambda a: sparse.csr_array(a.astype(np.int64)),
    ],
)
def test_any_form_of_graph(form):
    weights = np.array([[0, 3, 0, 0], [3, 0, 1, 0], [0, 1, 0, 3], [0, 0, 3, 0.0]])
    cut = tacit.minimum_cut(form(weights), [9, 0, 0, 0], [0, 0, 0, 9])
    assert (cut.members.tolist(), cut.value) == ([True, True, False, False], 1.0)


def test_int64_indices():
    graph = sparse.csr_array(np.array([[0, 1.0], [1.0, 0]]))
    wide = graph.copy()
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    assert tacit.minimum_cut(wide, [2, 0], [0, 0.5]).value == 0.5


BAD_GRAPHS = [
    ([[0, 1], [1, 0]], "graph must be a sparse or NumPy array, got list"),
    (np.ones((2, 3)), r"graph must be square, got shape \(2, 3\)"),
    (np.array([[0, 1.0], [2.0, 0]]), r"graph must be symmetric, but \(0, 1\) and \(1, 0\) differ"),
    (np.array([[0, -1.0], [-1.0, 0]]), r"graph: the entry at \(0, 1\) is negative"),
    (np.array([[0, np.nan], [1.0, 0]]), r"graph: the entry at \(0, 1\) is not finite"),
    (np.array([[0, np.inf], [np.inf, 0]]), r"graph: the entry at \(0, 1\) is not finite"),
]


@pytest.mark.parametrize(("graph", "message"), BAD_GRAPHS)
def test_bad_graphs(graph, message):
    with pytest.raises(tacit.InputError, match=message):
        tacit.minimum_cut(graph, [1, 1], [1, 1])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"seeds": [1, 0]}, r"seeds must have shape \(3,\), got \(2,\)"),
        ({"seeds": [1, 2, 0]}, "seeds must be 1, 0 or -1, but is 2 at node 1"),
        ({"seeds": ["a", "b", "c"]}, "seeds must be an array of numbers"),
        ({"balance": -0.1}, "balance must be a finite number of at least 0, got -0.1"),
        ({"balance": np.inf}, "balance must be a finite number of at least 0, got inf"),
        ({"balance": "much"}, "balance must be a finite number of at least 0, got 'much'"),
        ({"node_weights": "size"}, "node_weights must be 'degree' or an array"),
        ({"node_weights": [1, -2, 3]}, "node_weights must be finite .* is -2.0 at node 1"),
        ({"ratio": True, "seeds": [1, -1, -1]}, "at least one node that is no member"),
        ({"ratio": True, "seeds": [0, -1, -1]}, "at least one node that is a member"),
        ({"n_jobs": 0}, "n_jobs"),
    ],
)
def test_bad_arguments(arguments, message):
    graph = sparse.csr_array(np.ones((3, 3)))
    with pytest.raises(tacit.InputError, match=message):
        tacit.normalized_cut(graph, **{"seeds": [1, -1, 0], **arguments})


def test_a_range_that_is_none():
    with pytest.raises(tacit.InputError, match=r"high must be at least low=2\.0, got 1\.0"):
        tacit.normalized_cut_path(np.ones((2, 2)), [1, 0], low=2.0, high=1.0)


def test_source_and_sink_that_are_no_capacities():
    with pytest.raises(tacit.InputError, match=r"source must be finite and not negative.*node 1"):
        tacit.minimum_cut(np.zeros((2, 2)), [0, -1], [0, 0])
    with pytest.raises(tacit.InputError, match=r"sink must have shape \(2,\)"):
        tacit.minimum_cut(np.zeros((2, 2)), [0, 1], [0, 0, 0])


def test_cuts_show_themselves():
    chain = sparse.diags_array([[3.0, 1.0, 3.0, 2.0]] * 2, offsets=(1, -1))
    cut = tacit.normalized_cut(chain, [1, -1, -1, -1, 0], balance=0.1)
    assert cut.to_text() == "2 of 5 nodes; between 1; within 3; ratio 0.333333; balance 0.1"
    assert cut.to_frame()["member"].to_list() == cut.members.tolist()
    ax = cut.plot(coords=np.zeros((5, 3)))
    assert [len(points.get_offsets()) for points in ax.collections] == [3, 2]
    with pytest.raises(tacit.InputError, match="coords must have two dimensions or more"):
        cut.plot(ax, coords=np.zeros((4, 2)))
    least = tacit.minimum_cut(chain, [9.0, 0, 0, 0, 0], [0, 0, 0, 0, 9.0])
    assert least.to_text() == "2 of 5 nodes; capacity 1"
    path = tacit.normalized_cut_path(chain, [1, -1, -1, -1, 0])
    frame = path.to_frame()
    assert frame.columns == ["balance", "n_members"]
    for balance, n_members in frame.iter_rows():
        assert path.members(np.nextafter(balance, np.inf)).sum() == n_members
    assert "2 nodes always are members, 1 never" in path.to_text()
    assert path.plot(ax) is ax
    plt.close(ax.figure)
