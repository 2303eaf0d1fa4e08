"""Proposals and decisions as plain dictionaries, and each change in words. Nothing is written or formatted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ledger import schemes
from ledger.answers.moments import of_one_moment
from ledger.answers.wording import ERASED, names
from ledger.correcting.corrections import ShownProposal
from ledger.facts.changes import BLANK, Change, Verb, Which
from ledger.facts.events import GameRecorded, SchemeAdopted, TournamentClosed
from ledger.facts.instants import instant_end_ms, instant_ms
from ledger.journal import rules
from ledger.ledger import Ledger
from ledger.players.people import missing

_SAME_SIDES = """
SELECT key FROM games WHERE white = ? AND black = ? AND ended_ms BETWEEN ? AND ? AND 'game:' || key <> ? ORDER BY key
"""
_OF_TOURNAMENT = (
    "SELECT 1 FROM games WHERE tournament = ? AND pool = (SELECT pool FROM pools WHERE pools.name = ?) LIMIT 1"
)
# The verbs of 'correct' that people use, of a game and of any other fact.
_ANNULLING, _RESTORING = ("void", "take back"), ("reinstate", "put back")


@of_one_moment
def proposal_rows(ledger: Ledger, proposals: Iterable[ShownProposal]) -> list[dict[str, Any]]:
    """Proposals as rows: number, state, who proposed and decided, when and why, and what is changed, in words.

    ``proven`` says whether a token named who proposed, and ``decided_proven`` who decided; else the name is a word.
    A reason that was erased, or that is not in the people file, is None.
    """
    return [_row(ledger, shown) for shown in proposals]


@of_one_moment
def proposal(ledger: Ledger, number: int) -> dict[str, Any]:
    """One proposal: the row of ``proposal_rows``, with all its changes in words and as they were recorded.

    Raises:
        UnknownNameError: there is no proposal of this number.
    """
    shown = ledger.corrections.proposal(number)
    row = _row(ledger, shown)
    row["what"] = described(ledger, shown.changes)
    row["recorded"] = [change.plain() for change in shown.changes]
    row["why_not"] = shown.proposal.why_not
    return row


def _row(ledger: Ledger, shown: ShownProposal) -> dict[str, Any]:
    known = shown.proposal
    what = described(ledger, shown.changes[:1])
    more = len(shown.changes) - 1
    return {
        "proposal": known.proposal,
        "state": shown.state,
        "changes": len(shown.changes),
        "what": f"{what[0]} and {more} more" if more else what[0],
        "reason": shown.reason,
        "proposed_at": shown.proposed_at,
        "proposed_by": known.proposed_by,
        "proven": bool(known.proposed_proven),
        "decided_at": shown.decided_at,
        "decided_by": known.decided_by,
        "decided_proven": None if known.decided_proven is None else bool(known.decided_proven),
        "decision_reason": shown.decision_reason,
        "alike": list(shown.alike),
    }


@of_one_moment
def described(ledger: Ledger, changes: Iterable[Change]) -> list[str]:
    """Each change in words, with the names of the players."""
    listed = list(changes)
    players = {player for change in listed for player in _players(change)}
    called = names(ledger, players) if players else {}
    nameless = {number: {f"{ERASED} {number}", missing(number)} for number in called}  # these say the number already
    shown = {number: name if name in nameless[number] else f"{name} ({number})" for number, name in called.items()}
    return [_words(change, shown) for change in listed]


@of_one_moment
def doubts(ledger: Ledger, changes: Iterable[Change]) -> list[str]:
    """What may be meant otherwise, in words: late games that are known already, closed tournaments without a game."""
    connection = ledger.views.connection
    found: list[str] = []
    for change in changes:
        facts = change.facts or {}
        if change.do is Verb.ADD and change.kind == GameRecorded.KIND:
            ended = facts["ended_at"]
            first, last = instant_ms(ended[:10]), instant_end_ms(ended)  # perhaps only the day was recorded
            where = (facts["white"], facts["black"], first, last, change.fact)
            known = ", ".join(key for (key,) in connection.execute(_SAME_SIDES, where))
            found += [f"these players have a game of that time already: {known}; is it the same one?"] if known else []
        elif change.do is Verb.ADD and change.kind == TournamentClosed.KIND:
            name, pool = facts["tournament"], facts["pool"]
            if connection.execute(_OF_TOURNAMENT, (name, pool)).fetchone() is None:
                found.append(f"no game in pool {pool!r} carries the name {name!r}, which is matched whole")
    return found


def _players(change: Change) -> set[int]:
    found = {change.player, change.into} - {None}
    for facts in (change.expects or {}, change.facts or {}):
        found |= {facts[name] for name in ("white", "black", "player") if isinstance(facts.get(name), int)}
    return {player for player in found if player is not None}


def _words(change: Change, called: dict[int, str]) -> str:
    player, into = called.get(change.player or 0, ""), called.get(change.into or 0, "")
    between = (f" from {change.since}" if change.since else "") + (f" until {change.until}" if change.until else "")
    match change.do:
        case Verb.REPLACE:
            expects, facts = change.expects or {}, change.facts or {}
            fields = [name for name in facts if facts[name] != expects[name]] or facts  # a whole result is proposed
            pairs = ((name, _shown(name, expects[name], called), _shown(name, facts[name], called)) for name in fields)
            return f"{change.fact}: {', '.join(f'{name} {before} -> {after}' for name, before, after in pairs)}"
        case Verb.ANNUL | Verb.RESTORE:
            of_game, of_fact = _ANNULLING if change.do is Verb.ANNUL else _RESTORING
            return f"{of_game if str(change.fact).startswith('game:') else of_fact} {change.fact}"
        case Verb.ADD:
            facts = _adopted(change) if change.kind == SchemeAdopted.KIND else change.facts or {}
            fields = [f"{name} {_shown(name, value, called)}" for name, value in facts.items()]
            return f"record {change.fact}: {', '.join(fields)}"
        case Verb.MERGE:
            return f"{player} is {into}"
        case Verb.PART:
            return f"{player} is not {into}"
        case Verb.ANNUL_GAMES:
            games = "all rated games" if change.which == Which.ALL else "the rated games lost by opponents"
            return f"annul {games} of {player}{between}"
        case Verb.ANNUL_TOURNAMENT | Verb.RESTORE_TOURNAMENT:
            verb = _ANNULLING[0] if change.do is Verb.ANNUL_TOURNAMENT else _RESTORING[0]
            return f"{verb} the games of tournament {change.tournament!r}{between} in pool {change.pool}"
        case Verb.UNDO:
            return f"undo proposal {change.proposal}"


def _adopted(change: Change) -> Mapping[str, Any]:
    """What an adoption says, but for settings that the scheme has by itself, and the versions of the program."""
    facts = {name: value for name, value in (change.facts or {}).items() if name not in rules.VERSIONS}
    if facts["scheme"] in schemes.available():
        plain = schemes.in_full(SchemeAdopted(pool=facts["pool"], scheme=facts["scheme"], settings={})).settings
        facts["settings"] = {name: value for name, value in facts["settings"].items() if plain.get(name) != value}
    return facts if facts["settings"] else {name: facts[name] for name in facts if name != "settings"}


def _shown(name: str, value: Any, called: dict[int, str]) -> str:
    if value == BLANK:
        return "blank"
    if name in {"white", "black", "player"} and value in called:
        return called[value]
    return str(value)
