"""A proposal's first change as people read it: the game by its players and day, the recorded and the proposed value.

Strangers and officers read the same card; keys are left to the pages with the details.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from ledger.answers import corrections, recorded_games
from ledger.answers.asking import is_field_hidden, names
from ledger.answers.recorded_games import RecordedGame
from ledger.errors import UnknownNameError
from ledger.facts.changes import AnnulmentScope, Change, Verb, spans_of
from ledger.facts.events import (
    BirthYearLearnt,
    Event,
    FederationSet,
    GameRecorded,
    PlayerChanged,
    PlayerRegistered,
    PolicySet,
    RatingRunClosed,
    RatingSeeded,
    RoundWithoutGame,
    SchemeAdopted,
    StrengthChosen,
    TournamentClosed,
    TournamentOpened,
)
from ledger.journal import rules
from ledger.journal.listing import JournalEntry
from ledger.ledger import Ledger

_RESULTS = {"white": "1–0", "black": "0–1", "draw": "½–½", "none": "no result"}
_COUNTS, _VOID = "counts", "does not count"
_RECORDED, _NOTHING = "recorded", "nothing"
_OF_KIND: Mapping[type[Event], str] = {
    PlayerRegistered: "registration",
    PlayerChanged: "membership",
    BirthYearLearnt: "year of birth",
    RatingSeeded: "rating of a list",
    StrengthChosen: "strength by own choice",
    FederationSet: "federation",
    SchemeAdopted: "rating scheme",
    PolicySet: "policy",
    TournamentOpened: "announcement",
    TournamentClosed: "end",
    RatingRunClosed: "end of a rating period",
    RoundWithoutGame: "round without a game",
}  # in words, by the class of its event
_NAMED_APART = frozenset({"player", "pool", "tournament", "policy", "scheme_version", "arithmetic"})  # in the title
_SHOWN = 6  # fields of a fact: the settings of a scheme are dozens


@attrs.frozen(kw_only=True)
class ChangeCard:
    """The first change of a proposal.

    Attributes:
        title: its game: players, tournament, round and day; else what it is about, in words.
        before: the recorded value; empty if the change has none.
        after: the proposed one.
        game: key of the game; None if it is about none that is recorded.
        players: numbers and names of the players that it is about, if it is about no game.
        tournament: the tournament that it is about, if it is about no game and no player.
        more: the number of the other changes.
    """

    title: str
    before: str = ""
    after: str = ""
    game: str | None = None
    players: Sequence[tuple[int, str]] = ()
    tournament: str | None = None
    more: int = 0


def change_card(ledger: Ledger, changes: Sequence[Change]) -> ChangeCard:
    """Return the card of a proposal with these changes."""
    return attrs.evolve(_card(ledger, changes[0]), more=len(changes) - 1)


def _card(ledger: Ledger, change: Change) -> ChangeCard:
    if change.do is Verb.ADD and change.kind == GameRecorded.KIND:
        return _missed_game(ledger, change.facts or {})
    if (change.fact or "").startswith("game:"):
        try:
            game = recorded_games.recorded_game(ledger, change.fact or "")
        except UnknownNameError:  # it is proposed, too, and not recorded yet
            pass
        else:
            before, after = _values(change, game)
            return ChangeCard(title=title_of(game), before=before, after=after, game=game.game)
    match change.do:
        case Verb.MERGE | Verb.PART:
            return _persons(ledger, change)
        case Verb.ANNUL_GAMES | Verb.ANNUL_TOURNAMENT | Verb.RESTORE_TOURNAMENT:
            return _many_games(ledger, change)
        case Verb.ANNUL_ENTRIES:
            return _entries(ledger, change)
        case Verb.UNDO:
            return _undo(ledger, change.proposal or 0)
    return _fact(ledger, change)


def title_of(game: RecordedGame) -> str:
    """Return a game in words: players, tournament, round and day."""
    return _joined(game.white, game.black, game.tournament, game.round, game.ended_at)


def _joined(white: str, black: str, tournament: str | None, round_: str | None, ended_at: str) -> str:
    parts = [f"{white} – {black}", tournament, round_ and f"round {round_}", ended_at[:10]]
    return ", ".join(part for part in parts if part)


def _missed_game(ledger: Ledger, facts: Mapping[str, Any]) -> ChangeCard:
    called = names(ledger, {facts["white"], facts["black"]})
    title = _joined(
        called[facts["white"]],
        called[facts["black"]],
        facts.get("tournament"),
        facts.get("round"),
        facts["ended_at"],
    )
    return ChangeCard(title=f"{title}: a late game", before=_NOTHING, after=_RESULTS[facts["outcome"]])


def _persons(ledger: Ledger, change: Change) -> ChangeCard:
    numbers = [change.player or 0, change.into or 0]
    called = names(ledger, set(numbers))
    players = [(number, called[number]) for number in numbers]
    if called[numbers[0]] == called[numbers[1]]:  # by their names alone nobody could tell them apart
        players = [(number, f"{name} ({number})") for number, name in players]
    (_, first), (_, second) = players
    before, after = "two players", f"one person, {second}"
    if change.do is Verb.PART:
        before, after = after, before
    return ChangeCard(title=f"{first} and {second}", before=before, after=after, players=players)


def _many_games(ledger: Ledger, change: Change) -> ChangeCard:
    between = (f" from {change.since}" if change.since else "") + (f" until {change.until}" if change.until else "")
    before, after = (_VOID, _COUNTS) if change.do is Verb.RESTORE_TOURNAMENT else (_COUNTS, _VOID)
    if change.do is not Verb.ANNUL_GAMES:
        title = f"All games of {change.tournament}{between}, pool {change.pool}"
        return ChangeCard(title=title, before=before, after=after, tournament=change.tournament)
    player = change.player or 0
    name = names(ledger, {player})[player]
    which = "All rated games" if change.which == AnnulmentScope.ALL else "The rated games lost by the opponents"
    return ChangeCard(title=f"{which} of {name}{between}", before=before, after=after, players=[(player, name)])


def _entries(ledger: Ledger, change: Change) -> ChangeCard:
    """Return the card of what an import brought, with the name of its file if it is still known."""
    first = spans_of(change.entries)[0][0]
    file = next((each.file for each in ledger.imports.imports() if each.spans[0][0] == first), None)
    title = f"Entries {change.entries}" if file is None else f"All of {file} (entries {change.entries})"
    return ChangeCard(title=title, before=_COUNTS, after=_VOID)


def _undo(ledger: Ledger, number: int) -> ChangeCard:
    undone = next(iter(ledger.corrections.proposals(numbers=[number])), None)
    if undone is None or undone.changes[0].do is Verb.UNDO:
        return ChangeCard(title=f"Undo proposal {number}", before="acts", after="does not act")
    card = change_card(ledger, undone.changes)
    more = f" and {card.more} more" if card.more else ""
    return attrs.evolve(card, title=f"Undo: {card.title}{more}", before=card.after, after=card.before)


def _fact(ledger: Ledger, change: Change) -> ChangeCard:
    """Return the card of a fact that is no game: what it is of, and its values in words."""
    entry = ledger.journal.find([change.fact or ""]).get(change.fact or "")
    recorded: Mapping[str, Any] = {} if entry is None else rules.facts_of(entry)
    kind = change.kind if entry is None else JournalEntry.of(entry.body).kind
    facts = {**recorded, **(change.facts or {})}
    of_kind = next((words for cls, words in _OF_KIND.items() if kind == cls.KIND), None)
    if of_kind is None:  # of another release
        (words,) = corrections.describe_changes(ledger, [change])
        return ChangeCard(title=words)
    player = facts.get("player")
    called = names(ledger, {player}) if isinstance(player, int) else {}
    subjects = [*called.values(), facts.get("tournament"), facts.get("policy")]
    pool = facts.get("pool")
    title = ", ".join(str(subject) for subject in subjects if subject)
    title = f"{title}: {of_kind}" if title else of_kind.capitalize()
    before, after = _fact_values(change, recorded)
    return ChangeCard(
        title=f"{title}, pool {pool}" if pool else title,
        before=before,
        after=after,
        players=[*called.items()],
        tournament=None if called else facts.get("tournament"),
    )


def _fact_values(change: Change, recorded: Mapping[str, Any]) -> tuple[str, str]:
    match change.do:
        case Verb.ADD:
            return _NOTHING, _fields(change.facts or {})
        case Verb.ANNUL:
            return _fields(recorded) or _RECORDED, "taken back"
        case Verb.RESTORE:
            return "taken back", _fields(recorded) or _RECORDED
    expects, facts = change.expects or {}, change.facts or {}
    changed = [name for name in facts if facts[name] != expects.get(name)] or list(facts)
    return _in_words(changed, expects), _in_words(changed, facts)


def _fields(facts: Mapping[str, Any]) -> str:
    """Return the values of a fact in words, without those that its title has."""
    fields = [name for name, value in facts.items() if name not in _NAMED_APART and value not in (None, "", {})]
    return _in_words(fields[:_SHOWN], facts) + (", …" if len(fields) > _SHOWN else "")


def _values(change: Change, game: RecordedGame) -> tuple[str, str]:
    """Return the recorded and the proposed value of a change of a game."""
    result = _RESULTS[game.outcome]
    if change.do is Verb.ANNUL:
        return result, _VOID
    if change.do is Verb.RESTORE:
        return _VOID, result
    expects, facts = change.expects or {}, change.facts or {}
    fields = [name for name in facts if facts[name] != expects.get(name)] or list(facts)
    return _in_words(fields, expects), _in_words(fields, facts)


def _in_words(fields: Sequence[str], values: Mapping[str, Any]) -> str:
    words = []
    for name in fields:
        value = values.get(name)
        if name == "outcome":
            words.append(_RESULTS[str(value)])
        elif is_field_hidden(name):
            words.append(f"{name.replace('_', ' ')} (not shown)")
        else:
            words.append(f"{name.replace('_', ' ')} {_value(value)}")
    return ", ".join(words)


def _value(value: object) -> str:
    if value in (None, ""):
        return "blank"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{name.replace('_', ' ')} {_value(each)}" for name, each in [*value.items()][:_SHOWN])
    return str(value)
