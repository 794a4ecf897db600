"""Proportions of the body: its standing height, and the mass and centre of each segment."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from motionloom._arrays import FloatArray, numbers, of_kind
from motionloom._elementary import norm
from motionloom.body.body_map import BodyMap, roles_for
from motionloom.body.guess import rest_pose
from motionloom.body.joint_names import read_name
from motionloom.errors import ArrayError
from motionloom.motion.skeleton import Skeleton

ANKLE_HEIGHT = 0.039
"""Ankle over the sole as a part of stature (Winter, after Drillis and Contini)."""
LEG_LENGTH = 0.491
"""Hip to ankle as a part of stature, from the same table: 0.530 less 0.039."""
HEAD_OVER_HEAD_JOINT = 0.105
"""Top of the head over the head joint where the rig has no tip there, as a part of stature."""
HEAD_OVER_NECK_JOINT = 0.16
"""Top of the head over the base of the neck where the rig has no head joint."""


def stature(skeleton: Skeleton, body: BodyMap | None = None) -> float:
    """Standing height in the skeleton's own unit, from bone lengths alone.

    Sole to ankle, shank, thigh, mid-hips to the first spine joint, the spine, the neck, and the
    head to its tip. Lengths do not depend on the rest pose, so rigs without a usable rest pose are
    measured as well. What a rig leaves out (sole, top of the head) is added in proportion. Where
    the legs suggest a taller person the mean of both is taken, because rigs leave bones out of the
    trunk (CMU's BVH has no thorax) and never out of the legs. It is 0 where the skeleton has no
    legs.

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
    return _stature(skeleton, roles_for(of_kind(skeleton, Skeleton, "skeleton"), body))


@lru_cache(maxsize=64)
def _stature(skeleton: Skeleton, body: BodyMap) -> float:
    """The stature for these roles. Most skeletons are asked for again, and none changes."""
    legs = [
        _length(skeleton, hip, ankle)
        for hip, ankle in ((body.left_hip, body.left_ankle), (body.right_hip, body.right_ankle))
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


# --- Masses


# Winter 2009, after Dempster: part of body mass, and where along the segment its centre lies.
LIMBS = {
    "upper_arm": (0.028, 0.436, ("shoulder", "elbow")),
    "forearm": (0.016, 0.430, ("elbow", "wrist")),
    # From the wrist to half way to the knuckles, in forearms: rigs seldom agree on fingers.
    "hand": (0.006, 1.2, ("elbow", "wrist")),
    "thigh": (0.100, 0.433, ("hip", "knee")),
    "shank": (0.0465, 0.433, ("knee", "ankle")),
    "foot": (0.0145, 0.5, ("ankle", "toe")),
}
# The trunk from mid-hips to mid-shoulders; Winter's three parts, moved so that together they have
# their centre half way, where he puts that of the whole trunk.
TRUNK = {"pelvis": (0.142, 0.28), "abdomen": (0.139, 0.45), "thorax": (0.216, 0.675)}
HEAD = (0.081, 1.2)
"""Head and neck: the ear lies a little above the head joint on the line from the shoulders."""
SEGMENT_NAMES = (
    *TRUNK,
    "head",
    *(f"{side}_{name}" for side in ("left", "right") for name in LIMBS),
)
"""Names of the segments, in the order of their masses."""
LIGHTEST, HEAVIEST = 1e-4, 0.9
"""Parts of body mass that a segment can have: a hand has 0.006, the thorax 0.216."""
SUM_ERROR = 1e-12
"""Parts whose sum is nearer to one are not divided by it again, which would change their digits."""


@dataclass(frozen=True, slots=True, eq=False)
class Segments:
    """Body segments as weighted sums of joints."""

    names: tuple[str, ...]
    masses: FloatArray
    """Parts of body mass; they sum to one. Shape (S,)."""
    weights: FloatArray
    """``weights @ joint_positions`` are the segments' centres; rows sum to one. Shape (S, J)."""

    def centres(self, positions: FloatArray) -> FloatArray:
        """Centres of mass (F, S, 3) of the segments, from joint positions (F, J, 3)."""
        return np.asarray(np.einsum("sj,fjc->fsc", self.weights, positions, optimize=True))

    def centre(self, positions: FloatArray) -> FloatArray:
        """Centre of mass (F, 3) of the body, from joint positions (F, J, 3)."""
        return np.asarray(np.einsum("j,fjc->fc", self.masses @ self.weights, positions))


def mass_segments(n_joints: int, body: BodyMap) -> Segments:
    """Winter's body segments on the roles of ``body``, for a skeleton of ``n_joints``.

    Roles that are missing fall back on the next joint inwards, so that the masses still sum to one:
    a rig without hands carries their mass at the elbows.
    """
    body.require("pelvis", task="the centre of mass")

    unit: FloatArray = np.eye(n_joints)

    def point(*roles: str) -> FloatArray:
        joints = (getattr(body, role) for role in roles)
        joint = next((j for j in joints if j is not None), body.pelvis)
        return np.asarray(unit[joint])

    hips = 0.5 * (point("left_hip", "pelvis") + point("right_hip", "pelvis"))
    shoulders = 0.5 * (point("left_shoulder", "neck") + point("right_shoulder", "neck"))
    names, masses, rows = [], [], []

    def add(name: str, mass: float, start: FloatArray, end: FloatArray, part: float) -> None:
        names.append(name)
        masses.append(mass)
        rows.append((1.0 - part) * start + part * end)

    for name, (mass, part) in TRUNK.items():
        add(name, mass, hips, shoulders, part)
    add("head", HEAD[0], shoulders, point("head", "neck"), HEAD[1])
    inwards = {
        "elbow": ("elbow", "shoulder"),
        "wrist": ("wrist", "elbow", "shoulder"),
        "knee": ("knee", "hip"),
        "ankle": ("ankle", "knee", "hip"),
        "toe": ("toe", "ankle", "knee", "hip"),
    }
    for side in ("left", "right"):
        for name, (mass, part, (start, end)) in LIMBS.items():
            ends = [
                point(*(f"{side}_{role}" for role in inwards.get(at, (at,)))) for at in (start, end)
            ]
            add(f"{side}_{name}", mass, ends[0], ends[1], part)
    return Segments(tuple(names), np.array(masses), np.array(rows))


def mass_parts(masses: npt.ArrayLike) -> FloatArray:
    """Parts of body mass that sum to one, from parts or kilograms of every segment. (S,).

    Parts that sum to one already, but for rounding, stay as they are, digit for digit.
    """
    given = numbers(masses, "masses")
    must = f"`masses` must be {len(SEGMENT_NAMES)} positive parts of body mass"
    if given.shape != (len(SEGMENT_NAMES),):
        raise ArrayError(
            f"{must}, one for each of {', '.join(SEGMENT_NAMES)}; got an array of shape "
            f"{given.shape}."
        )
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        total = given.sum()
        parts = np.array(given) if abs(total - 1.0) <= SUM_ERROR else np.asarray(given / total)
    bad = ~(np.isfinite(given) & (given > 0.0))
    bad = bad if bad.any() else ~((parts >= LIGHTEST) & (parts <= HEAVIEST))
    if bad.any():
        first = int(np.argmax(bad))
        raise ArrayError(
            f"{must}, each {100.0 * LIGHTEST:g} to {100.0 * HEAVIEST:g} % of their sum; got "
            f"{given[first]:g} for {SEGMENT_NAMES[first]}, where all sum to {total:g}."
        )
    return parts
