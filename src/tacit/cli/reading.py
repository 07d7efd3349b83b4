"""The file that a command works on, and the options that say how to read it."""

from __future__ import annotations

import functools
import inspect
import re
from dataclasses import dataclass, field, is_dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

import tacit
from tacit.cli.output import notes_shown, working
from tacit.cli.scanning import FRAME_OPTIONS, Scans, is_scan
from tacit.errors import FileError, InputError, no_column

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

    from tacit.counts import Counter
    from tacit.scale import PartitionedTable
    from tacit.table import Table

__all__ = ["Numbers", "Source", "reads_file"]

_reading_option = functools.partial(typer.Option, rich_help_panel="How the file is read")
_scale_option = functools.partial(typer.Option, rich_help_panel="More than fits in memory")
_text_option = functools.partial(
    typer.Option, rich_help_panel="How text is laid out; what is not said is found"
)
_long_option = functools.partial(typer.Option, rich_help_panel="A log of records and items")
_ESCAPES = {"\\t": "\t", "tab": "\t", "space": " "}
_OTHERWISE = ("min_count",)  # options that some commands have, where they mean something else


@dataclass(frozen=True)
class Source:
    """A file and how to read it: what the user said and nothing else."""

    path: Path
    options: dict[str, Any] = field(default_factory=dict)  # keywords for tacit.read
    scans: Scans | None = None  # for commands that take a table in partitions: how to open one

    @property
    def address(self) -> Path | str:
        """The file, or the address of a database, of which a path has lost some slashes."""
        match = re.fullmatch(r"([a-z][a-z0-9+]+):/([^/].*)", str(self.path))
        if match is None:
            return self.path
        return f"{match[1]}://{'/' * (match[1] == 'sqlite')}{match[2]}"

    @property
    def n_jobs(self) -> int:
        """Threads for counting: all cores unless the user said otherwise."""
        return int(self.options.get("n_jobs", -1))

    def without_idle_target(self) -> Source:
        """Return the source without a target, unless columns are to be cut for its sake.

        For commands that have a use of their own for the target: not all readers know it.
        """
        if "discretise" in self.options:
            return self
        kept = {name: value for name, value in self.options.items() if name != "target"}
        return replace(self, options=kept)

    def read_numbers(self) -> Numbers | None:
        """Read a file of columns with its numbers as they are.

        ``None`` for files of other kinds, for logs, and where the user says how to cut numbers or
        what is to become of missing values: those make a Table.
        """
        if {"discretise", "kinds", "missing", "long"} & set(self.options):
            return None
        options = {name: x for name, x in self.options.items() if name in FRAME_OPTIONS}
        with working(f"reading {self.path}"):
            frame = tacit.io.read_frame(self.address, **options)
        return self._weighted(frame)

    def read_arff(self) -> Numbers | Table | None:
        """Read an ARFF file with its numbers as they are: a sparse one is a Table.

        ``None`` where :meth:`read_numbers` would be.
        """
        kind = tacit.io.file_kind(self.address, self.options.get("format"))
        if kind != "arff" or {"discretise", "kinds", "missing", "long"} & set(self.options):
            return None
        with working(f"reading {self.path}"):
            numbers = tacit.io.arff_numbers(self.path)
        if not isinstance(numbers, tacit.Table):
            return self._weighted(numbers)
        if (name := self.options.get("weights")) is None:
            return numbers
        if name not in numbers.schema.names:
            raise no_column("--weights", name, numbers.schema.names)
        column = numbers.select([name]).to_frame("polars").get_column(name)
        rest = [other for other in numbers.schema.names if other != name]
        return numbers.select(rest).with_weights(column.to_numpy())

    def _weighted(self, frame: pl.DataFrame | None) -> Numbers | None:
        """Return a frame and the weights of its records, if it has a column of them."""
        name = self.options.get("weights")
        if frame is None or name is None:
            return None if frame is None else Numbers(frame, None)
        if name not in frame.columns:
            raise no_column("--weights", name, frame.columns)
        return Numbers(frame.drop(name), frame.get_column(name).to_numpy())

    @property
    def partitioned(self) -> bool:
        """Whether the table is to stay in partitions: several files, or where the user says so."""
        return is_scan(self.path) or (self.scans is not None and self.scans.wanted)

    def read_table(self) -> Table | PartitionedTable:
        """Read the table, or open it where it is to stay in partitions."""
        if self.scans is not None and self.partitioned:
            return self.scans.open(self.path, self.options)
        return self.read()

    def read(self) -> Table:
        """Read the table, showing that this goes on."""
        saved = self.read_any()
        if isinstance(saved, tacit.Table):
            return saved
        takers = ""
        if isinstance(saved, tacit.ADTree):
            takers = "; `tacit table` and `tacit count` take it"
        elif hasattr(saved, "predict") or hasattr(saved, "recommend"):
            takers = "; `tacit predict` and `tacit show` take it"
        raise FileError(self.path, f"holds a saved {type(saved).__name__}, not a table{takers}")

    def counter(self) -> Counter | PartitionedTable:
        """Return what answers questions about the file: the saved tree, or a scan of the table.

        One question is not worth a tree of its own.
        """
        if self.scans is not None and self.partitioned:
            return self.scans.open(self.path, self.options)
        saved = self.read_any()
        if isinstance(saved, tacit.counts.Counter):
            return saved
        if isinstance(saved, tacit.Table):
            return tacit.counts.Scan(saved, n_jobs=self.n_jobs)
        raise FileError(self.path, f"holds a saved {type(saved).__name__}, which does not count")

    def read_any(self) -> Any:
        """Read a table or whatever else a saved file holds."""
        with working(f"reading {self.path}"):
            return tacit.io.read_what(self.address, **self.options)


