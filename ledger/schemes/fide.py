"""The FIDE rating system, standard or rapid and blitz, by the regulations in force when a period closes.

Source: FIDE Rating Regulations B.02 in their editions from 1999 to October 2025. The tables are in
``formulas.fide_rules``, with what changed when and the initial ratings; here is the course of a player from period to
period, with what the scheme keeps of one. A tournament is the games whose tournaments began at one moment.

Readings where the regulations speak of what a ledger does not know:

* Where tournaments are rated whole (``by_event``, so for new pools), everybody counts with the rating in force on the
  tournament's first day (8.2, RULES 1.4), whose rules hold for the difference of ratings; the change is added to the
  present rating, and rounded once for all tournaments of the period. Who had no rating then and has one now is rated
  with that, and does not count for opponents (8.2.4); who has lost it since is a newcomer. Of the ratings before the
  present one the last two are kept: enough for a month's lists. A tournament that began before more lists than that is
  rated period by period, as one that is too long.
* Elsewhere a batch is the tournament: its closing day replaces the day on which the tournament started, its games for
  the newcomer's first event, and its opponents' ratings are those with which they enter the batch.
* An unrated player has rating 0 and a pool of games; the pool lapses when its first batch is more than 26 months ago.
  A zero score is disregarded as long as nothing is pooled. An initial rating below the floor is not published, and
  the pool goes on.
* Who falls below the floor is unrated from the next list on and begins a new pool; the rated games of the past and
  the highest published rating still count for K.
* A declared rating below the floor is no rating. One at or above it is in force from the first game, which still
  is the first of the 30 with the K of a new player.
* A prediction takes the 400-point rule for both sides and an unrated player as a hypothetical opponent, rated 1800.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, inf
from typing import Any

import attrs

from ledger.facts.instants import Precision, instant_text
from ledger.facts.periods import DAY_MS, months_of, year_of
from ledger.runtime.records import make_copier, number
from ledger.schemes.formulas.fide_rules import (
    MARCH_2024,
    cap,
    compressed,
    dp,
    expected_hundredths,
    games_needed,
    greatest,
    half_point,
    initial,
    is_rated,
    k_capped,
    k_factor,
    lowest,
    one_upgrade,
    percentage,
    published_from,
    round_hundredths,
    rule_of_differences,
    upgrade,
    within,
)
from ledger.schemes.scheme import (
    COUNTS,
    HALF_MOVES_UNKNOWN,
    TOO_SHORT,
    AcceptedRatings,
    BatchGames,
    ExplainedPlayer,
    Explanation,
    FormulaSum,
    GameLine,
    Newcomer,
    OpponentGame,
    Rhythm,
    Scheme,
    Seed,
    Term,
    When,
    common_reason,
    opponent_of,
    own_work,
    state,
)
from ledger.schemes.settings import EventSettings, numbers_of, require_whole, setting

B02 = "FIDE Rating Regulations B.02"


@attrs.frozen(kw_only=True)
class Settings(EventSettings):
    """The choices of a ledger. Ratings in points; the values that changed with the years go by the date unless set."""

    rapid: bool = setting(False, "rapid and blitz chapter instead of standard", "switch", "B02RBRegulations2024")  # noqa: FBT003
    rules_day: float = setting(0.0, "day whose rules hold for all games; 0: the day of each", "days", "our choice")
    compress: bool = setting(True, "the rise of 1 March 2024 below 2000", "switch", "fide.com/news/2538")  # noqa: FBT003
    floor: float = setting(0.0, "lowest rating published; 0: by date, now 1400", "points", f"{B02} 7.1")
    initial_games: float = setting(0.0, "games that make a rating; 0: by date, now 5", "games", f"{B02} 7.1")
    initial_highest: float = setting(2200.0, "highest initial rating since March 2024", "points", f"{B02} 8.2")
    start: float = setting(0.0, "rating without a declared one; 0: unrated, as FIDE has it", "points", "our choice")
    hypothetical: float = setting(1800.0, "a newcomer's two hypothetical opponents", "points", f"{B02} 8.2")
    pool_months: float = setting(26.0, "how long games are pooled for a rating", "months", f"{B02} 7.1")
    k_games: float = setting(30.0, "rated games with a new player's K", "games", f"{B02} 8.3.3: 'at least 30 games'")
    k_product: float = setting(700.0, "most that K times the games may be", "points", f"{B02} 8.3.3: 'exceeds 700'")
    junior_age: float = setting(18.0, "last age with a junior's K", "years", f"{B02} 8.3.3: '18th birthday'")
    junior_below: float = setting(2300.0, "rating that ends a junior's K", "points", f"{B02} 8.3.3")
    high_from: float = setting(2400.0, "published rating that brings K 10 for good", "points", f"{B02} 8.3.3")
    full_from: float = setting(2650.0, "rating without the 400-point rule", "points", f"{B02} 8.3.1, 1 October 2025")

    def __attrs_post_init__(self) -> None:
        """Refuse what is not a whole number in a sensible range."""
        self.check_periods()
        # sums of FIDE are exact because all of these are whole (8.1.1, 8.3.4 round to the nearest point)
        require_whole(
            self,
            rules_day=(0, 2_932_896),  # to the end of the year 9999
            floor=(0, 4000),
            initial_games=(0, 1000),
            initial_highest=(1, 5000),
            start=(0, 5000),
            hypothetical=(1, 5000),
            pool_months=(1, 1200),
            k_games=(0, 10_000),
            k_product=(1, 1_000_000),
            junior_age=(0, 120),
            junior_below=(1, 100_000),
            high_from=(1, 100_000),
            full_from=(1, 100_000),
        )
        if self.start and (self.floor or 1400.0) > self.start:
            raise ValueError(f"start must not be below the floor, which is {self.floor or 1400.0:g}, got {self.start}")


Numbers = numbers_of(Settings)
DEFAULT = Numbers(*attrs.astuple(Settings()))


@attrs.define
class Player:
    """The state of a player. Days are counted from 1970; the rating is that of the last list, 0 of who is unrated."""

    rating: float = state("points; 0 if unrated")
    games: float = state("rated games")
    highest: float = state("the highest rating published so far, points")
    birth_year: float = state("year of birth; 0 if it is unknown")
    pool_games: float = state("games against rated opponents pooled for a rating")
    pool_score: float = state("points scored in the pooled games")
    pool_opponents: float = state("sum of the opponents' ratings in the pooled games, points")
    pool_since: float = state("when the first batch with a pooled game closed, days")
    day: float = state("the day up to which time has changed the state, days")
    since: float = state("the first day of the rating, days")
    earlier: float = state("the rating before it, points")
    earlier_since: float = state("the first day of the rating before, days")
    earliest: float = state("the rating before that, points")


@attrs.define
class PeriodWork:
    """The intermediate numbers of one player while a rating period is rated, which explanations show."""

    counted: float = number(0.0, "games that count")
    scored: float = number(0.0, "points scored in them")
    expected_hundredths: float = number(0.0, "expected score of a rated player, hundredths of a point")
    opponents: float = number(0.0, "sum of the ratings of an unrated player's opponents, points")
    k: float = number(0.0, "K of a rated player, points")


copy = make_copier(Player)


def enter(newcomer: Newcomer, numbers: Settings) -> Player:
    """Return the initial state of a new player: with the declared rating, or that of ``start``, or unrated."""
    return carry(newcomer.declared or numbers.start, 0.0, newcomer, numbers)


def carry(rating: float, games: float, newcomer: Newcomer, numbers: Settings) -> Player:
    """Return the state of a player who comes with a rating: its nearest whole number, if not below the floor."""
    # FIDE's lists carry whole points; that a half goes up is our reading, as for initial ratings (RULES 1.6).
    own = float(floor(rating + 0.5))
    if own < floor_of(rules_of(newcomer.day, numbers), numbers):
        own = 0.0
    born = float(newcomer.birth_year or 0)
    return Player(own, games, own, born, day=newcomer.day, earlier=own, earliest=own)


def seeded(seed: Seed, newcomer: Newcomer, numbers: Settings) -> Player:
    """Return the state of a player with a history: its games and its highest rating count for K (8.3.3)."""
    # A list of FIDE states a player's K, but not the number of games behind the rating. The missing number follows from
    # the K if possible: a K below that of a new player implies enough games, 10 that the rating was 2400 once, 20 of a
    # junior that it was 2300. Without either there are none.
    rules = rules_of(newcomer.day, numbers)
    games, highest, k = seed.games, float(floor(seed.highest_known + 0.5)), seed.k_factor
    # rapid and blitz: K 20 for all implies nothing
    if k is not None and not (numbers.rapid and rules < MARCH_2024):
        if games is None and k < k_factor(0.0, 0.0, junior=False, day=rules, rapid=numbers.rapid, numbers=numbers):
            games = numbers.k_games
        if k <= 10.0:
            highest = max(highest, numbers.high_from)
        elif k <= 20.0 and newcomer.birth_year and year_of(newcomer.day) - newcomer.birth_year <= numbers.junior_age:
            highest = max(highest, numbers.junior_below)
    player = carry(seed.rating, games or 0.0, newcomer, numbers)
    player.highest = highest
    return player


def accepted_ratings(day: float, numbers: Settings) -> AcceptedRatings:
    """Return the limits of the seeds that hold: whole ratings, published by the rules of every day from then on."""
    first = MARCH_2024 if day >= MARCH_2024 else 0.0
    return AcceptedRatings(low=max(floor_of(rules_of(each, numbers), numbers) for each in (first, day)), whole=True)


def relist(player: Player, fresh: Player, seed: Seed, numbers: Settings) -> Player:
    """Return the state after a later list: its rating in force from its day on.

    Its games, its K and its highest rating count for K.
    """
    before = player.highest
    # A K above 10 means that no published rating has reached 2400, whichever rating was calculated here.
    if seed.k_factor is not None and seed.k_factor > 10.0:
        before = min(before, numbers.high_from - 1.0)
    listed = attrs.evolve(player, games=fresh.games, highest=max(before, fresh.highest), day=max(player.day, fresh.day))
    if fresh.rating != player.rating:
        remember(listed)
        listed.rating, listed.since = fresh.rating, fresh.day
    if fresh.rating > 0.0:
        empty_pool(listed)
    return listed


# -- what the settings make of the rules of a day, and which of the ratings kept was in force when -------------------


def rules_of(day: float, numbers: Any) -> float:
    """Return the day whose regulations apply to a rating period that closes on *day*, in days since 1970."""
    return numbers.rules_day if numbers.rules_day > 0.0 else day


def floor_of(day: float, numbers: Any) -> float:
    """Return the lowest rating that is published by the rules of *day*, in rating points."""
    return numbers.floor if numbers.floor > 0.0 else published_from(day)


def needed(day: float, numbers: Any) -> float:
    """Return the number of games that are needed for a first rating by the rules of *day*."""
    return numbers.initial_games if numbers.initial_games > 0.0 else games_needed(day)


def remember(player: Player) -> None:
    """Store the present rating as the previous one."""
    player.earliest = player.earlier
    player.earlier_since = player.since
    player.earlier = player.rating


def in_force(player: Player, day: float) -> float:
    """Return the rating in force on a day in rating points; of days long ago the oldest one that is stored."""
    if day >= player.since:
        return player.rating
    if day >= player.earlier_since:
        return player.earlier
    return player.earliest


def own_at_start(player: Player, day: float) -> float:
    """Return a player's rating when a tournament began, in rating points; 0 for a player who is unrated now."""
    if player.rating == 0.0:
        return 0.0
    own = in_force(player, day)
    return own if own > 0.0 else player.rating  # 8.2.4: rated meanwhile


