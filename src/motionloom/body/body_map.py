"""BodyMap: which joint plays which part of a body, and what follows from that."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from motionloom._arrays import FloatArray, arctan2, hypot, of_kind
from motionloom._records import record
from motionloom.body.joint_names import JointName, read_name
from motionloom.errors import ArrayError, FormatError, SkeletonMismatchError
from motionloom.files.reading import path_of, read_text
from motionloom.motion.motion import Motion, Skeleton, end_positions, forward_kinematics

LARGEST_FILE = 1 << 16
"""Bytes of a body map; one with every role has a thousand."""
MOST_DOTS = 200
"""In a line of a body map: keys with thousands of dots take minutes to parse."""


@dataclass(frozen=True, slots=True)
@record
class BodyMap:
    """Joint index of every body role, None where the skeleton has no such joint.

    A role names the joint at the *start* of its bone: ``left_hip`` is where the thigh starts,
    ``left_shoulder`` where the upper arm starts (not the clavicle). ``left_toe`` is the ball of the
    foot; it is None if the rig's foot ends in an end site, which is not a joint.

    Attributes
    ----------
    pelvis, neck, head : int or None
        Number of the joint.
    spine : tuple of int
        From the first joint above the pelvis up to the last below the neck.
    left_hip, left_knee, left_ankle, left_toe : int or None
        The left leg, from above.
    right_hip, right_knee, right_ankle, right_toe : int or None
        The right leg.
    left_shoulder, left_elbow, left_wrist : int or None
        The left arm.
    right_shoulder, right_elbow, right_wrist : int or None
        The right arm.

    Examples
    --------
    >>> leg = Skeleton(["Hips", "LeftUpLeg", "LeftLeg"], [-1, 0, 1], [[0, 0, 0]] * 3)
    >>> BodyMap.guess(leg).left_knee
    2
    """

    pelvis: int | None = None
    spine: tuple[int, ...] = ()
    neck: int | None = None
    head: int | None = None
    left_hip: int | None = None
    left_knee: int | None = None
    left_ankle: int | None = None
    left_toe: int | None = None
    right_hip: int | None = None
    right_knee: int | None = None
    right_ankle: int | None = None
    right_toe: int | None = None
    left_shoulder: int | None = None
    left_elbow: int | None = None
    left_wrist: int | None = None
    right_shoulder: int | None = None
    right_elbow: int | None = None
    right_wrist: int | None = None

    @classmethod
    def guess(cls, skeleton: Skeleton, *, motion: Motion | None = None) -> BodyMap:
        """Roles found by the joints' names and by the tree.

        Parameters
        ----------
        skeleton
            Any skeleton, people or not; what is not found stays None.
        motion
            A clip on it, Y up. Only used if names show nothing: its first frame then shows left and
            right better than a rest pose.

        Returns
        -------
        BodyMap
            Roles that were found; the others are None.
        """
        of_kind(skeleton, Skeleton, "skeleton")
        if motion is None:
            return cls(**guess_roles(skeleton))
        of_kind(motion, Motion, "motion")
        if not motion.skeleton.same_joints(skeleton):
            raise SkeletonMismatchError(
                "`motion` must be a clip on this skeleton, got one on another. "
                "Pass the motion's own skeleton, or leave the motion out."
            )
        positions, quats = motion[:1].world_pose()
        return cls(**guess_roles(skeleton, (positions[0], quats[0])))

    @classmethod
    def from_names(
        cls, skeleton: Skeleton, names: Mapping[str, str | Sequence[str] | None]
    ) -> BodyMap:
        """Roles by joint name, such as ``{"pelvis": "Hips"}``; the rest is guessed.

        ``spine`` takes a list of names. A role set to None (or ``""``) is left out on purpose.

        Returns
        -------
        BodyMap
            The roles given, and those guessed.
        """
        of_kind(skeleton, Skeleton, "skeleton")
        if not isinstance(names, Mapping):
            raise ArrayError(
                f"`names` must map roles to joint names, such as {{'pelvis': 'Hips'}}, got "
                f"{type(names).__name__}."
            )
        roles: dict[str, Any] = {**guess_roles(skeleton)}
        for role, named in names.items():
            if role not in ROLES:
                raise ArrayError(f"A body role must be one of {', '.join(ROLES)}; got {role!r}.")
            if role == "spine":
                if not isinstance(named, str | Sequence | None):
                    raise ArrayError(
                        f"The role 'spine' must be a list of names, got {type(named).__name__}."
                    )
                listed = [named] if isinstance(named, str) else list(named or ())
                roles[role] = tuple(skeleton.index(str(name)) for name in listed)
            elif named is None or named == "":
                roles[role] = None
            elif isinstance(named, str):
                roles[role] = skeleton.index(named)
            else:
                raise ArrayError(
                    f"The role {role!r} must be one joint's name, got {type(named).__name__}."
                )
        return cls(**roles)

    @classmethod
    def load(cls, path: str | Path, skeleton: Skeleton) -> BodyMap:
        """Roles from a TOML file with a table ``[roles]``; roles it does not name are guessed.

        Returns
        -------
        BodyMap
            The roles of the file, and those guessed.

        Examples
        --------
        >>> import tempfile
        >>> rig = Skeleton(["Hips", "Knee.L"], [-1, 0], [[0, 0, 0], [0, -0.4, 0]])
        >>> with tempfile.TemporaryDirectory() as place:
        ...     file = Path(place) / "rig.toml"
        ...     _ = file.write_text('roles.left_knee = "Knee.L"')
        ...     BodyMap.load(file, rig).left_knee
        1
        """
        path = path_of(path, "path")
        text = read_text(path, LARGEST_FILE)
        for number, line in enumerate(text.split("\n"), start=1):
            if line.count(".") > MOST_DOTS and not line.lstrip().startswith("#"):
                raise FormatError(
                    f"A line of a body map must have at most {MOST_DOTS} dots.",
                    path=path,
                    where=f"line {number}",
                    fix='Write a table [roles] with lines such as pelvis = "Hips".',
                )
        try:
            table = tomllib.loads(text)
        except (ValueError, RecursionError) as error:
            reason = "nested too deeply" if isinstance(error, RecursionError) else error
            raise FormatError(
                f"A body map must be a readable TOML file: {reason}.",
                path=path,
                fix='Write a table [roles] with lines such as pelvis = "Hips".',
            ) from error
        roles = table.get("roles")
        if not isinstance(roles, dict):
            raise FormatError(
                "A body map must have a table [roles], which is missing.",
                path=path,
                fix='Write [roles] and below it lines such as pelvis = "Hips".',
            )
        try:
            return cls.from_names(skeleton, roles)
        except ArrayError as error:
            raise FormatError(str(error), path=path, where="[roles]") from error

    def to_toml(self, skeleton: Skeleton) -> str:
        """The text of a TOML file that :meth:`load` reads back; roles not found are ``""``.

        Returns
        -------
        str
            Lines of a TOML file.
        """
        self.checked_for(skeleton)
        lines = ["[roles]"]
        for role in ROLES:
            value = getattr(self, role)
            if role == "spine":
                text = "[" + ", ".join(_quoted(skeleton.names[j]) for j in value) + "]"
            else:
                text = _quoted("" if value is None else skeleton.names[value])
            lines.append(f"{role} = {text}")
        return "\n".join(lines) + "\n"

    def missing(self) -> tuple[str, ...]:
        """Roles that no joint plays.

        Returns
        -------
        tuple of str
            Names of roles.
        """
        return tuple(role for role in ROLES if getattr(self, role) in (None, ()))

    def checked_for(self, skeleton: Skeleton) -> BodyMap:
        """The same map, if every joint it names is one of ``skeleton``'s and limbs are chains.

        Returns
        -------
        BodyMap
            This map.
        """
        if type(skeleton) is not Skeleton:
            of_kind(skeleton, Skeleton, "skeleton")
        n_joints = skeleton.n_joints
        for role in ROLES:
            value = getattr(self, role)
            for joint in value if isinstance(value, tuple) else (value,):
                if type(joint) is int and 0 <= joint < n_joints:  # nearly always
                    continue
                whole = isinstance(joint, int | np.integer) and not isinstance(joint, bool)
                if joint is not None and not (whole and 0 <= joint < skeleton.n_joints):
                    raise SkeletonMismatchError(
                        f"`body` must name joints below {skeleton.n_joints}, got {joint!r} for "
                        f"{role}. Make it for this skeleton, as with ml.BodyMap.from_names."
                    )
        parents = skeleton.parents.tolist()
        for limb in LIMBS:
            roles = [role for role in limb if getattr(self, role) is not None]
            for above, below in pairwise(roles):
                upper, lower = int(getattr(self, above)), int(getattr(self, below))
                if not _hangs_on(parents, lower, upper):
                    raise SkeletonMismatchError(
                        f"`body` must name a {below} below the {above}, got joint "
                        f"{skeleton.names[lower]!r}, which does not hang on "
                        f"{skeleton.names[upper]!r}. Name the joints of one limb."
                    )
        return self

    def require(self, *roles: str, task: str, skeleton: Skeleton | None = None) -> tuple[int, ...]:
        """Joints of the roles, in the order given; raises an error with a remedy if one is missing.

        Parameters
        ----------
        roles
            Names of single-joint roles, such as ``"left_ankle"``.
        task
            What they are for, in the error's words: ``"foot plants"``.
        skeleton
            If given, the error lists its joints.

        Returns
        -------
        tuple of int
            Numbers of joints.
        """
        if skeleton is not None:
            of_kind(skeleton, Skeleton, "skeleton")
        unknown = [
            role
            for role in roles
            if not isinstance(role, str) or role not in ROLES or role == "spine"
        ]
        if unknown:
            raise ArrayError(
                f"`roles` must name single joints such as 'left_ankle', got {unknown[0]!r}."
            )
        absent = [role for role in roles if getattr(self, role) is None]
        if absent:
            joints = "" if skeleton is None else f" The joints are: {_listed(skeleton.names)}."
            raise SkeletonMismatchError(
                f"The skeleton must have joints for {', '.join(roles)} ({task}); not found: "
                f"{', '.join(absent)}.{joints} Say which they are with "
                "body=ml.BodyMap.from_names(skeleton, {...})."
            )
        return tuple(int(getattr(self, role)) for role in roles)


ROLES: tuple[str, ...] = tuple(field.name for field in fields(BodyMap))
"""Every role, the spine among them."""
LIMBS = tuple(
    tuple(f"{side}_{part}" for part in parts)
    for side in ("left", "right")
    for parts in (("hip", "knee", "ankle", "toe"), ("shoulder", "elbow", "wrist"))
)
"""Roles of each leg and arm, from the body outwards."""


def roles_for(skeleton: Skeleton, body: BodyMap | None, *, motion: Motion | None = None) -> BodyMap:
    """Roles that a caller gave, checked for this skeleton; guessed where none were given."""
    if body is None:
        return BodyMap.guess(skeleton, motion=motion)
    if type(body) is not BodyMap:
        of_kind(body, BodyMap, "body")
    return body.checked_for(skeleton)


def shifted_roles(body: BodyMap, by: int) -> BodyMap:
    """The roles on a skeleton that has ``by`` joints more in front."""
    moved: dict[str, Any] = {}
    for role in ROLES:
        value = getattr(body, role)
        if isinstance(value, tuple):
            moved[role] = tuple(joint + by for joint in value)
        else:
            moved[role] = None if value is None else value + by
    return BodyMap(**moved)


def _hangs_on(parents: list[int], joint: int, above: int) -> bool:
    """Whether a joint is somewhere below another."""
    joint = parents[joint]
    while joint > above:  # parents come first
        joint = parents[joint]
    return joint == above


def _quoted(text: str) -> str:
    escaped = "".join(
        f"\\u{ord(c):04x}" if ord(c) < 32 or ord(c) == 127 else {'"': '\\"', "\\": "\\\\"}.get(c, c)
        for c in text
    )
    return f'"{escaped}"'


def _listed(names: Sequence[str], most: int = 80) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


# --- Guess: names speak first, the tree decides between them and fills what they leave

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
        lengths = np.sqrt(np.sum(skeleton.end_offsets**2, axis=1))
        for e, j in enumerate(skeleton.end_parents):
            self.reach[j] = max(self.reach[j], lengths[e])
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


# --- Where a body faces

LEAST_ACROSS = 0.2
"""Level part of the body's left-right axis (of length one) below which it tells no heading."""


