"""Gaps filled from captured windows."""

from dataclasses import replace

import numpy as np
import pytest

import motionloom as ml
from motionloom.body.anatomy import foot_points
from motionloom.errors import ArrayError, SkeletonMismatchError, TableError
from motionloom.motion.motion import runs_of
from motionloom.rotation import quat
from motionloom.tables.collection.frames import frames_of
from motionloom.tables.index.index_build import build_index
from motionloom.tables.synthesis import fill as filling
from motionloom.tables.synthesis.fill import fill
from motionloom.tables.synthesis.gap_windows import (
    WindowQuery,
    gap_of,
    nearest_windows,
    shares_of,
    windows_for,
)
from motionloom.tables.synthesis.synthesis import rig_of
from motionloom.tables.synthesis.table_check import TableCheck

FIRST, LAST = 40, 78
LABEL_M, LABEL_M_S = 0.041, 0.31
"""How far, and how fast, a point moves at most while it is labelled as planted."""
NEAR_CM, FAR_CM = 3.0, 6.0
"""Walks of two seeds fill each other's gaps to 2.4 cm; a straight line between the gap's sides is
off by more than the second."""


@pytest.fixture(scope="module")
def walk(kinds_motions):
    return next(m for m in kinds_motions if m.name == "walk_0")


@pytest.fixture(scope="module")
def filled(kinds_frames, walk):
    return fill(kinds_frames, walk, FIRST, LAST, WindowQuery(exclude=["walk_0"]))


def error_cm(made, real):
    off = made.world_positions() - real.world_positions()
    return 100.0 * np.linalg.norm(off[FIRST : LAST + 1], axis=-1).mean()


def test_outside_the_gap_nothing_changes(filled, walk):
    made = filled.motion
    outside = np.r_[0:FIRST, LAST + 1 : walk.n_frames]
    assert np.array_equal(made.root_positions[outside], walk.root_positions[outside])
    assert np.array_equal(made.local_quats[outside], walk.local_quats[outside])


def test_a_walk_is_filled_with_the_other_walk(filled, walk):
    sources, inside = filled.provenance.sources, filled.provenance.body[FIRST : FIRST + 1]
    assert {sources[clip] for clip in inside.clip[0, :8]} == {"walk_1"}
    assert "walk_0" not in sources[1:]
    assert error_cm(filled.motion, walk) < NEAR_CM
    straight = walk.replace(
        root_positions=between(walk.root_positions), local_quats=between(walk.local_quats)
    )
    assert error_cm(straight, walk) > FAR_CM


def between(values):
    """A straight line across the gap."""
    made = np.array(values)
    u = np.linspace(0.0, 1.0, LAST - FIRST + 3)[1:-1].reshape(-1, *[1] * (values.ndim - 1))
    made[FIRST : LAST + 1] = (1.0 - u) * values[FIRST - 1] + u * values[LAST + 1]
    if values.shape[-1] == 4:
        made /= np.linalg.norm(made, axis=-1, keepdims=True)
    return made


def test_what_was_in_the_gap_is_not_looked_at(kinds_frames, walk, filled):
    root = np.array(walk.root_positions)
    root[FIRST : LAST + 1] += 5.0
    again = fill(
        kinds_frames,
        walk.replace(root_positions=root),
        FIRST,
        LAST,
        WindowQuery(exclude=["walk_0"]),
    )
    assert np.array_equal(again.motion.root_positions, filled.motion.root_positions)
    assert np.array_equal(again.motion.local_quats, filled.motion.local_quats)


def test_the_same_is_made_again(kinds_frames, walk, filled):
    again = fill(kinds_frames, walk, FIRST, LAST, WindowQuery(exclude=["walk_0"]))
    assert np.array_equal(again.motion.local_quats, filled.motion.local_quats)


def test_an_index_finds_what_comparing_all_finds(kinds_frames, walk):
    gap = gap_of(kinds_frames, walk, FIRST, LAST)
    index = build_index(kinds_frames, length=gap.length)
    every = nearest_windows(kinds_frames, gap, WindowQuery(count=12, exclude=["walk_0"]))
    found = nearest_windows(
        kinds_frames, gap, WindowQuery(count=12, exclude=["walk_0"], index=index)
    )
    assert len(set(found.rows) & set(every.rows)) >= 10
    assert (np.diff(every.distances) >= 0.0).all()


def test_a_turned_and_moved_motion_is_filled_alike(kinds_frames, walk, filled):
    moved = ml.move(walk, heading=2.0, x=4.0, z=-1.0)
    made = fill(kinds_frames, moved, FIRST, LAST, WindowQuery(exclude=["walk_0"])).motion
    back = ml.move(filled.motion, heading=2.0, x=4.0, z=-1.0)
    assert np.abs(made.world_positions() - back.world_positions()).max() < 2e-3


def test_weights_fall_with_distance():
    shares = shares_of(np.array([0.1, 0.12, 0.14]))
    assert shares.sum() == pytest.approx(1.0)
    assert (np.diff(shares) < 0.0).all() and shares[-1] > 0.0
    assert shares_of(np.array([0.1, 0.12, 0.4]))[-1] == 0.0  # much farther than the nearest
    assert shares_of(np.array([0.3])) == pytest.approx([1.0])
    assert shares_of(np.zeros(3)).sum() == pytest.approx(1.0)


@pytest.mark.parametrize(("first", "last"), [(0, 20), (20, 10**6), (30, 20), (-3, 5)])
def test_a_gap_needs_a_frame_on_both_sides(kinds_frames, walk, first, last):
    with pytest.raises(ArrayError, match="one before and one after"):
        fill(kinds_frames, walk, first, last)


