"""Made-up lists of players: CSV, and FIDE's two forms with people who do not exist."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

HEADER = f"{'ID Number':<15}{'Name':<61}Fed Sex Tit  WTit OTit           FOA "
COMBINED = f"{HEADER}SRtng SGm SK RRtng RGm Rk BRtng BGm BK B-day Flag"
OF_SEPTEMBER = f"{HEADER}SEP26 Gms K  B-day Flag"


class Listed(NamedTuple):
    """A row of a list: ratings and K are standard, rapid, blitz; 0 is none."""

    number: int
    name: str
    ratings: tuple[int, int, int]
    ks: tuple[int, int, int]
    born: int = 0
    flag: str = ""


MADE_UP = (
    Listed(900001, "Quill, Ada", (2344, 2310, 0), (20, 20, 0), 1990),
    Listed(900002, "Ng, Bo", (1402, 0, 1555), (40, 40, 40), 2012, "w"),
    Listed(900003, "Zabłocki-Núñez, Maximilian Alexander of the Long Names", (0, 0, 0), (0, 0, 0), 0, "i"),
)


def _start(row: Listed) -> str:
    return f"{row.number:<15}{row.name:<61}{'POL':<4}{'M':<4}{'':<5}{'':<5}{'':<15}{'':<4}"


def combined(rows: Sequence[Listed] = MADE_UP) -> str:
    """The text list with all three ratings; the games are those of the month."""
    lines = [COMBINED]
    for row in rows:
        cells = "".join(f"{r or '':<6}{7:<4}{k or '':<3}" for r, k in zip(row.ratings, row.ks, strict=True))
        lines.append(f"{_start(row)}{cells}{row.born or '0000':<6}{row.flag}")
    return "\n".join(lines) + "\n"


def of_september(rows: Sequence[Listed] = MADE_UP, kind: int = 0) -> str:
    """The text list of one kind."""
    lines = [
        f"{_start(row)}{row.ratings[kind] or '':<6}{7:<4}{row.ks[kind] or '':<3}{row.born or '':<6}{row.flag}"
        for row in rows
        if row.ratings[kind]
    ]
    return "\n".join([OF_SEPTEMBER, *lines]) + "\n"


def xml(rows: Sequence[Listed] = MADE_UP) -> str:
    """The XML list with all three ratings."""
    players = [
        f"<player>\n<fideid>{row.number}</fideid>\n<name>{row.name}</name>\n<country>POL</country>\n<sex>M</sex>\n"
        f"<rating>{row.ratings[0] or ''}</rating>\n<games>7</games>\n<k>{row.ks[0] or ''}</k>\n"
        f"<rapid_rating>{row.ratings[1] or ''}</rapid_rating>\n<rapid_games>7</rapid_games>\n"
        f"<rapid_k>{row.ks[1] or ''}</rapid_k>\n<blitz_rating>{row.ratings[2] or ''}</blitz_rating>\n"
        f"<blitz_games>7</blitz_games>\n<blitz_k>{row.ks[2] or ''}</blitz_k>\n<birthday>{row.born or ''}</birthday>\n"
        f"<flag>{row.flag}</flag>\n</player>\n"
        for row in rows
    ]
    return f'<?xml version="1.0"?>\n<playerslist>\n{"".join(players)}</playerslist>\n'
