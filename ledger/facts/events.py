"""The facts that a journal may hold: frozen classes, checked when built. They know nothing of JSON or SQL.

Each class has a ``KIND``, the name under which it is stored for ever (``game-recorded/1``), and a ``key``, the
fact's own identity. ``KEY_FIELD`` names a field that the key carries whole, so that it is stored once.
The functions of ``event_fields`` give each field its check, its words and its JSON Schema.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from hashlib import sha256
from typing import Any, ClassVar
from urllib.parse import quote

import attrs

from ledger.errors import MalformedError
from ledger.facts.changes import Change, changes_field
from ledger.facts.event_fields import (
    DECIMAL_PATTERN,
    FEDERATION_PATTERN,
    KEY_PATTERN,
    MAX_HALF_MOVES,
    MAX_PLAYER,
    MAX_RATING,
    MAX_ROUND,
    MAX_WHOLE,
    NAME_PATTERN,
    POSITIVE_PATTERN,
    ROUND_DAYS_PATTERN,
    SHA256_PATTERN,
    WARNING_CODES_PATTERN,
    field_of,
    flag_field,
    instant_field,
    integer_field,
    one_of_field,
    pattern_field,
    refuse_value,
    settings_field,
    text_field,
)
from ledger.facts.words import (
    USUALLY_BRINGS,
    Brings,
    Carry,
    Colour,
    Format,
    LateReports,
    Outcome,
    Standing,
    Strength,
    Termination,
)


@attrs.frozen
class _Fact:
    """The common part of events: the name of the field that the key carries complete, if there is one."""

    KEY_FIELD: ClassVar[str | None] = None


@attrs.frozen(kw_only=True)
class ConversionRange:
    """``factor * rating + offset`` for ratings from ``from_rating`` on; decimals as text."""

    from_rating: str | None = pattern_field(
        "lowest rating of the range, points; absent in the first", DECIMAL_PATTERN, optional=True
    )
    factor: str = pattern_field("what the rating is multiplied by", DECIMAL_PATTERN)
    offset: str = pattern_field("what is added then, points", DECIMAL_PATTERN)


def _conversion(doc: str, *, absent: str) -> Any:
    def check(_: object, attribute: attrs.Attribute[Any], value: Any) -> None:
        if type(value) is not tuple or not value or not all(isinstance(item, ConversionRange) for item in value):
            refuse_value(attribute, "a tuple of at least one ConversionRange", value)
        begins = [conversion.from_rating for conversion in value]
        later = [float(begin) for begin in begins[1:] if begin is not None]
        if begins[0] is not None or len(later) < len(value) - 1 or later != sorted(set(later)):
            refuse_value(attribute, "ranges in ascending order of from_rating, which only the first leaves out", begins)

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
    return field_of(doc, schema, check, optional=True, absent=absent)


@attrs.frozen(kw_only=True)
class PlayerRegistered(_Fact):
    """A player joins. The name is stored outside the journal; the entry holds only a salted commitment to it."""

    KIND: ClassVar[str] = "player-registered/1"

    player: int = integer_field("number of the player in this ledger", 1, MAX_PLAYER)
    joined_at: str = instant_field("when the player joined")
    standing: Standing = one_of_field("standing with the site on joining", Standing)
    commitment: str = pattern_field("HMAC-SHA256 of identity and name under the player's salt", SHA256_PATTERN)
    declared_rating: int | None = integer_field("rating declared on joining, points", 0, MAX_RATING, optional=True)
    birth_year: int | None = integer_field("year of birth", 1700, 2200, optional=True)

    @property
    def key(self) -> str:
        """``player:NUMBER``."""
        return f"player:{self.player}"


@attrs.frozen(kw_only=True)
class PlayerChanged(_Fact):
    """A player's standing or declared rating changes from an instant on."""

    KIND: ClassVar[str] = "player-changed/1"

    player: int = integer_field("number of the player", 1, MAX_PLAYER)
    effective_at: str = instant_field("from when the change holds")
    standing: Standing = one_of_field("standing from then on", Standing)
    declared_rating: int | None = integer_field("rating declared from then on, points", 0, MAX_RATING, optional=True)

    @property
    def key(self) -> str:
        """``player:NUMBER@INSTANT``."""
        return f"player:{self.player}@{self.effective_at}"


