"""Nets, branchings and dependency trees answer the same questions, as their joints say."""

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import tacit
from support.nets import joint_of, nets, sprinkler, table_of
from tacit import (
    BayesNet,
    Branching,
    DependencyTree,
    FileError,
    InputError,
    Table,
    TreeMixture,
    store,
)
from tacit.scale import partition

MODELS = [
    BayesNet(n_restarts=1, random_state=0),
    Branching(),
    DependencyTree(),
    TreeMixture(2, max_joint_labels=1, random_state=0),
]


@pytest.fixture(scope="module")
def wet():
    return sprinkler().sample(800, random_state=0)


@pytest.fixture(params=MODELS, ids=lambda model: type(model).__name__)
def model(request, wet):
    return clone(request.param).fit(wet)


def all_records(schema):
    """Return every combination of labels once."""
    codes = np.indices(schema.arities).reshape(len(schema), -1)
    columns = zip(schema, codes, strict=True)
    return Table({c.name: [c.labels[int(k)] for k in values] for c, values in columns})


class TestConditionals:
    @given(nets(), st.data())
    def test_are_those_of_the_joint(self, net, data):
        joint = joint_of(net)
        column = data.draw(st.integers(0, joint.ndim - 1))
        row = st.tuples(*(st.integers(-1, int(a) - 1) for a in net.schema_.arities))
        codes = np.array(data.draw(st.lists(row, min_size=1, max_size=6)))
        codes[:, column] = data.draw(st.integers(-1, joint.shape[column] - 1))
        wanted = []
        for record in codes:
            known = [slice(None) if k < 0 else slice(k, k + 1) for k in record.tolist()]
            known[column] = slice(None)
            rest = tuple(c for c in range(joint.ndim) if c != column)
            wanted.append(joint[tuple(known)].sum(axis=rest))
        totals = np.array(wanted).sum(axis=1)
        assume((totals > 0).all())
        answer = net.predict_proba(table_of(net, codes), column)
        np.testing.assert_allclose(answer, np.array(wanted) / totals[:, None], atol=1e-9)

    def test_nothing_follows_from_what_cannot_be(self):
        same = [[1.0, 0.0], [0.0, 1.0]]
        net = BayesNet.from_tables(
            {name: ["n", "y"] for name in "abc"},
            {"b": ["a"], "c": ["a"]},
            {"a": [0.5, 0.5], "b": same, "c": same},
        )
        with pytest.raises(InputError, match="record 1 has the probability zero"):
            net.predict_proba({"a": ["n", "n"], "b": ["n", "n"], "c": ["n", "y"]}, "a")

    def test_of_all_columns_and_the_most_probable_labels(self, model, wet):
        every = model.predict_proba(wet)
        single = [model.predict_proba(wet, name) for name in model.column_names_]
        np.testing.assert_array_equal(every, np.hstack(single))
        labels = model.predict(wet)
        for c, chances in enumerate(single):
            column = model.schema_.column(c)
            assert [column.labels[k] for k in chances.argmax(axis=1)] == labels[:, c].tolist()
            assert (model.predict(wet, c) == labels[:, c]).all()

    def test_of_partitions(self, model, wet):
        parts = partition(wet, 3)
        np.testing.assert_array_equal(model.predict_proba(parts, "rain"),
                                      model.predict_proba(wet, "rain"))  # fmt: skip
        assert model.log_likelihood(parts) == pytest.approx(model.log_likelihood(wet), rel=1e-12)


