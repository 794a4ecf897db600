"""Ways to damage a file: blindly, by tokens and lines, and by its structure.

Blind changes seldom get past a checksum or a length field; the structured ones take the file
apart, damage one part, and put it together again with all sums and lengths in order.
"""

from __future__ import annotations

import io
import json
import re
import struct
import zipfile
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

from fbx_mutate import change_fbx

Random = np.random.Generator

NUMBERS = (
    *("0", "-0.0", "1", "-1", "2", "255", "65536", "4294967296", "-2147483649", "1e9", "1e20"),
    *("1e308", "-1e308", "1e999", "-1e999", "5e-324", "nan", "NaN", "-inf", "Infinity", "1.#QNAN"),
    *("9" * 40, "0." + "3" * 60, "1e", "--1", "1.2.3", "1,5", "0x10", "1_000", "", "true", "null"),
)
JSON_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2**31, 2**63, -(2**40), 10**30, 0.5, 1e308, -1e308, 1e-320),
    *(float("nan"), float("inf"), "", "x", "\x00", "data:,", "../../etc/x", "x" * 500),
    *([], {}, [[]], [0] * 50, {"a": {"b": []}}, [None], [1, 2, 3], [1e308] * 4, 10**400),
)
TEXT_TOKEN = re.compile(rb"[^\s{}\[\],:\"]+")
NUMERIC = re.compile(rb"[+-]?\d[\d.eE+-]*")


def truncate(rng: Random, data: bytes) -> bytes:
    return data[: int(rng.integers(0, len(data) + 1))]


def change_bytes(rng: Random, data: bytes) -> bytes:
    out = bytearray(data)
    for _ in range(int(rng.integers(1, 6))):
        if out:
            out[int(rng.integers(len(out)))] = int(rng.integers(256))
    return bytes(out)


def flip_bits(rng: Random, data: bytes) -> bytes:
    out = bytearray(data)
    for _ in range(int(rng.integers(1, 4))):
        if out:
            out[int(rng.integers(len(out)))] ^= 1 << int(rng.integers(8))
    return bytes(out)


def move_range(rng: Random, data: bytes) -> bytes:
    """Delete, double, or move a range of bytes."""
    a, b = sorted(int(n) for n in rng.integers(0, len(data) + 1, 2))
    b = min(b, a + int(2 ** rng.uniform(0, 10)))
    part, rest = data[a:b], data[:a] + data[b:]
    kind = int(rng.integers(3))
    if kind == 0:
        return rest
    at = int(rng.integers(0, len(rest) + 1))
    return (data if kind == 1 else rest)[:at] + part + (data if kind == 1 else rest)[at:]


def insert_noise(rng: Random, data: bytes) -> bytes:
    at = int(rng.integers(0, len(data) + 1))
    noise = rng.integers(0, 256, int(rng.integers(1, 30)), dtype=np.uint8).tobytes()
    return data[:at] + noise + data[at:]


def set_word(rng: Random, data: bytes) -> bytes:
    """Put an extreme integer or float where some length or offset may stand."""
    out = bytearray(data)
    words = (
        *(b"\xff\xff\xff\xff", b"\x00\x00\x00\x00", b"\xff\xff\xff\x7f", b"\x00\x00\x00\x80"),
        *(b"\x01\x00\x00\x00", struct.pack("<f", np.nan), struct.pack("<f", 3e38), b"\xff\xff"),
        *(struct.pack("<d", np.inf), struct.pack("<d", 1e300), b"\xff" * 8, b"\x00" * 8),
    )
    word = words[int(rng.integers(len(words)))]
    at = int(rng.integers(0, max(1, len(out) - len(word))))
    out[at : at + len(word)] = word
    return bytes(out)


