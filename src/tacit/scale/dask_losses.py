"""What is lost on a cluster: its last worker, or its scheduler. Dask would wait for either."""

from __future__ import annotations

import time
from contextlib import contextmanager
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

from tacit.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["LostWorkers", "reaching"]

_INTERVAL = 1.0  # seconds between looks at the workers


@contextmanager
def reaching(client: Any) -> Iterator[None]:
    """Turn what is said where a scheduler cannot be reached into an error that names it."""
    from distributed.client import FutureCancelledError

    if client.status in ("closing", "closed"):
        raise InputError("cluster: the client is closed, or has lost its scheduler")
    where = client.scheduler.address
    try:
        yield
    except FutureCancelledError as error:
        if client.status == "running":
            raise InputError(f"cluster: {where} has cancelled the work: {error}") from error
        raise InputError(f"cluster: the scheduler at {where} was lost") from error
    except OSError as error:
        if client.status == "running":  # then it is what a task has said
            raise
        raise InputError(f"cluster: the scheduler at {where} was lost") from error


class LostWorkers:
    """Looks whether there are workers; with none for some time, work is cancelled and refused.

    Parameters
    ----------
    client : distributed.Client
    futures : list of Future
        What is to be cancelled; it may grow.
    timeout : float
        Seconds for which workers may be away: others may come in their place.
    """

    def __init__(self, client: Any, futures: list[Any], timeout: float) -> None:
        self._client = client
        self._futures = futures
        self._timeout = timeout
        self._over = Event()
        self._lost = False

    def __enter__(self) -> None:
        Thread(target=self._look, name="tacit-workers", daemon=True).start()

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        self._over.set()
        if self._lost and isinstance(error, Exception):
            raise InputError(
                f"cluster: all workers of {self._client.scheduler.address} were lost, and none "
                f"came in {self._timeout:g} seconds"
            ) from error

    def _look(self) -> None:
        away: float | None = None  # since when there has been no worker
        while not self._over.wait(min(_INTERVAL, self._timeout)):
            try:
                n_workers = len(self._client.nthreads())
            except Exception:  # the scheduler is lost, which cancels the work, too
                return
            now = time.monotonic()
            away = None if n_workers else away or now
            if away is not None and now - away >= self._timeout and not self._over.is_set():
                self._lost = True
                self._client.cancel(list(self._futures), force=True)
                return
