"""The command ``correct``: propose a correction by a verb or a file, list proposals, decide them.

What a verb means, and whether it may be, is the library's business: the verbs and their words come from a table there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from ledger.answers import corrections
from ledger.answers.rows import as_row, as_rows
from ledger.correcting.verbs import VERBS, WORD_HELP, VerbWords, choices
from ledger.errors import BatchError
from ledger.facts.events import Decision
from ledger.imports.files import open_source
from ledger.ledger import Ledger

from .. import limits, output
from ..groups import MAY_BE_EMPTY, Suggesting
from ..wording import counted
from . import AT_LEAST, DB, REFUSED, bring_up_to_date, confirmed, open_up_to_date
from .preview import check_seen, preview
from .proposal_options import tell_proposed
from .token_options import WHY as WHY_PROPOSED
from .token_options import identifying, token_given

Command = TypeVar("Command", bound=Callable[..., Any])
BATCH_FAULTS_SHOWN = 20
ROWS_IN_A_TABLE = 20
REASON = click.option("--reason", default="", metavar="TEXT", help=WHY_PROPOSED)
SEEN = click.option(
    "--seen", type=click.IntRange(1), metavar="POSITION", help="The entries for which the impact was looked at."
)
DESPITE_GAMES = click.option(
    "--despite-games", is_flag=True, help="With --seen: though games came since, but nothing else."
)
WHY = click.option("--reason", default=None, metavar="TEXT", help="Why, where that is to be kept.")
NUMBER = click.argument("number", type=click.IntRange(1))


class _Correcting(Suggesting):
    """Each verb is a command, made when it is asked for: a call needs one of them."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse as usual, but show what a verb takes without a ledger, too: ``correct result --help``."""
        asks_of_a_verb = args and args[0] in self.list_commands(ctx) and not set(ctx.help_option_names).isdisjoint(args)
        return super().parse_args(ctx, ["DB", *args] if asks_of_a_verb else args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*super().list_commands(ctx), *VERBS})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in VERBS and cmd_name not in self.commands:
            self.add_command(_verb(cmd_name, VERBS[cmd_name]))
        return super().get_command(ctx, cmd_name)


@click.group(cls=_Correcting)
@DB
@click.pass_context
def correct(context: click.Context, db_path: str) -> None:
    """Correct what the journal of DB says: propose, look at the impact, approve. Nothing is edited or lost.

    A proposal changes nothing until it is approved. It names the values that it replaces: where they are others by
    then, it is refused as stale. GAME is a key as 'games' shows it, the id that its server gave it, its address,
    or '#' and the number of its entry.

    \b
    Example:
      rating-ledger correct club.db result lichess:Mxzwh32Z --to 1/2-1/2 --reason scoresheet --by eve
      rating-ledger correct club.db list --open -t
      rating-ledger correct club.db approve 1 --by adam
      rating-ledger correct club.db undo 1 --reason 'wrong scoresheet' --by eve
    """
    context.obj = db_path


def _verb(name: str, taken: VerbWords) -> click.Command:
    """Return the command of one verb: its words as arguments and options, then who and why."""

    def propose(db_path: str, /, reason: str, by: str | None, token_file: str | None, **words: str | None) -> None:
        options = {name: word for name, word in words.items() if word is not None}
        with Ledger.open(db_path) as ledger:
            change = ledger.corrections.verbs.change(name, {word.removesuffix("_"): options[word] for word in options})
            tell_proposed(ledger, ledger.propose([change], reason=reason, by=by, token=token_given(ledger, token_file)))

    made: Callable[..., Any] = REASON(identifying(click.pass_obj(propose)))
    for word in reversed((*taken.options, *taken.allowed)):
        needed = word in taken.options
        option = f"--{word.replace('_', '-')}"
        about = WORD_HELP[word]
        if valid := choices(name, word):
            about = f"{about.rstrip('.')}: {', '.join(valid)}."
        kind = MAY_BE_EMPTY if word == "to" else None
        made = click.option(option, f"{word}_", type=kind, required=needed, metavar="WORD", help=about)(made)
    for word in reversed(taken.needed):
        made = click.argument(word)(made)
    example = f"\b\nExample:\n  rating-ledger correct club.db {taken.example} --reason '...' --by eve"
    return click.command(name, help=f"{taken.help}\n\n{example}", short_help=_short(taken.help))(made)