def blow_up_number(rng: Random, data: bytes) -> bytes:
    found = list(NUMERIC.finditer(data))
    if not found:
        return data
    for _ in range(int(rng.integers(1, 3))):
        match = found[int(rng.integers(len(found)))]
        word = NUMBERS[int(rng.integers(len(NUMBERS)))].encode()
        data = data[: match.start()] + word + data[match.end() :]
        found = list(NUMERIC.finditer(data)) or found[:1]
    return data


def swap_tokens(rng: Random, data: bytes) -> bytes:
    found = list(TEXT_TOKEN.finditer(data))
    if len(found) < 2:
        return data
    i, j = sorted(int(n) for n in rng.integers(0, len(found), 2))
    a, b = found[i], found[j]
    if i == j:
        return data[: a.start()] + data[a.end() :]
    middle = data[a.end() : b.start()]
    return data[: a.start()] + b[0] + middle + a[0] + data[b.end() :]


def move_lines(rng: Random, data: bytes) -> bytes:
    """Delete, double or move some lines."""
    lines = data.splitlines(keepends=True)
    if not lines:
        return data
    at, to = (int(n) for n in rng.integers(0, len(lines), 2))
    some = lines[at : at + int(rng.integers(1, 5))]
    kind = int(rng.integers(4))
    if kind == 0:
        del lines[at : at + len(some)]
    elif kind == 1:
        lines[to:to] = some
    elif kind == 2:
        lines[at], lines[to] = lines[to], lines[at]
    else:
        lines[to:to] = some * int(rng.integers(2, 400))
    return b"".join(lines)


def change_separators(rng: Random, data: bytes) -> bytes:
    old = (b" ", b"\n", b"\t", b"{", b"}", b",", b":", b".")[int(rng.integers(8))]
    new = (b"", b"\r\n", b"\r", b"\x00", b"\t\t", b"#", b"{", b"}", b"\xff", b"//")[
        int(rng.integers(10))
    ]
    parts = data.split(old)
    some = rng.random(len(parts)) < rng.choice([0.02, 0.3, 1.0])
    return b"".join(
        part + (new if changed else old) for part, changed in zip(parts, some, strict=True)
    )


def change_json(rng: Random, data: bytes) -> bytes:
    """Replace, delete or double one node of a JSON document."""
    try:
        document = json.loads(data)
    except ValueError:
        return swap_tokens(rng, data)
    nodes: list[tuple[Any, Any]] = []
    todo = [document]
    while todo:
        node = todo.pop()
        keys = list(node) if isinstance(node, dict) else range(len(node))
        for key in keys:
            nodes.append((node, key))
            if isinstance(node[key], dict | list):
                todo.append(node[key])
        if len(nodes) > 20000:
            break
    for _ in range(int(rng.integers(1, 3))):
        if not nodes:
            break
        node, key = nodes[int(rng.integers(len(nodes)))]
        with suppress(KeyError, IndexError):  # an earlier change may have taken it away
            kind = int(rng.integers(6))
            if kind == 0:
                del node[key]
            elif kind == 1 and isinstance(node, list):
                node.insert(key, node[key])
            elif kind == 2:
                other, other_key = nodes[int(rng.integers(len(nodes)))]
                node[key] = json.loads(json.dumps(other[other_key]))
            else:
                node[key] = JSON_VALUES[int(rng.integers(len(JSON_VALUES)))]
    return json.dumps(document).encode()


def change_glb(rng: Random, data: bytes) -> bytes:
    """Damage the JSON or the binary chunk of a GLB; lengths stay right."""
    try:
        length = struct.unpack_from("<I", data, 12)[0]
        text, rest = data[20 : 20 + length], data[20 + length :]
        if rng.random() < 0.7:
            text = change_json(rng, text)
            text += b" " * (-len(text) % 4)
        else:
            rest = rest[:8] + set_word(rng, rest[8:])
    except struct.error:
        return change_bytes(rng, data)
    chunks = struct.pack("<II", len(text), 0x4E4F534A) + text + rest
    return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks


