"""The export of a published list as FIDE's downloads have it (text in fixed columns, or XML), or for Swiss-Manager.

Columns and elements are those of ``imports.players.fide``; the headings for Swiss-Manager are those of the lists of the
Russian, Malaysian and Finnish federations. The list has the published ratings; names, federation, sex,
title, year of birth and activity are those of its instant. The games are those that counted since the list before;
K is the one in force on the day of the list by FIDE's rules, and blank in a pool of another scheme. Both are by the
present facts. A player without a FIDE number has the national one, if there is one; other players are left out, since
readers know players by numbers.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple
from xml.sax.saxutils import escape

from ledger.answers.asking import day, in_one_snapshot
from ledger.answers.exports.columns import ExportFilter
from ledger.answers.player_details import EVERYBODY, details_at
from ledger.answers.publications import ranked_members
from ledger.book.timeline import BEGINNING, Pool
from ledger.errors import MalformedError
from ledger.facts.periods import DAY_MS
from ledger.facts.player_details import NO_DETAILS, WOMEN_TITLES, PlayerDetails
from ledger.handle import OpenLedger
from ledger.publishing.publications import Publication, Publications
from ledger.ratings import queries
from ledger.ratings.player_states import PlayerState, PlayerStates
from ledger.runtime.visible import in_cell
from ledger.schemes import fide

_MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_WIDTHS = {"id": 15, "name": 61, "fed": 4, "sex": 4, "tit": 5, "wtit": 5, "otit": 15, "foa": 4}
SWISS_MANAGER = (
    "ID_No", "Name", "Title", "Sex", "Fed", "ClubName", "Birthday", "Rtg_Nat", "Fide_No", "Rtg_Int",
)  # fmt: skip


class FideRow(NamedTuple):
    """A player of a list in FIDE's form: FIDE number or an empty text, name, published rating, data, games, K."""

    fide_number: str
    name: str
    rating: int
    details: PlayerDetails
    player: int
    games: int = 0
    factor: str = ""

    @property
    def number(self) -> str:
        """The number by which readers know the player, of FIDE or else national; an empty text without one."""
        return self.fide_number or self.details.national or ""

    @property
    def flag(self) -> str:
        """The letters of FIDE's flag: w for a woman, i for an inactive player."""
        woman = "w" if self.details.sex == "w" else ""
        return f"{woman}{'i' if self.details.active is False else ''}"

    @property
    def born(self) -> str:
        """The year of birth, or an empty text."""
        return (self.details.birth or "")[:4]


@in_one_snapshot
def fide_text_list(ledger: OpenLedger, selection: ExportFilter) -> Iterator[bytes]:
    """Return a published list as FIDE's text, line by line.

    Raises:
        UnknownNameError: there is no such list.
        MalformedError: no list was named, or names were not requested.
    """
    publication, rows, _ = _rows(ledger, selection)
    rows = _with_figures(ledger, publication, rows)
    first = day(publication.at_ms + 1)  # in force from the instant after the list's
    month = f"{_MONTHS[int(first[5:7]) - 1]}{first[2:4]}"
    head = f"{'ID Number':<15}{'Name':<61}Fed Sex Tit  WTit OTit           FOA {month:<6}Gms K  B-day Flag"
    return (f"{line}\r\n".encode() for line in (head, *map(_line, rows)))


@in_one_snapshot
def fide_xml_list(ledger: OpenLedger, selection: ExportFilter) -> Iterator[bytes]:
    """Return a published list as FIDE's XML; otherwise as ``fide_text_list``."""
    publication, rows, _ = _rows(ledger, selection)
    rows = _with_figures(ledger, publication, rows)
    lines = ('<?xml version="1.0" encoding="UTF-8"?>', "<playerslist>", *map(_element, rows), "</playerslist>")
    return (f"{line}\n".encode() for line in lines)


@in_one_snapshot
def swiss_manager_list(ledger: OpenLedger, selection: ExportFilter) -> Iterator[bytes]:
    """Return a published list as a file that Swiss-Manager takes as a national list; otherwise as ``fide_text_list``.

    ``Rtg_Nat`` is the published rating; ``Rtg_Int`` is the same one in a pool that FIDE's rules rate, else empty.
    """
    publication, rows, _ = _rows(ledger, selection)
    is_of_fide = publication.event.scheme == "fide"
    return (_semicolons(cells) for cells in (SWISS_MANAGER, *(_swiss_manager_cells(row, is_of_fide) for row in rows)))


@in_one_snapshot
def fide_list_findings(ledger: OpenLedger, selection: ExportFilter) -> list[str]:
    """Return how many players of a published list are left out because they have no number."""
    *_, missing = _rows(ledger, selection)
    count = "1 player has" if missing == 1 else f"{missing:,} players have"
    return [f"{count} neither a FIDE nor a national number and are left out"] if missing else []


def _rows(ledger: OpenLedger, selection: ExportFilter) -> tuple[Publication, list[FideRow], int]:
    """Return a published list, its rows, and how many players are left out."""
    if selection.published is None:
        raise MalformedError(["a list in FIDE's form is a published one: name it with --list"])
    if not selection.names:
        raise MalformedError(["a list names the players: allow it with --names"])
    publication = Publications(ledger).named(selection.published)
    group = selection.group or EVERYBODY
    members = ranked_members(ledger, list(Publications(ledger).rows(publication)), publication.at_ms, group)
    players = [row.player for row in members]
    persons, details = ledger.people.by_number(players), details_at(ledger, players, publication.at_ms)
    rows = []
    for row in members:
        person, data = persons.get(row.player), details.get(row.player, NO_DETAILS)
        identity = (person.identity if person else None) or ""
        fide_number = identity.removeprefix("fide:") if identity.startswith("fide:") else ""
        if person is not None and person.name is not None and (fide_number or data.national):
            rows.append(FideRow(fide_number, person.name, row.shown, data, row.player))
    return publication, rows, len(members) - len(rows)


