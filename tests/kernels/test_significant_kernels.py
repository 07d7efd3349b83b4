"""Kernels of significant rules: p-values, permutations, and the search, against trying all."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from oracles import significant as oracle
from tacit import _core

TESTS = ("fisher", "chi2")
ALTERNATIVES = ("two-sided", "greater", "less")


def as_items(held):
    """Return the records of each item, as the kernels take them."""
    start = np.concatenate(([0], np.cumsum(held.sum(axis=0)))).astype(np.int64)
    return start, np.nonzero(held.T)[1].astype(np.int32)


def search(held, labels, *, n_jobs=1, **settings):
    options = {
        "test": "fisher", "alternative": "two-sided", "correction": "permutation", "alpha": 0.05,
        "n_permutations": 99, "seed": 7, "min_support": 1, "max_size": 0,
    } | settings  # fmt: skip
    return _core.significant_rules(
        *as_items(held), labels.astype(np.uint8), **options, n_jobs=n_jobs
    )


def lists(found, name):
    start = found[f"{name}_start"]
    return [found[name][a:b] for a, b in itertools.pairwise(start)]


def records_of(held, found, name="path"):
    return [held[:, items].all(axis=1) for items in lists(found, name)]


def draw(rng, n=None, n_items=None):
    n, n_items = n or int(rng.integers(6, 40)), n_items or int(rng.integers(2, 7))
    held = rng.random((n, n_items)) < rng.uniform(0.2, 0.8, n_items)
    labels = (held[:, 0] & held[:, 1]) ^ (rng.random(n) < 0.1)
    labels[:2] = [True, False]
    return held, labels


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize(("n", "n_positives"), [(2, 1), (11, 3), (30, 15), (41, 33)])
def test_p_values_are_scipys(n, n_positives, test, alternative):
    cells = [
        (s, k)
        for s in range(1, n)
        for k in range(max(0, s - n + n_positives), min(s, n_positives) + 1)
    ]
    support, positives = np.array(cells).T.copy()
    log_p = _core.margin_log_p(n, n_positives, support, positives, test, alternative)
    wanted = [oracle.p_value(n, n_positives, s, k, test, alternative) for s, k in cells]
    np.testing.assert_allclose(np.exp(log_p), wanted, rtol=1e-7)


def test_p_values_far_below_the_least_double():
    support, positives = np.array([24_000, 9_000]), np.array([3_000, 9_000])
    args = 48_842, 11_687, support, positives
    less = _core.margin_log_p(*args, "fisher", "less")
    assert less[0] == pytest.approx(stats.hypergeom.logcdf(3_000, 48_842, 11_687, 24_000), rel=1e-6)
    greater = _core.margin_log_p(*args, "fisher", "greater")
    assert greater[1] == pytest.approx(
        stats.hypergeom.logpmf(9_000, 48_842, 11_687, 9_000), rel=1e-6
    )
    z = (9_000 * 48_842 - 9_000 * 11_687) / np.sqrt(
        9_000 * 39_842 * 11_687 * (48_842 - 11_687) / 48_842
    )
    chi2 = _core.margin_log_p(*args, "chi2", "greater")
    assert chi2[1] == pytest.approx(stats.norm.logsf(z), rel=1e-9)


@pytest.mark.parametrize("n_positives", [1, 30, 70, 99])
def test_permutations_are_uniform_and_do_not_depend_on_threads(n_positives):
    drawn = _core.permuted_labels(100, n_positives, 2000, 3, 1)
    assert (drawn.sum(axis=1) == n_positives).all()
    assert np.array_equal(drawn, _core.permuted_labels(100, n_positives, 2000, 3, 3))
    assert np.array_equal(drawn[:70], _core.permuted_labels(100, n_positives, 70, 3, 1))
    assert not np.array_equal(drawn, _core.permuted_labels(100, n_positives, 2000, 4, 1))
    rate = n_positives / 100
    deviation = (drawn.mean(axis=0) - rate) / np.sqrt(rate * (1 - rate) / 2000)
    assert np.abs(deviation).max() < 5


@pytest.mark.parametrize("n_positives", [5, 12, 13, 60, 150, 199])
def test_any_records_have_as_many_positives_as_of_a_hypergeometric_distribution(n_positives):
    n, m = 200, 6400
    drawn = _core.permuted_labels(n, n_positives, m, 11, 2)
    assert (drawn.sum(axis=1) == n_positives).all()
    some = np.random.default_rng(0).permutation(n)[:70]
    counts = np.bincount(drawn[:, some].sum(axis=1), minlength=71)
    expected = m * stats.hypergeom.pmf(np.arange(71), n, n_positives, 70)
    common = expected >= 5
    seen = np.append(counts[common], counts[~common].sum())
    wanted = np.append(expected[common], expected[~common].sum())
    if wanted[-1] < 5:
        seen, wanted = (
            np.append(seen[:-2], seen[-2:].sum()),
            np.append(wanted[:-2], wanted[-2:].sum()),
        )
    assert stats.chisquare(seen, wanted).pvalue > 1e-4
    # Permutations know nothing of each other, those that are drawn together neither.
    both = (drawn[:-1] & drawn[1:]).sum(axis=1)
    spread = stats.hypergeom(n, n_positives, n_positives)
    assert abs(both.mean() - spread.mean()) < 5 * spread.std() / np.sqrt(m - 1)


def test_paths_are_short_where_items_are_rare_too():
    rng = np.random.default_rng(3)
    n, n_items = 4000, 300
    held = rng.random((n, n_items)) < 0.003
    held[:, 0] = np.arange(n) < 80
    held[:, 1] = np.arange(n) < 40
    held[:, 2] = held[:, 0] & (rng.random(n) < 0.5)
    labels = np.where(held[:, 1] & held[:, 2], 0.9, 0.2) > rng.random(n)
    found = search(held, labels)
    args = (
        *as_items(held), labels.astype(np.uint8), np.array([0, 3]),
        np.array([0, 1, 2], np.int32), np.array([0, 3]), np.array([0, 1, 2], np.int32),
        np.array([held[:, :3].all(axis=1).sum()]), np.array([30]), "fisher", -1.0,
    )  # fmt: skip
    assert held.sum() * 2 < n_items * -(-n // 64)  # too rare for rows of bits
    _, start, path = _core.reduce_rules(*args, True, 1)
    assert (start.tolist(), path.tolist()) == ([0, 2], [1, 2])
    assert any(len(items) == 2 for items in lists(found, "path"))


@given(st.integers(0, 10**9))
@settings(max_examples=40)
def test_permutations_find_what_trying_all_finds(seed):
    rng = np.random.default_rng(seed)
    held, labels = draw(rng)
    test, alternative = str(rng.choice(TESTS)), str(rng.choice(ALTERNATIVES))
    max_size, min_support = int(rng.integers(0, 4)), int(rng.integers(1, 4))
    n_permutations, alpha = int(rng.integers(19, 80)), 0.1
    settings = {
        "test": test, "alternative": alternative, "alpha": alpha, "max_size": max_size,
        "n_permutations": n_permutations, "min_support": min_support,
    }  # fmt: skip
    found = search(held, labels, **settings)
    permuted = _core.permuted_labels(len(labels), int(labels.sum()), n_permutations, 7, 1)
    all_sets = oracle.hypotheses(held, max_size, min_support)
    limit, minima = oracle.westfall_young(
        all_sets, labels, permuted.astype(bool), alpha, test, alternative
    )
    assert np.exp(found["limit"]) == pytest.approx(limit, rel=1e-6)
    np.testing.assert_allclose(
        np.exp(found["minima"]), np.sort(minima[minima < limit * (1 - 1e-7)]), rtol=1e-6
    )
    p = [
        oracle.p_value(len(labels), int(labels.sum()), int(h.sum()), int(labels[h].sum()),
                       test, alternative)
        for h in all_sets
    ]  # fmt: skip
    wanted = {h.tobytes() for h, x in zip(all_sets, p, strict=True) if x < limit * (1 - 1e-7)}
    assert {h.tobytes() for h in records_of(held, found)} == wanted
    assert len(found["support"]) == len(wanted)
    check_rules(held, labels, found)


def check_rules(held, labels, found):
    """Check what is said of each rule against its records."""
    for path, closed, support, positives in zip(
        lists(found, "path"), lists(found, "closed"), found["support"], found["positives"],
        strict=True,
    ):  # fmt: skip
        records = held[:, path].all(axis=1)
        assert (records.sum(), labels[records].sum()) == (support, positives)
        everything = held.all(axis=0)
        assert closed.tolist() == np.flatnonzero(held[records].all(axis=0) & ~everything).tolist()
    assert (np.diff(found["log_p"]) >= 0).all()


@given(st.integers(0, 10**9))
@settings(max_examples=40)
def test_tarones_bound_is_that_of_counting_all(seed):
    rng = np.random.default_rng(seed)
    held, labels = draw(rng)
    test, alternative = str(rng.choice(TESTS)), str(rng.choice(ALTERNATIVES))
    max_size, alpha = int(rng.integers(0, 4)), 0.2
    options = {"test": test, "alternative": alternative, "alpha": alpha, "max_size": max_size}
    found = search(held, labels, correction="tarone", **options)
    all_sets = oracle.hypotheses(held, max_size)
    n_tests, testable = oracle.tarone(all_sets, labels, alpha, test, alternative)
    assert (found["n_tests"], found["n_testable"]) == (n_tests, testable)
    n, positives = len(labels), int(labels.sum())
    wanted = {
        h.tobytes()
        for h in all_sets
        if oracle.p_value(n, positives, int(h.sum()), int(labels[h].sum()), test, alternative)
        <= alpha / n_tests * (1 + 1e-9)
    }
    assert {h.tobytes() for h in records_of(held, found)} == wanted
    testable_sets = search(held, labels, correction="false_discovery", **options)
    assert testable_sets["n_testable"] == testable


@pytest.mark.parametrize("correction", ["permutation", "tarone", "false_discovery"])
@pytest.mark.parametrize("max_size", [0, 3])
def test_threads_do_not_matter(correction, max_size):
    rng = np.random.default_rng(5)
    held, labels = draw(rng, 700, 14)
    options = {"correction": correction, "max_size": max_size, "n_permutations": 300}
    one, *others = (search(held, labels, n_jobs=jobs, **options) for jobs in (1, 2, 5))
    assert len(one["support"]) > 20
    for other in others:
        for name, value in one.items():
            assert np.array_equal(value, other[name]), name


def test_more_permutations_than_a_chunk_and_more_records_than_a_word():
    """Planes of several chunks, complements of large sets, and differences to the set above."""
    rng = np.random.default_rng(3)
    held = rng.random((2100, 4)) < [0.97, 0.9, 0.6, 0.02]
    labels = rng.random(2100) < 0.7
    found = search(held, labels, n_permutations=599, alpha=0.3)
    permuted = _core.permuted_labels(2100, int(labels.sum()), 599, 7, 1).astype(bool)
    limit, _ = oracle.westfall_young(
        oracle.hypotheses(held), labels, permuted, 0.3, "fisher", "two-sided"
    )
    assert np.exp(found["limit"]) == pytest.approx(limit, rel=1e-6)


def test_what_adds_nothing_is_dropped_and_paths_are_short():
    rng = np.random.default_rng(2)
    held, labels = draw(rng, 400, 7)
    found = search(held, labels, n_permutations=199)
    args = (
        *as_items(held), labels.astype(np.uint8), found["path_start"], found["path"],
        found["closed_start"], found["closed"], found["support"], found["positives"], "fisher",
        found["limit"],
    )  # fmt: skip
    n, positive = len(labels), int(labels.sum())
    records = records_of(held, found)
    wanted = []
    for r, mine in enumerate(records):
        upward = found["positives"][r] * n > found["support"][r] * positive

        def stronger(other, mine=mine, upward=upward):
            table = [
                [labels[mine].sum(), (~labels[mine]).sum()],
                [labels[other & ~mine].sum(), (~labels[other & ~mine]).sum()],
            ]
            side = "greater" if upward else "less"
            return stats.fisher_exact(table, alternative=side).pvalue <= np.exp(found["limit"])

        covering = [
            k
            for k in wanted
            if (records[k] | ~mine).all()
            and (found["positives"][k] * n > found["support"][k] * positive) == upward
        ]
        if all(stronger(records[k]) for k in covering):
            wanted.append(r)
    kept, start, path = _core.reduce_rules(*args, False, 2)
    assert kept.tolist() == wanted
    assert 1 < len(kept) < len(records)
    everything, start_all, path_all = _core.reduce_rules(*args, True, 1)
    assert everything.tolist() == list(range(len(records)))
    for begin, end, mine in zip(start_all[:-1], start_all[1:], records, strict=True):
        items = path_all[begin:end]
        assert np.array_equal(held[:, items].all(axis=1), mine)
        for left_out in range(len(items)):
            rest = np.delete(items, left_out)
            assert held[:, rest].all(axis=1).sum() > mine.sum()
    assert len(start) == len(kept) + 1
    assert start[-1] == len(path)


def test_no_items_and_no_rules():
    found = search(np.ones((5, 2), bool), np.array([1, 0, 1, 0, 1], bool))
    assert len(found["support"]) == found["n_testable"] == 0
    found = search(np.zeros((5, 2), bool), np.array([1, 0, 1, 0, 1], bool), correction="tarone")
    assert (found["n_tests"], found["n_testable"]) == (1, 0)
