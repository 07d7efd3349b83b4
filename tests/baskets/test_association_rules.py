"""Association rules: which there are, what is said of them, and what is refused."""

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from oracles.itemsets import association_rules, frequent_itemsets
from support.pages import data_of
from tacit import FrequentItemsets, InputError
from tacit.baskets.measures import MEASURES, lift_interval

ITEMS = tuple("abcdefg")


def make_baskets(n=150, seed=0):
    """Draw baskets: a is in all of them, d goes with c without exception, e mostly with b."""
    rng = np.random.default_rng(seed)
    held = rng.random((n, 7)) < [1, 0.5, 0.4, 0.2, 0.1, 0.5, 0.3]
    held[:, 3] |= held[:, 2]
    held[:, 4] |= held[:, 1] & (rng.random(n) < 0.8)
    return [{ITEMS[k] for k in np.flatnonzero(row)} for row in held]


BASKETS = make_baskets()
SETS = FrequentItemsets(min_support=5).fit(BASKETS)
EVERY = tuple(MEASURES)


def as_dict(rules):
    found = {rules.sides(k): tuple(rules.counts[k].tolist()) for k in range(len(rules))}
    assert len(found) == len(rules)
    return found


def tables(rules, baskets=BASKETS):
    """Yield the 2 × 2 table of each rule, counted anew."""
    for k in range(len(rules)):
        antecedent, consequent = rules.sides(k)
        left = np.array([set(antecedent) <= basket for basket in baskets])
        right = np.array([consequent in basket for basket in baskets])
        yield np.array(
            [[(left & right).sum(), (left & ~right).sum()],
             [(~left & right).sum(), (~left & ~right).sum()]]
        )  # fmt: skip


def by_definition(name, table):
    """Return a measure of A → C as it is defined; the table is [[AC, A¬C], [¬AC, ¬A¬C]]."""
    n = table.sum()
    both, a, c = table[0, 0] / n, table[0].sum() / n, table[:, 0].sum() / n
    if name == "lift":
        return both / (a * c)
    if name == "leverage":
        return both - a * c
    if name == "conviction":
        confidence = both / a
        if c == 1:
            return 1.0  # nothing is expected to fail, and nothing does
        return math.inf if confidence == 1 else (1 - c) / (1 - confidence)
    if name == "zhang":
        # The confidence where A is less that where it is not, over the greater of the two.
        with_a, without_a = both / a, (c - both) / (1 - a) if a < 1 else None
        if without_a is None or c == 1:
            return 0.0
        return (with_a - without_a) / max(with_a, without_a)
    if name == "jaccard":
        return both / (a + c - both)
    if name == "cosine":
        return both / math.sqrt(a * c)
    if name == "kulczynski":
        return (both / a + both / c) / 2
    if (table.sum(axis=0) == 0).any() or (table.sum(axis=1) == 0).any():
        return 0.0 if name == "chi2" else 1.0
    result = stats.chi2_contingency(table, correction=False)
    return result.statistic if name == "chi2" else result.pvalue


@pytest.mark.parametrize("name", EVERY)
def test_measures_are_what_they_are_defined_to_be(name):
    rules = SETS.rules(0, redundant=True)
    assert len(rules) > 100
    expected = [by_definition(name, table) for table in tables(rules)]
    found = rules.measure(name)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    if name == "conviction":
        assert np.isinf(found).any()
        assert (found[np.array([rules.sides(k)[1] == "a" for k in range(len(rules))])] == 1).all()


def test_counts_and_intervals():
    rules = SETS.rules(0.3, level=0.9)
    for k, table in enumerate(tables(rules)):
        both, left, right = table[0, 0], table[0].sum(), table[:, 0].sum()
        assert rules.counts[k].tolist() == [both, left, right]
        assert rules.measure("support")[k] == both / 150
        assert rules.measure("confidence")[k] == both / left
        wilson = stats.binomtest(both, left).proportion_ci(0.9, method="wilson")
        low, high = (bound[k] for bound in rules.interval("confidence"))
        assert (low, high) == pytest.approx((wilson.low, wilson.high))
    lift = rules.measure("lift")
    low, high = rules.interval("lift")
    assert (low <= lift).all()
    assert (lift <= high).all()
    with pytest.raises(InputError, match='name must be "confidence" or "lift"'):
        rules.interval("zhang")
    with pytest.raises(InputError, match="measures: 'lifts' is not known; did you mean 'lift'"):
        rules.measure("lifts")


def test_the_interval_of_lifts_holds_the_true_one_as_often_as_it_says():
    rng = np.random.default_rng(4)
    p = np.array([0.2, 0.1, 0.3, 0.4])  # both, the antecedent alone, the consequent alone, none
    truth = p[0] / (p[:2].sum() * (p[0] + p[2]))
    hits = 0
    for both, a, c, _ in rng.multinomial(500, p, 400):
        counts = (np.array([float(n)]) for n in (both, both + a, both + c))
        low, high = lift_interval(*counts, 500.0, 0.9)
        hits += int(low[0] <= truth <= high[0])
    assert abs(hits / 400 - 0.9) < 4 * math.sqrt(0.09 / 400)


