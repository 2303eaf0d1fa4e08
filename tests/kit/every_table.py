"""A ledger that has a row in every table: what an audit must look at."""

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from ledger.facts.events import (
    Event,
    FederationSet,
    PlayerChanged,
    PlayerEntered,
    RatingRunClosed,
    RatingSeeded,
    RoundWithoutGame,
    SchemeAdopted,
    StrengthChosen,
    TournamentClosed,
    TournamentDescribed,
    TournamentOpened,
)
from ledger.facts.player_details import PlayerDetails
from ledger.facts.words import Brings, Standing, Strength
from ledger.ledger import Ledger
from ledger.runtime import sqlite
from tests.kit.clubs import takes_misfits
from tests.kit.corrections import approve
from tests.kit.people import propose
from tests.kit.places import SAMPLE
from tools import cli

FACTS: Sequence[Event] = (
    PlayerChanged(player=4, effective_at="2005-02-01", standing=Standing.GUEST, declared_rating=1500),
    RatingSeeded(
        pool="standard",
        player=3,
        rating="1610",
        games=40,
        deviation="60",
        volatility="0.06",
        highest="1700",
        k_factor="20",
        source="club list",
        effective_at="2004-01",
    ),
    FederationSet(player=5, effective_at="2004-06", federation="SWE"),
    StrengthChosen(pool="standard", player=3, effective_at="2004-01", strength=Strength.INTERMEDIATE),
    RatingRunClosed(pool="standard", as_of="2004-12"),
    TournamentClosed(pool="standard", tournament="Club championship", ended_at="2004-12-31"),
    TournamentOpened(pool="standard", tournament="Cup", starts_at="2004-12-01", ends_at="2004-12-09"),
    RoundWithoutGame(pool="standard", tournament="Cup", edition="2004-12-01", round=2, player=3, brings=Brings.HALF),
    SchemeAdopted(pool="standard", scheme="elo", settings={}, effective_from="2005-03"),
    TournamentOpened(pool="standard", tournament="Cup", starts_at="2005-05-01", ends_at="2005-05-09"),
    PlayerEntered(
        pool="standard",
        tournament="Cup",
        edition="2004-12-01",
        player=3,
        number=1,
        start_number=7,
        rating=1610,
    ),
    TournamentDescribed(pool="standard", tournament="Cup", edition="2004-12-01", number=1, city="Springfield"),
)


def make_club_with_every_table(folder: Path, games: int) -> Path:
    """A ledger of the first *games* of the sample: movetext, two schemes, a node, reasons.

    A player is erased, another one renamed, and a reason erased.
    """
    path = folder / "club.db"
    texts = SAMPLE.read_text("utf-8").split("[Event ")[1 : games + 1]
    (folder / "club.pgn").write_text("".join(f"[Event {game}" for game in texts), "utf-8")
    assert cli.main(["init", str(path)]) == 0
    assert cli.main(["import", str(path), str(folder / "club.pgn")]) == 0
    with takes_misfits(Ledger.open(path)) as ledger:
        ledger.append_many(FACTS)
        details = PlayerDetails(sex="w", title="WFM", federation="NOR", birth="1990-02-03", club="Ek SK")
        ledger.registry.describe(3, details, since="2004-12-01", actor="registry")
        ledger.sent_reports.record(
            pool="standard",
            tournament="Cup",
            edition="2004-12-01",
            form="trf16",
            file=b"012 Cup",
            results="bye:3:2 2 3 0 half-point bye\n",
            sent_on="2005-01-01",
            actor="export",
        )
        ledger.registry.describe(5, PlayerDetails(federation="NOR"), since="2004-12-01", actor="registry")
        ledger.policies.set("upsets", {"margin": 250}, effective_from="2005", actor="admin")
        ledger.rename(6, "Renamed")
        reasons = [propose(ledger, f"reason {number}, \u65e5\u672c") for number in range(1, 5)]
        ledger.catch_up()
        drafts = ledger.corrections.drafts
        game = next(ledger.rows("games", "reason IS NULL ORDER BY position DESC LIMIT 1"))["key"]
        corrected = drafts.replace(f"game:{game}", {"outcome": "draw", "round": "7.1"})
        approve(ledger, corrected, drafts.merge(15, 16))
        ledger.people.reasons.erase(ledger.journal.writing(), reasons[0])
        ledger.erase(5)
        ledger.publications.publish("2005-06", actor="adam", despite_complaints=True)
        ledger.catch_up()
    return path


def tables(path: Path) -> list[str]:
    with closing(sqlite.sqlite3.connect(path)) as connection:
        query = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name"
        return [name for (name,) in connection.execute(query)]


def columns(path: Path, table: str) -> list[tuple[str, str, bool]]:
    """Name, type and whether it is part of the key, of each column."""
    with closing(sqlite.sqlite3.connect(path)) as connection:
        return [(row[1], row[2], bool(row[5])) for row in connection.execute(f"PRAGMA table_info({table})")]


def rows(path: Path, table: str) -> int:
    with closing(sqlite.sqlite3.connect(path)) as connection:
        return int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])
