"""Decision trees of records in partitions are those of all records in memory, to the bit."""

import pickle
from dataclasses import fields
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from support.partitions import counting, cut, cut_tables, growth
from support.strategies import JOBS, assert_identical
from tacit import DecisionGraphClassifier, DecisionTreeClassifier, DecisionTreeRegressor, InputError
from tacit.scale import Predict, partition
from tacit.tree.growth.settings import exact_total, float_total
from tacit.tree.partitioned import level_growth
from tacit.tree.partitioned.growing_tree import GrowingTree, Target
from tacit.tree.partitioned.leaf_counting import FirstPass, LeafCounts, RecordWeights
from tacit.tree.partitioned.leaf_requests import Siblings, make_request

TARGET = "news"


def assert_same(tree, expected):
    """Two classifiers are the same: nodes, gains, counts, classes, columns."""
    for field in fields(expected.nodes_):
        assert_identical(getattr(tree.nodes_, field.name), getattr(expected.nodes_, field.name))
    assert tree.classes_.tolist() == expected.classes_.tolist()
    assert tree.schema_ == expected.schema_
    assert tree.feature_names_in_.tolist() == expected.feature_names_in_.tolist()
    assert tree.score_ == expected.score_
    assert tree.to_text() == expected.to_text()


def outcome(fit):
    """Return a fitted model, or what is wrong."""
    try:
        return fit()
    except InputError as error:
        return str(error)


def assert_same_outcome(make, table, parts, target):
    expected = outcome(lambda: make().fit(table, target))
    tree = outcome(lambda: make().fit(parts, target))
    if isinstance(expected, str):
        # A record's number is one of all records here, and of those that count in memory.
        assert tree == expected or (table.weights is not None and "missing value" in expected)
        return None
    assert_same(tree, expected)
    return tree


@settings(max_examples=120)
@given(cut_tables(), growth(), st.data())
def test_any_cut_gives_the_same_tree(both, how, draw):
    table, parts = both
    target = draw.draw(st.sampled_from(list(table.schema.names)))
    class_weight = draw.draw(st.sampled_from([None, None, None, "balanced"]))
    make = partial(DecisionTreeClassifier, **how, class_weight=class_weight)
    with counting(draw.draw(st.booleans())):
        tree = assert_same_outcome(make, table, parts, target)
    if tree is not None:
        assert_identical(tree.predict_proba(parts), tree.predict_proba(table))


@pytest.mark.parametrize("n", [1, 3, 16])
def test_passes_are_fewer_than_levels(visits, n):
    parts = partition(visits, n)
    tree = DecisionTreeClassifier().fit(parts, TARGET)
    expected = DecisionTreeClassifier().fit(visits, TARGET)
    assert_same(tree, expected)
    assert expected.depth_ > 10
    assert parts.cost.passes <= expected.depth_ * 2 // 3


def chain_table(n_items, n_records=6000):
    """Rare items, all of which make the target more likely, some of them together."""
    rng = np.random.default_rng(0)
    held = rng.random((n_records, n_items)) < 0.02
    held[:, 1] |= held[:, 0] & (rng.random(n_records) < 0.5)
    likely = rng.random(n_records) < np.where(held.any(axis=1), 0.8, 0.05)
    columns = {f"item {k}": held[:, k].tolist() for k in range(n_items)}
    return tacit.Table({**columns, "bought": likely.tolist()})


@pytest.mark.parametrize("lookahead", [0, 3, 30])
def test_chains_are_looked_ahead_at(monkeypatch, lookahead):
    table = chain_table(30)
    whole = DecisionTreeClassifier().fit(table, "bought")
    assert whole.depth_ >= 30
    monkeypatch.setattr(level_growth, "MAX_LOOKAHEAD", lookahead)
    for n_partitions in (1, 5):
        parts = partition(table, n_partitions)
        assert_same(DecisionTreeClassifier().fit(parts, "bought"), whole)
        assert parts.cost.passes == whole.depth_ + 1 or lookahead > 0
        assert parts.cost.passes <= {0: 31, 3: 16, 30: 6}[lookahead]


