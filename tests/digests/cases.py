"""What is digested: for every folder of the package what its public verbs return.

A case is a name and a function; what the function returns counts to the last bit, and an error of
motionloom counts as its text. Real clips are used where they are found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import motionloom as ml
from tests.support.places import find_mocap

Case = tuple[str, Callable[[], Any]]
REAL = {
    "walk": "cmu_bvh/16_31.bvh",
    "run": "cmu_bvh/16_35.bvh",
    "veer": "cmu_bvh/16_11.bvh",
    "turn": "cmu_bvh/16_17.bvh",
    "kick": "cmu_bvh/143_23.bvh",
    "bandai": "bandai_bvh/dataset-1_walk_normal_001.bvh",
    "dash": "bandai_bvh/dataset-1_dash_normal_001.bvh",
    "backwards": "audit/141_16.bvh",
}
FILES = (
    *("ugly", "fbx", "mixamo_like", "gltf", "c3d", "deepmimic_txt", "characters"),
    *("cmu_asfamc", "robots", "lafan1", "bandai_bvh"),
)
LARGEST = 4_000_000
"""Bytes of a file that is read for its digest."""
TURNS = (-0.8, 0.0, 0.8)


@cache
def embedded(kind: str, **options: Any) -> ml.Motion:
    return ml.synthetic.clip(kind, **options).motion


@cache
def real() -> dict[str, ml.Motion]:
    folder = find_mocap()
    if folder is None:
        return {}
    return {name: ml.load(folder / path)[:480] for name, path in REAL.items()}


@cache
def clips() -> dict[str, ml.Motion]:
    """Embedded clips and real ones."""
    kinds = "walk", "jog", "run", "stand", "wave", "carry"
    return {kind: embedded(kind) for kind in kinds} | real()


@cache
def turns() -> list[ml.Motion]:
    return [embedded("walk", turn=turn) for turn in TURNS]


def synthetic() -> Iterator[Case]:
    for kind in ml.synthetic.kinds():
        yield kind, lambda kind=kind: ml.synthetic.clip(kind)
    yield "small", lambda: ml.synthetic.skeleton(height=1.2)
    yield "no such clip", lambda: ml.synthetic.clip("waltz")


def motion() -> Iterator[Case]:
    for name, clip in clips().items():
        yield f"resample {name}", lambda clip=clip: ml.resample(clip, fps=47.0)
        yield f"move {name}", lambda clip=clip: ml.move(clip, heading=0.3, x=1.0, z=-0.5)
        yield (
            f"poses {name}",
            lambda clip=clip: ml.forward_kinematics(
                clip.skeleton, clip.root_positions, clip.local_quats
            ),
        )
        yield f"slice {name}", lambda clip=clip: clip[10:40]
    yield "concatenate", lambda: ml.concatenate([clips()["walk"], clips()["walk"]])
    yield "concatenate others", lambda: ml.concatenate([clips()["walk"], clips()["jog"][:0]])
    yield "rate", lambda: ml.resample(clips()["walk"], fps=-1.0)


def body() -> Iterator[Case]:
    for name, clip in clips().items():
        yield f"map {name}", lambda clip=clip: ml.BodyMap.guess(clip.skeleton)
        yield f"mirror {name}", lambda clip=clip: ml.mirror(clip)
        yield f"stature {name}", lambda clip=clip: ml.stature(clip)
        for verb in (ml.in_place, ml.travel_on_root, ml.with_root_bone):
            yield f"{verb.__name__} {name}", lambda clip=clip, verb=verb: verb(clip)


def features() -> Iterator[Case]:
    for name, clip in clips().items():
        yield f"plants {name}", lambda clip=clip: ml.detect_footplants(clip)
        yield f"quality {name}", lambda clip=clip: ml.measure_quality(clip)
        yield f"verify {name}", lambda clip=clip: ml.verify(clip)
        yield (
            f"verify {name} against itself",
            lambda clip=clip: ml.verify(clip, sources=[clip]),
        )
        yield f"marks {name}", lambda clip=clip: ml.sync_markers(ml.detect_footplants(clip))
        slid = np.array(clip.root_positions)
        slid[:, 0] += np.linspace(0.0, 1.0, len(slid))
        slides = clip.replace(root_positions=slid)
        yield f"quality of a slide {name}", lambda slides=slides: ml.measure_quality(slides)
        yield (
            f"verify a slide {name}",
            lambda slides=slides, clip=clip: ml.verify(slides, sources=[clip]),
        )


def cleanup() -> Iterator[Case]:
    for name, clip in clips().items():
        yield f"feet {name}", lambda clip=clip: ml.clean_footskate(clip)
        yield f"stretch {name}", lambda clip=clip: ml.clean_footskate(clip, stretch=True)
        yield f"balance {name}", lambda clip=clip: ml.balance(clip)
        yield f"hands {name}", lambda clip=clip: ml.hold_hands(clip, {"left_wrist": [(0.3, 0.6)]})
    yield "no such hand", lambda: ml.hold_hands(clips()["walk"], {"left_ear": [(0.3, 0.6)]})
    yield "blend", lambda: ml.clean_footskate(clips()["walk"], blend_s=-1.0)


def registration() -> Iterator[Case]:
    yield "turns", lambda: ml.register(turns())
    yield "cycles", lambda: ml.register(turns(), cycles=True)
    yield "ends", lambda: ml.register(turns()[:2], ends="match")
    yield "one", lambda: ml.register(turns()[:1])
    yield "unlike", lambda: ml.register([clips()["walk"], clips()["stand"]])
    yield "pins", lambda: ml.register(turns()[:2], pins=[(20, 30)])
    for name, clip in clips().items():
        yield f"cycles of {name}", lambda clip=clip: ml.find_cycles(clip)
    if real():
        yield "real", lambda: ml.register([real()["walk"], real()["veer"], real()["turn"]])
        yield "real rates", lambda: ml.register([real()["walk"], real()["run"]], cycles=True)


def retargeting() -> Iterator[Case]:
    small = ml.synthetic.skeleton(height=1.2)
    for name, clip in clips().items():
        yield f"small {name}", lambda clip=clip: ml.retarget(clip, small)
        yield (
            f"match {name}",
            lambda clip=clip: [
                (each.local_quats, each.root_positions)
                for each in ml.match_clips([clip, embedded("run")]).motions
            ],
        )


def blending() -> Iterator[Case]:
    names = list(clips())
    for a, b in [("walk", "run"), ("stand", "walk"), *zip(names, names[3:], strict=False)]:
        yield f"transition {a} {b}", lambda a=a, b=b: ml.transition(clips()[a], clips()[b])
    for options in (
        {"length_s": 1.2, "moving": True},
        {"timewarp": False, "clean": False},
        {"keep": 0.0, "check": False},
        {"keep": "late"},
        {"clean": "all", "repair": "all"},
        {"at": (60, 70)},
        {"length_s": -1},
        {"at": 3},
        {"keep": 2.0},
    ):
        yield f"transition {options}", lambda o=options: ml.transition(turns()[0], turns()[2], **o)
    for name, clip in clips().items():
        yield f"loop {name}", lambda clip=clip: ml.loop(clip)
    yield "lead in", lambda: ml.lead_in(clips()["walk"], clips()["stand"])
    yield "lead out", lambda: ml.lead_out(clips()["walk"], clips()["stand"], hold_s=0.0)
    for weights in ([0.5, 0.2, 0.3], [1.3, 0.0, -0.3], [1.0, 1.0, 0.0]):
        yield f"blend {weights}", lambda w=weights: ml.blend(ml.register(turns()), w)
    yield "blend back", lambda: ml.blend(turns(), [0.2, 0.3, 0.5], backwards=True)
    yield "blend cycles", lambda: ml.blend(_cycles(), [0.2, 0.3, 0.5], duration_s=3.0)
    yield "sequence", lambda: ml.sequence([embedded(k) for k in ("walk", "jog", "run", "walk")])
    yield "sequence loop", lambda: ml.sequence([embedded("walk"), embedded("run")], loop=True)
    yield "control", _control
    yield "parameters", _parameters
    for name in ("speed", "turn", "right_wrist.height", "left_ankle.speed"):
        yield f"measure {name}", lambda n=name: [ml.measure(clip, n) for clip in clips().values()]
    if real():
        yield "real sequence", lambda: ml.sequence([real()[n] for n in ("walk", "run", "veer")])
        yield "real blend", lambda: ml.blend([real()["walk"], real()["veer"]], [0.5, 0.5])


def _cycles() -> ml.RegistrationCurve:
    return ml.register(turns(), cycles=True)


def _control() -> list[Any]:
    live, poses = ml.control(_cycles()), []
    for n in range(150):
        pose = live.step([1.0, 0.0, 0.0] if n % 40 < 20 else [0.2, 0.3, 0.5])
        poses.append((pose.root_position, pose.local_quats, pose.planted))
    return poses


def _parameters() -> list[Any]:
    space = ml.parametrize(ml.register(turns()), {"turn": TURNS})
    return [space.weights(clamp=True, turn=turn) for turn in np.linspace(-2.0, 2.0, 41)]


def splicing() -> Iterator[Case]:
    actions = [name for name in clips() if name in ("wave", "carry", "kick", "bandai", "stand")]
    for upper in actions:
        for lower in ("walk", "run"):
            yield (
                f"{upper} on {lower}",
                lambda u=upper, lo=lower: ml.splice(clips()[u], clips()[lo]),
            )
    for options in (
        {"where": "arms"},
        {"method": "naive"},
        {"soft": True, "align": True},
        {"keep_bend": True},
        {"when_short": "loop"},
        {"where": "tail"},
    ):
        yield f"{options}", lambda o=options: ml.splice(clips()["wave"], clips()["walk"], **o)


@cache
def _collection() -> tuple[TemporaryDirectory[str], ml.Collection]:
    folder = TemporaryDirectory()
    for name in ("walk", "jog", "run", "stand"):
        ml.save(embedded(name), Path(folder.name, f"{name}.bvh"))
    collection = ml.Collection.ingest(folder.name, fps=30)
    collection.annotate("run", "run")
    return folder, collection


@cache
def _table() -> ml.TransitionTable:
    return ml.build_table(_collection()[1], clusters=8, lookup=8, progress=False)


def tables() -> Iterator[Case]:
    yield "collection", lambda: [_collection()[1].frames.body, _collection()[1].frames.planted]
    places = [("walk", 30), ("run", 60), ("stand", 40), ("jog", 90), ("walk", 100)]
    for a, b in pairwise(places):
        yield f"transition {a} {b}", lambda a=a, b=b: _made(_table().transition(a, b))
    yield "label", lambda: _made(_table().transition(("walk", 30), label="run"))
    yield "path", lambda: _table().path(("walk", 10), ("run", 60)).why
    yield "fill", lambda: _fill(_table().fill(embedded("walk"), 100, 150))
    yield "stream", _stream
    yield "runtime", _runtime
    yield "no such clip", lambda: _table().transition(("waltz", 1), ("run", 3))
    yield "no such label", lambda: _table().transition(("walk", 1), label="waltz")
    yield "no such frame", lambda: _table().transition(("walk", 9999), ("run", 3))


def _made(made: ml.TableTransition) -> list[Any]:
    return [made.motion, made.footplants, made.span, made.why, made.notes, made.verification]


def _fill(made: ml.Fill) -> list[Any]:
    return [made.motion, made.footplants, made.span, made.notes, made.verification]


def _stream() -> list[Any]:
    stream, poses = _table().stream(("walk", 0)), []
    for n in range(300):
        if n == 60:
            stream.hold("run")
        pose = stream.step()
        poses.append((pose.root_position, pose.local_quats, pose.planted))
    return poses


def _runtime() -> bytes:
    with TemporaryDirectory() as folder:
        ml.save_runtime(_table(), Path(folder, "table.mlr"))
        return Path(folder, "table.mlr").read_bytes()


def formats() -> Iterator[Case]:
    for name in ("walk", "bandai", "kick"):
        if name not in clips():
            continue
        for each in ml.supported_formats():
            for suffix in each.suffixes if each.can_write else ():
                yield f"{name}{suffix}", lambda n=name, s=suffix: _written(clips()[n][:60], s)


def _written(clip: ml.Motion, suffix: str) -> list[Any]:
    """A clip saved and loaded again; bytes too, where the format writes no time or version."""
    with TemporaryDirectory() as folder:
        path = Path(folder, f"clip{suffix}")
        ml.save(clip, path)
        written = {
            each.name: b"" if each.suffix in (".npz", ".fbx", ".usdz") else each.read_bytes()
            for each in sorted(Path(folder).iterdir())
        }
        return [written, _read(path)]


def _read(path: Path) -> Any:
    read = ml.load(path)
    source = read.source
    findings = [str(each).replace(str(path.parent), "") for each in source.findings]
    return [read.local_quats, read.root_positions, read.joint_translations, read.fps,
            read.skeleton.names, read.skeleton.parents, read.skeleton.offsets,
            findings]  # fmt: skip


def intake() -> Iterator[Case]:
    folder = find_mocap()
    for name in FILES if folder is not None else ():
        for path in sorted(Path(folder, name).iterdir()):
            if path.is_file() and path.stat().st_size < LARGEST:
                yield f"{name}/{path.name}", lambda path=path: _read(path)
    for name, clip in clips().items():
        yield f"ground {name}", lambda clip=clip: ml.ground(clip)


def drawing() -> Iterator[Case]:
    for suffix in (".svg", ".html"):
        for name, make in (
            ("clip", lambda: clips()["walk"][:60]),
            ("transition", lambda: ml.transition(clips()["walk"], clips()["run"])),
            ("splice", lambda: ml.splice(clips()["wave"], clips()["walk"])),
        ):
            yield f"{name}{suffix}", lambda make=make, suffix=suffix: _drawn(make(), suffix)


def _drawn(result: Any, suffix: str) -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder, f"drawn{suffix}")
        ml.render(result, path)
        return path.read_bytes()


FOLDERS = {
    each.__name__: each
    for each in (
        *(synthetic, motion, body, features, cleanup, registration, retargeting, blending),
        *(splicing, tables, formats, intake, drawing),
    )
}
