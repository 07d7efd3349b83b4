"""Answers of distributions to --query, as text and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from tacit.cli.options import written_option
from tacit.cli.output import json_label, put
from tacit.cli.render import distribution_grid

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console

    from tacit.network import Distribution

__all__ = ["Query", "answer_json", "conditions_text", "print_answers"]

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
        if shown := conditions_text(answer.given, answer.do, answer.likelihood):
            likely = f" (probability {answer.evidence:.4g})" if answer.given else ""
            console.print(f"given {shown}{likely}:", soft_wrap=True)
        put(console, distribution_grid(answer))


def conditions_text(
    given: Mapping[str, Any], do: Mapping[str, Any], likelihood: Mapping[str, Any]
) -> str:
    """Return what an answer supposes."""
    known, done = (
        [f"{name} = {'(missing)' if label is None else label}" for name, label in codes.items()]
        for codes in (given, do)
    )
    likely = [f"likelihood of {name}" for name in likelihood]
    return ", ".join([*(f"do({text})" for text in done), *known, *likely])


def answer_json(answer: Distribution) -> dict[str, Any]:
    """Return an answer as JSON has it."""
    *labels, numbers = answer.to_frame().iter_columns()
    rows = zip(*(column.to_list() for column in labels), strict=True)
    done = {name: json_label(label) for name, label in answer.do.items()}
    return {
        "columns": list(answer.names),
        "given": {name: json_label(label) for name, label in answer.given.items()},
        **({"do": done} if done else {}),
        "log_evidence": answer.log_evidence,
        "probabilities": [
            {"labels": [json_label(x) for x in row], "probability": p}
            for row, p in zip(rows, numbers.to_list(), strict=True)
        ],
    }
