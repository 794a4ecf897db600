"""Can classifiers tell splices of action and walk apart from the captured takes of both?

Splices and takes are those of ``splicing_apart``. The captured class holds the takes of the actions
and the walks, each through the same steps (a clip spliced onto itself is that clip, repaired), so
that neither legs nor arms alone give a splice away, only what does not go together. Performers that
classifiers are asked about are never trained on.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import motionloom as ml
from studies.captured_clips import Protocol, protocol
from studies.measures.told_apart import ToldApart, auc_of, windows_of_motion
from studies.report import Figure
from studies.splicing.gait_phase import Method
from studies.splicing.splicing_apart import part

METHODS: tuple[Method, ...] = ("naive", "full")


@dataclass
class Windows:
    """Seconds of motion, the sets and the performers that they are of."""

    motions: list[ml.Motion] = field(default_factory=list)
    sets: list[str] = field(default_factory=list)
    performers: list[str] = field(default_factory=list)

    def add(self, motion: ml.Motion, plan: Protocol) -> None:
        """The seconds of a motion."""
        cut = windows_of_motion(motion)
        self.motions += cut
        self.sets += [f"{plan['who']}, {plan['kind']}"] * len(cut)
        self.performers += [plan["who"]] * len(cut)


def classifier_figures(folder: Path) -> list[Figure]:
    """Areas under the curve of splices, next to those of copied joints."""
    sets = protocol("splicing_apart")["sets"]
    captured, spliced = Windows(), {method: Windows() for method in METHODS}
    for plan in sets:
        if plan.get("stands"):
            continue
        truth = plan["upper"] if plan["truth"] == "upper" else plan["truth"]
        takes = {tuple(take) for take in (*plan["upper"], *plan["lower"], *truth)}
        for take in sorted(takes):
            clip = part(folder, *take)
            captured.add(ml.splice(clip, clip).motion, plan)
        for take in plan["upper"]:
            for walk in plan["lower"]:
                if take == walk:
                    continue
                for method, windows in spliced.items():
                    pair = part(folder, *take), part(folder, *walk)
                    windows.add(ml.splice(*pair, method=method).motion, plan)
    areas = {method: _told_apart(captured, windows) for method, windows in spliced.items()}
    return [_figure(areas["full"], areas["naive"])]


def _told_apart(captured: Windows, spliced: Windows) -> ToldApart:
    shared = set(spliced.sets) & set(captured.sets)
    some = [k for k, name in enumerate(captured.sets) if name in shared]
    return auc_of(
        [captured.motions[k] for k in some],
        spliced.motions,
        [captured.sets[k] for k in some],
        synthesized_groups=spliced.sets,
        folds=[captured.performers[k] for k in some],
    )


def _figure(full: ToldApart, naive: ToldApart) -> Figure:
    return Figure(
        "apart: splices distinguished from captured takes",
        full.auc,
        "AUC",
        "copied joints",
        naive.auc,
        lower_is_better=True,
        note=f"[{full.low:.2f}, {full.high:.2f}], copied joints [{naive.low:.2f}, "
        f"{naive.high:.2f}]; {len(full.groups[0])} captured windows, {len(full.groups[1])} of "
        f"splices; single features: {'; '.join(str(clue) for clue in full.clues[:2])}",
    )
