"""Commands that prove: the audit, and the head to keep elsewhere."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from ledger.audit import audit as prove
from ledger.ledger import Ledger
from ledger.model import TreeHead
from ledger.verify import FIRST_FALSEHOODS

from .. import output
from ..progress import Bars
from . import DB, FALSE


@click.command()
@DB
@click.option("--since", metavar="HEAD", help="A head kept outside: 'SIZE ROOT', or a file whose last line is one.")
@click.option("--journal-only", is_flag=True, help="Leave out names, texts and views.")
@click.option("--save-head", metavar="FILE", type=click.Path(dir_okay=False), help="Write the head there if true.")
def audit(db_path: str, since: str | None, journal_only: bool, save_head: str | None) -> None:
    """Prove that the journal is what was sealed and that every published number follows from it.

    Prints the head (size and root) and one digest for each table; keep the head somewhere else, and give it to
    --since later: only that finds a cut-off tail, a restored older copy, or a tail sealed anew. --save-head proves
    against the head that FILE holds already before it writes the new one. Exit code 3: something is false.

    \b
    Example:
      rating-ledger audit club.db --save-head club.head
      rating-ledger audit club.db --since club.head
    """
    kept = None if save_head is None or not Path(save_head).is_file() else head_in(save_head)
    head = kept if since is None else head_in(since)
    with Bars() as bars:
        verdict = prove(db_path, since=head, journal_only=journal_only, progress=bars)
    output.answer(f"head {verdict.head}")
    for table, digest in verdict.digests.items():
        output.answer(f"{table} {digest}")
    for falsehood in verdict.falsehoods:
        output.error(f"{db_path} {falsehood}", word="FALSE")
    if len(verdict.falsehoods) >= FIRST_FALSEHOODS:
        output.remark("there may be more: each check names its first 20")
    if verdict.falsehoods:
        sys.exit(FALSE)
    erased = f", {verdict.names_erased:,} erased" if verdict.names_erased else ""
    rows = "every derived row" if verdict.compared else "no derived row, for there are no views yet"
    scope = "journal" if journal_only else f"journal, {verdict.names_checked:,} names{erased}, and {rows}"
    output.remark(f"TRUE {db_path}: {verdict.entries:,} entries: {scope}")
    if save_head:
        output.save(Path(save_head), f"{verdict.head}\n".encode())


def head_in(word: str) -> TreeHead:
    """A head, or the last line of a file that keeps them."""
    try:
        if " " in word.strip() and not Path(word).exists():
            return TreeHead.parse(word)
        kept = Path(word).read_text(encoding="utf-8").split("\n")
        return TreeHead.parse(next((line for line in reversed(kept) if line.strip()), ""))
    except (OSError, ValueError) as error:
        raise click.UsageError(f"--since takes 'SIZE ROOT' or a file whose last line is one: {error}") from None


@click.command()
@DB
def head(db_path: str) -> None:
    """The head of the journal: its size and Merkle root, one line to keep elsewhere.

    \b
    Example:
      rating-ledger head club.db >> heads.txt
    """
    with Ledger.open(db_path) as ledger:
        output.answer(str(ledger.head()))


