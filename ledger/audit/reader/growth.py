"""Checkpoints as outsiders verify them: who signed one, and that its tree grew out of that of an earlier head.

A file is a C2SP tlog-checkpoint, several of them one after another, of which the last counts, or the request
``add-checkpoint`` of C2SP tlog-witness (as of 2026): a line ``old SIZE``, the hashes of RFC 6962, 2.1.2, an empty line
and a checkpoint. This shares no code with who writes them.
"""

from __future__ import annotations

from collections.abc import Sequence

from ledger.audit.reader.notes import (
    NotAProofError,
    SignedHead,
    VerifierKey,
    decoded_hash,
    lines_of,
    verified_checkpoint,
    whole_number,
)
from ledger.audit.reader.proofs import verify_consistency
from ledger.facts.words import TreeHead

_OLD = "old "


def verify_checkpoint(content: bytes, keys: Sequence[VerifierKey], since: TreeHead | None = None) -> SignedHead:
    """The checkpoint in a file, signed by the log and by nobody whose key is not given.

    Args:
        content: the file.
        keys: the log's, and those of others who signed it, if any did.
        since: an earlier head, of which the checkpoint must be shown to be a continuation.

    Raises:
        NotAProofError: naming the line: nothing is proven.
    """
    lines = lines_of(content)
    has_proof = lines[0].startswith(_OLD)
    first = lines.index("") + 1 if has_proof and "" in lines else 0 if has_proof else _last_note(lines)
    signed = verified_checkpoint(lines[first:], first + 1, keys)
    if since is None:
        if has_proof:
            raise NotAProofError(1, "it is to be compared with an earlier head: give that, too")
        return signed
    older, proof = _proof(lines[: first - 1]) if has_proof else (since.size, [])
    if older != since.size:
        raise NotAProofError(1, f"it shows the growth from {older} entries, not from {since.size}")
    if not verify_consistency(since, signed.head, proof):
        missing = "" if has_proof or since.size == signed.head.size else ", for there is no proof in it"
        message = f"the {signed.head.size} entries are not shown to go on from the {since.size} of the earlier head"
        raise NotAProofError(1, f"{message}{missing}")
    return signed


def _last_note(lines: Sequence[str]) -> int:
    """Where the last checkpoint begins: its text stands between the last empty line but one and the last one."""
    empty = [place for place, line in enumerate(lines) if not line]
    return empty[-2] + 1 if len(empty) > 1 else 0


def _proof(lines: Sequence[str]) -> tuple[int, list[bytes]]:
    try:
        older = whole_number(lines[0].removeprefix(_OLD))
    except ValueError as error:
        raise NotAProofError(1, str(error)) from None
    hashes = []
    for number, line in enumerate(lines[1:], 2):
        try:
            hashes.append(decoded_hash(line))
        except ValueError as error:
            raise NotAProofError(number, str(error)) from None
    return older, hashes