@attrs.frozen(kw_only=True)
class PlayerRenamed(_Fact):
    """A player's name is corrected, or attached to a number. The name is stored outside the journal."""

    KIND: ClassVar[str] = "player-renamed/1"

    player: int = integer_field("number of the player", 1, MAX_PLAYER)
    number: int = integer_field("place among the renamings of the player, from 1", 1, MAX_WHOLE)
    commitment: str = pattern_field("HMAC-SHA256 of identity and new name under a new salt", SHA256_PATTERN)

    @property
    def key(self) -> str:
        """``renamed:PLAYER@NUMBER``."""
        return f"renamed:{self.player}@{self.number}"


@attrs.frozen(kw_only=True)
class BirthYearLearnt(_Fact):
    """A player's year of birth, if registration lacked it; it holds for all games, earlier ones too."""

    KIND: ClassVar[str] = "birth-year-learnt/1"

    player: int = integer_field("number of the player", 1, MAX_PLAYER)
    birth_year: int = integer_field("year of birth", 1700, 2200)

    @property
    def key(self) -> str:
        """``born:NUMBER``."""
        return f"born:{self.player}"


@attrs.frozen(kw_only=True)
class RatingSeeded(_Fact):
    """A player comes into a pool with a past: what a list said when the ledger began to rate. Decimals as text."""

    KIND: ClassVar[str] = "rating-seeded/1"

    player: int = integer_field("number of the player", 1, MAX_PLAYER)
    pool: str = pattern_field("rating pool", NAME_PATTERN)
    effective_at: str | None = instant_field(
        "from when it holds; of several the last one up to the first rated game counts",
        optional=True,
        absent="from the beginning",
    )
    rating: str = pattern_field("rating, in what the pool's scheme counts in", POSITIVE_PATTERN)
    games: int | None = integer_field("rated games behind it", 0, 1_000_000, optional=True)
    deviation: str | None = pattern_field("rating deviation RD, points", POSITIVE_PATTERN, optional=True)
    volatility: str | None = pattern_field("Glicko-2 volatility, 1/173.7178 points", POSITIVE_PATTERN, optional=True)
    highest: str | None = pattern_field("highest rating so far, points", POSITIVE_PATTERN, optional=True)
    k_factor: str | None = pattern_field("K-factor on that list", POSITIVE_PATTERN, optional=True)
    source: str | None = text_field("the list that it comes from", 128, optional=True)

    @property
    def key(self) -> str:
        """``seed:POOL:NUMBER@INSTANT``, with ``start`` where no instant is given."""
        return f"seed:{self.pool}:{self.player}@{self.effective_at or 'start'}"


@attrs.frozen(kw_only=True)
class StrengthChosen(_Fact):
    """A player chooses a playing strength in a pool, shown until the provisional games there are completed."""

    KIND: ClassVar[str] = "strength-chosen/1"

    player: int = integer_field("number of the player", 1, MAX_PLAYER)
    pool: str = pattern_field("rating pool", NAME_PATTERN)
    effective_at: str = instant_field("from when the choice holds, until the next one")
    strength: Strength = one_of_field("the strength that the player chose", Strength)

    @property
    def key(self) -> str:
        """``strength:POOL:NUMBER@INSTANT``."""
        return f"strength:{self.pool}:{self.player}@{self.effective_at}"


@attrs.frozen(kw_only=True)
class FederationSet(_Fact):
    """A player belongs to a federation from an instant on; in a pool of another one the player is a guest."""

    KIND: ClassVar[str] = "federation-set/1"

    player: int = integer_field("number of the player", 1, MAX_PLAYER)
    effective_at: str = instant_field("from when it holds, until the next one")
    federation: str = pattern_field("federation of three letters, such as NOR", FEDERATION_PATTERN)

    @property
    def key(self) -> str:
        """``federation:NUMBER@INSTANT``."""
        return f"federation:{self.player}@{self.effective_at}"


@attrs.frozen(kw_only=True)
class GameRecorded(_Fact):
    """One game that ended, as the source reported it."""

    KIND: ClassVar[str] = "game-recorded/1"
    KEY_FIELD: ClassVar[str | None] = "game"

    game: str = pattern_field("the game's own key; never used for another game", KEY_PATTERN)
    pool: str = pattern_field("rating pool", NAME_PATTERN)
    white: int = integer_field("player number of White", 1, MAX_PLAYER)
    black: int = integer_field("player number of Black", 1, MAX_PLAYER)
    outcome: Outcome = one_of_field("who won", Outcome)
    termination: Termination = one_of_field("how the game ended", Termination)
    half_moves: int | None = integer_field("moves of both sides together", 0, MAX_HALF_MOVES, optional=True)
    started_at: str | None = instant_field("when the game began", optional=True)
    ended_at: str = instant_field("when the game ended; its place in rating order")
    tournament: str | None = text_field("key of the tournament, or the event name of the source", 128, optional=True)
    round: str | None = text_field("round, as the source wrote it", 32, optional=True)
    sequence: int | None = integer_field(
        "place within day and round, as the source numbers or lists its games", 1, MAX_WHOLE, optional=True
    )
    rated: bool = flag_field("whether the players asked for a rated game")
    text: str | None = pattern_field("SHA-256 of the movetext kept beside the journal", SHA256_PATTERN, optional=True)
    white_rating: int | None = integer_field("White's rating shown by the source, points", 0, MAX_RATING, optional=True)
    black_rating: int | None = integer_field("Black's rating shown by the source, points", 0, MAX_RATING, optional=True)

    @property
    def key(self) -> str:
        """``game:KEY``."""
        return f"game:{self.game}"


