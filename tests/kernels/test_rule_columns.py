"""Ranked columns, and coverage and scores of rules, against slow oracles."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from oracles import rule_columns as oracle
from support.scripts import run
from support.strategies import for_all_jobs
from tacit import _core

examples = settings(max_examples=80)
NAN = float("nan")
# Few distinct ones, so that there are ties; negative zero is zero.
numbers = st.sampled_from([0.0, -0.0, 0.0, 1.0, 1.0, 2.5, -1.0, -7.25, 1e300, -1e300, NAN])


@st.composite
def matrices(draw, max_records=14, max_columns=4):
    shape = draw(st.tuples(st.integers(1, max_records), st.integers(1, max_columns)))
    return draw(hnp.arrays(np.float64, shape, elements=numbers))


def full(X):
    m, n = X.shape
    values = np.ascontiguousarray(X.T).reshape(-1)
    return m, np.arange(n + 1, dtype=np.int64) * m, None, values, np.zeros(n)


def listed(X, unlisted, also):
    """List what differs from a value of each column, and some of what does not."""
    m, n = X.shape
    same = (unlisted == X) | (np.isnan(X) & np.isnan(unlisted))
    shown = ~same | also
    starts = np.concatenate(([0], np.cumsum(shown.sum(axis=0)))).astype(np.int64)
    records = np.concatenate([np.flatnonzero(shown[:, c]) for c in range(n)]).astype(np.int32)
    values = np.concatenate([X[shown[:, c], c] for c in range(n)])
    return m, starts, records, values, np.array(unlisted, np.float64)


@st.composite
def listings(draw, X):
    """Give the same columns in full, or as lists beside any value."""
    if draw(st.booleans()):
        return full(X)
    n = X.shape[1]
    unlisted = draw(st.lists(numbers | st.just(99.0), min_size=n, max_size=n))
    return listed(X, unlisted, draw(hnp.arrays(np.bool_, X.shape)))


def code(arguments, wanted=None, bins=None, jobs=1):
    n = len(arguments[-1])
    choose = np.full(n, wanted is None, np.uint8)
    wanted = np.zeros(n) if wanted is None else np.array(wanted, np.float64)
    how, n_bins = bins or ("frequency", 2)
    binned = np.full(n, bins is not None, np.uint8)
    return _core.code_columns(*arguments, wanted, choose, binned, how == "frequency", n_bins, jobs)


def split(coded):
    """Take the arrays apart: (lower, upper, predominant code, {code: records}) of each column."""
    predominant, column_runs, run_codes, run_start, records, code_start, lower, upper = coded
    assert run_start[0] == 0
    assert run_start[-1] == len(records)
    for c, own in enumerate(predominant.tolist()):
        runs = range(column_runs[c], column_runs[c + 1])
        codes = slice(code_start[c], code_start[c + 1])
        lists = {int(run_codes[r]): records[run_start[r] : run_start[r + 1]].tolist() for r in runs}
        assert [int(run_codes[r]) for r in runs] == sorted(lists)  # ascending, and each once
        yield lower[codes].tolist(), upper[codes].tolist(), own, lists


@examples
@given(data=st.data(), X=matrices())
def test_codes_are_ranks_and_runs_list_all_but_the_predominant(data, X):
    wanted = data.draw(st.lists(numbers | st.just(0.75), min_size=X.shape[1], max_size=X.shape[1]))
    arguments = data.draw(listings(X))
    coded = for_all_jobs(lambda jobs: code(arguments, wanted, jobs=jobs))
    for c, (lower, upper, predominant, runs) in enumerate(split(coded)):
        expected = oracle.coded_column(X[:, c], wanted[c])
        assert lower == upper
        assert (lower, predominant, runs) == expected
    assert not np.signbit(coded[-1][coded[-1] == 0]).any()


@examples
@given(data=st.data(), X=matrices())
def test_the_most_common_value_is_chosen(data, X):
    for c, (lower, _, predominant, runs) in enumerate(split(code(data.draw(listings(X))))):
        own = X[:, c]
        missing = np.isnan(own).sum()
        most = max([missing, *((own == v).sum() for v in own)])
        value = NAN if predominant < 0 else lower[predominant]
        assert (missing if predominant < 0 else (own == value).sum()) == most
        assert runs == oracle.coded_column(own, value)[2]


RANGES = {
    "normal": lambda rng: rng.normal(size=3000),
    "very uneven": lambda rng: np.exp(20 * rng.normal(size=3000)),
    "few": lambda rng: rng.integers(0, 5, 3000) / 3,
    "the whole range": lambda rng: rng.choice([-1, 1], 3000) * rng.uniform(1.0, 1.7, 3000) * 1e308,
    "tiny": lambda rng: rng.integers(0, 900, 3000) * 5e-324,
    "neighbours": lambda rng: 1 + rng.integers(0, 900, 3000) * 2.0**-52,
    "descending": lambda rng: -np.arange(3000.0),
    "constant": lambda rng: np.full(3000, 4.0),
}


@pytest.mark.parametrize("kind", RANGES)
def test_numbers_of_all_ranges_are_sorted(kind):
    values = RANGES[kind](np.random.default_rng(0))
    numbers, ranks = np.unique(values, return_inverse=True)
    [(lower, _, predominant, runs)] = split(code(full(values[:, None]), [NAN]))
    assert lower == numbers.tolist()
    assert predominant == -1
    order = np.argsort(ranks, kind="stable")
    assert [r for own in runs.values() for r in own] == order.tolist()


@st.composite
def columns(draw):
    return draw(
        hnp.arrays(
            np.float64,
            st.tuples(st.integers(1, 60), st.just(1)),
            elements=st.integers(-20, 20).map(float) | st.just(NAN),
        )
    )


@examples
@given(data=st.data(), X=columns(), how=st.sampled_from(["width", "frequency"]))
def test_bins_are_ranges_of_numbers_whatever_is_predominant(data, X, how):
    n_bins = data.draw(st.integers(2, 9))
    wanted = data.draw(st.sampled_from([*X[:, 0], 0.5, NAN]))
    arguments = data.draw(listings(X))
    coded = for_all_jobs(lambda jobs: code(arguments, [wanted], (how, n_bins), jobs))
    [(lower, upper, predominant, runs)] = split(coded)
    [(plain_lower, plain_upper, _, plain_runs)] = split(code(full(X), [NAN], (how, n_bins)))
    own = X[:, 0]
    occurs = [k for k in range(len(lower)) if ((own >= lower[k]) & (own <= upper[k])).any()]
    assert [lower[k] for k in occurs] == plain_lower
    assert [upper[k] for k in occurs] == plain_upper
    for code_, records in runs.items():
        if code_ >= 0:
            inside = (own >= lower[code_]) & (own <= upper[code_])
            assert records == np.flatnonzero(inside).tolist()
    assert set(runs) == set(occurs + [-1] * bool(np.isnan(own).any())) - {predominant}
    if not np.isnan(wanted):
        assert lower[predominant] <= wanted <= upper[predominant]
    known = own[~np.isnan(own)]
    assert len(plain_runs) <= (n_bins + 2 if how == "width" else 2 * n_bins + 1)
    if len(np.unique(known)) <= n_bins:
        assert plain_lower == plain_upper == np.unique(known).tolist()


def test_bins_of_equal_width_and_of_equal_frequency():
    X = np.concatenate([np.zeros(50), np.arange(1, 41), [1000.0]])[:, None]
    [(lower, upper, *_)] = split(code(full(X), [0.0], ("width", 4)))
    assert (lower, upper) == ([0, 1, 1000], [0, 40, 1000])  # what is most common stands alone
    [(lower, upper, *_)] = split(code(full(X), [0.0], ("frequency", 4)))
    assert (lower, upper) == ([0, 1, 15, 29], [0, 14, 28, 1000])


def test_a_large_bin_lists_its_records_in_order():
    values = np.random.default_rng(0).normal(size=20_000)
    [(lower, upper, _, runs)] = split(code(full(values[:, None]), [NAN], ("frequency", 3)))
    sizes = [len(own) for own in runs.values()]
    assert sum(sizes) == len(values)
    assert max(sizes) - min(sizes[1:]) < 3  # the first one is the most common number
    for code_, records in runs.items():
        inside = (values >= lower[code_]) & (values <= upper[code_])
        assert records == np.flatnonzero(inside).tolist()


# Rules


@st.composite
def rule_sets(draw, n_columns, n_outputs):
    condition = st.tuples(
        st.integers(0, n_columns - 1),
        st.integers(0, 3),
        st.sampled_from([-7.25, -1.0, -0.5, 0.0, -0.0, 0.5, 1.0, 2.5, 9.0]),
    )
    score = st.tuples(st.integers(0, n_outputs - 1), st.floats(-3, 3))
    n_rules = draw(st.integers(0, 12))
    sized = {"min_size": n_rules, "max_size": n_rules}
    rules = draw(st.lists(st.lists(condition, max_size=3), **sized))
    heads = draw(st.lists(st.lists(score, max_size=2, unique_by=lambda s: s[0]), **sized))
    return rules, heads


def rule_arrays(rules):
    flat = [condition for conditions in rules for condition in conditions]
    columns, ops, thresholds = zip(*flat, strict=True) if flat else ((), (), ())
    return (
        np.concatenate(([0], np.cumsum([len(own) for own in rules]))).astype(np.int64),
        np.array(columns, np.int32),
        np.array(ops, np.uint8),
        np.array(thresholds, np.float64),
    )


def head_arrays(heads):
    flat = [score for head in heads for score in head]
    return (
        np.concatenate(([0], np.cumsum([len(own) for own in heads]))).astype(np.int64),
        np.array([output for output, _ in flat], np.int32),
        np.array([score for _, score in flat], np.float64),
    )


@examples
@given(data=st.data(), X=matrices())
def test_scores_are_sums_over_covering_rules_in_their_order(data, X):
    defaults = data.draw(st.lists(st.floats(-2, 2), min_size=1, max_size=3))
    rules, heads = data.draw(rule_sets(X.shape[1], len(defaults)))
    arguments = data.draw(listings(X))
    given = *rule_arrays(rules), *head_arrays(heads), np.array(defaults)
    scores = for_all_jobs(lambda jobs: _core.rule_scores(*arguments, *given, jobs))
    np.testing.assert_array_equal(scores, oracle.rule_scores(X, rules, heads, defaults))


@examples
@given(data=st.data(), X=matrices())
def test_the_rules_that_cover_each_record(data, X):
    rules, _ = data.draw(rule_sets(X.shape[1], 1))
    arguments = data.draw(listings(X))
    given = rule_arrays(rules)
    indptr, found = for_all_jobs(lambda jobs: _core.rule_cover(*arguments, *given, jobs))
    lists = [found[a:b].tolist() for a, b in pairwise(indptr)]
    assert lists == [[q for q, own in enumerate(rules) if oracle.covers(x, own)] for x in X]


@pytest.mark.parametrize("n_outputs", [1, 40])
def test_scores_of_many_blocks_are_the_same_for_dense_and_sparse_columns(n_outputs):
    rng = np.random.default_rng(n_outputs)
    m, n, n_rules = 5003, 9, 60
    X = rng.integers(-3, 9, (m, n)) * (rng.random((m, n)) < 0.3) + 0.0
    X[rng.random((m, n)) < 0.05] = NAN
    lengths = rng.integers(0, 4, n_rules)
    rules = [
        [(int(rng.integers(n)), int(rng.integers(4)), float(rng.integers(-3, 9))) for _ in range(k)]
        for k in lengths
    ]
    heads = [
        [(int(o), float(rng.normal())) for o in rng.permutation(n_outputs)[: rng.integers(1, 4)]]
        for _ in rules
    ]
    defaults = rng.normal(size=n_outputs)
    given = *rule_arrays(rules), *head_arrays(heads), defaults
    dense = for_all_jobs(lambda jobs: _core.rule_scores(*full(X), *given, jobs))
    sparse = for_all_jobs(
        lambda jobs: _core.rule_scores(*listed(X, np.zeros(n), np.isnan(X)), *given, jobs)
    )
    assert dense.tobytes() == sparse.tobytes()
    chosen = rng.permutation(m)[:200]
    np.testing.assert_array_equal(
        dense[chosen], oracle.rule_scores(X[chosen], rules, heads, defaults)
    )
    indptr, found = _core.rule_cover(*full(X), *given[:4], 2)
    for r in chosen:
        expected = [q for q, own in enumerate(rules) if oracle.covers(X[r], own)]
        assert found[indptr[r] : indptr[r + 1]].tolist() == expected


def test_arrays_that_do_not_go_together():
    m, indptr, records, values, unlisted = listed(np.eye(3), np.zeros(3), np.eye(3) > 0)
    good = rule_arrays([[(0, 0, 1.0)], [(2, 3, 1.0), (1, 1, 0.0)]])

    def cover(columns=None, rules=None):
        return _core.rule_cover(
            *(columns or (m, indptr, records, values, unlisted)), *(rules or good), 1
        )

    assert cover()[1].tolist() == [0, 0, 1, 0]
    for wrong, message in (
        ((m, indptr[:-1], records, values, unlisted), "an entry for each column"),
        ((m, indptr + 1, records, values, unlisted), "begin with 0"),
        ((m, indptr[[0, 2, 1, 3]], records, values, unlisted), "decrease"),
        ((m, indptr, records[:2], values, unlisted), "as many as values"),
        ((2, indptr, records, values, unlisted), "ascend"),
        ((m, indptr[[0, 3, 3, 3]], records[[1, 0, 2]], values, unlisted), "ascend"),
        ((m, indptr[[0, 3, 3, 3]], records[[1, 1, 2]], values, unlisted), "ascend"),
        ((m, indptr, None, values, unlisted), "a value for each record"),
        ((2**31, indptr, records, values, unlisted), "n_records"),
    ):
        with pytest.raises(ValueError, match=message):
            cover(wrong)
    start, columns, ops, thresholds = good
    for wrong, message in (
        ((start[:-1], columns, ops, thresholds), "offsets"),
        ((start, columns + 1, ops, thresholds), "no such column"),
        ((start, columns - 1, ops, thresholds), "no such column"),
        ((start, columns, ops + 1, thresholds), "no such column or op"),
        ((start, columns, ops[:2], thresholds), "equally many"),
        ((start, columns, ops, thresholds * NAN), "NaN"),
    ):
        with pytest.raises(ValueError, match=message):
            cover(rules=wrong)
    heads = np.array([0, 1, 2]), np.array([0, 1], np.int32), np.ones(2)
    with pytest.raises(ValueError, match="no such output"):
        _core.rule_scores(m, indptr, records, values, unlisted, *good, *heads, np.zeros(1), 1)
    with pytest.raises(ValueError, match="as many as columns"):
        code((m, indptr, records, values, unlisted), [0.0])
    with pytest.raises(ValueError, match="at least 2"):
        code((m, indptr, records, values, unlisted), np.zeros(3), ("width", 1))


INTERRUPT = """
    import os, signal, threading
    import numpy as np
    from tacit import _core

    m, n_rules = 200_000, 20_000
    columns = m, np.array([0, m]), None, np.arange(m) / m, np.zeros(1)
    rules = np.arange(n_rules + 1), np.zeros(n_rules, np.int32), np.ones(n_rules, np.uint8)
    heads = np.arange(n_rules + 1), np.zeros(n_rules, np.int32), np.ones(n_rules)
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        thresholds = np.arange(n_rules) / n_rules
        _core.rule_scores(*columns, *rules, thresholds, *heads, np.zeros(1), {jobs})
    except KeyboardInterrupt:
        print("interrupted")
    else:
        print("finished")
"""


@pytest.mark.parametrize("jobs", [1, 2])
def test_ctrl_c_ends_a_long_prediction_early(jobs):
    assert run(INTERRUPT.format(jobs=jobs)) == ["interrupted"]
