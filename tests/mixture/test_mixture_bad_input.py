"""What a mixture refuses, and what it takes although it is strange."""

from __future__ import annotations

import logging

import numpy as np
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone

from support.mixtures import draw_separable
from tacit import InputError, NaiveBayesMixture, Table


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    group = rng.integers(0, 2, 60)
    return pl.DataFrame(
        {
            "sky": np.where(group ^ (rng.random(60) < 0.1), "grey", "blue"),
            "rain": (group == 1) ^ (rng.random(60) < 0.1),
            "dice": rng.integers(1, 7, 60),
        }
    )


@pytest.fixture(scope="module")
def mix(frame):
    return NaiveBayesMixture(2, random_state=0).fit(Table(frame))


@pytest.fixture
def log(caplog):
    caplog.set_level(logging.INFO, logger="tacit")
    return lambda: [(r.name, r.levelname, r.getMessage()) for r in caplog.records]


class TestSettings:
    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"n_clusters": 0}, "n_clusters must be a whole number of at least 1, got 0"),
            ({"n_clusters": -2}, "n_clusters must be a whole number of at least 1, got -2"),
            ({"n_clusters": 2.0}, "n_clusters must be a whole number"),
            ({"n_clusters": True}, "n_clusters must be a whole number"),
            ({"n_clusters": "many"}, "n_clusters must be a whole number"),
            ({"n_clusters": None}, "n_clusters must be a whole number"),
            ({"n_clusters": 61}, "n_clusters=61, but there are only n_samples=60 records"),
            ({"n_clusters": "auto", "max_clusters": 0}, "max_clusters must be"),
            ({"n_clusters": "auto", "prior": 0}, "prior"),
            ({"n_init": 0}, "n_init must be a whole number of at least 1, got 0"),
            ({"n_init": 1.5}, "n_init must be"),
            ({"init": "k-means"}, "init must be .*, got 'k-means'"),
            ({"prior": -1}, 'prior must be "auto" or a finite number of at least 0, got -1'),
            ({"prior": np.nan}, "prior must be"),
            ({"prior": np.inf}, "prior must be"),
            ({"prior": "weak"}, "prior must be"),
            ({"prior": True}, "prior must be"),
            ({"prior_mean": "even"}, "prior_mean must be 'marginals' or 'uniform', got 'even'"),
            ({"missing": "drop"}, "missing must be 'state' or 'ignore', got 'drop'"),
            ({"unseen": "ignore"}, "unseen must be .*, got 'ignore'"),
            ({"max_iter": 0}, "max_iter must be a whole number of at least 1, got 0"),
            ({"max_iter": 2.5}, "max_iter must be"),
            ({"tol": -1e-9}, "tol must be a finite number of at least 0, got -1e-09"),
            ({"tol": np.nan}, "tol must be"),
            ({"tol": np.inf}, "tol must be"),
            ({"tol": "small"}, "tol must be"),
            ({"precision": "half"}, "precision must be .*, got 'half'"),
            ({"criterion": "aic"}, "criterion must be one of .*, got 'aic'"),
            ({"discretise": {"nix": 4}}, "discretise: there is no column 'nix'"),
            ({"absent": "drop"}, "absent must be .*, got 'drop'"),
            ({"kinds": {"nix": "ordered"}}, "kinds: there is no column 'nix'"),
            ({"random_state": "dice"}, "random_state: 'dice' cannot be used"),
            ({"n_jobs": 0}, "n_jobs must be"),
            ({"n_jobs": 1.5}, "n_jobs must be"),
        ],
        ids=str,
    )
    def test_the_argument_is_named(self, frame, settings, message):
        wrong = NaiveBayesMixture(**{"n_clusters": 2} | settings)
        with pytest.raises(InputError, match=message):
            wrong.fit(Table(frame))
        assert not hasattr(wrong, "expected_")
        assert not hasattr(wrong, "n_features_in_")

    def test_settings_are_checked_before_a_batch(self, frame):
        mix = NaiveBayesMixture(2, random_state=0).partial_fit(frame)
        with pytest.raises(InputError, match="prior must be"):
            mix.set_params(prior=-1).partial_fit(frame)


