"""Draw the pictures of studies/reports/tables-on-real-clips.md.

    python docs/pictures/transition_tables.py [MOCAP_FOLDER] [SCENE...]

Scenes are functions below; all are drawn where none is named. Without a motion-capture folder (see
CONTRIBUTING) they are drawn from embedded clips. Films go to docs/film, where collections and
tables are kept too; they are built once: delete them to draw what other code makes.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from places import ROOT, STORED, picture
from showcases import table_of as table_of_performer

import motionloom as ml
from motionloom.drawing.canvas import save_canvas
from motionloom.drawing.film import set_stage
from motionloom.drawing.transition_pictures import (
    Way,
    draw_transition,
    draw_ways,
    way_of_table,
    way_on_graph,
)
from motionloom.tables.evaluation.trials import random_places
from motionloom.tables.index.clusters import find_clusters
from motionloom.tables.score.columns import PAPER
from motionloom.tables.transition_search import assembled
from studies.baselines.hmm import HmmEnsemble
from studies.baselines.hmm_recipes import hmm_terms, score_recipes
from studies.baselines.limb_groups import body_parts
from studies.pictures.cluster_sheet import draw_clusters

"""Films, and the collection and table, are made next to the pages and are not kept with them."""
MOCAP = Path(os.environ.get("MOTIONLOOM_MOCAP", ROOT.parent / "shared" / "mocap"))

LABELS = {
    "143_32": ("walk", 60, 240),
    "143_38": ("walk", 100, 1200),
    "143_42": ("run", 165, 220),
    "143_04": ("run", 230, 900),
    "143_41": ("sneak", 120, 1100),
    "143_23": ("punch", 40, 780),
    "143_24": ("kick", 100, 900),
    "143_25": ("wave", 60, 600),
}
"""Clips, and the frames in which they do what the label says."""
JOINS: dict[str, tuple[tuple[str, int], tuple[str, int]]] = {
    "walk_to_carry": (("143_32", 560), ("143_11", 400)),
}
"""From a frame to a frame of the collection, T-poses left out."""
SEARCHED_ON: dict[str, tuple[tuple[str, int], tuple[str, int]]] = {
    "run in an eight to washing a window": (("143_04", 628), ("143_26", 557)),
    "airplane to walking backwards": (("143_36", 166), ("143_39", 135)),
    "walk to chicken dance": (("143_38", 1067), ("143_34", 123)),
    "step over to walking sideways": (("143_16", 125), ("143_40", 748)),
}
"""Pairs of the reach study that are joined only by searching on."""
EMBEDDED = ("walk", "jog", "run", "sneak", "stand", "sidestep", "carry", "punch", "wave", "turn")
EMBEDDED_JOINS: dict[str, tuple[tuple[str, int], tuple[str, int]]] = {
    "walk_to_run": (("walk", 60), ("run", 160)),
    "run_to_stand": (("run", 60), ("stand", 160)),
    "walk_to_carry": (("walk", 60), ("carry", 160)),
    "punch_to_sneak": (("punch", 100), ("sneak", 150)),
}
AROUND_S = 0.6
"""Seconds shown before and after a transition."""
DRAWN = 300
"""Random pairs among which the best and the worst are looked for."""
PERFORMERS = ("69", "113", "127")
"""Whose random pairs are shown too; their tables are those of the showcases."""
MOVING_M = 0.4
"""Metres over the ground within a window, from which on somebody is on the way."""
GRAPH_CM = 8.0
FILM_SIZE, FILM_FPS = (360, 320), 20
"""Pixels of one figure's part of a film, and its rate."""


CLUSTERS = {"143": 50, "embedded": 8}


def real() -> bool:
    """Whether there are captured clips."""
    return (MOCAP / "cmu_bvh" / "143_01.bvh").is_file()


def here() -> str:
    """Which collection pictures are drawn from."""
    return "143" if real() else "embedded"


def joins_of(which: str) -> dict[str, tuple[tuple[str, int], tuple[str, int]]]:
    """Pairs of frames of a collection."""
    return JOINS if which == "143" else EMBEDDED_JOINS


def table() -> ml.TransitionTable:
    """The table of CMU subject 143 at its true rate, or one of embedded clips."""
    return table_of(here())


@cache
def table_of(which: str) -> ml.TransitionTable:
    """A table, built once."""
    out = STORED / f"tables_{which}.mlt"
    lib = collection(which, STORED / f"tables_{which}.mlc")
    if out.is_file():
        try:
            return ml.TransitionTable.open(out, collection=lib)
        except ml.TableError as why:
            print(f"built again: {why}", flush=True)
    return ml.build_table(lib, out=out, clusters=CLUSTERS[which])


