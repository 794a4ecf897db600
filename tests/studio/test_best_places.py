"""The best frames of two clips of a table: B goes on after the arrival, short clips are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

import motionloom as ml
from motionloom.errors import TableError
from motionloom.studio.panels.table_panel import FOLLOW_S, best_places
from motionloom.tables.build import build_table
from motionloom.tables.table import TransitionTable

FPS = 30.0
SHORT_S = 0.3


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> TransitionTable:
    """Long clips, one that walks only at its end, one of little more than a window, one of less."""
    place = tmp_path_factory.mktemp("places")
    folder = place / "clips"
    folder.mkdir()
    for kind in ("walk", "jog", "run"):
        ml.save(ml.synthetic.clip(kind, duration_s=4.0).motion, folder / f"{kind}.bvh")
    stand = ml.synthetic.clip("stand", duration_s=3.0).motion
    walk = ml.synthetic.clip("walk", duration_s=0.8).motion
    ml.save(ml.concatenate([stand, walk]), folder / "late.bvh")
    ml.save(ml.synthetic.clip("walk", duration_s=SHORT_S).motion, folder / "short.bvh")
    ml.save(ml.synthetic.clip("walk", duration_s=0.8).motion, folder / "brief.bvh")
    collection = ml.Collection.ingest(folder, out=place / "clips.mlc", fps=FPS)
    return build_table(collection, out=Path(place / "t.mlt"), length_s=0.5, clusters=6, lookup=6)


def test_b_goes_on_after_the_best_frame(table: TransitionTable) -> None:
    for source in ("walk", "jog", "run"):
        for target in ("late", "jog", "run"):
            _, (clip, frame) = best_places(table, (source, None), (target, None))
            assert clip == target
            assert _frames(table, clip) - 1 - frame >= FOLLOW_S * FPS


def test_a_clip_that_has_less_is_entered_in_its_first_half(table: TransitionTable) -> None:
    _, (clip, frame) = best_places(table, ("walk", None), ("brief", None))
    left = _frames(table, clip) - table.length
    assert _frames(table, clip) - 1 - frame >= left // 2 > 0


@pytest.mark.parametrize("follow_s", [0.0, 0.5, 2.2, 3.0])
def test_as_much_of_b_is_left_as_is_asked_for(table: TransitionTable, follow_s: float) -> None:
    for target in ("late", "jog", "run"):
        _, (clip, frame) = best_places(table, ("walk", None), (target, None), follow_s=follow_s)
        assert _frames(table, clip) - 1 - frame >= follow_s * FPS


@pytest.mark.parametrize(
    ("source", "target"),
    [
        (("short", None), ("walk", None)),
        (("walk", None), ("short", None)),
        (("walk", 3), ("short", None)),
    ],
)
def test_a_clip_shorter_than_a_window_is_refused_in_words(
    table: TransitionTable, source: tuple[str, int | None], target: tuple[str, int | None]
) -> None:
    with pytest.raises(TableError, match="'short' must have at least 15 frames"):
        best_places(table, source, target)


def _frames(table: TransitionTable, clip: str) -> int:
    k = table.frames.ids.index(clip)
    return int(table.frames.starts[k + 1] - table.frames.starts[k])
