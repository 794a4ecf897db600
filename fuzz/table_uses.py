"""What is done with a crafted file that opens: every public use of it, on random frames."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np

import motionloom as ml
from motionloom.errors import MotionLoomError
from motionloom.registration.curve import RegistrationCurve
from motionloom.tables.collection import store
from motionloom.tables.evaluation.replay import replay_entries
from motionloom.tables.extend import extend_table
from mutate import Random
from table_cases import Base, crafted_collection, crafted_curve, crafted_table

LONGEST_ERROR = 5000
STEPS = 200


def run_case(kind: str, rng: Random, base: Base, folder: Path, *, quick: bool = False) -> bool:
    """Whether the crafted file opens. What is neither a result nor a typed error is raised.

    With ``quick`` few of the uses are tried.
    """
    if kind == "table":
        path = folder / "case.mlt"
        path.write_bytes(crafted_table(rng, base.table))
        return use_table(path, base, rng, quick=quick)
    if kind == "curve":
        path = folder / "case.mlr"
        path.write_bytes(crafted_curve(rng, base.curve))
        return use_curve(path, folder, quick=quick)
    path = folder / "clips.mlc"
    crafted_collection(rng, base.folder / "clips.mlc", path)
    (folder / "clips.mlt").write_bytes(base.table.read_bytes())
    # As in a collection that is too large to be read as a whole when it is opened.
    limit = store.CHECKED_AT_ONCE
    store.CHECKED_AT_ONCE = 0 if rng.random() < 0.25 else limit
    try:
        return use_collection(path, base, rng, quick=quick)
    finally:
        store.CHECKED_AT_ONCE = limit


def use_table(path: Path, base: Base, rng: Random, *, quick: bool = False) -> bool:
    if rng.random() < 0.3:  # a table opens the collection that its header names
        where = base.folder / path.name
        where.write_bytes(path.read_bytes())
        table = attempted(lambda: ml.TransitionTable.open(where))
        where.unlink()
    else:
        table = attempted(lambda: ml.TransitionTable.open(path, collection=base.collection))
    extended = path.with_name("extended.mlt")
    if table is None:
        attempted(lambda: extend_table(path, base.grown, out=extended))
        return False
    if quick:
        ask_little(table, rng)
        return True
    ask_table(table, base, rng)
    attempted(lambda: extend_table(path, base.grown, out=extended))
    if extended.is_file():
        grown = attempted(lambda: ml.TransitionTable.open(extended, collection=base.grown))
        if grown is not None:
            attempted(lambda: check(grown.transition(("jog", 5), place(grown, rng)).motion))
    return True


def ask_table(table: ml.TransitionTable, base: Base, rng: Random) -> None:
    attempted(lambda: json.dumps(table.info(), allow_nan=False))
    attempted(table.find_damage)
    attempted(lambda: replay_entries(table, count=2))
    for _ in range(2):
        source, target = place(table, rng), place(table, rng)
        attempted(lambda s=source, t=target: list(table.entry(s, t).recipes))
        attempted(lambda s=source, t=target: check(table.transition(s, t, lead_s=0.1).motion))
        attempted(lambda s=source, t=target: check(table.transition(s, t, rescore=0).motion))
    source, target = place(table, rng), place(table, rng)
    attempted(lambda: check(table.transition(source, label="fast").motion))
    attempted(lambda: check(table.transition(source, target, variation=2, search=True).motion))
    made = attempted(lambda: table.transition(source, target))
    if made is not None:
        attempted(
            lambda: (made.notes, made.score, made.cost, made.verification, list(made.candidates))
        )
    attempted(lambda: play(table, rng))
    walk = base.collection.motion("walk")
    attempted(lambda: check(table.fill(walk, 10, 10 + table.length - 3, count=4).motion))
    attempted(lambda: check(table.path(source, target, graph=base.graph).motion))


def ask_little(table: ml.TransitionTable, rng: Random) -> None:
    attempted(lambda: json.dumps(table.info(), allow_nan=False))
    source, target = place(table, rng), place(table, rng)
    attempted(lambda: check(table.transition(source, target, rescore=0).motion))
    attempted(lambda: check(table.transition(source, target).motion))
    attempted(lambda: check(table.transition(source, label="fast").motion))


def play(table: ml.TransitionTable, rng: Random) -> None:
    live = table.stream(place(table, rng))
    for step in range(STEPS):
        if step == STEPS // 5:
            live.go(label="slow")
        if step in (STEPS // 4, STEPS // 2):
            live.go(frame=place(table, rng))
        pose = live.step()
        if not (np.isfinite(pose.root_position).all() and np.isfinite(pose.local_quats).all()):
            raise AssertionError(f"step {step} of a stream is not finite")


def place(table: ml.TransitionTable, rng: Random) -> tuple[str, int]:
    frames = table.frames
    clip = int(rng.integers(frames.n_clips))
    return frames.ids[clip], int(rng.integers(int(frames.starts[clip + 1] - frames.starts[clip])))


def use_collection(path: Path, base: Base, rng: Random, *, quick: bool = False) -> bool:
    collection = attempted(lambda: ml.Collection.open(path))
    table = attempted(lambda: ml.TransitionTable.open(path.with_suffix(".mlt")))
    thorough = not quick and rng.random() < 0.3  # each of these takes half a second
    if table is not None:
        if thorough:
            ask_table(table, base, rng)
        else:
            ask_little(table, rng)
    if collection is None:
        return False
    attempted(lambda: (str(collection.report), repr(collection), collection.labels))
    attempted(collection.find_damage)
    attempted(lambda: collection.label_rows("fast"))
    for clip in collection.ids[:6]:
        attempted(lambda c=clip: check(collection.motion(c)))
    attempted(lambda: check(collection.motion(collection.ids[0], frames=(0, 5))))
    if quick:
        return True
    small = {"length_s": 0.4, "clusters": 3, "lookup": 4, "ways": (2, 3), "jobs": 1}
    out = path.with_name("built.mlt")
    if rng.random() < 0.3:
        built = attempted(lambda: ml.build_table(collection, out=out, progress=False, **small))
        if built is not None:
            attempted(lambda: check(built.transition(place(built, rng), place(built, rng)).motion))
            attempted(lambda: play(built, rng))
    attempted(lambda: extend_table(base.table, collection, out=path.with_name("extended.mlt")))
    return True


def use_curve(path: Path, folder: Path, *, quick: bool = False) -> bool:
    curve = attempted(lambda: RegistrationCurve.load(path))
    if curve is None:
        return False
    n = len(curve.motions)
    even = np.full(n, 1.0 / n)
    u = np.linspace(*curve.u_range, 50)
    attempted(lambda: finite(curve.frames(u), curve.rates(u), *vars_of(curve.alignments(u))))
    attempted(lambda: [curve.u_of(k, 5.0) for k in range(n)])
    attempted(lambda: check(ml.blend(curve, even).motion))
    attempted(lambda: check(ml.blend(curve, even, duration_s=3.0).motion))
    attempted(lambda: steer(curve, even))
    if quick:
        return True
    a, b = curve.motions[0], curve.motions[-1]
    if np.allclose(a.skeleton.offsets, b.skeleton.offsets):  # bodies that differ have own tests
        attempted(lambda: check(ml.transition(a, b).motion))
    attempted(lambda: curve.save(folder / "again.mlr"))
    attempted(lambda: (repr(curve), RegistrationCurve.load(folder / "again.mlr")))
    return True


def steer(curve: RegistrationCurve, weights: np.ndarray) -> None:
    for options in ({"loop": True}, {"loop": False}, {"loop": True, "backwards": True}):
        live = ml.control(curve, **options)
        for step in range(80):
            pose = live.step(weights)
            if not (np.isfinite(pose.root_position).all() and np.isfinite(pose.local_quats).all()):
                raise AssertionError(f"step {step} of a controller is not finite ({options})")


def attempted(use: Callable[[], object]):  # type: ignore[no-untyped-def]
    """What a use returns, None where it ends in a typed error with a text of some length."""
    try:
        return use()
    except MotionLoomError as error:
        if not 0 < len(str(error)) <= LONGEST_ERROR:
            raise AssertionError(
                f"an error text of {len(str(error))} characters: {str(error)[:300]}"
            ) from error
        return None


def vars_of(transform: object) -> tuple[np.ndarray, ...]:
    return tuple(getattr(transform, name) for name in ("theta", "x0", "z0"))


def finite(*arrays: np.ndarray) -> None:
    if not all(np.isfinite(array).all() for array in arrays):
        raise AssertionError("numbers of the curve are not finite")


def check(motion: ml.Motion) -> None:
    if not np.isfinite(motion.world_positions()).all():
        raise AssertionError("world positions are not finite")
