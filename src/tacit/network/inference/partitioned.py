"""How probable records in partitions are: sums over all of them, in one pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from tacit.statistic import Statistic

if TYPE_CHECKING:
    from tacit.scale import Partition

__all__ = ["RecordScores", "SumsScores"]


class SumsScores(Protocol):
    """A model of records."""

    def _sum_scores(self, X: Any) -> tuple[float, float]:
        """Return Σ w·log p of records, and Σ w."""


@dataclass(frozen=True)
class RecordScores(Statistic["tuple[float, float]"]):
    """The sum of the records' log-probabilities, and of their weights.

    Parameters
    ----------
    model : DependencyTree or BayesNet
    """

    model: SumsScores

    def partial(self, part: Partition) -> tuple[float, float]:
        """Add up those of a part."""
        return self.model._sum_scores(part.records)

    def merge(self, one: tuple[float, float], other: tuple[float, float]) -> tuple[float, float]:
        """Add up."""
        return one[0] + other[0], one[1] + other[1]
