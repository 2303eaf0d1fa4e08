"""The layout of a printed cross-table: a caption, columns, cells with their mouse-over texts, notes.

Text, HTML and SVG are drawn from it. Everything is made from the page alone. Texts are as they are recorded: each
format makes them harmless.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ledger.answers.asking import format_average
from ledger.answers.crosstables.crosstable_data import Crosstable, CrossTableRow, EventResult, Meeting
from ledger.answers.graphs.wording import format_rating

Cells = list["TableCell"]
BYE_WORDS = {
    "half": "half-point bye",
    "full": "full-point bye",
    "allotted": "bye for want of an opponent",
    "zero": "bye without a point",
    "absent": "absent",
}
MOST_PAIRS_LISTED = 10  # of those with games to play, and of those with more than the others
MOST_ROUND_COLUMNS = 30  # columns; where there are more, the results are only counted
RESULT_BY_MARK = {"1": "win", "½": "draw", "0": "loss", "+": "win", "=": "draw", "-": "loss", "*": "open"}


class TableColumn(NamedTuple):
    """A column of the laid out table: its heading, the heading's meaning, and the alignment of its cells."""

    head: str
    title: str
    align: str = "right"
    is_result: bool = False


class TableCell(NamedTuple):
    """A cell of the laid out table: its text, its mouse-over text line by line, and its kind.

    ``kind`` is ``win``, ``draw``, ``loss``, ``open`` or ``several`` of results, ``self`` on the diagonal, ``upset`` of
    a count of upsets, ``name`` of the player; else empty.
    """

    text: str
    title: tuple[str, ...] = ()
    kind: str = ""


class TableLayout(NamedTuple):
    """The laid out cross-table: caption, columns and rows, lists of rounds, notes.

    Attributes:
        summary: a few words below the caption.
        blocks: further lists with a title, such as the rounds of a knock-out.
        notes: explanations below the table.
    """

    caption: str
    summary: tuple[str, ...]
    columns: tuple[TableColumn, ...]
    rows: tuple[Cells, ...]
    blocks: tuple[tuple[str, tuple[str, ...]], ...]
    notes: tuple[str, ...]


def lay_out_table(page: Crosstable) -> TableLayout:
    """Lay out the data of a cross-table as a caption, columns, rows and notes."""
    results, cells_of = _result_columns(page)
    is_shared = any(standing.first_place != standing.last_place for standing in page.standings)
    columns = [
        *([TableColumn("", "row")] if is_shared else []),
        TableColumn("place" if is_shared else "", "place; shared by all who are level"),
        TableColumn("player", "name", "left"),
        TableColumn("rating", "enrolment rating: in force when the tournament began, points"),
        *results,
        TableColumn("points", "points scored in the games that the ledger has"),
        *(
            TableColumn(column.short, f"{column.title} ({column.source})" + ("; decides" if column.decides else ""))
            for column in page.tie_breaks
        ),
        TableColumn("Rc", "mean enrolment rating of the opponents met, points"),
        TableColumn("TPR", f"{page.performance.variant}: {page.performance.title} ({page.performance.source})"),
        TableColumn("ER %", page.performance.offset),
        TableColumn("upsets", "wins against players rated higher by the margin then in force, or more"),
    ]
    rows = tuple(
        [*([TableCell(str(standing.number))] if is_shared else []), *_row(page, standing, cells_of(standing))]
        for standing in page.standings
    )
    edition = page.edition
    days = edition.first_day if edition.first_day == edition.last_day else f"{edition.first_day} to {edition.last_day}"
    return TableLayout(
        f"{page.tournament}, {days}", _summary(page), tuple(columns), rows, tuple(_rounds_of(page)), tuple(_notes(page))
    )


def format_points(points: float) -> str:
    """Return points as chess players write them: ``7½``."""
    whole, rest = divmod(points, 1)
    return f"{whole:.0f}" if not rest else f"{points:g}" if rest != 0.5 else f"{whole:.0f}½" if whole else "½"


def format_percent(value: float | None) -> str:
    """Return a percentage with its sign."""
    # What rounds to minus zero would be shown as -0.0: ``or`` puts the other zero in its place.
    return "-" if value is None else f"{round(value, 1) or 0.0:+.1f}"


