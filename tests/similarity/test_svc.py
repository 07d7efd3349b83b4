"""SparseSVC: the decision function of LIBSVM on the matrix of near pairs, and what is around it."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from tacit import InputError, SparseSVC

UNWEIGHTED = "weights are factors of C; the projection, and with it the grid, knows none"
PLATT = "predictions follow Platt's probabilities, which are fitted apart from the decisions"


def expected(estimator):
    failures = {
        "check_sample_weight_equivalence_on_dense_data": UNWEIGHTED,
        "check_sample_weight_equivalence_on_sparse_data": UNWEIGHTED,
    }
    return failures | ({"check_classifiers_train": PLATT} if estimator.probability else {})


@parametrize_with_checks(
    [
        SparseSVC(random_state=0),
        SparseSVC(
            0.5,
            probability=True,
            taper=False,
            indefinite="ignore",
            resolution=3,
            normalize=False,
            random_state=0,
        ),
    ],
    expected_failed_checks=expected,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def objects(n=400, seed=0, n_classes=2, d=5):
    """Return objects around a few centres, and classes by a border between them."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(12, d)) * 2
    kind = rng.integers(0, 12, n)
    X = centres[kind] + rng.normal(size=(n, d)) * 0.6
    return X, kind % n_classes


def dense_kernel(model, X, others=None):
    """Return the matrix of near pairs, all of it; with one object list its diagonal, too."""
    sc = model.computation_
    scaled = model._scaling or (lambda numbers: numbers)
    rows = scaled(X)
    columns = rows if others is None else scaled(others)
    A, B = sc._project(rows), sc._project(columns)
    cells = np.abs(sc.grid_.cells(A)[:, None] - sc.grid_.cells(B)[None]).max(axis=2)
    squares = np.square(rows[:, None] - columns[None]).sum(axis=2)
    K = np.where(cells <= 1, np.exp(-model.scale_ * squares), 0.0)
    if model.taper:
        for j, k in enumerate(sc.grid_.resolution):
            if k > 2:
                gaps = np.abs(A[:, None, j] - B[None, :, j]) / sc.grid_.widths[j]
                K *= np.maximum(1 - gaps, 0)
    if others is None:
        np.fill_diagonal(K, 1 + model.shift_)
    return K


TRUNCATED = {"taper": False, "normalize": False}  # as Hochbaum and Baumann have it


@pytest.mark.filterwarnings("ignore:.* was added to the diagonal")
@pytest.mark.parametrize(
    ("scale", "settings"),
    [
        (0.05, TRUNCATED),
        (0.5, TRUNCATED),
        (2.0, TRUNCATED | {"indefinite": "ignore"}),
        (1.0, {}),
        ("auto", {}),
        (0.05, {"normalize": False}),
    ],
)
@pytest.mark.parametrize("C", [0.5, 10.0])
def test_decisions_equal_those_of_libsvm(scale, settings, C):
    X, y = objects(500)
    X, y, new = X[:400], y[:400], X[400:]
    model = SparseSVC(scale, C, resolution=4, tol=1e-7, random_state=0, **settings).fit(X, y)
    peer = SVC(C=C, kernel="precomputed", tol=1e-7).fit(dense_kernel(model, X), y)
    expected = peer.decision_function(dense_kernel(model, new, X))
    np.testing.assert_allclose(model.decision_function(new), expected, atol=1e-4)
    np.testing.assert_array_equal(model.predict(new), peer.predict(dense_kernel(model, new, X)))
    assert set(model.support_) == set(peer.support_)


