"""Generators of the files of ``bombs.py``: one function per way to ask for much with little.

Each takes a folder and a scale (1 is full size) and returns the path of the file it wrote.
"""

from __future__ import annotations

import io
import json
import struct
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

import motionloom as ml
from seeds import AMC, ASF, deepmimic_file, packed_arrays_file

Bomb = Callable[[Path, float], Path]
BOMBS: dict[str, Bomb] = {}
"""Every generator, by the name of its case."""

CHANNELS = "CHANNELS 3 Zrotation Xrotation Yrotation"
HEAD = f"HIERARCHY\nROOT a\n{{\nOFFSET 0 0 0\n{CHANNELS}\n}}\nMOTION\nFrames: 1\nFrame Time: 0.01\n"
ASSET = '{"asset":{"version":"2.0"},'


def bomb(name: str) -> Callable[[Bomb], Bomb]:
    """Enter a generator into the list."""

    def enter(made: Bomb) -> Bomb:
        BOMBS[name] = made
        return made

    return enter


def file_of(path: Path, parts: Iterable[bytes]) -> Path:
    with path.open("wb") as stream:
        stream.writelines(parts)
    return path


def repeated(path: Path, first: str, middle: str, count: float, last: str = "") -> Path:
    """A file of ``first``, many times ``middle``, and ``last``."""
    block = middle.encode() * 1000
    whole = int(count) // 1000
    return file_of(path, [first.encode(), *[block] * whole, last.encode()])


def zip_of(path: Path, members: dict[str, bytes], packed: bool = True) -> Path:
    method = zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name), data, method)
    return path


def npy(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def packable(shape: tuple[int, ...], fill: np.ndarray, every: int) -> np.ndarray:
    """One repeated row, and noise in some that lets it pack to about 1 : 200."""
    rng = np.random.Generator(np.random.PCG64(0))
    out = np.tile(fill, (*shape[:-1], 1)).astype(np.float32)
    rows = out.reshape(-1, shape[-1])
    some = slice(None, None, every)
    noise = rng.normal(size=rows[some].shape)
    if shape[-1] == 4:
        noise /= np.linalg.norm(noise, axis=1, keepdims=True)
    rows[some] = noise
    return out


def glb_of(path: Path, text: str, binary: bytes = b"") -> Path:
    body = text.encode() + b" " * (-len(text.encode()) % 4)
    chunks = struct.pack("<II", len(body), 0x4E4F534A) + body
    if binary:
        chunks += struct.pack("<II", len(binary), 0x004E4942) + binary
    return file_of(path, [struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)), chunks])


def turning_glb(
    path: Path, parts: dict[str, object], times: np.ndarray, turned: Iterable[int]
) -> Path:
    """A .glb of nodes, some of which share one array of rotations at these times."""
    keys = len(times)
    values = np.tile(np.array([0, 0, 0, 1], "<f4"), (keys, 1))
    document = {
        "asset": {"version": "2.0"},
        **parts,
        "buffers": [{"byteLength": 20 * keys}],
        "bufferViews": [
            {"buffer": 0, "byteLength": 4 * keys},
            {"buffer": 0, "byteOffset": 4 * keys, "byteLength": 16 * keys},
        ],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": keys, "type": "SCALAR"},
            {"bufferView": 1, "componentType": 5126, "count": keys, "type": "VEC4"},
        ],
        "animations": [
            {
                "samplers": [{"input": 0, "output": 1}],
                "channels": [
                    {"sampler": 0, "target": {"node": n, "path": "rotation"}} for n in turned
                ],
            }
        ],
    }
    return glb_of(path, json.dumps(document), times.tobytes() + values.tobytes())


@bomb("mlm header of empty lists")
def mlm_header(folder: Path, scale: float) -> Path:
    noise = np.random.Generator(np.random.PCG64(0)).bytes(int(3e6 * scale)).hex()
    text = '{"format":"motionloom motion","schema":1,"noise":"%s","x":[%s[]]}'
    return zip_of(
        folder / "a.mlm", {"motionloom.json": (text % (noise, "[]," * int(1.6e8 * scale))).encode()}
    )


def still_body(n_frames: int, n_joints: int) -> dict[str, bytes]:
    """What an npz of motion has besides its rotations."""
    return {
        "root_positions.npy": npy(np.zeros((n_frames, 3))),
        "parents.npy": npy(np.arange(-1, n_joints - 1)),
        "offsets.npy": npy(np.ones((n_joints, 3))),
    }


