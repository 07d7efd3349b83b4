"""The worked example of the sparse-counting paper: figures 1 and 2."""

import numpy as np
import pytest

from tacit import Table

A = [1, 2, 1, 1, 0, 1, 1]
B = [1, 2, 0, 2, 0, 0, 0]
C = [0, 0, 2, 1, 0, 2, 0]
RECORDS = {"A": A, "B": B, "C": C}

# Figure 1b: what each record's list holds.
LISTS = [
    [("B", 1)],
    [("A", 2), ("B", 2)],
    [("C", 2)],
    [("B", 2), ("C", 1)],
    [("A", 0)],
    [("C", 2)],
    [],
]
# Figure 2b and its like, counted by hand; indices are values 0, 1, 2.
ONE_WAY = {"A": [1, 5, 1], "B": [4, 1, 2], "C": [4, 1, 2]}
# Figure 2a and its like: rows are the first column's values.
TWO_WAY = {
    ("A", "B"): [[1, 0, 0], [3, 1, 1], [0, 0, 1]],
    ("A", "C"): [[1, 0, 0], [2, 1, 2], [1, 0, 0]],
    ("B", "C"): [[2, 0, 2], [1, 0, 0], [1, 1, 0]],
}
TWO_WAY |= {(b, a): np.transpose(counts).tolist() for (a, b), counts in TWO_WAY.items()}
TWO_WAY |= {(a, a): np.diag(counts).tolist() for a, counts in ONE_WAY.items()}

makers = {
    "mapping": lambda: Table(RECORDS),
    "array": lambda: Table(np.array([A, B, C]).T, columns=["A", "B", "C"]),
    "other defaults": lambda: Table(RECORDS, defaults={"A": 0, "B": 2, "C": 1}),
    "weights of one": lambda: Table(RECORDS, weights=np.ones(7)),
}
all_tables = pytest.mark.parametrize("make", makers.values(), ids=makers)


def test_the_defaults_are_the_most_common_values():
    table = Table(RECORDS)
    assert {c.name: c.default_label for c in table.columns} == {"A": 1, "B": 0, "C": 0}
    assert table.summary().factor == 7 * 3 / 8


def test_each_record_stores_what_figure_1b_lists():
    table = Table(RECORDS)
    stored = [
        [table.schema.value_label(v) for v in table.values[begin:end].tolist()]
        for begin, end in zip(table.indptr, table.indptr[1:], strict=False)
    ]
    assert stored == LISTS


@all_tables
def test_every_one_way_count(make):
    counts = make().one_way()
    for column, expected in ONE_WAY.items():
        assert counts[column] == dict(enumerate(expected))


@all_tables
@pytest.mark.parametrize("target", RECORDS)
def test_every_two_way_count_of_a_target(make, target):
    counts = make().two_way(target)
    for column in RECORDS:
        assert counts[column].to_array().tolist() == TWO_WAY[target, column]


@all_tables
@pytest.mark.parametrize(
    "how", [{"layout": "dense", "method": "outer"}, {"layout": "sparse"}, {"method": "bitmap"}, {}]
)
def test_every_count_of_all_pairs(make, how):
    table = make()
    if how.get("method") == "bitmap":
        table = table.with_weights(None)
    pairs = table.pairs(**how)
    for (a, b), expected in TWO_WAY.items():
        assert pairs[a, b].to_array().tolist() == expected


@all_tables
def test_every_contingency_table(make):
    table = make()
    for (a, b), expected in TWO_WAY.items():
        if a != b:
            assert table.contingency([a, b]).to_array().tolist() == expected
    cube = table.contingency(["A", "B", "C"]).to_array()
    for a, b, c in np.ndindex(3, 3, 3):
        assert cube[a, b, c] == list(zip(A, B, C, strict=True)).count((a, b, c))
