"""The questions of ``Ledger``: each answers as the command does, is of one moment, and refuses wrong arguments."""

import json
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest

from ledger import Ledger, MalformedError, StorageError, TreeHead, UnknownNameError, rating
from ledger.answers.calculations import Calculation, CalculationFacts
from ledger.answers.graphs import png
from ledger.answers.rows import as_row, as_rows
from ledger.players.persons import Person
from tests.kit.clubs import record_game
from tests.kit.commands import Run
from tests.kit.corrections import approve

DAY = "2024-05-03"


@pytest.fixture
def three_and_a_draw(three_games: Ledger) -> Ledger:
    """The ledger of three games, whose first one is corrected to a draw."""
    approve(three_games, three_games.corrections.drafts.replace("game:g1", {"outcome": "draw"}))
    three_games.catch_up()
    return three_games


def plain(answer: object) -> Any:
    """The answer as JSON has it."""
    rows = as_rows(answer) if isinstance(answer, list) else as_row(answer)  # type: ignore[arg-type]
    return json.loads(json.dumps(rows))


QUESTIONS: dict[str, tuple[Callable[[Ledger], Any], list[str]]] = {
    "ranking": (lambda ledger: ledger.ranking(), ["ratings"]),
    "ranking in full": (
        lambda ledger: ledger.ranking(limit=2, at="2026-11-12", since="2026-11-03", details=True),
        ["ratings", "--limit", "2", "--at", "2026-11-12", "--since", "2026-11-03", "--details"],
    ),
    "tournaments": (lambda ledger: ledger.tournaments(), ["tournaments"]),
    "tournaments of a year": (
        lambda ledger: ledger.tournaments(search="cu", since="2026", until="2026", limit=5),
        ["tournaments", "--search", "cu", "--from", "2026", "--to", "2026"],
    ),
    "summary": (lambda ledger: ledger.player("Ann").summary(), ["show", "Ann"]),
    "summary of a day": (
        lambda ledger: ledger.player("Ann").summary("standard", at="2026-11-03"),
        ["show", "Ann", "--pool", "standard", "--at", "2026-11-03"],
    ),
    "games": (lambda ledger: ledger.player("Ann").games(), ["games", "Ann"]),
    "games of a tournament": (
        lambda ledger: ledger.player("Ann").games(limit=1, tournament="Cup", everything=True),
        ["games", "Ann", "--limit", "1", "--tournament", "Cup", "--all"],
    ),
    "why": (lambda ledger: ledger.player("Ann").why(since="2026-11-03"), ["changes", "Ann", "--since", "2026-11-03"]),
    "why since an entry": (lambda ledger: ledger.player(1).why(since="7"), ["changes", "Ann", "--since", "7"]),
    "explain": (lambda ledger: ledger.player("Ann").explain("g3"), ["explain", "Ann", "g3"]),
    "predict": (lambda ledger: ledger.predict("Ann", "Bob"), ["predict", "Ann", "Bob"]),
    "predict of a day": (
        lambda ledger: ledger.predict(ledger.player("Ann"), 3, at="2026-11-03"),
        ["predict", "Ann", "3", "--at", "2026-11-03"],
    ),
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_is_answered_as_the_command_does(three_and_a_draw: Ledger, run: Run, question: str) -> None:
    asked, (command, *words) = QUESTIONS[question]
    done = run(command, three_and_a_draw.path, *words)
    assert plain(asked(three_and_a_draw)) == json.loads(done.out), done.err


@pytest.mark.parametrize("name", ["ann.json", "ann.vl.json", "ann.svg", "ann.html"])
def test_a_graph_is_saved_as_the_command_draws_it(
    three_and_a_draw: Ledger, run: Run, tmp_path: Path, name: str
) -> None:
    three_and_a_draw.player("Ann").graph(opponents=name.endswith((".svg", ".html"))).save(tmp_path / name)
    options = ["--opponents"] if name.endswith((".svg", ".html")) else []
    assert run("graph", three_and_a_draw.path, "Ann", *options, "-o", tmp_path / f"by-command-{name}").code == 0
    assert (tmp_path / name).read_bytes() == (tmp_path / f"by-command-{name}").read_bytes()


def test_a_graph_beside_another_players_by_date(three_and_a_draw: Ledger, run: Run, tmp_path: Path) -> None:
    three_and_a_draw.player("Ann").graph(page=1, by="date", against="Cleo", mono=True).save(str(tmp_path / "ann.svg"))
    words = ["--page", "1", "--by", "date", "--against", "Cleo", "--mono", "-o", tmp_path / "command.svg"]
    assert run("graph", three_and_a_draw.path, "Ann", *words).code == 0
    assert (tmp_path / "ann.svg").read_bytes() == (tmp_path / "command.svg").read_bytes()


@pytest.mark.parametrize("kind", ["txt", "html", "svg", "json"])
def test_a_crosstable_is_saved_as_the_command_writes_it(
    three_and_a_draw: Ledger, run: Run, tmp_path: Path, kind: str
) -> None:
    table = three_and_a_draw.tournament("Cup", edition="2026").crosstable(tie_breaks=["wins", "koya"], tpr="linear")
    table.save(tmp_path / f"cup.{kind}")
    words = ["--edition", "2026", "--tie-break", "wins", "--tie-break", "koya", "--tpr", "linear"]
    assert run("crosstable", three_and_a_draw.path, "Cup", *words, "-o", tmp_path / f"command.{kind}").code == 0
    assert (tmp_path / f"cup.{kind}").read_bytes() == (tmp_path / f"command.{kind}").read_bytes()
    assert (table.standings[0].name, str(table).splitlines()[0]) == ("Cleo", "Cup, 2026-11-15")


def test_limit_and_offset_count_rows(three_and_a_draw: Ledger) -> None:
    ann, everybody = three_and_a_draw.player("Ann"), three_and_a_draw.ranking()
    games = ann.games()
    assert [game.game for game in games] == ["g3", "g2", "g1"]
    assert ann.games(limit=1, offset=1) == games[1:2]
    assert ann.games(offset=2) == games[2:]
    assert ann.games(limit=0, offset=3) == []
    assert three_and_a_draw.ranking(limit=1, offset=1) == everybody[1:2]
    assert three_and_a_draw.ranking(offset=1) == everybody[1:]


def test_the_audit_is_that_of_the_command(three_and_a_draw: Ledger, run: Run) -> None:
    head = three_and_a_draw.head()
    verdict = three_and_a_draw.audit(since=TreeHead.parse(str(head)), lists=True)
    assert (verdict.ok, verdict.head, verdict.entries, verdict.names_checked) == (True, head, head.size, 4)
    assert f"head {verdict.head}" in run("audit", three_and_a_draw.path).out
    assert three_and_a_draw.audit(journal_only=True).digests == {}


def test_the_audit_names_what_is_false(three_and_a_draw: Ledger) -> None:
    three_and_a_draw.views.connection.execute("UPDATE current SET rating = rating + 1 WHERE player = 1")
    three_and_a_draw.views.connection.commit()
    verdict = three_and_a_draw.audit()
    assert not verdict.ok
    assert {falsehood.table for falsehood in verdict.falsehoods} >= {"current"}


def test_the_answers_of_one_moment_are_of_one_state(three_and_a_draw: Ledger) -> None:
    def answers() -> list[Any]:
        table = attrs.asdict(three_and_a_draw.tournament("Cup").crosstable())
        graph = three_and_a_draw.player("Ann").graph().document("json")
        return [*(plain(question(three_and_a_draw)) for question, _ in QUESTIONS.values()), table, graph]

    with three_and_a_draw.read_snapshot():
        before = answers()
        with Ledger.open(three_and_a_draw.path, clock=three_and_a_draw.clock) as other:
            record_game(other, "g4", "2026-11-16", white=1, black=3)
        assert answers() == before
    assert [game.game for game in three_and_a_draw.player("Ann").games(limit=1)] == ["g4"]


def test_a_player_is_asked_about_as_they_are_by_then(three_and_a_draw: Ledger) -> None:
    bob, dan = three_and_a_draw.player("Bob"), three_and_a_draw.player("Dan")
    assert (bob.name, bob.player, bob == three_and_a_draw.people_row(2)) == ("Bob", 2, True)
    three_and_a_draw.rename(2, "Robert Lund")
    assert bob.summary().name == "Robert Lund"
    assert three_and_a_draw.predict("Ann", bob).opponent == "Robert Lund"
    three_and_a_draw.erase(2)
    assert bob.summary().name == "(erased) 2"
    approve(three_and_a_draw, three_and_a_draw.corrections.drafts.merge(dan.player, 1))
    assert dan.summary().player == 1


WRONG: dict[str, tuple[Callable[[Ledger], object], str]] = {
    "player": (lambda ledger: ledger.player("Anne"), "no player 'Anne' in this ledger; did you mean 'Ann'"),
    "opponent": (lambda ledger: ledger.predict("Ann", "Bobby"), "no player 'Bobby' in this ledger; did you mean 'Bob'"),
    "oneself": (lambda ledger: ledger.predict("Ann", 1), "nobody plays himself"),
    "pool": (lambda ledger: ledger.ranking("blitz"), "no pool 'blitz' in this ledger"),
    "no games": (lambda ledger: ledger.player("Dan").games(), "'Dan'"),
    "game": (lambda ledger: ledger.player("Ann").explain("g9"), "g9"),
    "tournament": (
        lambda ledger: ledger.tournament("Cap"),
        "no tournament 'Cap' with games in 'standard'",
    ),
    "its pool": (lambda ledger: ledger.tournament("Cup", pool="blitz"), "no pool 'blitz'"),
    "edition": (lambda ledger: ledger.tournament("Cup", edition="2025").crosstable(), "no edition '2025' of 'Cup'"),
    "tie-break": (lambda ledger: ledger.tournament("Cup").crosstable(tie_breaks=["win"]), "did you mean 'wins'"),
    "list": (lambda ledger: ledger.player("Ann").why(since="standard@2026-01"), "standard@2026-01"),
    "page": (lambda ledger: ledger.player("Ann").graph(page=2).page(), "no page '2' of the graph"),
    "a number": (lambda ledger: ledger.player(1.5), "player: player must be text or a whole number"),  # type: ignore[arg-type]
    "nobody": (lambda ledger: ledger.predict("Ann", None), "opponent must be text or"),  # type: ignore[arg-type]
    "text": (lambda ledger: ledger.ranking(limit="3"), "limit must be a whole number or None"),  # type: ignore[arg-type]
    "rows": (lambda ledger: ledger.ranking(limit=-1), "numbers of rows, from 0 on; got -1 and 0"),
    "rows left out": (lambda ledger: ledger.player("Ann").games(offset=-2), "got None and -2"),
    "one word": (
        lambda ledger: ledger.tournament("Cup").crosstable(tie_breaks="wins"),
        "crosstable: tie_breaks must be Sequence",
    ),
    "day": (lambda ledger: ledger.player("Ann").summary(at="soon"), "soon"),
    "since": (lambda ledger: ledger.player("Ann").why("soon"), "a published list"),
    "last": (lambda ledger: ledger.player("Ann").graph(last=7), "multiples of 50"),
    "order": (lambda ledger: ledger.player("Ann").graph(against="Bob"), "go by date"),
    "name of a file": (lambda ledger: ledger.player("Ann").graph().save("ann.gif"), "'ann.gif': the name must end in"),
    "head": (lambda ledger: ledger.audit(since="7 abc"), "since must be TreeHead or None (TreeHead.parse"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("question", WRONG)
def test_unknown_names_and_wrong_arguments_are_refused(three_and_a_draw: Ledger, question: str) -> None:
    asked, message = WRONG[question]
    with pytest.raises((UnknownNameError, MalformedError)) as refused:
        asked(three_and_a_draw)
    assert message in str(refused.value)


def test_another_process_gets_the_person_alone(three_and_a_draw: Ledger) -> None:
    ann = three_and_a_draw.player("Ann")
    person = pickle.loads(pickle.dumps(ann))
    assert (person == ann, type(person)) == (True, Person)


def test_no_answer_is_written_over_a_ledger(three_and_a_draw: Ledger, tmp_path: Path) -> None:
    shutil.copy(three_and_a_draw.path, tmp_path / "other.json")
    with pytest.raises(StorageError, match="is a file of a ledger"):
        three_and_a_draw.player("Ann").graph().save(tmp_path / "other.json")
    with pytest.raises(StorageError, match="is a file of a ledger"):
        three_and_a_draw.tournament("Cup").crosstable().save(tmp_path / "other.json")


def test_a_png_needs_the_pictures(three_and_a_draw: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(png, "is_available", lambda: False)
    with pytest.raises(MalformedError, match=r"'ann.png': PNG needs resvg-py.*pip install"):
        three_and_a_draw.player("Ann").graph().save(tmp_path / "ann.png")
    assert not (tmp_path / "ann.png").exists()


def test_the_ledger_of_another_time_answers_the_same_questions(three_and_a_draw: Ledger) -> None:
    with three_and_a_draw.known_at(6) as then:
        assert [game.game for game in then.player("Ann").games()] == ["g1"]
        assert then.player("Ann").summary().highest is None
    with three_and_a_draw.as_if([three_and_a_draw.corrections.drafts.annul("game:g3")]) as would_be:
        assert [game.game for game in would_be.player("Ann").games()] == ["g2", "g1"]


RATED: dict[str, tuple[Callable[[], Calculation], str]] = {
    "elo": (lambda: rating("elo", 1500, [(1600, "win"), (1450.5, 0.5)], on=DAY), "1500 1600 win 1450.5 draw"),
    "settings": (
        lambda: rating("elo", 1500, [(1600, 0)], settings={"k": 16}, on=DAY),
        "--set k=16 1500 1600 loss",
    ),
    "glicko2": (
        lambda: rating(
            "glicko2",
            CalculationFacts(rating=1500, deviation=200),
            [
                (CalculationFacts(rating=1400, deviation=30), "win"),
                (CalculationFacts(rating=1550, deviation=100), "loss"),
            ],
            on=DAY,
        ),
        "--scheme glicko2 --rd 200 1500 1400 win 1550 loss --opponent-rd 30 --opponent-rd 100",
    ),
    "fide": (
        lambda: rating("fide", CalculationFacts(rating=2300, k_factor=20), [(2450, "draw")], on=DAY),
        "--scheme fide --k 20 2300 2450 draw",
    ),
}


@pytest.mark.parametrize("scheme", RATED)
def test_games_are_rated_without_a_ledger_as_the_command_does(run: Run, scheme: str) -> None:
    calculate, words = RATED[scheme]
    calculation, answer = calculate(), json.loads(run("calc", "--on", DAY, *words.split()).out)
    assert plain(calculation) == answer
    assert calculation.after == answer["rating_after"]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (lambda: rating("eloo", 1500, [(1600, "win")]), "no scheme 'eloo' installed; did you mean 'elo'"),
        (lambda: rating("elo", 1500, []), "one game at least"),
        (lambda: rating("elo", 1500, [1600, "win"]), "1600 is no opponent with a result"),  # type: ignore[list-item]
        (lambda: rating("elo", 1500, [(1600, "won")]), "(1600, 'won') is no opponent with a result"),
        (lambda: rating("elo", 1500, [(1600, [1])]), "(1600, [1]) is no opponent with a result"),  # type: ignore[list-item]
        (lambda: rating("elo", 1500, [("1600", 1)]), "'1600' must be a finite number"),  # type: ignore[list-item]
        (lambda: rating("elo", float("nan"), [(1600, 1)]), "nan must be a finite number"),
        (lambda: rating("elo", "1500", [(1600, 1)]), "player must be a number or CalculationFacts"),  # type: ignore[arg-type]
        (lambda: rating("elo", 1500, [(1600, 1)], settings={"q": 1}), "scheme 'elo' has no setting 'q'"),
        (lambda: rating("elo", 1500, [(1600, 1)], on="soon"), "got 'soon'"),
        (lambda: rating("elo", CalculationFacts(rating=1500, h=3), [(1600, 1)]), "begins with no H of a player"),
    ],
)
def test_games_that_cannot_be_rated_are_refused(asked: Callable[[], object], message: str) -> None:
    with pytest.raises((UnknownNameError, MalformedError)) as refused:
        asked()
    assert message in str(refused.value)
