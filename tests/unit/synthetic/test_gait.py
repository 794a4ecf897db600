import numpy as np
import pytest

from motionloom import synthetic
from motionloom.body.anatomy import ball_height, foot_offsets
from motionloom.body.body_map import BodyMap
from motionloom.synthetic.gait import GAITS, gait_at
from motionloom.synthetic.synthetic_skeleton import rig


@pytest.mark.parametrize("kind", GAITS)
def test_parts_of_a_stance_come_in_order(kind):
    gait = gait_at(kind, speed=None, cadence=None, height=1.75)
    assert 0.0 < gait.flat_at < gait.heel_off < gait.stance < 1.0
    assert gait.flight == (kind in ("jog", "run"))


def test_cadence_and_step_grow_with_speed_and_stance_shrinks():
    rows = [gait_at("walk", speed=v, cadence=None, height=1.75) for v in (0.5, 0.9, 1.4, 2.0)]
    for name, grows in (("cadence", True), ("stance", False), ("bob", True), ("arm", True)):
        values = np.array([getattr(row, name) for row in rows])
        assert np.all(np.diff(values) > 0.0) == grows
    assert np.all(np.diff([row.speed / row.cadence for row in rows]) > 0.0)


def test_tall_people_take_longer_and_slower_steps():
    short, tall = (gait_at("walk", speed=None, cadence=None, height=h) for h in (1.5, 2.0))
    assert tall.speed > short.speed
    assert tall.cadence < short.cadence
    assert tall.speed / tall.cadence / 2.0 == pytest.approx(short.speed / short.cadence / 1.5)


def test_the_skeleton_has_every_role_and_its_feet_are_those_of_everybody():
    skeleton = synthetic.skeleton(1.8)
    body = BodyMap.guess(skeleton)
    assert None not in [getattr(body, f"{s}_{r}") for s in ("left", "right") for r in (
        "hip", "knee", "ankle", "toe", "shoulder", "elbow", "wrist")]  # fmt: skip
    assert body.pelvis == 0 and body.head is not None and len(body.spine) == 3
    made = rig(1.8)
    left, right = foot_offsets(skeleton, body)
    np.testing.assert_allclose(made.heel, left.heel, atol=1e-12)
    np.testing.assert_allclose(made.heel, right.heel, atol=1e-12)
    assert made.ball_height == ball_height(skeleton, body)


def test_the_skeleton_is_symmetrical_and_as_tall_as_asked():
    skeleton = synthetic.skeleton(1.6)
    offsets = dict(zip(skeleton.names, skeleton.offsets, strict=True))
    for name, offset in offsets.items():
        if name.startswith("Left"):
            np.testing.assert_allclose(offsets["Right" + name[4:]], offset * [-1, 1, 1])
    spine = ("Spine", "Spine1", "Spine2", "Neck", "Head")
    up = sum(offsets[name][1] for name in spine) + skeleton.end_offsets[0][1]
    down = sum(offsets[f"Left{name}"][1] for name in ("UpLeg", "Leg", "Foot", "ToeBase"))
    assert up - down + rig(1.6).ball_height == pytest.approx(1.6, abs=0.01)
