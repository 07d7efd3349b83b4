"""How probable records are, drawing them, and estimating tables, against slow versions."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.nets import conditioned, joint_of, nets, random_net, sprinkler, table_of
from tacit import BayesNet, InputError, Table
from tacit.network.parameters.table_counts import fill_in_tables


@st.composite
def records(draw, net, missing=True, most=12):
    """Rows of codes; -1 is missing."""
    low = -1 if missing else 0
    row = st.tuples(*(st.integers(low, int(a) - 1) for a in net.schema_.arities))
    return np.array(draw(st.lists(row, min_size=1, max_size=most)))


def slow_log(joint, row):
    chance = joint[tuple(slice(None) if k < 0 else k for k in row)].sum()
    return math.log(chance) if chance > 0 else -math.inf


class TestLikelihood:
    @given(nets(), st.data())
    def test_of_records_with_missing_values(self, net, data):
        codes = data.draw(records(net))
        expected = [slow_log(joint_of(net), row) for row in codes]
        result = net.score_samples(table_of(net, codes))
        np.testing.assert_allclose(result, expected, rtol=1e-9, atol=1e-10)

    def test_sum_and_mean_go_by_weights(self):
        net = sprinkler()
        data = {"rain": ["no", "yes"], "sprinkler": ["off", "on"], "grass": ["dry", "dry"]}
        table = Table(data, weights=[3, 0])
        one, _ = net.score_samples(data)
        assert net.log_likelihood(table) == pytest.approx(3 * one)
        assert net.score(table) == pytest.approx(one)
        assert net.log_likelihood(data) == pytest.approx(net.score_samples(data).sum())
        with pytest.raises(InputError, match="X: all weights are zero"):
            net.score(table.with_weights([0, 0]))

    def test_impossible_records(self):
        net = sprinkler()
        row = {"rain": ["no"], "sprinkler": ["off"], "grass": ["wet"]}
        assert net.score_samples(row).tolist() == [-math.inf]

    @given(nets(), st.data())
    def test_is_the_same_for_any_defaults_and_any_order_of_columns(self, net, data):
        codes = data.draw(records(net, missing=False))
        table = table_of(net, codes)
        other = table.select(list(table.schema.names)[::-1])
        np.testing.assert_array_equal(net.score_samples(table), net.score_samples(other))


DATA = {"rain": ["yes", "no"], "sprinkler": ["off", "on"], "grass": ["wet", "dry"]}


class TestData:
    @pytest.mark.parametrize("kind", [dict, pl.DataFrame, pd.DataFrame, Table])
    def test_kinds(self, kind):
        result = sprinkler().score_samples(kind(DATA))
        assert result == pytest.approx([math.log(0.2 * 0.99 * 0.8), math.log(0.8 * 0.4 * 0.1)])

    def test_arrays_have_the_columns_in_order(self):
        net = BayesNet.from_tables(
            {"a": [0, 1], "b": [0, 1]}, {}, {"a": [0.25, 0.75], "b": [0.5, 0.5]}
        )
        result = net.score_samples(np.array([[0, 1], [1, 1]]))
        assert result == pytest.approx(np.log([0.125, 0.375]))
        with pytest.raises(ValueError, match="X has 3 features, but BayesNet is expecting 2"):
            net.score_samples(np.array([[0, 1, 1]]))

    def test_columns_that_the_net_does_not_have_are_passed_over(self):
        result = sprinkler().score_samples({**DATA, "snow": [1, 2]})
        assert result == pytest.approx(sprinkler().score_samples(DATA))

    def test_text_labels_match_numbers(self):
        net = BayesNet.from_tables({"n": ["0", "1"]}, {}, {"n": [0.25, 0.75]})
        assert net.score_samples({"n": [0, 1]}) == pytest.approx(np.log([0.25, 0.75]))

    @pytest.mark.parametrize("labels", [("FALSE", "TRUE"), ("False", "True"), ("false", "true")])
    def test_text_labels_match_booleans(self, labels):
        net = BayesNet.from_tables(
            {"b": labels, "a": [0, 1]}, {}, {"b": [0.25, 0.75], "a": [0.5, 0.5]}
        )
        result = net.score_samples({"b": [True, False], "a": [0, 0]})
        assert result == pytest.approx(np.log([0.375, 0.125]))
        assert net.query("a", given={"b": True}).given == {"b": labels[1]}

    def test_booleans_that_could_be_two_labels_are_none(self):
        net = BayesNet.from_tables({"b": ["true", "TRUE", "false"]}, {}, {"b": [0.25, 0.5, 0.25]})
        with pytest.raises(InputError, match="column 'b' has True at record 1"):
            net.score_samples({"b": [False, True]})

    def test_text_labels_match_whole_numbers_with_a_point(self):
        net = BayesNet.from_tables(
            {"n": ["0", "1"], "m": ["a", "b"]}, {}, {"n": [0.25, 0.75], "m": [0.5, 0.5]}
        )
        frame = pd.DataFrame({"n": [0, None, 1], "m": ["a", "b", None]})
        assert frame["n"].dtype == np.float64
        assert net.score_samples(frame) == pytest.approx(np.log([0.125, 0.5, 0.75]))
        assert net.query("m", given={"n": 1.0}).given == {"n": "1"}
        assert net.query("m", given={"n": np.float64(0)}).given == {"n": "0"}
        with pytest.raises(InputError, match=r"given: column 'n' has no label 0\.5"):
            net.query("m", given={"n": 0.5})

    def test_numbers_are_cut_where_the_net_has_its_bins(self):
        frame = {"x": [1.5, 2.5, 9.5, 8.5], "y": [0, 0, 1, 1]}
        for X in (frame, Table(frame)):
            net = BayesNet(discretise={"x": [5.0]}).fit(X)
            assert net.schema_["x"].edges == (5.0,)
            result = net.score_samples({"x": [0.1, 99.0], "y": [0, 0]})
            assert result[0] > result[1]
            assert net.query("y", given={"x": 0.1}).given == {"x": "< 5"}
            assert net.query("y", given={"x": 5}).given == {"x": ">= 5"}
        assert net.score_samples(np.array([[0.1, 0], [99.0, 0]])) == pytest.approx(result)

    def test_missing_has_a_label_of_its_own_in_nets_that_have_one(self):
        net = BayesNet.from_tables({"a": ["x", None]}, {}, {"a": [0.75, 0.25]})
        assert net.score_samples({"a": ["x", None]}) == pytest.approx(np.log([0.75, 0.25]))

    def test_lost_column(self):
        with pytest.raises(InputError, match="X: there is no column 'grass'"):
            sprinkler().score_samples({"rain": ["no"], "sprinkler": ["on"]})

    def test_unknown_label(self):
        data = {**DATA, "rain": ["no", "hail"]}
        message = "X: column 'rain' has 'hail' at record 1, which the net does not know; its"
        with pytest.raises(InputError, match=message):
            sprinkler().score_samples(data)

    def test_real_numbers(self):
        with pytest.raises(InputError, match=r"X: column 'rain' has 0\.5 at record 0, which"):
            sprinkler().score_samples({**DATA, "rain": [0.5, 1.5]})


class TestSampling:
    def test_shares_are_probabilities(self):
        net = sprinkler()
        drawn = net.sample(40_000, random_state=0)
        counts = drawn.contingency(list(net.column_names_)).to_array() / 40_000
        np.testing.assert_allclose(counts, joint_of(net), atol=0.01)
        assert drawn.schema == net.schema_

    @given(nets(), st.data())
    def test_evidence_is_kept_and_nothing_impossible_is_drawn(self, net, data):
        joint = joint_of(net)
        cells = np.argwhere(joint > 0)
        cell = cells[data.draw(st.integers(0, len(cells) - 1))]
        known = data.draw(st.sets(st.integers(0, len(cell) - 1)))
        given_ = {net.column_names_[c]: net.schema_.labels[c][int(cell[c])] for c in known}
        drawn = net.sample(50, given=given_, random_state=1).to_numpy()
        assert (joint[tuple(drawn.T)] > 0).all()
        assert all((drawn[:, c] == cell[c]).all() for c in known)

    def test_shares_given_evidence(self):
        net = sprinkler()
        drawn = net.sample(40_000, given={"grass": "wet"}, random_state=0)
        counts = drawn.contingency(list(net.column_names_)).to_array() / 40_000
        np.testing.assert_allclose(counts, conditioned(joint_of(net), {2: 1})[0], atol=0.01)

    def test_is_reproducible(self):
        net = sprinkler()
        a, b, c = (net.sample(100, random_state=seed).to_numpy() for seed in (1, 1, 2))
        assert (a == b).all()
        assert (a != c).any()

    def test_wrong_number(self):
        with pytest.raises(InputError, match="n must be a whole number of at least 1, got 0"):
            sprinkler().sample(0)


class TestParameters:
    @given(nets(), st.data())
    def test_of_available_records(self, net, data):
        codes = data.draw(records(net))
        weights = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(codes),
                                              max_size=len(codes))), np.float64)  # fmt: skip
        table = table_of(net, codes).with_weights(weights)
        for kind, weight in (("mle", 1.0), ("bdeu", 2.5), ("k2", 0.5)):
            result = net.fit_parameters(table, kind, prior_weight=weight)
            for child, above in enumerate(net.parents_):
                expected = slow_table(net, codes, weights, child, above, kind, weight)
                np.testing.assert_allclose(result.table(child), expected, atol=1e-12)
            assert result.parents_ == net.parents_

    def test_rows_without_records_are_uniform(self):
        data = {"rain": ["no"], "sprinkler": ["off"], "grass": ["dry"]}
        result = sprinkler().fit_parameters(data, "mle")
        assert result.table("sprinkler").tolist() == [[1.0, 0.0], [0.5, 0.5]]

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"parameters": "map"}, "parameters must be 'bdeu', 'k2' or 'mle', got 'map'"),
            ({"prior_weight": 0}, "prior_weight must be a finite number above 0.*got 0"),
            ({"prior_weight": "x"}, "prior_weight must be a finite number above 0.*got 'x'"),
            ({"missing": "drop"}, "missing must be 'ignore' or 'em', got 'drop'"),
            ({"missing": "em", "max_iter": 0}, "max_iter must be a whole number"),
            ({"missing": "em", "max_iter": math.nan}, "max_iter must be a whole number"),
            ({"max_iter": "a"}, "max_iter must be a whole number of at least 1, got 'a'"),
            ({"missing": "em", "tol": "a"}, "tol must be a finite number of at least 0, got 'a'"),
            (
                {"missing": "em", "tol": math.nan},
                "tol must be a finite number of at least 0, got nan",
            ),
            (
                {"missing": "em", "tol": -1e-9},
                "tol must be a finite number of at least 0, got -1e-09",
            ),
            ({"tol": None}, "tol must be a finite number of at least 0, got None"),
        ],
    )
    def test_wrong(self, arguments, message):
        with pytest.raises(InputError, match=message):
            sprinkler().fit_parameters(sprinkler().sample(5), **arguments)


def slow_table(net, codes, weights, child, parents, kind, weight):
    arities = net.schema_.arities
    shape = [int(arities[c]) for c in (*parents, child)]
    counts = np.zeros(shape)
    for row, weight_of in zip(codes, weights, strict=True):
        cell = tuple(row[c] for c in (*parents, child))
        if min(cell) >= 0:
            counts[cell] += weight_of
    counts += {"mle": 0.0, "k2": weight, "bdeu": weight / counts.size}[kind]
    totals = counts.sum(axis=-1, keepdims=True)
    return np.where(totals > 0, counts / np.where(totals > 0, totals, 1), 1 / shape[-1])


def slow_em_step(net, codes, kind, weight):
    """One round of EM from the net's own tables, over all complete records there could be."""
    joint = joint_of(net)
    complete, weights = [], []
    for row in codes:
        match = np.zeros_like(joint)
        match[tuple(slice(None) if k < 0 else k for k in row)] = 1.0
        posterior = joint * match / (joint * match).sum()
        for cell in np.argwhere(posterior > 0):
            complete.append(cell)
            weights.append(posterior[tuple(cell)])
    return [
        slow_table(net, np.array(complete), weights, child, above, kind, weight)
        for child, above in enumerate(net.parents_)
    ]


