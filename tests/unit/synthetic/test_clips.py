import numpy as np
import pytest

from motionloom import synthetic
from motionloom.body.anatomy import foot_points, tip_points
from motionloom.errors import ArrayError, MotionLoomError
from motionloom.motion.motion import KINDS, Motion
from motionloom.rotation import quat
from motionloom.synthetic.synthetic_skeleton import rig

STILL_M = 1e-9
LEVEL_M = 1e-9
LEFT_M = 1e-3  # two frames beyond a plant, at 60 frames per second
KNEE_OPEN_DEG = 2.0
ON_STAIRS = ("stairs", "stairs_down")


def knees(motion: Motion) -> np.ndarray:
    """Knee flexion of both legs, degrees. Shape (F, 2)."""
    at, index = motion.world_positions(), motion.skeleton.index
    columns = []
    for side in ("Left", "Right"):
        hip, knee, ankle = (at[:, index(side + part)] for part in ("UpLeg", "Leg", "Foot"))
        thigh, shank = knee - hip, ankle - knee
        cos = np.sum(thigh * shank, -1) / np.linalg.norm(thigh, axis=-1)
        columns.append(np.degrees(np.arccos(cos / np.linalg.norm(shank, axis=-1))))
    return np.stack(columns, axis=1)


@pytest.fixture(scope="module", params=synthetic.kinds())
def made(request):
    return synthetic.clip(request.param)


def test_planted_points_do_not_move_at_all(made):
    points = foot_points(made.motion)
    for i, kind in enumerate(KINDS):
        for first, last in made.footplants.intervals()[kind]:
            drift = np.abs(points[first : last + 1, i] - points[first, i])
            assert drift.max() < STILL_M, kind


def test_points_move_on_both_sides_of_every_plant(made):
    points = foot_points(made.motion)
    for i, kind in enumerate(KINDS):
        for first, last in made.footplants.intervals()[kind]:
            for edge, beyond in ((first, first - 2), (last, last + 2)):
                if 0 <= beyond < made.motion.n_frames:
                    moved = np.linalg.norm(points[beyond, i] - points[edge, i])
                    assert moved > LEFT_M, (kind, edge)


def test_feet_stand_on_the_ground_and_never_go_under_it(made):
    points, tips = foot_points(made.motion), tip_points(made.motion)
    stand = rig(1.75).ball_height
    if made.kind in ON_STAIRS:
        heights = {round(float(h), 6) for h in points[..., 1][made.footplants.planted]}
        steps = np.diff(sorted(heights))
        np.testing.assert_allclose(steps, 0.17, atol=1e-6)
        assert min(heights) == pytest.approx(stand, abs=1e-6)
    else:
        np.testing.assert_allclose(points[..., 1][made.footplants.planted], stand, atol=LEVEL_M)
    assert points[..., 1].min() > stand - LEVEL_M
    assert tips[..., 1].min() > 0.0


def test_bones_keep_their_length_and_knees_never_lock_or_bend_back(made):
    assert made.motion.joint_translations is None
    assert knees(made.motion).min() > KNEE_OPEN_DEG


def test_it_starts_at_the_origin_facing_forward(made):
    assert np.abs(made.path[0, [0, 2]]).max() < 0.1
    assert made.heading[0] == pytest.approx(0.0, abs=1e-9)
    hips = made.motion.root_positions[0, [0, 2]]
    assert np.linalg.norm(hips) < 0.2


def test_there_is_no_jump_between_frames(made):
    quats = made.motion.local_quats
    turned = 2.0 * np.arccos(np.clip(np.abs(np.sum(quats[1:] * quats[:-1], axis=-1)), 0.0, 1.0))
    assert np.degrees(turned).max() < 25.0
    moved = np.linalg.norm(np.diff(made.motion.world_positions(), axis=0), axis=-1)
    assert moved.max() * made.motion.fps < 14.0


def test_truth_has_a_row_per_frame_and_is_read_only(made):
    n = made.motion.n_frames
    assert made.footplants.n_frames == n
    assert made.phase.shape == made.heading.shape == (n,)
    assert made.path.shape == (n, 3)
    with pytest.raises(ValueError, match="read-only"):
        made.phase[0] = 1.0


@pytest.mark.parametrize("kind", synthetic.kinds())
def test_the_same_seed_gives_the_same_clip_and_another_seed_another(kind):
    a, b, c = (synthetic.clip(kind, seed=seed) for seed in (3, 3, 4))
    assert np.array_equal(a.motion.local_quats, b.motion.local_quats)
    assert np.array_equal(a.motion.root_positions, b.motion.root_positions)
    assert not np.array_equal(a.motion.local_quats, c.motion.local_quats)


