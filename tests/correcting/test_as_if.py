"""Every answer can be asked as if a proposal were approved: it is the one that the approval brings."""

import re
import shlex
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import attrs
import polars as pl
import pytest

from ledger.answers import achievements, differences, explanations, players, querying, streaks, time_losses, upsets
from ledger.answers.crosstables import crosstable, listing
from ledger.answers.graphs import json_form, page_reader
from ledger.answers.player_games import games
from ledger.answers.rankings import RankingChoice, ranking
from ledger.answers.rows import as_row, as_rows
from ledger.errors import MalformedError, ProposalError, StorageError, UnknownNameError
from ledger.facts.changes import Change
from ledger.facts.events import Decision
from ledger.imports.reading import batch_games
from ledger.ledger import Ledger
from ledger.ratings.installed_projectors import BUILT_IN
from ledger.runtime import sqlite
from tests.kit.clubs import NOW
from tests.kit.commands import Run
from tests.kit.corrections import approve, made
from tests.kit.games import game_recorded, source_games
from tests.kit.impacts import file_digests
from tests.kit.plugins import WEEKDAYS, WIN_STREAKS
from tests.tiers import few_quick
from tools.commands import USAGE

GAMES = 200
READ_MODELS = (*BUILT_IN, WIN_STREAKS, WEEKDAYS)


