"""Writing BIF in words that other programs read, with every digit of every number."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from tacit.network.bif.bif_words import make_note, plain_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from tacit.schema import Schema

__all__ = ["bif_text"]


def bif_text(
    schema: Schema, parents: Sequence[Sequence[int]], tables: Sequence[NDArray[np.float64]]
) -> str:
    """Return a net as BIF."""
    names = plain_words(schema.names, numbers=False)
    words = [plain_words(labels, numbers=True) for labels in schema.labels]
    lines = ["network unknown {", "}"]
    for position, name in enumerate(names):
        labels = words[position]
        lines.append(f"variable {name} {{")
        lines.append(f"  type discrete [ {len(labels)} ] {{ {', '.join(labels)} }};")
        note = make_note(schema.names[position], schema.labels[position], [name, *labels])
        if note is not None:
            lines.append(f"  // {note}")
        lines.append("}")
    for position, name in enumerate(names):
        given = parents[position]
        if not given:
            lines.append(f"probability ( {name} ) {{")
            lines.append(f"  table {_numbers(tables[position][0])};")
        else:
            lines.append(f"probability ( {name} | {', '.join(names[p] for p in given)} ) {{")
            lines += _rows([words[p] for p in given], tables[position])
        lines.append("}")
    return "\n".join(lines) + "\n"


def _rows(words: list[list[str]], table: NDArray[np.float64]) -> Iterator[str]:
    for labels, row in zip(product(*words), table, strict=True):
        yield f"  ({', '.join(labels)}) {_numbers(row)};"


def _numbers(row: NDArray[np.float64]) -> str:
    return ", ".join(map(repr, row.tolist()))
