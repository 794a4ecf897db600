"""What ``core.py`` times, in a process of its own that keeps warm.

    python benchmarks/core_jobs.py FOLDER [processor]

Reads the name of a job per line and answers with one line: seconds of each of its calls. Jobs use
only what motionloom had before and after its kernels moved to C, so that one file times both; peers
are jobs like others. ``FOLDER`` is for files that are written. With ``processor`` the seconds are
those of this process alone, spread over its threads, instead of those on the clock.
"""

from __future__ import annotations

import json
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sys
import time
import warnings
from collections.abc import Callable, Iterable
from functools import cache
from inspect import signature
from itertools import cycle
from pathlib import Path

import numpy as np

import motionloom as ml
from motionloom.formats.bvh import bvh
from motionloom.formats.file_clip import FileClip, ReadOptions
from motionloom.motion.corrupt import corrupt
from motionloom.motion.motion import Motion, Skeleton, solve_limb
from motionloom.rotation import quat

HERE = Path(__file__).resolve().parent
PROTOCOLS = HERE.parent / "studies" / "protocols"
N_FRAMES, N_JOINTS = 4000, 31
GRID_FRAMES, GRID_POINTS, HALF_WINDOW = 600, 40, 2
WINDOW, CLUSTERS, PAIRS = 60, 24, 60
SEARCHED = 50
FEW = 200
"""Calls of what takes microseconds are timed so many together."""

Call = Callable[[], object]
JOBS: dict[str, Callable[[], Iterable[Call]]] = {}
PARTS: dict[str, int] = {}
"""Of a job that times several calls together: how many."""
THREADS = {"search": 2}


def job(name: str, *, together: int = 1) -> Callable[[Callable[[], object]], Call]:
    """Registers what gives the call to time, or several."""

    def add(make: Callable[[], object]) -> Call:
        def calls() -> Iterable[Call]:
            made = make()
            return [made] if callable(made) else made  # type: ignore[return-value]

        JOBS[name], PARTS[name] = calls, together
        return make

    return add


# ---- Clips ---------------------------------------------------------------------------------------


def mocap() -> Path | None:
    configured = os.environ.get("MOTIONLOOM_MOCAP")
    folder = Path(configured) if configured else HERE.parent.parent / "shared" / "mocap"
    return folder / "cmu_bvh" if (folder / "INDEX.csv").is_file() else None


