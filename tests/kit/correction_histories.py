"""Hypothesis strategies for what may happen in a ledger whose facts are corrected, step by step.

What is drawn may be refused; what follows from it, ``right_at_once`` works out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import attrs
from hypothesis import strategies as st

from ledger.correcting.drafts import Drafts
from ledger.errors import UnknownNameError
from ledger.facts.changes import BLANK, Change, Verb, Which
from ledger.facts.codec import facts_mapping, structure_event
from ledger.facts.events import (
    BirthYearLearnt,
    Event,
    GameRecorded,
    PlayerChanged,
    PlayerRegistered,
    RatingRunClosed,
    RatingSeeded,
    RoundWithoutGame,
    SchemeAdopted,
    TournamentClosed,
    TournamentOpened,
)
from ledger.facts.words import Brings, Outcome, Standing, Termination
from tests.kit.drawn_clubs import CAFE, DAYS_OF_A_WINTER, MOMENTS, PLAYERS, POOLS, WHOLE_TOURNAMENTS, games, schemes
from tests.kit.right_at_once import Account

Draw = Callable[..., Any]
INSTANTS = (*MOMENTS, *DAYS_OF_A_WINTER)
DAYS = tuple(day for day in DAYS_OF_A_WINTER if len(day) == 10)
_numbers = st.integers(1, PLAYERS)
_standing = st.sampled_from(Standing).map(str)
_rating = st.sampled_from((BLANK, 0, 1500, 2210))
_instant = st.sampled_from(INSTANTS)

# By kind, the fields that may be corrected, and to what.
FIELDS: Mapping[type[Event], Mapping[str, st.SearchStrategy[Any]]] = {
    GameRecorded: {
        "outcome": st.sampled_from(Outcome).map(str),
        "termination": st.sampled_from(Termination).map(str),
        "half_moves": st.sampled_from((BLANK, 0, 10, 11, 80)),
        "started_at": st.sampled_from((BLANK, "1849", "2020-01-01")),
        "ended_at": _instant,
        "tournament": st.sampled_from((BLANK, CAFE, "Cup")),
        "round": st.sampled_from((BLANK, "1", "3", "Final")),
        "rated": st.booleans(),
        "pool": st.sampled_from(POOLS),
        "white": _numbers,
        "black": _numbers,
        "white_rating": _rating,
        "black_rating": _rating,
    },
    PlayerRegistered: {
        "joined_at": st.sampled_from(("2018", "2019-05")),
        "standing": _standing,
        "declared_rating": _rating,
        "birth_year": st.sampled_from((BLANK, 1950, 2009)),
    },
    PlayerChanged: {"effective_at": _instant, "standing": _standing, "declared_rating": _rating},
    BirthYearLearnt: {"birth_year": st.sampled_from((1960, 2010))},
    RatingSeeded: {
        "effective_at": st.just(BLANK) | _instant,
        "rating": st.sampled_from(("1100", "2500.25")),
        "games": st.sampled_from((BLANK, 3, 60)),
        "deviation": st.sampled_from((BLANK, "70")),
        "k_factor": st.sampled_from((BLANK, "20")),
    },
    SchemeAdopted: {"effective_from": _instant},  # schemes are drawn with their settings
    RatingRunClosed: {"as_of": _instant},
    TournamentOpened: {"starts_at": st.sampled_from(DAYS), "tournament": st.sampled_from((CAFE, "Cup"))},
    RoundWithoutGame: {
        "brings": st.sampled_from(Brings).map(str),
        "round": st.sampled_from((BLANK, 1, 2)),
        "player": _numbers,
        "tournament": st.sampled_from((CAFE, "Cup")),
        "edition": st.sampled_from(DAYS),
    },
    TournamentClosed: {"ended_at": _instant, "tournament": st.sampled_from((CAFE, "Cup"))},
}


@attrs.frozen
class Drawing:
    """What draws the steps of a history.

    Attributes:
        draw: of Hypothesis.
        account: what the journal says so far.
        verbs: of the changes, each as often as it stands here.
        sizes: how many changes a proposal has, as often.
    """

    draw: Draw
    account: Account
    verbs: Sequence[Verb] = (Verb.REPLACE, Verb.REPLACE, Verb.REPLACE, *Verb)
    sizes: Sequence[int] = (1, 1, 1, 2, 4)

    def changes(self, drafts: Drafts) -> list[Change]:
        """One change or a few that may belong together; none where what was drawn names nothing that is there."""
        found = []
        for _ in range(self.draw(st.sampled_from(self.sizes))):
            try:
                found.append(self.change(drafts))
            except UnknownNameError:
                continue
        return found

    def change(self, drafts: Drafts) -> Change:
        """A change of any verb.

        Raises:
            UnknownNameError: it names what is not there.
        """
        draw = self.draw
        since, until = sorted((draw(_instant), draw(_instant)))
        since, until = draw(st.sampled_from((None, None, since))), draw(st.sampled_from((None, None, until)))
        match draw(st.sampled_from(self.verbs)):
            case Verb.REPLACE:
                return self._replace(drafts)
            case Verb.ANNUL:
                return drafts.annul(self._key())
            case Verb.RESTORE:
                return drafts.restore(self._rather(self.account.gone(), self._key))
            case Verb.ADD:
                return drafts.add(self._fact())
            case Verb.MERGE:
                return drafts.merge(draw(_numbers), draw(_numbers))
            case Verb.PART:
                return drafts.part(self._rather(self.account.persons(), lambda: draw(_numbers)))
            case Verb.ANNUL_GAMES:
                return drafts.annul_games(self._player(), draw(st.sampled_from(Which)), since, until)
            case Verb.ANNUL_TOURNAMENT | Verb.RESTORE_TOURNAMENT as verb:
                pool, name = self._rather(self._tournaments(), lambda: (POOLS[1], "Cup"))
                restore = verb is Verb.RESTORE_TOURNAMENT
                return drafts.tournament(pool, name, restore=restore, since=since, until=until)
            case _:
                acting = [number for number in self.account.approved if self.account.acts(number)]
                return drafts.undo(self._rather(acting, lambda: draw(st.integers(1, 9))))

    def _rather(self, likely: Iterable[Any], other: Callable[[], Any]) -> Any:
        """Nearly always what can be done, now and then anything."""
        known = sorted(likely)
        return self.draw(st.sampled_from(known)) if known and self.draw(st.integers(0, 9)) else other()

    def _player(self) -> int:
        """Nearly always one who played."""
        played = [
            facts[side] for facts in self.account.facts.values() if "game" in facts for side in ("white", "black")
        ]
        return int(self._rather(set(played), lambda: self.draw(_numbers)))

    def _tournaments(self) -> set[tuple[str, str]]:
        """Those that games were told of, with their pools."""
        told = self.account.facts.values()
        return {(facts["pool"], facts["tournament"]) for facts in told if "game" in facts and "tournament" in facts}

    def _key(self) -> str:
        """The key of a fact: one that a correction speaks of already, as often as any other."""
        keys = [key for key, kind in self.account.kinds.items() if kind in FIELDS and "unused" not in key]
        spoken_of = [change.fact for changes in self.account.proposals.values() for change in changes if change.fact]
        spoken_of = [key for key in spoken_of if key in self.account.kinds]
        kinds = sorted({self.account.kinds[key].__name__ for key in keys})
        kind = self.draw(st.sampled_from(["GameRecorded", *kinds] if "GameRecorded" in kinds else kinds))
        of_kind = [key for key in keys if self.account.kinds[key].__name__ == kind]
        return str(self.draw(st.sampled_from(of_kind) | st.sampled_from(spoken_of or of_kind)))

    def _replace(self, drafts: Drafts) -> Change:
        key = self._key()
        cls = self.account.kinds[key]
        if cls is SchemeAdopted and (key.endswith("@start") or self.draw(st.booleans())):
            name, given = self.draw(schemes() | st.sampled_from(WHOLE_TOURNAMENTS))
            return drafts.replace(key, {"scheme": name, "settings": dict(given)})
        names = self.draw(st.lists(st.sampled_from(sorted(FIELDS[cls])), min_size=1, max_size=3, unique=True))
        return drafts.replace(key, {name: self.draw(FIELDS[cls][name]) for name in names})

    def _fact(self) -> Event:
        """A fact that was missed."""
        draw = self.draw
        pool, day, number = draw(st.sampled_from(POOLS)), draw(st.sampled_from(DAYS)), draw(_numbers)
        facts: Sequence[Event] = (
            PlayerChanged(player=number, effective_at=day, standing=draw(st.sampled_from(Standing))),
            RatingSeeded(player=number, pool=pool, effective_at="1840", rating="1777.5"),
            BirthYearLearnt(player=number, birth_year=2007),
            RatingRunClosed(pool=pool, as_of=day),
            TournamentClosed(pool=pool, tournament=CAFE, ended_at=day),
            TournamentOpened(pool=pool, tournament="Cup", starts_at=day, ends_at="2020-03-08"),
            SchemeAdopted(pool=pool, scheme="elo", settings={}, effective_from=day),
            RoundWithoutGame(pool=pool, tournament="Cup", edition=day[:10], player=number, brings=Brings.HALF),
        )
        game: Event = draw(games(100 + len(self.account.facts), INSTANTS, (None, CAFE, "Cup")))
        return game if draw(st.booleans()) else draw(st.sampled_from(facts))

    def telling(self) -> Event | None:
        """A game that was recorded, told again with more; None where there is none."""
        keys = [key for key in self.account.facts if key.startswith("game:")]
        if not keys:
            return None
        facts = self.account.facts[self.draw(st.sampled_from(keys))]
        more = {"half_moves": 33, "round": "4", "tournament": CAFE, "white_rating": 1999, "started_at": "1849"}
        lacks = sorted(more.keys() - facts.keys())
        wanted = self.draw(st.sets(st.sampled_from(lacks))) if lacks else set()
        told = structure_event(GameRecorded.KIND, {**facts, **{name: more[name] for name in wanted}})
        assert facts_mapping(told).keys() >= facts.keys()
        return told
