"""SQL that makes the tables of a journal on PostgreSQL, with their guards and grants.

Plain SQL, no extension. Three roles: the owner, which has no login; writers, who may read and add; readers. What
guards a file's tables guards these too: an entry is added at the next position under a new key, and nothing is ever
changed or deleted. The triggers are a guard rail against mistakes of the owner, the grants one against everybody else;
the Merkle tree is the lock.
"""

from __future__ import annotations

import attrs

from ledger.runtime.postgres import quoted

LAYOUT = 2
PROGRAM = "rating-ledger"
LONGEST_FRAME = (16 << 20) + (64 << 10)  # bytes: of the longest text, if it cannot be packed
TABLES = ("about", "journal", "nodes", "texts")


@attrs.frozen
class Roles:
    """The names of a ledger's roles on a server; roles are the whole server's, so each ledger has its own.

    Attributes:
        owner: the owner of the tables, without a login.
        writer: granted to users who record.
        reader: granted to users who only read.
    """

    owner: str
    writer: str
    reader: str

    @classmethod
    def of(cls, schema: str) -> Roles:
        """Return the usual names: ``club_owner``, ``club_writer``, ``club_reader`` for the schema ``club``."""
        return cls(f"{schema}_owner", f"{schema}_writer", f"{schema}_reader")


# Keys are in the order of their bytes (COLLATE "C"), as in a file: any other order is a library's, which may sort
# otherwise once the server is brought up to date, and an index is then damaged. A function has a search_path of its
# own, pg_temp at its end, so that no user's temporary objects are taken for the server's (CREATE FUNCTION, "Writing
# SECURITY DEFINER Functions Safely"). ``leave`` runs as the owner: who records may add no other line to ``about``. {s}:
# the schema. ``about`` says what this is: a later version reads it before it touches anything else. Of a statement's
# rows the first must follow the former last one, and they must follow each other. The check is made once a statement: a
# trigger for each row costs as much as the row itself. Nodes follow from the entries: the check adds them itself, and
# a recorder can neither forge nor leave out one. Texts go through a function; PostgreSQL cannot unpack zstd, so
# that readers compare the SHA-256 of a text.
_TABLES = """
CREATE TABLE {s}.about(name text PRIMARY KEY, value text NOT NULL);
CREATE TABLE {s}.journal(
  position bigint PRIMARY KEY CHECK(position > 0),
  kind text NOT NULL,
  key text COLLATE "C" NOT NULL CONSTRAINT journal_key UNIQUE,
  body bytea NOT NULL CHECK(length(body) <= 65535),
  leaf bytea NOT NULL CHECK(length(leaf) = 32)
);
CREATE TABLE {s}.nodes(
  level integer NOT NULL, number bigint NOT NULL, hash bytea NOT NULL CHECK(length(hash) = 32),
  PRIMARY KEY(level, number)
);
CREATE TABLE {s}.texts(sha256 bytea PRIMARY KEY CHECK(length(sha256) = 32), zstd bytea NOT NULL);
INSERT INTO {s}.about VALUES {about};
CREATE FUNCTION {s}.never() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $ledger$
BEGIN
  RAISE EXCEPTION 'the journal is append-only: correct or void a fact by a new entry' USING ERRCODE = '23001';
END $ledger$;
CREATE FUNCTION {s}.next_position() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $ledger$
DECLARE
  added bigint; first bigint; last bigint; height integer := 0; begun bigint; done bigint; tile bigint; hashes bytea;
  is_false boolean;
BEGIN
  SELECT count(*), min(position), max(position), bool_or(leaf <> sha256(decode('00', 'hex') || body))
  INTO added, first, last, is_false FROM fresh;
  IF added = 0 THEN
    RETURN NULL;
  END IF;
  IF last - first + 1 <> added OR last <> (SELECT max(position) FROM {s}.journal)
    OR first > 1 AND NOT EXISTS (SELECT FROM {s}.journal WHERE position = first - 1) THEN
    RAISE EXCEPTION 'the journal takes a new key at the next position only' USING ERRCODE = '23001';
  END IF;
  IF is_false THEN
    RAISE EXCEPTION 'the leaf of an entry is the hash of its body' USING ERRCODE = '23001';
  END IF;
  begun := first - 1;
  done := last;
  LOOP
    height := height + 1;
    begun := begun / 256;
    done := done / 256;
    EXIT WHEN begun = done;
    FOR tile IN begun .. done - 1 LOOP
      IF height = 1 THEN
        SELECT string_agg(leaf, NULL ORDER BY position) INTO hashes FROM {s}.journal
        WHERE position > tile * 256 AND position <= tile * 256 + 256;
      ELSE
        SELECT string_agg(hash, NULL ORDER BY number) INTO hashes FROM {s}.nodes
        WHERE level = height - 1 AND number >= tile * 256 AND number < tile * 256 + 256;
      END IF;
      IF length(hashes) IS DISTINCT FROM 8192 THEN
        RAISE EXCEPTION 'the Merkle tree lacks nodes of level %', height - 1 USING ERRCODE = '23001';
      END IF;
      WHILE length(hashes) > 32 LOOP
        SELECT string_agg(sha256(decode('01', 'hex') || substr(hashes, 64 * pair + 1, 64)), NULL ORDER BY pair)
        INTO hashes FROM generate_series(0, length(hashes) / 64 - 1) AS pair;
      END LOOP;
      INSERT INTO {s}.nodes VALUES (height, tile, hashes);
    END LOOP;
  END LOOP;
  RETURN NULL;
END $ledger$;
CREATE FUNCTION {s}.keep_texts(keys bytea[], frames bytea[]) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $ledger$
DECLARE
  added bigint;
BEGIN
  IF cardinality(keys) <> cardinality(frames) OR EXISTS (
    SELECT FROM unnest(frames) AS frame
    WHERE substr(frame, 1, 4) IS DISTINCT FROM decode('28b52ffd', 'hex') OR length(frame) NOT BETWEEN 6 AND {longest}
  ) THEN
    RAISE EXCEPTION 'a text is a frame of zstd under its SHA-256' USING ERRCODE = '23001';
  END IF;
  INSERT INTO {s}.texts SELECT * FROM unnest(keys, frames) ON CONFLICT (sha256) DO NOTHING;
  GET DIAGNOSTICS added = ROW_COUNT;
  RETURN added;
END $ledger$;
CREATE FUNCTION {s}.leave(place text) RETURNS void LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $ledger$
  INSERT INTO {s}.about VALUES ('gone', place)
$ledger$;
CREATE TRIGGER journal_takes_the_next_position AFTER INSERT ON {s}.journal
  REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION {s}.next_position();
"""
_NEVER = """
CREATE TRIGGER {t}_never_changes BEFORE UPDATE OR DELETE OR TRUNCATE ON {s}.{t}
  FOR EACH STATEMENT EXECUTE FUNCTION {s}.never();
"""
TRIGGERS = {
    "about": ("about_never_changes",),
    "journal": ("journal_never_changes", "journal_takes_the_next_position"),
    "nodes": ("nodes_never_changes",),
    "texts": ("texts_never_changes",),
}
# An existing role is taken as it is. The user who makes the tables acts as their owner only meanwhile.
_ROLES = """
DO $ledger$
DECLARE
  wanted name;
BEGIN
  FOREACH wanted IN ARRAY ARRAY[{names}]::name[] LOOP
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = wanted) THEN
      EXECUTE format('CREATE ROLE %I NOLOGIN', wanted);
    END IF;
  END LOOP;
END $ledger$;
{as_owner};
CREATE SCHEMA {s} AUTHORIZATION {owner};
SET LOCAL ROLE {owner};
"""
_GRANTS = """
REVOKE ALL ON FUNCTION {s}.never(), {s}.next_position(), {s}.leave(text), {s}.keep_texts(bytea[], bytea[]) FROM PUBLIC;
GRANT USAGE ON SCHEMA {s} TO {writer}, {reader};
GRANT SELECT ON {s}.about, {s}.journal, {s}.nodes, {s}.texts TO {writer}, {reader};
GRANT INSERT ON {s}.journal TO {writer};
GRANT EXECUTE ON FUNCTION {s}.leave(text), {s}.keep_texts(bytea[], bytea[]) TO {writer};
RESET ROLE;
{no_longer};
"""
# The user who makes the tables of an owner acts as that owner only meanwhile. A superuser need not.
_AS_OWNER = """
DO $ledger$
BEGIN
  PERFORM pg_catalog.set_config('ledger.is_granted', '', true);
  IF NOT pg_catalog.current_setting('is_superuser')::boolean
    AND NOT pg_catalog.pg_has_role({owner_text}, 'USAGE') THEN
    GRANT {owner} TO CURRENT_USER;
    PERFORM pg_catalog.set_config('ledger.is_granted', 'true', true);
  END IF;
END $ledger$
"""
_NO_LONGER = """
DO $ledger$
BEGIN
  IF pg_catalog.current_setting('ledger.is_granted', true) = 'true' THEN
    REVOKE {owner} FROM CURRENT_USER;
  END IF;
END $ledger$
"""


