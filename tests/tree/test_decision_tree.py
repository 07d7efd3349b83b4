"""Decision trees for classes: what they find, whatever form X comes in."""

import math
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn import tree as peer
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from support.strategies import data
from tacit import DecisionTreeClassifier, Table
from tacit.table.discretise import bin_labels

examples = settings(max_examples=30)

WEATHER = {
    "sky": ["blue", "grey", "grey", "blue"] * 50,
    "wind": [1, 2, 3, 4] * 50,
    "rain": ["no", "no", "yes", "no"] * 50,
}


def leaf_counts(model):
    return sorted(model.nodes_.counts[model.nodes_.leaves].tolist())


def same_tree(one, other):
    for name in one.nodes_.__dataclass_fields__:
        np.testing.assert_array_equal(getattr(one.nodes_, name), getattr(other.nodes_, name), name)
    return True


def edges_of(model):
    return [column.edges for column in model.schema_]


class TestByHand:
    def test_bayes_factor(self):
        """Four records, one column that says all: the marginal likelihoods are known numbers."""
        table = Table({"a": [0, 0, 1, 1], "y": [0, 0, 1, 1]})
        model = DecisionTreeClassifier(kappa=0.9).fit(table, "y")
        together = math.log(1 / 5 / 6)  # B(3, 3)
        apart = 2 * math.log(1 / 3)  # B(3, 1), twice
        assert model.n_leaves_ == 2
        assert model.depth_ == 1
        assert model.nodes_.gain[0] == pytest.approx(apart - together + math.log(0.9))
        assert model.score_ == pytest.approx(apart + 2 * math.log(0.9))
        assert model.predict_proba(table).tolist() == [[0.75, 0.25]] * 2 + [[0.25, 0.75]] * 2
        # The gain is 1.2; a prior that asks for more than that of each parameter leaves one leaf.
        single = DecisionTreeClassifier(kappa=0.2).fit(table, "y")
        assert single.n_leaves_ == 1
        assert single.score_ == pytest.approx(together + math.log(0.2))

    def test_bdeu(self):
        table = Table({"a": [0, 0, 1, 1], "y": [0, 0, 1, 1]})
        model = DecisionTreeClassifier(prior="bdeu", prior_weight=2.0, kappa=1.0).fit(table, "y")
        assert model.nodes_.prior_fraction.tolist() == [1.0, 0.5, 0.5]
        # Each leaf has half of the prior's weight, and each class half of that.
        np.testing.assert_allclose(model.predict_proba(table)[0], [2.5 / 3, 0.5 / 3])

    @pytest.mark.parametrize("splits", ["binary", "complete", "both"])
    @pytest.mark.parametrize("kind", ["categorical", "ordered"])
    def test_bdeu_does_not_depend_on_the_splits(self, splits, kind):
        x = np.repeat([1, 2, 3], 100)
        y = np.concatenate([np.arange(100) >= n for n in (95, 50, 5)]).astype(int)
        table = Table({"x": x, "y": y}, kinds={"x": kind})
        prior = {"prior": "bdeu", "prior_weight": 10.0, "kappa": 1.0}
        model = DecisionTreeClassifier(**prior, splits=splits).fit(table, "y")
        assert model.n_leaves_ == 3
        assert model.score_ == pytest.approx(-118.06, abs=0.005)

    def test_bic(self):
        rng = np.random.default_rng(0)
        frame = {"a": rng.integers(0, 2, 200), "b": rng.integers(0, 2, 200)}
        y = np.where(rng.random(200) < 0.2, 1 - frame["a"], frame["a"])
        model = DecisionTreeClassifier("bic").fit(Table(frame), y)
        assert model.n_leaves_ == 2
        assert model.feature_importances_.tolist() == [1.0, 0.0]
        chosen = math.log(10)  # of two splits, but at least of ten
        assert model.score_ == pytest.approx(model.log_likelihood_ - math.log(200) - chosen)
        plain = DecisionTreeClassifier("bic", kappa=1.0).fit(Table(frame), y)
        assert plain.score_ == pytest.approx(plain.log_likelihood_ - math.log(200))

    @pytest.mark.parametrize("criterion", ["entropy", "gini"])
    def test_parity_takes_a_split_without_gain(self, criterion):
        table = Table({"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "y": [0, 1, 1, 0]})
        model = DecisionTreeClassifier(criterion).fit(table, "y")
        assert model.n_leaves_ == 4
        assert model.log_likelihood_ == pytest.approx(0)
        assert model.predict(table).tolist() == [0, 1, 1, 0]

    def test_complete_split(self):
        table = Table({"dice": ["a", "b", "c"] * 40, "y": ["p", "q", "r"] * 40})
        model = DecisionTreeClassifier(splits="complete").fit(table, "y")
        assert model.nodes_.complete.tolist() == [1, 0, 0, 0]
        assert model.predict(table).tolist()[:3] == ["p", "q", "r"]

    @pytest.mark.parametrize("splits", ["complete", "both"])
    def test_numbers_have_thresholds_whatever_splits_there_are(self, splits):
        """A child for each of many numbers would tell everything apart, and say nothing."""
        x = np.random.default_rng(0).normal(size=200)
        for form in ({"x": x}, sparse.csr_array(x[:, None]), Table({"x": x})):
            model = DecisionTreeClassifier("entropy", splits=splits).fit(form, x > 0.5)
            assert model.n_leaves_ == 2
            assert model.nodes_.complete.tolist() == [0, 0, 0]

    def test_plain_shares_without_a_prior(self):
        table = Table({"a": [0, 0, 0, 1], "y": [0, 0, 1, 1]})
        model = DecisionTreeClassifier("entropy", prior_weight=0).fit(table, "y")
        np.testing.assert_allclose(model.predict_proba(table)[0], [2 / 3, 1 / 3])
        with np.errstate(all="raise"):
            assert model.predict_log_proba(table)[3].tolist() == [-np.inf, 0.0]

    def test_a_child_without_records_says_what_its_parent_says(self):
        dice = pl.Series(["a", "b", "c"] * 2, dtype=pl.Enum(["a", "b", "c", "d"]))
        table = Table({"dice": dice, "y": [0, 0, 1] * 2})
        model = DecisionTreeClassifier("entropy", splits="complete", prior_weight=0)
        model.fit(table, "y")
        new = Table({"dice": pl.Series(["d"], dtype=dice.dtype)})
        np.testing.assert_allclose(model.predict_proba(new), [[2 / 3, 1 / 3]])


class TestLikeScikitLearn:
    @pytest.mark.parametrize("criterion", ["entropy", "gini"])
    @pytest.mark.parametrize("seed", [1, 2, 3])  # in which no two splits are equally good
    def test_on_numbers(self, criterion, seed):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(300, 5))
        y = rng.integers(0, 3, 300) + (X[:, 0] > 0)
        model = DecisionTreeClassifier(criterion, max_leaf_nodes=12, prior_weight=0).fit(X, y)
        other = peer.DecisionTreeClassifier(criterion=criterion, max_leaf_nodes=12, random_state=0)
        other.fit(X, y)
        assert model.n_leaves_ == other.get_n_leaves() == 12
        np.testing.assert_allclose(model.predict_proba(X), other.predict_proba(X))
        cuts = {edge for column in model.schema_ for edge in column.edges}
        theirs = other.tree_.threshold[other.tree_.feature >= 0]
        np.testing.assert_allclose(sorted(cuts), np.unique(theirs))
        new = rng.normal(size=(300, 5))
        np.testing.assert_allclose(model.predict_proba(new), other.predict_proba(new))

    @pytest.mark.parametrize("criterion", ["entropy", "gini"])
    @pytest.mark.parametrize("seed", range(4))
    def test_on_bits(self, criterion, seed):
        rng = np.random.default_rng(seed)
        X = (rng.random((2000, 30)) < 0.2).astype(int)
        y = rng.random(2000) < 0.2 + 0.5 * X[:, 3] * (1 - X[:, 7]) + 0.2 * X[:, 11]
        model = DecisionTreeClassifier(criterion, max_leaf_nodes=10, prior_weight=0)
        other = peer.DecisionTreeClassifier(criterion=criterion, max_leaf_nodes=10).fit(X, y)
        model.fit(Table(X), y)
        counts = (
            other.tree_.value[other.tree_.feature < 0, 0]
            * (other.tree_.n_node_samples[other.tree_.feature < 0, None])
        )
        np.testing.assert_allclose(leaf_counts(model), sorted(counts.round().tolist()))
        shares = counts / counts.sum(axis=1, keepdims=True)
        likelihood = np.where(counts > 0.5, counts * np.log(np.maximum(shares, 1e-99)), 0).sum()
        assert model.log_likelihood_ == pytest.approx(likelihood)

    def test_limits(self):
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(200, 3)), rng.integers(0, 2, 200)
        deep = DecisionTreeClassifier("gini", max_depth=3).fit(X, y)
        assert deep.depth_ == 3
        wide = DecisionTreeClassifier("gini", min_samples_leaf=30).fit(X, y)
        assert min(map(sum, leaf_counts(wide))) >= 30
        assert DecisionTreeClassifier("gini", max_leaf_nodes=1).fit(X, y).n_leaves_ == 1
        bold = DecisionTreeClassifier("entropy", min_gain=8.0).fit(X, y)
        assert bold.nodes_.gain[~bold.nodes_.leaves].min(initial=8.0) >= 8.0

    def test_search_and_clone(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(120, 2))
        search = GridSearchCV(DecisionTreeClassifier(), {"kappa": [0.01, 0.5]}, cv=2)
        search.fit(X, X[:, 0] > 0)
        assert search.best_score_ > 0.9
        assert clone(search.best_estimator_).kappa in (0.01, 0.5)


