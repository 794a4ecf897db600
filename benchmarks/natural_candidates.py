"""Candidates whose truth is known: seconds cut out of captured clips, made again in several ways.

    python benchmarks/natural_candidates.py [143] [69]

draws them once and writes ``protocols/transitions_natural.json`` (143; 69 into a file of its own),
so that no score that is tried later has a say in what it is tried on. Subject 69 was drawn when the
score was settled, and nothing was ever fitted to it.
"""

from __future__ import annotations

import json
import sys
import warnings
from functools import lru_cache
from pathlib import Path

import numpy as np

import motionloom as ml
from motionloom.transitions.collecting.frames import Frames, frames_of
from motionloom.transitions.likeness.clusters import find_clusters
from motionloom.transitions.likeness.contexts import contexts, displacements
from motionloom.transitions.scoring.terms import term_source, terms_of
from motionloom.transitions.searching.search import search_pair
from registration_clips import PROTOCOLS, mocap

LENGTH = 60
QUERIES = 200
SEEDS = {"143": {"tuning": 11, "report": 12}, "69": {"report": 69}}
CLUSTERS = 50
PLANS = {
    "143": PROTOCOLS / "transitions_natural.json",
    "69": PROTOCOLS / "transitions_natural_69.json",
}
GAPS = PROTOCOLS / "transitions_inbetween.json"


@lru_cache(maxsize=2)
def frames_of_subject(folder: Path, subject: str) -> Frames:
    """All takes of a CMU subject at 60 Hz: 143 was captured at that, others are resampled."""
    motions = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for file in sorted((folder / "cmu_bvh").glob(f"{subject}_*.bvh")):
            motion = ml.load(file, fps=60.0 if subject == "143" else None)
            motions.append(ml.resample(motion, fps=60.0).replace(name=file.stem))
    return frames_of(motions)


def sister_clips(frames: Frames, groups: list[list[str]], clip: int) -> list[int]:
    """A clip and its sister takes."""
    name = frames.ids[clip]
    names = next((group for group in groups if name in group), [name])
    return [frames.ids.index(other) for other in names]


def draw_candidates(frames: Frames, gaps: dict, seeds: dict[str, int]) -> dict:
    """Rows of every candidate of every query, by kind."""
    windows = frames.windows(LENGTH)
    ends = windows + LENGTH - 1
    clips = np.searchsorted(frames.starts, windows, side="right") - 1
    starts, finishes = contexts(frames, windows, side="start"), contexts(frames, ends, side="end")
    ways = displacements(frames, windows, ends)
    medoids = np.asarray(find_clusters(frames, length=LENGTH, clusters=CLUSTERS).medoids)
    medoid_clips = np.searchsorted(frames.starts, medoids, side="right") - 1
    terms = terms_of(frames, np.concatenate([medoids, medoids[:2]]), LENGTH)
    source, places = term_source(frames), (CLUSTERS, CLUSTERS + 1)
    found: dict[str, list] = {}
    for half, seed in seeds.items():
        rng = np.random.Generator(np.random.PCG64(seed))
        takes = gaps.get(f"{half}_takes", frames.ids)
        chosen = [frames.ids.index(name) for name in takes]
        inside = np.isin(clips, chosen)
        margin = gaps_margin(frames, windows, clips)
        queries = rng.choice(windows[inside & margin], QUERIES, replace=False)
        found[half] = []
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
            apart = np.where(np.abs(windows - near) < LENGTH // 2, np.inf, order[2])
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
            found[half].append(
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
    return found


def gaps_margin(frames: Frames, windows: np.ndarray, clips: np.ndarray) -> np.ndarray:
    """Windows with 12 frames of their clip before and after."""
    first, stop = frames.starts[clips], frames.starts[clips + 1]
    return (windows >= first + 12) & (windows + LENGTH + 12 <= stop)


def write_plan(folder: Path, subject: str) -> None:
    frames = frames_of_subject(folder, subject)
    gaps = json.loads(GAPS.read_text())[subject]
    found = draw_candidates(frames, gaps, SEEDS[subject])
    taken = {
        "143": "200 from the tuning takes and 200 from the report takes",
        "69": "200 from all takes, none of which was ever fitted to",
    }[subject]
    rate = "60 Hz" if subject == "143" else "resampled to 60 Hz"
    about = (
        f"Queries: seconds of CMU {subject} ({rate}, takes end to end in the order of their names, "
        f"frames without the T-pose; a window is named by its first row), {taken}; "
        "transitions_inbetween.json has takes and sister takes. Candidates of a query: "
        "rows of the windows that are blended (Bernstein), none from "
        "the query's take or its sisters. s and t are the windows whose start, or end, is most "
        "like the query's; nearest are like it at both ends; random and by sum take their middle "
        "windows from the 50 medoids (by sum: those with the least foot error + ZMP). Frozen "
        "before any score was measured on them. Good: within 6.0 cm of what was captured in the "
        "mean over joints and frames after the ends are pinned as in the trial; bad: over 9.8 cm."
    )
    lines = [
        f"  {json.dumps(half)}: [\n"
        + ",\n".join("   " + json.dumps(query) for query in queries)
        + "\n  ]"
        for half, queries in found.items()
    ]
    head = {"about": about, "rows": frames.n_rows, "length": LENGTH, "seeds": SEEDS[subject]}
    body = ",\n".join(f" {json.dumps(k)}: {json.dumps(v)}" for k, v in head.items())
    PLANS[subject].write_text("{\n" + body + ',\n "queries": {\n' + ",\n".join(lines) + "\n }\n}\n")
    print(f"{PLANS[subject]}: {sum(map(len, found.values()))} queries")


def main() -> None:
    folder = mocap()
    if folder is None:
        raise SystemExit("Set MOTIONLOOM_MOCAP to the folder of real clips.")
    for subject in sys.argv[1:] or list(PLANS):
        write_plan(folder, subject)


if __name__ == "__main__":
    main()
