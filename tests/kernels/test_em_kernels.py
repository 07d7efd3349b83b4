"""The kernels of EM against a dense oracle in logs, and the rules their sums keep."""

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import counts as oracles
from oracles import em as em_oracle
from oracles.em import Model, random_model
from support.strategies import VALUE_TYPES, any_weights, data, for_all_jobs
from tacit import _core

JOBS = (1, 2, 5)
value_types = pytest.mark.parametrize("dtype", VALUE_TYPES)
precisions = pytest.mark.parametrize("single", [False, True], ids=["double", "single"])
CONCENTRATIONS = (0, 0.02, 0.3, 3.0)
# Records are padded to four clusters, eight such units make a group.
CLUSTERS = (1, 2, 3, 4, 5, 8, 9, 19, 20, 21, 31, 32, 33, 36, 63, 64, 65, 66, 70)
SMALLEST = sys.float_info.min / 2**20  # a number that is not normal


def csr(codes, model, dtype=np.uint16):
    """Return the stored values of dense codes as indptr and value ids."""
    first = np.cumsum([0, *(len(rows) - 1 for rows in model.columns)])
    defaults = np.array(model.defaults)
    ids = codes - (codes > defaults) + first[:-1]
    stored = codes != defaults
    indptr = np.concatenate([[0], np.cumsum(stored.sum(axis=1))]).astype(np.int64)
    return indptr, ids[stored].astype(dtype)


def as_records(arrays, stored, chosen=None, weights=None):
    """Return records of as many value ids as a model has rows of stored values."""
    return _core.Records(*arrays, len(stored), chosen, weights)


def step(arrays, model, chosen=None, weights=None, *, single=False, jobs=JOBS):
    """Run em_step with several thread counts, which must agree to the bit."""

    def kernel(n_jobs):
        *sums, log = _core.em_step(
            as_records(arrays, model.arrays()[2], chosen, weights), *model.arrays(), single, n_jobs
        )
        return *sums, np.float64(log)

    return for_all_jobs(kernel, jobs)


def assert_close(actual, expected, weight, *, single=False):
    """Counts agree, but for those that are nothing beside the weight of all records."""
    relative, absolute = (1e-4, 1e-7) if single else (1e-9, 1e-20)
    assert np.isfinite(actual).all()
    np.testing.assert_allclose(
        actual, np.asarray(expected, np.float64), rtol=relative, atol=absolute * weight
    )


def check_step(codes, model, weights=None, chosen=None, *, dtype=np.uint16, single=False):
    codes = np.asarray(codes)
    totals, stored, log = step(csr(codes, model, dtype), model, chosen, weights, single=single)
    expected = em_oracle.expectations(model, codes, weights, chosen)
    used = np.ones(len(codes)) if weights is None else weights
    weight = used.sum() if chosen is None else used[chosen].sum()
    assert_close(totals, expected[0], weight, single=single)
    assert_close(stored, expected[1], weight, single=single)
    exact = float(expected[2])
    rounding = abs(float(weight)) * len(model.columns) if single else 0.0
    assert abs(log - exact) <= 1e-9 * abs(exact) + 1e-12 * weight + 1e-6 * rounding
    return totals, stored, log


def binary(rng, n_records, n_columns, share):
    return (rng.random((n_records, n_columns)) < share).astype(np.int64)


@precisions
@value_types
@given(
    d=data(weights=any_weights),
    n_clusters=st.sampled_from(CLUSTERS),
    concentration=st.sampled_from(CONCENTRATIONS),
    seed=st.integers(0, 2**32 - 1),
)
@settings(max_examples=60)
def test_step_equals_the_oracle(dtype, single, d, n_clusters, concentration, seed):
    rng = np.random.default_rng(seed)
    model = random_model(rng, n_clusters, d.arities, d.defaults, concentration)
    check_step(d.rows, model, d.weights, d.chosen, dtype=dtype, single=single)


