"""Clusters on graphs of near objects: against SciPy, scikit-learn and definitions."""

import pickle

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.cluster.hierarchy import fcluster, is_valid_linkage, linkage
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist, pdist, squareform
from sklearn.base import clone
from sklearn.cluster import SpectralClustering
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import tacit
from tacit import _core
from tacit.errors import InputError
from tacit.similarity import (
    NearGraph,
    SparseAgglomerative,
    SparseComponents,
    SparseDensityPeaks,
    SparseHDBSCAN,
    SparseSpectral,
)

ALL = [
    SparseAgglomerative(3),
    SparseAgglomerative(3, linkage="average"),
    SparseAgglomerative(3, linkage="single"),
    SparseComponents(),
    SparseDensityPeaks(3),
    SparseSpectral(3, random_state=0),
]


@parametrize_with_checks(ALL)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def blobs(n=400, seed=0, d=3, k=5, apart=6.0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    return rng.normal(size=(k, d))[y] * apart + rng.normal(size=(n, d)), y


def complete(X):
    return NearGraph(squareform(pdist(X)), "distance")


# Agglomeration


@pytest.mark.parametrize("method", ["ward", "average", "single"])
@pytest.mark.parametrize("seed", range(3))
def test_with_all_pairs_near_the_tree_is_that_of_scipy(method, seed):
    X = np.random.default_rng(seed).normal(size=(120, 3))
    for options in ({"n_neighbors": 119}, {"graph": complete(X)}):
        graph = options.pop("graph", None)
        model = SparseAgglomerative(7, linkage=method, **options).fit(X, graph=graph)
        tree = linkage(X, method)
        assert is_valid_linkage(model.linkage_matrix_)
        order = np.argsort(model.linkage_matrix_[:, 2], kind="stable")
        np.testing.assert_allclose(model.linkage_matrix_[order, 2], tree[:, 2])
        np.testing.assert_array_equal(model.linkage_matrix_[order, 3], tree[:, 3])
        theirs = fcluster(tree, 7, "maxclust")
        assert adjusted_rand_score(model.labels_, theirs) == 1
        half = float(np.median(tree[:, 2]))
        cut = SparseAgglomerative(distance_threshold=half, linkage=method, n_neighbors=119).fit(X)
        assert adjusted_rand_score(cut.labels_, fcluster(tree, half, "distance")) == 1


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 60), d=st.integers(1, 6), tied=st.booleans())
def test_single_linkage_is_that_of_all_pairs(seed, n, d, tied):
    X = np.random.default_rng(seed).normal(size=(n, d))
    X = np.round(X) if tied else X
    model = SparseAgglomerative(1, linkage="single").fit(X)
    heights = model.linkage_matrix_[:, 2]
    assert len(heights) == n - 1
    if n > 1:
        np.testing.assert_allclose(heights, linkage(X, "single")[:, 2], atol=1e-12)
    for threshold in (0.0, 0.7, 1.0):
        ours = SparseAgglomerative(distance_threshold=threshold, linkage="single").fit(X)
        _, parts = connected_components(sparse.csr_array(cdist(X, X) <= threshold))
        assert adjusted_rand_score(ours.labels_, parts) == 1
        by_radius = SparseComponents(radius=threshold).fit(X)
        np.testing.assert_array_equal(by_radius.labels_, ours.labels_)


def slow_merges(D, sizes, points):
    """Merge along the stored pairs of a matrix, nan where there is none, by definition."""
    n = len(D)
    members = {i: [i] for i in range(n)}
    merges = []
    while True:
        best = None
        live = sorted(members)
        for x, one in enumerate(live):
            for other in live[x + 1 :]:
                block = D[np.ix_(members[one], members[other])]
                near = ~np.isnan(block)
                if not near.any():
                    continue
                w = np.outer(sizes[members[one]], sizes[members[other]])
                if points is None:
                    height = (block[near] * w[near]).sum() / w[near].sum()
                else:
                    a, b = sizes[members[one]].sum(), sizes[members[other]].sum()
                    gap = np.average(
                        points[members[one]], axis=0, weights=sizes[members[one]]
                    ) - np.average(points[members[other]], axis=0, weights=sizes[members[other]])
                    height = np.sqrt(2 * a * b / (a + b) * (gap @ gap))
                if best is None or height < best[0] - 1e-12:
                    best = (height, one, other)
        if best is None:
            return merges
        height, one, other = best
        members[n + len(merges)] = members.pop(one) + members.pop(other)
        merges.append((one, other, height, sizes[members[n + len(merges)]].sum()))


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 18), ward=st.booleans())
def test_merges_along_a_graph_by_definition(seed, n, ward):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    D = squareform(pdist(X)) if n > 1 else np.zeros((1, 1))
    kept = np.triu(rng.random((n, n)) < 0.3, 1)
    kept |= kept.T
    rows, columns = np.nonzero(kept)
    indptr = np.append(0, np.cumsum(kept.sum(axis=1))).astype(np.int64)
    sizes = rng.integers(1, 4, n)
    points = X if ward else None
    first, second, heights, size = _core.graph_merges(
        indptr, columns.astype(np.int32), D[rows, columns], sizes, points
    )
    wanted = slow_merges(np.where(kept, D, np.nan), sizes, points)
    assert list(zip(first.tolist(), second.tolist(), strict=True)) == [w[:2] for w in wanted]
    np.testing.assert_allclose(heights, [w[2] for w in wanted])
    assert size.tolist() == [w[3] for w in wanted]


