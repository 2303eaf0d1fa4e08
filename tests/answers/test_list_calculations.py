"""The calculation of a rating on a list: FIDE's published pages, first ratings, limits, other schemes, what differs."""

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ledger.answers.calculation_page import as_html, as_text, calculation_page, spreadsheet_rows
from ledger.answers.list_calculations import ListCalculation
from ledger.errors import MalformedError, UnknownNameError
from ledger.facts.events import RatingSeeded
from ledger.ledger import Ledger
from tests.kit.corrections import approve, ask
from tests.kit.games import game_recorded
from tests.kit.small_schemes import BY_PERIOD, install

NOW = datetime(2026, 12, 31, tzinfo=UTC)
RESULTS = {1: "white", 0.5: "draw", 0: "black"}
Games = Sequence[tuple[float | None, float]]  # rating of the opponent (None: unrated) and score
Tournament = tuple[str, Games]  # first day, games
Calculated = Callable[..., ListCalculation]


@pytest.fixture(name="ledger_of")
def _ledger_of(tmp_path: Path) -> Iterator[Callable[..., Ledger]]:
    """A maker of ledgers in which player 1 meets opponents with ratings of a list, a player for each game."""
    made: list[Ledger] = []

    def make(
        scheme: str, own: dict[str, Any] | None, *tournaments: Tournament, settings: dict[str, Any] | None = None
    ) -> Ledger:
        path = tmp_path / f"club{len(made)}.db"
        ledger = Ledger.create(path, pool="standard", scheme=scheme, settings=settings, clock=lambda: NOW)
        made.append(ledger)
        ledger.register("name:own", "Own")
        facts: list[Any] = [] if own is None else [RatingSeeded(player=1, pool="standard", **own)]
        number = 1
        for t, (first, games) in enumerate(tournaments, 1):
            for g, (rating, score) in enumerate(games):
                number += 1
                ledger.register(f"name:o{number}", f"Opponent {number}")
                if rating is not None:
                    facts.append(RatingSeeded(player=number, pool="standard", rating=f"{rating:g}", games=100))
                facts.append(
                    game_recorded(
                        f"t{t}-{g + 1}",
                        white=1,
                        black=number,
                        outcome=RESULTS[score],
                        ended_at=f"{date.fromisoformat(first) + timedelta(days=g)}",
                        tournament=f"Open {t}",
                        half_moves=60,
                    )
                )
        ledger.append_many(facts)
        ledger.ensure_up_to_date()
        return ledger

    yield make
    for ledger in made:
        ledger.close()


# Calculations that FIDE published (RULES 1.4): rating, K of the list, tournaments, list, by tournament the sums of
# W - We and of K·(W - We), and the rating after. Of an opponent printed as "1995 *" the true rating is not known.
PUBLISHED: list[tuple[int, int, list[Tournament], str, list[tuple[float, float]], int]] = [
    (
        2395, 10, [("2025-10-31", [(1954, 1), (2205, 0.5), (2325, 0), (1954, 1), (1954, 1)])], "2025-11",
        [(-0.61, -6.1)], 2389,
    ),
    (
        2505, 10, [("2025-11-07", [(2090, 1), (2090, 1), (2237, 0.5), (2134, 1), (2813, 0.5)])], "2025-11",
        [(0.29, 2.9)], 2508,
    ),
    # rounded once for both: 0.60; rounded one by one they would give 0
    (
        1617, 20,
        [
            ("2025-09-02", [(1651, 0), (1525, 1)]),
            ("2025-09-10", [(2017, 0), (1451, 1), (1854, 0), (1800, 0.5), (1935, 0)]),
        ],
        "2025-09", [(-0.08, -1.6), (0.11, 2.2)], 1618,
    ),
    # 39 games: K 20 falls to 17; the sums of the last three were published, and 92.48 of all
    (
        2054, 20,
        [
            (
                "2026-09-01",
                [(2406, 0), (1908, 1), (2220, 1), (2216, 0), (2204, 0.5), (2189, 1), (2223, 0), (2221, 0.5)],
            ),
            (
                "2026-09-02",
                [(2350, 0), (1928, 0), (2085, 1), (1993, 1), (1931, 1), (2055, 0.5), (2470, 0.5), (1861, 1)],
            ),
            ("2026-09-03", [(2217, 1), (1743, 1), (1947, 1), (2266, 0.5), (2189, 0.5), (2186, 1)]),
            (
                "2026-09-04",
                [(1640, 1), (2283, 0), (1822, 1), (2251, 0), (1884, 1), (2215, 0.5), (2210, 0.5), (1872, 1)],
            ),
            (
                "2026-09-05",
                [(1640, 1), (2247, 1), (2308, 0), (2168, 0), (1810, 0), (1747, 1), (1852, 1), (1875, 0.5), (1640, 1)],
            ),
        ],
        "2026-09", [(2.34, 39.78), (0.79, 13.43), (-0.27, -4.59)], 2146,
    ),
]  # fmt: skip


