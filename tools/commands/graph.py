"""The command ``graph``: a player's rating graph in the terminal, as a picture, as a page, as data."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Set
from math import nan
from pathlib import Path
from urllib.parse import quote, urlsplit

import attrs
import click

from ledger.answers.documents import NO_PNG
from ledger.answers.graphs import career_documents, documents, html, json_form, png
from ledger.answers.graphs.documents import PICTURE_FORMATS, RatingGraph, render_page
from ledger.answers.graphs.graph_data import GAMES_PER_PAGE, Bar, BarOrder, Page
from ledger.answers.graphs.looks import Look, Theme
from ledger.answers.graphs.wording import format_rating
from ledger.answers.pools import pools
from ledger.errors import UnknownNameError
from ledger.runtime.visible import visible

from .. import output
from ..terminal_graph import ASCII, AXIS, CHANGE, CORRECTED, DRAWN, draw
from ..wording import counted
from . import AS_IF, AT_LEAST, DB, INTO, KNOWN_AT, POOL, VERIFY, format_of_name, instant, open_up_to_date

MARKS_BELOW_A_GRAPH = 20
FORMATS = ("txt", "svg", "png", "html", "json", "csv", "vega-lite", "lichess", "css")
# By the end of a file's name, the longer ones first.
ENDINGS: Mapping[str, str] = {
    ".lichess.json": "lichess", **documents.ENDINGS, ".csv": "csv", ".txt": "txt", ".css": "css"
}  # fmt: skip
THEMES = [theme.value for theme in Theme]
# The formats with which each option goes.
GOES_WITH: Mapping[str, Set[str]] = {
    "--last": {*FORMATS} - {"lichess", "css"},
    "--page": {*FORMATS} - {"lichess", "css"},
    "--by date": {*PICTURE_FORMATS, "json", "csv", "vega-lite"},
    "--against": {*PICTURE_FORMATS, "json", "csv", "vega-lite"},
    "--opponents": {*PICTURE_FORMATS, "vega-lite"},
    "--mono": {*PICTURE_FORMATS, "css"},
    "--theme": {*PICTURE_FORMATS, "css"},
    "--every-page": PICTURE_FORMATS,
    "--career": career_documents.FORMATS,
    "--every-pool": career_documents.FORMATS,
    "--since": career_documents.FORMATS,
    "--until": career_documents.FORMATS,
    "--style-sheet": {"svg", "html"},
    "--boards": {"html", "json", "csv", "svg"},
    "--no-boards": {"html"},
    "--raw": {"csv"},
}
OF_CAREER = ("--every-pool", "--since", "--until")
WITH_CAREER = ("--career", *OF_CAREER, "--theme")
_SITE = re.compile(r"[\w.:\[\]-]*")  # host and port of an address; empty where it has none


def _instant(_: click.Context, option: click.Parameter, text: str | None) -> str | None:
    return instant(text, option.opts[0])


@click.command()
@DB
@click.argument("player")
@POOL
@click.option("--last", metavar="N", type=click.IntRange(0), help="The last N games: 50, 100, 150, ...; 0 for all.")
@click.option("--page", "number", metavar="K", type=click.IntRange(1), help="Page K of 50 games; 1 is the newest.")
@click.option("--career", "is_career", is_flag=True, help="All games as one line, thinned so that its peaks stay.")
@click.option("--every-pool", is_flag=True, help="With --career: a line for each pool, such as rapid and blitz, too.")
@click.option("--since", metavar="DAY", callback=_instant, help="With --career: from that day, month or year on.")
@click.option("--until", metavar="DAY", callback=_instant, help="With --career: up to the end of that day or year.")
@click.option("--by", type=click.Choice(["game", "date"]), default="game", help="Bars side by side, or on their days.")
@click.option("--opponents", is_flag=True, help="The opponents' ratings as small squares on top.")
@click.option("--mono", is_flag=True, help="In black and white: patterns alone distinguish results.")
@click.option("--against", metavar="PLAYER", help="Another player's rating in the same time, as a line.")
@click.option("--theme", type=click.Choice(THEMES), help="For light or dark pages; auto: as the reader has it.")
@click.option(
    "--style-sheet",
    "sheet",
    metavar="ADDRESS",
    help="Take the look from there, for sites that allow no inline styles; --format css prints what it must hold.",
)
@click.option("--every-page", is_flag=True, help="Each page of 50 games in a file of its own.")
@click.option(
    "--boards/--no-boards", default=None, help="Each game's final position, from the moves kept; in html unless no."
)
@click.option("--format", "fmt", type=click.Choice(FORMATS), help="By default as FILE ends; txt without a file.")
@INTO
@click.option("--raw", is_flag=True, help="CSV without apostrophes before what a spreadsheet would run.")
@KNOWN_AT
@AS_IF
@AT_LEAST
@VERIFY
def graph(
    db_path: str,
    player: str,
    pool: str | None,
    last: int | None,
    number: int | None,
    is_career: bool,
    every_pool: bool,
    since: str | None,
    until: str | None,
    by: BarOrder,
    opponents: bool,
    mono: bool,
    against: str | None,
    theme: str | None,
    sheet: str | None,
    every_page: bool,
    boards: bool | None,
    fmt: str | None,
    file: Path | None,
    raw: bool,
    known_at: str | None,
    as_if: int | None,
    verify: bool,
) -> None:
    """A player's rating graph: in the terminal, or as svg, png, html, json, csv, vega-lite or lichess.

    There is a bar for each rated game, the newest at the left, after the rating now; its colour and pattern say win,
    draw, loss or loss on time, and it carries the game's details. Corrected games, published lists that said another
    number and changes of scheme are marked. svg, png and html show the last 100 games, the other formats all of them,
    unless --last or --page says otherwise. The terminal's graph begins with the oldest game.

    lichess is the whole rating history in the form that Lichess gives it, of all pools unless --pool chooses one;
    vega-lite a specification with its data. The form of json is schemas/exports/rating-graph-1.json. An html page shows
    the bars side by side or on their days, and each game's PGN. Sites that allow no inline styles give --style-sheet
    and put what css prints there. A file that is there is written over.

    --career draws the rating over all games as one line: svg, png, html or json. Of a list scheme it shows the ratings
    in force, from list to list. The highest rating, changes of scheme, tournaments with their change and published
    numbers that would be others now are marked. --since and --until choose a range, --every-pool adds the player's
    other pools. Its json is that of the server's /players/N/career.

    \b
    Example:
      rating-ledger graph club.db ann
      rating-ledger graph club.db ann --last 50 --opponents -o ann.svg
      rating-ledger graph club.db ann --by date --against bob -o ann-and-bob.html
      rating-ledger graph club.db ann --every-page -o ann.html
      rating-ledger graph club.db ann --career --since 2019 --every-pool -o career.png
      rating-ledger graph club.db ann --style-sheet graph.css -o ann.html
      rating-ledger graph club.db ann --format css -o graph.css
      rating-ledger graph club.db ann --format json | jq .player.highest
    """
    kind = fmt or format_of_name(file, ENDINGS, "txt")
    options = {
        "--last": last is not None, "--page": number is not None, "--by date": by == "date", "--opponents": opponents,
        "--mono": mono, "--theme": theme is not None, "--style-sheet": sheet is not None,
        "--against": against is not None, "--every-page": every_page, "--career": is_career,
        "--every-pool": every_pool, "--since": since is not None, "--until": until is not None,
        "--boards": boards is True, "--no-boards": boards is False, "--raw": raw,
    }  # fmt: skip
    _check(kind, options, file, last)
    _check_address(sheet or "")
    look = Look(opponents, mono, Theme(theme or Theme.AUTO), sheet)
    if kind == "css":
        _deliver(html.style_sheet(look).encode(), file)
        return
    with open_up_to_date(db_path, verify=verify, known_at=known_at, as_if=as_if) as ledger:
        with ledger.read_snapshot():
            person = ledger.player(player)
            if is_career:
                line = person.career(pool, since=since, until=until, every_pool=every_pool)
                _deliver(attrs.evolve(line, theme=look.theme).document(kind), file)
                return
            beside = None if against is None else ledger.player(against)
            rating_graph = RatingGraph(
                ledger=ledger, person=person, pool=pool, number=number, last=last, by=by, against=beside, boards=boards,
                look=look,
            )  # fmt: skip
            if every_page and file is not None:
                _write_every_page(rating_graph, kind, file)
                return
            pages = list(_histories(rating_graph)) if kind == "lichess" else [rating_graph.page(kind)]
            pgn = rating_graph.pgn(pages[0]) if kind == "html" else None
        if kind == "lichess":
            _deliver(json_form.dump_json(json_form.lichess_history(pages)), file)
        elif kind == "txt" and file is None:
            _draw(pages[0])
        else:
            _deliver(_document(pages[0], kind, look, raw=raw, pgn=pgn), file)


def _histories(graph: RatingGraph) -> Iterator[Page]:
    """Yield all games, pool by pool; of a pool that was asked for even where there is none."""
    if graph.pool is not None:
        yield graph.page()
        return
    for row in pools(graph.ledger):
        try:
            page = attrs.evolve(graph, pool=row.pool).page()
        except UnknownNameError:
            continue
        if page.player.bars:
            yield page


def _check(kind: str, options: Mapping[str, bool], file: Path | None, last: int | None) -> None:
    """Refuse options that do not go together, all of them at once."""
    problems = [
        f"{option} goes with {', '.join(sorted(GOES_WITH[option]))}, not with {kind}"
        for option, is_given in options.items()
        if is_given and kind not in GOES_WITH[option]
    ]
    if last is not None and last % GAMES_PER_PAGE:
        multiples = ", ".join(str(GAMES_PER_PAGE * pages) for pages in (1, 2, 3))
        problems.append(f"--last takes {multiples}, ..., or 0 for all games; got {last}")
    if options["--last"] and options["--page"]:
        problems.append("give --last or --page, not both")
    others = [word for word, is_given in options.items() if is_given and word not in WITH_CAREER]
    if options["--career"] and others:
        problems.append(f"--career goes with {', '.join(WITH_CAREER[1:])} and --pool, not with {', '.join(others)}")
    problems += [f"{word} goes with --career" for word in OF_CAREER if options[word] and not options["--career"]]
    if options["--against"] and not options["--by date"]:
        problems.append("--against goes with --by date: the games of two players have no order of their own")
    if options["--every-page"] and (options["--last"] or options["--page"] or file is None):
        problems.append("--every-page goes with -o FILE, and with neither --last nor --page")
    if problems:
        raise click.UsageError("; ".join(problems))
    if kind == "png" and not png.is_available():
        raise click.ClickException(NO_PNG)


def _check_address(sheet: str) -> None:
    """Refuse what is no address: the policy of the page names the site of the style sheet as it is given."""
    try:
        is_site = _SITE.fullmatch(urlsplit(sheet).netloc) is not None
    except ValueError:
        is_site = False
    if not is_site:
        raise click.UsageError(
            f"--style-sheet: {sheet!r} is no address such as graph.css or https://club.example/a.css"
        )


def _document(
    page: Page,
    kind: str,
    look: Look,
    *,
    raw: bool = False,
    page_link: Callable[[int], str] | None = None,
    pgn: Mapping[str, str] | None = None,
) -> bytes:
    """Return a page in one of the formats."""
    match kind:
        case "csv":
            return output.divided(json_form.bar_rows(page), "csv", raw=raw).encode()
        case "txt":
            return "".join(f"{visible(line)}\n" for line in _in_characters(page, in_ascii=False)).encode()
        case _:
            return render_page(page, kind, look, page_link=page_link, pgn=pgn)


def _deliver(content: bytes, file: Path | None) -> None:
    if file is None:
        output.document(content)
    else:
        output.save(file, content)


def _write_every_page(graph: RatingGraph, kind: str, file: Path) -> None:
    """Write page 1 into *file*, page 2 next to it into ``FILE-2``, ..., each linked with its neighbours."""

    def place(number: int) -> Path:
        return file if number == 1 else file.with_name(f"{file.stem}-{number}{file.suffix}")

    def page_link(number: int) -> str:
        return quote(place(number).name)

    number = 1
    while True:
        page = attrs.evolve(graph, number=number).page(kind)
        pgn = graph.pgn(page) if kind == "html" else None
        output.save(place(number), _document(page, kind, graph.look, page_link=page_link, pgn=pgn))
        if page.older is None:
            break
        number = page.older
    files = " to ".join(dict.fromkeys(map(str, (file, place(number)))))
    output.remark(f"{counted(number, 'page')} of {page.player.name}: {files}")


def _draw(page: Page) -> None:
    """The graph in the terminal."""
    output.answer_lines("\n".join(_in_characters(page, in_ascii=not output.can_write(DRAWN))))
    if (more := sum(bool(bar.corrected) for bar in page.player.bars)) > MARKS_BELOW_A_GRAPH:
        output.remark(f"the last {MARKS_BELOW_A_GRAPH} of {more} corrected games; 'games' tells of all")


def _in_characters(page: Page, *, in_ascii: bool) -> list[str]:
    """Return the graph in characters, oldest game first, and its marks below it."""
    bars = page.player.bars[::-1]
    if not bars:
        return [f"{page.player.name} has no rated game yet; 'show' tells the rating to begin with"]
    place_of = {bar.n: place for place, bar in enumerate(bars)}
    changes = [place_of[seam.n] for seam in page.player.seams[::-1]]
    corrected = [place for place, bar in enumerate(bars) if bar.corrected]
    ratings = [nan if bar.rating is None else bar.rating for bar in bars]
    days = (
        f"on {bars[0].ended_at[:10]}" if len(bars) == 1 else f"from {bars[0].ended_at[:10]} to {bars[-1].ended_at[:10]}"
    )
    lines = [f"{page.player.name}, {'rated game' if len(bars) == 1 else 'rated games'} {days}"]
    lines += draw(ratings, changes=changes, corrected=corrected, first=bars[0].n, in_ascii=in_ascii).split("\n")

    def tell(mark: str, bar: Bar, words: str) -> None:
        shown_mark = ASCII[mark] if in_ascii else mark
        lines.append(f"{'':8}{shown_mark} game {bar.n}, {bar.ended_at[:10]}: {words}")

    for place in changes:
        tell(CHANGE, bars[place], f"from here on by {bars[place].scheme}")
    for place in corrected[-MARKS_BELOW_A_GRAPH:]:
        proposals = ", ".join(map(str, bars[place].corrected))
        tell(CORRECTED, bars[place], f"corrected by proposal {proposals}")
    for bar in [bar for bar in bars if bar.published_list][-MARKS_BELOW_A_GRAPH:]:
        said, would = format_rating(bar.published_rating), format_rating(bar.revised_rating)
        tell(AXIS, bar, f"list {bar.published_list} said {said}, now it would say {would}")
    return lines