def with_tables(net, tables):
    """The same net with other tables."""
    columns = {column.name: column.labels for column in net.schema_}
    parents = {
        n: [net.column_names_[p] for p in above]
        for n, above in zip(net.column_names_, net.parents_, strict=True)
    }
    return BayesNet.from_tables(columns, parents, dict(zip(net.column_names_, tables, strict=True)))


def hidden_cause(cause, effect):
    """A net of z with four children alike."""
    children = list("abcd")
    return BayesNet.from_tables(
        {name: ["v0", "v1"] for name in ["z", *children]},
        {name: ["z"] for name in children},
        {"z": cause, **dict.fromkeys(children, effect)},
    )


class TestEM:
    @given(nets(zeros=False), st.data(), st.sampled_from(["mle", "bdeu", "k2"]))
    def test_a_round_by_its_definition(self, net, data, kind):
        codes = data.draw(records(net))
        table = table_of(net, codes)
        start = net.fit_parameters(table, "bdeu", prior_weight=1.0 if kind == "mle" else 2.0)
        known = [
            (codes[:, [*above, c]] >= 0).all(axis=1).any() for c, above in enumerate(net.parents_)
        ]
        tables = [(start if known[c] else net).table(c) for c in range(len(known))]
        start = with_tables(net, tables)
        # One estimate from the start's expectations: the loop ends before it looks again.
        result = net.fit_parameters(
            table, kind, prior_weight=2.0, missing="em", max_iter=1, tol=0.0
        )
        for child, expected in enumerate(slow_em_step(start, codes, kind, 2.0)):
            np.testing.assert_allclose(result.table(child), expected, atol=1e-10)

    @given(nets(zeros=False), st.data(), st.sampled_from(["mle", "bdeu"]))
    def test_never_goes_down(self, net, data, kind):
        table = table_of(net, data.draw(records(net)))
        filled = fill_in_tables(
            net.schema_, net.parents_, table, net.tables_, kind, 1.0, max_iter=30, tol=0.0
        )
        steps = np.diff(filled.trace[1:] if kind == "mle" else filled.trace)
        assert (steps >= -1e-9).all()

    @pytest.mark.parametrize("kind", ["mle", "bdeu"])
    def test_of_a_hidden_column_begins_with_the_nets_own_tables(self, kind):
        before = hidden_cause([0.7, 0.3], [[0.8, 0.2], [0.3, 0.7]])
        truth = hidden_cause([0.5, 0.5], [[0.9, 0.1], [0.15, 0.85]])
        codes = truth.sample(2000, random_state=0).to_numpy()
        codes[:, 0] = -1
        table = table_of(before, codes)
        after = before.fit_parameters(table, kind, missing="em")
        assert after.log_likelihood(table) > before.log_likelihood(table) + 50
        assert after.table("a")[0, 0] == pytest.approx(0.9, abs=0.05)
        assert after.table("a")[1, 1] == pytest.approx(0.85, abs=0.05)

    @pytest.mark.parametrize("kind", ["mle", "bdeu"])
    def test_zeros_of_a_hidden_column_do_not_stay(self, kind):
        before = hidden_cause([1.0, 0.0], [[1.0, 0.0], [0.0, 1.0]])
        table = table_of(before, np.array([[-1, 0, 0, 0, 0], [-1, 1, 1, 1, 1]] * 10))
        assert before.log_likelihood(table) == -math.inf
        after = before.fit_parameters(table, kind, missing="em")
        assert after.log_likelihood(table) > 20 * math.log(0.45)

    @given(nets(zeros=False), st.data())
    def test_complete_records_need_none(self, net, data):
        table = table_of(net, data.draw(records(net, missing=False)))
        for kind in ("mle", "bdeu"):
            one, other = (net.fit_parameters(table, kind, missing=m) for m in ("em", "ignore"))
            for a, b in zip(one.tables_, other.tables_, strict=True):
                np.testing.assert_allclose(a, b, atol=1e-12)

    def test_a_weight_of_two_is_the_record_twice(self):
        rng = np.random.default_rng(3)
        net = random_net([2, 3, 2, 2], [0, 1, 2, 3], rng, 1.0)
        table = table_of(net, rng.integers(-1, net.schema_.arities, (30, 4)))
        twice = Table.concat([table, table])
        weighted = table.with_weights(np.full(30, 2.0))
        one, other = (net.fit_parameters(t, missing="em") for t in (twice, weighted))
        for a, b in zip(one.tables_, other.tables_, strict=True):
            np.testing.assert_allclose(a, b, atol=1e-10)

    def test_finds_more_than_available_records_say(self):
        rng = np.random.default_rng(0)
        net = sprinkler()
        codes = net.sample(4000, random_state=0).to_numpy()
        codes[rng.random(codes.shape) < 0.3] = -1
        # What is missing depends on another column: leaving records out would mislead.
        codes[(codes[:, 2] == 1) & (rng.random(len(codes)) < 0.8), 0] = -1
        table = table_of(net, codes)
        em, available = (net.fit_parameters(table, missing=m) for m in ("em", "ignore"))
        assert em.log_likelihood(table) > available.log_likelihood(table)
        assert abs(em.query("rain")["yes"] - 0.2) < 0.02
        assert abs(available.query("rain")["yes"] - 0.2) > 0.03