def curve_of(path: Path, motion: ml.Motion, count: int, planted: np.ndarray) -> Path:
    """A registration curve that holds a motion many times, packed twice."""
    stored = io.BytesIO()
    ml.save(motion, stored, format="archive")
    with zipfile.ZipFile(stored) as old:
        members = {info.filename: old.read(info) for info in old.infolist()}
    packed = zip_of(path.with_name("packed.zip"), members)
    header = {"format": "motionloom registration", "schema": 1, "motions": count, "reference": 0}
    files = {"registration.json": json.dumps(header).encode()}
    for k in range(count):
        files[f"motion{k}.mlm"] = packed.read_bytes()
        files[f"planted{k}.npy"] = npy(planted)
    packed.unlink()
    return zip_of(path, files)


def still_motion(n_frames: int, n_joints: int, *, sliding: bool = False) -> ml.Motion:
    offsets = np.full((n_joints, 3), 0.01)
    names = [f"joint{k}" for k in range(n_joints)]
    quats = np.tile(np.array([1.0, 0.0, 0.0, 0.0]), (n_frames, n_joints, 1))
    return ml.Motion(
        ml.Skeleton(names, np.arange(-1, n_joints - 1), offsets),
        np.zeros((n_frames, 3)),
        quats,
        60.0,
        joint_translations=np.tile(offsets, (n_frames, 1, 1)) if sliding else None,
    )


@bomb("mlr of packed motions")
def mlr_motions(folder: Path, scale: float) -> Path:
    n = int(3000 * scale)
    return curve_of(folder / "a.mlr", still_motion(n, 22), 60, np.zeros((n, 4), bool))


@bomb("mlr of packed sliding motions")
def mlr_sliding(folder: Path, scale: float) -> Path:
    n = int(3000 * scale)
    motion = still_motion(n, 22, sliding=True)
    return curve_of(folder / "a.mlr", motion, 60, np.zeros((n, 4), bool))


@bomb("mlr of many joints")
def mlr_joints(folder: Path, scale: float) -> Path:
    motion = still_motion(3, int(3000 * scale))
    return curve_of(folder / "a.mlr", motion, 400, np.zeros((3, 4), bool))


@bomb("mlr of packed plants")
def mlr_plants(folder: Path, scale: float) -> Path:
    planted = np.zeros((int(1.3e7 * scale), 4), bool)
    return curve_of(folder / "a.mlr", still_motion(60, 22), 2, planted)


@bomb("mlm header of many names")
def mlm_names(folder: Path, scale: float) -> Path:
    names = ",".join(f'"{n:x}"' for n in range(int(3e6 * scale)))
    first = '{"format":"motionloom motion","schema":1,"fps":1,"sha256":{},"names":['
    return zip_of(folder / "a.mlm", {"motionloom.json": f"{first}{names}]}}".encode()})


@bomb("amass of packed zeros")
def amass_zeros(folder: Path, scale: float) -> Path:
    n = int(1.5e6 * scale)
    members = {
        "poses.npy": npy(packable((n, 156), np.zeros(156), 1000)),
        "trans.npy": npy(np.zeros((n, 3), np.float32)),
    }
    return zip_of(folder / "a.npz", members)


@bomb("npz of packed quaternions")
def npz_quats(folder: Path, scale: float) -> Path:
    n, joints = int(4e5 * scale), 60
    members = {
        "local_quats.npy": npy(packable((n, joints, 4), np.array([1.0, 0, 0, 0]), 1000)),
        "root_positions.npy": npy(np.zeros((n, 3), np.float32)),
        "parents.npy": npy(np.arange(-1, joints - 1)),
        "offsets.npy": npy(np.ones((joints, 3))),
    }
    return zip_of(folder / "a.npz", members)


@bomb("npz of one packed array below the limit")
def npz_one(folder: Path, scale: float) -> Path:
    n, joints = int(88_000 * scale), 22
    quats = np.zeros((n, joints, 4))
    quats[..., 0] = 1.0
    quats[-1, -1, -1] = 1e13  # found last
    return zip_of(folder / "a.npz", {"local_quats.npy": npy(quats), **still_body(n, joints)})


