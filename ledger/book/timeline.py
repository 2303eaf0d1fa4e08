"""A pool's timeline: its eras, each with a scheme; the positions of games in rating order; states carried over eras.

An *era* begins when a ``scheme-adopted`` takes effect and ends when the next one does. A game belongs to the era of its
place in rating order. If the scheme rates games by themselves, that place is the game's end; if it rates whole periods
or events, the closing of the batch; if it rates tournaments whole, the period in which the tournament was over. If the
next era rates them whole, too, that period may be the next era's, and then all games of the tournament belong to it.
Nothing is read or written.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, NamedTuple

import attrs

from ledger.book.late_reports import (
    NO_LISTS,
    Announced,
    KnownEdition,
    PublishedLists,
    ReportedEdition,
    editions_as_reported,
)
from ledger.book.whole_tournaments import (
    Announcements,
    Edition,
    first_closing_from,
    group_into_editions,
    single_game_edition,
)
from ledger.facts import periods
from ledger.facts.events import ConversionRange
from ledger.facts.periods import DAY_MS, OPEN, Calendar
from ledger.facts.words import Carry, LateReports
from ledger.runtime.lazy import np
from ledger.schemes import scheme
from ledger.schemes.scheme import (
    FEDERATION,
    FROM_POOL,
    FROM_SHOWN,
    LATE_REPORTS,
    STANDING_GUEST,
    STANDING_WELCOMER,
    Newcomer,
    Rhythm,
    Scheme,
    When,
    always_listed,
)

# Before any game, milliseconds; half of what 64 bits hold, so that days may still be taken away.
BEGINNING = -(2**62)


@attrs.frozen(eq=False)
class Era:
    """A scheme period: the time in which one scheme with one set of settings rates a pool.

    Attributes:
        since_ms: its first millisecond; ``BEGINNING`` for the first era.
        since: the same as the event wrote it; empty for the first era.
        scheme: the scheme that rates its games.
        numbers: the settings as kernels take them.
        settings: the settings as the event has them.
        carry: how a player's rating is carried into it.
        conversion: for ``convert``: the linear maps by rating.
        position: of the event in the journal.
    """

    since_ms: int
    since: str
    scheme: Scheme
    numbers: Any
    settings: Mapping[str, int | bool | str]
    carry: Carry
    conversion: tuple[ConversionRange, ...]
    position: int

    @property
    def from_shown(self) -> bool:
        """True if new players begin with the rating that the source shows for their first rated game."""
        return bool(self.settings.get(FROM_SHOWN))

    @property
    def from_pool(self) -> str | None:
        """The name of the pool with whose rating new players begin; None if they begin without."""
        name = self.settings.get(FROM_POOL)
        return None if name is None else str(name)

    @property
    def by_next_list(self) -> bool:
        """True if a game that is reported after its list was published counts in the next list."""
        return self.settings.get(LATE_REPORTS) == LateReports.NEXT_LIST

    @property
    def federation(self) -> str | None:
        """The federation whose pool it is, so that players of others are guests; None: nobody is a guest."""
        federation = self.settings.get(FEDERATION)
        return federation if isinstance(federation, str) else None

    def standings(self, white: int, black: int, tournament: str | None) -> tuple[int, int]:
        """Return both membership statuses as the scheme's ``refuse`` takes them in a game of a tournament."""
        # ChessWorld's playing FAQ: guests play unrated, but in guest tournaments and with Welcomers.
        if STANDING_GUEST in {white, black} and tournament and self.scheme.welcomes(tournament, self.numbers):
            return STANDING_WELCOMER, STANDING_WELCOMER
        return white, black

    def converted(self, rating: float) -> float:
        """Return a converted rating, by the map of the last range that begins at or below it."""
        chosen = self.conversion[0]
        for conversion in self.conversion:
            if conversion.from_rating is None or float(conversion.from_rating) <= rating:
                chosen = conversion
        return float(chosen.factor) * rating + float(chosen.offset)


def same_terms(old: Era, new: Era) -> bool:
    """Return whether a player's state means the same in both eras: one scheme, and periods of one length.

    A state that knows which rating was in force when counts in days: it stays whole where tournaments are rated whole.
    """
    if old.scheme.name != new.scheme.name:
        return False
    if old.scheme.rhythm is not Rhythm.PERIOD:
        return True
    before, after = old.scheme.calendar(old.numbers), new.scheme.calendar(new.numbers)
    return before == after or (old.scheme.in_force is not None and (before.by_event or after.by_event))


