"""Make a collection, build a small table, and go from frame to frame, to a label, and live.

python examples/04_transitions.py [FOLDER_OF_CLIPS]
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import motionloom as ml
from motionloom.drawing.canvas import save_canvas
from motionloom.drawing.transition_pictures import draw_transition


def main(arguments: list[str]) -> None:
    made = Path(tempfile.mkdtemp(prefix="motionloom-example-"))
    clips = Path(arguments[0]) if arguments else made / "clips"
    if not arguments:
        clips.mkdir()
        for kind in ("walk", "jog", "run", "stand"):
            ml.save(ml.synthetic.clip(kind).motion, clips / f"{kind}.bvh")

    # A folder becomes a collection: one skeleton, one rate, plants found, on disk.
    lib = ml.Collection.ingest(clips, out=made / "lib.mlc")
    print(lib.report)
    lib.annotate(lib.ids[-1], "goal")

    # Few clusters and one set of representatives build in seconds; 50 are usual.
    table = ml.build_table(lib, out=made / "lib.mlt", clusters=6, lookup=6, progress=False)

    # Any frame to any frame, with the clips before and after.
    source, target = (lib.ids[0], 30), (lib.ids[-1], 100)
    joined = table.transition(source, target, lead_s=0.5, follow_s=0.5)
    print(joined.motion.name, f"{joined.score.total:.1f} in, natural {joined.score.natural}")
    ml.save(joined.motion, made / "joined.bvh")
    save_canvas(draw_transition(joined), made / "joined.png", "png")

    # Any frame to a label; another of the same kind.
    to_label = table.transition(source, label="goal")
    again = table.transition(source, label="goal", variation=1)
    print(to_label.recipe.n_ways, "windows,", again.recipe.n_ways, "in the variation")

    # Live: one step a frame, told where to go at any time.
    stream = table.stream((lib.ids[0], 0))
    for frame in range(120):
        pose = stream.step()
        if frame == 20:
            stream.go(label="goal")
    print(f"the live character is at {pose.root_position.round(2)}, in {stream.place[0]}")
    print("open", made / "joined.png")


if __name__ == "__main__":
    main(sys.argv[1:])
