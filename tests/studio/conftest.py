"""A running studio on embedded clips, a socket to it, and a browser in front of it."""

from __future__ import annotations

import importlib.util
import json
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from motionloom.errors import FormatError
from motionloom.studio.server import Studio, static_folder
from motionloom.studio.wire import POSE, decode_answer

START_S = 20.0
ROOT = Path(__file__).resolve().parents[2]
BROWSER_OPTIONS = (
    "--no-sandbox",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-quic",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)


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
    yield studio
    studio.stop()
    thread.join(START_S)


@pytest.fixture(scope="session")
def page_built() -> None:
    """Skips where the page was not built: the package's build builds it."""
    try:
        static_folder()
    except FormatError:
        pytest.skip("the studio's page is not built; python hatch_build.py builds it")


@pytest.fixture(scope="session")
def studio(page_built: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    yield from served(Studio(project=tmp_path_factory.mktemp("project") / "project.json"))


Ask = Callable[..., Any]

TABLE_BUILD_S = 500.0
"""A first build compiles; later ones take seconds."""


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
def table_studio(page_built: None, table_clips: Path) -> Iterator[Studio]:
    """A studio on these clips, with a small table."""
    from motionloom.studio.table_messages import TableBuild

    studio = Studio(table_clips, project=table_clips.parent / "state" / "project.json")
    studio.tables.build(TableBuild(id=0, clusters=8, lookup=8, length_s=0.5, fps=30.0))
    end = time.monotonic() + TABLE_BUILD_S
    while (job := studio.tables.state().body["job"]).state == "running":
        assert time.monotonic() < end
        time.sleep(0.1)
    assert job.state == "built", job.error
    yield from served(studio)


@pytest.fixture
def ask(studio: Studio) -> Iterator[Ask]:
    """Send a request and get back head and arrays of its answer."""
    yield from asking(studio)


@pytest.fixture
def ask_table(table_studio: Studio) -> Iterator[Ask]:
    """The same of the studio with a table; a pose comes back as its bytes."""
    yield from asking(table_studio)


def asking(studio: Studio) -> Iterator[Ask]:
    """A socket to the studio, as a function."""
    from websockets.sync.client import connect

    address = f"ws://127.0.0.1:{studio.port}/{studio.token}/socket"
    with connect(address, origin=f"http://127.0.0.1:{studio.port}", max_size=None) as socket:
        numbers = iter(range(1, 10_000))

        def send(kind: str, /, **body: Any) -> Any:
            socket.send(json.dumps({"type": kind, "id": next(numbers), **body}))
            said = socket.recv(timeout=TABLE_BUILD_S)
            if isinstance(said, str):
                return json.loads(said), {}
            return said if said[:4] == POSE else decode_answer(said)

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
            said = socket.recv(timeout=120)
            if isinstance(said, str):
                return json.loads(said), {}
            return ("pose", said) if said[:4] == b"MLP1" else decode_answer(said)

        yield send


@pytest.fixture(scope="session")
def chromium() -> Path:
    spec = importlib.util.spec_from_file_location("judges", ROOT / "tests/judges/judges.py")
    assert spec and spec.loader
    judges = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(judges)
    place = judges.find_chromium()
    if place is None and judges.is_required("chromium"):
        pytest.fail("chromium could be installed on this machine but was not found")
    if place is None:
        pytest.skip("chromium not found; ./test --judges installs it")
    return Path(place)


@pytest.fixture(scope="session")
def browser(chromium: Path) -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as driver:
        made = driver.chromium.launch(executable_path=str(chromium), args=list(BROWSER_OPTIONS))
        yield made
        made.close()
