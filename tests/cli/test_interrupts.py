"""Ctrl-C while a command is still importing: no traceback, and the status that shells expect."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

# Sends the signal when a module is looked for: moments that a clock would not hit twice.
SCRIPT = """
import os, signal, sys
import tacit  # the package itself is there when its entry point is called

class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            print("interrupted", flush=True)
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupt())
sys.argv = ["tacit", "summary", {path!r}]
from tacit.__main__ import main
main()
"""
MODULES = [
    "tacit.cli", "tacit.cli.app", "typer", "tacit.errors", "tacit.cli.summary", "numpy",
    "numpy._core.multiarray", "numpy.linalg", "narwhals", "polars", "tacit._core", "tacit.table",
]  # fmt: skip


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGINT to send to oneself")
@pytest.mark.parametrize("module", MODULES)
def test_an_interruption_of_an_import_is_quiet(tmp_path, module):
    path = tmp_path / "few.csv"
    path.write_text("a,b\n1,x\n2,y\n", encoding="utf-8")
    script = SCRIPT.format(module=module, path=str(path))
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout == "interrupted\n"
    assert (done.stderr.strip(), done.returncode) == ("", 130)


def test_the_command_is_that_entry_point():
    project = Path(__file__).parents[2] / "pyproject.toml"
    scripts = tomllib.loads(project.read_text(encoding="utf-8"))["project"]["scripts"]
    assert scripts == {"tacit": "tacit.__main__:main"}
