"""Pictures of a splice: what they show is what the splice holds."""

from __future__ import annotations

import io

import numpy as np
import pytest
from matplotlib.collections import PolyCollection
from PIL import Image

import motionloom as ml
from motionloom.drawing.canvas import AMBER, BLUE, save_canvas
from motionloom.drawing.figure_columns import calm_heading, mean_lean, spread_moments
from motionloom.drawing.splice_pictures import draw_postures, draw_splice, draw_splice_times
from motionloom.errors import ArrayError
from motionloom.rotation import quat

LEAN_RAD = 0.02
"""A walk's own shoulders sway about as much around an added lean."""


@pytest.fixture(scope="module")
def clips() -> tuple[ml.Motion, ml.Motion]:
    carry = ml.synthetic.clip("carry", duration_s=2.0).motion
    turn = ml.synthetic.clip("walk", duration_s=2.0, turn=1.2).motion
    return carry.replace(name="carry"), turn.replace(name="turn")


@pytest.fixture(scope="module")
def spliced(clips) -> ml.Splice:
    return ml.splice(*clips)


def pixels(canvas) -> np.ndarray:
    stream = io.BytesIO()
    save_canvas(canvas, stream, "png")
    return np.asarray(Image.open(stream).convert("RGB")).astype(int)


def lines_of(axes) -> dict[str, np.ndarray]:
    return {line.get_label(): np.asarray(line.get_xydata()) for line in axes.get_lines()}


def bodies_of(axes) -> list[PolyCollection]:
    return [each for each in axes.collections if isinstance(each, PolyCollection)]


def near(colour: np.ndarray, wanted: tuple[int, int, int]) -> bool:
    """Whether a drawn colour is one of the paler tones of a wanted one."""
    paper = np.array([250, 250, 248]) / 255.0
    tone, full = paper - colour[:3], paper - np.array(wanted) / 255.0
    return bool(tone @ full > 0.99 * np.linalg.norm(tone) * np.linalg.norm(full))


def test_the_times_go_through_the_grid_that_was_compared(spliced) -> None:
    axes = draw_splice_times(spliced, names=("carry", "turn")).axes[0]
    lines, fps = lines_of(axes), spliced.motion.fps
    assert lines["times"][:, 1] * fps == pytest.approx(spliced.timewarp.frames)
    assert lines["times"][:, 0] * fps == pytest.approx(np.arange(spliced.motion.n_frames))
    assert lines["path"] * fps / spliced.timewarp.stride == pytest.approx(spliced.timewarp.path)
    image = axes.get_images()[0]
    assert image.get_array().shape == spliced.timewarp.cost.T.shape
    left, right, bottom, top = image.get_extent()
    assert left <= lines["times"][0, 0] and bottom <= lines["times"][0, 1]
    assert lines["path"][-1, 0] <= right and lines["path"][-1, 1] <= top
    assert axes.get_xlabel() == "seconds of turn"
    assert axes.get_ylabel() == "seconds of carry"


def test_an_action_in_its_own_time_has_a_line_and_no_grid() -> None:
    wave = ml.synthetic.clip("wave", duration_s=1.5).motion
    made = ml.splice(wave, ml.synthetic.clip("jog", duration_s=1.5).motion)
    canvas = draw_splice_times(made)
    assert not canvas.axes[0].get_images()
    assert set(lines_of(canvas.axes[0])) >= {"times"}
    assert any("own time" in text.get_text() for text in canvas.texts)


def test_a_splice_has_a_row_for_each_source_and_a_figure_for_each_moment(clips, spliced) -> None:
    naive = ml.splice(*clips, method="naive").motion
    canvas = draw_splice(*clips, spliced, moments=5, others={"copied": naive})
    assert len(canvas.axes) == 4
    assert [len(bodies_of(axes)) for axes in canvas.axes] == [5] * 4
    names = [axes.texts[-1].get_text() for axes in canvas.axes]
    assert names == ["action: carry", "legs: turn", "splice", "copied"]


def test_amber_is_what_comes_from_the_action(clips, spliced) -> None:
    action, legs, made = draw_splice(*clips, spliced, moments=3).axes
    share = {}
    for name, axes in (("action", action), ("legs", legs), ("made", made)):
        faces = np.concatenate([each.get_facecolor() for each in bodies_of(axes)])
        share[name] = np.mean([near(face, AMBER) for face in faces])
    assert share["action"] == 1.0
    assert share["legs"] == 0.0
    assert 0.4 < share["made"] < 0.8
    one_arm = ml.splice(*clips, where="left_arm")
    faces = bodies_of(draw_splice(*clips, one_arm, where="left_arm", moments=1).axes[2])
    amber = [near(face, AMBER) for face in faces[0].get_facecolor()]
    assert sum(amber) == 3  # upper arm, forearm, hand
    assert any(near(face, BLUE) for face in faces[0].get_facecolor())