@dataclass(frozen=True)
class Numbers:
    """A frame with numbers as they are, and weights of its records."""

    frame: pl.DataFrame
    weights: Any


def _parameters(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="A table: CSV, Parquet, JSON, Excel, ARFF, svmlight, baskets, .tacit, … or a "
            "database such as sqlite:///shop.db, with --sql.",
        ),
    ],
    format: Annotated[  # noqa: A002
        str | None,
        _reading_option(
            help="Where the name does not tell: csv, tsv, data, parquet, ipc, ndjson, excel, arff, "
            "svmlight, baskets, msweb or tacit."
        ),
    ] = None,
    missing: Annotated[
        Literal["state", "default", "error", "drop"] | None,
        _reading_option(
            help="Missing values are a label of their own, the default, or refused; in a log they "
            "are refused, or their rows dropped."
        ),
    ] = None,
    weights: Annotated[
        str | None, _reading_option(help="The column that holds record weights.")
    ] = None,
    discretise: Annotated[
        list[str] | None,
        _reading_option(
            metavar="[COLUMN=]HOW",
            help="Cut numeric columns into bins: auto, width, frequency, mdl, a number of bins, or "
            "edges such as 18,30,65; for one column (can be repeated) or for all.",
        ),
    ] = None,
    target: Annotated[
        str | None, _reading_option(help="The column that mdl cuts tell apart.")
    ] = None,
    kinds: Annotated[
        list[str] | None,
        _reading_option(
            metavar="COLUMN=KIND",
            help="What a column is: numeric, ordered, categorical, boolean or identifier; can be "
            "repeated.",
        ),
    ] = None,
    sheet: Annotated[
        str | None, _reading_option(help="The sheet of an Excel file, if not the first.")
    ] = None,
    sql: Annotated[
        str | None, _reading_option(metavar="QUERY", help="What to ask a database for.")
    ] = None,
    n_jobs: Annotated[
        int | None, typer.Option(help="Threads; -1 for all cores. No result depends on it.")
    ] = None,
) -> Source:
    """Make a Source of the file and of those options that were given."""
    options: dict[str, Any] = {
        "format": format,
        "missing": missing,
        "weights": weights,
        "discretise": _specs(discretise or []),
        "target": target,
        "kinds": _kinds(kinds or []),
        "sheet": int(sheet) if sheet is not None and sheet.isdecimal() else sheet,
        "query": sql,
        "n_jobs": n_jobs,
    }
    return Source(file, {name: value for name, value in options.items() if value is not None})


