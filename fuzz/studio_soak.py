"""Soak test of the studio: random valid and hostile requests against a real server process.

    python fuzz/studio_soak.py --minutes 5 --seed 1 --clients 4

Several clients open pages over WebSocket and HTTP on a small folder of synthetic clips. They make
transitions, blends, splices and tables, run live characters, upload, export, cancel, send invalid
messages, disconnect, and change the folder. The run fails if the server's log has a traceback, an
answer is a defect (``code`` is ``failed``, or HTTP 500), a request is not answered before its
deadline, the server ends, or its memory or the number of its open files grows after the warm-up.
Prints a summary as JSON.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from statistics import median
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

from studio_requests import HOSTILE_TEXTS, Requests, write_folder

DEADLINE_S = 300.0
"""For any answer: a table build and other clients may hold both cores meanwhile."""
WARM_UP = 0.4
"""Part of the run after which memory must be flat."""
GROWTH = 1.1
GROWTH_MB = 30.0
"""Memory may grow by this factor and amount from the middle of the run to its end."""
GROWTH_FILES = 40
"""Open files may grow by this number: a few tables and pages that are open at the moment."""
UPLOADED = 30
"""Clips that are added; they stay in the library, and in memory, until the server ends."""
UPLOAD_MOST = 64 * 1024**2


class Soak:
    """One run: the server, what clients saw, and memory over time."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder, self.seed = folder, seed
        self.log = folder / "server.log"
        self.counts: Counter[str] = Counter()
        self.faults: list[str] = []
        self.memory: list[tuple[float, float]] = []
        self.files: list[tuple[float, float]] = []
        self.slowest: dict[str, float] = {}
        self.end = 0.0
        self.address = ""
        self.server: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Start the server process and read its address."""
        with self.log.open("a") as log:
            self.server = subprocess.Popen(
                [sys.executable, "-m", "motionloom", "studio", str(self.folder / "clips"),
                 "--no-browser", "--project", str(self.folder / "state" / "project.json")],
                stdout=subprocess.PIPE, stderr=log, text=True,
            )  # fmt: skip
        assert self.server.stdout is not None
        self.address = self.server.stdout.readline().strip()
        assert self.address.startswith("http://127.0.0.1:"), self.log.read_text()

    def fault(self, text: str) -> None:
        """Note a failure."""
        self.faults.append(text[:400])

    @property
    def running(self) -> bool:
        """Whether time is left and the server lives."""
        assert self.server is not None
        if self.server.poll() is not None:
            self.fault(f"the server ended with {self.server.returncode}")
            return False
        return time.monotonic() < self.end and len(self.faults) < 20

    async def watch(self) -> None:
        """Sample the server's memory and how many files it has open."""
        assert self.server is not None
        process = Path(f"/proc/{self.server.pid}")
        begun = time.monotonic()
        while self.running:
            now = time.monotonic() - begun
            with suppress(OSError):
                for line in (process / "status").read_text().splitlines():
                    if line.startswith("VmRSS:"):
                        self.memory.append((now, int(line.split()[1]) / 1024))
                self.files.append((now, len(list((process / "fd").iterdir()))))
            await asyncio.sleep(1.0)

    def took(self, kind: str, seconds: float) -> None:
        """Note the time of an answer."""
        self.counts[kind] += 1
        self.slowest[kind] = max(self.slowest.get(kind, 0.0), seconds)


