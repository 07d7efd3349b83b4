"""Mixtures of records in partitions are those of all records in memory."""

import logging
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from support.partitions import (
    assert_all_refuse,
    assert_errors_leave_a_model,
    assert_refused_before_a_pass,
    cut,
    part_of,
)
from support.strategies import JOBS, assert_identical, data
from tacit import NaiveBayesMixture
from tacit.mixture.em.partitioned import ExpectAll, RandomClusters
from tacit.mixture.partitions import (
    SAME_SCHEMA,
    FirstPass,
    RecordsOfRanks,
    SchemaAdapter,
    hash_records,
)
from tacit.scale import Local, partition, using

TIGHT = 1e-12


@pytest.fixture(scope="module")
def small(visits):
    return visits.take(np.arange(1500))


@pytest.fixture(scope="module")
def weighted(small):
    """Weights of which sums are rounded, and one record in five does not count."""
    rng = np.random.default_rng(5)
    return small.with_weights(rng.random(small.n_records) * (rng.random(small.n_records) > 0.2))


def assert_close(one, other, tolerance=TIGHT):
    scale = np.abs(np.asarray(other)).max(initial=0)
    np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance * float(scale))


def assert_same_counts(one, other, tolerance=TIGHT):
    assert_close(one.totals, other.totals, tolerance)
    assert_close(one.stored, other.stored, tolerance)
    assert one.log_likelihood == pytest.approx(other.log_likelihood, rel=tolerance)
    assert one.weight == pytest.approx(other.weight, rel=tolerance)


def assert_same_mixture(one, other, tolerance=TIGHT):
    assert one.schema_ == other.schema_
    assert one.n_iter_ == other.n_iter_
    assert one.converged_ == other.converged_
    np.testing.assert_allclose(one.trace_, other.trace_, rtol=tolerance)
    for a, b in zip(one._parameters, other._parameters, strict=True):
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)
    assert_same_counts(one.expected_, other.expected_, tolerance)
    np.testing.assert_allclose(one._prior.cells, other._prior.cells, rtol=tolerance)


def assert_identical_mixture(one, other):
    for a, b in zip(one._parameters[:3], other._parameters[:3], strict=True):
        assert_identical(a, b)
    assert_identical(one.trace_, other.trace_)
    assert_identical(one.expected_.stored, other.expected_.stored)
    assert one.log_likelihood_ == other.log_likelihood_


# The same mixture


@pytest.mark.parametrize("n", [1, 2, 7])
def test_same_mixture(visits, n):
    whole = NaiveBayesMixture(4, n_init=2, tol=1e-5, random_state=3).fit(visits)
    parts = partition(visits, n)
    found = NaiveBayesMixture(4, n_init=2, tol=1e-5, random_state=3).fit(parts)
    assert_same_mixture(found, whole)
    assert np.array_equal(found.predict(parts), whole.labels_)
    assert found.feature_names_in_.tolist() == list(visits.schema.names)
    assert found.n_features_in_ == visits.n_columns


def test_samples_of_many_records(small, monkeypatch):
    monkeypatch.setattr("tacit.mixture.em.starts._SAMPLE", 60)
    for table in (small, small.with_weights(np.arange(small.n_records) % 3.0)):
        whole = NaiveBayesMixture(1, n_init=3, random_state=8).fit(table)
        assert_same_mixture(
            NaiveBayesMixture(1, n_init=3, random_state=8).fit(cut(table, [700])), whole
        )
        settings = {"n_clusters": 3, "n_init": 4, "random_state": 8, "tol": 1e-5}
        whole = NaiveBayesMixture(**settings).fit(table)
        assert_same_mixture(NaiveBayesMixture(**settings).fit(partition(table, 9)), whole)


