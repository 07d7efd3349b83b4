"""Exact neighbours, pairs and averages of sets, sparse vectors and points, against all pairs."""

from time import process_time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.neighbors import KNeighborsRegressor, KNeighborsTransformer, NearestNeighbors
from sklearn.utils.estimator_checks import parametrize_with_checks

import tacit
from oracles import sparse_neighbors as oracle
from tacit import InputError
from tacit.similarity import SimilarityJoin, SparseKNeighborsRegressor, SparseNeighbors

METRICS = ["jaccard", "overlap", "hamming", "cosine", "euclidean"]


@parametrize_with_checks(
    [SparseNeighbors(2), SparseNeighbors(2, metric="jaccard"), SimilarityJoin(0.5),
     SparseKNeighborsRegressor(2, metric="cosine")]
)  # fmt: skip
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def draw_rows(seed, n, d, *, signed=False):
    """Return rows of very different lengths and columns of very different counts, some twice."""
    rng = np.random.default_rng(seed)
    popular = 1 / np.arange(1, d + 1) ** rng.uniform(0, 1.5)
    chance = np.clip(popular * rng.uniform(0, 3, (n, 1)), 0, 1)
    values = rng.integers(1, 4, (n, d)) * (rng.choice([-1, 1], (n, d)) if signed else 1)
    rows = np.where(rng.random((n, d)) < chance, values, 0).astype(float)
    rows[rng.integers(0, n, n // 4)] = rows[rng.integers(0, n, n // 4)]
    return rows


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 10_000), st.sampled_from(METRICS), st.integers(1, 40), st.booleans(),
    st.booleans(),
)  # fmt: skip
def test_nearest_of_all_pairs(seed, metric, n, signed, dense):
    d = 1 + seed % 12
    X, Q = draw_rows(seed, n, d, signed=signed), draw_rows(seed + 1, 7, d, signed=signed)
    k = 1 + seed % n
    form = np.asarray if dense else sparse.csr_array
    model = SparseNeighbors(k, metric=metric).fit(form(X))
    wanted = oracle.distances(Q, X, metric)
    distances, neighbors = model.kneighbors(form(Q))
    assert np.allclose(distances, np.take_along_axis(wanted, neighbors, 1), atol=1e-8)
    if metric != "cosine":  # equal cosines may differ by rounding
        assert neighbors.tolist() == oracle.nearest(wanted, k).tolist()
    assert np.allclose(distances, np.sort(wanted, axis=1)[:, :k], atol=1e-8)
    assert (np.diff(distances) >= 0).all()
    assert (np.diff(neighbors)[np.diff(distances) == 0] > 0).all()
    again = model.set_params(n_jobs=3).kneighbors(form(Q))
    assert (again[0] == distances).all()
    assert (again[1] == neighbors).all()
    if k < n:
        wanted = oracle.distances(X, X, metric)
        distances, neighbors = model.kneighbors()
        assert (neighbors != np.arange(n)[:, None]).all()
        if metric != "cosine":
            assert neighbors.tolist() == oracle.nearest(wanted, k, itself=True).tolist()
        np.fill_diagonal(wanted, np.inf)
        assert np.allclose(distances, np.sort(wanted, axis=1)[:, :k], atol=1e-8)


def test_objects_of_one_number_and_queries_of_several():
    X, Q = np.array([[2.0, 2.0, 0.0], [0.0, 2.0, 2.0]]), np.array([[1.0, 2.0, 0.0], [3.0, 0, 0]])
    model = SparseNeighbors(2, metric="cosine").fit(sparse.csr_array(X))
    wanted = np.sort(oracle.distances(Q, X, "cosine"), axis=1)
    assert np.allclose(model.kneighbors(sparse.csr_array(Q))[0], wanted)
    graph = model.radius_neighbors_graph(sparse.csr_array(Q), 0.5, "distance")
    assert np.allclose(np.sort(graph.data), np.sort(wanted[wanted <= 0.5]))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_a_query_has_its_answer_in_any_batch(form):
    rng = np.random.default_rng(0)
    X = (rng.random((30, 11)) < 0.4) * 0.3
    Q = (rng.random((12, 11)) < 0.5) * np.where(np.arange(12) % 2, 1.0, rng.random((11, 12))).T
    Q[5] = 0
    model = SparseNeighbors(9, metric="cosine").fit(sparse.csr_array(X))
    for answer in (model.kneighbors, lambda Q: model.radius_neighbors(Q, 0.6)):
        together = answer(form(Q))
        for q in range(12):
            alone = answer(form(Q[q : q + 1]))
            assert [part[0].tolist() for part in alone] == [part[q].tolist() for part in together]
    near = model.radius_neighbors_graph(form(Q), 0.6, "distance")
    assert np.allclose(near.toarray(), oracle.distances(Q, X, "cosine") * (near.toarray() > 0))


