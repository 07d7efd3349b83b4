"""What a net answers is what its joint distribution says, multiplied out."""

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.nets import conditioned, joint_of, marginal, nets, sprinkler
from tacit import BayesNet, InputError


@st.composite
def questions(draw):
    """A net, evidence of positive probability as codes, and targets."""
    net = draw(nets())
    n = len(net.column_names_)
    cells = np.argwhere(joint_of(net) > 0)
    cell = cells[draw(st.integers(0, len(cells) - 1))]
    known = draw(st.sets(st.integers(0, n - 1), max_size=n - 1))
    free = [c for c in range(n) if c not in known]
    targets = draw(st.permutations(free))[: draw(st.integers(1, len(free)))]
    return net, {c: int(cell[c]) for c in known}, targets


def labelled(net, evidence):
    return {net.column_names_[c]: net.schema_.labels[c][code] for c, code in evidence.items()}


@given(questions())
def test_query(question):
    net, evidence, targets = question
    joint, total = conditioned(joint_of(net), evidence)
    answer = net.query([net.column_names_[c] for c in targets], labelled(net, evidence))
    np.testing.assert_allclose(answer.probabilities, marginal(joint, targets), atol=1e-12)
    assert answer.log_evidence == pytest.approx(math.log(total), abs=1e-10)
    assert answer.evidence == pytest.approx(total)
    assert answer.given == labelled(net, evidence)


@given(questions())
def test_marginals(question):
    net, evidence, _ = question
    joint, _ = conditioned(joint_of(net), evidence)
    result = net.marginals(labelled(net, evidence))
    assert list(result) == [name for c, name in enumerate(net.column_names_) if c not in evidence]
    for name, answer in result.items():
        expected = marginal(joint, [net.schema_.position(name)])
        np.testing.assert_allclose(answer.probabilities, expected, atol=1e-12)


@given(questions())
def test_most_probable(question):
    net, evidence, _ = question
    joint = joint_of(net)
    record, score = net.most_probable(labelled(net, evidence))
    cell = tuple(net.schema_[name].code(label) for name, label in record.items())
    assert all(cell[c] == code for c, code in evidence.items())
    assert score == pytest.approx(math.log(joint[cell]), abs=1e-10)
    assert joint[cell] == pytest.approx(
        (conditioned(joint, evidence)[0] > 0).max()
        * max(joint[tuple(k)] for k in np.argwhere(conditioned(joint, evidence)[0] > 0))
    )


class TestDistribution:
    def test_by_label(self):
        answer = sprinkler().query(["rain", "grass"])
        assert answer["yes", "wet"] == pytest.approx(0.2 * (0.99 * 0.8 + 0.01 * 0.99))
        assert answer.most_probable() == {"rain": "no", "grass": "dry"}
        assert sum(answer.to_dict().values()) == pytest.approx(1)
        assert answer.to_dict()["no", "dry"] == answer["no", "dry"]
        assert answer.labels == (("no", "yes"), ("dry", "wet"))

    def test_one_column_by_label(self):
        answer = sprinkler().query("rain")
        assert answer["yes"] == pytest.approx(0.2)
        assert answer.to_dict() == pytest.approx({"no": 0.8, "yes": 0.2})

    def test_frame(self):
        frame = sprinkler().query(["grass", "rain"]).to_frame()
        assert frame.columns == ["grass", "rain", "probability"]
        assert frame.filter((pl.col("grass") == "wet") & (pl.col("rain") == "yes")).height == 1
        assert frame["probability"].sum() == pytest.approx(1)

    def test_frame_of_a_column_that_is_called_probability(self):
        net = BayesNet.from_tables({"probability": [1, 2]}, {}, {"probability": [0.5, 0.5]})
        assert net.query("probability").to_frame().columns == ["probability", "probability_"]

    def test_text(self):
        assert repr(sprinkler().query("rain")).splitlines() == [
            "rain  probability", "no         0.8000", "yes        0.2000",
        ]  # fmt: skip

    def test_long_text_is_cut(self):
        net = BayesNet.from_tables({"x": list(range(60))}, {}, {"x": np.full(60, 1 / 60)})
        lines = repr(net.query("x")).splitlines()
        assert lines[-1] == "… and 36 more: see to_frame()"
        assert len(lines) == 26

    def test_wrong_labels(self):
        answer = sprinkler().query(["rain", "grass"])
        with pytest.raises(InputError, match="a label for each of the columns 'rain', 'grass'"):
            answer["yes"]
        with pytest.raises(InputError, match="column 'rain' has no label 'maybe'"):
            answer["maybe", "wet"]
        with pytest.raises(TypeError, match="asked by label"):
            list(answer)


class TestEvidence:
    def test_missing_is_not_known(self):
        net = sprinkler()
        assert net.query("rain", {"grass": None})["yes"] == pytest.approx(0.2)

    def test_labels_of_text_are_found_by_how_they_read(self):
        net = BayesNet.from_tables({"n": ["1", "2"]}, {}, {"n": [0.5, 0.5]})
        assert net.marginals({"n": 1}) == {}

    def test_columns_by_place(self):
        net = sprinkler()
        assert net.query(0, {2: "wet"})["yes"] == net.query("rain", {"grass": "wet"})["yes"]

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            ({"snow": "no"}, "given: there is no column 'snow'"),
            ({"rain": "maybe"}, "given: column 'rain' has no label 'maybe'; its labels are 'no'"),
            ({"rain": []}, "given: column 'rain' has no label"),
            ({"rain": "no", 0: "no"}, "given: column 'rain' has two values"),
            ("rain", "given must map columns to labels, got str"),
        ],
    )
    def test_wrong(self, given, message):
        with pytest.raises(InputError, match=message):
            sprinkler().query("grass", given)

    def test_impossible(self):
        given = {"rain": "no", "sprinkler": "off", "grass": "wet"}
        net = sprinkler()
        for ask in (net.marginals, net.most_probable, lambda g: net.sample(3, given=g)):
            with pytest.raises(InputError, match=r"probability (of )?(zero|0)"):
                ask(given)


class TestTargets:
    @pytest.mark.parametrize(
        ("targets", "message"),
        [
            ([], "columns: name at least one column"),
            ("rainn", "columns: there is no column 'rainn'; did you mean 'rain'"),
            (["rain", "rain"], "columns: column 'rain' is named twice"),
            (["rain", "grass"], "columns: column 'grass' is given"),
            (3.5, "columns must be names or positions"),
        ],
    )
    def test_wrong(self, targets, message):
        with pytest.raises(InputError, match=message):
            sprinkler().query(targets, {"grass": "wet"})

    def test_too_many_cells(self):
        names = [f"c{k}" for k in range(60)]
        net = BayesNet.from_tables(
            {name: [0, 1] for name in names}, {}, {name: [0.5, 0.5] for name in names}
        )
        with pytest.raises(InputError, match="the distribution would take"):
            net.query(names)
