"""Scores that rise or fall with columns, and columns that may stand together in a rule."""

import itertools

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import tacit
from tacit import BoostedRulesClassifier, BoostedRulesRegressor, InputError

NAMES = ["age", "dose", "weight", "town"]
rng = np.random.default_rng(0)
N = 300
X = pd.DataFrame(
    {
        "age": rng.normal(size=N).round(1),
        "dose": np.where(rng.random(N) < 0.6, 0, rng.integers(-3, 4, N)),
        "weight": np.where(rng.random(N) < 0.1, np.nan, rng.integers(0, 6, N)),
        "town": rng.choice(["Ulm", "Bonn", "Bern"], N),
    }
)
# Against all limits: it neither rises nor falls, and columns interact.
Y = np.sin(3 * X["age"]) + X["dose"].abs() * (X["age"] > 0) + X["weight"].fillna(2) % 3
Y = (Y + 2 * (X["town"] == "Ulm") * X["dose"] + rng.normal(size=N)).to_numpy()
SIGNS = {"age": 1, "dose": -1, "weight": 1}
NUMBERS = [
    {},
    {"loss": "absolute"},
    {"loss": "quantile", "quantile": 0.8},
    {"loss": "poisson"},
    {"sample": "subsample", "prune": True, "random_state": 0},
    {"sample": "bagging", "feature_fraction": 2, "random_state": 0},
    {"early_stopping": True, "random_state": 0},
    {"learning_rate": 1.0},
    {"algorithm": "histogram", "n_bins": 5, "l1": 1.0},
    {"max_conditions": None, "l2": 0.0},
]
CLASSES = [{"loss": loss} for loss in ("logistic", "squared", "squared_hinge", "example_logistic")]
CLASSES += [{"calibration": "isotonic", "random_state": 0}, {"class_weight": "balanced"}]


def learner(n_rules=500, **settings):
    """A regressor that draws nothing: the same rules for any random state."""
    return BoostedRulesRegressor(n_rules, **{"sample": "none", "learning_rate": 0.3} | settings)


def grid(column):
    """Values at, between and beyond those that occur."""
    values = np.unique(X[column].dropna())
    return np.concatenate(
        [[values[0] - 9], (values[1:] + values[:-1]) / 2, values, [values[-1] + 9]]
    )


def check_monotone(answers, signs, records):
    """Move one column at a time over its whole grid, with all others as they are."""
    for column, sign in signs.items():
        values = np.sort(grid(column))
        moved = records.loc[records.index.repeat(len(values))].reset_index(drop=True)
        moved[column] = np.tile(values, len(records))
        told = answers(moved)
        steps = np.diff(told.reshape(len(records), len(values), -1), axis=1)
        assert (steps * sign >= 0).all()  # to the last digit
        assert (steps != 0).any() == (sign != 0), f"{column} says nothing"


@pytest.mark.parametrize("options", NUMBERS)
def test_numbers_rise_and_fall(options):
    y = np.maximum(Y, 0.0) if options.get("loss") == "poisson" else Y
    model = learner(80, monotonic_cst=SIGNS, **options).fit(X, y)
    assert model.n_rules_ > 10
    check_monotone(model._decide, SIGNS, X[::7])


def test_predictions_of_counts_rise_and_fall():
    model = learner(80, loss="poisson", monotonic_cst=SIGNS)
    model.fit(X, np.maximum(Y, 0.0))
    check_monotone(lambda X: model.predict(X).round(9), SIGNS, X[::7])


@pytest.mark.parametrize("options", CLASSES)
def test_scores_and_probabilities_of_the_second_class_rise_and_fall(options):
    y = np.where(Y > 1.5, "yes", "no")
    model = BoostedRulesClassifier(80, monotonic_cst=SIGNS, **options).fit(X, y)
    check_monotone(model.decision_function, SIGNS, X[::7])
    check_monotone(lambda X: model.predict_proba(X)[:, 1], SIGNS, X[::7])


