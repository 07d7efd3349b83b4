"""Tables in notebooks: the first records, columns by name, and a preview."""

import re
from html import unescape

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from tacit import InputError, Table

EVIL = '<script>alert("1")</script>'


@pytest.fixture(params=[pl.DataFrame, pd.DataFrame, pa.table], ids=["polars", "pandas", "pyarrow"])
def make(request):
    return request.param


def cells(html):
    """Return the texts of all rows."""
    rows = re.findall(r"<tr>(.*?)</tr>", html, re.S)
    return [
        [
            unescape(re.sub(r"<svg.*?</svg>", "", x))
            for x in re.findall(r"<t[hd].*?>(.*?)</t[hd]>", r)
        ]
        for r in rows
    ]


def test_head(make):
    data = {"a": ["x", "y", "x", "x"], "b": [1, 2, 3, 1]}
    first = Table(make(data)).head(2)
    assert isinstance(first, type(make(data)))
    assert pl.from_dataframe(first).to_dict(as_series=False) == {"a": ["x", "y"], "b": [1, 2]}
    table = Table(make(data))
    assert len(table.head()) == len(table.head(100)) == 4
    for wrong in (0, -1, 1.5, "2"):
        with pytest.raises(InputError, match="n must be a whole number"):
            table.head(wrong)


def test_a_column_by_name(make):
    data = {"a": ["x", None, "x"], "b": [1, 2, 1]}
    column = Table(make(data))["a"]
    own = make(data)["a"]
    assert isinstance(column, type(own))
    missing = nw.from_native(column, series_only=True).is_null().to_list()
    assert missing == [False, True, False]
    assert Table(np.array([[1, 0], [0, 3]]))["1"].to_list() == [0, 3]


def test_several_columns_by_name():
    table = Table({"a": [1, 2], "b": [3, 4], "c": [5, 5]}, weights=[1.0, 2.0])
    some = table[["c", "a"]]
    assert some.to_frame().equals(table.select(["c", "a"]).to_frame())
    assert some.weights.tolist() == [1.0, 2.0]
    assert "a" in table
    assert "x" not in table


@pytest.mark.parametrize("key", [0, [0], np.array([0, 1]), ("a", "b"), slice(2), None])
def test_records_are_not_columns(key):
    table = Table({"a": [1, 2], "b": [3, 4]})
    with pytest.raises(InputError, match=r"takes the name of a column .* table.take"):
        table[key]


def test_unknown_columns_are_named():
    table = Table({"age": [1, 2]})
    for key in ("agee", ["age", "agee"]):
        with pytest.raises(InputError, match="there is no column 'agee'; did you mean 'age'"):
            table[key]


def test_preview():
    data = {
        "sky": ["blue", "grey", "grey", None],
        "rain": [False, False, False, True],
        EVIL: [EVIL, "b", "b", "b"],
    }
    html = Table(data, weights=[1, 1, 1, 1])._repr_html_()
    assert EVIL not in html
    assert "Table of 4 records × 3 columns, 4 stored values" in html
    rows = cells(html)
    assert rows[0] == [
        "column",
        "kind",
        "default",
        "of records",
        "labels",
        "missing",
        "distribution",
    ]
    assert rows[1] == ["sky", "categorical", "grey", "50.0%", "2", "25.0%", ""]
    assert rows[2] == ["rain", "boolean", "False", "75.0%", "2", "", ""]
    assert rows[3][:3] == [EVIL, "categorical", "b"]
    assert rows[4] == ["sky", "rain", EVIL]
    assert rows[5:] == [
        ["blue", "False", EVIL], ["grey", "False", "b"], ["grey", "False", "b"],
        ["(missing)", "True", "b"],
    ]  # fmt: skip
    assert html.count("<svg") == 3
    assert 'aria-label="blue 25.0%, grey 50.0%, (missing) 25.0%"' in html


def test_histograms_of_many_labels():
    rng = np.random.default_rng(0)
    names = [f"label {k:04}" for k in rng.integers(0, 500, 2000)]
    html = Table({"n": rng.integers(0, 1000, 2000), "name": names})._repr_html_()
    assert "in 24 intervals" in html
    assert "the 24 most common of" in html
    for svg in re.findall(r"<svg.*?</svg>", html):
        heights = [float(h) for h in re.findall(r'height="([\d.]+)"/>', svg)]
        assert len(heights) == 24
        assert max(heights) == 22.0


def test_kinds_and_edges_are_shown_where_columns_have_them(monkeypatch):
    from tacit.schema import Column

    monkeypatch.setattr(Column, "kind", "ordered", raising=False)
    monkeypatch.setattr(Column, "edges", [1.5, 2.5], raising=False)
    assert cells(Table({"n": [1, 2, 3]})._repr_html_())[1][1] == "ordered, 3 bins"


def test_wide_tables_say_how_many_columns_are_not_shown(monkeypatch):
    ones = sparse.random(2000, 16_000, density=0.002, format="csr", random_state=0)
    ones.data[:] = 1
    table = Table(ones.astype(np.int64))
    dense = []
    monkeypatch.setattr(Table, "to_numpy", _noted(Table.to_numpy, dense))
    html = table._repr_html_()
    assert "… and 15,980 more columns" in html
    assert len(html) < 40_000
    assert dense == [(5, 20)]  # no more than is shown
    assert "postings" not in vars(table)


def _noted(method, shapes):
    def note(self):
        shapes.append(self.shape)
        return method(self)

    return note


def test_small_tables():
    assert "First 1 record<" in Table({"a": [1]})._repr_html_()
    html = Table({"a": [1, 2], "b": [1, 1]}, weights=[0.0, 0.0])._repr_html_()
    assert "nan" not in html
