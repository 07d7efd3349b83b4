"""Rules of a class that are gone over again, what they cost in bits, and what is left over."""

from math import log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from oracles import rules as rule_oracle
from support.rule_tables import coded_tables
from tacit import CoveringRulesClassifier, _core
from tacit.rules.covering.description import exception_bits, rule_bits, subset_bits
from tacit.rules.covering.growing import GrownRule, RuleBody, RuleGrowth
from tacit.rules.covering.optimise import RuleOptimiser
from tacit.rules.covering.settings import CRITERIA, CoveringSettings

N_POSSIBLE = 12


def bits_by_hand(covered, hits, lengths):
    """The bits of rules and exceptions, by the formulas as they are published."""

    def subset(n, k, p):
        return -k * log2(p) * (k > 0) - (n - k) * (log2(1 - p) if n > k else 0)

    def errors_of(n, k, p):
        return subset(n, k, p) if 0 < p < 1 else 0.0 if k in (0, n) and p == k / n else np.inf

    n, p = len(covered), hits.sum()
    inside, wrong, missed = covered.sum(), (covered & ~hits).sum(), (hits & ~covered).sum()
    outside, errors = n - inside, wrong + missed
    bits = log2(n + 1)
    if inside > outside:
        bits += errors_of(inside, wrong, min(p / n * errors / inside, 1))
        bits += errors_of(outside, missed, missed / outside) if outside else 0
    else:
        bits += errors_of(inside, wrong, wrong / inside) if inside else 0
        bits += errors_of(outside, missed, min((1 - p / n) * errors / outside, 1))
    for k in lengths:
        told = log2(k) + (2 * log2(log2(k)) if k > 2 else 0)
        bits += (told + errors_of(N_POSSIBLE, k, k / N_POSSIBLE)) / 2
    return bits


@st.composite
def learnt(draw):
    """An optimiser, rules for its class that were grown on some of the records, and codes."""
    table = draw(coded_tables(max_records=24, min_records=4))
    m = table.n_records
    hits = draw(hnp.arrays(np.bool_, m))
    hits[0], hits[1] = True, False
    criterion = draw(st.sampled_from(CRITERIA))
    options = CoveringSettings(criterion, 0.5, 1 / 3, 3, 3, 1.0, None, 1)
    arrays = rule_oracle.column_arrays(table.codes, table.kinds, table.arities())
    random = np.random.default_rng(draw(st.integers(0, 9)))
    growth = RuleGrowth(_core.RuleColumns(**arrays), np.ones(m), options, random)
    rules = []
    for _ in range(draw(st.integers(1, 3))):
        some = draw(hnp.arrays(np.bool_, m))
        rule = growth.grow(hits & some, ~hits & some)
        if rule.n_conditions:
            rules.append(rule)
    everyone = np.ones(m, bool)
    return RuleOptimiser(growth, hits, everyone, N_POSSIBLE), rules, table.codes, hits


def conditions(rule):
    parts = zip(rule.body.columns, rule.body.low, rule.body.ops, rule.body.high, strict=True)
    return [rule_oracle.Condition(*map(int, part)) for part in parts]


def total_bits(rules, codes, hits):
    """What rules cost, by what their conditions cover of the codes themselves."""
    covered = np.zeros(len(codes), bool)
    for rule in rules:
        covered |= rule_oracle.covers(codes, conditions(rule))
    return bits_by_hand(covered, hits, [rule.n_conditions for rule in rules])


@given(learnt())
@settings(max_examples=200, deadline=None)
def test_rules_gone_over_again_never_take_more_bits(problem):
    optimiser, rules, codes, hits = problem
    again = optimiser.again(rules)
    assert len(again) == len(rules)
    for rule in again:
        assert 1 <= rule.n_conditions <= 3
        expected = rule_oracle.covers(codes, conditions(rule))
        np.testing.assert_array_equal(rule.covered, expected)
        leading = [
            rule_oracle.covers(codes, conditions(rule)[: n + 1]) for n in range(rule.n_conditions)
        ]
        np.testing.assert_array_equal(rule.depth, np.sum(leading, axis=0))
    before, after = (total_bits(some, codes, hits) for some in (rules, again))
    assert after <= before + 1e-9


