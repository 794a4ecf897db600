import numpy as np
import pytest

from motionloom._core import CoreError, kernel
from motionloom.body.anatomy import find_knees, foot_points
from motionloom.body.body_map import BodyMap
from motionloom.cleanup.legs import Hold, hold_feet, leg_record, place_feet, reach_of, read_feet
from motionloom.rotation import quat
from motionloom.synthetic import clip
from tests.oracles import aims
from tests.oracles.aims import lift_out


@pytest.fixture(scope="module")
def feet():
    motion = clip("walk").motion
    body = BodyMap.guess(motion.skeleton)
    pose = motion.world_pose()
    return read_feet(
        find_knees(motion.skeleton, body, motion=motion),
        body,
        pose,
        foot_points(motion, body=body, pose=pose),
    )


def ground_under(held, places):
    """Heights as the core finds them."""
    heights = np.zeros(held.shape)
    kernel("ml_foot_ground")(len(held), held, places, heights)
    return heights


def test_the_ground_runs_from_hold_to_hold(feet):
    holds = (Hold(0, (10, 20), (10, 20)), Hold(0, (40, 50), (40, 50)))
    foot = hold_feet(feet, holds, np.array([[0, 0.1, 0], [0, 0.3, 0.5]]))[0]
    ground = ground_under(foot.held, foot.places)
    assert np.allclose(ground[[0, 15, 30, 45], 0], [0.1, 0.1, 0.2, 0.3])
    assert np.isneginf(ground[:, 1]).all()


def test_a_foot_is_lifted_only_as_far_as_clean_up_pushed_it_in():
    ground = np.full((4, 2), 0.05)
    before = np.array([[0.06, 0.05], [0.02, 0.05], [0.06, 0.05], [0.06, 0.05]])
    after = np.array([[0.03, 0.05], [0.02, 0.05], [0.07, 0.06], [0.03, 0.01]])
    lift = lift_out(before, after, ground, np.zeros(4), 0)
    assert np.allclose(lift, [0.02, 0.0, 0.0, 0.04])
    assert not lift_out(before, after, ground, np.ones(4), 0).any()


def test_a_smoothed_lift_is_nowhere_too_low_and_has_no_step():
    n = 60
    ground, before = np.full((n, 2), 0.05), np.full((n, 2), 0.05)
    after = np.full((n, 2), 0.05)
    after[20:31] = 0.03
    sharp = lift_out(before, after, ground, np.zeros(n), 0)
    smooth = lift_out(before, after, ground, np.zeros(n), 5)
    assert (smooth >= sharp - 1e-12).all()
    assert np.abs(np.diff(smooth)).max() < 0.3 * np.abs(np.diff(sharp)).max()
    assert not smooth[:10].any()
    assert not smooth[41:].any()


@pytest.mark.parametrize("n", [0, 1, 2, 90])
def test_the_ground_is_drawn_straight_between_held_frames(n):
    rng = np.random.Generator(np.random.PCG64(n))
    places = rng.normal(size=(n, 2, 3))
    held = np.stack([rng.random(n) < 0.2, np.zeros(n, dtype=bool)], axis=1)
    ground = ground_under(held, places)
    at = np.flatnonzero(held[:, 0])
    expected = np.interp(np.arange(n), at, places[at, 0, 1]) if at.size else np.full(n, -np.inf)
    assert np.array_equal(ground[at, 0], places[at, 0, 1])
    assert np.allclose(ground[:, 0], expected, rtol=0.0, atol=1e-14)
    assert np.isneginf(ground[:, 1]).all()


