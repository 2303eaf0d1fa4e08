"""Rows of a list of players: parsers of their cells, and frames of players with a fault for each bad row.

Each distinct text of a value is parsed once; the file that it comes from does not matter.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from ledger.facts.event_fields import FEDERATION_PATTERN, POSITIVE_PATTERN
from ledger.facts.person_names import spelt
from ledger.facts.player_details import MAX_CLUB, MAX_NATIONAL, OLD_TITLES, TITLE_PATTERN
from ledger.facts.source_games import NEED_A_RATING, player_schema
from ledger.facts.words import Standing
from ledger.imports.csv import values
from ledger.imports.csv.values import (
    CellParser,
    ParsedColumn,
    RowCheck,
    accept_days,
    accept_fide_ids,
    accept_matching,
    accept_whole,
    check_rows,
    limit_caches,
)
from ledger.imports.lichess import one_line
from ledger.imports.reading import DAY_LENGTH, Faults, name_identity
from ledger.imports.times import SAY_ORDER, possible_days
from ledger.runtime.lazy import pl

if TYPE_CHECKING:
    from polars import DataFrame, Series

MAX_GAMES = 1_000_000
# Columns of a combined list for further pools, by kind of rating: the rating and K.
FURTHER_KINDS = ("rapid", "blitz")
FURTHER_RATINGS = {kind: (f"{kind}_rating", f"{kind}_k_factor") for kind in FURTHER_KINDS}
_FURTHER = tuple(name for names in FURTHER_RATINGS.values() for name in names)
_DECIMAL = re.compile(r"\+?([0-9]{1,5})(?:[.,]([0-9]{1,9}))?", re.ASCII)
_POSITIVE = re.compile(POSITIVE_PATTERN, re.ASCII)
_UNRATED = {"", "0", "-", "?", "unrated", "unr"}


def parse_decimal(text: str) -> str | None:
    """Return a decimal above 0 as text, without needless zeros; None for a blank or 0."""
    tidy = text.strip()
    if tidy.casefold() in _UNRATED:
        return None
    match = _DECIMAL.fullmatch(tidy)
    whole, part = (match[1].lstrip("0") or "0", (match[2] or "").rstrip("0")) if match else ("", "")
    number = f"{whole}.{part}" if part else whole
    if number == "0":
        return None
    if not _POSITIVE.fullmatch(number):
        raise ValueError("must be a number above 0, below 100000, such as 2344 or 60.5; correct it or leave it empty")
    return number


def whole_number_parser(low: int, high: int) -> Callable[[str], int | None]:
    """Return a parser of cells that takes whole numbers within limits; None for a blank."""

    def read(text: str) -> int | None:
        # So pandas writes a whole number of a column with gaps.
        tidy = text.strip().removesuffix(".0")
        if tidy in {"", "-", "?", "0"} and not (tidy == "0" and low == 0):
            return None
        if not tidy.isascii() or not tidy.isdecimal() or not low <= int(tidy) <= high:
            raise ValueError(f"must be a whole number from {low} to {high}; correct it or leave it empty")
        return int(tidy)

    return read


def parse_birth_year(text: str) -> int | None:
    """Return a year of birth, alone or at the beginning of a date; None for a blank or 0."""
    tidy = text.strip()
    if tidy[:4] in {"", "0", "0000", "-"}:
        return None
    return whole_number_parser(1700, 2200)(re.split(r"[-./]", tidy)[0])


def parse_birth_date(text: str) -> str | None:
    """Return a whole date of birth, ``YYYY-MM-DD``; None for a year alone and for what is no date."""
    days = possible_days(text.strip())
    return days[0] if len(days) == 1 and len(days[0]) == DAY_LENGTH else None


def parse_sex(text: str) -> str | None:
    """Return m or w; None for a blank."""
    word = text.strip().casefold()
    if word not in _SEXES:
        raise ValueError("must be m or w; correct it or leave it empty")
    return _SEXES[word]


def parse_title(text: str) -> str | None:
    """Return a title in capital letters, also of FIDE's old letters (g, m, f); None for a blank."""
    word = text.strip().upper()
    if word and not re.fullmatch(TITLE_PATTERN, word):
        raise ValueError("must be a title such as GM or WFM; correct it or leave it empty")
    return OLD_TITLES.get(word, word) or None


def parse_federation(text: str) -> str | None:
    """Return the code of a federation, three capital letters; None for a blank."""
    word = text.strip().upper()
    if word and not re.fullmatch(FEDERATION_PATTERN, word):
        raise ValueError("must be a federation's code of three letters, such as NOR; correct it or leave it empty")
    return word or None


def words_parser(most: int) -> Callable[[str], str | None]:
    """Return a parser of cells with a few words in one line; None for a blank."""

    def read(text: str) -> str | None:
        tidy = one_line(text)
        if len(tidy) > most:
            raise ValueError(f"must have {most} characters at most; shorten it")
        return tidy or None

    return read


def parse_active(text: str) -> bool | None:
    """Return whether a player is active; None for a blank."""
    word = text.strip().casefold()
    if word not in _ACTIVE:
        raise ValueError("must be yes or no; correct it or leave it empty")
    return _ACTIVE[word]


def parse_standing(text: str) -> str | None:
    """Return a membership status; None for a blank."""
    tidy = text.strip().casefold()
    if tidy and tidy not in set(Standing):
        raise ValueError(f"must be one of {', '.join(Standing)}")
    return tidy or None


_SEXES: Mapping[str, str | None] = {
    "": None, "-": None, "m": "m", "male": "m", "w": "w", "f": "w", "female": "w",
}  # fmt: skip
_ACTIVE: Mapping[str, bool | None] = {
    "": None, "-": None, "yes": True, "y": True, "1": True, "true": True, "active": True,
    "no": False, "n": False, "0": False, "false": False, "inactive": False,
}  # fmt: skip