@pytest.mark.parametrize(
    ("X", "query", "wanted"),
    [
        ([[-2.0, -2, -2], [0, 0, 0]], [-2.0, 1, 1], [1, 0]),
        ([[0.0, 1, 0], [1, 0, 0]], [1.0, 1, 2], [0, 1]),
    ],
)
def test_cosines_of_dense_rows_ascend_and_equal_ones_by_number(X, query, wanted):
    distances, neighbors = SparseNeighbors(2, metric="cosine").fit(X).kneighbors([query])
    assert distances[0, 0] <= distances[0, 1]
    assert neighbors.tolist() == [wanted]


def test_columns_that_no_object_has_cost_little():
    X = sparse.csr_array(([1.0] * 3, [0, 1, 2], [0, 1, 2, 3]), (3, 400_000))
    model = SparseNeighbors(2, metric="jaccard").fit(X)
    query = sparse.csr_array(np.ones((1, 400_000)))
    start = process_time()
    assert model.kneighbors(query)[1].tolist() == [[0, 1]]
    assert process_time() - start < 2  # seconds; 6 when each was removed by itself


def test_distances_of_0_have_no_sign():
    model = SparseNeighbors(1, metric="hamming").fit(np.eye(3)[[0, 0, 1]])
    assert not np.signbit(model.kneighbors()[0]).any()
    assert not np.signbit(model.radius_neighbors_graph(radius=0.0, mode="distance").data).any()


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_parallel_vectors_are_joined_however_long(form):
    row = np.random.default_rng(62).random(2_000)
    for d in range(1, 2_000, 13):
        join = SimilarityJoin(1.0, "cosine").fit(form(np.vstack((row[:d], 3 * row[:d]))))
        assert join.n_pairs_ == 1


@pytest.mark.parametrize("metric", ["jaccard", "overlap", "cosine"])
def test_pairs_without_similarity_are_none(metric):
    X = np.vstack((np.eye(3), [[1.0, 2, 0]]))
    assert SimilarityJoin(1e-16, metric).fit(X).to_frame()["first"].to_list() == [0, 1]


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(METRICS), st.booleans())
def test_within_a_radius(seed, metric, dense):
    n, d = 1 + seed % 50, 1 + seed % 9
    X, Q = draw_rows(seed, n, d), draw_rows(seed + 1, 5, d)
    form = np.asarray if dense else sparse.csr_array
    model = SparseNeighbors(1, metric=metric).fit(form(X))
    for queries, itself in ((Q, False), (X, True)):
        wanted = oracle.distances(queries, X, metric)
        # A radius between two distances, so that rounding decides nothing; and one that is exact.
        values = np.unique(wanted.round(9))
        radius = float((values[seed % len(values)] + values[-1]) / 2) + 1e-6
        near = wanted <= radius
        if itself:
            np.fill_diagonal(near, False)
        graph = model.radius_neighbors_graph(None if itself else form(queries), radius, "distance")
        found = np.zeros_like(near)
        found[np.repeat(np.arange(len(queries)), np.diff(graph.indptr)), graph.indices] = True
        assert (found == near).all()
        assert np.allclose(graph.data, wanted[near], atol=1e-8)
    if metric in ("jaccard", "overlap", "hamming"):
        value = float(oracle.distance(Q[0], X[0], metric))
        assert 0 in model.radius_neighbors(form(Q[:1]), value)[1][0]


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(["jaccard", "cosine", "overlap"]))
def test_joins_find_each_pair_once(seed, metric):
    X = draw_rows(seed, 40, 1 + seed % 10)
    similarity = 1 - oracle.distances(X, X, metric)
    for threshold in (0.5, 2 / 3, 0.8, 1.0):
        join = SimilarityJoin(threshold, metric).fit(sparse.csr_array(X))
        wanted = np.argwhere(np.triu(similarity >= threshold - 1e-12, 1))
        first, second, values = join.graph_.to_edges()
        assert np.column_stack((first, second)).tolist() == wanted.tolist()
        assert np.allclose(values, similarity[first, second])
        threads = SimilarityJoin(threshold, metric, n_jobs=3).fit(sparse.csr_array(X))
        assert (threads.graph_.csr != join.graph_.csr).nnz == 0
        assert join.n_pairs_ == len(wanted)


