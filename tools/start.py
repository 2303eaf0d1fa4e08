"""Where the installed command starts: what Ctrl-C does is said before the imports, which take most of a short command.

Until a command is there nothing is open that could be left half done, so an interruption ends the process as the system
does: at once, and without a word. ``_signal`` is a part of the interpreter; ``signal`` would be loaded from a file.
"""

from __future__ import annotations

import _signal

__all__ = ["end_silently", "run", "tell_interruptions"]


def end_silently() -> None:
    """Let Ctrl-C end the process without a word; where it is ignored, as under nohup, it stays so."""
    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        _signal.signal(_signal.SIGINT, _signal.SIG_DFL)


def tell_interruptions() -> None:
    """Let Ctrl-C be a ``KeyboardInterrupt`` again, where ``end_silently`` changed that."""
    if _signal.getsignal(_signal.SIGINT) == _signal.SIG_DFL:
        _signal.signal(_signal.SIGINT, _signal.default_int_handler)


def run() -> None:
    """Entry point of the installed command."""
    end_silently()
    __import__(f"{__package__}.cli", fromlist=["run"]).run()  # not before
