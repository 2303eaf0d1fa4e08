"""Words for "no opponent", which programs and arbiters write where the name of a player would stand.

A player of such a name who has an identity of another kind than the name (a FIDE number, a number of a site) is a
person. No format is read here.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from ledger.facts.person_names import PLAIN_LETTERS
from ledger.facts.source_games import shown
from ledger.facts.words import Brings

# Words for "no opponent", without case, accents, digits and marks. Programs and arbiters write them as a player's name.
_NO_OPPONENT = frozenset(
    {
        # English
        "bye", "exempt", "not paired", "unpaired", "no pairing", "no pair", "no opponent", "without opponent",
        "nobody", "no one", "no player", "sits out", "sitting out", "sit out", "rest day", "walkover", "did not play",
        "not playing", "absent", "absence", "withdrawn", "forfeit", "forfait", "odd one out", "pab",
        # German
        "spielfrei", "spiel frei", "freilos", "nicht ausgelost", "nicht gelost", "nicht gepaart", "ungepaart",
        "ohne gegner", "kein gegner", "kampflos", "abwesend", "aussetzen", "setzt aus", "pausiert", "freirunde",
        # French, Italian, Spanish, Portuguese, Catalan
        "non apparie", "non appariee", "pas apparie", "sans adversaire", "exempte", "ne joue pas", "non abbinato",
        "non abbinata", "senza avversario", "riposa", "descansa", "descanso", "sin emparejar", "no emparejado",
        "no emparejada", "sin rival", "sin oponente", "folga", "nao emparceirado", "nao emparceirada",
        "sem adversario", "sem oponente", "isento", "absente", "assente", "ausente", "no aparellat",
        "descans", "no juega", "non joue",
        # Dutch, Danish, Norwegian, Swedish, Finnish
        "vrije ronde", "vrijgeloot", "niet ingedeeld", "niet geloot", "geen tegenstander", "speelvrij", "afwezig",
        "oversidder",
        "frirunde", "ikke parret", "frirond", "ej lottad", "inte lottad", "walk over", "vapaavuoro", "huilaaja",
        # Polish, Czech, Slovak, Hungarian, Croatian, Slovene, Romanian, Turkish, Icelandic, Estonian
        "wolny los", "pauzuje", "nie skojarzony", "nieskojarzony", "bez pary", "volny los", "bez soupere",
        "nenalosovan", "nenalosovany", "volno", "erokiado", "eronyero", "szabadnapos", "nije parovan",
        "fara adversar", "eslesmedi", "eslestirilmedi", "yfirseta", "situr hja", "vaba voor",
        # Russian, Ukrainian, Bulgarian, Greek
        "свободен", "свободна", "выходнои", "отдыхает", "без пары", "без соперника", "нет пары", "пропуск", "баи",
        "вільнии", "без пари", "вихіднии", "почива", "почивка", "ρεπο", "ελευθερος",
    }
)  # fmt: skip
# Words that may also be a name or a pseudonym. They mean nobody unless something speaks of a person who played.
_MAYBE_NO_OPPONENT = frozenset(
    {
        "free", "none", "null", "nil", "empty", "vacant", "rest", "resting", "pause", "break",
        "nn", "n n", "x", "xx", "xxx", "n a", "tbd", "tba", "unknown", "wo", "w o",
        "frei", "leer", "niemand", "unbekannt", "libre", "repos", "vide", "libero", "libera",
        "riposo", "vuoto", "pausa", "nadie", "vacante", "livre", "vago", "ninguem", "vrij",
        "slobodan", "pauze", "fri", "ledig", "vapaa", "pauza", "wolny", "wolne", "volny", "pauzira",
        "pauz", "prosto", "szabad", "pihen", "pauzeaza", "liber", "prost", "nikdo", "nikt", "brak", "неизвестен",
        "нет", "пауза", "нема",
    }
)  # fmt: skip
_BESIDE_BYE = frozenset(
    {
        "half", "full", "zero", "point", "points", "pt", "pts", "requested", "pairing", "allocated", "allotted",
        "round", "player", "the", "a", "f", "h", "hp", "fp", "zp", "u", "z",
        "halber", "halbes", "punkt", "punkte", "demi", "medio", "mezzo", "meio",
    }
)  # fmt: skip
_LETTERS = re.compile(r"[^\W\d_]+")
_DIGIT_WITHIN = re.compile(r"[^\W\d_]\d|\d[^\W\d_]")
_PLAIN = str.maketrans(PLAIN_LETTERS)
LETTERS_OF_BYES = {"h": Brings.HALF, "f": Brings.FULL, "u": Brings.ALLOTTED, "z": Brings.ZERO}  # as in TRF
_SAID_TO_BRING = {
    Brings.HALF: re.compile(r"half|halb|demi|medio|mezzo|½|1/2|[0o][.,]5"),
    Brings.ZERO: re.compile(r"zero|\b0\b"),
    Brings.FULL: re.compile(r"full|\b1\b"),
}
_LONGEST_WORD = 40  # characters of a word for no opponent


@lru_cache(maxsize=2**16)  # a collection of a million games has some 100,000 names
def _no_opponent(name: str) -> tuple[bool, bool]:
    """Return whether a name means that there is no opponent, surely and perhaps."""
    if len(name) > _LONGEST_WORD or not name.strip():
        return False, False
    plain = unicodedata.normalize("NFKD", name.casefold().translate(_PLAIN))
    words = _LETTERS.findall("".join(char for char in plain if not unicodedata.combining(char)))
    text = " ".join(words)
    if _DIGIT_WITHIN.search(name) and text != "bye":
        return False, False  # "nobody321" is a user
    if not words:  # marks and zeros; another number may be a player's
        is_sure = not any(char in "123456789?" for char in name)
        return is_sure, is_sure
    if text in _NO_OPPONENT or text in _MAYBE_NO_OPPONENT:
        is_sure = text in _NO_OPPONENT
        return is_sure, is_sure or not any(map(str.isdigit, name))
    core = " ".join(word for word in words if word not in _BESIDE_BYE)
    return (core == "bye", core == "bye") if len(core) < len(text) else (False, False)


def is_nobody(name: str | None, *, perhaps: bool = False) -> bool:
    """Return whether a name says that there is no opponent.

    Args:
        name: as the source tells it.
        perhaps: words that may be somebody's name count, too.
    """
    return name is not None and _no_opponent(name)[perhaps]


def is_bye(name: str | None, *, has_played: bool, has_won: bool) -> bool:
    """Return whether a side of a game is nobody, by its name and by what the game says of it.

    Args:
        name: of the side, of whom no identity but the name is known.
        has_played: the game has moves, or the side has a rating: somebody sat there.
        has_won: the side won.
    """
    return is_nobody(name, perhaps=not (has_played or has_won))


def taken_as_bye(word: str, player: str | None, number: str | None) -> str:
    """Return the words of a note on a row whose *word* was taken for no opponent."""
    advice = "if it is a person, give an identity or a full name"
    place = "" if number is None else f" in round {shown(number)}"
    return f"{shown(word)} is taken for no opponent, so {shown(player)} has a bye{place}: {advice}"


def said_to_bring(*words: str | None) -> Brings | None:
    """Return what words such as ``Half bye`` say that a bye brings; None if they do not say it."""
    text = " ".join(filter(None, words)).casefold()
    if text.strip() in LETTERS_OF_BYES:
        return LETTERS_OF_BYES[text.strip()]
    for brings_word, pattern in _SAID_TO_BRING.items():
        if pattern.search(text):
            return brings_word
    return None
