"""What a hostile page, file or client could try; every try must fail."""

from __future__ import annotations

import http.client
import io
import json
import os
import socket
import tempfile
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

import motionloom as ml
from motionloom.errors import FormatError
from motionloom.studio.clips.library import Library
from motionloom.studio.results.exports import Exports
from motionloom.studio.server import connections, conversation, server, uploads
from motionloom.studio.server.server import Studio

ANSWER_S = 60.0
"""An upload starts a process and reads a clip."""
TRICKLES_S = 20.0
"""After which a connection that should have been ended counts as kept."""


def fetch(
    studio: Studio, path: str, *, method: str = "GET", body: bytes = b"", **headers: str
) -> tuple[int, dict[str, str], bytes]:
    link = http.client.HTTPConnection("127.0.0.1", studio.port, timeout=ANSWER_S)
    link.putrequest(method, path, skip_host="Host" in headers)
    for name, value in headers.items():
        link.putheader(name, value)
    if body:
        link.putheader("Content-Length", str(len(body)))
    link.endheaders(body or None)
    answer = link.getresponse()
    fetched = answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read()
    link.close()
    return fetched


def test_it_listens_on_this_machine_only(studio: Studio) -> None:
    # A server that listens on every address answers at all of 127.0.0.0/8 and at the machine's own.
    listed = socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)
    others = {str(place[4][0]) for place in listed} - {"127.0.0.1"} | {"127.0.0.2"}
    for other in others:
        with socket.socket() as probe:
            probe.settimeout(2)
            assert probe.connect_ex((other, studio.port)) != 0, other
    with socket.create_connection(("127.0.0.1", studio.port), timeout=10):
        pass  # and here it does answer


@pytest.mark.parametrize("path", ["/", "/index.html", "/socket", "/wrong-token/", "//", "/%00/"])
def test_nothing_is_served_without_the_token(studio: Studio, path: str) -> None:
    status, _, body = fetch(studio, path)
    assert status == 404
    assert studio.token.encode() not in body


def test_the_token_must_be_the_first_part_of_the_path(studio: Studio) -> None:
    status, _, body = fetch(studio, f"//{studio.token}/index.html")
    assert status == 404
    assert b"with its token" in body  # refused at the door, not looked for inside


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


def parsed(name: str, data: bytes) -> ml.Motion:
    """The one clip of an uploaded file."""
    with tempfile.TemporaryDirectory() as folder:
        source = uploads.upload_path(Path(folder), name)
        source.write_bytes(data)
        (clip,) = uploads.parse_upload(name, source)
        return clip.motion


