"""How far long work has come, for those who ask."""

from __future__ import annotations

import logging
import sys
import threading
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from tacit.terminal import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Hearing = Callable[[str, int, int], None]

__all__ = ["Notes", "hear_progress", "show_notes", "show_progress"]

_CUTS = "tacit.table.cuts"
_HEARD: ContextVar[Hearing | None] = ContextVar("heard", default=None)


class Notes(logging.Handler):
    """Prints on stderr what is found about data on this thread, each thing once."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self._said: set[str] = set()
        self._thread = threading.get_ident()

    def emit(self, record: logging.LogRecord) -> None:
        """Print a note."""
        message = record.getMessage()
        if record.thread == self._thread and message not in self._said:
            self._said.add(message)
            self.say(message)

    def say(self, message: str) -> None:
        """Print it."""
        print(visible(message), file=sys.stderr)


@contextmanager
def show_notes(
    shown: bool, notes: Notes | None = None, names: Sequence[str] = ()
) -> Iterator[None]:
    """Show what the log says of numbers that are cut into bins, and what `names` log.

    Nothing, if not `shown` or if somebody shows it already.
    """
    loggers = [logging.getLogger(name) for name in (_CUTS, *names)]
    if not shown or any(isinstance(handler, Notes) for handler in loggers[0].handlers):
        yield
        return
    handler, levels = notes or Notes(), [logger.level for logger in loggers]
    for logger in loggers:
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.removeHandler(handler)
            logger.setLevel(level)


@contextmanager
def hear_progress(hear: Hearing) -> Iterator[None]:
    """Call with what is counted, how many are done and how many there are, shown or not."""
    token = _HEARD.set(hear)
    try:
        yield
    finally:
        _HEARD.reset(token)


@contextmanager
def show_progress(
    what: str, total: int, shown: bool, *, passing: bool = False
) -> Iterator[Callable[[int], None]]:
    """Show on stderr how many of something, named in the plural, are done; if not `shown`, nowhere.

    A bar that is `passing` is taken away when all is done: it is that of one of many passes.
    """
    hear = _HEARD.get()
    if hear is not None:
        done = 0

        def advance(n: int) -> None:
            nonlocal done
            done += n
            hear(what, done, total)

        yield advance
        return
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
