from __future__ import annotations

import numpy as np
import pytest

from motionloom.intake.floor import LegTracks, fit_floor, floor_finding

FPS = 60.0
EXACT_M = 1e-4
NOISY_M = 0.003


def steps(
    heights: list[float],
    *,
    slope: tuple[float, float] = (0.0, 0.0),
    apart: float = 0.0,
    heading: tuple[float, float] = (0.0, 1.0),
    noise: float = 0.0,
) -> LegTracks:
    """Two feet that take turns: stand for half a second, then fly to the next place in 0.3 s."""
    stand, fly = 30, 18
    along, across = np.array(heading), np.array([heading[1], -heading[0]])
    n = (stand + fly) * len(heights)
    balls = np.zeros((n, 2, 3))
    for foot, sign in enumerate((1.0, -1.0)):
        for i in range(len(heights)):
            first = i * (stand + fly)
            own = i + 0.5 * foot
            ground = 0.7 * own * along + 0.1 * sign * across
            nxt = 0.7 * (own + 1) * along + 0.1 * sign * across
            up = min(i + 1, len(heights) - 1)
            share = np.linspace(0, 1, fly)[:, None]
            place = np.concatenate([np.tile(ground, (stand, 1)), ground + share * (nxt - ground)])
            height = np.concatenate(
                [
                    np.full(stand, heights[i]),
                    heights[i]
                    + share[:, 0] * (heights[up] - heights[i])
                    + 0.15 * np.sin(np.pi * share[:, 0]),
                ]
            )
            span = slice(first, first + stand + fly)
            balls[span, foot, 0], balls[span, foot, 2] = place[:, 0], place[:, 1]
            balls[span, foot, 1] = height + slope[0] * place[:, 0] + slope[1] * place[:, 1]
            balls[span, foot, 1] += sign * apart
    rng = np.random.Generator(np.random.PCG64(5))
    balls = balls + noise * rng.normal(size=balls.shape)
    pelvis = balls.mean(axis=1) + np.array([0.0, 0.9, 0.0])
    return LegTracks(FPS, 1, pelvis, balls + np.array([0.0, 0.04, -0.13]), balls)


def test_a_level_floor_is_found_at_its_height() -> None:
    floor, elsewhere = fitted(steps([0.04] * 6))
    assert floor.left_height == pytest.approx(0.04, abs=EXACT_M)
    assert floor.right_height == pytest.approx(0.04, abs=EXACT_M)
    assert (floor.slope_x, floor.slope_z) == pytest.approx((0.0, 0.0), abs=1e-4)
    assert floor.residual < EXACT_M
    assert elsewhere == 0


def test_a_tilt_along_the_path_is_found() -> None:
    floor, _ = fitted(steps([0.03] * 10, slope=(0.0, 0.007)))
    assert floor.slope_z == pytest.approx(0.007, rel=0.1)
    assert floor.slope_x == pytest.approx(0.0, abs=1e-4)


def test_a_difference_of_the_feet_is_mostly_found_and_is_no_tilt() -> None:
    floor, _ = fitted(steps([0.03] * 10, apart=0.005))
    assert floor.left_height - floor.right_height == pytest.approx(0.010, abs=0.002)
    assert np.hypot(floor.slope_x, floor.slope_z) < 0.002


def test_a_tilt_across_a_straight_path_is_not_made_up_from_noise() -> None:
    # Unregularised, 5 mm of scatter between feet 20 cm apart is a tilt of more than a degree.
    floor, _ = fitted(steps([0.03] * 5, noise=0.004))
    assert abs(floor.slope_x) < 0.004
    assert floor.height == pytest.approx(0.03, abs=NOISY_M)


def test_stairs_do_not_tilt_the_floor() -> None:
    floor, elsewhere = fitted(steps([0.05] * 5 + [0.24, 0.44, 0.24] + [0.05] * 4))
    assert floor.height == pytest.approx(0.05, abs=NOISY_M)
    assert elsewhere == 6
    assert np.hypot(floor.slope_x, floor.slope_z) < 0.002


def test_a_foot_that_walks_in_place_stands_at_its_lowest() -> None:
    t = np.arange(240) / FPS
    phase = 2 * np.pi * t[:, None] + np.array([0.0, np.pi])
    balls = np.zeros((240, 2, 3))
    balls[..., 2] = 0.35 * np.cos(phase)
    balls[..., 1] = 0.02 + np.maximum(0.0, 0.2 * np.sin(phase))
    tracks = LegTracks(FPS, 1, np.zeros((240, 3)), balls + 0.05, balls)
    floor, elsewhere = fitted(tracks)
    assert floor.height == pytest.approx(0.02, abs=EXACT_M)
    assert elsewhere == 0


def test_one_frame_shows_no_floor() -> None:
    tracks = steps([0.04] * 2)
    one = LegTracks(FPS, 1, tracks.pelvis[:1], tracks.ankles[:1], tracks.balls[:1])
    assert fit_floor(one) is None


@pytest.mark.parametrize("n", [2, 3, 5, 8])
def test_very_short_clips_do_no_harm(n: int) -> None:
    tracks = steps([0.04] * 2)
    few = LegTracks(FPS, 1, tracks.pelvis[:n], tracks.ankles[:n], tracks.balls[:n])
    assert fitted(few)[0].height == pytest.approx(0.04, abs=EXACT_M)


def test_the_finding_has_both_heights_and_what_to_do() -> None:
    tracks = steps([0.05] * 6 + [0.3])
    floor, elsewhere = fitted(tracks)
    finding = floor_finding(floor, elsewhere, tracks)
    assert finding.level == "note"
    assert "5.0 cm (left) and 5.0 cm (right)" in finding.problem
    assert "ml.ground" in finding.fix


def fitted(tracks: LegTracks):
    found = fit_floor(tracks)
    assert found is not None
    return found
