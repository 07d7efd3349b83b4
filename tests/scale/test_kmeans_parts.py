"""k-means of records in partitions comes to the centres that it comes to in memory."""

import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

import tacit
from support.kmeans_data import blobs, days, fit_quietly
from support.partitions import (
    assert_all_refuse,
    assert_errors_leave_a_model,
    assert_refused_before_a_pass,
    cut,
    part_of,
)
from support.strategies import JOBS, assert_identical, data
from tacit import KMeans
from tacit.mixture.kmeans.lloyd import Request
from tacit.mixture.kmeans.partitioned import AssignAll, NearestSum, take_sample
from tacit.mixture.kmeans.points import TablePoints
from tacit.mixture.partitions import SAME_SCHEMA, SchemaAdapter, first_pass
from tacit.scale import Predict, partition


@pytest.fixture(scope="module")
def small(visits):
    return visits.take(np.arange(1500))


def assert_same_clusters(found, whole, tolerance=0.0):
    """Centres are the same to the bit where sums are of whole numbers."""
    assert found.schema_ == whole.schema_
    assert found.n_iter_ == whole.n_iter_
    np.testing.assert_allclose(
        found.cluster_centers_, whole.cluster_centers_, rtol=tolerance, atol=tolerance
    )
    np.testing.assert_allclose(found.sizes_, whole.sizes_, rtol=tolerance)
    assert found.inertia_ == pytest.approx(whole.inertia_, rel=1e-12, abs=1e-12)


# The same clusters


@pytest.mark.parametrize("n", [1, 2, 7])
@pytest.mark.parametrize(
    "options",
    [
        {"n_clusters": 3},
        {"n_clusters": 6, "n_init": 3},
        {"n_clusters": 5, "init": "random", "n_init": 4},
        {"n_clusters": 4, "tol": 0},
        {"n_clusters": 4, "tol": 0.05},
        {"n_clusters": 4, "max_iter": 1},
        {"n_clusters": 4, "max_iter": 2, "algorithm": "lloyd"},
        {"n_clusters": 1},
    ],
    ids=str,
)
def test_same_clusters(small, n, options):
    whole = KMeans(random_state=3, **options).fit(small)
    parts = partition(small, n)
    found = KMeans(random_state=3, **options).fit(parts)
    assert_same_clusters(found, whole)
    assert np.array_equal(found.predict(parts), whole.labels_)
    assert found.feature_names_in_.tolist() == list(small.schema.names)
    assert found.n_features_in_ == small.n_columns


def test_all_visits(visits):
    whole = KMeans(5, random_state=0).fit(visits)
    parts = partition(visits, 9)
    assert_same_clusters(KMeans(5, random_state=0).fit(parts), whole)


@settings(max_examples=100, deadline=None)
@given(data(max_rows=16, with_chosen=False), st.data())
def test_any_cut(own, draw):
    table = own.table()
    n_positive = table.n_records if own.weights is None else np.count_nonzero(own.weights)
    if n_positive == 0:
        return
    options = {
        "n_clusters": draw.draw(st.integers(1, n_positive)),
        "init": draw.draw(st.sampled_from(["k-means++", "random"])),
        "n_init": draw.draw(st.integers(1, 3)),
        "tol": draw.draw(st.sampled_from([0.0, 1e-4, 0.1])),
        "max_iter": draw.draw(st.sampled_from([1, 2, 300])),
        "random_state": draw.draw(st.integers(0, 99)),
    }
    whole = fit_quietly(KMeans(**options), table)
    parts = cut(table, draw.draw(st.lists(st.integers(0, table.n_records), max_size=4)))
    found = fit_quietly(KMeans(**options), parts)
    assert_same_clusters(found, whole)
    assert np.array_equal(found.predict(parts), whole.labels_)
    assert np.array_equal(found.transform(parts), whole.transform(table))
    assert found.score(parts) == pytest.approx(whole.score(table), rel=1e-12, abs=1e-12)


def test_partitions_of_one_record():
    table = tacit.Table(days()).take(np.arange(40))
    whole = KMeans(4, n_init=3, random_state=0).fit(table)
    assert_same_clusters(KMeans(4, n_init=3, random_state=0).fit(partition(table, 40)), whole)


