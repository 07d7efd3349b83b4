"""Westfall and Young's permutation test as one writes it in NumPy: all conjunctions, all labels."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import gammaln

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

_BLOCK = 256  # conjunctions, or parents of some, at a time


class Hypotheses(NamedTuple):
    """The distinct sets of records that conjunctions have: a row of bits for each."""

    bits: NDArray[np.uint64]  # hypotheses × words
    support: NDArray[np.int64]
    seconds: float  # to find them

    def place_of(self, records: NDArray[np.bool_]) -> int:
        """Return the number of the hypothesis of these records."""
        return int(np.flatnonzero((self.bits == pack(records[None])).all(axis=1))[0])


def pack(held: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Return rows of bools as rows of bits."""
    n_bytes = -(-held.shape[1] // 64) * 8
    packed = np.zeros((len(held), n_bytes), np.uint8)
    packed[:, : -(-held.shape[1] // 8)] = np.packbits(held, axis=1)
    return packed.view(np.uint64)


def counts(bits: NDArray[np.uint64]) -> NDArray[np.int64]:
    return np.bitwise_count(bits).sum(axis=1, dtype=np.int64)


def items_of(frame: pl.DataFrame) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Return which records hold each ``column = label``, and the column of each.

    Of columns of False and True, only True is asked for.
    """
    held, columns = [], []
    for c, name in enumerate(frame.columns):
        values = frame[name].to_numpy()
        labels = [True] if values.dtype == np.bool_ else frame[name].unique().to_list()
        for label in labels:
            mask = frame[name].is_null().to_numpy() if label is None else values == label
            if 0 < mask.sum() < len(mask):
                held.append(np.asarray(mask, np.bool_))
                columns.append(c)
    return np.array(held), np.array(columns)


def find_hypotheses(frame: pl.DataFrame, max_size: int) -> Hypotheses:
    """Find all conjunctions of at most `max_size` items that some records hold, but not all."""
    start = time.perf_counter()
    held, columns = items_of(frame)
    single = pack(held)
    level, last = single, np.arange(len(single))
    levels = [level]
    for _ in range(1, max_size):
        longer, ends = [], []
        for item in range(len(single)):
            parents = np.flatnonzero((last < item) & (columns[last] != columns[item]))
            for begin in range(0, len(parents), _BLOCK):
                both = level[parents[begin : begin + _BLOCK]] & single[item]
                both = both[both.any(axis=1)]
                longer.append(both)
                ends.append(np.full(len(both), item))
        level, last = np.concatenate(longer), np.concatenate(ends)
        levels.append(level)
    bits = np.concatenate(levels)
    # Two sums of products with random numbers: equal by accident never in practice.
    factors = np.random.default_rng(0).integers(2**63, size=(bits.shape[1], 2), dtype=np.uint64) | 1
    prints = np.empty((len(bits), 2), np.uint64)
    for begin in range(0, len(bits), _BLOCK):
        block = bits[begin : begin + _BLOCK]
        block = block ^ block >> np.uint64(29)
        prints[begin : begin + _BLOCK] = block @ factors
    _, first = np.unique(prints, axis=0, return_index=True)
    bits = bits[np.sort(first)]
    return Hypotheses(bits, counts(bits), time.perf_counter() - start)


class FisherTable(NamedTuple):
    """Two-sided p-values of Fisher's test, of each support there is and number of positives."""

    begin: NDArray[np.int64]  # of a support, less its lowest number of positives
    p_values: NDArray[np.float64]
    least: NDArray[np.float64]  # of each support
    seconds: float

    @classmethod
    def of(cls, n: int, positives: int, support: NDArray[np.int64]) -> FisherTable:
        """Add up hypergeometric probabilities that are no greater than that of the table."""
        start = time.perf_counter()
        log_factorial = gammaln(np.arange(n + 2) + 1.0)
        begin, least, parts, at = np.full(n + 1, -1), np.ones(n + 1), [], 0
        for s in np.unique(support).tolist():
            low, high = max(0, s - n + positives), min(s, positives)
            k = np.arange(low, high + 1)
            log_mass = (
                (log_factorial[positives] - log_factorial[k] - log_factorial[positives - k])
                + (log_factorial[n - positives] - log_factorial[s - k])
                - log_factorial[n - positives - s + k]
                - (log_factorial[n] - log_factorial[s] - log_factorial[n - s])
            )
            order = np.sort(log_mass)
            ends = np.searchsorted(order, log_mass + 1e-7, side="right")  # as SciPy's, ties within
            parts.append(np.minimum(np.cumsum(np.exp(order))[ends - 1], 1.0))
            least[s] = parts[-1].min()
            begin[s] = at - low
            at += len(k)
        return cls(begin, np.concatenate(parts), least, time.perf_counter() - start)

    def __call__(self, support: NDArray[Any], positives: NDArray[Any]) -> NDArray[np.float64]:
        """Return p-values."""
        return np.asarray(self.p_values[self.begin[support] + positives])


def permute(labels: NDArray[np.bool_], n: int, seed: int) -> NDArray[np.bool_]:
    """Return permuted labels, a row for each permutation."""
    rng = np.random.default_rng(seed)
    return np.array([rng.permutation(labels) for _ in range(n)])


def one_by_one(
    found: Hypotheses, table: FisherTable, permuted: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return the least p-value of each permutation: a product of bits with each set of labels."""
    minima = np.ones(len(permuted))
    for b, labels in enumerate(pack(permuted)):
        for begin in range(0, len(found.bits), _BLOCK):  # a block stays in the cache
            part = slice(begin, begin + _BLOCK)
            positives = counts(found.bits[part] & labels)
            minima[b] = min(minima[b], table(found.support[part], positives).min())
    return minima


def all_at_once(
    found: Hypotheses, table: FisherTable, permuted: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return the same by products of matrices: single precision counts exactly up to 2^24."""
    n = permuted.shape[1]
    labels = np.ascontiguousarray(permuted.T, np.float32)
    minima = np.ones(len(permuted))
    for begin in range(0, len(found.bits), _BLOCK):
        part = slice(begin, begin + _BLOCK)
        held = np.unpackbits(found.bits[part].view(np.uint8), axis=1, count=n)
        positives = (held.astype(np.float32) @ labels).astype(np.int64)
        p_values = table(found.support[part][:, None], positives)
        np.minimum(minima, p_values.min(axis=0), out=minima)
    return minima
