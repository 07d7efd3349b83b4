"""Record ids: what a record is called, beside what it holds."""

from __future__ import annotations

import sys
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from tacit.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = [
    "check_index",
    "index_from_array",
    "index_of_frame",
    "index_to_array",
    "join_indexes",
    "put_index",
]

_POLARS_ERRORS = (pl.exceptions.PolarsError, pl.exceptions.PanicException)
_UNNAMED = "index"  # what a frame calls ids that have no name, as pandas does


def check_index(index: Any, n_records: int) -> pl.Series | None:
    """Return record ids as a series: one for each record."""
    if index is None:
        return None
    if isinstance(index, pl.Series):
        series = index
    elif _is_pandas_index(index):
        series = _from_pandas(index)
    else:
        try:
            series = pl.Series(getattr(index, "name", None) or "", index)
        except (*_POLARS_ERRORS, TypeError, ValueError) as error:
            raise InputError(f"index must be a series of record ids: {error}") from None
    if len(series) != n_records:
        raise InputError(f"index must have {n_records} record ids, got {len(series)}")
    return series


def index_of_frame(data: Any) -> pl.Series | None:
    """Return the index of a pandas frame, unless it only counts the rows from 0."""
    pandas = sys.modules.get("pandas")
    if pandas is None or not isinstance(data, pandas.DataFrame):
        return None
    index = data.index
    counts = isinstance(index, pandas.RangeIndex) and index.start == 0 and index.step == 1
    return None if counts and index.name is None else _from_pandas(index)


def _is_pandas_index(index: Any) -> bool:
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(index, pandas.Index)


def _from_pandas(index: Any) -> pl.Series:
    """Return an index of pandas; several levels are a struct, what Polars has no type for, text."""
    name = "" if index.name is None else str(index.name)
    if index.nlevels == 1:
        try:
            if index.dtype.name.startswith(("period", "interval")):  # numbers to Arrow
                raise TypeError
            series: pl.Series = pl.from_pandas(index.to_series(index=range(len(index))))
            return series.alias(name)
        except Exception:  # whatever Arrow thinks of mixed Python objects
            return pl.Series(name, [str(x) for x in index], dtype=pl.String)
    levels = [_from_pandas(index.get_level_values(k)) for k in range(index.nlevels)]
    named = [level.alias(level.name or f"level_{k}") for k, level in enumerate(levels)]
    try:
        return pl.DataFrame(named).to_struct(name)
    except _POLARS_ERRORS as error:
        raise InputError(f"data: the levels of the index must have distinct names: {error}") from (
            None
        )


def put_index(frame: Any, index: pl.Series | None, kind: str) -> Any:
    """Give a frame of a kind its record ids: as the index of pandas, else as the first column."""
    if index is None:
        return frame
    if kind == "pandas":
        frame.index = _to_pandas(index)
        return frame
    name = index.name or _UNNAMED
    names = frame.columns if kind == "polars" else frame.column_names
    if name in names:
        raise InputError(
            f"the record ids and a column are both called {name!r}; give the ids another name, or "
            "leave them out: table.with_index(None)"
        )
    if kind == "polars":
        return frame.insert_column(0, index.alias(name))
    return frame.add_column(0, name, [index.to_arrow()])


def _to_pandas(index: pl.Series) -> Any:
    import pandas as pd

    if isinstance(index.dtype, pl.Struct):
        return pd.MultiIndex.from_frame(index.struct.unnest().to_pandas())
    made = pd.Index(index.to_pandas())
    made.name = index.name or None
    return made


def join_indexes(several: Sequence[pl.Series | None]) -> pl.Series | None:
    """Return the ids of several tables one after another, if all have some."""
    given = [index for index in several if index is not None]
    if len(given) < len(several):
        return None
    kinds = list(dict.fromkeys(index.dtype for index in given))
    if len(kinds) > 1 and not all(kind.is_numeric() for kind in kinds):
        raise InputError(f"tables: the record ids are {kinds[0]} in one and {kinds[1]} in another")
    frames = [index.alias("").to_frame() for index in given]
    return pl.concat(frames, how="vertical_relaxed").to_series().alias(given[0].name)


def index_to_array(index: pl.Series) -> NDArray[np.uint8]:
    """Return record ids as bytes for a file: an Arrow stream."""
    buffer = BytesIO()
    index.to_frame().write_ipc_stream(buffer)
    return np.frombuffer(buffer.getvalue(), np.uint8)


def index_from_array(array: NDArray[Any], n_records: int) -> pl.Series:
    """Read what :func:`index_to_array` wrote."""
    try:
        frame = pl.read_ipc_stream(array.tobytes())
    except (*_POLARS_ERRORS, OSError) as error:
        raise InputError(f"its record ids cannot be read ({error})") from None
    if frame.shape != (n_records, 1):
        raise InputError("its record ids are not one for each record")
    return frame.to_series()
