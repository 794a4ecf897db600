from __future__ import annotations

import numpy as np
import pytest

import motionloom as ml
from motionloom.errors import ArrayError, SkeletonMismatchError
from motionloom.features.verify import Gate, verify

SAME = 1e-12


@pytest.fixture(scope="module")
def gaits() -> list[ml.Motion]:
    return [ml.synthetic.clip(kind, duration_s=2.0).motion for kind in ("walk", "jog")]


def jumping(motion: ml.Motion) -> ml.Motion:
    root = np.array(motion.root_positions)
    root[30:] += 0.5
    return motion.replace(root_positions=root)


def test_a_gate_says_of_every_motion_what_verify_says(gaits: list[ml.Motion]) -> None:
    gate = Gate(gaits)
    for motion in (*gaits, jumping(gaits[0])):
        mine, theirs = gate.verify(motion), verify(motion, sources=gaits)
        assert mine == theirs


def test_speeds_alone_are_those_of_the_whole(gaits: list[ml.Motion]) -> None:
    gate, jump = Gate(gaits), jumping(gaits[0])
    whole, speeds = gate.verify(jump), gate.verify_speeds(jump)
    assert not speeds.passed
    assert {f.where for f in speeds.findings} == {"joint step", "root speed"}
    assert abs(speeds.step_ratio - whole.step_ratio) < SAME


def test_without_sources_nothing_is_held_against_anything(gaits: list[ml.Motion]) -> None:
    told = Gate().verify(jumping(gaits[0]))
    assert told.passed
    assert np.isnan(told.step_ratio)


def test_a_source_is_a_motion_on_the_same_skeleton(gaits: list[ml.Motion]) -> None:
    with pytest.raises(ArrayError, match="list of motions"):
        Gate(gaits[0])  # type: ignore[arg-type]
    bones = gaits[0].skeleton
    other = ml.Skeleton([f"x{n}" for n in bones.names], bones.parents, bones.offsets)
    stranger = ml.Motion(other, gaits[0].root_positions, gaits[0].local_quats, gaits[0].fps)
    with pytest.raises(SkeletonMismatchError):
        Gate([stranger]).verify(gaits[0])
