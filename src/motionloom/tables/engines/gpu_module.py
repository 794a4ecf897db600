"""The fused kernel on an NVIDIA GPU: compiled when first used, launched among PyTorch's own work.

The compiler (NVRTC) comes with PyTorch and the driver with the card, so CUDA's tools are optional.
"""

from __future__ import annotations

import ctypes
import os
import re
from functools import cache
from pathlib import Path
from typing import Any

from motionloom._extras import command, require_extra
from motionloom.errors import ArrayError, TableError
from motionloom.tables.engines.gpu_source import Build, source

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
