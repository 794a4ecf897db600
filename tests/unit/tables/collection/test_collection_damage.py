"""Collections in a rough world: folders that vanish, kills at any moment, clips with glitches."""

import errno
import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest

import motionloom as ml
from motionloom.errors import MotionLoomError, TableError
from motionloom.tables.collection import folder_clips
from motionloom.tables.collection.collection import Collection
from motionloom.tables.index.clusters import find_clusters
from motionloom.tables.index.index_build import build_index

FPS = 30
LENGTH = 15
JUMP_AT = 20
KILLS = 2


def made(kind, **options):
    return ml.synthetic.clip(kind, duration_s=1.5, fps=FPS, **options).motion


def jumping(kind, frame):
    motion = made(kind)
    root = np.array(motion.root_positions)
    root[frame:, 0] += 0.4  # a jump that stays: single glitched frames are repaired
    return motion.replace(root_positions=root)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files") / "clips"
    folder.mkdir()
    for kind in ("walk", "sneak", "run"):
        ml.save(made(kind), folder / f"{kind}.bvh")
    return folder


@pytest.fixture
def clips(files, tmp_path):
    return Path(shutil.copytree(files, tmp_path / "clips"))


@pytest.fixture(scope="module")
def corrupted(files, tmp_path_factory):
    """A collection with one clip that jumps from one frame to the next."""
    folder = Path(shutil.copytree(files, tmp_path_factory.mktemp("corrupted") / "clips"))
    ml.save(jumping("jog", JUMP_AT), folder / "jog.bvh")
    return Collection.ingest(folder, fps=FPS)


def test_capture_glitches_are_reported_with_their_joint(corrupted):
    assert corrupted.report.jumping == ("jog",)
    assert f"capture glitch: 2 frames jump: {JUMP_AT - 1} (" in str(corrupted.report)
    row = corrupted.frames.row_of("jog", JUMP_AT)
    assert corrupted.frames.glitch_rows.tolist() == [row - 1, row]
    again = Collection.open(corrupted.path)
    assert again.frames.glitch_rows.tolist() == corrupted.frames.glitch_rows.tolist()
    assert again.digest == corrupted.digest


def covers(frames, row):
    last = row + LENGTH - 1
    return any(row <= frames.row_of("jog", at) <= last for at in (JUMP_AT - 1, JUMP_AT))


def test_windows_over_them_speak_for_no_others(corrupted):
    frames = corrupted.frames
    every = frames.windows(LENGTH)
    assert sum(covers(frames, row) for row in every) == LENGTH + 1
    assert not any(covers(frames, row) for row in frames.sound(every, LENGTH))
    found = find_clusters(frames, length=LENGTH, clusters=8, stride=1)
    assert not any(covers(frames, row) for row in found.rows)
    index = build_index(frames, length=LENGTH)
    assert not any(covers(frames, row) for row in index.by_both.members)


def test_a_label_is_arrived_at_outside_of_them(corrupted, tmp_path):
    lib = Collection.open(shutil.copytree(corrupted.path, tmp_path / "copy.mlc"))
    lib.annotate("jog", "jog")
    table = ml.build_table(
        lib, out=tmp_path / "t.mlt", length_s=LENGTH / FPS, clusters=3, ways=(2,), progress=False
    )
    for frame in range(5, 20, 5):
        reached = table.transition(("walk", frame), label="jog").recipe.rows[-1]
        assert not covers(lib.frames, reached)
    own = table.transition(
        ("walk", 3), ("jog", JUMP_AT + 3), follow_s=0.2, longest_s=table.length_s
    )
    assert covers(lib.frames, own.recipe.rows[-1])  # who asks for those very frames gets them
    assert not own.verification.passed  # but the result is not called good


def test_they_are_used_where_that_is_asked_for(corrupted, tmp_path):
    folder = Path(shutil.copytree(corrupted.source_folder, tmp_path / "clips"))
    kept = Collection.ingest(folder, fps=FPS, keep_glitches=True)
    assert kept.report.jumping == ("jog",)
    assert len(kept.frames.glitch_rows) == 0
    assert kept.digest != corrupted.digest
    again = Collection.ingest(folder, fps=FPS)
    assert again.digest == corrupted.digest


