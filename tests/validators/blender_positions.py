"""Runs inside Blender: imports BVH, GLB and FBX files and writes where every bone's head is.

blender --background --factory-startup --python blender_positions.py -- JOBS.json OUT.json

A job has ``file``, ``frames``, ``fps``, and ``start_s``, the time of frame 0,
and ``skin`` where points of meshes are wanted. Positions are in the
file's axes again: Blender turns (x, y, z) into (x, -z, y) on import.
"""

import builtins
import json
import sys
from pathlib import Path

import bpy
import io_anim_bvh.import_bvh
import numpy

SCENE_FPS = 60


def open_text(name, mode="r", **options):
    return builtins.open(name, mode.replace("U", ""), **options)  # noqa: PTH123


# Debian's Blender 3.4 opens BVH with mode "rU", which its Python no longer knows, and its glTF
# importer says numpy.bool, which Debian's numpy no longer has.
io_anim_bvh.import_bvh.open = open_text
if not hasattr(numpy, "bool"):
    numpy.bool = bool


def skin_points():
    """Every point of every mesh, as its bones carry it."""
    graph = bpy.context.evaluated_depsgraph_get()
    points = []
    for item in bpy.data.objects:
        if item.type == "MESH":
            moved = item.evaluated_get(graph)
            places = (moved.matrix_world @ point.co for point in moved.to_mesh().vertices)
            points += [[x, z, -y] for x, y, z in places]
    return points


def bone_heads(job):
    """Where every bone's head is in the frames of one job."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    if job["file"].endswith(".bvh"):
        bpy.ops.import_anim.bvh(filepath=job["file"], frame_start=1, use_fps_scale=False)
        at = [1.0 + frame for frame in job["frames"]]
    elif job["file"].endswith(".fbx"):
        bpy.ops.import_scene.fbx(filepath=job["file"], anim_offset=0.0)
        rate = scene.render.fps / scene.render.fps_base
        at = [rate * (job["start_s"] + frame / job["fps"]) for frame in job["frames"]]
    else:
        scene.render.fps = SCENE_FPS
        bpy.ops.import_scene.gltf(filepath=job["file"])
        at = [SCENE_FPS * (job["start_s"] + frame / job["fps"]) for frame in job["frames"]]
    armatures = [item for item in bpy.data.objects if item.type == "ARMATURE"]
    armature = max(armatures, key=lambda item: len(item.pose.bones))
    positions = []
    for time in at:
        scene.frame_set(int(time), subframe=time - int(time))
        heads = {}
        for bone in armature.pose.bones:
            x, y, z = armature.matrix_world @ bone.head
            heads[bone.name] = [x, z, -y]
        if job.get("skin"):
            heads["skin"] = skin_points()
        positions.append(heads)
    return positions


jobs, out = sys.argv[sys.argv.index("--") + 1 :]
heads_of = {name: bone_heads(job) for name, job in json.loads(Path(jobs).read_text()).items()}
Path(out).write_text(json.dumps(heads_of), encoding="utf-8")
