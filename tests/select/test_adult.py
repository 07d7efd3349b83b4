"""A public data set: the search against counting and entropies by NumPy."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

from tacit import BestSubset, read

NAMES = [
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation",
    "relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week",
    "native-country", "class",
]  # fmt: skip
NUMBERS = ("age", "fnlwgt", "capital-gain", "capital-loss", "hours-per-week")


@pytest.fixture(scope="module")
def adult():
    path = Path(__file__).parents[2].parent / "shared" / "data" / "adult" / "adult.data.xz"
    if not path.is_file():
        pytest.skip(f"no data set at {path}")
    options = {"separator": ", ", "header": False, "names": NAMES, "null_values": "?"}
    return read(path, discretise=dict.fromkeys(NUMBERS, 8), **options)


def entropy(cells):
    fractions = np.bincount(cells) / len(cells)
    fractions = fractions[fractions > 0]
    return -(fractions * np.log(fractions)).sum()


def test_pairs_by_numpy(adult):
    codes = adult.to_numpy()
    arities = adult.schema.arities
    y = codes[:, 14]
    gains = {}
    for a, b in itertools.combinations(range(14), 2):
        together = codes[:, a] * arities[b] + codes[:, b]
        gains[a, b] = entropy(together) + entropy(y) - entropy(together * 2 + y)
    order = sorted(gains, key=lambda pair: (-round(gains[pair], 10), pair))
    best = BestSubset(2, n_best=91).fit(adult, "class")
    names = adult.schema.names
    assert [s.columns for s in best.ranking_] == [(names[a], names[b]) for a, b in order]
    assert [s.score for s in best.ranking_] == pytest.approx([gains[p] for p in order], abs=1e-10)
