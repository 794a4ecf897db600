"""GraphPath and GraphWalk: a path through a motion graph, and the motion along it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from motionloom._records import record
from motionloom.errors import ArrayError
from motionloom.motion.edit import concatenate, transform
from motionloom.motion.motion import Footplants, Motion
from motionloom.motion.provenance import Provenance
from motionloom.registration.timewarp import fit_planar_alignment
from motionloom.rotation import quat
from motionloom.rotation.quat import PlanarTransform, ease
from motionloom.tables.collection.frames import Frames
from motionloom.tables.index.windows import compared_joints


@dataclass(frozen=True, slots=True)
@record
class GraphPath:
    """A path from one row to another: runs of captured rows with a blend between each two.

    Attributes
    ----------
    pieces : tuple
        First and last row of every run, both played.
    blend : int
        Frames from the last row of a run to the first of the next; that many less one are blends.
    fps : float
        Frames per second.
    """

    pieces: tuple[tuple[int, int], ...]
    blend: int
    fps: float

    @property
    def n_frames(self) -> int:
        """Frames from the first row to the last, steps not rows: 60 at 60 Hz are one second."""
        runs = sum(last - first for first, last in self.pieces)
        return runs + self.blend * (len(self.pieces) - 1)

    @property
    def duration_s(self) -> float:
        """Seconds from the first row to the last."""
        return self.n_frames / self.fps


@dataclass(frozen=True, slots=True, eq=False)
@record
class GraphWalk:
    """Captured runs with short blends between them, as one clip.

    Attributes
    ----------
    motion : Motion
        The whole clip.
    footplants : Footplants
        Its contacts.
    spans : tuple
        Frames of ``motion`` between which each change is blended: the last captured frame before it
        and the first after.
    path : GraphPath
        The way that it goes.
    provenance : Provenance
        Clips, times and weights of every frame; frames of the runs are a clip's own.
    """

    motion: Motion
    footplants: Footplants
    spans: tuple[tuple[int, int], ...]
    path: GraphPath
    provenance: Provenance = field(repr=False)

    @property
    def span(self) -> tuple[int, int]:
        """From the first blended frame to the last; (0, 0) where nothing is blended."""
        return (self.spans[0][0], self.spans[-1][1]) if self.spans else (0, 0)


def walk_path(frames: Frames, path: GraphPath, *, name: str = "") -> GraphWalk:
    """The motion along ``path``, standing where the first clip stood.

    Over a change both windows are aligned once, then root positions are mixed and joint angles
    turned from the one to the other, with weights that are flat at both ends (section 3.2 of
    [KGP02]_).
    """
    _check(frames, path)
    placement = PlanarTransform.identity()
    first, last = path.pieces[0]
    parts = [frames.motion(first, last)]
    planted = [frames.planted[first : last + 1]]
    spans, length = [], last + 1 - first
    for (_, leave), (enter, end) in zip(path.pieces[:-1], path.pieces[1:], strict=True):
        a = transform(frames.motion(leave, leave + path.blend), placement)
        b = frames.motion(enter - path.blend, enter)
        fit = _alignment(frames, a, b)
        placement = fit
        mixed = _mixed(a, transform(b, fit))
        half = path.blend // 2
        parts += [mixed[1:-1], transform(frames.motion(enter, end), fit)]
        planted += [
            frames.planted[leave + 1 : leave + 1 + half],
            frames.planted[enter - path.blend + 1 + half : enter],
            frames.planted[enter : end + 1],
        ]
        spans.append((length - 1, length - 1 + path.blend))
        length += path.blend - 1 + end + 1 - enter
    motion = concatenate(parts).replace(name=name or "graph walk")
    plants = Footplants(np.concatenate(planted))
    return GraphWalk(motion, plants, tuple(spans), path, _provenance(frames, path))


def _provenance(frames: Frames, path: GraphPath) -> Provenance:
    """Runs of rows one after the other, and two rows in every frame of a blend between them."""
    rows, weights = [], []
    for k, (first, last) in enumerate(path.pieces):
        if k > 0:
            leave, gone = path.pieces[k - 1][1], np.arange(1, path.blend)
            part = ease(gone / path.blend)
            rows.append(np.stack([leave + gone, first - path.blend + gone], axis=-1))
            weights.append(np.stack([part, 1.0 - part], axis=-1))
        run = np.arange(first, last + 1)
        rows.append(np.stack([run, run], axis=-1))
        weights.append(np.tile([1.0, 0.0], (len(run), 1)))
    shares = np.concatenate(weights)
    changed = np.asarray(shares.max(axis=1) < 1.0)
    return frames.provenance(np.concatenate(rows).astype(np.float64), shares, changed)


def _check(frames: Frames, path: GraphPath) -> None:
    """Refuse a path that leads out of a clip: one of another graph, or one put together by hand."""
    if not path.pieces:
        raise ArrayError("`path` must have at least one piece, got none.")
    last_piece = len(path.pieces) - 1
    for k, (first, last) in enumerate(path.pieces):
        low = first - (path.blend if k > 0 else 0)
        high = last + (path.blend if k < last_piece else 0)
        inside = 0 <= low <= first <= last <= high < frames.n_rows
        if not inside or frames.clip_at(low) != frames.clip_at(high):
            raise ArrayError(
                f"`path` must be one of this graph: its piece {k}, rows {first} to {last} and "
                f"{path.blend} frames to blend, does not lie inside one clip."
            )


def _alignment(frames: Frames, a: Motion, b: Motion) -> PlanarTransform:
    """Carries B's window onto A's."""
    joints = compared_joints(frames.skeleton, frames.body_map)
    fixed, here = (m.world_positions()[:, joints].reshape(-1, 3) for m in (a, b))
    theta, offset, _ = fit_planar_alignment(fixed, here, np.ones(len(fixed)))
    return PlanarTransform(float(theta), float(offset[0]), float(offset[1]))


def _mixed(a: Motion, b: Motion) -> Motion:
    """A first and B last, both of the same length."""
    part = 1.0 - ease(np.arange(a.n_frames) / (a.n_frames - 1))
    root = a.root_positions + part[:, None] * (b.root_positions - a.root_positions)
    quats = quat.slerp(a.local_quats, b.local_quats, part[:, None])
    return a.replace(root_positions=root, local_quats=quat.make_continuous(quats))
