"""What KMeans finds: beside scikit-learn, and whatever must not matter."""

from __future__ import annotations

import logging

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn import cluster
from sklearn.preprocessing import OneHotEncoder

import tacit
from support.kmeans_data import ALGORITHMS, blobs, days, dense_of, fit_quietly, one_hot, sparse_rows
from support.strategies import assert_identical, data, defaults_of
from tacit import KMeans


@pytest.fixture(scope="module")
def table():
    return tacit.Table(days())


class TestAgainstScikitLearn:
    @pytest.mark.parametrize("algorithm", ALGORITHMS)
    @pytest.mark.parametrize(
        "X",
        [
            blobs(),
            blobs(k=2, spread=2.0, seed=1) + 50,
            blobs().astype(np.float32),
            sparse_rows(),
            sparse_rows(kind=np.float32),
            (sparse_rows(seed=3) != 0).astype(np.float64),
        ],
        ids=["dense", "far", "single", "sparse", "sparse single", "ones"],
    )
    @pytest.mark.parametrize("k", [1, 2, 9, 40])
    def test_same_start_same_end(self, X, k, algorithm):
        start = dense_of(X[:k])
        peer = cluster.KMeans(k, init=start, n_init=1, tol=0).fit(X)
        ours = KMeans(k, init=start, tol=0, algorithm=algorithm).fit(X)
        np.testing.assert_array_equal(ours.labels_, peer.labels_)
        assert ours.inertia_ == pytest.approx(peer.inertia_, rel=1e-6)
        np.testing.assert_allclose(ours.cluster_centers_, peer.cluster_centers_, atol=1e-5)
        np.testing.assert_allclose(ours.transform(X), peer.transform(X), atol=2e-5)
        assert ours.score(X) == pytest.approx(-ours.inertia_)
        np.testing.assert_array_equal(ours.predict(X), ours.labels_)

    @pytest.mark.parametrize("algorithm", ALGORITHMS)
    @pytest.mark.parametrize(
        "X",
        [np.random.default_rng(0).normal(size=(300, 5)), blobs(spread=2.0), sparse_rows(300, 12)],
        ids=["one heap", "blobs", "sparse"],
    )
    def test_the_scale_of_numbers_does_not_matter(self, X, algorithm):
        start = dense_of(X[:4])
        expected = cluster.KMeans(4, init=start, n_init=1, tol=0).fit(X)
        for convert in (lambda X: X, sparse.csr_array):
            for power in (-100, -45, -40, -31, -28, -25, -22, -20, -15, -8, 8, 15, 20, 30, 45, 100):
                scale = float(f"1e{power}")
                scaled = convert(X * scale)
                ours = KMeans(4, init=start * scale, tol=0, algorithm=algorithm).fit(scaled)
                np.testing.assert_array_equal(ours.labels_, expected.labels_, err_msg=str(scale))
                assert ours.inertia_ == pytest.approx(expected.inertia_ * scale**2, rel=1e-9, abs=0)
                np.testing.assert_array_equal(ours.predict(scaled), expected.labels_)

    @pytest.mark.parametrize("scale", [1e-42, 1e-38, 1e-30, 1e-20, 1e15, 1e30])
    def test_the_scale_of_single_precision_does_not_matter(self, scale):
        X = (blobs(spread=0.5) * scale).astype(np.float32)
        start = X[:4].astype(np.float64)
        exact = KMeans(4, init=start / scale, tol=0).fit(X.astype(np.float64) / scale)
        ours = KMeans(4, init=start, tol=0).fit(X)
        np.testing.assert_array_equal(ours.labels_, exact.labels_)

    @pytest.mark.parametrize("scale", [1e-60, 1e-30, 1e-18, 1e18, 1e30, 1e60])
    def test_records_on_another_scale_than_the_centres(self, scale):
        X = blobs()
        model = KMeans(4, init=X[:4], tol=0).fit(X)
        for own in (X * scale, sparse.csr_array(X * scale)):
            expected = ((dense_of(own)[:, None] - model.cluster_centers_) ** 2).sum(axis=2)
            far = np.sqrt(expected[np.arange(len(X)), model.predict(own)])
            np.testing.assert_allclose(far, np.sqrt(expected.min(axis=1)), rtol=1e-12)

    def test_weights(self):
        X, weights = blobs(), np.random.default_rng(1).random(400)
        weights[::7] = 0
        start = X[:5]
        peer = cluster.KMeans(5, init=start, n_init=1, tol=0).fit(X, sample_weight=weights)
        ours = KMeans(5, init=start, tol=0).fit(X, sample_weight=weights)
        np.testing.assert_array_equal(ours.labels_, peer.labels_)
        assert ours.inertia_ == pytest.approx(peer.inertia_, rel=1e-9)
        assert ours.score(X, sample_weight=weights) == pytest.approx(-ours.inertia_)

    def test_same_seeds(self):
        X = sparse_rows()
        for seed in range(3):
            peer = cluster.KMeans(6, random_state=seed, tol=0).fit(X)
            ours = KMeans(6, random_state=seed, tol=0).fit(X)
            assert ours.inertia_ == pytest.approx(peer.inertia_, rel=1e-9)

    def test_tolerance(self):
        X = blobs(2000, k=8, spread=1.5)
        for tol in (1e-1, 1e-2, 1e-3):
            peer = cluster.KMeans(8, init=X[:8], n_init=1, tol=tol).fit(X)
            ours = KMeans(8, init=X[:8], tol=tol).fit(X)
            assert ours.n_iter_ == peer.n_iter_
            assert ours.inertia_ == pytest.approx(peer.inertia_, rel=1e-9)
        few = KMeans(8, init=X[:8], max_iter=2).fit(X)
        assert few.n_iter_ == 2
        np.testing.assert_array_equal(few.predict(X), few.labels_)

    def test_table_is_one_hot(self, table):
        X = one_hot(table)
        start = np.random.default_rng(0).random((4, 10))  # of records there would be ties
        peer = cluster.KMeans(4, init=start, n_init=1, tol=0).fit(X)
        ours = KMeans(4, init=start, tol=0).fit(table)
        np.testing.assert_array_equal(ours.labels_, peer.labels_)
        assert ours.inertia_ == pytest.approx(peer.inertia_, rel=1e-9)
        np.testing.assert_allclose(ours.cluster_centers_, peer.cluster_centers_, atol=1e-12)
        np.testing.assert_allclose(ours.transform(table), peer.transform(X), atol=1e-7)
        encoder = OneHotEncoder(sparse_output=True).fit(table.to_numpy())
        again = KMeans(4, init=start, tol=0).fit(encoder.transform(table.to_numpy()))
        np.testing.assert_array_equal(again.labels_, ours.labels_)

    def test_empty_clusters_get_far_records(self, caplog):
        X = blobs(k=5, spread=0.1)
        start = np.vstack((X[:1], np.full((4, 5), 1e3) + np.arange(4)[:, None]))
        peer = cluster.KMeans(5, init=start, n_init=1, tol=0).fit(X)
        with caplog.at_level(logging.INFO, logger="tacit"):
            ours = KMeans(5, init=start, tol=0).fit(X)
        assert ours.inertia_ == pytest.approx(peer.inertia_, rel=1e-9)
        assert len(set(ours.labels_.tolist())) == 5
        assert "4 of 5 clusters have no members" in caplog.text


