"""Looking at a clip: inside a notebook, otherwise in the browser."""

from __future__ import annotations

import html
import os
import sys
import tempfile
import webbrowser
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from motionloom._paths import path_of
from motionloom.body.body_map import BodyMap
from motionloom.drawing.page import player_page
from motionloom.intake.load import load
from motionloom.motion.contacts import Footplants
from motionloom.motion.motion import Motion
from motionloom.saving.whole_file import file_errors, write_bytes

__all__ = ["Viewer", "view"]


class Viewer:
    """A page with a player; shows itself in a notebook, and can be saved."""

    def __init__(self, page: str, *, path: Path | None = None) -> None:
        self.page = page
        """The HTML text, whole and self-contained."""
        self.path = path
        """The file opened in the browser, None in a notebook."""

    def save(self, path: str | Path) -> Path:
        """Write the page to a file and give back its path."""
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


class Result(Protocol):
    """What operations return: a motion and its contacts."""

    @property
    def motion(self) -> Motion:
        """The result."""

    @property
    def footplants(self) -> Footplants:
        """Its contacts."""


def view(
    motion: Motion | Result | str | Path | Sequence[Motion],
    *,
    footplants: Footplants | Sequence[Footplants | None] | None = None,
    body: BodyMap | None = None,
) -> Viewer:
    """A player for a clip (or several): inline in a notebook, otherwise opened in the browser.

    Never blocks. Where there is neither notebook nor browser, the page is written to a temporary
    file whose path is in the result.

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
        The page; in a notebook it shows itself.

    Examples
    --------
    >>> from motionloom import synthetic
    >>> page = view(synthetic.clip("walk").motion)  # doctest: +SKIP
    >>> page.save("walk.html")  # doctest: +SKIP
    """
    if isinstance(motion, str | Path):
        motion = load(motion)
    elif not isinstance(motion, Motion | list | tuple) and hasattr(motion, "motion"):
        result: Result = motion  # type: ignore[assignment]
        motion = result.motion
        whole = result.footplants.n_frames == motion.n_frames  # of a filled gap they are not
        footplants = result.footplants if footplants is None and whole else footplants
    page = player_page(motion, footplants=footplants, body=body)
    if _in_notebook():
        return Viewer(page)
    path = _temporary_page(page)
    webbrowser.open(path.as_uri())
    return Viewer(page, path=path)


def _temporary_page(page: str) -> Path:
    with file_errors(Path(tempfile.gettempdir()) / "motionloom.html"):
        handle, name = tempfile.mkstemp(suffix=".html", prefix="motionloom-")
        os.close(handle)
    try:
        write_bytes(Path(name), page.encode())
    except BaseException:
        with suppress(OSError):
            Path(name).unlink()
        raise
    return Path(name)


def _in_notebook() -> bool:
    """Whether a notebook's kernel, and not a plain or terminal Python, runs this."""
    if "IPython" not in sys.modules:
        return False
    shell = sys.modules["IPython"].get_ipython()
    return shell is not None and type(shell).__name__ == "ZMQInteractiveShell"
