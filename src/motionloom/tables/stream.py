"""Stream: a live character that plays on, and goes to a label or a frame on request."""

from __future__ import annotations

from typing import Any

import numpy as np

from motionloom._core import Record, kernel, record
from motionloom.blending.control import Pose
from motionloom.errors import ArrayError
from motionloom.tables.query_engine import QueryEngine
from motionloom.tables.transition_request import Place

_work = kernel("ml_stream_work")
_step = kernel("ml_stream_step")
_go_to_windows = kernel("ml_stream_go_to_windows")
_go_to_row = kernel("ml_stream_go_to_row")

PATIENCE = 3
"""Times that an order to which nothing passes the check is tried again, 0.1 s apart."""
MOST_CLIPS = 4
"""Clips that the frames which are shown are made of."""


class Stream:
    """The state of a live character; made by ``table.stream``. One call of ``step`` a frame."""

    def __init__(self, engine: QueryEngine, source: Place) -> None:
        self._engine = engine
        start = engine.places.row_of(source, "source")
        clip = engine.places.clip_at(start)
        engine.check.measure(clip)  # which checks the clip's frames
        clips = np.zeros(MOST_CLIPS, dtype=np.int64)
        clips[0] = clip
        self._live = _new(engine, start, clips)

    def __getstate__(self) -> dict[str, Any]:
        # The core knows the addresses of our arrays: a copy has its own arrays and state.
        live = self._live.copied()
        del live["table"]
        return {"engine": self._engine, "live": live}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._engine = state["engine"]
        self._live = record("ml_stream", table=self._engine.record, **state["live"])

    def __repr__(self) -> str:
        clip, frame = self.place
        return f"Stream(at frame {frame} of {clip})"

    @property
    def place(self) -> Place:
        """Clip and frame that is shown, or that the present transition arrives at."""
        at = self._live.struct
        row = at.then if at.in_transition else at.start if at.row < 0 else at.row
        return self._engine.frames.place_of(int(row))

    @property
    def in_transition(self) -> bool:
        """Whether a transition is being played."""
        return bool(self._live.struct.in_transition)

    @property
    def done(self) -> bool:
        """Whether the last frame of a clip is shown and no similar motion continues it."""
        return bool(self._live.struct.done)

    def go(self, *, label: str | None = None, frame: Place | None = None) -> None:
        """Go to any frame with a label, or to a clip's frame, from the next step on.

        A transition that is being played is left at once. The rest of it serves as the source
        window of the new transition, so pose and speed continue. Where nothing that passes the
        quality check leads there from the pose shown, the motion plays on and it is tried again,
        three times within 0.3 s; then the transition that fails least is taken.
        """
        if (label is None) == (frame is None):
            raise ArrayError("Give `label` or `frame` to say where to go, and not both.")
        engine = self._engine
        # A goal that cannot be reached is refused here: step() must never fail half-way.
        if frame is not None:
            row = engine.places.row_of(frame, "frame")
            engine.places.window_at(row, leaving=False)
            _go_to_row(self._live, row)
        else:
            assert label is not None
            engine.labels.check(label)
            _go_to_windows(self._live, engine.labels.nearest(label))

    def step(self) -> Pose:
        """The next frame.

        Returns
        -------
        Pose
            Root in the world, rotations of the joints, and which foot points are planted.
        """
        n_joints = self._engine.rows.record.n_joints
        root, quats = np.zeros(3), np.zeros((n_joints, 4))
        planted = np.zeros(4, dtype=np.bool_)
        with self._engine.lock:
            self._engine.measuring(lambda: _step(self._live, root, quats, planted))
        return Pose(root, quats, planted)


def _new(engine: QueryEngine, start: int, clips: np.ndarray) -> Record:
    """A stream that has not begun, as the core takes it."""
    n_work = _work(engine.record)
    return record(
        "ml_stream",
        table=engine.record,
        start=start,
        row=-1,
        turn=0.0,
        x=0.0,
        z=0.0,
        in_transition=0,
        done=0,
        goal=0,
        at=0,
        then=0,
        goal_row=0,
        patience=PATIENCE,
        waits=0,
        pause=0,
        try_again=0,
        n_clips=1,
        n_played=0,
        clips=clips,
        spokes=np.full(engine.record.n_ends, -1, dtype=np.int64),
        n_work=n_work,
        work=np.zeros(n_work, dtype=np.uint8),
    )
