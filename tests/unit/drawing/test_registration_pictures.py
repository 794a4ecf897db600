"""Pictures of a curve: what they show is what the curve holds."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

import motionloom as ml
from motionloom.blending.blend import blend_linearly
from motionloom.drawing.canvas import (
    AMBER,
    BLUE,
    example_colour,
    example_names,
    hex_of,
    save_canvas,
)
from motionloom.drawing.registration_pictures import (
    draw_constraints,
    draw_grid,
    draw_root_paths,
    examples_in_place,
)
from motionloom.drawing.steering import draw_steering, tint_by_weights, tint_transition
from motionloom.errors import ArrayError

PLACE_M = 1e-9
"""Placing a clip is a turn and a slide: only rounding is left."""


@pytest.fixture(scope="module")
def curve() -> ml.RegistrationCurve:
    """A left and a right turn, the second one cut so that it is the shorter."""
    left, right = (ml.synthetic.clip("walk", duration_s=3.0, turn=t).motion for t in (1.3, -1.3))
    return ml.register([left.replace(name="left"), right[20:150].replace(name="right")])


def pixels(canvas) -> np.ndarray:
    stream = io.BytesIO()
    save_canvas(canvas, stream, "png")
    return np.asarray(Image.open(stream).convert("RGB")).astype(int)


def lines_of(axes) -> dict[str, np.ndarray]:
    return {line.get_label(): np.asarray(line.get_xydata()) for line in axes.get_lines()}


def test_the_grid_shows_the_curve_from_end_to_end(curve) -> None:
    axes = draw_grid(curve).axes[0]
    drawn = np.asarray(axes.get_lines()[0].get_xydata())
    assert drawn == pytest.approx(curve.frames(np.linspace(*curve.u_range, len(drawn))))
    image = axes.get_images()[0].get_array()
    assert image.shape == (-(-curve.motions[1].n_frames // 2), -(-curve.motions[0].n_frames // 2))
    assert axes.get_xlabel() == "frame of left"
    assert axes.get_ylabel() == "frame of right"


def test_what_the_curve_leaves_out_is_veiled(curve) -> None:
    axes = draw_grid(curve).axes[0]
    covered = axes.patches[-1]
    first, last = curve.frames(np.array(curve.u_range))
    assert covered.get_xy() == pytest.approx(tuple(first))
    assert (covered.get_width(), covered.get_height()) == pytest.approx(tuple(last - first))
    veiled = sum(p.get_width() * p.get_height() for p in axes.patches[:-1])
    whole = np.ptp(axes.get_xlim()) * np.ptp(axes.get_ylim())
    assert veiled + covered.get_width() * covered.get_height() == pytest.approx(whole)


def test_a_motion_that_is_not_in_the_curve_is_refused(curve) -> None:
    with pytest.raises(ArrayError, match="0 to 1"):
        draw_grid(curve, 0, 2)


def bars_of(axes) -> list[tuple[float, float, bool]]:
    """Left, right and whether it is filled, of every bar."""
    return [
        (p.get_x(), p.get_x() + p.get_width(), p.get_facecolor()[3] > 0.0) for p in axes.patches
    ]


def test_every_match_is_a_filled_bar_in_every_lane(curve) -> None:
    bars = bars_of(draw_constraints(curve).axes[0])
    wanted = [span for found in curve.matches.values() for m in found for span in m.intervals]
    filled = [(low, high) for low, high, full in bars if full]
    assert np.array(sorted(filled)) == pytest.approx(np.array(sorted(wanted)))


def test_a_split_plant_keeps_its_hollow_gap() -> None:
    walk = ml.synthetic.clip("walk", duration_s=3.0)
    long = np.array(walk.footplants.planted)
    spans = walk.footplants.intervals()["left_heel"]
    long[spans[0][0] : spans[1][1] + 1, 0] = True
    curve = ml.register(
        [walk.motion, walk.motion], footplants=[ml.Footplants(long), walk.footplants]
    )
    bars = bars_of(draw_constraints(curve).axes[0])
    hollow = [(low, high) for low, high, full in bars if not full]
    first, second = curve.matches["left_heel"][:2]
    whole = max(hollow, key=lambda span: span[1] - span[0])
    assert whole == pytest.approx((first.intervals[0][0], second.intervals[0][1]))
    assert second.intervals[0][0] > first.intervals[0][1]


def test_a_blend_has_a_lane_of_its_own(curve) -> None:
    without, with_blend = draw_constraints(curve), draw_constraints(curve, weights=[0.3, 0.7])
    found = sum(len(each) for each in curve.matches.values())
    assert len(with_blend.axes[0].patches) == len(without.axes[0].patches) + found
    assert "blend" in [text.get_text() for text in with_blend.axes[0].get_yticklabels()]


def test_examples_start_together_and_the_plain_average_falls_short(curve) -> None:
    made = ml.blend(curve, [0.5, 0.5])
    placed = examples_in_place(curve)
    apart = placed[0].root_positions[0] - placed[1].root_positions[0]
    assert np.hypot(apart[0], apart[2]) < 0.1
    lines = lines_of(draw_root_paths(curve, made, linear=[0.5, 0.5]).axes[0])

    def reach(name: str) -> float:
        return float(np.linalg.norm(lines[name][-1] - lines[name][0]))

    assert set(lines) == {"left", "right", "plain average", "blend"}
    assert reach("plain average") < 0.9 * reach("blend")
    assert lines["left"][-1, 1] > 0.2
    assert lines["right"][-1, 1] < -0.2


def test_a_plain_average_of_copies_is_the_clip() -> None:
    walk = ml.synthetic.clip("walk", duration_s=1.5).motion
    moved = ml.move(walk, heading=2.0, x=3.0, z=-1.0)
    same = blend_linearly([walk, moved], [0.4, 0.6])
    assert np.abs(same.world_positions() - walk.world_positions()).max() < PLACE_M


def test_a_transition_goes_from_amber_to_blue() -> None:
    walk, jog = (ml.synthetic.clip(kind, duration_s=2.0).motion for kind in ("walk", "jog"))
    joined = ml.transition(walk, jog)
    tint = tint_transition(joined, first=5)
    assert tint(0) == AMBER
    assert tint(joined.span[1] - 5) == BLUE
    middle = tint((joined.span[0] + joined.span[1]) // 2 - 5)
    assert min(AMBER[0], BLUE[0]) < middle[0] < max(AMBER[0], BLUE[0])


def test_weights_mix_the_colours_of_the_examples() -> None:
    tint = tint_by_weights(np.array([[1.0, 0.0], [0.0, 1.0], [1.5, -0.5]]))
    assert [tint(0), tint(1), tint(2)] == [example_colour(0), example_colour(1), example_colour(0)]


def test_steering_shows_only_the_examples_that_were_used(curve) -> None:
    made = ml.blend(curve, [1.0, 0.0])
    canvas = draw_steering(curve, made)
    labels = [text.get_text() for text in canvas.axes[1].get_legend().get_texts()]
    assert labels == ["left"]


def test_steering_draws_a_played_motion_with_its_weights(curve) -> None:
    made = ml.blend(curve, [0.5, 0.5])
    drawn = draw_steering(curve, made.motion, weights=made.provenance.body.weight)
    assert np.array_equal(pixels(drawn), pixels(draw_steering(curve, made)))
    with pytest.raises(ArrayError, match="weights"):
        draw_steering(curve, made.motion)


def test_names_that_clash_are_numbered_and_dollars_are_only_dollars(curve) -> None:
    odd = ml.register([m.replace(name=r"$\frac{$ & <b>") for m in curve.motions])
    assert len(set(example_names(odd.motions))) == 2
    made = ml.blend(odd, [0.5, 0.5])
    for canvas in (
        draw_grid(odd),
        draw_constraints(odd),
        draw_root_paths(odd, made),
        draw_steering(odd, made),
    ):
        assert pixels(canvas).ndim == 3


def test_the_same_curve_gives_the_same_bytes(curve) -> None:
    first, second = (pixels(draw_grid(curve)) for _ in range(2))
    assert (first == second).all()
    assert hex_of(example_colour(0)) == hex_of(AMBER)
