"""Growth kernels refuse arguments that do not fit together, instead of reading beyond them."""

import numpy as np
import pytest

from support.trees import grow_forest, grow_tree, random_case, table_of

TABLE = ["indptr", "values", "start", "rows", "offsets", "defaults", "ordered"]
TREE = [*TABLE, "excluded", "classes", "n_classes", "moments", "weights", "settings"]
FOREST = [*TABLE, "targets", "pairs", "weights", "settings", "n_jobs"]


@pytest.fixture
def case():
    return random_case(1, 30, [2, 3, 4], 3, 0.5)


def tree_with(case, **changes):
    arguments = dict(zip(TREE, case.arguments(), strict=True)) | changes
    return grow_tree(**arguments)


def forest_with(case, **changes):
    rest = (np.arange(3), None, case.weights, case.settings, 1)
    arguments = dict(zip(FOREST, (*case.table(), *rest), strict=True)) | changes
    return grow_forest(**arguments)


def ints(*numbers):
    return np.array(numbers, np.int64)


TABLES = {
    "no indptr": {"indptr": ints()},
    "indptr of another table": {"indptr": ints(0, 2)},
    "fewer values": {"values": np.zeros(2, np.uint16)},
    "start of another table": {"start": ints(0, 1)},
    "fewer rows": {"rows": np.zeros(2, np.int32)},
    "no offsets": {"offsets": ints()},
    "offsets fall": {"offsets": ints(0, 4, 3, 6)},
    "offsets begin behind 0": {"offsets": ints(1, 1, 3, 6)},
    "offsets begin before 0": {"offsets": ints(-2, 1, 3, 6)},
    "negative offsets": {"offsets": ints(0, 1, 3, -6)},
    "fewer defaults": {"defaults": ints(0, 0)},
    "defaults beyond the arity": {"defaults": ints(0, 0, 4)},
    "negative defaults": {"defaults": ints(0, -1, 0)},
    "fewer flags": {"ordered": np.zeros(2, np.uint8)},
    "fewer weights": {"weights": ints(1, 2)},
    "negative weights": {"weights": ints(-1, *[1] * 29)},
}


@pytest.mark.parametrize("change", TABLES.values(), ids=TABLES)
@pytest.mark.parametrize("grow", [tree_with, forest_with])
def test_tables_that_do_not_fit_together(case, grow, change):
    grow(case)
    with pytest.raises(ValueError, match=r"must|need|table"):
        grow(case, **change)


TARGETS = {
    "fewer classes": {"classes": np.zeros(29, np.int32)},
    "a class too many": {"classes": np.full(30, 3, np.int32)},
    "a negative class": {"classes": np.full(30, -1, np.int32)},
    "no number of classes": {"n_classes": 0},
    "neither classes nor moments": {"classes": None},
    "both": {"moments": (np.zeros(30, np.int64), np.zeros(30, np.int64))},
    "an excluded column that is not there": {"excluded": [3]},
    "a negative excluded column": {"excluded": [-1]},
}


@pytest.mark.parametrize("change", TARGETS.values(), ids=TARGETS)
def test_targets_that_do_not_fit(case, change):
    with pytest.raises(ValueError, match=r"must|need|table"):
        tree_with(case, **change)


def test_moments_that_do_not_fit():
    case = table_of([(0,), (1,), (1,)], [1, 2, 3], criterion="squared_error")
    tree_with(case)
    some, few = np.zeros(3, np.int64), np.zeros(2, np.int64)
    for moments in ((some, few), (few, some), None):
        with pytest.raises(ValueError, match="moments"):
            tree_with(case, moments=moments)
    with pytest.raises(ValueError, match="classes"):
        tree_with(case, classes=np.zeros(3, np.int32), n_classes=2)


FOREST_CHANGES = {
    "a target that is not there": {"targets": ints(0, 3)},
    "a negative target": {"targets": ints(-1)},
    "pairs of another table": {"pairs": np.zeros(4, np.int64)},
}


