"""tune: the scores of single fits, without doing their work again and again."""

import numpy as np
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, f1_score

import tacit
from tacit import InputError, NormalizedCutClassifier, SparseKNeighborsClassifier, SparseSVC, tune
from tacit.similarity.tuning.tune import _split

SHARED = {"resolution": 5, "random_state": 0}
CASES = [
    (SparseKNeighborsClassifier(algorithm="exact", **SHARED), {"n_neighbors": [1, 2, 5, 9]}),
    (SparseKNeighborsClassifier(reach=0.0, **SHARED), {"n_neighbors": [3, 1]}),
    (
        SparseKNeighborsClassifier(algorithm="exact", **SHARED),
        {"n_neighbors": [1, 4], "weights": ["uniform", "distance"]},
    ),
    (NormalizedCutClassifier(**SHARED), {"scale": [1.0, 4.0], "balance": [0.1, 0.0, 5.0]}),
    (
        NormalizedCutClassifier(node_weights="neighbours", **SHARED),
        {"scale": [2.0], "balance": [0.01, 1.0], "n_neighbors": [1, 3]},
    ),
    (NormalizedCutClassifier(kind="rbf", **SHARED), {"scale": [0.5], "balance": [0.1]}),
    (SparseSVC(**SHARED), {"scale": [0.05, 0.5], "C": [1.0, 10.0]}),
    (SparseSVC(indefinite="ignore", class_weight="balanced", **SHARED), {"scale": [0.5, 3.0]}),
]


def objects(n=500, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(10, 5)) * 2
    kind = rng.integers(0, 10, n)
    X = centres[kind] + rng.normal(size=(n, 5)) * 0.8
    X[:, 2] *= 10
    return X, kind % n_classes


def parts(n):
    return _split(n, (0.6, 0.2, 0.2), tacit.parameters.make_generator(7))


@pytest.mark.parametrize(("classifier", "grid"), CASES)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_scores_are_those_of_single_fits(classifier, grid, n_classes):
    X, y = objects(n_classes=n_classes)
    tuned = tune(classifier, X, y, grid=grid, random_state=7)
    train, validation, test = parts(len(X))
    assert tuned.sizes == (len(train), len(validation), len(test)) == (300, 100, 100)
    assert tuned.frame.height == 2 * np.prod([len(values) for values in grid.values()])
    average = "binary" if n_classes == 2 else "macro"
    for row in tuned.frame.iter_rows(named=True):
        scores = row.pop("accuracy"), row.pop("f1")
        model = clone(classifier).set_params(**row).fit(X[train], y[train])
        told = model.predict(X[validation])
        expected = (
            accuracy_score(y[validation], told),
            f1_score(y[validation], told, average=average),
        )
        np.testing.assert_allclose(scores, expected, atol=1e-12)
    best = clone(classifier).set_params(**tuned.best_params).fit(X[train], y[train])
    assert tuned.test_score == pytest.approx(best.score(X[test], y[test]))
    assert tuned.best_score == tuned.frame["accuracy"].max()


def test_the_first_of_equals_is_best():
    X, y = objects(300)
    X = X + 100 * y[:, None]  # all combinations are perfect
    grid = {"n_neighbors": [3, 1, 5]}
    tuned = tune(SparseKNeighborsClassifier(**SHARED), X, y, grid=grid, random_state=0)
    assert tuned.best_score == tuned.test_score == 1.0
    assert tuned.best_params == {"normalize": False, "n_neighbors": 3}
    assert tuned.best_estimator.get_params()["n_neighbors"] == 3


def test_the_best_estimator_is_fitted_to_all_objects_unless_told_otherwise():
    X, y = objects(300)
    model, grid = SparseSVC(**SHARED), {"scale": [0.5]}
    all_objects = tune(model, X, y, grid=grid, random_state=0)
    alone = tune(model, X, y, grid=grid, random_state=0, refit=False)
    assert len(all_objects.best_estimator.computation_.coords_) == 300
    assert len(alone.best_estimator.computation_.coords_) == 180
    assert all_objects.test_score == alone.test_score
    assert "refit" in all_objects.seconds
    assert "refit" not in alone.seconds
    assert not hasattr(model, "dual_coef_")


