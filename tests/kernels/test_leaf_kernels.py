"""Counts of leaves, and the splits that are found from them, against slow and obvious versions."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies import VALUE_TYPES, Data, assert_identical, data, for_all_jobs
from tacit import _core
from tree_cases import PLAIN, random_case, rules

NO_IDS = np.zeros(0, np.int32)


@dataclass(frozen=True)
class Leaves:
    """Conditions of leaves: ranges of ids, and whether one of them is held."""

    paths: list[list[tuple[int, int, int]]]
    targets: list[int]
    dense: list[int] | None = None

    @property
    def arrays(self):
        flat = np.array([c for path in self.paths for c in path], np.int32).reshape(-1, 3)
        return (
            np.cumsum([0, *map(len, self.paths)]).astype(np.int64),
            flat[:, 0].copy(),
            flat[:, 1].copy(),
            flat[:, 2].astype(np.uint8),
            np.array(self.targets, np.int32),
            np.array(self.dense or [1] * len(self.targets), np.uint8),
        )

    def split(self, counts, own):
        """Return counts of dense leaves, and others as row_start, ids and counts."""
        dense, start, ids, rest = [np.zeros(0, np.int64)], [0], [], []
        for target, flag in zip(self.targets, self.arrays[-1], strict=True):
            size = own.arities[target] * own.n_values
            found, counts = counts[:size], counts[size:]
            if flag:
                dense.append(found)
                continue
            for plane in found.reshape(own.arities[target], -1):
                ids += np.flatnonzero(plane).tolist()
                rest += plane[plane > 0].tolist()
                start.append(len(ids))
        return np.concatenate(dense).tolist(), start, ids, rest


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
    """Count one record and one value after another."""
    offsets = np.concatenate(([0], np.cumsum(np.array(own.arities) - 1)))
    found = []
    for path, target in zip(leaves.paths, leaves.targets, strict=True):
        first, last = offsets[target], offsets[target + 1]
        counts = np.zeros((own.arities[target], own.n_values), np.int64)
        for r, held in enumerate(own.lists):
            if any(any(low <= v < high for v in held) != bool(i) for low, high, i in path):
                continue
            plane = next((v - first + 1 for v in held if first <= v < last), 0)
            for v in held:
                counts[0, v] += weights[r]
                if plane:
                    counts[plane, v] += weights[r]
        found.append(counts.reshape(-1))
    return np.concatenate(found) if found else np.zeros(0, np.int64)


@st.composite
def leaves_of(draw, own):
    offsets = np.concatenate(([0], np.cumsum(np.array(own.arities) - 1))).tolist()
    paths, targets = [], []
    for _ in range(draw(st.integers(0, 6))):
        path = []
        for _ in range(draw(st.integers(0, 5))):
            column = draw(st.integers(0, len(own.arities) - 1))
            low = draw(st.integers(offsets[column], offsets[column + 1]))
            high = draw(st.integers(low, offsets[column + 1]))
            path.append((low, high, draw(st.integers(0, 1))))
        paths.append(path)
        targets.append(draw(st.integers(0, len(own.arities) - 1)))
    return Leaves(paths, targets, [draw(st.integers(0, 1)) for _ in targets])


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
            lambda n_jobs, table=table: _core.leaf_counts(*table, units, *leaves.arrays, n_jobs)
        )
        assert [x.dtype for x in found] == [np.int64, np.int64, np.int32, np.int64]
        assert tuple(x.tolist() for x in found) == leaves.split(expected, own)


def test_many_leaves_of_long_records():
    rng = np.random.default_rng(0)
    codes = (rng.random((300, 80)) < 0.4).astype(int)
    own = Data([tuple(row) for row in codes.tolist()], [2] * 80, [0] * 80)
    paths = [
        [(k % 80, k % 80 + 1, k % 3 > 0), ((k + 7) % 80, (k + 7) % 80 + 1, 0)] for k in range(600)
    ]
    leaves = Leaves(paths, rng.integers(0, 80, 600).tolist(), rng.integers(0, 2, 600).tolist())
    table = table_of(own, np.uint16)
    found = for_all_jobs(lambda n_jobs: _core.leaf_counts(*table, None, *leaves.arrays, n_jobs))
    expected = count_leaves(own, leaves, [1] * 300)
    assert tuple(x.tolist() for x in found) == leaves.split(expected, own)


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
}
NAMES = ["indptr", "values", "start", "rows", "offsets", "defaults", "weights", "path_start", "low"]
NAMES += ["high", "inside", "targets", "dense", "n_jobs"]


@pytest.mark.parametrize("change", BAD.values(), ids=BAD)
def test_counts_that_make_no_sense(change):
    case = random_case(1, 30, [2, 3, 4], 3, 0.5)
    *table, _ = case.table()
    arrays = Leaves([[(0, 1, 1)], []], [1, 2]).arrays
    arguments = dict(zip(NAMES, (*table, None, *arrays, 1), strict=True))
    assert len(_core.leaf_counts(**arguments)[0]) == 7 * 6
    with pytest.raises(ValueError, match="must"):
        _core.leaf_counts(**arguments | change)


def root_of(case, target):
    """Return the planes of a root, the default of the target being the base."""
    *table, _ = case.table()
    arity = case.arities[target]
    counts, *_ = _core.leaf_counts(*table, case.weights, *Leaves([[]], [target]).arrays, 1)
    own = slice(*case.offsets[target : target + 2])
    total = len(case.codes) if case.weights is None else int(case.weights.sum())
    return arity, counts, np.concatenate([[total], counts[: case.n_values][own]])


def split_root(case, target, n_jobs, ids=NO_IDS, counts=None):
    arity, every, whole = root_of(case, target)
    counts = every if counts is None else counts
    return _core.leaf_splits(
        *case.table()[4:], np.array([arity]), np.array([0, len(ids)]), ids, counts.reshape(-1),
        whole, np.ones(1), whole[:1], np.array([target], np.int32), case.settings, n_jobs,
    )  # fmt: skip


@settings(max_examples=150)
@given(st.integers(0, 2**31), rules(), st.integers(0, 3), st.booleans(), st.booleans())
def test_leaf_splits_are_those_of_growth(seed, how, target, weighted, wide):
    rng = np.random.default_rng(seed)
    case = random_case(seed, 60, [2, 3, 4, 70 if wide else 2], 2, 0.5)
    ordered = rng.integers(0, 2, 4).tolist()
    weights = rng.integers(0, 9, 60) if weighted else None
    case = case.with_(ordered=ordered, weights=weights).ruled(**{**how, "max_leaves": 2**20})
    arity, counts, whole = root_of(case, target)
    planes = np.array([arity], np.int64)
    worth = _core.worth_splitting(planes, whole, np.zeros(1, np.int64), case.settings)
    found = for_all_jobs(lambda n_jobs: split_root(case, target, n_jobs))
    held = counts.reshape(arity, -1)
    some = np.flatnonzero(held[0]).astype(np.int32)
    if len(some):  # those that occur are enough
        few = split_root(case, target, 1, some, np.ascontiguousarray(held[:, some]))
        for one, other in zip(found, few, strict=True):
            assert_identical(one, other)
    column, low, high, complete, left, right, gain, _, inside, outside = (x[0] for x in found)
    *_, grown = _forest(case, target)
    if not worth[0] or column < 0:
        assert grown["column"][0] == -1
        return
    first = [grown[name][0] for name in ("column", "low", "high", "complete", "left", "right")]
    assert first == [column, low, high, complete, left, right]
    assert grown["gain"][0] == gain
    children = grown["children"][: high - low + 1 if complete else 2]
    assert grown["share"][children[0]] == inside
    assert grown["share"][children[-1]] == outside


def _forest(case, target):
    arrays = _core.grow_forest(
        *case.table(), np.array([target]), None, case.weights, case.settings, 1
    )
    names = ["roots", "column", "low", "high", "complete", "left", "right", "first", "children"]
    return (dict(zip([*names, "gain", "share"], arrays, strict=False)),)


def test_ranks_have_the_order_of_gains_without_their_last_bits():
    case = random_case(4, 200, [2, 3, 4, 2], 2, 0.3).ruled(criterion="entropy")
    ranks = {}
    for target in range(4):
        found = split_root(case, target, 1)
        ranks[float(found[6][0])] = int(found[7][0])
    assert [ranks[gain] for gain in sorted(ranks)] == sorted(ranks.values())


BAD_SPLITS = {
    "planes": np.zeros(5, np.int64),
    "wholes": np.zeros(1, np.int64),
    "shares": np.ones(2),
    "root_weights": np.zeros(0, np.int64),
    "n_planes": np.zeros(1, np.int64),
    "targets": np.array([9], np.int32),
    "ids": np.array([3, 3], np.int32),
    "id_start": np.array([0, 1]),
}


@pytest.mark.parametrize("name", BAD_SPLITS)
def test_splits_that_make_no_sense(name):
    case = random_case(1, 30, [2, 3, 4], 3, 0.5)
    arity, counts, whole = root_of(case, 1)
    arguments = {
        "n_planes": np.array([arity]), "planes": counts, "wholes": whole, "shares": np.ones(1),
        "id_start": np.array([0, 0]), "ids": NO_IDS, "root_weights": whole[:1],
        "targets": np.array([1], np.int32),
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


def test_leaves_that_cannot_be_split():
    planes = np.array([2, 2, 2, 2], np.int64)
    wholes = np.array([10, 4, 10, 0, 10, 10, 1, 0], np.int64)
    ask = lambda depths, **how: _core.worth_splitting(  # noqa: E731
        planes, wholes, np.array(depths, np.int64), {**PLAIN, **how}
    ).tolist()
    assert ask([0, 0, 0, 0]) == [1, 0, 0, 0]  # some of each class; pure; pure; one record
    assert ask([2, 0, 0, 0], max_depth=2) == [0, 0, 0, 0]
    assert ask([0, 0, 0, 0], min_leaf=6) == [0, 0, 0, 0]
    with pytest.raises(ValueError, match="must be those"):
        ask([0])