def test_each_of_several_classes_is_told_from_the_rest():
    X, y = objects(500, n_classes=4)
    X, y, new = X[:400], y[:400], X[400:]
    model = SparseSVC(0.5, resolution=4, tol=1e-7, random_state=0).fit(X, y)
    decisions = model.decision_function(new)
    K, T = dense_kernel(model, X), dense_kernel(model, new, X)
    for k in range(4):
        peer = SVC(kernel="precomputed", tol=1e-7).fit(K, y == k)
        np.testing.assert_allclose(decisions[:, k], peer.decision_function(T), atol=1e-4)
    np.testing.assert_array_equal(model.predict(new), decisions.argmax(axis=1))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_number_of_threads_does_not_matter(n_classes):
    X, y = objects(300, n_classes=n_classes)
    models = [SparseSVC(probability=True, random_state=0, n_jobs=jobs).fit(X, y) for jobs in (1, 3)]
    for name in ("dual_coef_", "intercept_", "support_", "n_iter_", "_sigmoids"):
        np.testing.assert_array_equal(getattr(models[0], name), getattr(models[1], name))
    np.testing.assert_array_equal(*(model.predict_proba(X) for model in models))


@pytest.mark.parametrize("normalize", [False, True])
def test_sparse_numbers_are_as_good_as_dense_ones(normalize):
    X, y = objects(300)
    X[X < 0.5] = 0
    dense = SparseSVC(resolution=4, normalize=normalize, random_state=0).fit(X, y)
    for kind in (sparse.csr_array, sparse.csc_array, sparse.coo_matrix):
        result = SparseSVC(resolution=4, normalize=normalize, random_state=0).fit(kind(X), y)
        expected = dense.decision_function(X)
        np.testing.assert_allclose(result.decision_function(kind(X)), expected, atol=1e-2)


def test_normalise_measures_between_scaled_columns():
    X, y = objects(300)
    lengths = X.max(axis=0) - X.min(axis=0)
    shared = {"scale": 0.5, "resolution": 4}
    scaled = SparseSVC(**shared, normalize=False, random_state=0, tol=1e-6).fit(X / lengths, y)
    itself = SparseSVC(**shared, normalize=True, random_state=0, tol=1e-6).fit(X, y)
    expected = scaled.decision_function(X / lengths)
    np.testing.assert_allclose(itself.decision_function(X), expected, atol=1e-4)


def test_weights_are_factors_of_c():
    X, y = objects(200)
    weights = np.random.default_rng(1).integers(0, 4, 200).astype(float)
    model = SparseSVC(0.5, resolution=3, random_state=0, tol=1e-7)
    model.fit(X, y, weights)
    K = dense_kernel(model, X)
    kept = np.flatnonzero(weights)
    peer = SVC(kernel="precomputed", tol=1e-7)
    peer.fit(K[np.ix_(kept, kept)], y[kept], sample_weight=weights[kept])
    expected = peer.decision_function(K[:, kept])
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-4)
    assert weights[model.support_].all()
    heavy = SparseSVC(0.5, resolution=3, random_state=0, C=3.0).fit(X, y)
    same = SparseSVC(0.5, resolution=3, random_state=0).fit(X, y, np.full(200, 3.0))
    np.testing.assert_array_equal(heavy.dual_coef_, same.dual_coef_)


def test_class_weights_are_factors_of_c():
    X, y = objects(200)
    by_class = SparseSVC(class_weight={0: 1.0, 1: 5.0}, random_state=0).fit(X, y)
    by_object = SparseSVC(random_state=0).fit(X, y, np.where(y == 1, 5.0, 1.0))
    np.testing.assert_array_equal(by_class.dual_coef_, by_object.dual_coef_)
    balanced = SparseSVC(class_weight="balanced", random_state=0).fit(X, y)
    assert np.abs(balanced.dual_coef_).max() > 0


def test_probabilities_are_shares_and_follow_the_decisions():
    X, y = objects(900, seed=4)
    model = SparseSVC(probability=True, resolution=4, random_state=0).fit(X[:600], y[:600])
    shares = model.predict_proba(X[600:])
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    order = np.argsort(model.decision_function(X[600:]))
    assert (np.diff(shares[order, 1]) >= 0).all()
    sure = shares.max(axis=1) > 0.9
    right = model.classes_[shares.argmax(axis=1)] == y[600:]
    assert sure.mean() > 0.3
    assert right[sure].mean() > 0.85


