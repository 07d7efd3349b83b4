"""A network of parities and noisy copies: the SYNTH data of the ADtree paper (Moore & Lee)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from tacit.datasets.draws import generator
from tacit.machine import check_int
from tacit.schema import Labels, Schema
from tacit.table import Table
from tacit.table.gateway import MOST_RECORDS, value_type

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["SYNTH", "Node", "make_synth"]

_BLOCK = 2**16  # records drawn at once; another number would give other tables
_SIDES = 5  # of the die that is cast for a triangle or a circle
_TRIANGLE, _CIRCLE = 1, 2  # sides that mean 1: probabilities 0.2 and 0.4, exactly


class Node(NamedTuple):
    """A column of the network: its kind, and the positions of its parents."""

    kind: Literal["triangle", "square", "circle"]
    parents: tuple[int, ...] = ()

    @property
    def is_drawn(self) -> bool:
        """Whether there is chance in it; squares follow from their parents."""
        return self.kind != "square"


# One line for each row; all parents are in the row above.
SYNTH: tuple[Node, ...] = (
    *(Node("triangle"),) * 6,
    Node("square", (0, 1, 2, 3)), Node("circle", (1,)), Node("triangle"),
    Node("circle", (4,)), Node("square", (2, 3, 4, 5)),
    Node("circle", (6,)), Node("square", (6, 7, 8, 9)), Node("triangle"),
    Node("square", (7, 8, 9, 10)), Node("circle", (10,)),
    Node("square", (11, 12, 13, 14)), Node("circle", (12,)), Node("triangle"),
    Node("square", (12, 13, 14, 15)),
    Node("circle", (16,)), Node("square", (16, 17, 18, 19)), Node("circle", (17,)),
    Node("circle", (19,)),
)  # fmt: skip


def make_synth(n_records: int = 30_000, *, random_state: int | np.random.Generator = 0) -> Table:
    r"""Draw records from a Bayes net of 24 binary columns, in the manner of Moore and Lee.

    There are three kinds of columns. A *triangle* has no parents and is 1 with probability 0.2. A
    *square* has four and no chance in it: it is 0 if an even number of them are 1, and else 1. A
    *circle* has one parent; it is 1 with probability 0.4 if the parent is 1, and never otherwise.

    The paper draws this network in its figure 8, of which no copy is left. Here the columns lie in
    five rows, each kind in several of them, and all parents are in the row above::

        triangle 0   triangle 1   triangle 2   triangle 3   triangle 4   triangle 5
           square 6    circle 7    triangle 8    circle 9    square 10
          circle 11   square 12   triangle 13   square 14   circle 15
                square 16   circle 17   triangle 18   square 19
                circle 20   square 21   circle 22   circle 23

    ``tacit.datasets.synth.SYNTH`` holds the kind and the parents of each.

    Parameters
    ----------
    n_records : int, default 30_000
        The paper has 30,000 to 500,000.
    random_state : int or numpy.random.Generator, default 0
        The same number gives the same records, and fewer records are the first of more.

    Returns
    -------
    Table
        Columns "triangle 0", …, "circle 23" with the labels 0 and 1 and the default 0, which is the
        more common one in each.

    Examples
    --------
    >>> from tacit.datasets import make_synth
    >>> table = make_synth(1000)
    >>> table
    Table of 1,000 records × 24 columns, 6,063 stored values (m·n/l = 3.96)
    >>> table.contingency(["triangle 1", "circle 7"])
    triangle 1 × circle 7, 1,000 records
    triangle 1 \ circle 7    0   1
    0                      799   0
    1                      118  83
    """
    m = check_int(n_records, "n_records", 1, MOST_RECORDS)
    rng = generator(random_state)
    lengths = np.empty(m, np.int64)
    blocks = []
    for first in range(0, m, _BLOCK):
        codes = _draw(rng, min(_BLOCK, m - first))
        lengths[first : first + len(codes)] = codes.sum(axis=1)
        blocks.append((np.flatnonzero(codes) % len(SYNTH)).astype(value_type(len(SYNTH))))
    labels = [Labels([0, 1], "Int64")] * len(SYNTH)
    names = [f"{node.kind} {column}" for column, node in enumerate(SYNTH)]
    schema = Schema(names, labels, np.zeros(len(SYNTH), np.int64))
    indptr = np.concatenate(([0], np.cumsum(lengths)))
    return Table.from_stored(schema, indptr, np.concatenate(blocks))


def _draw(rng: np.random.Generator, size: int) -> NDArray[np.uint8]:
    """Return the codes of some records, a row for each."""
    drawn = [column for column, node in enumerate(SYNTH) if node.is_drawn]
    # A record's dice lie side by side, so that the first records do not depend on how many follow.
    dice = rng.integers(0, _SIDES, (size, len(drawn)), np.uint8)
    cast = dict(zip(drawn, np.ascontiguousarray(dice.T), strict=True))
    codes = np.empty((len(SYNTH), size), np.uint8)
    for column, node in enumerate(SYNTH):
        if node.kind == "triangle":
            codes[column] = cast[column] < _TRIANGLE
        elif node.kind == "circle":
            codes[column] = codes[node.parents[0]] & (cast[column] < _CIRCLE)
        else:
            codes[column] = np.bitwise_xor.reduce(codes[list(node.parents)])
    return np.ascontiguousarray(codes.T)
