"""Draw the pictures of studies/reports/splices-on-real-clips.md.

    python docs/pictures/splicing.py [MOCAP_FOLDER] [SCENE...]

Needs a motion-capture folder (see CONTRIBUTING). Scenes are the names of the functions below; all
are drawn where none is named.
"""

from __future__ import annotations

import io
import os
import sys
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from places import ROOT, picture

import motionloom as ml
from motionloom.drawing.canvas import save_canvas
from motionloom.drawing.figure_columns import mean_lean
from motionloom.drawing.splice_pictures import draw_postures, draw_splice, draw_splice_times
from motionloom.drawing.strip import save_strip
from motionloom.rotation import quat

MOCAP = Path(os.environ.get("MOTIONLOOM_MOCAP", ROOT.parent / "shared" / "mocap"))

ACTIONS = {
    "143_11": ("carrying a box", 5.4, 7.7),
    "143_13": ("carrying a laundry basket", 3.6, 6.1),
    "69_69": ("carrying something back", 3.7, 6.6),
    "113_26": ("carrying, straight on", 6.3, 8.8),
    "137_26": ("coffee mug", 5.6, 13.0),
    "143_23": ("punching", 0.3, 13.4),
    "82_06": ("pushing something heavy", 3.0, 7.5),
    "81_06": ("pushing a heavy box", 4.0, 10.0),
    "143_28": ("pushing a broom", 0.8, 9.8),
    "143_25": ("waving", 1.2, 9.3),
    "143_20": ("catch and throw", 5.4, 9.2),
    "143_22": ("catch and throw a football", 8.0, 15.5),
}
"""What is done, and the seconds in which it is done: most of these clips also walk up, pick up and
put down."""


@cache
def clip(name: str) -> ml.Motion:
    """A captured clip at its true rate: subject 143's headers say 120, its falls say 60."""
    folder = "cmu_bvh" if (MOCAP / "cmu_bvh" / f"{name}.bvh").is_file() else "audit"
    return ml.load(MOCAP / folder / f"{name}.bvh", fps=60 if "143_" in name else None)


def seconds(name: str, first: float, last: float, title: str) -> ml.Motion:
    """Some seconds of a clip."""
    whole = clip(name)
    return whole[round(first * whole.fps) : round(last * whole.fps) + 1].replace(name=title)


def action(name: str) -> ml.Motion:
    """The part of a clip in which the action is done."""
    title, first, last = ACTIONS[name]
    whole = clip(name)
    part = whole[round(first * whole.fps) : round(last * whole.fps) + 1]
    return part.replace(name=f"{name}, {title}")


def fitted(upper: ml.Motion, lower: ml.Motion) -> ml.Motion:
    """The action on the body and at the rate of the legs."""
    return ml.retarget(ml.resample(upper, fps=lower.fps), lower).replace(name=upper.name)


def tell(scene: str, **facts: Any) -> None:
    """One line of figures."""
    texts = [f"{key} {value:.3g}" if isinstance(value, float) else f"{key} {value}"
             for key, value in facts.items()]  # fmt: skip
    print(f"{scene}: {', '.join(texts)}", flush=True)


def keep(canvas: Any, name: str) -> None:
    """A picture into the folder, in 256 colours: it is flat, and half the size so."""
    stream = io.BytesIO()
    save_canvas(canvas, stream, "png")
    image = Image.open(stream).convert("RGB").quantize(256, method=Image.Quantize.FASTOCTREE)
    image.save(picture(f"splicing_{name}.png"), optimize=True)


def arm_speed(motion: ml.Motion) -> float:
    """Fastest turn of a shoulder or elbow against what it hangs on, radians per second."""
    body = ml.BodyMap.guess(motion.skeleton)
    roles = ("left_shoulder", "right_shoulder", "left_elbow", "right_elbow")
    quats = motion.local_quats[:, list(body.require(*roles, task="measuring arms"))]
    return float(quat.angle_between(quats[1:], quats[:-1]).max() * motion.fps)


def spliced(upper: ml.Motion, lower: ml.Motion, scene: str, **options: Any) -> ml.Splice:
    """A splice whose figures are printed."""
    made = ml.splice(upper, lower, **options)
    body = ml.BodyMap.guess(lower.skeleton)
    pace = np.diff(made.timewarp.frames)
    first, last = int(made.timewarp.frames[0]), int(np.ceil(made.timewarp.frames[-1]))
    played = upper[first : min(last + 1, upper.n_frames)]
    tell(
        f"{scene} | {made.motion.name}",
        seconds=made.motion.duration_s,
        of=lower.duration_s,
        pace=f"{pace.min():.2f} to {pace.max():.2f}",
        within=float(np.mean((pace > 0.499) & (pace < 2.001))),
        arm_speed=arm_speed(made.motion) / arm_speed(played),
        check=made.verification.describe(),
        lean=f"{np.degrees(mean_lean(made.motion, body)):+.1f}",
        lean_of_action=f"{np.degrees(mean_lean(played, body)):+.1f}",
        lean_of_legs=f"{np.degrees(mean_lean(lower[: made.motion.n_frames], body)):+.1f}",
        notes=list(made.notes),
    )
    return made


