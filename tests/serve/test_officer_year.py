"""The year of the guide for a rating officer, at the desk: its pages are there, and so is each button that it names."""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, urlsplit

import httpx
import pytest

from ledger.facts.events import Role
from ledger.ledger import Ledger
from tests.docs import readmes
from tests.kit import officer_reports
from tests.kit.desks import Officer, words
from tests.kit.places import ROOT
from tests.kit.served_processes import position, serving, until
from tools import cli

pytestmark = [
    pytest.mark.slow,  # the processes of a server
    pytest.mark.skipif(not officer_reports.REPORTS.exists(), reason=officer_reports.ABSENT),
]

JANUARY = (
    "init DB --scheme fide --set federation=GER",
    "scheme adopt DB --pool blitz --new-pool --scheme fide --set rapid=true --set from_pool=standard",
    "players import DB members.csv --since 2025-01-01",
    "publish DB --at 2025-01-01 --by adam",
    "policy set DB titles on=true games=1 expert=0 national-master=2300 --by adam",
    "policy set DB four-eyes on=true --by adam",
)
"""The commands of the guide that have no page."""


class Clerk(Officer):
    """An officer who keeps the words of every page."""

    def __init__(self, address: str) -> None:
        """Visit the server at an address."""
        super().__init__(address)
        self.seen: list[str] = []

    def look(self, path: str, status: int = 200) -> httpx.Response:
        page = super().look(path, status)
        self.seen.append(words(page.text))
        return page

    def record(self, file: Path, *, accept: str = "", **fields: str) -> str:
        """Import a file: look at it, accept warnings of a code, and record; the words of what became of it."""
        form = self.form(self.look("/desk/import"), "/desk/import")
        looked = self.send(form, fields, files={"file": (file.name, file.read_bytes())})
        self.seen.append(words(looked.text))
        accepted = {f"accept_{accept}": "yes"} if accept else {}
        done = self.send(self.form(looked, "/desk/import/confirm"), accepted)
        place = done.headers["location"]
        until(lambda: bool(re.search("(Not r|R)ecorded: ", words(self.look(place).text))))
        return words(self.look(place).text)

    def propose(self, page: str, **typed: str) -> str:
        """Send the form of a verb; the path of the proposal."""
        action = urlsplit(page).path
        done = self.do(page, action, {**typed, "reason": "as the arbiter says"})
        match = re.search(r"/desk/proposals/\d+", str(done.url))
        assert match is not None, words(done.text)[:2000]
        return match[0]

    def approve(self, proposal: str) -> None:
        assert "See every change, then approve" in words(self.look("/desk/queue").text)
        self.look(proposal)
        assert "Approved" in words(self.do(f"{proposal}/preview", f"{proposal}/approve").text)

    def publish(self, day: str) -> str:
        """Look at a list and publish it; the words of the page on which it was looked at."""
        page = f"/desk/publish?pool=standard&at={day}"
        self.do(page, "/desk/publish")
        return self.seen[-1]


@pytest.fixture(name="office")
def _office(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Clerk, Clerk, Path, str]]:
    """Eve, Adam, the folder with the files of the guide, and Eve's token."""
    monkeypatch.chdir(tmp_path)
    officer_reports.place(tmp_path)
    for line in JANUARY:
        assert cli.main(line.replace("DB", "ratings.db").split()) == 0
    with Ledger.open(tmp_path / "ratings.db") as ledger:
        adam = ledger.tokens.add("adam", [Role.APPROVER])
        eve = ledger.tokens.add("eve", [Role.CORRECTOR, Role.RECORDER], token=adam)
    with serving(tmp_path / "ratings.db", "--listen", "127.0.0.1:0") as (_, address):
        until(lambda: position(address) > 0)
        officers = Clerk(address), Clerk(address)
        for officer, token in zip(officers, (eve, adam), strict=True):
            officer.sign_in(token)
        yield *officers, tmp_path, eve
        for officer in officers:
            officer.client.close()


def test_the_year_of_the_guide_at_the_desk(
    office: tuple[Clerk, Clerk, Path, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    eve, adam, folder, token = office
    eve.look("/desk/players")
    eve.look("/desk/propose")
    typed = {"tournament": "Summer Open", "started": "2025-07-28", "ended": "2025-07-31"}
    adam.approve(eve.propose("/desk/propose/open-tournament", **typed))

    assert "Recorded: blitz.trf" in eve.record(folder / "blitz.trf")
    assert "Take back" in words(eve.look("/desk/imports").text)
    adam.approve(eve.propose("/desk/propose/void-import?import=1"))
    assert "Recorded: blitz.trf" in eve.record(folder / "blitz.trf", pool="blitz")

    report = (folder / "open.trf").read_text(encoding="utf-8")
    moved = report.replace(" CHI ", " ESP ", 1)
    (folder / "typed.trf").write_text(moved.replace("104101068", "104101086", 1), encoding="utf-8")
    (folder / "corrected.trf").write_text(moved, encoding="utf-8")
    stopped = eve.record(folder / "typed.trf", accept="federation-differs")
    assert "Not recorded: typed.trf" in stopped
    assert "line 15" in stopped
    assert "nobody is fide:104101086" in stopped
    assert "Recorded: corrected.trf" in eve.record(folder / "corrected.trf", accept="federation-differs")
    adam.publish("2025-09-01")
    monkeypatch.setenv("RATING_LEDGER_TOKEN", token)
    sent = "export ratings.db tournament --names -o fide.trf --sent 2025-09-02 --tournament"
    assert cli.main([*sent.split(), "Summer Open"]) == 0

    adam.publish("2025-11-01")
    assert "list of 2025-12-01" in eve.record(folder / "autumn.trf")
    waiting = words(adam.look("/desk/publish?pool=standard&at=2025-11-01").text)
    assert "Waiting for a later list Autumn Open" in waiting
    adam.publish("2025-12-01")

    with Ledger.open(folder / "ratings.db") as ledger:
        (game,) = ledger.player("Ruud, Nils").games(limit=1)
        holm = ledger.player("Holm, Harald").player
    assert "For officers" in words(eve.look(f"/games/{quote(game.game)}").text)
    assert "result" in words(eve.look(f"/desk/propose?game={quote(game.game)}").text)
    adam.approve(eve.propose(f"/desk/propose/result?game={quote(game.game)}", to="0-1"))
    assert "Send again Summer Open" in words(eve.look("/desk").text)
    adam.publish("2025-12-01")
    assert "edition 2" in words(eve.look("/lists/standard@2025-12-01").text)

    eve.look(f"/players/{holm}")
    assert "National Master" in words(eve.look(f"/players/{holm}/statistics").text)
    number = f"/players/{holm}/lists/2025-09-01"
    eve.look(number)
    assert "2335.67 4.5 2.38" in words(eve.look(f"{number}/calculation").text)
    assert "Aasen, Ase" in words(eve.look("/ranking?women=yes&provisional=yes").text)
    eve.look("/desk/health")

    seen = " ".join(eve.seen + adam.seen)
    guide = (ROOT / officer_reports.GUIDE).read_text(encoding="utf-8")
    at_the_desk = "\n".join(part for part in readmes.prose(guide).split("\n\n") if "**At the desk**" in part)
    named = set(re.findall(r"(?<!\*)\*(\w[^*]*)\*(?!\*)", " ".join(at_the_desk.split())))
    assert len(named) > 15
    assert {words for words in named if words not in seen} == set()
