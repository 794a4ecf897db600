"""Feet that stand move as in their windows, and the root goes by them."""

from __future__ import annotations

import numpy as np
import pytest

import motionloom as ml
from motionloom._core import kernel
from motionloom.motion.motion import Footplants
from motionloom.tables.collection.frames import frames_of
from motionloom.tables.score.recipe import Recipe
from motionloom.tables.synthesis.synthesis import (
    blend_record,
    chain_pose,
    rig_of,
    rows_of,
    sole_points,
    synthesize,
)
from tests.oracles import sway as plain

LENGTH, TIGHT = 40, 1e-9


@pytest.fixture(scope="module")
def frames():
    """Clips whose feet are not still where they stand."""
    rng = np.random.Generator(np.random.PCG64(5))
    clips, plants = [], []
    for name in ("walk", "sneak"):
        clip = ml.synthetic.clip(name)
        drift = np.cumsum(rng.normal(0.0, 2e-4, (clip.motion.n_frames, 3)), axis=0)
        drift[:, 1] = 0.0
        root = np.asarray(clip.motion.root_positions) + drift
        clips.append(clip.motion.replace(root_positions=root, name=name))
        plants.append(Footplants(ml.detect_footplants(clip.motion).planted))
    return frames_of(clips, footplants=plants)


@pytest.fixture(scope="module")
def windows(frames):
    first, second = frames.row_of("walk", 12), frames.row_of("sneak", 30)
    at = np.stack([first + np.arange(LENGTH), second + np.arange(LENGTH)], axis=1)
    weights = np.stack([np.full(LENGTH, 0.6), np.full(LENGTH, 0.4)])
    return at, weights, frames.heading[at[:, 0]] + 0.3


def test_sway_is_that_of_the_plain_form(frames, windows):
    at, weights, psi = windows
    rows, rng = rows_of(frames), np.random.Generator(np.random.PCG64(1))
    two = np.repeat([0, -1, 2], [14, 10, 16])
    one = np.repeat([-1, 4, -1], [9, 20, 11])
    for side, held in ((0, two), (1, one), (0, np.zeros(LENGTH))):
        held = held.astype(np.int64)
        foot, places = rng.normal(size=(2, LENGTH, 3))
        expected = plain.add_sway(rows, side, at, weights, psi, 60.0, held, foot, places)
        scratch = np.zeros((3, LENGTH))
        blend = blend_record(rows, at, weights, 60.0, 5.0)
        kernel("ml_sway_add")(blend, side, psi, held, foot, scratch, places)
        assert np.abs(places - expected).max() < TIGHT


@pytest.mark.parametrize("part", [1.0, 0.4])
def test_the_root_is_that_of_the_plain_form(frames, windows, part):
    at, weights, psi = windows
    rows, rng = rows_of(frames), np.random.Generator(np.random.PCG64(2))
    points = np.cumsum(rng.normal(0.0, 0.01, (LENGTH, 4, 3)), axis=0)
    root = rng.normal(size=(LENGTH, 3))
    expected = plain.follow_feet(rows, at, weights, psi, 60.0, part, points, root)
    scratch = np.zeros((3, LENGTH))
    blend = blend_record(rows, at, weights, 60.0, 5.0)
    kernel("ml_tread_follow")(blend, psi, part, points, scratch, root)
    assert np.abs(root - expected).max() < TIGHT


def test_held_feet_of_a_pinned_window_move_as_captured(frames):
    rig, row = rig_of(frames), frames.row_of("walk", 12)
    made = synthesize(frames, Recipe((row, row, row), LENGTH, pinned=True), rig=rig)
    captured = frames.motion(row, row + LENGTH - 1)
    soles = [
        sole_points(rig, *chain_pose(rig, root, quats))
        for root, quats in (
            (made.root_positions, made.local_quats),
            (np.array(captured.root_positions), np.array(captured.local_quats)),
        )
    ]
    stands = made.planted[1:] & made.planted[:-1]
    steps = [np.linalg.norm(np.diff(points, axis=0), axis=-1)[stands] for points in soles]
    assert stands.sum() > 30
    assert np.median(steps[0]) == pytest.approx(np.median(steps[1]), rel=0.25)
    assert np.median(steps[0]) > 1e-4  # not nailed to the floor
