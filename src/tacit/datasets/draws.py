"""Vectorised draws that every generator is made of.

Weights are rounded to whole numbers before anything is drawn from them, so that the last bit of a
platform's ``exp`` or ``pow`` does not decide what a seed gives.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "cumulate",
    "fill_distinct",
    "pick",
    "round_to_total",
    "scale_to_total",
    "zipf_weights",
]

Whole: TypeAlias = NDArray[np.int64]
Real: TypeAlias = NDArray[np.float64]

_SHIFT = 2.7  # Mandelbrot's: without it the first column would be in most records
_TOTAL = 2**50  # what whole weights add up to; a power of two, so that no draw is ever rejected
_BLOCK = 2**18  # draws held at once
_ROUNDS = 30


def zipf_weights(n: int, exponent: float) -> Real:
    """Return weights in proportion to (k + 2.7)^-exponent for the ranks k = 1, 2, …, n.

    >>> zipf_weights(3, 1.0).round(2)
    array([1.  , 0.79, 0.65])
    """
    weights: Real = np.power((np.arange(1, n + 1) + _SHIFT) / (1 + _SHIFT), -exponent)
    return weights


def cumulate(weights: Real) -> Whole:
    """Round weights to whole numbers, none of them 0, and add them up for :func:`pick`."""
    total = float(weights.sum()) or 1.0  # where all have underflown, all are equal
    whole = np.maximum(np.rint(weights / total * _TOTAL).astype(np.int64), 1)
    whole[np.argmax(whole)] += _TOTAL - int(whole.sum())
    return np.cumsum(whole)


def pick(rng: np.random.Generator, cumulated: Whole, size: int) -> Whole:
    """Draw places in proportion to their weights, with replacement."""
    at = rng.integers(0, cumulated[-1], size, dtype=np.int64)
    return np.searchsorted(cumulated, at, side="right")


def scale_to_total(weights: Real, total: float, least: float, most: float) -> Real:
    """Return ``clip(weights * s, least, most)`` with the s that gives the total.

    >>> scale_to_total(np.array([1.0, 2.0, 7.0]), 12.0, 0.0, 6.0).round(6)
    array([2., 4., 6.])
    """
    low, high = 0.0, 1.0
    while np.clip(weights * high, least, most).sum() < total and high < 2.0**200:
        low, high = high, high * 2
    for _ in range(60):
        middle = (low + high) / 2
        if np.clip(weights * middle, least, most).sum() < total:
            low = middle
        else:
            high = middle
    return np.clip(weights * high, least, most)


def round_to_total(
    rng: np.random.Generator, numbers: Real, total: int, least: int, most: int
) -> Whole:
    """Round numbers up or down at random, without bias, until they add up to the total.

    All results are in [least, most], which must allow the total.
    """
    whole = np.floor(numbers + rng.random(len(numbers))).astype(np.int64)
    whole = np.clip(whole, least, most)
    while gap := total - int(whole.sum()):
        movable = np.flatnonzero(whole < most if gap > 0 else whole > least)
        chosen = rng.permutation(movable)[: abs(gap)]
        whole[chosen] += 1 if gap > 0 else -1
    return whole


def fill_distinct(
    rng: np.random.Generator,
    cumulated: Whole,
    lengths: Whole,
    starts: Whole,
    out: NDArray[Any],
    held: Whole | None = None,
) -> None:
    """Draw distinct places for each row, one after another in proportion to their weights.

    Parameters
    ----------
    rng : Generator
    cumulated : int64 array of shape (n,)
        The weights, as :func:`cumulate` gives them.
    lengths : int64 array
        How many places each row is to have, at most n.
    starts : int64 array
        Where in `out` each row's places go, ascending.
    out : integer array
    held : int64 array, optional
        Ascending keys ``row * n + place`` of what rows have already, at most `lengths` each.
    """
    n = len(cumulated)
    if held is None:
        held = np.zeros(0, np.int64)
    ends = np.cumsum(lengths)
    first = 0
    while first < len(lengths):
        # Blocks bound the memory; a row longer than a block is a block of its own.
        before = int(ends[first] - lengths[first])
        last = max(first + 1, int(np.searchsorted(ends, before + _BLOCK, side="right")))
        own = lengths[first:last]
        mine = slice(*np.searchsorted(held, [first * n, last * n]))
        keys = _distinct_keys(rng, cumulated, own, held[mine] - first * n)
        shifts = starts[first:last] - (ends[first:last] - own - before)
        out[np.repeat(shifts, own) + np.arange(len(keys))] = keys % n
        first = last


def _distinct_keys(
    rng: np.random.Generator, cumulated: Whole, lengths: Whole, held: Whole
) -> Whole:
    """Return the sorted keys of a block of rows.

    To draw with replacement and pass over what is there already is to draw without replacement.
    """
    n = len(cumulated)
    slow = lengths > n // 4  # would wait long for its rarest places
    rows = np.flatnonzero(~slow & (lengths > 0))
    keys = held
    finished = []
    for _ in range(_ROUNDS):
        if len(rows) == 0:
            break
        has = np.bincount(keys // n, minlength=len(lengths))[rows]
        wanting = np.repeat(rows, lengths[rows] - has)
        keys = np.concatenate((keys, wanting * n + pick(rng, cumulated, len(wanting))))
        keys.sort()
        keys = keys[np.diff(keys, prepend=-1) > 0]
        owners = keys // n
        full = (np.bincount(owners, minlength=len(lengths)) == lengths) & ~slow
        finished.append(keys[full[owners]])
        keys = keys[~full[owners]]
        rows = rows[~full[rows]]
    slow[rows] = True
    finished.extend(_race(rng, cumulated, lengths, np.flatnonzero(slow), keys))
    return np.sort(np.concatenate(finished)) if finished else keys


def _race(
    rng: np.random.Generator, cumulated: Whole, lengths: Whole, rows: Whole, held: Whole
) -> list[Whole]:
    """Draw without replacement by exponential clocks: the first to ring are taken.

    O(rows × n), for the few rows that have a good part of all places.
    """
    n = len(cumulated)
    weights = np.diff(cumulated, prepend=0).astype(np.float64)
    step = max(1, _BLOCK // n)
    keys = []
    for first in range(0, len(rows), step):
        some = rows[first : first + step]
        clocks = rng.standard_exponential((len(some), n)) / weights
        mine = held[np.isin(held // n, some)]
        clocks[np.searchsorted(some, mine // n), mine % n] = -1.0
        order = np.argsort(clocks, axis=1, kind="stable")
        taken = np.arange(n) < lengths[some][:, None]
        keys.append((some[:, None] * n + order)[taken])
    return keys
