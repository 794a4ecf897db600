"""Every operation returns the same shape: motion, contacts, span, notes, check, clean-up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import motionloom as ml

SHAPE = ("motion", "footplants", "span", "notes", "verification", "cleanup")


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A result of every operation."""
    folder: Path = tmp_path_factory.mktemp("shape") / "clips"
    folder.mkdir()
    for kind in ("walk", "run"):
        ml.save(ml.synthetic.clip(kind, duration_s=1.5, fps=20).motion, folder / f"{kind}.bvh")
    lib = ml.Collection.ingest(folder, fps=20)
    table = ml.build_table(lib, length_s=0.5, clusters=3, jobs=1, progress=False)
    walk, jog = (ml.synthetic.clip(kind, duration_s=2.0).motion for kind in ("walk", "jog"))
    carry = ml.synthetic.clip("carry", duration_s=2.0).motion
    return {
        "transition": ml.transition(walk, jog),
        "transition, raw": ml.transition(walk, jog, clean=False),
        "blend": ml.blend([walk, jog], [0.5, 0.5]),
        "blend, raw": ml.blend([walk, jog], [0.5, 0.5], clean=False),
        "splice": ml.splice(carry, walk),
        "loop": ml.loop(walk),
        "loop, raw": ml.loop(walk, clean=False),
        "table.transition": table.transition(("walk", 3), ("run", 20)),
        "table.fill": table.fill(lib.motion("walk"), 8, 14),
        "table.path, the table": table.path(("walk", 3), ("run", 20), limit_s=0.01),
        "table.path, the graph": table.path(("walk", 3), ("walk", 20), limit_s=9.0),
        "lead_in": ml.lead_in(walk, ml.synthetic.clip("stand", duration_s=1.0).motion),
    }


NAMES = (
    "transition", "transition, raw", "blend", "blend, raw", "splice", "loop", "loop, raw",
    "table.transition", "table.fill", "table.path, the table", "table.path, the graph", "lead_in",
)  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_a_result_has_the_common_shape(results: dict[str, Any], name: str) -> None:
    made = results[name]
    motion, footplants, (first, last), notes, verification, cleanup = (
        getattr(made, field) for field in SHAPE
    )
    assert isinstance(motion, ml.Motion)
    assert isinstance(footplants, ml.Footplants)
    assert 0 <= first <= last
    assert all(isinstance(note, str) for note in notes)
    assert isinstance(verification.passed, bool)
    held = name in ("transition", "blend", "loop")
    assert (cleanup is not None) == held


def test_clean_and_balanced_motions_have_the_common_shape() -> None:
    walk = ml.synthetic.clip("walk", duration_s=2.0).motion
    held = ml.hold_hands(walk, {"left_wrist": [(0.1, 0.3)]})
    for made in (ml.clean_footskate(walk), ml.balance(walk), held):
        assert all(hasattr(made, field) for field in SHAPE)
        assert made.span == (0, walk.n_frames - 1)
    cleaned = ml.clean_footskate(walk)
    assert cleaned.cleanup is cleaned.report
    assert held.cleanup is None


def test_a_path_has_the_shape_of_what_it_took(results: dict[str, Any]) -> None:
    by_table, by_graph = (results[f"table.path, the {each}"] for each in ("table", "graph"))
    assert by_table.chosen in ("table", "neither")
    assert by_table.span == by_table.transition.span
    assert by_table.notes == (by_table.why, *by_table.transition.notes)
    assert by_table.verification == by_table.transition.verification
    assert by_graph.chosen == "graph"
    assert by_graph.motion is by_graph.motion  # made once
    walk = by_graph.graph.synthesize(by_graph.graph_path)
    assert by_graph.span == walk.span
    assert by_graph.verification.passed  # frames as they were captured
    assert by_graph.notes == (by_graph.why,)


def test_a_list_of_motions_is_registered_by_blend(results: dict[str, Any]) -> None:
    walk, jog = (ml.synthetic.clip(kind, duration_s=2.0).motion for kind in ("walk", "jog"))
    curve = ml.register([walk, jog])
    made = ml.blend(curve, [0.5, 0.5]).motion
    assert (made.local_quats == results["blend"].motion.local_quats).all()