@settings(max_examples=60, deadline=None)
@given(data(max_rows=14, with_chosen=False), st.data())
def test_any_cut(own, draw):
    table = own.table()
    if own.total() == 0:
        return
    weights = np.ones(table.n_records) if own.weights is None else own.weights
    k = draw.draw(st.integers(1, min(3, np.count_nonzero(weights))))
    # One more pass is as good as the last: rounding may decide which of them is.
    settings = {"n_clusters": k, "n_init": 2, "random_state": 0, "max_iter": 4, "tol": 0.0}
    whole = NaiveBayesMixture(**settings, accelerate=False).fit(table)
    ends = draw.draw(st.lists(st.integers(0, table.n_records), max_size=4))
    parts = cut(table, ends)
    found = NaiveBayesMixture(**settings, accelerate=False).fit(parts)
    assert found.schema_ == whole.schema_
    assert found.log_likelihood_ == pytest.approx(whole.log_likelihood_, rel=1e-10, abs=1e-10)
    # Of the same parameters, all of it is the same, whatever the run.
    assert_same_counts(whole.expected_counts(parts), whole.expected_counts(table))
    assert np.array_equal(whole.predict(parts), whole.labels_)
    assert np.array_equal(whole.predict_proba(parts), whole.predict_proba(table))
    assert np.array_equal(whole.score_samples(parts), whole.score_samples(table))


def test_partitions_of_one_record():
    table = tacit.Table({"a": [0, 1, 0, 1], "b": [0, 1, 1, 1], "c": ["x", "x", "y", "x"]})
    whole = NaiveBayesMixture(2, random_state=1).fit(table)
    assert_same_mixture(NaiveBayesMixture(2, random_state=1).fit(partition(table, 4)), whole)


def test_label_that_one_partition_has(small):
    rare = small.take(np.arange(400))
    codes = ["rare" if r == 250 else "often" for r in range(400)]
    table = tacit.Table({"own": codes, "news": [str(x) for x in rare.codes("news")]})
    parts = partition(table, 5)
    settings = {"n_clusters": 2, "random_state": 0}
    assert_same_mixture(
        NaiveBayesMixture(**settings).fit(parts), NaiveBayesMixture(**settings).fit(table)
    )


def test_weights(weighted):
    settings = {"n_clusters": 3, "n_init": 3, "random_state": 0, "tol": 1e-5}
    whole = NaiveBayesMixture(**settings).fit(weighted)
    parts = partition(weighted, 6)
    found = NaiveBayesMixture(**settings).fit(parts)
    assert_same_mixture(found, whole)
    assert np.array_equal(found.predict(parts), whole.labels_)
    assert found.score(parts) == pytest.approx(whole.score(weighted), rel=TIGHT)


def test_a_partition_that_does_not_count(small):
    weights = np.ones(small.n_records)
    weights[500:1000] = 0
    table = small.with_weights(weights)
    settings = {"n_clusters": 3, "n_init": 2, "random_state": 0, "tol": 1e-5}
    found = NaiveBayesMixture(**settings).fit(partition(table, 3))
    assert_same_mixture(found, NaiveBayesMixture(**settings).fit(table))


@pytest.mark.parametrize(
    "settings",
    [
        {"prior": 0.0},
        {"prior_mean": "uniform", "prior": 2.5},
        {"accelerate": False},
        {"max_iter": 3},
        {"n_init": 1, "tol": 1e-3},
    ],
    ids=str,
)
def test_settings(small, settings):
    settings = {"n_clusters": 3, "n_init": 2, "random_state": 1, "tol": 1e-5} | settings
    whole = NaiveBayesMixture(**settings).fit(small)
    assert_same_mixture(NaiveBayesMixture(**settings).fit(partition(small, 4)), whole)


@pytest.mark.parametrize("missing", ["state", "ignore"])
def test_missing_values(missing):
    rng = np.random.default_rng(2)
    codes = rng.integers(0, 3, (400, 4)).cumsum(axis=1) % 3
    table = tacit.Table(
        {
            f"c{k}": [None if rng.random() < share else int(x) for x in codes[:, k]]
            for k, share in enumerate((0.0, 0.1, 0.7, 0.2))
        }
    )
    settings = {"n_clusters": 3, "n_init": 2, "random_state": 0, "missing": missing, "tol": 1e-5}
    whole = NaiveBayesMixture(**settings).fit(table)
    found = NaiveBayesMixture(**settings).fit(partition(table, 5))
    assert_same_mixture(found, whole)
    for column in table.schema.names:
        assert_close(found.probabilities(column), whole.probabilities(column))


