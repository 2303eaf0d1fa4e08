"""Games in Lichess's JSON, one object a line, and the parts of it that PGN and chess.com share.

What Lichess calls a player, a game and a tournament is settled here once, so that one game imported from PGN and from
JSON has one key. No PGN but the form in which moves are kept, no files, and nothing of the ledger's own JSON lines.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from ledger.board.movetext import write_movetext
from ledger.facts.event_fields import MAX_HALF_MOVES, MAX_RATING
from ledger.facts.instants import instant_text
from ledger.facts.source_games import SourceGame, excerpt
from ledger.imports.json_input import parse_lines
from ledger.imports.reading import MAX_NAME, MAX_TEXT, MAX_UNTIDY, SPEEDS, VARIANT, Reading
from ledger.imports.time_controls import Period, TimeControl

_USER = re.compile(r"[A-Za-z0-9_-]{1,30}", re.ASCII)
_MACHINE = re.compile(r"lichess AI level (\d{1,2})", re.ASCII | re.IGNORECASE)
_GAME_ID = re.compile(r"[A-Za-z0-9]{8}", re.ASCII)
_TOURNAMENT_ID = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)
_UNPRINTED = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_LAST_MS = 253_402_300_799_999  # the end of the year 9999, the last an instant can name
_MAX_CLOCK = 10**6  # seconds
_MS = "milliseconds since 1970"

# GameJson.yaml of lichess-org/api, as in RULES 7; "timeout" is leaving the game, "outoftime" the flag.
_STATUS = {
    "mate": "checkmate", "resign": "resignation", "stalemate": "stalemate", "timeout": "abandonment",
    "draw": "unknown", "outoftime": "time", "cheat": "rules-infraction", "noStart": "unplayed",
    "unknownFinish": "unknown", "insufficientMaterialClaim": "insufficient-material", "variantEnd": "unknown",
}  # fmt: skip
_UNFINISHED = frozenset({"created", "started", "aborted"})
_WON_ONLY = frozenset({"mate", "resign", "cheat", "noStart"})  # these ends have a winner


class BadGameError(ValueError):
    """The reason why one game of a server's JSON cannot be read."""


def one_line(text: str) -> str:
    """Return a text in Unicode form NFC with single blanks, without controls and outer blanks."""
    if text.isascii() and text.isprintable() and "  " not in text:  # nearly always
        return text.strip()
    # Controls go before the form: between a letter and its accent one would keep the two apart.
    return " ".join(unicodedata.normalize("NFC", _UNPRINTED.sub("", text)).split())


def lichess_player(name: str) -> tuple[str, str] | None:
    """Return the identity and display name of a Lichess user or machine; None if no such user can exist.

    The machine is ``lichess:ai-level-N``; a user is ``lichess:`` and the name in lower case, as Lichess's
    own ids.
    """
    machine = _MACHINE.fullmatch(name)
    if machine:
        return f"lichess:ai-level-{int(machine[1])}", f"lichess AI level {int(machine[1])}"
    return (f"lichess:{name.lower()}", name) if _USER.fullmatch(name) else None


def read_games(lines: Iterable[bytes], reading: Reading) -> Iterator[SourceGame]:
    """Yield the games of Lichess's JSON lines; unknown fields are ignored.

    Unfinished games and games with an anonymous player are counted in ``reading.skipped`` (``unfinished``,
    ``anonymous``); every other line that gives no game is a fault. Never raises for bad input.
    """
    for number, value in parse_lines(lines, reading, "give one whole game object a line"):
        try:
            game = _game(number, value, reading)
        except BadGameError as error:
            reading.fault(number, str(error))
            continue
        if game is not None:
            yield game


def optional_field(fields: Mapping[str, Any], name: str, kind: type, default: Any = None) -> Any:
    """Return a field of a JSON object that must have exactly this type, or *default* if it is absent or null.

    Raises:
        BadGameError: it is of another type.
    """
    value = fields.get(name)
    if value is None:
        return default
    if type(value) is not kind:
        raise BadGameError(f"{name} must be {_WORDS[kind]}, got {excerpt(value)}")
    return value


_WORDS = {str: "text", int: "a whole number", bool: "true or false", dict: "an object", list: "a list"}


def required_field(fields: Mapping[str, Any], name: str, kind: type) -> Any:
    """Return a field of a JSON object without which there is no game.

    Raises:
        BadGameError: it is missing, or of another type.
    """
    value = optional_field(fields, name, kind)
    if value is None:
        raise BadGameError(f"{name} is missing: a game needs {_WORDS[kind]} there")
    return value


def whole_field(fields: Mapping[str, Any], name: str, high: int, expected: str, within: str = "") -> int | None:
    """Return a field of a JSON object that is a whole number from 0 to *high*; None if it is absent.

    Raises:
        BadGameError: it is no such number, but *expected* ones are; the field lies *within* another.
    """
    value: int | None = optional_field(fields, name, int)
    if value is not None and not 0 <= value <= high:
        raise BadGameError(f"{within}{name} must be {expected}, got {value}")
    return value


def shown_rating(player: Mapping[str, Any], within: str = "") -> int | None:
    """Return the rating that the source shows for a player; None for 0.

    Raises:
        BadGameError: as of ``whole_field``.
    """
    return whole_field(player, "rating", MAX_RATING, f"from 0 to {MAX_RATING}", within) or None