def _text_parameters(
    separator: Annotated[
        str | None,
        _text_option(help="What stands between values; 'tab' and 'space' can be written so."),
    ] = None,
    header: Annotated[
        bool | None,
        _text_option("--header/--no-header", help="The first line holds names, or values."),
    ] = None,
    null_value: Annotated[
        list[str] | None, _text_option(help="A text that means missing; can be repeated.")
    ] = None,
    quote: Annotated[
        str | None, _text_option(help="The character that values are quoted by; 'none' for none.")
    ] = None,
    decimal: Annotated[
        str | None, _text_option(help="What stands in real numbers: a point or a comma.")
    ] = None,
    encoding: Annotated[
        str | None, _text_option(help="Of the text, such as utf-8, utf-16 or latin-1.")
    ] = None,
    skip_lines: Annotated[
        int | None, _text_option(min=0, help="Lines to pass over at the beginning.")
    ] = None,
) -> dict[str, Any]:
    """Return the options that say how text is laid out; the others are found."""
    options: dict[str, Any] = {
        "separator": None if separator is None else _ESCAPES.get(separator, separator),
        "header": header,
        "null_values": null_value or None,
        "decimal": decimal,
        "encoding": encoding,
        "skip_lines": skip_lines,
    }
    given = {name: value for name, value in options.items() if value is not None}
    return given if quote is None else {**given, "quote": None if quote == "none" else quote}


def _log_parameters(
    long: Annotated[
        str | None,
        _long_option(
            metavar="RECORD,ITEM[,VALUE]",
            help="The file is a log with a row for each record and item: the columns of both, such "
            "as userId,movieId, and perhaps of values. Each item becomes a column.",
        ),
    ] = None,
    min_count: Annotated[
        int | None, _long_option(min=1, help="Leave items of fewer records out.")
    ] = None,
    min_items: Annotated[
        int | None, _long_option(min=0, help="Then leave records with fewer items out.")
    ] = None,
    duplicates: Annotated[
        Literal["sum", "first", "last", "error"] | None,
        _long_option(
            help="Several rows of one record and item are added up, all but one are passed over, "
            "or they are refused."
        ),
    ] = None,
    names: Annotated[
        str | None,
        _long_option(
            metavar="FILE:ITEM,NAME",
            help="A file that has the names of items, such as movies.csv:movieId,title.",
        ),
    ] = None,
) -> dict[str, Any]:
    """Return the options that say how a log is read."""
    options: dict[str, Any] = {
        "min_count": min_count,
        "min_items": min_items,
        "duplicates": duplicates,
        "names": None if names is None else _names(names),
    }
    given = {name: value for name, value in options.items() if value is not None}
    if long is not None:
        return {"long": _columns(long, "--long", (2, 3)), **given}
    for name in given:
        raise typer.BadParameter("is about a log: say --long, too", param_hint=_flag(name))
    return {}


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _columns(text: str, option: str, numbers: tuple[int, ...]) -> tuple[str, ...]:
    """Cut a list of columns at its commas."""
    columns = tuple(name.strip() for name in text.split(","))
    if len(columns) not in numbers or not all(columns):
        wanted = " or ".join(map(str, numbers))
        raise typer.BadParameter(f"{text!r} is not {wanted} columns", param_hint=option)
    return columns


def _names(text: str) -> tuple[str, ...]:
    """Read FILE:ITEM,NAME."""
    file, colon, columns = text.rpartition(":")
    if not colon or not file:
        raise typer.BadParameter(f"{text!r} is not FILE:ITEM,NAME", param_hint="--names")
    return (file, *_columns(columns, "--names", (2,)))


