"""The leaf of every record, against a walk that looks at every id at every node."""

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.random_trees import Flat, random_chain, random_tree, walk
from support.strategies import VALUE_TYPES, data, for_all_jobs
from tacit import _core


def leaves_of(table, tree, dtype=np.uint16, n_jobs=1):
    return _core.tree_leaves(_core.Records(*table.csr(dtype), table.n_values), *tree.arrays, n_jobs)


@pytest.mark.parametrize("dtype", VALUE_TYPES)
@given(data(weights=None, with_chosen=False), st.randoms(use_true_random=False), st.booleans())
def test_leaves(dtype, table, random, merge):
    tree = random_tree(random, table.arities, merge=merge)
    leaves = for_all_jobs(lambda n_jobs: leaves_of(table, tree, dtype, n_jobs), (1, 2))
    assert leaves.dtype == np.int32
    assert leaves.tolist() == [walk(tree, ids) for ids in table.lists]


@given(data(weights=None, with_chosen=False), st.randoms(use_true_random=False))
def test_long_chains(table, random):
    """A chain is longer than most records: the turning is looked up, not searched for."""
    tree = random_chain(random, table.arities)
    assert leaves_of(table, tree).tolist() == [walk(tree, ids) for ids in table.lists]


def test_many_records_on_several_threads():
    rng = np.random.default_rng(3)
    held = rng.random((30_000, 40)) < 0.1
    indptr = np.concatenate(([0], np.cumsum(held.sum(axis=1)))).astype(np.int64)
    values = np.nonzero(held)[1].astype(np.uint16)
    tree = random_tree(Random(5), [2] * 40, max_nodes=301)
    records = _core.Records(indptr, values, 40)
    leaves = for_all_jobs(lambda n: _core.tree_leaves(records, *tree.arrays, n))
    lists = np.split(values, indptr[1:-1])
    some = range(0, 30_000, 97)
    assert [leaves[r] for r in some] == [walk(tree, lists[r].tolist()) for r in some]
    assert len(set(leaves.tolist())) > 20


def test_a_single_leaf_takes_all():
    zero = np.zeros(1, np.int32)
    tree = Flat(zero - 1, zero, zero, zero.astype(np.uint8), zero, zero[:0], zero - 1)
    indptr = np.array([0, 2, 2], np.int64)
    records = _core.Records(indptr, np.array([1, 4], np.uint32), 5)
    leaves = _core.tree_leaves(records, *tree.arrays, 1)
    assert leaves.tolist() == [0, 0]


STUMP = {
    "column": np.array([0, -1, -1], np.int32),
    "low": np.array([0, 0, 0], np.int32),
    "high": np.array([1, 0, 0], np.int32),
    "complete": np.zeros(3, np.uint8),
    "first": np.zeros(3, np.int32),
    "children": np.array([1, 2], np.int32),
    "also": np.full(3, -1, np.int32),
}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"low": np.zeros(2, np.int32)}, "equally many"),
        ({"complete": np.zeros(4, np.uint8)}, "equally many"),
        ({"high": np.zeros(3, np.int32)}, "range of value ids"),
        ({"low": np.array([-1, 0, 0], np.int32)}, "range of value ids"),
        ({"first": np.array([1, 0, 0], np.int32)}, "index of children"),
        ({"first": np.array([-1, 0, 0], np.int32)}, "index of children"),
        ({"complete": np.ones(3, np.uint8), "high": np.full(3, 2**31 - 1, np.int32)}, "index of"),
        ({"also": np.zeros(2, np.int32)}, "equally many"),
        ({"also": np.array([0, -1, -1], np.int32)}, "another value id"),
        ({"also": np.array([-2, -1, -1], np.int32)}, "another value id"),
        ({"children": np.array([1, 3], np.int32)}, "behind their parents"),
        ({"children": np.array([1, 0], np.int32)}, "behind their parents"),
        ({"children": np.array([1, -1], np.int32)}, "behind their parents"),
        ({name: array[:0] for name, array in STUMP.items()}, "equally many"),
    ],
)
def test_arrays_that_would_lead_astray_are_refused(change, message):
    records = _core.Records(np.array([0, 1], np.int64), np.array([0], np.uint16), 1)
    good = _core.tree_leaves(records, *STUMP.values(), 1)
    assert good.tolist() == [1]
    with pytest.raises(ValueError, match=message):
        _core.tree_leaves(records, *(STUMP | change).values(), 1)
