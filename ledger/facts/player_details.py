"""Data about a player besides the name, dated: sex, title, federation, birth, club, national number, activity.

They are personal data: the text of a description is stored with the names, the journal holds a salted commitment to it
(``player-described/1``), and an erasure takes it with the name. A description states some fields; blank ones state
nothing. At an instant the last statement of each field counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, Self

import attrs
import orjson

from ledger.errors import MalformedError
from ledger.facts.event_fields import FEDERATION_PATTERN, field_of, pattern_field, refuse_value, text_field

SEX_PATTERN = "[mw]"
TITLE_PATTERN = "[A-Z]{1,4}"
BIRTH_PATTERN = r"[0-9]{4}(?:-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12][0-9]|3[01]))?)?"
# The titles of TRF06 and of FIDE's old lists, by those of today.
OLD_TITLES: Mapping[str, str] = {
    "G": "GM", "M": "IM", "F": "FM", "C": "CM", "WG": "WGM", "WM": "WIM", "WF": "WFM", "WC": "WCM",
}  # fmt: skip
OPEN_TITLES = ("CM", "FM", "IM", "GM")  # of FIDE, the lowest first
WOMEN_TITLES = ("WCM", "WFM", "WIM", "WGM")
MAX_CLUB = 64
MAX_NATIONAL = 32


def _flag(doc: str) -> Any:
    def check(_: object, attribute: attrs.Attribute[Any], value: Any) -> None:
        if type(value) is not bool:
            refuse_value(attribute, "true or false", value)

    return field_of(doc, {"type": "boolean"}, check, optional=True)


@attrs.frozen(kw_only=True)
class PlayerDetails:
    """Data about a player; a field that nobody stated is None."""

    sex: str | None = pattern_field("m or w", SEX_PATTERN, optional=True)
    title: str | None = pattern_field("title, such as GM or WFM", TITLE_PATTERN, optional=True)
    federation: str | None = pattern_field("federation of three letters", FEDERATION_PATTERN, optional=True)
    birth: str | None = pattern_field("date of birth, or its year alone", BIRTH_PATTERN, optional=True)
    club: str | None = text_field("club", MAX_CLUB, optional=True)
    national: str | None = text_field("number at the national federation", MAX_NATIONAL, optional=True)
    active: bool | None = _flag("whether the federation's list counts the player as active")

    def as_text(self) -> str:
        """Return the stated fields as the text that is stored: JSON in one spelling."""
        return orjson.dumps(self.stated(), option=orjson.OPT_SORT_KEYS).decode()

    @classmethod
    def of_text(cls, text: str) -> Self:
        """Return the fields of a stored text; fields of later versions are left out."""
        names = {field.name for field in attrs.fields(cls)}
        return cls(**{name: value for name, value in orjson.loads(text).items() if name in names})

    def stated(self) -> dict[str, Any]:
        """Return the fields that are stated."""
        return {name: value for name in FIELDS if (value := getattr(self, name)) is not None}

    def updated(self, later: PlayerDetails) -> PlayerDetails:
        """Return these data after a later description."""
        return attrs.evolve(self, **later.stated())


NO_DETAILS = PlayerDetails()
FIELDS = tuple(field.name for field in attrs.fields(PlayerDetails))


def readable_details(fields: Mapping[str, Any]) -> tuple[PlayerDetails, list[str]]:
    """Return the fields that are well formed, and the faults of the others."""
    with suppress(MalformedError):  # as nearly always
        return PlayerDetails(**fields), []
    faults: list[str] = []
    kept: dict[str, Any] = {}
    for name, value in fields.items():
        try:
            PlayerDetails(**{name: value})
        except MalformedError as error:
            faults += error.problems
        else:
            kept[name] = value
    return PlayerDetails(**kept), faults


def details_by_commitment(texts: Mapping[str, str | None]) -> dict[str, PlayerDetails]:
    """Return the data in stored texts, by commitment; erased ones are left out."""
    return {sealed: PlayerDetails.of_text(text) for sealed, text in texts.items() if text is not None}


def folded(details: Iterable[PlayerDetails]) -> PlayerDetails:
    """Return the data after descriptions in the order of their instants."""
    now = NO_DETAILS
    for description in details:
        now = now.updated(description)
    return now


def arbiters_text(chief: str | None, deputies: Iterable[str]) -> str | None:
    """Return the text that is stored about the arbiters of a tournament; None without any."""
    named = {"chief": chief, "deputies": list(deputies)}
    stated = {role: value for role, value in named.items() if value}
    return orjson.dumps(stated, option=orjson.OPT_SORT_KEYS).decode() if stated else None


def arbiters_of_text(text: str | None) -> tuple[str | None, list[str]]:
    """Return the chief arbiter and the deputies of a stored text."""
    stated: dict[str, Any] = orjson.loads(text) if text else {}
    return stated.get("chief"), stated.get("deputies", [])
