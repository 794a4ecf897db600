"""BodyMap: which joint plays which part of a body, and what follows from that."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from motionloom._arrays import of_kind
from motionloom._elementary import norm
from motionloom._paths import path_of
from motionloom._records import record
from motionloom.body.guess import guess_roles
from motionloom.body.joint_names import read_name
from motionloom.body.joint_tree import rest_pose
from motionloom.body.sides import pair_sides
from motionloom.errors import ArrayError, FormatError, SkeletonMismatchError
from motionloom.motion.skeleton import Skeleton
from motionloom.reading.opening import read_text

if TYPE_CHECKING:
    from motionloom.motion.motion import Motion

__all__ = ["ROLES", "BodyMap", "pair_sides", "roles_for", "stature"]

LARGEST_FILE = 1 << 16
"""Bytes of a body map; one with every role has a thousand."""
MOST_DOTS = 200
"""In a line of a body map: keys with thousands of dots take minutes to parse."""
ANKLE_HEIGHT = 0.039
"""Ankle over the sole as a part of stature (Winter, after Drillis and Contini)."""
LEG_LENGTH = 0.491
"""Hip to ankle as a part of stature, from the same table: 0.530 less 0.039."""
HEAD_OVER_HEAD_JOINT = 0.105
"""Top of the head over the head joint where the rig has no tip there, as a part of stature."""
HEAD_OVER_NECK_JOINT = 0.16
"""Top of the head over the base of the neck where the rig has no head joint."""


@dataclass(frozen=True, slots=True)
@record
class BodyMap:
    """Joint index of every body role, None where the skeleton has no such joint.

    A role names the joint at the *start* of its bone: ``left_hip`` is where the thigh starts,
    ``left_shoulder`` where the upper arm starts (not the clavicle). ``left_toe`` is the ball of the
    foot; it is None where the rig's foot ends in an end site only, for an end site is no joint.

    Examples
    --------
    >>> leg = Skeleton(["Hips", "LeftUpLeg", "LeftLeg"], [-1, 0, 1], [[0, 0, 0]] * 3)
    >>> BodyMap.guess(leg).left_knee
    2
    """

    pelvis: int | None = None
    spine: tuple[int, ...] = ()
    """From the first joint above the pelvis up to the last below the neck."""
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
            A clip on it, Y up. Only used where names say nothing: its first frame then tells left
            from right better than a rest pose does.
        """
        of_kind(skeleton, Skeleton, "skeleton")
        if motion is None:
            return cls(**guess_roles(skeleton))
        of_kind(motion, _motion_type(), "motion")
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
        """
        of_kind(skeleton, Skeleton, "skeleton")
        if not isinstance(names, Mapping):
            raise ArrayError(
                f"`names` must map roles to joint names, such as {{'pelvis': 'Hips'}}, got "
                f"{type(names).__name__}."
            )
        roles: dict[str, Any] = {**guess_roles(skeleton)}
        for role, said in names.items():
            if role not in ROLES:
                raise ArrayError(f"A body role must be one of {', '.join(ROLES)}; got {role!r}.")
            if role == "spine":
                if not isinstance(said, str | Sequence | None):
                    raise ArrayError(
                        f"The role 'spine' must be a list of names, got {type(said).__name__}."
                    )
                listed = [said] if isinstance(said, str) else list(said or ())
                roles[role] = tuple(skeleton.index(str(name)) for name in listed)
            elif said is None or said == "":
                roles[role] = None
            elif isinstance(said, str):
                roles[role] = skeleton.index(said)
            else:
                raise ArrayError(
                    f"The role {role!r} must be one joint's name, got {type(said).__name__}."
                )
        return cls(**roles)

    @classmethod
    def load(cls, path: str | Path, skeleton: Skeleton) -> BodyMap:
        """Roles from a TOML file with a table ``[roles]``; roles it does not name are guessed."""
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
        """The text of a TOML file that :meth:`load` reads back; roles not found are ``""``."""
        self.checked_for(skeleton)
        lines = ["[roles]"]
        for role in ROLES:
            value = getattr(self, role)
            if role == "spine":
                said = "[" + ", ".join(_quoted(skeleton.names[j]) for j in value) + "]"
            else:
                said = _quoted("" if value is None else skeleton.names[value])
            lines.append(f"{role} = {said}")
        return "\n".join(lines) + "\n"

    def missing(self) -> tuple[str, ...]:
        """Roles that no joint plays."""
        return tuple(role for role in ROLES if getattr(self, role) in (None, ()))

    def checked_for(self, skeleton: Skeleton) -> BodyMap:
        """The same map, if every joint it names is one of ``skeleton``'s and limbs are chains."""
        n_joints = of_kind(skeleton, Skeleton, "skeleton").n_joints
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
        """Joints of the roles, in the order asked; an error that says what to do if one is missing.

        Parameters
        ----------
        roles
            Names of single-joint roles, such as ``"left_ankle"``.
        task
            What they are for, in the error's words: ``"foot plants"``.
        skeleton
            If given, the error lists its joints.
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
    return of_kind(body, BodyMap, "body").checked_for(skeleton)


def _hangs_on(parents: list[int], joint: int, above: int) -> bool:
    """Whether a joint is somewhere below another."""
    joint = parents[joint]
    while joint > above:  # parents come first
        joint = parents[joint]
    return joint == above


def _motion_type() -> type[Motion]:
    from motionloom.motion.motion import Motion  # which imports what this file is part of

    return Motion


def _quoted(text: str) -> str:
    escaped = "".join(
        f"\\u{ord(c):04x}" if ord(c) < 32 or ord(c) == 127 else {'"': '\\"', "\\": "\\\\"}.get(c, c)
        for c in text
    )
    return f'"{escaped}"'


def _listed(names: Sequence[str], most: int = 80) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def stature(skeleton: Skeleton, body: BodyMap | None = None) -> float:
    """Standing height in the skeleton's own unit, from bone lengths alone.

    Sole to ankle, shank, thigh, mid-hips to the first spine joint, the spine, the neck, and the
    head to its tip. Lengths do not depend on the rest pose, so rigs whose rest pose is no pose
    are measured as well. What a rig leaves out (sole, top of the head) is added in proportion.
    Where the legs speak for a taller person the mean of both is taken, because rigs leave bones
    out of the trunk (CMU's BVH has no thorax) and never out of the legs. It is 0 where the
    skeleton has no legs.

    Parameters
    ----------
    skeleton
        Its bones.
    body
        Which joint is which; guessed where not given.

    Returns
    -------
    float
        Standing height, 0 without legs.

    Examples
    --------
    >>> from motionloom import synthetic
    >>> 1.5 < stature(synthetic.clip("walk").motion.skeleton) < 2.0
    True
    """
    body = BodyMap.guess(skeleton) if body is None else body
    legs = [
        _length(skeleton, hip, ankle)
        for hip, ankle in (
            (body.left_hip, body.left_ankle),
            (body.right_hip, body.right_ankle),
        )
        if hip is not None and ankle is not None
    ]
    if not legs or body.pelvis is None:
        return 0.0
    torso, over_top = _torso_and_head(skeleton, body)
    leg = float(np.mean(legs))
    summed = (leg + torso) / (1.0 - ANKLE_HEIGHT - over_top)
    return max(summed, 0.5 * (summed + leg / LEG_LENGTH))


def _torso_and_head(skeleton: Skeleton, body: BodyMap) -> tuple[float, float]:
    """Length from mid-hips to the topmost joint or tip, and the share of stature above that."""
    pose, _ = rest_pose(skeleton)
    hips = [j for j in (body.left_hip, body.right_hip) if j is not None]
    first = next((j for j in (*body.spine, body.neck, body.head) if j is not None), None)
    if first is None:
        return 0.0, 0.5
    # The pelvis is one solid, so this distance is the same in every pose.
    length = norm(pose[first] - pose[hips].mean(axis=0))
    last = next(j for j in (body.head, body.neck, first) if j is not None)
    length += _length(skeleton, first, last)
    if body.head is None:
        return length, HEAD_OVER_NECK_JOINT
    tip = _tip(skeleton, body.head)
    if tip > 0.0:
        return length + tip, 0.0
    return length, HEAD_OVER_HEAD_JOINT


def _tip(skeleton: Skeleton, head: int) -> float:
    """Distance from the head joint to its end: an end site, or a child joint that only marks it."""
    ends = skeleton.end_offsets[skeleton.end_parents == head]
    reach = [norm(end) for end in ends]
    reach += [
        norm(skeleton.offsets[child])
        for child in skeleton.children(head)
        if read_name(skeleton.names[child]).tip
    ]
    return max(reach, default=0.0)


def _length(skeleton: Skeleton, above: int, below: int) -> float:
    """Sum of the bones from one joint down to another; 0 where it is not below."""
    total, joint = 0.0, below
    while joint != above:
        if joint < 0:
            return 0.0
        total += norm(skeleton.offsets[joint])
        joint = int(skeleton.parents[joint])
    return total
