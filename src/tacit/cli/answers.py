"""Answers of distributions to --query, as text and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from tacit.cli.options import written_option
from tacit.cli.output import json_label, put
from tacit.cli.render import distribution_grid

if TYPE_CHECKING:
    from rich.console import Console

    from tacit.network import Distribution

__all__ = ["Query", "answer_json", "print_answers"]

Query = Annotated[
    list[str] | None,
    written_option(
        "--query",
        "-q",
        metavar="'A, B | C=LABEL'",
        help="Print the distribution of columns, given labels of others; can be repeated.",
    ),
]


def print_answers(console: Console, answers: list[Distribution]) -> None:
    """Print what is given and what follows, one answer after another."""
    for answer in answers:
        console.print()
        if answer.given:
            shown = ", ".join(
                f"{name} = {'(missing)' if label is None else label}"
                for name, label in answer.given.items()
            )
            console.print(f"given {shown} (probability {answer.evidence:.4g}):", soft_wrap=True)
        put(console, distribution_grid(answer))


def answer_json(answer: Distribution) -> dict[str, Any]:
    """Return an answer as JSON has it."""
    *labels, numbers = answer.to_frame().iter_columns()
    rows = zip(*(column.to_list() for column in labels), strict=True)
    return {
        "columns": list(answer.names),
        "given": {name: json_label(label) for name, label in answer.given.items()},
        "log_evidence": answer.log_evidence,
        "probabilities": [
            {"labels": [json_label(x) for x in row], "probability": p}
            for row, p in zip(rows, numbers.to_list(), strict=True)
        ],
    }