def _short(words: str) -> str:
    """Return the first sentence, up to a list of what it speaks of."""
    return words.split(". ", maxsplit=1)[0].split(":", maxsplit=1)[0].rstrip(".") + "."


@correct.command()
@click.argument("file", metavar="FILE")
@click.option("--each", is_flag=True, help="A proposal, and so a decision, for each row; by default one for all.")
@REASON
@identifying
@click.pass_obj
def batch(db_path: str, file: str, *, each: bool, reason: str, by: str | None, token_file: str | None) -> None:
    """Propose every row of a CSV FILE; '-' reads standard input. Any fault, and nothing is proposed.

    Commas, semicolons or tabs separate the cells. The column 'verb' holds a verb of 'correct', the others the
    words that it takes, named like its options: game, player, to, from, until, which, into, pool, tournament, fact,
    field, proposal, white, black, ended, ...

    \b
    Example:
      rating-ledger correct club.db batch corrections.csv --reason 'round 3 typed twice' --by eve
      rating-ledger correct club.db batch - --each --reason 'letter of the arbiter' < corrections.csv
    """
    with open_source(file) as source, Ledger.open(db_path) as ledger:
        content = b"".join(source.chunks())
        try:
            proposals = ledger.corrections.propose_batch(
                content, reason=reason, each=each, by=by, token=token_given(ledger, token_file)
            )
        except BatchError as error:
            _tell_faults(source.reading.name, error)
            raise SystemExit(REFUSED) from None
        for proposal in proposals:
            tell_proposed(ledger, proposal)


def _tell_faults(name: str, error: BatchError) -> None:
    output.remark_lines(name, error.faults, BATCH_FAULTS_SHOWN, "fault", begin="error: ")
    for problem in error.reason_faults:
        output.error(f"no-reason: {problem}")
    output.error(f"{name}: {counted(len(error.faults), 'fault')}; nothing was proposed")


@correct.command("list")
@click.option("--open", "open_only", is_flag=True, help="Only those that are not decided yet.")
@limits.option(ROWS_IN_A_TABLE, "proposals, the newest ones")
@AT_LEAST
@output.format_options
@click.pass_obj
def list_(db_path: str, *, open_only: bool, limit: int | None, fmt: str | None) -> None:
    """Proposals: what they change, who made and decided them, and why; "alike" names open ones of the same fact.

    A name with "proven": true was named by a token; any other is what was typed, which a table marks.

    \b
    Example:
      rating-ledger correct club.db list --open -t
      rating-ledger correct club.db list --csv
    """
    with open_up_to_date(db_path) as ledger:
        with ledger.read_snapshot():
            rows = as_rows(corrections.proposal_rows(ledger, ledger.corrections.proposals(open_only=open_only)))
        if fmt == "table":
            columns = ("proposal", "state", "what", "reason", "proposed_by", "decided_by")
            others = [" ".join(map(str, row["alike"])) for row in rows]
            # Only if two open proposals speak of the same fact: a column of blanks says nothing.
            rows = [
                {**{name: row[name] for name in columns}, **_signed(row), **({"alike": same} if any(others) else {})}
                for row, same in zip(rows, others, strict=True)
            ]
        elif fmt is not None:
            rows = [{**row, "alike": " ".join(map(str, row["alike"]))} for row in rows]
        limits.write(rows, fmt, limits.shown(limit, fmt, ROWS_IN_A_TABLE), newest_last=True)