def test_single_precision(small):
    settings = {"n_clusters": 3, "n_init": 2, "random_state": 0, "tol": 1e-4}
    whole = NaiveBayesMixture(**settings, precision="single").fit(small)
    parts = partition(small, 4)
    found = NaiveBayesMixture(**settings, precision="single").fit(parts)
    assert found.log_likelihood_ == pytest.approx(whole.log_likelihood_, rel=1e-5)
    # Whatever the passes, what is kept was counted in double precision.
    assert_same_counts(found.expected_, found.expected_counts(small))


def test_random_clusters_do_not_depend_on_the_cut(small):
    settings = {"n_clusters": 3, "n_init": 3, "init": "random", "random_state": 4, "tol": 1e-4}
    first = NaiveBayesMixture(**settings).fit(partition(small, 1))
    for n in (2, 11):
        assert_same_mixture(NaiveBayesMixture(**settings).fit(partition(small, n)), first)
    other = NaiveBayesMixture(**settings | {"random_state": 5}).fit(partition(small, 2))
    assert other.trace_[0] != first.trace_[0]
    whole = NaiveBayesMixture(**settings).fit(small)
    assert first.log_likelihood_ == pytest.approx(whole.log_likelihood_, rel=0.02)


def test_random_clusters_are_even(small):
    groups = hash_records(part_of(small), np.uint64(9)) % np.uint64(5)
    counts = np.bincount(groups.astype(np.int64), minlength=5)
    assert counts.sum() == small.n_records
    assert abs(counts - 300).max() < 60  # four times the standard deviation
    later = hash_records(part_of(small.take(np.arange(100, 200)), 1, 100), np.uint64(9))
    assert np.array_equal(later % np.uint64(5), groups[100:200])


# Threads, passes and memory


@pytest.mark.parametrize("options", [{}, {"init": "random"}, {"precision": "single"}], ids=str)
def test_who_computes_makes_no_difference(weighted, options):
    settings = {"n_clusters": 3, "n_init": 2, "random_state": 0, "tol": 1e-4, **options}
    parts = partition(weighted, 5)
    first = NaiveBayesMixture(**settings, n_jobs=1).fit(parts)
    proba = first.predict_proba(parts)
    for n_jobs in JOBS[1:]:
        found = NaiveBayesMixture(**settings, n_jobs=n_jobs).fit(parts)
        assert_identical_mixture(found, first)
        assert_identical(found.predict_proba(parts), proba)
    with using(Local(memory="1MB")):
        assert_identical_mixture(NaiveBayesMixture(**settings, n_jobs=3).fit(parts), first)


@pytest.mark.parametrize("init", ["seeds", "random"])
def test_starts_share_passes(small, init):
    settings = {"n_clusters": 3, "init": init, "random_state": 0, "max_iter": 6, "tol": 0.0}
    settings["prior"] = 1.0
    parts = partition(small, 3)
    found = NaiveBayesMixture(**settings, n_init=5).fit(parts)
    assert found.n_iter_ == 6
    # One for counts, one for starts. Runs end at their sixth pass at the latest; where all end
    # before, the best goes on alone.
    assert parts.cost.passes == 2 + 6
    assert parts.cost.records == 8 * small.n_records


def test_passes_of_questions(small):
    parts = partition(small, 3)
    mix = NaiveBayesMixture(2, random_state=0, tol=1e-3).fit(small)
    for ask in (mix.score, mix.bic, mix.predict, mix.expected_counts, mix.cheeseman_stutz):
        before = parts.cost.passes
        ask(parts)
        assert parts.cost.passes == before + 1


def test_one_more_pass_where_weights_are_zero(weighted):
    parts = partition(weighted, 3)
    NaiveBayesMixture(2, n_init=2, init="seeds", random_state=0, max_iter=1).fit(parts)
    assert parts.cost.passes == 3 + 1


def test_each_kind_of_start_takes_a_pass(small):
    parts = partition(small, 3)
    NaiveBayesMixture(2, n_init=4, random_state=0, max_iter=1).fit(parts)
    assert parts.cost.passes == 1 + 2 + 1


@pytest.mark.parametrize("init", ["both", "seeds", "random"])
def test_records_of_no_weight_are_as_if_they_were_not_there(weighted, init):
    settings = {"n_clusters": 3, "n_init": 3, "init": init, "random_state": 0, "tol": 1e-5}
    there = weighted.take(np.flatnonzero(weighted.weights))
    without = NaiveBayesMixture(**settings).fit(there)
    for records in (weighted, partition(weighted, 3)):
        assert_same_mixture(NaiveBayesMixture(**settings).fit(records), without)


