"""How often nets of resampled records have an arc, and the net that is made of it."""

import pickle
import xml.etree.ElementTree as ET

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib import pyplot as plt

import tacit
from support.nets import random_net, sprinkler
from tacit import BayesNet, InputError, Table
from tacit.network.bayes_net.equivalence import essential_graph
from tacit.network.bayes_net.graph import find_cycle
from tacit.network.bootstrap import learn
from tacit.network.bootstrap.consensus import directions, find_threshold, join_arcs
from tacit.network.bootstrap.resample import Resampler
from tacit.plot.scene import Curve

FAST = {"algorithm": "climb", "n_restarts": 0, "random_state": 0}


@pytest.fixture(scope="module")
def wet():
    return sprinkler().sample(600, random_state=0).to_frame()


def seven():
    rng = np.random.default_rng(5)
    return random_net([2, 3, 2, 2, 3, 2, 2], range(7), rng, 0.4).sample(300, random_state=1)


class TestCounts:
    @pytest.mark.parametrize("n_jobs", [1, 3])
    def test_are_those_of_nets_of_records_that_are_repeated(self, wet, n_jobs):
        strengths = BayesNet(**FAST, n_jobs=n_jobs).arc_strengths(wet, n_bootstrap=7)
        table = Table(wet)
        names = sorted(table.schema.names)
        seeds = np.random.default_rng(0).integers(2**63, size=7)
        arcs, compelled = np.zeros((3, 3), int), np.zeros((3, 3), int)
        for seed in seeds:
            rng = np.random.default_rng(seed)
            drawn = Resampler.of(table.select(names)).draw(rng)
            rows = np.repeat(np.arange(len(drawn)), drawn.weights.astype(int))
            assert len(rows) == len(wet)
            net = BayesNet("bic", algorithm="climb", n_restarts=0, random_state=rng)
            parents = net.fit(drawn.with_weights(None).to_frame()[rows]).parents_
            order = [names.index(name) for name in table.schema.names]
            own = [[order.index(p) for p in parents[k]] for k in order]
            for child, above in enumerate(own):
                arcs[above, child] += 1
            for a, b in essential_graph(own)[0]:
                compelled[a, b] += 1
        np.testing.assert_array_equal(strengths.n_arcs, arcs)
        np.testing.assert_array_equal(strengths.n_compelled, compelled)

    def test_threads_and_order_do_not_matter(self):
        table = seven()
        one = BayesNet(**FAST).arc_strengths(table, n_bootstrap=12)
        for other in (
            BayesNet(**FAST, n_jobs=4).arc_strengths(table, n_bootstrap=12),
            BayesNet(**FAST).arc_strengths(table.select(range(6, -1, -1)), n_bootstrap=12),
            BayesNet(**FAST).arc_strengths(Table.concat([table.take(range(100, 300)),
                                                         table.take(range(100))]),
                                           n_bootstrap=12),
        ):  # fmt: skip
            assert other.to_frame().equals(one.to_frame())
            assert other.averaged_arcs() == one.averaged_arcs()

    def test_a_weight_of_two_is_the_record_twice(self, wet):
        weights = np.arange(len(wet)) % 3
        twice = wet[np.repeat(np.arange(len(wet)), weights)]
        one = BayesNet(**FAST).arc_strengths(wet, n_bootstrap=9, sample_weight=weights)
        other = BayesNet(**FAST).arc_strengths(twice, n_bootstrap=9)
        np.testing.assert_array_equal(one.n_arcs, other.n_arcs)

    def test_the_estimator_stays_as_it_is(self, wet):
        net = BayesNet(**FAST)
        net.arc_strengths(wet, n_bootstrap=2)
        assert vars(net) == vars(BayesNet(**FAST))

    def test_of_a_file(self, wet, tmp_path):
        wet.write_csv(tmp_path / "wet.csv")
        one = BayesNet(**FAST).arc_strengths(tmp_path / "wet.csv", n_bootstrap=3)
        other = BayesNet(**FAST).arc_strengths(wet, n_bootstrap=3)
        assert one.to_frame().equals(other.to_frame())

    def test_can_be_pickled(self, wet):
        strengths = BayesNet(**FAST).arc_strengths(wet, n_bootstrap=3)
        again = pickle.loads(pickle.dumps(strengths))
        assert again.to_frame().equals(strengths.to_frame())
        assert again.averaged_net(wet) == strengths.averaged_net(wet)

    def test_ctrl_c(self, wet, monkeypatch):
        def interrupted(*_):
            raise KeyboardInterrupt

        monkeypatch.setattr(learn, "find_structure", interrupted)
        for n_jobs in (1, 2):
            with pytest.raises(KeyboardInterrupt):
                BayesNet(**FAST, n_jobs=n_jobs).arc_strengths(wet, n_bootstrap=5)


