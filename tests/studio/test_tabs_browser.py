"""A real browser steers a blend, records it, points at a body part, and compares methods."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import motionloom as ml
from motionloom.studio.server.server import Studio

pytestmark = [pytest.mark.judge, pytest.mark.slow]

WALKED_M = 0.3


@pytest.fixture(scope="module")
def screen(open_screen: Any, studio: Studio) -> Iterator[Any]:
    """One page for all of these."""
    with open_screen(studio) as screen:
        yield screen


def test_a_hand_mixes_steers_and_records_a_blend(screen: Any, tmp_path: Path) -> None:
    page = screen.page
    page.evaluate("studio.store.commit('', { tab: 'blend', a: 'walk', b: 'jog' })")
    screen.wait_for_result("blend")
    box = page.query_selector(".pad").bounding_box()
    middle = box["y"] + box["height"] / 2
    page.mouse.click(box["x"] + 0.6 * box["width"], middle)
    screen.until("studio.store.project.blend.weights[1] > 0.5")
    screen.wait_for_result("blend")
    assert "motionloom blend" in page.inner_text(".why-code")
    page.click("text=● record")
    screen.until("!!studio.store.scene.live")
    screen.until("document.querySelector('.stage-canvas').dataset.actors === '1'")
    first = page.evaluate("studio.store.scene.live.points[2]")
    page.mouse.click(box["x"] + 0.3 * box["width"], middle)
    screen.until(f"Math.abs(studio.store.scene.live.points[2] - {first}) > {WALKED_M}")
    page.click("text=■ keep")
    screen.until("studio.store.scene.results.blend?.answer.detail.recorded > 10")
    assert "weights.csv" in page.inner_text(".recorded")
    screen.until("document.querySelector('.stage-canvas').dataset.actors === '3'")
    made = ml.load(screen.export("preset:blender", tmp_path))
    assert made.n_frames == page.evaluate("studio.store.scene.results.blend.motion.frames")


def test_a_hand_points_at_an_arm_and_compares_the_methods(screen: Any, tmp_path: Path) -> None:
    page = screen.page
    page.evaluate("studio.store.commit('', { tab: 'splice', a: 'wave', b: 'walk' })")
    screen.wait_for_result("splice")
    page.click("[data-piece=left_arm]")
    page.click("[data-piece=right_arm]")
    screen.until("studio.store.project.splice.where === 'arms'")
    screen.wait_for_result("splice")
    assert "--where arms" in page.inner_text(".why-code")
    page.click("text=compare all four")
    screen.until("studio.store.scene.results.splice?.sources.length === 3")
    names = page.inner_text(".pane-names").split("\n")
    assert names == ["naive", "time", "time+space", "full: the result"]
    made = ml.load(screen.export("bvh", tmp_path))
    legs = ml.synthetic.clip("walk").motion
    np.testing.assert_allclose(made.root_positions, legs.root_positions[: made.n_frames], atol=1e-4)
    assert screen.export("picture:png", tmp_path).read_bytes().startswith(b"\x89PNG")
