"""EM against a dense textbook version, and what must not matter to it."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import sparse

import tacit
from oracles.mixture import dense_view, random_responsibilities, stored_counts
from support.strategies import any_weights, data, defaults_of, exact_weights, label
from tacit import Table
from tacit.mixture.em.expected import ExpectedCounts
from tacit.mixture.em.iterations import EMOptions, Parameters, TableProblem, em_steps, run_em
from tacit.mixture.em.prior import make_prior
from tacit.mixture.em.starts import make_start
from tacit.mixture.lockstep import run_in_lockstep

WEIGHTY = data(with_chosen=False).filter(lambda d: d.total() > 0)
PRIORS = [
    (0.0, "marginals"),
    (1.0, "marginals"),
    (1.0, "uniform"),
    (0.01, "marginals"),
    (30.0, "uniform"),
]


def problem_of(table, strength=1.0, mean="marginals", missing="state", **options):
    return TableProblem(table, make_prior(table.one_way(), strength, mean, missing), **options)


def plain(problem, start, passes=12):
    return run_em(problem, start, max_iter=passes, tol=0.0, accelerate=False)


def assert_never_falls(trace):
    gains = np.diff(trace)
    assert (gains >= -1e-12 * np.abs(trace[0])).all(), gains.min()


def lossy_table(seed=3, n=80):
    """Columns with missing values, once as the default, once rare; one has nothing else."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 3, n)
    often = np.where(rng.random(n) < 0.6, None, (group + (rng.random(n) < 0.2)) % 3)
    rare = np.where(rng.random(n) < 0.1, None, np.array(["x", "y", "z", "z"])[group + 1])
    return Table(
        {
            "often": pl.Series(often.tolist(), dtype=pl.Int64),
            "rare": rare.tolist(),
            "whole": (group == 1) ^ (rng.random(n) < 0.1),
            "lost": pl.Series([None] * n, dtype=pl.String),
        },
        weights=rng.integers(0, 4, n) / 2,
    )


class TestOracle:
    @pytest.mark.parametrize(("strength", "mean"), PRIORS)
    @given(draw=st.data())
    @settings(max_examples=25)
    def test_the_same_objectives(self, strength, mean, draw):
        d = draw.draw(WEIGHTY)
        n_clusters = draw.draw(st.integers(1, 9))
        chances = random_responsibilities(len(d.rows), n_clusters, draw.draw(st.integers(0, 99)))
        table = d.table()
        run = plain(problem_of(table, strength, mean), stored_counts(table, chances))
        dense = dense_view(table, strength=strength, mean=mean)
        expected, _, _ = dense.run(dense.count(chances), len(run.trace))
        np.testing.assert_allclose(run.trace, expected, rtol=1e-9, atol=1e-9)
        assert_never_falls(run.trace)
        assert run.objective == run.trace[-1] or run.converged

    @pytest.mark.parametrize(("n_clusters", "weighted"), [(1, 0), (2, 1), (8, 0), (9, 1), (41, 0)])
    def test_wide_tables(self, n_clusters, weighted):
        """Products of thousands of probabilities leave the range of doubles, not that of EM."""
        rng = np.random.default_rng(n_clusters)
        codes = rng.integers(0, 4, (30, 1500)) * (rng.random((30, 1500)) < 0.4)
        table = Table(codes, weights=rng.random(30) if weighted else None)
        chances = random_responsibilities(30, n_clusters)
        dense = dense_view(table)
        run = plain(problem_of(table), stored_counts(table, chances), 5)
        expected, parameters, _ = dense.run(dense.count(chances), len(run.trace))
        np.testing.assert_allclose(run.trace, expected, rtol=1e-9)
        assert run.trace[0] < -10_000  # 2^-14,427
        np.testing.assert_allclose(run.parameters.weights, parameters[0], rtol=1e-9)

    @pytest.mark.parametrize(("strength", "mean"), PRIORS)
    @pytest.mark.parametrize("defaults", [None, {"often": 0, "rare": "y"}, {"rare": None}])
    def test_missing_at_random(self, strength, mean, defaults):
        table = lossy_table().with_defaults(defaults)
        chances = random_responsibilities(table.n_records, 3)
        run = plain(problem_of(table, strength, mean, "ignore"), stored_counts(table, chances), 40)
        dense = dense_view(table, ignore=True, strength=strength, mean=mean)
        expected, parameters, _ = dense.run(dense.count(chances), len(run.trace))
        np.testing.assert_allclose(run.trace, expected, rtol=1e-9)
        np.testing.assert_allclose(run.parameters.weights, parameters[0], rtol=1e-6)
        assert_never_falls(run.trace)
        state = plain(problem_of(table, strength, mean), stored_counts(table, chances), 40)
        assert state.trace[-1] < run.trace[-1]  # what is missing has to be explained there

    def test_expected_counts_and_posteriors(self):
        table = lossy_table()
        chances = random_responsibilities(table.n_records, 4)
        problem = problem_of(table, missing="ignore")
        run = plain(problem, stored_counts(table, chances), 6)
        dense = dense_view(table, ignore=True)
        _, parameters, found = dense.run(dense.count(chances), 6)
        wanted = stored_counts(table, found)
        np.testing.assert_allclose(run.expected.totals, wanted.totals, rtol=1e-9)
        np.testing.assert_allclose(run.expected.stored, wanted.stored, rtol=1e-9, atol=1e-12)
        assert run.expected.weight == table.weights.sum()
        clusters, logs = problem.posterior(run.parameters)
        counted = table.weights > 0
        np.testing.assert_allclose(clusters[counted], found[counted], rtol=1e-9, atol=1e-12)
        joint = dense.log_joint(parameters)
        np.testing.assert_allclose(logs, np.logaddexp.reduce(joint, axis=1), rtol=1e-9)
        np.testing.assert_allclose(clusters.sum(axis=1), 1, rtol=1e-12)

    def test_a_label_that_no_record_has_is_possible(self):
        series = pl.Series(["a", "b"] * 10, dtype=pl.Enum(["a", "b", "never"]))
        table = Table({"c": series})
        prior = make_prior(table.one_way(), 2.0, "marginals", "state")
        np.testing.assert_allclose(prior.cells, 2 * np.array([10 + 1 / 3, 10 + 1 / 3, 1 / 3]) / 21)
        uniform = make_prior(table.one_way(), 3.0, "uniform", "state")
        np.testing.assert_allclose(uniform.cells, 1.0)


