"""What made the difference between a rating then and now: the parts add up, and each is what its entries did."""

import csv
import io
import json
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.answers import rating_changes
from ledger.answers.rating_changes import changes
from ledger.answers.rows import as_row
from ledger.errors import MalformedError, UnknownNameError
from ledger.facts.words import Outcome, Termination
from ledger.ledger import Ledger
from ledger.ratings.player_states import PlayerStates
from tests.kit.clubs import NOON
from tests.kit.commands import Run
from tests.kit.corrections import approve
from tests.kit.games import game_recorded, run_closed

SCHEMES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("elo", {}),
    ("chessworld", {"provisional_games": 2}),
    ("fide", {}),
    ("fide", {"by_runs": True}),
    ("glicko2", {"period_days": 7}),
    ("ecf-monthly", {}),
    ("uschess", {}),
)
PLAYERS = 4
DAYS = [f"2026-{month:02}-{day:02}" for month in (8, 9, 10) for day in (3, 17)]
pairs = st.permutations(range(1, PLAYERS + 1)).map(lambda players: players[:2])
outcomes = st.sampled_from((Outcome.WHITE, Outcome.DRAW, Outcome.BLACK))
events = st.one_of(
    st.tuples(st.just("game"), pairs, st.sampled_from(DAYS), outcomes),
    st.tuples(st.just("game"), pairs, st.sampled_from(DAYS), outcomes),
    st.tuples(st.just("replace"), st.integers(0, 9), outcomes),
    st.tuples(st.just("void"), st.integers(0, 9)),
    st.tuples(st.just("run"), st.sampled_from(DAYS)),
)


def points(answer: dict[str, Any]) -> Decimal:
    return sum((Decimal(repr(part["points"])) for part in answer["parts"] if part["points"] is not None), Decimal(0))


def rating(ledger: Ledger, player: int) -> float | None:
    ledger.ensure_up_to_date()
    return PlayerStates(ledger.views.connection, ledger.pool()).now(player, ledger.now_ms()).in_force


def kinds(answer: dict[str, Any]) -> list[str]:
    return [part["kind"] for part in answer["parts"]]


class History:
    """A ledger, and what each player's rating was known to be when it had so many entries."""

    def __init__(self, ledger: Ledger, player: int) -> None:
        self.ledger = ledger
        self.player = player
        self.games: list[str] = []
        self.known = {ledger.journal.size(): rating(ledger, player)}

    def take(self, event: tuple[Any, ...]) -> None:
        match event:
            case ("game", (white, black), day, outcome):
                key = f"g{len(self.games)}"
                facts = {"white": white, "black": black, "outcome": outcome, "ended_at": day, "half_moves": 40}
                facts["termination"] = Termination.UNKNOWN
                self.ledger.append(game_recorded(key, **facts))
                self.games.append(key)
            case ("run", day):
                self.ledger.append(run_closed(day))
            case (verb, number, *outcome) if self.games:
                self._correct(verb, f"game:{self.games[number % len(self.games)]}", *outcome)
        self.known[self.ledger.journal.size()] = rating(self.ledger, self.player)

    def _correct(self, verb: str, key: str, outcome: Outcome | None = None) -> None:
        drafts = self.ledger.corrections.drafts
        row = next(self.ledger.rows("games", "key = ?", (key.removeprefix("game:"),)))
        if verb == "void":
            approve(self.ledger, drafts.restore(key) if row["voided_by"] else drafts.annul(key))
        elif outcome is not None and outcome != row["outcome"] and not row["voided_by"]:
            approve(self.ledger, drafts.replace(key, {"outcome": outcome.value}))


@pytest.mark.slow
@given(st.data(), st.sampled_from(SCHEMES), st.lists(events, min_size=4, max_size=14))
def test_the_parts_lead_from_what_was_known_then_to_now(
    data: st.DataObject, scheme: tuple[str, dict[str, Any]], happened: list[tuple[Any, ...]]
) -> None:
    name, given_settings = scheme
    with (
        TemporaryDirectory() as folder,
        Ledger.create(Path(folder) / "club.db", scheme=name, settings=given_settings, clock=lambda: NOON) as ledger,
    ):
        for number in range(1, PLAYERS + 1):
            ledger.register(f"club:{number}", f"P{number}", declared_rating=1500 + 50 * number)
        history = History(ledger, 1)
        for event in happened:
            history.take(event)
        since = data.draw(st.sampled_from(sorted(history.known)))
        answer = as_row(changes(ledger, ledger.player("1"), str(since)))
        assert answer["rating_then"] == history.known[since]
        assert answer["rating_now"] == rating(ledger, 1)
        before = answer["rating_then"]
        for part in answer["parts"]:
            if before is not None and part["points"] is not None:
                assert Decimal(repr(part["rating"])) == _six(before) + Decimal(repr(part["points"]))
            before = part["rating"]
        if answer["parts"] and answer["rating_now"] is not None:
            assert _six(answer["parts"][-1]["rating"]) == _six(answer["rating_now"])
        if answer["difference"] is not None:
            assert points(answer) == Decimal(repr(answer["difference"]))
            assert points(answer) == _six(answer["rating_now"]) - _six(answer["rating_then"])
        _check_corrections(ledger, history, answer)


