"""The entries of corrections, policies, published lists and erasures whose bytes are pinned."""

from __future__ import annotations

from ledger.facts.changes import Change, Verb, Which
from ledger.facts.events import (
    CorrectionDecided,
    CorrectionProposed,
    Decision,
    ListPublished,
    PersonErased,
    PolicySet,
    TokenIssued,
    TokenRevoked,
)
from tests.kit.golden_shape import SETTINGS_OF_EVERY_SHAPE, Golden

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
    Change(do=Verb.ANNUL_GAMES, player=3, which=Which.ALL),
    Change(do=Verb.ANNUL_GAMES, player=3, which=Which.LOSSES, since="2013", until="2013-06-04"),
    Change(do=Verb.ANNUL_TOURNAMENT, pool="standard", tournament="Grand Prix \u65e5\u672c", since="2013-06"),
    Change(do=Verb.RESTORE_TOURNAMENT, pool="standard", tournament="Open"),
    Change(do=Verb.UNDO, proposal=12),
)

CORRECTIONS: dict[str, Golden] = {
    "correction-proposed-1.minimal": Golden(
        16,
        "2026-11-21T03:15:16.000Z",
        "eve",
        CorrectionProposed(
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
        CorrectionProposed(
            proposal=2**53 - 1,
            part=2,
            parts=2,
            changes=EVERY_CHANGE,
            reason="0123456789abcdef" * 4,
            proven=True,
        ),
        "correction-proposed/1",
    ),
    "correction-decided-1.minimal": Golden(
        18,
        "2026-11-21T03:15:16.002Z",
        "adam",
        CorrectionDecided(proposal=1, decision=Decision.WITHDRAWN, proven=False),
        "correction-decided/1",
    ),
    "correction-decided-1.full": Golden(
        19,
        "2026-11-21T03:15:16.003Z",
        "adam",
        CorrectionDecided(proposal=2**53 - 1, decision=Decision.APPROVED, reason="f" * 64, proven=True),
        "correction-decided/1",
    ),
    "correction-proposed-2.minimal": Golden(
        16,
        "2026-11-21T03:15:16.000Z",
        "eve",
        CorrectionProposed(
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
        CorrectionProposed(
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
        CorrectionDecided(proposal=1, decision=Decision.WITHDRAWN, proven=False),
    ),
    "correction-decided-2.full": Golden(
        19,
        "2026-11-21T03:15:16.003Z",
        "adam",
        CorrectionDecided(
            proposal=2**53 - 1, decision=Decision.APPROVED, reason="f" * 64, proven=True, by_token=2**53 - 1
        ),
    ),
    "policy-set-1.minimal": Golden(
        20,
        "2026-11-21T03:15:16.004Z",
        "ledger",
        PolicySet(policy="four-eyes", number=1, settings={"on": True}),
    ),
    "policy-set-1.full": Golden(
        21,
        "2026-11-21T03:15:16.005Z",
        "admin:eve",
        PolicySet(policy="upsets", number=2**53 - 1, settings=SETTINGS_OF_EVERY_SHAPE, effective_from="2006-01-01"),
    ),
    "list-published-1.minimal": Golden(
        22,
        "2026-11-21T03:15:16.006Z",
        "ledger",
        ListPublished(
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
        ListPublished(
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
    "person-erased-1.minimal": Golden(24, "2026-11-21T03:15:16.008Z", "ledger", PersonErased(player=1)),
    "person-erased-1.full": Golden(25, "2026-11-21T03:15:16.009Z", "admin:eve", PersonErased(player=2**31 - 1)),
    "token-issued-1.minimal": Golden(
        26,
        "2026-11-21T03:15:16.010Z",
        "admin",
        TokenIssued(number=1, person="eve", roles="corrector", salt="0" * 64, digest="1" * 64, reset=False),
    ),
    "token-issued-1.full": Golden(
        27,
        "2026-11-21T03:15:16.011Z",
        "admin:eve",
        TokenIssued(
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
    "token-revoked-1.minimal": Golden(28, "2026-11-21T03:15:16.012Z", "admin", TokenRevoked(number=1)),
    "token-revoked-1.full": Golden(
        29, "2026-11-21T03:15:16.013Z", "admin:eve", TokenRevoked(number=2**53 - 1, by_token=2**53 - 1)
    ),
}
