"""Learning a net: what goes in, what comes out, and what is refused."""

import numpy as np
import pytest

from support.nets import net_file, sprinkler
from support.scripts import run
from tacit import BayesNet, InputError, Table
from tacit.network.search import learning
from tacit.network.search.search import Found, network_score


@pytest.fixture(scope="module")
def wet():
    return sprinkler().sample(3000, random_state=0)


@pytest.mark.parametrize("score", ["bic", "aic", "bdeu", "bds", "k2", "penalised"])
def test_finds_the_net_that_the_data_are_from(wet, score):
    net = BayesNet.learn(wet, score=score, restarts=2, random_state=0)
    assert net.structural_hamming_distance(sprinkler()) == 0
    assert net.report_.score == pytest.approx(network_score(wet, net.parents, score))
    assert net.report_.score == pytest.approx(net.report_.family_scores.sum())
    assert net.report_.n_arcs == net.n_arcs == 3
    assert net.report_.n_evaluated > 0
    assert not net.interrupted_
    assert net.schema is wet.schema


def test_tables_are_those_of_fit_parameters(wet):
    for kind in ("mle", "bdeu", "k2"):
        net = BayesNet.learn(wet, parameters=kind, prior_weight=3.0)
        assert net == net.fit_parameters(wet, kind, prior_weight=3.0)


def test_report_in_words(wet):
    text = str(BayesNet.learn(wet).report_)
    assert text.startswith("bic -")
    assert "3 arcs from 3,000 records" in text


def test_arcs_that_are_required_or_forbidden(wet):
    net = BayesNet.learn(
        wet, required=[("grass", "rain")], forbidden=[("sprinkler", "grass"), (2, 1)]
    )
    assert ("grass", "rain") in net.arcs
    assert ("sprinkler", "grass") not in net.arcs
    assert ("grass", "sprinkler") not in net.arcs


def test_none_is_no_arcs(wet):
    net = BayesNet.learn(wet, required=None, forbidden=None, restarts=1, random_state=0)
    assert net.arcs == BayesNet.learn(wet, restarts=1, random_state=0).arcs


def test_required_arcs_that_the_data_do_not_ask_for():
    rng = np.random.default_rng(0)
    table = Table(rng.integers(0, 2, (200, 3)), columns=list("abc"))
    assert BayesNet.learn(table, required=[("c", "a")]).arcs == [("c", "a")]


def test_limits(wet):
    assert BayesNet.learn(wet, max_parents=0).n_arcs == 0
    assert max(map(len, BayesNet.learn(wet, max_parents=1).parents)) == 1


def test_is_reproducible_with_any_number_of_threads():
    alarm = BayesNet.read_bif(net_file("alarm"))
    data = alarm.sample(500, random_state=1)
    one, other = (BayesNet.learn(data, restarts=3, random_state=5, n_jobs=jobs) for jobs in (1, 2))
    assert one == other


def test_weights_count_records(wet):
    twice = Table.concat([wet, wet])
    weighted = wet.with_weights(np.full(len(wet), 2.0))
    one, other = BayesNet.learn(twice), BayesNet.learn(weighted)
    assert one.parents == other.parents
    np.testing.assert_allclose(one.tables[2], other.tables[2])


def test_constant_columns_have_no_arcs():
    net = BayesNet.learn({"a": [0, 1] * 50, "b": ["x"] * 100, "c": [0, 1] * 50})
    assert net.n_arcs == 1
    assert net.markov_blanket("b") == []
    assert net.query("b")["x"] == 1


def test_real_numbers_in_bins():
    rng = np.random.default_rng(0)
    x = rng.normal(size=400)
    net = BayesNet.learn({"x": x, "y": (x > 0).tolist()}, discretise={"x": [0.0]})
    assert net.n_arcs == 1
    assert net.score({"x": [2.5], "y": [True]}) > net.score({"x": [2.5], "y": [False]})


