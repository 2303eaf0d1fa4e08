"""The bodies of requests: each form a class, read strictly, every fault reported with its place.

Unknown fields, fields given twice and other types are refused: nothing is guessed and nothing is ignored.
What a value means, the library judges.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import NoneType
from typing import Any, TypeVar, cast, get_args, get_origin, get_type_hints

import attrs

from ledger.facts.event_fields import FEDERATION_PATTERN, MAX_WHOLE
from ledger.facts.events import Decision
from ledger.facts.json_schemas import class_schema, documented
from ledger.facts.words import Format, Outcome, Standing, Strength, Termination
from ledger.imports.json_input import object_pairs_hook
from ledger.runtime.nearest import did_you_mean

from . import problems
from .limits import MOST_FAULTS
from .problems import Fault, RefusedError

Form = TypeVar("Form", bound=attrs.AttrsInstance)
_WORDS: Mapping[type, str] = {
    str: "text",
    int: "a whole number",
    bool: "true or false",
    list: "a list",
    dict: "an object",
}


def maybe(doc: str, **limits: Any) -> Any:
    """Return a field that may be left out, or be null, which says the same."""
    return attrs.field(default=None, metadata={"doc": doc, "limits": limits})


@attrs.frozen(kw_only=True, slots=False)
class GameTold:
    """A game to be recorded; a player is a number, an identity such as lichess:ann, or a whole name."""

    pool: str | None = maybe("the pool; by default the ledger's first one")
    white: str | int = documented("who had White")
    black: str | int = documented("who had Black")
    outcome: str = documented("who won", enum=[word.value for word in Outcome])
    termination: str | None = maybe(
        "how it ended; by default unknown, or checkmate where the moves end in one",
        enum=[*(word.value for word in Termination), None],
    )
    half_moves: int | None = maybe("moves of both sides together; counted if the moves are given")
    started_at: str | None = maybe("when it began: an instant, or a day")
    ended_at: str = documented("when it ended: an instant such as 2024-05-03T19:30:00Z, or a day")
    tournament: str | None = maybe("the event")
    round: str | None = maybe("its round, such as 3 or 3.1")
    rated: bool | None = maybe("whether it was to be rated; by default it was")
    moves: str | None = maybe("the moves, which are played through and kept")
    key: str | None = maybe("the game's own key, such as lichess:Mxzwh32Z; else the header Idempotency-Key makes one")


@attrs.frozen(kw_only=True, slots=False)
class PastTold:
    """The earlier rating that a list gives a player; decimals as text."""

    rating: str = documented("the rating that it shows, points")
    games: int | None = maybe("rated games behind it")
    deviation: str | None = maybe("its deviation RD")
    volatility: str | None = maybe("its Glicko-2 volatility")
    highest: str | None = maybe("the highest rating up to then")
    k_factor: str | None = maybe("the K-factor on the list")
    source: str | None = maybe("name of the list")
    pool: str | None = maybe("the pool; by default the ledger's first one")
    since: str | None = maybe("from when it holds; by default from the beginning")


@attrs.frozen(kw_only=True, slots=False)
class PlayerTold:
    """A player to be registered; who is registered already keeps the number."""

    identity: str = documented("the identity, such as fide:1503014, lichess:ann or name:ann")
    name: str = documented("the name")
    standing: str | None = maybe(
        "standing with the site; by default full", enum=[*(word.value for word in Standing), None]
    )
    declared_rating: int | None = maybe("the rating that the player declares")
    birth_year: int | None = maybe("year of birth; never shown to strangers")
    joined: str | None = maybe("when the player joined; by default now")
    past: PastTold | None = maybe("the rating of a list with which the player begins")


@attrs.frozen(kw_only=True, slots=False)
class StrengthTold:
    """The strength that a player chooses; the rating decides it after the provisional games."""

    strength: str = documented("the strength", enum=[word.value for word in Strength])
    pool: str | None = maybe("the pool; by default the ledger's first one")
    since: str | None = maybe("from when it holds; by default from today on")


@attrs.frozen(kw_only=True, slots=False)
class FederationTold:
    """The federation to which a player belongs; in a pool of another one the player is a guest."""

    federation: str = documented("its code, three capital letters", pattern=f"^{FEDERATION_PATTERN}$")
    since: str | None = maybe("from when it holds; by default from today on")


@attrs.frozen(kw_only=True, slots=False)
class RunTold:
    """A rating run to be closed, for schemes that are set to work by runs."""

    pool: str | None = maybe("the pool; by default the ledger's first one")
    as_of: str = documented("the last day, month or instant whose games it rates")


@attrs.frozen(kw_only=True, slots=False)
class TournamentTold:
    """A tournament to be announced: its games are those of that name that end between its days."""

    pool: str | None = maybe("the pool; by default the ledger's first one")
    tournament: str = documented("its name, as its games carry it")
    starts_at: str = documented("its first day")
    ends_at: str = documented("its last day, as planned")
    format: str | None = maybe("how it is paired", enum=[*(word.value for word in Format), None])
    entrants: int | None = maybe("how many players enter")
    rounds: int | None = maybe("how many rounds are planned")


@attrs.frozen(kw_only=True, slots=False)
class ClosingTold:
    """The end of a tournament."""

    pool: str | None = maybe("the pool; by default the ledger's first one")
    ended_at: str = documented("when it was over")


@attrs.frozen(kw_only=True, slots=False)
class BatchTold:
    """A file of corrections, as 'correct batch' reads it; one of more than a megabyte is taken at the desk."""

    rows: str = documented("the file as text: CSV with a header; the column 'verb', and columns for the words")
    each: bool | None = maybe("true: a proposal, and so a decision, for each row; by default one for all")
    reason: str = documented("why; stored outside the journal, and can be erased")


@attrs.frozen(kw_only=True, slots=False)
class CorrectionTold:
    """A correction to be proposed: each change is a verb of 'correct' with its words, in their own names."""

    changes: list[dict[str, str | int]] = documented(
        'the changes, such as {"verb": "result", "game": "lichess:Mxzwh32Z", "to": "draw"}', minItems=1
    )
    reason: str = documented("why; stored outside the journal, and can be erased")


@attrs.frozen(kw_only=True, slots=False)
class DecisionTold:
    """The decision on a proposal."""

    decision: str = documented("approved, rejected or withdrawn", enum=[word.value for word in Decision])
    reason: str | None = maybe("why, where that is to be kept")
    seen: int | None = maybe(
        "of an approval: the entries for which its impact was looked at, as the preview says; by default those when it "
        "was proposed"
    )
    despite_games: bool | None = maybe("of an approval, true: though games came since, but nothing else")


@attrs.frozen(kw_only=True, slots=False)
class Nothing:
    """No words are needed: the body is empty, or an empty object."""


def _no_constant(word: str) -> Any:
    raise ValueError(f"{word} is no number of JSON")


def read(form: type[Form], content: bytes) -> Form:
    """Return the body of a class from the bytes of a request.

    Raises:
        RefusedError: 400, with everything that is wrong and where.
    """
    try:
        value = json.loads(content.decode() or "{}", object_pairs_hook=object_pairs_hook, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise refused([Fault(parameter=None, detail=f"the body is no JSON in UTF-8: {error}", pointer="")]) from None
    faults: list[Fault] = []
    made = _read(form, value, "", faults)
    if faults:
        raise refused(faults)
    return cast("Form", made)


def refused(faults: list[Fault]) -> RefusedError:
    """Everything that is wrong with a body."""
    words = "; ".join(f"{fault.pointer or 'the body'}: {fault.detail}" for fault in faults)
    return RefusedError(problems.problem(400, words, errors=faults))


def pointer(*parts: object) -> str:
    """Return a JSON pointer (RFC 6901); half of a character in a name becomes ``\\ud800``: no answer could have it."""
    words = (str(part).encode("utf-8", "backslashreplace").decode() for part in parts)
    return "".join(f"/{word.replace('~', '~0').replace('/', '~1')}" for word in words)


def _read(hint: Any, value: Any, place: str, faults: list[Fault]) -> Any:
    """Return the value as its type has it; None where it is none, which is noted."""
    choices = get_args(hint) if get_origin(hint) not in {list, dict, None} else (hint,)
    if value is None and NoneType in choices:
        return None
    kinds: list[Any] = [choice for choice in choices if choice is not NoneType]
    for kind in kinds:
        if attrs.has(kind) and isinstance(value, dict):
            return _fields(kind, value, place, faults)
        if get_origin(kind) is list and isinstance(value, list):
            (item,) = get_args(kind)
            return [_read(item, each, f"{place}/{number}", faults) for number, each in enumerate(value)]
        if get_origin(kind) is dict and isinstance(value, dict):
            _note_twice(value, place, faults)
            (_, item) = get_args(kind)
            for name in value:
                _note_characters(name, place + pointer(name), faults)
            return {name: _read(item, each, place + pointer(name), faults) for name, each in value.items()}
        if type(value) is kind:
            if isinstance(value, str):
                _note_characters(value, place, faults)
            if isinstance(value, int) and abs(value) > MAX_WHOLE:
                faults.append(Fault(parameter=None, detail=f"expected at most {MAX_WHOLE:,}", pointer=place))
            return value
    expected = " or ".join(_WORDS.get(get_origin(kind) or kind, "an object") for kind in kinds)
    faults.append(Fault(parameter=None, detail=f"expected {expected}, got {_shown(value)}", pointer=place))
    return None


def _fields(form: Any, value: Mapping[str, Any], place: str, faults: list[Fault]) -> Any:
    fields = {field.name: field for field in attrs.fields(form)}
    hints = get_type_hints(form)
    _note_twice(value, place, faults)
    before = len(faults)
    takes = f"expected one of {', '.join(fields)}" if fields else "there are none here"
    for name in value:
        if name not in fields:
            # A body has room for a hundred thousand of them, and to look for what each may mean takes minutes.
            hint = did_you_mean(name, fields) if len(faults) < MOST_FAULTS else ""
            detail = f"no such field; {hint}{takes}"
            faults.append(Fault(parameter=None, detail=detail, pointer=place + pointer(name)))
    read_values: dict[str, Any] = {}
    for name, field in fields.items():
        here = place + pointer(name)
        if name in value:
            read_values[name] = _read(hints[name], value[name], here, faults)
            _note_limits(read_values[name], field.metadata["limits"], here, faults)
        elif field.default is attrs.NOTHING:
            faults.append(Fault(parameter=None, detail="is missing", pointer=here))
    return form(**read_values) if len(faults) == before else None


def _note_twice(value: Mapping[str, Any], place: str, faults: list[Fault]) -> None:
    faults += [
        Fault(parameter=None, detail="stands twice; once is enough", pointer=place + pointer(name))
        for name in getattr(value, "repeated", ())
    ]


def _note_characters(value: str, place: str, faults: list[Fault]) -> None:
    try:
        value.encode()
    except UnicodeEncodeError:
        faults.append(Fault(parameter=None, detail="has half of a character (a lone surrogate)", pointer=place))


def _note_limits(value: Any, limits: Mapping[str, Any], place: str, faults: list[Fault]) -> None:
    if value is not None and "enum" in limits and value not in limits["enum"]:
        words = [word for word in limits["enum"] if word is not None]
        detail = f"expected one of {', '.join(words)}; {did_you_mean(str(value), words)}got {value!r}"
        faults.append(Fault(parameter=None, detail=detail, pointer=place))
    if isinstance(value, list) and len(value) < limits.get("minItems", 0):
        faults.append(Fault(parameter=None, detail=f"expected {limits['minItems']} or more", pointer=place))


def _shown(value: Any) -> str:
    try:
        text = json.dumps(value, ensure_ascii=True)
    except RecursionError:  # to write it takes a little more room than to read it did
        return "lists or objects within each other, too many"
    return text if len(text) <= 60 else f"{text[:60]}..."


def schema(form: type[Any]) -> dict[str, Any]:
    """Return the schema of a body: fields that have a default may be left out."""
    made = class_schema(form, form.__name__)
    _loosen(form, made)
    for name, part in made.get("$defs", {}).items():
        _loosen(_PARTS[name], part)
    return made


def _loosen(form: type[Any], made: dict[str, Any]) -> None:
    made["required"] = [field.name for field in attrs.fields(form) if field.default is attrs.NOTHING]
    if not made["required"]:
        del made["required"]


_PARTS: Mapping[str, type[Any]] = {PastTold.__name__: PastTold}  # of other forms
