"""A pool whose scheme changes from a date: what is kept, what is rated again, which system a number belongs to."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from ledger.answers import player_games, players, pools
from ledger.answers.rows import as_row, as_rows
from ledger.audit.audit import audit
from ledger.facts.events import ConversionRange, RatingRunClosed, SchemeAdopted, TournamentClosed
from ledger.facts.instants import instant_ms
from ledger.facts.words import Carry
from ledger.imports.csv import games as csv_games
from ledger.imports.files import open_source
from ledger.imports.pgn import games as pgn
from ledger.imports.reading import batch_games
from ledger.ledger import Ledger
from ledger.ratings.projection import PoolProjection, RatedAgain
from ledger.schemes import find_scheme
from ledger.schemes.scheme import Newcomer
from ledger.testing import rows_by_facts
from tests.kit.games import scheme_adopted
from tests.kit.lived_histories import tables_that_differ
from tests.kit.places import OTB, SAMPLE
from tests.kit.source_files import open_lines
from tests.tiers import in_tiers, times

NOW = datetime(2026, 11, 21, tzinfo=UTC)
CHANGE = "2006-01-01"


def taken(path: Path, scheme: str, *later: Any, before: bool = False) -> Ledger:
    """A ledger of the sample club; the later facts come before the games or after them."""
    ledger = Ledger.create(path, scheme=scheme, clock=lambda: NOW)
    if before:
        ledger.append_many(later)
    with open_lines(str(SAMPLE)) as (lines, reading):
        ledger.import_games(batch_games(pgn.read_games(lines, reading), 500))
    ledger.catch_up()
    if not before:
        for one in later:
            ledger.append(one)
            ledger.catch_up()
    return ledger


def adopted_since(
    scheme: str, carry: Carry | None = None, *ranges: ConversionRange, since: str = CHANGE
) -> SchemeAdopted:
    return scheme_adopted(scheme, effective_from=since, carry=carry, conversion=ranges or None)


@pytest.fixture(name="sample_ledger")
def _sample_ledger(tmp_path: Path) -> Iterator[Callable[..., Ledger]]:
    opened: list[Ledger] = []

    def make(*arguments: Any, **words: Any) -> Ledger:
        opened.append(taken(tmp_path / f"{len(opened)}.db", *arguments, **words))
        return opened[-1]

    yield make
    for ledger in opened:
        ledger.close()


def rows_of(ledger: Ledger, player: str) -> list[dict[str, Any]]:
    return list(ledger.rows("history", "player = ? ORDER BY n", (ledger.player(player).player,)))


def tier_of_change(case: str) -> str:
    """Return the tier of a scheme with a carry: each carry runs with a scheme by game and one by tournament."""
    carry, scheme = case.split("-")
    if case == "keep-chessworld":
        return "quick"
    return "slow" if scheme in {"chessworld", "uschess"} or carry == "keep" else "nightly"


@pytest.mark.parametrize(
    "case",
    in_tiers(
        [f"{carry}-{scheme}" for carry in (None, *Carry) for scheme in ("chessworld", "glicko2", "uschess", "lichess")],
        tier_of_change,
    ),
)
def test_a_scheme_adopted_late_gives_the_rows_of_one_adopted_early(
    sample_ledger: Callable[..., Ledger], case: str
) -> None:
    word, scheme = case.split("-")
    carry = None if word == "None" else Carry(word)
    ranges = [ConversionRange(factor="1.05", offset="-20")] if carry is Carry.CONVERT else []
    event = adopted_since(scheme, carry, *ranges)
    late, early = sample_ledger("elo", event), sample_ledger("elo", event, before=True)
    assert rows_by_facts(late.views.connection) == rows_by_facts(early.views.connection)


@pytest.mark.slow
def test_only_games_from_the_date_on_are_rated_again(
    sample_ledger: Callable[..., Ledger], monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = sample_ledger("elo")
    before = list(ledger.rows("history", "ended_ms < ?", (instant_ms(CHANGE),)))
    rated: list[int] = []
    whole = PoolProjection.update

    def counting(*arguments: Any) -> RatedAgain:
        again = whole(*arguments)
        rated.append(again.games)
        return again

    monkeypatch.setattr(PoolProjection, "update", counting)
    ledger.append(adopted_since("chessworld"))
    ledger.catch_up()
    assert rated == [sum(1 for _ in ledger.rows("games", "reason IS NULL AND ended_ms >= ?", (instant_ms(CHANGE),)))]
    now = ledger.rows("history", "ended_ms < ?", (instant_ms(CHANGE),))
    assert [{name: row[name] for name in before[0]} for row in now] == before


@pytest.mark.slow
def test_who_keeps_the_rating_goes_on_from_it_and_goes_on_counting(sample_ledger: Callable[..., Ledger]) -> None:
    ledger = sample_ledger("elo", adopted_since("chessworld", Carry.KEEP))
    rows = rows_of(ledger, "ann")
    first = next(i for i, row in enumerate(rows) if row["ended_ms"] >= instant_ms(CHANGE))
    assert rows[first]["games"] == first + 1
    assert abs(rows[first]["rating"] - rows[first - 1]["rating"]) <= 32.0


def test_who_begins_anew_begins_as_a_newcomer_of_the_new_scheme(sample_ledger: Callable[..., Ledger]) -> None:
    ledger = sample_ledger("elo", adopted_since("chessworld", Carry.RESTART))
    rows = rows_of(ledger, "ann")
    first = next(row for row in rows if row["ended_ms"] >= instant_ms(CHANGE))
    assert first["games"] == 1.0
    assert first["n"] > 1


@pytest.mark.slow
def test_a_converted_rating_follows_the_map_of_its_range(sample_ledger: Callable[..., Ledger]) -> None:
    low = ConversionRange(factor="0.5", offset="700")
    ranges = (low, ConversionRange(from_rating="1500", factor="2", offset="-1500"))
    plain, ledger = sample_ledger("elo"), sample_ledger("elo", adopted_since("nothingbutchess", Carry.CONVERT, *ranges))
    ms, checked = instant_ms(CHANGE), 0
    pool = ledger.pool()
    for person in ledger.people.by_number(range(1, 17)).values():
        rows = [row for row in plain.rows("history", "player = ? ORDER BY n", (person.player,)) if row["ended_ms"] < ms]
        if rows:
            old = rows[-1]["rating"]
            expected = 2 * old - 1500 if old >= 1500 else 0.5 * old + 700
            assert pool.eras[1].converted(old) == pytest.approx(expected, abs=1e-9)
            newcomer = Newcomer(None, None, ms / 86_400_000)
            numbers = pool.eras[1].numbers
            state = find_scheme("nothingbutchess").carried(expected, len(rows), newcomer, numbers)
            checked += state[0] == round(expected) or state[0] == expected
    assert checked


def test_a_hera_and_a_graph_say_which_system_they_belong_to(sample_ledger: Callable[..., Ledger]) -> None:
    ledger = sample_ledger("elo", adopted_since("chessworld", Carry.RESTART))
    told = {row["scheme"] for row in as_rows(player_games.graph_points(ledger, ledger.player("emma")))}
    assert told == {"elo", "chessworld"}
    for person in ledger.people.by_number(range(1, 17)).values():
        summary = as_row(players.summary(ledger, person))
        if summary["hera"] is not None:
            assert summary["hera_scheme"] == ("elo" if summary["hera_date"] < CHANGE else "chessworld")


@pytest.mark.slow
def test_who_has_not_played_since_a_restart_is_not_ranked_with_the_others(sample_ledger: Callable[..., Ledger]) -> None:
    since = "2006-09-05"
    ledger = sample_ledger("elo", adopted_since("chessworld", Carry.RESTART, since=since))
    played = {row["player"] for row in ledger.rows("current", "ended_ms >= ?", (instant_ms(since),))}
    assert 0 < len(played) < 16
    assert {row["player"] for row in as_rows(ledger.ranking())} == played
    absent = next(one for one in ledger.people.by_number(range(1, 17)).values() if one.player not in played)
    assert as_row(players.summary(ledger, absent))["rank"] is None


@pytest.mark.slow
def test_who_has_not_played_since_a_conversion_is_ranked_with_the_converted_rating(
    sample_ledger: Callable[..., Ledger],
) -> None:
    since = "2006-09-05"
    half = ConversionRange(factor="0.5", offset="700")
    plain, ledger = sample_ledger("elo"), sample_ledger("elo", adopted_since("elo", Carry.CONVERT, half, since=since))
    played = {row["player"] for row in ledger.rows("current", "ended_ms >= ?", (instant_ms(since),))}
    before = {row["player"]: row["rating"] for row in as_rows(plain.ranking())}
    ranked = {row["player"]: row for row in as_rows(ledger.ranking())}
    assert len(ranked) == 16 > len(played) > 0
    for player in set(ranked) - played:
        assert ranked[player]["rating"] == pytest.approx(before[player] / 2 + 700, abs=0.02)
        summary = as_row(players.summary(ledger, ledger.player(str(player))))
        assert (summary["rating_now"], summary["rank"]) == (ranked[player]["rating"], ranked[player]["rank"])
    assert [row["rating"] for row in ranked.values()] == sorted((r["rating"] for r in ranked.values()), reverse=True)


@pytest.mark.slow
def test_a_scheme_that_is_adopted_for_later_rates_nobody_yet(sample_ledger: Callable[..., Ledger]) -> None:
    plain, ledger = (
        sample_ledger("elo"),
        sample_ledger("elo", adopted_since("glicko2", Carry.RESTART, since="2030-01-01")),
    )
    assert as_rows(ledger.ranking()) == as_rows(plain.ranking())
    assert as_rows(pools.pools(ledger))[0]["scheme"] == "elo"
    assert [era["scheme"] for era in as_rows(pools.scheme_periods(ledger))] == ["elo", "glicko2"]


@pytest.mark.slow
def test_runs_and_tournaments_closed_late_or_early_give_the_same_rows(sample_ledger: Callable[..., Ledger]) -> None:
    facts = (
        SchemeAdopted(pool="standard", scheme="glicko", settings={"by_runs": True}, effective_from="2005"),
        adopted_since("uschess", Carry.KEEP),
        RatingRunClosed(pool="standard", as_of="2005-06-30"),
        RatingRunClosed(pool="standard", as_of="2005-03"),
        TournamentClosed(pool="standard", tournament="Club evening", ended_at="2006-09-30"),
    )
    late, early = sample_ledger("elo", *facts), sample_ledger("elo", *facts, before=True)
    assert rows_by_facts(late.views.connection) == rows_by_facts(early.views.connection)


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.skipif(not OTB.exists(), reason="the folder of real games does not stand beside the checkout")
def test_real_games_by_elo_to_2005_and_chessworld_from_2006_are_what_a_rebuild_gives(tmp_path: Path) -> None:
    """Of one game in sixty; every night of a million."""
    step = times(quick=60, ci=60, nightly=1)
    Ledger.create(tmp_path / "otb.db", scheme="elo", clock=lambda: NOW).close()
    with Ledger.open(tmp_path / "otb.db", projectors=(), clock=lambda: NOW) as ledger:
        with open_source(str(OTB)) as source:
            ledger.import_games(islice(csv_games.read_frames(source.chunks(), source.reading), 0, None, step))
        ledger.catch_up()
        ledger.append(adopted_since("chessworld", Carry.KEEP))
        ledger.catch_up()
        assert sum(1 for _ in ledger.views.connection.execute("SELECT DISTINCT scheme FROM eras")) == 2
        ledger.views.connection.execute("VACUUM INTO ?", (str(tmp_path / "adopted-late.db"),))
        ledger.rebuild()
        assert tables_that_differ(ledger.views.connection, tmp_path / "adopted-late.db") == []
        ledger.views.connection.execute("ATTACH ? AS late", (str(tmp_path / "adopted-late.db"),))
        ledger.views.connection.execute("UPDATE late.current SET rating = rating + 25 WHERE player = 7")
        ledger.views.connection.execute("DETACH late")
        assert tables_that_differ(ledger.views.connection, tmp_path / "adopted-late.db") == ["current", "distribution"]


@pytest.mark.slow
@pytest.mark.parametrize("pool", ["standard", "rapid"], ids=["the same pool", "a new pool"])
def test_views_that_stand_have_the_index_of_a_build_once_a_scheme_rates_tournaments_whole(
    pool: str, tmp_path: Path
) -> None:
    since = CHANGE if pool == "standard" else None
    with taken(tmp_path / "c.db", "elo") as ledger:
        ledger.append(scheme_adopted("fide", pool=pool, effective_from=since))
        ledger.catch_up()
    assert audit(tmp_path / "c.db").falsehoods == ()
