"""Made-up tournaments as FIDE reports: players of one list, true results, days; and the ledger that knows the list."""

from collections.abc import Sequence
from datetime import date, timedelta
from pathlib import Path
from random import Random
from typing import NamedTuple

import attrs

from ledger import Ledger
from ledger.facts.events import RatingSeeded
from ledger.facts.player_details import PlayerDetails

SURNAMES = (
    "Abendroth", "Bellweather", "Castellane", "Dragomirov", "Eklundsen", "Fairbrother", "Grzybowska", "Hollinger",
    "Iversholt", "Jankelevich", "Kowalczek", "Lindqvistsson", "Montefiore", "Novakovski", "Oyelaran", "Pettigrew",
)  # fmt: skip
GIVEN = (
    ("Anselm", "m"), ("Brigitta", "w"), ("Cornelius", "m"), ("Dorothea", "w"), ("Eustace", "m"),
)  # fmt: skip
FIRST_NUMBER = 7_310_047
EARLIER_DAY, LIST_DAY = "2024-04-01", "2024-05-01"
EARLIER = -27  # points of the list before it


class Known(NamedTuple):
    """A player of the list."""

    number: int
    name: str
    sex: str
    federation: str
    born: int
    rating: int | None

    @property
    def identity(self) -> str:
        """As the ledger knows the player."""
        return f"fide:{self.number}"


def known_players() -> list[Known]:
    """Eighty players: five of each surname; those of the last one are unrated."""
    players = []
    for place, surname in enumerate(SURNAMES):
        for at, (given, sex) in enumerate(GIVEN):
            number = FIRST_NUMBER + 1_733 * (len(GIVEN) * place + at)
            rating = None if place == len(SURNAMES) - 1 else 2_350 - 43 * place + 11 * at
            born = 1960 + (7 * place + 13 * at) % 45
            players.append(Known(number, f"{surname}, {given}", sex, ("NOR", "CZE", "PER")[place % 3], born, rating))
    return players


def ledger_with_list(place: Path, scheme: str = "fide") -> Path:
    """A ledger, by default of FIDE's scheme, with the published lists of two months and the players' data."""
    with Ledger.create(place, pool="standard", scheme=scheme) as ledger:
        players = known_players()
        numbers = ledger.register_many([(player.identity, player.name) for player in players])
        for since, more in ((EARLIER_DAY, EARLIER), (LIST_DAY, 0)):
            ledger.append_many(
                RatingSeeded(
                    player=number, pool="standard", effective_at=since, rating=str(player.rating + more), games=40
                )
                for number, player in zip(numbers, players, strict=True)
                if player.rating is not None
            )
        for number, player in zip(numbers, players, strict=True):
            details = PlayerDetails(sex=player.sex, federation=player.federation, birth=str(player.born))
            ledger.registry.describe(number, details, since=EARLIER_DAY, actor="registry")
        for day in (EARLIER_DAY, LIST_DAY):
            ledger.publications.publish(day, actor="officer", despite_complaints=True)
    return place


@attrs.define
class MadeReport:
    """A report as its lines, which a test may spoil.

    Attributes:
        players: by starting rank, from 1.
        rounds: of each round the pairs (White, Black, result): 1, = or 0 of White; + and - are forfeits.
        days: of the rounds.
        byes: round and rank of players who get half a point without a game.
    """

    name: str
    players: Sequence[Known]
    rounds: Sequence[Sequence[tuple[int, int, str]]]
    days: Sequence[date]
    byes: frozenset[tuple[int, int]] = frozenset()
    system: str = "Individual: Swiss-System"

    def lines(self) -> list[str]:
        """The lines of the report; that of rank r is number 9 + r."""
        rounds = len(self.rounds)
        head = [
            f"012 {self.name}", "022 Springfield", "032 NOR", f"042 {self.days[0]:%Y/%m/%d}",
            f"052 {self.days[-1]:%Y/%m/%d}", f"062 {len(self.players)}", f"092 {self.system}", f"142 {rounds}",
            f"132{'':88}" + "".join(f"{day:%y/%m/%d}  " for day in self.days).rstrip(),
        ]  # fmt: skip
        return head + [self._line(rank, player) for rank, player in enumerate(self.players, 1)]

    def _line(self, rank: int, player: Known) -> str:
        cells, half_points = [], 0
        for number, pairs in enumerate(self.rounds, 1):
            cell = "  0000 - Z"
            if (number, rank) in self.byes:
                cell, half_points = "  0000 - H", half_points + 1
            for white, black, result in pairs:
                if rank == white:
                    cell = f"  {black:4} w {result}"
                elif rank == black:
                    cell = f"  {white:4} b {result.translate(str.maketrans('10+-', '01-+'))}"
            half_points += {"1": 2, "+": 2, "=": 1}.get(cell[-1], 0)
            cells.append(cell)
        return (
            f"001 {rank:4} {player.sex}    {player.name:33} {player.rating or '':>4} {player.federation} "
            f"{player.number:>11} {player.born}/00/00 {half_points / 2:4.1f} {rank:4}{''.join(cells)}"
        )


def report_with_wrong_points() -> bytes:
    """A small report in which the points of the first player, on line 10, are no sum of results."""
    lines = made_report(3, size=6, rounds=3).lines()
    lines[9] = f"{lines[9][:80]} 9.0{lines[9][84:]}"
    return "\n".join(lines).encode() + b"\n"


def made_report(seed: int, *, size: int = 24, rounds: int = 7, gap: int = 1, times: int = 1) -> MadeReport:
    """A tournament whose results follow the ratings; *times* is how often all play all, 1 for a part of that."""
    random = Random(seed)
    players = sorted(random.sample(known_players(), size), key=lambda each: -(each.rating or 0))
    ranks = list(range(1, size + 1))
    played, byes = [], set()
    for number in range(rounds * times):
        pairs = []
        for at in range(size // 2):
            pair = (ranks[at], ranks[-1 - at])
            white, black = pair if (at + number) % 2 else pair[::-1]
            if random.random() < 0.03:
                byes |= {(number + 1, white), (number + 1, black)}
                continue
            ratings = [players[rank - 1].rating or 1700 for rank in (white, black)]
            chance = 1 / (1 + 10 ** ((ratings[1] - ratings[0]) / 400))
            drawn = 0.5 * min(chance, 1 - chance)
            draw = random.random()
            result = "=" if draw < drawn * 2 else "1" if draw < chance + drawn else "0"
            pairs.append((white, black, "+" if random.random() < 0.02 else result))
        played.append(pairs)
        ranks[1:] = [ranks[-1], *ranks[1:-1]]  # the circle of an all-play-all
        if number + 1 == rounds:
            ranks = list(range(1, size + 1))
    first = date(2024, 5, 3) + timedelta(days=seed % 9)
    days = [first + timedelta(days=gap * number) for number in range(rounds * times)]
    return MadeReport(f"Made-up Open {seed}", players, played, days, frozenset(byes))
