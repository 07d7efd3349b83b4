"""What the search is given: discrete records and which of them are positive."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tacit.errors import InputError, did_you_mean
from tacit.table.targets import (
    column_classes,
    read_classes,
    refuse_real_classes,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.schema import Label
    from tacit.table import Table
    from tacit.table.input_spec import InputSpec
    from tacit.table.inputs import Inputs

__all__ = ["Problem", "make_problem"]

_MOST_RECORDS = 2**31 - 1


class Problem(NamedTuple):
    """Records without the target, and their labels; records of the weight 2 count twice."""

    table: Table
    often: NDArray[np.int64] | None  # how often each record of the table is there, if not once
    labels: NDArray[np.uint8]  # 1 for each positive record; of those that are there twice, two
    target: str
    value: Label
    spec: InputSpec

    @property
    def n_records(self) -> int:
        """The number of records."""
        return len(self.labels)

    @property
    def n_positives(self) -> int:
        """How many of them are positive."""
        return int(self.labels.sum())


def make_problem(inputs: Inputs, value: Any, discretise: Any, n_jobs: int) -> Problem:
    """Cut the numbers of X, find the positive records, and repeat those of whole weights."""
    if inputs.target is not None:
        refuse_real_classes(inputs.data, inputs.target)
        classes = column_classes(inputs.data, inputs.target)
        table = inputs.table(discretise, n_jobs=n_jobs)
        spec = inputs.remembered.without(inputs.target)
        table = table.select([k for k in range(table.n_columns) if k != inputs.target])
    else:
        classes = read_classes(inputs.y, inputs.n_records)
        table = inputs.table(discretise, classes=classes.codes, n_jobs=n_jobs)
        spec = inputs.remembered
    code = _positive_code(classes.labels, classes.codes, value)
    labels = (classes.codes == code).astype(np.uint8)
    often = None if inputs.weights is None else _whole_weights(inputs.weights)
    labels = labels if often is None else np.repeat(labels, often)
    positive = classes.labels.tolist()[code]
    if not labels.any() or labels.all():
        which = "no" if not labels.any() else "every"
        raise InputError(f"y: {which} record is {positive!r}; there is nothing to tell apart")
    return Problem(table, often, labels, inputs.target_name or "y", positive, spec)


def _positive_code(classes: NDArray[Any], codes: NDArray[np.int32], value: Any) -> int:
    """Return the code of the class that is positive: the one named, or the second of two."""
    items = classes.tolist()
    if value is not None:
        for code, item in enumerate(items):
            if item == value and isinstance(item, str) == isinstance(value, str):
                return code
        raise InputError(f"value: y has no class {value!r}{did_you_mean(value, items)}")
    held = np.flatnonzero(np.bincount(codes, minlength=len(items)) > 0).tolist()
    if len(held) == 1 and len(items) == 2:  # a label that no record has
        return 1
    if len(held) == 1:
        raise InputError("y has one class only; there is nothing to tell apart")
    if len(held) > 2:
        shown = ", ".join(repr(items[code]) for code in held[:5])
        raise InputError(
            f"value: y has {len(held)} classes ({shown}{', …' if len(held) > 5 else ''}); "
            "say which one is positive"
        )
    return int(held[1])


def _whole_weights(weights: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return weights as numbers of records."""
    broken = weights != np.floor(weights)
    if broken.any():
        record = int(broken.argmax())
        raise InputError(
            f"sample_weight: record {record} has the weight {weights[record]:g}; exact tests count "
            "records, so that weights must be whole numbers"
        )
    total = weights.sum()
    if total == 0:
        raise InputError("sample_weight: all weights are zero")
    if total > _MOST_RECORDS:
        raise InputError(f"sample_weight: the weights add up to {total:,.0f} records, too many")
    return np.asarray(weights, np.int64)
