"""Runs inside Blender: imports a BVH or GLB and writes where every bone's head is in some frames.

blender --background --python blender_positions.py -- FILE OUT.json FPS START FRAME...

START is the time of frame 0, seconds.

Positions are in the file's axes again: Blender turns (x, y, z) into (x, -z, y) on import.
"""

import builtins
import json
import sys
from pathlib import Path

import bpy
import numpy

path, out, fps, start, *frames = sys.argv[sys.argv.index("--") + 1 :]
frames = [int(f) for f in frames]

bpy.ops.wm.read_factory_settings(use_empty=True)
scene = bpy.context.scene
if path.endswith(".bvh"):
    import io_anim_bvh.import_bvh as importer

    # Debian's Blender 3.4 opens BVH with mode "rU", which its Python no longer knows.
    def open_text(name, mode="r", **options):
        return builtins.open(name, mode.replace("U", ""), **options)  # noqa: PTH123

    importer.open = open_text
    bpy.ops.import_anim.bvh(filepath=path, frame_start=1, use_fps_scale=False)
    at = [1.0 + f for f in frames]
else:
    numpy.bool = bool  # its glTF importer uses the name, which Debian's numpy no longer has
    scene.render.fps = 60
    bpy.ops.import_scene.gltf(filepath=path)
    at = [60.0 * (float(start) + f / float(fps)) for f in frames]

armatures = [item for item in bpy.data.objects if item.type == "ARMATURE"]
armature = max(armatures, key=lambda item: len(item.pose.bones))
positions = []
for frame in at:
    scene.frame_set(int(frame), subframe=frame - int(frame))
    heads = {}
    for bone in armature.pose.bones:
        x, y, z = armature.matrix_world @ bone.head
        heads[bone.name] = [x, z, -y]
    positions.append(heads)
told = {"positions": positions, "blender": bpy.app.version_string}
Path(out).write_text(json.dumps(told), encoding="utf-8")