def as_owner(owner: str) -> tuple[str, str]:
    """Return the SQL to begin and to end a transaction that makes objects owned by the existing role *owner*."""
    words = {"owner": quoted(owner), "owner_text": literal(owner)}
    return _filled(_AS_OWNER, words).strip(), _filled(_NO_LONGER, words).strip()


def creation_sql(schema: str, roles: Roles, identity: str) -> str:
    """Return the SQL that makes roles, schema, tables, guards and grants of one journal, for one transaction.

    Existing roles are used. *identity* distinguishes the journal from others: 32 hexadecimal digits.
    """
    names = attrs.asdict(roles)
    begin, end = as_owner(roles.owner)
    about = {"program": PROGRAM, "layout": str(LAYOUT), "journal": identity}
    words = {role: quoted(name) for role, name in names.items()} | {
        "s": quoted(schema),
        "names": ", ".join(map(literal, names.values())),
        "as_owner": begin,
        "no_longer": end,
        "longest": str(LONGEST_FRAME),
        "about": ", ".join(f"({literal(name)}, {literal(value)})" for name, value in about.items()),
    }
    script = [_ROLES, _TABLES, *(_NEVER.replace("{t}", table) for table in TABLES)]
    return "".join(_filled(part, words) for part in (*script, _GRANTS)).lstrip()


def literal(text: str) -> str:
    """Return a text as an SQL literal, whatever the server's setting for backslashes."""
    doubled = text.replace("'", "''")
    # The blank in front separates the E from the word before it, as in libpq's PQescapeLiteral.
    return f" E'{doubled}'".replace("\\", "\\\\") if "\\" in doubled else f"'{doubled}'"


def _filled(part: str, words: dict[str, str]) -> str:
    """Fill names into a template; no format string, for names may have braces in them."""
    pieces = part.split("{")
    return pieces[0] + "".join(words[name] + rest for name, _, rest in (piece.partition("}") for piece in pieces[1:]))