@pytest.mark.parametrize("metric", ["jaccard", "cosine", "hamming", "overlap"])
def test_many_blocks_long_lists_and_long_rows(metric):
    """More rows than a block holds, columns that most rows have, and rows of over 255 columns."""
    rng = np.random.default_rng(0)
    n, d = 9_000, 400
    chance = np.clip(3 / np.arange(1, d + 1), 0, 0.9)
    X = sparse.csr_array((rng.random((n, d)) < chance).astype(float))
    wide = (rng.random((40, d)) < 0.8).astype(float)
    X = sparse.csr_array(sparse.vstack([X, sparse.csr_array(wide)]))
    if metric == "cosine":
        X.data = rng.integers(1, 9, X.nnz).astype(float)
    queries = X[np.r_[0:25, n : n + 10]]
    model = SparseNeighbors(10, metric=metric).fit(X)
    distances, neighbors = model.kneighbors(queries)
    if metric == "overlap":
        dense, others = queries.toarray() > 0, X.toarray() > 0
        shared = dense.astype(float) @ others.T.astype(float)
        smaller = np.minimum(dense.sum(axis=1)[:, None], others.sum(axis=1)[None, :])
        wanted = 1 - np.divide(shared, smaller, out=np.zeros_like(shared), where=smaller > 0)
    else:
        rows = (queries.toarray(), X.toarray())
        rows = rows if metric == "cosine" else [row > 0 for row in rows]
        brute = NearestNeighbors(metric=metric, algorithm="brute").fit(rows[1])
        wanted = brute.kneighbors(rows[0], n_neighbors=X.shape[0])
        wanted = np.take_along_axis(wanted[0], wanted[1].argsort(axis=1), 1)
    assert np.allclose(distances, np.sort(wanted, axis=1)[:, :10], atol=1e-12)
    assert np.allclose(distances, np.take_along_axis(wanted, neighbors, 1), atol=1e-12)
    for i, row in enumerate(wanted):  # ties by number, where nothing is rounded
        if metric != "cosine":
            assert neighbors[i].tolist() == np.argsort(row.round(12), kind="stable")[:10].tolist()
    alone = [model.set_params(n_jobs=jobs).kneighbors(queries) for jobs in (1, 2)]
    assert all((one == two).all() for one, two in zip(*alone, strict=True))
    some = SimilarityJoin(0.8, "cosine" if metric == "hamming" else metric).fit(X[:300])
    assert some.n_pairs_ < 300 * 299 / 2


def test_it_is_what_scikit_learn_returns():
    X, _ = tacit.datasets.make_objects(300, 5, random_state=0)
    ours, theirs = SparseNeighbors(4).fit(X), KNeighborsTransformer(n_neighbors=4).fit(X)
    for mode in ("distance", "connectivity"):
        a = ours.set_params(mode=mode).transform(X)
        b = theirs.set_params(mode=mode).transform(X)
        assert (a.indices == b.indices).all()
        assert np.allclose(a.data, b.data)
    graph = ours.near_graph(4)
    assert graph.measure == "distance"
    assert graph.n_edges >= 600


def test_averages_of_several_outputs_by_distance():
    X, _ = tacit.datasets.make_objects(300, 5, random_state=0)
    Y = X[:, :2] @ [[1.0, 2.0], [0.5, -1.0]]
    for weights in ("uniform", "distance"):
        for y in (Y, Y[:, 0]):
            ours = SparseKNeighborsRegressor(4, weights=weights).fit(X[:200], y[:200])
            theirs = KNeighborsRegressor(4, weights=weights).fit(X[:200], y[:200])
            np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-6)
    frame = {"a": [1.0, 2.0, 3.0], "b": [0.0, 1.0, 0.0], "y": [5.0, 6.0, 7.0]}
    by_name = SparseKNeighborsRegressor(1).fit(tacit.Table(frame, discretise=None), "y")
    assert by_name.predict(tacit.Table(frame, discretise=None)).tolist() == [5.0, 6.0, 7.0]


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_averages_of_all_objects_but_itself(metric, form):
    X, y = draw_rows(1, 8, 5), 2.0 ** np.arange(8)
    model = SparseKNeighborsRegressor(40, metric=metric).fit(form(X), y)
    np.testing.assert_allclose(model.predict(None), (y.sum() - y) / 7)
    np.testing.assert_allclose(model.predict(form(X)), np.full(8, y.mean()))


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"n_neighbors": "a"}, "n_neighbors must be a whole number"),
        ({"n_neighbors": 0}, "n_neighbors must be a whole number of at least 1"),
        ({"weights": "nearest"}, "weights must be"),
        ({"n_jobs": "all"}, "n_jobs"),
    ],
)
def test_parameters_of_an_average_are_checked_once_more(changes, problem):
    X = np.eye(3)
    model = SparseKNeighborsRegressor(2).fit(X, [1.0, 2.0, 3.0]).set_params(**changes)
    with pytest.raises(InputError, match=problem):
        model.predict(X)


