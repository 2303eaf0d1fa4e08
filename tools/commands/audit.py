"""The audit, which proves a ledger; and reading of the heads that were kept elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from ledger.audit.audit import Verdict
from ledger.audit.audit import audit as prove
from ledger.audit.reader import NotAProofError, VerifierKey, verify_note
from ledger.audit.server_findings import server_findings
from ledger.backups import ledger_as_files
from ledger.facts.words import TreeHead
from ledger.journal.checkpoint_notes import last_checkpoint
from ledger.runtime.ledger_files import refuse_own_files
from ledger.runtime.process_executor import MAX_PROCESSES, part_map

from .. import output
from ..progress import Bars
from ..verifier_keys import keys_in
from ..wording import counted
from . import DB, FALSE, REFUSED
from .verify_option import tell_falsehoods


def _no_stream(_context: click.Context, _parameter: click.Parameter, file: str | None) -> str | None:
    if file == "-":  # the head is printed in any case
        raise click.UsageError("--save-head needs the name of a file: the next audit reads there what this one proved")
    return file


@click.command()
@DB
@click.option("--since", metavar="HEAD", help="A head kept outside: 'SIZE ROOT', or a file that ends in one.")
@click.option(
    "--key",
    "keys",
    metavar="VERIFIER",
    multiple=True,
    help="Who must have signed the checkpoint in --since; repeatable.",
)
@click.option("--journal-only", is_flag=True, help="Leave out names, texts and views.")
@click.option("--lists", is_flag=True, help="Work out each published list once more, and compare.")
@click.option(
    "--save-head",
    metavar="FILE",
    type=click.Path(dir_okay=False),
    callback=_no_stream,
    help="Write the head there if true.",
)
@click.option(
    "--workers",
    type=click.IntRange(1, MAX_PROCESSES),
    metavar="N",
    help="Processes that check and compare the views of a large ledger; 1: only this one. [default: the cores]",
)
def audit(
    db_path: str,
    since: str | None,
    keys: Sequence[str],
    journal_only: bool,
    lists: bool,
    save_head: str | None,
    workers: int | None,
) -> None:
    """Prove that the journal is what was sealed and that every published number follows from it.

    Prints the verdict and what was not compared, then the head (size and root) and one digest for each table. Keep the
    head somewhere else, and give it to --since later: only that finds a cut-off tail, a restored older copy, or a tail
    sealed anew. --save-head proves against the head that FILE holds already before it writes the new one. A file of
    checkpoints is such a FILE, too, whose last one counts; --key verifies its signature. The last checkpoint that the
    ledger keeps is compared in any case. Exit code 3: something is false. Of a ledger on a server a copy is proven, and
    what is in its schemas that does not belong there (triggers, rules, policies, rights, owners, rows of tokens
    that no program writes) is named as FOREIGN, with the same exit code. Of published lists the kept rows are compared
    with their digests; --lists works each list out once more from what it followed from.

    \b
    Example:
      rating-ledger audit club.db --save-head club.head
      rating-ledger audit club.db --since club.head
      rating-ledger audit club.db --lists
      rating-ledger audit club.db --since /media/stick/club.checkpoints --key club.verifier
    """
    if lists and journal_only:
        raise click.UsageError("--lists goes without --journal-only")
    if keys and since is None:
        raise click.UsageError("--key goes with --since FILE, which holds a checkpoint")
    if save_head is not None:
        refuse_own_files(Path(save_head), db_path)
    kept = None if save_head is None or not Path(save_head).is_file() else head_in(save_head, checkpoints=False)
    head = kept if since is None else head_in(since, [key for word in keys for key in keys_in(word)])
    with (
        Bars() as bars,
        part_map(workers) as parts,
        ledger_as_files(db_path, bars, with_views=not journal_only) as files,
    ):
        verdict = prove(files, since=head, journal_only=journal_only, lists=lists, progress=bars, part_map=parts)
    show_verdict(db_path, verdict)
    if verdict.entries:
        output.answer(f"head {verdict.head}")
    for table, digest in verdict.digests.items():
        output.answer(f"{table} {digest}")
    server = server_findings(db_path)
    if (place := server.moved_to or verdict.moved_to) is not None:
        output.verdict("MOVED", f"{db_path}: the ledger went to {place}; this one is as it was then")
    for part in server.not_compared:
        output.verdict("NOT COMPARED", f"{db_path} {part}")
    for fault in server.foreign:
        output.verdict("FOREIGN", f"{db_path} {fault}", alarm=True)
    if verdict.falsehoods or server.foreign:
        sys.exit(FALSE)
    if not verdict:
        sys.exit(REFUSED)
    if save_head:
        output.save(Path(save_head), f"{verdict.head}\n".encode())


def show_verdict(db_path: str, verdict: Verdict) -> None:
    """The verdict in words, and what it says nothing of."""
    tell_falsehoods(db_path, verdict.falsehoods, as_answer=True)
    if not verdict.falsehoods:
        output.verdict("TRUE", f"{db_path}: {counted(verdict.entries, 'entry', 'entries')}: {_proven(verdict)}")
    if clocks := verdict.clocks:
        entries = f"{'entries' if len(clocks) > 1 else 'entry'} {', '.join(map(str, clocks))}"
        output.verdict("CLOCK", f"{db_path}: {len(clocks)} accepted, whose last entry was of the future: {entries}")
    for reset in verdict.resets:
        output.verdict("RESET", f"{db_path}: {reset}")
    for omission in verdict.not_compared:
        output.verdict("NOT COMPARED", f"{db_path} {omission}")


def _proven(verdict: Verdict) -> str:
    """Return in words what was compared: journal, 16 names, and every derived row."""
    parts = ["journal"]
    reasons = ("reason or data of a player", "reasons and data of players")  # the people file keeps both in one table
    for words, checked, erased in (
        (("name", "names"), verdict.names_checked, verdict.names_erased),
        (reasons, verdict.reasons_checked, verdict.reasons_erased),
    ):
        if checked or erased:
            parts.append(counted(checked, *words) + (f", {erased:,} erased" if erased else ""))
    if verdict.lists:
        recomputed = f", {verdict.lists_recomputed:,} recomputed" if verdict.lists_recomputed else ""
        parts.append(counted(verdict.lists, "published list") + recomputed)
    if (until := verdict.rows_until) is not None:
        parts.append("every derived row" + (f" of the first {until:,}" if until < verdict.entries else ""))
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])}, and {parts[-1]}"


def head_in(word: str, keys: Sequence[VerifierKey] = (), *, checkpoints: bool = True) -> TreeHead:
    """Return a head, or the last one of a file that keeps them: a line each, or checkpoints.

    Args:
        word: of the command line.
        keys: by which the checkpoint must be signed, and no others; without any it is taken as it is.
        checkpoints: whether a file may hold them; not one that is to be written over.

    Raises:
        UsageError: there is none.
    """
    advice = (
        "give a head as 'head' prints it, in quotes ('SIZE ROOT'), or a file whose last line is one or that ends in a "
        "checkpoint"
    )
    try:
        if " " in word.strip() and not Path(word).exists() and not keys:
            return TreeHead.parse(word)
        kept = Path(word).read_text(encoding="utf-8").split("\n")
        last = next((line for line in reversed(kept) if line.strip()), "")
        if not checkpoints or not (keys or last.startswith("— ")):
            return TreeHead.parse(last)
        checkpoint = last_checkpoint(Path(word))
        assert checkpoint is not None  # the file was read just now
        lines = checkpoint.note.split("\n")[:-1]
        return verify_note(lines, 1, keys).head if keys else checkpoint.head
    except FileNotFoundError:
        raise click.UsageError(f"--since: there is no file {word!r}; {advice}") from None
    except OSError as error:
        raise click.UsageError(f"--since: {word!r} cannot be read ({error.strerror}); {advice}") from None
    except NotAProofError as error:
        raise click.UsageError(f"--since {word!r}: its last checkpoint, {error}; nobody vouches for it") from None
    except ValueError as error:
        raise click.UsageError(f"--since {word!r}: {error}; {advice}") from None
