"""Every door to a player's rating gives one answer, over random histories of every scheme and change of scheme.

The doors: a summary on a day, a list on a day, a prediction on a day, a player's games, the graph, an explanation,
the ranking. Each is compared with what the rows of the history say by the rule itself, worked out here without the
module that all of them ask.
"""

from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.answers import explanations, player_games, players, predictions, publications
from ledger.answers.asking import day
from ledger.answers.graphs import page_reader as graph_pages
from ledger.answers.rows import as_row, as_rows
from ledger.book.timeline import EraState, ListRating, Pool
from ledger.errors import UnknownNameError
from ledger.facts.events import Event, GameRecorded
from ledger.facts.instants import instant_end_ms
from ledger.facts.periods import DAY_MS, OPEN
from ledger.facts.words import Carry, Standing
from ledger.ledger import Ledger
from ledger.schemes.scheme import Newcomer, Rhythm, Seed, at_time
from tests.kit.clubs import takes_misfits
from tests.kit.drawn_clubs import (
    CHESSWORLD,
    DAYS_OF_A_WINTER,
    MOMENTS,
    OTHERS,
    PLAYERS,
    POOLS,
    at_true_places,
    clubs_of_a_winter,
    every_scheme,
    mixed_clubs,
)
from tests.tiers import examples, few_quick

NOW = datetime(2022, 1, 1, tzinfo=UTC)
TODAY = int(NOW.timestamp() * 1000)
DAYS = (*MOMENTS, "2020-02", "2020-03-31", "2021-07-01", "2025")
Row = dict[str, Any]


