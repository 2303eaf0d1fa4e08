"""The desk, in an officer's order: import, players, proposals, decisions, lists; nothing twice, and nothing lost."""

import re
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path

import pytest

from ledger.correcting.verbs import VERBS
from ledger.facts.events import Role
from ledger.ledger import Ledger
from tests.kit.desks import EVIL_NAME, EVIL_REASON, GAME, OTHER_GAME, Form, Officer, club_with_officers, forms, words
from tests.kit.games import game_recorded, scheme_adopted
from tests.kit.programs import club_of_programs
from tests.kit.served_processes import position, serving, until
from tests.kit.tournament_reports import report_with_wrong_points
from tests.kit.workbooks import xlsx
from tools.serve.limits import BATCH_BYTES

pytestmark = pytest.mark.slow  # the processes of a server

FILE = b"""white,black,result,date,event
Ann,Bob,1-0,2026-04-01,Summer
Ann,Cleo,2-0,2026-04-02,Summer
bob,Zoe Falk,1/2-1/2,2026-04-03,Summer
"""


@pytest.fixture(name="staffed", scope="module")
def _staffed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str, Mapping[str, str]]]:
    """A served club: its file, its address, and the tokens of its officers."""
    club = tmp_path_factory.mktemp("desk") / "club.db"
    tokens = club_with_officers(club)
    with serving(club, "--listen", "127.0.0.1:0") as (_, address):
        until(lambda: position(address) > 0)
        yield club, address, tokens


@pytest.fixture(name="staff", scope="module")
def _staff(staffed: tuple[Path, str, Mapping[str, str]]) -> Iterator[dict[str, Officer]]:
    """Everybody who has signed in, by name."""
    _, address, tokens = staffed
    signed_in = {}
    for name in ("adam", "eve", "otto", "rita", "ada"):
        signed_in[name] = Officer(address)
        signed_in[name].sign_in(tokens[name])
    yield signed_in
    for officer in signed_in.values():
        officer.client.close()


def proposed(who: Officer, verb: str, **typed: str) -> int:
    """The number of a proposal that was made by a form."""
    page = f"/desk/propose/{verb}"
    done = who.do(page, page, {**typed, "reason": "the score sheet"})
    match = re.search(r"/desk/proposals/(\d+)", str(done.url))
    assert match is not None, words(done.text)[:2000]
    return int(match[1])


def approved(who: Officer, number: int) -> str:
    """What is said once a proposal was approved, as its preview showed it."""
    page = f"/desk/proposals/{number}"
    return words(who.do(f"{page}/preview", f"{page}/approve").text)


def test_a_file_is_looked_at_first_and_recorded_once_it_is_confirmed(staff: dict[str, Officer]) -> None:
    rita = staff["rita"]
    form = rita.form(rita.look("/desk/import"), "/desk/import")
    looked = rita.send(form, files={"file": ("spring.csv", FILE)})
    said = words(looked.text)
    assert looked.status_code == 200, said[:2000]
    for part in ("Nothing is recorded yet", "Zoe Falk", "line 3", "2-0", "Record 2 games"):
        assert part in said, part
    assert "Summer" not in words(rita.look("/tournaments").text)
    confirm = rita.form(looked, "/desk/import/confirm")
    done = rita.send(confirm)
    assert done.status_code == 303, words(done.text)[:2000]
    place = done.headers["location"]
    until(lambda: "Recorded: spring.csv" in words(rita.look(place).text))
    account = words(rita.look(place).text)
    assert "2" in account
    assert "line 3" in account, "the fault is told again"
    until(lambda: "Summer" in words(rita.look("/tournaments").text))  # once it is folded in
    again = rita.send(confirm)  # the button was pressed twice: what became of it is told, not that there is no file
    assert (again.status_code, again.headers.get("location")) == (303, place)
    other = rita.send(confirm, {"upload": "0" * 32})
    assert (other.status_code, "choose a file" in words(other.text)) == (400, True)
    assert len([row for row in games(staff, "Summer") if row]) == 2


def test_an_import_is_taken_back_by_a_button_beside_it_and_comes_again_corrected(staff: dict[str, Officer]) -> None:
    rita, eve = staff["rita"], staff["eve"]
    table = b"White,Black,Result,Date,Event\nWrong One,Wrong Two,1-0,2026-04-01,Mistake\n"

    def record(content: bytes) -> str:
        looked = rita.send(rita.form(rita.look("/desk/import"), "/desk/import"), files={"file": ("wrong.csv", content)})
        place = rita.send(rita.form(looked, "/desk/import/confirm")).headers["location"]
        until(lambda: "Recorded: wrong.csv" in words(rita.look(place).text))
        return rita.look(place).text

    (number,) = re.findall(r"/desk/propose/void-import\?import=(\d+)", record(table))
    assert f"/desk/propose/void-import?import={number}" in eve.look("/desk/imports").text
    proposal = proposed(eve, "void-import", **{"import": number})
    assert "All of wrong.csv" in words(eve.look(f"/desk/proposals/{proposal}").text)
    assert "Approved" in approved(staff["otto"], proposal)
    assert "taken back" in words(eve.look("/desk/imports").text)
    assert "Recorded: wrong.csv" in words(record(table.replace(b"1-0", b"0-1")))
    assert len(games(staff, "Mistake")) == 1