def begun_before(games: BatchGames, g: int) -> bool:
    """Return whether one of the player's games before game *g* belongs to its tournament."""
    for earlier in range(games.first, g):  # noqa: SIM110, a kernel has no generators
        if games.began[earlier] == games.began[g]:
            return True
    return False


def upgrades(player: Player, games: BatchGames, numbers: Any) -> int:
    """Return by how many hundredths the expected score falls if each of several tournaments has one upgrade."""
    fall = 0
    for g in range(games.first, games.last):
        start = games.began[g]
        rules = rules_of(start, numbers)
        if one_upgrade(rules, numbers.rapid) and not begun_before(games, g):
            own, widest = own_at_start(player, start), 0.0
            for other in range(g, games.last):
                if games.began[other] == start:
                    rating = in_force(opponent_of(games, other), start)
                    if is_rated(own, rating, rules, numbers.rapid):
                        widest = max(widest, own - rating)
            fall += upgrade(widest, rules, numbers.rapid)
    return fall


def leave_out_pointless(player: Player, games: BatchGames, numbers: Any) -> None:
    """Disregard by 8.2 an unrated player's tournaments without a point until one has brought a point."""
    counted, scored, opponents = 0.0, 0.0, 0.0
    for g in range(games.first, games.last):
        if not begun_before(games, g):
            start = games.began[g]
            rules, met, points, total = rules_of(start, numbers), 0.0, 0.0, 0.0
            for other in range(g, games.last):
                if games.began[other] == start:
                    rating = in_force(opponent_of(games, other), start)
                    if is_rated(0.0, rating, rules, numbers.rapid):
                        met += 1.0
                        points += games.score[other]
                        total += rating
            if points > 0.0 or counted > 0.0 or player.pool_games > 0.0:
                counted += met
                scored += points
                opponents += total
    work = own_work(games)
    work.counted = counted
    work.scored = scored
    work.opponents = opponents


