"""What a mixture of trees says of columns: exact answers from the messages of all clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.density.messages import beliefs, draw, log_joint, most_probable, pass_up, tables
from tacit.density.observed import Observed
from tacit.errors import InputError
from tacit.machine import check_fits
from tacit.network.inference.evidence import check_columns, check_evidence, make_distribution
from tacit.network.inference.records import make_table, row_blocks

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from tacit.density.clusters import TreeClusters
    from tacit.network.inference.distribution import Distribution
    from tacit.schema import Schema
    from tacit.table import Table

    Floats = NDArray[np.float64]

__all__ = ["column_probabilities", "draw_records", "joint_of", "likely_record", "marginals_of"]

_CELLS = 2**20  # of probabilities that are held at a time


def _record(schema: Schema, evidence: Mapping[int, int]) -> NDArray[np.int32]:
    """Return one record of codes, -1 where nothing is given."""
    codes = np.full((1, len(schema)), -1, np.int32)
    for column, code in evidence.items():
        codes[0, column] = code
    return codes


def joint_of(groups: list[TreeClusters], columns: Any, given: Any) -> Distribution:
    """Return the joint distribution of some columns: each of their combinations as evidence."""
    schema = groups[0].layout.blocks.outer
    positions = check_columns(schema, columns, "columns")
    if not positions:
        raise InputError("columns: name at least one column")
    evidence = check_evidence(schema, given)
    known = [c for c in positions if c in evidence]
    if known:
        raise InputError(f"columns: column {schema.names[known[0]]!r} is given")
    shape = tuple(schema.arities[positions].tolist())
    n_clusters = sum(group.n_clusters for group in groups)
    cells = float(np.prod([float(r) for r in shape]))
    n_bytes = int(cells * (8 * n_clusters + 4 * len(schema)))
    check_fits(n_bytes, "the distribution", "ask for fewer columns")
    codes = np.repeat(_record(schema, evidence), int(cells), axis=0)
    codes[:, positions] = np.indices(shape).reshape(len(positions), -1).T
    logs = np.logaddexp.reduce(log_joint(groups, codes), axis=0)
    log_evidence = float(np.logaddexp.reduce(logs))
    return make_distribution(schema, positions, np.exp(logs - log_evidence), log_evidence, evidence)


def marginals_of(groups: list[TreeClusters], given: Any) -> dict[str, Distribution]:
    """Return the distribution of each column that is not given."""
    schema = groups[0].layout.blocks.outer
    evidence = check_evidence(schema, given)
    codes = _record(schema, evidence)
    passed = [(group, tables(group)) for group in groups]
    ups = [pass_up(group, found, codes) for group, found in passed]
    logs = [up.logs[:, 0] + np.log(group.weights) for up, group in zip(ups, groups, strict=True)]
    log_evidence = float(np.logaddexp.reduce(np.concatenate(logs)))
    marginals = [np.zeros(int(r)) for r in schema.arities]
    for (group, found), up, log in zip(passed, ups, logs, strict=True):
        parts = np.exp(log - log_evidence)
        blocks = group.layout.blocks
        chances = [parts @ belief[:, 0] for belief, _ in beliefs(group, found, up)]
        for column in range(len(schema)):
            marginals[column] += blocks.fold(column, chances[int(blocks.block_of[column])])
    return {
        name: make_distribution(schema, [c], marginals[c], log_evidence, evidence)
        for c, name in enumerate(schema.names)
        if c not in evidence
    }


def column_probabilities(
    groups: list[TreeClusters], records: Observed, column: int, n_jobs: int
) -> Floats:
    """Return P(label | rest of the record) of a column.

    With P(cluster | record) of complete records, only what is next to the column in the trees has
    to be looked at: how much each label changes the probability of its table and its children's.
    """
    complete = np.zeros((0, 0))
    if records.complete is not None:
        complete = _of_complete(groups, records.complete, column, n_jobs)
    if records.codes is None:
        return complete
    arity = int(groups[0].layout.blocks.outer.arities[column])
    logs = np.empty((len(records.codes), arity))
    for code in range(arity):
        codes = records.codes.copy()
        codes[:, column] = code
        logs[:, code] = np.logaddexp.reduce(log_joint(groups, codes), axis=0)
    others = np.exp(logs - np.logaddexp.reduce(logs, axis=1)[:, None])
    return records.joined(complete.reshape(-1, arity), others)


def _of_complete(groups: list[TreeClusters], table: Table, column: int, n_jobs: int) -> Floats:
    parts = Observed(table, None).posterior(groups, n_jobs)
    arity = int(groups[0].layout.blocks.outer.arities[column])
    likely = np.zeros((table.n_records, arity))
    first = 0
    for group in groups:
        part = parts[:, first : first + group.n_clusters]
        first += group.n_clusters
        layout, blocks = group.layout, group.layout.blocks
        block = int(blocks.block_of[column])
        inner, combinations = blocks.table(table)[0], blocks.labels(block)
        around = [block, int(layout.parents[block]), *layout.children[block]]
        codes = {c: inner.codes(c) for c in around if c >= 0}
        # Combinations that differ from the record's in this column alone, and their labels.
        members = blocks.members[block].tolist()
        held = sum(table.codes(c) * blocks.strides[c] for c in members)
        stride = int(blocks.strides[column])
        cells = (held - table.codes(column) * stride)[:, None] + stride * np.arange(arity)
        labels = combinations[cells]
        within = 1 / blocks.sizes(block)[labels]
        step = max(_CELLS // (int(layout.schema.arities[block]) * group.n_clusters), 1)
        for begin in range(0, table.n_records, step):
            rows = slice(begin, begin + step)
            near = _neighbourhood(group, {c: some[rows] for c, some in codes.items()}, block)
            every = np.arange(len(near))
            # What it is now, whatever the cluster, is taken out of P(cluster | record).
            now = near[every, codes[block][rows]]
            near = near[every[:, None], labels[rows]]
            likely[rows] += within[rows] * np.einsum("mk,mak->ma", part[rows] / now, near)
    likely /= likely.sum(axis=1, keepdims=True)
    return likely


def _neighbourhood(group: TreeClusters, codes: dict[int, NDArray[np.int64]], column: int) -> Floats:
    """Return P(label | parent) times P(children | label), records × labels × clusters."""
    layout = group.layout
    parent = int(layout.parents[column])
    rows = np.zeros(len(codes[column]), np.int64) if parent < 0 else codes[parent]
    near = layout.table(group.cells, column)[rows]
    for child in layout.children[column]:
        near = near * layout.table(group.cells, child)[:, codes[child]].transpose(1, 0, 2)
    return near


def likely_record(groups: list[TreeClusters], given: Any) -> tuple[dict[str, Any], float]:
    """Return a most probable record: the best of all clusters' best, improved by columns."""
    schema = groups[0].layout.blocks.outer
    evidence = check_evidence(schema, given)
    codes = _record(schema, evidence)
    found = np.unique(np.vstack([most_probable(group, codes) for group in groups]), axis=0)
    best, score = _best_of(groups, found)
    while True:
        free = [c for c in range(len(schema)) if c not in evidence]
        changed = [best]
        for c in free:
            for code in range(int(schema.arities[c])):
                if code != best[c]:
                    other = best.copy()
                    other[c] = code
                    changed.append(other)
        better, new_score = _best_of(groups, np.stack(changed))
        if new_score <= score + 1e-12:
            break
        best, score = better, new_score
    labels = (known[int(k)] for known, k in zip(schema.labels, best, strict=True))
    return dict(zip(schema.names, labels, strict=True)), score


def _best_of(
    groups: list[TreeClusters], codes: NDArray[np.int32]
) -> tuple[NDArray[np.int32], float]:
    records = make_table(groups[0].layout.blocks.outer, row_blocks(codes))
    scores = Observed(records, None).log_scores(groups, None, 1)
    best = int(scores.argmax())
    return codes[best], float(scores[best])


def draw_records(groups: list[TreeClusters], n: int, given: Any, rng: np.random.Generator) -> Table:
    """Draw records that agree with what is given."""
    schema = groups[0].layout.blocks.outer
    evidence = check_evidence(schema, given)
    codes = _record(schema, evidence)
    joint = log_joint(groups, codes)[:, 0]
    chance = np.exp(joint - np.logaddexp.reduce(joint))
    check_fits(12 * n * len(schema), "the records", "draw fewer")
    clusters = rng.choice(len(chance), n, p=chance / chance.sum())
    drawn = np.empty((n, len(schema)), np.int32)
    first = 0
    for group in groups:
        rows = np.flatnonzero((clusters >= first) & (clusters < first + group.n_clusters))
        drawn[rows] = draw(group, clusters[rows] - first, codes, rng)
        first += group.n_clusters
    return make_table(schema, row_blocks(drawn))
