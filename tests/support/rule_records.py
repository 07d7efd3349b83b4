"""Records whose classes, labels and numbers follow from a few conditions, and their columns."""

import datetime as dt

import numpy as np
import polars as pl
from sklearn.base import BaseEstimator

from tacit.rules.columns.coding import code_columns
from tacit.rules.columns.features import RuleFeatures
from tacit.table.inputs import Inputs


def make_records(n=300, n_columns=6, seed=0):
    """Return sparse numbers, and labels that follow from them but for some noise."""
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((n, n_columns)) < 0.4, rng.integers(-3, 6, (n, n_columns)), 0)
    X = X.astype(np.float64)
    first = (X[:, 0] > 1) | (X[:, 1] < 0)
    second = (X[:, 2] > 2) & (X[:, 0] <= 1)
    labels = np.stack([first, second, X[:, 3] != 0], axis=1)
    labels ^= rng.random(labels.shape) < 0.03
    return X, labels.astype(np.int64)


X, LABELS = make_records()
CLASSES = np.array(["low", "middle", "high"])[LABELS[:, 0] + LABELS[:, 1]]
TARGETS = {"binary": LABELS[:, 0], "multiclass": CLASSES, "multilabel": LABELS}


def fit_columns(given, estimator=None, *, kinds=None, defaults="auto", bins=None, n_jobs=1):
    """Return what a model of rules remembers of the X of fit, and the columns it searches."""
    inputs = Inputs.fit(estimator or BaseEstimator(), given, kinds=kinds)
    numbers = inputs.numbers()
    features = RuleFeatures(inputs.spec)
    return features, code_columns(features, numbers, defaults, bins, n_jobs)


def read_columns(features, given, estimator=None):
    """Return the columns of other records."""
    if estimator is None:
        estimator = BaseEstimator()
        features.spec.note(estimator)
    return Inputs.read(estimator, given, features.spec).numbers()


def dense_columns(new):
    """Write all columns out."""
    out = np.tile(new.unlisted, (new.n_records, 1))
    for c in range(len(new.unlisted)):
        listed = slice(new.indptr[c], new.indptr[c + 1])
        rows = slice(None) if new.records is None else new.records[listed]
        out[rows, c] = new.values[listed]
    return out


MIXED = {  # one column of each type
    "age": [31, None, 44, 31],
    "size": ["M", "S", None, "L"],
    "town": ["Ulm", "Bern", "Ulm", None],
    "pays": [True, False, None, True],
    "day": [dt.date(2020, 1, 31), dt.date(2021, 1, 1), None, dt.date(2020, 1, 31)],
}
SIZES = ["S", "M", "L", "XL"]


def polars_frame():
    """Return columns of all types, with missing values."""
    return pl.DataFrame(MIXED).with_columns(pl.col("size").cast(pl.Enum(SIZES)))