def test_rows_with_faults_wait_as_work_until_they_are_corrected(staff: dict[str, Officer]) -> None:
    rita = staff["rita"]
    table = b"white,black,result,date,event\nAnn,Bob,1-0,2026-06-01,Faulty Cup\nAnn,Cleo,2-0,2026-06-02,Faulty Cup\n"
    looked = rita.send(rita.form(rita.look("/desk/import"), "/desk/import"), files={"file": ("faulty.csv", table)})
    done = rita.send(rita.form(looked, "/desk/import/confirm"))
    place = done.headers["location"]
    until(lambda: "Recorded: faulty.csv" in words(rita.look(place).text))
    assert "faulty.csv 1 fault in 1 row rita" in words(staff["otto"].look("/desk").text)
    page = rita.look(place)
    table_of_faults = rita.client.get(f"{place}/faults.csv")
    assert table_of_faults.headers["content-disposition"] == 'attachment; filename="faulty-faults.csv"'
    header, row = table_of_faults.text.removeprefix("\ufeff").splitlines()
    assert header == "file,line,column,value,fault,white,black,result,date,event"
    assert row.startswith("faulty.csv,3,result,2-0,")
    assert row.endswith(",Ann,Cleo,2-0,2026-06-02,Faulty Cup")
    rows = "white,black,result,date,event\r\nAnn,Cleo,{},2026-06-02,Faulty Cup\r\n"
    form = next(each for each in forms(page.text) if each.action == "/desk/import" and "rows" in each.fields)
    assert form.fields["rows"].strip().splitlines() == rows.format("2-0").splitlines()
    still = rita.send(form, {"rows": rows.format("3-0")})
    assert "3-0" in next(each for each in forms(still.text) if "rows" in each.fields).fields["rows"], "typed words stay"
    looked = rita.send(form, {"rows": rows.format("1-0")})
    assert "Record 1 game" in words(looked.text)
    corrected = rita.send(rita.form(looked, "/desk/import/confirm")).headers["location"]
    until(lambda: "Recorded: faulty.csv" in words(rita.look(corrected).text))
    assert "faulty.csv" not in words(rita.look("/desk").text), "nothing is left of it"
    assert rita.client.get(f"{place}/faults.csv").status_code == 404
    until(lambda: len(games(staff, "Faulty Cup")) == 2)


def test_rows_of_a_sheet_with_faults_tell_their_sheet_and_are_corrected_as_text(staff: dict[str, Officer]) -> None:
    pytest.importorskip("python_calamine")
    rita = staff["rita"]
    rows = [["white", "black", "result", "date", "event"], ["Ann", "Cleo", "2-0", "2026-07-02", "Sheet Cup"]]
    book = xlsx({"May": [*rows, ["Ann", "Bob", "1-0", "2026-07-01", "Sheet Cup"]], "June": rows})
    form = rita.form(rita.look("/desk/import"), "/desk/import")
    looked = rita.send(form, {"sheet": "May"}, files={"file": ("liga.xlsx", book)})
    place = rita.send(rita.form(looked, "/desk/import/confirm")).headers["location"]
    until(lambda: "Recorded: liga.xlsx" in words(rita.look(place).text))
    assert "liga.xlsx[May] 1 fault in 1 row rita" in words(staff["otto"].look("/desk").text)
    page = rita.look(place)
    assert "liga.xlsx[May] (csv)" in words(page.text)
    _, row = rita.client.get(f"{place}/faults.csv").text.removeprefix("\ufeff").splitlines()
    assert row.startswith("liga.xlsx[May],2,result (column C),2-0,")
    form = next(each for each in forms(page.text) if each.action == "/desk/import" and "rows" in each.fields)
    looked = rita.send(form, {"rows": form.fields["rows"].replace("2-0", "1-0")})
    assert "Record 1 game" in words(looked.text)
    rita.send(rita.form(looked, "/desk/import/confirm"))
    until(lambda: len(games(staff, "Sheet Cup")) == 2)


def test_rows_with_faults_are_set_aside_by_who_may_record(staff: dict[str, Officer]) -> None:
    rita, eve = staff["rita"], staff["eve"]
    table = b"white,black,result,date\nAnn,Bob,1-0,2026-05-01\nAnn,Cleo,2-0,2026-05-02\n"
    looked = rita.send(rita.form(rita.look("/desk/import"), "/desk/import"), files={"file": ("aside.csv", table)})
    place = rita.send(rita.form(looked, "/desk/import/confirm")).headers["location"]
    until(lambda: "aside.csv" in words(rita.look("/desk").text))
    settle = f"{place}/settle"
    refused = eve.send(eve.form(eve.look(place), settle)) if settle in eve.look(place).text else None
    assert refused is None, "who may not record finds no button"
    done = rita.do(place, settle)
    assert "Set aside." in words(done.text)
    assert "aside.csv" not in words(rita.look("/desk").text)


