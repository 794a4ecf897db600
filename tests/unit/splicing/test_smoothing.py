"""Smoothed rotations: what they keep, what they remove, and what they may not depend on."""

import numpy as np
import pytest

from motionloom.errors import ArrayError
from motionloom.features.glitches.glitch_frames import find_twitches
from motionloom.rotation import quat
from motionloom.splicing.smoothing import _local_fit, smooth_points, smooth_rotations, without_sway
from tests.oracles import smoothing as plain

FLOAT64 = 1e-12
FPS = 120.0
RNG = np.random.Generator(np.random.PCG64(11))
SWAY = {"half_width_s": 0.1, "degree": 2}


def swing(hertz, degrees, n_frames=240, fps=FPS):
    """A swing about one axis."""
    angle = np.radians(degrees) * np.sin(2.0 * np.pi * hertz * np.arange(n_frames) / fps)
    return quat.from_axis_angle(np.array([0.0, 1.0, 0.0]), angle)


def twitched(quats, first, n_frames, degrees):
    out = np.array(quats)
    by = quat.from_axis_angle(np.array([1.0, 0.0, 0.0]), np.radians(degrees))
    out[first : first + n_frames] = quat.multiply(by, out[first : first + n_frames])
    return out


def apart(a, b):
    return float(np.degrees(quat.angle_between(a, b)).max())


@pytest.mark.parametrize("n_frames", [1, 2, 3, 5, 40])
@pytest.mark.parametrize("degree", [0, 1, 2])
@pytest.mark.parametrize("half", [2, 6])
def test_the_kernel_is_the_plain_form(n_frames, degree, half):
    degree = min(degree, n_frames - 1)
    values, weights = RNG.normal(size=(n_frames, 4)), RNG.uniform(0.2, 1.0, size=n_frames)
    ours, wanted = (f(values, weights, half, degree) for f in (_local_fit, plain.local_fit))
    assert np.allclose(ours, wanted, atol=FLOAT64, rtol=0.0)


def test_points_are_smoothed_as_by_the_plain_form_whatever_their_layout():
    points = RNG.normal(size=(3, 50)).T
    wanted = plain.local_fit(points, np.ones(50), 12, 2)
    ours = smooth_points(points, FPS, half_width_s=0.1, degree=2)
    assert np.allclose(ours, wanted, atol=FLOAT64, rtol=0.0)
    wide = smooth_points(points, FPS, half_width_s=1e9, degree=2)
    assert np.allclose(wide, plain.local_fit(points, np.ones(50), 50, 2), atol=FLOAT64, rtol=0.0)


def test_no_frames_are_smoothed_to_none():
    assert smooth_points(np.zeros((0, 3)), FPS, half_width_s=0.1, degree=2).shape == (0, 3)


def test_a_degree_that_is_not_known_is_refused():
    with pytest.raises(ArrayError, match="sizes do not fit"):
        _local_fit(np.zeros((9, 3)), np.ones(9), 3, 3)


def test_a_line_and_a_parabola_are_their_own_fits_away_from_the_ends():
    t = np.linspace(-1.0, 1.0, 60)[:, None]
    line, parabola = 2.0 + 3.0 * t, 1.0 - t + 4.0 * t**2
    ones = np.ones(60)
    assert np.allclose(plain.local_fit(line, ones, 8, 1), line, atol=FLOAT64)
    inside = plain.local_fit(parabola, ones, 8, 2)[8:-8]
    assert np.allclose(inside, parabola[8:-8], atol=FLOAT64)


@pytest.mark.parametrize(
    ("hertz", "least", "most"), [(1, 0.99, 1.01), (3, 0.98, 1.0), (15, 0, 0.15)]
)
def test_the_gaits_frequencies_are_kept_and_noise_is_not(hertz, least, most):
    smooth = smooth_rotations(swing(hertz, 8.0), FPS, **SWAY)[20:-20]
    size = np.degrees(quat.angle_between(smooth, quat.IDENTITY)).max() / 8.0
    assert least <= size <= most


