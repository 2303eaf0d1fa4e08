"""One judge for every door: a fact that cannot stand is refused by the same rule whichever way it comes.

Doors are ``append``, alone and after what contradicts it in one transaction, the recording command, the same with
``--propose``, ``correct`` by a verb and by a file, a proposal of the library, alone and together with what contradicts
it, the approval of one that was in order when it was proposed, a correction that moves a fact there, and one that puts
it back; and a file that is imported, of what files tell.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import attrs
import polars as pl
import pytest

from ledger.book.evidence import Context
from ledger.errors import ProposalError, RejectedError
from ledger.facts import codec
from ledger.facts.events import (
    BirthYearLearnt,
    Decision,
    Event,
    PlayerChanged,
    PolicySet,
    RatingSeeded,
    TournamentClosed,
)
from ledger.facts.source_games import player_schema
from ledger.facts.words import Standing, Termination
from ledger.ledger import Ledger
from ledger.recording.recorder import Submission
from tests.kit.commands import Run
from tests.kit.corrections import approve, made, ratings
from tests.kit.games import game_recorded, scheme_adopted, tournament_closed, tournament_opened
from tests.kit.source_files import player, report

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
        but: doors that it cannot come through, or that take it for a reason that a test of its own shows.
        file: what imports it, and the file.
    """

    rule: str
    before: tuple[Event, ...]
    event: Event
    command: tuple[tuple[str, ...], tuple[str, ...]]
    verb: tuple[str, Mapping[str, str]]
    elsewhere: Mapping[str, Any]
    but: frozenset[str] = frozenset()
    file: tuple[tuple[str, ...], str] | None = None


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
        file=(("players", "import"), "name,rating,since\nAnn,1600,2026-10-01\n"),
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
    "a closing of a tournament that nobody knows": Misfit(
        "no-such-tournament",
        (),
        tournament_closed("2026-11-19"),
        (("close-tournament",), (CUP, "--ended", "2026-11-19")),
        ("close-tournament", {"tournament": CUP, "ended": "2026-11-19"}),
        {"tournament": "Open"},
        frozenset({"append", "append together", "approve", "put back"}),
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
    return done.err.removeprefix(f"{file}:2: error: ")


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
    first = int(isinstance(misfit.event, TournamentClosed))  # by which the tournament is known
    club.ledger.append_many(misfit.before[:first])
    number = club.ledger.propose([change], reason="the minutes", by="eve").proposal
    club.ledger.append_many(misfit.before[first:])
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


def _imported(club: Club, misfit: Misfit) -> str:
    club.ledger.append_many(misfit.before)
    if misfit.file is None:
        pytest.skip("no file tells such a fact")
    command, text = misfit.file
    file = club.path.with_name("told.csv")
    file.write_text(text, "utf-8")
    done = club.run(*command, club.path, file)
    assert (done.code, done.out) == (1, "")
    return done.err.removeprefix(f"{file}:2: error: ")


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
    "import": _imported,
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("name", MISFITS)
def test_each_rule_stands_at_each_door(name: str, door: str, five: Club) -> None:
    misfit = MISFITS[name]
    if door in misfit.but:
        pytest.skip("what would make it one is recorded before in any case, or it is taken there")
    told = DOORS[door](five, misfit)
    assert told.startswith(f"{misfit.rule}: "), told
    with Ledger.open(five.path) as ledger:
        assert ledger.journal.find([misfit.event.key]).keys() == ({misfit.event.key} if door == "put back" else set())
    assert five.run("audit", five.path).out.startswith("TRUE")


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("two ratings of a list", {"identity": "name:ann", "name": "Ann", "rating": "1600", "since": "2026-10-01"}),
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


def test_append_takes_an_end_before_its_games_for_facts_come_in_any_order(tmp_path: Path, run: Run) -> None:
    """Were it refused, what may be recorded would follow from arrival; and what stands then is the same either way."""
    cup = [game_recorded(f"c{day}", tournament=CUP, ended_at=f"2026-11-{day}") for day in (11, 12, 20)]
    told: list[Event] = [*cup, tournament_closed("2026-11-12")]
    tables = []
    for number, events in enumerate((told[:2] + told[3:] + told[2:3], told[3:] + told[:3])):
        path = tmp_path / f"{number}.db"
        with made(path) as ledger:
            ledger.append(scheme_adopted("fide", effective_from="2026-11"))
            ledger.append_many(events)
            rows = [{**row, "position": None} for row in ledger.rows("games", "1 ORDER BY key")]
            tables.append((rows, ratings(ledger)))
        assert run("audit", path).out.startswith("TRUE")
    assert tables[0] == tables[1]


def test_games_of_a_file_after_a_closing_are_of_the_next_edition_as_appended_ones_are(tmp_path: Path, run: Run) -> None:
    text = f"key,white,black,result,date,tournament\nc21,Ann,Bob,1-0,2026-11-21,{CUP}\n"
    (tmp_path / "games.csv").write_text(text, "utf-8")
    standing = []
    for door in ("append", "import"):
        path = tmp_path / f"{door}.db"
        with made(path) as ledger:
            ledger.append_many([game_recorded("c20", tournament=CUP), tournament_closed("2026-11-20")])
            if door == "append":
                termination = Termination.UNKNOWN
                ledger.append(game_recorded("csv:c21", tournament=CUP, ended_at="2026-11-21", termination=termination))
            else:
                done = run("import", path, tmp_path / "games.csv")
                assert (done.code, "it counts in another edition" in done.err) == (0, True), done.err
            rows = ledger.rows("games", "tournament = ? ORDER BY ended_ms", (CUP,))
            standing.append([(row["key"], row["reason"], row["rated_ms"], row["batch"]) for row in rows])
        assert run("audit", path).out.startswith("TRUE")
    assert standing[0] == standing[1]
    assert len(standing[0]) == 2


def test_days_of_a_reported_tournament_that_overlap_are_told_and_not_recorded(five: Club, tmp_path: Path) -> None:
    file = tmp_path / "cup.trf"
    players = player(1, "Ann", "2 w 1"), player(2, "Bob", "1 b 0")
    told = report(players).replace("Club open", CUP).replace("2024/05/01", "2026/11/09")
    file.write_text(told.replace("2024/05/03", "2026/11/20"), "utf-8")
    five.ledger.append(tournament_opened("2026-11-01", "2026-11-09"))
    done = five.run("import", five.path, file, "--open-tournaments", "--accept", "announced-otherwise")
    assert f"note: tournament {CUP!r} lasts from 2026-11-01 to 2026-11-09, and 2026-11-09 to 2026-11-20" in done.err
    assert [row["starts_at"] for row in five.ledger.rows("openings")] == ["2026-11-01"]


def test_a_tournament_that_another_process_told_of_is_known_to_who_closes_it(five: Club) -> None:
    five.ledger.ensure_up_to_date()
    with Ledger.open(five.path) as other:
        other.append(game_recorded("elsewhere", tournament="Cub cup", ended_at="2026-11-18"))
    five.ledger.check_early(tournament_closed("2026-11-19", tournament="Cub cup"), Context.COMMAND)


def test_an_approval_is_judged_by_the_names_that_are_known_by_then(five: Club) -> None:
    drafts = five.ledger.corrections.drafts
    five.ledger.append(game_recorded("c18", tournament="Cub cup", ended_at="2026-11-18"))
    closing = drafts.add(tournament_closed("2026-11-19", tournament="Cub cup"))
    number = five.ledger.propose([closing], reason="the minutes", by="eve").proposal
    approve(five.ledger, drafts.replace("game:c18", {"tournament": CUP}))
    told = _refused(lambda: five.ledger.decide(number, Decision.APPROVED, by="adam"))
    assert told.startswith("no-such-tournament: ")
    assert f"did you mean {CUP!r}?" in told


def test_a_closing_comes_with_the_games_or_the_announcement_of_its_proposal(five: Club) -> None:
    drafts = five.ledger.corrections.drafts
    closing = drafts.add(tournament_closed("2026-11-19"))
    for first in (
        tournament_opened("2026-11-18", "2026-11-19"),
        game_recorded("c18", tournament=CUP, ended_at="2026-11-18"),
    ):
        assert five.ledger.corrections.refusals([drafts.add(first), closing]) == []
    other = drafts.add(game_recorded("c18", tournament="Cup", ended_at="2026-11-18"))
    assert [each.rule for each in five.ledger.corrections.refusals([other, closing])] == ["no-such-tournament"]
    renamed = drafts.replace("game:g2", {"tournament": CUP}), drafts.replace("game:g3", {"tournament": CUP})
    assert five.ledger.corrections.refusals([*renamed, closing]) == []
    last = drafts.add(tournament_closed("2026-11-04", tournament="Open"))
    assert [each.rule for each in five.ledger.corrections.refusals([*renamed, last])] == ["no-such-tournament"]
    assert five.ledger.corrections.refusals([renamed[0], last]) == []


DAN, LAST = 4, "plays no further game; register a person who returns as a new player"
GAME = game_recorded("d21", white=DAN, black=1, ended_at="2026-11-21")
LATE = ("--to", "1-0", "--ended", "2026-11-21", "--key", "d21")


def _late_by_file(club: Club) -> str:
    file = club.path.with_name("batch.csv")
    file.write_text("verb,white,black,to,ended,key\nlate,4,Ann,1-0,2026-11-21,d21\n", "utf-8")
    return club.run("correct", club.path, "batch", file, *EVE).err


def _appended_game(club: Club, *before: Event) -> str:
    with pytest.raises(RejectedError) as caught:
        club.ledger.append_many([*before, GAME])
    assert (caught.value.rule, caught.value.key) == ("erased-player", GAME.key)
    return str(caught.value)


def _approved_since_erased(club: Club) -> str:
    (number,) = (shown.proposal.proposal for shown in club.ledger.corrections.proposals())
    return _refused(lambda: club.ledger.decide(number, Decision.APPROVED, by="adam"))


GAME_DOORS: dict[str, Callable[[Club], str]] = {
    "append": _appended_game,
    "append after another kind": lambda club: _appended_game(club, changed("2026-10", Standing.WELCOMER)),
    "append each": lambda club: str(club.ledger.append_each([Submission(GAME, "live")])[0]),
    "command": lambda club: club.run("record", club.path, "--white", "4", "--black", "Ann", "--result", "1-0").err,
    "command --propose": lambda club: (
        club.run("record", club.path, "--white", "4", "--black", "Ann", "--result", "1-0", "--propose", *EVE).err
    ),
    "correct": lambda club: club.run("correct", club.path, "late", "4", "Ann", *LATE, *EVE).err,
    "correct batch": _late_by_file,
    "propose": lambda club: _refused(
        lambda: club.ledger.propose([club.ledger.corrections.drafts.add(GAME)], reason="the minutes", by="eve")
    ),
    "approve": _approved_since_erased,
}


@pytest.mark.parametrize("door", GAME_DOORS)
def test_who_was_erased_plays_no_further_game(door: str, five: Club) -> None:
    ledger = five.ledger
    if door == "approve":
        ledger.propose([ledger.corrections.drafts.add(GAME)], reason="the minutes", by="eve")
    ledger.erase(DAN)
    head = ledger.head()
    told = GAME_DOORS[door](five)
    assert "erased" in told
    assert "plays no further game" in told
    assert ledger.head() == head


def test_a_file_brings_who_was_erased_back_as_somebody_new(five: Club, tmp_path: Path) -> None:
    five.ledger.erase(DAN)
    (tmp_path / "games.csv").write_text("key,white,black,result,date\nd21,Dan,Ann,1-0,2026-11-21\n", "utf-8")
    assert five.run("import", five.path, tmp_path / "games.csv").code == 0
    assert five.ledger.player("Dan").player == 6


def test_what_was_played_before_an_erasure_is_told_again_and_put_right_as_ever(five: Club) -> None:
    ledger, drafts = five.ledger, five.ledger.corrections.drafts
    ledger.append_many([GAME, changed("2026-09", Standing.WELCOMER)])
    ledger.erase(DAN)
    assert [receipt.duplicate for receipt in ledger.append_many([GAME, changed("2026-09", Standing.WELCOMER)])] == [
        True,
        True,
    ]
    approve(ledger, drafts.replace("game:d21", {"outcome": "draw"}))
    approve(ledger, drafts.annul("game:d21"))
    approve(ledger, drafts.restore("game:d21"))
    approve(ledger, drafts.reassign("game:g1", 2, DAN))  # the scoresheet says so, whoever Dan was
    ledger.append(game_recorded("others", ended_at="2026-11-21"))
    ledger.append_many([game_recorded("more", ended_at="2026-11-21"), changed("2026-08", Standing.GUEST)])
    ledger.append(PlayerChanged(player=DAN, effective_at="2026-11", standing=Standing.CLOSED))
    assert five.run("audit", five.path).out.startswith("TRUE")


MISTYPED = "no read model 'strakes' at hand here; did you mean 'streaks'?"
MODEL_DOORS: dict[str, Callable[[Club], str]] = {
    "command": lambda club: club.run("policy", "set", club.path, "read-models", "strakes=true", "--by", "eve").err,
    "command --propose": lambda club: (
        club.run("policy", "set", club.path, "read-models", "strakes=true", "--propose", *EVE).err
    ),
    "propose": lambda club: _refused(
        lambda: club.ledger.propose(
            [club.ledger.corrections.drafts.add(PolicySet(policy="read-models", number=1, settings={"strakes": True}))],
            reason="the minutes",
            by="eve",
        )
    ),
}


@pytest.mark.parametrize("door", MODEL_DOORS)
def test_a_read_model_that_nobody_has_is_kept_by_no_policy(door: str, five: Club) -> None:
    head = five.ledger.head()
    assert MISTYPED in MODEL_DOORS[door](five)
    assert five.ledger.head() == head


def test_an_approval_asks_again_which_read_models_there_are(five: Club, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = five.ledger
    change = ledger.corrections.drafts.add(PolicySet(policy="read-models", number=1, settings={"bees": True}))
    with monkeypatch.context() as patch:
        patch.setattr(type(ledger.views), "read_models", lambda _: ["bees"])
        number = ledger.propose([change], reason="the minutes", by="eve").proposal
    told = _refused(lambda: ledger.decide(number, Decision.APPROVED, by="adam"))
    assert told.startswith("bad-value: 'policy:read-models@1' may not be set so: no read model 'bees' at hand here")
    with monkeypatch.context() as patch:
        patch.setattr(type(ledger.views), "read_models", lambda _: ["bees"])
        ledger.decide(number, Decision.APPROVED, by="adam")
    ledger.policies.set("read-models", {"bees": False}, actor="eve")  # once its plug-in is gone, too


@pytest.mark.parametrize("change", ["replace", "annul", "undo"])
def test_a_policy_that_holds_by_position_is_set_anew_and_not_corrected(change: str, five: Club) -> None:
    ledger, drafts = five.ledger, five.ledger.corrections.drafts
    (receipt,) = approve(ledger, drafts.add(PolicySet(policy="read-models", number=1, settings={"bests": False})))[1:]
    changes = {
        "replace": lambda: drafts.replace(receipt.key, {"settings": {"bests": True}}),
        "annul": lambda: drafts.annul(receipt.key),
        "undo": lambda: drafts.undo(1),
    }
    told = _refused(lambda: ledger.propose([changes[change]()], reason="the minutes", by="eve"))
    assert (
        told == "not-correctable: 'policy:read-models@1' holds from its entry on, never backwards; set that policy anew"
    )


def test_what_was_looked_at_is_asked_of_who_approves_by_hand_alone(five: Club) -> None:
    """It is no rule of a fact: the journal does not tell what somebody looked at, and so no audit could."""
    ledger, drafts = five.ledger, five.ledger.corrections.drafts
    number = ledger.propose([drafts.annul("game:g1")], reason="the minutes", by="eve").proposal
    ledger.append(game_recorded("g8", ended_at="2026-11-08"))
    done = five.run("correct", five.path, "approve", str(number), "--by", "adam")
    assert (done.code, "approve with --seen" in done.err) == (1, True)
    with pytest.raises(ProposalError, match="unseen-entries"):
        ledger.decide(number, Decision.APPROVED, by="adam", seen=ledger.journal.size() - 1)
    assert ledger.decide(number, Decision.APPROVED, by="adam")
