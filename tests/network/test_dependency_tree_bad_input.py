"""What a dependency tree refuses, and what it says then."""

import numpy as np
import polars as pl
import pytest

from tacit import DependencyTree, FileError, InputError, Table

CODES = np.array([[0, 1, 1], [1, 0, 1], [1, 1, 0], [0, 0, 0]])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"algorithm": "fast"}, "algorithm must be"),
        ({"delta": 0}, "delta must be a finite number above 0 and below 1"),
        ({"delta": "x"}, "delta must be a finite number"),
        ({"epsilon": -1}, "epsilon must be a finite number of at least 0"),
        ({"initial_sample": 1}, "initial_sample must be a whole number of at least 2"),
        ({"interval": "t"}, "interval must be"),
        ({"guarantee": "edge"}, "guarantee must be"),
        ({"tree_edges": "none"}, "tree_edges must be"),
        ({"kinds": "some"}, "kinds must map columns to kinds, got str"),
        ({"kinds": ["x0"]}, "kinds must map columns to kinds, got list"),
        ({"kinds": {"x9": "numeric"}}, "kinds: there is no column 'x9'"),
        ({"kinds": {9: "numeric"}}, "kinds: column 9 is not among the 3 columns"),
        ({"kinds": {"x0": "number"}}, "kinds: column 'x0' must be one of numeric, .*'number'"),
        ({"missing": "drop"}, "missing must be"),
        ({"smoothing": -1.0}, "smoothing must be a finite number of at least 0"),
        ({"smoothing": np.inf}, "smoothing must be a finite number of at least 0"),
        ({"unseen": "skip"}, "unseen must be"),
        ({"n_jobs": 0}, "n_jobs must be"),
        ({"algorithm": "mist", "missing": "ignore"}, "missing='ignore' needs algorithm='exact'"),
    ],
)
def test_parameters(parameters, message):
    with pytest.raises(InputError, match=message):
        DependencyTree(**parameters).fit(CODES)


@pytest.mark.parametrize(
    ("X", "parameters", "message"),
    [
        (np.zeros((0, 2)), {}, "minimum of 1 is required|empty|no records"),
        (np.array([[1.0, np.inf], [0.5, 2.0]]), {}, "'x1' in row 0 is infinite"),
        (np.array([[1.0, np.nan], [0.5, 2.0]]), {}, "'x1' in row 0 is missing"),
        (
            pl.DataFrame({"a": ["x", "y"]}),
            {"kinds": {"a": "numeric"}},
            "kinds: column 'a' is no number at record 0: 'x'",
        ),
        (
            Table({"a": ["x", "y"]}),
            {"kinds": {"a": "numeric"}},
            "kinds: column 'a' holds String, not numbers",
        ),
        (Table({"a": ["x", "y"]}), {"discretise": {"a": 2}}, "discretise: column 'a' holds String"),
        (Table({"a": [1, 2]}), {"discretise": {"b": 2}}, "discretise: there is no column 'b'"),
        (
            pl.DataFrame({"a": [None, None], "b": ["x", "y"]}, schema_overrides={"a": pl.String}),
            {"missing": "ignore"},
            "column 'a' has only missing values",
        ),
    ],
)
def test_records(X, parameters, message):
    with pytest.raises((InputError, ValueError), match=message):
        DependencyTree(**parameters).fit(X)


def test_weights():
    for X in (CODES, CODES + 0.5):
        with pytest.raises(InputError, match="sample_weight: all weights are zero"):
            DependencyTree().fit(X, sample_weight=np.zeros(4))
        with pytest.raises(InputError, match="sample_weight"):
            DependencyTree().fit(X, sample_weight=[1, 2])
        with pytest.raises(InputError, match="sample_weight"):
            DependencyTree().fit(X, sample_weight=[1, 2, -1, 0])
    tree = DependencyTree().fit(CODES)
    with pytest.raises(InputError, match="all weights are zero"):
        tree.score(Table(CODES, columns=["x0", "x1", "x2"], weights=np.zeros(4)))


def test_files(tmp_path):
    with pytest.raises(FileError, match="no such file"):
        DependencyTree().fit(tmp_path / "absent.parquet")
    broken = tmp_path / "broken.parquet"
    broken.write_bytes(b"nothing")
    with pytest.raises(FileError):
        DependencyTree().fit(broken)
    numbers = tmp_path / "numbers.parquet"
    pl.DataFrame({"a": [0.5, 1.5, 2.0], "b": [1.5, 0.5, 2.5]}).write_parquet(numbers)
    with pytest.raises(InputError, match="sample_weight: records of a file have none"):
        DependencyTree().fit(numbers, sample_weight=[1, 1, 1])


def test_questions():
    frame = pl.DataFrame({"a": list("xyxy"), "b": [0.5, 1.0, 1.5, 0.0], "c": [1, 1, 0, 0]})
    tree = DependencyTree().fit(frame)
    for ask, message in [
        (lambda: tree.predict_proba(frame, "b"), "'b' holds numbers, which predict gives"),
        (lambda: tree.predict(frame, "z"), "column: there is no column 'z'"),
        (lambda: tree.predict(frame, 9), "column 9 is not among the 3 columns"),
        (lambda: tree.marginals("a"), "given must map columns to values"),
        (lambda: tree.marginals({"z": 1}), "given: there is no column 'z'"),
        (lambda: tree.marginals({"a": "w"}), "column 'a' has no label 'w'"),
        (lambda: tree.marginals({"a": "x", 0: "y"}), "given: column 'a' has two values"),
        (lambda: tree.marginals({"b": "w"}), "given: column 'b' must be a finite number"),
        (lambda: tree.marginals({"b": True}), "given: column 'b' must be a finite number"),
        (lambda: tree.marginals({"b": np.nan}), "given: column 'b' must be a finite number"),
        (lambda: tree.sample(0), "n must be a whole number of at least 1"),
        (lambda: tree.sample(1, random_state="x"), "random_state"),
        (lambda: tree.score(frame.with_columns(b=pl.lit("w"))), "'b' holds String, but was numb"),
        (lambda: tree.score(frame.with_columns(b=np.inf)), "infinity: inf at row 0, column 'b'"),
        (lambda: tree.score(Table(CODES)), "X: there is no column 'a'"),
        (
            lambda: tree.score(Table(frame.with_columns(b=pl.lit("w")))),
            "X is discrete, but column 'b' was numbers in fit",
        ),
    ]:
        with pytest.raises(InputError, match=message):
            ask()


def test_what_is_impossible_has_no_consequences():
    tree = DependencyTree(smoothing=0).fit(np.array([[0, 0, 0], [1, 1, 1]] * 4))
    with pytest.raises(InputError, match="given: this has the probability zero"):
        tree.marginals({"x0": 0, "x2": 1})
    with pytest.raises(InputError, match="record 1 has the probability zero"):
        tree.predict_proba(np.array([[0, 0, 0], [0, 0, 1]]), "x0")
    told = tree.marginals({"x0": 0})
    assert told["x2"].to_dict() == {0: 1.0, 1: 0.0}
