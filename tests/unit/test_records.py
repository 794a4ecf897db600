"""Every public type can be pickled and copied, stays read-only, and has a repr of one line."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import multiprocessing
import pickle
import shutil
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import motionloom as ml
from fuzz.box_man import box_man, box_man_glb
from motionloom._records import FrozenMapping
from motionloom.findings import Finding
from motionloom.motion.provenance import Floor, Source

LONGEST = 120
COPIES: dict[str, Callable[[Any], Any]] = {
    "pickle": lambda value: pickle.loads(pickle.dumps(value)),
    "oldest protocol": lambda value: pickle.loads(pickle.dumps(value, protocol=2)),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}


@pytest.fixture(scope="module")
def samples(tmp_path_factory) -> dict[str, Any]:
    """A value of every public type, results of every public function among them."""
    folder = tmp_path_factory.mktemp("records") / "clips"
    folder.mkdir()
    for kind in ("walk", "run"):
        ml.save(ml.synthetic.clip(kind, duration_s=1.5, fps=20).motion, folder / f"{kind}.bvh")
    lib = ml.Collection.ingest(folder, fps=20)
    table = ml.build_table(lib, length_s=0.5, clusters=3, jobs=1, progress=False)
    graph = ml.MotionGraph.build(lib, threshold_cm=40.0)
    walk, jog = (ml.synthetic.clip(kind, duration_s=2.0).motion for kind in ("walk", "jog"))
    curve = ml.register([walk, jog])
    joined = table.transition(("walk", 3), ("run", 20))
    loaded = ml.load(folder / "walk.bvh")
    blended = ml.blend(curve, [0.5, 0.5])
    verdicts = folder.parent / "verdicts.csv"
    verdicts.write_text("transition,natural,rater\nwalk:2>walk:14,1,ann\nwalk:2>run:20,0,ann\n")
    weights = folder.parent / "weights.csv"
    weights.write_text("walk,jog\n1,0\n0,1\n")
    lib.annotate("walk", "walk")
    assert blended.verification is not None  # computed and kept
    robot = ml.Robot.from_xml(
        '<mujoco><worldbody><body name="a"><joint name="b"/></body></worldbody></mujoco>'
    )
    man = folder.parent / "man.glb"
    man.write_bytes(box_man_glb(box_man()))
    return {
        "motion": loaded,
        "character": ml.load_character(man),
        "dataset": ml.check_dataset(folder, limits={"jitter": 0.0}, progress=False),
        "named": walk.replace(name="n" * 500),
        "source": Source(detail={"a": (np.ones(3),)}, floor=Floor(0.0, 0.0, 0.0, 0.0, 0.0)),
        "finding": Finding("note", "header", "x" * 500),
        "body": ml.BodyMap.guess(walk.skeleton),
        "synthetic clip": ml.synthetic.clip("walk", duration_s=0.5),
        "footplants": ml.detect_footplants(walk),
        "markers": ml.sync_markers(ml.detect_footplants(walk)),
        "curve": curve,
        "uncut clips": ml.register([ml.synthetic.clip("walk").motion] * 2, cycles=True).uncut,
        "transition": ml.transition(walk, jog),
        "blend": blended,
        "pose": ml.control(curve).step([0.5, 0.5]),
        "controller": ml.control(curve),
        "cycle": ml.find_cycles(ml.synthetic.clip("walk", duration_s=4.0, fps=20).motion)[0],
        "space": ml.parametrize(curve, {"speed": [1.0, 2.0]}),
        "splice": ml.splice(ml.synthetic.clip("carry", duration_s=2.0).motion, walk),
        "loop": ml.loop(walk),
        "sequence": ml.sequence([walk, jog]),
        "balanced": ml.balance(walk),
        "held hands": ml.hold_hands(walk, {"left_wrist": [(0.1, 0.3)]}),
        "cycles": ml.find_cycles(ml.synthetic.clip("walk", fps=30).motion),
        "cleanup": ml.clean_footskate(walk),
        "retargeted": ml.retarget(walk, ml.synthetic.skeleton(1.5)),
        "verification": ml.verify(walk, sources=[jog]),
        "quality": ml.measure_quality(walk),
        "collection": lib,
        "table": table,
        "table transition": joined,
        "score": ml.score(joined),
        "entry": table.recipes(0, 1),
        "fill": table.fill(lib.motion("walk"), 8, 14),
        "path": table.path(("walk", 3), ("run", 20)),
        "stream": table.stream(("walk", 3)),
        "doing": table.stream(("walk", 3)).doing,
        "live pose": table.stream(("walk", 3)).step(),
        "dead ends": table.dead_ends(),
        "mass fit": ml.fit_masses(lib),
        "graph": graph,
        "walk in the graph": graph.synthesize(graph.path(("walk", 1), ("walk", 9))),
        "formats": ml.supported_formats()[0],
        "engine": ml.engine_of(jobs=1),
        "engine export": ml.EngineExport("godot", body=ml.BodyMap.guess(walk.skeleton)),
        "view": ml.view(walk),
        "label": lib.labels[0],
        "report": lib.report,
        "weights": ml.read_weights(weights, ["walk", "jog"], fps=20),
        "compared with a graph": ml.compare_with_graph(table, pairs=4),
        "compared with people": ml.compare_with_people(table, verdicts),
        "provenance": ml.Provenance.of_copy("walk", 30.0, 0, 4),
        "copy": ml.Copy(0, 3, 0, 0),
        "clip range": ml.split_range("walk.bvh:2s-3s"),
        "robot": robot,
        "robot clip": robot.clip(robot.motion(np.zeros((3, 1)), 30.0)),
        "c3d": ml.MarkerClip(("a", "b"), np.ones((3, 2, 3)), np.ones((3, 2), bool), 100.0),
    }


def is_ours(value: object) -> bool:
    return type(value).__module__.startswith("motionloom")


def parts(value: Any, seen: dict[int, Any]) -> dict[int, Any]:
    """Everything of motionloom's that a result consists of, properties included."""
    if id(value) in seen or len(seen) > 5000:
        return seen
    if is_ours(value):
        seen[id(value)] = value
    if dataclasses.is_dataclass(value):
        for each in dataclasses.fields(value):
            parts(getattr(value, each.name), seen)
        for name, found in inspect.getmembers(type(value)):
            if isinstance(found, property) and not name.startswith("_"):
                parts(getattr(value, name), seen)
    elif isinstance(value, tuple | list):
        for each in value[:3]:
            parts(each, seen)
    elif isinstance(value, Mapping):
        for each in list(value.values())[:3]:
            parts(each, seen)
    return seen


