"""Whether masses fitted to how a subject keeps the balance hold for takes they never saw.

    ./study transitions masses

CMU subject 143, 42 takes at 60 Hz: masses are fitted to every other take, and measured on these
and on the rest, then the other way round. Without a gain on the rest a fit has learnt its takes.
"""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.body.masses import mass_segments
from motionloom.tables.collection.frames import Frames
from motionloom.tables.score.mass_fit import fit_frames, support_misses
from studies.captured_clips import frames_143, mocap
from studies.report import Figure, write_report

HALVES = {"even": 0, "odd": 1}


def root_mean_square_cm(frames: Frames, masses: FloatArray, clips: tuple[int, ...]) -> float:
    """How far the zero moment point lies outside the support in takes."""
    misses = support_misses(frames, masses, clips=clips)
    return 100.0 * float(np.sqrt(np.mean(misses**2)))


def run() -> tuple[list[Figure], dict[str, object]]:
    """All figures, and the masses."""
    folder = mocap()
    if folder is None:
        return [], {"masses": "real clips not found (set MOTIONLOOM_MOCAP)"}
    frames = frames_143(folder)
    winter = mass_segments(frames.skeleton.n_joints, frames.body_map).masses
    figures, about = [], dict[str, object]()
    for half, first in HALVES.items():
        clips = tuple(range(first, frames.n_clips, 2))
        rest = tuple(range(1 - first, frames.n_clips, 2))
        fitted = fit_frames(frames, clips=clips).masses
        about[f"masses: fitted to {half} takes"] = np.round(fitted, 4).tolist()
        for name, chosen in (("these takes", clips), ("the other takes", rest)):
            before, after = (root_mean_square_cm(frames, m, chosen) for m in (winter, fitted))
            figures.append(
                Figure(
                    f"masses fitted to {half} takes: zero moment point outside, {name}",
                    after,
                    "cm",
                    "Winter's masses",
                    before,
                    lower_is_better=True,
                    note=f"{100.0 * (1.0 - after / before):.2f} % less, root mean square",
                )
            )
    return figures, about


def main() -> int:
    figures, about = run()
    if figures:
        write_report("transitions_masses", figures, about=about)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
