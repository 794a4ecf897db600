"""Blend and splice tabs: steered, recorded, compared; shown command lines and Python are true."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import motionloom as ml
from motionloom.studio.clips.library import Library
from motionloom.studio.clips.matches import Matches
from motionloom.studio.clips.verdict_limits import grade, moment_m
from motionloom.studio.messages.messages import BlendMake, SpliceMake, TransitionMake
from motionloom.studio.panels.blend_panel import BlendPanel, QuickWeights, tidy_weights
from motionloom.studio.panels.splice_panel import make_splice
from motionloom.studio.panels.transition_panel import make_transition
from motionloom.studio.results.result import Result
from motionloom.studio.server.server import Studio

BVH_TEXT_M = 1e-4
SAME_WEIGHT = 1e-6
STEERED = [tidy_weights([1.0 - k / 160, k / 160]) for k in range(120)]

WISHES: dict[str, Any] = {
    "transition": TransitionMake(id=1, a="walk", b="jog", length_s=0.4, clean=False),
    "transition at a place": TransitionMake(id=1, a="walk", b="sneak", at=(80, 60)),
    "blend": BlendMake(id=1, clips=["walk", "jog", "run"], weights=[1 / 3, 1 / 3, 1 / 3]),
    "blend by speed": BlendMake(id=1, clips=["walk", "jog"], parameters={"speed": 1.9}),
    "blend as steered": BlendMake(id=1, clips=["walk", "jog"], recorded=STEERED),
    "splice": SpliceMake(id=1, upper="wave", lower="walk"),
    "splice of an arm": SpliceMake(
        id=1, upper="punch", lower="walk", where="left_arm", method="time", when_short="hold"
    ),
}


@pytest.fixture(scope="module")
def made() -> dict[str, Result]:
    """Every wish's result, each made once."""
    matches = Matches(Library())
    blends = BlendPanel(matches)
    makers: dict[type, Any] = {
        TransitionMake: lambda wish: make_transition(matches, wish),
        BlendMake: blends.make,
        SpliceMake: lambda wish: make_splice(matches, wish),
    }
    return {name: makers[type(wish)](wish) for name, wish in WISHES.items()}


