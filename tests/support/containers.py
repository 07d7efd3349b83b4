"""All that data may come in: one list of awkward containers that hold the same values.

`MIXED` makes them of columns of several types, `BINARY` of an array of zeros and ones. Each takes
the values and a folder, where those that are files are written, and returns the container.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from scipy import sparse

from tacit import Table

Columns = dict[str, pl.Series]


def mixed_columns(n_records: int = 60, seed: int = 0) -> Columns:
    """Numbers, some missing, whole numbers, truth values, strings, some missing, ordered ones."""
    rng = np.random.default_rng(seed)
    levels = ["low", "mid", "high"]  # not as the alphabet has them
    heights = rng.normal(170, 10, n_records).round(1).tolist()
    colours = rng.choice(["red", "green", "a blue too long for a view"], n_records).tolist()
    return {
        "height": pl.Series([None if k % 7 == 3 else x for k, x in enumerate(heights)]),
        "visits": pl.Series(rng.poisson(1.5, n_records)),
        "member": pl.Series(rng.random(n_records) < 0.4),
        "colour": pl.Series([None if k % 11 == 5 else x for k, x in enumerate(colours)]),
        "level": pl.Series(rng.choice(levels, n_records).tolist(), dtype=pl.Enum(levels)),
    }


def binary_values(n_records: int = 60, n_columns: int = 6, seed: int = 0) -> np.ndarray:
    """Zeros and ones, both in each column, of which most are mostly zero."""
    rng = np.random.default_rng(seed)
    values = (rng.random((n_records, n_columns)) < np.linspace(0.1, 0.7, n_columns)).astype(int)
    values[0], values[1] = 0, 1
    return values


def column_names(values: np.ndarray) -> list[str]:
    """Names for the columns of frames and files, as estimators call the columns of an array."""
    return [f"x{k}" for k in range(values.shape[1])]


class StreamOnly:
    """Something of which only a stream of Arrow batches can be had."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._table.__arrow_c_stream__(requested_schema)


class BatchOnly:
    """Something of which only one Arrow batch can be had."""

    def __init__(self, batch: pa.RecordBatch) -> None:
        self._batch = batch

    def __arrow_c_array__(self, requested_schema: Any = None) -> Any:
        return self._batch.__arrow_c_array__(requested_schema)


def read_only(array: np.ndarray) -> np.ndarray:
    frozen = array.copy()
    frozen.flags.writeable = False
    return frozen


def duckdb_relation(table: pa.Table) -> Any:
    import duckdb

    return duckdb.from_arrow(table)


# Frames of any columns


def to_pandas(columns: Columns) -> pd.DataFrame:
    return pl.DataFrame(columns).to_pandas()


def to_arrow(columns: Columns) -> pa.Table:
    return pl.DataFrame(columns).to_arrow()


def _arrow_chunks(columns: Columns) -> pa.Table:
    frame = pl.DataFrame(columns)
    third = frame.height // 3
    parts = [frame[:third], frame[third : 2 * third], frame[2 * third :]]
    return pa.concat_tables([part.to_arrow() for part in parts])


def _pandas_nullable(columns: Columns) -> pd.DataFrame:
    return to_pandas(columns).convert_dtypes(dtype_backend="numpy_nullable")


def _pandas_categorical(columns: Columns) -> pd.DataFrame:
    frame = to_pandas(columns)
    texts = [name for name, series in columns.items() if series.dtype == pl.String]
    return frame.astype(dict.fromkeys(texts, "category"))


def _pandas_sparse(columns: Columns) -> pd.DataFrame:
    frame = to_pandas(columns)
    sparse_types = {
        name: pd.SparseDtype(dtype, {"b": False, "f": np.nan}.get(dtype.kind, 0))
        for name, dtype in frame.dtypes.items()
        if dtype.kind in "biuf"
    }
    return frame.astype(sparse_types)


def _pandas_other_index(columns: Columns) -> pd.DataFrame:
    frame = to_pandas(columns)
    frame.index = pd.Index([f"record {k}" for k in range(len(frame))][::-1], name="who")
    return frame


def _pandas_slice(columns: Columns) -> pd.DataFrame:
    frame = to_pandas(columns)
    return pd.concat([frame, frame], ignore_index=True).iloc[len(frame) :]


def _pandas_read_only(columns: Columns) -> pd.DataFrame:
    frame = to_pandas(columns)
    plain = {name for name, dtype in frame.dtypes.items() if dtype.kind in "biuf"}
    return pd.DataFrame(
        {
            name: pd.Series(read_only(frame[name].to_numpy()), copy=False)
            if name in plain
            else frame[name]
            for name in frame
        },
        copy=False,
    )


