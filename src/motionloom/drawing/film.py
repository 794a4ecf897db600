"""Films: a clip as GIF or MP4, drawn moment by moment before a camera that follows it."""

from __future__ import annotations

import errno
import io
import os
import signal
import subprocess
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from motionloom._arrays import FloatArray
from motionloom._extras import command, require_extra
from motionloom._progress import report_step
from motionloom.body.body_map import BodyMap
from motionloom.drawing.camera import Camera, View, camera_for, travel_heading
from motionloom.drawing.canvas import INK, LIGHT, PLANTED, SLIDING, Rgb, mix
from motionloom.drawing.figure import Figure, ball_hull, build_figure
from motionloom.drawing.footprints import FootTrack, foot_colour, track_feet
from motionloom.errors import FormatError
from motionloom.files.reading import path_of
from motionloom.files.writing import file_errors, whole_path, write_bytes
from motionloom.motion.motion import Footplants, Motion

if TYPE_CHECKING:
    from PIL import Image, ImageDraw

OVERSAMPLE = 2
"""Pictures are drawn this much larger and scaled down, which smooths every edge."""
EYE_DISTANCE = 4.2
"""From eye to figure, in statures: a long lens, under which limbs keep their length."""
GRID_M = 0.5
"""Metres between the lines on the floor."""
_LIGHT_LAYERS = ((1.0, 0.0, 0.0), (0.86, 0.06, 0.06), (0.70, 0.14, 0.12), (0.50, 0.25, 0.18))
"""Nested outlines of a part: size, shift towards the light, brightness. A soft key light."""
_SHADOW_LAYERS = ((1.9, 16), (1.35, 34), (0.9, 56))
"""Of a part's shadow: size and darkness, from the soft edge to the middle."""
GIF_FPS = 25.0
"""GIF counts time in hundredths of a second: of the smooth rates only 25 and 50 are exact."""
MP4_FPS = 30.0
QUALITY = 15
"""Constant rate factor of the codec: 0 loses nothing, 51 is worst."""


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


def set_stage(
    motion: Motion,
    *,
    footplants: Footplants | None = None,
    body: BodyMap | None = None,
    view: View = "three-quarter",
    size: tuple[int, int] = (640, 480),
    colour: Rgb = INK,
) -> Stage:
    """A clip before a camera that follows it.

    Parameters
    ----------
    motion
        The clip.
    footplants
        Plants to mark; detected where not given.
    view
        ``"side"``, ``"front"``, ``"top"`` or ``"three-quarter"``, as seen along the travel.
    body
        Which joint is which; guessed by default.
    size
        Pixels, width and height.
    colour
        Of the figure.
    """
    figure = build_figure(motion, body=body)
    floor = figure.floor()
    camera = camera_for(travel_heading(motion), view, distance=EYE_DISTANCE * figure.height)
    path = _smooth(np.array(motion.root_positions), motion.fps)
    path[:, 1] = floor + 0.5 * figure.height
    track = track_feet(motion, footplants, body=body)
    return Stage(motion, figure, track, camera, path, floor, size, colour)


