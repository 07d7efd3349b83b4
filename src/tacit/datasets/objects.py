"""Numbers in clusters, and documents as the words they hold: data to compare objects by."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from tacit.datasets import draws
from tacit.errors import InputError
from tacit.machine import check_int
from tacit.parameters import check_number
from tacit.table.gateway import MOST_RECORDS

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["make_documents", "make_objects"]

_BLOCK = 2**20  # numbers drawn at once
_SKEW = 0.5  # standard deviation of the logarithm of a document's length


def make_objects(
    n_objects: int,
    n_columns: int = 54,
    *,
    n_clusters: int = 60,
    spread: float = 0.5,
    n_classes: int = 2,
    random_state: int | np.random.Generator = 0,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Draw objects with numbers, in round clusters, each of which belongs to a class.

    Centres of clusters are drawn from the standard normal distribution, objects from a narrower
    one around their centre. Clusters are of about the same size, and classes take turns.

    Parameters
    ----------
    n_objects, n_columns : int
    n_clusters : int, default 60
    spread : float, default 0.5
        The standard deviation of objects around their centre, in each column.
    n_classes : int, default 2
    random_state : int or numpy.random.Generator, default 0

    Returns
    -------
    X : float64 array of shape (n_objects, n_columns)
    y : int64 array of shape (n_objects,)
        Classes from 0 to ``n_classes - 1``.

    Examples
    --------
    >>> from tacit.datasets import make_objects
    >>> X, y = make_objects(1000, 8, n_clusters=5)
    >>> X.shape, sorted(set(y.tolist()))
    ((1000, 8), [0, 1])
    """
    n = check_int(n_objects, "n_objects", 1, MOST_RECORDS)
    d = check_int(n_columns, "n_columns", 1)
    k = check_int(n_clusters, "n_clusters", 1)
    width = check_number(spread, "spread", 0)
    classes = check_int(n_classes, "n_classes", 1, k)
    rng = draws.generator(random_state)
    centres = rng.standard_normal((k, d))
    clusters = rng.integers(0, k, n)
    X = np.empty((n, d))
    step = max(1, _BLOCK // d)
    for first in range(0, n, step):
        block = slice(first, first + step)
        rng.standard_normal(out=X[block])
        X[block] *= width
        X[block] += centres[clusters[block]]
    return X, clusters % classes


def make_documents(
    n_documents: int,
    n_words: int,
    *,
    length: float = 100.0,
    n_topics: int = 20,
    second_fraction: float = 0.1,
    concentration: float = 0.2,
    random_state: int | np.random.Generator = 0,
) -> tuple[sparse.csr_array, NDArray[np.int64]]:
    """Draw documents from two sources, as the sets of the words they hold.

    Words are of all degrees of popularity (Zipf's law). Each source has other topics, which
    change how popular a word is; documents of the second source, like papers among letters, are
    about four times as long.

    Parameters
    ----------
    n_documents, n_words : int
    length : float, default 100.0
        How many words a document holds on average.
    n_topics : int, default 20
        Of each source.
    second_fraction : float, default 0.1
        Fraction of the documents that are from the second source.
    concentration : float, default 0.2
        How alike topics are: factors of words have mean 1 and variance ``1 / concentration``.
    random_state : int or numpy.random.Generator, default 0

    Returns
    -------
    X : csr_array of shape (n_documents, n_words), float64
        1 where a document holds a word.
    y : int64 array of shape (n_documents,)
        0 or 1, the source.

    Examples
    --------
    >>> from tacit.datasets import make_documents
    >>> X, y = make_documents(500, 2000, length=30)
    >>> X.shape, X.nnz, int(y.sum())
    ((500, 2000), 15000, 50)
    """
    n = check_int(n_documents, "n_documents", 1, MOST_RECORDS)
    d = check_int(n_words, "n_words", 1)
    mean = check_number(length, "length", 1)
    topics = check_int(n_topics, "n_topics", 1)
    fraction = check_number(second_fraction, "second_fraction", 0, 1)
    shape = check_number(concentration, "concentration", 0, above=True)
    if mean > d / 2:
        raise InputError(f"length: {mean:g} words on average are too many of {d:,}")
    rng = draws.generator(random_state)

    y = np.zeros(n, np.int64)
    y[rng.permutation(n)[: round(fraction * n)]] = 1
    topic = y * topics + draws.pick_cluster(rng, topics, n)
    activity = np.exp(_SKEW * rng.standard_normal(n)) * np.where(y == 1, 4.0, 1.0)
    total = round(mean * n)
    lengths = draws.skewed_lengths(rng, activity, total, 1, d)
    indptr = np.concatenate(([0], np.cumsum(lengths)))
    indices = np.empty(total, np.int32)
    popularity = rng.permutation(draws.zipf_weights(d, 1.0))
    sources = rng.standard_gamma(shape, (2, d)) / shape
    for t in range(2 * topics):
        factors = sources[t // topics] + rng.standard_gamma(shape, d) / shape
        chosen = np.flatnonzero(topic == t)
        weights = draws.cumulate(popularity * factors)
        draws.fill_distinct(rng, weights, lengths[chosen], indptr[chosen], indices)
    return sparse.csr_array((np.ones(total), indices, indptr), (n, d)), y
