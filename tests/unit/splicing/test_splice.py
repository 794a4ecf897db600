"""splice(): its options, what it reports, and what it refuses."""

import dataclasses

import numpy as np
import pytest

import motionloom as ml
from motionloom.body.root_motion import in_place
from motionloom.features.glitches.repair import repair_capture
from motionloom.splicing import timing
from motionloom.splicing.body_parts import parts_of
from motionloom.splicing.smoothing import sample_smoothly

EXACT = 1e-9
STEP_FRAMES = 4.0  # of 60 Hz; half a step is 15
CARRY = ml.synthetic.clip("carry", duration_s=4.0).motion
WALK = ml.synthetic.clip("walk", turn=1.0, duration_s=3.0).motion
WAVE = ml.synthetic.clip("wave", duration_s=2.0).motion
BODY = ml.BodyMap.guess(WALK.skeleton)


def changed_joints(made):
    """Joints whose rotation is not the lower clip's."""
    n = made.motion.n_frames
    off = np.abs(made.motion.local_quats - WALK.local_quats[:n]).max(axis=(0, 2))
    return {WALK.skeleton.names[j] for j in np.flatnonzero(off > EXACT)}


def without(*roles):
    return dataclasses.replace(BODY, **{role: () if role == "spine" else None for role in roles})


def bowed():
    """A carry that bows deeply for a moment."""
    quats = np.array(CARRY.local_quats)
    bow = np.exp(-(((np.arange(len(quats)) - 90) / 25.0) ** 2)) * np.radians(70.0)
    by = ml.rotation.quat.from_axis_angle(np.array([1.0, 0.0, 0.0]), bow)
    quats[:, BODY.spine[0]] = ml.rotation.quat.multiply(by, quats[:, BODY.spine[0]])
    return CARRY.replace(local_quats=quats)


def tilt(motion):
    """Degrees of the torso from upright."""
    p = motion.world_positions()
    up = p[:, [BODY.left_shoulder, BODY.right_shoulder]].mean(axis=1) - p[:, BODY.spine[0]]
    return np.degrees(np.arctan2(np.hypot(up[:, 0], up[:, 2]), up[:, 1]))


@pytest.mark.parametrize(
    ("where", "inside", "outside"),
    [
        ("torso", {"Spine", "LeftHand", "Head"}, {"Hips", "LeftUpLeg"}),
        ("chest", {"Spine2", "LeftArm"}, {"Spine", "Spine1"}),
        ("arms", {"LeftArm", "RightForeArm"}, {"Spine2", "Neck", "Head"}),
        ("left_arm", {"LeftArm", "LeftForeArm"}, {"RightArm", "RightForeArm", "Spine2"}),
        ("right_arm", {"RightArm"}, {"LeftArm", "LeftForeArm", "Head"}),
        ("head", {"Neck"}, {"LeftArm", "Spine2"}),
    ],
)
def test_only_the_part_named_is_taken_from_the_action(where, inside, outside):
    taken = changed_joints(ml.splice(CARRY, WALK, where=where))
    assert inside <= taken
    assert not outside & taken


def test_each_method_does_one_step_more():
    made = {m: ml.splice(CARRY, WALK, method=m) for m in ("naive", "time", "time+space", "full")}
    spine = BODY.spine[0]
    n = made["naive"].motion.n_frames
    assert np.array_equal(made["naive"].timewarp.frames, np.arange(n))
    naive = made["naive"].motion.local_quats[:, spine]
    assert np.array_equal(naive, CARRY.local_quats[:n, spine])
    action = sample_smoothly(CARRY, made["time"].timewarp.frames)
    assert np.array_equal(made["time"].motion.local_quats[:, spine], action.local_quats[:, spine])
    turned = [made[m].motion.local_quats[:, spine] for m in ("time", "time+space", "full")]
    assert np.abs(turned[0] - turned[1]).max() > 1e-3
    assert np.abs(turned[1] - turned[2]).max() > 1e-3


def test_an_action_without_gait_keeps_its_own_time_and_that_is_reported():
    made = ml.splice(WAVE, WALK)
    assert made.timewarp.kept_own_time
    assert np.array_equal(made.timewarp.frames, np.arange(WAVE.n_frames))
    assert any("keeps its own time" in note for note in made.notes)


