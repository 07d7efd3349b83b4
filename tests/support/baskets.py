"""Baskets for tests of itemsets."""

import numpy as np

ITEMS = tuple("abcdefgh")


def make_baskets(n=120, seed=0):
    """Draw baskets: a is in all of them, b in most, h in hardly any; c goes with d."""
    rng = np.random.default_rng(seed)
    held = rng.random((n, 8)) < [1, 0.8, 0.5, 0.3, 0.4, 0.5, 0.2, 0.03]
    held[:, 2] |= held[:, 3]
    return [{ITEMS[k] for k in np.flatnonzero(row)} for row in held]


BASKETS = make_baskets()
