"""Looking at a clip: inside a notebook, otherwise in the browser."""

from __future__ import annotations

import hashlib
import html
import os
import stat
import sys
import tempfile
import webbrowser
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from motionloom.body.body_map import BodyMap
from motionloom.drawing.figure import Result, motion_and_contacts
from motionloom.drawing.page import player_page
from motionloom.errors import ArrayError, MotionLoomError
from motionloom.files.reading import path_of
from motionloom.files.writing import file_errors, write_bytes
from motionloom.intake.load import load
from motionloom.motion.edit import sample
from motionloom.motion.motion import Footplants, Motion

INLINE_FRAMES = 900
"""Frames of a clip that a notebook stores with a result; of longer clips every second or third is
shown, so that a result takes less than a megabyte."""
MOST_PAGES = 8
"""Pages in the temporary folder; older ones are removed."""


class Viewer:
    """A page with a player; a notebook displays it, and it can be saved."""

    def __init__(self, page: str, *, path: Path | None = None) -> None:
        self.page = page
        """The HTML text, whole and self-contained."""
        self.path = path
        """The file opened in the browser, None in a notebook."""

    def save(self, path: str | Path) -> Path:
        """Write the page to a file and return its path.

        Returns
        -------
        Path
            Where the page is.

        Examples
        --------
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as place:
        ...     Viewer("<p>A page</p>").save(Path(place) / "walk.html").name
        'walk.html'
        """
        target = path_of(path, "path")
        write_bytes(target, self.page.encode())
        return target

    def _repr_html_(self) -> str:
        # A separate frame keeps the page's style and script apart from the notebook's.
        return (
            f'<iframe srcdoc="{html.escape(self.page)}" sandbox="allow-scripts" '
            'width="100%" height="620" style="border:0;border-radius:10px"></iframe>'
        )

    def __repr__(self) -> str:
        return f"Viewer({str(self.path)!r})" if self.path else "Viewer(shown inline)"


def view(
    motion: Motion | Result | str | Path | Sequence[Motion],
    *,
    footplants: Footplants | Sequence[Footplants | None] | None = None,
    body: BodyMap | None = None,
) -> Viewer:
    """A player for a clip (or several): inline in a notebook, otherwise opened in the browser.

    Never blocks. Outside notebooks the page is a file in the temporary folder, whose path is in the
    result; the newest eight are kept.

    Parameters
    ----------
    motion
        A clip or several, a file, or the result of an operation such as ``ml.transition``.
    footplants
        Contacts to show; those of a result, or detected where not given.
    body
        Which joint is which; guessed by default.

    Returns
    -------
    Viewer
        The page; a notebook displays it.

    Examples
    --------
    >>> from motionloom import synthetic
    >>> page = view(synthetic.clip("walk").motion)  # doctest: +SKIP
    >>> page.save("walk.html")  # doctest: +SKIP
    """
    if isinstance(motion, str | Path):
        motion = load(motion)
    drawn, footplants = motion_and_contacts(motion, footplants)
    if not isinstance(drawn, Motion | list | tuple) or not drawn:
        raise ArrayError(
            f"`motion` must be a motion, a list of some, a file or a result, got {motion!r}."
        )
    page = player_page(drawn, footplants=footplants, body=body)
    if _in_notebook():
        return Viewer(page)
    path = _temporary_page(page)
    webbrowser.open(path.as_uri())
    return Viewer(page, path=path)


def inline_html(drawn: Motion | Result) -> str | None:
    """A player of a motion or a result for a notebook; None where it cannot be drawn."""
    try:
        motion = drawn if isinstance(drawn, Motion) else drawn.motion
        plants = None if isinstance(drawn, Motion) else getattr(drawn, "footplants", None)
        if not isinstance(plants, Footplants) or plants.n_frames != motion.n_frames:
            plants = None
        stride = -(-motion.n_frames // INLINE_FRAMES)
        if stride > 1:
            rows = np.arange(0, motion.n_frames, stride)
            plants = None if plants is None else Footplants(plants.planted[rows])
            motion = sample(motion, rows.astype(np.float64), fps=motion.fps / stride)
        return Viewer(player_page(motion, footplants=plants, autoplay=False))._repr_html_()
    except MotionLoomError:
        return None


def _temporary_page(page: str) -> Path:
    """The page in a folder of the user, in which the same page has the same file.

    It stays when the program ends, because the browser may still have to open it.
    """
    data = page.encode()
    folder = _page_folder()
    path = folder / f"{hashlib.blake2b(data, digest_size=8).hexdigest()}.html"
    write_bytes(path, data)
    with suppress(OSError):  # another program removes some, too
        pages = sorted(folder.glob("*.html"), key=lambda each: each.stat().st_mtime_ns)
        for old in pages[:-MOST_PAGES]:
            old.unlink()
    return path


def _page_folder() -> Path:
    user = os.getuid() if hasattr(os, "getuid") else "view"
    folder = Path(tempfile.gettempdir()) / f"motionloom-{user}"
    with file_errors(folder):
        folder.mkdir(mode=0o700, exist_ok=True)
        entry = folder.lstat()
        if not stat.S_ISDIR(entry.st_mode) or (hasattr(os, "getuid") and entry.st_uid != user):
            return Path(tempfile.mkdtemp(prefix="motionloom-"))  # the name belongs to another user
    return folder


def _in_notebook() -> bool:
    """Whether a notebook's kernel, and not a plain or terminal Python, runs this."""
    if "IPython" not in sys.modules:
        return False
    shell = sys.modules["IPython"].get_ipython()
    return shell is not None and type(shell).__name__ == "ZMQInteractiveShell"
