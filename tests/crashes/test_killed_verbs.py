"""Every verb that writes, killed at any statement: what it acknowledged stands, and the audit says TRUE.

The kills of a path through the program are spread over its verbs and their statements. The verbs are a table:
``tests.crashes.killed_verbs``.
"""

import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest

from ledger.correcting.verbs import VERBS as CORRECTIONS
from ledger.facts.events import PersonErased
from ledger.ledger import Ledger
from tests.crashes.killed_verbs import ALIKE, BEFORE, FILES, GAMES, SEVERAL_TRANSACTIONS, VERBS
from tests.kit.clubs import NAME, copied, take_made_up_games
from tests.kit.crash_driver import ACKNOWLEDGED, words_of
from tests.kit.crashes import audited, check_journal
from tests.kit.games import source_games
from tests.kit.places import folder_in_memory
from tests.kit.processes import run_module
from tests.kit.source_files import game_line
from tests.tiers import few_quick, times
from tools import cli

KILLS_OF_A_PATH = times(quick=2, ci=10, nightly=1_000)
NEVER = 1 << 40  # a statement that no verb comes to


@pytest.fixture(scope="module", name="played_club")
def _played_club(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger of 80 games with its views, and a file of games more."""
    folder = take_made_up_games(tmp_path_factory.mktemp("club"), 80, 40)
    more = (game._replace(tournament="Cup") for game in source_games(20, seed=2))
    (folder / GAMES).write_bytes(b"".join(map(game_line, more)))
    for name, content in FILES.items():
        (folder / name).write_text(content, "utf-8")
    return folder


@pytest.fixture(name="in_memory")
def _in_memory() -> Iterator[Path]:
    """A folder where nobody waits for a disk: what is killed is a process, and the system goes on."""
    with folder_in_memory() as folder:
        yield folder


@pytest.fixture(name="killed_at")
def _killed_at(played_club: Path, in_memory: Path) -> Callable[[str, int], None]:
    """Run a verb, killed before that statement where it comes so far, in a folder of that name."""
    base = in_memory / "base"

    def killed_at(verb: str, statement: int) -> None:
        if not base.exists():
            copied(played_club, base)
            for step in BEFORE.get(verb, ()):
                assert cli.main(words_of(step, base)) == 0
        done = run_module(
            "tests.kit.crash_driver",
            in_memory / str(statement),
            "--verb",
            verb,
            "--copy-of",
            base,
            "--die-at",
            statement,
        )
        assert done.returncode in ({0} if statement == NEVER else {0, -signal.SIGKILL}), done.stderr
        assert "Traceback" not in done.stderr

    return killed_at


def test_every_verb_of_corrections_is_killed() -> None:
    assert {f"correct {verb}" for verb in CORRECTIONS} <= VERBS.keys()
    assert BEFORE.keys() | SEVERAL_TRANSACTIONS | frozenset().union(*ALIKE) <= VERBS.keys()


def kills_of(verb: str) -> int:
    alike = next((verbs for verbs in ALIKE if verb in verbs), {verb})
    return -(-KILLS_OF_A_PATH // len(alike))


def acknowledged(folder: Path) -> list[str]:
    return (folder / ACKNOWLEDGED).read_text("ascii").splitlines()


@pytest.mark.parametrize("verb", few_quick(VERBS, "import"))
def test_killed_at_any_statement_a_verb_leaves_what_it_acknowledged_and_true_views(
    verb: str, killed_at: Callable[[str, int], None], in_memory: Path
) -> None:
    killed_at(verb, NEVER)
    *sizes, last = acknowledged(in_memory / str(NEVER))
    assert len(sizes) == len(VERBS[verb])
    undisturbed = [(entry["kind"], entry["key"]) for entry in check_journal(in_memory / str(NEVER))]
    between = {len(check_journal(in_memory / "base")), *map(int, sizes)}
    statements = range(1, int(last.split()[0]) + 1)
    chosen = Random(verb).sample(statements, min(kills_of(verb), len(statements)))
    for statement in chosen:
        killed_at(verb, statement)
        folder = in_memory / str(statement)
        told = acknowledged(folder)
        entries = check_journal(folder)
        with Ledger.open(folder / NAME) as ledger:
            ledger.catch_up()
        ended = check_journal(folder)
        assert ended[: len(entries)] == entries
        begun = {entry["kind"] for entry in ended[len(entries) :]}
        assert begun <= {PersonErased.KIND}, f"killed at statement {statement}"  # the next writer ends an erasure
        assert [(entry["kind"], entry["key"]) for entry in entries] == undisturbed[: len(entries)]
        assert len(entries) >= int(told[-1] if told else 0), f"killed at statement {statement}"
        assert len(entries) in between or verb in SEVERAL_TRANSACTIONS, f"killed at statement {statement}"
        assert audited(folder) == (), f"killed at statement {statement}"
        shutil.rmtree(folder)
    assert audited(in_memory / str(NEVER)) == ()
