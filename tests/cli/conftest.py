"""Files to run commands on, and a runner that looks like a pipe."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

import tacit
from tacit.cli import app


@pytest.fixture
def run():
    """Run a command and return its result: exit_code, stdout, stderr."""
    plain = {"FORCE_COLOR": None, "TTY_COMPATIBLE": "0", "NO_COLOR": "1", "COLUMNS": "80"}

    def run_command(*arguments):
        result = CliRunner(env=plain).invoke(app, [str(x) for x in arguments])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return run_command


@pytest.fixture(scope="session")
def visits():
    return tacit.datasets.load_visits()


@pytest.fixture(scope="session")
def visits_file(visits, tmp_path_factory):
    path = tmp_path_factory.mktemp("visits") / "visits.tacit"
    visits.save(path)
    return path


@pytest.fixture(scope="session")
def mixed():
    """Labels of several types, weights, a missing value, and names that look like something."""
    return tacit.Table(
        {
            "rooms": [1, 2, 2, 3, 2],
            "sold": [False, True, False, False, True],
            "town": ["Köln", "Ulm", None, "Ulm", "Ulm"],
            "a=b": ["x=y", "z", "z", "z", "z"],
            "[red]size[/red]": [0, 0, 7, 7, 7],
        },
        weights=[1, 2, 1, 0.5, 1],
    )


@pytest.fixture(scope="session")
def mixed_file(mixed, tmp_path_factory):
    path = tmp_path_factory.mktemp("mixed") / "mixed.tacit"
    mixed.save(path)
    return path
