"""What the studio writes for programs that are not here is what those that are here were given."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import motionloom as ml
from motionloom.studio.results.exports import PRESETS, Exports


@pytest.fixture
def exports() -> Iterator[Exports]:
    made = Exports()
    yield made
    made.close()


def exported(exports: Exports, motion: ml.Motion, preset: str) -> Path:
    key = exports.page().make(motion, "", preset).url.removeprefix("download/")
    found = exports.find(key)
    assert found is not None
    return found[0]


@pytest.mark.parametrize("engine", ["unreal", "unity", "godot"])
def test_presets_of_engines_write_the_files_that_other_programs_open_in_tests(
    exports: Exports, tmp_path: Path, engine: str
) -> None:
    motion = ml.synthetic.clip("walk", duration_s=1.0).motion
    file = exported(exports, motion, engine)
    ml.save(motion, tmp_path / f"clip{file.suffix}", engine=engine)
    assert file.read_bytes() == (tmp_path / f"clip{file.suffix}").read_bytes()


def test_every_verified_preset_is_opened_in_its_program() -> None:
    text = Path(__file__).parents[1].joinpath("studio", "test_newcomer.py").read_text()
    text += Path(__file__).with_name("test_godot.py").read_text()
    for name, preset in PRESETS.items():
        opened = (f'"preset:{name}"', f'Case("{name}", "still.{preset.format}"')
        assert preset.verified == any(each in text for each in opened), name
