"""Market baskets: items that are bought together because they belong together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tacit.datasets.draws import cumulate, fill_distinct, generator, pick, zipf_weights
from tacit.datasets.mixture import presence_schema
from tacit.machine import check_int
from tacit.parameters import check_number
from tacit.table import Table
from tacit.table.gateway import MOST_RECORDS, value_type

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["make_baskets"]

_PATTERN = 4  # mean number of items in a pattern
_KEPT = 0.75  # fraction of a pattern's items that a basket with the pattern has
_FROM_PATTERNS = 0.75  # fraction of a basket's items that come from patterns
_BLOCK = 100_000  # baskets made at once


def make_baskets(
    n_records: int = 100_000,
    n_columns: int = 16_000,
    mean_length: float = 10,
    *,
    exponent: float = 1.0,
    n_patterns: int = 2000,
    random_state: int | np.random.Generator = 0,
) -> Table:
    """Draw market baskets, in the manner of Agrawal and Srikant.

    Patterns are small sets of items, some more common than others. A basket takes most of its items
    from a few patterns, of which it may miss some, and the rest one by one.

    Parameters
    ----------
    n_records, n_columns : int
        Baskets and items.
    mean_length : float, default 10
        Mean number of items in a basket; lengths are ``1 + Poisson(mean_length - 1)``.
    exponent : float, default 1.0
        Of Zipf's law, which the popularity of single items and of patterns follows.
    n_patterns : int, default 2000
    random_state : int or numpy.random.Generator, default 0

    Returns
    -------
    Table
        Columns "item 0", "item 1", … of False and True; item 0 is the most popular one outside
        patterns.

    Examples
    --------
    >>> from tacit.datasets import make_baskets
    >>> make_baskets(1000, 200, 5, n_patterns=30)
    Table of 1,000 records × 200 columns, 4,9... stored values (m·n/l = ...)
    """
    m = check_int(n_records, "n_records", 1, MOST_RECORDS)
    n = check_int(n_columns, "n_columns", 1)
    mean = check_number(mean_length, "mean_length", 1, n)
    skew = check_number(exponent, "exponent", 0)
    k = check_int(n_patterns, "n_patterns", 1)
    rng = generator(random_state)

    popularity = cumulate(zipf_weights(n, skew))
    lengths = np.minimum(1 + rng.poisson(mean - 1, m), n).astype(np.int64)
    indptr = np.concatenate(([0], np.cumsum(lengths)))
    values = np.empty(int(indptr[-1]), value_type(n))
    sizes = np.minimum(1 + rng.poisson(_PATTERN - 1, k), n).astype(np.int64)
    items = np.empty(int(sizes.sum()), np.int64)
    fill_distinct(rng, popularity, sizes, np.cumsum(sizes) - sizes, items)
    common = cumulate(zipf_weights(k, skew))
    for first in range(0, m, _BLOCK):
        block = lengths[first : first + _BLOCK]
        held = _from_patterns(rng, block, common, sizes, items, n)
        fill_distinct(rng, popularity, block, indptr[first : first + len(block)], values, held)
    return Table.from_stored(presence_schema("item", n), indptr, values)


def _from_patterns(
    rng: np.random.Generator,
    lengths: NDArray[np.int64],
    common: NDArray[np.int64],
    sizes: NDArray[np.int64],
    items: NDArray[np.int64],
    n: int,
) -> NDArray[np.int64]:
    """Return the sorted keys ``basket * n + item`` of what baskets take from patterns."""
    wanted = np.rint(lengths * _FROM_PATTERNS).astype(np.int64)
    # Enough patterns for all that is wanted, nearly always; what is missing comes one by one.
    draws = np.where(wanted > 0, 1 + wanted // 2, 0)
    baskets = np.repeat(np.arange(len(lengths)), draws)
    patterns = pick(rng, common, len(baskets))
    size = sizes[patterns]
    begin = (np.cumsum(sizes) - sizes)[patterns] - (np.cumsum(size) - size)
    item = items[np.repeat(begin, size) + np.arange(int(size.sum()))]
    keys = np.repeat(baskets, size) * n + item
    keys = keys[rng.random(len(keys)) < _KEPT]
    # The first of each item stays, and of these the first in the order of their patterns.
    keys = keys[np.sort(np.unique(keys, return_index=True)[1])]
    basket = keys // n
    rank = np.arange(len(keys)) - np.searchsorted(basket, basket)
    return np.sort(keys[rank < wanted[basket]])
