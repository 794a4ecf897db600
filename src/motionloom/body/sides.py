"""Left and right partners: which joint is each joint's mirror image."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from motionloom._arrays import IntArray
from motionloom.body.body_map import BodyMap
from motionloom.body.guess import guess_roles
from motionloom.body.joint_names import read_name
from motionloom.body.topology import ARM, LEG
from motionloom.motion.skeleton import Skeleton


def pair_sides(skeleton: Skeleton, *, body: BodyMap | None = None) -> IntArray:
    """Each joint's mirror partner, itself where it is central or has none. Shape (J,).

    The joints of one role are partners, with those over them up to where both sides meet; so are
    names that differ in nothing but the side, and then the children of partners, one by one, where
    both have equally many.
    """
    partner = np.arange(skeleton.n_joints)
    free = np.ones(skeleton.n_joints, dtype=bool)

    def marry(a: int, b: int) -> None:
        if a != b and free[a] and free[b]:
            partner[a], partner[b] = b, a
            free[a] = free[b] = False

    # Roles first: numbers in names may run up one arm and down the other.
    guessed = guess_roles(skeleton) if body is None else {}
    for role in (*LEG, *ARM):
        left, right = (
            guessed.get(f"{side}_{role}") if body is None else getattr(body, f"{side}_{role}")
            for side in ("left", "right")
        )
        if isinstance(left, int) and isinstance(right, int):
            # Up to where both sides meet: the clavicles over the arms.
            both = zip(*(skeleton.chain(j)[::-1] for j in (left, right)), strict=False)
            for a, b in both:
                if a in skeleton.chain(b) or b in skeleton.chain(a):
                    break
                marry(a, b)
    names = [read_name(name) for name in skeleton.names]
    groups: dict[tuple[str, ...], dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for j, name in enumerate(names):
        if name.side:
            groups[name.key][name.side].append(j)
    for group in groups.values():
        if len(group["left"]) == len(group["right"]) == 1:
            marry(group["left"][0], group["right"][0])
    # Parents come first, so partners are found before their children are looked at.
    for a in range(skeleton.n_joints):
        b = int(partner[a])
        if b <= a:
            continue
        own = [c for c in skeleton.children(a) if free[c]]
        other = [c for c in skeleton.children(b) if free[c]]
        if len(own) == len(other):
            for c, d in zip(own, other, strict=True):
                if names[c].side != names[d].side or not names[c].side:
                    marry(c, d)
    return partner
