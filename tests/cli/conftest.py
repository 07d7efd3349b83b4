"""Files to run commands on, and a runner that looks like a pipe."""

from __future__ import annotations

import pytest

import tacit
from support import commands


@pytest.fixture
def run():
    return commands.run


@pytest.fixture(scope="session")
def visits():
    return tacit.datasets.load_visits()


@pytest.fixture(scope="session")
def visits_file(visits, write):
    return write("visits.tacit", visits)


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
def mixed_file(mixed, write):
    return write("mixed.tacit", mixed)
