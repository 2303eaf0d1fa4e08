"""The search for players by a part of a name, and for identities that may belong to one person.

Files spell names in several ways, and one has a FIDE number where another has the bare name. So keys of names find
people with similar names, with the known facts about each; all pairs are never compared. Nothing is merged here.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import combinations, product
from typing import NamedTuple

import attrs

from ledger.answers.asking import in_one_snapshot, row_limit, shown_identity, shown_name
from ledger.answers.publications import published_lists
from ledger.book.decisions import person_of
from ledger.book.stored_proposals import load_merges
from ledger.book.taken_back import players_taken_back
from ledger.duplicates.namesakes import namesakes
from ledger.facts.json_schemas import documented
from ledger.facts.person_names import (
    FoldedName,
    IndexEntry,
    are_different_people,
    folded,
    may_be_same_name,
    register_of,
)
from ledger.handle import OpenLedger
from ledger.players.persons import Person
from ledger.ratings import queries


@attrs.frozen(kw_only=True, slots=False)
class NamedPlayer:
    """A player with a matching name: number, name and identity."""

    player: int = documented("the player's number in the ledger", minimum=1)
    name: str = documented("what the player is called")
    identity: str | None = documented("the player's identity, such as lichess:ann")


@in_one_snapshot
def find_players(ledger: OpenLedger, part: str, *, limit: int | None = None) -> list[NamedPlayer]:
    """Return the players whose names have all words of *part*, or words with *part*; names that begin so first.

    A part has three letters or more; case and accents do not count. Players of an import that was taken back are left
    out if they have no other games.

    Raises:
        MalformedError: no word of it has three letters.
        StorageError: the people file and the journal do not belong together.
    """
    matches = ledger.people.search.find(part)
    absent = players_taken_back(ledger.views.connection, (match.player for match in matches))
    return [
        NamedPlayer(
            player=match.player, name=shown_name(match.player, match.name), identity=shown_identity(match.identity)
        )
        for match in [match for match in matches if match.player not in absent][: row_limit(limit)]
    ]


NEWEST = 50  # new players who are compared: each takes 10 ms among 200,000 names
_AT_ONCE = 20  # names that are looked up by the index; for more of them all names are read


@attrs.frozen(kw_only=True, slots=False)
class ResemblingPlayer:
    """A new player whose name is that of earlier players, or has one letter changed."""

    player: int = documented("the player's number in the ledger", minimum=1)
    name: str = documented("what the player is called")
    identity: str = documented("the player's identity, such as lichess:ann")
    others: list[NamedPlayer] = documented("the earlier players who may be the same person")
    is_misspelt: bool = documented("whether the names differ in one letter")


@attrs.frozen(kw_only=True, slots=False)
class ResemblingPlayers:
    """The players who are new since the last published list and may be known under another number."""

    rows: list[ResemblingPlayer] = documented("the new players, the newest first")
    compared: int = documented("how many new players were compared; at most 50, the newest", minimum=0)
    since: str | None = documented("the last published list; null: none was published, so that everybody is new")


@in_one_snapshot
def new_players_like_known_ones(ledger: OpenLedger) -> ResemblingPlayers:
    """Return the newest players who resemble earlier ones; merged players and different persons are left out.

    A player is new until the next list is published.
    """
    published = max(published_lists(ledger), key=lambda row: row.entry, default=None)
    new = _new_players(ledger, 0 if published is None else published.entry)
    others: dict[int, tuple[list[str], bool]] = {}
    for first in range(0, len(new), _AT_ONCE):
        part = new[first : first + _AT_ONCE][::-1]  # in the order in which they were registered
        pairs = [(person.identity or "", person.name or "") for person in part]
        for note in namesakes(ledger.people, pairs):
            others[part[note.place].player] = (note.others, note.is_misspelt)
    earlier_players = ledger.people.by_identity(
        sorted({identity for noted, _ in others.values() for identity in noted})
    )
    persons = {person.player: person for person in (*new, *earlier_players.values())}
    identities = {number: person.identity or "" for number, person in persons.items()}
    facts = _Facts(ledger, persons, identities, [], {})
    rows = []
    for person in new:
        noted, is_misspelt = others.get(person.player, ([], False))
        earlier = sorted({earlier_players[identity].player for identity in noted if identity in earlier_players})
        same = [
            NamedPlayer(
                player=number,
                name=shown_name(number, persons[number].name),
                identity=shown_identity(persons[number].identity),
            )
            for number in earlier
            if number < person.player and facts.may_be_one(person.player, number)
        ]
        if same:
            row = ResemblingPlayer(
                player=person.player,
                name=person.name or "",
                identity=person.identity or "",
                others=same,
                is_misspelt=is_misspelt,
            )
            rows.append(row)
    return ResemblingPlayers(rows=rows, compared=len(new), since=None if published is None else published.list)


def _new_players(ledger: OpenLedger, after: int) -> list[Person]:
    """Return the newest players who were registered behind an entry, the newest first."""
    new: list[Person] = []
    for block in ledger.people.iter_named(highest_first=True):
        stored = ledger.journal.find([f"player:{person.player}" for person in block])
        absent = players_taken_back(ledger.views.connection, (person.player for person in block))
        for person in block:
            if person.player in absent:
                continue
            entry = stored.get(f"player:{person.player}")
            if len(new) == NEWEST or (entry is not None and entry.position <= after):
                return new
            if entry is not None and person.identity is not None and person.name is not None:
                new.append(person)
    return new


CROWD = 50  # identities of similar names from which on a name says nothing of the person
_SEARCHED = CROWD  # names that share a word and all first letters, from which on an initial says nothing

_BORN = (
    "SELECT player, birth_year FROM players WHERE player IN (SELECT value FROM json_each(?)) AND birth_year IS NOT NULL"
)
_OPPONENTS = (
    "SELECT DISTINCT white, black FROM games "
    "WHERE white IN (SELECT value FROM json_each(?1)) AND black IN (SELECT value FROM json_each(?1))"
)
_GAMES = (
    "SELECT white AS player, count(*) AS n FROM games WHERE white IN (SELECT value FROM json_each(?1)) GROUP BY white "
    "UNION ALL SELECT black, count(*) FROM games WHERE black IN (SELECT value FROM json_each(?1)) GROUP BY black"
)
# CROSS JOIN fixes the order: each player's row is looked up by pool and number, and no pool is read through.
_POOLS = (
    "SELECT wanted.value AS player, pools.name AS pool FROM json_each(?) AS wanted CROSS JOIN pools CROSS JOIN current "
    "ON current.pool = pools.pool AND current.player = wanted.value ORDER BY pools.pool"
)


@attrs.frozen(kw_only=True, slots=False)
class SimilarPlayer:
    """An identity in a group of identities that may belong to one person, with its facts."""

    group: int = documented("number of the group, from 1", minimum=1)
    player: int = documented("the player's number in the ledger; of merged players the person's", minimum=1)
    identity: str = documented("the identity, such as lichess:ann")
    name: str = documented("what the player is called")
    born: int | None = documented("year of birth; null: not known")
    games: int = documented("all recorded games", minimum=0)
    pools: list[str] = documented("the pools that rate the player")
    apart_from: list[int] = documented("numbers of the same group that are somebody else")


@attrs.frozen(kw_only=True, slots=False)
class SimilarPlayers:
    """The groups of players who may be one person, and the number of names that were left out."""

    rows: list[SimilarPlayer] = documented("each identity of each group")
    crowded: int = documented("names left out, for too many identities bear or fit them", minimum=0)


_Fitting = Mapping[int, set[int] | None]


class _Bearers(NamedTuple):
    """A name, and the numbers of the players who have it in any spelling."""

    name: FoldedName
    players: list[int]


@in_one_snapshot
def similar_players(ledger: OpenLedger) -> SimilarPlayers:
    """Return players who may be one person: names equal but for case, accents, order of words, initials and blanks.

    Players are different persons if their years of birth differ, if they have played each other, or if they have two
    identities of one register or server, which gives each person one number; two bare names are no register. A group
    has every player who may be the same as another one in it; erased players are left out. Identities that were merged
    are one person: they make no group by themselves, and share their facts.
    """
    identities: dict[int, str] = {}
    names: dict[int, FoldedName] = {}
    for persons in ledger.people.iter_named():
        absent = players_taken_back(ledger.views.connection, (person.player for person in persons))
        for person in persons:
            if person.player not in absent and person.identity is not None and person.name is not None:
                identities[person.player] = person.identity
                names[person.player] = folded(person.name)
    every = _all_bearers(names)
    fitting = _fitting(every)
    groups, crowded = _by_name(every, fitting, identities)
    facts = _Facts(ledger, {player for group in groups for player in group}, identities, every, fitting)
    largest = _largest({part for group in groups for part in facts.parts(group)})
    return SimilarPlayers(rows=_rows(ledger, largest, facts, identities), crowded=crowded)


def _all_bearers(names: dict[int, FoldedName]) -> list[_Bearers]:
    """Return the players by name: players who share a key have the same name."""
    first: dict[str, int] = {}  # key -> the first player with it
    pairs = ((player, first.setdefault(key, player)) for player, name in names.items() for key in name.keys)
    return [
        _Bearers(max((names[player] for player in players), key=lambda name: len(name.words)), players)
        for players in _connected(names, pairs)
        if any(names[player].words for player in players)
    ]


def _connected(players: Iterable[int], pairs: Iterable[tuple[int, int]]) -> list[list[int]]:
    """Return the groups of players that pairs connect, in the order of *players*."""
    leader = {player: player for player in players}

    def lead(player: int) -> int:
        while leader[player] != player:
            # The way is halved while it is walked, so that long chains of equal names do not stay long.
            leader[player] = player = leader[leader[player]]
        return player

    for player, other in pairs:
        leads, other_leads = lead(player), lead(other)
        # The lowest number leads, for any order in which pairs come in.
        leader[max(leads, other_leads)] = min(leads, other_leads)
    groups: dict[int, list[int]] = defaultdict(list)
    for player in leader:
        groups[lead(player)].append(player)
    return list(groups.values())


def _by_name(every: Sequence[_Bearers], fitting: _Fitting, identities: dict[int, str]) -> tuple[list[list[int]], int]:
    """Return groups of players of one name and of names that fit its initials, and the number of names left out."""
    groups: list[list[int]] = []
    covered: set[int] = set()
    crowded = 0
    for number, others in fitting.items():
        players = sorted(player for place in {number, *(others or ())} for player in every[place].players)
        if others is None or len(players) > CROWD:
            crowded += 1
        else:
            groups.append(players)
            covered |= {number, *others}
    for number, (_, players) in enumerate(every):
        if number in covered or len(players) == 1:
            continue
        registers = {register_of(identities[player]) for player in players}
        if len(registers) == 1 and "" not in registers:  # one register distinguishes them
            continue
        if len(players) > CROWD:
            crowded += 1
        else:
            groups.append(players)
    return groups, crowded


def _fitting(every: Sequence[_Bearers]) -> _Fitting:
    """Return the names that fit each name with initials, None if they are too many; all by their indices."""
    searched_places = {place for name, _ in every if name.initials for place in name.searched_entries}
    at: dict[IndexEntry, list[int]] = defaultdict(list)
    for number, (name, _) in enumerate(every):
        for place in name.index_entries & searched_places:
            at[place].append(number)
    fitting: defaultdict[int, set[int]] = defaultdict(set)
    too_many: set[int] = set()
    for number, (name, _) in enumerate(every):
        if not name.initials:
            continue
        near = [at[place] for place in name.searched_entries]
        candidates = {other for numbers in near if len(numbers) <= _SEARCHED for other in numbers} - {number}
        for other in candidates - fitting.get(number, set()):
            if may_be_same_name(name, every[other].name):
                fitting[number].add(other)
                if every[other].name.initials:
                    fitting[other].add(number)
        # a part of them would look like all of them: None says that they are too many
        if any(len(numbers) > _SEARCHED for numbers in near):
            too_many.add(number)
    return {**dict.fromkeys(sorted(too_many)), **fitting}


class _Facts:
    """The facts that distinguish players of similar names."""

    def __init__(
        self,
        ledger: OpenLedger,
        players: Collection[int],
        identities: dict[int, str],
        every: Sequence[_Bearers],
        fitting: _Fitting,
    ) -> None:
        connection = ledger.views.connection
        merges = load_merges(connection)
        self._person = {player: person_of(merges, player) for player in (*identities, *merges)}
        self._identities: dict[int, set[str]] = defaultdict(set)  # by person
        for player, identity in identities.items():
            self._identities[self._person[player]].add(identity)
        listed = json.dumps(sorted({self._person[player] for player in players}))
        rows = queries.fetch_dicts(connection, _BORN, (listed,))
        self.born: dict[int, int] = {row["player"]: row["birth_year"] for row in rows}
        rows = queries.fetch_dicts(connection, _OPPONENTS, (listed,))
        self._met = {frozenset((row["white"], row["black"])) for row in rows}
        self._fitting = fitting
        self._name = {
            player: number for number, bearers in enumerate(every) for player in bearers.players if player in players
        }

    def person(self, player: int) -> int:
        """Return the number of the player into whom a player was merged, or the player's own."""
        return self._person[player]

    def are_apart(self, player: int, other: int) -> bool:
        """Return whether two players are certainly different persons."""
        if self.person(player) == self.person(other):
            return False
        if not self.may_be_one(player, other):
            return True
        name, other_name = self._name[player], self._name[other]
        return not (
            name == other_name
            or other_name in (self._fitting.get(name) or ())
            or name in (self._fitting.get(other_name) or ())
        )

    def may_be_one(self, player: int, other: int) -> bool:
        """Return whether two numbers that are not merged may be one person, whatever their names."""
        person, other_person = self.person(player), self.person(other)
        if person == other_person:
            return False
        born, other_born = self.born.get(person), self.born.get(other_person)
        if born is not None and other_born is not None and born != other_born:
            return False
        if any(
            are_different_people(*pair) for pair in product(self._identities[person], self._identities[other_person])
        ):
            return False
        return {person, other_person} not in self._met

    def parts(self, group: Sequence[int]) -> Iterator[tuple[int, ...]]:
        """Return the parts of a group in which every player may be the same as another one."""
        pairs = (pair for pair in combinations(group, 2) if not self.are_apart(*pair))
        for part in _connected(group, pairs):
            if len({self.person(player) for player in part}) > 1:
                yield tuple(sorted(part))

    def apart_from(self, player: int, group: Sequence[int]) -> list[int]:
        """Return the persons of a group who are certainly others than a player."""
        others: dict[int, bool] = {}
        for other in group:
            person = self.person(other)
            others[person] = others.get(person, True) and self.are_apart(player, other)
        return sorted(person for person, is_apart in others.items() if is_apart)


