"""The page of a list's calculation: its tables, from which text, HTML and rows for a spreadsheet are made.

Numbers are printed as federations print them: ratings as they are, FIDE's expected scores with two decimals, changes
with as many as they have. Games that are rated one by one share a table.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from ledger.answers.calculations import FormulaTerm
from ledger.answers.crosstables.formats import html_document
from ledger.answers.list_calculations import CalculatedBatch, CalculatedLine, CalculatedTournament, ListCalculation
from ledger.answers.rows import as_row
from ledger.answers.starting_ratings import StartFromPool
from ledger.runtime.lazy import tabulate
from ledger.runtime.visible import in_markup, visible

_OF_A_GAME = re.compile(r"[^\d]+_?\d+")  # symbols of terms that each game has: x17, R17
_SCORES = {0.0: "0", 0.5: "½", 1.0: "1"}


class PageTable(NamedTuple):
    """A table of the page: its heads with a mark for columns of numbers, and its cells as text."""

    caption: str
    heads: tuple[tuple[str, bool], ...]
    rows: list[list[str]]


class PageBlock(NamedTuple):
    """A part of the page: a heading, sentences, and tables."""

    heading: str
    lines: list[str]
    tables: list[PageTable]


class CalculationPage(NamedTuple):
    """The page of a calculation."""

    title: str
    summary: list[str]
    blocks: list[PageBlock]


def calculation_page(calculation: ListCalculation) -> CalculationPage:
    """Return the page of a calculation."""
    place = f"list {calculation.list_}" if calculation.list_ else f"list in force on {calculation.as_of}"
    before, after = rating_text(calculation.rating_before), rating_text(calculation.rating)
    summary = [f"pool {calculation.pool}: {before} before, {after} on this list"]
    if calculation.change is not None:
        summary[0] += f" ({signed_text(calculation.change)})"
    if calculation.since is not None:
        summary.append(f"games whose ratings came into force after {calculation.since}")
    if calculation.otherwise:
        summary.append(f"{signed_text(calculation.otherwise)} not from games: time, a conversion, another list")
    if calculation.omitted:
        summary.append(f"older parts that are not shown: {calculation.omitted}")
    summary += _verdict(calculation)
    blocks = list(_blocks(calculation.batches))
    if calculation.left_out:
        blocks.append(_left_out(calculation))
    return CalculationPage(f"{calculation.name}: calculation of the {place}", summary, blocks)


def _verdict(calculation: ListCalculation) -> list[str]:
    if calculation.adds_up is False:
        return ["it does not add up:", *calculation.differences]
    if calculation.adds_up is None:
        verdict = "the scheme does not say what each game adds: the formula of all of them is shown"
    elif calculation.batches:
        verdict = "the games add up to the stored rating"
    else:
        verdict = "no game counts for it"
    return [verdict, *(f"corrected since the list was published: {each}" for each in calculation.differences)]


def _blocks(batches: Sequence[CalculatedBatch]) -> Iterator[PageBlock]:
    """Yield a block for each period or event, and one for games on end that were rated one by one."""
    for (by_game, scheme), together in groupby(batches, key=lambda each: (each.rated_with == "this game", each.scheme)):
        if by_game:
            yield _block_of_games(scheme, list(together))
        else:
            yield from map(_block, together)


def _block(batch: CalculatedBatch) -> PageBlock:
    span = f"{rating_text(batch.before)} → {rating_text(batch.after)}"
    change = "" if batch.change is None else f" ({signed_text(batch.change)})"
    day = "a period that has not closed" if batch.as_of is None else batch.as_of
    tables = [_tournament_table(each) for each in batch.tournaments]
    if batch.steps:
        tables.append(_terms_table("steps", batch.steps))
    # What each game has is in its line.
    terms = [term for term in batch.terms if not (batch.sums and _OF_A_GAME.fullmatch(term.symbol))]
    tables.append(_terms_table("terms", terms))
    if batch.sums:
        rows = [
            [each.symbol, each.meaning, number_text(each.brought), number_text(each.games), number_text(each.total)]
            for each in batch.sums
        ]
        heads = (("sum", False), ("meaning", False), ("brought", True), ("these games", True), ("total", True))
        tables.append(PageTable("sums", heads, rows))
    lines = [f"{batch.rule} = {number_text(batch.unrounded)}", f"rounding: {batch.rounding}", f"source: {batch.source}"]
    if batch.limited:
        lines.insert(1, f"limit: {batch.limited}")
    if batch.began_with is not None:
        lines.insert(0, _began(batch.began_with))
    if not batch.tournaments:
        lines.insert(0, "no game counts")
    return PageBlock(f"{day}, {batch.scheme}: {span}{change}", lines, tables)


def _tournament_table(each: CalculatedTournament) -> PageTable:
    """Return the table of a tournament: a row for each opponent, and the sums."""
    caption = each.tournament or "games without a tournament"
    if each.began:
        caption += f", began {each.began}"
    lines = each.lines
    # Elsewhere than under a K the factor is no number that anybody would look up.
    has_k = each.factor is not None and all(_is_by_k(line) for line in lines)
    facts = [f"Ro {rating_text(each.own_rating)}"] + ([f"K {each.factor:.6g}"] if has_k else [])
    columns: list[tuple[str, bool, list[str], str]] = [
        ("round", False, [line.round or line.ended_at[:10] for line in lines], ""),
        ("opponent", False, [line.opponent for line in lines], f"{each.games} in all"),
        ("Rc", True, [rating_text(line.opponent_rating) for line in lines], rating_text(each.average_rating)),
    ]
    if any(line.limit for line in lines):
        columns.append(("counts as", True, [_counted_text(each, line) for line in lines], ""))
    columns.append(("W", True, [_SCORES[line.score] for line in lines], f"{each.score:g}"))
    if any(line.weight != 1.0 for line in lines):
        columns.append(("weight", True, [f"{line.weight:g}" for line in lines], ""))
    for head, column, sum_ in (
        ("We", "expected", each.expected),
        ("W-We", "gain", each.gain),
        ("K·change" if has_k else "change", "change", each.change),
        ("worth", "worth", None),
    ):
        values = [getattr(line, column) for line in lines]
        if any(value is not None for value in values):
            # at least one decimal of a change, two of an expected score
            shown = decimals_text([*values, sum_], 1 if column in {"change", "worth"} else 2)
            columns.append((head, True, shown[:-1], shown[-1]))
    for head, texts in (("rule", [line.limit or "" for line in lines]), ("more", [line.words or "" for line in lines])):
        if any(texts):
            columns.append((head, False, texts, ""))
    rows = [[texts[place] for _, _, texts, _ in columns] for place in range(len(lines))]
    rows.append([sum_ for *_, sum_ in columns])
    return PageTable(
        f"{caption}: {', '.join(facts)}", tuple((head, is_number) for head, is_number, *_ in columns), rows
    )


def _is_by_k(line: CalculatedLine) -> bool:
    """Return whether the change is the weighed gain times the factor."""
    if line.change is None or line.gain is None or line.factor is None:
        return False
    return abs(line.change - line.weight * line.factor * line.gain) < 1e-6


def _counted_text(each: CalculatedTournament, line: CalculatedLine) -> str:
    """Return the rating with which a limited opponent counts, with FIDE's asterisk."""
    if not line.limit:
        return ""
    return "*" if line.difference is None else f"{rating_text((each.own_rating or 0.0) - line.difference)} *"