def test_weights(small):
    rng = np.random.default_rng(5)
    weights = rng.random(small.n_records) * (rng.random(small.n_records) > 0.2)
    table = small.with_weights(weights)
    whole = KMeans(4, n_init=3, random_state=0).fit(table)
    parts = partition(table, 6)
    found = KMeans(4, n_init=3, random_state=0).fit(parts)
    assert_same_clusters(found, whole, 1e-12)
    assert np.array_equal(found.predict(parts), whole.labels_)
    twice = small.with_weights(np.full(small.n_records, 2.0))
    plain = KMeans(4, random_state=0).fit(partition(small, 5))
    found = KMeans(4, random_state=0).fit(partition(twice, 5))
    assert_identical(found.cluster_centers_, plain.cluster_centers_)
    assert found.inertia_ == pytest.approx(2 * plain.inertia_)


def test_a_partition_that_does_not_count(small):
    weights = np.ones(small.n_records)
    weights[500:1000] = 0
    table = small.with_weights(weights)
    whole = KMeans(3, random_state=0).fit(table)
    assert_same_clusters(KMeans(3, random_state=0).fit(partition(table, 3)), whole)


def test_given_centres(small):
    seeds = TablePoints(small, None).rows(np.array([5, 700, 1400]))
    whole = KMeans(3, init=seeds, n_init=5).fit(small)
    parts = partition(small, 4)
    found = KMeans(3, init=seeds, n_init=5).fit(parts)
    assert_same_clusters(found, whole)
    last = whole.n_iter_ + 1  # nothing is drawn; the last centres have moved
    assert parts.cost.passes <= 1 + last


def test_empty_clusters_get_the_records_farthest_off(small):
    # The same centre three times: two clusters begin without members, here and in memory.
    seed = TablePoints(small, None).rows(np.array([3]))
    for table in (small, small.with_weights(np.arange(small.n_records) % 4.0)):
        options = {"n_clusters": 3, "init": seed.repeat(3, axis=0), "tol": 0}
        whole = KMeans(**options).fit(table)
        assert whole.sizes_.min() > 0
        for n in (1, 2, 50):
            found = KMeans(**options).fit(partition(table, n))
            assert_same_clusters(found, whole)
    # Each cluster without members takes one more pass, to find records far off.
    parts = partition(small, 3)
    found = KMeans(**options).fit(parts)
    assert parts.cost.passes >= 1 + found.n_iter_ + 1


def test_records_farthest_off_are_those_of_all():
    table = tacit.Table(days())
    centres = TablePoints(table, None).rows(np.array([0, 0, 0]))
    statistic = AssignAll([Request(centres, 2), Request(centres, 5)])
    whole = statistic.partial(part_of(table))
    for first in (1, 3, 150, 299):
        one = statistic.partial(part_of(table.take(np.arange(first))))
        rest = table.take(np.arange(first, 300))
        found = statistic.merge(one, statistic.partial(part_of(rest, 1, first)))
        for a, b in zip(found, whole, strict=True):
            assert [(x.distance, x.label, x.weight) for x in a.far] == [
                (x.distance, x.label, x.weight) for x in b.far
            ]
            assert all(np.array_equal(x.ids, y.ids) for x, y in zip(a.far, b.far, strict=True))


def test_too_few_distinct_records():
    table = tacit.Table({"a": [0, 1] * 20, "b": [1, 0] * 20})
    with pytest.warns(ConvergenceWarning, match="2 distinct clusters"):
        whole = KMeans(3, random_state=0).fit(table)
    with pytest.warns(ConvergenceWarning, match="2 distinct clusters"):
        found = KMeans(3, random_state=0).fit(partition(table, 5))
    assert_same_clusters(found, whole)


