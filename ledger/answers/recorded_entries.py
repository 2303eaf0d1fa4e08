"""The journal entries after a position, for programs that follow a ledger: kinds, keys and players.

The content of an entry, its recorder, reasons and years of birth are not shown here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import attrs
import orjson

from ledger.answers.asking import in_one_snapshot
from ledger.facts.events import CorrectionDecided, CorrectionProposed, proposal_key
from ledger.facts.json_schemas import documented
from ledger.handle import OpenLedger
from ledger.journal import Journal

_PLAYERS = ("white", "black", "player", "into")  # fields of facts and of changes that name a player by number
_WITHIN = ("expects", "facts")  # fields of a change that hold fields of a fact
# From an undoing to its proposal, to the one that it undoes, to the parts of that, to a supplement, to the game of it.
_STEPS = 5


@attrs.frozen(kw_only=True, slots=False)
class RecordedEntry:
    """An entry of the journal: its position, kind and key, and the players whom it concerns."""

    position: int = documented("its place in the journal, from 1", minimum=1)
    kind: str = documented("name and version of the event, such as game-recorded/1")
    key: str = documented("what it is about: no two entries have one key")
    players: list[int] = documented("numbers of the players whom it names, or the facts that it is about")
    correction: int | None = documented("number of the correction that it proposes or decides; null: none")


class _About(NamedTuple):
    """The players whom an entry names, and the keys of the entries to which it refers."""

    players: frozenset[int]
    keys: frozenset[str]


@in_one_snapshot
def entries_after(ledger: OpenLedger, position: int, limit: int) -> list[RecordedEntry]:
    """Return at most *limit* entries after a position, in order, up to the position of the views."""
    journal, until = ledger.snapshot_journal, min(ledger.views.position(), position + limit)
    entries = [orjson.loads(body) for block in journal.read(position, until) for body in block]
    # without the version of the kind: old entries are of the same corrections
    of_corrections = {kind.KIND.partition("/")[0] for kind in (CorrectionProposed, CorrectionDecided)}
    return [
        RecordedEntry(
            position=entry["position"],
            kind=entry["kind"],
            key=entry["key"],
            players=sorted(players),
            correction=entry["facts"]["proposal"] if entry["kind"].partition("/")[0] in of_corrections else None,
        )
        for entry, players in zip(entries, _players(journal, entries), strict=True)
    ]


def _players(journal: Journal, entries: list[dict[str, Any]]) -> list[frozenset[int]]:
    """Return the players of each entry, with those of the entries to which it refers, looked up together."""
    abouts = [_about(entry["facts"]) for entry in entries]
    seen = [each.keys for each in abouts]
    for _ in range(_STEPS):
        keys = sorted(frozenset[str]().union(*(each.keys for each in abouts)))
        if not keys:
            break
        by_key = {key: _about(orjson.loads(stored.body)["facts"]) for key, stored in journal.find(keys).items()}
        for place, (about, before) in enumerate(zip(abouts, seen, strict=True)):
            meant = [by_key[key] for key in about.keys if key in by_key]
            players = about.players.union(*(each.players for each in meant))
            # their own references are looked up next, but none twice: two facts may name each other
            abouts[place] = _About(players, frozenset[str]().union(*(each.keys for each in meant)) - before)
        seen = [before | each.keys for before, each in zip(seen, abouts, strict=True)]
    return [each.players for each in abouts]


def _about(facts: Mapping[str, Any]) -> _About:
    """Return the players and keys that facts name; of a proposal, those that its changes name."""
    parts = [facts]
    for change in facts.get("changes", ()):
        parts += [change, *(change[name] for name in _WITHIN if change.get(name))]
    players = {part[name] for part in parts for name in _PLAYERS if isinstance(part.get(name), int)}
    return _About(frozenset(players), frozenset(key for part in parts for key in _keys(part)))


def _keys(part: Mapping[str, Any]) -> Iterator[str]:
    """Yield the keys of the entries to which facts, or a change, refer."""
    if isinstance(part.get("fact"), str):
        yield part["fact"]
    if isinstance(part.get("game"), str) and "white" not in part:  # a supplement of a game
        yield f"game:{part['game']}"
    if isinstance(number := part.get("proposal"), int):
        if "changes" not in part:
            yield proposal_key(number)
        elif part.get("part") == 1:  # the others are of the same correction, which is decided as one
            yield from (proposal_key(number, place) for place in range(2, part["parts"] + 1))
