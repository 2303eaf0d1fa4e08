"""The commands that are recorded for power cuts, and the files that they import.

``python -m`` this module CLUB games COUNT is one of them: it keeps a ledger open, as a server does, registers players,
appends games one by one and updates the views now and then. Every few games it prints how many entries the journal
holds, which is a promise to its reader. CLUB refusals COUNT refuses people without a token; the file of tokens keeps
these refusals.
"""

import sys
from contextlib import suppress
from datetime import date, timedelta
from pathlib import Path

import attrs

from ledger.errors import RejectedError
from ledger.facts.events import Role
from ledger.facts.source_games import SourceGame
from ledger.ledger import Ledger
from tests.crashes.killed_verbs import proposed
from tests.kit.games import game_recorded, source_game
from tests.kit.source_files import game_line
from tools import cli, output

_LIVE = "tests.attacks.power_commands"


@attrs.frozen
class Command:
    """A command to record."""

    name: str
    words: tuple[str, ...]  # ``{club}`` is the journal, ``{folder}`` its folder, ``{files}`` where imported files are
    module: str = cli.__name__
    is_whole: bool = True  # it records all that it records in one transaction
    forgets: bool = False  # it must leave nothing of the names that it takes away
    makes: tuple[str, ...] = ()  # files whose paths begin so are whole once the command has said its last word


# One after the other, each on the files as the one before left them.
COMMANDS: tuple[Command, ...] = (
    Command("an import with movetext", ("import", "{club}", "{files}/first.jsonl")),
    Command("games one by one", ("{club}", "games", "120"), _LIVE, is_whole=False),
    Command("player add", ("player", "add", "{club}", "club:77", "Nora Attacks", "--rating", "1800"), is_whole=False),
    Command("player set", ("player", "set", "{club}", "club:77", "--born", "1990")),
    Command("player rename", ("player", "rename", "{club}", "club:77", "Nora Renamed Attacks"), forgets=True),
    Command("players import", ("players", "import", "{club}", "{files}/list.csv", "--since", "2019-01-01")),
    Command(
        "a strict import of two files",
        ("import", "--strict", "{club}", "{files}/second.jsonl", "{files}/third.jsonl"),
        is_whole=False,
    ),
    Command("erase", ("erase", "{club}", "club:77", "--yes"), forgets=True),
    Command("scheme adopt", ("scheme", "adopt", "{club}", "--scheme", "fide", "--from", "2021-01-01")),
    Command(
        "open-tournament", ("open-tournament", "{club}", "Attack cup", "--start", "2020-04-01", "--end", "2020-04-09")
    ),
    Command("rebuild", ("rebuild", "{club}")),
    Command("checkpoint-key", ("checkpoint-key", "{club}", "--new", "example.org/club"), makes=("club.key",)),
    Command("the first checkpoint", ("checkpoint", "{club}"), makes=("club.checkpoints",)),
    Command("a proposal", proposed("result", "power-3", "--to", "0-1")),
    Command("an approval", ("correct", "{club}", "approve", "1", "--by", "adam"), makes=("club.checkpoints",)),
    Command("a proposal of a late game", proposed("late", "club:100", "club:101", "--to", "1-0", "--ended", "2020")),
    Command(
        "the approval that records it",
        ("correct", "{club}", "approve", "2", "--by", "adam"),
        makes=("club.checkpoints",),
    ),
    Command("policy set", ("policy", "set", "{club}", "upsets", "margin=250", "--from", "2019-01-01")),
    Command(
        "publish", ("publish", "{club}", "--at", "2020-06-30", "--despite-complaints"), makes=("club.checkpoints",)
    ),
    Command(
        "a checkpoint elsewhere",
        ("checkpoint", "{club}", "--keep-in", "{folder}/elsewhere"),
        makes=("club.toml", "elsewhere"),
    ),
    Command("backup", ("backup", "{club}", "{folder}/kept"), makes=("kept/",)),
    Command("an import after it", ("import", "{club}", "{files}/fourth.jsonl")),
    Command("restore", ("restore", "{folder}/kept", "{club}", "--replace", "--yes")),
    Command("the first token", ("token", "add", "{club}", "eve", "--role", "corrector")),
    Command("a token more", ("token", "add", "{club}", "adam", "--role", "corrector")),
    Command("a token revoked", ("token", "revoke", "{club}", "eve")),
    Command("refusals", ("{club}", "refusals", "6"), _LIVE, is_whole=False),
)
INIT = Command("init", ("init", "{club}"))


def write_files(folder: Path) -> None:
    """Write the files that the commands import."""
    names = [f"Player {letter}" for letter in "ABCDEFGHIJ"]

    def played(i: int) -> SourceGame:
        white, black, outcome = names[i % 10], names[(i + 1 + i % 3) % 10], ("white", "black", "draw")[i % 3]
        facts = {"ended_at": str(date(2020, 2, 20) + timedelta(days=i)), "tournament": "Attack cup"}
        return source_game(f"club:power-{i}", white, black, outcome=outcome, text=f"e4 e5 Nf3 Nc6 {i % 7}", **facts)

    for name, first, count in (("first", 0, 40), ("second", 40, 10), ("third", 50, 10), ("fourth", 60, 10)):
        lines = (game_line(played(i)) for i in range(first, first + count))
        (folder / f"{name}.jsonl").write_bytes(b"".join(lines))
    rows = [f"club:{100 + i},List Player {i},{1500 + 10 * i},12,1980" for i in range(20)]
    (folder / "list.csv").write_text("\n".join(("identity,name,rating,games,birth_year", *rows)) + "\n", "utf-8")


SPEAKS, LEVELS = 4, 10  # games between two answers, and between two times that the views are brought level


def record_games(ledger: Ledger, count: int) -> None:
    """Register players and record games one by one."""
    pool = ledger.first_scheme().pool
    known = [ledger.register(f"live:{number}", f"Live Player {number}") for number in range(2)]
    for number in range(count):
        if number % SPEAKS == 0:
            known.append(ledger.register(f"live:{len(known)}", f"Live Player {len(known)}"))
        white, black = known[number % len(known)], known[(number + 1) % len(known)]
        ended_at = str(date(2020, 7, 19) + timedelta(days=number))
        ledger.append(game_recorded(f"live:{number}", pool=pool, white=white, black=black, ended_at=ended_at))
        if number % LEVELS == 0:
            ledger.catch_up()
        if number % SPEAKS == 0:
            output.answer(str(ledger.journal.size()))


def refuse(ledger: Ledger, count: int) -> None:
    """Refuse people without a token."""
    for number in range(count):
        with suppress(RejectedError):
            ledger.tokens.authenticate(None, f"mallory {number}", Role.CORRECTOR, "try")
        output.answer(str(len(ledger.tokens.log())))


if __name__ == "__main__":
    with Ledger.open(sys.argv[1]) as opened:
        {"games": record_games, "refusals": refuse}[sys.argv[2]](opened, int(sys.argv[3]))
