"""Blends, transitions, control, loops and parameters: the everyday and the bad."""

import numpy as np
import pytest

import motionloom as ml
from motionloom.blending.evaluate import Group, mix_poses
from motionloom.body.body_map import facing
from motionloom.motion.edit import sample
from motionloom.rotation import quat
from tests.oracles import group as plain_group
from tests.oracles import pose as plain

TURNS = (-0.8, 0.0, 0.8)
WALKS = tuple(ml.synthetic.clip("walk", turn=t, duration_s=3.0).motion for t in TURNS)
CURVE = ml.register(WALKS, ends="match")
JOG = ml.synthetic.clip("jog", duration_s=3.0).motion


@pytest.mark.parametrize(
    ("weights", "text"),
    [
        ([0.5, 0.5], r"one value per example \(3\), got 2"),
        ([0.5, 0.5, 0.5], "must sum to 1, got 1.5"),
        ([0.0, 0.0, 0.0], "must sum to 1, got 0"),
        ([np.nan, 0.5, 0.5], "finite"),
        ("abc", "must be numbers"),
        (1.0, "one value per example"),
    ],
)
def test_weights_that_make_no_blend_are_refused(weights, text):
    with pytest.raises(ml.ArrayError, match=text):
        ml.blend(CURVE, weights)


def test_the_kernel_mixes_as_its_plain_form():
    group = Group(CURVE)
    rng = np.random.Generator(np.random.PCG64(1))
    frames = np.sort(rng.uniform(0, WALKS[0].n_frames - 1, (300, 3)), axis=0)
    weights = rng.dirichlet(np.ones(3), 300)
    headings = rng.normal(size=(300, 3)) * 0.1
    fast, _ = mix_poses(group.quats, group.starts, frames, weights, headings)
    wanted = plain.mix_poses(group.quats, group.starts, frames, weights, headings)
    # The centre is one step from converged; what that leaves is far below what can be seen.
    assert quat.angle_between(fast, wanted).max() < 1e-3


def test_the_compiled_group_stands_where_the_curve_puts_it():
    end = CURVE.times.u_end
    u = np.array([-3.0, *np.linspace(0.0, end, 40), end - 1.0, end + 2.0])
    for some in (u, u[5:6], u[:0]):
        ours, wanted = Group(CURVE).at(some), plain_group.stand(CURVE, some)
        for name in ours._fields:
            assert getattr(ours, name) == pytest.approx(getattr(wanted, name), abs=1e-12)


def test_a_blend_of_left_and_right_walks_straight_on():
    made = ml.blend(CURVE, [0.5, 0.0, 0.5]).motion
    heading = facing(made)
    assert abs(heading[-1] - heading[0]) < 0.1


def test_extrapolating_turns_further():
    heading = facing(ml.blend(CURVE, [0.0, -0.4, 1.4]).motion)
    assert heading[-1] - heading[0] > 0.9


def test_backwards_is_forwards_reversed_where_one_weight_is_one():
    forward = ml.blend(CURVE, [0.0, 1.0, 0.0])
    backward = ml.blend(CURVE, [0.0, 1.0, 0.0], backwards=True)
    times = backward.provenance.body.times_in(1)
    assert (np.diff(times) < 0.0).all()
    assert abs(forward.motion.n_frames - backward.motion.n_frames) <= 1


def test_euler_steps_come_near_exact_votes():
    exact, euler = ml.blend(CURVE, [0.3, 0.3, 0.4]), ml.blend(CURVE, [0.3, 0.3, 0.4], euler=True)
    n = min(len(exact.u), len(euler.u))
    assert np.abs(exact.u[:n] - euler.u[:n]).max() < 2.0


FIXED = [0.3, 0.3, 0.4]


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("euler", [False, True])
def test_direction_and_step_rule_are_the_same_in_every_form_of_weights(backwards, euler):
    options = {"backwards": backwards, "euler": euler, "clean": False}
    fixed = ml.blend(CURVE, FIXED, **options)
    rows = ml.blend(CURVE, np.tile(FIXED, (100, 1)), **options)
    called = ml.blend(CURVE, lambda t: FIXED, **options)
    timed = ml.blend(CURVE, FIXED, duration_s=1.0, **options)
    timed_rows = ml.blend(CURVE, np.tile(FIXED, (61, 1)), duration_s=1.0, **options)
    for other in (rows, called, timed, timed_rows):
        n = min(len(other.u), len(fixed.u), 61)  # the loop starts again later than that
        assert n == 61
        assert np.abs(other.u[:n] - fixed.u[:n]).max() < 1e-9
        roots = other.motion.root_positions[:n] - fixed.motion.root_positions[:n]
        assert np.abs(roots).max() < 1e-9
        turns = quat.angle_between(other.motion.local_quats[:n], fixed.motion.local_quats[:n])
        assert turns.max() < 1e-6
    assert called.u[-1] == pytest.approx(0.0 if backwards else CURVE.u_range[1])


