"""What an attack is, and the commands that are run on a ledger that it spoilt. Nothing is attacked or judged here."""

from collections.abc import Callable, Iterable
from pathlib import Path
from zlib import crc32

import attrs

from tests.attacks.histories import Point
from tests.attacks.stores import Act
from tests.attacks.workers import Circumstances

TRUE, REFUSED, FALSE = 0, 1, 3

Command = tuple[str, ...]  # the first word, then what follows the ledger's path
Play = tuple[Command, ...]  # commands that are run one after the other
Plays = tuple[Play, ...]  # each on a fresh copy
READS: Play = (("show", "{ann}"), ("ratings",), ("games", "1"))
AUDIT: Play = (("audit",),)
IMPORT_KNOWN: Play = (("import", "{known}"), ("ratings",), ("audit",))
IMPORT_FRESH: Play = (("import", "{fresh}"), ("audit",))
REGISTER: Play = (("register", "name:nora attacks", "Nora Attacks"), ("audit",))
ERASE: Play = (("erase", "1", "--yes"), ("audit",))
REBUILD: Play = (("rebuild",), ("ratings",), ("audit",))
USE_TOKENS: Play = (("token-list",), ("token-log",), ("use-tokens",), ("audit",))
EVERYTHING = ((*READS, *AUDIT), AUDIT, IMPORT_KNOWN, IMPORT_FRESH, REGISTER, ERASE, REBUILD)
QUICK = ((*READS, *IMPORT_KNOWN), AUDIT)
WRITING = ((*READS, *IMPORT_KNOWN), IMPORT_FRESH, REGISTER, ERASE)
MORE_READS: Play = (
    *READS, ("head",), ("pools",), ("graph", "{ann}"), ("log", "--game", "club:1"), ("explain", "{ann}", "club:1"),
    ("predict", "1", "3"), ("show", "1", "--at", "2020-01-10"),
)  # fmt: skip
READING = ((*MORE_READS, *AUDIT), AUDIT, IMPORT_KNOWN, REBUILD)
MAY_BE_UNREADABLE = (FALSE, REFUSED)


@attrs.frozen
class Attack:
    """One way to spoil one ledger."""

    name: str  # all of it in words; the same every time
    point: Point  # is copied and then spoilt
    act: Act = lambda _: None
    plays: Plays = EVERYTHING  # each is run on a fresh spoilt copy
    torn: bool = False  # take the point as a crash left it, its newest pages in the logs
    reads_may_err: bool = True  # the files still belong together, so that only an audit need find it
    audit_codes: tuple[int, ...] = (FALSE,)  # of an audit that finds something; 1 where a file may be past reading
    refusal: str = ""  # a pattern of words that make a refusal right although everything follows
    place: Callable[[Path], Path] = lambda db: db  # changes the surroundings of a copy, and tells the path to give
    circumstances: Circumstances = Circumstances()
    kind: str = ""  # attacks of one kind are much alike: of each kind some are tried before all of one


def first_attacks(attacks: Iterable[Attack], count: int) -> list[Attack]:
    """Return so many attacks, in an order that is always the same, kinds in turn."""
    kinds: dict[str, list[Attack]] = {}
    for attack in attacks:
        kinds.setdefault(attack.kind, []).append(attack)
    turns = (
        (turn, crc32(kind.encode()), attack)
        for kind, alike in kinds.items()
        for turn, attack in enumerate(sorted(alike, key=lambda attack: crc32(attack.name.encode())))
    )
    return [attack for _, _, attack in sorted(turns, key=lambda turn: turn[:2])[:count]]


def shortened(attacks: Iterable[Attack], plays: int) -> list[Attack]:
    """Return the same attacks with so many plays each, others from attack to attack."""
    found = []
    for turn, attack in enumerate(attacks):
        chosen = {attack.plays[(turn + skip) % len(attack.plays)]: None for skip in range(0, 2 * plays, 2)}
        found.append(attrs.evolve(attack, plays=tuple(chosen)))
    return found
