"""The verbs of corrections: parsing a command's arguments, or a row of a CSV file, into one change.

``VERBS`` has each verb with its words, which are its arguments. Names are looked up, values are read by the schema of
their field; ``drafts`` makes the change.

In a file each row is a verb with its words; all faults are reported at once, each with its line. It is CSV with a
header, its cells separated by commas, semicolons or tabs; a column has the name of its word, and ``verb`` is the verb.
Blank rows are skipped.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from hashlib import sha256
from typing import Any, NamedTuple, TypeVar

import attrs

from ledger.correcting.drafts import Drafts
from ledger.duplicates.game_keys import DerivedKeys
from ledger.duplicates.repeats import Difference
from ledger.errors import LedgerError, MalformedError, Refusal, UnknownNameError
from ledger.facts.changes import BLANK, AnnulmentScope, Change
from ledger.facts.events import (
    BirthYearLearnt,
    ConversionRange,
    Event,
    FederationSet,
    GameRecorded,
    PlayerChanged,
    RatingRunClosed,
    RoundWithoutGame,
    SchemeAdopted,
    StrengthChosen,
    TournamentClosed,
    TournamentOpened,
)
from ledger.facts.instants import instant_ms
from ledger.facts.prior_ratings import PriorRating
from ledger.facts.source_games import FileFault, excerpt
from ledger.facts.words import Brings, Carry, Format, Outcome, Standing, Strength, Termination
from ledger.imports.csv.values import parse_result
from ledger.runtime.nearest import expected_names
from ledger.runtime.visible import in_cell

Words = Mapping[str, str]
Read = TypeVar("Read")
Choice = TypeVar("Choice", bound=StrEnum)


class VerbWords(NamedTuple):
    """The description of a verb: its help text and its words, which are its arguments.

    Attributes:
        help: what it does, in a sentence or two.
        needed: required words, in the order in which a command takes them.
        options: further required words, which a command takes by name.
        allowed: optional words.
        example: an example of a command, after ``rating-ledger correct club.db``.
    """

    help: str
    needed: tuple[str, ...]
    options: tuple[str, ...]
    allowed: tuple[str, ...]
    example: str


_DIGITS = 15  # of a number: always below 2^53, the limit of whole numbers in entries (RFC 8259, section 6)
VERBS: Mapping[str, VerbWords] = {
    "result": VerbWords(
        "Another result of a game, and how it ended where that is another way, too. Where the old ending does not go "
        "with the new result and none is given, the proposal makes it unknown, and shows so.", ("game",), ("to",),
        ("termination", "half_moves"), "result lichess:Mxzwh32Z --to 1/2-1/2 --termination agreement",
    ),
    "game": VerbWords(
        "Another value of any other field of a game: termination, half_moves, started_at, ended_at, tournament, round, "
        "sequence, rated, pool, white_rating, black_rating. An empty value blanks it.",
        ("game",), ("field", "to"), (), "game lichess:Mxzwh32Z --field ended_at --to 2024-02-03",
    ),
    "void": VerbWords(
        "A game does not count; it stays in the book, with the reason.", ("game",), (), (), "void lichess:Mxzwh32Z"
    ),
    "reinstate": VerbWords("A voided game counts again.", ("game",), (), (), "reinstate lichess:Mxzwh32Z"),
    "reassign": VerbWords(
        "One side of a game was played by somebody else.", ("game", "player"), ("to",), (),
        "reassign lichess:Mxzwh32Z ann --to anna",
    ),
    "swap-colours": VerbWords(
        "White and Black were exchanged: the players change sides, and who won has won, unless another "
        "result is given.", ("game",), (), ("to",), "swap-colours lichess:Mxzwh32Z",
    ),
    "late": VerbWords(
        "A game that was forgotten; the approval records it.", ("white", "black"), ("to", "ended"),
        ("pool", "half_moves", "termination", "started", "tournament", "round", "key"),
        "late ann bob --to 1-0 --ended 2024-02-03 --half-moves 61",
    ),
    "bye": VerbWords(
        "A round without a game that was forgotten; the approval records it. It brings half, full, allotted, zero, or "
        "absent.", ("tournament", "player"), ("brings", "edition"), ("round", "pool", "half_points"),
        "bye 'Autumn open' ann --brings half --round 5 --edition 2025-08-27",
    ),
    "annul": VerbWords(
        "The rated games of a player between two days do not count: all of them, or those that the opponents lost. "
        "Games of that time that come later are meant, too.",
        ("player",), ("which",), ("from", "until"), "annul cheat --which losses --from 2024-01-01 --until 2024-03-31",
    ),
    "close": VerbWords(
        "An account is off the lists from a day on; the games stand. 'undo' opens it again as if it had never been "
        "closed, another standing from a day on.", ("player",), ("from",), (),
        "close cheat --from 2024-04-01",
    ),
    "standing": VerbWords(
        "Another standing of a player with the site, from a day on.", ("player",), ("to", "from"), (),
        "standing ann --to guest --from 2024-04-01",
    ),
    "rating": VerbWords(
        "The rating of a list with which a player begins, with what that list tells: it holds from a day, or from the "
        "beginning.",
        ("player",), ("to",), ("from", "pool", "games", "deviation", "volatility", "highest", "k", "list"),
        "rating bob --to 1850 --games 120 --list 'national list, May 2004'",
    ),
    "declared": VerbWords(
        "A rating that a player declares, from a day on.", ("player",), ("to", "from"), (),
        "declared ann --to 1700 --from 2024-01-01",
    ),
    "strength": VerbWords(
        "The strength that a player chose, from a day on, during the provisional games: later the rating decides.",
        ("player",), ("to", "from"), ("pool",), "strength ann --to intermediate --from 2024-01-01",
    ),
    "federation": VerbWords(
        "Another federation of a player, from a day on: in a pool of another one the player is a guest.",
        ("player",), ("to", "from"), (), "federation ann --to NOR --from 2024-01-01",
    ),
    "born": VerbWords(
        "A year of birth that nobody has told yet.", ("player",), ("to",), (), "born ann --to 2010"
    ),
    "merge": VerbWords(
        "A player is the same person as another one, whose number stays. Numbers never change: wherever the first one "
        "comes, the other is meant. Games between the two do not count; the rating of a list, the standing and the "
        "year of birth of the player who stays hold.", ("player",), ("into",), (),
        "merge 'name:ann lee' --into fide:1503014",
    ),
    "unmerge": VerbWords(
        "A merged player is another person again.", ("player",), (), (), "unmerge 'name:ann lee'"
    ),
    "void-tournament": VerbWords(
        "No game of a tournament counts, or none that ended between two days.", ("tournament",), (),
        ("pool", "from", "until"), "void-tournament 'Autumn open' --from 2025-08-27 --until 2025-09-06",
    ),
    "reinstate-tournament": VerbWords(
        "The games of a voided tournament count again.", ("tournament",), (), ("pool", "from", "until"),
        "reinstate-tournament 'Autumn open'",
    ),
    "void-import": VerbWords(
        "What a file brought does not count: its games, byes, announcements and statements about entrants, tournaments "
        "and players. Its new players leave lists and searches unless something else is recorded of them. The "
        "corrected file can be imported afterwards.", ("import",), (), (),
        "void-import 12",
    ),
    "adopt": VerbWords(
        "A pool is rated by another scheme from a date on; players keep their ratings, begin anew (carry restart), or "
        "get those of a linear map (carry convert).",
        ("scheme",), ("from",), ("pool", "settings", "carry", "map"), "adopt chessworld --from 2006-01-01",
    ),
    "close-run": VerbWords(
        "A rating run is closed as of a day.", (), ("ended",), ("pool",),
        "close-run --ended 2024-02-29",
    ),
    "open-tournament": VerbWords(
        "A tournament is announced, with its first and its last day.",
        ("tournament",), ("started", "ended"), ("pool", "format", "entrants", "rounds"),
        "open-tournament 'Autumn open' --started 2025-08-27 --ended 2025-09-06",
    ),
    "close-tournament": VerbWords(
        "A tournament is over, as of a day.",
        ("tournament",), ("ended",), ("pool",),
        "close-tournament 'Autumn open' --ended 2025-09-06",
    ),
    "fact": VerbWords(
        "Another value of a field of any fact, by its key as 'log' shows it: a declared rating or standing (player:7, "
        "player:7@2024-02-01), a year of birth (born:7), the rating of a list (seed:...), a scheme "
        "(scheme:standard@2006-01-01), a run, a tournament's end, a policy. An empty value blanks it.",
        ("fact",), ("field", "to"), (), "fact scheme:standard@2006-01-01 --field effective_from --to 2006-01-15",
    ),
    "take-back": VerbWords(
        "A fact does not hold, by its key: a scheme from a date, a run, a closed tournament, a standing, a rating of "
        "a list.", ("fact",), (), (), "take-back run:standard@2024-02-29",
    ),
    "put-back": VerbWords("A fact that was taken back holds again.", ("fact",), (), (), "put-back run:standard@2024"),
    "undo": VerbWords("An approved proposal acts no longer; an undo can be undone.", ("proposal",), (), (), "undo 12"),
}  # fmt: skip
WORD_HELP: Mapping[str, str] = {  # what each word says; those that a command takes by their place first
    "game": "Key of a game, the id that its server gave it, or # and its entry.",
    "player": "Name, identity or number of a player.", "white": "Who had White.", "black": "Who had Black.",
    "import": "Number of an import, as 'imports' shows it, or its entries, such as 12-80.",
    "fact": "Key of a fact, as the log shows it.", "scheme": "Name of the scheme.", "proposal": "Number of a proposal.",
    "to": "What it is to be.", "from": "First day that is meant.", "until": "Last day that is meant.",
    "into": "The player who stays.", "which": "All games, or only those that the opponents lost.",
    "field": "Name of the field.", "pool": "Pool; the ledger's first one by default.", "ended": "When it ended.",
    "started": "When it began.", "half_moves": "Moves of both sides together.", "termination": "How it ended.",
    "settings": "Settings of the scheme, as JSON.", "carry": "What players bring along.",
    "map": "For carry convert: [FROM:]FACTOR:OFFSET, several with blanks between them.",
    "format": "How it is paired.", "entrants": "How many players enter.", "rounds": "How many rounds are planned.",
    "games": "Games behind the rating.", "deviation": "Its RD.", "volatility": "Its volatility, as Glicko-2 has it.",
    "highest": "Highest rating up to then.", "k": "K-factor on that list.", "list": "Name of the list.",
    "tournament": "Name of its tournament.", "round": "Its round.", "key": "Its own key; one is made by default.",
    "brings": "What it brings.", "edition": "A day of the edition.",
    "half_points": "What an allotted bye brings, half points, where that is not 2.",
}  # fmt: skip
_CHOICES: Mapping[str, type[StrEnum]] = {
    "termination": Termination,
    "which": AnnulmentScope,
    "carry": Carry,
    "format": Format,
    "brings": Brings,
}
RESULTS = ("1-0", "1/2-1/2", "0-1", "*")
# Apart from the result. A person must decide who played, and moves are no field of a correction.
FIELDS_OF_GAME = (
    "termination", "half_moves", "started_at", "ended_at", "tournament", "round", "sequence", "rated", "pool",
    "white_rating", "black_rating",
)  # fmt: skip


def choices(verb: str, word: str) -> tuple[str, ...]:
    """Return the values that a word of a verb may have; empty if it is free."""
    if word == "to":
        if verb in {"result", "late", "swap-colours"}:
            return RESULTS
        words: Mapping[str, type[StrEnum]] = {"standing": Standing, "strength": Strength}
        return tuple(each.value for each in words[verb]) if verb in words else ()
    if (verb, word) == ("game", "field"):
        return FIELDS_OF_GAME
    return tuple(each.value for each in _CHOICES[word]) if word in _CHOICES else ()


_MIRRORED = {
    Outcome.WHITE: Outcome.BLACK,
    Outcome.BLACK: Outcome.WHITE,
    Outcome.DRAW: Outcome.DRAW,
    Outcome.NONE: Outcome.NONE,
}
WORDS = tuple(dict.fromkeys(w for verb in VERBS.values() for w in (*verb.needed, *verb.options, *verb.allowed)))


@attrs.frozen
class Verbs:
    """The verbs of one ledger, which turn words into changes."""

    drafts: Drafts

    def change(self, verb: str, words: Words) -> Change:
        """Return the change that a verb with its words means; an empty word counts as missing, but for ``to``.

        Raises:
            MalformedError: an unknown verb, a missing or superfluous word, or an impossible value.
            UnknownNameError: an unknown game, player, fact or proposal.
        """
        if verb not in VERBS:
            raise MalformedError([f"no verb {verb!r}; {expected_names(verb, VERBS)}"])
        taken = VERBS[verb]
        filled = {name: word for name, word in words.items() if word or name == "to"}
        needed = (*taken.needed, *taken.options)
        problems = [f"{verb} needs {name}" for name in needed if name not in filled]
        # A batch has a column for each word of any verb: an empty cell says nothing.
        stray = [name for name, word in filled.items() if word and name not in {*needed, *taken.allowed}]
        problems += [f"{verb} takes no {name}" for name in stray]
        if problems:
            raise MalformedError(problems)
        return _MEANINGS[verb](self.drafts, filled)


def _result(drafts: Drafts, words: Words) -> Change:
    outcome, termination, half_moves = _ending(words)
    fields: dict[str, Any] = {"outcome": outcome.value}
    if termination is not None:
        fields["termination"] = termination.value
    if "half_moves" in words:
        fields["half_moves"] = half_moves
    return drafts.replace(drafts.game(words["game"]), fields)


def _swap_colours(drafts: Drafts, words: Words) -> Change:
    key = drafts.game(words["game"])
    facts = drafts.fact(key).facts
    outcome, termination = _MIRRORED[Outcome(facts["outcome"])], None
    if words.get("to"):
        outcome, termination = _outcome_and_ending(_result_word(words["to"]), words["to"], None)
    exchanged = {"white": "black", "black": "white", "white_rating": "black_rating", "black_rating": "white_rating"}
    # a proposal holds what it changes: two equal ratings are no change
    fields = {name: facts.get(other) for name, other in exchanged.items() if facts.get(name) != facts.get(other)}
    if outcome != facts["outcome"]:
        fields["outcome"] = outcome.value
    if termination is not None:
        fields["termination"] = termination.value
    return drafts.replace(key, fields)


def _late(drafts: Drafts, words: Words) -> Change:
    outcome, termination, half_moves = _ending(words)
    pool, round_ = _pool(drafts, words), words.get("round")
    white, black = _number(drafts, words["white"]), _number(drafts, words["black"])
    facts = [outcome.value, words["ended"], words.get("tournament"), round_]
    return drafts.add(
        GameRecorded(
            game=words.get("key") or _late_key(drafts, pool, (white, black), facts),
            pool=pool,
            white=white,
            black=black,
            outcome=outcome,
            termination=termination or Termination.UNKNOWN,
            half_moves=half_moves,
            started_at=words.get("started"),
            ended_at=words["ended"],
            tournament=words.get("tournament"),
            round=round_,
            rated=True,
        )
    )


def _late_key(drafts: Drafts, pool: str, players: tuple[int, int], facts: Sequence[str | None]) -> str:
    """Make a key for a late game without one, from the players' identities: the same in every ledger."""
    ledger = drafts.ledger
    # Earlier releases made it of their numbers, which differ between ledgers; such a game keeps its key.
    old = f"late:{_hash([pool, *players, *facts])[:16]}"
    if ledger.journal.find([f"game:{old}"]):
        return old
    persons = ledger.people.by_number(players)
    # An erased player has no identity left: the number takes its place.
    identities = [persons[player].identity or player if player in persons else player for player in players]
    # Names could be tried against a plain hash of the two players: the key is made under the ledger's secret.
    plain = f"late:{_hash([pool, *identities, *facts])[:24]}"
    return DerivedKeys(ledger.journal, ledger.names.file.secret).keys([plain], ledger.journal.find)[0]


