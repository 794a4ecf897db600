"""Changes to arrays and JSON documents that keep a file well formed: only its content is wrong."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import numpy.typing as npt

from mutate import JSON_VALUES, Random

Array = npt.NDArray[Any]

VALUES: tuple[Any, ...] = (
    *JSON_VALUES,
    *(3, 4, 7, 14, 15, 16, 100, 254, 255, 65535, 2**32, 2**64, -(2**63), 10**18, 15.5, -0.0),
    *(1e-300, 1e30, "15", "<f4", "walk", "\ud800", "a/b", "x" * 5000, "../" * 2000, "é\n"),
    *([1] * 100, [0], [2**40, 2**40], [-1, -1], {"linear": []}, [["a", "b"]], {"": 0}),
)
KINDS = (
    *("|b1", "|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f2", "<f4", "<f8"),
    *(">f4", ">u2", ">u4", ">i8", "|S4", "<U2", "<c8", "<M8[s]", "|V4", "|O"),
)
DEEP = "deep nesting goes here"


def pick(rng: Random, values: Any) -> Any:
    return values[int(rng.integers(len(values)))]


def changed_array(rng: Random, array: Array) -> Array:
    """The array with other values, another length, shape or kind."""
    ways = (poked, poked, poked, poked, redrawn, redrawn, resized, resized, reshaped, recast)
    changed: Array = pick(rng, ways)(rng, np.array(array))
    return changed


def poked(rng: Random, array: Array) -> Array:
    """One value, some, or all of them replaced by one at or over the edge of what is allowed."""
    if not array.size or array.dtype.kind not in "fbiu":
        return np.zeros(3, dtype=array.dtype)
    flat = array.reshape(-1)
    if array.dtype.kind == "f":
        edges: tuple[Any, ...] = (np.nan, np.inf, -np.inf, 0.0, -1.0, 1e-30, 1e9, -6e4, 3e38, 1e300)
    elif array.dtype.kind == "b":
        flat, edges = flat.view(np.uint8), (0, 1, 2, 7, 128, 255)
    else:
        top, limits = int(flat.max()), np.iinfo(array.dtype)
        near = (top + 1, top + 2, top - 1, int(flat.min()) - 1, -1, -2, 0, 253, 254, 255, 2 * top)
        edges = tuple(
            int(np.array(n).astype(array.dtype))
            for n in (*near, limits.max, limits.min, limits.max - 1)
        )
    share = pick(rng, (0.0, 0.0, 0.02, 0.5, 1.0))
    at = rng.random(flat.size) < share
    at[int(rng.integers(flat.size))] = True
    with np.errstate(over="ignore", invalid="ignore"):
        flat[at] = np.array(pick(rng, edges)).astype(flat.dtype)
    return array


def redrawn(rng: Random, array: Array) -> Array:
    """Random values: of the own range or a little beyond, of the whole type, or shuffled."""
    if not array.size:
        return array
    if rng.random() < 0.3:
        return rng.permuted(array.reshape(-1)).reshape(array.shape)
    if array.dtype.kind not in "iu" or rng.random() < 0.4:
        noise = rng.integers(0, 256, array.nbytes, dtype=np.uint8)
        return noise.view(array.dtype).reshape(array.shape)
    beyond = int(rng.integers(0, 3))
    drawn = rng.integers(int(array.min()), int(array.max()) + 1 + beyond, array.shape)
    return drawn.astype(array.dtype)


def resized(rng: Random, array: Array) -> Array:
    """Other lengths along one axis."""
    if array.ndim == 0:
        return array.reshape(1)
    axis = int(rng.integers(array.ndim))
    n = array.shape[axis]
    count = pick(rng, (0, 1, n // 2, n - 1, n + 1, 2 * n))
    return np.take(array, np.arange(count) % max(n, 1), axis=axis) if n else array


def reshaped(rng: Random, array: Array) -> Array:
    """More dimensions, fewer, or others."""
    ways = (
        lambda a: a[None],
        lambda a: a[..., None],
        lambda a: a.reshape(-1),
        lambda a: a.reshape((1,) * 30 + a.shape),
        lambda a: np.ascontiguousarray(a.T),
        lambda a: a.reshape(a.shape[::-1]),
        lambda a: a.reshape(-1)[:1].reshape(()) if a.size else a,
    )
    return np.asarray(pick(rng, ways)(array))


def recast(rng: Random, array: Array) -> Array:
    """The same values, or the same bytes, as another kind of number, as text or as objects."""
    kind = np.dtype(pick(rng, KINDS))
    if kind.kind == "O":
        return np.zeros(array.shape, dtype=kind)
    if rng.random() < 0.5 and array.nbytes % kind.itemsize == 0 and array.size:
        return array.reshape(-1).view(np.uint8).view(kind)
    with np.errstate(over="ignore", invalid="ignore"):
        try:
            return array.astype(kind)
        except (TypeError, ValueError):
            return np.zeros(array.shape, dtype=kind)


def changed_json(rng: Random, document: Any) -> Any:
    """A copy of the document with one or two of its values replaced, deleted or doubled."""
    document = json.loads(json.dumps(document))
    for _ in range(1 + int(rng.random() < 0.2)):
        nodes = _nodes(document)
        if not nodes:
            break
        node, key = pick(rng, nodes)
        way = int(rng.integers(8))
        if way == 0:
            del node[key]
        elif way == 1 and isinstance(node, list):
            node.insert(key, node[key])
        elif way == 2:
            other, other_key = pick(rng, nodes)
            node[key] = json.loads(json.dumps(other[other_key]))
        elif way == 3 and type(node[key]) in (int, float):
            node[key] = pick(rng, (-1, 1, 2, 0.5)) * node[key] + pick(rng, (-1, 0, 1))
        elif way == 4 and rng.random() < 0.2:
            node[key] = DEEP
        else:
            node[key] = pick(rng, VALUES)
    return document


def json_text(rng: Random, document: Any) -> bytes:
    """The document as JSON text, in which NaN and deep nesting are allowed."""
    depth = int(10 ** rng.uniform(1.0, 5.0))
    deep = pick(rng, ("[" * depth + "]" * depth, '{"a":' * depth + "1" + "}" * depth))
    return json.dumps(document).replace(f'"{DEEP}"', deep).encode("ascii")


def _nodes(document: Any) -> list[tuple[Any, Any]]:
    """Containers and keys of every value; of long lists the ends only."""
    found, todo = [], [document]
    while todo:
        node = todo.pop()
        keys = list(node) if isinstance(node, dict) else list(range(len(node)))
        for key in keys if len(keys) <= 24 else [*keys[:3], *keys[-3:]]:
            found.append((node, key))
            if isinstance(node[key], dict | list):
                todo.append(node[key])
    return found