def collection(which: str, out: Path) -> ml.Collection:
    """The clips, by a folder of links to them."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made) / "clips"
        folder.mkdir()
        if which == "143":
            for path in sorted((MOCAP / "cmu_bvh").glob("143_*.bvh")):
                (folder / path.name).symlink_to(path.resolve())
        else:
            for kind in EMBEDDED:
                ml.save(ml.synthetic.clip(kind).motion, folder / f"{kind}.bvh")
        lib = ml.Collection.ingest(folder, out=out, fps=60, source_fps={"143_*": 60})
        if which == "143":
            for clip, (label, *frames) in LABELS.items():
                lib.annotate(clip, label, frames=(frames[0], frames[1]))
        else:
            for kind in EMBEDDED:
                lib.annotate(kind, kind)
        print(lib.report, flush=True)
        return lib


@cache
def graph_of(which: str) -> ml.MotionGraph:
    """The motion graph of the same collection."""
    return ml.MotionGraph.build(table_of(which).frames, threshold_cm=GRAPH_CM)


@cache
def models_of(which: str) -> HmmEnsemble:
    """A hidden Markov model of the whole body, fitted to the same collection."""
    frames = table_of(which).frames
    body = {"body": body_parts(frames.skeleton, frames.body_map)["body"]}
    return HmmEnsemble.fit_frames(frames, table_of(which).length, parts=body)


def all_recipes(which: str, source: int, target: int) -> list[tuple[int, ...]]:
    """First rows of the windows of every recipe over the table's medoids."""
    between = [int(row) for row in table_of(which).medoids]
    two, three = [(source, target)], [(source, a, target) for a in between]
    return two + three + [(source, a, b, target) for a in between for b in between]


def taken(which: str, recipe: tuple[int, ...]) -> ml.TableTransition:
    """A given recipe made as the table makes its own."""
    at = table_of(which).query_engine
    return assembled(at, at.synthesize_best(at.score([recipe])), (AROUND_S, AROUND_S), ())


def choice_of_paper(which: str, recipes: list[tuple[int, ...]]) -> tuple[int, ...]:
    """The recipe with the least of the papers' sum."""
    judged = table_of(which).query_engine.score(recipes)
    best = int(np.argmin(PAPER.cost(judged.columns)))
    return tuple(int(row) for row in judged.rows[best] if row >= 0)


def choice_of_hmm(which: str, recipes: list[tuple[int, ...]]) -> tuple[int, ...]:
    """The recipe that the model of the whole body finds most likely."""
    rows = sorted({row for recipe in recipes for row in recipe})
    at = {row: k for k, row in enumerate(rows)}
    asked = table_of(which)
    terms = hmm_terms(models_of(which), asked.frames, rows, asked.length)
    likely: list[tuple[float, tuple[int, ...]]] = []
    for ways in (2, 3, 4):
        some = [recipe for recipe in recipes if len(recipe) == ways]
        scores = score_recipes(terms, [[at[row] for row in recipe] for recipe in some],
                               family=asked.family)  # fmt: skip
        best = int(np.argmax(scores))
        likely.append((float(scores[best]), some[best]))
    return max(likely)[1]


def keep(canvas: Any, name: str) -> None:
    """A picture into the folder, in 256 colours: it is flat, and half the size so."""
    stream = io.BytesIO()
    save_canvas(canvas, stream, "png")
    squeeze(stream, name)


def squeeze(source: io.BytesIO | Path, name: str) -> None:
    """A drawn picture into the folder."""
    image = Image.open(source).convert("RGB").quantize(256, method=Image.Quantize.FASTOCTREE)
    image.save(picture(f"tables_{name}.png"), optimize=True)


def report(scene: str, made: ml.TableTransition) -> None:
    """One line of figures of a transition."""
    gate = ml.verify(made.motion, sources=made.sources())
    score = made.score
    places = [":".join(map(str, made.frames.place_of(row))) for row in made.recipe.rows]
    print(
        f"{scene}: {' + '.join(places)}; naturalness {score.naturalness:.3f}, sum "
        f"{score.total:.1f} in, foot {score.foot_plant or 0.0:.1f}, zmp {score.zmp or 0.0:.1f}, "
        f"feet moved {100 * made.foot_error:.1f} cm, check {'passed' if gate.passed else 'FAILED'}"
        f"{'; ' + '; '.join(made.notes) if made.notes else ''}",
        flush=True,
    )


