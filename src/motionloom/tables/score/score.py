"""Score: what a transition, or any motion, is worth; in inches, as in the papers.

A motion that never stands is scored by its accelerations ([I6]_): without feet on the ground
neither plants nor the zero moment point can be measured. [I6]_ takes a logistic regression on the
largest acceleration of every joint, fitted to motions that people labelled. Such a regression does
not carry over to other subjects (``studies/ARCHIVE.md``), so the caller gives it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sized
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from motionloom._arrays import (
    BoolArray,
    FloatArray,
    finite,
    finite_numbers,
    of_kind,
    one_of,
    positive,
)
from motionloom._core import constant
from motionloom._records import record
from motionloom.blending.transition import Transition
from motionloom.body.anatomy import ball_height, foot_points
from motionloom.body.body_map import BodyMap, roles_for
from motionloom.body.masses import mass_parts, mass_segments
from motionloom.errors import ArrayError
from motionloom.features.footplants.detect import detect_footplants
from motionloom.motion.motion import Footplants, Motion, motion_in, runs_of
from motionloom.tables.score.columns import BALLISTIC_IN, COLUMNS, INCH, column
from motionloom.tables.score.natural import THRESHOLD, Reference, naturalness
from motionloom.tables.score.stance import (
    BALLS,
    CHOSEN_LEAST,
    SMOOTH_S,
    Stand,
    clear_feet,
    measure_balance,
)
from motionloom.tables.score.terms import sole_of

Chance = Callable[[FloatArray], float]
"""Chance that a motion is natural, 0 to 1, from the largest acceleration of every joint (J,)."""
HALF_S = 0.05
"""Accelerations are second differences over this time on either side: they skip capture noise."""
FORMS = ("natural", "paper")
THRESHOLD_IN = constant("ML_PAPER_IN")
"""The papers' threshold ([I6]_: "a cost under 6"). It is strict with motions alone: of 48 captured
seconds of walks, runs, jumps and stands (CMU 16 and 143) 26 stay below it, since one moment in
which weight passes to the other foot decides. ``zmp_high`` and ``zmp_mean`` are calmer."""


@dataclass(frozen=True, slots=True)
@record
class Score:
    """How good a transition is: the papers' sum and its parts, and ours where it is known.

    Attributes
    ----------
    foot_plant : float or None
        Mean distance of planted balls from where they should stand, inches; None if nothing is
        planted.
    zmp : float or None
        Largest distance of the zero moment point from the support, inches; None if it could be
        measured in no frame.
    total : float
        Their sum, and what flights lack of free fall, in the same measure; what was not measured
        counts as 0.
    natural : bool
        Whether it passes: by naturalness where it is known, else by the papers' threshold.
    naturalness : float or None
        Calibrated similarity to captured motion, 0 to 1; None for motions that are no blend: it
        weighs how far the blended windows differ.
    zmp_high : float or None
        95th percentile of the same distance, inches: one bad frame does not decide it.
    zmp_mean : float or None
        Its mean, inches.
    unsupported : int
        Frames neither in flight nor within 0.1 s of a plant.
    planted : int
        Frames of plants, both feet together.
    scored : int
        Frames in which the zero moment point could be measured.
    ballistic : float
        How far the worst flight is from free fall: 1 for a body that hangs still in the air.

    Examples
    --------
    >>> from motionloom import synthetic
    >>> clip = synthetic.clip("walk")
    >>> score_motion(clip.motion, clip.footplants).foot_plant < 1e-6
    True
    """

    foot_plant: float | None
    zmp: float | None
    total: float
    natural: bool
    naturalness: float | None = None
    zmp_high: float | None = None
    zmp_mean: float | None = None
    unsupported: int = 0
    planted: int = 0
    scored: int = 0
    ballistic: float = 0.0

    @classmethod
    def of_columns(
        cls,
        columns: npt.ArrayLike,
        reference: Reference | None = None,
        *,
        form: str = "natural",
        threshold: float = THRESHOLD_IN,
        failed: Sized = (),
    ) -> Score:
        """The score in one row of the kernel's columns.

        Parameters
        ----------
        columns : (C,)
            From :func:`motionloom.tables.score.columns.score_recipes`.
        reference
            How source and target of the blend move; naturalness is not known without it.
        form
            What decides whether it is natural: ``"natural"``, our calibrated naturalness, or
            ``"paper"``, the sum.
        threshold
            Sum in inches below which the papers call a transition natural.
        failed
            Quality checks that the finished motion fails: if there are any, it is not natural.

        Returns
        -------
        Score
            The score, with its parts.
        """
        one_of(form, FORMS, "form")
        if form == "natural" and reference is None:
            raise ArrayError(
                'A score of `form` "natural" needs the `reference` of its blend. Pass '
                'reference_of(terms, ends), or choose form="paper".'
            )
        row = finite_numbers(columns, "columns")
        if row.shape != (len(COLUMNS),):
            raise ArrayError(
                f"`columns` must be one row of the {len(COLUMNS)} columns, got shape {row.shape}."
            )
        threshold = finite(threshold, "threshold")

        def value(name: str) -> float:
            return float(row[column(name)])

        total = value("foot_in") + value("zmp_max_in") + BALLISTIC_IN * value("ballistic")
        likely = None if reference is None else float(naturalness(row, reference, failed=failed)[0])
        natural = total < threshold
        if form == "natural" and likely is not None:
            natural = likely >= THRESHOLD
        planted, scored = int(value("planted")), int(value("scored"))
        return cls(
            value("foot_in") if planted else None,
            value("zmp_max_in") if scored else None,
            total,
            natural and not len(failed),
            likely,
            value("zmp_p95_in") if scored else None,
            value("zmp_mean_in") if scored else None,
            int(value("unsupported")),
            planted,
            scored,
            value("ballistic"),
        )


def score(
    result: object,
    *,
    threshold: float | None = None,
    masses: npt.ArrayLike | None = None,
    chance: Chance | None = None,
) -> Score:
    """The score of a transition, or of any motion or result with a motion.

    A transition from a table is scored by its recipe, the windows that are blended, before feet are
    held; it is natural by its naturalness. Anything else is measured as it is, from its foot
    plants, and called natural by the papers' sum. So ``score(t)`` and ``score(t.motion)`` differ:
    the first scores what was blended, lead and follow left out, the second what came out of it, and
    cannot know how far windows differ. With a ``threshold`` both are called natural by the sum.

    Parameters
    ----------
    result
        A motion, or anything with ``.motion`` and, maybe, ``.footplants`` or ``.score``.
    threshold
        Sum in inches below which it is called natural; by default 6 for motions, while for
        transitions of a table naturalness decides.
    masses
        As for :func:`score_motion`. With them a transition, too, is measured as the motion it is.
    chance
        As for :func:`score_motion`: for motions that never stand, and bodies without feet.

    Returns
    -------
    Score
        Costs of feet and balance, and naturalness where the motion is a blend.

    Examples
    --------
    >>> from motionloom import synthetic
    >>> score(synthetic.clip("stand")).natural
    True
    """
    limit = None if threshold is None else positive(threshold, "threshold")
    # The score of a transition of two clips is an old name of its cost.
    own = None if isinstance(result, Transition) else getattr(result, "score", None)
    if isinstance(own, Score) and masses is None and chance is None:
        return own if limit is None else replace(own, natural=own.total < limit)
    motion = motion_in(result)
    if motion is None:
        raise ArrayError(
            "`result` must be a motion, or have one as `.motion` as results of motionloom do, got "
            f"a {type(result).__name__}."
        )
    footplants = getattr(result, "footplants", None)
    return score_motion(
        motion,
        footplants if isinstance(footplants, Footplants) else None,
        threshold=THRESHOLD_IN if limit is None else limit,
        masses=masses,
        chance=chance,
    )


def score_motion(
    motion: Motion,
    footplants: Footplants | None = None,
    *,
    body: BodyMap | None = None,
    threshold: float = THRESHOLD_IN,
    masses: npt.ArrayLike | None = None,
    chance: Chance | None = None,
) -> Score:
    """The papers' score of a motion as it is: by its worst moment, however long it is.

    A foot carries from its heel's strike until its ball leaves; its ball alone decides where it
    should be.

    Parameters
    ----------
    motion
        F frames, at least a quarter of a second and some frames, or no acceleration is known.
    footplants
        Where it should stand; detected by default, which forgives feet that slide.
    body
        Roles of its joints; guessed by default.
    threshold
        Sum in inches below which it is called natural.
    masses : (S,)
        Parts of body mass of the segments, as :func:`motionloom.fit_masses` finds them; those of
        Winter's average body by default.
    chance
        Chance that a motion is natural from the largest acceleration of every joint (J,), m/s2: a
        regression fitted to labelled motions of the same skeleton ([I6]_). It decides where nothing
        stands, also for bodies without feet: the total is 12 inches less 12 times the chance.
    """
    of_kind(motion, Motion, "motion")
    threshold = positive(threshold, "threshold")
    check_chance(chance)
    least = 2 * max(2, int(0.5 * SMOOTH_S * motion.fps)) + 3
    if motion.n_frames < least:
        raise ArrayError(
            f"`motion` must have at least {least} frames at {motion.fps:g} fps to be scored, for "
            f"balance is a matter of accelerations; got {motion.n_frames}."
        )
    body = roles_for(motion.skeleton, body)
    if body.left_ankle is None and body.right_ankle is None:
        return _by_accelerations(motion, chance, threshold)
    footplants = detect_footplants(motion, body=body) if footplants is None else footplants
    if footplants.n_frames != motion.n_frames:
        raise ArrayError(
            f"`footplants` must have one row per frame of the motion ({motion.n_frames}), "
            f"got {footplants.n_frames}."
        )
    if chance is not None and not footplants.planted.any():
        return _by_accelerations(motion, chance, threshold)
    pose = motion.world_pose()
    points = foot_points(motion, body=body, pose=pose)
    segments = mass_segments(motion.skeleton.n_joints, body)
    stands, missed, planted = _stands_of(footplants.planted, points)
    balance = measure_balance(
        segments.centres(pose[0]),
        segments.masses if masses is None else mass_parts(masses),
        stands,
        sole_of(motion.skeleton, body, points[0]),
        motion.fps,
        range(motion.n_frames),
        clear=clear_feet(points[:, BALLS, 1], ball_height(motion.skeleton, body)),
    )
    outside = balance.outside if len(balance.outside) else np.zeros(1)
    mean_missed, zmp = missed / max(planted, 1) / INCH, float(outside.max()) / INCH
    total = mean_missed + zmp + BALLISTIC_IN * balance.ballistic
    measured = len(balance.outside) > 0
    return Score(
        mean_missed if planted else None,
        zmp if measured else None,
        total,
        total < threshold,
        None,
        float(np.quantile(outside, 0.95)) / INCH if measured else None,
        float(outside.mean()) / INCH if measured else None,
        balance.unsupported,
        planted,
        len(balance.outside),
        balance.ballistic,
    )


def _by_accelerations(motion: Motion, chance: Chance | None, threshold: float) -> Score:
    """The score of a motion that never stands ([I6]_ section 5)."""
    if chance is None:
        raise ArrayError(
            "`motion` must have feet to be scored by its contacts, but its skeleton has no ankle. "
            "Pass `chance` to score it by its accelerations."
        )
    likely = chance_of(motion, chance)
    total = BALLISTIC_IN * (1.0 - likely)
    return Score(None, None, total, total < threshold, likely)


def _stands_of(planted: BoolArray, points: FloatArray) -> tuple[list[Stand], float, int]:
    """Every time that a foot stands, the summed distances of balls from there, and the frames."""
    stands, missed, n_frames = [], 0.0, 0
    for foot, ball in enumerate(BALLS):
        for strike, first, last in _steps(planted, ball):
            if last - first + 1 < CHOSEN_LEAST:
                continue
            track = points[first : last + 1, ball][:, [0, 2]]
            ahead = (track - points[first : last + 1, ball - 1][:, [0, 2]]).mean(axis=0)
            ahead = ahead / max(float(np.linalg.norm(ahead)), 1e-9)
            place = track.mean(axis=0)
            missed += float(np.linalg.norm(track - place, axis=1).sum())
            n_frames += len(track)
            stands.append(Stand(foot, strike, last, place, ahead))
    return stands, missed, n_frames


def _steps(planted: BoolArray, ball: int) -> Iterator[tuple[int, int, int]]:
    """Heel strike, first and last frame of the ball, of every time that a foot's ball stands."""
    touching = planted[:, ball - 1] | planted[:, ball]
    strikes = [first for first, _ in runs_of(touching)]
    free = 0
    for first, last in runs_of(planted[:, ball]):
        strike = max(each for each in strikes if each <= first)
        yield max(strike, free), first, last
        free = last + 1


