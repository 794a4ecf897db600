"""A newcomer makes one of everything with what is on screen; other programs open all of it."""

from __future__ import annotations

import base64
import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest

import motionloom as ml
from motionloom.body.body_map import BodyMap
from motionloom.studio.clips.stage_clip import show_motion
from motionloom.studio.server.server import Studio

pytestmark = [pytest.mark.judge, pytest.mark.slow]

JUDGE_M = 1e-4
"""Blender and three.js compute in float32; BVH is text."""
ROOT = Path(__file__).resolve().parents[2]
MODULES = ROOT / "build/page/src/motionloom/studio/client/node_modules"
PRESETS = ("preset:blender", "preset:blender-bvh")
TABS = ("transition", "blend", "splice", "table")
FRAMES = 4
BUILD_S = 60.0
"""A build takes seconds; on a busy machine much longer."""


@pytest.fixture(scope="module")
def newcomers_clips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("newcomer") / "clips"
    folder.mkdir()
    for kind in ("walk", "run", "wave"):
        ml.save(ml.synthetic.clip(kind, duration_s=2.5).motion, folder / f"{kind}.bvh")
    (folder / "labels.csv").write_text("clip,label\nwalk,slow\nrun,fast\n")
    return folder


def test_a_newcomer_makes_one_of_each_and_other_programs_open_them(
    open_screen: Any,
    served_studio: Any,
    blender: Path,
    blender_judge: Any,
    three_page: Any,
    newcomers_clips: Path,
    tmp_path: Path,
) -> None:
    files: dict[str, dict[str, Path]] = {}
    shown: dict[str, np.ndarray] = {}
    studio = Studio(newcomers_clips, project=tmp_path / "project.json")
    with served_studio(studio), open_screen(studio) as screen:
        page = screen.page

        def take_away(tab: str) -> None:
            screen.wait_for_result(tab)
            screen.picture(f"newcomer-{tab}")
            (tmp_path / tab).mkdir()
            files[tab] = {preset: screen.export(preset, tmp_path / tab) for preset in PRESETS}
            shown[tab] = screen.points(tab)

        # A transition: two clips are picked, and it is there.
        page.click('.clip:has-text("walk")')
        page.click('.clip:has-text("run")')
        take_away("transition")
        # A blend of the same: the mix is set on the pad.
        page.click("role=tab[name=Blend]")
        screen.wait_for_result("blend")
        box = page.locator(".pad").bounding_box()
        page.mouse.click(box["x"] + 0.6 * box["width"], box["y"] + 0.5 * box["height"])
        screen.until("studio.store.project.blend.weights[1] > 0.5")
        take_away("blend")
        # A splice: another clip's arms, pointed at on the figure.
        page.click("role=tab[name=Splice]")
        for clip, slot in (("wave", "A"), ("walk", "B")):
            row = page.locator(".clip", has_text=clip)
            row.hover()
            row.get_by_role("button", name=slot, exact=True).click()
        screen.wait_for_result("splice")
        page.click("[data-piece=left_arm]")
        page.click("[data-piece=right_arm]")
        screen.until("studio.store.project.splice.where === 'arms'")
        take_away("splice")
        # A table is built, asked, played and judged.
        page.click("role=tab[name=Table]")
        page.fill("[aria-label=clusters]", "6")
        page.fill("[aria-label=seconds]", "0.5")
        page.click("text=Build the table")
        page.wait_for_selector("[role=progressbar]")
        page.wait_for_selector(".tab-panel.table .grid", timeout=1000 * BUILD_S)
        screen.wait_for_result("table")
        assert "naturalness" in page.inner_text("#why")
        assert "motionloom table synthesize" in page.inner_text("#why")
        box = page.locator(".tab-panel.table .grid").bounding_box()
        page.mouse.click(box["x"] + 0.3 * box["width"], box["y"] + 0.7 * box["height"])
        screen.until("studio.store.project.table.from !== null")
        take_away("table")
        play_live(screen)
        judge(screen, studio)
    reopened = {
        tab: {preset: ml.load(file) for preset, file in made.items()} for tab, made in files.items()
    }
    for tab, made in reopened.items():
        for motion in made.values():
            body = BodyMap.guess(motion.skeleton, motion=motion)
            points = show_motion(motion, None, body)[1]["points"]
            np.testing.assert_allclose(points, shown[tab], atol=JUDGE_M)
    cases = {
        f"{tab} {preset}": blender_judge.Case(files[tab][preset], motion)
        for tab, made in reopened.items()
        for preset, motion in made.items()
    }
    in_blender = blender_judge.asked(blender, cases, tmp_path)
    for name, case in cases.items():
        assert blender_judge.worst_gap_m(case, in_blender[name]) < JUDGE_M, name
    for tab in TABS:
        check_in_three(three_page, files[tab][PRESETS[0]], reopened[tab][PRESETS[0]])