class TestResampler:
    def test_draws_are_multinomial(self):
        table = Table({"a": ["x", "y", "x", "z"]}, weights=[1, 2, 1, 0])
        records = Resampler.of(table)
        assert records.table.to_frame()["a"].to_list() == ["x", "y"]
        assert records.probabilities.tolist() == [0.5, 0.5]
        drawn = np.array([records.draw(np.random.default_rng(k)).weights for k in range(2000)])
        assert (drawn.sum(axis=1) == 4).all()
        assert drawn[:, 0].mean() == pytest.approx(2, abs=0.1)
        assert drawn[:, 0].var() == pytest.approx(1, abs=0.1)

    def test_chances_are_those_of_the_records(self):
        labels = ["z", "y", "z", "x", "z", "y"]
        records = Resampler.of(Table({"a": pl.Series(labels, dtype=pl.Enum(["x", "y", "z"]))}))
        chances = zip(records.table.to_frame()["a"], records.probabilities.tolist(), strict=True)
        assert list(chances) == [("x", 1 / 6), ("y", 2 / 6), ("z", 3 / 6)]

    def test_weights_that_are_fractions_stay_with_their_records(self):
        table = Table({"a": ["x", "y", "x"]}, weights=[0.5, 0.25, 0.0])
        records = Resampler.of(table)
        for seed in range(20):
            drawn = records.draw(np.random.default_rng(seed)).weights
            assert (drawn / [0.5, 0.25]).sum() == 2


class TestThreshold:
    @given(st.lists(st.integers(0, 20), min_size=1, max_size=30))
    def test_is_that_of_the_nearest_step(self, counts):
        strengths = np.array(counts) / 20
        grid = np.arange(20) / 20  # the distribution function is constant between

        def distance(never):
            below = (strengths[None, :] <= grid[:, None]).mean(axis=1)
            return np.abs(below - never).sum() / 20

        never = np.linspace(0, 1, len(counts) + 1)
        distances = np.array([distance(t) for t in never])
        nearest = np.flatnonzero(distances <= distances.min() + 1e-12)
        least = find_threshold(strengths)
        # The fraction that is left out is one of the nearest ones.
        left_out = (strengths < least).mean() if (strengths >= least).any() else 1.0
        assert any(
            left_out == pytest.approx(never[k])
            or (never[k] == 0 and not strengths[strengths < least].any())
            for k in nearest
        )

    def test_extremes(self):
        assert find_threshold(np.array([0.0, 1.0, 1.0])) == 1.0
        assert find_threshold(np.array([0.0, 0.0])) == 1.0
        assert find_threshold(np.zeros(0)) == 1.0


@st.composite
def many_nets(draw):
    """Parents of nets over the same columns, in any number of orders."""
    n, k = draw(st.integers(2, 6)), draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    nets = []
    for _ in range(k):
        order = rng.permutation(n)
        nets.append([
            [p for p in range(n) if order[p] < order[c] and rng.random() < 0.5] for c in range(n)
        ])  # fmt: skip
    arcs, compelled = np.zeros((n, n), int), np.zeros((n, n), int)
    for parents in nets:
        for child, above in enumerate(parents):
            arcs[above, child] += 1
        for a, b in essential_graph(parents)[0]:
            compelled[a, b] += 1
    return arcs, compelled, k


class TestAverage:
    @given(many_nets(), st.integers(0, 6))
    def test_joins_what_is_strong_enough_without_a_cycle(self, counts, least):
        arcs, compelled, _ = counts
        n = len(arcs)
        found = join_arcs(arcs, compelled, [f"c{k}" for k in range(n)], least)
        parents = [[a for a, b in found if b == c] for c in range(n)]
        assert find_cycle(parents) is None
        joined = arcs + arcs.T
        pairs = {(min(p), max(p)) for p in found}
        assert len(pairs) == len(found)
        strong = {(int(a), int(b)) for a, b in np.argwhere(np.triu(joined) >= max(least, 1))}
        assert pairs <= strong
        for a, b in found:
            assert arcs[a, b] > 0
        for a, b in strong - pairs:  # one way closes a cycle, and no net has the other
            assert not (arcs[a, b] and arcs[b, a])
        _, essential = directions(arcs, compelled)
        for a, b in found:
            if essential[b, a] > essential[a, b]:  # turned round: the other way closes a cycle
                others = [[p for p in above if (p, c) != (a, b)] for c, above in enumerate(parents)]
                others[a] = [*others[a], b]
                assert find_cycle(others) is not None

    def test_what_the_net_is(self, wet):
        strengths = BayesNet(**FAST).arc_strengths(wet, n_bootstrap=30)
        net = strengths.averaged_net(wet)
        assert set(net.arcs_) == set(strengths.averaged_arcs())
        assert net == BayesNet.from_arcs(wet, [(p, c) for c in net.column_names_
                                               for p, b in net.arcs_ if b == c])  # fmt: skip
        assert strengths.strength("sprinkler", "grass") == 1.0

    def test_all_pairs_and_none(self):
        strengths = BayesNet(**FAST).arc_strengths(seven(), n_bootstrap=15)
        frame = strengths.to_frame()
        assert len(strengths.averaged_arcs(0)) <= frame.height
        strong = frame.filter(pl.col("strength") >= 0.6).height
        assert len(strengths.averaged_arcs(0.6)) == strong  # 9 of 15 nets, which is 0.6
        assert (
            strengths.averaged_arcs(1.0)
            == strengths.averaged_arcs()[: len(strengths.averaged_arcs(1.0))]
        )

    def test_required_and_forbidden_arcs(self):
        rules = {"required": [("c6", "c0")], "forbidden": [("c1", "c2"), ("c2", "c1")]}
        strengths = BayesNet(**FAST, **rules).arc_strengths(seven(), n_bootstrap=20)
        for threshold in (0.0, None, 1.0):
            arcs = strengths.averaged_arcs(threshold)
            assert ("c6", "c0") in arcs
            assert not {("c1", "c2"), ("c2", "c1")} & set(arcs)

    def test_columns_that_have_nothing_to_do_with_each_other(self):
        rng = np.random.default_rng(0)
        frame = pl.DataFrame({f"c{k}": rng.integers(0, 2, 2000) for k in range(5)})
        strengths = BayesNet(**FAST, kinds=None).arc_strengths(frame, n_bootstrap=20)
        assert strengths.averaged_arcs(0.9) == []

    def test_numbers_are_cut_as_in_fit(self):
        rng = np.random.default_rng(0)
        x = rng.normal(size=400)
        frame = pl.DataFrame({"x": x, "y": x + 0.1 * rng.normal(size=400)})
        net = BayesNet(**FAST)
        strengths = net.arc_strengths(frame, n_bootstrap=5)
        averaged = strengths.averaged_net(frame)
        assert averaged.schema_.labels == net.fit(frame).schema_.labels
        assert averaged.n_arcs_ == 1


