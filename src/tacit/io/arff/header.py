"""The header of an ARFF file, and how its values are written."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from tacit.errors import FileError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tacit.io.opening import PathLike

__all__ = ["QUOTED", "Attribute", "read_header", "split_values", "unquote"]

QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
# A value, what stands around it, and the comma or the end (or a comment) after it.
_VALUE = re.compile(rf"\s*(?:({QUOTED})|((?:[^,'\"%]|(?<!\s)%)[^,]*?)?)\s*(,|$|(?<=\s)%.*$)")
_ATTRIBUTE = re.compile(rf"@attribute\s+({QUOTED}|[^\s'\"{{}}][^\s{{}}]*)\s*(.*)$", re.I)
_LABELS = re.compile(rf"{{((?>{QUOTED}|[^}}])*+)}}\s*(?:%.*)?")
_ESCAPE = re.compile(r"\\(.)")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}


@dataclass(frozen=True)
class Attribute:
    """One declared column."""

    name: str
    kind: str
    labels: tuple[str, ...] = ()  # of a nominal attribute, as declared

    @cached_property
    def numbers(self) -> tuple[float, ...]:
        """The labels of a nominal attribute as numbers; empty if one is not a finite number."""
        try:
            numbers = tuple(float(label) for label in self.labels)
        except ValueError:
            return ()
        return numbers if all(map(math.isfinite, numbers)) else ()


def unquote(text: str) -> str:
    """Return a value without its quotes and escapes."""
    if len(text) >= 2 and text[0] in "'\"" and text[-1] == text[0]:
        text = text[1:-1]
    if "\\" not in text:
        return text
    return _ESCAPE.sub(lambda match: _ESCAPES.get(match[1], match[1]), text)


def split_values(text: str) -> list[str | None]:
    r"""Split values at commas that are not quoted; a bare question mark is missing.

    >>> split_values(r"1, 'it\'s, so', ?, '?'")
    ['1', "it's, so", None, '?']
    """
    values: list[str | None] = []
    position = 0
    while True:
        match = _VALUE.match(text, position)
        if match is None:
            raise ValueError(f"cannot read {text[position : position + 40]!r}")
        quoted, bare, end = match.groups()
        if quoted is not None:
            values.append(unquote(quoted))
        else:
            values.append(None if bare == "?" else unquote(bare or ""))
        if end != ",":
            return values
        position = match.end()


def read_header(path: PathLike, lines: Iterator[tuple[int, str]]) -> list[Attribute]:
    """Read numbered lines up to and including ``@data``; `path` is for error messages."""
    attributes: list[Attribute] = []
    seen: set[str] = set()
    for number, raw in lines:
        line = raw.strip()
        keyword = line[:10].lower()
        if not line or line.startswith("%") or keyword.startswith("@relation"):
            continue
        if keyword == "@attribute":
            try:
                attribute = _attribute(line)
            except ValueError as error:
                raise FileError(path, f"line {number}: {error}") from None
            if attribute.name in seen:
                raise FileError(path, f"line {number} declares {attribute.name!r} again")
            seen.add(attribute.name)
            attributes.append(attribute)
        elif keyword.startswith("@data"):
            if not attributes:
                raise FileError(path, "declares no attributes")
            return attributes
        else:
            raise FileError(path, f"line {number} is none of an ARFF header: {line[:40]!r}")
    raise FileError(path, "has no @data line; it is cut off, or not an ARFF file")


def _attribute(line: str) -> Attribute:
    match = _ATTRIBUTE.match(line)
    if match is None:
        raise ValueError("an attribute needs a name and a type")
    name, kind = unquote(match[1]), match[2].strip()
    if kind.startswith("{"):
        return Attribute(name, "nominal", _labels(name, kind))
    word = re.split(r"[\s%]", kind, maxsplit=1)[0].lower()
    kinds = {"numeric": "numeric", "real": "numeric", "integer": "integer"}
    kinds |= {"string": "text", "date": "text"}
    if word not in kinds:
        raise ValueError(f"attribute {name!r} has the type {word!r}, which is not supported")
    return Attribute(name, kinds[word])


def _labels(name: str, kind: str) -> tuple[str, ...]:
    match = _LABELS.fullmatch(kind)
    if match is None:
        raise ValueError(f"the labels of attribute {name!r} are not closed by a brace")
    values: Iterable[str | None] = split_values(match[1])
    labels = tuple("?" if value is None else value for value in values)
    if len(set(labels)) < len(labels):
        twice = next(x for k, x in enumerate(labels) if x in labels[:k])
        raise ValueError(f"attribute {name!r} declares the label {twice!r} twice")
    if labels == ("",):
        raise ValueError(f"attribute {name!r} declares no labels")
    return labels
