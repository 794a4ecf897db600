"""balance(): weight over the feet, flights in free fall, contacts kept."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import motionloom as ml
from motionloom.body.anatomy import foot_points, stature
from motionloom.body.body_map import BodyMap
from motionloom.cleanup import balancing
from motionloom.cleanup.balance_shift import (
    FARTHEST_M,
    GRAVITY,
    _operators,
    balance_shift,
    fall_of,
    flight_path,
    flights_of,
    near,
)
from motionloom.cleanup.balancing import MOST_CHANGE, _better, _State
from motionloom.cleanup.footskate import clean_until_sound
from motionloom.features.balance import Support, ZeroMoment, support_distance, way_to_support
from motionloom.features.checks.quality_check import merged_verdict
from motionloom.features.checks.verification import FailedCheck
from motionloom.motion.edit import transform

STAND = ml.synthetic.clip("stand", duration_s=2.0, fps=60)
WALK = ml.synthetic.clip("walk", duration_s=2.5, fps=60)


def leaning(clip: ml.synthetic.Clip, metres: float) -> ml.Motion:
    """The clip with its body shifted sideways in the middle, and its feet where they are."""
    n = clip.motion.n_frames
    rise = np.clip(np.minimum(np.arange(n), np.arange(n)[::-1]) / (0.3 * n), 0.0, 1.0)
    shift = np.zeros((n, 3))
    shift[:, 0] = metres * rise**2 * (3.0 - 2.0 * rise)
    body = BodyMap.guess(clip.motion.skeleton)
    return clean_until_sound(
        clip.motion, clip.footplants, lambda *_: ml.Verification(True), body=body, shift=shift
    )[0].motion


def test_a_body_that_leans_over_its_feet_comes_back_over_them() -> None:
    motion = leaning(STAND, 0.2)
    balanced = ml.balance(motion, STAND.footplants)
    assert balanced.before.outside > 0.4
    assert balanced.after.outside < 0.1
    assert balanced.after.distance_m < 0.1 * balanced.before.distance_m
    assert balanced.cleanup is not None


def test_contacts_stay_and_ends_stay() -> None:
    motion = leaning(STAND, 0.2)
    balanced = ml.balance(motion, STAND.footplants)
    before, after = foot_points(motion), foot_points(balanced.motion)
    held = balanced.footplants.planted
    assert held.mean() > 0.9
    assert np.abs(after - before)[held].max() < 1e-3
    np.testing.assert_allclose(
        balanced.motion.root_positions[[0, -1]], motion.root_positions[[0, -1]], atol=2e-3
    )


def test_feet_that_stand_restlessly_go_on_to() -> None:
    """Held at one point they would be more still than captured ones."""
    motion = leaning(STAND, 0.2)
    sway = 0.008 * np.sin(np.arange(motion.n_frames) / 12.0)[:, None] * [1.0, 0.0, 0.0]
    restless = motion.replace(root_positions=motion.root_positions + sway)
    balanced = ml.balance(restless, STAND.footplants)
    assert balanced.after.outside < 0.1
    before, after = foot_points(restless), foot_points(balanced.motion)
    held = balanced.footplants.planted
    assert held.mean() > 0.9
    assert np.ptp(before[:, 0, 0]) > 0.015
    assert np.abs(after - before)[held].max() < 1e-3


def test_a_balanced_motion_is_returned_as_it_is() -> None:
    balanced = ml.balance(STAND.motion, STAND.footplants)
    assert balanced.motion is STAND.motion
    assert balanced.cleanup is None
    assert balanced.notes == ("nothing was changed: the motion is balanced",)
    assert balanced.span == (0, STAND.motion.n_frames - 1)


def test_a_broken_motion_that_is_not_changed_fails_its_check() -> None:
    quats = STAND.motion.local_quats.copy()
    quats[50, 5] = [0.0, 1.0, 0.0, 0.0]
    broken = STAND.motion.replace(local_quats=quats)
    balanced = ml.balance(broken, STAND.footplants, sources=[STAND.motion])
    expected = ml.verify(broken, sources=[STAND.motion], footplants=STAND.footplants)
    assert balanced.motion is broken
    assert not expected.passed
    assert balanced.verification == expected
    assert all(f"failed check: {each}" in balanced.notes for each in expected.failed)


def test_a_broken_motion_that_is_changed_fails_its_check() -> None:
    motion = leaning(STAND, 0.2)
    quats = motion.local_quats.copy()
    elbow = motion.skeleton.names.index("LeftForeArm")
    quats[60, elbow] = [0.0, 1.0, 0.0, 0.0]
    broken = motion.replace(local_quats=quats)
    balanced = ml.balance(broken, STAND.footplants, sources=[STAND.motion])
    assert balanced.motion is not broken
    assert not balanced.verification.passed
    assert any(note.startswith("failed check: ") for note in balanced.notes)


def teleport(motion: ml.Motion) -> ml.Motion:
    """The motion, three metres away from its middle on."""
    root = motion.root_positions.copy()
    root[motion.n_frames // 2 :, 0] += 3.0
    return motion.replace(root_positions=root)


def jolt(axis: int) -> Callable[[ml.Motion], ml.Motion]:
    """Two metres away for one frame."""

    def broken(motion: ml.Motion) -> ml.Motion:
        root = motion.root_positions.copy()
        root[motion.n_frames // 2, axis] += 2.0
        return motion.replace(root_positions=root)

    return broken


def flip(motion: ml.Motion) -> ml.Motion:
    """The motion with an arm turned round in one frame."""
    quats = motion.local_quats.copy()
    quats[motion.n_frames // 2 :, motion.skeleton.names.index("LeftArm")] = [0.0, 1.0, 0.0, 0.0]
    return motion.replace(local_quats=quats)


def bend_backwards(motion: ml.Motion) -> ml.Motion:
    """The motion with a knee bent backwards for half a second."""
    quats, middle = motion.local_quats.copy(), motion.n_frames // 2
    knee = motion.skeleton.names.index("LeftLeg")
    quats[middle - 15 : middle + 15, knee] = [np.cos(0.6), -np.sin(0.6), 0.0, 0.0]
    return motion.replace(local_quats=quats)


@pytest.mark.parametrize("kind", ["kick", "run", "tiptoe"])
@pytest.mark.parametrize("broken", [teleport, jolt(0), jolt(1), flip, bend_backwards])
def test_a_broken_motion_fails_without_sources(
    kind: str, broken: Callable[[ml.Motion], ml.Motion]
) -> None:
    """Changed or not: compared with the given motion alone, its own faults would pass."""
    motion = broken(ml.synthetic.clip(kind).motion)
    balanced = ml.balance(motion)
    assert not ml.verify(motion).passed
    assert not balanced.verification.passed
    assert any(note.startswith("failed check: ") for note in balanced.notes)


def test_sound_clips_pass_without_sources() -> None:
    changed = 0
    for kind in ("kick", "run", "tiptoe", "push"):
        balanced = ml.balance(ml.synthetic.clip(kind).motion)
        changed += balanced.cleanup is not None
        assert balanced.verification.passed, balanced.notes
    assert changed


def test_a_motion_that_cannot_be_measured_is_not_called_balanced() -> None:
    never = ml.Footplants(np.zeros((STAND.motion.n_frames, 4), dtype=bool))
    (note,) = ml.balance(STAND.motion, never).notes
    assert note == "nothing was changed: no stance and no flight is long enough to be measured"


def test_what_the_sources_do_is_allowed() -> None:
    motion = leaning(STAND, 0.2)
    balanced = ml.balance(motion, STAND.footplants, sources=[motion])
    assert balanced.allowed_m > 0.05
    assert balanced.before.distance_m < ml.balance(motion, STAND.footplants).before.distance_m


def test_where_the_body_stands_and_faces_does_not_matter() -> None:
    motion = leaning(STAND, 0.2)
    place = ml.PlanarTransform(1.1, 3.0, -2.0)
    here = ml.balance(motion, STAND.footplants).motion
    there = ml.balance(transform(motion, place), STAND.footplants).motion
    np.testing.assert_allclose(
        transform(here, place).world_positions(), there.world_positions(), atol=2e-3
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"motion": 3}, "motion"),
        ({"footplants": ml.Footplants(np.zeros((3, 4), dtype=bool))}, "footplants"),
        ({"allowed_m": -1.0}, "allowed_m"),
        ({"allowed_m": float("nan")}, "allowed_m"),
        ({"sources": [3]}, r"sources\[0\]"),
        ({"sources": 3}, "sources"),
    ],
)
def test_wrong_arguments_are_refused(arguments: dict, words: str) -> None:
    given = {"motion": STAND.motion, **arguments}
    with pytest.raises(ml.MotionLoomError, match=words):
        ml.balance(given.pop("motion"), **given)


def test_sources_on_other_joints_are_refused() -> None:
    skeleton = STAND.motion.skeleton
    names = [f"other{name}" for name in skeleton.names]
    other = STAND.motion.replace(skeleton=ml.Skeleton(names, skeleton.parents, skeleton.offsets))
    with pytest.raises(ml.SkeletonMismatchError, match=r"(?i)retarget"):
        ml.balance(STAND.motion, sources=[other])


def test_short_clips_are_left() -> None:
    short = STAND.motion[:5]
    assert ml.balance(short).motion is short


SQUARE = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])


def test_the_way_to_the_soles_is_the_shortest() -> None:
    points = np.array([[2.0, 0.5], [0.5, -0.25], [0.5, 0.5], [2.0, 2.0], [np.nan, 0.0]])
    corners = np.broadcast_to(SQUARE, (5, 4, 2))
    used = np.ones((5, 4), dtype=bool)
    way = way_to_support(points, corners, used)
    np.testing.assert_allclose(way[:4], [[-1, 0], [0, 0.25], [0, 0], [-1, -1]], atol=1e-2)
    assert np.isnan(way[4]).all()
    inside = support_distance(points[:4] + way[:4], corners[:4], used[:4])
    assert (inside < 1e-2).all()


def support_at(points: np.ndarray) -> Support:
    n = len(points)
    corners = np.broadcast_to(0.1 * (SQUARE - 0.5), (n, 4, 2))
    return Support(ZeroMoment(points, np.ones(n)), corners, np.ones((n, 4), dtype=bool), 0.0)


def test_the_shift_solves_its_equations_as_dense_algebra_does() -> None:
    rng = np.random.default_rng(3)
    n, fps = 40, 30.0
    lever, flying = rng.uniform(0.05, 0.15, n), np.arange(n) % 11 == 3
    counts = np.arange(n) % 7 != 2
    move, normal = _operators(np.where(counts, lever, 0.0), fps, counts, flying)
    from motionloom.cleanup import balance_shift as module

    dense = np.zeros((n, n))
    for k in range(4):
        dense[np.arange(n - k), np.arange(k, n)] = normal[3 - k, k:]
    dense += np.triu(dense, 1).T
    rows = np.zeros((n, n))
    for t in range(1, n - 1):
        rows[t, t - 1 : t + 2] = move[t]
    parts = [rows, np.sqrt(module.STILL) * np.eye(n)]
    third, second = np.zeros((n, n)), np.zeros((n, n))
    for t in range(1, n - 2):
        third[t, t - 1 : t + 3] = np.sqrt(module.SMOOTH) * fps**3 * np.array([-1, 3, -3, 1])
    for t in np.flatnonzero(flying):
        if 0 < t < n - 1:
            second[t, t - 1 : t + 2] = np.sqrt(module.FREE_FALL) * fps**2 * np.array([1, -2, 1])
    ends = np.zeros((n, n))
    for t in (0, 1, n - 2, n - 1):
        ends[t, t] = np.sqrt(module.ENDS)
    expected = sum(part.T @ part for part in (*parts, third, second, ends))
    np.testing.assert_allclose(dense, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())


def test_a_point_outside_is_moved_in_and_one_inside_is_not() -> None:
    n, fps = 240, 60.0
    points = np.zeros((n, 2))
    points[90:150, 0] = 0.11  # six centimetres outside for a second
    heights, flying = np.full(n, 0.9), np.zeros(n, dtype=bool)
    shift = balance_shift(support_at(points), heights, fps, allowed=0.0, flying=flying)
    bent = np.zeros((n, 2))
    bent[1:-1] = np.diff(shift, 2, axis=0) * fps**2
    moved = points + 0.84 * (shift - 0.9 / GRAVITY * bent)
    far = np.maximum(np.abs(moved[:, 0]) - 0.05, 0.0)
    assert far[90:150].mean() < 0.02
    assert np.abs(shift[:, 1]).max() < 1e-9
    assert np.abs(shift[[0, -1]]).max() < 1e-3
    calm = balance_shift(support_at(0.2 * points), heights, fps, allowed=0.0, flying=flying)
    assert np.abs(calm).max() < 1e-12
    more = balance_shift(support_at(points), heights, fps, allowed=0.07, flying=flying)
    assert np.abs(more).max() < 1e-12


def test_a_shift_does_not_accelerate_in_flight() -> None:
    n, fps = 240, 60.0
    points = np.zeros((n, 2))
    points[60:180, 0] = 0.11
    flying = np.zeros(n, dtype=bool)
    flying[100:130] = True
    heights = np.full(n, 0.9)
    free = balance_shift(support_at(points), heights, fps, allowed=0.0, flying=flying)
    bent = np.abs(np.diff(free[:, 0], 2)[100:128]).max() * fps**2
    plain = balance_shift(
        support_at(points), heights, fps, allowed=0.0, flying=np.zeros(n, dtype=bool)
    )
    assert bent < 0.05 * np.abs(np.diff(plain[:, 0], 2)).max() * fps**2


def jump(fall: float, *, fps: float = 60.0) -> tuple[np.ndarray, list[tuple[int, int]]]:
    """A centre of mass that stands, flies for half a second with another gravity, and stands."""
    centre = np.zeros((120, 3))
    centre[:, 1] = 1.0
    time = np.arange(31) / fps
    centre[45:76, 1] += 0.5 * fall * time * (time[-1] - time)
    centre[45:76, 0] = 0.4 * time
    centre[76:, 0] = centre[75, 0]
    return centre, [(45, 75)]


@pytest.mark.parametrize("fall", [7.0, 9.81, 11.0])
def test_flights_become_parabolas_between_the_same_ends(fall: float) -> None:
    centre, spans = jump(fall)
    path = flight_path(centre, spans, 60.0)
    flown = centre + path.flying
    assert fall_of(flown[45:76, 1], 60.0) == pytest.approx(-GRAVITY, rel=1e-9)
    np.testing.assert_allclose(flown[[45, 75]], centre[[45, 75]], atol=1e-12)
    assert [flight.note() for flight in path.flights] == [""]
    if fall == 9.81:
        assert np.abs(path.flying).max() < 1e-12 and np.abs(path.standing).max() < 1e-12
    # The root takes up the change of velocity before and after, and comes to rest.
    whole = (path.flying + path.standing)[:, 1]
    step = np.diff(whole)
    assert abs(step[44] - step[45]) < 0.35 * abs(step[45]) + 1e-12
    assert np.abs(whole[:30]).max() == 0.0 and np.abs(whole[90:]).max() == 0.0


@pytest.mark.parametrize(("fall", "reason"), [(2.0, "carry the body"), (25.0, "at most 10 cm")])
def test_what_does_not_fall_like_a_body_is_left_for_its_own_reason(
    fall: float, reason: str
) -> None:
    centre, spans = jump(fall)
    path = flight_path(centre, spans, 60.0)
    (flight,) = path.flights
    assert (flight.first, flight.last, flight.part) == (45, 75, 0.0)
    assert flight.note().startswith("the flight of frames 45 to 75 is left: ")
    assert reason in flight.note()
    assert not path.flying.any() and not path.standing.any()


@pytest.mark.parametrize("fall", [5.5, 14.0])
def test_a_flight_far_from_its_parabola_is_corrected_in_part(fall: float) -> None:
    centre, spans = jump(fall)
    path = flight_path(centre, spans, 60.0)
    (flight,) = path.flights
    assert flight.distance == pytest.approx(abs(GRAVITY - fall) / 8.0 * 0.5**2, rel=1e-9)
    assert flight.part == pytest.approx(FARTHEST_M / flight.distance)
    assert np.abs(path.flying).max() == pytest.approx(FARTHEST_M)
    flown = centre + path.flying
    expected = fall + flight.part * (GRAVITY - fall)
    assert fall_of(flown[45:76, 1], 60.0) == pytest.approx(-expected, rel=1e-9)
    assert f"is corrected by {100 * flight.part:.0f} %" in flight.note()


def test_flights_are_frames_with_both_feet_up() -> None:
    points, planted = np.zeros((60, 4, 3)), np.ones((60, 4), dtype=bool)
    planted[20:41] = False
    points[22:39, :, 1] = 0.2
    assert flights_of(points, planted, 60.0) == [(22, 38)]
    points[30, 0, 1] = 0.03
    assert flights_of(points, planted, 60.0) == [(22, 29), (31, 38)]
    assert flights_of(points, np.zeros_like(planted), 60.0) == []


@pytest.mark.parametrize("fps", [3.0, 5.0, 8.0, 15.0])
def test_a_flight_of_few_frames_is_not_measured(fps: float) -> None:
    """A parabola goes through any three points, and no gravity can be found in one or two."""
    points, planted = np.zeros((12, 4, 3)), np.ones((12, 4), dtype=bool)
    for frames in range(1, 6):
        planted[4:], points[4:, :, 1] = True, 0.0
        planted[4 : 4 + frames], points[4 : 4 + frames, :, 1] = False, 0.2
        assert flights_of(points, planted, fps) == ([(4, 3 + frames)] if frames > 3 else [])


@pytest.mark.parametrize("fps", [5, 7, 8, 12])
def test_a_jump_at_a_low_rate_is_left(fps: int) -> None:
    clip = ml.synthetic.clip("stand", duration_s=3.0, fps=fps)
    root, first, frames = clip.motion.root_positions.copy(), int(1.2 * fps), int(0.3 * fps)
    root[first : first + frames + 1, 1] += 0.12 * np.sin(np.pi * np.arange(frames + 1) / frames)
    planted = clip.footplants.planted.copy()
    planted[first : first + frames + 1] = False
    motion = clip.motion.replace(root_positions=root)
    balanced = ml.balance(motion, ml.Footplants(planted))
    assert balanced.motion is motion
    assert not any("carry the body" in note for note in balanced.notes)


@pytest.mark.parametrize("sideways", [0.0, 0.06])
def test_the_centre_of_mass_is_moved_by_no_more_than_allowed_in_any_direction(
    sideways: float,
) -> None:
    centre, spans = jump(5.5)
    centre[45:76, [0, 2]] += sideways * np.sin(np.pi * np.arange(31) / 30)[:, None] ** 2
    for farthest in (FARTHEST_M, 0.09):
        path = flight_path(centre, spans, 60.0, farthest)
        (flight,) = path.flights
        moved = np.linalg.norm(path.flying, axis=1).max()
        assert 0.5 < flight.part < 1.0
        assert moved == pytest.approx(farthest)
        assert flight.distance == pytest.approx(moved / flight.part)
        assert f"at most {100 * farthest:g} cm" in flight.note()


def test_the_note_of_a_flight_counts_what_is_applied() -> None:
    (flight,) = flight_path(*jump(5.5), 60.0).flights
    whole, half = f"{100 * flight.part:.0f}", f"{50 * flight.part:.0f}"
    assert f"is corrected by {whole} %" in flight.note()
    assert "applied" not in flight.note()
    assert f"is corrected by {half} %" in flight.note(0.5)
    assert flight.note(0.5).endswith("at most 10 cm, of which 50 % is applied")


def leap(
    fall: float, sideways: float = 0.0, *, frames: int = 24
) -> tuple[ml.Motion, ml.Footplants]:
    """A stand that leaps up for 0.4 s with another gravity, shifted sideways on the way."""
    first, last = 50, 50 + frames
    time = np.arange(last - first + 1) / 60.0
    root = STAND.motion.root_positions.copy()
    root[first : last + 1, 1] += 0.5 * fall * time * (time[-1] - time)
    root[first : last + 1, 0] += sideways * np.sin(np.pi * time / time[-1])
    planted = STAND.footplants.planted.copy()
    planted[first + 1 : last] = False
    return STAND.motion.replace(root_positions=root), ml.Footplants(planted)


def test_stances_next_to_a_flight_do_not_prevent_its_correction() -> None:
    motion, plants = leap(14.0, sideways=0.05)
    balanced = ml.balance(motion, plants, allowed_m=0.02)
    assert balanced.before.fall > 0.35
    assert balanced.after.fall < 0.1
    state = _State.of(motion, plants, BodyMap.guess(motion.skeleton))
    distance = state.support.distance()
    next_to_it = near(state.flying, 7) & np.isfinite(distance)
    assert distance[next_to_it].max() > 0.02  # which do not count
    assert balanced.before.outside == 0.0


def test_a_flight_that_is_left_does_not_keep_others_from_falling() -> None:
    motion, plants = leap(14.0)
    body = BodyMap.guess(motion.skeleton)
    state = _State.of(motion, plants, body)
    falling = _State.of(*leap(9.81), body, state.flights)
    hanging = [*state.flights, (0, 20)]
    before, now = (replace(each, flights=hanging) for each in (state, falling))
    assert before.figures(0.1).fall == now.figures(0.1).fall
    assert _better(now, before, 0.1)


@pytest.mark.parametrize(("fall", "frames"), [(4.5, 24), (30.0, 30)])
def test_an_unchanged_motion_reports_the_flights_that_are_left(fall: float, frames: int) -> None:
    motion, plants = leap(fall, frames=frames)
    notes = ml.balance(motion, plants).notes
    assert notes[0].startswith("nothing was changed")
    reason = "something seems to carry the body" if fall < GRAVITY else "moved by at most 10 cm"
    assert any(" is left: " in note and reason in note for note in notes)


def test_a_jump_that_hangs_in_the_air_falls_more_freely() -> None:
    """A rise of 0.33 m in 0.63 s: in free fall it would be 15 cm higher."""
    motion, plants = leap(6.6, frames=38)
    balanced = ml.balance(motion, plants)
    assert balanced.before.fall > 0.3
    assert balanced.after.fall < 0.15
    assert balanced.verification.passed
    (note,) = balanced.notes
    assert "is corrected by " in note and "carry" not in note


@pytest.mark.parametrize("height", [1.55, 1.6, 1.75])
def test_small_bodies_jump_as_freely_as_their_limit_allows(height: float) -> None:
    """A hop of 35 cm in 0.67 s: what a joint may move is less than 10 cm below 1.67 m."""
    root = STAND.motion.root_positions.copy()
    root[50:91, 1] += 0.35 * np.sin(np.pi * np.arange(41) / 40)
    planted = STAND.footplants.planted.copy()
    planted[50:91] = False
    motion = ml.retarget(
        STAND.motion.replace(root_positions=root), ml.synthetic.skeleton(height=height)
    )
    balanced = ml.balance(motion, ml.Footplants(planted))
    assert balanced.after.fall < 0.5 * balanced.before.fall
    assert balanced.verification.passed
    moved = balanced.motion.world_positions() - motion.world_positions()
    farthest = MOST_CHANGE * stature(motion.skeleton)
    assert 0.85 * min(farthest, 0.1) < np.linalg.norm(moved, axis=-1).max() <= farthest
    (note,) = balanced.notes
    assert "is corrected by " in note and "applied" not in note


@pytest.mark.parametrize("too_far", [1, 2, 3])
def test_less_is_corrected_where_a_joint_would_move_too_far(
    monkeypatch: pytest.MonkeyPatch, too_far: int
) -> None:
    """The reason is the distance, not the quality check, and flights count what is applied."""
    motion, plants = leap(6.6, frames=38)
    whole = ml.balance(motion, plants)
    (part,) = (int(text) for text in re.findall(r"corrected by (\d+) %", whole.notes[0]))
    distances = iter([1.0] * too_far)
    monkeypatch.setattr(balancing, "_moved", lambda *motions: next(distances, 0.0))
    balanced = ml.balance(motion, plants)
    assert balanced.verification.passed
    assert not any("fail the quality check" in note for note in balanced.notes)
    limit = f"{100 * MOST_CHANGE * stature(motion.skeleton):.3g} cm"
    if too_far == 3:
        assert balanced.motion is motion
        assert balanced.notes[0].startswith("nothing was changed: no correction improves")
        assert balanced.notes[0].endswith(f"moves no joint by more than {limit}")
        return
    applied = 0.5**too_far
    flight, reason = balanced.notes
    (given,) = (int(text) for text in re.findall(r"corrected by (\d+) %", flight))
    assert given == pytest.approx(applied * part, abs=1)
    assert reason == (
        f"{100 * applied:.0f} % of the correction is applied: more would move a joint by more than "
        f"{limit}"
    )


@pytest.mark.parametrize(("failing_call", "applied"), [(2, 50), (4, 25)])
def test_less_is_corrected_where_more_would_fail_the_check(
    monkeypatch: pytest.MonkeyPatch, failing_call: int, applied: int
) -> None:
    """The last reason is given: a joint moves too far with all of it, half of it fails."""
    motion, plants = leap(14.0)
    held, calls = balancing._held, []
    distances = iter([1.0] if applied == 25 else [])
    monkeypatch.setattr(balancing, "_moved", lambda *motions: next(distances, 0.0))

    def failing(*arguments: object) -> object:
        cleanup = held(*arguments)
        calls.append(cleanup)
        if len(calls) != failing_call:  # every first one is not corrected, every second one is
            return cleanup
        failed = (FailedCheck("capture glitch", "Head", 3, 1.0, 0.0, ""),)
        return SimpleNamespace(verification=SimpleNamespace(failed=failed))

    monkeypatch.setattr(balancing, "_held", failing)
    balanced = ml.balance(motion, plants)
    assert balanced.notes == (
        f"{applied} % of the correction is applied: more would fail the quality check",
    )


def test_failures_at_other_frames_are_listed_once_each() -> None:
    early, late = (FailedCheck("backward knee", "LeftLeg", k, 30.0, 5.0, "deg") for k in (3, 60))
    worse = replace(late, value=40.0)
    verdict = merged_verdict(
        ml.Verification(False, (early, late)), ml.Verification(False, (worse,), compared=False)
    )
    assert verdict.failed == (early, worse)
    assert verdict.compared and not verdict.passed
    alone = ml.Verification(False, (late,), compared=False)
    assert merged_verdict(ml.Verification(True), alone).failed == (late,)
    assert not merged_verdict(ml.Verification(True), alone).passed


def test_a_fault_that_the_correction_removes_is_reported() -> None:
    """A jolt in flight: on the parabola of the result it is gone."""
    motion, plants = leap(14.0)
    root = motion.root_positions.copy()
    root[62, 1] += 0.06
    jolted = motion.replace(root_positions=root)
    assert any(each.check == "capture glitch" for each in ml.verify(jolted).failed)
    balanced = ml.balance(jolted, plants)
    assert balanced.verification.passed
    assert ml.verify(balanced.motion).passed
    assert any(note.startswith("the given motion fails a check") for note in balanced.notes)
