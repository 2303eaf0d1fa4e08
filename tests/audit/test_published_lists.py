"""The audit of published lists: heads, kept rows, and the rows worked out once more."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from math import nextafter
from pathlib import Path
from typing import Any

import attrs
import pytest

from ledger.answers import publications
from ledger.answers.rows import as_rows
from ledger.audit.audit import Verdict, audit
from ledger.errors import CorruptError
from ledger.facts.events import ListPublished
from ledger.journal import Writer
from ledger.journal.stored_lists import ListRow, list_texts
from ledger.ledger import Ledger
from ledger.runtime import sqlite
from ledger.runtime.lazy import zstandard
from tests.kit.clubs import copied
from tests.kit.commands import Run
from tests.kit.games import game_recorded
from tests.kit.tampering import edit
from tools.commands import FALSE

DAYS = ("2021-06", "2021-12-31")
FIRST, SECOND = (f"standard@{day}/1" for day in DAYS)
Rows = dict[int, ListRow]


@pytest.fixture(name="published", scope="module")
def _folder_with_published_lists(folder_of_300_games: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = copied(folder_of_300_games, tmp_path_factory.mktemp("published") / "club")
    with Ledger.open(path) as ledger:
        for day in DAYS:
            ledger.publications.publish(day, actor="eve", despite_complaints=True)
        ledger.catch_up()
    return path.parent


@pytest.fixture(name="lists")
def _club_with_published_lists(published: Path, tmp_path: Path) -> Path:
    return copied(published, tmp_path / "copy")


def places(verdict: Verdict) -> list[tuple[str, int | str]]:
    return [(falsehood.table, falsehood.position_or_key) for falsehood in verdict.falsehoods]


@pytest.mark.slow
def test_true_lists_are_true_and_worked_out_once_more_on_request(lists: Path) -> None:
    verdict = audit(lists)
    assert (verdict.falsehoods, verdict.lists, verdict.lists_recomputed) == ((), 2, 0)
    verdict = audit(lists, lists=True)
    assert (verdict.falsehoods, verdict.lists, verdict.lists_recomputed) == ((), 2, 2)
    assert verdict.not_compared == ()


def test_what_becomes_known_later_makes_no_list_false(lists: Path) -> None:
    with Ledger.open(lists) as ledger:
        late = game_recorded("late", white=1, black=2, ended_at="2021-01-02", half_moves=60)
        ledger.append(late)
        ledger.catch_up()
        assert True in {row["revised"] for row in as_rows(publications.list_in_force_on(ledger, DAYS[0]))}
    verdict = audit(lists, lists=True)
    assert (verdict.falsehoods, verdict.lists_recomputed) == ((), 2)


def kept(club: Path) -> list[bytes]:
    """The SHA-256 of each text that is kept of lists."""
    unpacked = zstandard.ZstdDecompressor()
    with closing(sqlite.sqlite3.connect(club)) as connection:
        rows = connection.execute("SELECT sha256, zstd FROM texts").fetchall()
    return [sha for sha, frame in rows if unpacked.decompress(frame, max_output_size=1 << 24)[:1] in {b"[", b"{"}]


@pytest.mark.slow
def test_a_missing_text_is_named_and_the_list_worked_out_all_the_same(lists: Path) -> None:
    assert len(kept(lists)) == 4
    for sha in kept(lists):
        spoilt = copied(lists.parent, lists.parent.parent / sha.hex()[:8])
        edit(spoilt, ("DELETE FROM texts WHERE sha256 = ?", (sha,)))
        verdict = audit(spoilt, lists=True)
        ((table, place),) = places(verdict)
        assert (table, place in {f"list {FIRST}", f"list {SECOND}"}) == ("texts", True)
        assert f"text {sha.hex()} of its kept rows is missing" in verdict.falsehoods[0].message
        assert "--restore-rows" in verdict.falsehoods[0].message
        assert verdict.lists_recomputed == 2


@pytest.mark.slow
@pytest.mark.parametrize("frame", [b"", b"no zstd", zstandard.ZstdCompressor().compress(b"[1,1,2800,2800.0,1,null]\n")])
def test_a_changed_text_is_named(lists: Path, frame: bytes) -> None:
    for sha in kept(lists):
        spoilt = copied(lists.parent, lists.parent.parent / sha.hex()[:8])
        edit(spoilt, ("UPDATE texts SET zstd = ? WHERE sha256 = ?", (frame, sha)))
        found = [place for table, place in places(audit(spoilt, lists=True)) if table == "texts"]
        assert found[0] == sha.hex()
        assert str(found[1]).startswith("list standard@")


def test_a_text_that_says_that_it_is_a_terabyte_is_named_and_not_unpacked(lists: Path) -> None:
    # magic number, a descriptor with eight bytes of content size and one segment, the size, one empty last block
    frame = b"\x28\xb5\x2f\xfd\xe0" + (1 << 40).to_bytes(8, "little") + b"\x01\x00\x00"
    assert zstandard.frame_content_size(frame) == 1 << 40
    edit(lists, ("UPDATE texts SET zstd = ? WHERE sha256 = ?", (frame, kept(lists)[0])))
    verdict = audit(lists)
    assert {table for table, _ in places(verdict)} == {"texts"}
    assert "cannot be read (it says that it has 1099511627776 bytes)" in " ".join(
        falsehood.message for falsehood in verdict.falsehoods
    )
    with Ledger.open(lists) as ledger:
        every = [ledger.publications.named(told) for told in (FIRST, SECOND)]
        with pytest.raises(CorruptError, match="longer than any that this program stores"):
            assert [list(ledger.publications.rows(publication)) for publication in every]


def publish_falsely(club: Path, change: Callable[[ListPublished, Rows], ListPublished]) -> None:
    """Record what no program of ours would: *change* alters the rows of a true list, or gives another event."""
    with Ledger.open(club) as ledger:
        true = ledger.publications.named(SECOND)
        rows = {row.player: row for row in ledger.publications.rows(true)}
        head = ledger.journal.size()
        told = attrs.evolve(true.event, edition=2, head=head, root=ledger.journal.root_at(head).hex())
        event = change(told, rows)
        texts = list_texts(rows.values())
        if event is told:
            event = attrs.evolve(event, digest=texts.digest, players=len(rows))

        def gate(writer: Writer, now_ms: int) -> Sequence[ListPublished]:
            writer.store_texts(texts.frames())
            return [event]

        ledger._record_judged(gate, "mallory")
        ledger.catch_up()


FALSE_LIST = "list standard@2021-12-31/2"


@pytest.mark.slow
def test_a_rating_changed_by_a_bit_is_named_with_both_values(lists: Path, run: Run) -> None:
    true: Rows = {}

    def change(event: ListPublished, rows: Rows) -> ListPublished:
        true.update(rows)
        rows[3] = rows[3]._replace(rating=nextafter(rows[3].rating, 0))
        return event

    publish_falsely(lists, change)
    assert audit(lists).falsehoods == (), "the rows are those that were published"
    verdict = audit(lists, lists=True)
    assert places(verdict) == [(FALSE_LIST, "player 3")]
    false, right = nextafter(true[3].rating, 0), true[3].rating
    assert f"rating is {false!r}, the entries give {right!r}" in verdict.falsehoods[0].message
    done = run("audit", lists, "--lists")
    assert done.code == FALSE
    assert done.out.startswith(f"FALSE {lists} {FALSE_LIST} player 3: rating is ")


@pytest.mark.parametrize("column", ["rank", "shown", "games", "last_game"])
def test_every_column_is_compared(lists: Path, column: str) -> None:
    def change(event: ListPublished, rows: Rows) -> ListPublished:
        value: Any = "2020-02-02" if column == "last_game" else 77
        rows[2] = rows[2]._replace(**{column: value})
        return event

    publish_falsely(lists, change)
    (falsehood,) = audit(lists, lists=True).falsehoods
    assert (falsehood.table, falsehood.position_or_key) == (FALSE_LIST, "player 2")
    assert falsehood.message.startswith(f"{column} is ")


def test_who_is_left_out_or_added_is_named(lists: Path) -> None:
    def without(event: ListPublished, rows: Rows) -> ListPublished:
        del rows[2]
        return event

    def added(event: ListPublished, rows: Rows) -> ListPublished:
        rows[99] = ListRow(99, 99, 2800, 2800.0, 0, None)
        return attrs.evolve(event, edition=3, digest=list_texts(rows.values()).digest, players=len(rows))

    publish_falsely(lists, without)
    publish_falsely(lists, added)
    first, second = audit(lists, lists=True).falsehoods
    assert (first.position_or_key, second.position_or_key) == ("player 2", "player 99")
    assert "is missing, the entries give" in first.message
    assert "is listed with 2800.0, and is on no such list by the entries" in second.message


def test_a_head_that_is_not_of_this_journal_is_named(lists: Path) -> None:
    publish_falsely(lists, lambda event, rows: attrs.evolve(event, root="0" * 64, players=len(rows)))
    publish_falsely(lists, lambda event, rows: attrs.evolve(event, edition=3, head=10**9, players=len(rows)))
    verdict = audit(lists, lists=True)
    entries = verdict.entries
    assert places(verdict) == [("journal", entries - 1), ("journal", entries)]
    assert "but theirs is" in verdict.falsehoods[0].message
    assert "which were not all before it" in verdict.falsehoods[1].message


def test_a_number_of_players_that_is_not_that_of_the_rows_is_named(lists: Path) -> None:
    publish_falsely(lists, lambda event, _: attrs.evolve(event, players=500))
    verdict = audit(lists)
    assert places(verdict) == [("texts", FALSE_LIST)]
    assert "not 500 players" in verdict.falsehoods[0].message


def test_without_kept_rows_the_digest_tells(lists: Path) -> None:
    publish_falsely(lists, lambda event, rows: attrs.evolve(event, digest="ab" * 32, players=len(rows)))
    verdict = audit(lists, lists=True)
    assert places(verdict) == [("texts", FALSE_LIST), (FALSE_LIST, "digest")]
    assert f"is {'ab' * 32}, the" in verdict.falsehoods[1].message


@pytest.mark.parametrize(
    ("version", "words"),
    [
        ({"scheme_version": 7}, "version 7 of 'chessworld' with arithmetic"),
        ({"arithmetic": 99}, "with arithmetic 99"),
        ({"scheme": "statutes"}, "scheme 'statutes' is not installed here"),
    ],
)
def test_what_another_version_published_is_said_to_be_so_and_not_called_false(
    lists: Path, version: dict[str, Any], words: str
) -> None:
    def change(event: ListPublished, rows: Rows) -> ListPublished:
        rows[3] = rows[3]._replace(rating=1.0)
        return attrs.evolve(event, digest=list_texts(rows.values()).digest, players=len(rows), **version)

    publish_falsely(lists, change)
    verdict = audit(lists, lists=True)
    assert (verdict.falsehoods, verdict.lists, verdict.lists_recomputed) == ((), 3, 2)
    (omission,) = verdict.not_compared
    assert (omission.part, omission.failed, words in omission.reason) == (FALSE_LIST, False, True)


def test_a_journal_that_is_false_proves_no_list(lists: Path) -> None:
    edit(lists, "UPDATE journal SET body = CAST(replace(body, 'white', 'black') AS BLOB) WHERE position = 30")
    verdict = audit(lists, lists=True)
    assert (verdict.lists, verdict.lists_recomputed) == (0, 0)
    assert "published lists" in {omission.part for omission in verdict.not_compared}
