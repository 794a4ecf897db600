"""Files of the run time: a table with the poses of its collection, for engines and browsers.

``core/src/runtime/file.c`` reads them. All that a transition looks up is in one file: recipes, the
window index, limits of the quality check, labels, and poses, with rotations in 7 bytes each.
Positions, codes of contexts and terms are left out: they are computed when the file is opened.
"""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from typing import Any

import numpy as np
import numpy.typing as npt

from motionloom._arrays import IntArray, of_kind
from motionloom._core import Record, constant, integer
from motionloom.errors import TableError
from motionloom.files.reading import path_of
from motionloom.files.writing import write_bytes
from motionloom.tables.collection.frames import Frames
from motionloom.tables.query_engine import QueryEngine
from motionloom.tables.score.stance import plants_of
from motionloom.tables.table import TransitionTable
from motionloom.tables.table_contents import require_default

MAGIC, VERSION, HEAD = b"MLRtime1", integer("ML_FILE_VERSION"), integer("ML_FILE_HEAD")
STEPS = int(constant("ML_FILE_STEPS"))
QUAT_BITS = STEPS.bit_length()
FNV_START, FNV_FACTOR, WORD = 0xCBF29CE484222325, 0x100000001B3, 2**64


def save_runtime(table: TransitionTable, path: str | PathLike[str]) -> int:
    """Write the runtime file of a table, as ``motionloom table export`` does.

    Parameters
    ----------
    table
        An open table.
    path
        The ``.mlr`` file.

    Returns
    -------
    int
        Bytes of the file.

    Raises
    ------
    TableError
        The table exceeds a limit of the runtime file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import motionloom as ml
    >>> with tempfile.TemporaryDirectory() as place:
    ...     for kind in ("walk", "run"):
    ...         ml.save(ml.synthetic.clip(kind, duration_s=1.5, fps=20).motion,
    ...                 Path(place) / f"{kind}.bvh")
    ...     lib = ml.Collection.ingest(place, out=Path(place) / "lib.mlc", fps=20)
    ...     table = ml.build_table(lib, length_s=0.5, clusters=3, progress=False)
    ...     save_runtime(table, Path(place) / "lib.mlr") > 10_000
    True
    """
    data = runtime_bytes(of_kind(table, TransitionTable, "table"))
    write_bytes(path_of(path, "path"), data)
    return len(data)


def runtime_bytes(table: TransitionTable) -> bytes:
    """The file of a table, see :func:`save_runtime`."""
    require_default(table.header, table.file, "A run-time file")
    data = b"".join(_padded(array) for array in runtime_arrays(table.query_engine))
    head = MAGIC + VERSION.to_bytes(4, "little") + bytes(4)
    head += (HEAD + len(data)).to_bytes(8, "little") + _digest(data).to_bytes(8, "little")
    return head.ljust(HEAD, b"\0") + data


def runtime_arrays(engine: QueryEngine) -> list[npt.NDArray[Any]]:
    """Everything in the file of a table, in its order."""
    for clip in range(engine.record.n_clips):
        engine.check.measure(clip)
    labels = _labels(engine)
    pieces = [engine.labels.pieces(label) for label in labels]
    names = [*engine.frames.skeleton.names, *engine.frames.ids, *labels]
    text = b"".join(name.replace("\0", " ").encode() + b"\0" for name in names)
    return [
        *_head(engine, len(labels), len(text), sum(map(len, pieces))),
        *_body(engine),
        *_terms(engine),
        *_index(engine),
        *_recipes(engine, labels, pieces),
        *_plants(engine.frames),
        np.frombuffer(text, dtype=np.uint8),
        *_poses(engine),
    ]


def _padded(array: npt.NDArray[Any]) -> bytes:
    data = array.astype(array.dtype.newbyteorder("<")).tobytes()
    return data + bytes(-len(data) % 8)


def _digest(data: bytes) -> int:
    """FNV-1a over words of eight bytes."""
    value = FNV_START
    for word in np.frombuffer(data, dtype="<u8").tolist():
        value = ((value ^ word) * FNV_FACTOR) % WORD
    return value


def _head(
    engine: QueryEngine, n_labels: int, n_names: int, n_pieces: int
) -> Iterable[npt.NDArray[Any]]:
    """Counts, and numbers."""
    own, terms, rig = engine.record, engine.record.terms, engine.record.check_rig
    start, both = own.by_start, own.by_both
    if start.n_members != both.n_members:
        raise TableError("The window index of the table is damaged: ingest the clips again.")
    counts = [
        own.rows.n_rows, own.rows.n_joints, own.n_clips, own.n_jumps, own.n_medoids, own.n_ends,
        own.n_recipes, n_labels, own.length, own.rig.n_chain, rig.n_checked,
        rig.n_carriers, rig.n_across, rig.n_legs, rig.head, own.term_source.n_parts,
        own.term_source.n_plants, terms.pad, terms.n_plants, terms.n_taps, terms.roll,
        own.seen.n_compared, own.index.n_codes, own.weighing.prunes, own.weighing.bounded,
        start.n_groups, start.n_lists, both.n_groups, both.n_lists, start.n_members,
        n_names, n_pieces,
    ]  # fmt: skip
    yield np.array(counts, dtype=np.int64)
    yield np.array([own.fps, engine.low, own.seen.reach])