class TestRecords:
    def test_real_numbers(self, frame):
        """They are cut by default, and labels as they are if nothing is to be cut."""
        heat = np.random.default_rng(0).normal(size=frame.height)
        warm = frame.with_columns(heat=heat)
        for X in (warm, Table(warm)):
            mix = NaiveBayesMixture(2, random_state=0).fit(X)
            assert len(mix.schema_["heat"].edges) == 9
            assert mix.predict(warm.with_columns(heat=1e9)).shape == (frame.height,)
        for X in ([[1, 2.5], [0, 1]], sparse.csr_array([[1, 2.5], [0, 1]])):
            assert NaiveBayesMixture(1).fit(X).schema_["x1"].edges == (1.75,)
            plain = NaiveBayesMixture(1, discretise=None).fit(X)
            assert set(plain.schema_["x1"].labels) >= {1.0, 2.5}
            with pytest.raises(InputError, match=r"X: column 'x1' has 7\.5 at record 0, which"):
                plain.predict([[0, 7.5]])

    @pytest.mark.parametrize("wrong", [np.nan, np.inf])
    @pytest.mark.parametrize("discretise", [None, 2])
    def test_what_is_no_number(self, wrong, discretise):
        X = np.array([[1, 0], [0, wrong], [1, 1]])
        with pytest.raises(InputError, match=f"X contains NaN or inf: {wrong} at row 1, column 1"):
            NaiveBayesMixture(1, discretise=discretise).fit(X)

    def test_none_at_all(self, frame):
        for empty in (
            np.zeros((0, 3), int),
            np.zeros((3, 0), int),
            frame[:0],
        ):
            with pytest.raises(ValueError, match=r"0 sample|0 feature|no records|empty"):
                NaiveBayesMixture(1).fit(empty)

    def test_more_clusters_than_distinct_records(self, log):
        X = np.repeat([[0, 0, 1], [1, 1, 0]], 10, axis=0)
        for init in ("seeds", "random"):
            for prior in (0.0, 1.0):
                mix = NaiveBayesMixture(5, init=init, prior=prior, random_state=0).fit(X)
                assert mix.n_clusters_ == 5
                assert np.isfinite(mix.trace_).all()
                assert mix.expected_.totals.sum() == pytest.approx(20)
                np.testing.assert_allclose(mix.predict_proba(X).sum(axis=1), 1)
                for c in range(3):
                    np.testing.assert_allclose(mix.probabilities(c).sum(axis=0), 1)
                assert mix.sample(10).n_records == 10
        said = (
            "n_clusters=5, but only 2 records are distinct: some clusters will be empty, or alike"
        )
        assert log().count(("tacit", "WARNING", said)) == 4

    def test_as_many_clusters_as_records(self, frame, log):
        mix = NaiveBayesMixture(3, prior=0.01, random_state=0).fit(np.eye(3, dtype=int))
        assert not log()
        assert sorted(mix.labels_) == [0, 1, 2]

    def test_a_dying_cluster_is_said(self, frame, log):
        NaiveBayesMixture(2, random_state=0).fit(frame)
        assert not log()
        X = np.repeat([[0, 0, 1], [1, 1, 0]], 10, axis=0)
        for prior in (0.0, 1.0):
            mix = NaiveBayesMixture(3, init="seeds", prior=prior, random_state=0).fit(X)
            assert mix.expected_.totals[-1] < 0.5
            said = "1 of 3 clusters died: less than half a record belongs to each; ask for fewer"
            assert log()[-1] == ("tacit", "WARNING", said)

    def test_a_dying_cluster_does_not_depend_on_the_unit_of_weights(self, log):
        X = np.repeat([[0, 0, 1], [1, 1, 0]], 10, axis=0)
        weights = np.r_[np.zeros(5), np.full(15, 1e-3)]
        NaiveBayesMixture(2, prior=1e-5, random_state=0).fit(X, sample_weight=weights)
        assert not log()


