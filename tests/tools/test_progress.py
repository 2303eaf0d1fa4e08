"""Bars that show on a terminal only, and the rating graph that is drawn there."""

import io
import sys
from math import inf, nan
from pathlib import Path

import pytest

from ledger.imports.reading import Reading, batch_games
from ledger.ledger import Ledger
from ledger.runtime.ledger_files import sidecar
from tests.kit.games import source_games
from tools.commands import bring_up_to_date
from tools.progress import Bars, ReadingBar
from tools.terminal_graph import CHANGE, EIGHTHS, draw


class Terminal(io.StringIO):
    """Standard error as a terminal."""

    def isatty(self) -> bool:
        return True


def work_with_bars() -> None:
    with Bars() as bars:
        for what in ("journal", "table games"):
            for done in (0, 50, 100):
                bars(what, done, 100)
    reading = Reading("games.pgn")
    bar = ReadingBar(reading, 1000)
    reading.bytes_read = 400
    bar.advance(25)
    bar.close()


def test_bars_are_silent_when_standard_error_is_no_terminal(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    quiet = io.StringIO()
    monkeypatch.setattr(sys, "stderr", quiet)
    work_with_bars()
    assert quiet.getvalue() == ""
    assert capfd.readouterr() == ("", "")


def test_bars_on_a_terminal_say_what_is_done_and_go_away(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    work_with_bars()
    text = terminal.getvalue()
    for word in ("journal", "table games", "games.pgn"):
        assert word in text
    assert text.endswith("\r")  # the last bar wiped
    assert capfd.readouterr().out == ""


def test_an_error_under_a_bar_takes_the_bar_away(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)

    def interrupted_work() -> None:
        with Bars() as bars:
            bars("journal", 10, 100)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted_work()
    assert terminal.getvalue().endswith("\r")


@pytest.mark.usefixtures("by_columns")
def test_a_question_that_has_to_build_the_views_shows_how_far_it_is(
    empty_club: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Ledger.open(empty_club) as ledger:
        ledger.import_games(batch_games(source_games(20)))
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with Ledger.open(empty_club) as ledger:
        ledger.views.close()
        sidecar(empty_club, "views").unlink()
        bring_up_to_date(ledger)
    assert "rating history" in terminal.getvalue()


def test_no_games_are_said_to_be_none() -> None:
    assert draw([]) == "(no rated games)"


def test_one_game_is_one_column() -> None:
    lines = draw([1500.0]).splitlines()
    assert [line.partition("│")[2] for line in lines[:-2]] == [" "] * 7 + ["▁"]
    assert lines[-1].split() == ["game", "1"]


def test_a_constant_rating_is_a_flat_line_at_its_scale() -> None:
    lines = draw([1500.0] * 20).splitlines()
    assert lines[-3].split("│") == ["  1500 ", "▁" * 20]
    assert all(not line.partition("│")[2].strip() for line in lines[:-3])


@pytest.mark.parametrize("games", [1, 2, 5, 12, 13, 63, 64, 65, 1000])
def test_a_graph_is_never_wider_than_asked_and_names_its_ends(games: int) -> None:
    lines = draw([1400.0 + game for game in range(games)], width=64, height=8).splitlines()
    assert len(lines) == 10
    assert {len(line.partition("│")[2]) for line in lines[:-2]} == {min(64, games)}
    assert lines[-1].split() == ["game", "1", *(["game", str(games)] if games > 1 else [])]
    assert set("".join(line.partition("│")[2] for line in lines[:-2])) <= set(EIGHTHS)


def test_columns_rise_with_the_rating_and_show_the_mean_of_their_games() -> None:
    rising = draw([float(rating) for rating in range(1000, 2000)], width=10, height=4).splitlines()
    heights = [sum(EIGHTHS.index(line.partition("│")[2][i]) for line in rising[:4]) for i in range(10)]
    assert heights == sorted(heights)
    assert (heights[0], heights[-1]) == (3, 30), "means of a hundred games each, on a scale from 1000 to 1999"
    halves = draw([1000.0, 2000.0, 1400.0, 1600.0], width=2).splitlines()
    assert halves[3].endswith("│" + 2 * EIGHTHS[1]), "1500 both, the middle of a scale from 1000 to 2000"
    assert [line.split("│")[1].strip() for line in halves[:3]] == [""] * 3


def test_the_scale_ends_with_the_lowest_and_the_highest_rating() -> None:
    lines = draw([1500.0, 1800.0, 1310.0, 1600.0], width=2).splitlines()
    assert (lines[0].split()[0], lines[7].split()[0]) == ("1800", "1310")
    assert not any(line.split("│")[0].strip() for line in lines[1:7])


def test_names_in_bars_are_shown_harmless(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with Bars() as bars:
        bars("table \x1b[2J\u202e\n", 50, 100)
    ReadingBar(Reading("a\x1b]0;x\x07\u2028\udcff.pgn"), 1000).close()
    text = terminal.getvalue()
    assert r"table \x1b[2J\u202e\n" in text
    assert r"a\x1b]0;x\x07\u2028\udcff.pgn" in text
    assert not set(text) & set("\x07\u202e\u2028\n")
    assert "\x1b" not in text.replace("\x1b[A", "")  # how tqdm moves its own bars


def test_a_graph_without_its_characters_is_drawn_in_ascii() -> None:
    ratings = [float(rating) for rating in range(1000, 2000)]
    drawn, plain = draw(ratings, changes=[500]), draw(ratings, changes=[500], in_ascii=True)
    assert plain.isascii()
    assert [len(line) for line in plain.split("\n")] == [len(line) for line in drawn.split("\n")]
    assert plain.split("\n")[-2].count("x") == drawn.split("\n")[-2].count(CHANGE) == 1


@pytest.mark.parametrize("odd", [inf, -inf, nan])
def test_a_rating_that_is_no_number_leaves_its_column_empty(odd: float) -> None:
    lines = draw([1500.0, odd, 1600.0], height=2).split("\n")
    assert [line.partition("│")[2][1] for line in lines[:2]] == [" ", " "]
    assert draw([odd]) == "(no rated games)"
