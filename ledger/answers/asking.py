"""The common base of answers: how they read a ledger, and how they show people and days.

Every answer is of one read snapshot. It puts many statements to the views, and others record games and approve
corrections between any two of them. Every function that reads the views for a caller is therefore marked as
``of_one_moment``, the helpers of answers too: one within another costs next to nothing. A test checks that no
function of this package is forgotten.
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

from ledger.errors import MalformedError
from ledger.facts.instants import Precision, instant_text
from ledger.facts.periods import OPEN
from ledger.handle import OpenLedger
from ledger.players.persons import Person, missing
from ledger.runtime.calls import compare

P = ParamSpec("P")
T = TypeVar("T")
ERASED = "(erased)"
RESULT: dict[int | None, Literal["win", "draw", "loss"]] = {2: "win", 1: "draw", 0: "loss"}
EVERY_ROW = 2**62  # SQLite takes it for a limit, and so does a slice


def of_one_moment(answer: Callable[Concatenate[OpenLedger, P], T]) -> Callable[Concatenate[OpenLedger, P], T]:
    """Decorate a question that is answered from up-to-date views and one journal position, as in ``Ledger.moment``.

    What it gives is read by then: it is no iterator over rows that are still to come.
    """

    @wraps(answer)
    def consistent(ledger: OpenLedger, /, *arguments: P.args, **named: P.kwargs) -> T:
        # one within another was given what an answer made
        if not isinstance(ledger, OpenLedger) or not ledger.views.is_read:
            (ledger, *arguments), named = compare(answer, (ledger, *arguments), named)
        with ledger.moment():
            return answer(ledger, *arguments, **named)

    return consistent


def row_limit(limit: int | None) -> int:
    """Return how many rows a limit means: with 0, as on the command line, and with None all of them.

    Raises:
        MalformedError: it is below 0.
    """
    if limit is not None and limit < 0:
        raise MalformedError([f"a limit is a number of rows, and 0 or None asks for all of them; got {limit}"])
    return min(limit or EVERY_ROW, EVERY_ROW)  # SQLite holds no larger number


def format_average(value: float | None) -> str:
    """Return an average of ratings or a performance to the nearest point, half up (FIDE C.07, 10); ``-`` for None."""
    return "-" if value is None else f"{floor(value + 0.5)}"


def day(ms: int) -> str:
    """Return the day of an instant, ``YYYY-MM-DD``."""
    return instant_text(ms, Precision.DAY)


def in_force_from(rated_ms: int | None) -> str | None:
    """Return the day on which a value comes into force; None if nothing has closed its period yet."""
    return None if rated_ms is None or rated_ms == OPEN else day(rated_ms)


class Naming(StrEnum):
    """As what players are shown: by their names, by initials, or by their numbers alone."""

    FULL = "full"
    INITIALS = "initials"
    NUMBERS = "numbers"


PERSONAL = frozenset({"birth_year"})  # facts about a player that help to identify the person, besides the name
# The program's own words for the recorder, if no person was named. Any other word may be a person's.
OWN_WORDS = frozenset({"admin", "by-hand", "import", "ledger", "registry"})


class _Strangers(NamedTuple):
    """The view of strangers: the form of players, and whether they see the journal's entries unchanged."""

    rule: Naming
    entries: bool


# Answers are made of many others: everything about a person goes through this one place, for every reader.
_strangers: ContextVar[_Strangers | None] = ContextVar("strangers", default=None)


@contextmanager
def hide_personal_data(rule: Naming, *, entries: bool = False) -> Iterator[None]:
    """Show every answer within the block to strangers: players in that form, no other personal data.

    Args:
        rule: the form in which players are shown.
        entries: whether the entries of the journal are shown unchanged, with their recorders.
    """
    # A context's own and no variable of the module: a server answers several at once, each for an audience of its own.
    before = _strangers.set(_Strangers(rule, entries))
    try:
        yield
    finally:
        _strangers.reset(before)


def current_naming() -> Naming:
    """Return the present rule by which players are shown."""
    strangers = _strangers.get()
    return Naming.FULL if strangers is None else strangers.rule


def is_field_hidden(field: str) -> bool:
    """Return whether a field is not shown here, because it is personal."""
    return field in PERSONAL and _strangers.get() is not None


def is_recorder_shown(actor: str) -> bool:
    """Return whether the recorder of an entry may be seen here: it is the program's own word, or entries are shown."""
    strangers = _strangers.get()
    return strangers is None or strangers.entries or actor in OWN_WORDS


def display_name(person: Person) -> str:
    """Return the shown name of a person; an erased one keeps the number only."""
    return shown_name(person.player, person.name)


def shown_name(player: int, name: str | None) -> str:
    """Return the shown name of a player of this name; None: it was erased."""
    if name is None or not name:
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
    """Return the label of a player whose name is not shown."""
    return f"Player {player}"


def shown_identity(identity: str | None) -> str | None:
    """Return an identity, which may have the name in it; None if names are not shown in full."""
    return identity if current_naming() is Naming.FULL else None


def distinct_names(called: Mapping[int, str]) -> dict[int, str]:
    """Return names by player number, each with the number if several of these players have it.

    For texts, and for tables in which no column has the numbers.
    """
    bearers = Counter(called.values())
    return {player: name if bearers[name] == 1 else f"{name} ({player})" for player, name in called.items()}


def names(ledger: OpenLedger, players: set[int]) -> dict[int, str]:
    """Return ``display_name`` by player number; a player without a row in the people file was not erased."""
    people = ledger.people.by_number(sorted(players))
    return {player: display_name(people[player]) if player in people else missing(player) for player in players}