def random_holds(feet, seed):
    """Feet of which some frames are held, somewhere near where they are."""
    rng, n = np.random.Generator(np.random.PCG64(seed)), len(feet[0].hip)
    holds, places = [], []
    for kind in range(4):
        foot = feet[kind // 2]
        track = (foot.heel, foot.ball)[kind % 2]
        for first in rng.integers(0, n - 12, size=seed % 3 + 1):
            span = (int(first), int(first) + int(rng.integers(1, 12)))
            holds.append(Hold(kind, span, span))
            places.append(track[first] + rng.normal(0.0, 0.02, 3))
    return hold_feet(feet, tuple(holds), np.array(places)), rng


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("fps", [30.0, 120.0])
def test_feet_are_aimed_as_in_the_plain_form(feet, seed, fps):
    held, rng = random_holds(feet, seed)
    lifts = rng.random((len(feet[0].hip), 2)) * (seed % 2)
    reach = (0.97 * reach_of(held[0]), 0.97 * reach_of(held[1]))
    placed = place_feet(held, reach, fps=fps, blend_s=0.2, roll=seed != 3, lifts=lifts)
    for side, foot in enumerate(held):
        options = {"length": 0.2 * fps, "stop": 0.05 * fps, "half": round(0.04 * fps)}
        options["free_change"] = 80.0 / fps**2
        ankle, wanted = aims.aim_foot(foot, reach[side], lifts[:, side], roll=seed != 3, **options)
        found = {
            "held_reach": placed.held_reach[:, side],
            "pull": placed.pull[:, side],
            "ground": placed.ground[:, 2 * side : 2 * side + 2],
            "targets": placed.targets[:, side],
            "points": placed.points[:, 2 * side : 2 * side + 2],
        }
        for name, values in wanted.items():
            assert np.allclose(found[name], values, rtol=0.0, atol=1e-9), name
        for name in ("q_foot", "q_toes", "shift", "roll", "levers"):
            made, expected = (getattr(each, name) for each in (placed.ankles[side], ankle))
            assert np.abs(made - expected).max() < 1e-9, name


def test_feet_of_another_side_or_another_length_are_refused(feet):
    leg, n = leg_record(feet[0], reach_of(feet[0])), len(feet[0].hip)
    for frames, side in ((n, 2), (n, -1), (n - 1, 0)):
        arrays = [np.zeros((frames, *rest)) for rest in [(2, 3), (2,)]]
        out = [(4,), (4,), (3,), (), (2, 3), (2,), (2,), (4,), (2, 3), (4, 3)]
        with pytest.raises(CoreError, match="sizes"):
            kernel("ml_foot_aim")(
                frames, side, leg, np.zeros((frames, 2), dtype=bool), *arrays, 9.0, 3.0, 0.1, 1, 0,
                np.ones(1), np.zeros((2, frames), dtype=np.uint8), np.zeros(10 * frames),
                *(np.zeros((frames, *rest)) for rest in out),
            )  # fmt: skip
    for ankle, side in ((0, 2), (0, -1), (1, 0), (-1, 0)):
        with pytest.raises(CoreError, match="sizes"):
            kernel("ml_foot_follow")(
                2, 1, np.zeros((2, 1, 3)), ankle, side, np.zeros((2, 2, 3)), np.zeros((2, 4, 3))
            )


def test_points_of_calmed_feet_turn_with_their_ankles_and_are_let_loose(feet):
    held, rng = random_holds(feet, 1)
    n, joints = len(held[0].hip), 3
    positions = rng.normal(size=(n, joints, 3))
    before, world = (quat.normalize(rng.normal(size=(n, joints, 4))) for _ in range(2))
    either, own = rng.random(n) < 0.7, rng.random(n) < 0.5
    for side, foot in enumerate(held):
        points, kept = np.zeros((n, 4, 3)), np.array(foot.held)
        leg = leg_record(foot, reach_of(foot))
        kernel("ml_calm_loose")(
            n, joints, side, leg, 2, positions, world, before, foot.places, either, own, 0.9,
            points, kept,
        )  # fmt: skip
        turn = quat.multiply(world[:, 2], quat.conjugate(before[:, 2]))
        levers = np.stack([foot.heel - foot.ankle, foot.ball - foot.ankle], axis=1)
        wanted = positions[:, None, 2] + quat.rotate(turn[:, None], levers)
        far = np.linalg.norm(wanted - foot.places, axis=-1) > 0.9
        columns = points[:, 2 * side : 2 * side + 2]
        assert np.abs(columns[either] - wanted[either]).max() < 1e-12
        assert not columns[~either].any()
        loose = (either & own)[:, None] & far
        assert np.array_equal(kept, foot.held & ~loose)
        for ankle, other, frames in ((3, side, n), (-1, side, n), (2, 2, n), (2, -1, n)):
            with pytest.raises(CoreError, match="sizes"):
                kernel("ml_calm_loose")(
                    frames, joints, other, leg, ankle, positions, world, before, foot.places,
                    either, own, 0.9, points, kept,
                )  # fmt: skip
