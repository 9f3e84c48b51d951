"""Reading AWS's answers: what is not of the shape that AWS publishes is refused, here and once.

The SDK takes half an answer for one without members, and hands on whatever stands where a text or a number belongs.
"""

from __future__ import annotations

import contextlib
from datetime import datetime
from typing import TYPE_CHECKING, Any

from aiobotocore.parsers import AioResponseParserFactory
from botocore.parsers import ResponseParserError
from botocore.utils import parse_timestamp

if TYPE_CHECKING:
    from collections.abc import Collection

    from aiobotocore.parsers import AioResponseParser
    from botocore.model import Shape

__all__ = ["CheckedParserFactory"]

_OK = 200
_SCALARS: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "boolean": bool,
    "integer": int,
    "long": int,
    "float": (int, float),
    "double": (int, float),
    "timestamp": datetime,
}


class CheckedParserFactory(AioResponseParserFactory):  # type: ignore[misc]
    """Makes the SDK's parsers, each with a look at the answer before it."""

    def __init__(self) -> None:
        super().__init__()
        self.set_parser_defaults(timestamp_parser=_moment)

    def create_parser(self, protocol_name: str) -> _CheckedParser:
        """Return the parser of a protocol."""
        return _CheckedParser(protocol_name, super().create_parser(protocol_name))


class _CheckedParser:
    def __init__(self, protocol: str, parser: AioResponseParser) -> None:
        self._protocol = protocol
        self._parser = parser

    async def parse(self, response: dict[str, Any], shape: Shape | None) -> dict[str, Any]:
        """Parse an answer; raises ResponseParserError alone, whatever it holds."""
        body = response["body"]
        if response["status_code"] == _OK and isinstance(body, bytes) and not self._is_whole(body.strip(), shape):
            raise ResponseParserError("none of AWS's answers, or half of one")
        try:
            answer: dict[str, Any] = await self._parser.parse(response, shape)
        except (ArithmeticError, AttributeError, KeyError, RuntimeError, TypeError, ValueError) as error:
            raise ResponseParserError(f"{type(error).__name__} while parsing") from error
        if response["status_code"] == _OK and shape is not None and not _is_shaped(answer, shape):
            raise ResponseParserError("members of other types than AWS publishes")
        return answer

    def _is_whole(self, text: bytes, shape: Shape | None) -> bool:
        """Whether a body begins and ends as its protocol has it."""
        if self._protocol in {"json", "rest-json"}:
            return not text or (text.startswith(b"{") and text.endswith(b"}"))
        wrapper = "" if shape is None else str(shape.serialization.get("resultWrapper", ""))
        return self._protocol != "query" or wrapper.encode() in text


def _is_shaped(value: Any, shape: Shape) -> bool:  # noqa: ANN401 -- whatever was parsed
    """Whether a value and all that it holds is of the types that AWS publishes; what may be absent may be."""
    kind: str = shape.type_name
    if kind == "structure":
        return isinstance(value, dict) and all(
            _is_shaped(value[name], member) for name, member in shape.members.items() if name in value
        )
    if kind == "list":
        return isinstance(value, list) and _are_shaped(value, shape.member)
    if kind == "map":
        return isinstance(value, dict) and _are_shaped(value.values(), shape.value)
    return isinstance(value, _SCALARS.get(kind, object))


def _are_shaped(values: Collection[Any], shape: Shape) -> bool:
    """Whether each of many values is; points of metrics, the bulk of all answers, are looked at side by side."""
    types = _SCALARS.get(shape.type_name)
    return all(_is_shaped(one, shape) for one in values) if types is None else all(isinstance(v, types) for v in values)


def _moment(value: str | float) -> datetime:
    """Read a time of an answer; the SDK's own way takes fifty times as long, which is most of a poll's CPU."""
    if isinstance(value, str):
        with contextlib.suppress(ValueError):
            return datetime.fromisoformat(value)
    moment: datetime = parse_timestamp(value)
    return moment
