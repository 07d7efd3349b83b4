"""What rules are learnt from and asked about: dates, Series, lazy frames, damaged files."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pytest

import tacit
from tacit import (
    BoostedRulesClassifier,
    BoostedRulesRegressor,
    CoveringRulesClassifier,
    FileError,
    InputError,
    store,
)

FRAME = pl.DataFrame(
    {
        "d": [dt.date(2026, 1, 1) + dt.timedelta(k) for k in range(60)],
        "a": np.arange(60) % 7 * 1.0,
        "t": ["u", "v", "w"] * 20,
    }
)
Y = np.arange(60) % 3 == 1
CLASSIFIERS = [BoostedRulesClassifier, CoveringRulesClassifier]


@pytest.mark.parametrize("estimator", CLASSIFIERS)
@pytest.mark.parametrize("unit", ["D", "us"])
def test_dates_as_classes_stay_dates_in_files(estimator, unit, tmp_path):
    days = np.array(["2026-05-01", "2026-05-02"], f"datetime64[{unit}]")[Y.astype(int)]
    model = estimator().fit(FRAME, days)
    model.save(tmp_path / "model.tacit")
    again = tacit.load(tmp_path / "model.tacit")
    assert again.predict(FRAME).dtype == model.predict(FRAME).dtype
    assert again.score(FRAME, days) == model.score(FRAME, days) == 1.0


def test_an_output_is_called_what_its_series_is():
    y = np.arange(60.0)
    for series in (pl.Series("age", y), pd.Series(y, name="age")):
        text = BoostedRulesRegressor(2).fit(FRAME, series).to_text()
        assert text.startswith("numbers: age\n")
        assert "then age " in text
    for unnamed in (pl.Series(y), pd.Series(y), pd.Series(y, name=3), y):
        assert BoostedRulesRegressor(2).fit(FRAME, unnamed).to_text().startswith("numbers: y\n")


@pytest.mark.parametrize("estimator", CLASSIFIERS)
def test_baskets(estimator):
    baskets = [["bread", "milk"], ["milk"], ["beer", "bread", "milk"], ["beer"]] * 10
    y = ["x", "y", "x", "y"] * 10
    model = estimator().fit(baskets, y)
    assert model.predict(baskets).tolist() == y
    assert model.predict([["bread"], ["milk"]]).tolist() == ["x", "y"]
    assert model.predict({"bread": [True, False]}).tolist() == ["x", "y"]  # the rest is absent
    with pytest.warns(tacit.errors.InputWarning, match="'cider'"):
        assert model.predict([{"bread", "cider"}]).tolist() == ["x"]
    told = model.explain([["bread", "milk"]])
    assert str(told) == str(model.explain({"bread": [True], "milk": [True], "beer": [False]}))


def test_one_basket_is_explained():
    model = BoostedRulesClassifier(5).fit([["a", "b"], ["b"], ["a"], ["c"]] * 5, [1, 0, 1, 0] * 5)
    for record in (["a", "b"], {"a", "b"}, [["a", "b"]], {"a": True, "b": True}):
        assert model.explain(record).decision == model.explain({"a": [True], "b": [True]}).decision
    with pytest.raises(InputError, match="X must be one record, got 2"):
        model.explain([["a"], ["b"]])


def test_one_record_with_values_of_numpy():
    model = BoostedRulesClassifier(5).fit(FRAME, Y)
    plain = {"d": dt.date(2026, 1, 5), "a": 1.0, "t": "v"}
    other = {"d": np.datetime64("2026-01-05"), "a": np.float64(1), "t": np.str_("v")}
    assert model.explain(other).decision == model.explain(plain).decision


@pytest.mark.parametrize("estimator", [*CLASSIFIERS, BoostedRulesRegressor])
def test_lazy_frames_are_collected(estimator):
    """The frame of a query gives the rules and answers that the frame itself gives."""
    for y in (Y, "a") if estimator is BoostedRulesRegressor else (Y, "t"):
        model = estimator(random_state=0).fit(FRAME, y)
        lazy = estimator(random_state=0).fit(FRAME.lazy(), y)
        assert lazy.to_text() == model.to_text()
        np.testing.assert_array_equal(lazy.predict(FRAME.lazy()), model.predict(FRAME))
    assert str(lazy.explain(FRAME[:1].lazy())) == str(model.explain(FRAME[:1]))


@pytest.mark.parametrize("estimator", [*CLASSIFIERS, BoostedRulesRegressor])
def test_a_table_and_its_frame_give_the_same_rules(estimator, tmp_path):
    """Numbers, timestamps and labels of a Table are what they are in the frame."""
    rng = np.random.default_rng(0)
    frame = FRAME.with_columns(
        pl.Series("a", np.round(rng.normal(size=60), 2)), pl.Series("n", rng.integers(0, 40, 60))
    )
    y = (frame["a"].to_numpy() > 0.3) | (frame["n"].to_numpy() > 30)
    model = estimator(random_state=0).fit(frame, y)
    table = estimator(random_state=0).fit(tacit.Table(frame), y)
    assert table.to_text() == model.to_text()
    assert any(c.column in ("a", "n") for rule in table.rules_ for c in rule.conditions)
    table.save(tmp_path / "model.tacit")
    for asked in (table, tacit.load(tmp_path / "model.tacit")):
        for X in (frame, tacit.Table(frame), frame[:, ::-1]):  # columns by name
            np.testing.assert_array_equal(asked.predict(X), model.predict(frame))


def test_whole_numbers_that_are_too_large_for_classes():
    with pytest.raises(InputError, match="whole numbers that are too large"):
        BoostedRulesClassifier().fit(FRAME, [2**130 + k % 2 for k in range(60)])


def test_labels_that_are_words_are_named():
    labels = pl.DataFrame({"sex": Y.astype(int), "class": ["x", "y"] * 30})
    with pytest.raises(InputError, match="y: label 'class' holds 'x' and the like"):
        BoostedRulesClassifier().fit(FRAME, labels)
    with pytest.raises(InputError, match="record 1, label 'sex' holds 2"):
        BoostedRulesClassifier().fit(FRAME, pl.DataFrame({"sex": Y * 2, "b": Y * 1}, strict=False))


@pytest.mark.parametrize("estimator", CLASSIFIERS)
@pytest.mark.parametrize("column", ["t", "d"])
@pytest.mark.parametrize("number", [1e300, -1e300, 3e7])
def test_thresholds_that_stand_for_nothing_are_refused(estimator, column, number, tmp_path):
    y = Y if column == "t" else np.arange(60) > 30
    path = tmp_path / "model.tacit"
    model = estimator().fit(FRAME.select(column), y)
    assert len(model.rules_.arrays.columns)
    model.save(path)
    kind, arrays = store.read_arrays(path)
    changed = dict(arrays) | {"thresholds": np.full(len(arrays["thresholds"]), number)}
    store.write_arrays(path, kind, changed)
    with pytest.raises(FileError, match=f"'thresholds' has .* for column '{column}'"):
        tacit.load(path)