class Rule:
    """What is in force, by the rule: the last row that had its place by then, carried and brought to the instant."""

    def __init__(self, ledger: Ledger, pool: Pool) -> None:
        self.pool = pool
        self._games = {row["position"]: row for row in ledger.rows("games")}
        self.rows: dict[int, list[Row]] = {}
        for row in ledger.rows("history", "pool = ? ORDER BY player, n", (pool.pool,)):
            placed = {name: self._games[row["game"]][name] for name in ("rated_ms", "batch")}
            self.rows.setdefault(row["player"], []).append({**row, **placed})
        self._declared = {row["player"]: row for row in ledger.rows("players")}
        self._changes = list(ledger.rows("changes", "1 ORDER BY effective_ms, effective_at"))
        self._seeds = list(ledger.rows("seeds", "pool = ? ORDER BY effective_ms, effective_at", (pool.pool,)))

    def who(self, player: int, ms: int) -> Newcomer:
        known = self._declared[player]
        rating = known["declared_rating"]
        for change in self._changes:
            if change["player"] == player and change["effective_ms"] <= ms and change["declared_rating"] is not None:
                rating = change["declared_rating"]
        seed = None
        for row in self._seeds:
            if row["player"] == player and row["effective_ms"] <= ms:
                since = row["effective_ms"] / DAY_MS if row["effective_at"] else None
                games = None if row["games"] is None else float(row["games"])
                rest = row["deviation"], row["volatility"], row["highest"], row["k_factor"]
                seed = Seed(row["rating"], games, *rest, since)
        return Newcomer(None if rating is None else float(rating), known["birth_year"], ms / DAY_MS, seed)

    def newcomer(self, player: int, ms: int) -> Newcomer:
        """Who has no rated game by then; with the setting, what the source shows beside the first is as if declared.

        It is from the end of that game on.
        """
        known, rows = self.who(player, ms), self.rows.get(player)
        if known.has_rating or not rows:
            return known
        game, side = self._games[rows[0]["game"]], ("white", "black")[rows[0]["colour"]]
        settings = [self.pool.eras[self.pool.era_at(at)].settings for at in (ms, game["ended_ms"])]
        takes = game["ended_ms"] <= ms and all(given.get("from_shown") for given in settings)
        shown = game[f"{side}_rating"] if takes else None
        return known._replace(declared=float(shown)) if shown else known

    def _lists(self, player: int, last: Row, until: int) -> list[ListRating]:
        """Lists later than what the batches up to a row took into account: those of their player's first game in it."""
        batches: dict[tuple[int, str], list[Row]] = {}
        for row in self.rows[player][: last["n"]]:
            batches.setdefault((row["rated_ms"], row["batch"]), []).append(row)
        taken = -(2**62)
        for (place, _), rows in batches.items():
            taken = max(taken, self._lists_until(place, min(row["ended_ms"] for row in rows)))
        days = [ms for ms in self._seeds_of(player) if taken < ms <= until]
        return [ListRating(ms, self.who(player, ms)) for ms in days]

    def _lists_until(self, place: int, first_ms: int) -> int:
        """Until when a batch takes lists into account: a whole tournament's scheme looks back by itself."""
        era = self.pool.eras[self.pool.era_at(place)]
        looks_back = era.settings.get("by_event") and era.scheme.in_force is not None and place != OPEN
        return place if looks_back else first_ms

    def rating(
        self, player: int, ms: int, *, last: Row | None, by: int | None = None, until: int | None = None
    ) -> tuple[float | None, float | None]:
        """From *last* on, what formulas go on from at an instant, and what a list shows; None where nothing is."""
        number = self.pool.era_at(ms) if by is None else by
        era = self.pool.eras[number]
        if last is None:
            newcomer: Newcomer | None = self.newcomer(player, ms)
            state = era.scheme.begin(self.newcomer(player, ms), era.numbers)
        else:
            lists = self._lists(player, last, ms if until is None else until)
            state, newcomer = self._carried(player, last, number, [*lists])
        if last is None or last["rated_ms"] < ms:
            then = ms if last is None else max([ms, *(later.ms for later in lists)])
            state = at_time(era.scheme, era.numbers, state, self.pool.when(number, then, then))
        listed = state[0] if era.scheme.is_listed(state, era.numbers) else None
        begins = newcomer is None or newcomer.seed is not None or (newcomer.has_rating and player in self.rows)
        return listed, listed if begins else None

    def _carried(
        self, player: int, last: Row, number: int, lists: list[ListRating]
    ) -> tuple[tuple[float, ...], Newcomer | None]:
        first = self.pool.era_at(last["ended_ms"])
        state, newcomer = tuple(last[name] for name in self.pool.eras[first].scheme.state), None
        for to in range(first + 1, number + 1):
            old, new = self.pool.eras[to - 1], self.pool.eras[to]
            for later in [later for later in lists if later.ms < new.since_ms]:
                state, newcomer = self._relisted(to - 1, state, lists.pop(lists.index(later))), None
            end = new.since_ms - 1
            until = at_time(old.scheme, old.numbers, state, self.pool.when(to - 1, end, end))
            state = self.pool.carry_state(EraState(to - 1, state, last["n"]), to, lambda ms: self.who(player, ms))
            same = new.carry is Carry.KEEP and old.scheme.name == new.scheme.name
            if same and old.scheme.rhythm is Rhythm.PERIOD:  # periods that are cut otherwise are another scheme
                same = old.scheme.calendar(old.numbers) == new.scheme.calendar(new.numbers)
            if new.carry is Carry.RESTART or not (same or old.scheme.is_listed(until, old.numbers)):
                newcomer = self.who(player, new.since_ms)
        for later in lists:
            state, newcomer = self._relisted(number, state, later), None
        return state, newcomer

    def _relisted(self, number: int, state: tuple[float, ...], later: ListRating) -> tuple[float, ...]:
        era = self.pool.eras[number]
        then = at_time(era.scheme, era.numbers, state, self.pool.when(number, later.ms, later.ms))
        return era.scheme.apply_list(then, later.who, era.numbers)

    def is_closed(self, player: int, ms: int) -> bool:
        """Whether no list of that instant shows the player, whatever the rating is."""
        standing = self._declared[player]["standing"]
        for change in self._changes:
            if change["player"] == player and change["effective_ms"] <= ms:
                standing = change["standing"]
        return bool(standing == Standing.CLOSED)

    @property
    def members(self) -> set[int]:
        """Who has a rated game or a seed in the pool."""
        return {*self.rows, *(row["player"] for row in self._seeds)}

    def now(self, player: int) -> tuple[float | None, float | None]:
        """At the time of the last game; a seed without a game counts from its day on, which may be later."""
        latest = max((row["ended_ms"] for rows in self.rows.values() for row in rows), default=TODAY)
        if player in self.rows:
            return self.rating(player, latest, last=self.rows[player][-1], until=max(latest, TODAY))
        since = [ms for ms in self._seeds_of(player) if ms <= max(latest, TODAY)]
        return self.rating(player, max([latest, *since]), last=None, by=self.pool.era_at(latest))

    def _seeds_of(self, player: int) -> list[int]:
        return [row["effective_ms"] for row in self._seeds if row["player"] == player]

    def predicted_on(self, *players: int) -> int | None:
        """The end of the last day on which anything ended, by today, or a list of the players came; None: today."""
        ends = [row["ended_ms"] for rows in self.rows.values() for row in rows]
        ends += [row["rated_ms"] for rows in self.rows.values() for row in rows if row["rated_ms"] <= TODAY]
        ends += [*self.pool.runs, *(ms for closed in self.pool.closed.values() for ms in closed)]
        if not ends:
            return None
        lists = [self._seeds_of(player) for player in players]
        return instant_end_ms(day(max([*ends, *(ms for seeds in lists for ms in seeds if ms <= TODAY)])))

    def at(self, player: int, ms: int, *, before: bool = False) -> tuple[float | None, float | None]:
        by_then = [row for row in self.rows.get(player, []) if row["rated_ms"] < ms + (not before)]
        return self.rating(player, ms, last=by_then[-1] if by_then else None)

    def in_force_before(self, row: Row) -> float | None:
        """The rating in force before a game."""
        era = self.pool.eras[self.pool.era_at(row["ended_ms"])]
        if era.scheme.rhythm is not Rhythm.GAME:
            return self.at(row["player"], row["ended_ms"], before=True)[1]
        earlier = self.rows[row["player"]][: row["n"] - 1]
        return self.rating(row["player"], row["ended_ms"], last=earlier[-1] if earlier else None)[1]

    def before_game(self, row: Row) -> float | None:
        """The rating that the game changed: if games of a later list were rated in between, it is theirs."""
        era, place = self.pool.eras[self.pool.era_at(row["ended_ms"])], (row["rated_ms"], row["batch"])
        earlier = [each for each in self.rows[row["player"]] if (each["rated_ms"], each["batch"]) < place]
        if era.scheme.rhythm is Rhythm.GAME or not earlier or earlier[-1]["rated_ms"] < row["ended_ms"]:
            return self.in_force_before(row)
        until = self._lists_until(row["rated_ms"], row["ended_ms"])
        return self.rating(row["player"], earlier[-1]["rated_ms"], last=earlier[-1], until=until)[1]

    def highest(self, player: int, ms: int) -> tuple[float | None, str | None]:
        """The highest rating in force by an instant from the 50th rated game on, those of a list counted; since when.

        That of a list goes first, where it says it or stands on 50 games.
        """
        rows = self.rows[player]
        seed = self.who(player, rows[0]["ended_ms"]).seed
        before = 0.0 if seed is None else seed.games or 0.0
        best: tuple[float | None, str | None] = (None, None)
        if seed is not None and (seed.highest is not None or before >= 50):
            best = (seed.highest_known, None if seed.day is None else day(int(seed.day * DAY_MS)))
        for row in rows:
            if row["rated_ms"] <= ms and row["n"] + before >= 50 and (best[0] is None or row["rating"] > best[0]):
                best = (row["rating"], day(row["rated_ms"]))
        return best

    def after_game(self, row: Row) -> float | None:
        era = self.pool.eras[self.pool.era_at(row["ended_ms"])]
        state = [row[name] for name in era.scheme.state]
        return state[0] if era.scheme.is_listed(state, era.numbers) else None


