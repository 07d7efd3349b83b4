"""Records and what is to be predicted of them, as commands read them: frames, Tables, labels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import tacit
from tacit.cli.output import working
from tacit.errors import InputError, did_you_mean

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from tacit.cli.reading import Source

__all__ = ["Labelled"]


@dataclass(frozen=True)
class Labelled:
    """Columns, a target of one column or several, and weights."""

    X: Any
    y: Any
    weights: Any
    rows: Any  # the ids of records, or their numbers in the file

    @classmethod
    def of(cls, source: Source, targets: list[str], labels: Path | None = None) -> Labelled:
        """Read a file: columns with numbers as they are, a Table, or a multi-label ARFF file."""
        if labels is not None:
            return cls._made(*_read_labels(source, labels), None)
        numbers = source.read_arff() or source.read_numbers()
        if numbers is None:
            return cls._of_table(source, _read_table(source, targets), targets)
        if isinstance(numbers, tacit.Table):
            return cls._of_table(source, numbers, targets)
        frame = numbers.frame
        for name in targets:
            if name not in frame.columns:
                hint = did_you_mean(name, frame.columns)
                raise InputError(f"--target: {source.path} has no column {name!r}{hint}")
        y = frame.get_column(targets[0]) if len(targets) == 1 else frame.select(targets)
        rest = frame.drop(targets)
        if not rest.columns:
            raise InputError(f"--target: {source.path} has no other column")
        return cls._made(rest, y, numbers.weights)

    @classmethod
    def _of_table(cls, source: Source, table: tacit.Table, targets: list[str]) -> Labelled:
        columns = [table.schema.position(name, "--target") for name in targets]
        rest = [k for k in range(table.n_columns) if k not in columns]
        if not rest:
            raise InputError(f"--target: {source.path} has no other column")
        index, table = table.index, table.with_index(None)
        y = table.select(columns).to_frame("polars").drop("weight", strict=False)
        weights = table.weights
        X = table.select(rest) if weights is None else table.select(rest).with_weights(None)
        told = y.get_column(targets[0]) if len(targets) == 1 else y
        return cls._made(X, told, weights, None if index is None else index.to_numpy())

    @classmethod
    def _made(cls, X: Any, y: Any, weights: Any, rows: Any = None) -> Labelled:
        import numpy as np

        return cls(X, y, weights, np.arange(X.shape[0]) if rows is None else rows)

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
        X = self.X.take(records) if isinstance(self.X, tacit.Table) else self.X[records]
        weights = None if self.weights is None else self.weights[records]
        return Labelled(X, self.y[records], weights, self.rows[records])

    def split(self, fraction: float, random_state: int) -> tuple[Labelled, Labelled]:
        """Return the records but for a fraction drawn at random, and that fraction."""
        import numpy as np

        order = np.random.default_rng(random_state).permutation(self.n_records)
        n_test = round(fraction * self.n_records)
        if n_test == 0 or n_test == self.n_records:
            raise InputError(
                f"--test-fraction: {fraction:g} of {self.n_records:,} records leaves none on one "
                "side"
            )
        return self.take(np.sort(order[n_test:])), self.take(np.sort(order[:n_test]))

    def with_columns_of(self, other: Labelled, path: Path) -> Labelled:
        """Return the records with the columns of others; Tables are matched by their labels."""
        if not hasattr(self.X, "columns") or isinstance(self.X, tacit.Table):
            return self
        missing = [name for name in other.X.columns if name not in self.X.columns]
        if missing:
            hint = did_you_mean(missing[0], self.X.columns)
            raise InputError(f"--test: {path} has no column {missing[0]!r}{hint}")
        return replace(self, X=self.X.select(other.X.columns))


def _read_labels(source: Source, labels: Path) -> tuple[Any, Any]:
    """Read an ARFF file with several labels for each record, and their names."""
    with working(f"reading {source.path}"):
        data = tacit.read_multilabel(source.path, labels)
    return data.X, data.Y


def _read_table(source: Source, targets: list[str]) -> tacit.Table:
    options = {name: x for name, x in source.options.items() if name != "target"}
    if len(targets) == 1 and "discretise" in options:
        options["target"] = targets[0]
    return replace(source, options=options).read()
