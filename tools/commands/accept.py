"""Commands that mend: what an administrator does where names are lost or a clock was wrong. Each asks first."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import click

from ledger.facts.events import ClockAccepted
from ledger.journal.checkpoints import refuse_another_history
from ledger.journal.rules import check_acceptance, recorded_text
from ledger.journal.settings_file import ServerPlace, server_of
from ledger.journal.sqlite_store import SqliteJournal
from ledger.ledger import Ledger
from ledger.players.lost_names import accept_lost_names, count_lost_names
from ledger.players.server_stores import open_on_server
from ledger.players.verified_names import add_lost_players, lost_players
from ledger.runtime.ledger_files import sidecar

from .. import output
from . import DB, confirmed
from .token_options import acting, recorded_by


@click.command("accept-lost-names")
@DB
@click.option("--yes", is_flag=True, help="Do not ask; needed where nobody can be asked.")
def accept_lost_names_(db_path: str, yes: bool) -> None:
    """Go on without the names that the people file has lost; games and ratings stay under the numbers.

    Where no newer copy of the people file is left, every registered player without a row gets one without identity,
    name and salt, as if erased; who plays again gets a new number. A missing people file is made again. One
    that belongs to another ledger is not touched: move it aside first.

    \b
    Example:
      rating-ledger accept-lost-names club.db
      rating-ledger accept-lost-names club.db --yes
    """
    path, people = Path(db_path), sidecar(db_path, "people")
    if (place := server_of(path)) is not None:
        _on_a_server(path, place, yes=yes)
        return
    with closing(SqliteJournal(db_path)) as journal:
        refuse_another_history(path, journal)
        lost = count_lost_names(journal, people)
        if not lost and people.exists():
            output.remark(f"{people}: no name is lost")
            return
        _confirm(lost, str(people), yes=yes)
        _tell(str(people), accept_lost_names(journal, people))


def _on_a_server(path: Path, place: ServerPlace, *, yes: bool) -> None:
    journal, people = open_on_server(place)
    with closing(people), closing(journal):
        refuse_another_history(path, journal)
        people.refusal = people.refusal or journal.refusal
        lost = len(lost_players(journal, people))
        if not lost:
            output.remark(f"{people.path}: no name is lost")
            return
        _confirm(lost, "the names", yes=yes)
        with journal.writing():  # no process registers a player meanwhile
            lost = add_lost_players(journal, people)
        _tell(people.path, lost)


def _confirm(lost: int, names: str, *, yes: bool) -> None:
    players = "1 player" if lost == 1 else f"{lost:,} players"
    confirmed(f"Go on for good without the names of {players}? Only a newer copy of {names} has them.", yes=yes)


def _tell(where: str, lost: int) -> None:
    players = "1 player goes" if lost == 1 else f"{lost:,} players go"
    output.remark(f"{where}: {players} on as numbers without a name")


@click.command("accept-clock")
@DB
@click.option("--yes", is_flag=True, help="Do not ask; needed where nobody can be asked.")
@acting("admin")
def accept_clock(db_path: str, yes: bool, actor: str) -> None:
    """Record that the last entry was written by a wrong clock, in the future; time goes on from now.

    Without this nothing can be recorded until that time has come. The entry stays as it is, your word follows
    it in the journal, and 'log --kind clock-accepted' and the audit show it. Look at this machine's clock first.

    \b
    Example:
      rating-ledger accept-clock club.db --actor admin:eve
      rating-ledger log club.db --kind clock-accepted
    """
    with Ledger.open(db_path) as ledger:
        for entry in ledger.entries(last=1):
            position, recorded_at, now = entry.position, entry.recorded_at, ledger.now_ms()
            event = ClockAccepted(entry=position)
            check_acceptance(event, now, position, recorded_at)
            output.remark(f"entry {position} was recorded at {recorded_at} by {entry.actor!r}")
            output.remark(f"this machine's clock says {recorded_text(now)}")
            confirmed("Is this machine's clock right, and was the clock wrong that recorded this entry?", yes=yes)
            receipt = ledger.append(event, **recorded_by(ledger, actor))
            output.remark(f"{db_path}: accepted by entry {receipt.position}; head {ledger.head()}")
