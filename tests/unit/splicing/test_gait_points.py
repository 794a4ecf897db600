"""The length of a stride."""

import pytest

import motionloom as ml
from motionloom.splicing.gait_points import stride_s


@pytest.mark.parametrize(
    ("kind", "seconds"), [("walk", 1.07), ("jog", 0.73), ("sneak", 2.43), ("stairs", 1.25)]
)
@pytest.mark.parametrize("fps", [30.0, 60.0])
def test_a_stride_takes_as_long_as_that_of_the_gait_at_any_rate(kind, seconds, fps):
    motion = ml.resample(ml.synthetic.clip(kind, duration_s=4.0).motion, fps=fps)
    body = ml.BodyMap.guess(motion.skeleton)
    assert stride_s(motion, body) == pytest.approx(seconds, abs=0.04)


@pytest.mark.parametrize("kind", ["wave", "stand"])
def test_a_body_that_stands_has_no_stride(kind):
    motion = ml.synthetic.clip(kind).motion
    assert stride_s(motion, ml.BodyMap.guess(motion.skeleton)) is None
