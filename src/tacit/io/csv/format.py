"""How the records of CSV text are read, wherever in a file they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from tacit.io.csv.lines import Dialect, drop_blank_lines
from tacit.io.opening import POLARS_ERRORS

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["CsvFormat"]


@dataclass(frozen=True)
class CsvFormat(Dialect):
    """How the records of CSV text are to be read, wherever in a file they are.

    Attributes
    ----------
    strip : bool
        Whether white space around values is to be dropped.
    nulls : tuple of str
        Texts that mean missing, besides the empty one.
    names : tuple of str
        Of all columns.
    """

    strip: bool = False
    nulls: tuple[str, ...] = ()
    names: tuple[str, ...] = ()

    def scan(self, source: Any, **options: Any) -> pl.LazyFrame:
        """Let Polars scan a file, or text."""
        return pl.scan_csv(
            source,
            separator=self.separator,
            quote_char=self.quote,
            eol_char=self.eol,
            null_values=None if self.strip else list(self.nulls),
            glob=False,
            **options,
        )

    def bare(self, texts: pl.LazyFrame) -> pl.LazyFrame:
        """Drop white space around values; what is nothing then is missing."""
        bare = texts.select(pl.all().str.strip_chars(" \t"))
        null = pl.all().is_in(["", *self.nulls])
        return bare.select(pl.when(~null).then(pl.all()))

    def typed(self, bare: pl.LazyFrame, types: Mapping[str, Any]) -> pl.LazyFrame:
        """Turn text that is :meth:`bare` into values."""
        return bare.select(
            pl.col(name).str.to_lowercase() == "true"
            if dtype == pl.Boolean
            else pl.col(name).cast(dtype)
            for name, dtype in types.items()
        )

    def parse(self, data: bytes, types: Mapping[str, Any]) -> pl.DataFrame:
        """Read the records of a text without a header as some of the columns.

        Parameters
        ----------
        data : bytes
            Begins and ends where records do.
        types : mapping of str to Polars types
            Of the columns to read.

        Raises
        ------
        RaggedError
            If a line has too few or too many fields.
        """
        last = self.names[-1]  # where it is missing, the line may be short or blank
        wanted = dict(types) if last in types else {**types, last: pl.String}
        frame: pl.DataFrame | None = None
        problem: BaseException | None = None
        try:
            frame = self._parse(data, wanted)
        except POLARS_ERRORS as error:
            problem = error
        if len(self.names) > 1 and (frame is None or frame.get_column(last).null_count()):
            kept = drop_blank_lines(data, self, len(self.names))
            if kept is not data:
                return self._parse(kept, wanted).select(list(types))
        if frame is None:
            assert problem is not None
            raise problem
        return frame.select(list(types))

    def _parse(self, data: bytes, types: Mapping[str, Any]) -> pl.DataFrame:
        if not data:
            return pl.DataFrame(schema=dict(types))
        every: dict[str, Any] = dict.fromkeys(self.names, pl.String)
        if not self.strip:
            every.update(types)
        lazy = self.scan(data, has_header=False, schema=every).select(list(types))
        return (self.typed(self.bare(lazy), types) if self.strip else lazy).collect()