def test_single_precision_takes_one_more_pass(small):
    parts = partition(small, 3)
    NaiveBayesMixture(2, n_init=1, random_state=0, max_iter=1, precision="single").fit(parts)
    assert parts.cost.passes == 2 + 1 + 1


def statistics(table):
    mix = NaiveBayesMixture(3, n_init=1, random_state=0, max_iter=2).fit(table)
    renamed = table.take(np.arange(50)).conform(table.schema)
    n = table.schema.n_values
    return [
        ExpectAll([mix._parameters, mix._parameters]),
        ExpectAll([mix._parameters], single=True, adapter=SchemaAdapter(renamed.schema, "default")),
        RandomClusters([np.uint64(1), np.uint64(2**63)], 3, n, {0: 0, 1: 0}),
        FirstPass(4, n),
        FirstPass(0, n),
        RecordsOfRanks(np.array([0, 5, 6, 40]), {0: 0}),
    ]


def in_bytes(found):
    """Return what a result takes: that of its arrays, and of the little that is besides them."""
    return len(pickle.dumps(found, protocol=5))


def test_statistics_travel_and_are_small(weighted):
    few, many = weighted.take(np.arange(100)), weighted
    for statistic in statistics(weighted):
        again = pickle.loads(pickle.dumps(statistic))
        one, other = statistic.partial(part_of(few)), again.partial(part_of(few))
        assert pickle.dumps(one) == pickle.dumps(other) or isinstance(statistic, FirstPass)
        if isinstance(statistic, FirstPass):  # pickles of sets depend on where they come from
            assert_identical(one.stored, other.stored)
            assert (one.total, one.positive) == (other.total, other.positive)
            assert one.distinct == other.distinct
        merged = again.merge(pickle.loads(pickle.dumps(one)), other)
        assert type(merged) is type(one)
        # No more for more records, and no more than it says.
        assert in_bytes(statistic.partial(part_of(many))) <= in_bytes(one) + 64
        assert in_bytes(one) <= statistic.n_bytes + 2000


def test_statistics_leave_records_alone(weighted):
    before = weighted.values.copy(), weighted.weights.copy(), weighted.indptr.copy()
    for statistic in statistics(weighted):
        one = statistic.partial(part_of(weighted))
        statistic.merge(one, statistic.partial(part_of(weighted)))
    after = weighted.values, weighted.weights, weighted.indptr
    assert all(np.array_equal(a, b) for a, b in zip(before, after, strict=True))


def test_merging_does_not_change_the_later_part(small):
    for statistic in statistics(small)[:4]:
        one, other = (statistic.partial(part_of(small, k)) for k in (0, 1))
        kept = pickle.dumps(other)
        statistic.merge(one, other)
        assert pickle.dumps(other) == kept


def test_statistics_that_exceed_memory(small):
    parts = partition(small, 4, memory="20kB")
    mix = NaiveBayesMixture(200, n_init=20, random_state=0)
    with pytest.raises(tacit.InputError, match=r"memory.*the statistic"):
        mix.fit(parts)
    assert not hasattr(mix, "expected_")


# What was asked of other tables


def test_scores(small):
    parts = partition(small, 4)
    mix = NaiveBayesMixture(3, n_init=1, random_state=0, tol=1e-4).fit(small)
    for name in ("score", "bic", "aic", "icl", "cheeseman_stutz"):
        ask = getattr(mix, name)
        assert ask(parts) == pytest.approx(ask(small), rel=TIGHT), name
    assert_same_counts(mix.expected_counts(parts), mix.expected_counts(small))


def test_profile_and_text(small):
    settings = {"n_clusters": 3, "n_init": 2, "random_state": 0, "tol": 1e-4}
    whole = NaiveBayesMixture(**settings).fit(small)
    found = NaiveBayesMixture(**settings).fit(partition(small, 4))
    assert found.to_text() == whole.to_text()
    one, other = found.profile(), whole.profile()
    assert_close(one.sizes, other.sizes)
    for a, b in zip(one.traits(3), other.traits(3), strict=True):
        assert [t.column for t in a.over] == [t.column for t in b.over]


