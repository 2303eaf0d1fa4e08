"""Repeats: games of an import whose key is in the journal or in an earlier row, and what each adds or contradicts.

Most repeats are equal byte for byte; only the others are parsed. Nothing is written here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Mapping, Sequence
from typing import Any, NamedTuple

import attrs
import orjson

from ledger.duplicates.game_keys import is_derived_key
from ledger.duplicates.reported_games import SIDES, ReportedGames
from ledger.errors import ConflictError, RejectedError
from ledger.facts.events import SUPPLEMENTED, GameRecorded, GameSupplemented
from ledger.facts.submissions import compare_reports, contradictions
from ledger.facts.words import Outcome, Termination, becomes_drawn_by_time, is_impossible
from ledger.journal import FindEntries, StoredEntry, rules

_WORDS: Mapping[str, Callable[[str], Any]] = {"outcome": Outcome, "termination": Termination}
_ENDING = frozenset({"termination", "half_moves"})
_TAKEN_BACK = "{!r} was recorded and taken back too often: put one of its records back, 'correct reinstate'"
_ERASED = "{!r} was recorded with a player who was erased since, and stays as it is: leave the game out"


@attrs.define
class SupplementedGame:
    """A recorded game with the facts of its supplements.

    Attributes:
        entry: position of the entry that recorded it.
        facts: in the fields of ``game-recorded/1`` as plain values, without the key.
        supplements: number of its supplements.
    """

    entry: int
    facts: dict[str, Any]
    supplements: int = 0

    def supplement(self, game: str, added: Mapping[str, Any]) -> GameSupplemented:
        """Return a supplement with the facts *added*, and add them to the game's.

        Raises:
            ValueError: a value is not allowed in its field.
        """
        event = GameSupplemented(game=game, entry=self.entry, number=self.supplements + 1, **_in_words(added))
        self.supplements += 1
        self.facts = {**self.facts, **added}
        return event

    def with_facts(self, game: str, added: Mapping[str, Any]) -> GameRecorded:
        """Return the game as it would be recorded with further facts."""
        return GameRecorded(game=game, **_in_words({**self.facts, **added}))


def load_games(find: FindEntries, recorded: Mapping[str, StoredEntry]) -> dict[str, SupplementedGame]:
    """Return recorded games with their supplements, by key of the game; *recorded* has their entries by key."""
    # supplements of a game are numbered, so that each is found by its key; nearly all journals have none
    games = {
        key[len("game:") :]: SupplementedGame(entry.position, rules.facts_of(entry)) for key, entry in recorded.items()
    }
    pending = list(games)
    while pending:
        entries = find([f"supplement:{game}@{games[game].supplements + 1}" for game in pending])
        for entry in entries.values():
            facts = rules.facts_of(entry)
            game = games[facts["game"]]
            game.facts.update({field: facts[field] for field in SUPPLEMENTED if field in facts})
            game.supplements += 1
        pending = [game for game in pending if f"supplement:{game}@{games[game].supplements}" in entries]
    return games


def _in_words(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return plain values as the event classes take them."""
    return {field: _WORDS[field](value) if field in _WORDS else value for field, value in facts.items()}


class CorrectedGame(NamedTuple):
    """A game after its corrections.

    Attributes:
        facts: in the fields of ``game-recorded/1`` as plain values, without the key; players as persons.
        person: returns the number of a player after all merges.
    """

    facts: Mapping[str, Any]
    person: Callable[[int], int]


CorrectedGames = Callable[[str], CorrectedGame | None]  # by key of a game; None if it is as recorded


class Difference(NamedTuple):
    """A row of a file that contradicts a recorded game in its current state.

    Attributes:
        line: of the file.
        game: key of the game.
        fields: the values of the contradicting fields of ``game-recorded/1``, as plain values.
        message: the first contradiction in words.
    """

    line: int
    game: str
    fields: Mapping[str, Any]
    message: str


class ReportedEntries:
    """The entries of games that a file has reported so far, without contradicting them: a byte for each entry."""

    def __init__(self) -> None:
        self._flags = bytearray()

    def add(self, first: int, count: int = 1) -> None:
        """Mark *count* entries from *first* on as reported."""
        self._flags.extend(bytes(max(first + count - len(self._flags), 0)))
        self._flags[first : first + count] = b"\1" * count

    def __contains__(self, entry: int) -> bool:
        """Return whether an entry was reported."""
        return entry < len(self._flags) and self._flags[entry] == 1


