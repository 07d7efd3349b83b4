"""The size and sparsity of a table, in a few numbers."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from tacit.machine import human_bytes
from tacit.plot.html import Result, pairs_html

if TYPE_CHECKING:
    from tacit.table.records import Records

__all__ = ["Summary"]


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

    @classmethod
    def of(cls, table: Records) -> Summary:
        """Summarise a table."""
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
        return numbers

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
        rows = self.rows()
        width = max(len(name) for name, _ in rows)
        return "\n".join(f"{name:<{width}}  {text}" for name, text in rows)

    def __repr__(self) -> str:
        return str(self)

    def _html(self) -> str:
        return pairs_html(self.rows(), title="Table")


def _number(x: float) -> str:
    return f"{x:,.0f}" if x >= 100 else f"{x:.3g}"