def test_saved(small, tmp_path):
    parts = partition(small, 4)
    mix = NaiveBayesMixture(3, n_init=1, random_state=0, tol=1e-4).fit(parts)
    mix.save(tmp_path / "m.tacit")
    again = tacit.load(tmp_path / "m.tacit")
    assert np.array_equal(again.predict_proba(parts), mix.predict_proba(small))


@pytest.fixture(scope="module")
def shops():
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 2, 300)
    return {
        "fruit": np.array(["apple", "pear", "plum"])[(kind + (rng.random(300) < 0.2)) % 3],
        "drink": np.array(["tea", "milk"])[kind ^ (rng.random(300) < 0.1)],
    }


def test_other_label_order_and_defaults(shops):
    table = tacit.Table(shops)
    other = tacit.Table(
        {"more": ["x"] * 300, "drink": shops["drink"], "fruit": shops["fruit"]},
        defaults={"drink": "milk", "fruit": "plum"},
    )
    assert other.schema != table.schema
    mix = NaiveBayesMixture(2, random_state=0).fit(table)
    parts = partition(other, 4)
    assert np.array_equal(mix.predict(parts), mix.labels_)
    assert np.array_equal(mix.predict_proba(parts), mix.predict_proba(other))
    assert_same_counts(mix.expected_counts(parts), mix.expected_counts(table))
    assert mix.icl(parts) == pytest.approx(mix.icl(table), rel=TIGHT)
    streamed = NaiveBayesMixture(2, random_state=0).fit(partition(table, 3))
    whole = NaiveBayesMixture(2, random_state=0).fit(table)
    streamed.set_params(warm_start=True).fit(parts)
    whole.set_params(warm_start=True).fit(other)
    assert streamed.schema_ == table.schema
    assert_same_mixture(streamed, whole)


def test_unseen_labels(shops):
    mix = NaiveBayesMixture(2, random_state=0).fit(tacit.Table(shops))
    fruit = shops["fruit"].copy()
    fruit[250] = "fig"
    other = tacit.Table({"fruit": fruit, "drink": shops["drink"]})
    parts = partition(other, 4)
    asks = (mix.predict, mix.expected_counts, mix.bic, mix.partial_fit)
    assert_all_refuse(asks, parts, r"fruit.*fig")
    mix.set_params(unseen="default")
    assert np.array_equal(mix.predict(parts), mix.predict(other))
    assert_same_counts(mix.expected_counts(parts), mix.expected_counts(other))
    with pytest.raises(tacit.InputError, match="drink"):
        mix.expected_counts(partition(tacit.Table({"fruit": shops["fruit"]}), 2))


def test_warm_start(small):
    table, parts = small, partition(small, 4)
    settings = {"n_clusters": 3, "n_init": 1, "random_state": 0, "max_iter": 3, "tol": 0.0}
    whole = NaiveBayesMixture(**settings, warm_start=True).fit(table).fit(table)
    found = NaiveBayesMixture(**settings, warm_start=True).fit(parts).fit(parts)
    assert_same_mixture(found, whole)
    assert found.trace_[0] > NaiveBayesMixture(**settings).fit(parts).trace_[-1]
    before = parts.cost.passes
    with pytest.raises(tacit.InputError, match="n_clusters=5, but warm_start"):
        found.set_params(n_clusters=5).fit(parts)
    assert parts.cost.passes == before


def test_stream_of_partitioned_batches(weighted):
    batches = [weighted.take(np.arange(a, a + 500)) for a in (0, 500, 1000)]
    settings = {"n_clusters": 3, "n_init": 2, "random_state": 0, "tol": 1e-4}
    whole, found = NaiveBayesMixture(**settings), NaiveBayesMixture(**settings)
    for k, batch in enumerate(batches):
        whole.partial_fit(batch)
        found.partial_fit(partition(batch, 3) if k != 1 else batch)
        assert_same_mixture(found, whole)
    assert not hasattr(found, "labels_")


def test_labels(small):
    parts = partition(small, 3)
    settings = {"n_clusters": 2, "n_init": 1, "random_state": 0, "tol": 1e-3}
    mix = NaiveBayesMixture(**settings).fit(small)
    assert np.array_equal(mix.fit_predict(small), mix.labels_)
    assert np.array_equal(mix.fit_predict(parts), mix.predict(small))
    with pytest.raises(AttributeError, match=r"labels_.*predict\(X\)"):
        mix.labels_  # noqa: B018 - nor those of the fit before
    with pytest.raises(AttributeError, match=r"no attribute 'labels_'$"):
        NaiveBayesMixture().labels_  # noqa: B018
    with pytest.raises(AttributeError, match=r"no attribute 'else_'$"):
        mix.else_  # noqa: B018


