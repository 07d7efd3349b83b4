"""``tacit adtree``: counts cached in a file, for `tacit table` and `tacit count` to take."""

from __future__ import annotations

from time import perf_counter
from typing import Annotated

import typer

import tacit
from tacit.cli.options import Output
from tacit.cli.output import make_console, put, working
from tacit.cli.reading import Source, reads_file
from tacit.cli.render import facts_grid
from tacit.errors import InputError

__all__ = ["COMMAND", "adtree"]


def adtree(
    source: Source,
    output: Output,
    leaf_size: Annotated[
        int,
        typer.Option(
            min=1, help="Fewer records than this are listed and counted, not divided further."
        ),
    ] = 16,
    max_depth: Annotated[
        int | None,
        typer.Option(min=0, help="Combinations of this many values are not divided further."),
    ] = None,
    memory_limit: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="Memory that the tree may take, such as 200MB or 2GiB; by default half of what "
            "is free.",
        ),
    ] = None,
    min_count: Annotated[
        int,
        typer.Option(
            min=1, help="Keep no smaller count; above 1, tables are approximate, within bounds."
        ),
    ] = 1,
    lazy: Annotated[
        bool,
        typer.Option(
            "--lazy/--full",
            help="Make the counts of single columns only, or the whole tree. A lazy tree grows "
            "when it is asked, in memory.",
        ),
    ] = False,
) -> None:
    """Build an ADtree and save it, with the table it is of.

    `tacit table` and `tacit count` then take it in place of FILE, and `tacit.load` in Python. Of a
    folder or a pattern of files, or with --memory, it is the tree of the distinct records.

    The numbers of nodes below those of the tree are what theory says: to be expected if columns
    were independent, and at most.

    Example: `tacit adtree visits.csv -o visits.tree.tacit --memory-limit 200MB`
    """
    if output.suffix != ".tacit":
        raise InputError(f"--output: {str(output)!r} must end in .tacit")
    from tacit.machine import parse_bytes

    limit = None if memory_limit is None else parse_bytes(memory_limit, "--memory-limit")
    table = source.read_table()
    start = perf_counter()
    with working("building the tree"):
        tree = tacit.ADTree(
            table,
            leaf_size=leaf_size,
            max_depth=max_depth,
            memory_limit=limit,
            min_count=min_count,
        ).build(full=not lazy)
    seconds = perf_counter() - start
    with working(f"writing {output}"):
        tree.save(output)
    console = make_console()
    console.print(f"{output}: {tree!r}", soft_wrap=True)
    console.print()
    put(console, facts_grid([*tree.stats().rows(), ("seconds to build", f"{seconds:.2f}")]))


COMMAND = reads_file(adtree, partitions=True)
