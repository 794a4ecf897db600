"""BodyMap: which joint plays which part of a body, and what follows from that."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from motionloom._arrays import of_kind
from motionloom._records import record
from motionloom.body.guess import guess_roles
from motionloom.errors import ArrayError, FormatError, SkeletonMismatchError
from motionloom.files.reading import path_of, read_text
from motionloom.motion.motion import Motion
from motionloom.motion.skeleton import Skeleton

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
