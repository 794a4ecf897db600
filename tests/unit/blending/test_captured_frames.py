"""Frames that were captured stay as they were captured, and provenance says which they are."""

from __future__ import annotations

import numpy as np
import pytest

import motionloom as ml
from motionloom.body.anatomy import foot_points
from motionloom.motion.edit import transform
from motionloom.motion.motion import Footplants
from motionloom.rotation import quat

WALK, JOG, STAND, SNEAK = (
    ml.synthetic.clip(kind, duration_s=3.0) for kind in ("walk", "jog", "stand", "sneak")
)
FADE_S = 0.3


def rotated_alike(one: ml.Motion, other: ml.Motion) -> np.ndarray:
    """Frames with equal rotations to the last bit; q and -q are one rotation. (F,)."""
    dots = np.einsum("fjc,fjc->fj", one.local_quats, other.local_quats)
    return (one.local_quats * np.sign(dots)[..., None] == other.local_quats).all(axis=(1, 2))


def assert_captured(made: ml.Transition) -> None:
    """The law: outside `changed`, A's frames, and B's moved rigidly, to the last bit."""
    a, b = made.matched.motions
    placed = (a, transform(b, made.placement))
    where = made.provenance
    covered = np.zeros(made.motion.n_frames, dtype=bool)
    for copy in where.copies():
        part = made.motion[copy.first : copy.last + 1]
        own = placed[copy.source][copy.start : copy.start + copy.n_frames]
        assert rotated_alike(part, own).all()
        assert (part.root_positions == own.root_positions).all()
        covered[copy.first : copy.last + 1] = True
    assert (covered == ~where.changed).all()


def fade_end(made: ml.Transition) -> int:
    return round(FADE_S * made.motion.fps)


PAIRS = [(WALK, JOG), (JOG, STAND), (STAND, WALK), (SNEAK, JOG), (WALK, WALK)]


@pytest.mark.parametrize("options", [{}, {"clean": False}, {"clean": "all"}, {"repair": "all"}])
@pytest.mark.parametrize("pair", PAIRS[:3])
def test_frames_that_are_not_marked_as_changed_are_the_clips_own(pair, options):
    made = ml.transition(pair[0].motion, pair[1].motion, **options)
    assert_captured(made)


@pytest.mark.parametrize("pair", PAIRS)
def test_only_the_blend_and_its_fade_change(pair):
    made = ml.transition(pair[0].motion, pair[1].motion)
    first, last = made.span
    low, high = first - fade_end(made), last + fade_end(made)
    held = [note for note in made.notes if "until it swings" in note]
    if not held:
        changed = np.flatnonzero(made.provenance.changed)
        assert low <= changed[0] <= changed[-1] <= high


def test_a_clip_with_glitches_keeps_them_and_says_so():
    quats = np.array(WALK.motion.local_quats)
    quats[5, 6:9] = quats[60, 6:9]
    glitched = WALK.motion.replace(local_quats=quats)
    made = ml.transition(glitched, JOG.motion, at=(100, 60))
    assert_captured(made)
    assert (made.motion.local_quats[5] == glitched.local_quats[5]).all()
    (note,) = [note for note in made.notes if "glitch" in note]
    assert note.startswith("A has ") and "motionloom clean" in note
    assert any("frame 5" in each for each in made.details)
    whole = ml.transition(glitched, JOG.motion, at=(100, 60), repair="all")
    assert not (whole.motion.local_quats[5] == glitched.local_quats[5]).all()


def test_a_glitch_next_to_the_blend_is_repaired_and_marked_as_changed():
    quats = np.array(WALK.motion.local_quats)
    quats[83, 6:9] = quats[40, 6:9]
    glitched = WALK.motion.replace(local_quats=quats)
    made = ml.transition(glitched, JOG.motion, at=(100, 60), length_s=0.4)
    left = ml.transition(glitched, JOG.motion, at=(100, 60), length_s=0.4, repair=None)
    assert_captured(made)
    assert_captured(left)
    first = made.span[0]
    assert first - fade_end(made) < 83
    steps = [
        np.abs(np.diff(each.motion.local_quats[80:87, 6:9], axis=0)).max() for each in (made, left)
    ]
    assert steps[0] < 0.5 * steps[1]


