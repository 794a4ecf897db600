"""Every argument of every public function and method, with values of every wrong kind."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import Any, get_args

import numpy as np
import pytest

import motionloom as ml
from fuzz.box_man import box_man, box_man_glb

WRONG: tuple[Any, ...] = (
    np.array([np.nan, 1.0]),
    np.zeros((2, 2)),
    np.array("x"),
    float("nan"),
    10**400,
    -1,
    2.5,
    1e30,
    "x",
    "\ud800\0",
    b"x",
    [],
    [None, 1],
    {"a": object()},
    {1},
    object(),
    print,
    True,
    None,
)
"""Each is wrong for most arguments; where one is right, the call gives a result."""
CALLED_TYPES = {"BodyMap", "EngineExport", "Footplants", "Motion", "PlanarTransform", "Skeleton"}
"""Types that users make. All others come from functions and readers; users only read them."""
CALLED_METHODS = {
    *CALLED_TYPES, "Collection", "MassFit", "MotionGraph", "ParameterSpace", "RegistrationCurve",
    "Score", "TableTransition", "TransitionTable",
}  # fmt: skip
"""Types with methods that take arguments of users."""
NOT_CALLED = {
    "Collection.open_before", "RegistrationCurve.shifted",  # for other parts of the package
    "write_demo",  # a tour of many seconds; its folder is checked as every other path
}  # fmt: skip
Calls = dict[str, tuple[Callable[..., Any], dict[str, Any]]]


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory) -> Calls:
    """Every public function and method, with what it cannot be called without."""
    folder = tmp_path_factory.mktemp("clips")
    for kind in ("walk", "stand"):
        ml.save(ml.synthetic.clip(kind, duration_s=1.5, fps=20).motion, folder / f"{kind}.bvh")
    walk, jog, wave, stand = (
        ml.synthetic.clip(kind, duration_s=1.0, fps=30).motion
        for kind in ("walk", "jog", "wave", "stand")
    )
    steps = ml.synthetic.clip("walk", duration_s=4.0, fps=30).motion
    rig, body = walk.skeleton, ml.BodyMap.guess(walk.skeleton)
    plants = ml.detect_footplants(walk)
    curve = ml.register([walk, jog])
    space = ml.parametrize(curve, {"speed": [1.0, 2.0]})
    collection = ml.Collection.ingest(folder, fps=20)
    table = ml.build_table(collection, length_s=0.5, clusters=3, jobs=1, progress=False)
    graph = ml.MotionGraph.build(collection, threshold_cm=30.0)
    made = table.transition(("walk", 2), ("stand", 12))
    (folder / "body.toml").write_text(body.to_toml(rig))
    alone = tmp_path_factory.mktemp("alone")
    ml.save(ml.synthetic.clip("stand", duration_s=0.5, fps=20).motion, alone / "stand.bvh")
    curve.save(folder / "curve.mlr")
    ml.save(ml.transition(walk, jog), folder / "joined.npz")
    poses = {"root_positions": walk.root_positions, "local_quats": walk.local_quats}
    spot = ml.PlanarTransform(0.1, 1.0, 2.0)
    (folder / "weights.csv").write_text("time,walk,jog\n0,1,0\n1,0,1\n")
    (folder / "holds.csv").write_text("walk,rail,0.1,0.3\njog,rail,0.1,0.3\n")
    (folder / "verdicts.csv").write_text("")
    (folder / "man.glb").write_bytes(box_man_glb(box_man()))
    (folder / "robot.xml").write_text(
        '<mujoco><worldbody><body name="a"><joint name="b"/></body></worldbody></mujoco>'
    )
    places = {"source": ("walk", 2), "target": ("stand", 12)}
    return {
        "BodyMap": (ml.BodyMap, {}),
        "EngineExport": (ml.EngineExport, {"name": "unreal"}),
        "BodyMap.checked_for": (body.checked_for, {"skeleton": rig}),
        "BodyMap.from_names": (ml.BodyMap.from_names, {"skeleton": rig, "names": {}}),
        "BodyMap.guess": (ml.BodyMap.guess, {"skeleton": rig}),
        "BodyMap.load": (ml.BodyMap.load, {"path": folder / "body.toml", "skeleton": rig}),
        "BodyMap.missing": (body.missing, {}),
        "BodyMap.require": (body.require, {"task": "walking"}),
        "BodyMap.to_toml": (body.to_toml, {"skeleton": rig}),
        "Collection.add_labels": (collection.add_labels, {"labels": []}),
        "Collection.annotate": (collection.annotate, {"clip": "walk", "label": "going"}),
        "Collection.find_damage": (collection.find_damage, {}),
        "Collection.ingest": (ml.Collection.ingest, {"folder": folder}),
        "Collection.label_rows": (collection.label_rows, {"label": "going"}),
        "Collection.motion": (collection.motion, {"clip": "walk"}),
        "Collection.open": (ml.Collection.open, {"path": collection.path}),
        "Footplants": (ml.Footplants, {"planted": plants.planted}),
        "Footplants.from_intervals": (
            ml.Footplants.from_intervals,
            {"intervals": plants.intervals(), "n_frames": walk.n_frames},
        ),
        "Footplants.intervals": (plants.intervals, {}),
        "Motion": (ml.Motion, {"skeleton": rig, **poses, "fps": 30.0}),
        "Motion.end_positions": (walk.end_positions, {}),
        "Motion.replace": (_replace(walk), {}),
        "Motion.world_pose": (walk.world_pose, {}),
        "Motion.world_positions": (walk.world_positions, {}),
        "Motion.world_quats": (walk.world_quats, {}),
        "MotionGraph.build": (ml.MotionGraph.build, {"collection": collection}),
        "MotionGraph.path": (graph.path, places),
        "MotionGraph.paths": (graph.paths, {"sources": [0], "targets": [1]}),
        "MotionGraph.reach": (graph.reach, {"source": 0}),
        "MotionGraph.synthesize": (graph.synthesize, {"path": graph.path(2, 9)}),
        "PlanarTransform": (ml.PlanarTransform, {"theta": 0.1, "x0": 1.0, "z0": 2.0}),
        "PlanarTransform.apply": (spot.apply, {"points": np.zeros((2, 3))}),
        "PlanarTransform.identity": (ml.PlanarTransform.identity, {}),
        "PlanarTransform.inverse": (spot.inverse, {}),
        "PlanarTransform.quat": (spot.quat, {}),
        "ParameterSpace.contains": (_contains(space), {"speed": 1.5}),
        "ParameterSpace.range": (space.range, {"name": "speed"}),
        "ParameterSpace.weights": (_weights(space), {"speed": 9.0}),  # beyond what clips can do
        "RegistrationCurve.alignments": (curve.alignments, {"u": 1.0}),
        "RegistrationCurve.frames": (curve.frames, {"u": 1.0}),
        "RegistrationCurve.load": (ml.RegistrationCurve.load, {"path": folder / "curve.mlr"}),
        "RegistrationCurve.rates": (curve.rates, {"u": 1.0}),
        "RegistrationCurve.save": (curve.save, {"path": folder / "curve.mlr"}),
        "RegistrationCurve.u_of": (curve.u_of, {"k": 0, "frame": 3.0}),
        "Score.of_columns": (ml.Score.of_columns, {"columns": np.zeros((3, 9))}),
        "Skeleton": (ml.Skeleton, _fields(rig)),
        "Skeleton.carried_by": (rig.carried_by, {"joints": [1]}),
        "Skeleton.chain": (rig.chain, {"joint": 1}),
        "Skeleton.children": (rig.children, {"joint": 1}),
        "Skeleton.index": (rig.index, {"name": rig.names[0]}),
        "Skeleton.same_joints": (rig.same_joints, {"other": rig}),
        "TableTransition.sources": (made.sources, {}),
        "TransitionTable.entry": (table.entry, places),
        "TransitionTable.dead_ends": (table.dead_ends, {}),
        "TransitionTable.fill": (
            table.fill,
            {"motion": collection.motion("walk"), "first": 5, "last": 18},
        ),
        "TransitionTable.find_damage": (table.find_damage, {}),
        "TransitionTable.info": (table.info, {}),
        "TransitionTable.open": (ml.TransitionTable.open, {"path": table.file}),
        "TransitionTable.path": (table.path, places),
        "TransitionTable.recipes": (table.recipes, {"source": 0, "target": 1}),
        "TransitionTable.stream": (table.stream, {"source": ("walk", 2)}),
        "TransitionTable.transition": (table.transition, places),
        "add_clips": (ml.add_clips, {"table": table.file, "folder": folder, "progress": False}),
        "balance": (ml.balance, {"motion": walk}),
        "blend": (ml.blend, {"curve": curve, "weights": [0.5, 0.5]}),
        "build_table": (ml.build_table, {"collection": collection}),
        "clean_footskate": (ml.clean_footskate, {"motion": walk}),
        "compare_with_graph": (ml.compare_with_graph, {"table": table, "pairs": 2}),
        "compare_with_people": (
            ml.compare_with_people,
            {"table": table, "verdicts": folder / "verdicts.csv"},
        ),
        "concatenate": (ml.concatenate, {"motions": [walk, walk]}),
        "control": (ml.control, {"curve": curve}),
        "control.step": (ml.control(curve).step, {"weights": [0.5, 0.5]}),
        "detect_footplants": (ml.detect_footplants, {"motion": walk}),
        "engine_of": (ml.engine_of, {}),
        "extend_table": (ml.extend_table, {"table": table.file, "collection": collection}),
        "fit_masses": (ml.fit_masses, {"collection": collection}),
        "hold_hands": (
            ml.hold_hands,
            {"motion": walk, "intervals": {"left_wrist": [(0.1, 0.3)]}},
        ),
        "find_cycles": (ml.find_cycles, {"motion": steps}),
        "check_dataset": (
            ml.check_dataset,
            {"paths": folder / "stand.bvh", "progress": False, "overwrite": True},
        ),
        "clean_dataset": (
            ml.clean_dataset,
            {"folder": alone, "output": "cleaned", "progress": False, "overwrite": True},
        ),
        "check_build_options": (ml.check_build_options, {}),
        "clips_in_file": (ml.clips_in_file, {"path": folder / "walk.bvh"}),
        "find_clips": (ml.find_clips, {"folder": folder}),
        "plan_outputs": (ml.plan_outputs, {"folder": folder, "output": "planned"}),
        "forward_kinematics": (ml.forward_kinematics, {"skeleton": rig, **poses}),
        "ground": (ml.ground, {"motion": walk}),
        "in_place": (ml.in_place, {"motion": walk}),
        "inspect_file": (ml.inspect_file, {"path": folder / "walk.bvh"}),
        "lead_in": (ml.lead_in, {"motion": walk, "pose": stand[:1]}),
        "lead_out": (ml.lead_out, {"motion": walk, "pose": stand[:1]}),
        "load": (ml.load, {"path": folder / "walk.bvh"}),
        "load_character": (ml.load_character, {"path": folder / "man.glb"}),
        "load_points": (ml.load_points, {"path": folder / "walk.c3d"}),
        "load_provenance": (ml.load_provenance, {"path": folder / "joined.npz"}),
        "load_robot": (ml.load_robot, {"path": folder / "robot.xml"}),
        "loop": (ml.loop, {"motion": walk}),
        "match_clips": (ml.match_clips, {"motions": [walk, jog]}),
        "measure": (ml.measure, {"motion": walk, "name": "speed"}),
        "measure_quality": (ml.measure_quality, {"motion": walk}),
        "mirror": (ml.mirror, {"motion": walk}),
        "move": (ml.move, {"motion": walk}),
        "named_unit": (ml.named_unit, {"unit_m": 0.01}),
        "parametrize": (ml.parametrize, {"curve": curve, "values": {"speed": [1.0, 2.0]}}),
        "read_constraints": (
            ml.read_constraints,
            {"path": folder / "holds.csv", "clips": ["walk", "jog"]},
        ),
        "MassFit.save": (ml.fit_masses(collection).save, {"path": folder / "masses.csv"}),
        "read_masses": (ml.read_masses, {"path": folder / "masses.csv"}),
        "read_weights": (
            ml.read_weights,
            {"path": folder / "weights.csv", "clips": ["walk", "jog"], "fps": 30.0},
        ),
        "register": (ml.register, {"motions": [walk, jog]}),
        "render": (ml.render, {"motion": walk, "path": folder / "walk.png"}),
        "resample": (ml.resample, {"motion": walk, "fps": 20.0}),
        "retarget": (ml.retarget, {"motion": walk, "skeleton": rig}),
        "save": (ml.save, {"motion": walk, "path": folder / "saved.bvh"}),
        "save_play_page": (ml.save_play_page, {"table": table, "path": folder / "play.html"}),
        "save_runtime": (ml.save_runtime, {"table": table, "path": folder / "lib.mlr"}),
        "save_web_files": (ml.save_web_files, {"folder": folder / "web"}),
        "score": (ml.score, {"result": walk}),
        "smpl_skeleton": (ml.smpl_skeleton, {}),
        "sequence": (ml.sequence, {"clips": [walk, jog]}),
        "splice": (ml.splice, {"upper": wave, "lower": walk}),
        "split_range": (ml.split_range, {"text": "walk.bvh:2s-3s"}),
        "stature": (ml.stature, {"skeleton": rig}),
        "stream.go": (table.stream(("walk", 2)).go, {}),
        "supported_formats": (ml.supported_formats, {}),
        "sync_markers": (ml.sync_markers, {"footplants": plants}),
        "synthetic.clip": (ml.synthetic.clip, {"kind": "walk"}),
        "transition": (ml.transition, {"a": walk, "b": jog}),
        "travel_on_pelvis": (ml.travel_on_pelvis, {"motion": walk, "like": walk}),
        "travel_on_root": (ml.travel_on_root, {"motion": walk}),
        "verify": (ml.verify, {"motion": walk}),
        "verify_table": (ml.verify_table, {"file": table.file, "entries": 1, "transitions": 1}),
        "view": (ml.view, {"motion": walk}),
        "with_root_bone": (ml.with_root_bone, {"motion": walk}),
        "without_root_bone": (ml.without_root_bone, {"motion": walk}),
    }


def _replace(motion: ml.Motion) -> Callable[..., Any]:
    def replace(
        *,
        skeleton: Any = motion.skeleton,
        root_positions: Any = motion.root_positions,
        local_quats: Any = motion.local_quats,
        fps: Any = 30.0,
        joint_translations: Any = None,
        name: Any = "",
        source: Any = motion.source,
    ) -> ml.Motion:
        return motion.replace(
            skeleton=skeleton,
            root_positions=root_positions,
            local_quats=local_quats,
            fps=fps,
            joint_translations=joint_translations,
            name=name,
            source=source,
        )

    return replace


def _contains(space: ml.ParameterSpace) -> Callable[..., Any]:
    return lambda *, speed: space.contains(speed=speed)


def _weights(space: ml.ParameterSpace) -> Callable[..., Any]:
    return lambda *, speed, clamp=False: space.weights(speed=speed, clamp=clamp)


def _fields(rig: ml.Skeleton) -> dict[str, Any]:
    names = ("names", "parents", "offsets", "rest_quats", "end_parents", "end_offsets")
    return {name: getattr(rig, name) for name in names}


def _public() -> set[str]:
    """Names of all public functions, types and their methods."""
    found = {"synthetic.clip"}
    for name in ml.__all__:
        value = getattr(ml, name)
        if inspect.isclass(value) and issubclass(value, Exception):
            continue
        if name in CALLED_METHODS:
            methods = inspect.getmembers(value, callable)
            found |= {f"{name}.{method}" for method, _ in methods if not method.startswith("_")}
        if name in CALLED_TYPES or (callable(value) and not inspect.isclass(value)):
            found.add(name)
    return found


def test_no_public_function_is_forgotten(calls: Calls) -> None:
    assert _public() - set(calls) == NOT_CALLED


NAMES = sorted((_public() - NOT_CALLED) | {"control.step", "stream.go"})


@pytest.mark.parametrize("name", NAMES)
def test_a_wrong_argument_gives_a_result_or_an_error_in_words(
    name: str, calls: Calls, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    function, needed = calls[name]
    faults = []
    for parameter in _parameters(function):
        for wrong in WRONG:
            options = {**needed, parameter: wrong}
            try:
                _call(function, options)
            except ml.MotionLoomError as error:
                if len(str(error)) < 15 or _names_another(str(error), function):
                    faults.append(f"{parameter}={wrong!r}: {error}")
            except Exception as error:
                faults.append(f"{parameter}={str(wrong)[:60]!r}: {type(error).__name__}: {error}")
    assert not faults, f"{len(faults)} of {name}\n" + "\n".join(faults)


def _names_another(text: str, function: Callable[..., Any]) -> bool:
    """Whether an error names an array of a motion that the caller did not give."""
    arrays = ("root_positions", "local_quats", "joint_translations")
    return any(f"`{name}`" in text for name in arrays if name not in _parameters(function))


def _parameters(function: Callable[..., Any]) -> list[str]:
    """Names of all arguments, those of ``**options`` with a typed dictionary included."""
    out = []
    for each in inspect.signature(function).parameters.values():
        if each.kind is inspect.Parameter.VAR_KEYWORD:
            (options,) = get_args(eval(each.annotation, function.__globals__))
            out += list(options.__annotations__)
        else:
            out.append(each.name)
    return out


def _call(function: Callable[..., Any], options: dict[str, Any]) -> None:
    """Call it; an argument of which there may be any number is given once."""
    kinds = {each.name: each.kind for each in inspect.signature(function).parameters.values()}
    several = [name for name in options if kinds.get(name) is inspect.Parameter.VAR_POSITIONAL]
    named = {name: value for name, value in options.items() if name not in several}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ml.MotionLoomWarning)
        function(*(options[name] for name in several), **named)
