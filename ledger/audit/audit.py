"""The audit: it checks the journal against its commitments, the names, and the published numbers against both.

The journal is read by ``reader``, which shares no code with its writer. The views are then rebuilt in a temporary
folder from the journal alone and compared row by row (``derived``). Each published list is calculated again from the
entries that it follows from, and compared with the stored rows. This version cannot calculate the lists of another
version of a scheme or of the arithmetic; it reports such lists, and adoptions whose version once gave other numbers,
which may be on paper. Nothing is changed.

Each file is read in one snapshot: first the views, then the journal, then the people. Whoever writes goes the other
way about, people, journal, views, so that what is read later knows all that was read before.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import TypeVar

import attrs

from ledger import schemes
from ledger.audit import derived, reader
from ledger.audit.derived import CurrentViews, VerifiedJournal, table_digests
from ledger.audit.reader import Falsehood, Finding, JournalVerdict, ListsVerdict, PeopleVerdict, Snapshot
from ledger.audit.reader.published import PEOPLE, file_falsehoods
from ledger.audit.reader.texts import COLUMNS, PublishedList, form_of, kept_rows
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
from ledger.journal.kept_lists import ListRow, form_of_digest, in_form, kept_texts
from ledger.ratings.fact_projector import ReadModel
from ledger.ratings.installed_projectors import available
from ledger.ratings.past_views import stepping
from ledger.ratings.standings import list_in_force
from ledger.ratings.views import Views
from ledger.runtime import arith
from ledger.runtime.calls import checked
from ledger.runtime.ledger_files import sidecar
from ledger.runtime.long_work import Progress, collector_paused, silent

__all__ = ["Omission", "Verdict", "audit", "table_digests"]

Result = TypeVar("Result")
JOURNAL_IS_FALSE = "nothing follows from a journal that is false"
NO_LISTS = ListsVerdict((), ())
NO_VIEWS = "there are no views yet; the next command that reads makes them"


@attrs.frozen
class Omission:
    """A part that was not compared, so that nothing is known of it.

    Attributes:
        part: ``names``, ``derived rows`` and the like.
        reason: why not.
        failed: whether it should have been; the audit has failed then.
    """

    part: str
    reason: str
    failed: bool = False

    def __str__(self) -> str:
        """One line."""
        return f"{self.part}: {self.reason}"


@attrs.frozen
class Verdict(Finding):
    """The findings of an audit; true only if nothing is false and every part could be compared.

    Attributes:
        head: size and root of the journal, recomputed from its bytes up to the first entry that is missing.
        entries: entries read.
        names_checked: names compared with their commitments.
        names_erased: names that were erased and can no longer be compared.
        digests: by table of the views, the digest of its rows as rebuilt from the journal; empty when the journal
            itself is false, for then nothing follows from it.
        falsehoods: the differences: the journal's first, then names, texts and views.
        clocks: the entries by which a clock that ran ahead was accepted.
        rows_until: the entries of which every derived row was compared; None if none was.
        not_compared: what was not compared, and why.
        reasons_checked: reasons of corrections compared with their commitments.
        reasons_erased: reasons that were erased and can no longer be compared.
        lists: published lists whose heads and kept rows were checked.
        lists_recomputed: those that were calculated again from the entries before them.
        resets: the tokens that replaced lost ones without a token's consent.
        went_to: where the ledger was moved to from here; these files are as they were then.
    """

    head: TreeHead
    entries: int
    names_checked: int
    names_erased: int
    digests: dict[str, str]
    falsehoods: tuple[Falsehood, ...]
    clocks: tuple[int, ...] = ()
    rows_until: int | None = attrs.field(default=None, eq=False)
    not_compared: tuple[Omission, ...] = attrs.field(default=(), eq=False)
    reasons_checked: int = 0
    reasons_erased: int = 0
    lists: int = attrs.field(default=0, eq=False)
    lists_recomputed: int = attrs.field(default=0, eq=False)
    resets: tuple[reader.Reset, ...] = ()
    went_to: str | None = None

    @property
    def ok(self) -> bool:
        """True if nothing is false and no comparison failed: the command ``audit`` exits with 0 then."""
        return not self.falsehoods and not any(omission.failed for omission in self.not_compared)


@checked
def audit(
    path: str | Path,
    *,
    since: TreeHead | None = None,
    journal_only: bool = False,
    progress: Progress = silent,
    projectors: tuple[ReadModel, ...] | None = None,
    lists: bool = False,
) -> Verdict:
    """Prove a ledger, or name what is false in it.

    Args:
        path: the journal's file.
        since: a head stored elsewhere; everything before it must be a prefix of the journal now. The head of the last
            checkpoint is treated likewise, if any is stored.
        journal_only: leave out names, texts and views.
        progress: receives reports of what is being done.
        projectors: the read models that the views hold; the installed ones by default.
        lists: calculate each published list again, from the entries that it follows from.

    Raises:
        StorageError: the journal is missing, locked, or may not be read.
    """
    with ExitStack() as stack:
        work = _Audit(Path(path), stack, progress)
        if journal_only:
            work.journal(since, None)
            work.leave_out("names, texts and derived rows", "the journal alone was asked for")
        else:
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
    """One audit: the snapshots that are held, and what was found so far. What ends one part ends no other."""

    def __init__(self, path: Path, stack: ExitStack, progress: Progress) -> None:
        self._path = path
        self._stack = stack
        self._progress = progress
        self._falsehoods: dict[str, list[Falsehood]] = {"journal": [], "people": [], "texts": [], "views": []}
        self._not_compared: list[Omission] = []
        self._file: Snapshot | None = None  # of the journal
        self._proven = JournalVerdict(TreeHead(0, b""), 0, ())
        # whether the entries are true, so that names and numbers can follow from them
        self._follows = False
        self._people = PeopleVerdict()
        self._digests: dict[str, str] = {}
        self._rows_until: int | None = None
        self._lists = NO_LISTS
        self._recomputed = 0
        self._resets: tuple[reader.Reset, ...] = ()
        self._went_to: str | None = None

    def verdict(self) -> Verdict:
        """Return all findings."""
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
            self._went_to,
        )

    def leave_out(self, part: str, reason: str, *, failed: bool = False) -> None:
        """Note what is not compared; what a command would make is no remedy where it cannot write."""
        if "the next command" in reason and not os.access(self._path.parent, os.W_OK):
            remedy = "no command can write to this folder: copy the ledger elsewhere, read it there, then audit it"
            reason = f"{reason.partition(';')[0]}; {remedy}"
        self._not_compared.append(Omission(part, reason, failed))

    def current_views(self) -> CurrentViews | None:
        """Hold the views, before the journal, and look at them; None if they cannot be looked at."""
        path = sidecar(self._path, "views")
        # SQLite makes a file without a byte for a program that opens a new name: nothing was derived.
        if not path.is_file() or not path.stat().st_size:
            self.leave_out("derived rows", NO_VIEWS)
            return None
        return self._part("views", "derived rows", lambda: derived.look(self._hold(path, derived.REMEDY)))

    def journal(self, since: TreeHead | None, current: CurrentViews | None) -> None:
        """Hold the journal, and hash it again."""
        # Roots that are compared later are asked for beforehand: the tree grows in one pass, and none is kept unasked.
        sizes = () if current is None or current.position is None else (current.position,)
        kept = None
        # first: a checkpoint that is made meanwhile covers entries that the snapshot has not
        try:
            last = CheckpointFiles(self._path).last()
            kept = None if last is None else last.head
        except StorageError as error:
            self.leave_out("last checkpoint", str(error), failed=True)
        try:
            self._file = self._hold(self._path, reader.RESTORE)
            self._went_to = reader.went_to(self._file)
            sizes = (*sizes, *(published.head for published in reader.published_lists(self._file)))
            with collector_paused():
                self._proven = reader.verify_journal(
                    self._file,
                    since,
                    lambda done, total: self._progress("journal", done, total),
                    sizes=sizes,
                    kept=kept,
                )
            self._falsehoods["journal"] += self._proven.falsehoods
            four_eyes = reader.verify_four_eyes(self._file)
            self._falsehoods["journal"] += four_eyes.falsehoods
            self._resets = four_eyes.resets
            # A guard that is missing makes no entry false: what is derived can be compared all the same.
            self._follows = not any(falsehood.table in {"journal", "nodes"} for falsehood in self._proven.falsehoods)
        except CorruptError as error:
            self._falsehoods["journal"].append(Falsehood.of_file("journal", error))

    def names(self) -> None:
        """Compare names and reasons; the people are held after the journal, and no longer than that takes."""
        path = sidecar(self._path, "people")
        if not path.is_file():
            message = "is missing: the names stand in no other file; restore it from a copy"
            self._falsehoods["people"].append(Falsehood("people file", path.name, message))
            return
        people = self._part("people", "names", lambda: self._compared_people(path))
        self._people = self._people if people is None else people
        for part, reason in self._people.left_out():
            self.leave_out(part, reason)

    def _compared_people(self, path: Path) -> PeopleVerdict:
        with reader.snapshot(str(path), PEOPLE.remedy) as people:
            if self._file is None:
                self.leave_out("names", JOURNAL_IS_FALSE)
                self._falsehoods["people"] += file_falsehoods(people, PEOPLE)
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
        """Compare the published lists with the heads that they name and the rows that are kept of them."""
        if (file := self._file) is not None and self._follows:
            lists = self._part("texts", "lists", lambda: reader.verify_lists(file, self._proven.roots))
            self._lists = NO_LISTS if lists is None else lists
            self._falsehoods["texts"] += self._lists.falsehoods

    def recomputed_lists(self) -> None:
        """Work the published lists out once more from what they follow from, where anything follows."""
        if (file := self._file) is None or not self._digests:
            self.leave_out("published lists", JOURNAL_IS_FALSE)
            return
        # Those that name no head before them are named already, by ``verify_lists``.
        true = [published for published in self._lists.lists if published.head]
        verified = VerifiedJournal(file, self._proven.head)
        result = self._part("texts", "published lists", lambda: recompute_lists(verified, file, true, self._progress))
        if result is not None:
            self._recomputed = result.compared
            self._falsehoods["texts"] += result.falsehoods
            for part, reason in result.left_out:
                self.leave_out(part, reason)

    def derived_rows(self, current: CurrentViews | None, projectors: Sequence[ReadModel] | None) -> None:
        """Compare everything derived."""
        if current is not None:
            self._falsehoods["views"] += current.falsehoods
        if self._file is not None and self._follows:
            verified = VerifiedJournal(self._file, self._proven.head)
            self._part("views", "derived rows", lambda: self._derive(verified, current, projectors))
        elif current is not None:
            self.leave_out("derived rows", JOURNAL_IS_FALSE)

    def _derive(
        self, verified: VerifiedJournal, current: CurrentViews | None, projectors: Sequence[ReadModel] | None
    ) -> None:
        size, why_not_compared = self._proven.head.size, dict[str, str]()
        if current is not None:
            projectors, why_not_compared = derived.with_tables(current.file, projectors)
            for name, reason in why_not_compared.items():
                self.leave_out(f"table {name}", reason)
        with derived.temporary_views(available() if projectors is None else projectors, verified) as made:
            until = None if current is None else self._place(current, size)
            unfit = derived.build(made, size if until is None else until, self._progress)
            if current is not None and until is not None and not unfit:
                false, why_not, strange = derived.compare(current.file, made, self._progress)
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
            unfit = unfit or derived.catch_up(made, self._progress)
            self._falsehoods["journal"] += unfit
            self._digests = {} if unfit else table_digests(made.connection)
            # Also if no row is false: this version agrees with itself; numbers of an earlier one may be on paper.
            for part, reason in () if unfit else not_reproducible(made):
                self.leave_out(part, reason)

    def _place(self, current: CurrentViews, size: int) -> int | None:
        """Return the entries of which the views' rows are compared; None, with the reason noted, if they are not."""
        self._falsehoods["views"] += derived.place_falsehoods(current, size, self._proven.roots)
        if current.why_not:
            self.leave_out("derived rows", current.why_not)
            return None
        if current.position is None or current.position > size:
            self.leave_out("derived rows", "the views do not say at which entry of this journal they are")
            return None
        return current.position

    def _hold(self, path: Path, remedy: str) -> Snapshot:
        """Return a snapshot that is held until the audit ends."""
        return self._stack.enter_context(reader.snapshot(str(path), remedy))

    def _part(self, file: str, part: str, compare: Callable[[], Result]) -> Result | None:
        """Do one part; what ends it is a falsehood of its file, or where the system refused, no comparison."""
        try:
            return compare()
        except CorruptError as error:
            # Every part reads the journal, too: its damage is reported as the journal's.
            word = "journal" if Path(error.path) == self._path else file
            self._falsehoods[file].append(Falsehood.of_file(word, error))
        except (LedgerError, OSError) as error:
            self.leave_out(part, one_line(error), failed=True)
        return None


