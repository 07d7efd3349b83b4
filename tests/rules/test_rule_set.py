"""Sets of rules as text, frames and merged rules."""

import numpy as np
import pytest

from tacit import InputError
from tacit.rules import RuleSet
from tacit.rules.boosted.explanation import Explanation
from tacit.rules.boosted.rule_arrays import RuleArrays
from tacit.rules.conditions import OPERATORS


class Names:
    """As much of the features of a model as texts need."""

    names = ("gain", "town")

    def text(self, column, op, threshold):
        value = ("Bonn", "Ulm")[int(threshold)] if column else f"{threshold:g}"
        return f"{self.names[column]} {OPERATORS[op]} {value}"


def make_rules(bodies, heads, support, default=(0.5,)):
    tests = [test for body in bodies for test in body]
    scores = [part for head in heads for part in head]
    return RuleArrays(
        np.cumsum([0, *map(len, bodies)]),
        np.array([t[0] for t in tests], np.int32),
        np.array([t[1] for t in tests], np.uint8),
        np.array([t[2] for t in tests], np.float64),
        np.cumsum([0, *map(len, heads)]),
        np.array([s[0] for s in scores], np.int32),
        np.array([s[1] for s in scores], np.float64),
        np.array(support, np.float64),
        np.arange(len(bodies), 0, -1, dtype=np.float64),
        np.array(default, np.float64),
    )


BODIES = [
    [(0, 1, 7073.5), (1, 2, 1)],
    [(0, 1, 3.0), (0, 0, 9.0), (0, 1, 5.0), (1, 3, 0)],
    [(1, 2, 1), (0, 1, 7073.5)],
    [],
]
HEADS = [[(0, 0.82)], [(0, -0.5)], [(0, 0.1)], [(0, 0.01)]]
SUPPORT = [1204, 3.5, 1204, 5000]


@pytest.fixture
def rules():
    return RuleSet(make_rules(BODIES, HEADS, SUPPORT), Names(), [">50K"])


def test_rules_read_like_sentences(rules):
    assert str(rules[0]) == "if gain > 7073.5 and town = Ulm then >50K +0.82 (covers 1,204)"
    assert str(rules[-1]) == "always then >50K +0.01 (covers 5,000)"
    assert rules[1].support == 3.5
    assert rules[0].conditions[0].column == "gain"
    assert [rule.number for rule in rules] == [0, 1, 2, 3]
    assert [rule.number for rule in rules[1:3]] == [1, 2]
    with pytest.raises(IndexError, match="there are 4 rules"):
        rules[4]


def test_conditions_that_others_imply_are_not_shown(rules):
    assert rules[1].condition == "gain > 5 and gain ≤ 9 and town ≠ Bonn"


def test_texts_are_ranked(rules):
    assert rules.ranked() == [0, 2, 3, 1]
    assert rules.ranked("gain") == [0, 1, 2, 3]
    text = rules.to_text(top=1).splitlines()
    assert text == ["always >50K +0.5", str(rules[0]), "… and 3 more rules"]
    assert len(rules.to_text(top=None, order="learnt").splitlines()) == 5
    with pytest.raises(InputError, match="order must be"):
        rules.to_text(order="size")
    with pytest.raises(InputError, match="top must be"):
        rules.to_text(top=-1)


def test_frames_have_a_row_for_each_output():
    heads = [[(0, 0.5), (2, -0.25)], [(1, 1.0)]]
    arrays = make_rules(BODIES[:2], heads, [3, 4], default=(0.0, 0.1, 0.2))
    frame = RuleSet(arrays, Names(), ["a", "b", "c"]).to_frame()
    assert frame.columns == ["rule", "conditions", "output", "score", "support", "gain"]
    assert frame["rule"].to_list() == [0, 0, 1]
    assert frame["output"].to_list() == ["a", "c", "b"]
    assert frame["score"].to_list() == [0.5, -0.25, 1.0]
    assert frame["support"].to_list() == [3.0, 3.0, 4.0]