@pytest.mark.parametrize("method", ["ward", "average"])
def test_parts_that_hang_together_nowhere_are_joined(method):
    X, y = blobs(600, apart=40.0)
    model = SparseAgglomerative(5, linkage=method, n_neighbors=8).fit(X)
    assert model.n_connected_ >= 5
    assert is_valid_linkage(model.linkage_matrix_)
    assert adjusted_rand_score(model.labels_, y) == 1
    assert adjusted_rand_score(model.labels_, fcluster(linkage(X, method), 5, "maxclust")) == 1
    children = model.linkage_matrix_[:, :2].astype(int)
    heights = np.append(np.zeros(600), model.linkage_matrix_[:, 2])
    assert (heights[600:] >= heights[children].max(axis=1)).all()
    assert sorted(children.ravel().tolist()) == list(range(2 * 599))
    cosine = SparseAgglomerative(5, linkage="average", metric="cosine", n_neighbors=599).fit(X)
    theirs = fcluster(linkage(X, "average", metric="cosine"), 5, "maxclust")
    assert adjusted_rand_score(cosine.labels_, theirs) == 1


def test_ward_of_sparse_rows_is_that_of_dense_ones():
    X = np.maximum(blobs(300)[0], 0)
    one = SparseAgglomerative(5).fit(X)
    other = SparseAgglomerative(5).fit(sparse.csr_array(X))
    np.testing.assert_allclose(one.linkage_matrix_, other.linkage_matrix_)


# Components


def test_components_of_neighbours_and_of_graphs():
    X, y = blobs(300, apart=60.0)
    model = SparseComponents(n_neighbors=15).fit(X)
    assert adjusted_rand_score(model.labels_, y) == 1
    sizes = np.bincount(model.labels_)
    assert (np.diff(sizes) <= 0).all()
    few = SparseComponents(radius=3.0, min_cluster_size=30).fit(np.vstack((X, [[1e3] * 3] * 5)))
    assert (few.labels_[-5:] == -1).all()
    assert (few.labels_[:300] >= 0).all()
    assert few.predict([[1e3, 1e3, 1e3 + 1], X[0], [1e6] * 3]).tolist() == [-1, few.labels_[0], -1]
    graph = NearGraph(np.array([[0, 0.9, 0], [0.9, 0, 0.2], [0, 0.2, 0]]))
    assert SparseComponents().fit(graph).labels_.tolist() == [0, 0, 0]
    assert SparseComponents(radius=0.5).fit(graph).labels_.tolist() == [0, 0, 1]


# Density peaks


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(2, 150), tied=st.booleans())
def test_steps_lead_to_the_nearest_denser_object(seed, n, tied):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    X = np.round(X * 2) if tied else X
    k = min(4, n - 1)
    model = SparseDensityPeaks(min(3, n), n_neighbors=4).fit(X)
    D = cdist(X, X)
    radii = np.sort(D, axis=1)[:, k]
    np.testing.assert_allclose(model.radii_, radii, atol=1e-12)
    order = np.argsort(model.radii_, kind="stable")
    apart = np.zeros(n)
    for r, i in enumerate(order[1:], start=1):
        apart[i] = D[i, order[:r]].min()
    apart[order[0]] = apart.max()
    np.testing.assert_allclose(model.separations_, apart, atol=1e-12)
    assert order[0] in model.centers_
    assert model.labels_[model.centers_].tolist() == list(range(min(3, n)))
    assert ((model.probabilities_ >= 0) & (model.probabilities_ <= 1)).all()
    assert (model.probabilities_[model.centers_] == 1).all()