def test_a_table_with_headings_of_its_own_is_looked_at_and_recorded(staff: dict[str, Officer]) -> None:
    rita = staff["rita"]
    form = rita.form(rita.look("/desk/import"), "/desk/import")
    table = b"Weiss;Schwarz;Ergebnis;Datum;Turnier\nMax;Moritz;Sieg;2026-03-01;Winter\n"
    said = {"columns": "white=Weiss; black=Schwarz; result=Ergebnis; date=Datum; event=Turnier", "results": "Sieg=1-0"}
    looked = rita.send(form, said, files={"file": ("winter.csv", table)})
    assert "Record 1 game" in words(looked.text), words(looked.text)[:2000]
    assert rita.send(rita.form(looked, "/desk/import/confirm")).status_code == 303
    until(lambda: len(games(staff, "Winter")) == 1)


def test_warnings_about_a_report_are_accepted_by_name_before_it_is_recorded(
    staffed: tuple[Path, str, Mapping[str, str]], staff: dict[str, Officer]
) -> None:
    rita, sent = staff["rita"], {"file": ("open.trf", report_with_wrong_points())}
    looked = rita.send(rita.form(rita.look("/desk/import"), "/desk/import"), files=sent)
    said = words(looked.text)
    assert "line 10 points-differ: 1 (" in said, said[:2000]
    assert "I accept the warnings points-differ; that is recorded with my name" in said
    form = rita.form(looked, "/desk/import/confirm")
    done = rita.send(form)
    until(lambda: "Not recorded: open.trf" in words(rita.look(done.headers["location"]).text))
    assert not games(staff, "Made-up Open 3")
    looked = rita.send(rita.form(rita.look("/desk/import"), "/desk/import"), files=sent)
    done = rita.send(rita.form(looked, "/desk/import/confirm"), {"accept_points-differ": "yes"})
    until(lambda: "They were accepted: points-differ" in words(rita.look(done.headers["location"]).text))
    until(lambda: len(games(staff, "Made-up Open 3")) > 0)
    with Ledger.open(staffed[0]) as ledger:
        (entry,) = ledger.entries("warnings-accepted")
    assert (entry.actor, entry.facts["codes"]) == ("rita", "points-differ")


def test_where_two_people_accept_warnings_the_second_one_records_the_report(tmp_path: Path) -> None:
    club, sent = tmp_path / "club.db", {"file": ("open.trf", report_with_wrong_points())}
    tokens = dict(club_of_programs(club))
    with Ledger.open(club) as ledger:
        tokens["ruth"] = ledger.tokens.add("ruth", [Role.RECORDER], token=tokens["adam"])
        ledger.policies.set("four-eyes", {"on": True, "warnings": True}, token=tokens["adam"])
    with serving(club, "--listen", "127.0.0.1:0") as (_, address):
        until(lambda: position(address) > 0)
        first, second = (with_warnings_accepted(address, tokens[name], sent) for name in ("rita", "ruth"))
    assert "Not recorded: open.trf" in first
    assert "four eyes ask for another person" in first
    assert "They were accepted: points-differ" in second
    with Ledger.open(club) as ledger:
        assert [entry.actor for entry in ledger.entries("warnings-accepted")] == ["rita", "ruth"]
        assert list(ledger.entries("game-recorded"))


def with_warnings_accepted(address: str, token: str, sent: Mapping[str, tuple[str, bytes]]) -> str:
    """The words of the page after an officer has accepted the warnings about a report, and recorded it."""
    officer = Officer(address)
    with closing(officer.client):
        officer.sign_in(token)
        looked = officer.send(officer.form(officer.look("/desk/import"), "/desk/import"), files=sent)
        done = officer.send(officer.form(looked, "/desk/import/confirm"), {"accept_points-differ": "yes"})
        place = done.headers["location"]
        until(lambda: "accepted" in words(officer.look(place).text))
        return words(officer.look(place).text)


def games(staff: dict[str, Officer], tournament: str) -> list[str]:
    """The keys of the games of a tournament."""
    answer = staff["rita"].client.get("/api/v1/games", params={"tournament": tournament})
    # before its first game nobody knows the tournament
    return [row["game"] for row in answer.json().get("rows", ())]


def test_what_is_no_file_of_games_is_refused_with_its_faults(staff: dict[str, Officer]) -> None:
    rita = staff["rita"]
    form = rita.form(rita.look("/desk/import"), "/desk/import")
    refused = rita.send(form, files={"file": ("letter.csv", b"Dear Sir\nthank you\n")})
    assert "line 1 no PGN tag" in words(refused.text)
    assert "There is nothing new in it." in words(refused.text)


