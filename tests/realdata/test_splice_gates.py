"""The gates of splicing on a few real clips; all of them are in studies/splicing."""

import warnings

import numpy as np
import pytest

import motionloom as ml
from motionloom.features.glitches.repair import repair_capture
from motionloom.splicing.action_rate import arm_speeds

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
    motion = repair_capture(clip(name)).motion
    made = ml.splice(clip(name), clip(name))
    assert made.motion.n_frames == motion.n_frames
    assert np.abs(made.motion.world_positions() - motion.world_positions()).max() < EXACT_M


@pytest.mark.parametrize(("upper", "lower"), PAIRS)
def test_legs_are_the_lower_clips_and_arms_are_not_rushed(clip, upper, lower):
    above, legs = clip(upper), repair_capture(clip(lower)).motion
    body = ml.BodyMap.guess(legs.skeleton)
    made = ml.splice(above, clip(lower))
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