def leans(motion: ml.Motion) -> str:
    """The lean of the frames, degrees: mean, least and largest."""
    body = ml.BodyMap.guess(motion.skeleton)
    found = np.degrees([mean_lean(motion[k : k + 1], body) for k in range(motion.n_frames)])
    return f"{found.mean():+.1f} ({found.min():+.1f} to {found.max():+.1f})"


def show(
    upper: str,
    lower: ml.Motion,
    name: str,
    *,
    naive: bool = True,
    naive_short: str = "crop",
    moments: int = 9,
    **options: Any,
) -> None:
    """One pair of clips: spliced, measured, and drawn with its sources and copied joints."""
    fits = fitted(action(upper), lower)
    made = spliced(fits, lower, name, **options)
    others = {}
    if naive:
        copied = ml.splice(fits, lower, method="naive", when_short=naive_short).motion
        others["joints copied"] = copied
        tell(f"{name} | leans", splice=leans(made.motion), joints_copied=leans(copied))
    where = options.get("where", "torso")
    title = f"{fits.name} on {lower.name}"
    keep(
        draw_splice(action(upper), lower, made, others=others, where=where, moments=moments,
                    size=(1200, 190), title=title, looped=options.get("when_short") == "loop"),
        name,
    )  # fmt: skip


def carrying() -> None:
    """Boxes and baskets on a curve, a sharp turn and a turn in place."""
    curve = clip("16_11").replace(name="16_11, veering left")
    show("143_11", curve, "box_on_curve", when_short="loop")
    show("143_13", clip("16_17").replace(name="16_17, sharp left turn"), "basket_on_turn",
         when_short="loop")  # fmt: skip
    show("69_69", clip("69_16").replace(name="69_16, turning in place"), "carry_in_place")
    show("69_69", clip("16_17").replace(name="16_17, sharp left turn"), "carry_looped",
         naive=False, when_short="loop")  # fmt: skip
    for upper in ("143_11", "143_13", "69_69"):
        for lower in ("16_11", "16_17", "69_16"):
            spliced(fitted(action(upper), clip(lower)), clip(lower), "carrying")


def times_and_posture() -> None:
    """Figures 3 and 4: how a box comes into step with a curve, and its lean with and without."""
    lower = clip("16_11")
    upper = fitted(action("143_11"), lower)
    made, without = (ml.splice(upper, lower, method=m) for m in ("full", "time+space"))
    keep(draw_splice_times(made, names=("143_11, carrying a box", "16_11, veering left")), "times")
    keep(draw_postures(made, without, moments=8), "posture")
    body = ml.BodyMap.guess(lower.skeleton)
    tell(
        "posture",
        **{
            name: f"{np.degrees(mean_lean(motion, body)):+.1f}"
            for name, motion in (
                ("action", upper),
                ("legs", lower),
                ("with", made.motion),
                ("without", without.motion),
            )
        },
    )


def mug() -> None:
    """A coffee mug up two flights of stairs."""
    show("137_26", clip("143_17")[:612].replace(name="143_17, up stairs and over"), "mug_on_stairs")
    show("137_26", clip("83_27").replace(name="83_27, up stairs"), "mug_on_steps", naive=False)


def turning() -> None:
    """Figure 6: something carried through a sharp turn of 180 degrees."""
    lower = seconds("47_01", 1.0, 4.6, "47_01, turning round by 180 degrees")
    show("113_26", lower, "turn", when_short="loop")
    made = ml.splice(fitted(action("113_26"), lower), lower, when_short="loop")
    strip(
        made,
        "turn_way",
        "113_26 on 47_01: carried round, each figure as the camera sees it",
        view="three-quarter",
    )


def strip(made: ml.Splice, name: str, title: str, view: Any) -> None:
    """A splice on its way through the world."""
    stream = io.BytesIO()
    save_strip(made.motion, stream, size=(1200, 420), title=title, footplants=made.footplants,
               ghosts=10, view=view)  # fmt: skip
    image = Image.open(stream).convert("RGB").quantize(256, method=Image.Quantize.FASTOCTREE)
    image.save(picture(f"splicing_{name}.png"), optimize=True)