def _summary(page: Crosstable) -> tuple[str, ...]:
    named = page.format.replace("-", " ") if page.format != "other" else "of no kind that can be seen"
    often = {2: ", double round", 3: ", triple round"}.get(page.meetings or 1) or (
        f", each pair {page.meetings} times" if (page.meetings or 1) > 3 else ""
    )
    is_seen = " as its games look" if page.format_is == "seen" and page.format != "other" else ""
    whose = "the ledger's ratings" if page.ratings == "ledger" else "ratings that the source shows"
    mean = f", average rating {format_average(page.average_rating)}" if page.average_rating is not None else ""
    return (
        f"{named}{often}{is_seen}; {page.players} players, {page.games} {'game' if page.games == 1 else 'games'}{mean}",
        f"pool {page.pool}, {whose}; TPR: {page.performance.variant} ({page.performance.source}); "
        f"as of entry {page.position:,}",
    )


def _notes(page: Crosstable) -> list[str]:
    notes = [f"Missing: {what}." for what in page.missing]
    notes += [
        f"{' - '.join(pair.names)}: {pair.games} {'game' if pair.games == 1 else 'games'} to play"
        for pair in page.missing_games[:MOST_PAIRS_LISTED]
    ]
    if len(page.missing_games) > MOST_PAIRS_LISTED:
        notes.append(f"and {len(page.missing_games) - MOST_PAIRS_LISTED} more pairs with games to play")
    notes += [
        f"{' - '.join(pair.names)}: {pair.games} more than the other pairs"
        for pair in page.extra_games[:MOST_PAIRS_LISTED]
    ]
    if len(page.extra_games) > MOST_PAIRS_LISTED:
        notes.append(f"and {len(page.extra_games) - MOST_PAIRS_LISTED} more pairs with more games than the others")
    if not any(tie_break.decides for tie_break in page.tie_breaks) and any(
        standing.first_place != standing.last_place for standing in page.standings
    ):
        level = "who is level on points; tie-breaks only order the rows"
        notes.append(f"Places are shared by {'who lost in the same round' if page.format == 'knockout' else level}.")
    if page.format in {"all-play-all", "match"} or not _rounds(page):  # else they are in their rounds
        bye_points = [(row.name, sum(bye.points for bye in row.byes)) for row in page.standings]
        words = [f"{name} {format_points(points)}" for name, points in bye_points if points]
        notes += [f"Points by byes: {', '.join(words)}."] if words else []
    if any(not result.counts for standing in page.standings for result in standing.results):
        notes.append("Games that are not rated count for the points, not for the TPR.")
    return notes


def _result_columns(page: Crosstable) -> tuple[list[TableColumn], Callable[[CrossTableRow], Cells]]:
    """Return the columns of the results, and the function that makes a player's cells of them."""
    if page.format in {"all-play-all", "match"}:
        columns = [TableColumn(str(row.number), row.name, "centre", is_result=True) for row in page.standings]
        return columns, lambda standing: _against_all(page, standing)
    rounds = _rounds(page)
    if rounds:
        columns = [TableColumn(head, f"round {head}", "centre", is_result=True) for head in rounds]
        return columns, lambda standing: _by_round(page, standing, rounds)
    counted = [TableColumn(word, f"games {word}") for word in ("won", "drawn", "lost")]
    return counted, lambda row: [TableCell(str(row.wins)), TableCell(str(row.draws)), TableCell(str(row.losses))]


def _rounds(page: Crosstable) -> list[str]:
    """Return the rounds of a tournament in which no player has two games in a round; none if there are too many."""
    numbers: set[int] = set()
    for standing in page.standings:
        counted = Counter([*map(_round, standing.results), *(bye.round or 0 for bye in standing.byes)])
        if not counted or 0 in counted or max(counted.values()) > 1:
            return []
        numbers |= set(counted)
    return [str(number) for number in range(1, max(numbers) + 1)] if 0 < len(numbers) <= MOST_ROUND_COLUMNS else []


def _round(result: EventResult) -> int:
    """Return the number of a round such as ``3`` or ``3.17``; 0 for none, or one that is too large to be one."""
    begin = (result.round or "").partition(".")[0]
    # Python calls ² a digit, too, of which ``int`` makes nothing.
    return int(begin) if begin.isascii() and begin.isdigit() and len(begin) <= 3 else 0


def _against_all(page: Crosstable, standing: CrossTableRow) -> Cells:
    """Yield the marks against each opponent; two games are two marks."""
    met = {meeting.opponent_player: meeting for meeting in standing.meetings}
    cells = []
    for other in page.standings:
        if other.player == standing.player:
            cells.append(TableCell("■", (standing.name,), "self"))
        elif other.player not in met:
            cells.append(TableCell("", (f"{standing.name} - {other.name}: no game",)))
        else:
            meeting = met[other.player]
            games = [result for result in standing.results if result.opponent_player == other.player]
            kinds = {RESULT_BY_MARK[result.mark] for result in games}
            title = (*_games_title(standing, games), _worth(page, meeting))
            cells.append(TableCell(meeting.marks, title, kinds.pop() if len(kinds) == 1 else "several"))
    return cells


