"""Misspelt names: pairs of players whose names differ by one letter that is missing, added, wrong or exchanged.

Nobody is compared with everybody: two such names share a half, and what is left of them without one letter. Names with
digits and those of a server's users are no names of people, and of short names too many are like each other. A few
names are compared one with another, many as columns; a test holds both equal.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ledger.facts.person_names import PLAIN_LETTERS, WITHOUT_CASE, are_different_people, folded
from ledger.runtime.lazy import pl

if TYPE_CHECKING:
    from polars import DataFrame, Expr

SHORTEST, LONGEST = 7, 40  # letters of a name that is compared
MOST_NAMES = 200_000  # new players; the notes about more of them would not be read
# Pairs of names: compared one by one these take 0.05 s; to load Polars takes four times as long.
_AS_ROWS = 10_000
_SLICE = 20_000  # players whose names are compared at once
_SERVERS = tuple(f"{server}:" for server in sorted(WITHOUT_CASE - {"name"}))
_LETTERS = {"ß": "ss", **PLAIN_LETTERS}
_PLAIN = str.maketrans(_LETTERS)
_SURNAME_FIRST = re.compile(r"([^,]*),(.*)")
_DIGIT = re.compile(r"\d")

Player = tuple[str, str]
"""Identity and name."""


def find_similar_names(new_players: Sequence[Player], everybody: Sequence[Player]) -> list[tuple[int, str, str]]:
    """Return other players whose name is a new player's with one letter wrong: index, identity and name.

    Args:
        new_players: new players.
        everybody: all players who came before them, and perhaps themselves.
    """
    if not new_players or len(new_players) > MOST_NAMES:
        return []
    pairs = row_pairs if len(new_players) * len(everybody) <= _AS_ROWS else column_pairs
    resemblances: list[tuple[int, str, str]] = []
    for place, (other, called) in pairs(new_players, everybody):
        identity, name = new_players[place]
        if identity != other and not are_different_people(identity, other) and is_misspelt(name, called):
            resemblances.append((place, other, called))
    return resemblances


def similar_name_pairs(names: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the pairs of identities whose names differ by one wrong letter, each pair once."""
    players = list(names.items())
    pairs = [(players[place][0], other) for place, other, _ in find_similar_names(players, players)]
    return sorted({(min(pair), max(pair)) for pair in pairs})


def is_misspelt(name: str, other: str) -> bool:
    """Return whether two names differ by one letter in one word, and all other words are the same."""
    words, other_words = list(folded(name).words), list(folded(other).words)
    for word in tuple(words):
        if word in other_words:
            words.remove(word)
            other_words.remove(word)
    if len(words) != 1 or len(other_words) != 1:
        return False
    (word,), (other_word,) = words, other_words
    # two initials are two people
    return min(len(word), len(other_word)) > 1 and _is_one_letter_apart(word, other_word)


def _is_one_letter_apart(word: str, other: str) -> bool:
    short, long = sorted((word, other), key=len)
    start = next((at for at, pair in enumerate(zip(short, long, strict=False)) if pair[0] != pair[1]), len(short))
    if len(long) > len(short):
        return long[:start] + long[start + 1 :] == short
    is_exchanged = short[start : start + 2] == long[start : start + 2][::-1] and short[start + 2 :] == long[start + 2 :]
    return is_exchanged or short[start + 1 :] == long[start + 1 :]


def row_pairs(new_players: Sequence[Player], everybody: Sequence[Player]) -> Iterator[tuple[int, Player]]:
    """Yield pairs of a new player's index and another player with a similar name, compared one by one."""
    players: dict[str, str] = {}
    for identity, name in everybody:
        players.setdefault(identity, name)
    spellings = {player: spelling for player in players.items() if (spelling := _spelling(*player)) is not None}
    for place, player in enumerate(new_players):
        spelling = _spelling(*player)
        if spelling is None:
            continue
        halves, shorter = _spelling_halves(spelling), _shorter_spellings(spelling)
        for other, other_spelling in spellings.items():
            if abs(len(other_spelling) - len(spelling)) > 1 or halves.isdisjoint(_spelling_halves(other_spelling)):
                continue
            if not shorter.isdisjoint(_shorter_spellings(other_spelling)):
                yield place, other


