"""What trees refuse, and in which words."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

from tacit import DecisionGraphClassifier, DecisionTreeClassifier, InputError, Table

X = [[0, 1], [1, 0], [1, 1], [0, 0]]
Y = [0, 1, 1, 0]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"criterion": "luck"}, "criterion must be 'bayes_factor', .* or 'gini', got 'luck'"),
        ({"splits": "many"}, "splits must be 'binary', 'complete' or 'both'"),
        ({"prior": None}, "prior must be 'k2' or 'bdeu', got None"),
        ({"prior_weight": 0}, "prior_weight must be a finite number above 0, got 0"),
        ({"prior_weight": np.inf}, "prior_weight must be a finite number"),
        ({"criterion": "gini", "prior_weight": -1}, "prior_weight must be .* of at least 0"),
        ({"kappa": 0}, "kappa must be a finite number above 0"),
        ({"kappa": 1.5}, "kappa must be a finite number above 0 and at most 1, got 1.5"),
        ({"kappa": "small"}, "kappa must be a finite number"),
        ({"max_depth": 0}, "max_depth must be a whole number of at least 1"),
        ({"max_depth": 2.5}, "max_depth must be a whole number"),
        ({"min_samples_leaf": 0.1}, "min_samples_leaf must be a whole number"),
        ({"max_leaf_nodes": True}, "max_leaf_nodes must be a whole number"),
        ({"min_gain": -1}, "min_gain must be a finite number of at least 0"),
        ({"min_gain": True}, "min_gain must be a finite number"),
        ({"class_weight": "heavy"}, "class_weight must be 'balanced', a dict or None"),
        ({"class_weight": {0: -1.0}}, "class_weight: weights must be finite and not negative"),
        ({"class_weight": {0: 0, 1: 0}}, "class_weight: all weights are zero"),
        ({"kinds": "ordered"}, "kinds must map columns to kinds, got str"),
        (
            {"kinds": {"x0": "number"}},
            "kinds: column 'x0' must be one of numeric, ordered, .*'numb",
        ),
        ({"kinds": {"x7": "ordered"}}, "kinds: there is no column 'x7'"),
        ({"kinds": {2: "ordered"}}, "kinds: column 2 is not among the 2 columns"),
        ({"unseen": "ignore"}, "unseen must be 'error' or 'default', got 'ignore'"),
        ({"absent": "drop"}, "absent must be 'error', 'default' or None, got 'drop'"),
        ({"discretise": "fine"}, "a discretisation must be"),
        ({"discretise": {"x9": 3}}, "discretise: there is no column 'x9'"),
        ({"n_jobs": 0}, "n_jobs must be a non-zero integer"),
    ],
)
def test_parameters(settings, message):
    model = DecisionTreeClassifier(**settings)
    with pytest.raises(InputError, match=message):
        model.fit(X, Y)
    assert not hasattr(model, "classes_")


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1, 1, 1, 1], "y has one class only"),
        ([0, 1, None, 1], "y contains NaN or None: record 2 is missing"),
        ([0, 1, np.nan, 1], "y contains NaN or None: record 2 is missing"),
        (pd.Series(["a", None, "b", "a"]), "y contains NaN or None: record 1 is missing"),
        ([0, 1], "y must have 4 entries, one for each record; got 2"),
        ([0.5, 1, 2, 3], "y holds real numbers .record 0: 0.5.; cut it into classes first"),
        ([0, 1, np.inf, 1], "y holds real numbers"),
        ([["a", "b"]] * 4, "y cannot be read"),
        ("rain", "y: an array has no column 'rain'"),
        (None, "requires y to be passed"),
    ],
)
def test_targets(y, message):
    with pytest.raises(InputError, match=message):
        DecisionTreeClassifier().fit(X, y)


def test_targets_in_a_table():
    table = Table({"a": [0, 1, 0], "one": [5, 5, 5], "lost": ["x", None, "y"]})
    model = DecisionTreeClassifier()
    with pytest.raises(InputError, match="y has one class only"):
        model.fit(table, "one")
    with pytest.raises(InputError, match="y: column 'lost' has a missing value at record 1"):
        model.fit(table, "lost")
    with pytest.raises(InputError, match="y: there is no column 'los'; did you mean 'lost'"):
        model.fit(table, "los")
    with pytest.raises(InputError, match="X: there is no column but the target 'a'"):
        model.fit(table.select(["a"]), "a")
    with pytest.raises(InputError, match="y must have 3 entries"):
        model.fit(table, [0, 1])
    assert not hasattr(model, "nodes_")
    # A label of missing values that no record has is no class.
    fine = table.take([0, 2])
    assert model.fit(fine, "lost").classes_.tolist() == ["x", "y"]


def test_one_class_among_the_records_that_count():
    model = DecisionTreeClassifier()
    for form in (np.array(X), Table(np.array(X))):
        with pytest.raises(InputError, match="y has one class only"):
            model.fit(form, Y, sample_weight=[1, 0, 0, 1])
    with pytest.raises(InputError, match="y has one class only"):
        model.set_params(class_weight={1: 0.0}).fit(X, Y)


def test_weights():
    model = DecisionTreeClassifier()
    for form in (np.array(X), Table(np.array(X)), sparse.csr_array(X)):
        with pytest.raises(InputError, match=r"sample_weight: .* must have shape"):
            model.fit(form, Y, sample_weight=[1, 2])
        with pytest.raises(InputError, match=r"sample_weight: .* not negative"):
            model.fit(form, Y, sample_weight=[1, 2, -1, 1])
        with pytest.raises(InputError, match="all weights are zero"):
            model.fit(form, Y, sample_weight=np.zeros(4))
    table = Table(np.array(X), weights=[1, 2, 3, 4])
    with pytest.raises(InputError, match="sample_weight: the Table has weights already"):
        model.fit(table, Y, sample_weight=[1, 2, 3, 4])


def test_columns():
    model = DecisionTreeClassifier()
    with pytest.raises(InputError, match="X contains NaN or inf: nan at row 1, column 0"):
        model.fit(np.array([[1.0], [np.nan]]), [0, 1])
    with pytest.raises(InputError, match="X contains NaN or inf: inf at row 1, column 0"):
        model.fit(sparse.csr_array([[1.0], [np.inf]]), [0, 1])
    with pytest.raises(InputError, match="X: column 'a' holds inf at record 1"):
        model.fit({"a": [1.0, np.inf]}, [0, 1])
    with pytest.raises(InputError, match="discretise: column 'a' holds String, not numbers"):
        DecisionTreeClassifier(discretise={"a": 3}).fit(Table({"a": ["x", "y"]}), [0, 1])
    with pytest.raises(InputError, match="y: there is no column 'b'"):
        model.fit({"a": [0, 1]}, "b")
    with pytest.raises(InputError, match="y: there is no column 'b'"):
        model.fit(pl.DataFrame({"a": [0, 1]}), "b")
    with pytest.raises(InputError, match="X: there are no records"):
        model.fit(pl.DataFrame({"a": []}), [])


def test_damaged_sparse_arrays():
    broken = sparse.csr_array(np.eye(3))
    broken.indices[1] = 7
    with pytest.raises(InputError, match=r"X.* column index 7"):
        DecisionTreeClassifier().fit(broken, [0, 1, 1])


@pytest.mark.parametrize("unseen", ["error", "default"])
def test_unseen_labels(unseen):
    frame = {"sky": ["blue", "grey", "grey"] * 20, "y": [0, 1, 1] * 20}
    for form in (frame, pl.DataFrame(frame), Table(frame)):
        model = DecisionTreeClassifier(unseen=unseen).fit(form, "y")
        new = type(form)({"sky": ["blue", "pink"]})
        if unseen == "default":
            assert model.predict(new).tolist() == [0, 1]  # grey is the default
            continue
        with pytest.raises(InputError, match="X: column 'sky' has 'pink' at record 1, which the"):
            model.predict(new)


def test_missing_values_that_are_new():
    model = DecisionTreeClassifier().fit({"heat": [1.0, 2.0] * 20}, [0, 1] * 20)
    with pytest.raises(InputError, match="X: column 'heat' has a missing value at record 1"):
        model.predict({"heat": [1.0, None]})
    assert model.set_params(unseen="default").predict({"heat": [1.0, None]}).tolist()[0] == 0


def test_other_columns():
    model = DecisionTreeClassifier().fit(Table({"a": [0, 1] * 20, "b": [1, 1] * 20}), [0, 1] * 20)
    with pytest.raises(InputError, match="X: there is no column 'b'"):
        model.predict(Table({"a": [0]}))
    arrays = DecisionTreeClassifier().fit(X, Y)
    with pytest.raises(ValueError, match="3 features"):
        arrays.predict([[0, 1, 2]])


@pytest.mark.parametrize("name", ["nodes_", "schema_", "depth_", "score_", "feature_importances_"])
def test_nothing_before_fit(name):
    model = DecisionGraphClassifier()
    assert not hasattr(model, name)
    for method in ("predict", "apply", "predict_proba"):
        with pytest.raises(NotFittedError):
            getattr(model, method)(X)
    for method in ("to_text", "rules", "to_frame"):
        with pytest.raises(NotFittedError):
            getattr(model, method)()


def test_a_failed_fit_leaves_the_model_as_it_was():
    model = DecisionTreeClassifier("gini").fit(X, Y)
    before = model.to_text()
    with pytest.raises(InputError):
        model.fit(X, [1, 1, 1, 1])
    assert model.to_text() == before
    assert model.predict(X).tolist() == Y
