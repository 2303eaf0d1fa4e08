"""A career as a document: an SVG or PNG picture, an HTML page, JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

import attrs

from ledger.answers.documents import format_by_suffix
from ledger.answers.graphs import career_svg, html, json_form, png, wording
from ledger.answers.graphs.career import Career, career
from ledger.answers.graphs.looks import Look, Theme
from ledger.handle import OpenLedger
from ledger.players.persons import Person
from ledger.runtime.ledger_files import save_document
from ledger.runtime.visible import in_markup

ENDINGS: Mapping[str, str] = {".json": "json", ".svg": "svg", ".png": "png", ".html": "html", ".htm": "html"}
FORMATS = frozenset(ENDINGS.values())


@attrs.frozen(kw_only=True)
class CareerGraph:
    """A player's career as a line, of which documents show the current state of the ledger.

    Attributes:
        ledger: an open ledger.
        person: the player.
        pool: name of the pool; the first one by default.
        since: the day, month or year with which it begins; None: the first one.
        until: the day, month or year with which it ends; None: the last one.
        every_pool: whether the player's other pools have a line, too.
        theme: light, dark, or that of the reader's system.
    """

    ledger: OpenLedger = attrs.field(repr=False)
    person: Person
    pool: str | None = None
    since: str | None = None
    until: str | None = None
    every_pool: bool = False
    theme: Theme = Theme.AUTO

    def data(self) -> Career:
        """Return the line with its marks.

        Raises:
            UnknownNameError: the player has neither a rated game in the pool nor the rating of a list.
            MalformedError: the range ends before it begins.
        """
        return career(
            self.ledger, self.person, self.pool, since=self.since, until=self.until, every_pool=self.every_pool
        )

    def document(self, kind: str) -> bytes:
        """Return the career in a format: svg, png, html or json."""
        return document(self.data(), kind, self.theme)

    def save(self, path: str | Path) -> None:
        """Write the career to a file, in the format that the ending of its name selects.

        Raises:
            MalformedError: the ending selects no format, or PNG without an installed program that draws it.
            StorageError: the file belongs to a ledger.
            OSError: the file cannot be written.
        """
        save_document(Path(path), self.document(format_by_suffix(path, ENDINGS)), self.ledger.path)


def document(line: Career, kind: str, theme: Theme = Theme.AUTO) -> bytes:
    """Return a career in a format: svg, png, html or json."""
    match kind:
        case "svg":
            return career_svg.picture(line, theme).encode()
        case "png":
            return png.as_png(career_svg.picture(line, Theme.DARK if theme is Theme.DARK else Theme.LIGHT))
        case "html":
            return _page(line, theme).encode()
        case _:
            return json_form.dump_json(line)


def _page(line: Career, theme: Theme) -> str:
    """Return an HTML file that needs nothing else and has no script: the line, and its marks as tables."""
    title = in_markup(f"Career of {line.name}")
    policy = escape("default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'")
    tournaments = [
        (mark.in_force, mark.tournament, f"{mark.score:g} of {mark.games}", _change(mark.change, mark.together))
        for mark in line.tournaments
    ]
    published = [
        (mark.as_of, mark.list, *map(wording.format_rating, (mark.published_rating, mark.revised_rating)))
        for mark in line.published
    ]
    return "\n".join(
        [
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{title}</title>\n<style>{html.style_sheet(Look(theme=theme))}</style>\n</head>\n<body>\n<main>",
            f"<h1>{title}</h1>\n<p>{in_markup(career_svg.describe(line))}.</p>",
            f"<figure>\n{career_svg.drawn(line, height=career_svg.HEIGHT)}</figure>",
            *_table("Tournaments", ("counts from", "tournament", "score", "change"), tournaments),
            *_table("Published lists that differ now", ("day", "list", "published", "now"), published),
            "</main>\n</body>\n</html>\n",
        ]
    )


def _change(change: float | None, together: int) -> str:
    if change is None:
        return "-"
    return f"{change:+.1f}" + (f" (with {together - 1} more)" if together > 1 else "")


def _table(caption: str, heads: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> list[str]:
    if not rows:
        return []
    head = "".join(f'<th scope="col">{name}</th>' for name in heads)
    lines = ["<tr>" + "".join(f"<td>{in_markup(cell)}</td>" for cell in row) + "</tr>" for row in rows]
    return [f"<table><caption>{caption}</caption><thead><tr>{head}</tr></thead><tbody>", *lines, "</tbody></table>"]
