"""The views as an index of recorded games: by players and day, by round and by moves.

Without the views, or if they are damaged, the journal is read. The book has each game in its current state;
corrected games and the numbers of merged players are kept as they were submitted, too. The entries that are named here
are read and judged elsewhere: too many of them do no harm, too few would.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

import attrs
import orjson

from ledger.duplicates.candidate_index import GameLookup
from ledger.duplicates.similar_games import MOST_LOOKED_AT
from ledger.errors import LedgerError, MalformedError
from ledger.facts.instants import instant_end_ms, instant_ms
from ledger.facts.periods import DAY_MS
from ledger.ratings import views_file
from ledger.ratings.views import Views

_TOLD_SO = """
SELECT g.position FROM sought AS s
CROSS JOIN games AS g ON g.white = s.white AND g.black = s.black AND {where}
UNION SELECT g.position FROM sought AS s
CROSS JOIN given_sides AS told ON told.white = s.white AND told.black = s.black
CROSS JOIN games AS g ON g.position = told.position AND {where}
UNION SELECT o.position FROM sought AS s
CROSS JOIN originals AS o ON o.facts ->> 'white' = s.white AND o.facts ->> 'black' = s.black
"""
_BY_DAY = (
    "WITH sought AS (SELECT value ->> 0 AS white, value ->> 1 AS black, value ->> 2 AS since, value ->> 3 AS until, "
    "value ->> 4 AS day FROM json_each(?))"
) + _TOLD_SO.format(
    where="g.ended_ms >= s.since AND (g.ended_ms <= s.until OR substr(g.started_at, 1, length(s.day)) = s.day)"
)
_BY_MEETING = (
    "WITH sought AS (SELECT value ->> 0 AS white, value ->> 1 AS black, value ->> 2 AS tournament, "
    "value ->> 3 AS round FROM json_each(?))"
) + _TOLD_SO.format(where="g.tournament = s.tournament AND g.round = s.round")
_HIGHEST = "SELECT coalesce(max(player), 0) FROM players"
_PLAYER, _END = b',"kind":"player-registered/1","position":', -100  # it is in the last bytes of a body
_FEW = 2_000  # entries after those that the views know that are read
_BY_MOVES = f"SELECT position FROM movetexts WHERE moves = ? ORDER BY position LIMIT {MOST_LOOKED_AT}"


@attrs.frozen
class ViewsGameIndex:
    """The ``GameIndex`` of one ledger: its views up to their last entry; there is no index if these are damaged."""

    views: Views

    def indexed_up_to(self) -> int | None:
        """Return the last entry of the journal that the views contain; None if they cannot be read."""
        try:
            return views_file.position(self.views.connection) if self.views.path.exists() else None
        except LedgerError:
            return None

    def highest_registered(self) -> int | None:
        """Return the highest number of a registered player; None if only the whole journal has it."""
        indexed_up_to, journal = self.indexed_up_to(), self.views.journal
        if indexed_up_to is None or journal.size() - indexed_up_to > _FEW:
            return None
        with views_file.reporting_damage(self.views.path):
            highest = int(self.views.connection.execute(_HIGHEST).fetchone()[0])
            later = [body for bodies in journal.read(indexed_up_to) for body in bodies if body.find(_PLAYER, _END) >= 0]
            return max([highest, *(int(orjson.loads(body)["facts"]["player"]) for body in later)])

    def entries(self, lookup: GameLookup) -> tuple[int, set[int]] | None:
        """Return the last entry that the views contain, and the entries of matching games and maybe others."""
        try:
            if not self.views.path.exists():
                return None
            connection = self.views.connection
            with views_file.reporting_damage(self.views.path):
                # a correction in between would hide a game from both questions
                connection.execute("BEGIN")
                try:
                    indexed_up_to, entries = views_file.position(connection), set[int]()
                    for query, rows in ((_BY_DAY, list(_days(lookup))), (_BY_MEETING, lookup.meetings)):
                        if rows:
                            answer = connection.execute(query, (json.dumps(rows),))
                            entries.update(position for (position,) in answer)
                    for moves in lookup.moves:
                        entries.update(position for (position,) in connection.execute(_BY_MOVES, (moves,)))
                    return indexed_up_to, entries
                finally:
                    connection.execute("COMMIT")
        except LedgerError:
            return None


def _days(lookup: GameLookup) -> Iterable[tuple[int, int, int, int, str]]:
    """Yield White, Black, the first and the last end that a game of that day may have in the book, and the day."""
    for white, black, day in lookup.days:
        try:
            # A supplement may have made the end more exact, or earlier by some hours if it was computed; or the day
            # is that of the beginning, and the end may be any later one or be known to the year alone.
            yield white, black, instant_ms(day[:4]) - DAY_MS, instant_end_ms(day) + DAY_MS, day
        except MalformedError:  # no game of the journal has that day; the fault is reported when the game is judged
            continue
