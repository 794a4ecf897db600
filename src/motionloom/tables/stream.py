"""Stream: a live character that follows orders; dead ends: where one can only go on badly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from enum import Enum
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from motionloom._arrays import IntArray, finite, not_negative, whole
from motionloom._core import CoreError, Record, integer, kernel, record
from motionloom._progress import progress_bar
from motionloom._records import record as value_record
from motionloom.blending.control import Pose
from motionloom.errors import ArrayError, TableError
from motionloom.motion.provenance import MadeOf, Provenance
from motionloom.tables.collection.frames import Frames
from motionloom.tables.collection.labels import Label
from motionloom.tables.query_engine import QueryEngine
from motionloom.tables.table_places import Place

_work = kernel("ml_stream_work")
_step = kernel("ml_stream_step")
_think = kernel("ml_stream_think")
_follow = kernel("ml_stream_follow")
_longest = kernel("ml_pieces_longest")
_hold_frames = kernel("ml_table_hold_frames")
_go_to_row = kernel("ml_stream_go_to_row")
_set_patience = kernel("ml_stream_set_patience")
_place = kernel("ml_stream_place")
_now = kernel("ml_stream_now")
_doing = kernel("ml_stream_doing")
_is_flawed = kernel("ml_stream_is_flawed")
_frames_left = kernel("ml_stream_frames_left")
_made_of = kernel("ml_stream_made_of")
MOST_SHARES = integer("ML_MOST_SHARES")
MOST_CLIPS = integer("ML_MOST_WAYS")
"""Clips that a transition is made of."""
MEASURED_AT_ONCE = 100_000
"""Frames up to which all clips of a collection are measured before the first character of a table
plays, in about a second; in a larger one each clip is measured in the step that first needs it."""
GO, HOLD, ACT = (integer(f"ML_ORDER_{order}") for order in ("TO_LABEL", "HOLD", "ACT"))
"""Orders about labels."""
TOO_SHORT = integer("ML_TOO_SHORT")
"""The core's answer where no piece of a label can be held."""


class Doing(Enum):
    """What a live character is doing."""

    PLAYING = "playing"
    """It has no order: it plays its clip, and then one that continues it."""
    GOING = "going to"
    """It is on its way to the goal of its order."""
    IN = "in"
    """It is in the label that it holds, and at least half of what the shown frame is made of
    carries it; or it is in the piece that it acts."""
    ARRIVED = "arrived"
    """It has been where it was sent, and plays on."""
    CONTINUING_BADLY = "continuing badly"
    """Its clip was over, and every transition to a motion like it fails the quality check: it plays
    the one that fails least."""


DOING = {integer(f"ML_STREAM_{each.name}"): each for each in Doing}
"""By the numbers of the core."""


