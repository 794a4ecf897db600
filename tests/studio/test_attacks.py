"""What a hostile page, file or client could try; every try must fail."""

from __future__ import annotations

import http.client
import json
import os
import socket
from pathlib import Path

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

import motionloom as ml
from motionloom.errors import FormatError
from motionloom.studio import uploads
from motionloom.studio.exports import Exports
from motionloom.studio.library import Library
from motionloom.studio.server import Studio

SECRET = "the secret of this machine"


def fetch(
    studio: Studio, path: str, *, method: str = "GET", body: bytes = b"", **headers: str
) -> tuple[int, dict[str, str], bytes]:
    link = http.client.HTTPConnection("127.0.0.1", studio.port, timeout=30)
    link.putrequest(method, path, skip_host="Host" in headers)
    for name, value in headers.items():
        link.putheader(name, value)
    if body:
        link.putheader("Content-Length", str(len(body)))
    link.endheaders(body or None)
    answer = link.getresponse()
    said = answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read()
    link.close()
    return said


def test_it_listens_on_this_machine_only(studio: Studio) -> None:
    with socket.socket() as probe:
        probe.settimeout(2)
        others = [
            place[4][0]
            for place in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)
            if not place[4][0].startswith("127.")
        ]
        if not others:
            pytest.skip("this machine has no other address")
        assert probe.connect_ex((others[0], studio.port)) != 0


@pytest.mark.parametrize("path", ["/", "/index.html", "/socket", "/wrong-token/", "//", "/%00/"])
def test_nothing_is_served_without_the_token(studio: Studio, path: str) -> None:
    status, _, body = fetch(studio, path)
    assert status == 404
    assert studio.token.encode() not in body


def test_the_page_is_served_with_the_token_and_a_strict_policy(studio: Studio) -> None:
    status, headers, body = fetch(studio, f"/{studio.token}/")
    assert status == 200
    assert b"motionloom" in body
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    assert "*" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert b"http://" not in body.replace(b"http://www.w3.org", b"")
    assert b"https://" not in body


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "", "127.0.0.1:1"])
def test_a_foreign_host_is_refused(studio: Studio, host: str) -> None:
    status, _, _ = fetch(studio, f"/{studio.token}/", Host=host)
    assert status in (400, 403)


def test_a_foreign_origin_cannot_ask_or_upload(studio: Studio) -> None:
    for origin in ("http://evil.example", "null", f"http://127.0.0.1:{studio.port + 1}"):
        status, _, _ = fetch(studio, f"/{studio.token}/", Origin=origin)
        assert status == 403
    status, _, _ = fetch(studio, f"/{studio.token}/upload?name=x.bvh", method="POST", body=b"x")
    assert status == 403  # no origin at all


@pytest.mark.parametrize("origin", [None, "http://evil.example", "null"])
def test_a_socket_from_elsewhere_is_refused(studio: Studio, origin: str | None) -> None:
    address = f"ws://127.0.0.1:{studio.port}/{studio.token}/socket"
    with pytest.raises(InvalidStatus), connect(address, origin=origin):
        pass


def test_a_socket_without_the_token_is_refused(studio: Studio) -> None:
    own = f"http://127.0.0.1:{studio.port}"
    for path in ("/socket", "/wrong/socket", f"/{studio.token[:-1]}/socket"):
        with (
            pytest.raises(InvalidStatus),
            connect(f"ws://127.0.0.1:{studio.port}{path}", origin=own),
        ):
            pass


@pytest.mark.parametrize(
    "path",
    [
        "../../../../etc/passwd",
        "..%2f..%2f..%2fetc%2fpasswd",
        "assets/../../server.py",
        "%2e%2e/server.py",
        "download/../../../etc/passwd",
        "download/..%2f..%2fetc%2fpasswd",
        "download/0",
        "//etc/passwd",
    ],
)
def test_no_path_reaches_the_disk(studio: Studio, path: str) -> None:
    status, _, body = fetch(studio, f"/{studio.token}/{path}")
    assert status in (400, 404, 405)
    assert b"root:" not in body
    assert b"import" not in body


