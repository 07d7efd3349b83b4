"""How estimators take their y."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from tacit import InputError
from tacit.table.targets import read_target, refuse_reals


@pytest.mark.parametrize(
    "y",
    [
        [1, 2, 2],
        (1, 2, 2),
        np.array([1, 2, 2]),
        np.array([1, 2, 2], object),
        pd.Series([1, 2, 2], index=[5, 5, 9]),
        pl.Series([1, 2, 2]),
        pa.chunked_array([[1], [2, 2]]),
    ],
    ids=lambda y: type(y).__name__,
)
def test_any_form(y):
    assert read_target(y, 3).to_list() == [1, 2, 2]


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1, 2], "y must have 3 entries, one for each record; got 2"),
        ([1, None, 2], "y contains NaN or None: record 1 is missing"),
        ([1, 2, np.nan], "y contains NaN or None: record 2 is missing"),
        (
            np.array([1, "a", 2.5], object),
            "y cannot be read: it holds values of these types: int, str, float$",
        ),
        (5, "y cannot be read"),
    ],
)
def test_bad_targets(y, message):
    with pytest.raises(InputError, match=message):
        read_target(y, 3)


def test_reals_are_refused_where_classes_are_asked_for():
    refuse_reals(pl.Series([1.0, 2.0]))
    refuse_reals(pl.Series(["a"]))
    with pytest.raises(InputError, match=r"y holds real numbers \(record 1: 2.5\)"):
        refuse_reals(pl.Series([1.0, 2.5]))
    with pytest.raises(InputError, match=r"y holds real numbers \(record 0: inf\)"):
        refuse_reals(pl.Series([np.inf]))