def check_an_instant(ledger: Ledger, rule: Rule, at: str) -> None:
    ms, pool = instant_end_ms(at), rule.pool
    expected = {player: rule.at(player, ms) for player in range(1, PLAYERS + 1)}
    shown = {player: expected[player][1] for player in rule.members}
    for player, rating in shown.items():
        summary = as_row(players.summary(ledger, ledger.player(str(player)), pool.name, at))
        assert (summary["rating_then"], summary["then"]) == (rating, at)
    whole = as_rows(publications.list_in_force_on(ledger, at, pool.name))
    on_the_list = {row["player"]: row["rating"] for row in whole}
    assert on_the_list == {
        player: rating for player, rating in shown.items() if rating is not None and not rule.is_closed(player, ms)
    }
    assert as_rows(publications.list_in_force_on(ledger, at, pool.name, limit=2)) == whole[:2]
    for player in range(1, PLAYERS + 1):
        opponent = player % PLAYERS + 1
        who = ledger.player(str(player)), ledger.player(str(opponent))
        told = as_row(predictions.predict(ledger, *who, pool.name, at))
        assert (told["rating"], told["opponent_rating"]) == (expected[player][0], expected[opponent][0])
        assert told["scheme"] == pool.eras[pool.era_at(ms)].scheme.name
        assert 0.0 <= told["expected_score"] <= 1.0


