"""What a net with tables can be asked: distributions, records to draw, how probable records are."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.errors import InputError
from tacit.machine import check_fits, check_int
from tacit.network.inference.asking import check_columns, check_evidence, make_distribution
from tacit.network.inference.junction import JunctionTree
from tacit.network.inference.likelihood import log_probabilities
from tacit.network.inference.partitioned import RecordScores
from tacit.network.inference.records import Records, make_table, read_records
from tacit.network.inference.sampling import draw_codes
from tacit.network.nets.arcs import NetStructure
from tacit.parameters import make_generator
from tacit.scale import as_partitioned, over_parts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from tacit.network.inference.distribution import Distribution
    from tacit.table import Table

__all__ = ["NetQuestions"]


class NetQuestions(NetStructure):
    """Columns, arcs and tables: a base of :class:`tacit.BayesNet`.

    Attributes
    ----------
    tables : tuple of ndarray
        Of shape (combinations of the parents' labels, own labels).
    """

    tables: tuple[NDArray[np.float64], ...]

    @cached_property
    def _tree(self) -> JunctionTree:
        return JunctionTree(self.schema.arities, self.parents, self.tables)

    def query(self, targets: Any, given: Mapping[Any, Any] | None = None) -> Distribution:
        """Return the joint distribution of some columns, given the values of others; exact.

        Parameters
        ----------
        targets : str, int, or a sequence of them
        given : mapping, optional
            ``{column: label, …}``
        """
        places = check_columns(self.schema, targets, "targets")
        if not places:
            raise InputError("targets: name at least one column")
        evidence = check_evidence(self.schema, given)
        known = [c for c in places if c in evidence]
        if known:
            raise InputError(f"targets: column {self.names[known[0]]!r} is given")
        cells = float(np.prod(self.schema.arities[places].astype(np.float64)))
        check_fits(int(16 * cells), "the distribution", "ask for fewer columns")
        joint, log_evidence = self._tree.joint(places, evidence)
        return make_distribution(self.schema, places, joint, log_evidence, evidence)

    def marginals(self, given: Mapping[Any, Any] | None = None) -> dict[str, Distribution]:
        """Return the distribution of each column that is not given, all at once.

        Parameters
        ----------
        given : mapping, optional
            ``{column: label, …}``
        """
        evidence = check_evidence(self.schema, given)
        found, log_evidence = self._tree.marginals(evidence)
        return {
            name: make_distribution(self.schema, [c], found[c], log_evidence, evidence)
            for c, name in enumerate(self.names)
            if c not in evidence
        }

    def most_probable(self, given: Mapping[Any, Any] | None = None) -> tuple[dict[str, Any], float]:
        """Return the most probable record, and the logarithm of its probability.

        Parameters
        ----------
        given : mapping, optional
            ``{column: label, …}`` that the record has to have. Its probability is that of the
            whole record, not divided by that of what is given.
        """
        evidence = check_evidence(self.schema, given)
        codes, score = self._tree.most_probable(evidence)
        labels = (own[int(k)] for own, k in zip(self.schema.labels, codes, strict=True))
        return dict(zip(self.names, labels, strict=True)), float(score)

    def sample(
        self, n: int = 1, given: Mapping[Any, Any] | None = None, *, random_state: Any = None
    ) -> Table:
        """Draw records, all of them independent of each other.

        Parameters
        ----------
        n : int, default 1
        given : mapping, optional
            ``{column: label, …}`` that all records are to have. None is drawn in vain.
        random_state : int, RandomState, Generator or None
        """
        size = check_int(n, "n", 1)
        rng = make_generator(random_state)
        evidence = check_evidence(self.schema, given)
        check_fits(32 * size * len(self.schema), "the records", "draw fewer")
        if evidence:
            codes = self._tree.sample(size, evidence, rng)
        else:
            codes = draw_codes(size, self.schema.arities, self.parents, self.tables, rng)
        return make_table(self.schema, codes)

    # How probable records are

    def _records(self, data: Any) -> Records:
        return read_records(self.schema, data)

    def _score_records(self, records: Records) -> NDArray[np.float64]:
        return log_probabilities(
            records, self.schema.arities, self.parents, self.tables,
            lambda rows: self._tree.log_evidence_many(rows),
        )  # fmt: skip

    @over_parts
    def score_samples(self, data: Any) -> NDArray[np.float64]:
        """Return the natural logarithm of the probability of each record.

        Missing values are summed over, unless the net has a label for them.

        Parameters
        ----------
        data : Table, PartitionedTable, frame, mapping of columns, array or sparse array
        """
        return self._score_records(self._records(data))

    def log_likelihood(self, data: Any) -> float:
        """Return the sum of :meth:`score_samples`, by the records' weights if they have any.

        Parameters
        ----------
        data : Table, PartitionedTable, frame, mapping of columns, array or sparse array
        """
        return self._sum_all(data)[0]

    def score(self, data: Any, y: Any = None) -> float:
        """Return the mean of :meth:`score_samples`, by the records' weights if they have any.

        Parameters
        ----------
        data : Table, PartitionedTable, frame, mapping of columns, array or sparse array
        y : ignored
        """
        total, weight = self._sum_all(data)
        if weight == 0:
            raise InputError("data: all weights are zero")
        return total / weight

    def _sum_all(self, data: Any) -> tuple[float, float]:
        parts = as_partitioned(data)
        return self._sum_scores(data) if parts is None else parts.reduce(RecordScores(self))

    def _sum_scores(self, X: Any) -> tuple[float, float]:
        """Return Σ w·log p of records, and Σ w."""
        records = self._records(X)
        scores = self._score_records(records)
        if records.weights is None:
            return float(scores.sum()), float(len(scores))
        held = records.weights > 0
        return float(records.weights[held] @ scores[held]), float(records.weights.sum())
