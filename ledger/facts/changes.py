"""The changes that a correction may propose: their verbs, and the fields of each verb.

The game book applies a change to the facts; its gate decides whether the change may follow what is recorded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from itertools import pairwise
from typing import Any, NamedTuple

import attrs

from ledger.errors import MalformedError
from ledger.facts.event_fields import (
    MAX_PLAYER,
    MAX_WHOLE,
    NAME_PATTERN,
    field_of,
    instant_field,
    integer_field,
    is_plain_text,
    one_of_field,
    pattern_field,
    refuse_value,
    text_field,
)

KEY_OF_FACT_PATTERN = r"[a-z]+:[!-~]{1,2000}"  # the longest holds a tournament's name in the form of a URL
KIND_PATTERN = r"[a-z]+(?:-[a-z]+)*/[1-9][0-9]?"
FIELD_PATTERN = r"[a-z][a-z_]{0,31}"
_SPAN_PATTERN = r"[1-9][0-9]{0,14}(?:-[1-9][0-9]{0,14})?"
SPANS_PATTERN = f"{_SPAN_PATTERN}(?: {_SPAN_PATTERN}){{0,999}}"  # ascending, as ``spans_of`` reads them
BLANK = ""  # a field that says nothing: no field of an event may be the empty text
ENTRIES = "entries:"  # how the subjects of changes of entries begin
MOST_CHANGES = 200  # in one entry; a proposal with more is recorded in parts
LONGEST_TEXT = 256
_DEEPEST = 3  # settings and conversions are objects within the facts


class Verb(StrEnum):
    """The verbs of a correction, such as ``replace`` or ``annul``."""

    REPLACE = "replace"  # some fields of a fact
    ANNUL = "annul"  # a fact, as if it had never been recorded; of a game: void it
    RESTORE = "restore"  # a fact that was annulled
    ADD = "add"  # a fact that was missed; the approval records it
    MERGE = "merge"  # a player into another one, who is the same person
    PART = "part"  # two players who were merged
    ANNUL_GAMES = "annul-games"  # of a player between two instants
    ANNUL_TOURNAMENT = "annul-tournament"
    RESTORE_TOURNAMENT = "restore-tournament"
    ANNUL_ENTRIES = "annul-entries"  # games, byes and announcements of some entries, such as those of an import
    UNDO = "undo"  # an approved proposal


class AnnulmentScope(StrEnum):
    """The games of a player that an annulment covers: all, or only those that the opponents lost."""

    ALL = "all"  # as if the player had never played them
    LOSSES = "losses"  # of the opponents: their wins and draws remain


class VerbFields(NamedTuple):
    """The fields that a change with a certain verb must have, and those that it may have."""

    needed: tuple[str, ...]
    allowed: tuple[str, ...] = ()


FIELDS: Mapping[Verb, VerbFields] = {
    Verb.REPLACE: VerbFields(("fact", "entry", "expects", "facts")),
    Verb.ANNUL: VerbFields(("fact", "entry")),
    Verb.RESTORE: VerbFields(("fact", "entry")),
    Verb.ADD: VerbFields(("fact", "kind", "facts")),
    Verb.MERGE: VerbFields(("player", "into")),
    Verb.PART: VerbFields(("player", "into")),
    Verb.ANNUL_GAMES: VerbFields(("player", "which"), ("since", "until")),
    Verb.ANNUL_TOURNAMENT: VerbFields(("pool", "tournament"), ("since", "until")),
    Verb.RESTORE_TOURNAMENT: VerbFields(("pool", "tournament"), ("since", "until")),
    Verb.ANNUL_ENTRIES: VerbFields(("entries",), ("players",)),
    Verb.UNDO: VerbFields(("proposal",)),
}


def _values_field(doc: str) -> Any:
    """Return a field of plain values by the names of an event's fields; the empty text represents a blank."""

    def check(_: object, attribute: attrs.Attribute[Any], value: Any) -> None:
        if not isinstance(value, Mapping) or not value:
            refuse_value(attribute, "a mapping of at least one field to its value", value)
        for path, leaf in _leaves(value, ""):
            if type(leaf) is str and (leaf == BLANK or is_plain_text(leaf, LONGEST_TEXT)):
                continue
            if type(leaf) is bool or (type(leaf) is int and abs(leaf) <= MAX_WHOLE):
                continue
            refuse_value(attribute, f"plain text, a whole number, true or false at {path!r}", leaf)

    value = {"type": ["string", "integer", "boolean", "object", "array"]}
    schema = {
        "type": "object",
        "minProperties": 1,
        "propertyNames": {"pattern": f"^{FIELD_PATTERN}$"},
        "additionalProperties": value,
    }
    return field_of(doc, schema, check, optional=True)