def _specs(given: list[str]) -> Any:
    """Return what --discretise asks for: nothing, one spec for all columns, or one for each."""
    specs = {}
    for text in given:
        column, equals, how = text.rpartition("=")
        if not equals:
            if len(given) > 1:
                raise typer.BadParameter("once for all columns, or COLUMN=HOW for each")
            return _spec(how)
        specs[column] = _spec(how)
    return specs or None


def _kinds(given: list[str]) -> dict[str, str] | None:
    """Return what --kinds asks for."""
    kinds = {}
    for text in given:
        column, equals, kind = text.rpartition("=")
        if not equals:
            raise typer.BadParameter(f"{text!r} is not COLUMN=KIND", param_hint="--kinds")
        kinds[column] = kind
    return kinds or None


def _spec(how: str) -> Any:
    """Read one spec; what it is, the table decides."""
    numbers = how.split(",")
    try:
        return int(how) if len(numbers) == 1 else [float(number) for number in numbers]
    except ValueError:
        return how


def _scale_parameters(
    memory: Annotated[
        str | None,
        _scale_option(
            metavar="SIZE",
            help="Read FILE in partitions and hold no more than this at a time, such as 4GB. "
            "Patterns such as 'logs/*.parquet', and folders, are read in partitions anyway.",
        ),
    ] = None,
    dask: Annotated[
        str | None,
        _scale_option(
            metavar="ADDRESS",
            help="Let a Dask cluster read and count, such as tcp://scheduler:8786.",
        ),
    ] = None,
) -> Scans:
    """Make what opens partitioned tables of the options that were given."""
    return Scans(memory, dask)


def reads_file(
    command: Callable[..., None], *, before: tuple[str, ...] = (), partitions: bool = False
) -> Callable[..., None]:
    """Give a command a file to read: FILE before its own arguments, reading options after its own.

    The command's first parameter receives the :class:`Source`. An option that both have, such as
    ``--target``, is the command's, and its value goes to both, unless it means something else
    there. A parameter that is a dataclass
    stands for an option for each of its fields. Arguments in `before` stand before FILE. With
    `partitions`, the command also takes tables that do not fit in memory.
    """
    reading = inspect.signature(_parameters, eval_str=True).parameters
    text = inspect.signature(_text_parameters, eval_str=True).parameters
    logs = inspect.signature(_log_parameters, eval_str=True).parameters
    common = {**reading, **text, **logs}
    scale = inspect.signature(_scale_parameters, eval_str=True).parameters if partitions else {}
    _, *given = inspect.signature(command, eval_str=True).parameters.values()
    groups: dict[str, Any] = {p.name: p.annotation for p in given if is_dataclass(p.annotation)}
    fields = {n: inspect.signature(g, eval_str=True).parameters for n, g in groups.items()}
    options = [o for p in given for o in fields.get(p.name, {p.name: p}).values()]
    shared = {p.name for p in options} & set(common)

    @functools.wraps(command)
    def run(**given: Any) -> None:
        otherwise = shared.intersection(_OTHERWISE)
        source = _parameters(**{name: given[name] for name in reading})
        layout = _text_parameters(**{name: given[name] for name in text})
        log = _log_parameters(**{n: None if n in otherwise else given[n] for n in logs})
        source = replace(source, options={**source.options, **layout, **log})
        kept = {k: x for k, x in given.items() if k not in ({**common, **scale}) or k in shared}
        for name, group in groups.items():
            kept[name] = group(**{option: kept.pop(option) for option in fields[name]})
        if not partitions:
            if is_scan(source.path):
                raise InputError(
                    f"FILE: this command needs all records on one machine, and takes one file, not "
                    f"{str(source.path)!r}"
                )
            with notes_shown():
                command(source, **kept)
            return
        scans = _scale_parameters(**{name: given[name] for name in scale})
        with notes_shown(), scans.running():
            command(replace(source, scans=scans), **kept)

    file, *others = (p for p in common.values() if p.name not in shared)
    first = [p for p in options if p.name in before]
    rest = [p for p in options if p.name not in before]
    parameters = [
        p.replace(kind=p.KEYWORD_ONLY) for p in (*first, file, *rest, *others, *scale.values())
    ]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in parameters}
    return run