class TestForms:
    """The same data are the same tree."""

    @examples
    @given(data(weights=None, with_chosen=False))
    def test_any_default(self, case):
        assume(len(case.rows) > 2)
        y = np.random.default_rng(0).integers(0, 2, len(case.rows))
        y[:2] = 0, 1
        table = case.table()
        kinds = dict.fromkeys(table.schema.names, "ordered")
        one = DecisionTreeClassifier("bic", splits="both", kinds=kinds).fit(table, y)
        other = clone(one).fit(table.with_defaults(None), y)
        assert one.n_leaves_ == other.n_leaves_
        assert one.score_ == pytest.approx(other.score_)
        np.testing.assert_allclose(one.predict_proba(table), other.predict_proba(table))

    @pytest.mark.parametrize("splits", ["binary", "both"])
    def test_sparse_is_dense(self, splits):
        rng = np.random.default_rng(0)
        X = rng.integers(-2, 4, (400, 6)) * (rng.random((400, 6)) < 0.3) * 0.5
        y = (X[:, 0] > 0.4) | (X[:, 2] < 0)
        dense = DecisionTreeClassifier(splits=splits).fit(X, y)
        assert dense.n_leaves_ > 2
        for kind in (sparse.csr_array, sparse.csc_matrix, sparse.coo_array, sparse.lil_matrix):
            given = kind(X)
            model = DecisionTreeClassifier(splits=splits).fit(given, y)
            np.testing.assert_array_equal(given.toarray(), X)
            assert model.score_ == pytest.approx(dense.score_)
            for form in (X, given):
                np.testing.assert_allclose(model.predict_proba(form), dense.predict_proba(form))
            assert edges_of(model) == edges_of(dense)

    def test_zeros_that_are_stored(self):
        X = sparse.csr_array(np.array([[1.0, 2.0], [2.0, 0.0], [0.0, 3.0], [4.0, 0.0]]))
        y = [0, 0, 1, 1]
        plain = DecisionTreeClassifier("gini").fit(X, y)
        X.data[0] = 0.0
        model = DecisionTreeClassifier("gini").fit(X, y)
        assert plain.predict(X).tolist() != model.predict(X).tolist() == y

    def test_a_table_is_its_dense_view(self):
        rng = np.random.default_rng(1)
        X = rng.integers(0, 4, (500, 5)) * (rng.random((500, 5)) < 0.4)
        y = rng.random(500) < np.where(X[:, 1] > 1, 0.9, 0.1)
        table = DecisionTreeClassifier().fit(Table(X), y)
        dense = DecisionTreeClassifier().fit(X, y)
        assert table.n_leaves_ == dense.n_leaves_
        assert table.score_ == pytest.approx(dense.score_)
        np.testing.assert_allclose(table.predict_proba(Table(X)), dense.predict_proba(X))

    def test_frames_of_any_kind(self):
        frame = pl.DataFrame(WEATHER)
        expected = DecisionTreeClassifier().fit(frame, "rain")
        assert expected.feature_names_in_.tolist() == ["sky", "wind"]
        for form in (frame.to_pandas(), frame.to_arrow(), WEATHER):
            model = DecisionTreeClassifier().fit(form, "rain")
            assert same_tree(model, expected)
            assert model.predict(form).tolist() == WEATHER["rain"]  # the target is passed over
        apart = DecisionTreeClassifier().fit(frame.drop("rain"), frame["rain"])
        assert same_tree(apart, expected)
        assert apart.score(frame.drop("rain"), frame["rain"]) == 1.0
        by_pandas = DecisionTreeClassifier().fit(frame.drop("rain"), pd.Series(WEATHER["rain"]))
        assert same_tree(by_pandas, expected)

    def test_a_target_anywhere_among_the_columns(self):
        for names in (["rain", "sky", "wind"], ["sky", "rain", "wind"], ["sky", "wind", "rain"]):
            table = Table({name: WEATHER[name] for name in names})
            model = DecisionTreeClassifier().fit(table, "rain")
            assert model.schema_.names == ("sky", "wind")
            assert model.feature_names_in_.tolist() == ["sky", "wind"]
            assert model.n_features_in_ == 2
            assert model.predict(table.select(["wind", "sky"])).tolist() == WEATHER["rain"]
            np.testing.assert_allclose(model.feature_importances_.sum(), 1.0)

    def test_missing_values_are_the_highest_number(self):
        heat = [1.0, 2.0, None, 3.0, None] * 20
        model = DecisionTreeClassifier().fit({"heat": heat}, [0, 0, 1, 0, 1] * 20)
        assert model.schema_["heat"].labels.items == ("all", None)
        assert model.predict({"heat": [None, 1e9]}).tolist() == [1, 0]
        model.fit({"heat": heat}, [0, 1, 1, 1, 1] * 20)
        assert model.schema_["heat"].labels.items == ("< 1.5", ">= 1.5", None)
        assert model.predict({"heat": [None, 2.0, 1.0]}).tolist() == [1, 1, 0]

    def test_nan_in_a_frame_is_missing(self):
        frame = pd.DataFrame({"heat": [1.0, np.nan] * 20})
        model = DecisionTreeClassifier().fit(frame, [0, 1] * 20)
        assert model.predict(frame)[:2].tolist() == [0, 1]

    def test_missing_values_as_the_default(self):
        heat = [None] * 60 + [1.0, 2.0, 3.0, 4.0] * 10
        y = [0] * 60 + [0, 0, 1, 1] * 10
        model = DecisionTreeClassifier().fit(pl.DataFrame({"heat": heat}), y)
        assert model.predict(pl.DataFrame({"heat": [None, 2.0, 3.5]})).tolist() == [0, 0, 1]
        assert model.schema_["heat"].default_label is None

    def test_thresholds_separate_what_they_stand_between(self):
        lower = 0.1
        for upper in (np.nextafter(lower, 1), 0.2, 1e300):
            X = np.array([[lower], [upper]] * 30)
            y = [0, 1] * 30
            assert DecisionTreeClassifier().fit(X, y).predict(X).tolist() == y

    def test_bins_of_a_table_are_ordered(self):
        rng = np.random.default_rng(0)
        x = rng.uniform(0, 8, 600)
        table = Table({"x": x, "y": (x > 3).astype(int)}, discretise={"x": [1, 2, 3, 4, 5, 6, 7]})
        model = DecisionTreeClassifier().fit(table, "y")
        assert model.n_leaves_ == 2
        assert model.predict(table).tolist() == (x > 3).astype(int).tolist()
        plain = DecisionTreeClassifier(kinds={"x": "categorical"}).fit(table, "y")
        assert plain.n_leaves_ > 2

    def test_ordered_strings_where_it_is_said(self):
        size = ["a", "b", "c", "d", "e"] * 60
        y = [0, 0, 0, 1, 1] * 60
        assert DecisionTreeClassifier().fit({"size": size}, y).n_leaves_ > 2
        for table in ({"size": size}, Table({"size": size})):
            for column in ("size", 0):
                model = DecisionTreeClassifier(kinds={column: "ordered"}).fit(table, y)
                assert model.n_leaves_ == 2

    @pytest.mark.parametrize("discretise", [4, "width", "mdl", {"x0": [0.0]}])
    def test_discretised_numbers(self, discretise):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(400, 2))
        y = X[:, 0] > 0
        for form in (X, pl.DataFrame(X, schema=["x0", "x1"]), sparse.csr_array(X)):
            model = DecisionTreeClassifier(discretise=discretise).fit(form, y)
            assert model.score(form, y) > 0.9
            edges = model.schema_["x0"].edges
            assert model.schema_["x0"].labels.items == bin_labels(edges)
        if discretise == "mdl":
            assert len(edges) == 1

    def test_booleans_and_dates(self):
        rng = np.random.default_rng(0)
        day = pl.Series(rng.integers(0, 20, 300)).cast(pl.Date)
        flag = rng.random(300) < 0.5
        frame = pl.DataFrame({"day": day, "flag": flag})
        y = (day.to_physical().to_numpy() > 9) & flag
        model = DecisionTreeClassifier().fit(frame, y)
        assert model.score(frame, y) == 1.0
        assert "day ≤ 1970-01-10" in model.to_text()
        assert "flag = True" in model.to_text()

    def test_lists_and_objects(self):
        X = [["red", 1], ["blue", 2], ["red", 3], ["blue", 4]] * 20
        y = ["a", "b", "a", "b"] * 20
        model = DecisionTreeClassifier().fit(np.array(X, object), y)
        assert model.predict(np.array(X, object)).tolist() == y
        assert model.to_text().count("x0 =") == 2

    def test_inputs_are_left_as_they_are(self):
        rng = np.random.default_rng(0)
        X, y, weights = rng.normal(size=(60, 3)), rng.integers(0, 2, 60), rng.random(60)
        weights[:5] = 0
        before = X.copy(), y.copy(), weights.copy()
        for array in (X, y, weights):
            array.flags.writeable = False
        model = DecisionTreeClassifier("gini", max_leaf_nodes=9).fit(X, y, sample_weight=weights)
        model.predict(X)
        for array, was in zip((X, y, weights), before, strict=True):
            np.testing.assert_array_equal(array, was)


