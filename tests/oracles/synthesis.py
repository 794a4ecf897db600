"""A recipe made into frames, feet and all."""

from __future__ import annotations

import numpy as np

from motionloom.tables.collection.frames import Frames
from motionloom.tables.score.recipe import Recipe, rows_at
from motionloom.tables.synthesis.synthesis import Rig, Synthesis, rows_of
from tests.oracles.blend_kernel import blend_rotations, track_of
from tests.oracles.chain_kernel import chain_pose, sole_points
from tests.oracles.footing import choose_plants
from tests.oracles.labels import keep_true_labels
from tests.oracles.leg_kernel import follow_feet, leg_lengths, lower_root
from tests.oracles.seams import Foot
from tests.oracles.sway import follow_feet as follow_standing
from tests.oracles.swing import clear_ground, run_offsets


def synthesize(
    frames: Frames, recipe: Recipe, rig: Rig, speed: float, *, agree: bool = True
) -> Synthesis:
    """The frames of a recipe; ``speed`` is the fastest joint of its clips, m/s.

    ``agree`` is as in :func:`choose_plants`.
    """
    rows, at, weights, fps = rows_of(frames), rows_at(frames, recipe), recipe.weights(), frames.fps
    track = track_of(frames, recipe)
    root = np.stack([track.ground[:, 0], track.height, track.ground[:, 1]], axis=1)
    quats = blend_rotations(rows, at, weights, track.heading)
    points = sole_points(rig, *chain_pose(rig, rig.chain, root, quats))
    root = follow_standing(rows, at, weights, track.heading, fps, 1.0, points, root)
    positions, world = chain_pose(rig, rig.chain, root, quats)
    points = sole_points(rig, positions, world).swapaxes(0, 1).reshape(2, 2, len(at), 3)
    ways = positions[:, rig.legs[:, 2]] - positions[:, rig.legs[:, 0]]
    reaches = [float(leg_lengths(positions, leg).sum()) for leg in rig.legs]
    left, right = (
        Foot(rows, at, side, *points[side], ways[:, side], reaches[side], fps, speed)
        for side in range(2)
    )
    held, places, planted, error = choose_plants(
        (left, right), weights, track.heading, root, agree=agree
    )
    shifts, tilts = np.zeros((2, len(at), 3)), np.zeros((2, len(at)))
    for side in range(2):
        heel, ball = points[side]
        offsets = run_offsets(held[side], places[side], ball)
        shifts[side], tilts[side] = clear_ground(
            rows, side, at, weights, held[side], heel, ball, fps, offsets
        )
    drops, missed = lower_root(positions, rig.legs, held, shifts), 0.0
    for side in range(2):
        quats, miss = follow_feet(
            rig, side, held[side], shifts[side], tilts[side], drops, positions, world, quats
        )
        missed = max(missed, miss)
    root[:, 1] -= drops
    points = sole_points(rig, *chain_pose(rig, rig.chain, root, quats))
    planted = keep_true_labels(points, fps, planted)
    return Synthesis(track.heading, root, quats, planted, error, missed)
