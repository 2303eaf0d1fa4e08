"""One builder for each kind of fact: a test names the fields that it is about, the others are plain."""

from collections.abc import Iterator
from random import Random
from typing import Any

from ledger.facts import events
from ledger.facts.source_games import SourceGame
from ledger.facts.words import Brings, Outcome, Strength, Termination
from ledger.schemes.scheme import POOL_SETTINGS

# The settings of every pool that each adoption names; the others may be absent.
STATED_OF_POOLS = frozenset(name for name, each in POOL_SETTINGS.items() if each.default is not None)
PLAYERS = 40
GAMES_A_NEWCOMER = 30


def game_recorded(key: str, **facts: Any) -> events.GameRecorded:
    """Player 1 has beaten player 2, who resigned, on 20 November 2026; *facts* are set instead."""
    return events.GameRecorded(**{
        "game": key, "pool": "standard", "white": 1, "black": 2, "outcome": Outcome.WHITE,
        "termination": Termination.RESIGNATION, "ended_at": "2026-11-20", "rated": True, **facts,
    })  # fmt: skip


def scheme_adopted(scheme: str = "chessworld", **facts: Any) -> events.SchemeAdopted:
    """The first scheme of the pool ``standard`` with its own settings; *facts* are set instead."""
    return events.SchemeAdopted(**{"pool": "standard", "scheme": scheme, "settings": {}, **facts})


def run_closed(as_of: str, pool: str = "standard") -> events.RatingRunClosed:
    """A rating run of that day."""
    return events.RatingRunClosed(pool=pool, as_of=as_of)


def tournament_closed(ended_at: str, pool: str = "standard", tournament: str = "Club cup") -> events.TournamentClosed:
    """The end of a tournament."""
    return events.TournamentClosed(pool=pool, tournament=tournament, ended_at=ended_at)


def tournament_opened(starts_at: str, ends_at: str, tournament: str = "Club cup") -> events.TournamentOpened:
    """The days of a tournament of the pool ``standard`` are announced."""
    return events.TournamentOpened(pool="standard", tournament=tournament, starts_at=starts_at, ends_at=ends_at)


def source_game(key: str, white: str = "Ann", black: str = "Bob", **fields: Any) -> SourceGame:
    """A game as an importer hands it on: White has mated in 40 half-moves on 1 January 2020; *fields* are set instead.

    The players are known by their names in small letters.
    """
    return SourceGame(**{
        "line": 1, "key": key, "white_id": f"name:{white.lower()}", "white_name": white,
        "black_id": f"name:{black.lower()}", "black_name": black, "outcome": "white", "termination": "checkmate",
        "half_moves": 40, "started_at": None, "ended_at": "2020-01-01", "tournament": None, "round": None,
        "rated": True, "white_rating": None, "black_rating": None, "speed": None, "variant": "standard", "text": None,
        **fields,
    })  # fmt: skip


def source_games(count: int, seed: int = 1) -> Iterator[SourceGame]:
    """The games of a made-up file, the same every time; more of them begin with the same ones."""
    random = Random(seed)
    for i in range(count):
        white, black = random.sample(range(min(PLAYERS, 2 + i // GAMES_A_NEWCOMER)), 2)
        yield source_game(
            f"made:{seed}-{i}",
            f"Player {white}",
            f"Player {black}",
            line=i + 1,
            white_id=f"made:p{white}",
            black_id=f"made:p{black}",
            outcome=random.choice(("white", "black", "draw")),
            termination=random.choice(("checkmate", "time", "resignation")),
            half_moves=random.randint(5, 90),
            ended_at=f"20{random.randint(10, 20)}-{random.randint(1, 12):02}",
            round=str(i % 7),
            text=f"e4 e5 Nf3 {i % 50}",
        )


def game_of_2020(key: str) -> events.GameRecorded:
    """The same game on a day that was over when the clubs of made-up games play."""
    return game_recorded(key, ended_at="2020-01-01")


def strength_chosen(player: int = 1, **facts: Any) -> events.StrengthChosen:
    """A player chooses to be advanced."""
    told = {"pool": "standard", "effective_at": "2026-11-20", "strength": Strength.ADVANCED}
    return events.StrengthChosen(player=player, **{**told, **facts})


def federation_set(player: int = 1, **facts: Any) -> events.FederationSet:
    """A player belongs to the federation of Norway."""
    return events.FederationSet(player=player, **{"effective_at": "2026-11-20", "federation": "NOR", **facts})


def bye(player: int = 1, **facts: Any) -> events.RoundWithoutGame:
    """A round without a game of the club cup."""
    told = {"pool": "standard", "tournament": "Club cup", "edition": "2026-11-01", "round": 1, "brings": Brings.HALF}
    return events.RoundWithoutGame(player=player, **{**told, **facts})


def seeded(player: int, rating: str, **facts: Any) -> events.RatingSeeded:
    """The rating of a list in the pool ``standard``, from the beginning."""
    return events.RatingSeeded(player=player, pool="standard", rating=rating, **facts)
