"""Pages of one file: players of packed clips and reports; no network, every name escaped."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, Literal
from urllib.parse import quote

import numpy as np
import numpy.typing as npt

from motionloom._arrays import FloatArray, of_kind
from motionloom.body.body_map import BodyMap, roles_for
from motionloom.drawing.camera import View, travel_heading
from motionloom.drawing.figure import Part, build_figure
from motionloom.drawing.footprints import Footprint, track_balance, track_feet
from motionloom.errors import ArrayError, FormatError
from motionloom.motion.edit import sample
from motionloom.motion.motion import Footplants, Motion

Colour = Literal["ink", "amber", "blue"]
MAX_FRAMES = 6000
"""Of longer clips every second frame is shown, or every third: a page stays below ten megabytes."""


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


def pack_clip(
    motion: Motion,
    *,
    footplants: Footplants | None = None,
    body: BodyMap | None = None,
    name: str | None = None,
    colour: Colour = "ink",
    placement: tuple[float, float, float] | None = None,
    follows: FloatArray | None = None,
) -> dict[str, Any]:
    """What the player needs to show a clip, as values that JSON can hold.

    Positions are rounded to a tenth of a millimetre, which no screen shows, so that the packed
    text is the same on every machine. Balance is in whole millimetres.

    Parameters
    ----------
    motion
        The clip.
    footplants
        Its plants; detected where not given.
    body
        Which joint is which; guessed where not given.
    name
        What the page calls it; its own name by default.
    colour
        Ink for a result, amber and blue for what it was made of.
    placement
        Turn and slide (theta, x0, z0) to where it stands among others.
    follows : (N,)
        Its frame at every frame of the clip that leads the page's clock, nan where it has none.
    """
    body = roles_for(motion.skeleton, body)
    stride = 1
    if motion.n_frames > MAX_FRAMES:
        stride = -(-motion.n_frames // MAX_FRAMES)
        frames = np.arange(0, motion.n_frames, stride)
        footplants = None if footplants is None else Footplants(footplants.planted[frames])
        motion = sample(motion, frames.astype(np.float64), fps=motion.fps / stride)
    figure = build_figure(motion, body=body)
    track = track_feet(motion, footplants, body=body)
    used = sorted({p for part in figure.parts for p in part.points} | {0})
    row = {p: n for n, p in enumerate(used)}
    floor = figure.floor()
    root = motion.root_positions
    span = np.ptp(root[:, [0, 2]], axis=0)
    balance = track and track_balance(motion, track, body=body, floor=floor)
    tracks = {
        key: _millimetres(getattr(balance, key)) if balance else None
        for key in ("com", "zmp", "support")
    }
    among: dict[str, Any] = {}
    if placement is not None:
        among["placement"] = [round(float(value), 4) for value in placement]
    if follows is not None:
        among["follows"] = _base64(np.round(follows / stride, 2))
    return {
        "name": name or motion.name or "clip",
        "fps": motion.fps,
        "frames": motion.n_frames,
        "colour": colour,
        "height": round(figure.height, 4),
        "floor": round(floor, 4),
        "heading": round(travel_heading(motion), 4),
        "middle": [round(float(c), 4) for c in 0.5 * (root.min(axis=0) + root.max(axis=0))],
        "extent": round(float(np.hypot(*span)) + figure.height, 4),
        "points": len(used),
        "root": row[0],
        "parts": [_packed_part(part, row) for part in figure.parts],
        "positions": _base64(np.round(figure.points[:, used], 4)),
        "speeds": _base64(np.round(track.speeds, 3)) if track else None,
        "prints": [_packed_print(mark, floor, figure.height) for mark in track.prints]
        if track
        else [],
        **tracks,
        **among,
    }


def _packed_part(part: Part, row: Mapping[int, int]) -> dict[str, Any]:
    return {
        "name": part.name,
        "side": part.side,
        "points": [row[p] for p in part.points],
        "radii": [round(r, 4) for r in part.radii],
    }


def _packed_print(mark: Footprint, floor: float, height: float) -> dict[str, Any]:
    return {
        "kind": mark.kind,
        "first": mark.first,
        "last": mark.last,
        "place": [round(c, 4) for c in mark.place],
        "heading": round(mark.heading, 4),
        "slides": mark.slides,
        "ground": round(mark.ground(floor, height), 4),
    }


def _base64(values: npt.NDArray[np.float64]) -> str:
    return base64.b64encode(values.astype("<f4").tobytes()).decode("ascii")


def _millimetres(metres: FloatArray) -> str:
    """Whole millimetres of sixteen bits; the least number stands for nothing."""
    whole = np.clip(np.round(1000.0 * metres), -32767, 32767)
    return base64.b64encode(
        np.where(np.isnan(metres), -32768, whole).astype("<i2").tobytes()
    ).decode("ascii")


class Report:
    """A page that grows section by section; every text given to it is escaped.

    Examples
    --------
    >>> report = Report("Walks", "Two walks.")
    >>> report.section("First", "It walks.")
    >>> report.table(["frames"], [["120"]])
    >>> "<h2>First</h2>" in report.html()
    True
    """

    def __init__(self, title: str, lead: str = "") -> None:
        self.title = title
        self._parts = [f"<h1>{html.escape(title)}</h1>\n"]
        self._players = 0
        if lead:
            self._parts.append(f'<p class="ml-lead">{html.escape(lead)}</p>\n')

    def section(self, title: str, text: str = "") -> None:
        """A heading, and a paragraph below it."""
        self._parts.append(f"<h2>{html.escape(title)}</h2>\n")
        if text:
            self.text(text)

    def text(self, text: str) -> None:
        """A paragraph."""
        self._parts.append(f"<p>{html.escape(text)}</p>\n")

    def link(self, target: str, text: str) -> None:
        """A link to a file next to the page."""
        self._parts.append(
            f'<p><a href="{html.escape(quote(target))}">{html.escape(text)}</a></p>\n'
        )

    def code(self, text: str) -> None:
        """Lines to copy: a command, a piece of Python."""
        self._parts.append(f"<pre>{html.escape(text)}</pre>\n")

    def picture(self, data: bytes, caption: str = "", *, kind: str = "png") -> None:
        """A picture, kept inside the page; ``kind`` is ``"png"`` or ``"gif"``."""
        source = f"data:image/{kind};base64,{base64.b64encode(data).decode('ascii')}"
        label = html.escape(caption)
        below = f"<figcaption>{label}</figcaption>" if caption else ""
        self._parts.append(f'<figure><img alt="{label}" src="{source}">{below}</figure>\n')

    def table(self, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """A table of texts."""
        top = "".join(f"<th>{html.escape(cell)}</th>" for cell in head)
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>\n"
            for row in rows
        )
        self._parts.append(
            f'<div class="ml-table"><table><thead><tr>{top}</tr></thead>\n'
            f"<tbody>{body}</tbody></table></div>\n"
        )

    def player(self, clips: Sequence[dict[str, Any]], *, together: bool = False) -> None:
        """A player of clips packed by :func:`motionloom.drawing.page.pack_clip`."""
        self._players += 1
        self._parts.append(player_slot(clips, number=self._players, together=together))

    def html(self) -> str:
        """The whole page."""
        return page_of(
            self.title, '<main class="ml-report">\n' + "".join(self._parts) + "</main>\n"
        )
