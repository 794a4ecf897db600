"""More seconds to make again, drawn after every choice was made.

    python -m studies.tables.inbetween_fresh

adds them once to ``protocols/transitions_inbetween.json``, as ``fresh``: of the takes that are
reported, each at least half a second from every second of the other sets and from each other.
"""

from __future__ import annotations

import json

import numpy as np

from studies.captured_clips import mocap
from studies.tables.natural_candidates import GAPS, LENGTH, frames_of_subject

SEED, COUNT = 1118, 300
APART, MARGIN = LENGTH // 2, 12


def fresh_windows(subject: str, plan: dict, frames) -> list[list]:
    """Takes and first frames of the seconds of a subject."""
    rng = np.random.Generator(np.random.PCG64([SEED, int(subject)]))
    takes = plan.get("report_takes", [n for n in frames.ids if n not in plan.get("left_out", [])])
    whole = LENGTH + 2 * MARGIN
    rows = frames.sound(frames.windows(whole), whole) + MARGIN
    used = [frames.row_of(take, at) for each in plan["windows"].values() for take, at in each]
    chosen: list[int] = []
    for row in rng.permutation(rows).tolist():
        apart = np.abs(np.array(used + chosen) - row).min() >= APART
        if apart and frames.place_of(row)[0] in takes:
            chosen.append(row)
    return [list(frames.place_of(row)) for row in chosen[:COUNT]]


def main() -> None:
    folder = mocap()
    if folder is None:
        raise SystemExit("Set MOTIONLOOM_MOCAP to the folder of real clips.")
    text = GAPS.read_text()
    plans = json.loads(text)
    for subject in ("143", "69"):
        windows = fresh_windows(subject, plans[subject], frames_of_subject(folder, subject))
        print(subject, len(windows))
        plans[subject]["windows"]["fresh"] = windows
        last = f'"{"transitions" if subject == "143" else "report"}": ['
        text = _inserted(text, subject, last, windows)
    assert json.loads(text) == plans
    GAPS.write_text(text)


def _inserted(text: str, subject: str, last: str, windows: list[list]) -> str:
    """The protocol with one more set after the last one of a subject."""
    at = text.index(last, text.index(f'"{subject}": {{'))
    end = text.index("\n   ]", at) + len("\n   ]")
    items = [json.dumps(each) for each in windows]
    lines = [", ".join(items[k : k + 6]) for k in range(0, len(items), 6)]
    return f'{text[:end]},\n   "fresh": [\n    ' + ",\n    ".join(lines) + "\n   ]" + text[end:]


if __name__ == "__main__":
    main()
