"""A ledger on a server, changed by its superuser: found by an audit, refused or harmless, as one in files is."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from ledger.journal.settings_file import server_of
from tests.attacks.__main__ import attack
from tests.attacks.families import BY_NAME, FITS_SERVERS
from tests.attacks.judge import AttackJudge
from tests.attacks.plays import AUDIT, USE_TOKENS, Attack
from tests.attacks.server_attacks import running

pytestmark = pytest.mark.outside


def test_an_untouched_ledger_on_a_server_holds(judge_on_server: AttackJudge) -> None:
    control = Attack("none", judge_on_server.history.last, reads_may_err=False)
    assert list(judge_on_server.findings(control)) == []


@pytest.mark.parametrize(
    ("statement", "fault"),
    [
        ("UPDATE club_names.people SET name = 'Mallory' WHERE player = 1", "not the one who was sealed"),
        ("UPDATE club.journal SET body = body || '\\x20' WHERE position = 3", "not what was sealed"),
        ("DELETE FROM club.journal WHERE position = 2", "not what was sealed"),
        ("DELETE FROM club.texts", "is missing"),
        ("INSERT INTO club.nodes VALUES (1, 0, decode(repeat('00', 32), 'hex'))", "not those of the tree"),
        ("ALTER TABLE club.texts DISABLE TRIGGER ALL", "objects are not those"),
        ("GRANT SELECT ON club_names.people TO PUBLIC", "objects are not those"),
        ("DELETE FROM club_tokens.refusals WHERE number = 2", "do not count from 1"),
        ("UPDATE club_tokens.sessions SET ends_ms = ends_ms + 1", "no program writes a row of sessions"),
        ("UPDATE club_tokens.sessions SET entry = 1, token = 1", "no program writes a row of sessions"),
        ("UPDATE club_tokens.file SET ledger = sha256(ledger)", "of another ledger"),
        ("DELETE FROM club_tokens.about", "objects are not those"),
        ("ALTER TABLE club_tokens.sessions SET UNLOGGED", "objects are not those"),
        ("GRANT DELETE ON club_tokens.refusals TO club_names_writer", "objects are not those"),
    ],
)
def test_the_truth_of_a_server_and_the_audit_see_the_same(
    judge_on_server: AttackJudge, statement: str, fault: str
) -> None:
    judge, said = judge_on_server, []

    def act(spoilt: Path) -> None:
        running(statement)(spoilt)
        said.extend(judge.truth.faults(spoilt))

    assert list(judge.findings(Attack("one", judge_on_server.history.last, act, (AUDIT,)))) == []
    assert fault in " ".join(said)


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM club_tokens.refusals WHERE number = (SELECT max(number) FROM club_tokens.refusals)",
        "UPDATE club_tokens.refusals SET reason = 'nobody' WHERE number = 1",
        "DELETE FROM club_tokens.sessions",
        "DELETE FROM club_tokens.sendings",
    ],
)
def test_what_of_tokens_leaves_no_trace_is_called_true_and_works(judge_on_server: AttackJudge, statement: str) -> None:
    """Nothing that is proven rests on it: the README of the audit says so."""
    point = judge_on_server.history.last
    control = Attack("none", point, running(statement), (AUDIT, USE_TOKENS), reads_may_err=False)
    assert list(judge_on_server.findings(control)) == []


def test_tokens_whose_sessions_a_foreign_rule_swallows_end_in_one_line(judge_on_server: AttackJudge) -> None:
    deaf = running("CREATE RULE deaf AS ON INSERT TO club_tokens.sessions DO INSTEAD NOTHING")
    attack = Attack("a deaf table", judge_on_server.history.last, deaf, (USE_TOKENS,))
    assert list(judge_on_server.findings(attack)) == []


def test_entries_swapped_are_named(judge_on_server: AttackJudge) -> None:
    swap = running(
        "UPDATE club.journal a SET kind = b.kind, key = b.key || 'x', body = b.body, leaf = b.leaf FROM club.journal b "
        "WHERE a.position IN (3, 4) AND b.position = 7 - a.position"
    )
    attack = Attack("entries 3 and 4 swapped", judge_on_server.history.last, swap, (AUDIT,))
    impossible = judge_on_server.impossible  # of the attacks of other tests
    assert list(judge_on_server.findings(attack)) == []
    assert judge_on_server.impossible == impossible


def test_an_older_copy_of_the_whole_ledger_is_found_by_a_later_head(judge_on_server: AttackJudge) -> None:
    """Everything in it follows; only what was kept outside tells that it is older."""
    judge, (*_, then, now) = judge_on_server, judge_on_server.history.points
    (head,) = judge.worker.run("head", now.db).out.splitlines()
    done = judge.worker.run("audit", then.db, "--since", head)
    assert (done.code, "FALSE" in done.said) == (3, True)
    assert judge.worker.run("audit", then.db).code == 0


def test_names_of_attacks_on_a_server_are_unique_in_each_family(judge_on_server: AttackJudge) -> None:
    for family in FITS_SERVERS:
        names = [attack.name for attack in BY_NAME[family].attacks(judge_on_server.history)]
        assert len(names) == len(set(names)), family


def test_a_copy_of_a_ledger_on_a_server_has_a_database_of_its_own(judge_on_server: AttackJudge) -> None:
    places = [server_of(point.db) for point in judge_on_server.history.points]
    assert len({place.address for place in places if place is not None}) == len(places)
    assert not judge_on_server.history.last.db.exists()


def test_families_about_bytes_of_files_are_wrong_usage_on_a_server() -> None:
    done = CliRunner().invoke(attack, ["--server", "--family", "bit-flips"])
    assert (done.exit_code, "on a server there are the families older-copies, " in done.output) == (2, True)
