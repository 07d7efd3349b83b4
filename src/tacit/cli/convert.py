"""``tacit convert``: from any format to the one that is mapped into memory at once."""

from __future__ import annotations

from typing import Annotated

import typer

import tacit
from tacit.cli.options import Output
from tacit.cli.output import echo, working
from tacit.cli.reading import Source, reads_file

__all__ = ["COMMAND", "convert"]


def convert(
    source: Source,
    output: Output,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the table in a folder that is there.")
    ] = False,
) -> None:
    """Read a table in any format and save it for tacit, which then opens it without parsing.

    Of several files, or with --memory, OUT is a folder with a file for each partition.

    Example: `tacit convert visits.csv -o visits.tacit`
    """
    table = source.read_table()
    if isinstance(table, tacit.PartitionedTable):
        made = table.materialise(output, overwrite=overwrite, n_jobs=source.n_jobs)
        echo(f"{output}: {made!r}")
        return
    with working(f"writing {output}"):
        table.save(output)
    echo(f"{output}: {table.summary().line()}")


COMMAND = reads_file(convert, partitions=True)
