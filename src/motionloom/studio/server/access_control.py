"""Access control: only the address with its token, only from the studio's own pages."""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"x-frame-options", b"DENY"),
    (b"cache-control", b"no-store"),
)


class AccessControl:
    """Checks every request and every socket before the application sees it.

    - ``Host`` must be one of ours: otherwise a foreign name points to this server.
    - ``Origin``, where there is one, must be ours; a socket and a POST must have one.
    - The path must begin with the token, compared in constant time. The application does not see
      the token.

    All answers have a content policy: nothing from outside loads or runs.
    """

    def __init__(
        self, app: Callable[[Scope, Receive, Send], Awaitable[None]], token: str, hosts: set[str]
    ) -> None:
        self.app, self.token, self.hosts = app, token, hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request to the application, or refuse it."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        refusal = self._refusal(scope)
        if refusal is not None:
            await _refuse(scope, receive, send, *refusal)
            return
        inside = dict(scope)
        root = f"/{self.token}"
        inside["path"] = scope["path"][len(root) :] or "/"
        inside["raw_path"] = inside["path"].encode()
        await self.app(inside, receive, self._guarded(send, scope))

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        headers: dict[bytes, list[bytes]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.lower(), []).append(value)
        host = b"".join(headers.get(b"host", [b""])).decode("latin-1")
        if host not in self.hosts:
            return 403, "This address is not the studio's."
        needs_origin = scope["type"] == "websocket" or scope.get("method") not in ("GET", "HEAD")
        origins = headers.get(b"origin", [])
        if (needs_origin and not origins) or any(
            origin.decode("latin-1") != f"http://{host}" for origin in origins
        ):
            return 403, "Only the studio's own page may ask this."
        first = scope["path"].removeprefix("/").split("/", 1)[0]
        if not hmac.compare_digest(first.encode(), self.token.encode()):
            return 404, "Open the address that motionloom studio printed, with its token."
        return None

    def _guarded(self, send: Send, scope: Scope) -> Send:
        host = next(v for n, v in scope["headers"] if n.lower() == b"host")
        policy = (
            b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
            b"connect-src 'self' ws://" + host + b"; base-uri 'none'; form-action 'none'; "
            b"frame-ancestors 'none'"
        )

        async def guarded(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [
                    *message.get("headers", []), *HEADERS, (b"content-security-policy", policy),
                ]  # fmt: skip
            await send(message)

        return guarded


async def _refuse(scope: Scope, receive: Receive, send: Send, status: int, text: str) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008, "reason": ""})
        return
    body = text.encode()
    headers = [(b"content-type", b"text/plain; charset=utf-8"), *HEADERS]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