def punching() -> None:
    """Figure 7: punches on stairs, each on a step."""
    lower = clip("143_17")[:612].replace(name="143_17, up stairs and over")
    show("143_23", lower, "punches", align=True, moments=11)
    spliced(fitted(action("143_23"), lower), lower, "punches, own time")
    spliced(fitted(action("143_23"), clip("83_27")), clip("83_27"), "punches", align=True)


def pushing() -> None:
    """Figure 8: a broom and a heavy object pushed on side-steps, and something carried on them."""
    lower = seconds("143_40", 1.5, 6.0, "143_40, walking sideways")
    show("143_28", lower, "push_broom")
    show("82_06", lower, "push_sideways")
    show("113_26", lower, "carry_sideways", when_short="loop", naive_short="loop")
    show("81_06", seconds("69_56", 0.5, 5.0, "69_56, walking sideways"), "push_sidesteps")
    spliced(fitted(action("82_06"), lower), lower, "push, arms only", where="arms")


def tiptoeing() -> None:
    """A box carried on tiptoe."""
    lower = seconds("136_27", 1.0, 6.0, "136_27, walking on tiptoe")
    show("143_11", lower, "tiptoe", when_short="loop")
    for upper, legs in (("143_11", "136_28"), ("69_69", "136_27"), ("143_25", "136_28")):
        made = spliced(fitted(action(upper), clip(legs)), clip(legs), "tiptoe", when_short="loop")
        tell("tiptoe | leans", splice=leans(made.motion))


def waving() -> None:
    """A wave on walk, jog and run."""
    for lower, what, name in (
        ("143_32", "walk", "wave_on_walk"),
        ("16_35", "jog", "wave_on_jog"),
        ("143_42", "run", "wave_on_run"),
    ):
        show("143_25", clip(lower).replace(name=f"{lower}, {what}"), name, naive=lower == "16_35")


def styles() -> None:
    """Other actions and legs that the paper names: a zombie, and a walk with a spring in it."""
    lower = clip("16_11").replace(name="16_11, veering left")
    zombie = ml.load(MOCAP / "deepmimic_txt" / "humanoid3d_zombie_walk.txt")
    made = spliced(fitted(zombie, lower), lower, "zombie", when_short="loop")
    strip(made, "zombie", "A zombie of DeepMimic on 16_11", view="side")
    happy = ml.load(MOCAP / "bandai_bvh" / "dataset-1_walk_happy_001.bvh")
    spliced(fitted(action("143_11"), happy), happy, "box on a happy walk", when_short="loop")


def parts() -> None:
    """One arm only, and a soft spine."""
    lower = clip("143_32").replace(name="143_32, walk")
    show("143_25", lower, "one_arm", naive=False, where="left_arm")
    spliced(fitted(action("143_11"), clip("16_11")), clip("16_11"), "soft", soft=True)


def throwing() -> None:
    """The paper's failure: a throw whose shoulders must twist; and bends that are kept."""
    lower = clip("143_32").replace(name="143_32, walk")
    show("143_20", lower, "throw")
    show("143_22", lower, "football")
    shoulders(fitted(action("143_20"), lower), lower)
    for keep_bend in (False, True):
        spliced(fitted(clip("143_11"), lower), lower, f"bend kept {keep_bend}", keep_bend=keep_bend)


def shoulders(upper: ml.Motion, lower: ml.Motion) -> None:
    """How far the shoulders twist against the hips, before and after, printed."""
    body = ml.BodyMap.guess(lower.skeleton)

    def twist(motion: ml.Motion) -> float:
        positions = motion.world_positions()
        joints = body.require(
            "left_shoulder", "right_shoulder", "left_hip", "right_hip", task="measuring a twist"
        )
        a, b, c, d = (positions[:, j] for j in joints)
        headings = [np.unwrap(np.arctan2(-v[:, 2], v[:, 0])) for v in (a - b, c - d)]
        return float(np.degrees(np.ptp(headings[0] - headings[1])))

    made = {m: ml.splice(upper, lower, method=m).motion for m in ("naive", "full")}
    tell("throw, twist of shoulders against hips, degrees", action=twist(upper),
         legs=twist(lower[: made["full"].n_frames]), copied=twist(made["naive"]),
         spliced=twist(made["full"]))  # fmt: skip


def as_captured() -> None:
    """Whole clips, not cut to fit: what happens where the action stands."""
    for upper, lower in (("143_11", "16_11"), ("143_13", "16_17"), ("69_69", "16_17"),
                         ("82_06", "143_40"), ("143_22", "143_32")):  # fmt: skip
        spliced(fitted(clip(upper), clip(lower)), clip(lower), "as captured")


SCENES: tuple[Callable[[], None], ...] = (
    carrying,
    times_and_posture,
    mug,
    turning,
    punching,
    pushing,
    tiptoeing,
    waving,
    styles,
    parts,
    throwing,
    as_captured,
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
