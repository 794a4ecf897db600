"""Writes studies/reports/detected.md: what loading detected in every clip of a folder.

    python docs/pictures/detected.py [FOLDER]

The folder needs an INDEX.csv; it is MOTIONLOOM_MOCAP, else ../shared/mocap, where none is named.
"""

from __future__ import annotations

import csv
import os
import re
import sys
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

import motionloom as ml
from motionloom.body.anatomy import stature
from motionloom.intake.units import named_unit

ROOT = Path(__file__).resolve().parents[2]
TARGET = ROOT / "studies" / "reports" / "detected.md"
PICTURE = ROOT / "studies" / "reports" / "img" / "detected_falls.png"
HEAD = """# What was detected

What `ml.load` detects, without options, in every clip of a folder of real motion capture (CMU,
Bandai-Namco, DeepMimic, glTF samples, and files known to break readers). Written by
`python docs/pictures/detected.py`; the clips themselves are not part of this project.

- **frames** are those of the motion; **T** is the number of leading T-pose frames left out.
- **fps** is the rate used. AMC files state none; 120 is usual for them.
- **unit** and **up** are the file's; every motion is in metres with Y up. **tall** is the stature
  in metres, from bone lengths. CesiumMan's skeleton ends at the nape of a large head, at a
  stature of 1.31 m. If the skin of a glTF file is higher than every joint, the reader adds an end
  site at its top and reports it; with it he is 1.49 m tall, and his skin 1.51 m.
- **floor** is the height of the left and right planted ball over y = 0 in centimetres at the middle
  of the path, and the tilt of the floor in degrees. Loading moves nothing;
  `ml.ground` moves the clip.
- **fall** is the downward acceleration of the body in its flights at that rate, in m/s2. Gravity
  gives 9.8. Bold: a warning about the rate.
- **findings** are the others: warnings in bold, then notes on jumps of single joints.

"""
FALLS = """Red dots have a warning. Subject 143 was captured at 60 frames per second and its files
state 120; the falls of subject 77 show the same. A wrong fall in only one or two short flights
gives a note, not a warning: feet that still touch, or an edited clip, look the same.
"""
SOLDIER = """
A catalogue of these files lists Soldier.glb with 31.074 frames per second. That is 116 keys over
3.733 s, all four clips together. A clip of n keys lasts n - 1 intervals: 60, 22, 2 and 32
keys last 59, 21, 1 and 31 of them, 112 in all, and 112 / 30 is 3.733. The keys are 1/30 s apart,
so the rate is 30.
For CesiumMan.glb the same division, 48 keys by 2 s, gives his rate of 24, as his first key is at
1/24 s.
"""
COLUMNS = ("clip", "frames", "T", "fps", "unit", "up", "tall", "floor", "fall", "findings")


def mocap_folder() -> Path:
    """The folder named on the command line, by the environment, or next to the project."""
    if len(sys.argv) > 1:
        return Path(sys.argv[1])
    named = os.environ.get("MOTIONLOOM_MOCAP")
    return Path(named) if named else ROOT.parent / "shared" / "mocap"


def floor_cell(motion: ml.Motion) -> str:
    """Heights of both balls and the tilt; a plus where some plants stand on something else."""
    for finding in motion.source.findings:
        if finding.where == "floor":
            numbers = re.findall(r"-?\d+\.\d+", finding.problem)
            steps = " +" if "something else" in finding.problem else ""
            return f"{numbers[0]} {numbers[1]}, {numbers[2]}°{steps}"
    return ""


def fall_cell(motion: ml.Motion) -> str:
    """How fast the body falls, bold where the rate is warned about."""
    for finding in motion.source.findings:
        if match := re.search(r"falls at (\d+\.\d)", finding.problem):
            return f"**{match[1]}**" if finding.level == "warning" else match[1]
    return ""


def findings_cell(motion: ml.Motion) -> str:
    """Warnings in bold, then notes on jumps."""
    words = []
    for finding in motion.source.findings:
        if finding.level == "warning" and "m/s2" not in finding.problem:
            words.append(f"**{finding.where}: {finding.problem.split(';')[0].rstrip('.')}**")
        elif "starts badly" in finding.problem:
            words.append("starts with small jumps")
        elif finding.where.startswith("frame ") and " turns " in finding.problem:
            words.append(f"jump at {finding.where.removeprefix('frame ')}")
    return "; ".join(words)


def row(name: str, motion: ml.Motion) -> tuple[str, ...]:
    """One line of a table."""
    source = motion.source
    tall = stature(motion.skeleton)
    return (
        name,
        str(motion.n_frames),
        str(source.skipped_frames or ""),
        f"{motion.fps:.6g}" + ("" if source.fps else " (none stated)"),
        named_unit(source.unit_m).removesuffix(" (5.644 cm)"),
        source.up,
        f"{tall:.2f}" if tall else "",
        floor_cell(motion),
        fall_cell(motion),
        findings_cell(motion),
    )


