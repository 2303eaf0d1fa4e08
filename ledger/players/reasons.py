"""Reasons of corrections: free text that may name people, so that it stands in the people file and can be erased.

The journal holds a salted commitment to each. A reason is kept first and then sealed by its entry; whoever is stopped
between the two leaves one that no entry seals, which goes when the next one is kept or erased. Which entries there are,
and what is decided by them, is not known here.
"""

from __future__ import annotations

import hmac
import json
import secrets
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from ledger.errors import MalformedError, StorageError
from ledger.facts.event_fields import text_faults
from ledger.journal import Writer
from ledger.players.people_layouts import REASONS_SINCE, SALT_BYTES, layout
from ledger.runtime import sqlite

if TYPE_CHECKING:
    import sqlite3

MAX_REASON = 1_000  # characters
_INSERT = "INSERT INTO main.reasons(commitment, entry, salt, text) VALUES (?, ?, ?, ?)"
_NEWEST_FIRST = "SELECT number, commitment, entry FROM main.reasons ORDER BY number DESC"
_DROP = "DELETE FROM main.reasons WHERE number = ?"
_OF = "SELECT commitment, entry, salt, text FROM main.reasons WHERE commitment IN (SELECT value FROM json_each(?))"
_ERASE = (
    "UPDATE main.reasons SET salt = NULL, text = NULL WHERE commitment IN (SELECT value FROM json_each(?)) "
    "AND (salt IS NOT NULL OR text IS NOT NULL)"
)


def reason_faults(reason: object) -> list[str]:
    """What is wrong with a reason, if anything: it is 1 to 1,000 characters of plain text on one line."""
    if reason is None or reason == "":
        return ["a reason is missing: say in a few words why @ $.reason"]
    return text_faults("reason", reason, MAX_REASON)


def commitment(salt: bytes, text: str) -> str:
    """HMAC-SHA256, in hexadecimal, of the reason (UTF-8) under its salt."""
    return hmac.digest(salt, text.encode(), "sha256").hex()


class Reasons:
    """The reasons in one people file."""

    def __init__(
        self,
        path: str,
        connection: sqlite3.Connection,
        writing: Callable[[], AbstractContextManager[None]],
        clean: Callable[[], None],
    ) -> None:
        """Take the people file.

        Args:
            path: as it is named in messages.
            connection: to it.
            writing: a write transaction on it, after which the file has the newest layout.
            clean: leaves nothing in the file and its log but the rows as they are.
        """
        self._path = path
        self._connection = connection
        self._writing = writing
        self._clean = clean

    def keep(self, writer: Writer, texts: Mapping[str, str]) -> dict[str, str]:
        """Keep reasons, durably, before the journal seals them; those go that no entry sealed.

        Args:
            writer: the open transaction on the journal that is to seal them.
            texts: by the key of the entry that is to seal it, the first one where several seal the same, the reason.

        Returns:
            By the same keys, the commitments to write into the entries.

        Raises:
            MalformedError: one of them is no reason; none was kept.
            StorageError: the people file refuses.
        """
        if problems := [fault for text in texts.values() for fault in reason_faults(text)]:
            raise MalformedError(problems)
        rows = [(key, secrets.token_bytes(SALT_BYTES), text) for key, text in texts.items()]
        sealed_by = {key: commitment(salt, text) for key, salt, text in rows}
        # Kept first and sealed then: the other way a crash would leave an entry whose reason nobody has.
        with self._writing():
            self._drop_unsealed(writer)
            self._connection.executemany(_INSERT, [(sealed_by[key], key, salt, text) for key, salt, text in rows])
        return sealed_by

    def text(self, sealed: str) -> str | None:
        """The reason behind a commitment; None where it was erased or is not in the file.

        Raises:
            StorageError: as ``texts``.
        """
        return self.texts([sealed]).get(sealed)

    def texts(self, commitments: Iterable[str]) -> dict[str, str | None]:
        """By commitment the reasons that stand in the file, each compared with it; None for one that was erased.

        Raises:
            StorageError: a reason is not the one that was sealed.
        """
        with sqlite.storage_errors(self._path):
            if layout(self._connection) < REASONS_SINCE:
                return {}
            rows = self._connection.execute(_OF, (json.dumps(list(commitments)),)).fetchall()
        for sealed, entry, salt, text in rows:
            if (salt, text) != (None, None) and (salt is None or text is None or commitment(salt, text) != sealed):
                raise StorageError(
                    self._path,
                    f"the reason of {entry} is not the one that was sealed: the row was changed; put the right copy of "
                    "this file in its place or, where there is none, erase the reason",
                )
        return {sealed: text for sealed, _, _, text in rows}

    def erase(self, lock: AbstractContextManager[Writer], commitments: Iterable[str]) -> int:
        """Forget reasons for good, and those that no entry sealed; the commitments stay.

        The whole file is written anew, as when a person is erased.

        Args:
            lock: a write transaction on the journal, so that no reason is about to be sealed.
            commitments: of the reasons.

        Returns:
            How many stood there.

        Raises:
            StorageError: the file refuses, or another process reads it and keeps the old bytes in the log: try again.
        """
        with lock as writer, self._writing():
            self._drop_unsealed(writer)
        return self.forget(commitments)

    def forget(self, commitments: Iterable[str]) -> int:
        """As ``erase``, where nobody else has the ledger: those that no entry sealed stay."""
        with self._writing():
            erased = self._connection.execute(_ERASE, (json.dumps(list(commitments)),)).rowcount
        self._clean()
        return int(erased)

    def _drop_unsealed(self, writer: Writer) -> None:
        """Take away those that no entry seals. They are the newest, for each writer takes away what it finds."""
        unsealed = []
        for number, sealed, entry in self._connection.execute(_NEWEST_FIRST):
            stored = writer.find([entry]).get(entry)
            if stored is not None and b'"reason":"%b"' % sealed.encode() in stored.body:
                break
            unsealed.append((number,))
        self._connection.executemany(_DROP, unsealed)
