"""Trees as text, and their leaves as rules."""

import numpy as np
import polars as pl
import pytest

from tacit import DecisionTreeClassifier, DecisionTreeRegressor, InputError, Table
from tacit.schema import Labels, Schema
from tacit.table.discretise import bins_of
from tacit.tree.drawing.conditions import Conditions
from tacit.tree.nodes import Nodes

WEATHER = {
    "sky": ["blue", "grey", "grey", "blue"] * 50,
    "wind": [1, 2, 3, 4] * 50,
    "rain": ["no", "no", "yes", "no"] * 50,
}


@pytest.fixture
def tree():
    return DecisionTreeClassifier().fit(Table(WEATHER), "rain")


def no_nodes(ordered=()):
    """Return nodes that only say which columns are ordered."""
    n = len(ordered) or 1
    column = np.array([*ordered] or [-1], np.int32)
    zeros = np.zeros(n, np.int32)
    left = np.where(column >= 0, 0, -1).astype(np.int32)
    floats = np.zeros(n)
    return Nodes(
        column, zeros, zeros, zeros.astype(np.uint8), left, left + 1, zeros, zeros[:0],
        floats, floats, zeros - 1, floats[:, None],
    )  # fmt: skip


class TestConditions:
    BINS = bins_of([1.5, 3], missing=True)
    ORDERED = Labels([1, 2, 5, 9], "Int64")

    @pytest.mark.parametrize(
        ("labels", "allowed", "text"),
        [
            (BINS, [1, 0, 0, 0], "x < 1.5"),
            (BINS, [1, 1, 0, 0], "x < 3"),
            (BINS, [0, 1, 1, 0], "x ≥ 1.5"),
            (BINS, [0, 0, 1, 1], "x ≥ 3 or missing"),
            (BINS, [0, 1, 0, 0], "1.5 ≤ x < 3"),
            (BINS, [0, 0, 0, 1], "x is missing"),
            (BINS, [1, 1, 1, 0], "x is known"),
            (BINS, [1, 1, 1, 1], "x is anything"),
            (BINS, [1, 0, 1, 0], "x in {< 1.5, >= 3}"),
            (ORDERED, [1, 0, 0, 0], "x ≤ 1"),
            (ORDERED, [1, 1, 0, 0], "x ≤ 2"),
            (ORDERED, [0, 1, 1, 1], "x > 1"),
            (ORDERED, [0, 1, 0, 0], "x = 2"),
            (ORDERED, [0, 1, 1, 0], "2 ≤ x ≤ 5"),
            (ORDERED, [0, 0, 0, 1], "x > 5"),
        ],
    )
    def test_bins_and_ordered_labels(self, labels, allowed, text):
        nodes = no_nodes([0] if labels is self.ORDERED else [])
        shown = Conditions(nodes, Schema(["x"], [labels], [0]))
        assert shown.text(0, np.array(allowed, bool)) == text

    def test_two_ordered_labels(self):
        shown = Conditions(no_nodes([0]), Schema(["x"], [Labels([0, 1], "Int64")], [0]))
        assert shown.text(0, np.array([True, False])) == "x = 0"

    @pytest.mark.parametrize(
        ("allowed", "text"),
        [
            ([1, 0, 0, 0, 0], "x = a"),
            ([0, 1, 1, 1, 1], "x ≠ a"),
            ([1, 0, 1, 0, 0], "x in {a, c}"),
            ([0, 1, 0, 1, 1], "x not in {a, c}"),
            ([0, 0, 0, 0, 1], "x is missing"),
            ([1, 1, 1, 1, 0], "x is known"),
            ([1, 0, 0, 0, 1], "x in {a, missing}"),
        ],
    )
    def test_labels(self, allowed, text):
        labels = Labels(["a", "b", "c", "d", None], "String")
        shown = Conditions(no_nodes(), Schema(["x"], [labels], [0]))
        assert shown.text(0, np.array(allowed, bool)) == text

    def test_many_labels(self):
        shown = Conditions(no_nodes(), Schema(["x"], [Labels(range(40), "Int64")], [0]))
        text = shown.text(0, np.arange(40) < 12)
        assert text == "x in {0, 1, 2, 3, 4, 5, 6, 7, …}"


