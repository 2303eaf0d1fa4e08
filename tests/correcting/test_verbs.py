"""Each verb: what it makes of the facts, against a ledger in which these had been recorded right at once."""

import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import attrs
import pytest

from ledger.correcting.verbs import VERBS, conversion_in
from ledger.errors import MalformedError, UnknownNameError
from ledger.facts import codec
from ledger.facts.events import (
    BirthYearLearnt,
    ConversionRange,
    Event,
    GameRecorded,
    PlayerChanged,
    RatingSeeded,
    SchemeAdopted,
)
from ledger.facts.words import Outcome, Standing
from ledger.ledger import Ledger
from tests.kit.clubs import NOW
from tests.kit.corrections import (
    ANN,
    BOB,
    CLEO,
    DAN,
    TODAY,
    approve,
    ask,
    by_key,
    made,
    played,
    ratings,
    rebuilt,
    tables,
)
from tests.kit.games import federation_set, game_recorded, run_closed, strength_chosen

ANNOUNCED = "test_announced_by_two.py"
BYES = "answers/crosstables/test_byes.py"
Right = Callable[[list[GameRecorded]], list[GameRecorded]]


def with_game(number: int, **facts: Any) -> Right:
    """The games, of which one is told otherwise."""
    return lambda games: [attrs.evolve(g, **facts) if g.game == f"g{number}" else g for g in games]


def swapped(number: int, **facts: Any) -> Right:
    """The games, of which one was played with the other colours, and by default won by whom it was won."""
    mirrored = {Outcome.WHITE: Outcome.BLACK, Outcome.BLACK: Outcome.WHITE}
    return lambda games: [
        attrs.evolve(g, **{"white": g.black, "black": g.white, "outcome": mirrored.get(g.outcome, g.outcome), **facts})
        if g.game == f"g{number}"
        else g
        for g in games
    ]


def without(*numbers: int) -> Right:
    """The games but some."""
    return lambda games: [g for g in games if int(g.game[1:]) not in numbers]


# By what is asked, in words, the games that should have been recorded.
GAMES: dict[str, tuple[str, dict[str, str], Right]] = {
    "result": ("result", {"game": "g2", "to": "0-1"}, with_game(2, outcome=Outcome.BLACK)),
    "result drawn": ("result", {"game": "g7", "to": "½-½"}, with_game(7, outcome=Outcome.DRAW)),
    "no result": ("result", {"game": "g7", "to": "*"}, with_game(7, outcome=Outcome.NONE)),
    "end": ("game", {"game": "g2", "field": "ended_at", "to": "2026-11-06"}, with_game(2, ended_at="2026-11-06")),
    "too short": ("game", {"game": "g2", "field": "half_moves", "to": "4"}, with_game(2, half_moves=4)),
    "casual": ("game", {"game": "g2", "field": "rated", "to": "false"}, with_game(2, rated=False)),
    "blank round": ("game", {"game": "g3", "field": "round", "to": ""}, with_game(3, round=None)),
    "void": ("void", {"game": "g3"}, without(3)),
    "reassign": ("reassign", {"game": "g6", "player": "Bob", "to": "Dan"}, with_game(6, white=DAN)),
    "swap colours": ("swap-colours", {"game": "g6"}, swapped(6)),
    "swap colours, another result": ("swap-colours", {"game": "g6", "to": "1/2"}, swapped(6, outcome=Outcome.DRAW)),
    "annul all": ("annul", {"player": "Ann", "which": "all"}, without(1, 3, 5, 7)),
    "annul losses": ("annul", {"player": "Ann", "which": "losses"}, without(1, 3, 7)),
    "annul a span": (
        "annul",
        {"player": "Ann", "which": "all", "from": "2026-11-03", "until": "2026-11-05"},
        without(3, 5),
    ),
    "void tournament": ("void-tournament", {"tournament": "Open"}, without(2, 3)),
    "void tournament from a day": ("void-tournament", {"tournament": "Open", "from": "2026-11-03"}, without(3)),
}


