"""What one search for neighbours took, and how much of what is true it found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmarks.report import cpu_seconds, milliseconds

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray


@dataclass
class Run:
    """CPU seconds of index and queries, and the distances found."""

    index: float
    queries: float
    distances: NDArray[Any]
    scaled: bool = False  # from fewer queries

    @property
    def total(self) -> float:
        return self.index + self.queries

    def recall(self, exact: NDArray[Any]) -> float:
        """Return the fraction of neighbours that are as near as the k-th nearest object."""
        farthest = exact[: len(self.distances), -1:]
        return float((self.distances <= farthest * (1 + 1e-4) + 1e-6).mean())

    def row(self, name: str, exact: NDArray[Any], base: Run, n_queries: int) -> tuple[str, ...]:
        return (
            name,
            milliseconds(self.index),
            ("~" if self.scaled else "") + milliseconds(self.queries),
            f"{n_queries / self.total:,.0f}",
            f"{self.recall(exact):.4f}",
            f"{base.total / self.total:.2f}×",
        )


def run(build: Callable[[], Any], search: Callable[[Any], NDArray[Any]], times: float = 1.0) -> Run:
    """Build an index and search it; queries are a part of all, 1 / times of them."""
    index, built = cpu_seconds(build)
    queries, distances = cpu_seconds(lambda: search(built))
    return Run(index, queries * times, distances, times > 1)