class TestInvariants:
    @given(d=data(max_rows=20, max_columns=5, with_chosen=False), pick=st.data())
    @settings(max_examples=40)
    def test_defaults_do_not_matter(self, d, pick):
        if d.weights is not None and np.count_nonzero(d.weights) < 2:
            d = d.with_(weights=None)
        if len(d.rows) < 2:
            return
        other = d.with_(defaults=pick.draw(defaults_of(d.arities)))
        weighty = len(d.rows) if d.weights is None else int(np.count_nonzero(d.weights))
        k = pick.draw(st.integers(1, min(4, weighty)))
        start = one_hot(d.table())[:k]
        results = []
        for own in (d, other):
            for algorithm in ("lloyd", "bounds"):
                model = fit_quietly(KMeans(k, init=start, algorithm=algorithm), own.table())
                results.append(model)
        first = results[0]
        for model in results[1:]:
            np.testing.assert_array_equal(model.labels_, first.labels_)
            np.testing.assert_allclose(model.cluster_centers_, first.cluster_centers_, atol=1e-12)
            assert model.inertia_ == pytest.approx(first.inertia_, abs=1e-9)
        dense = one_hot(d.table())
        distances = np.square(dense[:, None] - first.cluster_centers_[None]).sum(axis=2)
        weights = np.ones(len(dense)) if d.weights is None else d.weights
        assert first.inertia_ == pytest.approx((weights * distances.min(axis=1)).sum(), abs=1e-9)

    @pytest.mark.parametrize("algorithm", ALGORITHMS)
    def test_threads_do_not_matter(self, algorithm):
        X, weights = sparse_rows(20_000, 60), np.random.default_rng(0).random(20_000)
        models = [
            KMeans(9, random_state=0, n_jobs=jobs, algorithm=algorithm).fit(X, None, weights)
            for jobs in (1, 2, 5)
        ]
        for model in models[1:]:
            assert_identical(model.labels_, models[0].labels_)
            assert_identical(model.cluster_centers_, models[0].cluster_centers_)
            assert model.inertia_ == models[0].inertia_

    @pytest.mark.parametrize("X", [blobs(3000, 3, 12), sparse_rows(3000, 80)])
    def test_bounds_do_not_matter(self, X):
        plain, bounded, chosen = (
            KMeans(15, random_state=1, tol=0, algorithm=algorithm).fit(X)
            for algorithm in ALGORITHMS
        )
        for model in (bounded, chosen):
            assert_identical(model.labels_, plain.labels_)
            assert model.n_iter_ == plain.n_iter_
            np.testing.assert_allclose(model.cluster_centers_, plain.cluster_centers_, atol=1e-12)

    def test_a_weight_is_so_many_records(self, table):
        weights = np.arange(300) % 3
        X = sparse_rows(300)
        for rows, repeated in (
            (table, tacit.Table(table.to_frame()[np.repeat(np.arange(300), weights)])),
            (X, X[np.repeat(np.arange(300), weights)]),
        ):
            one = KMeans(4, random_state=0).fit(rows, sample_weight=weights)
            two = KMeans(4, random_state=0).fit(repeated)
            np.testing.assert_allclose(one.cluster_centers_, two.cluster_centers_, atol=1e-12)
            assert one.inertia_ == pytest.approx(two.inertia_, rel=1e-12)
            assert one.sizes_.tolist() == two.sizes_.tolist()
            np.testing.assert_array_equal(np.repeat(one.labels_, weights), two.labels_)
            assert one.n_iter_ == two.n_iter_

    def test_weights_of_a_table(self, table):
        weights = np.random.default_rng(0).random(300)
        one = KMeans(3, random_state=0).fit(table, sample_weight=weights)
        two = KMeans(3, random_state=0).fit(table.with_weights(weights))
        assert one.inertia_ == two.inertia_
        assert one.sizes_.sum() == pytest.approx(weights.sum())

    def test_rounding_errors_of_weights_are_no_cluster(self):
        # The second cluster's records all go to those without members; 0.1 + 0.2 + 0.3 - 0.3 - 0.2
        # - 0.1 is not 0.
        X = np.array([[0.0, 1.0]] * 4 + [[10.0, 1.0], [20.0, 1.0], [31.0, 1.0]])
        weights = np.array([1.0, 1.0, 1.0, 1.0, 0.1, 0.2, 0.3])
        start = np.array([[0.0, 1.0], [9.0, 1.0], [-900.0, 1.0], [-901.0, 1.0], [-902.0, 1.0]])
        for own in (X, sparse.csr_array(X)):
            model = fit_quietly(KMeans(5, init=start, max_iter=1), own, sample_weight=weights)
            expected = [0.0, 0.0, 31.0, 20.0, 10.0]
            np.testing.assert_allclose(model.cluster_centers_[:, 0], expected, atol=1e-12)

    def test_incremental_sums_stay_exact(self):
        X = sparse.csr_array(blobs(4000, 4, 5, spread=3))
        model = KMeans(9, random_state=0, tol=0).fit(X)
        assert model.n_iter_ > 40
        means = np.array([dense_of(X)[model.labels_ == k].mean(axis=0) for k in range(9)])
        np.testing.assert_allclose(model.cluster_centers_, means, atol=1e-13)

    def test_more_restarts_are_no_worse(self):
        X = blobs(k=9, spread=0.3)
        once = KMeans(9, init="random", n_init=1, random_state=3).fit(X)
        often = KMeans(9, init="random", n_init=8, random_state=3).fit(X)
        assert often.inertia_ <= once.inertia_
        auto = KMeans(9, init="random", random_state=3).fit(X)
        assert auto.inertia_ <= often.inertia_

    def test_seeding_prefers_records_far_apart(self):
        X = blobs(2000, k=12, spread=0.1)
        good = [KMeans(12, random_state=s, max_iter=1).fit(X).inertia_ for s in range(8)]
        some = [
            KMeans(12, init="random", n_init=1, random_state=s, max_iter=1).fit(X).inertia_
            for s in range(8)
        ]
        assert np.median(good) < 0.2 * np.median(some)
