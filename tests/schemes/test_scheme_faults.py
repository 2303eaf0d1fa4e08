"""The ledger says what is wrong with a plug-in's scheme when it loads it; a failure names the line of the scheme."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import EntryPoint
from typing import Any

import attrs
import pytest

from ledger import ProjectionError
from ledger.ratings import engine
from ledger.runtime.columns import FEW
from ledger.runtime.plugins import load_plugin
from ledger.schemes.scheme import Newcomer, Scheme, When, state
from ledger.schemes.scheme_faults import faults_of_scheme
from ledger.schemes.settings import numbers_of, setting


@attrs.frozen(kw_only=True)
class Settings:
    worth: float = setting(10.0, "what the loser pays", "points", "statutes, 4")


Numbers = numbers_of(Settings)


@attrs.define
class Player:
    rating: float = state("points")


def enter(newcomer: Newcomer, numbers: Settings) -> Any:
    return Player(1500.0)


def rate_game(white: Player, black: Player, score: float, day: float, numbers: Settings) -> None:
    white.rating += numbers.worth


def expected_score(player: Player, opponent: Player, numbers: Settings) -> float:
    return 0.5


def explain(*parts: Any) -> Any:
    raise NotImplementedError


SOUND = Scheme(
    name="statutes",
    title="Ten points for a win",
    source="statutes, 4",
    version=1,
    settings=Settings,
    numbers=Numbers,
    player=Player,
    enter=enter,
    rate_game=rate_game,
    expected_score=expected_score,
    explain=explain,
)


def misspelt(white: Any, black: Any, score: float, day: float, numbers: Any) -> None:
    white.ratng += numbers.wroth * undefined_number  # type: ignore[name-defined]  # noqa: F821


def writes_what_is_read(player: Any, opponent: Any, numbers: Any) -> float:
    player.rating = 0.0
    return 0.5


def of_two(white: Any, black: Any) -> None:
    white.rating += 1.0


def enters_nowhere(newcomer: Newcomer, numbers: Settings) -> Any:
    return Player(declared)  # type: ignore[name-defined]  # noqa: F821


@attrs.frozen(kw_only=True)
class WordSettings:
    worth: float = setting("ten", "what the loser pays", "points", "statutes, 4")  # type: ignore[arg-type]
    bare: float = 1.0


@attrs.frozen
class FrozenPlayer:
    rating: float = state("points")


@attrs.define
class UnratedPlayer:
    games: float = state("rated games")


class NoPlayer:
    pass


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (
            {"rate_game": misspelt},
            "rate_game ({file}:{line}): line {line+1} reads white.ratng, which is none of its fields",
        ),
        ({"rate_game": misspelt}, "did you mean 'rating'? expected one of ['rating']"),
        ({"rate_game": misspelt}, "reads numbers.wroth, which is none of the settings; did you mean 'worth'?"),
        ({"rate_game": misspelt}, "test_scheme_faults.py:{line+1} uses undefined_number, which is defined nowhere"),
        ({"rate_game": of_two}, "takes (white, black, score, day, numbers), not ['white', 'black']"),
        ({"expected_score": writes_what_is_read}, "writes player.rating, which is only read"),
        ({"at": print}, "at is to be a plain function of a module, got <built-in function print>"),
        ({"enter": enters_nowhere}, "test_scheme_faults.py:{line+1} uses declared, which is defined nowhere"),
        ({"settings": WordSettings}, "setting 'worth': its default is a number, True or False, got 'ten'"),
        ({"settings": WordSettings}, "setting 'bare': give it by setting(default, meaning, unit, source)"),
        ({"settings": 7}, "its settings are to be a class of attrs, got 7"),
        ({"player": FrozenPlayer}, "FrozenPlayer is frozen, and games change a player; put @attrs.define above it"),
        ({"player": UnratedPlayer}, "the first field of UnratedPlayer is to be 'rating', got ['games']"),
        ({"player": NoPlayer}, "its player is to be a class of attrs whose fields are state(...), got <class"),
    ],
)
def test_each_fault_of_a_scheme_is_named_with_its_place(more: dict[str, Any], words: str) -> None:
    function: Any = next(iter(more.values()))
    line = getattr(getattr(function, "__code__", None), "co_firstlineno", 0)
    said = words.replace("{line+1}", str(line + 1)).replace("{line}", str(line)).replace("{file}", __file__)
    assert said in "; ".join(faults_of_scheme(attrs.evolve(SOUND, **more)))


def test_nothing_is_wrong_with_a_sound_scheme() -> None:
    assert list(faults_of_scheme(SOUND)) == []


FAULTY = attrs.evolve(SOUND, rate_game=misspelt)


def test_the_faults_of_a_plug_in_are_told_in_full_when_it_is_loaded() -> None:
    point = EntryPoint("statutes", f"{__name__}:FAULTY", "ledger.schemes")
    with pytest.raises(ProjectionError) as caught:
        load_plugin(point, Scheme, faults_of_scheme)
    assert "the plug-in 'tests.schemes.test_scheme_faults:FAULTY'" in str(caught.value)
    assert "functions of modules): correct it, or remove the package" in str(caught.value)


def number_for_a_player(newcomer: Newcomer, numbers: Settings) -> Any:
    return 1000.0


def fails(*arguments: Any) -> Any:
    raise ValueError("no such rule")


def test_a_function_that_gives_no_player_is_named_with_its_line() -> None:
    line = number_for_a_player.__code__.co_firstlineno
    for newcomer in (Newcomer(), Newcomer(1600.0)):
        with pytest.raises(ProjectionError) as caught:
            attrs.evolve(SOUND, enter=number_for_a_player).begin(newcomer, Numbers(10.0))
        words = f"enter ({__file__}:{line}) is to return a Player, got 1000.0; correct it"
        assert str(caught.value) == f"statutes: {words}"


@pytest.mark.parametrize("name", ["enter", "carry", "listed", "provisional", "at", "explain", "rate_game"])
def test_a_function_that_fails_is_named_with_its_scheme_and_line(name: str) -> None:
    odd: dict[str, Any] = {name: fails}
    scheme, numbers = attrs.evolve(SOUND, **odd), Numbers(10.0)
    games = engine.RateableGames([0], [1], [1.0], [19000.0])
    calls: dict[str, Callable[[], object]] = {
        "enter": lambda: scheme.begin(Newcomer(), numbers),
        "carry": lambda: scheme.carried(1500.0, 3.0, Newcomer(), numbers),
        "listed": lambda: scheme.is_listed((1500.0,), numbers),
        "provisional": lambda: scheme.is_provisional((1500.0,), numbers),
        "at": lambda: scheme.player_at((1500.0,), When(0.0, 19000.0), numbers),
        "explain": lambda: scheme.explained(None, (), None, numbers),  # type: ignore[arg-type]
        "rate_game": lambda: engine.rate(FEW, scheme, numbers, games, [1500.0, 1500.0], [0, 0]),
    }
    line = fails.__code__.co_firstlineno + 1
    with pytest.raises(ProjectionError) as caught:
        calls[name]()
    assert (
        str(caught.value) == f"statutes: {name} fails (ValueError: no such rule, {__file__}:{line}); correct the scheme"
    )
