"""What a net is asked on the command line, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from tacit.cli.answers import Query, answer_json, conditions_text, print_answers
from tacit.cli.bayes_net_texts import parse_arcs, parse_likelihood, parse_question
from tacit.cli.options import written_option
from tacit.cli.output import json_label, json_rows, put
from tacit.cli.render import gains_grid, labels_grid
from tacit.errors import InputError

if TYPE_CHECKING:
    import polars as pl
    from rich.console import Console

    from tacit.network import Distribution
    from tacit.network.bayes_net.net_estimator import NetEstimator

__all__ = ["Answers", "Questions"]


@dataclass(frozen=True)
class Answers:
    """Answers to all questions, each with what was supposed."""

    distributions: list[Distribution]
    labels: list[tuple[dict[str, Any], dict[str, Any], float]]
    gains: list[tuple[dict[str, Any], str, pl.DataFrame]]
    adjustments: list[tuple[str, str, list[str] | None]]

    def __bool__(self) -> bool:
        return bool(self.distributions or self.labels or self.gains or self.adjustments)

    def print(self, console: Console) -> None:
        """Print them, one after another."""
        print_answers(console, self.distributions)
        for supposed, labels, log_probability in self.labels:
            console.print()
            given = conditions_text(supposed["given"], supposed["do"], supposed["likelihood"])
            known = f" given {given}" if given else ""
            console.print(
                f"most probable{known} (log-probability {log_probability:.4f}):", soft_wrap=True
            )
            put(console, labels_grid(labels))
        for supposed, target, gains in self.gains:
            console.print()
            given = conditions_text(supposed["given"], supposed["do"], supposed["likelihood"])
            known = f" given {given}" if given else ""
            console.print(f"what says most of {target}{known}:", soft_wrap=True)
            put(console, gains_grid(gains))
        for treatment, outcome, columns in self.adjustments:
            console.print()
            text = f"adjust for {', '.join(columns or []) or 'nothing'}"
            if columns is None:
                text = "no columns to adjust for will do"
            console.print(f"what {treatment} does to {outcome}: {text}", soft_wrap=True)

    def as_json(self) -> dict[str, Any]:
        """Return them as JSON has them; of the kinds that were not asked for, none."""
        shown: dict[str, Any] = {
            "answers": [answer_json(answer) for answer in self.distributions],
            "most_probable": [
                _supposed(supposed)
                | {
                    "labels": {name: json_label(label) for name, label in labels.items()},
                    "log_probability": log_probability,
                }
                for supposed, labels, log_probability in self.labels
            ],
            "value_of_information": [
                _supposed(supposed) | {"target": target, "columns": json_rows(gains)}
                for supposed, target, gains in self.gains
            ],
            "adjustment_sets": [
                {"treatment": one, "outcome": other, "columns": columns}
                for one, other, columns in self.adjustments
            ],
        }
        return {name: found for name, found in shown.items() if found or name == "answers"}


def _supposed(supposed: dict[str, Any]) -> dict[str, Any]:
    return {
        what: {name: json_label(label) for name, label in supposed[what].items()}
        for what in ("given", "do")
    }


@dataclass(frozen=True)
class Questions:
    """Questions to a net: an option for each field."""

    query: Query = None
    most_probable: Annotated[
        list[str] | None,
        written_option(
            metavar="'A, B | C=LABEL'",
            help="Print the labels of columns that are most probable together; can be repeated.",
        ),
    ] = None
    ask_next: Annotated[
        list[str] | None,
        written_option(
            metavar="'A | C=LABEL'",
            help="Print which columns to ask next to learn most of one; can be repeated.",
        ),
    ] = None
    likelihood: Annotated[
        list[str] | None,
        written_option(
            metavar="'C: LABEL=NUMBER, LABEL=NUMBER'",
            help="What was seen of a column, for all questions: how probable that is for each of "
            "its labels; can be repeated.",
        ),
    ] = None
    adjust: Annotated[
        list[str] | None,
        written_option(
            metavar="A->B",
            help="Print which columns to adjust for, to see what A does to B; can be repeated.",
        ),
    ] = None

    def ask(self, net: NetEstimator) -> Answers:
        """Return what a net answers."""
        schema = net.schema_
        likelihood = parse_likelihood(schema, self.likelihood or [])
        if likelihood and not (self.query or self.most_probable or self.ask_next):
            raise InputError("--likelihood: there is no question that it is for")

        def read(option: str, text: str) -> tuple[list[str], dict[str, Any]]:
            columns, given, do = parse_question(schema, text, option)
            return columns, {"given": given, "do": do, "likelihood": likelihood}

        distributions, labels, gains = [], [], []
        for text in self.query or []:
            columns, supposed = read("--query", text)
            distributions.append(net.query(columns, **supposed))
        for text in self.most_probable or []:
            columns, supposed = read("--most-probable", text)
            labels.append((supposed, *net.most_probable(columns=columns, **supposed)))
        for text in self.ask_next or []:
            columns, supposed = read("--ask-next", text)
            if len(columns) != 1:
                raise InputError(f"--ask-next: name one column, not {len(columns)}, in {text!r}")
            gains.append((supposed, columns[0], net.value_of_information(columns[0], **supposed)))
        arcs = parse_arcs(schema, self.adjust or [], "--adjust")
        adjustments = [(a, b, net.adjustment_set(a, b)) for a, b in arcs]
        return Answers(distributions, labels, gains, adjustments)
