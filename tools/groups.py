"""A group of commands that asks, of a word that is none, whether a similar command is meant."""

from __future__ import annotations

import click

from ledger.runtime.nearest import did_you_mean


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
