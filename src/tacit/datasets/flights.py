"""Flights as in the reports of airlines: times of day, delays, distances."""

from __future__ import annotations

import numpy as np
import polars as pl

from tacit.machine import check_int

__all__ = ["make_flights"]

_ROUTES = 3_000
_HOURS = (1, 1, 1, 1, 1, 8, 60, 70, 68, 62, 62, 64, 62, 64, 60, 66, 66, 70, 62, 56, 44, 30, 16, 5)


def make_flights(n_records: int = 1_000_000, *, random_state: int = 0) -> pl.DataFrame:
    """Draw flights as in the reports of airlines, for pages with linked views.

    Routes have distances, planes speeds, and days delays that last from departure to arrival:
    columns depend on each other as they do in the reports, and most values are common ones.

    Parameters
    ----------
    n_records : int, default 1,000,000
    random_state : int, default 0
        Parts of a larger set are drawn with different ones; routes are the same in all.

    Returns
    -------
    polars.DataFrame
        `departure`, `arrival` (hours and parts of them), `departure_delay`, `arrival_delay`,
        `air_time` (minutes), `distance` (miles) and `month`; numbers of 32 bits.

    Examples
    --------
    >>> import tacit
    >>> flights = tacit.datasets.make_flights(1_000)
    >>> flights.columns[:4], flights["distance"].min() > 60
    (['departure', 'arrival', 'departure_delay', 'arrival_delay'], True)
    """
    n = check_int(n_records, "n_records", 1)
    routes = np.random.default_rng(29)
    miles = np.round(np.clip(routes.lognormal(6.5, 0.65, _ROUTES), 67, 4_900))
    popular = routes.zipf(1.3, _ROUTES).clip(1, 400).astype(float) + 20.0
    hours_of = routes.uniform(-3, 3, _ROUTES)  # between the time zones of both ends

    rng = np.random.default_rng([random_state, 31])
    route = rng.choice(_ROUTES, n, p=popular / popular.sum())
    hour = rng.choice(24, n, p=np.array(_HOURS) / sum(_HOURS))
    month = rng.integers(1, 13, n)
    planned = hour + rng.integers(0, 12, n) / 12
    distance = miles[route]
    speed = np.where(distance < 500, 5.9, 7.6) * rng.normal(1, 0.05, n).clip(0.8, 1.2)
    air = np.round(17 + distance / speed)
    # Most leave a little early; the later the day and in summer and winter, the more are late.
    late = rng.random(n) < 0.18 + 0.012 * (hour - 6) + 0.05 * np.isin(month, (1, 6, 7, 12))
    delay = np.where(late, rng.exponential(38, n), rng.normal(-3, 4, n))
    departure_delay = np.round(delay.clip(-25, 1_400))
    arrival_delay = np.round(departure_delay + rng.normal(-4, 11, n)).clip(-70, 1_400)
    departure = (planned + departure_delay / 60) % 24
    arrival = (departure + (air + 22) / 60 + np.round(hours_of[route])) % 24
    numbers = {
        "departure": np.round(departure, 2),
        "arrival": np.round(arrival, 2),
        "departure_delay": departure_delay,
        "arrival_delay": arrival_delay,
        "air_time": air,
        "distance": distance,
        "month": month,
    }
    whole = ("departure_delay", "arrival_delay", "air_time", "distance", "month")
    return pl.DataFrame(
        {
            name: values.astype(np.int32 if name in whole else np.float32)
            for name, values in numbers.items()
        }
    )
