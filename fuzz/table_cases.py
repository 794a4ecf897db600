"""Crafted tables, collections and registration curves: valid checksums, wrong content."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import tokenize
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import motionloom as ml
from crafted import Array, changed_array, changed_json, json_text, pick
from motionloom.formats.archives.npz import pack_array
from motionloom.tables.graph.motion_graph import MotionGraph
from motionloom.tables.table_file import ALIGNED, FRONT, MAGIC, open_table_file
from mutate import Random, change_bytes, change_npy, set_word

FPS = 30
CLIPS = ("walk", "run", "sneak", "stand")


@dataclass
class Base:
    """Good files in a folder, and what is used together with crafted ones."""

    folder: Path
    collection: ml.Collection
    grown: ml.Collection
    """The same with one clip more, for extending tables."""
    graph: MotionGraph

    @property
    def table(self) -> Path:
        return self.folder / "clips.mlt"

    @property
    def curve(self) -> Path:
        return self.folder / "curve.mlr"


def make_base(folder: Path) -> None:
    """Write the good files."""
    for name, more in (("clips", ()), ("grown", ("jog",))):
        (folder / name).mkdir()
        for kind in (*CLIPS, *more):
            clip = ml.synthetic.clip(kind, duration_s=2.0, fps=FPS)
            ml.save(clip.motion, folder / name / f"{kind}.bvh")
        collection = ml.Collection.ingest(folder / name, fps=FPS)
        collection.annotate("run", "fast")
        collection.annotate("walk", "slow", frames=(20, 50))
    collection = ml.Collection.open(folder / "clips.mlc")
    ml.build_table(collection, length_s=0.5, clusters=5, lookup=8, jobs=1, progress=False)
    turns = [ml.synthetic.clip("walk", turn=t, duration_s=2.0, fps=FPS).motion for t in (-0.5, 0.5)]
    ml.register(turns).save(folder / "curve.mlr")


def open_base(folder: Path) -> Base:
    collection = ml.Collection.open(folder / "clips.mlc")
    grown = ml.Collection.open(folder / "grown.mlc")
    return Base(folder, collection, grown, MotionGraph.build(collection.frames))


def crafted_table(rng: Random, good: Path) -> bytes:
    """A table file with a changed array, header or description of its arrays."""
    file = open_table_file(good)
    header = {key: value for key, value in file.header.items() if key != "sections"}
    arrays = [(name, np.array(array)) for name, array in file.arrays.items()]
    described: list[dict[str, Any]] = [{} for _ in arrays]
    way = rng.random()
    if way < 0.65:
        for _ in range(1 + int(rng.random() < 0.15)):
            at = int(rng.integers(len(arrays)))
            arrays[at] = (arrays[at][0], changed_array(rng, arrays[at][1]))
    elif way < 0.82:
        header = changed_json(rng, header)
    elif way < 0.94:
        at = int(rng.integers(len(arrays)))
        name = arrays[at][0]
        about = {"name": name, "kind": "<f4", "shape": [1], "at": 0, "crc32": 0, "digest": ""}
        described[at] = changed_json(rng, about)
        if rng.random() < 0.5:  # only one of them, the others stay right
            key = pick(rng, list(about))
            described[at] = {key: described[at].get(key, [])}
    else:
        at = int(rng.integers(len(arrays)))
        other = int(rng.integers(len(arrays)))
        change = int(rng.integers(4))
        if change == 0:
            del arrays[at]
        elif change == 1:
            arrays.insert(at, arrays[other])
        elif change == 2:
            arrays[at] = (arrays[at][0], arrays[other][1])
        else:
            arrays.append((pick(rng, ("more", "lookup.more", "", "a\nb")), arrays[other][1]))
        described = [{} for _ in arrays]
    return packed_table(rng, header, arrays, described)


def packed_table(
    rng: Random,
    header: Any,
    arrays: list[tuple[str, Array]],
    described: list[dict[str, Any]],
) -> bytes:
    """The bytes of a table file; checksums and digests fit, unless ``described`` says otherwise."""
    sections, body = [], bytearray()
    for (name, array), other in zip(arrays, described, strict=True):
        data = array.tobytes()
        section = {
            "name": name,
            "kind": array.dtype.str,
            "shape": list(array.shape),
            "at": len(body),
            "crc32": zlib.crc32(data),
            "digest": hashlib.blake2b(data, digest_size=16).hexdigest(),
        }
        sections.append({**section, **other})
        body += data + bytes(-len(data) % ALIGNED)
    whole: Any = {**header, "sections": sections} if isinstance(header, dict) else header
    if isinstance(whole, dict) and rng.random() < 0.03:
        whole["sections"] = pick(
            rng, (None, {}, 3, "x", [3], [None], [[]], ["name"], sections[::-1])
        )
    text = json_text(rng, whole)
    text += b" " * (-(FRONT + len(text)) % ALIGNED)
    digest = hashlib.blake2b(text, digest_size=16).digest()
    length = len(text)
    if rng.random() < 0.01:
        length = pick(rng, (0, 1, 2**63, 2**64 - 1, len(text) + 64, 1 << 28))
    return MAGIC + length.to_bytes(8, "little") + digest + text + bytes(body)


def crafted_collection(rng: Random, good: Path, folder: Path) -> None:
    """A copy of a collection with a changed catalogue, column, window index or label file."""
    shutil.copytree(good, folder)
    way = rng.random()
    catalogue = folder / "catalogue.json"
    if way < 0.45:
        document = changed_json(rng, json.loads(catalogue.read_text()))
        catalogue.write_bytes(json_text(rng, document))
    elif way < 0.7:
        columns = sorted(folder.glob("*.rows"))
        file = pick(rng, columns)
        file.write_bytes(_changed_column(rng, file))
    elif way < 0.95:
        index = next(folder.glob("windows.*.index"))
        index.write_bytes(crafted_table(rng, index))
    else:
        labels = folder / "labels.csv"
        text = labels.read_bytes()
        lines = (b"run,fast,-5,99999\n", b"run,fast,50,10\n", b"walk,slow,1e3,\n", b"\xff\xfe,a\n")
        labels.write_bytes(
            change_bytes(rng, text) if rng.random() < 0.5 else text + pick(rng, lines)
        )


def _changed_column(rng: Random, file: Path) -> bytes:
    data = file.read_bytes()
    kind = {"heading": "<f8", "ground": "<f8", "planted": "|b1"}.get(file.name.split(".")[0], "<f4")
    if rng.random() < 0.8:
        return changed_array(rng, np.frombuffer(data, dtype=kind).copy()).tobytes()
    return set_word(rng, data) if rng.random() < 0.5 else data[: int(rng.integers(len(data)))]


def crafted_curve(rng: Random, good: Path) -> bytes:
    """A registration curve with a changed header, array or motion."""
    members = _members(good.read_bytes())
    for _ in range(1 + int(rng.random() < 0.2)):
        name = pick(rng, (*["registration.json"] * 4, "times.npy", "times.npy", *members))
        if name in members:
            members[name] = _changed_member(rng, name, members[name])
    if rng.random() < 0.05:
        del members[pick(rng, list(members))]
    return _zipped(rng, members)


def _changed_member(rng: Random, name: str, data: bytes) -> bytes:
    try:
        if name.endswith(".json"):
            return json_text(rng, changed_json(rng, json.loads(data)))
        if name.endswith(".mlm"):
            return _changed_motion(rng, data)
    except (RecursionError, ValueError):  # an earlier change has nested it too deeply
        return data
    if rng.random() < 0.15:
        return change_npy(rng, data)
    try:
        array = np.load(io.BytesIO(data))
        return pack_array(changed_array(rng, array))
    except (
        TypeError,
        ValueError,
        tokenize.TokenError,
    ):  # kinds that cannot be packed, or an earlier change
        return change_npy(rng, data)


def _changed_motion(rng: Random, data: bytes) -> bytes:
    """A changed motion inside the curve; the checksums of its arrays fit."""
    members = _members(data)
    header = json.loads(members["motionloom.json"])
    if rng.random() < 0.5:
        name = pick(rng, [each for each in members if each.endswith(".npy")])
        members[name] = _changed_member(rng, name, members[name])
        if isinstance(header.get("sha256"), dict):  # else an earlier change
            header["sha256"][name[:-4]] = hashlib.sha256(members[name]).hexdigest()
    else:
        header = changed_json(rng, header)
    members["motionloom.json"] = json_text(rng, header)
    return _zipped(rng, members)


def _members(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {info.filename: archive.read(info) for info in archive.infolist()}


def _zipped(rng: Random, members: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    method = zipfile.ZIP_DEFLATED if rng.random() < 0.2 else zipfile.ZIP_STORED
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name), data, method)
    return stream.getvalue()
