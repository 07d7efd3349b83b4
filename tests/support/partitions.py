"""Tables with dependent columns, cut into partitions anywhere."""

from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import strategies as st

import tacit
from tacit.scale import Partition, of_tables, on_dask, partition
from tacit.tree.partitioned import level_growth

CRITERIA = ("bayes_factor", "bic", "entropy", "gini")


def cut(table, ends):
    """Return the partitions between some places."""
    ends = sorted({0, table.n_records, *ends})
    return of_tables([table.take(np.arange(a, b)) for a, b in pairwise(ends)])


def part_of(table, index=0, first=0, n_jobs=1):
    return Partition(table, index, first, n_jobs)


@dataclass
class Faulty:
    """A reader whose partitions fail after a while."""

    reader: object
    left: int

    def load(self, piece, n_jobs):
        self.left -= 1
        if self.left < 0:
            raise OSError(f"{piece.name} cannot be read")
        return self.reader.load(piece, n_jobs)


def fails_after(parts, loads):
    """Let partitions be read so many times only; none is kept."""
    partitions = parts._metadata.partitions
    object.__setattr__(partitions, "reader", Faulty(partitions.reader, loads))
    object.__setattr__(partitions, "keep", False)
    return parts


def assert_refused_before_a_pass(model, table, message, **arguments):
    """Check that a model refuses to be fitted before a partition is read, and learns nothing."""
    parts = partition(table, 2)
    with pytest.raises(tacit.InputError, match=message):
        model.fit(parts, **arguments)
    assert parts.cost.passes == 0
    assert not [name for name in vars(model) if name.endswith("_")]


def assert_errors_leave_a_model(model, table, loads, *asks):
    """Check that a model is as it was, fitted or not, where a partition cannot be read."""
    for fit_before in (False, True):
        if fit_before:
            model.fit(table)
        before = dict(vars(model))
        for ask in asks:
            with pytest.raises(OSError, match=r"partition . cannot be read"):
                ask(fails_after(partition(table, 4), loads))
        assert vars(model) == before


def assert_all_refuse(asks, parts, message):
    """Check that records are refused, whatever is asked of them."""
    for ask in asks:
        with pytest.raises(tacit.InputError, match=message):
            ask(parts)


@contextmanager
def on_threads():
    """Run passes on a Dask cluster of threads of this process."""
    distributed = pytest.importorskip("distributed")
    with (
        distributed.Client(processes=False, dashboard_address=":0", set_as_default=False) as client,
        on_dask(client),
    ):
        yield


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
        "kinds": draw(
            st.sampled_from(
                [None, None, {"c0": "categorical"}, {"c0": "categorical", "c1": "categorical"}]
            )
        ),
    }