def test_an_upload_is_capped(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("motionloom.studio.server.uploads.MOST_BYTES", 1000)
    own = f"http://127.0.0.1:{studio.port}"
    path = f"/{studio.token}/upload?name=big.bvh"
    status, _, body = fetch(studio, path, method="POST", body=b"x" * 5000, Origin=own)
    assert status == 413
    assert b"at most" in body


def test_a_file_that_takes_too_long_or_is_no_clip_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(FormatError, match=r"evil\.bvh"):
        parsed("evil.bvh", b"HIERARCHY\nROOT x\n{ nothing")
    monkeypatch.setattr(uploads, "MOST_SECONDS", 0.01)
    with pytest.raises(FormatError, match="longer"):
        parsed("slow.bvh", b"HIERARCHY")


@pytest.mark.skipif(os.name != "posix", reason="limits of memory are the system's")
def test_a_file_that_eats_memory_takes_only_its_worker_down(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(uploads, "MOST_MEMORY", 60 * 1024**2)
    with pytest.raises(FormatError, match="within the limits"):
        parsed("hungry.bvh", b"HIERARCHY")


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
    export = exports.page().make(walk, "bvh", None)
    assert "/" not in export.name
    assert "\n" not in export.name
    assert '"' not in export.name
    key = export.url.removeprefix("download/")
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


def lingering(studio: Studio, sent: bytes) -> socket.socket:
    """A connection that has sent this much and sends no more."""
    link = socket.create_connection(("127.0.0.1", studio.port), timeout=10)
    link.sendall(sent)
    return link


def is_shut(link: socket.socket) -> bool:
    """Whether the server ends the connection without an answer."""
    try:
        return link.recv(1) == b""
    except ConnectionError:
        return True
    except TimeoutError:
        return False


HALF_A_HEAD = b"GET / HTTP/1.1\r\nHost: 127"


@pytest.mark.parametrize("sent", [b"", HALF_A_HEAD])
def test_a_request_that_never_ends_is_shown_out(
    studio: Studio, monkeypatch: pytest.MonkeyPatch, sent: bytes
) -> None:
    monkeypatch.setattr(connections, "WAIT_LIMIT_S", 0.5)
    link = lingering(studio, sent)
    assert is_shut(link)
    link.close()


def test_bytes_that_trickle_in_do_not_buy_time(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "WAIT_LIMIT_S", 0.5)
    link = lingering(studio, HALF_A_HEAD)
    begun = time.monotonic()
    with pytest.raises(ConnectionError):
        while time.monotonic() - begun < TRICKLES_S:
            link.sendall(b"0")
            time.sleep(0.05)
    link.close()


def test_a_refused_body_that_trickles_on_is_shown_out(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "WAIT_LIMIT_S", 0.5)
    head = f"POST /x HTTP/1.1\r\nHost: 127.0.0.1:{studio.port}\r\nContent-Length: 999999\r\n\r\n"
    link = lingering(studio, head.encode())
    assert b"403" in link.recv(4096)
    begun = time.monotonic()
    with pytest.raises(ConnectionError):
        while time.monotonic() - begun < TRICKLES_S:
            link.sendall(b"0")
            time.sleep(0.05)
    link.close()


def test_idle_connections_do_not_keep_the_page_out(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "MOST_CONNECTIONS", 8)
    links = [lingering(studio, HALF_A_HEAD) for _ in range(24)]
    status, _, _ = fetch(studio, f"/{studio.token}/")
    assert status == 200
    shut = 0
    for link in links:
        link.settimeout(0.2)
        shut += is_shut(link)
        link.close()
    assert shut >= 16


def test_only_so_many_pages_are_open_at_once(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "MOST_PAGES", studio._pages + 2)
    address = f"ws://127.0.0.1:{studio.port}/{studio.token}/socket"
    own = f"http://127.0.0.1:{studio.port}"
    with (
        connect(address, origin=own),
        connect(address, origin=own),
        pytest.raises(InvalidStatus),
        connect(address, origin=own),
    ):
        pass
    begun = time.monotonic()
    while True:  # the places of closed pages are free again
        try:
            with connect(address, origin=own):
                break
        except InvalidStatus:
            assert time.monotonic() - begun < TRICKLES_S


def test_a_flood_of_previews_is_answered_and_not_piled_up(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conversation, "MOST_PREVIEWS", 4)
    address = f"ws://127.0.0.1:{studio.port}/{studio.token}/socket"
    with connect(address, origin=f"http://127.0.0.1:{studio.port}", max_size=None) as page:
        for n in range(40):
            page.send(json.dumps({"type": "library.preview", "id": n, "clip": "walk"}))
        page.send(json.dumps({"type": "library.list", "id": 99}))
        answers = [page.recv(timeout=ANSWER_S) for _ in range(41)]
    refused = [each for each in answers if isinstance(each, str) and "Too many previews" in each]
    assert sum(isinstance(each, bytes) for each in answers) == 40 - len(refused) >= 4


def test_a_message_that_is_too_long_ends_only_its_page(studio: Studio) -> None:
    address = f"ws://127.0.0.1:{studio.port}/{studio.token}/socket"
    own = f"http://127.0.0.1:{studio.port}"
    with connect(address, origin=own) as page, pytest.raises(ConnectionClosed):
        page.send("x" * (server.MOST_MESSAGE + 1))
        page.recv(timeout=30)
    assert fetch(studio, f"/{studio.token}/")[0] == 200


def test_an_upload_that_does_not_come_is_not_waited_for(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "UPLOAD_S", 0.3)
    host = f"127.0.0.1:{studio.port}"
    link = lingering(
        studio,
        f"POST /{studio.token}/upload?name=x.bvh HTTP/1.1\r\nHost: {host}\r\n"
        f"Origin: http://{host}\r\nContent-Length: 1000\r\n\r\nx".encode(),
    )
    assert b" 408 " in link.recv(4096)
    link.close()


def test_dropped_clips_hold_only_so_much_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    library = Library()
    walk = ml.synthetic.clip("walk", duration_s=1.0).motion
    monkeypatch.setattr("motionloom.studio.clips.library.MOST_ADDED", 3 * walk.local_quats.nbytes)
    library.add("one", walk)
    library.add("two", walk)
    with pytest.raises(FormatError, match="together"):
        library.add("three", walk)


@pytest.mark.skipif(os.name != "posix", reason="such limits are the system's")
@pytest.mark.parametrize("does", ["writes", "computes"])
def test_a_file_that_computes_or_writes_without_end_takes_only_its_worker_down(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, does: str
) -> None:
    ml.save(ml.synthetic.clip("walk", duration_s=2.0).motion, tmp_path / "walk.bvh")
    data = (tmp_path / "walk.bvh").read_bytes()
    assert parsed("walk.bvh", data).n_frames == 121
    if does == "writes":
        monkeypatch.setattr(uploads, "MOST_WRITTEN", 1000)
    else:
        monkeypatch.setattr(uploads, "_WORKER", uploads._LIMITS + "while True: pass")
        monkeypatch.setattr(uploads, "MOST_CPU_S", 1)
    with pytest.raises(FormatError, match="within the limits"):
        parsed("walk.bvh", data)


def test_a_file_that_unpacks_into_too_much_motion_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    still = ml.synthetic.clip("stand", duration_s=1.0).motion
    long = still.replace(
        local_quats=np.repeat(still.local_quats[:1], 20_000, axis=0),
        root_positions=np.repeat(still.root_positions[:1], 20_000, axis=0),
    )
    ml.save(long, tmp_path / "long.mlm", format="archive")
    packed = io.BytesIO()
    with (
        zipfile.ZipFile(tmp_path / "long.mlm") as plain,
        zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as small,
    ):
        for name in plain.namelist():
            small.writestr(name, plain.read(name))
    data = packed.getvalue()
    size = long.local_quats.nbytes
    assert len(data) < size / 10
    monkeypatch.setattr(uploads, "MOST_CLIP", size // 2)
    with pytest.raises(FormatError, match="MB of motion"):
        parsed("long.mlm", data)
