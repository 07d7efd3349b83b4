"""Exact answers of trees about records of which something is not known, by passing messages.

Arrays are clusters × records × labels. All clusters of a tree, and some records, are done at once.
Codes are those of the columns of records, messages those of blocks of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tacit.mixture.em.expected import ExpectedCounts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from tacit.density.clusters import TreeClusters

    Floats = NDArray[np.float64]
    Codes = NDArray[np.int32]

__all__ = ["Upward", "beliefs", "expect_codes", "log_joint", "most_probable", "pass_up"]

_CELLS = 2**22  # of messages that are held at a time


class Upward(NamedTuple):
    """What the columns below say of each column."""

    inside: list[Floats]  # of each label: P(what is known at and below | label), up to a factor
    messages: list[Floats]  # the same, for the labels of the parent
    logs: Floats  # (clusters, records): log P(what is known | cluster)


def row_blocks(group: TreeClusters, codes: Codes) -> Iterator[slice]:
    """Yield as many records at a time as messages fit for."""
    cells = 2 * group.n_clusters * int(group.layout.schema.arities.sum())
    step = max(_CELLS // cells, 1)
    for first in range(0, len(codes), step):
        yield slice(first, first + step)


def tables(group: TreeClusters) -> list[Floats]:
    """Return the table of each column: clusters × labels of the parent × labels."""
    layout = group.layout
    return [
        np.ascontiguousarray(np.moveaxis(layout.table(group.cells, column), 2, 0))
        for column in range(len(layout.parents))
    ]


def pass_up(
    group: TreeClusters, given: list[Floats], codes: Codes, *, greatest: bool = False
) -> Upward:
    """Pass messages from the leaves to the roots, codes of -1 being summed over.

    With `greatest`, they are maximised over instead.
    """
    layout, schema = group.layout, group.layout.schema
    n, shape = len(schema), (group.n_clusters, len(codes))
    inside: list[Floats] = [np.empty(0)] * n
    messages: list[Floats] = [np.empty(0)] * n
    logs = np.zeros(shape)
    for column in layout.order[::-1].tolist():
        product = np.ones((*shape, int(schema.arities[column])))
        for child in layout.children[column]:
            product *= messages[child]
        agree = layout.blocks.agree(column, codes, greatest=greatest)
        if agree is not None:
            product *= agree
        scale = product.max(axis=2)
        logs += np.log(scale)
        product /= scale[:, :, None]
        inside[column] = product
        if greatest:  # the rows of tables are few
            above = (product[:, :, None, :] * given[column][:, None]).max(axis=3)
        else:
            above = product @ given[column].transpose(0, 2, 1)
        messages[column] = above
        if layout.parents[column] < 0:
            logs += np.log(above[:, :, 0])
    return Upward(inside, messages, logs)


def beliefs(group: TreeClusters, given: list[Floats], up: Upward) -> list[tuple[Floats, Floats]]:
    """Pass messages back; return P(label | what is known, cluster) of each column.

    Beside it, what the rest of the record says of the labels of its parent.
    """
    layout = group.layout
    found: list[tuple[Floats, Floats]] = [(np.empty(0), np.empty(0))] * len(layout.parents)
    for column in layout.order.tolist():
        parent = int(layout.parents[column])
        outside = np.ones(up.messages[column].shape) if parent < 0 else found[parent][0]
        outside = outside / up.messages[column]
        found[column] = (outside @ given[column]) * up.inside[column], outside
    return found


def log_joint(groups: list[TreeClusters], codes: Codes) -> Floats:
    """Return log P(cluster, what is known) of all trees' clusters, clusters × records.

    Of tempered clusters, it is that times their power.
    """
    parts = []
    for group in groups:
        given = tables(group)
        weights = np.log(group.weights)[:, None]
        blocks = [
            group.power * (pass_up(group, given, codes[rows]).logs + weights)
            for rows in row_blocks(group, codes)
        ]
        parts.append(np.hstack(blocks) if blocks else np.zeros((group.n_clusters, 0)))
    return np.vstack(parts)


def expect_codes(groups: list[TreeClusters], codes: Codes, weights: Floats) -> list[ExpectedCounts]:
    """Return expected counts of ids, of records of which something is not known."""
    joint = log_joint(groups, codes)
    total = np.logaddexp.reduce(joint, axis=0)
    parts = np.exp(joint - total) * weights
    counts: list[ExpectedCounts] = []
    first = 0
    for group in groups:
        part = parts[first : first + group.n_clusters]
        first += group.n_clusters
        cells = np.zeros(group.cells.shape)
        given = tables(group)
        for rows in row_blocks(group, codes):
            up = pass_up(group, given, codes[rows])
            for column, (_, outside) in enumerate(beliefs(group, given, up)):
                weighted = (outside * part[:, rows, None]).transpose(0, 2, 1)
                pairs = (weighted @ up.inside[column]) * given[column]
                span = slice(*group.layout.first_cell[column : column + 2])
                cells[span] += pairs.reshape(group.n_clusters, -1).T
        stored = _ids_of_cells(group, cells)
        log_likelihood = float(total @ weights) if not counts else 0.0
        counts.append(ExpectedCounts(part.sum(axis=1), stored, log_likelihood, weights.sum()))
    return counts


def _ids_of_cells(group: TreeClusters, cells: Floats) -> Floats:
    """Return counts of ids: of values, again for columns of many children, and of pairs."""
    layout, schema = group.layout, group.layout.schema
    stored = np.empty((layout.n_ids, group.n_clusters))
    for column in range(len(schema)):
        singles = layout.table(cells, column).sum(axis=0)[schema.codes_of(column)]
        ids = schema.values_of(column)
        stored[ids.start : ids.stop] = singles
        n = int(layout.extras[column])
        first = int(layout.first_extra[column])
        stored[first : first + n * len(singles)] = np.tile(singles, (n, 1))
    stored[layout.n_ids - len(layout.pair_cells) :] = cells[layout.pair_cells]
    return stored


def most_probable(group: TreeClusters, codes: Codes) -> Codes:
    """Return the most probable record of each cluster that agrees with one record."""
    layout, given = group.layout, tables(group)
    up = pass_up(group, given, codes, greatest=True)
    every = np.arange(group.n_clusters)
    best = np.empty((group.n_clusters, len(layout.parents)), np.int32)
    for column in layout.order.tolist():
        parent = int(layout.parents[column])
        rows = np.zeros(group.n_clusters, np.int64) if parent < 0 else best[:, parent]
        likely = given[column][every, rows] * up.inside[column][:, 0]
        best[:, column] = likely.argmax(axis=1)
    return layout.blocks.decode(best, codes)


def draw(
    group: TreeClusters, clusters: NDArray[np.int64], codes: Codes, rng: np.random.Generator
) -> Codes:
    """Draw a record of each of these clusters, which agrees with what one record says."""
    layout, given = group.layout, tables(group)
    up = pass_up(group, given, codes)
    drawn = np.empty((len(clusters), len(layout.parents)), np.int32)
    for column in layout.order.tolist():
        parent = int(layout.parents[column])
        rows = np.zeros(len(clusters), np.int64) if parent < 0 else drawn[:, parent]
        likely = given[column][clusters, rows] * up.inside[column][clusters, 0]
        steps = np.cumsum(likely, axis=1)
        cut = rng.random(len(clusters)) * steps[:, -1]
        drawn[:, column] = np.minimum((steps <= cut[:, None]).sum(axis=1), likely.shape[1] - 1)
    return layout.blocks.decode(drawn, codes, rng)
