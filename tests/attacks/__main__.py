"""``python -m tests.attacks [FOLDER]``: attack a copy of a ledger, and report what held and what did not."""

import shlex
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import click

from tests.attacks.families import BY_NAME, FITS_SERVERS, IS_NUMBERED, Family, attacked_ledger
from tests.attacks.judge import AttackJudge, by_cause, report
from tests.kit.places import folder_in_memory
from tools import output
from tools.postgres_servers import installed, running


@click.command()
@click.argument(
    "source", metavar="[FOLDER]", required=False, type=click.Path(exists=True, file_okay=False, path_type=Path)
)
@click.option("--family", "wanted", multiple=True, type=click.Choice([*BY_NAME]), help="Only this family; repeatable.")
@click.option("--count", default=20, show_default=True, type=click.IntRange(1), help="Attacks of each family.")
@click.option("--server", "on_server", is_flag=True, help="Attack it on a private server of PostgreSQL, not in files.")
@click.option("--only", metavar="NAME", help="Repeat one attack of the family by its name.")
def attack(source: Path | None, wanted: Sequence[str], count: int, only: str | None, *, on_server: bool) -> None:
    """Attack a copy of the ledger in FOLDER, or a small one made for that, and judge what the commands do.

    The ledger in FOLDER itself is only read. Exit code 1: something did not hold; each such thing comes with a command
    that repeats it. With --server the copy is moved onto a server that is started for that, and a superuser changes it
    there; families that are about bytes of files are left out.

    \b
    Example:
      python -m tests.attacks
      python -m tests.attacks --server --family removals
      python -m tests.attacks /srv/club --count 1000 --family bit-flips --family values
    """
    fitting = [family for family in BY_NAME.values() if family.name in FITS_SERVERS or not on_server]
    chosen = [family for family in fitting if not wanted or family.name in wanted]
    if not chosen:
        raise click.UsageError(f"on a server there are the families {', '.join(family.name for family in fitting)}")
    versions = installed() if on_server else []
    if on_server and not versions:
        raise click.UsageError("PostgreSQL 15 or later is not installed: as root, apt-get install postgresql")
    if only is not None and len(chosen) != 1:
        raise click.UsageError("--only takes the --family to which the attack belongs")
    again = ["python", "-m", "tests.attacks", *([str(source)] if source else []), *(["--server"] * on_server)]
    try:
        with ExitStack() as stack:
            scratch = stack.enter_context(folder_in_memory())
            server = stack.enter_context(running(versions[0], scratch)) if on_server else None
            judge = stack.enter_context(attacked_ledger(scratch, source, server))
            held = [_try(family, judge, [*again, "--family", family.name], count, only) for family in chosen]
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    sys.exit(0 if all(held) else 1)


def _try(family: Family, judge: AttackJudge, command: Sequence[str], count: int, only: str | None) -> bool:
    judge.impossible = 0
    tried = family.tries(judge, count, only=only)
    of = f" of {tried.of:,}" if tried.of is not None else ""
    impossible = f", {judge.impossible} of them not possible here" if judge.impossible else ""
    verdict = f"{len(by_cause(tried.findings))} things did NOT hold" if tried.findings else "held"
    output.answer(f"{family.name}: {family.about}: {tried.made:,}{of} tried{impossible}: {verdict}")
    can_repeat = family.scene is None or family.name in IS_NUMBERED
    for line in report(tried.findings, lambda name: shlex.join([*command, *["--only", name] * can_repeat])):
        output.answer(f"  {line}")
    return not tried.findings


if __name__ == "__main__":
    attack()