class TestShowing:
    def test_frame(self, wet):
        frame = BayesNet(**FAST).arc_strengths(wet, n_bootstrap=10).to_frame()
        assert frame.columns == ["from", "to", "strength", "direction", "essential_direction"]
        assert frame["strength"].is_sorted(descending=True)
        assert (frame["essential_direction"] >= 0.5).all()
        assert BayesNet(**FAST).arc_strengths(wet, n_bootstrap=10).to_frame(1).height == 1

    def test_an_edge_that_may_point_either_way(self):
        data = {"a": [0, 1] * 50, "b": [0, 1] * 50}
        strengths = BayesNet(**FAST).arc_strengths(data, n_bootstrap=4)
        assert strengths.to_frame().rows() == [("b", "a", 1.0, 1.0, 0.5)]
        assert strengths.n_compelled.sum() == 0

    def test_text(self, wet):
        strengths = BayesNet(**FAST).arc_strengths(wet, n_bootstrap=10)
        lines = strengths.to_text(1).splitlines()
        assert lines[0].startswith("Arcs of 10 nets of 3 columns; significant from ")
        assert "100.0%" in lines[1]
        assert lines[-1].rstrip("s") == f"… and {strengths.to_frame().height - 1} more pair"
        assert repr(strengths) == strengths.to_text(20)

    def test_pictures(self, wet):
        strengths = BayesNet(**FAST).arc_strengths(wet, n_bootstrap=10)
        arcs = strengths.averaged_arcs(0.1)
        widths = [item.width for item in strengths._scene(0.1).items if isinstance(item, Curve)]
        expected = [0.6 + 3.4 * strengths.strength(a, b) for a, b in arcs]
        assert sorted(widths) == pytest.approx(sorted(expected))
        root = ET.fromstring(strengths.to_svg(0.1))
        assert sum(element.tag.endswith("polygon") for element in root.iter()) == len(arcs)
        assert strengths.to_dot(0.1).count(" -> ") == len(arcs)
        assert {t.get_text() for t in strengths.plot(threshold=0.1).texts} == set(wet.columns)
        plt.close("all")
        assert "<svg" in strengths._repr_html_()


@pytest.mark.parametrize("n_bootstrap", [0, 2.5, "many"])
def test_wrong_numbers(wet, n_bootstrap):
    with pytest.raises(InputError, match="n_bootstrap must be"):
        BayesNet().arc_strengths(wet, n_bootstrap=n_bootstrap)


def test_bad_input(wet):
    strengths = BayesNet(**FAST).arc_strengths(wet, n_bootstrap=2)
    with pytest.raises(InputError, match="threshold must be"):
        strengths.averaged_arcs(1.5)
    with pytest.raises(InputError, match="b: there is no column 'snow'"):
        strengths.strength("rain", "snow")
    with pytest.raises(InputError, match="arc_strengths needs all records on one machine"):
        BayesNet().arc_strengths(tacit.scale.of_tables([Table(wet)]))
    with pytest.raises(InputError, match="arcs: there is no column 'grass'"):
        strengths.averaged_net(wet.drop("grass"))
    with pytest.raises(InputError, match="sample_weight: all weights are zero"):
        BayesNet().arc_strengths(wet, sample_weight=np.zeros(len(wet)))