@st.composite
def options(draw):
    return {
        "min_confidence": draw(st.sampled_from([0.0, 0.25, 0.5, 0.8, 1.0])),
        "redundant": draw(st.booleans()),
        "min_improvement": draw(st.sampled_from([0.0, 0.0625, 0.25])),
    }


@given(st.integers(0, 10**6), st.integers(1, 12), options())
@settings(max_examples=60, deadline=None)
def test_closed_sets_give_the_rules_of_all_sets(seed, min_count, asked):
    baskets = make_baskets(60, seed)
    expected = association_rules(frequent_itemsets(baskets, min_count), 60, **asked)
    for kind in ("closed", "all"):
        sets = FrequentItemsets(min_support=min_count, kind=kind).fit(baskets)
        rules = sets.rules(**asked)
        assert as_dict(rules) == expected
        frame = rules.to_frame()
        confidence = frame["confidence"].to_numpy()
        assert (np.diff(confidence) <= 0).all()
        assert (np.diff(frame["count"].to_numpy())[np.diff(confidence) == 0] <= 0).all()


def test_closed_sets_and_all_sets_give_the_same_frame():
    everything = FrequentItemsets(min_support=5, kind="all").fit(BASKETS)
    assert len(everything.itemsets_) > 1.5 * len(SETS.itemsets_)
    for redundant in (False, True):
        frame = SETS.rules(0.4, redundant=redundant).to_frame()
        assert everything.rules(0.4, redundant=redundant).to_frame().equals(frame)
        assert len(frame) > 5
    # {c} → d has no exception; with an item more it says no more.
    assert (("c",), "d") in as_dict(SETS.rules(1.0))
    assert not [left for left, right in as_dict(SETS.rules(1.0)) if right == "d" and len(left) > 1]
    few = FrequentItemsets(min_support=5, kind="all", max_size=2).fit(BASKETS).rules(0.4)
    pairs = {sides: n for sides, n in as_dict(SETS.rules(0.4)).items() if len(sides[0]) == 1}
    assert as_dict(few) == pairs


def test_a_longer_rule_is_compared_with_all_shorter_ones():
    """Not only with those of one item less: a → z is surer than a, b, c → z."""
    rows = [("a", 1, 2, 9, 10), ("ab", 0, 1, 3, 5), ("ac", 0, 1, 3, 5), ("bc", 0, 1, 3, 5)]
    baskets = []
    for items, _, _, hits, n in rows:
        baskets += [{*items, "z"}] * hits + [{*items}] * (n - hits)
    baskets += [{"a", "b", "c", "z"}] * 7 + [{"a", "b", "c"}] * 3 + [{"y"}] * 60
    every = FrequentItemsets(min_support=2, kind="all").fit(baskets).rules(0.2, redundant=True)
    confidence = dict(zip(as_dict(every), every.measure("confidence"), strict=True))
    long = confidence[("a", "b", "c"), "z"]
    assert max(confidence[pair, "z"] for pair in (("a", "b"), ("a", "c"), ("b", "c"))) < long
    assert confidence[("a",), "z"] > long
    kept = as_dict(FrequentItemsets(min_support=2).fit(baskets).rules(0.2))
    assert (("a",), "z") in kept
    assert (("a", "b", "c"), "z") not in kept


def test_weights():
    weights = np.random.default_rng(5).integers(0, 3, 150)
    repeated = [basket for basket, n in zip(BASKETS, weights, strict=True) for _ in range(n)]
    expected = FrequentItemsets(min_support=0.05).fit(repeated).rules(0.4)
    for unit in (1, 0.1):
        rules = FrequentItemsets(min_support=0.05).fit(BASKETS, None, weights * unit).rules(0.4)
        assert [rules.sides(k) for k in range(len(rules))] == [
            expected.sides(k) for k in range(len(expected))
        ]
        np.testing.assert_allclose(rules.counts, expected.counts * unit)
        for name in ("lift", "leverage", "conviction", "zhang"):
            np.testing.assert_allclose(rules.measure(name), expected.measure(name), atol=1e-12)


