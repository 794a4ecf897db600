"""XML that anybody may have written: no declarations, no entities, bounded size and depth."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NoReturn
from xml.parsers import expat

from motionloom.errors import FormatError

MOST_ELEMENTS = 200_000
DEEPEST = 200
LARGEST_BYTES = 32 << 20


@dataclass(slots=True)
class Element:
    """One element: its name, attributes, children, and the line it begins on."""

    tag: str
    attributes: dict[str, str]
    line: int
    children: list[Element] = field(default_factory=list)

    def get(self, name: str, default: str = "") -> str:
        """An attribute, or the default."""
        return self.attributes.get(name, default)


def parse_xml(data: bytes) -> Element:
    """The root element.

    Raises
    ------
    FormatError
        The text is no XML, declares a document type (which could name other files, or entities
        that grow), or is too large or too deep.
    """
    if len(data) > LARGEST_BYTES:
        raise FormatError(f"A model may have at most {LARGEST_BYTES} bytes, got {len(data)}.")
    top = Element("", {}, 0)
    open_elements = [top]
    count = 0
    parser = expat.ParserCreate()

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal count
        count += 1
        if count > MOST_ELEMENTS or len(open_elements) > DEEPEST:
            raise FormatError(
                f"XML may have {MOST_ELEMENTS} elements, {DEEPEST} deep.",
                where=f"line {parser.CurrentLineNumber}",
            )
        element = Element(tag, attributes, parser.CurrentLineNumber)
        open_elements[-1].children.append(element)
        open_elements.append(element)

    def refuse(*_: object) -> NoReturn:
        raise FormatError(
            "XML with a document type or entities is not read.",
            where=f"line {parser.CurrentLineNumber}",
            fix="Remove the <!DOCTYPE ...> declaration.",
        )

    parser.StartElementHandler = start
    parser.EndElementHandler = lambda tag: open_elements.pop()
    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    parser.ExternalEntityRefHandler = refuse
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise FormatError(
            f"The text must be XML ({expat.errors.messages.get(error.code, 'broken')}).",
            where=f"line {error.lineno}",
        ) from error
    except (ValueError, LookupError) as error:  # an encoding that is not known
        raise FormatError(f"The text must be XML ({error}).") from error
    return top.children[0]