@pytest.mark.parametrize("name", GAMES)
def test_ratings_are_as_if_the_right_games_had_been_recorded(name: str, four: Ledger, tmp_path: Path) -> None:
    verb, words, right = GAMES[name]
    before = ratings(four)
    approve(four, ask(four, verb, **words))
    with made(tmp_path / "right.db", right(played())) as other:
        assert ratings(four) == ratings(other)
        counting = {key: row for key, row in by_key(four).items() if row[1] is None}
        assert counting == {key: row for key, row in by_key(other).items() if row[1] is None}
    assert (ratings(four) == before) == (name in {"blank round", "swap colours"})  # this scheme knows no colours
    assert tables(four) == rebuilt(four)


@pytest.mark.parametrize("name", GAMES)
def test_undoing_it_gives_back_what_was(name: str, four: Ledger) -> None:
    verb, words, _ = GAMES[name]
    before = tables(four)
    approve(four, ask(four, verb, **words))
    approve(four, ask(four, "undo", proposal="1"))
    after = tables(four)
    assert {table: rows for table, rows in after.items() if rows != before[table]}.keys() == {
        "proposals",
        "corrections",
    }
    assert after == rebuilt(four)


def test_a_game_of_another_pool_stands_in_its_own_again_once_that_is_undone(four: Ledger) -> None:
    four.append(SchemeAdopted(pool="rapid", scheme="elo", settings={}))
    four.catch_up()
    before = tables(four)
    approve(four, ask(four, "game", game="g2", field="pool", to="rapid"))
    assert by_key(four, ("pool",))["g2"] == (2,)
    assert tables(four) == rebuilt(four)
    approve(four, ask(four, "undo", proposal="1"))
    after = tables(four)
    assert {table for table, rows in after.items() if rows != before[table]} == {"proposals", "corrections"}
    assert after == rebuilt(four)


def test_a_game_of_another_pool_stands_in_its_own_again_where_it_is_voided_meanwhile(four: Ledger) -> None:
    four.append(SchemeAdopted(pool="rapid", scheme="elo", settings={}))
    approve(four, ask(four, "void", game="g2"))
    approve(four, ask(four, "game", game="g2", field="pool", to="rapid"))
    approve(four, ask(four, "undo", proposal="2"))
    assert by_key(four, ("pool", "voided_by"))["g2"] == (1, 1)
    assert tables(four) == rebuilt(four)


def test_a_voided_game_stays_in_the_book_and_can_be_reinstated(four: Ledger) -> None:
    before = ratings(four)
    approve(four, ask(four, "annul", player="Ann", which="all"))
    assert by_key(four, ("reason", "voided_by"))["g3"] == ("voided", 1)
    approve(four, ask(four, "reinstate", game="g3"))
    assert by_key(four, ("reason", "voided_by"))["g3"] == (None, None)
    approve(four, ask(four, "void", game="g3"), ask(four, "reinstate", game="g1"))
    assert by_key(four, ("voided_by",))["g3"] == (3,)
    approve(four, ask(four, "undo", proposal="1"), ask(four, "undo", proposal="3"))
    assert ratings(four) == before


def test_a_game_of_an_annulled_time_that_comes_later_is_annulled_too(four: Ledger) -> None:
    approve(four, ask(four, "annul", player="Ann", which="all", from_="2026-11-02", until="2026-11-20"))
    for day in (1, 15, 21):
        four.append(game_recorded(f"later-{day}", white=BOB, black=ANN, ended_at=f"2026-11-{day:02}"))
    reasons = by_key(four, ("reason",))
    assert [reasons[f"later-{day}"] for day in (1, 15, 21)] == [(None,), ("voided",), (None,)]
    assert tables(four) == rebuilt(four)