@precisions
@pytest.mark.parametrize("n_clusters", range(1, 71))
def test_any_number_of_clusters(n_clusters, single):
    rng = np.random.default_rng(n_clusters)
    model = random_model(rng, n_clusters, [2] * 25 + [5] * 5, [0] * 30, 0.5)
    codes = np.hstack([binary(rng, 90, 25, 0.2), rng.integers(0, 5, (90, 5))])
    codes[7] = 0  # a record of nothing but defaults
    check_step(codes, model, single=single)


@precisions
@pytest.mark.parametrize("weighted", [False, True])
def test_many_blocks_and_stretches(single, weighted):
    # More than 16,384 records, whose sums are floats at first, and 32 blocks of them.
    rng = np.random.default_rng(1)
    model = random_model(rng, 6, [2, 3, 2, 4], [0, 2, 1, 0], 0.7)
    codes = np.stack([rng.integers(0, arity, 40_000) for arity in (2, 3, 2, 4)], axis=1)
    check_step(codes, model, rng.random(40_000) if weighted else None, single=single)
    check_step(codes, model, chosen=np.arange(5, 40_000, 3), single=single)


def test_one_block_of_many_records_keeps_float_sums_close():
    # As many values as make one block: floats would add up more than 16,384 records.
    rng = np.random.default_rng(2)
    n_columns = 2000
    model = random_model(rng, 3, [2] * n_columns, [0] * n_columns, 5.0)
    codes = np.zeros((50_000, n_columns), np.int8)
    codes[:, 5] = 1
    codes[rng.integers(0, 50_000, 10_000), rng.integers(0, n_columns, 10_000)] = 1
    totals, stored, _ = step(csr(codes, model), model, single=True)
    exact, exact_stored, _ = step(csr(codes, model), model)
    np.testing.assert_allclose(totals, exact, rtol=2e-5)
    np.testing.assert_allclose(stored, exact_stored, rtol=1e-4, atol=1e-3)
    assert abs(stored[5].sum() - 50_000) < 1


@precisions
@pytest.mark.parametrize("concentration", [0.05, 1.0])
@pytest.mark.parametrize("n_clusters", [3, 20, 40])
def test_thousands_of_columns(n_clusters, concentration, single):
    rng = np.random.default_rng(n_clusters)
    n_columns = 5000
    model = random_model(rng, n_clusters, [2] * n_columns, [0] * n_columns, concentration)
    codes = np.vstack([binary(rng, 4, n_columns, share) for share in (0.002, 0.05, 0.5, 0.98)])
    check_step(codes, model, dtype=np.uint32, single=single)


@precisions
def test_records_of_a_cluster_with_thousands_of_columns(single):
    # Records drawn from the model itself: here products rise as well as fall.
    rng = np.random.default_rng(4)
    n_columns = 5000
    model = random_model(rng, 6, [2] * n_columns, [0] * n_columns, 0.3)
    ones = np.array([rows[1] for rows in model.columns]).T
    codes = (rng.random((12, n_columns)) < np.repeat(ones, 2, axis=0)).astype(np.int64)
    totals, *_ = check_step(codes, model, single=single)
    np.testing.assert_allclose(totals, 2, atol=1e-6)