@attrs.frozen(kw_only=True)
class GameSupplemented(_Fact):
    """The new details in a further report of a game: fields that were blank or less precise. It contradicts nothing."""

    KIND: ClassVar[str] = "game-supplemented/1"

    game: str = pattern_field("key of the game", KEY_PATTERN)
    entry: int = integer_field("position of the entry that recorded the game", 1, MAX_WHOLE)
    number: int = integer_field("place among the supplements of the game, from 1", 1, MAX_WHOLE)
    termination: Termination | None = one_of_field("how the game ended, unknown before", Termination, optional=True)
    half_moves: int | None = integer_field("moves of both sides together", 0, MAX_HALF_MOVES, optional=True)
    started_at: str | None = instant_field("when the game began, blank or less precise before", optional=True)
    ended_at: str | None = instant_field("when the game ended, less precise before", optional=True)
    tournament: str | None = text_field("key of the tournament, or the event name of the source", 128, optional=True)
    round: str | None = text_field("round, as the source wrote it", 32, optional=True)
    sequence: int | None = integer_field(
        "place within day and round, as the source numbers or lists its games", 1, MAX_WHOLE, optional=True
    )
    text: str | None = pattern_field("SHA-256 of the movetext kept beside the journal", SHA256_PATTERN, optional=True)
    white_rating: int | None = integer_field("White's rating shown by the source, points", 0, MAX_RATING, optional=True)
    black_rating: int | None = integer_field("Black's rating shown by the source, points", 0, MAX_RATING, optional=True)

    @property
    def key(self) -> str:
        """``supplement:GAME@NUMBER``."""
        return f"supplement:{self.game}@{self.number}"


@attrs.frozen(kw_only=True)
class SchemeAdopted(_Fact):
    """A pool is rated by a scheme with the settings given here.

    A recorded adoption names every setting, with the versions of scheme and arithmetic, so that a new default never
    changes how an old ledger is rated. If a setting is missing, the recorder adds the scheme's default.
    """

    KIND: ClassVar[str] = "scheme-adopted/2"

    pool: str = pattern_field("rating pool", NAME_PATTERN)
    scheme: str = pattern_field("name of the scheme", NAME_PATTERN)
    settings: Mapping[str, int | bool | str] = settings_field(
        "settings of the scheme by name",
        {"late_reports": "|".join(LateReports), "from_pool": NAME_PATTERN, "federation": FEDERATION_PATTERN},
    )
    scheme_version: int | None = integer_field("version of the scheme that adopted it", 1, MAX_WHOLE, optional=True)
    arithmetic: int | None = integer_field("version of the arithmetic then", 1, MAX_WHOLE, optional=True)
    effective_from: str | None = instant_field("first instant rated by it", optional=True, absent="from the beginning")
    carry: Carry | None = one_of_field("what players bring along into it", Carry, optional=True, absent="keep")
    conversion: tuple[ConversionRange, ...] | None = _conversion(
        "the maps of a convert, by rating before it", absent="none"
    )

    @property
    def key(self) -> str:
        """``scheme:POOL@INSTANT``, with ``start`` where no instant is given."""
        return f"scheme:{self.pool}@{self.effective_from or 'start'}"


@attrs.frozen(kw_only=True)
class RatingRunClosed(_Fact):
    """A rating period ends: for schemes that work by lists and whose periods end with their runs."""

    KIND: ClassVar[str] = "rating-run-closed/1"

    pool: str = pattern_field("rating pool", NAME_PATTERN)
    as_of: str = instant_field("the last instant whose games it rates")

    @property
    def key(self) -> str:
        """``run:POOL@INSTANT``."""
        return f"run:{self.pool}@{self.as_of}"


