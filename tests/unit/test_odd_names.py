"""File names that are no UTF-8, which Linux allows."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import motionloom as ml
from motionloom.studio.clips.library import Folder
from motionloom.tables.collection.collection import Collection


@pytest.fixture
def odd_file(tmp_path):
    """A clip whose name ends in a byte that is no UTF-8."""
    ml.save(ml.synthetic.clip("walk").motion, tmp_path / "walk.bvh")
    try:
        return (tmp_path / "walk.bvh").rename(tmp_path / os.fsdecode(b"walk\xff.bvh"))
    except OSError:
        pytest.skip("this disk has no such names")


@pytest.mark.parametrize("suffix", [".mlm", ".glb", ".bvh"])
def test_such_a_clip_is_loaded_saved_and_loaded_again(odd_file, suffix):
    motion = ml.load(odd_file)
    assert motion.name == r"walk\udcff"
    out = odd_file.parent / f"out{suffix}"
    ml.save(motion, out)
    assert ml.load(out).n_frames == motion.n_frames


def test_a_collection_refuses_such_a_clip_and_leaves_other_files_alone(odd_file):
    with pytest.raises(ml.MotionLoomError, match=r"must be UTF-8.*walk.*Rename"):
        Collection.ingest(odd_file.parent, fps=30)
    odd_file.rename(odd_file.with_suffix(".md"))
    ml.save(ml.synthetic.clip("walk").motion, odd_file.parent / "walk.bvh")
    assert Collection.ingest(odd_file.parent, fps=30).ids == ("walk",)


def test_the_studio_lists_such_a_clip_by_a_name_that_can_be_sent(odd_file):
    (entry,) = Folder(odd_file.parent).look()
    assert entry.item.name.encode("utf-8") == rb"walk\udcff"
    assert entry.open()[0].n_frames > 0


def test_two_clips_with_one_printed_name_have_two_ids(odd_file):
    other = odd_file.with_name(r"walk\udcff.bvh")
    other.write_bytes(odd_file.read_bytes())
    found = {entry.item.id: entry.file for entry in Folder(odd_file.parent).look()}
    assert len(found) == 2
    assert set(found.values()) == {odd_file, other}


def test_the_command_line_prints_such_a_name(odd_file):
    done = subprocess.run(
        [sys.executable, "-m", "motionloom", "info", os.fsencode(odd_file)],
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert b"walk" in done.stdout and b"Traceback" not in done.stderr