def _identity(text: str) -> str | None:
    tidy = values.parse_identity(text)
    if tidy is None:
        return None
    return spelt(tidy) if ":" in tidy else f"id:{tidy}"


def _day(text: str) -> str | None:
    """Return a day or an instant; the order of 04/05/2024 cannot be given here."""
    try:
        return values.parse_instant(text)
    except ValueError as error:
        raise ValueError(str(error).removesuffix(SAY_ORDER)) from None


# Most names and identities: printable ASCII with single blanks, not too long.
_plain_names = accept_matching(r"^[!-,.-~][!-~]{0,40}(?: [!-~]{1,20}){0,4}$")
_plain_identities = accept_matching(r"^[a-z0-9]{1,30}:[1-9a-z][0-9a-z]{0,59}$")  # no zeros before a FIDE number
_plain_numbers = accept_matching(r"^[A-Za-z0-9]{1,30}$")
_plain_decimals = accept_matching(r"^[1-9][0-9]{0,4}$")


def _plain_years(text: Series) -> Series:
    """Return years of birth, alone or at the beginning of a date."""
    return accept_whole(1700, 2200)(text.str.replace(r"^([0-9]{4})[-./].*$", "$1"))


def _plan() -> dict[str, CellParser]:
    points = CellParser(parse_decimal, quick=_plain_decimals)
    return {
        "identity": CellParser(_identity, quick=_plain_identities),
        "fide_id": CellParser(values.parse_fide_id, quick=accept_fide_ids),
        "name": CellParser(values.parse_name, quick=_plain_names),
        "standing": CellParser(parse_standing),
        "birth_year": CellParser(parse_birth_year, pl.Int32, _plain_years),
        "since": CellParser(_day),
        "rating": points,
        "games": CellParser(whole_number_parser(0, MAX_GAMES), pl.Int32, accept_whole(0, MAX_GAMES)),
        "deviation": points,
        "volatility": points,
        "highest": points,
        "k_factor": points,
        **dict.fromkeys(_FURTHER, points),
        "sex": CellParser(parse_sex),
        "title": CellParser(parse_title),
        "federation": CellParser(parse_federation),
        "club": CellParser(words_parser(MAX_CLUB)),
        "national": CellParser(words_parser(MAX_NATIONAL), quick=_plain_numbers),
        "active": CellParser(parse_active, pl.Boolean),
    }


class PlayerConverter:
    """A converter of rows of text into players; it remembers the values of texts from block to block."""

    def __init__(self, labels: Mapping[str, str]) -> None:
        """Take the columns that the file has, as it calls them."""
        self._labels = dict(labels)
        self._plan = _plan()
        self._named = CellParser(name_identity)
        self._birth = CellParser(parse_birth_date, quick=accept_days)

    def convert(self, cells: DataFrame) -> tuple[DataFrame, Faults]:
        """Return the valid players of a block of cells (text by column, and ``line``), and the faults of other rows."""
        limit_caches({self._named, self._birth, *self._plan.values()})
        columns = {
            name: parser.parse_column(self._labels[name], cells[name])
            for name, parser in self._plan.items()
            if name in self._labels
        }
        if "birth_year" in self._labels:  # one column has either
            columns["birth"] = self._birth.parse_column(self._labels["birth_year"], cells["birth_year"])
        table = self._table(cells, columns)
        none = pl.Series("bad", [False]).new_from_index(0, len(cells))
        bad, faults = check_rows(table["line"], self._complaints(table, columns), none)
        good = table.filter(~bad) if faults.first else table
        further = {name: pl.String for name in _FURTHER if name in self._labels}
        return good.select(pl.col(name).cast(kind) for name, kind in {**player_schema(), **further}.items()), faults

    def _table(self, cells: DataFrame, columns: Mapping[str, ParsedColumn]) -> DataFrame:
        read = {name: column.values.alias(name) for name, column in columns.items()}
        table = pl.DataFrame([cells["line"], *read.values()])
        missing = [name for name in player_schema() if name not in table.columns]
        table = table.with_columns(pl.lit(None).alias(name) for name in missing)
        ways = [pl.col("identity")]
        if "fide_id" in read:
            ways.append(pl.lit("fide:") + pl.col("fide_id"))
        if "name" in read:  # for whom nothing better is known
            alone = table.select(pl.when(pl.coalesce(ways).is_null()).then("name").alias("name"))["name"]
            table = table.with_columns(self._named.parse_column("", alone).values.alias("named"))
            ways.append(pl.col("named"))
        identity = pl.coalesce(ways)
        label = pl.when(identity.str.starts_with("fide:")).then("FIDE " + identity.str.slice(5)).otherwise(identity)
        return table.with_columns(identity=identity, name=pl.coalesce("name", label))

    def _complaints(self, table: DataFrame, columns: Mapping[str, ParsedColumn]) -> Iterator[RowCheck]:
        faulty = {name: column.bad_rows() for name, column in columns.items() if column.bad}
        for name, mask in faulty.items():
            yield mask, columns[name].text, columns[name].fault
        without_identity = table["identity"].is_null()
        for name in ("identity", "fide_id", "name"):
            if name in faulty:
                without_identity &= ~faulty[name].fill_null(value=False)
        yield (
            without_identity,
            table["identity"],
            lambda _: "the row tells of nobody: fill in identity, fide_id or name",
        )
        rating = table["rating"].is_null()
        if "rating" in faulty:
            rating &= ~faulty["rating"].fill_null(value=False)
        for name in NEED_A_RATING:
            unfounded = rating & table[name].is_not_null()
            yield (
                unfounded,
                table[name],
                f"there is {name} {{}} and no rating; fill in the rating".format,
            )
