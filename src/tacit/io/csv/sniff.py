"""What CSV text is like: found from its first lines, where the caller does not say.

The rules are few and careful. What a plain file has (commas, double quotes, points in numbers, a
header, UTF-8) is what is taken unless the first lines clearly speak against it, and what is found
to be otherwise is said: in the log of :mod:`logging` under the name "tacit.io".
"""

from __future__ import annotations

import csv
import logging
import re
import tempfile
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import IO, TYPE_CHECKING

from tacit.errors import FileError, InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tacit.io.opening import PathLike

__all__ = [
    "HEAD",
    "CsvOptions",
    "TextLayout",
    "find_encoding",
    "find_layout",
    "in_utf8",
    "read_head",
    "say",
]

HEAD = 1 << 16  # bytes to look at, or more if lines are long
_FEW = 20  # lines that are enough
_LONGEST = 1 << 22
_LINES = 200
_OTHERS = (";", "\t", "|")  # separators besides the comma
_COMMENTS = ("|", "#", "%")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_WITH_COMMA = re.compile(r"[+-]?\d+,\d+")
_WITH_POINT = re.compile(r"[+-]?\d*\.\d+([eE][+-]?\d+)?")
_UNKNOWN = ("", "?", "NA", "N/A", "NaN", "nan", "null", "NULL")
_BLOCK = 1 << 20
_NAMES = {"\t": "a tab", "|": "'|'", ";": "';'", ",": "','"}
_logger = logging.getLogger("tacit.io")


@dataclass(frozen=True)
class CsvOptions:
    """How CSV text is to be read, as :func:`tacit.read_csv` takes it; ``None`` is to be found."""

    separator: str | None = None
    header: bool | None = None
    names: Sequence[str] | None = None
    null_values: str | Sequence[str] | None = None
    quote: str | None = "auto"
    decimal: str | None = None
    encoding: str | None = None
    skip_lines: int | None = None

    def __post_init__(self) -> None:
        mark, quote = self.separator, self.quote
        if quote not in (None, "auto") and (
            not isinstance(quote, str) or len(quote) != 1 or not quote.isascii()
        ):
            raise InputError(f"quote must be one character, None or 'auto', got {quote!r}")
        if mark is not None:
            if not isinstance(mark, str) or mark == "" or mark[1:].strip():
                raise InputError(
                    f"separator must be one character, or one and blanks, got {mark!r}"
                )
            if not mark[0].isascii() or mark[0] in ("\r", "\n", '"' if quote == "auto" else quote):
                raise InputError(f"separator cannot be {mark!r}")
        if self.decimal not in (None, ".", ","):
            raise InputError(f"decimal must be '.' or ',', got {self.decimal!r}")
        if self.decimal == "," and mark is not None and mark[0] == ",":
            raise InputError("decimal: a comma cannot be in numbers and between values, too")
        skip = self.skip_lines
        if skip is not None and (type(skip) is not int or skip < 0):
            raise InputError(f"skip_lines must be a number of lines, got {skip!r}")
        if self.header not in (None, True, False):
            raise InputError(f"header must be True, False or None, got {self.header!r}")
        if self.encoding is not None:
            try:
                "".encode(self.encoding)
            except (LookupError, TypeError):
                raise InputError(f"encoding: {self.encoding!r} is not known") from None


@dataclass(frozen=True)
class TextLayout:
    """What was found."""

    separator: str  # and a blank, if white space around values is to be dropped
    quote: str | None
    decimal: str
    header: bool
    eol: str
    skip_lines: int  # before the header, or before the first record
    comment: bool  # whether one of them is a comment


def find_encoding(path: PathLike, head: bytes, complete: bool, encoding: str | None) -> str:
    """Return the encoding of text that begins so; `complete` says whether that is all of it.

    What is not UTF-8 is Latin-1 (with what Windows adds to it) unless some of it can only be UTF-8.
    """
    if encoding is not None:
        return _plain_name(encoding)
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    if b"\x00" in head:
        raise FileError(path, "is not a text file: it holds zero bytes")
    try:
        (head if complete else _whole_characters(head)).decode()
        return "utf-8"
    except UnicodeDecodeError:
        pass
    if re.search(rb"[\xc2-\xf4][\x80-\xbf]", head) or re.search(rb"[\x81\x8d\x8f\x90\x9d]", head):
        return "utf-8"  # which is damaged: an error will name the line
    return "cp1252"


def _plain_name(encoding: str) -> str:
    name = encoding.lower().replace("_", "-")
    return "utf-8" if name in ("utf8", "utf-8", "utf-8-sig", "ascii", "us-ascii") else name


def _whole_characters(head: bytes) -> bytes:
    """Return text without what may be part of a last character."""
    for k in range(1, min(4, len(head)) + 1):
        if head[-k] >= 0xC0:
            return head[:-k]
        if head[-k] < 0x80:
            break
    return head


