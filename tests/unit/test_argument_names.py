"""Errors name the argument that the caller gave, also where another function finds the fault."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

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
    "target": ("place must be", lambda t: t.path(("walk", 3), None)),  # type: ignore[arg-type]
    "unknown clip": ("of the collection's 2 .run, walk., got 'jog'",
                     lambda t: t.transition(("jog", 3), ("run", 3))),
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
    with pytest.raises(TypeError, match=r"add_clips\(\) has no option 'rate'.*keep_glitches"):
        ml.add_clips(table.file, table.collection.source_folder, rate=3)  # type: ignore[call-arg]
    assert table.file.read_bytes() == before


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