def _began(start: StartFromPool) -> str:
    """Return the rating in another pool with which the player began, in words."""
    return f"began with the {start.pool} rating {rating_text(start.rating)}" + (
        f" of list {start.list_}" if start.list_ else ""
    )


def _block_of_games(scheme: str, batches: Sequence[CalculatedBatch]) -> PageBlock:
    """Return the block of games that were rated one by one."""
    heads = (
        ("ended", False), ("opponent", False), ("Rc", True), ("W", True), ("before", True), ("after", True),
        ("change", True), ("terms", False),
    )  # fmt: skip
    rows = []
    for batch in batches:
        (line,) = batch.tournaments[0].lines
        terms = ", ".join(f"{term.symbol} {number_text(term.value)}" for term in batch.terms)
        row = [line.ended_at[:10], line.opponent, rating_text(line.opponent_rating), _SCORES[line.score]]
        row += [rating_text(batch.before), rating_text(batch.after)]
        row += ["" if batch.change is None else signed_text(batch.change), terms]
        rows.append(row)
    rules = list(dict.fromkeys(batch.rule for batch in batches))
    meanings = {term.symbol: term.meaning for batch in batches for term in batch.terms}
    lines = [*rules, *(f"{symbol}: {meaning}" for symbol, meaning in meanings.items())]
    lines += dict.fromkeys(f"source: {batch.source}" for batch in batches)
    lines += [_began(batch.began_with) for batch in batches if batch.began_with is not None]
    return PageBlock(f"games rated one by one by {scheme}: {len(batches)}", lines, [PageTable("games", heads, rows)])


def _terms_table(caption: str, terms: Iterable[FormulaTerm]) -> PageTable:
    heads = (("term" if caption == "terms" else "step", False), ("value", True), ("meaning", False))
    return PageTable(caption, heads, [[term.symbol, number_text(term.value), term.meaning] for term in terms])