def test_several_outputs_and_labels_rise_and_fall_each():
    both = np.column_stack([Y, np.roll(Y, 1) - X["age"]])
    model = learner(150, monotonic_cst=SIGNS).fit(X, both)
    check_monotone(model.predict, SIGNS, X[::7])
    labels = BoostedRulesClassifier(150, monotonic_cst=SIGNS).fit(X, (both > 1.5).astype(int))
    check_monotone(labels.predict_proba, SIGNS, X[::7])


@given(st.integers(0, 2**31 - 1))
@settings(max_examples=40)
def test_any_data_rise_and_fall(seed):
    """Brute force: all pairs of cells of a small grid."""
    random = np.random.default_rng(seed)
    data = random.integers(0, 4, (40, 3)).astype(float)
    signs = random.integers(-1, 2, 3)
    model = learner(
        60, monotonic_cst=signs, learning_rate=random.choice([0.1, 1.0]), l2=random.choice([0.0, 1])
    ).fit(data, random.normal(size=40).round(1))
    cells = np.array(list(itertools.product(range(4), repeat=3)), float)
    told = model.predict(cells).reshape(4, 4, 4)
    for axis, sign in enumerate(signs):
        assert (np.diff(told, axis=axis) * sign >= 0).all()


def test_what_rises_anyway_is_learnt_as_well():
    y = X["age"] + 2 * (X["dose"] > 0) * (X["age"] > 0)
    free = learner(200).fit(X, y)
    bound = learner(200, monotonic_cst={"age": 1, "dose": 1}).fit(X, y)
    assert bound.score(X, y) > 0.99
    assert free.score(X, y) > 0.99


def test_all_forms_are_the_same():
    expected = learner(30, monotonic_cst=SIGNS).fit(X, Y).to_text()
    assert expected != learner(30).fit(X, Y).to_text()
    for signs in ([1, -1, 1, 0], np.array([1.0, -1.0, 1.0, 0.0]), {0: 1, 1: -1, -2: 1, "town": 0}):
        assert learner(30, monotonic_cst=signs).fit(X, Y).to_text() == expected
    groups = [["age", "town"], ["town", "weight"], ["dose"]]
    expected = learner(30, interaction_cst=groups).fit(X, Y).to_text()
    for groups in ([(0, 3), {3, 2}], [[0, "town"], np.array([2, -1])]):
        assert learner(30, interaction_cst=groups).fit(X, Y).to_text() == expected


def test_a_target_that_is_a_column_of_x_is_none_of_the_columns():
    frame = pl.DataFrame({"y": Y, "age": X["age"].to_numpy(), "dose": X["dose"].to_numpy()})
    model = learner(30, monotonic_cst=[1, 0], interaction_cst=[[0], [1]])
    apart = clone(model)
    apart.fit(frame.drop("y"), pl.Series("y", Y))
    assert model.fit(frame, "y").to_text() == apart.to_text()


# Columns that stand together


def columns_of_rules(model):
    arrays = model.rules_.arrays
    return [
        {NAMES[c] for c in arrays.columns[begin:end].tolist()}
        for begin, end in itertools.pairwise(arrays.rule_conditions.tolist())
    ]


@pytest.mark.parametrize(
    "options", [{}, {"sample": "bagging", "prune": True}, {"feature_fraction": 1}]
)
def test_columns_of_a_rule_are_those_of_a_group(options):
    groups = [{"age", "town"}, {"town", "weight"}]
    model = learner(150, interaction_cst=[*map(sorted, groups)], random_state=0)
    found = columns_of_rules(model.set_params(**options).fit(X, Y))
    allowed = [*groups, {"dose"}]  # that is in no group: a group of its own
    assert all(any(columns <= group for group in allowed) for columns in found)
    if not options:
        assert all(group in found for group in allowed)