def _bye(drafts: Drafts, words: Words) -> Change:
    return drafts.add(
        RoundWithoutGame(
            pool=_pool(drafts, words),
            tournament=words["tournament"],
            edition=words["edition"],
            round=_whole(words, "round"),
            player=_number(drafts, words["player"]),
            brings=_choice(Brings, "brings", words["brings"]),
            half_points=_whole(words, "half_points"),
        )
    )


def _annul(drafts: Drafts, words: Words) -> Change:
    which = _choice(AnnulmentScope, "which", words["which"])
    return drafts.annul_games(_number(drafts, words["player"]), which, words.get("from"), words.get("until"))


def _standing(drafts: Drafts, words: Words) -> Change:
    standing = _choice(Standing, "to", words["to"])
    player = _number(drafts, words["player"])
    return drafts.add(PlayerChanged(player=player, effective_at=words["from"], standing=standing))


def _federation(drafts: Drafts, words: Words) -> Change:
    code = words["to"].upper() if words["to"].isalpha() else words["to"]  # other words are refused as they are
    player = _number(drafts, words["player"])
    return drafts.add(FederationSet(player=player, effective_at=words["from"], federation=code))


def _rating(drafts: Drafts, words: Words) -> Change:
    past = PriorRating(
        rating=words["to"],
        games=_whole(words, "games"),
        deviation=words.get("deviation"),
        volatility=words.get("volatility"),
        highest=words.get("highest"),
        k_factor=words.get("k"),
        source=words.get("list"),
        since=words.get("from"),
    )
    return drafts.add(past.seed(_number(drafts, words["player"]), _pool(drafts, words)))


