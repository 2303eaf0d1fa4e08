"""A load on a journal: clients that record single games, games that others record too, repeats and complete imports.

Each client is a process that goes on until it is stopped, sends again what failed, and writes down the answers:
which entry is at which position, and which heads it got. ``judging`` compares these promises from outside.
The games are true ones of a ledger's players, so that ratings follow from them; each is given by its key alone.
"""

from __future__ import annotations

import json
import os
import random  # noqa: TID251
import signal
import sys
import time
import zlib
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, TextIO

import orjson

from ledger.errors import LedgerError
from ledger.facts import codec
from ledger.facts.events import GameRecorded
from ledger.facts.instants import instant_text
from ledger.facts.words import Outcome, Termination
from ledger.journal.postgres_store import PostgresJournal

CLIENTS = 4
PATIENCE = 3.0  # seconds for which a client waits for the lock, and for words of the server
AN_IMPORT = 50_000  # entries
IMPORTS_EVERY = 200  # turns of the client that imports
AGAIN = 0.2  # seconds until a client sends again what failed
# Seconds between two submissions of a client. Without them four clients take all that the machine has,
# and the comparison has millions of entries to read; what may be lost is lost all the same.
PAUSE = 0.02
PLAYERS = 400  # of the ledger, with the numbers from 1
LIVE, OF_FILES = "standard", "imported"  # the pools of single games, and of those that files bring
_TOGETHER = 20  # milliseconds: games that two clients submit within them are one game
_OF_ONE_INSTANT = 100  # games of a file that ended in the same millisecond
_HOW_GAMES_END = (  # by what a key's number is divided by
    (Outcome.WHITE, Termination.CHECKMATE),
    (Outcome.BLACK, Termination.CHECKMATE),
    (Outcome.DRAW, Termination.AGREEMENT),
    (Outcome.WHITE, Termination.TIME),
    (Outcome.BLACK, Termination.RESIGNATION),
)


