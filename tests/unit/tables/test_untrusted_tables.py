"""Tables whose checksums fit and whose content does not: refused before anything follows it."""

import hashlib
import json
import os
import shutil

import numpy as np
import pytest

import motionloom as ml
from motionloom.errors import TableError
from motionloom.tables.build import build_table
from motionloom.tables.collection import store
from motionloom.tables.collection.collection import Collection
from motionloom.tables.evaluation.replay import replay_entries
from motionloom.tables.extend import extend_table
from motionloom.tables.table import TransitionTable
from motionloom.tables.table_file import (
    ALIGNED,
    FRONT,
    MAGIC,
    open_table_file,
    write_table_file,
)

SMALL = {"length_s": 0.5, "clusters": 3, "lookup": 5, "progress": False, "jobs": 1}


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    folder = tmp_path_factory.mktemp("untrusted") / "clips"
    folder.mkdir()
    for kind, seconds in (("walk", 1.5), ("run", 1.5), ("stand", 0.3)):
        clip = ml.synthetic.clip(kind, duration_s=seconds, fps=30)
        ml.save(clip.motion, folder / f"{kind}.bvh")
    return build_table(Collection.ingest(folder, fps=30), **SMALL)


def with_arrays(table, path, **changed):
    """The table in another file with some arrays changed; its checksums fit."""
    file = open_table_file(table.file)
    names = {name.replace(".", "_"): name for name in file.arrays}
    arrays = {**file.arrays, **{names[key]: array for key, array in changed.items()}}
    header = {k: v for k, v in file.header.items() if k not in ("format", "schema", "sections")}
    write_table_file(path, header, arrays)
    return path


def with_header(table, path, change):
    """The table in another file with a changed header; its digest fits."""
    file = open_table_file(table.file)
    header = json.loads(json.dumps(file.header))
    text = change(header)
    text = (text if isinstance(text, str) else json.dumps(header)).encode()
    text += b" " * (-(FRONT + len(text)) % ALIGNED)
    digest = hashlib.blake2b(text, digest_size=16).digest()
    raw = table.file.read_bytes()
    body = raw[FRONT + int.from_bytes(raw[len(MAGIC) : len(MAGIC) + 8], "little") :]
    path.write_bytes(MAGIC + len(text).to_bytes(8, "little") + digest + text + body)
    return path


def refused(table, path):
    """Whether a table is refused with its own collection, and for being extended."""
    with pytest.raises(TableError):
        TransitionTable.open(path, collection=table.collection)
    with pytest.raises(TableError):
        extend_table(path, table.collection, out=path.with_name("more.mlt"))
    return True


def one(array, value, place=0):
    changed = np.array(array)
    changed.reshape(-1)[place] = value
    return changed


def noise(array):
    rng = np.random.Generator(np.random.PCG64(3))
    drawn = rng.integers(0, 256, array.nbytes, dtype=np.uint8)
    return drawn.view(array.dtype).reshape(array.shape)