def test_who_may_not_record_looks_at_a_file_and_finds_no_button(staff: dict[str, Officer]) -> None:
    ada = staff["ada"]
    other = {"file": ("x.csv", FILE.replace(b"2026-04", b"2026-07"))}
    looked = ada.send(ada.form(ada.look("/desk/import"), "/desk/import"), files=other)
    assert "Only a recorder may record games" in words(looked.text)
    assert "/desk/import/confirm" not in looked.text
    upload = staff["rita"].form(
        staff["rita"].send(staff["rita"].form(staff["rita"].look("/desk/import"), "/desk/import"), files=other),
        "/desk/import/confirm",
    )
    refused = ada.send(ada.own_form("/desk/import/confirm", upload=upload.fields["upload"]))
    assert refused.status_code in {303, 400, 403}
    settled = ada.send(ada.own_form(f"/desk/import/{'0' * 32}/settle"))
    assert "needs the role recorder" in words(settled.text)


def test_data_about_a_player_are_stated_and_shown_in_the_form(staff: dict[str, Officer]) -> None:
    rita = staff["rita"]
    rita.do("/desk/players", "/desk/players/add", {"identity": "club:nora", "name": "Nora", "standing": "full"})
    typed = {"described_player": "club:nora", "federation": "NOR", "sex": "w", "birth": "2010-05-06", "active": "yes"}
    done = rita.do("/desk/players", "/desk/players/describe", typed)
    assert "Recorded." in words(done.text)
    assert {"Now: NOR.", "Now: 2010-05-06.", "Now: yes."} <= {
        each + "." for each in re.findall(r"Now: [^.]*", words(done.text))
    }
    again = rita.do("/desk/players", "/desk/players/describe", typed)
    assert "stated already" in words(again.text)
    refused = rita.do("/desk/players", "/desk/players/describe", {**typed, "federation": "Norway", "birth": "May"})
    assert "federation must be" in words(refused.text)
    assert "birth must be" in words(refused.text)
    nothing = rita.do("/desk/players", "/desk/players/describe", {"described_player": "club:nora"})
    assert "nothing is filled in" in words(nothing.text)


def test_players_are_registered_and_spelt_right(staff: dict[str, Officer]) -> None:
    rita = staff["rita"]
    typed = {"identity": "club:dora", "name": "Dora Neu", "standing": "full", "birth_year": "1990"}
    done = rita.do("/desk/players", "/desk/players/add", typed)
    assert "Registered." in words(done.text)
    again = rita.do("/desk/players", "/desk/players/add", typed)
    assert "registered already, with the same facts" in words(again.text)
    renamed = rita.do("/desk/players", "/desk/players/rename", {"player": "club:dora", "new_name": "Dora Neumann"})
    assert "Renamed. The old name is forgotten." in words(renamed.text)
    assert "Dora Neumann" in words(rita.client.get("/players/club:dora", follow_redirects=True).text)
    wrong = {"identity": "", "name": "", "standing": "full", "birth_year": "old"}
    refused = rita.do("/desk/players", "/desk/players/add", wrong)
    for fault in ("identity is missing", "name is missing", "birth year must be a whole number, got 'old'"):
        assert fault in words(refused.text)
    assert 'value="old"' in refused.text, "what was typed stays"


def test_players_who_look_alike_are_proposed_to_be_merged(staff: dict[str, Officer]) -> None:
    rita, eve = staff["rita"], staff["eve"]
    for identity in ("club:emil", "fide:77"):
        typed = {"identity": identity, "name": "Emil Twin", "standing": "full"}
        rita.do("/desk/players", "/desk/players/add", typed)
    alike = eve.look("/desk/players/alike")
    assert "Emil Twin" in words(alike.text)
    number = proposed(eve, "merge", player="fide:77", into="club:emil")
    assert "Approved" in approved(staff["otto"], number)
    moved = eve.client.get("/players/fide:77", follow_redirects=True)
    assert "club:emil" in moved.text


