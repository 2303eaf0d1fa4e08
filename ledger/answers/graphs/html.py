"""A page of a rating graph as one HTML file that needs nothing else: graph, details of each game, list, links.

It works without a script: a bar leads to its details, and a switch shows the bars side by side or on their days. The
small script shows the details where the pointer or the keyboard is. The page's own policy lets nothing else run and
loads nothing but a style sheet that was asked for; all text from the ledger is escaped.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping
from hashlib import sha256
from urllib.parse import urlsplit

import attrs

from ledger.answers.graphs import looks, mini_boards, svg, wording
from ledger.answers.graphs.graph_data import Bar, BarOrder, Page, PlayerBars
from ledger.answers.graphs.looks import DEFAULT_LOOK, Look, Theme
from ledger.board.position import Position
from ledger.runtime.visible import in_markup

_BOARD = 180  # pixels
_SCRIPT = """(function(){
var panel=document.querySelector('.details');
function bar(element){return element.closest&&element.closest('[data-bar],[data-spot]')}
function show(event){var found=bar(event.target);
var wanted=found&&document.getElementById(found.dataset.bar||found.dataset.spot);if(!wanted)return;
panel.querySelectorAll('.shown').forEach(function(other){other.classList.remove('shown')});
wanted.classList.add('shown');panel.classList.add('live')}
document.addEventListener('mouseover',show);document.addEventListener('focusin',show);
document.addEventListener('keydown',function(event){var found=bar(event.target);
var steps={ArrowLeft:'previousElementSibling',ArrowRight:'nextElementSibling'},step=steps[event.key];
var other=found&&step&&found[step]&&found[step].querySelector('a,[tabindex]');
if(other){event.preventDefault();other.focus()}});
})();"""
# The policy admits the script by the digest of its text: no other script in the page runs.
_DIGEST = b64encode(sha256(_SCRIPT.encode()).digest()).decode()
_FORM = (
    "body{margin:0 auto;padding:1rem;max-width:76rem;font:15px/1.45 system-ui,'DejaVu Sans',sans-serif}"
    "h1{font-size:1.4rem;margin:.2rem 0}p{margin:.3rem 0}figure{margin:0;overflow-x:auto}"
    "nav{display:flex;gap:1.2rem;margin:.6rem 0}nav .here{font-weight:bold}"
    ".details{min-height:11rem;display:flex;gap:1rem;border-top:1px solid;border-bottom:1px solid;padding:.6rem 0}"
    ".details article{display:none;gap:1.5rem}.details article:target{display:flex}"
    ".details:not(.live):not(:has(:target)) article:first-of-type{display:flex}"
    ".details.live article:target{display:none}.details.live article.shown{display:flex}"
    "h2{font-size:1rem;margin:0 0 .3rem}dl{display:grid;grid-template-columns:auto 1fr;gap:.1rem .8rem;margin:0}"
    "dt{opacity:.75}dd{margin:0}table{border-collapse:collapse;font-size:.9rem}"
    "th,td{text-align:left;padding:.15rem .7rem .15rem 0}td.number,th.number{text-align:right}"
    "caption{text-align:left;font-weight:bold;padding:.4rem 0}pre{overflow:auto;max-width:40rem;max-height:16rem}"
    "fieldset{border:0;padding:0;margin:.4rem 0;display:flex;gap:.4rem 1rem}legend{float:left;margin-right:1rem}"
    "main:has(#by-game:checked) figure.date,main:has(#by-date:checked) figure.game{display:none}"
)
_ORDERS: Mapping[BarOrder, str] = {"game": "side by side", "date": "on their days"}
_LIGHT = "body{background:#FFFFFF;color:#1B1F24}a{color:#0057A8}"
_DARK = "body{background:#14171B;color:#E8EAED}a{color:#7CB8F2}"


def draw(
    page: Page,
    look: Look = DEFAULT_LOOK,
    *,
    page_link: Callable[[int], str] | None = None,
    pgn: Mapping[str, str] | None = None,
) -> str:
    """Return a page as an HTML file, in which the details of a game show its PGN.

    *page_link* returns the address of another page by its number; None: there are no other pages.
    """
    title = in_markup(f"Rating graph of {wording.heading(page)}")
    styling = f"<style>{style_sheet(look)}</style>"
    if look.sheet is not None:
        styling = f'<link rel="stylesheet" href="{in_markup(look.sheet)}">'
    return "\n".join(
        [
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{_policy(look)}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{title}</title>\n{styling}\n</head>\n<body>\n<main>",
            f"<h1>{title}</h1>\n<p>{in_markup(wording.summary(page))}</p>",
            *_links(page, page_link),
            *_drawings(page, look),
            *_details(page, pgn or {}),
            '<section id="list" aria-label="List of the games">',
            *(line for player in page.players for line in _table(player)),
            "</section>",
            f"</main>\n<script>{_SCRIPT}</script>\n</body>\n</html>\n",
        ]
    )


def style_sheet(look: Look = DEFAULT_LOOK) -> str:
    """Return the style sheet of these pages and of the graphs in them, in the page or for a file of its own."""
    if look.theme is Theme.AUTO:
        page = f":root{{color-scheme:light dark}}{_FORM}{_LIGHT}@media (prefers-color-scheme:dark){{{_DARK}}}"
    else:
        page = f":root{{color-scheme:{look.theme}}}{_FORM}{_DARK if look.theme is Theme.DARK else _LIGHT}"
    return page + looks.style_sheet(look)


def _policy(look: Look) -> str:
    """Return the content policy: the page's own script, and its style, inline or from the style sheet's site."""
    styles = "'unsafe-inline'"
    if look.sheet is not None:
        site = urlsplit(look.sheet)
        # without a scheme an address has that of the page, and so has a site that a policy names
        scheme = f"{site.scheme}://" if site.scheme else ""
        styles = in_markup(f"{scheme}{site.netloc}") if site.netloc else "'self'"
    return f"default-src 'none'; style-src {styles}; script-src 'sha256-{_DIGEST}'; base-uri 'none'; form-action 'none'"


def _drawings(page: Page, look: Look) -> list[str]:
    """Return the graph, bar by bar and by date, with a switch between them; with a second player by date alone."""
    # in a picture of their own: what is not displayed may give no patterns to the other one
    parts = [f'<svg width="0" height="0" aria-hidden="true"><defs>{looks.pattern_definitions(look)}</defs></svg>']
    orders = _ORDERS if page.against is None and page.player.bars else {page.by: ""}
    if len(orders) > 1:
        switch = "".join(
            f'<input type="radio" name="order" id="by-{order}"{" checked" if order == page.by else ""}>'
            f'<label for="by-{order}">{words}</label>'
            for order, words in orders.items()
        )
        parts.append(f"<fieldset><legend>Bars:</legend>{switch}</fieldset>")
    for order in orders:
        ordered = attrs.evolve(page, by=order)
        # A bar leads to its game's details within the page, not to the game's server.
        drawn = svg.draw_fragment(
            ordered, look, lambda player, bar: f"#{wording.bar_id(player, bar)}", "", mark=f"rg-{order}"
        )
        parts.append(f'<figure class="{order}">\n{drawn}</figure>')
    return parts


def _links(page: Page, page_link: Callable[[int], str] | None) -> list[str]:
    """Return ``<< prev | List | next >>``; newer games are to the left, and so is the link to them."""

    def to(number: int | None, words: str, kind: str, which: str) -> str:
        if number is None:
            return f"<span>{words}</span>"
        if page_link is None:
            return f"<span>{words} (page {number})</span>"
        label = f'rel="{kind}" aria-label="Page {number}, {which} games"'
        return f'<a href="{in_markup(page_link(number))}" {label}>{words}</a>'

    parts = [
        '<nav aria-label="Pages">',
        to(page.newer, "&lt;&lt; prev", "prev", "newer"),
        '<a href="#list">List</a>',
        to(page.older, "next &gt;&gt;", "next", "older"),
    ]
    here = f"page {page.page} of {page.pages}" if page.page is not None else wording.games_shown(page)
    return [*parts, f'<span class="here">{in_markup(here)}</span>', "</nav>"]


def _details(page: Page, pgn: Mapping[str, str]) -> list[str]:
    """Return a panel for each game; the page shows one, under the pointer or at the end of a bar's link."""
    articles = [_article(player, bar, pgn.get(bar.game)) for player in page.players for bar in player.bars]
    pieces = ""
    if any("<use " in article for article in articles):
        pieces = f'<svg width="0" height="0" aria-hidden="true"><defs>{mini_boards.piece_symbols()}</defs></svg>'
    return [f'<section class="details" aria-label="Details of a game">{pieces}', *articles, "</section>"]


