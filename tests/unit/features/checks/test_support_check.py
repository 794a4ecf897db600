"""Support, travel and soles without labels: against the plain form, and on damaged clips."""

from __future__ import annotations

import numpy as np
import pytest

import motionloom as ml
from motionloom._core import constant
from motionloom.errors import ArrayError
from motionloom.features.checks.quality_check import (
    Playing,
    QualityCheck,
    judged_frames,
    leg_length,
    measure_support,
    new_support,
    playing_clips,
    support_rows,
    told_by,
)
from motionloom.features.checks.source_limits import Series, check_rig, series_of
from motionloom.features.checks.verification import ASTRAY, CHECKS, GLIDE, LAUNCH, SLIP, STALL
from motionloom.motion.edit import sample
from motionloom.motion.motion import Footplants
from motionloom.motion.provenance import Provenance
from tests.oracles import support as plain

NEW = {"foot slip", "stall", "launch", "direction", "sole below the floor"}


def of_frames(motion: ml.Motion, frames: np.ndarray) -> Provenance:
    """Provenance of a result that shows these frames of one clip, all of them changed."""
    return Provenance.of_clips(["clip"], motion.fps, frames[:, None], np.ones((len(frames), 1)))


def moved(motion: ml.Motion, x: np.ndarray, y: np.ndarray | float = 0.0) -> ml.Motion:
    root = np.array(motion.root_positions)
    root[:, 0] += x
    root[:, 1] += y
    return motion.replace(root_positions=root)


def found(clip: ml.Motion, result: ml.Motion, frames: np.ndarray | None = None, **options) -> set:
    """Checks that fail, of those that need no labels."""
    frames = np.arange(result.n_frames, dtype=float) if frames is None else frames
    none = Footplants(np.zeros((result.n_frames, 4), dtype=bool))
    check = QualityCheck([clip], footplants=[none if clip is result else detected(clip)])
    options = {"provenance": of_frames(result, frames), **options}
    return {each.check for each in check.verify(result, footplants=none, **options).failed}


def detected(clip: ml.Motion) -> Footplants:
    return ml.detect_footplants(clip)


@pytest.fixture(scope="module")
def walk() -> ml.Motion:
    return ml.synthetic.clip("walk", duration_s=4.0).motion


@pytest.fixture(scope="module")
def run() -> ml.Motion:
    return ml.synthetic.clip("run", duration_s=3.0).motion


def slide(walk: ml.Motion, metres: float = 0.06, first: int | None = None) -> ml.Motion:
    """The whole body slides over a fifth of a second in the middle of a stance."""
    first = walk.n_frames // 2 if first is None else first
    ramp = np.clip((np.arange(walk.n_frames) - first) / (0.2 * walk.fps), 0.0, 1.0)
    return moved(walk, metres * ramp * ramp * (3.0 - 2.0 * ramp))


def test_numbers_of_the_checks_are_those_of_the_core() -> None:
    names = {"SLIP": SLIP, "STALL": STALL, "LAUNCH": LAUNCH, "ASTRAY": ASTRAY, "GLIDE": GLIDE}
    assert {constant(f"ML_CHECK_{name}") for name in names} == set(names.values())
    assert CHECKS[SLIP] == "foot slip"
    for name, number in names.items():
        assert constant(f"ML_CHECK_{name}") == number


