"""Games in the monthly JSON archives of chess.com: one object, whose ``games`` are a list.

Source of the fields: chess.com/news/view/published-data-api. A game has the facts of its PGN, if both say the
same thing, so that an archive and the PGN of the same month are one: the embedded PGN is read by ``pgn.games``. The
JSON says who won, how, when, by which rules and how fast. No file is opened here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ledger.facts.instants import instant_text, is_before
from ledger.facts.source_games import SourceGame, excerpt
from ledger.imports.json_input import parse_json, split_games
from ledger.imports.lichess import BadGameError, optional_field, required_field, shown_rating, whole_field
from ledger.imports.pgn import games as pgn
from ledger.imports.reading import MAX_EVENT, VARIANT, Reading, chesscom_key
from ledger.imports.time_controls import fide_class
from ledger.imports.times import parse_time_control

# By the word of the side that did not win. Of two that did not win, the game is drawn.
_LOST = {
    "checkmated": "checkmate",
    "timeout": "time",
    "resigned": "resignation",
    "lose": "unknown",
    "abandoned": "abandonment",
    "kingofthehill": "unknown",
    "threecheck": "unknown",
    "bughousepartnerlose": "unknown",
}
_DRAWN = {
    "agreed": "agreement",
    "repetition": "repetition",
    "stalemate": "stalemate",
    "insufficient": "insufficient-material",
    "50move": "fifty-move",
    # The documentation of one client has this word for the same ending.
    "50": "fifty-move",
    # A flag that falls against a side which cannot mate is a draw by time (FIDE Laws of Chess, article 6.9).
    "timevsinsufficient": "time",
}
_WON = "win"
_RESULTS = (_WON, *_LOST, *_DRAWN)
_VARIANTS = {"chess": "standard", "kingofthehill": "kingOfTheHill", "threecheck": "threeCheck"}
_SPEEDS = {"daily": "correspondence", "rapid": "rapid", "blitz": "blitz", "bullet": "bullet"}
_USER = re.compile(r"[A-Za-z0-9_-]{1,40}", re.ASCII)
_UUID = re.compile(r"[0-9a-fA-F-]{8,36}", re.ASCII)
_CONTEST = re.compile(r"chess\.com/(?:pub/)?(?:tournament|match)/(?:live/)?([A-Za-z0-9_-]{1,100})/?\Z", re.ASCII)
_LAST_SECOND = 253_402_300_799  # of the year 9999


def read_games(chunks: Iterable[bytes], reading: Reading, *, by_clock: bool = False) -> Iterator[SourceGame]:
    """Yield the games of an archive, holding one in memory; fields that the API does not name are ignored.

    A game that cannot be read is a fault with its line and its place in the list. Never raises for bad input.

    *chunks*: the bytes of the file, in pieces of any size. *by_clock*: whether the speed class goes by Lichess's rule,
    as that of a PGN, and not by chess.com's own word.
    """
    for raw in split_games(chunks, reading):
        try:
            members, twice = parse_json(raw.json)
            if twice:
                words = f"the key is given twice: {', '.join(twice)}"
                reading.fault(raw.line, f"{words} @ $.games[{raw.number}]")
                continue
            yield _game(raw.line, members, reading, by_clock=by_clock)
        except BadGameError as error:
            reading.fault(raw.line, f"{error} @ $.games[{raw.number}]")
        except ValueError as error:  # no JSON
            reading.fault(raw.line, f"{error}: download the file again @ $.games[{raw.number}]")


def _game(line: int, members: Mapping[str, Any], reading: Reading, *, by_clock: bool) -> SourceGame:
    key = _key(members)
    sides = [required_field(members, colour, dict) for colour in ("white", "black")]
    white, black = _player(sides[0], "white"), _player(sides[1], "black")
    if white[0] == black[0]:
        raise BadGameError(f"white and black are both {white[1]!r}")
    outcome, termination = _result(*(required_field(side, "result", str) for side in sides))
    played = _played(members, reading.name)
    ended = _instant(members, "end_time")
    if ended is None:
        raise BadGameError("end_time is missing: a game needs a whole number of seconds there")
    started = _instant(members, "start_time") or (played.started_at if played else None)
    return SourceGame(
        line,
        key,
        *white,
        *black,
        outcome=outcome,
        termination=termination,
        half_moves=played.half_moves if played else None,
        # the end is what counts for ratings: a game is not refused for a beginning that cannot be true
        started_at=None if started is None or is_before(ended, started) else started,
        ended_at=ended,
        tournament=_tournament(members, played),
        round=played.round if played else None,
        rated=optional_field(members, "rated", bool) is not False,
        # The API calls them those of the beginning; members report that they are those after the game.
        white_rating=shown_rating(sides[0], "white."),
        black_rating=shown_rating(sides[1], "black."),
        speed=_fide_class(line, members, reading) if reading.by_fide else _speed(members, by_clock=by_clock),
        variant=_variant(members, played),
        text=played.text if played else None,
    )


def _key(members: Mapping[str, Any]) -> str:
    """Return ``chesscom:`` and the number of the game, as its PGN has it; without an address, its uuid."""
    address, uuid = optional_field(members, "url", str), optional_field(members, "uuid", str)
    key = chesscom_key(address) if address else None
    if key is not None:
        return key
    if uuid is not None and _UUID.fullmatch(uuid):
        return f"chesscom:{uuid.lower()}"
    raise BadGameError(f"url must be the address of a game on chess.com, got {excerpt(address)}")


def _player(side: Mapping[str, Any], colour: str) -> tuple[str, str]:
    name = required_field(side, "username", str)
    if not _USER.fullmatch(name):
        raise BadGameError(f"{colour}.username must be that of a member of chess.com, got {excerpt(name)}")
    return f"chesscom:{name.lower()}", name


def _result(white: str, black: str) -> tuple[str, str]:
    """Return outcome and termination of the game."""
    for colour, word in (("white", white), ("black", black)):
        if word not in _RESULTS:
            raise BadGameError(f"{colour}.result {excerpt(word)} is not known, expected one of {sorted(_RESULTS)}")
    if white == _WON and black in _LOST:
        return "white", _LOST[black]
    if black == _WON and white in _LOST:
        return "black", _LOST[white]
    if white == black and white in _DRAWN:
        return "draw", _DRAWN[white]
    raise BadGameError(f"the results {white!r} of White and {black!r} of Black do not go together")


def _instant(members: Mapping[str, Any], name: str) -> str | None:
    seconds = whole_field(members, name, _LAST_SECOND, "seconds since 1970")
    return None if seconds is None else instant_text(seconds * 1000)


def _fide_class(line: int, members: Mapping[str, Any], reading: Reading) -> str | None:
    """Return FIDE's class of the clock; None for a daily game, and for a clock that is not understood."""
    text = (optional_field(members, "time_control", str) or "").strip()
    try:
        return fide_class(text)
    except ValueError as error:
        reading.note(line, f"time_control {error}; got {text[:80]!r}: not used")
        return None


