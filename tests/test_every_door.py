"""One judge for every door: a fact that cannot stand is refused by the same rule whichever way it comes.

Doors are ``append``, alone and after what contradicts it in one transaction, the recording command, the same with
``--propose``, ``correct`` by a verb and by a file, a proposal of the library, alone and together with what contradicts
it, the approval of one that was in order when it was proposed, a correction that moves a fact there, and one that puts
it back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import attrs
import polars as pl
import pytest

from ledger.errors import ProposalError, RejectedError
from ledger.facts import codec
from ledger.facts.events import BirthYearLearnt, Decision, Event, PlayerChanged, RatingSeeded
from ledger.facts.source_games import player_schema
from ledger.facts.words import Standing
from ledger.ledger import Ledger
from tests.kit.commands import Run
from tests.kit.corrections import approve, made
from tests.kit.games import game_recorded, scheme_adopted, tournament_closed, tournament_opened

EVE = ("--reason", "the minutes", "--by", "eve")


class Misfit(NamedTuple):
    """A fact that cannot stand.

    Attributes:
        rule: what refuses it.
        before: what it cannot stand beside.
        event: the fact.
        command: what records it on the command line, without the file: the words before it and those behind it.
        verb: of 'correct', and its words.
        elsewhere: fields with which it can stand.
        but: doors that it cannot come through.
    """

    rule: str
    before: tuple[Event, ...]
    event: Event
    command: tuple[tuple[str, ...], tuple[str, ...]]
    verb: tuple[str, Mapping[str, str]]
    elsewhere: Mapping[str, Any]
    but: frozenset[str] = frozenset()


def changed(since: str, standing: Standing, declared: int | None = None) -> PlayerChanged:
    return PlayerChanged(player=1, effective_at=since, standing=standing, declared_rating=declared)


def seeded(since: str, rating: str) -> RatingSeeded:
    return RatingSeeded(player=1, pool="standard", rating=rating, effective_at=since)


CUP = "Club cup"
MISFITS: dict[str, Misfit] = {
    "two adoptions": Misfit(
        "same-instant",
        (scheme_adopted("elo", effective_from="2026-11"),),
        scheme_adopted("elo", effective_from="2026-11-01"),
        (("scheme", "adopt"), ("--scheme", "elo", "--from", "2026-11-01")),
        ("adopt", {"scheme": "elo", "from": "2026-11-01"}),
        {"effective_from": "2026-11-02"},
    ),
    "two standings": Misfit(
        "same-instant",
        (changed("2026-10", Standing.WELCOMER),),
        changed("2026-10-01", Standing.GUEST),
        (("player", "set"), ("Ann", "--standing", "guest", "--since", "2026-10-01")),
        ("standing", {"player": "Ann", "to": "guest", "from": "2026-10-01"}),
        {"effective_at": "2026-10-02"},
    ),
    "two ratings of a list": Misfit(
        "same-instant",
        (seeded("2026-10", "1500"),),
        seeded("2026-10-01", "1600"),
        (("player", "set"), ("Ann", "--rating", "1600", "--since", "2026-10-01")),
        ("rating", {"player": "Ann", "to": "1600", "from": "2026-10-01"}),
        {"effective_at": "2026-10-02"},
    ),
    "editions that overlap": Misfit(
        "overlapping-editions",
        (tournament_opened("2026-11-01", "2026-11-09"),),
        tournament_opened("2026-11-09", "2026-11-20"),
        (("open-tournament",), (CUP, "--start", "2026-11-09", "--end", "2026-11-20")),
        ("open-tournament", {"tournament": CUP, "started": "2026-11-09", "ended": "2026-11-20"}),
        {"starts_at": "2026-11-10"},
    ),
    "an edition that was closed": Misfit(
        "edition-closed",
        (tournament_opened("2026-11-01", "2026-11-09"), tournament_closed("2026-11-09")),
        tournament_closed("2026-11-08"),
        (("close-tournament",), (CUP, "--ended", "2026-11-08")),
        ("close-tournament", {"tournament": CUP, "ended": "2026-11-08"}),
        {"ended_at": "2026-11-10"},
    ),
    "a closing before the last game": Misfit(
        "played-after-closing",
        (
            game_recorded("c18", tournament=CUP, ended_at="2026-11-18"),
            game_recorded("c20", tournament=CUP, ended_at="2026-11-20"),
        ),
        tournament_closed("2026-11-19"),
        (("close-tournament",), (CUP, "--ended", "2026-11-19")),
        ("close-tournament", {"tournament": CUP, "ended": "2026-11-19"}),
        {"ended_at": "2026-11-20"},
    ),
    "a rating after the first game": Misfit(
        "after-the-first-game",
        (),
        seeded("2026-11-10", "1600"),
        (("player", "set"), ("Ann", "--rating", "1600", "--since", "2026-11-10")),
        ("rating", {"player": "Ann", "to": "1600", "from": "2026-11-10"}),
        {"effective_at": "2026-10-01"},
        frozenset({"approve", "put back"}),
    ),
    "another year of birth": Misfit(
        "exists-with-different-birth-year",
        (),
        BirthYearLearnt(player=5, birth_year=1991),
        (("player", "set"), ("Eva", "--born", "1991")),
        ("born", {"player": "Eva", "to": "1991"}),
        {},
        frozenset({"approve", "put back", "move"}),
    ),
}


class Club(NamedTuple):
    """A ledger of four and Eva, whose year of birth was told; its file; what runs a command."""

    ledger: Ledger
    path: Path
    run: Run


@pytest.fixture(name="five")
def _five(tmp_path: Path, run: Run) -> Club:
    ledger = made(tmp_path / "club.db")
    ledger.registry.add("name:eva", "Eva", birth_year=1990, actor="registry")
    return Club(ledger, tmp_path / "club.db", run)


def _appended(club: Club, misfit: Misfit) -> str:
    club.ledger.append_many(misfit.before)
    with pytest.raises(RejectedError) as caught:
        club.ledger.append(misfit.event)
    return str(caught.value)


def _appended_together(club: Club, misfit: Misfit) -> str:
    with pytest.raises(RejectedError) as caught:
        club.ledger.append_many([*misfit.before, misfit.event])
    return str(caught.value)


def _commanded(club: Club, misfit: Misfit, *words: str) -> str:
    club.ledger.append_many(misfit.before)
    before, behind = misfit.command
    done = club.run(*before, club.path, *behind, *words)
    assert (done.code, done.out) == (1, "")
    return done.err.removeprefix("error: ")


def _proposed_by_command(club: Club, misfit: Misfit) -> str:
    return _commanded(club, misfit, "--propose", *EVE)


def _by_verb(club: Club, misfit: Misfit) -> str:
    club.ledger.append_many(misfit.before)
    verb, words = misfit.verb
    arguments = [word for name, word in words.items() if name in {"player", "tournament", "scheme"}]
    options = [part for name, word in words.items() if word not in arguments for part in (f"--{name}", word)]
    done = club.run("correct", club.path, verb, *arguments, *options, *EVE)
    assert (done.code, done.out) == (1, "")
    return done.err.removeprefix("error: ")


def _by_file(club: Club, misfit: Misfit) -> str:
    club.ledger.append_many(misfit.before)
    verb, words = misfit.verb
    file = club.path.with_name("batch.csv")
    file.write_text(f"verb,{','.join(words)}\n{verb},{','.join(words.values())}\n", "utf-8")
    done = club.run("correct", club.path, "batch", file, *EVE)
    assert (done.code, done.out) == (1, "")
    return done.err.removeprefix(f"{file}:2: ")


def _refused(attempt: Callable[[], object]) -> str:
    with pytest.raises(ProposalError) as caught:
        attempt()
    return f"{caught.value.refusals[-1].rule}: {caught.value.refusals[-1].message}"


def _proposed(club: Club, misfit: Misfit) -> str:
    club.ledger.append_many(misfit.before)
    change = club.ledger.corrections.drafts.add(misfit.event)
    return _refused(lambda: club.ledger.propose([change], reason="the minutes", by="eve"))


def _proposed_together(club: Club, misfit: Misfit) -> str:
    changes = [club.ledger.corrections.drafts.add(event) for event in (*misfit.before, misfit.event)]
    return _refused(lambda: club.ledger.propose(changes, reason="the minutes", by="eve"))


def _approved(club: Club, misfit: Misfit) -> str:
    change = club.ledger.corrections.drafts.add(misfit.event)
    number = club.ledger.propose([change], reason="the minutes", by="eve").proposal
    club.ledger.append_many(misfit.before)
    return _refused(lambda: club.ledger.decide(number, Decision.APPROVED, by="adam"))


def _moved(club: Club, misfit: Misfit) -> str:
    club.ledger.append_many(misfit.before)
    drafts = club.ledger.corrections.drafts
    there = codec.structure_event(misfit.event.KIND, {**codec.facts_mapping(misfit.event), **misfit.elsewhere})
    if misfit.rule == "edition-closed":  # any day of the closed edition is refused, so it comes from another name
        there = tournament_closed("2026-11-08", tournament="Cup")
        club.ledger.append(game_recorded("q", tournament="Cup", ended_at="2026-11-08"))
    club.ledger.append(there)
    now = drafts.add(misfit.event).facts or {}
    fields = {name: value for name, value in now.items() if (drafts.fact(there.key).facts.get(name)) != value}
    change = drafts.replace(there.key, fields)
    return _refused(lambda: club.ledger.propose([change], reason="the minutes", by="eve"))


def _put_back(club: Club, misfit: Misfit) -> str:
    club.ledger.append(misfit.event)
    drafts = club.ledger.corrections.drafts
    approve(club.ledger, drafts.annul(misfit.event.key))
    club.ledger.append_many(misfit.before)
    change = drafts.restore(misfit.event.key)
    return _refused(lambda: club.ledger.propose([change], reason="the minutes", by="eve"))


DOORS: dict[str, Callable[[Club, Misfit], str]] = {
    "append": _appended,
    "append together": _appended_together,
    "command": _commanded,
    "command --propose": _proposed_by_command,
    "correct": _by_verb,
    "correct batch": _by_file,
    "propose": _proposed,
    "propose together": _proposed_together,
    "approve": _approved,
    "move": _moved,
    "put back": _put_back,
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("name", MISFITS)
def test_each_rule_stands_at_each_door(name: str, door: str, five: Club) -> None:
    misfit = MISFITS[name]
    if door in misfit.but:
        pytest.skip("what would make it one is recorded before in any case")
    told = DOORS[door](five, misfit)
    assert told.startswith(f"{misfit.rule}: "), told
    with Ledger.open(five.path) as ledger:
        assert ledger.journal.find([misfit.event.key]).keys() == ({misfit.event.key} if door == "put back" else set())
    assert five.run("audit", five.path).out.startswith("TRUE")


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("two ratings of a list", {"identity": "name:ann", "name": "Ann", "rating": "1600", "since": "2026-10-01"}),
        (
            "a rating after the first game",
            {"identity": "name:ann", "name": "Ann", "rating": "1600", "since": "2026-12"},
        ),
    ],
)
def test_a_list_of_players_is_judged_alike(name: str, row: dict[str, str], five: Club) -> None:
    misfit = MISFITS[name]
    five.ledger.append_many(misfit.before)
    head = five.ledger.head()
    frame = pl.DataFrame([{"line": 2, **row}], schema=dict(player_schema()))
    report = five.ledger.registry.take_list([frame], actor="desk")
    assert [fault.message.partition(": ")[0] for fault in report.faults] == [misfit.rule]
    assert five.ledger.head() == head


def test_the_same_said_again_of_the_same_instant_is_no_refusal(five: Club) -> None:
    for event in (seeded("2026-10", "1500"), seeded("2026-10-01", "1500"), changed("2026", Standing.WELCOMER)):
        assert not five.ledger.append(event).duplicate
    five.ledger.append(changed("2026-01-01", Standing.WELCOMER))
    five.ledger.append_many(
        [tournament_opened("2026-11-01", "2026-11-04"), tournament_opened("2026-11-10", "2026-11-19")]
    )
    five.ledger.append(attrs.evolve(tournament_opened("2026-11-10", "2026-11-19"), starts_at="2026-11-10T00:00:00Z"))
    five.ledger.append_many([tournament_closed("2026-11-04"), tournament_closed("2026-11-04T23:59:59Z")])
    assert five.run("audit", five.path).out.startswith("TRUE")
