"""The entries whose bytes are pinned under ``tests/golden``: every kind in its shortest and its fullest form.

A name that ends otherwise holds what neither form shows.
"""

from __future__ import annotations

from ledger.facts.events import (
    BirthYearLearnt,
    ClockAccepted,
    ConversionRange,
    GameRecorded,
    GameSupplemented,
    PlayerChanged,
    PlayerRegistered,
    PlayerRenamed,
    RatingRunClosed,
    RatingSeeded,
    SchemeAdopted,
    TournamentClosed,
    TournamentOpened,
)
from ledger.facts.words import Carry, Format, Outcome, Standing, Termination
from tests.kit.golden_corrections import CORRECTIONS
from tests.kit.golden_shape import SETTINGS_OF_EVERY_SHAPE, Golden
from tests.kit.places import TESTS

FOLDER = TESTS / "golden"


# By file name without ".json".
GOLDEN: dict[str, Golden] = {
    "scheme-adopted-1.minimal": Golden(
        1,
        "2026-11-21T03:15:13.000Z",
        "ledger",
        SchemeAdopted(pool="standard", scheme="chessworld", settings={}),
        "scheme-adopted/1",
    ),
    "scheme-adopted-1.from-a-date": Golden(
        2,
        "2026-11-21T03:15:13.001Z",
        "admin:eve",
        SchemeAdopted(
            pool="blitz",
            scheme="chessworld",
            settings=SETTINGS_OF_EVERY_SHAPE,
            effective_from="2013-06",
        ),
        "scheme-adopted/1",
    ),
    "scheme-adopted-1.full": Golden(
        8,
        "2026-11-21T03:15:15.000Z",
        "admin:eve",
        SchemeAdopted(
            pool="blitz",
            scheme="chessworld",
            settings=SETTINGS_OF_EVERY_SHAPE,
            effective_from="2024-03-01T00:00:00.001Z",
            carry=Carry.CONVERT,
            conversion=(
                ConversionRange(factor="0.6", offset="800"),
                ConversionRange(from_rating="2000", factor="1", offset="-0.0"),
                ConversionRange(from_rating="2400.5", factor="-1.000000000001", offset="999999999999.5"),
            ),
        ),
        "scheme-adopted/1",
    ),
    "scheme-adopted-1.keeping": Golden(
        9,
        "2026-11-21T03:15:15.001Z",
        "admin:eve",
        SchemeAdopted(pool="blitz", scheme="chessworld", settings={}, effective_from="2025", carry=Carry.KEEP),
        "scheme-adopted/1",
    ),
    "scheme-adopted-2.minimal": Golden(
        1,
        "2026-11-21T03:15:13.000Z",
        "ledger",
        SchemeAdopted(pool="standard", scheme="chessworld", settings={}),
    ),
    "scheme-adopted-2.full": Golden(
        8,
        "2026-11-21T03:15:15.000Z",
        "admin:eve",
        SchemeAdopted(
            pool="blitz",
            scheme="chessworld",
            settings=SETTINGS_OF_EVERY_SHAPE,
            scheme_version=3,
            arithmetic=2**53 - 1,
            effective_from="2024-03-01T00:00:00.001Z",
            carry=Carry.CONVERT,
            conversion=(ConversionRange(factor="0.6", offset="800"),),
        ),
    ),
    "player-registered-1.minimal": Golden(
        3,
        "2026-11-21T03:15:13.010Z",
        "import",
        PlayerRegistered(player=1, joined_at="2013", standing=Standing.FULL, commitment="0" * 64),
    ),
    "player-registered-1.full": Golden(
        4,
        "2026-11-21T03:15:13.100Z",
        "import",
        PlayerRegistered(
            player=2**31 - 1,
            joined_at="2013-06-04T19:30:00.250Z",
            standing=Standing.WELCOMER,
            commitment="0123456789abcdef" * 4,
            declared_rating=0,
            birth_year=1948,
        ),
    ),
    "player-changed-1.minimal": Golden(
        5,
        "2026-11-21T03:15:13.999Z",
        "ledger",
        PlayerChanged(player=1, effective_at="2014-01-31", standing=Standing.GUEST),
    ),
    "player-changed-1.full": Golden(
        6,
        "2026-11-21T03:15:14.000Z",
        "ledger",
        PlayerChanged(player=2, effective_at="2014-01-31T23:59:59Z", standing=Standing.FULL, declared_rating=5000),
    ),
    "player-renamed-1.minimal": Golden(
        20,
        "2026-11-21T03:15:16.004Z",
        "officer",
        PlayerRenamed(player=1, number=1, commitment="0" * 64),
    ),
    "player-renamed-1.full": Golden(
        21,
        "2026-11-21T03:15:16.005Z",
        "officer",
        PlayerRenamed(player=2**31 - 1, number=2**53 - 1, commitment="fedcba9876543210" * 4),
    ),
    "birth-year-learnt-1.minimal": Golden(
        16,
        "2026-11-21T03:15:16.000Z",
        "officer",
        BirthYearLearnt(player=1, birth_year=1700),
    ),
    "birth-year-learnt-1.full": Golden(
        17,
        "2026-11-21T03:15:16.001Z",
        "officer",
        BirthYearLearnt(player=2**31 - 1, birth_year=2200),
    ),
    "rating-seeded-1.minimal": Golden(
        18,
        "2026-11-21T03:15:16.002Z",
        "officer",
        RatingSeeded(player=1, pool="standard", rating="2344"),
    ),
    "rating-seeded-1.full": Golden(
        19,
        "2026-11-21T03:15:16.003Z",
        "officer",
        RatingSeeded(
            player=2,
            pool="by_speed-blitz",
            effective_at="2026-11-01",
            rating="2344.5",
            games=30,
            deviation="60.25",
            volatility="0.059999",
            highest="2399",
            k_factor="20",
            source='FIDE standard list "2026-11"',
        ),
    ),
    "game-recorded-1.minimal": Golden(
        7,
        "2026-11-21T03:15:14.000Z",
        "ledger",
        GameRecorded(
            game="r1-b1",
            pool="standard",
            white=1,
            black=2,
            outcome=Outcome.WHITE,
            termination=Termination.UNKNOWN,
            ended_at="2013",
            rated=True,
        ),
    ),
    "game-recorded-1.full": Golden(
        2**53 - 1,
        "2026-11-21T03:15:14.123Z",
        'Zoë "the arbiter" \\ Ω',
        GameRecorded(
            game="lichess:a/B_c.d+9",
            pool="by_speed-blitz",
            white=2,
            black=1,
            outcome=Outcome.NONE,
            termination=Termination.INSUFFICIENT_MATERIAL,
            half_moves=0,
            started_at="2013-06-04T19:30:00Z",
            ended_at="2013-06-04T19:45:00.250Z",
            tournament='Grand Prix "Ålesund" \\ 日本 \U0001f600 </script>\u2028\u00ad',
            round="3.1",
            rated=False,
            text="fedcba9876543210" * 4,
            white_rating=0,
            black_rating=5000,
        ),
    ),
    "rating-run-closed-1.minimal": Golden(
        10,
        "2026-11-21T03:15:15.010Z",
        "admin",
        RatingRunClosed(pool="a", as_of="1990"),
    ),
    "rating-run-closed-1.full": Golden(
        11,
        "2026-11-21T03:15:15.011Z",
        "admin:eve",
        RatingRunClosed(pool="by_speed-blitz", as_of="1990-06-30T23:59:59.999Z"),
    ),
    "tournament-closed-1.minimal": Golden(
        12,
        "2026-11-21T03:15:15.100Z",
        "admin",
        TournamentClosed(pool="a", tournament="x", ended_at="1999"),
    ),
    "tournament-closed-1.full": Golden(
        13,
        "2026-11-21T03:15:15.101Z",
        "admin:eve",
        TournamentClosed(
            pool="by_speed-blitz",
            tournament='Grand Prix "Ålesund" \\ 日本 \U0001f600 </script>\u2028\u00ad',
            ended_at="2013-06-04T19:45:00Z",
        ),
    ),
    "tournament-opened-1.minimal": Golden(
        15,
        "2026-11-21T03:15:15.120Z",
        "admin",
        TournamentOpened(pool="a", tournament="x", starts_at="1999", ends_at="1999"),
    ),
    "tournament-opened-1.full": Golden(
        16,
        "2026-11-21T03:15:15.121Z",
        "admin:eve",
        TournamentOpened(
            pool="by_speed-blitz",
            tournament='Grand Prix "Ålesund" \\ 日本 \U0001f600 </script>\u2028\u00ad',
            starts_at="2013-05-27",
            ends_at="2013-06-04T19:45:00Z",
            format=Format.ALL_PLAY_ALL,
            entrants=10,
            rounds=9,
        ),
    ),
    "clock-accepted-1.minimal": Golden(
        14,
        "2026-11-21T03:15:15.110Z",
        "admin",
        ClockAccepted(entry=13),
    ),
    "clock-accepted-1.full": Golden(
        2**53 - 1,
        "1970-01-01T00:00:00.000Z",
        "admin:eve",
        ClockAccepted(entry=2**53 - 2),
    ),
    "game-supplemented-1.minimal": Golden(
        15,
        "2026-11-21T03:15:15.111Z",
        "import",
        GameSupplemented(game="r1-b1", entry=7, number=1),
    ),
    "game-supplemented-1.full": Golden(
        2**53 - 1,
        "2026-11-21T03:15:15.112Z",
        "import",
        GameSupplemented(
            game="lichess:a/B_c.d+9",
            entry=2**53 - 2,
            number=2**53 - 1,
            termination=Termination.TIME,
            half_moves=20_000,
            started_at="2013-06-04T19:30:00Z",
            ended_at="2013-06-04T19:45:00.250Z",
            tournament='Grand Prix "Ålesund" \\ 日本 \U0001f600 </script>\u2028\u00ad',
            round="3.1",
            text="fedcba9876543210" * 4,
            white_rating=5000,
            black_rating=0,
        ),
    ),
    **CORRECTIONS,
}
