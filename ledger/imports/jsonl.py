"""The ledger's own JSON lines: one game an object, read strictly.

Fields are those of ``SourceGame`` without ``line``; a player is ``{"id": "lichess:ann", "name": "Ann"}``.
Fields that are unknown are left out, never null; ``variant`` may be left out for ``standard``. A line that says what
a round ``brings`` is a round without a game, in the fields of ``SourceRound``. Other people's JSON is not read here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from ledger.facts.event_fields import KEY_PATTERN, MAX_HALF_MOVES, MAX_RATING, MAX_ROUND, MAX_WHOLE, is_plain_text
from ledger.facts.instants import instant_ms, without_zero_fraction
from ledger.facts.source_games import SourceGame, SourceRound, excerpt, is_plain_key
from ledger.facts.words import Brings, Outcome, Termination
from ledger.imports.json_input import parse_lines, path_step
from ledger.imports.reading import MAX_TEXT, SPEEDS, VARIANT, Reading
from ledger.imports.time_controls import class_of_word

MAX_NAME = 256  # characters of an identity or a name
_KEY = re.compile(KEY_PATTERN, re.ASCII)
_MOST_NAMED = 20  # faults of a line that are named one by one

# A check gives None, or what was expected.
_Check = Callable[[object], str | None]


def _matching(pattern: re.Pattern[str]) -> _Check:
    expected = f"text matching {pattern.pattern}"
    return lambda value: None if type(value) is str and pattern.fullmatch(value) else expected


def _plain(limit: int) -> _Check:
    expected = f"1 to {limit} characters of NFC text without controls or outer blanks"
    return lambda value: None if type(value) is str and is_plain_text(value, limit) else expected


def _whole(high: int, low: int = 0) -> _Check:
    expected = f"a whole number from {low} to {high}"
    # by its very type: to ``isinstance`` True is a whole number, too
    return lambda value: None if type(value) is int and low <= value <= high else expected


def _among(choices: Iterable[str]) -> _Check:
    words = tuple(choices)
    return lambda value: None if type(value) is str and value in words else f"one of {list(words)}"


def _instant(value: object) -> str | None:
    try:
        instant_ms(without_zero_fraction(value) if type(value) is str else "")
    except ValueError:
        return "an instant in UTC such as 2013, 2013-06-04 or 2013-06-04T19:30:00Z"
    return None


def _identity(value: object) -> str | None:
    if type(value) is str and value.isdecimal():
        return f"an identity that is not digits alone, for players have numbers, such as 'id:{value}'"
    return _plain(MAX_NAME)(value)


_CHECKS: Mapping[str, _Check] = {
    "key": _matching(_KEY), "outcome": _among(Outcome), "termination": _among(Termination),
    "half_moves": _whole(MAX_HALF_MOVES), "started_at": _instant, "ended_at": _instant,
    "tournament": _plain(128), "round": _plain(32), "sequence": _whole(MAX_WHOLE, 1),
    "rated": lambda value: None if type(value) is bool else "true or false",
    "white_rating": _whole(MAX_RATING), "black_rating": _whole(MAX_RATING),
    "speed": _among(SPEEDS), "variant": _matching(VARIANT),
    "text": lambda value: (
        None if type(value) is str and 0 < len(value) <= MAX_TEXT else f"1 to {MAX_TEXT} characters of movetext"
    ),
}  # fmt: skip
_PLAYERS = ("white", "black")
_PLAYER_CHECKS: Mapping[str, _Check] = {"id": _identity, "name": _plain(MAX_NAME)}
_NEEDED = ("key", "white", "black", "outcome", "termination", "ended_at", "rated")
_ROUND = "brings"  # a line with this field is a round without a game
_ROUND_CHECKS: Mapping[str, _Check] = {
    "tournament": _plain(128),
    "edition": _instant,
    "round": _whole(MAX_ROUND, 1),
    _ROUND: _among(Brings),
    "half_points": _whole(20),
    "speed": _CHECKS["speed"],
    "variant": _CHECKS["variant"],
}
_ROUND_NEEDED = ("player", "tournament", "edition", _ROUND)


def read_games(lines: Iterable[bytes], reading: Reading) -> Iterator[SourceGame]:
    """Yield the game of each line; rounds without a game go to *reading*.

    A line with anything unknown, missing or not exactly of its type gives no game but one fault for each such
    thing, ending in its JSON path (``@ $.white.id``). Never raises for bad input.
    """
    for number, value in parse_lines(lines, reading, "give one whole object a line @ $"):
        # one more than are named says that there are more
        problems = list(islice(_problems(value), _MOST_NAMED + 1))
        for problem in problems[:_MOST_NAMED]:
            reading.fault(number, problem)
        if len(problems) > _MOST_NAMED:
            reading.fault(number, "and more is wrong with this line @ $")
        if not problems and _is_round(value):
            round_ = _round(number, value)
            reading.add_round(round_._replace(speed=class_of_word(round_.speed)) if reading.by_fide else round_)
        elif not problems:
            game = _game(number, value)
            yield game._replace(speed=class_of_word(game.speed)) if reading.by_fide else game


def _problems(value: object) -> Iterator[str]:
    if type(value) is not dict:
        yield f"expected an object, got {excerpt(value)} @ $"
        return
    is_round = _is_round(value)
    checks, players = (_ROUND_CHECKS, ("player",)) if is_round else (_CHECKS, _PLAYERS)
    allowed = {**checks, **dict.fromkeys(players)}
    yield from _unknown_or_missing(value, allowed, _ROUND_NEEDED if is_round else _NEEDED, "$")
    for name, check in checks.items():
        if name in value:
            yield from _wrong(value[name], check, f"$.{name}")
    if is_round and "half_points" in value and value[_ROUND] != Brings.ALLOTTED:
        yield "half points go with what is allotted: leave them out @ $.half_points"
    for colour in players:
        if colour not in value:
            continue
        player = value[colour]
        if type(player) is not dict:
            yield f'expected an object {{"id": ..., "name": ...}}, got {excerpt(player)} @ $.{colour}'
            continue
        yield from _unknown_or_missing(player, _PLAYER_CHECKS, ("id", "name"), f"$.{colour}")
        for name, check in _PLAYER_CHECKS.items():
            if name in player:
                yield from _wrong(player[name], check, f"$.{colour}.{name}")


def _unknown_or_missing(
    members: Mapping[str, Any], allowed: Mapping[str, object], needed: Iterable[str], path: str
) -> Iterator[str]:
    for name in members:
        if name not in allowed:
            yield f"unknown field, expected one of {sorted(allowed)} @ {path}{path_step(name)}"
    for name in needed:
        if name not in members:
            yield f"required field missing @ {path}.{name}"


def _wrong(value: object, check: _Check, path: str) -> Iterator[str]:
    if value is None:
        yield f"null is not written: leave the field out @ {path}"
    elif expected := check(value):
        yield f"expected {expected}, got {excerpt(value)} @ {path}"


def _fields(members: Mapping[str, Any], checks: Mapping[str, _Check]) -> dict[str, Any]:
    return {
        name: without_zero_fraction(value) if checks[name] is _instant else value
        for name, value in members.items()
        if name in checks
    }


def _game(line: int, members: Mapping[str, Any]) -> SourceGame:
    fields = _fields(members, _CHECKS)
    for colour in _PLAYERS:
        fields |= {f"{colour}_{name}": value for name, value in members[colour].items()}
    # A key that an earlier release made of the facts: it is not carried into a ledger that has a secret.
    return SourceGame(line=line, **fields, is_made=is_plain_key(members["key"]))


def _is_round(value: object) -> bool:
    return type(value) is dict and _ROUND in value


def _round(line: int, members: Mapping[str, Any]) -> SourceRound:
    player, fields = members["player"], {"round": None, **_fields(members, _ROUND_CHECKS)}
    return SourceRound(line, player["id"], player["name"], **fields)
