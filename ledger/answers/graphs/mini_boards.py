"""A small chess board of one position as SVG, and the position in words and letters.

The pieces are our own drawings, so that no font and no picture is needed. ``board_picture`` is a complete picture;
``piece_symbols`` and ``board_group`` are parts of a larger one that shows several boards. The board looks the same on
light and dark pages: squares of middle tones, each piece with a line of the other colour around it.
"""

from __future__ import annotations

from ledger.board.position import EMPTY, FILES, RANKS, Position
from ledger.runtime.visible import in_markup

SQUARE = 45  # units of a square's side in the drawings
SIDE = 8 * SQUARE
_ROUND = f"h{SQUARE}v{SQUARE}h-{SQUARE}z"  # a square, from its upper left corner
LIGHT, DARK, MOVED, EDGE = "#EDE6D6", "#A9B4BF", "#E8C547", "#6B7680"
_FILL = {True: "#FFFFFF", False: "#2B2B2B"}
_LINE = {True: "#2B2B2B", False: "#F4F4F4"}
_PIECE_NAMES = {"k": "king", "q": "queen", "r": "rook", "b": "bishop", "n": "knight", "p": "pawn"}

# Each piece on a square of 45 units: its outline, and the lines within it.
_SHAPES: dict[str, tuple[str, str]] = {
    "p": (
        "M11 39.5V36q0-3 3.5-3.5 4.5-3.5 4.5-9h-3.5v-3.2h2.7a6.6 6.6 0 1 1 8.6 0h2.7v3.2H26q0 5.5 4.5 9 "
        "3.5.5 3.5 3.5v3.5Z",
        "M14.5 32.5h16",
    ),
    "r": (
        "M8.5 39.5V35h3.2v-3.2l2.8-2.6V18.5L11 15.6V7h5v3.6h4V7h5v3.6h4V7h5v8.6l-3.5 2.9v10.7l2.8 2.6V35h3.2v4.5Z",
        "M14.5 18.5h16M14.5 29.2h16M11.7 35h21.6",
    ),
    "b": (
        "M9 39.5V36q6 .3 9-3.2h-2.5v-3.6h2.2q-4.7-3-4.7-8.2 0-6.5 7.4-11.8a3.2 3.2 0 1 1 4.2 0q7.4 5.3 7.4 11.8 "
        "0 5.2-4.7 8.2h2.2v3.6H27q3 3.5 9 3.2v3.5Z",
        "M17.7 29.2h9.6M22.5 14.5v8M18.7 18.3h7.6",
    ),
    "n": (
        "M13 39.5q-.4-9.5 8.6-16.6-4.2 2-6.8 1.4l-2.7 3.2q-3.6.4-4.4-3.6l7-11.2-.4-4.6 3.6 2.1 2.6-3.9 2.1 3.5Q35.3 "
        "13 35.4 30q.2 5-.5 9.5Z",
        "M16.9 15.1l.1.2M10.3 23.5l.2.2M25.5 13.5q5.6 5 5.6 17",
    ),
    "q": (
        "M10.5 39.5v-3.6l2-1.6-1-3 1.2-2.2L7.2 15.4a2.8 2.8 0 1 1 2.2-.7l6.3 6.2 1-9.6a2.8 2.8 0 1 1 2.7 0l3.1 8.5 "
        "3.1-8.5a2.8 2.8 0 1 1 2.7 0l1 9.6 6.3-6.2a2.8 2.8 0 1 1 2.2.7l-5.5 13.7 1.2 2.2-1 3 2 1.6v3.6Z",
        "M12.7 29.1q9.8-2.6 19.6 0M12.5 34.3q10-2.6 20 0",
    ),
    "k": (
        "M11 39.5v-3.8l2-1.6v-4.4Q6.5 25 7.3 19.7q1.5-5.5 7.2-5.2 4 .3 6.4 3.9V11.2h-4V8h4V4.3h3.2V8h4v3.2h-4v7.2q"
        "2.4-3.6 6.4-3.9 5.7-.3 7.2 5.2.8 5.3-5.7 10v4.4l2 1.6v3.8Z",
        "M13 29.7q9.5-2.4 19 0M13 34.1q9.5-2.4 19 0M22.5 18.4v8.7",
    ),
}