class TestWeights:
    @pytest.mark.parametrize(
        ("weights", "message"),
        [
            (np.zeros(60), "sample_weight: all weights are zero"),
            (np.r_[np.nan, np.ones(59)], "sample_weight: weights must be finite.*record 0: nan"),
            (np.r_[np.ones(59), np.inf], "sample_weight: weights must be finite.*record 59: inf"),
            (np.r_[np.ones(59), -1], "sample_weight: .*not negative; record 59: -1"),
            (np.ones(59), r"sample_weight: weights must have shape \(60,\), got \(59,\)"),
            (["a"] * 60, "sample_weight: weights must be numbers"),
        ],
        ids=lambda value: value if isinstance(value, str) else "",
    )
    def test_refuses(self, frame, weights, message):
        for X in (frame, Table(frame)):
            with pytest.raises(InputError, match=message):
                NaiveBayesMixture(2).fit(X, sample_weight=weights)

    def test_twice(self, frame):
        weighted = Table(frame, weights=np.ones(60))
        with pytest.raises(InputError, match="sample_weight: the Table has weights already"):
            NaiveBayesMixture(2).fit(weighted, sample_weight=np.ones(60))

    def test_zero_for_some_is_leaving_them_out(self, frame):
        weights = (np.arange(60) >= 20) * 1.0
        table = Table(frame)
        some = NaiveBayesMixture(2, random_state=0).fit(table, sample_weight=weights)
        rest = NaiveBayesMixture(2, random_state=0).fit(table.take(np.arange(20, 60)))
        np.testing.assert_allclose(some.trace_, rest.trace_, rtol=1e-12)
        assert some.expected_.weight == 40
        assert len(some.labels_) == 60
        with pytest.raises(InputError, match="X: all weights are zero"):
            some.score(table.with_weights(np.zeros(60)))

    @pytest.mark.parametrize("n_clusters", [3, "auto"])
    @pytest.mark.parametrize("prior", ["auto", 1.0, 0.0])
    @pytest.mark.parametrize("data", ["table", "bits", "numbers", "labels"])
    def test_zero_weights_are_as_if_not_there(self, data, prior, n_clusters):
        """Neither bins nor labels nor defaults nor starts know of them."""
        rng = np.random.default_rng(3)
        table, clusters = draw_separable(3, 500, 10, seed=4)
        kept = rng.random(500) < 0.6
        codes = table.to_frame().to_numpy()
        codes[~kept] = rng.random((np.count_nonzero(~kept), 10)) < 0.9  # another default
        frame = pl.DataFrame(codes, schema=table.schema.names)
        if data == "numbers":
            numbers = rng.normal(size=500) + clusters
            frame = frame.with_columns(x=np.where(kept, numbers, 100 * numbers))
        if data == "labels":
            letters = rng.choice(["a", "b", "c"], 500)
            frame = frame.with_columns(letter=pl.Series(np.where(kept, letters, "z")))
        weights = np.where(kept, rng.choice([0.5, 1.0, 2.0], 500), 0.0)
        X, rest = frame, frame.filter(kept)
        if data == "table":
            X = Table(codes)
            rest = X.take(np.flatnonzero(kept))
        criterion = "cheeseman_stutz" if prior else "bic"
        mix = NaiveBayesMixture(n_clusters, prior=prior, criterion=criterion, random_state=0)
        some, same = clone(mix), clone(mix)
        some.fit(X, sample_weight=weights)
        same.fit(rest, sample_weight=weights[kept])
        assert some.schema_ == same.schema_
        assert some.log_likelihood_ == same.log_likelihood_
        assert np.array_equal(some.expected_.stored, same.expected_.stored)
        assert np.array_equal(some.labels_[kept], same.labels_)
        assert len(some.labels_) == 500

    @pytest.mark.parametrize("init", ["both", "seeds", "random"])
    @pytest.mark.parametrize("n_clusters", [10, 40])
    def test_dead_clusters_without_a_prior_are_said(self, n_clusters, init, caplog):
        table, _ = draw_separable(3, 60, 8, seed=1)
        mix = NaiveBayesMixture(n_clusters, prior=0, init=init, random_state=0).fit(table)
        dead = np.count_nonzero(mix.expected_.totals < 0.5)
        assert mix.weights_.sum() == pytest.approx(1)
        said = [m for m in caplog.messages if "died" in m]
        if dead:
            assert said == [
                f"{dead} of {n_clusters} clusters died: less than half a record belongs to each; "
                "ask for fewer"
            ]
        assert bool(said) == bool(dead)
        assert dead or n_clusters == 10

    def test_dead_clusters_without_a_prior_are_removed_by_auto(self):
        table, _ = draw_separable(3, 60, 8, seed=1)
        mix = NaiveBayesMixture("auto", prior=0, criterion="bic", random_state=0).fit(table)
        assert (mix.expected_.totals >= 0.5).all()

    def test_fewer_that_count_than_clusters(self, frame):
        weights = np.zeros(60)
        weights[frame["dice"].arg_unique()[:2].to_numpy()] = 1
        with pytest.raises(InputError, match="there are only n_samples=2 records"):
            NaiveBayesMixture(4, random_state=0).fit(frame, sample_weight=weights)

    def test_huge_and_tiny(self, frame):
        ends = []
        for scale in (1e-200, 1.0, 1e200):
            weights = np.full(60, scale)
            mix = NaiveBayesMixture(2, prior=0, random_state=0).fit(frame, sample_weight=weights)
            assert np.isfinite(mix.trace_).all()
            ends.append(mix.score(frame))
        np.testing.assert_allclose(ends, ends[1], rtol=1e-9)


