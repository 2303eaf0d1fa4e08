"""One game, a few, and small answers in journals of different lengths: from the shell, each in a process of its own."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from .datasets import GameSet
from .measuring import SecondsTaken, both_lines, cost_of, in_turns
from .processes import Ended, watched
from .table import Line, line

GIB = 1024.0**3
HUNDRED = 100
NOISY_FROM = 10_000  # games of the largest set
PLAYERS = 40  # who play the games that are brought in: the first of each set
A_DAY = "2024-12-28"  # one of the last
A_PAST_DAY = "2019-06-01"  # two thirds of the games were played before it
_HEADER = "white,black,result,termination,half_moves,ended_at\n"
_WHAT = {
    "record": "record",
    "one": "import of 1 game",
    "hundred": f"import of {HUNDRED} games",
    "show": "show",
    "kind": "log --kind scheme-adopted",
    "day": "games --on a day --all",
    "active": "ratings --active 30 --limit 20",
    "past": "ratings --at a past day --limit 20",
    "upsets": "upsets --limit 5",
}


class _CommandRun(NamedTuple):
    """What a command took, and the peak memory of its processes, bytes."""

    cost: SecondsTaken
    peak: int


def few_lines(sets: Sequence[GameSet], folder: Path, rounds: int) -> Iterator[Line]:
    """Each command in every set, beside the same in the smallest one; recording a game beside showing a player."""
    data = [each for each in sets if each.source is None]
    days = count()  # a day of its own for each run, so that no game is another's repeat
    works = {
        f"{name} {each.name}": partial(_run, command, str(each.ledger()), folder, days)
        for each in data
        for name, command in _COMMANDS.items()
    }
    in_turns(works, 1)  # to warm up; older ledgers make their indexes
    # commands of a second or two are noisy; on a few games a run tells only whether the section works
    taken = in_turns(works, max(rounds, 5) if data[-1].games >= NOISY_FROM else rounds)
    smallest = data[0].name
    for name in (name for name in _COMMANDS if name != "show"):
        words: dict[str, Any] = {
            "what": f"{_WHAT[name]}, from the shell",
            "rival": f"the same in the journal of {smallest}",
        }
        rival = taken[f"{name} {smallest}"]
        for each in data[1:]:
            runs = taken[f"{name} {each.name}"]
            yield from both_lines("few", f"journal of {each.name}", _costs(runs), _costs(rival), **words)
            peaks, least = [run.peak / GIB for run in runs], [run.peak / GIB for run in rival]
            if all(peaks + least):
                yield line("few-peak", f"journal of {each.name}", peaks, least, **words)
    for each in data:
        record, show = (_costs(taken[f"{name} {each.name}"]) for name in ("record", "show"))
        yield from both_lines("record-show", f"journal of {each.name}", record, show)


def _costs(runs: Sequence[_CommandRun]) -> list[SecondsTaken]:
    return [run.cost for run in runs]


def _run(command: Callable[[str, Path, int], list[str]], ledger: str, folder: Path, days: Iterator[int]) -> _CommandRun:
    words = [sys.executable, "-m", "tools.cli", *command(ledger, folder, next(days))]
    ended: list[Ended] = []
    cost = cost_of(lambda: ended.append(watched(words)))
    return _CommandRun(cost, sum(ended[0].peaks.values()))


def _day(number: int) -> str:
    return f"{2026 - number // 336}-{number // 28 % 12 + 1:02}-{number % 28 + 1:02}"


def _record(ledger: str, _folder: Path, number: int) -> list[str]:
    words = ("--white", _player(0), "--black", _player(1), "--result", "1-0", "--ended", _day(number))
    return ["record", ledger, *words]


def _import(ledger: str, folder: Path, number: int, games: int) -> list[str]:
    path = folder / f"{number}.csv"
    rows = (f"{_player(game % PLAYERS)},{_player((game + 1) % PLAYERS)}" for game in range(games))
    ends = (f"{_day(number)}T{game // 60:02}:{game % 60:02}:00Z" for game in range(games))
    pairs = zip(rows, ends, strict=True)
    path.write_text(_HEADER + "".join(f"{players},1-0,resignation,40,{end}\n" for players, end in pairs))
    return ["import", ledger, str(path)]


def _show(ledger: str, _folder: Path, _number: int) -> list[str]:
    return ["show", ledger, _player(0)]


def _asked(ledger: str, _folder: Path, _number: int, words: Sequence[str]) -> list[str]:
    return [words[0], ledger, *words[1:]]


def _player(number: int) -> str:
    return f"p{number:06d}"


_COMMANDS: Mapping[str, Callable[[str, Path, int], list[str]]] = {
    "show": _show,
    "record": _record,
    "one": partial(_import, games=1),
    "hundred": partial(_import, games=HUNDRED),
    "kind": partial(_asked, words=("log", "--kind", "scheme-adopted")),
    "day": partial(_asked, words=("games", "--on", A_DAY, "--all", "--limit", "20")),
    "active": partial(_asked, words=("ratings", "--active", "30", "--limit", "20")),
    "past": partial(_asked, words=("ratings", "--at", A_PAST_DAY, "--limit", "20")),
    "upsets": partial(_asked, words=("upsets", "--limit", "5")),
}
