"""What the tables of the game book say, table by table and column by column, each with its unit.

The one source of what is told of them: ``schemas/README.md``, ``rating-ledger tables``, Datasette and the exports take
it from here. The tables themselves are in ``book.tables``; those that follow from ratings are told in
``ratings.read_models``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

MS = "ms since 1970 UTC"
INSTANT = "ISO 8601, UTC"
POINTS = "points"
NUMBER = "player number"
POSITION = "position in the journal"
JSON = "JSON"
YES_NO = "0 or 1"


class ColumnDoc(NamedTuple):
    """What a column says: its meaning, its unit or form, and the column of another table whose values it has."""

    doc: str
    unit: str = ""
    references: str = ""


class TableDoc(NamedTuple):
    """What a table holds: a sentence, its columns, and the column by which a row is called."""

    doc: str
    columns: Mapping[str, ColumnDoc]
    label: str = ""


POOL = ColumnDoc("the pool", "pool number", "pools.pool")
PLAYER = ColumnDoc("the player", NUMBER, "players.player")
ENTRY = ColumnDoc("the entry that says so", POSITION)
PROPOSAL = ColumnDoc("the proposal", "proposal number", "proposals.proposal")


def _ms(text: str) -> ColumnDoc:
    return ColumnDoc(f"the same as {text}: its first moment", MS)


def _last_ms(text: str) -> ColumnDoc:
    return ColumnDoc(f"the same as {text}: its last moment", MS)


_GAME = {
    "position": ColumnDoc("the entry that recorded the game", POSITION),
    "key": ColumnDoc("the game's own key, such as lichess:Mxzwh32Z"),
    "pool": POOL,
    "white": ColumnDoc("who played White; of merged players the person", NUMBER, "players.player"),
    "black": ColumnDoc("who played Black; of merged players the person", NUMBER, "players.player"),
    "outcome": ColumnDoc("white, draw, black, or how a game without a result ended", "word"),
    "termination": ColumnDoc("how it ended: checkmate, resignation, time, ...", "word"),
    "half_moves": ColumnDoc("length, NULL where nobody knows", "half-moves"),
    "started_at": ColumnDoc("when it began, as exactly as it is known", INSTANT),
    "ended_at": ColumnDoc("when it ended, as exactly as it is known", INSTANT),
    "ended_ms": _ms("ended_at"),
    "rated_ms": ColumnDoc("its place in rating order: when the ratings that it leads to come into force", MS),
    "batch": ColumnDoc("the tournament or period that is rated together, empty where each game is rated by itself"),
    "tournament": ColumnDoc("name of the tournament"),
    "round": ColumnDoc("the round as it was recorded"),
    "round_order": ColumnDoc("a number that sorts rounds as people do"),
    "rated": ColumnDoc("whether a rated game was asked for", YES_NO),
    "reason": ColumnDoc("why the game does not count; NULL for a game that counts", "word"),
    "white_rating": ColumnDoc("White's rating as the source shows it", POINTS),
    "black_rating": ColumnDoc("Black's rating as the source shows it", POINTS),
    "half_points": ColumnDoc("White's score: 2 win, 1 draw, 0 loss; NULL without a result", "half-points"),
    "time_loss": ColumnDoc("who lost by overstepping the time: 0 nobody, 1 White, 2 Black", "code"),
    "began_ms": ColumnDoc("when its tournament began, where tournaments are rated whole and that is another day", MS),
    "voided_by": ColumnDoc("the proposal that voided it", "proposal number", "proposals.proposal"),
}
_CORRECTIONS = {
    "proposals": TableDoc(
        "Proposals to correct what the journal says, each with its last decision.",
        {
            "proposal": ColumnDoc("number of the proposal"),
            "position": ColumnDoc("the first entry of the proposal", POSITION),
            "proposed_by": ColumnDoc("who proposed it"),
            "proposed_proven": ColumnDoc("whether a token proved that", YES_NO),
            "reason": ColumnDoc("salted digest of the reason; its words stand in the people file", "hexadecimal"),
            "parts": ColumnDoc("entries of which it consists"),
            "decision": ColumnDoc("the last decision; NULL while it is open", "word"),
            "decided_position": ColumnDoc("the entry of that decision", POSITION),
            "decided_by": ColumnDoc("who decided"),
            "decided_proven": ColumnDoc("whether a token proved that", YES_NO),
            "decision_reason": ColumnDoc("salted digest of the reason of the decision", "hexadecimal"),
            "effective": ColumnDoc("whether it acts now", YES_NO),
            "why_not": ColumnDoc("the rule that keeps an approved one from acting", "word"),
        },
    ),
    "corrections": TableDoc(
        "What each proposal changes, a row for each change.",
        {
            "proposal": PROPOSAL,
            "number": ColumnDoc("place of the change in its proposal, from 1"),
            "subject": ColumnDoc("the fact that is changed, by its key, such as game:lichess:Mxzwh32Z"),
            "change": ColumnDoc("what is changed, with the values that are replaced", JSON),
        },
    ),
    "merges": TableDoc(
        "Players who are the same person as another one, by corrections in force.",
        {
            "player": ColumnDoc("the number that is another player's", NUMBER, "players.player"),
            "into_player": ColumnDoc("the person", NUMBER, "players.player"),
            "proposal": PROPOSAL,
        },
    ),
    "given_sides": TableDoc(
        "Under which numbers the games of merged players were told.",
        {
            "position": ColumnDoc("the game", POSITION, "games.position"),
            "white": ColumnDoc("White as told", NUMBER, "players.player"),
            "black": ColumnDoc("Black as told", NUMBER, "players.player"),
        },
    ),
    "originals": TableDoc(
        "Corrected games as they were told.",
        {
            "position": ColumnDoc("the game", POSITION, "games.position"),
            "facts": ColumnDoc("its facts before all corrections", JSON),
        },
    ),
    "movetexts": TableDoc(
        "Games of which moves were told, to find those with the same moves.",
        {
            "position": ColumnDoc("the game", POSITION, "games.position"),
            "moves": ColumnDoc("the first 8 bytes of the SHA-256 of its moves, as a signed number"),
        },
    ),
}
_PLAYERS = {
    "players": TableDoc(
        "Everybody who was ever registered, by number. No name stands here.",
        {
            "player": ColumnDoc("the player", NUMBER),
            "joined_at": ColumnDoc("when the player was registered", INSTANT),
            "standing": ColumnDoc("full, guest, welcomer or closed", "word"),
            "declared_rating": ColumnDoc("the rating that the player stated on joining", POINTS),
            "birth_year": ColumnDoc("year of birth", "year"),
        },
    ),
    "changes": TableDoc(
        "Changes of standing or of a declared rating, each from an instant on.",
        {
            "player": PLAYER,
            "effective_ms": _ms("effective_at"),
            "effective_at": ColumnDoc("from when on", INSTANT),
            "standing": ColumnDoc("full, guest, welcomer or closed", "word"),
            "declared_rating": ColumnDoc("the rating that the player states", POINTS),
            "position": ENTRY,
        },
    ),
    "seeds": TableDoc(
        "Ratings with which players came into a pool, and the list that each is from.",
        {
            "pool": POOL,
            "player": PLAYER,
            "effective_ms": _ms("effective_at"),
            "effective_at": ColumnDoc("from when on", INSTANT),
            "rating": ColumnDoc("the rating of the list", POINTS),
            "games": ColumnDoc("rated games before, where the list tells", "games"),
            "deviation": ColumnDoc("rating deviation", POINTS),
            "volatility": ColumnDoc("Glicko-2's volatility"),
            "highest": ColumnDoc("highest rating so far", POINTS),
            "k_factor": ColumnDoc("K", POINTS),
            "source": ColumnDoc("name of the list"),
            "position": ENTRY,
        },
    ),
}
_POOLS = {
    "pools": TableDoc(
        "The pools: games that are rated together.",
        {
            "pool": ColumnDoc("number of the pool, from 1"),
            "name": ColumnDoc("its name"),
            "position": ColumnDoc("the entry that it began with", POSITION),
        },
        "name",
    ),
    "eras": TableDoc(
        "Which scheme rates a pool from when on.",
        {
            "pool": POOL,
            "since_ms": _ms("since"),
            "since": ColumnDoc("from when on; empty from the beginning", INSTANT),
            "scheme": ColumnDoc("name of the scheme"),
            "settings": ColumnDoc("its settings", JSON),
            "carry": ColumnDoc("what players bring along: keep, restart or convert", "word"),
            "conversion": ColumnDoc("the map by which ratings are converted", JSON),
            "position": ENTRY,
        },
    ),
    "runs": TableDoc(
        "Rating periods that were ended by hand.",
        {
            "pool": POOL,
            "as_of_ms": _last_ms("as_of"),
            "as_of": ColumnDoc("the day up to which games belong to it", INSTANT),
            "position": ENTRY,
        },
    ),
    "tournaments": TableDoc(
        "Tournaments that were closed.",
        {
            "pool": POOL,
            "tournament": ColumnDoc("name of the tournament"),
            "closed_ms": _last_ms("closed_at"),
            "closed_at": ColumnDoc("when it was over", INSTANT),
            "position": ENTRY,
        },
    ),
    "openings": TableDoc(
        "Tournaments that were announced.",
        {
            "pool": POOL,
            "tournament": ColumnDoc("name of the tournament"),
            "starts_ms": _ms("starts_at"),
            "starts_at": ColumnDoc("its first day", INSTANT),
            "ends_ms": _last_ms("ends_at"),
            "ends_at": ColumnDoc("its last day", INSTANT),
            "format": ColumnDoc("all-play-all, swiss, knockout, match or arena", "word"),
            "entrants": ColumnDoc("how many enter", "players"),
            "rounds": ColumnDoc("how many rounds"),
            "position": ENTRY,
        },
    ),
    "rounds_without_game": TableDoc(
        "Rounds in which a player has no game, and what they bring: byes and absences. None is rated.",
        {
            "pool": POOL,
            "tournament": ColumnDoc("name of the tournament"),
            "edition_ms": _ms("edition"),
            "edition": ColumnDoc("a day of the edition, as it was told", INSTANT),
            "round": ColumnDoc("number of the round; NULL where rounds have none"),
            "player": ColumnDoc("the player as told; of merged players see merges", NUMBER, "players.player"),
            "brings": ColumnDoc("half, full, allotted, zero or absent", "word"),
            "half_points": ColumnDoc("what it brings: 2 a point", "half-points"),
            "position": ENTRY,
        },
    ),
    "policies": TableDoc(
        "Rules that the ledger gives itself, each time that one was set.",
        {
            "policy": ColumnDoc("name of the policy"),
            "number": ColumnDoc("how often it was set by then, from 1"),
            "since_ms": _ms("since"),
            "since": ColumnDoc("from when on", INSTANT),
            "settings": ColumnDoc("its settings", JSON),
            "position": ENTRY,
        },
    ),
}
BOOK: Mapping[str, TableDoc] = {
    "games": TableDoc("Every game as it now stands, rated or not.", _GAME, "key"),
    **_PLAYERS,
    **_POOLS,
    **_CORRECTIONS,
}
