"""clip(): somebody who walks, runs or acts, with exact ground truth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from motionloom._arrays import FloatArray, finite, frozen, one_of, positive
from motionloom._records import one_line, record
from motionloom.errors import ArrayError
from motionloom.motion.motion import Footplants, Motion
from motionloom.synthetic.actions import ACTIONS, WALKED, act, suit_gait
from motionloom.synthetic.gait import GAITS, gait_at, standing
from motionloom.synthetic.locomotion import travel
from motionloom.synthetic.standing_clips import box, kick, sidestep, stand, turn_in_place
from motionloom.synthetic.synthetic_skeleton import REFERENCE_HEIGHT, rig
from motionloom.synthetic.take import Setting, Take, perform

USUAL_S = 4.0
"""Length of a clip by default."""
MOST_FRAMES = 1_000_000
LIVELIEST = 100.0
"""Largest `life`: beyond it steps scatter so far that no leg reaches them."""
SLOWEST_FPS = 1e-3
"""A plan runs until its last frame: at lower rates it would take hours of walking."""


@dataclass(frozen=True, slots=True, eq=False)
@record
class SyntheticClip:
    """An embedded clip with exact ground truth.

    Attributes
    ----------
    kind : str
        Which clip it is: ``walk``, ``run`` ...
    motion : Motion
        The clip.
    footplants : Footplants
        Contacts, exact.
    phase : array
        Gait cycles: whole at left heel strikes, rising; not a number without steps. Shape (F,).
    path : array
        Planned path of the body on the ground, world, metres. Shape (F, 3).
    heading : array
        Planned heading, radians, not wrapped. Shape (F,).
    """

    kind: str
    motion: Motion
    footplants: Footplants
    phase: FloatArray
    path: FloatArray
    heading: FloatArray

    def __post_init__(self) -> None:
        n = self.motion.n_frames
        path = frozen(self.path, "path", (n, 3))
        heading = frozen(self.heading, "heading", (n,))
        phase = np.array(self.phase, dtype=np.float64)  # may hold nan, which `frozen` refuses
        phase.flags.writeable = False
        for name, value in (("path", path), ("heading", heading), ("phase", phase)):
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        return one_line(f"SyntheticClip({self.kind}, {self.motion!r})")


def kinds() -> tuple[str, ...]:
    """Names of every embedded clip."""
    return (*GAITS, "turn", "sidestep", "stand", "kick", *ACTIONS)


def clip(
    kind: str,
    *,
    action: str | None = None,
    turn: float | None = None,
    speed: float | None = None,
    cadence: float | None = None,
    duration_s: float | None = None,
    fps: float = 60.0,
    height: float = REFERENCE_HEIGHT,
    phase: float = 0.0,
    seed: int = 0,
    life: float = 1.0,
) -> SyntheticClip:
    """A clip of somebody doing ``kind``, from the origin, facing +Z, on the ground y = 0.

    Gaits (walk, jog, run, sneak, tiptoe, stairs, stairs_down) are cut out of a steady motion. The
    actions (carry, punch, push, wave) are kinds too: carry and push walk, the others stand, and
    with ``speed`` each is done at the gait of that speed.

    Parameters
    ----------
    kind
        One of :func:`kinds`.
    action
        An action to do on top of a gait or of ``"stand"``.
    turn
        Whole heading change, radians, leftward positive (+Z towards +X): spread evenly over the
        clip, or made at once by ``"turn"``, on the spot without a ``speed``.
    speed
        Metres per second; side-steps go leftward, below 0 rightward.
    cadence
        Steps per minute; what people choose at that speed by default.
    duration_s
        4 s by default; a turn on the spot and a kick take as long as they need.
    fps
        Frames per second.
    height
        Stature, metres.
    phase
        Gait phase of the first frame, cycles; 0 is a left heel strike.
    seed
        Of the differences from person to person and from step to step.
    life
        Size of these differences; 0 gives the perfectly regular plan.

    Examples
    --------
    >>> walk = clip("walk", turn=0.6, speed=1.3)
    >>> walk.motion.n_frames, walk.footplants.n_frames
    (241, 241)
    """
    one_of(kind, kinds(), "kind")
    if not isinstance(action, str | None):
        raise ArrayError(f"`action` must be one of {', '.join(ACTIONS)}, got {action!r}.")
    speed = WALKED.get(kind) if speed is None else finite(speed, "speed")
    cadence = None if cadence is None else positive(cadence, "cadence")
    basis, action = _cast(kind, action, speed)
    setting = _setting(height, fps, seed, life)
    length = None if duration_s is None else positive(duration_s, "duration_s")
    if (length or USUAL_S) * setting.fps > MOST_FRAMES:
        raise ArrayError(
            f"A clip must have at most {MOST_FRAMES} frames, got {length or USUAL_S:g} s at "
            f"{setting.fps:g} fps. Ask for a shorter one."
        )
    angle = 0.5 * np.pi if kind == "turn" else 0.0
    if turn is not None:
        angle = finite(turn, "turn")
    if basis in GAITS or (basis == "turn" and speed is not None):
        gait = gait_at(
            "walk" if basis == "turn" else basis,
            speed=speed,
            cadence=cadence,
            height=setting.rig.height,
        )
        take = travel(
            setting,
            suit_gait(action, gait),
            turn=angle,
            sharp=basis == "turn",
            duration_s=length or USUAL_S,
            phase=finite(phase, "phase"),
        )
    else:
        take = _in_place(setting, basis, action, angle, speed, cadence, length)
    if action is not None:
        act(action, take)
    motion, plants = perform(take, fps=fps, name=kind)
    return SyntheticClip(kind, motion, plants, take.phase, take.ground, take.heading)


def _cast(kind: str, action: str | None, speed: float | None) -> tuple[str, str | None]:
    """Basis of the clip, which the legs do, and action of the arms on top."""
    if action is not None and (action not in ACTIONS or kind in (*ACTIONS, "kick")):
        raise ArrayError(
            f"`action` must be one of {', '.join(ACTIONS)} on top of a gait, a turn, a side-step "
            f"or a stand, got {action!r} on {kind!r}."
        )
    if kind not in ACTIONS:
        return kind, action
    if not speed:
        return "stand", kind
    return ("walk" if speed < 2.0 else "jog" if speed < 3.2 else "run"), kind


def _setting(height: float, fps: float, seed: int, life: float) -> Setting:
    """Who moves, and how finely, checked."""
    body, fps = rig(positive(height, "height")), positive(fps, "fps")
    try:
        rng = np.random.Generator(np.random.PCG64(seed))
    except (TypeError, ValueError) as error:
        raise ArrayError(f"`seed` must be a whole number of 0 or more, got {seed!r}.") from error
    life = finite(life, "life")
    if abs(life) > LIVELIEST:
        raise ArrayError(f"`life` must lie within {LIVELIEST:g}, got {life:g}.")
    if fps < SLOWEST_FPS:
        raise ArrayError(f"`fps` must be at least {SLOWEST_FPS:g}, got {fps:g}.")
    return Setting(body, fps, rng, life)


def _in_place(
    setting: Setting,
    basis: str,
    action: str | None,
    turn: float,
    speed: float | None,
    cadence: float | None,
    duration_s: float | None,
) -> Take:
    posture = suit_gait(action, standing(setting.rig.height))
    if basis == "turn":
        return turn_in_place(setting, posture, turn=turn, cadence=cadence, duration_s=duration_s)
    if turn:
        raise ArrayError(f"`turn` must be 0 for {basis!r}, got {turn:g}. Use a gait or 'turn'.")
    if basis == "sidestep":
        return sidestep(setting, posture, speed=speed, cadence=cadence, duration_s=duration_s)
    if basis == "kick":
        return kick(setting, posture, duration_s=duration_s)
    make = box if action == "punch" else stand
    return make(setting, posture, duration_s=duration_s or USUAL_S)
