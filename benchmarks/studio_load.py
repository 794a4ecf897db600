"""Load on the studio: many live characters at once, answer times and memory of a real server.

    ./bench studio-load [--clients 100] [--seconds 120] [--rate 30] [--json FILE]

Each client is a page with one live character of a table. As a page does, it asks for the next pose
when the last one has come, at most ``rate`` times a second, and sends the character to another goal
every few seconds. The clients run in one process next to the server, so both cores are shared.
Prints percentiles of the answer time, the server's CPU time per answer, and its memory.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np

import motionloom as ml

KINDS = ("walk", "jog", "run", "sneak")
GO_EVERY_S = 4.0
BUILD_S = 900.0
FPS = 60.0
TICK_S = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
LIMIT_MS = 50.0
"""The 99th percentile must be under this."""


class Client(asyncio.Protocol):
    """A WebSocket in as few steps as possible: the clients must not be what is measured."""

    def __init__(self, port: int, path: str) -> None:
        key = base64.b64encode(os.urandom(16)).decode()
        self._hello = (
            f"GET {path}socket HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
            f"Origin: http://127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n"
        ).encode()
        self._data = bytearray()
        self._open = False
        self._waiting: asyncio.Future[bytes] | None = None
        self._number = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Ask for the upgrade."""
        assert isinstance(transport, asyncio.WriteTransport)
        self._transport = transport
        self._waiting = asyncio.get_running_loop().create_future()
        transport.write(self._hello)

    def connection_lost(self, exc: Exception | None) -> None:
        """Fail what waits."""
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_exception(ConnectionError("the server closed the socket"))

    def data_received(self, data: bytes) -> None:
        """Take whole messages out of what has come."""
        self._data += data
        if not self._open:
            end = self._data.find(b"\r\n\r\n")
            if end < 0:
                return
            assert self._data.startswith(b"HTTP/1.1 101"), bytes(self._data[:100])
            del self._data[: end + 4]
            self._open = True
            self._answered(b"")
        while (message := self._message()) is not None:
            if not message.startswith((b'{"type":"progress"', b'{"type":"library.changed"')):
                self._answered(message)

    def _message(self) -> bytes | None:
        data = self._data
        if len(data) < 2:
            return None
        length, at = data[1] & 127, 2
        if length == 126:
            length, at = int.from_bytes(data[2:4], "big"), 4
        elif length == 127:
            length, at = int.from_bytes(data[2:10], "big"), 10
        if len(data) < at + length:
            return None
        message = bytes(data[at : at + length])
        del data[: at + length]
        return message

    def _answered(self, message: bytes) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(message)

    async def ready(self) -> None:
        """Until the socket is open."""
        assert self._waiting is not None
        await self._waiting

    async def ask(self, kind: str, **body: Any) -> bytes:
        """Send a request; its answer."""
        self._number += 1
        text = json.dumps({"type": kind, "id": self._number, **body}).encode()
        head = b"\x81" + (
            bytes([128 | len(text)])
            if len(text) < 126
            else bytes([128 | 126]) + len(text).to_bytes(2, "big")
        )
        self._waiting = asyncio.get_running_loop().create_future()
        self._transport.write(head + b"\0\0\0\0" + text)  # a mask of zeros changes nothing
        return await self._waiting

    def close(self) -> None:
        """End the socket."""
        self._transport.close()


async def live(client: Client, seed: int, rate: float, end: float, times: list[float]) -> int:
    """One live character until the end; how many errors came."""
    rng = random.Random(seed)
    started = json.loads(await client.ask("stream.start", source=[rng.choice(KINDS), 30]))
    number, errors = started["live"], 0
    await asyncio.sleep(rng.random())
    last = due = time.perf_counter()
    go_at = last + rng.uniform(0.0, GO_EVERY_S)
    while last < end:
        due = max(due + 1.0 / rate, time.perf_counter() - 1.0 / rate)
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        now = time.perf_counter()
        if now > go_at:
            go_at = now + rng.uniform(0.5, 1.5) * GO_EVERY_S
            await client.ask("stream.go", live=number, goal=rng.choice(KINDS))
            times.append(time.perf_counter() - now)
            now = time.perf_counter()
        frames = max(1, min(30, round((now - last) * FPS)))
        answer = await client.ask("stream.step", live=number, frames=frames)
        times.append(time.perf_counter() - now)
        errors += answer[:4] != b"MLP1"
        last = now
    return errors


