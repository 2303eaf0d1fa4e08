"""The entries whose bytes are pinned under ``tests/golden``: every kind in its shortest and its fullest form."""

from typing import NamedTuple

from ledger.facts import events
from ledger.facts.changes import AnnulmentScope, Change, Verb
from ledger.facts.codec import assemble, facts
from ledger.facts.words import Brings, Carry, Colour, Format, Outcome, Standing, Strength, Termination
from tests.kit.places import TESTS


class Golden(NamedTuple):
    """An entry as it is given to the codec."""

    position: int
    recorded_at: str
    actor: str
    event: events.Event
    old_kind: str = ""  # where it is of a kind that is no longer written

    def body(self) -> bytes:
        """Its bytes as the codec writes them, or wrote them."""
        event = self.event
        kind = self.old_kind or event.KIND
        return assemble(self.position, self.recorded_at, self.actor, kind, event.key, facts(event))


SETTINGS_OF_EVERY_SHAPE: dict[str, int | bool | str] = {
    "provisional_games": 50,
    "a-switch": True,
    "Z": "-0.250",
    "k": "32",
    "big": -(2**53 - 1),
}


EVERY_CHANGE = (
    Change(
        do=Verb.REPLACE,
        fact="game:r1-b1",
        entry=7,
        expects={"outcome": "white", "round": "", "half_moves": 31, "rated": True},
        facts={"outcome": "draw", "round": "3.1", "half_moves": "", "rated": False},
    ),
    Change(
        do=Verb.REPLACE,
        fact="scheme:standard@2006",
        entry=2**53 - 1,
        expects={"settings": {"a-switch": False}, "conversion": ""},
        facts={"settings": SETTINGS_OF_EVERY_SHAPE, "conversion": [{"factor": "0.6", "offset": "800"}]},
    ),
    Change(do=Verb.ANNUL, fact="run:standard@2024-02-29", entry=9),
    Change(do=Verb.RESTORE, fact="game:lichess:a/B_c.d+9", entry=10),
    Change(
        do=Verb.ADD,
        fact="player:1@2014-01-31",
        kind="player-changed/1",
        facts={"player": 1, "effective_at": "2014-01-31", "standing": "guest"},
    ),
    Change(do=Verb.MERGE, player=1, into=2**31 - 1),
    Change(do=Verb.PART, player=1, into=2),
    Change(do=Verb.ANNUL_GAMES, player=3, which=AnnulmentScope.ALL),
    Change(do=Verb.ANNUL_GAMES, player=3, which=AnnulmentScope.LOSSES, since="2013", until="2013-06-04"),
    Change(do=Verb.ANNUL_TOURNAMENT, pool="standard", tournament="Grand Prix \u65e5\u672c", since="2013-06"),
    Change(do=Verb.RESTORE_TOURNAMENT, pool="standard", tournament="Open"),
    Change(do=Verb.UNDO, proposal=12),
)

