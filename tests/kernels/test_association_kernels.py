"""Counts of sets that are not listed, and association rules, against plain loops."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.itemsets import association_rules, frequent_itemsets
from support.scripts import run_interrupted
from support.strategies import JOBS, assert_identical
from tacit import _core

N_ITEMS = 9


def as_lists(sets):
    indptr = np.cumsum([0, *map(len, sets)]).astype(np.int64)
    return indptr, np.array([item for items in sets for item in items], np.uint32)


def count_supersets(sets, counts, asked, jobs=1):
    return _core.superset_counts(
        *as_lists(sets), np.array(counts, np.int64), N_ITEMS, *as_lists(asked), jobs
    )


item_sets = st.lists(
    st.sets(st.integers(0, N_ITEMS - 1), min_size=1).map(lambda items: tuple(sorted(items))),
    max_size=30,
)


@given(item_sets, item_sets, st.integers(0, 2**32 - 1), st.sampled_from(JOBS))
@settings(max_examples=80)
def test_the_greatest_count_around_a_set(sets, asked, seed, jobs):
    counts = np.random.default_rng(seed).integers(1, 12, len(sets)).tolist()
    asked = [*asked, *sets, ()]
    expected = [
        max((c for s, c in zip(sets, counts, strict=True) if q and set(q) <= set(s)), default=0)
        for q in asked
    ]
    assert count_supersets(sets, counts, asked, jobs).tolist() == expected


def test_many_questions_on_any_number_of_threads():
    rng = np.random.default_rng(0)
    records = [set(np.flatnonzero(rng.random(N_ITEMS) < 0.5).tolist()) for _ in range(200)]
    every = frequent_itemsets(records, 1)
    closed = frequent_itemsets(records, 1, "closed")
    asked = [*every] * 20  # several blocks
    one = count_supersets([*closed], [*closed.values()], asked)
    assert one.tolist() == [*every.values()] * 20
    for jobs in JOBS:
        assert_identical(count_supersets([*closed], [*closed.values()], asked, jobs), one)


def find_rules(sets, total, min_confidence, *, redundant=False, min_improvement=0.0,
               consequents=None, max_bytes=2**40):  # fmt: skip
    indptr, items = as_lists([*sets])
    flags = None
    if consequents is not None:
        flags = np.array([i in consequents for i in range(N_ITEMS)], np.uint8)
    return _core.association_rules(
        indptr, items, np.array([*sets.values()], np.float64), N_ITEMS, total, min_confidence,
        redundant, min_improvement, flags, max_bytes,
    )  # fmt: skip


def as_dict(found, sets):
    indptr, items, consequents, both, left, complete = found
    assert complete
    sides = [tuple(items[a:b].tolist()) for a, b in itertools.pairwise(indptr)]
    rules = {
        (side, c): (b, a, sets[c,])
        for side, c, b, a in zip(sides, consequents.tolist(), both, left, strict=True)
    }
    assert len(rules) == len(sides)
    return rules


@st.composite
def dependent_records(draw):
    """Records with items that go with others, some without exception."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    held = rng.random((draw(st.integers(1, 60)), N_ITEMS)) < rng.random(N_ITEMS)
    held[:, 3] |= held[:, 0]
    held[:, 5] = held[:, 2] & held[:, 4]
    if draw(st.booleans()):
        held[:, 6] = True
    return [set(np.flatnonzero(row).tolist()) for row in held]


@given(
    dependent_records(),
    st.integers(1, 8),
    st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]),
    st.sampled_from([0.0, 0.03125, 0.25]),
    st.booleans(),
)
@settings(max_examples=120, deadline=None)
def test_closed_sets_and_all_sets_give_the_rules_of_plain_loops(
    records, min_count, min_confidence, min_improvement, redundant
):
    options = {"redundant": redundant, "min_improvement": min_improvement}
    every = frequent_itemsets(records, min_count)
    expected = association_rules(every, len(records), min_confidence, **options)
    for kind in ("all", "closed"):
        sets = frequent_itemsets(records, min_count, kind)
        found = find_rules(sets, len(records), min_confidence, **options)
        assert as_dict(found, every) == expected
    some = find_rules(every, len(records), min_confidence, consequents={1, 3}, **options)
    assert as_dict(some, every) == {r: n for r, n in expected.items() if r[1] in (1, 3)}
    small = {items: count for items, count in every.items() if len(items) <= 3}
    found = find_rules(small, len(records), min_confidence, **options)
    assert as_dict(found, every) == {r: n for r, n in expected.items() if len(r[0]) < 3}


@pytest.mark.parametrize("redundant", [False, True])
def test_a_limit_of_memory_ends_the_search_for_rules(redundant):
    rng = np.random.default_rng(1)
    records = [set(np.flatnonzero(rng.random(N_ITEMS) < 0.6).tolist()) for _ in range(100)]
    sets = frequent_itemsets(records, 2)
    *arrays, complete = find_rules(sets, 100, 0.1, redundant=redundant, max_bytes=3000)
    assert not complete
    assert [len(array) for array in arrays] == [1, 0, 0, 0, 0]


def test_wrong_arguments_are_refused():
    sets = {(0,): 3, (0, 1): 2}
    with pytest.raises(ValueError, match="consequents"):
        _core.association_rules(
            *as_lists([*sets]), np.array([3.0, 2.0]), N_ITEMS, 4, 0.5, False, 0.0,
            np.zeros(2, np.uint8), 2**40,
        )  # fmt: skip
    with pytest.raises(ValueError, match="counts"):
        _core.association_rules(
            *as_lists([*sets]), np.array([3.0]), N_ITEMS, 4, 0.5, False, 0.0, None, 2**40
        )


def test_ctrl_c_ends_the_search_for_rules():
    outcome, seconds = run_interrupted(
        """
        import numpy as np
        from tacit import _core

        every = np.arange(40, dtype=np.uint32)
        indptr, counts = np.array([0, 40]), np.array([5.0])
        """,
        "_core.association_rules(indptr, every, counts, 40, 9.0, 0.5, True, 0.0, None, 2**62)",
    )
    assert outcome == "interrupted"
    assert seconds < 5  # 2 ** 40 antecedents take days
