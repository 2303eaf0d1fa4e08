"""Nothing that came from a file, a name, an argument or a database reaches a terminal or a spreadsheet as a command.

Every command of ``cli.COMMANDS`` is tried by itself, its arguments told by click: in every format over a ledger whose
names, keys, tournaments and file names are as evil as the rules allow; with evil arguments; and over databases into
which a thief wrote what the rules refuse, by night in every format.
"""

import csv
import io
import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import click
import pytest

from ledger.facts import codec
from ledger.facts.words import Outcome, Termination
from ledger.ledger import Ledger
from ledger.registering import registry
from ledger.runtime import sqlite
from ledger.runtime.visible import visible
from tests.kit.checkpoints import give_key
from tests.kit.games import game_recorded
from tests.kit.harmless import (
    ALLOWED,
    BIDI,
    CONTROLS,
    ESCAPE,
    EVERYTHING,
    FORMULAS,
    LINES,
    LONE,
    UNSEEN,
    ZALGO,
    Ran,
    RunRaw,
    assert_harmless,
    is_run,
    without_apostrophes,
)
from tests.kit.tampering import execute
from tests.tiers import PROFILE, few_quick
from tools import cli, output, running
from tools.commands import graph as graphing

LONG = PROFILE == "nightly"

WHITE, BLACK = f"Ann {ALLOWED}", "=cmd|' /C calc'!A0;=1"
CUP, ROUND = f"Cup {ALLOWED}", f"=2+{BIDI}"
KEY = "name:ann"


