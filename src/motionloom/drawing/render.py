"""render(): a clip as a picture, a film or a page; the suffix picks which."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, cast

from motionloom._arrays import items, of_kind, one_of, whole
from motionloom.body.body_map import BodyMap
from motionloom.drawing.camera import VIEWS, View
from motionloom.drawing.figure import Result, motion_and_contacts
from motionloom.drawing.film import save_film
from motionloom.drawing.page import player_page
from motionloom.drawing.strip import save_strip
from motionloom.drawing.tracks import save_tracks
from motionloom.errors import ArrayError, FormatError
from motionloom.files.reading import path_of
from motionloom.files.writing import write_bytes
from motionloom.motion.motion import Footplants, Motion, contacts_for

STILLS, FILMS, PAGES = (".png", ".svg", ".pdf"), (".gif", ".mp4"), (".html",)
SUFFIXES = (*STILLS, *FILMS, *PAGES)
SIZES = {"strip": (1600, 520), "tracks": (1400, 720), "film": (480, 400)}
"""Width and height where the caller names none, pixels."""


def render(
    motion: Motion | Result,
    path: str | Path,
    *,
    what: Literal["strip", "tracks"] = "strip",
    footplants: Footplants | None = None,
    body: BodyMap | None = None,
    view: View | None = None,
    size: tuple[int, int] | None = None,
    ghosts: int = 9,
) -> Path:
    """Draw a clip into a file: a picture, a film or a page with a player.

    Parameters
    ----------
    motion
        A clip, or the result of an operation such as ``ml.transition``.
    path
        ``.png``, ``.svg`` and ``.pdf`` are pictures, ``.gif`` and ``.mp4`` films in real time,
        ``.html`` a page with a player that needs no other file.
    what
        Content of a picture: the figure several times along its path (``"strip"``), or speed and
        height of the feet over time (``"tracks"``).
    footplants
        Contacts to show; those of a result, or detected where not given.
    body
        Which joint is which; guessed where not given.
    view
        ``"side"``, ``"front"``, ``"top"`` or ``"three-quarter"``; by default pictures are seen
        from the side, films and pages from three quarters.
    size
        Width and height of pictures and films, pixels.
    ghosts
        Figures in a strip.

    Returns
    -------
    Path
        The file, written whole or not at all.

    Raises
    ------
    FormatError
        The suffix is none of these, or the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from motionloom import synthetic
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = render(synthetic.clip("walk").motion, Path(folder) / "walk.html")
    ...     page.read_text(encoding="utf-8").startswith("<!doctype html>")
    True
    """
    drawn, footplants = motion_and_contacts(motion, footplants)
    motion = of_kind(drawn, Motion, "motion")
    if footplants is not None:
        contacts_for(footplants, motion.n_frames)
    view = None if view is None else cast(View, one_of(view, VIEWS, "view"))
    ghosts = whole(ghosts, "ghosts", least=1, most=200)
    if size is not None:
        pair = items(size, "size", "width and height in pixels")
        if len(pair) != 2:
            raise ArrayError(f"`size` must be width and height in pixels, got {len(pair)} values.")
        width, height = (whole(each, "size", least=16, most=8192) for each in pair)
        size = width, height
    target = path_of(path, "path")
    suffix, kind = target.suffix.lower(), one_of(what, ("strip", "tracks"), "what")
    if suffix in PAGES:
        page = player_page(motion, footplants=footplants, body=body, view=view or "three-quarter")
        write_bytes(target, page.encode())
    elif suffix in FILMS:
        size, view = size or SIZES["film"], view or "three-quarter"
        save_film(motion, target, footplants=footplants, body=body, view=view, size=size)
    elif suffix not in STILLS:
        raise FormatError(f"A picture must end in one of {', '.join(SUFFIXES)}.", path=target)
    elif kind == "tracks":
        size = size or SIZES[kind]
        save_tracks(motion, target, footplants=footplants, body=body, size=size, kind=suffix[1:])
    else:
        save_strip(
            motion, target, footplants=footplants, body=body, view=view or "side", ghosts=ghosts,
            size=size or SIZES[kind], kind=suffix[1:],
        )  # fmt: skip
    return target