def test_align_is_advised_only_where_it_puts_strokes_on_steps():
    stand = ml.synthetic.clip("stand").motion
    punch = ml.synthetic.clip("punch").motion
    assert any("align=True" in note for note in ml.splice(punch, WALK).notes)
    for upper, lower, where in (
        (CARRY, stand, "torso"),
        (punch, stand, "torso"),
        (stand, WALK, "arms"),
        (punch, WALK, "head"),
    ):
        notes = ml.splice(upper, lower, where=where).notes
        assert any("keeps its own time" in note for note in notes)
        assert not any("align" in note for note in notes)


@pytest.mark.parametrize("has_ankles", [True, False])
def test_align_is_advised_only_on_skeletons_whose_steps_are_seen(has_ankles):
    clips = [ml.synthetic.clip(name).motion for name in ("punch", "walk")]
    if not has_ankles:
        clips = [_without_feet(clip) for clip in clips]
    advised = ml.splice(*clips).notes
    assert any("align=True" in note for note in advised) == has_ankles
    aligned = ml.splice(*clips, align=True)
    assert aligned.timewarp.kept_own_time != has_ankles


def test_align_is_not_advised_where_no_stroke_fits_a_step():
    punch, walk = (ml.synthetic.clip(name).motion for name in ("punch", "walk"))
    stays = ml.Footplants(np.ones((walk.n_frames, 4), dtype=bool))
    assert not any("align" in note for note in ml.splice(punch, walk, footplants=stays).notes)


def _without_feet(motion):
    """The motion of a body whose legs end at the knees."""
    old = motion.skeleton
    kept = [j for j, name in enumerate(old.names) if "Foot" not in name and "Toe" not in name]
    parents = [kept.index(int(old.parents[j])) if j else -1 for j in kept]
    skeleton = ml.Skeleton([old.names[j] for j in kept], parents, old.offsets[kept])
    return ml.Motion(skeleton, motion.root_positions, motion.local_quats[:, kept], motion.fps)


def legs_of(motion):
    """Root and joints that are not above the hips."""
    body = ml.BodyMap.guess(motion.skeleton)
    above = {j for part in parts_of(motion.skeleton, body, "torso") for j in part.joints}
    return [j for j in range(motion.skeleton.n_joints) if j not in above]


def test_legs_are_those_of_the_lower_clip_to_the_bit_and_repaired_ones_on_request():
    """The run's feet snap at push-off, which a repair changes."""
    carry, run = ml.synthetic.clip("carry").motion, ml.synthetic.clip("run").motion
    legs = legs_of(run)
    for repair, lower in (("made", run), (None, run), ("all", repair_capture(run).motion)):
        made = ml.splice(carry, run, repair=repair).motion
        n = made.n_frames
        assert np.array_equal(made.root_positions, lower.root_positions[:n])
        assert np.array_equal(made.local_quats[:, legs], lower.local_quats[:n, legs])
    assert not np.array_equal(made.local_quats[:, legs], run.local_quats[:n, legs])


def test_a_glitch_of_the_legs_stays_is_counted_and_fails_nothing():
    quats = np.array(WALK.local_quats)
    knee = BODY.left_knee
    turn = ml.rotation.quat.exp(np.array([1.2, 0.0, 0.0]))
    quats[90, knee] = ml.rotation.quat.multiply(quats[90, knee], turn)
    lower = WALK.replace(local_quats=quats)
    made = ml.splice(CARRY, lower)
    assert made.verification.passed
    assert np.array_equal(
        made.motion.local_quats[:, knee], lower.local_quats[: made.span[1] + 1, knee]
    )
    assert any(detail.startswith("the locomotion: frame 90") for detail in made.details)
    (note,) = [each for each in made.notes if "capture glitch" in each]
    assert f"has {len(made.details)} capture glitch" in note
    assert not ml.splice(CARRY, lower, repair="all").details


def test_hips_that_pop_are_absorbed_by_the_spine():
    """The chest turns and moves as on the repaired locomotion; the spine bends below it."""
    quats = np.array(WALK.local_quats)
    pop = ml.rotation.quat.exp(np.array([0.0, 0.0, np.radians(25.0)]))
    for frame in (90, 91):
        quats[frame, 0] = ml.rotation.quat.multiply(quats[frame, 0], pop)
    made, calm = (ml.splice(CARRY, legs) for legs in (WALK.replace(local_quats=quats), WALK))
    assert made.verification.passed
    assert np.array_equal(made.motion.local_quats[:, 0], quats[: made.motion.n_frames, 0])
    between = ml.rotation.quat.angle_between
    ours, theirs = (each.motion.world_quats() for each in (made, calm))
    n = min(len(ours), len(theirs))
    chest = BODY.spine[-1]
    assert np.degrees(between(ours[:n, chest], theirs[:n, chest]).max()) < 6.0
    places = [each.motion.world_positions()[:n, chest] for each in (made, calm)]
    assert np.abs(places[0] - places[1]).max() < 0.01


