"""The file that a command works on, and the options that say how to read it."""

from __future__ import annotations

import functools
import inspect
from dataclasses import dataclass, field, is_dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

import tacit
from tacit.cli.output import working
from tacit.cli.scanning import Scans, is_scan
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
_ESCAPES = {"\\t": "\t", "tab": "\t", "space": " "}


@dataclass(frozen=True)
class Source:
    """A file and how to read it: what the user said and nothing else."""

    path: Path
    options: dict[str, Any] = field(default_factory=dict)  # keywords for tacit.read
    scans: Scans | None = None  # for commands that take a table in partitions: how to open one

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

        ``None`` for files of other kinds, and where the user says how to cut numbers or what is to
        become of missing values: those make a Table.
        """
        if {"discretise", "kinds", "missing"} & set(self.options):
            return None
        known = ("format", "separator", "header", "null_values")
        options = {name: self.options[name] for name in known if name in self.options}
        with working(f"reading {self.path}"):
            frame = tacit.io.read_frame(self.path, **options)
        return self._weighted(frame)

    def read_arff(self) -> Numbers | Table | None:
        """Read an ARFF file with its numbers as they are: a sparse one is a Table.

        ``None`` where :meth:`read_numbers` would be.
        """
        kind = tacit.io.file_kind(self.path, self.options.get("format"))
        if kind != "arff" or {"discretise", "missing"} & set(self.options):
            return None
        with working(f"reading {self.path}"):
            numbers = tacit.io.arff_numbers(self.path)
        if not isinstance(numbers, tacit.Table):
            return self._weighted(numbers)
        if (name := self.options.get("weights")) is None:
            return numbers
        if name not in numbers.schema.names:
            raise InputError(f"--weights: there is no column {name!r}")
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
            return tacit.io.read_what(self.path, **self.options)


@dataclass(frozen=True)
class Numbers:
    """A frame with numbers as they are, and weights of its records."""

    frame: pl.DataFrame
    weights: Any


def _parameters(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="A table: CSV, Parquet, ARFF, svmlight, baskets, .tacit, …"
        ),
    ],
    format: Annotated[  # noqa: A002
        str | None,
        _reading_option(
            help="Where the name does not tell: csv, tsv, data, parquet, ipc, arff, svmlight, "
            "baskets, msweb or tacit."
        ),
    ] = None,
    separator: Annotated[
        str | None,
        _reading_option(help="What stands between values; 'tab' and 'space' can be written so."),
    ] = None,
    no_header: Annotated[
        bool, _reading_option("--no-header", help="The first line holds values, not names.")
    ] = False,
    missing: Annotated[
        Literal["state", "default", "error"] | None,
        _reading_option(help="Missing values are a label of their own, the default, or refused."),
    ] = None,
    null_value: Annotated[
        list[str] | None, _reading_option(help="A text that means missing; can be repeated.")
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
    n_jobs: Annotated[
        int | None, typer.Option(help="Threads; -1 for all cores. No result depends on it.")
    ] = None,
) -> Source:
    """Make a Source of the file and of those options that were given."""
    options: dict[str, Any] = {
        "format": format,
        "separator": None if separator is None else _ESCAPES.get(separator, separator),
        "header": False if no_header else None,
        "missing": missing,
        "null_values": null_value or None,
        "weights": weights,
        "discretise": _specs(discretise or []),
        "target": target,
        "kinds": _kinds(kinds or []),
        "n_jobs": n_jobs,
    }
    return Source(file, {name: value for name, value in options.items() if value is not None})


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
    ``--target``, is the command's, and its value goes to both. A parameter that is a dataclass
    stands for an option for each of its fields. Arguments in `before` stand before FILE. With
    `partitions`, the command also takes tables that do not fit in memory.
    """
    common = inspect.signature(_parameters, eval_str=True).parameters
    scale = inspect.signature(_scale_parameters, eval_str=True).parameters if partitions else {}
    _, *given = inspect.signature(command, eval_str=True).parameters.values()
    groups: dict[str, Any] = {p.name: p.annotation for p in given if is_dataclass(p.annotation)}
    fields = {n: inspect.signature(g, eval_str=True).parameters for n, g in groups.items()}
    options = [o for p in given for o in fields.get(p.name, {p.name: p}).values()]
    shared = {p.name for p in options} & set(common)

    @functools.wraps(command)
    def run(**given: Any) -> None:
        source = _parameters(**{name: given[name] for name in common})
        kept = {k: x for k, x in given.items() if k not in ({**common, **scale}) or k in shared}
        for name, group in groups.items():
            kept[name] = group(**{option: kept.pop(option) for option in fields[name]})
        if not partitions:
            if is_scan(source.path):
                raise InputError(
                    f"FILE: this command needs all records on one machine, and takes one file, not "
                    f"{str(source.path)!r}"
                )
            command(source, **kept)
            return
        scans = _scale_parameters(**{name: given[name] for name in scale})
        with scans.running():
            command(replace(source, scans=scans), **kept)

    file, *reading = (p for p in common.values() if p.name not in shared)
    first = [p for p in options if p.name in before]
    rest = [p for p in options if p.name not in before]
    parameters = [
        p.replace(kind=p.KEYWORD_ONLY) for p in (*first, file, *rest, *reading, *scale.values())
    ]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in parameters}
    return run