# -- the course of a player from period to period --------------------------------------------------------------------


def refuse(
    outcome: int,
    termination: int,
    half_moves: int,
    rated: bool,
    white: int,  # noqa: ARG001
    black: int,  # noqa: ARG001
    numbers: Settings,  # noqa: ARG001
) -> int:
    """Return the reason why a game is not rated, as a code of ``REASONS``; both players must have made one move."""
    reason = common_reason(outcome, termination, rated)
    if reason != COUNTS:
        return reason
    if half_moves != HALF_MOVES_UNKNOWN and half_moves < 2:
        return TOO_SHORT
    return COUNTS


def at(player: Player, period: float, day: float, numbers: Settings) -> None:  # noqa: ARG001
    """Bring a player to a later day: apply the rise of March 2024, and the end of a pool. Ratings never decay."""
    # The list of 1 March 2024: R + 0.40·(2000 - R), then the new floor of 1400, which 1000 reaches by the rise (RULES
    # 1.7). Where one day's rules hold for all games that day never comes.
    if player.day < MARCH_2024 and day >= MARCH_2024 and numbers.rules_day == 0.0 and player.rating > 0.0:
        own = compressed(player.rating) if numbers.compress else player.rating
        if own < floor_of(day, numbers):
            own = 0.0
        if own != player.rating:
            if player.since < MARCH_2024 - 1.0:
                remember(player)
            # a rating of the list of that day never was in force without the rise
            player.since = MARCH_2024
        player.rating = own
        player.highest = max(player.highest, own)
    # 7.1: pooled over at most 26 months
    if player.pool_games > 0.0 and months_of(day) - months_of(player.pool_since) > numbers.pool_months:
        empty_pool(player)
    player.day = max(player.day, day)


