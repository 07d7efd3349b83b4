"""Classifiers by similarity, rules and networks, fitted to partitions and asked about them."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import tacit
from support.strategies import data
from tacit.scale import Predict, of_tables, partition

KNN, CUT, SVC = (
    tacit.SparseKNeighborsClassifier,
    tacit.NormalizedCutClassifier,
    tacit.SparseSVC,
)
GROUPED = [
    KNN(3, group_width=1.0, random_state=0),
    KNN(2, group_width=0.3, algorithm="exact", weights="distance", normalize=True, random_state=0),
    CUT(1.0, group_width=1.0, resolution=8, random_state=0),
    CUT(1.0, 0.1, node_weights="neighbours", group_width=0.5, normalize=True, random_state=0),
    SVC(
        1.0,
        group_width=1.0,
        resolution=8,
        class_weight="balanced",
        probability=True,
        random_state=0,
    ),
    SVC(1.0, group_width=0.5, class_weight={"north": 2.0}, normalize=True, random_state=0),
]
ALONE = [KNN(3, random_state=0), KNN(3, algorithm="exact"), SVC(1.0, resolution=8, random_state=0)]


def names(models):
    return [f"{type(model).__name__}-{k}" for k, model in enumerate(models)]


@pytest.fixture(scope="module")
def visits():
    return tacit.datasets.load_visits().take(np.arange(1500))


@pytest.fixture(scope="module")
def others():
    return tacit.datasets.load_visits().take(np.arange(1500, 2300))


def without(table, column):
    return table.select([name for name in table.schema.names if name != column])


def labels(table, column):
    return table.to_frame("polars")[column]


def ask(model, X):
    """Return all that a model says of each record."""
    answers = {}
    for method in ("predict", "predict_proba", "decision_function"):
        if hasattr(model, method):
            answers[method] = getattr(model, method)(X)
            answers[f"{method}: lonely"] = model.n_fallback_
    return answers


def assert_same(one, other):
    assert one.keys() == other.keys()
    for key, value in one.items():
        assert np.array_equal(value, other[key]), key


@pytest.mark.parametrize("model", GROUPED, ids=names(GROUPED))
def test_groups_of_partitions_are_what_is_learnt_from(visits, others, model):
    whole = clone(model).fit(without(visits, "region"), labels(visits, "region"))
    assert_same(ask(whole, others), ask(clone(model).fit(visits, "region"), others))
    wanted, told = ask(whole, others), whole.to_text()
    for n in (1, 5):
        parts = partition(visits, n)
        answers = clone(model).fit(parts, "region")
        assert parts.cost.passes == 3  # columns, extremes, groups
        assert answers.to_text() == told
        assert answers.classes_.tolist() == whole.classes_.tolist()
        assert answers.feature_names_in_.tolist() == whole.feature_names_in_.tolist()
        assert_same(ask(answers, others), wanted)
        new = partition(others, 3)
        assert_same(ask(answers, new), wanted)
        again = pickle.loads(pickle.dumps(answers))
        assert np.array_equal(again.predict(others), wanted["predict"])


@pytest.mark.parametrize("model", GROUPED, ids=names(GROUPED))
def test_models_of_tables_say_the_same_of_partitions(visits, others, model):
    fitted = clone(model).fit(without(visits, "region"), labels(visits, "region"))
    wanted = ask(fitted, others)
    new = partition(others, 4)
    assert np.array_equal(fitted.predict(new), wanted["predict"])
    assert new.cost.passes == 2  # groups, and whose group a record is in
    assert_same(ask(fitted, new), wanted)


@pytest.mark.parametrize("model", ALONE, ids=names(ALONE))
def test_without_groups_records_are_asked_about_one_by_one(visits, others, model):
    fitted = clone(model).fit(without(visits, "region"), labels(visits, "region"))
    wanted = ask(fitted, others)
    for n in (1, 6):
        new = partition(others, n)
        assert_same(ask(fitted, new), wanted)


def test_neighbours_of_partitions(visits, others):
    model = KNN(3, group_width=1.0, random_state=0).fit(partition(visits, 2), "region")
    for one, other in zip(
        model.kneighbors(others), model.kneighbors(partition(others, 3)), strict=True
    ):
        assert np.array_equal(one, other)


def test_paths_of_cuts(visits, others):
    model = CUT(1.0, group_width=1.0, resolution=8, random_state=0).fit(
        partition(visits, 2), "region"
    )
    balances = [0.0, 0.01, 3.0]
    wanted = model.predict_path(others, balances)
    assert np.array_equal(model.predict_path(partition(others, 3), balances), wanted)


def test_saved_models(visits, others, tmp_path):
    for model in GROUPED[::2]:
        fitted = clone(model).fit(partition(visits, 3), "region")
        fitted.save(tmp_path / "model")
        loaded = tacit.load(tmp_path / "model")
        assert np.array_equal(loaded.predict(partition(others, 2)), fitted.predict(others))


@settings(max_examples=30)
@given(data(max_rows=14), st.data(), st.sampled_from([1.0, 0.4, 0.0]), st.integers(1, 5))
def test_any_cut_gives_the_same_neighbours(drawn, draw, group_width, resolution):
    table = drawn.table()
    if not table.n_records or table.n_columns < 2:
        return
    cuts = draw.draw(st.lists(st.integers(0, table.n_records), max_size=4))
    ends = sorted({0, table.n_records, *cuts})
    parts = of_tables([table.take(np.arange(a, b)) for a, b in pairwise(ends)])
    some = table.take(np.arange(draw.draw(st.integers(1, table.n_records))))
    model = KNN(2, group_width=group_width, resolution=resolution, n_dimensions=2, random_state=0)
    whole = clone(model).fit(without(table, "c0"), labels(table, "c0").cast(str))
    answers = clone(model).fit(parts, "c0")
    assert np.array_equal(answers.predict_proba(table), whole.predict_proba(table))
    fewer = clone(model).fit(partition(some, 1), "c0")  # others may be outside its grid
    assert np.array_equal(fewer.predict(parts), fewer.predict(table))


def test_labels_that_were_not_there_in_fit(visits, others):
    renamed = others.to_frame("polars").with_columns(
        device=labels(others, "device").cast(str) + "!"
    )
    table = tacit.Table(renamed)
    model = KNN(3, group_width=1.0, random_state=0).fit(partition(visits, 2), "region")
    assert np.array_equal(model.predict(partition(table, 3)), model.predict(table))


def test_what_cannot_be_fitted(visits):
    parts = partition(visits, 3)
    for kind in (KNN, CUT, SVC):
        with pytest.raises(
            tacit.InputError,
            match=r"on one machine.*group_width= groups.*X.collect\(\) gets all.*X.take",
        ):
            kind().fit(parts, "region")
        with pytest.raises(tacit.InputError, match="y must be the name of a column"):
            kind(group_width=1.0).fit(parts, labels(visits, "region"))
        with pytest.raises(tacit.InputError, match="requires y to be passed"):
            kind(group_width=1.0).fit(parts, None)
        with pytest.raises(tacit.InputError, match="there is no column"):
            kind(group_width=1.0).fit(parts, "nowhere")
        with pytest.raises(tacit.InputError, match="group_width must be"):
            kind(group_width=-1.0).fit(parts, "region")
    with pytest.raises(tacit.InputError, match="sample_weight"):
        SVC(group_width=1.0).fit(parts, "region", np.ones(visits.n_records))
    same = tacit.Table({"a": [0, 1, 1], "b": ["x", "x", "x"]})
    with pytest.raises(tacit.InputError, match="one class only, 'x'"):
        SVC(group_width=1.0).fit(partition(same, 2), "b")
    lost = tacit.Table({"a": [0, 1, 1], "b": ["x", None, "y"]})
    with pytest.raises(tacit.InputError, match="y: column 'b' has 1 missing values"):
        KNN(group_width=1.0).fit(partition(lost, 2), "b")


def test_a_failed_fit_leaves_the_model_as_it_was(visits, others):
    model = KNN(3, group_width=1.0, random_state=0).fit(partition(visits, 2), "region")
    wanted = model.predict(others)
    with pytest.raises(tacit.InputError):
        model.fit(partition(visits, 2), "nowhere")
    assert np.array_equal(model.predict(others), wanted)


def test_cuts_without_groups_take_one_machine(visits, others):
    model = CUT(1.0, resolution=8, random_state=0).fit(visits, "region")
    new = partition(others, 2)
    with pytest.raises(tacit.InputError, match=r"all records together, on one machine.*Predict"):
        model.predict(new)
    answers = np.concatenate(list(new.map(Predict(model))))  # which is what the message says
    assert np.array_equal(answers[:400], model.predict(others.take(np.arange(400))))


def test_models_of_numbers_take_partitions_of_numbers(others):
    X, y = tacit.datasets.make_objects(60, 3, random_state=0)
    model = KNN().fit(X, y)
    with pytest.raises(tacit.InputError, match=r"X has 27 features, but Sparse.* expecting 3"):
        model.predict(partition(others, 2))
    assert np.array_equal(model.predict(partition(tacit.Table(X), 2)), model.predict(X))
    grouped = KNN(group_width=1.0).fit(X, y)
    with pytest.raises(tacit.InputError, match="X: there is no column 'x0'"):
        grouped.predict(partition(others, 2))
    assert np.array_equal(grouped.predict(partition(tacit.Table(X), 2)), grouped.predict(X))


# Rules and networks


@pytest.fixture(scope="module")
def rule_models(visits):
    X, y = without(visits, "region"), labels(visits, "region")
    return [
        tacit.BoostedRulesClassifier(n_rules=8, random_state=0).fit(X, y),
        tacit.BoostedRulesRegressor(n_rules=8, random_state=0).fit(
            X, (y == "north").to_numpy() * 1.5
        ),
        tacit.CoveringRulesClassifier(random_state=0).fit(X, y),
    ]


@pytest.mark.parametrize("n", [1, 4])
def test_rules_predict_partitions(rule_models, others, n):
    parts = partition(others, n)
    asked = 0
    for model in rule_models:
        for method in ("predict", "predict_proba", "predict_log_proba", "decision_function"):
            if hasattr(model, method):
                answers = getattr(model, method)(parts)
                assert np.array_equal(answers, getattr(model, method)(others))
                asked += 1
    assert asked == 7


def test_networks_say_the_same_of_partitions(visits, others):
    model = tacit.DependencyNetwork().fit(visits)
    parts = partition(others, 3)
    assert np.array_equal(model.score_samples(parts), model.score_samples(others))
    assert np.array_equal(model.predict_proba(parts), model.predict_proba(others))
    wanted = model.predict_proba(others, "device")
    assert np.array_equal(model.predict_proba(parts, "device"), wanted)
    assert np.array_equal(model.predict_proba(parts, column="device"), wanted)
