"""The points of a tournament report are those of games (162) and of matches of teams (362), as TRF26 codes them.

Ratings go by results; points are computed again only to find those that contradict the results.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_POINTS = re.compile(r"(?<![A-Z])([WDLAP]|T[WDL])\s*(\d{1,2}\.\d)", re.ASCII)


class Scoring(NamedTuple):
    """The points of the results of a game: a win, a draw, a loss, an absence, a bye for want of an opponent."""

    win: float = 1.0
    draw: float = 0.5
    loss: float = 0.0
    absence: float = 0.0
    allotted: float = 1.0

    @classmethod
    def parse(cls, text: str) -> Scoring:
        """Return what a record 162 says; what it does not name has TRF26's points."""
        said = {code: float(points) for code, points in _POINTS.findall(text)}
        win = said.get("W", cls().win)
        return cls(
            win, said.get("D", cls().draw), said.get("L", cls().loss), said.get("A", cls().absence), said.get("P", win)
        )

    def points(self, result: str) -> float:
        """Return the points of a letter of a report."""
        if result in "1+WF":
            return self.win
        if result in "=DH":
            return self.draw
        if result == "U":
            return self.allotted
        return self.loss if result in "0L" else self.absence

    def __str__(self) -> str:
        """Return the points of a win, a draw and a loss in words: ``3, 1 and 0``."""
        return f"{self.win:g}, {'½' if self.draw == 0.5 else f'{self.draw:g}'} and {self.loss:g}"


class MatchScoring(NamedTuple):
    """The match points of a won, drawn and lost match of teams."""

    win: float = 2.0
    draw: float = 1.0
    loss: float = 0.0

    @classmethod
    def parse(cls, text: str) -> MatchScoring:
        """Return what a record 362 says; what it does not name has TRF26's points."""
        said = {code: float(points) for code, points in _POINTS.findall(text)}
        return cls(said.get("TW", cls().win), said.get("TD", cls().draw), said.get("TL", cls().loss))

    def points(self, own: float, other: float) -> float:
        """Return the match points for these game points."""
        return self.win if own > other else self.draw if own == other else self.loss

    def __str__(self) -> str:
        """Return the points of a won, drawn and lost match in words."""
        return f"{self.win:g}, {self.draw:g} and {self.loss:g}"
