"""``--propose`` of the recording commands: what four eyes refuse is proposed as the refusal says.

What is approved then is what one person would have recorded where four eyes are off.
"""

import shlex
from pathlib import Path
from typing import Any

import pytest

from ledger.ledger import Ledger
from tests.kit.commands import Run
from tests.kit.corrections import made
from tests.kit.tokens import token_of
from tools.commands import REFUSED, USAGE
from tools.commands.token_options import VARIABLE

EVE = ("--propose", "--reason", "the minutes", "--by", "eve")
# Command lines; DB stands for the ledger.
REFUSED_TO_ONE = {
    "a scheme": (
        "scheme adopt DB --scheme elo --from 2026-11-03 --carry convert --map 0.6:800 --map 2000:1:0 --set k=40"
    ),
    "a run": "close-run DB --as-of 2026-11-04",
    "an opening": (
        "open-tournament DB Open --start 2026-11-01 --end 2026-11-04 --format swiss --entrants 4 --rounds 2"
    ),
    "a closing": "close-tournament DB Open --ended 2026-11-04",
    "a player": "player set DB Ann --standing welcomer --declared 1700 --born 2001 --since 2026-11-01",
    "a past": "player set DB Bob --rating 1850 --games 120 --list \"list of 'May'\"",
    "four eyes": "policy set DB four-eyes on=false",
}
TAKEN_FROM_ONE = {
    "a game": "record DB --white Ann --black Bob --result 1-0 --ended 2026-11-09",
    "a bye": "bye DB Open Ann --round 7 --brings allotted --half-points 1",
    "a margin": "policy set DB upsets margin=250 --from 2024",
}
# The verbs of 'correct' for the same.
VERBS = {
    "a scheme": (
        "correct DB adopt elo --from 2026-11-03 --settings '{\"k\": \"40\"}' --carry convert --map '0.6:800 2000:1:0'"
    ),
    "a run": "correct DB close-run --ended 2026-11-04",
    "an opening": (
        "correct DB open-tournament Open --started 2026-11-01 --ended 2026-11-04 --format swiss --entrants 4 --rounds 2"
    ),
    "a closing": "correct DB close-tournament Open --ended 2026-11-04",
    "a past": "correct DB rating Bob --to 1850 --games 120 --list \"list of 'May'\"",
}


def words(line: str, path: Path) -> list[str]:
    return [str(path) if word == "DB" else word for word in shlex.split(line)]


@pytest.fixture(name="four_eyed")
def _four_eyed(tmp_path: Path, run: Run) -> Path:
    made(tmp_path / "club.db").close()
    assert run("policy", "set", tmp_path / "club.db", "four-eyes", "on=true", "--by", "adam").code == 0
    return tmp_path / "club.db"


def facts(path: Path) -> list[tuple[str, str, Any]]:
    """What the journal holds, but proposals and decisions."""
    with Ledger.open(path) as ledger:
        entries = [entry for entry in ledger.entries() if not entry.kind.startswith("correction-")]
        return [(entry.kind, entry.key, entry.facts) for entry in entries]


def approved(club: Path, run: Run) -> None:
    with Ledger.open(club) as ledger:
        seen = ledger.journal.size()
    done = run("correct", club, "approve", "1", "--by", "adam", "--seen", str(seen))
    assert done.code == 0, done.err
    assert run("audit", club).out.startswith("TRUE")


@pytest.mark.parametrize("what", REFUSED_TO_ONE)
def test_the_refusal_names_the_line_that_proposes_it(what: str, four_eyed: Path, run: Run) -> None:
    there = facts(four_eyed)
    done = run(*words(REFUSED_TO_ONE[what], four_eyed))
    assert (done.code, done.out) == (REFUSED, "")
    assert done.err.startswith("error: needs-a-proposal: four eyes are on")
    line = shlex.split(done.err[done.err.index("rating-ledger ") :])
    assert line[-5:] == ["--propose", "--reason", "...", "--by", "NAME"]
    assert facts(four_eyed) == there
    done = run(*line[1:])
    assert (done.code, done.out.startswith("proposal 1 is open: 'correct ")) == (0, True), done.err
    assert facts(four_eyed) == there
    approved(four_eyed, run)
    alone = four_eyed.with_name("alone.db")
    made(alone).close()
    assert run(*words(REFUSED_TO_ONE[what], alone)).code == 0
    if what != "four eyes":
        assert facts(four_eyed)[len(there) :] == facts(alone)[len(there) - 1 :]
    else:
        assert facts(four_eyed)[-1][2]["settings"] == {"on": False, "tokens": False, "warnings": False}


@pytest.mark.parametrize("what", TAKEN_FROM_ONE)
def test_what_one_may_record_can_be_proposed_too(what: str, four_eyed: Path, run: Run) -> None:
    there = facts(four_eyed)
    done = run(*words(TAKEN_FROM_ONE[what], four_eyed), *EVE)
    assert (done.code, done.out.startswith("proposal 1 is open: 'correct ")) == (0, True), done.err
    assert facts(four_eyed) == there
    approved(four_eyed, run)
    with Ledger.open(four_eyed) as ledger:
        assert ledger.corrections.proposal(1).reason == "the minutes"
        assert ledger.corrections.proposal(1).proposal.proposed_by == "eve"
    proposed = facts(four_eyed)[len(there) :]
    (_, key, _) = proposed[0]
    done = run(*words(TAKEN_FROM_ONE[what], four_eyed))
    assert done.code == 0, done.err
    assert facts(four_eyed)[len(there) :] == proposed, f"{key} is known already"


