"""Learning a net: what goes in, what comes out, and what is refused."""

import numpy as np
import polars as pl
import pytest
from sklearn.base import clone

import tacit
from support.nets import net_file, sprinkler
from support.scripts import run
from tacit import BayesNet, Branching, InputError, Table
from tacit.network.search import learning
from tacit.network.search.search import SearchResult, network_score


@pytest.fixture(scope="module")
def wet():
    return sprinkler().sample(3000, random_state=0)


@pytest.mark.parametrize("score", ["bic", "aic", "bdeu", "bds", "k2", "penalized"])
def test_finds_the_net_that_the_data_are_from(wet, score):
    net = BayesNet(criterion=score, n_restarts=2, random_state=0).fit(wet)
    assert net.structural_hamming_distance(sprinkler()) == 0
    assert net.learning_.score == pytest.approx(network_score(wet, net.parents_, score))
    assert net.learning_.score == pytest.approx(net.learning_.family_scores.sum())
    assert net.learning_.n_arcs == net.n_arcs_ == 3
    assert net.learning_.n_evaluated > 0
    assert not net.interrupted_
    assert net.schema_ is wet.schema


def test_tables_are_those_of_fit_parameters(wet):
    for kind in ("mle", "bdeu", "k2"):
        net = BayesNet(parameters=kind, prior_weight=3.0).fit(wet)
        assert net == net.fit_parameters(wet, kind, prior_weight=3.0)


def test_report_in_words(wet):
    text = str(BayesNet().fit(wet).learning_)
    assert text.startswith("bic -")
    assert "3 arcs from 3,000 records" in text


def test_arcs_that_are_required_or_forbidden(wet):
    net = BayesNet(required=[("grass", "rain")], forbidden=[("sprinkler", "grass"), (2, 1)]).fit(
        wet
    )
    assert ("grass", "rain") in net.arcs_
    assert ("sprinkler", "grass") not in net.arcs_
    assert ("grass", "sprinkler") not in net.arcs_


def test_none_is_no_arcs(wet):
    net = BayesNet(required=None, forbidden=None, n_restarts=1, random_state=0).fit(wet)
    assert net.arcs_ == BayesNet(n_restarts=1, random_state=0).fit(wet).arcs_


def test_required_arcs_that_the_data_do_not_ask_for():
    rng = np.random.default_rng(0)
    table = Table(rng.integers(0, 2, (200, 3)), columns=list("abc"))
    assert BayesNet(required=[("c", "a")]).fit(table).arcs_ == [("c", "a")]


def test_limits(wet):
    assert BayesNet(max_parents=0).fit(wet).n_arcs_ == 0
    assert max(map(len, BayesNet(max_parents=1).fit(wet).parents_)) == 1


def test_is_reproducible_with_any_number_of_threads():
    alarm = BayesNet.read_bif(net_file("alarm"))
    data = alarm.sample(500, random_state=1)
    one, other = (BayesNet(n_restarts=3, random_state=5, n_jobs=jobs).fit(data) for jobs in (1, 2))
    assert one == other


def test_weights_count_records(wet):
    twice = Table.concat([wet, wet])
    weighted = wet.with_weights(np.full(len(wet), 2.0))
    one, other = BayesNet().fit(twice), BayesNet().fit(weighted)
    assert one.parents_ == other.parents_
    np.testing.assert_allclose(one.tables_[2], other.tables_[2])


def test_constant_columns_have_no_arcs():
    net = BayesNet().fit({"a": [0, 1] * 50, "b": ["x"] * 100, "c": [0, 1] * 50})
    assert net.n_arcs_ == 1
    assert net.markov_blanket("b") == []
    assert net.query("b")["x"] == 1


def test_real_numbers_in_bins():
    rng = np.random.default_rng(0)
    x = rng.normal(size=400)
    net = BayesNet(discretise={"x": [0.0]}).fit({"x": x, "y": (x > 0).tolist()})
    assert net.n_arcs_ == 1
    assert net.score({"x": [2.5], "y": [True]}) > net.score({"x": [2.5], "y": [False]})


def people(n=1000):
    """Return a frame with many whole numbers, real ones and labels that follow from them."""
    rng = np.random.default_rng(0)
    age = rng.integers(18, 90, n)
    return pl.DataFrame(
        {
            "age": age,
            "income": np.round(0.7 * age + 5 * rng.normal(size=n), 2),
            "children": rng.integers(0, 4, n),
            "retired": age > 65,
        }
    )


@pytest.mark.parametrize("model", [BayesNet(n_restarts=1, random_state=0), Branching()])
def test_numbers_of_tables_are_cut_as_those_of_frames(model, tmp_path):
    frame = people()
    net, other = clone(model).fit(frame), clone(model).fit(Table(frame))
    assert other.schema_ == net.schema_
    assert len(net.schema_["age"].edges) == len(net.schema_["income"].edges) == 9
    assert list(net.schema_["children"].labels) == [0, 1, 2, 3]  # few: labels as they are
    assert other.parents_ == net.parents_
    other.save(tmp_path / "net.tacit")
    expected = net.score_samples(frame)
    for asked in (net, other, tacit.load(tmp_path / "net.tacit")):
        for X in (frame, Table(frame), Table(frame[:, ::-1])):
            np.testing.assert_allclose(asked.score_samples(X), expected)
        answer = asked.query("retired", given={"age": 80})
        assert answer[True] > 0.9
        [bin_of_80] = answer.given.values()
        named = asked.query("retired", given={"age": bin_of_80})
        assert named.to_dict() == answer.to_dict()
        assert asked.query("retired", given={"age": 80.25}).given == answer.given  # in between
        assert asked.query("retired", given={"age": 200})[True] > 0.9  # beyond
        with pytest.raises(InputError, match="given: column 'age' has no label 'old'"):
            asked.query("retired", given={"age": "old"})
    np.testing.assert_allclose(other.score_samples(frame[:, ::-1]), expected)  # by name


