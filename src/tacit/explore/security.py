"""Who may ask: only the page that was opened from the address with the token."""

from __future__ import annotations

import hmac
import secrets
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, MutableMapping

    Scope = MutableMapping[str, Any]
    Message = MutableMapping[str, Any]
    Receive = Callable[[], Awaitable[Message]]
    Send = Callable[[Message], Awaitable[None]]
    App = Callable[[Scope, Receive, Send], Awaitable[None]]

__all__ = ["MOST_BYTES", "PAGE_POLICY", "Guard"]

MOST_BYTES = 1_000_000  # of a request
PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' blob: data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = (
    (b"content-security-policy", PAGE_POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)


class Guard:
    """An ASGI layer that refuses whatever does not come from the page itself.

    The address with the token, which only the person who started the server knows, is exchanged for
    a cookie. All else needs the cookie, one of the hosts that the server is meant to be reached at
    (a name that was bound to this machine by somebody else is refused), and the server's own page
    as its origin. Requests are limited in size, and no answer may be stored or read by others.

    Parameters
    ----------
    app : ASGI application
    hosts : set of str
        Hosts with their ports, such as ``127.0.0.1:8000``.
    token : str, optional
        Drawn at random unless given.
    """

    def __init__(self, app: App, hosts: set[str], token: str | None = None) -> None:
        self.app = app
        self.hosts = hosts
        self.token = token or secrets.token_urlsafe(24)
        # For the command line of a browser, which others on this machine may see: good for once.
        self.once = secrets.token_urlsafe(24)
        # Cookies know no ports: two explorers side by side need two names.
        port = next(iter(sorted(hosts)), "").rpartition(":")[2]
        self._cookie = f"tacit-{port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        headers = {name.decode("latin-1"): x.decode("latin-1") for name, x in scope["headers"]}
        given = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("token", [""])[0]
        problem = self._problem(scope["method"], headers)
        if problem is None and scope["path"] == "/" and given:
            if self._is_token(given) or self._is_once(given):
                await self._welcome(send)
                return
            problem = "the token of this address is not that of the running server"
        elif problem is None and not self._is_token(self._cookie_of(headers)):
            problem = "open the address that `tacit explore` printed: it has the token in it"
        if problem is None and int(headers.get("content-length", "0")) > MOST_BYTES:
            await _refuse(send, 413, "the request is too large")
            return
        if problem is not None:
            await _refuse(send, 403, problem)
            return
        await self.app(scope, _limited(receive), _with_headers(send))

    def _problem(self, method: str, headers: dict[str, str]) -> str | None:
        host = headers.get("host", "")
        if host not in self.hosts:
            return "this host is not one that the server is reached at"
        if method not in ("GET", "HEAD", "POST"):
            return f"method {method} is not used here"
        if not headers.get("content-length", "0").isdecimal():
            return "the length of the request is no number"
        if headers.get("origin", f"http://{host}") != f"http://{host}":
            return "requests of other pages are refused"
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            # A link in a mail or another page may open the page itself, with the cookie or without.
            opens = headers.get("sec-fetch-mode") == "navigate" and method == "GET"
            return None if opens else "requests of other pages are refused"
        return None

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), self.token.encode())

    def _is_once(self, given: str) -> bool:
        same = bool(self.once) and hmac.compare_digest(given.encode(), self.once.encode())
        self.once = "" if same else self.once
        return same

    def _cookie_of(self, headers: dict[str, str]) -> str:
        # Cookies of other servers on this machine come along, and may look like anything.
        for part in headers.get("cookie", "").split(";"):
            name, _, value = part.strip().partition("=")
            if name == self._cookie:
                return value
        return ""

    async def _welcome(self, send: Send) -> None:
        cookie = f"{self._cookie}={self.token}; Path=/; HttpOnly; SameSite=Strict"
        headers = [(b"location", b"/"), (b"set-cookie", cookie.encode()), *_HEADERS]
        await send({"type": "http.response.start", "status": 303, "headers": headers})
        await send({"type": "http.response.body", "body": b""})


def _with_headers(send: Send) -> Send:
    async def guarded(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", ()), *_HEADERS]
        await send(message)

    return guarded


def _limited(receive: Receive) -> Receive:
    """Stop reading a request that goes on for longer than it may."""
    read = 0

    async def limited() -> Message:
        nonlocal read
        message = await receive()
        read += len(message.get("body", b""))
        return {"type": "http.disconnect"} if read > MOST_BYTES else message

    return limited


async def _refuse(send: Send, status: int, problem: str) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8"), *_HEADERS]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": problem.encode()})
