"""The fused kernel on an NVIDIA GPU: its source, compiled when first used, launched by PyTorch.

The compiler (NVRTC) comes with PyTorch and the driver with the card, so CUDA's tools are optional.
"""

from __future__ import annotations

import ctypes
import os
import re
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from motionloom._core import integer
from motionloom._extras import command, require_extra
from motionloom.errors import ArrayError, TableError

FloatArray32 = npt.NDArray[np.float32]
IntArray32 = npt.NDArray[np.int32]


class Constants(NamedTuple):
    """Numbers of the measures that do not depend on the windows."""

    gravity: float
    flight_load: float
    inch: float
    turn_m: float


class PlainTerms(NamedTuple):
    """Terms of W windows, P frames each with those before and after; see ``Terms``."""

    rows: FloatArray32
    """(W, 17, P)"""
    posture: FloatArray32
    """(W, P, 48)"""
    anchors: FloatArray32
    """(W, 4, P)"""
    spans: IntArray32
    """(W, 2, M, 2)"""
    ahead: FloatArray32
    """(W, 2, M, 2)"""
    counts: IntArray32
    """(W, 2)"""
    reach: IntArray32
    """(W, 2)"""
    weights: FloatArray32
    """(4, 4, P)"""
    taps: FloatArray32
    """Without the noughts at their end. (3, 2 half + 1)"""
    sole: FloatArray32
    """(4,)"""
    masses: FloatArray32
    """(S,)"""
    length: int
    pad: int
    roll: int
    fps: float
    low: float
    constants: Constants

    @property
    def half(self) -> int:
        """Frames on either side of one that its acceleration looks at."""
        return self.pad - 1

    @property
    def n_windows(self) -> int:
        """Number of windows W."""
        return len(self.rows)


class PlainRanking(NamedTuple):
    """Weights of columns and of their logarithms; see ``Ranking``."""

    linear: FloatArray32
    """(C,)"""
    log: FloatArray32
    """(C,)"""


PARTS = ("lanes.cuh", "blend.cuh", "feet.cuh", "balance.cuh", "search.cu")
"""In this order they are one file: compilers at run time know no folders to include from."""
N_COLUMNS, N_ROWS = integer("ML_TABLE_COLUMNS"), integer("ML_TERM_ROWS")
WARPS = 16
"""Blends that a block scores at a time."""
BLOCKS = 2
"""Blocks that should fit on a multiprocessor together."""
UNROLL = 2
"""Segments whose posture is read at a time."""
POINTERS = (
    *("terms", "anchors", "ahead", "weights", "spans", "counts", "reach", "stands"),
    *("sources", "targets", "between", "shortlist", "coarse_sources", "coarse_targets"),
    *("recipes", "out"),
)
NUMBERS = (
    *("n_targets", "n_between", "n_short", "n_coarse", "n_blends"),
    *("two", "three", "four", "roll"),
)
"""Fields of ``Job`` in ``blend.cuh``, in their order."""


