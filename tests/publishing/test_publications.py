"""Lists that are published: frozen whatever becomes known later, original and revised side by side, and known then."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger import PublicationError, RejectedError, UnknownNameError
from ledger.answers import players, publications, rankings
from ledger.answers.rows import as_row, as_rows
from ledger.errors import ProjectionError
from ledger.facts.words import Outcome
from ledger.journal.stored_lists import ListRow
from ledger.ledger import Ledger
from ledger.publishing.publications import Publication, Published
from ledger.runtime import arith
from ledger.schemes import find_scheme
from tests.kit.clubs import NAME, NOW, record_game
from tests.kit.games import game_recorded, run_closed, seeded
from tests.kit.tampering import edit
from tests.tiers import examples

Made = Callable[..., Ledger]
NAMES = ("Ann", "Bob", "Carl", "Dora")


@pytest.fixture(name="make_club")
def _club(tmp_path: Path) -> Iterator[Made]:
    opened: list[Ledger] = []

    def make(scheme: str = "elo", **settings: Any) -> Ledger:
        path = tmp_path / f"{len(opened)}.db"
        ledger = Ledger.create(path, scheme=scheme, settings=settings, clock=lambda: NOW)
        opened.append(ledger)
        for name in NAMES:
            ledger.register(f"name:{name.lower()}", name, declared_rating=1500)
        return ledger

    yield make
    for ledger in opened:
        ledger.close()


def publish(ledger: Ledger, as_of: str, **given_options: Any) -> Published:
    return ledger.publications.publish(as_of, actor="eve", **given_options)


def kept(ledger: Ledger, publication: Publication) -> list[ListRow]:
    return list(ledger.publications.rows(publication))


def listed(ledger: Ledger, on: str) -> list[tuple[int, int, float, int, str | None]]:
    """What the list in force on a day says now, in the order of the player numbers."""
    rows = as_rows(publications.list_in_force_on(ledger, on))
    return sorted((row["player"], row["place"], row["rating"], row["games"], row["last_game"]) for row in rows)


def as_listed(rows: list[ListRow]) -> list[tuple[int, int, float, int, str | None]]:
    return [(row.player, row.rank, row.rating, row.games, row.last_game) for row in rows]


def test_a_published_list_says_what_was_in_force_and_what_it_follows_from(make_club: Made) -> None:
    ledger = make_club()
    record_game(ledger, "g1", "2021-01-10")
    head = ledger.head()
    done = publish(ledger, "2021-01-31")
    event = done.publication.event
    assert (done.recorded, done.complaints) == (True, ())
    assert (event.pool, event.as_of, event.edition, event.players) == ("standard", "2021-01-31", 1, 2)
    assert (event.head, event.root) == (head.size, head.root.hex())
    assert (event.scheme, event.scheme_version, event.arithmetic) == ("elo", find_scheme("elo").version, arith.VERSION)
    assert (done.publication.name, done.publication.actor) == ("standard@2021-01-31/1", "eve")
    assert done.publication.position == head.size + 1 == ledger.journal.size()
    assert as_listed(kept(ledger, done.publication)) == listed(ledger, "2021-01-31")


def test_the_shown_rating_is_the_one_to_the_nearest_point(make_club: Made) -> None:
    ledger = make_club()
    record_game(ledger, "g1", "2021-01-10", outcome=Outcome.DRAW)
    record_game(ledger, "g2", "2021-01-11")
    for row in kept(ledger, publish(ledger, "2021-01").publication):
        assert f"{row.rating:.0f}" == str(row.shown)


def test_a_list_that_says_the_same_is_not_published_twice(make_club: Made) -> None:
    ledger = make_club()
    record_game(ledger, "g1", "2021-01-10")
    first = publish(ledger, "2021-01-31")
    size = ledger.journal.size()
    again = publish(ledger, "2021-01-31")
    assert (again.recorded, again.publication) == (False, first.publication)
    assert ledger.journal.size() == size


def test_a_list_that_says_something_else_by_now_gets_the_next_edition(make_club: Made) -> None:
    ledger = make_club()
    record_game(ledger, "g1", "2021-01-10")
    first = publish(ledger, "2021-01-31").publication
    before = kept(ledger, first)
    record_game(ledger, "late", "2021-01-05", 2, 1)
    second = publish(ledger, "2021-01-31").publication
    assert second.name == "standard@2021-01-31/2"
    assert kept(ledger, first) == before != kept(ledger, second)
    assert ledger.publications.named("standard@2021-01-31") == second
    assert ledger.publications.named("standard@2021-01") == second, "the same moment in other words"
    assert ledger.publications.named("standard@2021-01-31/1") == first
    assert ledger.publications.named(first.event.key) == first


def test_a_list_of_an_empty_pool_has_nobody(make_club: Made) -> None:
    ledger = make_club()
    ledger.ensure_up_to_date()
    done = publish(ledger, "2021-01-31")
    assert (done.publication.event.players, kept(ledger, done.publication)) == (0, [])
    assert as_rows(publications.published_list_rows(ledger, done.publication)) == []


def test_a_list_of_the_future_is_refused(make_club: Made) -> None:
    ledger = make_club()
    for as_of in ("2022-01", "2022-01-03", "2023"):
        with pytest.raises(RejectedError, match=f"ended-in-the-future: the list is of {as_of}"):
            publish(ledger, as_of)
        with pytest.raises(RejectedError, match="ended-in-the-future"):
            ledger.publications.draft(as_of)
    assert publish(ledger, "2022-01-01").recorded, "a day that is not over yet"
    with pytest.raises(ValueError, match="29 February"):
        publish(ledger, "29 February")
    with pytest.raises(UnknownNameError, match="no pool 'rapid'"):
        publish(ledger, "2021", pool="rapid")


def test_an_unknown_list_is_named_beside_those_there_are(make_club: Made) -> None:
    ledger = make_club()
    with pytest.raises(UnknownNameError, match="none is published yet"):
        ledger.publications.named("standard@2021-01-31")
    publish(ledger, "2021-01-31")
    for word in ("standard@2021-02-28", "rapid@2021-01-31", "standard@2021-01-31/2", "standard", "", "@", "x@/"):
        with pytest.raises(UnknownNameError, match="standard@2021-01-31/1"):
            ledger.publications.named(word)


def test_where_games_are_recorded_all_the_time_a_list_takes_them_and_nothing_else(make_club: Made) -> None:
    ledger = make_club()
    record_game(ledger, "g1", "2021-01-10")
    seen = ledger.publications.draft("2021-01").head
    record_game(ledger, "g2", "2021-02-10")
    with pytest.raises(
        RejectedError, match=rf"the list was looked at with {seen} entries, {seen + 1} are there now; look"
    ):
        publish(ledger, "2021-01", seen=seen)
    ledger.policies.set("read-models", {"streaks": False}, actor="eve")
    with pytest.raises(RejectedError, match="and not only games came; look again"):
        publish(ledger, "2021-01", seen=seen, despite_games=True)
    seen = ledger.publications.draft("2021-01").head
    record_game(ledger, "g3", "2021-02-11")
    assert publish(ledger, "2021-01", seen=seen, despite_games=True).recorded


def test_somebody_who_records_in_between_is_on_the_list(make_club: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    """The list is worked out before the write lock is taken; where another was faster, once more under it."""
    ledger = make_club()
    record_game(ledger, "g1", "2021-01-10")
    with Ledger.open(ledger.path, clock=lambda: NOW) as other:
        drafts: list[int] = []
        draft = type(ledger.publications).draft

        def watched(self: Any, as_of: str, pool: str | None = None) -> Any:
            found = draft(self, as_of, pool)
            drafts.append(found.head)
            if len(drafts) == 1:
                other.append(game_recorded("g2", white=3, black=4, ended_at="2021-01-12", half_moves=60))
            return found

        monkeypatch.setattr(type(ledger.publications), "draft", watched)
        event = publish(ledger, "2021-01-31").publication.event
    assert drafts == [event.head - 1, event.head]
    assert (event.players, event.head) == (4, ledger.journal.size() - 1)
    assert event.root == ledger.journal.root_at(event.head).hex()


def complaints_of(ledger: Ledger, as_of: str) -> list[tuple[str, tuple[int, ...]]]:
    size = ledger.journal.size()
    with pytest.raises(PublicationError) as refused:
        publish(ledger, as_of)
    assert (refused.value.rule, ledger.journal.size()) == ("list-looks-wrong", size)
    assert ledger.publications.all() == [] or refused.value.key.startswith("list:standard@")
    return [(complaint.what, complaint.players) for complaint in refused.value.complaints]


def test_jumps_and_names_that_stand_twice_are_complained_of_and_may_be_published(make_club: Made) -> None:
    ledger = make_club("chessworld")
    record_game(ledger, "g1", "2021-01-10", outcome=Outcome.DRAW)
    assert publish(ledger, "2021-01-31").recorded
    twin = ledger.register("fide:7", "ANN")
    record_game(ledger, "g2", "2021-02-10", 3, twin, Outcome.DRAW)
    record_game(ledger, "g3", "2021-02-11", 1, 2)
    assert complaints_of(ledger, "2021-02-28") == [("name-twice", (1, twin)), ("jump", (1,)), ("jump", (2,))]
    done = publish(ledger, "2021-02-28", despite_complaints=True)
    assert done.recorded
    assert [complaint.what for complaint in done.complaints] == ["name-twice", "jump", "jump"]


def test_a_jump_beyond_the_limit_of_the_policy_is_complained_of(make_club: Made) -> None:
    ledger = make_club()
    ledger.policies.set("publishing", {"largest_jump": 15}, actor="eve")
    ledger.policies.set("publishing", {"largest_jump": 40}, effective_from="2021-03", actor="eve")
    record_game(ledger, "g1", "2021-01-10")
    publish(ledger, "2021-01-31")
    record_game(ledger, "g2", "2021-02-10", 2, 1)
    assert complaints_of(ledger, "2021-02-28") == [("jump", (1,)), ("jump", (2,))]
    assert publish(ledger, "2021-03-01").complaints == (), "another limit holds by then"
    record_game(ledger, "g3", "2021-02-11", 1, 2)
    assert publish(ledger, "2021-02-28").complaints == ()


def test_who_vanished_since_the_last_list_is_complained_of(make_club: Made) -> None:
    ledger = make_club()
    record_game(ledger, "g1", "2021-01-10")
    publish(ledger, "2021-01-31")
    real = type(ledger.publications).draft

    def without_bob(self: Any, as_of: str, pool: str | None = None) -> Any:
        found = real(self, as_of, pool)
        rows = {player: row for player, row in found.rows.items() if player != 2}
        return attrs.evolve(found, rows=rows, kept=type(found.kept)("0" * 64, ()))

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(type(ledger.publications), "draft", without_bob)
        assert complaints_of(ledger, "2021-02-28") == [("vanished", (2,))]


@pytest.mark.parametrize("scheme", ["elo", "ecf-monthly"])
def test_the_policy_keeps_inactive_players_off_a_list_until_they_play_again(make_club: Made, scheme: str) -> None:
    ledger = make_club(scheme)
    ledger.policies.set("publishing", {"active_days": 31}, effective_from="2021-03", actor="eve")
    record_game(ledger, "g1", "2021-01-10", 1, 2)
    record_game(ledger, "g2", "2021-02-28", 3, 4)
    first = publish(ledger, "2021-02-28").publication
    assert {row.player for row in kept(ledger, first)} == {1, 2, 3, 4}, "the policy holds from March on"
    assert complaints_of(ledger, "2021-03-31") == [("empty", ())]
    assert listed(ledger, "2021-03-31") == []
    done = publish(ledger, "2021-03-30")
    assert done.recorded
    assert [(complaint.what, complaint.players) for complaint in done.complaints if complaint.what == "inactive"] == [
        ("inactive", (player,)) for player in (1, 2)
    ]
    assert {row.player for row in kept(ledger, done.publication)} == {3, 4}
    record_game(ledger, "g3", "2021-04-10", 1, 3)
    april = publish(ledger, "2021-04-30").publication
    assert [(row.player, row.rank) for row in kept(ledger, april)] == [(1, 1), (3, 2)]
    assert len(rankings.ranking(ledger, rankings.RankingChoice())) == 4, "the ranking of all players has them"
    ledger.publications.restore_rows(april, actor="eve")


def test_two_numbers_of_one_register_are_two_people_of_one_name_which_is_only_noted(make_club: Made) -> None:
    ledger = make_club()
    first, second = ledger.register("fide:1", "Eve Lund"), ledger.register("fide:2", "Eve  lund")
    record_game(ledger, "g1", "2021-01-10", first, second)
    done = publish(ledger, "2021-01-31")
    assert done.recorded
    assert [(complaint.what, complaint.players) for complaint in done.complaints] == [("name-shared", (first, second))]


def test_the_list_of_a_day_shows_the_published_number_beside_the_present_one(make_club: Made) -> None:
    ledger = make_club()
    record_game(ledger, "g1", "2021-01-10")
    assert {row["revised"] for row in as_rows(publications.list_in_force_on(ledger, "2021-01-31"))} == {False}
    publication = publish(ledger, "2021-01-31").publication
    record_game(ledger, "g9", "2021-01-11", 3, 4)
    original = {row.player: row.rating for row in kept(ledger, publication)}
    rows = {row["player"]: row for row in as_rows(publications.list_in_force_on(ledger, "2021-01-31"))}
    assert {player: row["published"] for player, row in rows.items()} == {3: None, 4: None, **original}
    assert {player for player, row in rows.items() if row["revised"]} == {3, 4}
    assert {row["published"] for row in as_rows(publications.list_in_force_on(ledger, "2021-01-30"))} == {None}, (
        "another list"
    )


def test_a_player_is_shown_with_what_was_published(make_club: Made) -> None:
    ledger = make_club()
    record_game(ledger, "g1", "2021-01-10")
    columns = ("published_list", "published_rating", "revised_rating", "revised")

    def said(at: str | None = None) -> tuple[Any, ...]:
        summary = as_row(players.summary(ledger, ledger.player("Ann"), at=at))
        return tuple(summary[column] for column in columns)

    assert said() == (None, None, None, False)
    publish(ledger, "2021-01-31")
    assert said() == ("standard@2021-01-31/1", 1516.0, 1516.0, False)
    record_game(ledger, "late", "2021-01-05", 2, 1)
    name, published, revised, is_revised = said()
    assert (name, published, is_revised) == ("standard@2021-01-31/1", 1516.0, True)
    assert revised == as_row(players.summary(ledger, ledger.player("Ann"), at="2021-01-31"))["rating_then"] != published
    assert said("2021-01-30") == (None, None, None, False)
    pool = ledger.pool()
    (found,) = publications.published_ratings(ledger, pool, 1)
    assert (found.published, found.revised, found.is_revised) == (published, revised, True)
    (stranger,) = publications.published_ratings(ledger, pool, 4)
    assert (stranger.published, stranger.revised, stranger.is_revised) == (None, None, False)


def test_of_many_players_the_same_is_said_as_of_few(make_club: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = make_club()
    record_game(ledger, "g1", "2021-01-10")
    publish(ledger, "2021-01-31")
    record_game(ledger, "late", "2021-01-05", 3, 1)
    few = as_rows(publications.list_in_force_on(ledger, "2021-01-31"))
    monkeypatch.setattr(publications, "FEW_PLAYERS", 0)
    assert as_rows(publications.list_in_force_on(ledger, "2021-01-31")) == few


@pytest.mark.parametrize(
    ("scheme", "chosen"),
    [("ecf-monthly", {}), ("fide", {"start": "1800", "floor": "1000", "late_reports": "true-place"})],
)
def test_a_scheme_by_lists_publishes_its_list(make_club: Made, scheme: str, chosen: dict[str, Any]) -> None:
    ledger = make_club(scheme, **chosen)
    for n in range(12):
        record_game(ledger, f"g{n}", f"2021-0{1 + n // 4}-1{n % 4}", 1 + n % 2, 3 + n % 2)
    publication = publish(ledger, "2021-02-28").publication
    rows = kept(ledger, publication)
    assert as_listed(rows) == listed(ledger, "2021-02-28")
    assert rows
    record_game(ledger, "late", "2021-01-20", 2, 3)
    assert kept(ledger, publication) == rows
    assert as_listed(rows) != listed(ledger, "2021-02-28")
    runs = as_rows(publications.rating_runs(ledger))
    # the games of January count in it, too: nothing was published before
    assert [row["published"] for row in runs] == [publication.name, publication.name, None]


def test_runs_and_explanations_name_the_first_list_that_counts_the_games(make_club: Made) -> None:
    ledger = make_club("fide", start="1800")
    record_game(ledger, "g1", "2021-01-10")
    first = publish(ledger, "2021-02-01").publication.name
    record_game(ledger, "g2", "2021-03-10", 3, 4)
    ledger.ensure_up_to_date()

    def named() -> list[tuple[str | None, str | None]]:
        runs = publications.rating_runs(ledger)
        explained = [ledger.player(n).explain(key).list_ for n, key in ((1, "g1"), (3, "g2"))]
        return list(zip([run.published for run in runs], explained, strict=True))

    assert named() == [(first, first), (None, "2021-04-01")]
    publish(ledger, "2021-03-01")
    second = publish(ledger, "2021-04-01").publication.name
    publish(ledger, "2021-05-01")
    assert named() == [(first, first), (second, second)]


def test_the_list_of_the_last_day_of_a_period_is_noted_and_published(make_club: Made) -> None:
    ledger = make_club("fide", start="1800")
    record_game(ledger, "g1", "2021-01-10")
    note = "a rating period ends on 2021-01-31; its list is usually that of 2021-02-01"
    assert publish(ledger, "2021-01-30").complaints == ()
    last = publish(ledger, "2021-01-31")
    assert [str(each) for each in last.complaints] == [f"{note}: publish that one instead"]
    (complaint,) = publish(ledger, "2021-02-01").complaints
    one = "the list of 2021-01-31 and that of 2021-02-01 are one list, which is published as"
    assert str(complaint).startswith(f"{one} standard@2021-01-31/1: leave this one out")
    (complaint,) = ledger.publications.complaints(ledger.publications.draft("2021-01-31"))
    assert str(complaint).startswith(f"{one} standard@2021-02-01/1: ")
    assert publish(ledger, "2021-02-02").complaints == ()
    by_game = make_club("elo")
    record_game(by_game, "g1", "2021-01-10")
    assert publish(by_game, "2021-01-31").complaints == ()


def test_runs_name_the_list_published_of_them(make_club: Made) -> None:
    ledger = make_club("playchess", by_runs=True)
    record_game(ledger, "g1", "2021-01-10")
    record_game(ledger, "g2", "2021-02-10")
    for day in ("2021-01-31", "2021-02-28"):
        ledger.append(run_closed(day))
    publish(ledger, "2021-01-31")
    ledger.ensure_up_to_date()
    assert [row["published"] for row in as_rows(publications.rating_runs(ledger))] == ["standard@2021-01-31/1", None]


played = st.sampled_from([Outcome.WHITE, Outcome.DRAW, Outcome.BLACK])
late_games = st.lists(st.tuples(st.integers(1, 28), st.permutations([1, 2, 3, 4]), played), min_size=1, max_size=4)


@examples(quick=2, ci=10, nightly=200)
@given(late_games)
def test_late_games_change_the_revised_list_and_never_the_original(
    tmp_path_factory: pytest.TempPathFactory, late: list[tuple[int, list[int], Outcome]]
) -> None:
    path = tmp_path_factory.mktemp("late") / NAME
    with Ledger.create(path, scheme="elo", clock=lambda: NOW) as ledger:
        for name in NAMES:
            ledger.register(f"name:{name.lower()}", name)
        record_game(ledger, "g1", "2021-01-10")
        record_game(ledger, "g2", "2021-01-20", 3, 4)
        publication = publish(ledger, "2021-01-31").publication
        original = kept(ledger, publication)
    for n, (day, (white, black, *_), outcome) in enumerate(late):
        with Ledger.open(path, clock=lambda: NOW) as ledger:  # a restart between any two
            record_game(ledger, f"late{n}", f"2021-01-{day:02}", white, black, outcome)
    with Ledger.open(path, clock=lambda: NOW) as ledger:
        ledger.ensure_up_to_date()
        assert kept(ledger, publication) == original
        assert as_listed(original) != listed(ledger, "2021-01-31")
        with ledger.known_at(publication.event.head) as then:
            assert as_listed(original) == listed(then, "2021-01-31")


def test_a_rating_that_no_list_can_show_is_named_and_nothing_published(make_club: Made) -> None:
    ledger = make_club(k=2**53 - 1)
    record_game(ledger, "g1", "2021-01-10")
    record_game(ledger, "g2", "2021-01-11", 3, 1)
    size = ledger.journal.size()
    with pytest.raises(ProjectionError, match=r"^elo: gives player 3 the rating 9\.0.*e\+15, which no list can show"):
        publish(ledger, "2021-01-31", despite_complaints=True)
    assert ledger.journal.size() == size


def test_kept_rows_that_are_gone_are_worked_out_again(make_club: Made) -> None:
    ledger = make_club()
    record_game(ledger, "g1", "2021-01-10")
    publication = publish(ledger, "2021-01-31").publication
    rows = kept(ledger, publication)
    record_game(ledger, "late", "2021-01-05", 2, 1)
    size = ledger.journal.size()
    edit(ledger.path, "DELETE FROM texts")
    with pytest.raises(Exception, match="restore it from a copy, or calculate it again by 'lists DB LIST --restore"):
        kept(ledger, publication)
    ledger.publications.restore_rows(publication, actor="eve")
    assert (kept(ledger, publication), ledger.journal.size()) == (rows, size)


def test_rows_that_do_not_follow_are_not_kept(make_club: Made) -> None:
    ledger = make_club()
    record_game(ledger, "g1", "2021-01-10")
    publication = publish(ledger, "2021-01-31").publication
    edit(ledger.path, "DELETE FROM texts")
    other = attrs.evolve(publication, event=attrs.evolve(publication.event, digest="0" * 64))
    with pytest.raises(Exception, match="published rows with the digest 0000"):
        ledger.publications.restore_rows(other, actor="eve")
    assert ledger.journal.text(bytes.fromhex(publication.event.digest)) is None


def test_a_player_with_a_past_stands_on_the_list_of_its_day(make_club: Made) -> None:
    ledger = make_club()
    ledger.append(seeded(4, "2100.5", effective_at="2021-01-01"))
    ledger.ensure_up_to_date()
    (row,) = kept(ledger, publish(ledger, "2021-01-31").publication)
    assert row == ListRow(4, 1, 2100, 2100.5, 0, None)
