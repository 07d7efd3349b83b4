"""Logs: ranks of whole numbers, and rows sorted by record and item."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.strategies import for_all_jobs
from tacit import _core

REPEATS = ("all", "first", "last")


def sorted_rows(records, items, values, repeats):
    """Sort as plain Python does: (record, item, value) rows, and how many repeat a pair."""
    rows = sorted(zip(records, items, values, strict=True), key=lambda row: row[:2])
    kept = []
    for row in rows:
        if repeats == "all" or not kept or kept[-1][:2] != row[:2]:
            kept.append(row)
        elif repeats == "last":
            kept[-1] = row
    return kept, len(rows) - len({row[:2] for row in rows})


def check(records, items, values, n_records, n_items, repeats):
    """Compare with plain Python for every number of threads, with values and without."""
    arrays = [np.asarray(column, np.int32) for column in (records, items, values)]
    for given_values in (arrays[2], None):
        indptr, found, held, n_repeated = for_all_jobs(
            lambda jobs, given_values=given_values: tuple(
                np.asarray([-1] if part is None else part)
                for part in _core.sort_log(
                    *arrays[:2], given_values, n_records, n_items, repeats, jobs
                )
            )
        )
        rule = repeats if given_values is not None else "first"
        expected, expected_repeated = sorted_rows(*(a.tolist() for a in arrays), rule)
        assert indptr.dtype == np.int64
        assert found.dtype == (np.uint16 if n_items < 2**16 else np.uint32)
        lengths = np.bincount([row[0] for row in expected], minlength=n_records)
        np.testing.assert_array_equal(np.diff(indptr), lengths)
        assert indptr[0] == 0
        np.testing.assert_array_equal(found, [row[1] for row in expected])
        assert n_repeated == expected_repeated
        if given_values is None:
            assert held.tolist() == [-1]  # that is, None
        else:
            np.testing.assert_array_equal(held, [row[2] for row in expected])


@given(
    rows=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 9)), max_size=60),
    in_order=st.booleans(),
    repeats=st.sampled_from(REPEATS),
)
@settings(max_examples=100)
def test_rows_are_sorted_as_plain_python_does(rows, in_order, repeats):
    if in_order:
        rows.sort(key=lambda row: row[0])
    check([r for r, _ in rows], [i for _, i in rows], range(len(rows)), 5, 10, repeats)


@pytest.mark.parametrize("repeats", REPEATS)
@pytest.mark.parametrize("order", ["as drawn", "by record", "by both"])
@pytest.mark.parametrize(
    ("n_records", "n_items"),
    [(40, 500), (3, 70_000), (5000, 65_535), (9000, 3), (2, 10_000_000)],
    ids=["long", "bitmaps", "short", "narrow", "wide"],
)
def test_long_and_short_records(n_records, n_items, order, repeats):
    # Enough rows for several blocks and ranges of records.
    rng = np.random.default_rng(n_records)
    n = 300_000 if n_items < 10**6 else 300
    records = rng.integers(0, n_records, n)
    items = np.minimum(rng.zipf(1.3, n) - 1, n_items - 1)
    if order != "as drawn":
        keys = (items, records) if order == "by both" else (records,)
        moved = np.lexsort(keys)
        records, items = records[moved], items[moved]
    check(records, items, rng.integers(0, 100, n), n_records, n_items, repeats)


def test_a_record_without_rows_is_empty():
    for records in ([1, 3], [3, 1]):
        indptr, items, values, n_repeated = _core.sort_log(
            np.array(records, np.int32), np.array([7, 7], np.int32), None, 6, 8, "all", 2
        )
        assert indptr.tolist() == [0, 0, 1, 1, 2, 2, 2]
        assert (items.tolist(), values, n_repeated) == ([7, 7], None, 0)
    nothing = np.empty(0, np.int32)
    indptr, items, _, _ = _core.sort_log(nothing, nothing, None, 2, 1, "all", 2)
    assert (indptr.tolist(), len(items)) == ([0, 0, 0], 0)


def test_what_sorting_refuses():
    one, two = np.zeros(1, np.int32), np.zeros(2, np.int32)
    with pytest.raises(ValueError, match="must be as many"):
        _core.sort_log(one, two, None, 1, 1, "all", 1)
    with pytest.raises(ValueError, match="must be as many"):
        _core.sort_log(two, two, one, 1, 1, "all", 1)
    with pytest.raises(ValueError, match="repeats is not known: none"):
        _core.sort_log(two, two, None, 1, 1, "none", 1)


near = st.integers(-(2**31), 2**31 - 50).flatmap(
    lambda low: st.lists(st.integers(low, low + 49), min_size=1, max_size=40)
)


@given(numbers=near, wide=st.booleans(), cut=st.integers(0, 40))
@settings(max_examples=100)
def test_numbers_are_ranked_among_the_distinct_ones(numbers, wide, cut):
    array = np.array(numbers, np.int64 if wide else np.int32)
    if wide:
        array += 2**40
    chunks = [array[:cut], array[cut:]]
    low, high = _core.integer_bounds(chunks, 2)
    assert (low, high) == (array.min(), array.max())
    codes, distinct = for_all_jobs(lambda jobs: _core.code_integers(chunks, low, high, jobs))
    expected, ranks = np.unique(array, return_inverse=True)
    np.testing.assert_array_equal(distinct, expected)
    np.testing.assert_array_equal(codes, ranks)


def test_many_numbers_in_several_chunks():
    rng = np.random.default_rng(0)
    array = rng.integers(-1000, 100_000, 700_000)
    chunks = [array[:1], array[1:400_000], array[400_000:].astype(np.int32)]
    assert for_all_jobs(lambda jobs: np.array(_core.integer_bounds(chunks, jobs))).tolist() == [
        array.min(),
        array.max(),
    ]
    codes, distinct = for_all_jobs(
        lambda jobs: _core.code_integers(chunks, int(array.min()), int(array.max()), jobs)
    )
    np.testing.assert_array_equal(distinct[codes], array)
    np.testing.assert_array_equal(distinct, np.unique(array))


def test_bounds_at_the_ends_of_their_type():
    ends = np.array([2**63 - 1, -(2**63), 0])
    assert _core.integer_bounds([ends], 1) == (-(2**63), 2**63 - 1)
    codes, distinct = _core.code_integers([ends[:1]], 2**63 - 1, 2**63 - 1, 1)
    assert (codes.tolist(), distinct.tolist()) == ([0], [2**63 - 1])


def test_what_coding_refuses():
    with pytest.raises(ValueError, match="there must be a number"):
        _core.integer_bounds([np.empty(0, np.int64)], 1)
    with pytest.raises(TypeError, match="int32 or int64"):
        _core.integer_bounds([np.zeros(1)], 1)


def test_long_texts_that_share_their_characters_and_such_that_do_not():
    titles = [f"a title of many characters, number {k}" for k in range(300)]
    drawn = np.random.default_rng(0).integers(0, 300, 5000)
    shared = pl.Series(titles).gather(drawn)  # views of one buffer
    apart = pl.Series([titles[k] for k in drawn.tolist()])
    text = pl.concat([shared, apart], rechunk=False)
    [(codes, first, counts, missing)] = _core.encode_columns([text.__arrow_c_stream__()], 1)
    assert text[first].gather(codes).equals(text)
    assert len(first) == 300
    assert (counts.sum(), missing) == (10_000, -1)
