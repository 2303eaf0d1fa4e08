"""The days of the tournaments that an imported file reports: recorded, or the command named that does that."""

from __future__ import annotations

import shlex

from ledger.answers.announcements import MissingAnnouncement, missing_announcements
from ledger.errors import RejectedError
from ledger.facts.events import TournamentOpened
from ledger.facts.instants import instant_text
from ledger.imports.reading import Reading
from ledger.journal import late_facts
from ledger.ledger import Ledger

from .. import output
from . import proposal_options as proposing
from .token_options import recording_token

SHOWN = 10  # tournaments of a file


def open_reported(
    ledger: Ledger,
    reading: Reading,
    pool: str,
    actor: str | None,
    asked: proposing.ProposalWish | None = None,
    *,
    dry_run: bool = False,
    number: int | None = None,
) -> None:
    """Announce the tournaments of a file that were not announced yet; without an *actor* say the command that does.

    Args:
        ledger: where they are announced.
        reading: of the file.
        pool: name of the pool.
        actor: who announces them; None: no one.
        asked: they are proposed in these words; None: recorded.
        dry_run: report what would be announced, and record nothing.
        number: of the import that they belong to; None: of none.
    """
    reported = list(missing_announcements(ledger, reading.tournaments, pool))
    if asked is not None and not dry_run:
        proposed = [opening.event for opening in reported if not opening.problem]
        reported = [opening for opening in reported if opening.problem]
        if proposed:
            proposing.propose(ledger, proposed, asked)
    if actor and not dry_run:
        reported = [_recorded(ledger, opening, actor, number) for opening in reported]
    for opening in reported[:SHOWN]:
        where = f"{reading.name}:{opening.line}"
        if opening.problem:
            output.remark(f"{where}: note: {opening.problem}")
        elif actor:
            event = opening.event
            output.remark(f"{where}: tournament {event.tournament!r}, {event.starts_at} to {event.ends_at}: opened")
        else:
            command = _command(str(ledger.path), opening.event)
            if late_facts.are_four_eyes_on(ledger.journal.find):
                way = f"four eyes are on, so propose them: {command} --propose --reason ... --by NAME"
            else:
                way = f"--open-tournaments does that, or: {command}"
            output.remark(f"{where}: note: its days are not recorded; {way}")
    if len(reported) > SHOWN:
        output.remark(f"{reading.name}: and {len(reported) - SHOWN:,} more tournaments")


def _recorded(ledger: Ledger, opening: MissingAnnouncement, actor: str, number: int | None) -> MissingAnnouncement:
    """Record an opening; one that contradicts an earlier one of the same file comes back with the problem."""
    if not opening.problem:
        try:
            receipt = ledger.append(opening.event, actor=actor, token=recording_token(ledger))
            if number is not None:
                ledger.imports.add_announcement(number, instant_text(ledger.now_ms()), receipt)
        except RejectedError as error:
            return opening._replace(problem=str(error))
    return opening


def _command(db_path: str, event: TournamentOpened) -> str:
    words = ["rating-ledger", "open-tournament", db_path, event.tournament, "--pool", event.pool]
    words += ["--start", event.starts_at, "--end", event.ends_at]
    for option, value in (("--format", event.format), ("--entrants", event.entrants), ("--rounds", event.rounds)):
        words += [option, str(value)] if value is not None else []
    return shlex.join(words)