@pytest.mark.parametrize("kind", synthetic.kinds())
@pytest.mark.parametrize("height", [1.2, 2.2])
def test_short_and_tall_people_can_do_everything(kind, height):
    made = synthetic.clip(kind, height=height)
    assert knees(made.motion).min() > KNEE_OPEN_DEG


def test_left_and_right_are_not_identical():
    made = synthetic.clip("walk")
    left, right = knees(made.motion).T
    half = round(0.5 / (112 / 120) * 60)
    assert np.abs(left[:-half] - right[half:]).mean() > 0.3


def test_tiptoes_never_plant_the_heel():
    planted = synthetic.clip("tiptoe").footplants.planted
    assert not planted[:, [0, 2]].any()
    assert planted[:, [1, 3]].any()


def test_sidesteps_never_cross_the_feet():
    for speed in (0.3, -0.3):
        made = synthetic.clip("sidestep", speed=speed)
        points = foot_points(made.motion)
        assert (points[:, :2, 0].min(axis=1) - points[:, 2:, 0].max(axis=1)).min() > 0.0
        assert np.sign(made.path[-1, 0]) == np.sign(speed)


def test_a_turn_on_the_spot_stays_on_it():
    for turn in (0.7, -2.0, np.pi):
        made = synthetic.clip("turn", turn=turn)
        assert made.heading[-1] == pytest.approx(turn, abs=1e-9)
        assert np.linalg.norm(made.path[:, [0, 2]], axis=-1).max() < 0.15


def test_a_kick_keeps_the_other_foot_down():
    planted = synthetic.clip("kick").footplants.planted
    assert planted[:, :2].all()
    assert not planted[:, 2:].all()


def test_hands_that_carry_are_fixed_to_the_chest():
    made = synthetic.clip("carry", speed=1.0, turn=0.5)
    at, quats = made.motion.world_pose()
    chest = made.motion.skeleton.index("Spine2")
    for side in ("Left", "Right"):
        hand = made.motion.skeleton.index(f"{side}Hand")
        held = quat.rotate(quat.conjugate(quats[:, chest]), at[:, hand] - at[:, chest])
        assert np.ptp(held, axis=0).max() < 1e-9


def test_a_waving_hand_goes_over_the_shoulder():
    for made in (synthetic.clip("wave"), synthetic.clip("jog", action="wave")):
        at, index = made.motion.world_positions(), made.motion.skeleton.index
        over = at[:, index("RightHand"), 1] - at[:, index("RightArm"), 1]
        assert over.max() > 0.15
        assert over[0] < 0.0


def test_an_action_leaves_the_steps_as_they_are():
    plain, waving = synthetic.clip("walk"), synthetic.clip("walk", action="wave")
    assert np.array_equal(plain.footplants.planted, waving.footplants.planted)


def test_clips_without_steps_have_no_phase():
    for kind in ("stand", "kick", "wave", "punch", "turn", "sidestep"):
        assert np.isnan(synthetic.clip(kind).phase).all()


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("hop", {}, "kind"),
        ("walk", {"speed": 5.0}, r"0\.30 to 2\.00"),
        ("run", {"speed": 1.0}, r"2\.60 to 6\.50"),
        ("walk", {"cadence": 20.0}, "steps per minute"),
        ("walk", {"action": "juggle"}, "action"),
        ("kick", {"action": "wave"}, "action"),
        ("run", {"turn": 9.0}, "turn"),
        ("run", {"speed": 6.0, "cadence": 165.0}, "cadence"),
        ("stand", {"turn": 1.0}, "turn"),
        ("stairs", {"cadence": 30.0}, "cadence"),
        ("sidestep", {"speed": 3.0}, "speed"),
        ("turn", {"duration_s": 0.5}, "duration_s"),
        ("kick", {"duration_s": 0.5}, "duration_s"),
        ("walk", {"height": 4.0}, "height"),
        ("walk", {"fps": 0.0}, "fps"),
        ("walk", {"duration_s": -1.0}, "duration_s"),
        ("walk", {"duration_s": 1e9}, "frames"),
        ("walk", {"seed": -1}, "seed"),
        ("walk", {"turn": float("nan")}, "turn"),
        ("walk", {"speed": float("nan")}, "speed"),
        ("walk", {"life": float("inf")}, "life"),
    ],
)
def test_what_nobody_can_do_is_refused_with_the_range(kind, options, message):
    with pytest.raises(ArrayError, match=message) as caught:
        synthetic.clip(kind, **options)
    assert isinstance(caught.value, MotionLoomError)


def test_short_clips_and_odd_rates_work():
    for fps in (20.0, 29.97, 240.0):
        made = synthetic.clip("walk", fps=fps, duration_s=1.5)
        assert made.motion.fps == fps
        assert made.motion.n_frames == round(1.5 * fps) + 1
    assert synthetic.clip("run", duration_s=0.05).motion.n_frames == 4
