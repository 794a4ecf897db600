"""The binary formats of ``grammar.py``: glTF documents, and zips of arrays."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import struct
import zipfile
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from grammar import Grammar

ODD_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2, 5126, 2**31, 2**63, 10**30, -0.5, 1e308, 1e-320),
    *(float("nan"), float("inf"), "", "x", "\x00", "\ud800", "😀", "../x", "data:,", "y" * 300),
    *([], {}, [[]], [None], [0, 0, 0], [0, 0, 0, 0], [1e20, 0, 0, 1], ["x"] * 3, {"a": []}),
)
PATHS = {"translation": ("VEC3", 3), "rotation": ("VEC4", 4), "scale": ("VEC3", 3)}
COMPONENTS = {5120: "<i1", 5121: "<u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
DTYPES = (
    *("<f8", "<f4", ">f8", "<f2", "<i8", "<i4", "|i1", "<u8", "|u1", "|b1", "<c16", "<U5", "|S4"),
    *("|O", "<M8[s]", "|V3"),
)


class Pack:
    """Buffer, views and accessors of a document that grows."""

    def __init__(self, g: Grammar) -> None:
        self.g = g
        self.data = bytearray()
        self.views: list[dict[str, Any]] = []
        self.accessors: list[dict[str, Any]] = []

    def add(self, values: np.ndarray, kind: str) -> int:
        g = self.g
        if self.accessors and g.odd(0.03):
            return g.rng.randrange(len(self.accessors))
        code = 5126 if not g.odd(0.03) else g.rng.choice(tuple(COMPONENTS))
        with np.errstate(all="ignore"):
            raw = values.astype(COMPONENTS[code]).tobytes()
        view = {"buffer": 0, "byteOffset": len(self.data), "byteLength": len(raw)}
        entry = {"bufferView": len(self.views), "componentType": code, "type": kind}
        entry["count"] = len(values)
        self.data += raw
        if g.odd(0.02):
            key = g.rng.choice(("byteOffset", "byteLength", "byteStride", "buffer"))
            view[key] = g.rng.choice((0, -1, 1, 3, 4, 2**31, 2**40, len(raw) + 1))
        if g.odd(0.02):
            key = g.rng.choice(("bufferView", "count", "byteOffset", "componentType", "type"))
            entry[key] = g.rng.choice((0, -1, 1, 2**31, 2**40, 7, "MAT4", "SCALAR", None))
        if g.odd(0.02):
            del entry["bufferView"]
        if g.odd(0.02):
            part = {"bufferView": g.rng.randrange(len(self.views) + 1), "componentType": 5125}
            entry["sparse"] = {"count": g.rng.randrange(4), "indices": part, "values": dict(part)}
        if g.odd(0.05):
            entry["normalized"] = True
        self.views.append(view)
        self.accessors.append(entry)
        return len(self.accessors) - 1


def glb_bytes(g: Grammar) -> bytes:
    """A tree of nodes, a skin, animations; as .glb or as .gltf with its buffer inside."""
    rng, n = g.rng, g.size()
    parents, pack = g.parents(n), Pack(g)
    nodes: list[dict[str, Any]] = [{"name": g.name(j)} for j in range(n)]
    for j, node in enumerate(nodes):
        node["translation"] = [rng.uniform(-1, 1) for _ in range(3)]
        if rng.random() < 0.5:
            node["rotation"] = _unit(rng)
        if g.odd(0.05):
            node["scale"] = [rng.choice((1, 0.01, -1, 0, 1e-30, 1e20)) for _ in range(3)]
        if g.odd(0.03):
            node["matrix"] = [rng.choice((0, 1, -1, 1e20)) for _ in range(16)]
        if j:
            nodes[parents[j]].setdefault("children", []).append(j)
        if g.odd(0.02):
            node["children"] = [rng.randrange(n + 1) for _ in range(2)]  # cycles and two parents
    document: dict[str, Any] = {"asset": {"version": "2.0"}, "nodes": nodes}
    if rng.random() < 0.6:
        document["skins"] = [{"joints": list(range(n))}]
        if g.odd(0.1):
            document["skins"] = [{"joints": [rng.randrange(n) for _ in range(3)]} for _ in range(3)]
    if not g.odd(0.05):
        document["animations"] = [_animation(g, pack, n) for _ in range(rng.choice((1, 1, 1, 2)))]
    if rng.random() < 0.3 and "skins" in document:
        _add_mesh(g, pack, document, n)
    document |= {"bufferViews": pack.views, "accessors": pack.accessors}
    document["buffers"] = [{"byteLength": len(pack.data)}]
    packed = rng.random() < 0.6
    if not packed:
        text = base64.b64encode(bytes(pack.data)).decode()
        document["buffers"][0]["uri"] = "data:application/octet-stream;base64," + text
    if g.odd(0.15):
        _change_one(g, document)
    body = json.dumps(document).encode("utf-8", "surrogatepass")
    if not packed:
        return body
    body += b" " * (-len(body) % 4)
    chunks = struct.pack("<II", len(body), 0x4E4F534A) + body
    if pack.data or not g.odd(0.1):
        chunks += struct.pack("<II", len(pack.data), 0x004E4942) + bytes(pack.data)
    total = 12 + len(chunks) if not g.odd(0.01) else rng.choice((0, 2**32 - 1, 12))
    return struct.pack("<4sII", b"glTF", 2, total) + chunks


def _animation(g: Grammar, pack: Pack, n: int) -> dict[str, Any]:
    rng, keys = g.rng, max(1, g.frames())
    steps = [rng.choice((1 / 30, 1 / 30, 1 / 24)) if g.odd(0.3) else 1 / 30 for _ in range(keys)]
    times = np.cumsum(steps) * (1.0 if not g.odd(0.02) else rng.choice((0.0, -1.0, 1e9, 1e-9)))
    if g.odd(0.02):
        times[rng.randrange(keys)] = rng.choice((np.nan, -5.0, 1e30))
    shared = pack.add(times[:, None], "SCALAR")
    samplers, channels = [], []
    for node in range(n):
        for path in ("rotation", *(p for p in ("translation", "scale") if rng.random() < 0.2)):
            kind, width = PATHS[path]
            form = rng.choice(("LINEAR", "STEP", "CUBICSPLINE")) if g.odd(0.1) else "LINEAR"
            rows = keys * (3 if form == "CUBICSPLINE" and not g.odd(0.1) else 1)
            values = np.array([_unit(rng)[:width] for _ in range(rows)], float).reshape(-1, width)
            if g.odd(0.01):
                values[rng.randrange(rows)] = rng.choice((0.0, np.nan, np.inf, 1e30))
            given = shared if not g.odd(0.02) else pack.add(times[::-1, None], "SCALAR")
            target = {"node": node if not g.odd(0.01) else rng.choice((0, n, -1)), "path": path}
            channels.append({"sampler": len(samplers), "target": target})
            samplers.append(
                {"input": given, "output": pack.add(values, kind), "interpolation": form}
            )
    made: dict[str, Any] = {"samplers": samplers, "channels": channels}
    if rng.random() < 0.5:
        made["name"] = g.name(0)
    if g.odd(0.1):
        made["extras"] = {
            "motionloom": {"fps": rng.choice((30, 0, -1, 1e9, "x", 1e-9)), "source": {}}
        }
    return made


def _add_mesh(g: Grammar, pack: Pack, document: dict[str, Any], n: int) -> None:
    rng, points = g.rng, 6
    places = np.array([[rng.uniform(-1, 2) for _ in range(3)] for _ in range(points)])
    owners = np.array([[rng.randrange(n + g.odd(0.05)) for _ in range(4)] for _ in range(points)])
    attributes = {
        "POSITION": pack.add(places, "VEC3"),
        "JOINTS_0": pack.add(owners.astype(float), "VEC4"),
        "WEIGHTS_0": pack.add(np.full((points, 4), 0.25), "VEC4"),
    }
    document["meshes"] = [{"primitives": [{"attributes": attributes}]}]
    document["nodes"].append({"mesh": 0, "skin": 0})
    if rng.random() < 0.5:
        binds = np.tile(np.eye(4).reshape(1, 16), (n - g.odd(0.1), 1))
        document["skins"][0]["inverseBindMatrices"] = pack.add(binds, "MAT4")


def _change_one(g: Grammar, document: Any) -> None:
    """Put an odd value at a random place of a document."""
    node = document
    while True:
        keys = list(node) if isinstance(node, dict) else list(range(len(node)))
        if not keys:
            return
        key = g.rng.choice(keys)
        if not isinstance(node[key], dict | list) or not node[key] or g.rng.random() < 0.2:
            break
        node = node[key]
    kind = g.rng.randrange(4)
    if kind == 0:
        del node[key]
    elif kind == 1 and isinstance(node, list):
        node.append(node[key])
    else:
        node[key] = g.rng.choice(ODD_VALUES)


def _unit(rng: Any) -> list[float]:
    values = [rng.gauss(0, 1) for _ in range(4)]
    length = sum(v * v for v in values) ** 0.5 or 1.0
    return [v / length for v in values]


def _quats(g: Grammar, *shape: int) -> np.ndarray:
    count = int(np.prod(shape))
    quats = np.array([_unit(g.rng) for _ in range(min(count, 60))] or [[1.0, 0, 0, 0]])
    return np.resize(quats, (*shape, 4))


def _skeleton_arrays(g: Grammar) -> tuple[dict[str, np.ndarray], int, int]:
    n, frames = g.size(), g.frames()
    arrays = {
        "root_positions": np.resize([g.rng.uniform(-1, 1) for _ in range(7)], (frames, 3)),
        "local_quats": _quats(g, frames, n),
        "parents": np.array(g.parents(n)),
        "offsets": np.resize([g.rng.uniform(-1, 1) for _ in range(11)], (n, 3)),
    }
    if g.odd(0.05):
        arrays["parents"][g.rng.randrange(n)] = g.rng.choice((-1, 0, n, n + 5, -7))
    if g.rng.random() < 0.3:
        arrays["rest_quats"] = _quats(g, n)
    if g.rng.random() < 0.3:
        arrays["end_parents"] = np.array([g.rng.randrange(n + g.odd(0.05))])
        arrays["end_offsets"] = np.ones((1, 3))
    if g.rng.random() < 0.3:
        arrays["joint_translations"] = np.resize(arrays["offsets"], (frames, n, 3)) * 1.1
    return arrays, n, frames


def arrays_members(g: Grammar) -> dict[str, bytes]:
    """Plain numpy arrays of a motion."""
    arrays, n, _ = _skeleton_arrays(g)
    if not g.odd(0.05):
        arrays["names"] = np.array([g.name(j) for j in range(n)])
    arrays["fps"] = np.array(g.rng.choice((30.0, 120, 0.0, -1.0, 1e9)) if g.odd(0.1) else 60.0)
    if g.odd(0.2):
        arrays["unit_m"] = np.array(g.rng.choice((1.0, 0.01, 0.0, -1.0, np.nan, 1e30)))
        arrays["up"] = np.array(g.rng.choice(("y", "z", "-x", "q", "")))
        arrays["quat_order"] = np.array(g.rng.choice(("wxyz", "xyzw", "x")))
    return _members(g, arrays)


def amass_members(g: Grammar) -> dict[str, bytes]:
    """Poses of SMPL."""
    frames = g.frames()
    width = g.rng.choice((66, 72, 156, 165)) if not g.odd(0.05) else g.rng.choice((0, 3, 65, 200))
    poses = np.resize([g.rng.uniform(-1, 1) for _ in range(31)], (frames, width))
    arrays = {"trans": np.resize([0.5, 1.0, 2.0, 0.1], (frames, 3)), "poses": poses}
    if not g.odd(0.1):
        rate = g.rng.choice((0.0, -1.0, 1e30, np.nan)) if g.odd(0.1) else 120.0
        arrays["mocap_framerate"] = np.array(rate)
    if g.rng.random() < 0.5:
        arrays["gender"] = np.array(g.rng.choice(("female", "", "\ud800", "neutral")))
    return _members(g, arrays)


def archive_members(g: Grammar) -> dict[str, bytes]:
    """motionloom's own archive, with right checksums."""
    arrays, n, _ = _skeleton_arrays(g)
    rng = g.rng
    members = _members(g, arrays)
    detail: dict[str, Any] = {"names": [g.name(j) for j in range(n)], "newline": "\n"}
    detail["channels"] = [
        ["Xposition"],
        *(["Zrotation", "Xrotation", "Yrotation"] for _ in range(n - 1)),
    ]
    if g.odd(0.2):
        detail["channels"] = rng.choice(
            ([], [[]] * n, [["Xrotation"] * 5] * n, [["q"]] * n, 3, None)
        )
    source: dict[str, Any] = {"format": rng.choice(("bvh", "glb", "", "arrays")), "path": "a.bvh"}
    source |= {"unit_m": 0.01, "up": "z", "fps": 30.0, "detail": detail}
    source["findings"] = [{"level": "note", "where": "a", "problem": "b", "fix": ""}]
    if g.odd(0.2):
        source[
            rng.choice(("unit_m", "up", "fps", "clip", "floor", "findings", "skipped_frames"))
        ] = rng.choice(ODD_VALUES)
    header: dict[str, Any] = {
        "format": "motionloom motion",
        "schema": 1,
        "name": g.name(0),
        "fps": 30.0,
        "unit_m": 1.0,
        "up": "y",
        "names": [g.name(j) for j in range(n)],
        "source": source,
        "sha256": {name[:-4]: hashlib.sha256(data).hexdigest() for name, data in members.items()},
    }
    if g.odd(0.1):
        _change_one(g, header)
    text = json.dumps(header).encode("utf-8", "surrogatepass")
    return {"motionloom.json": text, **members}


