"""Load a clip, see what was detected, and look at it.

    python examples/01_load_and_look.py [CLIP]

Without a clip an embedded walk is written to a file and loaded from there. The page that comes out
needs no network; open it in a browser.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import motionloom as ml
from motionloom.drawing.page import player_page


def main(arguments: list[str]) -> None:
    folder = Path(tempfile.mkdtemp(prefix="motionloom-example-"))
    if arguments:
        path = Path(arguments[0])
    else:
        path = folder / "walk.bvh"
        ml.save(ml.synthetic.clip("walk", turn=0.8).motion, path)

    walk = ml.load(path)
    print(walk)
    for finding in walk.source.findings:
        print(" ", finding)

    body = ml.BodyMap.guess(walk.skeleton)
    if body.left_knee is not None:
        print("the left knee is", walk.skeleton.names[body.left_knee])

    page = folder / "look.html"
    page.write_text(player_page(walk), encoding="utf-8")
    print("open", page)  # ml.view(walk) does the same and opens it


if __name__ == "__main__":
    main(sys.argv[1:])