@pytest.fixture(scope="module")
def evil(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger as evil as the rules allow, in a folder and under a name that are no better."""
    folder = tmp_path_factory.mktemp("evil") / f"a{BIDI}{UNSEEN}\x1b[2J"
    folder.mkdir()
    path = folder / f"club\x1b[31m{LINES}.db"
    with Ledger.create(path) as ledger:
        known = [ledger.register(KEY, WHITE), ledger.register(f"id:{ALLOWED}", BLACK)]
        known += [ledger.register(f"id:{i}", name) for i, name in enumerate((*FORMULAS, ZALGO))]
        with pytest.MonkeyPatch.context() as patched:  # an older version sealed names that hold control characters
            patched.setattr(registry, "person_faults", lambda *_, **__: [])
            known.append(ledger.register("id:old", "Ann\x1b[2J\r\n\t"))
        for number, black in enumerate(known[1:], 1):
            for again in range(3):
                game = game_recorded(
                    f"g{number}-{again}",
                    white=known[0],
                    black=black,
                    outcome=(Outcome.WHITE, Outcome.DRAW, Outcome.BLACK)[again],
                    termination=Termination.TIME,
                    half_moves=40,
                    ended_at=f"201{again}-{1 + number % 12:02}-{number:02}",
                    tournament=CUP,
                    round=ROUND,
                )
                ledger.append(game)
        with pytest.MonkeyPatch.context() as patched:  # so it did those of people who act
            patched.setattr(codec, "actor_faults", lambda _: [])
            ledger.publications.publish("2010", actor=f"eve {ALLOWED}", despite_complaints=True)
        ledger.catch_up()
    return path


def copied(evil: Path, folder: Path) -> Path:
    shutil.copytree(evil.parent, folder / evil.parent.name)
    return folder / evil.parent.name / evil.name


@pytest.fixture
def evil_copy(evil: Path, tmp_path: Path) -> Path:
    """The evil ledger, to spoil."""
    return copied(evil, tmp_path)


@pytest.fixture
def run_raw(monkeypatch: pytest.MonkeyPatch) -> RunRaw:
    """Run one command; a mistake in the program is shown as the process would show it, and has the code -1."""
    shown: list[Any] = []
    for name in ("write", "write_one"):
        real = getattr(output, name)

        def kept(rows: Any, fmt: str | None, real: Callable[..., None] = real) -> None:
            if rows != shown[-1:]:  # what write_one hands on to write is the same again
                shown.append(rows)
            real(rows, fmt)

        monkeypatch.setattr(output, name, kept)
    monkeypatch.setattr("time.thread_time", lambda: 0.0)  # compare shows it

    def run_raw(*words: str | Path) -> Ran:
        shown.clear()
        out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", newline="", write_through=True) for _ in range(2))
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", out)
            patch.setattr(sys, "stderr", err)
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))
            try:
                code = cli.main([str(word) for word in words])
            except Exception as mistake:  # noqa: BLE001  # whatever it is, it is shown
                code = -1
                running._show_mistake(type(mistake), mistake, mistake.__traceback__)
        return Ran(code, out.buffer.getvalue(), err.buffer.getvalue(), list(shown))

    return run_raw


def commands() -> Iterator[tuple[str, click.Command]]:
    """Every command and sub-command with its words."""
    context = click.Context(cli.cli)
    waiting = [(name, cli.cli.get_command(context, name)) for name in cli.COMMANDS]
    while waiting:
        words, command = waiting.pop(0)
        assert command is not None
        if isinstance(command, click.Group):
            waiting += [(f"{words} {name}", command.get_command(context, name)) for name in command.commands]
        else:
            yield words, command


# These go on until they are stopped; what a server answers is JSON, and tests/serve asks it.
ALL = {words: command for words, command in commands() if words not in {"serve", "follow", "checker"}}
# What the parameters of a command are given where it is to succeed, by their names.
GOOD: Mapping[str, str] = {
    "player": KEY, "opponent": f"id:{ALLOWED}", "game": "g1-0", "tournament": CUP, "ended": "2020", "as_of": "2020",
    "schemes": "chessworld,elo", "name": "elo", "since": "2012-01-01", "on": "2013-05", "other": "now",
    "published": "standard@2010", "event": CUP, "what": "games", "part": "ann",
    "statement": "SELECT * FROM names JOIN games",
}  # fmt: skip
# Commands that answer from the evil ledger with the arguments of GOOD, and in how many words of evil at least.
ANSWERS = {
    "ratings", "show", "games", "graph", "explain", "changes", "predict", "log", "pools", "compare", "scheme list",
    "scheme show", "scheme eras", "audit", "head", "rebuild", "close-tournament", "policy list", "lists", "diff",
    "tournaments", "crosstable", "query", "search", "tune",
}  # fmt: skip
TUNED = {**GOOD, "scheme": "elo", "ranges": "k=8..60"}
TELLS = ANSWERS - {
    "pools",
    "compare",
    "tune",
    "scheme list",
    "scheme show",
    "scheme eras",
    "head",
    "policy list",
    "diff",
}


def words_for(command: click.Command, path: Path, values: Mapping[str, str] = GOOD) -> list[str]:
    """The arguments and required options of a command."""
    words: list[str] = []
    for parameter in command.params:
        name = parameter.name or ""
        if isinstance(parameter, click.Argument):
            words.append(str(path) if name == "db_path" else values.get(name, EVERYTHING))
        elif parameter.required:
            words += [parameter.opts[0], values.get(name, EVERYTHING)]
    return words


def formats_of(command: click.Command) -> list[str]:
    flags = {flag for one in command.params if one.name == "fmt" for flag in one.opts}
    return ["", *sorted(flags & {"--nl", "--csv", "--tsv", "--table"})]


@pytest.mark.parametrize("words", few_quick(ALL, "ratings", "games", "explain", "import"))
def test_every_answer_about_an_evil_ledger_is_harmless(words: str, evil: Path, tmp_path: Path, run_raw: RunRaw) -> None:
    for fmt in formats_of(ALL[words]):
        path = copied(evil, tmp_path / f"as {fmt}")
        values = TUNED if words == "tune" else GOOD
        given = [*words.split(), *words_for(ALL[words], path, values), *filter(None, [fmt])]
        done = run_raw(*given)
        assert_harmless(done, fmt)
        assert done.code != -1
        if words in ANSWERS:
            assert done.code == 0
            assert (b"\\u" in done.out + done.err) or words not in TELLS
        if fmt in DIALECTS:
            raw = run_raw(*given, "--raw")
            assert_harmless(raw, fmt)
            assert_no_formulas(words, done, raw, fmt)
        elif "--nl" in formats_of(ALL[words]):
            assert_same_as_shown(done, fmt)


def assert_same_as_shown(done: Ran, fmt: str) -> None:
    """JSON says the very same as the rows that the command showed."""
    if fmt == "" and done.shown:
        assert json.loads(done.out) == json.loads(json.dumps(done.shown[0]))
    if fmt == "--nl":
        rows = [row for shown in done.shown for row in (shown if isinstance(shown, list) else [shown])]
        assert [json.loads(line) for line in done.out.split(b"\n") if line] == json.loads(json.dumps(rows))
        # a reader of lines that knows more ends of lines than the line feed sees the same lines
        assert done.out.decode().splitlines() == done.out.decode().split("\n")[:-1]


DIALECTS = {"--csv": "excel", "--tsv": "excel-tab"}


def assert_no_formulas(words: str, done: Ran, raw: Ran, fmt: str) -> None:
    """No cell is a formula unless cells are asked for raw."""
    safe_rows = list(csv.reader(io.StringIO(done.out.decode()), DIALECTS[fmt]))
    raw_rows = list(csv.reader(io.StringIO(raw.out.decode()), DIALECTS[fmt]))
    other = ";" if fmt == "--csv" else ";,"
    for cells, raw_cells in zip(safe_rows, raw_rows, strict=True):
        for cell, raw_cell in zip(cells, raw_cells, strict=True):
            assert not any(map(is_run, re.split(f"[{other}\n]", cell))), cell
            if is_json(raw_cell):
                assert json.loads(cell) == json.loads(raw_cell)
            else:
                assert without_apostrophes(cell, f"{other}\n") == raw_cell
    if words == "ratings":
        shown = {row["name"] for row in raw.shown[0]}
        assert {cells[2] for cells in raw_rows[1:]} == {visible(name, keep="\n") for name in shown}
        assert sum(cells != raw_cells for cells, raw_cells in zip(safe_rows, raw_rows, strict=True)) >= len(FORMULAS)


def is_json(text: str) -> bool:
    with suppress(ValueError):
        return isinstance(json.loads(text), dict | list)
    return False


@pytest.mark.parametrize("kind", few_quick([kind for kind in graphing.FORMATS if kind != "png"], "html"))
def test_a_graph_of_an_evil_ledger_is_harmless_in_every_format(kind: str, evil_copy: Path, run_raw: RunRaw) -> None:
    beside = [] if kind in {"txt", "lichess", "css"} else ["--by", "date", "--against", f"id:{ALLOWED}"]
    done = run_raw("graph", evil_copy, KEY, "--format", kind, *beside)
    assert_harmless(done)
    assert done.code == 0
    if kind in {"svg", "html"}:
        assert done.out.count(b"<script") == (kind == "html")


@pytest.mark.parametrize("kind", few_quick(["txt", "html", "svg", "json", "csv"], "csv"))
def test_a_cross_table_is_harmless_in_every_format(kind: str, evil_copy: Path, run_raw: RunRaw, tmp_path: Path) -> None:
    done = run_raw("crosstable", evil_copy, CUP, "--format", kind)
    assert_harmless(done, f"--{kind}" if kind == "csv" else "")
    assert done.code == 0
    path = tmp_path / "table"
    assert run_raw("crosstable", evil_copy, CUP, "--format", kind, "-o", path).code == 0
    assert path.read_bytes() == done.out


def test_receipts_of_an_evil_ledger_are_harmless(evil_copy: Path, tmp_path: Path, run_raw: RunRaw) -> None:
    key, receipt = give_key(evil_copy), tmp_path / f"r{BIDI}\x1b[2J"
    for words in (["checkpoint-key"], ["checkpoint"], ["receipt", "g1-0", "--with-name", KEY, "--to", receipt]):
        done = run_raw(words[0], evil_copy, *words[1:])
        assert_harmless(done)
        assert done.code == 0
    for fault, code in ((b"", 0), (b"\n" + ESCAPE.encode(), 3)):
        receipt.write_bytes(receipt.read_bytes().replace(b"\n\n", fault + b"\n\n"))
        done = run_raw("verify-receipt", receipt, "--key", key.verifier)
        assert_harmless(done)
        assert (done.code, done.out.count(b"\\u") > 1) == (code, True)


# What the rules take into names and what they refuse goes different ways through a command; so does what is no text.
EVIL_WORDS = {"taken": ALLOWED, "refused": ESCAPE + CONTROLS.rstrip("\0"), "no text": LONE}


def evil_words(command: click.Command, path: Path, evil_word: str) -> Iterator[list[str]]:
    """The command with each of its parameters evil in turn, the ledger's path and unknown options too."""
    good = words_for(command, path)
    for place in range(len(good)):
        if not good[place].startswith("--"):
            yield [*good[:place], evil_word, *good[place + 1 :]]
            yield [*good[:place], f"{good[place]}{evil_word}", *good[place + 1 :]]
    for option in command.params:
        if isinstance(option, click.Option) and not option.is_flag and option.name != "fmt":
            for value in (evil_word, f"a={evil_word}", f"{evil_word}=1", f"elo.{evil_word}=1"):
                yield [*good, option.opts[0], value]
    yield [*good, f"--{evil_word}"]
    yield [*good, evil_word]


@pytest.mark.parametrize("words", few_quick(ALL, "show", "player rename"))
@pytest.mark.parametrize("kind", EVIL_WORDS)
def test_arguments_come_back_harmless(
    words: str, kind: str, evil_copy: Path, run_raw: RunRaw, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(evil_copy.parent)
    for given in evil_words(ALL[words], evil_copy, EVIL_WORDS[kind]):
        done = run_raw(*words.split(), *given)
        assert_harmless(done)
        assert done.code in {0, 1, 2, 3}, (given, done.err)


def test_an_unknown_command_comes_back_harmless(run_raw: RunRaw) -> None:
    for word in EVIL_WORDS.values():
        done = run_raw(word)
        assert done.code == 2
        assert_harmless(done)


FORMATS = {
    "csv": "key,white,black,result,half_moves,ended_at,tournament,round\n1,Ann,Bob,1-0,40,2021-03-01,Cup,1\n",
    "pgn": '[Event "Cup"]\n[Site "Here"]\n[Date "2021.03.01"]\n[Round "1"]\n[White "Ann"]\n[Black "Bob"]\n'
    '[Result "1-0"]\n[WhiteElo "1500"]\n[TimeControl "60+0"]\n[Termination "Normal"]\n[Variant "Standard"]\n\n'
    "1. e4 e5 2. Bc4 Nc6 3. Qh5 Nf6 4. Qxf7# 1-0\n",
    "jsonl": '{"key":"club:1","white":{"id":"fide:1","name":"Ann"},"black":{"id":"fide:2","name":"Bob"},'
    '"outcome":"white","termination":"resignation","half_moves":40,"ended_at":"2021-03-01","rated":true,'
    '"tournament":"Cup","round":"1","variant":"standard","speed":"blitz"}\n',
    "ndjson": '{"id":"AbCdEf12","rated":true,"variant":"standard","speed":"blitz","createdAt":1633082400000,'
    '"lastMoveAt":1633082900000,"status":"resign","players":{"white":{"user":{"name":"Ann","id":"ann"}},'
    '"black":{"user":{"name":"Bob","id":"bob"}}},"winner":"white","moves":"e4 e5 Bc4 Nc6 Qh5 Nf6 d3 d6 Nc3 Nd4 h3"}\n',
}


def evil_files(fmt: str) -> Iterator[bytes]:
    """The file of a format with each of its words evil in turn."""
    text = FORMATS[fmt]
    evils = [ESCAPE, BIDI + UNSEEN, LINES + "\x85", "=1+1"]
    for found in re.finditer(r"[\w.:/#+-]+", text):
        for evil_word in evils if LONG else evils[found.start() % 4 :][:1]:
            escaped = json.dumps(evil_word)[1:-1] if fmt.endswith("json") or fmt == "jsonl" else evil_word
            yield f"{text[: found.start()]}{escaped}{text[found.end() :]}".encode()
            yield f"{text[: found.end()]}{evil_word}{text[found.end() :]}".encode()
    yield text.replace("1-0", f"1-0{LONE}").encode(errors="surrogatepass")


@pytest.mark.parametrize("fmt", few_quick(FORMATS, "jsonl"))
def test_whatever_stands_in_a_file_its_faults_are_harmless(
    fmt: str, evil_copy: Path, tmp_path: Path, run_raw: RunRaw
) -> None:
    files = []
    for number, content in enumerate(evil_files(fmt)):
        files.append(tmp_path / os.fsdecode(f"{number}\x1b[2J\u202e".encode() + b"\x9b"))
        files[-1].write_bytes(content)
    assert len(files) > 20
    done = run_raw("import", evil_copy, *files)
    assert_harmless(done)
    assert done.code in {0, 1}
    assert b"\\x1b[2J\\u202e\\udc9b" in done.err
    assert_harmless(run_raw("import", evil_copy, *files, "--pools", "by-speed"))
    for words in (["ratings", evil_copy, "--limit", "500"], ["ratings", evil_copy, "-t"], ["pools", evil_copy, "-t"]):
        assert_harmless(run_raw(*words))


def file_of(path: Path, suffix: str) -> Path:
    return path.with_name(path.name.removesuffix(".db") + suffix)


def text_columns(path: Path) -> Iterator[tuple[str, str]]:
    """Table and column of every text of a database."""
    with closing(sqlite.sqlite3.connect(path)) as connection:
        for (table,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            for row in connection.execute(f"PRAGMA table_info({table})").fetchall():
                if row[2] in {"TEXT", "BLOB"}:
                    yield table, row[1]


def spoil(path: Path, table: str, column: str, value: str) -> None:
    """Write *value* after every text of a column, whatever guards there are."""
    with closing(sqlite.sqlite3.connect(path)) as connection, connection:
        for (trigger,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            connection.execute(f"DROP TRIGGER {trigger}")
        connection.execute("PRAGMA ignore_check_constraints = ON")
        with suppress(sqlite.sqlite3.IntegrityError):
            connection.execute(f"UPDATE {table} SET {column} = CAST({column} || ? AS TEXT)", (value,))
            return
        connection.execute(f"UPDATE {table} SET {column} = CAST({column} || ? AS BLOB)", (value.encode(),))


def answers_shown_harmless(path: Path, run_raw: RunRaw, place: int | None = None) -> Iterator[tuple[str, Ran]]:
    """Ask every command, in each format or in that of a place; yield the format and the answer, which is harmless."""
    for words, command in ALL.items():
        formats = formats_of(command)
        if words not in {"rebuild", "import", "init"}:  # they mend the views, or do not show the database
            for fmt in formats if place is None else [formats[place % len(formats)]]:
                done = run_raw(*words.split(), *words_for(command, path), *filter(None, [fmt]))
                assert_harmless(done, fmt)
                yield fmt, done


# What the views no longer answer is theirs to say better; here it counts that a traceback is harmless, too.
@pytest.mark.slow
@pytest.mark.parametrize(("suffix", "known"), [(".db", "body"), (".people.db", "name"), (".views.db", "key")])
def test_what_a_thief_writes_into_any_text_of_a_database_is_shown_harmless(
    suffix: str, known: str, evil: Path, tmp_path: Path, run_raw: RunRaw
) -> None:
    columns = list(text_columns(file_of(evil, suffix)))
    assert known in {column for _, column in columns}
    shown = 0
    every = 1 if LONG else 3
    for place, (table, column) in [*enumerate(columns)][::every]:
        spoiled = copied(evil, tmp_path / str(place))
        spoil(file_of(spoiled, suffix), table, column, EVERYTHING)
        answers = answers_shown_harmless(spoiled, run_raw, None if LONG else place)
        shown += sum(b"owned" in done.out + done.err for _, done in answers)
        shutil.rmtree(tmp_path / str(place))
    assert shown > 0


SENTINELS = {
    "people": "UPDATE people SET name = CAST(x'1b5b324aff' AS TEXT)",
    "current": "UPDATE current SET rating = 9e999",
    "history": "UPDATE history SET rating = 9e999",
    "below": "UPDATE history SET rating = -9e999, hera = 9e999, rating_sum = 9e999",
}


@pytest.mark.parametrize("what", few_quick(SENTINELS, "people"))
def test_bytes_that_are_no_text_and_numbers_without_end_are_shown_harmless(
    what: str, evil_copy: Path, run_raw: RunRaw
) -> None:
    execute(file_of(evil_copy, f".{'people' if what == 'people' else 'views'}.db"), SENTINELS[what])
    for fmt, done in answers_shown_harmless(evil_copy, run_raw):
        if fmt in {"", "--nl"} and done.code == 0 and done.shown:
            assert not {"Infinity", "NaN"} & set(re.findall(r"\w+", re.sub(r'"[^"]*"', "", done.out.decode())))
