"""Every answer is of one moment, though corrections are approved and undone between any two of its statements.

Nothing here is a race: before some of the statements that an answer puts to the views another ledger, opened on the
same files, approves or undoes one correction. The answer must be, to the letter, one that a ledger gives when nobody
writes.
"""

import importlib
import inspect
import json
import pkgutil
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, cast
from unittest.mock import patch

import attrs
import pytest
from jsonschema import Draft202012Validator

import ledger.answers
from ledger.answers import (
    achievements,
    boards,
    corrections,
    datasette_metadata,
    differences,
    explanations,
    game_pgn,
    import_previews,
    list_calculations,
    news,
    opponents,
    player_games,
    players,
    policies,
    pools,
    predictions,
    publications,
    querying,
    rankings,
    rating_changes,
    read_models,
    recorded_entries,
    recorded_games,
    searching,
    sent_reports,
    streaks,
    time_losses,
    upsets,
)
from ledger.answers import imports as import_answers
from ledger.answers.comparing import comparison, replaying, study
from ledger.answers.crosstables import crosstable, listing
from ledger.answers.exports import exporting, fide_list, trf_report
from ledger.answers.exports.columns import ExportFilter
from ledger.answers.graphs import career, json_form, page_reader
from ledger.answers.rows import as_row
from ledger.errors import LedgerError, StorageError, UnknownNameError
from ledger.facts.json_schemas import class_schema
from ledger.imports.reading import batch_games
from ledger.ledger import Ledger
from ledger.registering.player_lists import PlayersReport
from tests.kit.clubs import NAME, copied
from tests.kit.corrections import BOB, CLEO, DAN, TODAY, approve, ask, played
from tests.kit.games import game_recorded, source_game

STEPS = 4  # corrections that are approved or undone while one answer is given
MOVES = "e4 e5 Qh5 Nc6 Bc4 Nf6 Qxf7#"

SEALED = re.compile("[0-9a-f]{64}")

Question = Callable[[Ledger], object]


def person(ledger: Ledger) -> Any:
    return ledger.player("Ann")


def exported(what: str, fmt: str, **asked: Any) -> Question:
    return lambda ledger: b"".join(
        exporting.export_lines(ledger, [what], fmt=fmt, selection=ExportFilter(names=True, **asked))
    )


LIST = ExportFilter(published="standard@2026-11-05", names=True)


def tuned(ledger: Ledger) -> study.Study:
    """A study of a club that has played for few weeks, without the root, of which reasons' salts are part."""
    with patch.object(study, "FEWEST_WEEKS", 2):
        return attrs.evolve(study.tune(ledger, "elo", {"k": ("8", "40")}, trials=10), head="")


