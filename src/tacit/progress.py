"""How far long work has come, for those who ask."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["show_progress"]


@contextmanager
def show_progress(
    what: str, total: int, shown: bool, *, passing: bool = False
) -> Iterator[Callable[[int], None]]:
    """Show on stderr how many of something, named in the plural, are done; if not `shown`, nowhere.

    A bar that is `passing` is taken away when all is done: it is that of one of many passes.
    """
    if not shown:
        yield lambda n: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=passing) as bar:
        task = bar.add_task(what, total=total)
        yield lambda n: bar.advance(task, n)
