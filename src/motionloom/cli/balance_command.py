"""motionloom balance: weight over the feet, flights in free fall."""

from __future__ import annotations

from typing import Annotated

import typer

import motionloom as ml
from motionloom.cli.clip_arguments import (
    Body,
    Fps,
    Reading,
    SourceFps,
    Unit,
    Up,
    body_of,
    clip_notes,
    find_clips,
    load_clip,
)
from motionloom.cli.jobs import Done, plan_jobs, run_jobs
from motionloom.cli.output import AsJson, finding_warnings
from motionloom.cli.results import (
    AllowFlawed,
    CharacterFile,
    DryRun,
    Engine,
    Force,
    Layout,
    RootAt,
    Writing,
    check_target,
    refuse_flawed,
    refuse_unwritable,
    result_json,
    wearer_of,
    write_clip,
)


def balance(
    source: Annotated[str, typer.Argument(metavar="IN", help="A clip, a folder, or -.")],
    output: Annotated[
        str,
        typer.Option("--output", "-o", help="File, - , or folder; the suffix picks the format."),
    ],
    to: Annotated[
        str | None,
        typer.Option("--to", help="Format, for a folder (that of each clip by default) or -."),
    ] = None,
    sources: Annotated[
        list[str] | None,
        typer.Option(
            "--sources",
            metavar="CLIP",
            help="A clip that IN was made from, or a folder of them; repeatable. Its balance is "
            "allowed, and the result is compared with it.",
        ),
    ] = None,
    allowed: Annotated[
        float | None,
        typer.Option(
            "--allowed",
            metavar="METRES",
            help="How far the zero moment point may be outside the soles; by default 0.02, or as "
            "far as in the sources.",
        ),
    ] = None,
    allow_flawed: AllowFlawed = False,
    fps: Fps = None,
    source_fps: SourceFps = None,
    unit: Unit = None,
    up: Up = None,
    body: Body = None,
    character: CharacterFile = None,
    engine: Engine = None,
    root: RootAt = None,
    force: Force = False,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Bring the weight of a body over its feet, and let its flights fall freely.

    For blends and splices. Prints how much of the time the zero moment point is outside the soles,
    before and after. Planted feet stay where they are. Contacts are detected in the file.
    """
    reading = Reading.of(fps=fps, source_fps=source_fps, unit=unit, up=up, body=body)
    layout = Layout(engine, root, body)
    writing = Writing(output, to, force, dry_run, as_json, layout=layout)
    jobs = plan_jobs(source, writing, own_formats=True)
    clips = find_clips(sources or [])
    made_from = _Sources(clips, reading)
    reading.warn_unfit([*(path for path, _ in jobs), *clips])
    wearer = wearer_of(character, reading)

    def check(target: str) -> None:
        refuse_unwritable(target)
        check_target(target, clips, force=force, to=to)

    def work(path: str, target: str) -> Done:
        motion = load_clip(path, reading)
        body = body_of(motion, reading)
        matched, changes = made_from.matched(path, motion, body)
        balanced = ml.balance(motion, sources=matched, allowed_m=allowed, body=body)
        refuse_flawed(balanced.verification, target, allowed=allow_flawed)
        write_clip(balanced.motion, target, to, wearer=wearer, layout=layout)
        return Done(
            _summary(balanced),
            {**_json(balanced), "sources": made_from.json(changes)},
            [*finding_warnings(path, motion), *made_from.take_warnings()],
            [*clip_notes(path, motion), *made_from.take_notes(), *made_from.lines(changes)],
        )

    run_jobs(jobs, work, writing, label="balancing", check=check)


class _Sources:
    """The clips of --sources, loaded once for all clips that are balanced."""

    def __init__(self, paths: list[str], reading: Reading) -> None:
        self._paths, self._reading = paths, reading
        self._loaded: list[ml.Motion] | None = None
        self._warnings: list[str] = []
        self._notes: list[str] = []

    def matched(
        self, path: str, motion: ml.Motion, body: ml.BodyMap
    ) -> tuple[list[ml.Motion], list[list[str]]]:
        """The sources on a motion's skeleton and at its rate, and what was changed in each.

        Their travel is on the pelvis or on a root bone, as that of the motion is.
        """
        if self._loaded is None:
            self._loaded = [load_clip(each, self._reading) for each in self._paths]
            for each, clip in zip(self._paths, self._loaded, strict=True):
                self._warnings += finding_warnings(each, clip)
                self._notes += clip_notes(each, clip)
        names = [path, *self._paths]
        matched = ml.match_clips([motion, *self._loaded], body=body, names=names)
        ready, changes = list[ml.Motion](), list[list[str]]()
        for clip, notes in zip(matched.motions[1:], matched.notes[1:], strict=True):
            ready.append(ml.travel_on_pelvis(clip, like=motion, body=body))
            put_back = ready[-1] is not clip
            changes.append([n for n in notes if not (put_back and n.startswith("travel and"))])
        return ready, changes

    def lines(self, changes: list[list[str]]) -> list[str]:
        """What was changed in the sources, as lines."""
        pairs = zip(self._paths, changes, strict=True)
        return [f"{path}: {text}" for path, texts in pairs for text in texts]

    def json(self, changes: list[list[str]]) -> list[dict[str, object]]:
        """The same as values that JSON can hold."""
        pairs = zip(self._paths, changes, strict=True)
        return [{"file": path, "notes": texts} for path, texts in pairs]

    def take_warnings(self) -> list[str]:
        """Faults of the files; empty from the second call on."""
        taken, self._warnings = self._warnings, []
        return taken

    def take_notes(self) -> list[str]:
        """Lines on other clips of the files; empty from the second call on."""
        taken, self._notes = self._notes, []
        return taken


def _summary(balanced: ml.Balanced) -> str:
    """What changed, in one line."""
    before, after = balanced.before.outside, balanced.after.outside
    if before is None or after is None:
        return "; ".join(balanced.notes) or "the body never stands"
    text = (
        f"zero moment point more than {100 * balanced.allowed_m:.0f} cm outside the soles in "
        f"{100 * before:.1f} % of the frames before, {100 * after:.1f} % after"
    )
    return "; ".join([text, *balanced.notes])


def _json(balanced: ml.Balanced) -> dict[str, object]:
    """The same as values that JSON can hold."""
    return {
        "allowed_m": balanced.allowed_m,
        **{
            when: {"outside": each.outside, "distance_m": each.distance_m, "fall": each.fall}
            for when, each in (("before", balanced.before), ("after", balanced.after))
        },
        **result_json(balanced),
    }