def check_games(ledger: Ledger, rule: Rule) -> None:
    keys = {row["position"]: row["key"] for row in ledger.rows("games")}
    for player, rows in rule.rows.items():
        person = ledger.player(str(player))
        told = as_rows(player_games.games(ledger, person, rule.pool.name, last=1000))[::-1]
        drawn = as_rows(player_games.graph_points(ledger, person, rule.pool.name))
        assert [point["rating"] for point in drawn] == [game["rating"] for game in told]
        assert [point["in_force"] for point in drawn] == [game["in_force"] for game in told]
        page = graph_pages.read_page(ledger, person, rule.pool.name, last=graph_pages.ALL_GAMES)
        assert [
            (bar.rating, bar.in_force, bar.opponent_rating, bar.opponent_rating_now, page.player.rating_now)
            for bar in reversed(page.player.bars)
        ] == [
            (*(game[name] for name in ("rating", "in_force", "opponent_rating", "opponent_rating_now", "rating_now")),)
            for game in told
        ]
        for row, game in zip(rows, told, strict=True):
            assert (game["n"], game["game"]) == (row["n"], keys[row["game"]])
            assert (game["rating_before"], game["rating"]) == (rule.before_game(row), rule.after_game(row))
            theirs = game["opponent_rating_before"], game["opponent_rating"], game["opponent_rating_now"]
            [opposite] = [each for each in rule.rows[row["opponent"]] if each["game"] == row["game"]]
            assert theirs == (rule.in_force_before(opposite), rule.after_game(opposite), rule.now(row["opponent"])[1])
            explained = as_row(explanations.explain(ledger, person, game["game"]))
            assert explained["after"] == game["rating"]
            assert explained["before"] in {None, row["rating_before"]}
            if explained["rated_with"] == "this game" and game["rating_before"] is not None:
                assert explained["before"] == game["rating_before"]


