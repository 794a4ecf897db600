"""The tables of a library: those in its folder, the one built here, and the open one."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np

from motionloom.errors import MotionLoomError, TableError
from motionloom.formats.registry import can_hold_several
from motionloom.intake.clip_names import may_be_clip
from motionloom.studio.clips.library import Library
from motionloom.studio.messages.answers import Answer
from motionloom.studio.messages.table_messages import (
    JobState,
    Matrix,
    TableBuild,
    TableClip,
    TableFacts,
    TableReport,
)
from motionloom.studio.panels.table_worker import Plan
from motionloom.studio.results.result import command_line
from motionloom.tables.evaluation.replay import naturalness_map
from motionloom.tables.table import TransitionTable
from motionloom.tables.table_file import open_table_file

BUILT_HERE = "built here"
"""Id of the table that the studio builds."""
LABELS = "labels.csv"
DIGEST_BYTES = 4
_lines = msgspec.json.Decoder(dict[str, Any])
LEAST_S = 1.0
"""A stage must have run this long before its time left is estimated."""


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


@dataclass(frozen=True, slots=True, eq=False)
class OpenTable:
    """The open table."""

    id: str
    table: TransitionTable
    clips: tuple[TableClip, ...]
    digest: str
    """Of everything that its transitions depend on."""
    extended: bool
    """Whether clips were added after it was built."""

    @property
    def goals(self) -> list[str]:
        """Where a live character can go: labels, or without labels all clips long enough.

        Labels that end before their clip has a whole window cannot be reached, and are left out.
        """
        labels, length = self.table.collection.labels, self.table.length
        if labels:
            return sorted({each.label for each in labels if each.last >= length - 1})
        return [clip.id for clip in self.clips if clip.frames >= length]

    def library_clip(self, clip: str) -> str:
        """The library's id of a clip; the table's id where the library does not list it."""
        return next((each.clip for each in self.clips if each.id == clip), None) or clip

    @property
    def verdicts(self) -> Path:
        """The file of verdicts on its transitions; its name has the table's digest.

        A table that is rebuilt with other settings makes other motions: verdicts on the old
        table do not apply to it.
        """
        return self.table.file.with_suffix(f".{self.digest}.verdicts.csv")

    def _build_command(self, info: dict[str, Any]) -> str:
        """The command line that builds the same table from its collection.

        It writes into the current folder. Empty where the table was extended or has masses of
        its own: no single command builds such a table.
        """
        if self.extended or "masses" in info["settings"]:
            return ""
        settings = info["settings"]
        paper = ["--method", "paper", "--edition", str(settings.get("edition", 2007))]
        families = settings.get("families", [])
        weights = "search" if len(families) > 1 else settings["family"]
        return command_line(
            "table", "build", str(self.table.collection.path.resolve()), "-o", self.table.file.name,
            "--length", f"{info['length_s']:g}", "--clusters", str(settings["clusters"]),
            "--ways", ",".join(str(n) for n in settings["ways"]), "--seed", str(settings["seed"]),
            "--lookup", str(settings["lookup"]), "--score", settings["score"],
            "--weights", weights, *(paper if families else []),
        )  # fmt: skip

    def facts(self) -> TableFacts:
        """For the page."""
        info = self.table.info()
        return TableFacts(
            id=self.id,
            clips=list(self.clips),
            fps=info["fps"],
            frames=info["frames"],
            length=info["length_frames"],
            length_s=info["length_s"],
            clusters=info["clusters"],
            representatives=info["representatives"],
            score=info["settings"]["score"],
            labels=info["labels"],
            goals=self.goals,
            bytes=info["bytes"],
            build=self._build_command(info),
            evaluate=command_line(
                "table", "evaluate", str(self.table.file), "--verdicts", str(self.verdicts)
            ),
        )


def table_digest(table: TransitionTable) -> str:
    """Digest of everything that the transitions of a table depend on."""
    settings = [table.collection.digest, table.length, table.settings]
    digest = hashlib.blake2b(msgspec.json.encode(settings), digest_size=DIGEST_BYTES)
    for name, array in sorted(table.arrays.items()):
        digest.update(name.encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


class BuildJob:
    """One build. It begins immediately."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._begun = self._stage_begun = time.monotonic()
        self._state: Literal["running", "built", "stopped", "failed"] = "running"
        self._stage, self._error = "beginning", ""
        self._done, self._total = 0.0, 1.0
        self._warnings: list[str] = []
        self._faults = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115
        self._process = subprocess.Popen(
            [sys.executable, "-m", "motionloom.studio.panels.table_worker",
             msgspec.json.encode(plan).decode()],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._faults, text=True,
        )  # fmt: skip
        self._listening = threading.Thread(target=self._listen, daemon=True)
        self._listening.start()

    @property
    def running(self) -> bool:
        """Whether it has not ended."""
        return self._state == "running"

    def state(self) -> JobState:
        """Its progress."""
        part = min(1.0, self._done / max(self._total, 1e-9))
        now = time.monotonic()
        spent = now - self._stage_begun
        left = spent * (1.0 - part) / part if part > 0.0 and spent > LEAST_S else None
        return JobState(
            self._state, self._stage, part, now - self._begun, left if self.running else None,
            list(self._warnings), self._error,
        )  # fmt: skip

    def cancel(self) -> None:
        """Stop it. Its work so far stays on disk."""
        if self.running:
            self._state = "stopped"
            self._process.kill()  # its own workers end with it
        self._listening.join(10.0)

    def wait(self, limit_s: float) -> None:
        """Wait until it has ended."""
        self._listening.join(limit_s)

    def _listen(self) -> None:
        with self._process as process, self._faults as faults:
            assert process.stdout is not None
            for line in process.stdout:
                with suppress(msgspec.MsgspecError):  # output of another library
                    self._read(_lines.decode(line))
            process.wait()
            if self._state == "running":
                faults.seek(0)
                last = " ".join(faults.read().strip().splitlines()[-1:])
                self._error, self._state = f"The build ended early. {last}".strip(), "failed"

    def _read(self, line: dict[str, Any]) -> None:
        if "stage" in line:
            if line["stage"] != self._stage:
                self._stage, self._stage_begun = line["stage"], time.monotonic()
            self._done, self._total = line["done"], line["total"]
        elif "warning" in line:
            self._warnings.append(line["warning"])
        elif "error" in line:
            self._error, self._state = line["error"], "failed"
        elif "built" in line and self._state == "running":
            self._state = "built"
