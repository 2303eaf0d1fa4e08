"""A career as a document: an SVG or PNG picture, an HTML page, JSON."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from ledger.answers.graphs import career_svg, html, json_form, png, wording
from ledger.answers.graphs.career import Career
from ledger.answers.graphs.looks import Look, Theme
from ledger.runtime.visible import in_markup

FORMATS = frozenset({"svg", "png", "html", "json"})


def document(career: Career, kind: str, theme: Theme = Theme.AUTO) -> bytes:
    """Return a career in a format: svg, png, html or json."""
    match kind:
        case "svg":
            return career_svg.picture(career, theme).encode()
        case "png":
            return png.as_png(career_svg.picture(career, Theme.DARK if theme is Theme.DARK else Theme.LIGHT))
        case "html":
            return _page(career, theme).encode()
        case _:
            return json_form.dump_json(career)


def _page(career: Career, theme: Theme) -> str:
    """Return an HTML file that needs nothing else and has no script: the line, and its marks as tables."""
    title = in_markup(f"Career of {career.name}")
    policy = escape("default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'")
    tournaments = [
        (mark.in_force, mark.tournament, f"{mark.score:g} of {mark.games}", _change(mark.change, mark.together))
        for mark in career.tournaments
    ]
    published = [
        (mark.as_of, mark.list, *map(wording.format_rating, (mark.published_rating, mark.revised_rating)))
        for mark in career.published
    ]
    return "\n".join(
        [
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{title}</title>\n<style>{html.style_sheet(Look(theme=theme))}</style>\n</head>\n<body>\n<main>",
            f"<h1>{title}</h1>\n<p>{in_markup(career_svg.describe(career))}.</p>",
            f"<figure>\n{career_svg.drawn(career, height=career_svg.HEIGHT)}</figure>",
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
