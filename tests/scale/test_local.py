"""Counts of partitions on this machine are those of the whole, whatever the partitioning."""

import numpy as np
import pytest

import tacit


@pytest.fixture(scope="module")
def visits():
    return tacit.datasets.load_visits()


def same(one, other):
    return one.names == other.names and np.array_equal(one.to_array(), other.to_array())


@pytest.mark.parametrize("n", [1, 2, 5, 16])
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("memory", [None, "1MB"])
def test_counts(visits, n, n_jobs, memory):
    parts = tacit.scale.partition(visits, n, memory=memory)
    assert np.array_equal(parts.one_way(n_jobs=n_jobs).counts, visits.one_way().counts)
    assert np.array_equal(
        parts.two_way("news", n_jobs=n_jobs).counts, visits.two_way("news").counts
    )
    assert np.array_equal(parts.pairs(n_jobs=n_jobs).stored, visits.pairs().stored)
    columns = ["news", "weather", "sports"]
    given = {"news": True}
    assert same(parts.contingency(columns), visits.contingency(columns))
    assert same(
        parts.contingency(["weather"], given=given), visits.contingency(["weather"], given=given)
    )
    assert parts.count(given) == visits.count(given)
    assert parts.summary().as_dict() | {"n_bytes": 0} == visits.summary().as_dict() | {"n_bytes": 0}