def test_one_object_has_no_neighbours():
    frame = SparseNeighbors().fit([[1.0]]).to_frame()
    assert frame.is_empty()
    assert frame.schema == SparseNeighbors(1).fit([[1.0], [2.0]]).to_frame().schema
    with pytest.raises(InputError, match="X: the only training object has no neighbours"):
        SparseKNeighborsRegressor().fit([[1.0]], [1.0]).predict(None)


@pytest.mark.parametrize("metric", METRICS)
def test_files(tmp_path, metric):
    X = sparse.csr_array(draw_rows(3, 30, 8))
    path = tmp_path / "model.tacit"
    model = SparseNeighbors(3, metric=metric).fit(X)
    model.save(path)
    again = tacit.load(path)
    assert all(
        (a == b).all() for a, b in zip(model.kneighbors(X), again.kneighbors(X), strict=True)
    )
    regressor = SparseKNeighborsRegressor(3, metric=metric).fit(X, np.arange(60.0).reshape(30, 2))
    regressor.save(path)
    assert (tacit.load(path).predict(X) == regressor.predict(X)).all()
    join = SimilarityJoin(0.7).fit(X)
    join.save(path)
    assert (tacit.load(path).graph_.csr != join.graph_.csr).nnz == 0


def test_x_is_not_changed_and_stored_zeros_say_nothing():
    X = sparse.csr_array(([1.0, 0.0, 2.0, 1.0], ([0, 0, 1, 2], [1, 2, 2, 1])), (3, 4))
    before = X.data.copy()
    for metric in ("jaccard", "cosine"):
        distances, neighbors = SparseNeighbors(1, metric=metric).fit(X).kneighbors()
        assert neighbors.ravel().tolist() == [2, 0, 0]
        assert distances.ravel().tolist() == [0.0, 1.0, 0.0]
    assert (X.data == before).all()


def test_what_is_refused():
    X = np.eye(3)
    model = SparseNeighbors(3).fit(X)
    with pytest.raises(InputError, match="at most 2, the number of other objects"):
        model.kneighbors()
    with pytest.raises(InputError, match="metric must be"):
        SparseNeighbors(metric="manhattan").fit(X)
    with pytest.raises(InputError, match="threshold must be a finite number above 0"):
        SimilarityJoin(0.0).fit(X)
    with pytest.raises(InputError, match="requires y to be passed"):
        SparseKNeighborsRegressor().fit(X, None)
    with pytest.raises(InputError, match="radius must be"):
        model.radius_neighbors(X, -1)


def test_rows_of_zeros_are_within_a_radius_of_1():
    X = np.vstack((np.random.default_rng(0).normal(size=(6, 3)), np.zeros((2, 3))))
    model = SparseNeighbors(2, metric="cosine")
    dense = model.fit(X).radius_neighbors_graph(None, 1.0).toarray()
    assert (dense == model.fit(sparse.csr_array(X)).radius_neighbors_graph(None, 1.0)).all()
    assert (dense[:, 6:].sum(axis=1) >= 1).all()


def test_queries_that_are_too_far_are_refused():
    X = np.random.default_rng(0).random((1100, 2)) * 1e-160
    with pytest.raises(InputError, match="row 0 is too far"):
        SparseNeighbors(100).fit(X).kneighbors([[1.0, 1.0], [2.0, 1.0]])
    tiny = sparse.csr_array(np.array([[1e-310, 0], [0, 2e-310]]))
    assert SparseNeighbors(1, metric="cosine").fit(tiny).kneighbors()[0].tolist() == [[1], [1]]
