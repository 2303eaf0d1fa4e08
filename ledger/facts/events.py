"""The facts that a journal may hold: frozen classes, checked when built. They know nothing of JSON or SQL.

Each class has a ``KIND``, the name under which it is stored for ever (``game-recorded/1``), and a ``key``, the
fact's own identity. ``KEY_FIELD`` names a field that the key carries whole, so that it is stored once.
Fields are made by the small functions at the top, which give each its check, its words and its JSON Schema.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any, ClassVar

import attrs

from ledger.facts.instants import INSTANT_FORMS, instant_ms
from ledger.facts.words import Carry, Format, Outcome, Standing, Termination

MAX_WHOLE = 2**53 - 1  # every JSON reader keeps whole numbers up to here
MAX_PLAYER = 2**31 - 1
MAX_HALF_MOVES = 20_000  # the longest possible game under the 75-move rule has fewer than 18,000 half-moves
KEY_PATTERN = r"[A-Za-z0-9][A-Za-z0-9._:/+-]{0,95}"
NAME_PATTERN = r"[A-Za-z0-9][A-Za-z0-9_-]{0,31}"
DECIMAL_PATTERN = r"-?(?:0|[1-9][0-9]{0,11})(?:\.[0-9]{1,12})?"
SHA256_PATTERN = r"[0-9a-f]{64}"
INSTANT_PATTERN = (
    r"[0-9]{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12][0-9]|3[01])"
    r"(T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.(00[1-9]|0[1-9][0-9]|[1-9][0-9]{2}))?Z)?)?)?"
)
_CONTROLS = r"\u0000-\u001f\u007f-\u009f"
_BLANKS = r"\u0020\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
PLAIN_TEXT_PATTERN = f"[^{_CONTROLS}{_BLANKS}]([^{_CONTROLS}]*[^{_CONTROLS}{_BLANKS}])?"

Check = Callable[[object, "attrs.Attribute[Any]", Any], None]


def _field(doc: str, schema: Mapping[str, object], check: Check, *, optional: bool, absent: str = "") -> Any:
    """A field of an event.

    Args:
        doc: what it is, with its unit.
        schema: its JSON Schema.
        check: refuses what it may not be.
        optional: it may be absent.
        absent: what its absence states; empty where absence states nothing, so that the field is a blank.
    """
    metadata = {
        "doc": f"{doc}; absent: {absent}" if absent else doc,
        "schema": dict(schema),
        "blank": optional and not absent,
    }
    if optional:

        def check_present(event: object, attribute: attrs.Attribute[Any], value: Any) -> None:
            if value is not None:
                check(event, attribute, value)

        return attrs.field(default=None, validator=check_present, metadata=metadata)
    return attrs.field(validator=check, metadata=metadata)


def _fail(attribute: attrs.Attribute[Any], wanted: str, value: object) -> None:
    raise ValueError(f"{attribute.name} must be {wanted}, got {value!r}")


def _pattern(doc: str, pattern: str, *, optional: bool = False) -> Any:
    compiled = re.compile(pattern, re.ASCII)

    def check(_: object, attribute: attrs.Attribute[Any], value: Any) -> None:
        if type(value) is not str or compiled.fullmatch(value) is None:
            _fail(attribute, f"text matching {pattern}", value)

    return _field(doc, {"type": "string", "pattern": f"^{pattern}$"}, check, optional=optional)


def is_plain_text(value: str, limit: int) -> bool:
    """True for 1 to *limit* characters in Unicode form NFC, no controls, no white space at either end."""
    if value.isascii():  # the same in fewer steps: nearly all text is
        return 0 < len(value) <= limit and value.isprintable() and value[0] != " " != value[-1]
    return (
        0 < len(value) <= limit
        and unicodedata.is_normalized("NFC", value)
        and value.strip() == value
        and not any(unicodedata.category(c) in {"Cc", "Cs"} for c in value)
    )


def _text(doc: str, limit: int, *, optional: bool = False) -> Any:
    def check(_: object, attribute: attrs.Attribute[Any], value: Any) -> None:
        if type(value) is not str or not is_plain_text(value, limit):
            _fail(attribute, f"1 to {limit} characters of NFC text without controls or outer blanks", value)

    schema = {
        "type": "string", "minLength": 1, "maxLength": limit, "pattern": f"^{PLAIN_TEXT_PATTERN}$",
        "description": "in Unicode form NFC, without controls or outer blanks",
    }  # fmt: skip
    return _field(doc, schema, check, optional=optional)


def _integer(doc: str, low: int, high: int, *, optional: bool = False) -> Any:
    def check(_: object, attribute: attrs.Attribute[Any], value: Any) -> None:
        if type(value) is not int or not low <= value <= high:
            _fail(attribute, f"a whole number from {low} to {high}", value)

    return _field(doc, {"type": "integer", "minimum": low, "maximum": high}, check, optional=optional)


def _instant(doc: str, *, optional: bool = False, absent: str = "") -> Any:
    def check(_: object, attribute: attrs.Attribute[Any], value: Any) -> None:
        if type(value) is not str:
            _fail(attribute, INSTANT_FORMS, value)
        try:
            instant_ms(value)
        except ValueError as error:
            raise ValueError(f"{attribute.name}: {error}") from None

    schema = {
        "type": "string",
        "pattern": f"^{INSTANT_PATTERN}$",
        "description": f"{INSTANT_FORMS}, in UTC, a day that exists, no fraction .000",
    }
    return _field(doc, schema, check, optional=optional, absent=absent)


def _one_of(
    doc: str, choices: type[Carry | Format | Outcome | Standing | Termination], *, optional: bool = False,
    absent: str = "",
) -> Any:  # fmt: skip
    def check(_: object, attribute: attrs.Attribute[Any], value: Any) -> None:
        if not isinstance(value, choices):
            _fail(attribute, f"one of {[c.value for c in choices]}", value)

    return _field(doc, {"enum": [c.value for c in choices]}, check, optional=optional, absent=absent)


def _flag(doc: str) -> Any:
    def check(_: object, attribute: attrs.Attribute[Any], value: Any) -> None:
        if type(value) is not bool:
            _fail(attribute, "true or false", value)

    return _field(doc, {"type": "boolean"}, check, optional=False)


def _settings(doc: str) -> Any:
    name, decimal = re.compile(NAME_PATTERN, re.ASCII), re.compile(DECIMAL_PATTERN, re.ASCII)

    def check(_: object, attribute: attrs.Attribute[Any], value: Any) -> None:
        if not isinstance(value, Mapping):
            _fail(attribute, "a mapping of names to values", value)
        for key, setting in value.items():
            if type(key) is not str or name.fullmatch(key) is None:
                _fail(attribute, f"keyed by names matching {NAME_PATTERN}", key)
            whole = type(setting) is int and abs(setting) <= MAX_WHOLE
            if not (whole or type(setting) is bool or (type(setting) is str and decimal.fullmatch(setting))):
                _fail(attribute, f"whole numbers, true, false or decimals as text at {key!r}", setting)

    schema = {
        "type": "object",
        "propertyNames": {"pattern": f"^{NAME_PATTERN}$"},
        "additionalProperties": {
            "anyOf": [
                {"type": "integer", "minimum": -MAX_WHOLE, "maximum": MAX_WHOLE},
                {"type": "boolean"},
                {"type": "string", "pattern": f"^{DECIMAL_PATTERN}$"},
            ]
        },
    }
    return _field(doc, schema, check, optional=False)


@attrs.frozen(kw_only=True)
class ConversionRange:
    """``factor * rating + offset`` for ratings from ``from_rating`` on; decimals as text."""

    from_rating: str | None = _pattern(
        "lowest rating of the range, points; absent in the first", DECIMAL_PATTERN, optional=True
    )
    factor: str = _pattern("what the rating is multiplied by", DECIMAL_PATTERN)
    offset: str = _pattern("what is added then, points", DECIMAL_PATTERN)


def _conversion(doc: str, *, absent: str) -> Any:
    def check(_: object, attribute: attrs.Attribute[Any], value: Any) -> None:
        if type(value) is not tuple or not value or not all(isinstance(item, ConversionRange) for item in value):
            _fail(attribute, "a tuple of at least one ConversionRange", value)
        begins = [conversion.from_rating for conversion in value]
        later = [float(begin) for begin in begins[1:] if begin is not None]
        if begins[0] is not None or len(later) < len(value) - 1 or later != sorted(set(later)):
            _fail(attribute, "ranges in ascending order of from_rating, which only the first leaves out", begins)

    fields = attrs.fields(ConversionRange)
    schema = {
        "type": "array",
        "minItems": 1,
        "description": "in ascending order of from_rating, which only the first leaves out",
        "items": {
            "type": "object",
            "properties": {f.name: {"description": f.metadata["doc"], **f.metadata["schema"]} for f in fields},
            "required": ["factor", "offset"],
            "additionalProperties": False,
        },
    }
    return _field(doc, schema, check, optional=True, absent=absent)


@attrs.frozen(kw_only=True)
class PlayerRegistered:
    """A player joins. The name stands outside the journal; only a salted commitment to it is sealed here."""

    KIND: ClassVar[str] = "player-registered/1"
    KEY_FIELD: ClassVar[str | None] = None

    player: int = _integer("number of the player in this ledger", 1, MAX_PLAYER)
    joined_at: str = _instant("when the player joined")
    standing: Standing = _one_of("standing with the site on joining", Standing)
    commitment: str = _pattern("HMAC-SHA256 of identity and name under the player's salt", SHA256_PATTERN)
    declared_rating: int | None = _integer("rating declared on joining, points", 0, 5000, optional=True)
    birth_year: int | None = _integer("year of birth", 1700, 2200, optional=True)

    @property
    def key(self) -> str:
        """``player:NUMBER``."""
        return f"player:{self.player}"


@attrs.frozen(kw_only=True)
class PlayerChanged:
    """A player's standing or declared rating changes from an instant on."""

    KIND: ClassVar[str] = "player-changed/1"
    KEY_FIELD: ClassVar[str | None] = None

    player: int = _integer("number of the player", 1, MAX_PLAYER)
    effective_at: str = _instant("from when the change holds")
    standing: Standing = _one_of("standing from then on", Standing)
    declared_rating: int | None = _integer("rating declared from then on, points", 0, 5000, optional=True)

    @property
    def key(self) -> str:
        """``player:NUMBER@INSTANT``."""
        return f"player:{self.player}@{self.effective_at}"


