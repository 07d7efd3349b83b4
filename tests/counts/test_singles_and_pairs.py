"""OneWay, TwoWay and Pairs: what they give back, and what they refuse."""

import itertools
import math

import numpy as np
import polars as pl
import pytest
from scipy import sparse

from tacit import InputError, Table, machine
from tacit.schema import Column, Labels, Schema

BASKETS = [
    ["home", "news"],
    ["home"],
    ["sports", "home"],
    [],
    ["news", "sports"],
    ["news", "sports"],
]


@pytest.fixture
def visits():
    return Table.from_baskets(BASKETS)


@pytest.fixture
def letters():
    return Table({"A": [1, 2, 1, 1, 0], "B": ["x", None, "x", "y", "y"], "C": [7, 7, 7, 7, 7]})


def columns_of_ones(n, n_records=2):
    """Return a table of many columns without going through data of that size."""
    labels = Labels([0, 1], "Int64")
    schema = Schema([f"c{k}" for k in range(n)], [labels] * n, np.zeros(n, np.int64))
    return Table.from_stored(schema, np.arange(n_records + 1), np.arange(n_records))


def test_one_way_reports_counts_and_shares(letters):
    counts = letters.one_way()
    assert counts["B"] == {"x": 2, "y": 2, None: 1}
    assert counts["C"] == {7: 5}
    frame = counts.to_frame()
    assert frame.columns == ["column", "label", "count", "fraction"]
    assert frame["count"].to_list() == [1, 3, 1, 2, 2, 1, 5]
    assert frame["fraction"].to_list() == [0.2, 0.6, 0.2, 0.4, 0.4, 0.2, 1.0]
    assert frame["column"].to_list() == [*"AAABBBC"]
    assert frame["label"].to_list() == ["0", "1", "2", "x", "y", None, "7"]
    assert "OneWay of 3 columns, 5 records" in repr(counts)


def test_counts_of_nobody_have_shares_of_zero(letters):
    frame = letters.one_way(records=[]).to_frame()
    assert frame["count"].sum() == 0
    assert frame["fraction"].to_list() == [0.0] * 7


answers = {
    "one_way().array": lambda t: t.one_way().array("A"),
    "one_way().counts": lambda t: t.one_way().counts,
    "one_way().stored": lambda t: t.one_way().stored,
    "pairs().singles": lambda t: t.pairs().singles.counts,
    "two_way().singles": lambda t: t.two_way("A").singles.counts,
    "postings": lambda t: t.postings[1],
    "values": lambda t: t.values,
    "indptr": lambda t: t.indptr,
}


@pytest.mark.parametrize("answer", answers.values(), ids=answers)
def test_what_a_table_remembers_cannot_be_changed_through_an_answer(letters, answer):
    array = answer(letters)
    if array.flags.writeable:  # a copy of its own will do as well
        array[...] = 0
    assert letters.one_way()["A"] == {0: 1, 1: 3, 2: 1}
    assert letters.contingency(["A"]).to_array().tolist() == [1, 3, 1]
    assert letters.two_way("A")["C"].to_array().tolist() == [[1], [3], [1]]


def test_two_way_frames_list_what_occurs(letters):
    frame = letters.two_way("A").to_frame()
    assert frame.columns == ["A", "column", "label", "count"]
    assert frame.filter(column="C")["count"].to_list() == [1, 3, 1]
    assert frame.filter(column="B", A="1").sort("label")["count"].to_list() == [2, 1]
    assert "TwoWay of 'A' against 2 columns" in repr(letters.two_way("A"))


@pytest.mark.parametrize("name", ["column", "label", "count"])
def test_two_way_frames_keep_a_target_called_like_their_own_columns(name):
    frame = Table({name: [1, 2, 1], "x": ["a", "b", "b"]}).two_way(name).to_frame()
    assert frame.width == 4
    assert frame.height == 3


def test_a_target_of_one_value_is_refused(letters):
    with pytest.raises(InputError, match=r"target: column 'C' has one value only \(7\)"):
        letters.two_way("C")


def test_an_unknown_target_is_refused_with_a_hint():
    table = Table({"colour": [1, 2], "size": [1, 2]})
    with pytest.raises(
        InputError, match="target: there is no column 'color'; did you mean 'colour'"
    ):
        table.two_way("color")
    with pytest.raises(InputError, match="target must be a column's name or position, got True"):
        table.two_way(True)


@pytest.mark.parametrize("layout", ["dense", "sparse"])
def test_pairs_are_symmetric_with_one_way_counts_on_the_diagonal(visits, layout):
    pairs = visits.pairs(layout=layout)
    assert sparse.issparse(pairs.stored) == (layout == "sparse")
    square = pairs.stored.toarray() if layout == "sparse" else pairs.stored
    np.testing.assert_array_equal(square, square.T)
    np.testing.assert_array_equal(np.diag(square), visits.one_way().stored)
    assert pairs.total == 6
    assert layout in repr(pairs)


def expected_strength(by):
    """Work the strongest pairs of the baskets out one by one."""
    found = []
    for a, b in itertools.combinations(["home", "news", "sports"], 2):
        together = sum(a in basket and b in basket for basket in BASKETS)
        expected = math.prod(sum(x in basket for basket in BASKETS) for x in (a, b)) / len(BASKETS)
        score = {"count": together, "lift": together / expected, "leverage": together - expected}
        found.append((score[by], together, a, b, expected))
    return sorted(found, key=lambda row: (-row[0], -row[1], row[2], row[3]))


