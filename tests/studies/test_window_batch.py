"""WindowBatch: captured, blended and made windows look alike."""

import numpy as np
import pytest

import motionloom as ml
from motionloom.tables.collection.frames import frames_of
from motionloom.tables.score.recipe import Recipe, rows_at
from studies.measures.window_batch import WindowBatch
from tests.oracles.blend_kernel import track_of

LENGTH = 40
FLOAT64 = 1e-9
FLOAT32_M = 2e-6


@pytest.fixture(scope="module")
def frames():
    clips = [ml.synthetic.clip(n, turn=0.7).motion.replace(name=n) for n in ("walk", "jog")]
    return frames_of(clips)


@pytest.mark.parametrize("ways", [2, 3, 4])
def test_a_blend_goes_where_its_recipe_goes(frames, ways):
    rows = np.array([[3, 20, 9, frames.row_of("jog", 5)], [30, 1, 50, 12]])[:, :ways]
    seen = WindowBatch.of_blends(frames, rows, LENGTH)
    for k, some in enumerate(rows):
        recipe = Recipe(tuple(some), LENGTH)
        track = track_of(frames, recipe)
        assert np.allclose(seen.heading[k], track.heading, atol=FLOAT64)
        assert np.allclose(seen.ground[k], track.ground, atol=FLOAT64)
        at = rows_at(frames, recipe)
        mean = np.einsum("it,tijc->tjc", recipe.weights(), frames.body[at].astype(float))
        assert np.allclose(seen.body[k], mean, atol=FLOAT32_M)


def test_a_window_blended_with_itself_is_the_window(frames):
    blend = WindowBatch.of_blends(frames, [[7, 7, 7]], LENGTH)
    captured = WindowBatch.of_rows(frames, [7], LENGTH)
    assert np.allclose(blend.body, captured.body, atol=FLOAT32_M)
    assert np.allclose(blend.ground, captured.ground, atol=FLOAT64)
    assert np.allclose(blend.heading, captured.heading, atol=FLOAT64)


def test_a_motion_is_seen_as_its_rows_are(frames):
    row = frames.row_of("jog", 4)
    captured = WindowBatch.of_rows(frames, [row], LENGTH)
    motion = frames.motion(row, row + LENGTH - 1)
    made = WindowBatch.of_motions([motion], body=frames.body_map)
    inner = slice(2, -2)  # headings are medians over five frames, over fewer at a clip's ends
    assert np.allclose(made.heading[:, inner], captured.heading[:, inner], atol=1e-5)
    assert np.allclose(made.body[:, inner], captured.body[:, inner], atol=1e-5)
    assert len(made) == 1