@bomb("npz of packed bytes as quaternions")
def npz_bytes(folder: Path, scale: float) -> Path:
    n, joints = int(1e6 * scale), 60
    quats = np.zeros((n, joints, 4), np.int8)
    quats[..., 0] = 1
    quats[::300] = np.roll(quats[::300], 1, axis=-1)
    quats[::300, ::2, 0] = np.random.Generator(np.random.PCG64(0)).integers(
        0, 9, (len(quats[::300]), 30)
    )
    members = {
        "local_quats.npy": npy(quats),
        "root_positions.npy": npy(np.zeros((n, 3), np.int8)),
        "parents.npy": npy(np.arange(-1, joints - 1)),
        "offsets.npy": npy(np.ones((joints, 3))),
    }
    return zip_of(folder / "a.npz", members)


@bomb("npz of long packed names")
def npz_names(folder: Path, scale: float) -> Path:
    with zipfile.ZipFile(io.BytesIO(packed_arrays_file())) as old:
        members = {info.filename: old.read(info) for info in old.infolist()}
    noise = np.random.Generator(np.random.PCG64(0)).bytes(50).hex()
    names = np.array([noise + "x" * 20000 + noise + str(k) for k in range(int(2e4 * scale))])
    return zip_of(folder / "a.npz", members | {"names.npy": npy(names)})


@bomb("npz of many members")
def npz_members(folder: Path, scale: float) -> Path:
    # The directory alone, written by hand: zipfile would take minutes.
    entry = struct.Struct("<4s6H3I5H2I")
    name = b"local_quats.npy"
    first = struct.pack("<4s5H3I2H", b"PK\x03\x04", 20, 0, 0, 0, 33, 0, 0, 0, len(name), 0) + name
    count = int(1e6 * scale)
    row = b"PK\x01\x02", 20, 20, 0, 0, 0, 33, 0, 0, 0, len(name), 0, 0, 0, 0, 0, 0
    directory = (entry.pack(*row) + name) * count
    end = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, 60000, 60000, len(directory), len(first), 0)
    return file_of(folder / "a.npz", [first, directory, end])


@bomb("deepmimic list of numbers")
def deepmimic_numbers(folder: Path, scale: float) -> Path:
    return repeated(folder / "a.txt", '{"Frames":[[', "0.5,", 1.5e7 * scale, "0]]}")


@bomb("deepmimic rows of one number")
def deepmimic_rows(folder: Path, scale: float) -> Path:
    return repeated(folder / "a.txt", '{"Frames":[[0.5]', ",[0.5]", 1e7 * scale, "]}")


@bomb("deepmimic empty lists")
def deepmimic_lists(folder: Path, scale: float) -> Path:
    return repeated(folder / "a.txt", '{"Loop":[', "[],", 2e7 * scale, "0]}")


@bomb("deepmimic keys")
def deepmimic_keys(folder: Path, scale: float) -> Path:
    keys = "".join(f'"{k:x}":[],' for k in range(int(3e6 * scale)))
    return file_of(folder / "a.txt", [b'{"Loop":1,', keys.encode(), b'"Frames":[]}'])


@bomb("deepmimic long good file")
def deepmimic_long(folder: Path, scale: float) -> Path:
    row = json.dumps(json.loads(deepmimic_file())["Frames"][0])
    text = '{"Loop":"none","Frames":[' + row
    return repeated(folder / "a.txt", text, "," + row, 1e5 * scale, "]}")


@bomb("glb nodes that share one key array")
def glb_shared(folder: Path, scale: float) -> Path:
    keys, nodes = int(1e5 * scale), 3000
    times = np.arange(keys, dtype="<f4") / 30
    tree = [{"children": list(range(1, nodes))}] + [{} for _ in range(nodes - 1)]
    return turning_glb(folder / "a.glb", {"nodes": tree}, times, turned=range(nodes))


@bomb("glb keys that ask for many frames")
def glb_frames(folder: Path, scale: float) -> Path:
    joints, keys = int(400 * scale) + 1, 100
    times = np.cumsum(np.random.Generator(np.random.PCG64(0)).uniform(5, 15, keys)).astype("<f4")
    chain = [{"children": [n + 1]} for n in range(joints - 1)] + [{}]
    parts = {"nodes": chain, "skins": [{"joints": list(range(joints))}]}
    return turning_glb(folder / "a.glb", parts, times, turned=[0])


