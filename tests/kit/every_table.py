"""A ledger that has a row in every table: what an audit must look at."""

from __future__ import annotations

from pathlib import Path

from ledger.facts.changes import Which
from ledger.facts.correction_events import Decision
from ledger.facts.events import (
    PlayerChanged,
    RatingRunClosed,
    RatingSeeded,
    SchemeAdopted,
    TournamentClosed,
    TournamentOpened,
)
from ledger.facts.words import Standing
from ledger.ledger import Ledger
from tests.kit.clubs import takes_late_pasts
from tests.kit.places import SAMPLE
from tools import cli


def make_club_with_every_table(folder: Path, games: int) -> Path:
    """A ledger of the first *games* of the sample: movetext, two schemes, a node, reasons.

    A player is erased, another one renamed, and a reason erased.
    """
    path = folder / "club.db"
    texts = SAMPLE.read_text("utf-8").split("[Event ")[1 : games + 1]
    (folder / "club.pgn").write_text("".join(f"[Event {game}" for game in texts), "utf-8")
    assert cli.main(["init", str(path)]) == 0
    assert cli.main(["import", str(path), str(folder / "club.pgn")]) == 0
    with takes_late_pasts(Ledger.open(path)) as ledger:
        ledger.append_many(
            [
                PlayerChanged(player=4, effective_at="2005-02-01", standing=Standing.GUEST, declared_rating=1500),
                RatingSeeded(
                    pool="standard", player=3, rating="1610", games=40, deviation="60", volatility="0.06",
                    highest="1700", k_factor="20", source="club list", effective_at="2004-01",
                ),
                RatingRunClosed(pool="standard", as_of="2004-12"),
                TournamentClosed(pool="standard", tournament="Club championship", ended_at="2004-12-31"),
                TournamentOpened(pool="standard", tournament="Cup", starts_at="2004-12-01", ends_at="2004-12-09"),
                SchemeAdopted(pool="standard", scheme="elo", settings={}, effective_from="2005-03"),
                TournamentOpened(pool="standard", tournament="Cup", starts_at="2005-05-01", ends_at="2005-05-09"),
            ]
        )
        ledger.policies.set("upsets", {"margin": 250}, effective_from="2005", actor="admin")
        ledger.rename(6, "Renamed")
        _correct(ledger)
        ledger.erase(5)
        ledger.catch_up()
    return path


def _correct(ledger: Ledger) -> None:
    """A corrected game, merged players, a rejected and an open proposal; the reason of the first is erased."""
    drafts = ledger.corrections.drafts
    won, draw = ("white", "draw")
    key = next(row["key"] for row in ledger.rows("games", "reason IS NULL AND outcome = ? LIMIT 1", [won]))
    for number, change in enumerate(
        (
            drafts.replace(drafts.game(key), {"outcome": draw}), drafts.merge(16, 15),
            drafts.annul_games(1, Which.LOSSES), drafts.annul_games(2, Which.ALL),
        ), 1,
    ):  # fmt: skip
        ledger.propose([change], reason=f"reason {number}, \u65e5\u672c", by="eve")
    for number, decision in enumerate((Decision.APPROVED, Decision.APPROVED, Decision.REJECTED), 1):
        ledger.decide(number, decision, by="adam", reason=f"decided {number}")
    first = next(ledger.entries("correction-proposed"))["facts"]["reason"]
    ledger.people.reasons.erase(ledger.journal.writing(), [first])
