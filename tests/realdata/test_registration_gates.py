"""The gates of registration on a few real clips; all of them are in studies/registration."""

import warnings

import numpy as np
import pytest

import motionloom as ml
from motionloom.motion.edit import sample, transform
from motionloom.motion.motion import velocities
from motionloom.registration.timewarp import fit_planar_alignment
from motionloom.rotation import quat
from motionloom.rotation.quat import PlanarTransform

FPS = 30.0
LEADING = 8
WARP_FRAMES = 0.1
"""Rms of a warp recovered from one clip; 0.05 is promised over many."""
WORLD_RATIO, POSE_RATIO = 0.06, 0.2
STEP_ALLOWANCE = 1.05
TAKE_FRAMES = 1.2
"""Median over few events; 0.7 is promised over many pairs."""


@pytest.fixture(scope="module")
def clip(mocap):
    def loaded(name):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fps = 60.0 if name.startswith("143") else None
            return ml.load(mocap / "cmu_bvh" / f"{name}.bvh", fps=fps)[LEADING:]

    return loaded


def warped_frames(n_frames, seed):
    """Frames of the original at every frame of a copy with slopes between 0.5 and 1.5."""
    phase = np.random.Generator(np.random.PCG64(seed)).uniform(0, 2 * np.pi)
    slope = 1.0 + 0.5 * np.sin(2 * np.pi * np.arange(2 * n_frames) / 40.0 + phase)
    frames = np.concatenate([[0.0], np.cumsum(slope)])
    n = int(np.searchsorted(frames, n_frames - 1))
    return frames[: n + 1] * (n_frames - 1) / frames[n]


def bent(motion, turn):
    root, steps = motion.root_positions, np.diff(motion.root_positions, axis=0)
    theta = turn * np.arange(motion.n_frames) / (motion.n_frames - 1)
    there = np.array(root)
    there[1:] = root[0] + np.cumsum(PlanarTransform(theta[:-1], 0.0, 0.0).apply(steps), axis=0)
    quats = np.array(motion.local_quats)
    quats[:, 0] = quat.multiply(PlanarTransform(theta, 0.0, 0.0).quat(), quats[:, 0])
    return motion.replace(root_positions=there, local_quats=quats)


def errors(a, b):
    """Mean joint distance after one rigid fit, and after one in every frame."""
    p, q = a.world_positions(), b.world_positions()
    theta, offset, _ = fit_planar_alignment(
        p.reshape(-1, 3), q.reshape(-1, 3), np.ones(p.shape[0] * p.shape[1])
    )
    world = np.linalg.norm(p - PlanarTransform(theta, *offset).apply(q), axis=-1).mean()
    theta, offset, _ = fit_planar_alignment(p, q, np.ones(p.shape[1]))
    each = PlanarTransform(theta[:, None], offset[:, :1], offset[:, 1:]).apply(q)
    return np.array([world, np.linalg.norm(p - each, axis=-1).mean()])


@pytest.mark.parametrize("name", ["16_15", "16_21", "16_36", "69_03"])
def test_a_known_warp_of_a_real_clip_is_recovered_below_the_frame(clip, name):
    motion = ml.resample(clip(name), fps=FPS)
    speed = np.linalg.norm(velocities(motion.root_positions, FPS)[:, [0, 2]], axis=-1)
    going = np.flatnonzero(speed > 0.4)
    motion = motion[going[0] : going[-1] + 1]
    frames = warped_frames(motion.n_frames, 1)
    copy = ml.move(sample(motion, frames), heading=2.0, x=3.0, z=-4.0)
    curve = ml.register([motion, copy], ends="match", refine=True)
    found = curve.frames(np.linspace(*curve.u_range, 500))
    off = found[:, 0] - np.interp(found[:, 1], np.arange(len(frames)), frames)
    assert np.sqrt(np.mean(off**2)) < WARP_FRAMES


@pytest.mark.parametrize("name", ["16_15", "16_58", "16_45"])
def test_a_clip_bent_both_ways_and_warped_comes_back_half_and_half(clip, name):
    motion = ml.resample(clip(name), fps=FPS)
    warps = [warped_frames(motion.n_frames, seed) for seed in (2, 3)]
    copies = [sample(bent(motion, s * 1.2), w) for s, w in zip((1, -1), warps, strict=True)]
    blend = ml.blend(ml.register(copies, ends="match"), [0.5, 0.5], clean=False)

    def original(frames):
        each = [np.interp(f, np.arange(len(w)), w) for f, w in zip(frames.T, warps, strict=True)]
        return sample(motion, np.mean(each, axis=0))

    ours = errors(original(blend.curve.frames(blend.u)), blend.motion)
    n = min(m.n_frames for m in copies)
    a, b = (copy.world_positions()[0] for copy in copies)
    theta, offset, _ = fit_planar_alignment(a, b, np.ones(len(a)))
    moved = transform(copies[1], PlanarTransform(theta, *offset))
    linear = copies[0][:n].replace(
        root_positions=0.5 * (copies[0].root_positions[:n] + moved.root_positions[:n]),
        local_quats=quat.slerp(copies[0].local_quats[:n], moved.local_quats[:n], 0.5),
    )
    theirs = errors(original(np.repeat(np.arange(n)[:, None], 2, axis=1)), linear)
    assert ours[0] <= WORLD_RATIO * theirs[0]
    assert ours[1] <= POSE_RATIO * theirs[1]


def fastest(motion):
    steps = np.linalg.norm(np.diff(motion.world_positions(), axis=0), axis=-1).max(axis=1)
    root = np.linalg.norm(np.diff(motion.root_positions[:, [0, 2]], axis=0), axis=-1)
    return steps * motion.fps, root * motion.fps


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("16_15", "16_36"),
        ("16_45", "16_11"),
        ("16_03", "16_21"),
        ("69_01", "69_56"),
        ("69_16", "69_72"),
        ("143_42", "143_32"),
        ("143_24", "143_18"),
        ("143_05", "143_41"),
    ],
)
def test_a_transition_steps_no_farther_than_its_clips(clip, first, second):
    sources = clip(first), clip(second)
    made = ml.transition(*sources)
    begin, end = made.span
    steps, root = fastest(made.motion)
    most, most_root = np.max([[part.max() for part in fastest(s)] for s in sources], axis=0)
    assert max(steps[begin], steps[end - 1]) <= most
    assert steps[begin:end].max() <= STEP_ALLOWANCE * most
    assert root[begin:end].max() <= STEP_ALLOWANCE * most_root
    assert made.motion.n_frames > (end - begin)


def test_plants_of_one_take_are_found_in_another(clip):
    off = []
    for first, second in (("16_15", "16_16"), ("16_15", "16_31"), ("16_47", "16_58")):
        clips = [clip(first), clip(second)]
        plants = [ml.detect_footplants(c) for c in clips]
        curve = ml.register(clips, footplants=plants)
        room = 8 * clips[0].fps / FPS
        for kind, spans in plants[0].intervals().items():
            others = np.array([start for start, _ in plants[1].intervals()[kind] if start > 0])
            for start, _ in spans:
                u = curve.u_of(0, start)
                if start == 0 or np.isnan(u) or not len(others):
                    continue
                there = curve.frames(u)[1]
                if room <= there <= clips[1].n_frames - 1 - room:
                    off.append(np.abs(others - there).min() * FPS / clips[0].fps)
    assert len(off) >= 15
    assert np.median(off) < TAKE_FRAMES