class TestOtherTables:
    def test_more_columns_and_another_order(self, frame, mix):
        wider = Table(frame.with_columns(moon=pl.lit("full")).select("moon", "dice", "rain", "sky"))
        np.testing.assert_allclose(mix.predict_proba(wider), mix.predict_proba(Table(frame)))

    def test_absent_columns(self, frame, mix):
        for ask in (mix.predict, mix.predict_proba, mix.score, mix.score_samples, mix.bic):
            with pytest.raises(InputError, match=r"X: .*'rain'"):
                ask(Table(frame.drop("rain")))

    def test_frames_follow_scikit_learn(self, frame):
        mix = NaiveBayesMixture(2, random_state=0).fit(frame)
        with pytest.raises(ValueError, match="feature names"):
            mix.predict(frame.drop("rain"))
        with pytest.raises(ValueError, match="feature names"):
            mix.predict(frame.select("rain", "sky", "dice"))
        array = NaiveBayesMixture(2, random_state=0).fit(np.eye(4, dtype=int))
        with pytest.raises(ValueError, match="X has 3 features"):
            array.predict(np.eye(3, dtype=int))

    def test_new_labels(self, frame, mix):
        new = frame[:3].with_columns(sky=pl.Series(["blue", "green", "grey"]))
        with pytest.raises(InputError, match="X: column 'sky' has 'green' at record 1"):
            mix.predict(Table(new))
        lenient = NaiveBayesMixture(2, unseen="default", random_state=0).fit(Table(frame))
        default = lenient.schema_["sky"].default_label
        same = new.with_columns(sky=pl.col("sky").replace("green", default))
        np.testing.assert_array_equal(
            lenient.predict_proba(Table(new)), lenient.predict_proba(Table(same))
        )

    def test_new_missing_values(self, frame, mix):
        new = Table(frame[:3].with_columns(sky=pl.Series(["blue", None, "grey"])))
        with pytest.raises(InputError, match="X: column 'sky' has a missing value at record 1"):
            mix.score(new)

    def test_types_of_labels(self, frame, mix):
        as_numbers = frame.with_columns(
            rain=pl.col("rain").cast(pl.Int8), dice=pl.col("dice") * 1.0
        )
        np.testing.assert_allclose(
            mix.predict_proba(Table(as_numbers)), mix.predict_proba(Table(frame))
        )
        with pytest.raises(InputError, match="X: column 'dice'"):
            mix.predict(Table(frame.with_columns(pl.col("dice").cast(str))))

    def test_unknown_columns_of_probabilities(self, mix):
        with pytest.raises(InputError, match="there is no column 'rein'; did you mean 'rain'"):
            mix.probabilities("rein")
        with pytest.raises(InputError, match="column 3 is not among the 3 columns"):
            mix.probabilities(3)