@pytest.mark.parametrize("name", WISHES)
def test_the_shown_command_line_makes_the_joints_shown(
    made: dict[str, Result], name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from motionloom.cli.main import typer_app

    result = made[name]
    monkeypatch.chdir(tmp_path)
    for file, text in result.files.items():
        Path(file).write_text(text)
    words = shlex.split(result.why.command)
    assert words[0] == "motionloom"
    done = CliRunner().invoke(typer_app(), words[1:])
    assert done.exit_code == 0, done.output
    written = ml.load(f"{words[1]}.bvh").world_positions()
    np.testing.assert_allclose(written, result.motion.world_positions(), atol=BVH_TEXT_M)


@pytest.mark.parametrize("name", WISHES)
def test_the_shown_python_makes_the_joints_shown(
    made: dict[str, Result], name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = made[name]
    monkeypatch.chdir(tmp_path)
    for file, text in result.files.items():
        Path(file).write_text(text)
    exec(result.why.python, {})
    written = ml.load(next(Path().glob("*.bvh"))).world_positions()
    np.testing.assert_allclose(written, result.motion.world_positions(), atol=BVH_TEXT_M)


def test_sources_that_a_page_has_are_not_sent_again(ask) -> None:
    head, arrays = ask("blend.make", clips=["walk", "jog"], weights=[0.3, 0.7])
    keys = [source["key"] for source in head["sources"]]
    assert "0.points" in arrays
    again, fewer = ask("blend.make", clips=["walk", "jog"], weights=[0.4, 0.6], have=keys)
    assert [source["key"] for source in again["sources"]] == keys
    assert all(source["shown"] is None for source in again["sources"])
    assert not any(name.startswith(("0.", "1.")) for name in fewer)
    other, _ = ask("blend.make", clips=["walk", "run"], weights=[0.4, 0.6], have=keys)
    assert all(source["shown"] for source in other["sources"])


def test_a_recording_is_what_the_hand_did(ask_pose) -> None:
    head, _ = ask_pose("control.start", clips=["walk", "jog"])
    live = head["live"]
    ask_pose("control.step", live=live, weights=[1.0, 0.0])  # not kept
    for share in np.linspace(0.0, 1.0, 30):
        kind, _ = ask_pose(
            "control.step", live=live, weights=[1 - share, share], frames=2, record=True
        )
        assert kind == "pose"
    recorded = ask_pose("control.stop", live=live)[0]["recorded"]
    rows = np.array(recorded)
    assert rows.shape == (60, 2)
    np.testing.assert_allclose(rows.sum(axis=1), 1.0, atol=SAME_WEIGHT)
    assert np.all(np.diff(rows[:, 1]) >= 0.0)
    assert np.diff(rows[:, 1]).max() < 0.1  # eased: no jump
    head, _ = ask_pose("blend.make", clips=["walk", "jog"], recorded=recorded)
    assert head["shown"]["frames"] == 60
    assert [file["name"] for file in head["files"]] == ["weights.csv"]


def test_weights_found_quickly_are_those_of_the_space() -> None:
    turns = [ml.synthetic.clip("walk", turn=t).motion for t in (-0.8, 0.0, 0.8)]
    fast = [ml.synthetic.clip("jog", turn=t).motion for t in (-0.8, 0.8)]
    curve = ml.register([*turns, *fast])
    space = ml.parametrize(
        curve, {"turn": (-0.8, 0.0, 0.8, -0.8, 0.8), "speed": (1.3, 1.3, 1.3, 2.5, 2.6)}
    )
    quick = QuickWeights(space)
    random = np.random.Generator(np.random.PCG64(3))
    for turn, speed in zip(
        random.uniform(-1.2, 1.2, 40), random.uniform(1.0, 3.0, 40), strict=True
    ):
        wanted = {"turn": float(turn), "speed": float(speed)}
        slow = space.weights(clamp=True, **wanted)
        # Where two mixtures are as near, either will do: what counts is what they give.
        np.testing.assert_allclose(
            quick.find(wanted) @ space.values[:5], slow @ space.values[:5], atol=1e-5
        )


def test_clips_that_do_alike_cannot_be_steered_by_what_they_do(ask) -> None:
    head, _ = ask("blend.space", clips=["walk", "jog"])
    assert head["names"] == ["speed"]
    head, _ = ask("blend.make", clips=["wave", "punch"], parameters={"speed": 1.0})
    assert head["type"] == "error"


def test_the_four_methods_are_shown_side_by_side(ask) -> None:
    head, arrays = ask("splice.make", upper="carry", lower="walk", compare=True)
    assert [source["clip"] for source in head["sources"]] == ["naive", "time", "time+space"]
    figures = {each["method"]: each for each in head["detail"]["methods"]}
    assert set(figures) == {"naive", "time", "time+space", "full"}
    assert figures["full"]["sway"] > figures["naive"]["sway"]
    assert arrays["source_frames"].shape == (head["shown"]["frames"], 3)
    # The legs are the locomotion's in all of them.
    root = head["shown"]["looks"]["root"]
    n = min(len(arrays["0.points"]), head["shown"]["frames"])
    np.testing.assert_allclose(
        arrays["0.points"][:n, root], arrays["points"][:n, root], atol=BVH_TEXT_M
    )


def test_every_verdict_has_its_limits_and_a_place_to_look(made: dict[str, Result]) -> None:
    for result in made.values():
        for row in result.why.rows:
            if row.limits is None:
                assert row.verdict == "plain"
                continue
            assert row.limits[0] <= row.limits[1]
            assert row.value is None or row.verdict == grade(row.value, row.limits)
            assert row.frame is None or 0 <= row.frame < result.motion.n_frames


def test_a_match_is_held_against_what_the_bodies_do_in_a_moment() -> None:
    walk, run = (ml.synthetic.clip(kind).motion for kind in ("walk", "run"))
    body = ml.BodyMap.guess(walk.skeleton)
    (calm, later), (fast, _) = moment_m([walk], body), moment_m([run], body)
    assert 0.0 < calm < later
    assert fast > calm
    assert moment_m([walk, run], body) == (calm, later)


@pytest.mark.parametrize("kind", ["png", "svg", "gif"])
def test_a_result_is_drawn(ask, studio: Studio, kind: str) -> None:
    pause = studio.library.add("pause", ml.synthetic.clip("stand", duration_s=0.5).motion)
    head, _ = ask("splice.make", upper="wave", lower=pause.id, when_short="crop")
    head, _ = ask("render.make", result=head["result"], kind=kind, view="side")
    assert head["type"] == "export", head
    path, name = studio.exports.find(head["url"].removeprefix("download/")) or (None, "")
    assert path is not None
    assert name.endswith(f".{kind}")
    begins = {"png": b"\x89PNG", "svg": b"<?xml", "gif": b"GIF89a"}[kind]
    assert path.read_bytes().startswith(begins)


def test_presets_state_what_they_write_and_whether_it_was_tried(ask) -> None:
    head, _ = ask("export.formats")
    presets = {each["name"]: each for each in head["presets"]}
    assert presets["blender"]["verified"] and presets["godot"]["verified"]
    assert not any(presets[name]["verified"] for name in ("unreal", "unity"))
    assert all(each["about"] for each in presets.values())
    text = json.dumps(head)
    assert "/" not in text.replace("glTF 2.0", "")  # no path of this machine
