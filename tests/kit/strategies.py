"""Hypothesis strategies for events and for the texts that may stand in them.

``events()`` draws any event that the classes take; the smaller strategies draw what its fields may hold.
``wild_*`` draw candidates, good and bad, for tests that compare two judges. The limits are those of
``ledger.facts.event_fields``, so that a widened limit widens the tests.
"""

import unicodedata
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

import attrs
from hypothesis import strategies as st

from ledger.book.timeline import BEGINNING, Era, Pool
from ledger.facts import event_fields as limits
from ledger.facts.changes import FIELDS, AnnulmentScope, Change, Verb, spans_text
from ledger.facts.event_fields import is_plain_text
from ledger.facts.events import (
    BLANKS,
    BirthYearLearnt,
    ClockAccepted,
    ConversionRange,
    CorrectionDecided,
    CorrectionProposed,
    Decision,
    Event,
    FederationSet,
    GameRecorded,
    GameSupplemented,
    ListPublished,
    PersonErased,
    PlayerChanged,
    PlayerDescribed,
    PlayerEntered,
    PlayerRegistered,
    PlayerRenamed,
    PolicySet,
    RatingRunClosed,
    RatingSeeded,
    ReportSent,
    Role,
    RoundWithoutGame,
    SchemeAdopted,
    StrengthChosen,
    TokenIssued,
    TokenRevoked,
    TournamentClosed,
    TournamentDescribed,
    TournamentOpened,
    WarningsAccepted,
)
from ledger.facts.instants import Precision, instant_end_ms, instant_ms, instant_text
from ledger.facts.person_names import actor_faults
from ledger.facts.words import Brings, Carry, Colour, Format, Outcome, Standing, Strength, Termination
from ledger.recording.findings import CHECKS
from ledger.schemes.scheme import Newcomer, Scheme

T = TypeVar("T")

_FIRST_MS = -62135596800000  # the year 1
_LAST_MS = 253402300799999  # the last millisecond of 9999


def players() -> st.SearchStrategy[int]:
    """Player numbers, over the whole range."""
    return st.integers(1, limits.MAX_PLAYER)


def names() -> st.SearchStrategy[str]:
    """Names of pools, schemes and settings."""
    return st.from_regex(rf"\A{limits.NAME_PATTERN}\Z")


def game_keys() -> st.SearchStrategy[str]:
    """Keys of games, colons and slashes included."""
    return st.from_regex(rf"\A{limits.KEY_PATTERN}\Z")


def hashes() -> st.SearchStrategy[str]:
    """SHA-256 hashes in hexadecimal."""
    return st.binary(min_size=32, max_size=32).map(bytes.hex)


def instants() -> st.SearchStrategy[str]:
    """Well-formed instants of all five precisions, from the year 1 to the year 9999."""
    return st.builds(instant_text, st.integers(_FIRST_MS, _LAST_MS), st.sampled_from(Precision))


def plain_texts(limit: int) -> st.SearchStrategy[str]:
    """NFC text of 1 to *limit* characters: quotation marks, backslashes, any script, no controls."""
    ordinary = st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=limit)
    awkward = st.text('"\\/<>&\u00e9\u2028\ufeff \U0001f600a', min_size=1, max_size=limit)
    tidy = (ordinary | awkward).map(lambda text: unicodedata.normalize("NFC", text).strip())
    return tidy.filter(lambda text: is_plain_text(text, limit))


def decimals() -> st.SearchStrategy[str]:
    """Decimals as text."""
    return st.from_regex(rf"\A{limits.DECIMAL_PATTERN}\Z")


def settings() -> st.SearchStrategy[dict[str, int | bool | str]]:
    """Settings of a scheme: whole numbers, switches, decimals as text."""
    whole = st.integers(-limits.MAX_WHOLE, limits.MAX_WHOLE)
    return st.dictionaries(names(), whole | st.booleans() | decimals(), max_size=5)


@st.composite
def conversions(draw: st.DrawFn) -> tuple[ConversionRange, ...]:
    """The maps of a convert: the first without a beginning, the others in ascending order."""
    later = draw(st.lists(decimals(), max_size=4, unique_by=float))
    begins = [None, *sorted(later, key=float)]
    return tuple(ConversionRange(from_rating=one, factor=draw(decimals()), offset=draw(decimals())) for one in begins)


