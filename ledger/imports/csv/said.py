"""What somebody says of a table that it does not say itself: its headings, its results in words, its dates. No rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import attrs

from ledger.imports.csv import values


@attrs.frozen(kw_only=True)
class Table:
    """What somebody says of a CSV file.

    Attributes:
        headings: by our name of a column, its heading, as of ``header.headings_given``.
        results: by a word of the file, as of ``values.result_word``, what it means.
        dates: which number of ``04/05/2024`` comes first, one of ``days.ORDERS``.
    """

    headings: Mapping[str, str] = attrs.field(factory=dict)
    results: Mapping[str, str | None] = attrs.field(factory=dict)
    dates: str | None = None

    def result(self, text: str) -> str | None:
        """What a cell of the column of results means, as of ``values.result``."""
        word = values.result_word(text)
        try:
            return self.results[word] if word in self.results else values.result(text)
        except ValueError as error:
            raise ValueError(f"{error}, or a word that --result gives a meaning, such as --result Sieg=1-0") from None


NOTHING_SAID = Table()


def results_given(words: Iterable[str]) -> dict[str, str | None]:
    """What words of a file mean, from such as ``Sieg=1-0``.

    Raises:
        ValueError: a word of another form, or a result that is none, or a word that has a meaning already.
    """
    found: dict[str, str | None] = {}
    for given in words:
        said, divided, meaning = given.rpartition("=")
        word = values.result_word(said)
        if not (divided and word and meaning.strip()):
            raise ValueError(f"takes WORD=RESULT such as remis=1/2-1/2, got {given!r}")
        if word in found:
            raise ValueError(f"the word {said!r} is given two meanings")
        found[word] = values.result(meaning)
    return found
