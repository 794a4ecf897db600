"""Uploads to a real server process: memory, cancelling, and every clip of a file with its skin."""

from __future__ import annotations

import http.client
import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from motionloom.studio.clips.library import Library
from motionloom.studio.clips.skins import Skins
from motionloom.studio.server.uploads import parse_upload, upload_path

WAIT_S = 60.0
MIB = 1024**2
MOST_GROWTH_MB = 24.0
"""Of the server's peak memory while 160 MB are sent to it."""


@dataclass
class Served:
    """A server process."""

    process: subprocess.Popen[str]
    address: str

    def memory_mb(self, which: str) -> float:
        """``VmRSS`` or ``VmHWM``, the peak of it."""
        text = Path(f"/proc/{self.process.pid}/status").read_text()
        found = re.search(rf"{which}:\s+(\d+) kB", text)
        assert found is not None
        return int(found[1]) / 1024

    def readers(self) -> list[int]:
        """Processes that read uploads."""
        pid = self.process.pid
        return [int(n) for n in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()] + [
            int(child)
            for task in Path(f"/proc/{pid}/task").iterdir()
            if task.name != str(pid)
            for child in (task / "children").read_text().split()
        ]

    def link(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", urlsplit(self.address).port, timeout=WAIT_S)

    def begin(self, link: http.client.HTTPConnection, name: str, **headers: str) -> None:
        parts = urlsplit(self.address)
        link.putrequest("POST", f"{parts.path}upload?name={name}")
        link.putheader("Origin", f"http://127.0.0.1:{parts.port}")
        for header, value in headers.items():
            link.putheader(header.replace("_", "-"), value)
        link.endheaders()

    def upload(self, name: str, data: bytes) -> tuple[int, dict]:
        link = self.link()
        self.begin(link, name, Content_Length=str(len(data)))
        link.send(data)
        answer = link.getresponse()
        body = json.loads(answer.read())
        link.close()
        return answer.status, body


@pytest.fixture(scope="module")
def server(page_built: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    if not Path("/proc/self/status").is_file():
        pytest.skip("the memory of another process is read from /proc")
    place = tmp_path_factory.mktemp("server")
    with (place / "log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "motionloom", "studio", "--no-browser", "--project",
             str(place / "project.json")],
            stdout=subprocess.PIPE, stderr=log, text=True,
        )  # fmt: skip
    assert process.stdout is not None
    served = Served(process, process.stdout.readline().strip())
    served.upload("x.bvh", b"HIERARCHY")  # loads what an upload needs
    yield served
    process.terminate()
    process.wait(WAIT_S)
    process.stdout.close()
    assert "Traceback" not in (place / "log").read_text()


@pytest.mark.parametrize("length_sent", [True, False], ids=["length", "chunks"])
def test_an_upload_that_is_too_large_takes_no_memory(server: Served, length_sent: bool) -> None:
    before = server.memory_mb("VmHWM")
    link = server.link()
    status = 0
    try:
        if length_sent:
            server.begin(link, "big.bvh", Content_Length=str(160 * MIB))
        else:
            server.begin(link, "big.bvh", Transfer_Encoding="chunked")
        for _ in range(160):
            link.send(b"x" * MIB if length_sent else b"100000\r\n" + b"x" * MIB + b"\r\n")
        status = link.getresponse().status
    except ConnectionError:  # the server stopped reading
        pass
    finally:
        link.close()
    assert status in (0, 413)
    assert server.memory_mb("VmHWM") - before < MOST_GROWTH_MB
    assert server.upload("x.bvh", b"HIERARCHY")[0] == 422  # the server goes on


def test_an_upload_that_the_page_cancels_ends_its_reader(server: Served) -> None:
    link = server.link()
    data = b"HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 3 Xrotation Yrotation Zrotation\n}\n"
    data += b"MOTION\nFrames: 3000000\nFrame Time: 0.01\n" + b"0 0 0\n" * 3_000_000
    server.begin(link, "slow.bvh", Content_Length=str(len(data)))
    link.send(data)
    end = time.monotonic() + WAIT_S
    while not server.readers():
        assert time.monotonic() < end
        time.sleep(0.01)
    link.close()
    while server.readers():
        assert time.monotonic() < end
        time.sleep(0.05)
    items = server.upload("x.bvh", b"HIERARCHY")
    assert items[0] == 422


def test_all_clips_of_a_file_are_added_with_their_skin(mocap: Path, tmp_path: Path) -> None:
    source = upload_path(tmp_path, "Soldier.glb")
    source.write_bytes((mocap / "gltf" / "Soldier.glb").read_bytes())
    clips = parse_upload("Soldier.glb", source)
    names = [clip.name for clip in clips]
    assert {"Soldier · Idle", "Soldier · Run", "Soldier · Walk"} <= set(names)
    assert len(clips) == 4
    library = Library()
    ids = [library.add(clip.name, clip.motion, clip.skin).id for clip in clips]
    skins, walk = Skins(library), ids[names.index("Soldier · Walk")]
    arrays = skins.arrays([walk], {"": library.open(walk).motion})
    assert len(arrays["skin.points"]) > 1000
    assert arrays["skin.bones"].max() < len(arrays["skin.binds"]) == arrays["poses"].shape[1]