@pytest.mark.parametrize("rate", [30.0, 60.0, 120.0])
@pytest.mark.parametrize("kinds", [("walk", "run"), ("walk", "kick"), ("run",)])
def test_rows_are_those_of_the_plain_form(rate: float, kinds: tuple[str, ...]) -> None:
    rng = np.random.default_rng(len(kinds) + int(rate))
    clips = [
        ml.resample(ml.synthetic.clip(kind, duration_s=2.0).motion, fps=60.0) for kind in kinds
    ]
    base = ml.resample(clips[0], fps=rate)
    n = base.n_frames
    wobble = np.cumsum(rng.normal(0.0, 0.012, n))
    result = moved(base, wobble, 0.01 * rng.normal(size=n).cumsum() / 8.0)
    rig = check_rig(result)
    leg = leg_length(rig, result.world_positions())

    def noisy(motion: ml.Motion) -> Series:  # no two points are equally slow
        series = series_of(rig, motion)
        return series._replace(soles=series.soles + 2e-4 * rng.normal(size=series.soles.shape))

    series = [noisy(clip) for clip in clips]
    supports = [new_support(each) for each in series]
    for each, out in zip(series, supports, strict=True):
        measure_support(each, 60.0, leg, 0, len(each.heading), out)
    own_series = noisy(result)
    own = new_support(own_series)
    measure_support(own_series, rate, leg, 0, n, own)
    want = plain.measure_support(own_series, rate, leg)
    for name in ("velocity", "share", "travel"):
        assert np.abs(getattr(own, name) - getattr(want, name)).max() < 1e-9, name
    assert np.array_equal(own.slowest, want.slowest)
    assert np.array_equal(own.falls, want.falls)

    time = np.minimum(np.arange(n) / rate * rng.uniform(0.8, 1.2), 1.9)
    weights = np.full((n, len(kinds)), 1.0 / len(kinds))
    weights[: n // 3] = np.eye(len(kinds))[0]
    frames = np.repeat(time[:, None] * rate, len(kinds), axis=1)
    provenance = Provenance.of_clips(kinds, rate, frames, weights)
    judged = rng.random(n) < 0.97
    playing = playing_clips(provenance, [60.0] * len(kinds))
    told = told_by(playing, supports, [60.0] * len(kinds), own, rate, (0, n))
    rows = support_rows(own, rate, (0, n), told, judged)
    sources = [(supports[source], 60.0, at) for source, at in playing]
    wanted = plain.Judge(own, rate, sources, judged).rows
    assert {(int(row[0]), int(row[1])) for row in rows} == set(wanted)
    assert rows.size
    for check, joint, frame, value, limit in rows:
        want_row = wanted[int(check), int(joint)]
        assert (value, limit) == pytest.approx(want_row[1:], abs=1e-9)
        assert abs(frame - want_row[0]) <= 1


def test_a_clip_tells_of_a_frame_what_it_tells_of_a_time_next_to_it(walk: ml.Motion) -> None:
    rig = check_rig(walk)
    series, n, fps = series_of(rig, walk), walk.n_frames, walk.fps
    own = new_support(series)
    measure_support(series, fps, leg_length(rig, walk.world_positions()), 0, n, own)

    def feet(off: float) -> np.ndarray:
        playing = [Playing(0, np.arange(n) + off)]
        return told_by(playing, [own], [fps], own, fps, (0, n)).feet

    for off in (-1e-9, 1e-9):
        assert np.allclose(feet(off), feet(0.0), atol=1e-6, equal_nan=True)


def test_a_slide_of_the_body_is_found_without_labels(walk: ml.Motion) -> None:
    assert not found(walk, walk) & NEW
    assert "foot slip" in found(walk, slide(walk))
    assert "foot slip" not in found(walk, slide(walk, 0.02))


def test_a_clip_that_is_turned_and_played_faster_and_slower_passes(walk: ml.Motion) -> None:
    n = walk.n_frames
    frames = np.arange(n) + 0.1 * n * np.sin(np.linspace(0.0, np.pi, n)) ** 2 / np.pi
    turned = ml.move(sample(walk, frames), heading=2.0, x=3.0, z=-1.0)
    assert not found(walk, turned, frames) & NEW


@pytest.mark.parametrize("off_s", [0.15, 0.3, 0.45, 0.6])
def test_a_wrong_map_does_not_excuse_a_slide(walk: ml.Motion, off_s: float) -> None:
    n = walk.n_frames
    for sign in (-1.0, 1.0):
        frames = np.clip(np.arange(n) + sign * off_s * walk.fps, 0.0, n - 1.0)
        assert found(walk, slide(walk), frames) & NEW
    still = np.full(n, float(np.argmax(np.ptp(walk.root_positions, axis=1))))
    assert "foot slip" in found(walk, slide(walk), still)


def test_copies_are_not_judged_and_seams_are(walk: ml.Motion) -> None:
    n = walk.n_frames
    copy = Provenance.of_copy("clip", walk.fps, 0, n)
    assert not judged_frames(copy).any()
    broken = slide(walk)
    assert not found(walk, broken, provenance=copy)
    part = np.zeros(n, dtype=bool)
    part[n // 2 - 5 : n // 2 + round(0.3 * walk.fps)] = True
    changed = Provenance(copy.sources, copy.fps, copy.tracks, part)
    assert "foot slip" in found(walk, broken, provenance=changed)
    jumped = moved(
        walk, np.where(np.arange(n) < n // 4, 0.0, 0.5)
    )  # outside of it, where none looks
    assert not found(walk, jumped, provenance=changed)
    frames = np.r_[0.0 : n // 4, n // 2 : n][:, None]
    none = np.zeros(len(frames), dtype=bool)
    cut = Provenance.of_clips(["clip"], walk.fps, frames, np.ones_like(frames), none)
    assert np.flatnonzero(judged_frames(cut)).tolist() == [n // 4 - 1, n // 4]


@pytest.mark.parametrize(
    ("factor", "check"), [(0.3, "stall"), (1.8, "launch"), (-1.0, "direction"), (1j, "direction")]
)
def test_stalls_launches_and_reversals_are_found(
    walk: ml.Motion, factor: complex, check: str
) -> None:
    """For half a second the body goes with its velocity times a number."""
    root = np.array(walk.root_positions)
    steps = np.diff(root[:, 0] + 1j * root[:, 2], prepend=root[0, 0] + 1j * root[0, 2])
    part = slice(walk.n_frames // 2, walk.n_frames // 2 + round(0.5 * walk.fps))
    steps[part] *= factor
    path = root[0, 0] + 1j * root[0, 2] + np.cumsum(steps)
    root[:, 0], root[:, 2] = path.real, path.imag
    assert check in found(walk, walk.replace(root_positions=root))


def test_a_frozen_clip_stalls(walk: ml.Motion) -> None:
    frames = np.minimum(np.arange(walk.n_frames), walk.n_frames // 2).astype(float)
    assert "stall" in found(walk, sample(walk, frames), frames)


def test_soles_are_compared_where_feet_are_not_held(walk: ml.Motion) -> None:
    lower = moved(walk, 0.0, -0.04)
    assert "sole below the floor" in found(walk, lower, held=False)
    assert "sole below the floor" not in found(walk, moved(walk, 0.0, -0.02), held=False)


def test_a_level_glide_has_no_foot_that_stands(run: ml.Motion) -> None:
    stand = ml.synthetic.clip("stand", duration_s=3.0).motion
    gliding = moved(stand, 2.0 * np.arange(stand.n_frames) / stand.fps)
    names = found(stand, gliding)
    assert "no foot stands" in names
    assert "hovering" not in names
    assert "hovering" not in found(run, run) and "no foot stands" not in found(run, run)


def test_provenance_must_fit(walk: ml.Motion) -> None:
    check = QualityCheck([walk])
    with pytest.raises(ArrayError, match="one row per frame"):
        check.verify(walk, provenance=of_frames(walk[1:], np.arange(walk.n_frames - 1.0)))
    both = Provenance.of_clips(["a", "b"], walk.fps, np.zeros((walk.n_frames, 2)),
                               np.full((walk.n_frames, 2), 0.5))  # fmt: skip
    with pytest.raises(ArrayError, match="sources of the check"):
        check.verify(walk, provenance=both)


def test_verify_takes_provenance(walk: ml.Motion) -> None:
    frames = np.arange(walk.n_frames, dtype=float)
    result = ml.verify(slide(walk), sources=[walk], provenance=of_frames(walk, frames))
    slips = [each for each in result.failed if each.check == "foot slip"]
    assert slips
    assert "slides while it carries the body" in str(slips[0])


def test_every_clip_of_a_long_result_tells_its_direction(walk: ml.Motion) -> None:
    n, many = walk.n_frames, 24
    plays = np.maximum(1, np.arange(n) * many // n)[:, None] == np.arange(many)
    names = [f"clip {k}" for k in range(many)]
    frames = np.repeat(np.arange(float(n))[:, None], many, axis=1)
    plays[:, 0], frames[:, 0] = True, frames[::-1, 0]  # one goes backwards all the time
    plants = detected(walk)
    check = QualityCheck([walk] * many, footplants=[plants] * many)

    def failed(at: np.ndarray) -> set[str]:
        provenance = Provenance.of_clips(names, walk.fps, at, plays / plays.sum(axis=1)[:, None])
        return {
            each.check
            for each in check.verify(walk, footplants=plants, provenance=provenance).failed
        }

    assert "direction" not in failed(frames)
    frames[:, -1] = frames[::-1, -1]
    assert "direction" in failed(frames)