def test_a_late_game_is_recorded_by_the_approval_in_the_same_transaction(four: Ledger, tmp_path: Path) -> None:
    late = game_recorded("late", white=CLEO, black=BOB, ended_at="2026-11-03", half_moves=30)
    words = {"white": "Cleo", "black": "Bob", "to": "1-0", "ended": "2026-11-03", "half_moves": "30", "key": "late"}
    change = ask(four, "late", **words, termination="resignation")
    decision, recorded = approve(four, change)
    assert (recorded.key, recorded.position) == ("game:late", decision.position + 1)
    with made(tmp_path / "right.db", [*played(), late]) as other:
        assert ratings(four) == ratings(other)
    approve(four, ask(four, "undo", proposal="1"))
    assert by_key(four)["late"] == ("white", "voided")
    assert tables(four) == rebuilt(four)


def test_a_made_key_of_a_late_game_is_the_same_for_the_same_facts(four: Ledger) -> None:
    words = {"white": "Cleo", "black": "Bob", "to": "1-0", "ended": "2026-11-03"}
    first, second = (ask(four, "late", **words, half_moves=moves) for moves in ("30", "31"))
    assert first.fact == second.fact
    assert str(first.fact).startswith("game:late:")


def test_a_made_key_of_a_late_game_is_the_same_in_every_ledger_of_one_secret(tmp_path: Path) -> None:
    keys = []
    for place, names in enumerate((("Ann", "Bob"), ("Zoe", "Bob", "Ann"))):
        path, first = tmp_path / f"{place}.db", tmp_path / "0.db"
        with Ledger.create(path, secret_of=first if place else None, clock=lambda: NOW) as ledger:
            ledger.register_many([(f"id:{name}", name) for name in names])
            words = {"white": "Ann", "black": "Bob", "to": "1-0", "ended": "2021-11-03"}
            keys.append(ask(ledger, "late", **words).fact)
    assert keys[0] == keys[1]


def test_a_late_game_of_an_earlier_release_keeps_its_key(four: Ledger) -> None:
    words = {"white": "Cleo", "black": "Bob", "to": "1-0", "ended": "2026-11-03"}
    sealed = json.dumps(["standard", CLEO, BOB, "white", "2026-11-03", None, None])
    old = f"late:{sha256(sealed.encode()).hexdigest()[:16]}"
    four.append(game_recorded(old, white=CLEO, black=BOB, ended_at="2026-11-03", half_moves=30))
    assert ask(four, "late", **words).fact == f"game:{old}"


def test_merged_players_are_one_person_and_parted_ones_are_two(four: Ledger) -> None:
    before = tables(four)
    approve(four, ask(four, "merge", player="Ann", into="Dan"))
    assert ANN not in ratings(four)
    assert by_key(four, ("white", "black", "reason"))["g7"] == (DAN, DAN, "same-person")
    assert four.player("Ann").player == DAN
    four.append(game_recorded("g8", white=ANN, black=BOB, ended_at="2026-11-08", half_moves=40))
    assert by_key(four, ("white", "black"))["g8"] == (DAN, BOB)
    assert tables(four) == rebuilt(four)
    approve(four, ask(four, "unmerge", player="Ann"))
    assert by_key(four, ("white", "black"))["g8"] == (ANN, BOB)
    assert four.player("Ann").player == ANN
    after = tables(four)
    assert after == rebuilt(four)
    assert [row for row in after["games"] if row["key"] != "g8"] == before["games"]


def test_merges_form_a_chain(four: Ledger) -> None:
    approve(four, ask(four, "merge", player="Ann", into="Bob"), ask(four, "merge", player="Bob", into="Cleo"))
    assert four.player("Ann").player == CLEO
    assert set(ratings(four)) == {CLEO, DAN}
    assert tables(four) == rebuilt(four)


