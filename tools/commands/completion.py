"""The command that prints what makes a shell complete commands, options and names of schemes."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from .. import output

VARIABLE = "_RATING_LEDGER_COMPLETE"  # by which the shell asks the command, as click names it
_ADVICE = {
    "bash": 'put this line into ~/.bashrc: eval "$(rating-ledger completion bash)"',
    "zsh": 'put this line into ~/.zshrc: eval "$(rating-ledger completion zsh)"',
    "fish": "run: rating-ledger completion fish > ~/.config/fish/completions/rating-ledger.fish",
}


@click.command()
@click.argument("shell", type=click.Choice(list(_ADVICE)))
def completion(shell: str) -> None:
    """Print the script that lets a shell complete commands and options.

    \b
    Example:
      eval "$(rating-ledger completion bash)"
      rating-ledger completion fish > ~/.config/fish/completions/rating-ledger.fish
    """
    root = click.get_current_context().find_root()
    kind = get_completion_class(shell)
    assert kind is not None  # the three that click knows
    output.answer_lines(kind(root.command, {}, "rating-ledger", VARIABLE).source().rstrip("\n"))
    if output.is_terminal():
        output.remark(_ADVICE[shell])
