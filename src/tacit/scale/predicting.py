"""What fitted models say of the records of a partitioned table."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
from sklearn.utils.validation import check_is_fitted

from tacit.errors import InputError
from tacit.machine import check_fits
from tacit.scale.partitioned_table import PartitionedTable, as_partitioned

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from tacit.scale.statistic import Part

__all__ = ["Predict", "check_parts", "over_parts", "predict_parts"]

F = TypeVar("F", bound="Callable[..., Any]")

_PER_RECORD = ("labels_",)  # what models keep of the records they were fitted on: not sent along


@dataclass(frozen=True)
class Predict:
    """What a fitted model says of each partition, for :meth:`PartitionedTable.map`.

    Parameters
    ----------
    model : estimator
    method : str, default "predict"
        Or "predict_proba", "transform", "score_samples", …

    Examples
    --------
    >>> import numpy as np, tacit
    >>> visits = tacit.datasets.load_visits()
    >>> model = tacit.KMeans(3, random_state=0).fit(visits)
    >>> parts = tacit.scale.partition(visits, 4)
    >>> found = np.concatenate(list(parts.map(tacit.scale.Predict(model))))
    >>> np.array_equal(found, model.labels_)
    True
    """

    model: Any
    method: str = "predict"

    def __post_init__(self) -> None:
        light = copy(self.model)
        for name in _PER_RECORD:
            light.__dict__.pop(name, None)
        object.__setattr__(self, "model", light)

    def __call__(self, part: Part) -> Any:
        """Ask the model."""
        model = self.model
        if getattr(model, "n_jobs", part.n_jobs) != part.n_jobs:
            model = copy(model)
            model.n_jobs = part.n_jobs
        return getattr(model, self.method)(part.records)


def predict_parts(model: Any, method: str, X: PartitionedTable) -> NDArray[Any]:
    """Return what a fitted model says of all records, one partition after another.

    Parameters
    ----------
    model : estimator
    method : str
        Returns an array with an entry, or a row, for each record of a Table.
    X : PartitionedTable
    """
    if hasattr(model, "fit"):  # a net has no such state
        check_is_fitted(model)
    whole: NDArray[Any] | None = None
    done = 0
    n_jobs, verbose = getattr(model, "n_jobs", None), getattr(model, "verbose", 0) or None
    for found in X.map(Predict(model, method), n_jobs=n_jobs, verbose=verbose):
        if whole is None:
            each = int(np.prod(found.shape[1:])) * found.itemsize
            check_fits(
                each * X.n_records,
                f"{method} of {X.n_records:,} records",
                "take it partition by partition, from X.map(tacit.scale.Predict(model))",
            )
            whole = np.empty((X.n_records, *found.shape[1:]), found.dtype)
        wider = np.result_type(whole, found)
        if wider != whole.dtype:  # longer texts, say
            whole = whole.astype(wider)
        whole[done : done + len(found)] = found
        done += len(found)
    assert whole is not None  # a table has records
    return whole


def over_parts(method: F) -> F:
    """Let a method that says something of each record of X take a partitioned table, too."""

    @wraps(method)
    def either(self: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        parts = as_partitioned(X)
        if parts is None:
            return method(self, X, *args, **kwargs)
        return predict_parts(self, method.__name__, parts)

    return cast("F", either)


def check_parts(sample_weight: Any = None, discretise: Any = None) -> None:
    """Refuse what cannot be given beside a partitioned table."""
    if sample_weight is not None:
        raise InputError(
            "sample_weight: X is a partitioned table, whose records have their weights with them; "
            "give weights= to tacit.scan"
        )
    if discretise is not None:
        raise InputError(
            "discretise: X is a partitioned table, and its columns are discrete already; give "
            "discretise= to tacit.scan"
        )