def _void_tournament(drafts: Drafts, words: Words, *, restore: bool = False) -> Change:
    return drafts.tournament(
        _pool(drafts, words), words["tournament"], restore=restore, since=words.get("from"), until=words.get("until")
    )


def _adopt(drafts: Drafts, words: Words) -> Change:
    carry = _choice(Carry, "carry", words["carry"]) if "carry" in words else None
    settings = _value(SchemeAdopted, "settings", words.get("settings") or "{}")
    return drafts.add(
        SchemeAdopted(
            pool=_pool(drafts, words),
            scheme=words["scheme"],
            settings=settings,
            effective_from=words["from"],
            carry=carry,
            conversion=conversion_in(words.get("map", "").split()),
        )
    )


def _open_tournament(drafts: Drafts, words: Words) -> Change:
    tournament_format = _choice(Format, "format", words["format"]) if "format" in words else None
    return drafts.add(
        TournamentOpened(
            pool=_pool(drafts, words),
            tournament=words["tournament"],
            starts_at=words["started"],
            ends_at=words["ended"],
            format=tournament_format,
            entrants=_whole(words, "entrants"),
            rounds=_whole(words, "rounds"),
        )
    )


def _field(drafts: Drafts, key: str, words: Words) -> Change:
    cls = drafts.fact(key).cls
    return drafts.replace(key, {words["field"]: _value(cls, words["field"], words["to"])})


