"""Helpers that all answers share: one read snapshot for each answer, shown names of players, days and limits.

An answer executes many statements, and others record games and approve corrections between any two of them. Every
function that reads the views for a caller is therefore decorated with ``in_one_snapshot``, the helpers of answers too:
one within another costs next to nothing. A test checks that no function is forgotten.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from enum import StrEnum
from functools import wraps
from math import floor
from typing import Concatenate, Literal, NamedTuple, ParamSpec, TypeVar

from ledger.book.timeline import Pool
from ledger.errors import MalformedError
from ledger.facts.instants import Precision, instant_text
from ledger.facts.periods import OPEN
from ledger.handle import OpenLedger
from ledger.players.persons import Person, missing
from ledger.runtime.calls import check_arguments

P = ParamSpec("P")
T = TypeVar("T")
ERASED = "(erased)"
RESULT: dict[int | None, Literal["win", "draw", "loss"]] = {2: "win", 1: "draw", 0: "loss"}
EVERY_ROW = 2**62  # SQLite takes it for a limit, and so does a slice


def in_one_snapshot(answer: Callable[Concatenate[OpenLedger, P], T]) -> Callable[Concatenate[OpenLedger, P], T]:
    """Decorate an answer so that it updates the views and reads them in one ``Ledger.read_snapshot``.

    The decorated function must not return an iterator over rows that are still to be read.
    """

    @wraps(answer)
    def consistent(ledger: OpenLedger, /, *arguments: P.args, **named: P.kwargs) -> T:
        # an answer within another one gets arguments that were checked already
        if not isinstance(ledger, OpenLedger) or not ledger.views.in_snapshot:
            (ledger, *arguments), named = check_arguments(answer, (ledger, *arguments), named)
        with ledger.read_snapshot():
            return answer(ledger, *arguments, **named)

    return consistent


def row_limit(limit: int | None) -> int:
    """Return the number of rows that a limit allows: ``EVERY_ROW`` for None and for 0, as on the command line.

    Raises:
        MalformedError: it is below 0.
    """
    if limit is not None and limit < 0:
        raise MalformedError([f"a limit must be a number of rows, or 0 or None for all rows; got {limit}"])
    return min(limit or EVERY_ROW, EVERY_ROW)  # SQLite holds no larger number


def format_average(value: float | None) -> str:
    """Return an average of ratings as text, rounded to the nearest point, one half up; ``-`` for None.

    The rounding is that of FIDE C.07, 10.
    """
    return "-" if value is None else f"{floor(value + 0.5)}"


def day(ms: int) -> str:
    """Return the day of an instant in milliseconds since 1970, as ``YYYY-MM-DD``."""
    return instant_text(ms, Precision.DAY)


def in_force_from(rated_ms: int | None) -> str | None:
    """Return the day from which a rating is in force, by the close of its period; None if nothing has closed it yet."""
    return None if rated_ms is None or rated_ms == OPEN else day(rated_ms)


def list_day(pool: Pool, rated_ms: int) -> str | None:
    """Return the first day of the list in which games count, by their place in rating order; None if it has none yet.

    A period that ends on 31 March has the list of 1 April. Under a scheme by game it is the day of the game.
    """
    if rated_ms == OPEN:
        return None
    return day(rated_ms if pool.rates_single_games_at(rated_ms) else rated_ms + 1)


class Naming(StrEnum):
    """The form in which players are shown: by name, by initials, or by number alone."""

    FULL = "full"
    INITIALS = "initials"
    NUMBERS = "numbers"


PERSONAL = frozenset({"birth_year"})  # facts about a player that help to identify the person, besides the name
# The program's own words for the recorder, if no person was named. Any other word may be a person's.
OWN_WORDS = frozenset({"admin", "by-hand", "export", "import", "ledger", "registry"})


class _PublicView(NamedTuple):
    """The public's view: the form of players, and whether the journal's entries are shown unchanged."""

    naming: Naming
    entries: bool


# Answers are made of many others: everything about a person goes through this one place, for every reader.
_public_view: ContextVar[_PublicView | None] = ContextVar("public_view", default=None)


@contextmanager
def hide_personal_data(naming: Naming, *, entries: bool = False) -> Iterator[None]:
    """Hide personal data in every answer within the block; players appear in the form *naming*.

    With *entries* the entries of the journal are shown unchanged, with their recorders.
    """
    # A context's own and no variable of the module: a server answers several at once, each for an audience of its own.
    before = _public_view.set(_PublicView(naming, entries))
    try:
        yield
    finally:
        _public_view.reset(before)


def current_naming() -> Naming:
    """Return how answers show players now: by full name, unless ``hide_personal_data`` asks for another form."""
    public_view = _public_view.get()
    return Naming.FULL if public_view is None else public_view.naming


def is_field_hidden(field: str) -> bool:
    """Return whether a field of a player is personal and hidden within this ``hide_personal_data`` block."""
    return field in PERSONAL and _public_view.get() is not None


def is_recorder_shown(actor: str) -> bool:
    """Return whether an answer may name the recorder of an entry.

    It may if entries are shown here, or if no person recorded the entry.
    """
    public_view = _public_view.get()
    return public_view is None or public_view.entries or actor in OWN_WORDS


def display_name(person: Person) -> str:
    """Return the name under which answers show a person; for an erased person only the number."""
    return shown_name(person.player, person.name)


def shown_name(player: int, name: str | None) -> str:
    """Return a player's name in the form in which players are shown now; an erased name (None or empty) stays so."""
    if not name:
        return f"{ERASED} {player}"
    match current_naming():
        case Naming.FULL:
            return name
        case Naming.INITIALS:
            firsts = (next((char for char in word if char.isalnum()), "") for word in name.replace("-", " ").split())
            # A name of signs alone has no initials.
            return " ".join(f"{first}." for first in firsts if first) or anonymous_label(player)
        case Naming.NUMBERS:
            return anonymous_label(player)


def anonymous_label(player: int) -> str:
    """Return the label of a player whose name is hidden: ``Player 7``."""
    return f"Player {player}"


def shown_identity(identity: str | None) -> str | None:
    """Return an identity, or None if names are not shown in full, for an identity may contain the name."""
    return identity if current_naming() is Naming.FULL else None


def distinct_names(called: Mapping[int, str]) -> dict[int, str]:
    """Return names by player number, with the number added where several players have one name."""
    bearers = Counter(called.values())
    return {player: name if bearers[name] == 1 else f"{name} ({player})" for player, name in called.items()}


def names(ledger: OpenLedger, players: set[int]) -> dict[int, str]:
    """Return the names under which answers show players, by player number."""
    people = ledger.people.by_number(sorted(players))
    # a player without a row in the people file was not erased
    return {player: display_name(people[player]) if player in people else missing(player) for player in players}
