"""Mixtures of dependency trees, slow and dense: every record there can be, cluster by cluster.

Written from the definition, a product of P(label | label of the parent, cluster) over columns.
"""

from itertools import product

import numpy as np


def held_labels(blocks, record):
    """Return the label of each block that a record has."""
    held = []
    for b, columns in enumerate(blocks.members):
        arities = [int(blocks.outer.arities[c]) for c in columns]
        combination = np.ravel_multi_index([record[c] for c in columns], arities)
        held.append(int(blocks.labels(b)[combination]))
    return held


def joint_of_groups(groups):
    """Return P(cluster, record) of every combination of codes: clusters × labels of each column."""
    arities = groups[0].layout.blocks.outer.arities.tolist()
    joints = []
    for group in groups:
        blocks = group.layout.blocks
        n_blocks = len(blocks.members)
        tables = [group.layout.table(group.cells, c) for c in range(n_blocks)]
        parents = group.layout.parents.tolist()
        for k, weight in enumerate(group.weights.tolist()):
            joint = np.zeros(arities)
            for record in product(*map(range, arities)):
                chance, held = weight, held_labels(blocks, record)
                for b in range(n_blocks):  # combinations of one label are equally probable
                    chance /= (blocks.labels(b) == held[b]).sum()
                for b, parent in enumerate(parents):
                    chance *= tables[b][0 if parent < 0 else held[parent], held[b], k]
                joint[record] = chance
            joints.append(joint)
    return np.array(joints)


def observed_sum(joint, record):
    """Return the sum over the columns that a record does not know (-1), of each cluster."""
    known = tuple(slice(None) if k < 0 else slice(k, k + 1) for k in record)
    part = joint[(slice(None), *known)]
    return part.reshape(len(part), -1).sum(axis=1)


def expected_cells(groups, codes, weights, power=1):
    """Return the expected counts of all cells of each tree's tables, and the log-likelihood.

    Each completion of a record counts by its probability given what is known and the cluster, and
    a cluster by its probability times that of what is known, to a power.
    """
    joint = joint_of_groups(groups)
    arities = groups[0].layout.blocks.outer.arities.tolist()
    cells = [np.zeros(group.cells.shape) for group in groups]
    log_likelihood = 0.0
    for record, weight in zip(codes.tolist(), weights.tolist(), strict=True):
        known = observed_sum(joint, record)
        total = (known**power).sum()
        log_likelihood += weight * np.log(total)
        held_by = known**power / total / known * weight
        spans = [range(r) if k < 0 else [k] for k, r in zip(record, arities, strict=True)]
        for complete in product(*spans):
            parts = joint[(slice(None), *complete)] * held_by
            first = 0
            for group, found in zip(groups, cells, strict=True):
                part = parts[first : first + group.n_clusters]
                first += group.n_clusters
                held = held_labels(group.layout.blocks, complete)
                for b, parent in enumerate(group.layout.parents.tolist()):
                    row = 0 if parent < 0 else held[parent]
                    width = int(group.layout.schema.arities[b])
                    found[group.layout.first_cell[b] + row * width + held[b]] += part
    return cells, log_likelihood


def tree_ids(values, offsets, parents, extras, first_extra, first_pair):
    """Return the ids of one record: its values, further ids, and joined pairs, each ascending."""
    columns = [int(np.searchsorted(offsets, v, side="right")) - 1 for v in values]
    held = {c: v - offsets[c] for c, v in zip(columns, values, strict=True)}
    width = np.diff(offsets)
    more = [first_extra[c] + j * width[c] + held[c] for c in columns for j in range(int(extras[c]))]
    pairs = [
        first_pair[c] + held[parents[c]] * width[c] + held[c] for c in columns if parents[c] in held
    ]
    return [*values, *more, *pairs]