class TestWhatMustNotMatter:
    @given(draw=st.data())
    @settings(max_examples=40)
    def test_defaults(self, draw):
        d = draw.draw(data(with_chosen=False, weights=any_weights))
        assume(d.total() > 1e-3)
        chances = random_responsibilities(len(d.rows), 3)
        other = draw.draw(defaults_of(d.arities))
        table = d.table()
        moved = table.with_defaults(dict(zip(d.names, map(label, other), strict=True)))
        strength = draw.draw(st.sampled_from([0.0, 1.0]))
        one, two = (
            plain(problem_of(t, strength), stored_counts(t, chances)) for t in (table, moved)
        )
        n = min(len(one.trace), len(two.trace))  # at the end, rounding may stop one earlier
        slack = 1e-12 * d.total() + 1e-9  # the logarithm of a probability near 1 may be nothing
        np.testing.assert_allclose(one.trace[:n], two.trace[:n], rtol=1e-9, atol=slack)
        assert one.objective == pytest.approx(two.objective, rel=1e-9, abs=slack)

    @given(draw=st.data())
    @settings(max_examples=25)
    def test_seeds_do_not_depend_on_defaults(self, draw):
        d = draw.draw(data(with_chosen=False, weights=exact_weights))
        assume(d.total() > 0)
        other = dict(zip(d.names, map(label, draw.draw(defaults_of(d.arities))), strict=True))
        table = d.table()
        one, two = (
            make_start(problem_of(t), 4, "seeds", np.random.default_rng(1)).cells(t.schema)
            for t in (table, table.with_defaults(other))
        )
        np.testing.assert_allclose(one, two)

    @pytest.mark.parametrize("accelerate", [False, True])
    @pytest.mark.parametrize("strength", [0.0, 1.0])
    def test_a_weight_of_2_is_the_record_twice(self, accelerate, strength):
        table = lossy_table().with_weights(None)
        times = np.random.default_rng(0).integers(0, 4, table.n_records)
        chances = random_responsibilities(table.n_records, 3)
        weighted = table.with_weights(times)
        frame = table.to_frame()[np.repeat(np.arange(len(times)), times)]
        repeated = Table(frame).conform(table.schema)
        assert repeated.n_records == times.sum()
        runs = [
            run_em(
                problem_of(t, strength), stored_counts(t, r), max_iter=30, tol=0,
                accelerate=accelerate,
            )
            for t, r in ((weighted, chances), (repeated, chances.repeat(times, axis=0)))
        ]  # fmt: skip
        np.testing.assert_allclose(runs[0].trace, runs[1].trace, rtol=1e-9)
        assert runs[0].expected.weight == runs[1].expected.weight == times.sum()

    def test_the_order_of_records(self):
        table = lossy_table()
        chances = random_responsibilities(table.n_records, 3)
        order = np.random.default_rng(5).permutation(table.n_records)
        frame = table.with_weights(None).to_frame()[order]
        mixed = Table(frame, weights=table.weights[order]).conform(table.schema)
        one = plain(problem_of(table), stored_counts(table, chances), 25)
        two = plain(problem_of(mixed), stored_counts(mixed, chances[order]), 25)
        np.testing.assert_allclose(one.trace, two.trace, rtol=1e-11)

    @given(draw=st.data())
    @settings(max_examples=40)
    def test_where_records_are_split(self, draw):
        d = draw.draw(WEIGHTY)
        table = d.table()
        problem = problem_of(table)
        chances = random_responsibilities(table.n_records, 3)
        parameters = problem.maximise(stored_counts(table, chances))
        cut = draw.draw(st.integers(0, table.n_records))
        whole, prior = problem.expect(parameters), problem.prior
        parts = [
            TableProblem(table, prior, chosen=np.arange(a, b)).expect(parameters)
            for a, b in ((0, cut), (cut, table.n_records))
        ]
        both = parts[0] + parts[1]
        np.testing.assert_allclose(both.totals, whole.totals, atol=1e-12)
        np.testing.assert_allclose(both.stored, whole.stored, atol=1e-12)
        assert both.log_likelihood == pytest.approx(whole.log_likelihood, rel=1e-12, abs=1e-12)
        assert both.weight == whole.weight == d.total()
        one, two = problem.maximise(both), problem.maximise(whole)
        np.testing.assert_allclose(one.weights, two.weights, rtol=1e-12)

    @pytest.mark.parametrize("single", [False, True])
    def test_threads(self, single):
        table = tacit.datasets.make_mixture(9000, 60, 30_000, random_state=2)
        start = make_start(problem_of(table), 11, "seeds", np.random.default_rng(0))
        runs = [
            run_em(problem_of(table, n_jobs=n, single=single), start, max_iter=30, tol=1e-7)
            for n in (1, 2, 3)
        ]
        for run in runs[1:]:
            assert run.trace == runs[0].trace
            for own, first in zip(run.parameters[:3], runs[0].parameters[:3], strict=True):
                assert own.tobytes() == first.tobytes()
            assert run.expected.stored.tobytes() == runs[0].expected.stored.tobytes()

    def test_chosen_records_with_weights_of_their_own(self):
        table = lossy_table()
        chances = random_responsibilities(table.n_records, 3)
        chosen, weights = np.arange(0, 80, 3), np.linspace(0, 2, 80)
        problem = problem_of(table)
        parameters = problem.maximise(stored_counts(table, chances))
        part = TableProblem(table, problem.prior, chosen=chosen, weights=weights)
        apart = table.with_weights(weights).take(chosen)
        wanted = TableProblem(apart, problem.prior).expect(parameters)
        found = part.expect(parameters)
        np.testing.assert_allclose(found.stored, wanted.stored, rtol=1e-12, atol=1e-15)
        assert found.log_likelihood == pytest.approx(wanted.log_likelihood, rel=1e-12)
        assert found.weight == pytest.approx(wanted.weight)


