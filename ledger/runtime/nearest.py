"""Suggestions for an unknown name: the names that are spelt most like it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from ledger.errors import UnknownNameError
from ledger.runtime.lazy import difflib

T = TypeVar("T")

_LIKE_ENOUGH = 0.7  # of difflib's measure from 0 to 1; a letter wrong in five has 0.8
_MOST = 3  # suggestions


def similar_names(word: str, names: Iterable[str]) -> list[str]:
    """Return up to three *names* that are spelt most like *word*, the most similar first, ignoring case."""
    by_folded: dict[str, list[str]] = {}
    for name in names:
        by_folded.setdefault(name.casefold(), []).append(name)
    begin = word.casefold()
    like = difflib.get_close_matches(begin, by_folded, n=_MOST, cutoff=_LIKE_ENOUGH)
    # With one letter alone too many names begin.
    begun = [name for name in by_folded if len(begin) > 1 and name.startswith(begin) and name not in like]
    return [name for folded in [*like, *begun] for name in by_folded[folded]][:_MOST]


def did_you_mean(word: str, names: Iterable[str]) -> str:
    """Return a question such as ``did you mean 'rapid'?``; an empty text if no name is like *word*."""
    return did_you_mean_one_of(similar_names(word, names))


def did_you_mean_one_of(likely: Sequence[str]) -> str:
    """Return a question such as ``did you mean 'rapid' or 'blitz'?`` about likely names; an empty text without any."""
    if not likely:
        return ""
    names = [repr(name) for name in likely]
    choice = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
    return f"did you mean {choice}? "


def expected_names(word: str, words: Iterable[str]) -> str:
    """Return the end of an error message about an unknown *word*: the names most like it, then all valid *words*."""
    names = sorted(words)
    return f"{did_you_mean(word, names)}expected one of {names}"


def find_by_name(kind: str, name: str, by_name: Mapping[str, T]) -> T:
    """Return ``by_name[name]``.

    Raises:
        UnknownNameError: there is no *kind* (such as ``tie-break``) of that name; the valid names are listed.
    """
    if name not in by_name:
        raise UnknownNameError(kind, name, expected_names(name, by_name), where="here")
    return by_name[name]
