"""Players as a file tells of them, in columns: what importers of player lists hand on to whoever records them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ledger.runtime.lazy import pl

TEXTS = ("identity", "name", "standing", "since", "rating", "deviation", "volatility", "highest", "k_factor")


def player_schema() -> Mapping[str, Any]:
    """The columns of a frame of source players, as Polars types.

    ``line`` of the file; ``identity`` and ``name``, never null; ``standing`` (null: full), ``birth_year``; ``since``,
    an instant; ``rating``, decimals as text, null for who has none; and with a rating ``games``, ``deviation``,
    ``volatility``, ``highest``, ``k_factor``.
    """
    return {"line": pl.Int64, **dict.fromkeys(TEXTS, pl.String), "birth_year": pl.Int32, "games": pl.Int32}
