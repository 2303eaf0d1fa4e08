"""Pages about one game: its current state, its last position, the explanation of both ratings, its log, its proof."""

from __future__ import annotations

from ledger.answers import boards, corrections, recorded_games
from ledger.answers.graphs import mini_boards
from ledger.audit.receipts import make_receipt
from ledger.board.playing import replay
from ledger.errors import MalformedError, StorageError, UnknownNameError
from ledger.imports.reading import game_address
from ledger.ledger import Ledger

from . import get_handlers, post_pictures
from . import page_data as forms
from .get_handlers import FileAnswer, Redirection
from .parameters import Query
from .public_view import PublicLogEntry
from .sites import GAME, is_path

SIDE = 360  # pixels of a board
SVG = "image/svg+xml"
_NO_MOVES = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 360 360" width="360" height="360" role="img" '
    'aria-label="No moves are kept"><path fill="#EDE6D6" d="M0 0h360v360H0z"/><text x="180" y="184" fill="#4A4A4A" '
    'font-family="sans-serif" font-size="22" text-anchor="middle">no moves are kept</text></svg>\n'
)


def game(ledger: Ledger, query: Query) -> forms.GamePage | Redirection:
    """Return a game, and all that is said of it."""
    stands = recorded_games.recorded_game(ledger, query["game"])
    number = f"#{stands.entry}"
    if query["game"] != stands.game and (query["game"] != number or is_path(stands.game)):
        return moved(stands)
    concerning = list(ledger.game_log.proposals(number))
    shown = ledger.corrections.proposals(numbers=concerning) if concerning else ()
    receipt, is_kept = _receipt(ledger, number)
    return forms.GamePage(
        game=stands,
        address=game_address(stands.game),
        board=_board(ledger, stands.game, query["move"]),
        explained=get_handlers.sides_explained(ledger, stands),
        log=[get_handlers.without_officers(PublicLogEntry, row) for row in recorded_games.game_log(ledger, number)],
        proposals=[get_handlers.public(row) for row in corrections.proposal_rows(ledger, shown)],
        receipt=receipt,
        receipt_kept=is_kept,
    )


def moved(stands: recorded_games.RecordedGame) -> Redirection:
    """Where the page of a game is: by its key, or by its entry where no address can have the key in it."""
    return Redirection(GAME, (stands.game if is_path(stands.game) else f"#{stands.entry}",), for_good=False)


def _board(ledger: Ledger, key: str, move: int | None) -> forms.BoardShown | None:
    """Return a game's position after so many half-moves, at most all of them; None if its moves are not kept."""
    try:
        board = boards.final_board(ledger, f"game:{key}")
    except (UnknownNameError, MalformedError):
        return None
    last = len(board.moves)
    move = last if move is None else min(move, last)
    position = board.position if move == last else replay(board.moves[:move])
    return forms.BoardShown(position=position, move=move, moves=board.moves, clocks=board.clocks)


def _receipt(ledger: Ledger, game: str) -> tuple[str | None, bool]:
    """Return the receipt of a game that is there, and whether strangers do not get it."""
    try:
        return make_receipt(ledger, game), False
    except UnknownNameError:
        return None, True
    except StorageError:  # no checkpoint, or an older one
        return None, False


def board_title(board: forms.BoardShown) -> str:
    """Return the title of a position: the move that led to it."""
    if board.move == len(board.moves):
        return "Final position"
    if board.move == 0:
        return "Before the first move"
    number, is_black = divmod(board.move - 1, 2)
    return f"After {number + 1}{'...' if is_black else '.'} {board.moves[board.move - 1]}"


def post_picture(ledger: Ledger, query: Query) -> FileAnswer:
    """Return a game's players, result and last position as a picture for posts."""
    get_handlers.with_png("png")
    stands = recorded_games.recorded_game(ledger, query["game"])
    board = _board(ledger, stands.game, query["move"])
    return post_pictures.file(post_pictures.game_post(stands, None if board is None else board.position))


def picture(ledger: Ledger, query: Query) -> FileAnswer:
    """Return a position of a game as a picture, the last one by default; if no moves are kept it says so."""
    stands = recorded_games.recorded_game(ledger, query["game"])
    board = _board(ledger, stands.game, query["move"])
    if board is None:
        return FileAnswer(_NO_MOVES.encode(), SVG)
    drawn = mini_boards.board_picture(board.position, board_title(board), side=SIDE, flipped=query["flipped"] == "yes")
    return FileAnswer(drawn.encode(), SVG)