@bomb("glb meshes that share one array")
def glb_meshes(folder: Path, scale: float) -> Path:
    points, parts = int(3e4 * scale), 2000
    document = {
        "asset": {"version": "2.0"},
        "nodes": [{}, {"mesh": 0, "skin": 0}],
        "skins": [{"joints": [0]}],
        "meshes": [
            {
                "primitives": [
                    {"attributes": {"POSITION": 0, "JOINTS_0": 1, "WEIGHTS_0": 2}}
                    for _ in range(parts)
                ]
            }
        ],
        "buffers": [{"byteLength": 16 * points}],
        "bufferViews": [{"buffer": 0, "byteLength": 16 * points}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": points, "type": "VEC3"},
            {"bufferView": 0, "componentType": 5121, "count": points, "type": "VEC4"},
            {"bufferView": 0, "componentType": 5126, "count": points, "type": "VEC4"},
        ],
    }
    return glb_of(folder / "a.glb", json.dumps(document), bytes(16 * points))


@bomb("gltf of many nodes")
def gltf_nodes(folder: Path, scale: float) -> Path:
    return repeated(folder / "a.gltf", ASSET + '"nodes":[', "{},", 1e6 * scale, "{}]}")


@bomb("glb of nodes with places")
def glb_places(folder: Path, scale: float) -> Path:
    some = '{"translation":[0,0,1],"rotation":[0,0,0,1],"scale":[1,1,1]},' * int(3e5 * scale)
    return glb_of(folder / "a.glb", ASSET + '"nodes":[' + some + "{}]}")


@bomb("gltf of empty lists")
def gltf_lists(folder: Path, scale: float) -> Path:
    return repeated(folder / "a.gltf", ASSET + '"extras":[', "[],", 3e7 * scale, "[]]}")


@bomb("gltf of deep lists")
def gltf_deep(folder: Path, scale: float) -> Path:
    return repeated(folder / "a.gltf", ASSET + '"extras":', "[", 3e7 * scale)


@bomb("gltf of strings")
def gltf_strings(folder: Path, scale: float) -> Path:
    texts = "".join(f'"{k:x}",' for k in range(int(5e6 * scale)))
    return file_of(folder / "a.gltf", [(ASSET + '"extras":[').encode(), texts.encode(), b"0]}"])


@bomb("gltf of wide text")
def gltf_wide(folder: Path, scale: float) -> Path:
    return repeated(folder / "a.gltf", ASSET + '"extras":"\U0001f600', "a", 5e7 * scale, '"}')


@bomb("gltf of many animations")
def gltf_animations(folder: Path, scale: float) -> Path:
    return repeated(
        folder / "a.gltf", ASSET + '"animations":[', '{"name":"x"},', 5e5 * scale, "{}]}"
    )


@bomb("gltf of a long base64 buffer")
def gltf_base64(folder: Path, scale: float) -> Path:
    count = int(3e7 * scale) // 4000 * 4000
    text = ASSET + '"buffers":[{"byteLength":1,"uri":"data:;base64,'
    rest = (
        '"}],"bufferViews":[{"buffer":0,"byteLength":4}],"accessors":[{"bufferView":0,"count":1,'
        '"componentType":5126,"type":"SCALAR"}],"nodes":[{}],"animations":[{"samplers":'
        '[{"input":0,"output":0}],"channels":[{"sampler":0,"target":{"node":0,"path":"scale"}}]}]}'
    )
    return repeated(folder / "a.gltf", text, "AAAA", count / 4 * 1.0, rest)


@bomb("bvh comments in the hierarchy")
def bvh_head_comments(folder: Path, scale: float) -> Path:
    return repeated(folder / "a.bvh", "HIERARCHY\n", "#\n", 3e7 * scale, HEAD[10:] + "1 2 3\n")


@bomb("bvh comments among the rows")
def bvh_row_comments(folder: Path, scale: float) -> Path:
    return repeated(folder / "a.bvh", HEAD + "1 2 3\n", "#\n", 3e7 * scale, "1 2 3\n")


@bomb("bvh blank lines in the hierarchy")
def bvh_blanks(folder: Path, scale: float) -> Path:
    return repeated(folder / "a.bvh", "HIERARCHY\n", " \n", 3e7 * scale, HEAD[10:] + "1 2 3\n")


@bomb("bvh channel words")
def bvh_channels(folder: Path, scale: float) -> Path:
    first = "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 1000000 "
    return repeated(folder / "a.bvh", first, "Xrotation ", 1e6 * scale, "\n}\nMOTION\n")


@bomb("bvh offsets")
def bvh_offsets(folder: Path, scale: float) -> Path:
    first = "HIERARCHY\nROOT a\n{\n"
    return repeated(folder / "a.bvh", first, "OFFSET 0 0 0\n", 5e6 * scale, "}\n")


@bomb("bvh braces")
def bvh_braces(folder: Path, scale: float) -> Path:
    return repeated(folder / "a.bvh", "HIERARCHY\n", "}", 5e7 * scale)


