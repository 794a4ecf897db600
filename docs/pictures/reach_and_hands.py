"""Draw punches by reach and held hands, for studies/reports/blends-measured.md.

python docs/pictures/reach_and_hands.py [MOCAP_FOLDER]
"""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from places import ROOT, picture

import motionloom as ml
from motionloom.body.body_map import facing
from motionloom.drawing.strip import draw_strip
from motionloom.rotation.quat import PlanarTransform
from studies.captured_clips import protocol
from studies.registration.registration_hands import compared, marked
from studies.registration.registration_reach import answers, family, grid_of

MOCAP = Path(os.environ.get("MOTIONLOOM_MOCAP", ROOT.parent / "shared" / "mocap"))
ASKED, GOT, CLIP = "#8a8f99", "#19734a", "#c4452f"
HEIGHT_M, TURNS = 1.25, (30.0, 36.0, 42.0, 48.0)
CASE = "set down a toolbox or a basket, left hand"


def draw_body(axes: Any, motion: ml.Motion, colour: Any, view: str) -> None:
    """The body at its farthest reach, seen from the side or from above, as it stood at first."""
    body = ml.BodyMap.guess(motion.skeleton)
    places = motion.world_positions()
    from_body = places[:, body.right_wrist] - places[:, body.pelvis]
    frame = int(np.argmax(np.hypot(from_body[:, 0], from_body[:, 2])))
    back = PlanarTransform(-float(facing(motion)[:10].mean()), 0.0, 0.0)
    points = back.apply(places[frame] - places[0, body.pelvis] * [1.0, 0.0, 1.0])
    columns = (2, 1) if view == "side" else (0, 2)
    for joint, parent in enumerate(motion.skeleton.parents):
        if parent >= 0:
            line = points[[parent, joint]][:, columns]
            axes.plot(*line.T, color=colour, lw=1.6, solid_capstyle="round")
    axes.plot(*points[body.right_wrist][list(columns)], "o", color=colour, ms=5)


def reach(folder: Path) -> None:
    """Punches of 02_05: asked for and reached, and bodies at full reach."""
    plan = protocol("registration_reach")["reported"]["punches of 02"]
    case = family(folder, plan)
    curve = ml.register(case.motions, ends="match")
    asked = answers(
        curve, case.names, grid_of(curve, case.names, protocol("registration_reach")["grid"])
    )
    space = ml.parametrize(curve, list(case.names))
    figure, (plane, side, above) = plt.subplots(
        1, 3, figsize=(12, 4.2), gridspec_kw={"width_ratios": [1.3, 0.8, 0.9]}
    )
    clips = np.array([[ml.measure(m, name) for name in case.names] for m in case.motions])
    plane.plot(np.degrees(clips[:, 0]), 100 * clips[:, 1], "s", color=CLIP, label="captured", ms=7)
    wanted = np.array([each.wanted for each in asked])
    got = np.array([each.got["measured"] for each in asked])
    plane.plot(*wanted.T, "o", color=ASKED, mfc="none", ms=8, label="asked for")
    plane.plot(*got.T, "+", color=GOT, ms=9, mew=1.6, label="the blend")
    plane.set_xlabel("direction of the right hand (degrees)")
    plane.set_ylabel("height of the right hand (cm)")
    plane.set_ylim(80.0, 172.0)
    plane.legend(frameon=False, loc="upper center", ncol=3)
    for k, degrees in enumerate(TURNS):
        point = dict(zip(case.names, (np.radians(degrees), HEIGHT_M), strict=True))
        blend = ml.blend(curve, space.weights(clamp=True, **point))
        colour = plt.get_cmap("viridis")(k / len(TURNS))
        for axes, view in ((side, "side"), (above, "above")):
            draw_body(axes, blend.motion, colour, view)
    side.set_title("asked for 30, 36, 42 and 48\ndegrees at 125 cm: side", fontsize=10)
    above.set_title("from above", fontsize=10)
    above.invert_xaxis()
    for axes in (side, above):
        axes.set_aspect("equal")
        axes.axis("off")
    plane.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(picture("blending_reach.png"), dpi=90, metadata={"Software": None})


def hands(folder: Path) -> None:
    """A blend that sets a toolbox down, the hand held and not."""
    entries = protocol("registration_hands")["tuned"][CASE]
    (row,) = compared([marked(folder, entry) for entry in entries], [[0.5, 0.5]])
    hold = row.held.hands[0]
    figure, axes = plt.subplots(
        3, 1, figsize=(9, 7.2), gridspec_kw={"height_ratios": [1.3, 1.3, 0.8]}
    )
    joint = ml.BodyMap.guess(row.held.motion.skeleton).left_wrist
    for panel, blend, name, colour in (
        (axes[0], row.free, "not held", CLIP),
        (axes[1], row.held, "held", GOT),
    ):
        near = slice(hold.first - 12, hold.last + 13)
        draw_strip(panel, blend.motion[near], footplants=blend.footplants[near], ghosts=8)
        panel.set_title(f"left hand {name}", fontsize=10, loc="left")
        way = blend.motion.world_positions()[:, joint]
        speed = 100.0 * np.linalg.norm(np.diff(way, axis=0), axis=1) * blend.motion.fps
        axes[2].plot(np.arange(len(speed)) / blend.motion.fps, speed, color=colour, label=name)
    axes[2].axvspan(*(np.array([hold.first, hold.last]) / row.held.motion.fps), color="#eee")
    axes[2].set_xlabel("seconds")
    axes[2].set_ylabel("left wrist (cm/s)")
    axes[2].legend(frameon=False, ncol=2)
    axes[2].spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(picture("blending_hands.png"), dpi=90, metadata={"Software": None})


def main() -> None:
    """Draw both."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else MOCAP
    warnings.simplefilter("ignore")
    reach(folder)
    hands(folder)


if __name__ == "__main__":
    main()