class TestQuestions:
    def test_are_those_of_the_probabilities_of_records(self, model):
        records = all_records(model.schema_)
        joint = np.exp(model.score_samples(records)).reshape(model.schema_.arities)
        assert joint.sum() == pytest.approx(1)
        names = list(model.column_names_)
        np.testing.assert_allclose(model.query(names).probabilities, joint, rtol=1e-9)
        record, score = model.most_probable()
        assert score == pytest.approx(np.log(joint.max()))
        assert model.score_samples(Table({k: [v] for k, v in record.items()})) == pytest.approx(
            score
        )
        told = model.marginals({"grass": "wet"})
        assert list(told) == ["rain", "sprinkler"]
        np.testing.assert_allclose(
            told["rain"].probabilities, model.query("rain", {"grass": "wet"}).probabilities
        )
        assert told["rain"].log_evidence == pytest.approx(np.log(joint[:, :, 1].sum()))

    def test_records_that_are_drawn_have_what_is_given(self, model):
        drawn = model.sample(50, given={"grass": "wet"}, random_state=0)
        assert set(drawn.to_frame()["grass"]) == {"wet"}
        assert len(model.sample()) == 1

    def test_trees_of_numbers_have_no_joint_table(self):
        tree = DependencyTree().fit(pl.DataFrame({"a": [0.5, 1.5, 2.0, 4.0], "b": list("xyxy")}))
        for ask in (
            tree.most_probable,
            lambda: tree.query("b"),
            lambda: tree.sample(given={"b": "x"}),
        ):
            with pytest.raises(InputError, match="column 'a' holds numbers"):
                ask()


class TestEstimators:
    def test_a_clone_is_not_fitted(self, model, wet):
        other = clone(model)
        assert other.get_params() == model.get_params()
        for ask in (lambda: other.score(wet), other.to_text, lambda: other.query("rain")):
            with pytest.raises(NotFittedError):
                ask()
        assert not hasattr(other, "column_names_")
        assert "<svg" not in other._repr_html_() or "sk-" in other._repr_html_()

    def test_a_fit_that_fails_changes_nothing(self, model, wet):
        before = model.to_text()
        with pytest.raises(InputError):
            model.set_params(unseen="never").fit(wet)
        assert model.set_params(unseen="error").to_text() == before

    def test_unseen_labels(self, model):
        other = Table({"rain": ["hail"], "sprinkler": ["off"], "grass": ["dry"]})
        with pytest.raises(InputError, match="'hail'"):
            model.score_samples(other)
        default = model.schema_["rain"].default_label
        same = Table({"rain": [default], "sprinkler": ["off"], "grass": ["dry"]})
        model.set_params(unseen="default")
        assert model.score_samples(other) == model.score_samples(same)

    def test_arrays_and_frames_keep_their_columns(self):
        X = np.array([[0, 1], [1, 0], [1, 1], [0, 0]] * 5)
        for estimator in MODELS:
            fitted = clone(estimator).fit(X)
            assert fitted.column_names_ == ("x0", "x1")
            with pytest.raises(ValueError, match="X has 3 features"):
                fitted.score(np.zeros((2, 3), int))

    def test_it_shows_itself(self, model):
        assert "<svg" in model.to_html()
        assert model.to_html("Rain & shine").count("<h1>Rain &amp; shine</h1>") == 1
        assert model.to_svg() in model._repr_html_()
        assert len(model.to_text(top=1).splitlines()) <= len(model.to_text().splitlines())
        assert model.to_text(top=1) != model.to_text()
        assert model.to_frame().columns[:2] == ["from", "to"]


class TestFiles:
    def test_hold_all_of_a_model(self, model, wet, tmp_path):
        model.save(tmp_path / "model.tacit")
        again = tacit.load(tmp_path / "model.tacit")
        assert type(again) is type(model)
        assert repr(again) == repr(model)
        assert again.to_text() == model.to_text()
        assert again.to_frame().equals(model.to_frame())
        np.testing.assert_array_equal(again.predict_proba(wet), model.predict_proba(wet))

    @pytest.mark.parametrize(
        ("damage", "message"),
        [
            (lambda a: a.pop("gains"), "it has no 'gains'"),
            (lambda a: a.update(gains=np.zeros(9)), "'gains' has the shape"),
            (lambda a: a.update(score=np.zeros(1, int)), "'score' has the shape"),
            (
                lambda a: a.update(settings=store.json_array({"parameters": {}, "kind": "x"})),
                "kind",
            ),
        ],
    )
    def test_damaged_branchings(self, wet, tmp_path, damage, message):
        path = tmp_path / "model.tacit"
        Branching().fit(wet).save(path)
        kind, arrays = store.read_arrays(path)
        changed = dict(arrays)
        damage(changed)
        store.write_arrays(path, kind, changed)
        with pytest.raises(FileError, match=f"is damaged: .*{message}"):
            tacit.load(path)
