"""Every estimator learns the same from the same data, whatever they come in."""

import numpy as np
import polars as pl
import pytest
from sklearn.base import ClassifierMixin, clone

import tacit
from support.containers import BINARY, MIXED, UNORDERED, binary_values, mixed_columns

N = 120
TARGET = (np.arange(N) * 7 % 10 < 4).astype(int)


def learnt(model, data):
    """What a fitted model has learnt, as arrays; where X came from is not part of it."""
    if hasattr(model, "encoder_"):  # it keeps its objects, dense or sparse as they came
        return {"predictions": model.predict(data)}
    arrays = {name: np.array(array) for name, array in model.to_state().items()}
    return {name: a for name, a in arrays.items() if not bytes(a.data[:1]).startswith(b"{")}


def assert_same(model, other, data):
    ours, theirs = learnt(model, data), learnt(other, data)
    assert ours.keys() == theirs.keys()
    for name, array in ours.items():
        if array.dtype.kind == "f":  # sums may be made in another order
            np.testing.assert_allclose(array, theirs[name], rtol=1e-9, err_msg=name)
        else:
            np.testing.assert_array_equal(array, theirs[name], err_msg=name)


# What takes columns of several types, and needs no target.
DENSITIES = {
    "NaiveBayesMixture": lambda: tacit.NaiveBayesMixture(2, random_state=0, n_init=1, max_iter=20),
    "DependencyNetwork": lambda: tacit.DependencyNetwork(),
    "BayesNet": lambda: tacit.BayesNet(random_state=0, n_restarts=0),
    "DependencyTree": lambda: tacit.DependencyTree(missing="ignore", algorithm="exact"),
    "Recommender": lambda: tacit.Recommender("linear", l2=10.0),
    "TreeMixture": lambda: tacit.TreeMixture(2, random_state=0, max_iter=5, max_joint_labels=4),
}
CLASSIFIERS = {
    "DecisionTreeClassifier": lambda: tacit.DecisionTreeClassifier(),
    "DecisionGraphClassifier": lambda: tacit.DecisionGraphClassifier(),
    "BoostedRulesClassifier": lambda: tacit.BoostedRulesClassifier(n_rules=8, random_state=0),
    "CoveringRulesClassifier": lambda: tacit.CoveringRulesClassifier(random_state=0),
}
# What takes numbers, or labels, but no number that is missing.
COMPLETE = {
    "KMeans": lambda: tacit.KMeans(2, random_state=0, n_init=1),
    "SparseKNeighborsClassifier": lambda: tacit.SparseKNeighborsClassifier(random_state=0),
    "NormalizedCutClassifier": lambda: tacit.NormalizedCutClassifier(random_state=0),
    "SparseSVC": lambda: tacit.SparseSVC(random_state=0),
}
ALL = DENSITIES | CLASSIFIERS | COMPLETE


def fit(make, data):
    model = make()
    needs_target = isinstance(model, ClassifierMixin)
    return model.fit(data, TARGET) if needs_target else model.fit(data)


def columns(container, *, complete=False):
    made = mixed_columns(N)
    if container in UNORDERED:
        del made["level"]
    if complete:
        made["height"] = made["height"].fill_null(170.0)
    return made


# A recommender wonders whether columns of numbers are a log: here they are meant.
pytestmark = pytest.mark.filterwarnings("ignore:X. each label of a column is an item")


def makers(estimators):
    return pytest.mark.parametrize("make", estimators.values(), ids=estimators)


@makers(DENSITIES | CLASSIFIERS)
@pytest.mark.parametrize("container", MIXED)
def test_columns_of_several_types(make, container, tmp_path):
    data = columns(container)
    expected = fit(make, pl.DataFrame(data))
    model = fit(make, MIXED[container](data, tmp_path))
    assert_same(model, expected, pl.DataFrame(data))


@makers({name: make for name, make in COMPLETE.items() if name != "KMeans"})
@pytest.mark.parametrize("container", MIXED)
def test_columns_of_several_types_without_missing_numbers(make, container, tmp_path):
    data = columns(container, complete=True)
    expected = fit(make, pl.DataFrame(data))
    model = fit(make, MIXED[container](data, tmp_path))
    assert_same(model, expected, pl.DataFrame(data))


