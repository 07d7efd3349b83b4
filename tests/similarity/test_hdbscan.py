"""SparseHDBSCAN: the tree of mutual reachability, clusters of it, and new objects."""

import pickle

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist
from sklearn.cluster import HDBSCAN
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import tacit
from tacit import InputError
from tacit.similarity import SparseHDBSCAN
from tacit.similarity.clusters.condensed import Selection, condense
from tacit.similarity.clusters.reachability import (
    SpanningTree,
    metric_tree,
    spanning_tree,
    unit_rows,
)


@parametrize_with_checks([SparseHDBSCAN(), SparseHDBSCAN(3, metric="cosine", normalize=False)][:1])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def reach_matrix(X, n_core):
    """Return all distances of mutual reachability, and core distances."""
    D = cdist(X, X)
    cores = np.sort(D, axis=1)[:, n_core - 1]
    return np.maximum(np.maximum(D, cores[:, None]), cores), cores


def prim(M):
    """Return the lengths of the minimum spanning tree's edges, ascending."""
    n = len(M)
    inside = np.arange(n) == 0
    best, lengths = M[0].copy(), []
    for _ in range(n - 1):
        free = np.where(inside, np.inf, best)
        j = int(free.argmin())
        lengths.append(free[j])
        inside[j] = True
        best = np.minimum(best, M[j])
    return np.sort(lengths)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 260),
    d=st.integers(1, 18),
    kind=st.sampled_from(["spread", "whole numbers", "sparse", "far", "single"]),
)
def test_the_tree_is_the_minimum_one(seed, n, d, kind):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    n_core = int(rng.integers(1, min(n, 9) + 1))
    if kind == "whole numbers":
        X = np.round(X)
    elif kind == "far":
        X = X * 1e6 + 1e7
    elif kind == "single":
        X = X.astype(np.float32)
    elif kind == "sparse":
        X = np.where(rng.random((n, d)) < 0.3, np.round(X, 1), 0.0)
    given_as = sparse.csr_array(X) if kind == "sparse" else X
    X = X.astype(np.float64)
    M, cores = reach_matrix(X, n_core)
    tree = spanning_tree(given_as, n_core, 1)
    close = {"rtol": 1e-9, "atol": 1e-6 if kind == "far" else 1e-9}
    np.testing.assert_allclose(tree.cores, cores, **close)
    np.testing.assert_allclose(tree.reach, prim(M), **close)
    np.testing.assert_allclose(M[tree.a, tree.b], tree.reach, **close)
    assert (np.diff(tree.reach) >= 0).all()
    edges = sparse.coo_array((np.ones(n - 1), (tree.a, tree.b)), (n, n))
    assert connected_components(edges, directed=False)[0] == 1
    again = spanning_tree(given_as, n_core, 3)
    for name in ("a", "b", "reach", "cores"):
        np.testing.assert_array_equal(getattr(tree, name), getattr(again, name))


def slow_condense(n, a, b, heights, least):
    """Return clusters as sets of objects, with the λ at which they begin, from the root down."""
    found = []

    def parts(members, below):
        edges = [k for k in range(n - 1) if heights[k] < below and a[k] in members]
        graph = sparse.coo_array(
            (np.ones(len(edges)), ([a[k] for k in edges], [b[k] for k in edges])), (n, n)
        )
        label = connected_components(graph, directed=False)[1]
        groups = {}
        for i in members:
            groups.setdefault(int(label[i]), set()).add(i)
        return [group for group in groups.values() if len(group) >= least]

    def follow(members, born):
        found.append((frozenset(members), born))
        now = set(members)
        for height in sorted({heights[k] for k in range(n - 1)}, reverse=True):
            inside = parts(now, height)
            if len(inside) > 1:
                for one in inside:
                    follow(one, height)
                return
            if not inside:
                return
            now = inside[0]

    follow(set(range(n)), np.inf)
    return found


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(6, 40), least=st.integers(2, 5))
def test_the_condensed_tree_by_its_definition(seed, n, least):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, 2)) * 8)  # squares are exact, and many are equal
    tree = spanning_tree(X, 2)
    condensed = condense(tree, least)
    ends = {cluster: set() for cluster in range(condensed.n_clusters)}
    later = {cluster: set() for cluster in range(condensed.n_clusters)}  # that do not leave at once
    for i, cluster in enumerate(condensed.object_clusters.tolist()):
        end = condensed.object_lambdas[i]
        while cluster >= 0:
            ends[cluster].add(i)
            if end > condensed.births[cluster]:
                later[cluster].add(i)
            end = condensed.births[cluster]
            cluster = int(condensed.cluster_parents[cluster])
    wanted = slow_condense(n, tree.a, tree.b, tree.reach, least)
    with np.errstate(divide="ignore"):
        born = {(objects, 1 / np.float64(height)) for objects, height in wanted[1:]}
    found = {
        (frozenset(later[c]), condensed.births[c]) for c in later if c and len(later[c]) >= least
    }
    # Objects at one place are there for ever, and come to be no earlier.
    assert {one for one in found if np.isfinite(one[1])} == {
        one for one in born if np.isfinite(one[1])
    }
    assert [len(ends[c]) for c in range(condensed.n_clusters)] == condensed.cluster_sizes.tolist()
    stays = np.zeros(condensed.n_clusters)
    with np.errstate(invalid="ignore"):
        for cluster, objects in ends.items():
            for i in objects:
                own = condensed.object_clusters[i]
                below = [
                    c for c in ends if condensed.cluster_parents[c] == cluster and i in ends[c]
                ]
                end = condensed.object_lambdas[i] if own == cluster else condensed.births[below[0]]
                stays[cluster] += np.nan_to_num(
                    end - condensed.births[cluster], nan=0.0, posinf=np.inf
                )
    np.testing.assert_allclose(condensed.stabilities, stays)