def test_every_column_shows_the_frame_of_the_action_that_was_used(clips, spliced) -> None:
    axes = draw_splice(*clips, spliced, moments=4).axes[0]
    frames = spread_moments(spliced.motion.n_frames, 4)
    wanted = [f"{spliced.timewarp.frames[f] / clips[0].fps:.2f} s" for f in frames]
    assert [text.get_text() for text in axes.texts[:-1]] == wanted


def test_moments_past_the_end_of_a_motion_are_left_out(clips, spliced) -> None:
    short = spliced.motion[: spliced.motion.n_frames // 2]
    axes = draw_splice(*clips, spliced, moments=6, others={"short": short}).axes
    assert [len(bodies_of(each)) for each in axes] == [6, 6, 6, 3]


def test_a_looped_action_is_shown_over_its_own_length(clips) -> None:
    short = clips[0][:70]
    made = ml.splice(short, clips[1], when_short="loop")
    assert made.timewarp.frames[-1] > short.n_frames
    axes = draw_splice(short, clips[1], made, moments=3, looped=True).axes
    assert [text.get_text() for text in axes[0].texts[:3]] == ["0.00 s", "0.57 s", "1.15 s"]


def test_an_action_at_another_rate_is_shown_at_the_same_moments(clips, spliced) -> None:
    slow = ml.resample(clips[0], fps=30.0)
    made = ml.splice(slow, clips[1])
    axes = draw_splice(slow, clips[1], made, moments=3).axes[0]
    last = float(axes.texts[2].get_text().split()[0])
    assert last == pytest.approx(made.timewarp.frames[-1] / made.motion.fps, abs=0.01)


def test_postures_are_drawn_over_one_another_and_their_leans_shown(clips) -> None:
    carry, turn = clips
    body = ml.BodyMap.guess(carry.skeleton)
    quats = np.array(carry.local_quats)
    back = np.array([np.cos(0.15), -np.sin(0.15), 0.0, 0.0])
    quats[:, body.spine[0]] = quat.multiply(back, quats[:, body.spine[0]])
    leaning = carry.replace(local_quats=quats)
    full, without = (ml.splice(leaning, turn, method=m) for m in ("full", "time+space"))
    canvas = draw_postures(full, without, moments=4)
    leans = [mean_lean(each.motion, body) for each in (full, without)]
    assert leans[0] < leans[1] - 0.1
    remark = canvas.texts[-1].get_text()
    assert all(f"{np.degrees(lean):+.1f}" in remark for lean in leans)


def test_a_lean_is_measured_from_hips_to_shoulders_whatever_the_heading(clips) -> None:
    carry, _ = clips
    body = ml.BodyMap.guess(carry.skeleton)
    turned = ml.move(carry, heading=2.0, x=3.0, z=1.0)
    assert mean_lean(turned, body) == pytest.approx(mean_lean(carry, body), abs=1e-9)
    quats = np.array(carry.local_quats)
    ahead = np.array([np.cos(0.1), np.sin(0.1), 0.0, 0.0])
    quats[:, body.spine[0]] = quat.multiply(ahead, quats[:, body.spine[0]])
    more = mean_lean(carry.replace(local_quats=quats), body) - mean_lean(carry, body)
    assert more == pytest.approx(0.2, abs=0.2 * 0.35 + LEAN_RAD)
    assert np.ptp(calm_heading(carry, body)) < 0.3


def test_no_moments_are_refused(clips, spliced) -> None:
    with pytest.raises(ArrayError, match="moments"):
        draw_splice(*clips, spliced, moments=0)


def test_odd_names_are_only_names_and_the_same_splice_gives_the_same_bytes(clips) -> None:
    odd = [clip.replace(name=r"$\frac{$ & <b>") for clip in clips]
    made = ml.splice(*odd)
    first, second = (pixels(draw_splice(*odd, made, moments=2)) for _ in range(2))
    assert (first == second).all()
    assert pixels(draw_splice_times(made, names=(odd[0].name, "$x$"))).ndim == 3
