"""Candidates whose truth is known: seconds cut out of captured clips, remade in several ways.

    python -m studies.tables.natural_candidates [143] [69] [16] [35_127] [bandai]

draws them once and writes ``protocols/transitions_natural*.json``, so that no score that is tried
later influences what it is tried on. A group is one or two subjects on one skeleton; scores are
fitted to four groups and evaluated on the fifth.
"""

from __future__ import annotations

import json
import sys
import tempfile
import warnings
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

import motionloom as ml
from motionloom.tables.collection.frames import Frames, frames_of
from motionloom.tables.index.clusters import find_clusters
from motionloom.tables.index.contexts import contexts, displacements
from motionloom.tables.score.terms import term_source, terms_of
from motionloom.tables.search.search import search_pair
from studies.captured_clips import PROTOCOLS, mocap

LENGTH = 60
"""Frames of a second at 60 Hz: subjects 143 and 69."""
GAPS = PROTOCOLS / "transitions_inbetween.json"


class Group(NamedTuple):
    """One or two subjects whose clips are blended with each other."""

    name: str
    patterns: tuple[str, ...]
    """Files, relative to the folder of real clips."""
    seeds: dict[str, int]
    """By part of the takes."""
    queries: int = 100
    clusters: int = 24
    fps: float = 60.0
    """Rate of the windows, which last one second."""
    capture_fps: float | None = None
    """True rate where the headers are wrong."""
    margin_s: float = 0.05
    """Seconds that a query's clip has before and after it."""

    @property
    def plan(self) -> Path:
        """The file with the candidates."""
        return (
            PROTOCOLS / f"transitions_natural{'' if self.name == '143' else '_' + self.name}.json"
        )


GROUPS = {
    group.name: group
    for group in (
        Group("143", ("cmu_bvh/143_*.bvh",), {"tuning": 11, "report": 12}, 200, 50,
              capture_fps=60.0, margin_s=0.2),
        Group("69", ("cmu_bvh/69_*.bvh",), {"report": 69}, 200, 50, margin_s=0.2),
        Group("16", ("cmu_bvh/16_*.bvh", "audit/16_*.bvh"), {"report": 16}),
        Group("35_127", ("audit/35_*.bvh", "audit/127_*.bvh"), {"report": 35}),
        Group("bandai", ("bandai_bvh/*.bvh", "audit/dataset-*_00[12].bvh"), {"report": 30},
              fps=30.0),
    )
}  # fmt: skip
PLANS = {name: group.plan for name, group in GROUPS.items()}


@lru_cache(maxsize=5)
def frames_of_subject(folder: Path, subject: str) -> Frames:
    """All takes of a group on one skeleton, at the group's rate."""
    group = GROUPS[subject]
    files = sorted(file for pattern in group.patterns for file in folder.glob(pattern))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if subject in ("35_127", "bandai"):
            return matched_frames(files, group.fps)
        loaded = [ml.load(file, fps=group.capture_fps) for file in files]
        return frames_of(
            [
                ml.resample(motion, fps=group.fps).replace(name=file.stem)
                for motion, file in zip(loaded, files, strict=True)
            ]
        )


def matched_frames(files: list[Path], fps: float) -> Frames:
    """Clips of several skeletons, or with bones that slide, matched to one rigid skeleton."""
    with tempfile.TemporaryDirectory() as home:
        clips = Path(home) / "clips"
        clips.mkdir()
        for file in files:
            (clips / file.name).symlink_to(file)
        frames = ml.Collection.ingest(clips, out=Path(home) / "clips.mlc", fps=fps).frames
        arrays = {
            name: np.array(getattr(frames, name))
            for name in ("heading", "ground", "quats", "body", "points", "planted", "glitch_rows")
        }
        return replace(frames, starts=np.array(frames.starts), **arrays)


def window_length(frames: Frames) -> int:
    """Frames of one second."""
    return round(frames.fps)


def subject_plan(subject: str) -> dict:
    """Sister takes of a group, and parts of its takes where it has them."""
    return json.loads(GAPS.read_text()).get(subject, {"sisters": []})


def sister_clips(frames: Frames, groups: list[list[str]], clip: int) -> list[int]:
    """A clip and its sister takes."""
    name = frames.ids[clip]
    names = next((group for group in groups if name in group), [name])
    return [frames.ids.index(other) for other in names]


