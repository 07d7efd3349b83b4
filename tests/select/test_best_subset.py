"""BestSubset as a scikit-learn selector: what it takes, what it gives, what it refuses."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.naive_bayes import BernoulliNB
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import tacit
from tacit import BestSubset, InputError
from tacit.counts import ADTree

NAMES = ["wind", "sky", "dice", "moon"]


# The checks bring real numbers, which have to be cut; edges do not depend on the records.
@parametrize_with_checks([BestSubset(1, discretise=[-1.0, 0.0, 0.5, 1.0, 10.0])])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def frame():
    """Rain falls if wind and sky disagree; the rest says nothing."""
    rng = np.random.default_rng(0)
    sky, wind = rng.choice(["blue", "grey"], 300), rng.choice([False, True], 300)
    return pl.DataFrame(
        {
            "wind": wind,
            "sky": sky,
            "dice": rng.integers(1, 7, 300),
            "moon": rng.choice(["new", "full", "half"], 300),
            "rain": np.where((sky == "grey") != wind, "yes", "no"),
        }
    )


@pytest.fixture(scope="module")
def table(frame):
    return tacit.Table(frame)


def is_right(best):
    assert best.subset_ == ("wind", "sky")
    assert best.get_support().tolist() == [True, True, False, False]
    assert best.get_support(indices=True).tolist() == [0, 1]
    assert best.get_feature_names_out().tolist() == ["wind", "sky"]
    assert best.feature_names_in_.tolist() == NAMES
    assert best.n_features_in_ == 4
    return True


class TestInput:
    def test_table_and_column(self, table):
        best = BestSubset(2).fit(table, "rain")
        assert is_right(best)
        assert best.target_ == "rain"
        assert best.score_ == pytest.approx(math.log(2), abs=0.01)

    def test_table_and_labels(self, table, frame):
        assert is_right(BestSubset(2).fit(table.select(NAMES), frame["rain"]))

    @pytest.mark.parametrize(
        "convert", [lambda f: f, lambda f: f.to_pandas(), lambda f: f.to_arrow()]
    )
    def test_frames(self, frame, convert):
        best = BestSubset(2).fit(convert(frame), "rain")
        assert is_right(best)
        assert best.transform(convert(frame)).tolist() == frame["wind", "sky"].to_numpy().tolist()
        other = BestSubset(2).fit(convert(frame.select(NAMES)), frame["rain"].to_list())
        assert is_right(other)
        assert other.ranking_ == best.ranking_

    @pytest.mark.parametrize(
        "convert",
        [
            lambda y: y.to_list(),
            lambda y: y.to_numpy(),
            lambda y: y.to_numpy().astype(object),
            lambda y: y.to_pandas(),
            lambda y: y.to_pandas().astype("category"),
            lambda y: y == "yes",
            lambda y: (y == "yes").to_numpy() * 1.0,
            lambda y: pa.chunked_array([y.to_arrow()]),
            lambda y: np.where(y == "yes", -1, 10**12),
        ],
    )
    def test_targets(self, frame, convert):
        best = BestSubset(2).fit(frame.select(NAMES), convert(frame["rain"]))
        assert is_right(best)
        assert best.target_ == "y"

    @pytest.mark.parametrize(
        "convert",
        [
            lambda X: X,
            lambda X: X.tolist(),
            lambda X: X - 5,
            lambda X: X.astype(np.float16),
            lambda X: X.astype(str),
            lambda X: X.astype(object),
            lambda X: np.asfortranarray(X),
            sparse.csr_array,
            sparse.csc_matrix,
            sparse.coo_array,
        ],
    )
    def test_arrays(self, table, convert):
        X = table.select(NAMES).to_numpy()
        best = BestSubset(2).fit(convert(X), table.codes("rain"))
        assert best.subset_ == ("x0", "x1")
        assert best.get_feature_names_out().tolist() == ["x0", "x1"]
        assert not hasattr(best, "feature_names_in_")
        chosen = best.transform(convert(X))
        assert chosen.shape == (300, 2)
        assert best.score_ == BestSubset(2).fit(table, "rain").score_

    def test_a_column_called_y_is_not_the_target(self, frame):
        renamed = frame.select(NAMES).rename({"dice": "y", "moon": "y_"})
        best = BestSubset(2).fit(renamed, frame["rain"])
        assert (best.subset_, best.target_) == (("wind", "sky"), "y__")
        assert best.transform(renamed).shape == (300, 2)

    def test_missing_values_of_a_frame_are_a_label(self):
        lost = pd.DataFrame({"a": [1.0, np.nan] * 50, "b": [1, 2, 3, 4] * 25})
        best = BestSubset(1).fit(lost, ["x", "z"] * 50)
        assert (best.subset_, best.score_) == (("a",), pytest.approx(math.log(2)))
        assert np.isnan(best.transform(lost)[1, 0])

    def test_discretise(self, frame):
        rng = np.random.default_rng(1)
        heat = np.where(frame["rain"] == "yes", 10, 20) + rng.normal(0, 2, 300)
        warm = frame.with_columns(heat=heat)
        for how in ({"heat": "mdl"}, 4, "frequency", {"heat": [15.0]}):
            best = BestSubset(1, discretise=how).fit(warm, "rain")
            assert best.subset_ == ("heat",)
            apart = BestSubset(1, discretise=how).fit(warm.drop("rain"), warm["rain"])
            assert apart.ranking_ == best.ranking_
        array = np.column_stack((frame["dice"], heat))
        for X in (array, sparse.csr_array(array)):
            assert BestSubset(1, discretise="mdl").fit(X, frame["rain"]).subset_ == ("x1",)

    def test_weights(self, table, frame):
        weights = np.arange(300) % 3
        one = BestSubset(2).fit(table, "rain", sample_weight=weights)
        two = BestSubset(2).fit(table.with_weights(weights), "rain")
        thrice = BestSubset(2).fit(frame[np.repeat(np.arange(300), weights)], "rain")
        assert one.ranking_ == two.ranking_
        for a, b in zip(one.ranking_, thrice.ranking_, strict=True):
            assert a.columns == b.columns
            assert a.score == pytest.approx(b.score, abs=1e-12)


class TestOutput:
    def test_table_of_a_table(self, table):
        best = BestSubset(2).fit(table, "rain")
        assert best.transform(table).schema.names == ("wind", "sky")
        assert best.transform(table.select(["sky", "moon", "wind"])).n_columns == 2

    def test_set_output(self, frame):
        best = BestSubset(2).fit(frame, "rain").set_output(transform="polars")
        assert best.transform(frame).equals(frame.select("wind", "sky"))
        best.set_output(transform="pandas")
        assert list(best.transform(frame.to_pandas()).columns) == ["wind", "sky"]

    def test_frame(self, table):
        best = BestSubset(2, n_best=4).fit(table, "rain")
        shown = best.to_frame()
        assert shown.columns == ["columns", "score_nats", "gain_nats", "combinations"]
        assert shown["columns"].to_list() == [list(s.columns) for s in best.ranking_]
        assert shown["score_nats"].to_list() == [s.score for s in best.ranking_]
        assert shown["score_nats"].is_sorted(descending=True)
        assert shown.height == 4
        assert best.to_frame(2).equals(shown[:2])

    def test_scores_in_the_ranking(self, table):
        for name in ("corrected", "penalized"):
            best = BestSubset(2, name, n_best=100).fit(table, "rain")
            assert best.n_subsets_ == len(best.ranking_) == 6
            assert all(s.score != s.gain for s in best.ranking_)
        assert best.ranking_[0].n_combinations == 4

    def test_penalty_avoids_many_labels(self):
        rng = np.random.default_rng(2)
        y = rng.integers(0, 2, 400)
        useful = np.where(rng.random(400) < 0.72, y, 1 - y)
        X = np.column_stack((rng.integers(0, 120, 400), useful))
        assert BestSubset(1).fit(X, y).subset_ == ("x1",)  # numbers that are many are cut
        assert BestSubset(1, discretise=None).fit(X, y).subset_ == ("x0",)
        for criterion in ("corrected", "penalized"):
            assert BestSubset(1, criterion, discretise=None).fit(X, y).subset_ == ("x1",)

    def test_given(self, table):
        best = BestSubset(1, given=["sky"]).fit(table, "rain")
        assert best.subset_ == ("wind",)
        assert best.n_subsets_ == 3
        assert best.get_support().tolist() == [True, False, False, False]
        both = BestSubset(2).fit(table, "rain")
        alone = BestSubset(1).fit(table.select(["sky", "rain"]), "rain")
        assert best.score_ == pytest.approx(both.score_ - alone.score_, abs=1e-12)
        assert BestSubset(1, given=[1]).fit(table, "rain").ranking_ == best.ranking_

    def test_progress_goes_to_stderr(self, table, capsys):
        quiet = BestSubset(2).fit(table, "rain")
        assert capsys.readouterr() == ("", "")
        loud = BestSubset(2, verbose=1).fit(table, "rain")
        shown = capsys.readouterr()
        assert shown.out == ""
        assert "6/6" in shown.err
        assert loud.ranking_ == quiet.ranking_

    def test_threads_do_not_matter(self):
        table = tacit.datasets.make_synth(2000)
        one, four = (BestSubset(3, n_jobs=n).fit(table, "square 21") for n in (1, 4))
        assert one.ranking_ == four.ranking_

    def test_a_pipeline(self, table):
        X, y = table.select(NAMES).to_numpy(), table.codes("rain")
        model = make_pipeline(BestSubset(2), BernoulliNB()).fit(X, y)
        assert model[:-1].get_feature_names_out().tolist() == ["x0", "x1"]

    def test_clone_and_pickle(self, table):
        best = BestSubset(2, "penalized", given=["moon"], n_best=3).fit(table, "rain")
        copy = clone(best)
        assert copy.get_params() == best.get_params()
        assert not hasattr(copy, "subset_")
        assert pickle.loads(pickle.dumps(best)).ranking_ == best.ranking_

    def test_html(self, table):
        assert "BestSubset" in BestSubset(2).fit(table, "rain")._repr_html_()


class TestCounter:
    def test_a_counter_or_a_maker_of_one(self, table):
        made = []

        def make(of):
            made.append(of)
            return ADTree(of)

        expected = BestSubset(2).fit(table, "rain").ranking_
        assert BestSubset(2, counter=make).fit(table, "rain").ranking_ == expected
        assert made == [table]
        ready = ADTree(table)
        assert BestSubset(2, counter=ready).fit(table, "rain").ranking_ == expected

    def test_refuses(self, table, frame):
        ready = ADTree(table)
        with pytest.raises(InputError, match="counter: it counts another table than X"):
            BestSubset(2, counter=ready).fit(table.take(np.arange(20)), "rain")
        with pytest.raises(InputError, match="counter: it counts another table than X"):
            BestSubset(2, counter=ready).fit(table.select(["rain", *NAMES]), "rain")
        with pytest.raises(InputError, match="counter: it has to count the target too"):
            BestSubset(2, counter=ready).fit(table.select(NAMES), frame["rain"])
        with pytest.raises(InputError, match="counter must be a counter, or make one"):
            BestSubset(2, counter=3).fit(table, "rain")


class TestRefuses:
    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"n_features": 0}, "n_features must be a whole number of at least 1, got 0"),
            ({"n_features": 2.0}, "n_features must be a whole number"),
            ({"n_features": True}, "n_features must be a whole number"),
            ({"n_features": 5}, "n_features=5, but there are only 4 columns to choose from"),
            ({"n_features": 4, "given": ["sky"]}, "there are only 3 columns"),
            ({"n_best": 0}, "n_best must be"),
            (
                {"criterion": "gini"},
                "criterion must be one of 'information_gain', 'corrected', 'penalized'",
            ),
            ({"criterion": None}, "criterion must be one of"),
            ({"given": ["sun"]}, "given: there is no column 'sun'"),
            ({"given": "sky"}, "given must be a list of columns, got 'sky'"),
            ({"given": ["rain"]}, "given: the target cannot be given"),
            ({"given": ["sky", 1]}, "given: a column is there twice"),
            ({"discretise": {"sky": 4}}, "discretise: column 'sky' holds String, not numbers"),
            ({"kinds": {"sun": "ordered"}}, "kinds: there is no column 'sun'"),
            ({"n_jobs": 0}, "n_jobs must be"),
        ],
    )
    def test_arguments(self, table, options, message):
        with pytest.raises(InputError, match=message):
            BestSubset(**{"n_features": 2} | options).fit(table, "rain")

    def test_unknown_target(self, table, frame):
        for X in (table, frame):
            with pytest.raises(InputError, match="y: there is no column 'snow'"):
                BestSubset(2).fit(X, "snow")
        with pytest.raises(InputError, match="y: an array has no column 'x1'"):
            BestSubset(2).fit(table.to_numpy(), "x1")
        with pytest.raises(InputError, match="requires y to be passed"):
            BestSubset(2).fit(table)

    def test_one_class(self, frame):
        X = frame.select(NAMES)
        with pytest.raises(InputError, match="y has one class only"):
            BestSubset(2).fit(X, ["no"] * 300)
        declared = pl.Series(["no"] * 300, dtype=pl.Enum(["no", "yes"]))
        with pytest.raises(InputError, match="y has one class only"):
            BestSubset(2).fit(X.with_columns(rain=declared), "rain")
        with pytest.raises(InputError, match="y has one class only"):
            BestSubset(2).fit(X, frame["rain"], sample_weight=frame["rain"] == "no")

    @pytest.mark.parametrize(
        ("y", "message"),
        [
            ([0.5] * 300, r"y holds real numbers \(record 0: 0.5\); cut it into classes first"),
            ([1.0] * 299 + [np.nan], "y contains NaN or None: record 299"),
            (["a"] * 299 + [None], "y contains NaN or None: record 299"),
            ([1.0] * 299 + [np.inf], "y holds real numbers"),
            ([0, 1], "y must have 300 entries, one for each record; got 2"),
            (np.zeros((300, 2)), "y cannot be read"),
            ([["a"], [1, 2]] * 150, "y cannot be read"),
        ],
    )
    def test_targets(self, frame, y, message):
        with pytest.raises(InputError, match=message):
            BestSubset(2).fit(frame.select(NAMES), y)

    def test_real_numbers(self, frame):
        """They are cut by default."""
        heat = np.where(frame["rain"] == "yes", 10, 20) + np.random.default_rng(1).random(300)
        warm = frame.with_columns(heat=heat)
        for X in (warm, tacit.Table(warm)):
            best = BestSubset(1).fit(X, "rain")
            assert best.subset_ == ("heat",)
        for X in ([[1, 2.5], [0, 1]], sparse.csr_array([[1, 2.5], [0, 1]])):
            assert BestSubset(1).fit(X, [0, 1]).score_ == pytest.approx(math.log(2))

    @pytest.mark.parametrize("wrong", [np.nan, np.inf])
    @pytest.mark.parametrize("discretise", [None, 2])
    def test_what_is_no_number(self, wrong, discretise):
        X = np.array([[1, 0], [0, wrong], [1, 1]])
        with pytest.raises(InputError, match=f"X contains NaN or inf: {wrong} at row 1, column 1"):
            BestSubset(1, discretise=discretise).fit(X, [0, 1, 1])

    def test_weights(self, table):
        weighted = table.with_weights(np.ones(300))
        with pytest.raises(InputError, match="sample_weight: the Table has weights already"):
            BestSubset(2).fit(weighted, "rain", sample_weight=np.ones(300))
        with pytest.raises(InputError, match="all weights are zero"):
            BestSubset(2).fit(table.with_weights(np.zeros(300)), "rain")
        with pytest.raises(InputError, match="sample_weight: weights must have shape"):
            BestSubset(2).fit(table, "rain", sample_weight=np.ones(3))

    def test_unfitted(self, table):
        with pytest.raises(ValueError, match="not fitted yet"):
            BestSubset(2).transform(table)
        with pytest.raises(ValueError, match="not fitted yet"):
            BestSubset(2).to_frame()

    def test_a_failed_fit_leaves_what_was(self, table):
        best = BestSubset(2).fit(table, "rain")
        with pytest.raises(InputError):
            best.set_params(n_features=9).fit(table, "rain")
        assert best.subset_ == ("wind", "sky")


def test_a_counter_of_other_records_is_refused():
    table, other = (tacit.datasets.make_synth(500, random_state=seed) for seed in (0, 1))
    with pytest.raises(InputError, match="counter: it counts another table"):
        BestSubset(2, counter=ADTree(other)).fit(table, "square 6")
    copied = tacit.Table.from_stored(table.schema, table.indptr, table.values)
    expected = BestSubset(2).fit(table, "square 6")
    assert BestSubset(2, counter=ADTree(copied)).fit(table, "square 6").score_ == expected.score_


def test_an_approximate_counter_is_refused():
    table = tacit.datasets.make_synth(500)
    for counter in (ADTree(table, min_count=5), lambda table: ADTree(table, min_count=5)):
        with pytest.raises(InputError, match="counter: it must be exact"):
            BestSubset(2, counter=counter).fit(table, "square 6")


def test_figures_and_tables(table):
    best = BestSubset(2).fit(table, "rain")
    assert len(best.plot(top=2).patches) == 2
    assert best.to_html(top=2).count("<tr>") == 3
    assert best.to_text(top=1).splitlines() == [
        "rain by information_gain, in nats",
        f"  wind, sky: {best.score_:.4f}",
    ]
