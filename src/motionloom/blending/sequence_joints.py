"""The joints of a sequence: their options, candidate places, and the chain of places that is made.

A place is where a clip is left and the next one is entered, so that two neighbouring joints share a
clip: it must be left after it was entered, and enough of it must be played in between. The cheapest
chain that meets this is found by dynamic programming, in time linear in the number of joints.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from motionloom._arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    flag,
    items,
    one_of,
    positive,
    whole,
)
from motionloom.blending.join import (
    DROPPED_M,
    FADE_S,
    MAX_PLACES,
    Candidate,
    Keep,
    Pair,
    find_candidates,
    find_places,
    named_place,
)
from motionloom.blending.sequence_rows import ChainedClip, MadeJoint
from motionloom.blending.transition import (
    OTHER_LENGTHS,
    PLACES_PER_LENGTH,
    checked_keep,
    transition,
)
from motionloom.body.body_map import BodyMap
from motionloom.cleanup.cleanup_report import CleanupReport
from motionloom.errors import ArrayError, RegistrationError
from motionloom.features.checks.verification import Verification
from motionloom.motion.motion import Motion
from motionloom.registration.timewarp import fit_planar_alignment, point_cloud
from motionloom.retargeting.match import MatchedClips
from motionloom.rotation.quat import PlanarTransform

METHODS = ("registration", "cut")
"""How one clip leads to the next: a blend along their registration, or none."""
REACH = 1.4
"""A blend reaches into either clip by at most this many times half its length."""
ROOM = 0.85
"""Two blends may take this part of a clip, so that there is some choice of places."""
FEWEST = 2
"""Half of the shortest blend, frames."""
MOST_PLACES = 1000
"""Places considered for a joint, best first."""
FAILED_COST = 1000.0
"""Cost of a failed check, so that every place not yet tried comes before."""
SHORTER = 0.7
"""Blends beside a clip through which no chain leads are shortened to this part."""
BLOCKS = 8
"""Parts of both clips. Where no chain of the best places leads through, the best place of each part
is considered too."""
OPTIONS = ("keep", "length_s", "method", "moving", "at", "frames")
KEEP, LENGTH_S = 0.3, 0.6
"""Least share of a clip that plays, and seconds of blending, where nothing else is asked for."""
MOST_CLOSING = 64
"""Places tried for the joint that closes a loop: the chain is solved once for each of them."""


class JointOptions(NamedTuple):
    """The options of one joint, checked."""

    keep: Keep | None
    """Least shares of both clips that must play, or ``"late"``; None for anywhere."""
    length_s: float
    method: str
    moving: bool
    at: tuple[int, int] | None
    frames: tuple[int, int] | None
    """Frames that both clips must have for ``at`` to hold; None for any."""
    usual: frozenset[str]
    """Options that nobody asked for, which have the usual values."""

    def share(self, side: int) -> float:
        """The least share of the clip before (0) or after (1) the joint."""
        return self.keep[side] if isinstance(self.keep, tuple) else 0.0


def joint_options(
    joints: Sequence[Mapping[str, Any] | None] | None, count: int, usual: Mapping[str, Any]
) -> list[JointOptions]:
    """The options of every joint: its own, and the usual ones for the rest."""
    own = [None] * count if joints is None else list(items(joints, "joints", "one per joint"))
    if len(own) != count:
        raise ArrayError(
            f"The joints of a sequence must have one entry each ({count}), got {len(own)}."
        )
    return [_checked({**usual, **_known(each, number)}) for number, each in enumerate(own, 1)]


def _known(given: Mapping[str, Any] | None, number: int) -> Mapping[str, Any]:
    if given is None:
        return {}
    if not isinstance(given, Mapping) or not set(given) <= set(OPTIONS):
        raise ArrayError(
            f"The entry of joint {number} must map names of {', '.join(OPTIONS)} to values, got "
            f"{given!r:.80}."
        )
    return given


def _checked(values: Mapping[str, Any]) -> JointOptions:
    keep, length_s = values["keep"], values["length_s"]
    return JointOptions(
        checked_keep(KEEP if keep is None else keep),
        positive(LENGTH_S if length_s is None else length_s, "length_s"),
        one_of(values["method"], METHODS, "method"),
        flag(values["moving"], "moving"),
        _two(values["at"], "at", "a frame", least=0),
        _two(values["frames"], "frames", "the number of frames", least=1),
        frozenset(name for name in ("keep", "length_s") if values[name] is None),
    )


def _two(value: Any, name: str, what: str, *, least: int) -> tuple[int, int] | None:
    """Whole numbers for both clips of a joint."""
    if value is None:
        return None
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise ArrayError(f"`{name}` must be {what} of both clips of a joint, got {value!r:.80}.")
    return whole(value[0], f"{name}[0]", least=least), whole(value[1], f"{name}[1]", least=least)


class Tried(NamedTuple):
    """A joint as it was made at one place."""

    joint: MadeJoint
    verification: Verification | None
    """Frames are those of the transition, in which the clip before begins at 0; None for a cut."""
    cleanup: CleanupReport | None
    notes: tuple[str, ...]

    @property
    def n_failed(self) -> int:
        """Failed checks."""
        found = self.verification
        return 0 if found is None else len(found.failed) + len(found.unsound)


class Choice(NamedTuple):
    """A candidate place and half the length of the blend there, frames."""

    place: Candidate
    half: int

    @property
    def at(self) -> tuple[int, int]:
        """Frames of both clips."""
        return self.place.frame_a, self.place.frame_b


@dataclass(slots=True, eq=False)
class OpenJoint:
    """A joint whose place is still to be chosen."""

    options: JointOptions
    numbers: tuple[int, int]
    """Of the clips."""
    clips: tuple[ChainedClip, ChainedClip]
    body: BodyMap
    half: int
    """Half the length of the blend, frames; 0 for a cut."""
    settings: Mapping[str, Any]
    """Options of :func:`transition` that all joints share."""
    check: bool
    """Whether places that fail the quality check are left for others."""
    choices: list[Choice] = field(default_factory=list)
    tried: dict[int, Tried | None] = field(default_factory=dict)
    """By choice; None where no blend fits."""
    left: int = MAX_PLACES
    """Places that may still be tried at the present length."""
    closed: int = 0
    """Choices of earlier lengths, of which no more are tried."""
    lengths: list[float] = field(default_factory=lambda: list(OTHER_LENGTHS))
    """Multiples of the length that are still to be tried."""
    notes: list[str] = field(default_factory=list)
    """What was decided about its options."""

    @property
    def cuts(self) -> bool:
        """Whether nothing is blended."""
        return self.options.method == "cut"

    def find(self, half: int, *, blocks: int = 0) -> None:
        """Add the places for a blend of another length, or more places for one."""
        (a, b), options = self.clips, self.options
        motions, plants = (a.motion, b.motion), (a.footplants, b.footplants)
        if options.at is not None:
            self.choices = [Choice(self._named(options.at), half)]
            return
        wished: dict[str, Any] = {
            "moving": options.moving,
            "keep": options.keep,
            "count": MOST_PLACES,
            "blocks": blocks,
        }
        if self.cuts:
            places = find_candidates(motions, plants, margin=0, body=self.body, **wished)
        else:
            places = find_places(self._pair(), half, **wished)
        if same_clip(a.motion, b.motion):
            # The clip itself fits best at the same frame, where nothing would be joined.
            places = tuple(each for each in places if each.frame_b < each.frame_a - 2 * half)
        known = {each.at for each in self.choices if each.half == half}
        self.choices += [
            Choice(each, half) for each in places if (each.frame_a, each.frame_b) not in known
        ]

    def shorten(self) -> bool:
        """Start again with shorter blends; False where they are as short as can be."""
        half = round(SHORTER * self.half)
        if self.cuts or self.options.at is not None or half < FEWEST:
            return False
        self.half, self.left, self.closed = half, MAX_PLACES, 0
        self.choices, self.tried, self.lengths = [], {}, list(OTHER_LENGTHS)
        self.find(half, blocks=BLOCKS)
        return True

    def _pair(self) -> Pair:
        a, b = self.clips
        motions, plants = (a.motion, b.motion), (a.footplants, b.footplants)
        return Pair.of(MatchedClips(motions, plants, self.body, ((), ())))

    def _named(self, at: tuple[int, int]) -> Candidate:
        if not self.cuts:
            return named_place(self._pair(), at)
        for frame, clip in zip(at, self.clips, strict=True):
            whole(frame, "at", most=clip.motion.n_frames - 1)
        return Candidate(*at, 0.0, 0.0, 0.0, False)

    def places(self) -> JointPlaces:
        """The choices as the chain takes them; those that must not be tried any more cost inf."""
        at = np.array([each.at for each in self.choices], dtype=np.int64).reshape(-1, 2)
        ends = np.array([clip.motion.n_frames - 1 for clip in self.clips])
        reach = np.array([self.reach(each.half) for each in self.choices], dtype=np.int64)
        reach = np.minimum(reach, np.concatenate([at, ends - at], axis=1).min(axis=1))
        cost = np.array([self.cost(each.place) for each in self.choices])
        untried = np.ones(len(cost), dtype=bool)
        untried[list(self.tried)] = False
        untried[self.closed if self.left > 0 else len(cost) :] = False
        cost[untried] = np.inf
        for number, made in self.tried.items():
            failed = 1000 if made is None else made.n_failed * self.check
            cost[number] += FAILED_COST * failed
        return JointPlaces(at[:, 0] - reach, at[:, 1] + reach + self.cuts, cost)

    @staticmethod
    def reach(half: int) -> int:
        """Frames of either clip into which a blend reaches at most."""
        return int(np.ceil(REACH * half))

    def cost(self, place: Candidate) -> float:
        """Cost of a place with that of the shares of both clips that are left out there."""
        if self.options.keep is None:
            return place.cost
        a, b = (max(1, clip.motion.n_frames - 1) for clip in self.clips)
        return place.cost + DROPPED_M * (1.0 - place.frame_a / a + place.frame_b / b)

    def make(self, number: int) -> None:
        """Try a choice; where it is the last of its length and none passes, add another length."""
        self.left -= 1
        choice = self.choices[number]
        self.tried[number] = self._cut(choice.at) if self.cuts else self._blended(choice)
        if self.left > 0 or not self.check or self.options.at is not None or not self.lengths:
            return
        if not any(made is not None and not made.n_failed for made in self.tried.values()):
            self.left, self.closed = PLACES_PER_LENGTH, len(self.choices)
            self.find(max(FEWEST, round(self.lengths.pop(0) * self.half)))

    def others(self, taken: int, entered: int, left: int) -> tuple[Candidate, ...]:
        """Other places for a blend of this length, best first, beside which other joints can stay.

        ``entered`` is the frame at which the clip before begins to play alone, ``left`` the last at
        which the clip after does.
        """
        places, costs = self.places(), [self.cost(choice.place) for choice in self.choices]
        fits = (places.leaves >= entered) & (places.enters <= left)
        return tuple(
            self.choices[number].place
            for number in np.argsort(costs, kind="stable")
            if fits[number] and number != taken
            if self.choices[number].half == self.choices[taken].half
        )

    def _blended(self, choice: Choice) -> Tried | None:
        a, b = self.clips
        try:
            made = transition(
                a.motion,
                b.motion,
                at=choice.at,
                length_s=2.0 * choice.half / a.motion.fps,
                footplants=(a.footplants, b.footplants),
                body=self.body,
                check=False,
                **self.settings,
            )
        except RegistrationError:
            return None
        notes = tuple(note for note in made.notes if not note.startswith("failed check"))
        joint = MadeJoint.of(made, self.numbers)
        return Tried(joint, made.verification, made.cleanup, notes)

    def _cut(self, at: tuple[int, int]) -> Tried:
        """The clips without a blend, B moved so that both poses lie on each other."""
        a, b = (clip.motion for clip in self.clips)
        among = (a.skeleton, b.skeleton)
        ours, theirs = (
            point_cloud(clip[frame : frame + 1], body=self.body, among=among)
            for clip, frame in zip((a, b), at, strict=True)
        )
        theta, offset, left = fit_planar_alignment(ours.points[0], theirs.points[0], ours.weights)
        onto = PlanarTransform(float(theta), float(offset[0]), float(offset[1]))
        note = f"a cut: joints jump by {100.0 * float(np.sqrt(left)):.1f} cm rms, not checked"
        return Tried(MadeJoint.cut((at[0], at[1] + 1), onto), None, None, (note,))


def same_clip(a: Motion, b: Motion) -> bool:
    """Whether two clips are frame by frame the same."""
    return np.array_equal(a.root_positions, b.root_positions) and np.array_equal(
        a.local_quats, b.local_quats
    )


# --- All joints together


def choose(
    joints: Sequence[OpenJoint],
    clips: Sequence[ChainedClip],
    *,
    loop: bool,
    made: Callable[[int], None] = lambda tries: None,
) -> list[int]:
    """The choice to take at every joint; each of them was tried.

    The cheapest chain is made. Where a joint fails the quality check, its place costs more and the
    chain is chosen again, until all joints pass or their places have been tried.

    Parameters
    ----------
    joints
        Whose places have been found.
    clips
        All of them.
    loop
        Whether the last joint leads back to the first clip.
    made
        Is told how many joints were made since the last time.
    """
    least = _Least(joints, clips, loop)
    while True:
        path = least.cheapest()
        untried = [j for j, number in enumerate(path) if number not in joints[j].tried]
        if not untried:
            k = _crossed(joints, path, clips, loop=loop)
            if k is None or not least.shorten_beside(k):
                break
        for j in untried:
            joints[j].make(path[j])
            made(1)
    for joint, number in zip(joints, path, strict=True):
        if joint.tried[number] is None:
            a, b = joint.clips
            raise RegistrationError(
                f"No blend fits from {a.name} ({a.motion.n_frames} frames) to {b.name} "
                f"({b.motion.n_frames} frames). Use longer parts of them, or the method 'cut'."
            )
    return path


def _crossed(
    joints: Sequence[OpenJoint], path: Sequence[int], clips: Sequence[ChainedClip], *, loop: bool
) -> int | None:
    """The first clip that is left before it was entered, as blends reach farther than expected."""
    made = [joint.tried[number] for joint, number in zip(joints, path, strict=True)]
    for k in range(0 if loop else 1, len(joints)):
        before, after = made[k - 1], made[k]
        if before is not None and after is not None and before.joint.enters > after.joint.leaves:
            return k
    if not loop and made[-1] is not None and made[-1].joint.enters >= clips[-1].motion.n_frames:
        return len(clips) - 1
    return None


class _Least:
    """Frames of every clip that must play alone, lowered where no chain of places has as many."""

    def __init__(
        self, joints: Sequence[OpenJoint], clips: Sequence[ChainedClip], loop: bool
    ) -> None:
        self.joints, self.clips, self.loop, self.more = joints, clips, loop, False
        self.shares = asked_shares([joint.options for joint in joints], len(clips), loop)
        self.levels = [self._levels_of(k) for k in range(len(clips))]

    def _levels_of(self, k: int) -> list[int]:
        """Frames of a clip to ask for, the fewest first."""
        if not self.loop and k in (0, len(self.clips) - 1):
            return [1]  # the places of its only joint keep the share already
        motion = self.clips[k].motion
        blends = sum(joint.reach(joint.half) for joint in (self.joints[k - 1], self.joints[k]))
        wanted = int(np.ceil(self.shares[k] * (motion.n_frames - 1))) - blends + 1
        fades = 2 * round(FADE_S * motion.fps)
        return sorted({1, fades, max(fades, wanted)})

    def cheapest(self) -> list[int]:
        """The cheapest chain of the joints' choices."""
        n_frames = [clip.motion.n_frames for clip in self.clips]
        while True:
            places = [joint.places() for joint in self.joints]
            try:
                return cheapest_chain(
                    places, n_frames, [each[-1] for each in self.levels], loop=self.loop
                )
            except NoChainError as error:
                levels = self.levels[error.clip]
                if not self.more:
                    self.more = True
                    for joint in self.joints:
                        joint.find(joint.half, blocks=BLOCKS)
                elif len(levels) > 1:
                    levels.pop()
                elif not self.shorten_beside(error.clip):
                    raise self._no_way_through(error.clip) from None

    def shorten_beside(self, clip: int) -> bool:
        """Shorten the blends on both sides of a clip; False where they are as short as can be."""
        beside = [joint for joint in self.joints if clip in joint.numbers]
        shortened = [joint.shorten() for joint in beside]
        for joint in beside:
            for k in joint.numbers:
                self.levels[k] = self._levels_of(k)
        return any(shortened)

    def _no_way_through(self, k: int) -> RegistrationError:
        return RegistrationError(
            f"{named(k, self.clips[k])}, would have to be left before it is entered: no places of "
            f"the joints beside it are far enough apart. {remedy(self.joints, k)}"
        )


