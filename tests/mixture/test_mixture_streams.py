"""Mixtures that go on: warm starts, and streams of batches."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import adjusted_rand_score

import tacit
from support.strategies import assert_identical
from tacit import InputError, NaiveBayesMixture, Table


@pytest.fixture(scope="module")
def table():
    return tacit.datasets.make_mixture(6000, 40, 24_000, n_clusters=4, random_state=0)


class TestWarmStart:
    def test_it_goes_on_where_it_was(self, table):
        mix = NaiveBayesMixture(4, prior=1, warm_start=True, max_iter=6, random_state=0).fit(table)
        ends, schema = [mix.trace_[-1]], mix.schema_
        assert not mix.converged_
        for _ in range(60):
            mix.fit(table)
            assert mix.trace_[0] >= ends[-1] - 1e-9 * abs(ends[-1])
            assert mix.n_iter_ == len(mix.trace_) <= 6
            ends.append(mix.trace_[-1])
            if mix.converged_:
                break
        assert mix.converged_
        assert len(ends) > 2
        assert mix.schema_ == schema
        assert (mix.labels_ == mix.predict(table)).all()

    def test_without_it_a_fit_starts_anew(self, table):
        mix = NaiveBayesMixture(4, max_iter=8, random_state=0).fit(table)
        first = mix.trace_.tolist()
        assert mix.fit(table).trace_.tolist() == first

    def test_other_records_under_the_same_schema(self, table):
        mix = NaiveBayesMixture(4, warm_start=True, random_state=0).fit(table.take(range(3000)))
        schema = mix.schema_
        other = table.with_defaults(True).take(np.arange(3000, 6000))
        mix.fit(other)
        assert mix.schema_ == schema
        assert mix.expected_.weight == 3000
        assert mix.log_likelihood_ == pytest.approx(mix.score(other) * 3000, rel=1e-12)

    def test_bins_stay_where_they_were(self):
        rng = np.random.default_rng(0)
        mix = NaiveBayesMixture(2, discretise=3, warm_start=True, random_state=0)
        mix.fit(rng.random((100, 3)))
        schema = mix.schema_
        mix.fit(2 * rng.random((100, 3)))
        assert mix.schema_ == schema
        assert mix.predict(rng.random((5, 3))).shape == (5,)

    def test_weights(self, table):
        mix = NaiveBayesMixture(4, warm_start=True, random_state=0).fit(table)
        mix.fit(table, sample_weight=np.full(6000, 0.5))
        assert mix.expected_.weight == 3000

    def test_another_number_of_clusters_is_refused(self, table):
        mix = NaiveBayesMixture(4, warm_start=True, random_state=0).fit(table)
        before = mix.trace_
        with pytest.raises(InputError, match="n_clusters=3, but warm_start goes on with 4 cluster"):
            mix.set_params(n_clusters=3).fit(table)
        assert mix.trace_ is before

    def test_other_columns_are_refused(self, table):
        mix = NaiveBayesMixture(4, warm_start=True, random_state=0).fit(table)
        rest = table.select(table.schema.names[1:])
        with pytest.raises(InputError, match="'column 0'"):
            mix.set_params(absent="error").fit(rest)
        assert mix.n_features_in_ == 40
        # By default, what a log does not name is not there.
        assert mix.set_params(absent=None).fit(rest).probabilities(0)[1].max() < 0.01


class TestPartialFit:
    def test_a_stream_approaches_a_fit(self, table):
        train, test = table.take(np.arange(5000)), table.take(np.arange(5000, 6000))
        whole = NaiveBayesMixture(4, random_state=0).fit(train)
        one = NaiveBayesMixture(1).fit(train)
        stream = NaiveBayesMixture(4, random_state=0)
        scores = []
        for epoch in range(3):
            for k in range(10):
                stream.partial_fit(train.take(np.arange(500 * k, 500 * (k + 1))))
            scores.append(stream.score(test))
            assert stream.expected_.weight == pytest.approx(5000 * (epoch + 1))
        better = whole.score(test) - one.score(test)
        assert better > 0.3
        assert scores[-1] > whole.score(test) - 0.1 * better
        assert scores[-1] > scores[0] - 0.02 * better

    def test_clusters_are_found(self):
        rng = np.random.default_rng(0)
        wanted, clusters = rng.integers(0, 3, (3, 10)), rng.integers(0, 3, 3000)
        noise = rng.integers(0, 3, (3000, 10))
        X = np.where(rng.random((3000, 10)) < 0.8, wanted[clusters], noise)
        mix = NaiveBayesMixture(3, random_state=0)
        for part in np.array_split(X, 15):
            mix.partial_fit(part)
        assert adjusted_rand_score(clusters, mix.predict(X)) > 0.95
        for c in range(10):
            np.testing.assert_allclose(mix.probabilities(c).sum(axis=0), 1)
        assert (np.diff(mix.expected_.totals) <= 0).all()
        assert mix.expected_.totals.sum() == pytest.approx(3000)
        assert mix.weights_.sum() == pytest.approx(1)

    def test_the_first_batch_is_a_fit(self, table):
        one = NaiveBayesMixture(4, random_state=0).partial_fit(table)
        two = NaiveBayesMixture(4, random_state=0).fit(table)
        assert one.trace_.tolist() == two.trace_.tolist()
        assert_identical(one.predict_proba(table), two.predict_proba(table))
        assert one.feature_names_in_.tolist() == list(table.schema.names)

    def test_one_step_by_hand(self, table):
        """Expected counts of the batch are mixed in with a weight of (1 + 2)^-0.7."""
        first, second = table.take(np.arange(4000)), table.take(np.arange(4000, 6000))
        mix = NaiveBayesMixture(4, random_state=0).fit(first)
        rate, before, batch = 3**-0.7, mix.expected_, mix.expected_counts(second)
        cells = 6000 * (
            (1 - rate) * before.cells(table.schema) / 4000 + rate * batch.cells(table.schema) / 2000
        )
        mix.partial_fit(second)
        # Clusters stay in the order of the first batch.
        np.testing.assert_allclose(mix.expected_.cells(table.schema), cells, rtol=1e-9)
        column = table.schema.position("column 3")
        alphas = mix._prior.cells[2 * column : 2 * column + 2, None]
        own = cells[2 * column : 2 * column + 2] + alphas
        np.testing.assert_allclose(mix.probabilities(column), own / own.sum(axis=0), rtol=1e-9)

    def test_a_fit_is_the_first_batch(self, table):
        mix = NaiveBayesMixture(4, random_state=0).fit(table)
        assert mix.labels_.shape == (6000,)
        passes = mix.n_iter_
        mix.partial_fit(table.take(np.arange(100)))
        assert mix.n_iter_ == passes + 1
        assert not hasattr(mix, "labels_")  # those of the fit are no longer right
        assert mix.expected_.weight == pytest.approx(6100)
        mix.fit(table)
        assert mix.expected_.weight == 6000
        assert mix.n_iter_ == passes

    def test_weights_and_batches_of_other_forms(self):
        frame = pl.DataFrame({"a": ["x", "y", "x", "z"] * 5, "b": [0, 1, 0, 1] * 5})
        mix = NaiveBayesMixture(2, random_state=0).partial_fit(frame)
        mix.partial_fit(frame[:2], sample_weight=[2, 3])
        assert mix.expected_.weight == pytest.approx(25)
        mix.partial_fit(Table(frame[:3]))
        assert mix.expected_.weight == pytest.approx(28)

    def test_refuses(self, table):
        with pytest.raises(InputError, match="n_clusters must be a whole number"):
            NaiveBayesMixture("auto").partial_fit(table)
        mix = NaiveBayesMixture(4, random_state=0).partial_fit(table)
        before = mix.expected_
        with pytest.raises(InputError, match="all weights are zero"):
            mix.partial_fit(table, sample_weight=np.zeros(6000))
        strange = Table({name: ["what"] * 3 for name in table.schema.names}, defaults="what")
        with pytest.raises(InputError, match="'what'"):
            mix.partial_fit(strange)
        assert mix.expected_ is before


def test_a_failed_fit_leaves_what_was(table):
    mix = NaiveBayesMixture(4, random_state=0).fit(table)
    before = mix.predict_proba(table)
    with pytest.raises(InputError):
        mix.set_params(n_clusters=99).fit(np.ones((3, 2), int))
    assert mix.n_features_in_ == 40
    assert mix.feature_names_in_.tolist() == list(table.schema.names)
    assert_identical(mix.predict_proba(table), before)


def test_an_interrupted_fit_leaves_what_was(table, monkeypatch):
    mix = NaiveBayesMixture(4, random_state=0).fit(table)
    before = dict(mix.__dict__)

    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("tacit.mixture.em.iterations._core.em_step", interrupt)
    for method in (mix.fit, mix.partial_fit):
        with pytest.raises(KeyboardInterrupt):
            method(np.eye(9, dtype=int) if method == mix.fit else table)
        assert mix.__dict__.keys() == before.keys()
        assert all(mix.__dict__[name] is before[name] for name in before)