def unchanged_since(day: float, numbers: Settings) -> float:
    """Return the day since which ratings hold: the rise of March 2024, once it has come; before it, all of them."""
    return MARCH_2024 if numbers.rules_day == 0.0 and day >= MARCH_2024 else -inf


def k_of(highest: float, games: float, birth_year: float, counted: float, day: float, numbers: Settings) -> float:
    """Return a player's K for a period with *counted* games."""
    rules = rules_of(day, numbers)
    # to the end of the year of the 18th birthday; never with an unknown year of birth
    junior = birth_year > 0.0 and year_of(day) - birth_year <= numbers.junior_age
    k = k_factor(highest, games, junior, rules, numbers.rapid, numbers)
    return k_capped(k, counted, rules, numbers.k_product)


def rate_period(player: Player, after: Player, games: BatchGames, when: When, numbers: Settings) -> None:
    """Rate one player's games of a period: change a rated player's rating, pool the games of an unrated one."""
    # The loop of ``tests.vectors.published.tournament``, written out for columns.
    counted, scored, opponents, widest = 0.0, 0.0, 0.0, 0.0
    start, rules, own, low, high = 0.0, 0.0, 0.0, 0.0, 0.0
    expected, several = 0, False
    for g in range(games.first, games.last):
        # Games of one tournament mostly follow each other: its rules and ratings are looked up where it changes.
        if g == games.first or games.began[g] != start:
            several = g > games.first
            start = games.began[g]
            rules = rules_of(start, numbers)
            own = own_at_start(player, start)
            low = lowest(own, rules, numbers.rapid, numbers.full_from)
            high = greatest(own, rules, numbers.rapid, numbers.full_from)
        other = in_force(opponent_of(games, g), start)
        if is_rated(own, other, rules, numbers.rapid):
            difference = within(own - other, low, high)
            widest = max(widest, difference)
            expected += expected_hundredths(difference)
            counted += 1.0
            scored += games.score[g]
            opponents += other
    copy(after, player)
    work = own_work(games)
    work.counted = counted
    work.scored = scored
    if player.rating == 0.0:
        work.opponents = opponents
        if several:
            leave_out_pointless(player, games, numbers)
        pool(after, work, when.day, numbers)
    elif counted > 0.0:
        if several:
            expected -= upgrades(player, games, numbers)
        else:
            expected -= upgrade(widest, rules, numbers.rapid)
        k = k_of(player.highest, player.games, player.birth_year, counted, when.day, numbers)
        work.expected_hundredths = float(expected)
        work.k = k
        # 8.3.4, in hundredths: rounded once, "0.5 away from zero", and added to the rating of the last list. Of 14
        # published periods with several events that can decide, 13 are rounded once and one by event (RULES 1.4).
        own = player.rating + round_hundredths(int(k) * (int(100.0 * scored) - expected))
        publish(after, own, counted, floor_of(rules_of(when.day, numbers), numbers), when.day)


