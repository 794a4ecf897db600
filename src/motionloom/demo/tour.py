"""What the chapters of the demo share: the folder, the report page, the clips and results."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import motionloom as ml
from motionloom.drawing.canvas import save_canvas
from motionloom.drawing.page import Report, pack_clip
from motionloom.files.writing import write_bytes
from motionloom.synthetic import SyntheticClip

Step = Callable[[], None]
"""One piece of work of a few seconds at most: progress bars count these."""


class Tour:
    """What the chapters share: the folder, the report, and the clips and results so far."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files: list[str] = []
        self.clips: dict[str, SyntheticClip] = {}
        self.results: dict[str, Any] = {}
        self.report = Report(
            "motionloom demo",
            "New human motion out of captured motion. This page begins with what motionloom makes, "
            "then shows how, then the clips that it was made from. All of it was made by this run "
            "from embedded clips; the files are in the same folder as this page.",
        )

    def clip(self, kind: str) -> SyntheticClip:
        """An embedded clip."""
        if kind not in self.clips:
            self.clips[kind] = ml.synthetic.clip(kind)
        return self.clips[kind]

    def wrote(self, name: str) -> Path:
        """The path of a file of the demo, which is counted."""
        self.files.append(name)
        return self.folder / name

    def picture(self, name: str, draw: Callable[[io.BytesIO], None], caption: str) -> None:
        """A PNG drawn once, written to the folder and into the report."""
        buffer = io.BytesIO()
        draw(buffer)
        write_bytes(self.wrote(name), buffer.getvalue())
        self.report.picture(buffer.getvalue(), caption)

    def chart(self, name: str, canvas: Any, caption: str) -> None:
        """A chart written to the folder and into the report."""
        self.picture(name, lambda stream: save_canvas(canvas, stream, "png"), caption)

    def play(self, result: Any, name: str) -> None:
        """A player of a result."""
        clip = pack_clip(result.motion, footplants=result.footplants, name=name)
        self.report.player([clip])