def test_peaks_far_from_anything_denser(monkeypatch):
    X, y = blobs(500, apart=12.0)
    model = SparseDensityPeaks(5).fit(X)
    assert adjusted_rand_score(model.labels_, y) > 0.99
    monkeypatch.setattr("tacit.similarity.clusters.density_peaks._MOST_CELLS", 1000)
    again = SparseDensityPeaks(5).fit(X)
    np.testing.assert_array_equal(again.labels_, model.labels_)
    np.testing.assert_array_equal(again.separations_, model.separations_)
    assert model.to_frame()["size"].sum() == 500
    with pytest.raises(InputError, match="graph: density peaks take distances to all"):
        SparseDensityPeaks(2).fit(complete(X))


# Spectral


def rings(n=600):
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, n)
    radius = np.repeat([1.0, 3.0], n // 2) + rng.normal(scale=0.1, size=n)
    return np.column_stack((radius * np.cos(angle), radius * np.sin(angle))), np.arange(n) // 300


@pytest.mark.parametrize("affinity", ["uniform", "local"])
def test_rings_are_clusters(affinity):
    X, y = rings()
    model = SparseSpectral(2, affinity=affinity, random_state=0).fit(X)
    assert adjusted_rand_score(model.labels_, y) == 1
    assert model.n_connected_ == 2
    np.testing.assert_allclose(model.eigenvalues_, 0, atol=1e-9)
    more = SparseSpectral(6, affinity=affinity, random_state=0).fit(X)
    assert len(np.unique(more.labels_)) == 6
    for label in range(6):  # none crosses
        assert len(np.unique(y[more.labels_ == label])) == 1


def test_eigenvalues_are_those_of_the_laplacian():
    X, _ = blobs(500, apart=3.0)
    graph = tacit.similarity.SparseNeighbors(12).fit(X).near_graph()
    W = np.exp(-graph.csr.toarray()) * (graph.csr.toarray() > 0)
    model = SparseSpectral(6, random_state=0, tolerance=1e-9).fit(X, graph=NearGraph(W))
    root = 1 / np.sqrt(W.sum(axis=1))
    L = np.eye(500) - root[:, None] * W * root
    np.testing.assert_allclose(model.eigenvalues_, np.linalg.eigvalsh(L)[:6], atol=1e-8)
    walk = root[:, None] ** 2 * W  # the embedding is of the random walk's eigenvectors
    for value, vector in zip(model.eigenvalues_, model.embedding_.T, strict=False):
        if model.n_connected_ == 1:
            np.testing.assert_allclose(walk @ vector, (1 - value) * vector, atol=1e-6)


@pytest.mark.filterwarnings("ignore:Graph is not fully connected")
def test_as_good_as_scikit_learn_on_the_same_graph():
    X, y = blobs(700, apart=4.0, k=4)
    ours = SparseSpectral(4, n_neighbors=12, random_state=0).fit(X)
    theirs = SpectralClustering(
        4, affinity="nearest_neighbors", n_neighbors=13, random_state=0
    ).fit(X)
    one, other = (adjusted_rand_score(y, m.labels_) for m in (ours, theirs))
    assert one > other - 0.02


def test_more_components_than_clusters():
    X, y = blobs(400, apart=80.0, k=5)
    model = SparseSpectral(3, n_neighbors=20, random_state=0).fit(X)
    assert model.n_connected_ == 5
    assert len(np.unique(model.labels_)) == 3
    for k in range(5):
        assert len(np.unique(model.labels_[y == k])) == 1
    graph = NearGraph(sparse.csr_array((6, 6)))
    with pytest.raises(InputError, match="the graph has 6 components"):
        SparseSpectral(2).fit(graph)


def test_baskets_by_jaccard():
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 3, 300)
    X = (rng.random((300, 60)) < np.where(np.arange(60) // 20 == groups[:, None], 0.5, 0.03)) * 1
    X[:, 0] |= X.sum(axis=1) == 0
    for model in (
        SparseSpectral(3, metric="jaccard", random_state=0),
        SparseDensityPeaks(3, metric="jaccard", n_neighbors=30),
    ):
        labels = model.fit(sparse.csr_array(X)).labels_
        assert adjusted_rand_score(labels, groups) > 0.8


# All


@pytest.mark.parametrize("model", ALL, ids=lambda m: type(m).__name__ + getattr(m, "linkage", ""))
def test_what_all_can_do(model, tmp_path):
    X, _ = blobs(300)
    for data in (X, sparse.csr_array(np.maximum(X, 0)), pl.DataFrame(X, schema=["x", "y", "z"])):
        fitted = model.set_params(normalize=True).fit(data)
        assert fitted.labels_.dtype == np.int64
        new = data[:50] if not isinstance(data, pl.DataFrame) else data.head(50)
        np.testing.assert_array_equal(fitted.predict(new), fitted.labels_[:50])
        fitted.save(tmp_path / "model.tacit")
        again = tacit.load(tmp_path / "model.tacit")
        copy = pickle.loads(pickle.dumps(fitted))
        for other in (again, copy):
            np.testing.assert_array_equal(other.labels_, fitted.labels_)
            np.testing.assert_array_equal(other.predict(new), fitted.predict(new))
            assert other.to_frame().equals(fitted.to_frame())
    assert fitted.to_frame()["size"].sum() == 300
    assert "clusters" in fitted.to_text()
    assert "clusters" in fitted._repr_html_()
    threads = type(model)(**{**model.get_params(), "n_jobs": 3}).fit(X)
    np.testing.assert_array_equal(threads.labels_, model.fit(X).labels_)
    if hasattr(model, "plot"):
        assert model.plot().get_title()
    state = fitted.to_state()
    with pytest.raises(InputError, match="'labels'"):
        type(model).from_state(dict(state) | {"labels": state["labels"] + 1000})


@pytest.mark.parametrize("model", ALL, ids=lambda m: type(m).__name__ + getattr(m, "linkage", ""))
def test_few_and_equal_objects(model):
    n_clusters = {"n_clusters": 1} if "n_clusters" in model.get_params() else {}
    one = type(model)(**{**model.get_params(), **n_clusters}).fit([[1.0, 2.0]])
    assert one.labels_.tolist() == [0]
    assert one.predict([[3.0, 4.0]]).tolist() in ([0], [-1])
    equal = model.fit(np.ones((40, 2)))
    assert len(equal.labels_) == 40
    assert (equal.labels_ >= 0).all()


def test_a_graph_alone():
    X, _ = blobs(300, apart=5.0)
    graph = tacit.similarity.SparseNeighbors(30).fit(X).near_graph()
    for model in (
        SparseSpectral(5, random_state=0),
        SparseAgglomerative(5, linkage="average"),
        SparseAgglomerative(5, linkage="single"),
        SparseComponents(),
    ):
        if graph.components()[0] > 1 and isinstance(model, SparseAgglomerative):
            with pytest.raises(InputError, match="hang together nowhere"):
                model.fit(graph)
            continue
        assert len(model.fit(graph).labels_) == 300
        with pytest.raises(InputError, match="was fitted to a graph"):
            model.predict(X)
        assert tacit.store is not None
    chain = NearGraph(sparse.diags_array([[1.0, 2.0, 1.0]] * 2, offsets=(1, -1)), "distance")
    for linkage_ in ("average", "single"):
        model = SparseAgglomerative(2, linkage=linkage_).fit(chain)
        assert model.labels_.tolist() == [0, 0, 1, 1]
    again = SparseAgglomerative.from_state(model.to_state())
    np.testing.assert_array_equal(again.labels_, model.labels_)


@pytest.mark.parametrize(
    ("model", "problem"),
    [
        (SparseAgglomerative(0), "n_clusters must be a whole number of at least 1, got 0"),
        (SparseAgglomerative(31), "n_clusters must be at most 30, the number of objects; got 31"),
        (SparseAgglomerative(3, distance_threshold=1.0), "give one of both"),
        (SparseAgglomerative(linkage="median"), "linkage must be .* got 'median'"),
        (SparseAgglomerative(metric="cosine"), "linkage='ward' takes metric='euclidean'"),
        (SparseComponents(radius=-1.0), "radius must be"),
        (SparseComponents(metric="jaccard"), "metric must be"),
        (SparseDensityPeaks(31), "n_clusters must be at most 30"),
        (SparseSpectral(affinity="rbf"), "affinity must be"),
        (SparseSpectral(tolerance=0), "tolerance must be"),
        (SparseSpectral(n_neighbors=0), "n_neighbors must be"),
        (SparseSpectral(normalize=1), "normalize must be True or False"),
    ],
)
def test_wrong_parameters_are_named(model, problem):
    with pytest.raises(InputError, match=problem):
        model.fit(np.random.default_rng(0).normal(size=(30, 2)))


def test_graphs_that_do_not_fit():
    X, _ = blobs(30)
    graph = complete(X)
    with pytest.raises(InputError, match="graph has 30 objects, X has 20"):
        SparseSpectral(2).fit(X[:20], graph=graph)
    with pytest.raises(InputError, match="X is a graph already"):
        SparseSpectral(2).fit(graph, graph=graph)
    with pytest.raises(InputError, match="linkage='ward' takes numbers"):
        SparseAgglomerative(2).fit(graph)
    similar = NearGraph(np.exp(-graph.csr.toarray()))
    with pytest.raises(InputError, match="measure='distance'"):
        SparseAgglomerative(2, linkage="average").fit(X, graph=similar)
    for wrong in (np.eye(2), sparse.eye_array(2), "near"):
        with pytest.raises(
            InputError, match=f"graph must be a NearGraph, got {type(wrong).__name__}"
        ):
            SparseAgglomerative(2).fit(X, graph=wrong)
    with pytest.raises(InputError, match="X is a NearGraph; SparseHDBSCAN takes the objects"):
        SparseHDBSCAN().fit(graph)
    for model in (SparseAgglomerative(1, linkage="average"), SparseComponents(), SparseSpectral(1)):
        with pytest.raises(InputError, match="X is a graph of no objects"):
            model.fit(NearGraph(np.zeros((0, 0)), "distance"))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("factor", [2.0**-540, 2.0**-1000, 2.0**400])
@pytest.mark.parametrize("n_neighbors", [5, 39])
def test_ward_merges_numbers_of_any_size(form, factor, n_neighbors):
    X, _ = blobs(40, seed=3)
    wanted = SparseAgglomerative(4, n_neighbors=n_neighbors).fit(form(X)).linkage_matrix_
    found = SparseAgglomerative(4, n_neighbors=n_neighbors).fit(form(X * factor)).linkage_matrix_
    np.testing.assert_array_equal(found[:, [0, 1, 3]], wanted[:, [0, 1, 3]])
    np.testing.assert_allclose(found[:, 2], wanted[:, 2] * factor, rtol=1e-9)


def test_ward_of_small_differences_beside_a_large_column():
    X, _ = blobs(40, seed=3)
    graph = complete(X)
    wanted = SparseAgglomerative(4).fit(X, graph=graph).linkage_matrix_
    beside = np.column_stack((X * 1e-200, np.full(40, 1e150)))
    found = SparseAgglomerative(4).fit(beside, graph=graph).linkage_matrix_
    np.testing.assert_array_equal(found[:, :2], wanted[:, :2])
    np.testing.assert_allclose(found[:, 2], wanted[:, 2] * 1e-200, rtol=1e-9)


@pytest.mark.parametrize("model", [*ALL, SparseHDBSCAN()], ids=lambda m: type(m).__name__)
@pytest.mark.parametrize(
    ("dtype", "most"), [(np.float64, 1e308), (np.float32, 3e38)], ids=["double", "single"]
)
def test_columns_that_are_too_wide_to_be_scaled(model, dtype, most):
    X = sparse.csr_array(np.array([[0, most], [0, -most], [1, 0]] * 4, dtype))
    with pytest.raises(InputError, match=f"X: column 1 spans more than a {np.dtype(dtype)} can"):
        clone(model).set_params(normalize=True).fit(X)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_parallel_vectors_hang_together(form):
    X = form(np.outer([1, 3, 7, 0.1], [0.1, 0.2, 0.7]))
    model = SparseComponents(radius=0.0, metric="cosine").fit(X)
    assert model.labels_.tolist() == model.predict(X).tolist() == [0, 0, 0, 0]


def test_a_radius_of_similarities_is_no_distance(tmp_path):
    X = np.array([[0.0, 0], [2, 0], [500, 500], [502, 500]])
    graph = sparse.csr_array(np.kron(np.eye(2), [[0, 0.9], [0.9, 0]]))
    model = SparseComponents(0.85).fit(X, graph=NearGraph(graph, "similarity"))
    model.save(tmp_path / "m.tacit")
    for each in (model, tacit.load(tmp_path / "m.tacit")):
        assert each.predict(X + 1).tolist() == model.labels_.tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("factor", [1e200, 1e-200, 1e-161])
def test_lengths_of_rows_have_no_bearing_on_cosines(form, factor):
    X = np.abs(np.random.default_rng(0).normal(size=(60, 4))) ** 3
    X[:30, :2] += 9
    labels = SparseHDBSCAN(5, metric="cosine").fit(form(X)).labels_
    scaled = SparseHDBSCAN(5, metric="cosine").fit(form(X * factor))
    assert scaled.labels_.tolist() == labels.tolist()
