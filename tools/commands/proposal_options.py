"""Recording by two: ``--propose`` of the commands that record facts, which makes a proposal of the very same facts.

What four eyes refuse is refused with the line that proposes it.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar

import click
from click.core import ParameterSource

from ledger.answers import corrections
from ledger.correcting.corrections import RecordedProposal
from ledger.errors import RejectedError
from ledger.facts.changes import Change
from ledger.facts.events import Event
from ledger.facts.words import Receipt
from ledger.journal import late_facts
from ledger.ledger import Ledger

from .. import output
from ..wording import counted
from . import token_options as identifying
from .token_options import recorded_by, token_given

Command = TypeVar("Command", bound=Callable[..., Any])
CHANGES_SHOWN = 20
_OF_A_LOOK = {"dry_run", "fmt", "raw"}  # options that choose how a dry run is shown: no proposal takes them
_KEPT = "tools.commands.proposal_options."  # under such names a command's context keeps what the options say


class ProposalWish(NamedTuple):
    """The reason and the proposer that the options give."""

    reason: str
    by: str | None


def _keep(context: click.Context, option: click.Parameter, value: object) -> None:
    context.meta[f"{_KEPT}{option.name}"] = value


def _proposed(what: str) -> Callable[[Command], Command]:
    return click.option("--propose", is_flag=True, expose_value=False, callback=_keep, help=what)


PROPOSE = _proposed("Propose it, for another person to approve by 'correct'; nothing is recorded before that.")
REASON = click.option("--reason", metavar="TEXT", expose_value=False, callback=_keep, help=identifying.WHY)
_BY = click.option("--by", metavar="WHO", expose_value=False, callback=_keep, help=identifying.BY)


def proposing(command: Command) -> Command:
    """Return the options that make a proposal of what a command would record."""
    return PROPOSE(REASON(_BY(command)))


def proposing_part(what: str) -> Callable[[Command], Command]:
    """Add the same options if *what* alone is proposed, in the words of the help, and the rest recorded."""
    return lambda command: _proposed(what)(REASON(_BY(command)))


def wish(by: str | None = None) -> ProposalWish | None:
    """Return what the options of ``proposing`` give; None if it is to be recorded at once.

    Args:
        by: who acts, where the command asks for that in any case.

    Raises:
        click.UsageError: --reason and --by are given without a proposal.
    """
    kept = click.get_current_context().meta
    reason, proposer = kept.get(f"{_KEPT}reason"), kept.get(f"{_KEPT}by")
    if kept[f"{_KEPT}propose"]:
        return ProposalWish(reason or "", by or proposer)
    stray = [f"--{name}" for name, word in (("reason", reason), ("by", proposer)) if word is not None]
    if stray:
        raise click.UsageError(f"{' and '.join(stray)}: for --propose alone; give that, too, or leave them out")
    return None


def record(ledger: Ledger, events: Sequence[Event], actor: str) -> list[Receipt] | None:
    """Record facts in one transaction, or propose them where that is asked for; None of a proposal, which is told.

    Raises:
        RejectedError: one of them may not follow what is there; of what four eyes refuse with the line to give instead.
        ProposalError: one of them may not be proposed.
    """
    asked = wish()
    if asked is not None:
        propose(ledger, events, asked)
        return None
    with naming_the_line(ledger):
        return ledger.append_many(events, **recorded_by(ledger, actor))


def propose(ledger: Ledger, events: Sequence[Event], asked: ProposalWish, token_file: str | None = None) -> None:
    """Propose to record facts, and say so.

    Raises:
        ProposalError: one of them may not be proposed.
    """
    changes = [ledger.corrections.drafts.add(event) for event in events]
    token = token_given(ledger, token_file)
    tell_proposed(ledger, ledger.propose(changes, reason=asked.reason, by=asked.by, token=token))


def tell_proposed(ledger: Ledger, proposed: RecordedProposal) -> None:
    """Say what is proposed, what about it may be meant otherwise, and how to see what it would move."""
    number = proposed.proposal
    if proposed.duplicate:
        output.remark(f"proposal {number} is open already, with the same changes and reason; nothing was recorded")
    shown = ledger.corrections.proposal(number)
    for words in corrections.describe_changes(ledger, shown.changes[:CHANGES_SHOWN]):
        output.remark(f"proposal {number}: {words}")
    if len(shown.changes) > CHANGES_SHOWN:
        output.remark(f"proposal {number}: and {counted(len(shown.changes) - CHANGES_SHOWN, 'more change')}")
    tell_doubts(ledger, shown.changes)
    if proposed.related:
        output.remark(f"note: open proposals speak of the same facts: {', '.join(map(str, proposed.related))}")
    preview = f"correct {shlex.quote(str(ledger.path))} preview {number}"
    output.answer(f"proposal {number} is open: '{preview}' shows what it would move")


def tell_doubts(ledger: Ledger, changes: Iterable[Change]) -> None:
    """Say what about a proposal's changes may be meant otherwise, such as a late game that is recorded by now."""
    for doubt in corrections.duplicate_warnings(ledger, changes)[:CHANGES_SHOWN]:
        output.remark(f"note: {doubt}")


@contextmanager
def naming_the_line(ledger: Ledger) -> Iterator[None]:
    """Add the command that proposes it to a refusal by four eyes within the block.

    Raises:
        RejectedError: likewise.
    """
    try:
        yield
    except RejectedError as error:
        if error.rule != late_facts.NEEDS_A_PROPOSAL:
            raise
        message = str(error).removeprefix(f"{error.rule}: ")
        raise RejectedError(error.rule, error.key, f"{message}: {line_to_propose(ledger)}") from None


def line_to_propose(ledger: Ledger) -> str:
    """Return the line that proposes what the line that was given would record."""
    words = [*_line_given(), "--propose", "--reason", "..."]
    if "--by" not in words and not ledger.tokens.are_set_up():  # else the token names who it is
        words += ["--by", "NAME"]
    return shlex.join(words)


def _line_given() -> list[str]:
    """Return the line that was given, each option once, by its long name."""
    context = click.get_current_context()
    words = context.command_path.split()
    for parameter in context.command.params:
        name = str(parameter.name)
        if context.get_parameter_source(name) is not ParameterSource.COMMANDLINE or name not in context.params:
            continue
        if name in _OF_A_LOOK:
            continue
        value = context.params[name]
        for each in value if isinstance(value, tuple) else [value]:
            if isinstance(parameter, click.Option):
                words.append(parameter.opts[-1])
            if each is not True:
                words.append(str(each))
    return words