CORRECTIONS: dict[str, Golden] = {
    "correction-proposed-1.minimal": Golden(
        16,
        "2026-11-21T03:15:16.000Z",
        "eve",
        events.CorrectionProposed(
            proposal=1,
            part=1,
            parts=1,
            changes=(Change(do=Verb.ANNUL, fact="game:r1-b1", entry=7),),
            reason="0" * 64,
            proven=False,
        ),
        "correction-proposed/1",
    ),
    "correction-proposed-1.full": Golden(
        17,
        "2026-11-21T03:15:16.001Z",
        "admin:eve",
        events.CorrectionProposed(
            proposal=2**53 - 1, part=2, parts=2, changes=EVERY_CHANGE, reason="0123456789abcdef" * 4, proven=True
        ),
        "correction-proposed/1",
    ),
    "correction-decided-1.minimal": Golden(
        18,
        "2026-11-21T03:15:16.002Z",
        "adam",
        events.CorrectionDecided(proposal=1, decision=events.Decision.WITHDRAWN, proven=False),
        "correction-decided/1",
    ),
    "correction-decided-1.full": Golden(
        19,
        "2026-11-21T03:15:16.003Z",
        "adam",
        events.CorrectionDecided(proposal=2**53 - 1, decision=events.Decision.APPROVED, reason="f" * 64, proven=True),
        "correction-decided/1",
    ),
    "correction-proposed-2.minimal": Golden(
        16,
        "2026-11-21T03:15:16.000Z",
        "eve",
        events.CorrectionProposed(
            proposal=1,
            part=1,
            parts=1,
            changes=(Change(do=Verb.ANNUL, fact="game:r1-b1", entry=7),),
            reason="0" * 64,
            proven=False,
        ),
    ),
    "correction-proposed-2.full": Golden(
        17,
        "2026-11-21T03:15:16.001Z",
        "admin:eve",
        events.CorrectionProposed(
            proposal=2**53 - 1,
            part=2,
            parts=2,
            changes=EVERY_CHANGE,
            reason="0123456789abcdef" * 4,
            proven=True,
            by_token=2**53 - 1,
        ),
    ),
    "correction-decided-2.minimal": Golden(
        18,
        "2026-11-21T03:15:16.002Z",
        "adam",
        events.CorrectionDecided(proposal=1, decision=events.Decision.WITHDRAWN, proven=False),
    ),
    "correction-decided-2.full": Golden(
        19,
        "2026-11-21T03:15:16.003Z",
        "adam",
        events.CorrectionDecided(
            proposal=2**53 - 1, decision=events.Decision.APPROVED, reason="f" * 64, proven=True, by_token=2**53 - 1
        ),
    ),
    "policy-set-1.minimal": Golden(
        20, "2026-11-21T03:15:16.004Z", "ledger", events.PolicySet(policy="four-eyes", number=1, settings={"on": True})
    ),
    "policy-set-1.full": Golden(
        21,
        "2026-11-21T03:15:16.005Z",
        "admin:eve",
        events.PolicySet(
            policy="upsets", number=2**53 - 1, settings=SETTINGS_OF_EVERY_SHAPE, effective_from="2006-01-01"
        ),
    ),
    "list-published-1.minimal": Golden(
        22,
        "2026-11-21T03:15:16.006Z",
        "ledger",
        events.ListPublished(
            pool="standard",
            as_of="2024-02",
            edition=1,
            head=1,
            root="0" * 64,
            digest="1" * 64,
            players=0,
            scheme="elo",
            scheme_version=1,
            arithmetic=1,
        ),
    ),
    "list-published-1.full": Golden(
        23,
        "2026-11-21T03:15:16.007Z",
        "admin:eve",
        events.ListPublished(
            pool="blitz",
            as_of="2024-02-29T23:59:59.999Z",
            edition=2**53 - 1,
            head=2**53 - 1,
            root="f" * 64,
            digest="e" * 64,
            players=2**31 - 1,
            scheme="chessworld",
            scheme_version=2**53 - 1,
            arithmetic=2**53 - 1,
        ),
    ),
    "person-erased-1.minimal": Golden(24, "2026-11-21T03:15:16.008Z", "ledger", events.PersonErased(player=1)),
    "person-erased-1.full": Golden(25, "2026-11-21T03:15:16.009Z", "admin:eve", events.PersonErased(player=2**31 - 1)),
    "token-issued-1.minimal": Golden(
        26,
        "2026-11-21T03:15:16.010Z",
        "admin",
        events.TokenIssued(number=1, person="eve", roles="corrector", salt="0" * 64, digest="1" * 64, reset=False),
    ),
    "token-issued-1.full": Golden(
        27,
        "2026-11-21T03:15:16.011Z",
        "admin:eve",
        events.TokenIssued(
            number=2**53 - 1,
            person="Åsa 日本",
            roles="recorder corrector approver auditor",
            salt="e" * 64,
            digest="f" * 64,
            expires_at="2027-02-28T23:59:59.999Z",
            by_token=2**53 - 1,
            reset=True,
        ),
    ),
    "token-revoked-1.minimal": Golden(28, "2026-11-21T03:15:16.012Z", "admin", events.TokenRevoked(number=1)),
    "token-revoked-1.full": Golden(
        29, "2026-11-21T03:15:16.013Z", "admin:eve", events.TokenRevoked(number=2**53 - 1, by_token=2**53 - 1)
    ),
}


