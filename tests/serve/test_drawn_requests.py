"""Requests drawn from our OpenAPI document: none breaks the server, and every answer is one that is documented."""

from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st
from schemathesis import GenerationMode

from ledger.ledger import Ledger
from tests.kit.raw_http import running
from tests.kit.served_processes import ask_server
from tests.serve.drawn_requests import DRAWN, SCHEMA, checks
from tools.serve.application import application
from tools.serve.middleware import Gate
from tools.serve.readers import Reader
from tools.serve.routes import PREFIX, ROUTES, Route
from tools.serve.settings import Serving

pytestmark = pytest.mark.outside  # schemathesis

# What a stranger may name: things that are there, so that not every answer is that nothing is.
WORDS = {"player": "ann", "tournament": "Club evening", "list": "standard@2006-06-30", "number": "1"}
THERE = {
    "pool": "standard", "part": "club", "q": "ann", "opponent": "bob", "against": "bob", "since": "2006-01",
    "on": "2006-05", "at": "2006-06", "until": "2006-08", "edition": "2006-05", "tournament": "Club evening",
    "round": "1",
}  # fmt: skip
NEEDED = {
    "/players": ("q",), "/players/{player}/changes": ("since",), "/games": ("on",),
    "/players/{player}/prediction": ("opponent",),
}  # fmt: skip


@pytest.fixture(name="club_address", scope="module")
def _club_address(busy_base: Any) -> Iterator[str]:
    """A server of the busy club, which nothing that is drawn changes."""
    reader = Reader(busy_base / "club.db", threads=2)
    with running(Gate(application(reader), Serving(path=reader.path))) as (_, port):
        yield f"http://127.0.0.1:{port}"
    reader.close()


@pytest.fixture(name="drawn_game", scope="module")
def _drawn_game(busy_base: Any) -> str:
    with Ledger.open(busy_base / "club.db", follow=False) as ledger:
        (row,) = ledger.rows("games", "position = 20")
    return str(row["key"])


def operation(path: str) -> Any:
    return SCHEMA[f"{PREFIX}{path}"]["GET"]


def asked(path: str, mode: GenerationMode, address: str, change: Callable[[Any], None] = lambda _: None) -> list[int]:
    """Ask for what is drawn of an address, and check each answer; the statuses of all."""
    heard: list[int] = []

    @DRAWN
    @given(case=operation(path).as_strategy(generation_mode=mode))
    def ask(case: Any) -> None:
        change(case)
        answer = case.call(base_url=address)
        heard.append(answer.status_code)
        case.validate_response(answer, checks=checks("response_headers_conformance", "negative_data_rejection"))

    ask()
    return heard


def refusable(route: Route) -> bool:
    """Whether there are values that a parameter of a route cannot have; a text can be any."""
    return any({"enum", "minimum"} & parameter.schema.keys() for parameter in route.every_parameter)


@pytest.mark.parametrize("path", [route.path for route in ROUTES])
def test_whatever_is_asked_the_answer_is_one_that_is_documented(path: str, club_address: str) -> None:
    heard = asked(path, GenerationMode.POSITIVE, club_address)
    assert set(heard) <= {200, 400, 404}
    assert heard


@pytest.mark.parametrize("path", [route.path for route in ROUTES])
def test_what_is_there_is_answered_in_the_form_that_is_documented(
    path: str, club_address: str, drawn_game: str
) -> None:
    words = {**WORDS, "game": drawn_game}

    def there(case: Any) -> None:
        for name in case.path_parameters or {}:
            case.path_parameters[name] = words[name]
        query = {name: THERE.get(name, word) for name, word in case.query.items() if name not in {"number", "identity"}}
        case.query = query | {name: THERE[name] for name in NEEDED.get(path, ())}
        if "/lists/{list}" in path:
            case.query.pop("edition", None)

    heard = asked(path, GenerationMode.POSITIVE, club_address, there)
    assert set(heard) <= {200, 400, 404}  # there are only so many pages of a graph, and so many entries
    assert 200 in heard


@pytest.mark.parametrize("path", [route.path for route in ROUTES if refusable(route)])
def test_values_that_cannot_be_are_refused(path: str, club_address: str) -> None:
    heard = asked(path, GenerationMode.NEGATIVE, club_address)  # negative_data_rejection: none of them is taken
    assert set(heard) <= {200, 400, 404}  # of a list that is drawn empty nothing is left in the address
    assert heard.count(400) > len(heard) // 2


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.path)
def test_parameters_that_are_not_documented_are_refused(route: Route, club_address: str, drawn_game: str) -> None:
    names = {parameter.name for parameter in route.every_parameter}
    place = route.path.format_map({name: quote(word, safe="") for name, word in {**WORDS, "game": drawn_game}.items()})

    @DRAWN
    @given(name=st.text(st.characters(exclude_categories=["C"]), max_size=20).filter(lambda name: name not in names))
    def ask(name: str) -> None:
        answer = ask_server("GET", f"{club_address}{PREFIX}{place}?{urlencode({name: '1'})}")
        assert answer.status_code == 400
        assert f"{name}: no such parameter" in answer.json()["detail"]

    ask()
