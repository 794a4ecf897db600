"""Sheets of clips."""

from __future__ import annotations

import io

import numpy as np
from PIL import Image

import motionloom as ml
from motionloom.drawing.canvas import LIGHT
from studies.pictures.contact_sheet import SheetEntry, save_sheet


def near(picture: np.ndarray, colour: tuple[int, int, int], within: int = 12) -> np.ndarray:
    return np.abs(picture - np.array(colour)).max(axis=-1) <= within


def test_a_sheet_has_a_cell_for_every_clip() -> None:
    walk = ml.synthetic.clip("walk").motion
    entries = [SheetEntry(walk[:40], f"clip {n}", "fine") for n in range(3)]
    stream = io.BytesIO()
    save_sheet(entries, stream, columns=2, cell=(300, 120))
    picture = np.asarray(Image.open(stream).convert("RGB")).astype(int)
    assert picture.shape == (2 * (120 + 44), 600, 3)
    assert (~near(picture[164:, :300], LIGHT.paper)).any()
    assert near(picture[180:, 310:], LIGHT.paper).all()