def clusters() -> None:
    """Every kind of second in the collection."""
    frames = collection(here(), STORED / f"tables_{here()}.mlc").frames
    found = find_clusters(frames, length=round(frames.fps), clusters=CLUSTERS[here()], stride=5)
    keep(draw_clusters(frames, found, title="Clusters of CMU subject 143"), "clusters")


@cache
def rows_of(name: str, which: str) -> list[Way]:
    """The table's choice for one of the pairs, and the others'."""
    source, target = joins_of(which)[name]
    made = table_of(which).transition(source, target, lead_s=AROUND_S, follow_s=AROUND_S)
    report(name, made)
    recipes = all_recipes(which, made.recipe.rows[0], made.recipe.rows[-1])
    by_paper = taken(which, choice_of_paper(which, recipes))
    by_hmm = taken(which, choice_of_hmm(which, recipes))
    report("    least sum of the papers", by_paper)
    report("    most likely by HMM", by_hmm)
    on_graph = graph_row(which, source, target)
    return [
        way_of_table(made, "table"),
        way_of_table(by_paper, "least sum of the papers, of all recipes"),
        way_of_table(by_hmm, "most likely by the HMM, of all recipes"),
        *([] if on_graph is None else [on_graph]),
    ]


def searched_on() -> None:
    """Transitions that are found where the first candidates are not natural or fail their check."""
    if not real():
        return
    rows = []
    for name, (source, target) in SEARCHED_ON.items():
        made = table().transition(source, target, lead_s=0.3, follow_s=0.3)
        report(name, made)
        rows.append(way_of_table(made, name))
    keep(draw_ways(rows, size=(1200, 190), title="Found by searching on"), "searched_on")


def embedded() -> None:
    """The same of clips that come with the package, which stand exactly."""
    rows: list[Way] = []
    for name in EMBEDDED_JOINS:
        ways = rows_of(name, "embedded")
        film(ways, f"embedded_{name}")
        title = name.replace("_", " ")
        rows += [replace(way, name=f"{title}: {way.name}") for k, way in enumerate(ways) if k != 1]
    keep(draw_ways(rows, size=(1200, 150), title="Embedded clips"), "embedded")


def graph_row(which: str, source: tuple[str, int], target: tuple[str, int]) -> Way | None:
    """The motion graph's shortest way between the same frames."""
    try:
        walk = graph_of(which).synthesize(graph_of(which).path(source, target))
    except ml.TableError as why:
        print(f"    graph: {why}", flush=True)
        return None
    print(f"    graph: {walk.motion.duration_s:.2f} s, {len(walk.spans)} changes", flush=True)
    return way_on_graph(walk, f"motion graph at {GRAPH_CM:g} cm")


def film(ways: list[Way], name: str) -> None:
    """Ways side by side as a film, each held at its end until the longest is over."""
    stages = [set_stage(way.motion, footplants=way.footplants, size=FILM_SIZE) for way in ways]
    seconds = max(way.motion.duration_s for way in ways)
    pictures = []
    for second in np.arange(0.0, seconds + 0.4, 1.0 / FILM_FPS):
        frame = Image.new("RGB", (FILM_SIZE[0] * len(ways), FILM_SIZE[1]))
        for k, (way, stage) in enumerate(zip(ways, stages, strict=True)):
            at = min(second * way.motion.fps, way.motion.n_frames - 1.0)
            frame.paste(stage.picture(at), (k * FILM_SIZE[0], 0))
        pictures.append(frame.quantize(64))
    pictures[0].save(STORED / f"tables_{name}.gif", save_all=True, append_images=pictures[1:],
                     duration=round(1000 / FILM_FPS), loop=0)  # fmt: skip


def recipe() -> None:
    """One transition with its windows and plants."""
    name = "walk_to_carry" if real() else "walk_to_run"
    source, target = joins_of(here())[name]
    made = table().transition(source, target, lead_s=AROUND_S, follow_s=AROUND_S)
    keep(draw_transition(made, title=name.replace("_", " ")), "recipe")


def moves(made: ml.TableTransition) -> bool:
    """Whether somebody is on the way where a transition leaves and where it arrives."""
    frames, length = made.frames, made.recipe.length
    ends = made.recipe.rows[0], made.recipe.rows[-1]
    ways = [frames.ground[row + length - 1] - frames.ground[row] for row in ends]
    return min(float(np.linalg.norm(way)) for way in ways) > MOVING_M


