"""Guessing body roles: names speak first, the tree decides between them and fills what they leave.

Nothing here looks at the rest pose where names suffice, because some rigs' rest pose is no pose at
all (every bone along x).
"""

from __future__ import annotations

from typing import Any

from motionloom.body.joint_tree import Pose, Tree
from motionloom.body.topology import ARM, LEG, Limbs, find_limbs_by_bones
from motionloom.motion.skeleton import Skeleton

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
