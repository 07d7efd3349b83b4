"""Classifiers by similarity in files."""

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

import tacit
from support.files import assert_same_arrays, assert_same_model, change_array
from tacit import (
    FileError,
    InputError,
    NormalizedCutClassifier,
    SparseKNeighborsClassifier,
    SparseSVC,
    Table,
    store,
)

MODELS = [
    SparseKNeighborsClassifier(3, random_state=0),
    SparseKNeighborsClassifier(2, algorithm="exact", weights="distance", random_state=0),
    NormalizedCutClassifier(scale=1.0, resolution=4, random_state=0),
    SparseSVC(probability=True, resolution=4, random_state=0),
]


def objects(n=200, n_classes=2):
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 6, n)
    X = rng.normal(size=(6, 4))[kind] * 2 + rng.normal(size=(n, 4)) * 0.5
    return X, kind % n_classes


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("form", ["dense", "sparse", "frame", "table", "group_width", "classes"])
def test_a_loaded_model_says_the_same(model, normalize, form, tmp_path):
    X, y = objects(n_classes=3 if form == "classes" else 2)
    model = model.set_params(
        normalize=normalize, group_width=0.5 if form == "group_width" else None
    )
    if form == "sparse":
        X = sparse.csr_array(np.where(X > 0.5, X, 0.0))
    elif form == "frame":
        X = pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": np.where(X[:, 2] > 0, "up", "down")})
    elif form == "table":
        X = Table(pl.DataFrame((X > 0).astype(int), schema=list("abcd")))
    labels = np.array(["x", "y", "z"])[y] if form == "classes" else y
    model.fit(X, labels)
    path = tmp_path / "model.tacit"
    model.save(path)
    again = tacit.load(path)
    assert_same_model(again, model, X)
    assert again.computation_.density_ == model.computation_.density_
    again.save(tmp_path / "again.tacit")
    assert_same_arrays(path, tmp_path / "again.tacit")


@pytest.mark.parametrize("model", MODELS)
def test_classes_that_are_dates_stay_dates(model, tmp_path):
    X, y = objects()
    days = np.array(["2026-05-01", "2026-05-02"], "datetime64[D]")
    model.set_params(normalize=False, group_width=None).fit(X, days[y])
    model.save(tmp_path / "model.tacit")
    again = tacit.load(tmp_path / "model.tacit")
    assert again.classes_.dtype == days.dtype
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_only_fitted_models_are_saved(tmp_path):
    with pytest.raises(NotFittedError):
        SparseSVC().save(tmp_path / "model.tacit")


def test_a_text_says_what_there_is():
    X, y = objects()
    text = SparseSVC(resolution=4, random_state=0).fit(X, y).to_text()
    assert "2: 0, 1" in text
    assert "4 x 4 x 4" in text
    assert "support vectors" in text


def damages():
    """Yield a name, a change of one array, and what is said of it."""
    yield "dual_coef", lambda a: a * np.nan, "'dual_coef' has a number that is not finite"
    yield "dual_coef", lambda a: a[:, 1:], "'dual_coef' has the type"
    yield "support", lambda a: a[1:], "'support' is not as long"
    yield "numbers", lambda a: a[:, 1:], "'numbers' has the shape"
    yield "numbers", lambda a: a.astype(np.int64), "'numbers' are none"
    yield "coords", lambda a: a[:, :1], "'coords' has the type"
    yield "lower", lambda a: a + 1e9, "'lower' lies above 'upper'"
    yield "components", lambda a: a[:, 1:], "'components' has the type"
    yield "encoder", lambda a: a[:-3], "its columns cannot be read"
    yield "settings", lambda a: a[:-3], "is damaged"
    yield "training_coords", lambda a: a[:0], "'training_decisions' has the type"


@pytest.mark.parametrize(("name", "change", "problem"), list(damages()))
def test_damaged_files_are_refused(name, change, problem, tmp_path):
    X, y = objects()
    path = tmp_path / "model.tacit"
    SparseSVC(random_state=0).fit(X, y).save(path)
    change_array(path, name, change)
    with pytest.raises(FileError, match=problem):
        tacit.load(path)


