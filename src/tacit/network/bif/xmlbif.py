"""XMLBIF, the interchange format of Bayes nets in XML, read with line numbers and written.

A definition's table has a row for each combination of the given columns' labels, the last of them
changing fastest, and in each row a number for each own label.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NoReturn
from xml.parsers import expat
from xml.sax.saxutils import escape

import numpy as np

from tacit.errors import FileError, InputError
from tacit.network.bayes_net.definition import fix_rows
from tacit.network.bayes_net.graph import cycle_text, find_cycle
from tacit.network.bif.bif_reader import ParsedNet
from tacit.schema import Labels, Schema
from tacit.table.discretise import text_labels
from tacit.table.schema_json import pack_schema, unpack_schema

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["read_xmlbif_bytes", "xmlbif_text"]

_SIGN = "tacit = "
_MOST_CELLS = 2**31
_NO_NOTE = (InputError, ValueError, KeyError, TypeError, AttributeError, RecursionError)
# A carriage return alone becomes a line feed where XML is read.
_NO_XML = re.compile("[^\t\n -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<BIF VERSION="0.3">
<NETWORK>
<NAME>unknown</NAME>
"""


@dataclass
class _Element:
    """An element: its tag, where it begins, what is in it."""

    tag: str
    line: int
    children: list[_Element] = field(default_factory=list)
    texts_: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(self.texts_).strip()

    def all(self, tag: str) -> list[_Element]:
        return [child for child in self.children if child.tag == tag]