def test_probabilities_of_several_classes_are_shares():
    X, y = objects(600, n_classes=3)
    model = SparseSVC(probability=True, resolution=4, random_state=0).fit(X, y)
    shares = model.predict_proba(X)
    assert shares.shape == (600, 3)
    assert (shares >= 0).all()
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert (shares.argmax(axis=1) == y).mean() > 0.8


def test_there_are_no_probabilities_unless_asked_for():
    X, y = objects(100)
    model = SparseSVC(random_state=0).fit(X, y)
    assert not hasattr(model, "predict_proba")
    model.set_params(probability=True)
    with pytest.raises(InputError, match="probability was not True"):
        model.predict_proba(X)


def wide():
    """Return objects and a model whose kernel is far from definite: wide, on a fine grid."""
    X, y = objects(600)
    return X, y, SparseSVC(scale=0.01, resolution=8, random_state=0, **TRUNCATED)


def test_a_shift_makes_the_matrix_definite():
    X, y, model = wide()
    with pytest.warns(UserWarning, match="was added to the diagonal of ones, since the smallest"):
        model.fit(X, y)
    lowest = np.linalg.eigvalsh(dense_kernel(model, X))[0]
    assert model.smallest_eigenvalue_ < -1
    assert model.shift_ == -model.smallest_eigenvalue_
    assert -1e-9 < lowest < 0.01 * model.shift_


@pytest.mark.parametrize("p", [1, 2, 3, 4])
@pytest.mark.parametrize("scale", [1e-6, 0.3])
def test_a_tapered_kernel_is_definite_in_any_number_of_dimensions(p, scale):
    rng = np.random.default_rng(p)
    X = np.concatenate((rng.normal(size=(250, 6)), rng.integers(0, 3, size=(150, 6)) * 1.0))
    y = np.arange(400) % 2
    model = SparseSVC(scale, resolution=4, n_dimensions=p, random_state=0).fit(X, y)
    K = dense_kernel(model, X)
    assert (K == 0).any()
    assert np.linalg.eigvalsh(K)[0] > -1e-10
    assert (model.shift_, model.smallest_eigenvalue_) == (0, 0)
    cut = SparseSVC(scale, resolution=4, n_dimensions=p, random_state=0, taper=False)
    cut.set_params(indefinite="warn")
    if scale < 0.1:  # without the taper it is not
        with pytest.warns(UserWarning, match="no positive definite kernel"):
            cut.fit(X, y)


def test_as_shipped_it_is_as_good_as_svc():
    X, y = load_breast_cancer(return_X_y=True)
    new = np.arange(len(y)) % 3 == 0
    model = SparseSVC(random_state=0).fit(X[~new], y[~new])
    assert model.computation_.density_ == 1  # few objects: all pairs
    assert model.score(X[new], y[new]) >= SVC().fit(X[~new], y[~new]).score(X[new], y[new]) + 0.02


def test_many_objects_get_as_coarse_a_grid_as_fits():
    X, y = objects(4100)
    model = SparseSVC(random_state=0).fit(X, y)
    sc = model.computation_
    k = sc.grid_.resolution[0]
    assert 2 * sc.n_pairs_ + 4100 <= 1500 * 4100 < 2 * sc.forecast(k - 1).n_pairs + 4100
    assert model.score(X, y) > 0.9


def test_the_scale_follows_the_data():
    X, y = objects(400)
    found = []
    for unit in (1e-3, 1.0, 1e4):  # whatever columns are measured in
        model = SparseSVC(resolution=4, normalize=False, random_state=0).fit(X * unit, y)
        found.append(model.scale_ * (X * unit).var(axis=0).sum())
    assert np.abs(np.array([0.5, 1, 2, 4, 8]) - found[0]).min() < 1e-9
    np.testing.assert_allclose(found, found[0])
    fixed = SparseSVC(model.scale_, resolution=4, normalize=False, random_state=0)
    expected = fixed.fit(X * 1e4, y).decision_function(X)
    np.testing.assert_array_equal(model.decision_function(X), expected)


