"""Texts of the package in the words of the command line, and which options were typed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import typer

SAME = (
    "accept align at clips clusters collection constraints cycles dask device edition ends engine "
    "entries foot_speeds fps ghosts graph_cm ground joint_weights joints keep keep_bend "
    "keep_glitches "
    "label labels lookup loop masses method moving pairs plain plants report rescore root score "
    "search seed size skeleton soft source_fps still_feet strength stretch sync_contacts title "
    "transitions turn_to variation verdicts view ways weights what when_short where character"
)
"""Parameters whose options have the same name."""
OPTIONS = {name: "--" + name.replace("_", "-") for name in SAME.split()} | {
    "allowed_m": "--allowed",
    "body": "--body FILE.toml",
    "clean": "--raw",
    "duration_s": "--duration",
    "follow_s": "--follow",
    "format": "--to",
    "lead_s": "--lead",
    "length_s": "--length",
    "limit_in": "--limit",
    "limits": "--limit",
    "longest_s": "--longest",
    "match": "--no-retarget",
    "jobs": "--jobs",
    "knot_s": "--knot",
    "out": "--collection",
    "output": "--output",
    "overwrite": "--force",
    "repair": "--repair",
    "repair_knees": "--repair none",
    "timeout_s": "--timeout",
    "timewarp": "--no-timewarp",
    "to": "--to",
    "tolerance_s": "--tolerance",
    "unit": "--source-unit",
    "up": "--source-up",
}
"""Options by the parameter that they set."""
PHRASES = (
    (r"Carry it over first: ml\.retarget\(motion, character\)\.", "Leave out --root."),
    (r"body=ml\.BodyMap\.from_names\(skeleton, \{\.\.\.\}\)", "--body FILE.toml"),
    (r"Make it for this skeleton, as with ml\.BodyMap\.from_names\.", "Check --body."),
    (r"Cut them off with motion\[(\d*):\]", r"Cut them off with convert --frames \1:"),
    (r"ml\.ground\(motion\) brings it", "convert --ground brings it"),
    (r" by ml\.ground", ""),
    (
        r"Carry the clip over first: ml\.retarget\(motion, ml\.smpl_skeleton\(\)\)\.",
        "The clip must be on that skeleton.",
    ),
    (
        r"Files without a header are read by naming the order of their quaternions: .*",
        "Files without a header do not say the order of their quaternions: add one.",
    ),
    (r'Pass it: ml\.load\(FILE, skeleton="g1\.xml"\)\.', "Put it next to the clip."),
    (r'Pass it: ml\.load\(FILE, skeleton="g1\.xml"\), or put', "Put"),
    (
        r"Set the true rate with motion\.replace\(fps=\.\.\.\)",
        "Give the true one with --source-fps",
    ),
    (r" ?(Say|say) which with skeleton=\.", " Keep one skeleton file, its own, in that folder."),
    (r", or pass another skeleton as skeleton=", ""),
    (r"Say the character's file with skeleton=\.", "Keep the character's file in that folder."),
    (
        r"`motion` must be on the joints of (?:the|`)\s?character`?\. Carry it over first: "
        r"ml\.retarget\(motion, character\)\.",
        "The clip must be on the joints of the character.",
    ),
    (r" ?Load it by its path: ml\.load_robot\(PATH\)\.", " Name its file."),
    (r"Pass fps= to set another\.", "Give another with --source-fps."),
    (r" ?Pass floor=\.", ""),
    (r",? or pass clip=\.", "."),
    (r"pass max_memory= to the function that loads it, or set", "set"),
    (
        r"Pass another name=, or keep the root bone that is there\.",
        "If it is the root bone, name the pelvis with --body FILE.toml, or rename the joint.",
    ),
    (r"raise `slope_limit`, ", ""),
    (r"`(?:path|paths|file|folder)` must be a path", "The path must be one"),
    (r"`limits\['slide'\]`", "--slide"),
    (r"`limits\['penetration'\]`", "--sink"),
    (r"`limits\['(\w+)'\]`", r"--limit \1"),
    (r"\bsource_fps=\{'([^']+)': ([\d.]+)\}", r"--source-fps '\1=\2'"),
    (
        r"ml\.load_points reads its markers\.",
        "motionloom info shows its markers, and convert writes them as .csv or .npz.",
    ),
    (r" ?Choose values inside, or pass clamp=True for the nearest\.", " Choose values inside."),
    (r"(?<![-\w])fps=", "--source-fps"),
    (r" ?Pass keep_t_pose=True to keep it\.", ""),
    (
        r"annotate it, or ingest with labels=FILE\.csv",
        "build the table again with table build --labels FILE.csv",
    ),
    (r"ml\.Collection\.ingest", "motionloom table build"),
    (r"Use ml\.retarget[^.]* first\.", "Use clips on one skeleton."),
    (r"(`)?motion\[(-?\w*):(-?\w*)\]\1", r"--frames \2:\3"),
    (r"\brepair_knees=False", "--repair none"),
    (r"\bin `source`", "in the first CLIP:FRAME"),
    (r"\bin `target`", "in the second CLIP:FRAME"),
    (r"The clip of `source`", "The first clip"),
    (r"The clip of `target`", "The second clip"),
)
"""Advice to Python users, and what it is on the command line."""


def in_options(text: str) -> str:
    """A text of the package with the options of commands in place of Python parameters.

    Parameters
    ----------
    text
        An error, a finding or a note.

    Examples
    --------
    >>> in_options("`length_s` must be positive. Pass unit= (such as unit='cm').")
    '--length must be positive. Pass --source-unit (such as --source-unit cm).'
    """
    for pattern, words in PHRASES:
        text = re.sub(pattern, words, text)
    for name, option in OPTIONS.items():
        text = text.replace(f"`{name}`", option)
        text = re.sub(rf"\b{name}=(?:True|False)\b", option, text)
        text = re.sub(rf"(?<![-\w]){name}=['\"](\w+)['\"]", rf"{option} \1", text)
        text = re.sub(rf"(?<![-\w]){name}=(?=[\s.,)]|$)", option, text)
    return text


def is_typed(context: typer.Context, name: str) -> bool:
    """Whether an option was typed, be it with the value that it has anyway."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"
