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
        "init": "init.init",
        "import": "import_command.import_",
        "record": "record.record",
    },
    "Register players": {"player": "player.player", "players": "player.players"},
    "Ask": {
        "ratings": "ratings.ratings",
        "show": "show.show",
        "games": "show.games",
        "search": "search.search",
        "graph": "graph.graph",
        "board": "board.board",
        "explain": "explain.explain",
        "calculation": "calculation.calculation",
        "changes": "changes.changes",
        "predict": "show.predict",
        "best": "achievements.best",
        "streaks": "achievements.streaks",
        "opponents": "opponents.opponents",
        "time-losses": "achievements.time_losses_",
        "upsets": "achievements.upsets_",
        "calc": "calc.calc",
        "tournaments": "crosstable.tournaments",
        "crosstable": "crosstable.crosstable",
        "pools": "show.pools",
        "log": "show.log",
    },
    "Choose a scheme; rating runs and tournaments": {
        "scheme": "scheme.scheme",
        "compare": "compare.compare",
        "tune": "tune.tune",
        "runs": "scheme.runs",
        "close-run": "scheme.close_run",
        "open-tournament": "tournament.open_tournament",
        "close-tournament": "tournament.close_tournament",
        "bye": "tournament.bye",
        "describe-tournament": "tournament.describe_tournament",
    },
    "Set rules of the house": {
        "policy": "policy.policy",
        "token": "token.token",
    },
    "Correct": {
        "correct": "correct.correct",
        "imports": "imports.imports_",
        "take-back": "imports.take_back_",
    },
    "Publish lists": {
        "publish": "publish.publish",
        "lists": "publish.lists",
        "diff": "publish.diff",
        "reports": "reports.reports",
    },
    "Give away and ask by SQL": {
        "export": "export.export",
        "query": "query.query",
        "tables": "query.tables",
        "projectors": "query.projectors",
        "datasette": "datasette.datasette",
        "serve": "serve.serve",
    },
    "Prove and keep": {
        "audit": "audit.audit",
        "head": "show.head",
        "journal": "journal.journal",
        "follow": "journal.follow",
        "checkpoint-key": "checkpoint.checkpoint_key",
        "checkpoint": "checkpoint.checkpoint",
        "receipt": "checkpoint.receipt",
        "verify-receipt": "checkpoint.verify_receipt_",
        "verify-checkpoint": "checkpoint.verify_checkpoint_",
        "verify-bundle": "checker.verify_bundle",
        "checker": "checker.checker",
        "health": "health.health",
        "backup": "backup.backup",
        "restore": "backup.restore",
        "move": "backup.move",
    },
    "Mend": {
        "erase": "init.erase",
        "rebuild": "init.rebuild",
        "upgrade": "init.upgrade",
        "accept-lost-names": "accept.accept_lost_names_",
        "accept-clock": "accept.accept_clock",
    },
    "Set up": {"completion": "completion.completion"},
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
