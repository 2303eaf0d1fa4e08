"""A program that keeps a ledger open, as a server does, to be recorded: ``python -m`` this module CLUB COUNT.

It registers players, appends games one by one, says every few games how many entries the journal holds, which is then
promised to whoever reads it, and brings the views level now and then.
"""

from __future__ import annotations

import sys
from datetime import timedelta

from ledger.facts.events import GameRecorded
from ledger.facts.words import Outcome, Termination
from ledger.ledger import Ledger

from .. import output
from .histories import BEGINNING

SPEAKS, LEVELS = 4, 10  # games between two answers, and between two times that the views are brought level


def main(club: str, count: int) -> None:
    """Append *count* games of players who are registered meanwhile."""
    with Ledger.open(club) as ledger:
        pool = ledger.first_scheme().pool
        known = [ledger.register(f"live:{number}", f"Live Player {number}") for number in range(2)]
        for number in range(count):
            if number % SPEAKS == 0:
                known.append(ledger.register(f"live:{len(known)}", f"Live Player {len(known)}"))
            ledger.append(
                GameRecorded(
                    game=f"live:{number}",
                    pool=pool,
                    white=known[number % len(known)],
                    black=known[(number + 1) % len(known)],
                    outcome=Outcome.WHITE,
                    termination=Termination.CHECKMATE,
                    half_moves=40,
                    ended_at=str(BEGINNING + timedelta(days=200 + number)),
                    rated=True,
                )
            )
            if number % LEVELS == 0:
                ledger.catch_up()
            if number % SPEAKS == 0:
                output.answer(str(ledger.journal.size()))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