def test_the_score_of_a_transition_of_two_clips_is_measured_without_a_warning(results) -> None:
    assert isinstance(ml.score(results["transition"]), ml.Score)


def without_knees(motion: ml.Motion) -> ml.Motion:
    """The clip on a skeleton whose legs go from hip to ankle."""
    rig = motion.skeleton
    body = ml.BodyMap.guess(rig)
    gone = {body.left_knee, body.right_knee}
    kept = [j for j in range(rig.n_joints) if j not in gone]
    parents = [rig.parents[j] if rig.parents[j] not in gone else rig.parents[rig.parents[j]]
               for j in kept]  # fmt: skip
    offsets = [
        rig.offsets[j] + (rig.offsets[rig.parents[j]] if rig.parents[j] in gone else 0.0)
        for j in kept
    ]
    other = ml.Skeleton(
        [rig.names[j] for j in kept], [kept.index(p) if p >= 0 else -1 for p in parents], offsets
    )
    return ml.Motion(other, motion.root_positions, motion.local_quats[:, kept], motion.fps)


def test_feet_of_legs_without_knees_are_left_as_they_are_and_noted() -> None:
    walk, jog = (
        without_knees(ml.synthetic.clip(kind, duration_s=2.0).motion) for kind in ("walk", "jog")
    )
    for made in (ml.blend([walk, jog], [0.5, 0.5]), ml.transition(walk, jog)):
        assert made.cleanup is None
        assert any("feet are not held: the skeleton has no left_knee" in n for n in made.notes)


@pytest.mark.parametrize("name", NAMES)
def test_a_result_draws_itself_in_a_notebook(results: dict[str, Any], name: str) -> None:
    for shown in (results[name], results[name].motion):
        page = shown._repr_html_()
        assert page.startswith("<iframe srcdoc=")
        assert len(page) < 1_500_000


def test_a_long_clip_is_thinned_in_a_notebook() -> None:
    long = ml.synthetic.clip("walk", duration_s=40.0).motion
    short = ml.synthetic.clip("walk", duration_s=10.0).motion
    assert len(long._repr_html_()) < 1.6 * len(short._repr_html_())


def test_results_can_be_saved(results: dict[str, Any], tmp_path: Path) -> None:
    for name in ("transition", "blend", "splice", "loop", "table.transition"):
        ml.save(results[name], tmp_path / "result.bvh")
        ml.save(results[name].motion, tmp_path / "motion.bvh")
        assert (tmp_path / "result.bvh").read_bytes() == (tmp_path / "motion.bvh").read_bytes()


def test_what_is_no_motion_is_answered_with_the_way_to_one(results: dict[str, Any]) -> None:
    made = results["transition"]
    for function in (ml.measure_quality, ml.loop, ml.balance, ml.clean_footskate, ml.ground):
        with pytest.raises(ml.ArrayError, match=r"Pass its \.motion\."):
            function(made)
        for path in ("walk.bvh", Path("walk.bvh")):
            with pytest.raises(ml.ArrayError, match=r"Load it first: ml\.load\(path\)\."):
                function(path)  # type: ignore[arg-type]
    with pytest.raises(ml.ArrayError, match=r"Pass its \.motion\."):
        ml.transition(made.motion, made)  # type: ignore[arg-type]
    with pytest.raises(ml.ArrayError, match=r"Load it first"):
        ml.transition("walk.bvh", made.motion)  # type: ignore[arg-type]
    with pytest.raises(ml.ArrayError, match=r"Load it first"):
        ml.save("walk.bvh", "out.bvh")  # type: ignore[arg-type]
    with pytest.raises(ml.ArrayError, match=r"Pass its \.skeleton\."):
        ml.BodyMap.guess(made.motion)  # type: ignore[arg-type]


def test_a_file_of_markers_is_answered_with_the_function_that_reads_it(tmp_path: Path) -> None:
    (tmp_path / "take.c3d").write_bytes(b"\x02\x50" + bytes(600))
    with pytest.raises(ml.FormatError, match=r"ml\.load_points"):
        ml.load(tmp_path / "take.c3d")
