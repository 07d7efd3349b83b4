"""Where to cut columns of numbers, as far as one pass can tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.errors import InputError
from tacit.io.frames.raw import naming_location, raw_partition
from tacit.statistic import Statistic
from tacit.table.cuts import column_cuts, numbers_to_cut, say_cuts
from tacit.table.discretise import Edges, EqualWidth

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from tacit.statistic import Partition

__all__ = ["Extremes", "check_specs", "find_edges"]


@dataclass(frozen=True)
class Extremes(Statistic["NDArray[np.float64]"]):
    """The least and the largest number of some columns, and one in between.

    A statistic of raw frames, with a row for each of the three.
    """

    columns: tuple[str, ...]

    def partial(self, partition: Partition) -> NDArray[np.float64]:
        """Find those of a partition; NaN where a column has no such number."""
        extremes = np.full((3, len(self.columns)), np.nan)
        for raw in raw_partition(partition.records).frames:
            with naming_location(raw.path, raw.location):
                for c, name in enumerate(self.columns):
                    numbers = numbers_to_cut(raw.frame.get_column(name), raw.first)
                    extremes[:, c] = _extremes(np.concatenate((extremes[:, c], numbers)))
        return extremes

    def merge(self, one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
        """Take the lesser and the larger, and of the rest any."""
        both = np.concatenate((one, other))
        return np.stack([_extremes(column) for column in both.T], axis=1)


def _extremes(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the least and the largest of some numbers and one in between, or NaN."""
    low, high = np.fmin.reduce(numbers), np.fmax.reduce(numbers)
    between = (numbers > low) & (numbers < high)
    return np.array([low, high, numbers[np.argmax(between)] if between.any() else np.nan])


def find_edges(
    specs: Mapping[str, Any],
    reduce: Callable[[Extremes], NDArray[np.float64] | None],
    *,
    named: bool,
) -> dict[str, Edges]:
    """Return the edges of each column that is to be cut; bins of equal width take a pass.

    Columns that nobody `named` stay as they are where they have two numbers at most, as in a Table.
    """
    edges = {name: spec for name, spec in specs.items() if isinstance(spec, Edges)}
    rest = tuple(name for name in specs if name not in edges)
    extremes = reduce(Extremes(rest)) if rest else None
    if extremes is not None:
        for c, name in enumerate(rest):
            cuts = column_cuts(extremes[:, c], specs[name], name, None, named=named)
            if cuts is not None:
                edges[name] = cuts
    say_cuts({name: len(edges[name].edges) + 1 for name in rest if name in edges})
    return edges


def check_specs(specs: Mapping[str, Any]) -> None:
    """Refuse cuts that would take all numbers of a column at once."""
    for name, spec in specs.items():
        if not isinstance(spec, Edges | EqualWidth):
            raise InputError(
                f"discretise: {type(spec).__name__} cuts of column {name!r} take all of its "
                "numbers at once; give edges, 'width' or EqualWidth(…) for files in partitions, or "
                "cut the table that they make: scan(…).cut(…)"
            )
