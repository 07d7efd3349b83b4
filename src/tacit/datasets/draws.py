"""Vectorised draws that every generator is made of.

Weights are rounded to whole numbers before anything is drawn from them, so that the last bit of a
platform's ``exp`` or ``pow`` does not decide what a seed gives.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tacit.machine import check_int

__all__ = [
    "cumulate",
    "fill_distinct",
    "generator",
    "pick",
    "pick_cluster",
    "round_to_total",
    "scale_to_total",
    "skewed_lengths",
    "zipf_weights",
]

Integers: TypeAlias = NDArray[np.int64]
Real: TypeAlias = NDArray[np.float64]

_SHIFT = 2.7  # Mandelbrot's: without it the first column would be in most records
_TOTAL = 2**50  # what rounded weights add up to; a power of two, so that no draw is ever rejected
_BLOCK = 2**18  # draws held at once
_ROUNDS = 30


def generator(random_state: Any) -> np.random.Generator:
    """Return NumPy's generator of a seed; a generator is taken as it is."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    return np.random.default_rng(check_int(random_state, "random_state", 0))


def zipf_weights(n: int, exponent: float) -> Real:
    """Return weights in proportion to (k + 2.7)^-exponent for the ranks k = 1, 2, …, n.

    >>> zipf_weights(3, 1.0).round(2)
    array([1.  , 0.79, 0.65])
    """
    weights: Real = np.power((np.arange(1, n + 1) + _SHIFT) / (1 + _SHIFT), -exponent)
    return weights


def cumulate(weights: Real) -> Integers:
    """Round weights to whole numbers, none of them 0, and add them up for :func:`pick`."""
    total = float(weights.sum()) or 1.0  # where all have underflown, all are equal
    rounded = np.maximum(np.rint(weights / total * _TOTAL).astype(np.int64), 1)
    rounded[np.argmax(rounded)] += _TOTAL - int(rounded.sum())
    return np.cumsum(rounded)


def pick(rng: np.random.Generator, cumulated: Integers, size: int) -> Integers:
    """Draw indices in proportion to their weights, with replacement."""
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
) -> Integers:
    """Round numbers up or down at random, without bias, until they add up to the total.

    All results are in [least, most], which must allow the total.
    """
    rounded = np.floor(numbers + rng.random(len(numbers))).astype(np.int64)
    rounded = np.clip(rounded, least, most)
    while gap := total - int(rounded.sum()):
        movable = np.flatnonzero(rounded < most if gap > 0 else rounded > least)
        chosen = rng.permutation(movable)[: abs(gap)]
        rounded[chosen] += 1 if gap > 0 else -1
    return rounded


def skewed_lengths(
    rng: np.random.Generator, activity: Real, total: int, least: int, most: int
) -> Integers:
    """Draw lengths in proportion to activity, in [least, most], that add up to the total."""
    return round_to_total(rng, scale_to_total(activity, total, least, most), total, least, most)


def pick_cluster(rng: np.random.Generator, n_clusters: int, size: int) -> Integers:
    """Draw a cluster for each of some records, by Zipf's law."""
    return pick(rng, cumulate(zipf_weights(n_clusters, 1.0)), size)


def fill_distinct(
    rng: np.random.Generator,
    cumulated: Integers,  # of shape (n,): the weights, as `cumulate` gives them
    lengths: Integers,  # how many indices each row is to have, at most n
    starts: Integers,  # where in `out` each row's indices go, ascending
    out: NDArray[Any],
    # Ascending keys ``row * n + index`` of what rows have already, at most `lengths` each.
    held: Integers | None = None,
) -> None:
    """Draw distinct indices for each row, one after another in proportion to their weights."""
    n = len(cumulated)
    if held is None:
        held = np.zeros(0, np.int64)
    ends = np.cumsum(lengths)
    first = 0
    while first < len(lengths):
        # Blocks bound the memory; a row longer than a block is one, too.
        before = int(ends[first] - lengths[first])
        last = max(first + 1, int(np.searchsorted(ends, before + _BLOCK, side="right")))
        in_block = lengths[first:last]
        held_keys = slice(*np.searchsorted(held, [first * n, last * n]))
        keys = _distinct_keys(rng, cumulated, in_block, held[held_keys] - first * n)
        shifts = starts[first:last] - (ends[first:last] - in_block - before)
        out[np.repeat(shifts, in_block) + np.arange(len(keys))] = keys % n
        first = last


def _distinct_keys(
    rng: np.random.Generator, cumulated: Integers, lengths: Integers, held: Integers
) -> Integers:
    """Return the sorted keys of a block of rows.

    To draw with replacement and pass over what is there already is to draw without replacement.
    """
    n = len(cumulated)
    slow = lengths > n // 4  # would wait long for its rarest indices
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
    rng: np.random.Generator, cumulated: Integers, lengths: Integers, rows: Integers, held: Integers
) -> list[Integers]:
    """Draw without replacement by exponential clocks: the first to ring are taken.

    O(rows × n), for the few rows that have many of all indices.
    """
    n = len(cumulated)
    weights = np.diff(cumulated, prepend=0).astype(np.float64)
    step = max(1, _BLOCK // n)
    keys = []
    for first in range(0, len(rows), step):
        some = rows[first : first + step]
        clocks = rng.standard_exponential((len(some), n)) / weights
        keys_held = held[np.isin(held // n, some)]
        clocks[np.searchsorted(some, keys_held // n), keys_held % n] = -1.0
        order = np.argsort(clocks, axis=1, kind="stable")
        taken = np.arange(n) < lengths[some][:, None]
        keys.append((some[:, None] * n + order)[taken])
    return keys