@pytest.fixture(name="base", scope="module", params=["chessworld", "glicko2", "fide"])
def _base(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp(str(request.param))
    with Ledger.create(folder / "club.db", scheme=str(request.param), clock=lambda: NOW) as ledger:
        cup = (game._replace(tournament="Cup", round=str(game.line % 9)) for game in source_games(GAMES))
        ledger.import_games(batch_games(cup, GAMES))
        ledger.append_many(
            [
                game_recorded(f"made-{number}", white=number, black=number + 1, ended_at="2015-03", half_moves=50)
                for number in range(1, 5)
            ]
        )
    with Ledger.open(folder / "club.db", projectors=READ_MODELS, clock=lambda: NOW) as ledger:
        ledger.ensure_up_to_date()
    return folder


@pytest.fixture(name="asked_as_if")
def _asked_as_if(base: Path, tmp_path: Path) -> Iterator[Ledger]:
    shutil.copytree(base, tmp_path / "copy")
    with Ledger.open(tmp_path / "copy" / "club.db", projectors=READ_MODELS, clock=lambda: NOW) as ledger:
        yield ledger


CHANGES: dict[str, Callable[[Ledger], Change]] = {
    "result": lambda ledger: ledger.corrections.drafts.replace("game:made-1", {"outcome": "black"}),
    "day": lambda ledger: ledger.corrections.drafts.replace("game:made-2", {"ended_at": "2009-05-04"}),
    "void": lambda ledger: ledger.corrections.drafts.annul("game:made-3"),
    "late": lambda ledger: ledger.corrections.drafts.add(game_recorded("late", ended_at="2014-03", half_moves=50)),
    # whose weekday is known, of which a projector of facts is told
    "late of a day": lambda ledger: ledger.corrections.drafts.add(
        game_recorded("late-7", ended_at="2014-03-07", half_moves=50)
    ),
    "merge": lambda ledger: ledger.corrections.drafts.merge(2, 5),
    "close": lambda ledger: ledger.corrections.drafts.close_account(4, "2015"),
}


def answers(ledger: Ledger) -> dict[str, Any]:
    """What everybody may ask about three players, the ranking and the tournament; without the journal's position."""
    who = [ledger.player(number) for number in (1, 3, 4)]
    rows = {name: list(ledger.rows(name)) for name in ("win_streaks", "weekdays", "history", "games", "current")}
    return {
        **rows,
        "show": [as_row(players.summary(ledger, person)) for person in who],
        "games": [as_rows(games(ledger, person, last=20)) for person in who],
        "explain": as_row(explanations.explain(ledger, ledger.player(3), "game:made-3"))
        if any(row["key"] == "made-3" and row["reason"] is None for row in rows["games"])
        else None,
        "ratings": as_rows(ranking(ledger, RankingChoice(min_games=1))),
        "graph": [
            json_form.graph_json(attrs.evolve(page_reader.read_page(ledger, person), position=1)) for person in who
        ],
        "best": [as_rows(achievements.achievements(ledger, person)) for person in who],
        "streaks": [as_rows(streaks.streaks(ledger, person)) for person in who],
        "upsets": as_rows(upsets.upsets(ledger, limit=20)),
        "time losses": as_rows(time_losses.time_loss_marks(ledger)),
        "tournaments": as_rows(listing.tournaments(ledger)),
        "crosstable": attrs.evolve(crosstable.crosstable(ledger, "Cup"), position=1),
    }


@pytest.mark.parametrize("name", few_quick(CHANGES, "result", "merge"))
def test_an_answer_as_if_is_that_which_the_approval_brings(name: str, asked_as_if: Ledger) -> None:
    ledger = asked_as_if
    before = answers(ledger)
    number = ledger.propose([CHANGES[name](ledger)], reason="because", by="eve").proposal
    ledger.ensure_up_to_date()
    files = file_digests(ledger.path.parent)
    with ledger.as_if(number) as would_be:
        tried = answers(would_be)
        with pytest.raises(StorageError, match="takes no entries during a dry run"):
            would_be.append(game_recorded("another", ended_at="2021-06"))
    assert file_digests(ledger.path.parent) == files
    assert answers(ledger) == before
    ledger.decide(number, Decision.APPROVED, by="adam")
    assert tried == answers(ledger)
    assert tried != before or (name == "close" and not before["ratings"])  # FIDE lists nobody who met no rated player


@pytest.mark.parametrize("name", few_quick(CHANGES, "result", "merge"))
def test_the_difference_to_a_published_list_as_if_is_that_which_the_approval_brings(
    name: str, asked_as_if: Ledger
) -> None:
    ledger = asked_as_if
    ledger.ensure_up_to_date()
    ledger.publications.publish("2018-12-31", actor="olga")
    number = ledger.propose([CHANGES[name](ledger)], reason="because", by="eve").proposal

    def differs(asked: Ledger) -> list[Any]:
        return as_rows(
            differences.list_differences(asked, *differences.lists_to_compare(asked, "standard@2018-12-31/1", "now"))
        )

    ledger.ensure_up_to_date()
    before = differs(ledger)
    files = file_digests(ledger.path.parent)
    with ledger.as_if(number) as would_be:
        tried = differs(would_be)
    assert file_digests(ledger.path.parent).items() >= files.items()  # and the views of the list's time
    ledger.decide(number, Decision.APPROVED, by="adam")
    ledger.ensure_up_to_date()
    assert tried == differs(ledger)
    assert tried != before or not before


def test_what_may_not_be_approved_is_refused_and_the_ledger_goes_on(asked_as_if: Ledger) -> None:
    ledger = asked_as_if
    with pytest.raises(ProposalError), ledger.as_if(7):
        pass
    ledger.append(game_recorded("after", ended_at="2021-06"))
    assert any(row["key"] == "after" for row in ledger.rows("games"))


def test_an_error_within_leaves_nothing_behind(asked_as_if: Ledger) -> None:
    ledger = asked_as_if
    before = answers(ledger)
    with pytest.raises(KeyError), ledger.as_if([CHANGES["void"](ledger)]):
        raise KeyError
    assert answers(ledger) == before


def test_the_ledger_itself_answers_as_it_stands_and_is_not_brought_level_within(asked_as_if: Ledger) -> None:
    ledger, change = asked_as_if, CHANGES["void"](asked_as_if)
    before = list(ledger.rows("current"))
    with ledger.as_if([change]) as would_be:
        assert list(would_be.rows("current")) != before
        assert list(ledger.rows("current")) == before
        ledger.append(game_recorded("meanwhile", ended_at="2021-06"))
        with pytest.raises(StorageError, match="a dry run on the views lasts until the block of 'as_if' ends"):
            ledger.ensure_up_to_date()
        would_be.close()
    with pytest.raises(StorageError, match="within the block alone, which is over"):
        would_be.rows("current")
    assert any(row["key"] == "meanwhile" for row in ledger.rows("games"))


def test_a_trial_within_a_trial_goes_on_from_it(asked_as_if: Ledger) -> None:
    ledger = asked_as_if
    first, second = CHANGES["void"](ledger), CHANGES["day"](ledger)
    with ledger.as_if([first, second]) as both:
        expected = list(both.rows("current"))
    with ledger.as_if([first]) as one, one.as_if([second]) as two:
        assert list(two.rows("current")) == expected
    with ledger.as_if([first]) as one:
        stands = list(one.rows("current"))
        assert one.preview([second]).games > 0
        assert list(one.rows("current")) == stands


@pytest.mark.parametrize("wanted", ["1", 1.0, True, [1], None])
def test_what_is_neither_a_proposal_nor_changes_is_refused(wanted: Any, asked_as_if: Ledger) -> None:
    with pytest.raises(MalformedError, match="proposal must be a whole number or Sequence"), asked_as_if.as_if(wanted):
        pass
    with pytest.raises(MalformedError, match="proposal must be a whole number or Sequence"):
        asked_as_if.preview(wanted)


@pytest.mark.parametrize("position", [0, -1, 10**9, 2**63])
def test_a_position_that_is_none_is_refused(position: int, asked_as_if: Ledger) -> None:
    with pytest.raises(UnknownNameError, match="entry"), asked_as_if.known_at(position):
        pass


@pytest.mark.parametrize("position", ["400", None, 1.0, True])
def test_a_position_that_is_no_number_is_refused(position: Any, asked_as_if: Ledger) -> None:
    with pytest.raises(MalformedError, match="position must be a whole number"), asked_as_if.known_at(position):
        pass


def test_a_number_that_sqlite_does_not_know_is_no_proposal(asked_as_if: Ledger) -> None:
    with pytest.raises(ProposalError), asked_as_if.as_if(2**63):
        pass


def test_what_was_known_ends_with_its_block(asked_as_if: Ledger) -> None:
    with asked_as_if.known_at(100) as then:
        games_then = len(list(then.rows("games")))
        then.close()
    assert 0 < games_then < len(list(asked_as_if.rows("games")))
    with pytest.raises(StorageError, match="which is over"):
        then.rows("games")


def test_others_read_on_and_a_copy_is_tried_on_while_they_write(asked_as_if: Ledger) -> None:
    ledger, change = asked_as_if, CHANGES["void"](asked_as_if)
    with ledger.as_if([change]) as would_be, Ledger.open(ledger.path, clock=lambda: NOW) as other:
        assert other.rows("current")
        expected = list(would_be.rows("current"))
    with Ledger.open(ledger.path, clock=lambda: NOW) as other:
        other.ensure_up_to_date()
        with sqlite.write_transaction(other.views.connection), ledger.as_if([change]) as would_be:
            assert list(would_be.rows("current")) == expected
    with ledger.read_snapshot(), ledger.as_if([change]) as would_be:
        assert list(would_be.rows("current")) == expected


ASKED = {
    "show": "show DB Ann",
    "games": "games DB Ann --all",
    "ratings": "ratings DB",
    "best": "best DB Ann",
    "streaks": "streaks DB Ann",
    "upsets": "upsets DB --margin 0",
    "time losses": "time-losses DB Ann",
    "opponents": "opponents DB Ann --by strength",
    "predict": "predict DB Ann Bob",
    "pools": "pools DB",
    "eras": "scheme eras DB",
    "runs": "runs DB --on 2026-11-20",
    "crosstable": "crosstable DB Open",
    "tournaments": "tournaments DB",
    "query": "query DB 'SELECT * FROM history ORDER BY pool, player, n'",
    "query of names": "query DB 'SELECT name, rating FROM current JOIN names USING (player) ORDER BY name' --csv",
    "export": "export DB history",
    "export of games": "export DB games --format ndjson",
    "export of ratings": "export DB ratings --at 2026-11-20",
    "export of a tournament": "export DB tournament --tournament Open --names",
    "export of cross-tables": "export DB crosstables",
}


@pytest.mark.parametrize("wanted", few_quick(["void", "adopt"], "void"))
def test_commands_as_if_print_what_they_print_after_the_approval(wanted: str, tmp_path: Path, run: Run) -> None:
    path = tmp_path / "club.db"
    made(path).close()
    change = ("void", "g3") if wanted == "void" else ("adopt", "glicko2", "--from", "2026-11-04")
    assert run("correct", path, *change, "--reason", "the scoresheet", "--by", "eve").code == 0

    def printed(*options: str) -> dict[str, str]:
        lines = {
            name: [str(path) if word == "DB" else word for word in shlex.split(line)] for name, line in ASKED.items()
        }
        answers_of = {name: run(*line, *options) for name, line in lines.items()}
        assert {name: done.code for name, done in answers_of.items()} == dict.fromkeys(ASKED, 0)
        entry = re.compile('"position": [0-9]+|as of entry [0-9]+')
        return {name: entry.sub("", done.out) for name, done in answers_of.items()}

    before, tried = printed(), printed("--as-if", "1")
    assert run("correct", path, "approve", "1", "--by", "adam").code == 0
    assert printed() == tried
    moved = {"show", "ratings", "best", "pools", "predict", "query", "query of names", "export", "export of ratings"}
    assert {name for name in ASKED if before[name] != tried[name]} >= moved


@pytest.mark.parametrize("name", few_quick(CHANGES, "result", "merge"))
def test_what_other_connections_read_apart_is_what_the_approval_brings(name: str, asked_as_if: Ledger) -> None:
    ledger, change = asked_as_if, CHANGES[name](asked_as_if)

    def read(asked: Ledger) -> tuple[list[Any], ...]:
        statement = "SELECT history.*, name FROM history LEFT JOIN names USING (player) ORDER BY pool, player, n"
        database = asked.database()
        tables = [list(database[table].rows) for table in ("games", "current", "win_streaks", "weekdays")]
        database.conn.close()
        return (list(querying.query(asked, statement, journal=False)), *tables)

    before, files = read(ledger), file_digests(ledger.path.parent)
    with ledger.as_if([change], apart=True) as would_be:
        tried, answered = read(would_be), answers(would_be)
        assert read(ledger) == before
        ledger.ensure_up_to_date()  # nobody waits for it
        folder = would_be.views.path.parent
    assert not folder.exists()
    assert file_digests(ledger.path.parent) == files
    approve(ledger, change)
    assert (tried, answered) == (read(ledger), answers(ledger))


@pytest.mark.slow
def test_a_query_as_if_reads_no_journal_which_does_not_hold_it(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "club.db"
    made(path).close()
    assert run("correct", path, "void", "g3", "--reason", "the scoresheet", "--by", "eve").code == 0
    done = run("query", path, "SELECT count(*) FROM journal", "--as-if", "1")
    assert (done.code, "no table 'journal'" in done.err) == (1, True)
    done = run("query", path, "SELECT 1", "--as-if", "7")
    assert (done.code, "there is no proposal 7" in done.err) == (1, True)
    assert run("query", path, "SELECT 1", "--as-if", "1", "--known-at", "5").code == USAGE


@pytest.mark.parametrize("file", ["open.parquet", "open.db", "open.csv"])
def test_a_file_as_if_is_the_file_after_the_approval(file: str, tmp_path: Path, run: Run) -> None:
    path, target = tmp_path / "club.db", tmp_path / file
    made(path).close()
    assert run("correct", path, "void", "g3", "--reason", "the scoresheet", "--by", "eve").code == 0
    words = ("export", path, "history", "-o", target)
    before: list[Any] = []
    after: list[Any] = []
    for told, options in ((before, ()), (after, ("--as-if", "1"))):
        assert run(*words, *options).code == 0
        told.append(rows_in(target))
    assert run("correct", path, "approve", "1", "--by", "adam").code == 0
    assert run(*words).code == 0
    assert [rows_in(target)] == after != before


def rows_in(file: Path) -> list[tuple[Any, ...]]:
    """The rows of an exported file, as they stand there."""
    if file.suffix == ".parquet":
        return pl.read_parquet(file).rows()
    if file.suffix == ".csv":
        return pl.read_csv(file).rows()
    with closing(sqlite.connect(file, read_only=True)) as connection:
        return connection.execute("SELECT * FROM history").fetchall()
