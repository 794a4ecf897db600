"""The studio's page in a browser: first paint, script of a frame and a scrub, memory in play."""

from __future__ import annotations

import importlib.util
import statistics
import time
from pathlib import Path
from typing import Any, Protocol

from report import Figure

ROOT = Path(__file__).resolve().parents[1]
BROWSER_OPTIONS = [
    "--no-sandbox",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--enable-precise-memory-info",
]
WAIT_S = 180.0
FRAMES_S = 10.0
SETTLED_FRAMES = 30
SCRUBS = 60
SAMPLES = 20
SETTLED_S = 60.0
"""What a page holds grows in its first minute: previews come, and code is compiled."""

RUNS = """
(() => {
  window.drawn = 0;
  const count = () => { window.drawn += 1; requestAnimationFrame(count); };
  requestAnimationFrame(count);
})()
"""
PLAIN = "data:text/html,<h1>A page with nothing but a line.</h1>"
FIRST_PAINT = """
new Promise((done) => {
  const look = () => {
    const [entry] = performance.getEntriesByName('first-contentful-paint');
    if (entry) done(entry.startTime);
    else if (performance.now() > 60000) done(NaN);
    else setTimeout(look, 20);
  };
  look();
})
"""
SHOWN_AT = """
new Promise((done) => {
  const look = () => {
    if (document.querySelectorAll('#library [data-clip], #library .clip').length) {
      requestAnimationFrame(() => done(performance.timeOrigin + performance.now()));
    } else requestAnimationFrame(look);
  };
  look();
})
"""


class Server(Protocol):
    """The studio that is measured."""

    @property
    def address(self) -> str:
        """What a browser opens."""

    @property
    def begun(self) -> float:
        """When it was started."""

    @property
    def address_s(self) -> float:
        """Seconds from there until it prints its address."""

    def memory_mb(self) -> float:
        """Memory that it holds now."""


def find_chromium() -> Path | None:
    """The browser that the tests use, where playwright is there too."""
    spec = importlib.util.spec_from_file_location("judges", ROOT / "tests/validators/validators.py")
    assert spec and spec.loader
    judges = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(judges)
    found = judges.find_chromium()
    return found if importlib.util.find_spec("playwright") else None


def in_a_browser(studio: Server, play_s: float) -> list[Figure]:
    """All figures of the page; none where there is no browser."""
    chromium = find_chromium()
    if chromium is None:
        print("no chromium or no playwright: figures of the page are left out")
        return []
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=str(chromium), args=BROWSER_OPTIONS)
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        # The first pages wait for what draws in the browser.
        plain = min(_first_paint(page, PLAIN) for _ in range(5))
        figures = _painted(page, studio, plain)
        page.evaluate("studio.store.commit('', { a: 'walk', b: 'jog' })")
        page.wait_for_selector(".figures", timeout=1000 * WAIT_S)
        tool = page.context.new_cdp_session(page)
        # Processor time of the page's thread: on a busy machine a clock would count the waiting.
        tool.send("Performance.enable", {"timeDomain": "threadTicks"})
        figures += [*_script(page, tool), *_memory(page, tool, studio, play_s)]
        browser.close()
    return figures


def _first_paint(page: Any, address: str) -> float:
    """Milliseconds from a page's address to the first that is seen of it."""
    page.goto(address, wait_until="commit")
    return float(page.evaluate(FIRST_PAINT))


def _painted(page: Any, studio: Server, plain: float) -> list[Figure]:
    """From the page's address to what is on it; and from the studio's start."""
    page.goto(studio.address, wait_until="commit")
    shown = page.evaluate(SHOWN_AT) / 1e3
    origin = page.evaluate("performance.timeOrigin") / 1e3
    page.wait_for_selector("html[data-studio=ready]", timeout=1000 * WAIT_S)
    paint = float(page.evaluate(FIRST_PAINT))
    return [
        Figure("studio start to address", studio.address_s * 1e3, "ms", lower_is_better=True),
        Figure("address opened to first paint", paint, "ms", baseline="a line of text",
               baseline_value=plain, lower_is_better=True, value_goal=1000.0),
        Figure("address opened to library shown", 1e3 * (shown - origin), "ms",
               lower_is_better=True, value_goal=1000.0,
               note=f"{shown - studio.begun:.2f} s after the studio was started, with the browser"),
    ]  # fmt: skip


def _script(page: Any, tool: Any) -> list[Figure]:
    """Script that a played frame takes, and that a scrub takes until its frame is drawn."""

    def scripted() -> float:
        metrics = {
            each["name"]: each["value"] for each in tool.send("Performance.getMetrics")["metrics"]
        }
        return 1e3 * float(metrics["ScriptDuration"])

    page.evaluate(RUNS)
    page.evaluate("studio.clock.playing = true")
    while page.evaluate("drawn") < SETTLED_FRAMES:
        page.wait_for_timeout(100)  # shaders are compiled before the first
    before, drawn = scripted(), page.evaluate("drawn")
    page.wait_for_timeout(1000 * FRAMES_S)
    frames = page.evaluate("drawn") - drawn
    a_frame = (scripted() - before) / max(frames, 1)
    page.evaluate("studio.clock.playing = false")
    box = page.locator(".sheet").bounding_box()
    assert box is not None
    y = box["y"] + 12
    page.mouse.move(box["x"] + 0.3 * box["width"], y)
    page.mouse.down()
    steps = []
    for k in range(SCRUBS):
        before = scripted()
        page.mouse.move(box["x"] + box["width"] * (0.3 + 0.6 * k / SCRUBS), y)
        page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
        steps.append(scripted() - before)
    page.mouse.up()
    steps.sort()
    return [
        Figure("script of a played frame, mean", a_frame, "ms", lower_is_better=True,
               value_goal=4.0, note=f"{frames} frames; drawn in software, not counted"),
        Figure("script of a scrub until it is drawn, median", statistics.median(steps), "ms",
               lower_is_better=True, value_goal=16.0),
        Figure("the same, largest but one", steps[-2], "ms", lower_is_better=True,
               value_goal=16.0),
    ]  # fmt: skip


def _memory(page: Any, tool: Any, studio: Server, play_s: float) -> list[Figure]:
    """What page and server hold while a result plays."""
    page.evaluate("studio.clock.playing = true")
    pages, servers, times = [], [], []
    begun = time.monotonic()
    for k in range(1, SAMPLES + 1):
        page.wait_for_timeout(max(0.0, 1000 * (play_s * k / SAMPLES - (time.monotonic() - begun))))
        tool.send("HeapProfiler.collectGarbage")
        pages.append(page.evaluate("performance.memory.usedJSHeapSize") / 1024**2)
        servers.append(studio.memory_mb())
        times.append(time.monotonic() - begun)
        print(
            f"played {times[-1]:4.0f} s: page {pages[-1]:.2f} MB, server {servers[-1]:.1f} MB",
            flush=True,
        )
    first = next((k for k, at in enumerate(times) if at >= min(SETTLED_S, play_s / 2)), 0)
    span = f"from {times[first]:.0f} to {times[-1]:.0f} s"
    return [
        Figure(f"{name}'s memory, growth {span}", held[-1] - held[first], "MB",
               lower_is_better=True, value_goal=5.0,
               note=f"{held[first]:.1f} to {held[-1]:.1f} MB")
        for name, held in (("page", pages), ("server", servers))
    ]  # fmt: skip
