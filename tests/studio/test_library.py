"""The library lists every clip once, each animation of a file of several among them."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np
import pytest

import motionloom as ml
from motionloom.intake.clip_files import names_inside
from motionloom.studio.library import Library
from motionloom.studio.tables import _table_id

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


def test_each_opens_as_the_command_line_told_opens_it(folder: Path) -> None:
    library = Library(folder)
    clip = library.open("more/two.glb#Run")
    told = ml.load(library.source("more/two.glb#Run"))
    np.testing.assert_allclose(clip.motion.world_positions(), told.world_positions(), atol=SAME_M)
    assert library.file("more/two.glb#Run") == (folder / "more/two.glb").resolve()
    assert library.open(f"odd.glb#{HOSTILE}").motion.n_frames == told.n_frames


def test_what_is_not_listed_does_not_open(folder: Path) -> None:
    library = Library(folder)
    for clip in ("more/two.glb", "more/two.glb#Jump", "two.glb#Run", "more/two.glb#"):
        with pytest.raises(ml.MotionLoomError, match="one of the library's"):
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
