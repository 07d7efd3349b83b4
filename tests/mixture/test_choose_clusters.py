"""The number of clusters, where it is known."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import adjusted_rand_score

import tacit
from support.mixtures import draw_separable
from tacit import NaiveBayesMixture, Table
from tacit.mixture.em.choose_clusters import choose_clusters, limit_clusters
from tacit.mixture.em.iterations import EMOptions, TableProblem, run_em
from tacit.mixture.em.merges import find_merges
from tacit.mixture.em.prior import make_prior
from tacit.mixture.em.scores import score_run
from tacit.mixture.em.splits import find_members, split_cluster

CRITERIA = ("cheeseman_stutz", "bic", "icl")


def auto(**settings):
    return NaiveBayesMixture("auto", **({"random_state": 0, "n_init": 1} | settings))


def make_problem(table, strength=1.0, **settings):
    return TableProblem(
        table, make_prior(table.one_way(), strength, "marginals", "state"), **settings
    )


def choose(problem, seed=0, n_init=0):
    return choose_clusters(
        problem, max_clusters=20, criterion="cheeseman_stutz", rng=np.random.default_rng(seed),
        options=EMOptions(500, 1e-6), n_init=n_init,
    )  # fmt: skip


def fit_groups(problem, groups):
    """Return the mixture that EM finds from clusters that are known."""
    start = problem.count_clusters(groups, int(groups.max()) + 1)
    return run_em(problem, start, max_iter=100, tol=1e-6)


# The number


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("arity", [2, 4])
@pytest.mark.parametrize("n_clusters", [1, 2, 5, 10])
def test_the_number_is_found(n_clusters, arity, seed):
    table, clusters = draw_separable(n_clusters, arity=arity, seed=seed)
    mix = auto(random_state=seed).fit(table)
    assert abs(mix.n_clusters_ - n_clusters) <= (n_clusters == 10)
    assert adjusted_rand_score(clusters, mix.labels_) > 0.9


@pytest.mark.parametrize("criterion", CRITERIA)
def test_all_criteria_find_it(criterion):
    table, _ = draw_separable(4, 1500, 30, seed=5)
    assert auto(criterion=criterion).fit(table).n_clusters_ == 4


def test_icl_looks_beyond_a_few_clusters_more():
    """Of these visitors, ICL likes three clusters better than four, five or six."""
    visits = tacit.datasets.load_visits()
    curve = auto(criterion="icl", max_clusters=12).fit(visits).selection_
    scores = dict(zip(curve["clusters"], curve["icl"], strict=True))
    assert scores[3] < scores[5]
    assert min(scores, key=scores.get) > 5


def test_without_a_prior():
    table, _ = draw_separable(3, 1000, 20, seed=2)
    mix = auto(criterion="bic", prior=0).fit(table)
    assert mix.n_clusters_ == 3
    assert mix.selection_["cheeseman_stutz"].null_count() == len(mix.selection_)


def test_no_clusters_in_noise():
    rng = np.random.default_rng(0)
    assert auto().fit(Table((rng.random((1000, 30)) < 0.3).astype(int))).n_clusters_ == 1


def test_weights_count_as_records():
    table, clusters = draw_separable(3, 3000, 12, seed=1)
    rows, counts = np.unique(table.to_frame().to_numpy(), axis=0, return_counts=True)
    assert len(rows) < 1500
    whole, collapsed = auto().fit(table), auto().fit(Table(rows), sample_weight=counts)
    assert whole.n_clusters_ == collapsed.n_clusters_ == 3
    assert whole.log_likelihood_ == pytest.approx(collapsed.log_likelihood_, rel=1e-3)
    without = auto().fit(table, sample_weight=(clusters != 2).astype(float))
    assert without.n_clusters_ == 2


def test_missing_values_that_say_nothing():
    table, _ = draw_separable(3, 1500, 24, seed=3)
    frame = table.to_frame()
    holes = np.random.default_rng(0).random((24, 1500)) < 0.2
    columns = [
        pl.Series(name, np.where(gone, None, frame[name].to_numpy()).tolist())
        for name, gone in zip(frame.columns, holes, strict=True)
    ]
    mix = auto(missing="ignore").fit(Table(pl.DataFrame(columns)))
    assert mix.n_clusters_ == 3


def test_single_precision_finds_the_same_number():
    table, _ = draw_separable(5, seed=4)
    mix = auto(precision="single").fit(table)
    assert mix.n_clusters_ == 5
    best = mix.selection_["cheeseman_stutz"].max()
    assert best == pytest.approx(mix.cheeseman_stutz(table), rel=1e-5)


# Little to choose from


@pytest.mark.parametrize("n_records", [1, 2, 50])
def test_one_distinct_record(n_records):
    mix = auto().fit(Table(np.tile([1, 0, 1, 1], (n_records, 1))))
    assert mix.n_clusters_ == 1
    assert mix.selection_["clusters"].to_list() == [1]
    assert (mix.labels_ == 0).all()


@pytest.mark.parametrize("criterion", CRITERIA)
def test_two_distinct_records(criterion):
    rows = np.repeat([[0] * 8, [1] * 8], [60, 40], axis=0)
    mix = auto(criterion=criterion).fit(Table(rows))
    assert mix.n_clusters_ == 2
    assert mix.weights_ == pytest.approx([0.6, 0.4], abs=0.01)


def test_all_default():
    table = Table(np.zeros((20, 3), int))
    assert auto().fit(table).n_clusters_ == 1


# The curve


def test_curve():
    table, _ = draw_separable(6, seed=7)
    mix = auto().fit(table)
    curve = mix.selection_
    assert curve.columns == ["clusters", "log_likelihood", *CRITERIA]
    assert curve["clusters"].to_list() == sorted(set(curve["clusters"]))
    assert curve["clusters"][0] == 1
    assert curve["clusters"].max() > 6  # it was seen that more are not better
    best = curve.row(int(curve["cheeseman_stutz"].arg_max()), named=True)
    assert best["clusters"] == mix.n_clusters_ == 6
    assert best["cheeseman_stutz"] == pytest.approx(mix.cheeseman_stutz(table), rel=1e-5)
    assert np.diff(mix.trace_).min() >= 0


@pytest.mark.parametrize("most", [1, 2, 4])
def test_never_more_than_asked_for(most):
    table, _ = draw_separable(6, seed=7)
    mix = auto(max_clusters=most).fit(table)
    assert mix.n_clusters_ == most
    assert mix.selection_["clusters"].max() == most


def test_the_limit_grows_with_records_and_is_announced(caplog):
    assert [limit_clusters(n) for n in (10, 900, 10_000, 90_000)] == [60, 60, 200, 600]
    table, _ = draw_separable(6, seed=7)
    auto(max_clusters=4).fit(table)
    assert "there are max_clusters=4 clusters" in caplog.text
    caplog.clear()
    auto(max_clusters=8).fit(table)
    assert caplog.text == ""


def test_the_result_does_not_depend_on_threads():
    table, _ = draw_separable(7, seed=8)
    one, more = (auto(n_jobs=n_jobs).fit(table) for n_jobs in (1, 3))
    assert one.selection_.equals(more.selection_)
    assert np.array_equal(one.expected_.stored, more.expected_.stored)
    assert np.array_equal(one.labels_, more.labels_)


def test_progress_is_shown_when_asked_for(capsys):
    table, _ = draw_separable(3, 600, 20)
    auto().fit(table)
    assert capsys.readouterr().err == ""
    auto(verbose=1).fit(table)
    assert "best: 3 with cheeseman_stutz" in capsys.readouterr().err


def test_a_fresh_start_is_kept_where_it_is_better(monkeypatch):
    table, clusters = draw_separable(4, seed=9)
    problem = make_problem(table)
    poor = problem.count_clusters(np.random.default_rng(0).integers(0, 4, len(clusters)), 4)
    where = "tacit.mixture.em.choose_clusters._Search.improve"
    monkeypatch.setattr(where, lambda search, found: search.follow(poor, 1e-2))
    monkeypatch.setattr(
        "tacit.mixture.em.choose_clusters._Search.finish", lambda search, found: found
    )
    alone, _ = choose(problem)
    fresh, curve = choose(problem, n_init=5)
    assert fresh.objective > alone.objective
    assert [scores.clusters for scores in curve] == [1, 4]


# The moves


def test_members_are_records_that_a_cluster_has_a_share_of():
    table, clusters = draw_separable(3, 500, 20)
    problem = make_problem(table)
    run = fit_groups(problem, clusters)
    shares = problem.posterior(run.parameters)[0]
    for k, (records, own, others) in enumerate(find_members(problem, run.parameters)):
        assert np.array_equal(records, np.flatnonzero(shares[:, k] > 0.01))
        assert own == pytest.approx(shares[records, k], rel=1e-6)
        rest = np.delete(shares[records], k, axis=1).sum(axis=1)
        assert others == pytest.approx(np.log(rest), rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_split_gains_what_it_promises(criterion):
    table, clusters = draw_separable(4, seed=2)
    problem = make_problem(table)
    merged = np.minimum(clusters, 2)
    run = fit_groups(problem, merged)
    members = find_members(problem, run.parameters)
    rng = np.random.default_rng(0)
    splits = [
        split_cluster(problem, k, run.expected, own, criterion, rng)
        for k, own in enumerate(members)
    ]
    assert [split.gain > 0 for split in splits] == [False, False, True]
    whole = score_run(problem, fit_groups(problem, clusters)).value(criterion)
    gain = whole - score_run(problem, run).value(criterion)
    assert splits[2].gain == pytest.approx(gain, rel=0.1)
    sizes = np.sort(splits[2].children.totals)
    assert sizes == pytest.approx(np.sort(np.bincount(clusters)[2:]), rel=0.1)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_halves_of_a_cluster_are_merged(criterion):
    table, clusters = draw_separable(3, seed=3)
    problem = make_problem(table)
    halves = clusters.copy()
    halves[np.flatnonzero(clusters == 1)[::2]] = 3
    start = problem.count_clusters(halves, 4)
    parameters = problem.maximise(start)
    run = replace(fit_groups(problem, halves), parameters=parameters)
    run = replace(run, expected=problem.expect(parameters))
    members = find_members(problem, parameters)
    best, *_ = find_merges(problem, run, members, criterion)
    assert best.gain > 0
    right = problem.count_clusters(clusters, 3)
    assert np.sort(best.counts.totals) == pytest.approx(np.sort(right.totals), rel=0.1)
    merged = run_em(problem, best.counts, max_iter=100, tol=1e-6)
    better = score_run(problem, merged).value(criterion) - score_run(problem, run).value(criterion)
    assert better > 0


@pytest.mark.parametrize("criterion", CRITERIA)
def test_clusters_that_differ_are_left_alone(criterion):
    table, clusters = draw_separable(4, seed=6)
    problem = make_problem(table)
    run = fit_groups(problem, clusters)
    members = find_members(problem, run.parameters)
    assert find_merges(problem, run, members, criterion) == []


def test_a_dead_cluster_is_left_out():
    table, clusters = draw_separable(3, seed=6)
    problem = make_problem(table)
    start = problem.count_clusters(clusters, 4)
    assert start.totals[3] == 0
    run = run_em(problem, start, max_iter=100, tol=1e-6)
    members = find_members(problem, run.parameters)
    best, *_ = find_merges(problem, run, members, "cheeseman_stutz")
    assert best.counts.n_clusters == 3
    assert best.gain > 0


def test_mixtures_of_other_seeds_agree():
    table, _ = draw_separable(5, seed=11)
    problem = make_problem(table)
    found = [choose(problem, seed=seed)[0] for seed in range(3)]
    values = [run.expected.log_likelihood for run in found]
    assert values == pytest.approx([values[0]] * 3, rel=1e-5)
