"""Arcs and questions as people type them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.cli.conditions import parse_given
from tacit.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.schema import Schema

__all__ = ["join_names", "parse_arcs", "parse_query"]


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


def parse_query(schema: Schema, text: str) -> tuple[list[str], dict[str, Any]]:
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
        schema.position(name, "--query")
    conditions: list[str] = []
    for part in right.split(","):
        if "=" in part or not conditions:
            conditions.append(part)
        else:
            conditions[-1] += f",{part}"
    given = [_trim(part) for part in conditions if part.strip()]
    for part in given:
        if "=" not in part:
            raise InputError(f"--query: {part!r} is not COLUMN=LABEL")
    try:
        return targets, parse_given(schema, given)
    except InputError as error:
        raise InputError(str(error).replace("--given", "--query")) from None


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