@pytest.mark.parametrize("where", ["torso", "arms", "left_arm", "head"])
def test_provenance_names_clip_and_time_of_both_parts(where):
    made = ml.splice(CARRY, WALK, where=where)
    found = made.provenance
    lower, upper = found.tracks
    assert found.sources == (WALK.name, CARRY.name)
    assert (lower.part, upper.part) == ("lower", "upper" if where == "torso" else where)
    n, fps = made.motion.n_frames, made.motion.fps
    assert np.array_equal(lower.times_in(0), np.arange(n) / fps)
    assert np.array_equal(upper.times_in(1), made.timewarp.frames / fps)
    assert (np.diff(upper.times_in(1)) > 0.0).all()
    assert found.changed.all()
    assert found.copies() == ()


def test_provenance_of_a_looped_action_stays_in_its_lap():
    made = ml.splice(WAVE, WALK, when_short="loop")
    first, last = made.timewarp.lap
    times = made.provenance.tracks[1].times_in(1) * WAVE.fps
    assert first - 1e-9 <= times.min() <= times.max() < last
    back = np.flatnonzero(np.diff(times) < 0.0)
    assert len(back) == (made.motion.n_frames - 1 + int(times[0] - first)) // (last - first)
    elbow = made.motion.local_quats[:, BODY.right_elbow]
    same = WAVE.local_quats[np.round(times).astype(int), BODY.right_elbow]
    apart = np.degrees(ml.rotation.quat.angle_between(elbow, same))
    assert np.median(apart) < 1.0


def test_an_action_keeps_step_at_any_rate_and_its_own_time_where_steps_do_not_fit(monkeypatch):
    run = ml.synthetic.clip("run", duration_s=3.0).motion
    kept = ml.splice(CARRY, run)
    rate = np.median(kept.timewarp.rates)
    assert rate > 1.6
    assert kept.timewarp.in_step > 0.9
    assert f"in step with the legs the action plays at {rate:.2f} times its rate" in kept.notes
    monkeypatch.setattr(timing, "SURE", kept.timewarp.in_step + 1e-6)
    own = ml.splice(CARRY, run)
    assert own.timewarp.kept_own_time
    assert own.timewarp.in_step == kept.timewarp.in_step
    assert np.array_equal(own.timewarp.frames, np.arange(len(own.timewarp.frames)))
    assert any("steps of the clips do not fit" in note for note in own.notes)
    assert not ml.splice(CARRY, WALK).timewarp.kept_own_time  # near its own rate all the same


@pytest.mark.parametrize("which", ["upper", "lower", "both"])
def test_walks_on_the_spot_keep_step_as_walks_that_travel_do(which):
    still = in_place
    upper = CARRY if which == "lower" else still(CARRY)
    lower = WALK if which == "upper" else still(WALK)
    made, travelling = ml.splice(upper, lower).timewarp, ml.splice(CARRY, WALK).timewarp
    assert not made.kept_own_time
    n = min(len(made.frames), len(travelling.frames))
    assert np.abs(made.frames[:n] - travelling.frames[:n]).max() < STEP_FRAMES


@pytest.mark.parametrize("where", ["arms", "left_arm", "right_arm", "head"])
def test_arms_and_head_are_turned_with_the_torso_that_they_had(where):
    """The locomotion twists by 30 degrees: what hangs on it turns with it, as a whole."""
    turn = ml.rotation.quat.from_axis_angle(np.array([0.0, 1.0, 0.0]), np.radians(30.0))
    quats = np.array(WALK.local_quats)
    quats[:, BODY.spine[0]] = ml.rotation.quat.multiply(turn, quats[:, BODY.spine[0]])
    twisted = WALK.replace(local_quats=quats)
    for part in parts_of(WALK.skeleton, BODY, where):
        plain, turned = (
            ml.splice(CARRY, legs, where=where, method="time+space").motion.world_quats()
            for legs in (WALK, twisted)
        )
        joint = part.joint if where != "head" else BODY.head
        apart = ml.rotation.quat.angle_between(plain[:, joint], turned[:, joint])
        assert np.degrees(apart) == pytest.approx(np.full(len(apart), 30.0), abs=1.5)


def test_hands_that_hold_a_box_stay_as_far_apart_on_arms_alone():
    made = ml.splice(CARRY, WALK, where="arms")
    hands = [BODY.left_wrist, BODY.right_wrist]

    def apart(motion):
        left, right = motion.world_positions()[:, hands].transpose(1, 0, 2)
        return np.linalg.norm(left - right, axis=-1)

    action = sample_smoothly(CARRY, made.timewarp.frames)
    assert np.abs(apart(made.motion) - apart(action)).max() < 0.02


