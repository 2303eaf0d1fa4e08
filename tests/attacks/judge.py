"""The judge: runs commands on a spoilt copy and reports what of their answers is false. No attack is made here.

What is demanded of every command, whatever was done to the files:

* it ends in time, with an exit code from 0 to 3, without a traceback, and says each thing on one line;
* what it says it recorded or erased is what the file then holds; refused, it leaves every row of the journal alone;
* no game is sealed under another person's number;
* where it answers (exit 0) and the files belong together, it answers what the untouched ledger does;
* ``audit`` says TRUE exactly when everything follows, by ``truth``;
* what it advises to run is a command, and where that is one that mends, it mends the complaint.

Reads verify that the files belong together and nothing more: an attack whose ``reads_may_err`` is set changes what
only an audit finds, and then the audit must.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import dropwhile
from pathlib import Path
from typing import Any

import attrs

from ledger.journal.settings_file import server_of
from ledger.runtime.lazy import psycopg
from ledger.runtime.sqlite import sqlite3
from tests.attacks import servers
from tests.attacks.histories import History, parsed
from tests.attacks.plays import FALSE, REFUSED, TRUE, Attack, Command, Play
from tests.attacks.stores import copied, file_of, readable
from tests.attacks.truth import JournalRow, People, Truth, commitment, digest_of, entries, people
from tests.attacks.workers import CRASHED, HUNG, Circumstances, Done, Worker
from tools.cli import COMMANDS

SLOW_YARDSTICKS = 200.0  # a command on a small ledger takes one

_GRAVE = ("error: ", "FALSE ", "FOREIGN ", "NOT COMPARED ")
_AFTERWARDS = ("CLOCK ", "TRUE ", "there may be more", *_GRAVE)  # how lines begin behind a grave one
_STANDS = re.compile(r"[\d,]+ entr(?:y was|ies were) recorded before that, and stands?$")  # the end of an error
_RECORDED = re.compile(r"\): ([\d,]+) games? recorded")
_FORGOTTEN = re.compile(r"who player (\d+) was is forgotten")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_COMMAND = re.compile(r"(?:run|with|by|then|use|is none,) '(?:rating-ledger )?([a-z]+(?:-[a-z]+)*)\b")
_ERASE = re.compile(r"'rating-ledger erase DB (\d+)'")
_PROVE = "prove it with 'audit"
_WITHOUT_FILE = "with this file moved aside"
_OF_PEOPLE = ("people", "people_folds", "people_search", "renaming", "erasing", "reasons")  # tables of a server
_WRITES = {"import", "register", "erase", "rebuild", "use-tokens"}
_RECORDS = {"import", "register", "use-tokens"}

Aliases = Mapping[int, set[str | None]]  # by player number, all that an answer may call the player


@attrs.frozen
class Finding:
    """Something that did not hold."""

    attack: str
    commands: tuple[str, ...]  # that were run until then, as one writes them
    what: str  # is wrong with the last one


class AttackJudge:
    """Judges attacks on one history."""

    def __init__(self, history: History, truth: Truth, worker: Worker, scratch: Path) -> None:
        """Take what is known, who runs the commands by default, and a folder to work in."""
        self.history = history
        self.truth = truth
        self.worker = worker
        self.scratch = scratch
        self._workers = {Circumstances(): worker}
        self.impossible = 0  # attacks for which the ledger gave no occasion
        self._unknown: dict[tuple[str, Command], Any] = {}

    def findings(self, attack: Attack) -> Iterator[Finding]:
        """Yield what did not hold under one attack."""
        spoilt = copied(attack.point.torn if attack.torn else attack.point.db, self.scratch / "spoilt")
        try:
            attack.act(spoilt)
        except (sqlite3.Error, psycopg.Error):
            self.impossible += 1
            return
        faults = self.truth.faults(spoilt)
        for play in attack.plays:
            yield from _PlayedAttack(self, attack, copied(spoilt, self.scratch / "play"), faults).findings(play)

    def close(self) -> None:
        for worker in self._workers.values():
            worker.close()

    def worker_in(self, circumstances: Circumstances) -> Worker:
        return self._workers.setdefault(circumstances, Worker(circumstances))

    def words(self, command: Command) -> Command:
        """Return a command with the history's players and files put in."""
        history = self.history
        first = history.identities[min(history.identities)]
        meant = {"{ann}": first, "{known}": str(history.known), "{fresh}": str(history.fresh)}
        return tuple(meant.get(word, word) for word in command)

    def journal(self, db: Path) -> list[JournalRow] | None:
        """Return the journal's rows, read without touching it."""
        return entries(readable(db, self.scratch / "read"))

    def people(self, db: Path) -> People:
        """Return the people, read without touching their file; nobody where it cannot be read."""
        return people(readable(db, self.scratch / "read")) or {}

    def true_answer(self, db: Path, journal: list[JournalRow], question: Command) -> tuple[Any, Aliases]:
        """Return what the untouched ledger answers, or None, with the aliases of its players.

        For a journal that no point has, the answer is what views built anew from it give, without names.
        """
        digest = digest_of(journal)
        moment = self.history.moments.get(digest)
        if moment is not None:
            return moment.answers.get(question), moment.aliases
        if (digest, question) not in self._unknown:
            alone = copied(db, self.scratch / "alone")
            for path in alone.parent.glob(f"{alone.stem}.views*"):
                path.unlink()
            done = self.worker.run(question[0], alone, *question[1:])
            self._unknown[digest, question] = parsed(done.out) if done.code == TRUE else None
        return self._unknown[digest, question], {}