def _or_none(strategy: st.SearchStrategy[T]) -> st.SearchStrategy[T | None]:
    return st.none() | strategy


def registrations() -> st.SearchStrategy[PlayerRegistered]:
    """``player-registered/1``."""
    return st.builds(
        PlayerRegistered,
        player=players(),
        joined_at=instants(),
        standing=st.sampled_from(Standing),
        commitment=hashes(),
        declared_rating=_or_none(st.integers(0, 5000)),
        birth_year=_or_none(st.integers(1700, 2200)),
    )


def changes() -> st.SearchStrategy[PlayerChanged]:
    """``player-changed/1``."""
    return st.builds(
        PlayerChanged,
        player=players(),
        effective_at=instants(),
        standing=st.sampled_from(Standing),
        declared_rating=_or_none(st.integers(0, 5000)),
    )


def renamings() -> st.SearchStrategy[PlayerRenamed]:
    """``player-renamed/1``."""
    return st.builds(PlayerRenamed, player=players(), number=st.integers(1, limits.MAX_WHOLE), commitment=hashes())


def births() -> st.SearchStrategy[BirthYearLearnt]:
    """``birth-year-learnt/1``."""
    return st.builds(BirthYearLearnt, player=players(), birth_year=st.integers(1700, 2200))


def seeds() -> st.SearchStrategy[RatingSeeded]:
    """``rating-seeded/1``."""
    decimal = st.from_regex(limits.POSITIVE_PATTERN, fullmatch=True, alphabet=st.sampled_from(".0123456789"))
    return st.builds(
        RatingSeeded,
        player=players(),
        pool=names(),
        effective_at=_or_none(instants()),
        rating=decimal,
        games=_or_none(st.integers(0, 1_000_000)),
        deviation=_or_none(decimal),
        volatility=_or_none(decimal),
        highest=_or_none(decimal),
        k_factor=_or_none(decimal),
        source=_or_none(plain_texts(128)),
    )


def games() -> st.SearchStrategy[GameRecorded]:
    """``game-recorded/1``."""
    rating = _or_none(st.integers(0, 5000))
    return st.builds(
        GameRecorded,
        game=game_keys(),
        pool=names(),
        white=players(),
        black=players(),
        outcome=st.sampled_from(Outcome),
        termination=st.sampled_from(Termination),
        half_moves=_or_none(st.integers(0, limits.MAX_HALF_MOVES)),
        started_at=_or_none(instants()),
        ended_at=instants(),
        tournament=_or_none(plain_texts(128)),
        round=_or_none(plain_texts(32)),
        sequence=_or_none(st.integers(1, limits.MAX_WHOLE)),
        rated=st.booleans(),
        text=_or_none(hashes()),
        white_rating=rating,
        black_rating=rating,
    )


def adoptions() -> st.SearchStrategy[SchemeAdopted]:
    """``scheme-adopted/2``."""
    return st.builds(
        SchemeAdopted,
        pool=names(),
        scheme=names(),
        settings=settings(),
        scheme_version=_or_none(st.integers(1, limits.MAX_WHOLE)),
        arithmetic=_or_none(st.integers(1, limits.MAX_WHOLE)),
        effective_from=_or_none(instants()),
        carry=_or_none(st.sampled_from(Carry)),
        conversion=_or_none(conversions()),
    )


def closed_runs() -> st.SearchStrategy[RatingRunClosed]:
    """``rating-run-closed/1``."""
    return st.builds(RatingRunClosed, pool=names(), as_of=instants())


def closed_tournaments() -> st.SearchStrategy[TournamentClosed]:
    """``tournament-closed/1``."""
    return st.builds(TournamentClosed, pool=names(), tournament=plain_texts(128), ended_at=instants())


def opened_tournaments() -> st.SearchStrategy[TournamentOpened]:
    """``tournament-opened/1``."""
    return st.builds(
        TournamentOpened,
        pool=names(),
        tournament=plain_texts(128),
        starts_at=instants(),
        ends_at=instants(),
        format=_or_none(st.sampled_from(Format)),
        entrants=_or_none(st.integers(2, limits.MAX_PLAYER)),
        rounds=_or_none(st.integers(1, 10_000)),
    )


