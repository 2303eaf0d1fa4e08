"""The audit: it checks the journal against its commitments, the names, and the published numbers against both.

The journal is read by ``reader``, which shares no code with its writer. The views are then rebuilt in a temporary
folder from the journal alone and compared row by row (``rebuilt_views``). Each published list is calculated again from
the entries that it follows from, and compared with the stored rows. This version cannot calculate the lists of another
version of a scheme or of the arithmetic; it reports such lists, and adoptions whose version once gave other numbers,
which may be on paper. Nothing is changed.

Each file is read in one snapshot: first the views, then the journal, then the people. Writers do it the other way
about, people, journal, views, so that each file read later knows everything in those read before.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TypeVar

import attrs

from ledger import schemes
from ledger.audit import reader, rebuilt_views
from ledger.audit.reader import Falsehood, Finding, JournalVerdict, ListsVerdict, PeopleVerdict, Snapshot
from ledger.audit.reader.layouts import PEOPLE, layout_falsehoods, page_falsehoods
from ledger.audit.reader.snapshots import READ_ERRORS
from ledger.audit.reader.texts import COLUMNS, PublishedList, list_form, stored_list_rows
from ledger.audit.rebuilt_views import CurrentViews, VerifiedJournal, table_digests
from ledger.book.conflicts import WhatIfFacts
from ledger.book.stored_pools import stored_pools
from ledger.book.timeline import Pool
from ledger.errors import CorruptError, LedgerError, StorageError, one_line
from ledger.facts.codec import decode
from ledger.facts.events import Event, ListPublished, SchemeAdopted
from ledger.facts.instants import instant_end_ms
from ledger.facts.words import TreeHead
from ledger.journal import Journal
from ledger.journal.checkpoints import CheckpointFiles
from ledger.journal.stored_lists import FORMS, ListRow, list_texts
from ledger.ratings.fact_projector import ReadModel
from ledger.ratings.installed_projectors import installed_projectors
from ledger.ratings.past_views import AdvancingViews, open_advancing_views
from ledger.ratings.standings import rating_list_at
from ledger.ratings.views import Views
from ledger.runtime import arith
from ledger.runtime.calls import checked
from ledger.runtime.lazy import futures
from ledger.runtime.ledger_files import sidecar
from ledger.runtime.long_work import IN_THIS_PROCESS, PartMap, Progress, collector_paused, no_progress

__all__ = ["UncheckedPart", "Verdict", "audit", "table_digests"]

Result = TypeVar("Result")
JOURNAL_IS_FALSE = "nothing follows from a journal that is false"
NO_LISTS = ListsVerdict((), ())
_FEW_BYTES = 64 << 20  # of a journal that this process audits alone: a worker takes 0.3 s to start
NO_VIEWS = "there are no views yet; the next command that reads makes them"


@attrs.frozen
class UncheckedPart:
    """A part of the ledger that an audit did not compare, and the reason; *failed* if the audit tried and could not."""

    part: str
    reason: str
    failed: bool = False

    def __str__(self) -> str:
        return f"{self.part}: {self.reason}"


@attrs.frozen
class Verdict(Finding):
    """The findings of an audit; true only if nothing is false and every part could be compared.

    Attributes:
        head: size and root of the journal, recomputed from its bytes up to the first entry that is missing.
        names_checked: the number of names compared with their commitments; *reasons_checked* likewise.
        digests: by table of the views, the digest of its rows as rebuilt from the journal; empty when the journal
            itself is false, for then nothing follows from it.
        falsehoods: the journal's first, then those of names, texts and views.
        clocks: positions of the entries that accepted a clock that ran ahead.
        rows_until: the number of entries whose derived rows were compared; None if none was.
        lists: the number of published lists whose heads and stored rows were checked.
        lists_recomputed: the number of those that were calculated again from the entries before them.
        resets: the tokens that replaced lost ones without an approver's token.
        moved_to: the place that the ledger was moved to from here; these files are as they were then.
    """

    head: TreeHead
    entries: int
    names_checked: int
    names_erased: int
    digests: dict[str, str]
    falsehoods: tuple[Falsehood, ...]
    clocks: tuple[int, ...] = ()
    rows_until: int | None = attrs.field(default=None, eq=False)
    not_compared: tuple[UncheckedPart, ...] = attrs.field(default=(), eq=False)
    reasons_checked: int = 0
    reasons_erased: int = 0
    lists: int = attrs.field(default=0, eq=False)
    lists_recomputed: int = attrs.field(default=0, eq=False)
    resets: tuple[reader.TokenReset, ...] = ()
    moved_to: str | None = None

    @property
    def ok(self) -> bool:
        """True if nothing is false and no comparison failed: the command ``audit`` exits with 0 then."""
        return not self.falsehoods and not any(part.failed for part in self.not_compared)


@checked
def audit(
    path: str | Path,
    *,
    since: TreeHead | None = None,
    journal_only: bool = False,
    progress: Progress = no_progress,
    projectors: tuple[ReadModel, ...] | None = None,
    lists: bool = False,
    part_map: PartMap = IN_THIS_PROCESS,
) -> Verdict:
    """Verify the journal, names, texts and views of a ledger, and report everything that is false.

    Args:
        path: the journal's file.
        since: a head stored elsewhere, whose entries must be the first ones of the journal; the head of the last stored
            checkpoint is treated likewise.
        journal_only: leave out names, texts and views.
        progress: receives reports of what is being done.
        projectors: the read models of the views; the installed ones by default.
        lists: calculate each published list again, from the entries that it follows from.
        part_map: checks, compares and hashes parts of the views of a large ledger; by default this process does.

    Raises:
        StorageError: the journal is missing, locked, or may not be read; or the disk lacks the space to rebuild the
            views.
    """
    with ExitStack() as stack:
        work = _Audit(Path(path), stack, progress, part_map)
        if journal_only:
            work.journal(since, None)
            work.leave_out("names, texts and derived rows", "the journal alone was asked for")
        else:
            rebuilt_views.require_temporary_space(sidecar(path, "views"))
            current = work.current_views()
            work.journal(since, current)
            work.names()
            work.texts()
            work.lists()
            work.derived_rows(current, projectors)
            if lists:
                work.recomputed_lists()
        return work.verdict()


class _Audit:
    """One audit with its snapshots and its findings so far; an error ends one part, and no other."""

    def __init__(self, path: Path, stack: ExitStack, progress: Progress, part_map: PartMap) -> None:
        self._path = path
        self._stack = stack
        self._progress = progress
        self._part_map = part_map if path.is_file() and path.stat().st_size > _FEW_BYTES else IN_THIS_PROCESS
        self._check_pages: Callable[[], list[Falsehood] | None] = lambda: None  # of the views
        self._falsehoods: dict[str, list[Falsehood]] = {"journal": [], "people": [], "texts": [], "views": []}
        self._not_compared: list[UncheckedPart] = []
        self._file: Snapshot | None = None  # of the journal
        self._proven = JournalVerdict(TreeHead(0, b""), 0, ())
        self._follows = False  # whether the entries are true, so that names and numbers can follow from them
        self._people = PeopleVerdict()
        self._digests: dict[str, str] = {}
        self._rows_until: int | None = None
        self._lists = NO_LISTS
        self._recomputed = 0
        self._resets: tuple[reader.TokenReset, ...] = ()
        self._moved_to: str | None = None

    def verdict(self) -> Verdict:
        names, reasons = self._people.names, self._people.reasons
        return Verdict(
            self._proven.head,
            self._proven.entries,
            names.checked,
            names.erased,
            self._digests,
            tuple(chain.from_iterable(self._falsehoods.values())),
            self._proven.clocks,
            self._rows_until,
            tuple(self._not_compared),
            reasons.checked,
            reasons.erased,
            len(self._lists.lists),
            self._recomputed,
            self._resets,
            self._moved_to,
        )

    def leave_out(self, part: str, reason: str, *, failed: bool = False) -> None:
        """Note a part that is not compared; the next command is no remedy if no command can write to the folder."""
        if "the next command" in reason and not os.access(self._path.parent, os.W_OK):
            remedy = "no command can write to this folder: copy the ledger elsewhere, read it there, then audit it"
            reason = f"{reason.partition(';')[0]}; {remedy}"
        self._not_compared.append(UncheckedPart(part, reason, failed))

    def current_views(self) -> CurrentViews | None:
        """Open the views, before the journal; None if there are none, or they cannot be read."""
        path = sidecar(self._path, "views")
        # SQLite makes a file without a byte for a program that opens a new name: nothing was derived.
        if not path.is_file() or not path.stat().st_size:
            self.leave_out("derived rows", NO_VIEWS)
            return None
        current = self._part(
            "views", "derived rows", lambda: rebuilt_views.read_current_views(self._hold(path, rebuilt_views.REMEDY))
        )
        # beside other work, if there are other processes; where the file cannot be opened twice, in this snapshot
        if current is not None and rebuilt_views.may_be_opened_again(path):
            self._check_pages = self._part_map.begin(rebuilt_views.views_page_falsehoods, str(path))
        return current

    def journal(self, since: TreeHead | None, current: CurrentViews | None) -> None:
        """Open the journal, and hash it again."""
        # Roots that are compared later are asked for beforehand: the tree grows in one pass, and none is kept unasked.
        sizes = () if current is None or current.position is None else (current.position,)
        checkpoint = None
        # first: a checkpoint that is made meanwhile covers entries that the snapshot has not
        try:
            last = CheckpointFiles(self._path).last()
            checkpoint = None if last is None else last.head
        except StorageError as error:
            self.leave_out("last checkpoint", str(error), failed=True)
        try:
            self._file = self._hold(self._path, reader.RESTORE)
            self._moved_to = reader.moved_to(self._file)
            sizes = (*sizes, *(published.head for published in reader.published_lists(self._file)))
            with collector_paused():
                progress = partial(self._progress, "journal")
                self._proven = reader.verify_journal(self._file, since, progress, sizes=sizes, checkpoint=checkpoint)
            self._falsehoods["journal"] += self._proven.falsehoods
            four_eyes = reader.verify_four_eyes(self._file)
            self._falsehoods["journal"] += four_eyes.falsehoods
            self._resets = four_eyes.resets
            # A guard that is missing makes no entry false: what is derived can be compared all the same.
            self._follows = not any(falsehood.table in {"journal", "nodes"} for falsehood in self._proven.falsehoods)
        except CorruptError as error:
            self._falsehoods["journal"].append(Falsehood.of_file("journal", error))

    def names(self) -> None:
        """Compare names and reasons; the people file is opened after the journal."""
        path = sidecar(self._path, "people")
        if not path.is_file():
            message = "is missing: the names are in no other file; restore it from a copy"
            self._falsehoods["people"].append(Falsehood("people file", path.name, message))
            return
        people = self._part("people", "names", lambda: self._compared_people(path))
        self._people = self._people if people is None else people
        for part, reason in self._people.not_compared():
            self.leave_out(part, reason)

    def _compared_people(self, path: Path) -> PeopleVerdict:
        with reader.open_snapshot(str(path), PEOPLE.remedy) as people:
            if self._file is None:
                self.leave_out("names", JOURNAL_IS_FALSE)
                self._falsehoods["people"] += layout_falsehoods(people, PEOPLE)
                return self._people
            verdict = reader.verify_people(self._file, people)
        # Both readers find an entry that registers no player; it is reported once.
        named = {falsehood.position_or_key for falsehood in self._falsehoods["journal"]}
        self._falsehoods["people"] += [
            falsehood
            for falsehood in verdict.falsehoods
            if falsehood.table != "journal" or falsehood.position_or_key not in named
        ]
        return verdict

    def texts(self) -> None:
        """Compare the movetext with its hashes."""
        if (file := self._file) is not None:
            verdict = self._part("texts", "texts", lambda: reader.verify_texts(file))
            self._falsehoods["texts"] += () if verdict is None else verdict.falsehoods

    def lists(self) -> None:
        """Compare the published lists with the heads that they state and their stored rows."""
        if (file := self._file) is not None and self._follows:
            lists = self._part("texts", "lists", lambda: reader.verify_lists(file, self._proven.roots))
            self._lists = NO_LISTS if lists is None else lists
            self._falsehoods["texts"] += self._lists.falsehoods

    def recomputed_lists(self) -> None:
        """Calculate the published lists again from the entries that they follow from."""
        if (file := self._file) is None or not self._digests:
            self.leave_out("published lists", JOURNAL_IS_FALSE)
            return
        verified = VerifiedJournal(file, self._proven.head)
        self._part("texts", "published lists", lambda: self._recompute_lists(verified, file))

    def _recompute_lists(self, journal: Journal, file: Snapshot) -> None:
        false, left_out, compared = list[Falsehood](), list[tuple[str, str]](), 0
        # Lists that state no head before them are reported already, by ``verify_lists``. Each goes on from the views of
        # the one before.
        lists = sorted((each for each in self._lists.lists if each.head), key=lambda published: published.head)
        with open_advancing_views(journal) as past:
            for published in lists:
                event = _entry(journal, published.position)
                if not isinstance(event, ListPublished):
                    false.append(Falsehood("journal", published.position, "is keyed as a list, but is none"))
                    continue
                if why_not := other_version(event):
                    left_out.append((str(published), why_not))
                    continue
                pool, current = calculated_list(past, event, list_form(file, published), self._progress)
                falsehood = _list_falsehood(file, published, past, event, {row.player: row for row in current})
                # Another version need not have given other numbers: only where rows differ is it the reason.
                if falsehood and (why_not := older_version(journal, pool, event)):
                    left_out.append((str(published), why_not))
                    continue
                compared += 1
                false += [falsehood] if falsehood else []
        self._recomputed = compared
        self._falsehoods["texts"] += false
        for part, reason in left_out:
            self.leave_out(part, reason)

    def derived_rows(self, current: CurrentViews | None, projectors: Sequence[ReadModel] | None) -> None:
        """Compare the views with views rebuilt from the journal."""
        if current is not None:
            self._falsehoods["views"] += current.falsehoods
            self._falsehoods["views"] += self._part("views", "pages of the views", lambda: self._pages(current)) or []
        if self._file is not None and self._follows:
            verified = VerifiedJournal(self._file, self._proven.head)
            self._part("views", "derived rows", lambda: self._derive(verified, current, projectors))
        elif current is not None:
            self.leave_out("derived rows", JOURNAL_IS_FALSE)

    def _pages(self, current: CurrentViews) -> list[Falsehood]:
        falsehoods = self._check_pages()
        if falsehoods is None:
            return page_falsehoods(current.file.connection, "views", rebuilt_views.REMEDY)
        return falsehoods

    def _derive(
        self, verified: VerifiedJournal, current: CurrentViews | None, projectors: Sequence[ReadModel] | None
    ) -> None:
        size, why_not_compared = self._proven.head.size, dict[str, str]()
        if current is not None:
            projectors, why_not_compared = rebuilt_views.comparable_projectors(current.file, projectors)
            for name, reason in why_not_compared.items():
                self.leave_out(f"table {name}", reason)
        with rebuilt_views.temporary_views(
            installed_projectors() if projectors is None else projectors, verified
        ) as made:
            until = None if current is None else self._place(current, size)
            unfit = rebuilt_views.build_views(made, size if until is None else until, self._progress)
            if current is not None and until is not None and not unfit:
                false, why_not, strange = rebuilt_views.compare_views(current, made, self._progress, self._part_map)
                for name in strange:
                    if name not in why_not_compared:
                        remedy = "install it here to have its rows compared"
                        self.leave_out(f"table {name}", f"its projector is not installed here: {remedy}")
                self._falsehoods["views"] += false
                self._rows_until = until if not why_not else None
                if why_not:
                    self.leave_out("derived rows", why_not)
                elif until < size:
                    later = "the views have not folded them in; the next command that reads does"
                    self.leave_out(f"derived rows of entries {until + 1:,} to {size:,}", later)
            # The digests are of all entries, so that two sites compare one line wherever their views are.
            unfit = unfit or rebuilt_views.catch_up_views(made, self._progress)
            self._falsehoods["journal"] += unfit
            self._digests = {} if unfit else table_digests(made.connection, self._part_map)
            # Also if no row is false: this version agrees with itself; numbers of an earlier one may be on paper.
            for part, reason in () if unfit else irreproducible_adoptions(made):
                self.leave_out(part, reason)

    def _place(self, current: CurrentViews, size: int) -> int | None:
        """Return the position of the views if their rows can be compared; None, with the reason noted, if not."""
        self._falsehoods["views"] += rebuilt_views.position_falsehoods(current, size, self._proven.roots)
        if current.why_not:
            self.leave_out("derived rows", current.why_not)
            return None
        if current.position is None or current.position > size:
            self.leave_out("derived rows", "the views do not say at which entry of this journal they are")
            return None
        return current.position

    def _hold(self, path: Path, remedy: str) -> Snapshot:
        return self._stack.enter_context(reader.open_snapshot(str(path), remedy))

    def _part(self, file: str, part: str, compare: Callable[[], Result]) -> Result | None:
        """Run one part of the audit; note damage as a falsehood of *file*, and any other error as not compared."""
        try:
            return compare()
        except CorruptError as error:
            # Every part reads the journal, too: its damage is reported as the journal's.
            word = "journal" if Path(error.path) == self._path else file
            self._falsehoods[file].append(Falsehood.of_file(word, error))
        except futures.BrokenExecutor as error:
            self.leave_out(part, f"{one_line(error)}: audit it again, or with --workers 1", failed=True)
        except (LedgerError, OSError, *READ_ERRORS) as error:  # a journal whose index is another one's is named already
            self.leave_out(part, one_line(error), failed=True)
        return None


# --- published lists, calculated again ----------------------------------------------------------------------


REMEDY = "find out who published it and from what: the entries before it are true"


def calculated_list(
    past: AdvancingViews, event: ListPublished, form: str, progress: Progress = no_progress
) -> tuple[Pool | None, list[ListRow]]:
    """Return the pool of a published list, and the rows that the entries before it give in a stored form.

    *past* goes on to these entries.
    """
    connection = past.advance_to(event.head, progress).connection
    pool = next((pool for pool in stored_pools(connection) if pool.name == event.pool), None)
    return pool, [] if pool is None else rating_list_at(connection, pool, instant_end_ms(event.as_of), form=form)


def _entry(journal: Journal, position: int) -> Event:
    """Return the event at a position."""
    return next(decode(body).event for bodies in journal.read(position - 1, position) for body in bodies)


def other_version(event: ListPublished) -> str:
    """Return why this version cannot calculate a list again; empty if it can."""
    scheme = schemes.available_schemes().get(event.scheme)
    if scheme is None:
        return f"scheme {event.scheme!r} is not installed here: install it to compare the list"
    return _not_reproducible(event, scheme.version)


def _not_reproducible(
    event: ListPublished | SchemeAdopted, version: int, subject: str = "it was made by", pronoun: str = "it"
) -> str:
    """Return why this program, with that version of its scheme, cannot compare an event; empty if it can."""
    if (event.scheme_version, event.arithmetic) == (version, arith.VERSION):
        return ""
    return (
        f"not reproducible by this version: {subject} version {event.scheme_version} of {event.scheme!r} with "
        f"arithmetic {event.arithmetic}, this program has {version} and {arith.VERSION}; to compare {pronoun}, run the "
        "release of that time"
    )


def older_version(journal: Journal, pool: Pool | None, event: ListPublished) -> str:
    """Return, if another scheme rated the pool before, why that one may have been of another version."""
    for era in () if pool is None else pool.eras:
        adopted = _entry(journal, era.position)
        if not isinstance(adopted, SchemeAdopted) or adopted.scheme == event.scheme:
            continue
        if why_not := _not_reproducible(adopted, era.scheme.version):
            return why_not
    return ""


def _list_falsehood(
    file: Snapshot, published: PublishedList, past: AdvancingViews, event: ListPublished, rows: Mapping[int, ListRow]
) -> Falsehood | None:
    """Return the first row of a list that does not follow from its entries; without stored rows, its false digest."""
    try:
        first = next(list_differences(stored_list_rows(file, published), rows), None)
    except ValueError:  # named already
        digest = list_texts(rows.values()).digest
        same = any(list_texts(calculated_list(past, event, form)[1], form).digest == event.digest for form in FORMS)
        first = None if same else ("digest", f"is {event.digest}, the {published.head} entries before give {digest}")
    return None if first is None else Falsehood(str(published), first[0], f"{first[1]}; {REMEDY}")


def list_differences(kept: Iterator[list[object]], rows: Mapping[int, ListRow]) -> Iterator[tuple[str, str]]:
    """Yield, for each row that differs, its player and both values."""
    remaining = dict(rows)
    for row in kept:
        player = row[0]
        assert isinstance(player, int)
        true = remaining.pop(player, None)
        if true is None:
            yield f"player {player}", f"is listed with {row[3]!r}, and is on no such list by the entries"
        for name, value, follows in zip(COLUMNS, row, true or row, strict=True):
            # 1500 and 1500.0 are equal, and are not the same bytes
            if repr(value) != repr(follows):
                yield f"player {player}", f"{name} is {value!r}, the entries give {follows!r}"
    for player, true in remaining.items():
        yield f"player {player}", f"is missing, the entries give {true.rating!r}"


_ADOPTIONS = "SELECT position FROM eras ORDER BY position"


def irreproducible_adoptions(made: Views) -> Iterator[tuple[str, str]]:
    """Yield the numbers that an adopted scheme's other version first published, each with the reason."""
    facts = WhatIfFacts(made.connection, made.journal)
    for (position,) in made.connection.execute(_ADOPTIONS).fetchall():
        recorded = _entry(made.journal, position)
        fact = facts.fact(recorded.key) if isinstance(recorded, SchemeAdopted) else None
        if fact is None or fact.annulled_by is not None:
            continue
        event = facts.event(fact)  # the event after its corrections
        if not isinstance(event, SchemeAdopted) or event.scheme_version is None or event.arithmetic is None:
            continue  # recorded before versions were
        version = schemes.find_scheme(event.scheme).version
        if why_not := _not_reproducible(event, version, f"entry {position} adopted", "them"):
            yield f"numbers first published in pool {event.pool}", why_not
