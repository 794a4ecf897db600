"""Materials and textures of a glTF file."""

from __future__ import annotations

from typing import Any

from motionloom.errors import FormatError
from motionloom.formats.character import Material, Texture
from motionloom.formats.file_skin import LeftOut
from motionloom.formats.gltf.gltf_document import Document, index_of

WRAPS = {33071: "clamp", 33648: "mirror", 10497: "repeat"}
NEAREST = 9728
OPACITIES = {"OPAQUE": "opaque", "MASK": "mask", "BLEND": "blend"}


class Materials:
    """Materials of the meshes that are read, each once, in the order in which they are met."""

    def __init__(self, document: Document, left_out: LeftOut) -> None:
        self.document = document
        self.left_out = left_out
        self.read: list[Material] = []
        self._rows: dict[int, int] = {}
        self._images: dict[int, bytes | None] = {}

    def row(self, number: Any, where: str) -> int:
        """The place of a material of the file in the list; -1 for none."""
        if number is None:
            return -1
        listed = self.document.listed("materials")
        index = index_of(number, len(listed), where)
        if index not in self._rows:
            self._rows[index] = len(self.read)
            self.read.append(self._material(listed[index], f"material {index}"))
        return self._rows[index]

    def _material(self, spec: dict[str, Any], where: str) -> Material:
        surface = _object(spec.get("pbrMetallicRoughness"))
        stated = spec.get("name")
        name = stated if isinstance(stated, str) and stated else where.replace(" ", "_")
        if _object(spec.get("extensions")):
            self.left_out.add("Extensions of materials are left out", name)
        slots = {
            "colour": surface.get("baseColorTexture"),
            "normal": spec.get("normalTexture"),
            "metal_and_roughness": surface.get("metallicRoughnessTexture"),
            "occlusion": spec.get("occlusionTexture"),
            "glow": spec.get("emissiveTexture"),
        }
        textures = {use: self._texture(slot, where) for use, slot in slots.items() if slot}
        red, green, blue, opacity = _shares(surface.get("baseColorFactor"), 4, 1.0)
        glow_red, glow_green, glow_blue = _shares(spec.get("emissiveFactor"), 3, 0.0)
        return Material(
            name,
            colour=(red, green, blue, opacity),
            metal=_shares([surface.get("metallicFactor", 1.0)], 1, 1.0)[0],
            roughness=_shares([surface.get("roughnessFactor", 1.0)], 1, 1.0)[0],
            glow=(glow_red, glow_green, glow_blue),
            opacity=OPACITIES.get(str(spec.get("alphaMode")), "opaque"),
            cutoff=_shares([spec.get("alphaCutoff", 0.5)], 1, 0.5)[0],
            two_sided=spec.get("doubleSided") is True,
            textures={use: texture for use, texture in textures.items() if texture},
        )

    def _texture(self, slot: Any, where: str) -> Texture | None:
        slot = _object(slot)
        if _object(slot.get("extensions")):
            self.left_out.add("Transforms of textures are left out", where)
        listed = self.document.listed("textures")
        spec = listed[index_of(slot.get("index"), len(listed), where)]
        images = self.document.listed("images")
        if "source" not in spec:
            self.left_out.add("Textures in formats of extensions are left out", where)
            return None
        number = index_of(spec["source"], len(images), where)
        if number not in self._images:
            self._images[number] = self._image(images[number], f"image {number}")
        data = self._images[number]
        if data is None:
            return None
        samplers = self.document.listed("samplers")
        sampler: dict[str, Any] = {}
        if "sampler" in spec:
            sampler = samplers[index_of(spec["sampler"], len(samplers), where)]
        uv = slot.get("texCoord", 0)
        return Texture(
            str(images[number].get("name") or spec.get("name") or f"image_{number}"),
            data,
            uv=uv if isinstance(uv, int) and 0 <= uv < 8 else 0,
            wraps=(_wrap(sampler.get("wrapS")), _wrap(sampler.get("wrapT"))),
            smooth=sampler.get("magFilter") != NEAREST,
        )

    def _image(self, spec: dict[str, Any], where: str) -> bytes | None:
        """The bytes of an image file; None where it is not there."""
        try:
            if "bufferView" in spec:
                return self.document.view_bytes(spec["bufferView"], where)
            return self.document.uri_bytes(spec.get("uri"), where)
        except FormatError as error:
            self.left_out.add(f"Images that cannot be read are left out ({error.problem})", where)
            return None


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _wrap(code: Any) -> str:
    return WRAPS.get(code, "repeat") if isinstance(code, int) else "repeat"


def _shares(values: Any, n: int, default: float) -> tuple[float, ...]:
    """``n`` numbers from 0 to 1; the default for each that is none."""
    listed = values if isinstance(values, list) and len(values) == n else [default] * n
    good = (value if isinstance(value, int | float) else default for value in listed)
    return tuple(min(max(float(value), 0.0), 1.0) if value == value else default for value in good)