def named(k: int, clip: ChainedClip) -> str:
    """A clip with its number in the row, for an error."""
    return f"Clip {k + 1}, {clip.name} ({clip.motion.n_frames} frames)"


def remedy(joints: Sequence[OpenJoint], k: int) -> str:
    """What to do where the blends beside a clip leave no frame of it."""
    fixed = [
        str(j)
        for j, each in enumerate(joints, 1)
        if k in each.numbers and each.options.at is not None
    ]
    if fixed:
        return (
            f'Give joint {" and ".join(fixed)} other frames as "at", leave "at" out, or use a '
            "shorter `length_s`."
        )
    return (
        "Use a longer part of it, a smaller `keep`, a shorter `length_s` or the method 'cut', or "
        "leave it out."
    )


def asked_shares(options: Sequence[JointOptions], n_clips: int, loop: bool) -> list[float]:
    """The least share of every clip: the larger one of the options of its two joints."""
    shares = [0.0] * n_clips
    for j, each in enumerate(options):
        after = (j + 1) % n_clips if loop else j + 1
        shares[j] = max(shares[j], each.share(0))
        shares[after] = max(shares[after], each.share(1))
    return shares


def longest_half(clip: ChainedClip) -> int:
    """Half of the longest blends for which a clip between two joints has room, frames."""
    return int(ROOM * clip.motion.n_frames / (4.0 * REACH))


