"""Tables with dependent columns, cut into partitions anywhere."""

from contextlib import contextmanager
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import strategies as st

import tacit
from tacit.scale import of_tables
from tacit.tree.partitioned import level_growth

CRITERIA = ("bayes_factor", "bic", "entropy", "gini")


def cut(table, ends):
    """Return the partitions between some places."""
    ends = sorted({0, table.n_records, *ends})
    return of_tables([table.take(np.arange(a, b)) for a, b in pairwise(ends)])


@st.composite
def cut_tables(draw, max_records=120):
    """Tables whose columns depend on each other, and their partitions."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(2, max_records))
    arities = draw(st.lists(st.integers(1, 5), min_size=2, max_size=6))
    hidden = rng.integers(0, 3, n)
    noise = draw(st.sampled_from([0.1, 0.4, 0.9]))
    columns = {}
    for c, arity in enumerate(arities):
        codes = np.where(rng.random(n) < noise, rng.integers(0, arity, n), hidden % arity)
        labels = [int(x) for x in codes]
        kind = draw(st.sampled_from(["numbers", "texts", "missing"]))
        if kind == "texts":
            labels = [f"v{x}" for x in labels]
        if kind == "missing":
            labels = [None if rng.random() < 0.1 else x for x in labels]
        columns[f"c{c}"] = labels
    weights = draw(
        st.sampled_from(
            [
                None,
                None,
                rng.integers(0, 4, n).astype(float),
                rng.random(n),
                np.full(n, 0.1),
                rng.random(n) * 10.0 ** rng.integers(-8, 8, n),
            ]
        )
    )
    if weights is not None and not weights.any():
        weights[0] = 1.0
    table = tacit.Table(columns, weights=weights)
    ends = draw(st.lists(st.integers(0, n), max_size=4) | st.just(range(min(n, 30))))
    return table, cut(table, ends)


@contextmanager
def counting(sparse):
    """Let all leaves but roots have sparse counts."""
    with pytest.MonkeyPatch.context() as patch:
        if sparse:
            patch.setattr(level_growth, "FEW_CELLS", 0)
            patch.setattr(level_growth, "PER_VALUE", 0.0)
        yield


@st.composite
def growth(draw):
    """Parameters of trees."""
    return {
        "criterion": draw(st.sampled_from(CRITERIA)),
        "splits": draw(st.sampled_from(["binary", "complete", "both"])),
        "prior": draw(st.sampled_from(["k2", "bdeu"])),
        "prior_weight": draw(st.sampled_from([1.0, 0.3])),
        "kappa": draw(st.sampled_from([1.0, 0.7, 0.1])),
        "max_depth": draw(st.sampled_from([None, None, 1, 3])),
        "min_samples_leaf": draw(st.sampled_from([1, 1, 3])),
        "max_leaf_nodes": draw(st.sampled_from([None, 1, 2, 3, 5, 8])),
        "min_gain": draw(st.sampled_from([0.0, 0.0, 0.5])),
        "ordered": draw(st.sampled_from(["auto", "auto", [], [0, 1]])),
    }
