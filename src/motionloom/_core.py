"""The C core as Python functions that check what they are given.

The headers describe the core: motionloom.h what games call, kernels.h what only Python calls.
Declarations give the types of arguments, comments the shapes of arrays. What does not fit is
refused before the C code sees it.

    multiply = kernel("ml_quaternion_multiply")
    multiply(len(a), a, b, out)

Arrays are numpy arrays in C order of exactly the type that is declared; records stand for structs.
Calls let other threads run meanwhile.
"""

from __future__ import annotations

import ctypes
import math
import os
import platform
import re
from collections.abc import Callable, Iterable
from functools import cache, wraps
from operator import index
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TypeVar

import numpy as np

from motionloom.errors import ArrayError, MotionLoomError

__all__ = [
    "FOLDER",
    "CoreError",
    "Record",
    "blank",
    "built_from",
    "constant",
    "integer",
    "kept",
    "kernel",
    "maker",
    "record",
]

T = TypeVar("T")

FOLDER = Path(os.environ.get("MOTIONLOOM_CORE") or Path(__file__).with_name("_lib"))
"""The library, its headers and what it was built from; the variable names another build of it."""
HEADERS, MARK = ("motionloom.h", "kernels.h"), "built-from"
NUMBERS: dict[str, tuple[Any, str]] = {
    "double": (ctypes.c_double, "float64"),
    "float": (ctypes.c_float, "float32"),
    "int8_t": (ctypes.c_int8, "int8"),
    "int16_t": (ctypes.c_int16, "int16"),
    "int32_t": (ctypes.c_int32, "int32"),
    "int64_t": (ctypes.c_int64, "int64"),
    "uint8_t": (ctypes.c_uint8, "uint8"),
    "uint16_t": (ctypes.c_uint16, "uint16"),
    "uint32_t": (ctypes.c_uint32, "uint32"),
    "uint64_t": (ctypes.c_uint64, "uint64"),
    "char": (ctypes.c_char, "uint8"),
}
"""Types of C: how a number is passed, and what an array of them is made of."""
KEPT = 16
"""Records that are kept of each kind."""
READ, WRITE = 0x101, 0x501
"""Flags of numpy: C order and aligned; and writeable."""


class CoreError(ArrayError):
    """A function of the core that did not do what it was called for."""

    def __init__(self, message: str, status: int = 1) -> None:
        super().__init__(message)
        self.status = status


class Record:
    """A struct of the core, with the arrays and records that its fields point to.

    Fields are read as the core sees them. Numbers and pointers to other records can be set, and are
    set in the struct. Arrays cannot, nor can numbers that say how large arrays are.
    """

    __slots__ = ("_held", "_struct", "address", "kind")
    _held: dict[str, Any]
    """Arrays and records that must live as long, by the fields that point to them."""
    _struct: ctypes.Structure
    address: int
    kind: str

    def __init__(self, kind: str, struct: ctypes.Structure, held: dict[str, Any]) -> None:
        mine = (("_held", held), ("_struct", struct), ("kind", kind))
        for name, value in (*mine, ("address", ctypes.addressof(struct))):
            object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # no field does: pickle asks, or what is half made
            raise AttributeError(name)
        held = self._held.get(name)
        if held is not None:
            return held
        value = getattr(self._struct, name)
        field = _fields_of(self.kind)[name]
        return self._at(value, field) if field.is_pointer and value else value

    def _at(self, address: int, field: Field) -> Any:
        """A struct or an array that the core has made the field point to."""
        if field.type not in NUMBERS:
            return Record(field.type, _struct_type(field.type).from_address(address), {"": self})
        shape = field.shape or ""
        sizes = {name: getattr(self, name) for name in re.findall(r"(?<!\.)\b[a-z]\w*", shape)}
        extent = eval(f"({shape},)", {"__builtins__": {}}, sizes)  # of our own header
        number, dtype = NUMBERS[field.type]
        block = (number * math.prod(extent)).from_address(address)
        block.owner = self  # the array must not outlive the memory
        return np.frombuffer(block, dtype=dtype).reshape(extent)

    def __setattr__(self, name: str, value: Any) -> None:
        field = _settable(self.kind).get(name)
        if field is None:
            raise AttributeError(
                f"`{name}` of {self.kind} cannot be set: numbers can that no array's shape depends "
                "on, and pointers to other records. Make another record."
            )
        if not field.is_pointer:
            setattr(self._struct, name, index(value) if "int" in field.type else value)
            return
        if value.__class__ is not Record or value.kind != field.type:
            _refuse_record(self.kind, name, field.type)
        setattr(self._struct, name, value.address)
        self._held[name] = value

    def hold(self, name: str, array: Any) -> None:
        """Keep an array alive that the core has made a field point to."""
        if getattr(self._struct, name) != array.ctypes.data:
            raise ArrayError(f"`{name}` of {self.kind} must point to the array that is held.")
        self._held[name] = array

    def copied(self) -> dict[str, Any]:
        """Present values of the fields, arrays copied: :func:`record` of them is another record."""
        values = {name: getattr(self._struct, name) for name in _fields_of(self.kind)}
        given = {name: value for name, value in self._held.items() if name in values}
        for name, value in given.items():
            values[name] = np.array(value) if isinstance(value, np.ndarray) else value
        return values


