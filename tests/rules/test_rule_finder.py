"""RuleFinder: what it finds, how it shows it, and what it refuses."""

import itertools

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import tacit
from oracles import counts as oracles
from support.real_data import ADULT
from support.strategies import data, label
from tacit import InputError, RuleFinder, Table
from tacit.rules import Rule

DAYS = {
    "sky": ["grey", "blue", "grey", "grey", "grey", "blue", "grey"],
    "rain": ["no", "no", "much", "no", "some", "no", "no"],
    "wind": ["calm", "calm", "strong", "calm", "calm", None, "strong"],
    "planet": ["earth"] * 7,
}


def named(rules):
    return [(list(rule.conditions.items()), rule.support, rule.hits, rule.score) for rule in rules]


@given(d=data(max_rows=16, max_columns=5, with_chosen=False), n=st.integers(1, 3))
@settings(max_examples=60)
def test_any_defaults_give_the_same_rules(d, n):
    usable = [c for c, arity in enumerate(d.arities) if arity > 1]
    assume(len(usable) > n)
    target = usable[0]
    code = d.rows[0][target]
    hits = [r for r, row in enumerate(d.rows) if row[target] == code]
    assume(d.weights is None or sum(d.weights[hits]) > 0)
    finder = RuleFinder(
        target, label(code), n_conditions=n, min_support=1, n_rules=40, redundant=True
    )
    rules = finder.fit(d.table()).rules_
    want = oracles.best_rules(
        d.rows, d.arities, target, code, lengths=(n, n), min_support=1, n_rules=10_000,
        measure="confidence", z=0, weights=d.weights,
    )  # fmt: skip
    # Conditions that all records meet are left out.
    want = [rule for rule in want if all(c in usable for c, _ in rule[0])][:40]
    assert named(rules) == [
        ([(f"c{c}", label(k)) for c, k in conditions], *numbers) for conditions, *numbers in want
    ]
    other = d.with_(defaults=[0] * len(d.arities)).table()
    assert clone(finder).fit(other).rules_ == rules


def test_numbers_of_a_rule():
    rule = RuleFinder("rain", "no", n_conditions=1, min_support=3).fit(Table(DAYS)).rules_[1]
    confidence = 3 / 5
    assert rule == Rule(
        {"sky": "grey"}, 5, 3, confidence, confidence / (5 / 7), (3 * 7 - 5 * 5) / 7, confidence
    )
    first = RuleFinder("rain", "no", n_conditions=1, min_support=3).fit(Table(DAYS)).rules_[0]
    assert first.conditions == {"wind": "calm"}
    assert Table(DAYS).count(first.conditions) == first.support == 4
    assert str(first) == "wind = calm: 75.0% (3 of 4)"


def test_frames_and_arrays():
    rules = RuleFinder("rain", "no", min_support=1).fit(Table(DAYS)).rules_
    assert RuleFinder("rain", "no", min_support=1).fit(pl.DataFrame(DAYS)).rules_ == rules
    codes = np.array([[0, 1, 0], [1, 1, 1], [0, 1, 1], [1, 0, 0]])
    [best] = RuleFinder(2, 1, n_conditions=2, min_support=1, n_rules=1).fit(codes).rules_
    assert (best.conditions, best.support, best.hits) == ({"x0": 1, "x1": 1}, 1, 1)


def test_numbers_of_tables_are_cut_as_those_of_frames():
    rng = np.random.default_rng(0)
    age = rng.integers(18, 90, 600)
    frame = pl.DataFrame({"age": age, "size": rng.normal(size=600), "retired": age > 65})
    for cuts in ({}, {"discretise": 3}, {"discretise": {"age": [65.5], "size": 4}}):
        finder = RuleFinder("retired", True, min_support=20, n_conditions=(1, 2), **cuts)
        rules = finder.fit(frame).rules_
        assert rules
        assert finder.fit(Table(frame)).rules_ == rules
    [best] = RuleFinder(
        "retired", True, n_conditions=1, n_rules=1, discretise={"age": [65.5], "size": 4}
    ).fit(Table(frame)).rules_  # fmt: skip
    assert best.conditions == {"age": ">= 65.5"}
    kept = RuleFinder("retired", True, n_conditions=1, min_support=1, kinds={"age": "categorical"})
    assert kept.fit(Table(frame)).rules_[0].conditions["age"] in range(66, 90)


