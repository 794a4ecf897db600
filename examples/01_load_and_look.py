"""Load a clip, print what was detected, and look at it.

    python examples/01_load_and_look.py [CLIP]

Without a clip, an embedded walk is written to a file and loaded from there. The page that opens in
the browser needs no network.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import motionloom as ml


def main(arguments: list[str]) -> None:
    folder = Path(tempfile.mkdtemp(prefix="motionloom-example-"))
    path = Path(arguments[0]) if arguments else folder / "walk.bvh"
    if not arguments:
        ml.save(ml.synthetic.clip("walk", turn=0.8).motion, path)

    walk = ml.load(path)
    print(walk)
    for finding in walk.source.findings:
        print(" ", finding)

    body = ml.BodyMap.guess(walk.skeleton)
    if body.left_knee is not None:
        print("the left knee is", walk.skeleton.names[body.left_knee])

    print("open", ml.view(walk).save(folder / "look.html"))


if __name__ == "__main__":
    main(sys.argv[1:])