def _body(engine: QueryEngine) -> Iterable[npt.NDArray[Any]]:
    """The skeleton, its legs and soles, and what the quality check reads."""
    rig, check = engine.record.rig, engine.record.check_rig
    yield from (rig.parents, rig.offsets, rig.chain, rig.legs, rig.soles, rig.poles)
    yield from (check.checked, check.carriers, check.across, check.legs, check.hinges, check.soles)


def _terms(engine: QueryEngine) -> Iterable[npt.NDArray[Any]]:
    """What scoring blends needs."""
    source, terms, weighing = engine.record.term_source, engine.record.terms, engine.record.weighing
    yield from (source.firsts, source.joints, source.parts, source.masses)
    yield from (terms.taps, terms.weights, terms.sole, weighing.linear, weighing.log)


def _index(engine: QueryEngine) -> Iterable[npt.NDArray[Any]]:
    """How contexts become codes, and windows in lists of like ones."""
    seen, index = engine.record.seen, engine.record.index
    yield from (seen.joints, seen.before, seen.after)
    yield from (index.start_mean, index.start_axes, index.start_steps)
    yield from (index.end_mean, index.end_axes, index.end_steps, index.way_step)
    for lists in (engine.record.by_start, engine.record.by_both):
        yield from (lists.groups, lists.group_first, lists.centres, lists.list_first, lists.members)


def _recipes(
    engine: QueryEngine, labels: list[str], pieces: list[IntArray]
) -> Iterable[npt.NDArray[Any]]:
    """Recipes between representatives, labels, and what clips reach."""
    own = engine.record
    yield from (own.starts, own.jumps, own.medoids, own.nearest, own.between, own.costs)
    spokes = [engine.labels.nearest(label) for label in labels]
    yield np.array(spokes, dtype=np.int64).reshape(len(spokes), own.n_ends)
    yield np.cumsum([0, *map(len, pieces)], dtype=np.int64)
    yield np.concatenate([np.zeros((0, 2), dtype=np.int64), *pieces])
    yield from (own.speeds, own.weights, own.limits, own.hovers, own.slowest)


def _plants(frames: Frames) -> Iterable[npt.NDArray[Any]]:
    """First and last row, and foot of every plant; where it is, and which way the foot points."""
    plants = plants_of(frames)
    feet = np.array([int(plants.ids[row, 1] == k) for k, (row, _) in enumerate(plants.spans)])
    yield np.concatenate([plants.spans, feet[:, None]], axis=1, dtype=np.int64)
    yield from (plants.places.astype(np.float64), plants.ahead.astype(np.float64))


def _poses(engine: QueryEngine) -> Iterable[npt.NDArray[Any]]:
    """Every frame."""
    rows: Record = engine.record.rows
    yield from (rows.heading.astype(np.float32), rows.ground.astype(np.float32))
    yield rows.body[:, 0, 1].astype(np.float32)
    yield np.packbits(rows.planted, axis=1, bitorder="little")[:, 0]
    yield packed_quats(rows.quats)


def _labels(engine: QueryEngine) -> list[str]:
    """Labels that a transition can arrive at, sorted."""
    reachable = []
    for label in sorted({each.label for each in engine.collection.labels}):
        try:
            engine.labels.nearest(label)
        except TableError:  # no frame of it has a whole window before it
            continue
        reachable.append(label)
    return reachable


def packed_quats(quats: npt.ArrayLike) -> npt.NDArray[np.uint8]:
    """Rotations (..., 4) in 7 bytes each: which part is largest, and 18 bits of each other part.

    Examples
    --------
    >>> packed_quats([0.8, 0.0, 0.6, 0.0]).shape
    (7,)
    """
    q = np.asarray(quats, dtype=np.float64)
    q = q / np.linalg.norm(q, axis=-1, keepdims=True)
    largest = np.abs(q).argmax(axis=-1)[..., None]
    q = np.where(np.take_along_axis(q, largest, axis=-1) < 0.0, -q, q)
    others = np.argsort(np.arange(4) == largest, axis=-1, kind="stable")[..., :3]
    parts = np.take_along_axis(q, others, axis=-1) * np.sqrt(2.0)
    steps = np.clip(np.rint(0.5 * (parts + 1.0) * STEPS), 0, STEPS).astype(np.uint64)
    word = largest[..., 0].astype(np.uint64)
    for k in range(3):
        word |= steps[..., k] << np.uint64(2 + QUAT_BITS * k)
    packed: npt.NDArray[np.uint8] = word[..., None].astype("<u8").view(np.uint8)[..., :7]
    return np.ascontiguousarray(packed)