def test_all_windows_are_taken_where_none_is_without_a_jump(tmp_path):
    (tmp_path / "clips").mkdir()
    ml.save(jumping("walk", 22), tmp_path / "clips" / "walk.bvh")
    frames = Collection.ingest(tmp_path / "clips", fps=FPS).frames
    every = frames.windows(40)
    assert len(every) > 0
    assert np.array_equal(frames.sound(every, 40), every)


def test_a_collection_of_an_older_kind_is_opened(corrupted, tmp_path):
    """Without capture glitches: the next ingest finds it."""
    copy = Path(shutil.copytree(corrupted.path, tmp_path / "old.mlc"))
    catalogue = json.loads((copy / "catalogue.json").read_text())
    catalogue["clips"] = [clip[:8] for clip in catalogue["clips"]]
    (copy / "catalogue.json").write_text(json.dumps(catalogue))
    assert len(Collection.open(copy).frames.glitch_rows) == 0


@pytest.mark.parametrize("jumps", [[3, 2], [999], [-1], ["a"], [True], 5])
def test_edited_jumps_of_a_catalogue_are_refused(corrupted, tmp_path, jumps):
    copy = Path(shutil.copytree(corrupted.path, tmp_path / "edited.mlc"))
    catalogue = json.loads((copy / "catalogue.json").read_text())
    catalogue["clips"][0][8] = jumps
    (copy / "catalogue.json").write_text(json.dumps(catalogue))
    with pytest.raises(TableError, match="damaged"):
        Collection.open(copy)


def test_a_collection_inside_its_folder_is_not_read_as_clips(clips):
    first = Collection.ingest(clips, out=clips / "lib", fps=FPS)
    (clips / "lib" / "stray.bvh").write_bytes((clips / "walk.bvh").read_bytes())
    again = Collection.ingest(clips, out=clips / "lib", fps=FPS)
    assert again.ids == first.ids == ("run", "sneak", "walk")
    assert again.report.read == 0


def test_the_folder_of_the_clips_is_no_place_for_the_collection(clips):
    for out in (clips, clips / "." / ".." / "clips"):
        with pytest.raises(TableError, match="separate folder"):
            Collection.ingest(clips, out=out, fps=FPS)
    assert sorted(each.name for each in clips.iterdir()) == ["run.bvh", "sneak.bvh", "walk.bvh"]


def test_a_file_that_vanishes_is_left_out_and_reported(clips, monkeypatch):
    read = folder_clips.read_clip

    def vanishing(folder, file, clip, reading):
        if file == "run.bvh":
            (folder / file).unlink()
        return read(folder, file, clip, reading)

    monkeypatch.setattr(folder_clips, "read_clip", vanishing)
    lib = Collection.ingest(clips, fps=FPS)
    assert lib.ids == ("sneak", "walk")
    assert lib.report.left_out == (("run.bvh", "There is no such file. Check the path."),)


@pytest.mark.parametrize("moment", ["before", "between"])
def test_a_folder_that_vanishes_is_reported_and_leaves_nothing(clips, monkeypatch, moment):
    if moment == "before":
        key_of = folder_clips.Reading.key_of

        def late(reading, folder, file):
            shutil.rmtree(folder, ignore_errors=True)
            return key_of(reading, folder, file)

        monkeypatch.setattr(folder_clips.Reading, "key_of", late)
    else:
        take = folder_clips.Stash.take

        def late_take(stash, folder, file, clip, reading):
            shutil.rmtree(folder, ignore_errors=True)
            stash.clips.clear()
            return take(stash, folder, file, clip, reading)

        monkeypatch.setattr(folder_clips.Stash, "take", late_take)
    with pytest.raises(MotionLoomError, match="no such file"):
        Collection.ingest(clips, fps=FPS)
    assert not clips.with_name("clips.mlc").exists()


def test_a_place_that_cannot_be_written_is_reported(clips, monkeypatch):
    def read_only(*_, **__):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(Path, "mkdir", read_only)
    with pytest.raises(TableError, match="Read-only file system"):
        Collection.ingest(clips, fps=FPS)