@attrs.frozen(kw_only=True)
class TournamentOpened(_Fact):
    """A tournament is announced: games of that name that end from its start to its end are its games."""

    KIND: ClassVar[str] = "tournament-opened/1"

    pool: str = pattern_field("rating pool", NAME_PATTERN)
    tournament: str = text_field("key of the tournament, or the event name that its games carry", 128)
    starts_at: str = instant_field("when it begins; of a day, the first moment")
    ends_at: str = instant_field("when it is to be over; of a day, the last moment; a closing says it otherwise")
    format: Format | None = one_of_field("how it is paired", Format, optional=True)
    entrants: int | None = integer_field("how many players enter", 2, MAX_PLAYER, optional=True)
    rounds: int | None = integer_field("how many rounds are planned", 1, 10_000, optional=True)

    @property
    def key(self) -> str:
        """``opening:POOL:DIGEST@INSTANT``; the digest is half the SHA-256 of its name, which may be any text."""
        return f"opening:{self.pool}:{sha256(self.tournament.encode()).hexdigest()[:32]}@{self.starts_at}"


@attrs.frozen(kw_only=True)
class TournamentClosed(_Fact):
    """A tournament is over: schemes by event rate its games together, as of its end; one of that name may follow."""

    KIND: ClassVar[str] = "tournament-closed/1"

    pool: str = pattern_field("rating pool", NAME_PATTERN)
    tournament: str = text_field("key of the tournament, or the event name that its games carry", 128)
    ended_at: str = instant_field("when it was over")

    @property
    def key(self) -> str:
        """``tournament:POOL:DIGEST@INSTANT``; the digest is half the SHA-256 of its name, which may be any text."""
        return f"tournament:{self.pool}:{sha256(self.tournament.encode()).hexdigest()[:32]}@{self.ended_at}"


@attrs.frozen(kw_only=True)
class RoundWithoutGame(_Fact):
    """A round of a tournament in which a player has no game, and what it brings: a bye, an absence. Never rated."""

    KIND: ClassVar[str] = "round-without-game/1"

    pool: str = pattern_field("rating pool of the tournament's games", NAME_PATTERN)
    tournament: str = text_field("key of the tournament, or the event name that its games carry", 128)
    edition: str = instant_field("a day of the edition: its first one, or that of the round")
    round: int | None = integer_field(
        "number of the round", 1, MAX_ROUND, optional=True, absent="rounds have no number"
    )
    player: int = integer_field("number of the player", 1, MAX_PLAYER)
    brings: Brings = one_of_field("what the round brings", Brings)
    half_points: int | None = integer_field(
        "what an allotted bye brings by the rules of the event, half points", 0, 20, optional=True, absent="2"
    )
    opponent: int | None = integer_field(
        "the player with whom the round was paired", 1, MAX_PLAYER, optional=True, absent="nobody"
    )
    colour: Colour | None = one_of_field("the colour in that pairing", Colour, optional=True, absent="none was given")

    def __attrs_post_init__(self) -> None:
        """Refuse points of another number for what is not allotted, and a colour or oneself without an opponent.

        Raises:
            MalformedError: the settings contain some.
        """
        if self.opponent == self.player:
            raise MalformedError(
                [f"player {self.player} was paired with an opponent, not with oneself: name the other"]
            )
        if self.colour is not None and self.opponent is None:
            raise MalformedError([f"colour {self.colour.value!r} goes with an opponent: name one, or leave it out"])
        if self.half_points is not None and self.brings is not Brings.ALLOTTED:
            words = f"half_points go with what is allotted, not with {self.brings.value!r}: leave them out"
            raise MalformedError([words])

    @property
    def worth(self) -> int:
        """The points of the round, in half points."""
        return USUALLY_BRINGS[self.brings] if self.half_points is None else self.half_points

    @property
    def place(self) -> str:
        """The key without its day: all facts of the player in rounds of this number and name begin so."""
        # a spelling, no digest: nothing in this key is derived from anything
        name = quote(self.tournament, safe="")
        return f"round:{self.pool}:{name}:{self.player}:{self.round or '-'}@"

    @property
    def key(self) -> str:
        """``round:POOL:TOURNAMENT:PLAYER:ROUND@EDITION``, ``-`` for a round without a number; the name as in an URL."""
        return f"{self.place}{self.edition}"