def _left_out(calculation: ListCalculation) -> PageBlock:
    heads = (("ended", False), ("opponent", False), ("tournament", False), ("round", False), ("reason", False))
    rows = []
    for game in calculation.left_out:
        reason = game.reason if game.voided_by is None else f"{game.reason} by proposal {game.voided_by}"
        reason += f": {game.why}" if game.why else ""
        rows.append([game.ended_at[:10], game.opponent, game.tournament or "", game.round or "", reason])
    return PageBlock("Games that do not count", [], [PageTable("games left out", heads, rows)])


# -- numbers ---------------------------------------------------------------------------------------------------------


def rating_text(rating: float | None) -> str:
    """Return a rating as lists print it: whole, or with two decimals; ``unrated`` if there is none."""
    if rating is None:
        return "unrated"
    return f"{rating:.0f}" if float(rating).is_integer() else f"{rating:.2f}"


def signed_text(change: float) -> str:
    """Return a change with its sign: whole, or with two decimals."""
    return f"{change:+.0f}" if float(change).is_integer() else f"{change:+.2f}"


def number_text(value: float) -> str:
    """Return a number with at most six decimals."""
    text = f"{value:.6f}".rstrip("0").rstrip(".") if abs(value) < 1e15 else f"{value:g}"
    return "0" if text == "-0" else text


def decimals_text(values: Sequence[float | None], least: int) -> list[str]:
    """Return the numbers of a column with equal decimals: *least*, two if all have at most two, else four."""
    numbers = [value for value in values if value is not None]

    def fits(places: int) -> bool:
        return all(abs(value - round(value, places)) < 1e-9 for value in numbers)

    places = next((places for places in (least, 2) if fits(places)), 4)
    return ["" if value is None else f"{value + 0.0:.{places}f}" for value in values]


# -- forms -----------------------------------------------------------------------------------------------------------


def as_text(page: CalculationPage) -> str:
    """Return the page as text, with names on one line and hidden characters shown; no line feed at the end."""
    lines = [visible(page.title), *map(visible, page.summary)]
    for block in page.blocks:
        lines += ["", visible(block.heading), *(f"  {visible(line)}" for line in block.lines)]
        for table in block.tables:
            heads = [head for head, _ in table.heads]
            align = ["right" if is_number else "left" for _, is_number in table.heads]
            cells = [[visible(cell) for cell in row] for row in table.rows]
            # Left to itself, tabulate takes names that look like numbers for numbers, and rewrites them.
            drawn = tabulate.tabulate(cells, headers=heads, colalign=align, disable_numparse=True)
            lines += ["", visible(table.caption), *drawn.split("\n")]
    return "\n".join(line.rstrip() for line in lines)


def as_html(page: CalculationPage) -> str:
    """Return the page as a complete HTML document; every text in it is escaped."""
    parts = [f"<h1>{in_markup(page.title)}</h1>", *(f"<p>{in_markup(line)}</p>" for line in page.summary)]
    for block in page.blocks:
        parts.append(f"<h2>{in_markup(block.heading)}</h2>")
        parts += [f"<p>{in_markup(line)}</p>" for line in block.lines]
        parts += map(_html_table, block.tables)
    return html_document(page.title, parts)


def _html_table(table: PageTable) -> str:
    aligned = ["" if is_number else ' class="left"' for _, is_number in table.heads]
    pairs = zip(table.heads, aligned, strict=True)
    heads = "".join(f'<th scope="col"{align}>{in_markup(head)}</th>' for (head, _), align in pairs)
    rows = "".join(
        "<tr>"
        + "".join(f"<td{align}>{in_markup(cell)}</td>" for cell, align in zip(row, aligned, strict=True))
        + "</tr>\n"
        for row in table.rows
    )
    caption = in_markup(table.caption)
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{caption}"><table><caption><small>{caption}'
        f"</small></caption><thead><tr>{heads}</tr></thead><tbody>\n{rows}</tbody></table></div>"
    )


def spreadsheet_rows(calculation: ListCalculation) -> list[dict[str, Any]]:
    """Return a row for each game that counts, then for each that does not, all with the same columns.

    Games that count have the numbers of their period and tournament with them.
    """
    head = {
        "player": calculation.player,
        "name": calculation.name,
        "pool": calculation.pool,
        "list": calculation.list_,
        "list_of": calculation.as_of,
    }
    rows = []
    for batch in calculation.batches:
        of_batch = {name: getattr(batch, name) for name in ("as_of", "scheme", "before", "after")}
        of_batch["period_change"] = batch.change
        for each in batch.tournaments:
            facts = {**head, "part": "game", **of_batch}
            facts |= {name: getattr(each, name) for name in ("tournament", "began", "own_rating")}
            rows += [{**facts, **as_row(line)} for line in each.lines]
    rows += [{**head, "part": "left out", **as_row(game)} for game in calculation.left_out]
    columns = dict.fromkeys(name for row in rows for name in row)
    return [{**columns, **row} for row in rows]