def play_live(screen: Any) -> None:
    """A live character goes where a key sends it."""
    screen.page.click(".tab-panel.table button:has-text('Live')")
    screen.until("!!studio.store.scene.live")
    first = screen.page.evaluate("studio.store.scene.live.points[0]")
    screen.page.keyboard.press("1")  # goes to the first label, not to the first tab
    screen.until(f"studio.store.scene.live.points[0] !== {first}")
    assert screen.page.get_attribute("role=tab[name=Table]", "aria-selected") == "true"


def judge(screen: Any, studio: Studio) -> None:
    """A transition is called natural, and the next one comes."""
    screen.page.click(".tab-panel.table button:has-text('Label')")
    screen.page.fill(".rater", "ada")
    screen.page.keyboard.press("Enter")
    screen.until("studio.store.scene.results.table?.answer.detail.rating?.number === 1")
    screen.page.keyboard.press("n")
    screen.until("studio.store.scene.results.table?.answer.detail.rating?.number === 2")
    assert screen.page.get_attribute(".stage-canvas", "data-actors") == "1"  # nothing leads the eye
    screen.page.keyboard.press("b")  # thought again
    screen.until("studio.store.scene.results.table?.answer.detail.rating?.number === 1")
    screen.page.keyboard.press("u")
    screen.until("studio.store.scene.results.table?.answer.detail.rating?.number === 2")
    verdicts = studio.tables.current().verdicts.read_text().splitlines()[1:]
    assert [line.split(",")[1:] for line in verdicts] == [["0", "ada"]]


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


@pytest.fixture
def three_page(
    browser: Any, tmp_path: Path, page_lacks: Callable[[str], NoReturn]
) -> Iterator[Any]:
    """An empty page with three.js and its glTF loader."""
    tool = MODULES / "esbuild" / "bin" / "esbuild"
    if not tool.is_file():
        page_lacks("the page's packages are not here: python hatch_build.py, on a fresh checkout")
    source, bundle = tmp_path / "judge_source.js", tmp_path / "judge.js"
    source.write_text(SCRIPT)
    command = [str(tool), str(source), "--bundle", "--format=iife", f"--outfile={bundle}"]
    where = os.environ | {"NODE_PATH": str(MODULES)}
    subprocess.run(command, check=True, capture_output=True, timeout=120, env=where)
    page = browser.new_page()
    page.add_script_tag(path=str(bundle))
    yield page
    page.close()


def check_in_three(page: Any, file: Path, motion: ml.Motion) -> None:
    """Three.js opens a GLB and finds every joint where we have it."""
    frames = np.linspace(0, motion.n_frames - 1, FRAMES).astype(int).tolist()
    # Three.js wraps a time at the very end of a clip round to its start: one is taken just before.
    times = [min(f / motion.fps, motion.duration_s - 1e-6) for f in frames]
    text = base64.b64encode(file.read_bytes()).decode()
    joints_json = page.evaluate(
        "async ([text, times]) => JSON.stringify(await jointsOf(text, times))", [text, times]
    )
    positions = motion.world_positions()
    for frame, places in zip(frames, json.loads(joints_json), strict=True):
        for joint, name in enumerate(motion.skeleton.names):
            np.testing.assert_allclose(places[name], positions[frame, joint], atol=JUDGE_M)
