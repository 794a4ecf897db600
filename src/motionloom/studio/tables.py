"""The tables of a library: those that lie in its folder, the one built here, and which is open."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import Struct

from motionloom.errors import TableError
from motionloom.studio.answers import Answer
from motionloom.studio.equivalents import command_line
from motionloom.studio.library import Library
from motionloom.studio.table_job import BuildJob
from motionloom.studio.table_messages import TableBuild
from motionloom.studio.table_worker import Plan
from motionloom.transitions.natural import BIAS
from motionloom.transitions.table import TransitionTable

__all__ = ["OpenTable", "Tables"]

BUILT_HERE = "built here"
"""Id of the table that the studio builds."""
MOST_CLUSTERS, MOST_FPS = 200, 240.0
LABELS = "labels.csv"


class TableClip(Struct, frozen=True):
    """A clip of a table."""

    id: str
    clip: str | None
    """Its id in the library; None where the library does not list it."""
    frames: int


@dataclass(frozen=True, slots=True, eq=False)
class OpenTable:
    """The table that transitions are asked of."""

    id: str
    table: TransitionTable
    clips: tuple[TableClip, ...]

    @property
    def goals(self) -> list[str]:
        """Where a live character can be sent: labels, or clips where nothing is labelled."""
        labels = sorted({label.label for label in self.table.collection.labels})
        return labels or [clip.id for clip in self.clips]

    def library_clip(self, clip: str) -> str:
        """The library's id of a clip; the table's own where the library does not list it."""
        found = next((each.clip for each in self.clips if each.id == clip), None)
        return found or clip

    @property
    def verdicts(self) -> Path:
        """The file of what people say of its transitions."""
        return self.table.file.with_suffix(".verdicts.csv")

    def _build_command(self, info: dict[str, Any]) -> str:
        """The command line that builds a table like it."""
        lib, settings = self.table.collection, info["settings"]
        return command_line(
            "table", "build", str(lib.source_folder), "-o", str(self.table.file), "--collection",
            str(lib.path), "--fps", f"{info['fps']:g}", "--length", f"{info['length_s']:g}",
            "--clusters", str(settings["clusters"]), "--lookup", str(settings["lookup"]),
            "--score", settings["score"], "--weights", settings["family"], "--force",
        )  # fmt: skip

    def facts(self) -> dict[str, Any]:
        """For the page."""
        info = self.table.info()
        return {
            "id": self.id,
            "clips": list(self.clips),
            "fps": info["fps"],
            "frames": info["frames"],
            "length": info["length_frames"],
            "length_s": info["length_s"],
            "clusters": info["clusters"],
            "representatives": info["representatives"],
            "score": info["settings"]["score"],
            "labels": info["labels"],
            "goals": self.goals,
            "bytes": info["bytes"],
            "build": self._build_command(info),
            "evaluate": command_line(
                "table", "evaluate", str(self.table.file), "--verdicts", str(self.verdicts)
            ),
        }


class Tables:
    """Tables of one library. Pages name them by id; where they lie is the server's alone.

    Parameters
    ----------
    library
        Whose clips.
    place
        Folder for the table that is built here.
    """

    def __init__(self, library: Library, place: Path) -> None:
        self.library, self.place = library, place
        self._lock = threading.Lock()
        self._open: OpenTable | None = None
        self._job: BuildJob | None = None

    def state(self) -> Answer:
        """Tables, the open one, and the build under way."""
        with self._lock:
            job = self._job
            if job is not None and job.state().state == "built" and self._open is None:
                self._open = self._opened(BUILT_HERE, self._files()[BUILT_HERE])
            return Answer(
                "table",
                {
                    "tables": list(self._files()),
                    "table": None if self._open is None else self._open.facts(),
                    "job": None if job is None else job.state(),
                },
            )

    def build(self, wish: TableBuild) -> Answer:
        """Begin a build; what was built here before is replaced once it is done."""
        if not 2 <= wish.clusters <= MOST_CLUSTERS:
            raise TableError(f"`clusters` must be 2 to {MOST_CLUSTERS}, got {wish.clusters}.")
        if not 1.0 <= wish.fps <= MOST_FPS:
            raise TableError(f"`fps` must be 1 to {MOST_FPS:g}, got {wish.fps:g}.")
        with self._lock:
            if self._job is not None and self._job.running:
                raise TableError("A table is being built. Wait for it, or stop it first.")
            self._open = None  # its file is about to be another's
            self._job = BuildJob(self._plan(wish))
        return self.state()

    def cancel(self) -> Answer:
        """Stop the build."""
        job = self._job
        if job is not None:
            job.cancel()
        return self.state()

    def open(self, table: str) -> Answer:
        """Open one of the tables."""
        file = self._files().get(table)
        if file is None:
            raise TableError("A table must be one of the list. Choose one, or build one.")
        with self._lock:
            self._open = self._opened(table, file)
        return self.state()

    def current(self) -> OpenTable:
        """The open table; the first of the list where none was opened.

        Raises
        ------
        TableError
            There is none.
        """
        with self._lock:
            if self._open is None:
                if self._job is not None and self._job.running:
                    raise TableError("The table is still being built.")
                files = self._files()
                if not files:
                    raise TableError("There is no table yet. Build one in the Table room.")
                self._open = self._opened(*next(iter(files.items())))
            return self._open

    def matrix(self) -> Answer:
        """Costs between all representatives."""
        table = self.current().table
        costs = np.array(table.costs[..., 0], dtype=np.float32)
        costs[costs >= np.finfo(np.float16).max] = np.nan
        arrays: dict[str, Any] = {"costs": costs}
        if table.settings["score"] == "natural":
            arrays["natural"] = (1.0 / (1.0 + np.exp(costs - BIAS))).astype(np.float32)
        places = [table.frames.place_of(int(row)) for row in table.ends]
        return Answer("matrix", {"places": places, "score": table.settings["score"]}, arrays)

    def close(self) -> None:
        """End a build that is under way."""
        if self._job is not None:
            self._job.cancel()

    def _plan(self, wish: TableBuild) -> Plan:
        folder, labels = self.library.folder, None
        if folder is not None and (folder / LABELS).is_file():
            labels = str(folder / LABELS)
        return Plan(
            str(self.place / "embedded" if folder is None else folder),
            folder is None,
            str(self.place / "table.mlc"),
            str(self.place / "table.mlt"),
            wish.clusters,
            wish.length_s,
            wish.fps,
            wish.lookup,
            labels,
        )

    def _files(self) -> dict[str, Path]:
        """Every table by its id: the one built here first."""
        found = {}
        own = self.place / "table.mlt"
        if own.is_file():
            found[BUILT_HERE] = own
        folder = self.library.folder
        if folder is not None:
            beside = folder.with_name(f"{folder.name}.mlt")
            for path in (beside, *sorted(folder.glob("*.mlt"))):
                real = path.resolve()
                if path.is_file() and real.is_relative_to(folder.parent):
                    found[path.name] = real
        return found

    def _opened(self, name: str, file: Path) -> OpenTable:
        table = TransitionTable.open(file)
        inside = [self.place.resolve()]
        if self.library.folder is not None:
            inside += [self.library.folder.parent]
        if not any(table.collection.path.resolve().is_relative_to(place) for place in inside):
            raise TableError(f"{file.name} must have its collection beside it.")
        frames = table.frames
        listed = {item.id for item in self.library.items()}
        stems = {Path(clip).with_suffix("").as_posix(): clip for clip in listed}
        lengths = np.diff(frames.starts)
        clips = tuple(
            TableClip(clip, clip if clip in listed else stems.get(clip), int(length))
            for clip, length in zip(frames.ids, lengths, strict=True)
        )
        return OpenTable(name, table, clips)
