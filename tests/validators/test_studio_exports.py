"""What the studio writes for programs that are not here is what those that are here were given."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import motionloom as ml
from motionloom.studio.results.exports import Exports
from motionloom.studio.results.presets import PRESETS


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


def test_the_unverified_presets_write_what_the_verified_one_writes(exports: Exports) -> None:
    motion = ml.synthetic.clip("walk", duration_s=1.0).motion
    files = {
        name: exported(exports, motion, name).read_bytes()
        for name, preset in PRESETS.items()
        if preset.format == "glb"
    }
    assert sum(PRESETS[name].verified for name in files) == 1
    assert len(set(files.values())) == 1


def test_every_verified_preset_is_opened_in_its_program() -> None:
    text = Path(__file__).parents[1].joinpath("studio", "test_newcomer.py").read_text()
    for name, preset in PRESETS.items():
        assert preset.verified == (f'"preset:{name}"' in text), name
