"""Arguments of one call: some fit, some are odd, some are wrong."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import motionloom as ml
from odd import Random, good_clip, odd_body, odd_footplants, odd_motion, odd_value, rigs

Maker = Callable[[Random], Any]
SECONDS: tuple[Any, ...] = (0.2, 0.6, 1.5, 0.0, -1.0, 1e-9, 1e9, float("nan"), float("inf"), "1", 1)


@dataclass(frozen=True)
class Call:
    """A function with the arguments it is called with."""

    name: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    options: Mapping[str, Any]

    def __call__(self) -> Any:
        return self.function(*self.arguments, **self.options)

    def __str__(self) -> str:
        parts = [_short(each) for each in self.arguments]
        parts += [f"{name}={_short(value)}" for name, value in self.options.items()]
        return f"{self.name}({', '.join(parts)})"


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) < 100 else f"{text[:97]}..."


class Arguments:
    """The arguments of one call: some fit, some are odd, some are wrong."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.wrong = float(rng.choice([0.0, 0.0, 0.05, 0.3]))
        self.odd = float(rng.choice([0.0, 0.5, 1.0]))
        self.rig: ml.Skeleton | None = None
        if rng.random() < 0.7:
            known = list(rigs().values())
            self.rig = known[int(rng.integers(len(known)))]

    def pick(self, *makers: Maker) -> Any:
        """The first maker's value, one of the others' where odd, anything where wrong."""
        if self.rng.random() < self.wrong:
            return odd_value(self.rng)
        if len(makers) > 1 and self.rng.random() < self.odd:
            return makers[int(self.rng.integers(1, len(makers)))](self.rng)
        return makers[0](self.rng)

    def motion(self) -> Any:
        return self.pick(good_clip, lambda rng: odd_motion(rng, self.rig), odd_motion)

    def one_of(self, *values: Any) -> Any:
        """The first value as a rule; another where odd."""
        return self.pick(lambda _: values[0], lambda rng: values[int(rng.integers(len(values)))])

    def seconds(self) -> Any:
        return self.one_of(*SECONDS)

    def number(self, usual: float) -> Any:
        return self.one_of(usual, 0.0, -1.0, 1e-9, 1e9, 1e300, float("nan"), 10**400, -5, 0.3, 2)

    def frame(self, usual: int) -> Any:
        return self.one_of(usual, 0, 1, -1, 2, 7, 10**6, 10**30, 0.5)

    def body(self, motion: Any) -> Any:
        if not isinstance(motion, ml.Motion):
            return None
        return self.pick(lambda _: None, lambda rng: odd_body(rng, motion))

    def footplants(self, motion: Any) -> Any:
        if not isinstance(motion, ml.Motion):
            return None
        return self.pick(lambda _: None, lambda rng: odd_footplants(rng, motion))

    def some(self, options: dict[str, Callable[[], Any]]) -> dict[str, Any]:
        """Some of the options, each with a value."""
        share = float(self.rng.choice([0.0, 0.2, 0.5]))
        return {name: make() for name, make in options.items() if self.rng.random() < share}


@cache
def curve_of(kind: int) -> ml.RegistrationCurve:
    """A few registration curves: two turns, three speeds, a clip with itself."""
    clip = ml.synthetic.clip
    if kind == 0:
        return ml.register([clip("walk", turn=t, duration_s=2.0).motion for t in (-0.8, 0.8)])
    if kind == 1:
        return ml.register([clip(k, duration_s=1.5).motion for k in ("walk", "jog", "sneak")])
    stand = clip("stand", duration_s=0.5).motion
    return ml.register([stand, stand])


@cache
def table_of() -> tuple[ml.Collection, ml.TransitionTable]:
    """A small table on a small collection, in a temporary folder."""
    keep = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
    folder = Path(keep.name) / "clips"
    folder.mkdir()
    for kind in ("walk", "run", "stand"):
        ml.save(ml.synthetic.clip(kind, duration_s=1.5, fps=20).motion, folder / f"{kind}.bvh")
    lib = ml.Collection.ingest(folder, fps=20)
    lib.annotate("stand", "rest", frames=(0, 9))
    table = ml.build_table(lib, length_s=0.5, clusters=4, jobs=1, progress=False)
    _KEEP.append(keep)
    return lib, table


_KEEP: list[Any] = []


@cache
def graph_of() -> ml.MotionGraph:
    """A motion graph over the frames of the small collection."""
    return ml.MotionGraph.build(table_of()[0], threshold_cm=30.0)


def pair_of(a: Arguments) -> tuple[Any, Any]:
    """Two motions, on one skeleton more often than not."""
    first = a.motion()
    if isinstance(first, ml.Motion) and a.rng.random() < 0.4:
        return first, odd_motion(a.rng, first.skeleton)
    return first, a.motion()
