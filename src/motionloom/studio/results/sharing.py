"""A result as one page that plays anywhere, together with its sources on its clock."""

from __future__ import annotations

from typing import Any

from motionloom._progress import report_step
from motionloom.drawing.page import MAX_FRAMES, Colour, pack_clip, page_of, player_slot
from motionloom.errors import ArrayError
from motionloom.studio.messages.result_messages import TransitionDetail
from motionloom.studio.results.result import Result


def shared_page(result: Result) -> str:
    """The text of an offline HTML page with the studio's player."""
    if result.motion.n_frames > MAX_FRAMES:
        raise ArrayError(
            f"A page can hold a result of at most {MAX_FRAMES} frames, got "
            f"{result.motion.n_frames}. Export it as a file instead."
        )
    sources = []
    for k, motion in enumerate(result.source_motions):
        report_step("packing clips", k, len(result.source_motions) + 1)
        colour: Colour = "amber" if k == 0 else "blue"
        sources.append(
            pack_clip(
                motion, footplants=result.source_plants[k], body=result.body,
                name=result.sources[k], colour=colour, placement=result.placements[k],
                follows=result.source_frames[:, k],
            )
        )  # fmt: skip
    own = pack_clip(result.motion, footplants=result.footplants, body=result.body, name="result")
    more: dict[str, Any] = {"lead": 1}
    if isinstance(result.detail, TransitionDetail):
        first, last = result.detail.span
        more["bracket"] = {"first": first, "last": last}
        more["strips"] = [
            {"text": f"A  {result.sources[0]}", "colour": "amber", "first": 0, "last": last},
            {
                "text": f"B  {result.sources[1]}", "colour": "blue", "first": first,
                "last": result.motion.n_frames - 1,
            },
        ]  # fmt: skip
    slot = player_slot(
        [sources[0], own, *sources[1:]],
        number=1, together=True, autoplay=True, alone=True, more=more,
    )  # fmt: skip
    return page_of(f"{result.tab}: {', '.join(result.sources)}", slot)