def test_a_closed_account_keeps_its_games(four: Ledger) -> None:
    before = ratings(four)
    approve(four, ask(four, "close", player="Ann", from_="2026-11-10"))
    assert ratings(four) == before
    (row,) = four.rows("changes")
    assert (row["player"], row["standing"]) == (ANN, "closed")


def test_a_fact_beside_games_is_corrected_taken_back_and_put_back(four: Ledger) -> None:
    four.append(PlayerChanged(player=BOB, effective_at="2026-11-04", standing=Standing.GUEST))
    before = ratings(four)
    key = f"player:{BOB}@2026-11-04"
    approve(four, ask(four, "fact", fact=key, field="effective_at", to="2026-11-06"))
    assert by_key(four, ("reason",))["g4"] == (None,)
    assert tables(four) == rebuilt(four)
    approve(four, ask(four, "take-back", fact=key))
    assert by_key(four, ("reason",))["g6"] == (None,)
    approve(four, ask(four, "put-back", fact=key), ask(four, "undo", proposal="1"))
    assert ratings(four) == before
    assert tables(four) == rebuilt(four)


def test_games_of_a_period_that_a_change_of_scheme_cut_short_are_rated_at_its_end_once_that_is_taken_back(
    tmp_path: Path,
) -> None:
    with made(tmp_path / "club.db") as ledger:
        adopted = SchemeAdopted(pool="fide", scheme="fide", settings={"by_event": False})
        ledger.append_many([adopted, *(attrs.evolve(game, game=f"f{game.game}", pool="fide") for game in played())])
        before = by_key(ledger, ("rated_ms",))
        ledger.append(SchemeAdopted(pool="fide", scheme="elo", settings={}, effective_from="2026-11-04"))
        cut = by_key(ledger, ("rated_ms",))
        assert cut["fg3"] != before["fg3"]
        approve(ledger, ask(ledger, "take-back", fact="scheme:fide@2026-11-04"))
        assert by_key(ledger, ("rated_ms",)) == before
        approve(ledger, ask(ledger, "put-back", fact="scheme:fide@2026-11-04"))
        assert by_key(ledger, ("rated_ms",)) == cut
        assert tables(ledger) == rebuilt(ledger)


@pytest.mark.parametrize("field", ["declared_rating", "birth_year"])
def test_views_that_are_built_know_a_past_of_which_only_a_correction_tells(field: str, tmp_path: Path) -> None:
    with made(tmp_path / "club.db") as ledger:
        adopted = SchemeAdopted(pool="fide", scheme="fide", settings={"by_event": False})
        ledger.append_many([adopted, *(attrs.evolve(game, game=f"f{game.game}", pool="fide") for game in played())])
        ratings(ledger)
        approve(ledger, ask(ledger, "fact", fact=f"player:{BOB}", field=field, to="2009"))
        assert tables(ledger) == rebuilt(ledger)


def test_what_registration_told_can_be_corrected(four: Ledger) -> None:
    approve(four, ask(four, "fact", fact=f"player:{BOB}", field="standing", to="guest"))
    assert {key for key, (reason,) in by_key(four, ("reason",)).items() if reason == "guest"} == {"g1", "g4", "g6"}
    approve(four, ask(four, "fact", fact=f"player:{BOB}", field="birth_year", to="1990"))
    assert tables(four) == rebuilt(four)
    assert next(four.rows("players", "player = ?", (BOB,)))["birth_year"] == 1990


def test_a_wrong_adoption_is_moved_and_taken_back(four: Ledger, tmp_path: Path) -> None:
    later = SchemeAdopted(pool="standard", scheme="elo", settings={}, effective_from="2026-11-03")
    plain = ratings(four)
    four.append(later)
    approve(four, ask(four, "fact", fact="scheme:standard@2026-11-03", field="effective_from", to="2026-11-05"))
    with made(tmp_path / "right.db") as other:
        other.append(attrs.evolve(later, effective_from="2026-11-05"))
        assert ratings(four) == ratings(other)
    assert tables(four) == rebuilt(four)
    approve(four, ask(four, "take-back", fact="scheme:standard@2026-11-03"))
    assert ratings(four) == plain
    assert tables(four) == rebuilt(four)


