"""Selections in files."""

import json

import numpy as np
import polars as pl
import pytest
from sklearn.exceptions import NotFittedError

import tacit
from support.files import (
    assert_damage_is_an_error,
    assert_same_arrays,
    assert_same_model,
    change_array,
)
from tacit import BestSubset, FileError, Table, store


def make_frame(n=300):
    rng = np.random.default_rng(0)
    sky, wind = rng.choice(["blue", "grey"], n), rng.normal(size=n)
    return pl.DataFrame(
        {
            "wind": wind,
            "sky": sky,
            "moon": [["new", "full", None][k] for k in rng.integers(0, 3, n)],
            "dice": rng.integers(1, 7, n),
            "rain": np.where((sky == "grey") != (wind > 0), "yes", "no"),
        }
    )


@pytest.fixture
def path(tmp_path):
    return tmp_path / "selection.tacit"


def fitted(form):
    """Return a selector and what it was fitted on, without the target."""
    frame = make_frame()
    X, y = frame.drop("rain"), frame["rain"]
    selector = BestSubset(2, "corrected", n_best=4, kinds={"dice": "categorical"})
    if form == "frame":
        return selector.fit(frame, "rain"), X
    if form == "series":
        return selector.fit(X, y), X
    if form == "table":
        table = Table(frame, discretise="auto")
        return selector.set_params(kinds=None).fit(table, "rain"), table
    if form == "given":
        return selector.set_params(given=["moon"]).fit(frame, "rain"), X
    array = np.random.default_rng(1).integers(0, 3, (200, 4))
    return selector.set_params(kinds=None).fit(array, array[:, 0] == array[:, 3]), array


@pytest.mark.parametrize("form", ["frame", "series", "table", "given", "array"])
def test_a_loaded_selection_is_the_same(form, path, tmp_path):
    selector, X = fitted(form)
    selector.save(path)
    again = tacit.load(path)
    assert_same_model(again, selector, X)
    for name in ("ranking_", "subset_", "score_", "target_", "n_subsets_", "n_scored_"):
        assert getattr(again, name) == getattr(selector, name), name
    assert again.to_frame().equals(selector.to_frame())
    assert again.get_support().tolist() == selector.get_support().tolist()
    assert again.get_feature_names_out().tolist() == selector.get_feature_names_out().tolist()
    ours, theirs = again.transform(X), selector.transform(X)
    if form == "table":
        assert ours.schema == theirs.schema
        assert ours.to_frame("polars").equals(theirs.to_frame("polars"))
    else:
        assert np.array_equal(ours, theirs)
    again.save(tmp_path / "again.tacit")
    assert_same_arrays(path, tmp_path / "again.tacit")


def test_numbers_are_cut_where_those_of_fit_were(path):
    selector, _ = fitted("table")
    selector.save(path)
    few = Table(make_frame(20), discretise=None)
    cut = tacit.load(path).transform(few)
    assert cut.schema["wind"].edges == selector.transform(few).schema["wind"].edges
    assert cut.schema["wind"].edges is not None


def test_only_what_is_fitted_is_saved(path):
    with pytest.raises(NotFittedError):
        BestSubset().save(path)


def test_a_counter_is_not_kept(path):
    table = Table(make_frame(), discretise="auto")
    BestSubset(2, counter=tacit.ADTree).fit(table, "rain").save(path)
    assert tacit.load(path).counter is None


def test_damaged_bytes_are_found(path):
    fitted("frame")[0].save(path)
    assert_damage_is_an_error(path, 20)


def test_no_array_may_be_missing(path):
    fitted("frame")[0].save(path)
    kind, arrays = store.read_arrays(path)
    assert kind == "best_subset"
    arrays = {name: np.array(array) for name, array in arrays.items()}
    for name in arrays:
        store.write_arrays(path, kind, {k: v for k, v in arrays.items() if k != name})
        with pytest.raises(FileError, match=f"is damaged: it has no {name!r}"):
            tacit.load(path)


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("scores", lambda a: a[:-1], "'scores' is not a number for each set"),
        ("scores", lambda a: a.astype(np.float32), "'scores' is not a number for each set"),
        ("gains", lambda a: a * np.nan, "'gains' has a number that is not finite"),
        ("scores", lambda a: a[::-1], "'scores' does not begin with the best"),
        ("combinations", lambda a: a * 0, "'combinations' has a number below 1"),
        ("features", lambda a: a[:-1], "its columns cannot be read"),
    ],
)
def test_damaged_arrays_are_refused(name, change, said, path):
    fitted("frame")[0].save(path)
    change_array(path, name, lambda a: np.ascontiguousarray(change(a)))
    with pytest.raises(FileError, match=said):
        tacit.load(path)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"target": 3}, "its target has no name"),
        ({"target": "sky"}, "its target has no name"),
        ({"sets": []}, "it has no sets of columns"),
        ({"sets": [["sky", "wind"]] * 4}, "not there, or not in their order"),
        ({"sets": [["sky", "sun"]] * 4}, "not there, or not in their order"),
        ({"sets": [["wind", "sky"]] * 3 + [["sky"]]}, "its sets are not of one size"),
        ({"n_scored": 1}, "its numbers of sets do not go together"),
        ({"n_subsets": 10**6}, "its numbers of sets do not go together"),
        ({"n_subsets": 6.5}, "its numbers of sets cannot be"),
        ({"parameters": {"criterion": "luck"}}, "criterion must be one of"),
        ({"parameters": {"luck": 1}}, "is damaged"),
    ],
)
def test_damaged_settings_are_refused(change, said, path):
    fitted("frame")[0].save(path)

    def changed(array):
        facts = json.loads(array.tobytes()) | change
        return np.frombuffer(json.dumps(facts).encode(), np.uint8)

    change_array(path, "settings", changed)
    with pytest.raises(FileError, match=said):
        tacit.load(path)
