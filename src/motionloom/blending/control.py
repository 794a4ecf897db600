"""control(): a blend steered live, one frame a call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from motionloom import _core
from motionloom._arrays import BoolArray, FloatArray, flag, not_negative, of_kind
from motionloom._records import one_line, record
from motionloom.blending.cycle import find_cycle
from motionloom.blending.evaluate import Group, holds_along
from motionloom.blending.weights import checked_row
from motionloom.body.anatomy import find_knees, foot_offsets
from motionloom.body.body_map import facing, roles_for
from motionloom.cleanup.finalize import legs_missing
from motionloom.errors import SkeletonMismatchError
from motionloom.motion.motion import KINDS, Motion
from motionloom.motion.provenance import MadeOf
from motionloom.registration.curve import RegistrationCurve, roots_at
from motionloom.rotation.quat import PlanarTransform

_step = _core.kernel("ml_live_step")
_hold = _core.kernel("ml_stance_hold")

SEAM_S = 0.25
"""Seconds over which the jump from a curve's end to its start is eased away."""
EASE_S = 0.25
"""Seconds over which weights that jump ease in."""


@dataclass(frozen=True, slots=True, eq=False)
@record
class Pose:
    """One frame of a live motion.

    Attributes
    ----------
    root_position : array
        Metres, world. (3,)
    local_quats : array
        (J, 4)
    planted : array of bool
        Contacts that are held: left heel, left toe, right heel, right toe. (4,)
    constraints : tuple of str
        Names of the other constraints of the curve that hold in this frame; what they ask of the
        body is left to the caller.
    joint_translations : array or None
        Where each joint stands in its parent, metres (J, 3); None where bones are rigid. Rigs with
        a root bone have the height and the sway of their hips here.
    made_of : MadeOf or None
        The captured frames that the pose of a live character of a table is made of.
    """

    root_position: FloatArray
    local_quats: FloatArray
    planted: BoolArray
    constraints: tuple[str, ...] = ()
    joint_translations: FloatArray | None = None
    made_of: MadeOf | None = None


def control(
    curve: RegistrationCurve,
    *,
    loop: bool = True,
    start: PlanarTransform | None = None,
    backwards: bool = False,
    euler: bool = False,
    hold_feet: bool = True,
    ease_s: float = EASE_S,
) -> Controller:
    """A live blend: every call of ``step`` takes weights and gives the next frame.

    Parameters
    ----------
    curve
        K examples.
    loop
        Repeat the curve between the two places on it where all examples are most similar,
        continuing where it ended. Otherwise the last pose is held and ``done`` becomes true.
    start
        Where the first frame stands; by default the reference stays where it is.
    backwards
        Play from the curve's end to its start. A loop then jumps from its start to its end.
    euler
        Advance along the curve by equation 7 of [KG03]_ instead of by exact votes.
    hold_feet
        Hold planted heels and toes where they come down, frame by frame: the contacts of the curve
        decide when, legs follow, and the body is lowered where a leg would not reach. A foot that
        cannot be held is released and not reported as planted. Skeletons without a hip, knee or
        ankle are left as they are. Hands are not held, as :func:`motionloom.blend` holds them
        where constraints name a wrist: ``pose.constraints`` names what holds in a frame.
    ease_s
        Seconds: weights that change from 0 to 1 in less ease in over this time;
        slower changes are followed exactly. 0 follows every change at once.

    Returns
    -------
    Controller
        Its ``step(weights)`` returns the next :class:`Pose`.

    Examples
    --------
    >>> from motionloom import register, synthetic
    >>> live = control(register([synthetic.clip("walk", turn=t).motion for t in (-0.8, 0.8)]))
    >>> live.step([0.2, 0.8]).local_quats.shape[1]
    4
    """
    refuse_points(of_kind(curve, RegistrationCurve, "curve"))
    if start is not None:
        of_kind(start, PlanarTransform, "start")
    return Controller(
        curve,
        loop=flag(loop, "loop"),
        start=start,
        backwards=flag(backwards, "backwards"),
        euler=flag(euler, "euler"),
        hold_feet=flag(hold_feet, "hold_feet"),
        ease_s=not_negative(ease_s, "ease_s"),
    )