FOLDER = TESTS / "golden"


# By file name without ".json".
GOLDEN: dict[str, Golden] = {
    "scheme-adopted-1.minimal": Golden(
        1,
        "2026-11-21T03:15:13.000Z",
        "ledger",
        events.SchemeAdopted(pool="standard", scheme="chessworld", settings={}),
        "scheme-adopted/1",
    ),
    "scheme-adopted-1.from-a-date": Golden(
        2,
        "2026-11-21T03:15:13.001Z",
        "admin:eve",
        events.SchemeAdopted(
            pool="blitz", scheme="chessworld", settings=SETTINGS_OF_EVERY_SHAPE, effective_from="2013-06"
        ),
        "scheme-adopted/1",
    ),
    "scheme-adopted-1.full": Golden(
        8,
        "2026-11-21T03:15:15.000Z",
        "admin:eve",
        events.SchemeAdopted(
            pool="blitz",
            scheme="chessworld",
            settings=SETTINGS_OF_EVERY_SHAPE,
            effective_from="2024-03-01T00:00:00.001Z",
            carry=Carry.CONVERT,
            conversion=(
                events.ConversionRange(factor="0.6", offset="800"),
                events.ConversionRange(from_rating="2000", factor="1", offset="-0.0"),
                events.ConversionRange(from_rating="2400.5", factor="-1.000000000001", offset="999999999999.5"),
            ),
        ),
        "scheme-adopted/1",
    ),
    "scheme-adopted-1.keeping": Golden(
        9,
        "2026-11-21T03:15:15.001Z",
        "admin:eve",
        events.SchemeAdopted(pool="blitz", scheme="chessworld", settings={}, effective_from="2025", carry=Carry.KEEP),
        "scheme-adopted/1",
    ),
    "scheme-adopted-2.minimal": Golden(
        1, "2026-11-21T03:15:13.000Z", "ledger", events.SchemeAdopted(pool="standard", scheme="chessworld", settings={})
    ),
    "scheme-adopted-2.full": Golden(
        8,
        "2026-11-21T03:15:15.000Z",
        "admin:eve",
        events.SchemeAdopted(
            pool="blitz",
            scheme="chessworld",
            settings=SETTINGS_OF_EVERY_SHAPE,
            scheme_version=3,
            arithmetic=2**53 - 1,
            effective_from="2024-03-01T00:00:00.001Z",
            carry=Carry.CONVERT,
            conversion=(events.ConversionRange(factor="0.6", offset="800"),),
        ),
    ),
    "player-registered-1.minimal": Golden(
        3,
        "2026-11-21T03:15:13.010Z",
        "import",
        events.PlayerRegistered(player=1, joined_at="2013", standing=Standing.FULL, commitment="0" * 64),
    ),
    "player-registered-1.full": Golden(
        4,
        "2026-11-21T03:15:13.100Z",
        "import",
        events.PlayerRegistered(
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
        events.PlayerChanged(player=1, effective_at="2014-01-31", standing=Standing.GUEST),
    ),
    "player-changed-1.full": Golden(
        6,
        "2026-11-21T03:15:14.000Z",
        "ledger",
        events.PlayerChanged(
            player=2, effective_at="2014-01-31T23:59:59Z", standing=Standing.FULL, declared_rating=5000
        ),
    ),
    "player-renamed-1.minimal": Golden(
        20, "2026-11-21T03:15:16.004Z", "officer", events.PlayerRenamed(player=1, number=1, commitment="0" * 64)
    ),
    "player-renamed-1.full": Golden(
        21,
        "2026-11-21T03:15:16.005Z",
        "officer",
        events.PlayerRenamed(player=2**31 - 1, number=2**53 - 1, commitment="fedcba9876543210" * 4),
    ),
    "birth-year-learnt-1.minimal": Golden(
        16, "2026-11-21T03:15:16.000Z", "officer", events.BirthYearLearnt(player=1, birth_year=1700)
    ),
    "birth-year-learnt-1.full": Golden(
        17, "2026-11-21T03:15:16.001Z", "officer", events.BirthYearLearnt(player=2**31 - 1, birth_year=2200)
    ),
    "rating-seeded-1.minimal": Golden(
        18, "2026-11-21T03:15:16.002Z", "officer", events.RatingSeeded(player=1, pool="standard", rating="2344")
    ),
    "rating-seeded-1.full": Golden(
        19,
        "2026-11-21T03:15:16.003Z",
        "officer",
        events.RatingSeeded(
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
        events.GameRecorded(
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
    "game-recorded-1.without-sequence": Golden(
        2**53 - 1,
        "2026-11-21T03:15:14.123Z",
        'Zoë "the arbiter" \\ Ω',
        events.GameRecorded(
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
    "game-recorded-1.full": Golden(
        2**53 - 1,
        "2026-11-21T03:15:14.123Z",
        'Zoë "the arbiter" \\ Ω',
        events.GameRecorded(
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
            sequence=2**53 - 1,
            rated=False,
            text="fedcba9876543210" * 4,
            white_rating=0,
            black_rating=5000,
        ),
    ),
    "rating-run-closed-1.minimal": Golden(
        10, "2026-11-21T03:15:15.010Z", "admin", events.RatingRunClosed(pool="a", as_of="1990")
    ),
    "rating-run-closed-1.full": Golden(
        11,
        "2026-11-21T03:15:15.011Z",
        "admin:eve",
        events.RatingRunClosed(pool="by_speed-blitz", as_of="1990-06-30T23:59:59.999Z"),
    ),
    "tournament-closed-1.minimal": Golden(
        12, "2026-11-21T03:15:15.100Z", "admin", events.TournamentClosed(pool="a", tournament="x", ended_at="1999")
    ),
    "tournament-closed-1.full": Golden(
        13,
        "2026-11-21T03:15:15.101Z",
        "admin:eve",
        events.TournamentClosed(
            pool="by_speed-blitz",
            tournament='Grand Prix "Ålesund" \\ 日本 \U0001f600 </script>\u2028\u00ad',
            ended_at="2013-06-04T19:45:00Z",
        ),
    ),
    "tournament-opened-1.minimal": Golden(
        15,
        "2026-11-21T03:15:15.120Z",
        "admin",
        events.TournamentOpened(pool="a", tournament="x", starts_at="1999", ends_at="1999"),
    ),
    "tournament-opened-1.full": Golden(
        16,
        "2026-11-21T03:15:15.121Z",
        "admin:eve",
        events.TournamentOpened(
            pool="by_speed-blitz",
            tournament='Grand Prix "Ålesund" \\ 日本 \U0001f600 </script>\u2028\u00ad',
            starts_at="2013-05-27",
            ends_at="2013-06-04T19:45:00Z",
            format=Format.ALL_PLAY_ALL,
            entrants=10,
            rounds=9,
        ),
    ),
    "round-without-game-1.minimal": Golden(
        17,
        "2026-11-21T03:15:15.130Z",
        "admin",
        events.RoundWithoutGame(pool="a", tournament="x", edition="1999", player=1, brings=Brings.ABSENT),
    ),
    "round-without-game-1.without-opponent": Golden(
        18,
        "2026-11-21T03:15:15.131Z",
        "admin:eve",
        events.RoundWithoutGame(
            pool="by_speed-blitz",
            tournament='Grand Prix "Ålesund" \\ 日本 \U0001f600 </script>\u2028\u00ad @1:2',
            edition="2013-05-27",
            round=10_000,
            player=2**31 - 1,
            brings=Brings.ALLOTTED,
            half_points=1,
        ),
    ),
    "round-without-game-1.full": Golden(
        18,
        "2026-11-21T03:15:15.131Z",
        "admin:eve",
        events.RoundWithoutGame(
            pool="by_speed-blitz",
            tournament='Grand Prix "Ålesund" \\ 日本 \U0001f600 </script>\u2028\u00ad @1:2',
            edition="2013-05-27",
            round=10_000,
            player=2**31 - 1,
            brings=Brings.ALLOTTED,
            half_points=1,
            opponent=1,
            colour=Colour.BLACK,
        ),
    ),
    "player-entered-1.minimal": Golden(
        17,
        "2026-11-21T03:15:15.132Z",
        "import",
        events.PlayerEntered(pool="a", tournament="x", edition="1999", player=1, number=1, start_number=1),
    ),
    "player-entered-1.without-federation": Golden(
        2**53 - 1,
        "2026-11-21T03:15:15.133Z",
        "import",
        events.PlayerEntered(
            pool="by_speed-blitz",
            tournament='Grand Prix "Ålesund" \\ 日本 \U0001f600 </script>\u2028\u00ad @1:2',
            edition="2013-05-27",
            player=2**31 - 1,
            number=2**53 - 1,
            start_number=9_999,
            rating=5_000,
            place=9_999,
        ),
    ),
    "player-entered-1.full": Golden(
        2**53 - 1,
        "2026-11-30T03:15:15.133Z",
        "import",
        events.PlayerEntered(
            pool="by_speed-blitz",
            tournament='Grand Prix "Ålesund" \\ 日本 \U0001f600 </script>\u2028\u00ad @1:2',
            edition="2013-05-27",
            player=2**31 - 1,
            number=2**53 - 1,
            start_number=9_999,
            rating=5_000,
            place=9_999,
            federation="NOR",
        ),
    ),
    "tournament-described-1.minimal": Golden(
        17,
        "2026-11-21T03:15:15.134Z",
        "import",
        events.TournamentDescribed(pool="a", tournament="x", edition="1999", number=1),
    ),
    "tournament-described-1.full": Golden(
        18,
        "2026-11-21T03:15:15.135Z",
        "import",
        events.TournamentDescribed(
            pool="by_speed-blitz",
            tournament='Grand Prix "Ålesund" \\ 日本 \U0001f600 </script>\u2028\u00ad @1:2',
            edition="2013-05-27",
            number=2**53 - 1,
            city='Ålesund "Sentrum"',
            federation="NOR",
            system="Individual: Swiss-System",
            time_control="90 min + 30 s",
            time_code="5400+30",
            rounds=10_000,
            round_days="2013-05-27 - 2013-05-29",
            first_colour=Colour.WHITE,
            scoring="W 3.0 D 1.0 L 0.0",
            start_order="NOR FIDON",
            program="bbpPairings",
            system_code="FIDE_DUTCH_2025",
            tie_breaks="BH/C1,BH,SB",
            standings_order="PTS,DE,BH/C1",
            arbiters="0123456789abcdef" * 4,
        ),
    ),
    "report-sent-1.minimal": Golden(
        17,
        "2026-11-21T03:15:15.138Z",
        "export",
        events.ReportSent(
            pool="a",
            tournament="x",
            edition="1999",
            number=1,
            form="trf16",
            digest="0" * 64,
            text="1" * 64,
            sent_on="1999",
        ),
    ),
    "report-sent-1.full": Golden(
        18,
        "2026-11-21T03:15:15.139Z",
        "admin:eve",
        events.ReportSent(
            pool="by_speed-blitz",
            tournament='Grand Prix "Ålesund" \\ 日本 \U0001f600 </script>\u2028\u00ad @1:2',
            edition="2013-05-27",
            number=2**53 - 1,
            form="trf26",
            digest="f" * 64,
            text="e" * 64,
            sent_on="2013-06-04",
            since="2013-05-01",
            until="2013-05-31",
        ),
    ),
    "player-described-1.minimal": Golden(
        17,
        "2026-11-21T03:15:15.136Z",
        "import",
        events.PlayerDescribed(player=1, effective_at="1999", number=1, details="0" * 64),
    ),
    "player-described-1.full": Golden(
        18,
        "2026-11-21T03:15:15.137Z",
        "import",
        events.PlayerDescribed(
            player=2**31 - 1, effective_at="2013-05-27", number=2**53 - 1, details="0123456789abcdef" * 4
        ),
    ),
    "warnings-accepted-1.minimal": Golden(
        23,
        "2026-11-21T03:15:15.140Z",
        "import",
        events.WarningsAccepted(pool="a", edition="1999", number=1, codes="rating-differs", warnings=1),
    ),
    "warnings-accepted-1.full": Golden(
        24,
        "2026-11-21T03:15:15.141Z",
        "admin:eve",
        events.WarningsAccepted(
            pool="by_speed-blitz",
            tournament='Grand Prix "Ålesund" \\ 日本 \U0001f600 </script>\u2028\u00ad',
            edition="2013-05-27",
            number=2**53 - 1,
            codes="federation-differs rating-differs",
            warnings=2**53 - 1,
        ),
    ),
    "federation-set-1.minimal": Golden(
        48,
        "2026-11-30T03:15:16.000Z",
        "officer",
        events.FederationSet(player=1, effective_at="1999", federation="NOR"),
    ),
    "federation-set-1.full": Golden(
        49,
        "2026-11-30T03:15:16.001Z",
        "officer",
        events.FederationSet(player=2**31 - 1, effective_at="2024-07-01T00:00:00.001Z", federation="SWE"),
    ),
    "strength-chosen-1.minimal": Golden(
        19,
        "2026-11-21T03:15:15.132Z",
        "admin",
        events.StrengthChosen(player=1, pool="a", effective_at="1999", strength=Strength.BEGINNER),
    ),
    "strength-chosen-1.full": Golden(
        20,
        "2026-11-21T03:15:15.133Z",
        "admin:eve",
        events.StrengthChosen(
            player=2**31 - 1,
            pool="by_speed-blitz",
            effective_at="2013-05-27T09:00:00.001Z",
            strength=Strength.ADVANCED,
        ),
    ),
    "clock-accepted-1.minimal": Golden(14, "2026-11-21T03:15:15.110Z", "admin", events.ClockAccepted(entry=13)),
    "clock-accepted-1.full": Golden(
        2**53 - 1, "1970-01-01T00:00:00.000Z", "admin:eve", events.ClockAccepted(entry=2**53 - 2)
    ),
    "game-supplemented-1.minimal": Golden(
        15, "2026-11-21T03:15:15.111Z", "import", events.GameSupplemented(game="r1-b1", entry=7, number=1)
    ),
    "game-supplemented-1.without-sequence": Golden(
        2**53 - 1,
        "2026-11-21T03:15:15.112Z",
        "import",
        events.GameSupplemented(
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
    "game-supplemented-1.full": Golden(
        2**53 - 1,
        "2026-11-21T03:15:15.112Z",
        "import",
        events.GameSupplemented(
            game="lichess:a/B_c.d+9",
            entry=2**53 - 2,
            number=2**53 - 1,
            termination=Termination.TIME,
            half_moves=20_000,
            started_at="2013-06-04T19:30:00Z",
            ended_at="2013-06-04T19:45:00.250Z",
            tournament='Grand Prix "Ålesund" \\ 日本 \U0001f600 </script>\u2028\u00ad',
            round="3.1",
            sequence=2**53 - 1,
            text="fedcba9876543210" * 4,
            white_rating=5000,
            black_rating=0,
        ),
    ),
    **CORRECTIONS,
}
