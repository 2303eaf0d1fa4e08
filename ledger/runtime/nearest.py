"""Proposals for an unknown name: the one place where names are compared by likeness."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from ledger.errors import UnknownNameError
from ledger.runtime.lazy import difflib

T = TypeVar("T")

_LIKE_ENOUGH = 0.7  # of difflib's measure from 0 to 1; a letter wrong in five has 0.8
_MOST = 3  # suggestions


def similar_names(word: str, names: Iterable[str]) -> list[str]:
    """Return up to three of the *names* that are most like *word*, the nearest first; case does not count."""
    by_folded: dict[str, list[str]] = {}
    for name in names:
        by_folded.setdefault(name.casefold(), []).append(name)
    begin = word.casefold()
    like = difflib.get_close_matches(begin, by_folded, n=_MOST, cutoff=_LIKE_ENOUGH)
    # With one letter alone too many names begin.
    begun = [name for name in by_folded if len(begin) > 1 and name.startswith(begin) and name not in like]
    return [name for folded in [*like, *begun] for name in by_folded[folded]][:_MOST]


def did_you_mean(word: str, names: Iterable[str]) -> str:
    """Return a question such as ``did you mean 'rapid'?``, or nothing if no known name is like *word*."""
    return did_you_mean_one_of(similar_names(word, names))


def did_you_mean_one_of(likely: Sequence[str]) -> str:
    """Return the question whether one of the *likely* names is meant; nothing if there are none."""
    if not likely:
        return ""
    names = [repr(name) for name in likely]
    choice = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
    return f"did you mean {choice}? "


def expected_names(word: str, words: Iterable[str]) -> str:
    """Return words about *word*, which is none of the *words*: those that it is like, and then all of them."""
    names = sorted(words)
    return f"{did_you_mean(word, names)}expected one of {names}"


def find_by_name(kind: str, name: str, by_name: Mapping[str, T]) -> T:
    """Return the thing that has a name.

    Args:
        kind: what is called so: ``tie-break``.
        name: the name.
        by_name: everything of that kind, by name.

    Raises:
        UnknownNameError: there is none; those that there are are listed.
    """
    if name not in by_name:
        raise UnknownNameError(kind, name, expected_names(name, by_name), where="here")
    return by_name[name]
