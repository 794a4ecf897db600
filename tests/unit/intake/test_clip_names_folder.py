from __future__ import annotations

from pathlib import Path

import pytest

import motionloom as ml
from motionloom.intake.clip_names import is_clip, may_be_clip


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("clips") / "walk.bvh"
    ml.save(ml.synthetic.clip("walk", duration_s=0.5).motion, file)
    return file


def test_a_clip_is_recognised_by_its_name(clip: Path) -> None:
    assert may_be_clip(clip) and is_clip(clip)
    assert is_clip(clip.rename(clip.with_suffix(".BVH")))


@pytest.mark.parametrize("name", ["notes.md", "picture.png", "clip", ".bvh"])
def test_other_files_are_none(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("HIERARCHY")
    assert not is_clip(tmp_path / name)


@pytest.mark.parametrize("name", ["readme.txt", "arrays.npz"])
def test_files_with_ambiguous_suffixes_are_recognised_by_their_head(
    tmp_path: Path, name: str
) -> None:
    (tmp_path / name).write_text("{}")
    assert may_be_clip(tmp_path / name)
    assert not is_clip(tmp_path / name)


def test_folders_and_what_is_not_there_are_none(tmp_path: Path) -> None:
    (tmp_path / "folder.bvh").mkdir()
    assert not is_clip(tmp_path / "folder.bvh")
    assert not is_clip(tmp_path / "nothing.bvh")
