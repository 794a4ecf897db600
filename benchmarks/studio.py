"""The studio's speed: its start, poses, blends, first paint, size of the page, memory in play.

python benchmarks/studio.py [--play SECONDS]; ten minutes of play take --play 600. The browser's
figures need chromium and playwright; without them they are left out. Rendering is in software where
there is no graphics card, so that only script is counted.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import motionloom as ml
from motionloom.studio.server.server import static_folder
from report import Figure, write_report
from studio_page import in_a_browser

POSES = 600
BLENDS = 40
CLIPS = ("walk", "jog")
LONG_S = 7.0
"""Of clips whose blend is about five seconds long."""
SETTLE_S = 3.0
"""What the first page sets off in the background is over by then."""


@dataclass(frozen=True)
class Served:
    """A studio in a separate process."""

    process: subprocess.Popen[str]
    address: str
    begun: float
    """When the process was started, on the clock of ``time.time``."""
    address_s: float
    """Seconds from there to its address."""

    @property
    def socket(self) -> str:
        """Address of the socket."""
        return self.address.replace("http:", "ws:") + "socket"

    @property
    def origin(self) -> str:
        """The origin that its pages report."""
        return f"http://{urlsplit(self.address).netloc}"

    def cpu_s(self) -> float:
        """Seconds that its processor worked so far; nan where the system does not report it."""
        try:
            words = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            return float("nan")
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")

    def memory_mb(self) -> float:
        """Memory that it holds now; nan where the system does not report it."""
        try:
            lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        except OSError:
            return float("nan")
        return int(next(each for each in lines if each.startswith("VmRSS")).split()[1]) / 1024


@contextmanager
def served(
    clips: Path | None = None,
    *,
    python: Path | str = sys.executable,
    environment: dict[str, str] | None = None,
) -> Iterator[Served]:
    """The studio as a user starts it, while it serves."""
    with tempfile.TemporaryDirectory() as folder:
        words = [str(python), "-m", "motionloom", "studio", *([str(clips)] if clips else [])]
        words += ["--no-browser", "--project", str(Path(folder) / "project.json")]
        begun, clock = time.time(), time.perf_counter()
        process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment)
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        address_s = time.perf_counter() - clock
        try:
            yield Served(process, address, begun, address_s)
        finally:
            process.terminate()
            process.wait(20.0)


def over_the_socket() -> list[Figure]:
    """A weight change to a pose, and to a whole blend of five seconds, there and back."""
    from websockets.sync.client import connect
    from websockets.typing import Origin

    with tempfile.TemporaryDirectory() as folder:
        for kind in CLIPS:
            ml.save(ml.synthetic.clip(kind, duration_s=LONG_S).motion, Path(folder, f"{kind}.bvh"))
        with (
            served(Path(folder)) as studio,
            connect(studio.socket, origin=Origin(studio.origin), max_size=None) as socket,
        ):

            def ask(kind: str, **body: Any) -> tuple[Any, float]:
                begun = time.perf_counter()
                socket.send(json.dumps({"type": kind, "id": 1, **body}))
                reply = socket.recv()
                return reply, 1e3 * (time.perf_counter() - begun)

            clips = [f"{kind}.bvh" for kind in CLIPS]
            head = _head(ask("blend.make", clips=clips, weights=[0.5, 0.5])[0])
            live = json.loads(ask("control.start", clips=clips)[0])["live"]
            time.sleep(SETTLE_S)
            before = studio.cpu_s()
            steps = [
                ask("control.step", live=live, weights=[1 - k / POSES, k / POSES])
                for k in range(POSES)
            ]
            pose_cpu = 1e3 * (studio.cpu_s() - before) / POSES
            have = [source["key"] for source in head["sources"]]
            length = head["shown"]["frames"] / head["shown"]["fps"]
            before = studio.cpu_s()
            made = [
                ask("blend.make", clips=clips, weights=[1 - k / BLENDS, k / BLENDS], have=have)
                for k in range(BLENDS)
            ]
            blend_cpu = 1e3 * (studio.cpu_s() - before) / BLENDS
    poses = sorted(taken for _, taken in steps[POSES // 6 :])
    assert all(reply[:4] == b"MLP1" for reply, _ in steps), "a frame must be one binary message"
    blends = [taken for _, taken in made]
    return [
        Figure("weight change to pose, there and back, median", statistics.median(poses), "ms",
               lower_is_better=True, value_goal=5.0,
               note=f"server's processor {pose_cpu:.2f} ms; {len(steps[-1][0])} bytes, 1 message"),
        Figure("the same, 99th of a hundred", poses[int(0.99 * len(poses))], "ms",
               lower_is_better=True, value_goal=5.0),
        Figure(f"blend of {length:.1f} s, cleaned and judged, median", statistics.median(blends),
               "ms", lower_is_better=True, value_goal=100.0,
               note=f"server's processor {blend_cpu:.0f} ms; {len(made[-1][0]) / 1024:.0f} kB"),
    ]  # fmt: skip


ALONE = ("player.js", "play.js", "play.css")
"""Files of separate pages, which the studio does not load."""


def bundle() -> Figure:
    """The page as a server would compress it."""
    folder = static_folder()
    needed = [
        path
        for path in folder.rglob("*")
        if path.suffix in (".js", ".css", ".html") and path.name not in ALONE
    ]
    size = sum(len(gzip.compress(path.read_bytes())) for path in needed)
    return Figure("page, gzipped", size / 1024, "kB", lower_is_better=True, value_goal=1024.0)


def _head(message: bytes) -> dict[str, Any]:
    length = int.from_bytes(message[4:8], "little")
    return dict(json.loads(message[8 : 8 + length]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--play", type=float, default=60.0, help="seconds of play to watch memory")
    play_s = parser.parse_args().play
    figures = [*over_the_socket(), bundle()]
    with served() as studio:
        figures += in_a_browser(studio, play_s)
    write_report("studio", figures, about={"seconds of play": play_s})


if __name__ == "__main__":
    main()
