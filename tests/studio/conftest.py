"""A running studio on embedded clips, a socket to it, and a browser in front of it."""

from __future__ import annotations

import importlib.util
import io
import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

import numpy as np
import pytest
from PIL import Image

from motionloom.errors import FormatError
from motionloom.studio.messages.wire import POSE
from motionloom.studio.server.server import Studio, static_folder
from tests.studio.answers import decode_answer

START_S = 60.0
WAIT_S = 60.0
"""Longest wait for anything on a page, seconds: a busy machine may need most of it."""
ROOT = Path(__file__).resolve().parents[2]


class Screen:
    """A page of a studio in a browser. Its console must stay silent.

    It asks for stillness, as a visitor's system can: what does not move costs no drawing.
    """

    def __init__(self, browser: Any, studio: Studio, query: str = "") -> None:
        studio.project.path.unlink(missing_ok=True)
        self.context = browser.new_context(
            viewport={"width": 1280, "height": 800}, accept_downloads=True, reduced_motion="reduce"
        )
        self.context.set_default_timeout(1000 * WAIT_S)
        self.console: list[str] = []
        self.page = self.context.new_page()
        self.page.on(
            "console", lambda message: self.console.append(f"{message.type}: {message.text}")
        )
        self.page.on("pageerror", lambda error: self.console.append(f"error: {error}"))
        self.page.goto(studio.address + query)
        self.page.wait_for_selector("html[data-studio=ready]")

    def until(self, expression: str) -> None:
        """Wait for something to be true; the page's policy forbids playwright's own way."""
        end = time.monotonic() + WAIT_S
        while not self.page.evaluate(expression):
            assert time.monotonic() < end, f"never true: {expression}; {self.page.url}"
            self.page.wait_for_timeout(50)

    def wait_for_result(self, tab: str) -> None:
        """Wait for the result of all that was decided."""
        self.until(f"!!studio.store.scene.results.{tab} && studio.store.scene.busy === null")

    def points(self, tab: str) -> np.ndarray:
        """The body's points as the page has them (F, P, 3)."""
        text = self.page.evaluate(
            f"(() => {{ const m = studio.store.scene.results.{tab}.motion;"
            "return JSON.stringify([m.frames, [...m.points]]); })()"
        )
        frames, values = json.loads(text)
        return np.array(values).reshape(frames, -1, 3)

    def picture(self, name: str) -> np.ndarray:
        """The page as pixels (H, W, 3); also a file where MOTIONLOOM_SHOTS names a folder."""
        self.page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
        data = self.page.screenshot(timeout=1000 * WAIT_S)
        if folder := os.environ.get("MOTIONLOOM_SHOTS"):
            (Path(folder) / f"{name}.png").write_bytes(data)
        return np.asarray(Image.open(io.BytesIO(data)).convert("RGB")).astype(int)

    def export(self, choice: str, folder: Path) -> Path:
        """The result in front as a file, by the page's own button."""
        self.page.select_option(".export-format", choice)
        with self.page.expect_download(timeout=1000 * WAIT_S) as waiting:
            self.page.click(".export .primary")
        target = folder / f"{choice.replace(':', '_')}_{waiting.value.suggested_filename}"
        waiting.value.save_as(target)
        return target

    def close(self) -> None:
        """Close it, and read what its console shows."""
        self.context.close()
        faults = [text for text in self.console if text.startswith(("error", "warning"))]
        # Software rendering reads pixels back slowly and says so; that is the machine's, not ours.
        assert [text for text in faults if "GPU stall" not in text] == []


OpenScreen = Callable[..., AbstractContextManager[Screen]]


@pytest.fixture(scope="session")
def open_screen(browser: Any) -> OpenScreen:
    """Opens a page of a studio: ``with open_screen(studio) as screen``."""

    @contextmanager
    def opened(studio: Studio, query: str = "") -> Iterator[Screen]:
        screen = Screen(browser, studio, query)
        try:
            yield screen
        except BaseException:
            screen.context.close()
            raise
        screen.close()

    return opened


@contextmanager
def served(studio: Studio) -> Iterator[Studio]:
    """The studio while it serves in a thread."""
    import socket

    thread = threading.Thread(target=studio.run, daemon=True)
    thread.start()
    end = time.monotonic() + START_S
    while time.monotonic() < end:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", studio.port)) == 0:
                break
        time.sleep(0.05)
    try:
        yield studio
    finally:
        studio.stop()
        thread.join(START_S)


@pytest.fixture(scope="session")
def served_studio(page_built: None) -> Callable[[Studio], AbstractContextManager[Studio]]:
    """Serves a studio: ``with served_studio(studio)``."""
    return served


@pytest.fixture(scope="session")
def page_built(page_sources: ModuleType, page_lacks: Callable[[str], NoReturn]) -> None:
    """The package's build builds the page; without it there is nothing to test, and an old one
    would be tested in place of this one."""
    try:
        folder = static_folder()
    except FormatError:
        page_lacks("the studio's page is not built; python hatch_build.py builds it")
    if not page_sources.is_built(ROOT):
        pytest.fail(f"{folder.name} was built from other sources: run python hatch_build.py")


