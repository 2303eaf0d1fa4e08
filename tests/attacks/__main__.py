"""``python -m tests.attacks [FOLDER]``: attack a copy of a ledger, and report what held and what did not."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import click

from tests.attacks.families import BY_NAME, Family, attacked_ledger
from tests.attacks.judge import AttackJudge, by_cause, report
from tests.kit.places import folder_in_memory
from tools import output
from tools.postgres_servers import installed, running

COUNT = 20  # attacks of each family in a round


@click.command()
@click.argument(
    "source", metavar="[FOLDER]", required=False, type=click.Path(exists=True, file_okay=False, path_type=Path)
)
@click.option("--family", "wanted", multiple=True, type=click.Choice([*BY_NAME]), help="Only this family; repeatable.")
@click.option("--rounds", default=1, show_default=True, type=click.IntRange(1), help="How many rounds.")
@click.option("--count", default=COUNT, show_default=True, type=click.IntRange(1), help="Of a family, in a round.")
@click.option("--server", "on_server", is_flag=True, help="Attack it on a private server of PostgreSQL, not in files.")
@click.option("--only", metavar="NAME", help="Repeat one attack of the family by its name.")
def attack(
    source: Path | None, wanted: Sequence[str], rounds: int, count: int, only: str | None, *, on_server: bool
) -> None:
    """Attack a copy of the ledger in FOLDER, or a small one made for that, and judge what the commands do.

    The ledger in FOLDER itself is only read. Each round goes on where the last one ended, until every attack of a
    family has been made. Exit code 1: something did not hold; each such thing comes with a command that repeats it.

    With --server the copy is moved onto a server that is started for that, and a superuser changes it there; families
    that are about bytes of files are left out.

    \b
    Example:
      python -m tests.attacks
      python -m tests.attacks --server --family removals
      python -m tests.attacks /srv/club --rounds 50 --family bit-flips --family values
    """
    fitting = [family for family in BY_NAME.values() if family.fits_servers or not on_server]
    chosen = [family for family in fitting if not wanted or family.name in wanted]
    if not chosen:
        raise click.UsageError(f"on a server there are the families {', '.join(family.name for family in fitting)}")
    versions = installed() if on_server else []
    if on_server and not versions:
        raise click.UsageError("PostgreSQL 15 or later is not installed: as root, apt-get install postgresql")
    if only is not None and len(chosen) != 1:
        raise click.UsageError("--only takes the --family to which the attack belongs")
    held = True
    again = ["python", "-m", "tests.attacks", *([str(source)] if source else []), *(["--server"] * on_server)]
    try:
        with ExitStack() as stack:
            scratch = stack.enter_context(folder_in_memory())
            server = stack.enter_context(running(versions[0], scratch)) if on_server else None
            judge = stack.enter_context(attacked_ledger(scratch, source, server))
            for family in chosen:
                command = [*again, "--family", family.name]
                held = _tried(family, judge, command, range(0, rounds * count, count), only) and held
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    sys.exit(0 if held else 1)


def _tried(family: Family, judge: AttackJudge, command: Sequence[str], beginnings: range, only: str | None) -> bool:
    """Try a family and report; return whether all of it held."""
    made, findings = 0, []
    for beginning in beginnings:
        tried = family.tries(judge, beginnings.step, beginning, only=only)
        made += tried.made
        findings += tried.findings
        if only is not None or tried.made < beginnings.step:
            break
    of = f" of {tried.of:,}" if tried.of is not None else ""
    verdict = "held" if not findings else f"{len(by_cause(findings))} things did NOT hold"
    impossible = f", {judge.impossible} of them not possible here" if judge.impossible else ""
    judge.impossible = 0
    output.answer(f"{family.name}: {family.about}: {made:,}{of} tried{impossible}: {verdict}")
    can_repeat = family.scene is None or family.is_numbered
    for line in report(findings, lambda name: shlex.join([*command, *["--only", name] * can_repeat])):
        output.answer(f"  {line}")
    return not findings


if __name__ == "__main__":
    attack()
