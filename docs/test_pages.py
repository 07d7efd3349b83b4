"""The pages say what is so: every public name is listed, and commands print what they print."""

from __future__ import annotations

import doctest
import inspect
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

import tacit

DOCS = Path(__file__).parent
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def test_reference_lists_every_public_name():
    listed = set(re.findall(r"^   ([\w.]+)$", (DOCS / "api/index.rst").read_text("utf-8"), re.M))
    modules = {name for name in tacit.__all__ if inspect.ismodule(getattr(tacit, name))}
    public = {*tacit.__all__} - modules
    for module in (tacit.datasets, tacit.scale):
        public |= {*module.__all__}
    for name in ("baskets", "metrics", "mixture", "network", "rules", "similarity", "tree"):
        module = getattr(tacit, name)
        public |= {f"{name}.{own}" for own in module.__all__ if own not in tacit.__all__}
    assert not public - listed
    for name in listed - public:  # of the other packages, those that a user meets
        package, _, attribute = name.partition(".")
        assert hasattr(getattr(tacit, package), attribute), name


def sessions():
    """Yield each ``$ tacit …`` of the command-line page with the output shown below it."""
    page = (DOCS / "guide/command-line.md").read_text("utf-8")
    for block in re.findall(r"^```console\n(.*?)^```", page, re.M | re.S):
        for session in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, shown = session.partition("\n")
            yield command, shown


def test_commands_print_what_the_page_shows():
    from tacit.cli import app

    for command, shown in sessions():
        words = shlex.split(command)
        if words[0] == "cat":
            Path(words[1]).write_text(shown, "utf-8")
            continue
        assert words[0] == "tacit", command
        result = CliRunner().invoke(app, words[1:], env={"COLUMNS": "100"})
        printed = result.output
        assert result.exception is None or isinstance(result.exception, SystemExit), command
        if not doctest.OutputChecker().check_output(shown, printed, FLAGS):
            pytest.fail(f"$ {command}\n{printed}\nThe page shows:\n{shown}")