class JointPlaces(NamedTuple):
    """Candidate places of one joint."""

    leaves: IntArray
    """Last frame of the clip before that plays alone. (N,)"""
    enters: IntArray
    """First frame of the clip after that plays alone. (N,)"""
    cost: FloatArray
    """Infinite for places that are not to be used. (N,)"""


class NoChainError(Exception):
    """No chain of places plays enough of one clip."""

    def __init__(self, clip: int) -> None:
        super().__init__(clip)
        self.clip = clip
        """Index of the clip."""


def cheapest_chain(
    joints: Sequence[JointPlaces], n_frames: Sequence[int], least: Sequence[int], *, loop: bool
) -> list[int]:
    """The place to take at every joint.

    Parameters
    ----------
    joints
        Joint ``j`` leads from clip ``j`` to the next one; the last joint of a loop leads from the
        last clip to the first.
    n_frames
        Of every clip.
    least
        Frames of every clip that must play alone.
    loop
        Whether the last joint leads back to the first clip.

    Raises
    ------
    NoChainError
        There is no such chain.
    """
    if not loop:
        ends = np.full(len(joints[-1].cost), n_frames[-1] - 1)
        last = _allowed(joints[-1], ends - joints[-1].enters + 1 >= least[-1])
        path, _ = _cheapest([*joints[:-1], last], least, enters=0, of_last=len(n_frames) - 1)
        return path
    closing = joints[-1]
    best: tuple[float, list[int]] | None = None
    failed: NoChainError | None = None
    for number in np.argsort(closing.cost, kind="stable")[:MOST_CLOSING]:
        only = np.full_like(closing.cost, np.inf)
        only[number] = closing.cost[number]
        fixed = [*joints[:-1], closing._replace(cost=only)]
        try:
            path, cost = _cheapest(fixed, least, enters=int(closing.enters[number]), of_last=0)
        except NoChainError as error:
            failed = failed or error
            continue
        if best is None or cost < best[0]:
            best = cost, path
    if best is None:
        raise failed or NoChainError(0)
    return best[1]