def test_a_motion_at_another_rate_is_refused(kinds_frames, walk):
    with pytest.raises(SkeletonMismatchError, match="resample"):
        fill(kinds_frames, ml.resample(walk, fps=24), 10, 20)


def test_nothing_left_to_fill_with_is_reported(kinds_frames, walk):
    with pytest.raises(TableError, match="Leave out fewer"):
        fill(kinds_frames, walk, FIRST, LAST, WindowQuery(exclude=list(kinds_frames.ids)))


def test_one_frame_on_each_side_is_enough(kinds_frames, walk):
    short = walk[FIRST - 1 : LAST + 2]
    made = fill(kinds_frames, short, 1, short.n_frames - 2, WindowQuery(exclude=["walk_0"]))
    assert np.isfinite(made.motion.world_positions()).all()


def test_fewer_windows_than_asked_for_are_averaged(kinds_frames, walk):
    others = [name for name in kinds_frames.ids if name != "walk_1"]
    made = fill(kinds_frames, walk, FIRST, LAST, WindowQuery(count=10**4, exclude=others))
    assert 1 <= np.count_nonzero(made.provenance.body.weight[FIRST]) < 10**4


def test_windows_at_another_cadence_are_found_and_played_in_the_gaps_time(kinds_frames, walk):
    slow = ml.resample(walk, fps=walk.fps * 1.25)  # the same steps in a quarter more frames
    slow = slow.replace(fps=walk.fps)
    first, last = 50, 98
    gap = gap_of(kinds_frames, slow, first, last)
    found = windows_for(kinds_frames, gap, WindowQuery(count=8))
    assert np.median(found.lengths) < gap.length
    made = fill(kinds_frames, slow, first, last)
    off = made.motion.world_positions() - slow.world_positions()
    plain = nearest_windows(kinds_frames, gap, WindowQuery(count=8))
    assert found.distances[0] < plain.distances[0]
    assert 100.0 * np.linalg.norm(off[first : last + 1], axis=-1).mean() < NEAR_CM


def test_labelled_points_stand(kinds_motions):
    motions = [m for m in kinds_motions if m.name.startswith(("walk", "sneak", "run"))]
    frames = frames_of(motions)
    labelled = 0
    for motion in motions:
        made = fill(frames, motion, FIRST, LAST, WindowQuery(exclude=[motion.name]))
        feet = foot_points(made.motion, body=frames.body_map)[FIRST : LAST + 1]
        for point in range(4):
            for first, last in runs_of(made.footplants.planted[:, point]):
                stands = feet[first : last + 1, point]
                labelled += len(stands)
                apart = np.linalg.norm(stands[:, None] - stands, axis=-1)
                assert apart.max() < LABEL_M
                if last > first:
                    steps = np.linalg.norm(np.diff(stands, axis=0), axis=-1)
                    assert steps.max() * motion.fps < LABEL_M_S
    assert labelled > 20


def test_windows_are_stretched_no_more_than_asked_for(kinds_frames, walk):
    gap = gap_of(kinds_frames, walk, FIRST, LAST)
    for stretch in (1.0, 1.1, 1.3):
        found = windows_for(kinds_frames, gap, WindowQuery(count=64, stretch=stretch))
        rates = (found.lengths - 1) / (gap.length - 1)
        assert np.maximum(rates, 1.0 / rates).max() < stretch + 0.03
        assert len(set(rates)) == 1 if stretch == 1.0 else len(set(rates)) > 1


@pytest.fixture(scope="module")
def check(kinds_frames):
    return TableCheck(kinds_frames, rig_of(kinds_frames))


def with_turned_elbow(motion, frames, angles):
    quats = np.array(motion.local_quats)
    elbow = motion.skeleton.names.index("LeftForeArm")
    turn = quat.from_axis_angle(np.array([0.0, 1.0, 0.0]), np.asarray(angles, dtype=np.float64))
    quats[frames, elbow] = quat.multiply(quats[frames, elbow], turn)
    return motion.replace(local_quats=quats)


def test_joints_may_be_as_fast_as_right_before_and_after_a_gap(check, walk):
    usual = filling._around(check, walk, FIRST, LAST).turn
    for frame, faster in ((FIRST - 1, True), (LAST + 1, True), (FIRST, False), (LAST, False)):
        moved = with_turned_elbow(walk, [frame], [0.8])
        more = filling._around(check, moved, FIRST, LAST).turn.max() > usual.max() + 20.0
        assert more == faster, frame


@pytest.mark.parametrize("side", ["into", "out of"])
def test_the_steps_into_a_gap_and_out_of_it_are_checked(check, kinds_frames, walk, filled, side):
    around = filling._around(check, walk, FIRST, LAST)
    assert filling._checked(check, filled, around).passed
    angles = 0.8 * np.linspace(1.0, 0.0, LAST - FIRST + 1)
    inside = np.arange(FIRST, LAST + 1)
    moved = with_turned_elbow(filled.motion, inside, angles if side == "into" else angles[::-1])
    failed = filling._checked(check, replace(filled, motion=moved), around).verification(FIRST - 1)
    frames = {each.frame for each in failed.failed if "turns faster" in str(each)}
    assert frames == {FIRST if side == "into" else LAST + 1}


def test_feet_go_farther_along_a_higher_floor(check):
    """The centimetre above the height at which a foot is dragged counts, clip by clip."""
    at_all = False
    for clip in range(check.frames.n_clips):
        low, high = check.limits_of([clip]).drag, check.drags_of([clip], 0.01)
        assert np.array_equal(check.drags_of([clip], 0.0), low)
        at_all |= bool((high > low).any())
        assert (high >= low).all()
    assert at_all
    several = check.drags_of([0, 1], 0.01)
    assert np.array_equal(several, np.maximum(*(check.drags_of([k], 0.01) for k in (0, 1))))
