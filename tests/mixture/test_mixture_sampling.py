"""Records drawn from a mixture: as often as it says, and of the kind it was fitted on."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy import stats

import tacit
from support.strategies import assert_identical
from tacit import InputError, NaiveBayesMixture, Table

N = 20_000


def fit(**settings):
    """Return a mixture of binary and multi-valued columns, some of them with missing values."""
    rng = np.random.default_rng(1)
    group = rng.choice(3, 900, p=[0.5, 0.3, 0.2])
    often = np.where(rng.random(900) < 0.7, None, group)
    rare = np.where(
        rng.random(900) < 0.1, None, np.array([*"uvwx"])[group + (rng.random(900) < 0.3)]
    )
    frame = pl.DataFrame(
        {
            "flag": (group == 0) ^ (rng.random(900) < 0.2),
            "die": (2 * group + rng.integers(0, 3, 900)) % 6,
            "often": often.tolist(),
            "rare": rare.tolist(),
            "same": [7] * 900,
            "lost": pl.Series([None] * 900, dtype=pl.Int64),
        }
    )
    return NaiveBayesMixture(3, random_state=0, **settings).fit(frame)


@pytest.mark.parametrize("missing", ["state", "ignore"])
@pytest.mark.parametrize("prior", [1.0, 0.0])
def test_frequencies(missing, prior):
    mix = fit(missing=missing, prior=prior)
    table, clusters = mix.sample_clusters(N, random_state=0)
    assert table.shape == (N, 6)
    assert table.schema == mix.schema_
    assert clusters.shape == (N,)
    assert stats.chisquare(np.bincount(clusters), N * mix.weights_).pvalue > 1e-3
    for c, name in enumerate(mix.schema_.names[:4]):
        codes, chances = table.codes(name), mix.probabilities(c)
        for k in range(3):
            seen = np.bincount(codes[clusters == k], minlength=len(chances))
            possible = chances[:, k] * seen.sum() > 1e-3
            assert seen[~possible].sum() <= 1
            expected = chances[possible, k] / chances[possible, k].sum() * seen[possible].sum()
            few = expected < 5
            assert stats.poisson.sf(seen[possible][few] - 1, expected[few]).min(initial=1) > 1e-4
            if np.count_nonzero(~few) > 1:
                counts, wanted = seen[possible][~few], expected[~few]
                wanted *= counts.sum() / wanted.sum()
                assert stats.chisquare(counts, wanted).pvalue > 1e-4, (name, k)
    assert set(table.codes("same")) == {0}
    lost = mix.schema_["often"].code(None)
    assert (lost in table.codes("often")) == (missing == "state")


def test_columns_are_independent_within_clusters_only():
    mix = fit()
    table, clusters = mix.sample_clusters(N, random_state=0)
    flag, die = table.codes("flag"), table.codes("die")

    def p_value(which):
        counts = np.array([np.bincount(die[which & (flag == f)], minlength=6) for f in (0, 1)])
        return stats.chi2_contingency(counts[:, counts.sum(axis=0) > 20]).pvalue

    assert p_value(np.ones(N, bool)) < 1e-12
    assert all(p_value(clusters == k) > 1e-3 for k in range(3))


def test_records_come_in_random_order():
    _, clusters = fit().sample_clusters(N, random_state=0)
    halves = [np.bincount(half, minlength=3) for half in np.array_split(clusters, 2)]
    assert stats.chi2_contingency(halves).pvalue > 1e-3
    runs = 1 + np.count_nonzero(np.diff(clusters))
    assert runs > N / 2


def test_a_model_of_what_it_drew_is_the_same_model():
    truth = fit()
    table, clusters = truth.sample_clusters(N, random_state=0)
    assert truth.score(table) == pytest.approx(
        NaiveBayesMixture(3, random_state=0).fit(table).score(table), abs=0.01
    )
    assert np.mean(truth.predict(table) == clusters) == pytest.approx(
        truth.predict_proba(table).max(axis=1).mean(), abs=0.01
    )


def test_random_state():
    mix = fit()
    one, two = (mix.sample_clusters(50, random_state=0) for _ in range(2))
    assert_identical(one[1], two[1])
    assert_identical(one[0].values, two[0].values)
    assert_identical(mix.sample(50, random_state=0).values, one[0].values)
    rng = np.random.default_rng(0)
    one, two = (mix.sample(50, random_state=rng) for _ in range(2))
    assert one.values.tobytes() != two.values.tobytes()


def test_few_records():
    mix = fit()
    assert mix.sample().n_records == 1
    table, clusters = mix.sample_clusters(2)
    assert table.n_records == len(clusters) == 2
    assert mix.predict(table).shape == (2,)


def test_many_columns_stay_sparse():
    table = tacit.datasets.make_mixture(2000, 500, 8000, n_clusters=3, random_state=0)
    drawn = NaiveBayesMixture(3, prior=1, random_state=0).fit(table).sample(4000, random_state=0)
    assert drawn.n_stored == pytest.approx(2 * table.n_stored, rel=0.05)


def test_nothing_but_one_label():
    table = NaiveBayesMixture(1).fit(Table({"a": [3, 3, 3]})).sample(5)
    assert table.to_frame()["a"].to_list() == [3] * 5


@pytest.mark.parametrize("wrong", [0, -1, 2.0, None, True])
def test_refuses(wrong):
    with pytest.raises(InputError, match="n must be a whole number of at least 1"):
        NaiveBayesMixture(1).fit([[0, 1]]).sample(wrong)
