"""What fitted models say of the records of a partitioned table."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.machine import check_fits

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from tacit.scale.partitioned_table import PartitionedTable
    from tacit.statistic import Partition

__all__ = ["Predict", "gather", "predict_parts"]

_PER_RECORD = ("labels_",)  # what models keep of the records they were fitted on: not sent along


@dataclass(frozen=True)
class Predict:
    """What a fitted model says of each partition, for :meth:`PartitionedTable.map`.

    Parameters
    ----------
    model : estimator
    method : str, default "predict"
        Or "predict_proba", "transform", "score_samples", …
    options : dict, optional
        What else the method takes, besides X.

    Examples
    --------
    >>> import numpy as np, tacit
    >>> visits = tacit.datasets.load_visits()
    >>> model = tacit.KMeans(3, random_state=0).fit(visits)
    >>> parts = tacit.scale.partition(visits, 4)
    >>> labels = np.concatenate(list(parts.map(tacit.scale.Predict(model))))
    >>> np.array_equal(labels, model.labels_)
    True
    """

    model: Any
    method: str = "predict"
    options: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        light = copy(self.model)
        for name in _PER_RECORD:
            light.__dict__.pop(name, None)
        object.__setattr__(self, "model", light)

    def __call__(self, partition: Partition) -> Any:
        """Ask the model."""
        model = self.model
        if getattr(model, "n_jobs", partition.n_jobs) != partition.n_jobs:
            model = copy(model)
            model.n_jobs = partition.n_jobs
        return getattr(model, self.method)(partition.records, **self.options)


def predict_parts(
    model: Any, method: str, X: PartitionedTable, options: dict[str, Any] | None = None
) -> NDArray[Any]:
    """Return what a fitted model says of all records, one partition after another.

    The method, with its options, returns an array with an entry, or a row, for each record of a
    Table.
    """
    if hasattr(model, "fit"):  # a net has no such state
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(model)
    n_jobs, verbose = getattr(model, "n_jobs", None), getattr(model, "verbose", 0) or None
    answers = X.map(Predict(model, method, options or {}), n_jobs=n_jobs, verbose=verbose)
    instead = "take it partition by partition, from X.map(tacit.scale.Predict(model))"
    return gather(answers, X.n_records, method, instead)


def gather(
    answers: Iterable[NDArray[Any]], n_records: int, what: str, instead: str
) -> NDArray[Any]:
    """Return one array of the answers for all partitions, in their order.

    An answer has an entry, or a row, for each of the `n_records` records. An array that does not
    fit in memory is refused; the error says `what` it is, and what to do `instead`.
    """
    joined: NDArray[Any] | None = None
    done = 0
    for answer in answers:
        if joined is None:
            each = int(np.prod(answer.shape[1:])) * answer.itemsize
            check_fits(each * n_records, f"{what} of {n_records:,} records", instead)
            joined = np.empty((n_records, *answer.shape[1:]), answer.dtype)
        wider = np.result_type(joined, answer)
        if wider != joined.dtype:  # longer texts, say
            joined = joined.astype(wider)
        joined[done : done + len(answer)] = answer
        done += len(answer)
    assert joined is not None  # a table has records
    return joined
