"""Text made harmless, as the tools call it: the rules stand in ``ledger.runtime.visible``, for exports need them, too."""

from ledger.runtime.visible import MOST_MARKS, in_cell, in_json, json_escape, visible

__all__ = ["MOST_MARKS", "in_cell", "in_json", "json_escape", "visible"]