class _PlayedAttack:
    def __init__(self, judge: AttackJudge, attack: Attack, db: Path, faults: list[str]) -> None:
        self._judge = judge
        self._attack = attack
        self._db = db
        self._path = attack.place(db)
        self._worker = judge.worker_in(attack.circumstances)
        self._faults = faults
        self._said: list[str] = []
        self._journal = judge.journal(db)

    def findings(self, play: Play) -> Iterator[Finding]:
        """Run the commands one after the other; yield what did not hold."""
        for command in play:
            words = self._judge.words(command)
            done = self._worker.run(words[0], self._path, *words[1:])
            self._said.append(f"{' '.join(words)} -> {done.code}")
            before, self._journal = self._journal, self._judge.journal(self._db)
            wrong = [*manners(done), *self._of_kind(words, done, before), *self._advice(words, done)]
            yield from (Finding(self._attack.name, tuple(self._said), what) for what in wrong)

    def _of_kind(self, words: Command, done: Done, before: list[JournalRow] | None) -> Iterator[str]:
        """Yield what is wrong with the answer of a command of this kind."""
        if done.code in {HUNG, CRASHED}:
            return
        after = self._journal
        grown: list[JournalRow] = []
        if before is not None and (after is None or after[: len(before)] != before):
            yield "rows of the journal that were there are not there any more"
        elif before is not None and after is not None:
            grown = after[len(before) :]
        grown = [entry for entry in grown if not self._is_erasure(entry)]  # any command completes a stopped one
        if words[0] == "audit":
            yield from self._audit(done)
        elif words[0] in _WRITES:
            yield from self._writing(words, done, grown)
            self._faults = self._judge.truth.faults(self._db)
        else:
            yield from self._reading(words, done)
        if words[0] not in _RECORDS and grown:
            yield f"wrote {len(grown)} entries into the journal"

    def _audit(self, done: Done) -> Iterator[str]:
        faults = self._judge.truth.faults(self._db)
        allowed = self._is_justified(done) and (done.code != FALSE or FALSE in self._attack.audit_codes)
        if not faults and done.code != TRUE and not allowed:
            yield f"the audit cries, though everything follows: {_brief(done)}"
        elif faults and done.code == TRUE:
            yield f"says TRUE, though {'; '.join(faults)}"
        elif faults and done.code not in self._attack.audit_codes:
            yield f"gives no verdict, exit {done.code} ({_brief(done)}), though {'; '.join(faults)}"

    def _reading(self, words: Command, done: Done) -> Iterator[str]:
        if self._journal is None or (self._faults and (done.code != TRUE or self._attack.reads_may_err)):
            return
        true, aliases = self._judge.true_answer(self._db, self._journal, words)
        if done.code != TRUE:
            if true is not None and not self._is_justified(done):
                yield f"everything follows, but it refuses: {_brief(done)}"
        elif true is not None and (difference := _difference(parsed(done.out), true, aliases)):
            yield f"answers {difference}"

    def _writing(self, words: Command, done: Done, grown: list[JournalRow]) -> Iterator[str]:
        if done.code != TRUE and not self._faults and not self._is_justified(done):
            yield f"everything follows, but it refuses: {_brief(done)}"
        if words[0] == "erase":
            yield from self._erasing(done)
        games = [entry for entry in grown if entry.kind == "game-recorded/1"]
        claimed = _RECORDED.search(done.err)
        if claimed is not None and int(claimed[1].replace(",", "")) != len(games):
            yield f"says '{claimed[1]} games recorded', the journal has {len(games)} more"
        several = words[0] == "use-tokens"  # which records one thing after the other
        if claimed is None and done.code != TRUE and grown and not several:
            yield f"refused ({_brief(done)}), but the journal has {len(grown)} more entries"
        yield from self._identities(games)

    def _erasing(self, done: Done) -> Iterator[str]:
        said = _FORGOTTEN.search(done.err)
        if said is None:
            return
        row = self._judge.people(self._db).get(int(said[1]), (None, None, None))
        if row[:3] != (None, None, None):
            yield f"says that player {said[1]} is forgotten; the row holds {row[:2]}"
        keys = {entry.key for entry in self._journal or []}
        if f"player:{said[1]}" in keys and f"erased:{said[1]}" not in keys:
            yield f"says that player {said[1]} is forgotten; the journal does not"

    def _is_erasure(self, entry: JournalRow) -> bool:
        """Return whether an entry erases somebody of whom the people file knows nothing more."""
        if entry.kind != "person-erased/1":
            return False
        return not any(self._judge.people(self._db).get(entry.facts.get("player", 0), ())[:3])

    def _identities(self, games: list[JournalRow]) -> Iterator[str]:
        """Yield games sealed under a number that is not their player's."""
        persons = self._judge.people(self._db) if games else {}
        registered = {str(entry.key): entry for entry in self._journal or [] if entry.kind == "player-registered/1"}
        for entry in games:
            sides = zip(("white", "black"), self._judge.history.people_in[str(entry.key)[len("game:") :]], strict=True)
            for side, identity in sides:
                number = entry.facts.get(side)
                registration = registered.get(f"player:{number}")
                facts = registration.facts if registration else {}
                body = registration.body if registration and isinstance(registration.body, bytes) else b""
                whose = self._judge.history.sealed.get(facts.get("commitment", ""))
                row = persons.get(number or 0, (None, None, None))
                if whose is None and commitment(row[0], row[1], row[2]).encode() in body:  # which may be damaged
                    whose = str(row[0])
                if whose != identity:
                    yield f"sealed a game of {identity} under player {number}, who is {whose or 'nobody known'}"

    def _advice(self, words: Command, done: Done) -> Iterator[str]:
        """Yield advice that is no command, or mends nothing where it is said to mend files."""
        unknown = sorted(set(_COMMAND.findall(done.said)) - COMMANDS.keys())
        yield from (f"advises {word!r}, which is no command" for word in unknown)
        mended = self._judge.scratch / "mended"
        yield from disappointments(words, done, self._db, str(self._path), self._judge.worker, mended)

    def _is_justified(self, done: Done) -> bool:
        """Return whether the attack makes a refusal right, though everything follows."""
        return bool(self._attack.refusal) and re.search(self._attack.refusal, done.said) is not None


