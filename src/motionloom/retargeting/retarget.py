"""Retarget: a motion carried over to another skeleton by body roles, its foot plants kept."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, flag, of_kind
from motionloom.body.anatomy import Knee, find_knees
from motionloom.body.body_map import BodyMap, facing_of_positions, roles_for
from motionloom.body.joint_names import read_name
from motionloom.body.neutral import LEFT, SIDES, Stance, clavicles, neutral_stance
from motionloom.body.root_motion import travel_on_pelvis, travel_on_root
from motionloom.cleanup.solve import Leg, calm_legs, limits_of
from motionloom.features.footplants.detect import detect_footplants
from motionloom.features.glitches.repair import repair_capture
from motionloom.findings import Finding
from motionloom.formats.character import Character
from motionloom.motion.motion import (
    Footplants,
    Motion,
    Skeleton,
    contacts_for,
    forward_kinematics,
    local_from_world,
    solve_limb,
)
from motionloom.motion.provenance import Source
from motionloom.retargeting.placement import (
    Placement,
    ankle_path,
    between_hips,
    drop_to_reach,
    held_reach,
    place,
    with_heels_of,
)
from motionloom.retargeting.retarget_check import verify_retarget
from motionloom.rotation import quat
from motionloom.rotation.quat import PlanarTransform

SAME_M = 1e-9
"""Skeletons whose joints agree to this are the same, metres."""
SLIDES_M = 1e-3
"""A pelvis that moves farther than this in the bone above it slides."""
LEGS = tuple(f"{side}_{role}" for side in ("left", "right") for role in ("hip", "knee", "ankle"))
EASE_S = 0.3
"""A hip comes down to let a leg reach within this time, and goes up again within it."""
LONGEST_EASE = 1000
"""Most frames of that time in a clip that has fewer frames than it."""
LIMB_PARTS = ("hip", "knee", "ankle", "toe", "shoulder", "elbow", "wrist")


def retarget(
    motion: Motion,
    skeleton: Skeleton | Motion | Character,
    *,
    body: BodyMap | None = None,
    target_body: BodyMap | None = None,
    footplants: Footplants | None = None,
    repair_knees: bool = True,
) -> Motion:
    """The motion on another skeleton, with that skeleton's own proportions.

    Every bone with a body role keeps its direction. Travel and heights are scaled by the legs'
    lengths, from the place of the first frame on the ground. Planted feet stay planted, by inverse
    kinematics of the legs. Joints that the source does not have keep their rest rotation.

    Parameters
    ----------
    motion
        With pelvis, hips, knees and ankles at least.
    skeleton
        The target, or a clip on it: if the target has no usable rest pose (every bone along one
        axis), a clip shows how its joints are twisted, which a skeleton alone does not. Or a
        character, of :func:`load_character`.
    body, target_body
        Roles of the source's and of the target's joints; guessed by default.
    footplants
        Which foot points are planted, per frame of the motion; detected by default.
    repair_knees
        Bend knees that were captured bent backwards forwards, and keep knees on the side that
        anatomy gives them. False keeps the side that each knee has.

    Returns
    -------
    Motion
        Same frames and rate, rigid bones. The motion itself where the skeletons are the same.
        What was repaired and every failed quality check is in ``source.findings``.
        Where the target is a clip whose pelvis slides under a root bone, the root bone lies still
        or travels as in that clip, and only the pelvis slides.

    Examples
    --------
    >>> from motionloom import synthetic
    >>> clip = synthetic.clip("walk").motion
    >>> retarget(clip, clip.skeleton) is clip
    True
    """
    of_kind(motion, Motion, "motion")
    if isinstance(skeleton, Character):
        skeleton = skeleton.motion if skeleton.motion.n_frames > 1 else skeleton.skeleton
    example = skeleton if isinstance(skeleton, Motion) else None
    target_skeleton = skeleton.skeleton if isinstance(skeleton, Motion) else skeleton
    of_kind(target_skeleton, Skeleton, "skeleton")
    if _same(motion.skeleton, target_skeleton):
        return motion
    repair_knees = flag(repair_knees, "repair_knees")
    body = roles_for(motion.skeleton, body, motion=motion)
    target_body = roles_for(target_skeleton, target_body, motion=example)
    body.require(*LEGS, task="retargeting", skeleton=motion.skeleton)
    target_body.require(*LEGS, task="retargeting onto it", skeleton=target_skeleton)
    if footplants is None:
        footplants = detect_footplants(motion, body=body)
    contacts_for(footplants, motion.n_frames)
    knees = None
    if repair_knees:
        knees = find_knees(motion.skeleton, body, motion=motion)
    repaired = repair_capture(motion, body=body, knees=repair_knees)
    motion = repaired.motion
    source = neutral_stance(motion.skeleton, body, motion, footplants.planted)
    seen = None if example is None else detect_footplants(example, body=target_body).planted
    target = neutral_stance(target_skeleton, target_body, example, seen)
    target = with_heels_of(source, target)
    carried = _carry_over(motion, source, target, footplants.planted, knees)
    carried = _with_findings(carried, motion, repaired.notes, footplants, source, target)
    if example is None or not _pelvis_slides(example, target_body):
        return carried
    led = travel_on_root(carried, body=target_body)
    return travel_on_pelvis(led, like=example, body=target_body)


def _same(a: Skeleton, b: Skeleton) -> bool:
    return a is b or (
        a.same_joints(b)
        and bool(np.allclose(a.offsets, b.offsets, rtol=0.0, atol=SAME_M))
        and bool(np.allclose(np.abs(np.sum(a.rest_quats * b.rest_quats, axis=-1)), 1.0))
    )


def _carry_over(
    motion: Motion,
    source: Stance,
    target: Stance,
    planted: BoolArray,
    knees: tuple[Knee, Knee] | None,
) -> Motion:
    positions, world = motion.world_pose()
    # Thighs point where they pointed, so knees do: the source's poles are the target's.
    poles = None
    if knees is not None:
        poles = [quat.rotate(world[:, knee.hip], knee.pole) for knee in knees]
    heading = float(facing_of_positions(positions[:1], source.body)[0])
    quats = _turned_joints(source, target, world, heading)
    placed = place(source, target, positions, world, planted)

    local = local_from_world(target.skeleton, quats)
    own, _ = forward_kinematics(target.skeleton, np.zeros_like(placed.hips), local)
    root = placed.hips - between_hips(own, target.body)
    before = Motion(
        target.skeleton,
        root,
        local,
        motion.fps,
        name=motion.name,
        source=Source(path=motion.source.path, clip=motion.source.clip),
    )
    root, quats = _legs_to_feet(target, root, quats, placed, planted, poles, motion.fps)
    carried = before.replace(
        root_positions=root, local_quats=local_from_world(target.skeleton, quats)
    )
    return carried if knees is None else _calmed(before, carried, target.body)


def _turned_joints(source: Stance, target: Stance, world: FloatArray, heading: float) -> FloatArray:
    """World rotations (F, J, 4) of the target: turned from neutral as the source is."""
    turns = quat.multiply(world, quat.conjugate(source.quats))
    drivers = match_joints(source, target)
    # Joints above the pelvis only face as the body does in the first frame.
    facing = PlanarTransform(heading, 0.0, 0.0).quat()
    out = np.zeros((len(world), target.skeleton.n_joints, 4))
    for j in range(target.skeleton.n_joints):
        parent = int(target.skeleton.parents[j])
        if j in drivers:
            driver = drivers[j]
            out[:, j] = quat.slerp(turns[:, driver.below], turns[:, driver.above], driver.part)
        else:
            out[:, j] = facing if parent < 0 else out[:, parent]
    return quat.multiply(out, target.quats)


@dataclass(frozen=True, slots=True)
class Driver:
    """A joint turns by the share ``part`` from one joint of the source to another."""

    below: int
    above: int
    part: float


def match_joints(source: Stance, target: Stance) -> dict[int, Driver]:
    """The driver of each target joint that has one; the others go with their parents.

    Roles are matched one to one. Chains (spine, neck to head, clavicles) are matched end to end,
    and joints in between take turns in between, so that five spine joints bend as far as two.
    """
    a, b = source.body, target.body
    assert a.pelvis is not None
    assert b.pelvis is not None
    drivers = {b.pelvis: Driver(a.pelvis, a.pelvis, 0.0)}
    drivers.update(_along(b.spine, (a.pelvis, *a.spine)))
    trunk = a.spine[-1] if a.spine else a.pelvis
    drivers.update(_along(_neck(target.skeleton, b), (trunk, *_neck(source.skeleton, a))))
    for side, _ in SIDES:
        own = clavicles(source.skeleton, a, side)
        drivers.update(_along(clavicles(target.skeleton, b, side), (trunk, *own)))
        for part in LIMB_PARTS:
            driver, driven = getattr(a, f"{side}_{part}"), getattr(b, f"{side}_{part}")
            if driver is not None and driven is not None:
                drivers[driven] = Driver(driver, driver, 0.0)
    if source.rests_standing and target.rests_standing:
        drivers.update(_by_name(source.skeleton, target.skeleton, drivers))
    return drivers


def _along(driven: tuple[int, ...], drivers: tuple[int, ...]) -> dict[int, Driver]:
    """Drivers of a chain, last to last; ``drivers[0]`` carries the source's chain."""
    if len(drivers) < 2:
        return {}
    out = {}
    for k, joint in enumerate(driven):
        at = (k + 1) * (len(drivers) - 1) / len(driven)
        below = min(int(at), len(drivers) - 2)
        out[joint] = Driver(drivers[below], drivers[below + 1], at - below)
    return out


