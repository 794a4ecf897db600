"""Ways to make a missing second again, each from what is before and after it alone.

Interpolation, inertialization and blends are made and pinned as the trial of the design did:
positions of joints, offsets at the ends faded, the root's miss spread evenly. ``fill`` is the
product. It meets the poses and velocities of both ends exactly, by ``mean_window``, which none of
those do; "nearest window, ends met" is the baseline that does: one window, bent by the same code,
without the average of many windows, the bent knees and the held feet of ``fill``. All find windows
by the same index, so that they differ in what they make of them; but motion matching by its own
features, whose velocities look one frame into the second.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from motionloom.motion.motion import Motion, forward_kinematics
from motionloom.rotation import quat
from motionloom.tables.collection.frames import Frames
from motionloom.tables.index.contexts import contexts, displacements, moments_at, spans_of
from motionloom.tables.index.index_build import build_index
from motionloom.tables.index.neighbours import WindowIndex
from motionloom.tables.index.windows import compared_joints
from motionloom.tables.synthesis.fill import fill_gap
from motionloom.tables.synthesis.gap_windows import (
    COUNT,
    Gap,
    WindowQuery,
    gap_of,
    nearest_windows,
    shares_of,
    windows_for,
)
from motionloom.tables.synthesis.passage import Ends, mean_window
from motionloom.tables.synthesis.synthesis import rig_of
from studies.baselines.inertialize import decayed
from studies.baselines.motion_matching import MatchIndex, matching_transition
from studies.measures.window_batch import WindowBatch
from studies.tables.natural_candidates import LENGTH, sister_clips, subject_plan
from studies.tables.natural_truth import seen_joints

REACH = 4
BLEND_S = 0.4
LOW_M = 0.025
"""A toe is low within this of its take's usual lowest."""

METHODS = (
    "interpolation",
    "inertialization",
    "motion matching",
    "2-way",
    "nearest window",
    "nearest window, ends met",
    "3-way with nearest",
    "4-way with nearest",
    "fill, one window",
    "fill, feet not held",
    "fill",
)


@dataclass(frozen=True)
class Query:
    """One second of a clip that is made again."""

    clip: int
    row: int
    """First row, which is given, as the last one is."""
    left_out: tuple[str, ...]


@dataclass(frozen=True)
class Made:
    """One answer and the truth."""

    error: float
    """Mean distance of joints, cm."""
    root: float
    """Of the root over the ground, cm."""
    toes: float
    """Mean speed of toes that are low, cm/s; nan where none is."""


def queries(
    frames: Frames, subject: str, which: str, count: int | None, *, leave: str = "sisters"
) -> list[tuple[str, Query]]:
    """Takes and seconds of a set, the first so many; without the sisters of a take or the take."""
    plan = subject_plan(subject)
    found = []
    for name, frame in plan["windows"][which][:count]:
        row = frames.row_of(name, frame)
        clip = frames.clip_at(row)
        out = sister_clips(frames, plan["sisters"], clip) if leave == "sisters" else [clip]
        found.append((name, Query(clip, row, tuple(frames.ids[k] for k in out))))
    return found


