"""Dependency trees from samples: the same tree as from all records, as sure as promised."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom, chi2

from oracles.structure import discrete_tree, gaussian_tree, mixed_columns
from tacit import Table
from tacit.network.structure.columns import Columns
from tacit.network.structure.learn import Settings, learn
from tacit.network.structure.random_order import RandomOrder

EXACT = Settings(algorithm="exact")
MIST = Settings(algorithm="mist", initial_sample=500, random_state=1)


def numbers(seed, **more):
    return Columns.from_array(gaussian_tree(seed, 20_000, 20, **more))


def binary(seed):
    return Columns.from_table(discrete_tree(seed, 20_000, 20))


def labels(seed):
    return Columns.from_table(discrete_tree(seed, 20_000, 12, arity=4, coupling=0.35))


def mixed(seed):
    return mixed_columns(seed, 20_000)


KINDS = {"numbers": numbers, "binary": binary, "labels": labels, "mixed": mixed}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"guarantee": "decision"},
        {"tree_edges": "exact"},
        {"guarantee": "decision", "tree_edges": "exact"},
        {"initial_sample": 37},
        {"initial_sample": 19_999},
        {"n_jobs": 2},
    ],
    ids=str,
)
def test_the_tree_of_a_sample_is_the_tree_of_all(kind, changes):
    columns = KINDS[kind](1)
    whole = learn(columns, EXACT)
    result = learn(columns, replace(MIST, **changes))
    assert result.edges.tolist() == whole.edges.tolist()
    assert 0 < result.edge_usage <= 1
    assert (result.lower <= whole.weights + 1e-9).all()
    assert (whole.weights <= result.upper + 1e-9).all()
    assert (result.lower <= result.weights).all()
    assert (result.weights <= result.upper).all()
    if changes.get("tree_edges") == "exact":
        np.testing.assert_allclose(result.weights, whole.weights, rtol=1e-9)
        assert result.n_read == columns.n_records


@pytest.mark.parametrize("kind", KINDS)
def test_few_records_are_read_where_little_is_unclear(kind):
    result = learn(KINDS[kind](2), MIST)
    first = result.rounds[0]
    n = len(result.nodes)
    assert first == {"records": 500, "alive": n * (n - 1) // 2}
    alive = [part["alive"] for part in result.rounds]
    assert alive == sorted(alive, reverse=True)
    if kind != "mixed":
        assert result.edge_usage < 0.2
    reads = [b["alive"] * b["records"] for b in result.rounds]
    assert result.edge_usage * 20_000 * n * (n - 1) / 2 <= sum(reads)


@pytest.mark.parametrize("kind", ["numbers", "binary", "labels"])
def test_hoeffdings_inequality_reads_more(kind):
    columns = KINDS[kind](3)
    wide = learn(columns, replace(MIST, interval="hoeffding"))
    assert wide.edges.tolist() == learn(columns, EXACT).edges.tolist()
    assert wide.edge_usage > learn(columns, MIST).edge_usage


def test_the_same_random_state_gives_the_same_answer():
    columns = numbers(4, noise=0.3)
    first, again = (learn(columns, MIST) for _ in range(2))
    other = learn(columns, replace(MIST, random_state=9))
    assert first.rounds == again.rounds
    assert first.weights.tolist() == again.weights.tolist()
    assert first.weights.tolist() != other.weights.tolist()


@pytest.mark.parametrize("kind", ["binary", "mixed"])
def test_the_number_of_threads_does_not_matter(kind):
    columns = KINDS[kind](5)
    one, two = (learn(columns, replace(MIST, n_jobs=jobs)) for jobs in (1, 3))
    assert one.weights.tolist() == two.weights.tolist()
    assert one.rounds == two.rounds


def test_the_order_of_an_array_does_not_matter():
    x = gaussian_tree(6, 5000, 8)
    plain = learn(Columns.from_array(x), MIST)
    for other in (np.asfortranarray(x), np.repeat(x, 2, axis=1)[:, ::2]):
        result = learn(Columns.from_array(other), MIST)
        assert result.edges.tolist() == plain.edges.tolist()
        np.testing.assert_allclose(result.weights, plain.weights, rtol=1e-12)
    whole = np.round(10 * x).astype(np.int16)
    single = learn(Columns.from_array(whole.astype(np.float32)), MIST)
    assert learn(Columns.from_array(whole), MIST).weights.tolist() == single.weights.tolist()


def test_epsilon_trades_reading_for_small_mistakes():
    columns = numbers(7, noise=0.5)
    whole = learn(columns, EXACT)
    usages = []
    for epsilon in (0.0, 0.005, 0.05):
        result = learn(columns, replace(MIST, epsilon=epsilon))
        usages.append(result.edge_usage)
        exact = dict(zip(map(tuple, whole.edges.tolist()), whole.weights, strict=True))
        lost = sum(exact.values()) - result.weights.sum()
        assert lost < 0.1 * sum(exact.values()) + 20 * epsilon
    assert usages == sorted(usages, reverse=True)
    assert usages[-1] < usages[0]


def test_statistics_come_from_the_records_read():
    x = gaussian_tree(8, 20_000, 6)
    result = learn(Columns.from_array(x), MIST)
    for (a, b), pair in zip(result.edges.tolist(), result.pairs, strict=True):
        assert 500 <= pair.n <= result.n_read
        assert pair.cov == pytest.approx(np.cov(x[:, a], x[:, b])[0, 1], abs=0.5)
        assert pair.mean_a == pytest.approx(x[:, a].mean(), abs=0.3)
    table = discrete_tree(8, 20_000, 6)
    result = learn(Columns.from_table(table), MIST)
    for (a, b), counts in zip(result.edges.tolist(), result.pairs, strict=True):
        assert 500 <= counts.sum() <= result.n_read
        share = table.contingency([a, b]).to_array() / 20_000
        np.testing.assert_allclose(counts / counts.sum(), share, atol=0.1)
    assert [node.tolist() for node in result.nodes] == [
        table.one_way().array(c).tolist() for c in range(6)
    ]


def test_pairs_read_in_full_have_the_statistics_of_all_records():
    columns = mixed_columns(9, 4000)
    whole = learn(columns, EXACT)
    result = learn(columns, replace(MIST, tree_edges="exact"))
    assert result.edges.tolist() == whole.edges.tolist()
    for statistic, all_of_it in zip(result.pairs, whole.pairs, strict=True):
        parts = [statistic] if isinstance(statistic, np.ndarray) else vars(statistic).values()
        expected = [all_of_it] if isinstance(statistic, np.ndarray) else vars(all_of_it).values()
        for a, b in zip(parts, expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-9)


# Cases in which weights are close to each other, so that mistakes are possible.


def close_numbers(rng):
    return Columns.from_array(0.9 * rng.normal(size=(3000, 1)) + rng.normal(size=(3000, 5)))


def near_chain(rng):
    return Columns.from_array(rng.normal(size=(3000, 6)).cumsum(axis=1))


def heavy_tails(rng):
    x = rng.standard_t(4, size=(3000, 1)) + 0.7 * rng.standard_t(4, size=(3000, 5))
    return Columns.from_array(x)


def copies(rng, n_records, n_columns, draw, kept):
    """Return columns that repeat a common one with probability `kept`: all pairs are alike."""
    single, common = draw((n_records, n_columns)), draw((n_records, 1))
    return np.where(rng.random(single.shape) < kept, common, single).astype(int)


def rare_events(rng):
    x = copies(rng, 6000, 5, lambda shape: rng.random(shape) < 0.03, 0.9)
    return Columns.from_table(Table(x))


def close_codes(rng):
    return Columns.from_table(
        Table(copies(rng, 3000, 5, lambda shape: rng.random(shape) < 0.4, 0.7))
    )


def close_labels(rng):
    x = copies(rng, 3000, 5, lambda shape: np.minimum(rng.geometric(0.4, shape), 6), 0.6)
    return Columns.from_table(Table(x))


def weak_codes(rng):
    return Columns.from_table(discrete_tree(int(rng.integers(9**9)), 3000, 6, coupling=0.15))


def close_mixed(rng):
    x = rng.normal(size=(3000, 1)) + rng.normal(size=(3000, 6))
    table = Table(np.digitize(x[:, 3:], [-1, 0.5]), columns=["d", "e", "f"])
    return Columns.mixed(x[:, :3], ["a", "b", "c"], table)


@pytest.mark.parametrize("sample", [40, 200])
@pytest.mark.parametrize(
    "make",
    [
        close_numbers,
        near_chain,
        heavy_tails,
        rare_events,
        close_codes,
        close_labels,
        weak_codes,
        close_mixed,
    ],
)
def test_delta_is_kept(make, sample):
    delta, runs, wrong, usage = 0.05, 30, 0, 0.0
    for seed in range(runs):
        columns = make(np.random.default_rng(seed))
        settings = Settings(algorithm="mist", delta=delta, initial_sample=sample, random_state=seed)
        result = learn(columns, settings)
        wrong += result.edges.tolist() != learn(columns, EXACT).edges.tolist()
        usage += result.edge_usage / runs
    assert wrong <= binom.isf(1e-3, runs, delta)
    if make in (near_chain, weak_codes):
        assert usage < 0.8  # otherwise this would show nothing


def test_intervals_hold_as_often_as_they_say():
    # One decision only: two pairs compete, and delta is for that interval.
    delta, runs, held = 0.1, 150, 0
    for seed in range(runs):
        x = gaussian_tree(seed, 4000, 3)
        whole = learn(Columns.from_array(x), EXACT)
        settings = Settings(
            algorithm="mist",
            delta=delta,
            guarantee="decision",
            initial_sample=200,
            random_state=seed,
        )
        result = learn(Columns.from_array(x), settings)
        if result.edges.tolist() == whole.edges.tolist():
            exact = whole.weights
            inside = (result.lower <= exact + 1e-12) & (exact <= result.upper + 1e-12)
            held += inside.mean()
        else:
            held += 1
    assert held / runs > 1 - delta - 0.05
    assert held / runs < 1  # and they are not wide for nothing


def test_a_smaller_delta_reads_more():
    columns = numbers(10, noise=0.4)
    usages = [learn(columns, replace(MIST, delta=d)).edge_usage for d in (0.5, 1e-2, 1e-6)]
    assert usages == sorted(usages)
    assert usages[0] < usages[-1]


@pytest.mark.parametrize("n", [1, 2, 3, 5, 100, 257, 40_000])
def test_a_random_order_has_every_number_once(n):
    order = RandomOrder(n, 5)
    numbers = order.numbers(0, n)
    assert np.array_equal(np.sort(numbers), np.arange(n))
    assert np.array_equal(order.positions(numbers), np.arange(n))
    assert np.array_equal(order.numbers(n // 3, n), numbers[n // 3 :])
    if n > 2:
        assert not np.array_equal(numbers, RandomOrder(n, 6).numbers(0, n))


@pytest.mark.parametrize(("start", "stop"), [(0, 3), (3, 50), (0, 300), (250, 300)])
def test_whoever_has_some_numbers_knows_their_places(start, stop):
    order = RandomOrder(300, 5)
    first = np.sort(order.numbers(start, stop))
    for a, b in ((0, 300), (0, 1), (17, 140)):
        expected = first[(first >= a) & (first < b)]
        assert np.array_equal(order.within(a, b, start, stop), expected)


def test_all_pairs_are_equally_likely_to_come_first():
    n, first, draws = 12, 4, 6000
    seen = np.zeros((n, n))
    for key in np.random.default_rng(0).integers(2**63, size=draws).tolist():
        drawn = RandomOrder(n, key).numbers(0, first)
        seen[np.ix_(drawn, drawn)] += 1
    alone, both = draws * first / n, draws * first * (first - 1) / n / (n - 1)
    pairs = seen[np.triu_indices(n, 1)]
    assert ((np.diag(seen) - alone) ** 2 / alone).sum() < chi2.ppf(0.9999, n)
    assert ((pairs - both) ** 2 / both).sum() < chi2.ppf(0.9999, len(pairs))
