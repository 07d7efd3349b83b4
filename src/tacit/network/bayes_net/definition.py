"""What a net is made of, checked: columns, parents and probability tables."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from tacit.errors import InputError, did_you_mean, no_column
from tacit.network.bayes_net.graph import check_acyclic
from tacit.network.inference.sampling import likely_codes
from tacit.schema import Labels, Schema
from tacit.schema.types import label_items
from tacit.table.discretise import text_labels

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["TOLERANCE", "check_labels", "check_parents", "check_tables", "fix_rows", "make_schema"]

TOLERANCE = 1e-3  # by which a row's sum may miss one
_EXACT = 1e-12  # rows that miss one by less are left as they are, so that files keep every bit


def check_labels(columns: Any) -> tuple[list[str], list[Labels]]:
    """Return names and labels of ``{name: labels}``."""
    if not isinstance(columns, Mapping) or not columns:
        raise InputError("columns must map the name of each column to its labels")
    for name in columns:
        if not isinstance(name, str):
            raise InputError(f"columns: a column's name must be a text, got {name!r}")
    return list(columns), [_labels(name, given) for name, given in columns.items()]


def _labels(name: str, given: Any) -> Labels:
    if isinstance(given, Labels):
        labels = given
    elif isinstance(given, str) or not isinstance(given, Sequence | np.ndarray | pl.Series):
        raise InputError(f"columns: the labels of {name!r} must be a list, got {given!r}")
    else:
        items = [x.item() if isinstance(x, np.generic) else x for x in given]
        kinds = {type(x) for x in items if x is not None}
        if len(kinds) > 1 and kinds != {int, float}:
            raise InputError(f"columns: the labels of {name!r} are of several types: {items}")
        try:
            series = pl.Series(name, items, strict=False)
            found = label_items(series)
            text = series.dtype == pl.String
            labels = text_labels(found) if text else Labels(found, str(series.dtype))
        except (TypeError, pl.exceptions.PolarsError) as error:
            raise InputError(f"columns: the labels of {name!r} cannot be used: {error}") from None
        except InputError as error:
            raise InputError(f"columns: {name!r}: {error}") from None
    try:
        labels.code(labels[0])  # which looks for labels that are there twice
    except InputError as error:
        raise InputError(f"columns: {name!r}: {error}") from None
    return labels


def check_parents(names: Sequence[str], parents: Any) -> tuple[tuple[int, ...], ...]:
    """Return the positions of each column's parents, in the order in which they were given."""
    if not isinstance(parents, Mapping):
        raise InputError("parents must map columns to lists of columns")
    index = {name: k for k, name in enumerate(names)}
    positions: list[tuple[int, ...]] = [()] * len(names)
    for child, above in parents.items():
        if child not in index:
            raise no_column("parents", child, names)
        if isinstance(above, str):
            raise InputError(f"parents: those of {child!r} must be a list, got {above!r}")
        for parent in above:
            if parent not in index:
                raise InputError(
                    f"parents: {child!r} has the parent {parent!r}, which is no column"
                    + did_you_mean(parent, names)
                )
            if parent == child:
                raise InputError(f"parents: {child!r} is its own parent")
        if len(set(above)) < len(above):
            raise InputError(f"parents: {child!r} has a parent twice")
        positions[index[child]] = tuple(index[parent] for parent in above)
    check_acyclic(positions, names)
    return tuple(positions)


def check_tables(
    names: Sequence[str], labels: Sequence[Labels], parents: Sequence[Sequence[int]], tables: Any
) -> tuple[NDArray[np.float64], ...]:
    """Return the tables in two dimensions, with rows that sum to one."""
    if not isinstance(tables, Mapping):
        raise InputError("tables must map columns to arrays of probabilities")
    for name in tables:
        if name not in names:
            raise no_column("tables", name, names)
    checked = []
    for position, name in enumerate(names):
        if name not in tables:
            raise InputError(f"tables: {name!r} has none")
        shape = (*(len(labels[p]) for p in parents[position]), len(labels[position]))
        try:
            table = np.array(tables[name], np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(f"tables: that of {name!r} is no array of numbers: {error}") from None
        flat = (math.prod(shape[:-1]), shape[-1])
        if table.shape not in (shape, flat):
            raise InputError(
                f"tables: that of {name!r} must have the shape {shape}: the labels of its parents "
                f"in order, then its own; got {table.shape}"
            )
        table = table.reshape(flat)
        fault = fix_rows(table)
        if fault is not None:
            row, problem = fault
            raise InputError(
                f"tables: that of {name!r}{_where(labels, names, parents[position], row)} {problem}"
            )
        checked.append(table)
    return tuple(checked)


def _where(labels: Sequence[Labels], names: Sequence[str], parents: Sequence[int], row: int) -> str:
    """Say which row of a table this is."""
    if not parents:
        return ""
    codes = np.unravel_index(row, [len(labels[p]) for p in parents])
    held = (f"{names[p]}={labels[p][int(k)]}" for p, k in zip(parents, codes, strict=True))
    return f", given {', '.join(held)},"


def fix_rows(table: NDArray[np.float64]) -> tuple[int, str] | None:
    """Make rows sum to one that nearly do, in place; return the first that is wrong, and why."""
    bad = ~((table >= 0) & (table <= 1 + TOLERANCE)).all(axis=1)
    if bad.any():
        row = int(bad.argmax())
        values = table[row]
        value = values[~((values >= 0) & (values <= 1 + TOLERANCE))][0]
        return row, f"has {value:g}, which is no probability"
    sums = table.sum(axis=1)
    off = np.abs(sums - 1)
    if (off > TOLERANCE).any():
        row = int((off > TOLERANCE).argmax())
        return row, f"sums to {sums[row]:.6g}, not to 1"
    loose = off > _EXACT
    table[loose] /= sums[loose, None]
    return None


def make_schema(
    names: Sequence[str],
    labels: Sequence[Labels],
    parents: Sequence[Sequence[int]],
    tables: Sequence[NDArray[np.float64]],
) -> Schema:
    """Return the schema of a net: what is probable is the default."""
    arities = np.array([len(known) for known in labels], np.int64)
    return Schema(names, labels, likely_codes(arities, parents, tables))