class TestMissing:
    DATA = Table({"a": ["x", "y", None, "x"] * 30, "b": ["u", "v", "v", None] * 30})

    def test_as_a_state(self):
        net = BayesNet.learn(self.DATA)
        assert list(net.schema["a"].labels) == ["x", "y", None]

    def test_available(self):
        net = BayesNet.learn(self.DATA, missing="available", parameters="mle")
        assert list(net.schema["a"].labels) == ["x", "y"]
        assert net.n_arcs == 1
        assert net.query("b", {"a": "x"})["u"] == pytest.approx(1)
        assert np.isfinite(net.score(self.DATA))

    def test_nothing_else(self):
        with pytest.raises(InputError, match="column 'a' has missing values only"):
            BayesNet.learn({"a": [None, None], "b": [0, 1]}, missing="available")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"score": "mdl"}, "score must be one of .*got 'mdl'"),
        ({"restarts": -1}, "restarts must be a whole number of at least 0"),
        ({"max_parents": 1.5}, "max_parents must be a whole number"),
        ({"prior_weight": -1}, "prior_weight must be a (positive )?number"),
        ({"start": "full"}, "start must be 'empty' or 'branching', got 'full'"),
        ({"missing": "drop"}, "missing must be 'state' or 'available', got 'drop'"),
        ({"parameters": "map"}, "parameters must be one of bdeu, k2, mle, got 'map'"),
        ({"max_seconds": 0}, "max_seconds must be positive"),
        ({"discretise": 3}, "discretise: data is a Table"),
        ({"required": "rain"}, "required must be a list of pairs"),
        ({"required": 5}, r"required must be a list of pairs \(from, to\), got 5"),
        ({"forbidden": 0.5}, "forbidden must be a list of pairs"),
        ({"required": ["rain"]}, r"required: an arc is a pair \(from, to\), got 'rain'"),
        ({"required": [("rain", "x")]}, "required: there is no column 'x'"),
        ({"forbidden": [("rain", "rain")]}, "forbidden: 'rain' cannot be its own parent"),
        (
            {"required": [("rain", "grass")], "forbidden": [("rain", "grass")]},
            "'rain' → 'grass' is both required and forbidden",
        ),
        (
            {"required": [("rain", "grass"), ("grass", "sprinkler"), ("sprinkler", "rain")]},
            "required arcs form a cycle",
        ),
        (
            {"required": [("rain", "grass"), ("sprinkler", "grass")], "max_parents": 1},
            "required gives 'grass' 2 parents, but max_parents is 1",
        ),
    ],
)
def test_wrong_arguments(wet, arguments, message):
    with pytest.raises(InputError, match=message):
        BayesNet.learn(wet, **arguments)


class TestFromArcs:
    def test_is_what_was_learnt(self, wet):
        net = BayesNet.learn(wet)
        other = BayesNet.from_arcs(wet, net.arcs)
        assert other.arcs == net.arcs
        assert all(map(np.array_equal, other.tables, net.tables))
        assert other.report_ is None

    def test_missing_values(self):
        data = {"a": ["x", None, "y"], "b": [0, 0, 1]}
        state = BayesNet.from_arcs(data, [("b", "a")])
        available = BayesNet.from_arcs(data, [(1, 0)], missing="available")
        assert [len(net.schema["a"].labels) for net in (state, available)] == [3, 2]

    @pytest.mark.parametrize(
        ("arcs", "message"),
        [
            ([("rain", "x")], "arcs: there is no column 'x'"),
            (
                [("rain", "grass"), ("grass", "rain")],
                "arcs: arcs form a cycle, rain → grass → rain",
            ),
            ("rain->grass", "arcs must be a list of pairs"),
            ([3], r"arcs: an arc is a pair \(from, to\), got 3"),
        ],
    )
    def test_wrong(self, wet, arcs, message):
        with pytest.raises(InputError, match=message):
            BayesNet.from_arcs(wet, arcs)

    def test_wrong_missing(self, wet):
        with pytest.raises(InputError, match="missing must be 'state' or 'available', got 'em'"):
            BayesNet.from_arcs(wet, [], missing="em")

    def test_tables_that_would_not_fit(self):
        table = Table(np.tile(np.arange(50), (45, 1)).T)
        arcs = [(str(k), "44") for k in range(44)]
        with pytest.raises(InputError, match="the tables would take"):
            BayesNet.from_arcs(table, arcs)


def test_weights_of_nothing(wet):
    with pytest.raises(InputError, match="data: all weights are zero"):
        BayesNet.learn(wet.with_weights(np.zeros(len(wet))))


def test_what_was_found_until_an_interrupt_is_a_net(wet, monkeypatch):
    best = Found(((), (0,), ()), -1.0, np.zeros(3), 7, 2, interrupted=True)
    monkeypatch.setattr(learning, "find_structure", lambda table, settings: best)
    net = BayesNet.learn(wet)
    assert net.interrupted_
    assert net.arcs == [("rain", "sprinkler")]
    assert str(net.report_).endswith("interrupted: the best net until then")


INTERRUPTED = """
    import os, signal, threading
    import numpy as np
    from tacit import BayesNet, Table

    codes = np.random.default_rng(0).integers(0, 3, (20_000, 40))
    threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
    net = BayesNet.learn(Table(codes), restarts=10**6)
    print(net.interrupted_, len(net.names))
"""


def test_ctrl_c_gives_the_best_net_so_far():
    assert run(INTERRUPTED) == ["True", "40"]


def test_time_runs_out(wet):
    net = BayesNet.learn(wet, restarts=10**6, max_seconds=0.05)
    assert net.report_.out_of_time
    assert not net.interrupted_
    assert "out of time" in str(net.report_)
