"""Comparison of names and identities of people, without case, accents, order of words and blanks.

Files spell one name in several ways: ``Carlsen, Magnus``, ``MAGNUS CARLSEN``, ``Carlsen M.``. This module decides
which names may be spellings of the same name; other modules decide whether they are the same person. No I/O.

The journal holds the names of acting people in clear. This module also checks their form, and which of them may be
one person's.

One rule for every source spells identities and names their registers, so that no person becomes two: the text before
the colon names the register. The case of letters does not count in names and in user names of servers. Every other
identity may be any code, and each spelling of it is another player.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Sequence
from functools import cached_property
from itertools import combinations

import attrs

from ledger.runtime.visible import is_hidden, visible

# Letters that have no decomposition into a letter and an accent.
PLAIN_LETTERS = {"ø": "o", "đ": "d", "ð": "d", "ł": "l", "ħ": "h", "ı": "i", "þ": "th", "æ": "ae", "œ": "oe"}
_WITHOUT_ACCENTS = str.maketrans(PLAIN_LETTERS)
_WITHIN_A_WORD = str.maketrans("", "", "'`´ʼ’‘")  # O'Kelly is Okelly
_WORD = re.compile(r"[^\W_]+")
_MATCHING = 2  # parts of two names that agree, at least, where one is abbreviated
_LEFT_OUT = 4  # initials of which each choice may be left out

IndexEntry = tuple[str, str]  # a word of a name, and the first letters of all its words, sorted


@attrs.frozen(slots=False)
class FoldedName:
    """The words of a name without case and accents, to compare names by.

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
        """The forms that are equal for names that differ only in case, accents, order of words, or blanks."""
        words = self.words
        if not words:
            return set()
        # Without a comma the first word may be the surname: put last, it is where other sources write it.
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
    def index_entries(self) -> set[IndexEntry]:
        """The entries of this name in an index of names: each word, with the first letters of all words."""
        return self._places(())

    @property
    def searched_entries(self) -> set[IndexEntry]:
        """The index entries of the names that this one may be, whichever of its initials they leave out.

        If ``may_be_same_name`` is true of two names, one has an index entry that the other searches; of more than four
        initials only all are left out or none.
        """
        letters = self.initials
        sizes = range(len(letters) + 1) if len(letters) <= _LEFT_OUT else (0, len(letters))
        return {place for size in sizes for left_out in combinations(letters, size) for place in self._places(left_out)}

    def _places(self, left_out: Sequence[str]) -> set[IndexEntry]:
        letters = [word[0] for word in self.words]
        for letter in left_out:
            letters.remove(letter)
        return {(word, "".join(sorted(letters))) for word in self.whole_words} if len(letters) >= _MATCHING else set()


def folded(name: str) -> FoldedName:
    """Return the words of a name without case and accents; hyphens and points divide words, apostrophes do not."""
    text = name.lower()
    if not text.isascii():
        text = unicodedata.normalize("NFKD", name).casefold().translate(_WITHOUT_ACCENTS)
        text = "".join(letter for letter in text if not unicodedata.combining(letter))
    before, _, after = text.translate(_WITHIN_A_WORD).partition(",")
    return FoldedName(tuple(_WORD.findall(before)), tuple(_WORD.findall(after)))


