"""How large what a page sends may be: wide enough for any use, too narrow to overflow anything."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

__all__ = ["Amount", "Count", "Frame", "Given", "Seconds", "Seed", "Text"]

Frame = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]
"""Of a clip; whether the clip has it is asked later."""
Given = Annotated[int, Meta(ge=0, le=2**53)]
"""A number that the server gave out."""
Count = Annotated[int, Meta(ge=0, le=100_000)]
Seed = Annotated[int, Meta(ge=0, le=2**31 - 1)]
Seconds = Annotated[float, Meta(ge=-3600.0, le=3600.0)]
Amount = Annotated[float, Meta(ge=-1e6, le=1e6)]
"""A weight, or a wanted value."""
Text = Annotated[str, Meta(max_length=4000)]
"""An id or a name."""