def _pool(drafts: Drafts, words: Words) -> str:
    return words.get("pool") or drafts.ledger.first_pool()


def _number(drafts: Drafts, player: str) -> int:
    return drafts.ledger.player_as_told(player).player


_MEANINGS: Mapping[str, Callable[[Drafts, Words], Change]] = {
    "result": _result,
    "game": lambda drafts, words: _field(drafts, drafts.game(words["game"]), words),
    "void": lambda drafts, words: drafts.annul(drafts.game(words["game"])),
    "reinstate": lambda drafts, words: drafts.restore(drafts.game(words["game"])),
    "reassign": lambda drafts, words: drafts.reassign(
        drafts.game(words["game"]), _number(drafts, words["player"]), _number(drafts, words["to"])
    ),
    "swap-colours": _swap_colours,
    "late": _late,
    "bye": _bye,
    "annul": _annul,
    "close": lambda drafts, words: drafts.close_account(_number(drafts, words["player"]), words["from"]),
    "standing": _standing,
    "rating": _rating,
    "declared": lambda drafts, words: drafts.declare(
        _number(drafts, words["player"]), _whole(words, "to") or 0, words["from"]
    ),
    "strength": lambda drafts, words: drafts.add(
        StrengthChosen(
            player=_number(drafts, words["player"]),
            pool=_pool(drafts, words),
            effective_at=words["from"],
            strength=_choice(Strength, "to", words["to"]),
        )
    ),
    "federation": _federation,
    "born": lambda drafts, words: drafts.add(
        BirthYearLearnt(player=_number(drafts, words["player"]), birth_year=_whole(words, "to") or 0)
    ),
    "merge": lambda drafts, words: drafts.merge(_number(drafts, words["player"]), _number(drafts, words["into"])),
    "unmerge": lambda drafts, words: drafts.unmerge(_number(drafts, words["player"])),
    "void-import": lambda drafts, words: drafts.take_back(words["import"]),
    "void-tournament": _void_tournament,
    "reinstate-tournament": lambda drafts, words: _void_tournament(drafts, words, restore=True),
    "adopt": _adopt,
    "close-run": lambda drafts, words: drafts.add(RatingRunClosed(pool=_pool(drafts, words), as_of=words["ended"])),
    "open-tournament": _open_tournament,
    "close-tournament": lambda drafts, words: drafts.add(
        TournamentClosed(pool=_pool(drafts, words), tournament=words["tournament"], ended_at=words["ended"])
    ),
    "fact": lambda drafts, words: _field(drafts, words["fact"], words),
    "take-back": lambda drafts, words: drafts.annul(words["fact"]),
    "put-back": lambda drafts, words: drafts.restore(words["fact"]),
    "undo": lambda drafts, words: drafts.undo(_whole(words, "proposal") or 0),
}  # by verb, the function that reads its words