@attrs.frozen(kw_only=True)
class GameRecorded:
    """One game that ended, as the source reported it."""

    KIND: ClassVar[str] = "game-recorded/1"
    KEY_FIELD: ClassVar[str | None] = "game"

    game: str = _pattern("the game's own key; never used for another game", KEY_PATTERN)
    pool: str = _pattern("rating pool", NAME_PATTERN)
    white: int = _integer("player number of White", 1, MAX_PLAYER)
    black: int = _integer("player number of Black", 1, MAX_PLAYER)
    outcome: Outcome = _one_of("who won", Outcome)
    termination: Termination = _one_of("how the game ended", Termination)
    half_moves: int | None = _integer("moves of both sides together", 0, MAX_HALF_MOVES, optional=True)
    started_at: str | None = _instant("when the game began", optional=True)
    ended_at: str = _instant("when the game ended; its place in rating order")
    tournament: str | None = _text("key of the tournament, or the event name of the source", 128, optional=True)
    round: str | None = _text("round, as the source wrote it", 32, optional=True)
    rated: bool = _flag("whether the players asked for a rated game")
    text: str | None = _pattern("SHA-256 of the movetext kept beside the journal", SHA256_PATTERN, optional=True)
    white_rating: int | None = _integer("White's rating shown by the source, points", 0, 5000, optional=True)
    black_rating: int | None = _integer("Black's rating shown by the source, points", 0, 5000, optional=True)

    @property
    def key(self) -> str:
        """``game:KEY``."""
        return f"game:{self.game}"


