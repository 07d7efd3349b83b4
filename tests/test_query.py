"""What queries mean: from labels, collections, ranges and exclusions to codes."""

import copy
import datetime as dt
import itertools
import pickle

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacit
from tacit import InputError, Table, between, exclude
from tacit.schema import check_query, complement


def codes(table, condition, column=0):
    """The codes that match, of one column."""
    [(position, ranges)] = check_query(table.schema, {table.schema.names[column]: condition})
    assert position == column
    assert list(ranges) == sorted(ranges)
    assert all(first <= last for first, last in ranges)
    assert all(a[1] + 1 < b[0] for a, b in itertools.pairwise(ranges))
    return [code for first, last in ranges for code in range(first, last + 1)]


@pytest.fixture
def towns():
    return Table({"town": ["Bern", "Köln", "Ulm", None]})


def test_collections_of_labels(towns):
    assert codes(towns, "Köln") == [1]
    for kind in (list, tuple, set, frozenset):
        assert codes(towns, kind(["Ulm", "Bern"])) == [0, 2]
        assert codes(towns, kind([])) == []
    assert codes(towns, [None, "Ulm", "Ulm"]) == [2, 3]
    assert codes(towns, np.array(["Ulm", "Köln"])) == [1, 2]
    numbers = Table({"n": [1, 2, 5]})
    assert codes(numbers, range(1, 3)) == codes(numbers, np.array([2, 1])) == [0, 1]


def test_exclusion_turns_any_condition_around(towns):
    assert codes(towns, exclude("Köln")) == [0, 2, 3]
    assert codes(towns, exclude([None, "Bern"])) == [1, 2]
    assert codes(towns, exclude([])) == [0, 1, 2, 3]
    assert codes(towns, exclude(exclude("Ulm"))) == [2]
    assert codes(towns, ["Ulm", exclude(["Ulm", "Bern"])]) == [1, 2, 3]
    ages = Table({"age": [1, 2, 3, 4, None]})
    assert codes(ages, exclude(between(2, 3))) == [0, 3, 4]


@given(st.integers(1, 12), st.data())
def test_complements_are_all_others(arity, draw):
    table = Table({"n": range(arity)})
    chosen = draw.draw(st.sets(st.integers(0, arity - 1)))
    assert codes(table, chosen) == sorted(chosen)
    assert codes(table, exclude(chosen)) == sorted(set(range(arity)) - chosen)
    [(_, ranges)] = check_query(table.schema, {"n": chosen})
    assert complement(complement(ranges, arity), arity) == ranges


def test_ranges_of_numbers():
    for ages in (Table({"age": [31, 58, 44, None]}), Table({"age": [31.0, 58.0, 44.0, np.nan]})):
        assert codes(ages, between(31, 44)) == [0, 1]
        assert codes(ages, between(31.5, 57.9)) == [1]
        assert codes(ages, between(32, 43)) == []
        assert codes(ages, between(None, 44)) == [0, 1]
        assert codes(ages, between(44)) == [1, 2]
        assert codes(ages, between()) == [0, 1, 2]  # what is missing never matches
        assert codes(ages, between(-np.inf, np.inf)) == [0, 1, 2]
        assert codes(ages, between(np.float32(31), np.int8(44))) == [0, 1]
        assert codes(ages, between(-(10**30), 10**30)) == [0, 1, 2]
        assert codes(ages, between(10**30, None)) == []
        assert codes(ages, [between(None, 31), 58]) == [0, 2]


def test_large_whole_numbers_are_not_rounded():
    ids = Table({"id": [2**60, 2**60 + 1, 2**60 + 2]}, kinds={"id": "numeric"})
    assert codes(ids, between(2**60 + 1, 2**60 + 1)) == [1]
    assert codes(ids, between(None, 2**60)) == [0]


