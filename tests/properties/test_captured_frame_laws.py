"""Law 51: captured frames stay as they were captured, whatever is made of them.

Outside of what a result says it changed, every frame is a frame of one clip: all local rotations
below the root are equal to the last bit, and the root is the clip's moved by one turn and one shift
over the ground. Nothing is changed farther from where motion is made than its fade, but for feet
that are held until they swing, which a note reports.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pytest

import motionloom as ml
from motionloom.rotation import quat
from motionloom.splicing.body_parts import parts_of

ROUND_OFF = 1e-9
"""Metres and radians: the root of a run of frames is moved by one transform, which rounds."""
FADE_S, SEAM_S = 0.3, 0.2
REAL = ("16_15", "16_35", "16_47", "16_55")
KINDS = ("walk", "jog", "walk", "sneak")


class Library(NamedTuple):
    clips: list[ml.Motion]
    table: ml.TransitionTable

    def captured(self, names: Sequence[str]) -> list[ml.Motion]:
        """Whole clips of the table."""
        frames = self.table.frames
        at = [frames.ids.index(name) for name in names]
        return [frames.motion(int(frames.starts[k]), int(frames.starts[k + 1]) - 1) for k in at]


@pytest.fixture(scope="module", params=["synthetic", "real"])
def library(request, tmp_path_factory) -> Library:
    if request.param == "real":
        folder = request.getfixturevalue("mocap") / "cmu_bvh"
        with warnings.catch_warnings():  # clips that start badly
            warnings.simplefilter("ignore", ml.MotionLoomWarning)
            loaded = [ml.load(folder / f"{name}.bvh") for name in REAL]
        clips = [ml.resample(clip, fps=60.0)[10:250] for clip in loaded]
    else:
        made = [ml.synthetic.clip(kind, duration_s=4.0, seed=k) for k, kind in enumerate(KINDS)]
        clips = [clip.motion for clip in made]
    clips = [clip.replace(name=f"clip-{k}") for k, clip in enumerate(clips)]
    home = tmp_path_factory.mktemp(request.param)
    for clip in clips:
        ml.save(clip, home / f"{clip.name}.bvh")
    collection = ml.Collection.ingest(home, fps=60.0)
    return Library(clips, ml.build_table(collection, length_s=0.8, clusters=4, jobs=1))


class Case(NamedTuple):
    result: Any
    sources: Sequence[ml.Motion]
    """In the order of the result's provenance."""
    made: Sequence[tuple[int, int]]
    """Spans in which motion is made, with their fades."""


def transition(library: Library, **options: Any) -> Case:
    made = ml.transition(*library.clips[:2], **options)
    return Case(made, made.matched.motions, [faded(made.span, made.motion.fps)])


def sequence(library: Library, **options: Any) -> Case:
    row = ml.sequence(library.clips, keep=0.2, **options)
    spans = [faded(each.span, row.motion.fps) for each in row.joints]
    return Case(row, library.clips, spans)


def loop(library: Library) -> Case:
    lap = ml.loop(library.clips[0])
    fade, end = round(FADE_S * lap.motion.fps), lap.motion.n_frames - 1
    seam = round(SEAM_S * lap.motion.fps)
    return Case(lap, library.clips[:1], [(0, fade), (end - seam - fade, end)])


def filled(library: Library) -> Case:
    given = library.captured(["clip-0"])[0]
    made = library.table.fill(given, 90, 130, exclude=["clip-0"])
    others = library.captured(made.provenance.sources[1:])
    return Case(made, [given, *others], [made.span])


def table_transition(library: Library, **options: Any) -> Case:
    ends = ("clip-0", 40), ("clip-2", 100)
    made = library.table.transition(*ends, lead_s=0.5, follow_s=0.5, **options)
    return Case(made, library.captured(made.provenance.sources), [made.span])


def table_path(library: Library) -> Case:
    made = library.table.path(("clip-0", 30), ("clip-2", 160), limit_s=20.0)
    whole = 0, made.motion.n_frames - 1
    return Case(made, library.captured(made.provenance.sources), [whole])


VERBS: dict[str, Callable[[Library], Case]] = {
    "transition": transition,
    "transition with feet as they are": lambda them: transition(them, clean=False),
    "transition at the end": lambda them: transition(them, keep="late"),
    "sequence": sequence,
    "sequence that ends as it begins": lambda them: sequence(them, loop=True),
    "loop": loop,
    "fill": filled,
    "table transition": table_transition,
    "another table transition": lambda them: table_transition(them, variation=2),
    "path over a table": table_path,
}


def faded(span: tuple[int, int], fps: float) -> tuple[int, int]:
    fade = round(FADE_S * fps)
    return span[0] - fade, span[1] + fade


def alike(ours: ml.Motion, theirs: ml.Motion, joints: slice | list[int]) -> bool:
    """Whether rotations are equal to the last bit; q and -q are one rotation."""
    now, was = ours.local_quats[:, joints], theirs.local_quats[:, joints]
    signs = np.sign((now * was).sum(axis=-1, keepdims=True))
    return bool((signs * now == was).all())


@pytest.mark.parametrize("verb", VERBS)
def test_frames_that_are_not_changed_are_one_clips_own(library: Library, verb: str) -> None:
    result, sources, _ = VERBS[verb](library)
    found, covered = result.provenance, np.zeros(result.motion.n_frames, dtype=bool)
    for copy in found.copies():
        ours = result.motion[copy.first : copy.last + 1]
        theirs = sources[copy.source][copy.start : copy.start + copy.n_frames]
        assert alike(ours, theirs, slice(1, None)), copy
        turn = quat.multiply(ours.local_quats[:, 0], quat.conjugate(theirs.local_quats[:, 0]))
        about_y = quat.from_axis_angle(np.array([0.0, 1.0, 0.0]), quat.yaw(turn[:1])[0])
        assert quat.angle_between(turn, about_y).max() < 1e3 * ROUND_OFF
        placed = ours.root_positions - quat.rotate(about_y, theirs.root_positions)
        assert np.ptp(placed, axis=0).max() < ROUND_OFF
        assert abs(placed[0, 1]) < ROUND_OFF
        covered[copy.first : copy.last + 1] = True
    assert covered.sum() > 10
    assert np.array_equal(covered, ~found.changed)


@pytest.mark.parametrize("verb", VERBS)
def test_frames_are_changed_only_where_motion_is_made(library: Library, verb: str) -> None:
    result, _, spans = VERBS[verb](library)
    may = np.zeros(result.motion.n_frames, dtype=bool)
    for first, last in spans:
        may[max(first, 0) : last + 1] = True
    if not any("until it swings" in note for note in result.notes):
        assert not (result.provenance.changed & ~may).any()


@pytest.mark.parametrize("repair", ["made", None])
def test_a_splice_has_root_and_legs_of_one_clip(library: Library, repair: str | None) -> None:
    made = ml.splice(upper=library.clips[1], lower=library.clips[0], repair=repair)
    legs, n = library.clips[0], made.motion.n_frames
    parts = parts_of(legs.skeleton, made.matched.body, "torso")
    taken = {joint for part in parts for joint in part.joints}
    own = [joint for joint in range(legs.skeleton.n_joints) if joint not in taken]
    assert len(own) > 6
    assert alike(made.motion, legs[:n], own)
    assert np.array_equal(made.motion.root_positions, legs.root_positions[:n])
    lower = made.provenance.tracks[0]
    assert np.array_equal(np.round(lower.time[:, 0] * legs.fps), np.arange(n))
