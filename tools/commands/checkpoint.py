"""Commands for outsiders: the key and the checkpoints, receipts for players, and the check of one without a ledger."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from ledger.audit.reader import NotAProofError, ProvenReceipt, verify_checkpoint, verify_receipt
from ledger.audit.receipts import make_receipt
from ledger.ledger import Ledger

from .. import output
from ..verifier_keys import keys_in
from ..wording import entries
from . import DB, FALSE, no_dash
from .audit import head_in

KEY = click.option("--key", "key_file", metavar="FILE", help="The key, where it is not the ledger's own.")
VERIFIERS = click.option(
    "--key",
    "keys",
    metavar="VERIFIER",
    multiple=True,
    required=True,
    help="The log's public key as 'checkpoint-key' prints it, or a file that holds it; repeatable.",
)
WHAT_IT_PROVES = "this proves that it was recorded so, not that no correction followed"


@click.command("checkpoint-key")
@DB
@click.option("--new", "name", metavar="NAME", help="Make the key first; NAME such as ratings.example.org/club.")
def checkpoint_key(db_path: str, name: str | None) -> None:
    """The public key by which others verify checkpoints and receipts: one line, to be published.

    --new makes the key that signs, in a file next to DB that you alone may read (club.key; a line "key" in club.toml
    names another place). Whoever has that file can sign in the ledger's name: it belongs into no backup that others
    read. NAME goes into every checkpoint and cannot be changed later; take one that no other log uses.

    \b
    Example:
      rating-ledger checkpoint-key club.db --new ratings.example.org/club
      rating-ledger checkpoint-key club.db > club.verifier
    """
    with Ledger.open(db_path) as ledger:
        checkpoints = ledger.checkpoints
        key = checkpoints.key() if name is None else checkpoints.new_key(name)
        output.answer(key.verifier)
        if name is not None:
            output.remark(f"{checkpoints.key_file}: made; keep it secret, and a copy where it is safe")


@click.command()
@DB
@KEY
@click.option("--keep-in", metavar="FILE", help="Keep the checkpoints there from now on, best on another medium.")
@click.option(
    "--since", metavar="HEAD", help="Print before it the proof that it goes on from HEAD, or a file that ends in one."
)
def checkpoint(db_path: str, key_file: str | None, keep_in: str | None, since: str | None) -> None:
    """Sign the head of the journal, keep it with the earlier ones, and print it for others to keep.

    The checkpoints are in club.checkpoints next to DB, or where --keep-in said; club.toml remembers that. Whenever
    the ledger is opened, the last one is held against the journal: where it does not fit, because an older copy was
    put back or what was recorded was changed, nothing can be written any more. The format is that of the C2SP
    (tlog-checkpoint), which witnesses and other people's tools read; with --since it is the request to a witness
    (tlog-witness, add-checkpoint).

    \b
    Example:
      rating-ledger checkpoint club.db
      rating-ledger checkpoint club.db --since old.checkpoint > new.checkpoint
      rating-ledger checkpoint club.db --keep-in /media/stick/club.checkpoints
    """
    older = None if since is None else head_in(since)
    with Ledger.open(db_path) as ledger:
        key = None if key_file is None else Path(key_file)
        made = ledger.checkpoints.make(key, keep_in=None if keep_in is None else Path(keep_in))
        _put(made.note if older is None else ledger.checkpoints.consistency_proof(older, made), "")
        output.remark(f"{ledger.checkpoints.place}: {entries(made.head.size)} signed by {made.origin}")


@click.command()
@DB
@click.argument("game")
@click.option("--with-name", "player", metavar="PLAYER", help="Prove this player's name as well, by its salt.")
@click.option(
    "--to", "target", metavar="FILE", callback=no_dash, help="Where to, such as game.tlog-proof; - is standard output."
)
def receipt(db_path: str, game: str, player: str | None, target: str | None) -> None:
    """A receipt for a game, which proves to anybody that it was recorded, as it was, and when.

    It holds the entry as it is in the journal (players as numbers), the hashes that lead from it to the last
    checkpoint, and that checkpoint. It proves that the game was recorded so, not that no correction followed.
    'verify-receipt' checks it without the ledger. With --with-name it also holds that player's name, identity and
    salt: give it only to that player.

    \b
    Example:
      rating-ledger receipt club.db lichess:Mxzwh32Z --to game.tlog-proof
      rating-ledger receipt club.db lichess:Mxzwh32Z --with-name emma --to emma.tlog-proof
    """
    with Ledger.open(db_path) as ledger:
        text = make_receipt(ledger, game, name_of=player)
    if target is None:
        _put(text, "give a file by --to")
    else:
        output.save(Path(target), text.encode())
    output.remark(f"{WHAT_IT_PROVES}; check it by 'verify-receipt FILE --key VERIFIER'")


def _put(text: str, advice: str) -> None:
    """Signed text to standard output, as it is."""
    if not output.can_write(text):
        raise click.ClickException(
            f"standard output cannot write an em dash, which stands in it: {advice or 'set PYTHONIOENCODING=utf-8'}"
        )
    output.answer_lines(text.removesuffix("\n"))


@click.command("verify-receipt")
@click.argument("file", metavar="FILE")
@VERIFIERS
def verify_receipt_(file: str, keys: Sequence[str]) -> None:
    """Check a receipt with the log's public key alone, and say what it proves. No ledger is needed.

    Take the key from where the ledger's owner published it, not from the person who gave you the receipt. Every byte is
    checked: of a receipt that was changed anywhere nothing is believed. Where others signed the checkpoint as well,
    give their keys, too. Exit code 3: it proves nothing.

    \b
    Example:
      rating-ledger verify-receipt game.tlog-proof --key club.verifier
    """
    trusted = [key for word in keys for key in keys_in(word)]
    try:
        proven = verify_receipt(Path(file).read_bytes(), trusted)
    except NotAProofError as fault:
        output.verdict("FALSE", f"{file} {fault}; it proves nothing: ask for the receipt anew", alarm=True)
        sys.exit(FALSE)
    head = proven.signed.head
    output.verdict("TRUE", f"{file}: entry {proven.position} of {head.size} in the journal of {proven.signed.origin}")
    output.write_one(_told(proven), "table")
    output.remark(WHAT_IT_PROVES)


@click.command("verify-checkpoint")
@click.argument("file", metavar="FILE")
@VERIFIERS
@click.option("--since", metavar="HEAD", help="An earlier head, or a file that ends in one, from which it must go on.")
def verify_checkpoint_(file: str, keys: Sequence[str], since: str | None) -> None:
    """Check a checkpoint with the log's public key alone: who signed it and, with --since, that nothing was rewritten.

    Keep the checkpoints that a ledger publishes. 'checkpoint DB --since' writes the next one with the proof that every
    entry under your earlier one is in it, in its place. Of a file of checkpoints the last one counts. Exit code 3:
    it proves nothing.

    \b
    Example:
      rating-ledger verify-checkpoint new.checkpoint --since old.checkpoint --key club.verifier
    """
    trusted = [key for word in keys for key in keys_in(word)]
    older = None if since is None else head_in(since)
    try:
        signed = verify_checkpoint(Path(file).read_bytes(), trusted, older)
    except NotAProofError as fault:
        output.verdict("FALSE", f"{file} {fault}; it proves nothing: ask for the checkpoint anew", alarm=True)
        sys.exit(FALSE)
    grown = "" if older is None else f", the first {older.size} of them those of {since}"
    output.verdict("TRUE", f"{file}: {entries(signed.head.size)} in the journal of {signed.origin}{grown}")
    output.answer(f"head {signed.head}")


def _told(proven: ProvenReceipt) -> output.Row:
    """Return the receipt field by field: what was recorded, and under which checkpoint."""
    entry = proven.entry
    row: output.Row = {"recorded_at": entry["recorded_at"], "actor": entry["actor"], "key": entry["key"]}
    row |= entry["facts"]
    if proven.player is not None:
        row |= {"player": proven.player, "identity": proven.identity, "name": proven.name}
    return row | {"head": str(proven.signed.head), "signed_by": ", ".join(proven.signed.signers)}
