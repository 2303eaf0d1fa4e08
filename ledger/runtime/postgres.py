"""Connections to PostgreSQL: checks of a server before it is trusted, and translation of the driver's errors.

This module defines no tables. An address is libpq's own (``postgresql://ledger@db1,db2/chess``); passwords come by
libpq's ways (a service file, ``.pgpass``, a certificate, ``PGPASSWORD``), never in the address, and are in no
message.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ledger.errors import CorruptError, StorageError, one_line
from ledger.runtime.lazy import psycopg, psycopg_conninfo

if TYPE_CHECKING:
    from psycopg import Connection

OLDEST = 15  # version of PostgreSQL
APPLICATION = "rating-ledger"
CONNECT_SECONDS = 10  # for each host of an address that says nothing else
# After so many seconds without an acknowledgement from the other end a connection is given up, even if a caller waits
# for it: a machine that lost its power sends no word of it. The system asks by itself, twice, while a long statement
# runs.
SILENCE = 30

INSTALL = "needs psycopg, which is not installed: pip install 'rating-ledger[postgres]'"
NO_ADDRESS = "is no address of a database; it looks like postgresql://USER@HOST:PORT/DATABASE"
UNKNOWN_OUTCOME = "nothing is known to be recorded: run the command again, what was recorded is then found to be known"
RESTORE = "restore the database from a copy, then prove it with 'audit --since'"

# The text between a user's colon and the last @, even if a sign was not written as %40 or %2F: it is better to leave
# out a little too much than to show a part of a password.
_IN_ADDRESS = re.compile(r"(?<=//)([^:@/?]*):.*@")
_AS_WORD = re.compile(r"((?:ssl)?password|oauth_client_secret)(\s*=\s*)('(?:\\.|[^'\\])*'|[^\s&]*)", re.IGNORECASE)


def without_password(address: str) -> str:
    """Return an address with its password replaced by an ellipsis, for messages."""
    return _AS_WORD.sub(r"\1\2…", _IN_ADDRESS.sub(r"\1:…@", address))


def user_of(address: str) -> str:
    """Return the user of an address, or of libpq's settings; an empty text if neither names one.

    Raises:
        StorageError: psycopg is missing, or it is no address.
    """
    try:
        return str(psycopg_conninfo.conninfo_to_dict(address).get("user") or os.environ.get("PGUSER", ""))
    except ImportError as error:
        raise StorageError(without_password(address), INSTALL) from error
    except psycopg.ProgrammingError as error:
        raise StorageError(without_password(address), NO_ADDRESS) from error


def is_address(text: str) -> bool:
    """Return whether this is the address of a database, not the path of a file."""
    return text.startswith(("postgresql://", "postgres://"))


def quoted(name: str) -> str:
    """Return the name of a schema, table or role in double quotes, as SQL has it."""
    return '"' + name.replace('"', '""') + '"'


# The words with which a server refuses a connection. It gives no number then, so its words must do; in another language
# they come through unchanged.
_NOT_LET_IN = (
    ("password authentication failed", "the password is wrong: correct it in .pgpass or in the service file"),
    ("no password supplied", "the server wants a password: put it into .pgpass, a service file or PGPASSWORD"),
    ("is not permitted to log in", "this role may not log in: give the address another user"),
    ("pg_hba.conf", "the server lets nobody in like this: have a line for this user and host put into its pg_hba.conf"),
    ("authentication failed", "the server does not believe who asks: check the user of the address or its certificate"),
    ("too many", "the server has no free connection: wait a little and run the command again"),
    ("remaining connection slots", "the server has no free connection: wait a little and run the command again"),
    ("starting up", "the server is starting: wait a little and run the command again"),
    ("shutting down", "the server is being shut down: run the command again when it is back"),
    ("hot standby", "is a standby, which only reads: give the address of the leader, or of all servers"),
    ("certificate", "the server's certificate or ours is not accepted: check sslmode, sslrootcert and sslcert"),
)
_NO_LEADER = (
    "none of its servers takes writes at this moment, as while a new leader is chosen: wait a little and run the "
    "command again; if it stays so, look who leads ('patronictl list')"
)
_NO_DATABASE = re.compile(r'database "(.*)" does not exist')
_NO_ROLE = re.compile(r'role "(.*)" does not exist')

_POOLER = (
    "a connection pooler in between hands out connections by transactions, and a session is needed: give the server's "
    "own address, or a pooler's that hands them out by sessions"
)
# By SQLSTATE, or by its first two characters: what happened, and what to do.
_REMEDIES = {
    "08": f"the connection to the server was lost: {UNKNOWN_OUTCOME}",
    "22012": "a trigger that this program did not make changes what is recorded: have it dropped; nothing was recorded",
    "22021": "the text has a character that no text of a database can hold: remove it",
    "22P05": "the database cannot hold this text; it must be made with encoding UTF8",
    "25006": "the server only reads (a standby, or default_transaction_read_only): give the address of the leader",
    "25P03": f"the server ended a transaction that waited for too long: {UNKNOWN_OUTCOME}",
    "26000": _POOLER,
    "28": "the server does not let this user in: check the user of the address and its password",
    "3D000": "there is no such database: make it by 'createdb', with encoding UTF8, or check the address",
    "3F000": "there is no such schema: check its name, or make the ledger there by 'rating-ledger init'",
    "40": f"the server cancelled it because of another transaction: {UNKNOWN_OUTCOME}",
    "42501": "this role may not do that: have it granted the ledger's role for what it does (writer or reader)",
    "42P01": "the ledger's tables are not there: check the name of the schema",
    "42P05": _POOLER,
    "53100": "the server's disk is full: free some space there and run the command again; nothing was recorded",
    "53": "the server lacks a resource: have its operator look, and run the command again",
    "55P03": "another process is writing to it: wait for it to end and run the command again",
    "57014": f"the statement was cancelled on the server: {UNKNOWN_OUTCOME}",
    "57": f"the server was stopped or ended the connection: {UNKNOWN_OUTCOME}",
    "58": f"the server could not read or write its files: have its operator look; {UNKNOWN_OUTCOME}",
}
_DAMAGED = ("XX001", "XX002")


@contextmanager
def storage_errors(address: str) -> Iterator[None]:
    """Translate psycopg's errors about the database at *address* into ours, each with a remedy.

    Raises:
        CorruptError: the server reports that its files are damaged.
        StorageError: it cannot be reached, or refuses.
    """
    try:
        yield
    except psycopg.Error as error:
        is_lost = isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)
        text = error.diag.message_primary or str(error)
        raise translated_error(address, error.sqlstate or ("08" if is_lost else ""), text) from error


def translated_error(address: str, code: str, text: str) -> CorruptError | StorageError:
    """Return the error to raise for a server's message with its SQLSTATE, or an empty *code*, in one line."""
    words = one_line(without_password(text)).rstrip(".")
    if code in _DAMAGED:
        return CorruptError(without_password(address), 0, f"{words}; {RESTORE}")
    remedy = _REMEDIES.get(code) or _REMEDIES.get(code[:2])
    message = f"{words}: {remedy or 'the database is not as this program left it; ' + RESTORE}"
    return StorageError(without_password(address), message)