def test_euler_steps_differ_from_exact_votes_in_live_control_too():
    curve = ml.register([WALKS[1], JOG])
    exact, euler = (
        ml.blend(curve, lambda t: [0.5, 0.5], duration_s=0.8, euler=e) for e in (False, True)
    )
    n = min(len(exact.u), len(euler.u))
    assert 1e-4 < np.abs(exact.u[:n] - euler.u[:n]).max() < 2.0


def test_a_loop_played_backwards_retraces_the_loop_played_forwards():
    curve = ml.register([ml.loop(w).motion for w in WALKS], ends="match")
    middle = [0.0, 1.0, 0.0]
    forward = ml.blend(curve, middle, duration_s=6.0).motion.root_positions[:, [0, 2]]
    backward = ml.blend(curve, middle, duration_s=6.0, backwards=True)
    roots = backward.motion.root_positions[:, [0, 2]]
    steps = np.linalg.norm(np.diff(roots, axis=0), axis=1)
    assert np.count_nonzero(np.diff(backward.u) > 0) >= 2  # it starts again at the curve's end
    assert steps.max() < 1.2 * np.linalg.norm(np.diff(forward, axis=0), axis=1).max()
    travel = np.linalg.norm(forward[-1] - forward[0])
    assert np.linalg.norm(roots[-1] - roots[0]) == pytest.approx(travel, rel=0.02)
    heading = facing(backward.motion)[:-1]
    ahead = np.stack([np.sin(heading), np.cos(heading)], axis=1)
    assert np.all(np.einsum("nc,nc->n", np.diff(roots, axis=0), ahead) < 0.0)
    assert ml.verify(backward.motion, sources=WALKS)


def test_joints_that_slide_are_mixed_in_a_blend_of_given_duration():
    offsets = np.broadcast_to(WALKS[1].skeleton.offsets, (*WALKS[1].local_quats.shape[:2], 3))
    sliding = WALKS[1].replace(joint_translations=1.1 * offsets)
    curve = ml.register([WALKS[0], sliding], ends="match")
    fixed = ml.blend(curve, [0.5, 0.5])
    timed = ml.blend(curve, [0.5, 0.5], duration_s=1.0)
    assert np.allclose(timed.motion.joint_translations, fixed.motion.joint_translations[:61])


def test_joints_far_apart_are_named_in_every_form():
    quats = np.array(WALKS[1].local_quats)
    quats[:, 5] = quat.multiply(quats[:, 5], quat.from_axis_angle(np.array([0.0, 1.0, 0.0]), 3.0))
    turned = WALKS[1].replace(local_quats=quats)
    curve = ml.register([WALKS[0], WALKS[1], turned], ends="match")
    fixed, timed = ml.blend(curve, FIXED), ml.blend(curve, FIXED, duration_s=1.0)
    assert fixed.wide_joints
    assert timed.wide_joints == fixed.wide_joints


def test_changing_weights_steer_and_every_result_passes_the_check():
    made = ml.blend(CURVE, lambda t: [max(0, 0.5 - t / 6), 0.5, min(0.5, t / 6)], duration_s=3.0)
    assert made.motion.n_frames == 181
    found = ml.verify(made.motion, sources=WALKS, held=False)
    assert found, found.describe()


def test_weights_per_frame_are_followed():
    rows = np.linspace([1.0, 0.0, 0.0], [0.0, 0.0, 1.0], 100)
    made = ml.blend(CURVE, rows)
    assert made.motion.n_frames == 100
    assert np.abs(made.provenance.body.weight - rows).max() < 1e-12