def check_now(ledger: Ledger, rule: Rule) -> None:
    ranking = as_rows(ledger.ranking(rule.pool.name, limit=1000))
    now = {player: rule.now(player) for player in range(1, PLAYERS + 1)}
    latest = max([TODAY, *(row["ended_ms"] for rows in rule.rows.values() for row in rows)])
    members = [player for player in rule.members if not rule.is_closed(player, latest)]
    shown = {player: now[player][1] for player in members if now[player][1] is not None}
    assert {row["player"]: row["rating"] for row in ranking} == {
        player: rating for player, rating in shown.items() if player in rule.rows
    }
    everybody = as_rows(ledger.ranking(rule.pool.name, limit=1000, min_games=0))
    assert {row["player"]: row["rating"] for row in everybody} == shown
    points = {player: rating or 0 for player, rating in shown.items()}
    assert [(row["rank"], row["player"]) for row in everybody] == [  # equals share a place
        (1 + sum(other > points[player] for other in points.values()), player)
        for player in sorted(points, key=lambda player: (-points[player], player))
    ]
    assert as_rows(ledger.ranking(rule.pool.name, limit=2, min_games=0)) == everybody[:2]
    places = {row["player"]: row["rank"] for row in everybody}  # a place is the one among all who have a rating
    for player in rule.members:
        until = rule.predicted_on(player) or TODAY
        summary = as_row(players.summary(ledger, ledger.player(str(player)), rule.pool.name))
        assert (summary["rating_now"], summary["rank"]) == (now[player][1], places.get(player))
        in_force = rule.at(player, until)[1] if player in rule.rows else now[player][1]
        assert summary.get("rating_in_force", in_force) == in_force
        assert ("rating_in_force" in summary) is any(era.scheme.rhythm is not Rhythm.GAME for era in rule.pool.eras)
        if player in rule.rows:
            assert (summary["hera"], summary["hera_date"]) == rule.highest(player, until)
        assert (summary["rated_players"], summary["games"]) == (len(everybody), len(rule.rows.get(player, ())))
        on_that_day = as_row(players.summary(ledger, ledger.player(str(player)), rule.pool.name, summary["then"]))
        assert on_that_day == summary
        drawn = [
            point["rating"]
            for point in as_rows(player_games.graph_points(ledger, ledger.player(str(player)), rule.pool.name))
        ]
        assert drawn == [rule.after_game(row) for row in rule.rows.get(player, ())]
        rated = [rating for rating in drawn if rating is not None]
        assert summary["mean_rating"] == (pytest.approx(sum(rated) / len(rated)) if rated else None)
    for player in range(1, PLAYERS + 1):
        other = ledger.player(str(player % PLAYERS + 1))
        told = as_row(predictions.predict(ledger, ledger.player(str(player)), other, rule.pool.name))
        as_of = rule.predicted_on(player, other.player)
        assert (told["rating"], told["opponent_rating"]) == tuple(
            rule.at(who, as_of or TODAY)[0] for who in (player, other.player)
        )
        assert told["as_of"] == day(as_of or TODAY)
        if as_of is not None:
            assert told == as_row(
                predictions.predict(ledger, ledger.player(str(player)), other, rule.pool.name, day(as_of))
            )


def check_the_pools(ledger: Ledger, days: list[str]) -> None:
    for name in POOLS:
        rule = Rule(ledger, ledger.pool(name))
        for at in days:
            check_an_instant(ledger, rule, at)
        check_games(ledger, rule)
        check_now(ledger, rule)
        for player in {*range(1, PLAYERS + 1)} - rule.members:
            with pytest.raises(UnknownNameError):
                as_row(players.summary(ledger, ledger.player(str(player)), name))


def check_every_door(club: list[Event], days: list[str]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "club.db"
        Ledger.create(path, pool="unused", clock=lambda: NOW).close()
        with takes_misfits(Ledger.open(path, projectors=(), clock=lambda: NOW)) as ledger:
            for stage in ([event for event in club if not isinstance(event, GameRecorded)], club):  # nobody has played
                ledger.append_many(stage)
                ledger.catch_up()
                check_the_pools(ledger, days)


@pytest.mark.parametrize(
    "rated_by",
    few_quick([*CHESSWORLD, *OTHERS], "chessworld", "glicko2", "fide", name=lambda pair: "-".join([pair[0], *pair[1]])),
)
def test_every_door_gives_the_same_answer(rated_by: Any) -> None:
    first = st.sampled_from(at_true_places([rated_by]))

    @examples(quick=2, ci=2, nightly=100)
    @given(
        mixed_clubs(first, every_scheme()),
        st.lists(st.sampled_from(DAYS), min_size=2, max_size=3),
    )
    def agree(club: list[Event], days: list[str]) -> None:
        check_every_door(club, days)

    agree()


@examples(quick=3, ci=8, nightly=400)
@given(clubs_of_a_winter(), st.lists(st.sampled_from(DAYS_OF_A_WINTER), min_size=2, max_size=3))
def test_every_door_gives_the_same_answer_where_tournaments_are_rated_whole(club: list[Event], days: list[str]) -> None:
    check_every_door(club, days)