class _Reader:
    """A net on its way from elements; complaints name the file and the line."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = path
        self.names: list[str] = []  # as they are in the file
        self.kept: list[str] = []  # as they were before they were written
        self.labels: list[Labels] = []
        self.variables: list[_Element] = []
        self.definitions: dict[str, _Element] = {}

    def fail(self, line: int, problem: str) -> NoReturn:
        raise FileError(self.path, f"line {line}: {problem}")

    def parse(self, data: bytes) -> _Element:
        """Return the outermost element."""
        parser = expat.ParserCreate()
        root = _Element("", 1)
        open_ones = [root]

        def start(tag: str, _: dict[str, str]) -> None:
            element = _Element(tag.upper(), parser.CurrentLineNumber)
            open_ones[-1].children.append(element)
            open_ones.append(element)

        def refuse(*_: object) -> None:
            self.fail(parser.CurrentLineNumber, "entities are not taken")

        parser.StartElementHandler = start
        parser.EndElementHandler = lambda _: open_ones.pop() and None
        parser.CharacterDataHandler = lambda text: open_ones[-1].texts_.append(text)
        parser.EntityDeclHandler = refuse
        try:
            parser.Parse(data, True)
        except expat.ExpatError as error:
            self.fail(error.lineno, f"this is no valid XML: {expat.ErrorString(error.code)}")
        except (LookupError, ValueError) as error:
            if isinstance(error, FileError):
                raise
            self.fail(1, f"the encoding cannot be used: {error}")
        return root.children[0]

    def read(self, data: bytes) -> ParsedNet:
        """Return the net."""
        root = self.parse(data)
        if root.tag != "BIF":
            self.fail(root.line, f"<BIF> is expected, not <{root.tag}>")
        networks = root.all("NETWORK")
        if not networks:
            self.fail(root.line, "there is no <NETWORK>")
        for element in networks[0].all("VARIABLE"):
            self._variable(element)
        if not self.names:
            self.fail(networks[0].line, "there is no <VARIABLE>")
        for element in networks[0].all("DEFINITION") + networks[0].all("PROBABILITY"):
            self._definition(element)
        net = ParsedNet(self.names, self.labels)
        positions = {name: k for k, name in enumerate(self.names)}
        for name, variable in zip(self.names, self.variables, strict=True):
            if name not in self.definitions:
                self.fail(variable.line, f"the variable {name!r} has no <DEFINITION>")
            definition = self.definitions[name]
            given = [positions[child.text] for child in definition.all("GIVEN")]
            net.parents.append(tuple(given))
            net.tables.append(self._table(definition, name, given))
        cycle = find_cycle(net.parents)
        if cycle is not None:
            line = self.definitions[self.names[cycle[0]]].line
            self.fail(line, f"arcs form a cycle, {cycle_text(cycle, self.names)}")
        if len(set(self.kept)) == len(self.kept):
            net.names = self.kept
        return net

    def _variable(self, element: _Element) -> None:
        name = "".join(child.text for child in element.all("NAME")[:1])
        if not name:
            self.fail(element.line, "a <VARIABLE> has no <NAME>")
        if name in self.names:
            self.fail(element.line, f"the variable {name!r} is there twice")
        outcomes = [child.text for child in element.all("OUTCOME") + element.all("VALUE")]
        if not outcomes:
            self.fail(element.line, f"{name!r} has no <OUTCOME>")
        if len(set(outcomes)) < len(outcomes):
            twice = next(x for k, x in enumerate(outcomes) if x in outcomes[:k])
            self.fail(element.line, f"{name!r} has the outcome {twice!r} twice")
        self.names.append(name)
        kept, labels = _kept(element, name, outcomes)
        self.kept.append(kept)
        self.labels.append(labels)
        self.variables.append(element)

    def _definition(self, element: _Element) -> None:
        name = "".join(child.text for child in element.all("FOR")[:1])
        given = [child.text for child in element.all("GIVEN")]
        for known in (name, *given):
            if known not in self.names:
                self.fail(element.line, f"there is no variable {known!r}")
        if name in self.definitions:
            self.fail(element.line, f"the definition of {name!r} is there twice")
        if name in given or len(set(given)) < len(given):
            self.fail(element.line, f"{name!r} is its own parent, or has a parent twice")
        self.definitions[name] = element

    def _table(self, element: _Element, name: str, given: list[int]) -> NDArray[np.float64]:
        tables = element.all("TABLE")
        if not tables:
            self.fail(element.line, f"the definition of {name!r} has no <TABLE>")
        line = tables[0].line
        arity = len(self.labels[self.names.index(name)])
        n_cells = math.prod(len(self.labels[p]) for p in given) * arity
        if n_cells > _MOST_CELLS:
            self.fail(line, f"the table of {name!r} would have more than {_MOST_CELLS:,} cells")
        parts = tables[0].text.replace(",", " ").split()
        if len(parts) != n_cells:
            self.fail(line, f"{n_cells} probabilities of {name!r} are expected, got {len(parts)}")
        try:
            table = np.array(parts, np.float64).reshape(-1, arity)
        except ValueError as error:
            self.fail(line, f"the table of {name!r} holds something else than numbers: {error}")
        fault = fix_rows(table)
        if fault is not None:
            row, problem = fault
            self.fail(line, f"row {row + 1} of the table of {name!r} {problem}")
        return table


def read_xmlbif_bytes(path: str | os.PathLike[str], data: bytes) -> ParsedNet:
    """Return the net that an XMLBIF file describes.

    The path is for error messages; the head of the data says how they are encoded.
    """
    return _Reader(path).read(data)


def _kept(element: _Element, name: str, outcomes: list[str]) -> tuple[str, Labels]:
    """Return the name and the labels that a property keeps, where it fits what is there."""
    for note in element.all("PROPERTY"):
        if note.text.startswith(_SIGN):
            try:
                (column,) = unpack_schema(json.loads(note.text.removeprefix(_SIGN)))
            except _NO_NOTE:
                continue
            if _outcomes(column.labels) == outcomes:
                fits = column.name.strip().rstrip("_") == name.rstrip("_")
                return column.name if fits else name, column.labels
    return name, text_labels(outcomes)


def _names(schema: Schema) -> list[str]:
    """Return names without blanks at their ends, which readers pass over; all are different."""
    texts: list[str] = []
    taken = set(schema.names)
    for name in schema.names:
        wrong = _NO_XML.search(name)
        if wrong is not None:
            raise InputError(
                f"column {name!r}: XML cannot hold the character {wrong[0]!r}; rename the column"
            )
        text = name.strip() or "_"
        while text != name and text in taken:
            text += "_"
        taken.add(text)
        texts.append(text)
    return texts


def _outcomes(labels: Labels) -> list[str]:
    """Return the texts of labels, which must differ from each other and be words to XML."""
    texts: list[str] = []
    for label in labels:
        text = "missing" if label is None else str(label).strip()
        text = (
            "".join(x if x >= " " and not "\ud800" <= x <= "\udfff" else "_" for x in text) or "_"
        )
        while text in texts:
            text += "_"
        texts.append(text)
    return texts


def xmlbif_text(
    schema: Schema, parents: Sequence[Sequence[int]], tables: Sequence[NDArray[np.float64]]
) -> str:
    """Return a net as XMLBIF."""
    texts = _names(schema)
    names = [escape(text) for text in texts]
    lines = []
    for position, name in enumerate(names):
        labels = schema.labels[position]
        outcomes = _outcomes(labels)
        lines.append(f'<VARIABLE TYPE="nature">\n  <NAME>{name}</NAME>')
        lines += [f"  <OUTCOME>{escape(text)}</OUTCOME>" for text in outcomes]
        original = schema.names[position]
        if outcomes != list(labels) or labels.dtype != "String" or texts[position] != original:
            kept = pack_schema(Schema([original], [labels], [0]))
            # Some programs take a property apart at every "=".
            note = escape(json.dumps(kept).replace("=", "\\u003d"))
            lines.append(f"  <PROPERTY>{_SIGN}{note}</PROPERTY>")
        lines.append("</VARIABLE>")
    for position, name in enumerate(names):
        lines.append(f"<DEFINITION>\n  <FOR>{name}</FOR>")
        lines += [f"  <GIVEN>{names[p]}</GIVEN>" for p in parents[position]]
        rows = (" ".join(map(repr, row)) for row in tables[position].tolist())
        lines.append("  <TABLE>" + "\n    ".join(rows) + "</TABLE>")
        lines.append("</DEFINITION>")
    return _HEAD + "\n".join(lines) + "\n</NETWORK>\n</BIF>\n"
