"""Every answer is of one moment: the one door through which a question goes to a ledger.

An answer puts many statements to the views, and others record games and approve corrections between any two of them.
Whatever asks the views on behalf of a caller is therefore marked as ``of_one_moment``, the helpers of answers too: one
within another costs next to nothing. A test holds that no function of this room is forgotten.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from ledger.ledger import Ledger

P = ParamSpec("P")
T = TypeVar("T")


def of_one_moment(answer: Callable[Concatenate[Ledger, P], T]) -> Callable[Concatenate[Ledger, P], T]:
    """A question whose answer is of level views and of one position of the journal, as ``Ledger.moment`` says.

    What it gives is read by then: it is no iterator over rows that are still to come.
    """

    @wraps(answer)
    def asked(ledger: Ledger, /, *arguments: P.args, **named: P.kwargs) -> T:
        with ledger.moment():
            return answer(ledger, *arguments, **named)

    return asked