def test_only_ids_of_the_library_open(tmp_path: Path) -> None:
    inside, outside = tmp_path / "clips", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    walk = ml.synthetic.clip("walk", duration_s=1.0).motion
    ml.save(walk, inside / "mine.bvh")
    ml.save(walk, outside / "theirs.bvh")
    (inside / "link.bvh").symlink_to(outside / "theirs.bvh")
    (inside / "folder").symlink_to(outside, target_is_directory=True)
    (inside / "good.bvh").symlink_to(inside / "mine.bvh")
    library = Library(inside)
    assert [item.id for item in library.items()] == ["good.bvh", "mine.bvh"]
    for wanted in (
        "../outside/theirs.bvh",
        str(outside / "theirs.bvh"),
        "link.bvh",
        "folder/theirs.bvh",
        "",
        "mine.bvh\0",
    ):
        with pytest.raises(FormatError):
            library.open(wanted)
    assert library.open("mine.bvh").motion.n_frames == walk.n_frames


def test_an_upload_is_capped(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("motionloom.studio.server.MOST_BYTES", 1000)
    own = f"http://127.0.0.1:{studio.port}"
    path = f"/{studio.token}/upload?name=big.bvh"
    status, _, body = fetch(studio, path, method="POST", body=b"x" * 5000, Origin=own)
    assert status == 413
    assert b"at most" in body


def test_a_file_that_takes_too_long_or_is_no_clip_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(FormatError, match=r"evil\.bvh"):
        uploads.parse_upload("evil.bvh", b"HIERARCHY\nROOT x\n{ nothing")
    monkeypatch.setattr(uploads, "MOST_SECONDS", 0.01)
    with pytest.raises(FormatError, match="longer"):
        uploads.parse_upload("slow.bvh", b"HIERARCHY")


@pytest.mark.skipif(os.name != "posix", reason="limits of memory are the system's")
def test_a_file_that_eats_memory_takes_only_its_worker_down(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(uploads, "MOST_MEMORY", 60 * 1024**2)
    with pytest.raises(FormatError, match="within the limits"):
        uploads.parse_upload("hungry.bvh", b"HIERARCHY")


def test_an_uploaded_clip_joins_the_library_under_a_clean_name(
    studio: Studio, tmp_path: Path
) -> None:
    ml.save(ml.synthetic.clip("walk", duration_s=1.0).motion, tmp_path / "walk.bvh")
    own = f"http://127.0.0.1:{studio.port}"
    path = f"/{studio.token}/upload?name=..%2F..%2Fetc%2Fevil%0Aname.bvh"
    data = (tmp_path / "walk.bvh").read_bytes()
    status, _, body = fetch(studio, path, method="POST", body=data, Origin=own)
    assert status == 200, body
    item = json.loads(body)
    assert item["id"] == "added/evilname"
    assert studio.library.open(item["id"]).motion.n_frames == 61


def test_an_exports_name_cannot_leave_its_folder() -> None:
    exports = Exports()
    walk = ml.synthetic.clip("walk", duration_s=0.5).motion.replace(
        name='../../x";\r\nSet-Cookie: a'
    )
    said = exports.make(walk, "bvh", None)
    assert "/" not in said.body["name"]
    assert "\n" not in said.body["name"]
    assert '"' not in said.body["name"]
    key = said.body["url"].removeprefix("download/")
    found = exports.find(key)
    assert found is not None and found[0].is_file()
    assert exports.find("../" + key) is None
    exports.close()
    assert not found[0].exists()


def test_messages_that_are_not_ours_are_answered_and_do_no_harm(ask) -> None:
    for body in ({"id": 2**70}, {"clip": ["walk"]}, {"clip": "x" * 100_000}):
        head, _ = ask("clip.open", **body)
        assert head["type"] == "error"
    head, _ = ask("library.list")
    assert head["type"] == "library"
