"""Told-apart test: chance where nothing differs, near 1 where something does."""

import numpy as np
import pytest

import motionloom as ml
from motionloom.errors import ArrayError
from motionloom.rotation import quat
from studies.measures.body_series import JOINTS, MIRROR, BodySeries
from studies.measures.series_features import series_features
from studies.measures.temporal_network import NetworkSettings, TemporalNetwork
from studies.measures.told_apart import (
    Settings,
    area_of,
    auc_of,
    auc_of_series,
    network_channels,
    windows_of_motion,
)

TAKES = 8
QUICK = Settings(trees=30, networks=1, network=NetworkSettings(epochs=6, batch=32))


@pytest.fixture(scope="module")
def captured():
    """Windows of walks and jogs of several speeds and turns, a take each, with some noise."""
    rng = np.random.default_rng(3)
    windows, takes = [], []
    for k in range(TAKES):
        kind = ("walk", "jog")[k % 2]
        clip = ml.synthetic.clip(kind, turn=0.3 * (k - 3), duration_s=5.0, fps=60).motion
        turns = 0.004 * rng.normal(size=(*clip.local_quats.shape[:2], 3))
        clip = clip.replace(local_quats=quat.multiply(clip.local_quats, quat.exp(turns)))
        some = windows_of_motion(clip, stride_s=0.4)
        windows += some
        takes += [f"take {k}"] * len(some)
    return windows, np.array(takes)


@pytest.fixture(scope="module")
def series(captured):
    return BodySeries.of_motions(captured[0])


def smoothed(motion):
    """Rotations averaged over seven frames."""
    padded = np.pad(quat.make_continuous(motion.local_quats), ((3, 3), (0, 0), (0, 0)), mode="edge")
    mean = np.mean([padded[k : k + motion.n_frames] for k in range(7)], axis=0)
    return motion.replace(local_quats=quat.make_continuous(quat.normalize(mean)))


def test_captured_against_captured_is_chance(captured, series):
    takes = captured[1]
    rng = np.random.default_rng(0)
    first = rng.random(len(takes)) < 0.5
    result = auc_of_series(
        series.take(first),
        series.take(~first),
        takes[first],
        synthesized_groups=takes[~first],
        settings=QUICK,
    )
    for area in result.by_classifier.values():
        assert area.low <= 0.5 <= area.high


def test_the_same_windows_twice_are_exactly_chance(captured, series):
    result = auc_of_series(series, series, captured[1], settings=QUICK)
    assert {area.auc for area in result.by_classifier.values()} == {0.5}


def test_lost_detail_is_noticed_and_named(captured):
    windows, takes = captured
    result = auc_of(windows, [smoothed(window) for window in windows], takes, settings=QUICK)
    assert result.auc > 0.95
    assert result.low > 0.8
    assert result.clues[0].name.split(":")[0] in {"spectrum", "jerk", "acceleration"}
    assert "windows" in str(result)


def test_what_is_fast_can_be_left_out(captured, series):
    windows, takes = captured
    shake = 0.01 * np.sin(2.0 * np.pi * 20.0 * np.arange(60) / 60.0)
    turns = np.zeros((60, 1, 3))
    turns[:, 0, 0] = shake * np.hanning(60)  # windows start and end alike, as with a context
    other = [w.replace(local_quats=quat.multiply(w.local_quats, quat.exp(turns))) for w in windows]
    whole = auc_of_series(series, BodySeries.of_motions(other), takes, settings=QUICK)
    slow = auc_of(windows, other, takes, below_hz=3.0, settings=QUICK)
    assert whole.auc > 0.95
    assert slow.auc < 0.7


def test_sliding_feet_are_noticed(captured, series):
    windows, takes = captured
    slid = []
    for window in windows:
        root = np.array(window.root_positions)
        root[:, 0] += 0.25 * np.sin(np.linspace(0.0, 2.0 * np.pi, len(root)))
        slid.append(window.replace(root_positions=root))
    result = auc_of_series(series, BodySeries.of_motions(slid), takes, settings=QUICK)
    assert result.auc > 0.85


