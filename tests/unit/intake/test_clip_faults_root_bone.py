from __future__ import annotations

import motionloom as ml
from motionloom.body.root_motion import travel_on_pelvis, with_root_bone
from motionloom.intake.clip_faults import root_bone_findings


def test_a_root_bone_that_lies_still_is_reported() -> None:
    walk = with_root_bone(ml.synthetic.clip("walk").motion)
    still = travel_on_pelvis(walk, like=walk[:1])
    body = ml.BodyMap.guess(walk.skeleton)
    (finding,) = root_bone_findings(still, body)
    assert finding.level == "note"
    assert finding.where == walk.skeleton.names[0]


def test_clips_that_travel_on_their_root_are_not() -> None:
    for motion in (
        ml.synthetic.clip("walk").motion,
        with_root_bone(ml.synthetic.clip("walk").motion),
    ):
        assert root_bone_findings(motion, ml.BodyMap.guess(motion.skeleton)) == []