@dataclass(frozen=True, slots=True, eq=False)
class Stage:
    """A clip set up before a camera."""

    motion: Motion
    figure: Figure
    track: FootTrack | None
    camera: Camera
    path: FloatArray
    """Point looked at in every frame. Shape (F, 3)."""
    floor: float
    size: tuple[int, int]
    colour: Rgb

    def picture(self, frame: float) -> Image.Image:
        """The picture at a (fractional) frame."""
        from PIL import Image, ImageDraw, ImageFont

        width, height = (OVERSAMPLE * side for side in self.size)
        image = Image.new("RGB", (width, height), LIGHT.paper)
        pen = ImageDraw.Draw(image, "RGBA")
        low = min(int(frame), self.figure.n_frames - 1)
        high = min(low + 1, self.figure.n_frames - 1)
        points = self.figure.points[low] + (frame - low) * (
            self.figure.points[high] - self.figure.points[low]
        )
        target = self.path[low] + (frame - low) * (self.path[high] - self.path[low])
        lens = _Lens(self.camera.at(target), (width, height), self._metres_high())
        self._draw_ground(pen, lens, target)
        self._draw_prints(pen, lens, frame)
        self._draw_shadow(pen, lens, points)
        self._draw_body(pen, lens, points, round(frame))
        small = image.reduce(OVERSAMPLE)
        label = f"{frame / self.motion.fps:.2f} s"
        font = ImageFont.load_default(13)
        ImageDraw.Draw(small).text((12, self.size[1] - 24), label, fill=LIGHT.label, font=font)
        return small

    def _metres_high(self) -> float:
        width, height = self.size
        return self.figure.height * max(1.45, 1.25 * height / width)

    def _draw_ground(self, pen: ImageDraw.ImageDraw, lens: _Lens, target: FloatArray) -> None:
        reach = np.arange(-9, 10) * GRID_M
        x0, z0 = (np.round(target[[0, 2]] / GRID_M) * GRID_M).tolist()
        ends = []
        for by in reach.tolist():
            far = float(np.sqrt(max(reach[-1] ** 2 - by**2, 0.0)))
            ends.append(((x0 + by, z0 - far), (x0 + by, z0 + far)))
            ends.append(((x0 - far, z0 + by), (x0 + far, z0 + by)))
        world = np.array([[(x, self.floor, z) for x, z in pair] for pair in ends])  # (L, 2, 3)
        for a, b in lens.pixels(world)[0].tolist():
            pen.line([tuple(a), tuple(b)], fill=LIGHT.grid, width=OVERSAMPLE)

    def _draw_prints(self, pen: ImageDraw.ImageDraw, lens: _Lens, frame: float) -> None:
        if self.track is None:
            return
        turn = np.linspace(0.0, 2.0 * np.pi, 20, endpoint=False)
        for mark in self.track.prints:
            if frame < mark.first:
                continue
            long, wide = (0.062, 0.042) if mark.kind.endswith("toe") else (0.036, 0.031)
            sin, cos = np.sin(mark.heading), np.cos(mark.heading)
            ahead, across = long * np.cos(turn), wide * np.sin(turn)
            rim = np.stack(
                [
                    mark.place[0] + sin * ahead + cos * across,
                    np.full(20, mark.ground(self.floor, self.figure.height)),
                    mark.place[2] + cos * ahead - sin * across,
                ],
                axis=-1,
            )
            colour = SLIDING if mark.slides else PLANTED
            alpha = 235 if frame <= mark.last + 1 else 95
            pen.polygon([tuple(p) for p in lens.pixels(rim)[0].tolist()], fill=(*colour, alpha))

    def _draw_shadow(self, pen: ImageDraw.ImageDraw, lens: _Lens, points: FloatArray) -> None:
        from PIL import Image, ImageDraw

        # Drawn apart and laid over once, so that overlapping limbs do not darken twice.
        mask = Image.new("L", pen._image.size, 0)
        soft = ImageDraw.Draw(mask)
        lift = np.maximum(points[:, 1] - self.floor, 0.0) / self.figure.height
        ground = points[:, [0, 2]] + 0.05 * lift[:, None]
        layers = [
            [
                ball_hull(
                    ground[list(part.points)],
                    np.array(part.radii)
                    * (spread - 0.35 * np.minimum(lift[list(part.points)], 1.0)),
                )
                for part in self.figure.parts
            ]
            for spread, _ in _SHADOW_LAYERS
        ]
        rims = np.array(layers)  # (L, P, K, 2)
        world = np.insert(rims, 1, self.floor, axis=-1)
        for rims_of_layer, (_, dark) in zip(
            lens.pixels(world)[0].tolist(), _SHADOW_LAYERS, strict=True
        ):
            for rim in rims_of_layer:
                soft.polygon([tuple(p) for p in rim], fill=dark)
        dark_part = mask.getbbox()
        if dark_part is not None:
            pen._image.paste(mix(INK, (0, 0, 0), 0.5), dark_part, mask.crop(dark_part))

    def _draw_body(
        self, pen: ImageDraw.ImageDraw, lens: _Lens, points: FloatArray, frame: int
    ) -> None:
        flat, near, scale = lens.pixels(points)
        depth = {part: self.figure.nearness(part, near) for part in self.figure.parts}
        order = sorted(self.figure.parts, key=depth.__getitem__)
        far, close = depth[order[0]], depth[order[-1]]
        for part in order:
            back = 0.3 * (close - depth[part]) / max(close - far, 0.15 * self.figure.height)
            base = foot_colour(part, self.track, frame, self.colour)
            centres = flat[list(part.points)]
            radii = np.array(part.radii) * scale[list(part.points)]
            for size, shift, light in _LIGHT_LAYERS:
                lit = centres - radii[:, None] * [shift, 1.2 * shift]
                rim = [tuple(p) for p in ball_hull(lit, size * radii).tolist()]
                edge = (
                    mix(base, LIGHT.paper, 0.25 if part.side == "middle" else 0.7)
                    if size == 1.0
                    else None
                )
                pen.polygon(rim, fill=mix(base, (255, 255, 255), back + light), outline=edge)


