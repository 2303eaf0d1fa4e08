"""A witness: another party who signs the log's checkpoints, after making sure that each grew out of the one before.

It is sent ``add-checkpoint`` (C2SP tlog-witness, https://c2sp.org/tlog-witness) and answers with a cosignature (C2SP
tlog-cosignature, https://c2sp.org/tlog-cosignature, "Ed25519", signature type 0x04), both as of 2026. What it answers
is verified before it is kept. All that is read of it is bounded in bytes and in time; no redirect is followed.
"""

from __future__ import annotations

import re
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from urllib.parse import urlsplit

import attrs

from ledger.audit.reader.receipts import decode_base64, is_key_name
from ledger.errors import LedgerError
from ledger.facts.words import TreeHead
from ledger.journal.checkpoint_notes import Checkpoint, note_text
from ledger.ledger import Ledger
from ledger.runtime.lazy import cryptography_exceptions, ed25519

from .. import output

EVERY = 3_600.0  # seconds at least between two requests to a witness, even after a failure
LOOK = 20.0  # seconds between two looks whether there is something to be cosigned
SILENCE = 15.0  # seconds without a byte …
WITHIN = 60.0  # … and altogether, after which an answer is not waited for
LARGEST = 64 * 1024  # bytes of an answer: some signatures of 150 bytes
COSIGNATURE = b"\x04"  # signature type of C2SP signed-note
SIZE_MEDIA = "text/x.tlog.size"
_LINE = re.compile(r"— (?P<name>\S+) (?P<signature>[A-Za-z0-9+/]+={0,2})")
_SIGNATURE_BYTES = 4 + 8 + 64  # id of the key, time, Ed25519
_SIZE = re.compile(rb"(0|[1-9][0-9]{0,17})\n")
_WHY = {
    400: "says that the request is malformed",
    403: "takes no signature of this log's key: its keeper must be told of the key, which 'checkpoint-key' prints",
    404: "does not know this log: its keeper must be told of its name and key, which 'checkpoint-key' prints",
    422: "finds no proof that the checkpoint grew out of the one that it cosigned last",
}


class WitnessError(Exception):
    """A witness did not cosign a checkpoint, with the reason."""


@attrs.frozen
class WitnessKey:
    """The public key of a witness.

    Attributes:
        name: whose key it is.
        key_id: the first 4 bytes of SHA-256(name ‖ 0x0A ‖ 0x04 ‖ public key).
        public: Ed25519, 32 bytes.
    """

    name: str
    key_id: bytes
    public: bytes

    @classmethod
    def parse(cls, line: str) -> WitnessKey:
        """Read ``NAME+ID+base64(0x04 ‖ public key)``.

        Raises:
            ValueError: it is none.
        """
        expected = "give the line of the witness, NAME+ID+KEY"
        parts = line.strip().split("+", 2)
        if len(parts) != 3 or not is_key_name(parts[0]) or not re.fullmatch("[0-9a-f]{8}", parts[1]):
            raise ValueError(f"{expected}, got {line!r}")
        try:
            key = decode_base64(parts[2])
        except ValueError as error:
            raise ValueError(f"{expected}; KEY: {error}") from None
        if len(key) != 33 or key[:1] != COSIGNATURE:
            raise ValueError(f"{expected}; KEY is no key of a witness, 33 bytes that begin with 4")
        key_id = sha256(parts[0].encode() + b"\n" + key).digest()[:4]
        if key_id.hex() != parts[1]:
            raise ValueError(f"{expected}; KEY has the id {key_id.hex()} under this name, not {parts[1]}")
        return cls(parts[0], key_id, key[1:])

    def cosigned(self, line: str, made: Checkpoint) -> bool:
        """Return whether a line of a note is the witness's signature of a checkpoint; False if it is of another key.

        Raises:
            WitnessError: it says to be, and is none.
        """
        match = _LINE.fullmatch(line)
        if match is None or match["name"] != self.name:
            return False
        try:
            signature = decode_base64(match["signature"])
        except ValueError:
            signature = b""
        if signature[:4] != self.key_id:
            return False
        stamp = int.from_bytes(signature[4:12], "big")
        text = f"cosignature/v1\ntime {stamp}\n{note_text(made.origin, made.head)}"
        try:
            if len(signature) == _SIGNATURE_BYTES:
                ed25519.Ed25519PublicKey.from_public_bytes(self.public).verify(signature[12:], text.encode())
                return True
        except (cryptography_exceptions.InvalidSignature, ValueError):  # ValueError: no point of the curve
            pass
        raise WitnessError("answers with a signature that is not of this checkpoint")


@attrs.frozen
class _Answer:
    """The answer of a witness."""

    status: int
    media: str
    content: bytes


