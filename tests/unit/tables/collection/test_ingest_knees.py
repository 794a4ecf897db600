"""Knees that were captured bent backwards are bent forwards when clips are ingested."""

import numpy as np
import pytest

import motionloom as ml
from motionloom.body.anatomy import find_knees, knee_flexion
from motionloom.body.body_map import BodyMap
from motionloom.rotation import quat
from motionloom.tables.synthesis.synthesis import rig_of

BACKWARDS = 0.2
"""How far knees of the damaged clip bend backwards, radians."""


def flexion_of(motion, knees):
    return knee_flexion(knees, *motion.world_pose())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A walk and the same walk with every knee opened by so much that it bends backwards."""
    folder = tmp_path_factory.mktemp("knees") / "clips"
    folder.mkdir()
    walk = ml.synthetic.clip("walk").motion
    body = BodyMap.guess(walk.skeleton)
    knees = find_knees(walk.skeleton, body, motion=walk)
    least = flexion_of(walk, knees).min()
    quats = np.array(walk.local_quats)
    _, world = walk.world_pose()
    for knee in knees:
        axis = quat.rotate(world[:, knee.hip], knee.axis)
        local = quat.rotate(quat.conjugate(world[:, knee.knee]), axis)
        turn = quat.from_axis_angle(local, np.full(len(local), -least - BACKWARDS))
        quats[:, knee.knee] = quat.multiply(quats[:, knee.knee], turn)
    ml.save(walk, folder / "walk.bvh")
    ml.save(walk.replace(local_quats=quats), folder / "opened.bvh")
    return folder


@pytest.mark.parametrize("repair", [True, False])
def test_knees_are_repaired_and_reported_unless_it_is_switched_off(folder, tmp_path, repair):
    lib = ml.Collection.ingest(folder, out=tmp_path / "lib.mlc", fps=30, repair_knees=repair)
    frames = lib.frames
    walk = frames.motion(*_span(frames, "walk"))
    knees = find_knees(walk.skeleton, frames.body_map, motion=walk)
    least = flexion_of(frames.motion(*_span(frames, "opened")), knees).min()
    assert (least > 0.0) == repair
    assert ("degrees): repaired" in str(lib.report)) == repair


def test_poles_point_ahead_whatever_way_knees_are_bent(folder, tmp_path):
    lib = ml.Collection.ingest(folder, out=tmp_path / "lib.mlc", fps=30, repair_knees=False)
    frames = lib.frames
    rig = rig_of(frames)
    motion = frames.motion(*_span(frames, "opened"))
    _, world = motion.world_pose()
    toes = quat.rotate(world[:, rig.legs[:, 2]], rig.soles[:, 1] - rig.soles[:, 0])
    poles = quat.rotate(world[:, rig.legs[:, 0]], rig.poles)
    assert np.median(np.sum(toes * poles, axis=-1), axis=0).min() > 0.0


def _span(frames, name):
    clip = frames.ids.index(name)
    return int(frames.starts[clip]), int(frames.starts[clip + 1]) - 1
