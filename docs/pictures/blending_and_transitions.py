"""Draw the pictures of studies/reports/blending-on-real-clips.md.

    python docs/pictures/blending_and_transitions.py [MOCAP_FOLDER] [SCENE...]

Needs a motion-capture folder (see CONTRIBUTING). Scenes are the names of the functions below; all
are drawn where none is named.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import colormaps
from places import ROOT, STORED, picture

import motionloom as ml
from motionloom.blending.blend import blend_linearly
from motionloom.body.anatomy import foot_points
from motionloom.body.body_map import facing
from motionloom.drawing.canvas import (
    INK,
    LIGHT,
    blank_canvas,
    hex_of,
    quiet_axes,
    save_canvas,
    title_canvas,
)
from motionloom.drawing.film import save_film
from motionloom.drawing.registration_pictures import (
    draw_constraints,
    draw_grid,
    draw_root_paths,
    examples_in_place,
)
from motionloom.drawing.steering import draw_steering, tint_by_weights, tint_transition
from studies.pictures.contact_sheet import SheetEntry, save_sheet
from studies.pictures.curve_pictures import draw_alignment, draw_timewarp

"""Films are made next to the pages and are not kept with them."""
STORED.mkdir(exist_ok=True)
MOCAP = Path(os.environ.get("MOTIONLOOM_MOCAP", ROOT.parent / "shared" / "mocap"))

KICKS = {"low": (100, 232), "middle": (572, 672), "high": (245, 345)}
"""Frames of 143_24; the middle one is of the right foot, and mirrored."""
PUNCHES = {"143_23": (112, 182), "02_05": (105, 250)}
"""Frames of straight punches of the right hand, each at its file's own rate."""


@cache
def clip(name: str) -> ml.Motion:
    """A captured clip on the ground at its true rate.

    Subject 143's headers say 120, its falls say 60.
    """
    suffix = "asfamc/{}.amc" if name.startswith("02_") else "bvh/{}.bvh"
    path = MOCAP / ("cmu_" + suffix.format(name))
    return ml.ground(ml.load(path, fps=60 if "143_" in name else None))


@cache
def walk() -> ml.Motion:
    """16_15 without its first frames, in which an arm jumps."""
    return clip("16_15")[8:]


@cache
def sneak() -> ml.Motion:
    """The way out of 77_30, a creeping walk, on the body of subject 16."""
    return ml.retarget(clip("77_30")[240:600], walk()).replace(name="77_30 creep")


def tell(scene: str, **facts: Any) -> None:
    """One line of figures."""
    texts = [f"{key} {value:.3g}" if isinstance(value, float) else f"{key} {value}"
             for key, value in facts.items()]  # fmt: skip
    print(f"{scene}: {', '.join(texts)}", flush=True)


def keep(canvas: Any, name: str) -> None:
    """A chart into the folder of pictures."""
    target = picture(f"blending_{name}.png")
    save_canvas(canvas, target, "png")


def sheet(entries: list[SheetEntry], name: str, **options: Any) -> None:
    """Strips into the folder of pictures."""
    target = picture(f"blending_{name}.png")
    save_sheet(entries, target, **options)


