"""Names of people as they are compared: without case, accents, the order of surname and forename, blanks.

A name stands in each file otherwise: ``Carlsen, Magnus``, ``MAGNUS CARLSEN``, ``Carlsen M.``. What is told here is
which names may be spellings of the same name; whether they are the same person is for others to judge. No I/O.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cached_property
from itertools import combinations

import attrs

# Letters that have no decomposition into a letter and an accent.
_WITHOUT_ACCENTS = str.maketrans(
    {"ø": "o", "đ": "d", "ð": "d", "ł": "l", "ħ": "h", "ı": "i", "þ": "th", "æ": "ae", "œ": "oe"}
)
_WITHIN_A_WORD = str.maketrans("", "", "'`´ʼ’‘")  # O'Kelly is Okelly
_WORD = re.compile(r"[^\W_]+")
_MATCHING = 2  # parts of two names that agree, at least, where one is abbreviated
_LEFT_OUT = 4  # initials of which each choice may be left out

Place = tuple[str, str]  # a word of a name, and the first letters of all its words, sorted


@attrs.frozen(slots=False)
class FoldedName:
    """A name without case and accents, in words.

    Attributes:
        before: the words before the first comma, of which a name in order has the surname; all where there is none.
        after: those behind it.
    """

    before: tuple[str, ...]
    after: tuple[str, ...]

    @property
    def words(self) -> tuple[str, ...]:
        """All words, as they were written."""
        return self.before + self.after

    @property
    def keys(self) -> set[str]:
        """What names have in common that differ in case, accents, order of their words, or blanks alone."""
        words = self.words
        if not words:
            return set()
        surname_behind = self.after + self.before if self.after else words[1:] + words[:1]
        return {" ".join(sorted(words)), "".join(words), "".join(surname_behind)}

    @cached_property
    def initials(self) -> tuple[str, ...]:
        """The words of one letter; in a script without capitals that is a whole name, and no initial."""
        return tuple(word for word in self.words if len(word) == 1 and word.islower())

    @cached_property
    def whole_words(self) -> tuple[str, ...]:
        """The words that are no initials."""
        return tuple(word for word in self.words if word not in self.initials)

    @property
    def places(self) -> set[Place]:
        """Where this name is found by those that it may be: each word, with the first letters of all words."""
        return self._places(())

    @property
    def searched(self) -> set[Place]:
        """Where the names are that this one may be, whichever of its initials they leave out.

        Of two names of which ``may_be`` is true, the places of one are among those that the other searches; of more
        than four initials only all are left out or none.
        """
        letters = self.initials
        sizes = range(len(letters) + 1) if len(letters) <= _LEFT_OUT else (0, len(letters))
        return {place for size in sizes for left_out in combinations(letters, size) for place in self._places(left_out)}

    def _places(self, left_out: Sequence[str]) -> set[Place]:
        letters = [word[0] for word in self.words]
        for letter in left_out:
            letters.remove(letter)
        return {(word, "".join(sorted(letters))) for word in self.whole_words} if len(letters) >= _MATCHING else set()


def folded(name: str) -> FoldedName:
    """A name in words without case and accents; hyphens and points divide words, apostrophes do not."""
    text = name.lower()
    if not text.isascii():
        text = unicodedata.normalize("NFKD", name).casefold().translate(_WITHOUT_ACCENTS)
        text = "".join(letter for letter in text if not unicodedata.combining(letter))
    before, _, after = text.translate(_WITHIN_A_WORD).partition(",")
    return FoldedName(tuple(_WORD.findall(before)), tuple(_WORD.findall(after)))


def may_be(name: FoldedName, other: FoldedName) -> bool:
    """True where two names are the same but for initials: each word is in the other, or its first letter is.

    An initial may be left out on one side: ``Robert J. Fischer`` may be ``Robert Fischer`` and ``Fischer, R.``, but
    ``Fischer, R. J.`` is not ``Fischer, R. K.``. They agree in a whole word and in another word or initial at least.
    """
    if not (name.initials or other.initials):
        return len(name.words) >= _MATCHING and sorted(name.words) == sorted(other.words)
    left, other_left = list(name.initials), list(other.initials)
    words, other_words = list(name.whole_words), list(other.whole_words)
    common = _take(words, other_words)
    short = [word[0] for word in words]
    other_short = [word[0] for word in other_words]
    agreeing = len(common) + len(words) + len(other_words)
    if not common or len(_take(short, other_left)) < len(words) or len(_take(other_short, left)) < len(other_words):
        return False
    agreeing += len(_take(left, other_left))
    return agreeing >= _MATCHING and not (left and other_left)


def _take(parts: list[str], other_parts: list[str]) -> list[str]:
    """What two lists have in common, which is taken out of both."""
    common = []
    for part in tuple(parts):
        if part in other_parts:
            other_parts.remove(part)
            parts.remove(part)
            common.append(part)
    return common


def same_person(name: str, other: str) -> bool:
    """Whether two names of people who act may be of one person: case and width of letters do not count."""
    return _cased(name) == _cased(other)


def _cased(name: str) -> str:
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
