"""A program that keeps a ledger open, as a server does, to be recorded: ``python -m`` this module CLUB COUNT.

It registers players, appends games one by one, says every few games how many entries the journal holds, which is then
promised to whoever reads it, and brings the views level now and then.
"""

from __future__ import annotations

import sys
from datetime import date, timedelta

from ledger.ledger import Ledger
from tests.kit.games import game_recorded
from tools import output

SPEAKS, LEVELS = 4, 10  # games between two answers, and between two times that the views are brought level

if __name__ == "__main__":
    with Ledger.open(sys.argv[1]) as ledger:
        pool = ledger.first_scheme().pool
        known = [ledger.register(f"live:{number}", f"Live Player {number}") for number in range(2)]
        for number in range(int(sys.argv[2])):
            if number % SPEAKS == 0:
                known.append(ledger.register(f"live:{len(known)}", f"Live Player {len(known)}"))
            white, black = known[number % len(known)], known[(number + 1) % len(known)]
            ended_at = str(date(2020, 7, 19) + timedelta(days=number))
            ledger.append(game_recorded(f"live:{number}", pool=pool, white=white, black=black, ended_at=ended_at))
            if number % LEVELS == 0:
                ledger.catch_up()
            if number % SPEAKS == 0:
                output.answer(str(ledger.journal.size()))