def joined_row(
    a: ml.Motion, b: ml.Motion, title: str, *, around_s: float = 0.5, film: str = "", **options: Any
) -> SheetEntry:
    """A strip around a transition, feet cleaned, amber for A, blue for B; its figures printed."""
    joined = ml.transition(a, b, **options)
    cleaned = ml.clean_footskate(joined.blended, joined.footplants)
    gate = ml.verify(cleaned.motion, sources=[a, b])
    first, last = joined.span
    low = max(0, first - round(around_s * a.fps))
    high = min(joined.blended.n_frames, last + 1 + round(around_s * a.fps))
    floating = lowest_foot(joined.blended)[first : last + 1].max()
    sources = max(lowest_foot(a).max(), lowest_foot(b).max())
    place = joined.candidates[0]
    inside = joined.footplants[first : last + 1].intervals()
    plants = sum(len(spans) for spans in inside.values())
    tell(
        title,
        plants_in_blend=plants,
        place=(place.frame_a, place.frame_b),
        cost_cm=100 * place.cost,
        step=gate.step_ratio,
        root_speed=gate.root_speed_ratio,
        passed=gate.passed,
        slide_before_cm=100 * cleaned.report.slide_before,
        slide_after_cm=100 * cleaned.report.slide_after,
        lowest_foot_at_most_cm=100 * float(floating),
        in_sources_cm=100 * float(sources),
    )
    before, after = 100 * cleaned.report.slide_before, 100 * cleaned.report.slide_after
    if film:
        span = slice(max(0, first - round(0.9 * a.fps)), last + 1 + round(0.9 * a.fps))
        save_film(
            cleaned.motion[span], STORED / f"blending_{film}.gif",
            footplants=cleaned.footplants[span], size=(320, 270), view="side",
        )  # fmt: skip
    remark = (
        f"frame {place.frame_a} meets {place.frame_b}; {plants} plants in the blend, "
        f"slide {before:.1f} -> {after:.2f} cm"
    )
    return SheetEntry(
        cleaned.motion[low:high], title, remark, cleaned.footplants[low:high],
        colour=tint_transition(joined, first=low),
    )  # fmt: skip


def lowest_foot(motion: ml.Motion) -> np.ndarray:
    """Height of the lowest heel or ball over the lowest ever. (F,)."""
    low = foot_points(motion)[..., 1].min(axis=1)
    return np.asarray(low - low.min())


def walk_to_run() -> None:
    """Figure 1: over two cycles with and without timewarp; figure 7 next to it: run to sneak."""
    slow, fast = clip("143_32")[60:700], clip("143_04")[300:800]
    # A place whose blend spans two cycles of both gaits, the same for both rows.
    options: dict[str, Any] = {"length_s": 2.6, "at": (464, 192), "around_s": 0.4}
    with_warp = joined_row(slow, fast, "walk to run over two cycles, 143_32 to 143_04", **options)
    without = joined_row(slow, fast, "the same without timewarp", timewarp=False, **options)
    short = joined_row(
        walk(), clip("16_55"), "walk to run, 16_15 to 16_55, 0.6 s", moving=True, film="walk_to_run"
    )
    sheet([with_warp, without, short], "walk_to_run", columns=1, cell=(1200, 250), ghosts=12)


def run_to_sneak() -> None:
    """Figure 7: a jog into a much slower sneak."""
    rows = [
        joined_row(clip("16_35"), sneak(), "jog to sneak, 16_35 to 77_30", moving=True,
                   length_s=0.8, around_s=1.0, film="jog_to_sneak"),
        joined_row(clip("16_55"), sneak(), "run to sneak, 16_55 to 77_30", moving=True,
                   length_s=0.8, around_s=1.0),
    ]  # fmt: skip
    sideways = ml.retarget(clip("143_41")[60:520], walk())
    rows.append(joined_row(clip("16_35"), sideways, "jog to the sideways sneak of 143_41",
                           moving=True, length_s=0.8, around_s=1.0))  # fmt: skip
    sheet(rows, "run_to_sneak", columns=1, cell=(1200, 250), ghosts=11)


def walk_and_sneak() -> None:
    """Figure 4: the grid of a walk and a sneak, and what hangs on it."""
    curve = ml.register([walk(), sneak()])
    tell("walk and sneak", apart_cm=100 * curve.costs[1], average_frames=curve.u_range[1])
    keep(draw_grid(curve, title="16_15, walk, and 77_30, creeping walk"), "grid")
    keep(draw_timewarp(curve), "timewarp")
    keep(draw_constraints(curve, weights=[0.5, 0.5]), "plants")


def turned(motion: ml.Motion) -> float:
    """By how much a motion turns from its first half second to its last, degrees."""
    heading, n = facing(motion), max(1, round(0.5 * motion.fps))
    return float(np.degrees(heading[-n:].mean() - heading[:n].mean()))


