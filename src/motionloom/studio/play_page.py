"""One self-contained page with a live character of a table to steer, without a server.

It has the core as WebAssembly, the table's runtime file, and the studio's stage in it.
"""

from __future__ import annotations

import base64
import gzip
from dataclasses import asdict
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from motionloom._arrays import flag, of_kind
from motionloom._paths import path_of
from motionloom.drawing.page import json_block, page_of
from motionloom.errors import FormatError
from motionloom.saving.whole_file import write_bytes
from motionloom.studio.clips.point_rig import BOUND_FRAMES, bind_points
from motionloom.tables.runtime_file import runtime_bytes
from motionloom.tables.table import TransitionTable

WASM, WRAPPER = "motionloom.wasm", "motionloom.mjs"


def play_page(table: TransitionTable, *, title: str = "table", plain: bool = False) -> str:
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


def save_play_page(
    table: TransitionTable, path: str | Path, *, title: str | None = None, plain: bool = False
) -> int:
    """Write a page in which a live character of a table is steered, without a server.

    Parameters
    ----------
    table
        An open table; its labels are the page's buttons.
    path
        The ``.html`` file.
    title
        Of the window and the page; the file's name without suffix where not given.
    plain
        Whether data stay uncompressed, for browsers from before 2023; the page is a third larger.

    Returns
    -------
    int
        Bytes of the file.

    Raises
    ------
    FormatError
        The package was built without the core for browsers, or the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> import motionloom as ml
    >>> with tempfile.TemporaryDirectory() as place:
    ...     for kind in ("walk", "run"):
    ...         ml.save(ml.synthetic.clip(kind, duration_s=1.5, fps=20).motion,
    ...                 Path(place) / f"{kind}.bvh")
    ...     lib = ml.Collection.ingest(place, out=Path(place) / "lib.mlc", fps=20)
    ...     table = ml.build_table(lib, length_s=0.5, clusters=3, progress=False)
    ...     save_play_page(table, Path(place) / "play.html") > 10_000
    True
    """
    target = path_of(path, "path")
    of_kind(table, TransitionTable, "table")
    shown = target.stem if title is None else of_kind(title, str, "title")
    page = play_page(table, title=shown, plain=flag(plain, "plain"))
    data = page.encode(errors="replace")  # a title may hold characters that UTF-8 cannot encode
    write_bytes(target, data)
    return len(data)


def save_web_files(folder: str | Path) -> list[Path]:
    """Write ``motionloom.wasm`` and ``motionloom.mjs``, which run tables in browsers.

    Parameters
    ----------
    folder
        Where to; next to the ``.mlr`` file of :func:`motionloom.save_runtime`.

    Returns
    -------
    list of Path
        The files.

    Raises
    ------
    FormatError
        The package was built without the core for browsers, or a file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [file.name for file in save_web_files(folder)]
    ['motionloom.wasm', 'motionloom.mjs']
    """
    place, targets = path_of(folder, "folder"), []
    for name, data in web_files().items():
        write_bytes(place / name, data)
        targets.append(place / name)
    return targets


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


def _facts(table: TransitionTable, *, plain: bool) -> dict[str, Any]:
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
        "looks": asdict(looks),
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
            fix="Install motionloom again with the environment variable MOTIONLOOM_WITH_WEB=1, or run "
            "python hatch_build.py in its sources, with the Python package ziglang.",
        )
    return place.read_bytes()
