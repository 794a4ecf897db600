"""Address: the token and port of a project, stored so that links still work after a restart."""

from __future__ import annotations

import json
import os
import re
import secrets
from contextlib import suppress
from pathlib import Path

from motionloom.errors import FormatError
from motionloom.files.limits import Budget, Limits
from motionloom.files.reading import parse_json, read_file

TOKEN = re.compile(r"[A-Za-z0-9_-]{24}")
MOST_BYTES = 1000


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
            text = read_file(self._path, MOST_BYTES)
            stored = parse_json(text, Budget(Limits(), 0), where="address")
            token, port = stored["token"], stored["port"]
        except (OSError, FormatError, KeyError, TypeError):
            return None
        if not (isinstance(token, str) and TOKEN.fullmatch(token)):
            return None
        if type(port) is not int or not 0 <= port <= 65535:
            return None
        return token, port