class TestWeights:
    @examples
    @given(st.lists(st.integers(0, 3), min_size=40, max_size=40), st.sampled_from([1.0, 0.25, 3.0]))
    def test_a_weight_of_two_is_the_record_twice(self, weights, unit):
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(40, 3)).round(1), rng.integers(0, 2, 40)
        assume(len(set(y[np.array(weights) > 0].tolist())) == 2)
        twice = DecisionTreeClassifier("bic", min_samples_leaf=2)
        twice.fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
        if unit != 1.0:  # the scale of weights matters to priors, but not to entropies
            twice.set_params(criterion="entropy", max_leaf_nodes=6, min_samples_leaf=1)
            twice.fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
        model = clone(twice).fit(X, y, sample_weight=np.array(weights) * unit)
        np.testing.assert_allclose(model.nodes_.counts[0], twice.nodes_.counts[0] * unit)
        assert edges_of(model) == edges_of(twice)
        kept = np.array(weights) > 0
        np.testing.assert_allclose(  # not of what was learnt from the prior
            model.nodes_.counts[model.apply(X[kept])],
            twice.nodes_.counts[twice.apply(X[kept])] * unit,
        )

    def test_weights_of_a_table(self):
        weights = np.arange(200) % 3
        table = Table(WEATHER, weights=weights)
        model = DecisionTreeClassifier().fit(table, "rain")
        other = DecisionTreeClassifier().fit(Table(WEATHER), "rain", sample_weight=weights)
        assert same_tree(model, other)
        assert model.nodes_.counts[0].sum() == weights.sum()

    def test_class_weights(self):
        rng = np.random.default_rng(0)
        X = rng.integers(0, 2, (400, 3))
        y = np.where(rng.random(400) < 0.1 + 0.2 * X[:, 0], "rare", "usual")
        plain = DecisionTreeClassifier().fit(Table(X), y)
        balanced = DecisionTreeClassifier(class_weight="balanced").fit(Table(X), y)
        assert set(plain.predict(Table(X))) == {"usual"}
        assert set(balanced.predict(Table(X))) == {"rare", "usual"}
        np.testing.assert_allclose(balanced.nodes_.counts[0], [200, 200])
        by_class = DecisionTreeClassifier(class_weight={"rare": 3}).fit(Table(X), y)
        by_records = DecisionTreeClassifier()
        by_records.fit(Table(X), y, sample_weight=np.where(y == "rare", 3, 1))
        assert same_tree(by_class, by_records)

    def test_fractions_have_no_order(self):
        rng = np.random.default_rng(0)
        X, y, weights = rng.normal(size=(300, 3)), rng.integers(0, 2, 300), rng.random(300)
        order = rng.permutation(300)
        model = DecisionTreeClassifier("gini", max_leaf_nodes=20)
        model.fit(X, y, sample_weight=weights)
        other = clone(model).fit(X[order], y[order], sample_weight=weights[order])
        assert same_tree(model, other)
        np.testing.assert_allclose(model.nodes_.counts[0].sum(), weights.sum())


