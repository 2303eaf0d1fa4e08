"""CSV files of games as frames of source games, a block of rows at a time.

The first line names the columns, in any order and any case; columns not listed here are ignored. Fields are
divided by commas, semicolons or tabs, whichever the header shows; quoting follows RFC 4180. The text is in
UTF-8, or else Windows-1252.

===================== ========================= ==============================================================
column                also read                 value
===================== ========================= ==============================================================
key                   game, game_id, game_no,   the game's own key, kept as ``csv:KEY`` unless it has a colon;
                      id, n                     made from time, event, round and players where missing
white, black          white_name, black_name    the player's name; a word for no opponent (``no_opponent``)
                                                without an id gives the other player a bye in the round
white_id, black_id                              identity such as ``lichess:ann``; without a colon ``id:VALUE``
white_fide_id,                                  FIDE id. Each player needs an id, a FIDE id or a name; an id
black_fide_id                                   with a colon goes first, then FIDE id, bare id, name
result                                          1-0, 0-1, 1/2-1/2, draw, white, black; forfeits +/-, 1-0F;
                                                ``*`` or empty: unfinished, left out. Required
termination                                     our words (time, resignation, ...) or those of PGN and Lichess
ended_by_checkmate,                             1 or 0: tell more of a ``Normal`` or missing termination
stalemate,
insufficient_material
half_moves            plies, turns              moves of both sides together, 0 to 20000
ended_at              date, utc_date_time, end  YYYY, YYYY-MM, YYYY-MM-DD, YYYY-MM-DDThh:mm:ssZ, YYYY.MM.??,
                                                YYYY-MM-DD hh:mm:ss, all UTC. Required, or else started_at
started_at            start                     the same; serves for ended_at where that is missing
tournament            event                     up to 128 characters; ``Rated Blitz game`` is no tournament
round                                           up to 32 characters; ``?`` and ``-`` are none
sequence                                        place of the game within its day, from 1; else the number in column
                                                ``n``, else the row's place among those of the day
rated                                           1, 0, true, false, yes, no; 1 where missing
white_rating,         white_elo, black_elo      0 to 5000; 0, ``?`` and empty are none
black_rating
speed                                           Lichess speed class; goes before time_control
time_control                                    600+5 in seconds, ``-`` for correspondence
time_increment                                  15+2 in minutes and seconds
variant                                         Standard, Chess960, King of the Hill, ...; else standard
===================== ========================= ==============================================================

How bytes become rows is in ``csv.rows``, what one field means in ``csv.values``; here the fields of a row are
put together, with the user's hints (``FileHints``). Players get no numbers and nothing is written here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from ledger.facts.event_fields import KEY_PATTERN, MAX_HALF_MOVES, MAX_RATING
from ledger.facts.source_games import KEPT_FAULTS, OUR_PLAIN_KEY, FileFault, SourceRound, frame_schema, plain_key
from ledger.facts.words import Brings, Outcome
from ledger.imports.csv import values
from ledger.imports.csv.header import RowLayout
from ledger.imports.csv.rows import BATCH_CSV, RowReader, read_layout
from ledger.imports.csv.values import (
    CellParser,
    ParsedColumn,
    RowCheck,
    accept_fide_ids,
    accept_instants,
    accept_whole,
    check_rows,
    limit_caches,
)
from ledger.imports.languages import result_of_word
from ledger.imports.no_opponent import LETTERS_OF_BYES, bye_note, means_no_opponent, stated_bye
from ledger.imports.reading import (
    NO_HINTS,
    OF_NO_TOURNAMENT,
    Faults,
    FileHints,
    Reading,
    bye_value,
    name_identity,
    round_number,
)
from ledger.imports.repeated_rows import EqualRows, RepeatCounter
from ledger.runtime.lazy import pl

if TYPE_CHECKING:
    from polars import DataFrame, Expr, Series


def read_result(
    text: str, results: Mapping[str, str | None], note: Callable[[str], None] = lambda _: None
) -> str | None:
    """Return the meaning of a result: that of its word in *results*, else as of ``values.parse_result``.

    *note*: told what a word of another language is read as.

    Raises:
        ValueError: the text is no result.
    """
    word = values.normalize_result(text)
    try:
        return results[word] if word in results else values.parse_result(text)
    except ValueError as error:
        if (meaning := result_of_word(text)) is not None:
            note(f"{text.strip()!r} is read as {_RESULTS_SHOWN[meaning]}")
            return meaning
        raise ValueError(f"{error}, or a word that --result gives a meaning, such as --result Sieg=1-0") from None


def parse_results(words: Iterable[str]) -> dict[str, str | None]:
    """Return the meaning of each word for a result, from options such as ``Sieg=1-0``.

    Raises:
        ValueError: a word of another form, or a result that is none, or a word that has a meaning already.
    """
    meanings: dict[str, str | None] = {}
    for pair in words:
        # The last sign divides: a word of a file may hold one itself, as ``=`` for a draw does.
        said, divided, meaning = pair.rpartition("=")
        word = values.normalize_result(said)
        if not (divided and word and meaning.strip()):
            raise ValueError(f"takes WORD=RESULT such as remis=1/2-1/2, got {pair!r}")
        if word in meanings:
            raise ValueError(f"the word {said!r} is given two meanings")
        meanings[word] = values.parse_result(meaning)
    return meanings


_RESULTS_SHOWN = {
    "white": "1-0", "black": "0-1", "draw": "1/2-1/2", "+white": "+/-, a forfeit", "+black": "-/+, a forfeit",
    values.BOTH_FORFEITED: "-/-, a forfeit of both",
}  # fmt: skip
MOST_PEOPLE = 50_000  # names that are remembered; a name of 128 characters takes some 200 bytes
PREFIX = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,31}", re.ASCII)
_NUMBERS = re.compile(r"\s*n\s*(?:\(column [A-Z]+\))?", re.IGNORECASE)  # a heading that numbers the games
_OUTCOMES = frozenset(Outcome)
_SIDES = frozenset({Outcome.WHITE, Outcome.BLACK})


def read_frames(
    chunks: Iterable[bytes],
    reading: Reading,
    size: int = BATCH_CSV,
    hints: FileHints = NO_HINTS,
) -> Iterator[DataFrame]:
    """Yield the valid games of a CSV file as frames with the columns of ``frame_schema()``.

    *chunks*: the bytes of the file, decompressed, in pieces of any size. *size*: bytes a block; one frame is made of
    each. *hints*: what the user says of the file; a *source* goes before keys without a colon (else ``csv``), and
    before names and bare ids, which become ``lichess:ann`` in small letters.

    Raises:
        ValueError: no key may hold the source.
    """
    if hints.source is not None and PREFIX.fullmatch(hints.source) is None:
        raise ValueError(f"a prefix must match {PREFIX.pattern}, got {hints.source!r}")
    rows = RowReader(chunks, size, reading)
    layout = read_layout(rows, reading, headings=hints.headings)
    if layout is None:
        return
    yield from convert_cells(rows.read_blocks(layout), layout, reading, hints, rows.line - 1)


def convert_cells(
    blocks: Iterable[tuple[DataFrame, Faults]], layout: RowLayout, reading: Reading, hints: FileHints, line: int
) -> Iterator[DataFrame]:
    """Yield the valid games of rows of cells as frames with the columns of ``frame_schema()``.

    Args:
        blocks: frames of the columns of *layout* and ``line``, with the faults of broken rows.
        layout: the columns, and what messages call them.
        reading: receives faults and notes.
        hints: what the user says of the file.
        line: of the headings, for notes.
    """
    converter = _Converter(layout, hints, partial(reading.note, line))
    for cells, broken in blocks:
        # as many columns would be worked out as for rows
        if not cells.height:
            reading.add_faults(broken, Faults([]))
            continue
        frame, faults = converter.convert(cells, reading)
        reading.add_faults(broken, faults)
        if frame.height:
            yield frame


def _plan(hints: FileHints, note: Callable[[str], None]) -> dict[str, CellParser]:
    """Return the parser of each column, in the order in which the faults of a row are reported."""

    def identified(text: str) -> str | None:
        tidy = values.parse_identity(text)
        if tidy is None or ":" in tidy:
            return tidy
        return f"id:{tidy}" if hints.source is None else name_identity(tidy, hints.source)

    name, identity = CellParser(values.parse_name), CellParser(identified)
    fide = CellParser(values.parse_fide_id, quick=accept_fide_ids)
    rating = CellParser(values.parse_rating, pl.Int32, accept_whole(1, MAX_RATING))
    instant = CellParser(partial(values.parse_instant, order=hints.dates), quick=accept_instants)
    flag = CellParser(values.parse_flag, pl.Boolean)
    plan: dict[str, CellParser] = {}
    for side in ("white", "black"):
        plan |= {side: name, f"{side}_id": identity, f"{side}_fide_id": fide}
    return plan | {
        "result": CellParser(partial(read_result, results=hints.results, note=note)),
        "termination": CellParser(values.parse_termination),
        "ended_by_checkmate": flag,
        "stalemate": flag,
        "insufficient_material": flag,
        "half_moves": CellParser(values.parse_half_moves, pl.Int32, accept_whole(0, MAX_HALF_MOVES)),
        "started_at": instant,
        "ended_at": instant,
        "tournament": CellParser(values.parse_tournament),
        "round": CellParser(values.parse_round),
        "sequence": CellParser(values.parse_sequence, pl.Int64),
        "rated": flag,
        "white_rating": rating,
        "black_rating": rating,
        "speed": CellParser(values.parse_fide_speed if hints.by_fide else values.parse_speed),
        "time_control": CellParser(
            partial(
                values.parse_fide_control,
                is_certain=hints.source is not None,
                is_needed=hints.pool_class is None or hints.is_pool_named,
            )
            if hints.by_fide
            else values.parse_time_control
        ),
        "time_increment": CellParser(values.parse_fide_minutes if hints.by_fide else values.parse_minutes_control),
        "variant": CellParser(values.parse_variant),
    }


def _is(column: ParsedColumn, word: str) -> Series:
    """Return the rows whose column says *word*."""
    return (column.values == word).fill_null(value=False)


def _sums(cells: DataFrame, results: ParsedColumn) -> Series:
    """Return rows of sums below a table: no day, no player on one side, and a number that is no result there."""
    # A number that could be one, such as 1, is a sum if both players are missing.
    # The last column is the number of the line, which every row has.
    said = {column: pl.col(column).str.strip_chars().str.len_bytes().fill_null(0) > 0 for column in cells.columns[:-1]}

    def nothing(*names: str) -> Expr:
        return ~pl.any_horizontal(pl.lit(value=False), *(said[name] for name in names if name in said))

    # such as 12½ or 57 %: points of all games together, or White's share of them
    number = cells["result"].str.contains(r"^\s*[0-9]+(?:[.,][0-9]+)*½?\s*%?\s*$").fill_null(value=False)
    white, black = (nothing(side, f"{side}_id", f"{side}_fide_id") for side in ("white", "black"))
    sides = pl.when(results.bad_rows().fill_null(value=False)).then(white | black).otherwise(white & black)
    sums: Series = cells.select((nothing("ended_at", "started_at") & sides & number).alias("sums"))["sums"]
    return sums


def _count(reading: Reading, table: DataFrame, cells: DataFrame, unfinished: Series, both_forfeited: Series) -> None:
    """Count the rows that are left out. Below a table there are sums and rows of dividers only."""
    nameless = unfinished & (table["white_id"].is_null() | table["black_id"].is_null())
    empty = nameless
    if nameless.any():
        said = pl.any_horizontal(pl.exclude("line").str.strip_chars().str.len_bytes().fill_null(0) > 0)
        empty = nameless & ~cells.select(said.alias("said"))["said"]
    for reason, mask in (
        ("unfinished", unfinished & ~nameless),
        ("rows without a game", nameless & ~empty),
        ("both forfeited", both_forfeited),
    ):
        if count := int(mask.sum()):
            reading.skipped[reason] += count


@lru_cache(maxsize=1024)
def _winner(text: str | None) -> str | None:
    """Return the winner by a result of the usual spelling; None for a draw, no result, or a word of the file's own."""
    try:
        result = values.parse_result((text or "")[:40])
    except ValueError:
        return None
    return result.removeprefix("+") if result else None


