"""Limbs of a skeleton whose names say nothing: pairs of branches of equal bones."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from motionloom.body.joint_tree import Tree

LEG = ("hip", "knee", "ankle", "toe")
ARM = ("shoulder", "elbow", "wrist")

Limbs = dict[tuple[str, str], dict[str, int]]
"""Joints by role, per side and kind of limb: ``limbs["left", "leg"]["knee"]``."""

PAIR_TOLERANCE = 0.2
"""Two branches may be a left and a right one where their lengths differ by less than this."""
SHORTEST_ARM = 0.25
"""An arm is at least this part of a leg: a pair of fingers is not."""


def find_limbs_by_bones(tree: Tree) -> Limbs:
    """Legs and arms, or an empty dict where no two pairs of branches look like limbs.

    The pair that branches off nearer the root is the legs, for motion files have the pelvis first.
    Left and right follow from which way the feet point in the tree's pose.
    """
    pairs = sorted(_equal_branches(tree), key=lambda pair: -pair[0])
    if not pairs:
        return {}
    legs = pairs[0]
    apart = [p for p in pairs[1:] if p[3] != legs[3] and not {*legs[1:3]} & {*tree.up(p[3])}]
    arms = next((p for p in apart if p[0] > SHORTEST_ARM * legs[0]), None)
    if arms is not None and arms[3] in tree.up(legs[3]):
        legs, arms = arms, legs
    limbs: Limbs = {}
    for kind, roles, pair in (("leg", LEG, legs), ("arm", ARM, arms)):
        if pair is None:
            continue
        chains = [_two_long_bones(tree, branch) for branch in pair[1:3]]
        if not all(len(chain) >= 3 for chain in chains):
            if kind == "leg":
                return {}
            continue
        for side, chain in zip(("left", "right"), chains, strict=True):
            limbs[side, kind] = dict(zip(roles, chain, strict=False))
    _sort_sides(tree, limbs)
    return limbs


def _equal_branches(tree: Tree) -> list[tuple[float, int, int, int]]:
    """(length, child, child, parent) of the longest pair of alike branches at each joint."""
    out = []
    for joint, children in enumerate(tree.children):
        options = [c for c in children if not tree.names[c].off_chain and tree.reach[c] > 0]
        options.sort(key=lambda c: -tree.reach[c])
        for a, b in pairwise(options):
            longer, shorter = tree.reach[a], tree.reach[b]
            if longer - shorter <= PAIR_TOLERANCE * longer and _alike(tree, a, b):
                out.append((float(shorter), a, b, joint))
                break
    return out


def _alike(tree: Tree, a: int, b: int) -> bool:
    """Whether two branches have the same first bones, so that head and arm are not paired."""
    first, second = _main_chain(tree, a, 3), _main_chain(tree, b, 3)
    if len(first) != len(second):
        return False
    bones = np.array([[tree.way(*ends) for ends in pairwise(c)] for c in (first, second)])
    return bool(np.all(np.abs(bones[0] - bones[1]) <= PAIR_TOLERANCE * bones.max(axis=0)))


def _main_chain(tree: Tree, joint: int, most: int) -> list[int]:
    """Joints down the longest branch, without those that add next to no length."""
    least = 0.02 * float(tree.reach[joint])
    chain = [joint]
    while len(chain) < most and (step := tree.next_down(chain[-1], least)) is not None:
        chain.append(step)
    return chain


def _two_long_bones(tree: Tree, joint: int) -> list[int]:
    """A limb's three joints (and the next) where its shorter long bone is as long as can be.

    That passes over the clavicle before an upper arm and the hand after a forearm.
    """
    chain = _main_chain(tree, joint, 8)
    if len(chain) < 3:
        return chain
    bones = [tree.way(above, below) for above, below in pairwise(chain)]
    best = max(range(len(bones) - 1), key=lambda i: (min(bones[i], bones[i + 1]), -i))
    # Spacers of little length before the bone: the last of them carries it.
    path = tree.between(chain[best], chain[best + 1])
    return [path[-2] if len(path) > 1 else chain[best], *chain[best + 1 : best + 4]]


def _sort_sides(tree: Tree, limbs: Limbs) -> None:
    """Swap left and right, in place, where the pose says that left is on the right."""
    left, right = limbs["left", "leg"], limbs["right", "leg"]
    at = tree.pose[0]
    up = at[left["hip"]] + at[right["hip"]] - at[left["ankle"]] - at[right["ankle"]]
    ahead = np.zeros(3)
    for leg in (left, right):
        ahead += tree.tip(leg["ankle"]) - at[leg["ankle"]]
    # Left is up x ahead; without toes a figure is taken to face +Z with +Y up, so left is +X.
    towards_left = np.cross(up, ahead)
    size = np.linalg.norm(up) * np.linalg.norm(ahead)
    if size <= 0.0 or np.linalg.norm(towards_left) < 0.1 * size:
        towards_left = np.array([1.0, 0.0, 0.0])
    for kind, first in (("leg", "hip"), ("arm", "shoulder")):
        if ("left", kind) not in limbs:
            continue
        left, right = limbs["left", kind], limbs["right", kind]
        if (at[left[first]] - at[right[first]]) @ towards_left < 0.0:
            limbs["left", kind], limbs["right", kind] = right, left