class TestResults:
    def test_classes(self):
        X = [[0], [1]] * 20
        cases = {
            "bool": ([True, False] * 20, [False, True]),
            "str": (["b", "a"] * 20, ["a", "b"]),
            "int8": (np.array([3, -1] * 20, np.int8), [-1, 3]),
            "float": ([2.0, 1.0] * 20, [1.0, 2.0]),
            "category": (pd.Series(["z", "y"] * 20, dtype="category"), ["y", "z"]),
        }
        for y, classes in cases.values():
            model = DecisionTreeClassifier().fit(X, y)
            assert model.classes_.tolist() == classes
            assert model.n_classes_ == 2
            assert model.predict(X).tolist() == list(y)
        assert DecisionTreeClassifier().fit(X, cases["int8"][0]).classes_.dtype == np.int8

    def test_thousands_of_classes(self):
        X = np.arange(6000)[:, None] // 2 * 2
        y = X[:, 0] // 2
        model = DecisionTreeClassifier("gini", max_leaf_nodes=40).fit(X, y)
        assert model.n_classes_ == 3000
        assert model.predict_proba(X[:50]).shape == (50, 3000)
        np.testing.assert_allclose(model.predict_proba(X[:50]).sum(axis=1), 1.0)
        assert len(model.to_text().splitlines()) > 40

    def test_a_column_that_equals_the_target(self):
        rng = np.random.default_rng(0)
        y = rng.integers(0, 2, 300)
        X = rng.integers(0, 2, (300, 4))
        X[:, 2] = y
        model = DecisionTreeClassifier().fit(Table(X), y)
        assert model.n_leaves_ == 2
        assert model.feature_importances_.tolist() == [0, 0, 1, 0]
        assert model.score(Table(X), y) == 1.0

    def test_a_record_of_defaults_alone(self):
        table = Table(np.eye(4, dtype=int).repeat(20, axis=0))
        model = DecisionTreeClassifier().fit(table, np.repeat([0, 0, 1, 1], 20))
        nothing = sparse.csr_array((1, 4), dtype=np.int64)
        leaf = model.apply(Table(nothing, columns=table.schema.names))
        assert model.nodes_.column[leaf].tolist() == [-1]

    def test_nothing_to_learn_is_one_leaf(self):
        y = [0, 1, 1] * 10
        model = DecisionTreeClassifier().fit(Table({"same": [5] * 30}), y)
        assert model.n_leaves_ == 1
        assert model.depth_ == 0
        assert model.feature_importances_.tolist() == [0.0]
        assert model.predict(Table({"same": [5]})).tolist() == [1]

    def test_apply_gives_leaves(self):
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(200, 3)), rng.integers(0, 2, 200)
        model = DecisionTreeClassifier("gini", max_leaf_nodes=9).fit(X, y)
        leaves = model.apply(X)
        counts = np.bincount(leaves, minlength=model.nodes_.n_nodes)
        np.testing.assert_array_equal(
            counts[model.nodes_.leaves], model.nodes_.counts.sum(1)[model.nodes_.leaves]
        )
        assert counts[~model.nodes_.leaves].sum() == 0

    def test_threads_do_not_matter(self):
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(500, 4)), rng.integers(0, 2, 500)
        one = DecisionTreeClassifier("gini", max_leaf_nodes=30).fit(X, y)
        many = DecisionTreeClassifier("gini", max_leaf_nodes=30, n_jobs=3).fit(X, y)
        assert same_tree(one, many)
        np.testing.assert_array_equal(one.apply(X), many.apply(X))

    def test_pickles(self):
        table = Table(WEATHER)
        model = DecisionTreeClassifier().fit(table, "rain")
        again = pickle.loads(pickle.dumps(model))
        assert same_tree(again, model)
        assert again.predict(table).tolist() == WEATHER["rain"]

    def test_html(self):
        assert "DecisionTreeClassifier" in DecisionTreeClassifier()._repr_html_()
