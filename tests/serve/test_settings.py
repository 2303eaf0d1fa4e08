"""How a ledger is served: by the options of the command, and by [serve] of club.toml."""

from pathlib import Path

import pytest

from ledger.errors import MalformedError
from ledger.journal.checkpoints import CheckpointFiles
from tests.kit.commands import Run
from tools.commands.serve import serve
from tools.serve.settings import SETTINGS, Serving, serving, word_of

WITNESS_KEY = "witness.example+017acff4+BGtra2tra2tra2tra2tra2tra2tra2tra2tra2tra2tr"
WORDS = """
[serve]
listen = "unix:/run/club.sock"
public-url = "https://ratings.example.org/club/"
readers = 3
behind-proxy = "10.0.0.0/8,unix"
log = "entries"
checkpoint-every = 600
witness = "https://witness.example/"
witness-key = "witness.example+017acff4+BGtra2tra2tra2tra2tra2tra2tra2tra2tra2tra2tr"
contact = "arbiter@example.org"
names = "initials"
index = "yes"
rate = 300
largest-upload = 16
"""


@pytest.fixture(name="coming_club")
def _coming_club(tmp_path: Path) -> Path:
    return tmp_path / "club.db"


def test_every_setting_stands_in_the_file_and_the_command_line_wins(coming_club: Path) -> None:
    coming_club.with_suffix(".toml").write_text(f'key = "safe.key"\n{WORDS}', "utf-8")
    told = serving(coming_club, {"readers": 5, "log": "off", "names": None})
    assert told == Serving(
        path=coming_club,
        listen="unix:/run/club.sock",
        public_url="https://ratings.example.org/club",
        readers=5,
        behind_proxy="10.0.0.0/8,unix",
        log="off",
        checkpoint_every=600,
        witness="https://witness.example",
        witness_key=WITNESS_KEY,
        contact="arbiter@example.org",
        names="initials",
        index="yes",
        rate=300,
        largest_upload=16,
    )
    assert Serving.of_json(told.as_json()) == told
    assert CheckpointFiles(coming_club).key_file == coming_club.with_name("safe.key")


def test_without_a_file_the_defaults_hold(coming_club: Path) -> None:
    assert serving(coming_club, {}) == Serving(path=coming_club)
    assert {word for option in serve.params for word in option.opts} >= {f"--{word_of(name)}" for name in SETTINGS}


def test_all_that_is_wrong_in_the_file_is_told_with_its_line(coming_club: Path) -> None:
    words = """key = "safe.key"
[serve]
listen = "here"
readers = 0
log = 'entrys'
"rate" = "12"
index = true
redaers = 2
contact = "somebody"
behind-proxy = "proxy.example"
public-url = "ftp://example.org"
names.first = 1
person-header = "Cookie"
"""
    place = coming_club.with_suffix(".toml")
    place.write_text(words, "utf-8")
    with pytest.raises(MalformedError) as refused:
        serving(coming_club, {"readers": 2})
    assert list(refused.value.problems) == [
        f"{place}:3: [serve] listen: give ADDRESS:PORT or unix:PATH, got 'here'",
        f"{place}:4: [serve] readers: expected a whole number from 1 to 64, got 0",
        f"{place}:5: [serve] log: expected one of off, hashes, entries; did you mean 'entries'? got 'entrys'",
        f"{place}:6: [serve] rate: expected 12 without quotation marks",
        f"{place}:7: [serve] index: expected one of yes, no; got True",
        f"{place}:8: [serve] redaers: no such setting; did you mean 'readers'? expected one of "
        f"{', '.join(map(word_of, SETTINGS))}",
        f"{place}:9: [serve] contact: give an address of mail or of a page, got 'somebody'",
        f"{place}:10: [serve] behind-proxy: give the address of a proxy such as 10.0.0.2 or 10.0.0.0/8, or 'unix' "
        "where it listens at unix:PATH, got 'proxy.example'",
        f"{place}:11: [serve] public-url: give one that begins with https:// or http://, got 'ftp://example.org'",
        f"{place}:12: [serve] names: expected one of full, initials, numbers; got {{'first': 1}}",
        f"{place}:13: [serve] person-header: give the name of a header that the proxy alone writes, "
        "such as Remote-User, got 'Cookie'",
    ]


def test_who_signs_people_in_must_be_named(coming_club: Path) -> None:
    with pytest.raises(MalformedError, match="person-header counts from a proxy alone: name that with behind-proxy"):
        serving(coming_club, {"person_header": "Remote-User"})


def test_a_word_in_the_place_of_the_table_stops_every_command(coming_club: Path, run: Run) -> None:
    assert run("init", coming_club).code == 0
    coming_club.with_suffix(".toml").write_text('serve = "yes"\n', "utf-8")
    done = run("pools", coming_club)
    assert "serve must be a table: write [serve] above its settings" in done.err
    coming_club.with_suffix(".toml").write_text("[serve]\nreaders = 0\n", "utf-8")
    assert run("pools", coming_club).err == ""
    done = run("serve", coming_club)
    assert (done.code, "club.toml:2: [serve] readers: expected a whole number" in done.err) == (1, True)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--listen", "here"), "--listen: give ADDRESS:PORT or unix:PATH, got 'here'"),
        (("--checkpoint-every", "-1"), "--checkpoint-every: expected a whole number from 0 to 86400, got '-1'"),
        (("--names", "ful"), "'ful' is not one of 'full', 'initials', 'numbers'"),
    ],
)
def test_what_is_wrong_on_the_command_line_is_wrong_usage(
    coming_club: Path, run: Run, words: tuple[str, str], says: str
) -> None:
    done = run("serve", coming_club, *words)
    assert (done.code, says in done.err) == (2, True), done.err