@pytest.mark.parametrize("change", FOREST_CHANGES.values(), ids=FOREST_CHANGES)
def test_forests_that_do_not_fit(case, change):
    with pytest.raises(ValueError, match=r"must|need|table"):
        forest_with(case, **change)


def test_no_targets_and_no_offsets(case):
    with pytest.raises(ValueError, match="offsets"):
        forest_with(case, targets=ints(), offsets=ints())


SETTINGS = {
    "criterion": ["nonsense", ""],
    "prior": ["dirichlet"],
    "prior_weight": [0.0, -1.0, float("nan")],
    "unit": [0.0, -1.0, float("nan")],
}


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in SETTINGS.items() for value in values]
)
@pytest.mark.parametrize("grow", [tree_with, forest_with])
def test_settings_that_mean_nothing(case, grow, name, value):
    with pytest.raises(ValueError, match=name):
        grow(case, settings=case.settings | {name: value})


@pytest.mark.parametrize("grow", [tree_with, forest_with])
def test_settings_that_are_not_there(case, grow):
    for name in set(case.settings) - {"normal"}:
        with pytest.raises(ValueError, match=name):
            grow(case, settings={k: v for k, v in case.settings.items() if k != name})


@pytest.mark.parametrize("name", ["criterion", "unit", "min_leaf", "max_leaves", "binary"])
@pytest.mark.parametrize("grow", [tree_with, forest_with])
def test_settings_of_another_type(case, grow, name):
    with pytest.raises((TypeError, ValueError), match=name):
        grow(case, settings=case.settings | {name: [1, 2]})


@pytest.mark.parametrize("criterion", ["entropy", "gini"])
def test_only_scores_with_a_price_for_leaves_merge(case, criterion):
    with pytest.raises(ValueError, match="merge"):
        tree_with(case, settings=case.settings | {"criterion": criterion, "merge": True})


@pytest.mark.parametrize(
    "prior", [(0.0, 0.0, 1.0, 1.0), (0.0, 1.0, -1.0, 1.0), (0.0, 1.0, 1.0, 0.0)]
)
def test_normal_priors_that_mean_nothing(prior):
    case = table_of([(0,), (1,), (1,)], [1, 2, 3], criterion="normal")
    with pytest.raises(ValueError, match="normal"):
        tree_with(case.ruled(normal=prior))


def test_forests_tell_classes_only(case):
    with pytest.raises(ValueError, match="classes"):
        forest_with(case, settings=case.settings | {"criterion": "squared_error"})


@pytest.mark.parametrize(
    "change",
    [
        {"values": np.zeros(3, np.float64)},
        {"values": np.zeros(3, np.int64)},
        {"offsets": [0, 1, 3, 6]},
        {"defaults": "012"},
        {"settings": None},
    ],
)
@pytest.mark.parametrize("grow", [tree_with, forest_with])
def test_arrays_of_another_type(case, grow, change):
    with pytest.raises(TypeError):
        grow(case, **change)


@pytest.mark.parametrize("n_records", [0, 1])
def test_hardly_any_records(n_records):
    case = random_case(2, 4, [2, 3], 2, 1.0)
    few = case.with_(codes=case.codes[:n_records], target=case.target[:n_records])
    for criterion in ("bayes_factor", "bic", "entropy", "gini"):
        nodes = few.ruled(criterion=criterion).nodes(grow_tree)
        assert nodes.n_nodes == 1
        assert nodes.counts.sum() == n_records


def test_no_columns():
    case = random_case(3, 5, [2], 2)
    bare = case.with_(codes=case.codes[:, :0], arities=[], defaults=[], ordered=[])
    assert bare.nodes(grow_tree).n_nodes == 1


def test_limits_beyond_any_table(case):
    for limit in (2**31, 2**62, 2**63 - 1):
        far = case.ruled(max_depth=limit, max_leaves=limit)
        assert far.nodes(grow_tree).n_nodes == case.nodes(grow_tree).n_nodes
        assert case.ruled(min_leaf=limit).nodes(grow_tree).n_nodes == 1
