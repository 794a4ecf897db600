"""A real browser steers a blend, records it, points at a body part, and exports what it made."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import motionloom as ml
from motionloom.studio.server import Studio

pytestmark = [pytest.mark.judge, pytest.mark.slow]

WAIT_MS = 90_000


@pytest.fixture(scope="module")
def page(browser: Any, studio: Studio) -> Iterator[Any]:
    """One page for all of these; its console must stay quiet."""
    studio.project.path.unlink(missing_ok=True)
    context = browser.new_context(viewport={"width": 1280, "height": 800}, accept_downloads=True)
    made = context.new_page()
    said: list[str] = []
    made.on("console", lambda message: said.append(f"{message.type}: {message.text}"))
    made.on("pageerror", lambda error: said.append(f"error: {error}"))
    made.set_default_timeout(WAIT_MS)
    made.goto(studio.address)
    made.wait_for_selector("html[data-studio=ready]", timeout=WAIT_MS)
    made.keyboard.press("Space")  # software rendering is slow; a stage at rest costs nothing
    yield made
    context.close()
    faults = [text for text in said if text.startswith(("error", "warning"))]
    assert [text for text in faults if "GPU stall" not in text] == []


def until(page: Any, expression: str) -> None:
    end = time.monotonic() + WAIT_MS / 1000
    while not page.evaluate(expression):
        assert time.monotonic() < end, f"never true: {expression}"
        page.wait_for_timeout(100)


def exported(page: Any, tmp_path: Path, choice: str) -> Path:
    page.select_option(".export-format", choice)
    with page.expect_download(timeout=WAIT_MS) as waiting:
        page.click(".export .primary")
    target = tmp_path / waiting.value.suggested_filename
    waiting.value.save_as(target)
    return target


def test_a_hand_mixes_steers_and_records_a_blend(page: Any, tmp_path: Path) -> None:
    page.click('.clip:has-text("walk")')
    page.click('.clip:has-text("jog")')
    page.click("[data-room=blend]")
    until(page, "!!studio.store.scene.made.blend && !studio.store.scene.busy")
    box = page.query_selector(".pad").bounding_box()
    middle = box["y"] + box["height"] / 2
    page.mouse.click(box["x"] + 0.6 * box["width"], middle)
    until(page, "studio.store.project.blend.weights[1] > 0.5 && !studio.store.scene.busy")
    assert "motionloom blend" in page.inner_text(".why-code")
    page.click("text=● record")
    until(page, "!!studio.store.scene.live")
    until(page, "document.querySelector('.stage-canvas').dataset.actors === '1'")
    first = page.evaluate("[...studio.store.scene.live.points.slice(0, 3)]")
    page.mouse.click(box["x"] + 0.3 * box["width"], middle)
    until(page, f"Math.abs(studio.store.scene.live.points[2] - {first[2]}) > 0.5")  # it walks on
    page.click("text=■ keep")
    until(page, "studio.store.scene.made.blend?.answer.detail.recorded > 10")
    assert "weights.csv" in page.inner_text(".recorded")
    until(page, "document.querySelector('.stage-canvas').dataset.actors === '3'")
    made = ml.load(exported(page, tmp_path, "preset:blender"))
    assert made.n_frames == page.evaluate("studio.store.scene.made.blend.motion.frames")


def test_a_hand_points_at_an_arm_and_compares_the_methods(page: Any, tmp_path: Path) -> None:
    page.evaluate("studio.store.decide('', { room: 'splice', a: 'wave', b: 'walk' })")
    until(page, "!!studio.store.scene.made.splice && !studio.store.scene.busy")
    page.click("[data-piece=left_arm]")
    page.click("[data-piece=right_arm]")
    until(page, "studio.store.project.splice.where === 'arms' && !studio.store.scene.busy")
    assert "--where arms" in page.inner_text(".why-code")
    page.click("text=compare all four")
    until(page, "studio.store.scene.made.splice.sources.length === 3 && !studio.store.scene.busy")
    assert page.inner_text(".pane-names").split("\n")[-1] == "full: the result"
    made = ml.load(exported(page, tmp_path, "bvh"))
    legs = ml.synthetic.clip("walk").motion
    np.testing.assert_allclose(made.root_positions, legs.root_positions[: made.n_frames], atol=1e-4)
    assert exported(page, tmp_path, "picture:png").read_bytes().startswith(b"\x89PNG")
