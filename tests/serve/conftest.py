"""A busy club that is served within the test: asked as over HTTP, without a network."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ledger.facts.events import BirthYearLearnt, Decision
from ledger.ledger import Ledger
from tests.kit.browsers import launched
from tests.kit.games import game_recorded, scheme_adopted
from tests.kit.served_processes import EVIL_NAMES, EVIL_TOURNAMENTS, OFFICER, OTHER_OFFICER, REASON, SITE, Get, getting
from tools import cli
from tools.serve.readers import Reader
from tools.serve.sites import Site
from tools.serve.writer_socket import meeting

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(name="busy_base", scope="session")
def _busy_base(sample_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A published list, a correction that acts and an open one, a checkpoint, a player who has never played."""
    folder = Path(shutil.copytree(sample_folder, tmp_path_factory.mktemp("served") / "club"))
    club = folder / "club.db"
    assert cli.main(["publish", str(club), "--at", "2006-06-30", "--by", OFFICER]) == 0
    with Ledger.open(club) as ledger:
        ledger.register("name:zoe", "Zoe", birth_year=1990)
        keys = [row["key"] for row in ledger.rows("games", "reason IS NULL ORDER BY position DESC LIMIT 2")]
        drafts = ledger.corrections.drafts
        number = ledger.propose([drafts.annul(f"game:{keys[0]}")], reason=REASON, by=OFFICER).proposal
        ledger.decide(number, Decision.APPROVED, by=OTHER_OFFICER, reason=REASON)
        ledger.propose([drafts.annul(f"game:{keys[1]}")], reason=REASON, by=OFFICER)
        ledger.ensure_up_to_date()
    assert cli.main(["checkpoint-key", str(club), "--new", "example.org/club"]) == 0
    assert cli.main(["checkpoint", str(club)]) == 0
    return folder


@pytest.fixture(name="crowded_base", scope="session")
def _crowded_base(busy_base: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The busy club with all that a page may meet: evil names, a merged player, an erased one, births, two lists."""
    folder = Path(shutil.copytree(busy_base, tmp_path_factory.mktemp("crowded") / "club"))
    club = folder / "club.db"
    with Ledger.open(club) as ledger:
        numbers = [ledger.register(f"evil:{place}", name) for place, name in enumerate(EVIL_NAMES)]
        twin = ledger.register("name:anna", "Anna")
        gone = ledger.register("name:gone", "Gone Forever")
        young = ledger.register("name:young", "Young", birth_year=1990)
        ann = ledger.player("ann").player
        whites = [*numbers, twin, gone, young]
        for place, white in enumerate(whites):
            day = f"2006-10-{place + 1:02}"
            key = f"odd:{place}/x+y/../z" if place == 0 else f"odd:{place}"
            tournament = EVIL_TOURNAMENTS[place % len(EVIL_TOURNAMENTS)]
            game = game_recorded(
                key, white=white, black=ann if white != twin else 1, ended_at=day, half_moves=60, tournament=tournament
            )
            ledger.append(game)
        drafts = ledger.corrections.drafts
        number = ledger.propose([drafts.merge(twin, ann)], reason=REASON, by=OFFICER).proposal
        ledger.decide(number, Decision.APPROVED, by=OTHER_OFFICER, reason=REASON)
        born = BirthYearLearnt(player=ann, birth_year=1990)
        number = ledger.propose([drafts.add(born)], reason=REASON, by=OFFICER).proposal
        ledger.decide(number, Decision.APPROVED, by=OTHER_OFFICER, reason=REASON)
        ledger.append(scheme_adopted("elo", pool="by-age", settings={}))
        ledger.append(game_recorded("aged", pool="by-age", white=young, black=ann, half_moves=60))
        ledger.ensure_up_to_date()
    assert cli.main(["erase", str(club), str(gone), "--yes"]) == 0
    assert cli.main(["publish", str(club), "--at", "2006-10-31", "--by", OFFICER, "--despite-complaints"]) == 0
    assert cli.main(["checkpoint", str(club)]) == 0
    return folder


@pytest.fixture(name="chromium", scope="module")
def _chromium() -> Iterator[Browser]:
    with launched() as browser:
        yield browser


@pytest.fixture(name="meeting_folder")
def _meeting_folder() -> Iterator[Path]:
    """Where the processes of a server meet: the folders of tests may be too deep for the address of a socket."""
    with meeting() as folder:
        yield folder


@pytest.fixture(name="crowded")
def _crowded(crowded_base: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(crowded_base, tmp_path / "crowded")) / "club.db"


@pytest.fixture(name="served")
def _served(busy_base: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(busy_base, tmp_path / "club")) / "club.db"


@pytest.fixture(name="answering")
def _answering(served: Path) -> Iterator[Reader]:
    reader = Reader(served, Site(public_url=SITE), threads=2)
    yield reader
    reader.close()


@pytest.fixture(name="get")
def _get(answering: Reader) -> Get:
    """Asks for an address behind the prefix, or for a whole one."""
    return getting(answering)