def blobs(n=1500, seed=0, d=4, k=8):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(k, d))[rng.integers(0, k, n)] * 4 + rng.normal(
        size=(n, d)
    ) * rng.choice([0.5, 1.0], size=(n, 1))


@pytest.mark.parametrize("method", ["eom", "leaf"])
@pytest.mark.parametrize("size", [5, 25])
def test_without_ties_the_labels_are_those_of_scikit_learn(method, size):
    X = blobs()  # a min_samples of 1 leaves distances alone
    chosen = {"cluster_selection_method": method}
    ours = SparseHDBSCAN(size, 1, **chosen).fit(X)
    theirs = HDBSCAN(min_cluster_size=size, min_samples=1, copy=True, **chosen).fit(X)
    assert ours.n_clusters_ == theirs.labels_.max() + 1 > 1
    assert adjusted_rand_score(ours.labels_, theirs.labels_) == 1
    np.testing.assert_array_equal(ours.labels_ < 0, theirs.labels_ < 0)
    np.testing.assert_allclose(ours.probabilities_, theirs.probabilities_, atol=1e-9)


@pytest.mark.parametrize("method", ["eom", "leaf"])
@pytest.mark.parametrize("epsilon", [0.9, 2.0])
def test_clusters_that_begin_below_epsilon_are_merged(method, epsilon):
    X = blobs()
    apart = SparseHDBSCAN(5, cluster_selection_method=method).fit(X)
    model = SparseHDBSCAN(
        5, cluster_selection_method=method, cluster_selection_epsilon=epsilon
    ).fit(X)
    tree, chosen = model.condensed_tree_, model.selected_
    assert model.n_clusters_ < apart.n_clusters_ or method == "eom"
    early = (tree.births[chosen] * epsilon <= 1) | (tree.cluster_parents[chosen] == 0)
    assert early.all()
    for label in range(apart.n_clusters_):  # what was one cluster stays together
        assert len(np.unique(model.labels_[apart.labels_ == label])) == 1


@pytest.mark.parametrize("min_samples", [5, 15])
def test_with_core_distances_they_differ_by_ties_alone(min_samples):
    X = blobs(d=3, k=5)
    ours = SparseHDBSCAN(30, min_samples).fit(X)
    theirs = HDBSCAN(min_cluster_size=30, min_samples=min_samples, copy=True).fit(X)
    assert ours.n_clusters_ == theirs.labels_.max() + 1
    assert adjusted_rand_score(ours.labels_, theirs.labels_) > 0.99


def test_one_cluster_if_allowed():
    X = np.random.default_rng(0).normal(size=(300, 2))
    for epsilon in (0.0, 0.4):
        chosen = {"allow_single_cluster": True, "cluster_selection_epsilon": epsilon}
        ours = SparseHDBSCAN(40, 1, **chosen).fit(X)
        theirs = HDBSCAN(min_cluster_size=40, min_samples=1, copy=True, **chosen).fit(X)
        np.testing.assert_array_equal(ours.labels_, theirs.labels_)
    assert SparseHDBSCAN(40).fit(X).n_clusters_ in (0, 2)


def test_the_cosine_of_dense_and_sparse_rows():
    rng = np.random.default_rng(1)
    X = np.abs(rng.normal(size=(400, 6))) * (rng.random((400, 6)) < 0.7) + 1e-3
    X *= rng.uniform(0.1, 10, size=(400, 1))  # lengths do not matter
    ours = SparseHDBSCAN(8, 1, metric="cosine").fit(X)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    D = np.maximum(1 - unit @ unit.T, 0)
    np.fill_diagonal(D, 0)
    theirs = HDBSCAN(min_cluster_size=8, min_samples=1, metric="precomputed", copy=True).fit(D)
    assert adjusted_rand_score(ours.labels_, theirs.labels_) == 1
    np.testing.assert_allclose(ours.probabilities_, theirs.probabilities_, atol=1e-5)
    again = SparseHDBSCAN(8, 1, metric="cosine").fit(sparse.csr_array(X))
    np.testing.assert_array_equal(again.labels_, ours.labels_)
    with pytest.raises(InputError, match="row 3 is all zeros"):
        SparseHDBSCAN(metric="cosine").fit(
            np.where(np.arange(9)[:, None] == 3, 0.0, np.ones((9, 2)))
        )


