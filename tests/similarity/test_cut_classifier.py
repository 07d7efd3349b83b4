"""NormalizedCutClassifier: scikit-learn's checks, what it predicts, what it refuses."""

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import tacit
from oracles.cuts import smallest_normalized_cut
from tacit import InputError, NormalizedCutClassifier


@parametrize_with_checks(
    [
        NormalizedCutClassifier(scale=1.0, random_state=0),
        NormalizedCutClassifier(scale=1.0, node_weights="neighbours", random_state=0),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def clusters(n=300, d=5, n_classes=2, seed=0, apart=2.5):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    middles = rng.normal(size=(n_classes, d)) * apart
    return middles[y] + rng.normal(size=(n, d)), y


@pytest.mark.parametrize("balance", [0.0, 0.1, 2.0])
@pytest.mark.parametrize("seed", range(3))
def test_all_pairs_near_is_the_cut_of_the_complete_graph(balance, seed):
    X, y = clusters(20, 3, seed=seed, apart=0.7)
    y[:4] = [0, 1, 0, 1]
    train, new = slice(0, 12), slice(12, 20)
    model = NormalizedCutClassifier(1.0, balance, resolution=1, random_state=0)
    predicted = model.fit(X[train], y[train]).predict(X[new])
    weights = np.exp(-cdist(X, X))
    np.fill_diagonal(weights, 0)
    seeds = np.where(np.arange(20) < 12, y, -1)
    assert predicted.tolist() == smallest_normalized_cut(weights, seeds, balance)[0][12:].tolist()


def test_neighbours_of_the_complete_graph():
    X, y = clusters(20, 3, seed=4, apart=0.7)
    model = NormalizedCutClassifier(
        1.0, 0.05, node_weights="neighbours", n_neighbors=2, resolution=1, random_state=0
    )
    predicted = model.fit(X[:12], y[:12]).predict(X[12:])
    weights = np.exp(-cdist(X, X))
    np.fill_diagonal(weights, 0)
    nearest = np.argsort(-weights[12:, :12], axis=1)[:, :2]
    shares = np.concatenate((np.zeros(12), y[nearest].mean(axis=1)))
    seeds = np.where(np.arange(20) < 12, y, -1)
    wanted, _ = smallest_normalized_cut(weights, seeds, 0.05, shares)
    assert predicted.tolist() == wanted[12:].tolist()


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("node_weights", ["degree", "neighbours"])
def test_clusters_are_told_apart(n_classes, node_weights):
    X, y = clusters(900, 6, n_classes)
    labels = np.array(["a", "b", "c", "d"])[y]
    model = NormalizedCutClassifier(1.0, 0.01, node_weights=node_weights, random_state=0)
    model.fit(X[:600], labels[:600])
    assert model.classes_.tolist() == ["a", "b", "c", "d"][:n_classes]
    assert model.score(X[600:], labels[600:]) > 0.95


def test_objects_decide_for_their_neighbours():
    # A chain of new objects leads from the one labelled object to the other: the gap decides.
    X = np.array([[0.0], [1], [2], [3], [6], [7], [8], [9]])
    model = NormalizedCutClassifier(1.0, 0.0, resolution=1, projection="none")
    model.fit(X[[0, 7]], [0, 1])
    assert model.predict(X[1:7]).tolist() == [0, 0, 0, 1, 1, 1]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_path_is_what_each_balance_predicts(n_classes):
    X, y = clusters(500, 4, n_classes, apart=0.3)
    model = NormalizedCutClassifier(1.0, random_state=0, resolution=6).fit(X[:300], y[:300])
    balances = [1.0, 0.0, 0.3]
    path = model.predict_path(X[300:], balances)
    assert path.shape == (3, 200)
    for balance, row in zip(balances, path, strict=True):
        assert row.tolist() == model.set_params(balance=balance).predict(X[300:]).tolist()
    assert n_classes > 2 or (path[0] != path[1]).any()


def test_members_of_the_second_class_grow_with_the_balance():
    X, y = clusters(400, 4, apart=0.5)
    model = NormalizedCutClassifier(1.0, resolution=6, random_state=0).fit(X[:250], y[:250])
    members = model.predict_path(X[250:], [0.0, 0.01, 0.1, 1.0, 10.0, 1000.0])
    assert (np.diff(members, axis=0) >= 0).all()
    assert members[0].sum() < members[-1].sum()


def test_threads_do_not_matter():
    X, y = clusters(600, 4, 3, apart=0.7)
    model = NormalizedCutClassifier(1.0, 0.1, resolution=8, random_state=0)
    predicted = [
        clone(model).set_params(n_jobs=jobs).fit(X[:300], y[:300]).predict(X[300:]).tolist()
        for jobs in (1, 2, 5)
    ]
    assert predicted[0] == predicted[1] == predicted[2]


def test_sparse_is_dense():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (200, 10)) * (rng.random((200, 10)) < 0.3).astype(float)
    y = (X[:, 0] + X[:, 1] > 1).astype(int)
    model = NormalizedCutClassifier(1.0, 0.1, resolution=4, projection="exact_pca")
    dense = model.fit(X[:120], y[:120]).predict(X[120:])
    stored = sparse.csr_array(X)
    stored.indices, stored.indptr = stored.indices.astype(np.int64), stored.indptr.astype(np.int64)
    assert model.fit(stored[:120], y[:120]).predict(stored[120:]).tolist() == dense.tolist()


def test_objects_that_nothing_is_near_get_the_class_of_the_nearest():
    rng = np.random.default_rng(0)
    X = np.concatenate((rng.normal(size=(50, 2)), rng.normal(size=(50, 2)) + 20))
    y = np.repeat(["left", "right"], 50)
    model = NormalizedCutClassifier(1.0, resolution=40, projection="none").fit(X, y)
    assert model.n_fallback_ == 0
    far = np.array([[6.0, 6.0], [14.0, 14.0], [0.0, 0.0]])
    assert model.predict(far).tolist() == ["left", "right", "left"]
    assert model.n_fallback_ == 2
    assert model.predict(X).tolist() == y.tolist()
    assert model.n_fallback_ == 0


def test_similarities_that_vanish_leave_the_projection_to_decide():
    X = np.array([[0.0], [1000.0], [0.0], [1.0]])
    model = NormalizedCutClassifier(50.0, resolution=1, projection="none").fit(X[:2], [0, 1])
    assert model.predict(np.array([[400.0], [700.0]])).tolist() == [0, 1]
    assert model.n_fallback_ == 2


def test_one_class_only():
    X, _ = clusters(40)
    model = NormalizedCutClassifier(1.0, random_state=0).fit(X, np.full(40, "only"))
    assert set(model.predict(X[:7])) == {"only"}


def test_duplicates_and_constant_columns():
    X = np.repeat([[0.0, 1.0, 0.0], [1.0, 1.0, 0.0]], 100, axis=0)
    y = np.repeat([0, 1], 100)
    model = NormalizedCutClassifier(5.0, 0.01, random_state=0).fit(X, y)
    assert model.predict(X).tolist() == y.tolist()


def test_a_similarity_of_ones_own():
    X, y = clusters(200, 3)

    def own(rows, others):
        return np.exp(-np.sqrt(np.square(rows - others).sum(axis=1)))

    same = {"balance": 0.1, "random_state": 0, "resolution": 5}
    given = NormalizedCutClassifier(kind=own, **same).fit(X[:120], y[:120]).predict(X[120:])
    known = NormalizedCutClassifier(1.0, **same).fit(X[:120], y[:120]).predict(X[120:])
    assert given.tolist() == known.tolist()


def test_scaled_columns():
    X, y = clusters(300, 3, seed=2)
    stretched = X * [1.0, 1e4, 1e-3]
    scaled = (X - X[:200].min(axis=0)) / np.ptp(X[:200], axis=0)
    model = NormalizedCutClassifier(5.0, normalize=True, resolution=5, projection="exact_pca")
    predicted = model.fit(stretched[:200], y[:200]).predict(stretched[200:])
    plain = clone(model).set_params(normalize=False).fit(scaled[:200], y[:200])
    assert predicted.tolist() == plain.predict(scaled[200:]).tolist()


@pytest.mark.parametrize("node_weights", ["degree", "neighbours"])
def test_grouping_of_identical_objects_changes_little(node_weights):
    X, y = clusters(400, 3, apart=1.5)
    copies = np.repeat(np.arange(400), 3)
    X, y = X[copies], y[copies]
    same = {"node_weights": node_weights, "resolution": 8, "projection": "exact_pca"}
    plain = NormalizedCutClassifier(1.0, 0.01, **same).fit(X[:900], y[:900])
    grouped = NormalizedCutClassifier(1.0, 0.01, group_width=0.2, **same).fit(X[:900], y[:900])
    wanted, predicted = plain.predict(X[900:]), grouped.predict(X[900:])
    assert len(predicted) == 300
    assert (predicted == wanted).mean() > 0.95


def test_frames_and_names():
    pl = pytest.importorskip("polars")
    X, y = clusters(120, 3)
    frame = pl.DataFrame(X, schema=["a", "b", "c"]).with_columns(
        colour=pl.Series(np.where(y == 1, "red", "blue"))
    )
    model = NormalizedCutClassifier(1.0, resolution=4).fit(frame[:80], y[:80])
    assert model.feature_names_in_.tolist() == ["a", "b", "c", "colour"]
    assert model.score(frame[80:], y[80:]) > 0.9


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"balance": -1}, "balance must be a finite number of at least 0, got -1"),
        ({"balance": float("nan")}, "balance must be"),
        ({"scale": 0}, "scale must be a finite number above 0, got 0"),
        ({"scale": "wide"}, "scale must be a finite number above 0, got 'wide'"),
        ({"node_weights": "size"}, "node_weights must be 'degree' or"),
        ({"n_neighbors": 0}, "n_neighbors"),
        ({"kind": "distance"}, "kind must be one of"),
        ({"n_jobs": 0}, "n_jobs"),
    ],
)
def test_bad_parameters(parameters, message):
    X, y = clusters(30)
    with pytest.raises(InputError, match=message):
        NormalizedCutClassifier(**parameters).fit(X, y)


