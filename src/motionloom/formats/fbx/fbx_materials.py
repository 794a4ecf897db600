"""Materials and textures of an FBX file that is read."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import numpy as np

from motionloom.errors import FormatError
from motionloom.formats.character import Material, Texture
from motionloom.formats.fbx.fbx_element import Element
from motionloom.formats.fbx.fbx_objects import FbxObject, Objects, Properties
from motionloom.formats.file_clip import ReadOptions
from motionloom.formats.file_skin import LeftOut
from motionloom.reading.opening import read_file

USES = {
    **{"DiffuseColor": "colour", "Maya|baseColor": "colour", "Maya|TEX_color_map": "colour"},
    **{"3dsMax|Parameters|base_color_map": "colour", "NormalMap": "normal", "Bump": "normal"},
    **{"Maya|normalCamera": "normal", "EmissiveColor": "glow", "Maya|emissionColor": "glow"},
}
"""What a texture is for, by the property of the material that it is connected to."""
CLAMP = 1
MOST_IMAGE_BYTES = 256 * 1024**2


class FbxMaterials:
    """Materials of the meshes that are read, each once, in the order in which they are met."""

    def __init__(self, objects: Objects, options: ReadOptions, left_out: LeftOut) -> None:
        self.objects = objects
        self.options = options
        self.left_out = left_out
        self.read: list[Material] = []
        self._rows: dict[int, int] = {}
        self._images: dict[int, bytes | None] = {}

    def rows(self, model: int) -> list[int]:
        """Places in the list of the materials of a model, in its order."""
        rows = []
        for item in self.objects.linked(model, "Material"):
            if item.key not in self._rows:
                self._rows[item.key] = len(self.read)
                self.read.append(self._material(item))
            rows.append(self._rows[item.key])
        return rows

    def _material(self, item: FbxObject) -> Material:
        table = self.objects.properties(item)
        colour = _shares(table, "DiffuseColor", (0.8, 0.8, 0.8), table.number("DiffuseFactor", 1.0))
        glow = _shares(table, "EmissiveColor", (0.0, 0.0, 0.0), table.number("EmissiveFactor", 1.0))
        shine = table.number("Shininess", table.number("ShininessExponent", 4.0))
        opacity = float(np.clip(table.number("Opacity", 1.0), 0.0, 1.0))
        textures: dict[str, Texture] = {}
        cut_out = False
        for link in self.objects.below.get(item.key, ()):
            image = self.objects.by_key.get(link.child)
            if image is None or image.kind != "Texture":
                continue
            cut_out |= link.name in ("TransparentColor", "TransparencyFactor")
            use = USES.get(link.name)
            texture = None if use is None or use in textures else self._texture(image)
            if texture is not None and use is not None:
                textures[use] = texture
        if "colour" in textures and table.values("DiffuseColor") is None:
            colour = (1.0, 1.0, 1.0)
        return Material(
            item.name or "material",
            colour=(*colour, opacity),
            metal=float(np.clip(table.number("ReflectionFactor", 0.0), 0.0, 1.0)),
            roughness=float(np.clip(1.0 - np.sqrt(max(shine, 0.0)) / 10.0, 0.0, 1.0)),
            glow=glow,
            opacity="blend" if cut_out or opacity < 1.0 else "opaque",
            textures=textures,
        )

    def _texture(self, item: FbxObject) -> Texture | None:
        video = next(self.objects.linked(item.key, "Video"), None)
        holder = item if video is None else video
        if holder.key not in self._images:
            self._images[holder.key] = self._image(holder, item)
        data = self._images[holder.key]
        if not data:
            self.left_out.add("Images that cannot be read are left out", item.name or "texture")
            return None
        table = self.objects.properties(item)
        wraps = [table.whole(name, 0) == CLAMP for name in ("WrapModeU", "WrapModeV")]
        across, up = ("clamp" if clamped else "repeat" for clamped in wraps)
        return Texture(item.name or "texture", data, wraps=(across, up))

    def _image(self, holder: FbxObject, texture: FbxObject) -> bytes | None:
        """The bytes of an image: packed into the file, or in a file next to it."""
        content = holder.element.child("Content")
        packed = None if content is None else self.objects.document.raw_bytes(content)
        if packed:
            return packed
        for element in (holder.element, texture.element):
            for name in ("RelativeFilename", "Filename", "FileName"):
                image = self._neighbour(element.child(name))
                if image:
                    return image
        return None

    def _neighbour(self, element: Element | None) -> bytes | None:
        """A file in the folder of this one or below it, by its path there or its name alone."""
        text = "" if element is None else element.text(0).replace("\\", "/")
        if not text or "\0" in text or self.options.path is None:
            return None
        folder = self.options.path.parent.resolve()
        stated = PurePosixPath(text)
        inside = not stated.is_absolute() and ".." not in stated.parts and ":" not in text
        tried = [Path(folder, *stated.parts)] if inside else []
        packed = f"{self.options.path.stem}.fbm"
        tried += [folder / stated.name, folder / packed / stated.name]
        tried += [folder / "textures" / stated.name]
        for path in tried:
            try:
                real = path.resolve()
                if not real.is_relative_to(folder) or not real.is_file():
                    continue
                size = real.stat().st_size
                if size > MOST_IMAGE_BYTES:
                    continue
                self.objects.document.budget.add_file(size)
                self.objects.document.budget.take(size, "this image")
                return read_file(real, size)
            except (OSError, ValueError, FormatError):
                continue
        return None


def _shares(
    table: Properties, name: str, default: tuple[float, float, float], factor: float
) -> tuple[float, float, float]:
    red, green, blue = (float(v) for v in np.clip(table.vector(name, default) * factor, 0.0, 1.0))
    return red, green, blue
