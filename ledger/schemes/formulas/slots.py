"""Rows of numbers by lists or months, the latest first; no scheme by itself. Every function is a kernel."""

from __future__ import annotations

from typing import Any


def shift(row: Any, by: int, after: Any) -> None:
    """Copy into *after* (may be the same) a row shifted *by* slots, with zeros in the latest ones."""
    for slot in range(len(row) - 1, -1, -1):  # from behind: *after* may be the row itself
        after[slot] = row[slot - by] if slot >= by else 0.0
