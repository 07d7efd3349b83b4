"""Which pairs of columns are joined often enough, and the net without a cycle that has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["directions", "find_threshold", "join_arcs"]


def find_threshold(strengths: NDArray[np.float64]) -> float:
    """Return the least strength that is significant, by the rule of Scutari and Nagarajan.

    Were all pairs joined always or never, the distribution of the strengths would be a step at 0
    and one at 1. Of all such distributions, the nearest one in the L1 norm says how many pairs are
    never joined; the others are significant. Its step is the median of the values that the
    distribution function has between 0 and 1. `strengths` are those of all pairs; where none is
    significant, the threshold is 1.

    References
    ----------
    Scutari and Nagarajan, "Identifying significant edges in graphical models of molecular
    networks", Artificial Intelligence in Medicine 57 (2013).

    Examples
    --------
    >>> find_threshold(np.array([0.0460, 0.2242, 0.3921, 0.7689, 0.8935, 0.9439]))
    0.7689
    """
    ascending = np.sort(strengths)
    ends = np.concatenate(([0.0], ascending, [1.0]))
    widths = np.diff(ends)  # over the k-th of them, the distribution function is k / n
    never = int(np.searchsorted(np.cumsum(widths), 0.5 * widths.sum()))
    # Equal strengths are either all significant or none of them.
    least = ascending[never - 1] if never else 0.0
    above = ascending[ascending > least]
    return float(above[0]) if len(above) else 1.0


def directions(
    arcs: NDArray[np.int64], compelled: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return how sure the direction of each arc is, from × to: 0 where no net joins the columns.

    That is a fraction of the nets that join them: as they are, and as essential graphs, whose edges
    without a direction count half.
    """
    joined = np.maximum(arcs + arcs.T, 1)
    reversible = arcs + arcs.T - compelled - compelled.T
    return arcs / joined, (compelled + 0.5 * reversible) / joined


def join_arcs(
    arcs: NDArray[np.int64],
    compelled: NDArray[np.int64],
    names: Sequence[str],
    least: float,
) -> list[tuple[int, int]]:
    """Return arcs without a cycle between all pairs that at least so many nets join.

    Each points where most essential graphs do; of two directions alike, where most nets do. Pairs
    come in the order of how often they are joined, then of how sure their direction is. Where an
    arc would close a cycle it is turned round; but where no net has it so, it is left out.
    """
    own, essential = directions(arcs, compelled)
    joined = arcs + arcs.T
    pairs = []
    for a, b in np.argwhere(np.triu(joined, 1) >= max(least, 1)).tolist():
        first, second = sorted((a, b), key=names.__getitem__)
        keys = [(essential[p], own[p]) for p in ((first, second), (second, first))]
        parent, child = (second, first) if keys[1] > keys[0] else (first, second)
        pairs.append((-int(joined[a, b]), -float(own[parent, child]), names[parent], names[child],
                      parent, child))  # fmt: skip
    below: list[set[int]] = [{c} for c in range(len(names))]  # each column and its descendants
    found = []
    for *_, parent, child in sorted(pairs):
        if parent in below[child]:
            parent, child = child, parent
            if not arcs[parent, child]:
                continue
        found.append((parent, child))
        for reached in below:
            if parent in reached:
                reached |= below[child]
    return found
