"""Transitions between captured clips of CMU subject 143, by a small table in memory."""

import itertools
import warnings

import numpy as np
import pytest

import motionloom as ml
from motionloom.features.checks.quality_check import QualityCheck, judged_frames
from motionloom.features.glitches.repair import repair_capture
from motionloom.motion.motion import runs_of
from motionloom.rotation import quat
from motionloom.tables.collection.frames import frames_of
from motionloom.tables.collection.labels import Label
from motionloom.tables.score.natural import NATURAL
from tests.support.tables import table_in_memory

CLIPS = ("143_01", "143_11", "143_23", "143_25", "143_32", "143_41")
LENGTH = 60
SEAM_M = 0.01
STANDING_M_S = 0.06
"""Balls labelled as standing go slower than this in 95 of 100 frames; captured ones do not."""
STREAM_M_S = 0.025
"""The same of streams, which also go through captured frames."""
CHANCE_M_S = 0.005
"""Streams and single transitions are not between the same frames: less than 0.1 mm a frame."""
SPIKE = 1.3
TRAVELS_M_S = 0.8


@pytest.fixture(scope="module")
def table(mocap):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the headers' rate is wrong, and 60 is given
        motions = [
            ml.load(mocap / "cmu_bvh" / f"{name}.bvh", fps=60).replace(name=name) for name in CLIPS
        ]
    motions = [repair_capture(motion).motion for motion in motions]  # as a collection has them
    frames = frames_of(motions)
    last = motions[0].n_frames - 1
    labels = [Label("143_01", "run", 0, last), Label("143_32", "walk", 0, 700)]
    return table_in_memory(frames, length=LENGTH, clusters=6, ranking=NATURAL, labels=labels)


@pytest.fixture(scope="module")
def made(table):
    return transitions(table, 40)


def transitions(table, count):
    """Sources, targets and transitions of random places."""
    rng = np.random.Generator(np.random.PCG64(4))
    place = table.frames.place_of
    rows = rng.choice(table.frames.windows(LENGTH), (count, 2))
    return [
        (a := place(int(s)), b := place(int(t) + LENGTH - 1))
        and (a, b, table.transition(a, b, lead_s=0.2, follow_s=0.2))
        for s, t in rows
    ]


def balls(motion, rig):
    positions, world = motion.world_pose()
    return np.stack(
        [
            positions[:, rig.legs[s, 2]] + quat.rotate(world[:, rig.legs[s, 2]], rig.soles[s, 1])
            for s in range(2)
        ],
        axis=1,
    )


def test_a_transition_passes_the_quality_check(made):
    for src, dst, each in made:
        assert each.verification.passed, (src, dst, each.notes)
        check = QualityCheck(each.sources())
        found = check.verify(each.motion, footplants=each.footplants, span=each.span)
        assert found, (src, dst, found.describe())


def test_feet_at_the_first_frame_are_where_the_source_has_them(table, made):
    rig = table.query_engine.rig
    for src, _, each in made:
        row = table.frames.row_of(*src)
        own = balls(table.frames.motion(row, row + 1), rig)[0]
        assert np.abs(balls(each.motion, rig)[each.span[0] - each.plays[0]] - own).max() < SEAM_M


def standing_speeds(table, made):
    """Speeds of balls that are labelled as standing in two neighbouring blended frames, m/s."""
    rig, speeds = table.query_engine.rig, []
    for _, _, each in made:
        first, last = each.span
        some = balls(each.motion, rig)[first : last + 1]
        stands = each.footplants.planted[first : last + 1][:, [1, 3]]
        speed = np.linalg.norm(np.diff(some, axis=0), axis=-1) * table.frames.fps
        speeds.extend(speed[stands[1:] & stands[:-1]])
    return np.array(speeds)


def captured_speeds(table):
    """The same speeds in the captured clips."""
    rig, speeds = table.query_engine.rig, []
    edges = map(int, table.frames.starts)
    for first, stop in itertools.pairwise(edges):
        some = balls(table.frames.motion(first, stop - 1), rig)
        stands = table.frames.planted[first:stop][:, [1, 3]]
        speed = np.linalg.norm(np.diff(some, axis=0), axis=-1) * table.frames.fps
        speeds.extend(speed[stands[1:] & stands[:-1]])
    return np.array(speeds)


