"""What it takes for two tables to be the same: labels, defaults, stored values and weights."""

from __future__ import annotations

import numpy as np


def assert_same(table, expected):
    assert table.schema == expected.schema
    assert table.values.dtype == expected.values.dtype
    np.testing.assert_array_equal(table.indptr, expected.indptr)
    np.testing.assert_array_equal(table.values, expected.values)
    assert (table.weights is None) == (expected.weights is None)
    if expected.weights is not None:
        np.testing.assert_array_equal(table.weights, expected.weights)
