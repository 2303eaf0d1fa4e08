"""The options that choose a group of players by their data: federation, club, women, age, activity."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import click

from ledger.answers.player_details import PlayerGroup
from ledger.errors import MalformedError
from ledger.facts.player_details import readable_details

Command = TypeVar("Command", bound=Callable[..., Any])
_OPTIONS = (
    click.option("--federation", metavar="CODE", help="Only players of this federation, such as NOR."),
    click.option("--club", metavar="NAME", help="Only players of this club."),
    click.option("--women", is_flag=True, help="Only women."),
    click.option("--juniors", type=click.IntRange(1, 200), metavar="AGE", help="Only up to this age that year."),
    click.option("--seniors", type=click.IntRange(1, 200), metavar="AGE", help="Only from this age on that year."),
    click.option("--listed-active", is_flag=True, help="Without players whom their federation's list calls inactive."),
)


def grouping(command: Command) -> Command:
    """Add the options of a group, and give the command the argument *group*."""

    @wraps(command)
    def with_group(
        *,
        federation: str | None,
        club: str | None,
        women: bool,
        juniors: int | None,
        seniors: int | None,
        listed_active: bool,
        **others: Any,
    ) -> Any:
        words = {"federation": federation and federation.upper(), "club": club}
        _, faults = readable_details({name: word for name, word in words.items() if word is not None})
        if faults:
            raise MalformedError(faults)
        group = PlayerGroup(
            federation=federation, club=club, women=women, juniors=juniors, seniors=seniors, listed_active=listed_active
        )
        return command(**others, group=group)

    chosen: Any = with_group
    for option in reversed(_OPTIONS):
        chosen = option(chosen)
    return chosen  # type: ignore[no-any-return]
