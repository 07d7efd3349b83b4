"""Columns that are taken together as one: a block, whose labels are combinations of theirs.

A tree of single columns cannot say that of several columns one at most has a value, as where each
label of a hidden categorical column became a column. A tree of blocks can.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.errors import InputError
from tacit.schema import Labels, Schema
from tacit.table import Table
from tacit.table.gateway import value_type

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Blocks", "flat_labels", "join_columns", "read_blocks"]

_COMBINATIONS = 1024  # of the labels of a block's columns, at most


@dataclass(frozen=True, eq=False)
class Blocks:
    """A partition of the columns of a schema.

    Combinations of the labels of a block's columns are counted through, those of the last column
    fastest. Common ones are a label of the block each; all others share the last label, and are
    equally probable given it.
    """

    outer: Schema
    block_of: NDArray[np.int64]  # of each column, in 0, 1, …, each of which occurs
    labels_of: tuple[NDArray[np.int64] | None, ...]  # of each combination; None: one to one

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("outer", "block_of", "labels_of")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    @classmethod
    def single(cls, schema: Schema) -> Blocks:
        """Return a block for each column."""
        return cls(schema, np.arange(len(schema)), (None,) * len(schema))

    @cached_property
    def are_single(self) -> bool:
        """Whether each block is one column, in their order."""
        return bool((self.block_of == np.arange(len(self.block_of))).all())

    def are_same(self, other: Blocks) -> bool:
        """Say whether these are the same blocks, with the same labels."""
        pairs = zip(self.labels_of, other.labels_of, strict=False)
        return np.array_equal(self.block_of, other.block_of) and all(
            a is b or (a is not None and b is not None and np.array_equal(a, b)) for a, b in pairs
        )

    @cached_property
    def members(self) -> list[NDArray[np.int64]]:
        """The columns of each block, ascending."""
        order = np.argsort(self.block_of, kind="stable")
        return np.split(order, np.cumsum(np.bincount(self.block_of))[:-1])

    @cached_property
    def strides(self) -> NDArray[np.int64]:
        """How many combinations further the next label of each column is."""
        strides = np.ones(len(self.outer), np.int64)
        for columns in self.members:
            arities = self.outer.arities[columns]
            strides[columns] = np.cumprod(np.concatenate(([1], arities[:0:-1])))[::-1]
        return strides

    def labels(self, block: int) -> NDArray[np.int64]:
        """Return the label of each combination."""
        known = self.labels_of[block]
        if known is None:
            return np.arange(int(self.outer.arities[self.members[block]].prod()))
        return known

    def sizes(self, block: int) -> NDArray[np.int64]:
        """Return how many combinations have each label."""
        return np.bincount(self.labels(block))

    @cached_property
    def schema(self) -> Schema:
        """The blocks as columns."""
        if self.are_single:
            return self.outer
        names, labels = self.outer.names, list[Labels]()
        known: dict[int, Labels] = {}
        defaults = self._default_combinations.copy()
        for block, columns in enumerate(self.members):
            if len(columns) == 1:
                labels.append(self.outer.labels[int(columns[0])])
                continue
            n = len(self.sizes(block))
            labels.append(known.setdefault(n, Labels.of_numbers(np.arange(n), "Int64")))
            defaults[block] = self.labels(block)[defaults[block]]
        joined = [" & ".join(names[int(c)] for c in columns) for columns in self.members]
        if len(set(joined)) < len(joined):  # names may hold anything
            joined = [f"{k}: {name}" for k, name in enumerate(joined)]
        return Schema(joined, labels, defaults)

    @cached_property
    def _default_combinations(self) -> NDArray[np.int64]:
        steps = self.outer.defaults * self.strides
        found: NDArray[np.int64] = np.bincount(self.block_of, steps).astype(np.int64)
        return found

    # Records

    @cached_property
    def _first(self) -> NDArray[np.int64]:
        sizes = [len(self.labels(block)) for block in range(len(self.members))]
        return np.concatenate(([0], np.cumsum(sizes)))

    @cached_property
    def _flat(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The label of each combination of each block, and log P(combination | label)."""
        blocks = range(len(self.members))
        labels = [self.labels(block) for block in blocks]
        chances = [-np.log(self.sizes(b)[held]) for b, held in zip(blocks, labels, strict=True)]
        return np.concatenate(labels), np.concatenate(chances)

    def table(self, table: Table) -> tuple[Table, NDArray[np.float64] | None]:
        """Return records of the blocks, and log P(record | labels of its blocks). O(l log l)."""
        if self.are_single:
            return table, None
        outer, inner = self.outer, self.schema
        rows = np.repeat(np.arange(table.n_records), np.diff(table.indptr))
        columns = outer.value_columns[table.values]
        steps = outer.value_codes[table.values] - outer.defaults[columns]
        blocks = self.block_of[columns]
        order = np.lexsort((blocks, rows))
        rows, blocks = rows[order], blocks[order]
        steps = (steps * self.strides[columns])[order]
        new = np.ones(len(rows), np.bool_)
        new[1:] = (rows[1:] != rows[:-1]) | (blocks[1:] != blocks[:-1])
        starts = np.flatnonzero(new)
        rows, blocks = rows[starts], blocks[starts]
        steps = np.add.reduceat(steps, starts) if len(starts) else steps
        cells = self._first[blocks] + self._default_combinations[blocks] + steps
        codes, chances = (flat[cells] for flat in self._flat)
        # The combination of all defaults has a label of its own, so that all of these are stored.
        ids = inner.offsets[blocks] + codes - (codes > inner.defaults[blocks])
        indptr = np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=table.n_records))))
        values = ids.astype(value_type(inner.n_values))
        within = np.bincount(rows, chances, table.n_records).astype(np.float64)
        return Table.from_stored(inner, indptr, values, table.weights), within

    # Between labels of blocks and of columns

    def digits(self, column: int) -> NDArray[np.int64]:
        """Return the code of a column in each combination of its block."""
        n = len(self.labels(int(self.block_of[column])))
        digits: NDArray[np.int64] = (
            np.arange(n) // self.strides[column] % int(self.outer.arities[column])
        )
        return digits

    def agree(
        self, block: int, codes: NDArray[Any], *, greatest: bool = False
    ) -> NDArray[np.float64] | None:
        """Return P(what is known of the block's columns | label), records × labels.

        -1 is not known; ``None`` where nothing is, of any record. With `greatest`, the probability
        of the most probable combination that agrees.
        """
        columns, labels = self.members[block], self.labels(block)
        if not (codes[:, columns] >= 0).any():
            return self._chances(block) if greatest else None
        agree = np.ones((len(codes), len(labels)))
        for column in columns.tolist():
            code = codes[:, column, None]
            agree *= (code < 0) | (code == self.digits(column))
        if len(columns) == 1:
            return agree
        sizes = self.sizes(block)
        held = np.zeros((len(codes), len(sizes)))
        np.add.at(held.T, labels, agree.T)
        return np.minimum(held, 1.0) / sizes if greatest else held / sizes

    def _chances(self, block: int) -> NDArray[np.float64] | None:
        sizes = self.sizes(block)
        return None if (sizes == 1).all() else 1 / sizes[None]

    def fold(self, column: int, chances: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sums over labels of a column's block (the first axis) for the column's."""
        block = int(self.block_of[column])
        if len(self.members[block]) == 1:
            return chances
        labels = self.labels(block)
        spread = (chances.T / self.sizes(block)).T[labels]
        folded = np.zeros((int(self.outer.arities[column]), *chances.shape[1:]))
        np.add.at(folded, self.digits(column), spread)
        return folded

    def decode(
        self, labels: NDArray[Any], given: NDArray[Any], rng: np.random.Generator | None = None
    ) -> NDArray[np.int32]:
        """Return codes of columns that agree with one record, of the labels of blocks.

        Of several combinations, one is drawn, or without a generator the first is taken.
        """
        decoded = np.empty((len(labels), len(self.outer)), np.int32)
        for block, columns in enumerate(self.members):
            held = labels[:, block].astype(np.int64)
            known = self.labels(block)
            fits = np.ones(len(known), np.bool_)
            for column in columns.tolist():
                fits &= (given[0, column] < 0) | (self.digits(column) == given[0, column])
            combinations = np.zeros(len(labels), np.int64)
            for label in np.unique(held).tolist():
                some = np.flatnonzero(fits & (known == label))
                rows = held == label
                combinations[rows] = (
                    some[0] if rng is None or len(some) == 1 else rng.choice(some, rows.sum())
                )
            for column in columns.tolist():
                decoded[:, column] = self.digits(column)[combinations]
        return decoded


def join_columns(
    table: Table, edges: NDArray[np.int64], gains: NDArray[np.float64], most_labels: int
) -> Blocks:
    """Join the ends of edges, those of the largest gain first, to blocks of so many labels at most.

    Labels are the combinations that records have, and one more for all others.

    >>> table = Table(np.array([[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [1, 0, 0, 0]]))
    >>> edges, gains = np.array([[0, 1], [1, 2], [2, 3]]), np.array([1.0, 5.0, 2.0])
    >>> blocks = join_columns(table, edges, gains, 5)
    >>> blocks.block_of.tolist(), blocks.labels(1).tolist()
    ([0, 1, 1, 1], [0, 1, 2, 4, 3, 4, 4, 4])
    """
    schema = table.schema
    block = list(range(len(schema)))
    members = [[c] for c in range(len(schema))]
    sizes = schema.arities.tolist()
    for e in np.argsort(-gains, kind="stable").tolist():
        a, b = (block[int(c)] for c in edges[e])
        if a == b or sizes[a] * sizes[b] > _COMBINATIONS:
            continue
        columns = sorted(members[a] + members[b])
        if _n_labels(_combinations(table, columns), sizes[a] * sizes[b]) <= most_labels:
            members[a], sizes[a] = columns, sizes[a] * sizes[b]
            for c in members[b]:
                block[c] = a
    first = {k: n for n, k in enumerate(dict.fromkeys(block))}
    labels: list[NDArray[np.int64] | None] = [None] * len(first)
    for k, n in first.items():
        if len(members[k]) > 1:
            found = _combinations(table, members[k])
            known = np.full(sizes[k], len(found), np.int64)
            known[found] = np.arange(len(found))
            labels[n] = known
    return Blocks(schema, np.array([first[k] for k in block], np.int64), tuple(labels))


def _n_labels(found: NDArray[np.int64], n_combinations: int) -> int:
    return len(found) + (len(found) < n_combinations)


def _combinations(table: Table, columns: list[int]) -> NDArray[np.int64]:
    """Return the combinations of columns that occur, and that of defaults."""
    codes, default = np.zeros(table.n_records, np.int64), 0
    for c in columns:
        arity = int(table.schema.arities[c])
        codes = codes * arity + table.codes(c)
        default = default * arity + int(table.schema.defaults[c])
    return np.union1d(codes, [default])


def flat_labels(blocks: Blocks) -> NDArray[np.int64]:
    """Return the labels of combinations, block after block, for files."""
    known = [labels for labels in blocks.labels_of if labels is not None]
    return np.concatenate([np.zeros(0, np.int64), *known])


def read_blocks(schema: Schema, block_of: Any, labels: Any) -> Blocks:
    """Return blocks out of a file, if that is what they are."""
    n = len(schema)
    if block_of.dtype != np.int64 or block_of.shape != (n,):
        raise InputError("'blocks' are not those of the columns")
    if labels.dtype != np.int64 or labels.ndim != 1:
        raise InputError("'labels' are not those of the blocks")
    if set(block_of.tolist()) != set(range(len(set(block_of.tolist())))):
        raise InputError("'blocks' are not numbered one after another")
    plain = Blocks(schema, block_of, (None,) * (int(block_of.max()) + 1))
    known: list[NDArray[np.int64] | None] = []
    first = 0
    for columns in plain.members:
        size = int(min(np.prod(schema.arities[columns].astype(float)), 2.0**62))
        if len(columns) == 1:
            known.append(None)
            continue
        held = labels[first : first + size]
        first += size
        if size > _COMBINATIONS or len(held) < size or set(held) != set(range(len(set(held)))):
            raise InputError("'labels' are not those of the blocks")
        known.append(held)
    if first != len(labels):
        raise InputError("'labels' are not those of the blocks")
    return Blocks(schema, block_of, tuple(known))