@attrs.frozen(kw_only=True)
class PlayerEntered(_Fact):
    """A player is in the list of entrants of a tournament, with the starting number and rating of a report."""

    KIND: ClassVar[str] = "player-entered/1"

    pool: str = pattern_field("rating pool of the tournament's games", NAME_PATTERN)
    tournament: str = text_field("key of the tournament, or the event name that its games carry", 128)
    edition: str = instant_field("a day of the edition: its first one")
    player: int = integer_field("number of the player", 1, MAX_PLAYER)
    number: int = integer_field("place among the reports of this entrant, from 1; the last one counts", 1, MAX_WHOLE)
    start_number: int = integer_field("starting number in the tournament", 1, 9_999)
    rating: int | None = integer_field(
        "rating in the list of entrants, points", 0, MAX_RATING, optional=True, absent="unrated"
    )
    place: int | None = integer_field("final place in the report", 1, 9_999, optional=True, absent="none was given")
    federation: str | None = pattern_field(
        "federation in the list of entrants, such as NOR", FEDERATION_PATTERN, optional=True
    )

    @property
    def key(self) -> str:
        """``entrant:POOL:TOURNAMENT:PLAYER@EDITION/NUMBER``; the name as in an URL."""
        return f"entrant:{self.pool}:{quote(self.tournament, safe='')}:{self.player}@{self.edition}/{self.number}"


@attrs.frozen(kw_only=True)
class TournamentDescribed(_Fact):
    """The facts of a report about a tournament that are not in its games; blank ones state nothing."""

    KIND: ClassVar[str] = "tournament-described/1"

    pool: str = pattern_field("rating pool of the tournament's games", NAME_PATTERN)
    tournament: str = text_field("key of the tournament, or the event name that its games carry", 128)
    edition: str = instant_field("a day of the edition: its first one")
    number: int = integer_field(
        "place among the descriptions of the edition, from 1; later ones go before", 1, MAX_WHOLE
    )
    city: str | None = text_field("where it was played", 128, optional=True)
    federation: str | None = text_field("federation that registers it, such as GER", 32, optional=True)
    system: str | None = text_field("pairing system in words", 128, optional=True)
    time_control: str | None = text_field("time control in words", 256, optional=True)
    time_code: str | None = text_field("time control in the code of TRF26, such as 5400+30", 128, optional=True)
    rounds: int | None = integer_field("number of rounds that are planned", 1, MAX_ROUND, optional=True)
    round_days: str | None = pattern_field(
        "day of each round, parted by blanks, - for an unknown one", ROUND_DAYS_PATTERN, optional=True
    )
    first_colour: Colour | None = one_of_field("colour of the first player in round 1", Colour, optional=True)
    scoring: str | None = text_field("points of results in the code of TRF26", 128, optional=True)
    start_order: str | None = text_field("order of the starting list in the code of TRF26", 128, optional=True)
    program: str | None = text_field("program that paired it", 128, optional=True)
    system_code: str | None = text_field("pairing system in the code of TRF26", 128, optional=True)
    tie_breaks: str | None = text_field("tie-breaks in the code of TRF26", 256, optional=True)
    standings_order: str | None = text_field("order of the standings in the code of TRF26", 256, optional=True)
    arbiters: str | None = pattern_field(
        "HMAC-SHA256 of the arbiters' names under a salt of its own", SHA256_PATTERN, optional=True
    )

    @property
    def key(self) -> str:
        """``described:POOL:DIGEST@EDITION/NUMBER``; the digest is half the SHA-256 of its name."""
        digest = sha256(self.tournament.encode()).hexdigest()[:32]
        return f"described:{self.pool}:{digest}@{self.edition}/{self.number}"


@attrs.frozen(kw_only=True)
class PlayerDescribed(_Fact):
    """Data about a player that hold from an instant on. They are stored outside the journal, which commits to them."""

    KIND: ClassVar[str] = "player-described/1"

    player: int = integer_field("number of the player", 1, MAX_PLAYER)
    effective_at: str = instant_field("from when they hold")
    number: int = integer_field("place among the descriptions of the player from this instant, from 1", 1, MAX_WHOLE)
    details: str = pattern_field("HMAC-SHA256 of the data under a salt of its own", SHA256_PATTERN)

    @property
    def key(self) -> str:
        """``details:PLAYER@INSTANT/NUMBER``."""
        return f"details:{self.player}@{self.effective_at}/{self.number}"


@attrs.frozen(kw_only=True)
class WarningsAccepted(_Fact):
    """A person accepted the warnings about a tournament report, to record it in this transaction or a later one.

    It is a later one if four eyes ask for the acceptance of another person, too.
    """

    KIND: ClassVar[str] = "warnings-accepted/1"

    pool: str = pattern_field("rating pool of the tournament's games", NAME_PATTERN)
    tournament: str | None = text_field("key of the tournament, or the event name of the report", 128, optional=True)
    edition: str = instant_field("a day of the edition: its first one")
    number: int = integer_field("place among the acceptances of the edition, from 1", 1, MAX_WHOLE)
    codes: str = pattern_field("codes of the warnings, parted by blanks", WARNING_CODES_PATTERN)
    warnings: int = integer_field("how many warnings", 1, MAX_WHOLE)

    @property
    def key(self) -> str:
        """``accepted:POOL:DIGEST@EDITION/NUMBER``; the digest is half the SHA-256 of the name, or of nothing."""
        digest = sha256((self.tournament or "").encode()).hexdigest()[:32]
        return f"accepted:{self.pool}:{digest}@{self.edition}/{self.number}"


