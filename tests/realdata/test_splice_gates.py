"""The gates of splicing on a few real clips; all of them are in studies/splicing."""

import warnings

import numpy as np
import pytest

import motionloom as ml
from motionloom.features.glitches.repair import repair_capture
from motionloom.splicing.body_parts import parts_of
from motionloom.splicing.timing import arm_speeds

LEADING = 8
EXACT_M = 1e-9
TORSO_RATIO = 0.2
"""Of one pair; 0.15 is promised over many."""
ARM_SPEED = 1.3
PAIRS = [("16_15", "16_11"), ("16_21", "16_17"), ("143_11", "143_40"), ("143_13", "16_36")]


@pytest.fixture(scope="module")
def clip(mocap):
    def loaded(name):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fps = 60.0 if name.startswith("143") else None
            return ml.load(mocap / "cmu_bvh" / f"{name}.bvh", fps=fps)[LEADING:]

    return loaded


def below(motion, joint):
    hanging = [joint]
    for j in range(joint + 1, motion.skeleton.n_joints):
        if int(motion.skeleton.parents[j]) in hanging:
            hanging.append(j)
    return hanging


@pytest.mark.parametrize("name", ["16_15", "143_32", "69_16"])
def test_a_clip_on_itself_is_that_clip(clip, name):
    captured = clip(name)
    for repair, motion in (("all", repair_capture(captured).motion), (None, captured)):
        made = ml.splice(captured, captured, repair=repair)
        assert made.motion.n_frames == motion.n_frames
        assert np.abs(made.motion.world_positions() - motion.world_positions()).max() < EXACT_M


@pytest.mark.parametrize(("upper", "lower"), PAIRS)
def test_legs_are_the_lower_clips_and_arms_are_not_rushed(clip, upper, lower):
    above, legs = clip(upper), clip(lower)
    body = ml.BodyMap.guess(legs.skeleton)
    made = ml.splice(above, legs)
    n, hanging = made.motion.n_frames, below(legs, body.spine[0])
    rest = [j for j in range(legs.skeleton.n_joints) if j not in hanging]
    assert np.array_equal(made.motion.root_positions, legs.root_positions[:n])
    assert np.array_equal(made.motion.local_quats[:, rest], legs.local_quats[:n, rest])
    frames = made.timewarp.frames
    pace = np.diff(frames)
    assert np.mean((pace >= 0.5) & (pace <= 2.0)) >= 0.95
    source = ml.resample(above, fps=legs.fps)
    used = source[int(frames[0]) : int(np.ceil(frames[-1])) + 1]
    assert arm_speeds(made.motion, body).max() <= ARM_SPEED * arm_speeds(used, body).max()


@pytest.mark.parametrize("name", ["143_23", "143_25", "137_26"])
def test_actions_without_gait_keep_their_own_time(clip, name):
    made = ml.splice(clip(name), clip("143_32"))
    assert made.timewarp.kept_own_time
    assert np.array_equal(np.diff(made.timewarp.frames), np.ones(made.motion.n_frames - 1))


@pytest.mark.parametrize("lower", ["143_17", "143_38"])
@pytest.mark.parametrize("where", ["arms", "right_arm"])
def test_arms_stay_steady_on_a_chest_that_was_captured_jumping(clip, lower, where):
    made = ml.splice(clip("137_26"), clip(lower), where=where, when_short="hold")
    assert made.verification.passed


def test_the_torso_moves_as_the_person_really_moved_it(clip):
    upper, lower = clip("16_15"), clip("16_11")
    body = ml.BodyMap.guess(lower.skeleton)
    torso = [*body.spine[1:], body.left_shoulder, body.right_shoulder]

    def swayed(motion):
        """The torso about its mean place above the hips, whose posture is the action's to say."""
        positions, quats = motion.world_pose()
        seen = ml.rotation.quat.rotate(
            ml.rotation.quat.conjugate(quats[:, [0]]), positions[:, torso] - positions[:, [0]]
        )
        return seen - seen.mean(axis=0)

    off = {}
    for method in ("naive", "full"):
        made = ml.splice(upper, lower, method=method).motion
        off[method] = np.linalg.norm(swayed(made) - swayed(lower[: made.n_frames]), axis=-1).mean()
    assert off["full"] < TORSO_RATIO * off["naive"]


@pytest.mark.parametrize("other", ["bandai", "glb"])
def test_other_skeletons_act_on_these_legs(mocap, clip, other):
    pattern = {"bandai": "bandai_bvh/*walk*.bvh", "glb": "gltf/Soldier.glb"}[other]
    path = sorted(mocap.glob(pattern))[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        upper = ml.load(path, **({"clip": "Walk"} if other == "glb" else {}))
    made = ml.splice(upper, clip("143_32"))
    assert any("retargeted" in note for note in made.notes)
    assert np.isfinite(made.motion.world_positions()).all()
    assert made.motion.n_frames > 30


def test_a_zombies_arms_and_stiff_neck_walk_on_other_legs(mocap, clip):
    zombie = ml.load(mocap / "deepmimic_txt" / "humanoid3d_zombie_walk.txt")
    made = ml.splice(zombie, clip("16_11"), when_short="loop")
    assert made.verification.passed
    body, positions = ml.BodyMap.guess(made.motion.skeleton), made.motion.world_positions()
    wrists, hips = [body.left_wrist, body.right_wrist], [body.left_hip, body.right_hip]
    hands, waist = (positions[:, joints, 1].mean() for joints in (wrists, hips))
    assert hands > waist + 0.2  # those of the walk hang below the hips


RIGS = [
    ("143_11", "143_40"), ("143_25", "16_35"), ("137_26", "16_55"), ("16_15", "69_16"),
    ("dataset-1_bye_normal_001", "dataset-1_walk_normal_001"),
    ("143_11", "dataset-2_walk_normal_001"), ("dataset-1_guide_normal_001", "143_42"),
]  # fmt: skip
"""Actions and locomotions of two families of rigs, runs whose feet and hips were captured badly."""


@pytest.mark.parametrize("where", ["torso", "arms"])
@pytest.mark.parametrize(("upper", "lower"), RIGS)
def test_root_and_legs_are_the_captured_ones_to_the_last_bit(mocap, upper, lower, where):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        action, legs = (ml.load(next(mocap.glob(f"*/{name}.bvh"))) for name in (upper, lower))
    made = ml.splice(action[: 6 * round(action.fps)], legs[: 6 * round(legs.fps)], where=where)
    (own, _), n, body = made.matched.motions, made.motion.n_frames, made.matched.body
    above = {j for part in parts_of(own.skeleton, body, where) for j in part.joints}
    copied = [j for j in range(own.skeleton.n_joints) if j not in above]
    assert {body.left_hip, body.right_ankle, body.pelvis} <= set(copied)
    assert np.array_equal(made.motion.root_positions, own.root_positions[:n])
    assert np.array_equal(made.motion.local_quats[:, copied], own.local_quats[:n, copied])
    lower_track = made.provenance.tracks[0]
    assert np.array_equal(lower_track.times_in(0), np.arange(n) / own.fps)


def test_an_action_that_shuffles_plays_at_its_own_rate_on_a_walk(mocap):
    """Cleaning, at half its rate where shuffles were taken for steps."""
    upper, lower = (ml.load(mocap / "audit" / f"{name}.bvh") for name in ("14_31", "39_02"))
    made = ml.splice(upper, lower)
    assert made.timewarp.in_step < 0.6
    assert np.array_equal(np.diff(made.timewarp.frames), np.ones(made.motion.n_frames - 1))
