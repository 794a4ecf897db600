"""Transitions of tables from any frame to any other: the share that is called natural.

Nobody labelled these. The figures say what naturalness answers at run time: two collections of many
subjects, 24 clusters each, places drawn at random.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from motionloom.tables.score.natural import NATURAL
from studies.memory_table import table_in_memory
from studies.report import Figure
from studies.tables.natural_candidates import GROUPS, matched_frames, window_length

SEED = 5
EACH = 150
CLUSTERS = 24
FORMER_BIAS = 6.682
"""The former naturalness passed its threshold where the search ranking's cost is below this."""
CLIPS = ("07_*", "09_*", "16_[2-5]*", "35_*", "38_*", "47_*", "104_*", "127_*", "136_*")
COLLECTIONS = {
    "walks and runs of nine subjects": tuple(f"audit/{clips}.bvh" for clips in CLIPS),
    "Bandai": GROUPS["bandai"].patterns,
}


def table_figures(folder: Path) -> list[Figure]:
    """Shares of random transitions called natural, now and by the former naturalness."""
    figures = []
    for name, patterns in COLLECTIONS.items():
        files = sorted(file for pattern in patterns for file in folder.glob(pattern))
        now, before = answers(files)
        for title, share in (("", now), (" (by the former naturalness)", before)):
            figures.append(
                Figure(
                    f"{name}: transitions called natural{title}",
                    100.0 * share,
                    "%",
                    note=f"{EACH} from any frame to any other, {CLUSTERS} clusters; no labels",
                )
            )
    return figures


def answers(files: list[Path]) -> tuple[float, float]:
    """Shares called natural now and before, of random transitions between clips."""
    frames = matched_frames(files, 60.0)
    length = window_length(frames)
    table = table_in_memory(frames, length=length, clusters=CLUSTERS, ranking=NATURAL)
    rng = np.random.default_rng(SEED)
    rows = rng.choice(frames.windows(length), (EACH, 2))
    now, before = [], []
    for source, target in rows.tolist():
        places = frames.place_of(source), frames.place_of(target + length - 1)
        joined = table.transition(*places)
        now.append(joined.score.natural)
        before.append(joined.cost < FORMER_BIAS)
    return float(np.mean(now)), float(np.mean(before))
