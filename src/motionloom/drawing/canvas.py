"""Blank pictures, their colours and axes, and how they are saved: the same bytes each time."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from motionloom._arrays import one_of
from motionloom._extras import require_extra
from motionloom.files.reading import path_of
from motionloom.files.writing import stream_errors, write_bytes
from motionloom.motion.motion import Motion

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

Rgb = tuple[int, int, int]
"""Red, green, blue, 0 to 255."""
INK: Rgb = (38, 43, 54)
"""A result, or a clip on its own."""
AMBER: Rgb = (214, 132, 18)
"""Clip A."""
BLUE: Rgb = (37, 105, 196)
"""Clip B."""
PLANTED: Rgb = (22, 155, 98)
"""A foot that stands still on the ground."""
SLIDING: Rgb = (208, 48, 48)
"""A foot that is labelled as planted and moves."""
# What each kind would stamp into the file, and must not: the same clip gives the same bytes.
_STAMPS: dict[str, dict[str, None]] = {
    "png": {"Software": None},
    "svg": {"Date": None},
    "pdf": {"CreationDate": None, "Producer": None, "Creator": None},
}
PNG_EFFORT = 2
"""Of 9: flat colours get little smaller by more, and pictures take twice as long."""
_EXAMPLES: tuple[Rgb, ...] = (
    AMBER,
    BLUE,
    (128, 82, 178),
    (20, 140, 152),
    (158, 84, 40),
    (196, 78, 148),
    (112, 122, 24),
    (88, 98, 116),
    (72, 160, 220),
)
"""Clip A and clip B as everywhere, then colours that are neither planted nor sliding feet."""


@dataclass(frozen=True, slots=True)
class Theme:
    """What a picture is drawn on."""

    paper: Rgb
    floor: Rgb
    """The ground below the floor line."""
    grid: Rgb
    label: Rgb


LIGHT = Theme(
    paper=(250, 250, 248), floor=(240, 240, 236), grid=(219, 220, 216), label=(98, 104, 114)
)


def mix(colour: Rgb, other: Rgb, amount: float) -> Rgb:
    """``colour`` with ``amount`` (0 to 1) of ``other`` in it."""
    r, g, b = (round(c + (o - c) * amount) for c, o in zip(colour, other, strict=True))
    return r, g, b


def hex_of(colour: Rgb) -> str:
    """``#rrggbb`` of a colour."""
    return "#{:02x}{:02x}{:02x}".format(*colour)


def blank_canvas(size: tuple[int, int]) -> Canvas:
    """Make an empty picture of a width and a height in pixels.

    Raises
    ------
    MotionLoomError
        The extra ``pictures`` is not installed.
    """
    require_extra("pictures", "A picture")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Canvas

    canvas = Canvas(figsize=(size[0] / 100, size[1] / 100), dpi=100, facecolor=hex_of(LIGHT.paper))
    FigureCanvasAgg(canvas)
    return canvas


def save_canvas(canvas: Canvas, target: Path | BinaryIO, kind: str) -> None:
    """Write a picture as ``"png"``, ``"svg"`` or ``"pdf"``; a file appears whole or not at all.

    Raises
    ------
    FormatError
        The file cannot be written.
    """
    from matplotlib import rc_context

    one_of(kind, _STAMPS, "kind")
    # A fixed salt: the names of an SVG's parts are otherwise drawn at random.
    with rc_context({"svg.hashsalt": "motionloom", "svg.fonttype": "none"}):
        # In memory first: encoders that write to a file themselves hide why that failed.
        picture = io.BytesIO()
        options: dict[str, Any] = (
            {"pil_kwargs": {"compress_level": PNG_EFFORT}} if kind == "png" else {}
        )
        canvas.savefig(picture, format=kind, metadata=_STAMPS[kind], **options)
    if hasattr(target, "write"):
        with stream_errors():
            target.write(picture.getvalue())
    else:
        write_bytes(path_of(target, "target"), picture.getvalue())


def example_colour(k: int) -> Rgb:
    """Colour of the k-th example; after nine they repeat."""
    return _EXAMPLES[k % len(_EXAMPLES)]


def example_names(motions: Sequence[Motion]) -> list[str]:
    """What to call each motion: its name, with a number where two share one."""
    names = [motion.name or f"motion {k}" for k, motion in enumerate(motions)]
    return [name if names.count(name) == 1 else f"{name} ({k})" for k, name in enumerate(names)]


def quiet_axes(axes: Axes, *, grid: bool = True) -> None:
    """Take away frames and ticks that say nothing."""
    label = hex_of(LIGHT.label)
    axes.set_facecolor(hex_of(LIGHT.paper))
    axes.tick_params(labelsize=8, colors=label, length=2)
    for spine in axes.spines.values():
        spine.set_visible(False)
    if grid:
        axes.grid(color=hex_of(LIGHT.grid), lw=0.6)
        axes.set_axisbelow(True)


def title_canvas(canvas: Canvas, title: str, remark: str = "") -> None:
    """Title at the top left of a picture, and a remark at its right."""
    width, height = canvas.get_size_inches() * canvas.dpi
    canvas.text(
        14 / width, 1 - 14 / height, title, va="top", ha="left", size=12, weight="bold",
        color=hex_of(INK), parse_math=False,
    )  # fmt: skip
    canvas.text(
        1 - 14 / width, 1 - 16 / height, remark, va="top", ha="right", size=9,
        color=hex_of(LIGHT.label), parse_math=False,
    )  # fmt: skip
