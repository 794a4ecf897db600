"""The library lists every clip once, each animation of a file of several among them."""

from __future__ import annotations

import json
import shlex
import struct
from pathlib import Path

import numpy as np
import pytest
from websockets.sync.client import connect

import motionloom as ml
from motionloom.intake.clip_names import names_inside
from motionloom.studio.clips.library import Library
from motionloom.studio.clips.matches import Matches
from motionloom.studio.clips.stage_clip import preview_points
from motionloom.studio.panels.library_tables import _table_id
from motionloom.studio.server.server import Studio

SAME_M = 1e-9
HOSTILE = "../../etc/passwd#<img src=x>"


def save_several(file: Path, names: tuple[str, ...]) -> None:
    """A GLB whose one animation is there under several names."""
    ml.save(ml.synthetic.clip("walk", duration_s=0.5).motion, file)
    data = file.read_bytes()
    length = struct.unpack_from("<I", data, 12)[0]
    document = json.loads(data[20 : 20 + length])
    (animation,) = document["animations"]
    document["animations"] = [{**animation, "name": name} for name in names]
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    rest = data[20 + length :]
    head = struct.pack("<4sII", b"glTF", 2, 20 + len(text) + len(rest))
    file.write_bytes(head + struct.pack("<I4s", len(text), b"JSON") + text + rest)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("library")
    (folder / "more").mkdir()
    save_several(folder / "more" / "two.glb", ("Walk", "Run"))
    save_several(folder / "one.glb", ("Walk",))
    save_several(folder / "odd.glb", ("a", HOSTILE))
    (folder / "broken.glb").write_bytes(b"glTF\x02\x00\x00\x00 and no more")
    return folder


def test_every_clip_of_a_file_of_several_is_listed(folder: Path) -> None:
    items = {item.id: item for item in Library(folder).items()}
    assert list(items) == [
        "broken.glb", "more/two.glb#Walk", "more/two.glb#Run", "odd.glb#a", f"odd.glb#{HOSTILE}",
        "one.glb",
    ]  # fmt: skip
    assert items["more/two.glb#Run"].name == "two · Run"
    assert items["more/two.glb#Run"].group == "more"


def test_each_opens_as_the_shown_command_line_opens_it(folder: Path) -> None:
    library = Library(folder)
    clip = library.open("more/two.glb#Run")
    loaded = ml.load(library.source("more/two.glb#Run"))
    np.testing.assert_allclose(clip.motion.world_positions(), loaded.world_positions(), atol=SAME_M)
    assert library.file("more/two.glb#Run") == (folder / "more/two.glb").resolve()
    assert library.open(f"odd.glb#{HOSTILE}").motion.n_frames == loaded.n_frames


def test_what_is_not_listed_does_not_open(folder: Path) -> None:
    library = Library(folder)
    for clip in ("more/two.glb", "more/two.glb#Jump", "two.glb#Run", "more/two.glb#"):
        with pytest.raises(ml.MotionLoomError, match="in the library"):
            library.open(clip)
    with pytest.raises(ml.MotionLoomError, match=r"broken\.glb"):
        library.open("broken.glb")


def test_a_file_that_is_one_clip_has_no_names_inside(folder: Path) -> None:
    assert names_inside(folder / "one.glb") == names_inside(folder / "broken.glb") == ()
    assert names_inside(folder / "nothing.glb") == names_inside(folder / "walk.bvh") == ()
    assert names_inside(folder / "more" / "two.glb") == ("Walk", "Run")


@pytest.mark.parametrize(
    ("clip", "table"),
    [
        ("walk.bvh", "walk"),
        ("a/two.glb#Run", "a/two#Run"),
        ("take#2.bvh", "take#2"),
        ("v1.2/walk.glb", "v1.2/walk"),
    ],
)
def test_a_table_calls_a_clip_without_the_suffix_of_its_file(clip: str, table: str) -> None:
    assert _table_id(clip) == table


def test_clips_of_a_real_file_of_several_are_listed(mocap: Path) -> None:
    items = [item.id for item in Library(mocap / "gltf").items()]
    assert {"Soldier.glb#Run", "Soldier.glb#Walk", "CesiumMan.glb"} <= set(items)


def walk_into(file: Path, seconds: float) -> None:
    ml.save(ml.synthetic.clip("walk", duration_s=seconds).motion, file)


def test_new_changed_and_deleted_files_are_noticed(tmp_path: Path) -> None:
    for name in ("one", "two"):
        walk_into(tmp_path / f"{name}.bvh", 0.5)
    library = Library(tmp_path)
    added = library.add("dropped", ml.synthetic.clip("walk", duration_s=0.5).motion)
    assert library.open("one.bvh").motion.n_frames == 31
    assert library.refresh() is None
    walk_into(tmp_path / "one.bvh", 1.0)
    (tmp_path / "two.bvh").unlink()
    (tmp_path / "below").mkdir()
    save_several(tmp_path / "below" / "new.glb", ("Walk", "Run"))
    before = library.version("one.bvh")
    changes = library.refresh()
    assert changes is not None
    assert changes.added == ["below/new.glb#Walk", "below/new.glb#Run"]
    assert changes.changed == ["one.bvh"]
    assert changes.removed == ["two.bvh"]
    assert [item.id for item in library.items()] == [*changes.added, "one.bvh", added.id]
    assert library.open("one.bvh").motion.n_frames == 61
    assert library.version("one.bvh") != before
    with pytest.raises(ml.MotionLoomError):
        library.open("two.bvh")
    assert library.refresh() is None


def test_a_result_is_made_from_the_changed_file(tmp_path: Path) -> None:
    for name in ("one", "two"):
        walk_into(tmp_path / f"{name}.bvh", 0.5)
    library = Library(tmp_path)
    matches = Matches(library)
    before = matches.of(["one.bvh", "two.bvh"])
    assert matches.of(["one.bvh", "two.bvh"]) is before
    walk_into(tmp_path / "two.bvh", 0.7)
    library.refresh()
    assert matches.of(["one.bvh", "two.bvh"]).motions[1].n_frames == 43


def test_open_pages_get_the_changes(
    tmp_path: Path, served_studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("motionloom.studio.server.server.WATCH_S", 0.1)
    clips = tmp_path / "clips"
    clips.mkdir()
    walk_into(clips / "one.bvh", 0.5)
    with served_studio(Studio(clips, project=tmp_path / "project.json")) as studio:
        address = f"ws://127.0.0.1:{studio.port}/{studio.token}/socket"
        own = f"http://127.0.0.1:{studio.port}"
        with connect(address, origin=own) as page, connect(address, origin=own) as other:
            page.send(json.dumps({"type": "library.list", "id": 1}))
            head = json.loads(page.recv(timeout=60))
            assert shlex.split(head["command"])[:3] == ["motionloom", "studio", str(clips)]
            assert "--port" in head["command"]
            walk_into(clips / "two.bvh", 0.5)
            for each in (page, other):
                news = json.loads(each.recv(timeout=60))
                assert (news["type"], news["id"]) == ("library.changed", 0)
                assert news["added"] == ["two.bvh"]
                assert [item["id"] for item in news["items"]] == ["one.bvh", "two.bvh"]


def test_previews_of_real_clips_are_in_sight(mocap: Path) -> None:
    library = Library(mocap / "bandai_bvh")
    clip = library.open("dataset-1_walk_normal_001.bvh")
    _, points = preview_points(clip.motion, clip.body)
    assert np.abs(points[..., [0, 2]]).max() < 1.2
