"""ContingencyTable: what it gives back, and what it refuses."""

import datetime as dt

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from tacit import InputError, Table


@pytest.fixture
def weather():
    return Table({"sky": ["blue", "grey", "grey", None], "rain": [False, True, False, True]})


def test_cells_are_found_by_label(weather):
    table = weather.contingency(["sky", "rain"])
    assert table["grey", True] == 1
    assert table["blue", True] == 0
    assert table[None, True] == 1
    assert table.total == 4
    assert isinstance(table.total, int)
    assert isinstance(table["grey", True], int)


def test_one_column_needs_no_tuple(weather):
    assert weather.contingency(["sky"])["grey"] == 2


def test_to_array_is_a_copy(weather):
    table = weather.contingency(["sky", "rain"])
    table.to_array()[:] = 99
    assert table.total == 4


def test_to_frame_lists_the_combinations_that_occur(weather):
    expected = pl.DataFrame(
        {
            "sky": ["blue", "grey", "grey", None],
            "rain": [False, False, True, True],
            "count": [1, 1, 1, 1],
        }
    )
    table = weather.contingency(["sky", "rain"])
    assert_frame_equal(table.to_frame(), expected)
    with_zeros = table.to_frame(zeros=True)
    assert with_zeros.height == 6
    assert_frame_equal(with_zeros.filter(pl.col("count") > 0), expected)


def test_to_frame_keeps_dates_and_large_numbers():
    days = [dt.date(2020, 1, 1), None, dt.date(1960, 5, 5)]
    frame = pl.DataFrame({"day": days, "n": pl.Series([2**64 - 1, 0, 2**63], dtype=pl.UInt64)})
    result = Table(frame).contingency(["day", "n"]).to_frame()
    assert_frame_equal(result.drop("count"), frame, check_row_order=False)


def test_a_column_called_count_is_not_lost_in_the_frame():
    table = Table({"count": ["few", "many", "many"], "b": [1, 1, 0]})
    frame = table.contingency(["count", "b"]).to_frame()
    assert frame.width == 3
    assert sorted(frame["count"].to_list()) == ["few", "many", "many"]


def test_large_and_many_way_tables_are_shown_as_frames(weather):
    assert "count" in repr(weather.contingency(["sky"]))
    assert "sky × rain, 4 records" in repr(weather.contingency(["sky", "rain"]))
    assert "(missing)" in repr(weather.contingency(["sky", "rain"]))
    wide = Table({"a": range(40), "b": [0, 1] * 20})
    assert "shape: (40, 3)" in repr(wide.contingency(["a", "b"]))


def test_labels_are_escaped_in_html():
    table = Table({"<a>": ["<b>", "c"], "d": [1, 2]}).contingency(["<a>", "d"])
    text = table._repr_html_()
    assert "&lt;b&gt;" in text
    assert "<b>" not in text
    assert "<a>" not in text
    for other in (table.to_sparse(), table.marginal("<a>"), table.probabilities("<a>")):
        text = other._repr_html_()
        assert "&lt;a&gt;" in text
        assert "&lt;b&gt;" in text
        assert "<b>" not in text
        assert "<a>" not in text


def test_the_line_above_says_what_is_below(weather):
    table = weather.contingency(["sky", "rain"])
    sparse = table.to_sparse()
    assert repr(sparse).splitlines()[0] == "sky × rain, 4 records, 4 of 6 cells occur"
    assert repr(sparse).splitlines()[1:] == repr(table).splitlines()[1:]
    assert ">sky × rain, 4 records</div>" in table._repr_html_()
    assert repr(table.probabilities()).startswith("sky × rain, probabilities\n")
    assert repr(table.probabilities().marginal("sky")).startswith("sky, probabilities\n")
    assert repr(table.probabilities("sky")).startswith("sky × rain, probabilities given sky\n")
    assert repr(sparse.probabilities()).startswith("sky × rain, probabilities, 4 of 6 cells")


def test_weighted_tables_hold_sums_of_weights(weather):
    table = weather.with_weights([0.5, 1, 2, 0.25]).contingency(["sky", "rain"])
    assert table["grey", False] == 2
    assert table.total == 3.75
    assert "3.75 records" in repr(table)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ([], "columns must be one or more column names"),
        ("sky", "columns must be one or more column names, got 'sky'"),
        (["sky", "sky"], "columns must be distinct"),
        (["sky", 0], "columns must be distinct"),
        (["sku"], "columns: there is no column 'sku'; did you mean 'sky'"),
        ([2], "columns: column 2 is not among the 2 columns"),
        ([1.5], "columns must be a column's name or position, got 1.5"),
    ],
)
def test_columns_that_are_not_there_are_refused(weather, columns, message):
    with pytest.raises(InputError, match=message):
        weather.contingency(columns)


@pytest.mark.parametrize(
    ("columns", "labels", "message"),
    [
        (["sky", "rain"], "grey", "one label is needed for each of sky, rain"),
        (["sky"], "green", "column 'sky' has no label 'green'; its labels"),
        (["sky"], ["grey"], r"column 'sky' has no label \['grey'\]"),
    ],
)
def test_labels_that_are_not_there_are_refused(weather, columns, labels, message):
    table = weather.contingency(columns)
    with pytest.raises(InputError, match=message):
        table[labels]


def test_more_cells_than_memory_are_refused():
    table = Table({f"c{k}": range(1000) for k in range(5)})
    with pytest.raises(
        InputError,
        match=r"a dense table of 1,000,000,000,000,000 cells would take .* TB.*layout='sparse'",
    ):
        table.contingency(range(5), layout="dense")
    assert table.contingency(range(5)).n_occurring == 1000


def test_no_matching_records_make_a_table_of_zeros(weather):
    table = weather.contingency(["sky", "rain"], given={"sky": "blue", "rain": True})
    assert table.total == 0
    assert table.to_array().shape == (3, 2)
    assert table.to_frame().height == 0
    assert np.issubdtype(table.to_array().dtype, np.int64)
