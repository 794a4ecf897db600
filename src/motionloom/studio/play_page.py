"""One self-contained page with a live character of a table to steer, without a server.

It has the core as WebAssembly, the table's runtime file, and the studio's stage in it.
"""

from __future__ import annotations

import base64
import gzip
from importlib.resources import files
from typing import Any

import msgspec
import numpy as np

from motionloom.drawing.page import json_block, page_of
from motionloom.errors import FormatError
from motionloom.studio.clips.stage_clip import BOUND_FRAMES, bind_points
from motionloom.tables.runtime_file import runtime_bytes
from motionloom.tables.runtime_table import RuntimeTable

__all__ = ["play_page", "web_files"]

WASM, WRAPPER = "motionloom.wasm", "motionloom.mjs"


def play_page(table: RuntimeTable, *, title: str = "table", plain: bool = False) -> str:
    """The text of an HTML page with a live character to steer.

    Parameters
    ----------
    table
        The character's table; its labels are the page's buttons.
    title
        Of the window and the page.
    plain
        Whether data stay uncompressed, for browsers from before 2023; the page is a third larger.

    Raises
    ------
    FormatError
        The package was built without the core for browsers.
    """
    wasm, file = _core_for_browsers(), runtime_bytes(table)
    body = (
        '<div id="play"><p class="opening">opening the table ...</p></div>\n'
        + json_block("play-data", {"title": title, **_facts(table, plain=plain)})
        + _block("play-wasm", wasm, plain=plain)
        + _block("play-file", file, plain=plain)
    )
    return page_of(title, body, player="play", wasm=True)


def web_files() -> dict[str, bytes]:
    """The core for browsers and its wrapper in plain JavaScript, by the names of their files.

    Raises
    ------
    FormatError
        The package was built without one of them.
    """
    wrapper = files("motionloom").joinpath("studio", "static", WRAPPER)
    if not wrapper.is_file():
        raise FormatError(
            "The wrapper for browsers is not built.",
            fix="Install motionloom with pip, which builds it, or run python hatch_build.py.",
        )
    return {WASM: _core_for_browsers(), WRAPPER: wrapper.read_bytes()}


def _facts(table: RuntimeTable, *, plain: bool) -> dict[str, Any]:
    """How the body is drawn, which frames have a label, and where the character begins."""
    frames = table.frames
    labels: dict[str, list[tuple[str, int, int]]] = {}
    for each in table.collection.labels:
        if each.clip in frames.ids:
            labels.setdefault(each.clip, []).append((each.label, each.first, each.last))
    # The longest clip, of those with a label: it plays longest before it ends.
    sizes = {clip: int(n) for clip, n in zip(frames.ids, np.diff(frames.starts), strict=True)}
    start = max(labels or sizes, key=lambda clip: sizes[clip])
    first = frames.row_of(start, 0)
    clip = frames.motion(first, first + min(sizes[start], BOUND_FRAMES) - 1)
    looks, rig = bind_points(clip, frames.body_map)
    return {
        "looks": msgspec.to_builtins(looks),
        "joints": rig.joints.tolist(),
        "offsets": rig.offsets.round(5).ravel().tolist(),
        "labels": labels,
        "start": {"clip": start, "frame": 0},
        "packed": "plain" if plain else "gzip",
    }


def _block(name: str, data: bytes, *, plain: bool) -> str:
    """Markup that holds bytes for the page's script to read."""
    packed = data if plain else gzip.compress(data, 9, mtime=0)
    text = base64.b64encode(packed).decode("ascii")
    return f'<script type="application/octet-stream" id="{name}">{text}</script>\n'


def _core_for_browsers() -> bytes:
    place = files("motionloom").joinpath("_web", WASM)
    if not place.is_file():
        raise FormatError(
            "The core for browsers is not built.",
            fix="Install the Python package ziglang, then motionloom again with pip, or run "
            "python hatch_build.py in its sources.",
        )
    return place.read_bytes()
