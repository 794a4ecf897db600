"""What the check of a data set finds, on clips that no limit was set on.

    ./study doctor            all held-out clips
    ./study doctor --quick    a few of them

Limits were set on CMU subjects 16, 69 and 143, on Bandai's first clips and on embedded clips. Here
every defect is planted into each sound clip of other subjects. The baseline is the check as it was
before: mean speed of planted points, depth of feet, glitches, and warnings of the file.
"""

from __future__ import annotations

import argparse
import re
import tempfile
import warnings
from pathlib import Path

import numpy as np

import motionloom as ml
from studies.captured_clips import mocap
from studies.datasets.planted_defects import PLANTED
from studies.report import Figure, write_report

AUDIT = """07_01 07_04 07_11 09_01 09_05 09_12 35_01 35_03 35_17 35_20 35_23 70_09 81_06 91_53
113_13 113_19 113_25 113_26 115_01 115_06 120_12 127_03 127_05 127_09 127_11 127_15 127_21 136_13
38_03 47_01"""
OTHERS = "136_27 136_28 137_26 82_06 83_04 83_27 56_08"
HELD_OUT = (
    *(f"audit/{name}" for name in re.findall(r"\w+", AUDIT)),
    *(f"cmu_bvh/{name}" for name in re.findall(r"\w+", OTHERS)),
)
DEVELOPED_ON = "CMU 16, 69, 143, Bandai dataset-1 and -2 normal, embedded clips"
OLD_SLIDE, OLD_SHARE, OLD_SINK = 15.0, 0.08, 4.0
BASELINE = "earlier check"


def earlier_faults(path: Path) -> set[str]:
    """Faults that ``motionloom check`` reported before data sets had columns."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        motion = ml.load(path)
    body = ml.BodyMap.guess(motion.skeleton, motion=motion)
    faults = {each.where for each in motion.source.findings if each.level != "note"}
    failed = ml.verify(motion, body=body).failed
    faults |= {f"{each.check} {each.frame}" for each in failed}
    quality = ml.measure_quality(motion, body=body)
    steps = np.hypot(*np.diff(motion.root_positions[:, [0, 2]], axis=0).T)
    allowed = max(OLD_SLIDE, 100.0 * OLD_SHARE * float(steps.sum()) / motion.duration_s)
    if 100.0 * (quality.contact_speed_mean or 0.0) > allowed:
        faults.add("slide")
    if 100.0 * (quality.penetration or 0.0) > OLD_SINK:
        faults.add("sink")
    return faults


def sound_clips(folder: Path, names: tuple[str, ...]) -> list[str]:
    """Held-out clips without any fault: what is planted is all that is wrong."""
    report = ml.check_dataset([folder / f"{name}.bvh" for name in names], progress=False)
    return [name for name, clip in zip(names, report.clips, strict=True) if not clip.faults]


def plant_all(folder: Path, name: str, place: Path) -> None:
    """Write a clip and all its spoiled forms."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clip = ml.load(folder / f"{name}.bvh")
    stem = Path(name).name
    ml.save(clip, place / f"{stem}.sound.bvh")
    for number, (plant, _) in enumerate(PLANTED.values()):
        ml.save(plant(clip), place / f"{stem}.{number}.bvh")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    folder = mocap()
    if folder is None:
        raise SystemExit("This study needs captured clips: set MOTIONLOOM_MOCAP.")
    names = sound_clips(folder, HELD_OUT[:6] if quick else HELD_OUT)
    hits = dict.fromkeys(PLANTED, 0)
    old = dict.fromkeys(PLANTED, 0)
    misses: dict[str, list[str]] = {name: [] for name in PLANTED}
    with tempfile.TemporaryDirectory() as place:
        for name in names:
            plant_all(folder, name, Path(place))
        by_name = {Path(clip.path).name: clip for clip in ml.check_dataset(place).clips}
        for name in names:
            stem = Path(name).name
            before = earlier_faults(Path(place) / f"{stem}.sound.bvh")
            for number, (defect, (_, columns)) in enumerate(PLANTED.items()):
                clip = by_name[f"{stem}.{number}.bvh"]
                hit = bool({each.column for each in clip.faults} & set(columns))
                hits[defect] += hit
                misses[defect] += [] if hit else [stem]
                old[defect] += bool(earlier_faults(Path(clip.path)) - before)
    n = max(len(names), 1)
    figures = [
        Figure(defect, 100.0 * hits[defect] / n, "% found", BASELINE, 100.0 * old[defect] / n)
        for defect in PLANTED
    ]
    embedded = ml.check_dataset([f"embedded:{kind}" for kind in ml.synthetic.kinds()])
    figures.append(
        Figure(
            "embedded clips accused",
            float(embedded.counts["faulty"]),
            "clips",
            value_goal=0.0,
            lower_is_better=True,
        )
    )
    about = {
        "sound held-out clips": ", ".join(names),
        "limits set on": DEVELOPED_ON,
        "missed": {name: clips for name, clips in misses.items() if clips},
    }
    write_report("doctor_quick" if quick else "doctor", figures, about=about)


if __name__ == "__main__":
    main()