def _largest(groups: Collection[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Return the groups that are not within another one, in order of their numbers."""
    groups_of: dict[int, list[set[int]]] = defaultdict(list)
    kept = []
    # The larger ones first: a group that contains another one is in the result before it.
    for group in sorted(groups, key=len, reverse=True):
        members = set(group)
        # a group that holds this one holds its first player, too
        if any(members <= larger for larger in groups_of[group[0]]):
            continue
        kept.append(group)
        for player in group:
            groups_of[player].append(members)
    return sorted(kept)


def _rows(
    ledger: OpenLedger, groups: Sequence[tuple[int, ...]], facts: _Facts, identities: dict[int, str]
) -> list[SimilarPlayer]:
    listed = sorted({player for group in groups for player in group})
    connection = ledger.views.connection
    arguments = (json.dumps(sorted({facts.person(player) for player in listed})),)
    persons = ledger.people.by_number(listed)
    games: dict[int, int] = defaultdict(int)
    for row in queries.fetch_dicts(connection, _GAMES, arguments):
        games[row["player"]] += row["n"]
    pools: dict[int, list[str]] = defaultdict(list)
    for row in queries.fetch_dicts(connection, _POOLS, arguments):
        pools[row["player"]].append(row["pool"])
    return [
        SimilarPlayer(
            group=number,
            player=facts.person(player),
            identity=identities[player],
            name=persons[player].name or "",
            born=facts.born.get(facts.person(player)),
            games=games.get(facts.person(player), 0),
            pools=pools.get(facts.person(player), []),
            apart_from=facts.apart_from(player, group),
        )
        for number, group in enumerate(groups, 1)
        for player in group
    ]