def test_equal_objects_by_the_thousand():
    rng = np.random.default_rng(0)
    places = rng.integers(0, 6, size=(4000, 2)) * 1.0
    model = SparseHDBSCAN(20).fit(places)
    assert model.n_clusters_ == 36
    assert (model.labels_ >= 0).all()
    for label in range(36):
        assert len(np.unique(places[model.labels_ == label], axis=0)) == 1
    np.testing.assert_array_equal(model.predict(places[:50]), model.labels_[:50])
    assert (model.probabilities_ == 1).all()


@pytest.mark.parametrize("min_samples", [1, 6])
def test_a_new_object_is_where_it_would_be_if_it_came_alone(min_samples):
    X = blobs(500, seed=3, d=2, k=4)
    rng = np.random.default_rng(5)
    new = np.concatenate((X[:40] + rng.normal(size=(40, 2)) * 0.2, rng.uniform(-12, 12, (40, 2))))
    model = SparseHDBSCAN(25, min_samples).fit(X)
    D = cdist(new, X)
    own = np.sort(D, axis=1)[:, min_samples - 2] if min_samples > 1 else np.zeros(80)
    reach = np.maximum(np.maximum(D, reach_matrix(X, min_samples)[1]), own[:, None])
    first = [min(range(500), key=lambda j: (reach[i, j], D[i, j])) for i in range(80)]
    tree = model.condensed_tree_
    for i, j in enumerate(first):
        density = min(1 / reach[i, j], tree.object_lambdas[j])
        cluster = int(tree.object_clusters[j])
        while tree.births[cluster] > density:
            cluster = int(tree.cluster_parents[cluster])
        while cluster >= 0 and cluster not in model.selected_:
            cluster = int(tree.cluster_parents[cluster])
        wanted = -1 if cluster < 0 else model.selected_.tolist().index(cluster)
        assert model.predict(new[i : i + 1]).tolist() == [wanted]
    labels = model.predict(new)
    assert (labels[40:] < 0).any()
    assert (labels[:40] >= 0).mean() > 0.8
    firm = model.membership(new)
    assert (firm[labels < 0] == 0).all()
    assert ((firm[labels >= 0] > 0) & (firm <= 1)[labels >= 0]).all()
    far = model.predict([[1e6, 1e6]])
    assert far.tolist() == [-1]


def test_the_order_of_objects_does_not_matter_without_ties():
    X = blobs(600)
    order = np.random.default_rng(1).permutation(600)
    one, other = SparseHDBSCAN(15, 4).fit(X), SparseHDBSCAN(15, 4).fit(X[order])
    assert adjusted_rand_score(one.labels_[order], other.labels_) == 1
    np.testing.assert_allclose(one.probabilities_[order], other.probabilities_)


def test_columns_can_be_scaled_and_frames_have_labels():
    X = blobs(400, d=2)
    wide = X * [1.0, 1e4]
    scaled = SparseHDBSCAN(15, normalize=True).fit(wide)
    lengths = np.ptp(wide, axis=0)
    np.testing.assert_array_equal(scaled.labels_, SparseHDBSCAN(15).fit(wide / lengths).labels_)
    frame = pl.DataFrame({"x": X[:, 0], "y": X[:, 1], "kind": np.where(X[:, 0] > 0, "a", "b")})
    model = SparseHDBSCAN(15).fit(frame)
    assert model.feature_names_in_.tolist() == ["x", "y", "kind"]
    assert len(model.predict(frame.head(20))) == 20


