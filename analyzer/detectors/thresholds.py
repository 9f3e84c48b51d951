"""What thresholds may be; a configuration that says otherwise is refused."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

__all__ = ["Positive", "Share", "Whole"]

Share = Annotated[float, Meta(ge=0, le=1)]
"""A part of a whole: 0 to 1."""

Positive = Annotated[float, Meta(gt=0)]
"""A factor, or dollars."""

Whole = Annotated[int, Meta(ge=1)]
"""A number of things, or seconds."""