# --- published lists, worked out once more ------------------------------------------------------------------


REMEDY = "find out who published it and from what: the entries before it are true"


class RecomputedLists:
    """The result of calculating the lists again: the number compared, the falsehoods, and the lists not compared."""

    def __init__(self) -> None:
        self.compared = 0
        self.falsehoods: list[Falsehood] = []
        self.left_out: list[tuple[str, str]] = []  # the list, and why


def recompute_lists(
    journal: Journal, file: Snapshot, lists: Sequence[PublishedList], progress: Progress
) -> RecomputedLists:
    """Work the lists out, in the order of their heads, each from the entries before it alone.

    Args:
        journal: the proven journal.
        file: the same, for the kept rows.
        lists: those that name a true head.
        progress: receives reports of what is being done.
    """
    result = RecomputedLists()
    with stepping(journal) as past:
        for published in sorted(lists, key=lambda published: published.head):  # each goes on from the views before it
            event = _entry(journal, published.position)
            if not isinstance(event, ListPublished):
                result.falsehoods.append(Falsehood("journal", published.position, "is keyed as a list, but is none"))
                continue
            why_not = _other_version(event)
            if why_not:
                result.left_out.append((str(published), why_not))
                continue
            connection = past.go_to(published.head, progress).connection
            pool = next((pool for pool in stored_pools(connection) if pool.name == event.pool), None)
            current = [] if pool is None else list_in_force(connection, pool, instant_end_ms(event.as_of))
            rows = {row.player: row for row in current}
            falsehood = _difference(file, published, event, rows)
            # Another version need not have given other numbers: only where rows differ is it the reason.
            why_not = _older_scheme(journal, pool, event) if falsehood else ""
            if falsehood and why_not:
                result.left_out.append((str(published), why_not))
                continue
            result.compared += 1
            result.falsehoods += [falsehood] if falsehood else []
    return result


