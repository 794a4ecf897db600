"""Labels: names for frames of a collection, by clip, stored as a CSV file."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from motionloom._arrays import IntArray, of_kind, whole
from motionloom.errors import FormatError, TableError
from motionloom.files.locks import locked
from motionloom.files.reading import csv_rows
from motionloom.files.writing import whole_file
from motionloom.tables.collection.catalogue import disk_errors
from motionloom.tables.collection.frames import Frames

HEADER = ("clip", "label", "first", "last")
LABELS = "labels.csv"
"""Of a collection, in its folder."""
LABELS_WAIT_S = 10.0
"""How long to wait for another process that writes labels at the same time."""


class Label(NamedTuple):
    """A name for some frames of a clip.

    Attributes
    ----------
    clip : str
        Id of the clip.
    label : str
        The name.
    first, last : int
        First and last frame, inclusive, at the collection's rate.
    """

    clip: str
    label: str
    first: int
    last: int


def read_labels(path: Path) -> list[Label]:
    """Labels from a CSV file with the columns clip, label, first, last.

    Columns may stand in any order, and more of them may be there. Empty frames mean the whole
    clip: first 0, last -1.
    """
    labels, faults = usable_labels(path)
    if faults:
        raise TableError(faults[0])
    return labels


def usable_labels(path: Path) -> tuple[list[Label], tuple[str, ...]]:
    """The labels of a CSV file that can be read, and what is wrong with the others, by line."""
    try:
        return _read(path)
    except (FormatError, TableError) as error:
        return [], (str(error),)


def _read(path: Path) -> tuple[list[Label], tuple[str, ...]]:
    rows = csv_rows(path)
    _, header = next(rows, (1, []))
    missing = {"clip", "label"} - set(header)
    if missing:
        raise TableError(
            f"{path}: the first line must name the columns clip, label, first, last; missing: "
            f"{', '.join(sorted(missing))}."
        )
    labels, faults = [], []
    for number, cells in rows:
        row = dict(zip(header, cells, strict=False))
        clip, label = row.get("clip", "").strip(), row.get("label", "").strip()
        if not clip and not label:
            continue
        try:
            if not clip or not label:
                raise TableError("a label needs a clip and a name.")
            first, last = _frame(row.get("first"), 0), _frame(row.get("last"), -1)
        except TableError as error:
            faults.append(f"{path}, line {number}: {error}")
            continue
        labels.append(Label(clip, label, first, last))
    return labels, tuple(faults)


def _frame(text: str | None, default: int) -> int:
    if text is None or not text.strip():
        return default
    try:
        return int(text)
    except ValueError:
        raise TableError(f"frames must be whole numbers, got {text.strip()[:40]!r}.") from None


def write_labels(path: Path, labels: Iterable[Label]) -> None:
    """Write a CSV file that :func:`read_labels` reads back, whole or not at all."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEADER)
    writer.writerows(labels)
    with whole_file(path) as stream:
        stream.write(text.getvalue().encode("utf-8"))


def checked_label(label: Label, frames: Frames) -> Label:
    """The label with frames that the clip has; a last frame of -1 is the clip's last."""
    clip_id, name = of_kind(label.clip, str, "clip"), of_kind(label.label, str, "label").strip()
    if not name:
        raise TableError("A label needs a name, got an empty one.")
    if not name.isprintable():
        raise TableError(f"A label's name must be one line that can be printed, got {name!r}.")
    first, last = whole(label.first, "first frame"), whole(label.last, "last frame")
    label = Label(clip_id, name, first, last)
    if last == -1 and label.clip in frames.ids:
        clip = frames.ids.index(label.clip)
        last = int(frames.starts[clip + 1] - frames.starts[clip]) - 1
    first_row, last_row = frames.row_of(label.clip, label.first), frames.row_of(label.clip, last)
    if first_row > last_row:
        raise TableError(
            f"Label {label.label!r} of clip {label.clip!r} must end at or after its first frame, "
            f"got frames {label.first} to {last}."
        )
    return label._replace(last=last)


def label_pieces(labels: Sequence[Label], label: str, frames: Frames) -> IntArray:
    """First and last row of every piece of a clip that carries a label, sorted. (n, 2)."""
    ids = set(frames.ids)
    pieces = {
        (frames.row_of(each.clip, each.first), frames.row_of(each.clip, each.last))
        for each in labels
        if each.label == label and each.clip in ids
    }
    return np.array(sorted(pieces), dtype=np.int64).reshape(-1, 2)


def label_rows(labels: Sequence[Label], label: str, frames: Frames) -> IntArray:
    """Rows of every frame that carries a label, sorted, each once."""
    if not isinstance(label, str):
        raise TableError(f"`label` must be a label of the collection, got {label!r}.")
    rows = [np.arange(first, last + 1) for first, last in label_pieces(labels, label, frames)]
    if not rows:
        ids = set(frames.ids)
        present = [each for each in labels if each.clip in ids]
        names = sorted({each.label for each in present})
        raise TableError(
            f"No frame is labelled {label!r}. "
            + (
                f"The labels are: {', '.join(names)}."
                if names
                else "The collection has no labels: annotate it, or ingest with labels=FILE.csv."
            )
        )
    return np.unique(np.concatenate(rows)).astype(np.int64)


def stored_labels(folder: Path) -> tuple[list[Label], tuple[str, ...]]:
    """The labels that a collection keeps on disk, and what is wrong with others, by line."""
    file = folder / LABELS
    return usable_labels(file) if file.is_file() else ([], ())


def check_readable(faults: tuple[str, ...]) -> None:
    """Refuse to write labels over lines that cannot be read: they may hold work of a user."""
    if faults:
        raise TableError(
            f"{faults[0]} Nothing was changed. Repair or delete that line, then annotate again."
        )


def add_stored_labels(folder: Path, added: Iterable[Label]) -> list[Label]:
    """All labels on disk after some were added; those that others wrote meanwhile stay."""
    file = folder / LABELS
    busy = f"{file} is being written already"
    with (
        disk_errors(file, "The labels that were there are unchanged."),
        locked(file.with_name(f"{LABELS}.lock"), busy, wait_s=LABELS_WAIT_S),
    ):
        stored, faults = stored_labels(folder)
        check_readable(faults)
        # Labels of clips that are gone for now stay in the file: their clips may come back.
        labels = list(dict.fromkeys([*stored, *added]))
        write_labels(file, labels)
    return labels
