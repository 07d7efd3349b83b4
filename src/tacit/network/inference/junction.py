"""Exact inference in Bayes nets: probabilities, most probable values and samples given findings."""

from __future__ import annotations

from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from tacit import _core
from tacit.errors import InputError
from tacit.machine import available_memory, check_fits, check_int, count_jobs, human_bytes
from tacit.network.bayes_net.graph import find_order

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["JunctionTree"]

_MOST_CELLS = 1e11  # some minutes of work
_CLOSE = 1e-6  # how far from one the sum of a row may be
_Answer = TypeVar("_Answer")


class JunctionTree:
    """A Bayes net prepared for questions.

    Columns are numbered, and so are their values. Findings (``evidence``) are given as
    ``{column: code}``. Observed columns are cut out of all tables before anything else happens, and
    the elimination order is found anew for each set of observed columns; the last few are kept.

    Tables have a row for each state of the parents (the first parent slowest) and a column for each
    value; rows sum to one. A question may take `max_bytes` of memory (by default, what is
    available) and `max_cells` in all cliques together, which is what time grows with. Answers do
    not depend on `n_jobs`, the threads for many records at once.

    When nothing is observed, `width` is the most columns in one clique, `largest` the cells of the
    largest one, `n_cells` those of all (infinite if that is no number any more), and `order` that
    of elimination.

    Examples
    --------
    Rain wets the grass, and so does a sprinkler.

    >>> tree = JunctionTree(
    ...     [2, 2, 2],
    ...     [[], [], [0, 1]],
    ...     [[[0.8, 0.2]], [[0.9, 0.1]], [[1.0, 0.0], [0.1, 0.9], [0.2, 0.8], [0.01, 0.99]]],
    ... )
    >>> (rain, sprinkler, grass), log_evidence = tree.marginals({2: 1})
    >>> rain.round(3), sprinkler.round(3)
    (array([0.305, 0.695]), array([0.611, 0.389]))
    >>> round(float(np.exp(log_evidence)), 4)
    0.2358
    """

    def __init__(
        self,
        arities: Sequence[int] | NDArray[np.int64],
        parents: Sequence[Sequence[int]],
        tables: Sequence[Any],
        *,
        max_bytes: int | None = None,
        max_cells: float = _MOST_CELLS,
        n_jobs: int | None = 1,
    ) -> None:
        self._arities = [check_int(a, "arities", 1) for a in np.asarray(arities).tolist()]
        if not self._arities:
            raise InputError("arities must have at least one column")
        self._n_jobs = count_jobs(n_jobs)
        family = _check_parents(self._arities, parents)
        checked = _check_tables(self._arities, family, tables)
        options = {"max_bytes": max_bytes, "max_cells": max_cells, "n_jobs": n_jobs}
        self._made_of = self._arities, family, checked, options
        self._shapes = [table.shape for table in checked]
        self._values = _spans(self._arities)
        self._cells = _spans([table.size for table in checked])
        memory = available_memory() if max_bytes is None else check_int(max_bytes, "max_bytes", 1)
        starts = [0, *accumulate(map(len, family))]
        self._core = _core.JunctionTree(
            np.array(self._arities, np.int64),
            np.array(starts, np.int64),
            np.array([p for above in family for p in above], np.int64),
            np.concatenate([table.reshape(-1) for table in checked]),
            float(max_cells),
            float("inf") if memory is None else float(memory),
        )
        self.width, self.largest, self.n_cells = self._core.needs()
        self.order = self._core.order()

    def __reduce__(self) -> tuple[Any, ...]:
        return _make_again, self._made_of

    def __repr__(self) -> str:
        return (
            f"JunctionTree({len(self._arities)} columns, width {self.width}, "
            f"{self.n_cells:.3g} cells)"
        )

    def marginals(self, evidence: Mapping[int, int] | None = None) -> tuple[list[Floats], float]:
        """Return the distribution of every column given the evidence.

        Observed columns are included. The logarithm of the evidence's probability comes second.
        """
        flat, log_evidence = self._ask(self._core.marginals, self._codes(evidence))
        return [flat[a:b] for a, b in self._values], _possible(log_evidence)

    def families(self, evidence: Mapping[int, int] | None = None) -> tuple[list[Floats], float]:
        """Return the joint distribution of every column with its parents given the evidence.

        They have the shape of the tables, and each sums to one. The log evidence comes second.
        """
        flat, log_evidence = self._ask(self._core.families, self._codes(evidence))
        return self._split_tables(flat), _possible(log_evidence)

    def joint(
        self, targets: Sequence[int], evidence: Mapping[int, int] | None = None
    ) -> tuple[Floats, float]:
        """Return the joint distribution of some columns given the evidence.

        Columns that do not matter for the question are left out first, so it can be answered in
        nets that are too wide for everything at once. It has an axis for each target in turn;
        observed ones have all their probability at one code. The log evidence comes second.
        """
        wanted = [self._column(c, "targets") for c in targets]
        if len(set(wanted)) < len(wanted):
            raise InputError(f"targets must be different columns, got {list(targets)!r}")
        codes = self._codes(evidence)
        flat, log_evidence = self._ask(self._core.joint, np.array(wanted, np.int64), codes)
        _possible(log_evidence)
        observed = [int(codes[c]) for c in wanted]
        shape = [self._arities[c] for c in wanted]
        free = [n for n, code in zip(shape, observed, strict=True) if code < 0]
        if len(free) == len(shape):
            return flat.reshape(shape), log_evidence
        joint = np.zeros(shape)
        position = tuple(slice(None) if code < 0 else code for code in observed)
        joint[position] = flat.reshape(free)
        return joint, log_evidence

    def most_probable(
        self, evidence: Mapping[int, int] | None = None
    ) -> tuple[NDArray[np.int32], float]:
        """Return the most probable values of all columns together, given the evidence.

        The logarithm of their probability, evidence included, comes second.
        """
        codes, log_probability = self._ask(self._core.most_probable, self._codes(evidence))
        return codes, _possible(log_probability)

    def sample(
        self, n: int, evidence: Mapping[int, int] | None, generator: np.random.Generator
    ) -> NDArray[np.int32]:
        """Return records drawn from the distribution given the evidence, none rejected.

        They have the shape (n, columns). One number is drawn from the generator.
        """
        n = check_int(n, "n", 0)
        check_fits(4 * n * len(self._arities), "the sample", "draw fewer records at a time")
        seed = int(generator.integers(2**63))
        codes, log_evidence = self._ask(
            self._core.sample, self._codes(evidence), seed, n, self._n_jobs
        )
        _possible(log_evidence)
        return codes

    def log_evidence(self, evidence: Mapping[int, int] | None = None) -> float:
        """Return the logarithm of the evidence's probability, -inf if it cannot occur."""
        return float(self.log_evidence_many(self._codes(evidence).reshape(1, -1))[0])

    def log_evidence_many(self, codes: NDArray[np.int32]) -> Floats:
        """Return the logarithm of each record's probability, missing values summed out.

        Codes have the shape (records, columns), and are -1 where a value is missing. Records that
        cannot occur get -inf.
        """
        return self._ask(self._core.evidence_many, self._records(codes), None, False, self._n_jobs)[
            0
        ]

    def expected_counts(
        self, codes: NDArray[np.int32], weights: Floats | None = None
    ) -> tuple[list[Floats], Floats]:
        """Return how often each state of each family is expected in records with missing values.

        This is the expectation step of EM. Equal records are taken once. Codes are as in
        :meth:`log_evidence_many`. Counts have the shape of the tables, without records that cannot
        occur; the logarithm of each record's probability comes second.
        """
        records = self._records(codes)
        if weights is not None:
            weights = np.ascontiguousarray(weights, np.float64)
            if weights.shape != records.shape[:1]:
                raise InputError(
                    f"weights must be as many as records, {len(records)}, got {weights.shape}"
                )
        log_evidence, flat = self._ask(
            self._core.evidence_many, records, weights, True, self._n_jobs
        )
        return self._split_tables(flat), log_evidence

    def _split_tables(self, flat: Floats) -> list[Floats]:
        parts = zip(self._cells, self._shapes, strict=True)
        return [flat[a:b].reshape(shape) for (a, b), shape in parts]

    def _column(self, column: Any, argument: str) -> int:
        n = len(self._arities)
        if check_int(column, argument, 0) >= n:
            raise InputError(f"{argument}: there is no column {column}, the net has {n}")
        return int(column)

    def _codes(self, evidence: Mapping[int, int] | None) -> NDArray[np.int32]:
        """Return a code for each column, -1 for those that are not observed."""
        codes = np.full(len(self._arities), -1, np.int32)
        for column, code in (evidence or {}).items():
            position = self._column(column, "evidence")
            arity = self._arities[position]
            if check_int(code, f"evidence: the code of column {position}", 0) >= arity:
                raise InputError(
                    f"evidence: column {position} has codes 0 to {arity - 1}, got {code!r}"
                )
            codes[position] = code
        return codes

    def _records(self, codes: Any) -> NDArray[np.int32]:
        """Return records as the kernel takes them, after checking every code."""
        given = np.asarray(codes)
        n = len(self._arities)
        if given.ndim != 2 or given.shape[1] != n or given.dtype.kind not in "iu":
            raise InputError(
                f"codes must be integers with a row for each record and {n} columns, "
                f"got {given.dtype} of shape {given.shape}"
            )
        wrong = (given < -1) | (given >= np.array(self._arities))
        if wrong.any():
            row, column = np.argwhere(wrong)[0].tolist()
            raise InputError(
                f"codes: row {row}, column {column} has {given[row, column]}, "
                f"but codes are -1 (missing) or 0 to {self._arities[column] - 1}"
            )
        return np.ascontiguousarray(given, np.int32)

    def _ask(self, question: Callable[..., _Answer], *arguments: Any) -> _Answer:
        try:
            return question(*arguments)
        except OverflowError as error:
            width, largest, cells, n_bytes = error.args
            raise InputError(
                f"exact inference needs a clique of {width} columns ({largest:.2g} cells) and "
                f"{cells:.2g} cells in all ({human_bytes(n_bytes)}), more than max_cells or "
                "max_bytes allow; observe more columns or ask about fewer"
            ) from None