class Page:
    """A client with one socket."""

    def __init__(self, soak: Soak, number: int) -> None:
        self.soak = soak
        self.rng = random.Random(f"{soak.seed}/{number}")
        self.requests = Requests(self.rng)
        self.number = 0

    async def run(self) -> None:
        """Open pages one after the other until the time is over."""
        origin = self.soak.address.rstrip("/").rsplit("/", 1)[0]
        socket = self.soak.address.replace("http://", "ws://") + "socket"
        while self.soak.running:
            try:
                async with connect(socket, origin=origin, max_size=None) as ws:
                    self.requests.opened()
                    for _ in range(self.rng.randint(1, 60)):
                        if not self.soak.running:
                            return
                        await self.act(ws)
                self.soak.counts["pages"] += 1
            except (ConnectionClosed, InvalidHandshake, OSError) as error:
                if self.soak.running:
                    self.soak.counts[f"socket {type(error).__name__}"] += 1
                    await asyncio.sleep(0.5)

    async def act(self, ws: ClientConnection) -> None:
        """Do one thing."""
        choice = self.rng.random()
        if choice < 0.78:
            await self.ask(ws, *self.requests.valid())
        elif choice < 0.88:
            await self.hostile(ws)
        elif choice < 0.92:
            await self.cancel(ws)
        elif choice < 0.95:
            await self.upload()
        elif choice < 0.97:
            await self.download()
        elif choice < 0.985:
            self.change_folder()
        else:
            kind, body = self.requests.valid()
            await ws.send(self.message(kind, body))
            raise ConnectionResetError("the page goes while its request is answered")

    def message(self, kind: str, body: dict[str, Any]) -> str:
        """A request with a new number."""
        self.number += 1
        return json.dumps({"type": kind, "id": self.number, **body})

    async def ask(self, ws: ClientConnection, kind: str, body: dict[str, Any]) -> None:
        """Send a request and wait for its answer."""
        await ws.send(self.message(kind, body))
        begun = time.monotonic()
        head = await self.answer(ws, kind, json.dumps(body)[:200])
        self.soak.took(kind, time.monotonic() - begun)
        self.requests.heard(kind, body, head)

    async def answer(self, ws: ClientConnection, kind: str, about: str) -> dict[str, Any]:
        """The next message that is an answer; a defect and a missed deadline are failures."""
        while True:
            try:
                message = await asyncio.wait_for(ws.recv(), DEADLINE_S)
            except TimeoutError:
                self.soak.fault(f"no answer in {DEADLINE_S:g} s: {kind} {about}")
                return {"type": "missing"}
            if isinstance(message, bytes):
                if message[:4] == b"MLP1":
                    return {"type": "pose"}
                length = int.from_bytes(message[4:8], "little")
                return dict(json.loads(message[8 : 8 + length]))
            head = json.loads(message)
            if head["type"] in ("progress", "library.changed"):
                self.soak.counts[head["type"]] += 1
                continue
            if head["type"] == "error":
                self.soak.counts[f"error {head['code']}"] += 1
                if head["code"] == "failed":
                    self.soak.fault(f"{kind} {about}: {head['text']}")
            return dict(head)

    async def hostile(self, ws: ClientConnection) -> None:
        """Send an invalid message; it must be refused, and the socket must live on."""
        text = self.rng.choice([*HOSTILE_TEXTS, self.requests.mutated()])
        await ws.send(text)
        head = await self.answer(ws, "hostile", repr(text[:200]))
        self.soak.counts["hostile"] += 1
        if head["type"] not in ("error", "missing") and text in HOSTILE_TEXTS:
            self.soak.fault(f"an invalid message was taken: {text[:200]!r}")

    async def cancel(self, ws: ClientConnection) -> None:
        """Ask for something, cancel it, and read both answers."""
        kind, body = self.requests.valid()
        await ws.send(self.message(kind, body))
        asked = self.number
        await asyncio.sleep(self.rng.random() ** 3)
        await ws.send(self.message("cancel", {"request": asked}))
        kinds = [(await self.answer(ws, f"cancelled {kind}", str(body)[:200])) for _ in range(2)]
        self.soak.counts["cancelled"] += any(head.get("cancelled") for head in kinds)
        for head in kinds:
            if head.get("id") == asked:
                self.requests.heard(kind, body, head)

    async def upload(self) -> None:
        """Upload a clip, rubbish, too much, or half of something."""
        kind = self.rng.choice(["clip", "clip", "rubbish", "large", "half"])
        if kind == "clip" and self.soak.counts["upload clip"] >= UPLOADED:
            kind = "rubbish"
        name, data = self.requests.upload(kind, self.soak.folder)
        begun = time.monotonic()
        status = await asyncio.to_thread(post, self.soak.address, name, data, kind)
        self.soak.took(f"upload {kind}", time.monotonic() - begun)
        allowed = {"clip": (200, 422), "rubbish": (422,), "large": (413, 0), "half": (0, 400)}[kind]
        if status not in allowed:
            self.soak.fault(f"upload {kind} {name}: HTTP {status}")

    async def download(self) -> None:
        """Fetch an export, or something that does not exist."""
        url = self.requests.url()
        status = await asyncio.to_thread(fetch, self.soak.address + url)
        self.soak.counts[f"download {status}"] += 1
        if status not in (200, 400, 404):
            self.soak.fault(f"download {url}: HTTP {status}")

    def change_folder(self) -> None:
        """Add, change or delete a clip in the folder that is served."""
        clips = self.soak.folder / "clips"
        target = clips / f"extra{self.rng.randint(0, 2)}.bvh"
        if target.exists() and self.rng.random() < 0.4:
            target.unlink(missing_ok=True)
        else:
            source = self.rng.choice(sorted((self.soak.folder / "spare").iterdir()))
            data = source.read_bytes()
            target.write_bytes(data if self.rng.random() < 0.8 else data[: len(data) // 2])
        self.soak.counts["folder changes"] += 1


def post(address: str, name: str, data: bytes, kind: str) -> int:
    """Upload; the HTTP status, 0 where the server closed the connection first."""
    import http.client
    from urllib.parse import quote, urlsplit

    parts = urlsplit(address)
    link = http.client.HTTPConnection("127.0.0.1", parts.port, timeout=DEADLINE_S)
    try:
        link.putrequest("POST", f"{parts.path}upload?name={quote(name)}")
        link.putheader("Origin", f"http://127.0.0.1:{parts.port}")
        length = len(data) if kind != "large" else UPLOAD_MOST + len(data)
        link.putheader("Content-Length", str(length))
        link.endheaders()
        if kind == "half":
            link.send(data[: len(data) // 2])
            return 0
        link.send(data)
        if kind == "large":
            for _ in range(UPLOAD_MOST // 2**20):
                link.send(b"x" * 2**20)
        return link.getresponse().status
    except (ConnectionError, http.client.HTTPException):
        return 0
    finally:
        link.close()


def fetch(address: str) -> int:
    """The HTTP status of an address."""
    import urllib.error
    import urllib.request

    try:
        with urllib.request.urlopen(address, timeout=DEADLINE_S) as answer:
            answer.read()
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


def growth(samples: list[tuple[float, float]], seconds: float) -> dict[str, float]:
    """Medians of samples in the middle of a run and at its end; empty where it was too short."""
    middle = [value for at, value in samples if WARM_UP * seconds <= at < 0.6 * seconds]
    last = [value for at, value in samples if at >= 0.85 * seconds]
    if not middle or not last:
        return {}
    return {"middle": round(median(middle), 1), "end": round(median(last), 1)}


def summary(soak: Soak, seconds: float) -> dict[str, Any]:
    """What happened, and whether it passed."""
    log = soak.log.read_text(errors="replace")
    if "Traceback" in log:
        at = log.index("Traceback")
        soak.fault(f"traceback in the log: {log[at : at + 1500]}")
    memory, files = growth(soak.memory, seconds), growth(soak.files, seconds)
    if memory and memory["end"] > GROWTH * memory["middle"] + GROWTH_MB:
        soak.fault(f"memory grew: {memory} MB")
    if files and files["end"] > files["middle"] + GROWTH_FILES:
        soak.fault(f"open files grew: {files}")
    return {
        "passed": not soak.faults,
        "seed": soak.seed,
        "minutes": round(seconds / 60, 2),
        "requests": sum(soak.counts.values()),
        "memory_mb": memory,
        "open_files": files,
        "peak_mb": round(max((mb for _, mb in soak.memory), default=0.0), 1),
        "counts": dict(soak.counts.most_common()),
        "slowest_s": {kind: round(s, 2) for kind, s in sorted(soak.slowest.items())},
        "faults": soak.faults,
    }


async def soak_for(soak: Soak, seconds: float, clients: int) -> None:
    """Run clients for some time."""
    soak.end = time.monotonic() + seconds
    pages = [Page(soak, n) for n in range(clients)]
    tasks = [asyncio.create_task(page.run()) for page in pages]
    done = await asyncio.gather(*tasks, soak.watch(), return_exceptions=True)
    for result in done:
        if isinstance(result, BaseException):
            soak.fault(f"a client failed: {type(result).__name__}: {result}")


def run(minutes: float, seed: int, clients: int) -> dict[str, Any]:
    """One soak; its summary."""
    with tempfile.TemporaryDirectory(prefix="motionloom-soak-") as name:
        folder = Path(name)
        write_folder(folder)
        soak = Soak(folder, seed)
        soak.start()
        assert soak.server is not None
        begun = time.monotonic()
        try:
            asyncio.run(soak_for(soak, 60.0 * minutes, clients))
        finally:
            soak.server.send_signal(signal.SIGINT)
            try:
                soak.server.wait(60)
            except subprocess.TimeoutExpired:
                soak.fault("the server did not end 60 s after an interrupt")
                soak.server.kill()
        return summary(soak, time.monotonic() - begun)


def main() -> int:
    """Run by options; 0 where it passed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--clients", type=int, default=4)
    options = parser.parse_args()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    result = run(options.minutes, options.seed, options.clients)
    print(json.dumps(result, indent=1))
    return 0 if result["passed"] else 1


if __name__ == "__main__":
    sys.exit(main())