def conversion_in(maps: Sequence[str]) -> tuple[ConversionRange, ...] | None:
    """Parse the linear maps of a scheme's adoption, such as ``0.6:800`` and ``2000:1:0``; None without any.

    Raises:
        MalformedError: a text is no map ``[FROM:]FACTOR:OFFSET``.
    """
    ranges = []
    for word in maps:
        parts = word.split(":")
        if len(parts) not in {2, 3}:
            raise MalformedError([f"a map is written [FROM:]FACTOR:OFFSET, got {word!r}"])
        begin = parts[0] if len(parts) == 3 else None
        ranges.append(ConversionRange(from_rating=begin, factor=parts[-2], offset=parts[-1]))
    return tuple(ranges) or None


def _hash(facts: Sequence[str | int | None]) -> str:
    # JSON keeps the parts apart, and 1 from "1"
    return sha256(json.dumps(facts).encode()).hexdigest()


def _ending(words: Words) -> tuple[Outcome, Termination | None, int | None]:
    """Return result, ending if one is given, and half-moves; all faults at once, that of the last day included."""
    problems: list[str] = []

    def read(meaning: Callable[[], Read], begin: str = "") -> Read | None:
        try:
            return meaning()
        except MalformedError as error:
            problems.extend(f"{begin}{problem}" for problem in error.problems)
            return None

    result_word = read(lambda: _result_word(words["to"]))
    termination = read(
        lambda: _choice(Termination, "termination", words["termination"]) if "termination" in words else None
    )
    half_moves = read(lambda: _whole(words, "half_moves"))
    read(lambda: instant_ms(words["ended"]) if "ended" in words else 0, "ended_at: ")
    if result_word is None:
        raise MalformedError(problems)
    outcome = read(lambda: _outcome_and_ending(result_word, words["to"], termination))
    if outcome is None or problems:
        raise MalformedError(problems)
    return *outcome, half_moves


