"""Arguments of the wrong kind are named, never met with a stray exception."""

import numpy as np
import pytest

import motionloom as ml

WALK = ml.synthetic.clip("walk", duration_s=2.0).motion
JOG = ml.synthetic.clip("jog", duration_s=2.0).motion
CURVE = ml.register([WALK, JOG])

CALLS = {
    "motions as text": lambda: ml.register("abc"),
    "no motions": lambda: ml.register(None),
    "numbers for motions": lambda: ml.register([1, 2]),
    "at as text": lambda: ml.register([WALK, JOG], at="ab"),
    "at of three": lambda: ml.register([WALK, JOG], at=(1, 2, 3)),
    "pins of one": lambda: ml.register([WALK, JOG], pins=[(1,)]),
    "slope below zero": lambda: ml.register([WALK, JOG], slope_limit=-1),
    "slope a fraction": lambda: ml.register([WALK, JOG], slope_limit=1.5),
    "epsilon above one": lambda: ml.register([WALK, JOG], epsilon=2),
    "no knots": lambda: ml.register([WALK, JOG], knot_s=0),
    "window below zero": lambda: ml.register([WALK, JOG], window_s=-1),
    "cover of five": lambda: ml.register([WALK, JOG], cover=5),
    "no such reference": lambda: ml.register([WALK, JOG, WALK], reference=9),
    "numbers for plants": lambda: ml.register([WALK, JOG], footplants=[1, 2]),
    "no curve to blend": lambda: ml.blend(None, [0.5, 0.5]),
    "weights that are none": lambda: ml.blend(CURVE, lambda t: None, duration_s=1.0),
    "no rows of weights": lambda: ml.blend(CURVE, np.zeros((0, 2))),
    "a duration below zero": lambda: ml.blend(CURVE, [0.5, 0.5], duration_s=-1),
    "a duration without end": lambda: ml.blend(CURVE, [0.5, 0.5], duration_s=1e9),
    "a number for a clip": lambda: ml.transition(WALK, 5),
    "a number for a place": lambda: ml.transition(WALK, JOG, at=5),
    "a text for a length": lambda: ml.transition(WALK, JOG, length_s="x"),
    "no curve to control": lambda: ml.control(3),
    "text for weights": lambda: ml.control(CURVE).step("a"),
    "a number to loop": lambda: ml.loop(3),
    "a cycle below zero": lambda: ml.loop(WALK, shortest_s=-1),
    "no parameters": lambda: ml.parametrize(CURVE, {}),
    "text for parameters": lambda: ml.parametrize(CURVE, {"a": "xy"}),
    "text for a parameter": lambda: ml.parametrize(CURVE, {"a": [1, 2]}).weights(a="x"),
    "a number to verify": lambda: ml.verify(3),
    "a number for sources": lambda: ml.verify(WALK, sources=3),
    "a number to clean": lambda: ml.clean_footskate(3),
    "a number for footplants": lambda: ml.clean_footskate(WALK, 5),
    "a number for a pose": lambda: ml.lead_in(WALK, 3),
    "a number for a file": lambda: CURVE.save(3),
    "a number for a file to load": lambda: ml.RegistrationCurve.load(3),
    "a folder that is not there": lambda: CURVE.save("/no/such/folder/x.mlr"),
    "no such motion": lambda: CURVE.u_of(9, 3),
    "text for a parameter of the curve": lambda: CURVE.frames("x"),
}


UNUSED = {
    "least_s without a pair": {"least_s": 2.0},
    "least_s of matched ends": {"least_s": 0.2, "at": (30, 20), "ends": "match"},
    "least_s of cycles": {"least_s": 0.2, "cycles": True},
    "cover of matched ends": {"cover": 0.6, "ends": "match"},
    "cover of cycles": {"cover": 0.6, "cycles": True},
    "cover with a pair": {"cover": 0.6, "at": (30, 20)},
    "cover with pins": {"cover": 0.6, "pins": [(30, 20)]},
}


@pytest.mark.parametrize("options", UNUSED.values(), ids=UNUSED.keys())
def test_options_that_would_not_be_used_are_refused(options):
    with pytest.raises(ml.ArrayError, match=r"(Leave|Pass) `.*`"):
        ml.register([WALK, JOG], **options)


@pytest.mark.parametrize("pair", [{"at": (30, 20)}, {"pins": [(30, 20)]}])
def test_the_least_length_of_a_curve_goes_with_a_pair(pair):
    curve = ml.register([WALK, JOG], least_s=0.2, **pair)
    at = curve.u_of(0, 30)
    assert at >= 0.2 * 60 - 6.0 and curve.u_range[1] - at >= 0.2 * 60 - 6.0


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
def test_every_wrong_argument_is_refused(call):
    with pytest.raises(ml.MotionLoomError, match=r".{15}"):
        call()


def test_points_without_bones_are_registered_but_not_blended():
    places = WALK.world_positions()
    names = WALK.skeleton.names
    clip = ml.MarkerClip(names, places, np.ones(places.shape[:2], dtype=bool), WALK.fps).motion()
    curve = ml.register([clip[:90], clip[20:110]])
    assert curve.frames(40.0)[0] - curve.frames(40.0)[1] == pytest.approx(20.0, abs=1.0)
    for call in (ml.blend, lambda curve, _: ml.control(curve)):
        with pytest.raises(ml.SkeletonMismatchError, match="A blend needs bones"):
            call(curve, [0.5, 0.5])
