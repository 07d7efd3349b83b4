"""Covering rules: what they learn, and what they say of records."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

import tacit
from oracles import rules as rule_oracle
from support.rule_tables import coded_tables
from tacit import CoveringRulesClassifier, _core
from tacit.errors import InputError
from tacit.rules.covering.search import learn_rules
from tacit.rules.covering.settings import CRITERIA, CoveringSettings, on_a_grid


def incomes(n=600, random_state=0):
    """Mostly zeros; who gains much, or is older and married, is rich."""
    random = np.random.default_rng(random_state)
    gain = np.where(random.random(n) < 0.2, random.integers(1, 100, n) * 100, 0)
    age = random.integers(18, 80, n)
    married = random.random(n) < 0.5
    rich = (gain > 5000) | ((age > 50) & married)
    rich ^= random.random(n) < 0.02
    X = pl.DataFrame({"gain": gain, "age": age, "marital": np.where(married, "yes", "no")})
    return X, np.where(rich, ">50K", "<=50K")


def numbers(n=300, n_columns=5, n_classes=3, random_state=1):
    random = np.random.default_rng(random_state)
    X = random.integers(-3, 4, (n, n_columns)) * (random.random((n, n_columns)) < 0.5)
    y = (X[:, 0] > 0).astype(int) + ((X[:, 1] < 0) & (X[:, 2] >= 0)) * (n_classes - 2)
    y[random.random(n) < 0.05] = 0
    return X.astype(float), y


# What is learnt


def test_finds_the_rules_that_made_the_data():
    X, y = incomes()
    model = CoveringRulesClassifier(random_state=0).fit(X, y)
    assert model.score(X, y) > 0.95
    texts = [set(map(str, rule.conditions)) for rule in model.rules_]
    assert any(
        conditions & {"marital = yes", "marital ≠ no"} and len(conditions) > 1
        for conditions in texts
    )
    assert any(text.startswith("gain > ") for conditions in texts for text in conditions)
    assert model.rules_[-1].label == "<=50K"
    assert model.n_rules_ == len(model.rules_) - 1


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("prune", [False, True])
def test_every_criterion_beats_the_most_common_class(criterion, prune):
    X, y = incomes()
    model = CoveringRulesClassifier(criterion, prune=prune, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.9 > (y == "<=50K").mean()


@given(coded_tables(max_records=16, min_records=2), st.data())
@settings(max_examples=150)
def test_without_pruning_rules_are_those_of_the_oracle(table, data):
    m = table.n_records
    classes = data.draw(hnp.arrays(np.int32, m, elements=st.integers(0, 2)))
    weights = data.draw(hnp.arrays(np.float64, m, elements=st.sampled_from([0.5, 1.0, 2.0])))
    criterion = data.draw(st.sampled_from(CRITERIA))
    ascending = data.draw(st.booleans())
    options = CoveringSettings(criterion, 0.5, 0.0, 1, 3, 1.0, None, 1, ascending)
    n_classes = int(classes.max()) + 1
    random = np.random.default_rng(0)
    learnt = learn_rules(_columns(table), classes, weights, options, random)
    left, rules, before = np.ones(m, bool), [], -1
    while len(rules) > before:  # what is left over is learnt from anew
        before = len(rules)
        totals = np.bincount(classes[left], weights[left], n_classes)
        some = [k for k in range(n_classes) if totals[k] > 0]
        for target in sorted(some, key=lambda k: (totals[k] if ascending else -totals[k], k))[:-1]:
            while True:
                hits = np.where(left & (classes == target), weights, 0)
                misses = np.where(left & (classes != target), weights, 0)
                body = rule_oracle.grow_covering_rule(
                    table.codes, table.kinds, hits, misses, criterion, 0.5, 3, 1.0
                )
                covered = left & rule_oracle.covers(table.codes, body)
                if not body or not hits[covered].sum() > misses[covered].sum():
                    break
                covered_weights = np.bincount(classes[covered], weights[covered], n_classes)
                rules.append((body, target, covered_weights.tolist()))
                left &= ~covered
    listed = [
        [
            rule_oracle.Condition(*map(int, test))
            for test in zip(b[0], b[2], b[1], b[3], strict=True)
        ]
        for b in learnt.bodies
    ]
    assert list(zip(listed, learnt.classes, learnt.weights[:-1].tolist(), strict=True)) == rules
    rest = np.bincount(classes[left], weights[left], n_classes)
    assert learnt.weights[-1].tolist() == rest.tolist()


def _columns(table):
    arrays = rule_oracle.column_arrays(table.codes, table.kinds, table.arities())
    return _core.RuleColumns(**arrays)


def test_rules_cover_what_they_say():
    X, y = incomes()
    model = CoveringRulesClassifier(random_state=0).fit(X, y)
    told = model.explain(X)
    for rule in model.rules_:
        decided = (told["rule"] == rule.number).to_numpy()
        assert decided.sum() == rule.support
        assert (y[decided] == rule.label).sum() == rule.hits
    assert sum(rule.support for rule in model.rules_) == len(y)


def test_pruned_rules_are_not_longer():
    X, y = incomes()
    y = np.where(np.random.default_rng(0).random(len(y)) < 0.15, ">50K", y)  # noise
    pruned, full = (
        CoveringRulesClassifier("foil_gain", prune=prune, random_state=0).fit(X, y)
        for prune in (True, False)
    )
    assert pruned.n_rules_ < full.n_rules_
    assert len(pruned.rules_.arrays.columns) < len(full.rules_.arrays.columns)


def test_rare_classes_come_first_unless_asked_otherwise():
    X, y = numbers()
    counts = np.bincount(y)
    up, down = (
        CoveringRulesClassifier(order=order, random_state=0).fit(X, y).rules_.arrays.classes
        for order in ("ascending", "descending")
    )
    assert (np.diff(counts[up[:-1]]) >= 0).all()
    assert counts.argmax() not in up[:-1]
    assert counts[0] > counts[1] > counts[2]
    # Of what rules for 0 and 1 leave over, 2 is the most common class, and comes first.
    assert down[:-1].tolist() == [0, 0, 1, 1, 1, 2, 2]


def test_patience_finds_more_rules():
    X, y = incomes(2000)
    y = np.where(np.random.default_rng(0).random(len(y)) < 0.1, ">50K", y)
    soon, late = (
        CoveringRulesClassifier(
            "laplace", n_iter_no_change=n_iter_no_change, n_optimisations=0, random_state=0
        ).fit(X, y)
        for n_iter_no_change in (1, 20)
    )
    assert soon.n_rules_ < late.n_rules_
    assert soon.score(X, y) < late.score(X, y)


def test_limits():
    X, y = incomes()
    few = CoveringRulesClassifier(max_rules=1, max_conditions=1, random_state=0).fit(X, y)
    assert few.n_rules_ == 1
    assert len(few.rules_[0].conditions) == 1
    none = CoveringRulesClassifier(max_rules=0).fit(X, y)
    assert none.n_rules_ == 0
    assert set(none.predict(X)) == {"<=50K"}
    large = CoveringRulesClassifier(min_support=40, prune=False).fit(X, y)
    assert all(rule.support >= 40 for rule in large.rules_[:-1])


def test_random_state_says_what_is_held_out():
    X, y = incomes()
    y = np.where(np.random.default_rng(0).random(len(y)) < 0.2, ">50K", y)
    texts = [
        CoveringRulesClassifier("foil_gain", random_state=s).fit(X, y).to_text()
        for s in (0, 0, 1, 2)
    ]
    assert texts[0] == texts[1]
    assert len(set(texts)) > 1
    exact = [CoveringRulesClassifier(prune=False, random_state=s).fit(X, y) for s in (0, 1)]
    assert exact[0].to_text() == exact[1].to_text()


# Whatever X is


def explicit_zeros(X):
    cells = sparse.coo_array(np.ones_like(X))
    return sparse.csc_array((X[cells.coords], cells.coords), shape=X.shape)


@pytest.mark.parametrize("prune", [False, True])
def test_dense_sparse_and_explicit_zeros_give_the_same_rules(prune):
    X, y = numbers()
    expected = CoveringRulesClassifier(prune=prune, random_state=0).fit(X, y)
    for other in (sparse.csc_array(X), sparse.csr_array(X), sparse.coo_array(X), explicit_zeros(X)):
        model = CoveringRulesClassifier(prune=prune, random_state=0).fit(other, y)
        assert model.to_text() == expected.to_text()
        np.testing.assert_array_equal(model.predict_proba(other), expected.predict_proba(X))


@pytest.mark.parametrize("defaults", ["auto", "zero", "none", [1, -2, 9, 0, np.nan]])
def test_rules_do_not_depend_on_what_is_default(defaults):
    X, y = numbers()
    X[::7, 4] = np.nan
    expected = CoveringRulesClassifier(random_state=0).fit(X, y)
    model = CoveringRulesClassifier(defaults=defaults, random_state=0).fit(X, y)
    assert model.to_text() == expected.to_text()
    np.testing.assert_array_equal(model.predict(X), expected.predict(X))


def test_frames_and_tables():
    X, y = incomes()
    expected = CoveringRulesClassifier(random_state=0).fit(X, y)
    for frame in (X.to_pandas(), X.to_arrow(), X.to_dict(as_series=False)):
        model = CoveringRulesClassifier(random_state=0).fit(frame, y)
        assert model.to_text() == expected.to_text()
        assert model.feature_names_in_.tolist() == ["gain", "age", "marital"]
        np.testing.assert_array_equal(model.predict(frame), expected.predict(X))
    named = X.with_columns(income=pl.Series(y))
    by_name = CoveringRulesClassifier(random_state=0).fit(named, "income")
    assert by_name.to_text() == expected.to_text()
    np.testing.assert_array_equal(by_name.predict(named), expected.predict(X))
    table = tacit.Table(named)
    of_table = CoveringRulesClassifier(random_state=0).fit(table, "income")
    assert of_table.to_text() == expected.to_text()
    np.testing.assert_array_equal(of_table.predict(table), expected.predict(X))


def test_threads_make_no_difference():
    X, y = incomes()
    texts = {
        CoveringRulesClassifier(random_state=0, n_jobs=n).fit(X, y).to_text() for n in (1, 2, 5)
    }
    assert len(texts) == 1


def test_missing_values_satisfy_nothing():
    X = np.array([[np.nan], [1.0], [2.0], [3.0], [np.nan], [4.0]])
    y = np.array([0, 1, 1, 0, 0, 0])
    model = CoveringRulesClassifier(prune=False).fit(X, y)
    assert model.predict(X).tolist() == y.tolist()
    assert model.predict([[np.nan]]).tolist() == [0]


# Weights


@given(st.data())
@settings(max_examples=30)
def test_weights_are_records_that_many_times(data):
    X, y = numbers(60)
    weights = np.array(data.draw(st.lists(st.integers(0, 3), min_size=60, max_size=60)))
    weights[:6] = 1  # of all classes
    copies = np.repeat(np.arange(60), weights)
    model = CoveringRulesClassifier(prune=False).fit(X, y, sample_weight=weights)
    expected = CoveringRulesClassifier(prune=False).fit(X[copies], y[copies])
    assert model.to_text() == expected.to_text()


def test_weights_on_a_grid_are_close_and_sum_exactly():
    weights = np.random.default_rng(0).random(1000) * 37
    rounded = on_a_grid(weights)
    np.testing.assert_allclose(rounded, weights, atol=37 * 2.0**-20)
    assert rounded.sum() == rounded[::-1].sum() == np.sort(rounded).sum()
    assert np.array_equal(rounded, rounded.astype(np.float32))
    np.testing.assert_array_equal(on_a_grid(np.array([3.0, 999_999.0])), [3.0, 999_999.0])
    np.testing.assert_array_equal(on_a_grid(np.zeros(2)), [0.0, 0.0])


# What it says


def test_text():
    X = {"gain": [0, 0, 9000, 7000, 0, 8000, 0], "town": ["Ulm", "Bonn", "Ulm"] * 2 + ["Ulm"]}
    y = ["poor", "poor", "rich", "rich", "poor", "rich", "poor"]
    model = CoveringRulesClassifier(prune=False).fit(X, y)
    assert model.to_text().splitlines() == [
        "if gain > 3500 then rich, covers 3, precision 1.00",
        "otherwise poor, covers 4, precision 1.00",
    ]
    assert model.to_text(top=0).splitlines() == [
        "… 1 more rules …",
        "otherwise poor, covers 4, precision 1.00",
    ]
    assert repr(model.rules_) == "DecisionList of 1 rules and a default, 1.0 conditions each"
    page = model.rules_._repr_html_()
    assert "gain &gt; 3500" in page
    assert "otherwise" in page


def test_frame_and_sequence():
    X, y = incomes()
    rules = CoveringRulesClassifier(random_state=0).fit(X, y).rules_
    frame = rules.to_frame()
    assert frame.columns == ["rule", "conditions", "class", "support", "hits", "precision"]
    assert frame["rule"].to_list() == list(range(len(rules)))
    assert frame["conditions"][-1] == "always"
    np.testing.assert_allclose(frame["precision"], frame["hits"] / frame["support"])
    assert rules[0] == rules[-len(rules)] == rules[:1][0]
    with pytest.raises(IndexError, match="not one of them"):
        rules[len(rules)]


def test_probabilities_are_shares_of_what_the_rule_covers():
    X, y = incomes()
    model = CoveringRulesClassifier(random_state=0).fit(X, y)
    probabilities = model.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    told = model.explain(X)
    first = model.rules_[told["rule"][0]]
    column = model.classes_.tolist().index(first.label)
    np.testing.assert_allclose(probabilities[0, column], (first.hits + 1) / (first.support + 2))
    assert told["class"].to_list() == model.predict(X).tolist()


def test_explanations_name_the_rule():
    X, y = incomes()
    model = CoveringRulesClassifier(random_state=0).fit(X, y)
    told = model.explain(X.head(3))
    assert told.columns == ["record", "rule", "conditions", "class", "support", "precision"]
    assert told["record"].to_list() == [0, 1, 2]
    assert told["conditions"][0] == model.rules_[told["rule"][0]].condition


def test_explanation_of_one_record():
    X, y = numbers()
    model = CoveringRulesClassifier(random_state=0).fit(X, y)
    for other in (X, sparse.csr_array(X)):
        assert model.explain(other[0]).equals(model.explain(other[:1]))
    frame = pd.DataFrame(X, columns=list("abcde"))
    named = CoveringRulesClassifier(random_state=0).fit(frame, y)
    assert named.explain(frame.iloc[3])["rule"][0] == named.explain(frame)["rule"][3]


def test_classes_of_any_type():
    X, y = numbers()
    for classes in (np.array(["a", "b", "c"]), np.array([False, True, True]), np.array([5, 7, -2])):
        model = CoveringRulesClassifier(random_state=0).fit(X, classes[y])
        assert model.classes_.dtype == classes.dtype or model.classes_.dtype.kind == "U"
        assert set(model.predict(X)) <= set(classes)
    model = CoveringRulesClassifier(random_state=0).fit(X, pd.Series(classes[y]))
    assert set(model.predict(X)) <= {5, 7, -2}


def test_progress_is_shown_on_stderr(capsys):
    X, y = incomes()
    CoveringRulesClassifier(verbose=1, random_state=0).fit(X, y)
    assert "records covered" in capsys.readouterr().err


# Bad input


@pytest.mark.parametrize(
    "setting",
    [
        {"criterion": "luck"},
        {"beta": -1},
        {"beta": float("nan")},
        {"m": -0.5},
        {"prune": "yes"},
        {"prune_fraction": 0},
        {"prune_fraction": 1.0},
        {"n_iter_no_change": 0},
        {"n_optimisations": -1},
        {"max_conditions": 0},
        {"min_support": -1},
        {"max_rules": -1},
        {"order": "random"},
        {"n_jobs": 0},
        {"defaults": "most"},
        {"random_state": "x"},
    ],
)
def test_bad_settings_are_refused_by_name(setting):
    X, y = incomes(50)
    with pytest.raises(InputError, match=next(iter(setting))):
        CoveringRulesClassifier(**setting).fit(X, y)


@pytest.mark.parametrize(
    ("y", "match"),
    [
        (None, "y"),
        ([0, 1], "entries"),
        ([0, 0, 0, 0], "one class"),
        ([0.0, 1.0, np.nan, 0.0], "NaN"),
        ([0.5, 1.0, 2.0, 0.0], "real numbers"),
        (np.eye(4, dtype=int), "two dimensions"),
    ],
)
def test_bad_targets_are_refused(y, match):
    X = np.arange(8.0).reshape(4, 2)
    with pytest.raises(InputError, match=match):
        CoveringRulesClassifier().fit(X, y)


def test_bad_weights_are_refused():
    X, y = numbers(20)
    for weights, match in (([1.0] * 19, "sample_weight"), ([-1.0] * 20, "sample_weight")):
        with pytest.raises(InputError, match=match):
            CoveringRulesClassifier().fit(X, y, sample_weight=weights)
    only = (y == y[0]).astype(float)
    with pytest.raises(InputError, match="one class"):
        CoveringRulesClassifier().fit(X, y, sample_weight=only)


def test_other_columns_are_refused():
    X, y = incomes()
    model = CoveringRulesClassifier(random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="age"):
        model.predict(X.drop("age"))
    of_numbers = CoveringRulesClassifier().fit(*numbers())
    with pytest.raises(ValueError, match="features"):
        of_numbers.predict(np.zeros((2, 4)))


def test_columns_of_one_value_give_no_rules():
    model = CoveringRulesClassifier().fit(np.ones((6, 2)), [0, 1, 1, 0, 1, 1])
    assert model.n_rules_ == 0
    assert model.predict(np.ones((1, 2))).tolist() == [1]


def test_a_fit_that_fails_leaves_the_model_as_it_was():
    X, y = incomes()
    model = CoveringRulesClassifier(random_state=0).fit(X, y)
    text = model.to_text()
    with pytest.raises(InputError):
        model.fit(X, y[:-1])
    assert model.to_text() == text
    np.testing.assert_array_equal(model.predict(X), model.predict(X))


def test_an_interruption_leaves_the_model_as_it_was(monkeypatch):
    X, y = incomes()
    model = CoveringRulesClassifier(random_state=0).fit(X, y)
    before = model.__dict__.copy()

    def interrupted(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr("tacit.rules.covering.estimator.learn_rules", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X.drop("age"), y)
    assert model.__dict__ == before


@pytest.mark.parametrize(
    "criterion", ["f_measure", "precision", "m_estimate", "kulczynski", "foil_gain"]
)
@pytest.mark.parametrize("unit", [2.0**-3, 2.0**150, 2.0**-150, 2.0**-1000])
def test_the_unit_of_weights_makes_no_difference(criterion, unit):
    X, y = numbers()
    weights = np.random.default_rng(0).random(len(X)) + 0.1

    def rules(unit):
        model = CoveringRulesClassifier(criterion, prune=False, min_support=2 * unit, m=4 * unit)
        return model.fit(X, y, weights * unit).rules_

    usual, scaled = rules(1.0), rules(unit)
    assert len(scaled) > 2
    assert [rule.condition for rule in scaled] == [rule.condition for rule in usual]
    np.testing.assert_array_equal(scaled.arrays.weights, usual.arrays.weights * unit)


@pytest.mark.parametrize("weight", [1e-318, 1e-50, 1e50])
@pytest.mark.parametrize("criterion", ["f_measure", "laplace"])
def test_weights_that_single_precision_does_not_have(criterion, weight):
    X, y = numbers()
    model = CoveringRulesClassifier(criterion, prune=False, min_support=0)
    model.fit(X, y, np.full(len(X), weight))
    assert model.n_rules_ > 1
    assert model.score(X, y) > np.bincount(y).max() / len(y) + 0.1
