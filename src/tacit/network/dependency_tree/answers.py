"""What a dependency tree says of records: how probable they are, what their columns may hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from tacit.errors import InputError
from tacit.network.density import probabilities
from tacit.network.dependency_tree.grid import grid_moments, on_grid
from tacit.network.dependency_tree.input import Records
from tacit.network.dependency_tree.messages import (
    Evidence,
    all_beliefs,
    belief,
    belief_moments,
    log_densities,
    without_closed_form,
)
from tacit.network.dependency_tree.sparse_scores import SparseScores

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from tacit.network.dependency_tree.layout import Layout
    from tacit.network.dependency_tree.parameters import TreeDensity

    Floats: TypeAlias = NDArray[np.float64]

__all__ = [
    "column_probabilities",
    "column_moments",
    "marginals_given",
    "records_evidence",
    "score_records",
]

_CELLS = 4_000_000  # numbers of all messages that are held at a time
_HINT = "; smoothing above 0 leaves everything possible"
_GRID_RECORDS = 200  # records that are passed through a grid at a time


def score_records(model: TreeDensity, layout: Layout, records: Records) -> Floats:
    """Return the log-density of each record, over what is known of it."""
    if layout.numeric.all():
        return _score_numbers(model, layout, records)
    scores = np.empty(records.n_records)
    rest = np.arange(records.n_records)
    if not layout.numeric.any() and _all_possible(model):
        assert layout.schema is not None
        assert records.table is not None
        scores = SparseScores(model, layout.spec.schema).scores(records.table)
        rest = _incomplete(layout, records)
    for rows, part in _parts(model, records, rest):
        evidence = records_evidence(model, layout, part)
        for chosen, some, grid in _by_form(model, evidence, rows):
            scores[rows[chosen]] = log_densities(grid or model, some)
            if grid is not None:
                scores[rows[chosen]] -= _log_scales(model, some)
    return scores


def _log_scales(model: TreeDensity, evidence: Evidence) -> Floats:
    """Return what the units of known numbers take off log-densities."""
    logs = np.zeros(evidence.n_records)
    for column in np.flatnonzero(model.numeric).tolist():
        missing = evidence.missing[column]
        logs[slice(None) if missing is None else ~missing] += np.log(model.scale[column])
    return logs


def _by_form(
    model: TreeDensity, evidence: Evidence, rows: Any, column: int | None = None
) -> Iterator[tuple[NDArray[np.int64], Evidence, TreeDensity | None]]:
    """Part records with a closed form from those that need a grid; these come with one.

    `rows` are what the caller calls the records, or ``None`` if there is only what is given.
    """
    every = np.arange(evidence.n_records)
    if not model.numeric.any() or model.numeric.all():
        yield every, evidence, None
        return
    apart = without_closed_form(model, evidence, column)
    if not apart.any():
        yield every, evidence, None
        return
    grid = on_grid(model)
    if grid is None:
        where = "given" if rows is None else f"X: record {rows[int(np.argmax(apart))]}"
        raise InputError(
            f"{where} has something below a label that hangs below a missing number, and in this "
            "tree numbers are all but known from each other, so that it is not known. Fill "
            "the number in, or cut it with discretise"
        )
    plain, apart_rows = np.flatnonzero(~apart), np.flatnonzero(apart)
    if len(plain):
        yield plain, evidence.take(plain), None
    for first in range(0, len(apart_rows), _GRID_RECORDS):
        chosen = apart_rows[first : first + _GRID_RECORDS]
        yield chosen, evidence.take(chosen), grid


def _all_possible(model: TreeDensity) -> bool:
    links = (link for link in model.links if link is not None)
    root = model.marginals[model.tree.root]
    return bool((root > 0).all() and all((link.probabilities > 0).all() for link in links))  # type: ignore[operator, attr-defined, union-attr]


def _score_numbers(model: TreeDensity, layout: Layout, records: Records) -> Floats:
    """Return log-densities of numbers: complete records are sums over the edges."""
    assert records.numbers is not None
    scores = np.empty(records.n_records)
    root, below = model.tree.root, model.tree.order[1:]
    links: list[Any] = [model.link(c) for c in below.tolist()]
    slopes, left = (np.array([getattr(x, k) for x in links]) for k in ("slope", "variance"))
    constant = float(np.log(model.scale).sum() + 0.5 * np.log(left).sum())
    constant += 0.5 * model.n_columns * float(np.log(2 * np.pi))
    rest = []
    step = max(64, _CELLS // model.n_columns)
    for first in range(0, records.n_records, step):
        z = (records.numbers[first : first + step] - model.centre) / model.scale
        away = z[:, below] - slopes * z[:, model.tree.parents[below]]
        logs = -constant - 0.5 * (z[:, root] ** 2 + (away**2 / left).sum(axis=1))
        scores[first : first + step] = logs
        rest.append(first + np.flatnonzero(np.isnan(logs)))
    for rows, part in _parts(model, records, np.concatenate(rest)):
        scores[rows] = log_densities(model, records_evidence(model, layout, part))
    return scores


def _incomplete(layout: Layout, records: Records) -> NDArray[np.int64]:
    """Return the records that have a label for a missing value."""
    assert layout.schema is not None
    assert records.table is not None
    schema = records.table.schema
    if not (schema.arities > layout.schema.arities).any():
        return np.zeros(0, np.int64)
    missing = schema.value_codes >= layout.schema.arities[schema.value_columns]
    indices = np.flatnonzero(missing[records.table.values])
    return np.unique(np.searchsorted(records.table.indptr, indices, side="right") - 1)


def _parts(
    model: TreeDensity, records: Records, rows: NDArray[np.int64], width: int = 0
) -> Iterator[tuple[NDArray[np.int64], Records]]:
    """Go through some records, so many at a time that messages fit into memory.

    `width` is how many numbers they take for a record, if it is less than for all columns.
    """
    cells = int(model.arities.sum()) + 3 * model.n_numeric
    step = max(64, _CELLS // (width or cells))
    for first in range(0, len(rows), step):
        chosen = rows[first : first + step]
        if len(chosen) == records.n_records:
            yield chosen, records
            continue
        numbers = None if records.numbers is None else records.numbers[chosen]
        table = None if records.table is None else records.table.take(chosen)
        yield chosen, Records(len(chosen), numbers, table, None)


class _Values:
    """The values of each column, made when they are asked for."""

    def __init__(self, model: TreeDensity, records: Records) -> None:
        self.model, self.records = model, records
        self.index = np.where(
            model.numeric, np.cumsum(model.numeric) - 1, np.cumsum(~model.numeric) - 1
        )
        self.made: dict[int, Any] = {}

    def __len__(self) -> int:
        return self.model.n_columns

    def __getitem__(self, column: int) -> Any:
        if column not in self.made:
            self.made[column] = self._make(column, int(self.index[column]))
        return self.made[column]

    def _make(self, column: int, index: int) -> Any:
        model = self.model
        if model.numeric[column]:
            assert self.records.numbers is not None
            standardised = (self.records.numbers[:, index] - model.centre[column]) / model.scale[
                column
            ]
            return np.nan_to_num(standardised.astype(np.float64, copy=False))
        assert self.records.table is not None
        codes = self.records.table.codes(index)
        codes[codes >= model.arities[column]] = 0  # anything, where it is missing
        return codes


def records_evidence(model: TreeDensity, layout: Layout, records: Records) -> Evidence:
    """Return what is known of records."""
    missing: list[NDArray[np.bool_] | None] = [None] * model.n_columns
    if records.numbers is not None:
        unknown = np.isnan(records.numbers)
        indices = np.flatnonzero(model.numeric)
        for k in np.flatnonzero(unknown.any(axis=0)).tolist():
            missing[indices[k]] = unknown[:, k]
    if records.table is not None:
        assert layout.schema is not None
        schema = records.table.schema
        hidden = np.flatnonzero(schema.value_codes >= layout.schema.arities[schema.value_columns])
        start, rows = records.table.postings
        indices = np.flatnonzero(~model.numeric)
        for value in hidden[start[hidden + 1] > start[hidden]].tolist():
            mask = np.zeros(records.n_records, np.bool_)
            mask[rows[start[value] : start[value + 1]]] = True
            missing[indices[schema.value_columns[value]]] = mask
    values: Any = _Values(model, records)
    return Evidence(values, missing, records.n_records)


def column_probabilities(
    model: TreeDensity, layout: Layout, records: Records, column: int
) -> Floats:
    """Return P(label | rest of the record) of a discrete column."""
    answer = np.empty((records.n_records, int(model.arities[column])))
    for rows, part in _parts(model, records, *_neighbours(model, layout, records, column)):
        evidence = records_evidence(model, layout, part)
        for chosen, some, grid in _by_form(model, evidence, rows, column):
            message, _ = belief(grid or model, some, column)
            answer[rows[chosen]] = probabilities(message, rows[chosen], _HINT)
    return answer


def _neighbours(
    model: TreeDensity, layout: Layout, records: Records, column: int
) -> tuple[NDArray[np.int64], int]:
    """Return all records, and the width of messages: of complete records only neighbours count."""
    every = np.arange(records.n_records)
    complete = records.numbers is None or not np.isnan(records.numbers).any()
    if not complete or (records.table is not None and len(_incomplete(layout, records))):
        return every, 0
    around = [column, *model.tree.children[column]]
    return every, int(np.maximum(model.arities[around], 3).sum())


def column_moments(
    model: TreeDensity, layout: Layout, records: Records, column: int
) -> tuple[Floats, Floats]:
    """Return mean and standard deviation of a number given the rest of each record."""
    mean, spread = np.empty(records.n_records), np.empty(records.n_records)
    for rows, part in _parts(model, records, *_neighbours(model, layout, records, column)):
        evidence = records_evidence(model, layout, part)
        for chosen, some, grid in _by_form(model, evidence, rows, column):
            if grid is None:
                moments = belief_moments(*belief(model, some, column))
            else:
                moments = grid_moments(belief(grid, some, column)[0])
            mean[rows[chosen]], spread[rows[chosen]] = moments
    scale = model.scale[column]
    return model.centre[column] + scale * mean, scale * np.sqrt(spread)


def marginals_given(model: TreeDensity, known: dict[int, Any]) -> tuple[list[Any], float]:
    """Return each column's distribution given some values, and the logarithm of their density.

    That is probabilities of codes; mean and standard deviation of numbers; anything for what is
    known.
    """
    values, missing = [], []
    for column in range(model.n_columns):
        value = known.get(column, 0)
        if model.numeric[column]:
            value = (value - model.centre[column]) / model.scale[column]
        values.append(np.array([value]))
        missing.append(None if column in known else np.ones(1, np.bool_))
    [(_, evidence, grid)] = _by_form(model, Evidence(values, missing, 1), None)
    messages, density = all_beliefs(grid or model, evidence)
    if not np.isfinite(density[0]):
        raise InputError("given: this has the probability zero, so that nothing follows from it")
    log_evidence = float(density[0] - (0.0 if grid is None else _log_scales(model, evidence)[0]))
    answers: list[Any] = []
    for column, message in enumerate(messages):
        if column in known:
            answers.append(None)
        elif model.numeric[column]:
            moments = belief_moments(message, []) if grid is None else grid_moments(message)
            mean, variance = (float(x[0]) for x in moments)
            scale = float(model.scale[column])
            answers.append((float(model.centre[column]) + scale * mean, scale * variance**0.5))
        else:
            answers.append(probabilities(message)[0])
    return answers, log_evidence if known else 0.0
