"""What the studio exports re-opens with the same joints, in Blender and in three.js."""

from __future__ import annotations

import base64
import importlib.util
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from motionloom.motion.motion import Motion
from motionloom.studio.blend_room import BlendRoom
from motionloom.studio.exports import Exports
from motionloom.studio.library import Library
from motionloom.studio.matches import Matches
from motionloom.studio.messages import BlendMake, SpliceMake, TransitionMake
from motionloom.studio.presets import PRESETS
from motionloom.studio.splice_room import make_splice
from motionloom.studio.transition_room import make_transition

pytestmark = [pytest.mark.judge, pytest.mark.slow]

JUDGE_M = 1e-4
"""Blender and three.js compute in float32."""
ROOT = Path(__file__).resolve().parents[2]
MODULES = ROOT / "src/motionloom/studio/client/node_modules"
FRAMES = 4


@pytest.fixture(scope="module")
def results() -> dict[str, Motion]:
    """What the three rooms make of embedded clips."""
    matches = Matches(Library())
    return {
        "transition": make_transition(matches, TransitionMake(id=1, a="walk", b="jog")).motion,
        "blend": BlendRoom(matches).make(
            BlendMake(id=1, clips=["walk", "jog"], weights=[0.5, 0.5])
        ).motion,
        "splice": make_splice(matches, SpliceMake(id=1, upper="wave", lower="walk")).motion,
    }  # fmt: skip


@pytest.fixture(scope="module")
def exports() -> Iterator[Exports]:
    made = Exports()
    yield made
    made.close()


def exported(exports: Exports, motion: Motion, preset: str) -> Path:
    key = exports.make(motion, "", preset).body["url"].removeprefix("download/")
    found = exports.find(key)
    assert found is not None
    return found[0]


def looked_at(motion: Motion) -> list[int]:
    return np.linspace(0, motion.n_frames - 1, FRAMES).astype(int).tolist()


def test_blender_opens_its_presets_with_the_same_joints(
    blender: Path, results: dict[str, Motion], exports: Exports, tmp_path: Path
) -> None:
    spec = importlib.util.spec_from_file_location(
        "test_blender", Path(__file__).with_name("test_blender.py")
    )
    assert spec and spec.loader
    judge = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = judge  # its dataclasses look their module up
    spec.loader.exec_module(judge)
    verified = [name for name, preset in PRESETS.items() if preset.verified]
    assert verified
    cases = {
        f"{room} {preset}": judge.Case(exported(exports, motion, preset), motion)
        for room, motion in results.items()
        for preset in verified
    }
    told = judge.asked(blender, cases, tmp_path)
    for name, case in cases.items():
        assert judge.worst_gap_m(case, told[name]) < JUDGE_M, name


SCRIPT = """
import { AnimationMixer, Vector3 } from "three";
import { GLTFLoader } from "three/examples/jsm/loaders/GLTFLoader.js";
window.jointsOf = async (text, times) => {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const file = await new GLTFLoader().parseAsync(bytes.buffer, "");
  const mixer = new AnimationMixer(file.scene);
  mixer.clipAction(file.animations[0]).play();
  return times.map((time) => {
    mixer.setTime(time);
    file.scene.updateMatrixWorld(true);
    const places = {};
    file.scene.traverse((node) => {
      places[node.userData.name ?? node.name] = node.getWorldPosition(new Vector3()).toArray();
    });
    return places;
  });
};
"""


@pytest.fixture(scope="module")
def three_page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """An empty page with three.js and its glTF loader."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    spec = importlib.util.spec_from_file_location("judges", ROOT / "tests/judges/judges.py")
    assert spec and spec.loader
    judges = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(judges)
    chromium, node = judges.find_chromium(), judges.find_node()
    if chromium is None or node is None or not (MODULES / "three").is_dir():
        pytest.skip("chromium, node or the page's packages not found; python hatch_build.py")
    import subprocess

    folder = tmp_path_factory.mktemp("three")
    source, bundle = MODULES.parent / ".three_judge.js", folder / "judge.js"
    source.write_text(SCRIPT)
    try:
        tool = MODULES / "esbuild" / "bin" / "esbuild"
        command = [str(tool), str(source), "--bundle", "--format=iife", f"--outfile={bundle}"]
        subprocess.run(command, check=True, capture_output=True, timeout=120)
    finally:
        source.unlink()
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=str(chromium), args=["--no-sandbox"])
        page = browser.new_page()
        page.add_script_tag(path=str(bundle))
        yield page
        browser.close()


@pytest.mark.parametrize("room", ["transition", "blend", "splice"])
def test_three_js_opens_a_glb_with_the_same_joints(
    three_page: Any, results: dict[str, Motion], exports: Exports, room: str
) -> None:
    motion = results[room]
    text = base64.b64encode(exported(exports, motion, "godot").read_bytes()).decode()
    frames = looked_at(motion)
    # Three.js wraps a time at the very end of a clip round to its start: one is taken just before.
    times = [min(f / motion.fps, motion.duration_s - 1e-6) for f in frames]
    said = three_page.evaluate(
        "async ([text, times]) => JSON.stringify(await jointsOf(text, times))", [text, times]
    )
    positions = motion.world_positions()
    for frame, places in zip(frames, json.loads(said), strict=True):
        for joint, name in enumerate(motion.skeleton.names):
            np.testing.assert_allclose(places[name], positions[frame, joint], atol=JUDGE_M)


def test_the_unverified_presets_write_what_the_verified_one_writes(
    results: dict[str, Motion], exports: Exports
) -> None:
    files = {
        name: exported(exports, results["splice"], name).read_bytes()
        for name, preset in PRESETS.items()
        if preset.format == "glb"
    }
    assert len(set(files.values())) == 1
