"""A discrete Bayes net as numbers: columns, arcs and tables, and exact answers from them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.errors import InputError
from tacit.machine import check_fits
from tacit.network.bayes_net.graph import children_of
from tacit.network.inference.evidence import check_columns, check_evidence, make_distribution
from tacit.network.inference.junction import JunctionTree
from tacit.network.inference.records import Records, make_table, row_blocks
from tacit.network.inference.sampling import draw_codes

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from tacit.network.inference.distribution import Distribution
    from tacit.schema import Schema
    from tacit.table import Table

__all__ = ["Net"]


@dataclass(frozen=True, eq=False)
class Net:
    """Columns, arcs and tables; cliques for exact inference are made when they are needed."""

    schema: Schema
    parents: tuple[tuple[int, ...], ...]  # positions of each column's parents
    # (combinations of the parents' labels, labels of the column)
    tables: tuple[NDArray[np.float64], ...]

    def __post_init__(self) -> None:
        for table in self.tables:
            table.flags.writeable = False

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_junction_tree"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    @cached_property
    def _junction_tree(self) -> JunctionTree:
        return JunctionTree(self.schema.arities, self.parents, self.tables)

    def query(self, columns: Any, given: Mapping[Any, Any] | None) -> Distribution:
        """Return the joint distribution of some columns, given the values of others."""
        positions = check_columns(self.schema, columns, "columns")
        if not positions:
            raise InputError("columns: name at least one column")
        evidence = check_evidence(self.schema, given)
        known = [c for c in positions if c in evidence]
        if known:
            raise InputError(f"columns: column {self.schema.names[known[0]]!r} is given")
        cells = float(np.prod(self.schema.arities[positions].astype(np.float64)))
        check_fits(int(16 * cells), "the distribution", "ask for fewer columns")
        joint, log_evidence = self._junction_tree.joint(positions, evidence)
        return make_distribution(self.schema, positions, joint, log_evidence, evidence)

    def marginals(self, given: Mapping[Any, Any] | None) -> dict[str, Distribution]:
        """Return the distribution of each column that is not given, all at once."""
        evidence = check_evidence(self.schema, given)
        marginals, log_evidence = self._junction_tree.marginals(evidence)
        return {
            name: make_distribution(self.schema, [c], marginals[c], log_evidence, evidence)
            for c, name in enumerate(self.schema.names)
            if c not in evidence
        }

    def most_probable(self, given: Mapping[Any, Any] | None) -> tuple[dict[str, Any], float]:
        """Return the most probable record, and the logarithm of its probability."""
        codes, score = self._junction_tree.most_probable(check_evidence(self.schema, given))
        labels = (known[int(k)] for known, k in zip(self.schema.labels, codes, strict=True))
        return dict(zip(self.schema.names, labels, strict=True)), float(score)

    def sample(
        self, n: int, given: Mapping[Any, Any] | None, generator: np.random.Generator
    ) -> Table:
        """Draw records, none of them in vain."""
        evidence = check_evidence(self.schema, given)
        check_fits(32 * n * len(self.schema), "the records", "draw fewer")
        if evidence:
            codes = self._junction_tree.sample(n, evidence, generator)
        else:
            codes = draw_codes(n, self.schema.arities, self.parents, self.tables, generator)
        return make_table(self.schema, row_blocks(codes))

    def log_probabilities(
        self, records: Records, families: Iterable[int] | None = None
    ) -> NDArray[np.float64]:
        """Return the natural logarithm of each record's probability, -inf where that is zero.

        Complete records are looked up in the tables, of some families only if these are named.
        What others lack is summed over.
        """
        scores = np.zeros(records.n_records)
        for child in range(len(self.tables)) if families is None else families:
            cells, _ = records.cells(self.schema.arities, self.parents[child], child)
            with np.errstate(divide="ignore"):
                logs = np.log(self.tables[child].ravel())
            scores += logs[cells]  # what this says of incomplete records is replaced below
        incomplete = records.incomplete()
        if len(incomplete):
            matrix = records.matrix(incomplete)
            scores[incomplete] = self._junction_tree.log_evidence_many(matrix)
        return scores

    def conditional(self, records: Records, column: int) -> NDArray[np.float64]:
        """Return log P(label, rest of the record) of a column's labels, up to a constant."""
        families = (column, *children_of(self.parents)[column])
        arity = int(self.schema.arities[column])
        logs = np.empty((records.n_records, arity))
        for code in range(arity):
            columns = list(records.columns)
            columns[column] = np.full(records.n_records, code, records.columns[column].dtype)
            logs[:, code] = self.log_probabilities(Records(columns, None), families)
        return logs
