"""The register of a ledger's players: registrations with their history, and later data.

Players come one by one here, and in lists of a million in ``player_lists``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import attrs

from ledger.book import initial_ratings, stored_proposals
from ledger.book.guests import home_federations, is_another_federation
from ledger.book.rules_by_keys import joined_in_the_future
from ledger.duplicates.game_keys import is_plain_hash
from ledger.duplicates.namesakes import Namesakes, namesakes
from ledger.errors import ConflictError, MalformedError, RejectedError, UnknownNameError
from ledger.facts.event_fields import MAX_PLAYER
from ledger.facts.events import (
    BirthYearLearnt,
    Event,
    FederationSet,
    PlayerChanged,
    PlayerRegistered,
    RatingSeeded,
    Role,
    StrengthChosen,
)
from ledger.facts.instants import Precision, instant_ms, instant_text
from ledger.facts.player_details import PlayerDetails
from ledger.facts.prior_ratings import PriorRating, name_faults, person_faults
from ledger.facts.words import Receipt, Standing, Strength
from ledger.handle import DEFAULT_ACTOR, OpenLedger
from ledger.journal import FindEntries, Writer, rules
from ledger.journal.transactions import Transaction
from ledger.players import erasing, renaming
from ledger.players.renaming import Renamed
from ledger.players.verified_names import (
    DECISIONS,
    AssignedNumbers,
    check_name,
    commitment_to,
    erasure_key,
    registration_key,
)
from ledger.ratings import queries
from ledger.recording.reported_tournaments import DetailsRecorder
from ledger.registering.player_lists import ListImport, PlayersReport, noted_faults
from ledger.runtime.calls import checked_methods

if TYPE_CHECKING:
    from polars import DataFrame


@attrs.frozen
class NewPlayer:
    """A player to register.

    Attributes:
        identity: the player's identity, such as ``fide:1503014``.
        name: the player's name.
        standing: membership status.
        declared_rating: the player's own word, points.
        birth_year: year of birth.
        joined: instant of joining, up to now; None: now.
        past: ratings and results from a list.
    """

    identity: str
    name: str
    standing: Standing = Standing.FULL
    declared_rating: int | None = None
    birth_year: int | None = None
    joined: str | None = None
    past: PriorRating | None = None


@attrs.frozen
class PlayerUpdate:
    """The outcome of a registration or of an update of a player.

    Attributes:
        player: the player's number.
        recorded: number of new entries.
        acts_in: names of the pools in which an initial rating takes effect, or may.
        passed_by: names of the pools in which it does not, for the first rated game was before it.
        until: day of a later list, whose rating replaces the recorded one from then on; None without.
        name: the present name of a player who was renamed, even if another one was given; else None.
    """

    player: int
    recorded: int
    acts_in: tuple[str, ...] = ()
    passed_by: tuple[str, ...] = ()
    until: str | None = None
    name: str | None = None


@checked_methods
@attrs.frozen
class Registry:
    """The register of one ledger's players: registers, renames, updates and erases them."""

    ledger: OpenLedger

    def add(
        self,
        identity: str,
        name: str,
        *,
        standing: Standing = Standing.FULL,
        declared_rating: int | None = None,
        birth_year: int | None = None,
        joined: str | None = None,
        past: PriorRating | None = None,
        actor: str,
        token: str | None = None,
    ) -> PlayerUpdate:
        """Register a player as ``add_many`` does."""
        new_player = NewPlayer(identity, name, standing, declared_rating, birth_year, joined, past)
        return self.add_many([new_player], actor=actor, token=token)[0]

    def add_many(self, players: Sequence[NewPlayer], *, actor: str, token: str | None = None) -> list[PlayerUpdate]:
        """Register players, with their history if given, in one transaction: all, or none.

        A player who is already registered keeps number and name. The given name must be the registered one. A renamed
        player may be given under any name, for the first name is forgotten.

        Raises:
            MalformedError: the journal may not hold a word or a number; each is named.
            RejectedError: an identity was registered with other facts, or a past comes after the first game.
            StorageError: the people file and the journal do not belong together.
        """
        actor = self.ledger.recorder_named(token, actor)
        if not players:
            return []
        registered_before = self.ledger.names.people().by_identity([player.identity for player in players])
        if problems := self._faults(players, registered_before.keys()):
            raise MalformedError(problems)
        now_ms = self.ledger.now_ms()
        for player in players:
            registered = registered_before.get(player.identity)
            # a registered player cannot have joined on another day
            if registered is not None and player.joined not in {None, registered.joined_at}:
                key = registration_key(registered.player)
                raise ConflictError(key, "joined_at", registered.joined_at, player.joined)
            if player.joined is not None:  # before any player gets a number
                refusal = joined_in_the_future(player.identity, player.joined, now_ms)
                if refusal is not None:
                    raise refusal
        if any(player.past is not None for player in players):
            # the views may be needed to judge a history: they are brought up to date before the lock
            self.ledger.ensure_up_to_date()
        numbered = AssignedNumbers({}, set(), set())
        batches: list[list[Event]] = []

        def gate(writer: Writer, _: int) -> list[Event]:
            # in one transaction with their entries, if names and journal are in one database
            for joined in dict.fromkeys(player.joined for player in players):
                named = {player.identity: player.name for player in players if player.joined == joined}
                # Some numbers at a time: players who are numbered together have one day of joining.
                of_one_day = self.ledger.names.assign_numbers(named, joined or instant_text(now_ms), writer.find)
                numbered.persons.update(of_one_day.persons)
                numbered.registered.update(of_one_day.registered)
                numbered.renamed.update(of_one_day.renamed)
            batches.extend(self._registration(player, numbered, writer.find) for player in players)
            return [event for events in batches for event in events]

        # Receipts come in the order of the events, so that each player takes as many as it has events.
        with self.ledger.names.registering():
            receipts = iter(self.ledger._record_judged(gate, actor))
        learnt = []
        for player, events in zip(players, batches, strict=True):
            recorded = sum(not next(receipts).duplicate for _ in events)
            person = numbered.persons[player.identity]
            renamed = person.player in numbered.renamed
            learnt.append(PlayerUpdate(person.player, recorded, name=person.name if renamed else None))
        return learnt

    def _faults(self, players: Sequence[NewPlayer], registered: Collection[str]) -> list[str]:
        """Return the faults in the words and numbers of players; of several, with the place of each."""
        problems: list[str] = []
        names: dict[str, str] = {}
        for place, player in enumerate(players, 1):
            faults = person_faults(player.identity, player.name, is_new=player.identity not in registered)
            with noted_faults(faults):
                # Made only for its refusals; number, instant and commitment are placeholders.
                PlayerRegistered(
                    player=1,
                    joined_at=player.joined or "2000",
                    standing=player.standing,
                    declared_rating=player.declared_rating,
                    birth_year=player.birth_year,
                    commitment="0" * 64,
                )
            if player.past is not None:
                with noted_faults(faults):
                    player.past.seed(1, self.ledger.first_pool())
            if names.setdefault(player.identity, player.name) != player.name:
                faults.append(f"{player.identity!r} is {names[player.identity]!r} before; correct one @ $.name")
            problems += faults if len(players) == 1 else [f"player {place}: {fault}" for fault in faults]
        return problems

    def _registration(self, player: NewPlayer, numbered: AssignedNumbers, find: FindEntries) -> list[Event]:
        """Return the events to record for a player who has a number.

        Raises:
            RejectedError: the identity was registered with another name.
        """
        person = numbered.persons[player.identity]
        commitment = commitment_to(person)
        # the registration committed to a name that is forgotten
        if person.player in numbered.renamed:
            key = registration_key(person.player)
            commitment = rules.facts_of(find([key])[key])["commitment"]
        else:
            check_name(person, player.name)
        event = PlayerRegistered(
            player=person.player,
            joined_at=person.joined_at,
            standing=player.standing,
            declared_rating=player.declared_rating,
            birth_year=player.birth_year,
            commitment=commitment,
        )
        return [event] if player.past is None else [event, player.past.seed(person.player, self.ledger.first_pool())]

    def rename(self, player: int, name: str, *, actor: str, token: str | None = None) -> Renamed:
        """Give a player another name: the right spelling, or the first one for a mere number.

        The identity stays, and so do games and ratings. The earlier name is forgotten. If the player has the name
        already, nothing is recorded.

        Raises:
            MalformedError: no player may have the name.
            RejectedError: no player is registered under the number, or the player is erased.
            StorageError: the people file and the journal do not belong together.
        """
        actor = self.ledger.recorder_named(token, actor)
        if problems := name_faults(name):
            raise MalformedError(problems)
        ledger = self.ledger
        return renaming.rename(ledger.journal, ledger.names.file, player, name, actor=actor, clock_ms=ledger.now_ms)

    def same_person(self, player: int) -> list[int]:
        """Return all numbers of the person who has a number, in their order: those merged with it among them."""
        if next(self.ledger.journal.keys(*DECISIONS), None) is None:  # no player was ever merged
            return [player]
        self.ledger.ensure_up_to_date()
        return stored_proposals.person_numbers(self.ledger.views.connection, player)

    def count_guessable_keys(self, player: int) -> int:
        """Return the number of a person's games with keys against which names can be tried, even after an erasure.

        An earlier release derived those keys from names without a secret; they stay, as every fact does.
        """
        self.ledger.ensure_up_to_date()
        numbers = json.dumps(self.same_person(player))
        return sum(
            is_plain_hash(row["key"])
            for row in queries.fetch_dicts(self.ledger.views.connection, queries.EVERY_KEY_OF, (numbers,))
        )

    def erase(self, player: int, *, actor: str, token: str | None = None) -> bool:
        """Erase identity, name and salt of a player for good, under all numbers of the person.

        Games and ratings stay under the numbers; the journal records that a player was erased, without any name.

        Returns:
            False if the numbers have no personal data any more; an erasure is recorded once.

        Raises:
            UnknownNameError: no player was ever registered under the number.
            RejectedError: this machine's clock is behind the journal, or somebody is an approver and *token* is no
                approver's; no player was erased.
            StorageError: a file refuses, another process reads the people file, or it still holds personal data.
        """
        ledger = self.ledger
        if ledger.tokens.is_role_issued(Role.APPROVER):
            claimed = None if actor == DEFAULT_ACTOR else actor
            actor = ledger.tokens.authenticate(token, claimed, Role.APPROVER, f"erase player {player}").name
        else:
            actor = ledger.recorder_named(token, actor)
        is_number = 1 <= player <= MAX_PLAYER
        # a player who is only in the people file, as after a crash, is erased as well
        if not is_number or not (ledger.journal.find([registration_key(player)]) or self._has_row(player)):
            raise UnknownNameError("player", str(player), "nobody was registered under this number")
        players = self.same_person(player)
        rows = ledger.names.file.by_number(players).values()
        names = {word for row in rows for word in (row.name, row.identity) if word is not None}
        # First: after the erasure no look-up can find the person's names in the log.
        if names:
            words = names | {name.partition(":")[2] or name for name in names}
            ledger.token_store.forget(words)
            ledger.imports.forget(words)
        return erasing.erase_persons(ledger.journal, ledger.names.file, players, actor=actor, clock_ms=ledger.now_ms)

    def _has_row(self, player: int) -> bool:
        return player in self.ledger.names.file.by_number([player])

    def learn(
        self,
        player: int,
        *,
        standing: Standing | None = None,
        declared_rating: int | None = None,
        birth_year: int | None = None,
        past: PriorRating | None = None,
        since: str | None = None,
        strength: Strength | None = None,
        pool: str | None = None,
        federation: str | None = None,
        actor: str,
        token: str | None = None,
    ) -> PlayerUpdate:
        """Record later data of a registered player: all of it, or nothing if a part is refused.

        Args:
            player: the number.
            standing: membership status, from *since* on.
            declared_rating: initial rating, points, from *since* on.
            birth_year: year of birth; it holds for all games.
            past: ratings and results from a list, with an instant of their own.
            since: an instant; None: today.
            strength: the strength that the player chooses, from *since* on; during the provisional games alone.
            pool: the pool of that strength; by default the first one.
            federation: the federation to which the player belongs from *since* on, three letters.
            actor: the submitter.
            token: authenticates the actor, if the role of a recorder is assigned.

        Raises:
            MalformedError: a value is none that the journal may hold.
            RejectedError: no player is registered under the number, another fact is recorded, or the initial rating
                holds from a day after the first game, so that it would have no effect.
        """
        actor = self.ledger.recorder_named(token, actor)
        news = self.events_to_learn(
            player,
            standing=standing,
            declared_rating=declared_rating,
            birth_year=birth_year,
            past=past,
            since=since,
            strength=strength,
            pool=pool,
            federation=federation,
        )
        return self.update_outcome(player, news, self.ledger._record(news, actor))

    def describe(
        self, player: int, details: PlayerDetails, *, since: str | None = None, actor: str, token: str | None = None
    ) -> bool:
        """Record data about a player that hold from an instant on; by default from today.

        The fields that are stated already are left out. The data are stored with the names and erased with them. In a
        ledger with guests the federation is recorded as a fact of its own, too, which stays: ratings depend on it.

        Returns:
            False if all of it was stated already.

        Raises:
            MalformedError: *since* is no instant.
            RejectedError: no player is registered under the number, or the player was erased, or the federation
                affects the past while four eyes are on.
            StorageError: the people file and the journal do not belong together.
        """
        ledger = self.ledger
        actor = ledger.recorder_named(token, actor)
        since = since or instant_text(ledger.now_ms(), Precision.DAY)
        problems: list[str] = []
        with noted_faults(problems):
            instant_ms(since)
        if problems:
            raise MalformedError(problems)
        ledger.names.people()  # compared with the journal before anything is stored in it
        ledger.catch_up_if_corrected()
        # first, for it may be refused
        new_federation = self._record_federation(player, details.federation, since, actor)
        with ledger.journal.writing() as writer:
            recorded_keys = writer.find([registration_key(player), erasure_key(player)])
            if registration_key(player) not in recorded_keys:
                raise rules.unknown_player(f"details:{player}", player)
            if erasure_key(player) in recorded_keys:
                message = f"player {player} was erased and has no data; register a person who returns as a new player"
                raise RejectedError("erased-player", f"details:{player}", message)
            transaction = Transaction.begin(writer, ledger.now_ms, actor)
            recorder = DetailsRecorder(transaction, ledger.current_facts, ledger.names)
            described = recorder.record({player: details}, since)
        return bool(described) or new_federation

    def _record_federation(self, player: int, federation: str | None, since: str, actor: str) -> bool:
        """Record a player's federation if the ledger has guests and it is another one; return whether it was."""
        home, registration = home_federations(self.ledger.pools()), registration_key(player)
        if federation is None or not home or registration not in self.ledger.journal.find([registration]):
            return False
        self.ledger.ensure_up_to_date()
        fact = FederationSet(player=player, effective_at=since, federation=federation)
        if not is_another_federation(self.ledger.views.connection, fact, home):
            return False
        return not self.ledger._record([fact], actor)[0].duplicate

    def events_to_learn(
        self,
        player: int,
        *,
        standing: Standing | None = None,
        declared_rating: int | None = None,
        birth_year: int | None = None,
        past: PriorRating | None = None,
        since: str | None = None,
        strength: Strength | None = None,
        pool: str | None = None,
        federation: str | None = None,
    ) -> list[Event]:
        """Return the events that ``learn`` would record, with its arguments.

        A known year of birth is left out.

        Raises:
            MalformedError: a value is none that the journal may hold.
        """
        self.ledger.ensure_up_to_date()
        since = since or instant_text(self.ledger.now_ms(), Precision.DAY)
        problems, events = list[str](), list[Event]()
        with noted_faults(problems):
            if birth_year not in {None, initial_ratings.birth_year(self.ledger.views.connection, player)}:
                events.append(BirthYearLearnt(player=player, birth_year=birth_year))
        with noted_faults(problems):
            if standing is not None or declared_rating is not None:
                views = self.ledger.views.connection
                word = standing or initial_ratings.standing_at(views, player, instant_ms(since))
                change = PlayerChanged(
                    player=player, effective_at=since, standing=Standing(word), declared_rating=declared_rating
                )
                events.append(change)
        with noted_faults(problems):
            if past is not None:
                events.append(past.seed(player, self.ledger.first_pool()))
        with noted_faults(problems):
            if strength is not None:
                of_pool = self.ledger.pool(pool).name
                events.append(StrengthChosen(player=player, pool=of_pool, effective_at=since, strength=strength))
        with noted_faults(problems):
            if federation is not None:
                events.append(FederationSet(player=player, effective_at=since, federation=federation))
        if problems:
            raise MalformedError(problems)
        return events

    def update_outcome(self, player: int, news: Sequence[Event], receipts: Sequence[Receipt]) -> PlayerUpdate:
        """Return the outcome of newly recorded facts of a player, by the views as they were before."""
        connection, begins, until = self.ledger.views.connection, list[initial_ratings.InitialRatingEffect](), None
        for event in filter(initial_ratings.has_initial_rating, news):
            begins += initial_ratings.effects_in_pools(connection, self.ledger.views.pools(), event)
            if isinstance(event, RatingSeeded):
                (pool,) = (pool for pool in self.ledger.views.pools() if pool.name == event.pool)
                until = initial_ratings.next_list(connection, pool, event)
        return PlayerUpdate(
            player,
            sum(not receipt.duplicate for receipt in receipts),
            tuple(begin.pool for begin in begins if begin.takes_effect),
            tuple(begin.pool for begin in begins if not begin.takes_effect),
            until,
        )

    def namesakes(self, new_players: Sequence[tuple[str, str]]) -> list[Namesakes]:
        """Return those of *new_players*, pairs of identity and name, who have the name of another player."""
        return namesakes(self.ledger.names.people(), new_players)

    def take_list(
        self,
        frames: Iterable[DataFrame],
        *,
        pool: str | None = None,
        further_pools: Mapping[str, str] | None = None,
        since: str | None = None,
        source: str | Mapping[str, str] | None = None,
        actor: str,
        token: str | None = None,
        faults_so_far: Callable[[], int] = lambda: 0,
        advance: Callable[[int], None] = lambda _: None,
        propose: Callable[[Sequence[Event]], object] | None = None,
        leave_out_late: bool = False,
        leave_out_faulty: bool = False,
        dry_run: bool = False,
    ) -> PlayersReport:
        """Register the players of a list with their history: all of them, or none if there is a fault.

        Args:
            frames: players in the columns of ``player_schema()``.
            pool: the pool that their ratings belong to; the ledger's first one by default.
            further_pools: of a combined list, the pool of each further kind of rating, ``rapid`` and ``blitz``, whose
                ratings the frames have in the columns of ``FURTHER_RATINGS``.
            since: from when these hold, if a row has no instant; None: from the beginning.
            source: name of the list, or by pool its name there.
            actor: the importer.
            token: authenticates the actor, if the role of a recorder is assigned.
            faults_so_far: returns the number of the importer's faults that prevent recording.
            advance: called with the number of players of each frame that was read.
            propose: called with the facts about registered players, for another person to approve, before new players
                are registered; None: these facts are recorded.
            leave_out_late: leave out ratings of registered players from a day after their first game, and list them in
                the report; else they are faults.
            leave_out_faulty: record the rows without a fault; else a fault anywhere leaves nothing recorded.
            dry_run: report what would be recorded; nothing is written.

        Raises:
            UnknownNameError: there is no such pool.
            MalformedError: an instant or a name that no event may hold.
            RejectedError: this machine's clock is behind the journal.
            StorageError: the people file and the journal do not belong together.
        """
        if not dry_run:
            actor = self.ledger.recorder_named(token, actor)
        self.ledger.ensure_up_to_date()
        pools = {each.name: each for each in self.ledger.pools()}
        by_kind = {"": self.ledger.first_pool() if pool is None else pool, **(further_pools or {})}
        for name in by_kind.values():
            if name not in pools:
                raise UnknownNameError("pool", name, f"expected one of {sorted(pools)}")
        job = ListImport(
            self.ledger,
            {kind: pools[name] for kind, name in by_kind.items()},
            since,
            source,
            actor,
            propose,
            leave_out_late=leave_out_late,
            leave_out_faulty=leave_out_faulty,
            dry_run=dry_run,
        )
        return job.take(frames, faults_so_far, advance)
