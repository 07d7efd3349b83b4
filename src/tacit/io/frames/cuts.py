"""Where to cut columns of numbers, as far as one pass can tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.errors import InputError
from tacit.io.frames.raw import naming_location, raw_partition
from tacit.statistic import Statistic
from tacit.table.cuts import numbers_to_cut
from tacit.table.discretise import Edges, EqualWidth, cut_points

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from tacit.statistic import Partition

__all__ = ["Extremes", "check_specs", "find_edges"]


@dataclass(frozen=True)
class Extremes(Statistic["NDArray[np.float64]"]):
    """The least and the largest number of some columns: a statistic of raw frames."""

    columns: tuple[str, ...]

    def partial(self, partition: Partition) -> NDArray[np.float64]:
        """Find those of a partition; NaN for a column without a number."""
        extremes = np.full((2, len(self.columns)), np.nan)
        for raw in raw_partition(partition.records).frames:
            with naming_location(raw.path, raw.location):
                for c, name in enumerate(self.columns):
                    numbers = numbers_to_cut(raw.frame.get_column(name), raw.first)
                    extremes[0, c] = np.fmin(extremes[0, c], np.fmin.reduce(numbers))
                    extremes[1, c] = np.fmax(extremes[1, c], np.fmax.reduce(numbers))
        return extremes

    def merge(self, one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
        """Take the lesser and the larger."""
        return np.stack([np.fmin(one[0], other[0]), np.fmax(one[1], other[1])])


def find_edges(
    specs: Mapping[str, Any], reduce: Callable[[Extremes], NDArray[np.float64] | None]
) -> dict[str, Edges]:
    """Return the edges of each column that is to be cut; bins of equal width take a pass."""
    edges = {name: spec for name, spec in specs.items() if isinstance(spec, Edges)}
    rest = tuple(name for name in specs if name not in edges)
    extremes = reduce(Extremes(rest)) if rest else None
    if extremes is not None:
        for c, name in enumerate(rest):
            cuts = cut_points(extremes[:, c], specs[name], column=name)
            edges[name] = Edges(tuple(cuts.tolist()))
    return edges


def check_specs(specs: Mapping[str, Any]) -> None:
    """Refuse cuts that would take all numbers of a column at once."""
    for name, spec in specs.items():
        if not isinstance(spec, Edges | EqualWidth):
            raise InputError(
                f"discretise: {type(spec).__name__} cuts of column {name!r} take all of its "
                "numbers at once; give edges, or 'width' or EqualWidth(…), for files in partitions"
            )