@pytest.mark.parametrize(("given", "most"), [("no_interactions", 1), ("pairwise", 2)])
def test_so_many_columns_at_most(given, most):
    model = learner(150, interaction_cst=given, max_conditions=8).fit(X, Y)
    sizes = {len(columns) for columns in columns_of_rules(model)}
    assert max(sizes) == most
    assert max(np.diff(model.rules_.arrays.rule_conditions)) > most  # several of one column


@pytest.mark.parametrize("heads", ["partial", "complete"])
def test_several_outputs_and_classes(heads):
    model = BoostedRulesClassifier(60, heads=heads, interaction_cst=[["age", "dose"]])
    found = columns_of_rules(model.fit(X, np.digitize(Y, [0.5, 2.0])))
    assert all(columns <= {"age", "dose"} or columns <= {"weight", "town"} for columns in found)


def test_without_interactions_predictions_add_up_over_columns():
    model = learner(100, interaction_cst="no_interactions").fit(X, Y)
    corners = [X.iloc[[0]].copy() for _ in range(4)]
    for k, corner in enumerate(corners):
        corner["age"], corner["dose"] = (-1.0, 1.0)[k % 2], (-2, 2)[k // 2]
    told = [float(model.predict(corner)[0]) for corner in corners]
    assert told[0] + told[3] == pytest.approx(told[1] + told[2])


# Files, and what is refused


def test_files_keep_limits(tmp_path):
    model = learner(10, monotonic_cst={"age": 1}, interaction_cst=[["age", "dose"], ["town"]]).fit(
        X, Y
    )
    model.save(tmp_path / "model.tacit")
    again = tacit.load(tmp_path / "model.tacit")
    assert again.get_params() == model.get_params()
    assert again.fit(X, Y).to_text() == model.to_text()


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        ({"monotonic_cst": "age"}, "monotonic_cst must map columns to -1, 0 or 1"),
        ({"monotonic_cst": 1}, "monotonic_cst must map"),
        ({"monotonic_cst": {"age": 2}}, "monotonic_cst must map"),
        ({"monotonic_cst": {"age": "up"}}, "monotonic_cst must map"),
        ({"monotonic_cst": [1, 0]}, "monotonic_cst has 2 entries, and X has 4 columns"),
        ({"monotonic_cst": {"aeg": 1}}, "monotonic_cst: there is no column 'aeg'"),
        ({"monotonic_cst": {4: 1}}, "monotonic_cst: column 4 is not among the 4 columns"),
        ({"monotonic_cst": {"town": 1}}, "monotonic_cst: column 'town' is categorical"),
        ({"interaction_cst": "all"}, "interaction_cst must be 'pairwise', 'no_interactions' or a"),
        ({"interaction_cst": ["age", "dose"]}, "interaction_cst must be"),
        ({"interaction_cst": 3}, "interaction_cst must be"),
        ({"interaction_cst": [[0, 9]]}, "interaction_cst: column 9 is not among"),
        ({"interaction_cst": [["age", "size"]]}, "interaction_cst: there is no column 'size'"),
    ],
)
@pytest.mark.parametrize("kind", [BoostedRulesClassifier, BoostedRulesRegressor])
def test_wrong_limits_are_named(kind, wrong, problem):
    with pytest.raises(InputError, match=problem):
        kind(**wrong).fit(X, Y > 0 if kind is BoostedRulesClassifier else Y)


def test_more_classes_and_joint_heads_neither_rise_nor_fall():
    with pytest.raises(InputError, match="monotonic_cst is for two classes, labels or numbers"):
        BoostedRulesClassifier(monotonic_cst={"age": 1}).fit(X, np.digitize(Y, [0.5, 2.0]))
    with pytest.raises(InputError, match="monotonic_cst: heads must be 'single'"):
        learner(heads="complete", monotonic_cst={"age": 1}).fit(X, np.column_stack([Y, Y[::-1]]))
