"""Knees over held feet: what the root takes up, and what it leaves alone."""

import numpy as np
import pytest

from motionloom.cleanup.legs import Foot, LegSolution
from motionloom.cleanup.solve import MOST_M, quiet_knees
from motionloom.motion.motion import solve_limb

FPS, N, AT = 120.0, 120, 60
BONE, FREE = 0.42, 80.0 / 120.0**2


def leg(bend, *, across=0.1, tremble=0.0):
    """A leg over the origin with its knee bent by ``bend`` degrees, forward; hip and ankle tremble.

    In one frame both are out of place, as the whole captured body is: the leg keeps its shape.
    """
    half = np.radians(bend) / 2.0
    knee = BONE * np.array([0.0, np.cos(half), np.sin(half)])
    points = np.array([[0.0, 2.0 * knee[1], 0.0], knee, np.zeros(3)])
    tracks = np.broadcast_to(points[:, None] + [across, 0.08, 0.0], (3, N, 3)).copy()
    tracks[:, AT] += tremble * np.array([0.0, 0.6, 0.8])
    return tracks


def foot(tracks, *, held=True):
    hip, knee, ankle = tracks
    bones = np.stack([np.full(N, BONE), np.full(N, BONE), np.linalg.norm(ankle - hip, axis=-1)])
    flags = np.zeros((N, 2), dtype=bool)
    flags[20:100, 1] = held
    sides = [np.tile(axis, (N, 1)) for axis in ([1.0, 0.0, 0.0], [0.0, 0.0, 1.0])]
    return Foot((0, 1, 2, None), hip, knee, ankle, ankle, ankle, bones, *sides, flags)


def quieted(feet, places):
    """The shift, and both knees without and with it; ankles are put on their places."""

    def solve(shift, rows=slice(None)):
        def one(foot, place):
            hip, knee, ankle = (each + shift[rows] for each in (foot.hip, foot.knee, foot.ankle))
            pole = foot.pole
            return solve_limb(
                hip, knee, ankle, place, foot.hinge, pole=pole, straight=0.0, soft=0.0
            )

        return tuple(
            LegSolution(one(each[rows], place[rows]), None)
            for each, place in zip(feet, places, strict=True)
        )

    reach = np.full((N, 2), 2.0 * BONE)
    before = solve(np.zeros((N, 3)))
    shift, legs = quiet_knees(feet, reach, np.zeros((N, 3)), solve, FPS, apart=2)
    for made, again in zip(legs, solve(shift), strict=True):
        assert np.array_equal(made.limb.middle, again.limb.middle)
    return shift, before, legs


def jerk(solution):
    return np.linalg.norm(np.diff(solution.limb.middle, n=2, axis=0), axis=-1).max()


def standing(tracks):
    """Where the ankle is in the frames without tremble."""
    return np.tile(tracks[2, 0], (N, 1))


@pytest.mark.parametrize("bend", [7.0, 170.0])
def test_the_root_takes_up_the_tremble_of_a_straight_and_of_a_folded_leg(bend):
    tracks = [leg(bend, tremble=0.0012), leg(bend, across=-0.1, tremble=0.0012)]
    feet = (foot(tracks[0]), foot(tracks[1]))
    shift, before, after = quieted(feet, [standing(each) for each in tracks])
    assert jerk(before[0]) > FREE
    assert jerk(after[0]) < 0.5 * jerk(before[0])
    assert 0.0 < np.linalg.norm(shift, axis=-1).max() <= 2.0 * MOST_M
    far = np.abs(np.arange(N) - AT) > 20
    assert not shift[far].any()
    assert np.allclose(after[0].limb.end, standing(tracks[0]), rtol=0.0, atol=1e-6)


def test_what_is_no_tremble_stays():
    tracks = [leg(7.0, tremble=0.03), leg(7.0, across=-0.1, tremble=0.03)]
    shift, before, _ = quieted(
        (foot(tracks[0]), foot(tracks[1])), [standing(each) for each in tracks]
    )
    assert jerk(before[0]) > FREE
    assert not shift.any()


def test_knees_of_free_feet_stay():
    tracks = [leg(7.0, tremble=0.0012), leg(7.0, across=-0.1, tremble=0.0012)]
    feet = (foot(tracks[0], held=False), foot(tracks[1], held=False))
    shift, before, _ = quieted(feet, [standing(each) for each in tracks])
    assert jerk(before[0]) > FREE
    assert not shift.any()


def test_a_knee_that_jerks_as_much_in_the_clip_nearby_stays():
    tracks = [leg(7.0, tremble=0.0012), leg(7.0, across=-0.1, tremble=0.0012)]
    for each in tracks:
        each[1, AT + 10] += [0.0, 0.0, 0.02]
    shift, before, _ = quieted(
        (foot(tracks[0]), foot(tracks[1])), [standing(each) for each in tracks]
    )
    assert jerk(before[0]) > FREE
    assert not shift.any()
