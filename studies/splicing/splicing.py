"""Splicing: splices against the truth, clips as captured, and speed; all four methods.

    ./study splicing [apart] [classifiers] [beats] [truth] [captured] [speed]

Pairs and seeds stand in ``protocols/splicing_*.json``. Brackets in the notes are 95 % bootstrap
bounds over pairs; settings were chosen on the pairs of ``truth`` and ``captured``. Quality needs
the folder of real clips; speed does not.
"""

from __future__ import annotations

import os

# One thread for matrix products: on a busy machine threads wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import time
import warnings

import motionloom as ml
from studies.captured_clips import mocap
from studies.parts import asked_parts
from studies.report import Figure, write_report
from studies.splicing.gait_phase import METHODS, Method
from studies.splicing.splicing_apart import apart_figures
from studies.splicing.splicing_beats import beat_figures
from studies.splicing.splicing_captured import captured_figures
from studies.splicing.splicing_classifiers import classifier_figures
from studies.splicing.splicing_truth import truth_figures

PARTS = ("apart", "classifiers", "beats", "truth", "captured", "speed")
N_FRAMES = 110
PAPER_MS, GOAL_MS = 670.0, 8.0
ROUNDS = 40


def walks(n_frames: int) -> tuple[ml.Motion, ml.Motion]:
    """A carry and a curved walk, 30 Hz."""
    seconds = (n_frames + 30) / 30.0
    carry = ml.synthetic.clip("carry", duration_s=seconds, fps=30.0).motion
    turn = ml.synthetic.clip("walk", turn=1.2, duration_s=seconds, fps=30.0).motion
    return carry[: n_frames + 20], turn[:n_frames]


def milliseconds(n_frames: int, method: Method) -> float:
    """Least processor time of a splice, footplants not asked for; other programs do not count."""
    upper, lower = walks(n_frames)
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.process_time()
        ml.splice(upper, lower, method=method)
        best = min(best, 1e3 * (time.process_time() - start))
    return best


def speed_figures() -> list[Figure]:
    figures = []
    for method in METHODS:
        full = method == "full"
        figures.append(
            Figure(
                f"splice of {N_FRAMES} frames, {method}",
                milliseconds(N_FRAMES, method),
                "ms",
                "Heck 2006, their machine" if full else "",
                PAPER_MS if full else None,
                lower_is_better=True,
                value_goal=GOAL_MS if full else None,
                note=f"processor time, best of {ROUNDS}; foot plants are not asked for",
            )
        )
    once, twice = milliseconds(2000, "naive"), milliseconds(4000, "naive")
    long_once, long_twice = milliseconds(2000, "full"), milliseconds(4000, "full")
    figures.append(
        Figure(
            "splice without the grid: time with twice the frames",
            twice / once,
            "x",
            lower_is_better=True,
            value_goal=2.5,
            note=f"naive, 2000 frames {once:.1f} ms; full with the grid {long_once:.0f} and "
            f"{long_twice:.0f} ms",
        )
    )
    return figures


def main() -> int:
    parts = asked_parts(__doc__.splitlines()[0], PARTS)
    warnings.simplefilter("ignore")
    folder = mocap()
    figures: list[Figure] = []
    about: dict[str, object] = {"parts": ", ".join(parts)}
    if folder is None:
        about["real clips"] = "not found (set MOTIONLOOM_MOCAP): speed only"
    else:
        if "apart" in parts:
            figures += apart_figures(folder)
        if "classifiers" in parts:
            figures += classifier_figures(folder)
        if "beats" in parts:
            figures += beat_figures(folder)
        if "truth" in parts:
            figures += truth_figures(folder)
        if "captured" in parts:
            captured, named = captured_figures(folder)
            figures += captured
            about |= named
    if "speed" in parts:
        figures += speed_figures()
    write_report("splicing", figures, about=about)
    return 0 if all(figure.met is not False for figure in figures) else 1


if __name__ == "__main__":
    raise SystemExit(main())
