"""Who is meant by a part of a name. The search itself is the people file's."""

from __future__ import annotations

from typing import Any

from ledger.answers.moments import of_one_moment
from ledger.ledger import Ledger


@of_one_moment
def players_named(ledger: Ledger, part: str) -> list[dict[str, Any]]:
    """The players whose names have all words of *part* in them, or words that *part* is in; those it begins first.

    Args:
        ledger: the ledger.
        part: of a name, three letters or more; case and accents do not count.

    Returns:
        ``player``, ``name`` and ``identity`` of each.

    Raises:
        MalformedError: no word of it has three letters.
        StorageError: the people file and the journal do not belong together.
    """
    return [
        {"player": match.player, "name": match.name, "identity": match.identity}
        for match in ledger.people.search.find(part)
    ]