def test_legs_that_outlast_the_action_are_cropped_looped_or_held():
    cropped = ml.splice(WAVE, WALK)
    looped = ml.splice(WAVE, WALK, when_short="loop")
    held = ml.splice(WAVE, WALK, when_short="hold")
    assert cropped.motion.n_frames == WAVE.n_frames < WALK.n_frames
    assert looped.motion.n_frames == held.motion.n_frames == WALK.n_frames
    assert any("loops over its frames" in note for note in looped.notes)
    elbow = held.motion.local_quats[WAVE.n_frames - 1 :, BODY.right_elbow]
    assert np.array_equal(elbow, np.broadcast_to(elbow[0], elbow.shape))
    steps = np.abs(np.diff(looped.motion.local_quats[:, BODY.right_elbow], axis=0)).max()
    assert steps < 1.5 * np.abs(np.diff(WAVE.local_quats[:, BODY.right_elbow], axis=0)).max()


def test_an_action_that_is_long_enough_is_not_looped():
    plain, looped = ml.splice(CARRY, WALK), ml.splice(CARRY, WALK, when_short="loop")
    assert np.array_equal(plain.motion.local_quats, looped.motion.local_quats)
    assert looped.notes == plain.notes


def test_a_soft_split_fades_the_spine_and_leaves_arms_and_head_turned_as_they_were():
    hard, soft = ml.splice(CARRY, WALK), ml.splice(CARRY, WALK, soft=True)
    turned = ml.rotation.quat.angle_between(hard.motion.world_quats(), soft.motion.world_quats())
    kept = [BODY.left_shoulder, BODY.right_elbow, BODY.neck, BODY.head]
    assert turned[:, kept].max() < 1e-6
    legs = WALK[: soft.motion.n_frames].local_quats
    first = BODY.spine[0]
    off_soft = ml.rotation.quat.angle_between(soft.motion.local_quats[:, first], legs[:, first])
    off_hard = ml.rotation.quat.angle_between(hard.motion.local_quats[:, first], legs[:, first])
    assert off_soft.mean() < 0.5 * off_hard.mean()


def test_a_deep_bend_is_lost_and_reported_or_kept_on_request():
    plain, kept = ml.splice(bowed(), WALK), ml.splice(bowed(), WALK, keep_bend=True)
    deepest = tilt(sample_smoothly(bowed(), plain.timewarp.frames)).max()
    assert any("keep_bend=True keeps it" in note for note in plain.notes)
    assert tilt(plain.motion).max() < 0.5 * deepest
    assert tilt(kept.motion).max() > 0.85 * deepest
    assert not any("keep_bend" in note for note in kept.notes)


def test_hand_contacts_come_back_at_the_results_frames():
    made = ml.splice(CARRY, WALK, hand_contacts={"left": [(60, 120)], "right": [(10_000, 10_050)]})
    ((first, last),) = made.hand_contacts["left"]
    frames = made.timewarp.frames
    assert frames[first] >= 60 > frames[first - 1]
    assert frames[last] <= 120 < frames[last + 1]
    assert made.hand_contacts["right"] == ()


def test_footplants_are_the_lower_clips():
    truth = ml.synthetic.clip("walk", turn=1.0, duration_s=3.0).footplants
    given = ml.splice(CARRY, WALK, footplants=truth)
    n = given.motion.n_frames
    assert np.array_equal(given.footplants.planted, truth.planted[:n])
    found = ml.splice(CARRY, WALK).footplants
    assert np.array_equal(found.planted, ml.detect_footplants(WALK).planted[:n])


def test_another_rate_is_resampled_and_reported():
    made = ml.splice(ml.resample(CARRY, fps=30), WALK)
    assert made.motion.fps == WALK.fps
    assert any("resampled from 30 to 60 fps" in note for note in made.notes)


def test_another_skeleton_is_retargeted_and_reported():
    names = {"LeftForeArm": "LeftElbow", "Spine1": "Belly"}
    skeleton = CARRY.skeleton
    renamed = dataclasses.replace(skeleton, names=[names.get(n, n) for n in skeleton.names])
    made = ml.splice(CARRY.replace(skeleton=renamed), WALK)
    assert made.motion.skeleton.names == WALK.skeleton.names
    assert any("retargeted" in note for note in made.notes)
    same = ml.splice(CARRY, WALK)
    n = min(made.motion.n_frames, same.motion.n_frames)
    off = made.motion.world_positions()[:n] - same.motion.world_positions()[:n]
    assert np.abs(off).max() < 0.05


