"""stream(): a character that plays on, and goes to a label or a frame when it is told to."""

from __future__ import annotations

from typing import Any

import numpy as np

from motionloom._core import Record, kernel, record
from motionloom.blending.control import Pose
from motionloom.errors import ArrayError
from motionloom.tables.query import Place
from motionloom.tables.query_engine import ReadyTable, ready
from motionloom.tables.runtime_table import RuntimeTable

__all__ = ["Stream", "stream"]

_work = kernel("ml_stream_work")
_step = kernel("ml_stream_step")
_go_to_windows = kernel("ml_stream_go_to_windows")
_go_to_row = kernel("ml_stream_go_to_row")

MOST_CLIPS = 4
"""Clips that the frames which are shown are made of."""


def stream(table: RuntimeTable, src: Place) -> Stream:
    """A live character that starts at a clip's frame.

    Parameters
    ----------
    table
        With recipes between representatives of a collection.
    src
        Clip and frame.

    Examples
    --------
    ``s = table.stream(("walk", 0)); s.go(label="run"); pose = s.step()``
    """
    return Stream(ready(table), src)


class Stream:
    """The state of a live character; made by :func:`stream`. One call of ``step`` a frame."""

    def __init__(self, table: ReadyTable, src: Place) -> None:
        self._table = table
        start = table.row_of(src)
        clip = table.clip_at(start)
        table.check.measure(clip)  # which checks the clip's frames
        clips = np.zeros(MOST_CLIPS, dtype=np.int64)
        clips[0] = clip
        self._live = _new(table, start, clips)

    def __getstate__(self) -> dict[str, Any]:
        # The core knows the addresses of our arrays: a copy has its own, and goes on by itself.
        live = self._live.copied()
        del live["table"]
        return {"table": self._table, "live": live}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._table = state["table"]
        self._live = record("ml_stream", table=self._table.record, **state["live"])

    def __repr__(self) -> str:
        clip, frame = self.place
        return f"Stream(at frame {frame} of {clip})"

    @property
    def place(self) -> Place:
        """Clip and frame that is shown, or that the present transition arrives at."""
        at = self._live.struct
        row = at.then if at.in_transition else at.start if at.row < 0 else at.row
        return self._table.frames.place_of(int(row))

    @property
    def in_transition(self) -> bool:
        """Whether a transition is being played."""
        return bool(self._live.struct.in_transition)

    @property
    def done(self) -> bool:
        """Whether the last frame of a clip is shown, and nothing goes on from it."""
        return bool(self._live.struct.done)

    def go(self, *, label: str | None = None, frame: Place | None = None) -> None:
        """Go to any frame with a label, or to a clip's frame, from the next step on.

        A transition that is being played is left at once. What would have come next is blended
        away like a captured second: the pose and the speed that are shown go on.
        """
        if (label is None) == (frame is None):
            raise ArrayError("Say where to go by `label` or by `frame`, and not by both.")
        table = self._table
        # A goal that cannot be reached is refused here: step() must never fail half-way.
        if frame is not None:
            row = table.row_of(frame)
            table.window_at(row, leaving=False)
            _go_to_row(self._live, row)
        else:
            assert label is not None
            table.check_label(label)
            _go_to_windows(self._live, table.windows_of(label))

    def step(self) -> Pose:
        """The next frame."""
        n_joints = self._table.rows.record.n_joints
        root, quats = np.zeros(3), np.zeros((n_joints, 4))
        planted = np.zeros(4, dtype=np.bool_)
        with self._table.lock:
            self._table.measuring(lambda: _step(self._live, root, quats, planted))
        return Pose(root, quats, planted)


def _new(table: ReadyTable, start: int, clips: np.ndarray) -> Record:
    """A stream that has not begun, as the core takes it."""
    n_work = _work(table.record)
    return record(
        "ml_stream",
        table=table.record,
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
        try_again=0,
        n_clips=1,
        n_played=0,
        clips=clips,
        spokes=np.full(table.record.n_ends, -1, dtype=np.int64),
        n_work=n_work,
        work=np.zeros(n_work, dtype=np.uint8),
    )
