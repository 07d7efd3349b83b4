"""Types of columns of text: one for all files and ranges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from tacit.scale.raw import naming_place, raw_part
from tacit.statistic import Statistic
from tacit.table.files.csv_file import fit_counts

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from tacit.scale.files.csv_ranges import TextFile
    from tacit.statistic import Partition

__all__ = ["FitCounts", "common_types"]


@dataclass(frozen=True)
class FitCounts(Statistic["dict[str, NDArray[np.int64]]"]):
    """How many values of columns of text are flags, or numbers: a statistic of raw frames."""

    columns: tuple[str, ...]

    def partial(self, part: Partition) -> dict[str, NDArray[np.int64]]:
        """Count the values of a part."""
        found: dict[str, NDArray[np.int64]] = {}
        for own in raw_part(part.records).frames:
            with naming_place(own.path, own.place):
                other = fit_counts(own.frame.lazy(), self.columns)
            found = self.merge(found, other) if found else other
        return found

    def merge(
        self, one: dict[str, NDArray[np.int64]], other: dict[str, NDArray[np.int64]]
    ) -> dict[str, NDArray[np.int64]]:
        """Add up."""
        return {name: one[name] + other[name] for name in one}


def common_types(files: Sequence[TextFile], names: Sequence[str]) -> dict[str, Any]:
    """Return the narrowest types that suit what all files begin with."""
    types: dict[str, Any] = {}
    for name in names:
        found = {file.schema[name] for file in files if name not in file.silent}
        if len(found) == 1:
            types[name] = found.pop()
        else:
            types[name] = pl.Float64 if found == {pl.Int64, pl.Float64} else pl.String
    return types
