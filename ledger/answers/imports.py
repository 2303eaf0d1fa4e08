"""The imported files of a ledger: what each brought, and whether it was taken back; and what taking back would do."""

from __future__ import annotations

import attrs

from ledger.answers.asking import in_one_snapshot
from ledger.correcting.imported import TakeBack, take_back
from ledger.facts.changes import ENTRIES
from ledger.facts.json_schemas import documented
from ledger.handle import OpenLedger

_STATES = (
    "SELECT c.subject, p.proposal, p.effective FROM corrections AS c JOIN proposals AS p USING (proposal) "
    "WHERE c.subject GLOB 'entries:*' AND (p.decision IS NULL OR p.effective) ORDER BY p.effective, p.proposal"
)


@attrs.frozen(kw_only=True, slots=False)
class ImportRow:
    """An imported file: what it brought, by whom and when, and whether it was taken back."""

    number: int = documented("number of the import", minimum=1)
    file: str = documented("name of the file, without its folder; (erased) if it named an erased person")
    recorded_at: str = documented("when its first entries were recorded, UTC")
    by: str = documented("who imported it")
    games: int = documented("newly recorded games", minimum=0)
    byes: int = documented("newly recorded rounds without a game", minimum=0)
    players: int = documented("new players", minimum=0)
    supplements: int = documented("games that were recorded before and got further facts", minimum=0)
    tournaments: int = documented("tournaments whose days were recorded with it", minimum=0)
    statements: int = documented("new statements about entrants, tournaments and players", minimum=0)
    entries: str = documented("positions of its entries, such as 4-9 12")
    state: str = documented(
        "recorded, proposed (to be taken back), or taken back",
        enum=["recorded", "proposed", "taken back"],
    )
    proposal: int | None = documented("the proposal that takes it back; null: there is none", minimum=1)


@in_one_snapshot
def imports(ledger: OpenLedger) -> list[ImportRow]:
    """Return the imported files, the oldest first.

    An import from before the register was kept, or on another machine, is missing; its entries can be taken back by
    their positions.
    """
    states = {
        subject: ("taken back" if effective else "proposed", proposal)
        for subject, proposal, effective in ledger.views.connection.execute(_STATES)
    }
    rows = []
    for each in ledger.imports.imports():
        state, proposal = states.get(f"{ENTRIES}{each.spans[0][0]}", ("recorded", None))
        rows.append(
            ImportRow(
                number=each.number,
                file=each.file,
                recorded_at=each.recorded_at,
                by=each.actor,
                games=each.counts.games,
                byes=each.counts.rounds,
                players=each.counts.players,
                supplements=each.counts.supplements,
                tournaments=each.counts.tournaments,
                statements=each.counts.statements,
                entries=each.entries,
                state=state,
                proposal=proposal,
            )
        )
    return rows


@attrs.frozen(kw_only=True, slots=False)
class TakeBackSummary:
    """The effects of taking back an import, apart from the ratings, which the preview of a proposal has."""

    file: str | None = documented("name of the file; null: the entries were given")
    entries: str = documented("positions of the entries that would be annulled")
    games: int = documented("its games that would be void", minimum=0)
    byes: int = documented("its rounds without a game", minimum=0)
    tournaments: list[str] = documented("tournaments whose announcement would be taken back")
    players: int = documented("its new players", minimum=0)
    leaving: int = documented("those of whom nothing else is recorded, who would leave lists and searches", minimum=0)
    statements: int = documented("statements about entrants, tournaments and players that would go", minimum=0)
    notes: list[str] = documented("what stays, and what was corrected since")


@in_one_snapshot
def take_back_summary(ledger: OpenLedger, reference: str) -> TakeBackSummary:
    """Return what taking back an import would do, by its number or its entries; nothing is recorded.

    Raises:
        UnknownNameError: the register has no such import.
        MalformedError: neither a number nor entries.
    """
    return summary_of(take_back(ledger, reference))


def summary_of(draft: TakeBack) -> TakeBackSummary:
    """Return what the change of a draft would do."""
    return TakeBackSummary(
        file=None if draft.source is None else draft.source.file,
        entries=draft.change.entries or "",
        games=draft.games,
        byes=draft.rounds,
        tournaments=draft.tournaments,
        players=draft.players,
        leaving=draft.leaving,
        statements=draft.statements,
        notes=draft.notes,
    )
