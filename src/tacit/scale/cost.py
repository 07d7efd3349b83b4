"""What passes over partitions cost: additive, too."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from tacit.machine import human_bytes

__all__ = ["Cost"]


@dataclass(frozen=True)
class Cost:
    """Records and stored values that were visited, and what that took.

    Attributes
    ----------
    passes, partitions, records, stored : int
        Visited, as often as they were.
    bytes_read : int
        Of files.
    load_seconds : float
        Reading and coding, added up over partitions.
    work_seconds : float
        Computing statistics of what was loaded, nearly all of it in kernels.
    seconds : float
        Of waiting for passes to end.
    thread_seconds : float
        The same for each thread that could compute meanwhile.

    Examples
    --------
    >>> first = Cost(1, 4, 1000, 9000, 50_000, 0.1, 0.6, 0.5, 1.0)
    >>> first + Cost(1, 4, 1000, 9000, 0, 0.0, 0.6, 0.3, 0.6)
    2 passes: 2,000 records, 18,000 stored values, 50.0 kB read, 0.8 s, 75 % of it in kernels
    """

    passes: int = 0
    partitions: int = 0
    records: int = 0
    stored: int = 0
    bytes_read: int = 0
    load_seconds: float = 0.0
    work_seconds: float = 0.0
    seconds: float = 0.0
    thread_seconds: float = 0.0

    @classmethod
    def of_load(cls, bytes_read: int, seconds: float) -> Cost:
        """Return what it cost to load a partition."""
        return cls(bytes_read=bytes_read, load_seconds=seconds)

    @classmethod
    def of_work(cls, loaded: Any, seconds: float) -> Cost:
        """Return what it cost to compute over a partition that was loaded."""
        records, stored = getattr(loaded, "n_records", 0), getattr(loaded, "n_stored", 0)
        return cls(partitions=1, records=records, stored=stored, work_seconds=seconds)

    def __add__(self, other: Cost) -> Cost:
        return Cost(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(Cost)))

    @property
    def kernel_fraction(self) -> float:
        """How much of the threads' time went into statistics, not into loading or waiting."""
        spent = max(self.load_seconds + self.work_seconds, self.thread_seconds)
        return self.work_seconds / spent if spent else 0.0

    def line(self) -> str:
        """Return all of it in a line."""
        passes = f"{self.passes:,} pass{'es' * (self.passes != 1)}"
        return (
            f"{passes}: {self.records:,} records, {self.stored:,} stored values, "
            f"{human_bytes(self.bytes_read)} read, {self.seconds:.3g} s, "
            f"{self.kernel_fraction:.0%} of it in kernels".replace("%", " %")
        )

    __repr__ = line
