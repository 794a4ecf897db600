"""Join two clips where they fit best.

python examples/04_transition.py [CLIP_A CLIP_B]
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import motionloom as ml


def main(arguments: list[str]) -> None:
    if arguments:
        first, second = ml.load(arguments[0]), ml.load(arguments[1])
    else:
        first, second = (ml.synthetic.clip(kind).motion for kind in ("walk", "run"))

    joined = ml.transition(first, second)  # other skeletons and rates are matched
    print(joined.motion, "blended from frame", joined.span[0], "to", joined.span[1])
    print("check:", joined.verification.describe())
    for place in joined.candidates[:3]:
        print(f"  frame {place.frame_a} meets {place.frame_b}: {100 * place.cost:.1f} cm")

    path = Path(tempfile.mkdtemp(prefix="motionloom-example-")) / "joined.glb"
    ml.save(joined.motion, path)
    print("open", path)


if __name__ == "__main__":
    main(sys.argv[1:])