def test_without_a_shift_there_is_a_warning():
    X, y, model = wide()
    with pytest.warns(UserWarning, match="the smallest eigenvalue is -"):
        model.set_params(indefinite="warn").fit(X, y)
    assert model.shift_ == 0
    assert model.smallest_eigenvalue_ < -1
    model.set_params(indefinite="ignore").fit(X, y)
    assert model.shift_ == 0
    assert model.smallest_eigenvalue_ is None


def test_a_definite_matrix_is_left_alone():
    X, y = objects(200)
    model = SparseSVC(0.5, resolution=1, random_state=0, indefinite="warn", **TRUNCATED).fit(X, y)
    assert model.shift_ == 0
    assert model.smallest_eigenvalue_ > -1e-6


def test_objects_far_from_all_support_follow_the_nearest_object():
    X, y = objects(300)
    model = SparseSVC(resolution=30, random_state=0).fit(X, y)
    far = np.random.default_rng(2).uniform(X.min(), X.max(), size=(200, 5))
    decisions = model.decision_function(far)
    near = dense_kernel(model, far, X[model.support_])
    alone = ~near.any(axis=1)
    assert model.n_fallback_ == alone.sum() > 0
    coords, others = (model.computation_._project(model._scaling(Z)) for Z in (X, far))
    distances = np.square(others[:, None] - coords[None]).sum(axis=2)
    nearest = distances.argmin(axis=1)[alone]
    inside = dense_kernel(model, X)[:, model.support_] @ model.dual_coef_[0] + model.intercept_
    np.testing.assert_allclose(decisions[alone], inside[nearest], atol=1e-9)
    model.predict(X)
    assert model.n_fallback_ <= 300


@pytest.mark.parametrize(
    "labels", [np.array(["no", "yes"]), np.array([3, 7]), np.array([False, True])]
)
def test_labels_of_any_type_come_back(labels):
    X, y = objects(150)
    model = SparseSVC(random_state=0).fit(X, labels[y])
    result = model.predict(X)
    assert result.dtype.kind == labels.dtype.kind or result.dtype == object
    assert (result == labels[y]).mean() > 0.8


def test_equal_objects_by_the_thousand():
    X = np.repeat(np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0]]), 700, axis=0)
    y = np.repeat([0, 1, 1], 700)
    y[:50] = 1  # some are on the wrong side
    model = SparseSVC(random_state=0).fit(X, y)
    assert model.predict([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0]]).tolist() == [0, 1, 1]