def test_a_pool_that_began_with_the_wrong_scheme_is_rated_by_the_right_one(four: Ledger, tmp_path: Path) -> None:
    approve(four, ask(four, "fact", fact="scheme:standard@start", field="scheme", to="elo"))
    approve(four, ask(four, "fact", fact="scheme:standard@start", field="settings", to='{"initial": 1600}'))
    four.ensure_up_to_date()
    settings = next(four.rows("eras"))["settings"]
    assert '"initial":1600' in settings
    assert '"k"' in settings  # those that were not named stand there, too
    with Ledger.create(tmp_path / "right.db", scheme="elo", settings={"initial": 1600}, clock=lambda: TODAY) as other:
        for name in ("Ann", "Bob", "Cleo", "Dan"):
            other.register(f"name:{name.lower()}", name)
        other.append_many(played())
        assert ratings(four) == ratings(other)
    assert tables(four) == rebuilt(four)


def test_a_wrong_run_is_moved_and_taken_back(tmp_path: Path) -> None:
    with made(tmp_path / "runs.db") as four, made(tmp_path / "right.db") as other:
        for ledger in (four, other):
            ledger.append(
                SchemeAdopted(pool="standard", scheme="glicko", settings={"by_runs": True}, effective_from="2026-11-01")
            )
        four.append(run_closed("2026-11-03"))
        approve(four, ask(four, "fact", fact="run:standard@2026-11-03", field="as_of", to="2026-11-05"))
        other.append(run_closed("2026-11-05"))
        assert ratings(four) == ratings(other)
        assert tables(four) == rebuilt(four)


WRONG_WORDS: dict[str, tuple[str, dict[str, str], str]] = {
    "no such verb": ("voids", {}, "no verb 'voids'"),
    "a word is missing": ("result", {"game": "g1"}, "result needs to"),
    "a word too many": ("void", {"game": "g1", "field": "round"}, "void takes no field"),
    "no result": ("result", {"game": "g1", "to": "2-0"}, "result '2-0' must be 1-0"),
    "no such kind of annulment": ("annul", {"player": "Ann", "which": "wins"}, "which must be one of"),
    "no such termination": (
        "late",
        {"white": "Ann", "black": "Bob", "to": "1-0", "ended": "2026-11-01", "termination": "boredom"},
        "termination must be one of",
    ),
    "a number that is none": ("undo", {"proposal": "one"}, "proposal must be a whole number, got 'one'"),
    "a flag that is none": ("game", {"game": "g1", "field": "rated", "to": "yes"}, "rated is true or false"),
    "a field that is none": ("game", {"game": "g1", "field": "rnd", "to": "3"}, "no field 'rnd'"),
    "half-moves that are none": ("game", {"game": "g1", "field": "half_moves", "to": "many"}, "a whole number"),
    "no such game": ("void", {"game": "g99"}, "no game 'g99'"),
    "no such player": ("merge", {"player": "Zoe", "into": "Ann"}, "no player 'Zoe'"),
    "somebody who did not play": ("reassign", {"game": "g1", "player": "Dan", "to": "Cleo"}, "no player 'Dan (4)' in"),
    "a merge that is none": ("unmerge", {"player": "Ann"}, "no merge of player 'Ann (1)'"),
    "no such fact": ("take-back", {"fact": "run:standard@2030"}, "no fact 'run:standard@2030'"),
}


@pytest.mark.parametrize("name", WRONG_WORDS)
def test_words_that_mean_nothing_are_named(name: str, four: Ledger) -> None:
    verb, words, message = WRONG_WORDS[name]
    with pytest.raises((MalformedError, UnknownNameError)) as caught:
        ask(four, verb, **words)
    assert message in str(caught.value)