def _by_round(page: Crosstable, standing: CrossTableRow, rounds: Sequence[str]) -> Cells:
    by_round = {_round(result): result for result in standing.results}
    byes = {bye.round: bye for bye in standing.byes}
    met = {meeting.opponent_player: meeting for meeting in standing.meetings}
    cells = []
    for head in rounds:
        result, bye = by_round.get(int(head)), byes.get(int(head))
        if bye is not None:
            cells.append(
                TableCell(
                    f"-{format_points(bye.points)}", (f"{standing.name}: {BYE_WORDS[bye.brings]} in round {head}",)
                )
            )
            continue
        if result is None:
            cells.append(TableCell("", (f"{standing.name}: no game in round {head}",)))
            continue
        title = (*_games_title(standing, [result]), _worth(page, met[result.opponent_player]))
        text = f"{result.opponent_number}{result.colour[0]}{result.mark}"
        cells.append(TableCell(text, title, RESULT_BY_MARK[result.mark]))
    return cells


def _games_title(standing: CrossTableRow, results: Sequence[EventResult]) -> list[str]:
    """Return a line a game: opponent, result, day, both ratings before and after, and an upset."""
    lines = []
    for result in results:
        when = f"round {result.round}, {result.ended_at[:10]}" if result.round else result.ended_at[:10]
        line = f"{standing.name} ({result.colour}) {result.mark} {result.opponent}; {when}"
        if result.closing_rating is not None:
            line += f"; {format_rating(result.rating_before)} to {format_rating(result.closing_rating)}, opponent "
            line += f"{format_rating(result.opponent_rating_before)} to {format_rating(result.opponent_closing_rating)}"
        if result.upset:
            line += f"; upset: {format_rating(result.surplus)} points higher, margin {result.margin}"
        if result.reason is not None:
            line += f"; not rated: {result.reason}"
        lines.append(line)
    return lines


def _worth(page: Crosstable, meeting: Meeting) -> str:
    """Return the worth of an opponent, from the player's view."""
    return (
        f"{meeting.opponent}: enrolment {format_rating(meeting.opponent_enrolment_rating)}, closing "
        f"{format_rating(meeting.opponent_closing_rating)}, performance {format_average(meeting.performance)} "
        f"({page.performance.variant}), ER offset {format_percent(meeting.er_offset)} %"
    )


def _row(page: Crosstable, standing: CrossTableRow, results: Cells) -> Cells:
    upsets = [result for result in standing.results if result.upset]
    why_not = (standing.performance_missing,) if standing.performance_missing else ()
    views = tuple(_worth(page, meeting) for meeting in standing.meetings)
    enrolment = format_rating(standing.enrolment_rating)
    about = f"enrolment rating {enrolment}, closing rating {format_rating(standing.closing_rating)}"
    made_of = f"{standing.wins} won, {standing.draws} drawn, {standing.losses} lost"
    if by_byes := sum(bye.points for bye in standing.byes):
        made_of += f", {format_points(by_byes)} by byes"
    return [
        TableCell(standing.place),
        TableCell(standing.name, (about,), "name"),
        TableCell(enrolment, (about,)),
        *results,
        TableCell(format_points(standing.points), (made_of,)),
        *(TableCell("-" if value is None else f"{value:g}") for value in standing.tie_breaks.values()),
        TableCell(format_average(standing.opponents_mean)),
        TableCell(format_average(standing.performance), (*why_not, *views)),
        TableCell(format_percent(standing.er_offset)),
        TableCell(
            str(len(upsets)) if upsets else "",
            tuple(line for result in upsets for line in _games_title(standing, [result])),
            "upset" if upsets else "",
        ),
    ]


def _rounds_of(page: Crosstable) -> list[tuple[str, tuple[str, ...]]]:
    """Return the rounds of a knock-out, each with its matches."""
    if page.format != "knockout":
        return []
    last = max((match.round for match in page.matches if not match.third_place), default=0)
    rounds: dict[str, list[str]] = {}
    for match in page.matches:
        title = (
            "Third place"
            if match.third_place
            else {0: "Final", 1: "Semi-finals"}.get(last - match.round, f"Round {match.round}")
        )
        first, second = match.names
        line = f"{first} - {second} {format_points(match.points[0])}:{format_points(match.points[1])}"
        if match.winner is None:
            line += " (who won is not in the ledger)"
        elif not match.by_points:
            line += f" ({first} played on)"
        rounds.setdefault(title, []).append(line)
    return [(title, tuple(lines)) for title, lines in rounds.items()]