def _entry(journal: Journal, position: int) -> Event:
    """Return the event at a position."""
    return next(decode(body).event for bodies in journal.read(position - 1, position) for body in bodies)


def _other_version(event: ListPublished) -> str:
    """Return why this version cannot calculate a list again; empty if it can."""
    scheme = schemes.available().get(event.scheme)
    if scheme is None:
        return f"scheme {event.scheme!r} is not installed here: install it to compare the list"
    here = scheme.version, arith.VERSION
    if (event.scheme_version, event.arithmetic) == here:
        return ""
    return _not_reproducible(event.scheme, (event.scheme_version, event.arithmetic), here)


def _not_reproducible(scheme: str, then: tuple[int | None, int | None], here: tuple[int, int]) -> str:
    return (
        f"not reproducible by this version: it was made by version {then[0]} of {scheme!r} with arithmetic {then[1]}, "
        f"this program has {here[0]} and {here[1]}; to compare it, run the release of that time"
    )


def _older_scheme(journal: Journal, pool: Pool | None, event: ListPublished) -> str:
    """Return, if another scheme rated the pool before, why that one may have been of another version."""
    for era in () if pool is None else pool.eras:
        adopted = _entry(journal, era.position)
        if not isinstance(adopted, SchemeAdopted) or adopted.scheme == event.scheme:
            continue
        then, here = (adopted.scheme_version, adopted.arithmetic), (era.scheme.version, arith.VERSION)
        if then != here:
            return _not_reproducible(adopted.scheme, then, here)
    return ""


