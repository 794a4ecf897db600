"""--engine and --root: results with the names, root, rest pose, unit and axes of a game engine."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

import motionloom as ml


class EngineName(StrEnum):
    """Engines that files are written for."""

    unreal = "unreal"
    unity = "unity"
    godot = "godot"


class Root(StrEnum):
    """Where travel and turn go."""

    hips = "hips"
    bone = "bone"
    in_place = "in-place"


Engine = Annotated[
    EngineName | None,
    typer.Option(
        "--engine", help="FBX or GLB with bone names, root bone, rest pose, unit and axes of it."
    ),
]
RootAt = Annotated[
    Root | None,
    typer.Option(
        "--root", help="Travel on the hips, on a root bone (usual with --engine), or removed."
    ),
]


@dataclass(frozen=True, slots=True)
class Layout:
    """How the skeleton of results is laid out."""

    engine: EngineName | None = None
    root: Root | None = None
    body: Path | None = None
    """File with the roles of joints."""

    @property
    def format(self) -> str | None:
        """Format for results without a suffix, None where nothing decides it."""
        return None if self.engine is None else ml.EngineExport(self.engine.value).formats[0]

    def check(self, output: str) -> None:
        """Refuse a file that the engine does not import, before anything is read."""
        if self.engine is None or output == "-":
            return
        export = ml.EngineExport(self.engine.value)
        suffixes = [f".{each}" for each in export.formats]
        if Path(output).suffix.lower() not in suffixes:
            raise ml.FormatError(
                f"A file for {export.title} must end in {' or '.join(suffixes)}.",
                path=output,
                fix=f"Name one that ends in {suffixes[0]}, or leave out --engine.",
            )

    def export(self, motion: ml.Motion) -> ml.EngineExport | None:
        """What :func:`motionloom.save` is given as its engine."""
        if self.engine is None:
            return None
        root = Root.bone if self.root is None else self.root
        body = None if self.body is None else ml.BodyMap.load(self.body, motion.skeleton)
        return ml.EngineExport(self.engine.value, root=root.value, body=body)

    def with_root(self, motion: ml.Motion) -> ml.Motion:
        """The motion with its travel where --root wants it; an engine's export moves it itself.

        Of a clip that has a root bone, ``bone`` uses it, and ``hips`` takes it out.
        """
        if self.engine is not None or self.root is None:
            return motion
        skeleton = motion.skeleton
        if self.body is not None:
            body = ml.BodyMap.load(self.body, skeleton)
        else:
            body = ml.BodyMap.guess(skeleton, motion=motion)
        if self.root is Root.in_place:
            return ml.in_place(motion, body=body)
        above = len(skeleton.chain(body.pelvis)) - 1 if body.pelvis else 0
        if self.root is Root.bone:
            move = ml.travel_on_root if above else ml.with_root_bone
            return move(motion, body=body)
        for _ in range(above):
            motion = ml.without_root_bone(motion)
        return motion

    def without_root(self) -> Layout:
        """The layout of a motion that :meth:`with_root` has had."""
        return self if self.engine is not None else NO_LAYOUT


NO_LAYOUT = Layout()
