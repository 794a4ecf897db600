"""Which turns of the source drive each joint of the target."""

from __future__ import annotations

from dataclasses import dataclass

from motionloom.body.body_map import BodyMap
from motionloom.body.joint_names import read_name
from motionloom.body.neutral import SIDES, Stance, clavicles
from motionloom.motion.skeleton import Skeleton

LIMB_PARTS = ("hip", "knee", "ankle", "toe", "shoulder", "elbow", "wrist")


@dataclass(frozen=True, slots=True)
class Driver:
    """A joint turns as far as ``part`` of the way from one joint of the source to another."""

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


def _neck(skeleton: Skeleton, body: BodyMap) -> tuple[int, ...]:
    """Joints from the neck up to the head."""
    if body.head is None:
        return () if body.neck is None else (body.neck,)
    if body.neck is None:
        return (body.head,)
    chain = skeleton.chain(body.head)
    return chain[chain.index(body.neck) :] if body.neck in chain else (body.head,)


def _along(driven: tuple[int, ...], drivers: tuple[int, ...]) -> dict[int, Driver]:
    """Drivers of a chain, last to last; ``drivers[0]`` is what carries the source's chain."""
    if len(drivers) < 2:
        return {}
    out = {}
    for k, joint in enumerate(driven):
        at = (k + 1) * (len(drivers) - 1) / len(driven)
        below = min(int(at), len(drivers) - 2)
        out[joint] = Driver(drivers[below], drivers[below + 1], at - below)
    return out


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
