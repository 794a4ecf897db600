"""Live control: against its plain form, over the seam of a round, and in copies."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import motionloom as ml
from motionloom.blending import control
from motionloom.rotation import quat
from motionloom.rotation.quat import PlanarTransform
from tests.oracles import control as plain

WALKS = tuple(ml.synthetic.clip("walk", turn=t, duration_s=1.5).motion for t in (-0.8, 0.4, 0.8))
CURVES = {k: ml.register(WALKS[:k], ends="match") for k in (2, 3)}
WAYS = {
    "round": {},
    "round and backwards": {"backwards": True},
    "round by rates": {"euler": True},
    "once": {"loop": False, "start": PlanarTransform(0.4, 1.0, -2.0)},
    "once and backwards": {"loop": False, "backwards": True},
}


def steered(n_motions, n_frames):
    """Weights that wander, and lie beyond the clips for a while."""
    rng = np.random.Generator(np.random.PCG64(n_motions))
    weights = rng.dirichlet(np.ones(n_motions), n_frames)
    weights[20:40] = [1.3, -0.3, 0.0][:n_motions]
    return weights


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("n_motions", [2, 3])
def test_poses_are_those_of_the_plain_form(way, n_motions):
    live = ml.control(CURVES[n_motions], hold_feet=False, **WAYS[way])
    other = plain.Controller(CURVES[n_motions], **WAYS[way])
    near = 1e-6 if "rates" in way else 1e-9  # rates are differences over 1e-6
    # The plain mean of three rotations is fully converged, ours is one step from it.
    apart = near if n_motions == 2 else 1e-3
    wraps, last = 0, live.u
    for w in steered(n_motions, 200):
        pose, wanted = live.step(w), other.step(w)
        wraps += (live.u - last) * other.sign < 0.0
        last = live.u
        assert live.u == pytest.approx(other.at * live.curve.frames_per_knot, abs=near)
        assert live.done == other.done
        assert pose.root_position == pytest.approx(wanted.root_position, abs=near)
        assert quat.angle_between(pose.local_quats, wanted.local_quats).max() < apart
        assert pose.planted.tolist() == wanted.planted.tolist()
    assert (wraps > 1) == live.loop and live.done == (not live.loop)


@pytest.mark.parametrize("whole_turns", [0.0, 1.0])  # the sign of the last pose flips with them
@pytest.mark.parametrize("angle", [0.0, 0.7, 3.0])
def test_what_a_pose_jumps_by_is_the_short_way_whatever_the_signs(monkeypatch, whole_turns, angle):
    monkeypatch.setattr(control, "find_cycle", lambda curve: curve.u_range)
    walk = WALKS[1]
    head, axis = walk.skeleton.index("Head"), np.array([0.6, 0.0, 0.8])
    total = 2.0 * np.pi * whole_turns + angle
    quats = np.array(walk.local_quats)
    turned = np.linspace(0.0, total, walk.n_frames)
    before = quat.exp(np.array([0.3, 0.2, 0.1]))
    quats[:, head] = quat.multiply(quat.from_axis_angle(axis, turned), before)
    motion = walk.replace(local_quats=quats)
    live = ml.control(ml.register([motion, motion], ends="match"), hold_feet=False)
    while not live._live.seam.any():
        pose = live.step([0.5, 0.5])
    assert live._live.seam[head] == pytest.approx(angle * axis, abs=1e-6)
    # At the seam the whole of it is added.
    part = live.u / live.curve.u_range[1]
    wanted = quat.multiply(quat.from_axis_angle(axis, part * total + angle), before)
    assert quat.angle_between(pose.local_quats[head], wanted) < 0.05


def test_copies_go_on_by_themselves_from_where_it_is():
    for n_frames in (0, 5, 150):  # before it begins, in the first round, in a seam or after it
        live = ml.control(CURVES[3])
        weights = steered(3, 300)
        for w in weights[:n_frames]:
            live.step(w)
        copies = [copy.copy(live), copy.deepcopy(live), pickle.loads(pickle.dumps(live))]
        wanted = [live.step(w) for w in weights[n_frames : n_frames + 100]]
        for each in copies:
            for w, pose in zip(weights[n_frames:], wanted, strict=False):
                ours = each.step(w)
                assert np.array_equal(ours.root_position, pose.root_position)
                assert np.array_equal(ours.local_quats, pose.local_quats)
                assert np.array_equal(ours.planted, pose.planted)
            assert each.u == live.u


def test_poses_keep_their_values_when_the_blend_goes_on():
    live = ml.control(CURVES[2])
    pose = live.step([0.5, 0.5])
    kept = np.array(pose.local_quats), np.array(pose.root_position)
    for _ in range(20):
        live.step([0.2, 0.8])
    assert np.array_equal(pose.local_quats, kept[0])
    assert np.array_equal(pose.root_position, kept[1])


def test_a_loop_can_be_ended():
    live = ml.control(CURVES[2])
    for _ in range(150):
        live.step([0.5, 0.5])
    assert not live.done
    live.loop = False
    for _ in range(150):
        live.step([0.5, 0.5])
    assert live.done


def test_constraints_hold_live_when_they_hold_in_a_blend():
    spans = [{"cup": [(0.2, 0.5), (0.8, 1.1)], "left_wrist": [(0.4, 0.9)]}] * 2
    curve = ml.register(WALKS[:2], ends="match", constraints=spans)
    blend = ml.blend(curve, lambda seconds: [0.5, 0.5], clean=False)
    live = ml.control(curve, loop=False)
    held = [live.step([0.5, 0.5]).constraints for _ in blend.u]
    assert set(blend.constraints) == {"cup", "left_wrist"}
    for name, runs in blend.constraints.items():
        frames = [frame for first, last in runs for frame in range(first, last + 1)]
        assert frames and frames == [frame for frame, names in enumerate(held) if name in names]


def test_a_curve_without_constraints_holds_none():
    assert ml.control(CURVES[2]).step([0.5, 0.5]).constraints == ()


RIGS = {"hips": lambda motion: motion, "root bone": ml.with_root_bone}


def played(curve, live, n_frames, weights=(0.3, 0.7)):
    poses = [live.step(weights) for _ in range(n_frames)]
    moved = [pose.joint_translations for pose in poses]
    return ml.Motion(
        curve.motions[0].skeleton,
        np.array([pose.root_position for pose in poses]),
        np.array([pose.local_quats for pose in poses]),
        curve.motions[0].fps,
        joint_translations=None if moved[0] is None else np.array(moved),
    )


@pytest.mark.parametrize("rig", RIGS)
def test_live_joints_are_where_those_of_the_blend_are(rig):
    curve = ml.register([RIGS[rig](walk) for walk in WALKS[:2]], ends="match")
    made = ml.blend(curve, lambda seconds: [0.3, 0.7], clean=False)
    n = made.motion.n_frames - 1
    live = played(curve, ml.control(curve, loop=False, hold_feet=False), n)
    assert (live.joint_translations is None) == (rig == "hips")
    apart = live.world_positions() - made.motion.world_positions()[:n]
    assert np.abs(apart).max() < 0.02  # a blend stretches its steps to end with its curve
    hips = curve.motions[0].skeleton.index("Hips")
    heights = live.world_positions()[:, hips, 1]
    assert 0.02 < np.ptp(heights) < 0.2  # they bob


@pytest.mark.parametrize("hold_feet", [False, True])
def test_hips_of_a_rig_with_a_root_bone_go_round_and_on_without_a_jump(hold_feet):
    walks = [ml.synthetic.clip("walk", turn=turn, duration_s=4.0).motion for turn in (0.0, 0.8)]
    curve = ml.register([ml.with_root_bone(walk) for walk in walks], cycles=True)
    motion = played(curve, ml.control(curve, hold_feet=hold_feet), 400)
    hips = motion.world_positions()[:, curve.motions[0].skeleton.index("Hips")]
    steps = np.linalg.norm(np.diff(hips, axis=0), axis=1) * motion.fps
    assert steps.min() > 0.5 and steps.max() < 2.0
    assert np.linalg.norm(hips - motion.root_positions, axis=1).max() < 1.2  # it does not orbit


@pytest.mark.parametrize("rig", RIGS)
def test_weights_that_jump_ease_in_and_smooth_ones_are_followed(rig):
    curve = ml.register([RIGS[rig](walk) for walk in WALKS[:2]], ends="match")
    fps = curve.motions[0].fps
    live, at_once = ml.control(curve), ml.control(curve, ease_s=0.0)
    wave = 0.5 + 0.5 * np.sin(2.0 * np.pi * 0.5 * np.arange(60) / fps)  # at most 1.6 a second
    for share in wave:
        live.step([share, 1.0 - share])
        assert live.weights.tolist() == [share, 1.0 - share]
    target = np.array([0.9, 0.1])
    ways = []
    for _ in range(round(0.25 * fps)):
        before = live.weights
        live.step(target)
        at_once.step(target)
        assert at_once.weights.tolist() == target.tolist()
        ways.append(np.abs(live.weights - before).max())
        assert live.weights.sum() == pytest.approx(1.0)
    jump = abs(wave[-1] - 0.9)
    assert 0.0 < ways[0] < 0.3 * max(ways) and max(ways) < 1.6 * jump / len(ways)
    assert live.weights.tolist() == target.tolist()
    for k in range(50):  # a weight that flickers moves nothing by more than that
        before = live.weights
        live.step([1.0, 0.0] if k % 2 else [0.0, 1.0])
        assert np.abs(live.weights - before).max() < 0.1