@attrs.frozen(kw_only=True)
class ClockAccepted(_Fact):
    """The administrator's word that an entry was recorded by a wrong clock, in the future; time goes on from here."""

    KIND: ClassVar[str] = "clock-accepted/1"

    entry: int = integer_field("position of the entry that the wrong clock recorded, the one before this", 1, MAX_WHOLE)

    @property
    def key(self) -> str:
        """``clock:POSITION``."""
        return f"clock:{self.entry}"


# -- corrections -----------------------------------------------------------------------------------------------------

# The module ``changes`` defines the changes. Reasons are free text that may name people: they are stored outside the
# journal, which holds their salted digests.


class Decision(StrEnum):
    """The result of a proposal."""

    APPROVED = "approved"
    REJECTED = "rejected"
    WITHDRAWN = "withdrawn"  # by who proposed


def proposal_key(proposal: int, part: int = 1) -> str:
    """Return the key of the entry of a proposal: ``proposal:NUMBER@PART``."""
    return f"proposal:{proposal}@{part}"


@attrs.frozen(kw_only=True)
class CorrectionProposed(_Fact):
    """Somebody proposes to correct what the journal says; it takes effect if it is approved, and from there on.

    A proposal of many changes is recorded in parts that follow each other in one transaction.
    """

    KIND: ClassVar[str] = "correction-proposed/2"

    proposal: int = integer_field("number of the proposal, from 1", 1, MAX_WHOLE)
    part: int = integer_field("which part of it this is, from 1", 1, MAX_WHOLE)
    parts: int = integer_field("how many parts it has", 1, MAX_WHOLE)
    changes: tuple[Change, ...] = changes_field("what is to be changed, in this order")
    reason: str = pattern_field("HMAC-SHA256 of the reason under a salt of its own", SHA256_PATTERN)
    proven: bool = flag_field("whether a token named the person who proposes; else the name is a word")
    by_token: int | None = integer_field(
        "position of the entry that issued the proposer's token",
        1,
        MAX_WHOLE,
        optional=True,
        absent="no token was shown, or none had an entry yet",
    )

    @property
    def key(self) -> str:
        """``proposal:NUMBER@PART``."""
        return proposal_key(self.proposal, self.part)


@attrs.frozen(kw_only=True)
class CorrectionDecided(_Fact):
    """Somebody approves a proposal, rejects it, or takes it back."""

    KIND: ClassVar[str] = "correction-decided/2"

    proposal: int = integer_field("number of the proposal", 1, MAX_WHOLE)
    decision: Decision = one_of_field("what becomes of it", Decision)
    reason: str | None = pattern_field(
        "HMAC-SHA256 of the reason under a salt of its own", SHA256_PATTERN, optional=True
    )
    proven: bool = flag_field("whether a token named the person who decides; else the name is a word")
    by_token: int | None = integer_field(
        "position of the entry that issued the token of the person who decides",
        1,
        MAX_WHOLE,
        optional=True,
        absent="no token was shown, or none had an entry yet",
    )

    @property
    def key(self) -> str:
        """``decision:NUMBER``."""
        return f"decision:{self.proposal}"


# -- publications, and the rules of the ledger itself ------------------------------------------------------------

FOUR_EYES = "four-eyes"  # the policy that corrections, and entries that affect the past, need two people


@attrs.frozen(kw_only=True)
class PolicySet(_Fact):
    """A policy of the ledger from an instant on: four eyes, limits before a list is published, margins of marks."""

    KIND: ClassVar[str] = "policy-set/1"

    policy: str = pattern_field("name of the policy", NAME_PATTERN)
    number: int = integer_field("place among the settings of this policy, from 1", 1, MAX_WHOLE)
    settings: Mapping[str, int | bool | str] = settings_field("what the policy says, by name; decimals as text")
    effective_from: str | None = instant_field(
        "first instant at which it holds; four eyes hold from the entry on", optional=True, absent="from the beginning"
    )

    @property
    def key(self) -> str:
        """``policy:NAME@NUMBER``."""
        return f"policy:{self.policy}@{self.number}"


