"""A live character on a small table in memory: nothing jumps, whatever the order."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pytest

import motionloom as ml
from motionloom._core import kernel
from motionloom.blending.control import Pose
from motionloom.errors import ArrayError, TableError
from motionloom.rotation import quat
from motionloom.tables.choice import new_frames
from motionloom.tables.collection.frames import frames_of
from motionloom.tables.collection.labels import Label
from motionloom.tables.index.contexts import contexts
from motionloom.tables.stream import Doing
from tests.support.tables import table_in_memory

LENGTH = 30
NAMES = ("walk", "run", "stand", "sneak", "kick")
JUMP = 1.25
"""No joint steps farther, from frame to frame, than this times the fastest of all clips."""
ROUND_OFF_M_S = 1e-4
"""Of poses kept in single precision, at 60 frames a second."""
STANDING_M_S = 0.02
"""A third of a millimetre a frame."""
ORDERS = 12


class Frames(NamedTuple):
    """Frames that faded."""

    root: np.ndarray
    quats: np.ndarray


@pytest.fixture(scope="module")
def table():
    clips = [ml.synthetic.clip(name) for name in NAMES]
    motions = [clip.motion.replace(name=name) for clip, name in zip(clips, NAMES, strict=True)]
    frames = frames_of(motions, footplants=[clip.footplants for clip in clips])
    labels = [
        Label("run", "running", 40, 200),
        Label("stand", "idle", 0, 240),
        Label("kick", "kicking", 70, 130),
    ]
    return table_in_memory(frames, length=LENGTH, clusters=5, keep=12, labels=labels)


@pytest.fixture(scope="module")
def fastest(table):
    frames = table.frames
    spans = zip(frames.starts[:-1], frames.starts[1:], strict=True)
    clips = [frames.motion(int(a), int(b) - 1).world_positions() for a, b in spans]
    return max(np.linalg.norm(np.diff(clip, axis=0), axis=-1).max() for clip in clips)


def play(live, table, count, orders=None):
    poses = []
    for n in range(count):
        if orders and n in orders:
            live.go(**orders[n])
        poses.append(live.step())
    root = np.stack([pose.root_position for pose in poses])
    quats = np.stack([pose.local_quats for pose in poses])
    return ml.Motion(table.frames.skeleton, root, quats, table.frames.fps), poses


def begins(live):
    """Whether the frame shown last is the first after that which a transition leaves."""
    return live.in_transition and live._live.at == 2


def largest_step(motion):
    return np.linalg.norm(np.diff(motion.world_positions(), axis=0), axis=-1).max()


def standing_steps(table, motion, planted):
    """Speeds of balls from frame to frame, m/s, nan where they do not stand in both. (F - 1, 2)."""
    rig = table.query_engine.rig
    positions, world = motion.world_pose()
    found = np.full((motion.n_frames - 1, 2), np.nan)
    for side in range(2):
        ankle = rig.legs[side, 2]
        ball = positions[:, ankle] + quat.rotate(world[:, ankle], rig.soles[side, 1])
        stands = planted[1:, 2 * side + 1] & planted[:-1, 2 * side + 1]
        speeds = np.linalg.norm(np.diff(ball, axis=0), axis=-1) * motion.fps
        found[stands, side] = speeds[stands]
    return found


def standing_speeds(table, motion, planted):
    """Speeds of balls that are labelled as standing in two neighbouring frames, m/s."""
    steps = standing_steps(table, motion, planted)
    return steps[~np.isnan(steps)]


def random_places(table, count, seed):
    rng = np.random.Generator(np.random.PCG64(seed))
    rows = rng.choice(table.frames.windows(LENGTH), count)
    return [table.frames.place_of(int(row) + LENGTH - 1) for row in rows]


@pytest.mark.parametrize("every", [9, 18, 45])
def test_what_stands_moves_no_more_where_a_stream_changes_than_inside_transitions(table, every):
    """Clips that are made by formula stand still; what moves at all moves inside a transition."""
    for seed in range(1, 4):
        places = random_places(table, ORDERS + 1, seed)
        orders = {5 + every * n: {"frame": places[1 + n]} for n in range(ORDERS)}
        live = table.stream(places[0])
        motion, poses, played = [], [], []
        for n in range(5 + every * ORDERS + LENGTH):
            part, more = play(live, table, 1, {0: orders[n]} if n in orders else None)
            motion.append(part)
            poses += more
            played.append((begins(live), live.in_transition))
        steps = standing_steps(
            table, ml.concatenate(motion), np.stack([pose.planted for pose in poses])
        )
        seams = np.array([now[0] or now[1] != was[1] for was, now in pairwise(played)])
        assert np.isfinite(steps[seams]).any()
        assert np.nanmax(steps[seams]) < np.nanmax(steps[~seams]) + ROUND_OFF_M_S


@pytest.mark.parametrize("late", [3, 11, 20, 28])
def test_feet_stand_through_a_change_of_mind(table, late):
    """In the step in which another transition takes over, and in those just after."""
    places = random_places(table, 24, seed=9)
    speeds = []
    for source, first, second in zip(places[:-2], places[1:-1], places[2:], strict=True):
        orders = {2: {"frame": first}, 2 + late: {"frame": second}}
        motion, poses = play(table.stream(source), table, 2 + late + 4, orders)
        planted = np.stack([pose.planted for pose in poses])
        speeds.append(standing_speeds(table, motion[-6:], planted[-6:]))
    found = np.concatenate(speeds)
    assert len(found) > 20
    assert found.mean() < STANDING_M_S


def test_what_fades_begins_with_the_pose_and_the_speed_before():
    fps, spin = 60.0, 0.05
    turns = np.zeros((8, 1, 3))
    turns[:, 0, 1] = spin * np.arange(8)
    root = np.stack([np.zeros(8), 1.0 + 0.01 * np.arange(8), np.zeros(8)], axis=1)
    plan = new_frames(49, 1)
    plan.root[:8], plan.quats[:8], plan.quats[8:, 0, 0] = root, quat.exp(turns), 1.0
    kernel("ml_frames_fade")(plan, 8, 39, fps)
    faded = Frames(plan.root[8:47], plan.quats[8:47])
    angle = quat.log(faded.quats[:, 0])[:, 1]
    assert abs(angle[0] - 8 * spin) < 0.1 * spin
    assert abs(faded.root[0, 1] - root[-1, 1] - 0.01) < 0.002
    assert np.abs(np.diff(angle, 2)).max() < 1.2 * spin  # nothing stops at once
    assert abs(angle[-1]) < 1e-9
    assert abs(faded.root[-1, 1]) < 1e-9


def test_a_live_character_stands_where_it_stood_when_it_is_sent_to_another_place(table):
    for late in (4, 12, 22):
        live = table.stream(("walk", 20))
        motion, _ = play(live, table, 10 + late, {10: {"label": "running"}})
        live.go(frame=("sneak", 120))
        more, _ = play(live, table, 2)
        gone = np.diff(
            np.concatenate([motion.world_positions()[-3:], more.world_positions()]), axis=0
        )
        turned = np.linalg.norm(gone[2] - gone[1], axis=-1).max()
        own = np.linalg.norm(gone[1] - gone[0], axis=-1).max()
        assert turned < 2.0 * own + 0.004, late  # as smooth as the frames before


def test_without_orders_a_clip_is_played_as_it_is(table):
    motion, poses = play(table.stream(("walk", 20)), table, 60)
    row = table.frames.row_of("walk", 20)
    captured = table.frames.motion(row, row + 59)
    assert np.abs(motion.world_positions() - captured.world_positions()).max() < 1e-6
    assert np.array_equal(poses[7].planted, table.frames.planted[row + 7])


def test_it_goes_to_a_label_and_plays_on_there(table, fastest):
    live = table.stream(("walk", 20))
    motion, _ = play(live, table, 10 + 2 * LENGTH, {10: {"label": "running"}})
    assert live.now[0] == "run"
    assert not live.in_transition
    assert largest_step(motion) < JUMP * fastest


def test_it_goes_to_a_frame(table):
    live = table.stream(("walk", 20))
    play(live, table, 11 + LENGTH, {10: {"frame": ("kick", 80)}})
    clip, frame = live.now
    assert clip == "kick"
    assert 80 <= frame <= 84


def test_an_order_interrupts_a_transition_without_a_jump(table, fastest):
    for late in (2, 8, 15, 27):
        live = table.stream(("walk", 20), patience_s=0.3)
        orders = {10: {"label": "running"}, 10 + late: {"frame": ("sneak", 120)}}
        motion, _ = play(live, table, 10 + late + LENGTH + 3, orders)
        assert live.now[0] == "sneak"
        assert largest_step(motion) < JUMP * fastest


def test_at_a_clips_end_it_goes_on_somewhere(table, fastest):
    live = table.stream(("run", 150))
    motion, _ = play(live, table, 400)
    assert largest_step(motion) < JUMP * fastest
    travelled = np.linalg.norm(np.diff(motion.root_positions[-60:, ::2], axis=0), axis=1).sum()
    assert travelled > 0.3  # a runner does not end up standing still


def test_an_order_at_the_very_end_of_a_clip_is_followed(table, fastest):
    last = int(table.frames.starts[1]) - 1
    live = table.stream(("walk", last - 3))
    motion, _ = play(live, table, 60, {2: {"label": "idle"}})
    assert largest_step(motion) < JUMP * fastest
    assert live.now[0] == "stand"


def test_rotations_never_flip_sign(table):
    orders = {5: {"label": "running"}, 20: {"label": "idle"}, 70: {"frame": ("kick", 60)}}
    motion, poses = play(table.stream(("sneak", 30)), table, 120, orders)
    raw = np.stack([pose.local_quats for pose in poses])
    assert (np.sum(raw[1:] * raw[:-1], axis=-1) > 0.0).all()
    assert np.abs(np.linalg.norm(motion.local_quats, axis=-1) - 1.0).max() < 1e-9


def test_orders_that_cannot_be_followed_are_refused_at_once(table):
    live = table.stream(("walk", 0))
    with pytest.raises(ArrayError, match="`label` or `frame`"):
        live.go()
    with pytest.raises(TableError, match="idle, kicking, running"):
        live.go(label="flying")
    with pytest.raises(TableError, match="one of the collection"):
        live.go(frame=("nobody", 3))
    assert not live.in_transition


def test_a_game_may_move_what_it_is_shown(table):
    def shown(meddle):
        live = table.stream(("walk", 40))
        poses = []
        for n in range(2 * LENGTH):
            if n in (5, 15):
                live.go(label="running")
            pose = live.step()
            poses.append(np.array(pose.root_position))
            if meddle:
                pose.root_position[:] += 5.0
                pose.local_quats[:] = [0.0, 1.0, 0.0, 0.0]
        return np.stack(poses)

    np.testing.assert_array_equal(shown(meddle=True), shown(meddle=False))


def test_a_goal_in_a_clip_shorter_than_a_window_is_refused_and_the_character_plays_on():
    names = ("walk", "run", "short")
    motions = [ml.synthetic.clip(name, duration_s=2.0).motion for name in names[:2]]
    motions.append(motions[0][: LENGTH - 5])
    frames = frames_of(
        [motion.replace(name=name) for motion, name in zip(motions, names, strict=True)],
        footplants=[ml.Footplants(np.zeros((m.n_frames, 4), dtype=bool)) for m in motions],
    )
    labels = [Label("short", "brief", 0, LENGTH - 6)]
    small = table_in_memory(frames, length=LENGTH, clusters=2, keep=4, labels=labels)
    live = small.stream(("walk", 0))
    for goal in ({"frame": ("short", 10)}, {"label": "brief"}):
        motion, _ = play(live, small, 10)
        with pytest.raises(TableError, match=f"{LENGTH} frames"):
            live.go(**goal)
        more, _ = play(live, small, 10)
        joint = ml.concatenate([motion, more])
        assert largest_step(joint) < JUMP * largest_step(motions[1])


def test_the_context_of_captured_frames_is_that_of_their_rows(table):
    live = table.stream(("walk", 20))
    play(live, table, 12)
    by_rows = contexts(table.frames, np.array([table.frames.row_of("walk", 31)]), side="start")[0]
    shown = np.zeros_like(by_rows)
    kernel("ml_stream_context")(live._live, shown)
    np.testing.assert_allclose(by_rows, shown, atol=2e-4)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda live: pickle.loads(pickle.dumps(live))])
def test_a_copy_goes_on_by_itself(table, copied):
    live = table.stream(("walk", 20))
    play(live, table, 10, {3: {"label": "running"}})
    other = copied(live)
    other.go(frame=("sneak", 120))
    own, _ = play(live, table, 40)
    again, _ = play(other, table, 1)
    assert np.abs(again.world_positions()[0] - own.world_positions()[0]).max() < 0.05
    motion, _ = play(other, table, LENGTH + 5)
    assert other.now[0] == "sneak"
    assert live.now[0] == "run"
    assert np.isfinite(motion.world_positions()).all()


@contextmanager
def nothing_passes(table):
    """Joints may not move, and soles must be high up."""
    play(table.stream(("run", 10)), table, 9, {3: {"label": "running"}})  # limits are measured
    limits = table.query_engine.check.limits
    kept = limits.copy()
    limits[:] = -1e6
    try:
        yield
    finally:
        limits[:] = kept


@pytest.mark.parametrize("patience_s", [0.0, 0.3, 0.6])
@pytest.mark.parametrize("middle", [False, True], ids=["from a clip", "from a transition"])
def test_an_order_waits_as_long_as_its_patience_and_says_that_it_is_flawed(
    table, middle, patience_s
):
    live = table.stream(("walk", 10), patience_s=patience_s)
    play(live, table, 5)
    if middle:
        live.go(label="idle")
        live.think(40)
        play(live, table, 8)
    assert live.in_transition == middle
    with nothing_passes(table):
        live.go(label="running")
        began = []
        for _ in range(90):
            live.step()
            began.append(begins(live) and live.flawed)
    waited = began.index(True) / table.frames.fps
    a_try = 12  # steps in which recipes are chosen, made and checked
    assert patience_s <= waited <= patience_s + 0.1 + 2 * a_try / table.frames.fps
    assert live.doing is Doing.ARRIVED


def test_an_order_is_followed_within_a_few_steps_and_at_once_after_thinking(table):
    live = table.stream(("walk", 20))
    play(live, table, 5)
    live.go(label="running")
    assert live.doing is Doing.GOING
    thought = copy.deepcopy(live)
    began = []
    for _ in range(6):
        live.step()
        began.append(begins(live))
    assert began.index(True) > 0
    assert not live.flawed
    thought.think(10)
    thought.step()
    assert begins(thought)


@pytest.mark.parametrize("order", ["go", "hold", "act"])
def test_the_same_order_in_every_frame_is_one_order(table, order):
    def shown(again):
        live, poses = table.stream(("walk", 20)), []
        for n in range(3 * LENGTH):
            if n == 5 or (again and 5 < n < 2 * LENGTH):
                {"go": lambda: live.go(label="kicking")}.get(
                    order, lambda: getattr(live, order)("kicking")
                )()
            poses.append(live.step().local_quats)
        return np.stack(poses)

    np.testing.assert_array_equal(shown(again=False), shown(again=True))


def test_a_label_that_is_held_is_not_left(table, fastest):
    live = table.stream(("walk", 20))
    live.hold("running")
    play(live, table, LENGTH + 10)
    assert live.doing is Doing.IN
    inside, poses = [], []
    for _ in range(600):
        poses.append(live.step())
        clip, frame = live.now
        inside.append(clip == "run" and 40 <= frame <= 200 + LENGTH // 2)
        assert live.doing in (Doing.IN, Doing.CONTINUING_BADLY)
    assert all(inside)
    root = np.stack([pose.root_position for pose in poses])
    assert np.linalg.norm(np.diff(root[:, ::2], axis=0), axis=1).min() > 0.005  # it runs on


def in_label(live, table, label):
    """Share of the frame shown last that carries a label."""
    made, rows = live._made_of(), table.collection.label_rows(label)
    return made.weights[np.isin(table.frames.starts[made.clips] + made.frames, rows)].sum()


def labelled(table, *labels):
    return table_in_memory(table.frames, length=LENGTH, clusters=5, keep=12, labels=list(labels))


@pytest.mark.parametrize("n", [1, 3, LENGTH // 2])
@pytest.mark.parametrize("first", [70, None], ids=["in the middle", "at the end"])
def test_a_label_in_which_it_cannot_stay_is_refused_and_named(table, first, n):
    first = table.collection.motion("kick").n_frames - n if first is None else first
    brief = labelled(
        table, Label("kick", "brief", first, first + n - 1), Label("kick", "brief", 40, 40)
    )
    live = brief.stream(("walk", 20))
    live.go(frame=("sneak", 120))
    words = rf"'brief' cannot be held: .* {n} frames \({n / 60:.2f} s\).* of 16 \(0.27 s\) or more"
    with pytest.raises(TableError, match=words + ".*Label longer pieces, or use `act` or `go`"):
        live.hold("brief")
    play(live, brief, LENGTH + 10)
    assert live.now[0] == "sneak"  # the order before it counts
    assert brief.dead_ends().labels == ("brief",)
    for order in live.go, live.act:
        order(label="brief")
        for _ in range(4 * LENGTH):
            live.step()
        assert live.doing is Doing.ARRIVED


@pytest.mark.parametrize("clip", ["walk", "run", "stand"])
@pytest.mark.parametrize("n", [LENGTH // 2 + 1, LENGTH // 2 + 5, LENGTH])
def test_a_short_label_is_entered_again_and_again_and_it_says_where_it_is(table, clip, n):
    short = labelled(table, Label(clip, "short", 60, 59 + n))
    live = short.stream(("sneak", 20), patience_s=0.3)
    live.hold("short")
    states = []
    for _ in range(600):
        live.step()
        states.append(live.doing)
        if states[-1] is Doing.IN:
            assert in_label(live, short, "short") >= 0.5
    assert Doing.IN in states[: 3 * LENGTH]
    entered = [k for k, (was, now) in enumerate(pairwise(states)) if now is Doing.IN is not was]
    assert np.diff([*entered, len(states)]).max() < 5 * LENGTH


def test_pieces_that_are_too_short_are_passed_over_by_what_holds_a_label(table):
    """The nearest frames with the label are in pieces of three frames."""
    brief = [Label("walk", "mixed", first, first + 2) for first in range(40, 220, 9)]
    mixed = labelled(table, *brief, Label("run", "mixed", 60, 180))
    live = mixed.stream(("walk", 20))
    live.hold("mixed")
    play(live, mixed, 2 * LENGTH)
    for _ in range(300):
        live.step()
        assert live.now[0] == "run"
        assert live.doing in (Doing.IN, Doing.CONTINUING_BADLY)
    assert mixed.dead_ends().labels == ()


def test_a_label_from_which_nothing_passes_is_held_by_what_fails_least_and_says_so(table):
    short = labelled(
        table, Label("run", "short", 60, 60 + LENGTH // 2), Label("run", "running", 40, 200)
    )
    live = short.stream(("walk", 20), patience_s=0.2)
    with nothing_passes(short):
        live.hold("short")
        states, flawed = [], []
        for _ in range(300):
            live.step()
            states.append(live.doing)
            flawed.append(live.flawed)
    assert Doing.IN in states[: 3 * LENGTH]
    assert any(flawed)


def test_a_piece_that_is_acted_is_played_from_its_start_to_its_end(table):
    live = table.stream(("walk", 20))
    for _ in range(2):
        live.act("kicking")
        assert live.doing is Doing.GOING
        seen = []
        for _ in range(8 * LENGTH):
            live.step()
            if not live.in_transition:
                seen.append((live.now, live.doing))
        places = [now for now, _ in seen]
        first = places.index(("kick", 70))
        assert places[first : first + 61] == [("kick", frame) for frame in range(70, 131)]
        assert all(doing is Doing.IN for _, doing in seen[first : first + 60])
        assert seen[-1][1] is Doing.ARRIVED


def test_a_piece_without_a_window_before_its_end_cannot_be_acted(table):
    early = table_in_memory(
        table.frames, length=LENGTH, clusters=2, keep=4,
        labels=[Label("kick", "twitch", 0, 10), Label("kick", "later", 0, 150)],
    )  # fmt: skip
    live = early.stream(("walk", 0))
    with pytest.raises(TableError, match="No frame of the label"):
        live.act("twitch")
    live.act("later")
    assert live.doing is Doing.GOING


def test_it_is_moved_to_a_place(table):
    live, other = table.stream(("walk", 20)), table.stream(("walk", 20))
    live.place(0.5, 3.0, -2.0)
    here, there = live.step(), other.step()
    np.testing.assert_allclose(here.root_position[::2], [3.0, -2.0], atol=1e-9)
    assert here.root_position[1] == pytest.approx(there.root_position[1])
    live.go(label="running")
    other.go(label="running")
    for _ in range(LENGTH // 2):
        here, there = live.step(), other.step()
    live.place(1.0, 0.0, 0.0)
    for _ in range(LENGTH):
        here, there = live.step(), other.step()
    np.testing.assert_allclose(here.local_quats[1:], there.local_quats[1:], atol=1e-9)
    with pytest.raises(ArrayError, match="heading"):
        live.place(float("nan"), 0.0, 0.0)


def test_every_pose_knows_the_captured_frames_that_it_is_made_of(table):
    live, poses, moving = table.stream(("walk", 20)), [], []
    places = random_places(table, 30, seed=5)
    for n in range(300):
        if n % 10 == 5:
            live.go(frame=places[n // 10])
        was = live.in_transition
        poses.append(live.step())
        moving.append(was or live.in_transition)
    told = live.provenance(poses)
    assert told.sources == table.frames.ids
    np.testing.assert_array_equal(told.changed, moving)
    assert (told.body.weight > 0.0).sum(axis=1).max() > 4  # a change of mind in a change of mind
    for copy_ in told.copies():
        source = table.collection.motion(told.sources[copy_.source])
        for k in range(copy_.n_frames):
            own = source.local_quats[copy_.start + k, 1:]
            assert np.abs(np.sum(poses[copy_.first + k].local_quats[1:] * own, -1)).min() > 1 - 1e-6
    made = np.flatnonzero(told.changed)
    assert (told.body.weight[made].max(axis=1) < 1.0).mean() > 0.8
    elsewhere = Pose(poses[0].root_position, poses[0].local_quats, poses[0].planted)
    with pytest.raises(ArrayError, match="live character"):
        live.provenance([elsewhere])


def test_a_runner_in_short_clips_never_stops(fastest):
    """No clip goes on for two transitions after the place at which it is entered."""
    whole = ml.synthetic.clip("run")
    n = LENGTH + 14
    cuts = range(0, whole.motion.n_frames - n, 23)
    frames = frames_of(
        [whole.motion[k : k + n].replace(name=f"run{k}") for k in cuts],
        footplants=[ml.Footplants(whole.footplants.planted[k : k + n]) for k in cuts],
    )
    live = table_in_memory(frames, length=LENGTH, clusters=3, keep=4).stream(("run0", 0))
    poses = [live.step() for _ in range(900)]
    root = np.stack([pose.root_position for pose in poses])
    steps = np.linalg.norm(np.diff(root[:, ::2], axis=0), axis=1)
    assert steps.min() * frames.fps > 1.0
    assert steps.max() < JUMP * fastest


def test_characters_in_several_threads_play_the_bits_that_they_play_alone(table):
    def played(seed):
        places = random_places(table, 20, seed)
        live, shown = table.stream(places[0]), []
        for n in range(400):
            if n % 20 == 7:
                live.go(frame=places[n // 20])
            pose = live.step()
            shown.append(np.concatenate([pose.root_position, pose.local_quats.ravel()]))
        return np.stack(shown)

    alone = [played(seed) for seed in range(4)]
    with ThreadPoolExecutor(4) as threads:
        together = list(threads.map(played, range(4)))
    np.testing.assert_array_equal(alone, together)


def test_clips_and_labels_that_end_dead_are_named(table):
    assert table.dead_ends() == ml.DeadEnds((), ())
    with nothing_passes(table):
        clips, labels = table.dead_ends()
    assert clips == NAMES
    assert labels == ("idle", "kicking", "running")


@pytest.fixture(scope="module")
def cut_short():
    """Clips at 30 frames a second, each cut off in the middle of its action."""
    kinds = {"walk": 240, "run": 133, "kick": 100, "turn": 240, "stand": 90, "sidestep": 150}
    motions, plants = [], []
    for name, stop in kinds.items():
        clip = ml.synthetic.clip(name)
        part = clip.motion[:stop]
        motion = ml.Motion(
            part.skeleton, part.root_positions[::2], part.local_quats[::2], part.fps / 2, name=name
        )
        motions.append(motion)
        plants.append(ml.Footplants(clip.footplants.planted[:stop:2]))
    frames = frames_of(motions, footplants=plants)
    return table_in_memory(frames, length=15, clusters=5, keep=12)


def test_nobody_stays_where_a_clip_ends(cut_short):
    frames = cut_short.frames
    for end in frames.starts[1:]:
        for back in range(1, 16, 2):
            live = cut_short.stream(frames.place_of(int(end) - back))
            for _ in range(120):
                live.step()
            poses = [live.step() for _ in range(150)]
            assert not np.array_equal(poses[0].local_quats, poses[-1].local_quats), live.now


@pytest.mark.parametrize("patience", [0.0, 2.0])
def test_a_goal_from_which_nothing_goes_on_is_reached_when_patience_is_over(cut_short, patience):
    frames = cut_short.frames
    for end in frames.starts[1:].tolist():
        goal = frames.place_of(end - 1)
        for start in ("walk", 40), ("stand", 10):
            live = cut_short.stream(start, patience_s=patience)
            for _ in range(10):
                live.step()
            live.go(frame=goal)
            for _ in range(round((patience + 3.0) * frames.fps)):
                live.step()
                if live.doing is Doing.ARRIVED:
                    break
            assert live.doing is Doing.ARRIVED, (start, goal)


def test_what_was_planned_in_one_label_does_not_leave_another():
    names = ("walk", "run", "stand", "sneak", "jog")
    clips = [ml.synthetic.clip(name) for name in names]
    motions = [clip.motion.replace(name=name) for clip, name in zip(clips, names, strict=True)]
    frames = frames_of(motions, footplants=[clip.footplants for clip in clips])
    starts = range(30, 150, 30)
    labels = [Label("walk", "whole", 0, 240)]
    for k, first in enumerate(starts):
        labels += [Label("walk", f"part{k}", first, first + 28)]
        labels += [Label(name, f"part{k}", 0, 240) for name in ("sneak", "jog", "run")]
    table = table_in_memory(frames, length=LENGTH, clusters=5, keep=12, labels=labels)
    for k, first in enumerate(starts):
        live = table.stream(("walk", first - 5))
        for _ in range(7):
            live.step()
        live.hold(f"part{k}")
        for _ in range(100):
            live.step()
            if live.in_transition or live._live.leave_in > 0:
                break
        if live.in_transition:
            continue
        live.hold("whole")
        for _ in range(40):
            live.step()
            assert live.now[0] == "walk"


def test_a_plan_to_go_on_survives_an_order_that_finds_no_way(table):
    """Another order every frame: none is followed, and nothing is lost for it."""
    live = table.stream(("walk", int(table.frames.starts[1]) - LENGTH - 25))
    while live._live.leave_in < 5:
        live.step()
    planned, then = live._live.leave_in, live._live.made_then
    other = copy.deepcopy(live)
    for n in range(planned):
        other.go(frame=("kick", 70 + n % 2))
        assert other._live.planned_in >= 0
        other.step()
        if other.in_transition:
            break
    else:
        other.step()
        assert other._live.then == then
