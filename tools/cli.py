"""The command ``rating-ledger``: finds the sub-command; ``running`` runs it.

Exit codes: 0 done, 1 refused or failed, 2 wrong usage, 3 an audit found a falsehood. The sub-commands are in
``commands``; each file of them is loaded when one of its commands is called, so that a short answer stays quick.
"""

from __future__ import annotations

import _signal

# As in ``start``, before the imports, which take most of a short command: ``start`` itself is one of them.
if __name__ == "__main__" and _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)

import importlib
import sys
from collections.abc import Sequence

import click

from ledger.runtime import sqlite

from . import output, running, start
from .groups import Suggesting

# What people come for -> command -> file in ``commands`` and name there, in the order in which one meets them.
TASKS = {
    "Begin and record": {
        "init": "writing.init",
        "import": "import_command.import_",
        "record": "recording.record",
    },
    "Register players": {"player": "players.player", "players": "players.players"},
    "Ask": {
        "ratings": "ranking.ratings",
        "show": "reading.show",
        "games": "reading.games",
        "search": "searching.search",
        "graph": "graphing.graph",
        "board": "boards.board",
        "explain": "explaining.explain",
        "changes": "changing.changes",
        "predict": "reading.predict",
        "best": "achievements.best",
        "streaks": "achievements.streaks",
        "opponents": "opponents.opponents",
        "time-losses": "achievements.time_losses_",
        "upsets": "achievements.upsets_",
        "calc": "calculating.calc",
        "tournaments": "crosstables.tournaments",
        "crosstable": "crosstables.crosstable",
        "pools": "reading.pools",
        "log": "reading.log",
    },
    "Choose a scheme; rating runs and tournaments": {
        "scheme": "schemes.scheme",
        "compare": "comparing.compare",
        "runs": "schemes.runs",
        "close-run": "schemes.close_run",
        "open-tournament": "tournaments.open_tournament",
        "close-tournament": "tournaments.close_tournament",
        "bye": "tournaments.bye",
    },
    "Set rules of the house": {
        "policy": "policies.policy",
        "token": "tokens.token",
    },
    "Correct": {"correct": "correcting.correct"},
    "Publish lists": {
        "publish": "publishing.publish",
        "lists": "publishing.lists",
        "diff": "publishing.diff",
    },
    "Give away and ask by SQL": {
        "export": "exporting.export",
        "query": "querying.query",
        "tables": "querying.tables",
        "projectors": "querying.projectors",
        "datasette": "serving.datasette",
        "serve": "serve.serve",
    },
    "Prove and keep": {
        "audit": "proving.audit",
        "head": "reading.head",
        "journal": "server_journals.journal",
        "follow": "server_journals.follow",
        "checkpoint-key": "checkpointing.checkpoint_key",
        "checkpoint": "checkpointing.checkpoint",
        "receipt": "checkpointing.receipt",
        "verify-receipt": "checkpointing.verify_receipt_",
        "verify-checkpoint": "checkpointing.verify_checkpoint_",
        "backup": "copying.backup",
        "restore": "copying.restore",
        "move": "copying.move",
    },
    "Mend": {
        "erase": "writing.erase",
        "rebuild": "writing.rebuild",
        "accept-lost-names": "mending.accept_lost_names_",
        "accept-clock": "mending.accept_clock",
    },
    "Set up": {"completion": "completing.completion"},
}
COMMANDS = {name: place for commands in TASKS.values() for name, place in commands.items()}


class _Group(Suggesting):
    """Loads a command when it is called; its help lists the commands by task."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        module, name = COMMANDS[cmd_name].split(".")
        command: click.Command = getattr(importlib.import_module(f"{__package__}.commands.{module}"), name)
        start.tell_interruptions()  # from here on something may be open
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands under the tasks that they are for."""
        for task, commands in TASKS.items():
            self.write_commands(task, commands, ctx, formatter)


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="rating-ledger")
def cli() -> None:
    """An event-sourced chess rating ledger.

    Facts go into an append-only journal; every rating is derived from it and can be derived again. Each command has
    a --help of its own, with examples.

    \b
    Example:
      rating-ledger init club.db --pool standard --scheme chessworld
      rating-ledger import club.db games.pgn
      rating-ledger ratings club.db -t
      rating-ledger audit club.db
    """


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code."""
    running.hold_standard_streams()
    if sqlite.has_wal_reset_bug():
        output.remark(
            f"warning: SQLite {sqlite.sqlite3.sqlite_version} may corrupt a file under load (WAL reset, fixed in "
            "3.51.3, 3.50.7 and 3.44.6); "
            + ("install pysqlite3 0.6.1 or later" if sys.platform == "linux" else "take a Python that has one of these")
        )
    return running.run(cli, argv, "rating-ledger")


def run() -> None:
    """Run the process's own command."""
    running.as_process(main)


if __name__ == "__main__":
    run()
