"""Draw docs/img/readme.webp, the picture of the README: a transition, a blend and a splice.

    python scripts/readme_picture.py

All clips are embedded ones. The paper is light, so that the bodies can be seen on a dark page, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

import motionloom as ml
from motionloom.drawing.canvas import AMBER, BLUE, LIGHT, Rgb, mix
from motionloom.drawing.film import Stage, set_stage
from motionloom.drawing.steering import tint_transition

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "img" / "readme.webp"
SIZE = (280, 280)
"""Pixels of a body's part of the picture."""
SECONDS = 4.0
FPS = 15.0

Part = tuple[str, Stage, Callable[[int], Rgb]]
"""Title, stage, and the colour of every frame."""


def parts() -> Iterator[Part]:
    """The three motions: amber comes from the first clip, blue from the second."""
    walk, run, sneak, wave = (
        ml.synthetic.clip(kind, duration_s=6.0).motion for kind in ("walk", "run", "sneak", "wave")
    )
    joined = ml.transition(walk, run, at=(150, 100), length_s=0.8)
    first = joined.span[0] - round(1.6 * walk.fps)
    shown = joined.motion[first : first + round(SECONDS * walk.fps) + 1]
    yield "walk, then run", set_stage(shown, size=SIZE), tint_transition(joined, first=first)
    blended = ml.blend([walk, sneak], [0.5, 0.5])
    half = _always(mix(AMBER, BLUE, 0.5))
    yield "half walk, half sneak", set_stage(blended.motion, size=SIZE), half
    spliced = ml.splice(upper=wave, lower=walk)
    yield "wave on a walk", set_stage(spliced.motion, size=SIZE), _always(BLUE)


def _always(colour: Rgb) -> Callable[[int], Rgb]:
    return lambda frame: colour


def main() -> None:
    """Write the picture."""
    shown = list(parts())
    font = ImageFont.load_default(16)
    frames = []
    for second in np.arange(0.0, SECONDS, 1.0 / FPS):
        frame = Image.new("RGB", (SIZE[0] * len(shown), SIZE[1]), LIGHT.paper)
        for number, (title, stage, tint) in enumerate(shown):
            at = min(second * stage.motion.fps, stage.motion.n_frames - 1.0)
            picture = replace(stage, colour=tint(round(at))).picture(at)
            ImageDraw.Draw(picture).text((12, 10), title, fill=LIGHT.label, font=font)
            frame.paste(picture, (number * SIZE[0], 0))
        frames.append(frame)
    frames[0].save(PICTURE, save_all=True, append_images=frames[1:], duration=round(1000 / FPS),
                   loop=0, quality=62, method=6, minimize_size=True)  # fmt: skip
    print(f"{PICTURE.relative_to(ROOT)}: {PICTURE.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
