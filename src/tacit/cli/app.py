"""The ``tacit`` command: which commands there are, and what happens when one fails.

A command is a module of this package with a function of the command's name, given to Typer when it
is asked for. Modules import what they compute with inside their functions, so that ``tacit --help``
and completion stay quick.
"""

from __future__ import annotations

import io
import re
import sys
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

import tacit
from tacit.errors import InputError, did_you_mean
from tacit.terminal import visible

__all__ = ["COMMANDS", "app", "main"]

COMMANDS = (
    "explore", "summary", "count", "table", "pairs", "cluster", "tree", "classify",
    "dependency-network", "dependency-tree", "density", "bayes-net", "select", "find-rules",
    "rules", "itemsets", "association-rules", "significant-rules", "recommend", "predict", "show",
    "convert", "adtree", "demo",
)  # fmt: skip

# What estimators call things that are not options of the same name.
_ARGUMENTS = {
    "X": "FILE", "y": "--target", "sample_weight": "--weights", "data": "FILE", "paths": "FILE",
    "query": "--sql",
}  # fmt: skip


class _Flags:
    """Lets the help show flags as flags, which take no value."""

    def get_params(self, ctx: Any) -> list[Any]:
        parameters: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for parameter in parameters:
            if getattr(parameter, "is_flag", False):
                parameter.metavar = ""
        return parameters


class Command(_Flags, TyperCommand):
    """One command."""


class Commands(_Flags, TyperGroup):
    """Commands that are imported when they are asked for, and whose errors name options."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the commands, in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Import a command."""
        if cmd_name in COMMANDS and cmd_name not in self.commands:
            self.commands[cmd_name] = _import_command(cmd_name)
        return self.commands.get(cmd_name)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command that is meant; where there is none, say which name is close."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            ctx.fail(f"No such command {args[0]!r}{did_you_mean(args[0], COMMANDS) or '.'}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run the command; exit with 1 if it cannot use what it was given."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:  # whoever reads the output has seen enough
            raise
        except InputError as error:
            problem = _name_option(str(error), self.commands[ctx.invoked_subcommand])
        except OSError as error:
            problem = str(error)
        except MemoryError:
            problem = "there is not enough memory"
        typer.echo(f"error: {visible(' '.join(problem.split()))}", err=True)
        raise typer.Exit(1)


def _import_command(name: str) -> Any:
    module = import_module(f"tacit.cli.{name.replace('-', '_')}")
    single = typer.Typer(
        add_completion=False,
        rich_markup_mode="markdown",
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    single.command(name, cls=Command)(module.COMMAND)
    return typer.main.get_command(single)


def _name_option(problem: str, command: Any) -> str:
    """Let a message speak of options where it names Python arguments.

    These are the word that it begins with, also after a file, and words with an underscore.
    """
    options = {p.name: max(p.opts, key=len) for p in command.params if p.opts[0].startswith("-")}
    first, rest = re.match(r"(\w*)(.*)", problem, re.DOTALL).groups()  # type: ignore[union-attr]
    rest = re.sub(r"(?<=: )\w+(?=:)", lambda m: options.get(m[0], m[0]), rest, count=1)
    if rest[:1] in (" ", ":", ",", "[", "="):
        first = options.get(first) or _ARGUMENTS.get(first, first)
    return first + re.sub(r"(?<![\w'-])[a-z]+(?:_[a-z]+)+", lambda m: options.get(m[0], m[0]), rest)


app = typer.Typer(
    cls=Commands,
    name="tacit",
    help="Count and learn from sparse and discrete data: what equals its default is never visited.",
    no_args_is_help=True,
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


def main() -> None:
    """Run the command line; for ``tacit.__main__``."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a × must not end the program
    app(prog_name="tacit")