def _result_word(text: str) -> str:
    """Parse a result as tables have it: ``white``, ``+white`` for a forfeit, ..., ``*`` or ``-``."""
    try:
        return str(parse_result(text))
    except ValueError as error:
        raise MalformedError([f"result {text!r} {error}"]) from None


def _outcome_and_ending(word: str, text: str, termination: Termination | None) -> tuple[Outcome, Termination | None]:
    """Return the outcome of a result, and how the game ended if *termination* or the result says so."""
    if word in {"*", "-"}:
        return Outcome.NONE, termination
    outcome = Outcome(word.removeprefix("+"))
    if not word.startswith("+"):
        return outcome, termination
    # A plus marks a forfeit, which is never rated (RULES 1.8): without an ending the game was not played.
    if termination not in {None, Termination.UNKNOWN, Termination.UNPLAYED}:
        what = f"a forfeit, {text!r}, was never played"
        raise MalformedError([f"termination {termination}: {what}; correct one of the two"])
    return outcome, Termination.UNPLAYED


def _choice(enumeration: type[Choice], name: str, text: str) -> Choice:
    if text not in set(enumeration):
        raise MalformedError([f"{name} must be one of {[member.value for member in enumeration]}, got {text!r}"])
    return enumeration(text)


def _whole(words: Words, name: str) -> int | None:
    text = words.get(name)
    if text is None:
        return None
    # ``int`` alone would also take signs, blanks and underscores, and stops at some thousands of digits.
    if not text.isdecimal() or len(text) > _DIGITS:
        raise MalformedError([f"{name} must be a whole number, got {text[:40]!r}"])
    return int(text)


