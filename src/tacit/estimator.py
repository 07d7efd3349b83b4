"""What every estimator shares: X in one place or in partitions, all or nothing, and saving.

An estimator writes ``fit`` and its methods for records in one place. If it can learn from
statistics of partitions it also has ``_fit_partitions``; methods that say something of each
record, such as ``predict``, take partitioned tables without further ado.
"""

from __future__ import annotations

import os
from functools import wraps
from inspect import signature
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import check_is_fitted

from tacit import store
from tacit.errors import InputError, refuse_partitions
from tacit.plot.html import html_frame, text_html
from tacit.progress import show_notes
from tacit.scale import PartitionedTable, as_partitioned, predict_parts

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = ["Estimator", "LogProbabilities", "favour", "open_path"]


class Estimator(BaseEstimator, store.Saved):  # type: ignore[misc]
    """An estimator of scikit-learn that takes partitioned tables and can be saved.

    Attributes
    ----------
    _per_record : tuple of str
        Methods that return an entry, or a row, for each record of X. Partitioned tables are
        answered one partition after another.
    _input_tags, _target_tags : tuple of str
        What scikit-learn may give as X ("sparse", "categorical", …), and as y ("required", …).
    """

    _per_record: ClassVar[tuple[str, ...]] = (
        "apply",
        "decision_function",
        "predict",
        "predict_log_proba",
        "predict_proba",
        "score_samples",
        "transform",
    )

    _opens_files: ClassVar[bool] = False  # whether fit has a way of its own to read files
    to_text: Callable[[], str]  # each model has one

    _input_tags: ClassVar[tuple[str, ...]] = ()
    _target_tags: ClassVar[tuple[str, ...]] = ()

    def __sklearn_tags__(self) -> Any:
        """Return what scikit-learn wants to know."""
        tags = super().__sklearn_tags__()
        for name in self._input_tags:
            setattr(tags.input_tags, name, True)
        for name in self._target_tags:
            setattr(tags.target_tags, name, True)
        return tags

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name in cls._per_record:
            if callable(cls.__dict__.get(name)):
                setattr(cls, name, _answers_partitions(cls.__dict__[name]))
        if "fit" in cls.__dict__:
            cls.fit = _fits_partitions(cls.__dict__["fit"])

    def _fit_partitions(self, X: PartitionedTable, *args: Any, **options: Any) -> Any:
        """Learn from statistics of partitions; this estimator needs all records in one place."""
        refuse_partitions(X, type(self).__name__)

    def _answer_partitions(
        self, method: Callable[..., Any], X: PartitionedTable, options: dict[str, Any]
    ) -> Any:
        """Return what a method of `_per_record` says: one partition after another, by default."""
        return predict_parts(self, method.__name__, X, options)

    def _check_partitions(self, sample_weight: Any = None, **options: Any) -> None:
        """Refuse what cannot be given beside a partitioned table."""
        if sample_weight is not None:
            raise InputError(
                "sample_weight: X is a partitioned table, whose records have their weights with "
                "them; give weights= to tacit.scan"
            )

    def _html_of_fit(self) -> str:
        """Return what notebooks show of a fitted model: its text, if it has no better picture."""
        return text_html(self.to_text())

    def _repr_html_(self) -> str:
        """Show what was learnt, with the parameters one click away; unfitted, only those."""
        box: str = estimator_html_repr(self)
        try:
            check_is_fitted(self)
        except NotFittedError:
            return box
        details = f"<details><summary>{type(self).__name__}: parameters</summary>{box}</details>"
        return html_frame(self._html_of_fit(), details)

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        """Show in notebooks what `_repr_html_` says, unless scikit-learn is to show text."""
        shown: dict[str, str] = super()._repr_mimebundle_(**options)
        if "text/html" in shown:
            shown["text/html"] = self._repr_html_()
        return shown

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a file that :func:`tacit.load` reads; atomic.

        Parameters
        ----------
        path : path-like
        """
        check_is_fitted(self)
        super().save(path)


class LogProbabilities:
    """What follows for a classifier that has ``predict_proba``."""

    predict_proba: Callable[[Any], NDArray[np.float64]]

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the natural logarithm of the probability of each class or label for each record.

        Parameters
        ----------
        X : Table, PartitionedTable, frame, mapping of columns, array or sparse array
        """
        with np.errstate(divide="ignore"):  # of zero
            return np.asarray(np.log(self.predict_proba(X)))


def favour(
    probabilities: NDArray[np.float64], codes: NDArray[np.integer[Any]]
) -> NDArray[np.float64]:
    """Return probabilities of which the class that is predicted has the first greatest.

    Rounding makes some the same that were not: there, the predicted class gets the next number.

    >>> favour(np.array([[0.5, 0.5], [0.7, 0.3]]), np.array([1, 0])).argmax(axis=1)
    array([1, 0])
    """
    tied = np.flatnonzero(probabilities.argmax(axis=1) != codes)
    if len(tied) == 0:
        return probabilities
    favoured = probabilities.copy()
    favoured[tied, codes[tied]] = np.nextafter(probabilities[tied].max(axis=1), np.inf)
    return favoured


def _answers_partitions(method: Callable[..., Any]) -> Callable[..., Any]:
    """Let a method that says something of each record of X take a partitioned table, too."""

    @wraps(method)
    def answer(self: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        X = open_path(X)
        partitions = as_partitioned(X)
        if partitions is None:
            return method(self, X, *args, **kwargs)
        options = _options(method, self, X, *args, **kwargs)
        return self._answer_partitions(method, partitions, options)

    return answer


def _fits_partitions(fit: Callable[..., Any]) -> Callable[..., Any]:
    """Let fit take a partitioned table, and leave the estimator as it was if it fails."""

    @wraps(fit)
    def fit_either(self: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        before = dict(vars(self))
        try:
            X = X if self._opens_files else open_path(X)
            if type(self)._fit_partitions is Estimator._fit_partitions:
                refuse_partitions(X, type(self).__name__)  # before a frame of Dask is read
            partitions = as_partitioned(X)
            with show_notes(bool(getattr(self, "verbose", 0))):
                if partitions is None:
                    return fit(self, X, *args, **kwargs)
                options = _options(fit, self, X, *args, **kwargs)
                self._check_partitions(**options)
                options.pop("sample_weight", None)
                return self._fit_partitions(partitions, **options)
        except BaseException:  # an interruption, too
            vars(self).clear()
            vars(self).update(before)
            raise

    return fit_either


def open_path(X: Any) -> Any:
    """Return the Table of a file, if X is its path."""
    if not isinstance(X, str | os.PathLike):
        return X
    from tacit import io

    return io.read(X)


def _options(method: Callable[..., Any], *args: Any, **kwargs: Any) -> dict[str, Any]:
    """Return the arguments of a method besides self and X."""
    bound = signature(method).bind(*args, **kwargs).arguments
    return dict(list(bound.items())[2:])
