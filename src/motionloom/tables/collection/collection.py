"""Collection: captured clips on one skeleton and at one rate, on disk, mapped into memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from motionloom._arrays import IntArray, flag, items, of_kind
from motionloom._records import name_for, one_line
from motionloom.errors import ArrayError, TableError
from motionloom.files.reading import path_of
from motionloom.motion.motion import Motion, Skeleton
from motionloom.tables.collection.catalogue import Catalogue, read_catalogue
from motionloom.tables.collection.common_skeleton import given_skeleton
from motionloom.tables.collection.folder_clips import Reading, find_other_files
from motionloom.tables.collection.frames import ClipFrames, Frames
from motionloom.tables.collection.ingest import IngestReport, ingest_folder, report_of
from motionloom.tables.collection.labels import (
    Label,
    add_stored_labels,
    check_readable,
    checked_label,
    label_rows,
    read_labels,
    stored_labels,
)
from motionloom.tables.collection.store import (
    CATALOGUE,
    before_file,
    digest_rows,
    generations_before,
    open_rows,
    overlong_rows,
    writing_collection,
)


class Collection:
    """Captured clips on one skeleton and at one rate: what tables are built on.

    Made by :meth:`ingest` from a folder of files and opened by :meth:`open`; its frames lie on
    disk and are read when they are touched.

    Attributes
    ----------
    frames : Frames
        Every frame of every clip, memory-mapped.
    path : Path
        The folder that holds it.
    report : IngestReport
        Which source files were used, changed or skipped; ``print(lib.report)`` lists them.
    labels : tuple of Label
        What was annotated: clip, label, first and last frame.
    label_faults : tuple of str
        Lines of its labels.csv that cannot be read, in words; the other labels are used.

    Examples
    --------
    >>> import tempfile
    >>> from motionloom import save, synthetic
    >>> folder = Path(tempfile.mkdtemp())
    >>> (folder / "clips").mkdir()
    >>> save(synthetic.clip("walk").motion, folder / "clips" / "walk.bvh")
    >>> lib = Collection.ingest(folder / "clips", fps=30)
    >>> lib.annotate("walk", "stroll", frames=(0, 9))
    >>> lib.frames.ids, len(lib.label_rows("stroll"))
    (('walk',), 10)
    """

    def __init__(self, path: Path, catalogue: Catalogue, report: IngestReport) -> None:
        self.path = path
        self.report = report
        self._catalogue = catalogue
        self._digest = catalogue.digest()
        rows = open_rows(
            path, catalogue.generation, catalogue.common.skeleton.n_joints, catalogue.n_rows
        )
        plain = Frames(
            catalogue.common.skeleton,
            catalogue.common.body,
            catalogue.fps,
            tuple(clip.id for clip in catalogue.clips),
            np.array([*(c.first for c in catalogue.clips), catalogue.n_rows], dtype=np.int64),
            *rows,
        )
        home = (reopened_frames, str(path.absolute()), self._digest)
        self.frames = replace(plain, glitch_rows=catalogue.jumps(), home=home)
        self._ids = frozenset(self.frames.ids)
        self._stored, self.label_faults = stored_labels(path)

    @classmethod
    def ingest(
        cls,
        folder: str | Path,
        *,
        out: str | Path | None = None,
        fps: float = 60.0,
        skeleton: Skeleton | Motion | str | Path | None = None,
        labels: str | Path | None = None,
        source_fps: Mapping[str, float] | float | None = None,
        unit: str | float | None = None,
        up: str | None = None,
        ground: bool = False,
        plants: str = "thresholds",
        keep_glitches: bool = False,
        repair_knees: bool = True,
        progress: bool = False,
    ) -> Collection:
        """The clips in a folder and below it as a collection on disk.

        Ingesting again reads only files that changed. Files that cannot be used are skipped, and
        ``report`` gives the reason.

        Parameters
        ----------
        folder
            Files of any readable formats, also in subfolders.
        out
            Where the collection goes; by default next to the folder, with the suffix ``.mlc``.
        fps
            Rate of the collection; clips at other rates are resampled.
        skeleton
            The skeleton for all: itself, a clip on it, or a file; by default that of most frames.
        source_fps
            True rates of files with wrong headers: one for all, or by pattern of the file's name,
            as ``{"143_*": 60}``.
        labels
            CSV file with the columns clip, label, first, last; added to what was annotated.
        unit, up
            As in :func:`motionloom.load`, if detection is wrong.
        ground
            Whether every clip's floor is put to y = 0.
        plants
            How foot plants are found: ``"thresholds"`` or ``"learned"``.
        keep_glitches
            Whether windows with a capture glitch (a joint that jumps for one frame; ``report``
            names them) may represent a cluster or be blended in. By default they are only used
            if a transition starts or ends in them.
        repair_knees
            Whether knees that were captured bent backwards are bent forwards by the same angle,
            which leaves feet where they are; ``report`` names the clips.
        progress
            Whether to draw a bar with the time left, if standard error is a terminal.

        Returns
        -------
        Collection
            All clips of the folder that could be used; ``report`` lists the others.

        Raises
        ------
        TableError
            No clip can be read, or the collection cannot be written.
        """
        folder = path_of(folder, "folder")
        usual = folder.resolve().parent / f"{folder.resolve().name}.mlc"
        target = path_of(usual if out is None else out, "out")
        example = given_skeleton(skeleton)
        reading = Reading(fps, source_fps, unit, up, ground, plants, keep_glitches, repair_knees)
        given = None if labels is None else read_labels(path_of(labels, "labels"))
        if given is not None:
            check_readable(stored_labels(target)[1])
        with writing_collection(folder, target):
            catalogue, read = ingest_folder(
                folder, target, reading, skeleton=example, progress=flag(progress, "progress")
            )
            report = report_of(
                catalogue,
                read=read,
                source_fps=reading.source_fps,
                skipped=find_other_files(folder, catalogue, but=target),
            )
            lib = cls(target, catalogue, report)
        if given is not None:
            lib.add_labels(given)
        return lib

    @classmethod
    def open(cls, path: str | Path) -> Collection:
        """The collection in a folder that :meth:`ingest` made.

        Returns
        -------
        Collection
            The clips, mapped from the file.
        """
        path = path_of(path, "path")
        if not path.is_dir():
            what = "is a file" if path.exists() else "is not there"
            raise TableError(
                f"{path} must be the folder of a collection, but {what}. "
                "Make one with ml.Collection.ingest."
            )
        if not (path / CATALOGUE).is_file():
            raise TableError(
                f"{path} is no collection: it has no {CATALOGUE}. Clips in a folder become one "
                "with ml.Collection.ingest; one that was stopped is finished by ingesting again."
            )
        catalogue = read_catalogue(path / CATALOGUE)
        while True:
            try:
                return cls(path, catalogue, report_of(catalogue))
            except TableError:
                newer = read_catalogue(path / CATALOGUE)
                if newer.generation == catalogue.generation:
                    raise
                catalogue = newer  # an ingest has just replaced what was to be opened

    @classmethod
    def open_before(cls, path: Path, digest: str) -> Collection | None:
        """An earlier state of the collection in a folder, by its digest, if it is still there.

        It stays on disk while a table that was built on it is being extended.

        Returns
        -------
        Collection or None
            The earlier state, or None.
        """
        for generation in generations_before(path):
            try:
                catalogue = read_catalogue(before_file(path, generation))
                if catalogue.digest() == digest:
                    return cls(path, catalogue, report_of(catalogue))
            except TableError:
                continue  # just removed
        return None

    @property
    def skeleton(self) -> Skeleton:
        """The skeleton of every clip."""
        return self.frames.skeleton

    @property
    def fps(self) -> float:
        """Frames per second of every clip."""
        return self.frames.fps

    @property
    def ids(self) -> tuple[str, ...]:
        """Ids of the clips, sorted."""
        return self.frames.ids

    @property
    def digest(self) -> str:
        """Digest of all rows, ids, the skeleton and the rate; labels are not in it."""
        return self._digest

    @property
    def clip_digests(self) -> dict[str, str]:
        """Digest of every clip's rows, by id."""
        return {clip.id: clip.digest for clip in self._catalogue.clips}

    @property
    def source_folder(self) -> Path:
        """The folder that was ingested."""
        return (self.path.parent / self._catalogue.folder).resolve()

    def motion(self, clip: str, *, frames: tuple[int, int] | None = None) -> Motion:
        """A clip, or its frames from first to last (inclusive), as a motion.

        Returns
        -------
        Motion
            A copy of these frames.
        """
        first = self.frames.row_of(clip, 0)
        at = self.frames.clip_at(first)
        if frames is None:
            return self.frames.motion(first, int(self.frames.starts[at + 1]) - 1, name=clip)
        rows = [self.frames.row_of(clip, frame) for frame in _two(frames)]
        if rows[0] > rows[1]:
            raise ArrayError(f"`frames` must be the first and the last frame, got {frames!r}.")
        return self.frames.motion(rows[0], rows[1], name=clip)

    @property
    def labels(self) -> tuple[Label, ...]:
        """Every annotation of a clip that is there."""
        return tuple(label for label in self._stored if label.clip in self._ids)

    def annotate(self, clip: str, label: str, *, frames: tuple[int, int] | None = None) -> None:
        """Label frames of a clip (first to last, inclusive), or all of them; stored on disk."""
        first, last = (0, -1) if frames is None else _two(frames)
        self.add_labels([Label(clip, label, first, last)])

    def add_labels(self, labels: Iterable[Label]) -> None:
        """Annotate with several labels: all of them are stored on disk, or none.

        Labels that others have written since the collection was opened stay.
        """
        added = [
            checked_label(of_kind(label, Label, f"labels[{k}]"), self.frames)
            for k, label in enumerate(items(labels, "labels", "Labels"))
        ]
        self._stored, self.label_faults = add_stored_labels(self.path, added), ()

    def label_rows(self, label: str) -> IntArray:
        """Rows of every frame that carries a label, sorted.

        Returns
        -------
        (N,) array of int
            Rows of :attr:`frames`.
        """
        return label_rows(self.labels, label, self.frames)

    def find_damage(self) -> list[str]:
        """Damaged clips, files and labels, in words; reads everything.

        Returns
        -------
        list of str
            One sentence for each thing that is wrong; empty if nothing is.
        """
        damaged = list(self.label_faults)
        damaged += overlong_rows(
            self.path,
            self._catalogue.generation,
            self.frames.skeleton.n_joints,
            self._catalogue.n_rows,
        )
        for clip in self._catalogue.clips:
            span = slice(clip.first, clip.first + clip.frames)
            rows = (getattr(self.frames, column)[span] for column in ClipFrames._fields)
            if digest_rows(ClipFrames(*rows)) != clip.digest:
                damaged.append(f"clip {clip.id!r}: its frames are damaged. Ingest again.")
        return damaged

    def __reduce__(self) -> tuple[object, ...]:
        return reopened, (str(self.path.absolute()), self._digest)

    def __repr__(self) -> str:
        frames = self.frames
        return one_line(
            f"Collection({name_for(self.path.name)}: {frames.n_clips} clips, {frames.n_rows} "
            f"frames, {frames.fps:g} fps)"
        )


def reopened(path: str, digest: str) -> Collection:
    """The collection that was pickled or copied, opened where it lies."""
    collection = Collection.open(path)
    if collection.digest != digest:
        raise TableError(
            f"{path} must hold the collection that was pickled, but it has changed since. "
            "Pickle it again after an ingest."
        )
    return collection


def reopened_frames(path: str, digest: str) -> Frames:
    """The frames of a collection that was pickled or copied, mapped again."""
    return reopened(path, digest).frames


def _two(frames: object) -> tuple[int, int]:
    if not isinstance(frames, tuple | list) or len(frames) != 2:
        raise ArrayError(f"`frames` must be the first and the last frame, got {frames!r}.")
    return frames[0], frames[1]