def test_standing_balls_hardly_move_in_blends(table, made):
    speeds = standing_speeds(table, [each for each in made if not each[2].recipe.pinned])
    assert len(speeds) > 20 * LENGTH / 2
    assert np.quantile(speeds, 0.95) < STANDING_M_S


def test_standing_balls_move_as_captured_in_captured_windows(table, made):
    pinned = [each for each in made if each[2].recipe.pinned]
    speeds = standing_speeds(table, pinned)
    assert len(speeds) > 200
    assert np.quantile(speeds, 0.95) < np.quantile(captured_speeds(table), 0.95)


def test_standing_balls_of_captured_windows_can_be_held_still(table, made):
    pinned = [each for each in made if each[2].recipe.pinned]
    held = [(a, b, table.transition(a, b, still_feet=True)) for a, b, _ in pinned]
    assert np.quantile(standing_speeds(table, held), 0.95) < STANDING_M_S


def streamed(table, every, seed):
    """Speeds of balls that stand inside the transitions of a stream with an order now and then."""
    rig, rng = table.query_engine.rig, np.random.Generator(np.random.PCG64(seed))
    rows = rng.choice(table.frames.windows(LENGTH), 15) + LENGTH - 1
    live, poses, blended = table.stream(table.frames.place_of(int(rows[0]))), [], []
    for n in range(every * (len(rows) - 1)):
        if n % every == 4:
            live.go(frame=table.frames.place_of(int(rows[1 + n // every])))
        was = live.in_transition
        poses.append(live.step())
        blended.append(was or live.in_transition)
    motion = ml.Motion(
        table.frames.skeleton,
        np.stack([pose.root_position for pose in poses]),
        np.stack([pose.local_quats for pose in poses]),
        table.frames.fps,
    )
    speeds = np.linalg.norm(np.diff(balls(motion, rig), axis=0), axis=-1) * table.frames.fps
    stands = np.stack([pose.planted[[1, 3]] for pose in poses])
    return speeds[np.array(blended)[1:, None] & stands[1:] & stands[:-1]]


@pytest.mark.parametrize("every", [25, 70])
def test_in_a_stream_balls_move_no_more_than_in_single_transitions(table, made, every):
    """Also where it is sent to another place before it has arrived."""
    speeds = np.concatenate([streamed(table, every, seed) for seed in (6, 7, 8)])
    single = standing_speeds(table, made)
    assert len(speeds) > 450
    assert speeds.mean() < single.mean() + CHANCE_M_S
    assert np.quantile(speeds, 0.95) < STREAM_M_S


def test_what_a_live_character_plays_passes_the_check_unless_it_says_that_it_is_flawed(table):
    """The check of the core and that of a whole motion by its provenance find the same."""
    rng = np.random.Generator(np.random.PCG64(12))
    rows = rng.choice(table.frames.windows(LENGTH), 20) + LENGTH - 1
    live = table.stream(table.frames.place_of(int(rows[0])), patience_s=5.0)
    poses, flawed = [], []
    for n, row in enumerate(rows[1:]):
        live.go(frame=table.frames.place_of(int(row)))
        for _ in range(60 + 5 * n):
            poses.append(live.step())
            flawed.append(live.flawed)
    motion = ml.Motion(
        table.frames.skeleton,
        np.stack([pose.root_position for pose in poses]),
        np.stack([pose.local_quats for pose in poses]),
        table.frames.fps,
    )
    ends = itertools.pairwise(table.frames.starts)
    sources = [table.frames.motion(int(a), int(b) - 1) for a, b in ends]
    plants = ml.Footplants(np.stack([pose.planted for pose in poses]))
    provenance = live.provenance(poses)
    check = QualityCheck(sources)
    found = check.verify(motion, footplants=plants, provenance=provenance)
    told = np.array(flawed)
    around = np.convolve(told, np.ones(121), mode="same") > 0
    assert around.mean() < 0.2
    assert all(around[each.frame] for each in found.failed), found.describe()
    assert judged_frames(provenance).mean() > 0.3


def test_knees_are_not_jerked(table):
    """On average over transitions: against the sharpest that their windows have themselves."""
    knees = table.query_engine.rig.legs[:, 1]

    def sharpest(motion):
        joints = motion.world_positions()[:, knees]
        return np.linalg.norm(np.diff(joints, 2, axis=0), axis=-1).max() * table.frames.fps**2

    ratios = []
    for _, _, each in transitions(table, 160):
        first, last = each.span
        own = max(sharpest(table.frames.motion(r, r + LENGTH - 1)) for r in each.recipe.rows)
        ratios.append(sharpest(each.motion[first : last + 1]) / max(own, 15.0))
    assert np.median(ratios) < SPIKE


def test_a_stream_goes_from_walk_to_run_and_back(table):
    live = table.stream(("143_32", 100))
    orders = {20: "run", 60: "walk", 150: "run", 160: "walk"}
    poses = []
    for n in range(260):
        if n in orders:
            live.go(label=orders[n])
        poses.append(live.step())
    root = np.stack([pose.root_position for pose in poses])
    quats = np.stack([pose.local_quats for pose in poses])
    motion = ml.Motion(table.frames.skeleton, root, quats, table.frames.fps)
    spans = zip(table.frames.starts[:-1], table.frames.starts[1:], strict=True)
    sources = [table.frames.motion(int(a), int(b) - 1) for a, b in spans]
    plants = ml.Footplants(np.stack([pose.planted for pose in poses]))
    found = ml.verify(motion, sources=sources, footplants=plants)
    assert found, found.describe()
    assert live.now[0] == "143_32"


def test_a_run_of_one_clip_is_held_and_never_stops(table):
    """The clip has 100 frames: it is looped over a gait cycle."""
    live, poses = table.stream(("143_32", 100)), []
    live.hold("run")
    while live.doing is not ml.Doing.IN:
        poses.append(live.step())
    poses = [live.step() for _ in range(1200)]
    assert live.now[0] == "143_01"
    root = np.stack([pose.root_position for pose in poses])[:, ::2]
    seconds = np.linalg.norm(root[60:] - root[:-60], axis=1)
    assert seconds.min() > 1.5
    steps = np.linalg.norm(np.diff(root, axis=0), axis=1) * table.frames.fps
    assert steps.min() > 0.8


def stops_short(motion):
    """Whether nothing moves for a tenth of a second just after the body travelled."""
    turned = 1.0 - np.abs(np.sum(motion.local_quats[1:] * motion.local_quats[:-1], axis=-1))
    moved = np.linalg.norm(np.diff(motion.root_positions, axis=0), axis=1)
    still = (turned.max(axis=1) < 1e-12) & (moved < 1e-6)
    steps = np.linalg.norm(np.diff(motion.root_positions[:, [0, 2]], axis=0), axis=1)
    just = round(0.15 * motion.fps)
    return any(
        last - first + 1 >= 0.1 * motion.fps
        and motion.fps * steps[max(0, first - just) : first].max(initial=0.0) > TRAVELS_M_S
        for first, last in runs_of(still)
    )


@pytest.mark.parametrize("seed", range(3))
def test_in_random_play_nobody_freezes_and_poses_know_their_frames(table, seed):
    rng = np.random.Generator(np.random.PCG64(seed))
    place = table.frames.place_of
    live, poses = table.stream(place(0)), []
    for n in range(1200):
        if n % 80 == 20:
            live.go(frame=place(int(rng.choice(table.frames.windows(LENGTH))) + LENGTH - 1))
        poses.append(live.step())
    motion = ml.Motion(
        table.frames.skeleton,
        np.stack([pose.root_position for pose in poses]),
        np.stack([pose.local_quats for pose in poses]),
        table.frames.fps,
    )
    assert not stops_short(motion)
    told = live.provenance(poses)
    for run in told.copies():
        source = table.collection.frames.motion(
            first := table.frames.row_of(told.sources[run.source], run.start),
            first + run.n_frames - 1,
        )
        own = motion.local_quats[run.first : run.last + 1, 1:]
        assert np.abs(np.sum(own * source.local_quats[:, 1:], axis=-1)).min() > 1.0 - 1e-6
    assert 0.1 < told.changed.mean() < 0.99