def rounds_without_game() -> st.SearchStrategy[RoundWithoutGame]:
    """``round-without-game/1``."""
    others = st.tuples(st.sampled_from(Brings), st.none())
    allotted = st.tuples(st.just(Brings.ALLOTTED), st.integers(0, 20))
    return st.builds(
        lambda worth, **facts: RoundWithoutGame(brings=worth[0], half_points=worth[1], **facts),
        others | allotted,
        pool=names(),
        tournament=plain_texts(128),
        edition=instants(),
        round=_or_none(st.integers(1, limits.MAX_ROUND)),
        player=st.integers(1, 1000),
        opponent=st.integers(1001, limits.MAX_PLAYER),
        colour=_or_none(st.sampled_from(Colour)),
    ) | st.builds(
        RoundWithoutGame,
        pool=names(),
        tournament=plain_texts(128),
        edition=instants(),
        brings=st.sampled_from(Brings),
        player=players(),
    )


def federation_codes() -> st.SearchStrategy[str]:
    """Codes of federations."""
    return st.from_regex(rf"\A{limits.FEDERATION_PATTERN}\Z")


def federations() -> st.SearchStrategy[FederationSet]:
    """``federation-set/1``."""
    return st.builds(FederationSet, player=players(), effective_at=instants(), federation=federation_codes())


def strengths() -> st.SearchStrategy[StrengthChosen]:
    """``strength-chosen/1``."""
    strength = st.sampled_from(Strength)
    return st.builds(StrengthChosen, player=players(), pool=names(), effective_at=instants(), strength=strength)


def entrants() -> st.SearchStrategy[PlayerEntered]:
    """``player-entered/1``."""
    return st.builds(
        PlayerEntered,
        pool=names(),
        tournament=plain_texts(128),
        edition=instants(),
        player=players(),
        number=st.integers(1, limits.MAX_WHOLE),
        start_number=st.integers(1, 9_999),
        rating=_or_none(st.integers(0, 5000)),
        place=_or_none(st.integers(1, 9_999)),
        federation=_or_none(federation_codes()),
    )


def described_tournaments() -> st.SearchStrategy[TournamentDescribed]:
    """``tournament-described/1``."""
    return st.builds(
        TournamentDescribed,
        pool=names(),
        tournament=plain_texts(128),
        edition=instants(),
        number=st.integers(1, limits.MAX_WHOLE),
        city=_or_none(plain_texts(128)),
        time_control=_or_none(plain_texts(256)),
        rounds=_or_none(st.integers(1, limits.MAX_ROUND)),
        round_days=_or_none(st.sampled_from(("2024-05-01", "- 2024-05-02", "2024-05-01 -"))),
        first_colour=_or_none(st.sampled_from(Colour)),
        arbiters=_or_none(hashes()),
    )


def sent_reports() -> st.SearchStrategy[ReportSent]:
    """``report-sent/1``."""
    return st.builds(
        ReportSent,
        pool=names(),
        tournament=plain_texts(128),
        edition=instants(),
        number=st.integers(1, limits.MAX_WHOLE),
        form=st.sampled_from(("trf16", "trf26")),
        digest=hashes(),
        text=hashes(),
        sent_on=instants(),
        since=_or_none(instants()),
        until=_or_none(instants()),
    )


def described_players() -> st.SearchStrategy[PlayerDescribed]:
    """``player-described/1``."""
    return st.builds(
        PlayerDescribed,
        player=players(),
        effective_at=instants(),
        number=st.integers(1, limits.MAX_WHOLE),
        details=hashes(),
    )


def accepted_warnings() -> st.SearchStrategy[WarningsAccepted]:
    """``warnings-accepted/1``."""
    return st.builds(
        WarningsAccepted,
        pool=names(),
        tournament=_or_none(plain_texts(128)),
        edition=instants(),
        number=st.integers(1, limits.MAX_WHOLE),
        codes=st.lists(st.sampled_from(sorted(CHECKS)), min_size=1, max_size=4).map(" ".join),
        warnings=st.integers(1, limits.MAX_WHOLE),
    )


def accepted_clocks() -> st.SearchStrategy[ClockAccepted]:
    """``clock-accepted/1``."""
    return st.builds(ClockAccepted, entry=st.integers(1, limits.MAX_WHOLE))


