"""Runs inside Blender: imports GLB and FBX files and writes where the points of meshes are.

blender --background --factory-startup --python blender_skin.py -- JOBS.json OUT.json

A job has ``file`` and ``times``, in seconds. Points are in metres with Y up; images are those that
a material uses, by name, with their width and height, which Blender has decoded.
"""

import json
import sys
from pathlib import Path

import bpy
import numpy

SCENE_FPS = 60

if not hasattr(numpy, "bool"):  # which the glTF importer of Blender 3.4 names
    numpy.bool = bool


def skinned_points():
    """Every point of every mesh, as its bones carry it."""
    graph = bpy.context.evaluated_depsgraph_get()
    points = []
    for item in bpy.data.objects:
        if item.type == "MESH" and any(each.type == "ARMATURE" for each in item.modifiers):
            moved = item.evaluated_get(graph)
            places = (moved.matrix_world @ point.co for point in moved.to_mesh().vertices)
            points += [[x, z, -y] for x, y, z in places]
    return points


def used_images():
    """Images in the materials, with the size that Blender decodes."""
    found = {}
    for material in bpy.data.materials:
        nodes = material.node_tree.nodes if material.node_tree else ()
        for node in nodes:
            if node.type == "TEX_IMAGE" and node.image:
                found[node.image.name] = list(node.image.size)
    return found


def answer(job):
    """Points of the meshes at the times of one job, and its images."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.render.fps = SCENE_FPS
    if job["file"].endswith(".fbx"):
        bpy.ops.import_scene.fbx(filepath=job["file"], anim_offset=0.0)
    else:
        bpy.ops.import_scene.gltf(filepath=job["file"])
    rate = scene.render.fps / scene.render.fps_base
    frames = []
    for time in job["times"]:
        scene.frame_set(int(rate * time), subframe=rate * time - int(rate * time))
        frames.append(skinned_points())
    return {"frames": frames, "images": used_images()}


jobs, out = sys.argv[sys.argv.index("--") + 1 :]
answers = {name: answer(job) for name, job in json.loads(Path(jobs).read_text()).items()}
Path(out).write_text(json.dumps(answers), encoding="utf-8")
