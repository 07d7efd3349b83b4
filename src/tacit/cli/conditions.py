"""Conditions as people type them: --given."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli.output import json_label
from tacit.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tacit.schema import Column, Label, Schema

__all__ = ["Given", "check_given", "json_given", "parse_conditions", "parse_given", "parse_label"]

Given = Annotated[
    list[str] | None,
    typer.Option(
        "--given",
        "-g",
        metavar="COLUMN=LABEL",
        help="Count only records with this label; can be repeated. LABEL,LABEL means any of these, "
        "LOW..HIGH all between two, both included (either can be left out), COLUMN!=… all others. "
        "No label means missing.",
    ),
]


def check_given(given: Sequence[str] | None) -> None:
    """Refuse texts that cannot be a condition, before a file is read."""
    for text in given or ():
        if "=" not in text:
            raise typer.BadParameter(f"{text!r} is not COLUMN=LABEL", param_hint="--given")


def parse_given(schema: Schema, conditions: Sequence[str]) -> dict[str, Any]:
    """Turn texts like ``column=label`` into a query of one label for each column.

    >>> import tacit
    >>> schema = tacit.Table({"rain": [False, True], "x=y": [3, 4]}).schema
    >>> parse_given(schema, ["rain=True", "x=y=3"])
    {'rain': True, 'x=y': 3}
    """
    return {
        column.name: parse_label(column, text)
        for column, text, _ in _split_all(schema, conditions, exclusion=False)
    }


def parse_conditions(schema: Schema, conditions: Sequence[str]) -> dict[str, Any]:
    """Turn texts like ``column=label,label``, ``column=low..high`` or ``column!=…`` into a query.

    What reads like a label is that label, commas, dots and all.

    >>> import tacit
    >>> schema = tacit.Table({"age": [31, 58, 44], "town": ["Ulm", "Bern", "Bern, Ulm"]}).schema
    >>> parse_conditions(schema, ["age=30..50", "town!=Bern"])
    {'age': between(30, 50), 'town': exclude('Bern')}
    >>> parse_conditions(schema, ["age=..31,58", "town=Bern,Bern, Ulm"])
    {'age': [between(None, 31), 58], 'town': ['Bern', 'Bern, Ulm']}
    """
    from tacit.schema import exclude

    query = {}
    for column, text, negated in _split_all(schema, conditions, exclusion=True):
        parts = [_parse_part(column, part) for part in _cut(column, text)]
        condition = parts if len(parts) > 1 else parts[0]
        query[column.name] = exclude(condition) if negated else condition
    return query


def parse_label(column: Column, text: str) -> Label:
    """Return the label of a column that a text means."""
    try:
        return column.labels[column.labels.code_of_text(text)]
    except KeyError:
        column.code(text)  # says which labels there are
        raise


def json_given(query: Mapping[str, Any]) -> dict[str, Any]:
    """Return a query as JSON has it."""
    return {name: _json_condition(condition) for name, condition in query.items()}


def _json_condition(condition: Any) -> Any:
    from tacit.schema import Between, Exclude

    if isinstance(condition, Between):
        return {"between": [json_label(condition.low), json_label(condition.high)]}
    if isinstance(condition, Exclude):
        return {"exclude": _json_condition(condition.condition)}
    if isinstance(condition, list):
        return [_json_condition(part) for part in condition]
    return json_label(condition)


def _split_all(
    schema: Schema, conditions: Sequence[str], *, exclusion: bool
) -> Iterator[tuple[Column, str, bool]]:
    seen = set()
    for text in conditions:
        name, label, negated = _split(schema, text, exclusion)
        column = schema.column(schema.position(name, "--given"))
        if name in seen:
            raise InputError(f"--given: column {name!r} is there twice")
        seen.add(name)
        yield column, label, negated


def _split(schema: Schema, text: str, exclusion: bool) -> tuple[str, str, bool]:
    """Cut at the first ``=`` or ``!=`` that has a column's name before it; names may have some."""
    parts = text.split("=")
    for k in range(1, len(parts)):
        name, label = "=".join(parts[:k]), "=".join(parts[k:])
        if name in schema.names:
            return name, label, False
        if exclusion and name.endswith("!") and name[:-1] in schema.names:
            return name[:-1], label, True
    return parts[0], "=".join(parts[1:]), False


def _cut(column: Column, text: str) -> list[str]:
    """Cut a text at its commas, but not within labels that hold some."""
    found: list[str] = []
    rest = text.split(",")
    most = 1 + max((str(label).count(",") for label in column.labels), default=0)
    while rest:
        several = range(min(most, len(rest)), 1, -1)
        longest = next((k for k in several if _is_label(column, ",".join(rest[:k]))), 1)
        found.append(",".join(rest[:longest]))
        rest = rest[longest:]
    return found


def _is_label(column: Column, text: str) -> bool:
    try:
        column.labels.code_of_text(text)
    except KeyError:
        return False
    return True


def _parse_part(column: Column, text: str) -> Any:
    """Return a label, or a range of a column that has an order."""
    from tacit.schema import between

    ordered = column.labels.is_numeric or column.kind in ("numeric", "ordered")
    if not ordered or ".." not in text or _is_label(column, text):
        return parse_label(column, text if _is_label(column, text) else text.strip())
    low, _, high = text.partition("..")
    return between(_parse_end(column, low.strip()), _parse_end(column, high.strip()))


def _parse_end(column: Column, text: str) -> Any:
    """Return where a range begins or ends: a label, or a number, date or time between labels."""
    if not text:
        return None
    if _is_label(column, text):
        return parse_label(column, text)
    try:
        if column.labels.is_numeric or column.edges is not None:
            return _number(text)
        like = column.labels[0]
        if isinstance(like, dt.datetime):
            instant = dt.datetime.fromisoformat(text)
            return instant if instant.tzinfo or not like.tzinfo else instant.replace(tzinfo=dt.UTC)
        if isinstance(like, dt.date | dt.time):
            return type(like).fromisoformat(text)
    except ValueError:
        kind = "a number" if column.kind == "numeric" else "a date or a time"
        raise InputError(f"--given: column {column.name!r}: {text!r} is not {kind}") from None
    return parse_label(column, text)


def _number(text: str) -> int | float:
    try:
        return int(text)
    except ValueError:
        return float(text)