@cache
def _kernel(name: str) -> Callable[..., Any]:
    """A function of the core."""
    declared = functions().get(name)
    if declared is None:
        raise MotionLoomError(
            f"The C core must have the function {name}, but the library that is installed was "
            "built from other sources. Build it with python core/build.py, or reinstall motionloom."
        )
    function = getattr(_library(), name)
    function.restype = _result_type(declared.result)
    function.argtypes = [
        ctypes.c_void_p if each.is_pointer else NUMBERS[each.type][0] for each in declared.fields
    ]
    names = [each.name for each in declared.fields]
    # Records first: sizes of arrays may be theirs.
    checked = sorted(declared.fields, key=lambda each: not each.is_pointer or each.type in NUMBERS)
    lines = [f"def {name}({', '.join(names)}):"]
    lines += [f"    {line}" for each in checked for line in _checks(name, each)]
    given = ", ".join(_passed(each) for each in declared.fields)
    if declared.result == "ml_status":
        lines += [f"    status = _function({given})", f"    if status: _failed('{name}', status)"]
    else:
        lines.append(f"    return _function({given})")
    place = {**_PLACE, "_function": function}
    exec(compile("\n".join(lines), f"<{name}>", "exec"), place)  # of our own header
    kernel_: Callable[..., Any] = place[name]
    return kernel_


if TYPE_CHECKING:
    from motionloom._kernels import kernel  # the same, with the arguments of every function
else:
    kernel = _kernel


def constant(name: str) -> float:
    """A number of the core's headers, so that Python and C cannot disagree about it."""
    value = constants().get(name)
    if value is None:
        raise MotionLoomError(
            f"The core's headers must define {name}, but those that are installed do not. "
            "Build the core with python core/build.py, or reinstall motionloom."
        )
    return value


def integer(name: str) -> int:
    """A whole number of the core's headers: a count, or a member of an enum."""
    return index(constant(name))  # type: ignore[arg-type]  # refuses what is not whole


def record(kind: str, **values: Any) -> Record:
    """A struct of the core with these values of its fields."""
    filled: Record = maker(kind)(**values)
    return filled


def blank(kind: str, lies_in: Any = None) -> Record:
    """A struct for the core to fill with pointers into ``lies_in``, which lives as long."""
    return Record(kind, _struct_type(kind)(), {"": lies_in})


def kept(make: Callable[[T], Record]) -> Callable[[T], Record]:
    """``make`` of small tuples of arrays, with its last few records kept: most are asked for again.

    They are known by their identity, for arrays have no hash.
    """
    entries: dict[int, tuple[T, Record]] = {}

    @wraps(make)
    def made(values: T) -> Record:
        entry = entries.get(id(values))
        if entry is None:  # those that are known are alive: nothing else has their identity
            if len(entries) >= KEPT:
                entries.clear()
            entry = entries[id(values)] = values, make(values)
        return entry[1]

    return made