class Stream:
    """A live character, made by ``table.stream``. One call of ``step`` a frame.

    Characters of one table may play in several threads at a time.
    """

    def __init__(self, engine: QueryEngine, source: Place, *, patience_s: float) -> None:
        self._engine, self._lock = engine, Lock()
        start = engine.places.row_of(source, "source")
        clip = engine.places.clip_at(start)
        engine.measure_all(MEASURED_AT_ONCE)
        engine.check.measure(clip)  # which checks the clip's frames
        clips = np.zeros(MOST_CLIPS, dtype=np.int64)
        clips[0] = clip
        self._live = _new(engine, start, clips)
        _set_patience(self._live, not_negative(patience_s, "patience_s"))

    def __getstate__(self) -> dict[str, Any]:
        # The core knows the addresses of our arrays: a copy has its own arrays and state.
        live = self._live.copied()
        del live["table"]
        return {"engine": self._engine, "live": live}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._engine, self._lock = state["engine"], Lock()
        self._live = record("ml_stream", table=self._engine.record, **state["live"])

    def __repr__(self) -> str:
        clip, frame = self.now
        return f"Stream({self.doing.value}, at frame {frame} of {clip})"

    @property
    def now(self) -> Place:
        """Clip and frame that is shown, or that the present transition arrives at."""
        return self._engine.frames.place_of(_now(self._live))

    @property
    def doing(self) -> Doing:
        """What is going on."""
        return DOING[int(_doing(self._live))]

    @property
    def in_transition(self) -> bool:
        """Whether a transition is being played."""
        return bool(self._live.in_transition)

    @property
    def flawed(self) -> bool:
        """Whether the transition that is being played fails the quality check."""
        return bool(_is_flawed(self._live))

    @property
    def frames_left(self) -> int:
        """Frames until the present transition arrives; 0 outside of one."""
        return int(_frames_left(self._live))

    def go(self, *, label: str | None = None, frame: Place | None = None) -> None:
        """Arrive at a clip's frame, or in any frame with a label, and play on.

        The last order counts, and the same one again changes nothing. A transition begins within a
        few steps. One that is being played is left: the rest of it serves as the source window of
        the new transition, so pose and speed continue. Where nothing that passes the quality check
        leads to the goal, the motion plays on and it is tried again, for as long as the
        character's patience; then the transition that fails least is taken, and :attr:`flawed`
        says so.
        """
        if (label is None) == (frame is None):
            raise ArrayError("Give `label` or `frame` to say where to go, and not both.")
        if frame is not None:
            row = self._engine.places.row_of(frame, "frame")
            self._engine.places.window_at(row, leaving=False)
            _go_to_row(self._live, row)
        elif label is not None:
            self._follow(GO, label)

    def hold(self, label: str) -> None:
        """Arrive in a label, and stay in frames that carry it until the next order.

        From the end of a piece with the label a transition leads into the label again. A piece
        can be held if it is longer than half a transition. Shorter ones are passed over, and a
        label that has no other is refused.
        """
        self._follow(HOLD, label)

    def act(self, label: str) -> None:
        """Arrive at the first frame of a piece with a label, and play it to its last frame.

        A labelled jump arrives at its final stand. After that the character plays on, and the
        same order acts once more.
        """
        self._follow(ACT, label)

    def _follow(self, order: int, label: str) -> None:
        # A goal that cannot be reached is refused here: step() must never fail half-way.
        labels = self._engine.labels
        pieces, nearest = labels.pieces(label), labels.nearest(label)
        try:
            _follow(self._live, order, len(pieces), pieces, nearest)
        except CoreError as error:
            if error.status == TOO_SHORT:
                raise TableError(self._too_short(label, pieces)) from error
            raise TableError(
                f"No piece of {label!r} can be acted: each is shorter than what is missing before "
                "it in its clip for a transition. Label longer pieces, or later in their clips."
            ) from error
        self._live.hold("pieces", pieces)

    def _too_short(self, label: str, pieces: IntArray) -> str:
        fps = self._engine.frames.fps
        longest = _longest(self._engine.record, len(pieces), pieces)
        least = _hold_frames(self._engine.record)
        return (
            f"{label!r} cannot be held: its longest piece that a transition arrives in has "
            f"{longest} frames ({longest / fps:.2f} s), and a character stays only in pieces of "
            f"{least} ({least / fps:.2f} s) or more. Label longer pieces, or use `act` or `go`."
        )

    def place(self, heading: float, x: float, z: float) -> None:
        """Move it: what it shows, or will show first, faces ``heading`` with its root over (x, z).

        Parameters
        ----------
        heading
            Radians; 0 faces +Z.
        x, z
            Metres.
        """
        _place(self._live, finite(heading, "heading"), finite(x, "x"), finite(z, "z"))

    def think(self, budget: int) -> None:
        """Think about the next transition now, in up to ``budget`` pieces.

        A piece is a search, a choice of recipes, or one transition made and checked: a fraction of
        a millisecond. Every step does one. A program with time left in a frame calls this, or
        after an order, to see it followed sooner.
        """
        budget = whole(budget, "budget", least=0)
        self._by_thread(lambda: _think(self._live, budget))

    def _by_thread(self, ask: Callable[[], None]) -> None:
        """Call the core, which works in memory of the present thread."""
        with self._lock:
            table = self._engine.of_thread()
            self._live.table = table
            try:
                self._engine.measuring(ask, table)
            finally:
                self._live.table = self._engine.record

    def step(self) -> Pose:
        """The next frame.

        Returns
        -------
        Pose
            Root in the world, rotations of the joints, which foot points are planted, and the
            captured frames that it is made of.
        """
        n_joints = self._engine.rows.record.n_joints
        root, quats = np.zeros(3), np.zeros((n_joints, 4))
        planted = np.zeros(4, dtype=np.bool_)
        self._by_thread(lambda: _step(self._live, root, quats, planted))
        return Pose(root, quats, planted, made_of=self._made_of())

    def _made_of(self) -> MadeOf:
        rows, weights = np.zeros(MOST_SHARES, dtype=np.int64), np.zeros(MOST_SHARES)
        changed = np.zeros(1, dtype=np.bool_)
        n = _made_of(self._live, rows, weights, changed)
        starts = self._engine.starts
        clips: IntArray = np.searchsorted(starts, rows[:n], side="right") - 1
        return MadeOf(clips, rows[:n] - starts[clips], weights[:n], bool(changed[0]))

    def provenance(self, poses: Sequence[Pose]) -> Provenance:
        """Which clips, at which times, poses that were shown one after the other are made of.

        Parameters
        ----------
        poses
            Of :meth:`step`.

        Returns
        -------
        Provenance
            One row per pose; the sources are the clips of the collection.
        """
        made = [pose.made_of for pose in poses]
        if None in made:
            raise ArrayError("`poses` must come from the steps of a live character of a table.")
        frames = self._engine.frames
        return Provenance.of_live(frames.ids, frames.fps, [each for each in made if each])


