"""The JSON Schemas of published output: documents, rows of exports, and the JSON of each command.

A new document, dataset or answer has its line here; ``python -m tools.schemas`` then writes its schema. An answer is
named as the command that prints it, with its option: ``opponents-against`` is that of ``opponents --against``. If a
command prints a list, the schema is that of each row.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ledger.answers.achievements import Achievement
from ledger.answers.boards import FinalPosition
from ledger.answers.calculations import Calculation
from ledger.answers.comparing.comparison import Comparison
from ledger.answers.comparing.study import Study
from ledger.answers.corrections import ProposalRow
from ledger.answers.crosstables.crosstable_data import Crosstable
from ledger.answers.crosstables.listing import PlayedTournamentRow, TournamentRow
from ledger.answers.differences import ListDifference
from ledger.answers.explanations import GameExplanation
from ledger.answers.exports.columns import row_schema
from ledger.answers.exports.datasets import NAMED_DATASETS
from ledger.answers.graphs.graph_data import Page
from ledger.answers.health import Health
from ledger.answers.impacts import ImpactInFull
from ledger.answers.journal_status import JournalStatus
from ledger.answers.list_calculations import ListCalculation
from ledger.answers.opponents import ColourStatistics, OpponentBatch, ResultsAgainst, StrengthStatistics
from ledger.answers.player_games import PlayerGame
from ledger.answers.players import PlayerSummary
from ledger.answers.policies import PolicySetting
from ledger.answers.pools import EraRow, PoolRow
from ledger.answers.predictions import Prediction
from ledger.answers.publications import PublishedListRow, PublishedPlayerRow, RatingListRow, RatingRun
from ledger.answers.querying import ColumnRow, TableRow
from ledger.answers.rankings import RankingRow
from ledger.answers.rating_changes import RatingChanges
from ledger.answers.read_models import ReadModelRow
from ledger.answers.recorded_games import ManualGame, RecordedGame
from ledger.answers.searching import NamedPlayer, SimilarPlayer
from ledger.answers.streaks import Streak
from ledger.answers.time_losses import TimeLossMark, TimeLossWindow
from ledger.answers.upsets import Upset
from ledger.facts.json_schemas import class_schema
from ledger.journal.listing import JournalEntry

VERSION = 1
_STATE = {"description": "state of the pool's scheme after the game", "type": ["number", "null"]}

DOCUMENTS: Mapping[str, type[Any]] = {"crosstable": Crosstable, "rating-graph": Page}
ANSWERS: Mapping[str, type[Any]] = {
    "best": Achievement,
    "board": FinalPosition,
    "calc": Calculation,
    "calculation": ListCalculation,
    "changes": RatingChanges,
    "compare": Comparison,
    "correct-list": ProposalRow,
    "correct-preview": ImpactInFull,
    "diff": ListDifference,
    "explain": GameExplanation,
    "games": PlayerGame,
    "games-of-day": RecordedGame,
    "health": Health,
    "journal": JournalStatus,
    "lists": PublishedListRow,
    "lists-of": PublishedPlayerRow,
    "log": JournalEntry,
    "opponents": OpponentBatch,
    "opponents-against": ResultsAgainst,
    "opponents-by-colour": ColourStatistics,
    "opponents-by-strength": StrengthStatistics,
    "players-alike": SimilarPlayer,
    "policy-list": PolicySetting,
    "pools": PoolRow,
    "predict": Prediction,
    "ratings": RankingRow,
    "record": ManualGame,
    "runs": RatingRun,
    "runs-on": RatingListRow,
    "scheme-eras": EraRow,
    "search": NamedPlayer,
    "show": PlayerSummary,
    "streaks": Streak,
    "projectors": ReadModelRow,
    "tables": TableRow,
    "tables-columns": ColumnRow,
    "time-losses": TimeLossWindow,
    "time-losses-mark": TimeLossMark,
    "tournaments": TournamentRow,
    "tournaments-of": PlayedTournamentRow,
    "tune": Study,
    "upsets": Upset,
}


def export_schemas() -> dict[str, str]:
    """Return the schema of each document, and of a row of each prepared dataset, as text by file name."""
    texts = _of_classes(DOCUMENTS)
    for name, item in NAMED_DATASETS.items():
        others = _STATE if name == "history" else None
        texts[_file(name)] = _text(row_schema(f"{name}/{VERSION}", item.doc, item.columns, others))
    return texts


def answer_schemas() -> dict[str, str]:
    """Return the schema of each answer as text by file name, such as ``show-1.json``."""
    return _of_classes(ANSWERS)


def _of_classes(classes: Mapping[str, type[Any]]) -> dict[str, str]:
    return {_file(name): _text(class_schema(cls, f"{name}/{VERSION}")) for name, cls in classes.items()}


def _file(name: str) -> str:
    return f"{name}-{VERSION}.json"


def _text(schema: Mapping[str, Any]) -> str:
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