def test_merged_rules_have_the_same_scores(rules):
    merged = rules.merged()
    assert len(merged) == 3
    assert merged[0].head[">50K"] == pytest.approx(0.92)
    assert merged[0].support == 1204
    assert merged[0].gain == 6.0
    assert merged.default == rules.default
    assert merged.merged().to_frame().equals(merged.to_frame())
    total = rules.contributions().sum()
    assert merged.contributions().sum() == pytest.approx(total)


def test_merged_rules_keep_the_order_of_conditions():
    arrays = make_rules([BODIES[2], BODIES[0], BODIES[1]], HEADS[:3], SUPPORT[:3])
    merged = RuleSet(arrays, Names(), ["y"]).merged()
    assert merged[0].condition == "town = Ulm and gain > 7073.5"
    assert merged[1].condition == "gain > 5 and gain ≤ 9 and town ≠ Bonn"


def test_html_is_escaped(rules):
    page = rules._repr_html_()
    assert "gain &gt; 7073.5" in page
    assert page.count("<tr>") == 6
    assert repr(rules) == "RuleSet of 4 rules, 2.0 conditions each"


def test_a_long_head_is_cut():
    heads = [[(k, 0.1 * (k + 1)) for k in range(8)]]
    arrays = make_rules(BODIES[:1], heads, [3], default=[0.0] * 8)
    text = str(RuleSet(arrays, Names(), list("abcdefgh"))[0])
    assert "then h +0.8, g +0.7" in text
    assert "…" in text


def test_no_rules_at_all():
    rules = RuleSet(RuleArrays.empty(np.array([0.25])), Names(), ["y"])
    assert len(rules) == 0
    assert rules.to_text() == "always y +0.25"
    assert rules.to_frame().shape == (0, 6)
    assert len(rules.merged()) == 0


def test_explanations_add_up(rules):
    explanation = Explanation(
        ">50K", rules.default, tuple(rules[:3]), {">50K": 0.5 + 0.82 - 0.5 + 0.1}
    )
    frame = explanation.to_frame()
    assert frame["score"].sum() == pytest.approx(0.92)
    assert frame["rule"].to_list() == [None, 0, 1, 2]
    assert explanation.contributions() == [
        ("gain > 7073.5 and town = Ulm", pytest.approx(0.92)),
        ("gain > 5 and gain ≤ 9 and town ≠ Bonn", -0.5),
    ]
    assert explanation.to_text(top=1).splitlines() == [
        "prediction >50K; score of >50K: +0.92",
        "  +0.5 always",
        "  +0.92 gain > 7073.5 and town = Ulm",
        "  −0.5 1 more",
    ]
    assert "<td>gain &gt; 7073.5 and town = Ulm</td>" in explanation._repr_html_()
    with pytest.raises(InputError, match="output: there is no 'x'; there are '>50K'"):
        explanation.contributions("x")
    svg = explanation.to_svg(top=1)
    assert "1 more" in svg
    assert svg.count("<rect") == 1 + 4 + 1  # ground, bars and the line at zero


def test_arrays_of_files_are_checked():
    arrays = make_rules(BODIES, HEADS, SUPPORT).to_dict()
    assert len(RuleArrays.checked(arrays, 2, 1)) == 4
    for name, change, problem in (
        ("ops", lambda a: a + 4, r"'ops' has a number that is not in \[0, 4\)"),
        ("columns", lambda a: -a, "'columns' has a number"),
        ("outputs", lambda a: a + 1, "'outputs' has a number"),
        ("thresholds", lambda a: a * np.nan, "'thresholds' has a number that is not finite"),
        ("scores", lambda a: a[1:], "'rule_heads' does not end where 'outputs' does"),
        ("rule_conditions", lambda a: a[::-1].copy(), "'rule_conditions' does not ascend"),
        ("rule_heads", lambda a: a[1:], "'rule_heads' does not ascend"),
        ("gain", lambda a: a[1:], "'gain' or 'default_scores' has another length"),
        ("columns", lambda a: a.astype(np.int64), "'columns' has the type int64"),
    ):
        with pytest.raises(InputError, match=problem):
            RuleArrays.checked(arrays | {name: change(arrays[name])}, 2, 1)