def _members(g: Grammar, arrays: dict[str, np.ndarray]) -> dict[str, bytes]:
    if g.odd(0.03):
        del arrays[g.rng.choice(list(arrays))]
    return {f"{key}.npy": _npy(g, array) for key, array in arrays.items()}


def _npy(g: Grammar, array: np.ndarray) -> bytes:
    if g.odd(0.02) and array.dtype.kind == "f" and array.size:
        array = array.copy()
        array.flat[g.rng.randrange(array.size)] = g.rng.choice((np.nan, np.inf, 1e300, 0.0, 1e13))
    descr, shape = array.dtype.str, array.shape
    if g.odd(0.02):
        descr = g.rng.choice(DTYPES)
    if g.odd(0.02):
        shape = g.rng.choice(((), (0,), (1,) * 9, (*shape, 1), (2**40, 2**40), shape[::-1]))
    order = g.odd(0.02)
    header = f"{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}"
    body = header.encode() + b" " * (-(11 + len(header)) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(body)) + body + array.tobytes()


def zip_bytes(g: Grammar, members: dict[str, bytes]) -> bytes:
    """A zip of members, stored or packed, in some order."""
    stream = io.BytesIO()
    method = zipfile.ZIP_DEFLATED if g.rng.random() < 0.1 else zipfile.ZIP_STORED
    listed = list(members.items())
    if g.odd(0.05):
        g.rng.shuffle(listed)
    if g.odd(0.02):
        listed.append(("../x", b"1"))
    if g.odd(0.02):
        listed.append((f"{g.rng.choice(listed)[0]}/", b""))
    with zipfile.ZipFile(stream, "w", method) as made:
        for name, data in listed:
            made.writestr(zipfile.ZipInfo(name), data, method)
    return stream.getvalue()