def publish(player: Player, own: float, games: float, lowest_published: float, day: float) -> None:
    """Store a new rating, and the games that made or changed it; a rating below the floor makes unrated."""
    published = own if own >= lowest_published else 0.0
    if published != player.rating:
        remember(player)
        player.since = day
    player.rating = published
    player.games += games
    # "once a player's published rating has reached 2400" (8.3.3): as published
    player.highest = max(player.highest, published)


def pool(player: Player, work: PeriodWork, day: float, numbers: Settings) -> None:
    """Pool an unrated player's games against rated opponents until there are enough for a rating."""
    # 8.2: a zero score in the first event is disregarded
    if work.counted == 0.0 or (player.pool_games == 0.0 and work.scored == 0.0):
        return
    if player.pool_games == 0.0:
        player.pool_since = day
    player.pool_games += work.counted
    player.pool_score += work.scored
    player.pool_opponents += work.opponents
    games, rules = player.pool_games, rules_of(day, numbers)
    if games < needed(rules, numbers):
        return
    opponents, scored = player.pool_opponents, player.pool_score
    own = initial(opponents, scored, games, rules, numbers.hypothetical, numbers.initial_highest)
    if own >= floor_of(rules, numbers):
        publish(player, own, games, own, day)
        empty_pool(player)


def empty_pool(player: Player) -> None:
    """Empty the pool of games."""
    player.pool_games = 0.0
    player.pool_score = 0.0
    player.pool_opponents = 0.0
    player.pool_since = 0.0


