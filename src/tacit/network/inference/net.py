"""A discrete Bayes net as numbers: columns, arcs and tables, and exact answers from them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.errors import InputError
from tacit.machine import check_fits
from tacit.network.bayes_net.graph import children_of
from tacit.network.inference.asked import Suppositions
from tacit.network.inference.elimination import most_probable_of
from tacit.network.inference.evidence import check_columns, check_evidence
from tacit.network.inference.junction import JunctionTree
from tacit.network.inference.records import Records, make_table, row_blocks
from tacit.network.inference.sampling import draw_codes

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

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

    def query(
        self, columns: Any, given: Any = None, do: Any = None, likelihood: Any = None
    ) -> Distribution:
        """Return the joint distribution of some columns, given the values of others."""
        positions = self._wanted(columns)
        supposed = Suppositions.of(self.schema, given, do, likelihood)
        self._refuse_fixed(positions, supposed)
        cells = float(np.prod(self.schema.arities[positions].astype(np.float64)))
        check_fits(int(16 * cells), "the distribution", "ask for fewer columns")
        joint, log_evidence = supposed.tree(self).joint(positions, supposed.evidence)
        return supposed.answer(positions, joint, log_evidence)

    def marginals(
        self, given: Any = None, do: Any = None, likelihood: Any = None
    ) -> dict[str, Distribution]:
        """Return the distribution of each column that is not given, all at once."""
        supposed = Suppositions.of(self.schema, given, do, likelihood)
        marginals, log_evidence = supposed.tree(self).marginals(supposed.evidence)
        return {
            name: supposed.answer([c], marginals[c], log_evidence)
            for c, name in enumerate(self.schema.names)
            if c not in supposed.fixed
        }

    def most_probable(
        self, given: Any = None, columns: Any = None, do: Any = None, likelihood: Any = None
    ) -> tuple[dict[str, Any], float]:
        """Return the most probable record, or labels of some columns, and the log-probability."""
        supposed = Suppositions.of(self.schema, given, do, likelihood)
        n = len(self.schema)
        if columns is None:
            positions = list(range(n))
            codes, score = supposed.tree(self).most_probable(supposed.evidence)
            found = codes[:n].tolist()
        else:
            positions = self._wanted(columns)
            self._refuse_fixed(positions, supposed)
            net = supposed.net(self)
            found, score = most_probable_of(positions, supposed.evidence, *net)
            if score == -np.inf:
                raise InputError("evidence: what is observed has probability zero")
        labels = {
            self.schema.names[c]: self.schema.labels[c][int(code)]
            for c, code in zip(positions, found, strict=True)
        }
        return labels, float(score) + supposed.log_scale

    def value_of_information(
        self, target: int, columns: Sequence[int], supposed: Suppositions
    ) -> tuple[float, NDArray[np.float64]]:
        """Return the entropy of a column in nats, and by how much others are expected to lessen it.

        That is their mutual information: with the target set to one label after the other, all
        marginals at once say what is to be known of the columns.
        """
        tree, evidence = supposed.tree(self), supposed.evidence
        before, _ = tree.marginals(evidence)
        gains = np.zeros(len(columns))
        chances = before[target]
        for code in np.flatnonzero(chances > 0).tolist():
            after, _ = tree.marginals({**evidence, target: code})
            for k, c in enumerate(columns):
                held = (after[c] > 0) & (before[c] > 0)
                ratio = np.log(after[c][held] / before[c][held])
                gains[k] += chances[code] * float(after[c][held] @ ratio)
        entropy = -float(chances[chances > 0] @ np.log(chances[chances > 0]))
        return entropy, np.clip(gains, 0.0, entropy)

    def _wanted(self, columns: Any) -> list[int]:
        positions = check_columns(self.schema, columns, "columns")
        if not positions:
            raise InputError("columns: name at least one column")
        return positions

    def _refuse_fixed(self, positions: Sequence[int], supposed: Suppositions) -> None:
        for position in positions:
            if position in supposed.fixed:
                how = "given" if position in supposed.given else "set by do"
                raise InputError(f"columns: column {self.schema.names[position]!r} is {how}")

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
