"""Feature selection: the columns that together say most about a target."""

from tacit.select.best_subset import BestSubset

__all__ = ["BestSubset"]
