"""How a ledger is served: every setting once, for the options of the command and for ``[serve]`` of ``club.toml``.

Both have the same words; the command line wins. All processes of a server are handed the same object.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from ipaddress import ip_network
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import attrs

from ledger.errors import MalformedError
from ledger.journal.settings_file import SERVE, SettingsFile
from ledger.runtime.nearest import did_you_mean

from ..checker.content_policy import INDEX
from .witnesses import WitnessKey

UNIX = "unix:"
MOST_READERS = 64
_DAY = 86_400
_LONGEST = 1_000  # characters of a text
_HEADER = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,63}")
_TAKEN_HEADERS = frozenset({"authorization", "cookie", "host", "origin", "referer", "x-forwarded-proto"})


@attrs.frozen(kw_only=True)
class ServeSetting:
    """The description of a setting, without its name and default.

    Attributes:
        doc: what it says, for the help of the command.
        metavar: the name of its value there.
        read: makes the value of what was given, a text or a number; raises ValueError with what is wrong.
        choices: the words that it may be; empty where it is none of some words.
    """

    doc: str
    metavar: str
    read: Callable[[Any], Any]
    choices: tuple[str, ...] = ()


def _text(word: object) -> str:
    if not isinstance(word, str) or not word or len(word) > _LONGEST or not word.isprintable():
        raise ValueError(f"expected a text of at most {_LONGEST:,} characters, got {word!r}")
    return word


def _whole(least: int, most: int) -> Callable[[Any], int]:
    def read(value: object) -> int:
        number = int(value) if isinstance(value, str) and value.isascii() and value.isdecimal() else value
        if type(number) is not int or not least <= number <= most:
            raise ValueError(f"expected a whole number from {least} to {most}, got {value!r}")
        return number

    return read


def _choice(*words: str) -> Callable[[Any], str]:
    def read(value: object) -> str:
        if value not in words:
            raise ValueError(f"expected one of {', '.join(words)}; {did_you_mean(str(value), words)}got {value!r}")
        return str(value)

    return read


def _listen(value: object) -> str:
    word = _text(value)
    if not word.removeprefix(UNIX) or not (word.startswith(UNIX) or word.rpartition(":")[2].isdecimal()):
        raise ValueError(f"give ADDRESS:PORT or unix:PATH, got {word!r}")
    return word


def _url(value: object) -> str:
    word = _text(value)
    try:
        parts = urlsplit(word)
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in {"http", "https"} or not parts.netloc or parts.query or parts.fragment:
        raise ValueError(f"give one that begins with https:// or http://, got {word!r}")
    return word.rstrip("/")


def _proxy(value: object) -> str:
    word = _text(value)
    for address in word.split(","):
        try:
            if address != "unix":
                ip_network(address.strip(), strict=False)
        except ValueError:
            raise ValueError(
                f"give the address of a proxy such as 10.0.0.2 or 10.0.0.0/8, or 'unix' where it listens at unix:PATH, "
                f"got {address!r}"
            ) from None
    return word


def _witness(value: object) -> str:
    word = _url(value)
    parts = urlsplit(word)
    if parts.scheme != "https" and not (parts.hostname or "").startswith("127."):
        raise ValueError(f"give one that begins with https://, got {word!r}: else anybody on the way could answer")
    return word


def _witness_key(value: object) -> str:
    word = _text(value).strip()
    WitnessKey.parse(word)
    return word


def _header(value: object) -> str:
    word = _text(value)
    if not _HEADER.fullmatch(word) or word.lower() in _TAKEN_HEADERS or word.lower().startswith("x-forwarded-for"):
        raise ValueError(f"give the name of a header that the proxy alone writes, such as Remote-User, got {word!r}")
    return word


def _analyse(value: object) -> str:
    word = _text(value)
    if "{pgn}" not in word or not word.startswith(("https://", "http://")):
        raise ValueError(f"give an address with {{pgn}} in place of the moves, got {word!r}")
    return word


def _checker(value: object) -> str:
    folder = Path(_text(value)).absolute()
    if not (folder / INDEX).is_file():
        raise ValueError(f"{folder} has no {INDEX}: make it by 'rating-ledger checker FOLDER'")
    return str(folder)


def _contact(value: object) -> str:
    word = _text(value)
    if "@" not in word and urlsplit(word).scheme not in {"http", "https", "mailto"}:
        raise ValueError(f"give an address of mail or of a page, got {word!r}")
    return word


def _setting(
    default: Any,
    doc: str,
    metavar: str,
    read: Callable[[Any], Any],
    choices: tuple[str, ...] = (),
) -> Any:
    return attrs.field(
        default=default,
        metadata={"setting": ServeSetting(doc=doc, metavar=metavar, read=read, choices=choices)},
    )


def _words(doc: str, *words: str, default: str) -> Any:
    return _setting(default, doc, "WORD", _choice(*words), words)


@attrs.frozen(kw_only=True)
class Serving:
    """The ledger that is served, where and how.

    Attributes:
        path: the ledger.
        folder: where the processes of a server meet: a folder of their own, which no other user may enter, with
            the writer's socket and what is uploaded, for as long as it is needed. None: before serving.
        verifier: the line by which others verify the checkpoints; None: there is no key, or before serving.
        listen: ``ADDRESS:PORT`` or ``unix:PATH``.
        public_url: the base of links, without a slash at its end; None: the address itself.
        readers: how many processes answer.
        behind_proxy: whose word is taken for where a request comes from; None: no proxy's.
        person_header: the header in which a proxy that signs people in says who was signed in: the desk asks for that
            person's own token then, and takes no other. It counts from ``behind_proxy`` alone. None: no proxy does.
        log: what of the log of the journal is shown to the world: nothing, its hashes, or its entries, too.
        checkpoint_every: seconds after which the head of the journal is signed where it grew; 0: it is not.
        witness: where checkpoints are sent to be cosigned; None: nowhere.
        witness_key: the line by which its signatures are verified; None: there is no witness.
        checker: the folder that the command ``checker`` wrote, by which strangers check lists; None: there is none.
        title: the name of the club or server, at the head of every page; None: its public address.
        about: a line about it on the start page.
        analyse: where a game is analysed: an address with ``{pgn}`` in place of the moves; None: nowhere.
        contact: an address of mail or of a page, for reports of mistakes; None: none is shown.
        names: as what players are shown to strangers: by their names, by initials or by their numbers alone.
        index: whether search machines may keep the pages.
        rate: requests a minute that one address may make, of each process that answers; 0: any number. Who is on this
            machine is not counted.
        largest_upload: MiB of a file that is uploaded.
    """

    path: Path
    folder: Path | None = None
    verifier: str | None = None
    listen: str = _setting(
        "127.0.0.1:8000", "Where it answers; port 0: any that is free.", "ADDRESS:PORT|unix:PATH", _listen
    )
    public_url: str | None = _setting(None, "Its public address: the base of links.", "URL", _url)
    readers: int = _setting(1, "Processes that answer.", "N", _whole(1, MOST_READERS))
    behind_proxy: str | None = _setting(
        None, "Of the proxy whose word is taken for where a request comes from; unix: of unix:PATH.", "ADDRESS", _proxy
    )
    person_header: str | None = _setting(
        None, "Header in which a proxy that signs people in names the person, whose token alone the desk takes then.",
        "NAME", _header,
    )  # fmt: skip
    log: str = _words(
        "What of the journal's log the world may read: nothing, hashes, or complete entries.",
        "off", "hashes", "entries", default="hashes",
    )  # fmt: skip
    checkpoint_every: int = _setting(
        60, "How often the head is signed where it grew and there is a key; 0: never.", "SECONDS", _whole(0, _DAY)
    )
    witness: str | None = _setting(None, "A witness, which cosigns the checkpoints.", "URL", _witness)
    witness_key: str | None = _setting(
        None, "The line of the witness by which its signatures are verified.", "NAME+ID+KEY", _witness_key
    )
    checker: str | None = _setting(
        None, "A folder written by 'checker': with log entries, strangers check lists in a browser.", "FOLDER", _checker
    )
    title: str | None = _setting(None, "The name of the club or server, at the head of every page.", "TEXT", _text)
    about: str | None = _setting(None, "A line about it on the start page.", "TEXT", _text)
    analyse: str | None = _setting(
        None, "Where a game is analysed, such as https://lichess.org/analysis/pgn/{pgn}.", "URL", _analyse
    )
    contact: str | None = _setting(
        None, "Where to report a mistake: an address of mail or a page.", "ADDRESS", _contact
    )
    names: str = _words("As what strangers see players.", "full", "initials", "numbers", default="full")
    index: str = _words("Whether search machines may keep the pages.", "yes", "no", default="no")
    rate: int = _setting(
        1_200, "Requests a minute of one address to each reader; 0: any number.", "N", _whole(0, 1_000_000)
    )
    largest_upload: int = _setting(256, "Largest file that is uploaded.", "MiB", _whole(1, 65_536))

    def as_json(self) -> str:
        """Return the settings as the other processes are handed them."""
        return json.dumps(attrs.asdict(self, value_serializer=lambda _, __, value: _plain(value)))

    @classmethod
    def of_json(cls, text: str) -> Serving:
        """Return the settings of ``as_json``."""
        table = json.loads(text)
        folder = table.pop("folder")
        return cls(path=Path(table.pop("path")), folder=None if folder is None else Path(folder), **table)


SETTINGS: Mapping[str, tuple[ServeSetting, Any]] = {
    field.name: (field.metadata["setting"], field.default)
    for field in attrs.fields(Serving)
    if "setting" in field.metadata
}  # by name, what is known of each, and its default


def word_of(name: str) -> str:
    """Return the name of a setting in ``club.toml`` and, behind two dashes, on the command line."""
    return name.replace("_", "-")


def serving(path: Path, options: Mapping[str, Any]) -> Serving:
    """Return how to serve a ledger, by the options of the command and by its ``club.toml``.

    Args:
        path: the journal's file.
        options: by name, what the command line gives, read already; None of what it does not.

    Raises:
        MalformedError: naming everything in ``club.toml`` that cannot be, each with file, line and word.
        StorageError: the file cannot be read.
    """
    file = SettingsFile(path)
    table = file.serve()
    values, faults = _read(table)
    if faults:
        lines = _lines(file.path, table)
        name = file.path
        raise MalformedError([f"{name}:{lines.get(word, 0)}: [{SERVE}] {word}: {fault}" for word, fault in faults])
    settings = Serving(path=path, **{**values, **{name: value for name, value in options.items() if value is not None}})
    if settings.person_header is not None and settings.behind_proxy is None:
        raise MalformedError(["person-header counts from a proxy alone: name that with behind-proxy"])
    if (settings.witness is None) != (settings.witness_key is None):
        raise MalformedError(["witness and witness-key: give both, or none: what it signs is verified by its key"])
    return settings


def _read(table: Mapping[str, Any]) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """Return the values by name, and what is wrong by word."""
    names = {word_of(name): name for name in SETTINGS}
    values: dict[str, Any] = {}
    faults: list[tuple[str, str]] = []
    for word, value in table.items():
        if word not in names:
            faults.append((word, f"no such setting; {did_you_mean(word, names)}expected one of {', '.join(names)}"))
            continue
        setting, _ = SETTINGS[names[word]]
        try:
            values[names[word]] = setting.read(_of_toml(value))
        except ValueError as error:
            faults.append((word, str(error)))
    return values, faults


def _of_toml(value: object) -> object:
    """Return the word of a TOML value: a number has no quotes there, and true and false are no words of ours."""
    if isinstance(value, str) and value.isdecimal():
        raise ValueError(f"expected {value} without quotation marks")
    return value


def _lines(path: Path, words: Mapping[str, Any]) -> dict[str, int]:
    """Return, by word, its line in the table of the file; TOML's reader does not give it."""
    lines: dict[str, int] = {}
    table = ""
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if header := re.match(r"\s*\[+\s*([^\]]+?)\s*\]", line):
            table = header[1].strip("\"'")
        elif table == SERVE and (key := re.match(r"\s*[\"']?([^\"'=.\s]+)[\"']?\s*[.=]", line)) and key[1] in words:
            lines.setdefault(key[1], number)
    return lines


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, Path) else value
