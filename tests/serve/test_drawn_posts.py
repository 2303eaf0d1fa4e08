"""Bodies drawn from our OpenAPI document: none breaks the server, and every answer is one that is documented."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from schemathesis import GenerationMode

from ledger.facts.events import Role
from ledger.ledger import Ledger
from tests.kit.commands import Run
from tests.kit.programs import club_of_programs
from tests.kit.served_processes import ask_server, position, serving, until
from tests.serve.drawn_requests import DRAWN, SCHEMA, checks
from tools.serve.post_routes import IMPORT, POSTS
from tools.serve.routes import PREFIX

pytestmark = pytest.mark.outside  # schemathesis

WORDS = {"tournament": "Club evening", "number": "1", "player": "1"}
PLACES = [post.path for post in POSTS]
TAKEN = {200, 201, 202, 400, 404, 409}


@pytest.fixture(name="posted_club", scope="module")
def _posted_club(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("drawn") / "club.db"


@pytest.fixture(name="drawn_officer", scope="module")
def _drawn_officer(posted_club: Path) -> Iterator[tuple[str, str]]:
    """The address of a server, and a token with every role."""
    adam = club_of_programs(posted_club)["adam"]
    with Ledger.open(posted_club) as ledger:
        chief = ledger.tokens.add("chief", [Role.APPROVER, Role.CORRECTOR, Role.RECORDER], token=adam)
    with serving(posted_club, "--listen", "127.0.0.1:0", "--rate", "0") as (_, address):
        until(lambda: position(address) > 0)
        yield address, chief


def sent(path: str, mode: GenerationMode, drawn_officer: tuple[str, str]) -> list[int]:
    """Send what is drawn for an address, and check each answer; the statuses of all."""
    address, token = drawn_officer
    heard: list[int] = []

    @DRAWN
    @given(case=SCHEMA[f"{PREFIX}{path}"]["POST"].as_strategy(generation_mode=mode))
    def send(case: Any) -> None:
        for name in case.path_parameters or {}:
            case.path_parameters[name] = WORDS[name]
        shows = {"Authorization": f"Bearer {token}"}
        answer = case.call(base_url=address, headers=shows)
        heard.append(answer.status_code)
        if answer.status_code == 202:  # others are to have room
            ask_server("DELETE", answer.headers["location"][0], headers=shows)
        case.validate_response(answer, checks=checks())

    send()
    return heard


@pytest.mark.parametrize("path", [*PLACES, IMPORT])
def test_whatever_is_sent_the_answer_is_one_that_is_documented(path: str, drawn_officer: tuple[str, str]) -> None:
    heard = sent(path, GenerationMode.POSITIVE, drawn_officer)
    assert heard
    assert set(heard) <= TAKEN


@pytest.mark.parametrize("path", [post.path for post in POSTS if post.body.__name__ != "Nothing"])
def test_bodies_that_cannot_be_are_refused(path: str, drawn_officer: tuple[str, str]) -> None:
    heard = sent(path, GenerationMode.NEGATIVE, drawn_officer)
    assert set(heard) <= TAKEN | {401, 415}  # some are drawn without the token
    assert heard.count(400) + heard.count(401) > len(heard) // 2


def test_the_ledger_is_true_after_all_of_it(drawn_officer: tuple[str, str], posted_club: Path, run: Run) -> None:
    assert position(drawn_officer[0]) > 0
    assert run("audit", posted_club).out.startswith("TRUE")
