"""Published rating lists of a ledger: publishing them, reading their rows, and restoring lost rows.

``journal.stored_lists`` defines how rows are stored, ``ratings.standings`` the rows of a list. A published list never
changes: later entries about the same day go into a revised list of that day. Suspicious features of a list before it is
published (jumps, vanished players, names that occur twice) are reported, and refuse it unless the caller says
otherwise; the caller supplies the names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, partial
from itertools import combinations
from typing import NamedTuple

import attrs

from ledger.book.guests import federation_at
from ledger.book.policies import PUBLISHING, stored_policies
from ledger.book.stored_pools import stored_pools
from ledger.book.timeline import BEGINNING, Pool
from ledger.errors import (
    CorruptError,
    MalformedError,
    ProjectionError,
    PublicationError,
    RejectedError,
    UnknownNameError,
)
from ledger.facts.codec import decode
from ledger.facts.event_fields import MAX_WHOLE
from ledger.facts.events import Event, ListPublished, Role
from ledger.facts.instants import Precision, instant_end_ms, instant_ms, instant_text
from ledger.facts.periods import DAY_MS
from ledger.facts.person_names import are_different_people, folded
from ledger.handle import OpenLedger
from ledger.journal import Writer, rules
from ledger.journal.stored_lists import FORM, ListRow, ListTexts, StoredList, form_of_digest, list_texts
from ledger.players.misspelt_names import similar_name_pairs
from ledger.players.persons import Person
from ledger.ratings import queries
from ledger.ratings.past_views import open_views_known_at
from ledger.ratings.rating_previews import PublishedListKey
from ledger.ratings.standings import active_from_ms, form_of_list, rating_list_at, rows_by_player
from ledger.runtime import arith
from ledger.runtime.calls import checked_methods
from ledger.runtime.long_work import Progress, no_progress
from ledger.runtime.nearest import expected_names
from ledger.runtime.visible import is_storable
from ledger.schemes.scheme import Scheme

# In the order of keys ';' follows ':', so that these two enclose every list.
_FIRST, _AFTER = "list:", "list;"  # keys of publications


@attrs.frozen
class Publication:
    """A published list: its journal entry, with pool, instant, edition, head and digest in *event*."""

    position: int
    recorded_at: str
    actor: str
    event: ListPublished

    @property
    def name(self) -> str:
        """The name of the list, ``POOL@INSTANT/EDITION``."""
        return self.event.key.removeprefix(_FIRST)

    @cached_property
    def at_ms(self) -> int:
        """The last millisecond of its instant, since 1970."""
        return instant_end_ms(self.event.as_of)


def first_list_counting(publications: Iterable[Publication], rated_ms: int) -> Publication | None:
    """Return the first of a pool's lists that counts the games of a place in rating order, in its last edition."""
    counting = (each for each in publications if each.at_ms >= rated_ms)
    return min(counting, key=lambda each: (each.at_ms, -each.position), default=None)


@attrs.frozen
class Published:
    """The result of publishing a list.

    Attributes:
        publication: the list.
        recorded: False if the last edition had the same rows, so that nothing was recorded.
        complaints: the suspicious features in spite of which it was published.
    """

    publication: Publication
    recorded: bool
    complaints: tuple[Complaint, ...]


@attrs.frozen
class PublicationDraft:
    """A list as it would be published now.

    Attributes:
        pool: the pool.
        at_ms: its instant, milliseconds since 1970.
        head: the number of entries from which it follows.
        rows: the rows by player number.
        kept: the texts in which the rows are stored.
        largest_jump: the limit of points between two lists, by the policy of that instant.
        active_from: the day up to which the last rated games of those lie whom that policy keeps off; None: of nobody.
        open_proposals: numbers of the undecided corrections.
    """

    pool: Pool
    at_ms: int
    head: int
    rows: Mapping[int, ListRow]
    kept: ListTexts
    largest_jump: int
    active_from: str | None
    open_proposals: tuple[int, ...]


