"""The tabs over the socket: results with all that the page needs, and true equivalents."""

from __future__ import annotations

import shlex
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import motionloom as ml
from motionloom.studio.clips.matches import distance_map
from motionloom.studio.clips.point_rig import PointRig, bind_points
from motionloom.studio.clips.stage_clip import show_motion
from motionloom.studio.messages.messages import TransitionMake
from motionloom.studio.panels.transition_panel import make_transition
from motionloom.studio.server.server import Studio
from tests.oracles import points as plain_points

BVH_TEXT_M = 1e-4
BOUND_M = 0.02
FLOAT32_M = 1e-5


def test_the_library_lists_every_embedded_clip_and_previews_it(ask) -> None:
    head, _ = ask("library.list")
    own = [item["id"] for item in head["items"] if item["group"] == "embedded"]
    assert own == list(ml.synthetic.kinds())
    head, arrays = ask("library.preview", clip="walk")
    assert head["facts"]["frames"] == 241
    assert arrays["points"].shape[1:] == (head["looks"]["points"], 3)


def test_an_opened_clip_has_a_body_plants_and_balance(ask) -> None:
    head, arrays = ask("clip.open", clip="walk")
    shown, frames = head["shown"], head["shown"]["frames"]
    assert arrays["points"].shape == (frames, shown["looks"]["points"], 3)
    assert arrays["planted"].shape == arrays["speeds"].shape == (frames, 4)
    assert arrays["com"].shape == (frames, 3)
    assert arrays["zmp"].shape == (frames, 2)
    assert shown["prints"]
    root = arrays["points"][:, shown["looks"]["root"]]
    truth = ml.synthetic.clip("walk").motion.root_positions
    np.testing.assert_allclose(root, truth, atol=FLOAT32_M)


def test_a_transition_is_the_one_that_the_library_makes(ask) -> None:
    head, arrays = ask("transition.make", a="walk", b="jog")
    walk, jog = (ml.synthetic.clip(kind).motion for kind in ("walk", "jog"))
    made = ml.transition(walk, jog)
    detail = head["detail"]
    assert tuple(detail["span"]) == made.span
    assert tuple(detail["at"]) == (made.candidates[0].frame_a, made.candidates[0].frame_b)
    assert len(detail["candidates"]) == len(made.candidates)
    n, m = arrays["grid"].shape
    assert (n - 1) * detail["stride"] < walk.n_frames <= n * detail["stride"]
    assert (m - 1) * detail["stride"] < jog.n_frames <= m * detail["stride"]
    assert head["why"]["rows"]
    assert head["why"]["verdict"] in ("good", "fair", "bad")


def test_a_place_set_by_hand_keeps_the_alternatives_and_the_way_back(ask) -> None:
    automatic = ask("transition.make", a="walk", b="jog")[0]["detail"]
    by_hand = ask("transition.make", a="walk", b="jog", at=[108, 72])[0]["detail"]
    assert by_hand["at"] == [108, 72]
    assert by_hand["by_hand"] and not automatic["by_hand"]
    assert by_hand["candidates"] == automatic["candidates"]
    assert len(by_hand["candidates"]) > 1
    assert by_hand["best"] == automatic["best"] == automatic["at"]
    costs = [each["cost"] for each in automatic["candidates"]]
    assert costs == sorted(costs)
    other = ask("transition.make", a="walk", b="jog", at=[108, 72], length_s=0.33)[0]["detail"]
    assert len(other["candidates"]) > 1
    assert other["best"] is None  # no automatic result with this length yet


def test_the_length_that_was_used_is_in_the_answer(ask) -> None:
    for at in (None, [40, 40]):
        head, _ = ask("transition.make", a="walk", b="jog", at=at, length_s=1.5)
        detail = head["detail"]
        first, last = detail["span"]
        assert detail["length_s"] == pytest.approx((last - first) / head["shown"]["fps"])
        assert detail["asked_length_s"] == 1.5
    assert detail["length_s"] < 1.5  # the clips have no more frames around this place