def _speed(members: Mapping[str, Any], *, by_clock: bool) -> str | None:
    """Return the speed class in chess.com's word, or by the clock as that of its PGN is."""
    if by_clock:
        return parse_time_control((optional_field(members, "time_control", str) or "").strip()[:128], "chesscom")[2]
    word = optional_field(members, "time_class", str)
    if word is not None and word not in _SPEEDS:
        raise BadGameError(f"time_class {excerpt(word)} is not known, expected one of {sorted(_SPEEDS)}")
    return _SPEEDS[word] if word else None


def _variant(members: Mapping[str, Any], played: SourceGame | None) -> str:
    rules = optional_field(members, "rules", str) or "chess"
    variant = _VARIANTS.get(rules, rules)
    if not VARIANT.fullmatch(variant):
        raise BadGameError(f"rules must be a word such as chess960, got {excerpt(rules)}")
    begins_elsewhere = variant == "standard" and played is not None and played.variant == "fromPosition"
    return "fromPosition" if begins_elsewhere else variant


def _tournament(members: Mapping[str, Any], played: SourceGame | None) -> str | None:
    """Return the event that the PGN names, or else the last part of the address of the tournament or match."""
    if played is not None and played.tournament:
        return played.tournament
    for name in ("tournament", "match"):
        contest = _CONTEST.search((optional_field(members, name, str) or "")[-200:])  # its name is at the end
        if contest:
            return f"chesscom:{contest[1]}"[:MAX_EVENT]
    return None


def _played(members: Mapping[str, Any], name: str) -> SourceGame | None:
    """Return the facts of the embedded PGN: moves, their number, the beginning; None if there is none."""
    text = optional_field(members, "pgn", str)
    if not text or not text.strip():
        return None
    # Faults of the PGN are gathered apart, and reported as a fault of the game that holds it.
    inner = Reading(name)
    games_in_it = list(pgn.read_games(text.encode().splitlines(keepends=True), inner))
    if inner.fault_count or len(games_in_it) > 1:
        why = inner.faults[0].message if inner.fault_count else f"it holds {len(games_in_it)} games"
        raise BadGameError(f"pgn cannot be read: {why}")
    return games_in_it[0] if games_in_it else None
