"""Several iterative runs in lockstep: what all of them ask for is computed in one pass."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

__all__ = ["MIN_GAIN", "run_in_lockstep"]

# By what fraction of the objective a start has to be better than an earlier one to be preferred:
# which of two equally good ones is kept must not depend on how sums were rounded.
MIN_GAIN = 1e-10

Request = TypeVar("Request")
Answer = TypeVar("Answer")
Result = TypeVar("Result")


def run_in_lockstep(
    runs: list[Generator[Request, Answer, Result]],
    answer: Callable[[list[Request]], list[Answer]],
) -> list[Result]:
    """Take several runs to their ends; requests of the same step are answered at once.

    Each run yields what it wants to know, and is sent that.
    """
    results: dict[int, Result] = {}
    requests = {index: next(run) for index, run in enumerate(runs)}
    while requests:
        answers = answer(list(requests.values()))
        following = {}
        for index, value in zip(requests, answers, strict=True):
            try:
                following[index] = runs[index].send(value)
            except StopIteration as end:
                results[index] = end.value
        requests = following
    return [results[index] for index in range(len(runs))]