def test_ranges_of_ordered_labels():
    sizes = Table(
        pl.DataFrame({"size": pl.Series(["L", "S", "M"], dtype=pl.Enum(["S", "M", "L"]))})
    )
    assert codes(sizes, between("S", "M")) == [0, 1]
    assert codes(sizes, between("M")) == [1, 2]
    days = Table({"day": [dt.date(2024, 1, 1), dt.date(2024, 1, 5), dt.date(2024, 3, 1), None]})
    assert codes(days, between(dt.date(2024, 1, 2), dt.date(2024, 2, 1))) == [1]
    assert codes(days, between(None, dt.date(2024, 2, 1))) == [0, 1]
    assert codes(days, between(dt.date(2025, 1, 1))) == []
    grades = Table({"grade": ["a", "b", "c"]}, kinds={"grade": "ordered"})
    assert codes(grades, between("b")) == [1, 2]


def test_ranges_of_bins():
    ages = Table({"age": [*range(10, 90), None]}).cut({"age": [20, 40, 60]})
    assert codes(ages, between(20, 60)) == [1, 2]
    assert codes(ages, between(None, 40)) == [0, 1]
    assert codes(ages, between(60)) == [3]
    assert codes(ages, between()) == [0, 1, 2, 3]
    assert codes(ages, between("20 – 40", ">= 60")) == [1, 2, 3]
    assert codes(ages, [25, 70]) == [1, 3]
    assert codes(ages, exclude(between(20, 60))) == [0, 3, 4]
    raw = [age for age in range(10, 90) if 20 <= age < 60]
    assert ages.count({"age": between(20, 60)}) == len(raw)


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        (between(25, 60), r"age' is cut at 20, 40, 60, and 25 is none of these; the nearest are "
         r"20 and 40"),
        (between(20, 99), "99 is none of these; the nearest is 60$"),
        (between(3), "3 is none of these; the nearest is 20$"),
        (between(40, 40), "holds none"),
        (between(60, 20), r"between\(60, 20\) ends before it begins"),
        (between("20 – 30"), "has no label '20 – 30'"),
    ],
)  # fmt: skip
def test_ranges_that_cut_through_bins(condition, message):
    ages = Table({"age": range(10, 90)}).cut({"age": [20, 40, 60]})
    with pytest.raises(InputError, match=message):
        ages.count({"age": condition})


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({"town": between("Bern", "Ulm")}, r"query: column 'town' is categorical, and between"),
        ({"wet": between(False, True)}, "column 'wet' is boolean"),
        ({"town": ["Bern", "Ulmm"]}, "column 'town' has no label 'Ulmm'.*did you mean 'Ulm'"),
        ({"town": exclude("Paris")}, "column 'town' has no label 'Paris'"),
        ({"town": {"Bern": 1}}, "column 'town' has no label"),
        ({"age": between("a")}, r"column 'age' has numbers; between\('a', None\) does not say"),
        ({"age": between(5, 3)}, r"query: column 'age': between\(5, 3\) ends before it begins"),
        ({"age": between(True)}, "has numbers"),
        ({"day": between(3)}, "has labels such as datetime.date.*do not compare"),
        ({"day": between("2024-01-01")}, "do not compare"),
        ({"size": between("L", "S")}, "ends before it begins"),
        ({"size": between("XL")}, "has no label 'XL'"),
        ({"aeg": [1]}, "no column 'aeg'; did you mean 'age'"),
        ([("age", 3)], "query must map columns to labels, got list"),
    ],
)
def test_what_no_column_can_be_asked(query, message):
    table = Table(
        pl.DataFrame(
            {
                "town": ["Bern", "Ulm"],
                "wet": [True, False],
                "age": [3, 4],
                "day": [dt.date(2024, 1, 1), dt.date(2024, 1, 2)],
                "size": pl.Series(["S", "L"], dtype=pl.Enum(["S", "L"])),
            }
        )
    )
    for ask in (table.where, table.count, tacit.ADTree(table).count):
        with pytest.raises(InputError, match=message):
            ask(query)


def test_nan_is_no_end():
    for ends in ((np.nan, 3), (None, float("nan")), (np.float32("nan"),)):
        with pytest.raises(InputError, match="between: NaN"):
            between(*ends)


def test_conditions_can_be_sent_and_compared():
    for condition in (between(1, 3), exclude(["a", None])):
        for other in (pickle.loads(pickle.dumps(condition)), copy.deepcopy(condition)):
            assert other == condition
    assert repr(exclude(between(None, 3))) == "exclude(between(None, 3))"