def expected_score(player: Player, opponent: Player, numbers: Settings) -> float:
    """Return the expected score from 0.08 to 0.92 by table 8.1.2.

    Differences count up to 400; unrated players count as 1800.
    """
    own = player.rating if player.rating > 0.0 else numbers.hypothetical
    other = opponent.rating if opponent.rating > 0.0 else numbers.hypothetical
    return expected_hundredths(within(own - other, -400.0, 400.0)) / 100.0


def provisional(player: Player, numbers: Settings) -> bool:  # noqa: ARG001
    """Return True while unrated."""
    return player.rating == 0.0


def listed(player: Player, numbers: Settings) -> bool:  # noqa: ARG001
    """Return whether rating lists show the player: rated ones."""
    return player.rating > 0.0


# -- explained -------------------------------------------------------------------------------------------------------


def explain(own: ExplainedPlayer, meetings: Sequence[OpponentGame], when: When, numbers: Any) -> Explanation:
    """Return the formula of one player's period with its numbers."""
    if own.before.rating > 0.0:
        return _explain_change(own, meetings, when, numbers)
    return _explain_unrated(own, meetings, when, numbers)


def _change_lines(own: ExplainedPlayer, meetings: Sequence[OpponentGame], numbers: Any) -> tuple[GameLine, ...]:
    """Return the games of a rated player's period, each with its change."""
    lines = []
    with_upgrade = _upgraded(own, meetings, numbers)
    for place, meeting in enumerate(meetings):
        rules, start = rules_of(meeting.began, numbers), meeting.began
        rating, other = own_at_start(own.before, start), in_force(meeting.opponent, start)
        if reason := _left_out(rating, other, rules, numbers):
            lines.append(GameLine(other, rating, left_out=reason))
            continue
        low = lowest(rating, rules, numbers.rapid, numbers.full_from)
        high = greatest(rating, rules, numbers.rapid, numbers.full_from)
        difference = within(rating - other, low, cap(rules) if place in with_upgrade else high)
        hundredths = expected_hundredths(difference)
        gain = int(100.0 * meeting.score) - hundredths
        lines.append(
            GameLine(
                other,
                rating,
                difference,
                f"{cap(rules):g}-point rule" if difference != rating - other else "",
                hundredths / 100.0,
                gain / 100.0,
                factor=own.work.k,
                points=int(own.work.k) * gain / 100.0,
            )
        )
    return tuple(lines)


def _left_out(own: float, opponent: float, rules: float, numbers: Any) -> str:
    """Return the reason why a game does not count for the player; empty if it does."""
    if is_rated(own, opponent, rules, numbers.rapid):
        return ""
    return "unrated opponent" if opponent <= 0.0 else "a difference of 600 or more, one player above 2600"


def _upgraded(own: ExplainedPlayer, meetings: Sequence[OpponentGame], numbers: Any) -> set[int]:
    """Return the places of the games that alone are capped in their tournaments, by the rule of the one upgrade."""
    widest: dict[float, tuple[float, int]] = {}
    for place, meeting in enumerate(meetings):
        rules, start = rules_of(meeting.began, numbers), meeting.began
        rating, other = own_at_start(own.before, start), in_force(meeting.opponent, start)
        if one_upgrade(rules, numbers.rapid) and is_rated(rating, other, rules, numbers.rapid):
            lead = rating - other
            if lead > cap(rules) and lead > widest.get(start, (0.0, 0))[0]:
                widest[start] = lead, place
    return {place for _, place in widest.values()}


