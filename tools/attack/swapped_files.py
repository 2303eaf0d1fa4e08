"""Files of another ledger of the same shape, put in the place of ours."""

from __future__ import annotations

from collections.abc import Iterator

from .copies import restored, sets_of
from .histories import History
from .verdicts import Attack


def foreign(history: History, other: History) -> Iterator[Attack]:
    """Every set of parts of another ledger, as it was at the same point or at another one."""
    for roles in sets_of(history.last.db):
        for own_point in history.points:
            for other_point in other.points:
                what = f"{' and '.join(roles)} of another ledger at '{other_point.name}' in '{own_point.name}'"
                kind = " ".join(roles)
                yield Attack(what, own_point, restored(other_point.db, roles), reads_may_err=False, kind=kind)
                yield Attack(
                    f"{what}, both torn",
                    own_point,
                    restored(other_point.torn, roles),
                    torn=True,
                    reads_may_err=False,
                    kind=f"{kind} torn",
                )