def refuse_points(curve: RegistrationCurve) -> None:
    """Refuse to blend points that no bones join, such as markers.

    Raises
    ------
    SkeletonMismatchError
        Every joint hangs on the root.
    """
    skeleton = curve.motions[0].skeleton
    if skeleton.n_joints > 2 and not skeleton.parents[1:].any():
        raise SkeletonMismatchError(
            f"A blend needs bones, but all {skeleton.n_joints - 1} joints of these motions hang on "
            f"{skeleton.names[0]!r}, as markers do: averaged points shorten the body. Fit a "
            "skeleton to the points first; registering and aligning them works as it is."
        )


class Controller:
    """The state of a live blend; made by :func:`control`.

    Examples
    --------
    >>> import motionloom as ml
    >>> clips = [ml.synthetic.clip("walk", turn=turn).motion for turn in (0.6, -0.6)]
    >>> live = ml.control(ml.register(clips))
    >>> pose = live.step([0.5, 0.5])
    >>> pose.root_position.shape, pose.local_quats.shape
    ((3,), (22, 4))
    """

    def __init__(
        self,
        curve: RegistrationCurve,
        *,
        loop: bool,
        start: PlanarTransform | None,
        backwards: bool = False,
        euler: bool = False,
        hold_feet: bool = False,
        ease_s: float = EASE_S,
    ) -> None:
        self.curve = curve
        self.loop = loop
        self._stance = stance_of(curve) if hold_feet else None
        self._live = _live_record(curve, loop, start, backwards, euler, ease_s)

    def __getstate__(self) -> dict[str, Any]:
        # The structs point into arrays of this object; a copy needs arrays that it does not share.
        stance = None if self._stance is None else self._stance.copied()
        live = self._live.copied()
        return {"curve": self.curve, "loop": self.loop, "live": live, "stance": stance}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.curve, self.loop = state["curve"], state["loop"]
        self._live = _core.record("ml_live", **state["live"])
        stance = state.get("stance")
        self._stance = None if stance is None else _core.record("ml_stance", **stance)

    def __repr__(self) -> str:
        return one_line(f"Controller({self.curve!r}, u={self.u:.1f})")

    @property
    def u(self) -> float:
        """Parameter of the frame given last, average frames."""
        return float(self._live.at) * self.curve.frames_per_knot

    @property
    def weights(self) -> FloatArray:
        """Weights of the frame given last, eased in where they jumped. (K,)."""
        return np.array(self._live.weights)

    @property
    def done(self) -> bool:
        """Whether a blend that does not loop has come to its end."""
        return bool(self._live.done)

    def step(self, weights: npt.ArrayLike) -> Pose:
        """The next frame of the blend.

        Returns
        -------
        Pose
            Root in the world, rotations of the joints, their translations where bones are not
            rigid, which foot points are planted, and which other constraints hold.
        """
        w = checked_row(weights, len(self.curve.motions))
        root, planted = np.zeros(3), np.zeros(len(KINDS), dtype=bool)
        n_joints = self._live.n_joints
        quats = np.zeros((n_joints, 4))
        rigid = self._live.translations is None
        moved = None if rigid else np.zeros((n_joints, 3))
        _step(self._live, self.loop, w, root, quats, moved, planted)
        if self._stance is not None:
            if moved is not None:
                self._stance.offsets[:] = moved
            _hold(self._stance, root, quats, planted)
        return Pose(root, quats, planted, self._constraints(self.weights), moved)

    def _constraints(self, weights: FloatArray) -> tuple[str, ...]:
        """Names of the constraints, other than contacts of the feet, that hold at this frame."""
        u = np.array([self.u])
        return tuple(
            name
            for name, matches in self.curve.matches.items()
            if name not in KINDS and holds_along(matches, u, weights[None]).any()
        )