def _article(player: PlayerBars, bar: Bar, pgn: str | None) -> str:
    rows = "".join(
        f"<dt>{in_markup(term)}</dt><dd>{in_markup(words)}</dd>" for term, words in wording.bar_facts(bar, player)
    )
    if bar.address is not None:
        # The game's server need not learn from which page its visitors come.
        href = in_markup(bar.address)
        rows += f'<dt>Game</dt><dd><a href="{href}" rel="noreferrer">{href}</a></dd>'
    anchor = wording.bar_id(player, bar)
    title = in_markup(wording.bar_title(bar))
    moves = ""
    if pgn is not None:
        lines = "\n".join(in_markup(line) for line in pgn.split("\n"))
        moves = f"<details><summary>PGN</summary><pre>{lines}</pre></details>"
    return f'<article id="{anchor}">{_board(bar)}<div><h2>{title}</h2><dl>{rows}</dl>{moves}</div></article>'


def _board(bar: Bar) -> str:
    """Return the final position from the player's side; it leads to the game if that has an address."""
    if bar.final_position is None:
        return ""
    position = Position(bar.final_position)
    drawn = mini_boards.board_group(position, side=_BOARD, flipped=bar.colour == "black")
    picture = (
        f'<svg width="{_BOARD}" height="{_BOARD}" role="img" '
        f'aria-label="{in_markup(f"Final position. {mini_boards.describe_position(position)}")}">{drawn}</svg>'
    )
    return picture if bar.address is None else f'<a href="{in_markup(bar.address)}" rel="noreferrer">{picture}</a>'