def manners(done: Done) -> Iterator[str]:
    """Yield what no command may do, whatever happened."""
    if done.code in {HUNG, CRASHED}:
        yield done.err
        return
    if "Traceback" in done.said:
        yield f"ends in a traceback at {_place(done.said)}"
        return
    if done.code not in {TRUE, REFUSED, FALSE}:
        yield f"ends with exit code {done.code}: {_brief(done)}"
    if done.yardsticks > SLOW_YARDSTICKS:
        yield f"takes {done.yardsticks:.0f} times what a million steps of a loop take"
    grave = dropwhile(lambda line: not line.startswith(_GRAVE), done.said.splitlines())
    strange = [line for line in grave if not (line.startswith(_AFTERWARDS) or _STANDS.search(line))]
    if strange:
        yield f"says a thing on several lines, of which one is {strange[0]!r}"
    if _CONTROLS.search(done.out + done.err):
        yield "writes control characters"


def _place(trace: str) -> str:
    """Return the last file and line of the program in a traceback, and the error."""
    lines = trace.strip().splitlines()
    places = [line.strip() for line in lines if re.search(r'File ".*/(ledger|tools)/[^"]*"', line)]
    where = re.sub(r'File ".*?/((?:ledger|tools)/[^"]*)", line (\d+).*', r"\1:\2", places[-1]) if places else "?"
    return f"{where}: {lines[-1][:200]}"


def _brief(done: Done) -> str:
    lines = [line for line in done.said.splitlines() if line.strip()] or ["nothing"]
    if "Traceback" in done.said:
        return lines[-1][:300]
    return next((line for line in lines if line.startswith(("error:", "FALSE", "FOREIGN"))), lines[0])[:300]