class Bench:
    """A collection with what answers need of it."""

    def __init__(self, frames: Frames) -> None:
        self.frames, self.rig = frames, rig_of(frames)
        self.index: WindowIndex = build_index(frames, length=LENGTH)
        self.joints = compared_joints(frames.skeleton, frames.body_map)
        body = frames.body_map
        self.toes = (body.left_toe, body.right_toe)
        self.lows = np.array(
            [
                [
                    np.percentile(frames.body[first:stop, toe, 1], 5) if stop > first else 0.0
                    for toe in self.toes
                ]
                for first, stop in zip(frames.starts[:-1], frames.starts[1:], strict=True)
            ]
        )
        self.matches = MatchIndex.build(frames)
        self.motions: dict[int, Motion] = {}

    def motion(self, clip: int) -> Motion:
        if clip not in self.motions:
            first, stop = self.frames.starts[clip : clip + 2]
            self.motions[clip] = self.frames.motion(int(first), int(stop) - 1)
        return self.motions[clip]

    def windows(self, query: Query) -> dict[str, np.ndarray]:
        """First rows of windows like the start, like the end, and like both."""
        frames, first = self.frames, np.array([query.row])
        last = first + LENGTH - 1
        start = contexts(frames, first, side="start")[0]
        end = contexts(frames, last, side="end")[0]
        way = displacements(frames, first, last)[0]
        out = spans_of(frames, list(query.left_out))
        return {
            "start": self.index.nearest(start, None, count=1, exclude=out).rows,
            "end": self.index.nearest(None, end, count=1, exclude=out).rows,
            "both": self.index.nearest(
                start, end, way, count=2, apart=LENGTH // 2, exclude=out
            ).rows,
        }

    def made(self, query: Query) -> dict[str, Made]:
        """Every method's answer."""
        windows = self.windows(query)
        s, t, near = windows["start"][0], windows["end"][0], windows["both"]
        truth = WindowBatch.of_rows(self.frames, [query.row], LENGTH)
        every = np.arange(self.frames.skeleton.n_joints)
        blends = {
            "2-way": [s, t],
            "nearest window": [near[0], near[0]],
            "3-way with nearest": [s, near[0], t],
            "4-way with nearest": [s, near[0], near[-1], t],
        }
        joints = {
            name: seen_joints(WindowBatch.of_blends(self.frames, rows, LENGTH), every, truth)[0]
            for name, rows in blends.items()
        }
        joints["interpolation"] = self.interpolated(query)
        joints["inertialization"] = self.inertialized(query, int(near[0]), truth)
        joints["motion matching"] = self.matched(query, truth)
        joints |= self.filled(query)
        real = seen_joints(truth, every, None)[0]
        answers = {name: self.judged(joints[name], real, query) for name in METHODS}
        answers["captured"] = self.judged(real, real, query)
        return answers

    def filled(self, query: Query) -> dict[str, np.ndarray]:
        """What ``fill`` makes of the clip with the second cut out, and parts of it alone."""
        frames, first = self.frames, query.row - int(self.frames.starts[query.clip])
        gap = gap_of(frames, self.motion(query.clip), first + 1, first + LENGTH - 2)
        nearest = nearest_windows(
            frames, gap, WindowQuery(index=self.index, exclude=query.left_out)
        )
        joints = {"nearest window, ends met": self.bent_to_ends(query, gap, nearest.rows[:1])}
        windows = windows_for(frames, gap, WindowQuery(index=self.index, exclude=query.left_out))
        ways: tuple[tuple[str, int, Literal["held", "free"]], ...] = (
            ("fill", COUNT, "held"),
            ("fill, one window", 1, "held"),
            ("fill, feet not held", COUNT, "free"),
        )
        for name, count, feet in ways:
            rows, shares = windows.rows[:count], shares_of(windows.distances[:count])
            passage, _ = fill_gap(
                frames, self.rig, gap, rows, shares, lengths=windows.lengths[:count], feet=feet
            )
            positions, _ = forward_kinematics(
                frames.skeleton, passage.root_positions, passage.local_quats
            )
            joints[name] = self.from_start(positions, query)
        return joints

    def bent_to_ends(self, query: Query, gap: Gap, rows: np.ndarray) -> np.ndarray:
        """One captured window with the poses and velocities of the gap's ends, as ``fill`` has."""
        line = gap.line()
        passage = mean_window(
            self.frames,
            rows,
            np.ones(1),
            Ends(
                gap.length,
                line,
                moments_at(gap.frames, np.array([gap.start]), line, 0.0, "start"),
                moments_at(gap.frames, np.array([gap.end]), line, gap.length - 1.0, "end"),
            ),
        )
        positions, _ = forward_kinematics(
            self.frames.skeleton, passage.root_positions, passage.local_quats
        )
        return self.from_start(positions, query)

    def from_start(self, positions: np.ndarray, query: Query) -> np.ndarray:
        """World joints (T, J, 3) as seen from the body at the second's start."""
        heading, (x, z) = self.frames.heading[query.row], self.frames.ground[query.row]
        turn = quat.from_axis_angle(np.array([0.0, 1.0, 0.0]), -heading)
        return np.asarray(quat.rotate(turn, positions - np.array([x, 0.0, z])))

    def interpolated(self, query: Query) -> np.ndarray:
        """Rotations by slerp, the root in a straight line."""
        ends = self.frames.motion(query.row, query.row + LENGTH - 1)
        u = np.linspace(0.0, 1.0, LENGTH)
        root = ends.root_positions[:1] * (1.0 - u)[:, None] + ends.root_positions[-1:] * u[:, None]
        quats = quat.slerp(ends.local_quats[:1], ends.local_quats[-1:], u[:, None])
        positions, _ = forward_kinematics(self.frames.skeleton, root, quats)
        return self.from_start(positions, query)

    def inertialized(self, query: Query, row: int, truth: WindowBatch) -> np.ndarray:
        """The nearest window, inertialized, led from one end into the other."""
        bent = self.inertialized_window(query, row, truth)
        return np.asarray(seen_joints(bent, np.arange(bent.body.shape[2]), truth)[0])

    def inertialized_window(self, query: Query, row: int, truth: WindowBatch) -> WindowBatch:
        """The nearest window as captured, what does not fit at both ends fading by quintics."""
        own = WindowBatch.of_rows(self.frames, [row], LENGTH)
        times = np.arange(LENGTH) / self.frames.fps
        body = own.body[0].astype(np.float64)
        for row_asked, row_own, k, away in (
            (query.row, row, 0, -1),
            (query.row + LENGTH - 1, row + LENGTH - 1, -1, 1),
        ):
            gap = truth.body[0, k] - own.body[0, k].astype(np.float64)
            speed = self.velocity(row_asked, away) - self.velocity(row_own, away)
            faded = decayed(gap, speed * -away, times, blend_s=BLEND_S)
            body = body + (faded if k == 0 else faded[::-1])
        return WindowBatch(own.heading, own.ground, body[None].astype(np.float32), own.fps)

    def matched(self, query: Query, truth: WindowBatch) -> np.ndarray:
        """The window that motion matching finds, led from one end into the other."""
        match = self.matched_window(query)
        return np.asarray(seen_joints(match, np.arange(match.body.shape[2]), truth)[0])

    def matched_window(self, query: Query) -> WindowBatch:
        """The window that motion matching finds."""
        blended = matching_transition(
            self.matches,
            query.row,
            query.row + LENGTH - 1,
            LENGTH,
            exclude=spans_of(self.frames, list(query.left_out)),
        )
        return window_of(self.frames, blended.heading, blended.root_positions, blended.local_quats)

    def velocity(self, row: int, away: int) -> np.ndarray:
        """Of joints seen from the body, away from the second; metres a second."""
        clip = self.frames.clip_at(row)
        nearest = int(
            np.clip(row + away * REACH, self.frames.starts[clip], self.frames.starts[clip + 1] - 1)
        )
        if nearest == row:
            return np.zeros_like(self.frames.body[row], dtype=np.float64)
        way = self.frames.body[nearest].astype(np.float64) - self.frames.body[row]
        return np.asarray(way * self.frames.fps / (nearest - row))

    def judged(self, joints: np.ndarray, real: np.ndarray, query: Query) -> Made:
        off = np.linalg.norm((joints - real)[:, self.joints], axis=-1)
        speeds = []
        for toe, low in zip(self.toes, self.lows[query.clip], strict=True):
            at = joints[:, toe]
            speed = np.linalg.norm(np.diff(at[:, [0, 2]], axis=0), axis=-1) * self.frames.fps
            speeds.append(speed[at[1:, 1] < low + LOW_M])
        slow = np.concatenate(speeds)
        return Made(
            100.0 * float(off.mean()),
            100.0 * float(np.linalg.norm((joints - real)[:, 0, [0, 2]], axis=-1).mean()),
            100.0 * float(slow.mean()) if len(slow) else float("nan"),
        )


def window_of(
    frames: Frames, heading: np.ndarray, root: np.ndarray, quats: np.ndarray
) -> WindowBatch:
    """One window of made frames."""
    positions, _ = forward_kinematics(frames.skeleton, root, quats)
    ground = root[:, [0, 2]]
    up = np.zeros_like(root)
    up[:, [0, 2]] = ground
    turns = quat.from_axis_angle(np.array([0.0, 1.0, 0.0]), -heading)
    body = quat.rotate(turns[:, None], positions - up[:, None]).astype(np.float32)
    return WindowBatch(heading[None], ground[None], body[None], frames.fps)