def test_without_defaults_no_rule_asks_for_one():
    table = Table(DAYS)
    finder = RuleFinder(
        "rain", "much", n_conditions=(1, 2), min_support=1, default_conditions=False
    )
    rules = finder.fit(table).rules_
    assert rules
    for rule in rules:
        for name, value in rule.conditions.items():
            assert table.schema[name].default_label != value


def test_a_range_holds_the_rules_of_every_length():
    table = tacit.datasets.load_visits()
    settings = {"min_support": 150, "n_rules": 12, "criterion": "wilson", "redundant": True}
    each = [
        RuleFinder("scores", True, n_conditions=n, **settings).fit(table).rules_ for n in (1, 2, 3)
    ]
    assert [len(rules[0].conditions) for rules in each] == [1, 2, 3]
    both = RuleFinder("scores", True, n_conditions=(1, 3), **settings).fit(table).rules_
    scores = sorted((rule.score for rule in itertools.chain(*each)), reverse=True)
    assert [rule.score for rule in both] == scores[:12]


def test_a_weight_of_two_is_the_record_twice():
    table = tacit.datasets.load_visits().take(np.arange(2000))
    weights = np.random.default_rng(3).integers(0, 4, 2000)
    repeated = Table.concat([table.take(weights > k) for k in range(3)])
    finder = RuleFinder("scores", True, n_conditions=2, min_support=40, criterion="leverage")
    twice = finder.fit(repeated).rules_
    weighted = clone(finder).fit(table.with_weights(weights)).rules_
    assert weighted == twice
    assert isinstance(weighted[0].support, float)


def test_ties_of_leverage_are_broken_by_support():
    table = Table({"y": [1, 1] + [0] * 8, "a": [1] + [0] * 9, "b": [1] * 6 + [0] * 4})
    finder = RuleFinder("y", 1, n_conditions=1, min_support=1, criterion="leverage", n_rules=2)
    first, second = finder.fit(table).rules_
    assert (first.conditions, first.support, first.leverage) == ({"b": 1}, 6, 0.8)
    assert (second.conditions, second.support, second.leverage) == ({"a": 1}, 1, 0.8)


def test_no_two_rules_say_the_same():
    table = tacit.datasets.load_visits()
    finder = RuleFinder("scores", True, n_conditions=(1, 3), min_support=100, n_rules=30)
    rules = finder.fit(table).rules_
    assert len(rules) == 30
    score = {tuple(rule.conditions.items()): rule.confidence for rule in rules}
    for rule in rules:
        for n in range(1, len(rule.conditions)):
            for fewer in itertools.combinations(rule.conditions.items(), n):
                hits = table.count({**dict(fewer), "scores": True})
                assert hits / table.count(dict(fewer)) < rule.confidence, score
    all_rules = clone(finder).set_params(redundant=True).fit(table).rules_
    assert all_rules != rules
    assert all_rules[0].confidence == rules[0].confidence


def test_the_level_moves_wilsons_bound():
    table = tacit.datasets.load_visits()
    low, high = (
        RuleFinder("scores", True, criterion="wilson", level=level, n_rules=1).fit(table).rules_[0]
        for level in (0.5, 0.99)
    )
    assert high.score < low.score <= low.confidence


def test_estimator_conventions():
    finder = RuleFinder("rain", "no", n_conditions=(1, 2), min_support=2, n_jobs=2)
    params = finder.get_params()
    assert params["n_conditions"] == (1, 2)
    assert params["value"] == "no"
    copy = clone(finder).set_params(n_rules=3)
    assert (copy.n_rules, finder.n_rules) == (3, 20)
    for method in ("to_frame", "to_text"):
        with pytest.raises(NotFittedError):
            getattr(finder, method)()
    assert finder.fit(Table(DAYS)) is finder
    assert finder.get_params() == params
    assert list(finder.feature_names_in_) == list(DAYS)
    assert finder.n_features_in_ == 4
    assert (finder.n_records_, finder.n_hits_) == (7, 5)


