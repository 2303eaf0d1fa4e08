"""Where the tests find what is not code: the checkout, the sample club, kept files, real games."""

from __future__ import annotations

from pathlib import Path

TESTS = Path(__file__).parents[1]
ROOT = TESTS.parent
SAMPLE = ROOT / "tools" / "sample" / "club.pgn"

SHARED = ROOT.parent / "shared"
"""Beside the checkout, on some machines only."""
DATA = SHARED / "data"
"""Large sets of real games."""
OTB = DATA / "otb_replay_strict.csv.gz"
"""Games over the board of many years."""
