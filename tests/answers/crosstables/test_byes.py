"""Byes and absences in points, places, tie-breaks, lists of tournaments and reports; as corrected, merged, undone."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest
from jsonschema import Draft202012Validator

from ledger.answers.crosstables.crosstable import TableOptions, crosstable
from ledger.answers.crosstables.crosstable_data import Crosstable, CrossTableRow
from ledger.answers.crosstables.formats import as_html, as_svg, as_text, spreadsheet_rows
from ledger.answers.crosstables.layout import lay_out_table
from ledger.answers.crosstables.listing import player_tournaments, tournaments
from ledger.answers.crosstables.pairing_systems import PAIRING_SYSTEMS
from ledger.answers.crosstables.tie_breaks import NO_OPPONENT, RoundResult, RoundResults, UnplayedRules, tie_break_named
from ledger.answers.rows import as_rows
from ledger.audit.audit import audit
from ledger.book.tournament_editions import rounds_of
from ledger.errors import ConflictError, ProposalError
from ledger.facts.changes import Change
from ledger.facts.events import Decision, GameRecorded, RoundWithoutGame, TournamentOpened
from ledger.facts.source_games import SourceRound
from ledger.facts.words import Brings, Format, Outcome
from ledger.facts.words import Standing as Membership
from ledger.ledger import Ledger
from tests.kit.commands import Run
from tests.kit.corrections import TODAY
from tests.kit.games import game_recorded
from tests.kit.places import ROOT
from tests.kit.source_files import player, report, written

OPEN = "Autumn open & friends"
ANN, BOB, CY, DI = range(1, 5)


def bye(who: int, number: int | None, brings: Brings, edition: str = "2026-03-02", **facts: Any) -> RoundWithoutGame:
    return RoundWithoutGame(
        pool="standard", tournament=OPEN, edition=edition, round=number, player=who, brings=brings, **facts
    )


def game(key: str, white: int, black: int, outcome: Outcome, number: int, day: str) -> GameRecorded:
    return game_recorded(
        key, white=white, black=black, outcome=outcome, half_moves=40, ended_at=day, tournament=OPEN, round=str(number)
    )


@pytest.fixture(name="open_with_byes")
def _open_with_byes(tmp_path: Path) -> Iterator[Ledger]:
    """Three players of a Swiss tournament of three rounds, a fourth who has byes alone."""
    with Ledger.create(tmp_path / "club.db", scheme="elo", clock=lambda: TODAY) as ledger:
        for name in ("Ann", "Bob", "Cy", "Di"):
            ledger.register(f"name:{name.casefold()}", name, standing=Membership.FULL)
        ledger.append(
            TournamentOpened(
                pool="standard",
                tournament=OPEN,
                starts_at="2026-03-01",
                ends_at="2026-03-05",
                format=Format.SWISS,
                rounds=3,
            )
        )
        ledger.append_many(
            [
                bye(CY, 1, Brings.ALLOTTED),
                bye(BOB, 2, Brings.HALF),
                bye(ANN, 3, Brings.ZERO),
                bye(DI, 1, Brings.HALF),
                bye(DI, 2, Brings.ABSENT),
                bye(DI, 3, Brings.ABSENT),
                game("r1", ANN, BOB, Outcome.WHITE, 1, "2026-03-02"),
                game("r2", ANN, CY, Outcome.DRAW, 2, "2026-03-03"),
                game("r3", CY, BOB, Outcome.WHITE, 3, "2026-03-04"),
            ]
        )
        ledger.catch_up()
        yield ledger


def approve(ledger: Ledger, change: Change) -> int:
    """The number of a proposal of a change, which is approved."""
    number = ledger.propose([change], reason="the arbiter's letter", by="eve").proposal
    ledger.decide(number, Decision.APPROVED, by="adam")
    return number


def rows(ledger: Ledger, choice: TableOptions | None = None) -> dict[str, CrossTableRow]:
    ledger.catch_up()
    return {row.name: row for row in page(ledger, choice).standings}


def page(ledger: Ledger, choice: TableOptions | None = None) -> Crosstable:
    return crosstable(ledger, OPEN, choice=choice or TableOptions())


def points(ledger: Ledger) -> dict[str, float]:
    return {name: row.points for name, row in rows(ledger).items()}


def test_byes_count_for_points_and_places_and_for_no_rating(open_with_byes: Ledger) -> None:
    found = rows(open_with_byes)
    assert {name: (row.points, row.place, row.games, row.wins) for name, row in found.items()} == {
        "Cy": (2.5, "1", 2, 1),
        "Ann": (1.5, "2", 2, 1),
        "Bob": (0.5, "3-4", 2, 0),
        "Di": (0.5, "3-4", 0, 0),
    }
    assert [(known.round, known.brings, known.points) for known in found["Di"].byes] == [
        (1, "half", 0.5),
        (2, "absent", 0),
        (3, "absent", 0),
    ]
    assert page(open_with_byes).missing == [], "of every round of every player something is told"
    assert {row["player"] for row in open_with_byes.rows("current")} == {ANN, BOB, CY}, "byes are rated nowhere"
    assert next(open_with_byes.rows("games", "key = 'r1'"))["reason"] is None


def test_a_table_by_rounds_shows_them_in_their_rounds(open_with_byes: Ledger) -> None:
    drawn = lay_out_table(page(open_with_byes))
    cells = {row[2].text: [cell.text for cell in row[4:7]] for row in drawn.rows}
    assert (cells["Cy"], cells["Di"]) == (["-1", "2b½", "3w1"], ["-½", "-0", "-0"])


def test_tournaments_list_them_with_all_their_players(open_with_byes: Ledger) -> None:
    (row,) = as_rows(tournaments(open_with_byes))
    assert (row["players"], row["games"], row["winners"]) == (4, 3, ["Cy"])
    (own,) = as_rows(player_tournaments(open_with_byes, open_with_byes.player("Di")))
    assert (own["points"], own["games"], own["place"], own["players"]) == (0.5, 0, "3-4", 4)


# A beat B, drew with C and withdrew; B had a requested bye in round 2 and lost to C, who had one allotted in round 1.
ROUNDS = {
    ANN: [
        RoundResult(BOB, 2, round=1),
        RoundResult(CY, 1, round=2),
        RoundResult(NO_OPPONENT, 0, is_played=False, round=3, bye="zero"),
    ],
    BOB: [
        RoundResult(ANN, 0, round=1),
        RoundResult(NO_OPPONENT, 1, is_played=False, round=2, bye="half"),
        RoundResult(CY, 0, round=3),
    ],
    CY: [
        RoundResult(NO_OPPONENT, 2, is_played=False, round=1, bye="allotted"),
        RoundResult(ANN, 1, round=2),
        RoundResult(BOB, 2, round=3),
    ],
}
BY_HAND: dict[UnplayedRules, dict[str, tuple[float, float, float]]] = {
    UnplayedRules.C07_2026: {
        "buchholz": (4.5, 5, 4),
        "buchholz-cut-1": (3, 4.5, 3.5),
        "sonneborn-berger": (1.75, 0.25, 3),
    },
    UnplayedRules.C07_2023: {
        "buchholz": (4.5, 5, 5),
        "buchholz-cut-1": (3, 4.5, 4.5),
        "sonneborn-berger": (1.75, 0.25, 4),
    },
    UnplayedRules.VIRTUAL: {"buchholz": (5, 5, 3.5), "buchholz-cut-1": (4.5, 4, 3)},
}


@pytest.mark.parametrize("rules", BY_HAND)
def test_tie_breaks_with_unplayed_rounds_are_those_worked_out_by_hand(rules: UnplayedRules) -> None:
    results = RoundResults(ROUNDS, rules, 3)
    for name, choice in BY_HAND[rules].items():
        assert tuple(tie_break_named(name).value(results, who, (who,)) for who in ROUNDS) == choice, name
    assert [tie_break_named("wins").value(results, who, (who,)) for who in ROUNDS] == [1, 0, 2], (
        "7.1: with or without playing"
    )
    assert [tie_break_named("games-won").value(results, who, (who,)) for who in ROUNDS] == [1, 0, 1]
    assert [tie_break_named("progressive").value(results, who, (who,)) for who in ROUNDS] == [4, 1, 5]


def test_a_forfeit_is_held_against_the_scheduled_opponent_since_2026_and_counts_as_a_vur_for_who_lost_it() -> None:
    rounds = {
        ANN: [RoundResult(BOB, 2, is_played=False, round=1), RoundResult(CY, 2, round=2)],
        BOB: [RoundResult(ANN, 0, is_played=False, round=1), RoundResult(DI, 0, round=2)],
        CY: [RoundResult(DI, 1, round=1), RoundResult(ANN, 0, round=2)],
        DI: [RoundResult(CY, 1, round=1), RoundResult(BOB, 2, round=2)],
    }
    now, before = RoundResults(rounds, UnplayedRules.C07_2026, 2), RoundResults(rounds, UnplayedRules.C07_2023, 2)
    assert tie_break_named("buchholz").value(now, ANN, ()) == 0 + 0.5, "16.4.1: no more than Bob's own points"
    assert tie_break_named("buchholz").value(before, ANN, ()) == 2 + 0.5
    assert tie_break_named("buchholz-cut-1").value(now, BOB, ()) == 1.5, (
        "16.5: the round that he lost by forfeit is cut"
    )


@pytest.mark.parametrize(("year", "cy"), [("2026", 4.0), ("2024", 5.0), ("2020", 3.5)])
def test_the_rules_are_those_of_the_tournaments_first_day(tmp_path: Path, run: Run, year: str, cy: float) -> None:
    club = tmp_path / "club.db"
    file = report(
        [
            player(1, "Ann", "2 w 1", "3 w =", "0000 - Z"),
            player(2, "Bob", "1 b 0", "0000 - H", "3 b 0"),
            player(3, "Cy", "0000 - U", "1 b =", "2 w 1"),
        ],
        "092 Swiss",
    ).replace("2024/05", f"{year}/05")
    assert run("init", club).code == 0
    assert run("import", club, written(tmp_path, "open.trf", file.encode()), "--open-tournaments").code == 0
    with Ledger.open(club) as ledger:
        found = {row.name: row.tie_breaks["buchholz"] for row in crosstable(ledger, "Club open").standings}
    assert found["Cy"] == cy


@pytest.mark.parametrize("away", [True, False])
def test_in_an_all_play_all_a_game_that_both_forfeit_counts_against_the_scheduled_opponent(
    tmp_path: Path, run: Run, away: bool
) -> None:
    """C.07 15.2: every Buchholz is the points of all others; a bye that was asked for (Z) is no game."""
    club, rest = tmp_path / "club.db", "0000 - Z"
    file = report(
        [
            player(1, "Ann", "4 w 1", "3 w =", "2 w -"),
            player(2, "Bob", "3 w 1", rest if away else "4 w =", "1 b -"),
            player(3, "Cy", "2 b 0", "1 b =", rest if away else "4 w 1"),
            player(4, "Di", "1 b 0", rest if away else "2 b =", rest if away else "3 b 0"),
        ],
        "092 Round-Robin",
    ).replace("2024/05", "2026/05")
    assert run("init", club).code == 0
    assert run("import", club, written(tmp_path, "ring.trf", file.encode())).code == 0
    with Ledger.open(club) as ledger:
        rows = crosstable(ledger, "Club open", choice=TableOptions(tie_breaks=("buchholz",))).standings
    total = sum(row.points for row in rows)
    lacking = {row.name: total - row.points - (row.tie_breaks["buchholz"] or 0.0) for row in rows}
    assert lacking == {"Ann": 0.0, "Bob": 0.0, "Cy": 0.0, "Di": 1.5 if away else 0.0}  # Bob's 1 and Cy's ½


def test_a_bye_told_again_is_no_other_one_by_whatever_day_its_edition_is_called(open_with_byes: Ledger) -> None:
    size = open_with_byes.journal.size()
    again = open_with_byes.append(bye(BOB, 2, Brings.HALF, "2026-03-03"))
    assert (again.duplicate, open_with_byes.journal.size()) == (True, size)
    with pytest.raises(ConflictError, match=r"exists-with-different-brings.*brings='half', not 'zero'"):
        open_with_byes.append(bye(BOB, 2, Brings.ZERO, "2026-03-04"))
    later = open_with_byes.append(bye(BOB, 2, Brings.ZERO, "2027-03-02"))
    assert not later.duplicate, "another edition"


def test_a_bye_told_twice_by_different_days_in_one_transaction_is_one(open_with_byes: Ledger) -> None:
    tellings = [bye(BOB, 5, Brings.HALF, day) for day in ("2026-03-02", "2026-03-04", "2027-03-02")]
    first, second, other = open_with_byes.append_many(tellings)
    assert (first.position == second.position, other.position == first.position + 1) == (True, True)
    with pytest.raises(ConflictError, match=r"exists-with-different-brings.*brings='half', not 'zero'"):
        open_with_byes.append_many([bye(ANN, 5, Brings.HALF), bye(ANN, 5, Brings.ZERO, "2026-03-03")])
    drafts = open_with_byes.corrections.drafts
    late = [drafts.add(bye(CY, 5, Brings.HALF, day)) for day in ("2026-03-02", "2026-03-03")]
    with pytest.raises(ProposalError, match="exists-with-different-key"):
        open_with_byes.propose(late, reason="the arbiter's letter", by="eve")


def test_rounds_without_a_number_are_told_apart_by_their_days(open_with_byes: Ledger) -> None:
    assert not open_with_byes.append(bye(DI, None, Brings.HALF, "2026-03-03")).duplicate
    assert not open_with_byes.append(bye(DI, None, Brings.HALF, "2026-03-04")).duplicate
    assert open_with_byes.append(bye(DI, None, Brings.HALF, "2026-03-04")).duplicate
    assert points(open_with_byes)["Di"] == 1.5


def test_an_allotted_bye_may_bring_other_points(open_with_byes: Ledger) -> None:
    open_with_byes.append(bye(BOB, 4, Brings.ALLOTTED, half_points=1))
    assert points(open_with_byes)["Bob"] == 1


def test_where_a_game_of_the_round_is_told_the_game_counts(open_with_byes: Ledger) -> None:
    open_with_byes.append(bye(ANN, 1, Brings.HALF))
    assert points(open_with_byes)["Ann"] == 1.5


def test_corrections_voids_and_undoings_of_byes_show(open_with_byes: Ledger) -> None:
    drafts = open_with_byes.corrections.drafts
    key = bye(BOB, 2, Brings.HALF).key
    corrected = approve(open_with_byes, drafts.replace(key, {"brings": "zero"}))
    assert points(open_with_byes)["Bob"] == 0
    assert open_with_byes.append(bye(BOB, 2, Brings.ZERO)).duplicate, "told as it stands by now"
    assert open_with_byes.append(bye(BOB, 2, Brings.HALF)).duplicate, "told as it was recorded"
    approve(open_with_byes, drafts.annul(key))
    assert rows(open_with_byes)["Bob"].byes == []
    approve(open_with_byes, drafts.restore(key))
    approve(open_with_byes, drafts.undo(corrected))
    assert points(open_with_byes)["Bob"] == 0.5
    added = approve(open_with_byes, drafts.add(bye(BOB, 4, Brings.FULL)))
    assert points(open_with_byes)["Bob"] == 1.5
    approve(open_with_byes, drafts.undo(added))
    assert points(open_with_byes)["Bob"] == 0.5
    with pytest.raises(ProposalError, match="exists-with-different-key"):
        approve(open_with_byes, drafts.add(bye(BOB, 2, Brings.HALF, "2026-03-05")))
    with pytest.raises(ProposalError, match="conflicting"):
        approve(open_with_byes, drafts.replace(bye(DI, 1, Brings.HALF).key, {"round": 2}))
    open_with_byes.rebuild()
    assert points(open_with_byes)["Bob"] == 0.5


def test_byes_go_with_the_tournament_that_is_voided(open_with_byes: Ledger) -> None:
    approve(open_with_byes, open_with_byes.corrections.drafts.tournament("standard", OPEN))
    open_with_byes.catch_up()
    assert as_rows(tournaments(open_with_byes)) == []
    approve(open_with_byes, open_with_byes.corrections.drafts.tournament("standard", OPEN, restore=True))
    assert points(open_with_byes)["Cy"] == 2.5


def test_a_bye_may_be_put_back_by_itself_when_its_tournament_was_voided(open_with_byes: Ledger) -> None:
    ledger, drafts = open_with_byes, open_with_byes.corrections.drafts
    (key, *_) = [entry.key for entry in ledger.entries("round-without-game")]

    def standing() -> set[int]:
        ledger.ensure_up_to_date()
        rounds = rounds_of(ledger.views.connection, ledger.pool(), [OPEN])
        return {bye.position for byes in rounds.values() for bye in byes}

    every, entry = standing(), drafts.fact(key).entry
    approve(ledger, drafts.annul(key))
    approve(ledger, drafts.tournament("standard", OPEN))
    assert standing() == set()
    approve(ledger, drafts.restore(key))
    assert standing() == {entry}, "of the last two changes that speak of it the later one holds"
    approve(ledger, drafts.tournament("standard", OPEN, restore=True))
    assert standing() == every
    approve(ledger, drafts.tournament("standard", OPEN))
    assert drafts.fact(key).annulled_by == 5
    with pytest.raises(ProposalError, match="was annulled by proposal 5 already"):
        ledger.propose([drafts.annul(key)], reason="twice", by="eve")
    approve(ledger, drafts.restore(key))
    assert standing() == {entry}
    approve(ledger, drafts.annul(key))
    reinstated = approve(ledger, drafts.tournament("standard", OPEN, restore=True))
    assert standing() == every, "it comes back with the tournament, as a game would"
    assert drafts.fact(key).annulled_by is None
    approve(ledger, drafts.undo(reinstated))
    assert standing() == set()
    approve(ledger, drafts.tournament("standard", OPEN, restore=True))
    approve(ledger, drafts.annul(key))
    assert standing() == every - {entry}
    ledger.rebuild()
    assert standing() == every - {entry}
    assert audit(ledger.path).falsehoods == ()


def test_the_byes_of_a_merged_player_are_the_persons_each_round_once(open_with_byes: Ledger) -> None:
    drafts = open_with_byes.corrections.drafts
    approve(open_with_byes, drafts.merge(DI, BOB))
    # of round 1 the game counts, of round 2 one bye
    assert points(open_with_byes) == {"Cy": 2.5, "Ann": 1.5, "Bob": 0.5}
    (own,) = as_rows(player_tournaments(open_with_byes, open_with_byes.player("Di")))
    assert own["points"] == 0.5
    approve(open_with_byes, drafts.unmerge(DI))
    assert points(open_with_byes)["Di"] == 0.5


def test_an_erased_person_keeps_the_points_without_the_name(open_with_byes: Ledger) -> None:
    open_with_byes.erase(DI)
    open_with_byes.catch_up()
    assert sorted(row.points for row in page(open_with_byes).standings) == [0.5, 0.5, 1.5, 2.5]
    assert "Di" not in {row.name for row in page(open_with_byes).standings}


def test_byes_before_the_first_game_belong_to_the_edition_that_was_announced_or_is_near(tmp_path: Path) -> None:
    with Ledger.create(tmp_path / "club.db", scheme="elo", clock=lambda: TODAY) as ledger:
        for name in ("Ann", "Bob"):
            ledger.register(f"name:{name}", name)
        ledger.append(bye(ANN, 1, Brings.HALF, "2025-09-01"))
        ledger.catch_up()
        (row,) = as_rows(tournaments(ledger))
        assert (row["players"], row["games"], row["first_day"]) == (1, 0, "2025-09-01")
        assert page(ledger).format == "other"
        ledger.append(game("g", ANN, BOB, Outcome.WHITE, 2, "2025-09-20"))
        assert points(ledger) == {"Ann": 1.5, "Bob": 0}
        ledger.append(bye(ANN, 1, Brings.FULL, "2024-09-01"))
        ledger.catch_up()
        assert page(ledger).edition.number == 2
        assert page(ledger, TableOptions(edition="2024")).standings[0].points == 1


@pytest.mark.parametrize("told", [None, *Format])
def test_a_table_of_byes_alone_is_as_its_schema_says(told: Format | None, tmp_path: Path) -> None:
    form = Draft202012Validator(json.loads((ROOT / "schemas" / "exports" / "crosstable-1.json").read_bytes()))
    with Ledger.create(tmp_path / "club.db", scheme="elo", clock=lambda: TODAY) as ledger:
        ledger.register("name:ann", "Ann")
        opened = TournamentOpened(
            pool="standard", tournament=OPEN, starts_at="2026-03-01", ends_at="2026-03-05", format=told
        )
        ledger.append_many([opened, bye(ANN, 1, Brings.HALF)])
        ledger.catch_up()
        table = page(ledger)
        form.validate(attrs.asdict(table))
        assert (table.players, table.games, table.meetings, table.complete) == (1, 0, None, False)
        for drawn in (as_text, as_html, as_svg, spreadsheet_rows):
            assert drawn(table)
        for row in as_rows([*tournaments(ledger), *player_tournaments(ledger, ledger.player("Ann"))]):
            assert (row["players"], row["games"], row["missing"]) == (1, 0, table.missing[0])
        for kind in PAIRING_SYSTEMS:
            form.validate(attrs.asdict(page(ledger, TableOptions(kind=kind))))


def test_a_report_is_written_with_its_byes_and_reads_back_the_same(empty_club: Path, tmp_path: Path, run: Run) -> None:
    file = report(
        [
            player(1, "Ann", "2 w 1", "3 w =", "0000 - Z", points="1.5"),
            player(2, "Bob", "1 b 0", "0000 - H", "3 b 0", points="0.5"),
            player(3, "Cy", "0000 - U", "1 b =", "2 w 1", points="2.5"),
            player(4, "Di", "", "0000 - F", "", points="1.0"),
        ],
        "092 Swiss",
        "132" + " " * 88 + "24/05/01  24/05/02  24/05/03",
    )
    done = run("import", empty_club, written(tmp_path, "open.trf", file.encode()), "--open-tournaments")
    assert "3 games recorded, 0 known already, 6 rounds without a game recorded, 4 new players\n" in done.err
    out = tmp_path / "out.trf"
    assert run("export", empty_club, "tournament", "--tournament", "Club open", "--names", "-o", out).code == 0
    lines = {line[14:47].strip(): line for line in out.read_text().splitlines() if line.startswith("001")}
    assert {name: (line[80:84].strip(), line[91:].split("  ")[-1]) for name, line in lines.items()}["Cy"][0] == "2.5"
    assert "0000 - U" in lines["Cy"]
    assert "0000 - H" in lines["Bob"]
    assert "0000 - Z" in lines["Ann"]
    assert "0000 - F" in lines["Di"]
    assert lines["Di"][91:99].strip() == "", "a blank stands for who was absent"
    again = run("import", empty_club, out)
    assert "0 games recorded, 3 known already, 6 rounds without a game known already\n" in again.err
    assert "points in the report" not in again.err
    assert run("audit", empty_club).code == 0


@pytest.mark.parametrize(("half_points", "told"), [(1, True), (0, True), (None, False)])
def test_a_report_says_what_an_allotted_bye_brings_where_that_is_no_point(
    empty_club: Path, tmp_path: Path, run: Run, half_points: int | None, told: bool
) -> None:
    file = report([player(1, "Ann", "2 w 1"), player(2, "Bob", "1 b 0"), player(3, "Cy", "0000 - U")])
    scoring = "" if half_points is None else f"XXS PAB={half_points / 2:.1f}\n"
    assert run("import", empty_club, written(tmp_path, "open.trf", (scoring + file).encode())).code == 0
    out = tmp_path / "out.trf"
    assert run("export", empty_club, "tournament", "--tournament", "Club open", "--names", "-o", out).code == 0
    assert (b"XXS" in out.read_bytes()) == told
    again = run("import", empty_club, out)
    assert (again.code, "1 round without a game known already" in again.err) == (0, True)
    assert "points in the report" not in again.err


def test_a_report_tells_nothing_of_a_round_that_is_still_to_come(empty_club: Path, tmp_path: Path, run: Run) -> None:
    file = report(
        [
            player(1, "Ann", "2 w 1", "", points="1.0"),
            player(2, "Bob", "1 b 0", "0000 - H", points="0.5"),
            player(3, "Cy", "4 w =", "", points="0.5"),
            player(4, "Di", "3 b =", "0000 - Z", points="0.5"),
        ],
        "092 Swiss",
    )
    assert run("import", empty_club, written(tmp_path, "open.trf", file.encode()), "--day", "2024-05-01").code == 0
    out = tmp_path / "out.trf"
    assert run("export", empty_club, "tournament", "--tournament", "Club open", "--names", "-o", out).code == 0
    again = run("import", empty_club, out)
    assert "0 games recorded, 2 known already, 2 rounds without a game known already\n" in again.err


def test_a_bye_by_hand_is_the_one_that_a_file_tells(empty_club: Path, tmp_path: Path, run: Run) -> None:
    file = report([player(1, "Ann", "2 w 1", "0000 - H"), player(2, "Bob", "1 b 0", "0000 - Z")])
    run("import", empty_club, written(tmp_path, "open.trf", file.encode()))
    done = run("bye", empty_club, "Club open", "Ann", "--round", "2")
    assert (done.code, "Ann, 'Club open', edition of" in done.err) == (0, True)
    assert "half-point bye was recorded already at entry" in done.err
    refused = run("bye", empty_club, "Club open", "Ann", "--round", "2", "--brings", "full")
    assert (refused.code, "exists-with-different-brings" in refused.err) == (1, True)
    assert run("bye", empty_club, "Club open", "Bob", "--round", "3", "--brings", "allotted").code == 0
    unknown = run("bye", empty_club, "Clup open", "Bob", "--round", "3")
    assert (unknown.code, "did you mean 'Club open'? before its first game name a day" in unknown.err) == (1, True)
    early = run("bye", empty_club, "New open", "Bob", "--round", "1", "--edition", "2025-01-01")
    assert early.code == 0
    wrong = run("bye", empty_club, "Club open", "Bob", "--round", "4", "--half-points", "1")
    assert (wrong.code, "half_points go with what is allotted" in wrong.err) == (2, True)


def test_a_change_keeps_the_words_in_which_it_was_proposed(open_with_byes: Ledger) -> None:
    change: Change = open_with_byes.corrections.verbs.change(
        "bye", {"tournament": OPEN, "player": "Di", "brings": "half", "edition": "2026-03-02", "round": "4"}
    )
    assert change.fact == "round:standard:Autumn%20open%20%26%20friends:4:4@2026-03-02"
    approve(open_with_byes, change)
    assert points(open_with_byes)["Di"] == 1


def test_a_bye_that_was_moved_is_known_where_it_stands_by_now(open_with_byes: Ledger) -> None:
    drafts = open_with_byes.corrections.drafts
    approve(open_with_byes, drafts.replace(bye(ANN, 3, Brings.ZERO).key, {"round": 5}))
    assert open_with_byes.append(bye(ANN, 5, Brings.ZERO)).duplicate, "told as it stands by now"
    with pytest.raises(ConflictError, match="was moved there by a correction"):
        open_with_byes.append(bye(ANN, 5, Brings.HALF))
    told = SourceRound(7, "name:ann", "Ann", OPEN, "2026-03-02", 5, Brings.ZERO.value)
    for brings, repeated, faults in ((Brings.ZERO, 1, 0), (Brings.HALF, 0, 1)):
        tellings = [told._replace(brings=brings.value)]
        report = open_with_byes.import_games([], rounds=lambda tellings=tellings: tellings)  # type: ignore[misc]
        assert (report.rounds, report.rounds_repeated, len(report.faults)) == (0, repeated, faults)
    assert points(open_with_byes)["Ann"] == 1.5
