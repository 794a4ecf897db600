"""Guessing body roles: names speak first, the tree decides between them and fills what they leave.

Nothing here looks at the rest pose where names suffice, because some rigs' rest pose is no pose at
all (every bone along x). Without names, limbs are the pairs of branches of equal bone lengths.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.motion.body_names import JointName, read_name
from motionloom.motion.kinematics import forward_kinematics
from motionloom.motion.skeleton import Skeleton

__all__ = ["ARM", "LEG", "guess_roles", "rest_positions"]

LEG = ("hip", "knee", "ankle", "toe")
ARM = ("shoulder", "elbow", "wrist")

SIDE_PAIR_TOLERANCE = 0.2
"""Two branches may be a left and a right one where their lengths differ by less than this."""


def rest_positions(skeleton: Skeleton) -> FloatArray:
    """Every joint of the rest pose with the root at the origin. Shape (J, 3)."""
    positions, _ = forward_kinematics(skeleton, np.zeros((1, 3)), skeleton.rest_quats[None])
    return np.asarray(positions[0])


class Tree:
    """A skeleton with what guessing asks of it again and again."""

    def __init__(self, skeleton: Skeleton, pose: FloatArray | None) -> None:
        self.skeleton = skeleton
        self.names: list[JointName] = [read_name(name) for name in skeleton.names]
        self.parents = [int(p) for p in skeleton.parents]
        self.children: list[list[int]] = [[] for _ in self.parents]
        for j, p in enumerate(self.parents):
            if p >= 0:
                self.children[p].append(j)
        self.depth = [0] * len(self.parents)
        for j, p in enumerate(self.parents):
            self.depth[j] = 0 if p < 0 else self.depth[p] + 1
        self.pose = rest_positions(skeleton) if pose is None else pose
        self.bone = np.linalg.norm(skeleton.offsets, axis=1)
        self.bone[0] = 0.0
        # Length of the longest way down from each joint, end sites included.
        self.reach = np.zeros(len(self.parents))
        for e, j in enumerate(skeleton.end_parents):
            self.reach[j] = max(self.reach[j], float(np.linalg.norm(skeleton.end_offsets[e])))
        for j in range(len(self.parents) - 1, 0, -1):
            p = self.parents[j]
            self.reach[p] = max(self.reach[p], self.bone[j] + self.reach[j])

    def up(self, joint: int) -> list[int]:
        """The joint and its ancestors, nearest first."""
        path = [joint]
        while self.parents[path[-1]] >= 0:
            path.append(self.parents[path[-1]])
        return path

    def common(self, a: int, b: int) -> int:
        """Deepest joint above (or at) both."""
        while a != b:
            if self.depth[a] >= self.depth[b]:
                a = self.parents[a]
            else:
                b = self.parents[b]
        return a

    def between(self, above: int, below: int) -> list[int]:
        """Joints strictly under ``above`` down to ``below``, or [] if it is not an ancestor."""
        path = self.up(below)
        return path[: path.index(above)][::-1] if above in path else []


def guess_roles(skeleton: Skeleton, pose: FloatArray | None = None) -> dict[str, object]:
    """Joint of every role that was found; ``spine`` is a tuple.

    Parameters
    ----------
    skeleton
        Any tree.
    pose : (J, 3), optional
        World positions of a frame, Y up, to tell sides and legs apart where names do not; the
        rest pose by default.
    """
    tree = Tree(skeleton, pose)
    found: dict[str, object] = {}
    limbs: dict[str, dict[str, int]] = {}
    for side in ("left", "right"):
        for kind, roles in (("leg", LEG), ("arm", ARM)):
            limbs[f"{side} {kind}"] = _limb_by_names(tree, side, roles)
    _fill_by_topology(tree, limbs)
    for limb, joints in limbs.items():
        side = limb.split()[0]
        found.update({f"{side}_{role}": joint for role, joint in joints.items()})
    found.update(_centre(tree, limbs))
    return found


def _limb_by_names(tree: Tree, side: str, roles: tuple[str, ...]) -> dict[str, int]:
    """Best chain of named joints, each below the one before; roles may be left out."""
    n = len(tree.parents)
    # best[k][j]: best score of a chain that ends with role k at joint j; above[k][j]: the best end
    # among j's ancestors for roles before k.
    best = [[0.0] * n for _ in roles]
    above: list[list[int]] = [[-1] * n for _ in range(len(roles) + 1)]
    above_role: list[list[int]] = [[-1] * n for _ in range(len(roles) + 1)]
    back: dict[tuple[int, int], tuple[int, int]] = {}
    top: tuple[float, int, int] = (0.0, -1, -1)
    for j in range(n):
        p = tree.parents[j]
        name = tree.names[j]
        for k in range(1, len(roles) + 1):
            if p < 0:
                continue
            a, r = above[k][p], above_role[k][p]
            here = best[k - 1][p]
            known = best[r][a] if a >= 0 else 0.0
            if above[k - 1][p] >= 0 and k > 1:
                a2, r2 = above[k - 1][p], above_role[k - 1][p]
                if best[r2][a2] > known:
                    a, r, known = a2, r2, best[r2][a2]
            if here > known:  # equal scores: the joint nearer the body keeps the role
                a, r = p, k - 1
            above[k][j], above_role[k][j] = a, r
        if name.side != side or name.aside:
            continue
        for k, role in enumerate(roles):
            strength = name.roles.get(role, 0)
            if not strength:
                continue
            a, r = above[k][j], above_role[k][j]
            best[k][j] = strength + (best[r][a] if k and a >= 0 else 0.0)
            if k and a >= 0:
                back[k, j] = (r, a)
            if best[k][j] > top[0] + 1e-9:
                top = (best[k][j], k, j)
    chain: dict[str, int] = {}
    _, k, j = top
    while j >= 0:
        chain[roles[k]] = j
        k, j = back.get((k, j), (-1, -1))
    return dict(reversed(chain.items()))


def _fill_by_topology(tree: Tree, limbs: dict[str, dict[str, int]]) -> None:
    """Roles that names left open, in place."""
    for kind, roles in (("leg", LEG), ("arm", ARM)):
        pair = [limbs[f"left {kind}"], limbs[f"right {kind}"]]
        if not all(len(limb) >= 2 for limb in pair):
            continue
        for limb in pair:
            _fill_limb(tree, limb, roles)
    if all(len(limbs[f"{side} leg"]) < 2 for side in ("left", "right")):
        _limbs_by_topology(tree, limbs)


def _fill_limb(tree: Tree, limb: dict[str, int], roles: tuple[str, ...]) -> None:
    """A missing middle joint, and missing joints at the end, from the chain itself."""
    first, second, third = roles[:3]
    if first in limb and third in limb and second not in limb:
        path = tree.between(limb[first], limb[third])[:-1]
        if path:
            limb[second] = _most_even(tree, limb[first], limb[third], path)
    if second in limb and third in limb and first not in limb:
        # The start of the upper bone: the ancestor at about the lower bone's length.
        lower = _way(tree, limb[second], limb[third])
        candidates = [j for j in tree.up(limb[second])[1:] if j != 0]
        if candidates:
            limb[first] = min(candidates, key=lambda j: abs(_way(tree, j, limb[second]) - lower))
    if first in limb and second in limb and third not in limb:
        upper = _way(tree, limb[first], limb[second])
        below = _next_down(tree, limb[second], 0.3 * upper)
        if below is not None:
            limb[third] = below
    if len(roles) == 4 and third in limb and roles[3] not in limb:
        toe = _next_down(tree, limb[third], 0.0)
        if toe is not None:
            limb[roles[3]] = toe


def _next_down(tree: Tree, joint: int, at_least: float) -> int | None:
    """First joint down the longest branch that lies more than ``at_least`` away along the bones."""
    gone = 0.0
    while True:
        below = [c for c in tree.children[joint] if not tree.names[c].aside]
        if not below:
            return None
        joint = max(below, key=lambda c: tree.bone[c] + tree.reach[c])
        gone += float(tree.bone[joint])
        if gone > at_least:
            return joint


def _way(tree: Tree, above: int, below: int) -> float:
    return float(sum(tree.bone[j] for j in tree.between(above, below)))


def _most_even(tree: Tree, above: int, below: int, path: list[int]) -> int:
    whole = _way(tree, above, below)
    return min(path, key=lambda j: abs(_way(tree, above, j) - 0.5 * whole))


def _limbs_by_topology(tree: Tree, limbs: dict[str, dict[str, int]]) -> None:
    """Legs and arms of a skeleton whose names say nothing: two pairs of equal branches.

    The pair that branches off nearer the root is the legs, for motion files have the pelvis first.
    """
    pairs = sorted(_equal_branches(tree), key=lambda pair: -pair[0])
    if not pairs:
        return
    legs = pairs[0]
    rest = [p for p in pairs[1:] if not set(tree.up(p[1])) & {legs[1], legs[2]}]
    arms = next((p for p in rest if p[3] != legs[3] and p[0] > 0.25 * legs[0]), None)
    if arms is not None and arms[3] in tree.up(legs[3]):
        legs, arms = arms, legs
    for kind, roles, pair in (("leg", LEG, legs), ("arm", ARM, arms)):
        if pair is None:
            continue
        chains = [_main_chain(tree, pair[1], len(roles)), _main_chain(tree, pair[2], len(roles))]
        if kind == "leg" and not all(len(chain) >= 3 for chain in chains):
            return
        for side, chain in zip(("left", "right"), chains, strict=True):
            limbs[f"{side} {kind}"] = dict(zip(roles, chain, strict=False))
    _sort_sides(tree, limbs)


def _equal_branches(tree: Tree) -> list[tuple[float, int, int, int]]:
    """(length, child, child, parent) of the longest pair of alike branches at each joint."""
    out = []
    for joint, children in enumerate(tree.children):
        options = [c for c in children if not tree.names[c].aside and tree.reach[c] > 0]
        options.sort(key=lambda c: -tree.reach[c])
        for a, b in pairwise(options):
            longer, shorter = tree.reach[a], tree.reach[b]
            if longer - shorter <= SIDE_PAIR_TOLERANCE * longer and _alike(tree, a, b):
                out.append((float(shorter), a, b, joint))
                break
    return out


def _alike(tree: Tree, a: int, b: int) -> bool:
    """Whether two branches have the same first bones, so that head and arm are not paired."""
    first, second = _main_chain(tree, a, 3), _main_chain(tree, b, 3)
    if len(first) != len(second):
        return False
    bones_a, bones_b = tree.bone[first[1:]], tree.bone[second[1:]]
    return bool(
        np.all(np.abs(bones_a - bones_b) <= SIDE_PAIR_TOLERANCE * np.maximum(bones_a, 1e-9))
    )


def _main_chain(tree: Tree, joint: int, n: int) -> list[int]:
    """Up to ``n`` joints down the longest branch, without those that add next to no length."""
    whole = float(tree.reach[joint])
    chain = [joint]
    while len(chain) < n:
        step = _next_down(tree, chain[-1], 0.05 * whole)
        if step is None:
            break
        chain.append(step)
    return chain


def _sort_sides(tree: Tree, limbs: dict[str, dict[str, int]]) -> None:
    """Swap left and right where the pose says that the one called left is on the right."""
    left, right = limbs["left leg"], limbs["right leg"]
    pose = tree.pose
    across = pose[left["hip"]] - pose[right["hip"]]
    up = pose[left["hip"]] + pose[right["hip"]] - pose[left["ankle"]] - pose[right["ankle"]]
    ahead = np.zeros(3)
    for leg in (left, right):
        if "toe" in leg:
            ahead += pose[leg["toe"]] - pose[leg["ankle"]]
    # Left is up x ahead; without toes a figure is taken to face +Z with +Y up, so left is +X.
    towards_left = np.cross(up, ahead)
    size = np.linalg.norm(up) * np.linalg.norm(ahead)
    if size <= 0.0 or np.linalg.norm(towards_left) < 0.1 * size:
        towards_left = np.array([1.0, 0.0, 0.0])
    if across @ towards_left < 0.0:
        limbs["left leg"], limbs["right leg"] = right, left
    arms = limbs["left arm"], limbs["right arm"]
    if all(arms):
        across = pose[arms[0]["shoulder"]] - pose[arms[1]["shoulder"]]
        if across @ towards_left < 0.0:
            limbs["left arm"], limbs["right arm"] = arms[1], arms[0]


def _centre(tree: Tree, limbs: dict[str, dict[str, int]]) -> dict[str, object]:
    """Pelvis, spine, neck and head."""
    found: dict[str, object] = {}
    hips = [limb["hip"] for limb in (limbs["left leg"], limbs["right leg"]) if "hip" in limb]
    shoulders = [
        limb["shoulder"] for limb in (limbs["left arm"], limbs["right arm"]) if "shoulder" in limb
    ]
    head = _first_named(tree, "head")
    necks = [j for j, name in enumerate(tree.names) if name.roles.get("neck")]
    neck = None
    if head is not None:
        on_way = [j for j in tree.up(head) if j in necks]
        neck = on_way[-1] if on_way else None
    elif necks:
        neck = min(necks, key=lambda j: (tree.depth[j], tree.names[j].number, j))
        below = [j for j in necks if j != neck and neck in tree.up(j)]
        head = max(below, key=lambda j: tree.depth[j]) if below else None
    fork = tree.common(*shoulders) if len(shoulders) == 2 else None
    if fork is not None and (neck is None or head is None):
        neck, head = _neck_by_topology(tree, fork, shoulders, neck, head)

    upper = next((j for j in (neck, head, fork) if j is not None), None)
    pelvis = _pelvis(tree, hips, upper)
    if pelvis is not None:
        found["pelvis"] = pelvis
        stop = neck if neck is not None else head
        if stop is not None:
            found["spine"] = tuple(tree.between(pelvis, stop)[:-1])
        elif fork is not None:
            found["spine"] = tuple(tree.between(pelvis, fork))
    if neck is not None:
        found["neck"] = neck
    if head is not None:
        found["head"] = head
    return found


def _first_named(tree: Tree, role: str) -> int | None:
    named = [j for j, name in enumerate(tree.names) if name.roles.get(role)]
    return min(named, key=lambda j: (tree.depth[j], j)) if named else None


def _neck_by_topology(
    tree: Tree, fork: int, shoulders: list[int], neck: int | None, head: int | None
) -> tuple[int | None, int | None]:
    """Neck and head from what rises from the joint that carries both arms."""
    if head is not None:
        above = tree.between(fork, head)[:-1]
        return (above[0] if above and neck is None else neck), head
    if neck is not None:
        return neck, head  # a rig may stop at the neck
    arms = {c for c in tree.children[fork] for s in shoulders if c in tree.up(s)}
    rising = [
        c
        for c in tree.children[fork]
        if c not in arms and not tree.names[c].side and not tree.names[c].aside
    ]
    if not rising:
        return None, None
    chain = [max(rising, key=lambda c: tree.bone[c] + tree.reach[c])]
    while below := [
        c for c in tree.children[chain[-1]] if not tree.names[c].aside and not tree.names[c].side
    ]:
        chain.append(max(below, key=lambda c: tree.bone[c] + tree.reach[c]))
    return (chain[0], chain[-1]) if len(chain) > 1 else (None, chain[0])


def _pelvis(tree: Tree, hips: list[int], upper: int | None) -> int | None:
    """The joint that carries both legs and the spine: a named one above it if there is one."""
    if len(hips) == 2:
        joint = tree.common(*hips)
        if upper is not None:
            joint = tree.common(joint, upper)
        for j in tree.up(joint):
            if tree.names[j].roles.get("pelvis", 0) > 1:
                return j
        return joint
    named = [j for j, name in enumerate(tree.names) if name.roles.get("pelvis", 0) > 1]
    return min(named, key=lambda j: (tree.depth[j], j)) if named else None
