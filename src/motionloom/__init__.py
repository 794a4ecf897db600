"""motionloom: new human motion out of captured motion.

``__init__.pyi`` lists the public names. Each is loaded when first used, so that
``import motionloom`` and ``motionloom --help`` stay quick.
"""

import re
from importlib import import_module
from pkgutil import get_data

from motionloom._records import draw_with

__version__ = "0.1.0"

_PLACES = {
    public: (module, name)
    for module, names in re.findall(
        r"^from (\S+) import (\([^)]+\)|.+)$",
        (get_data(__name__, "__init__.pyi") or b"").decode(),
        re.MULTILINE,
    )
    for name, public in re.findall(r"(\w+) as (\w+)", names)
}
"""Module and name there of every public name."""

__all__ = [*sorted(_PLACES), "__version__"]  # pyright: ignore[reportUnsupportedDunderAll]


# Motions and results draw themselves in notebooks.
draw_with(lambda drawn: import_module("motionloom.drawing.view").inline_html(drawn))


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f"module 'motionloom' has no attribute {name!r}")
    module, inside = _PLACES[name]
    if module == "motionloom":
        value: object = import_module(f"motionloom.{inside}")
    else:
        value = getattr(import_module(module), inside)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