def _new(engine: QueryEngine, start: int, clips: IntArray) -> Record:
    """A stream that has not begun, as the core takes it."""
    n_work = _work(engine.record)
    counts = (
        "in_transition is_flawed is_continuing order pending toward reached stage continues detour"
        " bails"
        " feet least_feet made_flawed at then goal_row act_last waited again pause n_played source"
        " n_recipes n_ranked number n_tried since least_number made_then n_made_clips n_pieces"
    )
    return record(
        "ml_stream",
        **dict.fromkeys(counts.split(), 0),
        table=engine.record,
        start=start,
        row=-1,
        turn=0.0,
        x=0.0,
        z=0.0,
        leave_in=-1,
        planned_in=-1,
        patience=0.0,
        least=0.0,
        n_clips=1,
        pieces=np.zeros((0, 2), dtype=np.int64),
        clips=clips,
        made_clips=np.zeros(MOST_CLIPS, dtype=np.int64),
        spokes=np.full(engine.record.n_ends, -1, dtype=np.int64),
        n_work=n_work,
        work=np.zeros(n_work, dtype=np.uint8),
    )


BEFORE_END = 20
"""Frames before the last whole window of a clip: a character thinks of its end from 18 on."""
MOST_WINDOWS = 3
"""Windows' lengths within which a character has gone on, or never will."""


@value_record
class DeadEnds(NamedTuple):
    """Where a live character of a table can only continue badly.

    Attributes
    ----------
    clips : tuple of str
        Clips at whose ends no transition to another captured motion passes the quality check.
    labels : tuple of str
        Labels that cannot be held: every piece with the label is too short to stay in, or at the
        end of each no transition into the label passes the check.
    """

    clips: tuple[str, ...]
    labels: tuple[str, ...]


def find_dead_ends(
    frames: Frames,
    labels: Sequence[Label],
    length: int,
    stream: Callable[[Place], Stream],
    *,
    progress: bool,
) -> DeadEnds:
    """Play every clip and every labelled piece to its end; ``length`` is that of windows."""
    clips, held = [], {each.label: False for each in labels}
    with progress_bar("ends", frames.n_clips + len(labels), shown=progress) as advance:
        for clip, n_frames in zip(frames.ids, np.diff(frames.starts).tolist(), strict=True):
            live = stream((clip, max(0, n_frames - length - BEFORE_END)))
            if not _goes_on(live, MOST_WINDOWS * length):
                clips.append(clip)
            advance(1.0)
        for each in labels:
            live = stream((each.clip, max(each.first, each.last - length // 2 - BEFORE_END)))
            live.step()
            with suppress(TableError):  # it is refused: it cannot be held
                live.hold(each.label)
                held[each.label] |= _goes_on(live, MOST_WINDOWS * length)
            advance(1.0)
    return DeadEnds(tuple(clips), tuple(sorted(label for label, good in held.items() if not good)))


def _goes_on(live: Stream, steps: int) -> bool:
    """Whether the first transition within some steps passes the quality check."""
    for _ in range(steps):
        live.step()
        if live.in_transition:
            return not live.flawed
    return False
