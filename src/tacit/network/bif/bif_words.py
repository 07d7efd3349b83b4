"""Names and labels as words that all readers of BIF take, and notes that keep the originals.

Programs that read BIF agree on plain words only. Other names are written as such words, and what
they were is kept in a comment beside them, from which tacit makes them again.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from tacit.schema import Labels, Schema
from tacit.table.schema_json import pack_schema, unpack_schema

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["make_note", "plain_words", "read_note"]

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_.\-]*")
_WHOLE = re.compile(r"-?[0-9]+")
_SIGNS = {"<": "lt", ">": "gt", "=": "eq", "≤": "le", "≥": "ge", "+": "plus", "–": "to", "%": "pc"}
_SIGN = "tacit "
_RESERVED = {
    "network",
    "variable",
    "probability",
    "property",
    "type",
    "discrete",
    "table",
    "default",
}


def plain_words(texts: Iterable[Any], *, numbers: bool) -> list[str]:
    """Return a distinct plain word for each text.

    With `numbers`, whole numbers count as words, as they do for labels.

    Examples
    --------
    >>> plain_words(["yes", "hours per week", ">= 38", None, 7], numbers=True)
    ['yes', 'hours_per_week', 'gt_eq_38', 'missing', '7']
    >>> plain_words(["7", "a b", "a-b", "a_b"], numbers=False)
    ['x7', 'a_b_2', 'a-b', 'a_b']
    """
    given = ["missing" if text is None else str(text) for text in texts]
    fine = [_is_plain(text, numbers) for text in given]
    used = {text for text, is_fine in zip(given, fine, strict=True) if is_fine}
    words = []
    taken: set[str] = set()
    for text, is_fine in zip(given, fine, strict=True):
        word = text
        if not is_fine or text in taken:
            base = _make_plain(text)
            word, k = base, 2
            while word in used or word in taken:
                word, k = f"{base}_{k}", k + 1
        words.append(word)
        taken.add(word)
    return words


def _is_plain(text: str, numbers: bool) -> bool:
    if numbers and _WHOLE.fullmatch(text):
        return True
    return _PLAIN.fullmatch(text) is not None and text not in _RESERVED


def _make_plain(text: str) -> str:
    spelt = "".join(f"_{_SIGNS[x]}_" if x in _SIGNS else x for x in text)
    word = re.sub(r"[^A-Za-z0-9.\-]+", "_", spelt).strip("_.-")
    if not word or not (word[0].isalpha() and word[0].isascii()) or word in _RESERVED:
        word = f"x{word}"
    return word


def make_note(name: str, labels: Labels, words: list[str]) -> str | None:
    """Return what a comment has to keep of a column that is written in these words, if anything.

    The first word is that of the name, the others are those of its labels.
    """
    if [name, *labels] == words and labels.dtype == "String":
        return None
    packed = pack_schema(Schema([name], [labels], [0]))
    return _SIGN + json.dumps(packed, ensure_ascii=True)


def read_note(note: str, name: str, labels: Labels) -> tuple[str, Labels]:
    """Return the name and the labels that a note keeps, where it fits the words beside it."""
    if not note.startswith(_SIGN):
        return name, labels
    schema = unpack_schema(json.loads(note.removeprefix(_SIGN)))
    (kept,) = schema.labels
    (was,) = schema.names
    if plain_words(kept, numbers=True) != list(labels):
        return name, labels
    return was, kept
