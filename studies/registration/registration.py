"""Registration curves: timing, placement, transitions and the effect of each step, with baselines.

    ./study registration [timing] [placement] [transitions] [steps] [live] [hands]
                         [reach] [--half tuned|reported] [--every N]

Clips, pairs and seeds stand in ``protocols/registration_*.json``. Settings were chosen on the half
called "tuned"; figures are of the half called "reported". Brackets in the notes are 95 % bootstrap
bounds over clips or pairs. It needs the folder of real clips. Where parts are named, the figures of
the others stay in the results as they are.
"""

from __future__ import annotations

import argparse
import os

# One thread for matrix products, in ours and in the peers': on a busy machine their threads wait
# for each other, and ratios would say more about the neighbours than about the code.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import warnings

from studies.captured_clips import mocap
from studies.registration import registration_constraints as constraints
from studies.registration import registration_hands as hands
from studies.registration import registration_live as live
from studies.registration import registration_placement as placement
from studies.registration import registration_reach as reach
from studies.registration import registration_steps as steps
from studies.registration import registration_timing as timing
from studies.registration import registration_transitions as transitions
from studies.report import Figure, with_others, write_report

PARTS = ("timing", "placement", "transitions", "steps", "live", "hands", "reach")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="part", help=f"of {', '.join(PARTS)}")
    parser.add_argument("--half", choices=("tuned", "reported"), default="reported")
    parser.add_argument("--every", type=int, default=1, help="only every so many transitions")
    options = parser.parse_args()
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"parts must be of {', '.join(PARTS)}, got {', '.join(sorted(unknown))}")
    parts = options.parts or PARTS
    warnings.simplefilter("ignore")
    folder, half = mocap(), options.half
    figures: list[Figure] = []
    about: dict[str, object] = {"half": half, "parts": ", ".join(parts)}
    if folder is None:
        about["real clips"] = "not found (set MOTIONLOOM_MOCAP)"
    else:
        if "timing" in parts:
            figures += timing.warp_figures(folder, half) + timing.take_figures(folder, half)
            figures += steps.speed_figures(folder, half)
        if "placement" in parts:
            figures += placement.bend_figures(folder, half) + placement.rebuild_figures(folder)
        if "transitions" in parts:
            gate, named = transitions.gate_figures(folder, every=options.every)
            figures += gate
            about |= named
        if "steps" in parts:
            figures += transitions.left_out_figures(folder, every=3 * options.every)
            figures += constraints.constraint_figures(folder, half)
        if "live" in parts:
            figures += live.live_figures(folder, half)
        if "hands" in parts:
            figures += hands.hand_figures(folder, half)
        if "reach" in parts:
            figures += reach.reach_figures(folder, half)
    written, about = (
        with_others("registration", figures, about) if options.parts else (figures, about)
    )
    write_report("registration", written, about=about)
    return 0 if all(figure.met is not False for figure in figures) else 1


if __name__ == "__main__":
    raise SystemExit(main())