def _allowed(joint: JointPlaces, mask: BoolArray) -> JointPlaces:
    return joint._replace(cost=np.where(mask, joint.cost, np.inf))


def _cheapest(
    joints: Sequence[JointPlaces], least: Sequence[int], *, enters: int, of_last: int
) -> tuple[list[int], float]:
    """The cheapest chain where the first clip is entered at a known frame, and its cost.

    ``of_last`` is the clip that an error names where the last joint has no place left.
    """
    first = joints[0]
    total = np.where(first.leaves - enters + 1 >= least[0], first.cost, np.inf)
    came_from: list[IntArray] = []
    if not np.isfinite(total).any():
        raise NoChainError(0 if np.isfinite(first.cost).any() else min(of_last, 1))
    for clip, (before, after) in enumerate(pairwise(joints), start=1):
        order = np.lexsort((total, before.enters))
        entered, sums = before.enters[order], total[order]
        cheapest = np.minimum.accumulate(sums)
        # The first place at which the running minimum is reached: ties go to the earliest entry.
        reached = np.maximum.accumulate(
            np.where(np.r_[True, cheapest[1:] < cheapest[:-1]], np.arange(len(sums)), 0)
        )
        latest = np.searchsorted(entered, after.leaves - least[clip] + 1, side="right") - 1
        possible = latest >= 0
        came_from.append(order[reached[np.maximum(latest, 0)]])
        total = np.where(possible, cheapest[np.maximum(latest, 0)], np.inf) + after.cost
        if not np.isfinite(total).any():
            raise NoChainError(clip if np.isfinite(after.cost).any() else of_last)
    path = [int(np.argmin(total))]
    for back in reversed(came_from):
        path.append(int(back[path[-1]]))
    return path[::-1], float(total.min())
