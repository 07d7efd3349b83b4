"""Arcs and questions as people type them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tacit.cli.conditions import parse_given, parse_label
from tacit.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.schema import Schema

__all__ = ["join_names", "parse_arcs", "parse_likelihood", "parse_query", "parse_question"]

# What is set stands between the brackets; labels may have some of their own.
_DO = re.compile(r"(?<![^,\s])do\(((?:[^()]|\([^()]*\))*)\)\s*(?=,|$),?")
_NUMBERED = re.compile(r"(?:^|,)([^=]+)=\s*([0-9.]+(?:[eE][-+]?[0-9]+)?)\s*(?=,|$)")


def parse_arcs(schema: Schema, texts: Sequence[str], option: str) -> list[tuple[str, str]]:
    """Turn texts like ``a->b`` into arcs.

    >>> import tacit
    >>> parse_arcs(tacit.Table({"a": [1, 2], "b": [1, 2]}).schema, ["a -> b"], "--require")
    [('a', 'b')]
    """
    arcs = []
    for text in texts:
        ends = [end.strip() for end in text.replace("→", "->").split("->")]
        if len(ends) != 2 or not all(ends):
            raise InputError(f"{option}: {text!r} is not FROM->TO")
        for end in ends:
            schema.position(end, option)
        arcs.append((ends[0], ends[1]))
    return arcs


def parse_query(
    schema: Schema, text: str, option: str = "--query"
) -> tuple[list[str], dict[str, Any]]:
    """Turn a text like ``a, b | c=label, d=label`` into targets and what is given.

    Names and labels may hold commas where that leaves only one way to read them.

    >>> import tacit
    >>> schema = tacit.Table({"a": [1, 2], "b": ["x, y", "z"]}).schema
    >>> parse_query(schema, "a | b=x, y")
    (['a'], {'b': 'x, y'})
    """
    left, _, right = text.partition("|")
    targets = join_names(left, lambda name: name in schema.names)
    for name in targets:
        schema.position(name, option)
    return targets, _parse_labels(schema, right, option)


def parse_question(
    schema: Schema, text: str, option: str
) -> tuple[list[str], dict[str, Any], dict[str, Any]]:
    """Turn a text like ``a | do(b=label), c=label`` into targets, what is given, and what is set.

    >>> import tacit
    >>> schema = tacit.Table({"a": [1, 2], "b": [1, 2], "c": ["(x)", "y"]}).schema
    >>> parse_question(schema, "a | do(c=(x)), b=2", "--query")
    (['a'], {'b': 2}, {'c': '(x)'})
    """
    left, _, right = text.partition("|")
    done = [match[1] for match in _DO.finditer(right)]
    targets, given = parse_query(schema, f"{left}|{_DO.sub('', right)}", option)
    return targets, given, _parse_labels(schema, ",".join(done), option)


def parse_likelihood(schema: Schema, texts: Sequence[str]) -> dict[str, dict[Any, float]]:
    """Turn texts like ``column: label=number, label=number`` into what is likely.

    >>> import tacit
    >>> schema = tacit.Table({"a": [1, 2], "b": ["x, y", "z"]}).schema
    >>> parse_likelihood(schema, ["b: x, y=0.5, z=2"])
    {'b': {'x, y': 0.5, 'z': 2.0}}
    """
    found: dict[str, dict[Any, float]] = {}
    for text in texts:
        ends = [k for k, letter in enumerate(text) if letter == ":"]
        end = next((k for k in ends if text[:k].strip() in schema.names), ends[0] if ends else -1)
        name, labels = text[: max(end, 0)].strip(), text[end + 1 :]
        if not name:
            raise InputError(f"--likelihood: {text!r} is not COLUMN: LABEL=NUMBER, LABEL=NUMBER")
        column = schema.column(schema.position(name, "--likelihood"))
        if name in found:
            raise InputError(f"--likelihood: column {name!r} is there twice")
        found[name] = {}
        for label, number in _NUMBERED.findall(labels):
            try:
                found[name][parse_label(column, label.strip())] = float(number)
            except InputError as error:
                raise InputError(f"--likelihood: {error}") from None
        if _NUMBERED.sub("", labels).strip(", "):
            raise InputError(f"--likelihood: {text!r} is not COLUMN: LABEL=NUMBER, LABEL=NUMBER")
    return found


def _parse_labels(schema: Schema, text: str, option: str) -> dict[str, Any]:
    conditions: list[str] = []
    for part in text.split(","):
        if "=" in part or not conditions:
            conditions.append(part)
        else:
            conditions[-1] += f",{part}"
    given = [_trim(part) for part in conditions if part.strip()]
    for part in given:
        if "=" not in part:
            raise InputError(f"{option}: {part!r} is not COLUMN=LABEL")
    try:
        return parse_given(schema, given)
    except InputError as error:
        raise InputError(str(error).replace("--given", option)) from None


def _trim(condition: str) -> str:
    """Drop blanks around a condition and around its first sign of equality."""
    name, _, label = condition.partition("=")
    return f"{name.strip()}={label.strip()}" if "=" in condition else condition.strip()


def join_names(text: str, is_name: Any) -> list[str]:
    """Cut a text at its commas, but not within names that hold some."""
    found: list[str] = []
    rest = text.split(",")
    while rest:
        longest = next(
            (k for k in range(len(rest), 0, -1) if is_name(",".join(rest[:k]).strip())), 1
        )
        found.append(",".join(rest[:longest]).strip())
        rest = rest[longest:]
    return [name for name in found if name]
