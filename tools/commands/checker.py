"""The commands for anybody who checks a published list: the page for a browser, and the check of a bundle."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO

import click

from ledger.audit.bundle_check import check_bundle

from .. import output
from ..checker import building
from ..checker.content_policy import INDEX
from ..progress import Bars
from ..verifier_keys import keys_in
from ..wording import entries
from . import FALSE
from .audit import head_in


@click.command()
@click.argument("target", metavar="FOLDER|FILE")
@click.option("--pyodide", metavar="FOLDER", help="The unpacked npm package; by default npm fetches it.")
@click.option("--single-file", is_flag=True, help="One HTML file, which works from the disk, too.")
def checker(target: str, pyodide: str | None, single_file: bool) -> None:
    """Write a page on which anybody checks a published list in a browser: static files for any web server.

    The page takes a bundle ('export DB --format bundle'), verifies its signature and every entry, calculates the list
    again and compares it row by row. It sends nothing anywhere. It contains Python for browsers (Pyodide, MPL-2.0),
    some 6 MB. 'serve' offers it under /check if the setting "checker" names the folder; with other servers link to
    "?bundle=ADDRESS" of a bundle on the same server. Serve it by https: without, browsers verify no signatures.

    \b
    Example:
      rating-ledger checker public/check
      rating-ledger checker check.html --single-file
      rating-ledger checker public/check --pyodide node_modules/pyodide
    """
    with TemporaryDirectory(prefix="ledger-checker-") as folder:
        parts = building.checker_files(Path(pyodide) if pyodide else building.fetch_pyodide(Path(folder)))
    path = Path(target)
    if single_file:
        output.save(path, building.single_file(parts))
        output.remark(f"{path}: open it in a browser, and drop a bundle on it")
        return
    files = building.folder_files(parts)
    building.write_files(path, files)
    size = sum(len(content) for content in files.values())
    output.answer(f"{path}: {len(files)} files, {size / 1e6:.1f} MB; its page is {INDEX}")


@click.command("verify-bundle")
@click.argument("file", metavar="FILE")
@click.option(
    "--key",
    "keys",
    metavar="VERIFIER",
    multiple=True,
    help="The log's public key as 'checkpoint-key' prints it, or a file that holds it; repeatable.",
)
@click.option("--since", metavar="HEAD", help="An earlier head, or a file that ends in one, from which it must go on.")
def verify_bundle(file: str, keys: Sequence[str], since: str | None) -> None:
    """Check a published list with all entries that it follows from, and calculate it again. No ledger is needed.

    The file is what 'export DB --format bundle' writes; the page that 'checker' writes does the same in a browser.
    Every byte is checked. Take the key from where the ledger's owner published it; without --key the signature is
    verified by the key in the file. Exit code 3: something is false; 1: this version cannot calculate the list.

    \b
    Example:
      rating-ledger verify-bundle may.bundle --key club.verifier
      rating-ledger verify-bundle - --key club.verifier < may.bundle
    """
    trusted = [key for word in keys for key in keys_in(word)]
    older = None if since is None else head_in(since)
    with ExitStack() as stack:
        content = sys.stdin.buffer if file == "-" else stack.enter_context(_opened(file))
        verdict = check_bundle(content, trusted, older, stack.enter_context(Bars()))
    if verdict.falsehoods:
        for falsehood in verdict.falsehoods:
            output.verdict("FALSE", f"{file}: {falsehood}", alarm=True)
        sys.exit(FALSE)
    assert verdict.signed is not None
    if verdict.not_compared is not None:
        raise click.ClickException(f"{verdict.published} was not compared: {verdict.not_compared}")
    rows = f"{len(verdict.rows):,} rows of {verdict.published} from {entries(verdict.list_entries)}"
    output.verdict("TRUE", f"{file}: {rows}, in the journal of {verdict.signed.origin}")
    output.answer(f"head {verdict.signed.head}")
    if not trusted:
        output.remark(f"signed by {verdict.key}; compare this key with the one that the owner published")


def _opened(file: str) -> BinaryIO:
    try:
        return Path(file).open("rb")
    except ValueError:  # a NUL in it
        raise click.UsageError(f"{file!r} cannot be the name of a file") from None
