"""An import is taken back as a whole, by ``void-import``; the corrected file is recorded anew; one undo restores it."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from ledger.answers.exports import trf_report
from ledger.answers.exports.columns import ExportFilter
from ledger.answers.impacts import impact_in_full
from ledger.answers.imports import imports, take_back_summary
from ledger.answers.player_details import details_at
from ledger.answers.searching import find_players
from ledger.answers.sent_reports import sent_reports
from ledger.errors import MalformedError, ProposalError, StorageError, UnknownNameError
from ledger.facts.changes import Change, Verb, spans_of, spans_text
from ledger.facts.events import Decision, RoundWithoutGame, TournamentOpened
from ledger.facts.instants import instant_ms
from ledger.facts.player_details import PlayerDetails
from ledger.facts.words import Brings
from ledger.imports.reading import FileHints
from ledger.ledger import Ledger
from ledger.registering.described_tournaments import erase_arbiters
from tests.kit.games import game_recorded
from tests.kit.source_files import player, report, written

HEADER = "white,black,result,ended_at,half_moves,tournament,id\n"


@pytest.fixture
def imported(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger.create(tmp_path / "club.db", scheme="elo") as ledger:
        import_rows(ledger, "april.csv", "Ann,Bob,1-0,2024-04-01,40,Club,1", "Bob,Ann,1/2-1/2,2024-04-08,40,Club,2")
        yield ledger


def import_rows(ledger: Ledger, name: str, *rows: str, source: str = "") -> int | None:
    """Import a CSV file of these rows, with ids of their own if a source is given; return its number."""
    file = ledger.path.with_name(name)
    lines = [row if source else row.rpartition(",")[0] for row in rows]
    head = HEADER if source else HEADER.replace(",id", "")
    file.write_text(head + "".join(f"{row}\n" for row in lines))
    report = ledger.import_file(file, said=FileHints(source=source or None))
    assert report.ok, report.faults
    return report.number


def approve(ledger: Ledger, *changes: Change) -> int:
    number = ledger.propose(changes, reason="the wrong file", by="eve").proposal
    ledger.decide(number, Decision.APPROVED, by="adam")
    return number


def take_back(ledger: Ledger, reference: object) -> int:
    return approve(ledger, ledger.corrections.drafts.take_back(str(reference)))


def ratings(ledger: Ledger) -> list[tuple[object, ...]]:
    return [(row.name, row.rating, row.games) for row in ledger.ranking()]


def rebuilt(ledger: Ledger) -> list[tuple[object, ...]]:
    """The ratings after a build of all views from the journal, which reads columns."""
    ledger.rebuild()
    return ratings(ledger)


MAY = ("Ann,Cleo,1-0,2024-05-01,40,Cup,11", "Bob,Dan,0-1,2024-05-01,40,Cup,12", "Cleo,Dan,0-1,2024-05-02,40,Cup,13")
CORRECTED = ("Ann,Cleo,0-1,2024-05-01,40,Cup,11", *MAY[1:])


@pytest.mark.parametrize("source", ["", "club"])
def test_the_corrected_file_gives_the_ratings_of_a_ledger_that_never_had_the_wrong_one(
    imported: Ledger, tmp_path: Path, source: str
) -> None:
    before = ratings(imported)
    take_back(imported, import_rows(imported, "may.csv", *MAY, source=source))
    assert ratings(imported) == before == rebuilt(imported)
    import_rows(imported, "corrected.csv", *CORRECTED, source=source)
    (tmp_path / "other").mkdir()
    with Ledger.create(tmp_path / "other" / "club.db", scheme="elo", secret_of=imported.path) as right:
        import_rows(right, "april.csv", "Ann,Bob,1-0,2024-04-01,40,Club,1", "Bob,Ann,1/2-1/2,2024-04-08,40,Club,2")
        import_rows(right, "corrected.csv", *CORRECTED, source=source)
        assert ratings(imported) == ratings(right) == rebuilt(imported)
    assert imported.audit().ok


@pytest.mark.parametrize("source", ["", "club"])
def test_the_corrected_file_is_known_when_it_comes_again_and_may_be_taken_back_again(
    imported: Ledger, source: str
) -> None:
    take_back(imported, import_rows(imported, "may.csv", *MAY, source=source))
    second = import_rows(imported, "corrected.csv", *CORRECTED, source=source)
    stood = ratings(imported)
    assert import_rows(imported, "again.csv", *CORRECTED, source=source) is None, "nothing new, so no import"
    take_back(imported, second)
    third = import_rows(imported, "third.csv", *CORRECTED, source=source)
    assert (third, ratings(imported)) == (3 + 1, stood)
    assert [row.state for row in imports(imported)] == ["recorded", "taken back", "taken back", "recorded"]


def test_a_game_that_is_recorded_again_has_the_key_of_its_source_with_a_number(imported: Ledger) -> None:
    take_back(imported, import_rows(imported, "may.csv", *MAY, source="club"))
    import_rows(imported, "corrected.csv", *CORRECTED, source="club")
    keys = {row["key"]: row["voided_by"] for row in imported.rows("games", "tournament = 'Cup'")}
    assert keys == {"club:11": 1, "club:12": 1, "club:13": 1, "club:11+2": None, "club:12+2": None, "club:13+2": None}
    assert [entry.kind for entry in imported.log("club:11")] == [
        "game-recorded/1", "correction-proposed/2", "correction-decided/2"
    ]  # fmt: skip


def test_an_appended_game_whose_key_was_taken_back_is_recorded_under_its_next_key(imported: Ledger) -> None:
    take_back(imported, import_rows(imported, "may.csv", *MAY, source="club"))
    receipt = imported.append(game_recorded("club:11", white=1, black=2, ended_at="2024-05-01"))
    assert (receipt.key, receipt.duplicate) == ("game:club:11+2", False)
    assert imported.append(game_recorded("club:11", white=1, black=2, ended_at="2024-05-01")).duplicate


def test_one_undo_restores_all_unless_a_game_was_recorded_again(imported: Ledger) -> None:
    number = import_rows(imported, "may.csv", *MAY)
    stood = ratings(imported)
    proposal = take_back(imported, number)
    undo = imported.corrections.drafts.undo(proposal)
    undoing = approve(imported, undo)
    assert (ratings(imported), imports(imported)[-1].state) == (stood, "recorded")
    approve(imported, imported.corrections.drafts.undo(undoing))
    import_rows(imported, "corrected.csv", *CORRECTED)
    games = [row["key"] for row in imported.rows("games", "voided_by IS NOT NULL")]
    for change in (imported.corrections.drafts.undo(proposal), imported.corrections.drafts.restore(f"game:{games[0]}")):
        with pytest.raises(ProposalError, match="taken back and recorded again"):
            imported.propose([change], reason="x", by="eve")
    assert imported.audit().ok


def test_new_players_without_other_games_leave_rankings_and_searches_and_come_back_with_a_game(
    imported: Ledger,
) -> None:
    number = import_rows(imported, "may.csv", *MAY)
    assert [row.name for row in find_players(imported, "cleo")] == ["Cleo"]
    import_rows(imported, "june.csv", "Dan,Ann,1-0,2024-06-01,40,Cup,1")
    summary = take_back_summary(imported, str(number))
    assert (summary.games, summary.players, summary.leaving) == (3, 2, 1)
    assert summary.notes == ["1 of its 2 new players stay, for other entries are about them: Dan (4)"]
    take_back(imported, number)
    assert [row.name for row in find_players(imported, "cleo")] == []
    assert [row.name for row in find_players(imported, "dan")] == ["Dan"]
    assert imported.player("Cleo").player == 3, "who is asked for by the whole name is still found"
    import_rows(imported, "corrected.csv", *CORRECTED)
    assert [row.player for row in find_players(imported, "cleo")] == [3]


def test_the_preview_moves_what_the_approval_moves_and_names_published_lists(imported: Ledger) -> None:
    number = import_rows(imported, "may.csv", *MAY)
    imported.publications.publish("2024-05-31", actor="adam")
    change = imported.corrections.drafts.take_back(str(number))
    impact = imported.preview([change])
    assert {move.name for move in impact.moves} == {"Ann", "Bob", "Cleo", "Dan"}
    assert len(impact.lists) == 1
    with imported.as_if([change]) as would_be:
        after = ratings(would_be)
    take_back(imported, number)
    assert ratings(imported) == after


def test_a_later_correction_of_one_of_the_games_is_named(imported: Ledger) -> None:
    number = import_rows(imported, "may.csv", *MAY, source="club")
    approve(imported, imported.corrections.drafts.replace("game:club:11", {"outcome": "draw"}))
    approve(imported, imported.corrections.drafts.annul("game:club:12"))
    (note,) = take_back_summary(imported, str(number)).notes
    assert note.startswith("2 games were corrected or voided since: club:11, club:12")


def test_what_is_refused_names_what_to_do(imported: Ledger) -> None:
    number = import_rows(imported, "may.csv", *MAY)
    with pytest.raises(UnknownNameError, match=r"no import '9'.*imports 1 to 2; see 'imports'"):
        take_back(imported, 9)
    for words in ("x", "", "5-4", "1-9 3", "0", "3,4"):
        with pytest.raises((MalformedError, UnknownNameError)):
            take_back(imported, words)
    take_back(imported, number)
    with pytest.raises(ProposalError, match="taken back by proposal 1 already"):
        take_back(imported, number)
    for entries, rule in (
        ("3-999", "no-such-fact"), (f"3-{imported.journal.size()}", "not-correctable"), ("2-3", "changes-nothing"),
    ):  # fmt: skip
        with pytest.raises(ProposalError, match=rule):
            take_back(imported, entries)
    with pytest.raises(ProposalError, match=r"bad-value.*not all registered"):
        approve(imported, Change(do=Verb.ANNUL_ENTRIES, entries="4-5", players="1"))


def test_byes_and_announced_days_go_come_back_by_an_undo_and_are_recorded_anew(imported: Ledger) -> None:
    bye = RoundWithoutGame(
        pool="standard", tournament="Cup", edition="2024-05-01", round=3, player=1, brings=Brings.HALF
    )
    cup = TournamentOpened(pool="standard", tournament="Cup", starts_at="2024-05-01", ends_at="2024-05-09")
    first = imported.append_many([bye, cup])[0].position
    proposal = take_back(imported, f"{first}-{first + 1}")
    tables = ("rounds_without_game", "openings")
    counts = [len(list(imported.rows(table))) for table in tables]
    assert counts == [0, 0]
    undoing = approve(imported, imported.corrections.drafts.undo(proposal))
    assert [len(list(imported.rows(table))) for table in tables] == [1, 1]
    approve(imported, imported.corrections.drafts.undo(undoing))
    full = RoundWithoutGame(
        pool="standard", tournament="Cup", edition="2024-05-01", round=3, player=1, brings=Brings.FULL
    )
    again = imported.append_many([full, cup])
    assert [receipt.duplicate for receipt in again] == [False, False]
    assert [receipt.key.rpartition("@")[2] for receipt in again] == ["2024-05-01T00:00:00Z"] * 2
    assert all(receipt.duplicate for receipt in imported.append_many([full, cup]))
    assert [row["brings"] for row in imported.rows("rounds_without_game")] == ["full"]
    with pytest.raises(ProposalError, match="recorded again"):
        approve(imported, imported.corrections.drafts.undo(proposal))
    imported.rebuild()
    assert [len(list(imported.rows(table))) for table in tables] == [1, 1]
    assert imported.audit().ok


def test_a_tournament_with_games_of_other_entries_stays_announced(imported: Ledger) -> None:
    cup = TournamentOpened(pool="standard", tournament="Cup", starts_at="2024-05-01", ends_at="2024-05-09")
    import_rows(imported, "first.csv", "Ann,Bob,1-0,2024-05-03,40,Cup,1")
    number = import_rows(imported, "may.csv", *MAY)
    imported.imports.add_announcement(number or 0, "2024-05-01T00:00:00Z", imported.append(cup))
    assert imports(imported)[-1].tournaments == 1
    summary = take_back_summary(imported, str(number))
    assert summary.notes == ["tournament 'Cup' stays announced: games of other entries belong to it"]
    take_back(imported, number)
    assert len(list(imported.rows("openings"))) == 1


def test_a_restored_tournament_restores_its_taken_back_byes_in_rows_and_in_a_build(imported: Ledger) -> None:
    import_rows(imported, "may.csv", *MAY)
    bye = RoundWithoutGame(
        pool="standard", tournament="Cup", edition="2024-05-01", round=3, player=1, brings=Brings.HALF
    )
    entry = imported.append(bye).position
    take_back(imported, f"{entry}-{entry}")
    drafts = imported.corrections.drafts
    approve(imported, drafts.tournament("standard", "Cup"))
    approve(imported, drafts.tournament("standard", "Cup", restore=True))
    rows = list(imported.rows("rounds_without_game"))
    imported.rebuild()
    assert list(imported.rows("rounds_without_game")) == rows
    assert imported.audit().ok


def test_the_verb_takes_the_number_of_the_import_or_its_entries(imported: Ledger) -> None:
    number = import_rows(imported, "may.csv", *MAY)
    entries = imported.imports.find(number or 0).entries
    verbs = imported.corrections.verbs
    change = verbs.change("void-import", {"import": str(number)})
    assert change == verbs.change("void-import", {"import": entries})
    assert (change.entries, change.players) == (entries, "3-4")
    content = f"verb,import\nvoid-import,{number}\n".encode()
    (proposed,) = imported.corrections.propose_batch(content, reason="the wrong file", by="eve")
    imported.decide(proposed.proposal, Decision.APPROVED, by="adam")
    assert [row.state for row in imports(imported)] == ["recorded", "taken back"]


def test_four_eyes_hold_for_the_proposal_as_a_whole(imported: Ledger) -> None:
    number = import_rows(imported, "may.csv", *MAY)
    imported.policies.set("four-eyes", {"on": True}, actor="adam")
    change = imported.corrections.drafts.take_back(str(number))
    proposal = imported.propose([change], reason="x", by="eve").proposal
    with pytest.raises(ProposalError, match="four-eyes"):
        imported.decide(proposal, Decision.APPROVED, by="eve")
    imported.decide(proposal, Decision.REJECTED, by="adam")
    assert len(ratings(imported)) == 4


# -- statements of reports -----------------------------------------------------------------------------------------

WRONG_REPORT = (
    player(1, "Ann, Ada", "2 w 1", "3 w -", rating="2310", fide="101", federation="NOR", points="1.0"),
    player(2, "Bert, Bo", "1 b 0", "0000 - H", rating="2200", fide="102", federation="SWE", points="0.5"),
    player(3, "Cy", "0000 - Z", "1 b -", federation="SWE", points="0.0"),
    player(4, "Idle", "0000 - Z", "0000 - Z", federation="DEN", points="0.0"),
)
RIGHT_REPORT = (
    player(1, "Ann, Ada", "2 w 0", "3 w -", rating="2310", fide="101", federation="NOR", points="0.0"),
    player(2, "Bert, Bo", "1 b 1", "0000 - H", rating="2222", fide="102", federation="DEN", points="1.5"),
    player(3, "Cy", "0000 - Z", "1 b -", federation="SWE", points="0.0"),
    player(4, "Idle", "0000 - Z", "0000 - Z", federation="DEN", points="0.0"),
)
STATEMENTS = ("entrants", "descriptions", "player_details")


def import_report(ledger: Ledger, name: str, rows: Sequence[str], *heads: bytes) -> int | None:
    content = b"".join((report(rows).encode(), *(head + b"\n" for head in heads)))
    imported = ledger.import_file(written(ledger.path.parent, name, content))
    assert imported.ok, imported.faults
    return imported.number


def exported(ledger: Ledger) -> bytes:
    ledger.ensure_up_to_date()
    return b"".join(trf_report.trf26_report(ledger, ExportFilter(tournament="Club open", names=True)))


def counts(ledger: Ledger) -> list[int]:
    return [len(list(ledger.rows(table))) for table in STATEMENTS]


def test_statements_go_with_their_report_and_the_corrected_one_gives_the_same_file_as_at_once(
    imported: Ledger, tmp_path: Path
) -> None:
    number = import_report(imported, "wrong.trf", WRONG_REPORT, b"102 Wrong, Arbiter")
    summary = take_back_summary(imported, str(number))
    assert (summary.games, summary.players, summary.leaving) == (1, 4, 4)
    stood, file = counts(imported), exported(imported)
    assert summary.statements == sum(stood) == imports(imported)[-1].statements > 0
    proposal = take_back(imported, number)
    assert counts(imported) == [0, 0, 0]
    undoing = approve(imported, imported.corrections.drafts.undo(proposal))
    assert (counts(imported), exported(imported)) == (stood, file)
    approve(imported, imported.corrections.drafts.undo(undoing))
    import_report(imported, "right.trf", RIGHT_REPORT, b"102 Right, Arbiter")
    (tmp_path / "other").mkdir()
    with Ledger.create(tmp_path / "other" / "club.db", scheme="elo", secret_of=imported.path) as right:
        import_rows(right, "april.csv", "Ann,Bob,1-0,2024-04-01,40,Club,1", "Bob,Ann,1/2-1/2,2024-04-08,40,Club,2")
        import_report(right, "right.trf", RIGHT_REPORT, b"102 Right, Arbiter")
        assert ratings(imported) == ratings(right) == rebuilt(imported)
        assert exported(imported) == exported(right)
        assert counts(imported) == counts(right)
    assert [row.name for row in find_players(imported, "idle")] == ["Idle"], "an entrant without a game is back"
    assert import_report(imported, "again.trf", RIGHT_REPORT, b"102 Right, Arbiter") is None
    assert imported.audit().ok


def test_data_about_a_player_that_were_taken_back_may_be_stated_again(imported: Ledger) -> None:
    take_back(imported, import_report(imported, "wrong.trf", WRONG_REPORT))
    ann = imported.player("Ann, Ada").player
    assert imported.registry.describe(ann, PlayerDetails(federation="NOR"), since="2024-05-01", actor="registry")
    assert not imported.registry.describe(ann, PlayerDetails(federation="NOR"), since="2024-05-01", actor="registry")
    assert details_at(imported, [ann], instant_ms("2024-06-01")) == {ann: PlayerDetails(federation="NOR")}


def test_a_file_of_statements_alone_is_taken_back(imported: Ledger) -> None:
    import_report(imported, "first.trf", WRONG_REPORT)
    before, file = counts(imported), exported(imported)
    idle = player(4, "Idle", "0000 - Z", "0000 - Z", rating="1800", federation="DEN", points="0.0")
    second = import_report(imported, "second.trf", (*WRONG_REPORT[:3], idle))
    assert imports(imported)[-1].games == 0
    take_back(imported, second)
    assert (counts(imported), exported(imported)) == (before, file)
    with pytest.raises(ProposalError, match="taken back by proposal 1 already"):
        take_back(imported, second)


def test_names_of_arbiters_are_erased_from_a_report_that_was_taken_back(imported: Ledger) -> None:
    take_back(imported, import_report(imported, "wrong.trf", WRONG_REPORT, b"102 Wrong, Arbiter"))
    assert erase_arbiters(imported, "Club open", pool="standard", by="adam") == 1


def send(ledger: Ledger) -> None:
    selection = ExportFilter(tournament="Club open", names=True)
    facts = trf_report.facts_to_send(ledger, selection)._asdict()
    ledger.sent_reports.record(
        **facts, tournament="Club open", form="trf26", file=exported(ledger), sent_on="2024-05-10", actor="export"
    )


def test_the_preview_names_the_reports_that_were_sent_and_would_change(imported: Ledger) -> None:
    number = import_report(imported, "wrong.trf", WRONG_REPORT)
    send(imported)
    drafts = imported.corrections.drafts
    change = drafts.take_back(str(number))
    (moved,) = impact_in_full(imported, imported.preview([change])).reports
    assert (moved.tournament, moved.sent_on, moved.results > 1) == ("Club open", "2024-05-10", True)
    game = next(iter(imported.rows("games", "tournament = 'Club'")))
    other = drafts.annul(f"game:{game['key']}")
    assert impact_in_full(imported, imported.preview([other])).reports == [], "a game of another tournament"
    take_back(imported, number)
    (sent,) = sent_reports(imported, again=True)
    assert len(sent.changed) == moved.results


@pytest.mark.parametrize(("rows", "count"), [(WRONG_REPORT, 0), (RIGHT_REPORT, 1)])
def test_a_sent_report_is_to_be_sent_again_only_for_results_that_the_corrected_file_changes(
    imported: Ledger, rows: Sequence[str], count: int
) -> None:
    number = import_report(imported, "wrong.trf", WRONG_REPORT)
    send(imported)
    take_back(imported, number)
    import_report(imported, "right.trf", rows)
    assert [(each.sent, each.now) for report in sent_reports(imported) for each in report.changed] == [
        ("1-0", "0-1")
    ] * count


# -- the register --------------------------------------------------------------------------------------------------


def test_a_line_of_a_transaction_that_never_was_counts_for_nothing(imported: Ledger) -> None:
    known = imported.imports.imports()
    path = imported.imports.path
    line = json.loads(path.read_text())
    torn = [{**line, "import": 2, "first": 99, "last": 99}, {**line, "import": 2, "leaf": "0" * 64}, [1], {"import": 3}]
    with path.open("a") as file:
        file.write("".join(f"{json.dumps(each)}\n" for each in torn) + '{"import": 4, "fi')
    assert imported.imports.imports() == known
    assert import_rows(imported, "may.csv", *MAY) == 2, "its number is free, and the cut line is ended"
    assert [each.file for each in imported.imports.imports()] == ["april.csv", "may.csv"]


def test_a_strict_import_with_a_fault_is_not_in_the_register(imported: Ledger) -> None:
    file = imported.path.with_name("bad.csv")
    file.write_text(HEADER.replace(",id", "") + "Ann,Bob,1-0,2024-05-03,40,Cup\nAnn,Bob,2-7,2024-05-03,40,Cup\n")
    assert imported.import_file(file, strict=True).number is None
    assert [each.file for each in imported.imports.imports()] == ["april.csv"]


def test_nothing_is_recorded_where_the_register_cannot_be_written(imported: Ledger) -> None:
    size = imported.journal.size()
    imported.imports.path.unlink()
    imported.imports.path.mkdir()
    with pytest.raises(StorageError, match="cannot be"):
        import_rows(imported, "may.csv", *MAY)
    assert imported.journal.size() == size


def test_a_calculation_is_silent_about_the_games_of_a_file_that_was_taken_back(imported: Ledger) -> None:
    take_back(imported, import_rows(imported, "may.csv", *MAY))
    import_rows(imported, "corrected.csv", *CORRECTED)
    approve(imported, imported.corrections.drafts.annul(f"game:{imported.player('Bob').games(limit=1)[0].game}"))
    calculation = imported.player("Ann").calculation("2024-05")
    tournaments = [each for batch in calculation.batches for each in batch.tournaments]
    assert [line.opponent for each in tournaments for line in each.lines] == ["Cleo"]
    assert calculation.left_out == []
    assert [game.opponent for game in imported.player("Bob").calculation("2024-05").left_out] == ["Dan"]


def test_an_erasure_takes_the_name_out_of_the_names_of_files(imported: Ledger) -> None:
    import_rows(imported, "games of zoé.csv", "Zoé,Ann,1-0,2024-05-03,40,Cup,1")
    imported.erase(imported.player("Zoé").player)
    assert [each.file for each in imported.imports.imports()] == ["april.csv", "(erased)"]
    assert "zo" not in imported.imports.path.read_text()


def test_games_of_others_between_two_parts_of_an_import_stay(imported: Ledger) -> None:
    number = import_rows(imported, "may.csv", *MAY)
    between = imported.append(game_recorded("other", white=1, black=2, ended_at="2024-05-05")).position
    notes = imported.imports.begin("may.csv", "import")
    notes.number = number
    (entry,) = record_one(imported)
    notes.add("2024-05-01T00:00:00.000Z", entry[0], entry[0], entry[1], imported.imports.imports()[0].counts)
    assert imported.imports.find(number or 0).entries.endswith(f"{between - 1} {entry[0]}")
    take_back(imported, number)
    assert [row["key"] for row in imported.rows("games", "voided_by IS NULL AND position > 5")] == ["other"]


def record_one(ledger: Ledger) -> Sequence[tuple[int, bytes]]:
    receipt = ledger.append(game_recorded("part-two", white=1, black=2, ended_at="2024-05-06"))
    return [(receipt.position, receipt.leaf)]


@pytest.mark.parametrize(("numbers", "text"), [([4], "4"), ([4, 5, 6], "4-6"), ([1, 3, 4, 9], "1 3-4 9"), ([], "")])
def test_numbers_are_written_as_spans_and_read_again(numbers: list[int], text: str) -> None:
    assert spans_text(numbers) == text
    assert [number for first, last in spans_of(text) for number in range(first, last + 1)] == numbers
