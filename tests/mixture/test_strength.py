"""The strength of a prior, by the evidence."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import gammaln

import tacit
from support.mixtures import draw_separable
from support.strategies import data
from tacit import NaiveBayesMixture, Table, _core
from tacit.mixture.em.expected import ExpectedCounts
from tacit.mixture.em.iterations import EMOptions, TableProblem, run_em
from tacit.mixture.em.prior import make_prior
from tacit.mixture.em.starts import make_start
from tacit.mixture.em.strength import find_strength


def evidence(schema, prior, expected, strength):
    """Return log p of expected counts, cell by cell."""
    alphas = prior.with_strength(schema, strength).cells
    cells, total = expected.cells(schema), 0.0
    for c in range(len(schema)):
        at = np.arange(schema.cells[c], schema.cells[c + 1])
        at = at[alphas[at] >= 0]
        if len(at):
            for k in range(expected.n_clusters):
                n, a = np.maximum(cells[at, k], 0), alphas[at]
                total += gammaln(a.sum()) - gammaln(n.sum() + a.sum())
                total += (gammaln(n + a) - gammaln(a)).sum()
    return total


def some_counts(table, n_clusters, seed):
    """Return the counts of clusters that records belong to in part."""
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(n_clusters, 0.5), table.n_records)
    stored = np.zeros((table.schema.n_values, n_clusters))
    for r in range(table.n_records):
        stored[table.values[table.indptr[r] : table.indptr[r + 1]]] += shares[r]
    return ExpectedCounts(shares.sum(axis=0), stored, 0.0, float(table.n_records))


@settings(max_examples=60, deadline=None)
@given(
    data(max_rows=12, with_chosen=False),
    st.integers(1, 4),
    st.floats(0.05, 500),
    st.sampled_from(["state", "ignore"]),
    st.sampled_from(["marginals", "uniform"]),
)
def test_slope_is_that_of_the_evidence(own, n_clusters, strength, missing, mean):
    table = own.table()
    schema = table.schema
    prior = make_prior(table.one_way(), 1.0, mean, missing)
    if not prior.counted.any():
        return
    expected = some_counts(table, n_clusters, 0)
    first, second = _core.em_strength(
        schema.offsets, expected.totals, expected.stored, prior.stored, prior.defaults, strength
    )
    step = 1e-4 * strength
    low, here, high = (evidence(schema, prior, expected, strength + d) for d in (-step, 0.0, step))
    scale = abs(here) + table.n_columns
    assert first == pytest.approx((high - low) / (2 * step), rel=1e-5, abs=1e-8 * scale / step)
    assert second == pytest.approx(
        (high - 2 * here + low) / step**2, rel=1e-3, abs=1e-13 * scale / step**2 + 1e-6
    )


@pytest.mark.parametrize("seed", range(3))
def test_no_other_strength_has_more_evidence(seed):
    table, clusters = draw_separable(4, 600, 30, arity=3, seed=seed)
    prior = make_prior(table.one_way(), None, "marginals", "state")
    problem = TableProblem(table, prior)
    expected = problem.count_clusters(clusters, 4)
    strength = find_strength(table.schema, prior, expected)
    best = evidence(table.schema, prior, expected, strength)
    for other in strength * np.geomspace(0.01, 100, 81):
        assert evidence(table.schema, prior, expected, other) <= best + 0.05


def test_columns_that_are_the_same_everywhere_want_a_strong_prior():
    rng = np.random.default_rng(0)
    clusters = np.repeat([0, 1], 1000)

    def found(n_noise):
        own = rng.random((2000, 10)) < np.where(clusters[:, None] == 0, 0.1, 0.6)
        noise = rng.random((2000, n_noise)) < 0.3
        table = Table(np.column_stack([own, noise]).astype(int))
        prior = make_prior(table.one_way(), None, "marginals", "state")
        return find_strength(
            table.schema, prior, TableProblem(table, prior).count_clusters(clusters, 2)
        )

    assert found(0) < found(20) < found(200)


def test_a_strength_that_was_found_stays():
    table, _ = draw_separable(3, 800, 25, seed=1)
    mix = NaiveBayesMixture(3, random_state=0, tol=1e-8).fit(table)
    again = find_strength(table.schema, mix._prior, mix.expected_)
    assert mix.prior_strength_ == pytest.approx(again, rel=0.15)
    fixed = NaiveBayesMixture(3, random_state=0, prior=7.5).fit(table)
    assert fixed.prior_strength_ == pytest.approx(7.5)
    assert mix.cheeseman_stutz(table) > fixed.cheeseman_stutz(table)


def test_one_cluster_is_what_the_prior_is_centred_on():
    table, _ = draw_separable(3, 500, 20, seed=1)
    mix = NaiveBayesMixture(1).fit(table)
    assert mix.cheeseman_stutz(table) == pytest.approx(mix.log_likelihood_, abs=0.5)
    # Its intervals are those of the records, not of a thousand times as many.
    plain = NaiveBayesMixture(1, prior=1).fit(table).profile().to_frame()
    assert mix.profile().to_frame().equals(plain) or np.allclose(
        mix.profile().to_frame().select("lower", "upper").to_numpy(),
        plain.select("lower", "upper").to_numpy(),
        rtol=1e-6,
    )


def test_it_holds_on_records_not_seen():
    """Of wide and short tables, a prior of one record learns the noise."""
    drawn = tacit.datasets.make_mixture(1000, 400, 12_000, n_clusters=3, random_state=0)
    train, test = drawn.take(np.arange(300)), drawn.take(np.arange(300, 1000))
    auto, one = (
        NaiveBayesMixture(6, prior=prior, random_state=0).fit(train) for prior in ("auto", 1.0)
    )
    assert auto.score(test) > one.score(test) + 0.5
    assert one.score(train) > auto.score(train)


def test_threads_and_containers_do_not_matter():
    table, _ = draw_separable(4, 700, 30, seed=2)
    one, more = (NaiveBayesMixture(4, random_state=0, n_jobs=n).fit(table) for n in (1, 3))
    assert one.prior_strength_ == more.prior_strength_
    assert np.array_equal(one.expected_.stored, more.expected_.stored)


def test_max_iter_counts_all_passes():
    table, _ = draw_separable(4, 700, 30, seed=2)
    prior = make_prior(table.one_way(), None, "marginals", "state")
    asked = []

    class Counting(TableProblem):
        def expect(self, parameters):
            asked.append(1)
            return super().expect(parameters)

    problem = Counting(table, prior)
    start = make_start(problem, 4, "seeds", np.random.default_rng(0))
    for passes in (1, 2, 5, 9):
        asked.clear()
        run = run_em(problem, start, **EMOptions(passes, 0.0)._asdict())
        assert len(asked) == passes
        assert not run.converged


def test_starts_without_a_prior_are_not_absorbed():
    """A value that none of the records near a seed has is not impossible in its cluster."""
    table, clusters = draw_separable(5, 1500, 40, seed=3)
    truth = TableProblem(table, make_prior(table.one_way(), 0.0, "marginals", "state"))
    best = run_em(truth, truth.count_clusters(clusters, 5), max_iter=500, tol=1e-8)
    mix = NaiveBayesMixture(5, prior=0, random_state=0).fit(table)
    assert mix.log_likelihood_ > best.expected.log_likelihood - 5