@pytest.mark.filterwarnings("ignore:Constructing a DIA matrix")
@makers(ALL)
@pytest.mark.parametrize("container", BINARY)
def test_zeros_and_ones(make, container, tmp_path):
    if make is DENSITIES["DependencyTree"] and container.startswith("float"):
        pytest.skip("real numbers of an array have normal distributions")
    values = binary_values(N)
    expected = fit(make, values)
    model = fit(make, BINARY[container](values, tmp_path))
    if isinstance(model, tacit.KMeans) and (model.schema_ is None) != (expected.schema_ is None):
        np.testing.assert_array_equal(model.sizes_, expected.sizes_)  # distances are √2 larger
        return
    names = {f"x{k}": values[:, k] for k in range(values.shape[1])}
    new = pl.DataFrame(names) if hasattr(model, "feature_names_in_") else values
    if hasattr(model, "encoder_") or isinstance(model, tacit.BoostedRulesClassifier):
        # Rules ask whether truth values are equal, and on which side of a threshold numbers are.
        np.testing.assert_array_equal(model.predict(new), expected.predict(values))
    else:
        assert_same(model, expected, values)


@pytest.mark.parametrize("container", MIXED)
def test_best_subsets_and_rules_that_are_found(container, tmp_path):
    data = columns(container) | {"pays": pl.Series(np.where(TARGET == 1, "yes", "no"))}
    frame = pl.DataFrame(data)
    made = MIXED[container](data, tmp_path)
    best = tacit.BestSubset(2).fit(made, "pays")
    assert best.to_frame().equals(tacit.BestSubset(2).fit(frame, "pays").to_frame())
    found = tacit.RuleFinder("pays", "yes", n_conditions=1).fit(MIXED[container](data, tmp_path))
    again = tacit.RuleFinder("pays", "yes", n_conditions=1).fit(frame)
    assert found.to_frame().equals(again.to_frame())
    sets = tacit.FrequentItemsets(min_support=0.1, defaults=True)
    found = sets.fit(MIXED[container](data, tmp_path)).to_frame()
    assert found.equals(clone(sets).fit(frame).to_frame())
    sure = tacit.SignificantRules(random_state=0)
    found = sure.fit(MIXED[container](data, tmp_path), "pays").to_frame()
    assert found.equals(clone(sure).fit(frame, "pays").to_frame())


@pytest.mark.filterwarnings("ignore:Constructing a DIA matrix")
@pytest.mark.parametrize("container", BINARY)
def test_itemsets_of_zeros_and_ones(container, tmp_path):
    values = binary_values(N)
    expected = tacit.FrequentItemsets(min_support=0.05).fit(values).to_frame()
    made = BINARY[container](values, tmp_path)
    found = tacit.FrequentItemsets(min_support=0.05).fit(made).to_frame()
    assert len(found) > 5
    assert found["count"].equals(expected["count"])
    assert found["size"].equals(expected["size"])


@pytest.mark.parametrize("container", MIXED)
def test_a_regression_tree(container, tmp_path):
    data, y = columns(container), np.arange(N) % 7 + TARGET
    expected = tacit.DecisionTreeRegressor(max_depth=4).fit(pl.DataFrame(data), y)
    model = tacit.DecisionTreeRegressor(max_depth=4).fit(MIXED[container](data, tmp_path), y)
    assert_same(model, expected, pl.DataFrame(data))


@makers(DENSITIES | CLASSIFIERS)
@pytest.mark.parametrize("container", MIXED)
def test_new_data_are_read_from_any_container(make, container, tmp_path):
    data = columns(container)
    model = fit(make, tacit.Table(pl.DataFrame(data)))  # whose columns go by name
    made = MIXED[container](data, tmp_path)
    frame = pl.DataFrame(data)
    if hasattr(model, "score_samples"):
        np.testing.assert_array_equal(model.score_samples(made), model.score_samples(frame))
    elif hasattr(model, "recommend"):
        assert model.recommend(made).equals(model.recommend(frame))
    else:
        np.testing.assert_array_equal(model.predict(made), model.predict(frame))