def test_frame_and_text():
    finder = RuleFinder("rain", "no", n_conditions=1, min_support=2, n_rules=2).fit(Table(DAYS))
    frame = finder.to_frame()
    assert frame.columns == [
        "conditions", "support", "hits", "confidence", "lift", "leverage", "score",
    ]  # fmt: skip
    assert frame.row(0) == ("sky = blue", 2, 2, 1.0, 1.4, (2 * 7 - 2 * 5) / 7, 1.0)
    assert finder.to_text().splitlines() == [
        "rain = no, 71.4% of all records, if",
        "  sky = blue: 100.0% (2 of 2)",
        "  wind = calm: 75.0% (3 of 4)",
    ]
    assert "sky = blue" in finder._repr_html_()
    none = RuleFinder("rain", "no", min_support=8).fit(Table(DAYS))
    assert none.rules_ == []
    assert none.to_frame().dtypes == frame.dtypes
    missing = RuleFinder("rain", "no", n_conditions=1, min_support=1).fit(Table(DAYS))
    assert "wind = (missing)" in missing.to_text()


def test_verbose_reports_on_stderr(capsys):
    RuleFinder("rain", "no", min_support=1, verbose=1).fit(Table(DAYS))
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "7 records × 2 columns for rules of 1 to 2 conditions" in printed.err
    assert " rules in " in printed.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"target": "rian"}, "target: there is no column 'rian'; did you mean 'rain'"),
        ({"target": "planet", "value": "earth"}, "target: column 'planet' has one value only"),
        ({"value": "hail"}, "column 'rain' has no label 'hail'"),
        ({"n_conditions": 0}, "n_conditions must be at least 1"),
        ({"n_conditions": (3, 1)}, "n_conditions must be at least 1 and ascending"),
        ({"n_conditions": (1, 2, 3)}, "n_conditions must be a whole number, or"),
        ({"n_conditions": 1.5}, "n_conditions must be a whole number"),
        ({"n_conditions": True}, "n_conditions must be a whole number"),
        ({"n_conditions": 3}, "there are 2 columns of more than one value besides the target, too"),
        ({"n_conditions": (1, 3)}, "too few for 3 conditions"),
        ({"min_support": 0.1}, "min_support is a number of records, not a fraction"),
        ({"min_support": float("nan")}, "min_support is a number of records"),
        ({"min_support": "many"}, "min_support must be a number"),
        ({"n_rules": 0}, "n_rules must be a whole number of at least 1"),
        ({"n_rules": 2.5}, "n_rules must be a whole number"),
        ({"criterion": "beauty"}, "criterion must be 'confidence', 'lift', 'leverage' or 'wilson'"),
        ({"level": 1}, "level must be between 0 and 1"),
        ({"n_jobs": 0}, "n_jobs must be a non-zero integer"),
    ],
)
def test_wrong_parameters(arguments, message):
    finder = RuleFinder(**{"target": "rain", "value": "no", **arguments})
    with pytest.raises(InputError, match=message):
        finder.fit(Table(DAYS))
    assert not hasattr(finder, "rules_")


def test_wrong_input():
    with pytest.raises(InputError, match="y: the target is a column of the table"):
        RuleFinder("rain", "no").fit(Table(DAYS), [1] * 7)
    declared = pl.DataFrame({"a": pl.Series(["x", "y"], dtype=pl.Enum("xyz")), "b": [1, 2]})
    with pytest.raises(InputError, match="value: no record has a = 'z'"):
        RuleFinder("a", "z", n_conditions=1).fit(declared)
    weighted = Table(DAYS, weights=[0, 0, 1, 1, 1, 1, 1])
    with pytest.raises(InputError, match="min_support must be positive"):
        RuleFinder("rain", "no", min_support=0).fit(weighted)
    assert RuleFinder("rain", "no", n_conditions=1, min_support=0.5).fit(weighted).rules_