@pytest.mark.parametrize(("own", "k", "tournaments", "listed", "sums", "after"), PUBLISHED)
def test_the_calculations_that_fide_published_come_out_line_by_line(
    own: int,
    k: int,
    tournaments: list[Tournament],
    listed: str,
    sums: list[tuple[float, float]],
    after: int,
    ledger_of: Callable[..., Ledger],
) -> None:
    ledger = ledger_of("fide", {"rating": f"{own}", "games": 100, "k_factor": f"{k}"}, *tournaments)
    calculation = ledger.player(1).calculation(listed)
    (batch,) = calculation.batches
    assert [each.own_rating for each in batch.tournaments] == [own] * len(tournaments)
    assert [(each.gain, each.change) for each in batch.tournaments][-len(sums) :] == sums
    for each in batch.tournaments:
        assert each.change == pytest.approx(sum(line.change or 0.0 for line in each.lines), abs=1e-9)
        assert all(line.expected == round(line.expected or 0.0, 2) for line in each.lines)
        for line in each.lines:
            limited = abs(own - line.opponent_rating) > 400
            assert line.limit == ("400-point rule" if limited else None)
            assert abs(line.difference or 0.0) == min(abs(own - line.opponent_rating), 400)
    assert (calculation.rating_before, calculation.rating, calculation.change) == (own, after, after - own)
    assert (calculation.adds_up, calculation.differences, calculation.otherwise, calculation.left_out) == (
        True,
        [],
        0.0,
        [],
    )
    text = as_text(calculation_page(calculation))
    for gain, change in sums:
        assert f" {gain:.2f} " in text
        assert f"{change:g}" in text


def test_a_limited_opponent_has_an_asterisk_and_counts_as_400_points_away(ledger_of: Callable[..., Ledger]) -> None:
    games = [(1954, 1), (2205, 0.5)]
    ledger = ledger_of("fide", {"rating": "2395", "games": 100, "k_factor": "10"}, ("2025-10-31", games))
    text = as_text(calculation_page(ledger.player(1).calculation("2025-11")))
    first = next(line for line in text.splitlines() if "Opponent 2" in line)
    assert first.split()[-7:] == ["*", "1", "0.92", "0.08", "0.8", "400-point", "rule"]
    assert " 1995 * " in first


def test_one_upgrade_caps_the_widest_game_alone_and_2650_none(ledger_of: Callable[..., Ledger]) -> None:
    games = [(1500, 1), (1450, 1), (1550, 1)]
    ledger = ledger_of("fide", {"rating": "2000", "games": 100}, ("2023-05-05", games))
    calculation = ledger.player(1).calculation("2023-05")
    lines = calculation.batches[0].tournaments[0].lines
    assert [(line.difference, line.expected, line.limit) for line in lines] == [
        (500, 0.96, None), (400, 0.92, "400-point rule"), (450, 0.94, None),
    ]  # fmt: skip
    assert calculation.adds_up is True
    ledger = ledger_of("fide", {"rating": "2700", "games": 100}, ("2025-11-05", [(2150, 1)]))
    (line,) = ledger.player(1).calculation("2025-11").batches[0].tournaments[0].lines
    assert (line.difference, line.expected, line.limit) == (550, 0.97, None)
    (line,) = ledger.player(2).calculation("2025-11").batches[0].tournaments[0].lines
    assert (line.difference, line.expected, line.limit) == (-400, 0.08, "400-point rule")