_COLUMNS: tuple[tuple[str, bool, Callable[[Bar], str]], ...] = (
    ("n", True, lambda bar: str(bar.n)),
    ("ended", False, lambda bar: bar.ended_at[:10]),
    ("colour", False, lambda bar: bar.colour),
    ("opponent", False, lambda bar: bar.opponent),
    ("result", False, lambda bar: wording.RESULT_WORDS[wording.result_kind(bar)].lower()),
    ("ended by", False, wording.ending_words),
    ("rating", True, lambda bar: wording.format_rating(bar.rating)),
    ("opponent's rating", True, lambda bar: wording.format_rating(bar.opponent_rating_before)),
    ("opponent now", True, lambda bar: wording.format_rating(bar.opponent_rating_now)),
    ("tournament", False, lambda bar: bar.tournament or ""),
    ("note", False, lambda bar: "; ".join(f"{term}: {words}" for term, words in wording.bar_marks(bar))),
)


def _table(player: PlayerBars) -> list[str]:
    heads = "".join(f'<th scope="col"{_number(is_number)}>{in_markup(name)}</th>' for name, is_number, _ in _COLUMNS)
    lines = [
        "<tr>" + "".join(f"<td{_number(right)}>{in_markup(said(bar))}</td>" for _, right, said in _COLUMNS) + "</tr>"
        for bar in player.bars
    ]
    caption = in_markup(f"Games of {player.name}, newest first")
    return [f"<table><caption>{caption}</caption><thead><tr>{heads}</tr></thead><tbody>", *lines, "</tbody></table>"]


def _number(is_number: bool) -> str:
    return ' class="number"' if is_number else ""
