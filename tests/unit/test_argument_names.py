"""Errors name the argument that the caller gave, also where another function finds the fault."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import motionloom as ml

SMALL: dict[str, Any] = {"length_s": 0.5, "clusters": 3, "progress": False}
WALK = ml.synthetic.clip("walk", duration_s=1.5, fps=20).motion
RUN = ml.synthetic.clip("run", duration_s=1.5, fps=20).motion


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> ml.TransitionTable:
    clips = tmp_path_factory.mktemp("names") / "clips"
    clips.mkdir()
    for motion in (WALK, RUN):
        ml.save(motion, clips / f"{motion.name}.bvh")
    return ml.build_table(ml.Collection.ingest(clips, fps=20), **SMALL)


Call = Callable[[ml.TransitionTable], object]
WRONG: dict[str, tuple[str, Call]] = {
    "blend of no clip": ("`curve` must hold two", lambda t: ml.blend([], [1.0])),
    "blend of no clips": ("`curve.1.`", lambda t: ml.blend([WALK, None], [1, 0])),  # type: ignore[list-item]
    "blend of a motion": ("`curve` must be a list", lambda t: ml.blend(WALK, [1.0])),  # type: ignore[arg-type]
    "match of a motion": ("`motions` must", lambda t: ml.match_clips(WALK)),  # type: ignore[arg-type]
    "labels": ("`labels`", lambda t: t.collection.add_labels(WALK)),  # type: ignore[arg-type]
    "view of nothing": ("`motion`", lambda t: ml.view(None)),  # type: ignore[arg-type]
    "threshold": ("`graph_cm`", lambda t: ml.compare_with_graph(t, pairs=2, graph_cm=-1)),
    "verdicts": ("`verdicts`", lambda t: ml.compare_with_people(t, None)),  # type: ignore[arg-type]
    "no table": ("`table`", lambda t: ml.compare_with_people(None, "v.csv")),  # type: ignore[arg-type]
    "file": ("`file`", lambda t: ml.verify_table(None)),  # type: ignore[arg-type]
    "collection": ("`collection`", lambda t: ml.TransitionTable.open(t.file, collection="")),
    "progress": ("`progress`", lambda t: ml.verify_table(t.file, progress="no")),  # type: ignore[arg-type]
    "target": ("`target` must be a clip's id", lambda t: t.path(("walk", 3), None)),  # type: ignore[arg-type]
    "unknown clip": ("clip of `source` must be one of the collection's 2 .run, walk., got 'jog'",
                     lambda t: t.transition(("jog", 3), ("run", 3))),
    "frame of the target": ("'run' has frames 0 to 30 at 20 fps, got 31 in `target`",
                            lambda t: t.transition(("walk", 3), ("run", 31))),
    "frame of the source": ("got -1 in `source`",
                            lambda t: t.transition(("walk", -1), ("run", 3))),
    "frame of an entry": ("got 31 in `target`", lambda t: t.entry(("walk", 3), ("run", 31))),
    "frame of a path": ("got 99 in `source`", lambda t: t.path(("walk", 99), ("run", 3))),
    "frame of a graph": ("got 99 in `target`",
                         lambda t: ml.MotionGraph.build(t.collection).path(0, ("run", 99))),
    "half a frame": ("`target.1.` must be a whole number, got 2.5",
                     lambda t: t.transition(("walk", 3), ("run", 2.5))),  # type: ignore[arg-type]
    "start of a character": ("got 99 in `source`", lambda t: t.stream(("walk", 99))),
    "goal of a character": ("got 99 in `frame`",
                            lambda t: t.stream(("walk", 2)).go(frame=("run", 99))),
    "rows of a recipe": ("`rows` must be a list of the first rows", lambda t: ml.Recipe(None, 20)),  # type: ignore[arg-type]
    "a row of a recipe": ("`rows.1.` must be a whole", lambda t: ml.Recipe((0, None), 20)),  # type: ignore[arg-type]
    "length of a recipe": ("`length` must be a whole", lambda t: ml.Recipe((0, 1), None)),  # type: ignore[arg-type]
    "a far place": ("`x` and `z` must leave the clip within 1e.15 metres",
                    lambda t: ml.move(WALK, x=1e30)),
    "name of a clip": ("`clip` must be a str, got 3",
                       lambda t: ml.load(t.collection.source_folder / "walk.bvh", clip=3)),  # type: ignore[arg-type]
    "name of an inspected clip": ("`clip` must be a str", lambda t: ml.inspect_file("a", clip=3)),  # type: ignore[arg-type]
    "picture of nothing": ("`motion` must be a Motion", lambda t: ml.render(None, "a.png")),  # type: ignore[arg-type]
    "out": ("must be a file", lambda t: ml.extend_table(t.file, t.collection, out=".")),
    "cycles": ("`longest_s` must not be below", lambda t: ml.loop(WALK, shortest_s=2, longest_s=1)),
    "short clip": ("at least 0.1 s; the clip has 0.05 s",
                   lambda t: ml.loop(WALK[:2], shortest_s=0.01)),
    "contacts": ("`footplants`", lambda t: ml.QualityCheck([WALK], footplants=5)),  # type: ignore[arg-type]
    "too few contacts": ("`footplants` must have one per source .2., got 1",
                         lambda t: ml.QualityCheck([WALK, RUN], footplants=[WALK])),  # type: ignore[list-item]
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_errors_name_what_the_caller_gave(table: ml.TransitionTable, what: str) -> None:
    text, call = WRONG[what]
    with pytest.raises(ml.MotionLoomError, match=text):
        call(table)


def test_an_unknown_option_of_add_clips_is_named_and_changes_nothing(
    table: ml.TransitionTable,
) -> None:
    before = table.file.read_bytes()
    with pytest.raises(TypeError, match=r"add_clips\(\).*unexpected.*'rate'"):
        ml.add_clips(table.file, table.collection.source_folder, rate=3)  # type: ignore[call-arg]
    assert table.file.read_bytes() == before


def test_options_of_added_clips_are_those_of_the_collection(
    table: ml.TransitionTable, tmp_path: Path
) -> None:
    file, lib = table.file, table.collection
    before = file.read_bytes()
    for folder in (lib.source_folder, lib.path):
        for name, wrong in {"fps": 30, "ground": True, "plants": "learned"}.items():
            with pytest.raises(
                ml.TableError, match=f"its `{name}` is .*, not .*Leave `{name}` out"
            ):
                ml.add_clips(file, folder, progress=False, **{name: wrong})  # type: ignore[misc]
        with pytest.raises(ml.TableError, match="its `skeleton` is another one"):
            ml.add_clips(file, folder, skeleton=_taller(WALK), progress=False)
        with pytest.raises(ml.ArrayError, match="`skeleton` must be a skeleton, a motion"):
            ml.add_clips(file, folder, skeleton=3, progress=False)  # type: ignore[arg-type]
    with pytest.raises(ml.ArrayError, match=r"`source_fps` says how files are read.*collection"):
        ml.add_clips(file, lib.path, source_fps=20, progress=False)
    assert file.read_bytes() == before
    saved = tmp_path / "walk.bvh"
    ml.save(WALK, saved)
    for given in (lib.skeleton, lib.motion("walk"), saved, str(saved)):
        for folder in (lib.source_folder, lib.path):
            assert ml.add_clips(file, folder, skeleton=given, fps=20, progress=False).file == file


def _taller(motion: ml.Motion) -> ml.Motion:
    longer = dataclasses.replace(motion.skeleton, offsets=1.1 * motion.skeleton.offsets)
    return motion.replace(skeleton=longer)


def test_an_unknown_option_of_a_fill_is_named(table: ml.TransitionTable) -> None:
    with pytest.raises(TypeError, match=r"fill\(\).*unexpected.*'foot'"):
        table.fill(WALK, 8, 15, foot=False)  # type: ignore[call-arg]


def test_a_result_is_drawn_with_its_contacts(tmp_path: Path) -> None:
    clean = ml.clean_footskate(ml.synthetic.clip("walk", duration_s=1.0, fps=20).motion)
    result, apart = (
        ml.render(each, tmp_path / f"{k}.html", **plants).read_bytes()
        for k, (each, plants) in enumerate(
            ((clean, {}), (clean.motion, {"footplants": clean.footplants}))
        )
    )
    assert result == apart
    none = ml.Footplants(np.zeros_like(clean.footplants.planted))
    assert ml.render(clean, tmp_path / "none.html", footplants=none).read_bytes() != result


def test_a_rate_of_weights_must_be_a_number(tmp_path: Path) -> None:
    file = tmp_path / "weights.csv"
    file.write_text("0.5,0.5\n")
    for wrong in (None, "x", 0.0, float("nan")):
        with pytest.raises(ml.ArrayError, match="`fps`"):
            ml.read_weights(file, ["a", "b"], fps=wrong)  # type: ignore[arg-type]


def test_a_demo_is_not_written_into_a_file(tmp_path: Path) -> None:
    (tmp_path / "demo").write_text("mine")
    with pytest.raises(ml.FormatError, match="must be given a folder"):
        ml.write_demo(tmp_path / "demo")


def test_motions_and_contacts_are_no_lists() -> None:
    for value in (WALK, ml.detect_footplants(WALK)):
        with pytest.raises(TypeError, match="not iterable"):
            iter(value)  # type: ignore[call-overload]


def test_a_studio_takes_paths_as_text(tmp_path: Path) -> None:
    studio = ml.Studio(str(tmp_path), project=str(tmp_path / "state" / "project.json"))
    try:
        assert studio.project.path == tmp_path / "state" / "project.json"
    finally:
        studio.close()
    with pytest.raises(ml.FormatError, match="`project` must be a file"):
        ml.Studio(str(tmp_path), project=str(tmp_path))
