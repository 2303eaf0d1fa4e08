"""The impact of a correction before it is approved: what it says, that it writes nothing, and when it is refused."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from math import floor
from pathlib import Path

import pytest

from ledger.answers import impacts, players
from ledger.answers.rankings import RankingChoice, ranking
from ledger.answers.rows import as_row, as_rows
from ledger.errors import ProposalError, TooLongError
from ledger.facts.changes import AnnulmentScope, Change
from ledger.facts.events import Decision, PlayerChanged, RatingSeeded
from ledger.facts.words import Receipt, Standing
from ledger.handle import OpenLedger
from ledger.imports.reading import batch_games
from ledger.ledger import Ledger
from ledger.ratings import dry_runs
from ledger.ratings import standings as standings_now
from ledger.ratings.views import Views
from ledger.recording.recorder import Gate
from ledger.runtime import sqlite
from tests.kit.clubs import NOW
from tests.kit.corrections import TODAY
from tests.kit.games import game_recorded, run_closed, scheme_adopted, seeded, source_games
from tests.kit.impacts import as_plain, check, counting_games, file_digests, read_before, standings
from tests.kit.tokens import team
from tests.tiers import few_quick

MADE_UP = 400  # games
RHYTHMS = ("chessworld", "glicko2", "uschess")
KEY = "game:made:1-300"


@pytest.fixture(scope="module", params=RHYTHMS)
def played(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a ledger with made-up games, rated by a scheme of each rhythm."""
    folder = tmp_path_factory.mktemp(str(request.param))
    with Ledger.create(folder / "club.db", scheme=str(request.param), clock=lambda: NOW) as ledger:
        ledger.import_games(batch_games(source_games(MADE_UP), MADE_UP))
        ledger.catch_up()
    return folder


@pytest.fixture
def many(played: Path, tmp_path: Path) -> Iterator[Ledger]:
    """A copy of it, open."""
    shutil.copytree(played, tmp_path / "copy")
    with Ledger.open(tmp_path / "copy" / "club.db", clock=lambda: NOW) as ledger:
        yield ledger


def approve_as_seen(ledger: Ledger, changes: list[Change]) -> None:
    """Preview changes and their proposal, approve it, and compare all three with the rows before and after."""
    unproposed = ledger.preview(changes)
    number = ledger.propose(changes, reason="because", by="eve").proposal
    before = standings(ledger)
    impact = ledger.preview(number)
    assert as_plain(impact) == as_plain(unproposed)
    ledger.decide(number, Decision.APPROVED, by="adam", seen=impact.seen)
    with counting_games() as games:
        ledger.catch_up()
    assert impact.games == sum(games)
    check(impact, before, standings(ledger))


VERBS: dict[str, Callable[[Ledger], list[Change]]] = {
    "result": lambda ledger: [ledger.corrections.drafts.replace(KEY, {"outcome": "draw", "termination": "agreement"})],
    "day": lambda ledger: [ledger.corrections.drafts.replace(KEY, {"ended_at": "2009-05"})],
    "void": lambda ledger: [ledger.corrections.drafts.annul(KEY), ledger.corrections.drafts.annul("game:made:1-7")],
    "annul": lambda ledger: [ledger.corrections.drafts.annul_games(2, AnnulmentScope.ALL, since="2012")],
    "losses": lambda ledger: [ledger.corrections.drafts.annul_games(3, AnnulmentScope.LOSSES)],
    "merge": lambda ledger: [ledger.corrections.drafts.merge(1, 5)],
    "late": lambda ledger: [ledger.corrections.drafts.add(game_recorded("late", ended_at="2015-03", half_moves=50))],
    "live": lambda ledger: [ledger.corrections.drafts.add(game_recorded("live", ended_at="2021-12", half_moves=50))],
    "standing": lambda ledger: [ledger.corrections.drafts.replace("player:4", {"standing": "guest"})],
    "close": lambda ledger: [ledger.corrections.drafts.close_account(4, "2020")],
    "declared": lambda ledger: [ledger.corrections.drafts.replace("player:6", {"declared_rating": 2100})],
    "seed": lambda ledger: [ledger.corrections.drafts.add(RatingSeeded(player=8, pool="standard", rating="1999.5"))],
    "run": lambda ledger: [ledger.corrections.drafts.add(run_closed("2014-02-03"))],
    "scheme": lambda ledger: [
        ledger.corrections.drafts.replace("scheme:standard@start", {"scheme": "lichess", "settings": {}})
    ],
    "adoption": lambda ledger: [ledger.corrections.drafts.add(scheme_adopted("fide", effective_from="2016"))],
}


