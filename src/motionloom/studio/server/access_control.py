"""The secret address of the studio, kept from start to start, and who is let in by it."""

from __future__ import annotations

import hmac
import json
import os
import re
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from motionloom.errors import FormatError
from motionloom.files.limits import Budget, Limits
from motionloom.files.reading import parse_json, read_file

TOKEN = re.compile(r"[A-Za-z0-9_-]{24}")
MOST_ADDRESS_BYTES = 1000
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


class StoredAddress:
    """Token and port, in a file next to the project that only its owner can read.

    A file that others can read, or with other content, is replaced. Where no file can be
    written, each start has a new address.
    """

    def __init__(self, project: Path) -> None:
        self._path = project.with_name(f"{project.stem}.address")
        self.token, self.port = self._load() or (secrets.token_urlsafe(18), 0)

    def store(self, port: int) -> None:
        """Store the port that is served."""
        self.port = port
        text = json.dumps({"token": self.token, "port": port})
        fresh = self._path.with_name(f".{self._path.name}.{secrets.token_hex(4)}")
        with suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            try:
                with os.fdopen(handle, "w", encoding="utf-8") as stream:
                    stream.write(text)
                fresh.replace(self._path)
            except OSError:
                fresh.unlink(missing_ok=True)
                raise

    def _load(self) -> tuple[str, int] | None:
        try:
            status = self._path.stat()
            if os.name == "posix" and (status.st_mode & 0o077 or status.st_uid != os.getuid()):
                return None  # others may know it
            text = read_file(self._path, MOST_ADDRESS_BYTES)
            stored = parse_json(text, Budget(Limits(), 0), where="address")
            token, port = stored["token"], stored["port"]
        except (OSError, FormatError, KeyError, TypeError):
            return None
        if not (isinstance(token, str) and TOKEN.fullmatch(token)):
            return None
        if type(port) is not int or not 0 <= port <= 65535:
            return None
        return token, port


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
