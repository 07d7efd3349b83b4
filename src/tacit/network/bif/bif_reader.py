"""Reading BIF, the interchange format of Bayes nets.

A file declares its variables, then gives each its probabilities in rows, one for each combination
of its parents' labels, or in a table in which the last parent's label changes fastest and the own
label slowest.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from tacit.errors import InputError
from tacit.machine import check_fits
from tacit.network.bayes_net.definition import fix_rows
from tacit.network.bayes_net.graph import cycle_text, find_cycle
from tacit.network.bif.bif_scanner import Scanner, split_names
from tacit.network.bif.bif_words import read_note
from tacit.table.discretise import text_labels

if TYPE_CHECKING:
    import os

    from numpy.typing import NDArray

    from tacit.schema import Labels

__all__ = ["ParsedNet", "read_bif_text"]

_SIZE = re.compile(r"discrete\s*\[\s*(\d+)\s*\]\s*\Z")
_MOST_CELLS = 2**31
_ROW = re.compile(r"\s*\(([^()\"]*|(?:[^\"]|\"[^\"]*\")*?)\)([^;()\"]*);")


@dataclass
class ParsedNet:
    """What a file says: columns in its order, with what was read of each."""

    names: list[str] = field(default_factory=list)
    labels: list[Labels] = field(default_factory=list)
    parents: list[tuple[int, ...]] = field(default_factory=list)
    tables: list[NDArray[np.float64]] = field(default_factory=list)


@dataclass
class _Variable:
    name: str
    labels: list[str]
    offset: int
    end: int
    parents: list[str] | None = None
    asked: int = 0  # where its probabilities are given
    table: NDArray[np.float64] | None = None
    codes: dict[str, int] = field(default_factory=dict)


def read_bif_text(path: str | os.PathLike[str], text: str) -> ParsedNet:
    """Return the net that a text describes.

    The path is for error messages.
    """
    scanner = Scanner(path, text)
    variables: dict[str, _Variable] = {}
    later: list[int] = []  # probabilities may come before what they are about is declared
    while not scanner.done:
        offset = scanner.skip()
        match scanner.word("'network', 'variable' or 'probability'"):
            case "network":
                _pass_network(scanner)
            case "variable":
                _read_variable(scanner, variables, offset)
            case "probability":
                later.append(offset)
                scanner.until("{", "this 'probability'", offset)
                scanner.until("}", "this 'probability'", offset)
            case other:
                scanner.fail(
                    f"{other!r} is not known; 'network', 'variable' or 'probability' is expected",
                    offset,
                )
    if not variables:
        scanner.fail("there is no variable in this file")
    for offset in later:
        scanner.offset = offset
        _read_probability(scanner, variables)
    return _finish(scanner, list(variables.values()))


def _pass_network(scanner: Scanner) -> None:
    if scanner.peek() != "{":
        scanner.word("the name of the network")
    scanner.expect("{", "the name of the network")
    _pass_properties(scanner, "network")
    scanner.expect("}", "the properties of the network")


def _pass_properties(scanner: Scanner, what: str) -> None:
    while scanner.peek() not in ("}", ""):
        offset = scanner.skip()
        if scanner.word("a property") != "property":
            scanner.fail(f"a {what} has properties only", offset)
        scanner.until(";", "this property")


def _read_variable(scanner: Scanner, variables: dict[str, _Variable], offset: int) -> None:
    name = scanner.word("the name of a variable")
    if name in variables:
        first = scanner.line(variables[name].offset)
        scanner.fail(f"the variable {name!r} is there twice; line {first} has it first", offset)
    scanner.expect("{", f"variable {name}")
    labels: list[str] | None = None
    while scanner.peek() not in ("}", ""):
        inner = scanner.skip()
        match scanner.word("'type' or 'property'"):
            case "type":
                labels = _read_type(scanner, name, inner)
            case "property":
                scanner.until(";", "this property")
            case other:
                scanner.fail(f"a variable has a type and properties, not {other!r}", inner)
    scanner.expect("}", f"the type of variable {name}")
    if labels is None:
        scanner.fail(f"the variable {name!r} has no type", offset)
    codes = {label: code for code, label in enumerate(labels)}
    variables[name] = _Variable(name, labels, offset, scanner.offset, codes=codes)


def _read_type(scanner: Scanner, name: str, offset: int) -> list[str]:
    size = _SIZE.match(head := scanner.until("{", f"the type of {name!r}"))
    if size is None:
        kind = (head.split() or [""])[0]
        scanner.fail(
            f"the type of {name!r} must be 'discrete [ number of states ]', got {kind!r}", offset
        )
    states = scanner.until("}", f"the states of {name!r}", offset)
    labels = split_names(states)
    if ";" in "".join(label for label in labels if f'"{label}"' not in states):
        scanner.fail(f"there is no '}}' for the states of {name!r}", offset)
    if scanner.peek() == ";":
        scanner.offset += 1
    if len(labels) != int(size[1]):
        scanner.fail(f"{name!r} is to have {size[1]} states, but {len(labels)} are listed", offset)
    if not labels:
        scanner.fail(f"{name!r} has no states", offset)
    if len(set(labels)) < len(labels):
        twice = next(label for k, label in enumerate(labels) if label in labels[:k])
        scanner.fail(f"{name!r} has the state {twice!r} twice", offset)
    return labels


def _read_probability(scanner: Scanner, variables: dict[str, _Variable]) -> None:
    offset = scanner.skip()
    scanner.word("'probability'")
    scanner.expect("(", "probability")
    head = scanner.until(")", "this 'probability'")
    child, *parents = split_names(head.replace("|", ",")) or [""]
    if len(parents) == 0 and child and " " in child and child not in variables:
        child, *parents = head.split()  # as the format has it: commas and bars mean nothing
    for name in (child, *parents):
        if name not in variables:
            scanner.fail(f"there is no variable {name!r}", offset)
    variable = variables[child]
    if variable.parents is not None:
        first = scanner.line(variable.asked)
        scanner.fail(f"probabilities of {child!r} are there twice; line {first} has them", offset)
    if child in parents:
        scanner.fail(f"{child!r} is its own parent", offset)
    if len(set(parents)) < len(parents):
        scanner.fail(f"{child!r} has a parent twice", offset)
    variable.parents, variable.asked = parents, offset
    scanner.expect("{", f"probability of {child}")
    variable.table = _read_rows(scanner, variable, [variables[name] for name in parents])
    scanner.expect("}", f"the probabilities of {child}")


def _read_rows(
    scanner: Scanner, variable: _Variable, parents: list[_Variable]
) -> NDArray[np.float64]:
    """Return a table of rows; each is checked, and so is that none is missing."""
    sizes = [len(parent.labels) for parent in parents]
    n_rows, arity = math.prod(sizes), len(variable.labels)
    _check_room(scanner, variable, n_rows, arity)
    table = np.full((n_rows, arity), np.nan)
    offsets = np.full(n_rows, variable.asked)  # where each row comes from, for complaints
    default: tuple[NDArray[np.float64], int] | None = None
    while scanner.peek() not in ("}", ""):
        offset = scanner.skip()
        if scanner.peek() == "(":
            _read_labelled(scanner, variable, parents, table, offsets)
            continue
        match scanner.word("a row, 'table' or 'default'"):
            case "table":
                held = ~np.isnan(table[:, 0])
                if held.any():
                    first = scanner.line(int(offsets[held.argmax()]))
                    scanner.fail(
                        f"probabilities of {variable.name!r} are there twice; line {first} "
                        "has some",
                        offset,
                    )
                numbers = _read_numbers(scanner, offset, n_rows * arity, variable.name)
                table[:] = numbers.reshape(arity, n_rows).T
                offsets[:] = offset
            case "default":
                if default is not None:
                    first = scanner.line(default[1])
                    scanner.fail(
                        f"the default of {variable.name!r} is there twice; line {first} has it",
                        offset,
                    )
                default = _read_numbers(scanner, offset, arity, variable.name), offset
            case "property":
                scanner.until(";", "this property")
            case other:
                scanner.fail(f"{other!r} is neither a row nor 'table' nor 'default'", offset)
    lacking = np.isnan(table[:, 0])
    if lacking.any() and default is not None:
        table[lacking], offsets[lacking] = default
        lacking[:] = False
    if lacking.any():
        held = _held(parents, sizes, int(lacking.argmax()))
        scanner.fail(f"probabilities of {variable.name!r}{held} are missing", variable.asked)
    fault = fix_rows(table)
    if fault is not None:
        row, problem = fault
        held = _held(parents, sizes, row)
        scanner.fail(f"the row of {variable.name!r}{held} {problem}", int(offsets[row]))
    return table


def _check_room(scanner: Scanner, variable: _Variable, n_rows: int, arity: int) -> None:
    """Refuse a table that this text cannot fill, or that memory cannot hold, before it is made."""
    what = f"the table of {variable.name!r}"
    if n_rows * arity > _MOST_CELLS:
        scanner.fail(f"{what} would have more than {_MOST_CELLS:,} cells", variable.asked)
    begin = scanner.offset
    given = scanner.until("}", f"the probabilities of {variable.name!r}")
    scanner.offset = begin
    # Each row takes a letter at least. Of fewer rows, those that are missing are looked for.
    if n_rows > max(len(given), 1 << 16) and "default" not in given:
        scanner.fail(f"{what} has {n_rows:,} rows, of which nearly all are missing", variable.asked)
    try:
        check_fits(n_rows * (16 * arity + 24), what, "its column has too many parents")
    except InputError as error:
        scanner.fail(str(error), variable.asked)


def _held(parents: list[_Variable], sizes: list[int], row: int) -> str:
    """Say which row this is."""
    if not parents:
        return ""
    codes = np.unravel_index(row, sizes)
    held = (f"{p.name} = {p.labels[int(k)]}" for p, k in zip(parents, codes, strict=True))
    return f" given {', '.join(held)}"


def _read_labelled(
    scanner: Scanner,
    variable: _Variable,
    parents: list[_Variable],
    table: NDArray[np.float64],
    offsets: NDArray[np.int64],
) -> None:
    """Read rows that begin with the parents' labels, as many as follow each other."""
    while match := _ROW.match(scanner.text, scanner.offset):
        offset = match.start(1)
        given = [x.strip() for x in match[1].split(",")]
        if len(given) != len(parents) or '"' in match[1]:
            given = split_names(match[1])
        if len(given) != len(parents):
            scanner.fail(
                f"a row of {variable.name!r} begins with {len(given)} labels, but it has "
                f"{len(parents)} parents",
                offset,
            )
        row = 0
        for parent, label in zip(parents, given, strict=True):
            code = parent.codes.get(label)
            if code is None:
                scanner.fail(f"{parent.name!r} has no state {label!r}", offset)
            row = row * len(parent.labels) + code
        if not np.isnan(table[row, 0]):
            first = scanner.line(int(offsets[row]))
            scanner.fail(
                f"this row of {variable.name!r} is there twice; line {first} has it", offset
            )
        numbers = scanner.numbers(match[2], offset)
        if len(numbers) != len(variable.labels):
            scanner.fail(
                f"a row of {variable.name!r} must have {len(variable.labels)} probabilities, "
                f"got {len(numbers)}",
                offset,
            )
        if np.isnan(numbers).any():
            scanner.fail(f"a row of {variable.name!r} has nan, which is no probability", offset)
        table[row], offsets[row] = numbers, offset
        scanner.offset = match.end()
    if scanner.peek() == "(":
        scanner.fail(f"this row of {variable.name!r} is not '(labels) numbers ;'")


