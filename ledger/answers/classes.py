"""The class and the strength of a rating, by the policy ``classes``. No ledger is read.

The defaults are ChessWorld's: "A) less than 1400, B) 1400 - 1879, C) 1880 - 2199, D) 2200 and above"; "Beginner- up to
1600, Intermediate - 1601 - 2400, Advanced - 2401 and above".
"""

from __future__ import annotations

from collections.abc import Mapping
from math import floor
from typing import Literal


def class_of(rating: float, settings: Mapping[str, int]) -> str:
    """The letter of the class, A to D, of a rating to the nearest point."""
    points = _points(rating)
    return next((letter for letter in "DCB" if points >= settings[f"{letter.lower()}_from"]), "A")


def strength_of(rating: float, settings: Mapping[str, int]) -> Literal["Beginner", "Intermediate", "Advanced"]:
    """``Beginner``, ``Intermediate`` or ``Advanced``, of a rating to the nearest point."""
    points = _points(rating)
    if points >= settings["advanced_from"]:
        return "Advanced"
    return "Intermediate" if points >= settings["intermediate_from"] else "Beginner"


def _points(rating: float) -> int:
    return floor(rating + 0.5)