def way(motion: ml.Motion) -> float:
    """Length of the root's path, metres."""
    return float(np.linalg.norm(np.diff(motion.root_positions[:, [0, 2]], axis=0), axis=1).sum())


def paths() -> None:
    """Figure 2: the middle of a left and a right way must not collapse."""
    for name, pair in (("veer", ("16_11", "16_13")), ("turns", ("16_17", "16_19"))):
        curve = ml.register([clip(each) for each in pair])
        made = ml.blend(curve, [0.5, 0.5], clean=False)
        plain = plain_average(curve)
        gate = ml.verify(made.motion, sources=curve.motions)
        tell(
            f"{pair[0]} and {pair[1]}",
            turns=[round(turned(clip(each))) for each in pair],
            blend_turns=turned(made.motion),
            path_m=way(made.motion),
            plain_path_m=way(plain),
            examples_m=[round(way(each), 2) for each in parts(curve)],
            passed=gate.passed,
        )
        title = f"{pair[0]} and {pair[1]}, half and half"
        keep(draw_root_paths(curve, made, linear=[0.5, 0.5], title=title), name)
        if name == "turns":
            keep(draw_alignment(curve, title=f"Alignment of {pair[1]} with {pair[0]}"), "alignment")


def parts(curve: ml.RegistrationCurve) -> list[ml.Motion]:
    """What the curve covers of every example."""
    return examples_in_place(curve)


def plain_average(curve: ml.RegistrationCurve) -> ml.Motion:
    """The plain average of what the curve covers."""
    return blend_linearly(parts(curve), [1.0 / len(curve.motions)] * len(curve.motions))


def family() -> None:
    """Figure 8, above: from a straight walk over a veer to a sharp turn."""
    curve = ml.register([walk(), clip("16_11"), clip("16_17")])
    steps = [(1 - t, t, 0.0) for t in (0.33, 0.67)] + [(0.0, 1 - t, t) for t in (0.25, 0.5, 0.75)]
    made = [ml.blend(curve, w, clean=False) for w in steps]
    tell(
        "family",
        turns=[round(turned(each.motion)) for each in made],
        passed=sum(ml.verify(each.motion, sources=curve.motions).passed for each in made),
        of=len(made),
        apart_cm=[round(100 * cost, 1) for cost in curve.costs],
    )
    keep(draw_root_paths(curve, made, title="From straight to a sharp left turn"), "family")


def blended_rows(
    curve: ml.RegistrationCurve, mixtures: dict[str, list[float]], name: str, view: str
) -> None:
    """Strips of the examples and of blends, coloured by where they come from."""
    rows = []
    for title, weights in mixtures.items():
        made = ml.blend(curve, weights, clean=False)
        cleaned = ml.clean_footskate(made.motion, made.footplants)
        gate = ml.verify(cleaned.motion, sources=curve.motions)
        tell(
            f"{name} {title}", seconds=made.motion.duration_s, step=gate.step_ratio,
            turn=gate.turn_ratio, passed=gate.passed,
            slide_before_cm=100 * cleaned.report.slide_before,
            slide_after_cm=100 * cleaned.report.slide_after, wide=list(made.wide_joints),
        )  # fmt: skip
        rows.append(
            SheetEntry(cleaned.motion, title, f"weights {weights}", cleaned.footplants,
                       view=view, colour=tint_by_weights(made.provenance.body.weight))  # type: ignore[arg-type]
        )  # fmt: skip
    sheet(rows, name, columns=1, cell=(1100, 230), ghosts=9)


def kicks() -> None:
    """Figure 8, below: three kicks and what lies between them."""
    whole = clip("143_24")
    cut = {title: whole[first:last] for title, (first, last) in KICKS.items()}
    cut["middle"] = ml.mirror(cut["middle"])
    curve = ml.register(list(cut.values()), ends="match")
    blended_rows(
        curve,
        {
            "low": [1.0, 0.0, 0.0],
            "half low, half high": [0.5, 0.0, 0.5],
            "half middle, half high": [0.0, 0.5, 0.5],
            "higher than captured": [0.0, -0.25, 1.25],
        },
        "kicks",
        "side",
    )


