"""Faults that were found by reading the code: none of them may come back."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest

import tacit
from tacit import InputError, Table, _core


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (pd.Categorical(["a", "b"]), pd.Categorical(["a", "z"])),
        ([1, 2], pd.array([None, 3], "Int64")),
        ([True, False], pd.array([None, True], "boolean")),
    ],
)
def test_joined_tables_keep_what_their_frames_disagree_about(first, second):
    frames = [pd.DataFrame({"c": part}) for part in (first, second)]
    whole = Table.concat([Table(frame) for frame in frames]).to_frame()["c"]
    expected = [x for frame in frames for x in frame["c"].astype(object)]
    for found, wanted in zip(whole.astype(object), expected, strict=True):
        assert (pd.isna(found) and pd.isna(wanted)) or found == wanted


def test_weighted_counts_of_what_never_occurs_are_zero():
    rng = np.random.default_rng(1)
    a = rng.integers(1, 4, 300)
    a[0] = 0
    table = Table({"a": a, "b": a > 0}, weights=rng.random(300), defaults={"a": 0, "b": False})
    for counts in (table.two_way("a")["b"], table.pairs()["a", "b"]):
        assert (counts.to_array() > 0).sum() == 4
        assert counts.to_frame().height == 4


def test_strings_that_repeat_themselves_are_told_apart():
    words = [f"{i:04d}{i:04d}" for i in range(3000)] * 2
    [(codes, first, counts, missing)] = _core.encode_columns(
        [pl.Series(words).__arrow_c_stream__()], 1
    )
    assert codes.tolist() == [*range(3000), *range(3000)]
    assert first.tolist() == list(range(3000))
    assert set(counts.tolist()) == {2}
    assert missing == -1


@pytest.mark.parametrize("weights", [None, np.array([1.0, 0.5, 2.0, 1.0])])
def test_rows_too_short_to_look_through_all_words_are_sorted(weights):
    indptr = np.array([0, 2, 4, 6, 8])
    values = np.array([5, 90_000, 5, 70_000, 5, 90_000, 0, 99_999], np.uint32)
    rows, columns, counts = _core.pair_counts_sparse(
        _core.Records(indptr, values, 100_000, None, weights), 1
    )
    own = slice(rows[5], rows[6])
    assert columns[own].tolist() == [5, 70_000, 90_000]
    assert counts[own].tolist() == ([3, 1, 2] if weights is None else [3.5, 0.5, 3.0])
    assert rows[-1] == 5 + 2 * 3  # the diagonal, and three pairs from both sides


def test_strongest_pairs_of_a_dense_result_are_found_in_bands(monkeypatch):
    table = tacit.datasets.make_uniform(500, 40, 0.2)
    pairs = {layout: table.pairs(layout=layout) for layout in ("dense", "sparse")}
    expected = pairs["sparse"].strongest(top=25, by="lift")
    monkeypatch.setattr(sys.modules["tacit.counts.pairs"], "_BAND", 100)
    for counted in pairs.values():
        assert counted.strongest(top=25, by="lift").equals(expected)


def test_missing_is_missing_in_every_frame():
    table = Table({"a": ["x", "x", None, "y"], "b": ["None", "None", "z", "z"]})
    assert None in table.two_way("b").to_frame()["label"].to_list()
    detail = table.pairs().strongest(detail=True)
    assert None in detail["a_label"].to_list()
    assert "a=(missing)" in detail["a"].to_list()


def test_contingency_frames_hold_moments_of_any_resolution():
    moments = pl.Series([1000, 1001, 2000]).cast(pl.Datetime("ns"))
    frame = Table(pl.DataFrame({"t": moments})).contingency(["t"]).to_frame()
    assert frame["count"].to_list() == [1, 1, 1]


def test_weights_without_a_sum_are_refused():
    with pytest.raises(InputError, match="weights must have a finite sum"):
        Table({"a": [1, 2, 3]}, weights=[1e308] * 3)


@pytest.mark.parametrize("size", [1, 3, 1 << 20])
def test_the_separator_of_baskets_does_not_depend_on_chunks(tmp_path, size):
    path = tmp_path / "x.dat"
    path.write_text("a b\nc,d\n")
    assert tacit.read_baskets(path, chunk_bytes=size).schema.names == ("a b", "c", "d")


def test_text_that_begins_like_an_archive_is_text(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("BZh,x\n1,2\n")
    assert tacit.read(path).schema.names == ("BZh", "x")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Table.concat(["x"]), "tables: item 0 is a str, not a Table"),
        (lambda: Table.from_baskets([3]), "basket 0 is a int; give a list"),
        (lambda: Table({"a": [1, 2]}).save("."), "is a folder"),
    ],
)
def test_odd_arguments_are_named(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_a_negative_zero_is_a_zero():
    assert str(Table({"a": [-0.0, 0.0, 1.0]}).schema["a"].labels[0]) == "0.0"
