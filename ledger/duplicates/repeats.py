"""Games of an import whose key is known already, here or in the journal: what each of them adds, or contradicts.

The most are told again word for word, which texts show; only the others are read. Nothing is written here.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from typing import Any, NamedTuple

import orjson

from ledger.duplicates.candidates import KnownGame, load_games
from ledger.duplicates.game_keys import is_made
from ledger.duplicates.reported_games import SIDES, ReportedGames
from ledger.errors import ConflictError, RejectedError
from ledger.facts.events import GameRecorded, GameSupplemented
from ledger.facts.submissions import compared, contradictions
from ledger.facts.words import becomes_drawn_by_time, rules_itself_out
from ledger.journal import Find, Stored, rules

_ENDING = frozenset({"termination", "half_moves"})
ERASED = "{!r} was recorded with a player who was erased since, and stays as it is: leave the game out"


class Corrected(NamedTuple):
    """A game as it stands after its corrections.

    Attributes:
        facts: in the fields of ``game-recorded/1`` as plain values, without the key; players as persons.
        person: the number by which a player is known after all merges.
    """

    facts: Mapping[str, Any]
    person: Callable[[int], int]


CorrectedGames = Callable[[str], Corrected | None]  # by key of a game; None where it stands as recorded


class Difference(NamedTuple):
    """A known game of which a file says something else than stands.

    Attributes:
        line: of the file.
        game: key of the game.
        fields: what the file says, by the fields of ``game-recorded/1`` that it contradicts, as plain values.
        message: the first contradiction in words.
    """

    line: int
    game: str
    fields: Mapping[str, Any]
    message: str


class ToldEntries:
    """The entries of games that a file has told so far, without contradicting them: a byte for each entry."""

    def __init__(self) -> None:
        """Nothing is told yet."""
        self._flags = bytearray()

    def add(self, first: int, count: int = 1) -> None:
        """So many entries from one on were told."""
        self._flags.extend(bytes(max(first + count - len(self._flags), 0)))
        self._flags[first : first + count] = b"\1" * count

    def __contains__(self, entry: int) -> bool:
        """Whether an entry was told."""
        return entry < len(self._flags) and self._flags[entry] == 1


class RepeatMatches(NamedTuple):
    """What the games of a block are to those that are known.

    Attributes:
        known: the rows whose key is known (Boolean), in the journal or by an earlier row.
        supplements: what rows add to games that are known: row and event, in the order of the rows.
        faults: what may not be told of them: line of the file and message.
        differences: what contradicts them as they stand.
        others: rows of other games, to which the key does not belong that was made for them, with line and message.
    """

    known: list[bool]
    supplements: list[tuple[int, GameSupplemented]]
    faults: list[tuple[int, str]]
    differences: list[Difference]
    others: list[tuple[int, int, str]]


def match_repeats(
    find: Find,
    games: ReportedGames,
    first: int,
    pools: Container[str],
    now_ms: int,
    tellings: ToldEntries,
    corrected_games: CorrectedGames,
    is_nameless: Callable[[int], bool],
) -> RepeatMatches:
    """Find the rows that tell a known game again.

    Args:
        find: what looks up keys in the journal.
        games: in the fields of ``GameRecorded``; each makes an event.
        first: position of the next entry: there each pool that is new with these games adopts its scheme, one entry
            after another, and the rows that are new follow.
        pools: those that adopted one before.
        now_ms: the time to record under, milliseconds since 1970.
        tellings: what the file told before these games; what they tell joins it.
        corrected_games: how a game stands after its corrections.
        is_nameless: whether a player was erased: that a game is told with another number there, says no number.
    """
    stored = find([f"game:{name}" for name in games.column("game")])
    texts = {key[len("game:") :]: _facts_text(entry) for key, entry in stored.items()}
    fresh: dict[str, int] = {}  # by key of a game that is new, its place among them
    new_pools: set[str] = set()
    flags: list[bool] = []
    different: list[tuple[int, str, dict[str, Any], int]] = []
    # As text: two tellings that are the same to the byte need not be read, and most are.
    for row, (name, telling_text, line, pool, is_numbered) in enumerate(games.reports()):
        is_known = name in texts
        flags.append(is_known)
        if not is_known:
            texts[name] = telling_text
            fresh[name] = len(fresh)
            if pool not in pools:
                new_pools.add(pool)
        elif texts[name] != telling_text:
            different.append((row, name, _telling(telling_text, is_numbered=is_numbered), line))
        elif name not in fresh:
            tellings.add(stored[f"game:{name}"].position)
    tellings.add(first + len(new_pools), len(fresh))
    names = {name for _, name, _, _ in different}
    recorded_games = load_games(find, {key: entry for key, entry in stored.items() if key[len("game:") :] in names})
    for name in names & fresh.keys():
        recorded_games[name] = KnownGame(first + len(new_pools) + fresh[name], _plain(texts[name]))
    again = RepeatMatches(flags, [], [], [], [])
    conflicts: list[_Conflict] = []
    for row, name, telling, line in different:
        try:
            supplement = supplement_for(recorded_games[name], name, telling, now_ms, corrected_games)
        except ConflictError as error:
            conflicts.append(_Conflict(row, line, name, recorded_games[name], telling, str(error)))
            continue
        except RejectedError as error:
            again.faults.append((line, str(error)))
            continue
        tellings.add(recorded_games[name].entry)
        if supplement is not None:
            again.supplements.append((row, supplement))
    # Last: a row that contradicts a game which the file tells, too, is a second game of those facts and no false
    # telling of the first one.
    for conflict in conflicts:
        _judge(again, conflict, tellings, corrected_games, is_nameless)
    return again


class _Conflict(NamedTuple):
    """A row that contradicts a known game, under the key of that game."""

    row: int
    line: int
    game: str
    known: KnownGame
    telling: dict[str, Any]
    words: str


def _judge(
    again: RepeatMatches,
    conflict: _Conflict,
    tellings: ToldEntries,
    corrected_games: CorrectedGames,
    is_nameless: Callable[[int], bool],
) -> None:
    """Whether a row that contradicts a known game is of another one, or says something false of it."""
    row, line, game, game_before, telling, words = conflict
    recorded = game_before.facts
    is_erased = any(is_nameless(recorded[side]) and recorded[side] != telling[side] for side in SIDES)
    if is_erased:
        words = ERASED.format(game)
    if is_made(game) and (is_erased or game_before.entry in tellings or _is_another(recorded, telling)):
        again.others.append((row, line, words))
    elif is_erased:
        again.faults.append((line, words))
    else:
        fields = _contradicted(game_before, game, telling, corrected_games)
        again.differences.append(Difference(line, game, fields, words))


def _is_another(recorded: Mapping[str, Any], telling: Mapping[str, Any]) -> bool:
    """Whether a telling that contradicts a known game is of another one: its moves, or their number, are others."""
    for name in ("text", "half_moves"):
        if None not in {recorded.get(name), telling.get(name)}:
            return bool(recorded[name] != telling[name])
    return False


def supplement_for(
    known_game: KnownGame,
    game: str,
    telling: dict[str, Any],
    now_ms: int,
    corrected_games: CorrectedGames,
) -> GameSupplemented | None:
    """The supplement that tells what a telling adds to what is known of a game; None where it adds nothing.

    A game may be told again as it was recorded, or as it stands after its corrections.

    Raises:
        RejectedError: it contradicts what is known, or makes it what no game may be.
    """
    try:
        added = rules.check_repeat(GameRecorded, f"game:{game}", known_game.facts, telling)
    except ConflictError:
        stands = corrected_games(game)
        if stands is None:
            raise
        persons = {side: stands.person(telling[side]) for side in ("white", "black")}
        conflict, added = compared(stands.facts, {**telling, **persons}, game)
        if conflict is not None:
            raise
        added = {field: value for field, value in added.items() if known_game.facts.get(field) is None}
    if not _ENDING.isdisjoint(added) and (stands := corrected_games(game)) is not None:
        added = _fitting(added, known_game.facts, stands.facts)
    if not added:
        return None
    rules.check_supplemented(known_game.with_facts(game, added), now_ms)
    return known_game.supplement(game, added)


def _contradicted(
    known_game: KnownGame, game: str, telling: dict[str, Any], corrected_games: CorrectedGames
) -> dict[str, Any]:
    """What a telling says of the fields in which it contradicts a game as it stands."""
    stands = corrected_games(game)
    if stands is None:
        return contradictions(known_game.facts, telling, game)
    persons = {side: stands.person(telling[side]) for side in ("white", "black")}
    return contradictions(stands.facts, {**telling, **persons}, game)


def _fitting(added: dict[str, Any], recorded: Mapping[str, Any], stands: Mapping[str, Any]) -> dict[str, Any]:
    """What a telling adds, without an ending or a number of half-moves that the correction of a game rules out.

    The telling fits the game as it was recorded; of the game as it stands somebody else has said what it is.

    Args:
        added: what it adds to what was recorded.
        recorded: facts of the game before all corrections.
        stands: facts of the game after them.
    """
    fitting = dict(added)
    # The ending first: without it the number of half-moves may fit.
    for field in ("termination", "half_moves"):
        new = {name: value for name, value in fitting.items() if stands.get(name) == recorded.get(name)}
        after = {**stands, **new}
        drawn_by_time = "termination" in new and becomes_drawn_by_time(
            recorded["outcome"], after["outcome"], after["termination"]
        )
        if drawn_by_time or (rules_itself_out(after) and not rules_itself_out({**recorded, **fitting})):
            fitting.pop(field, None)
    return fitting


def _facts_text(stored: Stored) -> str:
    body = stored.body
    try:
        start = body.index(b',"facts":') + len(b',"facts":')
        return body[start : body.rindex(b',"key":"game:')].decode()
    except ValueError as error:
        raise rules.unreadable(stored.position, error) from error


def _telling(facts_text: str, *, is_numbered: bool) -> dict[str, Any]:
    """Return what a row tells of a known game: its place in the file is nothing, unless the file numbers its games."""
    telling = _plain(facts_text)
    if not is_numbered:
        telling.pop("sequence", None)
    return telling


def _plain(facts_text: str) -> dict[str, Any]:
    try:
        plain: dict[str, Any] = orjson.loads(facts_text)
    except ValueError as error:
        raise rules.unreadable(0, error) from error
    return plain