def test_an_initial_rating_has_the_pool_the_hypothetical_draws_and_the_cap(ledger_of: Callable[..., Ledger]) -> None:
    first = ("2025-08-01", [(1700, 0), (None, 1)])
    second = ("2025-09-01", [(1900, 1), (2000, 0.5), (1850, 0)])
    third = ("2025-10-01", [(2100, 1), (2000, 1)])
    ledger = ledger_of("fide", None, first, second, third)
    august = ledger.player(1).calculation("2025-08")
    assert [(game.game, game.reason) for game in august.left_out] == [
        ("t1-1", "no point in a first tournament"), ("t1-2", "unrated opponent"),
    ]  # fmt: skip
    assert (august.rating, august.adds_up) == (None, True)
    october = ledger.player(1).calculation("2025-10")
    (batch,) = october.batches
    assert [(each.symbol, each.brought, each.games, each.total) for each in batch.sums] == [
        ("n", 3, 2, 5), ("W", 1.5, 2, 3.5), ("S", 5750, 4100, 9850),
    ]  # fmt: skip
    # (9850 + 3600) / 7 = 1921.43; (3.5 + 1) / 7 = 64 %: dp 102
    assert {term.symbol: term.value for term in batch.terms} == {"n": 5, "W": 3.5, "S": 9850, "H": 1800, "dp": 102}
    assert (october.rating_before, october.rating, october.adds_up) == (None, 2023, True)
    ledger = ledger_of("fide", None, ("2025-08-01", [(2500, 1)] * 5))
    calculation = ledger.player(1).calculation("2025-08")
    assert (calculation.rating, calculation.batches[0].limited, calculation.adds_up) == (2200, "at most 2200", True)


def test_rapid_games_600_points_apart_are_left_out_above_2600(ledger_of: Callable[..., Ledger]) -> None:
    own = {"rating": "2700", "games": 100}
    ledger = ledger_of("fide", own, ("2025-11-01", [(2000, 1), (2300, 1)]), settings={"rapid": True})
    calculation = ledger.player(1).calculation("2025-11")
    assert [game.reason for game in calculation.left_out] == ["a difference of 600 or more, one player above 2600"]
    assert calculation.batches[0].tournaments[0].games == 1
    assert calculation.adds_up is True


def test_games_left_out_have_their_reasons_also_voided_ones_and_forfeits(ledger_of: Callable[..., Ledger]) -> None:
    games = [(1900, 1), (None, 1), (2000, 0), (2050, 1)]
    ledger = ledger_of("fide", {"rating": "2000", "games": 100}, ("2025-09-05", games))
    ledger.append(
        game_recorded("bye", white=1, black=2, ended_at="2025-09-06", termination="unplayed", outcome="white")
    )
    approve(ledger, ask(ledger, "void", game="t1-4"))
    ledger.ensure_up_to_date()
    calculation = ledger.player(1).calculation("2025-09")
    assert {game.game: (game.reason, game.voided_by) for game in calculation.left_out} == {
        "t1-2": ("unrated opponent", None), "t1-4": ("voided", 1), "bye": ("unplayed", None),
    }  # fmt: skip
    assert [line.game for line in calculation.batches[0].tournaments[0].lines] == ["t1-1", "t1-3"]
    assert "voided by proposal 1" in as_text(calculation_page(calculation))
    rows = spreadsheet_rows(calculation)
    assert [row["part"] for row in rows] == ["game"] * 2 + ["left out"] * 3
    assert len({tuple(row) for row in rows}) == 1


def test_a_section_of_us_chess_has_its_five_steps(tmp_path: Path) -> None:
    """The whole event that US Chess published (RULES 2): ratings before and after to the hundredth."""
    before = [("554.22", 100), ("445.28", 24), ("124", 100), ("572.53", 100), ("174.54", 18), ("202.66", 19)]
    after = [656.85, 500.21, 133.82, 514.33, 188.04, 148.72]
    games = [(1, 4, 1), (1, 2, 1), (1, 6, 1), (2, 5, 1), (2, 4, 1), (3, 6, 1), (3, 5, 0), (4, 5, 1)]
    with Ledger.create(
        tmp_path / "c.db", pool="standard", scheme="uschess", settings={"dual_rated": True}, clock=lambda: NOW
    ) as ledger:
        for number, (rating, played) in enumerate(before, 1):
            ledger.register(f"name:{number}", f"Player {number}")
            ledger.append(RatingSeeded(player=number, pool="standard", rating=rating, games=played))
        ledger.append_many(
            game_recorded(
                f"g{n}", white=white, black=black, outcome=RESULTS[score], ended_at="2026-05-27", tournament="Section"
            )
            for n, (white, black, score) in enumerate(games)
        )
        ledger.ensure_up_to_date()
        for number, expected in enumerate(after, 1):
            calculation = ledger.player(number).calculation("2026-05")
            (batch,) = calculation.batches
            assert calculation.rating == pytest.approx(expected, abs=0.005)
            assert [step.symbol for step in batch.steps] == ["1", "2", "3", "4", "5"]
            assert (calculation.adds_up, calculation.differences) == (True, [])
        lines = ledger.player(1).calculation("2026-05").batches[0].tournaments[0].lines
        assert all("step 1" in (line.words or "") for line in lines)
        fourth = {line.opponent: line.opponent_rating for line in lines}
        by_step = {n: ledger.player(n).calculation("2026-05").batches[0].steps[3].value for n in (2, 4, 6)}
        assert fourth == {f"Player {n}": rating for n, rating in by_step.items()}