QUESTIONS: dict[str, Question] = {
    "chosen_strength": lambda ledger: rankings.chosen_strength(ledger, "standard", 1),
    "new_players_like_known_ones": searching.new_players_like_known_ones,
    "similar_players": searching.similar_players,
    "imports": import_answers.imports,
    "take_back_summary": lambda ledger: import_answers.take_back_summary(ledger, "2-6"),
    "final_board": lambda ledger: boards.final_board(ledger, "moves").answer,
    "proposal_rows": lambda ledger: corrections.proposal_rows(ledger, ledger.corrections.proposals()),
    "proposal": lambda ledger: corrections.proposal(ledger, 1),
    "crosstable": lambda ledger: attrs.asdict(crosstable.crosstable(ledger, "Open")),
    "tournaments": listing.tournaments,
    "player_tournaments": lambda ledger: listing.player_tournaments(ledger, person(ledger)),
    "metadata": datasette_metadata.metadata,
    "lists_to_compare": lambda ledger: differences.lists_to_compare(ledger, "standard@2026-11-05", "now"),
    "explain": lambda ledger: explanations.explain(ledger, person(ledger), "g3"),
    "list_calculation": lambda ledger: list_calculations.list_calculation(ledger, person(ledger), "2026-11-05"),
    "calculation of a player": lambda ledger: ledger.player("Ann").calculation("2026"),
    "game_log": lambda ledger: recorded_games.game_log(ledger, "g1"),
    "log": lambda ledger: ledger.log("g1"),
    "game_pgn": lambda ledger: game_pgn.game_pgn(ledger, "moves"),
    "games_pgn": lambda ledger: game_pgn.games_pgn(ledger, ["moves", "g1"]),
    "read_page": lambda ledger: json_form.graph_json(page_reader.read_page(ledger, person(ledger))),
    "career": lambda ledger: career.career(ledger, person(ledger)),
    "news": lambda ledger: news.news(ledger, rated_games=10),
    "achievements": lambda ledger: achievements.achievements(ledger, person(ledger)),
    "statistics_by_batch": lambda ledger: opponents.statistics_by_batch(ledger, person(ledger)),
    "statistics_by_colour": lambda ledger: opponents.statistics_by_colour(ledger, person(ledger)),
    "statistics_by_strength": lambda ledger: opponents.statistics_by_strength(ledger, person(ledger)),
    "results_against": lambda ledger: opponents.results_against(ledger, person(ledger), ledger.player("Bob")),
    "games": lambda ledger: player_games.games(ledger, person(ledger), everything=True),
    "graph_points": lambda ledger: player_games.graph_points(ledger, person(ledger)),
    "summary": lambda ledger: players.summary(ledger, person(ledger)),
    "settings_in_force": policies.settings_in_force,
    "pools": pools.pools,
    "scheme_periods": pools.scheme_periods,
    "predict": lambda ledger: predictions.predict(ledger, person(ledger), ledger.player("Bob")),
    "published_lists": publications.published_lists,
    "published_list_rows": lambda ledger: publications.published_list_rows(
        ledger, ledger.publications.named("standard@2026-11-05")
    ),
    "compare_list_ratings": lambda ledger: import_previews.compare_list_ratings(
        ledger, PlayersReport(new_ratings=[(1, "2026-11-04", "1500")])
    ),
    "readable_tables": querying.readable_tables,
    "read_model_rows": read_models.read_model_rows,
    "readable_columns": querying.readable_columns,
    "view_tables": querying.view_tables,
    "query": lambda ledger: list(querying.query(ledger, "SELECT * FROM current JOIN names USING (player)")),
    "ranking of today": lambda ledger: ledger.ranking(),
    "implausible_ratings": rankings.implausible_ratings,
    "ranking": lambda ledger: rankings.ranking(ledger, rankings.RankingChoice(since="2026-11-03")),
    "changes": lambda ledger: rating_changes.changes(ledger, person(ledger), "2026-11-03"),
    "rating_runs": publications.rating_runs,
    "list_in_force_on": lambda ledger: publications.list_in_force_on(ledger, "2026-11-05"),
    "recorded_game": lambda ledger: recorded_games.recorded_game(ledger, "g1"),
    "entries_after": lambda ledger: recorded_entries.entries_after(ledger, 0, 1_000),
    "filtered_games": lambda ledger: recorded_games.filtered_games(ledger, player_games.GameFilter(tournament="Open")),
    "find_players": lambda ledger: searching.find_players(ledger, "ann"),
    "streaks": lambda ledger: streaks.streaks(ledger, person(ledger)),
    "time_loss_windows": lambda ledger: time_losses.time_loss_windows(ledger, person(ledger)),
    "time_loss_mark": lambda ledger: time_losses.time_loss_mark(ledger, person(ledger)),
    "time_loss_marks": time_losses.time_loss_marks,
    "upsets": lambda ledger: upsets.upsets(ledger, margin=0),
    "compare": lambda ledger: comparison.compare(ledger, [replaying.candidate("elo")], timer=lambda: 0.0),
    "tune": tuned,
    "export of games": exported("games", "csv"),
    "export of the history": exported("history", "ndjson"),
    "export of ratings": exported("ratings", "csv"),
    "export of cross-tables": exported("crosstables", "csv"),
    "trf16_report": exported("tournament", "trf16", tournament="Open"),
    "trf26_report": exported("tournament", "trf26", tournament="Open"),
    "fide_text_list": lambda ledger: b"".join(fide_list.fide_text_list(ledger, LIST)),
    "fide_xml_list": lambda ledger: b"".join(fide_list.fide_xml_list(ledger, LIST)),
    "swiss_manager_list": lambda ledger: b"".join(fide_list.swiss_manager_list(ledger, LIST)),
    "fide_list_findings": lambda ledger: fide_list.fide_list_findings(ledger, LIST),
    "facts_to_send": lambda ledger: trf_report.facts_to_send(ledger, ExportFilter(tournament="Open", names=True)),
    "sent_reports": sent_reports.sent_reports,
    "report_findings": lambda ledger: trf_report.report_findings(ledger, ExportFilter(tournament="Open", names=True)),
    "rows of a table": lambda ledger: list(ledger.rows("history")),
    "proposals": lambda ledger: list(ledger.corrections.proposals()),
    "games of a player": lambda ledger: ledger.player("Dan").games(),
    "document of a graph": lambda ledger: ledger.player("Ann").graph().document("html"),
    "a crosstable": lambda ledger: attrs.asdict(ledger.tournament("Open").crosstable()),
    "several in one": lambda ledger: one_moment(ledger, Ledger.ranking, lambda it: players.summary(it, person(it))),
}

