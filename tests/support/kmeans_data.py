"""Data to try k-means on, and how tests look at them."""

from __future__ import annotations

import warnings

import numpy as np
import polars as pl
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

ALGORITHMS = ("lloyd", "bounds", "auto")


def blobs(m=400, n=5, k=6, seed=0, spread=0.6):
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(k, n)) * 3
    return centres[rng.integers(0, k, m)] + spread * rng.normal(size=(m, n))


def sparse_rows(m=500, n=40, seed=0, kind=np.float64):
    rng = np.random.default_rng(seed)
    dense = rng.normal(size=(m, n)) * (rng.random((m, n)) < 0.15)
    return sparse.csr_array(dense.astype(kind))


def dense_of(X):
    return X.toarray() if sparse.issparse(X) else np.asarray(X)


def days(n=300, share=0.1):
    """Three kinds of days, and a share of each column that is of another kind."""
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 3, n)
    noise = rng.random((n, 4)) < share
    return pl.DataFrame(
        {
            "sky": np.array(["blue", "grey", "white"])[(kind + noise[:, 0]) % 3],
            "rain": (kind == 1) != noise[:, 1],
            "wind": np.array(["none", "some", "storm"])[np.where(noise[:, 2], 2, kind % 2)],
            "snow": (kind == 2) != noise[:, 3],
        }
    )


def one_hot(table):
    """Return the coordinates of a Table's records, one for each label, in the order of centres."""
    codes = table.to_numpy()
    return np.hstack([np.eye(a)[codes[:, c]] for c, a in enumerate(table.schema.arities)])


def fit_quietly(model, X, **options):
    """Fit where there may be too few distinct records."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, **options)
