"""What stands around the objects of an FBX file: head, settings, definitions, takes."""

from __future__ import annotations

from motionloom.formats.fbx.fbx_encode import (
    CREATION_TIME,
    FILE_ID,
    VERSION,
    Item,
    Long,
    property_of,
)
from motionloom.formats.fbx.fbx_items import FIRST_KEY, Scene
from motionloom.formats.fbx.fbx_keys import key_ticks
from motionloom.formats.fbx.fbx_settings import CUSTOM_MODE, RATES
from motionloom.motion.motion import Motion

CREATOR = "motionloom"
AXES: dict[str, tuple[tuple[int, int], tuple[int, int]]] = {
    "y": ((2, 1), (0, 1)),
    "z": ((1, -1), (0, 1)),
    "x": ((2, 1), (1, -1)),
    "-y": ((2, 1), (0, -1)),
    "-z": ((1, 1), (0, 1)),
    "-x": ((2, 1), (1, 1)),
}
"""For every up axis: front and right, each as axis and sign, so that all are right-handed."""


def opening_items(scene: Scene, *, unit_m: float, up: str, motion: Motion) -> list[Item]:
    """Everything before the objects."""
    return [
        Item(
            "FBXHeaderExtension",
            (),
            [
                Item("FBXHeaderVersion", (1003,)),
                Item("FBXVersion", (VERSION,)),
                Item("EncryptionType", (0,)),
                Item("Creator", (CREATOR,)),
            ],
        ),
        Item("FileId", (FILE_ID,)),
        Item("CreationTime", (CREATION_TIME,)),
        Item("Creator", (CREATOR,)),
        _settings(unit_m, up, motion),
        _documents(),
        Item("References"),
        _definitions(scene),
    ]


def _settings(unit_m: float, up: str, motion: Motion) -> Item:
    axis, sign = "xyz".index(up[-1]), -1 if up[0] == "-" else 1
    front, right = AXES[up]
    mode = next((mode for mode, fps in RATES.items() if fps == motion.fps), CUSTOM_MODE)
    stop = int(key_ticks(motion)[-1])
    numbers = {
        **{"UpAxis": axis, "UpAxisSign": sign, "FrontAxis": front[0], "FrontAxisSign": front[1]},
        **{"CoordAxis": right[0], "CoordAxisSign": right[1]},
        **{"OriginalUpAxis": axis, "OriginalUpAxisSign": sign},
    }
    properties = [
        *(property_of(name, "int", "Integer", "", value) for name, value in numbers.items()),
        property_of("UnitScaleFactor", "double", "Number", "", 100.0 * unit_m),
        property_of("OriginalUnitScaleFactor", "double", "Number", "", 100.0 * unit_m),
        property_of("AmbientColor", "ColorRGB", "Color", "", 0.0, 0.0, 0.0),
        property_of("DefaultCamera", "KString", "", "", "Producer Perspective"),
        property_of("TimeMode", "enum", "", "", mode),
        property_of("TimeSpanStart", "KTime", "Time", "", Long(0)),
        property_of("TimeSpanStop", "KTime", "Time", "", Long(stop)),
        property_of("CustomFrameRate", "double", "Number", "", float(motion.fps)),
    ]
    return Item(
        "GlobalSettings", (), [Item("Version", (1000,)), Item("Properties70", (), properties)]
    )


def _documents() -> Item:
    source = property_of("SourceObject", "object", "", "")
    inner = [Item("Properties70", (), [source]), Item("RootNode", (Long(0),))]
    document = Item("Document", (Long(FIRST_KEY - 1), "", "Scene"), inner)
    return Item("Documents", (), [Item("Count", (1,)), document])


def _definitions(scene: Scene) -> Item:
    counts = {"GlobalSettings": 1, **scene.counts}
    kinds = [Item("ObjectType", (kind,), [Item("Count", (n,))]) for kind, n in counts.items()]
    head = [Item("Version", (100,)), Item("Count", (sum(counts.values()),))]
    return Item("Definitions", (), [*head, *kinds])


def closing_items(motion: Motion, name: str) -> list[Item]:
    """Everything after the connections."""
    span = (Long(0), Long(int(key_ticks(motion)[-1])))
    take = [
        Item("FileName", (f"{name}.tak",)),
        Item("LocalTime", span),
        Item("ReferenceTime", span),
    ]
    return [Item("Takes", (), [Item("Current", (name,)), Item("Take", (name,), take)])]