@pytest.fixture(scope="module")
def adult(shared_data):
    cut = ["age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"]
    path = shared_data / "adult" / "adult.data.xz"
    return tacit.read_csv(path, discretise=dict.fromkeys(cut, 5), **ADULT)


def numpy_rules(table, target, code, n, min_support, n_rules):
    """Count every set of columns with NumPy and keep the best rules by confidence."""
    arities = table.schema.arities.tolist()
    codes = [table.codes(c) for c in range(len(arities))]
    hit = (codes[target] == code).astype(np.int64)
    best = []
    others = [c for c in range(len(arities)) if c != target]
    for columns in itertools.combinations(others, n):
        shape = [arities[c] for c in columns]
        cells = np.ravel_multi_index([*(codes[c] for c in columns), hit], [*shape, 2])
        counts = np.bincount(cells, minlength=2 * np.prod(shape)).reshape(-1, 2)
        for cell in np.flatnonzero(counts.sum(axis=1) >= min_support).tolist():
            hits, support = int(counts[cell, 1]), int(counts[cell].sum())
            cell_codes = tuple(int(k) for k in np.unravel_index(cell, shape))
            best.append((-hits / support, -support, columns, cell_codes, hits))
        best = sorted(best)[:n_rules]
    return best


@pytest.mark.parametrize("value", ["<=50K", ">50K"])
def test_adult_equals_numpy(adult, value):
    code = adult.schema["class"].code(value)
    want = numpy_rules(adult, 14, code, 2, 200, 20)
    finder = RuleFinder("class", value, n_conditions=2, min_support=200, redundant=True)
    for jobs in (1, 2):
        rules = clone(finder).set_params(n_jobs=jobs).fit(adult).rules_
        assert [
            (-rule.score, -rule.support, tuple(map(adult.schema.position, rule.conditions)),
             tuple(adult.schema[name].code(x) for name, x in rule.conditions.items()), rule.hits)
            for rule in rules
        ] == want  # fmt: skip


def test_five_conditions_on_adult(adult):
    finder = RuleFinder("class", ">50K", n_conditions=5, min_support=200, n_rules=5)
    rules = finder.fit(adult).rules_
    assert len(rules) == 5
    for rule in rules:
        assert len(rule.conditions) == 5
        assert adult.count(rule.conditions) == rule.support >= 200
        assert adult.count({**rule.conditions, "class": ">50K"}) == rule.hits


def test_columns_of_one_value_take_no_part():
    table = Table({"t": ["x"] * 8, "a": [0, 0, 0, 1, 1, 1, 0, 1], "b": [0, 1] * 4})
    finder = RuleFinder(target="b", value=1, n_conditions=1, min_support=1).fit(table)
    assert {name for rule in finder.rules_ for name in rule.conditions} == {"a"}
    assert finder.feature_names_in_.tolist() == ["t", "a", "b"]
    with pytest.raises(InputError, match="1 columns of more than one value"):
        RuleFinder(target="b", value=1, n_conditions=2, min_support=1).fit(table)


def test_settings_at_the_edge_of_what_can_be():
    table = Table({"a": [0, 1, 1], "b": [0, 1, 1]})
    assert (
        RuleFinder(target="b", value=1, n_conditions=1, min_support=1, n_rules=10**19)
        .fit(table)
        .rules_
    )
    with pytest.raises(InputError, match="level must be between 0 and 1"):
        RuleFinder(target="b", value=1, n_conditions=1, level=1 - 1e-16).fit(table)


def test_figures_and_tables():
    finder = RuleFinder("rain", "no", n_conditions=1, min_support=1).fit(Table(DAYS))
    assert len(finder.plot(top=2).patches) == 2
    assert finder.to_html(top=2).count("<tr>") == 3
    assert len(finder.to_text(top=2).splitlines()) == 3