def _pool_lines(own: ExplainedPlayer, meetings: Sequence[OpponentGame], numbers: Any) -> tuple[GameLine, ...]:
    """Return the games of an unrated player's period, those of tournaments without a point left out by 8.2."""
    lines: list[GameLine] = []
    has_pool = own.before.pool_games > 0.0
    pointless: dict[float, bool] = {}
    for meeting in meetings:
        start, rules = meeting.began, rules_of(meeting.began, numbers)
        if start not in pointless:
            same = [each for each in meetings if each.began == start]
            rated = [each for each in same if is_rated(0.0, in_force(each.opponent, start), rules, numbers.rapid)]
            pointless[start] = not has_pool and sum(each.score for each in rated) == 0.0
            has_pool = has_pool or (bool(rated) and not pointless[start])
        other = in_force(meeting.opponent, start)
        reason = _left_out(0.0, other, rules, numbers)
        if not reason and pointless[start]:
            reason = "no point in a first tournament"
        lines.append(GameLine(other, 0.0, left_out=reason))
    return tuple(lines)


def _explain_change(own: ExplainedPlayer, meetings: Sequence[OpponentGame], when: When, numbers: Any) -> Explanation:
    """Explain a rated player's period."""
    before, games, scored = own.before.rating, own.work.counted, own.work.scored
    expected, k = own.work.expected_hundredths / 100.0, own.work.k
    terms = (
        Term("Ro", before, "rating before the period"),
        *_starts(own, meetings, numbers),
        Term("n", games, f"games of {len(meetings)} that count: those against rated opponents"),
        Term("W", scored, "score in them"),
        Term("We", expected, f"expected score by table 8.1.2 and {_rules_of_differences(own, meetings, numbers)}"),
        Term("K", k, f"K-factor, lowered where K·n would exceed {numbers.k_product:g}"),
    )
    rounding, limited = "the change of the period, once, to the nearest point, 0.5 away from zero", ""
    if own.after.rating == 0.0:
        limited = f"below {floor_of(rules_of(when.day, numbers), numbers):g}, so unrated (0) from the next list on"
        rounding += f"; {limited}"
    unrounded = before + k * (scored - expected)
    sums = (
        FormulaSum("n", "games", games, "games that count"),
        FormulaSum("W", "score", scored, "score"),
        FormulaSum("We", "expected", expected, "expected score"),
        FormulaSum("K·(W - We)", "points", k * (scored - expected), "change, before it is rounded"),
    )
    lines = _change_lines(own, meetings, numbers)
    return Explanation(
        "Ro + K·(W - We)", terms, unrounded, own.after.rating, rounding, B02, (), lines, sums, limited=limited
    )


def _rules_of_differences(own: ExplainedPlayer, meetings: Sequence[OpponentGame], numbers: Any) -> str:
    """Return the rules for great differences: each tournament has those of the day on which it began."""
    days = dict.fromkeys(meeting.began for meeting in meetings)
    rules = [
        rule_of_differences(own_at_start(own.before, began), rules_of(began, numbers), numbers.rapid, numbers.full_from)
        for began in days
    ]
    return " or ".join(dict.fromkeys(rules))


def _starts(own: ExplainedPlayer, meetings: Sequence[OpponentGame], numbers: Any) -> list[Term]:
    """Return, if tournaments are rated whole, the own rating in each, against the opponents' of that day."""
    if not numbers.by_event:
        return []
    terms = []
    for place, began in enumerate(dict.fromkeys(meeting.began for meeting in meetings), 1):
        games = sum(meeting.began == began for meeting in meetings)
        day = instant_text(floor(began) * DAY_MS, Precision.DAY)
        rating = own_at_start(own.before, began)
        words = f"own rating for the {games} games of a tournament that began on {day}"
        terms.append(Term(f"R{place}", rating, f"{words}, opponents with those of that day"))
    return terms


def _pool_sums(own: ExplainedPlayer) -> tuple[FormulaSum, ...]:
    """Return the sums of an unrated player's pool: as it goes on, or as it made the rating."""
    before, work, after = own.before, own.work, own.after
    games, score, opponents = after.pool_games, after.pool_score, after.pool_opponents
    if after.rating > 0.0:  # a rating empties the pool
        games, score = before.pool_games + work.counted, before.pool_score + work.scored
        opponents = before.pool_opponents + work.opponents
    return (
        FormulaSum("n", "games", games, "games pooled", before.pool_games),
        FormulaSum("W", "score", score, "score in them", before.pool_score),
        FormulaSum("S", "opponent", opponents, "sum of the opponents' ratings", before.pool_opponents),
    )