def _record_array(columns: Columns) -> np.ndarray:
    plain = {name: np.array(series.to_list()) for name, series in columns.items()}
    arrays = {
        name: np.array(columns[name].to_list(), object if array.dtype.kind in "OU" else None)
        for name, array in plain.items()
    }
    types = [(name, array.dtype) for name, array in arrays.items()]
    records = np.empty(len(next(iter(arrays.values()))), types)
    for name, array in arrays.items():
        records[name] = array
    return records


def _parquet(columns: Columns, folder: Path) -> Path:
    path = folder / "columns.parquet"
    pl.DataFrame(columns).write_parquet(path)
    return path


def _ipc(columns: Columns, folder: Path) -> Path:
    path = folder / "columns.arrow"
    pl.DataFrame(columns).write_ipc(path)
    return path


def _csv(columns: Columns, folder: Path) -> Path:
    path = folder / "columns.csv"
    pl.DataFrame(columns).write_csv(path)
    return path


FRAMES: dict[str, Callable[[Columns, Path], Any]] = {
    "mapping of series": lambda c, _: dict(c),
    "mapping of pandas series": lambda c, _: dict(to_pandas(c).items()),
    "mapping of Arrow arrays": lambda c, _: dict(zip(c, to_arrow(c).columns, strict=True)),
    "mapping of lists": lambda c, _: {name: series.to_list() for name, series in c.items()},
    "Polars": lambda c, _: pl.DataFrame(c),
    "Polars in chunks": lambda c, _: pl.from_arrow(_arrow_chunks(c), rechunk=False),
    "LazyFrame": lambda c, _: pl.LazyFrame(c),
    "narwhals": lambda c, _: nw.from_native(pl.DataFrame(c)),
    "narwhals of pandas": lambda c, _: nw.from_native(to_pandas(c)),
    "narwhals LazyFrame": lambda c, _: nw.from_native(pl.LazyFrame(c)),
    "pandas": lambda c, _: to_pandas(c),
    "pandas nullable": lambda c, _: _pandas_nullable(c),
    "pandas of Arrow": lambda c, _: pl.DataFrame(c).to_pandas(use_pyarrow_extension_array=True),
    "pandas categories": lambda c, _: _pandas_categorical(c),
    "pandas sparse": lambda c, _: _pandas_sparse(c),
    "pandas other index": lambda c, _: _pandas_other_index(c),
    "pandas slice": lambda c, _: _pandas_slice(c),
    "pandas read-only": lambda c, _: _pandas_read_only(c),
    "Arrow table": lambda c, _: to_arrow(c),
    "Arrow table in chunks": lambda c, _: _arrow_chunks(c),
    "Arrow record batch": lambda c, _: to_arrow(c).combine_chunks().to_batches()[0],
    "Arrow reader": lambda c, _: _arrow_chunks(c).to_reader(),
    "Arrow stream": lambda c, _: StreamOnly(_arrow_chunks(c)),
    "Arrow stream of Polars": lambda c, _: StreamOnly(pl.DataFrame(c)),
    "Arrow batch": lambda c, _: BatchOnly(to_arrow(c).combine_chunks().to_batches()[0]),
    "DuckDB": lambda c, _: duckdb_relation(to_arrow(c)),
    "record array": lambda c, _: _record_array(c),
    "Parquet file": _parquet,
    "Arrow IPC file": _ipc,
    "CSV file": _csv,
}

MIXED: dict[str, Callable[[Columns, Path], Any]] = FRAMES | {
    "pandas objects": lambda c, _: to_pandas(c).astype(object),
    "Table": lambda c, _: Table(c),
}

# Those that cannot say that categories have an order: strings come out of them.
UNORDERED = frozenset({"mapping of lists", "pandas objects", "DuckDB", "record array", "CSV file"})


# Arrays of zeros and ones


def _wide_indices(matrix: Any) -> Any:
    wide = matrix.copy()
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    return wide


def _backwards(matrix: Any) -> Any:
    """The same with the indices of each row, or column, in descending order."""
    turned = matrix.copy()
    for begin, end in zip(turned.indptr, turned.indptr[1:], strict=False):
        turned.indices[begin:end] = turned.indices[begin:end][::-1].copy()
        turned.data[begin:end] = turned.data[begin:end][::-1].copy()
    turned.has_sorted_indices = False
    return turned


