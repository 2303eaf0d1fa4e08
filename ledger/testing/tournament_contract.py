"""What every projector by tournament must do beside what ``ProjectorContract`` asks: subclass ``TournamentContract``.

Its fold begins anew with each player in each tournament, and a game without a tournament has no row.
"""

from __future__ import annotations

from itertools import cycle
from pathlib import Path

import attrs

from ledger.facts.events import Event, GameRecorded
from ledger.ratings.projector import PLAYER, TOURNAMENT
from ledger.ratings.side_tables import SideTable
from ledger.testing.projector_contract import ProjectorContract


class TournamentContract(ProjectorContract):
    """Tests of one projector by tournament. A subclass gives ``make``."""

    def test_it_is_by_tournament(self) -> None:
        made = self.make()
        assert made.by == TOURNAMENT
        names = [name for name, _ in SideTable(made).columns]
        assert names[:4] == list(made.key)

    def test_only_games_of_a_tournament_have_rows(self, tmp_path: Path) -> None:
        facts = self.facts()
        tournaments = {event.tournament for event in facts if isinstance(event, GameRecorded)}
        assert None in tournaments, "the facts that it is tested with have no game without a tournament"
        rows = self._of_facts(tmp_path / "some", facts, self.make())
        assert {row["tournament"] for row in rows} == tournaments - {None}
        assert self._of_facts(tmp_path / "none", self._in(facts, [None]), self.make()) == []

    def test_of_one_tournament_alone_it_is_a_fold_over_all_games(self, tmp_path: Path) -> None:
        """As if it were a projector by player: what another tournament or none has in between changes nothing."""
        made, spring = self.make(), self._in(self.facts(), ["club:spring"])
        of_players = self._of_facts(tmp_path / "player", spring, attrs.evolve(made, by=PLAYER))
        of_tournament = self._of_facts(tmp_path / "tournament", spring, made)
        assert of_tournament == [{**row, "tournament": "club:spring"} for row in of_players]

    @staticmethod
    def _in(facts: list[Event], tournaments: list[str | None]) -> list[Event]:
        """The same facts with the games in these tournaments by turns."""
        turns = cycle(tournaments)
        return [
            attrs.evolve(event, tournament=next(turns)) if isinstance(event, GameRecorded) else event for event in facts
        ]
