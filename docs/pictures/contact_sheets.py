"""Draw sheets of embedded and captured clips, a strip, and tracks of feet; write their report.

    python docs/pictures/contact_sheets.py [MOCAP_FOLDER]

The contact sheet of real clips needs a motion-capture folder (see CONTRIBUTING); everything else is
drawn from embedded clips. The verdicts were written by a person who looked at the sheets.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

from PIL import Image
from places import REPORTS, ROOT, picture

import motionloom as ml
from motionloom.drawing.strip import save_strip
from motionloom.drawing.tracks import save_tracks
from studies.pictures.contact_sheet import SheetEntry, save_sheet

EMBEDDED = {
    "walk": "heel strike, roll and push-off read clearly; arms swing against the legs; rather tidy",
    "jog": "bent elbows, short flight, a little lean; reads as an easy jog",
    "run": "long flight, heel high behind; forearms stay nearly level",
    "sneak": "bent knees, long slow steps; real sneaks crouch deeper and bring the arms up",
    "tiptoe": "heels never touch; above the ankles it is a short-stepped walk",
    "stairs": "the foot is set on the step and the body pulled over it; trunk stays upright",
    "stairs_down": "lowers itself from step to step; lands softer than people do",
    "turn": "steps round on the spot, one foot after the other; shoulders and hips turn as one",
    "sidestep": "opens and closes with level hips; arms hang still",
    "stand": "in balance; weight shifts can hardly be seen, stiff for somebody who waits",
    "kick": "knee drawn up, kick, back to stance, other foot planted; leans back too little",
    "carry": "arms hold the box level and do not swing; no lean against its weight",
    "punch": "guard, trunk turns into a straight punch, back to guard; rear heel lifts",
    "push": "leans in with arms ahead; steps are those of a walk, not of hard work",
    "wave": "arm up, forearm swings; from the side the swing is hidden",
}

REAL = {
    "cmu_bvh/16_15.bvh": "walk: upright, its own way; plants right; long neck without a thorax",
    "cmu_bvh/16_35.bvh": "jog: balls planted in every stance; heels only brush the floor (red)",
    "cmu_bvh/16_55.bvh": "start and run: stances found from the first push on; one slides",
    "cmu_bvh/16_17.bvh": "walk, left turn: a pivoting heel is shown as sliding",
    "cmu_bvh/16_03.bvh": "high jump: take-off and landing right, no plant in the air",
    "cmu_bvh/143_17.bvh": "stairs, at its true 60 Hz: every step found at its height",
    "cmu_bvh/143_23.bvh": "punches: both feet stay planted through them, as they do",
    "cmu_bvh/143_24.bvh": "kicks: standing foot planted but for the highest kick, on its toes",
    "cmu_bvh/143_41.bvh": "sneak: deep crouch, soft steps; plants change with the weight",
    "cmu_bvh/143_18.bvh": "sit down and get up: feet planted, chair not shown",
    "cmu_bvh/69_69.bvh": "pick up and carry: squat and carry read well",
    "cmu_bvh/69_16.bvh": "turn in place: short plants of single feet all found",
    "cmu_bvh/82_06.bvh": "heavy push: long low strides, trunk level; toes planted, heels up",
    "cmu_bvh/83_04.bvh": "sidestep up to a platform: the platform's height is found",
    "cmu_bvh/136_27.bvh": "on toes: no heel is planted, as none touches; a foot that drags is red",
    "cmu_asfamc/02_05.amc": "punches, from ASF/AMC: same figure as from BVH, with a thorax",
    "deepmimic_txt/humanoid3d_jump.txt": "jump: upright and its own way; landing plants come late",
    "deepmimic_txt/humanoid3d_zombie_walk.txt": "zombie walk: ends of the clip miss a plant",
    "gltf/Soldier.glb#Run": "run in place: rightly no plants, for the ground moves under it",
    "gltf/CesiumMan.glb": "walk in place: feet of this rig point down, and two false plants",
}

WEAKNESSES = (
    "Embedded walks and runs are tidier than people: every step is nearly the step before.",
    "Embedded turns keep shoulders and hips in one line; people lead with the head.",
    "Loads and pushes have no weight: carrying and pushing bodies do not lean as real ones do.",
    "Sneaking is too upright compared with a captured sneak.",
    "The figure is drawn from joints alone: rigs without a thorax (CMU's BVH) get a long neck.",
    "Feet of rigs whose rest pose is not flat on the ground (CesiumMan) can point downwards.",
    "In-place clips have no ground to stand on: what is shown as planted there means little.",
)

TRUE_RATES = {"143_": 60.0}
"""Subject 143's headers say 120; its falls say 60."""