@checked_methods
@attrs.frozen
class Publications:
    """The published lists of one ledger."""

    ledger: OpenLedger

    # -- publishing ------------------------------------------------------------------------------------------------

    def publish(
        self,
        as_of: str,
        pool: str | None = None,
        *,
        actor: str | None = None,
        despite_complaints: bool = False,
        token: str | None = None,
        seen: int | None = None,
        despite_games: bool = False,
    ) -> Published:
        """Publish the list in force at the end of an instant.

        Its rows are stored outside the journal.

        If the last edition has the same rows, nothing is recorded.

        Args:
            as_of: a day, month, year or moment.
            pool: the name of the pool; by default the first one.
            actor: the name of the publisher; if tokens are set up, the token of an approver names that person.
            despite_complaints: publish it though something looks wrong.
            token: that token.
            seen: the number of entries for which a person looked at the list: refused if there are more by now.
            despite_games: allow further games since, but nothing else: ``OpenLedger.unseen``.

        Raises:
            MalformedError: *as_of* is no instant.
            RejectedError: ``ended-in-the-future``; ``unseen-entries``; ``list-looks-wrong``, a PublicationError with
                the complaints; or for want of a token.
            UnknownNameError: there is no such pool.
        """
        # Only to refuse a malformed instant before a token is asked for.
        instant_ms(as_of)
        tried = f"publish the list of {as_of}"
        who = self.ledger.tokens.authenticate(token, actor, Role.APPROVER, tried)
        self.ledger.ensure_up_to_date()
        draft = self.draft(as_of, pool)  # long work is done before the lock
        name = draft.pool.name
        complaints = self.complaints(draft)

        def gate(writer: Writer, now_ms: int) -> Sequence[Event]:
            nonlocal draft, complaints
            # again, under the lock: the token may have been revoked while its holder waited for that
            self.ledger.tokens.check(who, Role.APPROVER, writer.size + 1, tried)
            unseen = self.ledger.unseen("the list", seen, writer.size, despite_games=despite_games)
            if unseen is not None:
                raise RejectedError("unseen-entries", f"{_FIRST}{name}@{as_of}", unseen)
            # another process was faster: once more, while no other can write
            if writer.size != draft.head:
                self.ledger.ensure_up_to_date()
                draft = self.draft(as_of, name)
                complaints = self.complaints(draft)
            event = self._event(draft, as_of, now_ms)
            last = self._last_edition(name, as_of)
            # Whatever the form of the last edition: the same rows in the form of a later release are no other list.
            if last is not None and form_of_digest(list(draft.rows.values()), last.event.digest):
                # Nothing is published, so that nothing is published in spite of complaints.
                complaints = []
                return ()
            refusing = [complaint for complaint in complaints if complaint.what not in ONLY_NOTED]
            if refusing and not despite_complaints:
                raise PublicationError(event.key, refusing)
            # In the transaction of the entry that names their digest: neither is there without the other.
            writer.store_texts(draft.kept.frames())
            return [event]

        receipts = self.ledger._record_judged(gate, who.name)
        # Asked again: with it comes when the entry was recorded, or which edition had the same rows already.
        last = self._last_edition(name, as_of)
        assert last is not None
        if receipts:
            self.ledger.checkpoints.after_commit()
        return Published(last, bool(receipts), tuple(complaints))

    def draft(self, as_of: str, pool: str | None = None) -> PublicationDraft:
        """Return the list as it would be published now, from one read snapshot.

        Raises:
            ProjectionError: it has a rating that no list can show.
            RejectedError: ``ended-in-the-future``.
        """
        at_ms = instant_end_ms(as_of)
        self._check_past(f"{_FIRST}{self.ledger.pool(pool).name}@{as_of}", as_of, self.ledger.now_ms())
        with self.ledger.views.read_snapshot() as head:
            connection, rated_by = self.ledger.views.connection, self.ledger.pool(pool)
            rows = rating_list_at(connection, rated_by, at_ms)
            settings = stored_policies(connection).settings_at(PUBLISHING, at_ms)
            proposals = tuple(row["proposal"] for row in queries.fetch_dicts(connection, queries.OPEN_PROPOSALS, ()))
        for row in rows:
            if abs(row.shown) > MAX_WHOLE:
                scheme = rated_by.eras[rated_by.era_at(at_ms)].scheme.name
                words = (
                    f"gives player {row.player} the rating {row.rating:g}, which no list can show; see to its settings"
                )
                raise ProjectionError(scheme, words)
        since_ms = active_from_ms(settings, at_ms)
        active_from = None if since_ms == BEGINNING else instant_text(since_ms, Precision.DAY)
        return PublicationDraft(
            rated_by,
            at_ms,
            head,
            rows_by_player(rows),
            list_texts(rows),
            settings["largest_jump"],
            active_from,
            proposals,
        )

    def _event(self, draft: PublicationDraft, as_of: str, now_ms: int) -> ListPublished:
        scheme = draft.pool.eras[draft.pool.era_at(draft.at_ms)].scheme
        editions = [publication.event.edition for publication in self._editions(draft.pool.name, as_of)]
        event = ListPublished(
            pool=draft.pool.name,
            as_of=as_of,
            edition=max(editions, default=0) + 1,
            head=draft.head,
            root=self.ledger.journal.root_at(draft.head).hex(),
            digest=draft.kept.digest,
            players=len(draft.rows),
            scheme=scheme.name,
            scheme_version=scheme.version,
            arithmetic=arith.VERSION,
        )
        self._check_past(event.key, as_of, now_ms)
        return event

    @staticmethod
    def _check_past(key: str, as_of: str, now_ms: int) -> None:
        if instant_end_ms(as_of) > now_ms + rules.FUTURE_SLACK_MS:
            raise RejectedError(
                "ended-in-the-future",
                key,
                f"the list is of {as_of}, but it is {rules.recorded_text(now_ms)} now; check the date and this "
                "machine's clock",
            )

    def complaints(self, draft: PublicationDraft) -> list[Complaint]:
        """Return the suspicious features of a list to be published, compared with the list before it."""
        before = self.list_in_force_at(draft.pool.name, draft.at_ms)
        complaints = [open_proposal_complaint(proposal) for proposal in draft.open_proposals]
        complaints += self._last_day_complaints(draft)
        complaints += duplicate_names(draft.rows, self.ledger.people.by_number)
        complaints += implausible_ratings(draft.rows, draft.pool.eras[draft.pool.era_at(draft.at_ms)].scheme)
        listed = set() if before is None else {row.player for row in self.rows(before)}
        complaints += misspelt_names(draft.rows, self.ledger.people.by_number, listed)
        if before is not None and listed and not draft.rows:
            complaints.append(Complaint(EMPTY, (), f"nobody is on the list, and {len(listed):,} are on {before.name}"))
        elif before is not None:
            rows = rows_by_player(self.rows(before))
            by_rule = partial(self._departure_by_rule, draft)
            complaints += jumps_and_departures(draft.rows, rows, before.name, draft.largest_jump, by_rule)
        return complaints

    def _last_day_complaints(self, draft: PublicationDraft) -> Iterator[Complaint]:
        """Yield the note that a list is of the last day of a rating period, or that its period has a list of that day.

        The list of the last day and that of the day after are one list: they count the same games.
        """
        ends_period = draft.pool.next_closing(draft.at_ms) == draft.at_ms
        last_ms = draft.at_ms if ends_period else draft.at_ms - DAY_MS
        if draft.pool.next_closing(last_ms) != last_ms:
            return
        last, first = (instant_text(ms, Precision.DAY) for ms in (last_ms, last_ms + 1))
        other = self._editions(draft.pool.name, first if ends_period else last)
        words = f"a rating period ends on {last}; its list is usually that of {first}"
        if other:
            name = max(other, key=lambda publication: publication.position).name
            words = f"the list of {last} and that of {first} are one list, which is published as {name}"
            yield Complaint(
                LAST_DAY, (), f"{words}: leave this one out, and publish corrections as editions of that one"
            )
        elif ends_period:
            yield Complaint(LAST_DAY, (), f"{words}: publish that one instead")

    def _departure_by_rule(self, draft: PublicationDraft, row: ListRow) -> Complaint | None:
        """Return the note about a player whom a rule of the pool keeps off a list, by the row of the list before."""
        home = draft.pool.eras[draft.pool.era_at(draft.at_ms)].federation
        federation = None if home is None else federation_at(self.ledger.views.connection, row.player, draft.at_ms)
        if federation not in {None, home}:
            return Complaint(TRANSFERRED, (row.player,), f"belongs to {federation}, and leaves the lists of {home}")
        if draft.active_from is not None and (row.last_game or "") <= draft.active_from:
            games = f"since {row.last_game}" if row.last_game else "yet"
            return Complaint(INACTIVE, (row.player,), f"has no rated game {games}, and is kept off by 'publishing'")
        return None

    # -- what was published ----------------------------------------------------------------------------------------

    def all(self, pool: str | None = None) -> list[Publication]:
        """Return the published lists of one pool or of all pools, by pool, instant, and order of publishing."""
        # a pool's name ends with '@' in a key, and 'A' follows that
        first, after = (_FIRST, _AFTER) if pool is None else (f"{_FIRST}{pool}@", f"{_FIRST}{pool}A")
        return sorted(self._between(first, after), key=lambda each: (each.event.pool, each.at_ms, each.position))

    def last_editions(self) -> list[PublishedListKey]:
        """Return the last edition of the list of each pool and instant, for a preview."""
        # Later editions come later, and take the place of earlier ones.
        last = {(publication.event.pool, publication.at_ms): publication for publication in self.all()}
        return [PublishedListKey(publication.name, pool, at_ms) for (pool, at_ms), publication in last.items()]

    def _editions(self, pool: str, as_of: str) -> list[Publication]:
        # what follows is a number, and ':' follows '9'
        first = f"{_FIRST}{pool}@{as_of}/"
        # Keys come in the order of text, in which edition 10 comes before edition 2.
        return sorted(self._between(first, f"{first}:"), key=lambda each: each.event.edition)

    def _last_edition(self, pool: str, as_of: str) -> Publication | None:
        return next(reversed(self._editions(pool, as_of)), None)

    def _between(self, first: str, after: str) -> Iterator[Publication]:
        keys = list(self.ledger.snapshot_journal.keys(first, after))
        for stored in self.ledger.snapshot_journal.find(keys).values() if keys else ():
            entry = decode(stored.body)
            if isinstance(entry.event, ListPublished):
                yield Publication(stored.position, entry.recorded_at, entry.actor, entry.event)

    def named(self, word: str) -> Publication:
        """Return the published list named ``POOL@INSTANT/EDITION``, or the last edition of ``POOL@INSTANT``.

        Raises:
            UnknownNameError: there is no such list.
        """
        pool, _, rest = word.removeprefix(_FIRST).partition("@")
        instant, divided, edition = rest.partition("/")
        of_pool = self.all(pool) if is_storable(word) else []
        named = [publication for publication in of_pool if publication.name == f"{pool}@{rest}"]
        # An instant may be written in several ways: 2024-02 and 2024-02-29 end at the same millisecond.
        if not divided:
            with suppress(MalformedError):
                end_ms = instant_end_ms(instant)
                named = [publication for publication in of_pool if publication.at_ms == end_ms]
        if not named or (divided and not edition):
            names = [publication.name for publication in self.all()]
            raise UnknownNameError(
                "published list", word, expected_names(word, names) if names else "none is published yet"
            )
        return max(named, key=lambda publication: publication.position)

    def at(self, pool: str, ms: int) -> Publication | None:
        """Return the last edition of a pool's list of exactly this instant in milliseconds; None if there is none."""
        # Of several editions the one that was published last, whose entry comes last.
        same = [publication for publication in self.all(pool) if publication.at_ms == ms]
        return max(same, key=lambda publication: publication.position, default=None)

    def list_in_force_at(self, pool: str, ms: int = MAX_WHOLE) -> Publication | None:
        """Return the list of a pool in force at an instant in milliseconds since 1970; None if there is none.

        It is the last edition of the latest list up to the instant.
        """
        earlier = [publication for publication in self.all(pool) if publication.at_ms <= ms]
        return max(earlier, key=lambda publication: (publication.at_ms, publication.position), default=None)

    def rows(self, publication: Publication) -> Iterator[ListRow]:
        """Return the rows of a published list, in order of the player numbers.

        Raises:
            CorruptError: the stored rows are missing, or are not those that were published.
        """
        return self._kept(publication).rows()

    def row(self, publication: Publication, player: int) -> ListRow | None:
        """Return a player's row of a published list; None if the player is not on the list.

        Raises:
            CorruptError: as for ``rows``.
        """
        return self._kept(publication).row(player)

    def restore_rows(self, publication: Publication, *, actor: str, progress: Progress = no_progress) -> None:
        """Calculate the rows of a published list again, from the entries from which it followed, and store them.

        Raises:
            CorruptError: they are not those that were published: another version made them, or something is false.
            UnknownNameError: the scheme is not installed.
        """
        event = publication.event
        with open_views_known_at(self.ledger.path, (), self.ledger.snapshot_journal, event.head, progress) as past:
            pool = next(pool for pool in stored_pools(past.connection) if pool.name == event.pool)
            # Earlier releases kept rows in another form: it is the published digest that says in which.
            form = form_of_list(past.connection, pool, publication.at_ms, event.digest)
            rows = rating_list_at(past.connection, pool, publication.at_ms, form=form or FORM)
        kept = list_texts(rows, form or FORM)
        if form is None:
            raise CorruptError(
                str(self.ledger.path),
                publication.position,
                f"published rows with the digest {event.digest}, the entries before give {kept.digest} here: 'audit "
                "--lists' tells whether another version of the program made them",
            )

        def gate(writer: Writer, now_ms: int) -> Sequence[Event]:  # noqa: ARG001  # nothing is recorded
            writer.store_texts(kept.frames())
            return ()

        self.ledger._record_judged(gate, actor)

    def _kept(self, publication: Publication) -> StoredList:
        journal, event = self.ledger.snapshot_journal, publication.event
        return StoredList(journal, str(self.ledger.path), publication.position, event.digest)