def test_the_grid_can_be_tuned_as_well():
    X, y = objects(300)
    grid = {"resolution": [3, 8], "scale": [0.1, 1.0], "n_dimensions": [2]}
    tuned = tune(SparseSVC(random_state=0), X, y, grid=grid, normalize=[True], random_state=1)
    expected = ["resolution", "n_dimensions", "normalize", "scale", "accuracy", "f1"]
    assert tuned.frame.columns == expected
    assert tuned.frame.height == 4
    assert tuned.best_estimator.computation_.grid_.n_dimensions == 2


def test_groups_are_tuned_as_they_are_fitted():
    X, y = objects(400)
    X = np.round(X)
    grid = {"group_width": [None, 0.5], "n_neighbors": [1, 5]}
    model = SparseKNeighborsClassifier(algorithm="exact", **SHARED)
    tuned = tune(model, X, y, grid=grid, normalize=[False], random_state=7)
    train, validation, _ = parts(400)
    for row in tuned.frame.iter_rows(named=True):
        params = {name: row[name] for name in ("group_width", "n_neighbors")}
        single = clone(model).set_params(**params).fit(X[train], y[train])
        assert row["accuracy"] == pytest.approx(single.score(X[validation], y[validation]))


def test_f1_can_decide():
    X, y = objects(400, seed=3)
    y = (y + np.random.default_rng(0).integers(0, 5, 400) > 3).astype(int)
    tuned = tune(SparseKNeighborsClassifier(**SHARED), X, y, scoring="f1", random_state=0)
    assert tuned.best_score == tuned.frame["f1"].max()
    assert tuned.frame.height == 50


def test_defaults_are_so_many():
    X, y = objects(120)
    for model, height in (
        (SparseKNeighborsClassifier(**SHARED), 25),
        (NormalizedCutClassifier(**SHARED), 15 * 9),
        (NormalizedCutClassifier(node_weights="neighbours", **SHARED), 15 * 9 * 3),
        (SparseSVC(**SHARED), 8 * 3),
        (SparseSVC(random_state=0), 3 * 8 * 3),
    ):
        assert tune(model, X, y, normalize=[False], random_state=0).frame.height == height


def test_frames_tables_and_sparse_arrays_are_taken():
    X, y = objects(200)
    grid, model = {"n_neighbors": [1, 3]}, SparseKNeighborsClassifier(**SHARED)
    frame = pl.DataFrame(X, schema=[f"c{k}" for k in range(5)])
    first = tune(model, X, y, grid=grid, random_state=0)
    for data in (frame, frame.to_pandas(), sparse.csr_array(X)):
        tuned = tune(model, data, pl.Series(y), grid=grid, random_state=0)
        assert tuned.frame.equals(first.frame)
    named = np.array(["no", "yes"])[y]
    assert tune(model, X, named, grid=grid, random_state=0).frame.equals(first.frame)
    table = tacit.Table(pl.DataFrame({"a": (X[:, 0] > 0).tolist(), "b": named.tolist()}))
    assert tune(model, table, y, grid=grid, random_state=0).best_score > 0.9


def test_classes_that_only_others_have_are_never_right():
    X, y = objects(200)
    _, validation, _ = parts(200)
    y[validation[:10]] = 5
    tuned = tune(
        SparseKNeighborsClassifier(**SHARED), X, y, grid={"n_neighbors": [1]}, random_state=7
    )
    assert tuned.best_score <= 0.75
    assert tuned.frame.height == 2


def test_a_part_to_test_on_is_not_needed():
    X, y = objects(100)
    tuned = tune(
        SparseKNeighborsClassifier(**SHARED), X, y, grid={"n_neighbors": [1]}, sizes=(0.7, 0.3, 0)
    )
    assert tuned.test_score is None
    assert tuned.sizes == (70, 30, 0)
    assert "n_neighbors=1" in tuned.to_text()
    assert "tested" not in repr(tuned)