@pytest.fixture(scope="module")
def every_type(samples) -> dict[type, Any]:
    """One value of every type that occurs in a public result."""
    found: dict[int, Any] = {}
    for value in samples.values():
        parts(value, found)
    return {type(value): value for value in found.values()}


def same(a: Any, b: Any) -> bool:
    """Whether two values hold the same, arrays read-only where they were."""
    if isinstance(a, np.ndarray):
        frozen = a.flags.writeable == b.flags.writeable
        return frozen and a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
    if type(a) is not type(b):
        return False
    if dataclasses.is_dataclass(a) and is_ours(a):
        names = [each.name for each in dataclasses.fields(a)]
        return all(same(getattr(a, name), getattr(b, name)) for name in names)
    if isinstance(a, Mapping):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, tuple | list):
        return len(a) == len(b) and all(map(same, a, b))
    return a == b if isinstance(a, float | int | str | bool | Path) else True


def test_no_public_type_is_forgotten(every_type) -> None:
    public = {
        getattr(ml, name)
        for name in ml.__all__
        if inspect.isclass(getattr(ml, name)) and not issubclass(getattr(ml, name), Exception)
    }
    rare = {ml.FailedCheck, ml.Glitch, ml.QualityCheck, ml.SpeedSpike, ml.Studio, ml.WindowIndex}
    rare |= {ml.PaperEngine, ml.QueryEngine, ml.Ranking, ml.ScoreReference}
    protocols = {each for each in public if getattr(each, "_is_protocol", False)}
    assert {each.__name__ for each in public - set(every_type) - rare - protocols} == set()


@pytest.mark.parametrize("way", COPIES)
def test_a_copy_holds_the_same_and_stays_read_only(every_type, way) -> None:
    wrong = [
        kind.__name__
        for kind, value in every_type.items()
        if type(COPIES[way](value)) is not kind or not same(value, COPIES[way](value))
    ]
    assert wrong == []


def test_a_copy_of_what_has_equality_is_equal(samples) -> None:
    for name in ("body", "verification", "quality", "finding", "score"):
        assert COPIES["pickle"](samples[name]) == samples[name]


def test_a_copy_is_frozen(samples) -> None:
    motion = COPIES["pickle"](samples["motion"])
    with pytest.raises(ValueError, match="read-only"):
        motion.local_quats[0, 0, 0] = 2.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        motion.fps = 3.0
    with pytest.raises(TypeError):
        motion.source.detail["a"] = 3
    source = COPIES["deepcopy"](Source(detail={"a": motion.root_positions}))
    assert not source.detail["a"].flags.writeable


def test_what_was_computed_travels_along(samples) -> None:
    assert "verification" in vars(COPIES["pickle"](samples["blend"]))


def test_every_repr_is_one_useful_line(every_type) -> None:
    long = {kind.__name__: len(repr(value)) for kind, value in every_type.items()}
    assert {name: length for name, length in long.items() if length > LONGEST} == {}
    for kind, value in every_type.items():
        assert "\n" not in repr(value), kind
        assert " object at 0x" not in repr(value), kind


def test_a_motion_shows_name_length_rate_and_joints(samples) -> None:
    assert repr(samples["motion"]) == "Motion(walk: 31 frames, 20 fps, 1.5 s, 22 joints)"


def test_a_frozen_mapping_is_a_mapping() -> None:
    mapping = FrozenMapping({"a": 1})
    assert mapping == {"a": 1}
    assert copy.copy(mapping) is mapping
    with pytest.raises(AttributeError, match="read-only"):
        mapping._items = {}  # type: ignore[misc]


def test_a_worker_process_takes_and_gives_results(samples) -> None:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        resampled = pool.submit(ml.resample, samples["motion"], fps=10.0).result(timeout=60)
    assert resampled.n_frames == 16
    assert not resampled.local_quats.flags.writeable


def test_a_table_without_its_file_cannot_be_reopened(samples, tmp_path) -> None:
    table = samples["table"]
    moved = tmp_path / table.file.name
    shutil.copy(table.file, moved)
    pickled = pickle.dumps(ml.TransitionTable.open(moved, collection=table.collection))
    assert pickle.loads(pickled).length == table.length
    moved.unlink()
    with pytest.raises(ml.TableError, match=table.file.name):
        pickle.loads(pickled)


def test_a_changed_collection_is_not_taken_for_the_old_one(tmp_path) -> None:
    folder = tmp_path / "clips"
    folder.mkdir()
    ml.save(ml.synthetic.clip("walk", duration_s=0.5, fps=20).motion, folder / "walk.bvh")
    pickled = pickle.dumps(ml.Collection.ingest(folder, fps=20))
    ml.save(ml.synthetic.clip("run", duration_s=0.5, fps=20).motion, folder / "run.bvh")
    ml.Collection.ingest(folder, fps=20)
    with pytest.raises(ml.TableError, match="changed"):
        pickle.loads(pickled)
