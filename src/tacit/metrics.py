"""How well models predict: accuracy, log-likelihood, R² and others, here or over partitions.

:func:`evaluate` gives the figures of a fitted model. Those of predictions at hand come from
:func:`classification_scores`, :func:`multilabel_scores` and :func:`regression_scores`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from tacit.errors import InputError
from tacit.scale import as_partitioned
from tacit.statistic import Statistic
from tacit.table import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from tacit.statistic import Partition

__all__ = [
    "PredictionScores",
    "classification_scores",
    "confusion_matrix",
    "evaluate",
    "multilabel_scores",
    "regression_scores",
]

_LEAST = 1e-300  # a probability of zero would make all records count for nothing


def evaluate(
    model: Any, X: Any, y: Any, sample_weight: ArrayLike | None = None, *, baseline: Any = None
) -> dict[str, Any]:
    """Return how well a model predicts records.

    Parameters
    ----------
    model : fitted classifier or regressor
    X : Table, PartitionedTable, frame, array or sparse array
    y : array-like, or str
        Classes, labels that are 0 or 1 each, or numbers; or the column of a Table or
        PartitionedTable that holds classes or numbers.
    sample_weight : array-like, optional
        How many records each one stands for; Tables have their weights with them.
    baseline : label, optional
        The class whose fraction is given as majority, such as the most common one in training; by
        default the most common one among these records.

    Returns
    -------
    dict
        records (the sum of their weights) and the figures of :func:`classification_scores`,
        :func:`multilabel_scores` or :func:`regression_scores`.

    Examples
    --------
    >>> import tacit
    >>> from tacit.metrics import evaluate
    >>> visits = tacit.datasets.load_visits()
    >>> model = tacit.DecisionTreeClassifier(max_depth=2).fit(visits, "scores")
    >>> scores = evaluate(model, visits, "scores")
    >>> round(scores["accuracy"], 3), round(scores["majority"], 3)
    (0.929, 0.916)
    >>> parts = tacit.scale.partition(visits, 3)
    >>> evaluate(model, parts, "scores")["accuracy"] == scores["accuracy"]
    True
    """
    if isinstance(y, str):
        records = X if isinstance(X, Table) else as_partitioned(X)
        if records is None:
            raise InputError(f"y: give it as an array; {y!r} is for a column of a Table")
        statistic = PredictionScores(model, y, baseline)
        scores: dict[str, Any] = records.reduce(statistic, n_jobs=getattr(model, "n_jobs", None))
        return scores
    truth = _target_array(y)
    predicted = model.predict(X)
    if not hasattr(model, "classes_"):
        scores = regression_scores(truth.astype(np.float64), predicted, sample_weight)
    elif truth.ndim == 2:
        scores = multilabel_scores(truth, predicted, sample_weight)
    else:
        probabilities = model.predict_proba(X) if hasattr(model, "predict_proba") else None
        scores = classification_scores(
            truth, predicted, sample_weight, classes=model.classes_, probabilities=probabilities,
            baseline=baseline,
        )  # fmt: skip
    return {"records": _count(_weights(sample_weight, len(truth)).sum()), **scores}


# Classes


def classification_scores(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    classes: ArrayLike | None = None,
    probabilities: NDArray[np.float64] | None = None,
    baseline: Any = None,
) -> dict[str, Any]:
    """Return how well classes were predicted.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_records,)
    sample_weight : array-like of shape (n_records,), optional
    classes : array-like of shape (n_classes,), optional
        Those of the columns of `probabilities`.
    probabilities : ndarray of shape (n_records, n_classes), optional
    baseline : label, optional
        As for :func:`evaluate`.

    Returns
    -------
    dict
        accuracy, f1 (of the second of two classes, else the mean over classes) and majority, the
        fraction of the most common class. With probabilities, also log_likelihood: the mean
        logarithm of the probability of the class, in nats a record, of records whose class the
        model knows; and, of two classes, auc: the area under the ROC curve, or None.

    Examples
    --------
    >>> classification_scores(["a", "b", "b", "b"], ["a", "b", "b", "a"])
    {'accuracy': 0.75, 'f1': 0.8, 'majority': 0.75}
    """
    from sklearn.metrics import f1_score, roc_auc_score

    truth, predicted = _target_array(y_true), _target_array(y_pred)
    weights = _weights(sample_weight, len(truth))
    known = None if classes is None else _target_array(classes)
    sums = _class_sums(truth, predicted, weights, known, probabilities)
    scores = _class_scores(sums, baseline)
    labels = _all_labels([] if known is None else known.tolist(), truth, predicted)
    codes, guesses = _codes(truth, labels), _codes(predicted, labels)
    counted = [1] if len(labels) == 2 else np.unique(np.concatenate((codes, guesses)))
    f1 = f1_score(
        codes, guesses, labels=counted, average="macro", zero_division=0, sample_weight=weights
    )
    scores = {"accuracy": scores.pop("accuracy"), "f1": float(f1), **scores}
    if probabilities is not None and known is not None and len(known) == 2:
        second = np.array([label == known[1] for label in truth.tolist()])
        both = second.any() and not second.all()
        scores["auc"] = (
            float(roc_auc_score(second, probabilities[:, 1], sample_weight=weights))
            if both
            else None
        )
    return scores


def confusion_matrix(
    y_true: ArrayLike, y_pred: ArrayLike, classes: Sequence[Any] = ()
) -> tuple[list[Any], NDArray[np.int64]]:
    """Return classes, and how many records of each (by row) were predicted as each (by column).

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_records,)
    classes : sequence, optional
        Those that come first; others follow in the order in which they occur.

    Examples
    --------
    >>> confusion_matrix(["a", "b", "c"], ["a", "a", "b"], ["a", "b"])
    (['a', 'b', 'c'], array([[1, 0, 0],
           [1, 0, 0],
           [0, 1, 0]]))
    """
    from sklearn import metrics

    truth, predicted = _target_array(y_true), _target_array(y_pred)
    labels = _all_labels(list(classes), truth, predicted)
    matrix: NDArray[np.int64] = metrics.confusion_matrix(
        _codes(truth, labels), _codes(predicted, labels), labels=np.arange(len(labels))
    )
    return labels, matrix


def _class_sums(
    truth: NDArray[Any],
    predicted: NDArray[Any],
    weights: NDArray[np.float64],
    classes: NDArray[Any] | None,
    probabilities: NDArray[np.float64] | None,
) -> dict[str, Any]:
    """Return the sums that scores are made of, which can be added up over partitions."""
    labels = _all_labels([], truth, predicted)
    codes = _codes(truth, labels)
    counts = np.bincount(codes, weights, len(labels)).tolist()
    sums = {
        "total": float(weights.sum()),
        "right": float(weights[codes == _codes(predicted, labels)].sum()),
        "counts": dict(zip(labels, counts, strict=True)),
    }
    if probabilities is not None and classes is not None:
        columns = _codes(truth, classes.tolist())
        known = columns >= 0  # a class that the model has never seen has no probability
        logs = np.log(np.maximum(probabilities[known, columns[known]], _LEAST))
        sums["logs"] = float((weights[known] * logs).sum())
        sums["known"] = float(weights[known].sum())
    return sums


def _class_scores(sums: dict[str, Any], baseline: Any) -> dict[str, Any]:
    counts, total = sums["counts"], sums["total"] or 1.0
    common = max(counts.values()) if baseline is None else counts.get(baseline, 0.0)
    scores = {"accuracy": sums["right"] / total, "majority": common / total}
    if "logs" in sums:
        scores["log_likelihood"] = sums["logs"] / (sums["known"] or 1.0)
    return scores


# Labels and numbers


def multilabel_scores(
    y_true: ArrayLike, y_pred: ArrayLike, sample_weight: ArrayLike | None = None
) -> dict[str, Any]:
    """Return how well several labels were predicted, each 0 or 1.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_records, n_labels)
    sample_weight : array-like of shape (n_records,), optional

    Returns
    -------
    dict
        hamming, the fraction of labels that are wrong; subset, the fraction of records with no
        label wrong; and label_fraction, the fraction of labels that are 1.

    Examples
    --------
    >>> multilabel_scores([[0, 1], [1, 1]], [[0, 1], [0, 1]])
    {'hamming': 0.25, 'subset': 0.5, 'label_fraction': 0.75}
    """
    from sklearn.metrics import accuracy_score, hamming_loss

    truth, predicted = np.asarray(y_true), np.asarray(y_pred)
    weights = _weights(sample_weight, len(truth))
    return {
        "hamming": float(hamming_loss(truth, predicted, sample_weight=weights)),
        "subset": float(accuracy_score(truth, predicted, sample_weight=weights)),
        "label_fraction": float(np.average((truth != 0).mean(axis=1), weights=weights)),
    }


def regression_scores(
    y_true: ArrayLike, y_pred: ArrayLike, sample_weight: ArrayLike | None = None
) -> dict[str, Any]:
    """Return how well numbers were predicted.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_records,) or (n_records, n_outputs)
    sample_weight : array-like of shape (n_records,), optional

    Returns
    -------
    dict
        r2, of several outputs the mean, None if one does not vary; and rmse, the root mean squared
        error, of all outputs together.

    Examples
    --------
    >>> regression_scores([1.0, 2.0, 3.0], [1.0, 2.0, 2.0])
    {'r2': 0.5, 'rmse': 0.577...}
    """
    truth = np.asarray(y_true, np.float64)
    return _number_scores(
        _number_sums(truth, np.asarray(y_pred), _weights(sample_weight, len(truth)))
    )


def _number_sums(
    truth: NDArray[np.float64], predicted: NDArray[np.float64], weights: NDArray[np.float64]
) -> dict[str, Any]:
    """Return sums of squares around predictions and around the mean, for each output."""
    shape = (len(weights), -1)
    y, total = truth.reshape(shape), float(weights.sum())
    mean = weights @ y / (total or 1.0)
    return {
        "total": total,
        "error": weights @ (y - predicted.reshape(shape)) ** 2,
        "mean": mean,
        "spread": weights @ (y - mean) ** 2,
    }


def _number_scores(sums: dict[str, Any]) -> dict[str, Any]:
    error, spread = sums["error"], sums["spread"]
    return {
        "r2": float(np.mean(1 - error / spread)) if (spread > 0).all() else None,
        "rmse": float(np.sqrt(np.mean(error) / (sums["total"] or 1.0))),
    }


# Partitions


@dataclass(frozen=True)
class PredictionScores(Statistic["dict[str, Any]"]):
    """How well a model predicts a column of a Table or of its partitions.

    Attributes
    ----------
    model : fitted classifier or regressor
    target : str
    baseline : label, optional
        As for :func:`evaluate`.
    """

    model: Any
    target: str
    baseline: Any = None

    def partial(self, partition: Partition) -> dict[str, Any]:
        """Add up what is right in a partition."""
        table, model = partition.records, self.model
        labels = np.array([*table.schema[self.target].labels, None], object)[:-1]
        truth, weights = labels[table.codes(self.target)], _weights(table.weights, table.n_records)
        predicted = model.predict(table)
        if not hasattr(model, "classes_"):
            return _number_sums(truth.astype(np.float64), predicted, weights)
        probabilities = model.predict_proba(table) if hasattr(model, "predict_proba") else None
        return _class_sums(truth, predicted, weights, model.classes_, probabilities)

    def merge(self, one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
        """Add up."""
        both = {name: one[name] + other[name] for name in one if name != "counts"}
        if "counts" in one:
            labels = one["counts"] | other["counts"]
            both["counts"] = {
                label: one["counts"].get(label, 0.0) + other["counts"].get(label, 0.0)
                for label in labels
            }
        elif both["total"]:
            apart, fraction = other["mean"] - one["mean"], other["total"] / both["total"]
            both["mean"] = one["mean"] + apart * fraction
            both["spread"] = both["spread"] + apart**2 * one["total"] * fraction
        return both

    def finalize(self, summary: dict[str, Any]) -> dict[str, Any]:
        """Return the scores."""
        scores = (
            _class_scores(summary, self.baseline)
            if "counts" in summary
            else _number_scores(summary)
        )
        return {"records": _count(summary["total"]), **scores}


# What they all need


def _target_array(y: Any) -> NDArray[Any]:
    """Return a target as an array; of objects, if it may hold several types."""
    if nw.dependencies.is_into_dataframe(y):
        return np.asarray(nw.from_native(y, eager_only=True).to_numpy())
    if nw.dependencies.is_into_series(y):
        y = nw.from_native(y, series_only=True).to_list()
    if isinstance(y, list | tuple) and not (len(y) and isinstance(y[0], list | tuple)):
        array = np.empty(len(y), object)
        array[:] = y
        return array
    return np.asarray(y)


def _weights(weights: ArrayLike | None, n_records: int) -> NDArray[np.float64]:
    return np.ones(n_records) if weights is None else np.asarray(weights, np.float64)


def _count(total: float) -> int | float:
    return int(total) if total == round(total) else float(total)


def _all_labels(first: list[Any], *labels: NDArray[Any]) -> list[Any]:
    """Return different labels in the order in which they come."""
    return list(dict.fromkeys([*first, *(label for some in labels for label in some.tolist())]))


def _codes(labels: NDArray[Any], classes: list[Any]) -> NDArray[np.int64]:
    """Return the indices of classes; -1 for others."""
    index = {label: k for k, label in enumerate(classes)}
    return np.array([index.get(label, -1) for label in labels.tolist()], np.int64)
