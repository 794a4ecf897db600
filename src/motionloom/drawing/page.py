"""One self-contained page with a player: no network, no outside file, every name escaped."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from motionloom._arrays import of_kind
from motionloom.drawing.camera import View
from motionloom.drawing.clipdata import pack_clip
from motionloom.errors import ArrayError
from motionloom.motion.body import BodyMap
from motionloom.motion.contacts import Footplants
from motionloom.motion.motion import Motion

__all__ = ["page_of", "player_page", "player_slot"]

_MODULES = ("camera.js", "figure.js", "timeline.js", "player.js")

_START = """
for (const slot of document.querySelectorAll("[data-clips]")) {
  try {
    const packed = JSON.parse(document.getElementById(slot.dataset.clips).textContent);
    createPlayer(slot, packed.clips.map(unpackClip), packed.options);
  } catch (fault) {
    document.documentElement.dataset.player = "error";
    const told = document.createElement("p");
    told.className = "ml-fault";
    told.textContent = `The player could not start: ${fault}`;
    slot.append(told);
    throw fault;
  }
}
"""


def player_page(
    motions: Motion | Sequence[Motion],
    *,
    footplants: Footplants | Sequence[Footplants | None] | None = None,
    body: BodyMap | None = None,
    title: str | None = None,
    together: bool = False,
    autoplay: bool = True,
    view: View = "three-quarter",
) -> str:
    """The text of an HTML page that plays clips.

    Parameters
    ----------
    motions
        One clip or several; several can be chosen from or shown side by side.
    footplants
        Plants of each clip, in the same order; detected where not given.
    body
        Which joint is which, for all clips; guessed for each by default.
    title
        Of the window; the first clip's name by default.
    together
        Whether several clips start side by side.
    autoplay
        Whether it plays when opened.
    view
        Where it is seen from at first: ``"side"``, ``"front"``, ``"top"`` or ``"three-quarter"``.
    """
    clips = [motions] if isinstance(motions, Motion) else motions
    if not isinstance(clips, Sequence) or not clips:
        raise ArrayError(f"`motions` must be a motion or a list of some, got {motions!r}.")
    for n, motion in enumerate(clips):
        of_kind(motion, Motion, f"motions[{n}]")
    if footplants is None or isinstance(footplants, Footplants):
        plants: list[Footplants | None] = [footplants] * len(clips)
    else:
        plants = list(footplants)
    packed = [
        pack_clip(motion, footplants=known, body=body)
        for motion, known in zip(clips, plants, strict=True)
    ]
    slot = player_slot(
        packed, number=1, together=together, autoplay=autoplay, view=view, alone=True
    )
    return page_of(title or packed[0]["name"], slot)


def player_slot(
    clips: Sequence[dict[str, Any]],
    *,
    number: int,
    together: bool = False,
    autoplay: bool = False,
    view: View = "three-quarter",
    alone: bool = False,
) -> str:
    """Markup for one player and its packed clips; ``number`` tells apart the players of a page."""
    options = {"together": together, "autoplay": autoplay, "view": view}
    text = json.dumps({"clips": list(clips), "options": options}, separators=(",", ":"))
    # A name that holds "</script>" must not end the block: JSON can say < in another way.
    text = text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    shape = ' class="ml-alone"' if alone else ""
    return (
        f'<div{shape} data-clips="clips-{number}"></div>\n'
        f'<script type="application/json" id="clips-{number}">{text}</script>\n'
    )


def page_of(title: str, body: str) -> str:
    """A whole page around markup that is safe already; ``title`` is escaped here.

    The content policy allows this page's own script and style, by their digests, and embedded
    pictures; nothing else runs or loads, whatever a file name holds.
    """
    script, style = _script(), _file("page.css")
    policy = (
        "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; "
        f"script-src '{_digest(script)}'; style-src '{_digest(style)}'"
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        f"{body}<script>{script}</script>\n</body>\n</html>\n"
    )


@cache
def _script() -> str:
    """The player's modules as one plain script: a page opened from disk cannot import files."""
    parts = []
    for name in _MODULES:
        text = re.sub(r"^import .*?;\n", "", _file(name), flags=re.MULTILINE)
        parts.append(re.sub(r"^export ", "", text, flags=re.MULTILINE))
    return '"use strict";\n(() => {\n' + "".join(parts) + _START + "})();\n"


@cache
def _file(name: str) -> str:
    return files("motionloom.drawing").joinpath("player", name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
