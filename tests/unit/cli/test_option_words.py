"""Texts on the command line recommend options, never Python."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import motionloom as ml
from motionloom.cli.option_words import in_options

PACKAGE = Path(ml.__file__).parent
PYTHON = re.compile(r"\bml\.\w|(?<![-\w])[a-z]\w*=(?![-\w]*=)(?:True|False|['\".,) ]|$)|motion\[")
NOT_REACHED = (
    "blending/parameters.py", "body/anatomy.py", "body/anatomy.py", "cli/",
    "demo/", "intake/load.py", "motion/", "studio/", "tables/collection/frames.py",
    "tables/score/score.py", "tables/synthesis/",
)  # fmt: skip
"""Files whose errors no command can cause."""
NOT_REACHED_TEXTS = ("`pose` must have the motion's joints;",)
"""Errors of functions that no command calls, in files that commands reach."""


def texts_of(node: ast.AST) -> str:
    """The constant parts of all strings in an expression, as one text."""
    return "".join(
        each.value
        for each in ast.walk(node)
        if isinstance(each, ast.Constant) and isinstance(each.value, str)
    )


def advice() -> Iterator[tuple[str, str]]:
    """Texts of errors and findings, with their files."""
    for path in sorted(PACKAGE.rglob("*.py")):
        place = path.relative_to(PACKAGE).as_posix()
        if place.startswith(NOT_REACHED):
            continue
        for node in ast.walk(ast.parse(path.read_bytes())):
            named = isinstance(node, ast.Call) and getattr(node.func, "id", "").endswith(
                ("Error", "Finding")
            )
            if named and not texts_of(node).startswith(NOT_REACHED_TEXTS):
                yield place, texts_of(node)


def test_errors_and_findings_recommend_no_python() -> None:
    texts = list(advice())
    assert len(texts) > 300
    left = [(place, in_options(text)) for place, text in texts if PYTHON.search(in_options(text))]
    assert left == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Name them with body=ml.BodyMap.from_names(skeleton, {...}).", "--body FILE.toml."),
        ("Cut them off with motion[7:].", "convert --frames 7:."),
        ('Pass unit= (such as unit="cm").', "--source-unit (such as --source-unit cm)."),
        ("keep_bend=True keeps it", "--keep-bend keeps it"),
        ("`duration_s` must be positive", "--duration must be positive"),
        ("Say the rate with fps=.", "Say the rate with --source-fps."),
    ],
)
def test_python_becomes_options(text: str, words: str) -> None:
    assert words in in_options(text)


def test_a_clip_that_starts_badly_is_cut_by_the_option_that_is_recommended(run, tmp_path) -> None:
    walk = ml.synthetic.clip("walk", duration_s=1.0).motion
    ml.save(walk, tmp_path / "walk.bvh")
    out = tmp_path / "cut.bvh"
    assert run("convert", tmp_path / "walk.bvh", out, "--frames", "7:").code == 0
    assert ml.load(out).n_frames == walk.n_frames - 7


def test_errors_of_a_folder_name_the_file(run, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    rod = ml.Skeleton(["a", "b"], [-1, 0], [[0, 0, 0], [0, 1, 0]])
    still = np.tile([1.0, 0.0, 0.0, 0.0], (20, 2, 1))
    for name in ("one", "two"):
        motion = ml.Motion(rod, np.zeros((20, 3)), still, fps=60)
        ml.save(motion, tmp_path / "in" / f"{name}.bvh")
    done = run("clean", tmp_path / "in", "-o", tmp_path / "out")
    assert done.code == 2
    lines = done.err.strip().splitlines()
    assert [name in line for name, line in zip(("one.bvh", "two.bvh"), lines, strict=True)] == [
        True,
        True,
    ]
    assert "--body FILE.toml" in lines[0]
    assert "BodyMap" not in done.err


def test_fps_resamples_in_every_command_that_writes_a_clip(run, tmp_path: Path) -> None:
    walk = ml.synthetic.clip("walk", duration_s=1.5).motion
    ml.save(walk, tmp_path / "walk.bvh")
    out = tmp_path / "out.bvh"
    done = run("clean", tmp_path / "walk.bvh", "-o", out, "--fps", "30")
    assert done.code == 0, done.err
    assert "--fps now resamples" in done.err
    assert ml.load(out).fps == pytest.approx(30.0)
    assert ml.load(out).duration_s == pytest.approx(walk.duration_s, abs=0.05)
    done = run("clean", tmp_path / "walk.bvh", "-o", out, "--source-fps", "30", "--force")
    assert done.code == 0, done.err
    assert done.err == ""
    assert ml.load(out).duration_s == pytest.approx(2 * walk.duration_s)


def test_a_wrong_rate_or_unit_of_the_source_names_its_option(run, tmp_path: Path) -> None:
    ml.save(ml.synthetic.clip("walk", duration_s=1.0).motion, tmp_path / "walk.bvh")
    clip, out = tmp_path / "walk.bvh", tmp_path / "out.bvh"
    answer = run("clean", clip, "-o", out, "--source-fps", "0")
    assert answer.code == 2
    assert "--source-fps must be a rate above 0" in answer.err
    answer = run("convert", clip, out, "--source-unit", "foo")
    assert answer.code == 2
    assert "--source-unit must be" in answer.err


@pytest.mark.parametrize("command", ["convert {0} {1}", "table build {0} -o {1}"])
def test_a_pattern_for_fps_recommends_source_fps(run, tmp_path: Path, command: str) -> None:
    clip, out = tmp_path / "walk.bvh", tmp_path / "out"
    answer = run(*command.format(clip, out).split(), "--fps", "walk*=30")
    assert answer.code == 2
    assert "'--fps': must be a rate, such as 30, got 'walk*=30'." in answer.err
    assert "--source-fps 'walk*=30'" in answer.err
    answer = run(*command.format(clip, out).split(), "--fps", "fast")
    assert answer.code == 2
    assert "must be a rate" in answer.err
    assert "--source-fps" not in answer.err


def test_a_rate_with_the_true_one_of_the_files_is_no_surprise(run, tmp_path: Path) -> None:
    ml.save(ml.synthetic.clip("walk", duration_s=1.0).motion, tmp_path / "walk.bvh")
    clip, out = tmp_path / "walk.bvh", tmp_path / "out.bvh"
    answer = run("clean", clip, "-o", out, "--fps", "30", "--source-fps", "60")
    assert (answer.code, answer.err) == (0, "")


def test_options_on_what_is_read_have_one_name_in_every_command(run, tmp_path: Path) -> None:
    ml.save(ml.synthetic.clip("walk", duration_s=1.0).motion, tmp_path / "walk.bvh")
    clip, out = tmp_path / "walk.bvh", tmp_path / "out.bvh"
    assert run("info", clip, "--source-unit", "mm", "--json").err == ""
    for old in ("--unit", "--up", "--fps"):
        answer = run("info", clip, old, "mm")
        assert answer.code == 2
        assert "No such option" in answer.err
    answer = run("clean", clip, "-o", out, "--source-up", "foo")
    assert answer.code == 2
    assert "--source-up must be one of" in answer.err
    for option in ("--unit", "--up"):
        answer = run("convert", clip, out, option, "foo")
        assert answer.code == 2
        assert f"{option} must be one of" in answer.err
        assert "source" not in answer.err
    assert "--up " not in run("clean", "--help").out


def test_convert_takes_its_output_as_other_commands_do(run, tmp_path: Path) -> None:
    ml.save(ml.synthetic.clip("walk", duration_s=1.0).motion, tmp_path / "walk.bvh")
    clip, out = tmp_path / "walk.bvh", tmp_path / "out.glb"
    assert run("convert", clip, "-o", out).code == 0
    assert out.exists()
    for wrong in ((clip,), (clip, out, "-o", out)):
        answer = run("convert", *wrong)
        assert answer.code == 2
        assert "A conversion needs one output: OUT, or -o OUT." in answer.err
