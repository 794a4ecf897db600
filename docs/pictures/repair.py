"""Draw docs/img/repair.png: a captured leg whose knee was bent back and whose foot was turned over.

    python docs/pictures/repair.py [MOCAP_FOLDER]

The clip comes from a folder of real clips (see CONTRIBUTING).
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import motionloom as ml
from motionloom.features.glitches.repair import repair_capture
from studies.pictures.contact_sheet import SheetEntry, save_sheet

PICTURE = Path(__file__).resolve().parents[1] / "img" / "repair.png"
CLIP, FRAMES = "audit/104_06.bvh", slice(200, 265)


def main(arguments: list[str]) -> None:
    """Draw the clip as captured and as repaired."""
    warnings.simplefilter("ignore", UserWarning)
    folder = Path(arguments[0]) if arguments else PICTURE.parents[3] / "shared" / "mocap"
    captured = ml.load(folder / CLIP)
    repaired = repair_capture(captured).motion
    entries = [
        SheetEntry(motion[FRAMES], f"CMU 104_06, {how}", note, ml.detect_footplants(motion)[FRAMES])
        for motion, how, note in (
            (captured, "as captured", "the right foot turns over, its knee turns back"),
            (repaired, "repaired", "the knee goes on, the foot follows"),
        )
    ]
    save_sheet(entries, PICTURE)


if __name__ == "__main__":
    main(sys.argv[1:])