@pytest.mark.parametrize("what", VERBS)
def test_the_verbs_of_correct_are_names_for_the_same(what: str, four_eyed: Path, run: Run) -> None:
    assert run(*words(REFUSED_TO_ONE[what], four_eyed), *EVE).code == 0
    assert run(*words(VERBS[what], four_eyed), "--reason", "the minutes again", "--by", "eve").code == 0
    with Ledger.open(four_eyed) as ledger:
        one, other = (known.changes for known in ledger.corrections.proposals())
        assert one == other


def test_a_reason_goes_with_a_proposal(four_eyed: Path, run: Run) -> None:
    done = run("close-run", four_eyed, "--as-of", "2026-11-04", "--reason", "late")
    assert (done.code, "--reason: for --propose alone" in done.err) == (USAGE, True)
    done = run("close-run", four_eyed, "--as-of", "2026-11-04", "--propose", "--by", "eve")
    assert (done.code, done.err.startswith("error: no-reason: a reason is missing")) == (REFUSED, True)


def test_a_proposal_registers_nobody(four_eyed: Path, run: Run) -> None:
    zoe = ("record", four_eyed, "--white", "Ann", "--black", "Zoe", "--result", "1-0", *EVE)
    done = run(*zoe, "--new")
    assert (done.code, "a proposal registers nobody" in done.err) == (USAGE, True)
    done = run(*zoe)
    assert (done.code, "no player 'Zoe'" in done.err) == (REFUSED, True)


def test_every_fault_of_what_is_proposed_is_named_at_once(four_eyed: Path, run: Run) -> None:
    late = "player set DB Ann --standing guest --declared 1700 --rating 1500 --since 2026-11-20"
    done = run(*words(late, four_eyed), *EVE)
    assert (done.code, done.err.count("after-the-first-game: ")) == (REFUSED, 1)


def test_where_tokens_are_set_up_the_token_names_who_proposes(
    four_eyed: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    eve, adam = token_of(run, four_eyed, "eve", "corrector"), token_of(run, four_eyed, "adam", "approver")
    done = run("close-run", four_eyed, "--as-of", "2026-11-04")
    line = shlex.split(done.err[done.err.index("rating-ledger ") :])
    assert line[-3:] == ["--propose", "--reason", "..."]
    assert "needs-a-token" in run(*line[1:]).err
    monkeypatch.setenv(VARIABLE, eve)
    assert run(*line[1:]).code == 0
    assert "not-this-role" in run("correct", four_eyed, "approve", "1").err
    monkeypatch.setenv(VARIABLE, adam)
    approved(four_eyed, run)
    with Ledger.open(four_eyed) as ledger:
        shown = ledger.corrections.proposal(1).proposal
        assert (shown.proposed_by, bool(shown.proposed_proven), shown.decided_by) == ("eve", True, "adam")


LIST = """name,identity,rating,birth_year,since
Ann,name:ann,1850,,2026-10-01
Bob,name:bob,,1990,
Zoe,name:zoe,1700,2001,2026-10-01
"""


def test_a_list_of_players_is_proposed_by_the_line_that_its_refusal_names(four_eyed: Path, run: Run) -> None:
    members = four_eyed.with_name("members.csv")
    members.write_text(LIST, "utf-8")
    there = facts(four_eyed)
    done = run("players", "import", four_eyed, members)
    assert (done.code, done.err.count("needs-a-proposal: "), facts(four_eyed)) == (REFUSED, 2, there)
    line = shlex.split(done.err[done.err.index("rating-ledger ") :])
    assert line[-5:] == ["--propose", "--reason", "...", "--by", "NAME"]
    looked = run("players", "import", four_eyed, members, "--dry-run", "-t")
    assert shlex.split(looked.err[looked.err.index("rating-ledger ") :].splitlines()[0]) == line, "without the look"
    done = run(*line[1:])
    assert (done.code, done.out.startswith("proposal 1 is open: 'correct ")) == (0, True), done.err
    assert "3 players, 1 of them new, 1 rating, 2 facts proposed" in done.err
    newcomer = [key for _, key, _ in facts(four_eyed)[len(there) :]]
    assert newcomer == ["player:5", "seed:standard:5@2026-10-01"]
    approved(four_eyed, run)
    learnt = {key: told for _, key, told in facts(four_eyed)[len(there) + 2 :]}
    assert {told.get("rating", told.get("birth_year")) for told in learnt.values()} == {"1850", 1990}
    done = run("players", "import", four_eyed, members)
    assert (done.code, "0 of them new, 0 ratings" in done.err) == (0, True), "it is known already"


def test_a_list_whose_proposal_is_refused_registers_nobody(four_eyed: Path, run: Run) -> None:
    members = four_eyed.with_name("members.csv")
    members.write_text(LIST, "utf-8")
    there = facts(four_eyed)
    done = run("players", "import", four_eyed, members, "--propose", "--by", "eve")
    assert (done.code, "no-reason: " in done.err, facts(four_eyed)) == (REFUSED, True, there)
    assert run("players", "import", four_eyed, members, *EVE).code == 0
    assert facts(four_eyed) != there
