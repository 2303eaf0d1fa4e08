"""The teams of a tournament report (TRF26, record 310): their match points and game points, checked by their boards.

Which players meet is in their own lines; a team is a list of their numbers. Byes of a whole team (320) bring what the
record says. What forfeited matches (330), byes of other kinds (240) and points assigned by hand (299) bring depends on
the event, so that points of a report that has them are not checked.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ledger.imports.lichess import one_line
from ledger.imports.trf.pairings import Entrant
from ledger.imports.trf.scoring import MatchScoring, Scoring

MAX_TEAMS = 999
_PLAYERS = 73  # column of the first player, counted from 0
_WIDTH = 5
_UNCHECKED = ("240", "299", "330")
_NUMBER = re.compile(r"[1-9]\d{0,3}", re.ASCII)
_DECIMAL = re.compile(r"\d{1,4}\.\d", re.ASCII)
_OF_BYES = "UHFZ"

Lines = Sequence[tuple[int, str]]


class Team(NamedTuple):
    """A team: its line, pairing number, name, match points, game points and the numbers of its players."""

    line: int
    number: int
    name: str
    match_points: float | None
    game_points: float | None
    players: tuple[int, ...]


def parse_team(line: int, text: str) -> Team:
    """Return the team of a record 310; *text*: with its three characters.

    Raises:
        ValueError: it has no number, or something else in the place of players.
    """
    number, cells = text[4:7].strip(), text[_PLAYERS:]
    if _NUMBER.fullmatch(number) is None:
        raise ValueError(f"310: columns 5-7: expected the team's number, got {text[4:7]!r}")
    players: list[int] = []
    for start in range(0, len(cells.rstrip()), _WIDTH):
        cell = cells[start : start + _WIDTH - 1].strip()
        if cell.strip("0") and _NUMBER.fullmatch(cell.lstrip("0")) is None:
            column = _PLAYERS + start + 1
            raise ValueError(f"310: columns {column}-{column + 3}: expected a player's starting rank, got {cell!r}")
        if cell.strip("0"):
            players.append(int(cell))
    points = [text[54:60].strip(), text[61:67].strip()]
    match_points, game_points = (float(word) if _DECIMAL.fullmatch(word) else None for word in points)
    return Team(line, int(number), one_line(text[8:40]), match_points, game_points, tuple(players))


class _Boards:
    """The game points of teams by rounds, from their players' lines."""

    def __init__(self, teams: Sequence[Team], entrants: Mapping[int, Entrant], scoring: Scoring) -> None:
        self.points: dict[tuple[int, int], float] = defaultdict(float)  # by round and team
        self.opponents: dict[tuple[int, int], Counter[int]] = defaultdict(Counter)
        self.unfinished: set[tuple[int, int]] = set()
        team_of = {rank: team.number for team in teams for rank in team.players}
        for rank, number in team_of.items():
            if rank not in entrants:
                continue
            for place, cell in enumerate(entrants[rank].read.rounds, 1):
                if cell.result in _OF_BYES and not (cell.opponent and cell.is_blank):
                    continue
                match = (place, number)
                if cell.opponent:
                    self.opponents[match][team_of.get(cell.opponent, 0)] += 1
                if cell.is_blank:
                    self.unfinished.add(match)
                self.points[match] += scoring.points(cell.result)

    def is_whole(self, number: int) -> bool:
        """Return whether all games of a team are finished, against players of teams: else its points may change."""
        rounds = [opponents for (_, team), opponents in self.opponents.items() if team == number]
        return not any(team == number for _, team in self.unfinished) and not any(0 in each for each in rounds)

    def rounds_of(self, number: int) -> Iterator[tuple[int, int]]:
        """Yield the rounds of a team, each with the team that it met."""
        for (place, team), opponents in self.opponents.items():
            if team == number:
                yield place, opponents.most_common(1)[0][0]


def check_teams(
    records: Mapping[str, Lines], entrants: Mapping[int, Entrant], scoring: Scoring, matches: MatchScoring
) -> list[tuple[int, str]]:
    """Return notes on teams that cannot be read or that contradict their boards, each with its line.

    Args:
        records: by kind the lines of teams, each with its number.
        entrants: by starting rank.
        scoring: of games.
        matches: of matches.
    """
    teams: list[Team] = []
    doubts: list[tuple[int, str]] = []
    seen: dict[int, Team] = {}
    for line, text in records.get("310", ())[:MAX_TEAMS]:
        try:
            team = parse_team(line, text)
        except ValueError as error:
            doubts.append((line, str(error)))
            continue
        teams.append(team)
        for rank in team.players:
            other = seen.setdefault(rank, team)
            if other is not team:
                doubts.append((line, f"310: player {rank} is in the team of line {other.line}, too: correct one"))
            elif rank not in entrants:
                doubts.append((line, f"310: there is no player {rank}: correct the starting rank"))
    if doubts or any(records.get(kind) for kind in _UNCHECKED):
        return doubts
    boards = _Boards(teams, entrants, scoring)
    return [(team.line, words) for team in teams if (words := _difference(team, boards, records, matches))]


def _difference(team: Team, boards: _Boards, records: Mapping[str, Lines], matches: MatchScoring) -> str | None:
    """Return in words by how much the points of a team differ from those of its boards; None if they do not."""
    if not boards.is_whole(team.number):
        return None
    match_points, game_points = _byes(team.number, records)
    for place, other in boards.rounds_of(team.number):
        own, opponents = boards.points[place, team.number], boards.points[place, other]
        match_points += matches.points(own, opponents)
        game_points += own
    pairs = ((team.match_points, match_points, "match points"), (team.game_points, game_points, "game points"))
    wrong = [(said, points, what) for said, points, what in pairs if said is not None and said != points]
    if not wrong:
        return None
    words = ", ".join(f"{said:g} {what} in the report and {points:g} by its boards" for said, points, what in wrong)
    return f"team {team.number} ({team.name}) has {words} (a match is worth {matches})"


def _byes(number: int, records: Mapping[str, Lines]) -> tuple[float, float]:
    """Return the match points and game points of the byes of a team (320)."""
    match_points = game_points = 0.0
    for _, text in records.get("320", ()):
        worth = [text[4:8].strip(), text[9:13].strip()]
        if all(_DECIMAL.fullmatch(word) for word in worth):
            rounds = sum(
                text[start : start + 3].strip().lstrip("0") == str(number) for start in range(14, len(text), 4)
            )
            match_points += rounds * float(worth[0])
            game_points += rounds * float(worth[1])
    return match_points, game_points
