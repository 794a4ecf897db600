"""One self-contained page with a player: no network, no outside file, every name escaped."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from motionloom._arrays import of_kind
from motionloom.body.body_map import BodyMap
from motionloom.drawing.camera import View
from motionloom.drawing.clipdata import pack_clip
from motionloom.errors import ArrayError, FormatError
from motionloom.motion.contacts import Footplants
from motionloom.motion.motion import Motion


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
        if not isinstance(footplants, Sequence) or len(footplants) != len(clips):
            raise ArrayError(
                f"`footplants` must have one entry per motion ({len(clips)}), got {footplants!r}."
            )
        plants = [
            None if each is None else of_kind(each, Footplants, "footplants") for each in footplants
        ]
    packed = [
        pack_clip(motion, footplants=given, body=body)
        for motion, given in zip(clips, plants, strict=True)
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
    more: Mapping[str, Any] | None = None,
) -> str:
    """Markup for one player and its packed clips; ``number`` tells apart the players of a page.

    ``more`` is for clips that belong together: ``overlaid``, ``lead`` (the clip on whose clock the
    others run), and over its timeline ``bracket`` and ``strips``.
    """
    options = {"together": together, "autoplay": autoplay, "view": view, **(more or {})}
    shape = ' class="ml-alone"' if alone else ""
    data = json_block(f"clips-{number}", {"clips": list(clips), "options": options})
    return f'<div{shape} data-clips="clips-{number}"></div>\n{data}'


def json_block(name: str, value: Any) -> str:
    """Markup that holds a value for a page's script to read."""
    text = json.dumps(value, separators=(",", ":"))
    # A name that holds "</script>" must not end the block: JSON can say < in another way.
    text = text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    return f'<script type="application/json" id="{name}">{text}</script>\n'


def page_of(title: str, body: str, *, player: str = "player", wasm: bool = False) -> str:
    """A whole page around markup that is safe already; ``title`` is escaped here.

    The content policy allows this page's own script and style, by their digests, and embedded
    pictures; nothing else runs or loads, whatever a file name holds. ``wasm`` lets the script also
    compile WebAssembly.
    """
    # Nothing in the player's text may end its block.
    script = _built(f"{player}.js").replace("</script", "<\\/script")
    style = _built(f"{player}.css")
    runs = f"'{_digest(script)}'" + (" 'wasm-unsafe-eval'" if wasm else "")
    policy = (
        "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; "
        f"script-src {runs}; style-src '{_digest(style)}'"
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        f"{body}<script>{script}</script>\n</body>\n</html>\n"
    )


@cache
def _built(name: str) -> str:
    """A file of the built player, whose sources are the studio's."""
    place = files("motionloom").joinpath("studio", "static", name)
    if not place.is_file():
        raise FormatError(
            "The page's player is not built.",
            fix="Install motionloom with pip, which builds it, or run python hatch_build.py.",
        )
    return place.read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