def _spelling(identity: str, name: str) -> str | None:
    """Return the letters of a name, the forenames before the surname; None if it is not compared."""
    if identity.startswith(_SERVERS) or _DIGIT.search(name):
        return None
    text = _SURNAME_FIRST.sub(r"\2 \1", name, count=1) if "," in name else name
    text = unicodedata.normalize("NFKD", text.lower()).translate(_PLAIN)
    spelling = "".join(letter for letter in text if unicodedata.category(letter)[0] in "LN")
    return spelling if SHORTEST <= len(spelling) <= LONGEST else None


def _spelling_halves(spelling: str) -> set[str]:
    halves = {len(spelling) // 2, (len(spelling) - 1) // 2}
    return {part for half in halves for part in (f"<{spelling[:half]}", f">{spelling[len(spelling) - half :]}")}


def _shorter_spellings(spelling: str) -> set[str]:
    return {spelling, *(spelling[:at] + spelling[at + 1 :] for at in range(len(spelling)))}


def column_pairs(new_players: Sequence[Player], everybody: Sequence[Player]) -> Iterator[tuple[int, Player]]:
    """Yield the pairs of ``row_pairs``, compared as columns: similar names share a half and a shorter form."""
    words = {"identity": pl.String, "name": pl.String}
    new = _compared(pl.DataFrame(new_players, words, orient="row").with_row_index("place"))
    if not len(new):
        return
    every = _compared(
        pl.DataFrame(everybody, words, orient="row").unique("identity", keep="first", maintain_order=True)
    )
    halves = pl.concat([new.select(half.alias("half")) for half in _halves()])["half"].unique().implode()
    every = every.filter(pl.any_horizontal(*(half.is_in(halves) for half in _halves()))).with_row_index("row")
    shorter = _without_a_letter(new.select("place", "spelling"), "place")
    parts = [
        shorter.join(_without_a_letter(part.select("row", "spelling"), "row"), on="hash")
        .select("place", "row")
        .unique()
        for part in every.iter_slices(_SLICE)
    ]
    pairs = pl.concat(parts).sort("place", "row") if parts else pl.DataFrame({"place": [], "row": []})
    rows = every.select("identity", "name").rows()
    for place, row in pairs.iter_rows():
        yield place, rows[row]


def _compared(players: DataFrame) -> DataFrame:
    """Return the players whose names are compared, with the letters of their names: forenames before the surname."""
    text = pl.col("name").str.replace(r"^([^,]*),(.*)$", "$2 $1").str.to_lowercase().str.normalize("NFKD")
    spelling = text.str.replace_many(_LETTERS).str.replace_all(r"[^\p{L}\p{N}]", "")
    is_of_server = pl.any_horizontal(*(pl.col("identity").str.starts_with(server) for server in _SERVERS))
    return (
        players.filter(~is_of_server & ~pl.col("name").str.contains(r"\d"))
        .with_columns(spelling=spelling)
        .filter(pl.col("spelling").str.len_chars().is_between(SHORTEST, LONGEST))
    )


def _halves() -> list[Expr]:
    """Return the first and last letters, half of the name: one of the four is equal in names one letter apart."""
    spelling, length = pl.col("spelling"), pl.col("spelling").str.len_chars()
    parts: list[Expr] = []
    for half in (length // 2, (length - 1) // 2):
        parts += ["<" + spelling.str.slice(0, half), ">" + spelling.str.slice(length - half, half)]
    return parts


def _without_a_letter(players: DataFrame, number: str) -> DataFrame:
    """Return the hashes of the names of players, whole and without each of their letters."""
    spelling, length = pl.col("spelling"), pl.col("spelling").str.len_chars()
    longest = players["spelling"].str.len_chars().max()
    parts = [players.select(number, spelling.hash().alias("hash"))]
    for at in range(int(str(longest or 0))):
        shorter = spelling.str.slice(0, at) + spelling.str.slice(at + 1)
        parts.append(players.filter(length > at).select(number, shorter.hash().alias("hash")))
    return pl.concat(parts)
