"""The shapes of request logs that are known, and which one a log is of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from collectors.request_log.decoders.aws_sdk_js import AwsSdkJsDecoder
from collectors.request_log.decoders.cloudtrail import CloudTrailDecoder
from collectors.request_log.decoders.decoding import pieces_of
from collectors.request_log.decoders.dynamoose import DynamooseDecoder
from collectors.request_log.decoders.electrodb import ElectroDbDecoder
from collectors.request_log.decoders.native import NativeDecoder, is_record
from collectors.request_log.decoders.opentelemetry import OpenTelemetryDecoder
from collectors.request_log.decoders.otlp import OtlpDecoder
from collectors.request_log.decoders.schema import KeyNames
from collectors.request_log.decoders.seam import Sample, UnreadableError
from collectors.request_log.decoders.wrapped import WrappedDecoder
from collectors.request_log.decoders.xray import XRayDecoder

if TYPE_CHECKING:
    from collectors.request_log.decoders.seam import Decoder, Piece

__all__ = ["DECODERS", "SAMPLE_BYTES", "decoder_named", "recognize", "shape_of"]

DECODERS: tuple[Decoder, ...] = (
    NativeDecoder(),
    WrappedDecoder(),
    AwsSdkJsDecoder(),
    CloudTrailDecoder(),
    OpenTelemetryDecoder(),
    OtlpDecoder(),
    XRayDecoder(),
    DynamooseDecoder(),
    ElectroDbDecoder(),
)
"""Every shape that is recognised by itself; where two fit equally, the first is taken."""

_TOLD_APART = (AwsSdkJsDecoder(), CloudTrailDecoder(), OpenTelemetryDecoder(), XRayDecoder())

SAMPLE_BYTES = 1024 * 1024
"""How much of a log's beginning is enough to tell its shape: other services' entries may come first."""

_MOST_PIECES = 500


def recognize(first: bytes) -> Decoder | None:
    """Return the decoder of a log that begins so, None where no shape fits; SAMPLE_BYTES of it are enough."""
    sample = Sample(first, pieces_of(first, _MOST_PIECES))
    shares = [(decoder.recognizes(sample), decoder) for decoder in DECODERS]
    best, decoder = max(shares, key=lambda one: one[0])
    return decoder if best > 0 else None


def shape_of(piece: Piece) -> str | None:
    """Return what people call the shape of a single request, None where it is none.

    Object mappers are left out: beside the log of an SDK theirs tells the same requests again.
    """
    if is_record(piece):
        return NativeDecoder.title
    for decoder in _TOLD_APART:
        if decoder.claims(piece):
            try:
                is_request = decoder.reader(KeyNames(())).read(piece) is not None
            except UnreadableError:
                is_request = True
            if is_request:
                return decoder.title
    return None


def decoder_named(name: str) -> Decoder | None:
    """Return the decoder that the user names."""
    return next((decoder for decoder in DECODERS if decoder.name == name), None)
