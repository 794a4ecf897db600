"""Strips, tracks, sheets and films: the right things are in them."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

import motionloom as ml
from motionloom.drawing.canvas import LIGHT, PLANTED
from motionloom.drawing.film import set_stage
from motionloom.drawing.strip import save_strip
from motionloom.drawing.tracks import save_tracks
from motionloom.errors import ArrayError, SkeletonMismatchError


def strip(motion: ml.Motion, **options) -> np.ndarray:
    stream = io.BytesIO()
    save_strip(motion, stream, **options)
    return np.asarray(Image.open(stream).convert("RGB")).astype(int)


def near(picture: np.ndarray, colour: tuple[int, int, int], within: int = 12) -> np.ndarray:
    return np.abs(picture - np.array(colour)).max(axis=-1) <= within


def columns_of_figures(picture: np.ndarray) -> int:
    """How many separate figures stand side by side, by gaps between dark columns."""
    height = len(picture)
    dark = (picture[height // 6 : height // 2].sum(axis=-1) < 3 * 190).any(axis=0)
    return int(np.count_nonzero(np.diff(dark.astype(int)) == 1))


def test_a_clip_that_stays_in_place_is_spread_out() -> None:
    picture = strip(ml.synthetic.clip("stand").motion, ghosts=5, size=(1200, 400), title="")
    assert columns_of_figures(picture) == 5


def test_plants_are_marked_green_on_the_floor_and_absent_plants_are_not(walk) -> None:
    none = ml.Footplants(np.zeros((walk.motion.n_frames, 4), bool))
    assert near(strip(walk.motion, footplants=walk.footplants), PLANTED).any()
    assert not near(strip(walk.motion, footplants=none), PLANTED).any()


def test_a_thing_that_is_no_person_is_drawn_too(rod: ml.Motion) -> None:
    assert (~near(strip(rod, title=""), LIGHT.paper)).any()


def test_a_single_frame_is_drawn(walk) -> None:
    assert columns_of_figures(strip(walk.motion[:1], size=(600, 400), title="")) == 1


def test_dollars_in_a_name_are_only_dollars(walk) -> None:
    strip(walk.motion, title=r"$\frac{cost$ of $5 & <b>")


def test_an_unknown_kind_of_file_is_refused(walk) -> None:
    with pytest.raises(ArrayError, match="svg"):
        save_strip(walk.motion, io.BytesIO(), kind="jpeg2000")


def test_tracks_need_feet(rod: ml.Motion) -> None:
    with pytest.raises(SkeletonMismatchError, match="two feet"):
        save_tracks(rod, io.BytesIO())


def test_a_film_follows_the_figure(walk) -> None:
    stage = set_stage(walk.motion, footplants=walk.footplants, size=(240, 200))
    for frame in (0, 45.5, walk.motion.n_frames - 1):
        picture = np.asarray(stage.picture(frame)).astype(int)
        dark = picture.sum(axis=-1) < 3 * 130
        assert dark.sum() > 300
        assert abs(np.argwhere(dark)[:, 1].mean() - 120) < 30


def test_a_planted_foot_is_green_in_a_film(walk) -> None:
    stage = set_stage(walk.motion, footplants=walk.footplants, size=(480, 400))
    first = walk.footplants.intervals()["left_toe"][0][0]
    picture = np.asarray(stage.picture(first + 2)).astype(int)
    green = (picture[..., 1] > picture[..., 0] + 40) & (picture[..., 1] > picture[..., 2] + 20)
    assert green.sum() > 50