def memory_mb(pid: int) -> float:
    """Resident memory of a process."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise OSError("no VmRSS")


def cpu_s(pid: int) -> float:
    """CPU time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK_S


async def measure(address: str, pid: int, options: argparse.Namespace) -> dict[str, Any]:
    """Run the clients; what came of it."""
    parts = urlsplit(address)
    assert parts.port is not None
    loop = asyncio.get_running_loop()

    async def opened() -> Client:
        _, client = await loop.create_connection(
            lambda: Client(int(parts.port or 0), parts.path), "127.0.0.1", parts.port
        )
        await client.ready()
        return client

    first = await opened()
    await first.ask("table.build", clusters=12, lookup=12, length_s=1.0, fps=FPS)
    begun = time.monotonic()
    while (job := json.loads(await first.ask("table.state"))["job"])["state"] == "running":
        assert time.monotonic() - begun < BUILD_S
        await asyncio.sleep(0.5)
    assert job["state"] == "built", job
    clients = [await opened() for _ in range(options.clients)]
    warm: list[float] = []
    await asyncio.gather(
        *(live(c, n, options.rate, time.perf_counter() + 5.0, warm) for n, c in enumerate(clients))
    )
    times: list[float] = []
    memory = [memory_mb(pid)]
    used, begun = cpu_s(pid), time.perf_counter()
    end = begun + options.seconds
    lags: list[float] = []

    async def watch() -> int:
        while (now := time.perf_counter()) < end:
            await asyncio.sleep(0.05)
            lags.append(time.perf_counter() - now - 0.05)
            if len(lags) % 20 == 0:
                memory.append(memory_mb(pid))
        return 0

    errors = sum(
        await asyncio.gather(
            watch(), *(live(c, n, options.rate, end, times) for n, c in enumerate(clients))
        )
    )
    spent = cpu_s(pid) - used
    for client in (first, *clients):
        client.close()
    ms = 1e3 * np.array(times)
    return {
        "clients": options.clients,
        "seconds": round(time.perf_counter() - begun, 1),
        "answers": len(ms),
        "errors": errors,
        "answers_per_s": round(len(ms) / options.seconds, 1),
        **{f"p{p}_ms": round(float(np.percentile(ms, p)), 2) for p in (50, 95, 99, 99.9)},
        "max_ms": round(float(ms.max()), 1),
        "clients_own_lag_p99_ms": round(1e3 * float(np.percentile(lags, 99)), 2),
        "server_cpu_ms_per_answer": round(1e3 * spent / len(ms), 3),
        "server_cores": round(spent / options.seconds, 2),
        "memory_start_mb": round(memory[0], 1),
        "memory_middle_mb": round(memory[len(memory) // 2], 1),
        "memory_end_mb": round(memory[-1], 1),
    }


def main() -> int:
    """Measure by options; 0 where the limit holds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--clients", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--rate", type=float, default=30.0, help="poses a second and client")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="motionloom-load-") as name:
        folder = Path(name)
        (folder / "clips").mkdir()
        for kind in KINDS:
            clip = ml.synthetic.clip(kind, duration_s=6.0).motion
            ml.save(clip, folder / "clips" / f"{kind}.bvh")
        server = subprocess.Popen(
            [sys.executable, "-m", "motionloom", "studio", str(folder / "clips"), "--no-browser",
             "--project", str(folder / "project.json")],
            stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert server.stdout is not None
        try:
            address = server.stdout.readline().strip()
            figures = asyncio.run(measure(address, server.pid, options))
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(60)
    print(json.dumps(figures, indent=1))
    if options.json is not None:
        options.json.write_text(json.dumps(figures, indent=1) + "\n")
    held = figures["p99_ms"] < LIMIT_MS and not figures["errors"]
    print(f"99th percentile {figures['p99_ms']:g} ms, limit {LIMIT_MS:g} ms: "
          f"{'held' if held else 'NOT held'}")  # fmt: skip
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