@pytest.mark.parametrize("verb", few_quick(VERBS, "result", "merge", "late", "adoption"))
def test_a_preview_is_what_the_approval_makes(verb: str, many: Ledger) -> None:
    approve_as_seen(many, VERBS[verb](many))


@pytest.mark.slow
def test_the_undoing_of_an_approval_is_seen(many: Ledger) -> None:
    approve_as_seen(many, VERBS["merge"](many))
    approve_as_seen(many, [many.corrections.drafts.undo(1)])


@pytest.mark.parametrize("verb", ["day", "merge"])
def test_places_that_are_counted_and_read_are_the_same(
    verb: str, many: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = VERBS[verb](many)
    impact = many.preview(changes)
    monkeypatch.setattr(standings_now, "count_players_before", read_before)
    assert as_plain(many.preview(changes)) == as_plain(impact)


def test_classes_before_and_after_are_those_that_the_ranking_tells(many: Ledger) -> None:
    def classes() -> dict[int, str]:
        return {row["player"]: row["class"] for row in as_rows(ranking(many, RankingChoice(min_games=1)))}

    middle = as_rows(ranking(many, RankingChoice(limit=8)))[-1]["rating"]
    many.policies.set("classes", {"everywhere": True, "b_from": floor(middle)}, actor="eve")
    many.catch_up()
    changes = [many.corrections.drafts.annul_games(1, AnnulmentScope.ALL)]
    rows = as_rows(impacts.impact_in_full(many, many.preview(changes)).moves)
    before = classes()
    many.decide(many.propose(changes, reason="because", by="eve").proposal, Decision.APPROVED, by="adam")
    many.catch_up()
    after = classes()
    assert len(rows) > 10
    assert {row["class_before"] for row in rows} >= {"A", "B"}
    for row in rows:
        assert (row["class_before"], row["class_after"]) == (before.get(row["player"]), after.get(row["player"]))


def test_the_largest_moves_stand_first_and_who_would_go_before_them(many: Ledger) -> None:
    impact = many.preview(VERBS["merge"](many))
    gone = [move for move in impact.moves if move.after is None]
    assert [move.player for move in gone] == [1]
    assert list(impact.moves[:1]) == gone
    sizes = [abs(move.difference) for move in impact.moves if move.difference is not None]
    assert sizes == sorted(sizes, reverse=True)
    assert impact.moved == 1 + sum(size > 0 for size in sizes)
    assert impact.seconds > 0


@pytest.mark.parametrize("verb", few_quick(VERBS, "result"))
def test_no_byte_of_any_file_changes(verb: str, many: Ledger) -> None:
    number = many.propose(VERBS[verb](many), reason="because", by="eve").proposal
    many.catch_up()
    before = file_digests(many.path.parent)
    many.preview(number)
    many.preview(VERBS["void"](many))
    assert file_digests(many.path.parent) == before


def test_asked_again_of_the_same_entries_a_preview_tries_nothing(four: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    number = four.propose([four.corrections.drafts.annul("game:g1")], reason="because", by="eve").proposal
    impact = four.preview(number)
    with monkeypatch.context() as patched:
        patched.setattr(dry_runs, "apply_entries", None)
        assert four.preview(number) is impact
    four.append(game_recorded("later", ended_at="2026-11-10", half_moves=40))
    assert four.preview(number).seen == impact.seen + 1


def test_a_remembered_preview_is_tried_anew_once_an_account_is_closed_by_then(four: Ledger) -> None:
    four.append(PlayerChanged(player=3, effective_at="2026-12-01", standing=Standing.CLOSED))
    number = four.propose([four.corrections.drafts.annul("game:g1")], reason="because", by="eve").proposal
    first = four.preview(number)
    before = four.clock
    four.clock = lambda: before() + timedelta(hours=1)
    assert four.preview(number) is first
    four.clock = lambda: before() + timedelta(days=60)
    assert four.preview(number) is not first


def test_others_write_meanwhile(four: Ledger) -> None:
    number = four.propose([four.corrections.drafts.annul("game:g1")], reason="because", by="eve").proposal
    four.catch_up()
    impact = four.preview(number)
    with (
        Ledger.open(four.path) as other,
        other.journal.writing(),
        sqlite.write_transaction(other.views.connection),
    ):
        other.views.connection.execute("DELETE FROM current")
        assert as_plain(four.preview(number)) == as_plain(impact)


def test_what_takes_longer_than_others_may_wait_is_tried_on_a_copy_and_says_the_same(
    many: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied = list[Path]()
    real = dry_runs.copy_of_views

    @contextmanager
    def noting(views: Views) -> Iterator[Views]:
        with real(views) as copy:
            copied.append(copy.path)
            yield copy

    changes = VERBS["void"](many)
    impact, before = many.preview(changes), file_digests(many.path.parent)
    monkeypatch.setattr(dry_runs, "copy_of_views", noting)
    monkeypatch.setattr(dry_runs, "_STEPS", 100)
    assert as_plain(many.preview(changes, others_wait=60.0)) == as_plain(impact)
    assert copied == []
    assert as_plain(many.preview(changes, others_wait=0.0)) == as_plain(impact)
    assert len(copied) == 1
    assert not copied[0].exists()
    assert file_digests(many.path.parent) == before


def test_what_takes_longer_than_it_may_is_given_up_and_nothing_of_it_stays(
    many: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = VERBS["void"](many)
    impact, before = many.preview(changes), file_digests(many.path.parent)
    monkeypatch.setattr(dry_runs, "_STEPS", 100)
    for _ in range(2):
        with pytest.raises(TooLongError, match="takes longer than 0 s to try this, and was given up"):
            many.preview(changes, others_wait=0.0, at_most=0.0)
    assert file_digests(many.path.parent) == before
    assert as_plain(many.preview(changes)) == as_plain(impact)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_is_enough(four: Ledger) -> None:
    number = four.propose([four.corrections.drafts.annul("game:g1")], reason="because", by="eve").proposal
    four.catch_up()
    impact = four.preview(number)
    four.close()
    four.path.parent.chmod(0o555)
    try:
        with Ledger.open(four.path, read_only=True) as ledger:
            assert as_plain(ledger.preview(number)) == as_plain(impact)
    finally:
        four.path.parent.chmod(0o755)


def test_what_was_recorded_since_is_counted_but_for_proposals(four: Ledger) -> None:
    drafts = four.corrections.drafts
    number = four.propose([drafts.annul("game:g1")], reason="because", by="eve").proposal
    four.propose([drafts.annul("game:g2")], reason="because", by="eve")
    assert four.preview(number).recorded_since == 0
    four.append(game_recorded("further", half_moves=40, ended_at="2026-11-20"))
    impact = four.preview(number)
    assert (impact.recorded_since, impact.seen) == (1, four.journal.size())
    assert four.corrections.recorded_since(number) == (1, impact.seen)
    four.append(game_recorded("more", half_moves=40, ended_at="2026-11-20"))
    with pytest.raises(ProposalError, match="unseen-entries"):
        four.decide(number, Decision.APPROVED, by="adam", seen=impact.seen)
    assert four.decide(number, Decision.APPROVED, by="adam", seen=four.preview(number).seen)


def test_where_games_are_recorded_all_the_time_an_approval_takes_them_and_nothing_else(four: Ledger) -> None:
    drafts = four.corrections.drafts
    number = four.propose([drafts.annul("game:g1")], reason="because", by="eve").proposal
    seen = four.preview(number).seen

    def approve_as_seen(seen: int) -> object:
        return four.decide(number, Decision.APPROVED, by="adam", seen=seen, despite_games=True)

    newcomer = four.register("name:newcomer", "Newcomer")
    four.append(game_recorded("further", half_moves=40, ended_at="2026-11-20", white=newcomer))
    four.propose([drafts.annul("game:g2")], reason="because", by="eve")
    with pytest.raises(ProposalError, match=rf"looked at with {seen} entries, .*, and not only games came; look again"):
        approve_as_seen(seen)
    seen = four.preview(number).seen
    with pytest.raises(ProposalError, match="unseen-entries"):
        approve_as_seen(seen + 1)  # nobody can have looked at that
    four.append(game_recorded("more", half_moves=40, ended_at="2026-11-20", white=newcomer))
    assert approve_as_seen(seen)


def test_an_erased_person_has_no_name(four: Ledger) -> None:
    number = four.propose([four.corrections.drafts.annul("game:g1")], reason="because", by="eve").proposal
    names = {move.player: move.name for move in four.preview(number).moves}
    player = min(names)
    assert names[player] is not None
    assert four.erase(player)
    assert {move.player: move.name for move in four.preview(number).moves} == {**names, player: None}


def test_what_another_process_approves_before_the_lock_is_taken_is_known_to_who_decides(
    four: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = [four.corrections.drafts.replace("game:g1", {"outcome": "draw"})]
    first, second = (four.propose(changes, reason=reason, by="eve").proposal for reason in ("because", "why not"))
    _record_judged = OpenLedger._record_judged

    def after_another(ledger: OpenLedger, gate: Gate, actor: str) -> list[Receipt]:
        if ledger is four:
            with Ledger.open(four.path, clock=lambda: TODAY) as other:
                other.decide(first, Decision.APPROVED, by="adam")
        return _record_judged(ledger, gate, actor)

    monkeypatch.setattr(OpenLedger, "_record_judged", after_another)
    with pytest.raises(ProposalError, match="outcome of 'game:g1' is 'draw', not 'white'; look at it again"):
        four.decide(second, Decision.APPROVED, by="adam")


def test_what_may_not_be_approved_is_refused_in_the_same_words(four: Ledger) -> None:
    drafts = four.corrections.drafts
    changes = [drafts.replace("game:g1", {"outcome": "draw"})]
    number = four.propose(changes, reason="because", by="eve").proposal
    again = four.propose(changes, reason="once more", by="eve").proposal
    four.decide(number, Decision.APPROVED, by="adam")
    for wanted, rule in ((number, "already-decided"), (again, "stale"), (99, "no-such-proposal")):
        with pytest.raises(ProposalError, match=rule) as previewed:
            four.preview(wanted)
        with pytest.raises(ProposalError) as decided:
            four.decide(wanted, Decision.APPROVED, by="adam")
        assert previewed.value.refusals == decided.value.refusals
    for refused in ([], changes):
        with pytest.raises(ProposalError) as previewed:
            four.preview(refused)
        with pytest.raises(ProposalError) as proposed:
            four.propose(refused, reason="because", by="eve")
        assert previewed.value.refusals == proposed.value.refusals


@pytest.mark.parametrize("tokens", [False, True])
def test_four_eyes_do_not_hide_an_impact(tokens: bool, four: Ledger) -> None:
    change = four.corrections.drafts.annul("game:g1")
    impact = four.preview([change])
    four.policies.set("four-eyes", {"on": True, "tokens": tokens}, actor="admin")
    assert as_plain(four.preview([change])) == as_plain(impact)
    word = four.propose([change], reason="because", by="eve").proposal
    proven = four.propose([change], reason="because", token=team(four)["eve"]).proposal
    assert as_plain(four.preview([change])) == as_plain(impact)
    assert as_plain(four.preview(proven)) == as_plain(impact)
    if tokens:  # nobody may approve it
        with pytest.raises(ProposalError, match="four-eyes"):
            four.preview(word)
    else:
        assert as_plain(four.preview(word)) == as_plain(impact)


def test_every_pool_is_told(four: Ledger) -> None:
    four.append(scheme_adopted(pool="blitz"))
    four.append(game_recorded("b1", pool="blitz", half_moves=40))
    four.catch_up()
    impact = four.preview([four.corrections.drafts.merge(1, 3)])
    assert {move.pool for move in impact.moves} == {"standard", "blitz"}


def test_closed_accounts_have_no_place_and_who_loses_it_is_told_first(tmp_path: Path) -> None:
    with Ledger.create(tmp_path / "club.db", clock=lambda: NOW) as ledger:
        ledger.import_games(batch_games(source_games(60), 60))
        ledger.catch_up()
        drafts, first = ledger.corrections.drafts, as_rows(ranking(ledger, RankingChoice(limit=1)))[0]["player"]
        closing = [drafts.close_account(first, "2020")]
        impact = ledger.preview(closing)
        move = impact.moves[0]
        assert move.before is not None
        assert move.after is not None
        assert (move.player, move.difference, impact.moved) == (first, 0.0, 0)
        assert (len(impact.moves), impact.games) == (1, 0)  # closing rates nothing again
        assert (move.before.rank, move.before.closed, move.after.rank, move.after.closed) == (1, False, None, True)
        row = as_rows(impacts.impact_in_full(ledger, impact).moves)[0]
        assert (row["class_before"] is None, row["class_after"]) == (False, None)
        approve_as_seen(ledger, closing)
        approve_as_seen(ledger, [drafts.annul("game:made:1-30")])  # places are counted without the closed account


def test_who_has_no_rating_by_the_rules_moves_none(tmp_path: Path) -> None:
    with Ledger.create(tmp_path / "fide.db", scheme="fide", clock=lambda: NOW) as ledger:
        ledger.import_games(batch_games(source_games(60), 60))
        ledger.catch_up()
        impact = ledger.preview([ledger.corrections.drafts.annul_games(2, AnnulmentScope.ALL)])
        assert (impact.moved, {move.difference for move in impact.moves}) == (0, {None})
        rows = as_rows(impacts.impact_in_full(ledger, impact).moves)
        shown = [f"{name}_{when}" for name in ("rating", "hera", "hera_game") for when in ("before", "after")]
        assert {row[name] for row in rows for name in shown} == {None}


@pytest.mark.parametrize("scheme", ["chessworld", "elo", "glicko2", "fide", "uschess", "ecf-monthly"])
def test_who_came_with_the_rating_of_a_list_keeps_it_when_the_only_game_is_voided(scheme: str, tmp_path: Path) -> None:
    with Ledger.create(tmp_path / "club.db", scheme=scheme, clock=lambda: NOW) as ledger:
        for number, name in enumerate(("Ann", "Bob", "Cleo"), 1):
            ledger.register(f"id:{number}", name)
            ledger.append(seeded(number, f"{1700 + 100 * number}", games=60, effective_at="2021-01-01"))
        ledger.append(game_recorded("g1", white=1, black=2, half_moves=40, ended_at="2021-05-01"))
        ledger.append(game_recorded("g2", white=2, black=3, half_moves=40, ended_at="2021-05-02"))
        ledger.ensure_up_to_date()
        voided = [ledger.corrections.drafts.annul("game:g1")]
        move = next(move for move in ledger.preview(voided).moves if move.player == 1)
        assert move.before is not None
        assert move.after is not None
        assert (move.before.games, move.after.games, move.after.rank, move.ratings[1]) == (1, 0, None, 1800.0)
        approve_as_seen(ledger, voided)
        assert as_row(players.summary(ledger, ledger.player("Ann")))["rating_now"] == 1800.0
        approve_as_seen(ledger, [ledger.corrections.drafts.restore("game:g1")])


def test_who_last_played_before_a_scheme_that_converts_moves_as_well(tmp_path: Path) -> None:
    with Ledger.create(tmp_path / "club.db", scheme="elo", clock=lambda: NOW) as ledger:
        for number, name in enumerate(("Ann", "Bob", "Cleo", "Dan", "Eve"), 1):
            ledger.register(f"id:{number}", name)
        ledger.append(seeded(5, "1400"))
        ledger.append(game_recorded("g1", white=1, black=2, half_moves=40, ended_at="2021-05-01"))
        ledger.append(game_recorded("g2", white=3, black=4, half_moves=40, ended_at="2021-11-01"))
        ledger.ensure_up_to_date()
        words = {"scheme": "elo", "from": "2021-10-01", "carry": "convert", "map": "1:100"}
        adopting = [ledger.corrections.verbs.change("adopt", words)]
        impact = ledger.preview(adopting)
        assert {move.player: move.difference for move in impact.moves if move.player < 3} == {1: 100.0, 2: 100.0}
        assert (impact.games, impact.players) == (1, 2)
        approve_as_seen(ledger, adopting)
        # back to where it was: those two again, and nobody else
        undoing = [ledger.corrections.drafts.undo(1)]
        moves = {move.player: move.difference for move in ledger.preview(undoing).moves}
        assert (moves[1], moves[2], moves.keys() <= {1, 2, 3, 4}) == (-100.0, -100.0, True)
        approve_as_seen(ledger, undoing)


def test_the_rating_of_a_list_of_who_never_played_moves_as_well(tmp_path: Path) -> None:
    with Ledger.create(tmp_path / "club.db", scheme="elo", clock=lambda: NOW) as ledger:
        for number, name in enumerate(("Ann", "Bob", "Cleo"), 1):
            ledger.register(f"id:{number}", name)
        ledger.append(seeded(2, "1700"))
        ledger.append(seeded(3, "1600"))
        ledger.ensure_up_to_date()
        verbs, drafts = ledger.corrections.verbs, ledger.corrections.drafts

        def moves(change: Change) -> dict[int, tuple[float | None, float | None]]:
            impact = ledger.preview([change])
            approve_as_seen(ledger, [change])
            return {move.player: move.ratings for move in impact.moves}

        key = seeded(2, "1700").key
        assert moves(verbs.change("rating", {"player": "Ann", "to": "1850"})) == {1: (None, 1850.0)}
        assert moves(drafts.replace(key, {"rating": "1750"})) == {2: (1700.0, 1750.0)}
        assert moves(drafts.annul(key)) == {2: (1750.0, None)}
        assert moves(drafts.merge(3, 1)) == {3: (1600.0, None)}
        assert moves(drafts.undo(3)) == {2: (None, 1750.0)}