@pytest.mark.parametrize("clips", ["whole", "cycles"])
def test_frames_of_weight_one_are_the_frames_of_the_clip_that_provenance_names(clips):
    """Times of cycles are those of the clips that the cycles were cut from."""
    named = [walk.replace(name=f"walk {k}") for k, walk in enumerate(WALKS)]
    curve = ml.register(named, cycles=clips == "cycles", repair_knees=None)
    rows = np.zeros((60, 3))
    rows[:20, 0] = rows[20:40, 1] = rows[40:, 2] = 1.0
    made = ml.blend(curve, rows, clean=False)
    assert made.provenance.sources == ("walk 0", "walk 1", "walk 2")
    n = made.motion.n_frames
    assert n == made.provenance.n_frames > 40
    for k, walk in enumerate(WALKS):
        times = made.provenance.body.times_in(k)
        here = np.flatnonzero(rows[:n, k])
        assert np.isnan(np.delete(times, here)).all() and (np.diff(times[here]) > 0.0).all()
        own = sample(walk, times[here] * made.provenance.fps)
        apart = quat.angle_between(made.motion.local_quats[here, 1:], own.local_quats[:, 1:])
        assert apart.max() < 1e-6


def test_live_control_goes_round_and_round_without_a_jump():
    loops = [ml.loop(w).motion for w in WALKS]
    curve = ml.register(loops, ends="match")
    live = ml.control(curve, loop=True)
    poses = [live.step([0.3, 0.4, 0.3]) for _ in range(400)]
    roots = np.array([p.root_position for p in poses])
    quats = np.array([p.local_quats for p in poses])
    motion = ml.Motion(loops[0].skeleton, roots, quats, 60.0)
    found = ml.verify(motion, sources=WALKS, held=False)
    assert found, found.describe()
    assert np.linalg.norm(roots[-1, [0, 2]] - roots[0, [0, 2]]) > 5.0


def test_live_control_equals_the_blend_of_the_same_weights():
    made = ml.blend(CURVE, [0.2, 0.5, 0.3], clean=False)
    live = ml.control(CURVE, loop=False, hold_feet=False)
    poses = [live.step([0.2, 0.5, 0.3]) for _ in range(100)]
    roots = np.array([p.root_position for p in poses])
    assert np.abs(roots - made.motion.root_positions[:100]).max() < 1e-9


def test_without_a_loop_the_last_pose_is_held():
    live = ml.control(CURVE, loop=False, hold_feet=False)
    poses = [live.step([0.0, 1.0, 0.0]) for _ in range(400)]
    assert live.done
    assert np.array_equal(poses[-1].root_position, poses[-2].root_position)


def test_a_transition_is_found_made_and_within_its_sources():
    made = ml.transition(WALKS[1], JOG, keep=0)
    assert made.candidates[0].cost == min(c.cost for c in made.candidates)
    assert made.footplants.n_frames == made.motion.n_frames
    assert made.verification.passed
    found = ml.verify(made.motion, sources=[WALKS[1], JOG], held=False)
    assert found, found.describe()


def test_a_named_place_is_taken():
    made = ml.transition(WALKS[0], JOG, at=(90, 80), length_s=0.4)
    track = made.provenance.body
    frames = [track.times_in(k)[sum(made.span) // 2] * made.motion.fps for k in (0, 1)]
    assert np.abs(np.subtract(frames, [90, 80])).max() < 6.0


def test_without_timewarp_frames_go_one_by_one():
    made = ml.transition(WALKS[0], JOG, timewarp=False)
    track = made.provenance.body
    for k in (0, 1):
        assert np.nanmax(np.abs(np.diff(track.times_in(k)) * made.motion.fps - 1.0)) < 0.2


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"length_s": 0.0}, ml.ArrayError, "`length_s`"),
        ({"at": (0, 50)}, ml.ArrayError, "two frames on both sides"),
        ({"at": (50, 9999)}, ml.ArrayError, "clip B"),
    ],
)
def test_transitions_that_cannot_be_are_refused(options, error, text):
    with pytest.raises(error, match=text):
        ml.transition(WALKS[0], JOG, **options)


def test_clips_too_short_for_a_transition_are_refused():
    with pytest.raises(ml.RegistrationError, match="at least 7 frames"):
        ml.transition(WALKS[0][:5], JOG)


