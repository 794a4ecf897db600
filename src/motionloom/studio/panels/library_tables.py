"""The tables of a library: those in its folder, the one built here, and the open one."""

from __future__ import annotations

import hashlib
import shutil
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from motionloom.errors import MotionLoomError, TableError
from motionloom.formats.registry import can_hold_several
from motionloom.intake.clip_names import may_be_clip
from motionloom.studio.clips.library import Library
from motionloom.studio.messages.answers import Answer
from motionloom.studio.messages.table_messages import (
    Matrix,
    TableBuild,
    TableClip,
    TableReport,
)
from motionloom.studio.panels.open_table import DIGEST_BYTES, OpenTable, table_digest
from motionloom.studio.panels.table_job import BuildJob
from motionloom.studio.panels.table_worker import Plan
from motionloom.tables.evaluation.replay import naturalness_map
from motionloom.tables.table import TransitionTable
from motionloom.tables.table_file import open_table_file

BUILT_HERE = "built here"
"""Id of the table that the studio builds."""
LABELS = "labels.csv"


class Tables:
    """Tables of one library. Pages name them by id and never see their paths."""

    def __init__(self, library: Library, place: Path) -> None:
        self.library, self.place = library, place
        self._lock = threading.Lock()
        self._open: OpenTable | None = None
        self._before: OpenTable | None = None
        """The table that was open when the build began."""
        self._job: BuildJob | None = None
        self._handled: BuildJob | None = None
        """The last build whose end was handled."""
        self.rating = threading.Lock()
        """Acquired while verdicts are read and replaced."""

    def state(self) -> Answer:
        """Tables, the open one, and the running build."""
        with self._lock:
            job = self._job
            self._handle_end()
            return Answer(
                TableReport(
                    list(self._files()),
                    None if self._open is None else self._open.facts(),
                    None if job is None else job.state(),
                )
            )

    def build(self, request: TableBuild) -> Answer:
        """Begin a build; it replaces the table built here before once it is complete."""
        with self._lock:
            if self._job is not None and self._job.running:
                raise TableError("A table is being built. Wait for it, or stop it first.")
            plan = self._plan(request)
            self._clear(Path(plan.collection))
            self._before, self._open = self._open, None  # its file will be replaced
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
            self._handle_end()
            if self._open is None:
                if self._job is not None and self._job.running:
                    raise TableError("The table is still being built.")
                files = self._files()
                if not files:
                    raise TableError("There is no table yet. Build one in the Table tab.")
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
        return Answer(Matrix(places, table.settings["score"]), arrays)

    def close(self) -> None:
        """End a running build."""
        if self._job is not None:
            self._job.cancel()

    def _handle_end(self) -> None:
        """Open the built table; after a build that failed, the table that was open before."""
        job = self._job
        if job is None or job.running or job is self._handled:
            return
        before, self._before, self._handled = self._before, None, job
        if job.state().state != "built":
            self._open = self._open or before
        elif (file := self._files().get(BUILT_HERE)) is not None:
            self._open = self._opened(BUILT_HERE, file)

    def _clear(self, wanted: Path) -> None:
        """Delete collections of earlier builds that neither the table here nor the next one uses.

        Each build reads into a separate collection: a build that is stopped or fails changes
        neither the existing table nor its collection.
        """
        used = {wanted.resolve()}
        file = self._files().get(BUILT_HERE)
        if file is not None:
            with suppress(MotionLoomError):  # a damaged table
                used.add(TransitionTable.open(file).collection.path.resolve())
        for path in self.place.glob("table*.mlc"):
            if path.resolve() not in used:
                shutil.rmtree(path, ignore_errors=True)

    def _plan(self, request: TableBuild) -> Plan:
        folder, labels = self.library.folder, None
        if folder is not None and (folder / LABELS).is_file():
            labels = str(folder / LABELS)
        return Plan(
            str(self.place / "embedded" if folder is None else folder),
            folder is None,
            str(self.place / f"table-{self._sources(request.fps)}.mlc"),
            str(self.place / "table.mlt"),
            request.clusters,
            request.length_s,
            request.fps,
            request.lookup,
            labels,
        )

    def _sources(self, fps: float) -> str:
        """Digest of a collection's files, by which a later build continues a stopped one."""
        sources: list[object] = [fps]
        folder = self.library.folder
        for path in sorted(folder.rglob("*")) if folder is not None else ():
            if path.is_file() and (may_be_clip(path) or path.name == LABELS):
                status = path.stat()
                sources.append([str(path), status.st_size, status.st_mtime_ns])
        return hashlib.blake2b(repr(sources).encode(), digest_size=DIGEST_BYTES).hexdigest()

    def _files(self) -> dict[str, Path]:
        """Every table by its id: the one built here first."""
        files = {}
        own = self.place / "table.mlt"
        if own.is_file():
            files[BUILT_HERE] = own
        folder = self.library.folder
        if folder is not None:
            neighbour = folder.with_name(f"{folder.name}.mlt")
            for path in (neighbour, *sorted(folder.glob("*.mlt"))):
                real = path.resolve()
                if path.is_file() and real.is_relative_to(folder.parent):
                    files[path.name] = real
        return files

    def _opened(self, name: str, file: Path) -> OpenTable:
        table = TransitionTable.open(file)
        inside = [self.place.resolve()]
        if self.library.folder is not None:
            inside += [self.library.folder.parent]
        if not any(table.collection.path.resolve().is_relative_to(place) for place in inside):
            raise TableError(f"The collection of {file.name} must be in the same folder.")
        frames = table.frames
        listed = {item.id for item in self.library.items()}
        stems = {_table_id(clip): clip for clip in listed}
        lengths = np.diff(frames.starts)
        clips = tuple(
            TableClip(clip, clip if clip in listed else stems.get(clip), int(length))
            for clip, length in zip(frames.ids, lengths, strict=True)
        )
        extended = "extended" in open_table_file(file).header
        return OpenTable(name, table, clips, table_digest(table), extended)


def _table_id(clip: str) -> str:
    """A table's id of a clip of the library: without the suffix of its file."""
    file, _, name = clip.rpartition("#")
    if can_hold_several(Path(file)) is not None:
        return f"{Path(file).with_suffix('').as_posix()}#{name}"
    return Path(clip).with_suffix("").as_posix()
