"""The public names of motionloom. ``__init__.py`` reads this list and loads each on first use."""

from motionloom import synthetic as synthetic
from motionloom.blending.blend import Blend as Blend, blend as blend
from motionloom.blending.join import Candidate as Candidate
from motionloom.blending.control import Controller as Controller, Pose as Pose, control as control
from motionloom.blending.transition import lead_in as lead_in, lead_out as lead_out
from motionloom.blending.parameters import measure as measure
from motionloom.blending.loop import Loop as Loop, loop as loop
from motionloom.blending.parameters import (
    ParameterSpace as ParameterSpace,
    parametrize as parametrize,
)
from motionloom.blending.sequence import (
    Sequence as Sequence,
    SequenceJoint as SequenceJoint,
    sequence as sequence,
)
from motionloom.blending.transition import Kept as Kept
from motionloom.blending.transition import Transition as Transition, transition as transition
from motionloom.blending.weights import (
    WeightTable as WeightTable,
    read_weights as read_weights,
)
from motionloom.body.body_map import BodyMap as BodyMap
from motionloom.body.mirror import mirror as mirror
from motionloom.body.root_motion import (
    in_place as in_place,
    travel_on_pelvis as travel_on_pelvis,
    travel_on_root as travel_on_root,
    with_root_bone as with_root_bone,
    without_root_bone as without_root_bone,
)
from motionloom.body.anatomy import stature as stature
from motionloom.cleanup.balancing import (
    Balanced as Balanced,
    BalanceFigures as BalanceFigures,
    balance as balance,
)
from motionloom.cleanup.cleanup_report import (
    Cleanup as Cleanup,
    CleanupReport as CleanupReport,
    PlantReport as PlantReport,
)
from motionloom.cleanup.footskate import clean_footskate as clean_footskate
from motionloom.cleanup.hands import (
    HandHold as HandHold,
    HeldHands as HeldHands,
    hold_hands as hold_hands,
)
from motionloom.datasets.check_dataset import check_dataset as check_dataset
from motionloom.datasets.clean_dataset import clean_dataset as clean_dataset
from motionloom.datasets.reports import ClipReport as ClipReport, Defect as Defect
from motionloom.datasets.reports import DatasetReport as DatasetReport
from motionloom.datasets.clean_dataset import plan_outputs as plan_outputs
from motionloom.demo.write_demo import write_demo as write_demo
from motionloom.drawing.render import render as render
from motionloom.drawing.view import Viewer as Viewer, view as view
from motionloom.errors import (
    ArrayError as ArrayError,
    FlawedResultError as FlawedResultError,
    FormatError as FormatError,
    MotionLoomError as MotionLoomError,
    RegistrationError as RegistrationError,
    SkeletonMismatchError as SkeletonMismatchError,
    TableError as TableError,
)
from motionloom.features.checks.verification import FailedCheck as FailedCheck
from motionloom.features.checks.quality_check import QualityCheck as QualityCheck
from motionloom.features.checks.verification import Verification as Verification
from motionloom.features.checks.quality_check import verify as verify
from motionloom.features.footplants.detect import detect_footplants as detect_footplants
from motionloom.features.footplants.sync_markers import (
    Marker as Marker,
    SyncMarkers as SyncMarkers,
    sync_markers as sync_markers,
)
from motionloom.features.glitches.glitch_frames import Glitch as Glitch
from motionloom.features.quality import Quality as Quality, measure_quality as measure_quality
from motionloom.features.glitches.glitch_frames import SpeedSpike as SpeedSpike
from motionloom.findings import Finding as Finding, MotionLoomWarning as MotionLoomWarning
from motionloom.formats.character import (
    Character as Character,
    Material as Material,
    SkinnedMesh as SkinnedMesh,
    Texture as Texture,
)
from motionloom.intake.clip_names import (
    ClipRange as ClipRange,
    split_range as split_range,
)
from motionloom.intake.clip_names import (
    clips_in_file as clips_in_file,
    find_clips as find_clips,
)
from motionloom.intake.engine_export import EngineExport as EngineExport
from motionloom.intake.floor import ground as ground
from motionloom.intake.load_character import load_character as load_character
from motionloom.intake.load import (
    inspect_file as inspect_file,
    load as load,
    load_provenance as load_provenance,
)
from motionloom.intake.markers import MarkerClip as MarkerClip, load_points as load_points
from motionloom.intake.robot import Robot as Robot, load_robot as load_robot
from motionloom.intake.robot import RobotClip as RobotClip
from motionloom.intake.save import (
    FormatInfo as FormatInfo,
    save as save,
    supported_formats as supported_formats,
)
from motionloom.intake.load_character import smpl_skeleton as smpl_skeleton
from motionloom.intake.units import named_unit as named_unit
from motionloom.motion.motion import Footplants as Footplants
from motionloom.motion.edit import concatenate as concatenate, move as move, resample as resample
from motionloom.motion.motion import forward_kinematics as forward_kinematics
from motionloom.motion.motion import Motion as Motion
from motionloom.motion.provenance import (
    Copy as Copy,
    MadeOf as MadeOf,
    Provenance as Provenance,
    Track as Track,
)
from motionloom.motion.motion import Skeleton as Skeleton
from motionloom.motion.provenance import Floor as Floor, Source as Source
from motionloom.registration.constraint_file import read_constraints as read_constraints
from motionloom.registration.curve import ConstraintMatch as ConstraintMatch
from motionloom.registration.curve import RegistrationCurve as RegistrationCurve
from motionloom.registration.gait_cycles import (
    GaitCycle as GaitCycle,
    find_cycles as find_cycles,
)
from motionloom.registration.register import register as register
from motionloom.registration.curve import Spline as Spline
from motionloom.registration.gait_cycles import UncutClips as UncutClips
from motionloom.retargeting.match import MatchedClips as MatchedClips, match_clips as match_clips
from motionloom.retargeting.retarget import retarget as retarget
from motionloom.rotation.quat import PlanarTransform as PlanarTransform
from motionloom.splicing.splice import Splice as Splice, splice as splice
from motionloom.splicing.timing import UpperTimes as UpperTimes
from motionloom.studio.play_page import (
    save_play_page as save_play_page,
    save_web_files as save_web_files,
)
from motionloom.studio.server.server import Studio as Studio
from motionloom.synthetic import SyntheticClip as SyntheticClip
from motionloom.tables.extend import add_clips as add_clips
from motionloom.tables.build import build_table as build_table
from motionloom.tables.build import check_build_options as check_build_options
from motionloom.tables.collection.collection import Collection as Collection
from motionloom.tables.collection.frames import Frames as Frames
from motionloom.tables.collection.labels import Label as Label
from motionloom.tables.collection.ingest import IngestReport as IngestReport
from motionloom.tables.stream import DeadEnds as DeadEnds
from motionloom.tables.engines.engine import Engine as Engine
from motionloom.tables.engines.engine_choice import engine_of as engine_of
from motionloom.tables.evaluation.evaluation import Evaluation as Evaluation, Quadrants as Quadrants
from motionloom.tables.evaluation.roc import Bounds as Bounds, Roc as Roc
from motionloom.tables.evaluation.trials import (
    GraphComparison as GraphComparison,
    compare_with_graph as compare_with_graph,
    compare_with_people as compare_with_people,
    verify_table as verify_table,
)
from motionloom.tables.extend import extend_table as extend_table
from motionloom.tables.graph.graph_walk import GraphPath as GraphPath, GraphWalk as GraphWalk
from motionloom.tables.graph.motion_graph import (
    GraphTransitions as GraphTransitions,
    MotionGraph as MotionGraph,
)
from motionloom.tables.index.neighbours import WindowIndex as WindowIndex
from motionloom.tables.path import HybridPath as HybridPath
from motionloom.tables.runtime_file import save_runtime as save_runtime
from motionloom.tables.score.columns import Ranking as Ranking
from motionloom.tables.score.mass_fit import read_masses as read_masses
from motionloom.tables.score.mass_fit import MassFit as MassFit, fit_masses as fit_masses
from motionloom.tables.score.recipe import Recipe as Recipe
from motionloom.tables.score.score import Score as Score, score as score
from motionloom.tables.stream import Doing as Doing, Stream as Stream
from motionloom.tables.synthesis.fill import Fill as Fill
from motionloom.tables.paper.paper_engine import PaperEngine as PaperEngine
from motionloom.tables.query_engine import QueryEngine as QueryEngine
from motionloom.tables.table import TransitionTable as TransitionTable
from motionloom.tables.table_transition import TableTransition as TableTransition

# Names that differ from those in their modules.
from motionloom.tables.evaluation.evaluation import Protocol as EvaluationProtocol
from motionloom.tables.graph.graph_joins import Nodes as GraphNodes
from motionloom.tables.graph.motion_graph import Steps as GraphSteps
from motionloom.tables.score.natural import Reference as ScoreReference
from motionloom.tables.synthesis.table_check import Checked as TableCheck
from motionloom.tables.table_contents import Entry as TableEntry
from motionloom.tables.table_transition import (
    Candidate as TableCandidate,
    Candidates as TableCandidates,
)

__all__ = [
    "EvaluationProtocol",
    "GraphNodes",
    "GraphSteps",
    "ScoreReference",
    "TableCandidate",
    "TableCandidates",
    "TableCheck",
    "TableEntry",
]

__version__: str
