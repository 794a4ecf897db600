"""Guess body roles: names speak first, the tree decides between them and fills what they leave.

Nothing here looks at the rest pose where names suffice, because some rigs' rest pose is no pose at
all (every bone along x).
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from motionloom._arrays import FloatArray
from motionloom._elementary import norm
from motionloom.body.joint_names import JointName, read_name
from motionloom.motion.kinematics import forward_kinematics
from motionloom.motion.skeleton import Skeleton, end_positions

LEG = ("hip", "knee", "ankle", "toe")
ARM = ("shoulder", "elbow", "wrist")
Limbs = dict[tuple[str, str], dict[str, int]]
"""Joints by role, per side and kind of limb: ``limbs["left", "leg"]["knee"]``."""
Roles = dict[str, Any]
"""Joint of every role that was found; of the spine a tuple."""


def guess_roles(skeleton: Skeleton, pose: Pose | None = None) -> Roles:
    """Joint of every role that was found.

    Parameters
    ----------
    skeleton
        Any tree.
    pose
        A frame, Y up, to tell left from right where names do not; the rest pose by default.
    """
    tree = Tree(skeleton, pose)
    limbs: Limbs = {
        (side, kind): _limb_by_names(tree, side, roles)
        for side in ("left", "right")
        for kind, roles in (("leg", LEG), ("arm", ARM))
    }
    for limb in limbs.values():
        if len(limb) >= 2:
            _fill_limb(tree, limb)
    if all(len(limbs[side, "leg"]) < 2 for side in ("left", "right")):
        by_bones = find_limbs_by_bones(tree)
        # The longest limbs of a body that ends at the hips are its arms, not its legs.
        if not _joints_of(limbs, "arm") & _joints_of(by_bones, "leg"):
            limbs.update(by_bones)
    limb_roles = {
        f"{side}_{role}": joint for (side, _), limb in limbs.items() for role, joint in limb.items()
    }
    return _each_joint_once(_centre(tree, limbs), limb_roles)


def _joints_of(limbs: Limbs, kind: str) -> set[int]:
    """Joints of both arms, or of both legs."""
    return {joint for (_, each), limb in limbs.items() if each == kind for joint in limb.values()}


def _each_joint_once(centre: Roles, limb_roles: dict[str, int]) -> Roles:
    """All roles, none of whose joints plays two: in trees that are no bodies, limbs come first."""
    roles: Roles = {}
    taken: set[int] = set()
    single = {role: centre.get(role) for role in ("pelvis", "head", "neck")}
    for role, joint in {**limb_roles, **single}.items():
        if isinstance(joint, int) and joint not in taken:
            roles[role] = joint
            taken.add(joint)
    roles["spine"] = tuple(j for j in centre.get("spine", ()) if j not in taken)
    return roles


def _limb_by_names(tree: Tree, side: str, roles: tuple[str, ...]) -> dict[str, int]:
    """Best chain of named joints, each below the one before; roles may be left out.

    ``carried[j][k]`` is the best (score, role, joint) that ends at ``j`` or above it with at most
    the ``k``-th role. Of equal ones the joint nearer the body is kept: ``thigh`` before its twist
    ``thigh.001``.
    """
    nothing = (0, -1, -1)
    carried: list[list[tuple[int, int, int]]] = []
    before: dict[tuple[int, int], tuple[int, int, int]] = {}
    top = nothing
    for j, name in enumerate(tree.names):
        parent = tree.parents[j]
        above = [nothing] * len(roles) if parent < 0 else carried[parent]
        here = list(above)
        for k, role in enumerate(roles):
            if k and here[k - 1][0] > here[k][0]:
                here[k] = here[k - 1]
            strength = name.roles.get(role, 0) if name.side == side else 0
            if not strength:
                continue
            earlier = above[k - 1] if k else nothing
            if strength + earlier[0] > here[k][0]:
                here[k] = (strength + earlier[0], k, j)
                before[k, j] = earlier
        carried.append(here)
        if here[-1][0] > top[0]:
            top = here[-1]
    chain: list[tuple[str, int]] = []
    while top[2] >= 0:
        chain.append((roles[top[1]], top[2]))
        top = before[top[1], top[2]]
    return dict(reversed(chain))


def _fill_limb(tree: Tree, limb: dict[str, int]) -> None:
    """Add joints that names left open, from the chain itself, in place."""
    is_leg = bool({*limb} & {*LEG})
    first, second, third = (LEG if is_leg else ARM)[:3]
    if first in limb and third in limb and second not in limb:
        path = tree.between(limb[first], limb[third])[:-1]
        half = 0.5 * tree.way(limb[first], limb[third])
        if path:
            limb[second] = min(path, key=lambda j: abs(tree.way(limb[first], j) - half))
    if second in limb and third in limb and first not in limb:
        lower = tree.way(limb[second], limb[third])
        path = [j for j in tree.up(limb[second])[1:] if j != 0]
        if path:
            limb[first] = min(path, key=lambda j: abs(tree.way(j, limb[second]) - lower))
    if first in limb and second in limb and third not in limb:
        # Far enough not to be a twist joint of the lower bone.
        end = tree.next_down(limb[second], 0.3 * tree.way(limb[first], limb[second]))
        if end is not None:
            limb[third] = end
    if is_leg and "ankle" in limb and "toe" not in limb:
        toe = tree.next_down(limb["ankle"], 0.0)
        if toe is not None:
            limb["toe"] = toe


def _centre(tree: Tree, limbs: Limbs) -> Roles:
    """Pelvis, spine, neck and head."""
    hips = [limbs[side, "leg"]["hip"] for side in ("left", "right") if "hip" in limbs[side, "leg"]]
    shoulders = [
        limbs[side, "arm"]["shoulder"]
        for side in ("left", "right")
        if "shoulder" in limbs[side, "arm"]
    ]
    fork = tree.common(*shoulders) if len(shoulders) == 2 else None
    neck, head = _neck_and_head(tree, fork, shoulders)
    top = next((j for j in (neck, head, fork) if j is not None), None)
    pelvis = _pelvis(tree, hips, top)
    roles: Roles = {}
    if pelvis is not None:
        roles["pelvis"] = pelvis
        path = [] if top is None else tree.between(pelvis, top)
        roles["spine"] = tuple(path if neck is None and head is None else path[:-1])
    if neck is not None:
        roles["neck"] = neck
    if head is not None:
        roles["head"] = head
    return roles


def _neck_and_head(
    tree: Tree, fork: int | None, shoulders: list[int]
) -> tuple[int | None, int | None]:
    """Neck and head by name, or else what rises from the joint that carries both arms."""
    heads = [j for j, name in enumerate(tree.names) if name.roles.get("head")]
    necks = [j for j, name in enumerate(tree.names) if name.roles.get("neck")]
    nearest = min(necks, key=lambda j: (tree.depth[j], j), default=None)
    if heads:
        head = min(heads, key=lambda j: (tree.depth[j], j))
        on_way = [j for j in reversed(tree.up(head)[1:]) if j in set(necks)]
        if not on_way and fork is not None:
            on_way = tree.between(fork, head)[:-1]
        return (on_way[0] if on_way else None), head
    if nearest is not None:
        # Several necks and no head: the last is the head. One neck: the rig stops there.
        deepest = max(necks, key=lambda j: tree.depth[j])
        return nearest, deepest if nearest in tree.up(deepest)[1:] else None
    if fork is None:
        return None, None
    arms = {c for s in shoulders for c in tree.between(fork, s)[:1]}
    chain: list[int] = []
    rising = [c for c in tree.children[fork] if c not in arms]
    while rising := [c for c in rising if not (tree.names[c].off_chain or tree.names[c].side)]:
        if chain and len(rising) > 1:
            break  # eyes and jaw: the joint that carries them is the head
        chain.append(tree.longest(rising))
        rising = tree.children[chain[-1]]
    if len(chain) > 2 and tree.reach[chain[-1]] == 0.0 and tree.skeleton.end_parents.size:
        chain.pop()  # other bones end in end sites, so this joint marks the top of the head
    if not chain:
        return None, None
    return (chain[0], chain[-1]) if len(chain) > 1 else (None, chain[0])


def _pelvis(tree: Tree, hips: list[int], top: int | None) -> int | None:
    """The joint that carries both legs and the spine: a named one above it if there is one."""
    if len(hips) == 2:
        joint = tree.common(*hips)
        if top is not None:
            joint = tree.common(joint, top)
        for j in tree.up(joint):
            if tree.names[j].roles.get("pelvis", 0) > 1:
                return j
        return joint
    named = [j for j, name in enumerate(tree.names) if name.roles.get("pelvis", 0) > 1]
    return min(named, key=lambda j: (tree.depth[j], j), default=None)


# --- Limbs of a skeleton whose names say nothing: pairs of branches of equal bones

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


# --- The tree of joints: paths up and down, lengths, a pose

Pose = tuple[FloatArray, FloatArray]
"""World positions (J, 3) and rotations (J, 4) of one frame."""


def rest_pose(skeleton: Skeleton) -> Pose:
    """The rest pose with the root at the origin."""
    pose = forward_kinematics(skeleton, np.zeros((1, 3)), skeleton.rest_quats[None])
    return pose[0][0], pose[1][0]


class Tree:
    """A skeleton with its names read, its bones measured, and one pose."""

    def __init__(self, skeleton: Skeleton, pose: Pose | None) -> None:
        self.skeleton = skeleton
        self.names: list[JointName] = [read_name(name) for name in skeleton.names]
        self.parents = [int(p) for p in skeleton.parents]
        self.children: list[list[int]] = [[] for _ in self.parents]
        self.depth = [0] * len(self.parents)
        for j, p in enumerate(self.parents):
            if p >= 0:
                self.children[p].append(j)
                self.depth[j] = self.depth[p] + 1
        self._pose = pose
        self.bone = np.linalg.norm(skeleton.offsets, axis=1)
        self.bone[0] = 0.0
        # Length of the longest way down from each joint, end sites included.
        self.reach = np.zeros(len(self.parents))
        for e, j in enumerate(skeleton.end_parents):
            self.reach[j] = max(self.reach[j], norm(skeleton.end_offsets[e]))
        for j in range(len(self.parents) - 1, 0, -1):
            p = self.parents[j]
            self.reach[p] = max(self.reach[p], self.bone[j] + self.reach[j])

    @property
    def pose(self) -> Pose:
        """The pose given, or else the rest pose."""
        if self._pose is None:
            self._pose = rest_pose(self.skeleton)
        return self._pose

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
        """Joints strictly under ``above`` down to ``below``; [] if it is not an ancestor."""
        path = self.up(below)
        return path[: path.index(above)][::-1] if above in path else []

    def way(self, above: int, below: int) -> float:
        """Length of the bones from one joint down to another."""
        return float(sum(self.bone[j] for j in self.between(above, below)))

    def longest(self, joints: list[int]) -> int:
        """The one of several children whose branch reaches farthest."""
        return max(joints, key=lambda j: self.bone[j] + self.reach[j])

    def next_down(self, joint: int, at_least: float) -> int | None:
        """First joint down the longest branch more than ``at_least`` away along the bones."""
        gone = 0.0
        while below := [c for c in self.children[joint] if not self.names[c].off_chain]:
            joint = self.longest(below)
            gone += float(self.bone[joint])
            if gone > at_least:
                return joint
        return None

    def tip(self, joint: int) -> FloatArray:
        """World position of the end of the joint's bone: the next joint, or an end site."""
        positions, quats = self.pose
        below = self.next_down(joint, 0.0)
        if below is not None:
            return np.asarray(positions[below])
        ends = np.flatnonzero(self.skeleton.end_parents == joint)
        if not ends.size:
            return np.asarray(positions[joint])
        placed = end_positions(self.skeleton, positions[None], quats[None])
        return np.asarray(placed[0, ends[0]])
