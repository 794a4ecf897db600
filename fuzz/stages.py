"""How far into a reader a file got: the step of ``read`` that refused it."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType

STEPS = {
    "fbx_read.py": {
        **{"read_bounded": "elements", "__init__": "elements", "settings_of": "objects"},
        **{"model_tree": "models", "stack_names": "models", "clip_number": "models"},
        **{"layers_of": "curves", "find_figure": "models", "_check_joints": "models"},
        **{"_clock": "curves", "check_poses": "motion", "motion_of": "motion", "read": "motion"},
    },
    "usd_read.py": {
        **{"read_bounded": "prims", "flattened": "prims", "__init__": "prims", "take": "prims"},
        **{"decoded": "prims", "parse_layer": "prims", "read": "skeleton", "_picked": "skeleton"},
        **{"read_skeleton": "skeleton", "read_tracks": "tracks", "_above": "transforms"},
        **{
            "_rate": "transforms",
            "_motion": "motion",
            "_metadata_number": "motion",
            "_up": "motion",
        },
        **{"_detail": "motion"},
    },
}
"""What each function that a reader calls works on, by the file of the reader."""
ORDER = {
    "fbx": ("content", "elements", "objects", "models", "curves", "motion", "read"),
    "usd": ("content", "prims", "skeleton", "tracks", "transforms", "motion", "read"),
}
"""Steps of a file that is read whole."""


def step_of(error: BaseException) -> str:
    """The step that raised an error."""
    trace: TracebackType | None = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        steps = STEPS.get(Path(code.co_filename).name)
        if steps is not None and code.co_name == "read":
            inner = trace.tb_next
            if inner is None:
                return steps["read"]
            called = inner.tb_frame.f_code
            if called.co_name == "__init__" and called.co_filename.endswith("fbx_objects.py"):
                return "objects"
            return steps.get(called.co_name, called.co_name)
        trace = trace.tb_next
    return "content"


def reached(name: str, counts: dict[str, int]) -> dict[str, float]:
    """Share of the files that got to each step of a format, in percent."""
    left = total = sum(counts.values())
    shares = {}
    for step in ORDER[name]:
        shares[step] = round(100.0 * left / max(total, 1), 2)
        left -= counts.get(step, 0)
    return shares
