"""loop(): travelling cycles, capture glitches, notes."""

from __future__ import annotations

import sys
import warnings

import numpy as np
import pytest

import motionloom as ml
from motionloom.blending.cycle import Cycle, _best_cycle, _laps, _speeds, close
from motionloom.body.anatomy import foot_points
from motionloom.body.body_map import roles_for
from motionloom.features.checks.quality_check import QualityCheck
from motionloom.motion.edit import sample, transform
from motionloom.motion.motion import runs_of
from motionloom.rotation.quat import PlanarTransform

WALK = ml.synthetic.clip("walk", duration_s=4.0, fps=60).motion
STAND = ml.synthetic.clip("stand", duration_s=3.0, fps=60).motion


def held_before(motion: ml.Motion, frames: int) -> ml.Motion:
    """The motion after its first pose was held for some frames."""
    at = np.concatenate([np.zeros(frames), np.arange(motion.n_frames)])
    return sample(motion, at)


def speed(cycle: ml.Loop) -> float:
    way = np.diff(cycle.motion.root_positions[[0, -1]][:, [0, 2]], axis=0)
    return float(np.linalg.norm(way)) / cycle.period_s


def test_a_clip_that_stands_and_then_walks_loops_its_walk() -> None:
    clip = held_before(WALK, 90)
    own = np.linalg.norm(np.ptp(WALK.root_positions[:, [0, 2]], axis=0)) / WALK.duration_s
    cycle = ml.loop(clip)
    assert cycle.span[0] >= 80
    assert speed(cycle) > 0.8 * own
    assert any("travelling cycles" in note for note in cycle.notes)


def test_standing_is_looped_where_it_is_asked_for() -> None:
    cycle = ml.loop(held_before(WALK, 90), moving=False)
    assert cycle.span[1] < 100
    assert speed(cycle) < 0.2


def test_a_clip_that_stands_is_looped_without_travel() -> None:
    cycle = ml.loop(STAND)
    assert speed(cycle) < 0.1
    assert not any("travel" in note for note in cycle.notes)


def test_travel_that_the_clip_does_not_have_is_refused() -> None:
    with pytest.raises(ml.RegistrationError, match="in which the body travels"):
        ml.loop(STAND, moving=True)
    with pytest.raises(ml.ArrayError, match="`moving` must be True or False"):
        ml.loop(WALK, moving="yes")  # type: ignore[arg-type]


def test_a_step_aside_does_not_make_a_clip_travel() -> None:
    root = np.array(STAND.root_positions)
    root[60:, 0] += 0.6 * np.clip((np.arange(len(root) - 60)) / 24.0, 0.0, 1.0)
    cycle = ml.loop(STAND.replace(root_positions=root))
    assert speed(cycle) < 0.1


def jumping(frames: list[int], stays: bool) -> ml.Motion:
    """The walk with jumps of the root, for one frame or for good."""
    root = np.array(WALK.root_positions)
    for frame in frames:
        root[frame : None if stays else frame + 1] += [0.6, 0.0, 0.0]
    return WALK.replace(root_positions=root)


