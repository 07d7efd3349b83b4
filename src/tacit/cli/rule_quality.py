"""How well a model predicts records that it has not seen: classes, labels or numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.metrics import roc_auc_score

from tacit.cli.render import number

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.cli.labelled import Labelled

__all__ = ["quality", "quality_facts"]


def quality(model: Any, records: Labelled) -> dict[str, Any]:
    """Return how well a model predicts records.

    Returns
    -------
    dict
        records and, of classes, accuracy, majority (the share of the class that is most common
        among these records) and for two classes auc; of labels, hamming, subset and held (the share
        of labels that are 1); of numbers, r2 and rmse.
    """
    weights = np.ones(records.n_records) if records.weights is None else records.weights
    weights = np.asarray(weights, np.float64)
    total = float(weights.sum())
    found: dict[str, Any] = {"records": total if total != round(total) else int(total)}
    if not hasattr(model, "classes_"):
        return found | _of_numbers(model.predict(records.X), records.y.to_numpy(), weights)
    if records.several:
        wrong = model.predict(records.X) != records.y.to_numpy()
        share = weights / total
        return found | {
            "hamming": float(share @ wrong.mean(axis=1)),
            "subset": float(share @ ~wrong.any(axis=1)),
            "held": float(share @ (records.y.to_numpy() != 0).mean(axis=1)),
        }
    return found | _of_classes(model, records, weights)


def _of_classes(
    model: Any, records: Labelled, weights: NDArray[np.float64]
) -> dict[str, float | None]:
    truth = records.y.to_list()
    classes = model.classes_.tolist()
    right = np.array(
        [own == label for own, label in zip(model.predict(records.X).tolist(), truth, strict=True)]
    )
    held: dict[Any, float] = {}
    for label, weight in zip(truth, weights.tolist(), strict=True):
        held[label] = held.get(label, 0.0) + weight
    total = float(weights.sum())
    found: dict[str, float | None] = {
        "accuracy": float(weights @ right) / total,
        "majority": max(held.values()) / total,
    }
    if len(classes) == 2:
        second = np.array([label == classes[1] for label in truth])
        both = second.any() and not second.all()
        shares = model.predict_proba(records.X)[:, 1]
        found["auc"] = float(roc_auc_score(second, shares, sample_weight=weights)) if both else None
    return found


def _of_numbers(
    predicted: NDArray[np.float64], truth: NDArray[Any], weights: NDArray[np.float64]
) -> dict[str, float | None]:
    """Return R² and the root mean squared error, of several numbers their means."""
    shape = (len(weights), -1)
    predicted, y = predicted.reshape(shape), truth.astype(np.float64).reshape(shape)
    share = weights / weights.sum()
    errors = share @ (y - predicted) ** 2
    spreads = share @ (y - share @ y) ** 2
    known = bool((spreads > 0).all())
    return {
        "r2": float(np.mean(1 - errors / spreads)) if known else None,
        "rmse": float(np.sqrt(np.mean(errors))),
    }


def quality_facts(found: dict[str, Any], where: str) -> list[tuple[str, str]]:
    """Return lines that say how well a model predicts."""
    rows = [(f"records {where}", number(found["records"]))]
    if "accuracy" in found:
        usual = f"(most common class: {found['majority']:.2%})"
        rows.append(("  predicted rightly", f"{found['accuracy']:.2%} {usual}"))
        if found.get("auc") is not None:
            rows.append(("  area under the curve", f"{found['auc']:.4f}"))
    elif "hamming" in found:
        rows.append(("  wrong labels", f"{found['hamming']:.2%} (held: {found['held']:.2%})"))
        rows.append(("  all labels right", f"{found['subset']:.2%}"))
    else:
        rows.append(("  R²", "–" if found["r2"] is None else f"{found['r2']:.4f}"))
        rows.append(("  root mean squared error", f"{found['rmse']:,.4g}"))
    return rows
