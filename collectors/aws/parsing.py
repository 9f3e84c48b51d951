"""Reading AWS's answers: half of one is refused, where the SDK would take it for one without members."""

from __future__ import annotations

import contextlib
from datetime import datetime
from typing import TYPE_CHECKING, Any

from aiobotocore.parsers import AioResponseParserFactory
from botocore.parsers import ResponseParserError
from botocore.utils import parse_timestamp

if TYPE_CHECKING:
    from aiobotocore.parsers import AioResponseParser
    from botocore.model import Shape

__all__ = ["CheckedParserFactory"]

_OK = 200


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
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ResponseParserError(f"{type(error).__name__} while parsing") from error
        return answer

    def _is_whole(self, text: bytes, shape: Shape | None) -> bool:
        """Whether a body begins and ends as its protocol has it."""
        if self._protocol in {"json", "rest-json"}:
            return not text or (text.startswith(b"{") and text.endswith(b"}"))
        wrapper = "" if shape is None else str(shape.serialization.get("resultWrapper", ""))
        return self._protocol != "query" or wrapper.encode() in text


def _moment(value: str | float) -> datetime:
    """Read a time of an answer; the SDK's own way takes fifty times as long, which is most of a poll's CPU."""
    if isinstance(value, str):
        with contextlib.suppress(ValueError):
            return datetime.fromisoformat(value)
    moment: datetime = parse_timestamp(value)
    return moment