def supplements() -> st.SearchStrategy[GameSupplemented]:
    """``game-supplemented/1``."""
    rating = _or_none(st.integers(0, 5000))
    return st.builds(
        GameSupplemented,
        game=game_keys(),
        entry=st.integers(1, limits.MAX_WHOLE),
        number=st.integers(1, limits.MAX_WHOLE),
        termination=_or_none(st.sampled_from(Termination)),
        half_moves=_or_none(st.integers(0, limits.MAX_HALF_MOVES)),
        started_at=_or_none(instants()),
        ended_at=_or_none(instants()),
        tournament=_or_none(plain_texts(128)),
        round=_or_none(plain_texts(32)),
        sequence=_or_none(st.integers(1, limits.MAX_WHOLE)),
        text=_or_none(hashes()),
        white_rating=rating,
        black_rating=rating,
    )


def _values() -> st.SearchStrategy[dict[str, Any]]:
    """Fields of a fact by name; the empty text is a blank."""
    plain = st.just("") | plain_texts(40) | st.integers(-limits.MAX_WHOLE, limits.MAX_WHOLE) | st.booleans()
    fields = st.from_regex(r"\A[a-z][a-z_]{0,31}\Z")
    return st.dictionaries(fields, plain | settings(), min_size=1, max_size=4)


@st.composite
def corrected_facts(draw: st.DrawFn) -> Change:
    """A change of any verb, with the fields that the verb needs and perhaps those that it may have."""
    verb = draw(st.sampled_from(Verb))
    facts = draw(_values())
    spans = st.sets(st.integers(1, 10**9), min_size=1, max_size=9).map(sorted).map(spans_text)
    drawn: dict[str, st.SearchStrategy[Any]] = {
        "fact": st.from_regex(r"\A[a-z]+:[!-~]{1,200}\Z"),
        "entry": st.integers(1, limits.MAX_WHOLE),
        "kind": st.from_regex(r"\A[a-z]+-[a-z]+/[1-9]\Z"),
        "expects": st.just(dict.fromkeys(facts, "")),
        "facts": st.just(facts),
        "player": players(),
        "into": players(),
        "which": st.sampled_from(AnnulmentScope),
        "pool": names(),
        "tournament": plain_texts(128),
        "since": instants(),
        "until": instants(),
        "proposal": st.integers(1, limits.MAX_WHOLE),
        "entries": spans,
        "players": spans,
    }
    optional = [name for name in FIELDS[verb].allowed if draw(st.booleans())]
    return Change(do=verb, **{name: draw(drawn[name]) for name in (*FIELDS[verb].needed, *optional)})


def proposals() -> st.SearchStrategy[CorrectionProposed]:
    """``correction-proposed/2``."""
    whole = st.integers(1, limits.MAX_WHOLE)
    changes = st.lists(corrected_facts(), min_size=1, max_size=5).map(tuple)
    return st.builds(
        CorrectionProposed,
        proposal=whole,
        part=whole,
        parts=whole,
        changes=changes,
        reason=hashes(),
        proven=st.booleans(),
        by_token=_or_none(whole),
    )


def decisions() -> st.SearchStrategy[CorrectionDecided]:
    """``correction-decided/2``."""
    return st.builds(
        CorrectionDecided,
        proposal=st.integers(1, limits.MAX_WHOLE),
        decision=st.sampled_from(Decision),
        reason=_or_none(hashes()),
        proven=st.booleans(),
        by_token=_or_none(st.integers(1, limits.MAX_WHOLE)),
    )


def policies() -> st.SearchStrategy[PolicySet]:
    """``policy-set/1``."""
    number, since = st.integers(1, limits.MAX_WHOLE), _or_none(instants())
    return st.builds(PolicySet, policy=names(), number=number, settings=settings(), effective_from=since)


def published_lists() -> st.SearchStrategy[ListPublished]:
    """``list-published/1``."""
    whole = st.integers(1, limits.MAX_WHOLE)
    return st.builds(
        ListPublished,
        pool=names(),
        as_of=instants(),
        edition=whole,
        head=whole,
        root=hashes(),
        digest=hashes(),
        players=st.integers(0, limits.MAX_PLAYER),
        scheme=names(),
        scheme_version=whole,
        arithmetic=whole,
    )