@precisions
@pytest.mark.parametrize("n_clusters", [5, 20, 33, 70])
def test_long_records_of_one_cluster_of_a_few_and_of_all(n_clusters, single):
    # Of 200 columns, the first 150 tell clusters apart: all of them, groups of three, none.
    rng = np.random.default_rng(n_clusters)
    n_columns = 200
    tells = np.where(rng.random((n_columns, n_clusters)) < 0.5, 0.9, 0.1)
    tells[50:100] = tells[50:100, np.arange(n_clusters) // 3]
    tells[150:] = 0.5
    columns = [np.stack([1 - row, row]) for row in tells]
    model = Model(np.full(n_clusters, 1 / n_clusters), columns, [0] * n_columns)
    own = rng.random((3 * n_clusters, n_columns)) < np.repeat(tells, 3, axis=1).T
    shared = np.zeros_like(own)
    shared[:, 50:100] = own[:, 50:100]
    vague = np.zeros_like(own)
    vague[:, 150:] = rng.random((len(own), 50)) < 0.9
    codes = np.vstack([own, shared, vague]).astype(np.int64)
    check_step(codes, model, single=single)
    check_step(codes, model, rng.random(len(codes)), single=single)


@precisions
def test_clusters_far_apart_in_what_they_say_of_defaults(single):
    # The second cluster holds defaults 2^-20 as likely: 2^-6000 over all columns. It may still be
    # the better one, or as good, for a record of many stored values.
    n = 300
    likely, rare = 1 - 2.0**-20, 2.0**-20
    rows = np.array([[likely, rare], [rare, likely]])
    model = Model(np.array([0.5, 0.5]), [rows] * n, [0] * n)
    codes = np.zeros((n + 1, n), np.int64)
    codes[np.tril_indices(n + 1, -1, n)] = 1  # record i stores the first i values
    _, stored, _ = check_step(codes, model, single=single)
    assert stored[0, 0] == pytest.approx(n / 2 - 0.5)


@precisions
@pytest.mark.parametrize("n_columns", [2, 4, 8, 12, 40, 200, 1000])
@pytest.mark.parametrize("bits", [1, 5, 20, 60, 100])
def test_a_cluster_that_falls_and_rises_again_is_not_lost(n_columns, bits, single):
    # In the first half one cluster falls by `bits` powers of two at each column, in the second
    # half the other: both end at the same probability.
    half = n_columns // 2
    low = 2.0**-bits
    first = np.array([[0.5, 0.5], [low / 2, 0.5]])
    model = Model(np.array([0.5, 0.5]), [first] * half + [first[:, ::-1]] * half, [0] * n_columns)
    totals, stored, _ = check_step(np.ones((3, n_columns), np.int64), model, single=single)
    np.testing.assert_allclose(totals, 1.5, rtol=1e-4)
    np.testing.assert_allclose(stored, 1.5, rtol=1e-4)


@precisions
@pytest.mark.parametrize("n_columns", [2, 4, 8, 12, 40, 200])
@pytest.mark.parametrize("bits", [1, 5, 20, 60, 120])
def test_a_cluster_that_falls_and_is_raised_again_is_not_lost(n_columns, bits, single):
    # The other cluster takes stored values and defaults for equally likely all the way.
    half = n_columns // 2
    low = 2.0**-bits
    fall = np.array([[0.5, 0.5], [low / 2, 0.5]])
    rise = np.array([[low / 2, 0.5], [0.5, 0.5]])
    model = Model(np.array([0.5, 0.5]), [fall] * half + [rise] * half, [0] * n_columns)
    codes = np.ones((4, n_columns), np.int64)
    codes[3] = 0
    check_step(codes, model, single=single)


@precisions
@pytest.mark.parametrize("gap", [40, 90, 130, 160])
def test_a_row_beyond_the_range_of_floats(gap, single):
    # What separates two clusters in one value, 2^-gap, is made good by what all defaults say.
    n = 40
    shift = 2.0 ** (-gap / n)
    even = np.array([[0.5, 0.5 * shift], [0.5, 0.5 * shift]])
    last = np.array([[0.5, 0.5], [0.5 * 2.0**-gap, 0.5]])
    model = Model(np.array([0.5, 0.5]), [even] * n + [last], [0] * (n + 1))
    codes = np.zeros((2, n + 1), np.int64)
    codes[:, n] = 1
    totals, *_ = check_step(codes, model, single=single)
    np.testing.assert_allclose(totals, 1, rtol=1e-4)


@precisions
@pytest.mark.parametrize("n_values", [1, 3, 5, 6, 7, 9])
def test_a_cluster_that_starts_out_of_range_is_not_counted_for_more(n_values, single):
    # The second cluster starts 2^-2000 below the first, and stays there; the first falls.
    n, low = 2000, 2.0**-199
    even = np.array([[0.5, 0.25], [0.5, 0.75]])
    fall = np.array([[0.5, 0.5], [low / 2, 0.5]])
    model = Model(np.array([0.5, 0.5]), [even] * n + [fall] * n_values, [0] * (n + n_values))
    codes = np.zeros((2, n + n_values), np.int64)
    codes[:, n:] = 1
    totals, *_ = check_step(codes, model, single=single)
    assert totals[1] < 1e-30


@precisions
def test_probabilities_of_zero_and_one(single):
    # No cluster allows the last two records: each contradicts every cluster in one column or more.
    columns = [np.eye(2), np.eye(2), np.array([[1.0, 1.0], [0.0, 0.0]])]
    model = Model(np.array([0.25, 0.75]), columns, [0, 0, 0])
    codes = [[0, 0, 0], [1, 1, 0], [1, 0, 0], [0, 1, 1]]
    totals, _, log = check_step(codes, model, single=single)
    np.testing.assert_allclose(totals, [1.5, 2.5], rtol=1e-6)
    rare = np.log(0.25) + np.log(0.75) + np.log(1e-60) + np.log(1e-120)
    assert log == pytest.approx(rare, rel=1e-6)


@precisions
@pytest.mark.parametrize("least", [0.0, 1e-50, 1e-40, 1e-30, 1e-20])
def test_a_default_that_one_cluster_all_but_rules_out(least, single):
    # The row of the stored value is beyond the range of floats, and so is that cluster's start.
    column = np.array([[least, 0.999], [1 - least, 0.001]])
    model = Model(np.array([0.5, 0.5]), [column], [0])
    totals, *_ = check_step([[1], [1], [0]], model, single=single)
    np.testing.assert_allclose(totals, [2 / 1.001, 1 + 0.002 / 1.001], rtol=1e-6)


@precisions
def test_columns_of_one_value_and_tables_without_stored_values(single):
    model = random_model(np.random.default_rng(0), 5, [1, 1], [0, 0])
    totals, stored, log = check_step(np.zeros((7, 2), np.int64), model, single=single)
    np.testing.assert_allclose(totals, 7 * model.shares)
    assert stored.shape == (0, 5)
    assert log == pytest.approx(0, abs=1e-12)


@precisions
def test_no_chosen_records(single):
    model = random_model(np.random.default_rng(0), 5, [2, 3], [0, 0])
    nobody = np.zeros(0, np.int64)
    totals, stored, log = step(csr(np.ones((3, 2), int), model), model, nobody, single=single)
    assert (log, totals.any(), stored.any()) == (0, False, False)


WEIGHTS = ([0.0], [1e-30], [1e30], [0.0, 1e-9, 1, 1e9], [1e-300, 1e-200], [1e25, 1e290])


@precisions
@pytest.mark.parametrize("weights", WEIGHTS, ids=str)
@pytest.mark.parametrize("concentration", [0.05, 2.0])
def test_weights_of_any_size(weights, concentration, single):
    rng = np.random.default_rng(3)
    model = random_model(rng, 6, [2] * 60, [0] * 60, concentration)
    codes = binary(rng, 40, 60, rng.choice([0.02, 0.3, 0.9], (40, 1)))
    check_step(codes, model, np.resize(weights, 40), single=single)


@precisions
@pytest.mark.parametrize("power", [-900, -200, -3, 4, 130, 900])
def test_weights_times_a_power_of_two_give_sums_times_it(power, single):
    rng = np.random.default_rng(3)
    model = random_model(rng, 6, [2] * 60, [0] * 60, 0.3)
    arrays = csr(binary(rng, 40, 60, 0.3), model)
    weights = rng.random(40)
    plain = step(arrays, model, None, weights, single=single)
    scaled = step(arrays, model, None, np.ldexp(weights, power), single=single)
    for a, b in zip(plain, scaled, strict=True):
        np.testing.assert_array_equal(np.ldexp(a, power), b)


@given(d=data(with_chosen=False), n_clusters=st.sampled_from((1, 4, 7, 35)), pick=st.data())
@settings(max_examples=40)
def test_sums_of_two_parts_make_up_the_whole(d, n_clusters, pick):
    model = random_model(np.random.default_rng(n_clusters), n_clusters, d.arities, d.defaults, 0.5)
    arrays = d.csr(np.uint16)
    n = len(d.rows)
    cut = pick.draw(st.integers(0, n))
    whole = step(arrays, model, None, d.weights)
    parts = [
        step(arrays, model, np.arange(a, b), d.weights, jobs=(1,)) for a, b in [(0, cut), (cut, n)]
    ]
    for a, b, total in zip(*parts, whole, strict=True):
        np.testing.assert_allclose(a + b, total, rtol=1e-12, atol=1e-12)


@precisions
@given(d=data(with_chosen=False, weights=None))
@settings(max_examples=40)
def test_a_weight_is_so_many_records(single, d):
    model = random_model(np.random.default_rng(1), 7, d.arities, d.defaults, 0.5)
    times = np.arange(len(d.rows)) % 3
    weighted = step(d.csr(np.uint16), model, None, times.astype(float), single=single)
    repeated = oracles.csr(
        [ids for n, ids in zip(times, d.lists, strict=True) for _ in range(n)], np.uint16
    )
    once = step(repeated, model, single=single)
    for a, b in zip(weighted, once, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5 if single else 1e-12, atol=1e-5)


@precisions
@given(d=data(weights=any_weights), n_clusters=st.sampled_from((1, 5, 33)))
@settings(max_examples=40)
def test_every_record_is_shared_out_in_full(single, d, n_clusters):
    model = random_model(np.random.default_rng(5), n_clusters, d.arities, d.defaults, 0.05)
    arrays = d.csr(np.uint16)
    totals, stored, _ = step(arrays, model, d.chosen, d.weights, single=single)
    relative = 1e-5 if single else 1e-12
    assert totals.sum() == pytest.approx(float(d.total()), rel=relative, abs=1e-300)
    counts = oracles.id_counts(d.lists, d.n_values, d.weights, d.chosen)
    nothing = 1e-30 * float(d.total()) + 1e-300
    np.testing.assert_allclose(stored.sum(axis=1), counts, rtol=relative, atol=nothing)


@value_types
@given(
    d=data(weights=None),
    n_clusters=st.sampled_from(CLUSTERS),
    concentration=st.sampled_from(CONCENTRATIONS),
)
@settings(max_examples=60)
def test_posterior_equals_the_oracle(dtype, d, n_clusters, concentration):
    rng = np.random.default_rng(n_clusters)
    model = random_model(rng, n_clusters, d.arities, d.defaults, concentration)
    arrays = d.csr(dtype)

    def kernel(jobs, rows=True):
        return _core.em_posterior(
            as_records(arrays, model.arrays()[2], d.chosen), *model.arrays(), rows, jobs
        )

    shares, logs = for_all_jobs(kernel, JOBS)
    codes = np.array(d.rows)[slice(None) if d.chosen is None else d.chosen]
    expected, expected_logs = em_oracle.posterior(model, codes)
    assert_close(shares, expected, 1)
    np.testing.assert_allclose(shares.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(logs, expected_logs.astype(float), rtol=1e-9, atol=1e-12)
    none, same = kernel(1, rows=False)
    assert none.shape == (len(codes), 0)
    np.testing.assert_array_equal(same, logs)
    totals, _, log = step(arrays, model, d.chosen)
    np.testing.assert_allclose(shares.sum(axis=0), totals, rtol=1e-9, atol=1e-12)
    assert logs.sum() == pytest.approx(log, rel=1e-9, abs=1e-9)


def test_posterior_of_long_records():
    rng = np.random.default_rng(6)
    model = random_model(rng, 9, [2] * 5000, [0] * 5000, 0.2)
    codes = binary(rng, 20, 5000, rng.choice([0.01, 0.5, 0.99], (20, 1)))
    shares, logs = _core.em_posterior(
        as_records(csr(codes, model), model.arrays()[2]), *model.arrays(), True, 2
    )
    expected, expected_logs = em_oracle.posterior(model, codes)
    assert_close(shares, expected, 1)
    np.testing.assert_allclose(logs, expected_logs.astype(float), rtol=1e-12)


@given(
    d=data(with_chosen=False),
    n_clusters=st.integers(1, 6),
    alphas=st.lists(st.sampled_from((-1.0, 0.0, 0.5, 3.0)), min_size=60, max_size=60),
    alpha_clusters=st.sampled_from((0.0, 0.5, 2.0)),
    keep=st.sampled_from((0, 1)),
)
@settings(max_examples=150)
def test_maximise_equals_the_oracle(d, n_clusters, alphas, alpha_clusters, keep):
    model = random_model(np.random.default_rng(2), n_clusters, d.arities, d.defaults, 0.5)
    offsets = model.arrays()[0]
    totals, counts, _ = step(d.csr(np.uint16), model, None, d.weights)
    totals[-1] *= keep  # a cluster that nothing belongs to
    counts[:, -1] *= keep
    n_columns = len(d.arities)
    given_alphas = (
        np.array(alphas[n_columns : n_columns + d.n_values]),
        np.array(alphas[:n_columns]),
    )
    result = _core.em_maximise(offsets, totals, counts, alpha_clusters, *given_alphas)
    expected = em_oracle.maximise(offsets, totals, counts, alpha_clusters, *given_alphas)
    for a, b in zip(result[:3], expected[:3], strict=True):
        assert np.isfinite(a).all()
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)
    if min(probabilities.min() for probabilities in expected[1:3] if probabilities.size) > 1e-9:
        assert result[3] == pytest.approx(expected[3], rel=1e-9, abs=1e-9)
    assert np.isfinite(result[3])


@pytest.mark.parametrize("n_clusters", [1, 2, 3, 4, 7, 16, 17, 20, 31, 70])
@pytest.mark.parametrize("n_columns", [1, 3, 63, 64, 200])
def test_maximise_adds_up_the_prior_of_many_binary_columns(n_columns, n_clusters):
    """Logarithms are those of products of rows, four rows at a time; some are of tiny numbers."""
    rng = np.random.default_rng(n_clusters + n_columns)
    totals = rng.uniform(1, 1e6, n_clusters)
    counts = totals * rng.choice([0, 1e-3, 0.5, 1], (n_columns, n_clusters))
    alpha = rng.choice([1e-50, 0.3, 1.0], n_columns)
    alpha_default = 1.5 - alpha
    weights, stored, defaults, log = _core.em_maximise(
        np.arange(n_columns + 1), totals, counts, 1.0, alpha, alpha_default
    )
    np.testing.assert_allclose(stored, (counts + alpha[:, None]) / (totals + 1.5), rtol=1e-12)
    rest = totals - counts + alpha_default[:, None]
    np.testing.assert_allclose(defaults, rest / (totals + 1.5), rtol=1e-12)
    expected = np.log(weights).sum() + (alpha[:, None] * np.log(stored)).sum()
    expected += (alpha_default[:, None] * np.log(defaults)).sum()
    assert log == pytest.approx(expected, rel=1e-12)


@given(seed=st.integers(0, 2**32 - 1), n_clusters=st.integers(1, 40))
@settings(max_examples=30)
def test_maximise_knows_no_probability_below_the_least(seed, n_clusters):
    rng = np.random.default_rng(seed)
    totals = rng.uniform(1e250, 1e280, n_clusters)
    counts = totals * rng.choice([0, 0.5, 1], (9, n_clusters))
    one = np.ones(9)
    weights, stored, defaults, log = _core.em_maximise(np.arange(10), totals, counts, 1.0, one, one)
    expected = sum(np.log(np.maximum(p, 1e-60)).sum() for p in (weights, stored, defaults))
    assert log == pytest.approx(expected, rel=1e-12)


def test_floats_that_do_not_pay_are_doubles():
    """Many sums of few values each: with and without `single` the result is the same."""
    rng = np.random.default_rng(4)
    n_columns, n_clusters = 9000, 16
    model = random_model(rng, n_clusters, [2] * n_columns, [0] * n_columns, 0.7)
    arrays = csr(binary(rng, 30, n_columns, 0.02), model)
    for double, single in zip(step(arrays, model), step(arrays, model, single=True), strict=True):
        np.testing.assert_array_equal(double, single)


def test_maximise_leaves_no_trace_of_rounding():
    # The column's stored values take up the whole cluster, up to rounding.
    counts = np.array([[0.1], [0.2], [0.7]]) * 1e6
    totals = np.nextafter(counts.sum(axis=0), np.inf)
    offsets = np.array([0, 3])
    _, stored, defaults, log = _core.em_maximise(
        offsets, totals, counts, 0.0, np.zeros(3), np.zeros(1)
    )
    assert defaults.tolist() == [[0.0]]
    np.testing.assert_allclose(stored[:, 0], [0.1, 0.2, 0.7])
    assert log == 0


def test_an_ignored_value_says_nothing():
    # The second stored value of the first column stands for "missing".
    codes = np.array([[0, 1], [1, 0], [2, 1], [2, 0], [0, 0]])
    offsets = np.array([0, 2, 3])
    model = random_model(np.random.default_rng(3), 2, [3, 2], [0, 0])
    totals, counts, _ = step(csr(codes, model), model)
    alphas = np.array([1.0, -1.0, 1.0]), np.array([1.0, 1.0])
    fitted = _core.em_maximise(offsets, totals, counts, 1.0, *alphas)[:3]
    shares, stored, defaults = fitted
    np.testing.assert_allclose(stored[0] + defaults[0], 1)
    # Where the first column is missing, it takes no side, defaults included.
    missing = np.stack([defaults[0], stored[0], np.ones(2)])
    expected, _ = em_oracle.posterior(
        Model(shares, [missing, np.stack([defaults[1], stored[2]])], [0, 0]), codes
    )
    parts, _ = _core.em_posterior(as_records(csr(codes, model), stored), offsets, *fitted, True, 1)
    np.testing.assert_allclose(parts, expected.astype(float), rtol=1e-12)
    other = shares * defaults[1]
    np.testing.assert_allclose(parts[3], other / other.sum(), rtol=1e-12)


@precisions
def test_numbers_that_are_not_normal_survive_a_call(single):
    rng = np.random.default_rng(8)
    model = random_model(rng, 5, [2] * 30, [0] * 30, 0.1)
    arrays = csr(binary(rng, 50, 30, 0.3), model)
    for jobs in (1, 3):
        step(arrays, model, single=single, jobs=(jobs,))
        _core.em_posterior(as_records(arrays, model.arrays()[2]), *model.arrays(), True, jobs)
        assert SMALLEST > 0
        assert SMALLEST / 2 > 0
        assert (np.full(16, SMALLEST) / 2 > 0).all()
        assert (np.full(16, 1e-40, np.float32) / np.float32(2) > 0).all()


def test_arrays_at_odds_are_refused():
    offsets, shares, stored, defaults = random_model(
        np.random.default_rng(0), 3, [2, 3], [0, 0]
    ).arrays()
    arrays = oracles.csr([[0], [1]], np.uint16)
    for wrong in (
        (offsets[:-1], shares, stored, defaults),
        (offsets, shares[:-1], stored, defaults),
        (offsets, shares, np.ascontiguousarray(stored[:, :2]), defaults),
        (offsets, shares, stored, defaults[:1]),
    ):
        with pytest.raises(ValueError, match="at odds"):
            _core.em_step(as_records(arrays, stored), *wrong, False, 1)
        with pytest.raises(ValueError, match="at odds"):
            _core.em_posterior(as_records(arrays, stored), *wrong, True, 1)
    with pytest.raises(ValueError, match="weights must be as many as records"):
        as_records(arrays, stored, None, np.ones(3))
    with pytest.raises(ValueError, match="at odds"):
        _core.em_maximise(offsets, shares, stored, 1.0, np.ones(2), np.ones(2))
