"""Can results be trusted? Fresh cases, judged from joint positions by a check that is frozen.

    ./study trust [--only KIND] [--count N] [--seed N] [--cases FILE] [--pictures FOLDER]
    ./study trust --sheet FOLDER       40 results as strips, for verdicts
    ./study trust --measure [--half N] [--count N]   what the check finds on captured clips

Cases are drawn with a seed of the commit's hash, which is printed and stored; ``--seed`` draws
those of another run again. Every case is a line of ``results/trust_cases.jsonl``: a run that was
stopped goes on where it was. For every result one of its clips is turned, warped and judged too,
so that alarms on results can be compared with alarms on captured motion; on transitions also a
plain cross-fade and inertialization at the same place. Every alarm on a result that motionloom
passes is drawn.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import json
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import motionloom as ml
from studies.report import machine
from studies.trust.copies import copies_of
from studies.trust.damage import warped
from studies.trust.draw import COUNTS, Case, commit, drawn, seed_of
from studies.trust.independent import Alarm, Body, Origin, judge
from studies.trust.live import minute
from studies.trust.made import MAKERS, Made, cached_body, crossfade, inertialized
from studies.trust.measure import captured_names, half_of, measure, text_of
from studies.trust.sheet import save_alarm, write_sheet
from studies.trust.summary import summary, table_text

RESULTS = Path(__file__).resolve().parents[1] / "results"
CASES = RESULTS / "trust_cases.jsonl"
BASELINES = {"cross-fade": crossfade, "inertialization": inertialized}


def run_case(kind: str, number: int, case: Case, seed: int, pictures: Path | None) -> Case:
    """Make one result, judge it, and say all that became of it."""
    line: Case = {"kind": kind, "number": number, "case": case}
    started = time.process_time()
    try:
        if kind == "live":
            return line | minute(case)
        made = MAKERS[kind](case)
    except ml.MotionLoomError as error:
        return line | {"refusal": str(error), "passed": False}
    except Exception as error:  # a crash is a failure of the case, not of the study
        return line | {"refusal": f"{type(error).__name__}: {error}", "crash": True,
                       "passed": False}  # fmt: skip
    line["seconds"] = round(time.process_time() - started, 2)
    body, origins = made.judged()
    alarms = judge(body, origins)
    line |= {
        "passed": made.passed, "failed": made.failed,
        "kept": [round(share, 3) for share in made.kept],
        "map": "provenance" if made.provenance is not None else "fields",
        "alarms": [told(alarm) for alarm in alarms],
        "captured": [told(alarm) for alarm in captured_alike(made, seed, number)],
    }  # fmt: skip
    copies = copies_of(made)
    if copies is not None:
        line["copies"] = copies._asdict() | {"sound": copies.sound}
    if kind == "transitions":
        line["baselines"] = {
            name: [told(alarm) for alarm in judge(*make(made).judged())]
            for name, make in BASELINES.items()
        }
    if pictures is not None and alarms and made.passed:
        save_alarm(made, f"{kind}_{number:03d}", alarms, pictures)
    return line


def told(alarm: Alarm) -> dict[str, Any]:
    return alarm._asdict() | {"value": round(alarm.value, 4), "limit": round(alarm.limit, 4)}


def captured_alike(made: Made, seed: int, number: int) -> list[Alarm]:
    """Alarms on one of the result's clips, turned, warped and sampled anew."""
    rng = np.random.default_rng([seed, 99, number])
    source = made.sources[made.told[int(rng.integers(len(made.told)))][0]]
    body = cached_body(source)
    points, seconds = warped(body.points, body.fps, rng)
    return judge(Body(points, 30.0), [Origin(body, seconds)])


def told_again(file: Path, seed: int | None) -> tuple[dict[str, Any], list[Case]]:
    """What a run that was stopped has written: its first line, and its cases."""
    if not file.exists():
        return {}, []
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    about, cases = lines[0], lines[1:]
    fits = about["seed"] == seed if seed is not None else about["commit"] == commit()
    return (about, cases) if fits else ({}, [])


def run(options: argparse.Namespace) -> list[Case]:
    """All cases that are asked for; those in the file are not made again."""
    file = Path(options.cases)
    about, cases = told_again(file, options.seed)
    if not about:
        hashed = commit()
        seed = seed_of(hashed) if options.seed is None else options.seed
        about = {"commit": hashed, "seed": seed}
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(about) + "\n")
    print(f"commit {about['commit']}, seed {about['seed']}")
    done = {(case["kind"], case["number"]) for case in cases}
    pictures = Path(options.pictures) if options.pictures else None
    kinds = [options.only] if options.only else list(COUNTS)
    with file.open("a") as target, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for kind in kinds:
            for number, case in enumerate(drawn(about["seed"], kind, options.count)):
                if (kind, number) in done:
                    continue
                line = run_case(kind, number, case, about["seed"], pictures)
                cases.append(line)
                target.write(json.dumps(line) + "\n")
                target.flush()
                print(f"\r{kind} {number + 1}", end="", file=sys.stderr, flush=True)
                if "refusal" in line:
                    print(f"\r{kind}:{number} {case}: {line['refusal'][:300]}")
    print(file=sys.stderr)
    return [case for case in cases if case["kind"] in kinds]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=list(COUNTS), default="", help="one kind of result")
    parser.add_argument("--count", type=int, default=None, help="only so many of each kind")
    parser.add_argument("--seed", type=int, default=None, help="in place of the commit's")
    parser.add_argument("--cases", default=str(CASES), metavar="FILE", help="a line for each case")
    parser.add_argument("--pictures", default="", metavar="FOLDER", help="strips of alarms")
    parser.add_argument("--sheet", default="", metavar="FOLDER", help="40 strips for verdicts")
    parser.add_argument("--measure", action="store_true", help="the check on captured clips")
    parser.add_argument("--half", type=int, choices=(0, 1), default=None, help="of the clips")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.measure:
        figures = measure(half_of(captured_names(), options.half, options.count))
        print(text_of(figures))
        return 0
    cases = run(options)
    if options.sheet:
        write_sheet(cases, Path(options.sheet))
        return 0
    figures = summary(cases)
    print(table_text(figures))
    if not options.only and options.count is None:
        about = json.loads(Path(options.cases).read_text().splitlines()[0])
        (RESULTS / "trust.json").write_text(
            json.dumps({"about": about | {"machine": machine()}, **figures}, indent=1) + "\n"
        )
    return 0 if figures["met"] else 1


if __name__ == "__main__":
    sys.exit(main())