def _signed(row: output.Row) -> output.Row:
    """Return who proposed and who decided, marked if no token named them."""
    return {
        name: row[name] if row[name] is None or row[proven] else f"{row[name]} (unproven)"
        for name, proven in (("proposed_by", "proven"), ("decided_by", "decided_proven"))
    }


@correct.command()
@NUMBER
@AT_LEAST
@output.format_options
@click.pass_obj
def show(db_path: str, number: int, fmt: str | None) -> None:
    """One proposal, with all its changes.

    \b
    Example:
      rating-ledger correct club.db show 12 -t
    """
    with open_up_to_date(db_path) as ledger:
        row = as_row(corrections.proposal(ledger, number))
        if fmt is not None:
            what = row.pop("what")
            row.pop("recorded")
            row = {**row, "what": "; ".join(what), "alike": " ".join(map(str, row["alike"]))}
        output.write_one(row, fmt)


@correct.command("erase-reason")
@NUMBER
@click.option("--yes", is_flag=True, help="Do not ask; needed where nobody can be asked.")
@identifying
@click.pass_obj
def erase_reason(db_path: str, number: int, by: str | None, token_file: str | None, *, yes: bool) -> None:
    """Forget why a proposal was made and why it was decided so, for good; what was proposed and decided stays.

    Reasons may name people. They are in the people file, of which copies keep them until they expire. Where tokens
    are set up, erasing takes that of an approver.

    \b
    Example:
      rating-ledger correct club.db erase-reason 12
      rating-ledger correct club.db erase-reason 12 --yes
    """
    with Ledger.open(db_path) as ledger:
        confirmed(f"Erase the reasons of proposal {number} for good?", yes=yes)
        erased = ledger.corrections.erase_reasons(number, by=by, token=token_given(ledger, token_file))
        names = ledger.names.file
        where, copies = names.path, names.remaining_copies()
    outcome = counted(erased, "reason") + " erased" if erased else "no reason was known any more"
    output.remark(f"{where}: proposal {number}: {outcome}; {copies}")


def _decision(name: str, decision: Decision, words: str) -> click.Command:
    def decide(
        db_path: str,
        /,
        number: int,
        reason: str | None,
        by: str | None,
        token_file: str | None,
        seen: int | None = None,
        despite_games: bool = False,
    ) -> None:
        if despite_games and seen is None:
            raise click.UsageError("--despite-games goes with --seen, which says what was looked at")
        with Ledger.open(db_path) as ledger:
            token = token_given(ledger, token_file)
            if decision is Decision.APPROVED:
                seen = check_seen(ledger, number, seen)
            receipts = ledger.decide(
                number, decision, by=by, token=token, reason=reason, seen=seen, despite_games=despite_games
            )
            bring_up_to_date(ledger)
            output.answer(f"proposal {number} was {decision} at entry {receipts[0].position}")

    help_ = f"{words}\n\n\b\nExample:\n  rating-ledger correct club.db {name} 12 --by adam"
    made: Callable[..., Any] = NUMBER(WHY(identifying(click.pass_obj(decide))))
    if decision is Decision.APPROVED:
        made = SEEN(DESPITE_GAMES(made))
    return click.command(name, help=help_, short_help=words.split(". ", maxsplit=1)[0])(made)


_DECISIONS = {
    "approve": (
        Decision.APPROVED,
        "The facts stand so from now on; what follows is derived again. Where facts were recorded after the proposal, "
        "the impact is shown first, as 'preview' does, and --seen is asked for. Where games are recorded all the time, "
        "some come between look and approval: --despite-games takes them, and refuses whatever else came.",
    ),
    "reject": (Decision.REJECTED, "A proposal is turned down."),
    "withdraw": (Decision.WITHDRAWN, "A proposal is taken back by who made it."),
}
for _name, (_decided, _words) in _DECISIONS.items():
    correct.add_command(_decision(_name, _decided, _words))
correct.add_command(preview)
