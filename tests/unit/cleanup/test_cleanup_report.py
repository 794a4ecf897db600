"""Reports, sources and kernels of clean-up against values worked out by hand."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import motionloom as ml
from motionloom._core import kernel
from motionloom.body.body_map import BodyMap
from motionloom.cleanup import footskate
from motionloom.cleanup.footskate import (
    _with_stiff_feet,
    build_report,
    clean_footskate,
    contact_speeds,
    fastest_contact,
)
from motionloom.cleanup.legs import Hold, damped_angle, damped_span
from motionloom.cleanup.solve import second_differences
from motionloom.errors import ArrayError
from motionloom.rotation import quat
from tests.oracles import calm as plain_calm
from tests.oracles import report as plain

N = 12
FPS = 50.0


def report_of(**changes):
    """A body of three joints and four foot points, of which the left ball is held."""
    positions, points = np.zeros((N, 3, 3)), np.zeros((N, 4, 3))
    after, moved = np.array(points), np.array(positions)
    points[:, 1, 0] = 0.01 * np.arange(N)  # half a metre a second
    after[:, 1, 0] = 0.05
    after[7, 1, 2] = 0.002
    after[5, 0, 1] = -0.03
    points[6, 3, 1] = -0.01
    moved[2, 1] = [0.03, 0.0, 0.04]
    moved[3, 2] = [0.0, -0.2, 0.0]
    shift = np.zeros((N, 3))
    shift[4] = [0.1, -0.2, 0.2]
    shift[9] = [-0.25, 0.0, 0.0]
    held = np.zeros((N, 4), dtype=bool)
    held[3:9, 1] = True
    places = np.zeros((N, 4, 3))
    places[:, 1, 0] = 0.05
    feet = [
        SimpleNamespace(held=held[:, k : k + 2], places=np.array(places[:, k : k + 2]))
        for k in (0, 2)
    ]
    turns = np.zeros((N, 3))
    turns[8, 1] = -0.4
    ankles = [
        SimpleNamespace(q_foot=quat.exp(turns)),
        SimpleNamespace(q_foot=-quat.exp(0.5 * turns)),
    ]
    scale = np.ones(N)
    scale[1] = 0.97
    legs = [SimpleNamespace(scale=np.ones(N)), SimpleNamespace(scale=scale)]
    planted = np.zeros((N, 4), dtype=bool)
    planted[2:10, 1] = True
    hold, gone = Hold(1, (2, 9), (3, 8)), Hold(1, (2, 9), (4, 8))
    return build_report(
        source_of(positions, points),
        planted,
        changes.get("holds", (hold, gone)),
        (hold,),
        SimpleNamespace(feet=feet, ankles=ankles, ground=np.zeros((N, 4))),
        SimpleNamespace(points=after, pose=(moved, None), shift=shift, legs=legs),
    )


def source_of(positions, points):
    """What a report reads of the motion before."""
    motion = SimpleNamespace(fps=FPS)
    return SimpleNamespace(pose=(positions,), points=points, motion=motion, repaired_knees=())


def test_a_report_measures_what_changed():
    report = report_of()
    assert report.held_part == 6 / 8
    assert report.contact_speed_before == pytest.approx(0.5)
    assert report.worst_before[1] == "left_toe"
    assert report.contact_speed_after == pytest.approx(0.1)
    assert report.worst_after == (6, "left_toe")
    assert report.joint_change_mean == pytest.approx((0.05 + 0.2) / (3 * N))
    assert report.joint_change_max == pytest.approx(0.2)
    assert report.root_shift_max == pytest.approx(0.3)
    assert report.foot_turn_max == pytest.approx(0.4)
    assert report.stretch_max == pytest.approx(0.03)
    assert (report.unreached_frames, report.unreached_max) == (1, pytest.approx(0.002))
    assert (report.penetration_before, report.penetration_after) == pytest.approx((0.01, 0.03))
    held, gone = report.plants
    assert (held.kind, held.first, held.last, held.held) == ("left_toe", 2, 9, (3, 8))
    assert (held.slide_before, held.slide_after) == pytest.approx((0.05, 0.002))
    assert (held.label_slide_before, held.label_slide_after) == pytest.approx((0.07, 0.002))
    assert gone.held is None
    assert (gone.slide_before, report.slide_before) == pytest.approx((0.07, 0.05))
    assert report.let_go == (gone,)


def test_a_plant_is_held_only_in_frames_of_its_own_span():
    hold = Hold(1, (2, 7), (4, 6))
    [plant] = build_plants(hold)
    assert plant.held == (4, 6)
    assert plant.slide_before == pytest.approx(0.02)


def build_plants(hold):
    """The report of one hold where the point is held before and after it as well."""
    points, held = np.zeros((N, 4, 3)), np.zeros((N, 4), dtype=bool)
    points[:, 1, 0] = 0.01 * np.arange(N)
    held[:, 1] = True
    still = np.tile([1.0, 0.0, 0.0, 0.0], (N, 1))
    return build_report(
        source_of(np.zeros((N, 1, 3)), points),
        held,
        (hold,),
        (hold,),
        SimpleNamespace(
            feet=[
                SimpleNamespace(held=held[:, k : k + 2], places=np.array(points[:, k : k + 2]))
                for k in (0, 2)
            ],
            ankles=[SimpleNamespace(q_foot=still)],
            ground=np.zeros((N, 4)),
        ),
        SimpleNamespace(
            points=points,
            pose=(np.zeros((N, 1, 3)), None),
            shift=np.zeros((N, 3)),
            legs=[SimpleNamespace(scale=np.ones(N))],
        ),
    ).plants


def test_contacts_move_from_one_planted_frame_to_the_next():
    points, planted = np.zeros((5, 4, 3)), np.ones((5, 4), dtype=bool)
    points[2:, 3] = [0.02, 0.01, -0.02]
    planted[3, 0] = False
    speeds = contact_speeds(points, planted, FPS)
    assert speeds[1, 3] == pytest.approx(1.5)
    assert np.argwhere(speeds < 0.0).tolist() == [[2, 0], [3, 0], *([4, k] for k in range(4))]
    assert fastest_contact(points, planted, FPS) == (pytest.approx(1.5), (1, "right_toe"))
    assert fastest_contact(points, np.zeros_like(planted), FPS) == (None, None)


def slide_of(points, kind, first, last):
    """Slide of a point between two frames in which it is held."""
    held = np.ones((len(points), 4), dtype=bool)
    hold = np.array([[kind, first, last, first, last, 1]])
    span, slides = np.zeros((1, 2), dtype=np.int64), np.zeros((1, 4))
    kernel("ml_contact_slides")(len(points), points, points, held, 1, hold, span, slides)
    assert span.tolist() == [[first, last]]
    assert (slides == slides[0, 0]).all()
    return slides[0, 0]


def test_a_slide_is_the_way_between_the_two_farthest_places():
    points = np.zeros((6, 4, 3))
    points[:, 2, 0] = [9.0, 0.0, -0.3, 0.6, 0.1, 9.0]
    points[:, 2, 1] = 100.0 * np.arange(6)
    points[3, 2, 2] = 1.2
    assert slide_of(points, 2, 1, 4) == pytest.approx(1.5)
    assert slide_of(points, 2, 1, 1) == 0.0


@pytest.mark.parametrize(("stretch", "roll"), [(False, True), (True, False)])
def test_feet_roll_over_their_balls_unless_legs_may_stretch(monkeypatch, stretch, roll):
    class SeenError(Exception):
        pass

    def place(*_, **options):
        raise SeenError(options["roll"])

    monkeypatch.setattr(footskate, "place_feet", place)
    clip = ml.synthetic.clip("stand", duration_s=0.5)
    with pytest.raises(SeenError, match=str(roll)):
        clean_footskate(clip.motion, clip.footplants, stretch=stretch)


def test_toes_that_slide_along_any_axis_are_put_to_their_median_place():
    motion = ml.synthetic.clip("stand", duration_s=0.2).motion
    body = BodyMap.guess(motion.skeleton)
    assert _with_stiff_feet(motion, body) is motion
    for toe in (body.left_toe, body.right_toe):
        for axis in range(3):
            moving = np.tile(motion.skeleton.offsets, (motion.n_frames, 1, 1))
            still = motion.replace(joint_translations=moving)
            assert _with_stiff_feet(still, body) is still
            moving[1:4, toe, axis] += [0.1, 0.2, 0.3]
            moving[2, 3, 0] += 0.1  # another joint, which may slide
            stiff = _with_stiff_feet(motion.replace(joint_translations=moving), body)
            expected = np.array(moving)
            expected[:, toe] = np.median(moving[:, toe], axis=0)
            assert np.array_equal(stiff.joint_translations, expected)
    footless = BodyMap(pelvis=0)
    assert _with_stiff_feet(still, footless) is still


def test_a_span_is_that_of_the_damped_knee_and_none_is_too_short_or_too_long():
    upper, lower = np.full(5, 0.5), np.full(5, 0.4)
    before, wanted = np.array([0.6, 0.895, 0.05, 2.0, 0.6]), np.array([0.7, 0.9, 0.6, 0.6, 0.05])
    cosines = [(0.41 - np.clip(span, 0.1, 0.9) ** 2) / 0.4 for span in (before, wanted)]
    now, then = np.arccos(np.clip(cosines, -1.0, 1.0))
    angle = damped_angle(now, then)
    expected = np.sqrt(0.41 - 0.4 * np.cos(angle))
    assert damped_span(upper, lower, before, wanted) == pytest.approx(expected)


def test_frames_around_a_step_count_ever_less():
    found, changed = shares([10], 22, 4)
    assert found[[10, 11]].tolist() == [1.0, 1.0]
    assert found[12:16] == pytest.approx([27 / 32, 0.5, 5 / 32, 0.0])
    assert found[9:5:-1] == pytest.approx(found[12:16])
    assert not found[:6].any() and not found[16:].any()
    assert np.array_equal(changed, found > 0.0)
    assert shares([3, 10], 22, 4)[0][[3, 4, 10, 11]].tolist() == [1.0] * 4


@pytest.mark.parametrize("n", [1, 2, 40])
def test_shares_are_those_of_the_plain_form(n):
    rng = np.random.Generator(np.random.PCG64(n))
    for half in (1, 3, 70):
        steps = np.flatnonzero(rng.random(n - 1) < 0.1)
        found, changed = shares(steps, n, half)
        assert np.array_equal(found, plain_calm.share(steps, n, half))
        assert np.array_equal(changed, found > 0.0)


def shares(steps, n, half):
    """How much of each frame is smoothed, and whether it is changed."""
    fast, part, changed = np.zeros(n - 1, bool), np.zeros(n), np.zeros(n, bool)
    fast[steps] = True
    kernel("ml_calm_share")(n, fast, half, part, changed)
    return part, changed


def test_second_differences():
    track = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.3, 0.0, 0.4], [0.6, 0.0, 0.8]])
    assert second_differences(track) == pytest.approx([0.5, 0.0])


def test_a_report_without_plants_has_none():
    assert report_of(holds=()).plants == ()


@pytest.mark.parametrize("n", [1, 2, 60])
def test_speeds_slides_and_ways_are_those_of_the_plain_form(n):
    rng = np.random.Generator(np.random.PCG64(n))
    before, after = rng.normal(size=(2, n, 4, 3))
    held = np.repeat(rng.random((n, 4)) < 0.7, 3, axis=0)[:n]
    speeds = contact_speeds(before, held, FPS)
    assert np.abs(speeds - plain.contact_speeds(before, held, FPS)).max() < 1e-12
    spans = np.sort(rng.integers(0, n, size=(40, 4)), axis=1)
    kinds, counts = rng.integers(0, 4, size=40), rng.integers(0, 2, size=40)
    holds = np.column_stack([kinds, spans[:, [0, 3]], spans[:, 1:3], counts])
    out, slides = np.zeros((40, 2), dtype=np.int64), np.zeros((40, 4))
    kernel("ml_contact_slides")(n, before, after, held, 40, holds, out, slides)
    for hold, span, slide in zip(holds.tolist(), out.tolist(), slides, strict=True):
        expected = plain.slides(before, after, held, hold)
        assert tuple(span) == expected[0]
        assert slide == pytest.approx(expected[1], abs=1e-12)
    places, ground, shift = rng.normal(size=(n, 4, 3)), rng.normal(size=(n, 4)), after[:, 0] + 0.0
    found = np.zeros(5)
    left, right = np.array(places[:, :2]), np.array(places[:, 2:])
    kernel("ml_contact_misses")(n, before, after, held, left, right, ground, shift, 2.5, found)
    expected = plain.misses(before, after, held, places, ground, shift, 2.5)
    assert found == pytest.approx(expected, abs=1e-12)
    ways, change = np.linalg.norm(after - before, axis=-1), np.zeros(2)
    kernel("ml_rewrite_ways")(n, 4, before, after, change)
    assert change == pytest.approx([ways.mean(), ways.max()], abs=1e-12)


@pytest.mark.parametrize(
    "hold",
    [(4, 0, 1, 0, 1, 1), (-1, 0, 1, 0, 1, 1), (0, -1, 1, 0, 1, 1), (0, 0, 9, 0, 1, 1),
     (0, 1, 0, 0, 1, 1), (0, 0, 1, -1, 1, 1), (0, 0, 1, 0, 9, 1), (0, 0, 1, 1, 0, 1)],
)  # fmt: skip
def test_a_hold_outside_of_the_clip_is_refused(hold):
    points, held = np.zeros((9, 4, 3)), np.zeros((9, 4), dtype=bool)
    out = (np.zeros((1, 2), dtype=np.int64), np.zeros((1, 4)))
    with pytest.raises(ArrayError, match="sizes do not fit"):
        kernel("ml_contact_slides")(9, points, points, held, 1, np.array([hold]), *out)


@pytest.mark.parametrize("n", [1, 2, 60])
def test_the_fastest_of_labels_is_that_of_their_speeds(n):
    rng = np.random.Generator(np.random.PCG64(n))
    points, planted = rng.normal(size=(n, 4, 3)), rng.random((n, 4)) < 0.8
    spans = np.sort(rng.integers(0, n, size=(30, 2)), axis=1)
    labels = np.column_stack([rng.integers(0, 4, size=30), spans])
    found = np.zeros(30)
    kernel("ml_contact_fastest")(n, points, planted, FPS, 30, labels, found)
    speeds = contact_speeds(points, planted, FPS)
    wanted = [speeds[first : last + 1, kind].max() for kind, first, last in labels.tolist()]
    assert found.tolist() == wanted


@pytest.mark.parametrize("label", [(4, 0, 1), (-1, 0, 1), (0, -1, 1), (0, 0, 3)])
def test_labels_beyond_the_clip_are_refused(label):
    planted = np.zeros((3, 4), dtype=bool)
    with pytest.raises(ArrayError, match="sizes"):
        kernel("ml_contact_fastest")(
            3, np.zeros((3, 4, 3)), planted, FPS, 1, np.array([label]), np.zeros(1)
        )


def test_a_foot_that_stands_where_the_clips_slides_does_not_slip() -> None:
    clip = ml.synthetic.clip("stand", duration_s=3.0, fps=FPS)
    root = np.array(clip.motion.root_positions)
    root[:, 0] += 0.1 * np.sin(2.0 * np.arange(len(root)) / FPS)
    skating = clip.motion.replace(root_positions=root)
    cleaned = clean_footskate(skating, clip.footplants)
    assert cleaned.report.held_part == 1.0
    assert cleaned.verification.passed
