"""From the entries of a sparse ARFF file to labels and codes, column by column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.errors import InputError
from tacit.schema import Labels, Schema

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


def code_entries(entries: Entries, missing: str) -> tuple[Schema, NDArray[np.int64]]:
    """Return a schema, whose defaults are what the file leaves out, and the code of every entry."""
    names = [attribute.name for attribute in entries.attributes]
    is_missing = np.isnan(entries.data)
    if missing == "error" and is_missing.any():
        k = int(np.argmax(is_missing))
        name = names[int(np.searchsorted(entries.bounds, k, side="right")) - 1]
        raise InputError(
            f"column {name!r} has a missing value at record {entries.rows[k]}, and missing='error'"
        )
    with np.errstate(invalid="ignore"):  # numbers are coded, or refused, below
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
        else:
            labels.append(_number_labels(entries, c, codes, omitted))
            continue
        if column.stop > column.start and (absent := is_missing[column]).any():
            codes[column] = np.where(absent, len(items), codes[column])
            items = (*items, None)
        key = (dtype, items)
        labels.append(shared.setdefault(key, Labels(items, dtype)))
    return Schema(names, labels, omitted), codes


def _number_labels(
    entries: Entries, c: int, codes: NDArray[np.int64], omitted: NDArray[np.int64]
) -> Labels:
    """Rank the numbers of a column, zero among them; codes of its entries are written in place."""
    column, name = entries.of_column(c), entries.attributes[c].name
    numbers = entries.data[column]
    if (bad := np.abs(numbers) >= 2.0**53).any():  # not to be told apart, or infinite
        k = int(np.argmax(bad))
        raise InputError(f"column {name!r} holds {numbers[k]} at record {entries.rows[column][k]}")
    absent = np.isnan(numbers)
    values = np.unique(np.append(numbers[~absent], 0.0)) + 0.0  # no -0.0
    codes[column] = np.where(absent, len(values), np.searchsorted(values, numbers))
    omitted[c] = np.searchsorted(values, 0.0)
    whole = bool((values == np.floor(values)).all())
    held = values.astype(np.int64) if whole else values
    return Labels.of_numbers(held, "Int64" if whole else "Float64", missing=bool(absent.any()))
