"""New data, whatever they come in, against models of other containers."""

import decimal

import numpy as np
import polars as pl
import pytest

import tacit
from tacit import InputError, Table

RNG = np.random.default_rng(0)


def test_numbers_of_their_own_are_no_identifiers():
    X = np.arange(100.0).reshape(-1, 1)
    model = tacit.DecisionTreeRegressor(max_depth=2).fit(X, X[:, 0])
    assert model.predict([[3.5]]).tolist() == [12.0]
    assert Table({"i": np.arange(100)}).schema["i"].kind == "numeric"
    assert Table({"i": [f"id {k}" for k in range(100)]}).schema["i"].kind == "identifier"


def test_partitions_of_numbers_are_projected_as_their_table(tmp_path):
    frame = pl.DataFrame({"a": RNG.integers(-10, 10, 400), "b": RNG.integers(0, 30, 400)})
    frame[:150].write_parquet(tmp_path / "1.parquet")
    frame[150:].write_parquet(tmp_path / "2.parquet")
    sparse = tacit.similarity.SparseComputation(random_state=0, normalize=False, n_dimensions=2)
    told = sparse.fit(Table(frame)).explained_variance_ratio_
    again = sparse.fit(tacit.scan(str(tmp_path / "*.parquet"))).explained_variance_ratio_
    np.testing.assert_allclose(told, again)
    assert told[0] > 0.5


@pytest.mark.parametrize("model", [tacit.NaiveBayesMixture(2, random_state=0), tacit.BayesNet()])
def test_text_that_is_said_to_be_numeric_is_so_later(model):
    X = {"a": [str(k % 7) for k in range(60)], "b": list("xyz") * 20}
    fitted = model.set_params(kinds={"a": "numeric"}).fit(X)
    numbers = {**X, "a": [k % 7 for k in range(60)]}
    np.testing.assert_array_equal(fitted.score_samples(X), fitted.score_samples(numbers))


def test_a_table_of_an_array_has_all_its_columns():
    A = RNG.integers(0, 3, (50, 3))
    model = tacit.DecisionTreeClassifier().fit(A, A[:, 2] > 0)
    np.testing.assert_array_equal(model.predict(Table(A)), model.predict(A))
    with pytest.raises(InputError, match="X has 1 features, but DecisionTreeClassifier is expect"):
        model.predict(Table(A[:, :1]))
    best = tacit.BestSubset(1).fit(A, A[:, 2] > 0)
    assert best.transform(Table(A)).shape == (50, 1)


def test_a_target_is_neither_cut_nor_real():
    table = Table({"a": [1, 2, 3, 4] * 9, "b": list("xyzw") * 9, "v": RNG.random(36)})
    with pytest.raises(InputError, match="discretise: column 'a' is the target"):
        tacit.DecisionTreeClassifier(discretise={"a": 2}).fit(table, "a")
    for model in (tacit.DecisionTreeClassifier(), tacit.BestSubset(1)):
        with pytest.raises(InputError, match="y holds real numbers"):
            model.fit(table, "v")


def test_many_whole_numbers_of_a_table_have_no_child_each():
    frame, y = pl.DataFrame({"v": RNG.integers(-90, 90, 200)}), RNG.integers(0, 2, 200)
    trees = [
        tacit.DecisionTreeClassifier("gini", splits="both", max_depth=2).fit(X, y)
        for X in (frame, Table(frame))
    ]
    assert trees[0].to_text() == trees[1].to_text()
    assert trees[1].predict({"v": [1000]}).shape == (1,)


def test_absent_columns_of_models_with_numbers():
    frame = pl.DataFrame({"x": RNG.random(60), "b": list("xyz") * 20, "c": list("uuv") * 20})
    model = tacit.DependencyTree(absent="default").fit(frame)
    told = model.score_samples(frame.drop("c").head(3))
    np.testing.assert_array_equal(
        told, model.score_samples(frame.head(3).with_columns(c=pl.lit("u")))
    )
    with pytest.raises(InputError, match="there is no column 'x', on which the model was fitted"):
        model.score_samples(frame.drop("x"))


def test_baskets_that_name_nothing_known():
    model = tacit.NaiveBayesMixture(1).fit(Table.from_baskets([["a", "b"], ["a"], ["b", "c"]]))
    with pytest.raises(InputError, match="there is no column 'a'"):
        model.predict(pl.DataFrame({"nothing": ["x"]}))
    assert model.predict([[], ["a"]]).tolist() == [0, 0]
    with pytest.warns(tacit.InputWarning, match="'z' \\(1 of them, 2 times\\)"):
        model.predict([["z", "a"], ["z"]])


def test_a_target_in_new_frames_is_passed_over():
    frame = pl.DataFrame({"a": RNG.random(60), "b": list("xy") * 30})
    model = tacit.SparseKNeighborsClassifier(random_state=0).fit(frame, "b")
    np.testing.assert_array_equal(model.predict(frame), model.predict(frame.drop("b")))


def test_decimals_and_truth_values_are_numbers():
    table = Table({"d": [decimal.Decimal("1.5"), decimal.Decimal("2.5")]})
    assert list(table.schema["d"].labels) == [1.5, 2.5]
    frame = pl.DataFrame({"p": RNG.random(40) < 0.4, "q": RNG.integers(0, 4, 40)})
    model = tacit.KMeans(2, random_state=0).fit(frame)
    np.testing.assert_array_equal(model.predict(Table(frame)), model.predict(frame))