def test_seeds_of_many_records_are_drawn_from_a_sample(small, monkeypatch):
    monkeypatch.setattr("tacit.mixture.em.starts._SAMPLE", 150)
    weights = (np.arange(small.n_records) % 3).astype(float)
    for table in (small, small.with_weights(weights)):
        for init in ("k-means++", "random"):
            options = {"n_clusters": 3, "init": init, "n_init": 2, "random_state": 7}
            first = KMeans(**options).fit(partition(table, 1))
            for n in (2, 11):
                assert_same_clusters(KMeans(**options).fit(partition(table, n)), first)
            other = KMeans(**options | {"random_state": 8, "max_iter": 1}).fit(partition(table, 2))
            again = KMeans(**options | {"max_iter": 1}).fit(partition(table, 2))
            assert not np.array_equal(other.cluster_centers_, again.cluster_centers_)
            whole = KMeans(**options | {"n_init": 10}).fit(table)
            assert first.inertia_ < 1.1 * whole.inertia_


def test_samples_are_of_records_that_count(small, monkeypatch):
    monkeypatch.setattr("tacit.mixture.em.starts._SAMPLE", 300)
    weights = np.where(np.arange(small.n_records) % 3 == 1, 2.0, 0.0)
    table = small.with_weights(weights)
    for n in (1, 7):
        parts = partition(table, n)
        summary, _ = first_pass(parts, SAME_SCHEMA, 0, None)
        sample = take_sample(parts, summary, 2, np.random.RandomState(0), None)
        assert sample.n_records == 300
        assert (sample.weights == 2).all()
    plain = partition(small, 3)
    summary, _ = first_pass(plain, SAME_SCHEMA, 0, None)
    assert take_sample(plain, summary, 2, np.random.RandomState(0), None).n_records == 300
    assert take_sample(plain, summary, 20, np.random.RandomState(0), None).n_records == 1000
    assert take_sample(plain, summary, 40, np.random.RandomState(0), None).n_records == 1500


# Threads, passes and memory


def test_threads_make_no_difference(small):
    table = small.with_weights(np.random.default_rng(0).random(small.n_records))
    parts = partition(table, 5)
    first = KMeans(4, n_init=2, random_state=0, n_jobs=1).fit(parts)
    for n_jobs in JOBS[1:]:
        found = KMeans(4, n_init=2, random_state=0, n_jobs=n_jobs).fit(parts)
        assert_identical(found.cluster_centers_, first.cluster_centers_)
        assert_identical(found.sizes_, first.sizes_)
        assert found.inertia_ == first.inertia_


@pytest.mark.parametrize("n_init", [1, 6])
def test_starts_share_passes(small, n_init):
    parts = partition(small, 3)
    KMeans(3, n_init=n_init, random_state=0, max_iter=4, tol=0).fit(parts)
    # One for counts, one for seeds, four iterations, and the members of the last centres.
    assert parts.cost.passes == 2 + 4 + 1
    assert parts.cost.records == 7 * small.n_records


def test_no_last_pass_where_nothing_changes(small):
    parts = partition(small, 3)
    found = KMeans(3, random_state=0, tol=0).fit(parts)
    assert found.n_iter_ < 300
    assert parts.cost.passes == 2 + found.n_iter_


def test_passes_of_questions(small):
    parts = partition(small, 3)
    model = KMeans(3, random_state=0).fit(small)
    for ask in (model.predict, model.transform, model.score, model.profile):
        before = parts.cost.passes
        ask(parts)
        assert parts.cost.passes == before + 1


def statistics(table):
    centres = KMeans(3, random_state=0, max_iter=2).fit(table).cluster_centers_
    return [
        AssignAll([Request(centres), Request(centres[:2])]),
        AssignAll([Request(centres, 2)], SchemaAdapter(table.schema, "default")),
        NearestSum(centres),
    ]


def test_statistics_travel_and_are_small(small):
    table = small.with_weights(np.random.default_rng(0).random(small.n_records))
    few = table.take(np.arange(100))
    for statistic in statistics(table):
        again = pickle.loads(pickle.dumps(statistic))
        one, other = statistic.partial(part_of(few)), again.partial(part_of(few))
        assert pickle.dumps(one) == pickle.dumps(other)
        kept = pickle.dumps(other)
        merged = statistic.merge(pickle.loads(pickle.dumps(one)), other)
        assert type(merged) is type(one)
        assert pickle.dumps(other) == kept
        # No more for more records, and no more than it says.
        assert len(pickle.dumps(statistic.partial(part_of(table)))) <= len(kept) + 64
        assert len(kept) <= statistic.n_bytes + 1500