# Asked only within the answers above, or of things that nobody has without having asked before.
WITHIN_OTHERS = {
    "check_tournament_name", "class_limits", "compare_reports", "corrected_fields", "corrections_by_game",
    "corrections_by_rated_game", "count_games_in_force", "count_rated_games", "counting_lists",
    "describe_changes", "details_at", "due_list", "duplicate_warnings", "export_file", "find_dataset",
    "first_day_of_edition",
    "game_marks", "game_row", "guests_in", "has_classes", "has_read_model", "held_title", "impact_in_full",
    "joining_day", "last_game_row", "last_published_rating", "load_report", "lowest_rating", "open_snapshot",
    "outdated_lists", "player_batch", "postgres_tables", "proposal_reasons", "published_rating", "published_ratings",
    "ranked_members", "ranking_place", "rated_game_row", "reached_titles", "read_model_state", "replay",
    "reports_with", "require_read_model", "scheme_period_in_force", "shown_class_limits", "start_from_pool",
    "summarize_changes",
    "taken_back_imports", "unrated_games", "upset_margins", "waiting_games",
}  # fmt: skip
# They read no views, or words of theirs for each part: tellings of files, kept texts, names.
NOT_OF_THE_VIEWS = {
    "check_document",
    "check_of_reports",
    "check_request",
    "journal_status",
    "stored_game",
    "known_entries",
    "names",
    "missing_announcements",
    "outside_games",
}
# They bring the views level and read them in one transaction by themselves, for they go on after it or hand out rows.
BY_THEMSELVES = {
    "changes",
    "compare",
    "copy_to_postgres",
    "list_differences",
    "export",
    "export_lines",
    "ledger_health",
    "query",
    "read_crosstables",
    "tune",
}  # fmt: skip

# Rows of whatever is asked for, and of a form that is another program's.
UNTYPED = {"metadata", "query"}


def answered(ledger: Ledger, question: Question) -> object:
    """The answer, or why there is none, as the name of a list or an entry; the salted digest of a reason is chance."""
    try:
        return SEALED.sub("", repr(question(ledger)))
    except LedgerError as error:
        return str(error)


def one_moment(ledger: Ledger, *asked: Question) -> list[object]:
    with ledger.read_snapshot():
        return [question(ledger) for question in asked]


