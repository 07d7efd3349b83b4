"""``tacit explore``: any cut of the data, in the browser or in one file."""

from __future__ import annotations

import shlex
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import tacit
from tacit.cli.options import Target, output_option
from tacit.cli.output import echo, working
from tacit.cli.reading import Source, reads_file
from tacit.errors import FileError, InputError

if TYPE_CHECKING:
    from tacit.explore import Explorer

__all__ = ["COMMAND", "explore"]


def explore(
    source: Source,
    target: Target | None = None,
    against: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE2",
            help="Other records, read as FILE is: a column says which file a record is of, and the "
            "page begins with FILE (A) against FILE2 (B).",
        ),
    ] = None,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The port to serve at; 0 for one that is free.")
    ] = 0,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in the browser.")
    ] = True,
    output: Annotated[
        Path | None,
        output_option(
            metavar="OUT.html",
            help="Write the page as one file, which needs neither server nor network, and end. It "
            "holds the records as they are shown.",
        ),
    ] = None,
    max_records: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="With -o: of more distinct records than N, the file holds a sample of N, and "
            "shows the 95% intervals of counts of more than two columns.",
        ),
    ] = None,
) -> None:
    """Look at a table in the browser: every column at once, and what a selection does to them.

    A folder or a pattern of files, or any file with --memory, is read in partitions. What is kept
    are the distinct records as they are shown; where these are more than the limit lets in, every
    question is a pass over the files.

    Serves this machine only, to whoever has the address that is printed. Ctrl-C ends it; the
    address of the page, behind `#`, has what is selected, for the next time.

    Example: `tacit explore adult.csv --target class`
    """
    if output is not None and output.suffix not in (".html", ".htm"):
        raise InputError(f"--output: {str(output)!r} must end in .html")
    if max_records is not None and output is None:
        raise InputError("--max-records: this is about the file of -o OUT.html")
    serves = output is None
    if serves and find_spec("uvicorn") is None:
        raise InputError("this needs Starlette and uvicorn: pip install 'tacit[explore]'")
    from tacit.explore import Explorer

    source = source.without_idle_target()
    table: tacit.Table | tacit.PartitionedTable
    table, start = source.read_table() if source.partitioned else _table(source), ""
    if against is not None:
        if not isinstance(table, tacit.Table):
            raise InputError("--against compares files that are read as a whole, not partitions")
        table, start = _both(table, source, against)
    explorer = Explorer(
        table, target=target, title=source.path.name, start=start, **_said(source, against)
    )
    if not isinstance(table, tacit.Table):
        with working("counting the distinct records"):
            explorer.counter  # noqa: B018
    if output is not None:
        _write(explorer, output, max_records)
        return
    from tacit.explore.server import Server

    server = Server(explorer, port)
    echo(f"{server.url}")
    echo("Ctrl-C ends it.", err=True)
    server.run(browser=browser)


def _write(explorer: Explorer, output: Path, max_records: int | None) -> None:
    """Write the page as one file."""
    from tacit.explore.offline import write_page
    from tacit.machine import human_bytes

    with working(f"writing {output}"):
        size = write_page(explorer, output, max_records)
    echo(f"{output}: {human_bytes(size)}, {explorer.views.n_records:,} records")


def _table(source: Source) -> tacit.Table:
    """Return the table of a file; that of a saved tree of counts is its own."""
    saved = source.read_any()
    if isinstance(saved, tacit.counts.Counter):
        saved = saved.records
    if not isinstance(saved, tacit.Table):
        raise FileError(source.path, f"holds a saved {type(saved).__name__}, not a table")
    return saved


def _both(table: tacit.Table, source: Source, against: Path) -> tuple[tacit.Table, str]:
    """Return the records of two files, and the state that compares them."""
    from dataclasses import replace

    from tacit.explore.files import beside

    other = _table(replace(source, path=against))
    with working("putting both together"):
        return beside([(source.path.name, table), (against.name, other)])


def _said(source: Source, against: Path | None) -> dict[str, str]:
    """Return the Python code and the options of commands that read the same."""
    given = {name: x for name, x in source.options.items() if name != "n_jobs"}
    arguments = "".join(f", {name}={value!r}" for name, value in given.items())
    reads = "scan" if source.partitioned else "read"
    code = f"tacit.{reads}({str(source.address)!r}{arguments})"
    if against is not None:
        return {"code": f"...  # {code} beside {str(against)!r}"}
    return {"code": code, "file": " ".join([shlex.quote(str(source.path)), *_flags(given)])}


def _flags(options: dict[str, Any]) -> list[str]:
    flags = []
    for name, value in options.items():
        flag = f"--{name.replace('_', '-').removesuffix('s') if name == 'null_values' else name}"
        if isinstance(value, bool):
            flags.append(f"--{name}" if value else f"--no-{name}")
        elif isinstance(value, dict):
            flags += [f"--{name} {shlex.quote(f'{k}={x}')}" for k, x in value.items()]
        elif isinstance(value, (list, tuple)):
            flags += [f"{flag} {shlex.quote(str(x))}" for x in value]
        else:
            flags.append(f"{flag.replace('_', '-')} {shlex.quote(str(value))}")
    return flags


COMMAND = reads_file(explore, partitions=True)