@pytest.mark.parametrize("by", ["leverage", "lift", "count"])
@pytest.mark.parametrize("layout", ["dense", "sparse"])
def test_the_strongest_pairs_come_first(visits, by, layout):
    frame = visits.pairs(layout=layout).strongest(by=by)
    rows = expected_strength(by)
    assert frame.select("a", "b").rows() == [(a, b) for _, _, a, b, _ in rows]
    assert frame["count"].to_list() == [count for _, count, *_ in rows]
    np.testing.assert_allclose(frame["expected"].to_list(), [row[-1] for row in rows])
    np.testing.assert_allclose(frame["lift"], frame["count"] / frame["expected"])


def test_the_strongest_pairs_can_be_fewer(visits):
    assert visits.pairs().strongest(top=1, by="count").height == 1
    assert visits.pairs().strongest(min_count=2)["count"].to_list() == [2]
    assert visits.pairs().strongest(min_count=99).height == 0
    assert visits.pairs(records=[]).strongest().height == 0


def test_values_of_one_column_are_no_pair():
    table = Table({"A": [0, 1, 2, 0, 0], "B": [0, 1, 1, 0, 0]})
    frame = table.pairs().strongest()
    assert frame.height == 2
    assert all(a.startswith("A") and b.startswith("B") for a, b in frame.select("a", "b").rows())


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (
            lambda t: t.pairs(layout="square"),
            "layout must be 'auto', 'dense' or 'sparse', got 'square'",
        ),
        (
            lambda t: t.pairs(method="magic"),
            "method must be 'auto', 'outer' or 'bitmap', got 'magic'",
        ),
        (
            lambda t: t.pairs(method="bitmap", layout="sparse"),
            "method='bitmap' fills a dense result",
        ),
        (
            lambda t: t.with_weights([1] * 6).pairs(method="bitmap"),
            "method='bitmap' counts records",
        ),
        (lambda t: t.pairs().strongest(by="chance"), "by must be 'leverage', 'lift' or 'count'"),
        (lambda t: t.pairs().strongest(0), "top must be a whole number of at least 1, got 0"),
        (lambda t: t.pairs().strongest(1.5), "top must be a whole number of at least 1, got 1.5"),
        (lambda t: t.pairs()["home"], "pairs takes two columns"),
        (lambda t: t.pairs()["home", "news", "sports"], "pairs takes two columns"),
        (lambda t: t.pairs()["home", "spots"], "there is no column 'spots'; did you mean 'sports'"),
        (lambda t: t.one_way()["nws"], "there is no column 'nws'; did you mean 'news'"),
        (lambda t: t.one_way(n_jobs=0), "n_jobs must be a non-zero integer or None, got 0"),
        (lambda t: t.two_way(0, n_jobs=0), "n_jobs must be a non-zero integer or None, got 0"),
        (lambda t: t.pairs(n_jobs=0), "n_jobs must be a non-zero integer or None, got 0"),
        (lambda t: t.pairs(n_jobs=1.5), "n_jobs must be a non-zero integer or None, got 1.5"),
        (lambda t: t.pairs(n_jobs=True), "n_jobs must be a non-zero integer or None, got True"),
        (lambda t: t.pairs(n_jobs="all"), "n_jobs must be a non-zero integer or None, got 'all'"),
    ],
)
def test_questions_that_make_no_sense_are_refused(visits, ask, message):
    with pytest.raises(InputError, match=message):
        ask(visits)


def test_a_dense_square_that_does_not_fit_is_refused_before_it_is_made():
    table = columns_of_ones(3_000_000)
    message = (
        r"a dense square of 3,000,000 stored values would take 90.0 TB, but .* use layout='sparse'"
    )
    with pytest.raises(InputError, match=message):
        table.pairs(layout="dense")
    with pytest.raises(InputError, match="a dense square of 3,000,000 stored values"):
        table.pairs(method="bitmap")


def test_two_way_counts_that_do_not_fit_are_refused_before_they_are_made(letters, monkeypatch):
    monkeypatch.setattr(machine, "available_memory", lambda: 10)
    with pytest.raises(InputError, match=r"would take .* of memory are available"):
        letters.two_way("A")


def test_auto_holds_many_columns_sparsely():
    table = columns_of_ones(50_000)
    pairs = table.pairs()
    assert sparse.issparse(pairs.stored)
    assert pairs.stored.nnz == 2
    assert pairs["c0", "c1"].to_array().tolist() == [[0, 1], [1, 0]]


def test_memory_is_only_checked_where_the_system_tells(visits, monkeypatch):
    monkeypatch.setattr(machine, "available_memory", lambda: 10)
    with pytest.raises(InputError, match="would take 90 B, but 10 B of memory are available"):
        visits.pairs(layout="dense")
    monkeypatch.setattr(machine, "available_memory", lambda: None)
    assert visits.pairs(layout="dense").total == 6


def test_columns_of_one_value_have_pairs_too(letters):
    for layout in ("dense", "sparse"):
        pairs = letters.pairs(layout=layout)
        assert pairs["A", "C"].to_array().tolist() == [[1], [3], [1]]
        assert pairs["C", "A"].to_array().tolist() == [[1, 3, 1]]
        assert pairs["C", "C"].to_array().tolist() == [[5]]


def test_a_table_of_constants_has_pairs():
    table = Table({"a": [1, 1], "b": [2, 2]})
    for layout in ("dense", "sparse"):
        assert table.pairs(layout=layout)["a", "b"].to_array().tolist() == [[2]]
        assert table.pairs(layout=layout).strongest().height == 0


def test_two_way_gives_columns_with_their_labels(letters):
    first, second = letters.two_way("A")["B"].columns
    assert (first.name, second.name) == ("A", "B")
    assert isinstance(first, Column)
    assert isinstance(letters.one_way().to_frame(), pl.DataFrame)
