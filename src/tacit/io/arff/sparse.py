"""The data of a sparse ARFF file: ``{index value, …}`` lines, of which only values are kept."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import polars as pl

from tacit.errors import FileError
from tacit.io.arff.codes import Entries, code_entries
from tacit.io.arff.header import QUOTED, Attribute, unquote
from tacit.io.entries import store_entries
from tacit.schema import Schema
from tacit.table import Table
from tacit.table.build import choose_defaults
from tacit.table.recode import conform_table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.io.opening import PathLike
    from tacit.table.build import Parts

__all__ = ["SparseRows"]

_ENTRY = re.compile(rf"\s*(\d+)\s+({QUOTED}|[^,]*?)\s*(,|$)")


class SparseRows:
    """Entries of rows, collected block by block.

    An entry is a number: the code of a nominal or text value, a numeric value itself, NaN where it
    is missing.
    """

    def __init__(self, path: PathLike, attributes: list[Attribute]) -> None:
        self._path, self._attributes = path, attributes
        self._n_records = 0
        self._rows: list[NDArray[np.int64]] = []
        self._columns: list[NDArray[np.int64]] = []
        self._data: list[NDArray[np.float64]] = []
        self._texts: dict[int, dict[str, int]] = {}  # codes of the values of text attributes
        groups: dict[Any, int] = {}  # attributes whose values are read alike
        keys = [a.labels or (c if a.kind == "text" else a.kind) for c, a in enumerate(attributes)]
        self._group = np.array([groups.setdefault(key, len(groups)) for key in keys], np.int64)

    def add(self, numbers: NDArray[np.int64], lines: pl.Series) -> None:
        """Take lines that hold data, and their numbers."""
        closed = lines.str.starts_with("{") & lines.str.ends_with("}")
        if not closed.all():
            number = numbers[(~closed).arg_max() or 0]
            raise FileError(self._path, f"line {number} does not begin and end with a brace")
        bodies = lines.str.slice(1).str.head(-1).str.strip_chars()
        special = bodies.str.contains(r"""['"\\]""").any()
        rows, columns, values = (self._parse if special else self._split)(numbers, bodies)
        self._check(numbers, rows, columns)
        self._data.append(self._numbers(numbers[rows], columns, values))
        self._rows.append(rows + self._n_records)
        self._columns.append(columns)
        self._n_records += len(lines)

    def _split(self, numbers: NDArray[np.int64], bodies: pl.Series) -> Any:
        """Take apart lines without quotes."""
        frame = bodies.str.replace_all("\t", " ", literal=True).alias("entry").to_frame()
        frame = frame.with_row_index("row").filter(pl.col("entry") != "")
        entry = pl.col("entry").str.split(",")
        frame = (
            frame.select("row", entry)
            .explode("entry")
            .with_columns(
                pl.col("entry")
                .str.strip_chars()
                .str.splitn(" ", 2)
                .struct.rename_fields(["i", "v"])
            )
        )
        frame = frame.unnest("entry").with_columns(
            pl.col("i").cast(pl.Int64, strict=False).alias("column"),
            pl.col("v").str.strip_chars_start(),
        )
        rows = frame.get_column("row").to_numpy().astype(np.int64)
        wrong = frame.get_column("column").is_null() | frame.get_column("v").is_null()
        if wrong.any():
            k = int(wrong.arg_max() or 0)
            self._refuse(numbers[rows[k]], " ".join(x or "" for x in frame.row(k)[1:3]))
        values = frame.get_column("v")
        return rows, frame.get_column("column").to_numpy(), values.set(values == "?", None)

    def _parse(self, numbers: NDArray[np.int64], bodies: pl.Series) -> Any:
        """Take apart lines with quotes in them."""
        rows, columns = [], []
        values: list[str | None] = []
        for row, body in enumerate(bodies):
            position = 0
            while position < len(body) or (position and body[position - 1] == ","):
                match = _ENTRY.match(body, position)
                if match is None:
                    self._refuse(numbers[row], body[position : position + 40])
                rows.append(row)
                columns.append(int(match[1]))
                values.append(None if match[2] == "?" else unquote(match[2]))
                position = match.end()
        texts = pl.Series(values, dtype=pl.String)
        return np.array(rows, np.int64), np.array(columns, np.int64), texts

    def _refuse(self, number: Any, text: str) -> NoReturn:
        raise FileError(self._path, f"line {number}: {text!r} is not an index and a value")

    def _check(
        self, numbers: NDArray[np.int64], rows: NDArray[np.int64], columns: NDArray[np.int64]
    ) -> None:
        n = len(self._attributes)
        beyond = (columns < 0) | (columns >= n)
        if beyond.any():
            k = int(np.argmax(beyond))
            raise FileError(
                self._path,
                f"line {numbers[rows[k]]} has the index {columns[k]}, but there are {n} attributes",
            )
        keys = rows * n + columns
        if len(keys) > 1 and not (np.diff(keys) > 0).all():
            keys.sort()
            same = np.flatnonzero(np.diff(keys) == 0)
            if len(same):
                row, column = divmod(int(keys[same[0]]), n)
                name = self._attributes[column].name
                raise FileError(self._path, f"line {numbers[row]} gives {name!r} twice")

    def _numbers(
        self, lines: NDArray[np.int64], columns: NDArray[np.int64], values: pl.Series
    ) -> NDArray[np.float64]:
        """Turn the texts of entries into numbers, all attributes of a kind together."""
        group = self._group[columns]
        order = np.argsort(group, kind="stable")
        bounds = np.flatnonzero(np.diff(group[order], prepend=-1, append=-1))
        data = np.empty(len(columns))
        for lo, hi in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
            chosen = order[lo:hi]
            column = int(columns[chosen[0]])
            attribute, texts = self._attributes[column], values.gather(chosen)
            if attribute.kind == "nominal":
                typed = texts.cast(pl.Enum(attribute.labels), strict=False).to_physical()
            elif attribute.kind == "text":
                codes = self._texts.setdefault(column, {})
                typed = pl.Series(
                    [None if x is None else codes.setdefault(x, len(codes)) for x in texts],
                    dtype=pl.Int64,
                )
            else:
                dtype = pl.Int64 if attribute.kind == "integer" else pl.Float64
                typed = texts.cast(dtype, strict=False)
            if typed.null_count() > texts.null_count():
                k = int((typed.is_null() & texts.is_not_null()).arg_max() or 0)
                attribute = self._attributes[int(columns[chosen[k]])]
                wrong = {"nominal": "a declared label", "integer": "a whole number"}
                raise FileError(
                    self._path,
                    f"line {lines[chosen[k]]}: {texts[k]!r} is not "
                    f"{wrong.get(attribute.kind, 'a number')} of attribute {attribute.name!r}",
                )
            data[chosen] = typed.cast(pl.Float64).fill_null(float("nan")).to_numpy()
        return data

    def entries(self) -> tuple[Entries, NDArray[np.int64]]:
        """Return all entries by column, and the column of each."""
        columns = np.concatenate(self._columns)
        order = np.argsort(columns, kind="stable")
        columns = columns[order]
        entries = Entries(
            self._attributes,
            self._n_records,
            np.concatenate(self._rows)[order],
            np.searchsorted(columns, np.arange(len(self._attributes) + 1)),
            np.concatenate(self._data)[order],
            self._texts,
        )
        for c, attribute in enumerate(self._attributes):
            given = int(entries.bounds[c + 1] - entries.bounds[c])
            if attribute.kind == "text" and given < self._n_records:
                name = attribute.name  # the format does not say which text is left out
                raise FileError(self._path, f"leaves out values of the text attribute {name!r}")
        return entries, columns

    def finish(self, missing: str, discretise: Any, target: str | None, defaults: Any) -> Parts:
        """Return the parts of the Table of all rows."""
        entries, columns = self.entries()
        schema, codes = code_entries(entries, missing)
        drop = missing == "default"
        stored = (schema, self._n_records, entries.rows, columns, codes)
        if target is not None:
            schema.position(target, "target")
        if discretise is None:
            return store_entries(*stored, defaults, drop_missing=drop)
        table = Table._of(store_entries(*stored, None)).cut(discretise, target=target)
        cut, singles = table.schema, table.one_way()
        labels, counts = list(cut.labels), [singles.array(c) for c in range(len(cut))]
        for c, known in enumerate(cut.labels):
            if drop and known.missing is not None and len(known) > 1:
                labels[c], counts[c] = known.without_missing(), counts[c][:-1]
        chosen = choose_defaults(cut.names, labels, counts, defaults)
        new = Schema(cut.names, labels, chosen)
        return conform_table(table, new, "default" if drop else "error", "data")
