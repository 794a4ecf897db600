"""Results that fail their quality check warn callers in Python, and nobody else."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import motionloom as ml
from motionloom.cli.main import command_tree
from motionloom.features.checks.quality_check import QualityCheck
from motionloom.features.checks.verification import FailedCheck, Verification
from motionloom.splicing.splice import SpliceCheck

MINOR = FailedCheck("rotation speed", "Head", 3, 310.0, 300.0, "deg/s")
WORST = FailedCheck("rotation speed", "LeftLeg", 7, 900.0, 300.0, "deg/s")


@pytest.fixture
def flawed(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in (QualityCheck, SpliceCheck):
        monkeypatch.setattr(
            kind, "verify", lambda *_, **__: Verification(False, (MINOR, WORST))
        )  # fmt: skip


def clips(kinds: str) -> list[ml.Motion]:
    return [ml.synthetic.clip(kind, duration_s=1.5).motion for kind in kinds.split()]


CALLS: dict[str, Callable[..., Any]] = {
    "transition": lambda **more: ml.transition(*clips("walk jog"), **more),
    "blend": lambda **more: ml.blend(clips("walk jog"), [0.5, 0.5], **more),
    "loop": lambda **more: ml.loop(clips("walk")[0], **more),
    "splice": lambda **more: ml.splice(*clips("carry walk"), **more),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_flawed_result_warns_with_its_worst_check(flawed: None, name: str) -> None:
    with pytest.warns(ml.MotionLoomWarning) as caught:
        CALLS[name]()
    (warning,) = caught
    assert str(warning.message).startswith(f"The {name} fails its quality check: rotation speed")
    assert "LeftLeg" in str(warning.message)
    assert "and 1 more" in str(warning.message)
    assert warning.filename == __file__


def test_a_step_that_was_switched_off_warns_of_nothing(flawed: None) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in ("transition", "blend", "loop"):
            CALLS[name](clean=False)
        CALLS["transition"](check=False)
        CALLS["splice"](method="naive")
        ml.blend(clips("walk jog"), [1.2, -0.2])


def test_a_sound_result_warns_of_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        CALLS["splice"]()


def test_the_command_line_warns_by_its_own_words(flawed: None, tmp_path: Path) -> None:
    for name, motion in zip("ab", clips("walk jog"), strict=True):
        ml.save(motion, tmp_path / f"{name}.bvh")
    clip_a, clip_b, out = (str(tmp_path / name) for name in ("a.bvh", "b.bvh", "c.bvh"))
    with warnings.catch_warnings(), pytest.raises(ml.FlawedResultError):
        warnings.simplefilter("error")
        command_tree()(["transition", clip_a, clip_b, "-o", out], standalone_mode=False)
