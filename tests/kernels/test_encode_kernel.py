"""Codes in order of appearance, for strings and for 64-bit keys."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import counts as oracles
from support.strategies import JOBS
from tacit import _core

INT64 = st.integers(-(2**63), 2**63 - 1)
# Around the twelve bytes that an Arrow view holds itself, and with a common prefix beyond them.
texts = st.one_of(
    st.text(max_size=20),
    st.sampled_from(
        ["", "a", "x" * 11, "x" * 12, "x" * 13, "x" * 13 + "y", "x" * 40, "\0", "é" * 9]
    ),
)
chunks = st.lists(st.lists(st.none() | texts, max_size=12), min_size=1, max_size=4)
few_keys = st.lists(
    st.none() | st.sampled_from([-1, 0, 3, 2**40, -(2**63), 2**63 - 1]), max_size=30
)
near_keys = st.lists(st.none() | st.integers(10**15, 10**15 + 70_000), max_size=30)
any_keys = st.lists(st.none() | INT64, max_size=30)


def key_column(values, always_valid=False):
    keys = np.array([0 if v is None else v for v in values], np.int64)
    if None not in values and not always_valid:
        return keys, None
    return keys, np.array([v is not None for v in values], np.uint8)


def assert_encodes(make_columns, expected_values):
    """Compare with the oracle for every number of threads; make_columns makes them anew."""
    for jobs in JOBS:
        encoded = _core.encode_columns(make_columns(), jobs)
        assert len(encoded) == len(expected_values)
        for (codes, first, counts, missing), values in zip(encoded, expected_values, strict=True):
            assert codes.dtype == np.uint32
            expected = oracles.first_appearance_codes(values)
            assert (codes.tolist(), first.tolist(), counts.tolist(), missing) == expected


def text_series(pieces):
    """Return a series of several chunks."""
    series = [pl.Series("s", piece, dtype=pl.String) for piece in pieces]
    return pl.concat(series, rechunk=False)


@given(pieces=chunks)
@settings(max_examples=80)
def test_strings_are_numbered_by_appearance_across_chunks(pieces):
    series = text_series(pieces)
    assert_encodes(lambda: [series.__arrow_c_stream__()], [series.to_list()])


@given(pieces=chunks, pick=st.data())
@settings(max_examples=60)
def test_slices_of_strings_start_where_they_say(pieces, pick):
    series = text_series(pieces)
    start = pick.draw(st.integers(0, len(series)))
    part = series.slice(start, pick.draw(st.integers(0, len(series) - start)))
    assert_encodes(lambda: [part.__arrow_c_stream__()], [part.to_list()])


@given(values=st.one_of(few_keys, near_keys, any_keys), always_valid=st.booleans())
@settings(max_examples=120)
def test_keys_are_numbered_by_appearance(values, always_valid):
    assert_encodes(lambda: [key_column(values, always_valid)], [values])


@given(columns=st.lists(st.tuples(few_keys, chunks), max_size=6))
@settings(max_examples=30)
def test_columns_of_both_kinds_do_not_disturb_each_other(columns):
    series = [(keys, text_series(pieces)) for keys, pieces in columns]

    def make():
        return [
            column
            for keys, text in series
            for column in (key_column(keys), text.__arrow_c_stream__())
        ]

    assert_encodes(make, [values for keys, text in series for values in (keys, text.to_list())])


@pytest.mark.parametrize("n", [31, 32, 33, 64, 5000])
def test_many_distinct_values_outgrow_the_table_of_codes(n):
    rng = np.random.default_rng(n)
    keys = (rng.permutation(n).astype(np.int64) * 2**40).tolist() * 2
    long = [f"a rather long label number {k}" for k in keys]
    short = [f"{k % 10**9}" for k in keys]
    for values, column in [
        (keys, key_column(keys)),
        (long, pl.Series(long).__arrow_c_stream__()),
        (short, pl.Series(short).__arrow_c_stream__()),
    ]:
        [(codes, first, counts, missing)] = _core.encode_columns([column], 1)
        seen = {}
        assert codes.tolist() == [seen.setdefault(value, len(seen)) for value in values]
        assert [values[k] for k in first.tolist()] == list(seen)
        assert counts.sum() == len(values)
        assert missing == -1


@pytest.mark.parametrize("span", [2**16 - 1, 2**16, 2**16 + 1, 2**64 - 1])
def test_key_ranges_around_the_direct_table(span):
    low = -(2**63)
    values = [low + span, low, None, low + span // 2, low, low + span]
    assert_encodes(lambda: [key_column(values)], [values])


def test_all_missing_and_empty_columns():
    assert_encodes(lambda: [key_column([None, None])], [[None, None]])
    assert_encodes(lambda: [key_column([])], [[]])
    empty = pl.Series([], dtype=pl.String)
    assert_encodes(lambda: [empty.__arrow_c_stream__()], [[]])
    assert _core.encode_columns([], 2) == []


def test_streams_of_other_types_are_refused():
    with pytest.raises(TypeError, match="does not hold string views"):
        _core.encode_columns([pl.Series([1, 2]).__arrow_c_stream__()], 1)