def peak_accelerations(motion: Motion) -> FloatArray:
    """Largest acceleration of every joint in the world, m/s2. (J,).

    Examples
    --------
    >>> from motionloom import synthetic
    >>> peaks = peak_accelerations(synthetic.clip("run").motion)
    >>> bool(peaks.max() > peak_accelerations(synthetic.clip("stand").motion).max())
    True
    """
    return peaks_of(motion.world_positions(), motion.fps)


def peaks_of(positions: FloatArray, fps: float) -> FloatArray:
    """The same of positions (F, J, 3)."""
    if len(positions) < 3:
        raise ArrayError(
            f"A motion must have at least 3 frames to have accelerations, got {len(positions)}."
        )
    lag = min(max(1, round(HALF_S * fps)), (len(positions) - 1) // 2)
    bend = positions[2 * lag :] - 2.0 * positions[lag:-lag] + positions[: -2 * lag]
    return np.asarray(np.linalg.norm(bend, axis=-1).max(axis=0) * (fps / lag) ** 2)


def check_chance(chance: object) -> None:
    """Raise an error if ``chance`` is given and cannot be called."""
    if chance is not None and not callable(chance):
        raise ArrayError(
            "`chance` must be a function that takes the largest acceleration of every joint and "
            f"returns the chance that a motion is natural, got {chance!r:.60}. Pass your fitted "
            "regression, or leave it out."
        )


def chance_of(motion: Motion, chance: Chance) -> float:
    """The chance that a caller's regression gives a motion, checked."""
    value = float(chance(peak_accelerations(motion)))
    if not 0.0 <= value <= 1.0:
        raise ArrayError(
            f"`chance` must return a number from 0 to 1 for the accelerations of the joints, got "
            f"{value:g}."
        )
    return value