NewPlayerAt = Callable[[int], Newcomer]

LISTS_KEPT = 2  # lists before the present one whose ratings a scheme may ask for that rates tournaments whole
NO_BATCH = ""  # the batch of a game that is rated by itself, or of a whole period


class Place(NamedTuple):
    """The position of a game in rating order.

    Attributes:
        rated_ms: its instant, milliseconds.
        batch: the name of the games that are rated together there.
        began_ms: first millisecond of its tournament, where tournaments are rated whole; None where that is the day on
            which it ended.
    """

    rated_ms: int
    batch: str
    began_ms: int | None = None


class ListRating(NamedTuple):
    """A list rating of a player who has played: its first millisecond, and the facts about the player then."""

    ms: int
    who: Newcomer


class EraState(NamedTuple):
    """A player's state at the end of an era: the era's index, the scheme's state, the number of rated games."""

    era: int
    state: tuple[float, ...]
    games: int


@attrs.frozen(eq=False)
class Pool:
    """A rating pool with its timeline.

    Attributes:
        pool: number in the views.
        name: its name.
        eras: at least one, in order of ``since_ms``.
        runs: last milliseconds of the closed rating periods, ascending.
        closed: by name of a tournament, the last milliseconds of its editions, ascending.
        opened: by name of a tournament, the first and last milliseconds of its announced editions, ascending.
        published: its published lists.
        announced: by name of a tournament, its announcements with their entries; only in a pool with ``by_next_list``.
    """

    pool: int
    name: str
    eras: tuple[Era, ...]
    runs: tuple[int, ...] = ()
    closed: Mapping[str, tuple[int, ...]] = attrs.field(factory=dict)
    opened: Mapping[str, tuple[tuple[int, int], ...]] = attrs.field(factory=dict)
    published: PublishedLists = NO_LISTS
    announced: Mapping[str, tuple[Announced, ...]] = attrs.field(factory=dict)

    @property
    def scheme(self) -> Scheme:
        """The scheme of the last era."""
        return self.eras[-1].scheme

    @property
    def numbers(self) -> Any:
        """The settings of the last era."""
        return self.eras[-1].numbers

    @cached_property
    def restarts(self) -> tuple[int, ...]:
        """For each era, the index of the last era up to it in which ratings restarted; 0 if there was none."""
        places = [0]
        for place, era in enumerate(self.eras[1:], 1):
            places.append(place if era.carry is Carry.RESTART else places[-1])
        return tuple(places)

    @property
    def by_runs(self) -> bool:
        """True if some era's rating periods end when they are closed, not with a calendar."""
        return any(era.scheme.rhythm is Rhythm.PERIOD and era.scheme.calendar(era.numbers).by_runs for era in self.eras)

    @cached_property
    def by_next_list(self) -> bool:
        """True if in some era a game that is reported after its list was published counts in the next list."""
        return any(era.by_next_list for era in self.eras)

    @cached_property
    def has_guests(self) -> bool:
        """True if in some era players of other federations are guests."""
        return any(era.federation is not None for era in self.eras)

    @cached_property
    def by_event(self) -> bool:
        """True if some era rates tournaments whole, in the period in which they were over."""
        return any(calendar.by_event for calendar in self._calendars)

    @cached_property
    def reach_ms(self) -> int:
        """The longest time in milliseconds over which one game of a tournament may change when another is rated."""
        spans = (each.gap + max(each.longest, each.first_day) for each in self._calendars if each.by_event)
        days = (int(span) + 1 for span in spans)
        return max(days, default=0) * DAY_MS

    @cached_property
    def _calendars(self) -> tuple[Calendar, ...]:
        """By era, its calendar of rating periods, which means nothing for schemes that do not rate by period."""
        return tuple(
            era.scheme.calendar(era.numbers) if era.scheme.rhythm is Rhythm.PERIOD else Calendar() for era in self.eras
        )

    @cached_property
    def state_fields(self) -> tuple[str, ...]:
        """The names of all state fields of the eras' schemes, in order of first use."""
        return tuple(dict.fromkeys(name for era in self.eras for name in era.scheme.state))

    @cached_property
    def from_pools(self) -> frozenset[str]:
        """The names of the pools with whose ratings new players begin, under any era."""
        return frozenset(era.from_pool for era in self.eras if era.from_pool is not None)

    @cached_property
    def by_game(self) -> bool:
        """True if every era rates each game by itself."""
        return all(era.scheme.rhythm is Rhythm.GAME for era in self.eras)

    @cached_property
    def lists_everybody(self) -> bool:
        """True if every era's scheme lists every player with a game."""
        return all(era.scheme.listed is always_listed for era in self.eras)

    def next_closing(self, ms: int) -> int | None:
        """Return the last millisecond, from an instant on, before a list of a calendar's period is in force.

        None if games are not rated by period, or if rating runs are closed.
        """
        era = self.era_at(ms)
        calendar = self._calendars[era]
        if self.eras[era].scheme.rhythm is not Rhythm.PERIOD or calendar.by_runs:
            return None
        return periods.listing(periods.listed(ms, calendar, self.runs), calendar, self.runs)

    def rates_single_games_at(self, rated_ms: int) -> bool:
        """Return whether games whose rating time is *rated_ms* are each rated by itself."""
        return self.eras[self.era_at(rated_ms)].scheme.rhythm is Rhythm.GAME

    @property
    def schemes(self) -> tuple[Scheme, ...]:
        """The scheme of each era."""
        return tuple(era.scheme for era in self.eras)

    def fits_from(self, ms: int) -> bool:
        """Return whether a scheme that fits all games is in force at an instant or later."""
        return any(scheme.fit is not None for scheme in self.schemes[self.era_at(ms) :])

    def era_at(self, ms: int) -> int:
        """Return the index of the era of an instant.

        The era of a game's place in rating order rates the game.
        """
        # to the right: the first millisecond of an era is its own
        place = bisect_right(self._begins, ms) - 1
        return max(place, 0)

    def eras_at(self, ms: Any) -> Any:
        """Return ``era_at`` of each instant of an int64 array."""
        return np.maximum(np.searchsorted(np.asarray(self._begins, np.int64), ms, side="right") - 1, 0)

    @cached_property
    def _begins(self) -> list[int]:
        return [era.since_ms for era in self.eras]

    def _last_ms(self, era: int) -> int:
        """Return the last millisecond of an era."""
        return self.eras[era + 1].since_ms - 1 if era + 1 < len(self.eras) else OPEN

    @cached_property
    def _whole_until(self) -> tuple[int, ...]:
        """By era, the last one to which a tournament may cross from it; itself if it cuts tournaments at its end."""
        # from the end: an era that is followed by another of its kind reaches as far as that one does
        until = list(range(len(self.eras)))
        for era in reversed(range(len(until) - 1)):
            after = self.era_at(self._last_ms(era) + 1)
            if self._calendars[era].by_event and self._calendars[after].by_event:
                until[era] = until[after]
        return tuple(until)

    @cached_property
    def tournaments_cross_eras(self) -> bool:
        """True if a tournament may be rated in a later era than the one in which some of its games ended."""
        return self._whole_until != tuple(range(len(self.eras)))

    def announcements(self, tournament: str) -> Announcements:
        """Return the announcements of a tournament's editions."""
        return Announcements(self.closed.get(tournament, ()), self.opened.get(tournament, ()))

    def editions(
        self, tournament: str, ends: Sequence[int], announced: Announcements | None = None
    ) -> dict[int, Edition]:
        """Return the editions of a tournament that is rated whole, by end of a game.

        A change from or to a scheme that does not rate tournaments whole parts them.

        Args:
            tournament: its name.
            ends: when its games ended, ascending: all of them, or of a tournament without announcements those within
                ``reach_ms`` of the games that are asked for.
            announced: the announcements that count; by default all of the tournament.
        """
        announced = self.announcements(tournament) if announced is None else announced
        by_end: dict[int, Edition] = {}
        begins: dict[int, int] = {}  # by last era of those on end that rate tournaments whole, when the first begins
        # Eras on end that rate tournaments whole share the editions: a tournament may cross from one to the next.
        for era, until in enumerate(self._whole_until):
            if self._calendars[era].by_event:
                begins.setdefault(until, self.eras[era].since_ms)
        for until, since_ms in begins.items():
            first, last = bisect_left(ends, since_ms), bisect_right(ends, self._last_ms(until))
            by_end |= group_into_editions(ends[first:last], self.gap_before, announced)
        return by_end

    def reported_editions(self, tournament: str, games: Sequence[tuple[int, int]]) -> dict[int, KnownEdition]:
        """Return ``editions``, each as it was known after each published list, of games by end and position."""
        return editions_as_reported(
            games, self.announced.get(tournament, ()), self.published, partial(self.editions, tournament)
        )

    def gap_before(self, end: int) -> float:
        """Return the number of days without a game that do not end an edition, before a game that ended then; or 0."""
        return self._calendars[self.era_at(end)].gap

    def place(
        self,
        ended_ms: int,
        tournament: str | None,
        edition: KnownEdition | None = None,
        position: int | None = None,
    ) -> Place:
        """Return the position of a game in rating order.

        Args:
            ended_ms: when it ended.
            tournament: the name of its tournament.
            edition: its tournament; without one it is alone in it.
            position: of the entry that recorded it; None: it was reported before its list was published.
        """
        lists = 0 if position is None or not self.by_next_list else self.published.before(position)
        while isinstance(edition, ReportedEdition):
            place = self._next_place(self._true_place(ended_ms, tournament, edition.after(lists)), lists)
            # A list that was published after the report has the game for good, whatever is reported later.
            if lists >= len(self.published) or place.rated_ms <= self.published.instants[lists]:
                return place
            lists += 1
        return self._next_place(self._true_place(ended_ms, tournament, edition), lists)

    def _next_place(self, place: Place, lists: int) -> Place:
        """Return the place of a game that was reported after so many lists: in the next one if its own is published."""
        published_ms = self.published.limits[lists]
        if place.rated_ms > published_ms or not self.eras[self.era_at(place.rated_ms)].by_next_list:
            return place
        era = self.era_at(published_ms + 1)
        if self.eras[era].scheme.rhythm is not Rhythm.PERIOD:  # a later scheme, which rates it as its next game
            return place._replace(rated_ms=published_ms + 1)
        calendar = self._calendars[era]
        number = periods.listed(published_ms + 1, calendar, self.runs)
        return place._replace(rated_ms=min(periods.listing(number, calendar, self.runs), self._last_ms(era)))

    def _true_place(self, ended_ms: int, tournament: str | None, edition: Edition | None) -> Place:
        """Return the position of a game in rating order that was reported before its list was published."""
        era = self.era_at(ended_ms)
        scheme, last = self.eras[era].scheme, self._last_ms(era)
        if scheme.rhythm is Rhythm.GAME:
            return Place(ended_ms, NO_BATCH)
        if scheme.rhythm is Rhythm.EVENT:
            return Place(min(self._event_end(ended_ms, tournament), last), tournament or NO_BATCH)
        calendar = self._calendars[era]
        if calendar.by_event:
            return self._whole(ended_ms, edition or single_game_edition(ended_ms))
        number = periods.number(ended_ms, calendar, self.runs)
        return Place(min(periods.listing(number, calendar, self.runs), last), NO_BATCH)

    def _event_end(self, ended_ms: int, tournament: str | None) -> int:
        """Return when the event of a game ends, for schemes that rate by event."""
        if tournament:
            announced = self.announcements(tournament)
            opened, closed = announced.editions(), first_closing_from(ended_ms, announced.closed)
            for edition in opened:
                if edition.first_ms <= ended_ms <= edition.last_ms:
                    return edition.last_ms
            # a closing behind the beginning of another edition is that one's
            if closed is not None and not any(ended_ms < edition.first_ms <= closed for edition in opened):
                return closed
        # an edition without a closing: its games of one month
        return periods.closing(periods.number(ended_ms, periods.MONTHLY), periods.MONTHLY)

    def _whole(self, ended_ms: int, edition: Edition) -> Place:
        """Return the place of a game whose tournament is rated whole, or by periods if it is too long for that."""
        era = self.era_at(ended_ms)
        until = self._whole_until[era]
        # One that was over too late for the last list before a change of scheme goes into the first list after it.
        while era < until and _over(edition.last_ms, self._calendars[era]) > self._last_ms(era):
            era = self.era_at(self._last_ms(era) + 1)
        calendar, last = self._calendars[era], self._last_ms(era)
        # What was over before this era began, too late for the last list of the one before, is of its first period; and
        # a scheme that rates otherwise cuts an edition that goes on.
        over = max(_over(min(edition.last_ms, last), calendar), self.eras[era].since_ms)
        number, began = periods.number(over, calendar, self.runs), edition.first_ms
        # Its ratings would be asked for long after the lists that a state keeps: each game goes where it ended.
        by_period = edition.days > calendar.longest or self._lists_between(began, era, number) > LISTS_KEPT
        of_first_day = edition.days <= calendar.first_day if calendar.first_day else not by_period
        if by_period:
            era = self.era_at(ended_ms)
            calendar, last = self._calendars[era], self._last_ms(era)
            number = periods.number(ended_ms, calendar, self.runs)
        if not of_first_day or (by_period and self._lists_between(began, era, number) > LISTS_KEPT):
            first = self._first_of_period(ended_ms)
            began = first if by_period else max(first, began)
        own_day = single_game_edition(ended_ms).first_ms
        listing = min(periods.listing(number, calendar, self.runs), last)
        return Place(listing, NO_BATCH, None if began == own_day else began)

    def _first_of_period(self, ended_ms: int) -> int:
        """Return the first millisecond of the period in which a game ended; of its day before the first closed run."""
        calendar = self._calendars[self.era_at(ended_ms)]
        first = periods.beginning(periods.number(ended_ms, calendar, self.runs), calendar, self.runs)
        return single_game_edition(ended_ms).first_ms if first is None else first

    def _lists_between(self, began_ms: int, era: int, number: int) -> int:
        """Return how many lists came into force from an instant on before the list of a period of *era*."""
        lists, first = 0, self.era_at(began_ms)
        for earlier in range(first, era):
            calendar, last = self._calendars[earlier], self._last_ms(earlier)
            begin = max(began_ms, self.eras[earlier].since_ms)
            # what is open when the scheme changes is a list, too
            if calendar.by_event and begin <= last:
                lists += 1 + periods.listed(last, calendar, self.runs) - periods.listed(begin, calendar, self.runs)
        begin = max(began_ms, self.eras[era].since_ms)
        return lists + number - periods.listed(begin, self._calendars[era], self.runs)

    def places(
        self,
        ended_ms: Any,
        tournament: Sequence[str | None],
        editions: Mapping[str, Mapping[int, KnownEdition]] | None = None,
        position: Any = None,
    ) -> tuple[Any, list[str], list[int | None]]:
        """Return the positions of games in rating order as columns: an int64 array, and two lists.

        Args:
            ended_ms: an int64 array.
            tournament: the name of each game's tournament; read only where a scheme goes by it.
            editions: by name and end of a game, the editions of tournaments that are rated whole.
            position: an int64 array of the entries that recorded them; None: before any list was published.
        """
        by_tournament: Mapping[Any, Mapping[int, KnownEdition]] = editions or {}
        rated_ms, batch = ended_ms.copy(), [NO_BATCH] * len(ended_ms)
        began: list[int | None] = [None] * len(ended_ms)
        if self.by_game:
            return rated_ms, batch, began
        eras = self.eras_at(ended_ms)
        # By the number of lists published before each report: most games share it, too.
        has_lists = position is not None and self.by_next_list and len(self.published) > 0
        lists = np.searchsorted(np.asarray(self.published.positions, np.int64), position) if has_lists else None
        for number, era in enumerate(self.eras):
            games = np.flatnonzero(eras == number)
            calendar = self._calendars[number]
            if era.scheme.rhythm is Rhythm.PERIOD and not calendar.by_event:
                listing = periods.listings(ended_ms[games], calendar, self.runs)
                rated_ms[games] = np.minimum(listing, self._last_ms(number))
                if lists is not None:
                    limits = np.asarray(self.published.limits, np.int64)[lists[games]]
                    for game in games[rated_ms[games] <= limits].tolist():
                        rated_ms[game] = self._next_place(Place(int(rated_ms[game]), NO_BATCH), int(lists[game]))[0]
            elif era.scheme.rhythm is not Rhythm.GAME:
                cache: dict[tuple[int, str | None, int], Place] = {}  # most games share event and day
                turns = [0] * len(games) if lists is None else lists[games].tolist()
                for game, ms, turn in zip(games.tolist(), ended_ms[games].tolist(), turns, strict=True):
                    played = (ms, tournament[game], turn)
                    if played not in cache:
                        edition = by_tournament.get(tournament[game], {}).get(ms)
                        entry = None if lists is None else int(position[game])
                        cache[played] = self.place(ms, tournament[game], edition, entry)
                    rated_ms[game], batch[game], began[game] = cache[played]
        return rated_ms, batch, began

    def when(self, era: int, rated_ms: int, ended_ms: int) -> When:
        """Return the time of a batch as kernels take it; an open rating period counts as closed with its last game."""
        scheme = self.eras[era].scheme
        period = 0
        if scheme.rhythm is Rhythm.PERIOD:
            period = periods.listed(rated_ms, self._calendars[era], self.runs)
        return When(float(period), (ended_ms if rated_ms == OPEN else rated_ms) / DAY_MS)

    def carry_state(
        self, left: EraState, era: int, who: NewPlayerAt, lists: Sequence[ListRating] = ()
    ) -> tuple[float, ...]:
        """Return the state with which a player enters *era*, after each change of scheme in between.

        Args:
            left: the player's state in an earlier era.
            era: place of the era.
            who: returns the facts about the player, apart from the games, at an instant, milliseconds.
            lists: the list ratings of the player that came into force since, in order.
        """
        return self.carry_and_restart(left, era, who, lists)[0]

    def carry_and_restart(
        self, left: EraState, era: int, who: NewPlayerAt, lists: Sequence[ListRating] = ()
    ) -> tuple[tuple[float, ...], Newcomer | None]:
        """Return the state with which a player enters *era*, and the new player as which it restarts; or None.

        A player restarts if a change of scheme says so, or if the older scheme gave no rating yet, and stays
        a new player over further changes until the next game or list.
        """
        state, newcomer, listed = left.state, None, 0
        # One change after the other: a map of ratings is stated from one scheme to the next, not over several.
        for to in range(left.era + 1, era + 1):
            # From its day on a list counts in the scheme in force then: one of the very day of a change comes after it.
            while listed < len(lists) and lists[listed].ms < self.eras[to].since_ms:
                state, newcomer, listed = self._relisted(to - 1, state, lists[listed]), None, listed + 1
            state, begun = self._over(to, state, left.games, who)
            newcomer = newcomer if begun is None else begun
        for later in lists[listed:]:
            state, newcomer = self._relisted(era, state, later), None
        return state, newcomer

    def _relisted(self, era: int, state: Sequence[float], later: ListRating) -> tuple[float, ...]:
        """Return the state of a player of an era from the day of a list on."""
        rated_by = self.eras[era]
        return rated_by.scheme.apply_list(self.at_time(era, state, later.ms), later.who, rated_by.numbers)

    def lists_until(self, rated_ms: int, first_ms: int) -> int:
        """Return the last instant whose list ratings a batch at *rated_ms* takes into account.

        A batch is rated with what is in force when its player's first game in it ends, *first_ms*. A scheme that knows
        which rating was in force when, and rates tournaments whole, takes all lists up to its place: it looks back by
        itself.
        """
        era = self.era_at(rated_ms)
        looks_back = self.eras[era].scheme.in_force is not None and self._calendars[era].by_event
        return rated_ms if looks_back and rated_ms != OPEN else first_ms

    def _over(
        self, to: int, state: tuple[float, ...], games: int, who: NewPlayerAt
    ) -> tuple[tuple[float, ...], Newcomer | None]:
        """Carry a state over one change of scheme, into era *to*; return the new player if it restarts."""
        old, new = self.eras[to - 1], self.eras[to]
        if new.carry is Carry.KEEP and same_terms(old, new):
            return state, None
        # a deviation that grows with time is carried with its value in the old scheme's last millisecond
        state = scheme.at_time(old.scheme, old.numbers, state, self.when(to - 1, new.since_ms - 1, new.since_ms - 1))
        newcomer = who(new.since_ms)
        # who has no rating yet has nothing that could be carried or converted
        if new.carry is Carry.RESTART or not old.scheme.is_listed(state, old.numbers):
            return new.scheme.begin(newcomer, new.numbers), newcomer
        rated = dict(zip(old.scheme.state, state, strict=True))
        rating = rated["rating"] if new.carry is Carry.KEEP else new.converted(rated["rating"])
        return new.scheme.carried(rating, rated.get("games", float(games)), newcomer, new.numbers), None

    def at_time(self, era: int, state: Sequence[float], ms: int) -> tuple[float, ...]:
        """Return a player's state of *era* as it is at an instant in milliseconds since 1970."""
        rated_by = self.eras[era]
        return scheme.at_time(rated_by.scheme, rated_by.numbers, state, self.when(era, ms, ms))


def _over(last_ms: int, calendar: Calendar) -> int:
    """Return the instant whose period a tournament belongs to that ended at *last_ms*."""
    if calendar.by_runs:  # a run says itself up to when it reaches
        return last_ms
    return min(last_ms + int(calendar.included) * DAY_MS, OPEN)
