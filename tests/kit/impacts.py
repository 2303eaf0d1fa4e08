"""What players stand with, read naively from the rows of a ledger: to compare with what a preview has said."""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from ledger.answers.publications import have_same_numbers
from ledger.answers.rows import as_rows
from ledger.book.assessment import Reratings
from ledger.book.roster import Roster
from ledger.book.timeline import BEGINNING
from ledger.correcting.previews import Impact
from ledger.journal.stored_lists import ListRow
from ledger.ledger import Ledger
from ledger.ratings.player_states import PlayerStates
from ledger.ratings.projection import PoolProjections
from ledger.ratings.projectors.history import highest_of
from ledger.ratings.rating_previews import PlayerFigures
from ledger.ratings.standings import Point, rating_list_at, rows_by_player


class Stood(NamedTuple):
    """What a player stands with, and what the last rated game left: that alone stays where time moves everybody."""

    figures: PlayerFigures
    left: tuple[Any, ...]


Standings = dict[tuple[str, int], Stood]  # by pool and player


def standings(ledger: Ledger) -> Standings:
    """The figures of everybody who has a rated game, asked one by one, and of who came with the rating of a list."""
    ledger.ensure_up_to_date()
    keys = {row["position"]: row["key"] for row in ledger.rows("games")}
    rows = {(row["pool"], row["player"], row["n"]): row for row in ledger.rows("history")}
    pools = {pool.pool: pool.name for pool in ledger.pools()}
    found: Standings = {}
    for number, name in pools.items():
        current = list(ledger.rows("current", "pool = ?", [number]))
        states = PlayerStates(ledger.views.connection, ledger.pool(name))
        closed = states.unlisted_now(ledger.now_ms())
        shown = [row for row in current if row["listed"] and row["player"] not in closed]
        order = sorted((-row["rating"], row["player"]) for row in shown)
        places = {player: 1 + bisect_left(order, (rating, 0)) for rating, player in order}
        if PlayerStates(ledger.views.connection, ledger.pool(name)).rows_current_since_ms > BEGINNING:
            places = {row["player"]: row["rank"] for row in as_rows(ledger.ranking(name, limit=len(current)))}
        for row in current:
            last = rows[number, row["player"], row["n"]]
            reached = rows[number, row["player"], last["hera_n"]] if last["hera_n"] else None
            state = states.now(row["player"], ledger.now_ms())
            figures = PlayerFigures(
                state.state[0],
                row["n"],
                state.in_force is not None,
                row["player"] in closed,
                places.get(row["player"]),
                last["time_losses"],
                last["hera"],
                None if reached is None else keys[reached["game"]],
            )
            found[name, row["player"]] = Stood(figures, (row["rating"], row["listed"], *figures[5:]))
        roster = Roster(ledger.views.connection)
        until = max(states.latest_ms or 0, ledger.now_ms())
        away = {row["player"] for row in [*current, *ledger.rows("merges")]}
        for player in {seed["player"] for seed in ledger.rows("seeds", "pool = ?", [number])} - away:
            listed, state = roster.seed_at(number, player, until), states.now(player, ledger.now_ms())
            if listed is not None:
                hera, is_listed = highest_of(listed.seed), state.in_force is not None
                figures = PlayerFigures(state.state[0], 0, is_listed, player in closed, None, 0, hera, None)
                found[name, player] = Stood(figures, ())
    return found


def read_before(connection: Any, pool: int, points: Sequence[Point]) -> dict[Point, int]:
    """How many listed players stand before each point of a ranking, from all rows of it."""
    rows = connection.execute("SELECT -rating, player FROM main.current WHERE pool = ? AND listed = 1", (pool,))
    order = sorted(rows)
    return {point: bisect_left(order, point) for point in points}


def check(impact: Impact, before: Standings, after: Standings) -> None:
    """Fail where an impact says anything else of anybody than what was and what came."""
    said = {(move.pool, move.player): move for move in impact.moves}
    assert len(said) == len(impact.moves)
    for who in before.keys() | after.keys() | said.keys():
        stood, stands = before.get(who), after.get(who)
        if who in said:
            assert said[who].before == (stood and stood.figures), who
            assert said[who].after == (stands and stands.figures), who
        elif any(side is not None and side.figures.games for side in (stood, stands)):  # not who has but a list
            assert stood is not None, who
            assert stands is not None, who
            # what the last games left stands, or the rest of the time since makes it the same
            unranked = [side.figures._replace(rank=None) for side in (stood, stands)]
            assert stood.left == stands.left or unranked[0] == unranked[1], who


def revised_lists(ledger: Ledger) -> dict[str, Mapping[int, ListRow]]:
    """By name of each published list that is its instant's last edition, the rows as revised now, by player."""
    ledger.ensure_up_to_date()
    found = {}
    for asked in ledger.publications.last_editions():
        found[asked.name] = rows_by_player(
            rating_list_at(ledger.views.connection, ledger.pool(asked.pool), asked.at_ms)
        )
    return found


def check_lists(impact: Impact, before: Mapping[str, Mapping[int, ListRow]], after: Mapping[str, Any]) -> None:
    """Fail where an impact names another list than those that differ, other numbers, or another largest change."""
    said = {move.name: move for move in impact.lists}
    for name, now in before.items():
        then = after[name]
        differing = {
            player for player in now.keys() | then.keys() if not have_same_numbers(now.get(player), then.get(player))
        }
        assert (name in said) == bool(differing), name
        if differing:
            move = said[name]
            assert move.players == len(differing)
            sizes = [abs(then[player].rating - now[player].rating) for player in now.keys() & then.keys()]
            assert (move.largest is None) == (not any(sizes))
            if move.largest is not None:
                assert (move.before, move.after) == (now[move.largest].rating, then[move.largest].rating)
                assert abs(then[move.largest].rating - now[move.largest].rating) == max(sizes)


def file_digests(folder: Path) -> dict[str, str]:
    """The bytes of every file of a folder, but for the memory that processes share while they have it open."""
    files = (path for path in folder.iterdir() if path.is_file() and not path.name.endswith("-shm"))
    return {path.name: sha256(path.read_bytes()).hexdigest() for path in files}


@contextmanager
def counting_games() -> Iterator[list[int]]:
    """Count the games that are rated again meanwhile: the numbers are put into the list."""
    counted: list[int] = []
    update = PoolProjections.update_by_pool

    def noted(projections: PoolProjections, fresh: Reratings, checkpoint: int) -> Iterator[tuple[int, int]]:
        for pool, games in update(projections, fresh, checkpoint):
            counted.append(games)
            yield pool, games

    with patch.object(PoolProjections, "update_by_pool", noted):
        yield counted


def as_plain(impact: Impact) -> dict[str, Any]:
    """The parts of an impact that no clock influences."""
    return {"games": impact.games, "players": impact.players, "moves": impact.moves, "lists": impact.lists}