def _leaves(value: Any, path: str, depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Yield each value that is neither object nor list, with its path."""
    # Deeper ones are returned as they are and are refused: a foreign document cannot make this recursion endless.
    if depth <= _DEEPEST and isinstance(value, Mapping):
        for name, inner in value.items():
            if type(name) is not str or not name.isascii() or not name.isprintable() or len(name) > 32:
                raise MalformedError([f"names of fields are up to 32 characters of plain ASCII, got {name!r}"])
            yield from _leaves(inner, f"{path}.{name}" if path else name, depth + 1)
    elif depth <= _DEEPEST and isinstance(value, list | tuple):
        for place, inner in enumerate(value):
            yield from _leaves(inner, f"{path}[{place}]", depth + 1)
    else:
        yield path, value


@attrs.frozen(kw_only=True)
class Change:
    """One change of what the journal says; which fields it has depends on ``do``."""

    do: Verb = one_of_field("what is done", Verb)
    fact: str | None = pattern_field("key of the fact in the journal", KEY_OF_FACT_PATTERN, optional=True)
    entry: int | None = integer_field("position of the entry that recorded the fact", 1, MAX_WHOLE, optional=True)
    kind: str | None = pattern_field("kind of a fact that was missed", KIND_PATTERN, optional=True)
    expects: Mapping[str, Any] | None = _values_field(
        "the fields that are replaced, as they stood when it was proposed; empty text: blank"
    )
    facts: Mapping[str, Any] | None = _values_field(
        "the fields as they are to be, or all facts of one that was missed; empty text: blank"
    )
    player: int | None = integer_field("number of the player", 1, MAX_PLAYER, optional=True)
    into: int | None = integer_field("number of the player that stays", 1, MAX_PLAYER, optional=True)
    which: AnnulmentScope | None = one_of_field("which games of the player", AnnulmentScope, optional=True)
    pool: str | None = pattern_field("rating pool of the tournament", NAME_PATTERN, optional=True)
    tournament: str | None = text_field("name of the tournament", 128, optional=True)
    since: str | None = instant_field("first instant whose games are meant", optional=True, absent="from the beginning")
    until: str | None = instant_field("last instant whose games are meant", optional=True, absent="without end")
    proposal: int | None = integer_field("number of the proposal that is undone", 1, MAX_WHOLE, optional=True)
    entries: str | None = pattern_field(
        "positions of the entries whose facts are annulled, FIRST-LAST or one number, ascending, divided by blanks",
        SPANS_PATTERN,
        optional=True,
    )
    players: str | None = pattern_field(
        "numbers of the players whom these entries registered, written likewise; without other games they are left "
        "out of lists and searches",
        SPANS_PATTERN,
        optional=True,
    )

    def __attrs_post_init__(self) -> None:
        """Refuse a change whose fields are not those of its verb.

        Raises:
            MalformedError: one is missing, or one too many; or nothing is replaced.
        """
        taken = FIELDS[self.do]
        names = {field.name for field in attrs.fields(Change) if getattr(self, field.name) is not None} - {"do"}
        problems = [f"{self.do} needs {name}" for name in taken.needed if name not in names]
        problems += [f"{self.do} takes no {name}" for name in sorted(names - {*taken.needed, *taken.allowed})]
        if self.do is Verb.REPLACE and not problems:
            expects, facts = dict(self.expects or {}), dict(self.facts or {})
            # a proposal is stale if the current value differs from the expected one, so that nothing is replaced unseen
            if expects.keys() != facts.keys():
                problems.append(f"replace expects and gives the same fields, got {sorted(expects)} and {sorted(facts)}")
        for name in ("entries", "players"):
            spans = spans_of(getattr(self, name))
            if any(last < first for first, last in spans) or any(a[1] >= b[0] for a, b in pairwise(spans)):
                problems.append(f"{name} are spans in ascending order that do not overlap, got {getattr(self, name)!r}")
        if problems:
            raise MalformedError(problems)

    @property
    def subject(self) -> str:
        """The fact or person that the change concerns, as one word."""
        match self.do:
            case Verb.MERGE | Verb.PART:
                return f"person:{self.player}"
            case Verb.ANNUL_GAMES:
                return f"games-of:{self.player}"
            case Verb.ANNUL_TOURNAMENT | Verb.RESTORE_TOURNAMENT:
                return tournament_subject(self.pool, self.tournament)
            case Verb.UNDO:
                return f"proposal:{self.proposal}"
            case Verb.ANNUL_ENTRIES:
                return f"{ENTRIES}{spans_of(self.entries)[0][0]}"
            case _:
                return str(self.fact)

    def plain(self) -> dict[str, Any]:
        """Return the fields of the change as plain values, as they are written."""
        values = {field.name: getattr(self, field.name) for field in attrs.fields(Change)}
        words = {name: str(value) if isinstance(value, StrEnum) else value for name, value in values.items()}
        return {name: value for name, value in sorted(words.items()) if value is not None}


def spans_of(text: str | None) -> list[tuple[int, int]]:
    """Return the first and the last number of each span of a text such as ``4-9 12``; empty for None."""
    edges = (span.partition("-") for span in (text or "").split())
    return [(int(first), int(last or first)) for first, _, last in edges]


def spans_text(numbers: Iterable[int]) -> str:
    """Return ascending numbers as spans, in the words that ``spans_of`` reads."""
    spans: list[list[int]] = []
    for number in numbers:
        if spans and spans[-1][1] == number - 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return " ".join(str(first) if first == last else f"{first}-{last}" for first, last in spans)


def tournament_subject(pool: str | None, tournament: str | None) -> str:
    """Return the subject of changes of all games of a tournament."""
    return f"games-at:{pool}:{tournament}"


def changes_field(doc: str) -> Any:
    """Return an attrs field of 1 to ``MOST_CHANGES`` changes."""

    def check(_: object, attribute: attrs.Attribute[Any], value: Any) -> None:
        good = type(value) is tuple and 0 < len(value) <= MOST_CHANGES and all(isinstance(c, Change) for c in value)
        if not good:
            refuse_value(attribute, f"a tuple of 1 to {MOST_CHANGES} changes", value)

    schema = {"type": "array", "minItems": 1, "maxItems": MOST_CHANGES, "items": {"oneOf": [*map(_schema_of, FIELDS)]}}
    return field_of(doc, schema, check, optional=False)


def _schema_of(verb: Verb) -> dict[str, Any]:
    fields, taken = attrs.fields_dict(Change), FIELDS[verb]
    properties = {
        name: {"description": fields[name].metadata["doc"], **fields[name].metadata["schema"]}
        for name in sorted((*taken.needed, *taken.allowed))
    }
    return {
        "type": "object",
        "properties": {"do": {"const": verb.value}, **properties},
        "required": ["do", *sorted(taken.needed)],
        "additionalProperties": False,
    }


def parse_change(plain: Mapping[str, Any]) -> Change:
    """Return the change that ``Change.plain`` wrote."""
    words: Mapping[str, type[StrEnum]] = {"do": Verb, "which": AnnulmentScope}
    fields: dict[str, Any] = {name: words[name](value) if name in words else value for name, value in plain.items()}
    return Change(**fields)
