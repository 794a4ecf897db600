"""write_demo(): clips, pictures and a report page made from embedded clips."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from motionloom._extras import require_extra
from motionloom.demo.chapters import CHAPTERS
from motionloom.demo.tour import Step, Tour
from motionloom.errors import FormatError
from motionloom.files.reading import path_of
from motionloom.files.writing import write_bytes


def write_demo(
    folder: str | Path, *, track: Callable[[list[Step]], Iterable[Step]] = list
) -> list[str]:
    """Write clips, pictures and a report page made from embedded clips.

    Parameters
    ----------
    folder
        A new or empty folder, or that of an earlier demo, whose files are replaced.
    track
        Passes the steps on one by one, such as a progress bar.

    Returns
    -------
    list of str
        The files, relative to the folder; the last is ``report.html``.

    Raises
    ------
    FormatError
        The folder holds files that are not of an earlier demo.
    MotionLoomError
        The extra ``pictures`` is not installed.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_demo(folder, track=lambda steps: steps[:1])
    ['walk-to-jog.bvh', 'walk-to-jog.png', 'report.html']
    """
    place = path_of(folder, "folder")
    require_extra("pictures", "The demo")
    if place.exists() and not place.is_dir():
        raise FormatError(
            "The demo must be given a folder, and this is a file.", path=place, fix="Name a folder."
        )
    if place.is_dir() and any(place.iterdir()) and not (place / "report.html").is_file():
        raise FormatError(
            "The folder must be new, empty, or that of an earlier demo, and holds other files.",
            path=place,
            fix="Choose a new or empty folder.",
        )
    place.mkdir(parents=True, exist_ok=True)
    tour = Tour(place)
    for step in track([step for chapter in CHAPTERS for step in chapter(tour)]):
        step()
    write_bytes(tour.wrote("report.html"), tour.report.html().encode())
    return tour.files
