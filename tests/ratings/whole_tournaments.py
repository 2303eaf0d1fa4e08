"""Clubs that rate tournaments whole by the FIDE scheme: the players, the games, and where these stand then."""

from collections.abc import Sequence
from datetime import UTC, datetime

from ledger.facts.events import Event, GameRecorded, PlayerRegistered, SchemeAdopted
from ledger.facts.words import Outcome, Standing, Termination
from ledger.ledger import Ledger
from ledger.players.persons import Person

NOW = datetime(2026, 1, 1, tzinfo=UTC)
ANN, BOB, CARL, DAN, EVE = range(1, 6)
WHOLE = {"by_event": True, "included_until": 2}


def club(*declared: int | None, **settings: int | str) -> list[Event]:
    """A pool that rates tournaments whole, and players with these declared ratings."""
    return [
        SchemeAdopted(pool="club", scheme="fide", settings={**WHOLE, **settings}),
        *(
            PlayerRegistered(
                player=number,
                joined_at="2024",
                standing=Standing.FULL,
                commitment=f"{number:064x}",
                declared_rating=rating,
            )
            for number, rating in enumerate(declared, 1)
        ),
    ]


EVERYBODY = club(2000, 2000, 2000, 2000, 2000)


def played(day: str, white: int, result: str, black: int, tournament: str | None) -> GameRecorded:
    return GameRecorded(
        game=f"{day}-{white}-{black}",
        pool="club",
        white=white,
        black=black,
        outcome={"1": Outcome.WHITE, "=": Outcome.DRAW, "0": Outcome.BLACK}[result],
        termination=Termination.UNKNOWN,
        ended_at=day,
        tournament=tournament,
        rated=True,
    )


def told(ledger: Ledger, *events: Event | Sequence[Event]) -> Ledger:
    for event in events:
        ledger.append_many(event if isinstance(event, Sequence) else [event])
        ledger.ensure_up_to_date()
    return ledger


def ratings(ledger: Ledger) -> dict[int, float]:
    return {row["player"]: row["rating"] for row in ledger.rows("current", "1 ORDER BY player")}


def places(ledger: Ledger, tournament: str) -> set[tuple[int, int | None]]:
    """Where the tournament's games stand in rating order, and when it began."""
    rows = ledger.rows("games", "tournament = ?", (tournament,))
    return {(row["rated_ms"], row["began_ms"]) for row in rows}


def lists(ledger: Ledger, player: int) -> list[tuple[str, float]]:
    """The player's rating after each period in which games were rated, with the last day of the period."""
    query = (
        "SELECT DISTINCT date(rated_ms / 1000, 'unixepoch') AS day, rating FROM history "
        "JOIN games ON games.position = history.game WHERE player = ? ORDER BY rated_ms"
    )
    return [(row["day"], row["rating"]) for row in ledger.database().query(query, (player,))]


def nobody(player: int) -> Person:
    """A player whose name nobody knows."""
    return Person(player, None, None, None, "2024")
