"""What can be done in a process that was forked from one in which Polars was at work.

A fork has none of the threads of its parent, and Polars waits for its own for ever. There, what
would wait is an error that says so. Kernels start their threads anew for each call and work in any
fork, and so does what Polars does without threads.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

__all__ = ["check_fork", "watch_forks"]

_THREADS = Path("/proc/self/task")
_NAMES = ("polars-", "tokio-", "async-executor")  # of threads of Polars
_ALWAYS = "polars-ooc"  # of one that nothing waits for
# What cannot go on without them, which nearly everything that is done to frames goes through. Not
# here are polars.concat(), polars.from_arrow(), rows that are taken by a list and rechunk(): they
# work on one frame or chunk, and wait where there are several.
_WAITING = {
    "": ("collect_all", "collect_all_async"),  # functions
    "DataFrame": (
        *("hash_rows", "is_duplicated", "is_unique", "n_unique", "partition_by", "sample"),
        *("to_arrow", "to_dummies", "to_pandas", "write_avro", "write_csv", "write_ipc"),
        *("write_ndjson", "write_parquet"),
    ),
    "LazyFrame": (
        *("_collect_eager", "collect", "collect_async", "collect_batches", "collect_schema"),
        *("sink_batches", "sink_csv", "sink_ipc", "sink_ndjson", "sink_parquet"),
    ),
    "Series": ("arg_sort", "n_unique", "rank", "sort", "to_dummies", "unique"),
}
_lost = {"threads": False}  # whether this process is a fork without them


def check_fork(what: str) -> None:
    """Refuse what needs threads of Polars in a fork that does not have them."""
    if _lost["threads"]:
        raise RuntimeError(
            f"{what} takes threads of Polars, which this process has lost: it was forked after "
            "Polars had been used, and would wait for ever. Start processes by "
            'multiprocessing.get_context("spawn") or "forkserver"'
        )


@cache
def watch_forks() -> None:
    """From now on, note when this process is forked."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_in_child, before=_before)


_before_fork = {"threads": False}


def _before() -> None:
    _before_fork["threads"] = _has_threads()


def _in_child() -> None:
    if _before_fork["threads"] and not _lost["threads"]:
        _lost["threads"] = True
        _refuse_to_wait(sys.modules["polars"])


def _has_threads() -> bool:
    """Return whether Polars has begun to work: its threads stay."""
    try:
        threads = list(_THREADS.iterdir())
    except OSError:  # no Linux: then it is as likely as not
        return "polars" in sys.modules
    for thread in threads:
        with suppress(OSError):
            name = (thread / "comm").read_text(encoding="ascii", errors="replace")
            if name.startswith(_NAMES) and not name.startswith(_ALWAYS):
                return True
    return False


def _refuse_to_wait(polars: Any) -> None:
    for owner, names in _WAITING.items():
        for name in names:
            target = getattr(polars, owner) if owner else polars
            setattr(target, name, _refusal(f"{owner or 'polars'}.{name}()"))


def _refusal(what: str) -> Any:
    def refuse(*given: Any, **options: Any) -> None:
        check_fork(what)

    return refuse