EXAMPLES: Mapping[str, Mapping[str, str]] = {
    "result": {"game": GAME, "to": "1/2-1/2", "termination": "agreement"},
    "game": {"game": GAME, "field": "ended_at", "to": "2026-01-11"},
    "void": {"game": OTHER_GAME},
    "reinstate": {"game": OTHER_GAME},
    "reassign": {"game": GAME, "player": "Ann", "to": "3"},
    "swap-colours": {"game": GAME},
    "late": {"white": "Ann", "black": "Bob", "to": "1-0", "ended": "2026-01-20"},
    "bye": {"tournament": "Spring", "player": "Ann", "brings": "half", "edition": "2026-02-10"},
    "annul": {"player": "Ann", "which": "all"},
    "close": {"player": "Ann", "from": "2026-06-01"},
    "standing": {"player": "Ann", "to": "guest", "from": "2026-06-01"},
    "rating": {"player": "Ann", "to": "1850", "games": "40"},
    "declared": {"player": "Ann", "to": "1700", "from": "2026-01-01"},
    "born": {"player": "Ann", "to": "1990"},
    "strength": {"player": "Ann", "to": "beginner", "from": "2026-01-01"},
    "federation": {"player": "Ann", "to": "NOR", "from": "2026-01-01"},
    "merge": {"player": "Ann", "into": "Bob"},
    "unmerge": {"player": "fide:77"},
    "void-import": {"import": "1"},
    "void-tournament": {"tournament": "Spring"},
    "reinstate-tournament": {"tournament": "Spring"},
    "adopt": {"scheme": "elo", "from": "2026-08-01"},
    "close-run": {"ended": "2026-05-31"},
    "open-tournament": {"tournament": "Autumn", "started": "2026-09-01", "ended": "2026-09-05"},
    "close-tournament": {"tournament": "Spring", "ended": "2026-04-05"},
    "fact": {"fact": "player:1", "field": "declared_rating", "to": "1600"},
    "take-back": {"fact": "player:1"},
    "put-back": {"fact": "player:1"},
    "undo": {"proposal": "1"},
}


def test_every_verb_of_corrections_has_a_form_here() -> None:
    assert EXAMPLES.keys() == VERBS.keys()


@pytest.mark.parametrize("verb", EXAMPLES)
def test_the_form_of_a_verb_proposes_or_says_why_not_and_keeps_what_was_typed(
    verb: str, staff: dict[str, Officer]
) -> None:
    eve, page = staff["eve"], f"/desk/propose/{verb}"
    form = eve.form(eve.look(page), page)
    asked = {*VERBS[verb].needed, *VERBS[verb].options, *VERBS[verb].allowed}
    assert asked <= form.fields.keys() | {"to"}, "each word has a field"
    done = eve.send(form, {**EXAMPLES[verb], "reason": "to try it"})
    if done.status_code == 303:
        assert "Proposed. It acts once another person approves it." in words(eve.look(done.headers["location"]).text)
        return
    assert done.status_code in {400, 404, 409}, words(done.text)[:2000]
    assert 'role="alert"' in done.text
    for value in EXAMPLES[verb].values():
        assert value in done.text


def test_a_proposal_without_its_words_is_refused_with_all_that_is_missing(staff: dict[str, Officer]) -> None:
    eve = staff["eve"]
    refused = eve.do("/desk/propose/late", "/desk/propose/late", {"white": "Nobody Here", "reason": ""})
    said = words(refused.text)
    for fault in ("late needs black", "late needs ended"):
        assert fault in said


def test_a_file_that_is_too_large_for_corrections_is_refused_beside_its_form(staff: dict[str, Officer]) -> None:
    eve = staff["eve"]
    files = {"file": ("games.pgn", b"x" * (BATCH_BYTES + 1))}
    refused = eve.send(eve.form(eve.look("/desk/batch"), "/desk/batch"), {"reason": "typed twice"}, files=files)
    assert (refused.status_code, "has more than 16,777,216 bytes" in words(refused.text)) == (400, True)
    assert eve.form(refused, "/desk/batch").fields["reason"] == "typed twice"


def test_a_batch_is_proposed_whole_or_not_at_all(staff: dict[str, Officer]) -> None:
    eve = staff["eve"]
    batch = b"verb,game,to\nresult,r1-b1,0-1\nresult,nowhere,1-0\nresutl,r2-b1,1-0\n"
    form = eve.form(eve.look("/desk/batch"), "/desk/batch")
    refused = eve.send(form, {"reason": "typed twice"}, files={"file": ("batch.csv", batch)})
    for fault in ("line 3", "nowhere", "line 4", "resutl"):
        assert fault in words(refused.text)
    good = b"verb,game,to\nresult,r1-b1,0-1\nresult,r2-b1,1/2-1/2\n"
    form = eve.form(eve.look("/desk/batch"), "/desk/batch")
    done = eve.send(form, {"reason": "typed twice", "each": "yes"}, files={"file": ("batch.csv", good)})
    assert done.status_code == 303, words(done.text)[:2000]
    assert "typed twice" in words(eve.look("/desk/queue").text)


def test_a_button_that_is_pressed_twice_does_its_thing_once(staff: dict[str, Officer]) -> None:
    eve = staff["eve"]
    form = eve.form(eve.look("/desk/propose/void"), "/desk/propose/void")
    places = [
        eve.send(form, {"game": GAME, "reason": "twice"}).headers.get("location", "").partition("?")[0]
        for _ in range(2)
    ]
    assert places[0] == places[1]