def erasures() -> st.SearchStrategy[PersonErased]:
    """``person-erased/1``."""
    return st.builds(PersonErased, player=players())


def issued_tokens() -> st.SearchStrategy[TokenIssued]:
    """``token-issued/1``."""
    whole, roles = st.integers(1, limits.MAX_WHOLE), st.lists(st.sampled_from(Role), min_size=1, max_size=4)
    return st.builds(
        TokenIssued,
        number=whole,
        person=plain_texts(128),
        roles=roles.map(" ".join),
        salt=hashes(),
        digest=hashes(),
        expires_at=_or_none(instants()),
        by_token=_or_none(whole),
        reset=st.booleans(),
    )


def revoked_tokens() -> st.SearchStrategy[TokenRevoked]:
    """``token-revoked/1``."""
    whole = st.integers(1, limits.MAX_WHOLE)
    return st.builds(TokenRevoked, number=whole, by_token=_or_none(whole))


def events() -> st.SearchStrategy[Event]:
    """Any event."""
    return st.one_of(
        registrations(),
        renamings(),
        changes(),
        births(),
        strengths(),
        federations(),
        seeds(),
        games(),
        adoptions(),
        closed_runs(),
        closed_tournaments(),
        accepted_clocks(),
        accepted_warnings(),
        supplements(),
        opened_tournaments(),
        proposals(),
        decisions(),
        policies(),
        published_lists(),
        erasures(),
        issued_tokens(),
        revoked_tokens(),
        rounds_without_game(),
        entrants(),
        described_tournaments(),
        described_players(),
        sent_reports(),
    )


def recorded_ats() -> st.SearchStrategy[str]:
    """When entries are recorded: always 24 characters."""
    moments = st.datetimes(datetime(1970, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC))
    return moments.map(lambda moment: f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03}Z")


def wild_instants() -> st.SearchStrategy[str]:
    """Instants and near misses: the year 0, day 32, hour 24, second 60, fraction .000, odd digits."""
    two = st.integers(0, 70).map(lambda number: f"{number:02}")
    year = st.sampled_from(["0000", "0001", "1600", "1900", "1999", "2000", "2023", "2024", "9999"])
    day = st.builds("{}-{}-{}".format, year, two, two)
    seldom_wrong_day = st.sampled_from(["2023-02-28", "2023-02-29", "2024-02-29", "1900-02-29", "2000-02-29"])
    time = st.builds("{}:{}:{}".format, two, two, two) | st.sampled_from(["23:59:59", "23:59:60", "24:00:00"])
    fraction = st.sampled_from(["", ".000", ".001", ".250", ".999", ".1", ".0000", ",250"])
    zone = st.sampled_from(["Z", "Z", "Z", "", "z", "+00:00", "Z\n"])
    moment = st.builds("{}T{}{}{}".format, day | seldom_wrong_day, time, fraction, zone)
    month = st.builds("{}-{}".format, year, two)
    odd = st.sampled_from(["", " 2013", "2013 ", "2013\n", "\u0662\u0660\u0661\u0663", "13", "2013-6", "20130604"])
    return year | month | day | seldom_wrong_day | moment | odd | instants()


def wild_rounds() -> st.SearchStrategy[str]:
    """Rounds as sources write them, and near misses."""
    numbers = st.lists(st.integers(0, 10_000_000).map(str), min_size=1, max_size=4).map(".".join)
    odd = st.sampled_from(["", ".", "1.", ".1", "1..2", "01", "Final", "1a", "\u0661", "1\n", " 1", "-1", "?", "1.2 "])
    return numbers | odd | st.text("0123456789.", max_size=24)


def actors() -> st.SearchStrategy[str]:
    """Names of people who act, as they may be written: plain text without what nobody sees."""
    return plain_texts(128).filter(lambda name: not actor_faults(name))


def wild_texts() -> st.SearchStrategy[str]:
    """Any text that UTF-8 can hold: controls, decomposed letters, outer blanks, too long, empty."""
    any_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
    odd = st.sampled_from(
        [
            "",
            " ",
            "a ",
            "\u3000a",
            "e\u0301",
            "a\nb",
            "a\x7fb",
            "\x1fa",
            "\x85",
            "a\u2028b",
            "x" * 32,
            "x" * 33,
            "x" * 128,
            "x" * 129,
            "\U0001f600" * 32,
            '"',
            "\\",
            "\\u0041",
            "\u212b",
            "\u200b",
            "\ufeffa",
        ]
    )
    return any_text | odd | plain_texts(128)


