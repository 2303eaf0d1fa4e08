"""A player's rating graph as a document: an SVG or PNG picture, an HTML page, JSON, or a Vega-Lite specification."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import attrs

from ledger.answers.documents import format_by_suffix
from ledger.answers.game_pgn import games_pgn
from ledger.answers.graphs import html, json_form, page_reader, png, svg, vega_lite
from ledger.answers.graphs.graph_data import BarOrder, Page
from ledger.answers.graphs.looks import DEFAULT_LOOK, Look, Theme
from ledger.handle import OpenLedger
from ledger.players.persons import Person
from ledger.runtime.ledger_files import save_document

PICTURE_FORMATS = frozenset({"svg", "png", "html"})
ENDINGS: Mapping[str, str] = {
    ".vl.json": "vega-lite", ".json": "json", ".svg": "svg", ".png": "png", ".html": "html", ".htm": "html",
}  # fmt: skip


@attrs.frozen(kw_only=True)
class RatingGraph:
    """A player's rating graph, of which documents show the current state of the ledger.

    Attributes:
        ledger: an open ledger.
        person: the player.
        pool: name of the pool; the first one by default.
        number: the page of 50 games, 1 the newest; None: the last games.
        last: the number of games, a multiple of 50; 0: all. By default a picture shows 100, and data have all.
        by: ``game``: bars side by side; ``date``: bars on their days.
        against: another player, whose games of the same days are shown, too; needs ``date``.
        boards: whether the final position of each game is shown; None: in HTML alone.
        look: opponents' ratings, monochrome, theme, style sheet.

    Raises:
        MalformedError: arguments that do not go together.
    """

    ledger: OpenLedger = attrs.field(repr=False)
    person: Person
    pool: str | None = None
    number: int | None = None
    last: int | None = None
    by: BarOrder = "game"
    against: Person | None = None
    boards: bool | None = None
    look: Look = DEFAULT_LOOK

    def __attrs_post_init__(self) -> None:
        page_reader.check_arguments(self.number, self.last, self.by, self.person, self.against)

    def page(self, kind: str = "json") -> Page:
        """Return the data of the graph that a document of this format shows.

        Raises:
            UnknownNameError: a player has neither a rated game in the pool nor a list rating, or there is no such page.
        """
        is_whole = self.last is None and self.number is None and kind not in PICTURE_FORMATS
        return page_reader.read_page(
            self.ledger,
            self.person,
            self.pool,
            number=self.number,
            last=page_reader.ALL_GAMES if is_whole else self.last,
            by=self.by,
            against=self.against,
            boards=kind == "html" if self.boards is None else self.boards,
        )

    def pgn(self, page: Page) -> dict[str, str]:
        """Return the games of a page as PGN, by key."""
        return games_pgn(self.ledger, (bar.game for player in page.players for bar in player.bars))

    def document(self, kind: str) -> bytes:
        """Return the graph in a format: svg, png, html, json or vega-lite."""
        with self.ledger.read_snapshot():
            page = self.page(kind)
            pgn = self.pgn(page) if kind == "html" else None
        return render_page(page, kind, self.look, pgn=pgn)

    def save(self, path: str | Path) -> None:
        """Write the graph to a file, in the format that the ending of its name selects; ``.vl.json`` is Vega-Lite.

        Raises:
            MalformedError: the ending selects no format, or PNG without an installed program that draws it.
            StorageError: the file belongs to a ledger.
            OSError: the file cannot be written.
        """
        save_document(Path(path), self.document(format_by_suffix(path, ENDINGS)), self.ledger.path)


def render_page(
    page: Page,
    kind: str,
    look: Look,
    *,
    page_link: Callable[[int], str] | None = None,
    pgn: Mapping[str, str] | None = None,
) -> bytes:
    """Return a page of a rating graph in a format: svg, png, html, json or vega-lite.

    HTML takes *page_link*, which returns the address of another page by its number, and *pgn*, the games by key.
    """
    match kind:
        case "svg":
            return svg.draw(page, look).encode()
        case "png":
            theme = Theme.DARK if look.theme is Theme.DARK else Theme.LIGHT
            return png.as_png(svg.draw(page, look._replace(theme=theme)))
        case "html":
            return html.draw(page, look, page_link=page_link, pgn=pgn).encode()
        case "vega-lite":
            return json_form.dump_json(vega_lite.specification(page, opponents=look.opponents), indent=True)
        case _:
            return json_form.graph_json(page)