def draw_candidates(frames: Frames, gaps: dict, group: Group) -> dict:
    """Rows of every candidate of every query, by kind."""
    length, clusters = window_length(frames), group.clusters
    windows = frames.sound(frames.windows(length), length)
    ends = windows + length - 1
    clips = np.searchsorted(frames.starts, windows, side="right") - 1
    starts, finishes = contexts(frames, windows, side="start"), contexts(frames, ends, side="end")
    ways = displacements(frames, windows, ends)
    medoids = np.asarray(find_clusters(frames, length=length, clusters=clusters).medoids)
    medoid_clips = np.searchsorted(frames.starts, medoids, side="right") - 1
    terms = terms_of(frames, np.concatenate([medoids, medoids[:2]]), length)
    source, places = term_source(frames), (clusters, clusters + 1)
    candidates: dict[str, list] = {}
    for half, seed in group.seeds.items():
        rng = np.random.Generator(np.random.PCG64(seed))
        takes = gaps.get(f"{half}_takes", frames.ids)
        chosen = [frames.ids.index(name) for name in takes]
        inside = np.isin(clips, chosen)
        margin = has_margin(frames, windows, clips, group.margin_s)
        queries = rng.choice(windows[inside & margin], group.queries, replace=False)
        candidates[half] = []
        for query in queries:
            k = int(np.searchsorted(windows, query))
            out = sister_clips(frames, gaps["sisters"], int(clips[k]))
            allowed = ~np.isin(clips, out)
            at_start = np.square(starts - starts[k]).sum(axis=1)
            at_end = np.square(finishes - finishes[k]).sum(axis=1)
            both = at_start + at_end + np.square(ways - ways[k]).sum(axis=1)
            order = [np.where(allowed, d, np.inf) for d in (at_start, at_end, both)]
            s, t, near = (int(windows[np.argmin(d)]) for d in order)
            # The second captured window is one of another moment, not the next frame.
            apart = np.where(np.abs(windows - near) < length // 2, np.inf, order[2])
            second = int(windows[np.argmin(apart)])
            free = np.flatnonzero(~np.isin(medoid_clips, out))
            some = medoids[rng.choice(free, 2, replace=False)]
            for place, row in zip(places, (s, t), strict=True):
                terms.put(source, place, row)
            best = {
                ways_: search_pair(terms, *places, free, ways=(ways_,), keep=1).recipes[0, 0]
                for ways_ in (3, 4)
            }
            far = int(rng.choice(windows[allowed]))
            candidates[half].append(
                {
                    "query": int(query),
                    "two": [s, t],
                    "source": [s],
                    "nearest": [near],
                    "three near": [s, near, t],
                    "four near": [s, near, second, t],
                    "three random": [s, int(some[0]), t],
                    "four random": [s, int(some[0]), int(some[1]), t],
                    "three by sum": [s, int(medoids[best[3][1]]), t],
                    "four by sum": [s, *(int(medoids[m]) for m in best[4][1:3]), t],
                    "two far": [s, far],
                }
            )
    return candidates


def has_margin(
    frames: Frames, windows: np.ndarray, clips: np.ndarray, margin_s: float
) -> np.ndarray:
    """Windows with so many seconds of their clip before and after."""
    margin = round(margin_s * frames.fps)
    first, stop = frames.starts[clips], frames.starts[clips + 1]
    return (windows >= first + margin) & (windows + window_length(frames) + margin <= stop)


def write_plan(folder: Path, subject: str) -> None:
    frames, group = frames_of_subject(folder, subject), GROUPS[subject]
    candidates = draw_candidates(frames, subject_plan(subject), group)
    about = (
        f"Queries: seconds of {', '.join(group.patterns)} ({group.fps:g} Hz, takes end to end in "
        "the order of their names, frames without the T-pose; a window is named by its first row), "
        f"{group.queries} from each of {', '.join(group.seeds)}; transitions_inbetween.json has "
        "takes and sister takes. Candidates of a query: rows of the windows that are blended, none "
        "from the query's take or its sisters. s and t are the windows whose start, or end, is "
        "most like the query's; nearest are like it at both ends; random and by sum take their "
        f"middle windows from the {group.clusters} medoids (by sum: those with the least foot "
        "error + ZMP). Drawn before any score was measured on them."
    )
    lines = [
        f"  {json.dumps(half)}: [\n"
        + ",\n".join("   " + json.dumps(query) for query in queries)
        + "\n  ]"
        for half, queries in candidates.items()
    ]
    length = window_length(frames)
    head = {"about": about, "rows": frames.n_rows, "length": length, "seeds": group.seeds}
    body = ",\n".join(f" {json.dumps(k)}: {json.dumps(v)}" for k, v in head.items())
    group.plan.write_text("{\n" + body + ',\n "queries": {\n' + ",\n".join(lines) + "\n }\n}\n")
    print(f"{group.plan}: {sum(map(len, candidates.values()))} queries")


def main() -> None:
    folder = mocap()
    if folder is None:
        raise SystemExit("Set MOTIONLOOM_MOCAP to the folder of real clips.")
    for subject in sys.argv[1:] or list(PLANS):
        write_plan(folder, subject)


if __name__ == "__main__":
    main()