@attrs.frozen(kw_only=True)
class SchemeAdopted:
    """A pool is rated by a scheme with the settings given here; settings not named keep their defaults."""

    KIND: ClassVar[str] = "scheme-adopted/1"
    KEY_FIELD: ClassVar[str | None] = None

    pool: str = _pattern("rating pool", NAME_PATTERN)
    scheme: str = _pattern("name of the scheme", NAME_PATTERN)
    settings: Mapping[str, int | bool | str] = _settings("settings that differ from the scheme's defaults")
    effective_from: str | None = _instant("first instant rated by it", optional=True, absent="from the beginning")
    carry: Carry | None = _one_of("what players bring along into it", Carry, optional=True, absent="keep")
    conversion: tuple[ConversionRange, ...] | None = _conversion(
        "the maps of a convert, by rating before it", absent="none"
    )

    @property
    def key(self) -> str:
        """``scheme:POOL@INSTANT``, with ``start`` where no instant is given."""
        return f"scheme:{self.pool}@{self.effective_from or 'start'}"


@attrs.frozen(kw_only=True)
class RatingRunClosed:
    """A rating period ends: for schemes that work by lists and whose periods end with their runs."""

    KIND: ClassVar[str] = "rating-run-closed/1"
    KEY_FIELD: ClassVar[str | None] = None

    pool: str = _pattern("rating pool", NAME_PATTERN)
    as_of: str = _instant("the last instant whose games it rates")

    @property
    def key(self) -> str:
        """``run:POOL@INSTANT``."""
        return f"run:{self.pool}@{self.as_of}"


