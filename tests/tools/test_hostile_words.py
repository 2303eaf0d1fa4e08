"""Every command refuses words that nobody means, whichever of its parameters gets them, and says which in a line.

The commands and their parameters are those that click knows, so that a new one is tried here by itself.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

import click
import pytest

from tests.kit.clubs import copied
from tests.kit.commands import Done, Run
from tests.kit.corrections import ask, made
from tests.tiers import few_quick
from tools.commands import REFUSED, USAGE
from tools.docs.command_texts import every_command
from tools.groups import MAY_BE_EMPTY

# Two use their words when somebody asks, which tests/serve tries; the checker first fetches Pyodide (test_checker).
COMMANDS = {
    words: command
    for words, command in every_command().items()
    if not isinstance(command, click.Group) and words.split()[0] not in {"serve", "datasette", "checker"}
}
FEW = ("init", "import", "record", "correct void", "query", "player add", "publish", "export", "restore", "show")
"""The commands that stand for all in the quick tests."""
GOOD: Mapping[str, str] = {
    "player": "Ann", "opponent": "Bob", "white": "Ann", "black": "Bob", "into": "Bob", "who": "eve", "part": "Ann",
    "game": "g1", "event": "Open", "tournament": "Open", "number": "1", "proposal": "1", "fact": "game:g1",
    "files": "games.csv", "file": "list.csv", "folder": "copy", "published": "standard@2026-10", "other": "now",
    "statement": "SELECT 1", "identity": "name:zoe", "name": "Zoe", "schemes": "elo,glicko", "scheme": "elo",
    "rating": "1500", "settings": "margin=250", "shell": "bash", "what": "games",
    "result": "1-0", "to": "1/2-1/2", "field": "round", "which": "all", "brings": "half",
    "started": "2026-11-01", "since": "2026-11-01", "ended": "2026-11-09", "as_of": "2026-10",
    "edition": "2026-11-02", "at": "2026-11", "journal": "file", "starts_at": "2026-11-01", "ends_at": "2026-11-09",
    "roles": "approver", "from": "2026-11-01", "games_played": "1400", "strength": "advanced",
    "reference": "8-9", "import": "8-9", "ranges": "k=8..60",
}  # fmt: skip
MORE = {  # what a command needs beside what click calls required
    "games": ("--on", "2026-11-01"), "time-losses": ("--all",), "player add": ("--rating", "1500"),
    "player set": ("--rating", "1850", "--since", "2026-10"), "scheme adopt": ("--from", "2026-11-03"),
    "token reset": ("--yes",), "correct erase-reason": ("--yes",), "bye": ("--round", "7"),
    "publish": ("--despite-complaints",), "erase": ("--yes",), "player describe": ("--title", "FM"),
    "describe-tournament": ("--city", "Oslo"),
}  # fmt: skip
OF_A_COMMAND = {  # right words of a command where others mean something else by the same name
    ("policy set", "name"): "upsets", ("correct batch", "file"): "batch.csv", ("correct close-run", "ended"): "2026-10",
    ("correct rating", "to"): "1850", ("correct born", "to"): "1990", ("correct declared", "to"): "1700",
    ("correct standing", "to"): "guest",
    ("correct federation", "to"): "NOR",
    ("correct strength", "to"): "advanced", ("correct reassign", "to"): "Cleo", ("correct fact", "to"): "3",
    ("correct game", "to"): "3", ("publish", "as_of"): "2026-11-05",
}  # fmt: skip
FINDING = {"part", "search", "round_", "quiet_days"}  # such a word finds nothing, or limits nothing
# What these say is looked at only where there is what this ledger does not have (moves, tokens, a merge, a key, a clock
# that was wrong), names a new file or folder, is a place in a statement of SQL, or is answered as a fault (health).
UNASKED: Mapping[str, set[str]] = {
    "board": {"start"}, "token revoke": {"by"}, "token reset": {"by"},
    "correct unmerge": {"reason", "by", "token_file"}, "checkpoint": {"keep_in"}, "receipt": {"target"},
    "verify-checkpoint": {"since"}, "accept-clock": {"actor"}, "import": {"differences"}, "audit": {"save_head"},
    "backup": {"folder"}, "restore": {"db_path"}, "move": {"schema"}, "query": {"statement"},
    "export": {"published", "tournament"}, "tune": {"file"}, "health": {"folder", "head_file", "db_path"},
}  # fmt: skip
NO_TEXT, CONTROLS, LONG = "\udcff", "a\x1b[2J\nb", "9" * 5_000  # Python reads no number of so many digits
TEXTS, NUMBERS, PATHS = (NO_TEXT, CONTROLS, LONG), (NO_TEXT, "", "nan", "1e999", LONG), (NO_TEXT, "", "/", LONG)


@pytest.fixture(scope="module")
def folder_with_a_proposal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The club of four with a published list and an open proposal."""
    folder = tmp_path_factory.mktemp("four")
    with made(folder / "club.db") as ledger:
        ledger.publications.publish("2026-10", actor="eve")
        ledger.propose([ask(ledger, "void", game="g1")], reason="played twice", by="eve")
        ledger.ensure_up_to_date()
    return folder


