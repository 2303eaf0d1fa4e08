"""The desk and HTTP say in which list the games of a file count, and what waits when a list is published."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from ledger.facts.events import SchemeAdopted
from ledger.ledger import Ledger
from tests.kit.desks import Officer, club_with_officers, words
from tests.kit.games import game_recorded
from tests.kit.programs import Api
from tests.kit.served_processes import position, serving, until

pytestmark = pytest.mark.slow  # the processes of a server

FILE = b"""white,black,result,date,event
Ann,Bob,1-0,2026-01-20,Late open
Bob,Ann,1-0,2026-02-10,February open
"""


@pytest.fixture(name="club_with_late_reports")
def _club_with_late_reports(tmp_path: Path) -> Iterator[tuple[str, Mapping[str, str]]]:
    """A served club with a pool of FIDE whose list of 1 February 2026 is published: its address, the tokens."""
    club = tmp_path / "club.db"
    tokens = club_with_officers(club)
    with Ledger.open(club) as ledger:
        adopted = SchemeAdopted(pool="fide", scheme="fide", settings={"start": 1800})
        game = game_recorded("f1", pool="fide", half_moves=60, ended_at="2026-01-10", tournament="January open")
        ledger.append_many([adopted, game], token=tokens["rita"])
        ledger.publications.publish("2026-02-01", "fide", despite_complaints=True, token=tokens["adam"])
    with serving(club, "--listen", "127.0.0.1:0") as (_, address):
        until(lambda: position(address) > 0)
        yield address, tokens


def test_a_dry_run_and_the_import_have_the_same_lists(club_with_late_reports: tuple[str, Mapping[str, str]]) -> None:
    address, tokens = club_with_late_reports
    api = Api(address, dict(tokens))
    answers = [
        api.ask("POST", f"/imports?pool=fide&filename=late.csv{more}", "rita", content=FILE).json()["lists"]
        for more in ("&dry_run=1", "")
    ]
    assert answers[0] == answers[1]
    assert [(row["tournament"], row["list_from"], row["late"], row["late_reports"]) for row in answers[0]] == [
        ("February open", "2026-03-01", False, "next-list"),
        ("Late open", "2026-03-01", True, "next-list"),
    ]


def test_the_desk_names_the_lists_of_a_file_and_what_waits(
    club_with_late_reports: tuple[str, Mapping[str, str]],
) -> None:
    address, tokens = club_with_late_reports
    rita, adam = Officer(address), Officer(address)
    rita.sign_in(tokens["rita"])
    adam.sign_in(tokens["adam"])
    form = rita.form(rita.look("/desk/import"), "/desk/import")
    looked = rita.send(form, {"pool": "fide"}, files={"file": ("late.csv", FILE)})
    said = words(looked.text)
    assert "Late open 1 game : list of 2026-03-01; the list of their own days is published" in said, said
    rita.send(rita.form(looked, "/desk/import/confirm"))
    until(lambda: "Late open" in words(adam.look("/desk/publish?at=2026-02-01&pool=fide").text))
    said = words(adam.look("/desk/publish?at=2026-02-01&pool=fide").text)
    assert "Waiting for a later list Late open 1 game : list of 2026-03-01" in said, said
    for officer in (rita, adam):
        officer.client.close()