def test_a_taller_persons_action_keeps_step_with_a_short_ones_legs():
    tall = ml.synthetic.clip("carry", duration_s=4.0, height=1.95).motion
    short = ml.synthetic.clip("walk", duration_s=3.0, height=1.45).motion
    made = ml.splice(tall, short)
    assert not made.timewarp.kept_own_time
    assert np.array_equal(made.motion.skeleton.offsets, short.skeleton.offsets)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"method": "best"}, "`method` must be one of naive, time, time.space, full"),
        ({"where": "leg"}, "`where` must be one of torso, chest"),
        ({"when_short": "stop"}, "`when_short` must be one of crop, loop, hold"),
        ({"align": "yes"}, "`align` must be True or False"),
        ({"align": True, "method": "naive"}, "align=True with method='naive'"),
        *(
            ({"keep_bend": True, "method": method}, f"keep_bend=True with method='{escaped}'")
            for method, escaped in (
                ("naive", "naive"),
                ("time", "time"),
                ("time+space", r"time\+space"),
            )
        ),
        ({"soft": True, "where": "arms"}, "`soft` and `keep_bend` are for"),
        ({"keep_bend": True, "where": "head"}, "`soft` and `keep_bend` are for"),
        ({"repair": "some"}, "`repair` must be one of made, all"),
        ({"hand_contacts": [(0, 1)]}, "`hand_contacts` must map hands"),
        ({"hand_contacts": {"foot": [(0, 1)]}}, "keyed by 'left' and 'right'"),
        ({"hand_contacts": {"left": [(9, 3)]}}, "first and last frame"),
        ({"hand_contacts": {"left": [5]}}, "first and last frame"),
        (
            {"footplants": ml.Footplants(np.zeros((3, 4), bool))},
            r"one row per frame of the motion \(181\), got 3",
        ),
    ],
)
def test_options_that_mean_nothing_are_refused(options, text):
    with pytest.raises(ml.ArrayError, match=text):
        ml.splice(CARRY, WALK, **options)


@pytest.mark.parametrize(
    ("roles", "text"),
    [
        (("left_knee", "right_knee"), "not found: left_knee, right_knee"),
        (("left_shoulder",), "not found: left_shoulder"),
        (("left_hip",), "not found: left_hip"),
        (("spine",), "where='arms'"),
    ],
)
def test_a_body_without_the_joints_needed_is_refused_with_the_remedy(roles, text):
    with pytest.raises(ml.SkeletonMismatchError, match=text) as error:
        ml.splice(CARRY, WALK, body=without(*roles))
    assert "body=" in str(error.value)


def test_arms_are_spliced_where_there_is_no_spine():
    assert parts_of(WALK.skeleton, without("spine"), "arms")[0].joint > 0


@pytest.mark.parametrize(("upper", "lower"), [(CARRY[:1], WALK), (CARRY, WALK[:1])])
@pytest.mark.parametrize("method", ["naive", "full"])
def test_a_single_frame_is_no_motion_to_splice(upper, lower, method):
    with pytest.raises(ml.RegistrationError, match="longer"):
        ml.splice(upper, lower, method=method)


@pytest.mark.parametrize("n_frames", [1, 2, 3])
def test_an_action_too_short_to_loop_is_refused_with_a_remedy(n_frames):
    with pytest.raises(ml.RegistrationError, match=r"at least 4 frames to loop.*hold"):
        ml.splice(CARRY[:n_frames], WALK, when_short="loop")


@pytest.mark.parametrize("n_frames", [4, 5, 9])
def test_short_actions_loop(n_frames):
    assert ml.splice(WAVE[:n_frames], WALK, when_short="loop").motion.n_frames == WALK.n_frames


@pytest.mark.parametrize("n_frames", [2, 3, 5, 9])
def test_clips_of_a_few_frames_are_spliced_or_refused_in_words(n_frames):
    try:
        made = ml.splice(CARRY, WALK[:n_frames])
    except ml.RegistrationError as error:
        assert "longer" in str(error)
    else:
        assert 2 <= made.motion.n_frames <= n_frames


@pytest.mark.parametrize(("upper", "lower"), [("carry.bvh", WALK), (CARRY, None)])
def test_what_is_no_motion_is_refused(upper, lower):
    with pytest.raises(ml.ArrayError, match="Motion"):
        ml.splice(upper, lower)