def test_single_precision_ends_near_double():
    table = tacit.datasets.make_mixture(6000, 80, 24_000, n_clusters=6, random_state=4)
    start = make_start(problem_of(table), 6, "seeds", np.random.default_rng(0))
    ends = []
    for single in (False, True):
        run = run_em(problem_of(table, single=single), start, max_iter=300, tol=1e-7)
        exact = problem_of(table).expect(run.parameters)
        assert run.expected.log_likelihood == pytest.approx(exact.log_likelihood, rel=1e-6)
        ends.append(exact.log_likelihood + run.parameters.log_prior)
    assert ends[1] == pytest.approx(ends[0], rel=1e-4)


class Told:
    """A problem whose passes find what they are told to, and that notes where they start."""

    def __init__(self, objectives):
        self.objectives, self.given = list(objectives), []

    @staticmethod
    def counts(n_passes, objective=0.0):
        return ExpectedCounts(np.array([2.0**n_passes]), np.zeros((1, 1)), objective, 1.0)

    def maximise(self, counts):
        self.given.append(counts.totals[0])
        return Parameters(np.ones(1), np.ones((1, 1)), np.ones((1, 1)), 0.0)

    def expect(self, parameters):
        return self.counts(len(self.given), self.objectives.pop(0))


class TestAcceleration:
    @given(draw=st.data())
    @settings(max_examples=40)
    def test_the_objective_never_falls(self, draw):
        d = draw.draw(WEIGHTY)
        table = d.table()
        chances = random_responsibilities(len(d.rows), 4, draw.draw(st.integers(0, 99)))
        strength = draw.draw(st.sampled_from([0.0, 0.1, 1.0]))
        run = run_em(
            problem_of(table, strength), stored_counts(table, chances), max_iter=150, tol=1e-9
        )
        assert_never_falls(run.trace)
        assert run.objective == pytest.approx(run.trace[-1], rel=1e-12, abs=1e-12)

    @pytest.mark.parametrize("strength", [0.0, 1.0])
    @pytest.mark.parametrize("seed", range(4))
    def test_it_ends_where_plain_em_does_or_higher(self, seed, strength):
        """From a place near a maximum: from afar, both may end at different ones."""
        table = tacit.datasets.make_mixture(3000, 40, 12_000, n_clusters=4, random_state=seed)
        problem = problem_of(table, strength)
        start = make_start(problem, 4, "seeds", np.random.default_rng(seed))
        near = run_em(problem, start, max_iter=500, tol=1e-5, accelerate=False).expected
        slow = run_em(problem, near, max_iter=5000, tol=1e-9, accelerate=False)
        fast = run_em(problem, near, max_iter=5000, tol=1e-9)
        assert slow.converged
        assert fast.converged
        assert_never_falls(fast.trace)
        assert fast.objective >= slow.objective - 1e-6 * abs(slow.objective)
        assert len(fast.trace) < len(slow.trace)

    def test_a_run_ends_only_after_a_plain_step(self):
        """The last two objectives differ by less than the tolerance, and so does one step more."""
        table = tacit.datasets.make_mixture(3000, 40, 12_000, n_clusters=4, random_state=0)
        problem = problem_of(table)
        start = make_start(problem, 4, "seeds", np.random.default_rng(0))
        for accelerate in (False, True):
            run = run_em(problem, start, max_iter=5000, tol=1e-7, accelerate=accelerate)
            assert run.converged
            more = problem.maximise(run.expected)
            gain = problem.expect(more).log_likelihood + more.log_prior - run.objective
            assert 0 <= gain <= 1e-7 * abs(run.objective)

    def test_what_follows_a_push(self):
        """A small gain of a pushed step ends nothing, and a fall is undone."""
        told = Told([-1000, -990, -989.9, -989.9 + 1e-6, -980, -979.9, -985, -979.8, -979.8])
        steps = em_steps(told.maximise, told.counts(0), EMOptions(50, 1e-6))
        run = run_in_lockstep([steps], lambda wanted: [told.expect(p) for p in wanted])[0]
        assert told.objectives == []
        assert run.converged
        best = [-1000, -990, -989.9, -989.9 + 1e-6, -980, -979.9, -979.9, -979.8, -979.8]
        assert run.trace == best
        # Each step starts from what the last pass found, but for those after two calm ones.
        plain = [True, True, True, False, True, True, False, True, True]
        starts = [0, 1, 2, 3, 4, 5, 6, 6, 8]
        for found, start, exact in zip(told.given, starts, plain, strict=True):
            assert (found == told.counts(start).totals[0]) == exact

    def test_the_trace_has_an_entry_for_each_pass(self):
        table = lossy_table()
        start = stored_counts(table, random_responsibilities(table.n_records, 3))
        run = run_em(problem_of(table), start, max_iter=7, tol=0, accelerate=False)
        assert len(run.trace) == 7
        assert run.trace[-1] == run.objective
        assert not run.converged


