"""The least estimator there is, for tests of what all estimators do with their X."""

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from tacit.table.inputs import Inputs


class Reader(BaseEstimator):
    """It predicts how many values of a record are stored."""

    def __init__(
        self, discretise=None, kinds=None, unseen="error", absent=None, drop=False, n_jobs=None
    ):
        self.discretise = discretise
        self.kinds = kinds
        self.unseen = unseen
        self.absent = absent
        self.drop = drop
        self.n_jobs = n_jobs

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def fit(self, X, y=None, sample_weight=None):
        """Remember the columns of X."""
        inputs = Inputs.fit(self, X, y, sample_weight, kinds=self.kinds, drop=self.drop)
        self.table_ = inputs.table(self.discretise, n_jobs=self.n_jobs)
        self._input, self.target_name_, self.target_ = inputs.spec, inputs.target_name, inputs.y
        self.fitted_ = True
        return self

    def read(self, X):
        """Return the Table that a model would see."""
        check_is_fitted(self)
        inputs = Inputs.read(
            self, X, self._input, target_name=self.target_name_, absent=self.absent
        )
        return inputs.table(unseen=self.unseen, n_jobs=self.n_jobs)

    def predict(self, X):
        """Return the number of stored values of each record."""
        return np.diff(self.read(X).indptr)
