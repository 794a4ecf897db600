"""Materials and textures of an FBX file that is written, images packed into it."""

from __future__ import annotations

from motionloom.formats.character import Material, Texture
from motionloom.formats.fbx.fbx_encode import Item, property_of
from motionloom.formats.fbx.fbx_items import Scene

PLAIN = (0.28, 0.4, 0.52)
"""Colour of what has no material."""
SLOTS = {"colour": "DiffuseColor", "normal": "NormalMap", "glow": "EmissiveColor"}
"""Properties of a Phong material that textures are connected to; it has none for the others."""
WRAPS = {"repeat": 0, "mirror": 0, "clamp": 1}


def material_key(
    scene: Scene, material: Material | None, name: str, images: dict[bytes, int]
) -> int:
    """Add a material, its textures, and images that are not there yet; returns its number."""
    if material is None:
        plain = [property_of("DiffuseColor", "Color", "", "A", *PLAIN)]
        return scene.add("Material", name, "", _head("lambert", plain))
    *colour, opacity = (float(value) for value in material.colour)
    # As Blender, Maya and the engines read roughness and metal out of a Phong material.
    shine = (10.0 * (1.0 - float(material.roughness))) ** 2
    properties = [
        property_of("DiffuseColor", "Color", "", "A", *colour),
        property_of("DiffuseFactor", "Number", "", "A", 1.0),
        property_of("EmissiveColor", "Color", "", "A", *(float(v) for v in material.glow)),
        property_of("EmissiveFactor", "Number", "", "A", 1.0),
        property_of("TransparencyFactor", "Number", "", "A", 1.0 - opacity),
        property_of("Opacity", "double", "Number", "", opacity),
        property_of("Shininess", "double", "Number", "", shine),
        property_of("ShininessExponent", "Number", "", "A", shine),
        property_of("ReflectionFactor", "Number", "", "A", float(material.metal)),
    ]
    key = scene.add("Material", material.name, "", _head("phong", properties))
    for use, slot in SLOTS.items():
        if use in material.textures:
            scene.link(_texture(scene, material.textures[use], images), key, slot)
    if "colour" in material.textures and material.opacity != "opaque":
        scene.link(_texture(scene, material.textures["colour"], images), key, "TransparentColor")
    return key


def _head(model: str, properties: list[Item]) -> list[Item]:
    return [
        Item("Version", (102,)),
        Item("ShadingModel", (model,)),
        Item("MultiLayer", (0,)),
        Item("Properties70", (), properties),
    ]


def _texture(scene: Scene, texture: Texture, images: dict[bytes, int]) -> int:
    """Add a texture and the image in it."""
    stem = "".join(c if c.isalnum() or c in "-_ " else "_" for c in texture.name) or "image"
    name = stem if stem.lower().endswith(texture.suffix) else f"{stem}{texture.suffix}"
    across, up = (WRAPS[wrap] for wrap in texture.wraps)
    properties = [
        property_of("UVSet", "KString", "", "", f"uv{texture.uv + 1}" if texture.uv else ""),
        property_of("UseMaterial", "bool", "", "", 1),
        property_of("WrapModeU", "enum", "", "", across),
        property_of("WrapModeV", "enum", "", "", up),
    ]
    key = scene.add(
        "Texture",
        texture.name,
        "",
        [
            Item("Type", ("TextureVideoClip",)),
            Item("Version", (202,)),
            Item("TextureName", (f"{texture.name}\x00\x01Texture",)),
            Item("Properties70", (), properties),
            Item("Media", (f"{texture.name}\x00\x01Video",)),
            Item("FileName", (name,)),
            Item("RelativeFilename", (name,)),
        ],
    )
    if texture.data not in images:
        images[texture.data] = _image(scene, texture, name)
    scene.link(images[texture.data], key)
    return key


def _image(scene: Scene, texture: Texture, name: str) -> int:
    """Add the file of an image."""
    path = property_of("Path", "KString", "XRefUrl", "", name)
    return scene.add(
        "Video",
        texture.name,
        "Clip",
        [
            Item("Type", ("Clip",)),
            Item("Properties70", (), [path]),
            Item("UseMipMap", (0,)),
            Item("Filename", (name,)),
            Item("RelativeFilename", (name,)),
            Item("Content", (texture.data,)),
        ],
    )