def punches() -> None:
    """Figure 1, below: a quick and a slow punch of two people."""
    quick = clip("143_23")[slice(*PUNCHES["143_23"])]
    slow = ml.retarget(clip("02_05")[slice(*PUNCHES["02_05"])], clip("143_23"))
    curve = ml.register([quick, slow], ends="match")
    tell("punches", apart_cm=100 * curve.costs[1], frames=(quick.n_frames, slow.n_frames))
    blended_rows(
        curve,
        {"143_23": [1.0, 0.0], "half and half": [0.5, 0.5], "02_05": [0.0, 1.0]},
        "punches",
        "side",
    )


def cycle_towards(motion: ml.Motion, side: str) -> ml.GaitCycle:
    """The cycle of a clip that goes straightest, or turns most to a side.

    Cycles that turn by a quarter circle or more are turns on the spot, and are left out.
    """
    sign = {"left": 1.0, "straight": 0.0, "right": -1.0}[side]
    cycles = [cycle for cycle in ml.find_cycles(motion) if abs(cycle.turn) < np.pi / 2]
    return max(cycles, key=lambda c: sign * c.turn if sign else -abs(c.turn))


def played(
    curve: ml.RegistrationCurve, weights: Callable[[float], Any], seconds: float
) -> tuple[ml.Motion, ml.Footplants]:
    """What live control plays, feet held frame by frame, and its contacts."""
    live, fps = ml.control(curve), curve.motions[0].fps
    poses = [live.step(weights(i / fps)) for i in range(round(seconds * fps))]
    motion = ml.Motion(
        curve.motions[0].skeleton,
        np.array([pose.root_position for pose in poses]),
        np.array([pose.local_quats for pose in poses]),
        fps,
    )
    return motion, ml.Footplants(np.array([pose.planted for pose in poses]))


def contact_cm_s(motion: ml.Motion, plants: ml.Footplants) -> float:
    """Fastest step of a planted point, cm/s."""
    steps = np.linalg.norm(np.diff(foot_points(motion), axis=0), axis=-1)
    both = plants.planted[1:] & plants.planted[:-1]
    return float(100.0 * motion.fps * steps[both].max(initial=0.0))


HOLD_S, FADE_S = 1.6, 1.0
"""How long each of the nine motions plays alone, and how long it fades into the next one."""


