"""walk.bvh:2s-5.5s and walk.bvh:120-330: parts of clips, named with their files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import motionloom as ml


@pytest.fixture
def walk(tmp_path: Path) -> Path:
    ml.save(ml.synthetic.clip("walk", duration_s=2.0, fps=30).motion, tmp_path / "walk.bvh")
    return tmp_path / "walk.bvh"


def part_of(path: Path, text: str) -> tuple[int, int]:
    """First and last frame of the whole clip that ``path:text`` reads."""
    whole, part = ml.load(path), ml.load(f"{path}:{text}")
    (first,) = np.flatnonzero((whole.root_positions == part.root_positions[0]).all(axis=1))
    assert (whole[first : first + part.n_frames].local_quats == part.local_quats).all()
    return int(first), int(first) + part.n_frames - 1


@pytest.mark.parametrize(
    ("text", "frames"),
    [
        ("0.5s-1.5s", (15, 45)),
        ("0.5s-1.51s", (15, 45)),
        ("10-20", (10, 20)),
        ("10-10", (10, 10)),
        ("10-", (10, 60)),
        ("-20", (0, 20)),
        ("1s-", (30, 60)),
        ("-1s", (0, 30)),
        ("0-60", (0, 60)),
        ("1.5s-2.01s", (45, 60)),
    ],
)
def test_both_ends_are_in_the_part(walk: Path, text: str, frames: tuple[int, int]) -> None:
    assert part_of(walk, text) == frames


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("20-10", "must not begin after its end"),
        ("1.5s-1s", "must not begin after its end"),
        ("10-61", "ends at frame 60"),
        ("70-", "ends at frame 60"),
        ("1s-2.5s", "ends at 2.00 s"),
        ("1s-50", "both be seconds or both be frames"),
        ("1.5-20", "must be whole numbers"),
        ("-", "must have a first or a last"),
        ("1s", "must be FIRST-LAST"),
        ("1s:2s", "must be FIRST-LAST"),
        ("-5-10", "must be FIRST-LAST"),
        ("10-20 ", "must be FIRST-LAST"),
    ],
)
def test_a_wrong_range_says_what_is_wrong_and_names_the_clip(
    walk: Path, text: str, words: str
) -> None:
    with pytest.raises(ml.FormatError, match=words) as caught:
        ml.load(f"{walk}:{text}")
    assert str(walk) in str(caught.value)
    assert ml.inspect_file(f"{walk}:{text}")[0].level == "error"


@pytest.mark.parametrize(
    "text",
    [
        "C:/walk.bvh",
        "C:\\walk.bvh",
        "C:walk.bvh",
        "C:2-5",
        "a:b.bvh",
        "https://a.b/walk.bvh",
        ":1-2",
    ],
)
def test_other_colons_are_part_of_the_name(text: str) -> None:
    assert ml.split_range(text) == (text, None)


@pytest.mark.parametrize("name", ["walk:2.bvh", "walk.bvh:1-2", "walk:1s-2s"])
def test_a_file_whose_name_holds_a_colon_is_read_whole(
    walk: Path, tmp_path: Path, name: str
) -> None:
    odd = tmp_path / name
    odd.write_bytes(walk.read_bytes())
    assert ml.load(str(odd)).n_frames == 61
    assert ml.load(f"{odd}:10-20").n_frames == 11


def test_a_range_follows_the_name_of_a_clip_and_a_drive() -> None:
    name, part = ml.split_range("C:\\clips\\all.glb#Run:1s-3s")
    assert name == "C:\\clips\\all.glb#Run"
    assert part is not None
    assert (part.first, part.last, part.seconds) == (1.0, 3.0, True)


def test_a_part_is_no_duplicate_of_its_clip(walk: Path) -> None:
    checked = ml.check_dataset([str(walk), f"{walk}:10-40"], progress=False, jobs=1)
    assert [clip.error for clip in checked.clips] == ["", ""]
    assert [clip.frames for clip in checked.clips] == [61, 31]
    assert [clip.duplicate_of for clip in checked.clips] == ["", ""]
