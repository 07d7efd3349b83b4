"""Scores, probabilities and Gibbs sweeps of forests, against a walk down every tree."""

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import counts as oracles
from support.random_trees import random_forest, walk
from support.strategies import VALUE_TYPES, Data, data, for_all_jobs
from tacit import _core

tables = data(weights=None, with_chosen=False)
randoms = st.randoms(use_true_random=False)


def columns_of(arities, defaults):
    offsets = np.concatenate(([0], np.cumsum(np.array(arities) - 1))).astype(np.int64)
    return offsets, np.array(defaults, np.int64)


def forest_arguments(table, forest, numbers=None):
    numbers = forest.table if numbers is None else numbers
    return *forest.arrays, *columns_of(table.arities, table.defaults), numbers, forest.start


def as_forest(table, forest, numbers=None):
    return _core.Forest(*forest_arguments(table, forest, numbers))


def records_of(table, dtype=np.uint16):
    return _core.Records(*table.csr(dtype), table.n_values)


@pytest.mark.parametrize("dtype", VALUE_TYPES)
@given(tables, randoms, st.booleans())
def test_scores(dtype, table, random, zeros):
    """A probability of zero makes a record's score -inf, and no other's."""
    forest = random_forest(random, table.arities, zeros)
    with np.errstate(divide="ignore"):
        numbers = np.log(forest.table)
        expected = [
            sum(np.log(forest.row(t, forest.leaf(t, ids))[row[t]]) for t in range(len(row)))
            for row, ids in zip(table.rows, table.lists, strict=True)
        ]
    scores = for_all_jobs(
        lambda n: _core.forest_scores(
            records_of(table, dtype), as_forest(table, forest, numbers), n
        ),
        (1, 2),
    )
    np.testing.assert_allclose(scores, expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("dtype", VALUE_TYPES)
@given(tables, randoms)
def test_probabilities(dtype, table, random):
    forest = random_forest(random, table.arities)
    found = for_all_jobs(
        lambda n: _core.forest_probabilities(records_of(table, dtype), as_forest(table, forest), n),
        (1, 2),
    )
    ids = oracles.value_ids(table.arities, table.defaults)
    expected = np.zeros((len(table.rows), len(ids)))
    for r, held in enumerate(table.lists):
        for (column, code), v in ids.items():
            expected[r, v] = forest.row(column, forest.leaf(column, held))[code]
    assert found.tolist() == expected.tolist()


def uniform(seed, counter):
    """SplitMix64 at a counter, in Python's whole numbers."""
    mask = 2**64 - 1
    z = (seed + (counter + 1) * 0x9E3779B97F4A7C15) & mask
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
    return ((z ^ (z >> 31)) >> 11) / 2**53


def sweep(codes, seed, first, n_sweeps, forest, table):
    ids = oracles.value_ids(table.arities, table.defaults)
    codes = list(codes)
    for s in range(first, first + n_sweeps):
        for c in range(len(codes)):
            held = [ids[pair] for pair in enumerate(codes) if pair in ids]
            chances = forest.row(c, forest.leaf(c, held))
            u = uniform(seed, s * len(codes) + c)
            codes[c] = min(int(np.searchsorted(np.cumsum(chances), u, "right")), len(chances) - 1)
    return codes


@given(tables, randoms, st.lists(st.integers(0, 2**62), min_size=24, max_size=24))
def test_gibbs(table, random, seeds):
    forest = random_forest(random, table.arities)
    start = np.array(table.rows, np.int32)
    seeds = np.array(seeds[: len(start)], np.int64)
    trees = as_forest(table, forest)
    drawn = for_all_jobs(lambda n: _core.forest_gibbs(start, seeds, 0, 3, trees, n), (1, 2))
    assert drawn.tolist() == [
        sweep(row, int(seed), 0, 3, forest, table)
        for row, seed in zip(table.rows, seeds, strict=True)
    ]
    halfway = _core.forest_gibbs(start, seeds, 0, 1, trees, 1)
    assert _core.forest_gibbs(halfway, seeds, 1, 2, trees, 1).tolist() == drawn.tolist()


def test_gibbs_never_draws_the_impossible():
    table = next_table()
    forest = random_forest(Random(1), table.arities, zeros=True)
    start = np.zeros((500, 4), np.int32)
    seeds = np.arange(500, dtype=np.int64)
    trees = as_forest(table, forest)
    before = _core.forest_gibbs(start, seeds, 0, 4, trees, 2)
    after = _core.forest_gibbs(before, seeds, 4, 1, trees, 1)
    ids = oracles.value_ids(table.arities, table.defaults)
    for row in after.tolist():  # the last column was drawn given all that is there now
        held = [ids[pair] for pair in enumerate(row) if pair in ids]
        assert forest.row(3, forest.leaf(3, held))[row[3]] > 0


def next_table():
    """Return a table of four columns with different arities and defaults."""
    return Data([(0, 0, 0, 0), (1, 2, 1, 3)], [2, 3, 2, 4], [0, 2, 1, 1])


def test_many_trees_and_records_on_several_threads():
    """Enough of both for many blocks; a sample of the answers is walked by hand."""
    rng = np.random.default_rng(11)
    arities = [2] * 150 + [4] * 10
    codes = np.where(rng.random((4000, 160)) < 0.08, rng.integers(1, 4, (4000, 160)), 0)
    codes = np.minimum(codes, np.array(arities) - 1)
    table = Data([tuple(row) for row in codes.tolist()], arities, [0] * 160)
    forest = random_forest(Random(2), arities)
    with np.errstate(divide="ignore"):
        numbers = np.log(forest.table)
    trees, records = as_forest(table, forest, numbers), records_of(table)
    scores = for_all_jobs(lambda n: _core.forest_scores(records, trees, n), (1, 2, 5))
    out = for_all_jobs(lambda n: _core.forest_probabilities(records, trees, n), (1, 2, 5))
    lists = table.lists
    for r in range(0, 4000, 331):
        leaves = [walk(forest.flat, lists[r], int(root)) for root in forest.roots[:-1]]
        logs = [np.log(forest.row(t, leaf)) for t, leaf in enumerate(leaves)]
        assert np.isclose(scores[r], sum(own[codes[r, t]] for t, own in enumerate(logs)))
        assert np.allclose(out[r], np.concatenate([own[1:] for own in logs]))


@pytest.mark.parametrize(
    ("place", "change", "message"),
    [
        (0, lambda a: a[:-1], "a tree for each column"),
        (0, lambda a: a + 1, "begin and end"),
        (0, lambda a: np.where(np.arange(len(a)) == 1, -5, a), "roots must ascend"),
        (0, lambda a: np.where(np.arange(len(a)) == 1, a[2], a), "must ascend|number for each"),
        (1, lambda a: np.where(a >= 0, 99, a), "one of the columns"),
        (1, lambda a: np.where(a >= 0, (a + 1) % 4, a), "the column's value ids"),
        (3, lambda a: a + 1000, "range of value ids"),
        (6, lambda a: a * 0, "behind their parents"),
        (7, lambda a: a * 0 + 1000, "another value id"),
        (9, lambda a: a + 9, "those of columns"),
        (10, lambda a: a[:-1], "begin and end"),
        (11, lambda a: a[::-1].copy(), "begin and end"),
    ],
)
def test_arrays_that_would_lead_astray_are_refused(place, change, message):
    table = next_table()
    forest = random_forest(Random(4), table.arities)
    arguments = list(forest_arguments(table, forest))
    assert len(_core.forest_scores(records_of(table), _core.Forest(*arguments), 1)) == 2
    arguments[place] = change(arguments[place]).astype(arguments[place].dtype)
    with pytest.raises(ValueError, match=message):
        _core.Forest(*arguments)


def test_gibbs_refuses_other_codes():
    table = next_table()
    trees = as_forest(table, random_forest(Random(4), table.arities))
    start, seeds = np.zeros((2, 4), np.int32), np.zeros(2, np.int64)
    with pytest.raises(ValueError, match="as many as chains"):
        _core.forest_gibbs(start, seeds[:1], 0, 1, trees, 1)
    with pytest.raises(ValueError, match="column for each tree"):
        _core.forest_gibbs(start[:, :3].copy(), seeds, 0, 1, trees, 1)
    with pytest.raises(ValueError, match="codes of their columns"):
        _core.forest_gibbs(start + 2, seeds, 0, 1, trees, 1)