def _difference(answer: Any, true: Any, aliases: Aliases, place: str = "") -> str:
    """Return the first place where an answer is not the true one; a player may bear any of their names."""
    if isinstance(answer, dict) and isinstance(true, dict):
        pairs: Iterable[tuple[str, Any, Any]] = (
            (f"{place}.{name}", answer.get(name), true.get(name)) for name in answer.keys() | true.keys()
        )
    elif isinstance(answer, list) and isinstance(true, list) and len(answer) == len(true):
        pairs = ((f"{place}[{i}]", a, t) for i, (a, t) in enumerate(zip(answer, true, strict=True)))
    else:
        is_name = answer is None or isinstance(answer, str)
        if answer == true or any(answer in names and true in names for names in aliases.values() if is_name):
            return ""
        unnamed = not aliases and place.rpartition(".")[2] in {"name", "identity", "opponent"}
        return "" if unnamed else f"{place}: {answer!r}, the truth is {true!r}"
    return next((found for where, a, t in pairs if (found := _difference(a, t, aliases, where))), "")


def disappointments(
    command: Sequence[str], done: Done, db: Path, path: str, worker: Worker, scratch: Path
) -> Iterator[str]:
    """Yield advice in what a command said that does not help.

    The ledger *db*, which messages call *path*, is copied to *scratch*. The worker runs what is advised, then the
    command again: a line that gave the advice may not come back.
    """
    lines = done.said.splitlines()
    for name in ("rebuild", "accept-lost-names", "erase"):
        advising = {line: steps for line in lines if (steps := _steps(name, line))}
        if not advising or command[0] == name:
            continue
        copy = copied(db, scratch)
        if any(_PROVE in line for line in advising) and worker.run("audit", copy, "--journal-only").code != 0:
            continue  # the advice is to prove the journal first, and that ends here
        ended = [_follow(steps, copy, worker) for steps in dict.fromkeys(advising.values())]
        failed = next((step for step in ended if step.code != 0), None)
        if failed is not None:
            yield f"advises {name} ({min(advising)}), which ends with {failed.code}: {failed.said.strip()}"
            continue
        again = worker.run(command[0], copy, *command[1:])
        same = {line.replace(str(copy), path) for line in again.said.splitlines()} & advising.keys()
        if same:
            yield f"advises {name}, after which it says the same: {min(same)}"


def _steps(name: str, line: str) -> tuple[str, ...]:
    """Return what a line advises to do by this command; begins with ``aside`` where a file is to be moved away."""
    if name == "erase":
        erasing = _ERASE.search(line)
        return ("erase", erasing[1], "--yes") if erasing else ()
    if not re.search(rf"\b{name}\b", line):
        return ()
    if name == "accept-lost-names":
        return ("aside", name, "--yes") if _WITHOUT_FILE in line else (name, "--yes")
    return (name,)


def _follow(steps: Sequence[str], copy: Path, worker: Worker) -> Done:
    if steps[0] == "aside":
        _move_names_aside(copy)
        steps = steps[1:]
    return worker.run(steps[0], copy, *steps[1:])


def _move_names_aside(copy: Path) -> None:
    place, people = server_of(copy), file_of(copy, "people")
    if place is not None:  # its operator takes the rows out of the schema
        servers.edited(place, *(f"DELETE FROM {servers.SCHEMAS['people']}.{table}" for table in _OF_PEOPLE))
        return
    for path in people.parent.glob(f"{people.name}*"):
        path.rename(path.with_name(f"aside-{path.name}"))


_PATH = re.compile(r"(?<![\w.])/[^\s:;,'\")]*/")
_VALUE = re.compile(r"'[^']*'|\"[^\"]*\"|\(\[[^)]*\)|\[[^\]]*\]|(?<!:)\b\d+(\.\d+)?\b")
_TRACE = re.compile(r"ends in a traceback at [^ ]*:\d+: [\w.]+")
LONGEST = 400


def by_cause(findings: Iterable[Finding]) -> Sequence[list[Finding]]:
    """Return the findings of each cause, which has no values of single cases, the most frequent cause first."""
    causes: dict[str, list[Finding]] = {}
    for finding in findings:
        traced = _TRACE.search(finding.what)
        cause = traced[0] if traced else _VALUE.sub("…", _PATH.sub("", finding.what))[:LONGEST]
        causes.setdefault(cause, []).append(finding)
    return sorted(causes.values(), key=len, reverse=True)


def report(findings: Iterable[Finding], repeating: Callable[[str], str]) -> Iterator[str]:
    """Yield a few lines for each cause: how often, one case, and the command that repeats it."""
    for first, *others in by_cause(findings):
        yield f"* {first.what[:LONGEST]}"
        yield f"  {1 + len(others)} times, such as under: {first.attack}"
        yield f"  after: {' ; '.join(_PATH.sub('', command) for command in first.commands)}"
        yield f"  again: {repeating(first.attack)}"