NAMES = (
    *("medoids", "fine_medoids", "between", "costs"),
    *("lookup.coarse", "lookup.fine", "lookup.coarse_distance", "lookup.fine_distance"),
)
CHANGES = {
    "random": noise,
    "half": lambda a: a[: len(a) // 2],
    "empty": lambda a: a[:0],
    "floats": lambda a: a.astype(np.float64),
    "wider": lambda a: np.zeros(a.shape, dtype=np.int64),
    "more dimensions": lambda a: a[None],
    "one number": lambda a: a.reshape(-1)[:1],
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("change", CHANGES)
def test_an_array_with_other_content_is_refused(table, tmp_path, name, change):
    changed = CHANGES[change](np.array(table.arrays[name]))
    assert refused(
        table, with_arrays(table, tmp_path / "a.mlt", **{name.replace(".", "_"): changed})
    )


@pytest.mark.parametrize("missing", NAMES)
def test_a_missing_array_is_refused(table, tmp_path, missing):
    file = open_table_file(table.file)
    arrays = {name: array for name, array in file.arrays.items() if name != missing}
    header = {k: v for k, v in file.header.items() if k not in ("format", "schema", "sections")}
    write_table_file(tmp_path / "a.mlt", header, arrays)
    assert refused(table, tmp_path / "a.mlt")


def test_every_index_must_be_in_its_range(table, tmp_path):
    rows, starts = table.frames.n_rows, table.frames.starts
    last = int(starts[1]) - table.length  # the first row of the first clip's last window
    short = int(starts[table.frames.ids.index("stand")])
    file = tmp_path / "a.mlt"
    for name in ("medoids", "fine_medoids"):
        good = table.arrays[name]
        for row in (last + 1, rows - 1, rows, 2**32 - 1, short):
            assert refused(table, with_arrays(table, file, **{name: one(good, row)}))
        with_arrays(table, file, **{name: one(good, last)})
        TransitionTable.open(file, collection=table.collection)
    for name, count in (("coarse", 3), ("fine", 5)):
        good = table.arrays[f"lookup.{name}"]
        window = int(np.flatnonzero(good != 0xFFFF)[0])
        for place, value in ((window, count), (window, 0xFFFF), (short, 0), (short, count)):
            changed = one(good, value, place)
            assert refused(table, with_arrays(table, file, **{f"lookup_{name}": changed}))
    for place in (0, 1, table.between.size - 1):
        for value in (3, 100, 253):
            changed = one(table.between, value, place)
            assert refused(table, with_arrays(table, file, between=changed))
    half = np.array(table.between)
    half[0, 1, 0] = (0, 254)  # a recipe whose second window is no recipe
    assert refused(table, with_arrays(table, file, between=half))


def test_costs_and_distances_must_be_numbers(table, tmp_path):
    file = tmp_path / "a.mlt"
    for value in (np.nan, np.inf, -np.inf):
        assert refused(table, with_arrays(table, file, costs=one(table.costs, value)))
    for value in (np.nan, -1.0, -np.inf):
        far = one(table.arrays["lookup.fine_distance"], value)
        assert refused(table, with_arrays(table, file, lookup_fine_distance=far))


def put(value, *path):
    def change(header):
        node = header
        for key in path[:-1]:
            node = node[key]
        node[path[-1]] = value

    return change


HEADERS = {
    **{f"length {n!r}": put(n, "length") for n in (-1, 0, 3, 2**40, 15.0, True, "15", None, [15])},
    **{f"sections {n!r}": put(n, "sections") for n in (None, {}, 3, "x", [3], [None], [[]], [{}])},
    **{f"settings {n!r}": put(n, "settings") for n in (None, [], 3, "x", {})},
    **{f"collection {n!r}": put(n, "collection") for n in (None, [], 3, {})},
    **{f"ranking {n!r}": put(n, "ranking") for n in (None, [], {}, {"linear": {}, "log": 3})},
    **{f"family {n!r}": put(n, "settings", "family") for n in (3, "waltz", None, ["eased"])},
    **{f"ways {n!r}": put(n, "settings", "ways") for n in (3, [], [5], [2.0], ["2"], [2**70])},
    **{f"clips {n!r}": put(n, "collection", "clips") for n in (None, 3, [3], [["a"]], {"a": "b"})},
    **{f"path {n!r}": put(n, "collection", "path") for n in (3, None, "", "a\0b", "x" * 9999)},
    **{
        f"weight {n!r}": put(n, "ranking", "linear")
        for n in ({"foot_in": 1e300}, {"foot_in": "1"}, {"waltz": 1.0}, {"foot_in": None})
    },
    **{f"shape {n!r}"[:30]: put(n, "sections", 0, "shape")
       for n in ([1] * 100, [-3], [3, -1, -1], [2**62, 4], [3.0], "3", None, [[3]], [True, 3])},
    **{f"at {n!r}": put(n, "sections", 1, "at") for n in (-64, 0, 1, 2**62, "64", None, 64.0)},
    **{f"kind {n!r}": put(n, "sections", 0, "kind")
       for n in ("O", ">u4", "|S4", "<U1", "<c8", "<M8[s]", "", None, 4, ["<u4"], "<f4")},
    **{f"name {n!r}": put(n, "sections", 0, "name") for n in (None, 3, ["a"], "fine_medoids", "x")},
    **{f"crc32 {n!r}": put(n, "sections", 0, "crc32") for n in (None, "0", 0, 0.0)},
    "extended": put(-1, "extended"),
    "not a number": put(float("nan"), "ranking", "linear", "foot_in"),
    "an infinite number": put(float("inf"), "extended"),
    "half a character": put("\ud800", "collection", "path"),
    "schema": put(True, "schema"),
    "a list": lambda header: "[]",
    "a number": lambda header: "3",
    "deep lists": lambda header: "[" * 100_000 + "]" * 100_000,
    "a large exponent": lambda header: json.dumps(header).replace(": 15,", ": 1e999,"),
    "many values": lambda header: '{"a":[' + "[]," * 2_000_000 + "[]]}",
}  # fmt: skip


@pytest.mark.parametrize("change", HEADERS)
def test_a_header_that_cannot_be_is_refused(table, tmp_path, change):
    path = with_header(table, tmp_path / "a.mlt", HEADERS[change])
    with pytest.raises(TableError):
        TransitionTable.open(path)


def test_an_array_that_no_table_has_is_refused(table, tmp_path):
    file = open_table_file(table.file)
    header = {k: v for k, v in file.header.items() if k not in ("format", "schema", "sections")}
    write_table_file(tmp_path / "a.mlt", header, {**file.arrays, "lookup.more": np.zeros(3)})
    assert refused(table, tmp_path / "a.mlt")


def test_arrays_that_lie_over_one_another_are_refused(table, tmp_path):
    def overlap(header):
        first, second = header["sections"][:2]
        second.update({key: first[key] for key in ("at", "shape", "kind", "crc32", "digest")})

    with pytest.raises(TableError, match="into another"):
        TransitionTable.open(with_header(table, tmp_path / "a.mlt", overlap))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_no_table(tmp_path):
    os.mkfifo(tmp_path / "a.mlt")
    with pytest.raises(TableError, match="no file"):
        TransitionTable.open(tmp_path / "a.mlt")


INDEX = {
    "members": ("by_both.members", lambda a: one(a, 2**32 - 1)),
    "a row that starts no window": ("by_both.members", lambda a: one(a, 45)),
    "list_first": ("by_both.list_first", lambda a: one(a, 2**40, -1)),
    "group_first": ("by_start.group_first", lambda a: one(a, -1)),
    "heads": ("by_both.heads", lambda a: a[:, :3]),
    "starts": ("starts", lambda a: a[:, :20]),
    "ways": ("ways", lambda a: a[:5]),
    "steps": ("books.start_steps", lambda a: one(a, 0.0)),
    "axes": ("books.end_axes", lambda a: one(a, np.nan)),
    "paces": ("paces", lambda a: one(a, np.nan)),
    "about": ("about", lambda a: one(a, 9, 1)),
}


@pytest.mark.parametrize("change", INDEX)
def test_a_window_index_that_cannot_be_is_made_again(table, tmp_path, change):
    name, changed = INDEX[change]
    shutil.copytree(table.collection.path, tmp_path / table.collection.path.name)
    path = tmp_path / table.collection.path.name / "windows.15.index"
    good = path.read_bytes()
    file = open_table_file(path)
    arrays = {**file.arrays, name: changed(np.array(file.arrays[name]))}
    write_table_file(path, {"inputs": file.header["inputs"]}, arrays)
    assert path.read_bytes() != good
    moved = TransitionTable.open(shutil.copy(table.file, tmp_path / table.file.name))
    assert len(moved.neighbours.by_both.members) == len(table.neighbours.by_both.members)
    assert path.read_bytes() == good


@pytest.mark.parametrize("column", ["quats", "body", "points"])
def test_frames_of_a_large_collection_are_checked_before_they_are_used(
    table, tmp_path, monkeypatch, column
):
    shutil.copytree(table.collection.path, tmp_path / table.collection.path.name)
    file = next((tmp_path / table.collection.path.name).glob(f"{column}.*.rows"))
    rows = np.frombuffer(file.read_bytes(), dtype="<f4").copy()
    rows[::7] = np.nan
    file.write_bytes(rows.tobytes())
    monkeypatch.setattr(store, "CHECKED_AT_ONCE", 0)  # as if it were too large to be read at once
    moved = TransitionTable.open(shutil.copy(table.file, tmp_path / table.file.name))
    for use in (
        lambda: moved.transition(("walk", 5), ("run", 30)),
        lambda: moved.stream(("walk", 5)),
        lambda: replay_entries(moved, count=1),
        lambda: build_table(moved.collection, out=tmp_path / "more.mlt", **SMALL),
    ):
        with pytest.raises(TableError, match="damaged"):
            use()


def test_parts_of_a_build_that_cannot_be_are_made_again(table, tmp_path, monkeypatch):
    """A build that was stopped finds parts with valid checksums whose windows are not there."""
    from motionloom.tables import table_file as parts

    monkeypatch.setattr(parts.Parts, "discard", lambda self: None)
    out = tmp_path / table.file.name
    build_table(table.collection, out=out, **SMALL)
    good = out.read_bytes()
    for path in sorted((tmp_path / f"{out.name}.part").iterdir()):
        file = open_table_file(path)
        changed = dict(file.arrays)
        name = "recipes" if "recipes" in changed else "fine_medoids"
        changed[name] = np.full_like(changed[name], 60_000)
        write_table_file(path, {"inputs": file.header["inputs"]}, changed)
    build_table(table.collection, out=out, **SMALL)
    assert out.read_bytes() == good


def test_a_table_is_extended_into_another_file_without_new_clips(table, tmp_path):
    extended = extend_table(table.file, table.collection, out=tmp_path / "more.mlt")
    assert extended.between.tobytes() == table.between.tobytes()
    assert extended.info()["clips_added"] == 0
