"""The server of the page: on this machine only, for whoever has the token."""

from __future__ import annotations

import json
import signal
import socket
import sys
import threading
import time
import webbrowser
from functools import partial
from importlib import resources
from typing import TYPE_CHECKING, Any

import anyio
import uvicorn
from anyio import to_thread
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tacit.errors import InputError
from tacit.explore.security import MOST_BYTES, Guard

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request

    from tacit.explore.explorer import Explorer

__all__ = ["Server", "application"]

STATIC = resources.files("tacit.explore") / "static"
_KINDS = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
_SECONDS = 20.0  # that an answer may take
_SECONDS_OF_FINDINGS = 120.0
_AT_ONCE, _FINDINGS_AT_ONCE = 32, 2  # computations
_WAIT = 10.0  # seconds that a question waits until others are answered
_MOST_CONNECTIONS = 1024  # each browser opens several


class _BusyError(Exception):
    """No room for one more computation."""


def application(explorer: Explorer, hosts: set[str], token: str | None = None) -> Guard:
    """Return the ASGI application of an explorer, guarded."""
    files = {
        file.name: (file.read_bytes(), _KINDS[file.name[file.name.rindex(".") :]])
        for file in STATIC.iterdir()
        if file.name.endswith((".js", ".css", ".svg"))
    }
    page = (STATIC / "page.html").read_bytes()
    room, few = threading.Semaphore(_AT_ONCE), threading.Semaphore(_FINDINGS_AT_ONCE)

    async def index(_: Request) -> Response:
        return Response(page, media_type="text/html")

    async def static(request: Request) -> Response:
        found = files.get(request.path_params["name"])
        if found is None:
            return JSONResponse({"problem": "there is no such file"}, 404)
        return Response(found[0], media_type=found[1])

    async def schema(_: Request) -> Response:
        return JSONResponse(await to_thread.run_sync(explorer.describe))

    async def tables(request: Request) -> Response:
        packed = partial(_computed, explorer.tables, seconds=_SECONDS, room=room, wait=_WAIT)
        return await _answer(request, packed, "application/octet-stream")

    async def findings(request: Request) -> Response:
        found = partial(_computed, explorer.findings, seconds=_SECONDS_OF_FINDINGS, room=few)
        return await _answer(request, found, "application/json")

    async def start(request: Request) -> Response:
        begun = partial(_computed, explorer.jobs.start, seconds=_SECONDS_OF_FINDINGS, room=few)
        return await _answer(request, begun, "application/json")

    async def job(request: Request) -> Response:
        asked = partial(_computed, explorer.jobs.ask, seconds=_SECONDS, room=room, wait=_WAIT)
        return await _answer(request, asked, "application/json")

    routes = [
        Route("/", index),
        Route("/static/{name}", static),
        Route("/api/schema", schema),
        Route("/api/tables", tables, methods=["POST"]),
        Route("/api/findings", findings, methods=["POST"]),
        Route("/api/models", start, methods=["POST"]),
        Route("/api/job", job, methods=["POST"]),
    ]
    return Guard(Starlette(routes=routes), hosts, token)


async def _computed(
    compute: Callable[[Any], Any],
    request: Any,
    *,
    seconds: float,
    room: threading.Semaphore,
    wait: float = 0.0,
) -> Any:
    """Compute in a thread of its own, for so long, when there is room for one more.

    A thread goes on when nobody waits for it any more: there is room again when it has ended.
    """
    until = time.monotonic() + wait
    while not room.acquire(blocking=False):
        if time.monotonic() >= until:
            raise _BusyError
        await anyio.sleep(0.01)
    begun = False

    def run(asked: Any) -> Any:
        nonlocal begun
        begun = True
        try:
            return compute(asked)
        finally:
            room.release()

    try:
        with anyio.fail_after(seconds):
            return await to_thread.run_sync(run, request, abandon_on_cancel=True)
    finally:
        if not begun:
            room.release()


async def _answer(request: Request, compute: Callable[[Any], Any], kind: str) -> Response:
    """Answer a request, or say in a sentence why not."""
    try:
        asked = json.loads(await request.body())
        answer = await compute(asked)
    except ClientDisconnect:
        return JSONResponse({"problem": f"requests have at most {MOST_BYTES:,} bytes"}, 413)
    except (ValueError, RecursionError) as error:  # an InputError is one
        said = str(error) if isinstance(error, InputError) else "the request is no JSON"
        return JSONResponse({"problem": said}, 400)
    except _BusyError:
        return JSONResponse({"problem": "too much is being computed; wait a little"}, 503)
    except TimeoutError:
        return JSONResponse({"problem": "this took too long; ask for fewer columns"}, 503)
    except MemoryError as error:
        return JSONResponse({"problem": f"there is not enough memory: {error}"}, 503)
    if isinstance(answer, bytes):
        return Response(answer, media_type=kind)
    return JSONResponse(answer)


class Server:
    """A running server.

    Parameters
    ----------
    explorer : Explorer
    port : int, default 0
        0 for one that is free.

    Attributes
    ----------
    url : str
        The address to open; the token is in it.
    """

    def __init__(self, explorer: Explorer, port: int = 0) -> None:
        self._socket = socket.socket()
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            self._socket.bind(("127.0.0.1", port))
            self._socket.listen(128)  # who comes before the server runs waits
        except OSError as error:
            self._socket.close()
            raise InputError(f"port: {port} cannot be used: {error.strerror}") from error
        port = self._socket.getsockname()[1]
        names = {"127.0.0.1", "localhost"}
        hosts = {f"{name}:{port}" for name in names}
        guard = application(explorer, hosts | names if port == 80 else hosts)
        self.url, self._opened = (
            f"http://127.0.0.1:{port}/?token={token}{explorer.start and f'#{explorer.start}'}"
            for token in (guard.token, guard.once)
        )
        config = uvicorn.Config(
            guard, log_level="warning", access_log=False, server_header=False, lifespan="off",
            limit_concurrency=_MOST_CONNECTIONS, timeout_keep_alive=30,
            h11_max_incomplete_event_size=65_536,
        )  # fmt: skip
        self._explorer = explorer
        self._server = uvicorn.Server(config)
        self._thread: threading.Thread | None = None

    def run(self, *, browser: bool = False) -> None:
        """Serve until Ctrl-C; open the page in the browser first."""
        if browser:
            threading.Timer(0.3, webbrowser.open, [self._opened]).start()
        for name in ("SIGTERM", "SIGHUP"):  # else nobody would end models, and remove their file
            signal.signal(getattr(signal, name), lambda number, _: sys.exit(128 + number))
        try:
            self._server.run([self._socket])
        finally:
            self._explorer.jobs.close()

    def start(self) -> Server:
        """Serve in a thread, beside what else is done."""
        self._thread = threading.Thread(
            target=self._server.run, args=([self._socket],), daemon=True, name="tacit-explore"
        )
        self._thread.start()
        return self

    def stop(self) -> None:
        """Stop serving."""
        self._server.should_exit = True
        if self._thread is not None:
            self._thread.join(10)
        self._socket.close()
        self._explorer.jobs.close()

    def __enter__(self) -> Server:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"Server at {self.url}"