def nine() -> None:
    """Figure 9: sneak, walk and jog, left, straight and right, steered live, from raw clips."""
    creep = ml.retarget(clip("77_30"), walk())
    # In this order each motion differs from the one before in its gait or in its turn, not in both.
    raw = [
        ("sneak", "left", creep),
        ("sneak", "straight", creep),
        ("sneak", "right", ml.mirror(creep)),
        ("walk", "right", clip("16_13")),
        ("walk", "straight", walk()),
        ("walk", "left", clip("16_11")),
        ("jog", "left", clip("16_38")),
        ("jog", "straight", clip("16_35")),
        ("jog", "right", clip("16_40")),
    ]
    cycles = [cycle_towards(motion, side) for _, side, motion in raw]
    turns = [round(float(np.degrees(cycle.turn))) for cycle in cycles]
    names = [
        f"{gait} {side}, {abs(turn)}\N{DEGREE SIGN}"
        for (gait, side, _), turn in zip(raw, turns, strict=True)
    ]
    named = [motion.replace(name=name) for (*_, motion), name in zip(raw, names, strict=True)]
    curve = ml.register(named, cycles=cycles)
    tell(
        "nine", average_frames=curve.u_range[1], reference=names[curve.reference],
        apart_cm=[round(100 * c, 1) for c in curve.costs],
        turns=turns, gaps_cm=[round(100 * c.gap, 1) for c in cycles],
        plants={kind: len(matches) for kind, matches in curve.matches.items()},
    )  # fmt: skip
    keep(draw_constraints(curve), "nine_plants")
    starts = np.arange(9) * (HOLD_S + FADE_S)
    stops = np.stack([starts, starts + HOLD_S], axis=1).ravel()
    held = np.repeat(np.eye(9), 2, axis=0)
    seconds = float(stops[-1])

    def steer(second: float) -> np.ndarray:
        return np.array([np.interp(second, stops, column) for column in held.T])

    motion, plants = played(curve, steer, seconds)
    fps = motion.fps
    weights = np.array([steer(i / fps) for i in range(motion.n_frames)])
    check = ml.verify(motion, sources=curve.motions, footplants=plants)
    loose = ml.blend(curve, steer, duration_s=seconds, clean=False)
    parts = [slice(round(fps * a), round(fps * (a + HOLD_S))) for a in starts]
    tell(
        "nine steered live", passed=check.passed, seconds=seconds,
        failed=[str(each) for each in check.failed],
        contact_cm_s=contact_cm_s(motion, plants),
        not_held_cm_s=contact_cm_s(loose.motion, loose.footplants),
        speeds_m_s=[round(way(motion[part]) / HOLD_S, 1) for part in parts],
        turns_per_s=[round(turned(motion[part]) / HOLD_S) for part in parts],
    )  # fmt: skip
    title = "Sneak, walk and jog, steered live"
    keep(draw_steering(curve, motion, weights=weights, size=(1200, 1000), title=title), "nine")
    rows = []
    for first, name, cycle in zip(starts, names, cycles, strict=True):
        # A whole cycle of a jog is so long that few of its figures fit next to each other.
        frames = min(cycle.last - cycle.first, round((0.66 if "jog" in name else 2.0) * fps))
        part = slice(round(fps * first), round(fps * first) + frames)
        rows.append(
            SheetEntry(
                motion[part], name, f"{part.start / fps:.1f} to {part.stop / fps:.1f} s",
                plants[part], view="side", colour=tint_by_weights(weights[part]),
            )
        )  # fmt: skip
    sheet(rows, "nine_strips", columns=3, cell=(480, 240), ghosts=6)


