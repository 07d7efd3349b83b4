"""Files as one partitioned table."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from tacit.errors import InputError, did_you_mean
from tacit.io.columnar import ColumnarFiles
from tacit.io.csv import CsvFiles, CsvOptions, CsvScan
from tacit.io.dask_frames import is_dask_frame, scan_dask
from tacit.io.frames.metadata import ScanOptions
from tacit.io.ipc import IpcFile
from tacit.io.listing import (
    check_names,
    common_columns,
    list_files,
    one_kind,
    open_files,
    origin_of,
)
from tacit.io.long import LONG_OPTIONS, long_options
from tacit.io.parquet import ParquetFile
from tacit.io.read import FORMAT_OPTIONS, TEXT_OPTIONS, read_names
from tacit.io.tables import TableFile, TableFiles, is_folder, open_folder
from tacit.io.tabular import choose_columns
from tacit.machine import check_int, parse_bytes
from tacit.scale.local import Local
from tacit.scale.partitioned_table import PartitionedTable, PassRunner
from tacit.table.gateway import check_missing
from tacit.table.kinds import check_kinds

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tacit.io.opening import PathLike

__all__ = ["scan"]

_TARGET = 1 << 27  # bytes that loading a partition takes, about
_LIMIT_PARTITIONS = 8  # that are to fit into a memory limit at least


def scan(
    paths: PathLike | Sequence[PathLike],
    *,
    format: str | None = None,  # noqa: A002
    long: Any = None,
    columns: Sequence[str] | None = None,
    defaults: Any = None,
    weights: str | None = None,
    missing: Literal["state", "default", "error", "drop"] | None = None,
    discretise: Any = None,
    kinds: Mapping[Any, str] | None = None,
    partition_records: int | None = None,
    memory: int | str | None = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    **options: Any,
) -> PartitionedTable:
    r"""Take files, of any size together, for one table in partitions.

    Nothing is read yet but what files say of themselves: the footers of Parquet and Arrow IPC
    files, the first records of text. When something is asked, one pass finds the labels of all
    columns and how common they are, and every further question is a pass. Labels are matched by
    what they are, whatever their codes in each file.

    ==========================  ====================================================================
    .parquet, .pq               Row groups are partitions: small ones together, large ones cut.
    .arrow, .ipc, .feather      So are record batches, mapped into memory where they are not
                                compressed. A stream is read at once.
    .csv, .tsv, .data           So are ranges of bytes; to find where their records begin takes a
                                further pass. A compressed file is read at once.
    .tacit                      Each Table is a partition, mapped into memory. Where tables differ
                                in labels, those are unified in a pass.
    a folder                    that :meth:`PartitionedTable.materialise` wrote: it is opened as it
                                is, and takes no pass.
    ==========================  ====================================================================

    Parameters
    ----------
    paths : path-like, sequence of path-like or dask.dataframe
        A file, a pattern such as ``"logs/*.parquet"``, or several of both, all of one kind, or a
        folder that :meth:`PartitionedTable.materialise` wrote. Columns are found by their names;
        a type has to be the same in all files, but in text it is the narrowest that suits all.
        Files must not change while the table is in use. The partitions of a frame of Dask stay
        where Dask makes them.
    format : str, optional
        As for :func:`tacit.read`.
    long : sequence of str or mapping, optional
        As for :func:`tacit.read`, with its options: the files are a log, whose rows of one record
        may be anywhere. They are brought together in two more passes, by way of temporary files
        about as large as the columns that are read, which go away with the table. (They are where
        ``TMPDIR`` says; a cluster must see them, too.) Records are in the order of their ids, as
        they are in memory.
    columns : sequence of str, optional
        The columns to read, in this order; all by default. Of Parquet and Arrow files others are
        not read at all.
    defaults : mapping or label, optional
        As for :class:`tacit.Table`; the most common values of all files by default.
    weights : str, optional
        The column that holds record weights.
    missing : {"state", "default", "error"}, optional
        As for :class:`tacit.Table`; of a log, "error" or "drop".
    kinds : mapping, optional
        As for :class:`tacit.Table`; text cannot be made numbers here.
    discretise : spec or mapping, optional
        As for :class:`tacit.Table`: edges, or "width", which takes a pass to find the range of
        numbers. Other cuts take counts of all numbers: :meth:`PartitionedTable.cut` has them.
    partition_records : int, optional
        How many records a partition is to have at most, in text about. By default, partitions take
        about 128 MB to load, or an eighth of `memory`. Except for rounding in sums of real
        numbers, no result depends on it.
    memory : int or str, optional
        Bytes, or a text such as "4GB", as for :class:`tacit.scale.Local`.
    n_jobs : int, optional
        Threads of passes that do not say otherwise. No result depends on it.
    verbose : int
        1 shows progress on stderr.
    **options
        Of text: `separator`, `header`, `names`, `null_values`, `quote`, `decimal`, `encoding` and
        `skip_lines`, as for :func:`tacit.read_csv`, and found as there. UTF-16 text is refused, as
        it cannot be cut anywhere.

    Returns
    -------
    PartitionedTable

    Raises
    ------
    InputError
        If no file matches, or an argument is wrong.
    FileError
        If a file cannot be read, or does not have the same columns as others; in a pass, too, with
        the row group, record batch or bytes.

    Examples
    --------
    >>> import pathlib, tempfile, tacit
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder)
    ...     _ = (path / "may.csv").write_text("sky,rain\nblue,0\ngrey,1\n")
    ...     _ = (path / "june.csv").write_text("sky,rain\nblue,0\nblue,0\npink,0\n")
    ...     days = tacit.scan(path / "*.csv")
    ...     print(days.summary().line())
    ...     print(days.one_way()["sky"])
    Table of 5 records × 2 columns, 3 stored values (m·n/l = 3.33)
    {'blue': 3, 'grey': 1, 'pink': 1}
    """
    about = None
    if long is not None:
        _refuse({"columns": columns, "defaults": defaults, "discretise": discretise}, "logs")
        given = {name: options.pop(name) for name in LONG_OPTIONS if name in options}
        given |= {"weights": weights, "missing": "error" if missing is None else missing}
        about = long_options(long, given, read_names)
        columns, weights, missing = about.columns, None, "state"
    missing = "state" if missing is None else missing
    check_missing(missing)
    if weights is not None and not isinstance(weights, str):
        raise InputError("weights: give the name of the column that holds them")
    most = (
        None if partition_records is None else check_int(partition_records, "partition_records", 1)
    )
    limit = None if memory is None else parse_bytes(str(memory), "memory")
    size = _TARGET if limit is None else max(1, min(_TARGET, limit // _LIMIT_PARTITIONS))
    passes = PassRunner(Local(limit), n_jobs, verbose)
    coded = {
        "weights": weights,
        "missing": None if missing == "state" else missing,
        "discretise": discretise,
        "kinds": kinds,
        "partition_records": most,
    }
    if is_dask_frame(paths):
        _refuse({"format": format, "partition_records": most, **options}, "frames of Dask")
        most_bytes = size if about is not None else 0
        return scan_dask(
            paths, columns, weights, missing, defaults, discretise, passes, about, most_bytes, kinds
        )
    if is_folder(paths):
        _refuse({"long": long}, "a folder of partitions")
        _refuse({**coded, "defaults": defaults, **options}, "a folder of partitions")
        table = open_folder(os.fspath(paths), passes)  # type: ignore[arg-type]
        return table if columns is None else table.select(columns)
    listed = list_files(paths)
    kind = one_kind(listed, format)
    origin = origin_of(listed)
    if kind == "tacit":
        _refuse({"long": long, **coded, **options}, "tacit files")
        tables = open_files(listed, TableFile)
        check_names(tables, list(tables[0].schema), columns is None)
        made = PartitionedTable(TableFiles(tables, defaults).find, passes, origin)
        return made if columns is None else made.select(columns)
    text = kind not in ("parquet", "ipc")
    if text:
        files: list[Any] = open_files(
            listed, partial(CsvScan, options=_text_options(kind, options))
        )
    else:
        _refuse(options, f"{kind} files")
        files = open_files(listed, ParquetFile if kind == "parquet" else IpcFile)
    chosen = tuple(choose_columns(files[0].schema, columns, weights, defaults))
    asked = ScanOptions(
        chosen, weights, missing, defaults, discretise, size, most, origin, about,
        check_kinds(kinds, chosen),
    )  # fmt: skip
    check_names(files, asked.wanted, columns is None)
    if text:
        return PartitionedTable(CsvFiles(files, asked).find, passes, origin)
    types = common_columns(files, asked.wanted)
    return PartitionedTable(ColumnarFiles(files, types, asked).find, passes, origin)


def _refuse(options: Mapping[str, Any], what: str) -> None:
    """Refuse options that make no sense for some files."""
    for name, value in options.items():
        if value is not None:
            raise InputError(f"{name} is no option of {what}")


def _text_options(kind: str, options: Mapping[str, Any]) -> CsvOptions:
    """Return all options of text."""
    for name in options:
        if name not in TEXT_OPTIONS:
            known, hint = ", ".join(TEXT_OPTIONS), did_you_mean(name, TEXT_OPTIONS)
            raise InputError(f"{name} is no option of {kind} files; there are: {known}{hint}")
    return CsvOptions(**{**FORMAT_OPTIONS.get(kind, {}), **options})