def names_of_clips(path: Path) -> list[str]:
    """The file, or each clip of a file of several."""
    for finding in ml.inspect_file(path):
        if finding.where == "clips":
            inner = finding.problem.split("(")[1].split(")")[0]
            return [f"{path}#{clip}" for clip in re.findall(r"'([^']*)'", inner)]
    return [str(path)]


def draw_falls(tables: dict[str, list[tuple[str, ...]]]) -> None:
    """A dot per clip that flies: how fast it falls at the rate its file states."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    groups: dict[str, list[tuple[float, bool]]] = {}
    for table, rows in tables.items():
        for cells in rows:
            if cells[8]:
                label = table.split("_")[0]
                if label == "cmu":
                    label = f"CMU {cells[0].split('_')[0]}"
                fall = float(cells[8].strip("*"))
                groups.setdefault(label, []).append((fall, cells[8].startswith("*")))
    figure, axes = plt.subplots(figsize=(8.0, 0.38 * len(groups) + 1.3))
    for y, (label, falls) in enumerate(sorted(groups.items(), reverse=True)):
        for fall, warned in falls:
            axes.plot(fall, y, "o", color="#c8472f" if warned else "#2f6fa8", alpha=0.7)
        axes.text(3.9, y, f"{label} ({len(falls)})", ha="right", va="center")
    for factor in (1, 4):
        axes.axvline(9.81 * factor, color="#888888", linewidth=1)
        text = "gravity" if factor == 1 else "gravity, if the\nrate is stated double"
        axes.text(9.81 * factor, len(groups) - 0.3, text, ha="center", va="bottom", fontsize=8)
    axes.set_xscale("log")
    axes.set_xlim(4.2, 70)
    axes.set_xticks([5, 10, 20, 40], ["5", "10", "20", "40 m/s²"])
    axes.xaxis.set_minor_locator(matplotlib.ticker.NullLocator())
    axes.set_yticks([])
    axes.set_ylim(-0.6, len(groups) - 0.4)
    for side in ("top", "left", "right"):
        axes.spines[side].set_visible(False)
    figure.tight_layout()
    figure.savefig(PICTURE, dpi=110, metadata={"Software": None})
    plt.close(figure)


def main() -> None:
    """Load every clip, write the page and its picture."""
    folder = mocap_folder()
    with (folder / "INDEX.csv").open(newline="", encoding="utf-8") as lines:
        files = [entry["file"] for entry in csv.DictReader(lines) if entry["role"] == "motion"]
    tables: dict[str, list[tuple[str, ...]]] = {}
    unread, warned = [], Counter[str]()
    for file in sorted(
        files, key=lambda file: [int(t) if t.isdigit() else t for t in re.split(r"(\d+)", file)]
    ):
        group, _, name = file.partition("/")
        if (folder / file).suffix in (".c3d", ".h5"):
            unread.append(name)
            continue
        for clip in names_of_clips(folder / file):
            with warnings.catch_warnings(record=True):
                motion = ml.load(clip)
            shown = Path(clip).name
            tables.setdefault(group, []).append(row(shown, motion))
            warned.update(
                f.where.split()[0] for f in motion.source.findings if f.level == "warning"
            )
    rows = [cells for table in tables.values() for cells in table]
    talls = np.array([float(cells[6]) for cells in rows if cells[6]])
    text = HEAD + (
        f"{len(rows)} clips; {sum(bool(cells[2]) for cells in rows)} had a T-pose in front, "
        f"{sum(cells[5] != 'y' for cells in rows)} were not Y up, statures lie between "
        f"{talls.min():.2f} and {talls.max():.2f} m, "
        f"{sum('**' in cells[8] for cells in rows)} rates have a warning. "
        f"Not read by `ml.load`: {', '.join(unread)}.\n"
    )
    for group, table in tables.items():
        text += f"\n## {group}\n\n| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}\n"
        text += "".join(f"| {' | '.join(cells)} |\n" for cells in table)
        text += SOLDIER if group == "gltf" else ""
    draw_falls(tables)
    picture = f"![A dot per clip that flies](img/{PICTURE.name})"
    text += f"\n## Falls at the stated rate\n\n{FALLS}\n{picture}\n"
    TARGET.write_text(text, encoding="utf-8")
    print(f"{TARGET.relative_to(ROOT)}: {len(rows)} clips; warnings: {dict(warned)}")


if __name__ == "__main__":
    main()
