"""Provenance of what tables, fills and motion graphs make: its copies are copies."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import motionloom as ml
from motionloom.body.root_motion import with_root_bone
from motionloom.rotation import quat
from motionloom.tables.collection.frames import Frames, frames_of
from motionloom.tables.graph.motion_graph import MotionGraph
from motionloom.tables.score.recipe import Recipe
from motionloom.tables.synthesis.fill import fill
from motionloom.tables.synthesis.gap_windows import WindowQuery

ROUND_OFF = 1e-6


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> ml.TransitionTable:
    folder = tmp_path_factory.mktemp("provenance")
    for kind in ("walk", "jog", "run", "sneak"):
        clip = ml.synthetic.clip(kind, duration_s=4.0, fps=30)
        ml.save(clip.motion, folder / f"{kind}.bvh")
    lib = ml.Collection.ingest(folder, fps=30)
    return ml.build_table(lib, length_s=0.8, clusters=4, jobs=1, progress=False)


def captured(frames: Frames, clip: str) -> ml.Motion:
    """A whole clip of a collection."""
    at = frames.ids.index(clip)
    return frames.motion(int(frames.starts[at]), int(frames.starts[at + 1]) - 1)


def assert_copies(motion: ml.Motion, found: ml.Provenance, clips: list[ml.Motion]) -> int:
    """Frames said to be copies are their clips' to the last bit, but for where the body stands."""
    count = 0
    for copy in found.copies():
        ours = motion[copy.first : copy.last + 1]
        theirs = clips[copy.source][copy.start : copy.start + copy.n_frames]
        signs = np.sign(np.sum(ours.local_quats * theirs.local_quats, axis=-1, keepdims=True))
        same = np.array_equal(ours.local_quats[:, 1:], (signs * theirs.local_quats)[:, 1:])
        assert same, copy
        # The root: one turn and one shift over the ground for the whole run.
        turn = quat.multiply(ours.local_quats[:, 0], quat.conjugate(theirs.local_quats[:, 0]))
        assert quat.angle_between(turn, turn[:1]).max() < ROUND_OFF
        placed = ours.root_positions - quat.rotate(turn, theirs.root_positions)
        assert np.ptp(placed, axis=0).max() < ROUND_OFF
        count += copy.n_frames
    return count


def assert_posed_like(motion: ml.Motion, at: int, clip: ml.Motion, second: float) -> None:
    """A frame has the posture of a clip at a second."""
    frame = round(second * clip.fps)
    assert second * clip.fps == pytest.approx(frame, abs=1e-6)
    apart = quat.angle_between(motion.local_quats[at, 1:], clip.local_quats[frame, 1:])
    assert np.degrees(apart.max()) < 0.01


PAIRS = [(("walk", 20), ("run", 60)), (("jog", 15), ("sneak", 70)), (("sneak", 40), ("walk", 90))]


@pytest.mark.parametrize(("source", "target"), PAIRS)
@pytest.mark.parametrize("more", [{}, {"variation": 3}, {"search": True}, {"rescore": 0}])
def test_a_transition_names_its_clips_times_and_weights(table, source, target, more):
    made = table.transition(source, target, lead_s=0.3, follow_s=0.4, **more)
    found, (first, last) = made.provenance, made.span
    assert found.n_frames == made.motion.n_frames
    assert found.sources == made.clips
    clips = [captured(table.frames, name) for name in found.sources]
    assert assert_copies(made.motion, found, clips) == made.motion.n_frames - (last - first + 1)
    assert np.array_equal(np.flatnonzero(found.changed), np.arange(first, last + 1))
    track = found.body
    for at in (first, last):
        (slot,) = np.flatnonzero(track.weight[at] == 1.0)
        assert_posed_like(made.motion, at, clips[track.clip[at, slot]], track.time[at, slot])
    assert found.sources[track.clip[first][track.weight[first] == 1.0][0]] == source[0]
    assert found.sources[track.clip[last][track.weight[last] == 1.0][0]] == target[0]
    for slot in range(track.clip.shape[1]):  # windows play on frame by frame
        used = np.flatnonzero(track.weight[:, slot] > 0.0)
        steps = np.diff(track.time[used, slot])[np.diff(used) == 1]
        assert np.allclose(steps, 1.0 / made.motion.fps)


def test_weights_of_a_transition_are_those_of_its_recipe(table):
    for source, target in PAIRS:
        for variation in (None, 1, 2, 4):
            made = table.transition(source, target, variation=variation)
            recipe, (first, last) = made.recipe, made.span
            weight = made.provenance.body.weight[first + 1 : last]
            assert np.array_equal(weight, recipe.weights().T[1:-1])


