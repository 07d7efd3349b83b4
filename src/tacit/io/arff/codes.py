"""From the entries of a sparse ARFF file to labels and codes, column by column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.errors import InputError, no_column
from tacit.schema import Labels, Schema
from tacit.table.discretise import MDL, apply_cuts, as_spec, bin_labels, cut_points

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.io.arff.header import Attribute

__all__ = ["Entries", "code_entries"]


@dataclass
class Entries:
    """What a sparse file holds, by column."""

    attributes: list[Attribute]
    n_records: int
    rows: NDArray[np.int64]  # the record of each entry
    bounds: NDArray[np.int64]  # where the entries of each column begin, and where they end
    # The code of a nominal or text value, or a number; NaN where it is missing.
    data: NDArray[np.float64]
    texts: dict[int, dict[str, int]]  # for each text column, its values in code order

    def of_column(self, c: int) -> slice:
        """Return where the entries of a column are."""
        return slice(int(self.bounds[c]), int(self.bounds[c + 1]))

    def dense(self, c: int) -> NDArray[np.float64]:
        """Return one column in full: what is left out is zero."""
        full = np.zeros(self.n_records)
        full[self.rows[self.of_column(c)]] = self.data[self.of_column(c)]
        return full


def code_entries(
    entries: Entries, missing: str, discretise: Any, target: str | None
) -> tuple[Schema, NDArray[np.int64]]:
    """Return a schema, whose defaults are what the file leaves out, and the code of every entry."""
    names = [attribute.name for attribute in entries.attributes]
    positions = {name: c for c, name in enumerate(names)}
    if target is not None and target not in positions:
        raise no_column("target", target, names)
    specs = _specs(entries, positions, discretise, target)
    is_missing = np.isnan(entries.data)
    if missing == "error" and is_missing.any():
        k = int(np.argmax(is_missing))
        name = names[int(np.searchsorted(entries.bounds, k, side="right")) - 1]
        raise InputError(
            f"column {name!r} has a missing value at record {entries.rows[k]}, and missing='error'"
        )
    classes = None
    if any(isinstance(spec, MDL) for spec in specs.values()):
        assert target is not None  # as _specs checks
        classes = np.unique(entries.dense(positions[target]), return_inverse=True)[1]
    codes = np.where(is_missing, 0, entries.data).astype(np.int64)
    omitted = np.zeros(len(names), np.int64)
    labels = []
    shared: dict[Any, Labels] = {}
    for c, attribute in enumerate(entries.attributes):
        column = entries.of_column(c)
        dtype = "String"
        items: tuple[Any, ...]
        if attribute.kind == "nominal":
            items, dtype = attribute.labels, "Enum"
        elif attribute.kind == "text":
            known = entries.texts.get(c, {})
            items = tuple(sorted(known))
            ranks = np.argsort([known[text] for text in items]) if items else np.zeros(0, np.int64)
            codes[column] = np.where(is_missing[column], 0, np.append(ranks, 0)[codes[column]])
        elif c in specs:
            cuts = cut_points(entries.dense(c), specs[c], target=classes, column=attribute.name)
            items = bin_labels(cuts)
            codes[column] = apply_cuts(entries.data[column], cuts)
            omitted[c] = apply_cuts([0.0], cuts)[0]
        else:
            present = entries.data[column][~is_missing[column]]
            values = np.unique(np.append(present, 0.0)) + 0.0  # no -0.0
            items, dtype = tuple(values.astype(np.int64).tolist()), "Int64"
            codes[column] = np.searchsorted(values, entries.data[column])
            omitted[c] = np.searchsorted(values, 0.0)
        if column.stop > column.start and (absent := is_missing[column]).any():
            codes[column] = np.where(absent, len(items), codes[column])
            items = (*items, None)
        key = (dtype, items)
        labels.append(shared.setdefault(key, Labels(items, dtype)))
    return Schema(names, labels, omitted), codes


def _specs(
    entries: Entries, positions: dict[str, int], discretise: Any, target: str | None
) -> dict[int, Any]:
    """Return how to cut each column that is cut; complain of real numbers that are not."""
    named = dict(discretise) if isinstance(discretise, Mapping) else {}
    for name in named:
        if name not in positions:
            raise no_column("discretise", name, positions)
        if entries.attributes[positions[name]].kind not in ("numeric", "integer"):
            raise InputError(f"discretise: column {name!r} does not hold numbers")
    specs = {positions[name]: as_spec(spec) for name, spec in named.items()}
    rest = None if discretise is None or isinstance(discretise, Mapping) else as_spec(discretise)
    for c, attribute in enumerate(entries.attributes):
        if attribute.kind not in ("numeric", "integer"):
            continue
        numbers = entries.data[entries.of_column(c)]
        if (bad := np.abs(numbers) >= 2.0**53).any():  # not to be told apart, or infinite
            k = int(np.argmax(bad))
            record = entries.rows[entries.of_column(c)][k]
            raise InputError(f"column {attribute.name!r} holds {numbers[k]} at record {record}")
        real = ~np.isnan(numbers) & (numbers != np.floor(numbers))
        if c in specs or not real.any():
            continue
        if rest is None or attribute.name == target:
            k = int(np.argmax(real))
            record = entries.rows[entries.of_column(c)][k]
            raise InputError(
                f"column {attribute.name!r} holds real numbers (record {record}: {numbers[k]}); "
                f"say how to cut it with discretise={{{attribute.name!r}: …}}"
            )
        specs[c] = rest
    if any(isinstance(spec, MDL) for spec in specs.values()) and target is None:
        raise InputError("discretise='mdl' needs target, the column to tell apart")
    return specs