@given(learnt())
@settings(max_examples=200, deadline=None)
def test_rules_that_are_not_worth_their_bits_are_dropped(problem):
    optimiser, rules, codes, hits = problem
    expected = list(rules)
    for rule in reversed(rules):
        without = [other for other in expected if other is not rule]
        if total_bits(without, codes, hits) <= total_bits(expected, codes, hits) + 1e-12:
            expected = without
    kept = optimiser.needed(rules)
    assert [conditions(rule) for rule in kept] == [conditions(rule) for rule in expected]


@given(
    st.integers(0, 20), st.integers(0, 20), st.integers(0, 20), st.integers(0, 20)
)  # fmt: skip
def test_bits_of_exceptions_by_hand(right, wrong, missed, rest):
    if not (right + missed and wrong + rest):
        return
    n = right + wrong + missed + rest
    covered = np.arange(n) < right + wrong
    hits = (np.arange(n) < right) | ((np.arange(n) >= n - missed) & (missed > 0))
    found = exception_bits(right + wrong, missed + rest, wrong, missed, (right + missed) / n)
    assert found == pytest.approx(bits_by_hand(covered, hits, []))


def test_bits_name_subsets_and_conditions():
    assert subset_bits(4, 1, 0.25) == pytest.approx(2 + 3 * log2(4 / 3))
    assert subset_bits(5, 5, 1.0) == 0
    assert subset_bits(5, 5, 0.0) == np.inf
    assert rule_bits(1, 2) == pytest.approx(1.0)
    assert rule_bits(4, 8) == pytest.approx((2 + 2 + 8) / 2)
    assert rule_bits(3, 2) == pytest.approx((log2(3) + 2 * log2(log2(3))) / 2)


def test_a_rule_that_goes_on_from_another():
    one = RuleBody(*(np.array([k], dtype) for k, dtype in enumerate("iBii")))
    first = GrownRule(one, np.array([1, 1, 0, 1], np.uint8))
    more = GrownRule(one, np.array([1, 0, 1, 1], np.uint8))
    both = first.then(more)
    assert both.depth.tolist() == [2, 1, 0, 2]
    assert both.covered.tolist() == [True, False, False, True]
    assert both.n_conditions == 2
    assert both.first(1).covered.tolist() == first.covered.tolist()


def noisy(n=2000):
    """Two reasons to be of class 1, and a tenth of all records are of it for none."""
    random = np.random.default_rng(3)
    X = random.integers(0, 10, (n, 4)).astype(float)
    y = ((X[:, 0] > 6) & (X[:, 1] < 5)) | ((X[:, 2] > 7) & (X[:, 3] < 8))
    return X, y ^ (random.random(n) < 0.1)


def test_going_over_rules_again_makes_them_fewer_and_no_worse():
    random = np.random.default_rng(0)
    centres, y = random.integers(0, 16, (8, 6)), random.integers(0, 8, 3000)
    X = np.clip(np.round(centres[y] + random.normal(0, 3, (3000, 6))), 0, 15)
    right, sizes = [], []
    for passes in (0, 2):
        models = [
            CoveringRulesClassifier("laplace", n_optimisations=passes, random_state=s)
            for s in range(3)
        ]
        right.append(np.mean([m.fit(X[:2000], y[:2000]).score(X[2000:], y[2000:]) for m in models]))
        sizes.append(np.mean([model.n_rules_ for model in models]))
    assert right[1] > right[0] - 0.005
    assert sizes[1] < 0.8 * sizes[0]


def test_the_criterion_depends_on_the_number_of_classes():
    X, y = noisy(500)
    three = y.astype(int) + (X[:, 3] > 8)
    for target, chosen in ((y, "m_estimate"), (three, "foil_gain")):
        texts = [
            CoveringRulesClassifier(criterion, random_state=0).fit(X, target).to_text()
            for criterion in ("auto", *CRITERIA)
        ]
        assert texts[0] == texts[1 + CRITERIA.index(chosen)]
    other = CoveringRulesClassifier(m=1.0, random_state=0).fit(X, y).to_text()
    assert other != CoveringRulesClassifier(random_state=0).fit(X, y).to_text()


def test_passes_go_no_further_than_max_rules_and_max_conditions():
    X, y = noisy()
    model = CoveringRulesClassifier("laplace", max_rules=2, max_conditions=2, random_state=1)
    model.fit(X, y)
    assert model.n_rules_ == 2
    assert max(len(rule.conditions) for rule in model.rules_) <= 2
