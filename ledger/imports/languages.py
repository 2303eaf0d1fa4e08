"""The words of tables of games and players in other languages: headings, results, rounds, letters of colours.

What is read by them is noted with the file, so that a dry run shows it before it is recorded. Words are compared
without case; blanks and hyphens between their parts do not matter. A language counts as a whole: the headings of a
table are read in the one language that knows most of them, for "data" is a day in Italian and not in English.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from functools import cache

# By language: our name of a column -> its headings. "sort" is Danish for black, and no other language's.
_HEADINGS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "German": {
        "first": ("spieler heim", "heimspieler", "spieler 1"), "second": ("spieler gast", "gastspieler", "spieler 2"),
        "board": ("brett", "br"),
        "white": ("weiß", "weisse", "anziehender"), "black": ("schwarz", "schwarze", "nachziehender"),
        "result": ("ergebnis", "erg", "resultat"), "ended_at": ("datum", "gespielt am"),
        "tournament": ("turnier", "wettbewerb", "staffel", "liga"), "round": ("runde", "rd", "spieltag"),
        "name": ("spieler", "nachname vorname"), "rating": ("wertungszahl",),
        "birth_year": ("geburtsjahr", "geburtsdatum", "geburtstag", "jahrgang", "geb", "geburt"),
        "fide_id": ("fide nummer", "fideident"),
    },
    "French": {
        "first": ("joueur domicile", "joueur 1"), "second": ("joueur visiteur", "joueur extérieur", "joueur 2"),
        "board": ("échiquier", "éch"),
        "white": ("blanc", "blancs"), "black": ("noir", "noirs"), "result": ("résultat", "résultats", "rés"),
        "ended_at": ("date de la partie",), "tournament": ("tournoi", "compétition", "épreuve"),
        "round": ("ronde", "rde"), "name": ("nom", "joueur", "nom prénom"),
        "birth_year": ("année de naissance", "date de naissance", "naissance", "né en"),
        "fide_id": ("code fide", "numéro fide", "n° fide"),
    },
    "Spanish": {
        "first": ("jugador local", "jugador 1"), "second": ("jugador visitante", "jugador 2"),
        "board": ("tablero", "mesa"),
        "white": ("blanco", "blancas", "blanca"), "black": ("negro", "negras", "negra"), "result": ("resultado", "res"),
        "ended_at": ("fecha",), "tournament": ("torneo", "competición", "campeonato", "liga"),
        "round": ("ronda", "rda"),
        "name": ("nombre", "jugador", "apellidos y nombre"), "rating": ("puntuación elo",),
        "birth_year": ("año de nacimiento", "fecha de nacimiento", "nacimiento"), "fide_id": ("código fide", "fide nº"),
    },
    "Italian": {
        "first": ("giocatore casa", "giocatore 1"), "second": ("giocatore ospite", "giocatore 2"),
        "board": ("scacchiera", "tavolo"),
        "white": ("bianco", "bianchi"), "black": ("nero", "neri"), "result": ("risultato", "ris"),
        "ended_at": ("data",), "tournament": ("torneo", "campionato"), "round": ("turno", "giornata"),
        "name": ("nome", "giocatore", "cognome nome"), "rating": ("punteggio elo",),
        "birth_year": ("anno di nascita", "data di nascita", "nascita"), "fide_id": ("codice fide", "numero fide"),
    },
    "Dutch": {
        "first": ("thuisspeler", "speler thuis", "speler 1"), "second": ("uitspeler", "speler uit", "speler 2"),
        "board": ("bord",),
        "white": ("wit", "witspeler"), "black": ("zwart", "zwartspeler"), "result": ("uitslag", "resultaat"),
        "ended_at": ("datum", "speeldatum"), "tournament": ("toernooi", "competitie"), "round": ("ronde",),
        "name": ("naam", "speler"), "birth_year": ("geboortejaar", "geboortedatum"), "fide_id": ("fide nummer",),
    },
    "Portuguese": {
        "first": ("jogador casa", "jogador da casa", "jogador 1"), "second": ("jogador visitante", "jogador 2"),
        "board": ("tabuleiro", "mesa"),
        "white": ("brancas", "branco", "branca"), "black": ("pretas", "preto", "negras"),
        "result": ("resultado", "res"), "ended_at": ("data",), "tournament": ("torneio", "campeonato"),
        "round": ("rodada", "ronda", "jornada"),
        "name": ("nome", "jogador"), "birth_year": ("ano de nascimento", "data de nascimento", "nascimento"),
        "fide_id": ("código fide", "número fide"),
    },
    "Polish": {
        "first": ("zawodnik gospodarzy", "gracz gospodarzy", "zawodnik 1"),
        "second": ("zawodnik gości", "gracz gości", "zawodnik 2"), "board": ("szachownica", "deska"),
        "white": ("białe", "biały", "biale"), "black": ("czarne", "czarny"), "result": ("wynik", "rezultat"),
        "ended_at": ("data", "data partii"), "tournament": ("turniej", "zawody"), "round": ("runda", "rd"),
        "name": ("nazwisko", "zawodnik", "nazwisko i imię", "nazwisko imię", "imię i nazwisko"),
        "birth_year": ("rok urodzenia", "data urodzenia", "ur"), "fide_id": ("numer fide", "nr fide"),
    },
    "Czech": {
        "first": ("domácí hráč", "hráč domácí", "hráč 1"), "second": ("hostující hráč", "hráč hosté", "hráč 2"),
        "board": ("šachovnice", "stůl"),
        "white": ("bílý", "bílé"), "black": ("černý", "černé"), "result": ("výsledek", "výsl"),
        "ended_at": ("datum", "datum partie"), "tournament": ("turnaj", "soutěž"), "round": ("kolo",),
        "name": ("jméno", "hráč", "příjmení a jméno", "příjmení jméno"),
        "birth_year": ("rok narození", "datum narození", "ročník"), "fide_id": ("fide číslo",),
    },
    "Swedish": {
        "first": ("hemmaspelare", "spelare hemma", "spelare 1"),
        "second": ("bortaspelare", "spelare borta", "spelare 2"), "board": ("bord",),
        "white": ("vit", "vita"), "black": ("svart", "svarta"), "result": ("resultat", "res"),
        "ended_at": ("datum", "speldatum"), "tournament": ("turnering", "tävling"), "round": ("rond", "runda"),
        "name": ("namn", "spelare", "efternamn förnamn"), "birth_year": ("födelseår", "född", "födelsedatum"),
        "fide_id": ("fide nummer",),
    },
    "Danish": {
        "white": ("hvid",), "black": ("sort",), "result": ("resultat",), "ended_at": ("dato",),
        "tournament": ("turnering",), "round": ("runde",), "name": ("navn", "spiller"), "birth_year": ("fødselsår",),
    },
    "Norwegian": {
        "white": ("hvit",), "black": ("svart",), "result": ("resultat",), "ended_at": ("dato",),
        "tournament": ("turnering",), "round": ("runde",), "name": ("navn", "spiller"), "birth_year": ("fødselsår",),
    },
}  # fmt: skip
# What is said of one side only: {} is the word for the colour.
_OF_A_SIDE: Mapping[str, tuple[str, ...]] = {
    "": ("{}", "name {}", "{} name", "spieler {}", "joueur {}", "jugador {}", "giocatore {}", "speler {}"),
    "_rating": ("elo {}", "{} elo", "rating {}", "{} rating"),
    "_fide_id": ("fide id {}", "{} fide id", "fide {}", "fideid {}"),
}  # fmt: skip
# By result, as ``csv.values`` has it: the words for it, of any language; "white" means that White won.
_RESULTS: Mapping[str, tuple[str, ...]] = {
    "white": (
        "weiß", "weiß gewinnt", "blanc", "blancs", "blanco", "blancas", "bianco", "wit", "brancas", "białe", "bílý",
        "bílé", "vit", "vita", "hvid", "hvit", "1-0 gewonnen",
    ),
    "black": (
        "schwarz", "schwarz gewinnt", "noir", "noirs", "negras", "nero", "zwart", "pretas", "czarne", "černý", "černé",
        "svart", "svarta",
    ),
    "draw": (
        "unentschieden", "nulle", "nul", "partie nulle", "tablas", "patta", "patto", "remise", "empate", "remíza",
        "remi", "uafgjort",
    ),
    "+white": (
        "1-0k", "1-0 k", "1-0 kampflos", "+-- kampflos", "1-0 forfait", "1-0 walkower", "1-0 wo", "1-0 w.o.",
        "1-0 kontumace", "1-0 inc.", "1-0 f.c.",
    ),
    "+black": (
        "0-1k", "0-1 k", "0-1 kampflos", "--+ kampflos", "0-1 forfait", "0-1 walkower", "0-1 wo", "0-1 w.o.",
        "0-1 kontumace", "0-1 inc.", "0-1 f.c.",
    ),
    "-": ("0-0 kampflos", "--- kampflos", "0-0k", "0-0 forfait"),
}  # fmt: skip


def fold_heading(heading: str) -> str:
    """Return a heading without case, with one sign between its parts: ``Elo-Weiß`` is ``elo_weiss``."""
    return re.sub(r"[\s_./-]+", "_", unicodedata.normalize("NFC", heading).strip().casefold()).strip("_")


def fold_result(word: str) -> str:
    """Return a word for a result without blanks and case."""
    return re.sub(r"\s+", "", unicodedata.normalize("NFC", word)).casefold()


@cache
def _headings_of(language: str) -> Mapping[str, str]:
    """Return the column of each heading of a language."""
    meanings: dict[str, str] = {}
    for column, words in _HEADINGS[language].items():
        if column in {"white", "black"}:
            for part, forms in _OF_A_SIDE.items():
                meanings |= {fold_heading(form.format(word)): f"{column}{part}" for form in forms for word in words}
        else:
            meanings |= {fold_heading(word): column for word in words}
    return meanings


def headings_by_place(fields: Iterable[str | None], names: Iterable[str]) -> dict[int, str]:
    """Return the columns that headings mean in the language that knows most of them, by place in *fields*.

    *fields*: the headings, None for those that mean something already. *names*: the columns that may be meant.
    """
    columns = frozenset(names)
    folded = [None if field is None else fold_heading(field) for field in fields]
    best: dict[int, str] = {}
    for language in _HEADINGS:
        meanings = _headings_of(language)
        read = {place: column for place, word in enumerate(folded) if (column := meanings.get(word or "")) in columns}
        best = read if len(read) > len(best) else best
    return best


@cache
def _columns_by_heading() -> Mapping[str, frozenset[str]]:
    pairs = [pair for language in _HEADINGS for pair in _headings_of(language).items()]
    return {word: frozenset(column for other, column in pairs if other == word) for word, _ in pairs}


def is_of_another_column(heading: str, column: str) -> bool:
    """Return whether a heading means something in some language, and nowhere this column."""
    meant = _columns_by_heading().get(fold_heading(heading), frozenset())
    return bool(meant) and column not in meant


_RESULT = {fold_result(word): meaning for meaning, words in _RESULTS.items() for word in words}


def result_of_word(text: str) -> str | None:
    """Return the result that a word of another language means, as ``csv.values.parse_result`` does; else None."""
    return _RESULT.get(fold_result(text).replace(":", "-"))


# What stands for "round" next to its number, in "3.Rd", "Runde 3" or "3. kolo".
ROUND_WORDS = frozenset(
    {"rd", "r", "rnd", "round"} | {fold_heading(word) for language in _HEADINGS.values() for word in language["round"]}
)
# What stands before the days of a tournament, as in "Datum: 2024/05/04".
DATE_WORDS = frozenset(
    {"date", "dates"}
    | {fold_heading(word) for language in _HEADINGS.values() for word in language["ended_at"]}
    | {"von_bis", "dal", "del", "termin", "zeitraum", "período", "periodo"}
)
# What stands before the time control of a tournament, as in "Bedenkzeit (Standard) : 90 min + 30 sec".
TIME_CONTROL_WORDS = (
    "time control", "rate of play", "bedenkzeit", "zeitkontrolle", "zeitmodus", "cadence", "contrôle du temps",
    "control de tiempo", "ritmo de juego", "tempo di gioco", "tempo di riflessione", "cadenza", "speeltempo",
    "bedenktijd", "tempo", "controle de tempo", "ritmo de jogo", "tempo de reflexão", "tempo gry", "tempo hry",
    "časová kontrola", "betänketid",
)  # fmt: skip
# The two letters of the colours in cells such as "12w1", White's first; every other table has one of these pairs.
COLOUR_LETTERS = ("wb", "ws", "bn", "wz", "bp", "bc", "bč", "vs")
