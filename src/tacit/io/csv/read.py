"""CSV files in: as Tables, or as frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from tacit.errors import InputError
from tacit.io.csv.file import CsvFile
from tacit.io.opening import naming, on_disk

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from tacit.io.opening import PathLike
    from tacit.table import Table

__all__ = ["check_dialect", "csv_frame", "read_csv"]


def read_csv(
    path: PathLike,
    *,
    separator: str = ",",
    header: bool = True,
    names: Sequence[str] | None = None,
    null_values: str | Sequence[str] | None = None,
    quote: str | None = '"',
    columns: Sequence[str] | None = None,
    defaults: Any = None,
    weights: Any = None,
    missing: Literal["state", "default", "error"] = "state",
    discretise: Any = None,
    target: str | None = None,
    chunk_records: int | None = None,
    n_jobs: int | None = -1,
) -> Table:
    r"""Read a CSV file, of any size, into a Table.

    Whole numbers, real numbers, ``true`` and ``false`` become what they are, everything else is
    text. A type holds for all of a column: one that is not a number once is text throughout.
    Real numbers need `discretise`, as in a frame. Blank lines are skipped, but in a file
    of one column they are missing values.

    Parameters
    ----------
    path : path-like
        May be compressed: .gz, .bz2, .xz, .zip with one file in it, .zst from Python 3.14 on.
    separator : str, default ","
        One character. Blanks after it, as in ``", "``, drop white space around all values.
    header : bool, default True
        Whether the first line names the columns. Else they are called "0", "1", …
    names : sequence of str, optional
        Names of all columns of the file, instead.
    null_values : str or sequence of str, optional
        Texts that mean missing. An empty field always does.
    quote : str or None
        The quoting character; a line may break between quotes.
    columns : sequence of str, optional
        The columns to read, in this order; all by default.
    defaults, weights, missing, discretise, target
        As for :class:`tacit.Table`. Cut points are those of the whole file.
    chunk_records : int, optional
        Records to hold in memory at a time, besides the Table. The result does not depend on it.
    n_jobs : int, default -1
        Threads, all cores by default. The result does not depend on it.

    Returns
    -------
    Table

    Raises
    ------
    FileError
        If the file cannot be read in full.

    Examples
    --------
    >>> import pathlib, tempfile, tacit
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "weather.csv"
    ...     _ = path.write_text("sky,rain\nblue,0\ngrey,1\ngrey,0\n")
    ...     table = tacit.read_csv(path)
    >>> table.one_way()["sky"]
    {'blue': 1, 'grey': 2}
    """
    check_dialect(separator, quote)
    with naming(path), on_disk(path) as plain:
        file = CsvFile(path, plain, separator, header, names, null_values, quote)
        return file.table(
            columns=columns,
            defaults=defaults,
            weights=weights,
            missing=missing,
            discretise=discretise,
            target=target,
            chunk_records=chunk_records,
            n_jobs=n_jobs,
        )


def csv_frame(
    path: PathLike,
    *,
    separator: str = ",",
    header: bool = True,
    null_values: str | Sequence[str] | None = None,
) -> pl.DataFrame:
    """Read a CSV file as a frame, its numbers as they are; options as for :func:`read_csv`."""
    check_dialect(separator, '"')
    with naming(path), on_disk(path) as plain:
        return CsvFile(path, plain, separator, header, None, null_values, '"').frame()


def check_dialect(separator: str, quote: str | None) -> None:
    """Refuse a separator or a quoting character that cannot be one."""
    if not isinstance(separator, str) or separator == "" or separator[1:].strip():
        raise InputError(f"separator must be one character, or one and blanks, got {separator!r}")
    if not separator[0].isascii() or separator[0] in (quote, "\r", "\n"):
        raise InputError(f"separator cannot be {separator!r}")
    if quote is not None and (len(quote) != 1 or not quote.isascii()):
        raise InputError(f"quote must be one character or None, got {quote!r}")