def _all_written_out(values: np.ndarray) -> Any:
    """A COO array that stores its zeros, too, in no order."""
    order = np.random.default_rng(0).permutation(values.size)
    row, col = np.unravel_index(order, values.shape)
    return sparse.coo_array((values[row, col], (row, col)), shape=values.shape)


def _with_duplicates(values: np.ndarray) -> Any:
    """A COO array in which each cell is the sum of two entries."""
    row, col = np.indices(values.shape).reshape(2, -1)
    none = np.zeros(values.size, values.dtype)
    data = np.concatenate((values.reshape(-1), none))
    return sparse.coo_array((data, (np.tile(row, 2), np.tile(col, 2))), shape=values.shape)


def _csr_with_duplicates(values: np.ndarray) -> Any:
    m, n = values.shape
    indices = np.tile(np.arange(n), 2 * m)
    data = np.concatenate((values, np.zeros_like(values)), axis=1).reshape(-1)
    return sparse.csr_array((data, indices, np.arange(m + 1) * 2 * n), shape=values.shape)


def _read_only_sparse(matrix: Any) -> Any:
    for array in (matrix.data, matrix.indices, matrix.indptr):
        array.flags.writeable = False
    return matrix


def _spaced(values: np.ndarray) -> np.ndarray:
    spaced = np.zeros((2 * values.shape[0], 3 * values.shape[1]), values.dtype)
    spaced[::2, ::3] = values
    return spaced[::2, ::3]


def as_columns(values: np.ndarray) -> Columns:
    """Return an array as columns, for the containers that are frames."""
    names = column_names(values)
    return {name: pl.Series(values[:, k]) for k, name in enumerate(names)}


def _sparse_pandas(values: np.ndarray) -> pd.DataFrame:
    names = column_names(values)
    return pd.DataFrame.sparse.from_spmatrix(sparse.csr_matrix(values), columns=names)


ARRAYS: dict[str, Callable[[np.ndarray, Path], Any]] = {
    "C order": lambda v, _: np.ascontiguousarray(v),
    "F order": lambda v, _: np.asfortranarray(v),
    "not contiguous": lambda v, _: _spaced(v),
    "read-only": lambda v, _: read_only(v),
}
for _dtype in ("int8", "uint8", "int32", "int64", "bool", "float32", "float64"):
    ARRAYS[_dtype] = lambda v, _, dtype=_dtype: v.astype(dtype)

SPARSE: dict[str, Callable[[np.ndarray, Path], Any]] = {}
for _form in ("csr", "csc", "coo", "lil", "dok", "dia", "bsr"):
    SPARSE[f"{_form} array"] = lambda v, _, form=_form: sparse.csr_array(v).asformat(form)
    SPARSE[f"{_form} matrix"] = lambda v, _, form=_form: sparse.csr_matrix(v).asformat(form)
for _form in ("csr", "csc"):
    SPARSE |= {
        f"{_form} of int64": lambda v, _, form=_form: _wide_indices(
            sparse.csr_array(v).asformat(form)
        ),
        f"{_form} unsorted": lambda v, _, form=_form: _backwards(
            sparse.csr_array(v).asformat(form)
        ),
        f"{_form} read-only": lambda v, _, form=_form: _read_only_sparse(
            sparse.csr_array(v).asformat(form)
        ),
        f"{_form} with zeros": lambda v, _, form=_form: _all_written_out(v).asformat(form),
        f"{_form} of bools": lambda v, _, form=_form: sparse.csr_array(v.astype(bool)).asformat(
            form
        ),
        f"{_form} of floats": lambda v, _, form=_form: sparse.csr_array(v.astype(float)).asformat(
            form
        ),
    }
SPARSE |= {
    "coo with zeros": lambda v, _: _all_written_out(v),
    "coo with duplicates": lambda v, _: _with_duplicates(v),
    "csr with duplicates": lambda v, _: _csr_with_duplicates(v),
}

BINARY: dict[str, Callable[[np.ndarray, Path], Any]] = (
    ARRAYS
    | SPARSE
    | {
        name: lambda v, folder, make=make: make(as_columns(v), folder)
        for name, make in FRAMES.items()
    }
    | {
        "pandas of a Fortran array": lambda v, _: pd.DataFrame(
            np.asfortranarray(v), columns=column_names(v), copy=False
        ),
        "pandas of a sparse array": lambda v, _: _sparse_pandas(v),
        "pandas of sparse bools": lambda v, _: _sparse_pandas(v.astype(bool)),
        "Polars of bools": lambda v, _: pl.DataFrame(as_columns(v.astype(bool))),
        "Table": lambda v, _: Table(v, columns=column_names(v)),
    }
)
