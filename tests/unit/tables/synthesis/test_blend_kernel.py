"""Blended rotations against weighted sums of quaternions written out."""

import numpy as np
import pytest

from motionloom._core import kernel
from motionloom.errors import ArrayError
from motionloom.rotation import quat
from motionloom.tables.synthesis.synthesis import Rows
from tests.oracles import blend_kernel as plain

FLOAT32 = 1e-6
N = 12
X, Y = np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0])


def rows_with(quats, heading=None, ground=None, body=None):
    n, n_joints = quats.shape[:2]
    return Rows(
        np.zeros(n) if heading is None else heading,
        np.zeros((n, 2)) if ground is None else ground,
        quats.astype(np.float32),
        np.zeros((n, n_joints, 3), dtype=np.float32) if body is None else body,
        np.zeros((n, 4, 3), dtype=np.float32),
        np.zeros((n, 4), dtype=bool),
    )


def rotations(rows, at, weights, psi):
    out = np.zeros((len(at), rows.quats.shape[1], 4))
    kernel("ml_mixture_rotations")(rows.record, *at.shape, at, weights, psi, out)
    return out


def blended(windows, weights, psi=None):
    """Windows (N, L, J, 4) one after another, blended."""
    rows = rows_with(np.concatenate(windows))
    at = np.arange(len(rows.quats)).reshape(len(windows), N).T.copy()
    return rotations(rows, at, weights, np.zeros(N) if psi is None else psi)


def turned(axis, angles):
    """Frames (L, 2, 4) of two joints that both turn by angles about an axis."""
    one = quat.from_axis_angle(axis, np.asarray(angles) * np.ones(N))
    return np.stack([one, one], axis=1)


def test_windows_are_brought_to_the_sign_of_the_one_before():
    a, b, c = turned(X, 0.2), turned(X, 0.9), turned(Y, 0.5)
    ramp = np.linspace(0.0, 1.0, N)
    weights = np.stack([(1.0 - ramp) ** 2, 2.0 * ramp * (1.0 - ramp), ramp**2])
    mixed = sum(w[:, None, None] * q for w, q in zip(weights, (a, b, c), strict=True))
    expected = mixed / np.linalg.norm(mixed, axis=-1, keepdims=True)
    for signs in ((1, 1, 1), (1, -1, 1), (1, -1, -1), (1, 1, -1)):
        made = [s * q for s, q in zip(signs, (a, b, c), strict=True)]
        assert blended(made, weights) == pytest.approx(expected, abs=FLOAT32)
    assert blended([-a, b, c], weights) == pytest.approx(-expected, abs=FLOAT32)


def test_every_joint_has_a_sign_of_its_own():
    a, b = turned(X, 0.2), turned(X, 0.9)
    weights = np.stack([np.linspace(1.0, 0.0, N), np.linspace(0.0, 1.0, N)])
    flipped = b.copy()
    flipped[:, 1] *= -1.0
    assert blended([a, flipped], weights) == pytest.approx(blended([a, b], weights))


def test_windows_half_a_turn_apart_keep_their_signs():
    a, b = turned(X, 0.0), turned(X, np.pi)
    b[..., 0] = 0.0
    weights = np.stack([np.full(N, 0.75), np.full(N, 0.25)])
    mixed = 0.75 * a + 0.25 * b
    expected = mixed / np.linalg.norm(mixed, axis=-1, keepdims=True)
    assert blended([a, b], weights) == pytest.approx(expected, abs=FLOAT32)


def test_opposite_rotations_in_equal_parts_are_the_sources():
    a = turned(X, 0.4)
    b = a.copy()
    b[5] *= -1.0  # the windows agree in all frames that are compared
    out = blended([a, b], np.full((2, N), 0.5))
    assert out == pytest.approx(a, abs=FLOAT32)


def test_only_the_root_is_turned_to_the_heading():
    a = turned(X, 0.4)
    psi = np.linspace(-2.0, 2.0, N)
    out = blended([a], np.ones((1, N)), psi)
    assert out[:, 1] == pytest.approx(a[:, 1], abs=FLOAT32)
    expected = quat.multiply(quat.from_axis_angle(Y, psi), a[:, 0])
    assert out[:, 0] == pytest.approx(expected, abs=FLOAT32)


def test_a_track_adds_the_steps_of_its_windows_as_seen_from_their_bodies():
    rng = np.random.Generator(np.random.PCG64(5))
    heading, ground = rng.normal(size=2 * N), rng.normal(size=(2 * N, 2))
    body = rng.normal(size=(2 * N, 3, 3)).astype(np.float32)
    at = np.stack([np.arange(N), N + np.arange(N)], axis=1)
    at[4] = at[3]  # time stands still
    weights = np.stack([np.linspace(1.0, 0.0, N), np.linspace(0.0, 1.0, N)])
    psi, root = np.zeros(N), np.zeros((N, 3))
    rows = rows_with(np.zeros((2 * N, 3, 4)), heading, ground, body)
    kernel("ml_mixture_track")(rows.record, N, 2, at, weights, psi, root)
    angle, place = heading[0], complex(*ground[0, ::-1])  # z + i x turns by +Y
    for t in range(N):
        if t:
            step, turn = 0.0, 0.0
            for i in range(2):
                z, x = (ground[at[t, i]] - ground[at[t - 1, i]])[::-1]
                step += weights[i, t] * complex(z, x) * np.exp(-1j * heading[at[t - 1, i]])
                turn += weights[i, t] * (heading[at[t, i]] - heading[at[t - 1, i]])
            place += step * np.exp(1j * angle)
            angle += turn
        assert psi[t] == pytest.approx(angle)
        assert root[t, [2, 0]] == pytest.approx([place.real, place.imag])
        assert root[t, 1] == pytest.approx(weights[:, t] @ body[at[t], 0, 1])


@pytest.mark.parametrize("n_ways", [1, 2, 3, 4])
@pytest.mark.parametrize(("n_frames", "n_joints"), [(1, 1), (5, 31), (60, 65), (7, 130)])
def test_the_kernel_matches_its_plain_form(n_frames, n_joints, n_ways):
    rng = np.random.Generator(np.random.PCG64(n_joints))
    rows = rows_with(quat.normalize(rng.normal(size=(200, n_joints, 4))))
    rows.quats[50] = -rows.quats[49]
    at = rng.integers(0, 200, (n_frames, n_ways))
    at[0, -1] = at[0, 0]
    weights = rng.random((n_ways, n_frames))
    weights[:, ::3] = 0.5
    psi = rng.normal(size=n_frames)
    expected = plain.blend_rotations(rows, at, weights, psi)
    assert np.abs(rotations(rows, at, weights, psi) - expected).max() < 1e-12


def test_rows_that_are_not_there_and_too_many_windows_are_refused():
    rows = rows_with(np.ones((10, 2, 4)))
    for at in (np.full((3, 2), 10), np.full((3, 2), -1), np.zeros((3, 5), dtype=np.int64)):
        with pytest.raises(ArrayError, match="sizes do not fit"):
            rotations(rows, at, np.ones(at.shape[::-1]), np.zeros(3))
