"""Who is meant by a part of a name. The search itself is the people file's."""

from __future__ import annotations

import attrs

from ledger.answers.moments import of_one_moment
from ledger.answers.wording import called_so, identity_shown
from ledger.facts.json_schemas import documented
from ledger.ledger import Ledger


@attrs.frozen(kw_only=True, slots=False)
class NamedPlayer:
    """A player who is called so."""

    player: int = documented("the player's number in the ledger", minimum=1)
    name: str = documented("what the player is called")
    identity: str | None = documented("the player's identity, such as lichess:ann")


@of_one_moment
def players_named(ledger: Ledger, part: str) -> list[NamedPlayer]:
    """The players whose names have all words of *part* in them, or words that *part* is in; those it begins first.

    Args:
        ledger: the ledger.
        part: of a name, three letters or more; case and accents do not count.

    Raises:
        MalformedError: no word of it has three letters.
        StorageError: the people file and the journal do not belong together.
    """
    return [
        NamedPlayer(
            player=match.player, name=called_so(match.player, match.name), identity=identity_shown(match.identity)
        )
        for match in ledger.people.search.find(part)
    ]