def read_head(file: IO[bytes]) -> tuple[bytes, bool]:
    """Return the first bytes of a file, with some whole lines, and whether they are all of it."""
    head = file.read(HEAD)
    while len(head) < _LONGEST and head.count(b"\n") + head.count(b"\r") < _FEW:
        more = file.read(len(head))
        if not more:
            break
        head += more
    return head, not file.read(1)


@contextmanager
def in_utf8(path: PathLike, plain: Path, encoding: str | None) -> Iterator[tuple[Path, str]]:
    """Give a file of UTF-8 text, itself or a temporary one, and the encoding that it was in."""
    with plain.open("rb") as file:
        head, complete = read_head(file)
    found = find_encoding(path, head, complete, encoding)
    if found == "utf-8":
        yield plain, found
        return
    with tempfile.TemporaryDirectory(prefix="tacit-") as folder:
        target = Path(folder) / "text"
        try:
            with (
                plain.open(encoding=found, newline="") as source,
                target.open("w", encoding="utf-8", newline="") as text,
            ):
                while block := source.read(_BLOCK):
                    text.write(block)
        except UnicodeError as error:
            raise FileError(path, f"is not {found} text ({error})") from None
        yield target, found


def find_layout(path: PathLike, head: bytes, complete: bool, options: CsvOptions) -> TextLayout:
    """Find what the options leave open in the first bytes, in UTF-8, of a file."""
    eol = "\r" if b"\r" in head and b"\n" not in head else "\n"
    text = head.removeprefix(b"\xef\xbb\xbf").decode(errors="replace")
    lines = text.split(eol)
    if not complete and len(lines) > 1:
        lines.pop()  # which may be cut off
    skip = options.skip_lines or 0
    blank = next((k for k, line in enumerate(lines) if k >= skip and line.strip()), None)
    if blank is None:
        raise FileError(path, "is empty: it holds blank lines only")
    skip = blank
    quote = '"' if options.quote == "auto" else options.quote
    shown = _sample(lines[skip:], quote)
    comment = options.skip_lines is None and _is_comment(shown, options.separator)
    if comment:
        rest = (k for k, line in enumerate(lines) if k > skip and line.strip())
        skip = next(rest, skip)
        shown = shown[1:]
    separator = options.separator
    marks = (",", *_OTHERS) if separator is None else (separator[0],)
    if options.quote == "auto" and '"' not in text:
        quote = "'" if any(_single_quoted(shown, mark) for mark in marks) else '"'
    if separator is None:
        separator = _find_separator(shown, quote)
        if options.decimal != "," or separator != ",":
            separator += " " * _blanks_follow(shown, separator, quote)
    rows = _fields(shown, separator, quote)
    decimal = options.decimal
    if decimal is None:
        decimal = "," if separator[0] != "," and _decimal_commas(rows) else "."
    elif decimal == "," and separator[0] == ",":
        raise FileError(path, "has commas between values: they cannot be in numbers, too")
    header = options.header
    if header is None:
        header = not _begins_with_values(rows, decimal)
    return TextLayout(separator, quote, decimal, header, eol, skip, comment)


def say(path: PathLike, encoding: str, layout: TextLayout, options: CsvOptions) -> None:
    """Say in the log what is not as in plain CSV, and was not asked for."""
    notes = []
    if options.encoding is None and encoding != "utf-8":
        notes.append(f"the encoding is {'Latin-1' if encoding == 'cp1252' else encoding.upper()}")
    if options.separator is None and layout.separator != ",":
        after = " and blanks" if layout.separator[1:] else ""
        notes.append(f"values are separated by {_NAMES[layout.separator[0]]}{after}")
    if options.quote == "auto" and layout.quote == "'":
        notes.append('values are quoted by "\'"')
    if options.decimal is None and layout.decimal == ",":
        notes.append("numbers have decimal commas")
    if layout.comment:
        notes.append("the first line is a comment")
    if options.header is None and not layout.header:
        names = "" if options.names is not None else ": columns are called 0, 1, …"
        notes.append(f"there is no header{names}")
    if layout.eol == "\r":
        notes.append("lines end in CR only")
    if notes:
        _logger.info("%s: %s", path, "; ".join(notes))


def _sample(lines: list[str], quote: str | None) -> list[str]:
    """Return some lines that are not blank; records that break between quotes are joined."""
    shown: list[str] = []
    open_record = ""
    for line in lines:
        record = f"{open_record}\n{line}" if open_record else line
        if quote is not None and record.count(quote) % 2:
            open_record = record
            continue
        open_record = ""
        if record.strip():
            shown.append(record.rstrip("\r"))
        if len(shown) == _LINES:
            break
    return shown or [line.rstrip("\r") for line in lines if line.strip()][:1]


def _outside_quotes(line: str, quote: str | None) -> str:
    return line if quote is None or quote not in line else "".join(line.split(quote)[::2])