def test_two_people_correct_a_game_and_undo_it(
    staff: dict[str, Officer], staffed: tuple[Path, str, Mapping[str, str]]
) -> None:
    eve, otto = staff["eve"], staff["otto"]

    def outcome() -> str:
        return str(eve.client.get(f"/api/v1/games/{OTHER_GAME}").json()["outcome"])

    before = outcome()
    to, becomes = ("0-1", "black") if before != "black" else ("1-0", "white")
    number = proposed(eve, "result", game=OTHER_GAME, to=to)
    assert f"/desk/proposals/{number}" in eve.look("/desk/queue").text
    preview = words(otto.look(f"/desk/proposals/{number}/preview").text)
    assert "Games rated again" in preview
    assert "Approved. The ratings follow." in approved(otto, number)
    until(lambda: outcome() == becomes)
    undoing = proposed(eve, "undo", proposal=str(number))
    assert "Approved" in approved(otto, undoing)
    until(lambda: outcome() == before)


def test_nobody_approves_what_was_proposed_by_the_same_person(staff: dict[str, Officer]) -> None:
    otto = staff["otto"]
    number = proposed(otto, "born", player="Bob", to="1985")
    page = f"/desk/proposals/{number}"
    looked = otto.look(f"{page}/preview")
    assert "You proposed it: another approver decides." in words(looked.text)
    assert f"{page}/approve" not in looked.text
    seen = re.search(r'name="seen" value="(\d+)"', staff["adam"].look(f"{page}/preview").text)
    assert seen is not None
    refused = words(otto.send(otto.own_form(f"{page}/approve", seen=seen[1])).text)
    assert "four-eyes" in refused or "proposed it" in refused
    form = otto.form(otto.look(page), f"{page}/decide")
    done = otto.send(form, {"decision": "withdrawn"})
    assert "Withdrawn." in words(otto.look(done.headers["location"]).text)
    other = proposed(otto, "born", player="Bob", to="1985")
    page = f"/desk/proposals/{other}"
    form = staff["adam"].form(staff["adam"].look(page), f"{page}/decide")
    done = staff["adam"].send(form, {"decision": "rejected", "reason": "no proof"})
    assert "Rejected." in words(otto.look(done.headers["location"]).text)
    assert "no proof" in words(otto.look("/desk/history").text + otto.look(page).text)


def looked_at_before_a_game(
    staff: dict[str, Officer], staffed: tuple[Path, str, Mapping[str, str]], declared: dict[str, str], game: str
) -> tuple[str, Form]:
    """The page of a proposal, and the form on its preview as it was before a game was recorded."""
    otto = staff["otto"]
    number = proposed(staff["eve"], "declared", player="Bob", **declared)
    page = f"/desk/proposals/{number}"
    form = otto.form(otto.look(f"{page}/preview"), f"{page}/approve")
    with Ledger.open(staffed[0]) as ledger:
        ledger.append(game_recorded(game, half_moves=60, ended_at="2026-05-01"), token=staffed[2]["rita"])
    return page, form


def test_what_was_looked_at_is_what_is_approved(
    staff: dict[str, Officer], staffed: tuple[Path, str, Mapping[str, str]]
) -> None:
    otto = staff["otto"]
    page, form = looked_at_before_a_game(staff, staffed, {"to": "1500", "from": "2026-01-01"}, "meanwhile")
    stale = otto.send(form)
    assert stale.status_code == 409, words(stale.text)[:2000]
    fresh = otto.form(stale, f"{page}/approve")
    assert int(fresh.fields["seen"]) > int(form.fields["seen"]), "it is shown anew"
    places = {otto.send(fresh).headers.get("location") for _ in range(2)}
    assert places == {f"{page}?done=approved"}, "pressed twice it is approved once"


def test_an_approver_may_say_that_games_may_come_meanwhile(
    staff: dict[str, Officer], staffed: tuple[Path, str, Mapping[str, str]]
) -> None:
    page, form = looked_at_before_a_game(staff, staffed, {"to": "1510", "from": "2026-01-02"}, "all-the-time")
    approved_anyway = staff["otto"].send(form, {"despite_games": "on"})
    assert approved_anyway.headers.get("location") == f"{page}?done=approved"


def test_a_recorder_records_the_strength_that_a_member_chooses(staff: dict[str, Officer]) -> None:
    rita = staff["rita"]
    typed = {"identity": "club:stella", "name": "Stella", "standing": "full"}
    rita.do("/desk/players", "/desk/players/add", typed)
    done = rita.do("/desk/players", "/desk/players/strength", {"player": "club:stella", "strength": "advanced"})
    assert "The strength is recorded." in words(done.text)
    number = re.search(r"is player (\d+)", words(done.text))
    assert number is not None
    assert "Advanced (own choice)" in words(rita.look(f"/players/{number[1]}").text)
    wrong = rita.do("/desk/players", "/desk/players/strength", {"player": "club:stella", "strength": "", "since": "x"})
    assert "strength is missing" in words(wrong.text)


