"""Several runs side by side: what all of them ask for is found at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

__all__ = ["GAIN", "run_together"]

# Of what a start has come to, another one has to be better by this share to be preferred: which of
# two that are as good is kept must not depend on how sums were rounded.
GAIN = 1e-10

Asked = TypeVar("Asked")
Found = TypeVar("Found")
Ended = TypeVar("Ended")


def run_together(
    runs: list[Generator[Asked, Found, Ended]], answer: Callable[[list[Asked]], list[Found]]
) -> list[Ended]:
    """Take several runs to their ends: those that are not over ask together, and go on together.

    Parameters
    ----------
    runs : list of generators
        Each yields what it wants to know, and is sent that.
    answer : callable
        Finds what several runs ask for.
    """
    ended: dict[int, Ended] = {}
    asked = {place: next(steps) for place, steps in enumerate(runs)}
    while asked:
        found = answer(list(asked.values()))
        following = {}
        for place, own in zip(asked, found, strict=True):
            try:
                following[place] = runs[place].send(own)
            except StopIteration as end:
                ended[place] = end.value
        asked = following
    return [ended[place] for place in range(len(runs))]