def test_a_loop_closes_on_itself_and_advances_one_cycle():
    cycle = ml.loop(WALKS[1])
    first, last = cycle.motion[:1], cycle.motion[-1:]
    assert quat.angle_between(first.local_quats[0, 1:], last.local_quats[0, 1:]).max() < 1e-9
    moved = cycle.closure.apply(first.root_positions[0])
    assert np.abs(moved - last.root_positions[0]).max() < 1e-9
    assert 0.9 < cycle.period_s < 1.3
    assert np.nanmin(cycle.match) <= cycle.cost + 1e-9


def test_a_clip_without_a_whole_cycle_is_refused():
    with pytest.raises(ml.RegistrationError, match=r"at least 0\.5 s"):
        ml.loop(WALKS[1][:10])


def test_parameters_give_weights_and_know_their_region():
    space = ml.parametrize(CURVE, {"turn": TURNS})
    assert space.range("turn") == (-0.8, 0.8)
    assert np.allclose(space.weights(turn=0.4), [0.0, 0.5, 0.5])
    assert space.contains(turn=0.1) and not space.contains(turn=1.0)
    assert np.allclose(space.weights(turn=2.0, clamp=True), [0.0, 0.0, 1.0])
    with pytest.raises(ml.ArrayError, match=r"turn -0\.8 to 0\.8"):
        space.weights(turn=1.0)
    with pytest.raises(ml.ArrayError, match="given once: turn"):
        space.weights(speed=1.0)


def test_measured_parameters_are_met_closer():
    def turn_of(made: ml.Blend) -> dict[str, float]:
        heading = facing(made.motion)
        return {"turn": float(heading[-1] - heading[0])}

    measured = {"turn": [turn_of(ml.blend(CURVE, np.eye(3)[k]))["turn"] for k in range(3)]}
    space = ml.parametrize(CURVE, measured, measure=turn_of)
    made = ml.blend(CURVE, space.weights(turn=0.3))
    assert abs(turn_of(made)["turn"] - 0.3) < 0.05


def test_parameters_need_a_value_per_example():
    with pytest.raises(ml.ArrayError, match="one finite value per example"):
        ml.parametrize(CURVE, {"turn": [0.0, 1.0]})


def test_the_check_sees_a_jump():
    walk = WALKS[1]
    roots = np.array(walk.root_positions)
    roots[90:] += [0.3, 0.0, 0.0]
    found = ml.verify(walk.replace(root_positions=roots), sources=[walk])
    (fast,) = [each for each in found.failed if each.check == "travel speed"]
    assert fast.frame == 90
    assert fast.value > 2.0 * fast.limit


def test_markers_show_feet_and_phase():
    made = ml.blend(CURVE, [0.0, 1.0, 0.0])
    events = made.markers.events
    assert {m.event for m in events} == {"down", "up"}
    phase = made.markers.phase
    known = phase[np.isfinite(phase)]
    assert np.all(np.diff(known) > 0.0)


@pytest.mark.parametrize("lead", [ml.lead_in, ml.lead_out])
def test_a_standing_pose_leads_in_and_out(lead):
    stand = ml.synthetic.clip("stand", duration_s=1.0).motion
    made = lead(WALKS[1], stand)
    end, frame = (0, -1) if lead is ml.lead_in else (-1, 0)
    held = made.motion.local_quats[end, 1:]
    assert quat.angle_between(held, stand.local_quats[frame, 1:]).max() < 1e-6
    found = ml.verify(made.motion, sources=[WALKS[1], stand], held=False)
    assert found, found.describe()


def test_a_lead_longer_than_its_clip_is_refused():
    stand = ml.synthetic.clip("stand", duration_s=1.0).motion
    with pytest.raises(ml.RegistrationError, match="shorter `length_s`"):
        ml.lead_in(WALKS[1][:20], stand)


def test_a_curve_that_is_not_whole_cycles_is_played_round_where_it_closes():
    made = ml.blend(CURVE, [0.2, 0.6, 0.2], duration_s=9.0)
    found = ml.verify(made.motion, sources=WALKS, held=False)
    assert found, found.describe()
    wraps = np.flatnonzero(np.diff(made.u) < 0.0)
    assert len(wraps) >= 2
    phase = made.markers.phase
    rate = np.diff(phase[np.isfinite(phase)])
    assert rate.min() > 0.2 * np.median(rate) and rate.max() < 3.0 * np.median(rate)