def test_who_may_not_finds_the_reason_and_no_button_and_a_form_of_their_own_is_refused(
    staff: dict[str, Officer],
) -> None:
    number = proposed(staff["eve"], "void", game=OTHER_GAME)
    rita, page = staff["rita"], f"/desk/proposals/{number}"
    for path, action, reason in (
        (f"{page}/preview", f"{page}/approve", "An approver decides; you may look."),
        (page, f"{page}/decide", "An approver decides; you may look."),
        ("/desk/propose/void", "/desk/propose/void", "Only a corrector may propose a correction. You are recorder."),
        ("/desk/batch", "/desk/batch", "Only a corrector may propose corrections."),
        ("/desk/publish?at=2026-03-31", "/desk/publish", "Only an approver may publish a list."),
    ):
        looked = rita.look(path)
        assert reason in words(looked.text), path
        assert f'method="post" action="{action}"' not in looked.text, path
    assert "Only a recorder may register players" in words(staff["eve"].look("/desk/players").text)
    refused = rita.send(rita.own_form(f"{page}/approve", seen="1"))
    assert "needs the role approver" in words(refused.text)
    refused = rita.send(rita.own_form("/desk/propose/void", game=GAME, reason="x"))
    assert "needs the role corrector" in words(refused.text)
    own = words(staff["eve"].look(page).text)
    assert "Withdraw" in own
    assert "alone may withdraw it" not in own


def test_a_list_is_looked_at_and_published(staff: dict[str, Officer]) -> None:
    adam = staff["adam"]
    assert "Nobody would be on standard@1990-01-01: " in words(adam.look("/desk/publish?at=1990-01-01").text)
    shown = adam.look("/desk/publish?at=2026-03-31")
    assert "players would be on standard@2026-03-31" in words(shown.text)
    form = adam.form(shown, "/desk/publish")
    done = adam.send(form, {"despite": "on"})
    assert done.status_code == 303, words(done.text)[:2000]
    assert "Published." in words(adam.look(done.headers["location"]).text)
    assert adam.send(form, {"despite": "on"}).headers["location"] == done.headers["location"], "pressed twice"
    stale = adam.send(form, {"despite": "on", "once": "another"})
    assert (stale.status_code, "look again" in words(stale.text)) == (409, True)
    assert "2026-03-31 standard" in words(adam.look("/lists").text)


def test_health_tells_how_the_ledger_does_and_who_was_refused(
    staff: dict[str, Officer], staffed: tuple[Path, str, Mapping[str, str]]
) -> None:
    # one who is refused, whatever ran before
    staff["rita"].send(staff["rita"].own_form("/desk/propose/void", game=GAME, reason="x"))
    said = words(staff["adam"].look("/desk/health").text)
    for part in (
        "No fault found here.",
        "Entries of the journal",
        "Free on the disk",
        "Last checkpoint",
        "sign in at the desk",
        "not-this-role",
    ):
        assert part in said
    for token in staffed[2].values():
        assert token not in said


def test_health_names_every_fault_as_the_command_does(tmp_path: Path) -> None:
    club = tmp_path / "club.db"
    tokens = club_with_officers(club)
    with Ledger.open(club) as ledger:
        for pool in ("monthly", "quarterly"):
            ledger.append(scheme_adopted("glicko2", pool=pool), token=tokens["rita"])
            ledger.append(game_recorded(f"{pool}-1", pool=pool, ended_at="2026-01-10"), token=tokens["rita"])
        size = ledger.journal.size()
    with serving(club, "--listen", "127.0.0.1:0") as (_, address):
        until(lambda: position(address) == size)
        adam = Officer(address)
        adam.sign_in(tokens["adam"])
        said = words(adam.look("/desk/health").text)
        adam.client.close()
    assert "No fault found" not in said
    for pool in ("monthly", "quarterly"):
        assert re.search(rf"list : the list of 2026-\d\d-\d\d of pool {pool} is due", said), said[:800]


def test_public_pages_lead_officers_to_what_they_may_propose_about(staff: dict[str, Officer]) -> None:
    eve = staff["eve"]
    about = {f"/games/{GAME}": f"game={GAME}", "/players/1": "player=1", "/tournaments/Spring": "tournament=Spring"}
    for page, asked in about.items():
        place = re.search(r'href="([^"]*/desk/propose\?[^"]*)"', eve.look(page).text)
        assert place is not None, page
        assert asked in place[1]
        assert "Propose a correction" in words(eve.look(place[1]).text)