def draw_fan(motions: list[ml.Motion], turns: list[float]) -> Any:
    """Root paths from one point in one direction, and headings over time, coloured by the turn."""
    colours = colormaps["viridis"](np.linspace(0.0, 0.85, len(motions)))
    canvas = blank_canvas((1400, 640))
    paths = canvas.add_axes((0.05, 0.09, 0.56, 0.81))
    headings = canvas.add_axes((0.67, 0.09, 0.27, 0.81))
    label = {"color": hex_of(LIGHT.label), "size": 9}
    paper = {"facecolor": hex_of(LIGHT.paper), "lw": 0, "alpha": 0.8, "pad": 1.0}
    steps = [m.root_positions[m.n_frames // 4] - m.root_positions[0] for m in motions]
    set_out = np.sum(steps, axis=0)
    way = float(np.arctan2(set_out[0], set_out[2]))
    turning = np.array([[np.sin(way), np.cos(way)], [np.cos(way), -np.sin(way)]])
    for motion, turn, colour in zip(motions, turns, colours, strict=True):
        ground = motion.root_positions[:, [0, 2]]
        path = (ground - ground[0]) @ turning.T
        paths.plot(*path.T, color=colour, lw=3.0, solid_capstyle="round")
        heading = facing(motion)
        end = heading[-1] - way
        tip = path[-1] + 0.14 * np.array([np.cos(end), np.sin(end)])
        paths.update_datalim([path[-1] + 1.5 * (tip - path[-1])])
        arrow = {"arrowstyle": "-|>", "color": colour, "lw": 2.0, "mutation_scale": 18}
        paths.annotate("", tip, xytext=path[-1], arrowprops=arrow)
        name = {"s": f"{turn:.0f}\N{DEGREE SIGN}", "color": colour, "size": 12, "weight": "bold"}
        at = path[-1] + 1.35 * (tip - path[-1])
        paths.text(*at, ha="center", va="center", bbox=paper, zorder=5, **name)
        seconds = np.arange(motion.n_frames) / motion.fps
        degrees = np.degrees(heading - heading[0])
        headings.plot(seconds, degrees, color=colour, lw=3.0)
        headings.text(seconds[-1] + 0.04, degrees[-1], ha="left", va="center", **name)
    paths.plot(0.0, 0.0, "o", ms=9, color=hex_of(INK))
    paths.set_aspect("equal", adjustable="datalim")
    paths.set_xlabel(
        "metres; the paths of the root, arrows where the body faces at the end", **label
    )
    headings.set_xlabel("seconds", **label)
    headings.set_title("heading, degrees from the start", loc="left", **label)
    for axes in (paths, headings):
        quiet_axes(axes)
    title_canvas(canvas, "From straight on to turning round")
    return canvas


def fan() -> None:
    """A fan of turns to 195 degrees: a walk straight on, and the first 520 frames of 47_01."""
    straight = ml.ground(ml.load(MOCAP / "cmu_bvh" / "16_15.bvh"))
    round_about = ml.ground(ml.load(MOCAP / "audit" / "47_01.bvh")[:520])
    curve = ml.register([straight, round_about], ends="match")
    made = [ml.blend(curve, [1.0 - w, w]) for w in np.linspace(0.0, 1.0, 7)]

    def turns(each: ml.Motion) -> float:
        heading = facing(each)
        return float(np.degrees(heading[-1] - heading[0]))

    tell(
        "fan", turns=[round(turns(each.motion)) for each in made],
        passed=sum(each.verification.passed for each in made), of=len(made),
        apart_cm=100 * curve.costs[1],
        slide_before_cm=[round(100 * each.cleanup.slide_before, 1) for each in made],
    )  # fmt: skip
    keep(draw_fan([each.motion for each in made], [turns(each.motion) for each in made]), "fan")
    rows = [
        SheetEntry(
            made[k].motion, f"{turns(made[k].motion):.0f} degrees", "", made[k].footplants,
            view="side", colour=tint_by_weights(made[k].provenance.body.weight),
        )
        for k in (0, 2, 4, 6)
    ]  # fmt: skip
    sheet(rows, "fan_strips", columns=2, cell=(600, 240), ghosts=8)


def spot() -> None:
    """Turns on the spot, to either side: a cycle of 69_16 and its mirror image."""
    motion = clip("69_16")
    sides = [motion, ml.mirror(motion)]
    curve = ml.register(sides, cycles=[ml.find_cycles(each)[0] for each in sides])
    rows = []
    for w in (0.0, 0.25, 0.5, 1.0):
        live, plants = played(curve, lambda _, w=w: [1.0 - w, w], 4.0)
        heading, check = facing(live), ml.verify(live, sources=sides, footplants=plants)
        turn = float(np.degrees(heading[-1] - heading[0]))
        away = live.root_positions[-1, ::2] - live.root_positions[0, ::2]
        tell(
            f"spot {w}", turn=turn, passed=check.passed, contact_cm_s=contact_cm_s(live, plants),
            failed=[f"{each.check} {each.joint}" for each in check.failed],
            away_m=float(np.linalg.norm(away)),
        )  # fmt: skip
        rows.append(SheetEntry(live, f"{turn:.0f} degrees in 4 s", "", plants, view="side"))
    sheet(rows, "spot", columns=2, cell=(600, 220), ghosts=8)


SCENES: tuple[Callable[[], None], ...] = (
    walk_to_run,
    run_to_sneak,
    walk_and_sneak,
    paths,
    family,
    kicks,
    punches,
    nine,
    fan,
    spot,
)


def main(arguments: list[str]) -> None:
    """Draw the scenes named, or all."""
    global MOCAP
    warnings.simplefilter("ignore", UserWarning)
    if arguments and Path(arguments[0]).is_dir():
        MOCAP = Path(arguments.pop(0))
    if not MOCAP.is_dir():
        sys.exit("no motion-capture folder: name one, or set MOTIONLOOM_MOCAP")
    for scene in SCENES:
        if not arguments or scene.__name__ in arguments:
            scene()


if __name__ == "__main__":
    main(sys.argv[1:])