def test_statistics_leave_records_alone(small):
    before = small.values.copy(), small.indptr.copy()
    for statistic in statistics(small):
        statistic.merge(statistic.partial(part_of(small)), statistic.partial(part_of(small)))
    assert np.array_equal(before[0], small.values)
    assert np.array_equal(before[1], small.indptr)


def test_mark_says_whether_labels_are_the_same(small):
    centres = KMeans(3, random_state=0, max_iter=2).fit(small).cluster_centers_
    parts = [small.take(np.arange(600)), small.take(np.arange(600, 1500))]

    def mark(centres):
        statistic = AssignAll([Request(centres)])
        one = statistic.partial(part_of(parts[0]))
        return statistic.merge(one, statistic.partial(part_of(parts[1], 1, 600)))[0].mark

    whole = AssignAll([Request(centres)]).partial(part_of(small))[0].mark
    assert mark(centres) == whole
    assert mark(centres + 1e-9) == whole  # all as far off as before
    assert mark(centres[::-1].copy()) != whole


def test_statistics_that_exceed_memory(small):
    model = KMeans(300, n_init=20, init="random", random_state=0)
    with pytest.raises(tacit.InputError, match=r"memory.*the statistic"):
        model.fit(partition(small, 4, memory="50kB"))
    assert not hasattr(model, "cluster_centers_")


# What is asked of a model


def test_methods(small, tmp_path):
    parts = partition(small, 4)
    whole = KMeans(3, random_state=0).fit(small)
    found = KMeans(3, random_state=0).fit(parts)
    assert found.to_text() == whole.to_text()
    assert repr(found) == repr(whole)
    assert np.array_equal(found.transform(parts), whole.transform(small))
    assert np.array_equal(found.centers("news"), whole.centers("news"))
    assert found.score(parts) == pytest.approx(-found.inertia_, rel=1e-12)
    assert found.score(parts) == pytest.approx(whole.score(small), rel=1e-12)
    assert np.array_equal(KMeans(3, random_state=0).fit_transform(parts), whole.transform(small))
    assert found.get_feature_names_out().tolist() == ["kmeans0", "kmeans1", "kmeans2"]
    found.save(tmp_path / "m.tacit")
    assert np.array_equal(tacit.load(tmp_path / "m.tacit").predict(parts), whole.labels_)


def test_labels(small):
    parts = partition(small, 3)
    model = KMeans(3, random_state=0).fit(small)
    labels = model.labels_
    assert np.array_equal(KMeans(3, random_state=0).fit_predict(parts), labels)
    model.fit(parts)
    with pytest.raises(AttributeError, match=r"labels_.*predict\(X\).*Predict\(model\)"):
        model.labels_  # noqa: B018 - nor those of the fit before
    assert not hasattr(model, "labels_")
    assert np.array_equal(np.concatenate(list(parts.map(Predict(model)))), labels)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(parts), labels)
    with pytest.raises(AttributeError, match=r"no attribute 'labels_'$"):
        KMeans().labels_  # noqa: B018


def test_profile(small):
    rng = np.random.default_rng(1)
    for table in (small, small.with_weights(rng.integers(0, 4, small.n_records).astype(float))):
        model = KMeans(3, random_state=0, max_iter=3).fit(table)
        wanted = tacit.mixture.Profile.from_labels(table, model.labels_, prior=2.0)
        for found in (
            model.profile(table, prior=2.0),
            model.profile(partition(table, 4), prior=2.0),
        ):
            assert found.to_text() == wanted.to_text()
            assert np.array_equal(found.sizes, wanted.sizes)
    with pytest.raises(tacit.InputError, match="prior"):
        model.profile(small, prior=-1.0)
    with pytest.raises(tacit.InputError, match="numbers"):
        KMeans(2, random_state=0).fit(blobs()).profile(partition(small, 2))


