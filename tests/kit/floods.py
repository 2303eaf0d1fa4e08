"""Beginnings of files, and packed ones that unpack to far more than they are."""

from __future__ import annotations

import bz2
import zlib
from typing import Any

import orjson

from tests.kit.source_files import LICHESS_GAME

MIB = 2**20
TAGS = b'[Event "E"]\n[Date "2001.02.03"]\n[White "A"]\n[Black "B"]\n[Result "1-0"]\n\n'
HEADER = b"game_id,white,black,result,date,plies\n"


def zeros_bz2(mib: int) -> bytes:
    return bz2.compress(bytes(45 * MIB)) * (mib // 45)


def zstd_frame(blocks: int, window: int = 0x48) -> bytes:
    """A frame of *blocks* blocks of 128 KiB of zeros each, 4 bytes a block; *window* is the descriptor of RFC 8878."""
    head, one = b"\x28\xb5\x2f\xfd\x00" + bytes([window]), (2**17 << 3) | 2
    return head + (one.to_bytes(3, "little") + b"\0") * (blocks - 1) + (one | 1).to_bytes(3, "little") + b"\0"


def zeros_gzip(mib: int) -> bytes:
    packer = zlib.compressobj(1, wbits=31)
    return b"".join([packer.compress(bytes(MIB)) for _ in range(mib)]) + packer.flush()


# --- pools ------------------------------------------------------------------------------------------------------


def lichess_line(n: int, variant: Any) -> bytes:
    return orjson.dumps({**LICHESS_GAME, "id": f"{n:08}", "variant": variant}) + b"\n"