def test_all_faults_of_a_late_game_are_told_at_once(four: Ledger) -> None:
    with pytest.raises(MalformedError) as caught:
        ask(four, "late", white="Ann", black="Bob", to="2-0", ended="2026-02-31", half_moves="-1", termination="bored")
    assert [problem.partition(" ")[0] for problem in caught.value.problems] == [
        "result",
        "termination",
        "half_moves",
        "ended_at:",
    ]


# What is told of a player, in words, and the fact that its approval records.
PASTS: dict[str, tuple[dict[str, str], Event]] = {
    "standing": (
        {"player": "Ann", "to": "guest", "from": "2026-11-01"},
        PlayerChanged(player=1, effective_at="2026-11-01", standing=Standing.GUEST),
    ),
    "declared": (
        {"player": "Ann", "to": "1700", "from": "2026-11-01"},
        PlayerChanged(player=1, effective_at="2026-11-01", standing=Standing.FULL, declared_rating=1700),
    ),
    "rating": (
        {"player": "Ann", "to": "1850", "games": "120", "k": "20", "highest": "1900", "list": "May"},
        RatingSeeded(player=1, pool="standard", rating="1850", games=120, k_factor="20", highest="1900", source="May"),
    ),
    "born": ({"player": "Ann", "to": "1990"}, BirthYearLearnt(player=1, birth_year=1990)),
    "federation": ({"player": "Ann", "to": "nor", "from": "2026-11-20"}, federation_set()),
    "strength": ({"player": "Ann", "to": "advanced", "from": "2026-11-20"}, strength_chosen()),
}


@pytest.mark.parametrize("verb", PASTS)
def test_what_is_told_of_a_player_is_recorded_by_its_approval(verb: str, four: Ledger) -> None:
    words, event = PASTS[verb]
    approve(four, ask(four, verb, **words))
    (entry,) = four.entries(last=1)
    assert (entry.key, entry.kind, entry.facts) == (event.key, event.KIND, codec.facts_mapping(event))
    assert tables(four) == rebuilt(four)


@pytest.mark.parametrize("verb", ["standing", "declared", "rating", "born", "strength", "federation"])
def test_what_cannot_be_told_of_a_player_is_named(verb: str, four: Ledger) -> None:
    with pytest.raises(MalformedError, match="must"):
        ask(four, verb, **{**PASTS[verb][0], "to": "much"})


def test_every_verb_is_asked_for_here_or_of_what_is_announced() -> None:
    here = Path(__file__)
    source = "".join(
        file.read_text("utf-8")
        for file in (here, here.with_name(ANNOUNCED), here.with_name("test_taken_back.py"), here.parents[1] / BYES)
    )
    assert [verb for verb in VERBS if source.count(f'"{verb}"') == 0] == []


def test_a_voided_tournament_can_be_reinstated(four: Ledger) -> None:
    before = ratings(four)
    approve(four, ask(four, "void-tournament", tournament="Open"))
    approve(four, ask(four, "reinstate-tournament", tournament="Open", until="2026-11-02"))
    assert by_key(four, ("reason",))["g2"] == (None,)
    assert by_key(four, ("reason",))["g3"] == ("voided",)
    approve(four, ask(four, "reinstate-tournament", tournament="Open"))
    assert ratings(four) == before
    assert tables(four) == rebuilt(four)


def test_maps_of_words_begin_where_they_say() -> None:
    assert conversion_in(["0.6:800", "2000:1:-50"]) == (
        ConversionRange(from_rating=None, factor="0.6", offset="800"),
        ConversionRange(from_rating="2000", factor="1", offset="-50"),
    )
    assert conversion_in([]) is None
    for word in ("0.6", "1:2:3:4"):
        with pytest.raises(MalformedError, match=rf"a map is written \[FROM:\]FACTOR:OFFSET, got '{word}'"):
            conversion_in([word])