def test_similarities_below_zero_are_refused():
    X = np.array([[1.0, 0.0], [-1.0, 0.1], [0.5, 1.0]])
    model = NormalizedCutClassifier(kind="cosine", resolution=1, projection="none")
    model.fit(X, [0, 1, 0])
    with pytest.raises(InputError, match="kind: similarities must be finite and not negative"):
        model.predict(X)


def test_balances_of_a_path_are_checked():
    X, y = clusters(30)
    model = NormalizedCutClassifier(1.0).fit(X, y)
    with pytest.raises(InputError, match="balances must be a finite number of at least 0, got -2"):
        model.predict_path(X, [0.1, -2])


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_values_that_are_no_numbers(value):
    X, y = clusters(30)
    model = NormalizedCutClassifier(1.0).fit(X, y)
    X[3, 1] = value
    with pytest.raises(ValueError, match=r"NaN|inf"):
        model.predict(X)
    with pytest.raises(ValueError, match=r"NaN|inf"):
        NormalizedCutClassifier().fit(X, y)


def test_a_failed_fit_leaves_the_model_as_it_was():
    X, y = clusters(60)
    model = NormalizedCutClassifier(1.0, random_state=0).fit(X, y)
    before = model.predict(X[:9]).tolist()
    with pytest.raises(InputError):
        model.fit(X, y[:5])
    assert model.predict(X[:9]).tolist() == before


def test_it_is_public():
    assert tacit.NormalizedCutClassifier is NormalizedCutClassifier


@pytest.mark.parametrize("balances", [0.1, [], np.zeros(0), "0.1", None])
def test_balances_that_are_no_list(balances):
    X, y = clusters(40)
    model = NormalizedCutClassifier(random_state=0).fit(X, y)
    with pytest.raises(InputError, match="balances must be a list of at least one number"):
        model.predict_path(X, balances)
