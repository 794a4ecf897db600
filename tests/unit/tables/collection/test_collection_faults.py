"""Collections: options that cannot be, files that lead nowhere, and damage are named in words."""

import json
import shutil

import numpy as np
import pytest

import motionloom as ml
from motionloom.errors import ArrayError, TableError
from motionloom.tables.collection import store
from motionloom.tables.collection.collection import Collection
from motionloom.tables.collection.frames import check_frames


@pytest.fixture(scope="module")
def lib(tmp_path_factory):
    folder = tmp_path_factory.mktemp("faults") / "clips"
    folder.mkdir()
    ml.save(ml.synthetic.clip("walk", duration_s=1.0, fps=30).motion, folder / "walk.bvh")
    return Collection.ingest(folder, fps=30)


@pytest.fixture
def copied(lib, tmp_path):
    return shutil.copytree(lib.path, tmp_path / "copied.mlc")


@pytest.mark.parametrize(
    "options",
    [{"fps": 1e9}, {"fps": 1e-6}, {"fps": "60"}, {"fps": True}, {"fps": float("nan")},
     {"ground": "no"}, {"ground": 1}, {"progress": "x"}, {"skeleton": 5}, {"source_fps": {5: 60}},
     {"source_fps": {"a": 1e9}}, {"source_fps": "60"}, {"out": "a\0b"}, {"out": 5},
     {"labels": 5}, {"plants": "guessed"}],
)  # fmt: skip
def test_options_that_cannot_be_are_refused(lib, options):
    with pytest.raises(ArrayError, match=f"`{next(iter(options))}"):
        Collection.ingest(lib.source_folder, **options)


@pytest.mark.parametrize("folder", ["", "a\0b", 5, None])
def test_paths_that_no_disk_has_are_refused(folder):
    with pytest.raises(ArrayError, match="must be a path"):
        Collection.ingest(folder)
    with pytest.raises(ArrayError, match="must be a path"):
        Collection.open(folder)


def test_a_rate_for_files_that_are_not_there_is_remarked(lib, tmp_path):
    again = Collection.ingest(
        lib.source_folder, out=tmp_path / "a.mlc", fps=30, source_fps={"zzz*": 60, "walk*": 30}
    )
    assert again.report.remarks == ("warning: source_fps['zzz*'] fits the name of no file",)
    assert "zzz*" in str(again.report)


def test_a_broken_link_is_listed_among_what_is_left_out(lib, tmp_path):
    folder = tmp_path / "clips"
    shutil.copytree(lib.source_folder, folder)
    (folder / "dangling.bvh").symlink_to(tmp_path / "gone.bvh")
    made = Collection.ingest(folder, fps=30)
    assert made.ids == ("walk",)
    assert [file for file, _ in made.report.left_out] == ["dangling.bvh"]


@pytest.mark.parametrize("frame", [1.5, "1", True, np.float64(1.0), np.array([1]), None])
def test_a_row_is_asked_for_by_a_whole_number(lib, frame):
    with pytest.raises(ArrayError, match="whole number"):
        lib.frames.row_of("walk", frame)
    assert lib.frames.row_of("walk", np.int16(3)) == 3


@pytest.mark.parametrize(
    ("key", "value"),
    [("files", []), ("generation", float("inf")), ("fps", float("nan")), ("fps", -30.0),
     ("generation", -1), ("clips", [["walk"]]), ("clips", 5), ("common", [])],
)  # fmt: skip
def test_an_edited_catalogue_is_refused_in_words(copied, key, value):
    file = copied / "catalogue.json"
    catalogue = json.loads(file.read_text())
    file.write_text(json.dumps({**catalogue, key: value}))
    with pytest.raises(TableError, match="damaged"):
        Collection.open(copied)


@pytest.mark.parametrize(("at", "value"), [(4, "0"), (5, 1e400), (5, 2.5), (0, 5), (4, 1 << 70)])
def test_edited_clips_of_a_catalogue_are_refused_in_words(copied, at, value):
    file = copied / "catalogue.json"
    catalogue = json.loads(file.read_text())
    catalogue["clips"][0][at] = value
    file.write_text(json.dumps(catalogue))
    with pytest.raises(TableError, match="damaged"):
        Collection.open(copied)


def test_a_column_that_is_too_long_is_found(copied):
    column = next(copied.glob("quats.*.rows"))
    with column.open("ab") as stream:
        stream.write(b"more")
    found = Collection.open(copied).find_damage()
    assert len(found) == 1
    assert found[0].startswith(f"{column.name} holds 4 bytes too many")


def test_a_heading_that_is_no_number_is_reported_on_opening(copied):
    column = next(copied.glob("heading.*.rows"))
    raw = bytearray(column.read_bytes())
    raw[40:48] = b"\xff" * 8
    column.write_bytes(raw)
    with pytest.raises(TableError, match=r"no numbers.*damaged"):
        Collection.open(copied)


def test_a_pose_that_is_no_number_is_found(copied, monkeypatch):
    column = next(copied.glob("quats.*.rows"))
    raw = bytearray(column.read_bytes())
    raw[400:404] = b"\xff" * 4
    column.write_bytes(raw)
    with pytest.raises(TableError, match="no unit length"):
        Collection.open(copied)
    monkeypatch.setattr(store, "CHECKED_AT_ONCE", 0)  # as in a large collection
    large = Collection.open(copied)
    assert "damaged" in large.find_damage()[0]
    with pytest.raises(TableError, match="no unit length"):
        check_frames(large.frames)
