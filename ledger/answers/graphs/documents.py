"""A player's rating graph as a document: an SVG or PNG picture, an HTML page, JSON, or a Vega-Lite specification."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import attrs

from ledger.answers.documents import format_by_suffix
from ledger.answers.game_pgn import games_pgn
from ledger.answers.graphs import html, json_form, pages, png, svg, vega_lite
from ledger.answers.graphs.bars import Order, Page
from ledger.answers.graphs.looks import PLAIN, Look, Theme
from ledger.handle import OpenLedger
from ledger.players.persons import Person
from ledger.runtime.ledger_files import save_document

PICTURES = frozenset({"svg", "png", "html"})
ENDINGS: Mapping[str, str] = {
    ".vl.json": "vega-lite", ".json": "json", ".svg": "svg", ".png": "png", ".html": "html", ".htm": "html",
}  # fmt: skip


@attrs.frozen(kw_only=True)
class RatingGraph:
    """A player's rating graph; every document is made from the ledger as it is by then.

    Attributes:
        ledger: a ledger, open.
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
    by: Order = "game"
    against: Person | None = None
    boards: bool | None = None
    look: Look = PLAIN

    def __attrs_post_init__(self) -> None:
        pages.check(self.number, self.last, self.by, self.person, self.against)

    def page(self, kind: str = "json") -> Page:
        """Return the data of the graph, as a document of this format shows them.

        Raises:
            UnknownNameError: a player has neither a rated game in the pool nor the rating of a list, or no such page.
        """
        is_whole = self.last is None and self.number is None and kind not in PICTURES
        return pages.page(
            self.ledger,
            self.person,
            self.pool,
            number=self.number,
            last=pages.EVERY_GAME if is_whole else self.last,
            by=self.by,
            against=self.against,
            boards=kind == "html" if self.boards is None else self.boards,
        )

    def pgn(self, page: Page) -> dict[str, str]:
        """Return the games of a page as PGN, by key."""
        players = (player for player in (page.player, page.against) if player is not None)
        return games_pgn(self.ledger, (bar.game for player in players for bar in player.bars))

    def document(self, kind: str) -> bytes:
        """Return the graph in a format: svg, png, html, json or vega-lite."""
        with self.ledger.moment():
            page = self.page(kind)
            pgn = self.pgn(page) if kind == "html" else None
        return drawn(page, kind, self.look, pgn=pgn)

    def save(self, path: str | Path) -> None:
        """Write the graph into a file, in the format that its name asks for; ``.vl.json`` is Vega-Lite.

        Raises:
            MalformedError: the name asks for no format, or for PNG, which nothing installed draws.
            StorageError: it is a file of a ledger.
            OSError: the file cannot be written.
        """
        save_document(Path(path), self.document(format_by_suffix(path, ENDINGS)), self.ledger.path)


def drawn(
    page: Page,
    kind: str,
    look: Look,
    *,
    page_link: Callable[[int], str] | None = None,
    pgn: Mapping[str, str] | None = None,
) -> bytes:
    """Return a page in a format: svg, png, html, json or vega-lite.

    Args:
        page: its data.
        kind: the format.
        look: how it looks.
        page_link: in HTML the address of the page of a number; None: there are no other pages.
        pgn: in HTML the games as PGN, by key.
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
            return json_form.exact(vega_lite.specification(page, opponents=look.opponents), upright=True)
        case _:
            return json_form.as_json(page)