def _with_figures(ledger: OpenLedger, publication: Publication, rows: Sequence[FideRow]) -> list[FideRow]:
    """Return rows with the games that counted since the list before, and K on the day of the list."""
    pool, connection = ledger.pool(publication.event.pool), ledger.views.connection
    states, at_ms = ledger.states(pool), publication.at_ms
    earlier = [each.at_ms for each in Publications(ledger).all(pool.name) if each.at_ms < at_ms]
    since = (pool.pool, max(earlier, default=BEGINNING))
    before = {row["player"]: row["n"] for row in queries.fetch_dicts(connection, queries.ROWS_AT, since)}
    members = {row.player for row in rows}
    figures: dict[int, dict[str, Any]] = {}
    for state in states.all_at(at_ms):
        if state.player not in members:
            continue
        first = before.get(state.player, 0)
        played: list[dict[str, Any]] = []
        if state.games > first:  # most players of a list have not played since the one before
            arguments = (pool.pool, state.player, first, state.games)
            played = list(queries.fetch_dicts(connection, queries.SIDES_BETWEEN, arguments))
        figures[state.player] = {"games": _counted(states, pool, played), "factor": _factor(state, at_ms)}
    # who was on the list may be on none by the present facts
    return [row._replace(**figures.get(row.player, {})) for row in rows]


def _counted(states: PlayerStates, pool: Pool, rows: Sequence[dict[str, Any]]) -> int:
    """Return how many of some games in rating order counted for their player: FIDE leaves out unrated opponents."""
    count = 0
    for (rated_ms, batch), group in groupby(rows, key=lambda row: (row["rated_ms"], row["batch"])):
        together, era = list(group), pool.era_at(rated_ms)
        scheme = pool.eras[era].scheme
        if scheme is not fide.SCHEME:
            count += len(together)
            continue
        first_ms = min(row["ended_ms"] for row in together)
        into = states.into_batch(together[0]["player"], rated_ms, batch, era, first_ms)
        before, after = scheme.player_of(into), scheme.player_of(states.era_state(together[-1]).state)
        # a first rating takes the pooled games, of which some may be of earlier lists
        count += round(after.games + after.pool_games - before.games - before.pool_games)
    return count


def _factor(state: PlayerState, at_ms: int) -> str:
    """Return K before games lower it (8.3.3), as FIDE's lists have it; an empty text under another scheme."""
    if state.era.scheme is not fide.SCHEME:
        return ""
    player = state.era.scheme.player_of(state.state)
    k = fide.k_of(player.highest, player.games, player.birth_year, 0.0, at_ms / DAY_MS, state.era.numbers)
    return f"{k:g}"


def _line(row: FideRow) -> str:
    """Return a player's line in the columns of FIDE's list of one kind; a name ends one column before the next."""
    title = row.details.title or ""
    cells = {
        "id": row.number,
        "name": row.name,
        "fed": row.details.federation or "",
        "sex": {"m": "M", "w": "F"}.get(row.details.sex or "", ""),
        "tit": title,
        "wtit": title if title in WOMEN_TITLES else "",
        "otit": "",
        "foa": "",
    }
    start = "".join(f"{cells[name][: width - 1]:<{width}}" for name, width in _WIDTHS.items())
    return f"{start}{row.rating:<6}{row.games:<4}{row.factor:<3}{row.born or '0000':<6}{row.flag}".rstrip()


def _swiss_manager_cells(row: FideRow, is_of_fide: bool) -> tuple[str, ...]:
    details = row.details
    rating = str(row.rating)
    return (
        details.national or row.fide_number,
        row.name,
        details.title or "",
        details.sex or "",
        details.federation or "",
        details.club or "",
        (details.birth or "").replace("-", "/"),
        rating,
        row.fide_number,
        rating if is_of_fide else "",
    )


def _semicolons(cells: tuple[str, ...]) -> bytes:
    text = io.StringIO()
    csv.writer(text, delimiter=";", lineterminator="\r\n").writerow(in_cell(cell, "csv") for cell in cells)
    # by the mark, spreadsheets and Swiss-Manager recognise UTF-8
    return text.getvalue().encode("utf-8-sig" if cells is SWISS_MANAGER else "utf-8")


def _element(row: FideRow) -> str:
    details = row.details
    title = details.title or ""
    fields = {
        "fideid": row.number,
        "name": row.name,
        "country": details.federation or "",
        "sex": {"m": "M", "w": "F"}.get(details.sex or "", ""),
        "title": title,
        "w_title": title if title in WOMEN_TITLES else "",
        "o_title": "",
        "foa_title": "",
        "rating": str(row.rating),
        "games": str(row.games),
        "k": row.factor,
        "birthday": row.born,
        "flag": row.flag,
    }
    return f"<player>{''.join(f'<{name}>{escape(text)}</{name}>' for name, text in fields.items())}</player>"