@pytest.mark.parametrize(("scheme", "after"), [("glicko", 1464.1), ("glicko2", 1464.05)])
def test_the_worked_example_of_glickman_has_a_line_for_each_opponent(scheme: str, after: float, tmp_path: Path) -> None:
    settings = {"c": 0} if scheme == "glicko" else {}  # the example begins after step 1
    with Ledger.create(
        tmp_path / "c.db", pool="standard", scheme=scheme, settings=settings, clock=lambda: NOW
    ) as ledger:
        seeds = [("1500", "200"), ("1400", "30"), ("1550", "100"), ("1700", "300")]
        for number, (rating, deviation) in enumerate(seeds, 1):
            ledger.register(f"name:{number}", f"Player {number}")
            ledger.append(RatingSeeded(player=number, pool="standard", rating=rating, deviation=deviation))
        ledger.append_many(
            game_recorded(f"g{number}", white=1, black=number, outcome=outcome, ended_at="2026-05-27")
            for number, outcome in ((2, "white"), (3, "black"), (4, "black"))
        )
        ledger.ensure_up_to_date()
        calculation = ledger.player(1).calculation("2026-05")
    (batch,) = calculation.batches
    lines = batch.tournaments[0].lines
    assert calculation.rating == pytest.approx(after, abs=0.1)
    # g and E of the paper: 0.9955, 0.9531, 0.7242 and 0.639, 0.432, 0.303
    assert [line.words for line in lines] == [
        "RD 30.0, g 0.9955", "RD 100.0, g 0.9531", "RD 300.0, g 0.7242",
    ]  # fmt: skip
    assert [round(line.expected or 0.0, 3) for line in lines] == [0.639, 0.432, 0.303]
    assert sum(line.change or 0.0 for line in lines) == pytest.approx((calculation.rating or 0.0) - 1500)
    assert calculation.adds_up is True


def test_a_grade_of_the_ecf_has_the_game_points_and_the_40_point_rule(ledger_of: Callable[..., Ledger]) -> None:
    """190 + 155 + 70 + 230 + 150 = 795, over 5 games: 159 (RULES 4.1)."""
    games = [(140, 1), (155, 0.5), (120, 0), (190, 1), (90, 1)]
    ledger = ledger_of("ecf-grade", {"rating": "140", "games": 0}, ("2018-09-01", games))
    calculation = ledger.player(1).calculation("2019-05")
    lines = calculation.batches[0].tournaments[0].lines
    assert [(line.worth, line.limit) for line in lines] == [
        (190, None), (155, None), (70, None), (230, "40-point rule"), (150, "40-point rule"),
    ]  # fmt: skip
    assert [(each.symbol, each.games, each.total) for each in calculation.batches[0].sums] == [
        ("m", 5, 5), ("W", 3.5, 3.5), ("p", 795, 795),
    ]  # fmt: skip
    assert calculation.batches[0].unrounded == 159  # not listed before 10 games
    assert calculation.adds_up is True


def test_a_month_of_the_ecf_weighs_partial_ratings_by_half(ledger_of: Callable[..., Ledger]) -> None:
    """20·(1 - .50) = 10, and half of 20·(0 - .50) against a partial rating of the same strength."""
    ledger = ledger_of("ecf-monthly", {"rating": "1800", "games": 50}, ("2024-09-01", [(1800, 1), (None, 0)]))
    calculation = ledger.player(1).calculation("2024-09")
    full, partial = calculation.batches[0].tournaments[0].lines
    assert (full.weight, full.factor, full.change) == (1, 20, 10)
    assert (partial.weight, partial.words) == (0.5, "against a partial rating")
    assert partial.change == pytest.approx(0.5 * 20 * (partial.gain or 0))
    assert calculation.adds_up is True
    first = ledger.player(3).calculation("2024-09")
    # (1800 + 1450) / 2 for a win and a fictional draw of 1450
    assert [(each.symbol, each.total) for each in first.batches[0].sums] == [("n", 1), ("W", 1), ("S", 1800)]
    assert (first.batches[0].before, first.adds_up) == (None, True)