def _value(cls: type[Event], field: str, text: str) -> Any:
    """Return the value of a field that a text means; the empty text is a blank."""
    fields = attrs.fields_dict(cls)
    if field not in fields:
        raise UnknownNameError("field", field, expected_names(field, fields), where=f"in a {cls.KIND}")
    kind = fields[field].metadata["schema"].get("type", "string")
    if text == BLANK or kind == "string":
        return text
    if kind == "boolean":
        if text not in {"true", "false"}:
            raise MalformedError([f"{field} is true or false, got {text!r}"])
        return text == "true"
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:  # brackets within brackets, thousands deep
        what = "a whole number" if kind == "integer" else f"JSON ({error})"
        raise MalformedError([f"{field} must be {what}, got {text!r}"]) from None


# --- files of corrections -----------------------------------------------------------------------------------


COLUMNS = ("verb", *WORDS)
_PROPOSED = ("verb", "game", "field", "to", "termination", "half_moves")
_RESULTS = {"white": "1-0", "black": "0-1", "draw": "1/2-1/2", "none": "-/-"}
MOST_ROWS = 100_000


class Row(NamedTuple):
    """A row of a batch: its line in the file, and its change."""

    line: int
    change: Change


def read_batch(verbs: Verbs, content: bytes) -> tuple[list[Row], list[FileFault]]:
    """Read a file of corrections, UTF-8; return its rows and its faults."""
    try:
        # Spreadsheets put a mark before the text, which must not become part of the first column's name.
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return [], [FileFault(content[: error.start].count(b"\n") + 1, "is not UTF-8: save the file as UTF-8")]
    # a spreadsheet of many countries writes semicolons between the cells, or tabs
    separator = max(",;\t", key=text.partition("\n")[0].count)
    # The reader must see line ends as they are, for a cell in quotation marks may hold some.
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    rows: list[Row] = []
    faults: list[FileFault] = []
    try:
        header = [column.strip() for column in next(reader, [])]
        if "verb" in header:
            problems = [
                f"no column {name!r}; {expected_names(name, COLUMNS)}" for name in header if name not in COLUMNS
            ]
            twice = sorted({name for name in header if header.count(name) > 1})
            problems += [f"column {name!r} stands twice" for name in twice]
        else:  # likely no file of corrections at all: a list of its columns would not help
            problems = [f"the header has no column 'verb'; the columns are {list(COLUMNS)}"]
        faults = [FileFault(1, problem) for problem in problems]
        filled = (cells for cells in reader if any(cell.strip() for cell in cells))
        for number, cells in enumerate(filled if not faults else (), 1):
            if number > MOST_ROWS:  # with faults or without: to check millions takes hours
                raise MalformedError([f"line {reader.line_num}: more than {MOST_ROWS:,} rows: part the file"])
            _read(verbs, reader.line_num, header, cells, rows, faults)
    except csv.Error as error:
        faults.append(FileFault(reader.line_num, f"cannot be read as CSV: {error}"))
    if not rows and not faults:
        faults.append(FileFault(1, "holds no row: nothing is to be corrected"))
    return rows, faults


