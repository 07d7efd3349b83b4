"""What a mixture says of records: probabilities, scores and criteria, against their formulas."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from oracles.mixture import dense_parameters, dense_view
from tacit import NaiveBayesMixture, Table
from tacit.errors import InputError
from tacit.mixture.em.iterations import Run, TableProblem
from tacit.mixture.em.scores import score_run


def make_table(n=200, seed=0, weighted=False):
    """Columns of 2, 3, 1 and 4 values; missing ones in two of them."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 2, n)
    three = np.where(rng.random(n) < 0.15, None, (group + rng.integers(0, 2, n)) % 3)
    four = np.where(rng.random(n) < 0.7, None, np.array([*"abcb"])[2 * group + (three == 1)])
    return Table(
        {
            "two": (group == 1) ^ (rng.random(n) < 0.1),
            "three": pl.Series(three.tolist()),
            "one": ["same"] * n,
            "four": four.tolist(),
        },
        weights=rng.integers(0, 5, n) / 2 if weighted else None,
    )


CASES = [
    {"missing": missing, "prior": prior, "weighted": weighted, "prior_mean": mean}
    for missing in ("state", "ignore")
    for prior, mean in ((1.0, "marginals"), (0.5, "uniform"), (0.0, "marginals"))
    for weighted in (False, True)
]


@pytest.fixture(params=CASES, ids=lambda case: "-".join(map(str, case.values())))
def case(request):
    """Return a mixture, new records, and their dense view under the prior of the fit."""
    settings = dict(request.param)
    weighted = settings.pop("weighted")
    table = make_table(weighted=weighted)
    mix = NaiveBayesMixture(2, random_state=0, **settings).fit(table)
    new = make_table(150, seed=1, weighted=weighted).conform(table.schema)
    prior = {"strength": mix.prior, "mean": mix.prior_mean}
    ignore = mix.missing == "ignore"
    fitted, dense = (dense_view(t, ignore=ignore, **prior) for t in (table, new))
    return (
        mix,
        new,
        type(dense)(dense.codes, dense.arities, dense.weights, fitted.alphas, mix.prior),
    )