def test_looking_ahead_with_little_room(monkeypatch):
    """Few bytes for each leaf: candidates are counted in order, or not at all."""
    table = chain_table(30)
    whole = DecisionTreeClassifier().fit(table, "bought")
    seen, make_request = set(), level_growth.make_request

    def note(groups, is_dense):
        seen.update((siblings.in_order, siblings.n_candidates > 0) for siblings in groups)
        return make_request(groups, is_dense)

    monkeypatch.setattr(level_growth, "make_request", note)
    for room in (600, 6_000, 12_000, 60_000):
        monkeypatch.setattr(level_growth, "MOST_BYTES", room)
        assert_same(DecisionTreeClassifier().fit(partition(table, 3), "bought"), whole)
    assert seen == {(False, False), (False, True), (True, True)}


@pytest.mark.parametrize("most", [2, 5, 40])
@pytest.mark.parametrize("splits", ["binary", "both"])
def test_best_first_with_few_leaves(visits, most, splits):
    make = partial(DecisionTreeClassifier, "entropy", max_leaf_nodes=most, splits=splits)
    parts = partition(visits, 4)
    tree = make().fit(parts, TARGET)
    assert_same(tree, make().fit(visits, TARGET))
    assert tree.n_leaves_ == most
    assert parts.cost.passes <= most