@cache
def maker(kind: str) -> Callable[..., Any]:
    """A function that checks the values of a struct's fields and makes its record."""
    fields = structs()[kind].fields
    lines = [f"def {kind}(*, {', '.join(each.name for each in fields)}):"]
    lines += [f"    {line}" for each in fields for line in _checks(kind, each)]
    lines.append("    _struct = _Struct()")
    lines += [f"    _struct.{each.name} = {_passed(each)}" for each in fields]
    held = ", ".join(f"'{each.name}': {each.name}" for each in fields if each.is_pointer)
    lines.append(f"    return _Record('{kind}', _struct, {{{held}}})")
    place = {**_PLACE, "_Struct": _struct_type(kind)}
    exec(compile("\n".join(lines), f"<{kind}>", "exec"), place)  # of our own header
    maker: Callable[..., Any] = place[kind]
    return maker


@cache
def built_from() -> str:
    """Digest of the sources that the core was built from, the same on every machine."""
    return (FOLDER / MARK).read_text(encoding="utf-8").split()[0]


def _checks(name: str, field: Field) -> list[str]:
    """Lines of Python that refuse a value which does not fit."""
    if not field.is_pointer:
        return [f"{field.name} = _index({field.name})"] if "int" in field.type else []
    if field.type in NUMBERS:
        wanted = "_" + NUMBERS[field.type][1]
        flags = READ if field.is_const else WRITE
        size = " * ".join(f"({part})" for part in (field.shape or "").split(",") if part.strip())
        size = _SIZE_OF_RECORD.sub("._struct.", size)  # straight from the struct: far quicker
        fits = (
            f"({_is_kind(field.name, wanted)} or _same({field.name}.dtype, {wanted})) "
            f"and {field.name}.flags.num & {flags} == {flags} and {field.name}.size == {size or 1}"
        )
        wants = f"'{name}', '{field.name}', {field.name}, '{NUMBERS[field.type][1]}'"
        refuse = f"_refuse({wants}, ({(field.shape or '1').rstrip(', ')},), {flags == WRITE})"
    else:
        fits = f"{field.name}.__class__ is _Record and {field.name}.kind == '{field.type}'"
        refuse = f"_refuse_record('{name}', '{field.name}', '{field.type}')"
    unless = f"{field.name} is None or " if field.may_be_none else ""
    return [f"if not ({unless}({fits})): {refuse}"]


_SIZE_OF_RECORD = re.compile(r"\.(?=[a-z]\w*\b(?!\.))")


def _is_kind(name: str, wanted: str) -> str:
    """Python that is true of nearly all arrays of a kind; flags are bytes to the core."""
    is_flags = f" or {name}.dtype is _bool" if wanted == "_uint8" else ""
    return f"{name}.dtype is {wanted}{is_flags}"


def _passed(field: Field) -> str:
    """What is passed to C, as Python."""
    if not field.is_pointer:
        return field.name
    pointer = f"{field.name}.address" if field.type not in NUMBERS else _POINTER.format(field.name)
    return f"None if {field.name} is None else {pointer}" if field.may_be_none else pointer


def _refuse(
    name: str, field: str, value: Any, dtype: str, shape: tuple[int, ...], writes: bool
) -> NoReturn:
    kind = "an array to write to" if writes else "an array"
    got = f"{getattr(value, 'dtype', type(value).__name__)} of shape {np.shape(value)}"
    raise ArrayError(
        f"`{field}` of {name} must be {kind} of {dtype} in C order and of shape {shape}, got {got}."
    )


def _refuse_record(name: str, field: str, kind: str) -> NoReturn:
    raise ArrayError(f"`{field}` of {name} must be a record of {kind}.")


def _failed(name: str, status: int) -> NoReturn:
    why = kernel("ml_status_text")(status).decode()
    raise CoreError(f"{name} refused its arguments: {why}.", status)


