"""Web addresses of games, and the keys that games of those servers have. No file is read here."""

from __future__ import annotations

import re

_LICHESS = re.compile(
    r"lichess\.org/(?!training|analysis|practice)([A-Za-z0-9]{8})(?:[A-Za-z0-9]{4})?(?:[/?#]|$)", re.ASCII
)
_CHESSCOM = re.compile(r"chess\.com/\S*?(\d{4,20})(?!\S*/)", re.ASCII)
_FICS = re.compile(r"ficsgames\.org/\S*[?&;]ID=(\d{1,20})", re.ASCII | re.IGNORECASE)
_ADDRESSES = {  # by what stands before the colon of a key
    "lichess": ((re.compile(r"[A-Za-z0-9]{8}"), "https://lichess.org/{}"),),
    "chesscom": (
        (re.compile(r"[0-9]{4,20}"), "https://www.chess.com/game/live/{}"),
        (re.compile(r"daily/[0-9]{4,20}"), "https://www.chess.com/game/{}"),
    ),
    "fics": ((re.compile(r"[0-9]{1,20}"), "https://www.ficsgames.org/cgi-bin/show.cgi?ID={};action=show"),),
}
LONGEST = 300  # characters of an address that are looked at


def lichess_key(address: str) -> str | None:
    """``lichess:`` and the eight characters of a game on lichess.org; None for any other text."""
    found = _LICHESS.search(address[:LONGEST])
    return f"lichess:{found[1]}" if found else None


def chesscom_key(address: str) -> str | None:
    """``chesscom:`` and the number of a game on chess.com; daily games are numbered apart from live ones."""
    link = address[:LONGEST]
    found = _CHESSCOM.search(link)
    return f"chesscom:{'daily/' if 'daily' in link else ''}{found[1]}" if found else None


def game_key_at(address: str) -> str | None:
    """The key of the game at a web address of lichess.org, chess.com or ficsgames.org; None for any other text."""
    fics = _FICS.search(address[:LONGEST])
    return lichess_key(address) or chesscom_key(address) or (f"fics:{fics[1]}" if fics else None)


def address_of(key: str) -> str | None:
    """The web address of a game of those servers, from its key; None for any other key."""
    server, _, number = key.partition(":")
    for pattern, address in _ADDRESSES.get(server, ()):
        if pattern.fullmatch(number):
            return address.format(number)
    return None