def test_bent_windows_have_their_shares_and_source_and_target_their_frame(table):
    """Captured windows between a source and a target, whose slow parts are averaged."""
    made = table.transition(*PAIRS[0])
    frames, length = table.frames, made.recipe.length
    rows = [
        frames.row_of(name, at) for name, at in (("walk", 5), ("jog", 10), ("sneak", 7), ("run", 9))
    ]
    pinned = dataclasses.replace(
        made,
        recipe=Recipe(tuple(rows), length, pinned=True),
        clips=("walk", "jog", "sneak", "run"),
        span=(0, length - 1),
        motion=made.motion[made.span[0] : made.span[1] + 1],
    )
    track = pinned.provenance.body
    assert np.allclose(track.weight[1:-1], [0.0, 0.5, 0.5, 0.0])
    assert track.weight[0].tolist() == [1.0, 0.0, 0.0, 0.0]
    assert track.weight[-1].tolist() == [0.0, 0.0, 0.0, 1.0]
    assert track.time[0, 0] == pytest.approx(5 / 30)
    assert track.time[-1, 3] == pytest.approx((9 + length - 1) / 30)
    assert np.allclose(track.time[1:-1, 1], (10 + np.arange(1, length - 1)) / 30)


def test_a_way_over_the_graph_and_the_chosen_path_name_theirs(table):
    graph = MotionGraph.build(table.frames)
    lengths = []
    for source, target in ((("walk", 5), ("walk", 80)), (("jog", 5), ("run", 70))):
        path = table.path(source, target, graph=graph, limit_s=20.0)
        found = path.provenance
        clips = [captured(table.frames, name) for name in found.sources]
        copied = assert_copies(path.motion, found, clips)
        assert found.n_frames == path.motion.n_frames
        lengths.append(copied)
        if path.chosen == "graph":
            assert copied == found.n_frames - found.changed.sum()
            shares = found.body.weight[found.changed]
            assert ((shares > 0.0) & (shares < 1.0)).all()
    assert max(lengths) > 20


@pytest.fixture(scope="module")
def walks() -> list[ml.Motion]:
    return [
        ml.synthetic.clip("walk", seed=seed, phase=0.3 * seed).motion.replace(name=f"walk {seed}")
        for seed in range(3)
    ]


def test_a_fill_names_the_frames_it_is_made_of_and_leaves_all_others(walks):
    frames, (given, *_) = frames_of(walks), walks
    made = fill(frames, given, 40, 78, WindowQuery(exclude=[given.name]))
    found = made.provenance
    assert found.sources[0] == given.name
    assert set(found.sources[1:]) <= {walk.name for walk in walks[1:]}
    assert [tuple(copy) for copy in found.copies()] == [
        (0, 39, 0, 0),
        (79, given.n_frames - 1, 0, 79),
    ]
    assert_copies(made.motion, found, [given])
    outside = ~found.changed
    assert np.array_equal(made.motion.root_positions[outside], given.root_positions[outside])
    assert np.array_equal(made.motion.local_quats[outside], given.local_quats[outside])
    gap = found.body[40:79]
    assert (gap.clip[gap.weight > 0.0] >= 1).all()
    assert (np.diff(gap.weight[0]) <= 0.0).all()  # the nearest first
    for slot in range(gap.clip.shape[1]):
        steps = np.diff(gap.time[:, slot])
        rate = steps * given.fps
        assert np.allclose(rate, rate[0])
        assert 0.6 < rate[0] < 1.6
    # The mean of the windows that it names is where the fill is, about.
    clips = {walk.name: walk for walk in walks}
    knee = ml.BodyMap.guess(given.skeleton).left_knee
    made_bends = quat.angle_between(made.motion.local_quats[59, knee], quat.IDENTITY)
    named = [
        weight
        * quat.angle_between(
            clips[found.sources[clip]].local_quats[round(time * given.fps), knee], quat.IDENTITY
        )
        for clip, time, weight in zip(gap.clip[19], gap.time[19], gap.weight[19], strict=True)
    ]
    assert np.degrees(abs(made_bends - sum(named))) < 8.0


@pytest.mark.parametrize("heading", [True, False])
def test_frames_around_a_gap_stay_on_rigs_with_a_root_bone(walks, heading):
    """Root bones of these clips turn with the body; those of the given one do not, where not."""
    rigs = []
    for walk in walks:
        rig = with_root_bone(walk)
        still = rig.joint_translations.mean(axis=0)  # rigid bones, as collections have
        bones = ml.Skeleton(rig.skeleton.names, rig.skeleton.parents, still)
        world = walk.world_positions()[:, 0]
        local = np.array(rig.local_quats)
        root = world - quat.rotate(local[:, 0], still[1])
        rigs.append(ml.Motion(bones, root, local, walk.fps, name=walk.name))
    frames = frames_of([rigs[1], rigs[2]])
    given = rigs[0]
    if not heading:
        local = np.array(given.local_quats)
        local[:, 1] = quat.multiply(local[:, 0], local[:, 1])
        local[:, 0] = quat.IDENTITY
        pelvis = given.world_positions()[:, 1]
        given = given.replace(root_positions=pelvis - given.skeleton.offsets[1], local_quats=local)
    made, usual = fill(frames, given, 40, 78), fill(frames, rigs[0], 40, 78)
    outside = ~made.provenance.changed
    assert np.array_equal(made.motion.root_positions[outside], given.root_positions[outside])
    assert np.array_equal(made.motion.local_quats[outside], given.local_quats[outside])
    apart = made.motion.world_positions()[:, 1:] - usual.motion.world_positions()[:, 1:]
    assert np.linalg.norm(apart, axis=-1).max() < 1e-3
    if not heading:
        assert quat.angle_between(made.motion.local_quats[:, 0], quat.IDENTITY).max() < 1e-6