def test_records(case):
    mix, new, dense = case
    joint = dense.log_joint(dense_parameters(mix, ignore=mix.missing == "ignore"))
    logs = np.logaddexp.reduce(joint, axis=1)
    clusters = np.exp(joint - logs[:, None])
    np.testing.assert_allclose(mix.score_samples(new), logs, rtol=1e-9)
    found = mix.predict_proba(new)
    np.testing.assert_allclose(found, clusters, rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    assert (mix.predict(new) == clusters.argmax(axis=1)).all()
    assert mix.score(new) == pytest.approx(np.average(logs, weights=dense.weights), rel=1e-12)
    counts = mix.expected_counts(new)
    np.testing.assert_allclose(counts.totals, dense.weights @ clusters, rtol=1e-9)
    assert counts.log_likelihood == pytest.approx(dense.weights @ logs, rel=1e-12)
    assert counts.weight == dense.weights.sum()


def test_cells_of_expected_counts(case):
    mix, new, dense = case
    _, cells = dense.count(mix.predict_proba(new))
    found = mix.expected_counts(new).cells(new.schema)[mix._prior.counted]
    np.testing.assert_allclose(found, np.concatenate([c for c in cells if len(c)]), atol=1e-9)


def test_criteria(case):
    mix, new, dense = case
    parameters = dense_parameters(mix, ignore=mix.missing == "ignore")
    log_likelihood, _ = dense.expect(parameters)
    free = 1 + 2 * sum(arity - 1 for arity in dense.arities)
    assert mix.n_parameters_ == free
    weight = dense.weights.sum()
    assert mix.bic(new) == pytest.approx(free * np.log(weight) - 2 * log_likelihood, rel=1e-12)
    assert mix.aic(new) == pytest.approx(2 * free - 2 * log_likelihood, rel=1e-12)
    completed = dense.completed(parameters)
    assert completed <= log_likelihood
    assert mix.icl(new) == pytest.approx(free * np.log(weight) - 2 * completed, rel=1e-9)
    if mix.prior == 0:
        with pytest.raises(InputError, match="prior: without one there is no marginal likelihood"):
            mix.cheeseman_stutz(new)
    else:
        expected = dense.cheeseman_stutz(parameters) + np.log(2)  # ways to name two clusters
        assert mix.cheeseman_stutz(new) == pytest.approx(expected, rel=1e-9)


def test_one_cluster_has_the_exact_marginal_likelihood():
    """Nothing is hidden then: records one after another, each by what was seen before it."""
    table = make_table(60)
    mix = NaiveBayesMixture(1, prior=0.7).fit(table)
    dense = dense_view(table, strength=0.7)
    seen, total = [alpha.copy() for alpha in dense.alphas], 0.0
    for record in dense.codes:
        for c, code in enumerate(record):
            total += np.log(seen[c][code] / seen[c].sum())
            seen[c][code] += 1
    assert mix.cheeseman_stutz(table) == pytest.approx(total, rel=1e-12)
    assert mix.icl(table) == pytest.approx(mix.bic(table), rel=1e-12)


def test_scores_of_a_run_are_those_of_the_model():
    table = make_table(weighted=True)
    mix = NaiveBayesMixture(3, random_state=0).fit(table)
    scores = score_run(TableProblem(table, mix._prior), Run(mix._parameters, mix.expected_))
    assert scores.clusters == 3
    assert scores.log_likelihood == mix.log_likelihood_
    assert scores.bic == pytest.approx(mix.bic(table), rel=1e-12)
    assert scores.icl == pytest.approx(mix.icl(table), rel=1e-12)
    assert scores.cheeseman_stutz == pytest.approx(mix.cheeseman_stutz(table), rel=1e-12)
    worse = scores._replace(cheeseman_stutz=scores.cheeseman_stutz - 1, bic=scores.bic + 1,
                            icl=scores.icl + 1)  # fmt: skip
    for criterion in ("cheeseman_stutz", "bic", "icl"):
        assert scores.value(criterion) > worse.value(criterion)


def test_weights_below_1_are_no_reward():
    table = make_table().with_weights(np.full(200, 1e-4))
    mix = NaiveBayesMixture(2, random_state=0).fit(table)
    assert mix.bic(table) == pytest.approx(-2 * mix.log_likelihood_)


def test_impossible_records_have_finite_scores():
    """Without a prior, a label that no record had is as good as impossible, and said so."""
    kinds = pl.Enum(["a", "b", "never"])
    frame = pl.DataFrame({"c": pl.Series(["a", "b"] * 10, dtype=kinds), "d": [0, 1] * 10})
    mix = NaiveBayesMixture(2, prior=0, random_state=0).fit(frame)
    new = frame[:1].with_columns(c=pl.Series(["never"], dtype=kinds))
    assert mix.score(new) == pytest.approx(np.log(0.5) + np.log(1e-60), rel=1e-6)
    assert mix.icl(new) == pytest.approx(mix.bic(new), rel=1e-9)
    assert np.isfinite(mix.predict_proba(new)).all()


class TestExpectedCounts:
    def test_parts_add_up(self):
        table = make_table(weighted=True)
        mix = NaiveBayesMixture(3, random_state=0).fit(table)
        parts = [mix.expected_counts(table.take(np.arange(k, 200, 3))) for k in range(3)]
        whole = mix.expected_counts(table)
        for both in ((parts[0] + parts[1]) + parts[2], parts[2] + (parts[0] + parts[1])):
            np.testing.assert_allclose(both.totals, whole.totals, rtol=1e-12)
            np.testing.assert_allclose(both.stored, whole.stored, rtol=1e-12, atol=1e-15)
            assert both.log_likelihood == pytest.approx(whole.log_likelihood, rel=1e-12)
            assert both.weight == whole.weight == table.weights.sum()
        np.testing.assert_allclose(whole.totals, mix.expected_.totals, rtol=1e-12)

    def test_scaled_and_ordered(self):
        table = make_table()
        counts = NaiveBayesMixture(3, random_state=0).fit(table).expected_
        thrice = counts.scaled(3.0)
        assert thrice.weight == 600
        assert thrice.log_likelihood == 3 * counts.log_likelihood
        np.testing.assert_allclose(thrice.cells(table.schema), 3 * counts.cells(table.schema))
        turned = counts.ordered(np.array([2, 0]))
        np.testing.assert_array_equal(
            turned.cells(table.schema), counts.cells(table.schema)[:, [2, 0]]
        )
        assert turned.stored.flags.c_contiguous

    def test_cells_are_all_counts(self):
        table = make_table(weighted=True)
        counts = NaiveBayesMixture(3, random_state=0).fit(table).expected_
        np.testing.assert_allclose(counts.cells(table.schema).sum(1), table.one_way().counts)

    def test_refuses(self):
        table = make_table()
        two, three = (NaiveBayesMixture(k, random_state=0).fit(table).expected_ for k in (2, 3))
        with pytest.raises(
            InputError, match="7 values in 2 clusters cannot be added to those of 7"
        ):
            two + three
        with pytest.raises(TypeError):
            two + 1