class TestTree:
    def test_text(self, tree):
        assert tree.to_text().splitlines() == [
            "rain: no 75 %, yes 25 % (200 records)",
            "sky = grey",
            "  wind < 2.5: no 99 % (50 records)",
            "  wind ≥ 2.5: yes 99 % (50 records)",
            "sky = blue: no > 99 % (100 records)",
        ]

    def test_max_depth(self, tree):
        assert tree.to_text(max_depth=1).splitlines()[1:] == [
            "sky = grey: … no 50 % (100 records)",
            "sky = blue: no > 99 % (100 records)",
        ]
        with pytest.raises(InputError, match="max_depth must be a whole number"):
            tree.to_text(max_depth=0)

    def test_rules(self, tree):
        assert [str(rule) for rule in tree.rules()] == [
            "if sky = blue then rain = no (100 records, > 99 %)",
            "if sky = grey and wind ≥ 2.5 then rain = yes (50 records, 99 %)",
            "if sky = grey and wind < 2.5 then rain = no (50 records, 99 %)",
        ]
        rule = tree.rules()[1]
        assert rule.conditions == (("sky = grey", "wind ≥ 2.5"),)
        assert rule.prediction == "yes"
        assert rule.records == 50
        assert rule.probability == pytest.approx(50.5 / 51)

    def test_a_rule_for_each_record(self):
        rng = np.random.default_rng(0)
        frame = pl.DataFrame({"a": rng.normal(size=300), "b": rng.choice(list("xyz"), 300)})
        y = (frame["a"].to_numpy() > 0) & (frame["b"].to_numpy() == "x")
        model = DecisionTreeClassifier("gini").fit(frame, y)
        rules = {rule.leaf: rule for rule in model.rules()}
        assert len(rules) == model.n_leaves_
        leaves = model.apply(frame)
        for leaf, rule in rules.items():
            assert rule.records == (leaves == leaf).sum()

    def test_several_conditions_on_a_column_are_one(self):
        x = np.repeat([0.0, 1.0, 2.0], 40)
        model = DecisionTreeClassifier().fit({"x": x}, [0] * 40 + [1] * 40 + [2] * 40)
        assert [rule.conditions for rule in sorted(model.rules(), key=lambda r: r.prediction)] == [
            (("x < 0.5",),),
            (("0.5 ≤ x < 1.5",),),
            (("x ≥ 1.5",),),
        ]

    def test_frame(self, tree):
        frame = tree.to_frame()
        assert frame.columns == ["leaf", "conditions", "prediction", "records", "probability"]
        assert frame["prediction"].to_list() == ["no", "yes", "no"]
        assert frame["conditions"][1] == "sky = grey and wind ≥ 2.5"

    def test_numbers(self):
        model = DecisionTreeRegressor().fit({"a": [1, 1, 2, 2, 3]}, [1.0, 3.0, 7.0, 7.0, 7.0])
        assert model.to_text().splitlines() == [
            "y: 5 (5 records)",
            "a < 1.5: 2 (2 records)",
            "a ≥ 1.5: 7 (3 records)",
        ]
        assert str(model.rules()[0]) in (
            "if a < 1.5 then y = 2 (2 records)",
            "if a ≥ 1.5 then y = 7 (3 records)",
        )
        assert model.to_frame().columns == ["leaf", "conditions", "prediction", "records"]

    def test_one_leaf(self):
        model = DecisionTreeClassifier().fit({"a": [1, 1]}, ["x", "y"])
        assert model.to_text() == "class: x 50 %, y 50 % (2 records)"
        assert [str(rule) for rule in model.rules()] == ["class = x (2 records, 50 %)"]

    def test_a_chain_that_is_deeper_than_pythons_stack(self):
        x = np.arange(2400)
        y = np.arange(2400) % 2
        model = DecisionTreeClassifier("gini", kinds={"x": "categorical"}).fit(Table({"x": x}), y)
        assert model.depth_ > 1100
        assert len(model.to_text().splitlines()) > model.n_leaves_
        assert len(model.rules()) == model.n_leaves_