class RepeatMatches(NamedTuple):
    """The repeats among the games of a block, matched with recorded games.

    Attributes:
        known: the rows whose key is in the journal or in an earlier row (Boolean).
        supplements: what rows add to recorded games: row and event, in the order of the rows.
        faults: rows that are refused: line of the file and message.
        differences: rows that contradict the current state.
        others: rows of other games, whose key belongs to a recorded game, with line and message: its key was made, or
            that game was taken back with its import.
    """

    known: list[bool]
    supplements: list[tuple[int, GameSupplemented]]
    faults: list[tuple[int, str]]
    differences: list[Difference]
    others: list[tuple[int, int, str]]


def match_repeats(
    find: FindEntries,
    games: ReportedGames,
    first: int,
    pools: Container[str],
    now_ms: int,
    reported: ReportedEntries,
    corrected_games: CorrectedGames,
    is_nameless: Callable[[int], bool],
    taken_back: Callable[[Collection[int]], Collection[int]] = lambda _: (),
) -> RepeatMatches:
    """Match the rows of a file that repeat a recorded game with it.

    Args:
        find: looks up keys in the journal.
        games: in the fields of ``GameRecorded``; each makes an event.
        first: position of the next entry: from there on each new pool of these games adopts its scheme, and the new
            rows follow.
        pools: those that adopted one before.
        now_ms: the recording time, milliseconds since 1970.
        reported: the entries that the file reported before these games; theirs are added.
        corrected_games: returns a game after its corrections.
        is_nameless: whether a player was erased: messages about such a side name no number.
        taken_back: returns the entries, among some, of games that were taken back with their import.
    """
    stored = find([f"game:{name}" for name in games.column("game")])
    texts = {key[len("game:") :]: _facts_text(entry) for key, entry in stored.items()}
    fresh: dict[str, int] = {}  # by key of a game that is new, its place among them
    new_pools: set[str] = set()
    flags: list[bool] = []
    matches = RepeatMatches(flags, [], [], [], [])
    free = _free_keys(stored, taken_back)
    different: list[tuple[int, str, dict[str, Any], int]] = []
    # As text: two reports that are equal byte for byte need not be parsed, and most are.
    for row, (name, report_text, line, pool, is_numbered) in enumerate(games.reports()):
        is_repeat = name in texts
        flags.append(is_repeat)
        if f"game:{name}" in free:
            matches.others.append((row, line, _TAKEN_BACK.format(name)))
            continue
        if not is_repeat:
            texts[name] = report_text
            fresh[name] = len(fresh)
            if pool not in pools:
                new_pools.add(pool)
        elif texts[name] != report_text:
            different.append((row, name, _report(report_text, is_numbered=is_numbered), line))
        elif name not in fresh:
            reported.add(stored[f"game:{name}"].position)
    reported.add(first + len(new_pools), len(fresh))
    names = {name for _, name, _, _ in different}
    recorded_games = load_games(find, {key: entry for key, entry in stored.items() if key[len("game:") :] in names})
    for name in names & fresh.keys():
        recorded_games[name] = SupplementedGame(first + len(new_pools) + fresh[name], _plain(texts[name]))
    conflicts: list[_Conflict] = []
    for row, name, report, line in different:
        try:
            supplement = supplement_for(recorded_games[name], name, report, now_ms, corrected_games)
        except ConflictError as error:
            conflicts.append(_Conflict(row, line, name, recorded_games[name], report, str(error)))
            continue
        except RejectedError as error:
            matches.faults.append((line, str(error)))
            continue
        reported.add(recorded_games[name].entry)
        if supplement is not None:
            matches.supplements.append((row, supplement))
    # Last: a row that contradicts a game which the file reports, too, is a second game of those facts and no false
    # report of the first one.
    _classify_all(matches, conflicts, reported, corrected_games, is_nameless)
    return matches


def _free_keys(stored: Mapping[str, StoredEntry], taken_back: Callable[[Collection[int]], Collection[int]]) -> set[str]:
    """Return the keys of recorded games that were taken back: their reports are of new games."""
    entries = taken_back([entry.position for entry in stored.values()])
    return {key for key, entry in stored.items() if entry.position in entries}


class _Conflict(NamedTuple):
    """A row that contradicts a recorded game, under the key of that game."""

    row: int
    line: int
    game: str
    known: SupplementedGame
    report: dict[str, Any]
    words: str


def _classify_all(
    matches: RepeatMatches,
    conflicts: Sequence[_Conflict],
    reported: ReportedEntries,
    corrected_games: CorrectedGames,
    is_nameless: Callable[[int], bool],
) -> None:
    """Sort the rows that contradict a recorded game."""
    for conflict in conflicts:
        _classify(matches, conflict, reported, corrected_games, is_nameless)


