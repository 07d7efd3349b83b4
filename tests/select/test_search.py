"""The search finds what looking at every set finds, for every score, with and without bounds."""

from __future__ import annotations

import itertools
import math
from collections import Counter as Tally

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import mutual_info_score

import tacit
from support.strategies import data
from tacit.counts import ADTree
from tacit.select import measure, search
from tacit.select.criteria import CRITERIA
from tacit.select.measure import Measurer
from tacit.select.ranking import Ranking
from tacit.select.search import Search

CLOSE = 1e-10


def entropy(values, weights):
    """Return the entropy of values in nats, and how many of them occur."""
    totals = Tally()
    for value, weight in zip(values, weights, strict=True):
        totals[value] += weight
    counts = [w for w in totals.values() if w > 0]
    total = math.fsum(counts)
    return math.fsum(w / total * math.log(total / w) for w in counts), len(counts)


def slow_score(rows, weights, target, columns, given, name):
    """Score a set by the definitions, from the records."""

    def pick(*parts):
        return [tuple(row[c] for part in parts for c in part) for row in rows]

    total = math.fsum(weights)
    (h_sz, k_sz), (h_ysz, k_ysz) = (
        entropy(pick(columns, given), weights),
        entropy(pick(columns, given, [target]), weights),
    )
    (h_z, k_z), (h_yz, k_yz) = (
        entropy(pick(given), weights),
        entropy(pick(given, [target]), weights),
    )
    k_y = entropy(pick([target]), weights)[1]
    gain = (h_yz - h_z) - (h_ysz - h_sz)
    if name == "corrected":
        return gain - (k_ysz - k_sz - k_yz + k_z) / (2 * total)
    if name == "penalized":
        return gain - (k_sz - k_z) * (k_y - 1) * max(math.log(total), 0) / (2 * total)
    return gain


def find(table, target, candidates, n, name, given=(), n_best=5, bounded=True):
    ranking = Ranking(n_best)
    measurer = Measurer(ADTree(table), target, given)
    one = Search(measurer, CRITERIA[name], candidates, n, ranking, bounded=bounded)
    one.run(measurer.baseline())
    return ranking.best(), one


def is_lexicographic_best(best, scores):
    """Whether the sets are the best ones, and among equals those that come first."""
    order = sorted(scores, key=lambda columns: (-round(scores[columns], 10), columns))
    return [ranked.columns for ranked in best] == order[: len(best)]


@pytest.mark.parametrize("name", CRITERIA)
@given(d=data(max_rows=20, max_columns=6, with_chosen=False), pick=st.data())
@settings(max_examples=150)
def test_finds_what_brute_force_finds(name, d, pick):
    columns = list(range(len(d.arities)))
    target = pick.draw(st.sampled_from(columns))
    others = [c for c in columns if c != target]
    fixed = pick.draw(st.lists(st.sampled_from(others), unique=True, max_size=2)) if others else []
    candidates = [c for c in others if c not in fixed]
    weights = [1] * len(d.rows) if d.weights is None else d.weights.tolist()
    if not candidates or sum(weights) == 0:
        return
    n = pick.draw(st.integers(1, len(candidates)))
    n_best = pick.draw(st.integers(1, 8))
    scores = {
        columns: slow_score(d.rows, weights, target, columns, fixed, name)
        for columns in itertools.combinations(candidates, n)
    }
    best, one = find(d.table(), target, candidates, n, name, fixed, n_best)
    flat, all_of_them = find(d.table(), target, candidates, n, name, fixed, n_best, bounded=False)
    assert best == flat
    assert one.n_scored <= all_of_them.n_scored == len(scores) == one.n_subsets
    assert len(best) == min(n_best, len(scores))
    for ranked in best:
        assert ranked.score == pytest.approx(scores[ranked.columns], abs=CLOSE)
    assert is_lexicographic_best(best, scores)


@pytest.mark.parametrize("name", CRITERIA)
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_bounds_leave_out_much_and_lose_nothing(name, n, monkeypatch):
    monkeypatch.setattr(search, "_CHUNK", 50)  # small parts, so that later ones are left out
    monkeypatch.setattr(search, "_FIRST", 4)
    rng = np.random.default_rng(n)
    rare = rng.random((3000, 14)) < rng.uniform(0.002, 0.2, 14)
    y = rare[:, 3] ^ rare[:, 7] ^ (rng.random(3000) < 0.01)
    table = tacit.Table(np.column_stack((rare, y)).astype(int))
    done = []
    best, one = find(table, 14, range(14), n, name)
    flat, _ = find(table, 14, range(14), n, name, bounded=False)
    assert best == flat
    assert one.n_scored <= one.n_subsets * (1 if n == 1 else 0.95 if n == 2 else 0.6)
    ranking = Ranking(5)
    measurer = Measurer(ADTree(table), 14)
    again = Search(measurer, CRITERIA[name], range(14), n, ranking, report=done.append)
    again.run(measurer.baseline())
    assert sum(done) == again.n_subsets == math.comb(14, n)


