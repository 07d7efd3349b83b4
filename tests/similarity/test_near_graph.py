"""NearGraph: what it refuses, and what it answers, against slow and obvious versions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse import csgraph
from sklearn.cluster import DBSCAN, HDBSCAN
from sklearn.neighbors import NearestNeighbors

import tacit
from tacit import InputError
from tacit.similarity import NearGraph


def random_graph(seed, n=12, density=0.4, levels=4):
    """Return a symmetric graph with ties, loops and stored zeros, and its dense form."""
    rng = np.random.default_rng(seed)
    dense = np.triu(rng.integers(0, levels, (n, n)) * (rng.random((n, n)) < density), 1) * 0.5
    dense = dense + dense.T
    loops = sparse.diags_array(rng.random(n))
    stored = sparse.coo_array((np.zeros(2), ([0, 1], [1, 0])), (n, n))
    entries = [sparse.coo_array(part) for part in (dense, loops, stored)]
    rows, columns, values = (
        np.concatenate([part(entry) for entry in entries])
        for part in (lambda e: e.coords[0], lambda e: e.coords[1], lambda e: e.data)
    )
    order = rng.permutation(len(rows))
    return sparse.csr_array((values[order], (rows[order], columns[order])), (n, n)), dense


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(["similarity", "distance"]), st.integers(1, 8))
def test_neighbours_are_those_of_the_dense_matrix(seed, measure, k):
    given_graph, dense = random_graph(seed)
    graph = NearGraph(given_graph, measure)
    edge = dense > 0 if measure == "similarity" else graph.csr.toarray() >= 0
    if measure == "distance":  # a stored zero is an edge
        edge = np.zeros(dense.shape, bool)
        rows = np.repeat(np.arange(len(graph)), np.diff(graph.csr.indptr))
        edge[rows, graph.csr.indices] = True
        assert edge[0, 1]
        assert edge[1, 0]
    values, neighbors = graph.kneighbors(k)
    for i in range(len(dense)):
        sign = 1 if measure == "distance" else -1
        wanted = sorted((sign * dense[i, j], j) for j in np.flatnonzero(edge[i]))[:k]
        assert neighbors[i, : len(wanted)].tolist() == [j for _, j in wanted]
        assert values[i, : len(wanted)].tolist() == [dense[i, j] for _, j in wanted]
        assert (neighbors[i, len(wanted) :] == -1).all()
    again = graph.kneighbors(k, n_jobs=3)
    assert (again[1] == neighbors).all()
    assert (again[0] == values).all()
    within = graph.radius_neighbors(1.0)[1]
    for i in range(len(dense)):
        near = dense[i] <= 1 if measure == "distance" else dense[i] >= 1
        assert within[i].tolist() == np.flatnonzero(edge[i] & near).tolist()


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000))
def test_faults_are_found_wherever_they_are(seed):
    rng = np.random.default_rng(seed)
    given_graph, dense = random_graph(seed, n=9)
    assert (NearGraph(given_graph).csr.toarray() == dense).all()
    i, j = rng.choice(9, 2, replace=False)
    wrong = dense.copy()
    wrong[i, j] += 1 if rng.random() < 0.5 or not dense[i, j] else -dense[i, j]
    low, high = sorted((int(i), int(j)))
    message = rf"symmetric, but \({low}, {high}\) and \({high}, {low}\) differ"
    with pytest.raises(InputError, match=message):
        NearGraph(wrong)
    assert NearGraph(wrong, directed=True).n_edges == (wrong > 0).sum()
    for value, what in ((np.nan, "not finite"), (-1.0, "negative")):
        wrong = dense.copy()
        wrong[i, j] = value
        loop = dense.copy()
        loop[i, i] = value
        assert (NearGraph(loop).csr.toarray() == dense).all()
        with pytest.raises(InputError, match=rf"the entry at \({i}, {j}\) is {what}"):
            NearGraph(wrong)


def test_a_graph_in_canonical_form_is_not_copied_and_never_changed():
    graph = NearGraph(random_graph(1)[0]).csr
    again = NearGraph(graph)
    assert np.shares_memory(again.csr.data, graph.data)
    assert np.shares_memory(NearGraph(again).csr.data, graph.data)
    given_graph, _ = random_graph(1)
    before = given_graph.data.copy(), given_graph.indices.copy(), given_graph.indptr.copy()
    NearGraph(given_graph)
    assert all(
        (old == new).all()
        for old, new in zip(
            before, (given_graph.data, given_graph.indices, given_graph.indptr), strict=True
        )
    )


def test_cuts_take_it_and_refuse_other_measures():
    chain = sparse.diags_array([[3.0, 1.0, 3.0, 2.0]] * 2, offsets=(1, -1))
    seeds = [1, -1, -1, -1, 0]
    wanted = tacit.normalized_cut(chain, seeds)
    cut = tacit.normalized_cut(NearGraph(chain), seeds)
    assert (cut.members == wanted.members).all()
    assert cut.between == wanted.between
    with pytest.raises(InputError, match="a cut takes a graph of measure='similarity'"):
        tacit.normalized_cut(NearGraph(chain, "distance"), seeds)
    with pytest.raises(InputError, match="a cut takes an undirected graph"):
        tacit.normalized_cut(NearGraph(chain, directed=True), seeds)


def test_of_near_pairs_it_is_what_scikit_learn_finds():
    X, _ = tacit.datasets.make_objects(400, 3, n_clusters=3, random_state=0)
    graph = tacit.SparseComputation(1, random_state=0).fit(X).near_graph("distance")
    distances, neighbors = graph.kneighbors(4)
    wanted = NearestNeighbors(n_neighbors=4).fit(X).kneighbors()
    np.testing.assert_allclose(distances, wanted[0], rtol=1e-7)
    assert (neighbors == wanted[1]).mean() > 0.999
    radius = float(np.median(distances))
    here, there = graph.within(radius).csr, NearestNeighbors(radius=radius).fit(X)
    assert here.nnz == there.radius_neighbors_graph().nnz
    by_graph = DBSCAN(radius, min_samples=3, metric="precomputed").fit(graph.to_csr())
    assert (by_graph.labels_ == DBSCAN(radius, min_samples=3).fit(X).labels_).all()
    assert len(HDBSCAN(metric="precomputed", copy=True).fit(graph.to_csr()).labels_) == 400
    indices, lengths = graph.to_umap(5)
    assert (indices[:, 0] == np.arange(400)).all()
    assert (lengths[:, 0] == 0).all()
    assert (indices[:, 1:] == neighbors).all()


@pytest.mark.parametrize("keep", ["directed", "either", "both"])
def test_graphs_of_neighbours(keep):
    X = np.random.default_rng(0).random((60, 2))
    distances, neighbors = NearestNeighbors(n_neighbors=4).fit(X).kneighbors()
    named = np.zeros((60, 60), bool)
    named[np.arange(60)[:, None], neighbors] = True
    wanted = {"directed": named, "either": named | named.T, "both": named & named.T}[keep]
    graph = NearGraph.from_neighbors(distances, neighbors, keep=keep)
    assert (graph.csr.toarray() > 0).tolist() == wanted.tolist()
    directed = NearGraph.from_neighbors(distances, neighbors, keep="directed")
    if keep != "directed":
        assert (directed.to_undirected(keep).csr != graph.csr).nnz == 0
    assert (graph.kneighbors_graph(3) != directed.kneighbors_graph(3)).nnz == 0 or keep == "both"


def test_labels_spread_to_what_a_dense_solver_says():
    rng = np.random.default_rng(2)
    weights = np.triu(rng.random((30, 30)) * (rng.random((30, 30)) < 0.15), 1)
    weights[-2:] = weights[:, -2:] = 0  # two objects that nothing reaches
    weights += weights.T
    y = np.full(30, -1)
    y[:6] = [0, 0, 2, 2, 5, 5]
    graph = NearGraph(weights)
    spread = graph.propagate_labels(y, tolerance=1e-12)
    assert spread.classes.tolist() == [0, 2, 5]
    _, component = csgraph.connected_components(weights)
    reached = np.isin(component, component[:6])
    assert (spread.labels[~reached] == -1).all()
    assert not spread.probabilities[~reached].any()
    open_ = np.flatnonzero(reached & (y < 0))
    laplacian = np.diag(weights.sum(axis=1)) - weights
    given_classes = (y[:6, None] == spread.classes).astype(float)
    wanted = np.linalg.solve(
        laplacian[np.ix_(open_, open_)], -laplacian[np.ix_(open_, range(6))] @ given_classes
    )
    np.testing.assert_allclose(spread.probabilities[open_], wanted, atol=1e-9)
    assert (spread.labels[open_] == spread.classes[wanted.argmax(axis=1)]).all()
    with pytest.raises(InputError, match="y must hold classes"):
        graph.propagate_labels(np.full(30, -1))
    with pytest.raises(InputError, match="y must be 30 whole numbers"):
        graph.propagate_labels(np.zeros(30))
    with pytest.raises(InputError, match="tolerance must be a finite number above 0"):
        graph.propagate_labels(y, tolerance=0)


def test_components_edges_and_files(tmp_path):
    graph = NearGraph(random_graph(5, density=0.1)[0], "distance")
    number, labels = graph.components()
    assert number == labels.max() + 1 == csgraph.connected_components(graph.csr)[0]
    first, second, weight = graph.to_edges()
    assert len(first) == graph.n_edges
    assert (first < second).all()
    assert (graph.csr[first, second] == weight).all()
    assert graph.to_frame().columns == ["first", "second", "distance"]
    graph.save(tmp_path / "graph.tacit")
    again = tacit.load(tmp_path / "graph.tacit")
    assert again.measure == "distance"
    assert not again.directed
    assert (again.csr.indptr == graph.csr.indptr).all()
    assert (again.csr.data == graph.csr.data).all()
    assert repr(graph).startswith("NearGraph of 12 objects")
    assert "distance" in graph._repr_html_()


def test_what_is_refused():
    with pytest.raises(InputError, match="measure must be"):
        NearGraph(np.zeros((2, 2)), "speed")
    with pytest.raises(InputError, match="graph is a NearGraph of measure='distance'"):
        NearGraph(NearGraph(np.zeros((2, 2)), "distance"))
    with pytest.raises(InputError, match="object 0 has 0 neighbours, fewer than the 1 asked for"):
        NearGraph(np.zeros((2, 2)), "distance").to_umap(2)
    broken = sparse.csr_array(np.array([[0, 1.0], [1.0, 0]]))
    broken.indices = np.array([1, 7], np.int32)
    with pytest.raises(InputError, match="row 1 has a column 7 that is not there"):
        NearGraph(broken)
    with pytest.raises(InputError, match="neighbors must be from 0 to 1, or -1"):
        NearGraph.from_neighbors([[1.0], [1.0]], [[1], [2]])


@pytest.mark.parametrize("keep", ["directed", "either", "both"])
@pytest.mark.parametrize("wrong", [np.nan, np.inf, -1.0])
def test_distances_of_neighbours_are_checked(keep, wrong):
    neighbors = np.array([[1, 0], [0, -1], [0, 1]])
    distances = np.array([[1.0, wrong], [1.0, wrong], [2.0, 3.0]])  # of itself, and of none
    assert NearGraph.from_neighbors(distances, neighbors).n_edges == 3
    distances[0, 0] = wrong
    with pytest.raises(InputError, match=f"distances must be .* object 0 to 1 is {wrong}"):
        NearGraph.from_neighbors(distances, neighbors, keep=keep)


def test_a_neighbour_that_is_named_twice_is_one():
    neighbors, distances = np.array([[1, 1], [2, 2], [1, 1]]), np.array([[2.0, 1], [1, 1], [1, 1]])
    graph = NearGraph.from_neighbors(distances, neighbors, keep="both")
    assert graph.to_csr().toarray().tolist() == [[0, 0, 0], [0, 0, 1], [0, 1, 0]]
    graph = NearGraph.from_neighbors(distances, neighbors, keep="directed")
    assert graph.n_edges == 3
    assert graph.to_csr().toarray().tolist() == [[0, 1, 0], [0, 0, 1], [0, 1, 0]]