class Build(NamedTuple):
    """What a kernel is compiled for: shapes, and columns that count."""

    length: int
    pad: int
    padded: int
    plants: int
    segments: int
    linears: int
    """Bits of columns that count."""
    logs: int
    """Bits of columns whose logarithm counts."""
    needs: int
    """Bits of columns to measure."""
    short: bool
    """Whether four-way blends come from a shortlist."""
    constants: tuple[float, ...]
    warps: int = WARPS
    blocks: int = BLOCKS
    unroll: int = UNROLL

    def defines(self) -> dict[str, str]:
        """Names and values to compile with."""
        gravity, flight_load, inch, turn_m = (f"{value!r}f" for value in self.constants)
        return {
            "LENGTH": str(self.length),
            "PAD": str(self.pad),
            "HALF": str(self.pad - 1),
            "PADDED": str(self.padded),
            "PLANTS": str(self.plants),
            "SEGMENTS": str(self.segments),
            "LINEARS": hex(self.linears),
            "LOGS": hex(self.logs),
            "NEEDS": hex(self.needs),
            "SHORT": str(int(self.short)),
            "WARPS": str(self.warps),
            "BLOCKS": str(self.blocks),
            "UNROLL": str(self.unroll),
            "GRAVITY": gravity,
            "FLIGHT_LOAD": flight_load,
            "INCH": inch,
            "TURN_M": turn_m,
        }

    def slots(self, lanes: int) -> int:
        """Frames that a warp of ``lanes`` holds."""
        return -(-self.padded // lanes) * lanes

    @property
    def n_terms(self) -> int:
        """Numbers that a window has in every frame."""
        return N_ROWS + 3 * self.segments

    def shared_bytes(self, lanes: int, warps: int) -> int:
        """Shared memory of a block: sums that its blends share, and memory for each warp."""
        slots, most = self.slots(lanes), 4 * self.plants
        memory = 7 * slots + 3 * 2 * (self.pad - 1) + most * (3 + 4 + 2 * 4 + 2 * 2) + 16 + 4
        return 4 * (self.n_terms * slots + warps * memory)


def build_for(
    terms: PlainTerms, ranking: PlainRanking | None = None, *, short: bool = False
) -> Build:
    """What a kernel must be compiled for; without a ranking it measures every column."""
    every = (1 << N_COLUMNS) - 1
    linears = logs = every
    if ranking is not None:
        linears, logs = (_bits(weights) for weights in ranking)
    return Build(
        terms.length,
        terms.pad,
        terms.rows.shape[2],
        terms.spans.shape[2],
        len(terms.masses),
        linears,
        logs,
        linears | logs,
        short,
        tuple(terms.constants),
    )


def _bits(weights: np.ndarray) -> int:
    return sum(1 << c for c in range(N_COLUMNS) if weights[c] != 0.0)


def source() -> str:
    """The whole source."""
    folder = files(__package__).joinpath("cuda")
    return "\n".join(
        f'#line 1 "{name}"\n{folder.joinpath(name).read_text(encoding="ascii")}' for name in PARTS
    )


def job_type(n_taps: int, n_segments: int) -> type[ctypes.Structure]:
    """``Job`` of ``blend.cuh``."""
    fields: list[tuple[str, object]] = [(name, ctypes.c_void_p) for name in POINTERS]
    fields.append(("first_pair", ctypes.c_longlong))
    fields += [(name, ctypes.c_int) for name in NUMBERS]
    fields += [
        ("fps", ctypes.c_float),
        ("low", ctypes.c_float),
        ("sole", ctypes.c_float * 4),
        ("taps", ctypes.c_float * (3 * n_taps)),
        ("inverse_masses", ctypes.c_float * n_segments),
        ("linear", ctypes.c_float * N_COLUMNS),
        ("log", ctypes.c_float * N_COLUMNS),
    ]
    return type("Job", (ctypes.Structure,), {"_fields_": fields})


LANES = 32
SHARED_BYTES = 8
"""Attribute of a function: shared memory that it may be given."""
LOCAL_BYTES, REGISTERS = 3, 4
SHARED_LIMIT = 97
"""Attribute of a device: the most of it."""
MISSING = "A search on a GPU must have"


def find_device(device: str = "cuda") -> int:
    """Number of the GPU to use, or one line that says what is missing.

    Parameters
    ----------
    device
        As PyTorch names it: ``"cuda"``, or ``"cuda:1"`` for the second.
    """
    if not isinstance(device, str) or re.fullmatch(r"cuda(:[0-9]+)?", device) is None:
        raise ArrayError(f"`device` must be cuda, or cuda:1 for a second GPU, got {device!r}.")
    require_extra("gpu", "A search on a GPU", error=TableError)
    import torch

    if torch.version.cuda is None:
        raise TableError(
            f"{MISSING} PyTorch built for CUDA; {torch.__version__} is not. Install it "
            "from the index that pytorch.org names for your driver."
        )
    try:
        torch.cuda.init()
        number = device.partition(":")[2]
        if number and int(number) >= (count := torch.cuda.device_count()):
            have = "cuda:0 alone" if count == 1 else f"cuda:0 to cuda:{count - 1}"
            raise TableError(f"{MISSING} a GPU of this machine, which has {have}; got {device}.")
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise TableError(
            f"{MISSING} an NVIDIA GPU whose driver fits CUDA {torch.version.cuda}; PyTorch says: "
            f"{reason} Search on the CPU, renew the driver, or install a fitting PyTorch."
        ) from error
    return int(number) if number else int(torch.cuda.current_device())


class CudaKernel:
    """The source compiled for one build on one GPU."""

    def __init__(self, build: Build, device: int) -> None:
        import torch

        self._torch, self._device = torch, device
        self._driver = _driver()
        limit, card = ctypes.c_int(), ctypes.c_int()
        self._check(self._driver.cuDeviceGet(ctypes.byref(card), device))
        self._check(self._driver.cuDeviceGetAttribute(ctypes.byref(limit), SHARED_LIMIT, card))
        warps = build.warps
        while warps > 1 and build.shared_bytes(LANES, warps) > limit.value:
            warps //= 2
        if build.shared_bytes(LANES, warps) > limit.value:
            raise TableError(
                f"The GPU must have {build.shared_bytes(LANES, 1)} bytes of shared memory for "
                f"windows of {build.length} frames, it has {limit.value}. Use shorter ones."
            )
        self.build = build._replace(warps=warps)
        image = _compile(self.build, torch.cuda.get_device_capability(device))
        self._module = ctypes.c_void_p()
        with torch.cuda.device(device):
            self._check(self._driver.cuModuleLoadData(ctypes.byref(self._module), image))
            self._functions = {
                name: self._function(name, n)
                for name, n in (("search_tile", warps), ("score_recipes", 1))
            }

    def search_tile(self, job: ctypes.Structure, blocks: int) -> None:
        """Score the blends of ``blocks`` blocks."""
        self._launch("search_tile", job, blocks, self.build.warps)

    def score_recipes(self, job: ctypes.Structure, recipes: int) -> None:
        """Measure recipes."""
        self._launch("score_recipes", job, recipes, 1)

    def registers(self) -> tuple[int, int]:
        """Registers of a thread in a search, and bytes that did not fit into them."""
        values = []
        for attribute in (REGISTERS, LOCAL_BYTES):
            value = ctypes.c_int()
            function = self._functions["search_tile"]
            self._check(self._driver.cuFuncGetAttribute(ctypes.byref(value), attribute, function))
            values.append(value.value)
        return values[0], values[1]

    def _function(self, name: str, warps: int) -> ctypes.c_void_p:
        function = ctypes.c_void_p()
        self._check(
            self._driver.cuModuleGetFunction(ctypes.byref(function), self._module, name.encode())
        )
        size = self.build.shared_bytes(LANES, warps)
        self._check(self._driver.cuFuncSetAttribute(function, SHARED_BYTES, size))
        return function

    def _launch(self, name: str, job: ctypes.Structure, blocks: int, warps: int) -> None:
        if blocks == 0:
            return
        arguments = (ctypes.c_void_p * 1)(ctypes.addressof(job))
        stream = ctypes.c_void_p(self._torch.cuda.current_stream(self._device).cuda_stream)
        grid = blocks, 1, 1, LANES * warps, 1, 1
        size = self.build.shared_bytes(LANES, warps)
        function = self._functions[name]
        with self._torch.cuda.device(self._device):
            self._check(self._driver.cuLaunchKernel(function, *grid, size, stream, arguments, None))

    def _check(self, status: int) -> None:
        if status == 0:
            return
        text = ctypes.c_char_p()
        self._driver.cuGetErrorString(status, ctypes.byref(text))
        reason = text.value.decode() if text.value else f"error {status}"
        raise TableError(f"The GPU must run the search; its driver says: {reason}.")


@cache
def compiled(build: Build, device: int) -> CudaKernel:
    """The kernel for a build on a GPU, compiled once."""
    return CudaKernel(build, device)


@cache
def _driver() -> Any:
    name = "nvcuda.dll" if os.name == "nt" else "libcuda.so.1"
    try:
        return ctypes.CDLL(name)
    except OSError as error:
        raise TableError(f"{MISSING} NVIDIA's driver; {name} cannot be loaded.") from error


@cache
def _nvrtc() -> Any:
    """The compiler of PyTorch; once it is loaded, its plain name finds it."""
    import torch

    major = torch.version.cuda.split(".")[0]
    home = Path(torch.__file__).parent
    places = [Path(f"libnvrtc.so.{major}")]
    for folder in (home / "lib", *sorted((home.parent / "nvidia").glob("*/lib"))):
        places += sorted(folder.glob("libnvrtc.so*")) + sorted(folder.glob("nvrtc64_*_0.dll"))
    for place in places:
        try:
            return ctypes.CDLL(str(place))
        except OSError:
            continue
    raise TableError(
        f"{MISSING} NVRTC {major}, which comes with PyTorch; not found. Run {command('gpu')}."
    )


def _compile(build: Build, capability: tuple[int, int]) -> bytes:
    """Machine code for the device, or what its driver can make it of."""
    nvrtc = _nvrtc()
    arch, binary = _target(nvrtc, 10 * capability[0] + capability[1])
    options = [f"--gpu-architecture={'sm' if binary else 'compute'}_{arch}", "--std=c++17"]
    options.append("-lineinfo")  # lets profilers name lines, and changes no instruction
    # Ranks need no correct last digit; the best are scored again on the CPU.
    options += ["--ftz=true", "--prec-div=false", "--prec-sqrt=false", "--fmad=true"]
    options += [f"-D{name}={value}" for name, value in build.defines().items()]
    program = ctypes.c_void_p()
    text = source().encode("ascii")
    _require(nvrtc.nvrtcCreateProgram(ctypes.byref(program), text, b"search.cu", 0, None, None))
    try:
        arguments = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
        if nvrtc.nvrtcCompileProgram(program, len(options), arguments) != 0:
            log = _read(nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog, program)
            raise TableError(
                f"The GPU's kernel must compile; NVRTC says: {log.decode().strip(chr(0)).strip()}"
            )
        if binary:
            return _read(nvrtc.nvrtcGetCUBINSize, nvrtc.nvrtcGetCUBIN, program)
        return _read(nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX, program)
    finally:
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))


def _target(nvrtc: Any, wanted: int) -> tuple[int, bool]:
    """Architecture to compile for, and whether it is the device's own."""
    count = ctypes.c_int()
    _require(nvrtc.nvrtcGetNumSupportedArchs(ctypes.byref(count)))
    supported = (ctypes.c_int * count.value)()
    _require(nvrtc.nvrtcGetSupportedArchs(supported))
    fitting = [arch for arch in supported if arch <= wanted]
    if not fitting:
        raise TableError(
            f"The GPU must have compute capability {min(supported) / 10} or more for this PyTorch, "
            f"it has {wanted / 10}. Install an older PyTorch, or search on the CPU."
        )
    return max(fitting), max(fitting) == wanted


def _read(size_of: Any, read: Any, program: ctypes.c_void_p) -> bytes:
    size = ctypes.c_size_t()
    _require(size_of(program, ctypes.byref(size)))
    text = ctypes.create_string_buffer(size.value)
    _require(read(program, text))
    return text.raw


def _require(status: int) -> None:
    if status != 0:
        raise TableError(f"The GPU's compiler NVRTC must answer; it gave error {status}.")
