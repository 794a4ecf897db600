"""read_constraints(): intervals of clips from CSV and JSON files."""

from __future__ import annotations

from pathlib import Path

import pytest

import motionloom as ml

CLIPS = ["takes/walk.bvh", "takes/run.bvh"]
WANTED = [{"rail": [(0.4, 1.2), (2.0, 2.5)], "left_wrist": [(0.0, 0.5)]}, {"rail": [(0.5, 1.0)]}]


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_rows_of_csv_with_and_without_headings(tmp_path: Path) -> None:
    rows = "walk,rail,2.0,2.5\nrun.bvh, rail, 0.5, 1\nwalk,rail,0.4,1.2\nwalk,left_wrist,0,0.5\n"
    plain = written(tmp_path, "plain.csv", rows)
    headed = written(tmp_path, "headed.csv", "clip,name,start_s,end_s\n\n" + rows)
    assert ml.read_constraints(plain, CLIPS) == WANTED
    assert ml.read_constraints(headed, CLIPS) == WANTED


def test_objects_of_json(tmp_path: Path) -> None:
    text = (
        '{"walk": {"rail": [[0.4, 1.2], [2.0, 2.5]], "left_wrist": [[0, 0.5]]}, '
        '"takes/run.bvh": {"rail": [[0.5, 1.0]]}}'
    )
    assert ml.read_constraints(written(tmp_path, "holds.json", text), CLIPS) == WANTED


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.csv", "jump,rail,0,1", "jump"),
        ("a.csv", "walk,rail,0", "four values"),
        ("a.csv", "walk,,0,1", "four values"),
        ("a.csv", "walk,rail,zero,1", "two numbers"),
        ("a.json", "[]", "objects"),
        ("a.json", "{", "JSON"),
        ("a.json", '{"walk": []}', "objects"),
        ("a.json", '{"walk": {"rail": [0, 1]}}', "pairs"),
        ("a.json", '{"walk": {"rail": [[0]]}}', "two numbers"),
        ("a.json", '{"jump": {"rail": [[0, 1]]}}', "jump"),
    ],
)
def test_wrong_files_are_refused(tmp_path: Path, name: str, text: str, words: str) -> None:
    with pytest.raises(ml.FormatError, match=words) as caught:
        ml.read_constraints(written(tmp_path, name, text), CLIPS)
    assert name in str(caught.value)


def test_a_name_that_fits_two_clips_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ml.FormatError, match="several"):
        ml.read_constraints(written(tmp_path, "a.csv", "walk,rail,0,1"), ["a/walk.bvh", "walk.bvh"])
