"""The tables of a library: those that lie in its folder, the one built here, and which is open."""

from __future__ import annotations

import hashlib
import shutil
import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from msgspec import Struct

from motionloom.errors import MotionLoomError, TableError
from motionloom.intake.clip_suffixes import may_be_clip
from motionloom.studio.clips.library import Library
from motionloom.studio.messages.answers import Answer
from motionloom.studio.messages.table_messages import TableBuild
from motionloom.studio.panels.table_job import BuildJob
from motionloom.studio.panels.table_worker import Plan
from motionloom.studio.results.equivalents import command_line
from motionloom.tables.evaluation.replay import naturalness_map
from motionloom.tables.table import TransitionTable
from motionloom.tables.table_file import open_table_file

__all__ = ["OpenTable", "Tables"]

BUILT_HERE = "built here"
"""Id of the table that the studio builds."""
LABELS = "labels.csv"
DIGEST_BYTES = 4


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
    digest: str
    """Of all that its transitions are made from."""
    extended: bool
    """Whether clips were added after it was built."""

    @property
    def goals(self) -> list[str]:
        """Where a live character can go: labels, or clips of a window or more if there are none."""
        labels = sorted({label.label for label in self.table.collection.labels})
        return labels or [clip.id for clip in self.clips if clip.frames >= self.table.length]

    def library_clip(self, clip: str) -> str:
        """The library's id of a clip; the table's own where the library does not list it."""
        found = next((each.clip for each in self.clips if each.id == clip), None)
        return found or clip

    @property
    def verdicts(self) -> Path:
        """The file of what people say of its transitions, named by what the table holds.

        A table that is built anew with other settings makes other motions: what was said of those
        of the old one does not count for it.
        """
        return self.table.file.with_suffix(f".{self.digest}.verdicts.csv")

    def _build_command(self, info: dict[str, Any]) -> str:
        """The command line that builds the same table, from its collection, which stays as it is.

        Into the folder where it is called, and over nothing. Empty where the table was extended:
        no single command builds such a one.
        """
        if self.extended:
            return ""
        settings = info["settings"]
        return command_line(
            "table", "build", str(self.table.collection.path.resolve()), "-o", self.table.file.name,
            "--length", f"{info['length_s']:g}", "--clusters", str(settings["clusters"]),
            "--ways", ",".join(str(n) for n in settings["ways"]), "--seed", str(settings["seed"]),
            "--lookup", str(settings["lookup"]), "--score", settings["score"],
            "--weights", settings["family"],
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
        self._before: OpenTable | None = None
        """Open when the build began."""
        self._job: BuildJob | None = None
        self._settled: BuildJob | None = None
        """The build whose end was acted upon."""
        self.judging = threading.Lock()
        """Held while verdicts are read and replaced."""

    def state(self) -> Answer:
        """Tables, the open one, and the build under way."""
        with self._lock:
            job = self._job
            self._settle()
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
        with self._lock:
            if self._job is not None and self._job.running:
                raise TableError("A table is being built. Wait for it, or stop it first.")
            plan = self._plan(wish)
            self._clear(Path(plan.collection))
            self._before, self._open = self._open, None  # its file is about to be another's
            self._job = BuildJob(plan)
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
            self._settle()
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
            arrays["natural"] = naturalness_map(table)
        places = [table.frames.place_of(int(row)) for row in table.ends]
        return Answer("matrix", {"places": places, "score": table.settings["score"]}, arrays)

    def close(self) -> None:
        """End a build that is under way."""
        if self._job is not None:
            self._job.cancel()

    def _settle(self) -> None:
        """Open what was built; where a build came to nothing, what was open before."""
        job = self._job
        if job is None or job.running or job is self._settled:
            return
        before, self._before, self._settled = self._before, None, job
        if job.state().state != "built":
            self._open = self._open or before
        elif (file := self._files().get(BUILT_HERE)) is not None:
            self._open = self._opened(BUILT_HERE, file)

    def _clear(self, wanted: Path) -> None:
        """Delete collections of earlier builds that neither the table here nor the next one uses.

        Each build reads into a collection of its own: one that is stopped or fails leaves the
        table that was there, and what that was built on, as they were.
        """
        kept = {wanted.resolve()}
        file = self._files().get(BUILT_HERE)
        if file is not None:
            with suppress(MotionLoomError):  # else it is no use any more
                kept.add(TransitionTable.open(file).collection.path.resolve())
        for path in self.place.glob("table*.mlc"):
            if path.resolve() not in kept:
                shutil.rmtree(path, ignore_errors=True)

    def _plan(self, wish: TableBuild) -> Plan:
        folder, labels = self.library.folder, None
        if folder is not None and (folder / LABELS).is_file():
            labels = str(folder / LABELS)
        return Plan(
            str(self.place / "embedded" if folder is None else folder),
            folder is None,
            str(self.place / f"table-{self._sources(wish.fps)}.mlc"),
            str(self.place / "table.mlt"),
            wish.clusters,
            wish.length_s,
            wish.fps,
            wish.lookup,
            labels,
        )

    def _sources(self, fps: float) -> str:
        """Digest of what a collection is read from: a build that was stopped finds its own."""
        said: list[object] = [fps]
        folder = self.library.folder
        for path in sorted(folder.rglob("*")) if folder is not None else ():
            if path.is_file() and (may_be_clip(path) or path.name == LABELS):
                found = path.stat()
                said.append([str(path), found.st_size, found.st_mtime_ns])
        return hashlib.blake2b(repr(said).encode(), digest_size=DIGEST_BYTES).hexdigest()

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
        stems = {_table_id(clip): clip for clip in listed}
        lengths = np.diff(frames.starts)
        clips = tuple(
            TableClip(clip, clip if clip in listed else stems.get(clip), int(length))
            for clip, length in zip(frames.ids, lengths, strict=True)
        )
        extended = "extended" in open_table_file(file).header
        return OpenTable(name, table, clips, _digest(table), extended)


def _digest(table: TransitionTable) -> str:
    said = [table.collection.digest, table.length, table.settings]
    found = hashlib.blake2b(msgspec.json.encode(said), digest_size=DIGEST_BYTES)
    for name, array in sorted(table.arrays.items()):
        found.update(name.encode())
        found.update(np.ascontiguousarray(array).data)
    return found.hexdigest()


def _table_id(clip: str) -> str:
    """What a table calls a clip of the library: without the suffix of its file."""
    file, _, name = clip.rpartition("#")
    if Path(file).suffix.lower() in (".glb", ".gltf"):
        return f"{Path(file).with_suffix('').as_posix()}#{name}"
    return Path(clip).with_suffix("").as_posix()
