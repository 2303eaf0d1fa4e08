"""The settings file ``club.toml``: the paths of a ledger's journal, checkpoints and key, and how it is served.

A ledger needs no such file: then the journal is the file ``club.db``, and everything else is next to it.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any

import attrs

from ledger.errors import StorageError, one_line
from ledger.runtime import postgres
from ledger.runtime.lazy import tomllib
from ledger.runtime.ledger_files import companion_file, replace_file
from ledger.runtime.postgres_session import PATIENCE

FILES = ("checkpoints", "key")  # where they are kept
JOURNAL, SCHEMA, QUORUM = "journal", "schema", "quorum"
OF_A_SERVER = (JOURNAL, SCHEMA, "patience", "durability")  # where the journal is, if it is no file
SERVE = "serve"  # the table for what answers over HTTP, which judges that itself
DURABILITIES = ("server", QUORUM)
_KNOWN = f"only {', '.join((*FILES, *OF_A_SERVER))} and [{SERVE}]"
_EXPECTED = '; it takes lines such as checkpoints = "/media/stick/club.checkpoints"'


@attrs.frozen
class ServerPlace:
    """The address of a journal on a PostgreSQL server.

    Attributes:
        address: of the database, as libpq has it, without a password.
        schema: of the journal; the names are in another one.
        patience: seconds that the server may be silent, and that another writer may take.
        durability: which servers must have an entry before it is acknowledged: ``quorum``: another one, too;
            ``server``: as the server is configured.
    """

    address: str
    schema: str
    patience: float = PATIENCE
    durability: str = DURABILITIES[0]

    @property
    def shown(self) -> str:
        """The address without a password, for messages."""
        return postgres.without_password(self.address)

    @property
    def needs_quorum(self) -> bool:
        """True if nothing may be recorded while the server does not wait for another one."""
        return self.durability == QUORUM


def ledger_file(ledger: Path) -> Path:
    """Return the file that exists for the ledger at a path: the journal, or the settings of one on a server."""
    return ledger if ledger.exists() else SettingsFile(ledger).path


def ledger_inode(ledger: Path) -> int:
    """Return the inode number of a ledger's file, which changes when another ledger replaces it.

    Raises:
        StorageError: there is no file, as during the replacement.
    """
    try:
        return ledger_file(ledger).stat().st_ino
    except OSError as error:
        raise StorageError(str(ledger), f"is not there: {error.strerror or error}") from None


def server_of(ledger: Path) -> ServerPlace | None:
    """Return the address of the server of the ledger at a path; None if its journal is a file.

    A file precedes the settings.

    Raises:
        StorageError: as ``SettingsFile.server``.
    """
    return None if ledger.exists() else SettingsFile(ledger).server()


class SettingsFile:
    """The settings file of the ledger at a path.

    Every method that reads it raises StorageError if it cannot be read, or has an unknown setting or a wrong value.
    """

    def __init__(self, ledger: str | Path) -> None:
        self._ledger = Path(ledger)

    @cached_property
    def path(self) -> Path:
        """The path of the settings file, such as ``club.toml``, whether it exists or not."""
        return companion_file(self._ledger, "toml")

    def place_of(self, word: str) -> Path | None:
        """Return the configured path of the ``checkpoints`` or the ``key``; None if the settings do not name it."""
        place = self._settings().get(word)
        return None if place is None else self.path.parent / place

    def server(self) -> ServerPlace | None:
        """Return the address of the journal on a server; None if it is a file."""
        words = {word: value for word, value in self._settings().items() if word in OF_A_SERVER}
        if JOURNAL not in words:
            if words:
                raise StorageError(str(self.path), f"has {', '.join(words)} and no {JOURNAL}: say where the journal is")
            return None
        if not postgres.is_address(words[JOURNAL]):
            raise StorageError(
                str(self.path),
                f"{JOURNAL} must be the address of a database such as postgresql://ledger@db1/chess, got "
                f"{postgres.without_password(words[JOURNAL])!r}; a journal in a file needs no such line",
            )
        return ServerPlace(words.pop(JOURNAL), **{SCHEMA: self._ledger.stem, **words})

    def serve(self) -> dict[str, Any]:
        """Return the table ``[serve]``; empty if there is none."""
        self._settings()
        return dict(self._parsed().get(SERVE, {}))

    def put(self, **values: str) -> None:
        """Set values, in lines such as ``checkpoints = "/media/stick/club.checkpoints"``; other lines stay.

        Raises:
            StorageError: the file cannot be written, or a value is no UTF-8.
        """
        quoted = {
            # TOML's escapes are those of JSON, but for one control character more that must be one (toml.io, "String")
            word: json.dumps(value, ensure_ascii=False).replace("\x7f", r"\u007f")
            for word, value in values.items()
        }
        try:
            self._write([f"{word} = {value}\n" for word, value in quoted.items()], values)
        except UnicodeEncodeError:
            names = " or ".join(repr(Path(value).name) for value in values.values())
            message = f"cannot hold the name {names}, which is no UTF-8: choose another"
            raise StorageError(str(self.path), message) from None

    def drop(self, *words: str) -> None:
        """Remove settings; other lines stay.

        Raises:
            StorageError: the file cannot be written.
        """
        self._write([], words)

    def _write(self, lines: list[str], instead: Iterable[str]) -> None:
        """Write lines in place of those that set some words."""
        present = self.path.read_text("utf-8").splitlines(keepends=True) if self.path.exists() else []
        for word in instead:
            of_word = re.compile(rf"""\s*({word}|"{word}"|'{word}')\s*=""")
            present = [line for line in present if not of_word.match(line)]
        # Before all others: a line behind the head of a table would belong to that table.
        try:
            replace_file(self.path, "".join([*lines, *present]).encode())
        except OSError as error:
            raise StorageError(str(self.path), f"cannot be written: {error.strerror or error}") from error

    def _settings(self) -> dict[str, Any]:
        """Return all settings but the table for HTTP; none if there is no file."""
        path, settings = self.path, self._parsed()
        if not isinstance(settings.pop(SERVE, {}), dict):
            raise StorageError(str(path), f"{SERVE} must be a table: write [{SERVE}] above its settings")
        for word, value in settings.items():
            if word not in (*FILES, *OF_A_SERVER):
                raise StorageError(str(path), f"has no setting {word!r}, {_KNOWN}{_EXPECTED}")
            if word == "patience":
                # By its type: to ``isinstance`` TOML's true is a whole number, too.
                if type(value) not in (int, float) or not 0 < value <= 3_600:
                    raise StorageError(str(path), f"patience must be seconds, up to 3600, got {value!r}")
            elif word == "durability":
                if value not in DURABILITIES:
                    raise StorageError(str(path), f"durability must be one of {', '.join(DURABILITIES)}, got {value!r}")
            elif not isinstance(value, str) or not value or "\0" in value:
                what = "the path of a file" if word in FILES else "a text"
                raise StorageError(str(path), f"{word} must be {what}, got {value!r}{_EXPECTED}")
        return settings

    def _parsed(self) -> dict[str, Any]:
        path = self.path
        # the usual case, and quicker than an error
        if not os.path.lexists(path):
            return {}
        try:
            content = path.read_bytes()
        except OSError as error:
            raise StorageError(str(path), f"the settings cannot be read: {error.strerror or error}") from error
        try:
            return tomllib.loads(content.decode())
        except ValueError as error:  # of TOML and of UTF-8
            raise StorageError(str(path), f"is not TOML: {one_line(error)}{_EXPECTED}") from error