def test_the_network_alone_learns_an_order_in_time():
    rng = np.random.default_rng(1)
    labels = np.arange(700) % 2
    x = 0.1 * rng.normal(size=(700, 40, 5))
    rise = np.linspace(0.0, 1.0, 10)
    for k, label in enumerate(labels):
        at = rng.integers(0, 30)
        x[k, at : at + 10, 2] += rise if label else rise[::-1]
    trained = slice(0, 600)

    def scores(epochs):
        settings = NetworkSettings(epochs=epochs, batch=32, rate=5e-3)
        network = TemporalNetwork(settings, seed=2).fit(x[trained], labels[trained])
        return network.score(x[600:])

    assert area_of(scores(30), labels[600:], np.arange(100).astype(str)).auc > 0.9
    assert np.array_equal(scores(2), scores(2))


def test_slopes_of_the_network_are_those_of_differences():
    rng = np.random.default_rng(5)
    settings = NetworkSettings(mixed=4, channels=(5, 6), dropout=0.0, epochs=1, batch=8)
    x, y = rng.normal(size=(8, 30, 3)).astype(np.float32), (np.arange(8) % 2).astype(np.float32)
    network = TemporalNetwork(settings).fit(x, y)
    shown = network._standard(x)

    def loss():
        scores = network._forward(shown)[0].astype(float)
        return np.mean(np.log1p(np.exp(-np.where(y > 0, scores, -scores))))

    network._weights = [w.astype(np.float64) for w in network._weights]
    slopes = network._slopes(shown, y, rng)
    for w, slope in zip(network._weights, slopes, strict=True):
        k = np.unravel_index(np.argmax(np.abs(slope)), slope.shape)
        value, step = w[k], 1e-5
        w[k] = value + step
        more = loss()
        w[k] = value - step
        less = loss()
        w[k] = value
        assert (more - less) / (2.0 * step) == pytest.approx(slope[k], rel=1e-3)


def test_a_mirrored_body_has_the_same_features(series):
    side = np.array([-1.0, 1.0, 1.0], dtype=np.float32)
    mirrored = BodySeries(
        series.joints[:, :, MIRROR] * side,
        series.velocities[:, :, MIRROR] * side,
        series.accelerations[:, :, MIRROR] * side,
        series.spins[:, :, MIRROR],
        -series.turns,
        series.context,
    )
    assert np.allclose(series_features(series).values, series_features(mirrored).values, atol=1e-4)
    channels, (order, signs) = network_channels(series)
    assert np.allclose(channels[:, :, order] * signs, network_channels(mirrored)[0], atol=1e-5)


def test_where_and_when_a_body_moves_does_not_count(captured):
    window = captured[0][0]
    moved = ml.move(window, heading=1.3, x=4.0, z=-2.0)
    one, other = BodySeries.of_motions([window]), BodySeries.of_motions([moved])
    assert np.allclose(one.joints, other.joints, atol=1e-4)
    assert np.allclose(one.velocities, other.velocities, atol=1e-2)


def test_rates_are_brought_to_one(captured):
    walk = ml.synthetic.clip("walk", duration_s=2.0, fps=60).motion
    slow = ml.resample(walk, fps=30)
    one, other = BodySeries.of_motions([walk[:60]]), BodySeries.of_motions([slow[:30]])
    assert one.joints.shape == other.joints.shape
    assert np.abs(one.joints - other.joints)[:, :-1].max() < 0.01  # the last is extrapolated


def test_areas_by_hand():
    scores, classes = np.array([0.1, 0.4, 0.3, 0.9]), np.array([0, 0, 1, 1])
    assert area_of(scores, classes, np.array(["a", "b", "a", "b"])).auc == 0.75
    part = np.array([0, 1, 0, 1])  # only pairs of one fold are compared
    assert area_of(scores, classes, np.array(["a", "b", "a", "b"]), part).auc == 1.0


def test_folds_keep_groups_whole(captured, series):
    takes = captured[1]
    with pytest.raises(ArrayError, match="take 0"):
        auc_of_series(series, series, takes, folds=np.arange(len(takes)).astype(str))
    with pytest.raises(ArrayError, match="at least two folds"):
        auc_of_series(series, series, takes, folds=["all"] * len(takes))
    with pytest.raises(ArrayError, match="`groups`"):
        auc_of_series(series, series, takes[1:])


def test_joints_have_their_mirror():
    assert JOINTS[MIRROR[JOINTS.index("left_toe")]] == "right_toe"
    assert np.array_equal(MIRROR[MIRROR], np.arange(len(JOINTS)))