@lru_cache(maxsize=1024)
def _is_word_of_bye(text: str | None) -> bool:
    """Return whether a cell of the column of results names a bye."""
    word = (text or "").strip().casefold()
    return word in LETTERS_OF_BYES or (any(map(str.isalpha, word)) and means_no_opponent(word, perhaps=True))


class _Converter:
    """Puts the fields of a file's rows together; caches the meanings of values from block to block."""

    def __init__(self, layout: RowLayout, hints: FileHints, note: Callable[[str], None]) -> None:
        self._labels = layout.labels
        self._columns_present = frozenset(layout.places)
        self._prefix = hints.source or "csv"
        self._namespace = hints.source
        self._people: set[str] = set()  # names that mean a person
        self._repeats = RepeatCounter()
        self._equal_rows = None if hints.equal_rows else EqualRows()
        self._named = CellParser(lambda name: name_identity(name, hints.source))
        self._plan = _plan(hints, note)
        # Several columns share a meaning, and in a set each counts once against what may be remembered.
        self._parsers = {self._named, *self._plan.values()}

    def convert(self, cells: DataFrame, reading: Reading) -> tuple[DataFrame, Faults]:
        """Return the good games of a block, and the faults of others; games left out are counted in *reading*."""
        limit_caches(self._parsers)
        cells, wrong_byes = self._without_byes(cells, reading)
        columns = self._columns(cells)
        table = self._table(cells, columns)
        results = columns["result"]
        unfinished = results.text.is_null() | _is(results, values.UNFINISHED)
        if "termination" in columns:
            unfinished |= _is(columns["termination"], values.UNTERMINATED)
        # A sum has no day, so a block in which every row has one is spared the look.
        if table["ended_at"].null_count():
            unfinished |= _sums(cells, results)
        both_forfeited = _is(results, values.BOTH_FORFEITED) & ~unfinished
        left_out = unfinished | both_forfeited
        if left_out.any():
            _count(reading, table, cells, unfinished, both_forfeited)
        bad, faults = check_rows(table["line"], self._complaints(table, columns), left_out)
        good = table.filter(~bad) if bad.any() else table
        equal: list[FileFault] = []
        if self._equal_rows is not None and not good["is_keyed"].all():
            keyed, others = good.filter("is_keyed"), good.filter(~pl.col("is_keyed"))
            others, equal = self._equal_rows.drop_repeats(others)
            good = pl.concat([keyed, others]).sort("line") if len(keyed) else others
        games = good.select(pl.col(name).cast(kind) for name, kind in frame_schema().items())
        return games, Faults([*faults.first, *wrong_byes.first, *equal], faults.more + wrong_byes.more)

    def _columns(self, cells: DataFrame) -> dict[str, ParsedColumn]:
        """Return the meanings of the columns of the file."""
        return {
            name: parser.parse_column(self._labels[name], cells[name])
            for name, parser in self._plan.items()
            if name in self._columns_present
        }

    def _without_byes(self, cells: DataFrame, reading: Reading) -> tuple[DataFrame, Faults]:
        """Return the rows without byes, which go to *reading*, and the faults of the byes."""
        without_player = {side: self._has_no_player(cells, side) for side in ("white", "black")}
        if not any(mask.any() for mask in without_player.values()):
            return cells, Faults([])
        neither = without_player["white"] & without_player["black"]
        if count := int(neither.sum()):
            reading.skipped["rows without a game"] += count
        first: list[FileFault] = []
        more = 0
        for side, other in (("white", "black"), ("black", "white")):
            rows = cells.filter(without_player[other] & ~neither)
            if len(rows):
                faults = self._take_byes(rows, side, other, reading)
                first += faults.first
                more += faults.more
        return cells.filter(~(without_player["white"] | without_player["black"])), Faults(first, more)

    def _has_no_player(self, cells: DataFrame, side: str) -> Series:
        """Return rows where the name of a side means no player, and no value speaks of a person."""
        if side not in self._columns_present:
            return pl.Series([False]).new_from_index(0, cells.height)
        # The names of a site are those of its users.
        surely, perhaps = self._words_for_no_player(cells[side])
        if not perhaps and not any(map(_is_word_of_bye, cells["result"].unique())):
            return pl.Series([False]).new_from_index(0, cells.height)
        # An id of zeros alone is how programs write that there is none; so is such a rating, and 0 moves are none.
        unnumbered, unplayed = (
            pl.all_horizontal(
                pl.lit(value=True),
                *(
                    pl.col(name).str.strip_chars(" 0?-").str.len_bytes().fill_null(0) == 0
                    for name in names
                    if name in self._columns_present
                ),
            )
            for names in ((f"{side}_id", f"{side}_fide_id"), (f"{side}_rating", "half_moves"))
        )
        lost = pl.Series([_winner(text) != side for text in cells["result"].to_list()], dtype=pl.Boolean)
        word = pl.col(side).is_in(surely) | (pl.col(side).is_in(perhaps) & lost & unplayed)
        unnamed = pl.col(side).str.strip_chars().str.len_bytes().fill_null(0) == 0
        # an empty cell next to a result such as "bye"
        word = word.fill_null(value=False) | (unnamed & pl.Series([_is_word_of_bye(r) for r in cells["result"]]))
        mask: Series = cells.select((word & unnumbered).alias("m"))["m"]
        return mask

    def _words_for_no_player(self, names: Series) -> tuple[list[str], list[str]]:
        """Return the names of a column that mean no player, surely and perhaps."""
        if len(self._people) > MOST_PEOPLE:
            self._people.clear()
        new = {*names.unique().drop_nulls().to_list()} - self._people
        perhaps = [name for name in new if means_no_opponent(name, perhaps=self._namespace is None)]
        surely = [name for name in perhaps if means_no_opponent(name)]
        self._people |= new.difference(perhaps)
        return surely, perhaps

    def _take_byes(self, cells: DataFrame, side: str, other: str, reading: Reading) -> Faults:
        """Note the byes of the rows in which the player of *side* has no opponent."""
        words_for_no_player = dict(zip(cells["line"], cells[other], strict=True))
        # The word for no opponent is no name: no identity may be made of it.
        columns = self._columns(cells.with_columns(pl.lit(None, pl.String).alias(other)))
        table = self._table(cells, columns)
        # the word for no opponent may be in the place of a result, too
        empty = columns["result"].text.is_in(["-", "–", "—"])
        empty |= pl.Series([_is_word_of_bye(text) for text in columns["result"].text.to_list()], dtype=pl.Boolean)
        faults: dict[int, str] = {}
        place_fields = {"tournament", "round", "ended_at", "started_at", side, f"{side}_id", f"{side}_fide_id"}
        for name in (*sorted(place_fields & self._columns_present), "result"):
            column = columns[name]
            bad = column.bad_rows().fill_null(value=False) & (~empty if name == "result" else True)
            for line, text in zip(table["line"].filter(bad), column.text.filter(bad), strict=True):
                faults.setdefault(line, column.fault(text))
        rows = table.select("line", f"{side}_id", f"{side}_name", "tournament", "round", "ended_at", "speed", "variant")
        results = zip(columns["result"].values, columns["result"].text, strict=True)
        for (line, *row), (result, text) in zip(rows.iter_rows(), results, strict=True):
            identity, name, tournament, number, ended_at, speed, variant = row
            if line in faults:
                continue
            if identity is None or ended_at is None:
                what = f"{side} is missing beside a bye" if identity is None else "the date of the bye is missing"
                faults[line] = f"{what}; fill it in"
                continue
            reading.note(line, bye_note(words_for_no_player[line], name, number))
            if tournament is None:
                reading.skipped[OF_NO_TOURNAMENT] += 1
            else:
                word = values.normalize_result(text or "")
                # a single number: an absent opponent scores nothing; but "black" names the side that won, as 0-1 does
                is_own = "-" not in word and word not in _SIDES
                outcome = (result or "").removeprefix("+")
                worth = stated_bye(text) or stated_bye(words_for_no_player[line]) or Brings.ZERO
                if outcome in _OUTCOMES:
                    worth = bye_value(outcome, is_white=is_own or side == "white")
                place = (tournament, ended_at[:10], round_number(number))
                reading.add_round(SourceRound(line, identity, name, *place, worth, None, speed, variant))
        kept = [FileFault(line, words) for line, words in sorted(faults.items())[:KEPT_FAULTS]]
        return Faults(kept, len(faults) - len(kept))

    def _table(self, cells: DataFrame, columns: Mapping[str, ParsedColumn]) -> DataFrame:
        """Return the columns of a frame of source games; the value of a bad text is null."""
        read = {name: column.values.alias(name) for name, column in columns.items()}
        for side in ("white", "black"):
            if side in read:
                read[f"{side}_named"] = self._named.parse_column("", read[side]).values.alias(f"{side}_named")
            if f"{side}_id" in read:
                read[f"{side}_spaced"] = cells[f"{side}_id"].str.contains(":", literal=True).alias(f"{side}_spaced")
        expressions = [
            *values.other_columns(self._columns_present),
            *values.player_columns("white", self._columns_present),
            *values.player_columns("black", self._columns_present),
        ]
        table = pl.DataFrame([cells["line"], *read.values()]).select(
            "line", *expressions, pl.lit(None, pl.String).alias("text")
        )
        return table.with_columns(*self._numbered(table, cells), *self._keys(table, cells))

    def _numbered(self, table: DataFrame, cells: DataFrame) -> list[Expr]:
        """Return the sequence within a day of games with numbers in a column ``n``, as numbers and not as texts."""
        if not _NUMBERS.fullmatch(self._labels.get("key", "")):
            return []
        number = cells["key"].str.strip_chars().str.extract(r"^([0-9]{1,15})$").cast(pl.Int64)
        return [pl.coalesce(table["sequence"], number.replace(0, None)).alias("sequence")]

    def _keys(self, table: DataFrame, cells: DataFrame) -> tuple[Series, Series, Series]:
        """Return the keys, made of the game's facts if the file has none; which are made; which the file has."""
        # A key that an earlier release made, and that a table written by it gives, is made.
        keys = pl.Series("key", [None], pl.String).new_from_index(0, table.height)
        if "key" in self._columns_present:
            text = pl.col("key").str.strip_chars()
            spaced = text.str.contains(":", literal=True)
            whole = pl.when(spaced).then(text).otherwise(pl.lit(f"{self._prefix}:") + text)
            keys = cells.select(pl.when(text != "").then(whole).alias("key")).to_series()
            older = cells.select(text.str.contains(f"^{OUR_PLAIN_KEY}$").fill_null(value=False)).to_series()
        missing = keys.is_null()
        is_made = (missing if "key" not in self._columns_present else missing | older).alias("is_made")
        is_keyed = (~missing).alias("is_keyed")
        if not missing.any():
            return keys, is_made, is_keyed
        parts = [pl.col(name).fill_null("") for name in ("ended_at", "tournament", "round", "white_id", "black_id")]
        same = table.filter(missing).select(pl.concat_str(parts, separator="\x1f")).to_series()
        # Bad rows and games left out are numbered too, so that repairing one never moves the key of another.
        numbers = pl.Series(self._repeats.count(same.hash().to_numpy()))
        texts = pl.select(pl.concat_str(pl.lit(same), pl.lit(numbers), separator="\x1f")).to_series()
        made = (plain_key(self._prefix, text) for text in texts.to_list())
        keys = pl.Series("key", [next(made) if key is None else key for key in keys.to_list()], pl.String)
        return keys, is_made, is_keyed

    def _complaints(self, table: DataFrame, columns: Mapping[str, ParsedColumn]) -> Iterator[RowCheck]:
        """Yield the possible faults of rows: which rows, the text to show, and the words."""
        faulty = {name: column.bad_rows() for name, column in columns.items() if column.bad}
        for name, mask in faulty.items():
            yield mask.fill_null(value=False), columns[name].text, columns[name].fault
        for side in ("white", "black"):
            yield self._missing(table, faulty, f"{side}_id", (side, f"{side}_id", f"{side}_fide_id"), side)
        yield self._missing(table, faulty, "ended_at", ("ended_at", "started_at"), "the date of the game")
        for wrong, shown, words in values.contradiction_checks(self._columns_present):
            rows = table.select(wrong.fill_null(value=False).alias("wrong"), shown.alias("shown"))
            yield rows["wrong"], rows["shown"], words.format
        odd = ~table["key"].str.contains(f"^{KEY_PATTERN}$")
        label = self._labels.get("key", "key")
        yield (
            odd,
            table["key"],
            lambda key: f"{label} must give a key matching {KEY_PATTERN}; got {key[:120]!r}",
        )

    def _missing(
        self, table: DataFrame, faulty: Mapping[str, Series], name: str, sources: tuple[str, ...], what: str
    ) -> RowCheck:
        """Return rows without a value of *name*; a bad text has its own fault already."""
        mask = table[name].is_null()
        for source in sources:
            if source in faulty:
                mask &= ~faulty[source].fill_null(value=False)
        labels = " or ".join(self._labels[source] for source in sources if source in self._labels)
        return mask, table["text"], lambda _: f"{what} is missing; fill in {labels}"
