"""Records and what is to be predicted of them, as commands read them: frames, Tables, labels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from tacit.cli.output import working
from tacit.errors import InputError
from tacit.io import read_arff, read_multilabel
from tacit.table import Table

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from tacit.cli.reading import Source

__all__ = ["Labelled"]


@dataclass(frozen=True)
class Labelled:
    """Columns, a target of one column or several, and weights.

    Attributes
    ----------
    X : frame, Table or sparse array
    y : series, frame or array
    weights : ndarray or None
    """

    X: Any
    y: Any
    weights: Any

    @classmethod
    def of(cls, source: Source, targets: list[str], labels: Path | None) -> Labelled:
        """Read a file: columns with numbers as they are, a Table, or a multi-label ARFF file."""
        if labels is not None:
            return cls._of_labels(source, labels)
        numbers = source.read_numbers(arff=True)
        if numbers is None:
            return cls._of_table(source, targets)
        frame = numbers.frame
        for name in targets:
            if name not in frame.columns:
                raise InputError(f"--target: {source.path} has no column {name!r}")
        y = frame.get_column(targets[0]) if len(targets) == 1 else frame.select(targets)
        rest = frame.drop(targets)
        if not rest.columns:
            raise InputError(f"--target: {source.path} has no other column")
        return cls(rest, y, numbers.weights)

    @classmethod
    def _of_labels(cls, source: Source, labels: Path) -> Labelled:
        with working(f"reading {source.path}"):
            data = read_multilabel(source.path, labels)
            y = pl.DataFrame(dict(zip(data.labels, data.Y.T, strict=True)))
            if isinstance(data.X, pl.DataFrame):
                return cls(data.X, y, None)
            # Rules are read by people, who want names: a Table has them, and is sparse as well.
            if np.array_equal(data.X.data, np.floor(data.X.data)):
                return cls(read_arff(source.path).select(data.columns), y, None)
            return cls(pl.DataFrame(data.X.toarray(), schema=data.columns), y, None)

    @classmethod
    def _of_table(cls, source: Source, targets: list[str]) -> Labelled:
        options = {name: x for name, x in source.options.items() if name != "target"}
        if len(targets) == 1 and "discretise" in options:
            options["target"] = targets[0]
        table = replace(source, options=options).read()
        places = [table.schema.position(name, "--target") for name in targets]
        rest = [k for k in range(table.n_columns) if k not in places]
        if not rest:
            raise InputError(f"--target: {source.path} has no other column")
        y = table.select(places).to_frame("polars").drop("weight", strict=False)
        weights = table.weights
        X = table.select(rest) if weights is None else table.select(rest).with_weights(None)
        return cls(X, y.get_column(targets[0]) if len(targets) == 1 else y, weights)

    @property
    def n_records(self) -> int:
        """Number of records."""
        return int(self.X.shape[0])

    @property
    def several(self) -> bool:
        """Whether the target has several columns."""
        return hasattr(self.y, "columns")

    def take(self, records: NDArray[np.int64]) -> Labelled:
        """Return some of the records."""
        X = self.X.take(records) if isinstance(self.X, Table) else self.X[records]
        return Labelled(X, self.y[records], None if self.weights is None else self.weights[records])

    def split(self, share: float, seed: int) -> tuple[Labelled, Labelled]:
        """Return the records but for a share drawn at random, and that share."""
        order = np.random.default_rng(seed).permutation(self.n_records)
        n_held = round(share * self.n_records)
        if n_held == 0 or n_held == self.n_records:
            raise InputError(
                f"--test-share: {share:g} of {self.n_records:,} records leaves none on one side"
            )
        return self.take(np.sort(order[n_held:])), self.take(np.sort(order[:n_held]))