def test_a_constant_rotation_stays_as_it_is():
    still = np.broadcast_to(quat.normalize(RNG.normal(size=4)), (50, 4))
    assert apart(smooth_rotations(still, FPS, **SWAY), still) < 1e-6


def test_turning_the_rotations_turns_the_result_from_either_side():
    quats = twitched(swing(2.0, 10.0), 70, 1, 15.0)
    before, after = quat.normalize(RNG.normal(size=(2, 4)))
    plain = smooth_rotations(quats, FPS, **SWAY)
    turned = quat.multiply(quat.multiply(before, quats), after)
    expected = quat.multiply(quat.multiply(before, plain), after)
    assert apart(smooth_rotations(turned, FPS, **SWAY), expected) < 1e-6


def test_signs_of_quaternions_do_not_matter():
    quats = swing(2.0, 10.0)
    signs = RNG.choice([-1.0, 1.0], size=(len(quats), 1))
    assert apart(*(smooth_rotations(q, FPS, **SWAY) for q in (quats, signs * quats))) < 1e-6


def test_ignored_frames_are_interpolated():
    quats = swing(1.0, 10.0)
    ignored = np.zeros(len(quats), bool)
    ignored[70:74] = True
    wrong = twitched(quats, 70, 4, 90.0)
    bridged, corrupted = (smooth_rotations(wrong, FPS, ignored=i, **SWAY) for i in (ignored, None))
    assert apart(bridged[40:100], quats[40:100]) < 0.1
    assert apart(corrupted[40:100], quats[40:100]) > 10.0


def test_a_window_of_ignored_frames_only_still_gives_rotations():
    quats = swing(1.0, 10.0)
    smooth = smooth_rotations(quats, FPS, ignored=np.ones(len(quats), bool), **SWAY)
    assert apart(smooth, smooth_rotations(quats, FPS, **SWAY)) < 1e-6


@pytest.mark.parametrize(
    ("fps", "n_frames", "degrees"), [(120.0, 1, 8), (120.0, 3, 12), (60.0, 2, 15), (30.0, 1, 20)]
)
def test_a_twitch_is_found_in_its_frames_only(fps, n_frames, degrees):
    found = find_twitches(twitched(swing(1.5, 8.0, fps=fps), 50, n_frames, degrees), fps)
    assert np.flatnonzero(found).tolist() == list(range(50, 50 + n_frames))


def test_a_step_that_stays_is_no_twitch():
    step = twitched(swing(1.5, 8.0), 50, 190, 12.0)
    assert not find_twitches(step, FPS).any()


def test_a_quick_swing_is_no_twitch():
    assert not find_twitches(swing(5.0, 10.0, fps=30.0), 30.0).any()


@pytest.mark.parametrize("n_frames", [1, 2])
def test_too_few_frames_have_no_twitch(n_frames):
    assert not find_twitches(swing(1.0, 8.0, n_frames=n_frames), FPS).any()


@pytest.mark.parametrize("n_strides", [1.0, 1.6, 4.0])
def test_a_sway_is_removed_from_a_turn_over_its_first_period_too(n_strides):
    n_frames = int(n_strides * 2.4 * FPS) + 1
    seconds = np.arange(n_frames) / FPS
    angles = [np.radians(each) for each in (8.0 * seconds, 5.0 * np.sin(2 * np.pi * seconds / 2.4))]
    steady, swaying = (
        quat.from_axis_angle(np.array([0.0, 1.0, 0.0]), each) for each in (angles[0], sum(angles))
    )
    assert apart(without_sway(swaying, 2.4 * FPS), steady) < 0.35
    assert apart(without_sway(-swaying, 2.4 * FPS), steady) < 0.35
    assert apart(without_sway(steady, 2.4 * FPS), steady) < 0.35