@pytest.mark.parametrize(
    ("name", "change", "problem"),
    [
        ("codes", lambda a: a + 9, "'codes' are not those of its classes"),
        ("indices", lambda a: a + 9, "'indices' has a column that is not there"),
        ("indices", lambda a: a[::-1], "'indices' are not sorted"),
        ("indptr", lambda a: a[::-1], "'indptr' does not ascend"),
        ("indptr", lambda a: a[1:], "do not go together"),
    ],
)
def test_damaged_files_of_sparse_objects_are_refused(name, change, problem, tmp_path):
    X, y = objects()
    path = tmp_path / "model.tacit"
    model = NormalizedCutClassifier(random_state=0)
    model.fit(sparse.csr_array(np.where(X > 0, X, 0.0)), y).save(path)
    change_array(path, name, change)
    with pytest.raises(FileError, match=problem):
        tacit.load(path)


def test_files_with_a_part_missing_or_wrong_parameters_are_refused(tmp_path):
    X, y = objects()
    path = tmp_path / "model.tacit"
    SparseSVC(random_state=0).fit(X, y).save(path)
    kind, arrays = store.read_arrays(path)
    arrays = {key: np.array(value) for key, value in arrays.items()}
    facts = json.loads(arrays["settings"].tobytes())
    store.write_arrays(path, kind, {k: v for k, v in arrays.items() if k != "intercept"})
    with pytest.raises(FileError, match="it has no 'intercept'"):
        tacit.load(path)
    for wrong, problem in (({"scale": -1}, "scale must be"), ({"magic": 1}, "unexpected keyword")):
        told = facts | {"parameters": facts["parameters"] | wrong}
        arrays["settings"] = np.frombuffer(json.dumps(told).encode(), np.uint8)
        store.write_arrays(path, kind, arrays)
        with pytest.raises(FileError, match=problem):
            tacit.load(path)


def test_what_decides_predictions_is_saved_or_refused(tmp_path):
    X, y = objects()
    model = NormalizedCutClassifier(kind=lambda a, b: np.exp(-((a - b) ** 2).sum(axis=1)))
    with pytest.raises(InputError, match="kind is a function, and functions cannot be saved"):
        model.fit(X, y).save(tmp_path / "model.tacit")
    model = NormalizedCutClassifier(scale=Fraction(3, 2)).fit(X, y)
    with pytest.raises(InputError, match="scale cannot be saved in a model: it is of type Frac"):
        model.save(tmp_path / "model.tacit")
    assert not list(tmp_path.iterdir())
    resolution, weights = np.array([3, 3, 3]), {0: 1.0, 1: 2.0}
    model = SparseSVC(resolution=resolution, class_weight=weights).fit(X, y)
    model.save(tmp_path / "model.tacit")
    answers = tacit.load(tmp_path / "model.tacit").decision_function(X)
    assert answers.tolist() == model.decision_function(X).tolist()


@pytest.mark.parametrize("ask", ["forecast", "similarity", "pairs", "group", "plot"])
def test_the_objects_of_a_computation_are_not_in_the_file(ask, tmp_path):
    model = SparseSVC(random_state=0).fit(*objects())
    model.save(tmp_path / "model.tacit")
    sc = tacit.load(tmp_path / "model.tacit").computation_
    with pytest.raises(InputError, match="the objects were not saved with the model"):
        getattr(sc, ask)()


def test_numbers_of_another_form_than_the_columns(tmp_path):
    model = SparseKNeighborsClassifier(random_state=0).fit(*objects())
    model.computation_.encoder_ = replace(model.encoder_, sparse=True)
    model.save(tmp_path / "model.tacit")
    with pytest.raises(FileError, match="'numbers' and 'encoder' do not go together"):
        tacit.load(tmp_path / "model.tacit")


def test_a_computation_is_saved_without_its_objects(tmp_path):
    X, _ = objects()
    frame = pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": np.where(X[:, 2] > 0, "up", "down")})
    for data in (X, frame, sparse.csr_array(X)):
        sc = tacit.SparseComputation(5, random_state=0).fit(data)
        sc.save(tmp_path / "model.tacit")
        again = tacit.load(tmp_path / "model.tacit")
        np.testing.assert_array_equal(again.transform(data), sc.coords_)
        assert again.get_params() == sc.get_params()
        assert (again.n_pairs_, again.density_) == (sc.n_pairs_, sc.density_)
        assert hasattr(again, "feature_names_in_") == hasattr(sc, "feature_names_in_")
        with pytest.raises(InputError, match="the objects were not saved"):
            again.pairs()