def test_single_glitched_frames_are_repaired_where_all_is() -> None:
    first, last = ml.loop(WALK).span
    cycle = ml.loop(jumping([(first + last) // 2], stays=False), repair="all")
    assert cycle.verification.passed
    assert any("interpolated" in note for note in cycle.notes)


@pytest.mark.parametrize("clean", [True, False])
@pytest.mark.parametrize("kind", ["walk", "jog", "sneak", "stand"])
def test_frames_outside_the_seam_and_its_fades_are_the_clips_own(kind: str, clean: bool) -> None:
    clip = ml.synthetic.clip(kind, duration_s=4.0).motion
    cycle = ml.loop(clip, clean=clean)
    where, fps = cycle.provenance, clip.fps
    n = cycle.motion.n_frames
    assert where.n_frames == n
    own = clip[cycle.span[0] : cycle.span[1] + 1]
    same = ~where.changed
    assert (cycle.motion.root_positions[same] == own.root_positions[same]).all()
    dots = np.einsum("fjc,fjc->fj", cycle.motion.local_quats, own.local_quats)
    alike = cycle.motion.local_quats * np.sign(dots)[..., None] == own.local_quats
    assert alike[same].all()
    fade, seam = round(0.3 * fps), round(0.2 * fps)
    may = np.zeros(n, dtype=bool)
    may[: fade + 1] = may[max(0, n - 1 - seam - fade) :] = True
    assert not (where.changed & ~may).any()
    (note,) = [each for each in cycle.notes if "differ from the clip" in each]
    assert str(n - 1) in note
    for copy in where.copies():
        assert copy.start == cycle.span[0] + copy.first


def test_cycles_avoid_glitches_that_cannot_be_repaired() -> None:
    first, last = ml.loop(WALK).span
    middle = (first + last) // 2
    cycle = ml.loop(jumping([middle], stays=True))
    assert not cycle.span[0] <= middle <= cycle.span[1]
    assert any("glitch" in note for note in cycle.notes)


def test_a_glitch_in_every_cycle_is_kept_and_reported() -> None:
    cycle = ml.loop(jumping(list(range(10, WALK.n_frames - 10, 24)), stays=True))
    assert any("have capture glitches" in note for note in cycle.notes)


def test_a_clip_without_a_full_cycle_is_noted() -> None:
    cycle = ml.loop(WALK[:50], moving=False)
    assert cycle.cost > 0.06
    assert any("no full cycle" in note for note in cycle.notes)


def test_a_cycle_is_the_clip_up_to_the_seam_and_ends_where_it_began() -> None:
    cycle = ml.loop(WALK, seam_s=0.2, clean=False)
    first, last = cycle.span
    motion, clip = cycle.motion, WALK[first : last + 1]
    assert motion.n_frames == last - first + 1
    assert cycle.period_s == pytest.approx((last - first) / 60.0)
    before = slice(0, motion.n_frames - 12)  # 0.2 s at 60 frames a second
    assert motion.root_positions[before] == pytest.approx(clip.root_positions[before], abs=1e-12)
    assert motion.local_quats[before] == pytest.approx(clip.local_quats[before], abs=1e-12)
    assert not np.allclose(motion.local_quats[-2], clip.local_quats[-2], atol=1e-6)
    lap = transform(motion[:1], cycle.closure)
    assert motion.root_positions[-1] == pytest.approx(lap.root_positions[0], abs=1e-9)
    assert np.abs(np.sum(motion.local_quats[-1] * lap.local_quats[0], axis=-1)) == pytest.approx(1)


def best_of(cells: dict[tuple[int, int], float], half: int, **changes: object) -> object:
    """The cycle of 10 samples where all cells cost 100 but the named ones, metres rms."""
    cost = np.full((10, 10), 1e4)
    for at, value in cells.items():
        cost[at] = value * value
    given: dict[str, object] = {"lengths": (3, 9), "stride": 1, "slowest": 0.0, "refused": ()}
    given |= {"forbidden": np.zeros(10, dtype=bool), "speed": np.ones(10)}
    return _best_cycle(cost, half=half, **{**given, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("cell", "cut"),
    [((3, 6), 0), ((2, 7), 0), ((1, 6), 1), ((0, 6), 2), ((3, 8), 1), ((3, 9), 2), ((0, 9), 4)],
)
def test_windows_cut_by_the_ends_of_the_clip_cost_a_tenth_more_for_each_frame(
    cell: tuple[int, int], cut: int
) -> None:
    found = best_of({cell: 1.0}, half=2)
    assert (found.start, found.stop) == cell  # type: ignore[attr-defined]
    assert found.cost == pytest.approx(1.0 + 0.1 * cut)  # type: ignore[attr-defined]
    assert found.strip[cell[0]] == pytest.approx(1.0)  # type: ignore[attr-defined]


def test_cycles_have_every_length_that_is_allowed_and_no_other() -> None:
    def span(cells: dict[tuple[int, int], float], **changes: object) -> tuple[int, int]:
        found = best_of(cells, half=1, **changes)
        return found.start, found.stop  # type: ignore[attr-defined]

    cells = {(2, 4): 0.1, (2, 5): 1.0, (2, 7): 2.0, (2, 8): 0.2}
    assert span(cells, lengths=(3, 5)) == (2, 5)
    assert span({**cells, (2, 5): 3.0}, lengths=(3, 5)) == (2, 7)
    bad = np.zeros(10, dtype=bool)
    bad[5] = True
    assert span({(2, 5): 1.0, (1, 4): 2.0}, forbidden=bad) == (1, 4)
    assert span({(2, 5): 1.0, (6, 9): 2.0}, forbidden=bad) == (6, 9)
    slow = np.array([1.0, 1, 1, 1, 0, 1, 1, 1, 1, 1])  # average of 0.75 in frames 2 to 5
    assert span({(2, 5): 1.0, (5, 8): 2.0}, speed=slow, slowest=0.75) == (2, 5)
    assert span({(2, 5): 1.0, (5, 8): 2.0}, speed=slow, slowest=0.76) == (5, 8)
    near = {(2, 5): 1.0, (3, 6): 1.5, (4, 7): 2.0}
    assert span(near, refused=[(2, 5)]) == (4, 7)


def test_speeds_are_of_the_way_around_each_frame() -> None:
    path = np.array([[0.0, 0.0], [3.0, 4.0], [3.0, 4.0], [3.0, 5.0]])
    assert _speeds(path, 1, 10.0) == pytest.approx([50.0, 25.0, 5.0, 10.0])


def laps(cycle: ml.Loop) -> ml.Motion:
    return _laps(cycle.motion, cycle.closure, 3)


def slides(cycle: ml.Loop, planted: np.ndarray) -> tuple[float, float]:
    """How far planted points move over the ground at most: in the seam, and in a whole contact."""
    labels = np.concatenate([planted[:-1], planted[:-1], planted])
    points, length = foot_points(laps(cycle))[..., [0, 2]], len(planted) - 1
    in_seam, whole = [0.0], [0.0]
    for kind in range(4):
        for first, last in runs_of(labels[:, kind]):
            if length <= first < 2 * length:
                whole.append(float(np.ptp(points[first : last + 1, kind], axis=0).max()))
            low, high = max(first, length - round(0.2 * cycle.motion.fps)), min(last, length)
            if high > low:
                in_seam.append(float(np.ptp(points[low : high + 1, kind], axis=0).max()))
    return max(in_seam), max(whole)


def sharpest(cycle: ml.Loop) -> tuple[float, float]:
    """Largest acceleration of a joint near the seam, and anywhere, m/s2."""
    positions, length = laps(cycle).world_positions(), cycle.motion.n_frames - 1
    sharp = np.linalg.norm(np.diff(positions, 2, axis=0), axis=-1).max(axis=1) * cycle.motion.fps**2
    return float(sharp[length - 3 : length + 2].max()), float(sharp.max())


@pytest.mark.parametrize("name", ["16_15", "16_21", "16_36", "16_42"])
def test_feet_of_a_captured_cycle_stand_and_its_seam_is_continuous(name: str, mocap) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ml.MotionLoomWarning)
        clip = ml.load(mocap / "cmu_bvh" / f"{name}.bvh")
    clip = clip[: min(clip.n_frames, round(8 * clip.fps))]
    raw, held = ml.loop(clip, clean=False), ml.loop(clip)
    assert held.cleanup is not None
    assert held.verification.passed
    assert held.span == raw.span
    before, after = (slides(each, held.footplants.planted) for each in (raw, held))
    assert after[0] < 0.002
    assert after[0] < 0.2 * before[0]
    assert after[1] < before[1] + 0.001  # elsewhere feet move as they were captured
    assert sharpest(held)[0] < 1.1 * max(sharpest(raw)[0], 40.0)
    moved = transform(held.motion[:1], held.closure).world_positions()
    np.testing.assert_allclose(held.motion[-1:].world_positions(), moved, atol=1e-9)


@pytest.mark.parametrize(("metres", "slips"), [(0.0, False), (0.12, True)])
def test_a_seam_that_drags_the_standing_foot_fails_without_any_contact(
    metres: float, slips: bool
) -> None:
    found = ml.loop(WALK, clean=False)
    captured, closure = WALK[found.span[0] : found.span[1] + 1], found.closure
    closure = PlanarTransform(0.0, metres, 0.0) @ closure
    seam, n = 12, captured.n_frames
    share = (np.arange(n) > n - 1 - seam).astype(float)
    free = np.zeros((n, 4), dtype=bool)
    made = close(captured, closure, seam)
    cycle = Cycle(made, captured, free, closure, found.span[0], seam, share)
    check = QualityCheck([WALK])
    judged = cycle.finished(check, roles_for(WALK.skeleton, None), clean=False).verification
    assert ("foot slip" in {each.check for each in judged.failed}) == slips


def test_the_report_of_a_cycle_counts_the_contacts_of_one_lap() -> None:
    cycle = ml.loop(WALK)
    assert cycle.cleanup is not None
    assert 4 <= len(cycle.cleanup.plants) <= 6
    assert all(0 <= each.first < cycle.motion.n_frames for each in cycle.cleanup.plants)


@pytest.mark.parametrize("kind", ["stand", "wave"])
def test_feet_that_stand_all_the_time_stay_where_they_are(kind):
    cycle = ml.loop(ml.synthetic.clip(kind).motion)
    assert cycle.footplants.planted.all()
    assert (cycle.closure.theta, cycle.closure.x0, cycle.closure.z0) == (0.0, 0.0, 0.0)
    assert len(cycle.cleanup.plants) == 4
    assert cycle.cleanup.contact_speed_after < 1e-6
    measured = ml.measure_quality(cycle.motion, footplants=cycle.footplants)
    assert measured.contact_speed_max == pytest.approx(cycle.cleanup.contact_speed_after, abs=1e-6)


@pytest.mark.parametrize("part", [0.02, 0.5])
def test_feet_that_would_move_far_are_left_as_they_are(monkeypatch, part: float) -> None:
    """A cycle that does not close has a foot in two places: to hold it drags the leg."""
    cut = WALK[: round(2.3 * WALK.fps)]
    free = ml.loop(cut, clean=False, shortest_s=1.5)
    monkeypatch.setattr(sys.modules["motionloom.blending.loop"], "MAX_CHANGE", part * 0.05)
    held = ml.loop(cut, shortest_s=1.5)
    moved = np.linalg.norm(
        held.motion.world_positions() - free.motion.world_positions(), axis=-1
    ).max() / ml.stature(cut.skeleton)
    assert moved <= part * 0.05
    assert (held.cleanup is None) == (part == 0.02)
    if held.cleanup is None:
        assert moved == 0.0
        assert any("feet are not held" in note and "would move by" in note for note in held.notes)
        assert np.array_equal(held.footplants.planted, free.footplants.planted)
