"""Itemsets against a search over Python sets, whatever the projections are made of."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import counts as oracles
from oracles.itemsets import frequent_itemsets, most_frequent
from support.scripts import run
from support.strategies import JOBS, assert_identical
from tacit import _core

KINDS = ("all", "closed", "maximal")
ANY_SIZE = (1, 2**31)


def mine(records, min_count, kind, *, weights=None, sizes=ANY_SIZE, top=0, excluded=None,
         groups=None, labels=None, alone=None, n_beside=0, max_bytes=2**40, search_bytes=2**62,
         count_only=False, jobs=1, dtype=np.uint16, n_values=None):  # fmt: skip
    indptr, values = oracles.csr([sorted(record) for record in records], dtype)
    n_values = n_values or 1 + max((max(r) for r in records if r), default=0)
    return _core.mine_itemsets(
        _core.Records(indptr, values, n_values), min_count, kind, sizes, top,
        None if weights is None else np.array(weights, np.int64), excluded, groups, labels, alone,
        n_beside, (max_bytes, search_bytes), count_only, jobs,
    )  # fmt: skip


def as_dict(mined):
    indptr, items, counts, _, status = mined
    assert status == "complete"
    sets = [tuple(items[a:b].tolist()) for a, b in itertools.pairwise(indptr)]
    assert len(set(sets)) == len(sets)
    return dict(zip(sets, counts.tolist(), strict=True))


@st.composite
def baskets(draw):
    """Records, dense or sparse, some of them twice; weights; the least count."""
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    n_records, n_items = draw(st.integers(0, 150)), draw(st.integers(1, 11))
    chance = rng.random(n_items) ** draw(st.integers(1, 4))
    if draw(st.booleans()):
        chance[0] = 1  # in all records
    records = [set(np.flatnonzero(rng.random(n_items) < chance).tolist()) for _ in range(n_records)]
    if draw(st.booleans()):
        records += records[: n_records // 2]
    largest = draw(st.sampled_from([1, 5, 1000]))
    weights = rng.integers(1, largest + 1, len(records)).tolist() if largest > 1 else None
    total = sum(weights) if weights else len(records)
    return records, weights, draw(st.integers(1, max(1, total // 3)))


@pytest.mark.parametrize("kind", KINDS)
@given(given_baskets=baskets(), jobs=st.sampled_from(JOBS), dtype=st.sampled_from(["u2", "u4"]))
@settings(max_examples=80)
def test_finds_what_a_search_over_sets_finds(kind, given_baskets, jobs, dtype):
    records, weights, min_count = given_baskets
    expected = frequent_itemsets(records, min_count, kind, weights)
    options = {"weights": weights, "jobs": jobs, "dtype": np.dtype(dtype)}
    assert as_dict(mine(records, min_count, kind, **options)) == expected
    counted = mine(records, min_count, kind, count_only=True, **options)
    assert counted == (len(expected), sum(map(len, expected)), "complete")


@pytest.mark.parametrize("kind", KINDS)
@given(given_baskets=baskets(), least=st.integers(1, 4), more=st.integers(0, 4))
@settings(max_examples=40)
def test_sizes_only_choose_among_the_sets(kind, given_baskets, least, more):
    records, weights, min_count = given_baskets
    sizes = (least, least + more)
    expected = {
        items: count
        for items, count in frequent_itemsets(records, min_count, kind, weights).items()
        if sizes[0] <= len(items) <= sizes[1]
    }
    assert as_dict(mine(records, min_count, kind, weights=weights, sizes=sizes)) == expected
    counted = mine(records, min_count, kind, weights=weights, sizes=sizes, count_only=True)
    assert counted[:2] == (len(expected), sum(map(len, expected)))


@pytest.mark.parametrize("kind", ["all", "closed"])
@given(given_baskets=baskets(), top=st.integers(1, 40), jobs=st.sampled_from(JOBS))
@settings(max_examples=40)
def test_the_most_frequent_with_those_level_with_the_last(kind, given_baskets, top, jobs):
    records, weights, _ = given_baskets
    sets = frequent_itemsets(records, 1, kind, weights)
    counts = sorted(sets.values(), reverse=True)
    least = counts[top - 1] if len(counts) >= top else 1
    mined = mine(records, 1, kind, weights=weights, top=top, jobs=jobs)
    assert as_dict(mined) == {items: count for items, count in sets.items() if count >= least}
    assert mined[3] == least


@pytest.mark.parametrize("kind", KINDS)
def test_excluded_items_are_as_if_they_were_not_there(kind):
    rng = np.random.default_rng(3)
    records = [set(np.flatnonzero(rng.random(9) < 0.5).tolist()) for _ in range(80)]
    excluded = np.array([0, 1, 0, 0, 1, 0, 0, 0, 0], np.uint8)
    without = [record - {1, 4} for record in records]
    assert as_dict(mine(records, 8, kind, excluded=excluded)) == frequent_itemsets(without, 8, kind)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("top", [0, 3, 20])
@pytest.mark.parametrize("jobs", JOBS)
def test_groups_choose_among_the_sets_before_the_most_frequent_are_taken(kind, top, jobs):
    if kind == "maximal" and top:
        return
    rng = np.random.default_rng(6)
    records = [set(np.flatnonzero(rng.random(9) < 0.55).tolist()) | {8} for _ in range(90)]
    groups = [{0, 1}, {1, 5, 8}]
    flags = np.array([[i in group for i in range(9)] for group in groups], np.uint8).ravel()
    met = {
        items: count
        for items, count in frequent_itemsets(records, 6, kind).items()
        if all(group & set(items) for group in groups)
    }
    expected = most_frequent(met, top) if top else met
    assert len(met) > top
    assert as_dict(mine(records, 6, kind, groups=flags, top=top, jobs=jobs)) == expected


def sparse_baskets(n_records=3000, n_items=400):
    rng = np.random.default_rng(5)
    popular = 1 / np.arange(1, n_items + 1)
    popular /= popular.sum()
    common = [tuple(rng.choice(n_items, 4, replace=False).tolist()) for _ in range(40)]
    return [
        set(rng.choice(n_items, 5, p=popular).tolist()) | set(common[rng.integers(40)])
        for _ in range(n_records)
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_lists_of_sparse_records(kind):
    records = sparse_baskets()
    expected = frequent_itemsets(records, 12, kind)
    assert max(map(len, expected)) >= 4
    assert as_dict(mine(records, 12, kind, n_values=400)) == expected
    # Items of which hardly any stand beside each other are looked up one by one.
    spread = [{item * 97 for item in record} for record in records]
    alike = {tuple(item * 97 for item in items): count for items, count in expected.items()}
    assert as_dict(mine(spread, 12, kind)) == alike


@pytest.mark.parametrize("kind", KINDS)
def test_order_does_not_depend_on_threads(kind):
    records = sparse_baskets(800, 60)
    one = mine(records, 4, kind, jobs=1)
    for jobs in JOBS:
        other = mine(records, 4, kind, jobs=jobs)
        for a, b in zip(one[:3], other[:3], strict=True):
            assert_identical(a, b)


@pytest.mark.parametrize("kind", KINDS)
@given(given_baskets=baskets(), step=st.integers(1, 5))
@settings(max_examples=40)
def test_the_most_frequent_come_first_and_then_the_smaller(kind, given_baskets, step):
    records, weights, min_count = given_baskets
    n_values = 1 + max((max(r) for r in records if r), default=0)
    labels = np.arange(n_values, dtype=np.uint32) * step + 3
    options = {"weights": weights, "n_values": n_values}
    indptr, items, counts, *_ = mine(records, min_count, kind, **options)
    order = list(zip((-counts).tolist(), np.diff(indptr).tolist(), strict=True))
    assert order == sorted(order)
    named = mine(records, min_count, kind, labels=labels, **options)
    assert_identical(named[0], indptr)
    assert_identical(named[1], labels[items])
    assert_identical(named[2], counts)


@pytest.mark.parametrize("kind", KINDS)
@given(
    given_baskets=baskets(),
    more=st.sampled_from([0, 100, 1000, 5000]),
    top=st.sampled_from([0, 0, 7]),
    jobs=st.sampled_from(JOBS),
    sparse=st.booleans(),
)
@settings(max_examples=80)
def test_first_items_in_groups_find_the_same(kind, given_baskets, more, top, jobs, sparse):
    records, weights, min_count = given_baskets
    if sparse:
        records, weights = with_rare_items(records, weights, min_count)
    options = {"weights": weights, "top": 0 if kind == "maximal" else top}
    whole = mine(records, min_count, kind, **options)
    _, items, counts, _, status = mine(records, min_count, kind, search_bytes=1, **options)
    bytes_of = bytes_of_items(records, weights, min_count, kind)
    largest = counts[0] if status == "too large" else 0
    assert (status == "too large") == any(bytes_of.values())
    if len(bytes_of) >= 200:  # lists, not bitmaps
        assert largest == max(bytes_of.values()) == bytes_of[items[0]]
    for n in {1, jobs}:
        parts = mine(records, min_count, kind, search_bytes=largest + more, jobs=n, **options)
        assert parts[4] == "complete"
        for a, b in zip(whole[:3], parts[:3], strict=True):
            assert_identical(a, b)
    if largest:
        *_, status = mine(records, min_count, kind, search_bytes=largest - 1, **options)
        of_value, of_record = (8, 4) if weights is None else (16, 12)
        all_fit = of_value * sum(map(len, records)) + of_record * len(records) < largest
        assert status == ("complete" if all_fit else "too large")


def with_rare_items(records, weights, min_count):
    """Add records of so many items that these are rare: lists are searched then, not bitmaps."""
    copies = min_count if weights is None else 1
    pairs = [{100 + 2 * k, 101 + 2 * k} for k in range(100 if copies < 20 else 0)]
    more = [pair for pair in pairs for _ in range(copies)]
    return records + more, weights if weights is None else weights + [min_count] * len(more)


def bytes_of_items(records, weights, min_count, kind):
    """Return what the records of each item take, of those with two frequent items or more."""
    pairs = list(zip(records, [1] * len(records) if weights is None else weights, strict=True))
    counts = {i: sum(w for r, w in pairs if i in r) for i in set().union(*records)}
    total = sum(w for _, w in pairs)
    kept = {i: c for i, c in counts.items() if min_count <= c < total}
    rank = {i: k for k, i in enumerate(sorted(kept, key=lambda i: (kept[i], i)))}
    bytes_of = dict.fromkeys(rank, 0)
    for record in records:
        held = record & rank.keys()
        for i in held:
            behind = sum(rank[j] >= rank[i] for j in held) if kind == "all" else len(held)
            if behind > 1:
                bytes_of[i] += 8 * behind + 4 if weights is None else 16 * behind + 12
    return bytes_of


@pytest.mark.parametrize("kind", KINDS)
@given(given_baskets=baskets(), jobs=st.sampled_from(JOBS), top=st.sampled_from([0, 0, 9]))
@settings(max_examples=80)
def test_sets_of_few_items_among_many_rare_ones(kind, given_baskets, jobs, top):
    records, weights, min_count = given_baskets
    alone = frequent_itemsets(records, min_count, kind, weights)
    records, weights = with_rare_items(records, weights, min_count)
    top = top if kind != "maximal" else 0
    mined = mine(records, min_count, kind, weights=weights, jobs=jobs, top=top)
    expected = frequent_itemsets(records, min_count, kind, weights)
    assert expected.items() >= {k: v for k, v in alone.items() if k}.items()
    assert as_dict(mined) == (most_frequent(expected, top) if top else expected)
    if top:
        one = mine(records, min_count, kind, weights=weights, jobs=1, top=top)
        for a, b in zip(one[:3], mined[:3], strict=True):
            assert_identical(a, b)


@pytest.mark.parametrize("kind", KINDS)
@given(given_baskets=baskets())
@settings(max_examples=40)
def test_records_of_one_item_can_be_told_by_their_number(kind, given_baskets):
    records, weights, min_count = given_baskets
    n_values = 1 + max((max(r) for r in records if r), default=0)
    weights = weights or [1] * len(records)
    alone, n_beside = np.zeros(n_values, np.int64), 0
    for record, weight in zip(records, weights, strict=True):
        if len(record) < 2:
            n_beside += weight
            alone[list(record)] += weight
    kept = [k for k, record in enumerate(records) if len(record) > 1]
    fewer = mine([records[k] for k in kept], min_count, kind, weights=[weights[k] for k in kept],
                 alone=alone, n_beside=n_beside, n_values=n_values)  # fmt: skip
    assert as_dict(fewer) == frequent_itemsets(records, min_count, kind, weights)


@pytest.mark.parametrize("n", [3, 8, 9, 13])
@pytest.mark.parametrize("sizes", [ANY_SIZE, (1, 6), (2, 20)])
def test_items_of_all_records_of_a_set_double_it(n, sizes):
    others = [3 * i for i in range(n)]  # some before the item, some behind it
    records = [{7, *others}] * 3 + [{7}] * 2 + [set(others[:1])]
    expected = frequent_itemsets(records, 3, "all")
    low, high = sizes
    within = {items: count for items, count in expected.items() if low <= len(items) <= high}
    assert as_dict(mine(records, 3, "all", sizes=sizes)) == within


def test_many_words_and_planes():
    rng = np.random.default_rng(8)
    records = [set(np.flatnonzero(rng.random(8) < 0.6).tolist()) for _ in range(1500)]
    weights = rng.integers(1, 10**9, 1500).tolist()
    min_count = sum(weights) // 5
    for kind in KINDS:
        expected = frequent_itemsets(records, min_count, kind, weights)
        assert as_dict(mine(records, min_count, kind, weights=weights)) == expected


def test_a_limit_of_memory_ends_the_search():
    records = [set(range(24))] * 3 + [set(range(23))]
    *_, status = mine(records, 1, "all", max_bytes=10**6)
    assert status == "too many"
    n_sets, n_items, status = mine(records, 1, "all", count_only=True)
    assert (n_sets, n_items, status) == (2**24 - 1, 24 * 2**23, "complete")
    # 2 ** 200 sets are more than can be told.
    assert mine([set(range(200))] * 2, 1, "all", count_only=True)[0] == 2**63 - 1


def test_ctrl_c_returns_the_branches_that_are_complete():
    outcome = run("""
        import os, signal, threading
        import numpy as np
        from tacit import _core

        rng = np.random.default_rng(0)
        bits = rng.random((2000, 200)) < np.linspace(0.01, 0.9, 200)
        indptr = np.concatenate(([0], np.cumsum(bits.sum(1)))).astype(np.int64)
        values = np.nonzero(bits)[1].astype(np.uint16)
        records = _core.Records(indptr, values, 200)
        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
        indptr, items, counts, _, status = _core.mine_itemsets(
            records, 20, "all", (1, 10**6), 0, None, None, None, None, None, 0,
            (2**62, 2**62), False, 2
        )
        sets = [items[a:b] for a, b in zip(indptr[:2000], indptr[1:2001])]
        right = all(bits[:, s].all(axis=1).sum() == c for s, c in zip(sets, counts))
        print(status, right and len(counts) > 0)
    """)
    assert outcome == ["interrupted", "True"]


def test_wrong_arguments_are_refused():
    records = [{0, 1}, {1}]
    with pytest.raises(ValueError, match="kind"):
        mine(records, 1, "some")
    with pytest.raises(ValueError, match="min_count"):
        mine(records, 0, "all")
    with pytest.raises(ValueError, match="weights"):
        mine(records, 1, "all", weights=[1])
    with pytest.raises(ValueError, match="excluded"):
        mine(records, 1, "all", excluded=np.zeros(5, np.uint8))
    with pytest.raises(ValueError, match="groups"):
        mine(records, 1, "all", groups=np.zeros(5, np.uint8))
    with pytest.raises(ValueError, match="groups"):
        mine(records, 1, "all", groups=np.zeros(2, np.uint8), count_only=True)
    with pytest.raises(ValueError, match="alone"):
        mine(records, 1, "all", alone=np.zeros(5, np.int64))
    with pytest.raises(ValueError, match="labels"):
        mine(records, 1, "all", labels=np.zeros(5, np.uint32))
    with pytest.raises(ValueError, match="top"):
        mine(records, 1, "maximal", top=3)