def _read_numbers(scanner: Scanner, offset: int, n: int, name: str) -> NDArray[np.float64]:
    numbers = scanner.numbers(scanner.until(";", "these numbers"), offset)
    if len(numbers) != n:
        scanner.fail(f"{n} probabilities of {name!r} are expected, got {len(numbers)}", offset)
    if np.isnan(numbers).any():
        scanner.fail(f"{name!r} has nan, which is no probability", offset)
    return numbers


def _finish(scanner: Scanner, variables: list[_Variable]) -> ParsedNet:
    """Put together what was read, after looking for what is missing."""
    positions = {variable.name: k for k, variable in enumerate(variables)}
    net = ParsedNet()
    notes = iter(scanner.notes)
    note = next(notes, None)
    for variable in variables:
        if variable.parents is None or variable.table is None:
            scanner.fail(f"the variable {variable.name!r} has no probabilities", variable.offset)
        name, labels = variable.name, text_labels(variable.labels)
        while note is not None and note[0] < variable.end:
            if note[0] > variable.offset:
                name, labels = _apply(note[1], name, labels)
            note = next(notes, None)
        net.names.append(name)
        net.labels.append(labels)
        net.parents.append(tuple(positions[parent] for parent in variable.parents))
        net.tables.append(variable.table)
    cycle = find_cycle(net.parents)
    if cycle is not None:
        text = cycle_text(cycle, [variable.name for variable in variables])
        scanner.fail(f"arcs form a cycle, {text}", variables[cycle[0]].asked)
    if len(set(net.names)) < len(net.names):
        net.names = [variable.name for variable in variables]
    return net


def _apply(note: str, name: str, labels: Labels) -> tuple[str, Labels]:
    """Return the names that a note keeps, if it is one and still fits what the file says."""
    try:
        return read_note(note, name, labels)
    except (InputError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return name, labels
