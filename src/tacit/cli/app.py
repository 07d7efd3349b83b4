"""The ``tacit`` command: what its parts are, and what happens when one fails."""

from __future__ import annotations

import io
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import tacit
from tacit.cli import (
    adtree,
    bayes_net,
    classify,
    cluster,
    convert,
    count,
    demo,
    dependency_network,
    dependency_tree,
    find_rules,
    pairs,
    predict,
    rules,
    select,
    show,
    summary,
    table,
    tree,
)
from tacit.errors import InputError

__all__ = ["app", "main"]


class Commands(TyperGroup):
    """Commands that turn what is wrong with their input into one line on stderr."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command; exit with 1 if it cannot use what it was given."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:  # whoever reads the output has seen enough
            raise
        except (InputError, OSError) as error:
            problem = str(error)
        except MemoryError:
            problem = "there is not enough memory"
        typer.echo(f"error: {' '.join(problem.split())}", err=True)
        raise typer.Exit(1)


app = typer.Typer(
    cls=Commands,
    name="tacit",
    help="Count and learn from sparse and discrete data: what equals its default is never visited.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"tacit {tacit.__version__}")
        raise typer.Exit()


@app.callback()
def _tacit(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Take the options that stand before the command."""


for family in (
    summary, count, table, pairs, cluster, tree, classify, dependency_network, dependency_tree,
    bayes_net, select, find_rules, rules, predict, show, convert, adtree, demo,
):  # fmt: skip
    family.register(app)


def main() -> None:
    """Run the command line; the entry point of ``tacit`` and ``python -m tacit``."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a × must not end the program
    app(prog_name="tacit")