@pytest.mark.parametrize("repeats", [1, 6])
def test_the_scale_of_the_map_begins_at_the_best_match_whatever_the_length(repeats: int) -> None:
    walk, jog = (ml.synthetic.clip(kind, duration_s=4.0).motion for kind in ("walk", "jog"))
    walk = ml.concatenate([walk] * repeats)
    found = distance_map(walk, jog, body=ml.BodyMap.guess(walk.skeleton))
    places = ml.transition(walk, jog).candidates
    low, high = found.range_m
    nearest = min(each.pose for each in places)
    assert low <= nearest + FLOAT32_M
    assert low > 0.8 * nearest
    assert low < high
    n, m = found.distances.shape
    assert max(n, m) <= 240
    assert (n - 1) * found.stride < walk.n_frames <= n * found.stride
    for i, j in ((0, 0), (n // 2, m // 2), (n - 1, m - 1)):
        a, b = found.best[i, j]
        assert (a // found.stride, b // found.stride) == (i, j)


def test_a_blend_reports_the_weights_and_values_that_were_used(ask) -> None:
    space = ask("blend.space", clips=["walk", "jog", "run"])[0]
    wanted = {name: sum(r) / 2 for name, r in zip(space["names"], space["ranges"], strict=True)}
    detail = ask("blend.make", clips=["walk", "jog", "run"], parameters=wanted)[0]["detail"]
    assert sum(detail["weights"]) == pytest.approx(1.0)
    speed = space["names"].index("speed")
    values = [row[speed] for row in space["values"]]
    mixed = sum(w * v for w, v in zip(detail["weights"], values, strict=True))
    assert detail["parameters"]["speed"] == pytest.approx(mixed)
    assert detail["parameters"]["speed"] == pytest.approx(wanted["speed"], rel=0.1)


def test_sources_run_on_the_results_clock_and_stand_where_it_stands(ask) -> None:
    head, arrays = ask("transition.make", a="walk", b="jog", clean=False)
    first, last = head["detail"]["span"]
    root = head["shown"]["looks"]["root"]
    clock = arrays["source_frames"]
    assert clock.shape == (head["shown"]["frames"], 2)
    result = arrays["points"][:, root]
    np.testing.assert_array_equal(clock[: first + 1, 0], np.arange(first + 1))
    np.testing.assert_allclose(result[first], arrays["0.points"][first, root], atol=FLOAT32_M)
    theta, x0, z0 = head["sources"][1]["placement"]
    x, _, z = arrays["1.points"][round(float(clock[-1, 1])), root]
    placed = np.cos(theta) * x + np.sin(theta) * z + x0, np.cos(theta) * z - np.sin(theta) * x + z0
    np.testing.assert_allclose(placed, result[-1, [0, 2]], atol=1e-4)
    assert np.isfinite(clock[first : last + 1]).all()


def test_the_shown_command_line_makes_the_same_file_as_the_export(tmp_path: Path, ask) -> None:
    from motionloom.cli.main import typer_app

    head, _ = ask("transition.make", a="walk", b="sneak", length_s=0.5, moving=True)
    words = shlex.split(head["why"]["command"])
    assert words[0] == "motionloom"
    target = tmp_path / "made.bvh"
    words = [str(target) if word == "transition.bvh" else word for word in words[1:]]
    done = CliRunner().invoke(typer_app(), words)
    assert done.exit_code == 0, done.output
    wish = TransitionMake(id=1, a="walk", b="sneak", length_s=0.5, moving=True)
    from motionloom.studio.clips.library import Library
    from motionloom.studio.clips.matches import Matches

    shown = make_transition(Matches(Library()), wish).motion
    np.testing.assert_allclose(
        ml.load(target).world_positions(), shown.world_positions(), atol=BVH_TEXT_M
    )


def test_the_shown_python_runs_and_makes_the_same_motion(tmp_path: Path, ask, monkeypatch) -> None:
    head, arrays = ask("transition.make", a="walk", b="jog", at=[108, 72])
    monkeypatch.chdir(tmp_path)
    exec(head["why"]["python"], {})
    made = ml.load(tmp_path / "transition.bvh")
    root = arrays["points"][:, head["shown"]["looks"]["root"]]
    np.testing.assert_allclose(made.root_positions, root, atol=BVH_TEXT_M)


def test_plants_set_by_hand_change_the_result(ask) -> None:
    _, arrays = ask("transition.make", a="walk", b="jog", at=[108, 72])
    none = {kind: [] for kind in ("left_heel", "left_toe", "right_heel", "right_toe")}
    edited, other = ask("transition.make", a="walk", b="jog", at=[108, 72], plants={"walk": none})
    assert other["planted"].sum() < arrays["planted"].sum()
    assert any("by hand" in note for note in edited["why"]["notes"])


def test_a_blend_of_cycles_is_registered_apart_from_that_of_whole_clips(ask) -> None:
    clips = {"clips": ["walk", "jog"], "weights": [0.5, 0.5]}
    whole, cut, again = (
        ask("blend.make", **clips, **more)[0]
        for more in ({}, {"cycles": True, "sync_contacts": True}, {})
    )
    assert "cycles=True, sync_contacts=True" in cut["why"]["python"]
    assert "--cycles --sync-contacts" in cut["why"]["command"]
    assert cut["why"]["headline"] != whole["why"]["headline"] == again["why"]["headline"]


def test_a_blend_and_a_splice_come_with_their_sources(ask) -> None:
    head, arrays = ask("blend.make", clips=["walk", "jog"], weights=[0.3, 0.7])
    assert head["detail"]["weights"] == [0.3, 0.7]
    assert arrays["source_frames"].shape == (head["shown"]["frames"], 2)
    head, arrays = ask("splice.make", upper="wave", lower="walk")
    assert head["detail"]["tab"] == "splice"
    assert [source["clip"] for source in head["sources"]] == ["wave", "walk"]


@pytest.mark.parametrize("kind", ["walk", "run", "kick"])
def test_a_live_body_is_where_the_clips_body_is(kind: str) -> None:
    clip = ml.synthetic.clip(kind)
    body = ml.BodyMap.guess(clip.motion.skeleton)
    _, rig = bind_points(clip.motion, body)
    _, arrays = show_motion(clip.motion, clip.footplants, body)
    for frame in (0, 40, 100):
        points = rig.points(clip.motion.root_positions[frame], clip.motion.local_quats[frame])
        off = np.linalg.norm(points - arrays["points"][frame], axis=-1)
        assert off.max() < BOUND_M


def test_the_points_of_a_pose_are_those_of_the_plain_form() -> None:
    motion = ml.synthetic.clip("kick").motion
    _, rig = bind_points(motion, ml.BodyMap.guess(motion.skeleton))
    for frame in (0, 40, 100):
        pose = motion.root_positions[frame], motion.local_quats[frame]
        assert np.abs(rig.points(*pose) - plain_points.points(rig, *pose)).max() < 1e-12
    wrong = PointRig(motion.skeleton, np.array([motion.skeleton.n_joints]), np.zeros((1, 3)))
    with pytest.raises(ml.ArrayError, match="sizes do not fit"):
        wrong.points(*pose)
    none = PointRig(motion.skeleton, np.zeros(0), np.zeros((0, 3)))
    assert none.points(*pose).shape == (0, 3)


def test_failures_have_clear_texts(ask) -> None:
    for kind, body, part in (
        ("clip.open", {"clip": "nobody"}, "library"),
        ("transition.make", {"a": "walk", "b": "walk"}, "two clips"),
        ("transition.make", {"a": "walk", "b": "jog", "at": [0, 0]}, "`at`"),
        ("transition.make", {"a": "walk", "b": "jog", "length_s": -1}, "`length_s`"),
        ("blend.make", {"clips": ["walk"], "weights": [1.0]}, "two or more"),
        ("control.step", {"live": 99, "weights": [1.0]}, "ended"),
        ("export.make", {"what": "999", "format": "bvh"}, "no longer"),
        ("table.open", {"table": "nobody"}, "one of the list"),
        ("no.such", {}, "not valid"),
    ):
        head, _ = ask(kind, **body)
        assert head["type"] == "error", kind
        assert part in head["text"]


def test_the_project_comes_back(ask, studio: Studio) -> None:
    ask("project.save", project={"version": 1, "a": "walk"})
    head, _ = ask("project.load")
    assert head["project"] == {"version": 1, "a": "walk"}
    studio.project.path.write_text("{not json")
    head, _ = ask("project.load")
    assert head["project"] is None
    assert "project file" in head["problem"]
    studio.project.path.unlink()