def _make_again(
    arities: list[int], parents: list[list[int]], tables: list[Floats], options: dict[str, Any]
) -> JunctionTree:
    return JunctionTree(arities, parents, tables, **options)


def _possible(log_evidence: float) -> float:
    if log_evidence == -np.inf:
        raise InputError("evidence: what is observed has probability zero")
    return log_evidence


def _spans(sizes: Sequence[int]) -> list[tuple[int, int]]:
    return list(pairwise([0, *accumulate(sizes)]))


def _check_parents(arities: list[int], parents: Sequence[Sequence[int]]) -> list[list[int]]:
    """Return the parents as plain lists, after checking that they are columns without a cycle."""
    n = len(arities)
    if len(parents) != n:
        raise InputError(f"parents must be one list for each of {n} columns, got {len(parents)}")
    family = [
        [check_int(p, f"parents of column {c}", 0) for p in above]
        for c, above in enumerate(parents)
    ]
    for c, above in enumerate(family):
        if len(set(above)) < len(above) or c in above or any(p >= n for p in above):
            raise InputError(f"parents of column {c} must be different other columns, got {above}")
    order = find_order(family)
    if len(order) < n:
        stuck = min(set(range(n)).difference(order))
        raise InputError(f"parents: column {stuck} is its own ancestor or descends from a cycle")
    return family


def _check_tables(
    arities: list[int], family: list[list[int]], tables: Sequence[Any]
) -> list[Floats]:
    """Return the tables as two-dimensional arrays whose rows are distributions."""
    if len(tables) != len(arities):
        raise InputError(
            f"tables must be one for each of {len(arities)} columns, got {len(tables)}"
        )
    checked = []
    for c, table in enumerate(tables):
        array = np.ascontiguousarray(table, np.float64)
        n_rows = 1
        for p in family[c]:
            n_rows *= arities[p]
        if array.size != n_rows * arities[c] or array.shape[-1:] != (arities[c],):
            raise InputError(
                f"tables: that of column {c} must have {n_rows} rows of {arities[c]}, "
                f"got shape {array.shape}"
            )
        array = array.reshape(n_rows, arities[c])
        sums = array.sum(axis=1)
        if not (array.min() >= 0 and np.abs(sums - 1).max() <= _CLOSE):
            row = int(np.argmax(~((array >= 0).all(axis=1) & (np.abs(sums - 1) <= _CLOSE))))
            raise InputError(
                f"tables: row {row} of column {c} must be probabilities that sum to one, "
                f"got {array[row].tolist()}"
            )
        checked.append(array)
    return checked
