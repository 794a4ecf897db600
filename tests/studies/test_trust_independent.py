"""The independent check finds faults that are put into clips, and nothing else."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from motionloom import synthetic
from studies.trust.damage import FAULTS, warped
from studies.trust.independent import Body, Origin, judge
from studies.trust.points import points_of

CLIPS = ("walk", "jog")


def moving_points(name):
    motion = synthetic.clip(name).motion
    return points_of(motion), motion.fps


@pytest.fixture(scope="module", params=CLIPS)
def source(request):
    return moving_points(request.param)


def played(source, seed=0):
    """The clip turned and warped, with noise, and its origin."""
    points, fps = source
    rng = np.random.default_rng(seed)
    moved, time = warped(points, fps, rng)
    return moved, Origin(Body(points, fps), time), rng


def test_a_copy_raises_no_alarm(source):
    points, fps = source
    body = Body(points, fps)
    assert judge(body, [Origin(body, np.arange(body.n_frames) / fps)]) == []


@pytest.mark.parametrize("seed", range(4))
def test_a_clip_turned_and_warped_raises_no_alarm(source, seed):
    points, origin, _ = played(source, seed)
    assert judge(Body(points, 30.0), [origin]) == []


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found_where_it_is(fault):
    """In both clips together: not every clip has a place for every fault."""
    kind, put = FAULTS[fault]
    tried = found = 0
    for source, seed in product(map(moving_points, CLIPS), range(6)):
        points, origin, rng = played(source, seed)
        made = put(points, Body(points, 30.0), rng)
        if made is None:
            continue
        alarms = judge(Body(made.points, 30.0), [origin])
        tried += 1
        found += any(
            a.kind == kind and a.first <= made.last + 6 and a.last >= made.first - 6 for a in alarms
        )
    assert tried > 0
    assert found >= tried - 1


def test_a_wrong_map_cannot_excuse_a_result():
    points, origin, _ = played((points_of(walk := synthetic.clip("walk").motion), walk.fps))
    body = Body(points, 30.0)
    half_a_step_late = origin._replace(time=np.minimum(origin.time + 0.27, origin.time.max()))
    assert judge(body, [origin]) == []
    assert judge(body, [half_a_step_late]) != []


def test_a_map_of_a_standing_clip_does_not_explain_a_walk():
    points, origin, _ = played((points_of(walk := synthetic.clip("walk").motion), walk.fps))
    still = Body({name: np.repeat(p[:1], 90, axis=0) for name, p in points.items()}, 30.0)
    time = np.linspace(0.0, 2.9, len(origin.time))
    kinds = {alarm.kind for alarm in judge(Body(points, 30.0), [Origin(still, time)])}
    assert "speed" in kinds


def test_frames_between_two_sources_are_explained_by_both():
    walk, jog = (synthetic.clip(name).motion for name in ("walk", "jog"))
    n = min(walk.n_frames, jog.n_frames)
    time = np.arange(n) / walk.fps
    bodies = [Body(points_of(clip[:n]), clip.fps) for clip in (walk, jog)]
    origins = [Origin(body, time) for body in bodies]
    assert judge(bodies[0], origins) == []
    assert {a.kind for a in judge(bodies[1], origins[:1])} >= {"speed"}


def test_at_least_one_source_is_needed():
    walk = synthetic.clip("walk").motion
    with pytest.raises(ValueError, match="at least one source"):
        judge(Body(points_of(walk), walk.fps), [])