def _same(have: np.dtype[Any], wanted: np.dtype[Any]) -> bool:
    return have == wanted or (have == np.bool_ and wanted == np.uint8)


def _data_follows_header() -> bool:
    """Whether the address of an array's data is the first thing in it, as in every numpy so far."""
    arrays = (np.zeros(3), np.ones((2, 2), dtype=np.uint8)[1:])
    place = object.__basicsize__
    return all(ctypes.c_void_p.from_address(id(a) + place).value == a.ctypes.data for a in arrays)


_POINTER = "_pointer(id({0}) + _header)" if _data_follows_header() else "{0}.ctypes.data"
"""``array.ctypes.data`` takes longer than most calls."""
_PLACE: dict[str, Any] = {
    "_Record": Record,
    "_bool": np.dtype(np.bool_),
    "_failed": _failed,
    "_header": object.__basicsize__,
    "_index": index,
    "_pointer": ctypes.c_void_p.from_address,
    "_refuse": _refuse,
    "_refuse_record": _refuse_record,
    "_same": _same,
    **{f"_{dtype}": np.dtype(dtype) for _, dtype in NUMBERS.values()},
}


@cache
def _library() -> ctypes.CDLL:
    """The library that was built for this machine, in the variant that suits its processor."""
    name = {"Windows": "{}.dll", "Darwin": "lib{}.dylib"}.get(platform.system(), "lib{}.so")
    path = FOLDER / name.format("motionloom")
    if not path.is_file():
        raise ImportError(
            f"The C core is not built: {path} is missing. Install motionloom with pip, or run "
            "python core/build.py in its sources."
        )
    library = ctypes.CDLL(str(path))
    quicker = FOLDER / name.format("motionloom-avx2")
    if quicker.is_file() and library.ml_processor_has_avx2():
        return ctypes.CDLL(str(quicker))
    return library


@cache
def _fields_of(kind: str) -> dict[str, Field]:
    """Fields of a struct, by name."""
    return {each.name: each for each in structs()[kind].fields}


@cache
def _settable(kind: str) -> dict[str, Field]:
    """Fields of a struct that may be set: no arrays, and no sizes of its arrays."""
    fields = _fields_of(kind)
    sizes = set(re.findall(r"\w+", " ".join(each.shape or "" for each in fields.values())))
    return {
        name: each
        for name, each in fields.items()
        if (each.type not in NUMBERS if each.is_pointer else name not in sizes)
    }


def _result_type(result: str) -> Any:
    if result == "void":
        return None
    if result == "const char *":
        return ctypes.c_char_p
    return ctypes.c_int if result == "ml_status" else NUMBERS[result][0]


@cache
def _struct_type(kind: str) -> type[ctypes.Structure]:
    fields = [
        (each.name, ctypes.c_void_p if each.is_pointer else NUMBERS[each.type][0])
        for each in structs()[kind].fields
    ]
    return type(kind, (ctypes.Structure,), {"_fields_": fields})


# --- The headers


class Field(NamedTuple):
    """An argument of a function, or a field of a struct."""

    name: str
    type: str
    is_pointer: bool
    is_const: bool
    shape: str | None
    """Of an array: sizes in terms of other fields, as ``n_frames, 4``."""
    may_be_none: bool


class Declaration(NamedTuple):
    """A function or a struct."""

    result: str
    fields: tuple[Field, ...]


@cache
def header_text() -> str:
    """Both headers of the library that is installed."""
    return headers_text(FOLDER / name for name in HEADERS)


def headers_text(paths: Iterable[Path]) -> str:
    """Headers as the library itself is compiled with them."""
    text = "".join(path.read_text(encoding="utf-8") for path in paths)
    return _PUBLIC_STRUCTS.sub(r"\1", text)


