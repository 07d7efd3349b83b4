"""Questions that make no sense are refused, each with a message that names what is wrong."""

import numpy as np
import polars as pl
import pytest

import tacit
from tacit import ADTree, InputError, Table
from tacit.counts import Bitmaps, Scan

MAKERS = {"scan": Scan, "bitmaps": Bitmaps, "tree": ADTree, "planner": tacit.counter}

BAD_COLUMNS = [
    (["sku"], "there is no column 'sku'; did you mean 'sky'"),
    (["sky", "sky"], "must be distinct, but 'sky' is there twice"),
    (["sky", 0], "must be distinct, but 'sky' is there twice"),
    ([2], "column 2 is not among the 2 columns"),
    ([1.5], "must be a column's name or position, got 1.5"),
    ("sky", "must be one or more column names, got 'sky'"),
    (0, "must be one or more column names, got 0"),
    (None, "must be one or more column names, got None"),
    ([], "must be one or more column names, got none"),
]
BAD_QUERIES = [
    ({"sku": "blue"}, "there is no column 'sku'; did you mean 'sky'"),
    ({"sky": "bleu"}, "column 'sky' has no label 'bleu'; its labels are 'blue', 'grey'"),
    ({"sky": "blue", 0: "grey"}, "column 'sky' has two values"),
    ({0: "blue", "sky": "blue"}, "column 'sky' has two values"),
    (["sky"], "must map columns to labels, got list"),
]


@pytest.fixture(params=MAKERS)
def counter(request):
    table = Table({"sky": ["blue", "grey", "grey"], "rain": [False, True, False]})
    return MAKERS[request.param](table)


@pytest.mark.parametrize(("columns", "message"), BAD_COLUMNS)
def test_columns_that_make_no_table(counter, columns, message):
    with pytest.raises(InputError, match=f"^columns:? {message}"):
        counter.table(columns)
    with pytest.raises(InputError, match=f"^column_sets:? {message}"):
        counter.tables([["sky"], columns])


@pytest.mark.parametrize(("query", "message"), BAD_QUERIES)
def test_conditions_that_make_no_sense(counter, query, message):
    with pytest.raises(InputError, match=message):
        counter.count(query)
    with pytest.raises(InputError, match=message):
        counter.table(["rain"], query)
    with pytest.raises(InputError, match=message):
        counter.tables([["rain"]], query)


@pytest.mark.parametrize(
    ("sets", "message"),
    [
        (np.array([[0, 2]]), r"positions of columns must be in \[0, 2\)"),
        (np.array([[-1, 0]]), r"positions of columns must be in \[0, 2\)"),
        (np.array([[2**63]], np.uint64), r"positions of columns must be in \[0, 2\)"),
        (np.array([[0, 1], [1, 1]]), "the columns of a set must be distinct"),
        (np.array([[0.0, 1.0]]), "sequences of columns, or a 2-D integer array"),
        (np.array([[False, True]]), "sequences of columns, or a 2-D integer array"),
        (np.array([["sky", "rain"]]), "sequences of columns, or a 2-D integer array"),
        (np.array([0, 1]), "sequences of columns, or a 2-D integer array"),
        (np.array([[[0]]]), "sequences of columns, or a 2-D integer array"),
        (np.zeros((3, 0), np.int64), "must be one or more column names, got none"),
        (None, "must be sequences of columns, got NoneType"),
        (7, "must be sequences of columns, got int"),
        ([0, 1], "must be one or more column names, got 0"),
        (["sky"], "must be one or more column names, got 'sky'"),
    ],
)
def test_sets_of_columns_that_make_no_tables(counter, sets, message):
    with pytest.raises(InputError, match=f"^column_sets.*{message}"):
        counter.tables(sets)


@pytest.mark.parametrize("layout", ["wide", None, 3, ["dense"]])
def test_unknown_layouts(counter, layout):
    with pytest.raises(InputError, match="layout must be 'auto', 'dense' or 'sparse', got"):
        counter.table(["sky"], layout=layout)


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_only_tables_are_counted(make):
    with pytest.raises(InputError, match="table must be a Table, got DataFrame; "):
        make(pl.DataFrame({"a": [1, 2]}))


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_tables_too_large_to_number_or_to_hold(make):
    rng = np.random.default_rng(1)
    counter = make(Table(rng.integers(0, 8, (50, 98))))
    for layout in ("auto", "dense", "sparse"):
        with pytest.raises(InputError, match=r"columns: a table of 2\^294 cells has more than can"):
            counter.table(range(98), layout=layout)
    with pytest.raises(InputError, match="ask for fewer at a time"):
        counter.tables([range(98)])
    with pytest.raises(
        InputError,
        match=r"a dense table of 1,152,921,504,606,846,976 cells would take .* of memory are "
        "available; ask for layout='sparse'",
    ):
        counter.table(range(20), layout="dense")
    assert counter.table(range(20)).total == 50  # in the sparse form
    assert counter.table(range(20)).to_frame()["count"].sum() == 50


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"leaf_size": 0}, "leaf_size must be a whole number of at least 1, got 0"),
        ({"leaf_size": 2.0}, "leaf_size must be a whole number of at least 1, got 2.0"),
        ({"leaf_size": True}, "leaf_size must be a whole number of at least 1, got True"),
        ({"leaf_size": None}, "leaf_size must be a whole number of at least 1, got None"),
        ({"max_depth": -1}, "max_depth must be a whole number of at least 0, got -1"),
        ({"max_depth": "2"}, "max_depth must be a whole number of at least 0, got '2'"),
        ({"memory_limit": 0}, "memory_limit must be a whole number of at least 1, got 0"),
        ({"memory_limit": 1e6}, "memory_limit must be a whole number of at least 1, got 1000000.0"),
        ({"min_count": 0}, "min_count must be a whole number of at least 1, got 0"),
        ({"min_count": np.float64(2)}, "min_count must be a whole number of at least 1"),
    ],
)
def test_trees_that_cannot_be(settings, message):
    with pytest.raises(InputError, match=message):
        ADTree(Table({"a": [1, 2]}), **settings)


def test_settings_beyond_any_size_mean_no_bound():
    table = Table({"a": [1, 2, 2], "b": [1, 1, 2]})
    for settings in ({"leaf_size": 2**70}, {"max_depth": 2**70}, {"memory_limit": 2**70}):
        assert ADTree(table, **settings).count({"a": 2, "b": 1}) == 1


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"memo": -1}, "memo must be a whole number of at least 0, got -1"),
        ({"memo": 1.5}, "memo must be a whole number of at least 0, got 1.5"),
        ({"memory_limit": 0}, "memory_limit must be a whole number of at least 1, got 0"),
    ],
)
def test_planners_that_cannot_be(settings, message):
    with pytest.raises(InputError, match=message):
        tacit.counter(Table({"a": [1, 2]}), **settings)


def test_jobs_must_be_a_number():
    with pytest.raises(InputError, match="n_jobs must be a non-zero integer or None, got 0"):
        Scan(Table({"a": [1, 2]}), n_jobs=0)
