"""What copied frames allow, and that it is no more than the source does in these very frames."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import motionloom as ml
from motionloom.features.checks.quality_check import QualityCheck
from motionloom.features.checks.source_limits import (
    COPIED_MORE,
    DRAGGED_MORE,
    SINK,
    check_rig,
    copied_grounds,
    mixed_floors,
    series_of,
)
from motionloom.motion.provenance import Copy, Provenance

FPS = 60.0
FLOAT64 = 1e-9
LIMITS = [SimpleNamespace(floor=np.zeros(4))]


@pytest.fixture(scope="module")
def walk() -> ml.Motion:
    return ml.synthetic.clip("walk", duration_s=4.0, fps=FPS).motion


def test_planted_points_may_be_as_low_as_in_the_frames_around(walk) -> None:
    soles = series_of(check_rig(walk), walk).soles
    planted = np.zeros((40, 4), dtype=bool)
    planted[10:20, 1] = True
    series = [series_of(check_rig(walk), walk)]
    grounds = copied_grounds(series, [Copy(0, 39, 0, 100)], planted, LIMITS, FPS)
    near = 6
    for t in range(10, 20):
        lowest = soles[100 + t - near : 100 + t + near + 1, 1, 1].min()
        assert abs(grounds[t, 1, 0] - (lowest - SINK)) < FLOAT64
    assert np.isneginf(grounds[:, :4][~planted, 0]).all()
    box = np.ptp(soles[110:120, 1][:, [0, 2]], axis=0)
    assert abs(grounds[10, 1, 1] - COPIED_MORE * np.hypot(*box)) < FLOAT64


def test_a_contact_that_is_copied_in_part_is_compared_with_the_clip(walk) -> None:
    planted = np.zeros((40, 4), dtype=bool)
    planted[10:20, 1] = True
    series = [series_of(check_rig(walk), walk)]
    grounds = copied_grounds(series, [Copy(0, 14, 0, 100)], planted, LIMITS, FPS)
    assert np.isposinf(grounds[..., 1]).all()
    assert np.isfinite(grounds[10:15, 1, 0]).all()
    assert np.isneginf(grounds[15:, 1, 0]).all()


def test_without_copied_frames_there_is_nothing_to_compare_with() -> None:
    assert copied_grounds([], [], np.zeros((9, 4), dtype=bool), LIMITS, FPS).shape == (0, 6, 5)


def test_a_clip_that_sinks_once_does_not_license_sinking_in_copied_frames(walk) -> None:
    """The source goes down by 6 cm at its end; a stance before that sinks 4 cm is found."""
    n = walk.n_frames
    plants = ml.detect_footplants(walk)
    root = np.array(walk.root_positions)
    root[:, 1] -= np.interp(np.arange(n), [n - 60, n - 30], [0.0, 0.06])
    source = walk.replace(root_positions=root)
    first = next(a for a, b in plants.intervals()["left_toe"] if a > 10 and b < n - 70)
    sunk = np.array(root)
    sunk[first : first + 15, 1] -= 0.04
    check = QualityCheck([source], footplants=[plants])
    made = source.replace(root_positions=sunk)
    whole = Provenance.of_edit("walk", FPS, 0, n)

    def soles(provenance: Provenance | None) -> bool:
        found = check.verify(made, footplants=plants, provenance=provenance)
        return any(each.check == "sole below the floor" for each in found.failed)

    assert not soles(None)
    assert soles(whole)
    assert check.verify(source, footplants=plants, provenance=whole).passed


def test_a_foot_that_is_dragged_in_copied_frames_fails_though_the_clip_drags_it_elsewhere(
    walk,
) -> None:
    """The clip scuffs its left ball for 20 cm once; a stance that is scuffed 15 cm is found."""
    check = QualityCheck([walk])
    series, whole = series_of(check_rig(walk), walk), [Copy(0, walk.n_frames - 1, 0, 0)]
    soles = np.array(series.soles)
    soles[..., 1] = 1.0
    soles[20:40, 1, 1] = 0.0
    soles[20:40, 1, 0] = np.linspace(0.0, 0.2, 20)
    dragged = copied_grounds(
        [series._replace(soles=soles)], whole, np.zeros((walk.n_frames, 4), bool), LIMITS, FPS
    )[:, 1, 2]
    near = 6
    assert dragged[21 - near : 40 + near].tolist() == pytest.approx(
        [DRAGGED_MORE * 0.2] * (19 + 2 * near)
    )
    assert not dragged[: 21 - near].any()
    assert not dragged[40 + near :].any()
    edit = Provenance.of_edit("walk", FPS, 0, walk.n_frames)
    assert check.verify(walk, provenance=edit).passed


def test_floors_are_those_of_the_sources_by_their_weights(walk) -> None:
    low = QualityCheck([walk]).limits_for(walk)
    high = low._replace(floor=low.floor + 0.2, highest=low.highest + 0.2)
    part = np.array([0.0, 0.0, 0.25, 0.5, 0.75, 1.0])[:, None]
    floors = mixed_floors([low, high], np.concatenate([1.0 - part, part], axis=1))
    assert np.abs(floors[:, 0] - (low.floor + 0.2 * part)).max() < FLOAT64
    # Between the two a foot may stand on the higher one to the end.
    stands = np.where((part > 0.0) & (part < 0.75), 0.15, 0.2 * part)
    assert np.abs(floors[:, 1] - (low.highest + stands)).max() < FLOAT64
