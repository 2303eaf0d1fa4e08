"""Published lists worked out once more, each from the entries that it follows from, and held against what was kept.

What another version of a scheme or of the arithmetic published cannot be worked out by this one; it is said to be so,
of lists and of the numbers that each adoption's version once gave, which may stand on paper.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ledger.audit.reader import Falsehood, Snapshot
from ledger.audit.reader.texts import COLUMNS, PublishedList, form_of, kept_rows
from ledger.book.conflicts import HypotheticalFacts
from ledger.book.stored_pools import stored_pools
from ledger.book.timeline import Pool
from ledger.facts.codec import decode
from ledger.facts.events import Event, ListPublished, SchemeAdopted
from ledger.facts.instants import instant_end_ms
from ledger.journal import Journal
from ledger.journal.kept_lists import ListRow, form_of_digest, in_form, kept_texts
from ledger.ratings.past_views import stepping
from ledger.ratings.standings import list_in_force
from ledger.ratings.views import Views
from ledger.runtime import arith
from ledger.runtime.long_work import Progress
from ledger.schemes import available, named

REMEDY = "find out who published it and from what: the entries before it are true"


class Recomputed:
    """What came of working the lists out: how many were compared, what is false, and what could not be compared."""

    def __init__(self) -> None:
        self.compared = 0
        self.falsehoods: list[Falsehood] = []
        self.left_out: list[tuple[str, str]] = []  # the list, and why


def recompute(journal: Journal, file: Snapshot, lists: Sequence[PublishedList], progress: Progress) -> Recomputed:
    """Work the lists out, in the order of their heads, each from the entries before it alone.

    Args:
        journal: the proven journal.
        file: the same, for the kept rows.
        lists: those that name a true head.
        progress: told what is being done.
    """
    result = Recomputed()
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
            standing = [] if pool is None else list_in_force(connection, pool, instant_end_ms(event.as_of))
            rows = {row.player: row for row in standing}
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
    """The event at a position."""
    return next(decode(body).event for bodies in journal.read(position - 1, position) for body in bodies)


def _other_version(event: ListPublished) -> str:
    """Why this version cannot work a list out; empty where it can."""
    scheme = available().get(event.scheme)
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
    """Where another scheme rated the pool before: why that one may have been of another version, or nothing."""
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
    """The first row of a list that does not follow from its entries, if any; without kept rows their digest tells."""
    of_form = {row.player: row for row in in_form(rows.values(), form_of(file, published))}
    try:
        first = next(_differences(kept_rows(file, published), of_form), None)
    except ValueError:  # named already
        digest = kept_texts(rows.values()).digest
        same = form_of_digest(list(rows.values()), event.digest) is not None
        first = None if same else ("digest", f"is {event.digest}, the {published.head} entries before give {digest}")
    return None if first is None else Falsehood(str(published), first[0], f"{first[1]}; {REMEDY}")


def _differences(kept: Iterator[list[object]], rows: Mapping[int, ListRow]) -> Iterator[tuple[str, str]]:
    """Of each row that differs, whose it is, and both values."""
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
    """What was not compared because of another version, and why, for each such adoption of built views, in order."""
    facts = HypotheticalFacts(made.connection, made.journal)
    for (position,) in made.connection.execute(_ADOPTIONS).fetchall():
        recorded = _entry(made.journal, position)
        fact = facts.fact(recorded.key) if isinstance(recorded, SchemeAdopted) else None
        if fact is None or fact.annulled_by is not None:
            continue
        event = facts.event(fact)  # as it stands after its corrections
        if not isinstance(event, SchemeAdopted) or event.scheme_version is None or event.arithmetic is None:
            continue  # recorded before versions were
        here = named(event.scheme).version, arith.VERSION
        if (event.scheme_version, event.arithmetic) != here:
            yield (
                f"numbers first published in pool {event.pool}",
                f"not reproducible by this version: entry {position} adopted version {event.scheme_version} of "
                f"{event.scheme!r} with arithmetic {event.arithmetic}, this program has {here[0]} and {here[1]}; to "
                "compare them, run the release of that time",
            )
