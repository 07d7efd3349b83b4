"""Trees in files: what is saved comes back, and no damage does worse than an error."""

import functools
import json
import tempfile
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone

import tacit
from support.strategies import assert_identical
from tacit import (
    DecisionGraphClassifier,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    FileError,
    Table,
    store,
)

KINDS = {
    DecisionTreeClassifier: "decision_tree_classifier",
    DecisionTreeRegressor: "decision_tree_regressor",
    DecisionGraphClassifier: "decision_graph_classifier",
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "some tree.tacit"


def make_frame(n=300):
    rng = np.random.default_rng(0)
    return pl.DataFrame(
        {
            "sky": rng.choice(["blue", "grey", "red"], n),
            "rain": pl.Series(np.where(rng.random(n) < 0.2, None, rng.random(n) < 0.5).tolist()),
            "dice": rng.integers(1, 7, n),
            "heat": rng.normal(15, 5, n),
        }
    )


def make_target(frame):
    return ((frame["dice"] > 3) | (frame["heat"] > 20)).to_numpy().astype(int) + (
        frame["sky"] == "red"
    ).to_numpy()


MODELS = [
    DecisionTreeClassifier(),
    DecisionTreeClassifier("gini", splits="both", max_leaf_nodes=12, prior="bdeu", prior_weight=0),
    DecisionTreeClassifier(kappa=np.float32(0.2), kinds={"sky": "ordered"}, unseen="default"),
    DecisionTreeRegressor(max_depth=np.int64(3)),
    DecisionTreeRegressor("bayes_factor"),
    DecisionGraphClassifier(),
]


@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize("form", ["frame", "table", "array", "sparse"])
def test_a_saved_tree_comes_back(path, model, form):
    frame = make_frame()
    y = make_target(frame)
    if form == "table":
        X = Table(frame, discretise=[10.0, 20.0])
    elif form == "frame":
        X = frame
    else:
        X = frame.select("dice", "heat", pl.col("sky").rank("dense").cast(pl.Float64)).to_numpy()
        X = sparse.csr_array(X) if form == "sparse" else X
        model = clone(model).set_params(kinds=None)
    model.fit(X, y)
    model.save(path)
    for verify in (True, False):
        loaded = tacit.load(path, verify=verify)
        assert type(loaded) is type(model)
        assert loaded.schema_ == model.schema_
        assert loaded._input == model._input
        assert loaded.n_features_in_ == model.n_features_in_
        assert loaded.n_leaves_ == model.n_leaves_ > 1
        assert loaded.depth_ == model.depth_
        assert loaded.score_ == model.score_
        assert loaded.to_text() == model.to_text()
        assert_identical(loaded.feature_importances_, model.feature_importances_)
        assert_identical(loaded.predict(X), model.predict(X))
        assert_identical(loaded.apply(X), model.apply(X))
        if hasattr(model, "classes_"):
            assert_identical(loaded.classes_, model.classes_)
            assert_identical(loaded.predict_proba(X), model.predict_proba(X))
            assert loaded.log_likelihood_ == model.log_likelihood_
    assert loaded.get_params()["kappa"] == model.kappa
    before = {name: array.tobytes() for name, array in store.read_arrays(path)[1].items()}
    loaded.save(path)  # over the file it looks at
    assert before == {name: array.tobytes() for name, array in store.read_arrays(path)[1].items()}


@pytest.mark.parametrize(
    "y",
    [
        [True, False],
        ["a", "b"],
        np.array([3, 9], np.int16),
        [1.0, 2.0],
        pl.Series([0, 1]).cast(pl.Date),
    ],
    ids=str,
)
def test_classes_of_any_kind(path, y):
    X = {"a": [0, 1] * 20}
    target = pl.concat([pl.Series(y)] * 20)
    model = DecisionTreeClassifier().fit(X, target)
    model.save(path)
    loaded = tacit.load(path)
    assert loaded.classes_.dtype == model.classes_.dtype
    assert loaded.classes_.tolist() == model.classes_.tolist()
    assert loaded.predict(X).tolist() == target.to_list()


def test_settings_that_json_cannot_hold_are_left_out(path):
    model = DecisionTreeClassifier(class_weight={0: 2}, discretise=tacit.EqualWidth(4))
    model.fit([[0.5], [1.5]] * 9, [0, 1] * 9).save(path)
    loaded = tacit.load(path)
    assert loaded.class_weight is None
    assert loaded.discretise is None
    assert_identical(loaded.predict([[0.5], [1.5]]), model.predict([[0.5], [1.5]]))


def test_the_name_of_the_target_comes_back(path):
    table = Table({"a": [0, 1] * 20, "rain": ["no", "yes"] * 20})
    DecisionTreeClassifier().fit(table, "rain").save(path)
    assert tacit.load(path).to_text().startswith("rain: ")


# Damage


def saved(path, model):
    frame = make_frame()
    model.fit(frame, make_target(frame)).save(path)
    return frame, {name: np.array(array) for name, array in store.read_arrays(path)[1].items()}


@pytest.mark.parametrize("model", [MODELS[1], MODELS[3], MODELS[5]], ids=str)
def test_no_array_may_be_missing(path, model):
    _, arrays = saved(path, model)
    for name in arrays.keys() - {"also"}:  # which files of earlier versions lack
        store.write_arrays(path, KINDS[type(model)], {k: v for k, v in arrays.items() if k != name})
        with pytest.raises(FileError, match=f"is damaged: it has no {name!r}"):
            tacit.load(path)


@pytest.mark.parametrize("model", [MODELS[1], MODELS[3], MODELS[5]], ids=str)
def test_no_array_may_be_of_another_type_or_shape(path, model):
    _, arrays = saved(path, model)
    for name in set(arrays) - {"features", "settings"}:
        for wrong in (
            arrays[name].astype(np.float32),
            arrays[name][:-1],
            np.concatenate((arrays[name], arrays[name])),
            arrays[name][..., None],
            arrays[name][:0],
        ):
            store.write_arrays(path, KINDS[type(model)], arrays | {name: wrong})
            with pytest.raises(FileError, match="is damaged"):
                tacit.load(path)


def change(arrays, name, place, value):
    array = arrays[name].copy()
    array[place] = value
    return arrays | {name: array}


DAMAGE = [
    ("column", 0, 99, "'column' has a column that is not there"),
    ("column", 0, -2, "'column' has a column that is not there"),
    ("low", 0, -1, "a split asks about values that its column has not"),
    ("high", 0, 10**6, "a split asks about values that its column has not"),
    ("high", 0, 0, "a split asks about values that its column has not"),
    ("complete", 0, 2, "'share' or 'complete' has a number that cannot be"),
    ("first", 0, -1, "a split has children that are not there"),
    ("first", 0, 2**31 - 1, "a split has children that are not there"),
    ("first", 0, 1, "is damaged"),
    ("children", 0, 0, "a node has a child that does not come after it"),
    ("children", 0, -1, "a node has a child that does not come after it"),
    ("children", 0, 2**31 - 1, "a node has a child that does not come after it"),
    ("children", 0, 2, "a node has no parent, or too many"),
    ("also", 0, 0, "'also' has a value that is not the last of its column"),
    ("also", 0, -2, "'also' has a value that is not the last of its column"),
    ("also", -1, 0, "'also' has a value that is not the last of its column"),
    ("left", 0, 1000, "a threshold lies outside of its column"),
    ("right", 0, -2, "a threshold lies outside of its column"),
    ("gain", 0, np.nan, "'gain' has a number that is not finite"),
    ("share", 0, -0.5, "'share' or 'complete' has a number that cannot be"),
    ("counts", 0, np.inf, "'counts' has a number that is not finite"),
    ("counts", 0, -1.0, "'counts' are not those of its classes"),
]


@pytest.mark.parametrize(("name", "place", "value", "message"), DAMAGE)
def test_nodes_that_are_no_tree(path, name, place, value, message):
    _, arrays = saved(path, DecisionTreeClassifier("gini", max_leaf_nodes=9))
    store.write_arrays(path, "decision_tree_classifier", change(arrays, name, place, value))
    with pytest.raises(FileError, match=message):
        tacit.load(path)


@functools.cache
def crafted(graph):
    """Return a model's frame and the arrays of its file."""
    model = DecisionGraphClassifier() if graph else DecisionTreeClassifier("gini", splits="both")
    with tempfile.TemporaryDirectory() as folder:
        return saved(Path(folder) / "good.tacit", model)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from(
        ["column", "low", "high", "complete", "first", "children", "left", "right", "also"]
    ),
    st.integers(0, 10**6),
    st.integers(-3, 20) | st.integers(-(2**31), 2**31 - 1),
    st.booleans(),
)
def test_whatever_loads_predicts(tmp_path, name, place, value, graph):
    """A crafted file is refused, or it is a tree that gives each record a leaf."""
    path = tmp_path / "crafted.tacit"
    frame, arrays = crafted(graph)
    size = len(arrays[name])
    value = value % 256 if name == "complete" else value
    kind = "decision_graph_classifier" if graph else "decision_tree_classifier"
    store.write_arrays(path, kind, change(arrays, name, place % size, value))
    try:
        loaded = tacit.load(path)
    except FileError:
        return
    leaves = loaded.apply(frame)
    assert (loaded.nodes_.column[leaves] == -1).all()
    assert loaded.to_text()


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("target", 7, "its target has no name"),
        ("prior", "flat", "prior must be"),
        ("prior_weight", -1, "prior_weight must be"),
        ("prior_weight", "1", "prior_weight must be"),
        ("kappa", 0, "kappa must be"),
        ("criterion", "luck", "criterion must be"),
        ("classes", None, "is damaged"),
        ("classes", {}, "is damaged"),
        ("class_type", "O", "its classes are of the type 'O'"),
        ("class_type", "<i999", "is damaged"),
        ("parameters", {"colour": 1}, "is damaged"),
        ("parameters", {"max_depth": "deep"}, "is damaged"),
        ("parameters", [], "is damaged"),
    ],
)
def test_settings_that_cannot_be(path, key, value, message):
    _, arrays = saved(path, DecisionTreeClassifier())
    facts = json.loads(arrays["settings"].tobytes()) | {key: value}
    arrays["settings"] = np.frombuffer(json.dumps(facts).encode(), np.uint8)
    store.write_arrays(path, "decision_tree_classifier", arrays)
    with pytest.raises(FileError, match=message):
        tacit.load(path)


@pytest.mark.parametrize(
    "normal", [None, [1, 2, 3], [0, 1, 1, -1], [0, 1, 1, float("inf")], "abcd"]
)
def test_priors_of_numbers_that_cannot_be(path, normal):
    _, arrays = saved(path, DecisionTreeRegressor())
    facts = json.loads(arrays["settings"].tobytes()) | {"normal": normal}
    arrays["settings"] = np.frombuffer(json.dumps(facts).encode(), np.uint8)
    store.write_arrays(path, "decision_tree_regressor", arrays)
    with pytest.raises(FileError, match="is damaged"):
        tacit.load(path)


def test_means_that_cannot_be(path):
    _, arrays = saved(path, DecisionTreeRegressor(max_depth=2))
    store.write_arrays(path, "decision_tree_regressor", change(arrays, "means", 0, np.nan))
    with pytest.raises(FileError, match="'means' or 'counts' cannot be those of numbers"):
        tacit.load(path)