def test_kinds_and_cuts_of_tables():
    frame = people()
    for X in (frame, Table(frame)):
        net = BayesNet(discretise={"income": [20.0]}, kinds={"age": "ordered"}).fit(X)
        assert net.schema_["income"].edges == (20.0,)
        assert net.schema_["age"].edges is None
        assert net.schema_["age"].kind == "ordered"
        whole = BayesNet(discretise=2).fit(X)
        assert [len(column.labels) for column in whole.schema_] == [2, 2, 2, 2]


class TestMissing:
    DATA = Table({"a": ["x", "y", None, "x"] * 30, "b": ["u", "v", "v", None] * 30})

    def test_as_a_state(self):
        net = BayesNet().fit(self.DATA)
        assert list(net.schema_["a"].labels) == ["x", "y", None]

    def test_available(self):
        net = BayesNet(missing="ignore", parameters="mle").fit(self.DATA)
        assert list(net.schema_["a"].labels) == ["x", "y"]
        assert net.n_arcs_ == 1
        assert net.query("b", {"a": "x"})["u"] == pytest.approx(1)
        assert np.isfinite(net.score(self.DATA))

    def test_nothing_else(self):
        with pytest.raises(InputError, match="column 'a' has only missing values"):
            BayesNet(missing="ignore").fit({"a": [None, None], "b": [0, 1]})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"criterion": "mdl"}, "criterion must be 'bic'.*got 'mdl'"),
        ({"n_restarts": -1}, "restarts must be a whole number from 0"),
        ({"max_parents": 1.5}, "max_parents must be a whole number"),
        ({"prior_weight": -1}, "prior_weight must be a finite number above 0"),
        ({"start": "full"}, "start must be 'empty' or 'branching', got 'full'"),
        ({"missing": "drop"}, "missing must be 'state' or 'ignore', got 'drop'"),
        ({"parameters": "map"}, "parameters must be 'bdeu', 'k2' or 'mle', got 'map'"),
        ({"max_seconds": 0}, "max_seconds must be a finite number above 0"),
        ({"discretise": {"rain": 3}}, "discretise: column 'rain' holds String, not numbers"),
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
        BayesNet(**arguments).fit(wet)


class TestFromArcs:
    def test_is_what_was_learnt(self, wet):
        net = BayesNet().fit(wet)
        other = BayesNet.from_arcs(wet, net.arcs_)
        assert other.arcs_ == net.arcs_
        assert all(map(np.array_equal, other.tables_, net.tables_))
        assert other.learning_ is None

    def test_missing_values(self):
        data = {"a": ["x", None, "y"], "b": [0, 0, 1]}
        state = BayesNet.from_arcs(data, [("b", "a")])
        available = BayesNet.from_arcs(data, [(1, 0)], missing="ignore")
        assert [len(net.schema_["a"].labels) for net in (state, available)] == [3, 2]

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
        with pytest.raises(InputError, match="missing must be 'state' or 'ignore', got 'em'"):
            BayesNet.from_arcs(wet, [], missing="em")

    def test_tables_that_would_not_fit(self):
        table = Table(np.tile(np.arange(50), (45, 1)).T)
        arcs = [(str(k), "44") for k in range(44)]
        with pytest.raises(InputError, match="the tables would take"):
            BayesNet.from_arcs(table, arcs)


def test_weights_of_nothing(wet):
    with pytest.raises(InputError, match="sample_weight: all weights are zero"):
        BayesNet().fit(wet.with_weights(np.zeros(len(wet))))


def test_what_was_found_until_an_interrupt_is_a_net(wet, monkeypatch):
    best = SearchResult(((), (0,), ()), -1.0, np.zeros(3), 7, 2, interrupted=True)
    monkeypatch.setattr(learning, "find_structure", lambda table, settings: best)
    net = BayesNet().fit(wet)
    assert net.interrupted_
    assert net.arcs_ == [("rain", "sprinkler")]
    assert str(net.learning_).endswith("interrupted: the best net until then")


INTERRUPTED = """
    import os, signal, threading
    import numpy as np
    from tacit import BayesNet, Table

    codes = np.random.default_rng(0).integers(0, 3, (20_000, 40))
    threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
    net = BayesNet(n_restarts=10**6).fit(Table(codes))
    print(net.interrupted_, len(net.column_names_))
"""


def test_ctrl_c_gives_the_best_net_so_far():
    assert run(INTERRUPTED) == ["True", "40"]


def test_time_runs_out(wet):
    net = BayesNet(n_restarts=10**6, max_seconds=0.05).fit(wet)
    assert net.learning_.out_of_time
    assert not net.interrupted_
    assert "out of time" in str(net.learning_)