# Bad input, and errors in the middle


@pytest.mark.parametrize(
    ("settings", "arguments", "message"),
    [
        ({"n_clusters": "auto"}, {}, "n_clusters.*X.take"),
        ({"n_clusters": 0}, {}, "n_clusters"),
        ({"n_clusters": 1501}, {}, "n_clusters=1501, but there are only n_samples=1500"),
        ({"discretise": {"nowhere": 3}}, {}, "discretise: there is no column 'nowhere'"),
        ({}, {"sample_weight": np.ones(1500)}, "sample_weight.*tacit.scan"),
        ({"init": "other"}, {}, "init"),
        ({"missing": "other"}, {}, "missing"),
        ({"prior_mean": "other"}, {}, "prior_mean"),
        ({"prior": -1}, {}, "prior"),
    ],
)
def test_bad_input_is_refused_before_a_pass(small, settings, arguments, message):
    assert_refused_before_a_pass(NaiveBayesMixture(**settings), small, message, **arguments)


def test_weights_that_are_all_zero(small):
    parts = partition(small.with_weights(np.zeros(small.n_records)), 3)
    mix = NaiveBayesMixture(2)
    with pytest.raises(tacit.InputError, match="all weights are zero"):
        mix.fit(parts)
    assert not hasattr(mix, "expected_")
    mix.fit(small)
    with pytest.raises(tacit.InputError, match="all weights are zero"):
        mix.score(parts)


def test_not_fitted(small):
    with pytest.raises(ValueError, match="not fitted"):
        NaiveBayesMixture().predict(partition(small, 2))
    with pytest.raises(ValueError, match="not fitted"):
        NaiveBayesMixture().score(partition(small, 2))


def test_too_few_distinct_records(caplog):
    table = tacit.Table({"a": [0, 1] * 20, "b": [1, 0] * 20})
    with caplog.at_level(logging.WARNING, "tacit"):
        NaiveBayesMixture(3, random_state=0).fit(partition(table, 4))
    assert "only 2 records are distinct" in caplog.text
    caplog.clear()
    table = tacit.Table({"a": [0] * 20 + [1] * 20, "b": [0] * 10 + [1] * 30})
    with caplog.at_level(logging.WARNING, "tacit"):  # no partition has them all
        NaiveBayesMixture(3, random_state=0).fit(partition(table, 4))
    assert "distinct" not in caplog.text


@pytest.mark.parametrize("weight", [0.01, 1.0, 100.0])
def test_clusters_that_die(caplog, weight):
    # Half a record is half of what one counts, on average of those that count.
    table = tacit.Table({"a": [0, 1] * 20}).with_weights(np.repeat([weight, 0.0], [30, 10]))
    said = []
    for X in (table, partition(table, 4)):
        caplog.clear()
        with caplog.at_level(logging.WARNING, "tacit"):
            NaiveBayesMixture(2, n_init=1, random_state=0, max_iter=1).fit(X)
            NaiveBayesMixture(30, n_init=1, random_state=0, prior=0.0).fit(X)
        said.append([line for line in caplog.messages if "distinct" not in line])
    assert said[0] == said[1]
    assert said[0] == [
        "28 of 30 clusters died: less than half a record belongs to each; ask for fewer"
    ]


@pytest.mark.parametrize("loads", [0, 1, 5, 9, 14])  # in the first pass, starts, EM
def test_errors_leave_the_model_as_it_was(small, loads):
    settings = {"n_clusters": 3, "n_init": 2, "random_state": 0, "tol": 1e-4}
    mix = NaiveBayesMixture(**settings)
    batches = [mix.partial_fit] if loads < 8 else []  # a batch takes two passes
    assert_errors_leave_a_model(mix, small, loads, mix.fit, *batches)


def test_own_schema_is_not_conformed(small):
    assert SchemaAdapter.between(partition(small, 2), small.schema, "error") == SAME_SCHEMA
