"""Bayes nets whose joint distribution is written down in full, and random ones to try."""

import functools
import string
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st


@dataclass(frozen=True)
class Net:
    """Arities, parents and tables of a net with few columns."""

    arities: list[int]
    parents: list[list[int]]
    tables: list[np.ndarray]

    @property
    def n(self):
        return len(self.arities)

    @functools.cached_property
    def joint(self):
        """P of all columns, an axis for each."""
        whole = np.ones([1] * self.n)
        for c, above in enumerate(self.parents):
            members = [*above, c]
            table = self.tables[c].reshape([self.arities[m] for m in members])
            shape = [self.arities[m] if m in members else 1 for m in range(self.n)]
            whole = whole * table.transpose(np.argsort(members)).reshape(shape)
        return np.broadcast_to(whole, self.arities)

    def cut(self, evidence):
        """P of all columns and the evidence: zero wherever a finding does not hold."""
        kept = np.zeros(self.arities)
        kept[tuple(evidence.get(c, slice(None)) for c in range(self.n))] = 1
        return self.joint * kept

    def probability(self, evidence):
        return self.cut(evidence).sum()

    def sum_to(self, targets, evidence):
        """P(targets, evidence) with an axis for each target in turn."""
        rest = tuple(c for c in range(self.n) if c not in targets)
        ascending = self.cut(evidence).sum(axis=rest)
        return ascending.transpose(np.argsort(np.argsort(targets)))


def eliminate(net, targets, evidence):
    """P(targets, evidence) of a net of any size, by one sum of products that NumPy orders."""
    letters = string.ascii_letters
    operands, terms = [], []
    for c, above in enumerate(net.parents):
        members = [*above, c]
        table = net.tables[c].reshape([net.arities[m] for m in members])
        operands.append(table[tuple(evidence.get(m, slice(None)) for m in members)])
        terms.append("".join(letters[m] for m in members if m not in evidence))
    wanted = "".join(letters[c] for c in targets)
    return np.einsum(",".join(terms) + "->" + wanted, *operands, optimize="greedy")


def random_table(rng, n_rows, arity, zeros):
    """Rows that sum to one; a share of the cells is zero, but no whole row."""
    table = rng.dirichlet(np.full(arity, 0.7), n_rows)
    table[rng.random(table.shape) < zeros] = 0
    table[np.arange(n_rows), rng.integers(arity, size=n_rows)] += 0.1
    return table / table.sum(axis=1, keepdims=True)


def random_net(rng, n, max_arity=3, max_parents=3, zeros=0.0, min_arity=1):
    """Columns are in no particular order: parents may come behind their children."""
    arities = rng.integers(min_arity, max_arity + 1, n).tolist()
    order = rng.permutation(n).tolist()
    parents = [[] for _ in range(n)]
    for place, c in enumerate(order):
        k = min(place, int(rng.integers(max_parents + 1)))
        parents[c] = rng.choice(order[:place], k, replace=False).tolist() if k else []
    tables = [
        random_table(rng, int(np.prod([arities[p] for p in above])), arities[c], zeros)
        for c, above in enumerate(parents)
    ]
    return Net(arities, parents, tables)


@st.composite
def nets(draw, max_columns=7):
    """Small nets with disconnected parts, columns of one value, and impossible states."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(1, max_columns))
    zeros = draw(st.sampled_from([0.0, 0.0, 0.3, 0.7]))
    return random_net(rng, n, max_arity=4, max_parents=draw(st.integers(0, 4)), zeros=zeros)


@st.composite
def findings(draw, net):
    """Any number of observed columns with any codes."""
    observed = draw(st.lists(st.integers(0, net.n - 1), unique=True, max_size=net.n))
    return {c: draw(st.integers(0, net.arities[c] - 1)) for c in observed}