_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_PUBLIC_STRUCTS = re.compile(
    r"^#ifdef ML_KERNELS\b[^\n]*\n(.*?)^#else\n.*?^#endif\n", re.DOTALL | re.MULTILINE
)
_FUNCTION = re.compile(r"ML_API\s+((?:const\s+)?\w+[\s*]+)(ml_\w+)\s*\(([^;]*?)\)\s*;")
_STRUCT = re.compile(r"typedef struct(?:\s+ml_\w+)?\s*\{(.*?)\}\s*(ml_\w+)\s*;", re.DOTALL)
_SHAPES = re.compile(r"((?:\w+,\s+)*\w+):\s+\(([^)]*)\)(\s+or NULL)?")
_FIELD = re.compile(r"(const\s+)?(\w+)\s*(\**)\s*(\w+)$")
_JOINTS = re.compile(r"(?<![\w.])n_joints\b")
_JOINTS_OF = {"ml_table": "table.rows.n_joints", "ml_stream": "stream.table.rows.n_joints"}
"""What ``n_joints`` stands for in the shapes of functions that take no such number."""


_CONSTANT = re.compile(
    r"^#define +(ML_\w+) +([-+*/().\d ]*\d[-+*/().\de ]*?) *(?:/\*.*)?$", re.MULTILINE
)


_ENUM = re.compile(r"\benum\s*\{(.*?)\}", re.DOTALL)


@cache
def constants() -> dict[str, int | float]:
    """Every number that the headers define, by name: ``4``, ``0.15``, ``(20.0 / 60.0)``, enums."""
    text = header_text()
    nothing: dict[str, Any] = {"__builtins__": {}}  # the pattern admits digits and operators alone
    found = {name: eval(value, nothing) for name, value in _CONSTANT.findall(text)}
    for body in _ENUM.findall(text):
        following = 0
        for member in _COMMENT.sub("", body).split(","):
            name, _, value = (part.strip() for part in member.partition("="))
            found[name] = int(value, 0) if value else following
            following = found[name] + 1
    return found


@cache
def functions() -> dict[str, Declaration]:
    """Every function by its name."""
    return functions_in(header_text())


def functions_in(text: str) -> dict[str, Declaration]:
    """Every function that some text declares."""
    declared = {}
    for match in _FUNCTION.finditer(text):
        result, name, arguments = match.group(1).strip(), match.group(2), match.group(3)
        fields = [] if arguments.strip() == "void" else arguments.split(",")
        declared[name] = Declaration(result, _fields(fields, _comment_before(text, match.start())))
    return declared


@cache
def structs() -> dict[str, Declaration]:
    """Every struct by its name."""
    text, declared = header_text(), {}
    for match in _STRUCT.finditer(text):
        body, name = match.groups()
        lines = [line for line in _COMMENT.sub(" ", body).split(";") if line.strip()]
        fields = [part for line in lines for part in _declared_together(line)]
        declared[name] = Declaration(name, _fields(fields, _comment_before(text, match.start())))
    return declared


def _declared_together(line: str) -> list[str]:
    """``const double *a, *b`` as ``const double *a`` and ``const double *b``."""
    first, *others = line.split(",")
    kind = re.sub(r"\**\s*\w+\s*$", "", first)
    return [first, *(f"{kind} {other}" for other in others)]


def _comment_before(text: str, place: int) -> str:
    """The last comment before a place: it states shapes."""
    first = text.rfind("/*", 0, place)
    comment = _COMMENT.match(text, first) if first >= 0 else None
    return comment.group() if comment else ""


def _fields(declared: list[str], comment: str) -> tuple[Field, ...]:
    shapes = {
        name.strip(): (shape, bool(optional))
        for names, shape, optional in _SHAPES.findall(comment)
        for name in names.split(",")
    }
    kind = declared[0].split("*")[0].split()[-1] if declared else ""
    joints = None if "n_joints" in " ".join(declared) else _JOINTS_OF.get(kind)
    out = []
    for text in declared:
        match = _FIELD.match(" ".join(text.split()))
        if match is None:
            raise ArrayError(f"The core's headers declare something else than a field: {text!r}.")
        const, kind, stars, name = match.groups()
        shape, optional = shapes.get(name, (None, False))
        if shape and joints:
            shape = _JOINTS.sub(joints, shape)
        out.append(Field(name, kind, bool(stars), bool(const), shape, optional))
    return tuple(out)
