"""Commands about policies, the rules that a ledger gives itself: setting one, and which hold."""

from __future__ import annotations

from collections.abc import Sequence

import click

from ledger.answers import policies
from ledger.answers.rows import as_rows
from ledger.book.policies import POLICIES
from ledger.errors import MalformedError
from ledger.facts.instants import instant_ms
from ledger.ledger import Ledger
from ledger.runtime.nearest import did_you_mean

from .. import output
from ..groups import Suggesting
from . import AT_LEAST, DB, VERIFY, open_up_to_date, settings_given
from .proposal_options import PROPOSE, REASON, naming_the_line, propose, wish
from .token_options import identifying, token_given


@click.group(cls=Suggesting)
def policy() -> None:
    """Policies, the rules that a ledger gives itself: four eyes, limits before a list is published, margins of marks.

    \b
    Example:
      rating-ledger policy list club.db -t
      rating-ledger policy set club.db four-eyes on=true --by eve
      rating-ledger policy set club.db upsets margin=250 --from 2024-01-01
    """


@policy.command("list")
@DB
@click.option("--at", metavar="INSTANT", help="What holds then; now by default.")
@AT_LEAST
@VERIFY
@output.format_options
def list_(db_path: str, at: str | None, fmt: str | None, verify: bool) -> None:
    """Every policy with its settings: what holds now or at an instant, since when, and which entry set it.

    Four eyes hold from their entry on, so for them --at makes no difference. 'log --kind policy-set' lists all that
    was ever set, and by whom.

    \b
    Example:
      rating-ledger policy list club.db -t
      rating-ledger policy list club.db --at 2023-06-30 --csv
    """
    with open_up_to_date(db_path, verify=verify) as ledger:
        try:
            rows = as_rows(policies.settings_in_force(ledger, at))
        except MalformedError as error:
            raise click.UsageError(f"--at: {error}") from None
        if fmt == "table":  # true and false are no points to be rounded
            rows = [{**row, **{name: str(row[name]).lower() for name in ("value", "default")}} for row in rows]
        output.write(rows, fmt)


@policy.command("set")
@DB
@click.argument("name", metavar="POLICY", type=click.Choice(sorted(POLICIES)))
@click.argument("settings", metavar="SETTING=VALUE...", nargs=-1, required=True)
@click.option("--from", "since", metavar="INSTANT", help="First instant at which it holds; the beginning by default.")
@identifying
@PROPOSE
@REASON
def set_(
    db_path: str, name: str, settings: Sequence[str], since: str | None, by: str | None, token_file: str | None
) -> None:
    """Set a policy from an instant on; a setting that is not given stays as it holds then.

    Four eyes hold from their entry on, never backwards: who proposes a correction cannot approve it, and adoptions and
    closings that reach back before today need a proposal. Once they are on, no one changes them alone.

    \b
    Example:
      rating-ledger policy set club.db four-eyes on=true --by eve
      rating-ledger policy set club.db publishing largest_jump=150
      rating-ledger policy set club.db upsets margin=250 --from 2024-01-01
      rating-ledger policy set club.db titles on=true grandmaster=2500
      rating-ledger policy set club.db four-eyes on=false --propose --reason 'decided by the board' --by eve
    """
    asked = wish(by)
    with Ledger.open(db_path) as ledger:
        try:
            values = {word: _whole(value) for word, value in settings_given(settings, "setting").items()}
            if asked is not None:
                propose(ledger, [ledger.policies.proposed(name, values, effective_from=since)], asked, token_file)
                return
            token = token_given(ledger, token_file)
            with naming_the_line(ledger):
                receipt = ledger.policies.set(name, values, effective_from=since, actor=by, token=token)
        except MalformedError as error:
            raise click.UsageError("; ".join(error.problems)) from None
        ledger.catch_up()
        word = "was set so already" if receipt.duplicate else "set"
        when = "from this entry on" if POLICIES[name].is_by_position else f"from {since or 'the beginning'}"
        output.remark(f"{name}: {word}, {when}; head {ledger.head()}")
        usual = POLICIES[name].settings
        for setting in values:
            if setting not in usual and (question := did_you_mean(setting, usual)):
                output.remark(f"note: {setting} is a name of your own: {question}")
        later = [row for row in ledger.policies.list() if row.policy == name and row.since]
        after = [row for row in later if since is None or row.since_ms > instant_ms(since)]
        if after:
            first = min(after, key=lambda row: row.since_ms)
            output.remark(f"note: it holds until {first.since}, from when what was set earlier holds")


def _whole(value: int | bool | str) -> int | bool | str:
    return int(value) if isinstance(value, str) and value.isdecimal() else value