def _six(value: float) -> Decimal:
    return Decimal(value).quantize(rating_changes.PLACES)


def _check_corrections(ledger: Ledger, history: History, answer: dict[str, Any]) -> None:
    """Each correction has what the rating, as it was known, moved by when it was approved."""
    for part in answer["parts"]:
        if part["proposal"] is None or part["points"] is None:
            continue
        proposal = ledger.corrections.proposal(part["proposal"]).proposal
        assert proposal.decided_position is not None
        earlier = history.known[max(known for known in history.known if known < proposal.decided_position)]
        later = history.known[proposal.decided_position]
        if earlier is not None and later is not None:
            assert Decimal(repr(part["points"])) == _six(later) - _six(earlier)


def test_games_that_came_later_need_no_views_aside(three_games: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    three_games.ensure_up_to_date()
    known, before = three_games.journal.size(), rating(three_games, 1)
    three_games.append(game_recorded("g4", black=4, half_moves=40, ended_at="2026-11-16"))
    three_games.ensure_up_to_date()
    monkeypatch.setattr(rating_changes, "replay", None)
    answer = as_row(changes(three_games, three_games.player("Ann"), str(known)))
    assert (answer["rating_then"], answer["rating_now"]) == (before, rating(three_games, 1))
    assert [(part["kind"], part["cause"], part["games"]) for part in answer["parts"]] == [
        ("game", "win against Dan", ["g4"])
    ]


def test_corrections_of_others_count_through_opponents(three_games: Ledger) -> None:
    known = three_games.journal.size()
    late = {"ended_at": "2026-11-01", "half_moves": 40, "termination": Termination.UNKNOWN}
    three_games.append(game_recorded("late", white=2, black=4, **late))
    approve(three_games, three_games.corrections.drafts.replace("game:late", {"outcome": "black"}))
    approve(three_games, three_games.corrections.drafts.replace("game:g1", {"outcome": "draw"}))
    three_games.ensure_up_to_date()
    answer = as_row(changes(three_games, three_games.player("Ann"), str(known)))
    assert kinds(answer) == ["rated anew", "through opponents", "correction"]
    assert [part["proposal"] for part in answer["parts"]] == [None, 1, 2]
    assert answer["parts"][2]["games"] == ["g1"]
    assert points(answer) == Decimal(repr(answer["difference"]))


def test_since_a_published_list_begins_with_what_it_showed(three_games: Ledger) -> None:
    published = three_games.publications.publish("2026-11-05", actor="eve").publication
    shown = three_games.publications.row(published, 1)
    approve(three_games, three_games.corrections.drafts.replace("game:g1", {"outcome": "draw"}))
    three_games.ensure_up_to_date()
    answer = as_row(changes(three_games, three_games.player("Ann"), "standard@2026-11-05"))
    assert shown is not None
    assert answer["rating_then"] == shown.rating
    assert kinds(answer) == ["game", "game", "correction"]
    assert points(answer) == Decimal(repr(answer["difference"]))


def test_since_a_day_nothing_is_by_corrections(three_games: Ledger) -> None:
    approve(three_games, three_games.corrections.drafts.replace("game:g1", {"outcome": "draw"}))
    three_games.ensure_up_to_date()
    answer = as_row(changes(three_games, three_games.player("Ann"), "2026-11-05"))
    assert [(part["kind"], part["games"]) for part in answer["parts"]] == [("game", ["g2"]), ("game", ["g3"])]
    assert points(answer) == Decimal(repr(answer["difference"]))


def test_what_since_may_not_be_is_said(three_games: Ledger) -> None:
    three_games.ensure_up_to_date()
    ann = three_games.player("Ann")
    with pytest.raises(UnknownNameError, match=r"no entry '2024' .*the journal holds 8; .*write a year as YYYY-01-01"):
        as_row(changes(three_games, ann, "2024"))
    with pytest.raises(MalformedError, match="a published list as 'lists' names it"):
        as_row(changes(three_games, ann, "yesterday"))
    with pytest.raises(UnknownNameError, match="no published list"):
        as_row(changes(three_games, ann, "standard@2026-11-05"))
    with pytest.raises(UnknownNameError, match="no pool"):
        as_row(changes(three_games, ann, "2026-11-05", "blitz"))
    three_games.publications.publish("2026-11-05", actor="eve")
    with pytest.raises(MalformedError, match="standard@2026-11-05/1 is no list of pool 'blitz'"):
        as_row(changes(three_games, ann, "standard@2026-11-05", "blitz"))


def test_a_rating_begins_for_who_was_not_known_and_then_moves(three_games: Ledger) -> None:
    three_games.ensure_up_to_date()
    known = three_games.journal.size()
    three_games.register("name:eve", "Eve")
    three_games.append(game_recorded("g4", white=5, black=4, half_moves=40, ended_at="2026-11-16"))
    three_games.ensure_up_to_date()
    answer = as_row(changes(three_games, three_games.player("Eve"), str(known)))
    assert (answer["rating_then"], answer["difference"]) == (None, None)
    assert [(part["kind"], part["points"], part["games"]) for part in answer["parts"]] == [
        ("began", None, []),
        ("game", answer["rating_now"] - 1400, ["g4"]),
    ]
    assert [part["rating"] for part in answer["parts"]] == [1400, answer["rating_now"]]


def test_who_has_no_rated_game_left_is_not_listed(three_games: Ledger) -> None:
    three_games.ensure_up_to_date()
    known, before = three_games.journal.size(), rating(three_games, 2)
    assert before is not None
    approve(three_games, three_games.corrections.drafts.annul("game:g1"))
    three_games.ensure_up_to_date()
    answer = as_row(changes(three_games, three_games.player("Bob"), str(known)))
    assert (answer["rating_then"], answer["rating_now"], answer["difference"]) == (before, None, None)
    assert [(part["kind"], part["points"], part["rating"]) for part in answer["parts"]] == [
        ("correction", 1400 - before, 1400),
        ("left", None, None),
    ]


def test_what_a_scheme_does_between_games_is_a_part_of_its_own(tmp_path: Path) -> None:
    """FIDE added 0.4 x (2000 - rating) to ratings under 2000 on 1 March 2024 (B.02, 12.1), which no game brought."""
    with Ledger.create(tmp_path / "club.db", scheme="fide", clock=lambda: NOON) as ledger:
        for number in range(6):
            ledger.register(f"n:{number}", f"P{number}", declared_rating=1600 if number else None)
        for number, opponent in enumerate(range(2, 7)):
            day, outcome = f"2023-0{number + 1}-10", (Outcome.WHITE, Outcome.DRAW)[number % 2]
            ledger.append(game_recorded(f"g{number}", black=opponent, ended_at=day, outcome=outcome, half_moves=40))
        ledger.append(game_recorded("others", white=2, black=3, ended_at="2024-04-10", half_moves=40))
        ledger.ensure_up_to_date()
        answer = as_row(changes(ledger, ledger.player("P0"), "2023-12-31"))
        (part,) = answer["parts"]
        assert (part["kind"], part["cause"]) == ("time", rating_changes.BETWEEN_GAMES)
        assert part["points"] == answer["difference"] == (2000 - answer["rating_then"]) * 0.4


def test_what_a_list_showed_leads_on_though_working_it_out_gives_another_number(
    three_games: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    published = three_games.publications.publish("2026-11-05", actor="eve").publication
    row = three_games.publications.row(published, 1)
    assert row is not None
    monkeypatch.setattr(type(three_games.publications), "row", lambda *_: row._replace(rating=row.rating - 8))
    three_games.ensure_up_to_date()
    answer = as_row(changes(three_games, three_games.player("Ann"), "standard@2026-11-05"))
    assert kinds(answer) == ["other version", "game", "game"]
    assert (answer["rating_then"], answer["parts"][0]["points"]) == (row.rating - 8, 8)
    assert points(answer) == Decimal(repr(answer["difference"]))


def test_the_command_tells_it_in_every_format(three_games: Ledger, run: Run) -> None:
    known = three_games.journal.size()
    approve(three_games, three_games.corrections.drafts.replace("game:g1", {"outcome": "draw"}))
    three_games.close()
    words = ["changes", three_games.path, "Ann", "--since", str(known)]
    answer = json.loads(run(*words).out)
    assert kinds(answer) == ["correction"]
    (row,) = csv.DictReader(io.StringIO(run(*words, "--csv").out))
    assert row["points"] == str(answer["difference"])
    table = run(*words, "-t").out
    assert f"then ({known})" in table
    assert "game:g1: outcome white -> draw" in table
    refused = run("changes", three_games.path, "Ann", "--since", "99")
    assert (refused.code, refused.out) == (1, "")