# --- suspicious features of a list before it is published ---------------------------------------------------

JUMP, VANISHED, IMPLAUSIBLE, OPEN_PROPOSAL = "jump", "vanished", "implausible", "open-proposal"
INACTIVE, TRANSFERRED, LAST_DAY = "inactive", "transferred", "last-day"
EMPTY = "empty"
NAME_TWICE, NAME_SHARED, NAME_MISSPELT = "name-twice", "name-shared", "name-misspelt"
ONLY_NOTED = frozenset(
    {NAME_SHARED, NAME_MISSPELT, INACTIVE, TRANSFERRED, LAST_DAY}
)  # complaints in spite of which a list is published


class Complaint(NamedTuple):
    """A suspicious feature of a list before it is published.

    Attributes:
        what: the kind of feature, such as ``jump``; those of ``ONLY_NOTED`` refuse nothing.
        players: the numbers of the players that it concerns.
        text: a text without names of people; about a player, the words that follow the name.
    """

    what: str
    players: tuple[int, ...]
    text: str

    def __str__(self) -> str:
        """Return one line without names."""
        return f"player {self.players[0]} {self.text}" if self.players else self.text


Rows = Mapping[int, ListRow]


def jumps_and_departures(
    rows: Rows,
    before: Rows,
    last: str,
    largest_jump: float,
    by_rule: Callable[[ListRow], Complaint | None] = lambda _: None,
) -> Iterator[Complaint]:
    """Yield a complaint for each player whose rating jumps since the list before, or who is missing from the new list.

    Args:
        rows: the list, by player.
        before: the list before.
        last: the name of the list before.
        largest_jump: the limit of a change, points.
        by_rule: returns the note about a player who left by a rule, by the row of the list before; None if none did it.
    """
    for player, row in sorted(before.items()):
        now = rows.get(player)
        if now is None:
            words = f"was on {last} with {row.shown}, and is not on this list"
            yield by_rule(row) or Complaint(VANISHED, (player,), words)
        elif abs(now.rating - row.rating) > largest_jump:
            points = f"{abs(now.rating - row.rating):.0f} points from {row.shown} on {last} to {now.shown}"
            yield Complaint(JUMP, (player,), f"jumps {points}, more than the limit of {largest_jump:g}")


