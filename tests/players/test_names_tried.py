"""Whoever has the journal, and not the people file, tries 10,001 names for a player who was erased.

The thief knows all of the game but the name, and how keys are made. In a ledger of an earlier release that is enough.
"""

import io
import re
import shutil
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

from ledger.duplicates.game_keys import keyed_hashes, numbered_key
from ledger.facts.source_games import SourceGame
from ledger.imports import manual_entry
from ledger.imports.files import wrap_file
from ledger.imports.formats import read_game_frames
from ledger.imports.reading import FileHints, batch_games
from ledger.ledger import Ledger
from ledger.players.persons import new_secret
from ledger.runtime.ledger_files import sidecar
from tests.kit.clubs import secrets_as_drawn
from tests.kit.commands import Run
from tests.kit.source_files import player, report
from tests.tiers import few_quick

NAMES = [f"Person{number} Family" for number in range(10_001)]
RIGHT = NAMES[4_321]
FILES = ("csv", "pgn", "trf")
FORMATS = (*FILES, "hand")


def told(fmt: str, names: Iterable[str]) -> bytes:
    """A file that tells the game once for each name: Bob lost to whoever bears it."""
    if fmt == "csv":
        rows = [f"{name},Bob,1-0,2024-05-03,Cup,1,40" for name in names]
        lines = ["white,black,result,ended_at,tournament,round,half_moves", *rows]
        return "\n".join(lines).encode() + b"\n"
    if fmt == "pgn":
        tags = '[Event "Cup"]\n[Date "2024.05.03"]\n[Round "1"]\n[White "{}"]\n[Black "Bob"]\n[Result "1-0"]\n\n'
        return "".join(f"{tags.format(name)}1. e4 1-0\n\n" for name in names).encode()
    return "".join(report([player(1, name, "2 w 1"), player(2, "Bob", "1 b 0")]) for name in names).encode()


def read(fmt: str, names: Iterable[str]) -> Iterator[SourceGame]:
    """The games of such a file as its importer reads them."""
    # one report after the other: within one file somebody has one opponent in a round
    for content in [told(fmt, [name]) for name in names] if fmt == "trf" else [told(fmt, names)]:
        for frame in read_game_frames(wrap_file(io.BytesIO(content), "trial"), fmt, FileHints()):
            yield from (SourceGame(*row) for row in frame.iter_rows())


@cache
def plain_keys(fmt: str) -> dict[str, str]:
    """For each name what the key of the game is made from."""
    if fmt == "hand":
        return {name: manual_entry.derive_key("2024-05-03", f"name:{name.lower()}", "name:bob") for name in NAMES}
    keys = {game.white_name: game.key for game in read(fmt, NAMES)}
    assert len(keys) == len(NAMES)
    return keys


def names_found(files: Iterable[Path], plain: dict[str, str]) -> set[str]:
    """The names whose digest stands anywhere in the bytes of these files: as text, raw, or as the next of its facts."""
    stolen = b"\n".join(path.read_bytes() for path in files)
    digests = {match.decode() for match in re.findall(rb"(?=([0-9a-f]{23}))", stolen)}
    begins = {stolen[place : place + 4] for place in range(len(stolen))}  # few of 20,002 digests are looked for in full
    found = set()
    for name, key in plain.items():
        for made in (key, numbered_key(key, 2)):
            digest = made.partition(":")[2]
            raw = bytes.fromhex(digest)
            if digest[:23] in digests or (raw[:4] in begins and raw in stolen):
                found.add(name)
    return found


def take(run: Run, path: Path, fmt: str, name: str) -> None:
    """Record the game with one name."""
    if fmt == "hand":
        words = ("--white", name, "--black", "Bob", "--result", "1-0", "--ended", "2024-05-03", "--new")
        assert run("record", path, *words).code == 0
        return
    file = path.with_name(f"{name}.{fmt}")
    file.write_bytes(told(fmt, [name]))
    done = run("import", path, file)
    assert done.code == 0, done.err


@pytest.fixture
def erased(tmp_path: Path, run: Run) -> Path:
    """A ledger with a secret as everybody gets it."""
    path = tmp_path / "club.db"
    with secrets_as_drawn():
        assert run("init", path).code == 0
    return path


@pytest.mark.parametrize("fmt", few_quick(FORMATS, "csv"))
def test_no_name_can_be_tried_against_what_stands_beside_the_people_file(fmt: str, erased: Path, run: Run) -> None:
    take(run, erased, fmt, RIGHT)
    done = run("erase", erased, RIGHT, "--yes")
    assert done.code == 0
    assert "without a secret" not in done.err
    assert run("backup", erased, erased.parent / "backup").code == 0
    stolen = [path for path in erased.parent.rglob("*") if path.is_file() and ".people." not in path.name]
    stolen = [path for path in stolen if path.suffix not in {".csv", ".pgn", ".trf"}]
    assert len(stolen) >= 4
    plain = plain_keys(fmt)
    assert names_found(stolen, plain) == set()
    keys = {key.decode() for key in _keys(erased)}
    assert keys
    assert keys.isdisjoint(keyed_hashes(new_secret(), plain.values()))  # a secret that the thief made up is of no use


