"""Counts of leaves, and the splits that are found from them, against slow and obvious versions."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.strategies import VALUE_TYPES, Data, assert_identical, data, for_all_jobs
from support.trees import PLAIN, grow_forest, random_case, rules
from tacit import _core
from tacit.tree.partitioned.leaf_counting import DisjointCells

NO_IDS = np.zeros(0, np.int32)
NO_PATHS = (np.zeros(2, np.int64), NO_IDS, NO_IDS, np.zeros(0, np.uint8))  # to one leaf


@dataclass(frozen=True)
class Leaves:
    """Conditions of leaves: ranges of ids, and whether one of them is held."""

    paths: list[list[tuple[int, int, int]]]
    targets: list[int]
    dense: list[int] | None = None
    ahead: list[list[tuple[int, int]]] | None = None
    in_order: list[int] | None = None

    @property
    def flags(self):
        return self.dense or [1] * len(self.targets)

    @property
    def candidates(self):
        return self.ahead or [[] for _ in self.targets]

    @property
    def arrays(self):
        flat = np.array([c for path in self.paths for c in path], np.int32).reshape(-1, 3)
        ahead = np.array([c for own in self.candidates for c in own], np.int32).reshape(-1, 2)
        return (
            np.cumsum([0, *map(len, self.paths)]).astype(np.int64),
            flat[:, 0].copy(),
            flat[:, 1].copy(),
            flat[:, 2].astype(np.uint8),
            np.array(self.targets, np.int32),
            np.array(self.flags, np.uint8),
            np.cumsum([0, *map(len, self.candidates)]).astype(np.int64),
            ahead[:, 0].copy(),
            ahead[:, 1].copy(),
            np.array(self.in_order or [0] * len(self.targets), np.uint8),
        )


def table_of(own, dtype):
    """Return what the kernel takes of a table."""
    indptr, values = own.csr(dtype)
    offsets = np.concatenate(([0], np.cumsum(np.array(own.arities) - 1))).astype(np.int64)
    start = np.concatenate(([0], np.cumsum(np.bincount(values, minlength=own.n_values))))
    records = np.repeat(np.arange(len(own.rows)), np.diff(indptr))
    rows = records[np.argsort(values, kind="stable")].astype(np.int32)
    defaults = np.array(own.defaults, np.int64)
    return indptr, values, start.astype(np.int64), rows, offsets, defaults


def count_leaves(own, leaves, weights):
    """Count one record and one value after another: dense counts, then cells."""
    offsets = np.concatenate(([0], np.cumsum(np.array(own.arities) - 1)))
    every, cells = [], DisjointCells([], [], [0], [], [])
    for k, (path, target) in enumerate(zip(leaves.paths, leaves.targets, strict=True)):
        first, last = offsets[target], offsets[target + 1]
        found = {}
        for r, held in enumerate(own.lists):
            if any(any(low <= v < high for v in held) != bool(i) for low, high, i in path):
                continue
            mask = 0
            for bit, (low, high) in enumerate(leaves.candidates[k]):
                mask |= any(low <= v < high for v in held) << bit
            if leaves.candidates[k] and not mask:
                continue
            if leaves.in_order and leaves.in_order[k]:
                mask &= -mask
            counts = found.setdefault(mask, np.zeros((own.arities[target], own.n_values), np.int64))
            histogram = next((v - first + 1 for v in held if first <= v < last), 0)
            for v in held:
                counts[0, v] += weights[r]
                if histogram:
                    counts[histogram, v] += weights[r]
        if leaves.flags[k]:
            none = np.zeros(own.arities[target] * own.n_values, np.int64)
            every += found.get(0, none).reshape(-1).tolist()
            continue
        for mask in sorted(found):
            counts = found[mask].reshape(-1)
            if not counts.any():
                continue
            cells.leaf.append(k)
            cells.mask.append(mask)
            cells.keys.extend(np.flatnonzero(counts).tolist())
            cells.counts.extend(counts[counts > 0].tolist())
            cells.start.append(len(cells.keys))
    return every, cells


def as_lists(found):
    dense, cells = found
    assert all(x.dtype == np.int64 for x in (dense, *cells))
    return dense.tolist(), DisjointCells(*(x.tolist() for x in cells))


def as_arrays(cells):
    return [np.array(x, np.int64) for x in cells]


@st.composite
def leaves_of(draw, own):
    offsets = np.concatenate(([0], np.cumsum(np.array(own.arities) - 1))).tolist()

    def ranges():
        column = draw(st.integers(0, len(own.arities) - 1))
        low = draw(st.integers(offsets[column], offsets[column + 1]))
        return low, draw(st.integers(low, offsets[column + 1]))

    n = draw(st.integers(0, 6))
    paths = [
        [(*ranges(), draw(st.integers(0, 1))) for _ in range(draw(st.integers(0, 5)))]
        for _ in range(n)
    ]
    targets = [draw(st.integers(0, len(own.arities) - 1)) for _ in range(n)]
    dense = [draw(st.integers(0, 1)) for _ in range(n)]
    ahead = [[] if own else [ranges() for _ in range(draw(st.integers(0, 5)))] for own in dense]
    return Leaves(paths, targets, dense, ahead, [draw(st.integers(0, 1)) for _ in range(n)])


@settings(max_examples=150)
@given(data(weights=None, with_chosen=False), st.data())
def test_leaf_counts(own, draw):
    leaves = draw.draw(leaves_of(own))
    weights = draw.draw(
        st.none() | st.lists(st.integers(0, 2**50), min_size=len(own.rows), max_size=len(own.rows))
    )
    expected = count_leaves(own, leaves, weights or [1] * len(own.rows))
    units = None if weights is None else np.array(weights, np.int64)
    for dtype in VALUE_TYPES:
        table = table_of(own, dtype)
        found = for_all_jobs(
            lambda n_jobs, table=table: flat_counts(*table, units, *leaves.arrays, n_jobs)
        )
        assert as_lists((found[0], found[1:])) == expected


def leaf_counts(indptr, values, start, rows, offsets, defaults, weights, *leaves, **named):
    table = _core.TreeTable(indptr, values, start, rows, offsets, defaults, None, weights)
    return _core.leaf_counts(table, *leaves, **named)


def flat_counts(*arguments):
    dense, cells = leaf_counts(*arguments)
    return dense, *cells


def test_many_leaves_of_long_records():
    rng = np.random.default_rng(0)
    codes = (rng.random((300, 80)) < 0.4).astype(int)
    own = Data([tuple(row) for row in codes.tolist()], [2] * 80, [0] * 80)
    paths = [
        [(k % 80, k % 80 + 1, k % 3 > 0), ((k + 7) % 80, (k + 7) % 80 + 1, 0)] for k in range(600)
    ]
    dense = rng.integers(0, 2, 600).tolist()
    ahead = [[] if dense[k] or k % 5 else [(v, v + 1) for v in range(62)] for k in range(600)]
    leaves = Leaves(paths, rng.integers(0, 80, 600).tolist(), dense, ahead)
    table = table_of(own, np.uint16)
    found = for_all_jobs(lambda n_jobs: flat_counts(*table, None, *leaves.arrays, n_jobs))
    assert as_lists((found[0], found[1:])) == count_leaves(own, leaves, [1] * 300)


@settings(max_examples=100)
@given(data(weights=None, with_chosen=False), st.data())
def test_cells_of_parts_make_those_of_all(own, draw):
    leaves = draw.draw(leaves_of(own))
    m = len(own.rows)
    first = np.array(draw.draw(st.lists(st.integers(0, 1), min_size=m, max_size=m)))
    parts = [count_leaves(own, leaves, own_weights)[1] for own_weights in (first, 1 - first)]
    _, whole = count_leaves(own, leaves, [1] * m)
    found = _core.add_disjoint_cells(*as_arrays(parts[0]), *as_arrays(parts[1]))
    assert DisjointCells(*(x.tolist() for x in found)) == whole


@settings(max_examples=100)
@given(data(weights=None, with_chosen=False), st.data())
def test_splits_by_candidates_follow_from_cells(own, draw):
    """Whatever the order of splits is, cells have the counts of what goes inside."""
    leaves = draw.draw(leaves_of(own))
    n_values, ones = own.n_values, [1] * len(own.rows)
    _, cells = count_leaves(own, replace(leaves, in_order=None), ones)
    for k, target in enumerate(leaves.targets):
        if leaves.flags[k] or not n_values:
            continue
        order = draw.draw(st.permutations(range(len(leaves.candidates[k]))))
        used, path = 0, list(leaves.paths[k])
        for bit in order or [-1]:
            inside = [] if bit < 0 else [(*leaves.candidates[k][bit], 1)]
            counts, _ = count_leaves(own, Leaves([[*path, *inside]], [target]), ones)
            counts = np.array(counts, np.int64).reshape(own.arities[target], -1)
            ends = np.searchsorted(cells.leaf, [k, k + 1])
            choice = [ends[0], ends[1], bit, used, own.arities[target]]
            id_start, histogram_start, ids, histograms = _core.take_disjoint_cells(
                *as_arrays(cells), *(np.array([x], np.int64) for x in choice), n_values
            )
            assert ids.tolist() == np.flatnonzero(counts[0]).tolist()
            assert histograms.tolist() == counts[:, ids].reshape(-1).tolist()
            assert id_start.tolist() == [0, len(ids)]
            assert histogram_start.tolist() == [0, histograms.size]
            used |= 1 << max(bit, 0)
            path += [(low, high, 0) for low, high, _ in inside]


def test_subtraction():
    rng = np.random.default_rng(0)
    for n_classes in (1, 2, 5):
        whole = rng.integers(5, 9, (n_classes, 12))
        for listed in (NO_IDS, np.array([0, 2, 3, 7, 11], np.int32)):
            for chosen in (NO_IDS, np.array([2, 11], np.int32), np.array([7], np.int32)):
                own = whole[:, listed] if len(listed) else whole
                place = np.searchsorted(listed, chosen) if len(listed) else chosen
                if not len(chosen):
                    place = np.arange(0 if len(listed) else 12)
                part = rng.integers(0, 5, (n_classes, len(place)))
                expected = own.copy()
                expected[:, place] -= part
                found = np.ascontiguousarray(own).reshape(-1).copy()
                _core.subtract_histograms(
                    np.array([n_classes]), [listed], [found], [chosen], [part.reshape(-1)]
                )
                assert found.tolist() == expected.reshape(-1).tolist()


BAD_PARTS = {
    "ids that the leaf lacks": {"part_ids": [np.array([1], np.int32)]},
    "fewer leaves": {"histograms": []},
    "fewer counts": {"parts": [np.zeros(1, np.int64)]},
    "ids that are not there": {"ids": [NO_IDS], "part_ids": [np.array([-1], np.int32)]},
    "no histograms": {"n_classes": np.zeros(1, np.int64)},
}


@pytest.mark.parametrize("change", BAD_PARTS.values(), ids=BAD_PARTS)
def test_parts_that_make_no_sense(change):
    arguments = {
        "n_classes": np.array([2]), "ids": [np.array([0, 2], np.int32)],
        "histograms": [np.ones(4, np.int64)], "part_ids": [np.array([2], np.int32)],
        "parts": [np.ones(2, np.int64)],
    }  # fmt: skip
    _core.subtract_histograms(**arguments)
    assert arguments["histograms"][0].tolist() == [1, 0, 1, 0]
    with pytest.raises(ValueError, match="must"):
        _core.subtract_histograms(**arguments | change)


BAD_CELLS = {
    "mask": np.zeros(2, np.int64),
    "start": np.array([0, 2], np.int64),
    "keys": np.array([12], np.int64),
    "counts": np.zeros(0, np.int64),
    "end": np.array([2], np.int64),
    "bit": np.array([62], np.int64),
    "used": np.zeros(0, np.int64),
    "n_classes": np.zeros(1, np.int64),
}


@pytest.mark.parametrize("name", BAD_CELLS)
def test_cells_that_make_no_sense(name):
    one = lambda x: np.array([x], np.int64)  # noqa: E731
    cells = {"leaf": one(0), "mask": one(1), "start": np.array([0, 1]), "keys": one(3)}
    arguments = cells | {"counts": one(5), "begin": one(0), "end": one(1), "bit": one(0)}
    arguments |= {"used": one(0), "n_classes": one(2), "n_values": 6}
    assert _core.take_disjoint_cells(**arguments)[3].tolist() == [5, 0]
    assert _core.take_disjoint_cells(**arguments | {"keys": one(9)})[3].tolist() == [0, 5]
    with pytest.raises(ValueError, match="must"):
        _core.take_disjoint_cells(**arguments | {name: BAD_CELLS[name]})


BAD = {
    "fewer starts": {"path_start": np.array([0, 1], np.int64)},
    "starts that fall": {"path_start": np.array([0, 2, 1], np.int64)},
    "starts behind 0": {"path_start": np.array([1, 1, 1], np.int64)},
    "fewer conditions": {"low": np.zeros(0, np.int32)},
    "more conditions": {"inside": np.zeros(2, np.uint8)},
    "ids that are not there": {"high": np.array([99], np.int32)},
    "ranges that fall": {"low": np.array([1], np.int32), "high": np.array([0], np.int32)},
    "negative ids": {"low": np.array([-1], np.int32)},
    "targets that are not there": {"targets": np.array([0, 3], np.int32)},
    "negative targets": {"targets": np.array([0, -1], np.int32)},
    "fewer weights": {"weights": np.ones(3, np.int64)},
    "no offsets": {"offsets": np.zeros(0, np.int64)},
    "start of another table": {"start": np.zeros(2, np.int64)},
    "fewer flags": {"dense": np.ones(1, np.uint8)},
    "fewer orders": {"in_order": np.ones(1, np.uint8)},
    "candidates that are not there": {"ahead_start": np.array([0, 0, 1], np.int64)},
    "candidates of dense leaves": {
        "ahead_start": np.array([0, 0, 1], np.int64),
        "ahead_low": np.zeros(1, np.int32),
        "ahead_high": np.ones(1, np.int32),
    },
}
NAMES = ["indptr", "values", "start", "rows", "offsets", "defaults", "weights", "path_start", "low"]
NAMES += ["high", "inside", "targets", "dense", "ahead_start", "ahead_low", "ahead_high"]
NAMES += ["in_order", "n_jobs"]


@pytest.mark.parametrize("change", BAD.values(), ids=BAD)
def test_counts_that_make_no_sense(change):
    case = random_case(1, 30, [2, 3, 4], 3, 0.5)
    *table, _ = case.table()
    arrays = Leaves([[(0, 1, 1)], []], [1, 2]).arrays
    arguments = dict(zip(NAMES, (*table, None, *arrays, 1), strict=True))
    assert len(leaf_counts(**arguments)[0]) == 7 * 6
    with pytest.raises(ValueError, match="must"):
        leaf_counts(**arguments | change)


NAMES_OF_SPLITS = ("column", "low", "high", "complete", "left", "right", "also")


def root_of(case, target):
    """Return the histograms of a root, the default of the target being the base."""
    *table, _ = case.table()
    arity = case.arities[target]
    counts, *_ = leaf_counts(*table, case.weights, *Leaves([[]], [target]).arrays, 1)
    own = slice(*case.offsets[target : target + 2])
    total = len(case.codes) if case.weights is None else int(case.weights.sum())
    return arity, counts, np.concatenate([[total], counts[: case.n_values][own]])


def split_root(case, target, n_jobs, ids=NO_IDS, counts=None, n_next=5):
    arity, every, whole = root_of(case, target)
    counts = every if counts is None else counts
    return _core.leaf_splits(
        *case.table()[4:], np.array([arity]), [ids], [counts.reshape(-1)], whole, np.ones(1),
        *NO_PATHS, whole[:1], np.array([target], np.int32), np.array([n_next]), case.settings,
        n_jobs,
    )  # fmt: skip


@settings(max_examples=150)
@given(st.integers(0, 2**31), rules(), st.integers(0, 3), st.booleans(), st.booleans())
def test_leaf_splits_are_those_of_growth(seed, how, target, weighted, wide):
    rng = np.random.default_rng(seed)
    case = random_case(seed, 60, [2, 3, 4, 70 if wide else 2], 2, 0.5)
    ordered = rng.choice([0, 1, 5], 4).tolist()
    weights = rng.integers(0, 9, 60) if weighted else None
    case = case.with_(ordered=ordered, weights=weights).ruled(**{**how, "max_leaves": 2**20})
    arity, counts, whole = root_of(case, target)
    histograms = np.array([arity], np.int64)
    worth = _core.worth_splitting(histograms, whole, np.zeros(1, np.int64), case.settings)
    found = for_all_jobs(lambda n_jobs: split_root(case, target, n_jobs))
    held = counts.reshape(arity, -1)
    some = np.flatnonzero(held[0]).astype(np.int32)
    if len(some):  # those that occur are enough
        few = split_root(case, target, 1, some, np.ascontiguousarray(held[:, some]))
        for one, other in zip(found, few, strict=True):
            assert_identical(one, other)
    column, low, high, complete, left, right, also, gain, _ = (x[0] for x in found[:9])
    *_, grown = _forest(case, target)
    if not worth[0] or column < 0:
        assert grown["column"][0] == -1
        return
    first = [grown[name][0] for name in NAMES_OF_SPLITS]
    assert first == [column, low, high, complete, left, right, also]
    assert grown["gain"][0] == gain
    children = grown["children"][: high - low + 1 if complete else 2]
    shares = grown["share"][children].tolist()
    assert found[10].tolist() == (shares if how["prior"] == "bdeu" else [])
    assert shares == found[10].tolist() or shares == [1.0] * len(shares)
    assert found[9].tolist() == [0, len(found[10])]


def _forest(case, target):
    arrays = grow_forest(*case.table(), np.array([target]), None, case.weights, case.settings, 1)
    names = ["roots", "column", "low", "high", "complete", "left", "right", "first", "children"]
    return (dict(zip([*names, "gain", "share", "also"], arrays, strict=False)),)


def test_ranks_have_the_order_of_gains_without_their_last_bits():
    case = random_case(4, 200, [2, 3, 4, 2], 2, 0.3).ruled(criterion="entropy")
    ranks = {}
    for target in range(4):
        found = split_root(case, target, 1)
        ranks[float(found[7][0])] = int(found[8][0])
    assert [ranks[gain] for gain in sorted(ranks)] == sorted(ranks.values())


def test_the_splits_that_come_next_are_good_ones():
    """Each one is the best when the columns of all before it are left out."""
    rng = np.random.default_rng(7)
    case = random_case(7, 400, [2] * 9, 2, 0.2).ruled(kappa=1.0)
    target = int(rng.integers(0, 9))
    *_, start, low, high, weight = split_root(case, target, 1, n_next=62)
    arity, counts, _ = root_of(case, target)
    histograms = counts.reshape(arity, -1)
    assert start.tolist() == [0, len(low)]
    assert high.tolist() == (low + 1).tolist()
    assert weight.tolist() == histograms[:, low].sum(axis=0).tolist()
    left = histograms.copy()
    first = int(split_root(case, target, 1)[1][0])
    for own in low.tolist():
        left[:, first] = 0  # nothing inside: no split
        found = split_root(case, target, 1, counts=left)
        assert found[1][0] == own
        first = own
    left[:, first] = 0
    last = split_root(case, target, 1, counts=left)
    few = split_root(case, target, 1, n_next=2)
    assert few[-3].tolist() == low[:2].tolist()
    assert last[0][0] < 0 or 2 * histograms[0, last[1][0]] > len(case.codes)


BAD_SPLITS = {
    "histograms": [np.zeros(5, np.int64)],
    "wholes": np.zeros(1, np.int64),
    "prior_fractions": np.ones(2),
    "path_start": np.array([0, 1], np.int64),
    "inside": np.zeros(1, np.uint8),
    "root_weights": np.zeros(0, np.int64),
    "n_classes": np.zeros(1, np.int64),
    "targets": np.array([9], np.int32),
    "ids": [np.array([3, 3], np.int32)],
    "n_next": np.zeros(0, np.int64),
}


@pytest.mark.parametrize("name", BAD_SPLITS)
def test_splits_that_make_no_sense(name):
    case = random_case(1, 30, [2, 3, 4], 3, 0.5)
    arity, counts, whole = root_of(case, 1)
    arguments = {
        "n_classes": np.array([arity]), "histograms": [counts], "wholes": whole,
        "prior_fractions": np.ones(1),
        **dict(zip(["path_start", "low", "high", "inside"], NO_PATHS, strict=True)),
        "ids": [NO_IDS], "root_weights": whole[:1], "targets": np.array([1], np.int32),
        "n_next": np.zeros(1, np.int64),
    }  # fmt: skip
    _core.leaf_splits(*case.table()[4:], **arguments, settings=PLAIN, n_jobs=1)
    with pytest.raises(ValueError, match="must"):
        _core.leaf_splits(
            *case.table()[4:], **arguments | {name: BAD_SPLITS[name]}, settings=PLAIN, n_jobs=1
        )
    with pytest.raises(ValueError, match="classes"):
        _core.leaf_splits(
            *case.table()[4:], **arguments, settings=PLAIN | {"criterion": "squared_error"},
            n_jobs=1,
        )  # fmt: skip


@pytest.mark.parametrize(("low", "high"), [(-1, 1), (1, 1), (0, 9), (0, 2), (2, 1)])
def test_conditions_that_make_no_sense(low, high):
    case = random_case(1, 30, [2, 3, 4], 3, 0.5).ruled(prior="bdeu")
    arity, counts, whole = root_of(case, 1)
    for first, last, message in ((3, 4, None), (low, high, "must be ranges")):
        path = [np.array([0, 1]), np.array([first], np.int32), np.array([last], np.int32)]
        arguments = (
            *case.table()[4:], np.array([arity]), [NO_IDS], [counts], whole, np.ones(1), *path,
            np.ones(1, np.uint8), whole[:1], np.array([1], np.int32), np.zeros(1, np.int64),
            case.settings, 1,
        )  # fmt: skip
        if message is None:
            _core.leaf_splits(*arguments)
        else:
            with pytest.raises(ValueError, match=message):
                _core.leaf_splits(*arguments)


def test_leaves_that_cannot_be_split():
    histograms = np.array([2, 2, 2, 2], np.int64)
    wholes = np.array([10, 4, 10, 0, 10, 10, 1, 0], np.int64)
    ask = lambda depths, **how: _core.worth_splitting(  # noqa: E731
        histograms, wholes, np.array(depths, np.int64), {**PLAIN, **how}
    ).tolist()
    assert ask([0, 0, 0, 0]) == [1, 0, 0, 0]  # some of each class; pure; pure; one record
    assert ask([2, 0, 0, 0], max_depth=2) == [0, 0, 0, 0]
    assert ask([0, 0, 0, 0], min_leaf=6) == [0, 0, 0, 0]
    with pytest.raises(ValueError, match="must be those"):
        ask([0])