def hostile(parameter: click.Parameter, *, is_asked: bool) -> tuple[str, ...]:
    is_option = isinstance(parameter, click.Option)
    empty = ("",) if is_option and parameter.nargs == 1 and parameter.type is not MAY_BE_EMPTY else ()
    if not is_asked:
        return empty
    if isinstance(parameter.type, click.Path):
        return PATHS
    is_text = isinstance(parameter.type, (click.Choice, click.types.StringParamType))
    return (*TEXTS, *empty) if is_text else NUMBERS


def line(words: str, club: Path, of: click.Parameter, value: str) -> list[str]:
    """The command with words that are right but for one parameter."""
    first, *inner = words.split()
    given = [first, str(club), *inner] if first == "correct" else [first, *inner]
    given += MORE.get(words, ())
    for parameter in COMMANDS[words].params:
        name = (parameter.name or "").removesuffix("_")  # those of verbs end so
        good = str(club) if name == "db_path" else OF_A_COMMAND.get((words, name)) or GOOD.get(name, "x")
        if parameter is of or parameter.required or name == "what":
            option = [] if isinstance(parameter, click.Argument) else [parameter.opts[0]]
            given += [*option, value if parameter is of else good]
    return given


def files(folder: Path) -> Mapping[Path, bytes]:
    return {
        path: path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not path.name.endswith(("-wal", "-shm", ".lock"))
    }


def faults(done: Done, parameter: click.Parameter, value: str) -> Iterator[str]:
    if done.code == 0 and parameter.name in FINDING:
        return
    if done.code not in {REFUSED, USAGE}:
        yield f"exit code {done.code}"
    if done.out:
        yield f"prints {done.out[:80]}"
    if done.code == REFUSED and not done.err.startswith(("error: ", "batch.csv:")):
        yield f"says {done.err[:300]}"
    names = {value[:5].encode("unicode_escape").decode(), *parameter.opts, parameter.human_readable_name}
    if not any(name in done.err for name in names):
        yield f"names it not: {done.err[-300:]}"


@pytest.mark.parametrize("words", few_quick(COMMANDS, *FEW))
def test_a_hostile_word_is_named_and_changes_nothing(
    words: str, folder_with_a_proposal: Path, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    club = copied(folder_with_a_proposal, tmp_path)
    (tmp_path / "games.csv").write_text("white,black,result,ended_at\nAnn,Bob,1-0,2026-11-08\n")
    (tmp_path / "batch.csv").write_text("verb,game\nvoid,g1\n")
    (tmp_path / "list.csv").write_text("name,rating\nZoe,1500\n")
    monkeypatch.chdir(tmp_path)
    before = files(tmp_path)
    found = []
    for parameter in COMMANDS[words].params:
        is_flag = isinstance(parameter, click.Option) and parameter.is_flag
        if not is_flag:
            for value in hostile(parameter, is_asked=parameter.name not in UNASKED.get(words, ())):
                done = run(*line(words, club, parameter, value))
                found += [(parameter.name, value[:20], fault) for fault in faults(done, parameter, value)]
                if files(tmp_path) != before:
                    found.append((parameter.name, value[:20], "changes files"))
                    before = files(tmp_path)
    assert found == []
