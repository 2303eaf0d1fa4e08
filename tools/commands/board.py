"""The command that shows the position in which a game ended."""

from __future__ import annotations

from pathlib import Path

import click

from ledger.answers.boards import FinalBoard, final_board
from ledger.answers.game_pgn import game_pgn
from ledger.answers.graphs import mini_boards
from ledger.answers.rows import as_row
from ledger.board.position import START
from ledger.runtime.visible import visible

from .. import output
from ..wording import counted
from . import DB, INTO, open_up_to_date

_KINDS = {".svg": "svg", ".json": "json", ".fen": "fen", ".txt": "txt", ".pgn": "pgn"}


@click.command()
@DB
@click.argument("game")
@click.option(
    "--format",
    "kind",
    type=click.Choice(["txt", "svg", "fen", "json", "pgn"]),
    help="As letters, a picture, one line of FEN, all of it, or the whole game; by the name of FILE, otherwise txt.",
)
@click.option("--flip", is_flag=True, help="Black below.")
@click.option("--start", metavar="FEN", default=START, help="Where the game began, if not as usual.")
@INTO
def board(db_path: str, game: str, kind: str | None, flip: bool, start: str, file: Path | None) -> None:
    """The position in which a game ended, from the moves that are kept of it; or the game itself as PGN.

    GAME is its key as 'games' shows it, the id that its server gave it, or its web address. The picture needs no font
    and no other file. Only moves are kept, without the position that they began from: a game of Chess960, or one that
    was adjourned, needs --start. PGN has the current facts, corrections included, the ratings that the source
    shows, the clocks, and no other comments or variations; a game without moves has its result alone, and PlyCount
    where their number is known. Its tags Rated (yes or no) and EndDate are for other ledgers; of a forfeit the
    Termination is "unplayed".

    \b
    Example:
      rating-ledger board club.db lichess:Mxzwh32Z
      rating-ledger board club.db lichess:Mxzwh32Z -o final.svg
      rating-ledger board club.db lichess:Mxzwh32Z --format fen
      rating-ledger board club.db lichess:Mxzwh32Z -o game.pgn
    """
    kind = kind or (_KINDS.get(file.suffix.lower(), "txt") if file else "txt")
    if flip and kind not in {"svg", "txt"}:
        raise click.UsageError("--flip goes with --format svg or txt: only these show a board from one side")
    with open_up_to_date(db_path) as ledger:
        if kind == "pgn":
            text = game_pgn(ledger, game, start)
        else:
            final = final_board(ledger, game, start)
            if file is None and kind == "json":
                output.write_one(as_row(final.answer), None)
                return
            text = _text(final, kind, flipped=flip)
    if file is None:
        output.answer_lines(text.rstrip("\n"))
    else:
        output.save(file, text.encode())


def _text(board: FinalBoard, kind: str, *, flipped: bool) -> str:
    match kind:
        case "svg":
            return mini_boards.board_picture(board.position, board.title, flipped=flipped)
        case "fen":
            return f"{board.position.fen}\n"
        case "json":
            return output.json_text(as_row(board.answer))
        case _:
            drawn = mini_boards.board_text(board.position, flipped=flipped)
            last = f"after {counted(len(board.moves), 'half-move')}, the last {board.moves[-1]}"
            return f"{visible(board.title)}\n{last}\n\n{drawn}\n"
