"""Reading the text of a BIF file token by token; every complaint has a line number."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from tacit.errors import FileError

if TYPE_CHECKING:
    import os

    from numpy.typing import NDArray

__all__ = ["Scanner", "split_names"]

_COMMENT = re.compile(r'"[^"\n]*"|//[^\n]*|/\*.*?\*/|/\*', re.S)
_BLANK = re.compile(r"\s*")
_WORD = re.compile(r'"[^"\n]*"|[^\s,;|(){}\[\]"]+')
_NAMES = re.compile(r'"([^"]*)"|([^,|"\s](?:[^,"]*[^,"\s])?)')


class Scanner:
    """A text and an offset in it. Comments are blanks; what they say is kept in `notes` by line.

    The path is for error messages.
    """

    def __init__(self, path: str | os.PathLike[str], text: str) -> None:
        self.path = path
        self.notes: list[tuple[int, str]] = []
        self.offset = 0
        self.text = text
        self.text = _COMMENT.sub(self._blank, text)

    def _blank(self, match: re.Match[str]) -> str:
        """Replace a comment by as many blanks, so that offsets and lines stay what they are."""
        text = match[0]
        if text.startswith('"'):
            return text
        if text == "/*":
            self.fail("a comment that begins here has no end", match.start())
        if text.startswith("//"):
            self.notes.append((match.start(), text[2:].strip()))
        return re.sub(r"[^\n]", " ", text)

    def line(self, offset: int | None = None) -> int:
        """Return the line of an offset."""
        return self.text.count("\n", 0, self.offset if offset is None else offset) + 1

    def fail(self, problem: str, offset: int | None = None) -> NoReturn:
        """Say what is wrong, and where."""
        raise FileError(self.path, f"line {self.line(offset)}: {problem}")

    def skip(self) -> int:
        """Go to the next thing and return its offset."""
        match = _BLANK.match(self.text, self.offset)
        assert match is not None
        self.offset = match.end()
        return self.offset

    @property
    def done(self) -> bool:
        """Whether nothing is left."""
        return self.skip() == len(self.text)

    def peek(self) -> str:
        """Return the next character; nothing at the end."""
        return self.text[self.skip() : self.offset + 1]

    def word(self, what: str) -> str:
        """Return the next word, or the text of the next quotation."""
        match = _WORD.match(self.text, self.skip())
        if match is None:
            instead = f", not {self.peek()!r}" if self.peek() else "; the file ends"
            self.fail(f"{what} is expected{instead}")
        self.offset = match.end()
        return match[0].strip('"') if match[0].startswith('"') else match[0]

    def expect(self, mark: str, after: str) -> None:
        """Go past a mark that has to come next."""
        if self.peek() != mark:
            instead = f", not {self.peek()!r}" if self.peek() else "; the file ends"
            self.fail(f"{mark!r} is expected after {after}{instead}")
        self.offset += 1

    def until(self, mark: str, begin: str, offset: int | None = None) -> str:
        """Return all up to a mark and go past it; quoted texts may hold it.

        If there is none, the complaint is about `offset`, or about here.
        """
        start = self.skip()
        end = start - 1
        while True:
            end = self.text.find(mark, end + 1)
            if end < 0:
                self.fail(f"there is no {mark!r} for {begin}", start if offset is None else offset)
            if self.text.count('"', start, end) % 2 == 0:
                break
        self.offset = end + 1
        return self.text[start:end]

    def numbers(self, text: str, offset: int) -> NDArray[np.float64]:
        """Return numbers that commas or blanks separate."""
        parts = text.split(",") if "," in text else text.split()
        try:
            return np.array(parts, np.float64)
        except ValueError:
            pass
        if "," in text:  # numbers may be separated by both
            parts = text.replace(",", " ").split()
        for part in parts:
            try:
                float(part)
            except ValueError:
                self.fail(f"{part!r} is no number", offset)
        return np.array(parts, np.float64)


def split_names(text: str) -> list[str]:
    """Return names or labels that commas separate; those in quotes may hold any letters.

    >>> split_names('yes, no, "no, or not yet", (x')
    ['yes', 'no', 'no, or not yet', '(x']
    """
    return [quoted or plain for quoted, plain in _NAMES.findall(text)]
