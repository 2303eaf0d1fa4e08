"""Public keys on the command line, by which signatures are verified: one itself, or a file of them."""

from __future__ import annotations

from pathlib import Path

import click

from ledger.audit.reader import VerifierKey


def keys_in(word: str) -> list[VerifierKey]:
    """Return the verifier keys in an option: one, or a file that holds some, each on a line.

    Raises:
        click.UsageError: it is neither.
    """
    try:
        path = Path(word)
        lines = path.read_text("utf-8").split("\n") if "+" not in word or path.exists() else [word]
        found = [VerifierKey.parse(line) for line in lines if line.strip()]
    except OSError as error:
        raise click.UsageError(f"--key: {word!r} is no verifier key, nor a file ({error.strerror})") from None
    except ValueError as error:
        raise click.UsageError(f"--key: {error}") from None
    if not found:
        raise click.UsageError(f"--key: {word!r} holds no key")
    return found