def _game(line: int, members: object, reading: Reading) -> SourceGame | None:
    if type(members) is not dict:
        raise BadGameError(f"expected a game object, got {excerpt(members)}")
    identifier, status = required_field(members, "id", str), required_field(members, "status", str)
    if not _GAME_ID.match(identifier):  # longer ones are of a side of the game
        raise BadGameError(f"id must begin with 8 letters or digits, got {excerpt(identifier)}")
    if status in _UNFINISHED:
        reading.skipped["unfinished"] += 1
        return None
    if status not in _STATUS:
        raise BadGameError(f"status {excerpt(status)} is not known, expected one of {sorted(_STATUS)}")
    players = required_field(members, "players", dict)
    white, black = _player(players, "white"), _player(players, "black")
    if white is None or black is None:
        reading.skipped["anonymous"] += 1
        return None
    half_moves, text = _movetext(members)
    required_field(members, "createdAt", int)
    created = whole_field(members, "createdAt", _LAST_MS, _MS) or 0
    events = (optional_field(members, name, str) for name in ("tournament", "swiss"))
    speed = optional_field(members, "speed", str)
    variant = optional_field(members, "variant", str, "standard")
    if not VARIANT.fullmatch(variant):
        raise BadGameError(f"variant must be a word such as crazyhouse, got {excerpt(variant)}")
    return SourceGame(
        line,
        f"lichess:{identifier[:8]}",
        *white,
        *black,
        outcome=_outcome(members, status),
        termination=_STATUS[status],
        half_moves=half_moves,
        started_at=instant_text(created),
        # no game ends before it began, and all other facts of such a game are right
        ended_at=instant_text(max(created, whole_field(members, "lastMoveAt", _LAST_MS, _MS) or 0)),
        tournament=next((f"lichess:{event}" for event in events if event and _TOURNAMENT_ID.fullmatch(event)), None),
        rated=optional_field(members, "rated", bool, default=True),
        white_rating=shown_rating(players["white"]),
        black_rating=shown_rating(players["black"]),
        # a class that the server may add some day names no pool of ours: it counts as missing
        speed=_fide_class(members) if reading.by_fide else speed if speed in SPEEDS else None,
        variant=variant,
        text=text,
    )


def _fide_class(members: Mapping[str, Any]) -> str | None:
    """Return FIDE's class of the clock; None for a game without one."""
    clock = optional_field(members, "clock", dict)
    if clock is None:
        return None
    words = "a whole number of seconds"
    initial, increment = (whole_field(clock, name, _MAX_CLOCK, words, "clock.") for name in ("initial", "increment"))
    return None if initial is None else TimeControl((Period(initial, None, increment or 0),)).fide_class


def _player(players: dict[str, Any], colour: str) -> tuple[str, str] | None:
    """Return identity and name, or None for an anonymous player."""
    player = required_field(players, colour, dict)
    level = optional_field(player, "aiLevel", int)
    if level is not None:
        if not 0 < level < 100:
            raise BadGameError(f"players.{colour}.aiLevel must be from 1 to 99, got {level}")
        return f"lichess:ai-level-{level}", f"lichess AI level {level}"
    user = optional_field(player, "user", dict)
    if user is None:
        return None
    identifier = optional_field(user, "id", str)
    shown_name = optional_field(user, "name", str, identifier or "")
    name = one_line(shown_name) if len(shown_name) <= MAX_UNTIDY else ""
    named = lichess_player(identifier or name)
    if named is None or not 0 < len(name) <= MAX_NAME:
        raise BadGameError(f"players.{colour}.user must name a Lichess user, got {excerpt(user)}")
    return named[0], name


def _outcome(members: dict[str, Any], status: str) -> str:
    winner = optional_field(members, "winner", str)
    if winner in {"white", "black"}:
        return str(winner)
    if winner is not None:
        raise BadGameError(f"winner must be 'white' or 'black', got {excerpt(winner)}")
    if status in _WON_ONLY:
        raise BadGameError(f"winner is missing: a game with status {status!r} has one")
    return "draw"


def _movetext(members: dict[str, Any]) -> tuple[int | None, str | None]:
    """Return half-moves and text to store; (None, None) if the export left the moves out."""
    given_moves = optional_field(members, "moves", str)
    if given_moves is None:
        return None, None
    moves = given_moves.split()
    if len(moves) > MAX_HALF_MOVES:
        raise BadGameError(f"moves has {len(moves)} half-moves, more than the {MAX_HALF_MOVES} of any game")
    clocks = optional_field(members, "clocks", list, [])[: len(moves)]
    written = [_clock(c) if type(c) is int and c >= 0 else "" for c in clocks]
    if any(written):
        written += [""] * (len(moves) - len(written))
    text = write_movetext(moves, written if any(written) else [])
    if text is not None and len(text) > MAX_TEXT:
        raise BadGameError(f"moves and clocks have {len(text)} characters, more than the {MAX_TEXT} of any game")
    return len(moves), text


@lru_cache(maxsize=2**14)
def _clock(centiseconds: int) -> str:
    """Return a clock as Lichess writes it in PGN: whole seconds, half up, so that both exports give one text."""
    seconds = (centiseconds + 50) // 100
    return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