def test_other_label_order_and_defaults():
    frame = days()
    table = tacit.Table(frame)
    other = tacit.Table(
        frame.select("snow", "wind", "sky", "rain"), defaults={"sky": "white", "wind": "storm"}
    )
    assert other.schema != table.schema
    model = KMeans(3, random_state=0).fit(partition(table, 3))
    parts = partition(other, 4)
    assert np.array_equal(model.predict(parts), model.predict(table))
    np.testing.assert_allclose(model.transform(parts), model.transform(table), rtol=1e-12)
    assert model.score(parts) == pytest.approx(model.score(table), rel=1e-12)
    assert model.profile(parts).to_text() == model.profile(table).to_text()


def test_unseen_labels():
    frame = days()
    model = KMeans(3, random_state=0).fit(tacit.Table(frame))
    sky = frame.get_column("sky").to_list()
    sky[200] = "green"
    other = tacit.Table(frame.with_columns(sky=np.array(sky)))
    parts = partition(other, 4)
    asks = (model.predict, model.transform, model.score, model.profile)
    assert_all_refuse(asks, parts, r"sky.*green")
    model.set_params(unseen="default")
    assert np.array_equal(model.predict(parts), model.predict(other))
    assert model.score(parts) == pytest.approx(model.score(other), rel=1e-12)


def test_says_what_it_does(small, capsys):
    KMeans(3, random_state=0, n_init=2, max_iter=2, verbose=1).fit(partition(small, 3))
    said = capsys.readouterr().err
    for line in ("start 1, iteration 1: centres moved by ", "start 2, iteration 2: "):
        assert line in said


# Bad input, and errors in the middle


@pytest.mark.parametrize(
    ("options", "arguments", "message"),
    [
        ({"n_clusters": 0}, {}, "n_clusters"),
        ({"n_clusters": 1501}, {}, "n_clusters=1501, but there are only n_samples=1500"),
        ({"algorithm": "bounds"}, {}, "algorithm: 'bounds'"),
        ({"algorithm": "other"}, {}, "algorithm must be"),
        ({"init": "other"}, {}, "init must be"),
        ({"init": np.zeros((3, 2))}, {}, r"init must have shape \(8, 58\)"),
        ({"n_init": "other"}, {}, "n_init"),
        ({"tol": -1}, {}, "tol"),
        ({"unseen": "other"}, {}, "unseen"),
        ({}, {"sample_weight": np.ones(1500)}, r"sample_weight.*tacit.scan"),
    ],
)
def test_bad_input_is_refused_before_a_pass(small, options, arguments, message):
    assert_refused_before_a_pass(KMeans(**options), small, message, **arguments)


def test_weights_of_zero(small):
    model = KMeans(3)
    with pytest.raises(tacit.InputError, match="all weights are zero"):
        model.fit(partition(small.with_weights(np.zeros(1500)), 3))
    with pytest.raises(tacit.InputError, match=r"only 2 records .* have a weight above 0"):
        model.fit(partition(small.with_weights((np.arange(1500) % 750 == 1) * 1.0), 3))
    assert not hasattr(model, "cluster_centers_")


def test_models_of_numbers(small):
    model = KMeans(2, random_state=0).fit(blobs())
    parts = partition(small, 2)
    asks = (model.predict, model.transform)
    assert_all_refuse(asks, parts, "X has 27 features, but KMeans is expecting 5 features")
    assert_all_refuse([model.score], parts, "fitted to numbers")
    numbers = partition(tacit.Table(blobs()), 2)
    assert np.array_equal(model.predict(numbers), model.predict(blobs()))
    assert np.array_equal(model.transform(numbers), model.transform(blobs()))
    with pytest.raises(tacit.InputError, match="sample_weight"):
        KMeans(2).fit(small).score(parts, sample_weight=np.ones(1500))
    for ask in (KMeans().predict, KMeans().score, KMeans().profile):
        with pytest.raises(ValueError, match="not fitted"):
            ask(parts)


@pytest.mark.parametrize("loads", [0, 1, 5, 9, 14])  # in the first pass, seeds, iterations
def test_errors_leave_the_model_as_it_was(small, loads):
    model = KMeans(3, random_state=0)
    assert_errors_leave_a_model(model, small, loads, model.fit)


def test_no_warnings(small):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        KMeans(3, n_init=2, random_state=0).fit(partition(small, 3)).predict(small)
