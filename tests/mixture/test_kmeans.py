"""KMeans as a scikit-learn estimator: what it finds, what it takes, what it refuses."""

from __future__ import annotations

import logging
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn import cluster
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.estimator_checks import parametrize_with_checks

import tacit
from scripts import run
from strategies import assert_identical, data, defaults_of
from tacit import FileError, InputError, KMeans

ALGORITHMS = ("lloyd", "bounds", "auto")


SEEDS = "the check shuffles records, and which ones are drawn as seeds depends on their order"
EXPECTED = {
    "check_sample_weight_equivalence_on_dense_data": SEEDS,
    "check_sample_weight_equivalence_on_sparse_data": SEEDS,
}


@parametrize_with_checks([KMeans(3)], expected_failed_checks=lambda estimator: EXPECTED)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def blobs(m=400, n=5, k=6, seed=0, spread=0.6):
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(k, n)) * 3
    return centres[rng.integers(0, k, m)] + spread * rng.normal(size=(m, n))


def sparse_rows(m=500, n=40, seed=0, kind=np.float64):
    rng = np.random.default_rng(seed)
    dense = rng.normal(size=(m, n)) * (rng.random((m, n)) < 0.15)
    return sparse.csr_array(dense.astype(kind))


def dense_of(X):
    return X.toarray() if sparse.issparse(X) else np.asarray(X)


@pytest.fixture(scope="module")
def frame():
    """Three kinds of days."""
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 3, 300)
    noise = rng.random((300, 4)) < 0.1
    return pl.DataFrame(
        {
            "sky": np.array(["blue", "grey", "white"])[(kind + noise[:, 0]) % 3],
            "rain": (kind == 1) != noise[:, 1],
            "wind": np.array(["none", "some", "storm"])[np.where(noise[:, 2], 2, kind % 2)],
            "snow": (kind == 2) != noise[:, 3],
        }
    )


@pytest.fixture(scope="module")
def table(frame):
    return tacit.Table(frame)


def one_hot(table):
    """Return the coordinates of a Table's records, one for each label, in the order of centres."""
    codes = table.to_numpy()
    return np.hstack([np.eye(a)[codes[:, c]] for c, a in enumerate(table.schema.arities)])


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
        k = pick.draw(st.integers(1, min(4, len(d.rows))))
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


