"""Clips in a row: laws of the result, and the cases that are easily wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

import motionloom as ml
from motionloom.motion.edit import transform


def clip(kind: str, duration_s: float = 3.0, fps: float = 30.0, **options: Any) -> ml.Motion:
    return ml.synthetic.clip(kind, duration_s=duration_s, fps=fps, **options).motion


@pytest.fixture(scope="module")
def clips() -> list[ml.Motion]:
    return [clip("walk"), clip("jog"), clip("walk", turn=0.4), clip("run")]


@pytest.fixture(scope="module")
def row(clips: list[ml.Motion]) -> ml.Sequence:
    return ml.sequence(clips)


@pytest.fixture(scope="module")
def lap(clips: list[ml.Motion]) -> ml.Sequence:
    return ml.sequence(clips[:3], loop=True)


@pytest.fixture(params=["row", "lap"])
def made(request: pytest.FixtureRequest) -> ml.Sequence:
    result: ml.Sequence = request.getfixturevalue(request.param)
    return result


def places(result: ml.Sequence) -> list[tuple[int, int]]:
    return [(joint.place.frame_a, joint.place.frame_b) for joint in result.joints]


# --- Laws


def test_two_clips_are_the_transition_bit_for_bit(clips) -> None:
    for a, b in ((0, 1), (2, 3), (1, 0)):
        two, joined = ml.sequence([clips[a], clips[b]]), ml.transition(clips[a], clips[b])
        place = joined.candidates[0]
        assert places(two) == [(place.frame_a, place.frame_b)]
        assert two.motion.n_frames == joined.motion.n_frames
        assert (two.motion.local_quats == joined.motion.local_quats).all()
        assert (two.motion.root_positions == joined.motion.root_positions).all()
        assert (two.footplants.planted == joined.footplants.planted).all()
        assert two.span == joined.span
        assert two.verification == joined.verification
        assert two.joints[0].kept.seconds == pytest.approx(joined.kept.seconds)
        ours, theirs = two.provenance.body, joined.provenance.body
        for k in (0, 1):
            assert np.array_equal(ours.times_in(k), theirs.times_in(k), equal_nan=True)
            assert (ours.weights_of(k) == theirs.weights_of(k)).all()
        assert (two.provenance.changed == joined.provenance.changed).all()


def test_frames_outside_blends_and_fades_are_the_clips_own(made, clips) -> None:
    copies = made.provenance.copies()
    assert {each.source for each in copies} == set(range(len(made.names)))
    for each in copies:
        part = clips[each.source][each.start : each.start + each.n_frames]
        placed = transform(part, made.placements[each.source])
        if made.closure is not None and each.source == 0 and each.first > 0:
            placed = transform(part, made.closure @ made.placements[0])
        mine = made.motion[each.first : each.last + 1]
        signs = np.sign((mine.local_quats * placed.local_quats).sum(axis=-1, keepdims=True))
        assert (signs[:, 1:] * mine.local_quats[:, 1:] == part.local_quats[:, 1:]).all()
        assert np.abs(signs * mine.local_quats - placed.local_quats).max() < 1e-14
        assert np.abs(mine.root_positions - placed.root_positions).max() < 1e-13


def test_only_the_fades_around_a_joint_are_changed(made) -> None:
    changed = np.flatnonzero(made.provenance.changed)
    fade = round(0.3 * made.motion.fps)
    near = np.zeros(made.motion.n_frames, dtype=bool)
    held = any("until it swings" in note for note in made.notes)
    for joint in made.joints:
        near[max(0, joint.span[0] - fade) : joint.span[1] + fade + 1] = True
    assert held or near[changed].all()


def test_times_of_a_clip_only_grow(row) -> None:
    for k in range(len(row.names)):
        times = row.provenance.body.times_in(k)
        times = times[~np.isnan(times)]
        assert (np.diff(times) > 0.0).all()


def test_its_length_is_what_plays_alone_and_what_is_blended(made) -> None:
    alone = [last - first + 1 for first, last in made.alone]
    blended = [joint.span[1] - joint.span[0] - 1 for joint in made.joints]
    again = made.closure is not None
    assert made.motion.n_frames == sum(alone) + sum(blended) + again
    weights = made.provenance.body
    for k, frames in enumerate(alone):
        assert (weights.weights_of(k) == 1.0).sum() == frames + (again and k == 0)


def test_every_clip_is_left_after_it_was_entered_and_keeps_its_share(made) -> None:
    assert all(first <= last for first, last in made.alone)
    assert all(share >= 0.3 for share in made.shares)
    for joint in made.joints:
        a, b = joint.kept.shares
        assert (a, b) == pytest.approx([made.shares[k] for k in joint.clips])


def test_a_loop_ends_as_it_begins(lap) -> None:
    first, last = lap.motion[:1], lap.motion[-1:]
    moved = transform(first, lap.closure)
    assert np.abs(moved.world_positions() - last.world_positions()).max() < 1e-9
    assert (np.abs(first.local_quats[0, 1:]) == np.abs(last.local_quats[0, 1:])).all()
    assert len(lap.joints) == len(lap.names)
    two = [lap.motion, transform(lap.motion, lap.closure)[1:]]
    assert ml.verify(ml.concatenate(two), sources=[lap.motion]).passed


def test_a_plan_makes_the_same_bits(made, clips) -> None:
    plan = made.plan
    again = ml.sequence(
        clips[: len(made.names)], joints=plan["joints"], loop=plan["loop"], turn_to=plan["turn_to"]
    )
    assert (again.motion.local_quats == made.motion.local_quats).all()
    assert (again.motion.root_positions == made.motion.root_positions).all()
    assert again.plan == plan


def test_the_check_counts_frames_of_the_result(clips) -> None:
    with pytest.warns(ml.MotionLoomWarning, match="The sequence fails"):
        result = ml.sequence(
            [clips[0], clips[3], clips[0]],
            joints=[{"at": (40, 20)}, {"at": (60, 30), "length_s": 0.07}],
        )
    assert not result.verification.passed
    joint = result.joints[1]
    assert joint.verification is not None
    for each in joint.verification.failed:
        assert abs(each.frame - joint.span[0]) < 30
    assert str(result.verification.failed[0]) in " ".join(result.notes)
    assert result.verification.failed[0].check in " ".join(result.report)


# --- Places


def test_joints_are_chosen_together(clips) -> None:
    """Alone, each joint would take a place at which the middle clip is left before it begins."""
    middle = clips[1][:50]
    result = ml.sequence([clips[0], middle, clips[2]], keep=0, length_s=0.3)
    (_, enters), (leaves, _) = places(result)
    assert enters < leaves
    alone = [
        ml.sequence(pair, keep=0, length_s=0.3) for pair in ([clips[0], middle], [middle, clips[2]])
    ]
    cost = sum(joint.place.cost for joint in result.joints)
    assert cost >= sum(each.joints[0].place.cost for each in alone) - 1e-9


def test_more_is_kept_where_more_is_asked_for(clips) -> None:
    little = ml.sequence(clips[:3], keep=0)
    much = ml.sequence(clips[:3], keep=0.6)
    assert min(much.shares) >= 0.6
    assert sum(much.shares) > sum(little.shares)
    more = ml.sequence(clips[:3], joints=[None, {"keep": (0.5, 0.8)}])
    assert more.shares[1] >= 0.5 and more.shares[2] >= 0.8


def test_what_cannot_be_kept_is_said(clips) -> None:
    result = ml.sequence(clips[:3], keep=0.95)
    assert any("% of it play, not 95 %" in note for note in result.notes)


def test_the_same_clip_twice_is_played_twice(clips) -> None:
    twice = ml.sequence([clips[0], clips[0]])
    ((leaves, enters),) = places(twice)
    assert enters < leaves - 18
    assert twice.motion.n_frames > clips[0].n_frames
    lap = ml.sequence([clips[0]], loop=True)
    assert lap.closure is not None and len(lap.joints) == 1
    assert np.hypot(lap.closure.x0, lap.closure.z0) > 0.5


def test_a_clip_alone_stays_as_it_is(clips) -> None:
    result = ml.sequence([clips[0]])
    assert (result.motion.local_quats == clips[0].local_quats).all()
    assert result.notes == ("one clip: nothing is joined",)
    assert result.verification.passed and result.joints == ()


# --- One clip that loops


@pytest.mark.parametrize("frames", [31, 45, 90])
@pytest.mark.parametrize("kind", ["walk", "jog"])
def test_a_clip_alone_loops_as_loop_does(kind: str, frames: int) -> None:
    """Also where it is too short to be joined with itself."""
    one = clip(kind)[:frames]
    lap, cycle = ml.sequence([one], loop=True), ml.loop(one)
    assert (lap.motion.local_quats == cycle.motion.local_quats).all()
    assert (lap.motion.root_positions == cycle.motion.root_positions).all()
    assert (lap.footplants.planted == cycle.footplants.planted).all()
    assert lap.notes == cycle.notes and lap.verification == cycle.verification
    assert (lap.provenance.changed == cycle.provenance.changed).all()
    (joint,) = lap.joints
    assert (joint.place.frame_a, joint.place.frame_b) == (cycle.span[1], cycle.span[0])
    (alone,) = lap.alone
    assert alone[1] - alone[0] + 1 + joint.span[1] - joint.span[0] == lap.motion.n_frames
    again = ml.sequence([one], joints=lap.plan["joints"], loop=True)
    assert (again.motion.local_quats == lap.motion.local_quats).all()
    assert again.plan == lap.plan


def test_options_of_a_clip_alone_that_loops_are_used(clips) -> None:
    usual, long, seam = (
        ml.sequence([clips[0]], loop=True, check=False, **options)
        for options in ({}, {"keep": 0.7}, {"length_s": 0.4})
    )
    assert usual.shares[0] < 0.7 <= long.shares[0]
    assert (usual.span[1] - usual.span[0], seam.span[1] - seam.span[0]) == (6, 12)
    for made in (long, seam):
        again = ml.sequence([clips[0]], joints=made.plan["joints"], loop=True, check=False)
        assert (again.motion.local_quats == made.motion.local_quats).all()
    turned = ml.sequence([clips[0]], loop=True, turn_to=1.0)
    assert turned.turn_to == 1.0
    assert (turned.motion.local_quats[:, 1:] == usual.motion.local_quats[:, 1:]).all()
    first, last = turned.motion[:1], turned.motion[-1:]
    moved = transform(first, turned.closure)
    assert np.abs(moved.world_positions() - last.world_positions()).max() < 1e-9
    joined = ml.sequence([clips[0]], joints=[{"keep": "late"}], loop=True, check=False)
    assert joined.joints[0].options["at"] is not None
    raw = ml.sequence([clips[0]], loop=True, clean=False)
    assert raw.cleanup is None and usual.cleanup is not None


def test_a_clip_alone_that_cannot_loop_is_named(clips) -> None:
    with pytest.raises(ml.RegistrationError, match=r"Clip 1, blink.*0\.5 s.*`keep`"):
        ml.sequence([clips[0][:10]], loop=True, names=["blink"])


# --- Errors that name clips and remedies


def test_blends_that_meet_in_a_clip_are_shortened(clips) -> None:
    """Clips as short as one cycle: the first blends made leave the clip before it is entered."""
    one = clips[0][:31]
    made = ml.sequence([one, one, one], keep=0.9, length_s=0.2, check=False)
    assert all(first <= last for first, last in made.alone)


def test_a_joint_that_cannot_be_made_names_its_clips(clips) -> None:
    row = [*clips[:3], clips[0][:4]]
    names = ["one", "two", "three", "four"]
    with pytest.raises(
        ml.RegistrationError, match=r"Joint 3, from clip 3, three, to clip 4, four: .*91 and 4"
    ):
        ml.sequence(row, names=names)
    with pytest.raises(ml.ArrayError, match=r"Joint 1, .* 500 does not, in clip 2, two, of 91"):
        ml.sequence(row[:3], joints=[{"at": (40, 500)}, None], names=names[:3])


def test_places_that_cross_have_a_remedy_that_exists(clips) -> None:
    with pytest.raises(ml.RegistrationError) as raised:
        ml.sequence(clips[:3], joints=[{"at": (45, 60)}, {"at": (30, 45)}])
    assert "Clip 2" in str(raised.value) and 'Give joint 1 and 2 other frames as "at"' in str(
        raised.value
    )


def test_places_hold_for_clips_with_as_many_frames_only(clips) -> None:
    row = ml.sequence(clips[:3], check=False)
    joints = row.plan["joints"]
    assert [each["frames"] for each in joints] == [[91, 91], [91, 91]]
    shorter = [clips[0], clips[1], clips[2][10:]]
    again = ml.sequence(shorter, joints=joints, check=False)
    assert again.joints[0].options["at"] == joints[0]["at"]
    assert "joint 2: its place was chosen for clips of 91 and 91 frames, which have 91 and 81" in (
        "\n".join(again.notes)
    )
    for each in joints:
        del each["frames"]
    trusted = ml.sequence(shorter, joints=joints, check=False)
    assert trusted.joints[1].options["at"] == joints[1]["at"]


# --- Clips of all kinds


def test_clips_come_onto_the_first_ones_skeleton_and_rate(clips) -> None:
    other = ml.resample(clip("jog", height=1.5), fps=24.0)
    result = ml.sequence([clips[0], other, clips[2]], names=["one", "two", "three"])
    assert result.motion.fps == clips[0].fps
    assert result.motion.skeleton.same_joints(clips[0].skeleton)
    assert any(note.startswith("two: resampled from 24") for note in result.notes)
    assert any(note.startswith("two: bones of other lengths") for note in result.notes)


def test_blends_beside_a_short_clip_are_shorter(clips) -> None:
    result = ml.sequence([clips[0], clips[1][:30], clips[2]], check=False)
    assert all(joint.options["length_s"] < 0.6 for joint in result.joints)
    assert any("too few frames between two joints" in note for note in result.notes)
    first, last = result.alone[1]
    assert 0 <= first <= last < 30


def test_fades_that_meet_are_mixed_without_a_jump(clips) -> None:
    clips = [clips[0], clips[1][20:50], clips[2]]
    result = ml.sequence(clips, check=False, keep=0)
    assert any("fades of two joints meet" in note for note in result.notes)
    steps = np.linalg.norm(np.diff(result.motion.world_positions(), axis=0), axis=-1)
    own = max(
        np.linalg.norm(np.diff(each.world_positions(), axis=0), axis=-1).max() for each in clips
    )
    assert steps.max() < 1.5 * own


def test_a_clip_that_is_too_short_is_named_with_a_remedy(clips) -> None:
    with pytest.raises(ml.RegistrationError, match=r"Clip 2, hop, has 8 frames.*'cut'"):
        ml.sequence([clips[0], clips[1][:8], clips[2]], names=["walk", "hop", "walk"])


def test_places_that_cross_are_refused_with_the_clip(clips) -> None:
    with pytest.raises(ml.RegistrationError, match=r"jog.*left before it is entered"):
        ml.sequence(
            clips[:3],
            joints=[{"at": (45, 60)}, {"at": (30, 45)}],
            names=["walk", "jog", "turn"],
        )


def test_a_cut_blends_nothing(clips) -> None:
    result = ml.sequence(clips[:3], joints=[{"method": "cut"}, None])
    cut, blend = result.joints
    assert cut.span[1] == cut.span[0] + 1
    assert cut.verification is None and blend.verification is not None
    assert cut.notes[0].startswith("a cut: joints jump by")
    short = ml.sequence([clips[0], clips[1][:8], clips[2]], method="cut")
    assert short.motion.n_frames == sum(last - first + 1 for first, last in short.alone)
    assert not short.provenance.changed.any()


def test_the_result_can_be_turned(clips) -> None:
    plain, turned = (ml.sequence(clips[:2], turn_to=to) for to in (None, 0.5 * np.pi))
    along = turned.motion.root_positions[-1] - turned.motion.root_positions[0]
    before = plain.motion.root_positions[-1] - plain.motion.root_positions[0]
    assert np.hypot(along[0], along[2]) == pytest.approx(np.hypot(before[0], before[2]))
    assert along[0] > abs(along[2])
    assert (turned.motion.local_quats[:, 1:] == plain.motion.local_quats[:, 1:]).all()
    placed = turned.placements[1].apply(clips[1].root_positions)
    last = turned.alone[1][1]
    assert placed[last] == pytest.approx(turned.motion.root_positions[-1])


class Loaded(Sequence[ml.Motion]):
    """Clips that count how often each was asked for."""

    def __init__(self, clips: list[ml.Motion]) -> None:
        self.clips, self.asked = clips, [0] * len(clips)

    def __len__(self) -> int:
        return len(self.clips)

    def __getitem__(self, number: Any) -> Any:
        self.asked[number] += 1
        return self.clips[number]

    def __iter__(self) -> Iterator[ml.Motion]:
        raise AssertionError("clips are asked for one by one")


def test_each_clip_is_read_once_and_many_are_joined(clips) -> None:
    short = [clip(kind, duration_s=1.2, fps=20) for kind in ("walk", "jog")]
    many = Loaded(short * 12)
    result = ml.sequence(many, length_s=0.2, check=False)
    assert many.asked == [1] * 24
    assert len(result.joints) == 23
    assert result.motion.n_frames > 24 * 6


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"clips": []}, "one motion or more"),
        ({"clips": ["walk.bvh"]}, "Load it first"),
        ({"joints": [None]}, "one entry each \\(2\\), got 1"),
        ({"joints": [None, {"length": 0.2}]}, "joint 2 must map names of keep, length_s"),
        ({"joints": [None, {"at": 3}]}, "frame of both clips"),
        ({"keep": 1.5}, "at most 1"),
        ({"keep": "soon"}, "late"),
        ({"length_s": 0.0}, "length_s"),
        ({"method": "table"}, "registration, cut"),
        ({"names": ["a"]}, "one name per clip \\(3\\), got 1"),
        ({"turn_to": float("nan")}, "turn_to"),
        ({"loop": 1}, "loop"),
    ],
)
def test_wrong_arguments_are_refused(clips, options: dict[str, Any], words: str) -> None:
    given = {"clips": clips[:3], **options}
    with pytest.raises(ml.MotionLoomError, match=words):
        ml.sequence(given.pop("clips"), **given)


def test_clips_on_other_skeletons_are_refused_with_match_off(clips) -> None:
    bones = clips[1].skeleton
    other = clips[1].replace(
        skeleton=ml.Skeleton([f"x{name}" for name in bones.names], bones.parents, bones.offsets)
    )
    with pytest.raises(ml.SkeletonMismatchError, match="Clip 2"):
        ml.sequence([clips[0], other], match=False)