def main(arguments: list[str]) -> None:
    """Draw everything that can be drawn."""
    warnings.simplefilter("ignore", UserWarning)
    write_page()
    embedded_sheet()
    walk = ml.synthetic.clip("walk", turn=0.5)
    save_strip(walk.motion, picture("strip.png"), footplants=walk.footplants)
    plants = ml.detect_footplants(walk.motion)
    save_tracks(walk.motion, picture("feet.png"), footplants=plants, size=(860, 620))
    folder = Path(arguments[0]) if arguments else ROOT.parent / "shared" / "mocap"
    if folder.is_dir():
        real_sheet(folder)
    else:
        print("no motion-capture folder: the sheet of real clips was not drawn", file=sys.stderr)
    # Only what was drawn here: other scripts keep pictures in the same folder.
    for name in ("embedded-clips.png", "strip.png", "feet.png", "real-clips.png"):
        if picture(name).is_file():
            slim(picture(name))


def slim(picture: Path) -> None:
    """Keep 128 colours of a picture: a quarter of the bytes, and no eye sees it."""
    with Image.open(picture) as image:
        few = image.convert("RGB").quantize(128, dither=Image.Dither.NONE)
    few.save(picture, optimize=True)


def embedded_sheet() -> None:
    """The sheet of every embedded clip, with its exact plants."""
    entries = []
    for kind in ml.synthetic.kinds():
        made = ml.synthetic.clip(kind)
        entries.append(SheetEntry(made.motion, kind, EMBEDDED.get(kind, ""), made.footplants))
    save_sheet(entries, picture("embedded-clips.png"))


def real_sheet(folder: Path) -> None:
    """The sheet of twenty captured clips, with the plants that were found."""
    entries = []
    for name, verdict in REAL.items():
        stem = Path(name).name
        fps = next((rate for start, rate in TRUE_RATES.items() if stem.startswith(start)), None)
        entries.append(SheetEntry(ml.load(f"{folder}/{name}", fps=fps), name, verdict))
    save_sheet(entries, picture("real-clips.png"))


def write_page() -> None:
    """studies/reports/contact-sheets.md: both sheets, the verdicts as text, and what is weak."""
    lines = [
        "# Contact sheets",
        "",
        "Every embedded clip and twenty captured ones, each with a verdict in one line. Green",
        "marks are planted heels and toes, red ones slide.",
        "`docs/pictures/contact_sheets.py` draws them.",
        "",
    ]
    for title, name, verdicts in (
        ("Embedded clips", "embedded-clips.png", EMBEDDED),
        ("Captured clips", "real-clips.png", REAL),
    ):
        lines += [f"## {title}", "", f"![{title}](img/{name})", ""]
        lines += ["| clip | verdict |", "| --- | --- |"]
        lines += [f"| `{clip}` | {verdict} |" for clip, verdict in verdicts.items()]
        lines += [""]
    lines += ["## What is weak", ""]
    lines += [f"{n}. {text}" for n, text in enumerate(WEAKNESSES, start=1)]
    lines += [
        "",
        "Captured data: mocap.cs.cmu.edu (created with funding from NSF EIA-0196217), DeepMimic,",
        "the three.js examples (Soldier) and the Khronos glTF samples (CesiumMan, CC BY 4.0).",
        "",
    ]
    page = REPORTS.parent / "contact-sheets.md"
    page.write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