def implausible_ratings(rows: Rows, scheme: Scheme) -> Iterator[Complaint]:
    """Yield complaints about ratings beyond the scheme's plausible range, in order of the player numbers."""
    low, high = scheme.plausible
    for player, row in sorted(rows.items()):
        if not low <= row.rating <= high:
            words = (
                f"has the rating {row.shown}, beyond {low:g} to {high:g}, by {scheme.name!r}; its settings may bound it"
            )
            yield Complaint(IMPLAUSIBLE, (player,), words)


def open_proposal_complaint(proposal: int) -> Complaint:
    """Return a complaint about a correction that is not decided yet."""
    return Complaint(OPEN_PROPOSAL, (), f"correction {proposal} is proposed, and nobody has decided it yet")


def duplicate_names(rows: Rows, people: Callable[[list[int]], Mapping[int, Person]]) -> Iterator[Complaint]:
    """Yield complaints about listed players with the same name, ignoring case, accents and the order of its words.

    If one register or server gave each a number, they are several people, which is only noted.
    """
    bearers: dict[str, list[Person]] = {}
    for person in people(sorted(rows)).values():
        if person.name is not None:
            # A name of signs alone folds to no words: it is compared unchanged.
            name = " ".join(sorted(folded(person.name).words)) or person.name
            bearers.setdefault(name, []).append(person)
    for same in bearers.values():
        first, *others = sorted(same)
        if others:
            numbers = tuple(person.player for person in (first, *others))
            words = f"has the name of player {', '.join(map(str, numbers[1:]))}, too"
            pairs = combinations((person.identity or "" for person in same), 2)
            apart = all(are_different_people(identity, other) for identity, other in pairs)
            yield Complaint(NAME_SHARED if apart else NAME_TWICE, numbers, words)


def misspelt_names(
    rows: Rows, people: Callable[[list[int]], Mapping[int, Person]], listed: set[int]
) -> Iterator[Complaint]:
    """Yield complaints about new players on a list whose name is another player's with one letter changed.

    Args:
        rows: the list, by player.
        people: a function that returns the persons with some player numbers.
        listed: the players on the list before it.
    """
    named = {person.identity: person for person in people(sorted(rows)).values() if person.identity and person.name}
    for pair in similar_name_pairs({str(identity): str(person.name) for identity, person in named.items()}):
        # the newer one first
        numbers = sorted((named[identity].player for identity in pair), reverse=True)
        if not listed.issuperset(numbers):
            words = f"has the name of player {numbers[1]} with one letter changed; if misspelt, merge them"
            yield Complaint(NAME_MISSPELT, tuple(numbers), words)