def _classify(
    matches: RepeatMatches,
    conflict: _Conflict,
    reported: ReportedEntries,
    corrected_games: CorrectedGames,
    is_nameless: Callable[[int], bool],
) -> None:
    """Sort a row that contradicts a recorded game: it is another game, a fault or a difference."""
    row, line, game, game_before, report, words = conflict
    recorded = game_before.facts
    is_erased = any(is_nameless(recorded[side]) and recorded[side] != report[side] for side in SIDES)
    if is_erased:
        words = _ERASED.format(game)
    if is_derived_key(game) and (is_erased or game_before.entry in reported or _is_another(recorded, report)):
        matches.others.append((row, line, words))
    elif is_erased:
        matches.faults.append((line, words))
    else:
        fields = _contradicted(game_before, game, report, corrected_games)
        matches.differences.append(Difference(line, game, fields, words))


def _is_another(recorded: Mapping[str, Any], report: Mapping[str, Any]) -> bool:
    """Return whether a contradicting report is of another game: its moves, or their number, differ."""
    for name in ("text", "half_moves"):
        if None not in {recorded.get(name), report.get(name)}:
            return bool(recorded[name] != report[name])
    return False


def supplement_for(
    recorded_game: SupplementedGame, game: str, report: dict[str, Any], now_ms: int, corrected_games: CorrectedGames
) -> GameSupplemented | None:
    """Return the supplement with the facts that a report adds to a recorded game; None if it adds none.

    A report may repeat a game as it was recorded, or as it is after its corrections.

    Raises:
        RejectedError: it contradicts the recorded facts, or together they are not a valid game.
    """
    try:
        added = rules.check_repeat(GameRecorded, f"game:{game}", recorded_game.facts, report)
    except ConflictError:
        current = corrected_games(game)
        if current is None:
            raise
        persons = {side: current.person(report[side]) for side in ("white", "black")}
        conflict, added = compare_reports(current.facts, {**report, **persons}, game)
        if conflict is not None:
            raise
        added = {field: value for field, value in added.items() if recorded_game.facts.get(field) is None}
    if not _ENDING.isdisjoint(added) and (current := corrected_games(game)) is not None:
        added = _fitting(added, recorded_game.facts, current.facts)
    if not added:
        return None
    rules.check_supplemented(recorded_game.with_facts(game, added), now_ms)
    return recorded_game.supplement(game, added)


def _contradicted(
    recorded_game: SupplementedGame, game: str, report: dict[str, Any], corrected_games: CorrectedGames
) -> dict[str, Any]:
    """Return the reported fields that contradict the current state of a game."""
    current = corrected_games(game)
    if current is None:
        return contradictions(recorded_game.facts, report, game)
    persons = {side: current.person(report[side]) for side in ("white", "black")}
    return contradictions(current.facts, {**report, **persons}, game)


def _fitting(added: dict[str, Any], recorded: Mapping[str, Any], current: Mapping[str, Any]) -> dict[str, Any]:
    """Return the added facts without an ending or a number of half-moves that a correction rules out."""
    fitting = dict(added)
    # The ending first: without it the number of half-moves may fit.
    for field in ("termination", "half_moves"):
        new = {name: value for name, value in fitting.items() if current.get(name) == recorded.get(name)}
        after = {**current, **new}
        drawn_by_time = "termination" in new and becomes_drawn_by_time(
            recorded["outcome"], after["outcome"], after["termination"]
        )
        if drawn_by_time or (is_impossible(after) and not is_impossible({**recorded, **fitting})):
            fitting.pop(field, None)
    return fitting


def _facts_text(stored: StoredEntry) -> str:
    body = stored.body
    try:
        start = body.index(b',"facts":') + len(b',"facts":')
        return body[start : body.rindex(b',"key":"game:')].decode()
    except ValueError as error:
        raise rules.unreadable_entry(stored.position, error) from error


def _report(facts_text: str, *, is_numbered: bool) -> dict[str, Any]:
    """Return the facts of a row; its place in the file counts only if the file numbers its games."""
    report = _plain(facts_text)
    if not is_numbered:
        report.pop("sequence", None)
    return report


def _plain(facts_text: str) -> dict[str, Any]:
    try:
        plain: dict[str, Any] = orjson.loads(facts_text)
    except ValueError as error:
        raise rules.unreadable_entry(0, error) from error
    return plain