def test_constant_columns_and_one_block():
    rng = np.random.default_rng(0)
    X = np.column_stack((np.ones(60), rng.normal(size=60)))
    y = (X[:, 1] > 0).astype(int)
    model = SparseSVC(resolution=1, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.9
    same = SparseSVC(random_state=0).fit(np.ones((10, 3)), [0, 1] * 5)
    assert set(same.predict(np.ones((4, 3)))) <= {0, 1}


@pytest.mark.parametrize("seed", range(3))
def test_groups_of_equal_objects_count_as_often_as_they_have_members(seed):
    X, y = objects(400, seed)
    X = np.round(X * 2) / 2
    X = np.concatenate((X, X[:150]))
    y = np.concatenate((y, y[:150]))
    alone = SparseSVC(0.5, resolution=3, tol=1e-7, random_state=0).fit(X, y)
    model = clone(alone).set_params(group_width=0.0).fit(X, y)
    assert len(model._decided[0]) < 550
    np.testing.assert_allclose(model.decision_function(X), alone.decision_function(X), atol=1e-3)
    weighted = clone(model).fit(X, y, np.full(550, 2.0))
    heavier = clone(model).set_params(C=2.0).fit(X, y)
    np.testing.assert_array_equal(weighted.dual_coef_, heavier.dual_coef_)


def test_indices_of_64_bits_are_as_good():
    X, y = objects(150)
    narrow = sparse.csr_array(np.where(X > 0, X, 0.0))
    wide = narrow.copy()
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    first, second = (SparseSVC(random_state=0).fit(data, y) for data in (narrow, wide))
    np.testing.assert_array_equal(first.decision_function(wide), second.decision_function(narrow))


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"scale": 0}, "scale must be a finite number above 0, got 0"),
        ({"scale": np.nan}, "scale must be a finite number above 0"),
        ({"scale": "wide"}, "scale must be a finite number above 0, got 'wide'"),
        ({"taper": "yes"}, "taper must be True or False, got 'yes'"),
        ({"C": -1}, "C must be a finite number above 0, got -1"),
        ({"tol": 0.0}, "tol must be a finite number above 0"),
        ({"max_iter": 0}, "max_iter must be a whole number of at least 1, got 0"),
        ({"indefinite": "pray"}, "indefinite must be .*, got 'pray'"),
        ({"class_weight": "heavy"}, "class_weight"),
    ],
)
def test_wrong_parameters_are_named(changes, problem):
    X, y = objects(40)
    with pytest.raises(InputError, match=problem):
        SparseSVC(**changes).fit(X, y)


def test_wrong_input_is_named():
    X, y = objects(40)
    with pytest.raises(InputError, match="y has one class only"):
        SparseSVC().fit(X, np.zeros(40))
    with pytest.raises(InputError, match="sample_weight must be one number for each of 40"):
        SparseSVC().fit(X, y, np.ones(39))
    with pytest.raises(InputError, match="finite and not negative"):
        SparseSVC().fit(X, y, np.full(40, -1.0))
    with pytest.raises(InputError, match="leaves objects of one class only"):
        SparseSVC().fit(X, y, (y == 1).astype(float))
    with pytest.raises(InputError, match="y must have 40 entries"):
        SparseSVC().fit(X, y[:39])
    with pytest.raises(NotFittedError):
        SparseSVC().decision_function(X)


def test_few_iterations_are_warned_of():
    X, y = objects(200)
    with pytest.warns(ConvergenceWarning, match="max_iter=3"):
        model = SparseSVC(max_iter=3, random_state=0).fit(X, y)
    assert model.n_iter_.tolist() == [3]


def test_a_model_survives_pickling_and_cloning():
    X, y = objects(150)
    model = SparseSVC(probability=True, random_state=0).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(clone(model).fit(X, y).predict(X), model.predict(X))


def test_balanced_weights_count_objects_and_not_those_that_stand_for_them():
    rng = np.random.default_rng(0)
    X = np.concatenate((np.repeat(rng.normal(size=(20, 3)), 9, axis=0), rng.normal(size=(60, 3))))
    y = np.repeat([0, 1], [180, 60])
    shared = {"scale": 2.0, "resolution": 3, "group_width": 0.0, "random_state": 0}
    grouped = SparseSVC(class_weight="balanced", **shared).fit(X, y)
    told = SparseSVC(class_weight={0: 240 / 2 / 180, 1: 240 / 2 / 60}, **shared).fit(X, y)
    assert len(grouped._decided[0]) < len(X)
    np.testing.assert_array_equal(grouped.decision_function(X), told.decision_function(X))


@pytest.mark.parametrize("weights", [["a"] * 20, [object()] * 20])
def test_weights_that_are_no_numbers(weights):
    X = np.random.default_rng(0).normal(size=(20, 3))
    with pytest.raises(InputError, match="sample_weight must be numbers"):
        SparseSVC().fit(X, np.arange(20) % 2, weights)


def test_one_class_is_named_as_it_was_given():
    with pytest.raises(InputError, match="y has one class only, 7; two are needed"):
        SparseSVC().fit(np.eye(4), np.full(4, 7))
