"""Seconds cut out of captured clips, made again, and compared with what was captured.

    ./study transitions inbetween [--windows N]

The whole take and its sister takes are left out of the collection. Windows, halves of the takes and
sisters stand in ``protocols/transitions_inbetween.json``; settings were chosen on the tuning takes.
Figures of the other takes of 143, too, were looked at while methods were developed (some twenty
times, the transition windows most often), so they are not blind; those of subject 69 were measured
for the first time when all was settled.
The trial that the goals were set by left out the take alone (its own figures, with the same windows
but other joints: 2-way 7.3 / 4.1, 3-way with nearest 6.9 / 3.9, interpolation 8.0 / 8.7 cm, toes 32
to 57 / 20 to 56 cm/s); that is measured too. Bounds are over takes.
"""

from __future__ import annotations

import argparse
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from studies.captured_clips import over_takes, study_settings
from studies.report import Figure, write_report
from studies.tables.inbetween_methods import METHODS, Bench, Made, queries
from studies.tables.natural_candidates import GAPS, frames_of_subject

ERROR_GOALS = {"report": 6.5, "all": 6.5, "transitions": 3.7}
TOES_GOAL = 20.0
BASELINES = (
    "2-way",
    "nearest window",
    "nearest window, ends met",
    "interpolation",
    "inertialization",
)
SETS = (
    ("143", "report", "sisters"),
    ("143", "transitions", "sisters"),
    ("143", "all", "sisters"),
    ("143", "report", "take"),
    ("143", "transitions", "take"),
    ("143", "all", "take"),
    ("69", "report", "sisters"),
    ("69", "report", "take"),
)
WORDS = {
    "report": "random windows of takes not tuned on",
    "transitions": "windows of transition takes",
    "all": "random windows of all takes",
    "sisters": "take and sisters left out",
    "take": "take left out",
}


def figures_of(
    key: tuple[str, str, str], answered: list[dict[str, Made]], takes: np.ndarray
) -> list[Figure]:
    subject, windows, leave = key
    label = f"CMU {subject}, {WORDS[windows]}, {WORDS[leave]}"
    errors = {m: np.array([answer[m].error for answer in answered]) for m in METHODS}
    toes = {m: np.array([answer[m].toes for answer in answered]) for m in (*METHODS, "captured")}
    goal = ERROR_GOALS[windows] if subject == "143" else None
    figures = []
    for method in METHODS:
        low, high = over_takes(errors[method], takes)
        root = np.mean([answer[method].root for answer in answered])
        figures.append(
            Figure(
                f"{label}: joint error, {method}",
                float(errors[method].mean()),
                "cm",
                lower_is_better=True,
                value_goal=goal if method == "fill" else None,
                note=f"[{low:.2f}, {high:.2f}] over {len(np.unique(takes))} takes, "
                f"{len(answered)} windows; median {np.median(errors[method]):.2f}; root {root:.1f}",
            )
        )
    figures += [
        Figure(
            f"{label}: speed of low toes, {method}",
            float(np.nanmean(toes[method])),
            "cm/s",
            lower_is_better=True,
            value_goal=TOES_GOAL if method == "fill" else None,
        )
        for method in (*METHODS, "captured")
    ]
    for baseline in BASELINES:
        less = errors["fill"] - errors[baseline]
        low, high = over_takes(less, takes)
        figures.append(
            Figure(
                f"{label}: error of fill less that of {baseline}",
                float(less.mean()),
                "cm",
                lower_is_better=True,
                value_goal=0.0,
                note=f"[{low:+.2f}, {high:+.2f}] over takes; nearer in {np.mean(less < 0):.0%}; "
                f"ratio {errors['fill'].mean() / errors[baseline].mean():.2f}",
            )
        )
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--windows", type=int, help="of each set; all by default")
    count = parser.parse_args().windows
    folder, _ = study_settings(GAPS)
    figures: list[Figure] = []
    for subject in dict.fromkeys(subject for subject, *_ in SETS):
        bench = Bench(frames_of_subject(folder, subject))
        for key in (key for key in SETS if key[0] == subject):
            asked = queries(bench.frames, subject, key[1], count, leave=key[2])
            answered = [bench.made(query) for _, query in asked]
            figures += figures_of(key, answered, np.array([take for take, _ in asked]))
    about = {"windows": count or "all", "protocol": f"{GAPS}.json"}
    name = "transitions_inbetween" + ("" if count is None else "_quick")
    write_report(name, figures, about=about)


if __name__ == "__main__":
    main()
