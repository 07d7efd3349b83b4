"""The size and sparsity of a table, in a few numbers."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from tacit.counts.formatting import show_label
from tacit.machine import human_bytes
from tacit.plot.html import Result, frame_html, pairs_html
from tacit.table.kinds import kind_reason

if TYPE_CHECKING:
    import polars as pl

    from tacit.schema import Kind
    from tacit.table.records import Records

__all__ = ["ColumnSummary", "Summary"]


class ColumnSummary(NamedTuple):
    """What a column is, and why it was taken for that.

    Attributes
    ----------
    name : str
    kind : {"numeric", "ordered", "categorical", "boolean", "identifier"}
    labels : int
        How many there are, a missing value not among them.
    default : str
    default_fraction, missing_fraction : float
        Of the records, or of their weights.
    reason : str
        Why it is of this kind, and where its numbers are cut.
    """

    name: str
    kind: Kind
    labels: int
    default: str
    default_fraction: float
    missing_fraction: float
    reason: str


@dataclass(frozen=True)
class Summary(Result):
    """Size, sparsity and memory of a table.

    Attributes
    ----------
    records, columns, stored : int
        The papers' m, n and l.
    factor : float
        m·n/l: how many times fewer values are stored than the dense view holds.
    values : int
        Different (column, non-default label) pairs.
    largest_arity : int
    missing_columns : int
        Columns with missing values as a label.
    weighted : bool
    n_bytes : int
        Memory of the table.
    dense_bytes : int
        Memory of its dense view, at one byte a cell (more where arities ask for it).
    """

    records: int
    columns: int
    stored: int
    factor: float
    values: int
    largest_arity: int
    missing_columns: int
    weighted: bool
    n_bytes: int
    dense_bytes: int
    details: tuple[ColumnSummary, ...] = ()

    @classmethod
    def of(cls, table: Records, *, columns: bool = False) -> Summary:
        """Summarise a table, and its columns if that is asked for."""
        m, n = table.shape
        arity = int(table.schema.arities.max())
        width = 1 if arity <= 2**8 else 2 if arity <= 2**16 else 4
        return cls(
            records=m,
            columns=n,
            stored=table.n_stored,
            factor=m * n / table.n_stored if table.n_stored else float("inf"),
            values=table.schema.n_values,
            largest_arity=arity,
            missing_columns=sum(ls.missing is not None for ls in table.schema.labels),
            weighted=table.weighted,
            n_bytes=table.nbytes,
            dense_bytes=m * n * width,
            details=_details(table) if columns else (),
        )

    def line(self) -> str:
        """Return the summary in one line."""
        weighted = ", weighted" if self.weighted else ""
        return (
            f"Table of {self.records:,} records × {self.columns:,} columns, "
            f"{self.stored:,} stored values (m·n/l = {_number(self.factor)}){weighted}"
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the numbers by name, ready for JSON."""
        numbers = asdict(self)
        if self.stored == 0:
            numbers["factor"] = None
        details = numbers.pop("details")
        return numbers | ({"details": [each._asdict() for each in details]} if details else {})

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each column, if columns were asked for, as a Polars frame."""
        import polars as pl

        return pl.DataFrame(self.details, schema=list(ColumnSummary._fields), orient="row")

    def rows(self) -> list[tuple[str, str]]:
        """Return what there is to say, as (name, text) pairs."""
        fraction = self.stored / (self.records * self.columns)
        rows = [
            ("records (m)", f"{self.records:,}"),
            ("columns (n)", f"{self.columns:,}"),
            ("stored values (l)", f"{self.stored:,}  ({fraction:.2%} of the table)"),
            ("m·n/l", _number(self.factor)),
            ("labels", f"{self.values + self.columns:,}, at most {self.largest_arity:,} a column"),
            ("memory", f"{human_bytes(self.n_bytes)}  (dense: {human_bytes(self.dense_bytes)})"),
        ]
        if self.missing_columns:
            rows.append(
                (
                    "missing values",
                    f"a label of {self.missing_columns:,} column{'s' * (self.missing_columns > 1)}",
                )
            )
        if self.weighted:
            rows.append(("weights", "yes"))
        return rows

    def __str__(self) -> str:
        blocks: list[list[tuple[str, ...]]] = [[*self.rows()], self._column_rows()]
        return "\n\n".join(_aligned(rows) for rows in blocks if rows)

    def _column_rows(self) -> list[tuple[str, ...]]:
        """Return a head and a row for each column, if columns were asked for."""
        if not self.details:
            return []
        rows: list[tuple[str, ...]] = [("column", "kind", "labels", "default", "missing", "why")]
        for each in self.details:
            default = f"{each.default} ({each.default_fraction:.0%})"
            missing = f"{each.missing_fraction:.1%}" if each.missing_fraction else "–"
            rows.append((each.name, each.kind, f"{each.labels:,}", default, missing, each.reason))
        return rows

    def __repr__(self) -> str:
        return str(self)

    def _html(self) -> str:
        facts = pairs_html(self.rows(), title="Table")
        return facts + (frame_html(self.to_frame()) if self.details else "")


def _details(table: Any) -> tuple[ColumnSummary, ...]:
    singles, details = table.one_way(), []
    total = float(singles.array(0).sum()) or 1.0
    for c, column in enumerate(table.schema):
        counts, missing = singles.array(c), column.labels.missing
        details.append(
            ColumnSummary(
                column.name,
                column.kind,
                column.arity - (missing is not None),
                show_label(column.default_label),
                float(counts[column.default]) / total,
                0.0 if missing is None else float(counts[missing]) / total,
                kind_reason(column.labels, table.n_records),
            )
        )
    return tuple(details)


def _aligned(rows: list[tuple[str, ...]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    padded = ("  ".join(f"{x:<{w}}" for x, w in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in padded)


def _number(x: float) -> str:
    return f"{x:,.0f}" if x >= 100 else f"{x:.3g}"
