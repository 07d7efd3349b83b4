"""What a question supposes: labels that are known, columns that are set, and what is likely."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.errors import InputError
from tacit.network.inference.evidence import (
    check_evidence,
    check_interventions,
    check_likelihood,
    make_distribution,
)
from tacit.network.inference.junction import JunctionTree

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tacit.network.inference.distribution import Distribution
    from tacit.network.inference.net import Net
    from tacit.schema import Schema

    Floats = NDArray[np.float64]

__all__ = ["Suppositions"]


@dataclass(frozen=True)
class Suppositions:
    """The suppositions of a question, checked; by position."""

    schema: Schema
    given: dict[int, int]
    do: dict[int, int]
    likelihood: dict[int, Floats]

    @classmethod
    def of(cls, schema: Schema, given: Any, do: Any, likelihood: Any) -> Suppositions:
        """Check what is said about columns."""
        known = check_evidence(schema, given)
        done, likely = check_interventions(schema, do), check_likelihood(schema, likelihood)
        for argument, codes, others in (("do", done, known), ("likelihood", likely, known | done)):
            for column in codes:
                if column in others:
                    raise InputError(
                        f"{argument}: column {schema.names[column]!r} is known already"
                    )
        return cls(schema, known, done, likely)

    @property
    def fixed(self) -> dict[int, int]:
        """The codes of columns that are given or set."""
        return self.given | self.do

    @property
    def evidence(self) -> dict[int, int]:
        """The codes of what is known in the net of :meth:`net`."""
        n = len(self.schema)
        return self.fixed | {n + k: 1 for k in range(len(self.likelihood))}

    @property
    def log_scale(self) -> float:
        """What the logarithm of the evidence's probability lacks in that net."""
        return sum(math.log(weights.max()) for weights in self.likelihood.values())

    def net(self, net: Net) -> tuple[list[int], list[tuple[int, ...]], list[Floats]]:
        """Return arities, parents and tables of the net in which to ask.

        Columns that are set have no parents any more, and their label for certain: the truncated
        factorisation. Behind a column of which something is likely there is one more, which has
        been seen to be 1.
        """
        arities, parents = self.schema.arities.tolist(), list(net.parents)
        tables = list(net.tables)
        for column, code in self.do.items():
            parents[column] = ()
            tables[column] = np.eye(arities[column])[[code]]
        for column, weights in self.likelihood.items():
            seen = weights / weights.max()
            arities.append(2)
            parents.append((column,))
            tables.append(np.column_stack([1 - seen, seen]))
        return arities, parents, tables

    def tree(self, net: Net) -> JunctionTree:
        """Return what answers the question."""
        if self.do or self.likelihood:
            return JunctionTree(*self.net(net))
        return net._junction_tree

    def answer(
        self, positions: Sequence[int], numbers: Floats, log_evidence: float
    ) -> Distribution:
        """Return probabilities with labels, and what was supposed."""
        return make_distribution(
            self.schema, positions, numbers, log_evidence + self.log_scale, self.given, self.do,
            self.likelihood,
        )  # fmt: skip
