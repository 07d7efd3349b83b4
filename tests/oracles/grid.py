"""Slow answers about grids and near pairs: fractions, dictionaries, one pair after another."""

import math
from fractions import Fraction
from itertools import combinations, product

import numpy as np


def cell(x, lower, upper, resolution):
    """The interval of a number, by exact arithmetic."""
    if not upper > lower:
        return 0
    fraction = (Fraction(x) - Fraction(lower)) / (Fraction(upper) - Fraction(lower))
    return min(max(math.floor(fraction * resolution), 0), resolution - 1)


def cells(coords, lower, upper, resolution):
    return [
        tuple(cell(*one) for one in zip(row, lower, upper, resolution, strict=True))
        for row in np.asarray(coords, float)
    ]


def near(a, b):
    return all(abs(i - j) <= 1 for i, j in zip(a, b, strict=True))


def near_pairs(blocks):
    """All near pairs of objects, the lower number first."""
    return {(i, j) for i, j in combinations(range(len(blocks)), 2) if near(blocks[i], blocks[j])}


def near_across(rows, columns):
    return {(i, j) for (i, a), (j, b) in product(enumerate(rows), enumerate(columns)) if near(a, b)}


def measure(kind, scale, x, y):
    x, y = np.asarray(x, float), np.asarray(y, float)
    squared = math.fsum((a - b) ** 2 for a, b in zip(x, y, strict=True))
    if kind == "squared_distance":
        return squared
    if kind == "distance":
        return math.sqrt(squared)
    if kind == "exponential":
        return math.exp(-scale * math.sqrt(squared))
    if kind == "rbf":
        return math.exp(-scale * squared)
    lengths = math.sqrt(math.fsum(x * x)) * math.sqrt(math.fsum(y * y))
    return math.fsum(x * y) / lengths if lengths > 0 else 0.0


def matrix(pairs, kind, scale, X, Y):
    """The dense matrix of similarities of given pairs; NaN elsewhere."""
    dense = np.full((len(X), len(Y)), np.nan)
    for i, j in pairs:
        dense[i, j] = measure(kind, scale, X[i], Y[j])
    return dense