@attrs.frozen(kw_only=True)
class ListPublished(_Fact):
    """A rating list was published: its numbers are stored outside the journal, by their digest."""

    KIND: ClassVar[str] = "list-published/1"

    pool: str = pattern_field("rating pool", NAME_PATTERN)
    as_of: str = instant_field("the ratings in force at the end of this instant")
    edition: int = integer_field("place among the lists of this pool and instant, from 1", 1, MAX_WHOLE)
    head: int = integer_field("how many entries of the journal it follows from", 1, MAX_WHOLE)
    root: str = pattern_field("Merkle root of these entries, in hexadecimal", SHA256_PATTERN)
    digest: str = pattern_field("SHA-256 of the rows as they are kept", SHA256_PATTERN)
    players: int = integer_field("how many players are listed", 0, MAX_PLAYER)
    scheme: str = pattern_field("name of the scheme that rated them", NAME_PATTERN)
    scheme_version: int = integer_field("version of that scheme", 1, MAX_WHOLE)
    arithmetic: int = integer_field("version of the arithmetic", 1, MAX_WHOLE)

    @property
    def key(self) -> str:
        """``list:POOL@INSTANT/EDITION``."""
        return f"list:{self.pool}@{self.as_of}/{self.edition}"


@attrs.frozen(kw_only=True)
class ReportSent(_Fact):
    """A report about a tournament was sent to a federation: its file and its results are named by their digests."""

    KIND: ClassVar[str] = "report-sent/1"

    pool: str = pattern_field("rating pool of the tournament's games", NAME_PATTERN)
    tournament: str = text_field("key of the tournament, or the event name that its games carry", 128)
    edition: str = instant_field("a day of the edition: its first one")
    number: int = integer_field("place among the reports of the edition that were sent, from 1", 1, MAX_WHOLE)
    form: str = pattern_field("format of the file", "trf16|trf26")
    digest: str = pattern_field("SHA-256 of the file", SHA256_PATTERN)
    text: str = pattern_field("SHA-256 of the results, which are kept beside the journal", SHA256_PATTERN)
    sent_on: str = instant_field("the day on which it was sent")
    since: str | None = instant_field("first day of the period", optional=True, absent="the whole tournament")
    until: str | None = instant_field("last day of the period", optional=True, absent="the whole tournament")

    @property
    def key(self) -> str:
        """``sent:POOL:DIGEST@EDITION/NUMBER``; the digest is half the SHA-256 of its name."""
        digest = sha256(self.tournament.encode()).hexdigest()[:32]
        return f"sent:{self.pool}:{digest}@{self.edition}/{self.number}"


@attrs.frozen(kw_only=True)
class PersonErased(_Fact):
    """Somebody was forgotten: identity, name and salt are gone. Games and ratings stay under the number."""

    KIND: ClassVar[str] = "person-erased/1"

    player: int = integer_field("number of the player", 1, MAX_PLAYER)

    @property
    def key(self) -> str:
        """``erased:NUMBER``."""
        return f"erased:{self.player}"


# -- tokens ----------------------------------------------------------------------------------------------------------

# A token is 256 random bits, so that its salted digest cannot be found by trying. The names of its holder and of its
# issuer are stored here like those of other actors, and are never erased: a person who objects gets a token under
# another name. All keys of these events lie between the first and the last prefix: ";" follows ":" in ASCII, so that
# the index of the keys answers.
KEYS, AFTER_KEYS = "token:", "token;"


class Role(StrEnum):
    """The rights of a token's holder."""

    RECORDER = "recorder"  # record facts; required only if a person holds this role
    CORRECTOR = "corrector"  # propose corrections, and take one's own back
    APPROVER = "approver"  # approve and reject proposals, set policies, publish lists, issue and revoke tokens
    AUDITOR = "auditor"  # no right, only a name: everybody who may read the files may audit


ROLES_OF: Mapping[Decision, Role] = {
    Decision.APPROVED: Role.APPROVER,
    Decision.REJECTED: Role.APPROVER,
    Decision.WITHDRAWN: Role.CORRECTOR,
}
_ROLE = f"(?:{'|'.join(Role)})"
_WHO = "position of the entry that issued the token of the person who does this"