class Client:
    """One client.

    Attributes:
        number: from 1; the first two submit the same facts, the last one imports.
    """

    def __init__(self, address: str, schema: str, number: int, log: TextIO, an_import: int = AN_IMPORT) -> None:
        self._where, self.number, self._log, self._an_import = (address, schema), number, log, an_import
        self._random = random.Random(number)  # noqa: S311  # a load, no secret
        self._journal: PostgresJournal | None = None
        self._told: list[str] = []  # keys of single facts that were acknowledged
        self._parent = os.getppid()
        self.stopped = False

    def run(self) -> None:
        """Go on until it is stopped, or its parent is gone."""
        turn = 0
        while not self.stopped and os.getppid() == self._parent:
            turn += 1
            now = time.time_ns() // 1_000_000  # noqa: TID251
            if self.number == CLIENTS and turn % IMPORTS_EVERY == 1:
                self.record([key_of("import", now, place) for place in range(self._an_import)])
            elif turn % 5 == 0 and self._told:
                self.record([self._random.choice(self._told)])
            else:
                both = key_of("both", now // _TOGETHER * _TOGETHER)
                key = both if self.number <= 2 else key_of(f"single-{self.number}", now)
                if self.record([key]):
                    self._told.append(key)
            if turn % 7 == 0:
                self.ask_for_head()
            time.sleep(PAUSE)
        if self._journal is not None:
            self._journal.close()

    def record(self, keys: Sequence[str]) -> bool:
        """Record facts under these keys, as often as it takes; False where it was stopped before it knew."""
        while not self.stopped and os.getppid() == self._parent:
            begun = time.monotonic()
            try:
                stands = self._record(keys)
            except LedgerError as error:
                self._note({"failed": str(error), "after": time.monotonic() - begun})
                time.sleep(AGAIN)
                continue
            self._note({"stands": stands if len(stands) == 1 else [stands[0], stands[-1]], "number": len(stands)})
            return True
        return False

    def _record(self, keys: Sequence[str]) -> list[tuple[str, int, str, bool]]:
        """Key, position and leaf of each, and whether it was known."""
        journal = self._open()
        facts = {key: facts_of(key) for key in keys}  # before others wait for us
        with journal.writing(PATIENCE, keys=keys) as writer:
            stand = writer.find(keys)
            new = [key for key in keys if key not in stand]
            first = writer.size + 1
            # no clock of ours goes back behind another one's
            now = max(recorded_at(time.time_ns() // 1_000_000), writer.last_recorded_at() or "")  # noqa: TID251
            bodies = [body_of(first + place, key, now, facts[key]) for place, key in enumerate(new)]
            leaves = writer.append([GameRecorded.KIND] * len(new), new, bodies) if new else []
        added = {key: (first + place, leaf) for place, (key, leaf) in enumerate(zip(new, leaves, strict=True))}
        return [
            (key, added[key][0], added[key][1].hex(), False)
            if key in added
            else (key, stand[key].position, stand[key].leaf.hex(), True)
            for key in keys
        ]

    def ask_for_head(self) -> None:
        """Ask for the head, once, as for a receipt or a checkpoint."""
        try:
            journal = self._open()
            head = journal.head()
            journal.ensure_durable()
        except LedgerError as error:
            self._note({"failed": str(error), "after": 0.0})
        else:
            self._note({"size": head.size, "root": head.root.hex()})

    def _open(self) -> PostgresJournal:
        if self._journal is None:
            self._journal = PostgresJournal(*self._where, patience=PATIENCE)
        return self._journal

    def _note(self, what: Mapping[str, Any]) -> None:
        self._log.write(json.dumps({"at": time.monotonic(), **what}) + "\n")
        self._log.flush()


def key_of(teller: str, ms: int, place: int | None = None) -> str:
    """Return the key of the entry of a game.

    Args:
        teller: the client that submits it.
        ms: when it ended, in milliseconds since 1970; of a file, when its first games did.
        place: in a file, from 0.
    """
    return f"game:load:{teller}:{ms}" + ("" if place is None else f":{place}")


def facts_of(key: str) -> bytes:
    """Return the canonical facts of a game, which follow from its key, so that every client submits the same."""
    _, _, _, ms, *place = key.split(":")
    number = zlib.crc32(key.encode())
    white, apart = number % PLAYERS, 1 + number // PLAYERS % (PLAYERS - 1)
    outcome, termination = _HOW_GAMES_END[number // 7 % len(_HOW_GAMES_END)]
    facts = {
        "pool": OF_FILES if place else LIVE, "white": 1 + white,
        "black": 1 + (white + apart) % PLAYERS, "outcome": outcome.value, "termination": termination.value,
        "half_moves": 60, "ended_at": instant_text(int(ms) + sum(map(int, place)) // _OF_ONE_INSTANT), "rated": True,
    }  # fmt: skip
    return orjson.dumps(facts, option=orjson.OPT_SORT_KEYS)


def recorded_at(ms: int) -> str:
    """Return an instant as entries say when they were recorded: always with its milliseconds."""
    return f"{instant_text(ms - ms % 1_000)[:-1]}.{ms % 1_000:03}Z"


def body_of(position: int, key: str, now: str, facts: bytes | None = None) -> bytes:
    """Return the entry of a key at a position, recorded now; *facts* are those of the key, if made already."""
    return codec.assemble(position, now, "load", GameRecorded.KIND, key, facts or facts_of(key))


def main(arguments: Sequence[str]) -> int:
    """Run a client; the arguments are the address, the schema, the client's number, its log, entries of an import."""
    address, schema, number, place, an_import = arguments
    with Path(place).open("a", encoding="utf-8") as log, closing(log):
        client = Client(address, schema, int(number), log, int(an_import))

        def stop(*_: object) -> None:
            client.stopped = True

        signal.signal(signal.SIGTERM, stop)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        client.run()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