def _read(
    verbs: Verbs, line: int, header: Sequence[str], cells: Sequence[str], rows: list[Row], faults: list[FileFault]
) -> None:
    if len(cells) != len(header):
        faults.append(FileFault(line, f"has {len(cells)} cells, the header {len(header)}"))
        return
    words = dict(zip(header, (cell.strip() for cell in cells), strict=True))
    verb = words.pop("verb")
    try:
        rows.append(Row(line, verbs.change(verb, words)))
    except LedgerError as error:
        faults += [FileFault(line, f"{excerpt(verb)}: {problem}") for problem in str(error).splitlines()]


def proposing(differences: Iterable[Difference]) -> tuple[str, list[Difference]]:
    """Return a batch that would correct games to the differing values of an import, and the differences left over.

    Those are left over about which a person must first find out who played, or which moves were made; and those with a
    value that begins as a formula of a spreadsheet does, in which people are likely to open a batch.
    """
    text, left = io.StringIO(), list[Difference]()
    writer = csv.DictWriter(text, _PROPOSED, restval="", lineterminator="\n")
    writer.writeheader()
    for difference in differences:
        fields = dict(difference.fields)
        values = [value for value in fields.values() if isinstance(value, str)]
        if not fields.keys() <= {"outcome", *FIELDS_OF_GAME} or any(in_cell(value, "csv") != value for value in values):
            left.append(difference)
            continue
        # the verb of a result takes the ending with it, for the two must fit
        if "outcome" in fields:
            ending = {"verb": "result", "game": difference.game, "to": _RESULTS[fields.pop("outcome")]}
            ending |= {name: str(fields.pop(name)) for name in ("termination", "half_moves") if name in fields}
            writer.writerow(ending)
        for field, value in fields.items():
            # The verb reads ``true`` and ``false`` as JSON writes them, not as Python does.
            to = str(value).lower() if isinstance(value, bool) else str(value)
            writer.writerow({"verb": "game", "game": difference.game, "field": field, "to": to})
    return text.getvalue(), left


def at_lines(rows: Sequence[Row], refusals: Sequence[Refusal]) -> list[FileFault]:
    """Return the refusals of proposed changes as faults with the lines of the file."""
    return [
        # what is said of the whole proposal, number 0, has no line of its own
        FileFault(rows[refusal.number - 1].line if refusal.number else 1, f"{refusal.rule}: {refusal.message}")
        for refusal in refusals
    ]
