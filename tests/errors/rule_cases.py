"""The named refusals: by rule, facts that it refuses of the club of two, and in which words."""

import re
from datetime import timedelta
from typing import Any, NamedTuple

from ledger.facts.events import (
    BirthYearLearnt,
    ClockAccepted,
    ConversionRange,
    CorrectionDecided,
    Decision,
    Event,
    GameSupplemented,
    PersonErased,
    PlayerChanged,
    PlayerDescribed,
    PlayerRegistered,
    PlayerRenamed,
    PolicySet,
    RatingSeeded,
    Role,
    SchemeAdopted,
    TokenRevoked,
    WarningsAccepted,
)
from ledger.facts.source_games import SourceGame
from ledger.facts.words import Carry, Outcome, Standing, Termination
from ledger.ledger import Ledger
from tests.kit.games import (
    bye,
    federation_set,
    game_recorded,
    run_closed,
    scheme_adopted,
    source_game,
    strength_chosen,
    tournament_closed,
    tournament_opened,
)
from tests.kit.tokens import issued


def adoption(**changes: Any) -> SchemeAdopted:
    """The first scheme of a pool that the club does not have."""
    return scheme_adopted(**{"pool": "blitz", **changes})


def later(**changes: Any) -> SchemeAdopted:
    """A change of scheme of the pool that the club has."""
    return adoption(**{"pool": "standard", "effective_from": "2026-11-01", **changes})


def changed(since: str, standing: Standing) -> PlayerChanged:
    """Another standing of Ann."""
    return PlayerChanged(player=1, effective_at=since, standing=standing)


CONVERSION = (ConversionRange(factor="0.6", offset="800"),)


def source(key: str, **changes: Any) -> SourceGame:
    """The same game as ``game_recorded(key)`` gives, as an importer hands it on."""
    plain = {"termination": "resignation", "half_moves": None, "ended_at": "2026-11-20"}
    return source_game(key, **{**plain, **changes})


class Case(NamedTuple):
    """A fact that one rule refuses."""

    event: Event
    words: str  # what the refusal says
    imported: SourceGame | None = None  # the same fact for an import, where imports know the rule
    clock: timedelta = timedelta()  # how far the clock moves before
    four_eyes: bool = False  # whether they are on
    before: tuple[Event, ...] = ()  # what was recorded before
    erased: int | None = None  # who was erased before


