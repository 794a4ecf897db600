"""Work: one request while it is answered, with its progress and a way to stop it."""

from __future__ import annotations

import time

from motionloom.studio.messages.notices import ProgressNotice, encode_head

LEAST_S = 0.3
"""A stage must have run this long before its time left is estimated."""


class Cancelled(BaseException):
    """The page cancelled the request. Handlers of errors do not catch it."""


class Work:
    """A request while it is answered. It receives the progress of its thread."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.cancelled = False
        self._stage, self._part = "working", None  # type: tuple[str, float | None]
        self._stage_begun = time.monotonic()

    def cancel(self) -> None:
        """Stop at the next step."""
        self.cancelled = True

    def __call__(self, stage: str, part: float | None) -> None:
        """Note a step.

        Raises
        ------
        Cancelled
            The page cancelled the request.
        """
        if self.cancelled:
            raise Cancelled
        if stage != self._stage:
            self._stage, self._stage_begun = stage, time.monotonic()
        self._part = part

    def message(self) -> str:
        """The message that reports the progress."""
        part, spent = self._part, time.monotonic() - self._stage_begun
        left = None
        if part is not None and part > 0.0 and spent > LEAST_S:
            left = spent * (1.0 - part) / part
        return encode_head(self.number, ProgressNotice(self._stage, part, left)).decode()