@pytest.fixture(scope="session")
def web_core() -> Path:
    """The core for browsers; an old one would be tested in place of this one."""
    builder = load_builder(ROOT / "runtimes" / "web" / "build.py")
    folder = ROOT / "src" / "motionloom" / "_web"
    if not (folder / builder.NAME).is_file():
        pytest.skip("the core for browsers is not built; with ziglang python hatch_build.py does")
    if not builder.is_built(folder):
        pytest.fail(
            "the core for browsers is of other sources: python hatch_build.py, with ziglang"
        )
    return folder / builder.NAME


def load_builder(path: Path) -> Any:
    """A script of the build as a module."""
    spec = importlib.util.spec_from_file_location("web_build", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def studio(page_built: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    with served(Studio(project=tmp_path_factory.mktemp("project") / "project.json")) as studio:
        yield studio


Ask = Callable[..., Any]

TABLE_BUILD_S = 60.0
"""A build takes seconds; on a busy machine much longer."""


@pytest.fixture(scope="session")
def table_clips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of three short clips with labels."""
    import motionloom as ml

    folder = tmp_path_factory.mktemp("table") / "clips"
    folder.mkdir()
    for kind in ("walk", "jog", "run"):
        ml.save(ml.synthetic.clip(kind, duration_s=2.5).motion, folder / f"{kind}.bvh")
    (folder / "labels.csv").write_text("clip,label\nwalk,slow\nrun,fast\njog,fast\n")
    return folder


@pytest.fixture(scope="session")
def small_table(table_clips: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A small table of these clips and labels."""
    import motionloom as ml

    home, labels = tmp_path_factory.mktemp("small"), table_clips / "labels.csv"
    lib = ml.Collection.ingest(table_clips, out=home / "lib.mlc", fps=30, labels=labels)
    return ml.build_table(lib, out=home / "lib.mlt", length_s=0.5, clusters=6, lookup=8)


@pytest.fixture(scope="session")
def table_studio(page_built: None, table_clips: Path) -> Iterator[Studio]:
    """A studio on these clips, with a small table."""
    from motionloom.studio.messages.table_messages import TableBuild

    with served(Studio(table_clips, project=table_clips.parent / "state" / "project.json")) as made:
        made.tables.build(TableBuild(id=0, clusters=8, lookup=8, length_s=0.5, fps=30.0))
        end = time.monotonic() + TABLE_BUILD_S
        while (job := made.tables.state().body.job).state == "running":
            assert time.monotonic() < end
            time.sleep(0.1)
        assert job.state == "built", job.error
        yield made


@pytest.fixture
def ask(studio: Studio) -> Iterator[Ask]:
    """Send a request and get back head and arrays of its answer."""
    yield from asking(studio)


@pytest.fixture
def ask_table(table_studio: Studio) -> Iterator[Ask]:
    """The same of the studio with a table; a pose comes back as its bytes."""
    yield from asking(table_studio)


def answer_from(socket: Any) -> str | bytes:
    """The next message of a socket that is an answer; progress and news are skipped."""
    while True:
        message: str | bytes = socket.recv(timeout=TABLE_BUILD_S)
        unasked = ("progress", "library.changed")
        if isinstance(message, bytes) or json.loads(message)["type"] not in unasked:
            return message


@pytest.fixture(scope="session")
def receive() -> Callable[[Any], str | bytes]:
    """Gives the next answer of a socket: ``receive(socket)``."""
    return answer_from


def asking(studio: Studio) -> Iterator[Ask]:
    """A socket to the studio, as a function."""
    from websockets.sync.client import connect

    address = f"ws://127.0.0.1:{studio.port}/{studio.token}/socket"
    with connect(address, origin=f"http://127.0.0.1:{studio.port}", max_size=None) as socket:
        numbers = iter(range(1, 10_000))

        def send(kind: str, /, **body: Any) -> Any:
            socket.send(json.dumps({"type": kind, "id": next(numbers), **body}))
            answer = answer_from(socket)
            if isinstance(answer, str):
                return json.loads(answer), {}
            return answer if answer[:4] == POSE else decode_answer(answer)

        yield send


@pytest.fixture
def ask_pose(studio: Studio) -> Iterator[Callable[..., tuple[Any, Any]]]:
    """As ``ask``; a pose comes back as the word ``pose`` and its bytes."""
    from websockets.sync.client import connect

    address = f"ws://127.0.0.1:{studio.port}/{studio.token}/socket"
    with connect(address, origin=f"http://127.0.0.1:{studio.port}", max_size=None) as socket:
        numbers = iter(range(1, 10_000))

        def send(kind: str, /, **body: Any) -> tuple[Any, Any]:
            socket.send(json.dumps({"type": kind, "id": next(numbers), **body}))
            answer = answer_from(socket)
            if isinstance(answer, str):
                return json.loads(answer), {}
            return ("pose", answer) if answer[:4] == b"MLP1" else decode_answer(answer)

        yield send
