"""Ratings of films: a log of who saw what, as recommender systems have it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tacit.datasets.draws import cumulate, generator, pick, zipf_weights
from tacit.machine import check_int
from tacit.parameters import check_number

if TYPE_CHECKING:
    import polars as pl

__all__ = ["make_ratings"]

_START = 1_000_000_000  # seconds since 1970
_SPAN = 20 * 365 * 86_400


def make_ratings(
    n_records: int = 1000,
    n_items: int = 500,
    n_rows: int = 20_000,
    *,
    exponent: float = 1.0,
    random_state: int | np.random.Generator = 0,
) -> pl.DataFrame:
    """Draw a log of ratings: one row for each time that someone rated a film.

    How popular films are, and how busy people, follows Zipf's law. A person may rate a film
    again later. Rows are in the order of people and, of each, of time.

    Parameters
    ----------
    n_records : int, default 1000
        People, at most.
    n_items : int, default 500
        Films, at most.
    n_rows : int, default 20_000
        Ratings.
    exponent : float, default 1.0
        Of Zipf's law, which the popularity of films follows.
    random_state : int or numpy.random.Generator, default 0

    Returns
    -------
    polars.DataFrame
        The columns userId and movieId (from 1), title (text), rating (0.5 to 5 in steps of a half)
        and timestamp (seconds since 1970).

    Examples
    --------
    >>> import tacit
    >>> log = tacit.datasets.make_ratings(100, 50, 1000)
    >>> log.columns, log.height
    (['userId', 'movieId', 'title', 'rating', 'timestamp'], 1000)
    >>> tacit.Table.from_long(log, record="userId", item="title", min_count=5)
    Table of ... records × ... columns, ... stored values (m·n/l = ...)
    """
    import polars as pl

    m = check_int(n_records, "n_records", 1)
    n = check_int(n_items, "n_items", 1)
    size = check_int(n_rows, "n_rows", 1)
    skew = check_number(exponent, "exponent", 0)
    rng = generator(random_state)

    people = np.sort(rng.permutation(m)[pick(rng, cumulate(zipf_weights(m, 0.5)), size)])
    rank = pick(rng, cumulate(zipf_weights(n, skew)), size)
    films = rng.permutation(n)[rank]
    taste = rng.normal(3.5, 0.4, n)[films] + rng.normal(0, 0.9, size)
    stars = np.clip(np.rint(2 * taste), 1, 10) / 2
    times = _START + rng.integers(0, _SPAN, size)
    times = times[np.lexsort((times, people))]
    titles = pl.Series([f"Film {k} ({1950 + k % 75})" for k in range(1, n + 1)])
    return pl.DataFrame(
        {
            "userId": people + 1,
            "movieId": films + 1,
            "title": titles.gather(films),
            "rating": stars,
            "timestamp": times,
        }
    )