class TestStarts:
    @pytest.mark.parametrize("init", ["seeds", "random"])
    def test_all_records_are_shared_out(self, init):
        table = lossy_table()
        start = make_start(problem_of(table), 5, init, np.random.default_rng(0))
        assert start.totals.sum() == table.weights.sum() == start.weight
        one_way = table.one_way()
        np.testing.assert_allclose(start.cells(table.schema).sum(axis=1), one_way.counts)

    def test_seeds_are_records_that_differ(self):
        """With as many seeds as distinct records, each is a cluster of its own."""
        codes = np.repeat(np.arange(6), 20)
        matrix = np.column_stack([codes // 2, codes % 2, codes == 5])
        table = Table(np.random.default_rng(0).permutation(matrix))
        start = make_start(problem_of(table), 6, "seeds", np.random.default_rng(1))
        assert start.totals.tolist() == [20] * 6
        cells = start.cells(table.schema)
        # Half of each is all records, so that nothing starts as impossible.
        own = 2 * cells - np.column_stack([table.one_way().counts] * 6) / 6
        assert (np.isclose(own, 0) | np.isclose(own, 20)).all()
        assert (cells > 0).all()

    def test_records_of_no_weight_are_no_seeds(self):
        matrix = np.repeat(np.eye(4, dtype=int), 5, axis=0)
        table = Table(matrix, weights=np.repeat([1.0, 1.0, 0.0, 0.0], 5))
        for seed in range(10):
            start = make_start(problem_of(table), 2, "seeds", np.random.default_rng(seed))
            assert sorted(start.totals) == [5, 5]

    def test_a_sample_is_enough(self, monkeypatch):
        monkeypatch.setattr("tacit.mixture.em.starts._SAMPLE", 300)
        table = Table(sparse.random_array((2000, 30), density=0.1, rng=0).astype(bool).astype(int))
        start = make_start(problem_of(table), 4, "seeds", np.random.default_rng(0))
        assert start.weight == start.totals.sum() == 300
        assert (start.totals > 0).all()