def _difference(
    file: Snapshot, published: PublishedList, event: ListPublished, rows: Mapping[int, ListRow]
) -> Falsehood | None:
    """Return the first row of a list that does not follow from its entries, if any; without stored rows, of digests."""
    of_form = {row.player: row for row in in_form(rows.values(), form_of(file, published))}
    try:
        first = next(_differences(kept_rows(file, published), of_form), None)
    except ValueError:  # named already
        digest = kept_texts(rows.values()).digest
        same = form_of_digest(list(rows.values()), event.digest) is not None
        first = None if same else ("digest", f"is {event.digest}, the {published.head} entries before give {digest}")
    return None if first is None else Falsehood(str(published), first[0], f"{first[1]}; {REMEDY}")


def _differences(kept: Iterator[list[object]], rows: Mapping[int, ListRow]) -> Iterator[tuple[str, str]]:
    """Yield, for each row that differs, its player and both values."""
    remaining = dict(rows)
    for row in kept:
        player = row[0]
        assert isinstance(player, int)
        true = remaining.pop(player, None)
        if true is None:
            yield f"player {player}", f"stands there with {row[3]!r}, and is on no such list by the entries"
        for name, value, follows in zip(COLUMNS, row, true or row, strict=True):
            # 1500 and 1500.0 are equal, and are not the same bytes
            if repr(value) != repr(follows):
                yield f"player {player}", f"{name} is {value!r}, the entries give {follows!r}"
    for player, true in remaining.items():
        yield f"player {player}", f"is missing, the entries give {true.rating!r}"


_ADOPTIONS = "SELECT position FROM eras ORDER BY position"


def not_reproducible(made: Views) -> Iterator[tuple[str, str]]:
    """Return the parts not compared because of another version, with reasons, for each such adoption of built views."""
    facts = WhatIfFacts(made.connection, made.journal)
    for (position,) in made.connection.execute(_ADOPTIONS).fetchall():
        recorded = _entry(made.journal, position)
        fact = facts.fact(recorded.key) if isinstance(recorded, SchemeAdopted) else None
        if fact is None or fact.annulled_by is not None:
            continue
        event = facts.event(fact)  # the event after its corrections
        if not isinstance(event, SchemeAdopted) or event.scheme_version is None or event.arithmetic is None:
            continue  # recorded before versions were
        here = schemes.named(event.scheme).version, arith.VERSION
        if (event.scheme_version, event.arithmetic) != here:
            yield (
                f"numbers first published in pool {event.pool}",
                f"not reproducible by this version: entry {position} adopted version {event.scheme_version} of "
                f"{event.scheme!r} with arithmetic {event.arithmetic}, this program has {here[0]} and {here[1]}; to "
                "compare them, run the release of that time",
            )
