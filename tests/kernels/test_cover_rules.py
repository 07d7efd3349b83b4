"""One covering rule after another, against a search of all values."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from oracles import rules as rule_oracle
from oracles.rules import ABOVE, Condition
from support.rule_tables import Codes, coded_tables, predominants
from support.strategies import for_all_jobs
from tacit import _core

HEURISTICS = ("precision", "laplace", "m_estimate", "f_measure", "kulczynski", "foil_gain")


def counts_of(hits, misses):
    return np.stack([hits, misses], axis=1).astype(np.float32)


def conditions_of(columns, ops, low, high, depth):
    parts = zip(columns, low, ops, high, strict=True)
    return [Condition(*map(int, condition)) for condition in parts]


@st.composite
def covering_problems(draw):
    """Records of the class, others, and some that do not take part; weights are quarters."""
    table = draw(coded_tables(max_records=20))
    m = table.n_records
    weights = draw(hnp.arrays(np.float64, m, elements=st.integers(0, 8).map(lambda n: n / 4)))
    hit = draw(hnp.arrays(np.bool_, m))
    heuristic = draw(st.sampled_from(HEURISTICS))
    parameter = draw(st.sampled_from([0.25, 0.5, 1.0, 3.0]))
    longest = draw(st.integers(1, 4))
    support = draw(st.sampled_from([0.0, 1.0, 2.5]))
    return table, np.where(hit, weights, 0), np.where(hit, 0, weights), (
        heuristic, parameter, longest, support,
    )  # fmt: skip


@given(covering_problems(), st.data())
@settings(max_examples=400)
def test_rules_are_those_of_the_oracle(problem, data):
    table, hits, misses, options = problem
    grower = _core.RuleGrower(table.columns(data.draw(predominants(table))))
    for _ in range(2):  # a second rule begins anew
        counts = counts_of(hits, misses)
        found = for_all_jobs(lambda jobs, own=counts: grower.grow(own, *options, jobs))
        expected = rule_oracle.grow_covering_rule(table.codes, table.kinds, hits, misses, *options)
        assert conditions_of(*found) == expected
        leading = [rule_oracle.covers(table.codes, expected[: n + 1]) for n in range(len(expected))]
        np.testing.assert_array_equal(found[-1], sum(leading, np.zeros(table.n_records)))
        hits, misses = misses, hits


@pytest.mark.parametrize("heuristic", HEURISTICS)
def test_many_records_however_they_are_stored(heuristic):
    """Enough stored values for all ways of filtering them."""
    random = np.random.default_rng(5)
    codes = np.minimum(random.geometric(0.3, (4000, 6)) - 2, 9).astype(np.int32)
    table = Codes(codes, np.array([0, 0, 0, 0, 1, 1], np.uint8))
    hit = (codes[:, 0] > 2) & (codes[:, 4] == 1) | (random.random(4000) < 0.05)
    counts = counts_of(hit, ~hit)
    counts[random.random(4000) < 0.2] = 0
    rules = []
    for predominant in (None, [-1] * 6, [0] * 6, [3] * 6):
        grower = _core.RuleGrower(table.columns(predominant))
        found = for_all_jobs(
            lambda jobs, own=grower: own.grow(counts, heuristic, 0.5, 9, 2.0, jobs)
        )
        rules.append((conditions_of(*found), found[-1].tolist()))
    assert all(rule == rules[0] for rule in rules)
    assert len(rules[0][0]) >= 1
    expected = rule_oracle.grow_covering_rule(
        codes, table.kinds, *counts.T.astype(float), heuristic, 0.5, 9, 2.0
    )
    assert rules[0][0] == expected


def test_of_rules_as_precise_the_one_with_more_hits():
    codes = np.array([[0, 0], [0, 1], [1, 1], [2, 1]], np.int32)
    grower = _core.RuleGrower(Codes(codes, np.zeros(2, np.uint8)).columns())
    counts = counts_of([0, 1, 1, 1], [1, 0, 0, 0])
    found = grower.grow(counts, "precision", 0.0, 3, 1.0, 1)
    assert conditions_of(*found) == [Condition(1, 0, ABOVE, 1)]
    assert found[-1].tolist() == [0, 1, 1, 1]


def test_no_hits_and_no_misses_give_no_rule():
    grower = _core.RuleGrower(
        Codes(np.array([[0], [1]], np.int32), np.zeros(1, np.uint8)).columns()
    )
    for hits, misses in (([0, 0], [1, 1]), ([1, 1], [0, 0]), ([0, 0], [0, 0])):
        found = grower.grow(counts_of(hits, misses), "laplace", 0.0, 3, 1.0, 1)
        assert [len(part) for part in found] == [0, 0, 0, 0, 2]
        assert not found[-1].any()


def test_arguments_that_make_no_sense_are_refused():
    grower = _core.RuleGrower(
        Codes(np.array([[0], [1]], np.int32), np.zeros(1, np.uint8)).columns()
    )
    good = counts_of([1, 0], [0, 1])
    for counts, heuristic, longest, match in [
        (good[:1], "laplace", 3, "records"),
        (-good, "laplace", 3, "negative"),
        (good * np.float32(np.nan), "laplace", 3, "negative"),
        (good, "luck", 3, "heuristic"),
        (good, "laplace", 0, "max_conditions"),
        (good, "laplace", 256, "max_conditions"),
    ]:
        with pytest.raises(ValueError, match=match):
            grower.grow(counts, heuristic, 0.0, longest, 1.0, 1)
