"""The picture of the page of a data set for how-to/clean-a-data-set.md.

    python docs/pictures/dataset_page.py [--clips FOLDER]

Needs chromium and playwright. Without ``--clips`` embedded clips with planted defects are shown.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
from io import BytesIO
from pathlib import Path

from PIL import Image

import motionloom as ml
from studies.datasets.planted_defects import PLANTED

IMG = Path(__file__).resolve().parents[1] / "img"
KINDS = ("walk", "run", "carry", "sneak", "kick", "wave")


def write_clips(folder: Path) -> None:
    """Embedded clips, some of them with a defect."""
    for kind in KINDS:
        ml.save(ml.synthetic.clip(kind).motion, folder / f"{kind}.bvh")
    for number, (name, (plant, _)) in enumerate(PLANTED.items()):
        clip = ml.synthetic.clip(("walk", "jog", "run")[number % 3])
        ml.save(plant(clip.motion), folder / f"{name.replace(' ', '_')}.bvh")
    (folder / "cut_off.bvh").write_text("HIERARCHY\nROOT hips\n{")


def main() -> None:
    """Write the picture."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--clips", type=Path)
    folder = parser.parse_args().clips
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as place:
        folder = None if folder is None else folder.resolve()
        os.chdir(place)  # the page shows paths as they were given
        clips = Path("dataset")
        clips.mkdir()
        if folder is None:
            write_clips(clips)
        ml.check_dataset(folder or clips, report=Path(place) / "report")
        with sync_playwright() as player:
            browser = player.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox"]
            )
            page = browser.new_page(viewport={"width": 1280, "height": 860})
            page.goto((Path(place) / "report" / "index.html").as_uri())
            page.wait_for_timeout(800)
            shot = Image.open(BytesIO(page.screenshot()))
            browser.close()
        os.chdir(IMG)
    shot.convert("RGB").save(IMG / "dataset_page.webp", quality=82)


if __name__ == "__main__":
    main()