def _live_record(
    curve: RegistrationCurve,
    loop: bool,
    start: PlanarTransform | None,
    backwards: bool,
    euler: bool,
    ease_s: float,
) -> _core.Record:
    """Everything that the core needs to play a curve live, before its first frame."""
    low, high = find_cycle(curve) if loop else curve.u_range
    cycle = (high, low) if backwards else (low, high)  # in the order of play
    begin, end = (u / curve.frames_per_knot for u in cycle)
    group = Group(curve)
    ends = group.at(np.array([end, begin]))
    place = PlanarTransform.identity() if start is None else start
    matched = [
        (match.intervals, i) for i, kind in enumerate(KINDS) for match in curve.matches[kind]
    ]
    (n_rows, n_joints, _), (n_points, n_motions) = group.quats.shape, group.times.shape
    spans = np.array([span for span, _ in matched], dtype=np.float64)
    return _core.record(
        "ml_live",
        n_motions=n_motions,
        n_rows=n_rows,
        n_joints=n_joints,
        n_points=n_points,
        n_plants=len(matched),
        reference=curve.reference,
        starts=group.starts,
        quats=group.quats,
        positions=group.positions,
        translations=group.translations,
        times=group.times,
        aligning=group.aligning,
        closures=_closures(curve, cycle),
        end_frames=ends.frames,
        end_turned=ends.theta,
        end_heights=np.ascontiguousarray(ends.roots[..., 1]),
        plants=spans.reshape(-1, n_motions, 2),
        planted_points=np.array([i for _, i in matched], dtype=np.int64),
        direction=-1.0 if backwards else 1.0,
        begin=begin,
        end=end,
        frames_per_knot=curve.frames_per_knot,
        seam_frames=SEAM_S * curve.motions[0].fps,
        ease_frames=ease_s * curve.motions[0].fps,
        euler=euler,
        begun=False,
        done=False,
        at=curve.times.u_end if backwards else 0.0,
        turn=float(place.theta),
        x=float(place.x0),
        z=float(place.z0),
        asked=np.zeros(n_motions),
        weights=np.zeros(n_motions),
        easing=np.zeros(n_motions),
        since_jump=-1,
        last=np.zeros((n_motions, 3)),
        seam=np.zeros((n_joints, 3)),
        seam_moved=np.zeros((n_joints, 3)),
        lift=0.0,
        since_seam=-1,
        scratch=np.zeros(21 * n_motions + 8 * n_joints),
    )


def _closures(curve: RegistrationCurve, cycle: tuple[float, float]) -> FloatArray:
    """How far each example travels over one cycle: turn, x and z. (K, 3).

    ``cycle`` holds the parameters of its first and last frame, in the order of play.
    """
    ends = curve.frames(np.array(cycle))  # (2, K)
    rows = np.zeros((len(curve.motions), 3))
    for k, motion in enumerate(curve.motions):
        first, last = (_planar_pose(motion, float(f)) for f in ends[:, k])
        closure = last @ first.inverse()
        rows[k] = float(closure.theta), float(closure.x0), float(closure.z0)
    return rows


def _planar_pose(motion: Motion, frame: float) -> PlanarTransform:
    """Where the body is and where it faces, on the ground."""
    at = round(frame)
    low, high = max(0, at - 1), min(motion.n_frames, at + 2)
    heading = float(np.median(facing(motion[low:high])))
    root = roots_at(motion, np.asarray(frame))
    return PlanarTransform(heading, float(root[0]), float(root[2]))


def stance_of(curve: RegistrationCurve) -> _core.Record | None:
    """Numbers with which the core holds feet frame by frame; None where a leg lacks a joint.

    The rest of the feet and the side to which the knees bend are taken from the first example.
    """
    motion = curve.motions[0]
    skeleton, body = motion.skeleton, roles_for(motion.skeleton, curve.body)
    if legs_missing(body):
        return None
    knees = find_knees(skeleton, body, motion=motion)
    feet = foot_offsets(skeleton, body, motion=motion)
    n = skeleton.n_joints
    return _core.record(
        "ml_stance",
        n_joints=n,
        parents=np.array(skeleton.parents, dtype=np.int64),
        legs=np.array([(k.hip, k.knee, k.ankle) for k in knees], dtype=np.int64),
        offsets=np.array(skeleton.offsets, dtype=np.float64),
        poles=np.array([k.pole for k in knees], dtype=np.float64),
        levers=np.array([(foot.heel, foot.ball) for foot in feet], dtype=np.float64),
        fps=motion.fps,
        begun=False,
        held=np.zeros(4, dtype=np.uint8),
        loose=np.zeros(4, dtype=np.uint8),
        places=np.zeros((4, 3)),
        shifts=np.zeros((2, 6)),
        speeds=np.zeros((2, 6)),
        sink=np.zeros(2),
        slide=np.zeros(2),
        positions=np.zeros((n, 3)),
        world=np.zeros((n, 4)),
    )
