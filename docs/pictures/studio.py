"""Pictures of the studio for studio.md: every tab, light and dark, 1280 and 1920 wide.

    python docs/pictures/studio.py [--state DIR] [--clips DIR] [--only PATTERN]

Needs chromium and playwright. The table of the embedded clips is built on the first run and kept in
``--state``; name it as seen from here, for the pictures show it. With ``--clips`` the tabs show a
folder's clips instead.
"""

from __future__ import annotations

import argparse
import re
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image

from motionloom.studio.messages.table_messages import TableBuild
from motionloom.studio.server.server import Studio

IMG = Path(__file__).parents[1] / "img"
SIZES = ((1280, 800), (1920, 1080))
WAIT_S = 600.0
OPTIONS = (
    "--no-sandbox",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-gpu-compositing",
    "--disable-background-networking",
)
# A tab as it is shown: its name, the clips, what to decide, how long into the result.
SHOWN: tuple[tuple[str, str, dict[str, Any], float], ...] = (
    ("transition", "transition", {"a": "walk", "b": "jog"}, 0.85),
    ("blend", "blend", {"a": "walk", "b": "jog"}, 0.55),
    ("splice", "splice", {"a": "wave", "b": "walk"}, 1.2),
    ("table", "table", {"a": "walk", "b": "jog"}, 0.95),
)


@contextmanager
def running(studio: Studio) -> Iterator[Studio]:
    """The studio while it serves."""
    thread = threading.Thread(target=studio.run, daemon=True)
    thread.start()
    try:
        yield studio
    finally:
        studio.stop()
        thread.join(20.0)


def have_table(studio: Studio) -> None:
    """Build the table unless it is there."""
    if studio.tables.state().body.tables:
        return
    studio.tables.build(TableBuild(id=0, clusters=12))
    while (job := studio.tables.state().body.job).state == "running":
        time.sleep(1.0)
        print(f"\r{job.stage}: {job.part:.0%}   ", end="", flush=True)
    if job.state != "built":
        raise SystemExit(job.error)


def until(page: Any, expression: str) -> None:
    """Wait for something to be true in the page."""
    end = time.monotonic() + WAIT_S
    while not page.evaluate(expression):
        if time.monotonic() > end:
            raise SystemExit(f"never true: {expression}")
        page.wait_for_timeout(150)


def settle(page: Any, seconds: float) -> None:
    """Wait until the result is there and stands still at a moment."""
    until(page, "studio.store.scene.busy === null")
    page.evaluate(f"studio.clock.playing = false, studio.clock.seek({seconds})")
    page.wait_for_timeout(900)


def keep(page: Any, name: str) -> None:
    """The page as a picture."""
    picture = Image.open(BytesIO(page.screenshot(timeout=1000 * WAIT_S))).convert("RGB")
    IMG.mkdir(exist_ok=True)
    # A third of a PNG's size, with no loss that the eye finds; fewer colours would show on bodies.
    picture.save(IMG / f"{name}.webp", quality=90, method=6)
    print(name, flush=True)


def shoot(page: Any, theme: str, width: int, wanted: re.Pattern[str]) -> None:
    """Every tab in one theme and at one width."""
    for name, tab, choice, seconds in SHOWN:
        if not wanted.search(f"studio_{name}_{theme}_{width}"):
            continue
        choices = ", ".join(f"{key}: {value!r}" for key, value in choice.items())
        page.evaluate(
            f"(() => {{ const view = {{...studio.store.project.view, theme: {theme!r}}};"
            "const table = {...studio.store.project.table, mode: 'make', from: null, to: null};"
            f"studio.store.commit('', {{tab: {tab!r}, {choices}, view, table}}); }})()"
        )
        until(page, f"!!studio.store.scene.results[{tab!r}] && studio.store.scene.busy === null")
        settle(page, seconds)
        keep(page, f"studio_{name}_{theme}_{width}")
    if width == SIZES[0][0] and wanted.search(f"studio_live_{theme}"):
        further_views(page, theme)


def further_views(page: Any, theme: str) -> None:
    """Further views of the tab of tables: the live character and labelling."""

    def turn(mode: str, more: str = "") -> None:
        page.evaluate(
            "studio.store.commit('', {table: {...studio.store.project.table, "
            f"mode: {mode!r}{more}}}}})"
        )

    turn("live")
    until(page, "!!studio.store.scene.live")
    page.wait_for_timeout(2500)
    page.keyboard.press("4")
    page.wait_for_timeout(2500)
    keep(page, f"studio_live_{theme}")
    turn("label", ", rater: 'ada'")
    until(page, "!!studio.store.scene.results.table?.answer.detail.rating")
    settle(page, 0.9)
    keep(page, f"studio_label_{theme}")
    turn("make")


def main() -> None:
    """All pictures."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--state", type=Path)
    parser.add_argument("--clips", type=Path)
    parser.add_argument("--only", type=re.compile, default=re.compile(""), help="by name")
    args = parser.parse_args()
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        raise SystemExit("chromium must be on the path")
    with tempfile.TemporaryDirectory() as folder:
        state = args.state or Path(folder)
        state.mkdir(parents=True, exist_ok=True)
        project = state / "studio.json"
        project.unlink(missing_ok=True)
        studio = Studio(args.clips, project=project)
        with running(studio), sync_playwright() as driver:
            have_table(studio)
            browser = driver.chromium.launch(executable_path=chromium, args=list(OPTIONS))
            for width, height in SIZES:
                for theme in ("light", "dark"):
                    page = browser.new_page(viewport={"width": width, "height": height})
                    page.goto(studio.address)
                    page.wait_for_selector("html[data-studio=ready]", timeout=1000 * WAIT_S)
                    shoot(page, theme, width, args.only)
                    page.close()
            browser.close()


if __name__ == "__main__":
    main()