def test_without_a_matrix_of_pairs(monkeypatch):
    table = tacit.datasets.make_synth(3000)
    expected, _ = find(table, 21, range(12, 21), 3, "information_gain")
    monkeypatch.setattr(search, "_MOST_PAIRS", 2)
    assert find(table, 21, range(12, 21), 3, "information_gain")[0] == expected


@pytest.mark.parametrize("weighted", [False, True])
def test_tables_too_large_for_a_batch_are_counted_sparse(monkeypatch, weighted):
    table = tacit.datasets.make_uniform(500, 8, 0.4, arity=5)
    if weighted:
        table = table.with_weights(np.arange(500) % 4)
    expected, _ = find(table, 7, range(7), 3, "penalized")
    for limit in (1, 126, 700):
        monkeypatch.setattr(measure, "_BATCH", limit)
        best, _ = find(table, 7, range(7), 3, "penalized")
        assert [r.columns for r in best] == [r.columns for r in expected]
        assert [r.score for r in best] == pytest.approx([r.score for r in expected], abs=1e-12)


@pytest.mark.parametrize("cells", [[], [5.0], [3.0, 8.0, 2.0, 1.0, 8.0, 9.0, 4.0, 4.0, 4.0]])
def test_batches_hold_each_table_once(monkeypatch, cells):
    monkeypatch.setattr(measure, "_BATCH", 8)
    batches = measure._batches(np.array(cells))
    assert sorted(np.concatenate([*batches, []]).tolist()) == list(range(len(cells)))
    for batch in batches:
        assert len(batch) == 1 or sum(cells[k] for k in batch) <= 8


def test_agrees_with_scikit_learn():
    table = tacit.datasets.load_visits().select(range(12))
    dense = table.to_numpy()
    best, _ = find(table, 11, range(11), 2, "information_gain", n_best=55)
    assert len(best) == 55
    for ranked in best:
        together = dense[:, ranked.columns] @ [100, 1]
        expected = mutual_info_score(together, dense[:, 11])
        assert ranked.score == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", CRITERIA)
def test_equal_columns_tie_and_the_first_ones_win(name):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 200)
    noisy = np.where(rng.random(200) < 0.7, y, rng.integers(0, 3, 200))
    renamed = np.array([2, 0, 1])[noisy]  # the same, by other labels
    other = rng.integers(0, 2, 200)
    table = tacit.Table(np.column_stack((other, noisy, renamed, noisy, y)))
    best, _ = find(table, 4, range(4), 2, name, n_best=3)
    # A second copy says nothing new, and is free where combinations are paid for.
    first = [(1, 2), (1, 3), (2, 3)] if name == "penalized" else [(0, 1), (0, 2), (0, 3)]
    assert [ranked.columns for ranked in best] == first
    assert len({ranked.score for ranked in best}) == 1


@pytest.mark.parametrize("name", CRITERIA)
def test_weight_of_two_is_the_record_twice(name):
    table = tacit.datasets.make_synth(400)
    weights = np.arange(400) % 3
    twice = table.to_frame("polars")[np.repeat(np.arange(400), weights)]
    some = ["circle 7", "square 6", "circle 11", "square 12", "circle 9", "triangle 8"]
    one = find(table.with_weights(weights).select(some), 3, [0, 1, 2, 4, 5], 3, name)[0]
    two = find(tacit.Table(twice).select(some), 3, [0, 1, 2, 4, 5], 3, name)[0]
    assert [r.columns for r in one] == [r.columns for r in two]
    assert [r.score for r in one] == pytest.approx([r.score for r in two], abs=1e-12)


def test_the_choice_of_defaults_does_not_matter():
    table = tacit.datasets.make_synth(300)
    other = table.with_defaults(dict.fromkeys(table.schema.names[::2], 1))
    sets = find(table, 12, range(12), 3, "penalized")[0]
    assert find(other, 12, range(12), 3, "penalized")[0] == sets


def test_ranking_does_not_depend_on_the_order():
    rng = np.random.default_rng(1)
    sets = np.array(list(itertools.combinations(range(8), 3)))
    scores = rng.integers(0, 6, len(sets)) / 8
    rows = np.arange(len(sets))
    measured = measure.Measured(scores, scores, rows, rows)
    whole = Ranking(10)
    whole.add(sets, scores, scores, measured)
    parts = Ranking(10)
    for k in rng.permutation(len(sets)):
        one = measure.Measured(*(a[[k]] for a in (scores, scores, rows, rows)))
        parts.add(sets[[k]], scores[[k]], scores[[k]], one)
    expected = sorted(zip(-scores, map(tuple, sets.tolist()), strict=True))[:10]
    assert [(-r.score, r.columns) for r in whole.best()] == expected
    assert parts.best() == whole.best()
