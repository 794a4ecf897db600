"""A part of a clip, named with its file: ``walk.bvh:2s-5.5s`` or ``walk.bvh:120-330``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from motionloom._arrays import of_kind
from motionloom._records import record
from motionloom.errors import FormatError
from motionloom.intake.open import is_file, split_clip
from motionloom.motion.motion import Motion

PRINTED_S = 0.01
"""Lengths of clips are printed to this many seconds: a range may end so much after its clip."""
_NUMBER = r"\d{1,9}(?:\.\d{1,9})?"
_RANGE = re.compile(rf":(?:({_NUMBER})(s?))?-(?:({_NUMBER})(s?))?$")
_ALMOST = re.compile(r":[-+]?[\d.][^/\\]*$")
"""A colon and a number: meant as a range where a file is named before it."""
_HOW = "Write FILE:2s-5.5s (seconds) or FILE:120-330 (first and last frame)."


@dataclass(frozen=True, slots=True)
@record
class ClipRange:
    """A part of a clip, as ``walk.bvh:2s-5.5s`` names it.

    Attributes
    ----------
    first, last : float or None
        First and last frame, or second; None where the part begins or ends with the clip.
    seconds : bool
        Whether they are seconds.
    text : str
        The range and its file, as the user wrote them.
    """

    first: float | None
    last: float | None
    seconds: bool
    text: str

    def cut(self, motion: Motion) -> Motion:
        """The part of a clip, both ends included.

        Parameters
        ----------
        motion
            The whole clip.

        Returns
        -------
        Motion
            The part.

        Raises
        ------
        FormatError
            The range reaches beyond the clip.
        """
        end = motion.n_frames - 1
        scale = motion.fps if self.seconds else 1.0
        over = round(PRINTED_S * scale) if self.seconds else 0
        first = 0 if self.first is None else round(self.first * scale)
        last = end if self.last is None else round(self.last * scale)
        if first > end or last > end + over:
            reach = f"{motion.duration_s:.2f} s" if self.seconds else f"frame {end}"
            raise FormatError(
                f"The range must lie in the clip, which ends at {reach}.",
                path=self.text,
                fix="Without its second end a range goes on to the last frame.",
            )
        return motion[first : last + 1]


def split_range(text: str) -> tuple[str, ClipRange | None]:
    """File, with its clip, and the range in ``"file.glb#Run:1s-3s"``.

    A file of that whole name is no range; neither is the colon after a drive's letter or within a
    name.

    Parameters
    ----------
    text
        As it is typed on the command line.

    Returns
    -------
    (str, ClipRange or None)
        The file, and the range where there is one.

    Raises
    ------
    FormatError
        The range is written wrongly.

    Examples
    --------
    >>> split_range("file.glb#Run:1s-3s")[0]
    'file.glb#Run'
    >>> split_range("C:/clips/walk.bvh")
    ('C:/clips/walk.bvh', None)
    """
    if ":" not in of_kind(text, str, "text") or is_file(Path(text)):
        return text, None
    found = _RANGE.search(text)
    if found is None or re.fullmatch("[A-Za-z]?", text[: found.start()]):
        _refuse_almost(text)
        return text, None
    first, first_s, last, last_s = found.groups()
    units = {first_s, last_s} - {None}
    if not units:
        raise _wrong(text, "A range must have a first or a last frame or second, got neither")
    if len(units) == 2:
        raise _wrong(text, "The ends of a range must both be seconds or both be frames")
    ends = [None if each is None else float(each) for each in (first, last)]
    seconds = "s" in units
    if not seconds and any(each is not None and each != int(each) for each in ends):
        raise _wrong(text, "Frames of a range must be whole numbers; seconds end in s")
    if ends[0] is not None and ends[1] is not None and ends[0] > ends[1]:
        raise _wrong(text, "A range must not begin after its end")
    return text[: found.start()], ClipRange(ends[0], ends[1], seconds, text)


def _refuse_almost(text: str) -> None:
    """Raise where a file is followed by a text that only looks like a range."""
    almost = _ALMOST.search(text)
    if almost and is_file(Path(split_clip(text[: almost.start()])[0])):
        raise _wrong(text, f"A range must be FIRST-LAST, got {text[almost.start() + 1 :]!r}")


def _wrong(text: str, problem: str) -> FormatError:
    return FormatError(f"{problem}.", path=text, fix=_HOW)
