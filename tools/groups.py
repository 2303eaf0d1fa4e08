"""A group of commands: it asks, of a word that is none, what is meant, and its help has a whole sentence of each."""

from __future__ import annotations

from collections.abc import Iterable

import click

from ledger.runtime.nearest import did_you_mean

_SENTENCE = 200  # characters: the first sentence of each command's help, whole


class Suggesting(click.Group):
    """A click group whose refusal of an unknown command names those that are like it."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the first word names; as click does, but for what is said of a word that is none."""
        word = args[0]
        if not ctx.resilient_parsing and not word.startswith("-") and self.get_command(ctx, word) is None:
            likely = did_you_mean(word, self.list_commands(ctx))
            raise click.UsageError(f"no command {word!r}; {likely}'{ctx.command_path} --help' lists them", ctx)
        return super().resolve_command(ctx, args)

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
