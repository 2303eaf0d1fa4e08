"""The option --verify and its messages; only commands that use it load the audit."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ledger.audit.audit import audit
from ledger.audit.reader import FIRST_FALSEHOODS, Falsehood
from ledger.audit.recomputed_ledger import recompute_ledger
from ledger.backups import ledger_as_files
from ledger.ledger import Ledger

from .. import output
from ..progress import Bars
from ..wording import entries
from . import FALSE


@contextmanager
def recomputed(path: str) -> Iterator[Ledger]:
    """Open the ledger with temporary views of a journal and names that are proven first; end the program otherwise."""
    with ledger_as_files(path, with_views=False) as files:
        begun = time.perf_counter()
        with Bars() as bars:
            made = recompute_ledger(files, bars, kind=Ledger)
        if made.ledger is None:
            tell_falsehoods(files.name, made.falsehoods)
            sys.exit(FALSE)
        output.remark(f"verified: recomputed from {entries(made.entries)} in {time.perf_counter() - begun:.1f} s")
        with made.ledger as ledger:
            assert isinstance(ledger, Ledger)
            yield ledger


def falsehoods(path: str) -> Sequence[Falsehood]:
    """Return what the audit finds false in a ledger."""
    with ledger_as_files(path) as whole:
        return audit(whole).falsehoods


def tell_falsehoods(path: str, named: Sequence[Falsehood], *, as_answer: bool = False) -> None:
    """Name what is false, each on a line: in the answer if that is a verdict, otherwise on standard error."""
    for falsehood in named:
        if as_answer:
            output.verdict("FALSE", f"{path} {falsehood}", alarm=True)
        else:
            output.error(f"{path} {falsehood}", word="FALSE")
    if len(named) >= FIRST_FALSEHOODS:
        output.remark("there may be more: each check names its first 20")
