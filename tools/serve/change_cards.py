"""A proposal's first change as people read it: the game by its players and day, the recorded and the proposed value.

Strangers and officers read the same card; keys are left to the pages with the details.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from ledger.answers import corrections, recorded_games
from ledger.answers.asking import names
from ledger.answers.recorded_games import RecordedGame
from ledger.errors import UnknownNameError
from ledger.facts.changes import Change, Verb
from ledger.facts.events import GameRecorded
from ledger.ledger import Ledger

_RESULTS = {"white": "1–0", "black": "0–1", "draw": "½–½", "none": "no result"}
_VOID = "does not count"


@attrs.frozen(kw_only=True)
class ChangeCard:
    """The first change of a proposal.

    Attributes:
        title: its game: players, tournament, round and day; else the change in words.
        before: the recorded value; empty if the change has none.
        after: the proposed one.
        game: key of the game; None if it is about none that is recorded.
        more: the number of the other changes.
    """

    title: str
    before: str = ""
    after: str = ""
    game: str | None = None
    more: int = 0


def change_card(ledger: Ledger, changes: Sequence[Change]) -> ChangeCard:
    """Return the card of a proposal with these changes."""
    change, more = changes[0], len(changes) - 1
    if change.do is Verb.ADD and change.kind == GameRecorded.KIND:
        return _missed_game(ledger, change.facts or {}, more)
    if (change.fact or "").startswith("game:"):
        try:
            game = recorded_games.recorded_game(ledger, change.fact or "")
        except UnknownNameError:  # it is proposed, too, and not recorded yet
            pass
        else:
            before, after = _values(change, game)
            return ChangeCard(title=title_of(game), before=before, after=after, game=game.game, more=more)
    (words,) = corrections.describe_changes(ledger, [change])
    return ChangeCard(title=words, more=more)


def title_of(game: RecordedGame) -> str:
    """Return a game in words: players, tournament, round and day."""
    return _joined(game.white, game.black, game.tournament, game.round, game.ended_at)


def _joined(white: str, black: str, tournament: str | None, round_: str | None, ended_at: str) -> str:
    parts = [f"{white} – {black}", tournament, round_ and f"round {round_}", ended_at[:10]]
    return ", ".join(part for part in parts if part)


def _missed_game(ledger: Ledger, facts: Mapping[str, Any], more: int) -> ChangeCard:
    called = names(ledger, {facts["white"], facts["black"]})
    title = _joined(
        called[facts["white"]],
        called[facts["black"]],
        facts.get("tournament"),
        facts.get("round"),
        facts["ended_at"],
    )
    after = _RESULTS[facts["outcome"]]
    return ChangeCard(title=f"{title}: a late game", before="nothing", after=after, more=more)


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
        blank = value in (None, "")
        if name == "outcome":
            words.append(_RESULTS[str(value)])
        else:
            words.append(f"{name.replace('_', ' ')} {'blank' if blank else value}")
    return ", ".join(words)
