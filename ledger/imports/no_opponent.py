"""Words such as "bye" or "spielfrei", which files have in place of an opponent's name.

A player of such a name who has an identity of another kind than the name (a FIDE number, a number of a site) is a
person. No format is read here.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from ledger.facts.person_names import PLAIN_LETTERS
from ledger.facts.source_games import excerpt
from ledger.facts.words import Brings

# All words below are without case, accents, digits and marks.
# Words of which one is enough, if others say no more than what the bye brings.
_NO_OPPONENT = frozenset(
    {
        # English
        "bye", "exempt", "unpaired", "notpaired", "unplayed", "unopposed", "nobody", "walkover", "absent", "absence",
        "withdrawn", "withdrew", "forfeit", "vacancy", "pab", "hpb", "fpb", "zpb",
        # German
        "spielfrei", "freilos", "freirunde", "freiplatz", "paarungsfrei", "ungepaart", "ungelost", "kampflos",
        "abwesend", "aussetzen", "aussetzend", "aussetzer", "pausiert", "unbesetzt", "unentschuldigt", "entschuldigt",
        "rastet", "ruhetag",
        # French, Italian, Spanish, Portuguese, Catalan
        "forfait", "exempte", "esente", "riposa", "exento", "exenta", "desemparejado", "desemparejada", "descansa",
        "descanso", "folga", "isento", "isenta", "absente", "assente", "ausente", "descans",
        # Dutch, Danish, Norwegian, Swedish, Finnish
        "vrijgeloot", "vrijloting", "vrijgesteld", "speelvrij", "spelvrij", "afwezig", "oversidder", "frirunde",
        "frirond", "fripartia", "vapaavuoro", "huilaaja",
        # Polish, Czech, Slovak, Hungarian, Croatian, Slovene, Romanian, Turkish, Icelandic
        "pauzuje", "nieskojarzony", "nieskojarzona", "zwolniony", "zwolniona", "nieobecny", "nieobecna", "nehraje",
        "nenasazen", "nelosovany", "nenalosovan", "nenalosovany", "volno", "odpociva", "pauziruje", "eronyero",
        "erokiado", "szabadnap", "szabadnapos", "mirovanje", "neparechiat", "eslesmedi", "eslestirilmedi", "yfirseta",
        # Russian, Ukrainian, Bulgarian, Greek
        "свободен", "свободна", "выходнои", "отдыхает", "отдых", "пропуск", "пропускает", "баи", "вільнии", "вихіднии",
        "почива", "почивка", "ρεπο", "ελευθερος",
    }
)  # fmt: skip
_PHRASES = frozenset(
    {
        "sits out", "sitting out", "sit out", "rest day", "odd one out", "walk over", "spiel frei", "setzt aus",
        "au repos", "fuori turno", "vrije ronde", "vrij geloot", "vrij van ronde", "star over", "wolny los",
        "volny los", "ma volno", "situr hja", "vaba voor", "bay gecti", "bye gecer", "пропуск тура",
    }
)  # fmt: skip
# A word of the first set and one of the second say that a player has no game, as "no opponent" and "nicht gelost".
_NOT = frozenset(
    {
        "no", "not", "non", "without", "did", "nicht", "kein", "keine", "keinen", "ohne", "sans", "pas", "ne", "n",
        "senza", "sin", "sem", "sense", "nao", "geen", "niet", "zonder", "ikke", "ingen", "uden", "uten", "ej", "inte",
        "utan", "ei", "ilman", "nie", "brak", "bez", "nincs", "nelkul", "ni", "nije", "nema", "fara", "nu", "yok",
        "не", "нет", "без", "немає", "нема", "няма", "χωρις",
    }
)  # fmt: skip
_MET = frozenset(
    {
        "paired", "pairing", "pair", "opponent", "partner", "player", "playing", "play", "game", "match", "assigned",
        "one", "present",
        "gelost", "ausgelost", "gepaart", "paarung", "gegner", "spielt", "gespielt", "spiel", "partie", "besetzt",
        "angetreten", "anwesend", "eingeteilt",
        "apparie", "appariee", "adversaire", "joue", "abbinato", "abbinata", "avversario", "avversaria",
        "gioca", "giocata", "giocato", "partita", "emparejado", "emparejada", "emparejar", "pareado", "pareada",
        "pareja", "rival", "oponente", "contrincante", "adversario", "adversaria", "juega", "jugo", "jugar", "asignado",
        "asignada", "presento", "presentado", "presentada", "partida", "emparceirado", "emparceirada", "joga", "jogou",
        "aparellat", "aparellada",
        "ingedeeld", "geloot", "gepaard", "tegenstander", "partij", "gespeeld", "speelt", "parret", "modstander",
        "motstander", "spiller", "motstandare", "lottad", "spelar", "parti", "vastustaja", "vastustajaa", "pelaa",
        "przeciwnika", "pary", "para", "skojarzony", "skojarzona", "gra", "soupere", "protivnika", "paru", "hraje",
        "parovan", "igra", "ellenfel", "jatek", "parositva", "adversar", "pereche", "rakip", "eslesme",
        "пары", "соперника", "противника", "распределен", "распределена", "играет", "пари", "суперника", "грає",
        "противник", "αντιπαλο",
    }
)  # fmt: skip
# A word of the first set and one of the second say perhaps that a round is free, as "turno di riposo" and "Frei Los".
_FREE = frozenset(
    {
        "free", "rest", "resting", "frei", "freie", "freies", "libre", "repos", "exempt", "libero", "libera", "riposo",
        "descansa", "descanso", "livre", "folga", "vrij", "vrije", "rust", "fri", "ledig", "vapaa", "wolny", "wolna",
        "wolne", "volny", "volna", "volne", "pauza", "odmor", "slobodan", "slobodna", "slobodno", "szabad", "liber",
        "prost", "свободен", "свободныи", "отдых", "пропуск", "odd",
    }
)  # fmt: skip
_ROUND = frozenset(
    {
        "round", "day", "place", "seat", "player", "runde", "los", "platz", "tour", "ronde", "turno", "giornata",
        "ronda", "jornada", "rodada", "runda", "rond", "kierros", "kolo", "fordulo", "nap", "tur", "тур", "тура",
        "день",
    }
)  # fmt: skip
_BETWEEN = frozenset({"d", "de", "di", "do", "van", "voor", "the", "a", "la", "le", "der", "die"})
# Words that may also be a name or a pseudonym. They mean no opponent unless there are signs of a person who played.
_MAYBE_NO_OPPONENT = frozenset(
    {
        "free", "none", "null", "nil", "nan", "empty", "vacant", "blank", "default", "rest", "resting", "pause",
        "break", "idle", "inactive", "retired", "excused", "dummy", "ghost", "phantom", "odd", "by", "bay", "bai",
        "bie", "nn", "n n", "np", "x", "xx", "xxx", "n a", "tbd", "tba", "unknown", "wo", "w o", "keiner",
        "frei", "leer", "niemand", "unbekannt", "fehlt", "libre", "repos", "vide", "libero", "libera", "rip",
        "riposo", "vuoto", "pausa", "nadie", "vacante", "livre", "vago", "ninguem", "vrij", "rust", "oneven",
        "slobodan", "slobodna", "pauze", "fri", "ledig", "vapaa", "vilo", "pauza", "wolny", "wolne", "wolna", "volny",
        "volna", "pauzira", "pauz", "prosto", "szabad", "pihen", "kiemelt", "pauzeaza", "liber", "prost", "sta",
        "vilar", "nikdo", "nikt", "brak", "неизвестен", "нет", "пауза", "нема",
    }
)  # fmt: skip
_AMOUNTS = frozenset({"half", "full", "zero", "halber", "halbes", "demi", "medio", "mezzo", "meio"})
_POINTS = frozenset({"point", "points", "pt", "pts", "punkt", "punkte", "punto", "ponto"})
_BESIDE = frozenset(
    {
        "requested", "pairing", "allocated", "allotted", "round", "player", "team", "the", "a", "f", "h", "hp", "fp",
        "zp", "u", "z", "no", "nr", "number", "tecnico", "solicitado", "adversaire", "ronde", "ronda", "van", "de",
        "di", "la", "le", *_AMOUNTS, *_POINTS,
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
    if _is_surely_no_opponent({*words}, text):
        return True, True
    may_be = text in _MAYBE_NO_OPPONENT or _has_both({*words}, _FREE, _ROUND)
    return False, may_be and not any(map(str.isdigit, name))


def _is_surely_no_opponent(words: set[str], text: str) -> bool:
    """Return whether the words of a name say surely that there is no opponent."""
    if text in _PHRASES or _has_both(words, _NOT, _MET):
        return True
    core = words - _BESIDE
    return core <= _NO_OPPONENT if core else bool(words & _AMOUNTS and words & _POINTS)


def _has_both(words: set[str], first: frozenset[str], second: frozenset[str]) -> bool:
    """Return whether all words are of two sets, and one at least of each."""
    return bool(words & first and words & second) and words - _BETWEEN <= first | second


def means_no_opponent(name: str | None, *, perhaps: bool = False) -> bool:
    """Return whether a name says that there is no opponent.

    *perhaps*: words that may be a person's name count, too.
    """
    return name is not None and _no_opponent(name)[perhaps]


def is_bye_side(name: str | None, *, has_played: bool, has_won: bool) -> bool:
    """Return whether one player of a game is a bye, by the name and by the facts of the game.

    Args:
        name: of the side, of whom no identity but the name is known.
        has_played: the game has moves, or the side has a rating: there was a player.
        has_won: the side won.
    """
    return means_no_opponent(name, perhaps=not (has_played or has_won))


def bye_note(word: str, player: str | None, number: str | None) -> str:
    """Return the text of a note on a row whose *word* was taken for no opponent."""
    advice = "if it is a person, give an identity or a full name"
    place = "" if number is None else f" in round {excerpt(number)}"
    return f"{excerpt(word)} is taken for no opponent, so {excerpt(player)} has a bye{place}: {advice}"


def stated_bye(*words: str | None) -> Brings | None:
    """Return the kind of bye that words such as ``Half bye`` state; None if they state none."""
    text = " ".join(filter(None, words)).casefold()
    if text.strip() in LETTERS_OF_BYES:
        return LETTERS_OF_BYES[text.strip()]
    for brings_word, pattern in _SAID_TO_BRING.items():
        if pattern.search(text):
            return brings_word
    return None
