"""Corrupted clips: known faults put into a good clip, to measure what finds or repairs them."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.motion.motion import Motion, Skeleton, local_from_world
from motionloom.rotation import quat

REACH = 1e-4
"""A bone shorter than this has no direction to be turned, metres."""


def corrupt(
    motion: Motion,
    *,
    noise_m: float = 0.0,
    point_noise_m: float = 0.0,
    floor_slope: float = 0.0,
    travel: float = 1.0,
    seed: int = 0,
) -> Motion:
    """The motion with noise, a floor that drifts, and root travel that is scaled.

    Parameters
    ----------
    motion
        A clip of rigid bones.
    noise_m
        Noise of a solved skeleton: white noise on the root's position that displaces it by this
        much (root mean square), and white noise on every joint's rotation, the same angle for all,
        that displaces the joints by as much again about the root, averaged over all joints.
    point_noise_m
        Noise of single points: every coordinate of every joint gets an independent normal deviate
        of this size, the root is put there, and every bone is turned to point at its displaced end;
        joints that share a bone, as both shoulders do, follow it together.
        Harder than ``noise_m`` of the same size: it displaces joints by 1.7 times as much, and
        neighbours not at all alike.
    floor_slope
        Rise of the ground in metres per metre of root travel along the path.
    travel
        Factor on the root's way over the ground from the first frame on. At 1.15 a standing foot
        slides at 0.15 of the root's velocity.
    seed
        The same seed gives the same noise.
    """
    rng = np.random.Generator(np.random.PCG64(seed))
    root = np.array(motion.root_positions)
    steps = np.diff(root[:, [0, 2]], axis=0)
    way = np.concatenate([[0.0], np.cumsum(np.linalg.norm(steps, axis=-1))])
    root[:, [0, 2]] = root[0, [0, 2]] + travel * (root[:, [0, 2]] - root[0, [0, 2]])
    root[:, 1] += floor_slope * travel * way
    corrupted = motion.replace(root_positions=root)
    if noise_m > 0.0:
        corrupted = _with_jitter(corrupted, noise_m, rng)
    if point_noise_m > 0.0:
        corrupted = _with_point_noise(corrupted, point_noise_m, rng)
    return corrupted


def _with_jitter(motion: Motion, noise_m: float, rng: np.random.Generator) -> Motion:
    shape = motion.local_quats.shape[:2]
    turns = rng.standard_normal((*shape, 3))

    def turned(angle: float) -> Motion:
        noisy = quat.multiply(motion.local_quats, quat.exp(angle * turns))
        return motion.replace(local_quats=noisy)

    # Displacements grow in proportion to a small angle, so one trial tells the angle wanted.
    trial = 0.005
    moved = turned(trial).world_positions() - motion.world_positions()
    size = float(np.sqrt(np.mean(np.sum(moved**2, axis=-1))))
    jittered = turned(trial * noise_m / size) if size > 0.0 else motion
    shift = noise_m / np.sqrt(3.0) * rng.standard_normal((shape[0], 3))
    return jittered.replace(root_positions=motion.root_positions + shift)


def _with_point_noise(motion: Motion, noise_m: float, rng: np.random.Generator) -> Motion:
    skeleton = motion.skeleton
    positions, quats = motion.world_pose()
    ends = motion.end_positions()
    aims = positions + noise_m * rng.standard_normal(positions.shape)
    end_aims = ends + noise_m * rng.standard_normal(ends.shape)
    placed = np.array(positions)
    placed[:, 0] = aims[:, 0]
    turned = np.array(quats)
    offsets = skeleton.offsets if motion.joint_translations is None else motion.joint_translations
    for joint in range(skeleton.n_joints):
        pair = _bones(skeleton, offsets, joint, aims, end_aims)
        if pair is not None:
            bones, targets = pair
            turned[:, joint] = _turned(quats[:, joint], bones, targets - placed[:, joint, None])
        for child in skeleton.children(joint):
            offset = offsets[..., child, :]
            placed[:, child] = placed[:, joint] + quat.rotate(turned[:, joint], offset)
    return motion.replace(
        root_positions=placed[:, 0], local_quats=local_from_world(skeleton, turned)
    )


def _bones(
    skeleton: Skeleton, offsets: FloatArray, joint: int, aims: FloatArray, end_aims: FloatArray
) -> tuple[FloatArray, FloatArray] | None:
    """Offsets (F, B, 3) of what hangs on a joint, and where each should point (F, B, 3).

    None where nothing hangs on it.
    """
    n_frames = len(aims)
    bones, targets = [], []
    for child in skeleton.children(joint):
        bones.append(np.broadcast_to(offsets[..., child, :], (n_frames, 3)))
        targets.append(aims[:, child])
    for end in np.flatnonzero(skeleton.end_parents == joint):
        bones.append(np.broadcast_to(skeleton.end_offsets[end], (n_frames, 3)))
        targets.append(end_aims[:, end])
    long = [i for i, bone in enumerate(bones) if np.linalg.norm(bone, axis=-1).max() > REACH]
    if not long:
        return None
    return np.stack([bones[i] for i in long], axis=1), np.stack([targets[i] for i in long], axis=1)


def _turned(q_world: FloatArray, bones: FloatArray, targets: FloatArray) -> FloatArray:
    """``q_world`` turned as little as needed for its bones to point at the targets."""
    held = quat.rotate(q_world[:, None], bones)
    if bones.shape[1] == 1:
        return quat.multiply(quat.between_vectors(held[:, 0], targets[:, 0]), q_world)
    # Several bones: a few Gauss-Newton steps on the small turn that fits them best together.
    for _ in range(3):
        lever = np.einsum("fbc,fbc->f", held, held)[:, None, None] * np.eye(3)
        lever = lever - np.einsum("fbc,fbd->fcd", held, held)
        torque = np.sum(np.cross(held, targets), axis=1)
        # Bones on one line leave the turn about it open; the small term keeps it at none.
        small = 1e-6 * np.trace(lever, axis1=1, axis2=2)[:, None, None] * np.eye(3)
        turn = quat.exp(np.linalg.solve(lever + small, torque[..., None])[..., 0])
        q_world = quat.multiply(turn, q_world)
        held = quat.rotate(turn[:, None], held)
    return q_world