@attrs.frozen(kw_only=True)
class TokenIssued(_Fact):
    """A person gets a token. Once there is an approver, an approver's token issues it; a lost one is reset."""

    KIND: ClassVar[str] = "token-issued/1"

    number: int = integer_field("number of the token in this ledger, from 1", 1, MAX_WHOLE)
    person: str = text_field("whom it names: the actor of what is done by it", 128)
    roles: str = pattern_field("what the person may do by it, words divided by blanks", f"{_ROLE}(?: {_ROLE}){{0,3}}")
    salt: str = pattern_field("salt of the digest, 32 random bytes in hexadecimal", SHA256_PATTERN)
    digest: str = pattern_field("HMAC-SHA256 of the token under its salt", SHA256_PATTERN)
    expires_at: str | None = instant_field(
        "the last instant at which it is taken; no replay looks at it", optional=True, absent="it does not expire"
    )
    by_token: int | None = integer_field(_WHO, 1, MAX_WHOLE, optional=True, absent="no token was shown")
    reset: bool = flag_field("whether it takes the place of the person's tokens, lost, without an approver's token")

    @property
    def key(self) -> str:
        """``token:NUMBER``."""
        return f"{KEYS}{self.number}"


@attrs.frozen(kw_only=True)
class TokenRevoked(_Fact):
    """A token proves nothing from this entry on."""

    KIND: ClassVar[str] = "token-revoked/1"

    number: int = integer_field("number of the token", 1, MAX_WHOLE)
    by_token: int | None = integer_field(_WHO, 1, MAX_WHOLE, optional=True, absent="no token was shown")

    @property
    def key(self) -> str:
        """``token:NUMBER/revoked``."""
        return f"{KEYS}{self.number}/revoked"


Event = (
    PlayerRegistered | PlayerChanged | BirthYearLearnt | RatingSeeded | GameRecorded | SchemeAdopted | RatingRunClosed
    | TournamentOpened | TournamentClosed | ClockAccepted | GameSupplemented | PlayerRenamed | CorrectionProposed
    | CorrectionDecided | PolicySet | ListPublished | PersonErased | TokenIssued | TokenRevoked
    | RoundWithoutGame | StrengthChosen | PlayerEntered | TournamentDescribed | PlayerDescribed | ReportSent
    | WarningsAccepted | FederationSet
)  # fmt: skip
EVENTS: tuple[type[Event], ...] = (
    PlayerRegistered, PlayerChanged, BirthYearLearnt, RatingSeeded, GameRecorded, SchemeAdopted, RatingRunClosed,
    TournamentClosed, ClockAccepted, GameSupplemented, TournamentOpened, PlayerRenamed,
    CorrectionProposed, CorrectionDecided, PolicySet, ListPublished, PersonErased, TokenIssued, TokenRevoked,
    RoundWithoutGame, StrengthChosen, PlayerEntered, TournamentDescribed, PlayerDescribed, ReportSent,
    WarningsAccepted, FederationSet,
)  # fmt: skip
BY_KIND: Mapping[str, type[Event]] = {cls.KIND: cls for cls in EVENTS}
# By class, the fields that a source may leave blank: their absence states nothing.
BLANKS: Mapping[type[Event], frozenset[str]] = {
    cls: frozenset(field.name for field in attrs.fields(cls) if field.metadata["blank"]) for cls in EVENTS
}
SUPPLEMENTED = tuple(field.name for field in attrs.fields(GameSupplemented) if field.metadata["blank"])
# What the keys of an event begin with; a few kinds share a beginning.
KEYS_BEGIN: Mapping[type[Event], str] = {
    PlayerRegistered: "player:", PlayerChanged: "player:", BirthYearLearnt: "born:", RatingSeeded: "seed:",
    GameRecorded: "game:", SchemeAdopted: "scheme:", RatingRunClosed: "run:", TournamentClosed: "tournament:",
    ClockAccepted: "clock:", GameSupplemented: "supplement:", TournamentOpened: "opening:", PlayerRenamed: "renamed:",
    CorrectionProposed: "proposal:", CorrectionDecided: "decision:", PolicySet: "policy:", ListPublished: "list:",
    PersonErased: "erased:", TokenIssued: "token:", TokenRevoked: "token:", RoundWithoutGame: "round:",
    StrengthChosen: "strength:", PlayerEntered: "entrant:", TournamentDescribed: "described:",
    PlayerDescribed: "details:", ReportSent: "sent:", WarningsAccepted: "accepted:",
    FederationSet: "federation:",
}  # fmt: skip
# Kinds that are no longer written, with the class that they are read as and the fields that they did not have.
OLD_KINDS: Mapping[str, tuple[type[Event], frozenset[str]]] = {
    "scheme-adopted/1": (SchemeAdopted, frozenset({"scheme_version", "arithmetic"})),
    "correction-proposed/1": (CorrectionProposed, frozenset({"by_token"})),
    "correction-decided/1": (CorrectionDecided, frozenset({"by_token"})),
}