def change_zip(rng: Random, data: bytes) -> bytes:
    """Damage one member of a zip and pack it again, so that its checksum is right."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as old:
            members = [(info.filename, old.read(info)) for info in old.infolist()]
    except Exception:  # a change before has left no zip
        return change_bytes(rng, data)
    at = int(rng.integers(len(members)))
    name, body = members[at]
    kind = int(rng.integers(8))
    if kind == 0:
        del members[at]
    elif kind == 1:
        members.append((f"{name}x", body))
    elif kind == 2:
        members[at] = (members[int(rng.integers(len(members)))][0], body)
    elif name.endswith(".json"):
        members[at] = (name, change_json(rng, body))
    elif body.startswith(b"\x93NUMPY"):
        members[at] = (name, change_npy(rng, body))
    else:
        members[at] = (name, change_bytes(rng, body))
    stream = io.BytesIO()
    method = zipfile.ZIP_DEFLATED if rng.random() < 0.3 else zipfile.ZIP_STORED
    with zipfile.ZipFile(stream, "w", method) as new:
        names = set()
        for member, content in members:
            if member not in names:
                new.writestr(zipfile.ZipInfo(member), content)
            names.add(member)
    return stream.getvalue()


def change_npy(rng: Random, body: bytes) -> bytes:
    """Damage the header text or the numbers of an ``.npy``."""
    head = 10 + struct.unpack_from("<H", body, 8)[0] if len(body) > 10 else 0
    kind = int(rng.integers(4))
    if kind == 0:
        header = swap_tokens(rng, body[10:head]) if rng.random() < 0.5 else b""
        header = header or blow_up_number(rng, body[10:head])
        return body[:8] + struct.pack("<H", len(header)) + header + body[head:]
    if kind == 1:
        kinds = (b"<f4", b"<i8", b"|O8", b"<U9", b"|b1", b"<c16", b"<f2", b">f8", b"|V8", b"<M8")
        return re.sub(rb"[<>|][a-zA-Z]\d+", kinds[int(rng.integers(len(kinds)))], body, count=1)
    return body[:head] + set_word(rng, body[head:])


def nest(rng: Random, data: bytes) -> bytes:
    """Insert very deep nesting."""
    deep = (b"JOINT a\n{\n", b"[", b'{"a":', b"{", b"}", b"begin\n", b"a: {\n")[
        int(rng.integers(7))
    ]
    at = int(rng.integers(0, len(data) + 1))
    return data[:at] + deep * int(10 ** rng.uniform(1, 4.5)) + data[at:]


BLIND = (truncate, change_bytes, flip_bits, move_range, insert_noise, set_word)
TEXT = (blow_up_number, swap_tokens, move_lines, change_separators, blow_up_number)
OF_FORMAT: dict[str, tuple[Callable[[Random, bytes], bytes], ...]] = {
    "bvh": (*TEXT, *TEXT, nest),
    "amc": (*TEXT, *TEXT, nest),
    "deepmimic": (*TEXT, change_json, change_json, change_json, nest),
    "fbx": (change_fbx, change_fbx, change_fbx, change_fbx, change_fbx, *TEXT, nest),
    "glb": (change_glb, change_glb, change_glb, change_glb),
    "archive": (change_zip, change_zip, change_zip, change_zip),
    "arrays": (change_zip, change_zip, change_zip, change_zip),
    "amass": (change_zip, change_zip, change_zip, change_zip),
}


def mutated(rng: Random, data: bytes, kind: str) -> bytes:
    """``data`` spoiled one to three times, in ways that suit its format."""
    ways = (*BLIND, *OF_FORMAT.get(kind, TEXT))
    for _ in range(1 + int(rng.random() < 0.3) + int(rng.random() < 0.1)):
        way = ways[int(rng.integers(len(ways)))]
        with suppress(Exception):  # what a change before has left may be too broken for this one
            data = way(rng, data)
    return data
