"""Masses: the mass and the centre of each segment of the body."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from motionloom._arrays import FloatArray, numbers
from motionloom.body.body_map import BodyMap
from motionloom.errors import ArrayError

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
