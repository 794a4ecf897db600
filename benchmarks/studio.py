"""The studio's speed: poses, blends, first paint, size of the page, memory while it plays.

python benchmarks/studio.py [--play SECONDS]; ten minutes of play take --play 600. The browser's
figures need chromium and playwright; without them they are left out. Rendering is in software where
there is no graphics card, so a frame takes longer than anywhere else.
"""

from __future__ import annotations

import argparse
import gzip
import importlib.util
import json
import resource
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import motionloom as ml
from motionloom.motion.motion import Motion
from motionloom.studio.server import Studio, static_folder
from report import Figure, write_report

ROOT = Path(__file__).resolve().parents[1]
POSES = 600
BLENDS = 20
LONG_S = 7.0
"""Of clips whose blend is about five seconds long."""
WARM_UP_S = 8.0
SAMPLES = 12
BROWSER_OPTIONS = [
    "--no-sandbox",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--enable-precise-memory-info",
]


@contextmanager
def served() -> Iterator[Studio]:
    """A studio on the embedded clips while it serves."""
    with tempfile.TemporaryDirectory() as folder:
        studio = Studio(project=Path(folder) / "project.json")
        thread = threading.Thread(target=studio.run, daemon=True)
        thread.start()
        time.sleep(1.0)
        yield studio
        studio.stop()
        thread.join(10.0)


def over_the_socket(studio: Studio) -> list[Figure]:
    """A weight change to a pose, and to a whole blend of five seconds, there and back."""
    from websockets.sync.client import connect
    from websockets.typing import Origin

    address = f"ws://127.0.0.1:{studio.port}/{studio.token}/socket"
    origin = Origin(f"http://127.0.0.1:{studio.port}")
    with connect(address, origin=origin, max_size=None) as socket:

        def ask(kind: str, **body: Any) -> tuple[Any, float]:
            begun = time.perf_counter()
            socket.send(json.dumps({"type": kind, "id": 1, **body}))
            said = socket.recv()
            return said, 1e3 * (time.perf_counter() - begun)

        clips = ["walk", "jog"]
        live = json.loads(ask("control.start", clips=clips)[0])["live"]
        poses = [
            ask("control.step", live=live, weights=[1 - k / POSES, k / POSES])[1]
            for k in range(POSES)
        ][POSES // 6 :]
        time.sleep(WARM_UP_S)  # what the first page sets off in the background
        long = [studio.library.add(kind, _long(kind)).id for kind in clips]
        head = _head(ask("blend.make", clips=long, weights=[0.5, 0.5])[0])
        have = [source["key"] for source in head["sources"]]
        length = head["shown"]["frames"] / head["shown"]["fps"]
        blends, size = [], 0
        for k in range(BLENDS):
            share = k / BLENDS
            said, taken = ask("blend.make", clips=long, weights=[1 - share, share], have=have)
            blends.append(taken)
            size = len(said)
    poses.sort()
    return [
        Figure("pose, there and back, median", statistics.median(poses), "ms",
               lower_is_better=True, value_goal=5.0),
        Figure("pose, 99th of a hundred", poses[int(0.99 * len(poses))], "ms",
               lower_is_better=True, note="one thread each for server and socket"),
        Figure(f"blend of {length:.1f} s, cleaned and judged, median", statistics.median(blends),
               "ms", lower_is_better=True, value_goal=100.0, note=f"{size / 1024:.0f} kB"),
    ]  # fmt: skip


def bundle() -> Figure:
    """The page as a server would compress it."""
    folder = static_folder()
    needed = [
        path
        for path in folder.rglob("*")
        if path.suffix in (".js", ".css", ".html") and path.name != "player.js"
    ]
    size = sum(len(gzip.compress(path.read_bytes())) for path in needed)
    return Figure("page, gzipped", size / 1024, "kB", lower_is_better=True, value_goal=1024.0)


def in_a_browser(studio: Studio, play_s: float) -> list[Figure]:
    """First paint, and memory of page and server while a result plays."""
    spec = importlib.util.spec_from_file_location("judges", ROOT / "tests/judges/judges.py")
    assert spec and spec.loader
    judges = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(judges)
    chromium = judges.find_chromium()
    if chromium is None or importlib.util.find_spec("playwright") is None:
        print("no chromium or no playwright: figures of the page are left out")
        return []
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=str(chromium), args=BROWSER_OPTIONS)
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(studio.address)
        page.wait_for_selector("html[data-studio=ready]", timeout=120_000)
        page.evaluate("studio.store.decide('', { a: 'walk', b: 'jog' })")
        page.wait_for_selector(".figures", timeout=120_000)
        pages, servers = [], []
        tool = page.context.new_cdp_session(page)
        for _ in range(SAMPLES):
            page.wait_for_timeout(1000 * play_s / SAMPLES)
            tool.send("HeapProfiler.collectGarbage")
            pages.append(page.evaluate("performance.memory.usedJSHeapSize") / 1024**2)
            servers.append(_server_mb())
        paint = page.evaluate("performance.getEntriesByType('paint').at(-1)?.startTime ?? NaN")
        browser.close()
    settled = SAMPLES // 3
    return [
        Figure("first paint", paint, "ms", lower_is_better=True, value_goal=1000.0),
        Figure("page's memory, growth over the play", pages[-1] - pages[settled], "MB",
               lower_is_better=True, value_goal=5.0,
               note=f"{pages[settled]:.0f} to {pages[-1]:.0f} MB in {play_s * 2 / 3:.0f} s"),
        Figure("server's memory, growth over the play", servers[-1] - servers[settled], "MB",
               lower_is_better=True, value_goal=5.0,
               note=f"{servers[settled]:.0f} to {servers[-1]:.0f} MB"),
    ]  # fmt: skip


def _long(kind: str) -> Motion:
    return ml.synthetic.clip(kind, duration_s=LONG_S).motion


def _head(message: bytes) -> dict[str, Any]:
    length = int.from_bytes(message[4:8], "little")
    return dict(json.loads(message[8 : 8 + length]))


def _server_mb() -> float:
    """Memory that this process holds now, MB; the most it ever held where that is not told."""
    status = Path("/proc/self/status")
    if status.is_file():
        line = next(each for each in status.read_text().splitlines() if each.startswith("VmRSS"))
        return int(line.split()[1]) / 1024
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / 1024**2 if sys.platform == "darwin" else most / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--play", type=float, default=60.0, help="seconds of play to watch memory")
    play_s = parser.parse_args().play
    with served() as studio:
        figures = [*over_the_socket(studio), bundle(), *in_a_browser(studio, play_s)]
    write_report("studio", figures, about={"seconds of play": play_s})


if __name__ == "__main__":
    main()