@bomb("bvh long name")
def bvh_name(folder: Path, scale: float) -> Path:
    return repeated(folder / "a.bvh", "HIERARCHY\nROOT ", "a b ", 1.5e7 * scale, HEAD[10:])


@bomb("bvh long token")
def bvh_token(folder: Path, scale: float) -> Path:
    return repeated(folder / "a.bvh", HEAD + "1 2 ", "1", 5e7 * scale, "\n")


@bomb("bvh one row on one line")
def bvh_row(folder: Path, scale: float) -> Path:
    return repeated(folder / "a.bvh", HEAD, "1 ", 2.5e7 * scale, "\n")


@bomb("bvh joints without channels")
def bvh_bare(folder: Path, scale: float) -> Path:
    joints = "".join(f"JOINT j{k}\n{{\nOFFSET 0 1 0\n}}\n" for k in range(4000))
    head = f"HIERARCHY\nROOT a\n{{\nOFFSET 0 0 0\n{CHANNELS}\n{joints}}}\nMOTION\n"
    return repeated(folder / "a.bvh", head + "Frame Time: 0.01\n", "1 2 3\n", 1e6 * scale)


@bomb("bvh sliding joints of short rows")
def bvh_sliding(folder: Path, scale: float) -> Path:
    joints = "".join(
        f"JOINT j{k}\n{{\nOFFSET 0 1 0\nCHANNELS 1 Xposition\n}}\n" for k in range(100)
    )
    head = f"HIERARCHY\nROOT a\n{{\nOFFSET 0 0 0\nCHANNELS 1 Xposition\n{joints}}}\nMOTION\n"
    rows = "1 " * 101 + "\n" + "2 " * 101 + "\n"
    return repeated(folder / "a.bvh", head + "Frame Time: 0.01\n", rows, 7e4 * scale)


@bomb("bvh slow numbers")
def bvh_slow(folder: Path, scale: float) -> Path:
    return repeated(folder / "a.bvh", HEAD, "1e-90 1e-90 1e-90\n", 1e6 * scale)


@bomb("bvh long good file")
def bvh_long(folder: Path, scale: float) -> Path:
    return repeated(folder / "a.bvh", HEAD, "12.5 -3.25 100.125\n", 2e6 * scale)


def acclaim(folder: Path, asf: Iterable[bytes], amc: Iterable[bytes]) -> Path:
    file_of(folder / "a.asf", asf)
    return file_of(folder / "a.amc", amc)


@bomb("amc comment lines")
def amc_comments(folder: Path, scale: float) -> Path:
    return acclaim(folder, [ASF], [b"#\n" * int(3e7 * scale), AMC])


@bomb("amc blank lines")
def amc_blanks(folder: Path, scale: float) -> Path:
    return acclaim(folder, [ASF], [AMC[:20], b"\n" * int(3e7 * scale), AMC])


@bomb("amc empty frames")
def amc_frames(folder: Path, scale: float) -> Path:
    return acclaim(folder, [ASF], [AMC, b"4\n" * int(1e7 * scale)])


@bomb("amc short frames")
def amc_short(folder: Path, scale: float) -> Path:
    return acclaim(folder, [ASF], [AMC, b"4\nshin 1\n" * int(3e6 * scale)])


@bomb("amc lines of no bone")
def amc_keywords(folder: Path, scale: float) -> Path:
    return acclaim(folder, [ASF], [b":DEGREES\n" * int(5e6 * scale), AMC])


@bomb("amc long good file")
def amc_long(folder: Path, scale: float) -> Path:
    frame = b"4\nroot 1.123456 16.123456 -3.123456 0 10.123456 0\n"
    frame += b"thigh 5.123456 -3.123456 2.123456\nshin 20.123456\n"
    return acclaim(folder, [ASF], [AMC, frame * int(3e5 * scale)])


@bomb("asf of short lines")
def asf_lines(folder: Path, scale: float) -> Path:
    return acclaim(folder, [b"ab\n" * int(5e6 * scale), ASF], [AMC])


@bomb("asf of one long line")
def asf_words(folder: Path, scale: float) -> Path:
    return acclaim(folder, [b"ab " * int(5e6 * scale), ASF], [AMC])


@bomb("asf of wide text")
def asf_wide(folder: Path, scale: float) -> Path:
    text = "# \U0001f600" + "a" * int(1.5e7 * scale) + "\n"
    return acclaim(folder, [text.encode(), ASF], [AMC])