class _Lens:
    """World to pixels, for one frame."""

    def __init__(self, camera: Camera, size: tuple[int, int], metres_high: float) -> None:
        self.camera = camera
        self.centre = np.array([size[0] / 2, size[1] / 2])
        self.pixels_per_metre = size[1] / metres_high

    def pixels(self, points: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Pixels (..., 2), nearness (...) and pixels per metre (...) of world points."""
        flat, near, scale = self.camera.project(points)
        drawn = self.centre + flat * [self.pixels_per_metre, -self.pixels_per_metre]
        return drawn, near, scale * self.pixels_per_metre


def _smooth(values: FloatArray, fps: float) -> FloatArray:
    """Average over half a second, so that a followed walk does not shake the picture."""
    half = max(1, round(fps / 4))
    padded = np.concatenate([values[:1].repeat(half, 0), values, values[-1:].repeat(half, 0)])
    sums = np.cumsum(np.concatenate([np.zeros((1, 3)), padded]), axis=0)
    width = 2 * half + 1
    smooth: FloatArray = (sums[width:] - sums[:-width]) / width
    return smooth


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


def write_mp4(path: Path, pictures: Iterable[bytes], *, size: tuple[int, int], fps: float) -> None:
    """Write pictures (RGB bytes, row by row, both sides even) as a film.

    Raises
    ------
    FormatError
        The extra ``video`` is not installed, or the film cannot be written. What was there is
        unchanged.
    """
    program = _ffmpeg(path)
    with file_errors(path), whole_path(path) as temporary:
        command = [
            program, "-y", "-v", "error", "-f", "rawvideo", "-vcodec", "rawvideo",
            "-s", f"{size[0]}x{size[1]}", "-pix_fmt", "rgb24", "-r", f"{fps:g}", "-i", "-", "-an",
            "-pix_fmt", "yuv420p", "-crf", str(QUALITY), "-f", "mp4", f"file:{temporary}",
        ]  # fmt: skip
        _encode(command, pictures)


def _ffmpeg(path: Path) -> str:
    require_extra("video", "An MP4 film", error=FormatError)
    import imageio_ffmpeg

    try:
        return str(imageio_ffmpeg.get_ffmpeg_exe())
    except RuntimeError as error:
        problem = f"The package imageio-ffmpeg must find the program ffmpeg ({error})."
        raise FormatError(problem, path=path, fix=f"Run {command('video')}.") from error


def _encode(command: list[str], pictures: Iterable[bytes]) -> None:
    """Feed the pictures to ffmpeg; an OSError with its own words where it fails."""
    complaints: list[bytes] = []
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=os.name == "posix",  # Ctrl-C is for this process to handle
    ) as process:
        assert process.stdin is not None
        errors = process.stderr
        assert errors is not None
        listening = threading.Thread(target=lambda: complaints.append(errors.read()), daemon=True)
        listening.start()
        try:
            try:
                for picture in pictures:
                    process.stdin.write(picture)
                process.stdin.close()
            except BrokenPipeError:
                pass  # it has ended, and says why
            process.wait()
            listening.join()
        except BaseException:
            process.kill()
            raise
    if (
        hasattr(signal, "SIGXFSZ") and process.returncode == -signal.SIGXFSZ
    ):  # files may only be so large
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
    if process.returncode != 0:
        raise _fault(b"".join(complaints).decode(errors="replace"))


def _fault(complaint: str) -> OSError:
    for number in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        if os.strerror(number) in complaint:
            return OSError(number, os.strerror(number))
    last = " ".join(complaint.split())[-200:]
    return OSError(errno.EIO, f"ffmpeg failed ({last or 'without a word'})")
