"""Pictures for posts elsewhere, of 1,200 by 630 pixels: a player's rating and career, a game's last position.

They are our own drawings as SVG, which resvg turns into PNG (extra ``pictures``): sites that show posts take no SVG.
"""

from __future__ import annotations

from ledger.answers.boards import PGN_RESULTS
from ledger.answers.graphs import career_svg, looks, mini_boards, png, wording
from ledger.answers.graphs.career import Career
from ledger.answers.graphs.looks import Look, Theme
from ledger.answers.players import PlayerSummary
from ledger.answers.recorded_games import RecordedGame
from ledger.board.position import Position
from ledger.runtime.visible import in_markup, visible

from .get_handlers import GRAPH_MEDIA, FileAnswer

PNG = GRAPH_MEDIA["png"]
WIDTH, HEIGHT = 1200, 630  # pixels
_EDGE = 44
_PAPER, _INK, _QUIET = "#FBFAF7", "#1B1F24", "#57606A"
_BOARD = HEIGHT - 2 * _EDGE
_LETTER, _BOLD_LETTER = 0.6, 0.7  # of the size of the letters: how wide most come out in DejaVu Sans


def file(svg: str) -> FileAnswer:
    """Return a picture as an answer."""
    return FileAnswer(png.as_png(svg, zoom=1.0), PNG)


def player_post(career: Career, summary: PlayerSummary) -> str:
    """Return the picture of a player: name, rating now, and the career as a line."""
    games = wording.count_noun(summary.results.games, "rated game")
    provisional = ", provisional" if summary.provisional else ""
    line = career_svg.drawn(career, width=WIDTH // 2 - _EDGE, height=210)
    return _picture(
        [
            f"<style>{looks.style_sheet(Look(theme=Theme.LIGHT))}</style>",
            _words(_EDGE, 104, 60, summary.name, WIDTH - 2 * _EDGE - 280, bold=True),
            _words(_EDGE, 152, 28, f"{summary.pool}, {summary.scheme}{provisional} · {games}", 800, _QUIET),
            _words(WIDTH - _EDGE, 112, 84, wording.format_rating(summary.rating_now), 300, bold=True, anchor="end"),
            f'<g transform="translate({_EDGE} 186) scale(2)">{line}</g>',
        ]
    )


def game_post(game: RecordedGame, position: Position | None) -> str:
    """Return the picture of a game: its last position, if its moves are kept, the players and the result."""
    parts, left = [], _EDGE
    if position is not None:
        board = mini_boards.board_group(position, side=_BOARD)
        parts.append(f"<defs>{mini_boards.piece_symbols()}</defs>")
        parts.append(f'<g transform="translate({_EDGE} {_EDGE})">{board}</g>')
        left += _BOARD + _EDGE
    room = WIDTH - _EDGE - left
    outcome = "no result" if game.outcome == "none" else PGN_RESULTS[game.outcome].replace("1/2", "½")
    sides = [("○", game.white, game.white_before), ("●", game.black, game.black_before)]
    for (sign, name, rating), y in zip(sides, (150, 420), strict=True):
        parts.append(_words(left, y, 46, f"{sign} {name}", room, bold=True))
        parts.append(_words(left, y + 46, 28, "" if rating is None else wording.format_rating(rating), room, _QUIET))
    parts.append(_words(left, 310, 76, outcome, room, bold=True))
    where = " · ".join(filter(None, (game.ended_at[:10], game.tournament)))
    parts.append(_words(left, HEIGHT - _EDGE - 8, 26, where, room, _QUIET))
    return _picture(parts)


def _picture(parts: list[str]) -> str:
    ground = f'<rect width="{WIDTH}" height="{HEIGHT}" fill="{_PAPER}"/>'
    size = f'width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{ground}{"".join(parts)}</svg>\n'


def _words(
    x: int, y: int, size: int, text: str, room: int, colour: str = _INK, *, bold: bool = False, anchor: str = "start"
) -> str:
    """Return a line of text, cut to its room."""
    most = int(room / (size * (_BOLD_LETTER if bold else _LETTER)))
    shown = visible(text)
    shown = shown if len(shown) <= most else f"{shown[: most - 1]}…"
    weight = ' font-weight="bold"' if bold else ""
    look = f'font-family="{png.FONT}" font-size="{size}" fill="{colour}" text-anchor="{anchor}"{weight}'
    return f'<text x="{x}" y="{y}" {look}>{in_markup(shown)}</text>'