def _is_comment(lines: list[str], separator: str | None) -> bool:
    """Return whether the first line is one, while the others have values.

    It begins with a mark of comments and has no separator, and most others have the same number.
    """
    if len(lines) < 3 or not lines[0].startswith(_COMMENTS):
        return False
    for mark in (separator[0],) if separator else (",", ";", "\t"):
        numbers = Counter(_outside_quotes(line, '"').count(mark) for line in lines[1:])
        number, times = numbers.most_common(1)[0]
        if number and 2 * times >= len(lines) and mark not in lines[0]:
            return True
    return False


def _find_separator(lines: list[str], quote: str | None) -> str:
    """Return what separates values: a comma, unless only something else is on every line."""
    bare = [_outside_quotes(line, quote) for line in lines]
    regular = {}
    for mark in (",", *_OTHERS):
        numbers = {line.count(mark) for line in bare}
        if len(numbers) == 1 and (number := numbers.pop()):
            regular[mark] = number
    others = [mark for mark in _OTHERS if mark in regular]
    if "," in regular:
        in_numbers = all(
            re.search(r"(?<!\d),|,(?!\d)", line) is None for line in bare if "," in line
        )
        return others[0] if others and in_numbers else ","
    if others:
        return max(others, key=lambda mark: regular[mark])
    # Not regular: a damaged file, but a first line without commas may say what is meant.
    if "," not in bare[0]:
        for mark in _OTHERS:
            if mark in bare[0] and sum(mark in line for line in bare) > len(bare) / 2:
                return mark
    return ","


def _blanks_follow(lines: list[str], separator: str, quote: str | None) -> bool:
    """Return whether a blank follows every separator."""
    if separator.isspace():
        return False
    pattern = re.compile(re.escape(separator) + "(?! )")
    bare = [_outside_quotes(line, quote) for line in lines]
    some = any(separator in line for line in bare)
    return some and not any(pattern.search(line.rstrip()) for line in bare)


def _single_quoted(lines: list[str], separator: str) -> bool:
    """Return whether some values are between single quotes, and no value has others."""
    mark = re.escape(separator)
    opens, closes = re.compile(rf"(?:^|{mark})\s*'"), re.compile(rf"'\s*(?=$|{mark})")
    found = False
    for line in lines:
        n_open, n_close = len(opens.findall(line)), len(closes.findall(line))
        if n_open != n_close or line.count("'") != n_open + n_close:
            return False
        found = found or n_open > 0
    return found


def _fields(lines: list[str], separator: str, quote: str | None) -> list[list[str]]:
    """Return the values of lines."""
    reader = csv.reader(
        lines,
        delimiter=separator[0],
        quotechar=quote,
        quoting=csv.QUOTE_NONE if quote is None else csv.QUOTE_MINIMAL,
        skipinitialspace=separator[1:] != "",
    )
    try:
        return [[value.strip() for value in row] for row in reader]
    except csv.Error:
        return [[value.strip() for value in line.split(separator[0])] for line in lines]


def _decimal_commas(rows: list[list[str]]) -> bool:
    """Return whether numbers have commas and none has a point."""
    values = [value for row in rows for value in row]
    return any(_WITH_COMMA.fullmatch(value) for value in values) and not any(
        _WITH_POINT.fullmatch(value) for value in values
    )


def _begins_with_values(rows: list[list[str]], decimal: str) -> bool:
    """Return whether the first line looks like values, not like names.

    A name stands above a column of numbers: then it is a header. Else it is none if, in more than
    half of the columns, the first line has a number above numbers, or a text that the column has
    again. Numbers at equal distances, such as 0, 1, 2 or 2010, 2015, 2020, are names of columns,
    unless they are just two that do not follow each other, or beside a text that its column has
    again.
    """
    first, rest = rows[0], [row for row in rows[1:] if len(row) == len(rows[0])]
    if len(first) < 2 or not rest:
        return False
    votes = again = 0
    numbers = []
    for name, values in zip(first, zip(*rest, strict=True), strict=True):
        known = [value for value in values if value not in _UNKNOWN]
        numeric = bool(known) and all(_is_number(value, decimal) for value in known)
        if _is_number(name, decimal):
            numbers.append(float(name.replace(",", ".")))
            votes += numeric
        elif name in _UNKNOWN:
            continue
        elif numeric:
            return False
        else:
            again += name in known
    steps = {round(b - a, 9) for a, b in pairwise(numbers)}
    step = steps.pop() if len(steps) == 1 else 0
    counted = not again and (step == 1 or (step > 0 and len(first) > 2))
    return votes + again > len(first) / 2 and not counted


def _is_number(text: str, decimal: str) -> bool:
    if decimal == "," and _WITH_COMMA.fullmatch(text):
        return True
    return _NUMBER.fullmatch(text) is not None
