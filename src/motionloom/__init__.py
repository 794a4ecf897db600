"""motionloom: new human motion out of captured motion.

The public names, loaded when first used, so that ``import motionloom`` and ``motionloom --help``
stay quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

_HOME = {
    "ArrayError": "errors",
    "Blend": "blending.blend",
    "BodyMap": "body.body_map",
    "Cleanup": "cleanup.cleanup_report",
    "Collection": "tables.collection.collection",
    "Finding": "findings",
    "Floor": "motion.source",
    "Footplants": "motion.contacts",
    "FormatError": "errors",
    "Loop": "blending.loop",
    "Motion": "motion.motion",
    "MotionGraph": "tables.graph.motion_graph",
    "MotionLoomError": "errors",
    "MotionLoomWarning": "findings",
    "ParameterSpace": "blending.parameters",
    "Pose": "blending.control",
    "Quality": "features.quality",
    "RegistrationCurve": "registration.curve",
    "RegistrationError": "errors",
    "Score": "tables.score.score",
    "Skeleton": "motion.skeleton",
    "SkeletonMismatchError": "errors",
    "Source": "motion.source",
    "Splice": "splicing.splice",
    "TableError": "errors",
    "TableTransition": "tables.table_transition",
    "Transition": "blending.transition",
    "TransitionTable": "tables.table",
    "blend": "blending.blend",
    "build_table": "tables.build",
    "clean_footskate": "cleanup.footskate",
    "concatenate": "motion.edit",
    "control": "blending.control",
    "detect_footplants": "features.footplants.detect",
    "engine_of": "tables.engines.engine_choice",
    "extend_table": "tables.extend",
    "forward_kinematics": "motion.kinematics",
    "ground": "intake.ground",
    "inspect_file": "intake.load",
    "lead_in": "blending.lead",
    "lead_out": "blending.lead",
    "load": "intake.load",
    "loop": "blending.loop",
    "measure_quality": "features.quality",
    "mirror": "body.mirror",
    "move": "motion.edit",
    "parametrize": "blending.parameters",
    "register": "registration.register",
    "resample": "motion.edit",
    "retarget": "retargeting.retarget",
    "save": "intake.save",
    "score": "tables.score.score",
    "splice": "splicing.splice",
    "supported_formats": "intake.save",
    "sync_markers": "features.footplants.sync_markers",
    "synthetic": "",
    "transition": "blending.transition",
    "verify": "features.checks.verify",
    "view": "drawing.view",
}

__all__ = [*sorted(_HOME), "__version__"]

if TYPE_CHECKING:
    from motionloom import synthetic as synthetic
    from motionloom.blending.blend import Blend as Blend
    from motionloom.blending.blend import blend as blend
    from motionloom.blending.control import Pose as Pose
    from motionloom.blending.control import control as control
    from motionloom.blending.lead import lead_in as lead_in
    from motionloom.blending.lead import lead_out as lead_out
    from motionloom.blending.loop import Loop as Loop
    from motionloom.blending.loop import loop as loop
    from motionloom.blending.parameters import ParameterSpace as ParameterSpace
    from motionloom.blending.parameters import parametrize as parametrize
    from motionloom.blending.transition import Transition as Transition
    from motionloom.blending.transition import transition as transition
    from motionloom.body.body_map import BodyMap as BodyMap
    from motionloom.body.mirror import mirror as mirror
    from motionloom.cleanup.cleanup_report import Cleanup as Cleanup
    from motionloom.cleanup.footskate import clean_footskate as clean_footskate
    from motionloom.drawing.view import view as view
    from motionloom.errors import ArrayError as ArrayError
    from motionloom.errors import FormatError as FormatError
    from motionloom.errors import MotionLoomError as MotionLoomError
    from motionloom.errors import RegistrationError as RegistrationError
    from motionloom.errors import SkeletonMismatchError as SkeletonMismatchError
    from motionloom.errors import TableError as TableError
    from motionloom.features.checks.verify import verify as verify
    from motionloom.features.footplants.detect import detect_footplants as detect_footplants
    from motionloom.features.footplants.sync_markers import sync_markers as sync_markers
    from motionloom.features.quality import Quality as Quality
    from motionloom.features.quality import measure_quality as measure_quality
    from motionloom.findings import Finding as Finding
    from motionloom.findings import MotionLoomWarning as MotionLoomWarning
    from motionloom.intake.ground import ground as ground
    from motionloom.intake.load import inspect_file as inspect_file
    from motionloom.intake.load import load as load
    from motionloom.intake.save import save as save
    from motionloom.intake.save import supported_formats as supported_formats
    from motionloom.motion.contacts import Footplants as Footplants
    from motionloom.motion.edit import concatenate as concatenate
    from motionloom.motion.edit import move as move
    from motionloom.motion.edit import resample as resample
    from motionloom.motion.kinematics import forward_kinematics as forward_kinematics
    from motionloom.motion.motion import Motion as Motion
    from motionloom.motion.skeleton import Skeleton as Skeleton
    from motionloom.motion.source import Floor as Floor
    from motionloom.motion.source import Source as Source
    from motionloom.registration.curve import RegistrationCurve as RegistrationCurve
    from motionloom.registration.register import register as register
    from motionloom.retargeting.retarget import retarget as retarget
    from motionloom.splicing.splice import Splice as Splice
    from motionloom.splicing.splice import splice as splice
    from motionloom.tables.build import build_table as build_table
    from motionloom.tables.collection.collection import Collection as Collection
    from motionloom.tables.engines.engine_choice import engine_of as engine_of
    from motionloom.tables.extend import extend_table as extend_table
    from motionloom.tables.graph.motion_graph import MotionGraph as MotionGraph
    from motionloom.tables.score.score import Score as Score
    from motionloom.tables.score.score import score as score
    from motionloom.tables.table import TransitionTable as TransitionTable
    from motionloom.tables.table_transition import TableTransition as TableTransition


def __getattr__(name: str) -> object:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'motionloom' has no attribute {name!r}")
    if home == "":
        value: object = import_module(f"motionloom.{name}")
    else:
        value = getattr(import_module(f"motionloom.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