CASES: dict[str, tuple[Case, ...]] = {
    "clock-behind": (
        Case(
            game_recorded("r2"),
            "this machine's clock says 2026-11-21T11:58:59.999Z, but the last entry was recorded at "
            "2026-11-21T12:00:00.000Z; set the clock and try again or, where the clock was wrong that recorded it, run "
            "'rating-ledger accept-clock DB': nothing was recorded",
            source("r2"),
            clock=timedelta(milliseconds=-60_001),
        ),
    ),
    "exists-with-different-FIELD": (
        Case(
            game_recorded("r1-b1", outcome=Outcome.BLACK),
            "'game:r1-b1' was recorded with outcome='white', not 'black'; what is recorded stays",
            source("r1-b1", outcome="black"),
        ),
        Case(
            game_recorded("r1-b1", termination=Termination.TIME, half_moves=31),
            "'game:r1-b1' was recorded with termination='resignation', not 'time';",
            source("r1-b1", termination="time", half_moves=31),
        ),
        Case(
            PlayerRegistered(player=1, joined_at="2026", standing=Standing.GUEST, commitment="0" * 64),
            "'player:1' was recorded with commitment='",
        ),
        Case(adoption(pool="standard", settings={"k": 1}), "recorded with settings={}, not {'k': 1};"),
        Case(adoption(pool="standard", carry=Carry.KEEP), "recorded without carry, not with carry='keep';"),
        Case(
            adoption(pool="standard", conversion=CONVERSION),
            "recorded without conversion, not with conversion=[{'factor': '0.6', 'offset': '800'}];",
        ),
    ),
    "unknown-pool": (
        Case(game_recorded("r2", pool="rapid"), "no scheme was adopted for pool 'rapid'; adopt one first"),
        Case(RatingSeeded(player=1, pool="rapid", rating="2344"), "no scheme was adopted for pool 'rapid'"),
        Case(bye(pool="rapid"), "no scheme was adopted for pool 'rapid'; adopt one first"),
        Case(strength_chosen(pool="rapid"), "no scheme was adopted for pool 'rapid'; adopt one first"),
        Case(run_closed("2026-10", pool="rapid"), "no scheme was adopted for pool 'rapid'; adopt one first"),
        Case(tournament_closed("2026-10", pool="rapid"), "no scheme was adopted for pool 'rapid'; adopt one first"),
    ),
    "unknown-player": (
        Case(game_recorded("r2", white=3), "player 3 was never registered"),
        Case(game_recorded("r2", black=4), "player 4 was never registered"),
        Case(PlayerChanged(player=3, effective_at="2026", standing=Standing.FULL), "player 3 was never registered"),
        Case(BirthYearLearnt(player=3, birth_year=1990), "player 3 was never registered"),
        Case(RatingSeeded(player=3, pool="standard", rating="2344"), "player 3 was never registered"),
        Case(bye(player=3), "player 3 was never registered"),
        Case(strength_chosen(player=3), "player 3 was never registered"),
        Case(federation_set(player=3), "player 3 was never registered"),
    ),
    "erased-player": (
        Case(game_recorded("r2"), "player 2 was erased and plays no further game; register a person who", erased=2),
        Case(game_recorded("r2"), "player 1 was erased and plays no further game", erased=1),
    ),
    "same-player": (
        Case(
            game_recorded("r2", black=1),
            "White and Black are both player 1; check the source",
            source("r2", black_id="name:ann"),
        ),
    ),
    "ended-before-start": (
        Case(
            game_recorded("r2", started_at="2026-11-20T10:00:00Z", ended_at="2026-11-20T09:59:59Z"),
            "ended at 2026-11-20T09:59:59Z, before it began at 2026-11-20T10:00:00Z",
            source("r2", started_at="2026-11-20T10:00:00Z", ended_at="2026-11-20T09:59:59Z"),
        ),
        Case(
            game_recorded("r2", started_at="2026-11-20T10:00:00.001Z", ended_at="2026-11-20T10:00:00Z"),
            "ended at 2026-11-20T10:00:00Z, before it began at 2026-11-20T10:00:00.001Z",
            source("r2", started_at="2026-11-20T10:00:00.001Z", ended_at="2026-11-20T10:00:00Z"),
        ),
        Case(
            game_recorded("r2", started_at="2026-11-21T00:00:00Z", ended_at="2026-11-20"),
            "ended at 2026-11-20, before it began at 2026-11-21T00:00:00Z",
            source("r2", started_at="2026-11-21T00:00:00Z", ended_at="2026-11-20"),
        ),
        Case(
            game_recorded("r2", started_at="2026-11-20", ended_at="2026-10"),
            "ended at 2026-10, before it began at 2026-11-20",
            source("r2", started_at="2026-11-20", ended_at="2026-10"),
        ),
    ),
    "ended-in-the-future": (
        Case(
            game_recorded("r2", ended_at="2026-11-22T12:00:00.001Z"),
            "ended at 2026-11-22T12:00:00.001Z, but it is 2026-11-21T12:00:00.000Z now; check the date and this "
            "machine's clock",
            source("r2", ended_at="2026-11-22T12:00:00.001Z"),
        ),
        Case(game_recorded("r2", ended_at="2027"), "ended at 2027, but it is", source("r2", ended_at="2027")),
        Case(
            run_closed("2026-11-22T12:00:00.001Z"),
            "closes with 2026-11-22T12:00:00.001Z, but it is 2026-11-21T12:00:00.000Z now; check the date and this "
            "machine's clock",
        ),
        Case(run_closed("2026-11-23"), "closes with 2026-11-23, but it is"),
        Case(tournament_closed("2026-12"), "closes with 2026-12, but it is 2026-11-21T12:00:00.000Z now; check the"),
    ),
    "unknown-scheme": (
        Case(adoption(scheme="guesswork"), "no scheme 'guesswork' installed; expected one of ["),
        Case(later(scheme="guesswork"), "no scheme 'guesswork' installed; expected one of ["),
    ),
    "bad-settings": (
        Case(adoption(settings={"knob": 1}), "scheme 'chessworld' has no setting 'knob'; expected one of ["),
        Case(later(settings={"cap": -1}), "cap must not be negative"),
    ),
    "bad-from-pool": (
        Case(
            adoption(settings={"from_pool": "rapid"}), "setting 'from_pool': there is no pool 'rapid'; name the pool in"
        ),
        Case(adoption(settings={"from_pool": "blitz"}), "pool 'blitz' cannot begin with its own ratings; name the"),
    ),
    "pool-has-no-beginning": (
        Case(
            adoption(effective_from="2026-11-21"),
            "pool 'blitz' has no scheme before 2026-11-21; adopt one from the beginning first",
        ),
        Case(adoption(effective_from="2030", carry=Carry.RESTART), "pool 'blitz' has no scheme before 2030;"),
    ),
    "bad-carry": (
        Case(
            later(carry=Carry.CONVERT),
            "carry is convert, conversion missing: a conversion goes with 'convert', and 'convert' with a conversion",
        ),
        Case(later(conversion=CONVERSION), "carry is keep, conversion given: a conversion goes with 'convert'"),
        Case(later(carry=Carry.KEEP, conversion=CONVERSION), "carry is keep, conversion given:"),
        Case(later(carry=Carry.RESTART, conversion=CONVERSION), "carry is restart, conversion given:"),
        Case(adoption(carry=Carry.KEEP), "nothing is carried into a pool's first scheme: leave both out"),
        Case(adoption(carry=Carry.RESTART), "nothing is carried into a pool's first scheme: leave both out"),
        Case(adoption(carry=Carry.CONVERT, conversion=CONVERSION), "nothing is carried into a pool's first scheme"),
        Case(adoption(conversion=CONVERSION), "nothing is carried into a pool's first scheme: leave both out"),
    ),
    "not-the-last-entry": (
        Case(ClockAccepted(entry=3), "entry 3 is not the last one, which is entry 4; name that one"),
        Case(ClockAccepted(entry=5), "entry 5 is not the last one, which is entry 4; name that one"),
        Case(ClockAccepted(entry=1), "entry 1 is not the last one, which is entry 4;", clock=timedelta(minutes=-2)),
    ),
    "clock-not-behind": (
        Case(
            ClockAccepted(entry=4),
            "this machine's clock says 2026-11-21T12:00:00Z, and entry 4 was recorded at 2026-11-21T12:00:00.000Z: "
            "there is nothing to accept, record as usual",
        ),
        Case(ClockAccepted(entry=4), "there is nothing to accept", clock=timedelta(milliseconds=-60_000)),
        Case(ClockAccepted(entry=4), "there is nothing to accept", clock=timedelta(days=365)),
    ),
    "not-a-telling": (
        Case(
            GameSupplemented(game="r1-b1", entry=4, number=1, half_moves=31),
            "new details of game 'r1-b1' are added by recording the game again with all its details",
        ),
        Case(GameSupplemented(game="r9", entry=3, number=2), "new details of game 'r9' are added by recording"),
    ),
    "not-by-append": (
        Case(
            CorrectionDecided(proposal=1, decision=Decision.APPROVED, proven=False),
            "a correction-decided/2 is recorded by 'correct approve', 'reject', 'withdraw' or Ledger.decide",
        ),
        Case(
            WarningsAccepted(pool="standard", edition="2024-05-03", number=1, codes="rating-differs", warnings=1),
            "a warnings-accepted/1 is recorded by 'import --accept' or Ledger.import_file",
        ),
        Case(TokenRevoked(number=1), "a token-revoked/1 is recorded by 'token revoke' or Ledger.tokens"),
        Case(issued(1, "eve", Role.APPROVER), "a token-issued/1 is recorded by 'token add', 'token reset' or Ledger."),
        Case(PersonErased(player=1), "a person-erased/1 is recorded by 'erase' or Ledger.erase"),
        Case(PolicySet(policy="four-eyes", number=1, settings={}), "a policy-set/1 is recorded by 'policy set' or"),
    ),
    "not-by-rename": (
        Case(
            PlayerRenamed(player=1, number=1, commitment="0" * 64),
            "the name of player 1 is changed by 'player rename' or Ledger.rename, which store it in the people file",
        ),
        Case(PlayerRenamed(player=9, number=3, commitment="0" * 64), "the name of player 9 is changed by 'player ren"),
    ),
    "not-by-describe": (
        Case(
            PlayerDescribed(player=1, effective_at="2026-10", number=1, details="0" * 64),
            "data about player 1 are recorded by 'player describe' or Registry.describe, which store them in the "
            "people file",
        ),
    ),
    "after-the-first-game": (
        Case(
            PlayerChanged(player=1, effective_at="2026-11-21", standing=Standing.FULL, declared_rating=2344),
            "this declared rating holds from 2026-11-21, after the player's first rated game in pool 'standard', of "
            "2026-11-20, so that it could not act; where the player began with it, give 2026-11-20 or an earlier day, "
            "and the games are rated again",
        ),
        Case(
            PlayerChanged(player=2, effective_at="2026-12", standing=Standing.FULL, declared_rating=1700),
            "this declared rating holds from 2026-12, after the player's first rated game in pool 'standard', of",
        ),
    ),
    "no-choice-of-strength": (
        Case(
            strength_chosen(pool="blitz"),
            "pool 'blitz' has no strengths under its scheme; the policy 'classes' with everywhere=true has them",
            before=(adoption(scheme="elo"),),
        ),
    ),
    "rating-decides": (
        Case(
            strength_chosen(),
            "player 1 has completed 50 rated games in pool 'standard' by 2026-11-20: from then on the rating decides",
            before=(RatingSeeded(player=1, pool="standard", rating="1900", games=60),),
        ),
    ),
    "same-instant": (
        Case(
            later(effective_from="2026-11", settings={}),
            "'scheme:standard@2026-11': 2026-11 is the instant of 2026-11-01, from which a scheme was adopted already; "
            "correct that one",
            before=(later(settings={}),),
        ),
        Case(
            changed("2026-10-01T00:00:00Z", Standing.WELCOMER),
            "2026-10-01T00:00:00Z is the instant of 2026-10, from which the player has another membership status",
            before=(changed("2026-10", Standing.GUEST),),
        ),
        Case(
            federation_set(effective_at="2026-10-01"),
            "2026-10-01 is the instant of 2026-10, from which the player belongs to another federation already",
            before=(federation_set(effective_at="2026-10", federation="SWE"),),
        ),
        Case(
            RatingSeeded(player=1, pool="standard", rating="1600", effective_at="2026-10-01"),
            "2026-10-01 is the instant of 2026-10, from which the player has another rating of a list already",
            before=(RatingSeeded(player=1, pool="standard", rating="1500", effective_at="2026-10"),),
        ),
    ),
    "overlapping-editions": (
        Case(
            tournament_opened("2026-11-09", "2026-11-20"),
            "tournament 'Club cup' lasts from 2026-11-01 to 2026-11-09, and 2026-11-09 to 2026-11-20 overlaps that: "
            "let its next edition begin after 2026-11-09; where both are one tournament, 'close-tournament' with its "
            "last day once it is over",
            before=(tournament_opened("2026-11-01", "2026-11-09"),),
        ),
        Case(
            tournament_opened("2026-11-01", "2026-11-20"),
            "lasts from 2026-11-01 to 2026-11-09, and 2026-11-01 to 2026-11-20 overlaps that",
            before=(tournament_opened("2026-11", "2026-11-09"),),
        ),
    ),
    "edition-closed": (
        Case(
            tournament_closed("2026-11-08"),
            "tournament 'Club cup', which began on 2026-11-01, was closed on 2026-11-09 already, not on 2026-11-08, "
            "and what is recorded stays: where that was wrong, propose to correct it by 'correct'",
            before=(tournament_opened("2026-11-01", "2026-11-09"), tournament_closed("2026-11-09")),
        ),
    ),
    "played-after-closing": (
        Case(
            tournament_closed("2026-11-19"),
            "games of tournament 'Club cup' ended after 2026-11-19, the last one of this edition on 2026-11-20: close "
            "it on 2026-11-20 or later; where they belong to its next edition, announce that one first with "
            "'open-tournament'",
            before=tuple(
                game_recorded(f"c{day}", tournament="Club cup", ended_at=f"2026-11-{day}") for day in (18, 20)
            ),
        ),
    ),
    "needs-a-proposal": (
        Case(
            later(effective_from="2026-11-20", settings={}),
            "four eyes are on, and this reaches back to 2026-11-20; propose it with 'scheme adopt --propose', "
            "for somebody else to approve",
            four_eyes=True,
        ),
        Case(run_closed(as_of="2026-10"), "this reaches back to 2026-10; propose it", four_eyes=True),
        Case(tournament_closed(ended_at="2026-11-20T23:59:59Z"), "this reaches back to 2026-11-20T2", four_eyes=True),
    ),
}


def prepared(ledger: Ledger, case: Case) -> None:
    """Bring the club to where the case is refused."""
    if case.before:
        ledger.append_many(case.before)
    if case.erased is not None:
        ledger.erase(case.erased)
    if case.four_eyes:
        ledger.policies.set("four-eyes", {"on": True}, actor="admin")


def is_named(rule: str, name: str) -> bool:
    """True when a refusal of that name comes from *rule*."""
    return re.fullmatch(rule.replace("FIELD", "[a-z-]+"), name) is not None
