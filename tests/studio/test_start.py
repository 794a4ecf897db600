"""From nothing to a page: what is loaded when, and who waits for whom."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest

from motionloom.errors import FormatError
from motionloom.studio.server.project import Project
from motionloom.studio.server.server import Services, Studio

HEAVY = ("numpy", "scipy", "starlette", "uvicorn")


def test_a_server_begins_without_what_loads_slowly() -> None:
    program = (
        "import sys, motionloom.studio.server.server; "
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_connections_before_the_server_runs_wait_for_it(page_built: None, tmp_path: Path) -> None:
    studio = Studio(project=tmp_path / "project.json")
    early = http.client.HTTPConnection("127.0.0.1", studio.port, timeout=60)
    early.request("GET", f"/{studio.token}/")
    thread = threading.Thread(target=studio.run, daemon=True)
    thread.start()
    assert early.getresponse().status == 200
    early.close()
    studio.stop()
    thread.join(20)
    assert not thread.is_alive()


def test_every_service_reports_a_missing_folder(page_built: None, tmp_path: Path) -> None:
    folder = tmp_path / "clips"
    folder.mkdir()
    with closing(Studio(folder, project=tmp_path / "project.json")) as empty:
        assert empty.library.items() == []
    with pytest.raises(FormatError, match="must be given a folder"):
        Studio(tmp_path / "gone", project=tmp_path / "project.json")
    gone = Services(tmp_path / "gone", Project(tmp_path / "project.json"))  # it went just now
    with pytest.raises(FileNotFoundError):
        _ = gone.library


def test_a_port_that_is_taken_raises_an_error_at_once(page_built: None, tmp_path: Path) -> None:
    with (
        closing(Studio(project=tmp_path / "project.json")) as first,
        pytest.raises(FormatError, match="must be free"),
    ):
        Studio(port=first.port, project=tmp_path / "project.json")


def test_a_server_that_is_started_again_has_the_same_address(
    page_built: None, tmp_path: Path
) -> None:
    project = tmp_path / "state" / "project.json"
    with closing(Studio(project=project)) as first:
        address = first.address
        with closing(Studio(project=project)) as beside:  # the port is taken meanwhile
            assert beside.port != first.port
            assert beside.token == first.token
    kept = project.with_name("project.address")
    kept.write_text(json.dumps({"token": first.token, "port": first.port}))
    assert kept.stat().st_mode & 0o777 == 0o600
    with closing(Studio(project=project)) as again:
        assert again.address == address
    with closing(Studio(project=tmp_path / "other.json")) as other:
        assert other.token != first.token


@pytest.mark.parametrize("damage", ["text", "nested", "number", "short", "port"])
def test_a_damaged_address_is_replaced(page_built: None, tmp_path: Path, damage: str) -> None:
    kept = tmp_path / "project.address"
    token = "a" * 24
    kept.write_text(
        {
            "text": "{not json",
            "nested": "[" * 900,
            "number": "7",
            "short": json.dumps({"token": "a", "port": 0}),
            "port": json.dumps({"token": token, "port": 70000}),
        }[damage]
    )
    kept.chmod(0o600)
    with closing(Studio(project=tmp_path / "project.json")) as studio:
        assert len(studio.token) == 24
        assert studio.token != token
        assert json.loads(kept.read_text()) == {"token": studio.token, "port": studio.port}


@pytest.mark.skipif(os.name != "posix", reason="files have other rights there")
def test_a_token_that_others_can_read_is_not_used_again(page_built: None, tmp_path: Path) -> None:
    kept = tmp_path / "project.address"
    kept.write_text(json.dumps({"token": "a" * 24, "port": 0}))
    kept.chmod(0o644)
    with closing(Studio(project=tmp_path / "project.json")) as studio:
        assert studio.token != "a" * 24
    assert kept.stat().st_mode & 0o777 == 0o600


def test_a_state_folder_that_cannot_be_written_gives_a_new_address(
    page_built: None, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("no folder")
    with closing(Studio(project=tmp_path / "file" / "project.json")) as studio:
        assert len(studio.token) == 24