def many_valued(n_records, seed=0):
    rng = np.random.default_rng(seed)
    town = rng.integers(0, 40, n_records)
    return tacit.Table(
        {
            "town": [f"t{k}" for k in town],
            "hour": (rng.integers(0, 24, n_records) + town) % 24,
            "size": rng.integers(0, 9, n_records),
            "kind": [f"k{k}" for k in (town // 4 + rng.integers(0, 3, n_records)) % 12],
        }
    )


def test_complete_splits_with_few_leaves():
    table = many_valued(3000)
    for most in (3, 12, 45, 60):
        make = partial(DecisionTreeClassifier, "gini", splits="complete", max_leaf_nodes=most)
        for target in ("kind", "size"):
            assert_same(make().fit(partition(table, 3), target), make().fit(table, target))


def test_more_classes_than_columns():
    rng = np.random.default_rng(5)
    code = rng.integers(0, 90, 4000)
    table = tacit.Table(
        {
            "code": [f"c{k:02}" for k in code],
            "tens": (code // 10 + (rng.random(4000) < 0.1)).tolist(),
            "even": (code % 2).tolist(),
            "other": rng.integers(0, 5, 4000).tolist(),
        }
    )
    for splits in ("binary", "both"):
        make = partial(DecisionTreeClassifier, splits=splits, kappa=1.0, max_leaf_nodes=30)
        tree = make().fit(partition(table, 3), "code")
        assert_same(tree, make().fit(table, "code"))
        assert tree.n_leaves_ > 5


@pytest.mark.parametrize("bytes_", [1, 2_000, 20_000])
@pytest.mark.parametrize("splits", ["binary", "both"])
def test_counts_that_do_not_fit_take_more_passes(monkeypatch, bytes_, splits):
    table = many_valued(2000)
    make = partial(DecisionTreeClassifier, "entropy", splits=splits, max_depth=4)
    plain, tight, sparse = (partition(table, 3) for _ in range(3))
    whole = make().fit(plain, "kind")
    monkeypatch.setattr(level_growth, "MOST_BYTES", bytes_)
    assert_same(make().fit(tight, "kind"), whole)
    assert tight.cost.passes >= plain.cost.passes + (bytes_ <= 2000)
    with counting(sparse=True):
        assert_same(make().fit(sparse, "kind"), whole)


def test_more_classes_with_sparse_counts():
    with counting(sparse=True):
        test_more_classes_than_columns()


def test_a_limit_of_memory_is_kept():
    table = many_valued(2000)
    parts = partition(table, 3, memory=100_000)
    tree = DecisionTreeClassifier(kappa=1.0).fit(parts, "kind")
    assert_same(tree, DecisionTreeClassifier(kappa=1.0).fit(table, "kind"))
    tight = partition(table, 3, memory=1000)
    with pytest.raises(InputError, match="memory"):
        DecisionTreeClassifier().fit(tight, "kind")


@pytest.mark.parametrize("criterion", ["bayes_factor", "entropy"])
@pytest.mark.parametrize("kind", ["whole", "tenths", "wide", "tiny"])
def test_weights(visits, kind, criterion):
    rng = np.random.default_rng(3)
    n = visits.n_records
    weights = {
        "whole": rng.integers(0, 3, n).astype(float),
        "tenths": np.full(n, 0.1),
        "wide": 10.0 ** rng.integers(-9, 9, n),
        "tiny": rng.random(n) * 1e-6,
    }[kind]
    table = visits.with_weights(weights)
    make = partial(DecisionTreeClassifier, criterion, max_leaf_nodes=20)
    whole = make().fit(table, TARGET)
    for n_partitions in (2, 7):
        assert_same(make().fit(partition(table, n_partitions), TARGET), whole)


def test_exact_sums_do_not_depend_on_the_order():
    rng = np.random.default_rng(0)
    weights = rng.random(1000) * 10.0 ** rng.integers(-300, 300, 1000)
    weights[:5] = 0.0, 5e-324, 2.2e-308, 1.0, 0.1
    assert exact_total(weights) == exact_total(weights[::-1].copy())
    assert exact_total(weights) == exact_total(weights[:300]) + exact_total(weights[300:])
    assert float_total(exact_total(np.full(10, 0.1))) == 1.0
    assert float_total(exact_total(weights[:5])) == 1.1
    assert float_total(exact_total(np.full(3, 1e308))) == np.inf
    assert exact_total(np.zeros(0)) == 0


@pytest.mark.parametrize("given", ["balanced", {True: 3.0, False: 0.5}, {True: 0.1}])
@pytest.mark.parametrize("weighted", [False, True])
def test_class_weights(visits, given, weighted):
    table = visits
    if weighted:
        weights = np.random.default_rng(3).random(visits.n_records)
        weights[::7] = 0.0
        table = visits.with_weights(weights)
    make = partial(DecisionTreeClassifier, class_weight=given)
    assert_same(make().fit(partition(table, 5), TARGET), make().fit(table, TARGET))


@pytest.mark.parametrize("default", ["k0", "k7"])
def test_a_default_that_is_not_the_most_common_class(default):
    table = many_valued(3000).with_defaults({"kind": default})
    for weight in (None, "balanced"):
        make = partial(DecisionTreeClassifier, class_weight=weight, kappa=0.9, splits="both")
        assert_same(make().fit(partition(table, 3), "kind"), make().fit(table, "kind"))


def test_a_target_whose_labels_could_be_missing():
    rng = np.random.default_rng(1)
    x = rng.integers(0, 4, 300)
    labels = ["no" if v < 3 else "yes" for v in x]
    rows = {"x": x.tolist(), "z": rng.integers(0, 2, 300).tolist(), "y": [*labels, None]}
    rows = {name: values if name == "y" else [*values, 0] for name, values in rows.items()}
    table = tacit.Table(rows)
    assert table.schema["y"].labels[-1] is None
    whole = table.take(np.arange(300))
    made = partial(DecisionTreeClassifier)
    assert_same(made().fit(cut(whole, [100]), "y"), made().fit(whole, "y"))
    with pytest.raises(InputError, match="missing value at record 300"):
        made().fit(cut(table, [100]), "y")
    weights = np.ones(301)
    weights[-1] = 0  # of no account
    light = table.with_weights(weights)
    assert_same(made().fit(cut(light, [10, 200]), "y"), made().fit(light, "y"))


def test_a_label_that_only_one_partition_has():
    table = many_valued(400).take(np.argsort(many_valued(400).codes("town"), kind="stable"))
    make = partial(DecisionTreeClassifier, "gini", splits="both")
    assert_same(make().fit(partition(table, 40), "kind"), make().fit(table, "kind"))
    one_each = table.take(np.arange(30))
    assert_same(make().fit(partition(one_each, 30), "kind"), make().fit(one_each, "kind"))


def test_threads_make_no_difference(visits):
    parts = partition(visits, 3)
    first = DecisionTreeClassifier(n_jobs=1).fit(parts, TARGET)
    for n_jobs in JOBS[1:4]:
        assert_same(DecisionTreeClassifier(n_jobs=n_jobs).fit(parts, TARGET), first)


def test_prediction(visits):
    tree = DecisionTreeClassifier().fit(visits, TARGET)
    parts = partition(visits, 5)
    for method in ("predict", "predict_proba", "predict_log_proba", "apply"):
        assert_identical(getattr(tree, method)(parts), getattr(tree, method)(visits))
    truth = visits.codes(TARGET).astype(bool)
    assert tree.score(parts, truth) == tree.score(visits, truth)
    few = list(parts.map(Predict(tree)))
    assert len(few) == 5
    numbers = DecisionTreeRegressor(max_depth=2).fit(many_valued(300), "size")
    assert_identical(
        numbers.predict(partition(many_valued(300), 3)), numbers.predict(many_valued(300))
    )


def test_statistics_can_be_sent(visits):
    n_values, target = visits.schema.n_values, Target.of(visits.schema, 3)
    root = Siblings(tree := GrowingTree(target, -1), None, [tree.root], None)
    paths = make_request([root], lambda *_: True).paths
    sent = pickle.dumps(LeafCounts(paths, RecordWeights(), 8 * target.arity * n_values))
    assert len(sent) < 2000
    counts, _, total, n_counting = partition(visits, 2).reduce(pickle.loads(sent))
    assert total == n_counting == visits.n_records
    assert counts[:n_values].tolist() == visits.one_way().stored.tolist()
    first = pickle.loads(pickle.dumps(FirstPass(RecordWeights(3, np.ones(2)), 3)))
    assert partition(visits, 2).reduce(first).n_records.sum() == visits.n_records


class Broken:
    """Fails in the third pass."""

    def __init__(self, local):
        self.local, self.passes = local, 0

    def threads(self, n_jobs):
        return n_jobs

    def statistic_bytes(self, n_partitions):
        return None

    def reduce(self, partitions, statistic, n_jobs, report):
        self.passes += 1
        if self.passes > 2:
            raise OSError("the disk is gone")
        return self.local.reduce(partitions, statistic, n_jobs, report)


def test_nothing_is_half_fitted(visits):
    model = DecisionTreeClassifier().fit(many_valued(300), "kind")
    before = dict(vars(model))
    with (
        tacit.scale.using(Broken(tacit.scale.Local())),
        pytest.raises(OSError, match="the disk is gone"),
    ):
        model.fit(partition(visits, 2), TARGET)
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is value for name, value in before.items())


BAD = {
    "no target": ({}, {"y": None}, "y"),
    "an array": ({}, {"y": np.zeros(20_000)}, "y: X is a partitioned table.*name of the column"),
    "no such column": ({}, {"y": "nowhere"}, "nowhere"),
    "weights apart": ({}, {"y": TARGET, "sample_weight": np.ones(20_000)}, "sample_weight"),
    "cuts": (
        {"discretise": {"device": 3}},
        {"y": TARGET},
        "discretise: column 'device' holds String",
    ),
    "class weights": ({"class_weight": {"x": 1}}, {"y": TARGET}, "class_weight"),
    "class weights of nothing": (
        {"class_weight": {True: 0, False: 0}},
        {"y": TARGET},
        "class_weight: all weights are zero",
    ),
    "kinds": ({"kinds": {"nowhere": "ordered"}}, {"y": TARGET}, "kinds: there is no column"),
}


@pytest.mark.parametrize(("options", "arguments", "message"), BAD.values(), ids=BAD)
def test_bad_input(visits, options, arguments, message):
    model = DecisionTreeClassifier(**options)
    with pytest.raises(InputError, match=message):
        model.fit(partition(visits, 2), **arguments)
    assert not hasattr(model, "n_features_in_")


def test_what_has_nothing_to_tell(visits):
    one = tacit.Table({"a": ["x"] * 5, "b": [1, 2, 1, 2, 2]})
    with pytest.raises(InputError, match="one class only"):
        DecisionTreeClassifier().fit(partition(one, 2), "a")
    with pytest.raises(InputError, match="no column but the target"):
        DecisionTreeClassifier().fit(partition(visits, 2).select([TARGET]), TARGET)
    nothing = visits.with_weights(np.zeros(visits.n_records))
    with pytest.raises(InputError, match="all weights are zero"):
        DecisionTreeClassifier().fit(partition(nothing, 2), TARGET)


@pytest.mark.parametrize("kind", [DecisionGraphClassifier, DecisionTreeRegressor])
def test_models_that_need_all_records_say_so(visits, kind):
    with pytest.raises(InputError, match=rf"{kind.__name__} needs all records.*collect"):
        kind().fit(partition(visits, 2), TARGET)