def test_a_scheme_without_lines_has_its_games_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, BY_PERIOD)
    with Ledger.create(tmp_path / "c.db", pool="standard", scheme=BY_PERIOD.name, clock=lambda: NOW) as ledger:
        for name in ("Ann", "Bob"):
            ledger.register(f"name:{name}", name)
        ledger.append_many(game_recorded(f"g{day}", ended_at=f"2026-05-{day}") for day in (11, 12, 13))
        calculation = ledger.player("Ann").calculation("2026-05")
    (batch,) = calculation.batches
    assert [line.game for each in batch.tournaments for line in each.lines] == ["g11", "g12", "g13"]
    assert (batch.adds_up, calculation.adds_up, calculation.differences) == (None, None, [])
    assert "does not say what each game adds" in as_text(calculation_page(calculation))


def test_games_of_a_scheme_by_game_share_a_table_with_the_terms_of_the_formula(three_games: Ledger) -> None:
    calculation = three_games.player("Ann").calculation("2026-11")
    assert [batch.rated_with for batch in calculation.batches] == ["this game"] * 3
    assert (calculation.adds_up, calculation.otherwise) == (True, 0.0)
    text = as_text(calculation_page(calculation))
    assert "games rated one by one by chessworld: 3" in text
    assert text.count("2026-11-") >= 3
    one = three_games.player("Ann").calculation("2026-11-10")
    assert [line.game for line in one.batches[0].tournaments[0].lines] == ["g2"]


def test_a_published_list_counts_from_the_list_before_and_says_if_it_is_revised(three_games: Ledger) -> None:
    first = three_games.publications.publish("2026-11-05").publication
    second = three_games.publications.publish("2026-11-12").publication
    ann = three_games.player("Ann")
    calculation = ann.calculation(second.name)
    assert (calculation.list_, calculation.since, calculation.adds_up) == (second.name, "2026-11-05", True)
    assert [line.game for batch in calculation.batches for each in batch.tournaments for line in each.lines] == ["g2"]
    assert (calculation.rating_before, calculation.rating) == (
        ann.calculation(first.name).rating,
        calculation.published,
    )
    assert ann.explain("g2").list_ == second.name
    assert ann.explain("g3").list_ == "2026-11-15"
    approve(three_games, ask(three_games, "void", game="g2"))
    three_games.ensure_up_to_date()
    revised = ann.calculation(second.name)
    assert (revised.adds_up, revised.published) == (True, calculation.published)
    (words,) = revised.differences
    assert f"the list has {calculation.published:g}" in words
    assert f"--known-at {second.name}" in words
    assert f"corrected since the list was published: {words}" in as_text(calculation_page(revised))


def test_a_stored_rating_that_the_games_do_not_give_is_reported(ledger_of: Callable[..., Ledger]) -> None:
    ledger = ledger_of("fide", {"rating": "2000", "games": 100}, ("2025-09-05", [(1900, 1), (2000, 0)]))
    with ledger.views.connection as connection:
        connection.execute("UPDATE history SET rating = rating + 1 WHERE player = 1")
    calculation = ledger.player(1).calculation("2025-09")
    assert calculation.adds_up is False
    assert "2025-09-30: the rating after is stored as 1998.0, calculated as 1997.0" in calculation.differences
    assert "it does not add up:" in as_text(calculation_page(calculation))


def test_a_list_or_player_that_is_not_there_is_refused_with_what_to_do(three_games: Ledger) -> None:
    ann = three_games.player("Ann")
    with pytest.raises(MalformedError, match="give a published list as 'lists' names it, or a day, month or year"):
        ann.calculation("last")
    with pytest.raises(UnknownNameError, match="none is published yet"):
        ann.calculation("standard@2026-11-05")
    with pytest.raises(UnknownNameError, match="neither a rating on it nor a game"):
        three_games.player("Dan").calculation("2026-11")
    three_games.publications.publish("2026-11-05")
    with pytest.raises(MalformedError, match="is no list of pool 'blitz'"):
        ann.calculation("standard@2026-11-05", "blitz")


def test_names_are_harmless_in_text_and_html(tmp_path: Path) -> None:
    with Ledger.create(tmp_path / "c.db", pool="standard", scheme="elo", clock=lambda: NOW) as ledger:
        ledger.register("name:a", "<b>Ann")
        ledger.register("name:b", "Bob\u202eeve")
        ledger.append(game_recorded("g1", ended_at="2026-05-27", tournament="A & B"))
        page = calculation_page(ledger.player(1).calculation("2026-05"))
    html = as_html(page)
    assert "&lt;b&gt;Ann" in html
    assert "<b>" not in html
    assert "\u202e" not in html + as_text(page)
