"""Build a small table; go from frame to frame, to a label, and live.

python examples/07_table_and_live_character.py [FOLDER_OF_CLIPS]
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import motionloom as ml


def main(arguments: list[str]) -> None:
    scratch = Path(tempfile.mkdtemp(prefix="motionloom-example-"))
    clips = Path(arguments[0]) if arguments else scratch / "clips"
    if not arguments:
        clips.mkdir()
        for kind in ("walk", "jog", "run", "stand"):
            ml.save(ml.synthetic.clip(kind).motion, clips / f"{kind}.bvh")

    # A folder becomes a collection: one skeleton, one rate, contacts detected, on disk.
    lib = ml.Collection.ingest(clips, out=scratch / "lib.mlc")
    print(lib.report)
    lib.annotate(lib.ids[-1], "goal")

    # Few clusters build in seconds; 50 suit ten minutes of motion.
    table = ml.build_table(lib, out=scratch / "lib.mlt", clusters=6, lookup=6, progress=False)

    # Any frame to any frame, with the clips before and after.
    source, target = (lib.ids[0], 30), (lib.ids[-1], 100)
    joined = table.transition(source, target, lead_s=0.5, follow_s=0.5)
    print(joined.motion, "check:", joined.verification.describe())
    ml.save(joined.motion, scratch / "joined.bvh")

    # Any frame to a label; another of the same kind.
    to_label = table.transition(source, label="goal")
    again = table.transition(source, label="goal", variation=1)
    print(to_label.recipe.n_ways, "windows,", again.recipe.n_ways, "in the variation")

    # Live: one step a frame; send it to another place at any time.
    stream = table.stream((lib.ids[0], 0))
    for frame in range(120):
        pose = stream.step()
        if frame == 20:
            stream.go(label="goal")
    print(f"the live character is at {pose.root_position.round(2)}, in {stream.now[0]}")
    print("open", scratch / "joined.bvh")


if __name__ == "__main__":
    main(sys.argv[1:])
