"""The chapters of the demo in order: results, how they are made, and the clips."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import motionloom as ml
from motionloom.demo.tour import Step, Tour
from motionloom.drawing.film import save_film
from motionloom.drawing.page import pack_clip
from motionloom.drawing.registration_pictures import draw_constraints, draw_grid, draw_root_paths
from motionloom.drawing.splice_pictures import draw_postures, draw_splice, draw_splice_times
from motionloom.drawing.steering import draw_steering, tint_transition
from motionloom.drawing.strip import save_strip
from motionloom.drawing.tracks import save_tracks
from motionloom.drawing.transition_pictures import Way, draw_transition, draw_ways, way_of_table
from motionloom.errors import FormatError

TURN = 0.9
"""How far the turning walks turn, radians."""
TURN_BELOW = 1.2
"""How far the walk under the carried box turns, radians."""
CLIPS: dict[str, dict[str, Any]] = {
    "walk": {},
    "walk-left": {"turn": 1.6},
    "jog": {},
    "run": {},
    "sneak": {},
    "stand": {},
    "sidestep": {},
    "carry": {},
    "punch": {},
    "turn": {},
}
"""Clips of the collection; up to a hyphen the name is the kind, and the label."""
CLUSTERS = 8
AROUND_S = 0.7
"""Seconds shown before and after each transition."""
ORDERS = ((60, "run"), (100, "stand"), (110, "sneak"), (110, None))
"""Orders to the live character: frames that it plays first, and the label that it then goes to."""
Chapter = Callable[[Tour], list[Step]]


def blends(tour: Tour) -> list[Step]:
    """A transition and a blend."""

    def transition() -> None:
        walk, jog = tour.clip("walk"), tour.clip("jog")
        joined = ml.transition(
            walk.motion, jog.motion, footplants=(walk.footplants, jog.footplants), moving=True
        )
        assert joined.cleanup is not None
        ml.save(joined.motion, tour.wrote("walk-to-jog.bvh"))
        tour.report.section(
            "A transition: from walk to jog",
            "The two clips are compared frame by frame and joined where they are most similar: "
            f"frame {joined.candidates[0].frame_a} of the walk meets frame "
            f"{joined.candidates[0].frame_b} of the jog. Planted feet: {joined.cleanup.summary}.",
        )
        tour.play(joined, "walk to jog")
        tour.report.code("motionloom transition walk.bvh jog.bvh -o walk-to-jog.bvh --moving")
        tour.picture(
            "walk-to-jog.png",
            lambda stream: save_strip(
                joined.motion, stream, footplants=joined.footplants, colour=tint_transition(joined),
                size=(1400, 420),
            ),
            "A walk that becomes a jog. Amber is the walk, blue the jog.",
        )  # fmt: skip

    def blend() -> None:
        left, right = (ml.synthetic.clip("walk", turn=turn) for turn in (TURN, -TURN))
        curve = ml.register(
            [left.motion.replace(name="left"), right.motion.replace(name="right")],
            footplants=[left.footplants, right.footplants],
        )
        middle = ml.blend(curve, [0.5, 0.5])
        tour.results.update(curve=curve, middle=middle)
        ml.save(middle.motion, tour.wrote("between-turns.bvh"))
        tour.report.section(
            "A blend: between a left and a right turn",
            "Half of a walk that turns left and half of one that turns right goes straight on.",
        )
        tour.report.player(
            [
                pack_clip(curve.motions[0], name="left", colour="amber"),
                pack_clip(middle.motion, footplants=middle.footplants, name="half and half"),
                pack_clip(curve.motions[1], name="right", colour="blue"),
            ],
            together=True,
        )
        tour.report.code("motionloom blend left.bvh right.bvh -w 0.5,0.5 -o between-turns.bvh")

    return [transition, blend]


def splices(tour: Tour) -> list[Step]:
    """A carried box on a turning walk."""

    def carry() -> None:
        legs = ml.synthetic.clip("walk", turn=TURN_BELOW)
        upper = tour.clip("carry").motion.replace(name="carry")
        lower = legs.motion.replace(name="turn")
        spliced = ml.splice(upper, lower, footplants=legs.footplants)
        tour.results["carry"] = upper, lower, spliced
        ml.save(lower, tour.wrote("walk-turning.bvh"))
        ml.save(spliced.motion, tour.wrote("carry-on-turn.bvh"))
        tour.report.section(
            "A splice: carrying round a turn",
            "The upper body of a clip that carries a box straight on, on the legs of one that "
            "turns with empty hands. Amber is the action, blue the locomotion; root and legs are "
            "exactly those of the locomotion.",
        )
        tour.report.player(
            [
                pack_clip(upper, name="carry", colour="amber"),
                pack_clip(lower, footplants=legs.footplants, name="turn", colour="blue"),
                pack_clip(spliced.motion, footplants=spliced.footplants, name="carry on turn"),
            ],
            together=True,
        )
        tour.report.code(
            "motionloom splice --upper carry.bvh --lower walk-turning.bvh -o carry-on-turn.bvh"
        )

    return [carry]


def live_character(tour: Tour) -> list[Step]:
    """A table, a page to steer a character of it, and a recorded run."""
    folder = tour.folder / "transitions"

    def collect() -> None:
        (folder / "clips").mkdir(parents=True, exist_ok=True)
        for name, options in CLIPS.items():
            kind = name.partition("-")[0]
            clip = ml.synthetic.clip(kind, **options) if options else tour.clip(kind)
            ml.save(clip.motion, tour.wrote(f"transitions/clips/{name}.bvh"))
        lib = ml.Collection.ingest(folder / "clips", out=folder / "clips.mlc", fps=60)
        for name in CLIPS:
            lib.annotate(name, name.partition("-")[0])
        tour.results["lib"] = lib

    def build() -> None:
        lib = tour.results["lib"]
        # One set of representatives, as in the paper, and one process: this must be quick.
        tour.results["table"] = ml.build_table(
            lib, out=tour.wrote("transitions/clips.mlt"), clusters=CLUSTERS, lookup=CLUSTERS,
            jobs=1, progress=False,
        )  # fmt: skip
        for path in sorted(path for path in lib.path.rglob("*") if path.is_file()):
            tour.wrote(f"transitions/clips.mlc/{path.relative_to(lib.path).as_posix()}")

    def live() -> None:
        table = tour.results["table"]
        motion, plants = play_orders(table, ("walk", 0))
        ml.save(motion, tour.wrote("stream.bvh"))
        orders = ", ".join(f"{label} after {n / 60:.1f} s" for n, label in ORDERS if label)
        tour.report.section(
            "A live character",
            f"It walks and takes orders: {orders} more. It never waits for a clip to end.",
        )
        try:
            ml.save_play_page(table, tour.folder / "steer.html", title="Steer it")
            tour.report.link(tour.wrote("steer.html").name, "Steer it yourself: steer.html")
        except FormatError as error:  # built without the core for browsers
            tour.report.text(f"The page to steer it yourself was not written. {error}")
        tour.report.player([pack_clip(motion, footplants=plants, name="live")])
        tour.report.code(
            'table = ml.TransitionTable.open("transitions/clips.mlt")\n'
            'character = table.stream(("walk", 0))\n'
            "pose = character.step()     # once a frame\n"
            'character.go(label="run")   # at any time'
        )
        tour.chart(
            "stream.png", draw_ways([Way("live", motion, footplants=plants)], moments=18),
            "Walk, run, stand, sneak.",
        )  # fmt: skip

    return [collect, build, live]


def play_orders(
    table: ml.TransitionTable, start: tuple[str, int]
) -> tuple[ml.Motion, ml.Footplants]:
    """The frames of a live character that gets the orders one after another."""
    stream = table.stream(start)
    poses = []
    for frames, label in ORDERS:
        poses += [stream.step() for _ in range(frames)]
        if label is not None:
            stream.go(label=label)
    motion = ml.Motion(
        table.frames.skeleton,
        np.array([pose.root_position for pose in poses]),
        np.array([pose.local_quats for pose in poses]),
        table.frames.fps,
        name="stream",
    )
    return motion, ml.Footplants(np.array([pose.planted for pose in poses]))


def blending_explained(tour: Tour) -> list[Step]:
    """Registration curves at work."""

    def register() -> None:
        curve = tour.results["curve"]
        tour.report.section(
            "How blending works",
            "A registration curve holds which frames of two clips correspond, how one must be "
            "turned and placed to stand where the other stands, and which footplants match.",
        )
        tour.chart(
            "turns-grid.png", draw_grid(curve),
            "Distance between all frames (dark is similar), and the path through them.",
        )  # fmt: skip
        tour.chart(
            "turns-plants.png", draw_constraints(curve, weights=[0.5, 0.5]),
            "Footplants that match, and those of the blend.",
        )  # fmt: skip
        tour.chart(
            "turns-paths.png", draw_root_paths(curve, tour.results["middle"], linear=[0.5, 0.5]),
            "Paths over the ground. A plain average of the frames (red) falls short.",
        )  # fmt: skip

    def steer() -> None:
        curve = tour.results["curve"]

        def weights(second: float) -> list[float]:
            of_left = min(max(1.5 - 0.5 * second, 0.0), 1.0)
            return [of_left, 1.0 - of_left]

        steered = ml.blend(curve, weights)
        ml.save(steered.motion, tour.wrote("steered.bvh"))
        tour.report.section(
            "Weights over time", "The same curve with weights that change from left to right."
        )
        tour.play(steered, "steered")
        tour.report.code("motionloom blend left.bvh right.bvh -w steer.csv -o steered.bvh")
        tour.chart("steered.png", draw_steering(curve, steered), "The path, and the weights.")

    return [register, steer]


def splicing_explained(tour: Tour) -> list[Step]:
    """Timing and posture of a splice, and one arm alone."""

    def explain() -> None:
        upper, lower, spliced = tour.results["carry"]
        rates = np.diff(spliced.timewarp.frames)
        tour.report.section(
            "How splicing works",
            "The action is matched to the steps of the legs (played at "
            f"{rates.min():.2f} to {rates.max():.2f} times its rate), the torso sways and twists "
            "with the turning walk, and the posture is the carrier's.",
        )
        naive = ml.splice(upper, lower, method="naive").motion
        tour.chart(
            "carry-on-turn.png",
            draw_splice(upper, lower, spliced, moments=9, others={"joints copied": naive}),
            "Each column is one moment, seen from the same side of the hips.",
        )
        tour.chart(
            "carry-times.png", draw_splice_times(spliced, names=("carry", "turn")),
            "Which moment of the action goes with which moment of the legs; dark is similar.",
        )  # fmt: skip
        without = ml.splice(upper, lower, method="time+space")
        tour.chart(
            "carry-posture.png", draw_postures(spliced, without),
            "The carrier's posture (dark), and the walker's, which the splice replaces (blue).",
        )  # fmt: skip

    def wave() -> None:
        upper = tour.clip("wave").motion.replace(name="wave")
        lower = tour.clip("jog").motion.replace(name="jog")
        plants = tour.clip("jog").footplants
        spliced = ml.splice(upper, lower, where="right_arm", footplants=plants)
        ml.save(spliced.motion, tour.wrote("wave-on-jog.bvh"))
        tour.report.section(
            "One arm alone: waving on a jog",
            "A standing person who waves has no steps to match, so the arm keeps its timing. "
            f"Notes of the result: {'; '.join(spliced.notes)}.",
        )
        tour.play(spliced, "wave on jog")
        tour.report.code(
            "motionloom splice --upper wave.bvh --lower jog.bvh --where right_arm "
            "-o wave-on-jog.bvh"
        )
        tour.chart(
            "wave-on-jog.png", draw_splice(upper, lower, spliced, where="right_arm"),
            "One arm of the wave; everything else is the jog.",
        )  # fmt: skip

    return [explain, wave]


def tables_explained(tour: Tour) -> list[Step]:
    """Transitions by the table, drawn and scored."""

    def join() -> None:
        table = tour.results["table"]
        facts = table.info()
        tour.report.section(
            "How tables work: from any frame to any other",
            f"{facts['clips']} clips, {facts['frames']} frames, are one collection. Their windows "
            f"are sorted into {facts['clusters']} clusters, and all blends of two, three and four "
            "representatives were tried. The table stores the best between every two clusters "
            f"({facts['bytes'] / 1e3:.0f} kB). A transition then takes a few milliseconds.",
        )
        tour.report.code(
            f"motionloom table build transitions/clips -o transitions/clips.mlt "
            f"--clusters {CLUSTERS} --lookup {CLUSTERS}\n"
            "motionloom table info transitions/clips.mlt\n"
            "motionloom table synthesize transitions/clips.mlt walk:60 run:160 "
            "-o walk-to-run-by-table.bvh"
        )
        around = {"lead_s": AROUND_S, "follow_s": AROUND_S}
        joins = tour.results["joins"] = {
            "walk to run": table.transition(("walk", 60), ("run", 160), **around),
            "punch to sneak": table.transition(("punch", 100), label="sneak", **around),
            "run to stand": table.transition(("run", 100), label="stand", **around),
        }
        rows = []
        for name, each in joins.items():
            for suffix in (".bvh", ".glb"):
                ml.save(each.motion, tour.wrote(name.replace(" ", "-") + "-by-table" + suffix))
            check = "passed" if each.verification.passed else "failed"
            cost, natural = f"{each.score.total:.1f} in", f"{each.score.naturalness:.2f}"
            rows.append([name, str(each.recipe.n_ways), cost, natural, check])
        tour.report.table(["transition", "windows", "papers' sum", "naturalness", "check"], rows)

    def show() -> None:
        joins = tour.results["joins"]
        tour.report.player(
            [
                pack_clip(each.motion, footplants=each.footplants, name=name)
                for name, each in joins.items()
            ]
        )
        tour.chart(
            "walk-to-run-by-table.png", draw_transition(joins["walk to run"]),
            "A second between two black lines: the share of every clip, and when feet stand.",
        )  # fmt: skip
        others = [way_of_table(joins[name], name) for name in ("punch to sneak", "run to stand")]
        stop = joins["run to stand"].score.naturalness
        tour.chart(
            "transitions-by-table.png", draw_ways(others, title="To a label"),
            "Amber is the first clip, blue the last; other clips have other colours. No clip of "
            "this collection is of a run that stops: the stop made here has a naturalness of "
            f"{stop:.2f}, and natural begins at 0.5.",
        )  # fmt: skip

    return [join, show]


def embedded_clips(tour: Tour) -> list[Step]:
    """Every embedded clip: shown, drawn, written as BVH and GLB."""
    kinds = ml.synthetic.kinds()

    def write(kind: str) -> None:
        for suffix in (".bvh", ".glb"):
            ml.save(tour.clip(kind).motion, tour.wrote(kind + suffix))

    def show() -> None:
        tour.report.section(
            "The clips",
            "Planned footstep by footstep, with exact footplants. Choose a clip or show them all; "
            "drag to orbit, wheel to zoom, shift and drag to pan; space plays, arrows step, J K L "
            "set the playback rate. Green marks are planted heels and toes.",
        )
        clips = {kind: tour.clip(kind) for kind in kinds}
        tour.report.player(
            [
                pack_clip(clip.motion, footplants=clip.footplants, name=kind)
                for kind, clip in clips.items()
            ]
        )
        rows = []
        for kind, clip in clips.items():
            quality = ml.measure_quality(clip.motion, clip.footplants)
            plants = sum(len(spans) for spans in clip.footplants.intervals().values())
            speed = f"{100 * (quality.contact_speed_mean or 0.0):.2f} cm/s"
            length = f"{clip.motion.duration_s:.2f} s"
            rows.append([kind, length, str(plants), speed, f"{kind}.bvh, {kind}.glb"])
        tour.report.table(["clip", "length", "plants", "speed while planted", "files"], rows)

    def draw(kind: str) -> None:
        clip = tour.clip(kind)
        tour.picture(
            f"{kind}.png",
            lambda stream: save_strip(
                clip.motion, stream, footplants=clip.footplants, size=(1400, 420)
            ),
            f"{kind}: motionloom render {kind}.bvh -o {kind}.png",
        )

    return [*(partial(write, kind) for kind in kinds), show, *(partial(draw, k) for k in kinds)]


def feet(tour: Tour) -> list[Step]:
    """Detected footplants compared with the exact ones, and a film."""

    def draw() -> None:
        walk = tour.clip("walk")
        plants = ml.detect_footplants(walk.motion)
        same = float((plants.planted == walk.footplants.planted).mean())
        tour.report.section(
            "Feet",
            "When does each heel and toe stand still? These are detected in the walk and agree "
            f"with the exact footplants in {100 * same:.1f} % of frames and points.",
        )
        tour.picture(
            "walk-feet.png",
            lambda stream: save_tracks(walk.motion, stream, footplants=plants, size=(1400, 620)),
            "Speed (line) and height (dots) of heels and toes; planted stretches in green.",
        )

    def film() -> None:
        walk = tour.clip("walk")
        save_film(walk.motion, tour.wrote("walk.gif"), footplants=walk.footplants)
        tour.report.code("motionloom render walk.bvh -o walk.gif --view three-quarter")

    return [draw, film]


def there_and_back(tour: Tour) -> list[Step]:
    """The written files read again, and how far any joint is from where it was."""

    def compare() -> None:
        rows = []
        for kind in ml.synthetic.kinds():
            motion = tour.clip(kind).motion
            before, cells = motion.world_positions(), [kind]
            for suffix in (".bvh", ".glb"):
                again = ml.load(tour.folder / (kind + suffix))
                # A file may store the joints in another order, so they are compared by name.
                order = [again.skeleton.index(name) for name in motion.skeleton.names]
                after = again.world_positions()[:, order]
                apart = float(np.linalg.norm(after - before, axis=-1).max())
                cells.append(f"{1e6 * apart:.2f} µm")
            rows.append(cells)
        tour.report.section(
            "Written and read again",
            "The files of the clips, loaded without options: unit, axes and rate are detected. "
            "The largest distance of any joint from where it was:",
        )
        tour.report.table(["clip", "BVH", "GLB"], rows)

    return [compare]


def next_steps(tour: Tour) -> list[Step]:
    """What to type next."""

    def show() -> None:
        tour.report.section("Your clips")
        tour.report.code(
            "motionloom info walk.bvh\n"
            "motionloom check my-clips/\n"
            "motionloom convert my-clips/ out/ --to glb\n"
            "motionloom render walk.bvh -o walk.html\n"
            "motionloom transition walk.bvh jog.bvh -o walk-to-jog.bvh\n"
            "motionloom splice --upper carry.bvh --lower walk.bvh -o carry-on-walk.bvh\n"
            "motionloom clean walk.bvh -o walk-clean.bvh\n"
            "motionloom table build my-clips/ -o my-clips.mlt"
        )
        tour.report.code(
            "import motionloom as ml\n"
            'walk = ml.load("walk.bvh")\n'
            "plants = ml.detect_footplants(walk)\n"
            "ml.view(walk, footplants=plants)"
        )

    return [show]


CHAPTERS: tuple[Chapter, ...] = (
    blends,
    splices,
    live_character,
    blending_explained,
    splicing_explained,
    tables_explained,
    embedded_clips,
    feet,
    there_and_back,
    next_steps,
)
