"""Every failure that a caller can cause is a MotionLoomError, wrong kinds of argument included."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import motionloom as ml

WALK = ml.synthetic.clip("walk").motion
BONE = ml.Skeleton(["root"], [-1], [[0, 0, 0]])
OTHER_BODY = ml.BodyMap(pelvis=900, left_hip=901, right_hip=902)


def closed() -> io.BytesIO:
    stream = io.BytesIO()
    stream.close()
    return stream


CALLS: dict[str, Callable[[], object]] = {
    "resample None": lambda: ml.resample(None, fps=30),
    "resample to more frames than memory holds": lambda: ml.resample(WALK, fps=1e9),
    "concatenate one motion": lambda: ml.concatenate(WALK),
    "concatenate a number": lambda: ml.concatenate([WALK, 3]),
    "move None": lambda: ml.move(None),
    "move by a text": lambda: ml.move(WALK, x="far"),
    "move by two numbers": lambda: ml.move(WALK, z=np.array([1.0, 2.0])),
    "turn by None": lambda: ml.move(WALK, heading=None),
    "turn by infinity": lambda: ml.move(WALK, heading=float("inf")),
    "mirror None": lambda: ml.mirror(None),
    "mirror by a number": lambda: ml.mirror(WALK, body=3),
    "mirror by another body": lambda: ml.mirror(WALK, body=OTHER_BODY),
    "cut at half frames": lambda: WALK[0.5:3],
    "retarget None": lambda: ml.retarget(None, WALK.skeleton),
    "retarget onto None": lambda: ml.retarget(WALK, None),
    "guess the body of None": lambda: ml.BodyMap.guess(None),
    "guess the body of a motion": lambda: ml.BodyMap.guess(WALK),
    "quality of None": lambda: ml.measure_quality(None),
    "quality by a text": lambda: ml.measure_quality(WALK, "plants"),
    "ground None": lambda: ml.ground(None),
    "ground on a number": lambda: ml.ground(WALK, floor=3),
    "kinematics of None": lambda: ml.forward_kinematics(None, [[0, 0, 0]], [[[1, 0, 0, 0]]]),
    "kinematics of text": lambda: ml.forward_kinematics(BONE, "a", "b"),
    "a rate beyond floats": lambda: WALK.replace(fps=10**400),
    "a skeleton of nothing": lambda: ml.Skeleton(None, None, None),
    "a skeleton with half a parent": lambda: ml.Skeleton(["a", "b"], [-1, 0.5], np.zeros((2, 3))),
    "a rest pose that turns by nothing": lambda: ml.Skeleton(
        ["a"], [-1], [[0, 0, 0]], rest_quats=[[0, 0, 0, 0]]
    ),
    "load with a body of text": lambda: ml.load("a.bvh", body="x"),
    "load with a skeleton of numbers": lambda: ml.load("a.bvh", skeleton=3),
    "load a closed stream": lambda: ml.load(closed()),
    "save into a stream of text": lambda: ml.save(WALK, io.StringIO(), format="bvh"),
    "save into a closed stream": lambda: ml.save(WALK, closed(), format="bvh"),
    "a clip at a speed of text": lambda: ml.synthetic.clip("walk", speed="fast"),
    "a clip at a turn of text": lambda: ml.synthetic.clip("walk", turn="left"),
    "a clip at a cadence of text": lambda: ml.synthetic.clip("walk", cadence="quick"),
    "view None": lambda: ml.view(None),
    "view no clip": lambda: ml.view([]),
    "view a text": lambda: ml.view(["walk"]),
    "save in a format of numbers": lambda: ml.save(WALK, io.BytesIO(), format=3),
    "save under a name with NUL": lambda: ml.save(WALK, "a\0b.bvh"),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
def test_it_is_refused_with_what_must_hold(call: Callable[[], object]) -> None:
    with pytest.raises(ml.MotionLoomError, match=r"must|cannot|can be"):
        call()


def test_a_format_may_be_given_by_its_suffix(tmp_path: Path) -> None:
    for suffix in ("mlm", ".npz", "BVH"):
        stream = io.BytesIO()
        ml.save(WALK, stream, format=suffix)
        stream.seek(0)
        assert ml.load(stream).n_frames == WALK.n_frames


def test_clips_to_concatenate_may_come_one_by_one() -> None:
    assert ml.concatenate(clip for clip in (WALK, WALK)).n_frames == 2 * WALK.n_frames


def test_a_gltf_is_not_written_in_the_binary_form(tmp_path: Path) -> None:
    with pytest.raises(ml.FormatError, match=r"\.glb"):
        ml.save(WALK, tmp_path / "walk.gltf")
    assert not (tmp_path / "walk.gltf").exists()