def test_new_objects_of_another_type():
    X = blobs(300)
    for one, other in ((np.float32, np.float64), (np.float64, np.float32), (np.float32, np.int64)):
        model = SparseHDBSCAN(12).fit(X.astype(one))
        new = (X[:40] * 2).astype(other)
        np.testing.assert_array_equal(model.predict(new), model.predict(new.astype(one)))
    with pytest.raises(InputError, match="too large"):
        SparseHDBSCAN(12).fit(X.astype(np.float32)).predict(np.full((1, 4), 1e200))
    kept = model._index()
    model.predict(X)
    assert model._index() is kept  # made once


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 200),
    kind=st.sampled_from(["sets", "numbers", "both signs", "apart", "equal"]),
)
def test_the_tree_of_sparse_cosines_is_the_minimum_one(seed, n, kind):
    rng = np.random.default_rng(seed)
    d = int(rng.integers(2, 40))
    X = np.where(rng.random((n, d)) < 0.2, rng.lognormal(size=(n, d)), 0.0)
    if kind == "sets":
        X = np.where(X > 0, 1.0, 0.0)
    elif kind == "both signs":
        X *= rng.choice([-1.0, 1.0], size=(n, d))
    elif kind == "equal":
        X = X[rng.integers(0, max(1, n // 4), n)]
    elif kind == "apart":  # blocks that share no column
        X[: n // 2, d // 2 :] = 0
        X[n // 2 :, : d // 2] = 0
    X[np.arange(n), np.where(np.arange(n) < n // 2, 0, d - 1)] += ~X.any(axis=1)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    D = np.maximum(1 - unit @ unit.T, 0)
    np.fill_diagonal(D, 0)
    n_core = int(rng.integers(1, min(n, 7) + 1))
    cores = np.sort(D, axis=1)[:, n_core - 1]
    M = np.maximum(np.maximum(D, cores[:, None]), cores)
    rows = unit_rows(sparse.csr_array(X))
    tree = metric_tree(rows, n_core, "cosine", 1)
    np.testing.assert_allclose(tree.cores, cores, atol=1e-12)
    np.testing.assert_allclose(tree.reach, prim(M), atol=1e-12)
    np.testing.assert_allclose(M[tree.a, tree.b], tree.reach, atol=1e-12)
    edges = sparse.coo_array((np.ones(n - 1), (tree.a, tree.b)), (n, n))
    assert connected_components(edges, directed=False)[0] == 1
    again = metric_tree(rows, n_core, "cosine", 3)
    for name in ("a", "b", "reach", "cores"):
        np.testing.assert_array_equal(getattr(tree, name), getattr(again, name))


def test_a_model_comes_back_from_its_file(tmp_path):
    for X in (blobs(300), sparse.csr_array(np.maximum(blobs(300), 0))):
        model = SparseHDBSCAN(12, normalize=True).fit(X)
        model.save(tmp_path / "model.tacit")
        again = tacit.load(tmp_path / "model.tacit")
        for name in ("labels_", "probabilities_", "selected_", "cluster_persistence_"):
            np.testing.assert_array_equal(getattr(again, name), getattr(model, name))
        np.testing.assert_array_equal(again.predict(X[:60]), model.predict(X[:60]))
        copy = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(copy.predict(X[:60]), model.predict(X[:60]))
    state = model.to_state()
    with pytest.raises(InputError, match="'cluster_parents' do not come before"):
        SparseHDBSCAN.from_state(state | {"cluster_parents": state["cluster_parents"] + 1})


def test_what_is_shown():
    model = SparseHDBSCAN(40).fit(blobs())
    frame = model.to_frame()
    assert frame["label"].to_list() == [*range(model.n_clusters_), -1]
    assert frame["size"].sum() == 1500
    assert model.to_text().startswith(f"clusters  {model.n_clusters_} of ")
    assert "noise" in model._repr_html_()
    assert model.condensed_tree_.to_frame().height == model.condensed_tree_.n_clusters
    ax = model.plot()
    assert len(ax.collections) == model.condensed_tree_.n_clusters
    none = SparseHDBSCAN(5).fit(np.arange(3.0)[:, None])
    assert none.labels_.tolist() == [-1, -1, -1]
    assert none.to_text().startswith("clusters  0 objects")
    none.plot()


def test_stability_decides_between_a_cluster_and_its_parts():
    edges = [np.array(x, np.int32) for x in ([0, 1, 3, 4, 0], [1, 2, 4, 5, 3])]
    for apart, wanted in ((1.05, 1), (5.0, 2)):
        tree = SpanningTree(*edges, np.array([1.0, 1, 1, 1, apart]), np.ones(6))
        condensed = condense(tree, 3)
        chosen = Selection.choose(condensed, "eom", allow_single=True, epsilon=0.0).chosen
        assert len(chosen) == wanted


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"min_cluster_size": 1}, "min_cluster_size must be a whole number of at least 2, got 1"),
        ({"min_samples": 0}, "min_samples must be a whole number of at least 1"),
        ({"min_samples": 31}, "min_samples must be at most 30, the number of objects; got 31"),
        ({"metric": "taxi"}, "metric must be .*, got 'taxi'"),
        ({"cluster_selection_method": "best"}, "cluster_selection_method must be"),
        ({"cluster_selection_epsilon": -1}, "cluster_selection_epsilon must be"),
        ({"allow_single_cluster": 2}, "allow_single_cluster must be True or False"),
    ],
)
def test_wrong_parameters_are_named(changes, problem):
    with pytest.raises(InputError, match=problem):
        SparseHDBSCAN(**changes).fit(np.random.default_rng(0).normal(size=(30, 2)))
