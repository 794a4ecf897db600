"""Random requests for the studio's soak test, valid and hostile, and the folder they are about."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path
from typing import Any

import motionloom as ml

__all__ = ["HOSTILE_TEXTS", "Requests", "write_folder"]

KINDS = ("walk", "jog", "run", "stand", "wave")
DEEP = "[" * 50_000
HOSTILE_TEXTS = (
    "", "[]", "7", "null", "{", DEEP, DEEP + "]" * 50_000, '{"a":' * 20_000, "\0", "x" * 100_000,
    '{"type": "no.such", "id": 1}',
    '{"type": "library.list"}',
    '{"type": "library.list", "id": -1}',
    '{"type": "library.list", "id": 1, "path": "/etc/passwd"}',
    '{"type": "table.build", "id": 1, "length_s": -1}',
    '{"type": "table.build", "id": 1, "clusters": 1e300}',
    '{"type": "transition.make", "id": 1, "a": "walk.bvh", "b": "run.bvh", "length_s": NaN}',
    '{"type": "transition.make", "id": 1, "a": "walk.bvh", "b": "run.bvh", "at": [-1, 3]}',
    '{"type": "project.save", "id": 1, "project": {"a": ' + DEEP + "]" * 50_000 + "}}",
    '{"type": "clip.open", "id": 1, "clip": "../../etc/passwd"}',
    '{"type": "stream.step", "id": 1, "live": 999999999, "frames": 30}',
    '{"type": "cancel", "id": 1, "request": "x"}',
)  # fmt: skip


def write_folder(folder: Path) -> None:
    """Clips to serve (one shorter than a window), and spare ones that come and go."""
    clips, spare = folder / "clips", folder / "spare"
    clips.mkdir()
    spare.mkdir()
    for kind in KINDS:
        ml.save(ml.synthetic.clip(kind, duration_s=2.5).motion, clips / f"{kind}.bvh")
    ml.save(ml.synthetic.clip("walk", duration_s=0.3).motion, clips / "short.bvh")
    for kind in ("sneak", "kick"):
        ml.save(ml.synthetic.clip(kind, duration_s=2.2).motion, spare / f"{kind}.bvh")
    shutil.copy(spare / "kick.bvh", clips / "extra0.bvh")


class Requests:
    """Draws requests that a page could send, and remembers what the answers allow next."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.clips = [f"{kind}.bvh" for kind in KINDS] + ["short.bvh", "extra0.bvh", "nobody"]
        self.urls: list[str] = []
        self.opened()

    def opened(self) -> None:
        """A new page: what the last one had is gone."""
        self.results: list[int] = []
        self.blends: list[int] = []
        self.streams: list[int] = []
        self.transition = ""

    def heard(self, kind: str, body: dict[str, Any], head: dict[str, Any]) -> None:
        """Remember what an answer gave out."""
        if "result" in head:
            self.results.append(head["result"])
        if head["type"] == "control":
            self.blends.append(head["live"])
        if head["type"] == "stream":
            self.streams.append(head["live"])
        if head["type"] == "export":
            self.urls = [*self.urls[-20:], head["url"]]
        rating = head.get("detail", {}).get("rating")
        if rating:
            self.transition = rating["transition"]

    def clip(self) -> str:
        """Any clip; some do not exist."""
        return self.rng.choice(self.clips)

    def result(self) -> int:
        """A result of this page, if it has one."""
        return self.rng.choice(self.results or [0])

    def valid(self) -> tuple[str, dict[str, Any]]:
        """A request of a page, most often one that can be done."""
        rng, stem = self.rng, lambda: self.rng.choice([*KINDS, "short"])
        clips = rng.sample(self.clips[:5], rng.choice([2, 2, 3]))
        share = rng.random()
        blend, stream = rng.choice(self.blends or [0]), rng.choice(self.streams or [0])
        ramp = [[1 - k / 60, k / 60] for k in range(61)]
        picture = rng.choice(["png", "svg", "gif", "mp4"])
        file = rng.choice(["bvh", "glb", "archive", "x"])
        kinds: list[tuple[float, str, dict[str, Any]]] = [
            (2, "library.list", {}),
            (6, "library.preview", {"clip": self.clip()}),
            (3, "clip.open", {"clip": self.clip()}),
            (5, "transition.make", self._transition()),
            (3, "blend.make", {"clips": clips[:2], "weights": [share, 1.0 - share]}),
            (1, "blend.make", {"clips": clips, "parameters": {"speed": 3.0 * share}}),
            (1, "blend.make", {"clips": clips[:2], "recorded": ramp}),
            (1, "blend.space", {"clips": clips}),
            (2, "control.start", {"clips": clips[:2]}),
            (9, "control.step", {"live": blend, "weights": [share, 1.0 - share],
                                 "frames": rng.randint(1, 16), "record": rng.random() < 0.2}),
            (1, "control.stop", {"live": blend}),
            (2, "splice.make", {"upper": self.clip(), "lower": self.clip(),
                                "compare": rng.random() < 0.2,
                                "when_short": rng.choice(["crop", "loop", "hold"])}),
            (1, "render.make", {"result": self.result(), "kind": picture}),
            (2, "export.make", {"what": str(self.result()), "format": file}),
            (1, "export.make", {"what": self.clip(), "format": "bvh",
                                "preset": rng.choice([None, "blender"])}),
            (1, "page.make", {"result": self.result()}),
            (1, "export.formats", {}),
            (2, "project.save", {"project": {"version": 1, "a": self.clip()}}),
            (1, "project.load", {}),
            (2, "table.state", {}),
            (0.3, "table.build", {"clusters": 6, "lookup": 6, "fps": 30.0,
                                  "length_s": rng.choice([0.5, 0.7])}),
            (0.1, "table.cancel", {}),
            (0.5, "table.matrix", {}),
            (4, "table.query", {"source": [stem(), rng.choice([None, 5, 20])],
                                "target": [stem(), rng.choice([None, 20, 60])],
                                "by": rng.choice(["table", "table", "table", "better"]),
                                "search": rng.random() < 0.1}),
            (2, "stream.start", {"source": [stem(), 0]}),
            (9, "stream.step", {"live": stream, "frames": rng.randint(1, 30)}),
            (3, "stream.go", {"live": stream, "goal": stem()}),
            (1, "stream.stop", {"live": stream}),
            (1, "label.next", {"rater": "ada"}),
            (1, "label.save", {"transition": self.transition, "natural": share < 0.5,
                               "rater": "ada"}),
            (0.5, "label.file", {}),
        ]  # fmt: skip
        _, kind, body = rng.choices(kinds, [weight for weight, _, _ in kinds])[0]
        return kind, body

    def _transition(self) -> dict[str, Any]:
        rng = self.rng
        body: dict[str, Any] = {"a": self.clip(), "b": self.clip(), "clean": rng.random() < 0.7,
                                "length_s": round(rng.uniform(0.05, 1.5), 2)}  # fmt: skip
        if rng.random() < 0.3:
            body["at"] = [rng.randint(0, 150), rng.randint(0, 150)]
        if rng.random() < 0.2:
            body["plants"] = {body["a"]: {"left_toe": [[3, rng.randint(0, 200)]]}}
        return body | {"moving": rng.random() < 0.3, "timewarp": rng.random() < 0.7}

    def mutated(self) -> str:
        """A valid request with one value exchanged, or with bytes changed."""
        rng = self.rng
        kind, body = self.valid()
        while kind == "table.build":
            kind, body = self.valid()
        body = {"type": kind, "id": rng.randint(1, 10**6), **body}
        wrong = rng.choice(
            [None, True, -1, 0, 1e300, 10**30, "", "x" * 5000, [], {}, [[]], "\ud800"]
        )
        body[rng.choice(list(body))] = wrong
        text = json.dumps(body)
        if rng.random() < 0.3:
            at = rng.randrange(len(text))
            text = text[:at] + rng.choice('{}[]",:0e-\\') + text[at + 1 :]
        return text

    def upload(self, kind: str, folder: Path) -> tuple[str, bytes]:
        """Name and bytes of a file to upload."""
        rng = self.rng
        if kind in ("rubbish", "large"):
            name = rng.choice(["x.bvh", "y.glb", "../../z.c3d", "w"])
            return name, rng.randbytes(20_000)
        file = rng.choice(sorted((folder / "spare").iterdir()))
        return file.name, file.read_bytes()

    def url(self) -> str:
        """An export, or an address that leads nowhere."""
        odd = ["download/none", "download/../../etc/passwd", "%00", "socket", "nothing.js"]
        return self.rng.choice([*self.urls, *odd]) if self.rng.random() < 0.8 else ""
