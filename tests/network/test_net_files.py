"""Saved nets: the same when loaded, and an error where a file is damaged."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given

import tacit
from support.nets import nets, sprinkler
from tacit import BayesNet, FileError, store


@given(nets())
def test_round_trip(tmp_path_factory, net):
    path = tmp_path_factory.mktemp("net") / "net.tacit"
    net.save(path)
    result = tacit.load(path)
    assert result == net
    assert result.schema_ == net.schema_
    assert result.learning_ is None


def test_a_learnt_net_keeps_its_report(tmp_path):
    net = BayesNet(criterion="bdeu", n_restarts=1).fit(sprinkler().sample(500, random_state=0))
    net.save(tmp_path / "net.tacit")
    result = tacit.load(tmp_path / "net.tacit")
    assert result == net
    assert result.learning_.score == net.learning_.score
    assert result.learning_.family_scores.tolist() == net.learning_.family_scores.tolist()
    assert str(result.learning_) == str(net.learning_)
    assert result.to_text() == net.to_text()


def test_a_column_may_have_an_empty_name(tmp_path):
    net = BayesNet(random_state=0).fit({"": [0, 1] * 20, "b": ["x", "y"] * 20})
    asked = BayesNet.from_tables(
        {"": ["n", "y"], "b": ["x", "y"]}, {"b": [""]}, {"": [0.5, 0.5], "b": [[0.1, 0.9], [1, 0]]}
    )
    assert net.column_names_ == asked.column_names_ == ("", "b")
    for each in (net, asked):
        each.save_bif(tmp_path / "net.bif")
        each.save_xmlbif(tmp_path / "net.xml")
        assert BayesNet.read_bif(tmp_path / "net.bif").column_names_ == ("", "b")
        assert BayesNet.read_xmlbif(tmp_path / "net.xml").column_names_ == ("", "b")
    assert BayesNet.read_bif(tmp_path / "net.bif") == asked


def test_pickles_and_copies():
    net = sprinkler()
    net.query("rain")  # which leaves something behind that cannot be copied
    for other in (pickle.loads(pickle.dumps(net)), copy.deepcopy(net)):
        assert other == net
        assert other.query("rain")["yes"] == net.query("rain")["yes"]


def without(name):
    return lambda arrays: arrays.pop(name)


def change(name, value):
    return lambda arrays: arrays.update({name: np.asarray(value)})


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (without("schema"), "it has no 'schema'"),
        (without("tables"), "it has no 'tables'"),
        (change("tables", [1, 2]), "its arrays have the wrong types"),
        (change("n_parents", [0, 1]), "it has not parents for each column"),
        (change("n_parents", [0, 1, -1]), "it has not parents for each column"),
        (change("n_parents", [0, 1, 1]), "it has a parent that is no column"),
        (change("parents", [0, 0, 3]), "it has a parent that is no column"),
        (change("parents", [0, 0, 0]), "its arcs form a cycle, or are there twice"),
        (change("parents", [2, 0, 1]), "its arcs form a cycle, or are there twice"),
        (change("tables", [0.5] * 13), "its tables have not the size of its columns"),
        (change("tables", [0.75] * 14), "a row of a table sums to 1.5, not to 1"),
        (change("tables", [np.nan] * 14), "a row of a table has nan"),
        (change("report", np.frombuffer(b"{}", np.uint8)), "it has no 'family_scores'"),
    ],
)
def test_damage(tmp_path, damage, problem):
    sprinkler().save(tmp_path / "net.tacit")
    kind, arrays = store.read_arrays(tmp_path / "net.tacit")
    arrays = dict(arrays)
    damage(arrays)
    store.write_arrays(tmp_path / "bad.tacit", kind, arrays)
    with pytest.raises(FileError, match=f"is damaged: {problem}"):
        tacit.load(tmp_path / "bad.tacit")