def wild_conversions() -> st.SearchStrategy[Any]:
    """Conversions as JSON has them, and near misses: fields missing or of another type, any order, null, no list."""
    value = st.sampled_from(["0", "1", "2000", "2000.0", "-0.5", "1e3", "01", "", " 1"]) | decimals()
    odd = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.just(["1"])
    one = st.fixed_dictionaries(
        {"factor": value, "offset": value}, optional={"from_rating": value | st.none(), "extra": value}
    ) | st.dictionaries(st.sampled_from(["factor", "offset", "from_rating", "to_rating"]), value | odd)
    return st.lists(one | odd, max_size=3) | st.lists(one, min_size=1, max_size=3) | one | odd


_COARSER = (4, 7, 10, 20)  # characters of a year, a month, a day, a second


@st.composite
def tellings(draw: st.DrawFn, game: GameRecorded) -> GameRecorded:
    """The game as a source tells it that may know less of it."""
    blank = draw(st.sets(st.sampled_from(sorted(BLANKS[GameRecorded]))))
    absent: dict[str, Any] = dict.fromkeys(blank)
    told = attrs.evolve(game, **absent)
    if draw(st.booleans()):
        told = attrs.evolve(told, termination=Termination.UNKNOWN)
    if told.started_at is not None and draw(st.booleans()):
        told = attrs.evolve(told, ended_at=told.started_at)
    elif draw(st.booleans()):
        told = attrs.evolve(told, ended_at=draw(st.sampled_from(coarser(game.ended_at))))
    return told


def coarser(instant: str) -> list[str]:
    """The instant as it is, and as those write it who know less of it."""
    cut = [instant[:length] for length in _COARSER[:3] if length < len(instant)]
    return [*cut, *([f"{instant[:19]}Z"] if len(instant) > _COARSER[3] else []), instant]


@st.composite
def told_often(draw: st.DrawFn, club: Sequence[Event]) -> list[Event]:
    """The facts of a club, in which each game is told one to three times, in any order."""
    first = [event for event in club if not isinstance(event, GameRecorded)]
    games = [attrs.evolve(event, **draw(_more(event))) for event in club if isinstance(event, GameRecorded)]
    told: list[Event] = [draw(tellings(game)) for game in games for _ in range(draw(st.integers(1, 3)))]
    return [*first, *told]


def _more(game: GameRecorded) -> st.SearchStrategy[dict[str, Any]]:
    """What games of a drawn club lack."""
    return st.fixed_dictionaries(
        {
            # No source knows the fraction of a second in which a game began.
            "started_at": st.sampled_from((None, *(known for known in coarser(game.ended_at) if "." not in known))),
            "white_rating": st.sampled_from((None, 1500)),
            "black_rating": st.sampled_from((None, 0, 1400)),
            "text": st.sampled_from((None, "0" * 64)),
        }
    )


def era(scheme: Scheme, since: str = "", carry: Carry = Carry.KEEP, *ranges: ConversionRange, **settings: Any) -> Era:
    """An era from the first millisecond of *since* on, from the beginning where it is left out."""
    since_ms = instant_ms(since) if since else BEGINNING
    return Era(since_ms, since, scheme, scheme.numbers_from(settings), settings, carry, ranges, 1)


def pool(*eras: Era, runs: tuple[str, ...] = (), **closed: str) -> Pool:
    """A pool with these eras, runs closed with these days, and tournaments by name."""
    ended = {name: tuple(map(instant_end_ms, days.split())) for name, days in closed.items()}
    return Pool(1, "standard", eras, tuple(sorted(instant_end_ms(run) for run in runs)), ended)


def place(where: Pool, ended: str, tournament: str | None = None) -> tuple[int, str]:
    return where.place(instant_ms(ended), tournament)[:2]


def nobody(_: int) -> Newcomer:
    return Newcomer()


def ending(day: str) -> int:
    return instant_end_ms(day)


def map_of(factor: str, offset: str, from_rating: str | None = None) -> ConversionRange:
    return ConversionRange(from_rating=from_rating, factor=factor, offset=offset)
