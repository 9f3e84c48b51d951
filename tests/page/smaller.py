"""A picture written with a palette: a third of the size, and no eye sees the difference."""

from __future__ import annotations

import base64
import struct
import zlib
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Page

__all__ = ["shrink"]

_COLORS = 256
_DECODE = """async ([text]) => {
    const image = new Image();
    image.src = 'data:image/png;base64,' + text;
    await image.decode();
    const canvas = document.createElement('canvas');
    canvas.width = image.width;
    canvas.height = image.height;
    const pen = canvas.getContext('2d');
    pen.drawImage(image, 0, 0);
    const {data} = pen.getImageData(0, 0, image.width, image.height);
    let found = '';
    for (let at = 0; at < data.length; at += 8192) found += String.fromCharCode(...data.subarray(at, at + 8192));
    return [image.width, image.height, btoa(found)];
}"""


def shrink(page: Page, picture: Path) -> None:
    """Write a PNG anew with at most 256 colors; an empty page of the browser decodes it."""
    wide, tall, told = page.evaluate(_DECODE, [base64.b64encode(picture.read_bytes()).decode()])
    pixels = np.frombuffer(base64.b64decode(told), np.uint8).reshape(-1, 4)[:, :3]
    palette, places = _palette(pixels)
    rows = np.zeros((tall, wide + 1), np.uint8)  # each row begins with its filter, which is none
    rows[:, 1:] = places.reshape(tall, wide)
    parts = [
        (b"IHDR", struct.pack(">IIBBBBB", wide, tall, 8, 3, 0, 0, 0)),
        (b"PLTE", palette.tobytes()),
        (b"IDAT", zlib.compress(rows.tobytes(), 9)),
        (b"IEND", b""),
    ]
    written = b"".join(
        struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))
        for name, content in parts
    )
    picture.write_bytes(b"\x89PNG\r\n\x1a\n" + written)


def _palette(pixels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the most frequent colors and each pixel's nearest of them."""
    colors, inverse, counts = np.unique(pixels, axis=0, return_inverse=True, return_counts=True)
    palette = colors[np.argsort(counts)[::-1][:_COLORS]]
    apart = ((colors[:, None, :].astype(np.int32) - palette[None, :, :].astype(np.int32)) ** 2).sum(axis=2)
    return palette, apart.argmin(axis=1).astype(np.uint8)[inverse.reshape(-1)]