def test_filters():
    rules = as_dict(SETS.rules(0.3))
    some = as_dict(SETS.rules(0.3, antecedent=["b", "c"], consequent=["d", "e"]))
    assert some == {
        (left, right): n
        for (left, right), n in rules.items()
        if {"b", "c"} & set(left) and right in ("d", "e")
    }
    assert 0 < len(some) < len(rules)
    assert as_dict(SETS.rules(0.3, consequent="d")) == {
        sides: n for sides, n in rules.items() if sides[1] == "d"
    }
    every = SETS.rules(0.3, redundant=True)
    lifts = every.measure("lift")
    expected = {every.sides(k) for k in np.flatnonzero(lifts >= 1.2 * (1 - 1e-12))}
    assert 0 < len(expected) < len(every)
    assert set(as_dict(SETS.rules(0.3, min_lift=1.2, redundant=True))) == expected
    exact = float(np.sort(lifts)[len(lifts) // 2])  # a rule at the limit is kept
    assert exact in SETS.rules(0.3, min_lift=exact, redundant=True).measure("lift")
    assert as_dict(SETS.rules(0.3, consequent=[])) == {}


def test_the_strongest():
    rules = SETS.rules(0.2)
    for name in EVERY:
        values = rules.measure(name)
        best = rules.strongest(5, by=name).measure(name)
        order = np.sort(values) if name == "p_value" else -np.sort(-values)
        np.testing.assert_array_equal(best, order[:5])
    assert len(rules.strongest(10**6)) == len(rules)
    assert rules.strongest(3, by="confidence").to_frame()["confidence"][0] == 1
    with pytest.raises(InputError, match="top must be"):
        rules.strongest(0)
    with pytest.raises(InputError, match="measures: 'best' is not known"):
        rules.strongest(by="best")


def test_text_frame_page_and_picture():
    rules = SETS.rules(0.4, measures=["lift", "p_value"])
    frame = rules.to_frame()
    assert frame.columns == [
        "antecedent", "consequent", "count", "support", "confidence", "confidence_low",
        "confidence_high", "lift", "lift_low", "lift_high", "p_value",
    ]  # fmt: skip
    for k, row in enumerate(frame.iter_rows(named=True)):
        assert (tuple(row["antecedent"]), row["consequent"]) == rules.sides(k)
        assert row["count"] == rules.counts[k, 0]
    assert rules.to_frame(2).equals(frame[:2])
    lines = rules.to_text(top=1).splitlines()
    assert lines[0] == f"{len(rules)} association rules from 150 records"
    assert lines[1].startswith("  c → d: support ")
    assert ", confidence 100.0%, lift " in lines[1]
    assert len(lines) == 2
    assert len(rules.to_text(None).splitlines()) == 1 + len(rules)
    assert str(rules) == rules.to_text()
    data = data_of(rules.to_html(top=2))
    left, right = (
        [tuple(data["names"][k] for k in items) for items in column["values"]]
        for column in data["columns"][:2]
    )
    assert list(zip(left, right, strict=True)) == [(a, (c,)) for a, c in map(rules.sides, range(2))]
    assert "<table" in rules._repr_html_()
    assert len(rules.plot(kind="bars", top=3).patches) == 3
    assert rules.sides(-1) == rules.sides(len(rules) - 1)
    assert SETS.rules(0.4, measures="lift").measures == ("lift",)
    assert "lift" not in SETS.rules(0.4, measures=[]).to_frame().columns


def test_no_rules():
    frame = SETS.rules(0.4, measures=EVERY).to_frame()
    nothing = SETS.rules(1.0, consequent=["g"], measures=EVERY)
    assert len(nothing) == 0
    assert nothing.to_frame().schema == frame.schema
    assert nothing.to_text() == "0 association rules from 150 records"
    assert nothing.to_html().count("<tr>") == 1
    assert len(nothing.plot().patches) == 0
    assert len(nothing.strongest()) == 0
    for name in ("support", "confidence", *EVERY):
        assert nothing.measure(name).shape == (0,)


def test_labels_of_columns():
    frame = pl.DataFrame(
        {"plan": ["free", "pro", "pro", "free", "free"] * 8, "paid": [0, 1, 1, 0, 1] * 8}
    )
    rules = FrequentItemsets(min_support=1, defaults=True).fit(frame).rules(1.0)
    assert set(as_dict(rules)) == {(("paid = 0",), "plan = free"), (("plan = pro",), "paid")}
    some = FrequentItemsets(min_support=1, defaults=True).fit(frame)
    assert len(some.rules(0.1, consequent=[("plan", "free")], antecedent=[("paid", 0)])) == 1


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"min_confidence": 1.1}, "min_confidence must be"),
        ({"min_confidence": "high"}, "min_confidence must be"),
        ({"measures": ["lift", "zang"]}, "measures: 'zang' is not known; did you mean 'zhang'"),
        ({"antecedent": ["z"]}, "antecedent: there is no column 'z'"),
        ({"antecedent": 5.5}, "antecedent must be a list of items"),
        ({"consequent": [("a", "x")]}, "consequent: column 'a' has no label 'x'"),
        ({"min_lift": -1}, "min_lift must be"),
        ({"redundant": "no"}, "redundant must be True or False"),
        ({"min_improvement": 2}, "min_improvement must be"),
        ({"level": 1}, "level must be"),
        ({"level": 0}, "level must be"),
    ],
)
def test_bad_input(asked, message):
    with pytest.raises(InputError, match=message):
        SETS.rules(**asked)


def test_maximal_sets_are_refused():
    maximal = FrequentItemsets(min_support=5, kind="maximal").fit(BASKETS)
    with pytest.raises(InputError, match=r'^kind: maximal sets .*; fit with kind="closed"'):
        maximal.rules()