def test_a_form_that_outlives_its_session_comes_back_filled(staffed: tuple[Path, str, Mapping[str, str]]) -> None:
    club, address, tokens = staffed
    eve = Officer(address)
    eve.sign_in(tokens["eve"])
    form = eve.form(eve.look("/desk/propose/result"), "/desk/propose/result")
    with closing(sqlite3.connect(club.with_suffix(".tokens.db"), isolation_level=None)) as file:
        mine = "begun_ms = (SELECT max(begun_ms) FROM sessions)"
        file.execute(f"UPDATE sessions SET used_ms = 0, begun_ms = 0, ends_ms = 0 WHERE {mine}")
    late = eve.send(form, {"game": GAME, "to": "0-1", "reason": "long thought of"})
    assert late.status_code == 401
    assert "Your session is over, and nothing was sent" in words(late.text)
    back = eve.send(eve.form(late, "/desk/sign-in"), {"token": tokens["eve"]})
    assert back.status_code == 200, words(back.text)[:2000]
    filled = eve.form(back, "/desk/propose/result")
    assert {name: filled.fields[name] for name in ("game", "to")} == {"game": GAME, "to": "0-1"}
    assert "long thought of" in back.text
    assert eve.send(filled).status_code in {303, 409}
    eve.client.close()


def test_what_was_typed_is_kept_though_it_names_nothing_that_there_is(staff: dict[str, Officer]) -> None:
    for who, path, form, typed in (
        ("eve", "/desk/propose/result", "/desk/propose/result", {"game": "r1-b9", "to": "0-1"}),
        ("rita", "/desk/players", "/desk/players/rename", {"player": "Nobody", "new_name": "Somebody"}),
    ):
        refused = staff[who].do(path, form, {**typed, "reason": "typed with care"})
        assert (refused.status_code, "What you typed is kept below" in words(refused.text)) == (404, True)
        filled = staff[who].form(refused, form)
        assert {name: filled.fields[name] for name in typed} == typed


def test_who_signs_in_again_is_signed_in_whatever_was_typed_before(
    staffed: tuple[Path, str, Mapping[str, str]],
) -> None:
    _, address, tokens = staffed
    eve, otto = Officer(address), Officer(address)
    for who, name in ((eve, "eve"), (otto, "otto")):
        who.sign_in(tokens[name])
    form = eve.form(eve.look("/desk/propose/result"), "/desk/propose/result")
    number = proposed(eve, "result", game=OTHER_GAME, to="0-1")
    place = f"/desk/proposals/{number}"
    approval = otto.form(otto.look(f"{place}/preview"), f"{place}/approve")
    otto.do(place, f"{place}/decide", {"decision": "rejected"})
    for who, name, late, typed, status in (
        (eve, "eve", form, {"game": "r1-b9", "to": "0-1"}, 200),
        (otto, "otto", approval, {}, 409),  # it was decided meanwhile
    ):
        who.client.cookies.clear()
        lost = who.send(late, typed)
        assert lost.status_code == 401
        back = who.send(who.form(lost, "/desk/sign-in"), {"token": tokens[name]})
        assert back.status_code == status, words(back.text)[:2000]
        assert all(word in back.text for word in typed.values())
        who.look("/desk/queue")
        who.client.close()


def test_evil_words_stay_words(staff: dict[str, Officer]) -> None:
    eve = staff["eve"]
    page = "/desk/propose/close"
    done = eve.do(page, page, {"player": EVIL_NAME, "from": "2026-06-02", "reason": EVIL_REASON})
    for text in (done.text, eve.look("/desk/queue").text):
        assert "alert(2)" in words(text)
        assert "{{ 7*7 }}" in words(text)
        assert "<script>alert" not in text
        assert "<img src=x" not in text


@pytest.mark.parametrize("verb", ["result", "game", "void", "reassign", "swap-colours"])
def test_a_game_that_is_typed_wrong_loses_nothing_of_what_was_typed_beside_it(
    verb: str, staff: dict[str, Officer]
) -> None:
    eve, page = staff["eve"], f"/desk/propose/{verb}"
    refused = eve.do(page, page, {**EXAMPLES[verb], "game": "nowhere", "reason": "a long story"})
    kept = eve.form(refused, page).fields
    assert (refused.status_code, kept["game"], kept["reason"]) == (404, "nowhere", "a long story")
    assert "no game 'nowhere' in this ledger" in words(refused.text)
    looked = eve.look(f"{page}?game=nowhere", 404)
    assert eve.form(looked, page).fields["game"] == "nowhere"
    assert "no game 'nowhere' in this ledger" in words(looked.text)


def test_a_page_that_cannot_be_shown_with_what_was_asked_keeps_its_form(staff: dict[str, Officer]) -> None:
    for asked, status, says, kept in (
        ("/desk/publish?at=03/2026", 400, "at: expected YYYY, YYYY-MM", 'value="03/2026"'),
        ("/desk/players?player=Nobody+Here", 404, "no player 'Nobody Here'", 'value="Nobody Here"'),
    ):
        refused = staff["adam"].look(asked, status)
        assert says in words(refused.text)
        assert "Sign out" in words(refused.text), "it is a page of the desk"
        assert kept in refused.text
    assert "no verb" in words(staff["adam"].look("/desk/propose/resutl?game=r1-b1", 404).text)