@pytest.mark.parametrize("fmt", few_quick(FORMATS, "csv"))
def test_the_same_trial_finds_the_name_in_a_ledger_of_an_earlier_release(fmt: str, erased: Path, run: Run) -> None:
    """So the trial above is one. The officer is told, when the person is erased."""
    plain = plain_keys(fmt)
    (game,) = read("csv", [RIGHT])
    with Ledger.open(erased) as ledger:
        ledger.import_games(batch_games([game._replace(key=plain[RIGHT], is_made=False)]))
    assert names_found([erased], plain) == {RIGHT}
    done = run("erase", erased, RIGHT, "--yes")
    assert "1 game stands under a key that an earlier release made of names, without a secret" in done.err


def _keys(path: Path) -> list[bytes]:
    return re.findall(rb"(?:csv|pgn|trf|hand):k[0-9a-f]{23}", path.read_bytes())


def retold(run: Run, path: Path, fmt: str, name: str, *options: str) -> str:
    """What an import says of the file with a name, without the name of the file."""
    file = path.with_name(f"again.{fmt}")
    file.write_bytes(told(fmt, [name]))
    return run("import", path, file, *options).err


@pytest.mark.parametrize("fmt", few_quick(FILES, "csv"))
def test_a_file_that_tells_the_game_again_is_held_back_whoever_it_names(fmt: str, erased: Path, run: Run) -> None:
    take(run, erased, fmt, RIGHT)
    assert run("erase", erased, RIGHT, "--yes").code == 0
    before = run("head", erased).out
    answers = [retold(run, erased, fmt, name) for name in (RIGHT, NAMES[7])]
    assert answers[0] == answers[1]
    assert "this is probably" in answers[0]
    assert "1 probably known, held back (--record-alike records them)" in answers[0]
    assert "white=" not in answers[0]
    assert retold(run, erased, fmt, RIGHT, "--dry-run").count("held back") == 2
    assert run("head", erased).out == before  # nobody was registered
    with Ledger.open(erased) as ledger:
        assert ledger.people.by_identity([f"name:{RIGHT.lower()}"]) == {}
    for _ in range(2):
        again = retold(run, erased, fmt, RIGHT, "--record-alike")
        assert "white=" not in again
    assert "0 games recorded, 1 known already" in again
    assert "TRUE" in run("audit", erased).out
    assert "1 known already" in retold(run, erased, fmt, RIGHT)


@pytest.mark.parametrize("fmt", few_quick(FILES, "csv"))
def test_with_the_journal_alone_no_import_tells_who_it_was(fmt: str, erased: Path, run: Run) -> None:
    """The thief goes on without the names, and imports a file for each; Bob is nobody there, either."""
    take(run, erased, fmt, RIGHT)
    answers: list[str] = []
    for name in (RIGHT, NAMES[7]):
        stolen = erased.parent / f"stolen{len(answers)}" / "club.db"
        stolen.parent.mkdir()
        shutil.copy(erased, stolen)
        with secrets_as_drawn():
            assert run("accept-lost-names", stolen, "--yes").code == 0
        assert sidecar(stolen, "people").exists()
        answers.append(retold(run, stolen, fmt, name).replace(str(stolen.parent), ""))
    assert answers[0] == answers[1]
    assert "1 probably known, held back" in answers[0]


def test_a_game_of_a_server_with_an_erased_side_is_held_back_too(erased: Path, run: Run) -> None:
    """Its key is the server's, so that what is told is surely it; who had White is not said."""
    pgn = told("pgn", [RIGHT]).replace(b'[Round "1"]', b'[Site "https://lichess.org/abcdefgh"]')
    erased.with_name("games.pgn").write_bytes(pgn)
    assert run("import", erased, erased.with_name("games.pgn")).code == 0
    assert run("erase", erased, "1", "--yes").code == 0
    before = run("head", erased).out
    done = run("import", erased, erased.with_name("games.pgn"))
    assert "this is probably 'lichess:abcdefgh' of entry" in done.err
    assert "white=" not in done.err
    assert run("head", erased).out == before
    done = run("import", erased, erased.with_name("games.pgn"), "--record-alike")
    assert done.code != 0
    assert "'lichess:abcdefgh' was recorded with a player who was erased since" in done.err
    assert "white=" not in done.err


def test_other_games_of_somebody_new_are_recorded(erased: Path, run: Run) -> None:
    """Held back is what may be a game of the erased person alone: its day, its opponent, its result."""
    take(run, erased, "csv", RIGHT)
    assert run("erase", erased, RIGHT, "--yes").code == 0
    rows = [
        "Zed,Bob,1-0,2024-05-04,Cup,2",
        "Zed,Bob,0-1,2024-05-03,Cup,1",
        "Zed,Yan,1-0,2024-05-03,Cup,1",
        "Bob,Zed,1-0,2024-05-03,Cup,1",
        "Zed,Bob,1-0,2024-05-03,Cup,3",
    ]
    file = erased.with_name("more.csv")
    rows = [f"{row},40" for row in rows]  # whoever made moves has played, also against a second opponent in a round
    header = "white,black,result,ended_at,tournament,round,half_moves"
    file.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    assert "5 games recorded, 0 known already" in run("import", erased, file).err
    assert "0 games recorded, 5 known already" in run("import", erased, file).err
