"""KMeans as a scikit-learn estimator: what it takes, what it gives, what it refuses."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import tacit
from support.kmeans_data import ALGORITHMS, blobs, days, dense_of, fit_quietly, sparse_rows
from support.scripts import run_interrupted
from tacit import FileError, InputError, KMeans

SEEDS = "the check shuffles records, and which ones are drawn as seeds depends on their order"
EXPECTED = {
    "check_sample_weight_equivalence_on_dense_data": SEEDS,
    "check_sample_weight_equivalence_on_sparse_data": SEEDS,
}


@parametrize_with_checks([KMeans(3)], expected_failed_checks=lambda estimator: EXPECTED)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def frame():
    return days()


@pytest.fixture(scope="module")
def table(frame):
    return tacit.Table(frame)


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

    @pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array, sparse.csc_matrix])
    @pytest.mark.parametrize("shift", [1e6, 1e7, 1e8])
    @pytest.mark.parametrize("spread", [0.1, 2.0])
    def test_numbers_far_from_zero(self, spread, shift, convert):
        X = blobs(spread=spread)
        near = KMeans(6, init=X[:6], tol=0).fit(X)
        moved = convert(X + shift)
        far = KMeans(6, init=X[:6] + shift, tol=0).fit(moved)
        np.testing.assert_array_equal(near.labels_, far.labels_)
        assert far.inertia_ == pytest.approx(near.inertia_, rel=1e-5)
        np.testing.assert_array_equal(far.predict(moved), far.labels_)

    def test_some_zeros_do_not_keep_sparse_numbers_from_being_centred(self):
        X = blobs() + 1e7
        X[:, 1] = np.arange(400) % 2
        X[::3, 2:4] = 0
        near, far = (KMeans(6, init=X[:6]).fit(own) for own in (X, sparse.csr_array(X)))
        np.testing.assert_array_equal(near.labels_, far.labels_)
        assert far.inertia_ == near.inertia_

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

    def test_clusters_of_a_table_are_shown_by_their_profile(self, table):
        model = KMeans(3, tol=0, random_state=0).fit(table)
        counted = model.profile(table).to_frame()
        frame = model.to_frame()
        assert frame.columns == counted.columns
        for name in ("size", "probability", "overall", "lift"):  # centres are means of members
            np.testing.assert_allclose(frame[name], counted[name], rtol=1e-9, atol=1e-12)
        assert "3 clusters of 300 records" in model.to_html("Days")
        assert len(model.plot(top=1).images) == 1

    def test_clusters_of_numbers_as_a_frame(self):
        X = pd.DataFrame(blobs(), columns=list("abcde"))
        model = KMeans(2, tol=0, random_state=0).fit(X)
        frame = model.to_frame()
        assert frame.columns == ["cluster", "size", "column", "center", "overall"]
        assert frame["column"].to_list() == list("abcde") * 2
        np.testing.assert_array_equal(frame["center"], model.cluster_centers_.ravel())
        np.testing.assert_allclose(frame["overall"][:5], X.mean())
        for show in (model.plot, model.to_html):
            with pytest.raises(InputError, match="fitted to numbers"):
                show()

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
            np.testing.assert_array_equal(again.transform(X), model.transform(X))
            assert repr(again).split("fitted to")[1] == repr(model).split("fitted to")[1]
            assert again.to_text() == model.to_text()
            assert again.inertia_ == model.inertia_
            assert again.n_iter_ == model.n_iter_
            assert again.schema_ == model.schema_
            assert again.get_feature_names_out().tolist() == model.get_feature_names_out().tolist()
            assert set(again.get_params()) == set(model.get_params())
            assert again.tol == model.tol
            again.fit(X)

    def test_no_trace_of_single_records(self, tmp_path):
        X, path = blobs(), tmp_path / "model.tacit"
        KMeans(2, init=X[:2], random_state=0).fit(X).save(path)
        _, arrays = tacit.store.read_arrays(path)
        assert {name: array.size for name, array in arrays.items() if name != "settings"} == {
            "centers": 10,
            "sizes": 2,
        }
        again = tacit.load(path)
        assert again.init == "k-means++"
        assert not hasattr(again, "labels_")
        assert again.fit(X).labels_.shape == (400,)

    def test_damage_is_named(self, table, tmp_path):
        path = tmp_path / "model.tacit"
        model = KMeans(3, random_state=0).fit(table)
        model.save(path)
        _, arrays = tacit.store.read_arrays(path)
        bad = {
            "centers": arrays["centers"][:, :-1],
            "sizes": arrays["sizes"][:2],
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
            ({"unseen": "guess"}, "unseen must be 'error' or 'default', got 'guess'"),
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
            (frame.drop("rain"), "X: there is no column 'rain', on which the model was fitted"),
            (
                frame.with_columns(sky=pl.lit("black")),
                "X: column 'sky' has 'black' at record 0, which the model was not fitted on",
            ),
        ):
            with pytest.raises(InputError, match=message):
                model.predict(tacit.Table(other))

    def test_unseen_labels_may_be_taken_for_the_default(self, table, frame, tmp_path):
        model = KMeans(3, random_state=0, unseen="default").fit(table)
        default = table.schema["sky"].default_label
        black = tacit.Table(frame.with_columns(sky=pl.lit("black")))
        expected = tacit.Table(frame.with_columns(sky=pl.lit(default)))
        np.testing.assert_array_equal(model.predict(black), model.predict(expected))
        np.testing.assert_array_equal(model.transform(black), model.transform(expected))
        assert model.score(black) == model.score(expected)
        model.save(tmp_path / "model.tacit")
        again = tacit.load(tmp_path / "model.tacit")
        np.testing.assert_array_equal(again.predict(black), model.predict(expected))

    def test_columns_are_found_by_name_and_labels_by_what_they_are(self, table, frame):
        model = KMeans(3, random_state=0).fit(table)
        labels = model.predict(table)
        more = frame.select(reversed(frame.columns)).with_columns(sun=1)
        np.testing.assert_array_equal(model.predict(tacit.Table(more)), labels)
        blue = (frame["sky"] == "blue").to_numpy()
        some = tacit.Table(frame.filter(blue))
        np.testing.assert_array_equal(model.predict(some), labels[blue])

    def test_labels_are_no_numbers(self, table):
        numbers = pl.DataFrame(blobs(), schema=list("abcde"), orient="row")
        model = KMeans(2, random_state=0).fit(numbers)
        with pytest.raises(InputError, match="X: there is no column 'a', on which the model was"):
            model.predict(table)
        text = numbers.with_columns(b=pl.lit("x"))
        for other in (text, tacit.Table(text)):
            with pytest.raises(InputError, match=r"X: column 'b' holds .*, but in fit numbers"):
                model.predict(other)
        np.testing.assert_array_equal(model.predict(tacit.Table(numbers)), model.labels_)

    def test_a_frame_of_labels_is_its_table(self, table, frame):
        model = KMeans(3, random_state=0).fit(table)
        other = KMeans(3, random_state=0).fit(frame)
        assert other.schema_ == model.schema_
        np.testing.assert_array_equal(other.labels_, model.labels_)
        np.testing.assert_array_equal(other.predict(frame), model.labels_)

    def test_numbers_of_a_table_are_cut(self):
        heat = np.random.default_rng(0).normal(size=200)
        data = tacit.Table({"heat": heat, "sky": ["blue", "grey"] * 100})
        model = KMeans(2, random_state=0).fit(data)
        assert len(model.schema_["heat"].edges) == 9
        fine = KMeans(2, discretise={"heat": [0.0]}, random_state=0).fit(data)
        assert fine.schema_["heat"].edges == (0.0,)
        assert fine.predict(tacit.Table({"heat": [99.0], "sky": ["blue"]})).shape == (1,)

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


LONG_FIT = """
    import numpy as np
    from tacit import KMeans
    from scipy import sparse

    X = sparse.random_array((200_000, 300), density=0.1, rng=np.random.default_rng(0)).tocsr()
    model = KMeans(200, random_state=0, max_iter=100_000, tol=0, n_jobs={jobs})
"""


@pytest.mark.parametrize("jobs", [1, 2])
def test_ctrl_c_ends_a_fit_early(jobs):
    check = 'assert not hasattr(model, "labels_")'
    outcome, seconds = run_interrupted(LONG_FIT.format(jobs=jobs), "model.fit(X)", check, 1.0)
    assert outcome == "interrupted"
    assert seconds < 10  # the whole fit takes minutes


def test_rounded_weights_leave_no_fractions_below_zero():
    for seed in range(20):  # of which several had some
        rng = np.random.default_rng(seed)
        n = int(rng.integers(5, 40))
        table = tacit.Table({c: rng.choice(list("abc"), n) for c in "xyz"})
        weights = rng.random(n) * 10 ** rng.uniform(-3, 3)
        model = KMeans(3, random_state=seed).fit(table.with_weights(weights))
        assert model.cluster_centers_.min() >= 0
        assert model.cluster_centers_.max() <= 1
        assert model.to_frame().height
