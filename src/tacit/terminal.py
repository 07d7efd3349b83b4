"""Text of strangers on a terminal: what would steer it is spelt out.

A label may hold escape sequences, which colour, move or type, and marks that turn the direction of
writing, so that a line reads as another one.
"""

from __future__ import annotations

import re

__all__ = ["STEERING", "visible"]

# Controls but tabs and line ends, what ends lines elsewhere, marks of direction, halves of pairs.
STEERING = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def visible(text: str) -> str:
    r"""Return a text with its control characters spelt out, as Python spells them.

    >>> visible("a\x1b[31m b\u202ec")
    'a\\x1b[31m b\\u202ec'
    """
    return STEERING.sub(lambda found: repr(found[0])[1:-1], text)
