"""A number stays what it was when the program changes: every setting is recorded, one not named keeps its value.

``adopted_settings.json`` pins what adoptions mean that name no settings: nothing in it ever changes. A setting that is
new has the default that leaves all as it was; what new pools should have is said by ``for_new_pools``.
"""

import json
from pathlib import Path

import attrs
import pytest

from ledger import schemes
from ledger.audit.audit import audit
from ledger.errors import ConflictError
from ledger.facts import codec
from ledger.facts.events import SchemeAdopted
from ledger.facts.source_games import SourceGame
from ledger.imports.reading import batch_games
from ledger.journal.sqlite_store import SqliteJournal
from ledger.ledger import Ledger
from ledger.recording.pool_choice import PoolChoice
from ledger.runtime import arith
from ledger.schemes import elo
from ledger.schemes.scheme import Scheme
from ledger.schemes.settings import stored_setting
from tests.kit.clubs import ClubOfTwo
from tests.kit.commands import Run
from tests.kit.games import STATED_OF_POOLS
from tools.commands import USAGE, settings_given

PINNED = Path(__file__).with_name("adopted_settings.json")


def test_what_an_adoption_without_settings_means_never_changes() -> None:
    pinned = json.loads(PINNED.read_text("utf-8"))
    meant = {scheme.name: scheme.adopted_settings({}) for scheme in schemes.built_in_schemes()}
    for name, settings in pinned.items():
        assert {setting: meant[name][setting] for setting in settings} == settings
    assert meant == pinned, "a scheme or setting is new: add it to the file"


@pytest.mark.parametrize("scheme", schemes.built_in_schemes(), ids=lambda scheme: scheme.name)
def test_settings_written_in_full_are_the_same_numbers(scheme: Scheme) -> None:
    assert scheme.numbers_from(scheme.adopted_settings({})) == scheme.numbers_from({})
    assert scheme.numbers_from(scheme.complete_settings({})) == scheme.numbers_from(scheme.for_new_pools)
    SchemeAdopted(pool="standard", scheme=scheme.name, settings=scheme.complete_settings({}))  # may stand in an event
    assert scheme.adopted_settings(scheme.complete_settings({})) == scheme.complete_settings({})


@pytest.mark.parametrize(
    ("value", "written"), [(32.0, 32), (0.5, "0.5"), (-0.25, "-0.25"), (1e-06, "0.000001"), (True, True), (0.1, "0.1")]
)
def test_a_setting_is_written_as_switch_whole_number_or_decimal(value: float, written: object) -> None:
    assert stored_setting(value) == written
    assert type(stored_setting(value)) is type(written)


def test_what_is_recorded_names_every_setting_and_the_versions(club_of_two: ClubOfTwo) -> None:
    club_of_two.ledger.append(SchemeAdopted(pool="blitz", scheme="elo", settings={"k": "16.5"}))
    adopted = [codec.decode(body).event for bodies in club_of_two.ledger.journal.read() for body in bodies][-1]
    assert adopted == SchemeAdopted(
        pool="blitz",
        scheme="elo",
        settings={**elo.SCHEME.complete_settings({}), "k": "16.5"},
        scheme_version=1,
        arithmetic=arith.VERSION,
    )


def test_settings_in_another_spelling_or_left_at_their_defaults_are_the_same_fact(club_of_two: ClubOfTwo) -> None:
    tellings: list[dict[str, int | bool | str]] = [{"k": 16}, {"k": "16.0"}, {"k": "16", "initial": 1500}]
    for settings in tellings:
        receipt = club_of_two.ledger.append(SchemeAdopted(pool="blitz", scheme="elo", settings=settings))
    assert receipt.duplicate
    with pytest.raises(ConflictError) as caught:
        club_of_two.ledger.append(SchemeAdopted(pool="blitz", scheme="elo", settings={}))
    assert (caught.value.field, caught.value.stored) == ("settings", {"k": 16})


def old_ledger(folder: Path, event: SchemeAdopted, kind: str = "scheme-adopted/1") -> Path:
    """A ledger whose only entry is an adoption as an earlier release wrote it."""
    path = folder / "old.db"
    Ledger.create(path).close()
    path.unlink()
    with SqliteJournal.create(path).writing() as writer:
        body = codec.assemble(1, "2026-11-21T03:15:13.000Z", "ledger", kind, event.key, codec.facts(event))
        writer.append([kind], [event.key], [body])
    return path


