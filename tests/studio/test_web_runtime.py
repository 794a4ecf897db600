"""The core as WebAssembly, in Node: the same bits as the library of this machine."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import motionloom as ml
from motionloom._core import Record, blank, kernel
from motionloom.errors import TableError
from motionloom.tables.runtime_file import save_runtime
from motionloom.tables.stream import Doing
from tests.runtimes.opened import small_table as table_with_a_short_label

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
STATIC = ROOT / "src" / "motionloom" / "studio" / "static"
STEPS = 500
ORDERS = {"label": "go_to_label", "hold": "hold_label", "act": "act_label"}
"""Goals about labels, and the functions that follow them."""
DOING = tuple(each.value for each in Doing)


class Native:
    """A file of the run time, opened by the library of this machine."""

    def __init__(self, file: Path) -> None:
        self.file = np.fromfile(file, dtype=np.uint64).view(np.uint8)
        self.memory = aligned(kernel("ml_table_memory")(len(self.file), self.file))
        self.table: Record = blank("ml_table", lies_in=(self.file, self.memory))
        kernel("ml_table_open")(
            len(self.file), self.file, len(self.memory), self.memory, self.table
        )
        self.n_joints = kernel("ml_table_n_joints")(self.table)
        self.length = kernel("ml_table_length")(self.table)

    def row(self, place: dict[str, Any]) -> int:
        name = np.frombuffer(place["clip"].encode(), dtype=np.uint8)
        clip = kernel("ml_table_find_clip")(self.table, len(name), name)
        return int(kernel("ml_table_row")(self.table, clip, place["frame"]))

    def label(self, name: str) -> int:
        text = np.frombuffer(name.encode(), dtype=np.uint8)
        return int(kernel("ml_table_find_label")(self.table, len(text), text))

    def place(self, row: int) -> dict[str, Any]:
        clip = kernel("ml_table_row_clip")(self.table, row)
        name = kernel("ml_table_clip_name")(self.table, clip).decode()
        return {"clip": name, "frame": kernel("ml_table_row_frame")(self.table, row)}

    def transition(self, source: dict[str, Any], goal: dict[str, Any]) -> bytes:
        from motionloom.tables.choice import new_frames

        out = new_frames(self.length, self.n_joints)
        if "label" in goal:
            target = self.label(goal["label"])
            kernel("ml_table_transition_to_label")(self.table, self.row(source), target, out)
        else:
            kernel("ml_table_transition")(self.table, self.row(source), self.row(goal), out)
        return out.root.tobytes() + out.quats.tobytes() + out.planted.tobytes()

    def stream(self, start: dict[str, Any]) -> NativeStream:
        return NativeStream(self, start)


class NativeStream:
    """A live character of it."""

    def __init__(self, native: Native, start: dict[str, Any]) -> None:
        self.native = native
        self.memory = aligned(kernel("ml_stream_memory")(native.table))
        self.stream = blank("ml_stream", lies_in=self.memory)
        kernel("ml_stream_open")(
            native.table, native.row(start), len(self.memory), self.memory, self.stream
        )
        self.root, self.quats = np.zeros(3), np.zeros((native.n_joints, 4))
        self.planted = np.zeros(4, dtype=np.uint8)

    def go(self, goal: dict[str, Any]) -> None:
        word = next((each for each in ORDERS if each in goal), "")
        target = self.native.label(goal[word]) if word else self.native.row(goal)
        kernel(f"ml_stream_{ORDERS.get(word, 'go_to_row')}")(self.stream, target)

    def step(self) -> bytes:
        kernel("ml_stream_step")(self.stream, self.root, self.quats, self.planted)
        return self.root.tobytes() + self.quats.tobytes() + self.planted.tobytes()

    def world(self) -> bytes:
        positions, rotations = np.zeros((self.native.n_joints, 3)), np.zeros_like(self.quats)
        kernel("ml_table_world")(self.native.table, self.root, self.quats, positions, rotations)
        return positions.tobytes() + rotations.tobytes()

    def shown(self) -> list[Any]:
        rows, weights = np.zeros(16, dtype=np.int64), np.zeros(16)
        n = kernel("ml_stream_made_of")(self.stream, rows, weights, np.zeros(1, dtype=np.uint8))
        return [
            self.native.place(kernel("ml_stream_now")(self.stream)),
            DOING[kernel("ml_stream_doing")(self.stream)],
            bool(kernel("ml_stream_in_transition")(self.stream)),
            bool(kernel("ml_stream_is_flawed")(self.stream)),
            kernel("ml_stream_frames_left")(self.stream),
            [{**self.native.place(int(rows[k])), "weight": weights[k]} for k in range(n)],
        ]


def aligned(size: int) -> np.ndarray:
    """Memory that begins at a multiple of 16 bytes."""
    block = np.zeros(size + 16, dtype=np.uint8)
    at = -block.ctypes.data % 16
    return block[at : at + size]


def orders_of(table: ml.TransitionTable, *, n: int = 20) -> dict[str, Any]:
    """Transitions to frames and labels, and a character that is sent about, at random."""
    rng = np.random.Generator(np.random.PCG64(3))
    frames = table.frames
    labels = sorted({each.label for each in table.collection.labels})
    long = [c for c in range(frames.n_clips) if np.diff(frames.starts)[c] >= table.length]

    def place() -> dict[str, Any]:
        clip = int(rng.choice(long))
        size = int(frames.starts[clip + 1] - frames.starts[clip])
        return {"clip": frames.ids[clip], "frame": int(rng.integers(size))}

    def goal() -> dict[str, Any]:
        return {"label": str(rng.choice(labels))} if rng.random() < 0.5 else place()

    def order() -> dict[str, Any]:
        word = str(rng.choice(list(ORDERS)))
        return {word: str(rng.choice(labels))} if rng.random() < 0.6 else place()

    return {
        "transitions": [[place(), goal()] for _ in range(n)],
        "start": {"clip": frames.ids[long[0]], "frame": 0},
        "steps": STEPS,
        # Some in the middle of a transition, some at rest, some where a clip ends.
        "goals": {str(k): order() for k in np.cumsum(rng.integers(3, 60, 40)) if k < STEPS},
    }


def play_in_node(
    node: Path, file: Path, wasm: Path, orders: dict[str, Any], home: Path
) -> tuple[bytes, dict[str, Any]]:
    """Poses as bytes, and what the table reports of itself."""
    facts, out = home / "orders.json", home / "poses"
    facts.write_text(json.dumps(orders))
    command = [node, HERE / "play_in_node.mjs", STATIC / "motionloom.mjs", wasm, file, facts, out]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return out.read_bytes(), json.loads(done.stdout)


@pytest.fixture(scope="module")
def played(
    node: Path,
    page_built: None,
    web_core: Path,
    small_table: ml.TransitionTable,
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[Native, dict[str, Any], bytes, dict[str, Any]]:
    home = tmp_path_factory.mktemp("node")
    save_runtime(small_table, home / "lib.mlr")
    orders = orders_of(small_table)
    poses, facts = play_in_node(node, home / "lib.mlr", web_core, orders, home)
    return Native(home / "lib.mlr"), orders, poses, facts


def test_transitions_and_live_characters_have_the_same_bits_as_in_the_library(played) -> None:
    native, orders, poses, facts = played
    expected = [native.transition(*pair) for pair in orders["transitions"]]
    live, shown = native.stream(orders["start"]), []
    for k in range(STEPS):
        if str(k) in orders["goals"]:
            live.go(orders["goals"][str(k)])
        expected.append(live.step())
        shown.append(live.shown())
    expected.append(live.world())
    assert len(poses) == sum(map(len, expected))
    assert poses == b"".join(expected)
    assert facts["shown"] == shown
    assert {moves for _, _, moves, *_ in shown} == {True, False}  # transitions, and clips


def test_the_wrapper_reports_what_is_in_the_table(played, small_table: ml.TransitionTable) -> None:
    facts, frames = played[-1], small_table.frames
    sizes = np.diff(frames.starts).tolist()
    assert facts["clips"] == [
        {"name": name, "frames": size} for name, size in zip(frames.ids, sizes, strict=True)
    ]
    assert facts["labels"] == ["fast", "slow"]
    assert (facts["fps"], facts["length"]) == (frames.fps, small_table.length)
    assert [each["name"] for each in facts["joints"]] == list(frames.skeleton.names)
    assert [each["parent"] for each in facts["joints"]] == frames.skeleton.parents.tolist()
    assert [each["offset"] for each in facts["joints"]] == frames.skeleton.offsets.tolist()


def test_errors_state_what_is_wrong_in_plain_words(played) -> None:
    faults = played[-1]["faults"]
    assert faults == {
        "clip": 'The table has no clip "nobody".',
        "frame": faults["frame"],
        "half a frame": faults["half a frame"],
        "label": 'The table has no label "fly". Its labels are fast, slow.',
        "ground": "A heading and a place on the ground must be numbers.",
        "held label": 'The table has no label "fly". Its labels are fast, slow.',
        "short label": 'The table has no label "fly". Its labels are fast, slow.',
        "budget": "A budget must be a number of pieces, 0 or more.",
        "patience": faults["patience"],
        "damaged": "The file is damaged, or it is none of `motionloom table export`.",
        "empty": "The file is damaged, or it is none of `motionloom table export`.",
        "no core": faults["no core"],
        "closed stream": "The stream is closed.",
        "closed table": "The table is closed.",
    }
    assert "has the frames 0 to" in faults["frame"]
    assert "0.5 is none of them" in faults["half a frame"]
    assert faults["no core"].startswith("The core could not be started")


def test_a_label_that_is_too_short_to_be_held_is_refused_in_the_words_of_python(
    node: Path, page_built: None, web_core: Path, tmp_path: Path
) -> None:
    table = table_with_a_short_label()
    save_runtime(table, tmp_path / "lib.mlr")
    orders = {"transitions": [], "start": {"clip": "walk", "frame": 0}, "steps": 3, "goals": {}}
    _, facts = play_in_node(node, tmp_path / "lib.mlr", web_core, orders, tmp_path)
    with pytest.raises(TableError) as found:
        table.stream(("walk", 0)).hold("twitch")
    assert facts["faults"]["short label"] == str(found.value).replace("'", '"')


def test_a_character_is_placed_and_closed_streams_cost_nothing(played) -> None:
    facts = played[-1]
    assert np.hypot(facts["placed"][0] - 3.0, facts["placed"][2] + 2.0) < 0.5
    assert facts["grown"] < 1e6  # bytes, where 200 that are open would take 50 MB


def test_frames_that_are_left_count_down_to_the_arrival(
    small_table: ml.TransitionTable, tmp_path: Path
) -> None:
    save_runtime(small_table, tmp_path / "lib.mlr")
    native = Native(tmp_path / "lib.mlr")
    live = native.stream({"clip": "walk", "frame": 0})
    left = kernel("ml_stream_frames_left")
    live.step()
    assert left(live.stream) == 0  # in a clip
    live.go({"label": "fast"})
    assert left(live.stream) == 0  # not yet
    found: list[int] = []
    while not found or found[-1]:
        live.step()
        found += [left(live.stream)] if found or left(live.stream) else []
    assert found == list(range(native.length - 2, -1, -1))
    assert not kernel("ml_stream_in_transition")(live.stream)
