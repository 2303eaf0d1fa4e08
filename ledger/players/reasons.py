"""Texts about people, which are stored with the names and can be erased: reasons of corrections, data about players.

The journal holds a salted commitment to each. A text is stored first; then its entry commits to it. An
interruption between the two leaves a text without an entry, which goes when the next one is stored or erased. This
module does not know the entries, nor what they decide. The table is called ``reasons`` after the first kind of text.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import NamedTuple

from ledger.errors import MalformedError, StorageError
from ledger.facts.event_fields import text_faults
from ledger.journal import Writer
from ledger.players.names_database import NamesDatabase

MAX_REASON = 1_000  # characters
SALT_BYTES = 16


def reason_faults(reason: object) -> list[str]:
    """Return the faults of a reason, which must be 1 to 1,000 characters of plain text on one line."""
    if reason is None or reason == "":
        return ["a reason is missing: say in a few words why @ $.reason"]
    return text_faults("reason", reason, MAX_REASON)


def commitment(salt: bytes, text: str) -> str:
    """Return HMAC-SHA256, in hexadecimal, of the reason (UTF-8) under its salt."""
    return hmac.digest(salt, text.encode(), "sha256").hex()


class StoredReason(NamedTuple):
    """A reason as it is stored; salt and text are None once erased.

    Attributes:
        commitment: as the entry has it.
        entry: the key of the entry that is to seal it, the first one where several seal the same.
        salt: that of the commitment, drawn for it alone.
        text: the words.
    """

    commitment: str
    entry: str
    salt: bytes | None
    text: str | None


class Reasons:
    """The reasons in one store of names."""

    def __init__(self, database: NamesDatabase, clean: Callable[[], None]) -> None:
        """Take the database, and the function that leaves nothing in it but the present rows."""
        self._database = database
        self._clean = clean

    def store(self, writer: Writer, texts: Mapping[str, str]) -> dict[str, str]:
        """Store reasons, durably, before the journal commits to them; delete reasons without an entry.

        Args:
            writer: the open transaction on the journal that is to seal them.
            texts: by the key of the entry that is to seal it, the first one where several seal the same, the reason.

        Returns:
            By the same keys, the commitments to write into the entries.

        Raises:
            MalformedError: one of them is no reason; none was kept.
            StorageError: the store refuses.
        """
        if problems := [fault for text in texts.values() for fault in reason_faults(text)]:
            raise MalformedError(problems)
        return self.store_texts(writer, texts)

    def store_texts(self, writer: Writer, texts: Mapping[str, str]) -> dict[str, str]:
        """Store texts of any length that are made by the program, as ``store`` stores reasons.

        Of one transaction only those without an entry yet may be dropped: append the entries before the next call.
        """
        # one draw: each by itself costs a call of the system
        salts = secrets.token_bytes(SALT_BYTES * len(texts))
        rows = [
            StoredReason(commitment(salt := salts[start : start + SALT_BYTES], text), key, salt, text)
            for start, (key, text) in zip(range(0, len(salts), SALT_BYTES), texts.items(), strict=True)
        ]
        # Stored first: in the other order a crash would leave an entry whose reason is lost.
        with self._database.writing():
            self._drop_unsealed(writer)
            ((last,),) = self._database.rows("SELECT coalesce(max(number), 0) FROM {s}.reasons")
            types = {"number": "int8", "commitment": "text", "entry": "text", "salt": "bytea", "text": "text"}
            self._database.add("reasons", types, [(number, *row) for number, row in enumerate(rows, last + 1)])
        return {row.entry: row.commitment for row in rows}

    def text(self, sealed: str) -> str | None:
        """Return the reason behind a commitment; None if it was erased or is missing.

        Raises:
            StorageError: as ``texts``.
        """
        return self.texts([sealed]).get(sealed)

    def texts(self, commitments: Iterable[str]) -> dict[str, str | None]:
        """Return the stored reasons by commitment, each verified against it; None for an erased one.

        Raises:
            StorageError: a reason is not the one that was sealed.
        """
        query = "SELECT commitment, entry, salt, text FROM {s}.reasons WHERE commitment IN :commitments ORDER BY number"
        rows = self._database.rows(query, commitments=list(commitments)) if self._database.is_upgraded() else []
        for sealed, entry, salt, text in rows:
            if (salt, text) != (None, None) and (salt is None or text is None or commitment(salt, text) != sealed):
                raise StorageError(
                    self._database.path,
                    f"the reason of {entry} is not the one that was sealed: the row was changed; restore the "
                    "newest copy of the names or, where there is none, erase the reason",
                )
        return {sealed: text for sealed, _, _, text in rows}

    def erase(self, lock: AbstractContextManager[Writer], commitments: Iterable[str]) -> int:
        """Erase reasons for good, and those without an entry; the commitments stay.

        The whole file is rewritten, as when a person is erased.

        Args:
            lock: a write transaction on the journal, so that no reason is about to be sealed.
            commitments: of the reasons.

        Returns:
            How many there were.

        Raises:
            StorageError: the file refuses, or another process reads it and keeps the old bytes in the log: try again.
        """
        with lock as writer, self._database.writing():
            self._drop_unsealed(writer)
        return self.forget(commitments)

    def forget(self, commitments: Iterable[str]) -> int:
        """Erase reasons while no other process has the ledger open; keep reasons without an entry."""
        with self._database.writing():
            erased = self._database.run(
                "UPDATE {s}.reasons SET salt = NULL, text = NULL WHERE commitment IN :commitments "
                "AND (salt IS NOT NULL OR text IS NOT NULL)",
                commitments=list(commitments),
            )
        self._clean()
        return erased

    def _drop_unsealed(self, writer: Writer) -> None:
        """Remove reasons without an entry. They are the newest, because each writer removes those that it finds."""
        unsealed = []
        for number, sealed, entry in self._newest_first():
            stored = writer.find([entry]).get(entry)
            # The key alone proves nothing: after a reason without an entry, another proposal got the number.
            if stored is not None and b':"%b"' % sealed.encode() in stored.body:
                break
            unsealed.append(number)
        if unsealed:
            self._database.run("DELETE FROM {s}.reasons WHERE number IN :numbers", numbers=unsealed)

    def _newest_first(self) -> Iterator[tuple[int, str, str]]:
        """Yield number, commitment and entry of each row, in growing blocks: most callers read the first only."""
        query = (
            "SELECT number, commitment, entry FROM {s}.reasons WHERE number < :number ORDER BY number DESC LIMIT :most"
        )
        number, most = 2**62, 1
        while rows := self._database.rows(query, number=number, most=most):
            yield from rows
            number, most = rows[-1][0], 1_000
