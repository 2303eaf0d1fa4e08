"""Cards of proposals name people, days and values and no key; messages name fields and no options."""

import re
from pathlib import Path

import pytest

from ledger.facts.changes import AnnulmentScope
from ledger.facts.events import BirthYearLearnt, Decision, RatingSeeded
from ledger.ledger import Ledger
from tests.kit.games import game_recorded
from tools.serve.browser_words import in_browser
from tools.serve.change_cards import ChangeCard, change_card


@pytest.fixture(name="carded")
def _carded(tmp_path: Path) -> Ledger:
    ledger = Ledger.create(tmp_path / "club.db")
    for name in ("Ann", "Bob", "Ann"):
        ledger.register(f"club{len(ledger.pools())}{ledger.journal.size()}:{name}", name)
    ledger.append(game_recorded("g1", white=1, black=2, tournament="Open", round="3", ended_at="2024-05-01"))
    ledger.append(RatingSeeded(player=1, pool="standard", rating="1850", effective_at="2024-01-01"))
    ledger.ensure_up_to_date()
    return ledger


def read(card: ChangeCard) -> tuple[str, str, str]:
    return card.title, card.before, card.after


def test_every_kind_of_change_is_read_without_a_key(carded: Ledger) -> None:
    with carded as ledger:
        drafts = ledger.corrections.drafts
        seed = "seed:standard:1@2024-01-01"
        cards = {
            "result": drafts.replace("game:g1", {"outcome": "black"}),
            "void": drafts.annul("game:g1"),
            "merge": drafts.merge(3, 1),
            "annul": drafts.annul_games(1, which=AnnulmentScope.LOSSES, since="2024-01-01"),
            "tournament": drafts.tournament("standard", "Open"),
            "born": drafts.add(BirthYearLearnt(player=2, birth_year=1990)),
            "seed": drafts.replace(next(ledger.journal.keys("seed:", "seed;")), {"rating": "1900"}),
            "no seed": drafts.annul(next(ledger.journal.keys("seed:", "seed;"))),
        }
        read_cards = {name: change_card(ledger, [change]) for name, change in cards.items()}
        assert {name: read(card) for name, card in read_cards.items()} == {
            "result": ("Ann – Bob, Open, round 3, 2024-05-01", "1–0", "0–1"),
            "void": ("Ann – Bob, Open, round 3, 2024-05-01", "1–0", "does not count"),
            "merge": ("Ann (3) and Ann (1)", "two players", "one person, Ann (1)"),
            "annul": ("The rated games lost by the opponents of Ann from 2024-01-01", "counts", "does not count"),
            "tournament": ("All games of Open, pool standard", "counts", "does not count"),
            "born": ("Bob: year of birth", "nothing", "birth year 1990"),
            "seed": ("Ann: rating of a list, pool standard", "rating 1850", "rating 1900"),
            "no seed": ("Ann: rating of a list, pool standard", "effective at 2024-01-01, rating 1850", "taken back"),
        }
        assert not any(seed in part for card in read_cards.values() for part in read(card))
        assert (read_cards["born"].players, read_cards["tournament"].tournament) == ([(2, "Bob")], "Open")
        number = ledger.propose([cards["void"], cards["seed"]], reason="x", by="eve").proposal
        ledger.decide(number, Decision.APPROVED, by="adam")
        undone = change_card(ledger, [drafts.undo(number)])
        assert read(undone)[0].startswith("Undo: Ann – Bob, Open, round 3, 2024-05-01 and 1 more")
        assert undone.game == "g1"


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        (
            "or a word that --result gives a meaning, such as --result Sieg=1-0; got '2-0'",
            "or a word of the field Results, such as Sieg=1-0; got '2-0'",
        ),
        ("add it, or name its heading: --column white=HEADING", "add it, or name its heading in the field Columns: "
         "white=HEADING"),
        ("choose one with --since and --until", "choose one with “since” and “until”"),
        ("needs one with the role recorder; give it by RATING_LEDGER_TOKEN or --token-file",
         "needs one with the role recorder; sign in with one"),
        ("got '--x', \"--y\" and a--b", "got '--x', \"--y\" and a--b"),
    ],
)  # fmt: skip
def test_a_browser_reads_of_fields_and_of_no_options(message: str, shown: str) -> None:
    assert in_browser(message) == shown


def test_every_advice_of_a_file_of_games_has_words_for_a_browser() -> None:
    said = [
        line
        for path in sorted(Path("ledger/imports").rglob("*.py"))
        if path.name not in {"manual_entry.py", "fide.py"}
        for line in path.read_text("utf-8").splitlines()
        if re.search(r"[\"' ]--[a-z]", line) and not line.lstrip().startswith("#")
    ]
    assert said
    assert [line for line in said if re.search(r"--[a-z]", in_browser(line.replace('"', " ")))] == []
