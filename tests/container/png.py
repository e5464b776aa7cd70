# SPDX-License-Identifier: Apache-2.0
"""Looks at a PNG without a library for it: its size, and whether anything is drawn."""

import struct
import zlib


def chunks(data):
    at = 8
    while at < len(data):
        length, kind = struct.unpack_from(">I4s", data, at)
        body = data[at + 8:at + 8 + length]
        if zlib.crc32(kind + body) != struct.unpack_from(">I", data, at + 8 + length)[0]:
            raise ValueError("a damaged chunk %r" % kind)
        yield kind, body
        at += 12 + length


def size_and_lines(data):
    """(width, height, number of different lines of pixels as they are encoded). Throws ValueError for what is no PNG."""
    if data[:8] != b"\x89PNG\r\n\x1a\n":
        raise ValueError("no PNG")
    parts = list(chunks(data))
    if parts[0][0] != b"IHDR" or parts[-1][0] != b"IEND":
        raise ValueError("not a whole PNG")
    width, height, depth, colour = struct.unpack_from(">IIBB", parts[0][1])
    samples = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[colour]
    pixels = zlib.decompress(b"".join(body for kind, body in parts if kind == b"IDAT"))
    line = 1 + (width * samples * depth + 7) // 8
    if len(pixels) != line * height:
        raise ValueError("%d bytes of pixels, not %d" % (len(pixels), line * height))
    return width, height, len({pixels[at:at + line] for at in range(0, len(pixels), line)})