def fit_quietly(model, X, **options):
    """Fit where there may be too few distinct records."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, **options)


class TestInput:
    @pytest.mark.parametrize(
        "convert",
        [
            sparse.csr_array,
            sparse.csc_matrix,
            sparse.coo_array,
            lambda X: sparse.csr_matrix(X).astype(np.float32),
            lambda X: long_indices(sparse.csr_array(X)),
            lambda X: unsorted(sparse.csr_array(X)),
            lambda X: with_zeros(sparse.csr_array(X)),
            lambda X: X,
            np.asfortranarray,
            lambda X: X.tolist(),
            pd.DataFrame,
            lambda X: pl.DataFrame(X).to_arrow(),
        ],
    )
    def test_any_container(self, convert):
        X = np.round(dense_of(sparse_rows(200, 12)) * 4) / 4
        expected = KMeans(5, init=X[:5]).fit(sparse.csr_array(X))
        given = convert(X)
        model = KMeans(5, init=X[:5]).fit(given)
        np.testing.assert_array_equal(model.labels_, expected.labels_)
        assert model.inertia_ == pytest.approx(expected.inertia_, rel=1e-9)
        np.testing.assert_array_equal(model.predict(given), expected.labels_)

    @pytest.mark.parametrize(
        "convert", [lambda f: f, lambda f: f.to_pandas(), lambda f: f.to_arrow()]
    )
    def test_frames_of_numbers(self, convert):
        own = pl.DataFrame(blobs(), schema=list("abcde")).with_columns(f=pl.col("a") > 0)
        model = KMeans(3, random_state=0).fit(convert(own))
        assert model.feature_names_in_.tolist() == list("abcdef")
        np.testing.assert_array_equal(model.centers("b"), model.cluster_centers_[:, 1])
        np.testing.assert_array_equal(model.predict(convert(own)), model.labels_)
        with pytest.raises(ValueError, match="feature names"):
            model.predict(convert(own.rename({"a": "z"})))

    def test_integers_and_booleans(self):
        X = (blobs() > 0).astype(np.int8)
        model = fit_quietly(KMeans(4, random_state=0), X)
        other = fit_quietly(KMeans(4, random_state=0), sparse.csr_array(X.astype(bool)))
        assert other.inertia_ == pytest.approx(model.inertia_, rel=1e-9)

    def test_numbers_far_from_zero(self):
        X = blobs(spread=0.1)
        near, far = (KMeans(6, init=X[:6] + c).fit(X + c) for c in (0.0, 1e7))
        np.testing.assert_array_equal(near.labels_, far.labels_)
        assert far.inertia_ == pytest.approx(near.inertia_, rel=1e-6)
        np.testing.assert_array_equal(far.predict(X + 1e7), far.labels_)

    def test_empty_records_are_data(self):
        dense = dense_of(sparse_rows(100, 10))
        dense[::2] = 0
        X = sparse.csr_array(dense)
        model = KMeans(3, random_state=0).fit(X)
        assert len(set(model.labels_[::2].tolist())) == 1
        assert model.inertia_ == pytest.approx(KMeans(3, random_state=0).fit(X.toarray()).inertia_)

    def test_columns_of_one_value(self, frame):
        same = frame.with_columns(same=pl.lit("x"))
        model = KMeans(3, random_state=0).fit(tacit.Table(same))
        assert model.centers("same").tolist() == [[1.0]] * 3
        assert model.inertia_ == KMeans(3, random_state=0).fit(tacit.Table(frame)).inertia_
        alone = fit_quietly(KMeans(1), tacit.Table(same.select("same")))
        assert alone.inertia_ == 0

    def test_predict_a_table_with_other_defaults(self, table):
        model = KMeans(3, random_state=0).fit(table)
        other = table.with_defaults({"sky": "white", "rain": True})
        np.testing.assert_array_equal(model.predict(other), model.labels_)
        np.testing.assert_array_equal(model.predict(table.to_frame()), model.labels_)
        assert model.score(other) == pytest.approx(-model.inertia_)


def long_indices(X):
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


def unsorted(X):
    for r in range(X.shape[0]):
        own = slice(X.indptr[r], X.indptr[r + 1])
        X.indices[own], X.data[own] = X.indices[own][::-1].copy(), X.data[own][::-1].copy()
    X.has_sorted_indices = False
    return X


def with_zeros(X):
    X.data = X.data.copy()
    full = sparse.csr_array(np.ones(X.shape))
    full.data = X.toarray().reshape(-1).copy()
    return full


class TestOutput:
    def test_attributes(self, table):
        model = KMeans(3, random_state=0).fit(table)
        assert model.cluster_centers_.shape == (3, 10)
        assert model.n_features_in_ == 4
        assert model.feature_names_in_.tolist() == ["sky", "rain", "wind", "snow"]
        assert model.schema_ is table.schema
        assert model.get_feature_names_out().tolist() == ["kmeans0", "kmeans1", "kmeans2"]
        assert model.sizes_.sum() == 300
        np.testing.assert_array_equal(model.sizes_, np.bincount(model.labels_))
        sky = np.array(table.to_frame()["sky"])
        expected = [
            [(sky[model.labels_ == k] == x).mean() for x in table.schema["sky"].labels]
            for k in range(3)
        ]
        np.testing.assert_allclose(model.centers("sky"), expected, atol=1e-12)
        np.testing.assert_allclose(model.centers(-4), expected, atol=1e-12)
        with pytest.raises(InputError, match="there is no column 'sun'"):
            model.centers("sun")

    def test_distances_as_frame(self):
        X = blobs()
        model = KMeans(3, random_state=0).set_output(transform="polars").fit(X)
        assert model.transform(X).columns == ["kmeans0", "kmeans1", "kmeans2"]
        plain = make_pipeline(KMeans(3, random_state=0)).fit_transform(X)
        np.testing.assert_allclose(model.transform(X).to_numpy(), plain)

    def test_text(self, table):
        model = KMeans(3, random_state=0).fit(table)
        first, *rest = model.to_text(top=1).splitlines()
        assert first.startswith("3 clusters of 300 records × 4 columns, inertia ")
        assert [line.split(":")[0] for line in rest if line.startswith("cluster")] == [
            f"cluster {k}" for k in np.argsort(-model.sizes_, kind="stable")
        ]
        assert sum(line.startswith("  ") for line in rest) == 3
        k = int(np.argmax(model.sizes_))
        most = table.schema["sky"].labels[int(np.argmax(model.centers("sky")[k]))]
        assert any(f"sky={most} " in line for line in model.to_text(4).splitlines())
        numbers = KMeans(2, random_state=0).fit(blobs())
        assert "x0" in numbers.to_text()
        named = KMeans(2, random_state=0).fit(pd.DataFrame(blobs(), columns=list("abcde")))
        assert "\n  a" in named.to_text()

    def test_repr(self, table):
        model = KMeans(3, random_state=0)
        assert repr(model) == "KMeans(n_clusters=3, random_state=0)"
        model.fit(table)
        assert repr(model).startswith(
            "KMeans(n_clusters=3, random_state=0), fitted to 300 records × 4 columns: inertia "
        )
        assert "\n" not in repr(KMeans(9, init=np.zeros((9, 5))))
        assert "KMeans" in model._repr_html_()

    def test_verbose_goes_to_stderr(self, table, capsys):
        KMeans(3, random_state=0).fit(table)
        assert capsys.readouterr() == ("", "")
        model = KMeans(3, random_state=0, verbose=1).fit(table)
        shown = capsys.readouterr()
        assert shown.out == ""
        assert shown.err.count("start 1, iteration") == model.n_iter_

    def test_clone_and_pickle(self, table):
        model = KMeans(3, random_state=0, init="random", n_init=2).fit(table)
        copy = clone(model)
        assert copy.get_params() == model.get_params()
        assert not hasattr(copy, "labels_")
        again = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(again.predict(table), model.labels_)


class TestFiles:
    def models(self, table):
        X = pd.DataFrame(blobs(), columns=list("abcde"))
        yield KMeans(3, random_state=0).fit(table), table
        yield KMeans(3, random_state=np.random.RandomState(0), n_init=2).fit(X), X
        yield (
            KMeans(np.int64(2), init=blobs()[:2], tol=1e-3, algorithm="lloyd").fit(blobs()),
            blobs(),
        )

    def test_round_trip(self, table, tmp_path):
        path = tmp_path / "model.tacit"
        for model, X in self.models(table):
            model.save(path)
            again = tacit.load(path)
            assert isinstance(again, KMeans)
            np.testing.assert_array_equal(again.predict(X), model.labels_)
            np.testing.assert_array_equal(again.labels_, model.labels_)
            np.testing.assert_array_equal(again.transform(X), model.transform(X))
            assert again.to_text() == model.to_text()
            assert again.inertia_ == model.inertia_
            assert again.n_iter_ == model.n_iter_
            assert again.schema_ == model.schema_
            assert again.get_feature_names_out().tolist() == model.get_feature_names_out().tolist()
            assert set(again.get_params()) == set(model.get_params())
            assert again.tol == model.tol
            again.fit(X)

    def test_damage_is_named(self, table, tmp_path):
        path = tmp_path / "model.tacit"
        model = KMeans(3, random_state=0).fit(table)
        model.save(path)
        _, arrays = tacit.store.read_arrays(path)
        bad = {
            "centers": arrays["centers"][:, :-1],
            "sizes": arrays["sizes"][:2],
            "labels": arrays["labels"] + 1,
            "settings": arrays["settings"][:-3],
            "schema": arrays["schema"][:-3],
        }
        for name, array in bad.items():
            tacit.store.write_arrays(path, "kmeans", arrays | {name: array})
            with pytest.raises(FileError, match="is damaged"):
                tacit.load(path)
            left = {key: value for key, value in arrays.items() if key != name}
            tacit.store.write_arrays(path, "kmeans", left)
            with pytest.raises(FileError, match="is damaged"):
                tacit.load(path)

    def test_unfitted(self, tmp_path):
        with pytest.raises(NotFittedError):
            KMeans(2).save(tmp_path / "model.tacit")


class TestRefuses:
    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"n_clusters": 0}, "n_clusters must be a whole number of at least 1, got 0"),
            ({"n_clusters": 2.5}, "n_clusters must be a whole number"),
            ({"n_clusters": 401}, "n_clusters=401, but there are only n_samples=400 records"),
            ({"max_iter": 0}, "max_iter must be"),
            ({"n_init": 0}, "n_init must be"),
            ({"n_init": "often"}, "n_init must be 'auto' or a whole number"),
            ({"tol": -1}, "tol must be a number of at least 0"),
            ({"tol": np.nan}, "tol must be a number of at least 0"),
            ({"tol": "little"}, "tol must be a number of at least 0"),
            ({"algorithm": "elkan"}, "algorithm must be one of"),
            ({"init": "best"}, "init must be 'k-means"),
            ({"init": [[1, 2]]}, r"init must have shape \(3, 5\), got \(1, 2\)"),
            ({"init": np.full((3, 5), np.nan)}, "init contains NaN or inf"),
            ({"init": object()}, "init must be 'k-means"),
            ({"n_jobs": 0}, "n_jobs must be"),
            ({"random_state": "x"}, "cannot be used to seed"),
        ],
    )
    def test_arguments(self, options, message):
        with pytest.raises(ValueError, match=message):
            KMeans(**{"n_clusters": 3} | options).fit(blobs())

    @pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
    @pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array, pd.DataFrame])
    def test_what_is_no_number(self, wrong, convert):
        X = blobs()
        X[3, 1] = wrong
        with pytest.raises(InputError, match=f"X contains NaN or inf: {wrong} at row 3, column 1"):
            KMeans(2).fit(convert(X))

    def test_weights(self, table):
        X = blobs()
        for weights, message in (
            (np.full(400, np.nan), "sample_weight: weights must be finite"),
            (np.full(400, -1.0), "sample_weight: weights must be finite and not negative"),
            (np.zeros(400), "sample_weight: all weights are zero"),
            (np.arange(400) < 2, "n_clusters=3, but only 2 records"),
            (np.ones(3), "sample_weight: weights must have shape"),
        ):
            with pytest.raises(InputError, match=message):
                KMeans(3).fit(X, sample_weight=weights)
        with pytest.raises(InputError, match="the Table has weights already"):
            KMeans(3).fit(table.with_weights(np.ones(300)), sample_weight=np.ones(300))

    def test_too_few_distinct_records(self, table):
        X = np.repeat(blobs(4), 25, axis=0)
        for rows in (X, sparse.csr_array(X), table.take(np.repeat([True, False], [2, 298]))):
            with pytest.raises(InputError, match="n_clusters=101"):
                KMeans(101).fit(rows)
        for init in ("k-means++", "random"):
            for algorithm in ALGORITHMS:
                model = KMeans(6, init=init, random_state=0, algorithm=algorithm)
                with pytest.warns(ConvergenceWarning, match="4 distinct clusters were found"):
                    model.fit(X)
                assert model.inertia_ == pytest.approx(0, abs=1e-9)
                assert len(set(model.labels_.tolist())) == 4

    def test_other_columns_or_labels(self, table, frame):
        model = KMeans(3, random_state=0).fit(table)
        for other, message in (
            (frame.drop("rain"), "X: there is no column 'rain', which the model knows"),
            (frame.with_columns(sun=1), "X: the model does not know the column 'sun'"),
            (frame.select(reversed(frame.columns)), "X: the columns are in another order"),
            (
                frame.with_columns(sky=pl.lit("black")),
                "X: column 'sky' has the label 'black', which the model does not know",
            ),
            (frame.filter(sky="blue"), "X: column 'sky' has fewer labels"),
        ):
            with pytest.raises(InputError, match=message):
                model.predict(tacit.Table(other))

    def test_tables_and_numbers_do_not_mix(self, table):
        with pytest.raises(InputError, match="X is a Table, but the model was fitted to numbers"):
            KMeans(2, random_state=0).fit(blobs()).predict(table)
        with pytest.raises(
            InputError, match="column 'sky' holds String, not numbers; make a tacit"
        ):
            KMeans(2).fit(table.to_frame())

    def test_numbers_that_cannot_be_squared(self):
        with pytest.raises(InputError, match="X: numbers are too large to be squared"):
            KMeans(2).fit(sparse.csr_array(np.diag([1e200, 1.0, 2.0, 3.0])))

    def test_unfitted(self, table):
        for use in (
            lambda m: m.predict(table),
            lambda m: m.transform(table),
            lambda m: m.score(table),
            lambda m: m.to_text(),
            lambda m: m.centers("sky"),
        ):
            with pytest.raises(NotFittedError):
                use(KMeans(2))

    def test_a_failed_fit_leaves_what_was(self, table):
        model = KMeans(3, random_state=0).fit(table)
        before = model.labels_
        with pytest.raises(InputError):
            model.set_params(n_clusters=1000).fit(table)
        assert model.labels_ is before
        with pytest.raises(InputError):
            model.fit(pd.DataFrame(blobs(), columns=list("abcde")))
        assert model.feature_names_in_.tolist() == list(table.schema.names)
        np.testing.assert_array_equal(model.predict(table), before)

    def test_centres_beyond_any_memory(self):
        rng = np.random.default_rng(0)
        X = sparse.random_array((3000, 2**30), density=1e-9, format="csr", rng=rng)
        with pytest.raises(InputError, match="2,000 centres would take"):
            KMeans(2000).fit(X)


INTERRUPT = """
    import os, signal, threading, time
    import numpy as np
    from tacit import KMeans
    from scipy import sparse

    X = sparse.random_array((200_000, 300), density=0.1, rng=np.random.default_rng(0)).tocsr()
    model = KMeans(200, random_state=0, max_iter=100_000, tol=0, n_jobs={jobs})
    threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
    start = time.monotonic()
    try:
        model.fit(X)
    except KeyboardInterrupt:
        print("interrupted", time.monotonic() - start)
    assert not hasattr(model, "labels_")
"""


@pytest.mark.parametrize("jobs", [1, 2])
def test_ctrl_c_ends_a_fit_early(jobs):
    outcome, seconds = run(INTERRUPT.format(jobs=jobs))
    assert outcome == "interrupted"
    assert float(seconds) < 10  # the whole fit takes minutes
