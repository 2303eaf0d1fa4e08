"""A group of commands: it suggests commands for an unknown word, refuses empty options, and lists whole sentences."""

from __future__ import annotations

from collections.abc import Iterable

import click

from ledger.runtime.nearest import did_you_mean

MAY_BE_EMPTY = click.types.StringParamType()  # the type of an option whose empty value means something
_SENTENCE = 200  # characters: the first sentence of each command's help, whole


class Suggesting(click.Group):
    """A click group whose refusal of an unknown command names those that are like it."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the first word names; as click does, but for what is said of a word that is none."""
        word = args[0]
        if not ctx.resilient_parsing and not word.startswith("-") and self.get_command(ctx, word) is None:
            likely = did_you_mean(word, self.list_commands(ctx))
            raise click.UsageError(f"no command {word!r}; {likely}'{ctx.command_path} --help' lists them", ctx)
        name, command, rest = super().resolve_command(ctx, args)
        if command is not None and not ctx.resilient_parsing:
            _refuse_empty_options(command, ctx, name, rest)
        return name, command, rest

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands, each with the first sentence of its help."""
        self.write_commands("Commands", self.list_commands(ctx), ctx, formatter)

    def write_commands(
        self, title: str, names: Iterable[str], ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        """Some of them under a title; click would cut a sentence that does not fit one line."""
        commands = {name: self.get_command(ctx, name) for name in names}
        rows = [(name, command.get_short_help_str(_SENTENCE)) for name, command in commands.items() if command]
        with formatter.section(title):
            formatter.write_dl(rows)


def _refuse_empty_options(command: click.Command, parent: click.Context, name: str | None, words: list[str]) -> None:
    """Refuse an option with an empty value: a script whose variable is empty would get what no option gives."""
    context = click.Context(command, parent, name, resilient_parsing=True)  # other faults are for the command to name
    given, _, _ = command.make_parser(context).parse_args(list(words))
    for option in command.get_params(context):
        value = given.get(option.name)
        values = value if isinstance(value, list) else [value]
        is_empty = any(isinstance(each, str) and not each.strip() for each in values)
        if is_empty and isinstance(option, click.Option) and option.type is not MAY_BE_EMPTY:
            flag = option.opts[-1]
            raise click.UsageError(f"{flag} is empty: give a value, or leave {flag} out", context)