def test_a_far_fault_neither_refuses_nor_starts_retries():
    """A foot that slides in the capture, seconds away from the blend, is A's own."""
    root = np.array(WALK.motion.root_positions)
    root[:20, 0] += np.linspace(0.5, 0.0, 20)
    skated = WALK.motion.replace(root_positions=root)
    plants = (WALK.footplants, JOG.footplants)
    usual = ml.transition(WALK.motion, JOG.motion, footplants=plants)
    place = usual.candidates[0]
    made = ml.transition(skated, JOG.motion, footplants=plants, at=(place.frame_a, place.frame_b))
    assert usual.span[0] - fade_end(usual) > 20
    assert made.verification.passed, made.verification.describe()
    assert (made.motion.root_positions[:20] == skated.root_positions[:20]).all()


@pytest.mark.parametrize(("higher", "match"), [(0.01, True), (0.06, True), (0.06, False)])
def test_a_clip_on_another_floor_is_moved_onto_that_of_a_and_feet_step_where_not(higher, match):
    """A foot is not held at another height before the blend."""
    root = np.array(STAND.motion.root_positions)
    root[:, 1] += higher
    above = STAND.motion.replace(root_positions=root)
    plants = (STAND.footplants,) * 2
    made = ml.transition(STAND.motion, above, at=(90, 90), footplants=plants, match=match)
    moved = higher > 0.02 and match
    assert [note for note in made.notes if "floor of A" in note] == (
        ["B: moved 6 cm down, onto the floor of A"] if moved else []
    )
    placed = made.matched.motions[1].root_positions[:, 1]
    assert np.abs(placed - root[:, 1] + higher * moved).max() < 1e-9
    first, last = made.span
    assert made.footplants.planted[first].any()
    assert made.footplants.planted[(first + last) // 2].any() == (higher < 0.03 or moved)
    assert_captured(made)


def test_times_of_a_transition_go_on_and_its_shares_go_from_a_to_b():
    made = ml.transition(WALK.motion, JOG.motion)
    track = made.provenance.body
    assert made.provenance.n_frames == made.motion.n_frames
    for source in (0, 1):
        times = track.times_in(source)
        assert (np.diff(times[np.isfinite(times)]) > 0.0).all()
    assert (np.diff(track.weights_of(0)) <= 0.0).all()
    assert track.times_in(0)[0] == 0.0
    last = (made.matched.motions[1].n_frames - 1) / made.motion.fps
    assert track.times_in(1)[-1] == pytest.approx(last)


def test_feet_that_stand_all_through_the_blend_stand_in_one_place():
    """B is moved so that they have one place in both clips; the whole body would put it beside."""
    stand = STAND.motion
    lean = np.array(stand.local_quats)
    hip = stand.skeleton.names.index("Spine")
    lean[:, hip] = quat.multiply(lean[:, hip], quat.from_axis_angle(np.array([1.0, 0, 0]), 0.5))
    plants = Footplants(np.ones((stand.n_frames, 4), dtype=bool))
    bent = stand.replace(local_quats=lean)
    made = ml.transition(stand, bent, footplants=(plants, plants), clean=False, at=(90, 90))
    assert_captured(made)
    points = foot_points(made.motion)
    assert np.ptp(points[:, :, [0, 2]], axis=0).max() < 0.005


def test_a_lead_comes_from_its_pose_and_the_clip():
    pose = STAND.motion
    start, stop = ml.lead_in(WALK.motion, pose), ml.lead_out(WALK.motion, pose)
    for made, source, time_s in ((start, 0, pose.duration_s), (stop, 1, 0.0)):
        held = made.provenance.body.times_in(source)
        assert held[np.isfinite(held)] == pytest.approx(time_s)
        clip = made.provenance.body.times_in(1 - source)
        assert (np.diff(clip[np.isfinite(clip)]) > 0.0).all()
    frame = start.motion.n_frames - 1
    copy = start.provenance.copies()[-1]
    assert (copy.source, copy.last) == (1, frame)
    own = transform(WALK.motion, start.placement)
    assert (start.motion.root_positions[copy.first] == own.root_positions[copy.start]).all()