def piece_symbols() -> str:
    """Return the SVG definitions of the twelve pieces for ``board_group``: once in a picture, within ``<defs>``."""
    symbols = []
    for letter in "KQRBNPkqrbnp":
        white = letter.isupper()
        outline, lines = _SHAPES[letter.lower()]
        symbols.append(
            f'<g id="{_symbol_of(letter)}" stroke="{_LINE[white]}" '
            f'stroke-width="1.5" stroke-linejoin="round" stroke-linecap="round">'
            f'<path fill="{_FILL[white]}" d="{outline}"/><path fill="none" d="{lines}"/></g>'
        )
    return "".join(symbols)


def _symbol_of(letter: str) -> str:
    return f"piece-{'white' if letter.isupper() else 'black'}-{_PIECE_NAMES[letter.lower()]}"


def board_group(position: Position, *, side: float = SIDE, flipped: bool = False) -> str:
    """Return a board as an SVG group, with the squares of the last move marked; flipped, Black is below."""
    scale = side / SIDE
    parts = [f'<g transform="translate(0 0) scale({scale:.4g})">']
    parts.append(f'<path fill="{LIGHT}" d="M0 0h{SIDE}v{SIDE}h-{SIDE}z"/>')
    corners = map(_corner, range(64))
    dark = "".join(f"M{left} {top}{_ROUND}" for left, top in corners if (left + top) // SQUARE % 2)
    parts.append(f'<path fill="{DARK}" d="{dark}"/>')
    for square in position.last or ():
        left, top = _corner(square, flipped=flipped)
        parts.append(f'<path fill="{MOVED}" fill-opacity=".55" d="M{left} {top}{_ROUND}"/>')
    for square, letter in enumerate(position.squares):
        if letter != EMPTY:
            left, top = _corner(square, flipped=flipped)
            parts.append(f'<use href="#{_symbol_of(letter)}" x="{left}" y="{top}"/>')
    parts.append(f'<path fill="none" stroke="{EDGE}" stroke-width="2" d="M0 0h{SIDE}v{SIDE}h-{SIDE}z"/></g>')
    return "".join(parts)


def _corner(square: int, *, flipped: bool = False) -> tuple[int, int]:
    file, rank = square % 8, square // 8
    return (7 - file if flipped else file) * SQUARE, (rank if flipped else 7 - rank) * SQUARE


def describe_position(position: Position) -> str:
    """Describe a position: ``White: king e1, pawns a2 b2; Black: king e8; White to move``."""
    squares_of: dict[str, list[str]] = {}
    for square, piece in enumerate(position.squares):
        squares_of.setdefault(piece, []).append(f"{FILES[square % 8]}{RANKS[square // 8]}")
    sides = []
    for word, white in (("White", True), ("Black", False)):
        pieces = [
            f"{name}{'s' if len(squares) > 1 else ''} {' '.join(squares)}"
            for letter, name in _PIECE_NAMES.items()
            if (squares := squares_of.get(letter.upper() if white else letter))
        ]
        sides.append(f"{word}: {', '.join(pieces)}")
    return f"{'; '.join(sides)}; {'White' if position.white else 'Black'} to move"


def board_picture(position: Position, title: str, *, side: int = SIDE, flipped: bool = False) -> str:
    """Return a complete SVG picture of a position, with its title and, for screen readers, its description."""
    words = describe_position(position)
    label = f"{title}. {words}"
    return (
        # One unit more on each side: of the line around the board, two units wide, one half lies outside.
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-1 -1 {SIDE + 2} {SIDE + 2}" width="{side}" '
        f'height="{side}" role="img" aria-label="{in_markup(label)}"><title>{in_markup(title)}</title>'
        f"<desc>{in_markup(words)}</desc><defs>{piece_symbols()}</defs>{board_group(position, flipped=flipped)}</svg>\n"
    )


def board_text(position: Position, *, flipped: bool = False) -> str:
    """Return a position as eight lines of letters, White's in capitals, with files and ranks at the edges."""
    step = -1 if flipped else 1
    rows = [
        f"{RANKS[rank]}  {' '.join(position.squares[8 * rank : 8 * rank + 8][::step])}" for rank in range(8)[::-step]
    ]
    return "\n".join([*rows, "", f"   {' '.join(FILES[::step])}"])
