"""plan_outputs(): which file the result of every clip of a folder goes to."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from motionloom._arrays import of_kind
from motionloom.datasets.clip_files import clips_below
from motionloom.errors import FormatError
from motionloom.files.reading import path_of
from motionloom.formats.registry import known_formats
from motionloom.intake.clip_names import split_clip

MOST = 100
"""Characters of a clip's name that go into that of its file: names of files end at 255 bytes."""


def plan_outputs(
    folder: str | Path, output: str | Path, *, to: str | None = None
) -> list[tuple[str, str]]:
    """Input and output of every clip of a folder: the same tree below another folder.

    A file that holds several clips has an output for each: ``Soldier.glb#Run`` goes to
    ``Soldier_Run.glb``. Where two clips differ only in the suffix, their outputs keep it in the
    name. No two clips have the same output.

    Parameters
    ----------
    folder
        The clips, in it and below it; clips below ``output`` are left out.
    output
        Folder of the results.
    to
        Suffix of the results, such as ``"bvh"``; that of each clip by default.

    Returns
    -------
    list of (str, str)
        What :func:`load` takes, and the path of its result.

    Raises
    ------
    FormatError
        The folder has no clip, or a clip is in a format that cannot be written and ``to`` is not
        given.

    Examples
    --------
    >>> import tempfile
    >>> from motionloom import save, synthetic
    >>> with tempfile.TemporaryDirectory() as place:
    ...     save(synthetic.clip("walk").motion, Path(place) / "walk.bvh")
    ...     [output for _, output in plan_outputs(place, "out", to="glb")]
    ['out/walk.glb']
    """
    source, target = path_of(folder, "folder"), path_of(output, "output")
    suffix = None if to is None else "." + of_kind(to, str, "to").lower().removeprefix(".")
    clips = _clips(source, target)
    names = [_plain_name(clip, source) for clip in clips]
    if suffix is None:
        _refuse_unwritable(source, names)
    else:
        names = _with_suffix(names, suffix)
    return [
        (clip, str(target / name)) for clip, name in zip(clips, _all_different(names), strict=True)
    ]


def _clips(source: Path, target: Path) -> list[str]:
    """Clips in and below a folder that are no results of an earlier run."""
    if not source.is_dir():
        raise FormatError("Clips are looked for in a folder, and this is none.", path=source)
    inside = target.resolve()
    clips = [
        clip
        for clip in clips_below(source)
        if inside == source.resolve()
        or not Path(split_clip(clip)[0]).resolve().is_relative_to(inside)
    ]
    if not clips:
        raise FormatError(
            "The folder must hold a clip that can be read, and has none.",
            path=source,
            fix="Name another folder.",
        )
    return clips


def _plain_name(clip: str, source: Path) -> Path:
    """The name of a file for a clip below a folder: ``a.glb#Run`` becomes ``a_Run.glb``."""
    file, inner = split_clip(clip)
    name = Path(file).relative_to(source)
    if inner is None:
        return name
    safe = "".join(c if c.isalnum() or c in "-_ ." else "_" for c in inner)
    return name.with_name(f"{name.stem}_{safe[:MOST]}{name.suffix}")


def _refuse_unwritable(source: Path, names: list[Path]) -> None:
    """Refuse clips that cannot keep their formats."""
    written = {suffix for each in known_formats() for suffix in each.written}
    wrong = sorted({name.suffix for name in names if name.suffix.lower() not in written})
    if wrong:
        raise FormatError(
            f"Files that end in {', '.join(wrong)} can be read but not written, so the results "
            "need another format.",
            path=source,
            fix='Pass to= (such as to="bvh").',
        )


def _with_suffix(names: list[Path], suffix: str) -> list[Path]:
    often = Counter(name.with_suffix("") for name in names)
    results = []
    for name in names:
        stem = name.with_suffix("")
        end = "" if often[stem] == 1 else f"_{name.suffix.removeprefix('.')}"
        results.append(Path(f"{stem}{end}{suffix}"))
    return results


def _all_different(names: list[Path]) -> list[Path]:
    """The names, with a number where one came before: ``a.glb#Run`` and ``a_Run.glb`` differ."""
    taken: dict[Path, None] = {}
    for name in names:
        other, number = name, 1
        while other in taken:
            number += 1
            other = name.with_name(f"{name.stem}_{number}{name.suffix}")
        taken[other] = None
    return list(taken)