def steps(ledger: Ledger) -> Iterator[None]:
    """One correction after the other is approved and undone; level after each."""
    while True:
        for verb, words in (
            ("void", {"game": "g1"}),
            ("result", {"game": "g3", "to": "0-1"}),
            ("merge", {"player": "Dan", "into": "Bob"}),
        ):
            approve(ledger, ask(ledger, verb, **words))
            ledger.ensure_up_to_date()
            yield
            number = max(shown.proposal.proposal for shown in ledger.corrections.proposals())
            approve(ledger, ledger.corrections.drafts.undo(number))
            ledger.ensure_up_to_date()
            yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A club of four with a tournament, a published list and one correction."""
    made = tmp_path_factory.mktemp("moments")
    with Ledger.create(made / NAME, clock=lambda: TODAY) as ledger:
        for name in ("Ann", "Bob", "Cleo", "Dan"):
            ledger.register(f"name:{name.lower()}", name)
        ledger.append_many(played())
        told = source_game("moves", "Cleo", "Ann", ended_at="2026-11-09", text=MOVES, half_moves=7, tournament="Open")
        assert ledger.import_games(batch_games([told])).faults == []
        ledger.ensure_up_to_date()
        ledger.publications.publish("2026-11-05")
        approve(ledger, ask(ledger, "void", game="g6"))
        ledger.ensure_up_to_date()
    return made


@pytest.fixture(scope="module")
def quiet(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[object]]:
    """What each question is answered after each step, when nobody writes meanwhile."""
    path = copied(folder, tmp_path_factory.mktemp("quiet"))
    answers: dict[str, list[object]] = {name: [] for name in QUESTIONS}
    with Ledger.open(path, clock=lambda: TODAY) as ledger:
        writing = steps(ledger)
        for _ in range(STEPS + 1):
            for name, question in QUESTIONS.items():
                answers[name].append(answered(ledger, question))
            next(writing)
    return answers


@pytest.mark.parametrize("name", QUESTIONS)
def test_an_answer_is_of_one_moment(name: str, folder: Path, quiet: dict[str, list[object]], tmp_path: Path) -> None:
    path, question = copied(folder, tmp_path), QUESTIONS[name]
    with ExitStack() as held:
        reader = held.enter_context(Ledger.open(path, clock=lambda: TODAY))
        writer = held.enter_context(Ledger.open(path, clock=lambda: TODAY))
        reader.ensure_up_to_date()
        connection, statements, writing = reader.views.connection, [0], steps(writer)
        taken: list[int] = []
        connection.set_trace_callback(lambda _: statements.__setitem__(0, statements[0] + 1))
        assert answered(reader, question) == quiet[name][0]
        between = {1 + statements[0] * step // STEPS for step in range(STEPS)} if statements[0] else set()

        def write(_: str) -> None:
            statements[0] += 1
            if statements[0] in between and len(taken) < STEPS:
                taken.append(statements[0])
                next(writing)

        statements[0] = 0
        connection.set_trace_callback(write)
        answer = answered(reader, question)
        connection.set_trace_callback(None)
        assert answer in quiet[name]
        assert answered(reader, question) == quiet[name][len(taken)]  # the next one is of the next moment


def test_each_public_answer_is_asked_here_or_said_to_be_part_of_another() -> None:
    marked, unmarked = set[str](), set[str]()
    for name, function in public_functions():
        # what only compares its arguments is not marked
        is_marked = hasattr(function, "__wrapped__") and function.__code__.co_name != "compared"
        (marked if is_marked else unmarked).add(name)
    assert unmarked == NOT_OF_THE_VIEWS | BY_THEMSELVES
    assert marked - QUESTIONS.keys() == WITHIN_OTHERS


def test_no_public_answer_is_an_untyped_dictionary() -> None:
    found = set()
    for name, function in public_functions():
        words = str(inspect.signature(function).return_annotation)
        if name not in WITHIN_OTHERS and re.search(r"dict\[str, Any\]|\bRow\b", words):
            found.add(name)
    assert found == UNTYPED


def public_functions() -> Iterator[tuple[str, Any]]:
    """Name and function of each public question to a ledger."""
    for found in pkgutil.walk_packages(ledger.answers.__path__, "ledger.answers."):
        module = importlib.import_module(found.name)
        for name, function in vars(module).items():
            if name.startswith("_") or not inspect.isfunction(function) or function.__module__ != module.__name__:
                continue
            if next(iter(inspect.signature(function).parameters), None) == "ledger":
                yield name, function


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_row_of_an_answer_is_one_of_the_schema_of_its_class(name: str, folder: Path) -> None:
    with Ledger.open(folder / NAME, clock=lambda: TODAY) as reader:
        reader.ensure_up_to_date()
        try:
            answer = QUESTIONS[name](reader)
        except UnknownNameError:
            pytest.skip("this club has none")
        for one in answer if isinstance(answer, list) else [answer]:
            cls: Any = type(one)
            if attrs.has(cls) and "doc" in next(iter(attrs.fields(cls))).metadata:
                Draft202012Validator(class_schema(cls, "answer/1")).validate(
                    json.loads(json.dumps(as_row(cast("Any", one))))
                )


def test_what_is_recorded_within_a_moment_shows_after_it(folder: Path, tmp_path: Path) -> None:
    path = copied(folder, tmp_path)
    with Ledger.open(path, clock=lambda: TODAY) as reader, Ledger.open(path, clock=lambda: TODAY) as writer:
        with reader.read_snapshot() as position:
            before = reader.ranking()
            writer.append(game_recorded("late", white=DAN, black=CLEO, ended_at="2026-11-12", half_moves=40))
            writer.catch_up()
            reader.append(game_recorded("later", white=BOB, black=CLEO, ended_at="2026-11-13", half_moves=40))
            assert reader.ranking() == before
            assert position == reader.views.position() < reader.journal.size()
            with reader.read_snapshot() as same:
                assert same == position
            with pytest.raises(StorageError, match="a read snapshot is open until the block of 'read_snapshot' ends"):
                reader.catch_up()
        assert sum(row.games for row in reader.ranking()) == sum(row.games for row in before) + 4
        assert not reader.views.in_snapshot


def test_a_document_tells_the_position_that_it_is_of(folder: Path, tmp_path: Path) -> None:
    with Ledger.open(copied(folder, tmp_path), clock=lambda: TODAY) as reader:
        size = reader.journal.size()
        assert page_reader.read_page(reader, person(reader)).position == size
        assert crosstable.crosstable(reader, "Open").position == size