def facing(motion: Motion, *, body: BodyMap | None = None) -> FloatArray:
    """Heading of the body in each frame, radians, unwrapped in time. Shape (F,).

    Heading 0 faces +Z and ``psi`` faces ``(sin psi, cos psi)`` in (x, z). It is taken from the line
    from right to left hip and shoulder. Where that line stands on end (lying on one side, in a
    cartwheel) the heading of the frame before is kept.

    Examples
    --------
    >>> from motionloom import synthetic
    >>> headings = facing(synthetic.clip("walk").motion)
    >>> bool(abs(headings).max() < 0.5)
    True
    """
    if body is None:
        body = BodyMap.guess(motion.skeleton, motion=motion)
    return facing_of_positions(motion.world_positions(), body)


def facing_of_positions(positions: FloatArray, body: BodyMap) -> FloatArray:
    """The heading (F,) of joint positions in the world (F, J, 3); see :func:`facing`."""
    pairs = [
        (left, right)
        for left, right in (
            (body.left_hip, body.right_hip),
            (body.left_shoulder, body.right_shoulder),
        )
        if left is not None and right is not None
    ]
    if not pairs:
        raise SkeletonMismatchError(
            "A heading needs both hips or both shoulders; not found: left_hip, right_hip, "
            "left_shoulder, right_shoulder. Say which joints they are with "
            "body=ml.BodyMap.from_names(skeleton, {...})."
        )
    across = np.zeros((len(positions), 3))
    for left, right in pairs:
        line = positions[:, left] - positions[:, right]
        length = np.linalg.norm(line, axis=1, keepdims=True)
        across += line / np.where(length > 0.0, length, 1.0) / len(pairs)
    level = hypot(across[:, 0], across[:, 2])
    heading = arctan2(-across[:, 2], across[:, 0])  # ahead is across x up
    return np.asarray(np.unwrap(_held(heading, level >= LEAST_ACROSS)))


def _held(values: FloatArray, valid: np.ndarray) -> FloatArray:
    """``values``, each that is not valid replaced by the last valid one (at first, the next)."""
    if valid.all() or not valid.any():
        return values
    last = np.maximum.accumulate(np.where(valid, np.arange(len(values)), -1))
    return np.asarray(values[np.where(last < 0, int(np.argmax(valid)), last)])
