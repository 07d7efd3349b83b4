"""Scores of mixtures against slow and obvious calculations."""

from itertools import pairwise, product
from math import factorial

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit import Table
from tacit.mixture.em.iterations import Run, TableProblem, run_em
from tacit.mixture.em.prior import make_prior
from tacit.mixture.em.scores import Scores, score_run
from tacit.mixture.em.starts import make_start

LABELS = (("a", "b", "c"), ("no", "yes"), ("x", None))


@st.composite
def problems(draw):
    """A few records, a prior, and whether missing values say something."""
    rows = draw(st.lists(st.tuples(*map(st.sampled_from, LABELS)), min_size=1, max_size=6))
    schema = dict.fromkeys(("one", "two", "three"), pl.String)
    frame = pl.DataFrame(rows, schema, orient="row")
    strength = draw(st.sampled_from((0.3, 1.0, 4.0)))
    mean = draw(st.sampled_from(("marginals", "uniform")))
    missing = draw(st.sampled_from(("state", "ignore")))
    table = Table(frame)
    return TableProblem(table, make_prior(table.one_way(), strength, mean, missing))


def some_run(problem, n_clusters, seed=0):
    start = make_start(problem, n_clusters, "random", np.random.default_rng(seed))
    return run_em(problem, start, max_iter=3, tol=0.0)


def codes_of(table):
    schema = table.schema
    codes = np.tile(np.asarray(schema.defaults), (table.n_records, 1))
    for r in range(table.n_records):
        for v in table.values[table.indptr[r] : table.indptr[r + 1]].astype(int):
            c = int(schema.value_columns[v])
            codes[r, c] = int(schema.value_cells[v]) - int(schema.cells[c])
    return codes


def log_urn(problem, n_clusters, clusters):
    """Return log p(records, their clusters), one record after the other as from Pólya's urn."""
    prior, schema = problem.prior, problem.schema
    counts = np.repeat(prior.cells[:, None], n_clusters, axis=1)
    totals = np.full(n_clusters, prior.clusters)
    log_p = 0.0
    for codes, k in zip(codes_of(problem.records), clusters, strict=True):
        log_p += np.log(totals[k] / totals.sum())
        totals[k] += 1
        for c, code in enumerate(codes):
            first, last = int(schema.cells[c]), int(schema.cells[c + 1])
            own = counts[first:last, k]
            if own[code] < 0:  # missing at random
                continue
            log_p += np.log(own[code] / own[own >= 0].sum())
            own[code] += 1
    return log_p


@given(problems())
def test_one_cluster_has_the_exact_marginal_likelihood(problem):
    scores = score_run(problem, some_run(problem, 1))
    exact = log_urn(problem, 1, np.zeros(problem.records.n_records, int))
    assert scores.cheeseman_stutz == pytest.approx(exact, rel=1e-9, abs=1e-9)


@settings(max_examples=40)
@given(problems(), st.integers(2, 3), st.integers(0, 5))
def test_but_for_names_more_clusters_have_no_more_than_the_exact_one(problem, n_clusters, seed):
    found = score_run(problem, some_run(problem, n_clusters, seed)).cheeseman_stutz
    found -= np.log(factorial(n_clusters))
    ways = product(range(n_clusters), repeat=problem.records.n_records)
    exact = np.logaddexp.reduce([log_urn(problem, n_clusters, clusters) for clusters in ways])
    assert found <= exact + 1e-9


def test_clusters_that_differ_have_the_exact_one():
    rows = [["a"] * 6] * 5 + [["b"] * 6] * 5
    table = Table(pl.DataFrame(rows, schema=list("uvwxyz"), orient="row"))
    problem = TableProblem(table, make_prior(table.one_way(), 1.0, "marginals", "state"))
    start = problem.count_clusters(np.repeat([0, 1], 5), 2)
    found = score_run(problem, run_em(problem, start, max_iter=100, tol=0.0)).cheeseman_stutz
    ways = product(range(2), repeat=10)
    exact = np.logaddexp.reduce([log_urn(problem, 2, clusters) for clusters in ways])
    assert found == pytest.approx(exact, abs=0.01)


@given(problems(), st.integers(1, 3))
def test_information_criteria(problem, n_clusters):
    run = some_run(problem, n_clusters)
    scores = score_run(problem, run)
    shares, logs = problem.posterior(run.parameters)
    doubt = -(shares * np.log(np.maximum(shares, 1e-300))).sum()
    labels = problem.prior.counted
    cells = problem.schema.cells
    free = sum(max(int(labels[a:b].sum()) - 1, 0) for a, b in pairwise(cells))
    penalty = (n_clusters - 1 + n_clusters * free) * np.log(problem.records.n_records)
    assert scores.log_likelihood == pytest.approx(logs.sum())
    assert scores.bic == pytest.approx(penalty - 2 * logs.sum())
    assert scores.icl == pytest.approx(scores.bic + 2 * doubt)


@given(problems(), st.integers(1, 3))
def test_a_weight_of_two_is_the_record_twice(problem, n_clusters):
    run = some_run(problem, n_clusters)
    table = problem.records
    twice = TableProblem(Table.concat([table, table]), problem.prior)
    heavy = TableProblem(table, problem.prior, weights=np.full(table.n_records, 2.0))
    found = [
        score_run(each, Run(run.parameters, each.expect(run.parameters))) for each in (twice, heavy)
    ]
    assert found[0] == pytest.approx(found[1])


def test_no_marginal_likelihood_without_a_prior():
    table = Table(np.eye(4, dtype=int))
    problem = TableProblem(table, make_prior(table.one_way(), 0.0, "marginals", "state"))
    scores = score_run(problem, some_run(problem, 2))
    assert scores.cheeseman_stutz is None
    assert np.isfinite([scores.bic, scores.icl]).all()


def test_value_is_in_nats_and_higher_is_better():
    scores = Scores(2, -10.0, -12.5, 30.0, 34.0)
    assert [scores.value(name) for name in ("cheeseman_stutz", "bic", "icl")] == [-12.5, -15, -17]
