"""A public data set: the search against counting and entropies by NumPy."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from support.real_data import ADULT
from tacit import BestSubset, read

NUMBERS = ("age", "fnlwgt", "capital-gain", "capital-loss", "hours-per-week")


@pytest.fixture(scope="module")
def adult(shared_data):
    path = shared_data / "adult" / "adult.data.xz"
    return read(path, discretise=dict.fromkeys(NUMBERS, 8), **ADULT)


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