@attrs.frozen(kw_only=True)
class TournamentOpened:
    """A tournament is announced: games of that name that end from its start to its end are its games."""

    KIND: ClassVar[str] = "tournament-opened/1"
    KEY_FIELD: ClassVar[str | None] = None

    pool: str = _pattern("rating pool", NAME_PATTERN)
    tournament: str = _text("key of the tournament, or the event name that its games carry", 128)
    starts_at: str = _instant("when it begins; of a day, the first moment")
    ends_at: str = _instant("when it is to be over; of a day, the last moment; a closing within it tells another end")
    format: Format | None = _one_of("how it is paired", Format, optional=True)
    entrants: int | None = _integer("how many players enter", 2, MAX_PLAYER, optional=True)
    rounds: int | None = _integer("how many rounds are planned", 1, 10_000, optional=True)

    @property
    def key(self) -> str:
        """``opening:POOL:DIGEST@INSTANT``; the digest is half the SHA-256 of its name, which may be any text."""
        return f"opening:{self.pool}:{sha256(self.tournament.encode()).hexdigest()[:32]}@{self.starts_at}"


@attrs.frozen(kw_only=True)
class TournamentClosed:
    """A tournament is over: schemes by event rate its games together, as of its end; one of that name may follow."""

    KIND: ClassVar[str] = "tournament-closed/1"
    KEY_FIELD: ClassVar[str | None] = None

    pool: str = _pattern("rating pool", NAME_PATTERN)
    tournament: str = _text("key of the tournament, or the event name that its games carry", 128)
    ended_at: str = _instant("when it was over")

    @property
    def key(self) -> str:
        """``tournament:POOL:DIGEST@INSTANT``; the digest is half the SHA-256 of its name, which may be any text."""
        return f"tournament:{self.pool}:{sha256(self.tournament.encode()).hexdigest()[:32]}@{self.ended_at}"


@attrs.frozen(kw_only=True)
class ClockAccepted:
    """The administrator's word that an entry was recorded by a wrong clock, in the future; time goes on from here."""

    KIND: ClassVar[str] = "clock-accepted/1"
    KEY_FIELD: ClassVar[str | None] = None

    entry: int = _integer("position of the entry that the wrong clock recorded, the one before this", 1, MAX_WHOLE)

    @property
    def key(self) -> str:
        """``clock:POSITION``."""
        return f"clock:{self.entry}"


Event = (
    PlayerRegistered
    | PlayerChanged
    | GameRecorded
    | SchemeAdopted
    | RatingRunClosed
    | TournamentOpened
    | TournamentClosed
    | ClockAccepted
)
EVENTS: tuple[type[Event], ...] = (
    PlayerRegistered, PlayerChanged, GameRecorded, SchemeAdopted, RatingRunClosed, TournamentOpened, TournamentClosed,
    ClockAccepted,
)  # fmt: skip
BY_KIND: Mapping[str, type[Event]] = {cls.KIND: cls for cls in EVENTS}
# By class, the fields that a source may leave blank: their absence states nothing.
BLANKS: Mapping[type[Event], frozenset[str]] = {
    cls: frozenset(field.name for field in attrs.fields(cls) if field.metadata["blank"]) for cls in EVENTS
}