def test_progress_goes_to_stderr(capsys):
    X, y = objects(100)
    tune(
        SparseKNeighborsClassifier(**SHARED), X, y, grid={"n_neighbors": [1]}, verbose=1,
        random_state=0,
    )  # fmt: skip
    told = capsys.readouterr()
    assert "combinations" in told.err
    assert told.out == ""


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"grid": {"balance": [1]}}, "grid: 'balance' cannot be tuned for SparseSVC; take scale"),
        ({"grid": {"scale": []}}, "grid: 'scale' has no values"),
        ({"grid": {"scale": 3}}, "grid: 'scale' must have a list of values, got 3"),
        ({"grid": {"scale": [1.0, -1.0]}}, "scale must be a finite number above 0, got -1.0"),
        ({"scoring": "luck"}, "scoring must be .*, got 'luck'"),
        ({"normalize": []}, "normalize must be a list of True and False"),
        ({"normalize": [0.5]}, "normalize must be a list of True and False"),
        ({"sizes": (0.6, 0.4)}, "sizes must be three fractions"),
        ({"sizes": (0.6, 0.4, 0.4)}, "sizes must be three fractions"),
        ({"sizes": (0.0, 0.5, 0.5)}, "sizes must be three fractions"),
        ({"y": np.zeros(60)}, "all training objects are of one class"),
        ({"y": np.zeros(3)}, "y must have 60 entries"),
    ],
)
def test_wrong_arguments_are_named(changes, problem):
    X, y = objects(60)
    given = {"y": y, **changes}
    with pytest.raises(InputError, match=problem):
        tune(SparseSVC(**SHARED), X, given.pop("y"), random_state=0, **given)


def test_what_cannot_be_tuned_is_refused():
    X, y = objects(60)
    with pytest.raises(InputError, match="classifier must be one of tacit's"):
        tune(LogisticRegression(), X, y)
    with pytest.raises(InputError, match="kind must be one of"):
        tune(NormalizedCutClassifier(kind="cosine", **SHARED), X, y)
    with pytest.raises(InputError, match="60 objects are too few"):
        tune(SparseSVC(), X, y, sizes=(0.01, 0.01, 0.5))


def test_values_of_several_types():
    X, y = objects(150)
    grid = {"resolution": ["auto", 5, (2, 3, 4)], "group_width": [None, 1], "n_neighbors": [1, 3]}
    model = SparseKNeighborsClassifier(random_state=0)
    tuned = tune(model, X, y, grid=grid, normalize=[False], random_state=0)
    assert tuned.frame["resolution"].unique(maintain_order=True).to_list() == [
        "auto",
        "5",
        "(2, 3, 4)",
    ]
    assert tuned.frame["group_width"].unique(maintain_order=True).to_list() == [None, 1]
    assert tuned.frame["n_neighbors"].dtype == pl.Int64
    assert tuned.best_params["resolution"] in grid["resolution"]
    tuned = tune(SparseSVC(**SHARED), X, y, grid={"C": [1, 2.5]}, random_state=0)
    assert tuned.frame["C"].to_list() == [1.0, 2.5] * 2


def test_sizes_and_grids_that_are_none():
    X, y = objects(60)
    with pytest.raises(InputError, match="sizes must be three fractions"):
        tune(SparseSVC(), X, y, sizes="abc")
    with pytest.raises(InputError, match="grid must be a mapping"):
        tune(SparseSVC(), X, y, grid=["C"])


def test_numbers_to_validate_on_that_are_too_large():
    X, y = objects(60)
    X[_split(60, (0.6, 0.2, 0.2), np.random.default_rng(0))[1][2], 0] = 1e200
    with pytest.raises(InputError, match="too large for distances"):
        tune(SparseSVC(), X, y, grid={"C": [1]}, random_state=np.random.default_rng(0))


def test_the_only_class_is_named_as_it_was_given():
    with pytest.raises(InputError, match=r"all training objects are of one class, 4$"):
        tune(SparseSVC(), objects(60)[0], np.full(60, 4))