def has_schema(connection: Connection[Any], schema: str) -> bool:
    """Return whether the database has a schema."""
    return connection.execute("SELECT to_regnamespace(%s) IS NOT NULL", [quoted(schema)]).fetchone() == (True,)


def connect(address: str) -> Connection[Any]:
    """Connect to a server that can be trusted with a journal; the connection begins no transaction by itself.

    An address with several hosts leads to the one that takes writes.

    Raises:
        StorageError: psycopg is missing, the address has a password in it, the server cannot be reached or refuses the
            user, or it cannot hold a journal.
    """
    try:
        # a package that was installed by halves lacks libpq, and says so by the same error
        words = {key: str(value) for key, value in psycopg_conninfo.conninfo_to_dict(address).items()}
    except ImportError as error:
        raise StorageError(without_password(address), INSTALL) from error
    except psycopg.ProgrammingError as error:
        # libpq quotes the part that it cannot read, which may be a password with a sign not written as %40
        raise StorageError(without_password(address), NO_ADDRESS) from error
    if _IN_ADDRESS.search(address) or words.keys() & {"password", "sslpassword"}:
        raise StorageError(
            without_password(address),
            "has a password in it, which everybody who reads the settings would see: put it into .pgpass, a service "
            "file or PGPASSWORD, and take it out of the address",
        )
    between = str(max(1, SILENCE // 3))
    # only for options that the address leaves open: the operator of the server may know better
    defaults: dict[str, Any] = {
        "fallback_application_name": APPLICATION,
        "client_encoding": "utf8",
        "connect_timeout": str(CONNECT_SECONDS),
        "keepalives_idle": between,
        "keepalives_interval": between,
        "keepalives_count": "2",
        "tcp_user_timeout": str(1_000 * SILENCE),
    }
    several = "," in words.get("host", "") + words.get("hostaddr", "")
    if several:
        defaults["target_session_attrs"] = "primary"
    try:
        connection = psycopg.connect(
            address, autocommit=True, **{key: defaults[key] for key in defaults.keys() - words}
        )
    except psycopg.Error as error:
        raise _not_reached(address, error, several=several) from error
    try:
        check_server(address, connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _not_reached(address: str, error: Exception, *, several: bool) -> StorageError:
    """Return why the server cannot be reached; libpq's own text, which may be of many hosts, is cut to a line."""
    text = one_line(without_password(str(error)))
    # the last part of libpq's sentence alone: what is before it names host and port again
    cause = text.removeprefix("connection failed: ").partition(" Is the server running")[0]
    cause = cause.partition(" failed: ")[2] or cause
    message = f"the server cannot be reached: check host and port, and that it runs ({cause})"
    for words, remedy in _NOT_LET_IN:
        if words in text:
            message = remedy
            break
    if missing := _NO_ROLE.search(text):
        message = f"the server has no role {missing[1]!r}: check the user of the address"
    if missing := _NO_DATABASE.search(text):
        message = (
            f"the server has no database {missing[1]!r}: make it by 'createdb', with encoding UTF8, or check the name"
        )
    # libpq reports on each host in turn: one that follows may be a standby of one that is gone, and neither word is all
    if several and "hot standby" in text:
        message = _NO_LEADER
    return StorageError(without_password(address), message)


# One question at the opening of each connection. ``synchronous_commit = off`` would acknowledge what a power cut takes
# away again: such a server's default is not ours. An empty search path keeps others' functions out of our statements.
# What else a database, a role or an address may have set, and what it would change: how statements are read, how names,
# bytes and times are written, which rows an index finds, whether a warning reaches us.
_PINNED = {
    "search_path": "pg_catalog, pg_temp",
    "client_encoding": "UTF8",
    "client_min_messages": "notice",
    "standard_conforming_strings": "on",
    "escape_string_warning": "on",
    "backslash_quote": "safe_encoding",
    "quote_all_identifiers": "off",
    "transform_null_equals": "off",
    "array_nulls": "on",
    "row_security": "on",
    "bytea_output": "hex",
    "datestyle": "ISO, MDY",
    "intervalstyle": "postgres",
    "timezone": "UTC",
    "timezone_abbreviations": "Default",
    "extra_float_digits": "1",
    "gin_fuzzy_search_limit": "0",
    "synchronize_seqscans": "off",
    "default_transaction_isolation": "read committed",
    "default_transaction_deferrable": "off",
    "check_function_bodies": "on",
    "createrole_self_grant": "",
    "plpgsql.extra_errors": "none",
    "plpgsql.extra_warnings": "none",
    "plpgsql.check_asserts": "on",
}
# Of those that the server's version does not have yet none is set; those of a language are known once it is used.
_PIN = """
SELECT pg_catalog.set_config(name, value, false) FROM pg_catalog.jsonb_each_text(%s::jsonb) AS pinned(name, value)
WHERE pg_catalog.strpos(name, '.') > 0 OR pg_catalog.current_setting(name, true) IS NOT NULL
"""
_LOOK = """
SELECT current_setting('server_encoding'), current_setting('fsync'), pg_is_in_recovery(),
  current_setting('default_transaction_read_only'), pg_backend_pid(),
  CASE current_setting('synchronous_commit') WHEN 'off' THEN set_config('synchronous_commit', 'on', false) END
"""


def check_server(address: str, connection: Connection[Any]) -> None:
    """Check that a server does not lose acknowledged transactions, and set its session's options.

    Raises:
        StorageError: it is too old, not in UTF-8, only reads, may lose what it acknowledged, or a pooler in between
            hands out its sessions by transactions.
    """
    if connection.info.server_version < OLDEST * 10_000:
        raise StorageError(
            without_password(address),
            f"the server is PostgreSQL {connection.info.server_version // 10_000}, and {OLDEST} is the oldest that a "
            "ledger is kept on: update the server",
        )
    with storage_errors(address):
        connection.execute(_PIN, [json.dumps(_PINNED)])
        row = connection.execute(_LOOK).fetchone()
    encoding, fsync, is_standby, read_only, process, *_ = row or [None] * 5
    refusals = (
        (encoding != "UTF8", f"the database has encoding {encoding}, not UTF8: make one by 'createdb -E UTF8'"),
        (is_standby, "is a standby, which only reads: give the address of the leader, or of all servers"),
        (read_only == "on", "default_transaction_read_only is on, so that nothing can be recorded: have it set to off"),
        (
            fsync != "on",
            "fsync is off, so that a power cut may destroy what was acknowledged: have it set to on in postgresql.conf",
        ),
    )
    for is_refused, words in refusals:
        if is_refused:
            raise StorageError(without_password(address), words)
    # Another process answers than the one that was connected to: a pooler is in between.
    if process != connection.info.backend_pid and _is_shared(address, connection, process):
        raise StorageError(without_password(address), _POOLER)


def _is_shared(address: str, connection: Connection[Any], process: int) -> bool:
    """Return whether a pooler gives *process*, which served our first transaction, to other clients meanwhile."""
    # A second connection that is given it proves so, and so does another one that serves our next transaction. A pooler
    # that has processes to spare may do neither: then the errors by which it shows later are explained.
    ask = "SELECT pg_backend_pid()"
    # psycopg leaves the password out of ``dsn``
    with (
        storage_errors(address),
        psycopg.connect(connection.info.dsn, password=connection.info.password or None) as second,
    ):
        return second.execute(ask).fetchone() == (process,) or connection.execute(ask).fetchone() != (process,)