def _neck(skeleton: Skeleton, body: BodyMap) -> tuple[int, ...]:
    """Joints from the neck up to the head."""
    if body.head is None:
        return () if body.neck is None else (body.neck,)
    if body.neck is None:
        return (body.head,)
    chain = skeleton.chain(body.head)
    return chain[chain.index(body.neck) :] if body.neck in chain else (body.head,)


def _by_name(source: Skeleton, target: Skeleton, matched: dict[int, Driver]) -> dict[int, Driver]:
    """Joints without a role (fingers, twists) that both rigs call the same."""
    used = {driver.above for driver in matched.values()} | {d.below for d in matched.values()}
    joints = {}
    for j, name in enumerate(source.names):
        parsed = read_name(name)
        joints[parsed.side, parsed.key] = j
    out = {}
    for j, name in enumerate(target.names):
        parsed = read_name(name)
        driver = joints.get((parsed.side, parsed.key))
        under_body = any(above in matched for above in target.chain(j))
        if driver is not None and j not in matched and driver not in used and under_body:
            out[j] = Driver(driver, driver, 0.0)
    return out


def _legs_to_feet(
    target: Stance,
    root: FloatArray,
    quats: FloatArray,
    placed: Placement,
    planted: BoolArray,
    poles: list[FloatArray] | None,
    fps: float,
) -> tuple[FloatArray, FloatArray]:
    """Root positions and world rotations with both ankles led along their paths."""
    skeleton, body = target.skeleton, target.body
    positions, _ = forward_kinematics(skeleton, root, local_from_world(skeleton, quats))
    paths, drop = [], np.zeros(len(root))
    for k, (side, _) in enumerate(SIDES):
        hip, knee, ankle = body.require(
            f"{side}_hip", f"{side}_knee", f"{side}_ankle", task="retargeting"
        )
        stands = planted[:, 2 * k : 2 * k + 2]
        sideways = positions[:, hip] - placed.sockets[:, k]
        sideways[:, 1] = 0.0
        path = ankle_path(
            (placed.ankles[:, k], placed.points[:, 2 * k], placed.points[:, 2 * k + 1]),
            stands,
            target.feet[k],
            quats[:, ankle],
            sideways,
            float(placed.floors[k]),
            fps,
        )
        reach = held_reach(positions[:, hip], positions[:, knee], positions[:, ankle])
        drop = np.maximum(
            drop, drop_to_reach(positions[:, hip], path, reach, stands[:, 0] | stands[:, 1])
        )
        paths.append((hip, knee, ankle, path))
    lowered = np.zeros_like(root)
    lowered[:, 1] = _smooth_over(drop, max(1, round(EASE_S * fps)))
    out = np.array(quats)
    across = quat.rotate(
        quat.multiply(quats[:, body.pelvis], quat.conjugate(target.quats[body.pelvis])), LEFT
    )
    for k, (hip, knee, ankle, path) in enumerate(paths):
        top, middle, end = (positions[:, j] - lowered for j in (hip, knee, ankle))
        pole = None if poles is None else poles[k]
        solved = solve_limb(top, middle, end, path, across, pole=pole)
        for j in range(hip, skeleton.n_joints):
            chain = skeleton.chain(j)
            if hip in chain and ankle not in chain:
                turn = solved.q_lower if knee in chain else solved.q_upper
                out[:, j] = quat.multiply(turn, quats[:, j])
    return root - lowered, out