@pytest.fixture
def with_other_default(monkeypatch: pytest.MonkeyPatch) -> Scheme:
    """The Elo scheme of a later release, whose K-factor is 24 by default."""

    changed = attrs.evolve(elo.SCHEME, for_new_pools={"k": 24})
    monkeypatch.setattr("ledger.schemes._built_in", lambda _: changed)
    return changed


def game(number: int) -> SourceGame:
    return SourceGame(
        line=number,
        key=f"g{number}",
        white_id="name:ann",
        white_name="ann",
        black_id="name:bob",
        black_name="bob",
        outcome="white",
        termination="resignation",
        half_moves=40,
        started_at=None,
        ended_at="2020-01-01",
        tournament=None,
        round=None,
        rated=True,
        white_rating=None,
        black_rating=None,
        speed="blitz",
        variant="standard",
        text=None,
    )


@pytest.mark.usefixtures("with_other_default")
def test_a_new_default_rates_an_old_ledger_as_before(tmp_path: Path) -> None:
    event = SchemeAdopted(pool="standard", scheme="elo", settings={"initial": 1500})
    for folder, kind in (("1", "scheme-adopted/1"), ("2", "scheme-adopted/2")):
        (tmp_path / folder).mkdir()
        with Ledger.open(old_ledger(tmp_path / folder, event, kind)) as ledger:
            ledger.catch_up()
            assert ledger.pool().eras[0].numbers.k == 32
            assert ledger.append(event).duplicate
            ledger.append(SchemeAdopted(pool="new", scheme="elo", settings={}))
            ledger.catch_up()
            assert ledger.pool("new").eras[0].numbers.k == 24
        assert not audit(tmp_path / folder / "old.db").falsehoods


@pytest.mark.parametrize(
    ("scheme", "words", "same"),
    [
        ("elo", [], True),
        ("elo", ["initial=1500"], True),
        ("elo", ["initial=1500.0", "k=32"], True),
        ("elo", ["from_shown=true"], False),
        ("elo", ["from_shown=false"], True),
        ("elo", ["k=24"], False),
        ("elo", ["first_ever=true"], False),
        ("glicko", [], False),
        ("fide", [], False),
        ("fide", ["by_event=true"], False),
    ],
)
def test_the_command_and_the_library_agree_on_what_is_the_same_adoption(
    scheme: str, words: list[str], same: bool, tmp_path: Path, run: Run
) -> None:
    path = old_ledger(tmp_path, SchemeAdopted(pool="standard", scheme="elo", settings={"initial": 1500}))
    done = run("scheme", "adopt", path, "--scheme", scheme, *(f"--set={word}" for word in words))
    assert ("was adopted already" in done.err) is same
    assert done.code == (0 if same else USAGE)
    event = SchemeAdopted(pool="standard", scheme=scheme, settings=settings_given(words))
    with Ledger.open(path) as ledger:
        if same:
            assert ledger.append(event).duplicate
        else:
            with pytest.raises(ConflictError):
                ledger.append(event)


def test_pools_that_an_import_meets_are_rated_like_the_first_of_an_old_ledger(tmp_path: Path) -> None:
    path = old_ledger(tmp_path, SchemeAdopted(pool="standard", scheme="elo", settings={"k": 16}))
    with Ledger.open(path) as ledger:
        ledger.import_games(batch_games([game(1)]), choice=PoolChoice(pool="rapid"))
        ledger.catch_up()
        (met,) = (pool for pool in ledger.pools() if pool.name != "standard")
        assert met.eras[0].numbers == ledger.pool("standard").eras[0].numbers
        assert met.eras[0].settings.keys() == {*met.eras[0].numbers._fields, *STATED_OF_POOLS}


@pytest.mark.parametrize(("scheme_version", "arithmetic"), [(2, arith.VERSION), (1, arith.VERSION + 1)])
def test_the_audit_says_what_this_version_cannot_reproduce_and_never_that_it_is_false(
    tmp_path: Path, scheme_version: int, arithmetic: int
) -> None:
    event = SchemeAdopted(
        pool="standard", scheme="elo", settings={}, scheme_version=scheme_version, arithmetic=arithmetic
    )
    path = old_ledger(tmp_path, event, event.KIND)
    with Ledger.open(path) as ledger:
        ledger.catch_up()
    verdict = audit(path)
    assert verdict.falsehoods == ()
    assert [str(omission) for omission in verdict.not_compared] == [
        "numbers first published in pool standard: not reproducible by this version: entry 1 adopted version "
        f"{scheme_version} of 'elo' with arithmetic {arithmetic}, this program has 1 and {arith.VERSION}; to compare "
        "them, run the release of that time"
    ]
