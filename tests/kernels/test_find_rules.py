"""The search for rules against trying all conjunctions, for both methods and any thread count."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from oracles import counts as oracles
from support.strategies import JOBS, Data, data
from tacit import _core

METHODS = ("codes", "rows")
MEASURES = ("confidence", "lift", "leverage", "wilson")
Z = 1.959963984540054


def search(d, target, code, *, lengths, min_support, n_rules, measure="confidence",
           defaults=True, redundant=True, method="auto", jobs=1):  # fmt: skip
    held = [[r for r, ids in enumerate(d.lists) if v in ids] for v in range(d.n_values)]
    start, rows = oracles.csr(held, np.int32)
    offsets = np.concatenate(([0], np.cumsum(np.array(d.arities) - 1))).astype(np.int64)
    return _core.find_rules(
        start, rows, offsets, np.array(d.defaults, np.int64), len(d.rows), d.weights, target, code,
        lengths, min_support, n_rules, measure, Z, defaults, redundant, method, jobs,
    )  # fmt: skip


def expected(d, target, code, *, defaults=True, **options):
    forbidden = () if defaults else set(enumerate(d.defaults))
    return oracles.best_rules(
        d.rows, d.arities, target, code, z=Z, forbidden=forbidden, weights=d.weights, **options
    )


@st.composite
def questions(draw):
    """A table with a target, and what is asked of it."""
    d = draw(data(max_rows=20, max_columns=6, with_chosen=False))
    assume(len(d.arities) > 1)
    target = draw(st.integers(0, len(d.arities) - 1))
    code = draw(st.sampled_from(sorted({row[target] for row in d.rows})))
    hits = [r for r, row in enumerate(d.rows) if row[target] == code]
    assume(d.weights is None or sum(d.weights[hits]) > 0)
    longest = draw(st.integers(1, min(4, len(d.arities) - 1)))
    options = {
        "lengths": (draw(st.integers(1, longest)), longest),
        "min_support": draw(st.sampled_from([0.25, 1.0, 2.0, 2.5, 4.0])),
        "n_rules": draw(st.sampled_from([1, 2, 5, 300])),
        "measure": draw(st.sampled_from(MEASURES)),
        "defaults": draw(st.booleans()),
        "redundant": draw(st.booleans()),
    }
    return d, target, code, options


@pytest.mark.parametrize("method", METHODS)
@given(question=questions())
@settings(max_examples=150)
def test_finds_what_trying_all_finds(method, question):
    d, target, code, options = question
    rules, total, hits = search(d, target, code, method=method, **options)
    assert rules == expected(d, target, code, **options)
    assert total == d.total()
    mine = d.joint([target])[code]
    assert hits == mine


@given(question=questions())
@settings(max_examples=30)
def test_threads_and_methods_do_not_matter(question):
    d, target, code, options = question
    first = search(d, target, code, **options)
    for method in METHODS:
        for jobs in JOBS:
            assert search(d, target, code, method=method, jobs=jobs, **options) == first


def random_data(n_rows, arities, seed, weights=False):
    rng = np.random.default_rng(seed)
    codes = (rng.random((n_rows, len(arities))) ** 3 * np.array(arities)).astype(int)
    own = rng.integers(0, 8, n_rows) / 4 if weights else None
    rows = [tuple(row) for row in codes.tolist()]
    return Data(rows, list(arities), [0] * len(arities), own)


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("measure", MEASURES)
def test_larger_tables_with_pruning(measure, weights):
    d = random_data(400, (4, 3, 2, 5, 2, 3, 2), seed=7, weights=weights)
    for min_support, n_rules in ((3.0, 4), (25.0, 12)):
        options = {"lengths": (3, 3), "min_support": min_support, "n_rules": n_rules}
        want = expected(d, 2, 1, measure=measure, **options)
        assert len(want) == n_rules
        for method in METHODS:
            for jobs in (1, 3):
                found = search(d, 2, 1, measure=measure, method=method, jobs=jobs, **options)
                assert found[0] == want


@pytest.mark.parametrize("seed", range(8))
def test_many_random_questions(seed):
    rng = np.random.default_rng(seed)
    for _ in range(100):
        arities = rng.integers(1, 5, rng.integers(2, 6)).tolist()
        n_rows, longest = int(rng.integers(3, 40)), int(rng.integers(1, len(arities)))
        d = random_data(n_rows, arities, int(rng.integers(10**6)), weights=rng.random() < 0.3)
        d = d.with_(defaults=[int(rng.integers(arity)) for arity in arities])
        target = int(rng.integers(len(arities)))
        code = d.rows[0][target]
        if d.joint([target])[code] == 0:
            continue
        options = {
            "lengths": (int(rng.integers(1, longest + 1)), longest),
            "min_support": float(rng.choice([1, 2, 3, 6])),
            "n_rules": int(rng.choice([1, 2, 3, 5, 8, 13, 40])),
            "measure": str(rng.choice(MEASURES)),
            "defaults": bool(rng.random() < 0.7),
            "redundant": bool(rng.random() < 0.5),
        }
        want = expected(d, target, code, **options)
        for method in METHODS:
            for jobs in (1, 3):
                found = search(d, target, code, method=method, jobs=jobs, **options)
                assert found[0] == want, (d, target, code, options)


def test_ties_are_ranked_by_support_length_columns_and_codes():
    rows = [(0, 0, 0, 1), (0, 0, 0, 1), (1, 1, 1, 1), (1, 1, 1, 0)]
    d = Data(rows, [2, 2, 2, 2], [0, 0, 0, 0])
    for method in METHODS:
        rules, _, _ = search(d, 3, 1, lengths=(1, 2), min_support=1.0, n_rules=6, method=method)
        assert [conditions for conditions, *_ in rules] == [
            ((0, 0),), ((1, 0),), ((2, 0),),
            ((0, 0), (1, 0)), ((0, 0), (2, 0)), ((1, 0), (2, 0)),
        ]  # fmt: skip


@pytest.mark.parametrize("measure", MEASURES)
def test_rules_without_hits_are_ranked_by_support_too(measure):
    # The only hit is in the first record: most rules have none, and tie with a score of 0.
    rows = [(1, 1, 1, 1), *[(0, k % 2, k % 3, 0) for k in range(30)]]
    d = Data(rows, [2, 2, 3, 2], [0, 0, 0, 0])
    for n_rules in range(1, 12):
        options = {"lengths": (1, 2), "min_support": 2.0, "n_rules": n_rules, "measure": measure}
        want = expected(d, 3, 1, **options)
        for method in METHODS:
            assert search(d, 3, 1, method=method, **options)[0] == want


def test_weights_that_are_rounded_are_summed_alike():
    d = random_data(300, (3, 4, 2, 3, 2), seed=3)
    d = d.with_(weights=np.random.default_rng(1).random(300) * 0.1)
    options = {"lengths": (1, 4), "min_support": 0.3, "n_rules": 30}
    for measure in MEASURES:
        found = [
            search(d, 2, 1, measure=measure, method=method, jobs=jobs, **options)
            for method in METHODS
            for jobs in JOBS
        ]
        assert len(found[0][0]) == 30
        assert all(other == found[0] for other in found[1:])


def test_many_columns_with_few_values():
    rng = np.random.default_rng(5)
    codes = (rng.random((300, 60)) < 0.08).astype(int)
    codes[:, 0] |= codes[:, 7] & codes[:, 9]
    d = Data([tuple(row) for row in codes.tolist()], [2] * 60, [0] * 60)
    options = {"lengths": (1, 2), "min_support": 2.0, "n_rules": 15, "defaults": False}
    want = expected(d, 0, 1, measure="wilson", **options)
    for method in (*METHODS, "auto"):
        assert search(d, 0, 1, measure="wilson", method=method, **options)[0] == want


def test_columns_with_more_values_than_a_byte_holds():
    rng = np.random.default_rng(2)
    rows = [(int(a), int(b), int(a % 2)) for a, b in rng.integers(0, 300, (2000, 2))]
    d = Data(rows, [300, 300, 2], [0, 5, 0])
    options = {"lengths": (1, 1), "min_support": 3.0, "n_rules": 10}
    want = expected(d, 2, 1, measure="confidence", **options)
    assert search(d, 2, 1, **options)[0] == want
    with pytest.raises(ValueError, match="more than 256 states"):
        search(d, 2, 1, method="codes", **options)


@pytest.mark.parametrize("weights", [None, np.ones(10)])
def test_leverages_are_compared_in_whole_numbers(weights):
    rows = [(int(r == 0), int(r < 6), int(r < 2)) for r in range(10)]
    d = Data(rows, [2, 2, 2], [0, 0, 0], weights)
    options = {"lengths": (1, 1), "min_support": 1.0, "n_rules": 2, "measure": "leverage"}
    for method in METHODS:
        rules, _, _ = search(d, 2, 1, method=method, **options)
        assert rules == [(((1, 1),), 6, 2, 0.8), (((0, 1),), 1, 1, 0.8)]


def test_spare_conditions_and_twins_are_left_out():
    rows = [(1, 1, 0, 1), (1, 1, 1, 1), (0, 0, 1, 0), (0, 0, 0, 0), (1, 1, 0, 0)]
    d = Data(rows, [2, 2, 2, 2], [0, 0, 0, 0])
    for method in METHODS:
        found = [
            [rule[0] for rule in search(
                d, 3, 1, lengths=(1, 2), min_support=1.0, n_rules=4, redundant=redundant,
                method=method,
            )[0]]
            for redundant in (True, False)
        ]  # fmt: skip
        # Column 1 is column 0 once more; the fraction of hits among both and column 2 is the best.
        assert found[0][:2] == [((0, 1), (2, 1)), ((1, 1), (2, 1))]
        assert found[1] == [((0, 1), (2, 1)), ((0, 1),), ((2, 1),), ((2, 0),)]


def test_no_rule_has_enough_support():
    d = random_data(50, (3, 2, 2), seed=1)
    for method in METHODS:
        rules, total, _ = search(
            d, 2, 1, lengths=(1, 2), min_support=51.0, n_rules=5, method=method
        )
        assert (rules, total) == ([], 50)


@pytest.mark.parametrize(
    ("option", "message"),
    [({"measure": "beauty"}, "unknown measure: beauty"), ({"method": "luck"}, "unknown method")],
)
def test_unknown_choices_are_refused(option, message):
    d = random_data(10, (2, 2), seed=1)
    with pytest.raises(ValueError, match=message):
        search(d, 1, 0, lengths=(1, 1), min_support=1.0, n_rules=1, **option)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("seed", range(6))
def test_methods_agree_on_many_records(measure, seed):
    """Bitmaps and bounds come into play only where there are more records than Hypothesis makes."""
    random = np.random.default_rng(seed)
    n_records, arities = 6000, [2, 3, 5, 9, 4, 2, 20]
    skew = random.uniform(0.5, 4)
    rows = np.array([(random.random(n_records) ** skew * a).astype(int) for a in arities]).T
    rows[:, 0] = random.random(n_records) < (rows[:, 1] + rows[:, 3] + rows[:, 4]) / 16
    held = [np.flatnonzero(rows[:, c] == v) for c, a in enumerate(arities) for v in range(1, a)]
    start, records = oracles.csr(held, np.int32)
    offsets = np.concatenate(([0], np.cumsum(np.array(arities) - 1))).astype(np.int64)
    defaults = np.zeros(len(arities), np.int64)
    for weights in (None, random.random(n_records)):
        for lengths, min_support, n_rules in (
            ((1, 4), 50.0, 7),
            ((3, 3), 20.0, 30),
            ((2, 5), 5.0, 3),
        ):
            codes, listed = (
                _core.find_rules(
                    start, records, offsets, defaults, n_records, weights, 0, 1, lengths,
                    min_support, n_rules, measure, Z, True, seed % 3 > 0, method, 1 + seed % 2,
                )
                for method in METHODS
            )  # fmt: skip
            assert codes == listed
            assert len(codes[0]) == n_rules or (seed % 3 == 0 and codes[0])
