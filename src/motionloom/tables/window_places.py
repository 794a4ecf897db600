"""WindowPlaces: rows of frames, and the windows that start or end there, found in microseconds."""

from __future__ import annotations

from bisect import bisect_right

from motionloom.tables.collection.frames import Frames
from motionloom.tables.index.windows import window_from


class WindowPlaces:
    """Clips, rows and windows of a collection, looked up without arrays.

    Parameters
    ----------
    frames
        Of the collection.
    length
        Frames of a window.
    """

    def __init__(self, frames: Frames, length: int) -> None:
        self._frames, self._length = frames, length
        self._clips = {name: k for k, name in enumerate(frames.ids)}
        self._first_rows: list[int] = frames.starts.tolist()

    def row_of(self, place: tuple[str, int], argument: str = "place") -> int:
        """Row of a clip's frame; ``argument`` is the caller's, for the error text."""
        try:
            name, frame = place
            clip = self._clips[name]
        except (KeyError, TypeError, ValueError):
            return self._frames.row_at(place, argument)  # says what is wrong with it
        first = self._first_rows[clip]
        if type(frame) is not int or not 0 <= frame < self._first_rows[clip + 1] - first:
            return self._frames.row_at((name, frame), argument)
        return first + frame

    def clip_at(self, row: int) -> int:
        """Which clip a row belongs to; as ``frames.clip_at``, quicker."""
        return bisect_right(self._first_rows, row) - 1

    def window_at(self, row: int, *, leaving: bool) -> tuple[int, int]:
        """First row of the window that starts at a row, or ends there, and by how much it is off.

        Near a clip's end (or start) there is no such window: the clip's last (first) one is taken.
        """
        clip = self.clip_at(row)
        first, last = self._first_rows[clip], self._first_rows[clip + 1] - self._length
        if last < first:
            window_from(self._frames, row, self._length)  # says that the clip is too short
        if leaving:
            return min(row, last), max(0, row - last)
        wanted = row - self._length + 1
        return max(wanted, first), max(0, first - wanted)

    def frames_before(self, row: int) -> int:
        """Frames that a row's clip has before it."""
        return row - self._first_rows[self.clip_at(row)]

    def frames_after(self, row: int) -> int:
        """Frames that a row's clip has after it."""
        return self._first_rows[self.clip_at(row) + 1] - 1 - row