def generator(*seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


def loaded(name: str, fps: float | None = None) -> Motion:
    folder = mocap()
    assert folder is not None
    return ml.load(folder / f"{name}.bvh", fps=fps).replace(name=name)


def long_walk(n_frames: int, *, turn: float = 0.0, fps: float = 30.0) -> Motion:
    """An embedded walk of so many frames."""
    whole = ml.synthetic.clip("walk", turn=turn, duration_s=n_frames / fps + 1.0).motion
    return ml.resample(whole, fps=fps)[:n_frames]


@cache
def clip_path() -> Path:
    """CMU 56_08, else a made-up BVH of 4,000 frames and 31 joints."""
    folder = mocap()
    if folder is not None:
        return folder / "56_08.bvh"
    path = Path(sys.argv[1]) / "made_up.bvh"
    rng = generator(0)
    parents = np.array([-1, *(rng.integers(max(0, j - 3), j) for j in range(1, N_JOINTS))])
    names = tuple(f"joint{j}" for j in range(N_JOINTS))
    skeleton = Skeleton(names, parents, rng.normal(size=(N_JOINTS, 3)))
    turns = rng.normal(0.0, 0.02, (N_FRAMES, N_JOINTS, 3)).cumsum(axis=0)
    root = rng.normal(0.0, 0.01, (N_FRAMES, 3)).cumsum(axis=0)
    with path.open("wb") as stream:
        bvh.write(FileClip(Motion(skeleton, root, quat.exp(turns), 120.0)), stream)
    return path


@cache
def file_clip() -> FileClip:
    with clip_path().open("rb") as stream:
        return bvh.read(stream, ReadOptions(path=clip_path()))


# ---- Files ---------------------------------------------------------------------------------------


class Sink:
    """Takes what is written, and keeps nothing."""

    def write(self, data: bytes) -> int:
        return len(data)


@job("read")
def _() -> Call:
    def read() -> object:
        with clip_path().open("rb") as stream:
            return bvh.read(stream, ReadOptions(path=clip_path()))

    return read


@job("load")
def _() -> Call:
    return lambda: ml.load(clip_path())


@job("write")
def _() -> Call:
    clip = file_clip()
    return lambda: bvh.write(clip, Sink())  # type: ignore[arg-type]


@job("pybvh load")
def _() -> Call:
    import pybvh

    return lambda: pybvh.read_bvh_file(clip_path())


@job("pybvh write")
def _() -> Call:
    import pybvh

    clip, path = pybvh.read_bvh_file(clip_path()), Path(sys.argv[1]) / "peer.bvh"
    return lambda: pybvh.write_bvh_file(clip, path)


# ---- Kernels -------------------------------------------------------------------------------------


@job("forward kinematics")
def _() -> Call:
    motion = file_clip().motion
    skeleton, root, quats = motion.skeleton, motion.root_positions, motion.local_quats
    return lambda: ml.forward_kinematics(skeleton, root, quats)


@job("pybvh kinematics")
def _() -> Call:
    import pybvh

    clip = pybvh.read_bvh_file(clip_path())
    return lambda: pybvh.frames_to_node_positions(clip, clip.root_pos, clip.joint_angles)


@job("upc-pymotion kinematics")
def _() -> Call:
    from pymotion.ops.skeleton import fk

    motion = file_clip().motion
    skeleton, root, quats = motion.skeleton, motion.root_positions, motion.local_quats
    ours = ml.forward_kinematics(skeleton, root, quats)[0]
    theirs = np.asarray(fk(quats, root, skeleton.offsets, skeleton.parents)[0])
    assert np.allclose(ours, theirs, atol=1e-6), "the peer means something else"
    return lambda: fk(quats, root, skeleton.offsets, skeleton.parents)


@job("quaternion products")
def _() -> Call:
    q = file_clip().motion.local_quats
    a, b = q[:-1], q[1:]
    return lambda: quat.multiply(a, b)


@job("vectors turned")
def _() -> Call:
    q = file_clip().motion.local_quats
    v = generator(1).normal(size=(*q.shape[:2], 3))
    return lambda: quat.rotate(q, v)


@job("turns of joints")
def _() -> Call:
    q = file_clip().motion.local_quats
    return lambda: quat.turns(q)


@job("limbs solved")
def _() -> Call:
    top, middle, end, target, hinge = generator(2).normal(size=(5, N_FRAMES, 3))
    return lambda: solve_limb(top, middle, end, target, hinge)


@job("one product", together=FEW)
def _() -> Call:
    a, b = quat.exp(generator(3).normal(size=(2, 3)))

    def several() -> None:
        for _ in range(FEW):
            quat.multiply(a, b)

    return several


@job("one kernel", together=FEW)
def _() -> Call:
    from motionloom._core import kernel

    a, b = quat.exp(generator(3).normal(size=(2, 3)))
    out, multiply = np.zeros(4), kernel("ml_quaternion_multiply")

    def several() -> None:
        for _ in range(FEW):
            multiply(1, a, b, out)

    return several


# ---- Registration, blending, splicing --------------------------------------------------------


def wandering_points(*seed: int) -> np.ndarray:
    return np.cumsum(0.01 * generator(*seed).normal(size=(GRID_FRAMES, GRID_POINTS, 3)), axis=0)


@job("grid")
def _() -> Call:
    from motionloom.registration.timewarp import distance_grid

    a, b, weights = wandering_points(1), wandering_points(2), np.ones(GRID_POINTS)
    return lambda: distance_grid(a, b, weights, half_window=HALF_WINDOW)


@job("numpy grid")
def _() -> Call:
    from motionloom.registration.timewarp import distance_grid
    from registration_speed import numpy_grid

    a, b, weights = wandering_points(1), wandering_points(2), np.ones(GRID_POINTS)
    ours, plain = (
        distance_grid(a, b, weights, half_window=HALF_WINDOW).cost,
        numpy_grid(a, b, weights, HALF_WINDOW)[0],
    )
    assert np.allclose(ours, plain, atol=1e-9), "the plain form means something else"
    return lambda: numpy_grid(a, b, weights, HALF_WINDOW)


@job("path")
def _() -> Call:
    from motionloom.registration.timewarp import distance_grid, find_corner_path

    weights = np.ones(GRID_POINTS)
    cost = distance_grid(wandering_points(1), wandering_points(2), weights).cost
    return lambda: find_corner_path(cost)


@job("plants")
def _() -> Call:
    motion = long_walk(GRID_FRAMES) if mocap() is None else loaded("56_08")
    return lambda: ml.detect_footplants(motion)


@job("registration")
def _() -> Call:
    pair = [long_walk(GRID_FRAMES), long_walk(GRID_FRAMES, turn=0.3)]
    return lambda: ml.register(pair)


@cache
def curve() -> object:
    if mocap() is None:
        walks = [long_walk(GRID_FRAMES, turn=turn) for turn in (-0.6, -0.2, 0.2, 0.6)]
    else:
        walks = [loaded(name)[8:] for name in ("69_01", "69_03", "69_04", "69_05")]
    return ml.register(walks)


@job("blend")
def _() -> Call:
    made, weights = curve(), [0.4, 0.3, 0.2, 0.1]
    # Before, a blend was cleaned when it was asked for; the feet are another row.
    options = {"clean": False} if "clean" in signature(ml.blend).parameters else {}
    return lambda: ml.blend(made, weights, **options)


@job("control step", together=FEW)
def _() -> Call:
    live, weights = ml.control(curve()), cycle(generator(4).dirichlet(np.ones(4), 1000))

    def several() -> None:
        for _ in range(FEW):
            live.step(next(weights))

    return several


@job("group")
def _() -> Call:
    from motionloom.blending.evaluate import Group

    group, u = Group(curve()), np.linspace(0.0, 10.0, GRID_FRAMES)
    return lambda: group.at(u)


@job("splice")
def _() -> Call:
    seconds = 140 / 30.0
    upper = ml.synthetic.clip("carry", duration_s=seconds, fps=30.0).motion[:130]
    lower = ml.synthetic.clip("walk", turn=1.2, duration_s=seconds, fps=30.0).motion[:110]
    return lambda: ml.splice(upper, lower)


@job("transition of two clips")
def _() -> Call:
    if mocap() is None:
        walk, run = long_walk(300), ml.synthetic.clip("run").motion
    else:
        walk, run = loaded("16_15"), loaded("16_35")
    return lambda: ml.transition(walk, run)


def cleaned(motion: Motion) -> Call:
    from motionloom.body.body_map import BodyMap

    travel = json.loads((PROTOCOLS / "cleanup_skate.json").read_text())["travel"]
    labels, body = ml.detect_footplants(motion), BodyMap.guess(motion.skeleton)
    skated = corrupt(motion, travel=travel)
    return lambda: ml.clean_footskate(skated, labels, body=body)


@job("clean-up, long")
def _() -> Call:
    return cleaned(long_walk(4000, fps=120.0) if mocap() is None else loaded("56_08"))


@job("clean-up, short")
def _() -> Call:
    return cleaned(long_walk(471, fps=120.0) if mocap() is None else loaded("16_15"))


@job("verify")
def _() -> Call:
    motion = long_walk(471, fps=120.0) if mocap() is None else loaded("16_15")
    return lambda: ml.verify(motion, sources=[motion])


# ---- Tables --------------------------------------------------------------------------------------


@cache
def frames() -> object:
    from motionloom.tables.collection.frames import frames_of

    folder = mocap()
    if folder is None:
        turns = np.linspace(-0.8, 0.8, 9)
        return frames_of(
            [long_walk(400, turn=t, fps=60.0).replace(name=f"walk{k}") for k, t in enumerate(turns)]
        )
    return frames_of([loaded(f.stem, fps=60.0) for f in sorted(folder.glob("143_*.bvh"))])


@cache
def table() -> object:
    from motionloom.tables.collection.labels import Label
    from motionloom.tables.score.natural import NATURAL
    from studies.memory_table import table_in_memory

    found = frames()
    ends = dict(zip(found.ids, np.diff(found.starts) - 1, strict=True))
    names = ("143_01", "143_42") if mocap() else found.ids[:2]
    labels = [Label(name, "run", 0, int(ends[name])) for name in names]
    return table_in_memory(found, length=WINDOW, clusters=CLUSTERS, ranking=NATURAL, labels=labels)


@cache
def pairs() -> list:
    """Pairs of places, clip and frame."""
    if mocap():
        asked = json.loads((PROTOCOLS / "transitions_reach.json").read_text())["pairs"][:PAIRS]
        return [((a, s), (b, t)) for a, s, b, t in asked]
    rows = generator(5).choice(frames().windows(WINDOW), (PAIRS, 2)) + np.array([0, WINDOW - 1])
    return [tuple(frames().place_of(int(row)) for row in pair) for pair in rows]


def transitions(**options: object) -> list[Call]:

    made = table()
    return [
        lambda pair=pair: made.transition(*pair, **options)  # type: ignore[misc]
        for pair in pairs()
    ]


@job("table transition")
def _() -> list[Call]:
    return transitions()


@job("table transition, not re-scored")
def _() -> list[Call]:
    return transitions(rescore=0)


@job("table transition, refined")
def _() -> list[Call]:
    return transitions(search="refine")[:20]


@job("table transition to a label")
def _() -> list[Call]:

    made = table()
    return [lambda pair=pair: made.transition(pair[0], label="run") for pair in pairs()]


@job("inertialized")
def _() -> list[Call]:
    from studies.baselines.inertialize import inertialized_transition

    rows = [tuple(frames().row_of(*place) for place in pair) for pair in pairs()]
    return [lambda pair=pair: inertialized_transition(frames(), *pair, WINDOW) for pair in rows]


@job("stream step", together=FEW)
def _() -> Call:

    made, start = table(), pairs()[0][0]

    def several() -> None:
        live = made.stream(start)
        live.go(label="run")
        for _ in range(FEW):
            live.step()

    return several


@cache
def terms(clusters: int) -> object:
    from motionloom.tables.index.clusters import find_clusters
    from motionloom.tables.score.terms import terms_of

    found = find_clusters(frames(), length=WINDOW, stride=5, clusters=clusters, seed=0)
    return terms_of(frames(), found.medoids, WINDOW)


@job("terms of a window")
def _() -> Call:
    from motionloom.tables.score.terms import term_source, terms_of

    source = term_source(frames())
    rows = frames().windows(WINDOW)
    spare = terms_of(frames(), rows[:1], WINDOW)
    return lambda: spare.put(source, 0, int(rows[5]))


@job("recipes scored")
def _() -> Call:
    from motionloom.tables.score.columns import score_recipes

    ids, given = generator(6).integers(0, CLUSTERS, (4000, 4)), terms(CLUSTERS)
    return lambda: score_recipes(given, ids)


@job("search")
def _() -> Call:
    from motionloom.tables.engines.engine import LocalEngine
    from motionloom.tables.score.natural import NATURAL
    from motionloom.tables.search.search import SearchJob, search_chunk

    between = np.arange(SEARCHED)
    searched = SearchJob(terms(SEARCHED), between, between, between, ranking=NATURAL)
    search_chunk(searched, 0)
    return lambda: list(LocalEngine(2).search(searched))


@job("clusters")
def _() -> Call:
    from motionloom.tables.index.clusters import find_clusters

    given = frames()
    return lambda: find_clusters(given, length=WINDOW, stride=5, clusters=SEARCHED, seed=0)


# ---- The process ---------------------------------------------------------------------------------


def seconds_of(calls: Iterable[Call], name: str) -> list[float]:
    own = len(sys.argv) > 2
    clock = time.process_time if own else time.perf_counter
    shares = PARTS[name] * (THREADS.get(name, 1) if own else 1)
    found = []
    for call in calls:
        start = clock()
        call()
        found.append((clock() - start) / shares)
    return found


def main() -> None:
    warnings.simplefilter("ignore")
    ready: dict[str, Iterable[Call]] = {}
    print(json.dumps(ml.__file__), flush=True)
    for line in sys.stdin:
        name = line.strip()
        if name not in ready:
            ready[name] = JOBS[name]()
            if name != "search":  # it is warm, and takes as long as everything else
                seconds_of(ready[name], name)
        print(json.dumps(seconds_of(ready[name], name)), flush=True)


if __name__ == "__main__":
    main()