def may_be_same_name(name: FoldedName, other: FoldedName) -> bool:
    """Return whether two names are the same but for initials: each word is in the other, or its first letter is.

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
    """Remove the common members of two lists from both, and return them."""
    common = []
    # over a copy, because the list itself loses members
    for part in tuple(parts):
        if part in other_parts:
            other_parts.remove(part)
            parts.remove(part)
            common.append(part)
    return common


# Invisible characters (Default_Ignorable_Code_Point), and the blank of Braille. They are listed here because the tables
# of Unicode grow: the validity of an old decision must not depend on the Python that reads it.
_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
# A token or a piece of it: typed as a name it would be in the journal in clear for ever.
_TOKEN = re.compile(r"rlt_[A-Za-z0-9_-]{8,}")
# The same, and the word of a session at the desk, which represents a token while it lasts.
_SECRET = re.compile(r"(rl[ts])_[A-Za-z0-9_-]{8,}")


def same_person(name: str, other: str) -> bool:
    """Return whether two actors' names are of one person, as far as case, blanks and invisible characters go.

    Case and width of letters do not count, nor blanks, nor invisible characters: journals of earlier releases may
    hold such.
    """
    return _seen(name) == _seen(other)


# Letters of other alphabets that look like Latin ones, small and capital ones apart: the small ν is a v, the capital Ν
# an N. A choice from Unicode's list of confusables (UTS 39), which grows; what follows from a decision asks none of it.
_SMALL = (
    "аa вb гr еe іi јj кk мm нh оo пn рp сc ѕs тt уy хx ьb һh ԁd ԛq ԝw үy ӏl αa βb γy εe ηn ιi κk νv οo ρp τt "
    "υu χx ωw ϲc ϳj հh ոn օo սu ցg ɑa ɡg ɩi 1l |l 0o"
)
_CAPITAL = (
    "АA ВB ЕE ІI ЈJ КK МM НH ОO РP СC ЅS ТT УY ХX ЬB ԌG ԚQ ԜW ҮY ӀI ΑA ΒB ΕE ΖZ ΗH ΙI ΚK ΜM ΝN ΟO ΡP ΤT ΥY ΧX ϹC "
    "ՍU ՕO ՏS ԼL 1I |I 0O"
)
_SMALL_LATIN, _CAPITAL_LATIN = (
    str.maketrans({pair[0]: pair[1] for pair in pairs.split()}) for pairs in (_SMALL, _CAPITAL)
)


def look_alike(name: str, other: str) -> bool:
    """Return whether people may mistake one actor's name for another.

    Besides what ``same_person`` leaves out, accents and signs do not count, nor the alphabet of like letters.
    """
    return any(_drawn(name, fold) == _drawn(other, fold) for fold in (_as_small, _as_capital))


def _drawn(name: str, fold: Callable[[str], str]) -> str:
    text = unicodedata.normalize("NFKD", _UNSEEN.sub("", unicodedata.normalize("NFKC", name)))
    text = fold("".join(letter for letter in text if not unicodedata.combining(letter))).casefold()
    # of the letters that are one stroke, and of those that run together
    text = text.translate(_WITHOUT_ACCENTS).replace("i", "l").replace("rn", "m").replace("vv", "w")
    # a name of signs alone is compared as it is
    return "".join(filter(str.isalnum, text)) or _seen(name)


def _as_small(text: str) -> str:
    return text.casefold().translate(_SMALL_LATIN)


def _as_capital(text: str) -> str:
    return text.upper().translate(_CAPITAL_LATIN)


def _seen(name: str) -> str:
    # Folding the case may bring forth what is not in this form, so that the text is put into it a second time.
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    return "".join(_UNSEEN.sub("", text).split())


def actor_faults(name: str) -> list[str]:
    """Return the faults of an actor's name besides not being plain text: invisible characters and tokens."""
    if name.isascii() and "rlt_" not in name:  # nearly all are
        return []
    if _TOKEN.search(name):
        return [
            "a token is no name: it would stand in clear for ever; give it by RATING_LEDGER_TOKEN or --token-file, and "
            "have one revoked that stood on a command line @ $.actor"
        ]
    unseen = [letter for letter in name if is_hidden(letter) or _UNSEEN.match(letter)]
    if unseen:
        codes = ", ".join(dict.fromkeys(f"U+{ord(letter):04X}" for letter in unseen))
        return [f"the name '{visible(name)}' holds what nobody sees ({codes}): type it anew without that @ $.actor"]
    return []


def redact_tokens(text: str) -> str:
    """Return a text in which every access token and session word, or a piece of one, is left out."""
    return _SECRET.sub(r"\1_...", text)


_QUOTED = re.compile(r"""'[^']*'|"[^"]*\"""")


def redact_names(text: str, names: Collection[str]) -> str:
    """Return a text in which every quoted name that may be one of *names* is left out."""
    return _QUOTED.sub(lambda quoted: "'...'" if matches_a_name(quoted[0][1:-1], names) else quoted[0], text)


def matches_a_name(called: str, names: Collection[str]) -> bool:
    """Return whether a word is one of some names, regardless of case, accents, blanks and the order of its words."""
    keys = folded(called).keys
    return any(called == name or look_alike(called, name) or keys & folded(name).keys for name in names)


WITHOUT_CASE = frozenset({"chesscom", "fics", "lichess", "name"})
FIDE = "fide"


def spelt(identity: str) -> str:
    """Return the recorded spelling of an identity: names in NFC and case folded, FIDE numbers without zeros."""
    plain = identity.isascii() and identity.islower() and identity[-1] != " "
    # nearly all are
    if plain and "  " not in identity and ": " not in identity and not identity.startswith("fide:0"):
        return identity
    # casefold and not lower: STRASSE and Straße are one name, as are the two small sigmas of Greek
    namespace, colon, own = identity.partition(":")
    # as reports of tournaments write it into their columns, with zeros before it
    if namespace.lower() == FIDE and own.strip(" 0").isdecimal() and own.isascii():
        return f"{FIDE}:{own.strip().lstrip('0')}"
    if namespace.lower() not in WITHOUT_CASE or not colon:
        return identity
    return f"{namespace.lower()}:{fold_case(own)}"


def fold_case(name: str) -> str:
    """Return a name as identities have it: Unicode NFC, single blanks, case folded."""
    # Once more: of 24 letters, such as ΐ, folding the case gives what is composed again.
    return unicodedata.normalize("NFC", " ".join(unicodedata.normalize("NFC", name).split()).casefold())


def register_of(identity: str) -> str:
    """Return the register or server of an identity, the part before its colon; empty for a bare name."""
    namespace = identity.partition(":")[0]
    return "" if namespace == "name" else namespace


def are_different_people(identity: str, other: str) -> bool:
    """Return whether two identities are of two people, because one register or server gave both.

    Two spellings of one, under which an earlier release registered two players, are no two.
    """
    register = register_of(identity)
    return bool(register) and register == register_of(other) and spelt(identity) != spelt(other)


def number_fault(identity: str) -> str | None:
    """Return the fault of an identity of digits alone, which would be taken for a player's number; else None."""
    if not identity.isdecimal():
        return None
    return f"may not be digits alone, for players have numbers here, got {identity!r}; write 'id:{identity}'"
