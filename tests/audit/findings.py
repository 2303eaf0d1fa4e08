"""What an audit finds, in short, and where things stand in the ledger of 300 games."""

from contextlib import closing
from pathlib import Path

from ledger.audit.audit import audit
from ledger.facts.words import TreeHead
from ledger.runtime import sqlite
from ledger.runtime.ledger_files import sidecar

GAMES = 300
PLAYERS = 8
TABLES = {
    "bests", "changes", "corrections", "current", "descriptions", "distribution", "entrants", "eras", "federations",
    "games", "given_sides", "highest_lowest", "history", "merges", "movetexts", "openings", "originals",
    "player_details", "players", "policies", "pools", "proposals", "publications", "rounds_without_game", "runs",
    "seeds", "sent_reports", "streaks", "strengths", "time_losses", "tournaments", "upsets",
}  # fmt: skip


def false_places(path: Path, since: TreeHead | None = None) -> list[tuple[str, int | str]]:
    return [(one.table, one.position_or_key) for one in audit(path, since=since).falsehoods]


def said(path: Path, since: TreeHead | None = None) -> str:
    return "\n".join(map(str, audit(path, since=since).falsehoods))


def views_of(club: Path) -> Path:
    return sidecar(club, "views")


def body_at(club: Path, position: int) -> bytes:
    with closing(sqlite.sqlite3.connect(club)) as connection:
        row = connection.execute("SELECT body FROM journal WHERE position = ?", (position,)).fetchone()
    return bytes(row[0])


def first_game(club: Path, condition: str = "1") -> int:
    """Position of the first game that counts."""
    with closing(sqlite.sqlite3.connect(views_of(club))) as connection:
        query = f"SELECT position FROM games WHERE reason IS NULL AND {condition} ORDER BY position"
        return int(connection.execute(query).fetchone()[0])