def best_and_worst() -> None:
    """Of random pairs those that naturalness puts last, and of those that move those put first."""
    made = random_transitions(table())
    likely = np.array([each.score.naturalness for each in made])
    order = np.argsort(-likely)
    share = 100 * np.mean([each.score.natural for each in made])
    spread = np.percentile(likely, (10, 50, 90)).round(3)
    print(f"naturalness of {DRAWN} random pairs: {spread}; natural {share:.0f} %", flush=True)
    moving = [k for k in order if moves(made[k])]
    share = 100 * np.mean([made[k].score.natural for k in moving])
    print(f"{len(moving)} of them move at both ends; natural {share:.0f} %", flush=True)
    for name, chosen in (("best", moving[:4]), ("worst", order[-4:])):
        rows = []
        for k in chosen:
            report(name, made[k])
            rows.append(way_of_table(made[k], made[k].motion.name))
        film(rows, name)
        which = f"{name}{' that move' * (name == 'best')}"
        keep(draw_ways(rows, title=f"The {which} of {DRAWN} random pairs"), name)


def performers() -> None:
    """The middle and the last of random pairs of other performers, as naturalness orders them."""
    if not real():
        return
    rows = []
    for name in PERFORMERS:
        made = random_transitions(table_of_performer(name))
        order = np.argsort([-each.score.naturalness for each in made])
        natural = sum(bool(each.score.natural) for each in made)
        passed = sum(not each.failed for each in made)
        print(f"{name}: {natural} of {DRAWN} natural, {passed} pass the check", flush=True)
        for which, k in (("the middle", order[DRAWN // 2]), ("the last", order[-1])):
            report(f"{name}, {which}", made[k])
            rows.append(way_of_table(made[k], f"{which} of {name}: {made[k].motion.name}"))
    keep(draw_ways(rows, size=(1200, 150), title=f"Of {DRAWN} random pairs each"), "performers")


def random_transitions(asked: ml.TransitionTable) -> list[ml.TableTransition]:
    """Transitions between random frames of a table's collection."""
    pairs = random_places(asked, DRAWN, seed=7)
    return [asked.transition(*pair, lead_s=AROUND_S, follow_s=AROUND_S) for pair in pairs]


def live() -> None:
    """A character that goes to labels, and one that changes its mind on the way."""
    patient = played({60: "run", 160: "sneak", 280: "punch"}, 400)
    hasty = played({20: "run", 45: "sneak", 75: "walk"}, 150)
    rows = [Way(name, *made) for name, made in (("live", patient), ("changes its mind", hasty))]
    keep(draw_ways(rows, moments=18, size=(1400, 170)), "stream")
    film(rows, "stream")


def played(orders: dict[int, str], count: int) -> tuple[ml.Motion, str, ml.Footplants]:
    """What a live character does that is sent to labels; when, in words; its plants."""
    stream = table().stream(("143_32" if real() else "walk", 100))
    poses = []
    for frame in range(count):
        if frame in orders:
            stream.go(label=orders[frame])
        poses.append(stream.step())
    motion = ml.Motion(
        table().frames.skeleton, np.array([pose.root_position for pose in poses]),
        np.array([pose.local_quats for pose in poses]), table().frames.fps,
    )  # fmt: skip
    sent = "; ".join(f"{frame / motion.fps:.1f} s: {label}" for frame, label in orders.items())
    return motion, f"sent at {sent}", ml.Footplants(np.array([pose.planted for pose in poses]))


def evaluation() -> None:
    """The curves of captured truth, as the study draws them: minutes."""
    with tempfile.TemporaryDirectory() as drawn:
        module = "studies.tables.transitions_natural"
        subprocess.run([sys.executable, "-m", module, "--pictures", drawn], check=True)
        squeeze(Path(drawn) / "roc_p3.png", "roc_p3")


SCENES: tuple[Callable[[], None], ...] = (
    clusters,
    recipe,
    searched_on,
    embedded,
    best_and_worst,
    performers,
    live,
    evaluation,
)


def main(arguments: list[str]) -> None:
    """Draw the scenes named, or all."""
    global MOCAP
    warnings.simplefilter("ignore", UserWarning)
    if arguments and Path(arguments[0]).is_dir():
        MOCAP = Path(arguments.pop(0))
    STORED.mkdir(exist_ok=True)
    for scene in SCENES:
        if scene.__name__ in arguments or (not arguments and (real() or scene is not evaluation)):
            scene()


if __name__ == "__main__":
    main(sys.argv[1:])
