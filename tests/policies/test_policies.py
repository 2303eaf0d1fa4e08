"""Policies: which settings hold when, how they are numbered, and what no policy takes."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.audit.audit import audit, table_digests
from ledger.book.policies import MOST_POINTS, POLICIES, Policies, PolicyRow, check_settings, complete_settings
from ledger.book.timeline import BEGINNING
from ledger.errors import LedgerError, MalformedError, RejectedError, UnknownNameError
from ledger.facts.events import PolicySet
from ledger.facts.instants import instant_ms
from ledger.ledger import Ledger
from ledger.runtime import sqlite
from ledger.runtime.ledger_files import sidecar
from tests.kit.clubs import ClubOfTwo
from tests.kit.corrections import approve
from tests.kit.games import game_recorded


def row(number: int, since: str, margin: int, policy: str = "upsets") -> PolicyRow:
    since_ms = instant_ms(since) if since else BEGINNING
    return PolicyRow(policy, number, since_ms, since, {"margin": margin}, 10 + number)


def test_what_nobody_has_set_holds_by_default() -> None:
    assert Policies([]).settings_at("upsets", 0) == {"margin": 200}
    assert Policies([]).settings_at("publishing", 0) == {"largest_jump": 100, "active_days": 0}
    assert Policies([]).settings_before("four-eyes", 1) == {"on": False, "tokens": False, "warnings": False}


def test_a_setting_holds_from_its_instant_until_the_next() -> None:
    policies = Policies([row(1, "2015", 300), row(2, "", 250), row(3, "2020-06-01", 150)])
    instants = ("1900", "2014-12-31", "2015", "2020-05-31T23:59:59.999Z", "2020-06-01")
    assert [policies.settings_at("upsets", instant_ms(at))["margin"] for at in instants] == [250, 250, 300, 300, 150]


def test_of_two_for_one_instant_the_later_one_holds() -> None:
    policies = Policies([row(2, "2015-01-01", 250), row(1, "2015", 300)])
    assert policies.settings_at("upsets", instant_ms("2016")) == {"margin": 250}
    assert policies.settings_at("upsets", instant_ms("2014")) == {"margin": 200}


@given(st.permutations([row(n, since, 100 * n) for n, since in enumerate(("2015", "", "2015", "2012", "2019"), 1)]))
def test_the_order_in_which_rows_come_changes_nothing(rows: list[PolicyRow]) -> None:
    found = [Policies(rows).settings_at("upsets", instant_ms(at))["margin"] for at in ("2000", "2013", "2016", "2020")]
    assert found == [200, 400, 300, 500]


def test_four_eyes_hold_from_the_position_of_their_entry_on_whatever_it_says_of_time() -> None:
    rows = [
        PolicyRow("four-eyes", 1, instant_ms("2030"), "2030", {"on": True}, 7),
        PolicyRow("four-eyes", 2, BEGINNING, "", {"on": False, "tokens": True}, 9),
    ]
    policies = Policies(rows)
    assert [policies.settings_before("four-eyes", position)["on"] for position in (1, 7, 8, 9, 10)] == [
        False,
        False,
        True,
        True,
        False,
    ]
    with pytest.raises(ValueError, match="holds from the position"):
        policies.settings_at("four-eyes", 0)


def test_what_a_later_version_set_is_kept_and_says_nothing_that_this_one_does_not_know() -> None:
    rows = [
        PolicyRow("upsets", 1, BEGINNING, "", {"margin": "0.5", "more": 3}, 2),
        PolicyRow("norms", 1, BEGINNING, "", {"steps": 200}, 3),
    ]
    policies = Policies(rows)
    assert policies.settings_at("upsets", 0) == {"margin": 200}
    assert {known.policy for known in policies.rows} == {"norms", "upsets"}
    with pytest.raises(UnknownNameError, match="no policy 'norms' in this version; "):
        policies.settings_at("norms", 0)


@pytest.mark.parametrize("name", [name for name, policy in POLICIES.items() if policy.settings])
def test_every_default_is_a_value_that_may_be_given(name: str) -> None:
    check_settings(name, complete_settings(name, None))


def test_the_rule_of_read_models_takes_any_name_that_one_may_have_as_a_switch() -> None:
    check_settings("read-models", {"streaks": False, "my_table": True})
    row = PolicyRow("read-models", 1, BEGINNING, "", {"my_table": True, "streaks": False}, 7)
    assert complete_settings("read-models", row) == {"my_table": True, "streaks": False}
    assert complete_settings("read-models", None) == {}
    for settings in ({"streaks": 1}, {"no name": True}, {}):
        with pytest.raises(MalformedError, match="policy 'read-models'"):
            check_settings("read-models", settings)


@pytest.mark.parametrize(
    ("name", "given_settings", "says"),
    [
        ("upset", {"margin": 1}, "no policy 'upset' in this version; did you mean 'upsets'? expected one of ['class"),
        ("upsets", {}, "policy 'upsets': give at least one of ['margin']"),
        ("upsets", {"margn": 1}, "policy 'upsets' has no setting 'margn'; did you mean 'margin'? it takes ['margin']"),
        ("upsets", {"margin": True}, f"margin must be a whole number from 0 to {MOST_POINTS}, got True"),
        ("upsets", {"margin": -1}, f"margin must be a whole number from 0 to {MOST_POINTS}, got -1"),
        ("upsets", {"margin": MOST_POINTS + 1}, "got 100001"),
        ("upsets", {"margin": "200"}, "got '200'"),
        ("four-eyes", {"on": 1}, "policy 'four-eyes': on must be true or false, got 1"),
    ],
)
def test_what_no_policy_takes_is_refused_by_name(name: str, given_settings: dict[str, int | bool], says: str) -> None:
    with pytest.raises(LedgerError) as caught:
        check_settings(name, given_settings)
    assert says in str(caught.value)


def test_all_faults_are_named_at_once() -> None:
    with pytest.raises(MalformedError) as caught:
        check_settings("four-eyes", {"on": 1, "off": True})
    assert len(caught.value.problems) == 2


def test_settings_are_numbered_written_in_full_and_a_repeat_is_none(club_of_two: ClubOfTwo) -> None:
    policies = club_of_two.ledger.policies
    first = policies.set("four-eyes", {"tokens": True}, actor="eve")
    assert (first.key, first.position, first.duplicate) == ("policy:four-eyes@1", 5, False)
    again = policies.set("four-eyes", {"tokens": True}, actor="adam")
    assert (again.position, again.duplicate) == (5, True)
    second = policies.set("four-eyes", {"on": True}, actor="eve")
    assert second.key == "policy:four-eyes@2"
    (*_, entry) = club_of_two.ledger.entries("policy-set")
    assert entry.facts["settings"] == {"on": True, "tokens": True, "warnings": False}
    assert policies.at("four-eyes", "2026") == {"on": True, "tokens": True, "warnings": False}
    assert [known.number for known in policies.list()] == [1, 2]


def test_what_a_setting_says_since_it_was_corrected_is_a_repeat_too(club_of_two: ClubOfTwo) -> None:
    ledger = club_of_two.ledger
    ledger.policies.set("upsets", {"margin": 250})
    approve(ledger, ledger.corrections.drafts.replace("policy:upsets@1", {"settings": {"margin": 150}}))
    head = ledger.head()
    assert ledger.policies.set("upsets", {"margin": 150}).duplicate
    assert ledger.head() == head
    assert not ledger.policies.set("upsets", {"margin": 250}).duplicate
    assert ledger.policies.at("upsets", "2026")["margin"] == 250


def test_the_same_from_another_instant_is_another_setting(club_of_two: ClubOfTwo) -> None:
    policies = club_of_two.ledger.policies
    keys = [
        policies.set("upsets", {"margin": margin}, effective_from=since, actor="eve").key
        for margin, since in ((250, None), (250, "2015"), (250, "2015-01-01"), (200, None), (250, None))
    ]
    assert keys == [f"policy:upsets@{number}" for number in (1, 2, 2, 3, 4)]
    assert policies.at("upsets", "2014") == {"margin": 250}


def test_four_eyes_take_no_instant_and_a_policy_no_instant_that_is_none(club_of_two: ClubOfTwo) -> None:
    head = club_of_two.ledger.head()
    with pytest.raises(MalformedError, match="holds from its entry on: give no instant"):
        club_of_two.ledger.policies.set("four-eyes", {"on": True}, effective_from="2026", actor="eve")
    with pytest.raises(MalformedError, match="YYYY"):
        club_of_two.ledger.policies.set("upsets", {"margin": 1}, effective_from="May", actor="eve")
    assert club_of_two.ledger.head() == head


def test_once_on_four_eyes_are_changed_by_nobody_alone(club_of_two: ClubOfTwo) -> None:
    policies = club_of_two.ledger.policies
    policies.set("four-eyes", {"on": True}, actor="eve")
    head = club_of_two.ledger.head()
    for settings in ({"on": False}, {"tokens": True}):
        with pytest.raises(RejectedError, match=r"^needs-a-proposal: ") as caught:
            policies.set("four-eyes", settings, actor="adam")
        assert caught.value.key == "policy:four-eyes@2"
    assert policies.set("four-eyes", {"on": True}, actor="adam").duplicate
    assert club_of_two.ledger.head() == head
    proposed = policies.proposed("four-eyes", {"on": False})
    assert proposed == PolicySet(
        policy="four-eyes", number=2, settings={"on": False, "tokens": False, "warnings": False}
    )
    policies.set("upsets", {"margin": 1}, actor="adam")  # other policies go on


@pytest.mark.slow
def test_a_rebuild_gives_the_same_rows_and_the_audit_agrees(club_of_two: ClubOfTwo) -> None:
    ledger = club_of_two.ledger
    for number in range(1, 70):  # past the first look-up of free numbers
        assert ledger.policies.set("upsets", {"margin": number}, actor="eve").key == f"policy:upsets@{number}"
    ledger.append_many(game_recorded(f"x{number}") for number in range(2_100))  # read back as columns
    ledger.catch_up()
    with closing(sqlite.connect(sidecar(club_of_two.path, "views"))) as connection:
        before = table_digests(connection)
    ledger.rebuild()
    with closing(sqlite.connect(sidecar(club_of_two.path, "views"))) as connection:
        assert table_digests(connection) == before
        assert connection.execute("SELECT count(*) FROM policies").fetchone() == (69,)
    assert audit(club_of_two.path).falsehoods == ()


def test_writers_at_once_get_numbers_of_their_own(club_of_two: ClubOfTwo) -> None:
    def set_margin(margin: int, path: Path = club_of_two.path) -> str:
        with Ledger.open(path, clock=club_of_two.clock) as ledger:
            return ledger.policies.set("upsets", {"margin": margin}, actor="eve").key

    with ThreadPoolExecutor(4) as pool:
        keys = list(pool.map(set_margin, range(8)))
    assert sorted(keys) == sorted(f"policy:upsets@{number}" for number in range(1, 9))
