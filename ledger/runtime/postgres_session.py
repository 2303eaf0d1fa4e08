"""Sessions on PostgreSQL: several statements in one round trip, with a deadline, and reconnection after a loss.

psycopg connects; then its wrapper of libpq is used as it is. Prepared statements in libpq's pipeline and values in
the binary protocol cost half of what cursors do, and each wait for the server is bounded here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from selectors import EVENT_READ, EVENT_WRITE, DefaultSelector
from struct import pack
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

from ledger.errors import CorruptError, StorageError, one_line
from ledger.runtime import postgres
from ledger.runtime.lazy import psycopg
from ledger.runtime.owners import Owner
from ledger.runtime.postgres import UNKNOWN_OUTCOME, without_password

if TYPE_CHECKING:
    from psycopg import Connection
    from psycopg.pq.abc import PGconn, PGresult

PATIENCE = 30.0  # seconds that a server may be silent while a caller waits for it
TICK = 0.2  # seconds after which a wait looks at the clock, and takes Ctrl-C

TEXT, BYTEA, BIGINT = 25, 17, 20  # numbers of types, the same on every server
_BINARY = 1

Value = bytes | str | int | None


class ServerStatement(NamedTuple):
    """An SQL statement with its values: int as ``bigint``, text as UTF-8, bytes unchanged, None as NULL."""

    sql: str
    values: Sequence[Value] = ()


class ServerAnswer:
    """The rows that a statement returned, and their number, or that of the rows that it added."""

    def __init__(self, result: PGresult, transformer: Any) -> None:
        self._result, self._transformer = result, transformer
        self.count = result.command_tuples or 0
        # At once: of several statements asked together, the server goes on with the next one meanwhile.
        value = result.get_value
        self._column = [value(row, 0) or b"" for row in range(result.ntuples)] if result.nfields == 1 else None

    def rows(self) -> list[tuple[Any, ...]]:
        """Return all rows, with values of the types that psycopg gives."""
        self._transformer.set_pgresult(self._result)
        rows: list[tuple[Any, ...]] = self._transformer.load_rows(0, self._result.ntuples, tuple)
        return rows

    def value(self) -> Any:
        """Return the first value of the first row."""
        return self.rows()[0][0]

    def column(self) -> list[bytes]:
        """Return the values of the only column, as bytes; it has no NULL."""
        assert self._column is not None
        return self._column


class StatementRefusedError(Exception):
    """An error of the server about a statement; its transaction can only be rolled back.

    Attributes:
        code: SQLSTATE.
        constraint: the constraint that the statement broke, or an empty text.
        text: the server's words.
    """

    def __init__(self, code: str, constraint: str, text: str) -> None:
        self.code, self.constraint, self.text = code, constraint, text
        super().__init__(text)


class LostError(Exception):
    """An error about a lost connection; the statements may have been executed or not."""


class SilentError(LostError):
    """An error about a server that was silent for too long, so that the connection was closed."""


_LIST = re.compile(r"\bIN :(\w+)")
_NAME = re.compile(r"(?<!:):([a-z]\w*)")


@lru_cache(maxsize=256)
def numbered(query: str) -> tuple[str, tuple[str, ...]]:
    """Return a query with numbers for its values ``:name``, and the names in that order; a list follows ``IN``."""
    query = _LIST.sub(r"= ANY(:\1)", query)
    names = tuple(dict.fromkeys(_NAME.findall(query)))
    return _NAME.sub(lambda place: f"${names.index(place[1]) + 1}", query), names


def packed_array(oid: int, items: Iterable[bytes]) -> bytes:
    """Encode a one-dimensional array for the binary protocol, of items that are encoded already."""
    packed = [pack("!i", len(item)) + item for item in items]
    return pack("!iiIii", 1, 0, oid, len(packed), 1) + b"".join(packed)


def text_array(items: Iterable[str]) -> bytes:
    """Encode an array of ``text`` for the binary protocol."""
    return packed_array(TEXT, map(str.encode, items))


def bigint_array(numbers: Iterable[int]) -> bytes:
    """Encode an array of ``bigint`` for the binary protocol, five times as fast as ``packed_array``."""
    items = [item for number in numbers for item in (8, number)]  # each behind its length in bytes
    return pack(f"!iiIii{'iq' * (len(items) // 2)}", 1, 0, BIGINT, len(items) // 2, 1, *items)


def packed_bigint(value: int) -> bytes:
    """Encode a ``bigint`` for the binary protocol."""
    return value.to_bytes(8, "big", signed=True)


class ServerSession:
    """A connection to a server that is opened at its first use, and again after it was lost.

    Only the thread that made a session may use it.

    Args:
        address: of the database, as ``postgres.connect`` takes it.
        on_connect: a check of each new connection, before its first statement; what it raises goes to the caller.
        patience: seconds that the server may be silent.
    """

    def __init__(
        self, address: str, on_connect: Callable[[ServerSession], None] | None = None, patience: float = PATIENCE
    ) -> None:
        self.address = address
        self.patience = patience
        self.warnings: list[str] = []  # of the server, since the caller last cleared them
        self._on_connect = on_connect
        self._connection: Connection[Any] | None = None
        self._names: dict[str, bytes] = {}  # of the statements that the server has prepared
        self._prepared = 0  # of those that ever had a name here
        self._owner = Owner()
        self._is_closed = False

    def close(self) -> None:
        """Close the connection for good."""
        self._is_closed = True
        self.drop()

    def drop(self) -> None:
        """Close the connection; the next statement opens another one."""
        connection, self._connection = self._connection, None
        self._names = {}
        if connection is not None:
            self._selector.close()
            # A forked process would take leave of the server in its parent's name; libpq by itself says nothing.
            if not self._owner.is_other_process:
                # not a transaction of ours is left: the server rolls it back
                connection.close()

    @property
    def is_open(self) -> bool:
        """True if there is a connection."""
        return self._connection is not None

    @property
    def in_transaction(self) -> bool:
        """True if a transaction is open, complete or broken."""
        return self._connection is not None and (
            self._connection.pgconn.transaction_status != psycopg.pq.TransactionStatus.IDLE
        )

    def ask(
        self, *questions: ServerStatement, patience: float | None = None, place: str | None = None
    ) -> list[ServerAnswer]:
        """Send statements together, and wait for all of their answers: one round trip.

        Outside a transaction each is one of its own, and all are sent again on a new connection if the first was lost:
        send together only what may be done twice.

        Args:
            questions: the statements.
            patience: seconds that the server may be silent; by default those of the session.
            place: the place that an error names; by default the address.

        Raises:
            StorageError, CorruptError: the server refuses, or cannot be reached.
        """
        is_alone = not self.in_transaction
        try:
            return self.ask_once(*questions, patience=patience)
        except LostError as error:
            # In a transaction what was asked before is gone with it; and a server that said nothing for so long is not
            # waited for twice.
            if not is_alone or isinstance(error, SilentError):
                raise self.explained_error(error, place) from error
        except StatementRefusedError as error:
            raise self.explained_error(error, place) from error
        try:
            return self.ask_once(*questions, patience=patience)
        except (LostError, StatementRefusedError) as error:
            raise self.explained_error(error, place) from error

    def explained_error(
        self, error: LostError | StatementRefusedError, place: str | None = None
    ) -> StorageError | CorruptError:
        """Return the error to raise for a refused statement or a lost connection."""
        place = place or self.address
        if isinstance(error, LostError):
            return StorageError(without_password(place), f"{error}: {UNKNOWN_OUTCOME}")
        return postgres.translated_error(place, error.code, error.text)

    def ask_once(self, *questions: ServerStatement, patience: float | None = None) -> list[ServerAnswer]:
        """Send statements together as ``ask`` does, but never again on a new connection.

        Raises:
            StatementRefusedError: the server refused one of them; those after it were not done.
            LostError: the connection is gone.
            StorageError: the server cannot be reached.
        """
        connected = self.connection()
        pgconn = connected.pgconn
        silence = self.patience if patience is None else patience
        with _dropping(self):
            pgconn.enter_pipeline_mode()
            fresh: list[str] = []  # statements that the server has not prepared yet
            places = [self._send(pgconn, question, fresh) + place for place, question in enumerate(questions)]
            pgconn.pipeline_sync()
            answers, refused = self._receive(pgconn, len(questions) + len(fresh), silence)
            pgconn.exit_pipeline_mode()
        if refused is not None:
            for sql in fresh:  # who knows how far it came
                del self._names[sql]
            raise refused
        return [answers[place] for place in places]

    def copy_in(self, sql: str, pieces: Iterable[bytes]) -> int:
        """Run a COPY … FROM STDIN and the statements before it in the text; return the number of rows added.

        Raises:
            StatementRefusedError: the server refused a row.
            LostError: the connection is gone.
        """
        pgconn = self.connection().pgconn
        status = psycopg.pq.ExecStatus
        with _dropping(self):
            pgconn.send_query(sql.encode())
            result = self._result(pgconn, self.patience)
            while result is not None and result.status == status.COMMAND_OK:
                result = self._result(pgconn, self.patience)
            if result is not None and result.status == status.COPY_IN:
                for piece in pieces:
                    while not pgconn.put_copy_data(piece):
                        self._flush(pgconn, self.patience)
                while not pgconn.put_copy_end():
                    self._flush(pgconn, self.patience)
                result = self._result(pgconn, self.patience)
            refused = None if result is None or result.status == status.COMMAND_OK else _refusal(result)
            count = 0 if result is None else result.command_tuples or 0
            # Up to the last result: libpq takes nothing new before, and what is left would answer the next question.
            while self._result(pgconn, self.patience) is not None:
                pass
        if refused is not None:
            raise refused
        return count

    def connection(self) -> Connection[Any]:
        """Return the connection, a new one if there is none or the last one was lost.

        Raises:
            StorageError: the server cannot be reached; or the session is closed, or another thread's or process's.
        """
        self._owner.refuse_others(without_password(self.address))
        if self._is_closed:
            message = "Cannot operate on a closed database: open the ledger again by Ledger.open"
            raise StorageError(without_password(self.address), message)
        if self._connection is None:
            self._connection = postgres.connect(self.address)
            self._transformer = psycopg.adapt.Transformer(self._connection)  # its loaders are compiled
            self._selector = DefaultSelector()
            self._selector.register(self._connection.pgconn.socket, EVENT_READ)
            self._connection.add_notice_handler(self._notice)
            if self._on_connect is not None:
                try:
                    self._on_connect(self)
                except BaseException:
                    self.drop()
                    raise
        return self._connection

    def _notice(self, diagnostic: Any) -> None:
        if diagnostic.severity_nonlocalized == "WARNING":
            self.warnings.append(one_line(f"{diagnostic.message_primary}; {diagnostic.message_detail or ''}"))

    def _send(self, pgconn: PGconn, question: ServerStatement, fresh: list[str]) -> int:
        """Hand a statement to libpq, prepared at its first use; return the number of statements prepared by now."""
        name = self._names.get(question.sql)
        # A name is used once: if a statement failed, it is unknown whether the server has it.
        if name is None:
            self._prepared += 1
            name = self._names[question.sql] = b"ledger%d" % self._prepared
            pgconn.send_prepare(name, question.sql.encode())
            fresh.append(question.sql)
        values = [
            packed_bigint(value) if isinstance(value, int) else value.encode() if isinstance(value, str) else value
            for value in question.values
        ]
        pgconn.send_query_prepared(name, values, [_BINARY] * len(values), _BINARY)
        return len(fresh)

    def _receive(
        self, pgconn: PGconn, expected: int, silence: float
    ) -> tuple[list[ServerAnswer], StatementRefusedError | None]:
        """Receive the results of a pipeline up to its end, and the first refusal."""
        status = psycopg.pq.ExecStatus
        answers: list[ServerAnswer] = []
        refused: StatementRefusedError | None = None
        while True:
            result = self._result(pgconn, silence)
            if result is None:  # between two statements
                if pgconn.status == psycopg.pq.ConnStatus.BAD:
                    raise LostError("the connection to the server was lost")
                continue
            if result.status == status.PIPELINE_SYNC:
                break
            if result.status in (status.COMMAND_OK, status.TUPLES_OK):
                answers.append(ServerAnswer(result, self._transformer))
            elif refused is None:
                refused = _refusal(result)
        if refused is None and len(answers) != expected:
            raise LostError(f"the server gave {len(answers)} answers of {expected}")
        return answers, refused

    def _result(self, pgconn: PGconn, silence: float) -> PGresult | None:
        self._flush(pgconn, silence)
        while pgconn.is_busy():
            self._wait(pgconn, EVENT_READ, silence)
        return pgconn.get_result()

    def _flush(self, pgconn: PGconn, silence: float) -> None:
        while pgconn.flush():
            # a server that cannot send its answers takes nothing either
            self._wait(pgconn, EVENT_READ | EVENT_WRITE, silence)

    def _wait(self, pgconn: PGconn, events: int, silence: float) -> None:
        """Wait until the server sends, or takes, something more, and read what it sent."""
        selector, deadline = self._selector, monotonic() + silence
        if selector.get_key(pgconn.socket).events != events:
            selector.modify(pgconn.socket, events)
        while not (ready := selector.select(TICK)):
            if monotonic() > deadline:
                raise SilentError(f"the server said nothing for {silence:g} s, and the connection was cut")
        if ready[0][1] & EVENT_READ:
            pgconn.consume_input()


class _dropping:  # noqa: N801  # used as a with-statement's word
    """Close the connection after an error, Ctrl-C among them: the rest of an answer would be taken for the next one."""

    def __init__(self, session: ServerSession) -> None:
        self._session = session

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        """Close the connection if there is an error."""
        if error is None:
            return
        self._session.drop()
        if isinstance(error, psycopg.Error):
            cause = one_line(error).removeprefix("consuming input failed: ").partition(" This probably")[0]
            raise LostError(f"the connection to the server was lost ({cause})") from error


def _refusal(result: PGresult) -> StatementRefusedError:
    field = psycopg.pq.DiagnosticField
    fields = [result.error_field(code) for code in (field.SQLSTATE, field.CONSTRAINT_NAME, field.MESSAGE_PRIMARY)]
    code, constraint, text = ((part or b"").decode("utf-8", "replace") for part in fields)
    if not code:  # libpq itself: the connection broke
        raise psycopg.OperationalError(result.get_error_message())
    return StatementRefusedError(code, constraint, one_line(text))
