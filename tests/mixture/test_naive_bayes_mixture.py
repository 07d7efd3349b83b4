"""NaiveBayesMixture as an estimator: what it finds, and what must not matter to it."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import tacit
from support.strategies import assert_identical
from tacit import NaiveBayesMixture, Table

RANDOM = (
    "starts are drawn at random, and the draws are others for a record that is there twice; "
    "from one start, weights and repeated records agree (test_em.py)"
)
CLASSIFIERS = "asks for the tags of classifiers where there is predict_proba; this is none"
EXPECTED = {
    "check_sample_weight_equivalence_on_dense_data": RANDOM,
    "check_sample_weight_equivalence_on_sparse_data": RANDOM,
    "check_estimator_sparse_array": CLASSIFIERS,
    "check_estimator_sparse_matrix": CLASSIFIERS,
}


# The checks bring real numbers, which have to be cut; edges do not depend on the records.
@parametrize_with_checks(
    [NaiveBayesMixture(2, n_init=1, discretise=[-1.0, 0.0, 0.5, 1.0, 10.0])],
    expected_failed_checks=lambda estimator: EXPECTED,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def draw(n, seed=0, sizes=(0.5, 0.3, 0.2), arity=3, n_columns=12, sure=0.85):
    """Draw whole numbers of separable clusters: each prefers a value of its own in each column."""
    rng = np.random.default_rng(seed)
    wanted = np.random.default_rng(99).integers(0, arity, (len(sizes), n_columns))
    clusters = rng.choice(len(sizes), n, p=sizes)
    noise = rng.integers(0, arity, (n, n_columns))
    return np.where(rng.random(noise.shape) < sure, wanted[clusters], noise), clusters


@pytest.fixture(scope="module")
def codes():
    return draw(600)[0]


@pytest.fixture(scope="module")
def mix(codes):
    return NaiveBayesMixture(3, random_state=0).fit(codes)


class TestClusters:
    @pytest.mark.parametrize("init", ["seeds", "random"])
    @pytest.mark.parametrize("arity", [2, 5])
    def test_known_clusters_are_found(self, init, arity):
        X, clusters = draw(1500, arity=arity, n_columns=15)
        found = NaiveBayesMixture(3, init=init, n_init=8, random_state=1).fit(X)
        assert adjusted_rand_score(clusters, found.labels_) > 0.95
        new, new_clusters = draw(1500, seed=5, arity=arity, n_columns=15)
        assert adjusted_rand_score(new_clusters, found.predict(new)) > 0.95
        np.testing.assert_allclose(found.weights_, [0.5, 0.3, 0.2], atol=0.04)

    def test_probabilities_are_those_that_were_drawn_from(self):
        X, clusters = draw(6000)
        found = NaiveBayesMixture(3, random_state=0).fit(X)
        for c in range(12):
            own = np.array([np.bincount(X[clusters == k, c], minlength=3) for k in range(3)])
            shares = (own / own.sum(axis=1, keepdims=True)).T
            np.testing.assert_allclose(found.probabilities(c), shares, atol=0.02)

    def test_missing_at_random_does_not_hide_them(self):
        X, clusters = draw(1500)
        lost = np.where(np.random.default_rng(3).random(X.shape) < 0.4, None, X)
        frame = pl.DataFrame([pl.Series(f"x{c}", lost[:, c].tolist()) for c in range(12)])
        found = NaiveBayesMixture(3, missing="ignore", random_state=0).fit(frame)
        assert adjusted_rand_score(clusters, found.labels_) > 0.8
        whole = NaiveBayesMixture(3, random_state=0).fit(X)
        for c in range(12):  # shares among the values that are there
            own = found.probabilities(c)
            rows, lost_row = ([found.schema_[c].code(v) for v in vs] for vs in ((0, 1, 2), (None,)))
            assert (own[lost_row] == 0).all()
            expected = whole.probabilities(c)[[whole.schema_[c].code(v) for v in range(3)]]
            np.testing.assert_allclose(own[rows], expected, atol=0.08)

    def test_largest_first(self, mix):
        assert (np.diff(mix.weights_) <= 0).all()
        assert (np.diff(mix.expected_.totals) <= 0).all()
        assert mix.weights_.sum() == pytest.approx(1)
        assert np.bincount(mix.labels_).argmax() == 0
        np.testing.assert_allclose(mix.expected_.totals, mix.predict_proba(draw(600)[0]).sum(0))

    def test_columns_of_probabilities_add_up(self, mix):
        for c in range(12):
            np.testing.assert_allclose(mix.probabilities(c).sum(axis=0), 1)
            assert_identical(mix.probabilities(c), mix.probabilities(f"x{c}"))

    def test_one_cluster_is_independence(self, codes):
        one = NaiveBayesMixture(1, prior=0).fit(codes)
        assert one.converged_
        shares = [np.bincount(codes[:, c], minlength=3) / 600 for c in range(12)]
        logs = sum(np.log(shares[c][codes[:, c]]) for c in range(12))
        np.testing.assert_allclose(one.score_samples(codes), logs)
        assert one.log_likelihood_ == pytest.approx(logs.sum(), rel=1e-12)


class TestFitting:
    def test_what_the_trace_says(self, codes, mix):
        assert (np.diff(mix.trace_) >= -1e-12 * abs(mix.trace_[0])).all()
        assert mix.n_iter_ == len(mix.trace_) > 1
        assert mix.converged_
        assert mix.log_likelihood_ == mix.expected_.log_likelihood
        assert mix.log_likelihood_ == pytest.approx(mix.score(codes) * 600, rel=1e-12)
        objective = mix.log_likelihood_ + mix._parameters.log_prior
        assert mix.trace_[-1] == pytest.approx(objective, rel=1e-12)

    @pytest.mark.parametrize("passes", [1, 2, 3, 7, 25])
    def test_max_iter(self, codes, passes):
        brief = NaiveBayesMixture(8, prior=1, max_iter=passes, tol=0, random_state=0).fit(codes)
        assert brief.n_iter_ == len(brief.trace_) == passes
        assert not brief.converged_
        assert brief.log_likelihood_ == pytest.approx(brief.score(codes) * 600, rel=1e-12)

    def test_a_smaller_tolerance_goes_further(self, codes):
        rough, fine, finest = (
            NaiveBayesMixture(8, prior=1, n_init=1, tol=tol, max_iter=3000, random_state=0).fit(
                codes
            )
            for tol in (1e-2, 1e-6, 1e-10)
        )
        assert rough.n_iter_ < fine.n_iter_ < finest.n_iter_
        assert rough.trace_[-1] < fine.trace_[-1] < finest.trace_[-1]
        assert finest.converged_
        last = np.diff(rough.trace_)[-1]
        assert last <= 1e-2 * abs(rough.trace_[-1])

    def test_no_tolerance_ends_when_nothing_is_gained(self):
        codes = draw(40)[0]
        still = NaiveBayesMixture(2, tol=0, max_iter=20_000, random_state=0).fit(codes)
        assert still.converged_
        assert still.n_iter_ < 20_000
        assert still.trace_[-1] == still.trace_.max()

    def test_more_starts_are_no_worse(self, codes):
        ends = [
            NaiveBayesMixture(6, prior=1, n_init=n, tol=1e-4, random_state=3).fit(codes).trace_[-1]
            for n in (1, 3, 9)
        ]
        assert ends == sorted(ends)
        free = [
            NaiveBayesMixture(6, n_init=n, tol=1e-4, random_state=3).fit(codes) for n in (1, 3, 9)
        ]
        evidence = [mix.cheeseman_stutz(codes) for mix in free]
        assert evidence == sorted(evidence)

    def test_random_state(self, codes, mix):
        again = NaiveBayesMixture(3, random_state=0).fit(codes)
        assert again.trace_.tolist() == mix.trace_.tolist()
        assert_identical(again.predict_proba(codes), mix.predict_proba(codes))
        for make in (np.random.RandomState, np.random.default_rng):
            one, two = (
                NaiveBayesMixture(6, n_init=1, random_state=make(4)).fit(codes).trace_.tolist()
                for _ in range(2)
            )
            assert one == two
        others = {
            NaiveBayesMixture(6, n_init=1, random_state=seed).fit(codes).trace_[0]
            for seed in range(4)
        }
        assert len(others) > 1

    @pytest.mark.parametrize("precision", ["double", "single"])
    def test_threads_do_not_matter(self, precision):
        table = tacit.datasets.make_mixture(9000, 60, 30_000, random_state=2)
        fits = [
            NaiveBayesMixture(5, n_init=2, precision=precision, random_state=0, n_jobs=n).fit(table)
            for n in (1, 2, 3)
        ]
        for other in fits[1:]:
            assert other.trace_.tolist() == fits[0].trace_.tolist()
            assert_identical(other.weights_, fits[0].weights_)
            assert_identical(other.expected_.stored, fits[0].expected_.stored)
            assert_identical(other.labels_, fits[0].labels_)
            assert_identical(other.predict_proba(table), fits[0].predict_proba(table))
            assert other.score(table) == fits[0].score(table)

    def test_single_precision_ends_near_double(self, codes, mix):
        single = NaiveBayesMixture(3, precision="single", random_state=0).fit(codes)
        assert single.log_likelihood_ == pytest.approx(mix.log_likelihood_, rel=1e-5)
        # Of the parameters it found, scores are exact.
        assert single.log_likelihood_ == pytest.approx(single.score_samples(codes).sum(), rel=1e-13)

    def test_weights(self, codes):
        times = np.arange(600) % 3
        weighted = NaiveBayesMixture(3, random_state=0).fit(codes, sample_weight=times)
        of_table = NaiveBayesMixture(3, random_state=0).fit(Table(codes, weights=times))
        repeated = NaiveBayesMixture(3, random_state=0).fit(codes.repeat(times, axis=0))
        assert weighted.trace_[-1] == pytest.approx(of_table.trace_[-1], rel=1e-12)
        assert weighted.trace_[-1] == pytest.approx(repeated.trace_[-1], rel=1e-6)
        assert weighted.expected_.weight == 600
        assert weighted.labels_.shape == (600,)
        assert NaiveBayesMixture(3).fit_predict(codes, sample_weight=times).shape == (600,)

    def test_inputs_stay_as_they_are(self, codes):
        own, weights = codes.copy(), np.linspace(0, 2, 600)
        own.flags.writeable = weights.flags.writeable = False
        fitted = NaiveBayesMixture(3, random_state=0).fit(own, sample_weight=weights)
        fitted.predict_proba(own)
        assert_identical(own, codes)
        table = Table(codes)
        before = table.indptr.copy(), table.values.copy(), table.schema.defaults.copy()
        fitted = NaiveBayesMixture(3, random_state=0).fit(table).partial_fit(table)
        fitted.score(table)
        assert_identical(table.indptr, before[0])
        assert_identical(table.values, before[1])
        assert_identical(table.schema.defaults, before[2])

    def test_progress_goes_to_stderr(self, codes, mix, capsys):
        NaiveBayesMixture(3, random_state=0).fit(codes)
        assert capsys.readouterr() == ("", "")
        loud = NaiveBayesMixture(3, random_state=0, verbose=1).fit(codes)
        shown = capsys.readouterr()
        assert shown.out == ""
        assert "start 5 of 5" in shown.err
        assert f"{loud.n_iter_} passes" in shown.err
        assert loud.trace_.tolist() == mix.trace_.tolist()


class TestInput:
    @pytest.mark.parametrize(
        "convert",
        [
            Table,
            lambda X: Table(X).with_defaults(2),
            lambda X: X.tolist(),
            lambda X: X.astype(np.float32),
            np.asfortranarray,
            sparse.csr_array,
            sparse.csc_matrix,
            lambda X: pl.DataFrame(X, schema=[f"x{c}" for c in range(12)]),
            lambda X: pd.DataFrame(X, columns=[f"x{c}" for c in range(12)]),
            lambda X: pl.DataFrame(X, schema=[f"x{c}" for c in range(12)]).to_arrow(),
            lambda X: pd.DataFrame(X),
        ],
    )
    def test_all_forms_give_the_same(self, codes, mix, convert):
        X = convert(codes)
        other = NaiveBayesMixture(3, random_state=0).fit(X)
        np.testing.assert_allclose(other.trace_, mix.trace_, rtol=1e-9)
        np.testing.assert_allclose(other.weights_, mix.weights_, rtol=1e-6)
        np.testing.assert_allclose(other.score_samples(X), mix.score_samples(codes), rtol=1e-6)
        assert (other.predict(X) == mix.labels_).all()
        assert (other.labels_ == mix.labels_).all()

    def test_feature_names(self, codes):
        frame = pl.DataFrame(codes, schema=[f"item {c}" for c in range(12)])
        named = NaiveBayesMixture(3, random_state=0).fit(frame)
        assert named.feature_names_in_.tolist() == frame.columns
        assert named.n_features_in_ == 12
        assert named.schema_.names == tuple(frame.columns)
        again = named.fit(codes)
        assert not hasattr(again, "feature_names_in_")
        assert again.schema_.names == tuple(f"x{c}" for c in range(12))

    def test_labels_may_be_anything(self, codes, mix):
        words = np.array(["no", "yes", "maybe"])[codes]
        found = NaiveBayesMixture(3, random_state=0).fit(words)
        assert found.trace_[-1] == pytest.approx(mix.trace_[-1], rel=1e-9)
        column = found.schema_["x0"]
        for code, label in enumerate(("no", "yes", "maybe")):
            np.testing.assert_allclose(
                found.probabilities("x0")[column.code(label)],
                mix.probabilities("x0")[mix.schema_["x0"].code(code)],
                rtol=1e-6,
            )

    def test_records_and_columns_that_say_nothing(self):
        """Records of nothing but defaults are data; columns of one value change nothing."""
        X = draw(300, arity=2)[0]
        X[:40] = 0
        found = NaiveBayesMixture(2, random_state=0).fit(sparse.csr_array(X))
        assert found.predict_proba(np.zeros((1, 12), int)).sum() == pytest.approx(1)
        assert found.expected_.totals.sum() == pytest.approx(300)
        wide = NaiveBayesMixture(2, random_state=0).fit(np.column_stack((X, np.full(300, 7))))
        assert wide.log_likelihood_ == pytest.approx(found.log_likelihood_, rel=1e-9)
        assert wide.n_parameters_ == found.n_parameters_
        np.testing.assert_allclose(wide.probabilities(12), [[1.0, 1.0]])
        flat = NaiveBayesMixture(1).fit(np.full((5, 2), 3))
        assert flat.log_likelihood_ == 0
        assert flat.converged_

    def test_discretise(self):
        rng = np.random.default_rng(0)
        heat = np.concatenate((rng.normal(10, 2, 200), rng.normal(20, 2, 200)))
        frame = pl.DataFrame({"heat": heat, "ice": heat < 14})
        found = NaiveBayesMixture(2, discretise={"heat": 6}, random_state=0).fit(frame)
        truth = np.repeat([0, 1], 200)
        assert adjusted_rand_score(truth, found.labels_) > 0.8
        assert found.schema_["heat"].arity == 6
        far = pl.DataFrame({"heat": [-99.0, 99.0], "ice": [True, False]})
        assert len(set(found.predict(far))) == 2


class TestManners:
    def test_parameters_and_copies(self, codes, mix):
        assert clone(mix).get_params() == mix.get_params()
        assert not hasattr(clone(mix), "expected_")
        copied = pickle.loads(pickle.dumps(mix))
        assert_identical(copied.predict_proba(codes), mix.predict_proba(codes))
        assert copied.schema_ == mix.schema_
        assert repr(mix) == "NaiveBayesMixture(n_clusters=3, random_state=0)"
        assert "NaiveBayesMixture" in mix._repr_html_()

    def test_settings_are_not_touched_by_fit(self, codes):
        settings = {"n_clusters": np.int64(2), "prior": 0.5, "discretise": [0.5]}
        fitted = NaiveBayesMixture(**settings)
        before = fitted.get_params()
        fitted.fit(codes)
        after = fitted.get_params()
        assert before.keys() == after.keys()
        assert all(after[name] is before[name] for name in before)

    @pytest.mark.parametrize(
        "method",
        ["predict", "predict_proba", "score_samples", "score", "expected_counts", "bic", "aic",
         "icl", "cheeseman_stutz"],
    )  # fmt: skip
    def test_not_fitted(self, codes, method):
        with pytest.raises(ValueError, match="not fitted yet"):
            getattr(NaiveBayesMixture(3), method)(codes)

    def test_views_are_those_of_the_profile(self):
        table = tacit.datasets.load_visits().take(range(500))
        mix = NaiveBayesMixture(3, random_state=0).fit(table)
        assert mix.to_frame().equals(mix.profile().to_frame())
        assert mix.to_html("Visitors", top=2) == mix.profile().to_html("Visitors", top=2)

    def test_not_fitted_for_the_rest(self, tmp_path):
        raw = NaiveBayesMixture(3)
        for ask in (
            raw.sample,
            lambda: raw.probabilities(0),
            lambda: raw.save(tmp_path / "m"),
        ):
            with pytest.raises(ValueError, match="not fitted yet"):
                ask()
        assert not list(tmp_path.iterdir())