@attrs.frozen
class Witness:
    """A witness.

    Attributes:
        url: the base of ``/add-checkpoint``.
        key: by which its signatures are verified.
        context: by which its certificate is; None: as this machine does.
    """

    url: str
    key: WitnessKey
    context: ssl.SSLContext | None = None

    def cosignature(self, made: Checkpoint, older: int, growth: Callable[[int], str]) -> str:
        """Return the line by which it signs a checkpoint.

        Args:
            made: the checkpoint.
            older: the size that it cosigned last, as far as is known.
            growth: makes the request, with the proof that the checkpoint grew out of so many entries.

        Raises:
            WitnessError: it does not.
        """
        answer = self._asked(growth(older))
        if answer.status == HTTPStatus.CONFLICT:
            size = _size_told(answer)
            if size > made.head.size:
                raise WitnessError(
                    f"has seen {size} entries of this log, and here are {made.head.size}: an older copy was put in the "
                    "place of the ledger, or the key is used twice"
                )
            answer = self._asked(growth(size))
        if answer.status != HTTPStatus.OK:
            raise WitnessError(_why(answer))
        lines = answer.content.decode("utf-8", "replace").split("\n")
        for line in lines:
            if self.key.cosigned(line, made):
                return f"{line}\n"
        raise WitnessError(f"answers without a signature of {self.key.name}")

    def _asked(self, body: str) -> _Answer:
        """Return its answer to a request.

        Raises:
            WitnessError: nothing that can be read, in time.
        """
        parts = urlsplit(self.url)
        try:
            with _connection(parts.scheme, parts.hostname or "", parts.port, self.context) as connection:
                connection.request("POST", f"{parts.path}/add-checkpoint", body.encode())
                with connection.getresponse() as response:
                    content = response.read(LARGEST + 1)
        except (OSError, HTTPException, ValueError) as error:  # ValueError: of names that cannot be looked up
            raise WitnessError(f"cannot be asked: {_reason(error)}") from None
        if len(content) > LARGEST:
            raise WitnessError(f"answers with more than {LARGEST:,} bytes")
        return _Answer(response.status, _media(response), content)


@contextmanager
def _connection(scheme: str, host: str, port: int | None, context: ssl.SSLContext | None) -> Iterator[HTTPConnection]:
    """Yield a connection that ends in time, however slowly the other end speaks."""
    if scheme == "https":
        # As of today, its certificate and its name are verified by default.
        connection: HTTPConnection = HTTPSConnection(
            host, port, timeout=SILENCE, context=context or ssl.create_default_context()
        )
    else:
        connection = HTTPConnection(host, port, timeout=SILENCE)
    try:
        connection.connect()
        line = connection.sock
        ending = threading.Timer(WITHIN, _end, (line,))
        ending.daemon = True
        ending.start()
        try:
            yield connection
        finally:
            ending.cancel()
    finally:
        connection.close()


def _end(line: socket.socket) -> None:
    with suppress(OSError):
        socket.socket.shutdown(line, socket.SHUT_RDWR)  # of the socket: TLS would wait for the other end to agree


def _media(response: HTTPResponse) -> str:
    return (response.getheader("Content-Type") or "").partition(";")[0].strip().lower()


def _reason(error: Exception) -> str:
    """Return the reason in the words of this machine: nothing that the other end said."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not taken: {error.verify_message}"
    if isinstance(error, TimeoutError):
        return f"nothing came within {SILENCE:g} s"
    return (error.strerror if isinstance(error, OSError) else None) or type(error).__name__


def _size_told(answer: _Answer) -> int:
    match = _SIZE.fullmatch(answer.content)
    if answer.media != SIZE_MEDIA or match is None:
        raise WitnessError(f"cosigned another size last, and does not say which ({SIZE_MEDIA})")
    return int(match[1])


def _why(answer: _Answer) -> str:
    if 300 <= answer.status < 400:
        return f"leads elsewhere (status {answer.status}), where nobody follows: name that address"
    if answer.status == HTTPStatus.CONFLICT:
        return "says twice that it cosigned another size last"
    return _WHY.get(answer.status, f"answers with status {answer.status}")


def cosign(ledger: Ledger, witness: Witness) -> bool:
    """Have the last checkpoint cosigned, and keep it so; False where there is none, or it is cosigned already.

    Raises:
        WitnessError: the witness does not.
        StorageError: the journal is not that of what was cosigned, or the signature cannot be kept.
        CorruptError: the journal's tree is damaged.
    """
    files = ledger.checkpoints
    last, before = files.last(), files.cosigned()
    if last is None or (before is not None and before.head.size >= last.head.size):
        return False

    def growth(size: int) -> str:
        is_kept = before is not None and before.head.size == size
        return files.consistency_proof(
            before.head if before and is_kept else TreeHead(size, ledger.journal.root_at(size)), last
        )

    files.keep_cosigned(last, witness.cosignature(last, 0 if before is None else before.head.size, growth))
    return True


class Witnessing:
    """The thread that has checkpoints cosigned; nothing waits for it."""

    def __init__(self, witness: Witness, opened: Callable[[], Ledger], close: Callable[[], None]) -> None:
        """Say by whom, and what opens and closes the ledger within the thread."""
        self._witness, self._opened, self._close = witness, opened, close
        self._stopped = threading.Event()
        self._failure = ""
        self._next = 0.0
        self.thread = threading.Thread(target=self._run, name="witnessing", daemon=True)

    def stop(self) -> None:
        """End; what is being asked is not waited for."""
        self._stopped.set()

    def _run(self) -> None:
        self._next = time.monotonic() + self._since_the_last()
        while not self._stopped.wait(min(LOOK, max(0.0, self._next - time.monotonic()))):
            if time.monotonic() >= self._next:
                self._try()
                if time.monotonic() >= self._next:  # nothing is to be cosigned yet
                    self._next = time.monotonic() + LOOK
        self._close()

    def _since_the_last(self) -> float:
        """Seconds until it may be asked again, by when it cosigned last, however often the server is started."""
        with suppress(OSError, LedgerError):
            cosigned = self._opened().checkpoints.cosigned_file.stat().st_mtime
            return min(EVERY, max(0.0, cosigned + EVERY - time.time()))  # noqa: TID251
        return 0.0

    def _try(self) -> None:
        try:
            if cosign(self._opened(), self._witness):
                self._next = time.monotonic() + EVERY
                self._failure = ""
        except (WitnessError, LedgerError, OSError) as error:
            self._next = time.monotonic() + EVERY
            who = f"the witness {self._witness.key.name} " if isinstance(error, WitnessError) else ""
            if str(error) != self._failure:
                self._failure = str(error)
                output.error(f"the last checkpoint is not cosigned: {who}{error}")
