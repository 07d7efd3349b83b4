"""What a Table and a PartitionedTable share: their sizes, and a report of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from tacit.errors import InputError
from tacit.table.summary import Summary

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from tacit.counts import ContingencyTable
    from tacit.schema import Schema

__all__ = ["Records"]


class Records:
    """Discrete records under one schema, in one place or in partitions."""

    if TYPE_CHECKING:  # what those that derive from it say of themselves

        @property
        def schema(self) -> Schema: ...  # noqa: D102
        @property
        def n_records(self) -> int: ...  # noqa: D102
        @property
        def n_stored(self) -> int: ...  # noqa: D102
        @property
        def weighted(self) -> bool: ...  # noqa: D102
        @property
        def nbytes(self) -> int: ...  # noqa: D102
        def count(self, query: Mapping[str, Any]) -> int | float: ...  # noqa: D102
        def contingency(  # noqa: D102
            self, columns: Sequence[str | int], *, given: Mapping[str, Any] | None = None
        ) -> ContingencyTable: ...

    @property
    def n_columns(self) -> int:
        """Number of columns (the papers' n)."""
        return len(self.schema)

    @property
    def shape(self) -> tuple[int, int]:
        """Records × columns."""
        return self.n_records, self.n_columns

    def __len__(self) -> int:
        return self.n_records

    def summary(self, *, columns: bool = False) -> Summary:
        """Report size, sparsity and memory: m, n, l and the factor m·n/l.

        Parameters
        ----------
        columns : bool, default False
            Report all columns as well: what kind each is of and why, its default and cuts.

        Examples
        --------
        >>> import tacit
        >>> table = tacit.Table({"age": [31, 58, 44], "town": ["Ulm", "Bern", "Ulm"]})
        >>> table.summary(columns=True).details[0].reason
        'whole numbers; 3 are few enough to be labels'
        """
        return Summary.of(self, columns=columns)

    def cube(
        self, columns: Sequence[str | int], given: Mapping[str, Any] | None = None
    ) -> pl.DataFrame:
        """Count every combination of labels, with roll-ups, as :meth:`tacit.counts.Counter.cube`.

        Parameters
        ----------
        columns : sequence of str or int
        given : mapping, optional
            Count only the records that match, as for :meth:`count`.
        """
        from tacit.counts.cube import rolled_up

        whole, total = self.contingency(columns, given=given), self.count(given or {})
        if not self.weighted:
            return rolled_up(whole, total)
        return rolled_up(whole, total, lambda chosen: self.contingency(chosen, given=given))

    def cut(self, discretise: Any = "auto", *, target: str | int | None = None) -> Self:
        """Return the same records with numbers cut into bins, which the schema remembers.

        Cut points are found from counts of the distinct numbers, whatever holds the records.

        Parameters
        ----------
        discretise : spec or mapping, default "auto"
            One spec for all numeric columns, or ``{column: spec}``; see :class:`tacit.Table`.
        target : str or int, optional
            The column that "mdl" cuts are to tell apart; it is not cut itself.

        Examples
        --------
        >>> import tacit
        >>> people = tacit.Table({"age": [19, 24, 35, 44, 61, 70], "pays": [0, 0, 0, 1, 1, 1]})
        >>> people.cut({"age": [30, 60]}).one_way()["age"]
        {'< 30': 2, '30 – 60': 2, '>= 60': 2}
        >>> people.cut("mdl", target="pays").schema["age"].edges
        (39.5,)
        """
        from tacit.table.cuts import cut_table

        return cut_table(self, discretise, target)

    def _positions(self, columns: Sequence[str | int]) -> list[int]:
        """Return the positions of columns given by name or position."""
        if isinstance(columns, str):
            raise InputError(f"columns must be a list of column names, got {columns!r}")
        return [self.schema.position(column, "columns") for column in columns]
