"""How well a model predicts records that it has not seen, in words."""

from __future__ import annotations

from typing import Any

from tacit.cli.render import number

__all__ = ["quality_facts"]


def quality_facts(scores: dict[str, Any], where: str) -> list[tuple[str, str]]:
    """Return lines that say how well a model predicts."""
    rows = [(f"records {where}", number(scores["records"]))]
    if "accuracy" in scores:
        usual = f"(most common class: {scores['majority']:.2%})"
        rows.append(("  accuracy", f"{scores['accuracy']:.2%} {usual}"))
        if scores.get("auc") is not None:
            rows.append(("  area under the curve", f"{scores['auc']:.4f}"))
    elif "hamming" in scores:
        rows.append(
            ("  wrong labels", f"{scores['hamming']:.2%} (held: {scores['label_fraction']:.2%})")
        )
        rows.append(("  all labels right", f"{scores['subset']:.2%}"))
    else:
        rows.append(("  R²", "–" if scores["r2"] is None else f"{scores['r2']:.4f}"))
        rows.append(("  root mean squared error", f"{scores['rmse']:,.4g}"))
    return rows
