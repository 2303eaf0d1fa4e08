"""What the pages of the desk gather for officers: how the ledger does, proposals, players, lists as they would be.

No rule and no SQL: everything is asked of the library. Officers see names, reasons and each other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import attrs

from ledger.answers import corrections, differences, publications, rankings, recorded_games, searching
from ledger.answers.asking import display_name, names
from ledger.answers.corrections import ProposalRow
from ledger.answers.counting_lists import CountingList, waiting_games
from ledger.answers.differences import ListDifference
from ledger.answers.health import Health, ledger_health
from ledger.answers.imports import ImportRow, imports
from ledger.answers.player_details import details_at
from ledger.auth.token_store import RefusalRow
from ledger.correcting.verbs import VERBS, WORD_HELP, choices
from ledger.errors import UnknownNameError
from ledger.facts.instants import instant_end_ms
from ledger.facts.player_details import NO_DETAILS
from ledger.facts.words import Standing, Strength
from ledger.imports.files import FORMATS
from ledger.imports.pairings.lists import BOARDS
from ledger.imports.times import ORDERS
from ledger.journal.stored_lists import ListRow
from ledger.ledger import Ledger
from ledger.players.persons import Person
from ledger.publishing.publications import OPEN_PROPOSAL
from ledger.recording.pool_choice import CHOICES_BY_CLASS
from ledger.runtime.nearest import expected_names

from .change_cards import title_of
from .desk_verbs import complaints_told
from .desk_work import ProposalCard, cards
from .page_data import Paging
from .paging import paged
from .parameters import Query

SHOWN = 50  # rows of a table on a page of several
MOST_REFUSALS = 20
MOST_NAMED = 10  # players of one complaint


@attrs.frozen(kw_only=True)
class FormField:
    """A field of a form.

    Attributes:
        name: as it is sent.
        label: what people call it.
        help: what it says.
        needed: whether it must be filled.
        choices: the words that it may be; empty where it is none of some words.
        value: its content.
    """

    name: str
    label: str
    help: str = ""
    needed: bool = False
    choices: Sequence[str] = ()
    value: str = ""


# -- how the ledger does -------------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class HealthPage:
    """The health of the ledger, and what was refused.

    Attributes:
        health: the answer that the command ``health`` gives, too.
        logs: bytes of the write-ahead logs, by file.
        refusals: what was refused of late, the newest first, with who signed in and out.
    """

    health: Health
    logs: Mapping[str, int]
    refusals: Sequence[RefusalRow]


def health(ledger: Ledger, _: Query) -> HealthPage:
    """Return the health of the ledger, and what was refused."""
    files = (ledger.path, ledger.views.path)
    return HealthPage(
        health=ledger_health(ledger),
        logs={file.name: _size(file.with_name(f"{file.name}-wal")) for file in files},
        refusals=ledger.tokens.log(MOST_REFUSALS)[::-1],
    )


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


# -- proposals -----------------------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class VerbShown:
    """A verb of corrections, and what it does.

    Attributes:
        verb: its name.
        help: what it does.
        query: what of its words is known already, by name.
    """

    verb: str
    help: str
    query: Mapping[str, str]


@attrs.frozen(kw_only=True)
class VerbsPage:
    """The verbs of all facts, or of the kind of fact in the query.

    Attributes:
        about: what that is, in words; empty: anything.
        rows: the usual verbs.
        more: the others.
        q: the word by which an officer looked for it; None: no word.
    """

    about: str
    rows: Sequence[VerbShown]
    more: Sequence[VerbShown]
    q: str | None


_SPEAK_OF = {"game": ("game",), "player": ("player", "white"), "tournament": ("tournament",)}
_USUAL = {
    "game": ("result", "void", "reassign", "game"),
    "player": ("late", "annul", "merge", "close"),
    "tournament": ("void-tournament", "close-tournament", "bye"),
    "": ("result", "late", "void", "merge"),
}  # the verbs that are offered first, by what the proposal is about


def verbs(ledger: Ledger, query: Query) -> VerbsPage:
    """Return the verbs of a proposal, the usual ones first."""
    about = {name: query[name] for name in _SPEAK_OF if query[name]} or _found(ledger, query["q"])
    rows = []
    for verb, words in VERBS.items():
        takes = {word: about[name] for name, meant in _SPEAK_OF.items() for word in meant
                 if name in about and word in (*words.needed, *words.options)}  # fmt: skip
        if takes or not about:
            rows.append(VerbShown(verb=verb, help=words.help, query=takes))
    usual = _USUAL[next(iter(about), "")]
    first = sorted((row for row in rows if row.verb in usual), key=lambda row: usual.index(row.verb))
    return VerbsPage(
        about=_in_words(ledger, about), rows=first, more=[row for row in rows if row.verb not in usual], q=query["q"]
    )


def _found(ledger: Ledger, word: str | None) -> dict[str, str]:
    """Return what a word names: a game, a player or a tournament; empty if it names nothing."""
    if not word:
        return {}
    with suppress(UnknownNameError):
        return {"game": recorded_games.recorded_game(ledger, word).game}
    with suppress(UnknownNameError):
        return {"player": str(ledger.player(word).player)}
    with suppress(UnknownNameError):
        return {"tournament": ledger.tournament(word).name}
    return {}


def _in_words(ledger: Ledger, about: Mapping[str, str]) -> str:
    """Return what a proposal is about, with names for keys and numbers."""
    words = []
    for name, value in about.items():
        with suppress(UnknownNameError):
            if name == "game":
                words.append(title_of(recorded_games.recorded_game(ledger, value)))
            elif name == "player":
                words.append(display_name(ledger.player(value)))
            else:
                words.append(f"tournament {value}")
    return "; ".join(words)


@attrs.frozen(kw_only=True)
class VerbPage:
    """The form of one verb.

    Attributes:
        verb: its name.
        help: what it does.
        fields: its words, those that it needs first.
        game: the current state of the game that it is about; None: about none, or it is not known yet.
        title: that game in words.
    """

    verb: str
    help: str
    fields: Sequence[FormField]
    game: recorded_games.RecordedGame | None
    title: str


def verb(ledger: Ledger, query: Query) -> VerbPage:
    """Return the form of one verb, with what is known filled in."""
    name = query["verb"]
    if name not in VERBS:
        raise UnknownNameError("verb", name, expected_names(name, VERBS), where="of corrections")
    words = VERBS[name]
    needed = (*words.needed, *words.options)
    fields = [
        FormField(
            name=word,
            label=word.replace("_", " "),
            help=WORD_HELP[word],
            # an empty word blanks a field
            needed=word in needed and not (word == "to" and "field" in needed),
            choices=choices(name, word),
            value=query[word] or "",
        )
        for word in (*needed, *words.allowed)
    ]
    game = None
    if "game" in needed and query["game"]:
        game = recorded_games.recorded_game(ledger, query["game"])
    title = "" if game is None else title_of(game)
    return VerbPage(verb=name, help=words.help, fields=fields, game=game, title=title)


@attrs.frozen(kw_only=True)
class ProposalPage:
    """One proposal.

    Attributes:
        row: what it changes, who proposed and who decided it, and why.
        card: the same as an officer reads it.
        doubts: what may be meant otherwise, in words, while it is open.
    """

    row: ProposalRow
    card: ProposalCard
    doubts: Sequence[str]


def proposal(ledger: Ledger, query: Query) -> ProposalPage:
    """Return one proposal: what it changes, who proposed and who decided it, and why."""
    row = corrections.proposal(ledger, query["number"])
    shown = ledger.corrections.proposal(row.proposal)
    doubts = corrections.duplicate_warnings(ledger, shown.changes) if row.state == "open" else []
    (card,) = cards(ledger, [row.proposal])
    return ProposalPage(row=row, card=attrs.evolve(card, row=row), doubts=doubts)


def batch(_: Ledger, __: Query) -> Sequence[str]:
    """Return the form for many corrections at once: the verbs that a file may have."""
    return list(VERBS)


# -- files of games ------------------------------------------------------------------------------------------------


def games_form(ledger: Ledger, _: Query) -> Sequence[FormField]:
    """Return the form for a file of games."""
    pools = [pool.name for pool in ledger.pools()]
    return (
        FormField(name="pool", label="Pool", choices=(*pools, *CHOICES_BY_CLASS), value=pools[0], needed=True),
        FormField(name="format", label="Format", help="Empty: recognised by content.", choices=FORMATS),
        FormField(
            name="source", label="Site", help="That names and ids of CSV and TRF files belong to, such as lichess."
        ),
        FormField(name="dates", label="Dates", help="What 04/05/2024 is: the day first, or the month.", choices=ORDERS),
        FormField(name="day", label="Day", help="When the games of a TRF without a day were played."),
        FormField(name="sheet", label="Sheet", help="Of a spreadsheet with several."),
        FormField(
            name="white_boards",
            label="White boards",
            help="Of matches of teams: where the team named first has White.",
            choices=BOARDS,
        ),
        FormField(
            name="columns", label="Columns", help="Headings of a CSV file's own, such as white=Heim; black=Gast."
        ),
        FormField(name="results", label="Results", help="What its words mean, such as Sieg=1-0; Remis=1/2-1/2."),
    )


@attrs.frozen(kw_only=True)
class ImportsPage:
    """A page of the imported files, the newest first."""

    rows: Sequence[ImportRow]
    paging: Paging


def imported_files(ledger: Ledger, query: Query) -> ImportsPage:
    """Return the imported files, the newest first."""
    rows, paging = paged(query, imports(ledger)[::-1])
    return ImportsPage(rows=rows, paging=paging)


def upload(_: Ledger, query: Query) -> str:
    """Return the progress or the result of the import of a file."""
    return str(query["upload"])


# -- players -------------------------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class PlayersPage:
    """The forms that add, rename and describe a player.

    Attributes:
        add: fields of the first.
        rename: fields of the second.
        describe: fields of the third, with the data in force.
        strength: fields of the strength that a player chooses; empty if no pool has strengths.
        person: the player in the query; None: none.
        alike: in words, who has that player's name, too.
    """

    add: Sequence[FormField]
    rename: Sequence[FormField]
    describe: Sequence[FormField]
    strength: Sequence[FormField]
    person: Person | None
    alike: Sequence[str]


def players(ledger: Ledger, query: Query) -> PlayersPage:
    """Return the forms that add, rename and describe a player, and the namesakes of the player in the query."""
    word = query["player"]
    person = None if word is None else ledger.player_as_told(word)
    names = [(person.identity, person.name)] if person and person.identity and person.name else []
    standings = [each.value for each in Standing]
    strengths = [pool.name for pool in ledger.pools() if rankings.has_classes(ledger, pool.name)]
    return PlayersPage(
        add=(
            FormField(name="identity", label="Identity", help="fide:1503014, lichess:ann or name:ann.", needed=True),
            FormField(name="name", label="Name", needed=True),
            FormField(name="standing", label="Standing", choices=standings, value=Standing.FULL.value, needed=True),
            FormField(name="birth_year", label="Year of birth", help="For rules that ask for the age."),
            FormField(name="declared_rating", label="Declared rating", help="The player's own word, points."),
            FormField(name="joined", label="Joined", help="A day; empty: now."),
        ),
        rename=(
            FormField(name="player", label="Player", help=WORD_HELP["player"], needed=True, value=word or ""),
            FormField(name="new_name", label="New name", help="The old one is forgotten.", needed=True),
        ),
        strength=()
        if not strengths
        else (
            FormField(name="player", label="Player", help=WORD_HELP["player"], needed=True, value=word or ""),
            FormField(
                name="strength",
                label="Strength",
                choices=[each.value for each in Strength],
                needed=True,
                help="Until the provisional games are completed; later the rating decides.",
            ),
            FormField(name="pool", label="Pool", choices=strengths, value=strengths[0], needed=True),
            FormField(name="since", label="Since", help="A day; empty: today."),
        ),
        describe=_description(ledger, person, word or ""),
        person=person,
        alike=[str(note) for note in ledger.registry.namesakes(names)] if names else [],
    )


def _description(ledger: Ledger, person: Person | None, word: str) -> Sequence[FormField]:
    """Return the fields that describe a player, with the data in force as hints."""
    details = {} if person is None else details_at(ledger, [person.player], ledger.now_ms())
    now = NO_DETAILS if person is None else details.get(person.player, NO_DETAILS)
    hints = {name: f"Now: {value}." for name, value in now.stated().items()}
    active = "" if now.active is None else f"Now: {'yes' if now.active else 'no'}."
    return (
        FormField(name="described_player", label="Player", help=WORD_HELP["player"], needed=True, value=word),
        FormField(name="sex", label="Sex", help=hints.get("sex", ""), choices=("m", "w")),
        FormField(name="title", label="Title", help=hints.get("title", "Such as GM or WFM.")),
        FormField(name="federation", label="Federation", help=hints.get("federation", "Three letters, such as NOR.")),
        FormField(name="birth", label="Date of birth", help=hints.get("birth", "2010-05-06, or the year alone.")),
        FormField(name="club", label="Club", help=hints.get("club", "")),
        FormField(name="national", label="National number", help=hints.get("national", "")),
        FormField(name="active", label="Active", help=active, choices=("yes", "no")),
        FormField(name="since", label="Since", help="The day from which it holds; empty: today."),
    )


@attrs.frozen(kw_only=True)
class AlikePage:
    """The players who may be known under another number.

    Attributes:
        new: the new ones who resemble known ones.
        groups: all identities that look like one person.
    """

    new: searching.ResemblingPlayers
    groups: searching.SimilarPlayers


def alike(ledger: Ledger, _: Query) -> AlikePage:
    """Return the new players who resemble known ones, and all identities that look like one person."""
    return AlikePage(new=searching.new_players_like_known_ones(ledger), groups=searching.similar_players(ledger))


# -- lists ---------------------------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class ListDraft:
    """A list as it would be published.

    Attributes:
        players: how many are on it.
        seen: how many entries it follows from.
        complaints: what looks wrong, as ``desk_verbs.complaints_told`` returns it, without the open proposals.
        others: by the text of a complaint and its player, the numbers and names of the other players.
        proposals: the numbers of the open proposals.
        new: players who were not on the list before it, by number and name; of a first list nobody.
        since: name of the list before it; None: there is none.
        counts: players by what became of them since then.
        rows: who came, went or changed since then, the largest changes first.
        first: the first rows of the list, with the names of their players.
        waiting: the games that were reported after their own list was published, and the list in which they count.
    """

    players: int
    seen: int
    complaints: Sequence[Mapping[str, Any]]
    others: Mapping[tuple[int, str], Sequence[tuple[int, str]]]
    proposals: Sequence[int]
    new: Sequence[tuple[int, str]]
    since: str | None
    counts: Mapping[str, int]
    rows: Sequence[ListDifference]
    first: Sequence[tuple[ListRow, str]]
    waiting: Sequence[CountingList]

    @property
    def is_refused(self) -> bool:
        """True if something prevents its publication."""
        return bool(self.proposals) or any(complaint["refuses"] for complaint in self.complaints)


@attrs.frozen(kw_only=True)
class PublishPage:
    """The form that publishes a list, and the list that it speaks of.

    Attributes:
        pools: the pools.
        pool: the pool of the list.
        at: the day; None: not chosen yet.
        lists: the last lists of that pool, the newest first.
        draft: the list; None without a day.
    """

    pools: Sequence[str]
    pool: str
    at: str | None
    lists: Sequence[publications.PublishedListRow]
    draft: ListDraft | None


def publish(ledger: Ledger, query: Query) -> PublishPage:
    """Return a list as it would be published: what looks wrong, and how it differs from the one before."""
    pool = ledger.pool(query["pool"]).name
    return PublishPage(
        pools=[each.name for each in ledger.pools()],
        pool=pool,
        at=query["at"],
        lists=publications.published_lists(ledger, pool)[::-1][:5],
        draft=None if query["at"] is None else _draft(ledger, pool, query["at"]),
    )


def _draft(ledger: Ledger, pool: str, at: str) -> ListDraft:
    draft = ledger.publications.draft(at, pool)
    before = ledger.publications.list_in_force_at(pool, instant_end_ms(at))
    moved: list[ListDifference] = []
    if before is not None:
        lists = differences.lists_to_compare(ledger, before.name, f"{pool}@{at}/{differences.NOW}")
        moved = differences.list_differences(ledger, *lists, why=False)
    differ = [row for row in moved if row.change != differences.UNCHANGED]
    first = sorted(draft.rows.values(), key=lambda row: (row.rank, row.player))[:SHOWN]
    complaints = [each for each in ledger.publications.complaints(draft) if each.what != OPEN_PROPOSAL]
    several = {(each.players[0], each.text): each.players[1:MOST_NAMED] for each in complaints if each.players[1:]}
    others = {player for numbers in several.values() for player in numbers}
    called = names(ledger, {row.player for row in first} | others)
    return ListDraft(
        players=len(draft.rows),
        seen=draft.head,
        complaints=complaints_told(ledger, complaints),
        others={about: [(player, called[player]) for player in numbers] for about, numbers in several.items()},
        proposals=draft.open_proposals,
        new=[(row.player, row.name) for row in moved if row.change == "created"],
        since=None if before is None else before.name,
        counts=Counter(row.change for row in moved),
        rows=sorted(differ, key=lambda row: -abs(row.difference or 0.0))[:SHOWN],
        first=[(row, called[row.player]) for row in first],
        waiting=[row for row in waiting_games(ledger, pool, instant_end_ms(at)) if row.late][:SHOWN],
    )