def _explain_unrated(own: ExplainedPlayer, meetings: Sequence[OpponentGame], when: When, numbers: Any) -> Explanation:
    """Explain a newcomer's period."""
    explanation = _initial_rating(own, len(meetings), when, numbers)
    limited = explanation.limited
    if own.after.rating == 0.0:
        limited = "unrated"
    return explanation._replace(lines=_pool_lines(own, meetings, numbers), sums=_pool_sums(own), limited=limited)


def _initial_rating(own: ExplainedPlayer, played: int, when: When, numbers: Any) -> Explanation:
    """Return the formula of a newcomer's initial rating, or what is missing for one."""
    rules = rules_of(when.day, numbers)
    before, work = own.before, own.work
    games, scored = before.pool_games + work.counted, before.pool_score + work.scored
    opponents = before.pool_opponents + work.opponents
    terms = [
        Term("n", games, f"games pooled against rated opponents; this period {work.counted:g} of {played}"),
        Term("W", scored, "score in them"),
        Term("S", opponents, "sum of the opponents' ratings"),
    ]
    if games == 0.0 or scored == 0.0 == before.pool_games or games < needed(rules, numbers):
        why = f"0, unrated until {needed(rules, numbers):g} games; a first event without a point does not count"
        return Explanation(why, tuple(terms), 0.0, own.after.rating, "none", f"{B02} 7.1")
    if rules >= MARCH_2024:
        rule = "(S + 2·H)/(n + 2) + dp"
        percent = percentage(scored + 1.0, games + 2.0)
        terms += [
            Term("H", numbers.hypothetical, "rating of the two hypothetical opponents, drawn with"),
            Term("dp", float(dp(percent)), f"table 8.1.1 for (W + 1)/(n + 2) = {percent} %"),
        ]
        unrounded = (opponents + 2.0 * numbers.hypothetical) / (games + 2.0) + dp(percent)
    elif 2.0 * scored >= games:
        rule = "S/n + h·(2·W - n)"
        terms.append(Term("h", half_point(rules), "worth of each half point over 50 %"))
        unrounded = opponents / games + half_point(rules) * (2.0 * scored - games)
    else:
        rule = "S/n + dp"
        percent = percentage(scored, games)
        terms.append(Term("dp", float(dp(percent)), f"table 8.1.1 for W/n = {percent} %"))
        unrounded = opponents / games + dp(percent)
    rounding = f"to the nearest point; from March 2024 at most {numbers.initial_highest:g}"
    if own.after.rating == 0.0:
        rounding += f"; below {floor_of(rules, numbers):g}, so not published (0), and the pool goes on"
    highest = numbers.initial_highest
    limited = f"at most {highest:g}" if rules >= MARCH_2024 and own.after.rating == highest < unrounded else ""
    return Explanation(rule, tuple(terms), unrounded, own.after.rating, rounding, f"{B02} 8.2", limited=limited)


SCHEME = Scheme(
    name="fide",
    title="FIDE",
    source=B02,
    version=1,
    settings=Settings,
    numbers=Numbers,
    player=Player,
    enter=enter,
    seeded=seeded,
    accepted_ratings=accepted_ratings,
    relist=relist,
    carry=carry,
    refuse=refuse,
    rhythm=Rhythm.PERIOD,
    passes=(rate_period,),
    work=PeriodWork,
    at=at,
    unchanged_since=unchanged_since,
    expected_score=expected_score,
    explain=explain,
    provisional=provisional,
    listed=listed,
    in_force=in_force,
    fide_limits=True,
    # RULES 1.4 and 1.8: whole tournaments, "the closing date for tournaments for a list is 3 days before" the 1st
    # "with the ratings and rules of its own days": DESIGN 9 of late reports; FIDE's lists are never published again
    for_new_pools={"by_event": True, "included_until": 2, "late_reports": "next-list"},
)
