"""Make ``club.pgn``: two years of an invented chess club, the same bytes every time. Nothing here is a real game.

``python -m ledger.tools.sample club.pgn`` writes the games into a new file, as the README has it. In a checkout
``python -m tools.sample`` writes the file next to this one, which ships; ``--check`` exits 1 if it differs.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random  # noqa: TID251

from .. import output

FILE = Path(__file__).with_name("club.pgn")
GAMES = 900
SEED = 2006
MEMBERS = {
    "ann": 1950, "bob": 1800, "cleo": 1720, "dan": 1660, "emma": 1600, "finn": 1540, "grete": 1500, "hugo": 1460,
    "ida": 1400, "jan": 1340, "kaja": 1280, "leo": 1220, "mia": 1150, "nils": 1080, "olga": 1000, "per": 900,
}  # fmt: skip
# Well-known opening moves; a game stops somewhere along one of them, as if resigned, agreed or flagged there.
LINES = (
    "e4 e5 Nf3 Nc6 Bb5 a6 Ba4 Nf6 O-O Be7 Re1 b5 Bb3 d6 c3 O-O h3 Na5 Bc2 c5 d4 Qc7 Nbd2 cxd4 cxd4 Nc6",
    "e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 a6 Bg5 e6 f4 Be7 Qf3 Qc7 O-O-O Nbd7 g4 b5 Bxf6 Nxf6 g5 Nd7 f5 Bxg5+",
    "d4 d5 c4 e6 Nc3 Nf6 Bg5 Be7 e3 O-O Nf3 h6 Bh4 b6 cxd5 Nxd5 Bxe7 Qxe7 Nxd5 exd5 Rc1 Be6 Qa4 c5 Qa3 Rc8",
    "d4 Nf6 c4 g6 Nc3 Bg7 e4 d6 Nf3 O-O Be2 e5 O-O Nc6 d5 Ne7 Ne1 Nd7 Nd3 f5 Bd2 Nf6 f3 f4 c5 g5 cxd6 cxd6",
    "e4 e6 d4 d5 Nc3 Bb4 e5 c5 a3 Bxc3+ bxc3 Ne7 Qg4 Qc7 Qxg7 Rg8 Qxh7 cxd4 Ne2 Nbc6 f4 dxc3 Qd3 d4 Nxd4 Nxd4",
    "c4 e5 Nc3 Nf6 Nf3 Nc6 g3 d5 cxd5 Nxd5 Bg2 Nb6 O-O Be7 d3 O-O a3 Be6 b4 f6 Be3 Nd4 Bxd4 exd4 Ne4 Bd5",
)
MATES = ("e4 e5 Bc4 Nc6 Qh5 Nf6 Qxf7#", "f3 e5 g4 Qh4#")


def games() -> Iterator[str]:
    """Yield the games of the club as PGN texts, in the order in which they were played."""
    random = Random(SEED)  # noqa: S311  # a fixed sample, nothing secret
    clock = datetime(2004, 10, 1, 18, 0, tzinfo=UTC)
    for number in range(1, GAMES + 1):
        clock += timedelta(hours=random.randrange(1, 36), minutes=random.randrange(60))
        yield _game(number, clock, random)


def _game(number: int, start: datetime, random: Random) -> str:
    white, black = random.sample(list(MEMBERS), 2)
    expected = 1 / (1 + 10 ** ((MEMBERS[black] - MEMBERS[white]) / 400))
    luck = random.random()
    result = "1-0" if luck < expected - 0.1 else "1/2-1/2" if luck < expected + 0.1 else "0-1"
    moves = random.choice(LINES).split()
    moves = moves[: random.randrange(12, len(moves) + 1)]
    termination = "Normal"
    if result != "1/2-1/2" and random.random() < 0.15:
        termination = "Time forfeit"
        moves = moves[: len(moves) - (len(moves) % 2 == (0 if result == "1-0" else 1))]
    elif result != "1/2-1/2" and random.random() < 0.03:
        moves = MATES[0 if result == "1-0" else 1].split()
    elif random.random() < 0.02:
        moves = moves[:6]  # too short to count
    tags = {
        "Event": "Club evening", "Site": "Invented Chess Club", "Date": f"{start:%Y.%m.%d}", "Round": "-",
        "White": white, "Black": black, "Result": result, "UTCDate": f"{start:%Y.%m.%d}",
        "UTCTime": f"{start:%H:%M:%S}", "TimeControl": "1800+10", "Termination": termination, "ClubGame": str(number),
    }  # fmt: skip
    head = "".join(f'[{name} "{value}"]\n' for name, value in tags.items())
    numbered = " ".join(f"{i // 2 + 1}. {move}" if i % 2 == 0 else move for i, move in enumerate(moves))
    return f"{head}\n{numbered} {result}\n\n"


def main(argv: Sequence[str] | None = None) -> int:
    """Write or check the sample; returns the exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    text = "".join(games())
    if "--check" in words:
        if FILE.read_text(encoding="utf-8") == text:
            return 0
        output.remark(f"{FILE.name} differs: run 'python -m tools.sample'")
        return 1
    file = Path(words[0]) if words else FILE
    if words and file.exists():
        output.error(f"{file} is there already: name a new file")
        return 1
    file.write_text(text, encoding="utf-8")
    output.answer(f"{file}: {GAMES} games of an invented club")
    return 0


if __name__ == "__main__":
    sys.exit(main())
