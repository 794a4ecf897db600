"""Films: a clip as GIF or MP4."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from motionloom._extras import require_extra
from motionloom._progress import report_step
from motionloom.body.body_map import BodyMap
from motionloom.drawing.camera import View
from motionloom.drawing.mp4 import write_mp4
from motionloom.drawing.stage import Stage, set_stage
from motionloom.drawing.theme import INK, Rgb
from motionloom.errors import FormatError
from motionloom.files.reading import path_of
from motionloom.files.writing import write_bytes
from motionloom.motion.contacts import Footplants
from motionloom.motion.motion import Motion

if TYPE_CHECKING:
    from PIL import Image

GIF_FPS = 25.0
"""GIF counts time in hundredths of a second: of the smooth rates only 25 and 50 are exact."""
MP4_FPS = 30.0


def save_film(
    motion: Motion,
    path: Path,
    *,
    footplants: Footplants | None = None,
    body: BodyMap | None = None,
    view: View = "three-quarter",
    size: tuple[int, int] = (480, 400),
    colour: Rgb = INK,
) -> None:
    """Write the clip as a film in real time; the suffix (``.gif`` or ``.mp4``) picks the kind.

    The camera follows the figure. The file appears whole or not at all. See :func:`set_stage` for
    the options.

    Raises
    ------
    MotionLoomError
        The extra ``pictures`` is not installed, or ``video`` for a ``.mp4``.
    """
    path = path_of(path, "path")
    suffix = path.suffix.lower()
    if suffix not in (".gif", ".mp4"):
        raise FormatError(f"A film is a .gif or a .mp4, not a {suffix!r}.", path=path)
    require_extra("video" if suffix == ".mp4" else "pictures", f"A {suffix} film")
    stage = set_stage(motion, footplants=footplants, body=body, view=view, size=size, colour=colour)
    if suffix == ".gif":
        _write_gif(stage, path)
    else:
        _write_mp4(stage, path)


def _pictures(stage: Stage, fps: float) -> Iterator[Image.Image]:
    last = stage.motion.n_frames - 1
    step = stage.motion.fps / fps
    count = max(1, int(np.floor(last / step + 1e-6)) + 1)
    for n in range(count):
        report_step("drawing the film", n, count)
        yield stage.picture(min(n * step, last))


def _write_gif(stage: Stage, path: Path) -> None:
    from PIL import Image

    pictures = list(_pictures(stage, GIF_FPS))
    # One palette for all, from the first, the middle and the last picture: no flicker.
    width, height = stage.size
    sample = Image.new("RGB", (width, 3 * height))
    for n, at in enumerate((0, len(pictures) // 2, -1)):
        sample.paste(pictures[at], (0, n * height))
    palette = sample.quantize(colors=96, method=Image.Quantize.MEDIANCUT)
    frames = []
    for n, each in enumerate(pictures):
        report_step("choosing colours", n, len(pictures))
        frames.append(each.quantize(palette=palette, dither=Image.Dither.NONE))
    film = io.BytesIO()  # an encoder that writes to a file itself hides why that failed
    frames[0].save(
        film,
        format="GIF",
        save_all=True,
        append_images=frames[1:],
        duration=round(1000 / GIF_FPS),
        loop=0,
        optimize=False,
    )
    write_bytes(path, film.getvalue())


def _write_mp4(stage: Stage, path: Path) -> None:
    # The codec halves the colours in both directions: only even sides can be written.
    width, height = (side - side % 2 for side in stage.size)
    pictures = (
        picture.crop((0, 0, width, height)).tobytes() for picture in _pictures(stage, MP4_FPS)
    )
    write_mp4(path, pictures, size=(width, height), fps=MP4_FPS)