def _smooth_over(values: FloatArray, n: int) -> FloatArray:
    """A smooth curve (F,) that is nowhere below ``values``, each felt ``n`` frames around."""
    if not values.any():
        return values
    n = min(n, max(len(values), LONGEST_EASE))
    padded = np.pad(values, n, mode="edge")
    windows = np.lib.stride_tricks.sliding_window_view(padded, 2 * n + 1)
    highest = np.pad(windows.max(axis=1), n, mode="edge")
    bell = np.hanning(2 * n + 3)[1:-1]
    return np.convolve(highest, bell / bell.sum(), mode="valid")


def _calmed(before: Motion, after: Motion, body: BodyMap) -> Motion:
    """The motion whose legs turn no faster than before they were led to their feet."""
    positions = before.world_positions()
    legs = []
    for side, _ in SIDES:
        hip, knee, ankle, toe = (
            getattr(body, f"{side}_{role}") for role in ("hip", "knee", "ankle", "toe")
        )
        legs.append(Leg((hip, knee, ankle, toe), positions[:, knee]))
    return calm_legs(before, after, after.world_pose(), limits_of(before, before, legs))[0]


def _with_findings(
    carried: Motion,
    motion: Motion,
    notes: tuple[str, ...],
    footplants: Footplants,
    stance: Stance,
    target: Stance,
) -> Motion:
    """The motion whose source says what was repaired and which quality checks it fails."""
    findings = [Finding("note", "source", f"{note}.") for note in notes]
    checked = verify_retarget(carried, motion, footplants, stance, target)
    findings += [
        Finding("warning", f"frame {each.frame}", f"failed check: {each}.")
        for each in checked.failed
    ]
    if not findings:
        return carried
    return carried.replace(source=dataclasses.replace(carried.source, findings=tuple(findings)))


def _pelvis_slides(motion: Motion, body: BodyMap) -> bool:
    """Whether the pelvis moves in a bone above it."""
    moving = motion.joint_translations
    chain = list(motion.skeleton.chain(body.pelvis or 0)[1:])
    if moving is None or not chain:
        return False
    return bool(np.ptp(moving[:, chain], axis=0).max() > SLIDES_M)
