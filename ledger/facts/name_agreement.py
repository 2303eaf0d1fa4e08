"""Agreement of two names that one register number carries: the same person, perhaps, or certainly another one.

Lists, reports and databases spell one person's name in several ways: initials, second given names, other
transliterations, names that are cut to a width, names before a marriage. Measured with 33,000 pairs of spellings of one
FIDE number in games of several sources: 98 % agree, 1 % agree in part, 1 % disagree, nearly all of these by marriage.
Of names of different people 99 % disagree. No I/O.
"""

from __future__ import annotations

import re
from enum import IntEnum

from ledger.facts.person_names import folded

_LEAST = 3  # letters of a word that says more than an initial does
_LONG = 7  # letters from which on a word may differ in two of them
# Spellings of one sound in the transliterations of Slavic, Arabic, Greek and German names, the longest first.
_SOUNDS = (
    ("tsch", "c"), ("tch", "c"), ("sch", "s"), ("sh", "s"), ("ch", "c"), ("cz", "c"), ("sz", "s"), ("zh", "z"),
    ("kh", "h"), ("ph", "f"), ("th", "t"), ("ck", "k"), ("ks", "x"), ("dj", "j"), ("dz", "z"), ("ts", "c"),
    ("tz", "c"), ("ae", "a"), ("oe", "o"), ("ue", "u"), ("ei", "e"), ("ie", "i"), ("y", "i"), ("j", "i"), ("w", "v"),
    ("q", "k"), ("c", "k"), ("z", "s"), ("h", ""),
)  # fmt: skip
_DOUBLE = re.compile(r"(.)\1+")
_NUMBER = re.compile(r"\d+")
_LONG_NUMBER = re.compile(r"\d{3,}")  # of a name that stands for a secret one; shorter ones part namesakes in databases


class NameAgreement(IntEnum):
    """The degree to which two names may be one person's."""

    OTHER = 0  # no word of one is in the other
    PARTLY = 1  # a surname or a given name alone
    SAME = 2


def name_agreement(name: str, other: str) -> NameAgreement:
    """Return whether two names may be spellings of one person's name."""
    numbers, other_numbers = set(_LONG_NUMBER.findall(name)), set(_LONG_NUMBER.findall(other))
    if numbers and other_numbers and not numbers & other_numbers:
        return NameAgreement.OTHER
    left, right = folded(_NUMBER.sub("", name)), folded(_NUMBER.sub("", other))
    if left.keys & right.keys:
        return NameAgreement.SAME
    words, others = list(left.words), list(right.words)
    surnames = set(left.before) & set(right.before)
    common = _take_whole_words(words, others)
    if common > max(1, len(surnames)):  # a given name, too
        return NameAgreement.SAME
    if not common:
        is_near = are_near("".join(left.words), "".join(right.words), 1)
        return NameAgreement.PARTLY if is_near else NameAgreement.OTHER
    for word in tuple(words):
        abbreviated = next((each for each in others if each.startswith(word) or word.startswith(each)), None)
        if abbreviated is not None:
            words.remove(word)
            others.remove(abbreviated)
    # Jordi is Jorge, and Ronny Ronald: with a surname that agrees the initial is enough.
    # an initial that the other name leaves out says nothing
    open_words = [[word for word in rest if len(word) > 1] for rest in (words, others)]
    is_open = all(open_words) and not (surnames and _share_initial(words, others))
    return NameAgreement.PARTLY if is_open else NameAgreement.SAME


def _take_whole_words(words: list[str], others: list[str]) -> int:
    """Remove the words that two names have in common from both, initials apart; return their number."""
    count = 0
    for word in sorted(words, key=len, reverse=True):
        # a surname of two letters, such as Li, is whole, too
        common = word if word in others else next((each for each in others if _is_spelling(word, each)), None)
        if len(word) > 1 and common is not None:
            words.remove(word)
            others.remove(common)
            count += 1
    return count


def _share_initial(words: list[str], others: list[str]) -> bool:
    return bool({word[0] for word in words} & {word[0] for word in others})


def _is_spelling(word: str, other: str) -> bool:
    """Return whether two words may be one: cut off, misspelt by a letter or two, or transliterated otherwise."""
    short, long = sorted((word, other), key=len)
    if len(short) < _LEAST:
        return False
    sound = _sound(short)
    if long.startswith(short) or (len(sound) >= _LEAST and sound == _sound(long)):
        return True
    if len(short) == _LEAST:
        return False
    return are_near(short, long, 1 if len(short) < _LONG else 2) or (
        len(sound) > _LEAST and are_near(sound, _sound(long), 1)
    )


def _sound(word: str) -> str:
    for letters, sound in _SOUNDS:
        word = word.replace(letters, sound)
    return _DOUBLE.sub(r"\1", word)


def are_near(word: str, other: str, most: int) -> bool:
    """Return whether two texts differ in so many letters at most: missing, added, wrong, or two exchanged."""
    if abs(len(word) - len(other)) > most:
        return False
    before: list[int] = []
    row = list(range(len(other) + 1))
    for at, letter in enumerate(word, 1):
        now = [at]
        for place, same in enumerate(other, 1):
            distance = min(row[place] + 1, now[-1] + 1, row[place - 1] + (letter != same))
            if at > 1 and place > 1 and letter == other[place - 2] and word[at - 2] == same:
                distance = min(distance, before[place - 2] + 1)
            now.append(distance)
        before, row = row, now
    return row[-1] <= most
