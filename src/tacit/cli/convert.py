"""``tacit convert``: from any format to the one that is mapped into memory at once."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - Typer looks at annotations
from typing import Annotated

import typer

from tacit.cli.output import working
from tacit.cli.reading import Source, reads_file
from tacit.scale import PartitionedTable

__all__ = ["COMMAND", "convert"]


def convert(
    source: Source,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="OUT", help="The file or folder to write.")
    ],
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the table in a folder that is there.")
    ] = False,
) -> None:
    """Read a table in any format and save it for tacit, which then opens it without parsing.

    Of several files, or with --memory, OUT is a folder with a file for each partition.
    """
    table = source.read_table()
    if isinstance(table, PartitionedTable):
        made = table.materialise(output, overwrite=overwrite, n_jobs=source.n_jobs)
        typer.echo(f"{output}: {made!r}")
        return
    with working(f"writing {output}"):
        table.save(output)
    typer.echo(f"{output}: {table.summary().line()}")


COMMAND = reads_file(convert, partitions=True)
